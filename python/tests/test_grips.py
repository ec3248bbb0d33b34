"""Bodies held by friction between jaws: Coulomb's law has a motion that holds them and one that lets them fall."""

import numpy as np
import pytest

import stiction

MASS, FRICTION, GRIP, GRAVITY = 0.5, 0.5, 20.0, 9.81
LEAST = MASS * GRAVITY / (2 * FRICTION)  # N a jaw: m g = 2 mu N
GRIPPER = """<mujoco><default><geom type="sphere" size="0.01" mass="0.1" friction="0.5"/></default><worldbody>
<body pos="-0.03 0 0"><joint name="left" type="slide" axis="1 0 0"/><geom/></body>
<body pos="0.03 0 0"><joint name="right" type="slide" axis="-1 0 0"/><geom/></body>
</worldbody><actuator>
<motor joint="left" forcerange="-100 100"/><motor joint="right" forcerange="-100 100"/>
</actuator></mujoco>"""

COULOMB = ["coulomb_cone", "coulomb_pyramid", "moreau"]
CHOICES = ["warm_start", "least_norm", "closest_to_last"]


def held_world(mass=MASS):
    world = stiction.World(friction=1.0)
    world.add_robot(GRIPPER)
    world.add_body("held", stiction.Shape.box((0.04, 0.04, 0.04)), mass=mass)
    return world


def height(stepper):
    return stepper.q[2 + 2]  # behind the two sliders


def gripped(law, choice, how, scheme="semi_implicit_euler", mass=MASS):
    """A body that jaws press on by GRIP newtons, by torques, servos or velocity drives."""
    stepper = stiction.Stepper(held_world(mass), 1e-3, law=law, choice=choice, scheme=scheme)
    if how == "servo":
        stepper.drive(position=GRIP / 1000, kp=1000, kd=20)
    elif how == "velocity":
        stepper.drive(velocity=0.05, limits=GRIP)
    for _ in range(100):
        stepper.step([GRIP, GRIP] if how == "torque" else None)
    return stepper


@pytest.mark.parametrize("limits", [None, np.inf])
@pytest.mark.parametrize("how", ["torque", "servo", "velocity"])
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("law", COULOMB)
def test_jaws_that_are_locked_keep_what_they_hold(law, choice, how, limits):
    stepper = gripped(law, choice, how)
    start = height(stepper)
    stepper.drive(velocity=0, limits=limits)
    for _ in range(700):
        assert stepper.step().status == "solved"
    np.testing.assert_allclose(stepper.drive_torques, LEAST if choice == "least_norm" else GRIP, rtol=1e-6)
    assert height(stepper) == pytest.approx(start, abs=1e-9)


@pytest.mark.parametrize("mass", [0.02, 0.001])
@pytest.mark.parametrize("law", COULOMB)
def test_a_light_body_is_held_as_firmly(law, mass):
    """By 100 and 2000 times its weight: a push of a fortieth of what friction holds moves nothing."""
    stepper = gripped(law, "warm_start", "torque", mass=mass)
    start = height(stepper)
    stepper.drive(velocity=0)
    stepper.step()
    np.testing.assert_allclose(stepper.drive_torques, GRIP, rtol=1e-6)
    stepper.apply_force("held", (0, 0, 0.5), duration=0.2)
    for _ in range(300):
        assert stepper.step().accepted
    np.testing.assert_allclose(stepper.drive_torques, GRIP, rtol=1e-6)
    assert height(stepper) == pytest.approx(start, abs=1e-9)


@pytest.mark.parametrize("scheme", ["moreau_midpoint", "energy_momentum"])
def test_and_under_other_schemes(scheme):
    stepper = gripped("coulomb_cone", "warm_start", "torque", scheme)
    start = height(stepper)
    stepper.drive(velocity=0)
    for _ in range(100):
        stepper.step()
    assert height(stepper) == pytest.approx(start, abs=1e-9)


def test_what_is_asked_for_beside_a_new_drive_is_not_counted_twice():
    stepper = gripped("coulomb_cone", "warm_start", "torque")
    start = height(stepper)
    stepper.drive(velocity=0)
    for _ in range(100):
        stepper.step([GRIP, GRIP])
    np.testing.assert_allclose(stepper.drive_torques, 0.0, atol=1e-6)
    assert height(stepper) == pytest.approx(start, abs=1e-9)


def test_a_copy_made_before_the_lock_goes_on_as_the_original():
    stepper = gripped("coulomb_cone", "warm_start", "torque")
    twins = [stepper, stepper.copy()]
    for twin in twins:
        twin.drive(velocity=0)
        twin.step()
    assert twins[0].q.tobytes() == twins[1].q.tobytes()
    np.testing.assert_allclose(twins[1].drive_torques, GRIP, rtol=1e-9)


@pytest.mark.parametrize("law", COULOMB)
def test_inverse_holds_by_the_grip_that_it_starts_from(law):
    """Without one it lets go, which is a motion of the law too; one that is too weak slips as its friction has it."""
    world = held_world()
    problem = world.problem()

    def ask(**options):
        s = stiction.inverse(problem, world.actuated, 0.0, law=law, **options)
        assert (s.status, s.repaired, s.choice_met) == ("solved", False, True)
        return s

    np.testing.assert_allclose(ask().tau, 0.0, atol=1e-9)
    impulses = np.zeros((problem.contacts, 3))
    for grip in (GRIP, 1.01 * LEAST, 1.0):
        impulses[:, 0] = grip * problem.dt
        held = ask(choice="closest_to_last", last=impulses)
        np.testing.assert_allclose(held.tau, grip, rtol=1e-6)
        falls = max(0.0, GRAVITY - 2 * FRICTION * grip / MASS)
        np.testing.assert_allclose(held.v, [0, 0, 0, 0, -falls * problem.dt, 0, 0, 0], atol=1e-9)
    kept = {"choice": "closest_to_last", "workspace": stiction.Workspace()}
    ask(last=GRIP / 1.0 * impulses, **kept)
    np.testing.assert_allclose(ask(**kept).tau, GRIP, rtol=1e-6)
