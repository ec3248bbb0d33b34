"""Legs that turn about planted feet: the path of the foot bends off the ground, r w^2 h^2 / 2 a step, under load."""

import numpy as np
import pytest

import stiction

RATE, ANGLE, RADIUS, GRAVITY = 2.5, -0.25, 1e-4, 9.81  # rad/s, rad, m, m/s^2
LAWS = ["coulomb_cone", "no_slip", "anitescu", "viscous"]
STICKY = {"viscosity": 1e4}  # N s/m, read by `viscous`
LEG = """<mujoco><default><geom type="sphere" size="1e-4"/></default><worldbody>
<body name="base" pos="0 0 1.0001"><freejoint/><inertial pos="0 0 0" mass="10" diaginertia=".5 .5 .5"/>
<body name="leg"><joint name="hip" type="hinge" axis="0 1 0"/>
<inertial pos="0 0 -.5" mass="1" diaginertia=".05 .05 .01"/><geom pos="0 .1 -1"/><geom pos="0 -.1 -1"/></body></body>
</worldbody><actuator><motor joint="hip"/></actuator></mujoco>"""


@pytest.mark.parametrize("h", [1e-3, 5e-3])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "moreau_midpoint", "energy_momentum"])
def test_a_leg_vaults_over_a_foot_that_stays(law, scheme, h):
    """An inverted pendulum of 1 m: its force stays inside a cone of 0.4, so every law with friction holds the foot."""
    inertia = 0.1
    world = stiction.World(friction=2.0, material=STICKY)
    world.add_ground()
    foot = [(stiction.Shape.sphere(RADIUS), (0, 0, -1.0))]
    mass = {"mass": 1.0, "inertia": np.diag([0.5, inertia, 0.5]), "com": (0, 0, 0)}
    world.add_body("leg", foot, position=(0, 0, 1 + RADIUS), **mass)
    q = np.array([np.sin(ANGLE), 0, np.cos(ANGLE) + RADIUS, 0, np.sin(ANGLE / 2), 0, np.cos(ANGLE / 2)])
    v = np.array([RATE, 0, 0, 0, RATE, 0])  # in the leg's axes
    stepper = stiction.Stepper(world, h, law=law, scheme=scheme)
    stepper.reset(q, v)
    for _ in range(round(0.2 / h)):
        assert stepper.step().status == "solved"
        forces = stepper.contacts.forces
        assert len(forces) == 1
        assert np.hypot(*forces[0, :2]) < 0.4 * forces[0, 2]
    angle = 2 * np.arctan2(stepper.q[4], stepper.q[6])
    assert abs(stepper.q[0] - np.sin(angle)) < 2e-4  # m; 50 mm without the friction of what bears
    fallen = GRAVITY * (np.cos(ANGLE) - np.cos(angle)) / (1 + inertia)
    assert stepper.v[4] == pytest.approx(np.sqrt(RATE**2 + 2 * fallen), rel=5 * h)


@pytest.mark.parametrize("law", LAWS)
def test_inverse_dynamics_counts_on_the_friction_of_such_a_foot(law):
    world = stiction.World(friction=1.0, material=STICKY)
    world.add_ground()
    world.add_robot(LEG)
    hip = next(joint for joint in world.joints if joint.name == "hip")
    q, v = np.array(world.initial_q), np.zeros(world.nv)
    q[0], q[2], q[hip.q] = np.sin(-0.2), np.cos(-0.2) + RADIUS, -0.2
    v[0], v[2], v[hip.v] = RATE * np.cos(-0.2), RATE * np.sin(0.2), RATE  # the trunk stays upright
    stepper = stiction.Stepper(world, 1e-3, law=law)
    stepper.reset(q, v)
    for _ in range(100):
        problem = stepper.problem()
        asked = stiction.inverse(problem, world.actuated, RATE, law=law)
        assert (asked.status, asked.repaired) == ("solved", False)
        assert asked.shortfall < 1e-9
        assert asked.impulses[:, 0].min() > 0.0
        stepper.step(asked.tau)
        np.testing.assert_allclose(stepper.contacts.impulses.sum(0), asked.impulses.sum(0), atol=1e-9)
        assert stiction.indeterminacy(problem, asked).complete
    foot = world.pose("leg", stepper.q)[:3] @ [0, 0, -1, 1]
    assert abs(foot[0]) < 1e-4


TWO_LEGS = """<mujoco><default><geom type="sphere" size="1e-4"/></default><worldbody>
<body name="base" pos="0 0 1.0001"><freejoint/><inertial pos="0 0 0" mass="10" diaginertia=".5 .5 .5"/>
<body><joint name="a" type="hinge" axis="0 1 0"/><inertial pos="0 0 -.5" mass="1" diaginertia=".05 .05 .01"/>
<geom pos="0 .1 -1"/><geom pos="0 .05 -1"/></body>
<body><joint name="b" type="hinge" axis="0 1 0"/><inertial pos="0 0 -.5" mass="1" diaginertia=".05 .05 .01"/>
<geom pos="0 -.1 -1"/><geom pos="0 -.05 -1"/></body></body>
</worldbody><actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""


@pytest.mark.parametrize("bystander", [False, True])
def test_feet_that_the_step_presses_down_refuse_what_planted_ones_refuse(bystander):
    """Legs that shall turn at two rates, their feet 3 um up and rising at less than they fall in the step."""
    world = stiction.World(friction=1.0)
    world.add_ground()
    world.add_robot(TWO_LEGS)
    if bystander:  # solved apart
        world.add_body("far", stiction.Shape.sphere(0.1), mass=1.0, position=(5, 0, 0.1))
    for up, rise in ((0.0, 0.0), (3e-6, 0.004)):
        q, v = np.array(world.initial_q), np.zeros(world.nv)
        q[2] += up
        v[2] = rise
        problem = world.problem(q, v, dt=1e-3)
        nearest = stiction.inverse(problem, world.actuated, [2.5, 1.0], law="no_slip")
        assert (nearest.status, nearest.repaired) == ("solved", True)
        np.testing.assert_allclose(nearest.v[world.actuated], 1.75, atol=1e-9)
        asked = stiction.inverse(problem, world.actuated, [2.5, 1.0], law="no_slip", repair_inconsistent=False)
        assert (asked.status, asked.ray.proof) == ("infeasible", True)


@pytest.mark.parametrize("law", ["no_slip", "anitescu"])
def test_infinite_friction_refuses_them_too_beside_what_is_solved_apart(law):
    world = stiction.World()
    world.add_ground()
    world.add_robot(TWO_LEGS)
    world.add_body("far", stiction.Shape.sphere(0.1), mass=1.0, position=(5, 0, 0.1))
    p = world.problem()
    rough = stiction.ContactProblem(p.M, p.v, p.J, np.inf, dt=p.dt, impulse=p.impulse, gap=p.gap)
    nearest = stiction.inverse(rough, world.actuated, [2.5, 1.0], law=law)
    assert (nearest.status, nearest.repaired) == ("solved", True)
    np.testing.assert_allclose(nearest.v[world.actuated], 1.75, atol=1e-9)
