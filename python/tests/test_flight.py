"""Robots that are thrown: nothing but work changes their energy, and no run ends, whatever they are made of."""

import numpy as np
import pytest

import stiction


def pendulum(base_mass, self_weight=True):
    """A free base with two heavier rods on hinges across each other."""
    rod = "<geom type='capsule' fromto='0 0 0 0 0 0.2' size='0.02' mass='0.3'/>"
    world = stiction.World(friction=0.6, gravity=(0, 0, -9.81 if self_weight else 0))
    if self_weight:
        world.add_ground()
    world.add_robot(
        f"<mujoco><worldbody><body pos='0 0 0.5'><freejoint/><geom type='box' size='.05 .05 .05' mass='{base_mass}'/>"
        f"<body pos='0 0 0.1'><joint type='hinge' axis='0 1 0' damping='0.05'/>{rod}"
        f"<body pos='0 0 0.2'><joint type='hinge' axis='1 0 0' damping='0.05'/>{rod}</body></body></body></worldbody>"
        "</mujoco>",
        self_collision=False,
    )
    return world


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "moreau_midpoint", "energy_momentum"])
def test_a_base_that_spins_gives_its_joints_no_energy(scheme):
    """At up to a quarter of a radian per step; the joints' damping takes some."""
    world, random = pendulum(1.0, self_weight=False), np.random.default_rng(0)
    for _ in range(40):
        stepper = stiction.Stepper(world, dt=1e-3, scheme=scheme)
        v = np.concatenate((np.zeros(3), random.normal(size=3) * 100.0, random.normal(size=2) * 20.0))
        stepper.reset(world.initial_q + np.concatenate((np.zeros(7), random.normal(size=2))), v)
        start = world.kinetic_energy(stepper.q, stepper.v)
        for _ in range(100):
            assert stepper.step().status == "solved"
            assert world.kinetic_energy(stepper.q, stepper.v) < 1.15 * start


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_light_base_gives_way_under_energy_momentum(dt):
    """What joints feel is next to nothing there: no force in proportion to their own inertia may turn them."""
    world, random = pendulum(0.001), np.random.default_rng(1)
    for _ in range(12):
        stepper, q, turn = (
            stiction.Stepper(world, dt=dt, scheme="energy_momentum"),
            world.initial_q.copy(),
            random.normal(size=4),
        )
        q[2:7] = 2.0, *(turn / np.linalg.norm(turn))
        stepper.reset(q)
        for _ in range(round(1.0 / dt)):
            assert stepper.step()


@pytest.mark.parametrize("coordinates", ["extended", "maximal"])
def test_feet_that_stick_and_cut_joints_do_not_contradict_each_other(coordinates):
    """A fall is solved in all coordinates: the cut joints' drift gives way to contacts that do not slip."""
    random = np.random.default_rng(2)
    for _ in range(4):
        turn = random.normal(size=4)
        world = stiction.World(friction=0.6)
        world.add_ground()
        world.add_robot(
            "models/links.urdf",
            floating=True,
            position=(0, 0, 0.4),
            orientation=turn / np.linalg.norm(turn),
            coordinates=coordinates,
        )
        stepper = stiction.Stepper(world, law="no_slip")
        for _ in range(600):
            assert stepper.step()
        assert np.abs(stepper.v).max() < 20.0


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "rk45"])
def test_the_centre_of_mass_of_what_spins_about_it_stays(integrator):
    world = stiction.World(gravity=(0, 0, 0))
    world.add_body("club", stiction.Shape.box((0.1, 0.2, 0.3)), mass=1.0, com=(0.3, 0, 0), inertia=np.eye(3) * 0.02)
    stepper = stiction.Stepper(world, dt=1e-3, scheme="event_driven", integrator=integrator)
    stepper.reset(v=[0.0, -1.5, 0.0, 0.0, 0.0, 5.0])
    for _ in range(1000):
        assert stepper.step()
    assert np.abs(world.center_of_mass(stepper.q) - [0.3, 0, 0]).max() < 0.01


