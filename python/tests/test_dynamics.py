"""What a world says of its state, against finite differences, virtual power and the stepper."""

import itertools

import numpy as np
import pytest

import stiction
from stiction import Shape

GRAVITY = 9.81
STEP = 1e-6


@pytest.fixture
def world(checkout):
    """A floating quadruped and a free box, both turned, beside a static body."""
    world = stiction.World()
    world.add_ground()
    world.add_robot(str(checkout / "models" / "links.urdf"), name="dog", floating=True, position=(0, 0, 2.0))
    world.add_body("box", Shape.box((0.2, 0.4, 0.6)), mass=3.0, position=(1, 0, 3.0))
    return world


def random_state(world, seed):
    rng = np.random.default_rng(seed)
    q = world.integrate(world.initial_q, rng.uniform(-1, 1, world.nv))
    return q, rng.uniform(-1, 1, world.nv)


def differences(world, q, function):
    """(..., nv) derivative of a function of q along every coordinate of v."""
    columns = []
    for direction in np.eye(world.nv):
        ahead, behind = (function(world.integrate(q, direction, sign * STEP)) for sign in (1, -1))
        columns.append((ahead - behind) / (2 * STEP))
    return np.stack(columns, axis=-1)


def names(world):
    return ["box", "ground", world.link_names[0], world.link_names[-1]]


@pytest.mark.parametrize("seed", range(3))
def test_jacobians_are_derivatives_of_poses(world, seed):
    q, v = random_state(world, seed)
    point = np.random.default_rng(seed).uniform(-1, 1, 3)
    for name in names(world):
        jacobian = world.jacobian(name, q, point)
        moved = differences(world, q, lambda q, name=name: (world.pose(name, q) @ [*point, 1.0])[:3])
        np.testing.assert_allclose(jacobian[:3], moved, atol=1e-8)
        R = world.pose(name, q)[:3, :3]
        turned = differences(world, q, lambda q, name=name, R=R: world.pose(name, q)[:3, :3] @ R.T)
        np.testing.assert_allclose(jacobian[3:], [turned[2, 1], turned[0, 2], turned[1, 0]], atol=1e-8)
        np.testing.assert_allclose(world.velocity(name, q, v, point), jacobian @ v, atol=1e-12)
    np.testing.assert_array_equal(world.jacobian("ground", q), 0.0)
    np.testing.assert_array_equal(world.jacobian("box", q), world.jacobian("box", q, (0, 0, 0)))


@pytest.mark.parametrize("seed", range(3))
def test_inertia_and_bias_keep_the_energy(world, seed):
    q, v = random_state(world, seed)
    M, bias = world.mass_matrix(q), world.bias(q, v)
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    np.testing.assert_allclose(world.kinetic_energy(q, v), 0.5 * v @ M @ v)
    np.testing.assert_allclose(world.energy(q, v), world.kinetic_energy(q, v) + world.potential_energy(q))
    np.testing.assert_allclose(differences(world, q, world.potential_energy), world.bias(q, 0 * v), atol=1e-6)
    a = -np.linalg.solve(M, bias)
    ahead, behind = (world.energy(world.integrate(q, v, s), v + s * a) for s in (1e-5, -1e-5))
    np.testing.assert_allclose((ahead - behind) / 2e-5, 0.0, atol=1e-5)


def test_a_box_has_the_inertia_of_a_box(world):
    q, _ = random_state(world, 7)
    block = world.mass_matrix(q)[-6:, -6:]
    inertia = 3.0 / 12.0 * np.array([0.4**2 + 0.6**2, 0.2**2 + 0.6**2, 0.2**2 + 0.4**2])
    np.testing.assert_allclose(block, np.diag([3.0, 3.0, 3.0, *inertia]), atol=1e-14)
    mass = world.mass_matrix(q)[:3, :3][0, 0] + 3.0
    np.testing.assert_allclose(world.potential_energy(q), mass * GRAVITY * world.center_of_mass(q)[2])
    dog = world.center_of_mass(q, "dog")
    np.testing.assert_allclose(world.center_of_mass(q), ((mass - 3.0) * dog + 3.0 * q[-7:-4]) / mass)


def test_the_stepper_moves_by_the_equation_of_motion(world):
    q, v = random_state(world, 1)
    q[2] += 5.0
    for joint in world.joints:  # limits are no part of the expected motion
        if joint.nv == 1:
            q[joint.q] = np.clip(q[joint.q], joint.lower + 0.1, joint.upper - 0.1)
    tau = np.random.default_rng(1).uniform(-1, 1, world.nv)
    stepper = stiction.Stepper(world, dt=1e-7, effort_limits=False)
    stepper.reset(q, v)
    damping = np.concatenate([np.full(joint.nv, joint.damping) for joint in world.joints]) * v
    expected = np.linalg.solve(world.mass_matrix(q), tau - damping - world.bias(q, v))
    forward = stepper.forward(tau)
    assert len(forward.contacts) == 0
    np.testing.assert_allclose(forward.acceleration, expected, rtol=1e-4, atol=1e-4)


def test_forces_do_their_power(world):
    q, v = random_state(world, 2)
    rng = np.random.default_rng(2)
    for name in names(world):
        force, torque, point = rng.uniform(-1, 1, (3, 3))
        tau = world.generalized_force(name, force, torque=torque, point=point, q=q)
        velocity = world.velocity(name, q, v, point)
        np.testing.assert_allclose(tau @ v, force @ velocity[:3] + torque @ velocity[3:], atol=1e-12)
    np.testing.assert_allclose(
        world.generalized_force("box", (0, 0, 3.0 * GRAVITY), q=q),
        world.bias(q, 0 * v) * (np.arange(world.nv) >= world.nv - 6),
        atol=1e-12,
    )


