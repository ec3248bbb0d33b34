"""What no step may change: energy of joints that turn fast, momentum of loops and of what is pushed apart, time."""

import numpy as np
import pytest

import stiction

DT_OF_A_FALL = 5e-3


@pytest.mark.parametrize("law", ["coulomb_cone", "coulomb_pyramid"])
def test_an_arm_that_falls_on_its_light_base_gains_nothing(law, example_robot):
    world = stiction.World()
    world.add_ground()
    world.add_robot(example_robot("kinova_description/robots/kinova.urdf"), floating=True)
    q = world.initial_q.copy()
    q[2] += 1.5
    q[3:7] = 0.3, 0.2, 0.0, np.sqrt(1.0 - 0.13)
    stepper = stiction.Stepper(world, dt=DT_OF_A_FALL, law=law)
    stepper.reset(q=q)
    start = least = world.energy(stepper.q, stepper.v)
    fastest = rise = 0.0
    for _ in range(400):
        assert stepper.step()
        now = world.energy(stepper.q, stepper.v)
        least = min(least, now)
        rise = max(rise, now - least)
        fastest = max(fastest, np.abs(stepper.v[6:]).max())
    assert fastest * DT_OF_A_FALL > 0.1  # rad in a step: without being braked it ends with 1e12 J
    assert rise < 0.05 * start


