"""Recordings for Rerun, read back: bodies, shapes, contacts, forces and numbers where and when they were."""

import subprocess
import sys

import numpy as np
import pytest

import stiction
from stiction.trajectory import of_simulation

rerun = pytest.importorskip("rerun", reason="needs rerun-sdk, pip install 'stiction[rerun]'")

MASS, GRAVITY = 2.0, 9.81
SHAPES = {
    "pill": stiction.Shape.capsule(0.05, 0.2),
    "can": stiction.Shape.cylinder(0.05, 0.2),
    "ball": stiction.Shape.sphere(0.1),
}


@pytest.fixture(scope="module")
def trajectory():
    world = stiction.World(friction=0.3)
    world.add_ground()
    world.add_body("a box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=MASS, position=(0, 0, 0.05), velocity=(1, 0, 0))
    for i, (name, shape) in enumerate(SHAPES.items()):
        world.add_body(name, shape, mass=1.0, position=(-2 - i, 1, 1))
    world.add_body("hill", stiction.Shape.height_map([[0.1, 0.2], [0.1, 0.3]], 1.0, 1.0, 0.0), position=(9, 0, 0))
    return of_simulation(stiction.simulate(world, 0.4, dt=0.01))


@pytest.fixture(scope="module")
def rows(trajectory, tmp_path_factory):
    """{entity: {component: list of rows}}, times of temporal ones under `time` (ns)."""
    file = tmp_path_factory.mktemp("rerun") / "run.rrd"
    trajectory.save(file)
    out = {}
    for chunk in rerun.chunk.RrdReader(file).stream():
        batch = chunk.to_record_batch()
        of_entity = out.setdefault(chunk.entity_path, {})
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            of_entity.setdefault(name, []).extend(
                column.to_pylist() if name != "time" else column.cast("int64").to_pylist()
            )
    return out


def test_bodies_move_on_the_clock_of_the_run(trajectory, rows):
    box = rows["/world/bodies/a\\ box"]
    np.testing.assert_allclose(np.array(box["time"]) / 1e9, trajectory.time, atol=1e-9)
    k = trajectory.body_names.index("a box")
    np.testing.assert_allclose(
        np.reshape(box["Transform3D:translation"], (-1, 3)), trajectory.body_poses[:, k, :3], atol=1e-6
    )
    np.testing.assert_allclose(
        np.reshape(box["Transform3D:quaternion"], (-1, 4)), trajectory.body_poses[:, k, 3:], atol=1e-6
    )


def test_shapes_hang_on_their_bodies(rows):
    def shape(body, component):
        (entity,) = [name for name in rows if name.startswith(f"/world/bodies/{body}/")]
        return np.ravel(rows[entity][component])

    np.testing.assert_allclose(shape("a\\ box", "Boxes3D:half_sizes"), [0.1, 0.1, 0.05], atol=1e-7)
    np.testing.assert_allclose(shape("ball", "Ellipsoids3D:half_sizes"), [0.1] * 3, atol=1e-7)
    np.testing.assert_allclose(shape("can", "Cylinders3D:lengths"), [0.2], atol=1e-7)
    np.testing.assert_allclose(shape("pill", "Capsules3D:translations"), [0, 0, -0.1], atol=1e-7)
    assert len(shape("hill", "Mesh3D:triangle_indices")) >= 6


def test_contacts_and_forces_are_those_of_every_state(trajectory, rows):
    points, arrows = rows["/world/contacts"], rows["/world/forces"]
    counts = np.diff(trajectory.contact_offsets)
    assert [len(row or ()) for row in points["Points3D:positions"]] == counts.tolist()
    assert [len(row or ()) for row in arrows["Arrows3D:vectors"]] == counts.tolist()
    last = np.array(arrows["Arrows3D:vectors"][-1])
    mass = trajectory.body_mass.sum()
    expected = trajectory.contact_forces[trajectory.contacts(len(counts) - 1)].sum(axis=0)
    assert mass == MASS + len(SHAPES)
    per_newton = 0.05  # m: 4 m from ball to box over their weight of 49 N, rounded down to 1, 2 or 5
    np.testing.assert_allclose(last.sum(axis=0) / per_newton, expected, rtol=1e-5, atol=1e-5)
    colors = {color for row in points["Points3D:colors"] for color in row or ()}
    assert len(colors) >= 2  # it slides, then sticks


def test_plots_have_their_numbers(trajectory, rows):
    values = np.ravel(rows["/plots/Residual\\,\\ scaled/worst"]["Scalars:scalars"])
    np.testing.assert_array_equal(values, trajectory.residual)


def test_the_command_converts_and_says_what_is_wrong(trajectory, tmp_path):
    trajectory.save(tmp_path / "run.npz")

    def convert(*words):
        return subprocess.run(
            [sys.executable, "-m", "stiction.convert", *words], capture_output=True, text=True, check=False
        )

    done = convert(tmp_path / "run.npz", tmp_path / "run.rrd")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.rrd").stat().st_size > 1000
    refused = convert(tmp_path / "run.npz", tmp_path / "nowhere" / "run.rrd")
    file = tmp_path / "nowhere" / "run.rrd"
    assert (refused.returncode, refused.stderr) == (
        2,
        f"stiction convert: {file}: cannot be written: no folder {file.parent}\n",
    )


def test_nothing_that_moves_and_no_contact(tmp_path):
    world = stiction.World(gravity=(0, 0, 0))
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0)
    of_simulation(stiction.simulate(world, 0.01)).save(tmp_path / "still.rrd")
    entities = {chunk.entity_path for chunk in rerun.chunk.RrdReader(tmp_path / "still.rrd").stream()}
    assert "/world/bodies/ball" in entities


