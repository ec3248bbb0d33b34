"""What slides over seams, over edges and past what stands beside it: nothing stops it there, lifts it or throws it."""

import numpy as np
import pytest

import stiction
from stiction import Shape, Stepper, World

SLIDERS = {
    "box": (Shape.box((0.2, 0.3, 0.1)), 0.05),
    "cylinder": (Shape.cylinder(0.1, 0.3), 0.15),
}


def turned(angle, axis=(0.0, 1.0, 0.0)):
    return (*(np.sin(0.5 * angle) * np.asarray(axis)), np.cos(0.5 * angle))


@pytest.mark.parametrize("scheme", stiction.SCHEMES)
@pytest.mark.parametrize("slider", SLIDERS)
def test_what_slides_over_flush_tiles_keeps_its_speed(scheme, slider):
    shape, height = SLIDERS[slider]
    world = World(friction=0.0)
    for i in range(-2, 3):
        world.add_body(f"tile{i}", Shape.box((0.6, 4, 1)), position=(0.6 * i, 0, -0.5))
    world.add_body("slider", shape, mass=1.0, position=(-0.6, 0.13, height), velocity=(2, 0, 0))
    stepper = Stepper(world, dt=2e-3, scheme=scheme)
    for _ in range(300):
        assert stepper.step().status == "solved"
    assert stepper.q[:3] == pytest.approx([0.6, 0.13, height], abs=2e-6)
    assert stepper.v == pytest.approx([2, 0, 0, 0, 0, 0], abs=1e-6)


def test_what_runs_into_a_tile_that_stands_higher_is_stopped():
    world = World(friction=0.0)
    world.add_body("tile", Shape.box((0.6, 4, 1)), position=(0, 0, -0.5))
    world.add_body("higher", Shape.box((0.6, 4, 1)), position=(0.6, 0, -0.499))
    world.add_body("slider", Shape.box((0.2, 0.3, 0.1)), mass=1.0, position=(0, 0, 0.05), velocity=(2, 0, 0))
    stepper = Stepper(world, dt=2e-3)
    for _ in range(150):
        stepper.step()
    assert stepper.q[0] == pytest.approx(0.2, abs=0.01)  # it tips at the lip of a millimetre


def test_event_driven_leaves_a_frictionless_slip_alone():
    """Rows of one flat face differ by a tilt that rounding of a file gives: their difference asked for no slip."""
    world = World(friction=0.0)
    world.add_ground()
    world.add_body("base", Shape.box((2, 1, 0.5)), mass=3.0, position=(0, 0, 0.25))
    world.add_body(
        "b", Shape.cylinder(0.1, 0.2), mass=1.0, position=(-0.3, 0, 0.6), orientation=turned(1.5e-8), velocity=(1, 0, 0)
    )
    stepper = Stepper(world, dt=1e-3, scheme="event_driven")
    for _ in range(20):
        assert stepper.step().status == "solved"
    assert np.linalg.norm(stepper.v[6:9]) == pytest.approx(1.0, abs=1e-6)
    assert np.linalg.norm(stepper.v[:3]) < 1e-6


@pytest.mark.parametrize(
    ("dt", "friction", "yaw", "aside"),
    [
        (1e-2, 1e-4, 0.16931542297503105, -0.07946356255929055),
        (2e-3, 0.0, 0.10359558404050062, 0.13009019978534297),
        (2e-3, 1e-4, 0.08447908622999861, 0.012597455955491221),
    ],
)
def test_event_driven_throws_nothing_off_an_edge(dt, friction, yaw, aside):
    """A rim's normal turns at once as its last point leaves the edge, which is no curvature: 2.5 J became 367."""
    world = World(friction=friction)
    world.add_body("table", Shape.box((0.5, 4, 1)), position=(0, 0, -0.5))
    world.add_body(
        "b",
        Shape.cylinder(0.1, 0.1),
        mass=1.0,
        position=(0.05, 0.13, 0.05),
        orientation=turned(yaw, (0, 0, 1)),
        velocity=(2, aside, 0),
    )
    stepper = Stepper(world, dt=dt, scheme="event_driven")
    energy = world.energy(stepper.q, stepper.v)
    for _ in range(round(0.17 / dt)):
        assert stepper.step().status == "solved"
        assert world.energy(stepper.q, stepper.v) < energy * 1.001


