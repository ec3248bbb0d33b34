"""bench/compare --only scenes: what it measures with, and one short run."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

BENCH = pathlib.Path(__file__).parents[1] / "bench"
sys.path.insert(0, str(BENCH))

from pile_scenes import bin_of, card_house, scenes, wall_and_ball  # noqa: E402
from scene_engines import ENGINES, GRAVITY, MuJoCo, Ode, Stiction  # noqa: E402
from scene_runs import EnergyRise, Meter, run, table_row, times_beside  # noqa: E402
from scene_shapes import (  # noqa: E402
    Shape,
    inertia,
    mesh,
    random_quaternion,
    rotate,
    volume,
)


def sampled_moments(shape, inside, half, rng):
    """Volume and inertia of unit density by points thrown into a box."""
    points = rng.uniform(-1.0, 1.0, (400_000, 3)) * half
    x = points[inside(points)]
    size = 8.0 * np.prod(half) * len(x) / len(points)
    return size, size * ((x**2).sum(axis=1).mean() * np.eye(3) - x.T @ x / len(x))


@pytest.mark.parametrize("kind", ["capsule", "mesh"])
def test_volume_and_inertia_are_those_of_the_solid(kind):
    rng = np.random.default_rng(1)
    if kind == "capsule":
        shape, half = Shape("capsule", (0.3, 0.8)), np.array([0.3, 0.3, 0.7])

        def inside(x):
            return np.hypot(np.hypot(x[:, 0], x[:, 1]), np.maximum(np.abs(x[:, 2]) - 0.4, 0.0)) <= 0.3
    else:
        shape, _ = mesh(rng.normal(size=(9, 3)))
        half = np.abs(shape.vertices).max(axis=0)
        a, b, c = (shape.vertices[shape.faces[:, i]] for i in range(3))
        normals = np.cross(b - a, c - a)

        def inside(x):
            return (x @ normals.T <= np.einsum("fi,fi->f", normals, a)).all(axis=1)

    size, moments = sampled_moments(shape, inside, half, rng)
    assert volume(shape) == pytest.approx(size, rel=0.01)
    assert inertia(shape, volume(shape)) == pytest.approx(moments, abs=0.01 * np.trace(moments))


def facing_up(engine):
    """Poses and velocities, of the two quaternions of a rotation the one with w > 0."""
    positions, turns = engine.poses()
    return [positions, turns * np.sign(turns[:, :1]), *engine.velocities()]


@pytest.mark.parametrize("scene", scenes(quick=True), ids=lambda scene: scene.name)
def test_engines_step_the_same_masses_from_the_same_poses(scene):
    mujoco = pytest.importorskip("mujoco")
    ours, theirs = Stiction(scene), MuJoCo(scene)
    for a, b in zip(facing_up(ours), facing_up(theirs), strict=True):
        assert a == pytest.approx(b, abs=1e-12)
    dense = np.zeros((theirs.model.nv, theirs.model.nv))
    mujoco.mj_forward(theirs.model, theirs.data)
    mujoco.mj_fullM(theirs.model, theirs.data, dense)
    M = ours.world.problem(dt=scene.dt).M
    assert pytest.approx(dense, abs=1e-9 * np.abs(M).max()) == M


@pytest.mark.parametrize("scene", scenes(quick=True)[:3], ids=lambda scene: scene.name)
def test_ode_starts_from_the_same_poses_and_falls_alike(scene):
    if reason := Ode.missing():
        pytest.skip(reason)
    ours, theirs = Stiction(scene), Ode(scene)
    for _ in range(2):
        for a, b in zip(facing_up(ours), facing_up(theirs), strict=True):
            assert a == pytest.approx(b, abs=1e-12)
        ours.step()
        theirs.step()


def test_nothing_overlaps_at_the_start():
    for scene in [*scenes(quick=True), wall_and_ball(), bin_of("boxes", 100), card_house()]:
        engine = Stiction(scene)
        assert min(engine.gaps(*engine.poses()), default=0.0) > -1e-6, scene.name


def test_the_wall_has_the_contacts_of_its_name():
    engine = Stiction(wall_and_ball())
    assert "4096" in engine.scene.name
    assert len(engine.gaps(*engine.poses())) == 4096


def test_energy_in_free_flight_falls_as_the_scheme_says():
    """Semi-implicit Euler loses m g^2 h^2 / 2 per step of free flight, whatever the speed."""
    scene = bin_of("spheres", 8)
    for body in scene.bodies:
        body.velocity = np.array([0.1, 0.2, 0.3])
    engine, meter = Stiction(scene), Meter(scene)
    before = meter.energy(engine)
    engine.step()
    assert before - meter.energy(engine) == pytest.approx(8 * 0.5 * (GRAVITY * scene.dt) ** 2, rel=1e-6)


def test_energy_rise_is_counted_from_the_least_so_far():
    rise = EnergyRise(5.0)
    for energy, lifted in ((4.0, 0.0), (4.5, 0.25), (3.0, 0.0), (3.75, 0.75)):
        rise.add(energy, lifted)
    assert (rise.most, rise.start) == ([0.75, 0.25], 5.0)


def test_rotation_by_a_quaternion():
    rng = np.random.default_rng(2)
    q, v = random_quaternion(rng), rng.normal(size=3)
    w, x, y, z = q
    R = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    assert rotate(q, v) == pytest.approx(np.array(R) @ v, abs=1e-14)


def test_a_run_out_of_time_says_so():
    row = run(Stiction, bin_of("boxes", 8, 0.1), limit=0.0)
    assert (row["ended"], row["steps"]) == ("clock", 1)
    assert "clock, step 1 of 50" in table_row(row)
    assert np.isnan(row["moved_most"])  # nothing is known of its end


def test_times_are_compared_over_the_steps_that_both_took():
    assert times_beside([1.0, 3.0], [2.0, 2.0, 8.0]) == {"ratio": 1.0, "ratio_most": 0.75}
    assert times_beside([1.0, 3.0, 50.0], [2.0]) == {"ratio": 0.5, "ratio_most": 25.0}
    assert times_beside([1.0], None) == {}


def test_a_short_run_beside_the_peers_that_are_there(tmp_path):
    files = {"--json": tmp_path / "rows.json", "--markdown": tmp_path / "table.md"}
    command = [
        sys.executable,
        BENCH / "compare",
        "--only",
        "scenes",
        "--quick",
        "--scenes",
        "card",
        "bin of 8 capsules",
    ]
    command += [str(x) for pair in files.items() for x in pair]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(files["--json"].read_text())["scenes"]
    assert {row["scene"] for row in rows} == {"card house", "bin of 8 capsules"}
    for row in rows:
        engine = next(kind for kind in ENGINES if kind.name == row["engine"])
        assert ("missing" in row) == (engine.missing() is not None), row
        assert table_row(row) in files["--markdown"].read_text()
    for row in (row for row in rows if row["engine"] == "stiction"):
        assert row["ended"] == ""
        assert row["steps"] == row["planned"]
        assert row["at_tolerance"] + row["at_acceptable"] == pytest.approx(1.0)
        assert row["contacts"] > 0
        assert row["energy_rise_unlifted"] < 1e-9


def test_a_scene_that_is_none_is_named():
    command = [sys.executable, BENCH / "compare", "--only", "scenes", "--scenes", "cathedral"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cathedral" in done.stderr
    assert "card house" in done.stderr