LOOP = """<mujoco><option gravity="0 0 0"/><worldbody><body name="b1"><freejoint/>
<inertial pos="0 0 0" mass="1" diaginertia=".03 .03 .03"/>
<body name="b2" pos=".3 0 0"><joint name="j" axis="0 0 1"/><inertial pos=".2 0 0" mass="1" diaginertia=".03 .03 .03"/>
</body></body></worldbody><equality><connect body1="b2" body2="b1" anchor=".2 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "moreau_midpoint", "event_driven"])
def test_a_loop_that_holds_a_hinge_keeps_angular_momentum(scheme):
    world = stiction.World()
    world.add_robot(LOOP)
    stepper = stiction.Stepper(world, dt=1e-3, scheme=scheme)
    stepper.reset(v=[0, 0, 0, 0, 0, 0, 1.0])
    spin, inertia = 0.08, 2 * 0.03 + 2 * 0.25**2  # about the centre of mass, which goes on at 0.1 m/s
    for _ in range(20):
        assert stepper.step().status == "solved"
        h = world.mass_matrix(stepper.q) @ stepper.v
        R = world.pose("b1", stepper.q)[:3, :3]
        center = world.center_of_mass(stepper.q) - stepper.q[:3]
        np.testing.assert_allclose((R @ h[3:6] - np.cross(center, R @ h[:3]))[2], spin, atol=1e-6)
    np.testing.assert_allclose(world.energy(stepper.q, stepper.v), 0.5 * spin**2 / inertia + 0.01, rtol=1e-4)


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "moreau_midpoint", "energy_momentum"])
def test_undoing_overlap_leaves_velocities_where_they_point(scheme):
    lean = 0.3
    world = stiction.World(gravity=(0, 0, 0), friction=0.0)
    world.add_ground()
    world.add_body(
        "rod",
        stiction.Shape.capsule(0.02, 1.0),
        mass=1.0,
        position=(0, 0, 0.5 * np.cos(lean) + 0.02 - 0.05),
        orientation=(0, np.sin(lean / 2), 0, np.cos(lean / 2)),
        velocity=(10, 0, 0),
    )
    stepper = stiction.Stepper(world, dt=1e-3, scheme=scheme)
    for _ in range(60):
        assert stepper.step().status == "solved"
    np.testing.assert_allclose(world.velocity_in_world_axes(stepper.v, stepper.q), [10, 0, 0, 0, 0, 0], atol=1e-9)
    assert stepper.step().penetration < 0.03  # from 0.05


@pytest.mark.parametrize(("dt", "duration", "steps"), [(1e-3, 10.0, 10000), (1.0 / 240.0, 1.0, 240), (0.1, 1.0, 10)])
def test_n_steps_end_at_n_times_dt(dt, duration, steps):
    world = stiction.World(gravity=(0, 0, 0))
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0)
    stepper = stiction.Stepper(world, dt=dt)
    taken = 0
    while stepper.time < duration:
        stepper.step()
        taken += 1
    assert (taken, stepper.time) == (steps, duration)


def test_a_thin_plate_that_falls_flat_without_slip_is_not_pulled_apart():
    world = stiction.World(friction=0.5)
    world.add_ground()
    world.add_body(
        "plate",
        stiction.Shape.box((0.3, 0.3, 0.001)),
        density=1000.0,
        position=(0, 0, 0.0505),
        orientation=(np.sin(0.1), 0, 0, np.cos(0.1)),
        angular_velocity=(0, 1, 3),
    )
    stepper = stiction.Stepper(world, dt=1e-3, law="no_slip", scheme="moreau_midpoint")
    for _ in range(400):  # rows of its corners that are next to dependent leave less slip than the tolerance
        assert stepper.step().status == "solved"


def slab(folder):
    x = np.array([(x, y, z) for z in (-1, 0) for y in (-5, 5) for x in (-5, 5)])
    faces = ["1 3 2", "2 3 4", "5 6 7", "6 8 7", "1 2 5", "2 6 5", "3 7 4", "4 7 8", "1 5 3", "3 5 7", "2 4 6", "4 8 6"]
    file = folder / "slab.obj"
    file.write_text("".join(f"v {a} {b} {c}\n" for a, b, c in x) + "".join(f"f {face}\n" for face in faces))
    return stiction.Shape.mesh(file, convex=False)


GROUNDS = {
    "plane": lambda _: {"shape": stiction.Shape.plane()},
    "box": lambda _: {"shape": stiction.Shape.box((10, 10, 1)), "position": (0, 0, -0.5)},
    "map": lambda _: {"shape": stiction.Shape.height_map(np.zeros((5, 5)), 10, 10, -1.0)},
    "mesh": lambda folder: {"shape": slab(folder)},
}


@pytest.mark.parametrize("ground", GROUNDS)
def test_a_brick_that_falls_without_slip_bears_no_more_than_stops_it(ground, tmp_path):
    dt, speed = 1e-3, 4.0
    for seed in range(6):
        random = np.random.default_rng(seed)
        world = stiction.World()
        world.add_body("ground", **GROUNDS[ground](tmp_path))
        turned = random.normal(size=4)
        world.add_body(
            "brick",
            stiction.Shape.box((0.3, 0.2, 0.1)),
            mass=1.0,
            position=(0, 0, 0.3),
            orientation=turned / np.linalg.norm(turned),
            velocity=random.normal(size=3),
            angular_velocity=3 * random.normal(size=3),
        )
        stepper = stiction.Stepper(world, dt=dt, law="no_slip")
        for _ in range(1500):
            assert stepper.step().status == "solved"
            assert (
                np.abs(stepper.contacts.forces).max(initial=0.0) < speed / dt
            )  # corners differ by gaps of micrometres
        assert np.abs(stepper.contacts.forces).max() < 9.81


@pytest.mark.parametrize("angle", ["0 0 0", "0 35 0", "10 20 30"])
def test_no_slip_takes_steps_where_tangents_of_a_contact_are_rounding(angle):
    world = stiction.World()
    world.add_robot(
        f"""<mujoco><worldbody><body euler="{angle}"><geom type="plane" size="1 1 .1"/><body pos="0 0 .05">
        <joint type="slide" axis="0 0 1"/><geom type="sphere" size=".05" mass="1"/>
        <body pos="0 0 .1"><joint axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 .3" size=".02" mass=".5" contype="0" conaffinity="0"/>
        </body></body></body></worldbody></mujoco>"""
    )
    stepper = stiction.Stepper(world, law="no_slip")
    stepper.reset(q=[0, 0.3], v=[-0.1, 0])
    assert all(stepper.step().status == "solved" for _ in range(100))


def test_a_step_between_events_is_told_by_the_solves_that_were_taken():
    world = stiction.World.from_scene("stack")
    v = world.initial_v + np.random.default_rng(0).normal(size=(6, world.nv))[4] * 0.3
    stepper = stiction.Stepper(world, scheme="event_driven")
    stepper.reset(q=world.initial_q, v=v)
    report = stepper.step()  # one solve between events misses by 1e-4, and its part is taken at velocity level
    assert report.accepted
    assert report.without_events > 0
    assert report.residual < 1e-6