@pytest.mark.parametrize("dt", [5e-3, 2e-2])
def test_servos_that_are_cut_at_their_limits_are_taken_at_any_step(dt):
    """From rest to targets 0.1 rad away, which asks for more than the motors have."""
    world = stiction.World(friction=0.5)
    world.add_ground()
    sides = {"LF": 1, "RF": -1, "LH": -1, "RH": 1}
    angles = {"HIP": 0.3927, "THIGH": 0.7854, "SHANK": 1.5708}
    posture = {f"{leg}_{joint}": side * angle for leg, side in sides.items() for joint, angle in angles.items()}
    world.add_robot("models/links.urdf", floating=True, position=(0, 0, 0.14), joints=posture)
    random = np.random.default_rng(3)
    for limits in (10.0, 40.0, 100.0):
        for _ in range(10):
            stepper = stiction.Stepper(world, dt=dt)
            stepper.drive(position=world.initial_q[7:] + 0.1 * random.normal(size=12), kp=1e3, kd=1e2, limits=limits)
            for _ in range(5):
                assert stepper.step()


def chain(root="<freejoint/>", height=0.5):
    """Three links on a base."""
    links = "".join(
        f"""<body pos="0 0 {0.1 if i == 0 else 0.25}"><joint axis="{axis}"/>
        <geom type="capsule" fromto="0 0 0.02 0 0.03 0.2" size="0.02" mass="0.3"/>"""
        for i, axis in enumerate(("0 1 0", "1 0 0", "0 1 1"))
    )
    return f"""<mujoco><worldbody><body name="base" pos="0 0 {height}">{root}
      <geom type="box" size=".05 .07 .04" mass="1"/>{links}{"</body>" * 3}</body></worldbody></mujoco>"""


def linear_momentum(world, q, v):
    x, y, z, w = q[3:7]
    axes = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return axes @ (world.mass_matrix(q) @ v)[:3]


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "moreau_midpoint"])
def test_a_robot_near_the_ground_that_nothing_bears_keeps_momentum(scheme):
    world = stiction.World(friction=0.6)
    world.add_ground()
    world.add_robot(chain(), self_collision=False)
    rng, dt, free = np.random.default_rng(1), 1e-3, 0
    for _ in range(8):
        v = 12.0 * rng.normal(size=world.nv)
        v[:3] /= 8.0
        stepper = stiction.Stepper(world, dt=dt, scheme=scheme)
        stepper.reset(world.initial_q, v)
        for _ in range(1000):
            before = linear_momentum(world, stepper.q, stepper.v)
            report = stepper.step()
            if report.attempts > 1 or report.contacts == 0 or np.abs(stepper.contacts.impulses).max() > 0.0:
                continue  # only steps that see the ground and are not borne by it,
            if report.penetration > 0.0:
                continue  # nor moved by undoing overlap
            free += 1
            change = linear_momentum(world, stepper.q, stepper.v) - before
            np.testing.assert_allclose(change, [0.0, 0.0, -1.9 * 9.81 * dt], atol=1e-11)
    assert free > 20


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "moreau_midpoint"])
@pytest.mark.parametrize("rates", [0.0, 5.0])
def test_drag_and_armature_of_a_free_joint_are_not_made_up_for(scheme, rates):
    def energy_after_one_second(root, scheme):
        world = stiction.World(gravity=(0.0, 0.0, 0.0))
        world.add_robot(chain(root), self_collision=False)
        v = np.full(world.nv, rates)
        v[:6] = 1.0, 0.0, 0.0, 0.0, 0.0, 1.0
        stepper = stiction.Stepper(world, dt=1e-3, scheme=scheme)
        stepper.reset(world.initial_q, v)
        start = world.energy(stepper.q, stepper.v)
        for _ in range(1000):
            assert stepper.step()
        return world.energy(stepper.q, stepper.v) / start

    for root in ('<joint type="free" damping="0.5"/>', '<joint type="free" armature="0.5"/>'):
        reference = energy_after_one_second(root, "energy_momentum")
        assert energy_after_one_second(root, scheme) == pytest.approx(reference, rel=0.06)
