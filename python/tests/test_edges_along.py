"""Rollers and bars that lie along edges rest on both ends of them, however little they are turned against them."""

import numpy as np
import pytest

import stiction

ROOT = np.sqrt(0.5)


def write_box(file, half):
    signs = [(-1) ** np.array([i >> 2, i >> 1, i]) for i in range(8)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    lines = ["v {:g} {:g} {:g}".format(*(half * s)) for s in signs]
    for a, b, c, d in faces:
        lines += [f"f {a + 1} {c + 1} {b + 1}", f"f {a + 1} {d + 1} {c + 1}"]
    file.write_text("\n".join(lines))


def table(kind, folder):
    half = np.array([0.2, 1.0, 0.05])
    if kind == "box":
        return stiction.Shape.box(2.0 * half)
    write_box(folder / "table.obj", half)
    return stiction.Shape.mesh(folder / "table.obj", convex=kind == "hull")


@pytest.mark.parametrize("bed", ["box", "hull", "mesh"])
@pytest.mark.parametrize("roller", [stiction.Shape.cylinder, stiction.Shape.capsule])
@pytest.mark.parametrize("yaw", [0.0, 1e-9, 1e-6, 1e-4, 1e-3])
def test_a_roller_between_two_edges_rests(bed, roller, yaw, tmp_path):
    world = stiction.World(friction=0.2)
    for side in (-1.0, 1.0):
        world.add_body(f"table {side}", table(bed, tmp_path), position=(0.25 * side, 0.0, -0.05))
    c, s = np.cos(0.5 * yaw), np.sin(0.5 * yaw)
    place = (0.0, 0.0, np.sqrt(0.1**2 - 0.05**2))
    world.add_body("roller", roller(0.1, 0.2), mass=1.0, position=place, orientation=ROOT * np.array([c, s, s, c]))
    stepper = stiction.Stepper(world, dt=0.01)
    start = world.energy(stepper.q, stepper.v)
    for _ in range(200):
        report = stepper.step()
        assert report.status == "solved"
    assert np.abs(stepper.v).max() < 1e-9
    assert report.penetration < 1e-5
    assert world.energy(stepper.q, stepper.v) < start + 1e-9


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "energy_momentum"])
def test_a_wheel_that_meets_a_curb_squarely_goes_on_squarely(scheme):
    rates = []
    for yaw in (1e-9, 1e-6):
        world = stiction.World(friction=0.3)
        world.add_body("ground", stiction.Shape.plane())
        world.add_body("curb", stiction.Shape.box((0.4, 2.0, 0.03)), position=(0.6, 0.0, 0.015))
        c, s = np.cos(0.5 * yaw), np.sin(0.5 * yaw)
        turned = ROOT * np.array([c, s, s, c])
        world.add_body(
            "wheel",
            stiction.Shape.cylinder(0.1, 0.2),
            mass=1.0,
            position=(0.0, 0.0, 0.1),
            orientation=turned,
            velocity=(1.5, 0.0, 0.0),
            angular_velocity=(0.0, 15.0, 0.0),
        )
        stepper = stiction.Stepper(world, dt=1e-3, scheme=scheme)
        largest = 0.0
        for _ in range(500):
            stepper.step()
            largest = max(largest, np.abs(stepper.v[3:5]).max())  # square to its axis
        rates.append(largest)
    assert rates[0] < 1e-4
    assert rates[1] < 1e-1


@pytest.mark.parametrize("scheme", stiction.SCHEMES)
@pytest.mark.parametrize("pitch", [0.1, 0.3, 0.6])
def test_a_box_that_lands_along_a_bar_goes_on_squarely(scheme, pitch):
    world = stiction.World(friction=0.3)
    lying = (ROOT, 0.0, 0.0, ROOT)
    world.add_body("bar", stiction.Shape.cylinder(0.03, 0.3), position=(0.0, 0.0, -0.03), orientation=lying)
    turned = np.array([0.0, 0.5 * pitch, 0.5e-9, 0.0])
    turned[3] = np.sqrt(1.0 - turned @ turned)
    c, s = np.cos(pitch), np.sin(pitch)
    edge = np.array([c * 0.13 - s * 0.05, 0.0, -s * 0.13 - c * 0.05])  # of its front and bottom, over the bar
    place = np.array([0.03 * np.sin(0.5 * pitch), 0.0, 0.01]) - edge
    world.add_body("box", stiction.Shape.box((0.26, 0.16, 0.1)), mass=2.0, position=place, orientation=turned)
    stepper = stiction.Stepper(world, dt=1e-3, scheme=scheme)
    touched = False
    for _ in range(150):
        stepper.step()
        touched = touched or len(stepper.contacts) > 1
        assert np.abs(stepper.v[[3, 5]]).max() < 1e-6
    assert touched


def test_rods_that_lie_side_by_side_name_each_point_once():
    """Tilted by a hair both bear twice by the same caps; a problem refuses names that come twice."""
    world = stiction.World(friction=0.5)
    for name, x in (("a", 0.0), ("b", 0.13)):
        world.add_body(name, stiction.Shape.cylinder(0.06, 0.1), mass=1.0, position=(x, 0, 0))
    random = np.random.default_rng(0)
    for _ in range(500):
        q = np.array(world.initial_q)
        axis = random.normal(size=3)
        q[3:6] = axis * 10 ** random.uniform(-4, -1) / np.linalg.norm(axis) / 2
        q[6] = 1.0
        q[3:7] /= np.linalg.norm(q[3:7])
        q[7], q[9] = 0.12 + random.uniform(-0.002, 0.004), random.uniform(-0.09, 0.09)
        ids = world.problem(q, dt=1e-2).ids
        assert len(set(ids)) == len(ids)