def test_arrows_and_grounds_are_as_large_as_those_of_the_viewer(tmp_path):
    """The weight is an arrow of 1, 2 or 5 times a power of ten metres per newton, about as long as what moves."""
    for edge in (0.001, 50.0):
        world = stiction.World()
        world.add_ground()
        world.add_body("box", stiction.Shape.box((edge,) * 3), density=500.0, position=(0, 0, 0.5 * edge))
        of_simulation(stiction.simulate(world, 0.02, dt=0.01)).save(tmp_path / "run.rrd")
        found = {}
        for chunk in rerun.chunk.RrdReader(tmp_path / "run.rrd").stream():
            batch = chunk.to_record_batch()
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                found.setdefault((chunk.entity_path.split("/")[-1], name), []).extend(column.to_pylist())
        length = np.sum(found["forces", "Arrows3D:vectors"][-1], axis=0)[2]
        assert 0.4 * edge < length <= (1 + 1e-6) * edge
        np.testing.assert_allclose(found["forces", "Arrows3D:radii"][-1], 0.7 * 0.006 * edge, rtol=1e-6)
        side = 2 * found["0_ground_0", "Boxes3D:half_sizes"][0][0][0]
        assert 16 * edge < side <= 40 * edge * (1 + 1e-6)


def test_bodies_of_two_robots_of_a_file_are_entities_apart(checkout, tmp_path):
    world = stiction.World()
    for k, name in enumerate(("one", "two")):
        world.add_robot(checkout / "models/links.urdf", name=name, floating=True, position=(k, 0, 1))
    run = of_simulation(stiction.simulate(world, 0.01))
    run.save(tmp_path / "run.rrd")
    chunks = list(rerun.chunk.RrdReader(tmp_path / "run.rrd").stream())
    poses = [chunk.entity_path for chunk in chunks if "Transform3D:translation" in chunk.to_record_batch().schema.names]
    assert len(set(poses)) == len(poses) == len(run.body_names)
    assert "/world/bodies/two\\/trunk" in poses


def test_names_that_look_alike_are_bodies_apart_and_runs_recordings_apart(tmp_path):
    def ids_and_entities(names, height):
        world = stiction.World()
        for k, name in enumerate(names):
            world.add_body(name, stiction.Shape.sphere(0.1), mass=1.0, position=(k, 0, height))
        of_simulation(stiction.simulate(world, 0.01)).save(tmp_path / "run.rrd")
        store = rerun.chunk.RrdReader(tmp_path / "run.rrd")
        chunks = list(store.stream())
        return [(entry.application_id, entry.recording_id) for entry in store.recordings()], chunks

    names = ["a b", "a_b", "contacts", "forces"]
    first, chunks = ids_and_entities(names, 1.0)
    poses = [chunk.entity_path for chunk in chunks if "Transform3D:translation" in chunk.to_record_batch().schema.names]
    assert len(set(poses)) == len(poses) == len(names)
    assert first == ids_and_entities(names, 1.0)[0]
    assert first != ids_and_entities(names, 2.0)[0]
