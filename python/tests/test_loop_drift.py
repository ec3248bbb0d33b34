"""Robots cut at their joints, whose loops contacts without slip nearly contradict as their feet land."""

import numpy as np
import pytest

import stiction

ROBOT = """<mujoco><worldbody><body name="a" pos="0 0 .5"><freejoint/><geom type="box" size=".2 .2 .05" mass="2"/>
<body name="l0" pos=".15 .15 0"><joint name="h0" axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.2" mass="1"/>
<body pos="0 0 -.2"><joint axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.15" mass=".5"/></body></body>
<body name="l1" pos="-.15 -.1 0"><joint name="h1" axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.2" mass="1"/>
<body pos="0 0 -.2"><joint axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.15" mass=".5"/></body></body>
</body></worldbody></mujoco>"""


def world_of(**options):
    world = stiction.World(friction=0.6)
    world.add_ground()
    world.add_robot(ROBOT, name="robot", **options)
    return world


def dropped(seed, coordinates, dt, law, scheme):
    """A world with the robot cut so, and a stepper at a fall that the seed says."""
    start, rng = world_of(), np.random.default_rng(seed)
    start.set_velocity("a", 0.3 * rng.normal(size=3), rng.normal(size=3))
    for joint in ("h0", "h1"):
        start.set_velocity(joint, float(rng.normal()))
    world = world_of(coordinates=coordinates)
    stepper = stiction.Stepper(world, dt=dt, law=law, scheme=scheme)
    stepper.reset(*world.from_uncut(start.initial_q, start.initial_v))
    return world, stepper


@pytest.mark.parametrize(
    ("coordinates", "scheme", "dt", "seed"),
    [
        ("maximal", "semi_implicit_euler", 1e-3, 2),
        ("maximal", "semi_implicit_euler", 2e-3, 3),
        ("extended", "semi_implicit_euler", 2e-3, 9),
        ("maximal", "moreau_midpoint", 2e-3, 2),
        ("extended", "moreau_midpoint", 1e-3, 6),
    ],
)
def test_undoing_drift_that_contacts_resist_gives_no_energy(coordinates, scheme, dt, seed):
    world, stepper = dropped(seed, coordinates, dt, "no_slip", scheme)
    energy = world.energy(stepper.q, stepper.v)
    for step in range(round(0.5 / dt)):
        assert stepper.step(), step
        before, energy = energy, world.energy(stepper.q, stepper.v)
        assert energy < before + 5e-3, step
    problem = world.problem(stepper.q, stepper.v, dt=dt)
    equalities = [row for row, kind in enumerate(problem.row_kinds) if kind == "equality"]
    assert np.abs(problem.b[equalities]).max() * dt < 3e-4


@pytest.mark.parametrize(
    ("law", "coordinates", "dt", "seed"),
    [
        ("frictionless", "maximal", 1e-3, 5),
        ("coulomb_cone", "maximal", 2e-3, 0),
        ("moreau", "extended", 1e-3, 6),
        ("moreau", "maximal", 1e-3, 0),
    ],
)
def test_the_passes_of_energy_momentum_go_on_while_two_of_them_gain(law, coordinates, dt, seed):
    _, stepper = dropped(seed, coordinates, dt, law, "energy_momentum")
    for step in range(round(0.4 / dt)):
        assert stepper.step(), step