@pytest.mark.parametrize("speed", [0.9, 1.0, 1.1])
def test_event_driven_slides_a_capsule_over_seams(speed):
    """The edge that it has just slid over was held beside the face that it lies on: both together let it stand."""
    world = World(friction=0.0)
    for i in range(-3, 4):
        world.add_body(f"tile{i}", Shape.box((0.3, 4, 1)), position=(0.3 * i, 0, -0.5))
    along = np.array([np.cos(0.2), np.sin(0.2), 0.0])
    half, yaw = np.sqrt(0.5), turned(0.2, (0, 0, 1))
    lying = (-half * yaw[2], half * yaw[3], half * yaw[2], half * yaw[3])  # the axis along x, then turned
    world.add_body(
        "b",
        Shape.capsule(0.1, 0.2),
        mass=1.0,
        position=(-0.4, 0, 0.1),
        orientation=lying,
        velocity=tuple(speed * along),
    )
    stepper = Stepper(world, dt=1e-3, scheme="event_driven")
    for _ in range(700):
        assert stepper.step().status == "solved"
    assert np.linalg.norm(stepper.v[:3]) == pytest.approx(speed, rel=1e-3)


@pytest.mark.parametrize("yaw", [0.0, 0.13, 0.29])
def test_event_driven_rolls_a_ball_off_an_edge(yaw):
    """From face to edge its contact goes on as the same point, and acts through the centre."""
    world = World(friction=0.0)
    world.add_body("table", Shape.box((0.5, 4, 1)), position=(0, 0, -0.5))
    v = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    world.add_body(
        "b",
        Shape.sphere(0.1),
        mass=1.0,
        position=(0.1, 0, 0.1),
        velocity=tuple(v),
        angular_velocity=(-10 * v[1], 10 * v[0], 0),
    )
    stepper = Stepper(world, dt=5e-3, scheme="event_driven")
    energy = world.energy(stepper.q, stepper.v)
    for _ in range(80):
        stepper.step()
        assert world.energy(stepper.q, stepper.v) == pytest.approx(energy, rel=1e-3)
        assert stepper.q[2] < 0.1 + 1e-6


def test_a_box_thrown_at_the_top_of_a_wall_does_not_pass_through_it():
    """It starts beside the wall, its bottom exactly level with the top, and would be behind it in one step."""
    world = World(friction=0.0, gravity=(0, 0, 0))
    world.add_body("wall", Shape.box((0.01, 1, 1)), position=(0, 0, -0.5))
    world.add_body("b", Shape.box((0.04, 0.04, 0.04)), mass=1.0, position=(0.026, 0, 0.02), velocity=(-60, 0, -60))
    stepper = Stepper(world, dt=1e-3)
    stepper.step()
    assert stepper.q[0] > -0.02


def square(half, z):
    return [(half, half, z), (-half, half, z), (-half, -half, z), (half, -half, z)]


def write_mesh(path, vertices, quadrangles):
    """Four corners to a ring; each quadrangle names its own, counter-clockwise from outside."""
    triangles = [t for a, b, c, d in quadrangles for t in ((a, b, c), (a, c, d))]
    lines = ["v {!r} {!r} {!r}".format(*v) for v in vertices] + [
        "f {} {} {}".format(*(i + 1 for i in t)) for t in triangles
    ]
    path.write_text("\n".join(lines) + "\n")
    return Shape.mesh(str(path), convex=False)


def strip(low, high):
    """From ring to ring of four corners, seen from outside."""
    return [(low + k, low + (k + 1) % 4, high + (k + 1) % 4, high + k) for k in range(4)]


@pytest.mark.parametrize("clearance", [0.0, -1e-7, -2e-6, 1e-5])
def test_a_mesh_peg_falls_freely_in_a_mesh_hole_of_its_size(tmp_path, clearance):
    half, hole = 0.05, 0.05 + 0.5 * clearance
    rings = square(hole, -0.3) + square(0.3, -0.3) + square(0.3, 0.0) + square(hole, 0.0)
    block = write_mesh(tmp_path / "block.obj", rings, strip(0, 4) + strip(4, 8) + strip(8, 12) + strip(12, 0))
    peg = write_mesh(
        tmp_path / "peg.obj", square(half, -0.1) + square(half, 0.1), [(3, 2, 1, 0), (4, 5, 6, 7), *strip(0, 4)]
    )
    world = World(friction=0.0)
    world.add_body("block", block)
    world.add_body("peg", peg, mass=1.0, position=(0, 0, 0.05))
    stepper = Stepper(world, dt=1e-3)
    for _ in range(100):
        assert stepper.step().status == "solved"
    assert stepper.q[:3] == pytest.approx([0, 0, 0.05 - 0.5 * 9.81 * 0.1**2], abs=1e-3)
    assert stepper.v[2] == pytest.approx(-9.81 * 0.1, abs=1e-6)
