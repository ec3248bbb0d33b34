"""Under event_driven a step depends on its state alone, to the bit: after a reset, and in every run of a rollout."""

import numpy as np
import pytest

import stiction

DT = 1e-2
SLIDE = np.r_[0.09, np.zeros(5)]  # m/s, of which 0.005 go in a step


def slid_box():
    world = stiction.World(friction=0.05)
    world.add_ground(friction=0.05)
    world.add_body("box", stiction.Shape.box((0.2, 0.4, 0.1)), mass=2.0, position=(0, 0, 0.05))
    return world


def flights(world, runs):
    """Too far up to land, and spinning too fast for one piece a step."""
    random = np.random.default_rng(1)
    q = np.tile(world.initial_q, (runs, 1))
    q[:, 2] = 5.0
    return q, random.normal(0, 20, (runs, world.nv))


@pytest.mark.parametrize("integrator", ["rk4", "rk45", "symplectic_euler"])
def test_a_stepper_that_slid_and_was_reset_steps_as_a_fresh_one(integrator):
    world = slid_box()
    kept = {"dt": DT, "scheme": "event_driven", "integrator": integrator}
    used = stiction.Stepper(world, **kept)
    for q, v in zip(*flights(world, 30), strict=True):
        used.reset(v=SLIDE)
        used.step()
        fresh = stiction.Stepper(world, **kept)
        for stepper in (used, fresh):
            stepper.reset(q, v)
            for _ in range(5):
                stepper.step()
        np.testing.assert_array_equal(used.q, fresh.q)
        np.testing.assert_array_equal(used.v, fresh.v)


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_runs_of_a_rollout_have_equal_bits(threads):
    world = slid_box()
    q, v = flights(world, 30)
    slide_q, slide_v = world.initial_q[None], SLIDE[None]
    starts = {"q": np.concatenate([q, slide_q, q]), "v": np.concatenate([v, slide_v, v])}
    out = stiction.rollout(world, **starts, steps=5, dt=DT, scheme="event_driven", threads=threads)
    np.testing.assert_array_equal(out.q[:30], out.q[31:])
    np.testing.assert_array_equal(out.v[:30], out.v[31:])


@pytest.mark.parametrize("choice", ["warm_start", "least_norm", "closest_to_last"])
def test_forces_that_a_law_leaves_open_are_those_of_a_fresh_stepper(choice):
    world = stiction.World(friction=0.6)
    world.add_ground()
    for name, side, mass, place in (("low", 0.3, 2.0, (0, 0, 0.05)), ("high", 0.2, 1.0, (0.03, 0.02, 0.15))):
        world.add_body(name, stiction.Shape.box((side, side, 0.1)), mass=mass, position=place)
    push = np.zeros(world.nv)
    push[6:8] = 2.0, 1.0
    kept = {"dt": 2e-3, "scheme": "event_driven", "choice": choice}
    used, fresh = stiction.Stepper(world, **kept), stiction.Stepper(world, **kept)
    for _ in range(20):
        used.step(push)
    q, v = used.q.copy(), used.v.copy()
    for stepper in (used, fresh):
        stepper.reset(q, v)
        stepper.step()
    np.testing.assert_array_equal(used.contacts.forces, fresh.contacts.forces)