def test_velocities_turn_into_world_axes_and_back(world):
    q, v = random_state(world, 3)
    turned = world.velocity_in_world_axes(v, q)
    np.testing.assert_allclose(turned[-6:], world.velocity("box", q, v))
    np.testing.assert_array_equal(turned[6:-6], v[6:-6])  # joints stay
    np.testing.assert_allclose(world.velocity_in_body_axes(turned, q), v)
    np.testing.assert_allclose(world.difference(q, world.integrate(q, 0.3 * v)), 0.3 * v, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda w: w.mass_matrix(np.zeros(3)), "q"),
        (lambda w: w.bias(v=np.zeros(3)), "v"),
        (lambda w: w.jacobian("nobody"), "nobody"),
        (lambda w: w.jacobian("box", point=(0, 1)), "point"),
        (lambda w: w.generalized_force("box", force=(np.inf, 0, 0)), "force"),
        (lambda w: w.generalized_force("box", (1e200, 1, 0)), r"force: expected numbers up to 1e\+100"),
        (lambda w: w.generalized_force("box", torque=(0, 1e200, 0)), r"torque: expected numbers up to 1e\+100"),
        (
            lambda w: w.generalized_force("box", (1, 1, 0), point=(1e200, 2e200, 0)),
            r"point\[0\]: expected a number within 1e9 of 0",
        ),
        (lambda w: w.jacobian("box", point=(0, 2e9, 0)), r"point\[1\]: expected a number within 1e9 of 0"),
        (lambda w: w.energy(np.full(w.nq, 1e300)), r"q\[0\]: expected a number within 1e9 of 0"),
        (lambda w: w.pose("box", np.full(w.nq, 1e300)), r"q\[0\]: expected a number within 1e9 of 0"),
        (lambda w: w.velocity("box", v=np.full(w.nv, 1e300)), r"v: expected numbers up to 1e\+100"),
        (lambda w: w.velocity_in_world_axes(np.full(w.nv, 1e300)), r"v: expected numbers up to 1e\+100"),
        (lambda w: w.center_of_mass(robot="cat"), "cat"),
        (lambda w: w.integrate(w.initial_q, np.zeros(2)), "v"),
        (lambda w: w.integrate(w.initial_q, np.zeros(w.nv), np.nan), "dt"),
        (lambda w: w.integrate(w.initial_q, np.full(w.nv, 1e308)), r"v dt\[0\]: expected a number within 1e9 of 0"),
        (lambda w: w.integrate(w.initial_q, np.full(w.nv, 1e308), 10.0), r"v dt\[0\]: expected a finite number"),
    ],
)
def test_bad_arguments_are_named(world, call, named):
    with pytest.raises(ValueError, match=rf"\b{named}\b"):
        call(world)


SLIDE = """<mujoco><worldbody><body><joint name="s" type="slide" axis="0 0 1" range="0 1" limited="true"/>
<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody>
<actuator><motor joint="s"/></actuator></mujoco>"""


@pytest.mark.parametrize("beyond", [0.0, 1e-7, 2e-6, 1e-4, 0.1])
def test_what_holds_a_joint_beyond_its_limit_is_its_weight(beyond):
    """The row that returns it is the simulation's own, and pulled M/h."""
    world = stiction.World()
    world.add_robot(SLIDE)
    for q, limits in itertools.product((-beyond, 1.0 + beyond), (None, [50.0])):
        problem = world.problem([q], [0.0])
        inverse = stiction.inverse(problem, [0], [0.0], torque_limits=limits)
        assert inverse.status == "solved"
        # At its lower limit the stop may carry it instead.
        assert inverse.tau[0] == pytest.approx(2.0 * 9.81) or (q <= 0.0 and 0.0 <= inverse.tau[0] < 2.0 * 9.82)
        assert inverse.shortfall < 1e-9
        stepper = stiction.Stepper(world)
        stepper.reset([q], [0.0])
        stepper.drive(velocity=0.0, limits=50.0)
        assert stepper.step()
        assert abs(stepper.v[0]) < 1e-9
        assert -1e-6 <= stepper.drive_torques[0] < 2.0 * 9.82


def test_speeds_whose_squares_overflow_are_refused():
    world = stiction.World()
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0)
    with pytest.raises(ValueError, match=r"^v: expected numbers up to 1e\+100, got 1e\+300"):
        world.bias(v=np.full(6, 1e300))
    with pytest.raises(ValueError, match=r"^q0: expected"):
        world.difference([0.0], world.initial_q)


@pytest.mark.parametrize("value", [np.datetime64("2020"), np.timedelta64(3, "s"), np.timedelta64("NaT")])
@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda w, value: w.energy(value), "q"),
        (lambda w, value: w.pose("box", value), "q"),
        (lambda w, value: stiction.Stepper(w).step(value), "tau"),
        (lambda w, value: stiction.Batch(w, 1).step(value), "command"),
        (lambda w, value: w.generalized_force("box", value), "force"),
        (lambda w, value: stiction.World(gravity=value), "gravity"),
        (lambda w, value: stiction.Shape.box(value), "size"),
        (lambda w, value: stiction.State(value, value), "q"),
        (lambda w, value: stiction.JointController(1, value), "kp"),
        (lambda w, value: stiction.Terrain(size=value), "size"),
    ],
)
def test_dates_of_numpy_are_no_numbers(call, named, value):
    """Their buffers have no strides, which nanobind reads: it ended the interpreter."""
    world = stiction.World()
    world.add_body("box", stiction.Shape.box((1.0, 1.0, 1.0)), mass=1.0)
    with pytest.raises((ValueError, TypeError), match=rf"^{named}\b"):
        call(world, value)
