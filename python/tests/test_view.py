"""What stiction view shows, against the run and in a real browser."""

import base64
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import stiction
from stiction import view
from stiction.trajectory import Trajectory

viser = pytest.importorskip("viser", reason="stiction view needs viser")

MASS, GRAVITY = 2.0, 9.81


@pytest.fixture(scope="module")
def box_run(tmp_path_factory):
    """A box on the ground beside a mesh of its own: every kind of shape is somewhere."""
    world = stiction.World()
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=MASS, position=(0, 0, 0.05))
    heights = np.array([[0.1, 0.2, 0.1], [0.1, 0.3, 0.1]])
    world.add_body("hill", stiction.Shape.height_map(heights, 1.0, 1.0, 0.0), position=(2, 0, 0))
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1, position=(-1, 0, 1))
    world.add_body("pill", stiction.Shape.capsule(0.05, 0.2), mass=1, position=(-1, 1, 1))
    world.add_body("drum", stiction.Shape.cylinder(0.05, 0.2), mass=1, position=(-1, -1, 1))
    run = stiction.simulate(world, duration=0.1, dt=0.01, law="coulomb_cone")
    file = tmp_path_factory.mktemp("run") / "run.npz"
    run.save(file)
    return world, run, file


@pytest.fixture(scope="module")
def trajectory(box_run):
    return Trajectory.load(box_run[2])


@pytest.fixture(scope="module")
def stage(trajectory):
    server, stage = view._make_stage(trajectory)
    yield stage
    server.stop()


def test_recording_holds_the_run(box_run, trajectory):
    world, run, _ = box_run
    np.testing.assert_array_equal(trajectory.time, run.time)
    np.testing.assert_array_equal(trajectory.q, run.q)
    assert trajectory.body_names == world.body_names
    assert {shape.kind for shape in trajectory.shapes} == {"plane", "box", "mesh", "sphere", "capsule", "cylinder"}
    for state in (0, -1):
        for body, name in enumerate(trajectory.body_names):
            pose = world.pose(name, run.q[state])
            np.testing.assert_allclose(trajectory.body_poses[state, body, :3], pose[:3, 3], atol=1e-14)


def test_forces_of_the_last_step_are_those_of_statics(trajectory):
    at = trajectory.contacts(-2)
    box = trajectory.body_names.index("box")
    assert (trajectory.contact_bodies[at][:, 0] == box).all()
    np.testing.assert_allclose(trajectory.contact_forces[at].sum(axis=0), [0, 0, MASS * GRAVITY], atol=1e-9)
    np.testing.assert_allclose(np.abs(trajectory.contact_points[at][:, :2]), 0.1, atol=1e-12)


def test_arrows_are_the_forces_of_the_run_in_the_stated_scale(trajectory, stage):
    state = len(trajectory.time) - 1
    arrows, cut = stage.arrows_of(state)
    at = trajectory.contacts(state)
    np.testing.assert_allclose(arrows[:, 0], trajectory.contact_points[at])
    np.testing.assert_allclose(
        (arrows[:, 1] - arrows[:, 0]) * stage.newtons_per_meter, trajectory.contact_forces[at], atol=1e-12
    )
    assert not cut.any()
    assert f"1 m of arrow = {stage.newtons_per_meter:g} N" in stage.legend
    stage.show(state)
    np.testing.assert_allclose(stage.arrows.points, arrows, rtol=1e-6)
    assert stage.arrows.visible
    stage.show(0)  # nothing led to the start
    assert not stage.arrows.visible


def test_bodies_stand_where_the_run_has_them(trajectory, stage):
    stage.show(5)
    for body, frame in stage.frames.items():
        np.testing.assert_allclose(frame.position, trajectory.body_poses[5, body, :3], atol=1e-12)
        np.testing.assert_allclose(np.roll(frame.wxyz, -1), trajectory.body_poses[5, body, 3:], atol=1e-12)


def test_drawn_shapes_have_the_volume_of_the_shapes(trajectory):
    from stiction.stage import mesh_of

    exact = {
        "box": 0.2 * 0.2 * 0.1,
        "sphere": 4 / 3 * np.pi * 0.1**3,
        "capsule": np.pi * 0.05**2 * 0.2 + 4 / 3 * np.pi * 0.05**3,
        "cylinder": np.pi * 0.05**2 * 0.2,
    }
    for shape in trajectory.shapes:
        if shape.kind in exact:
            mesh = mesh_of(shape)
            assert mesh.volume == pytest.approx(exact[shape.kind], rel=0.03), shape.kind
            np.testing.assert_allclose(mesh.bounds.mean(axis=0), 0, atol=1e-9)


def test_world_shapes_are_those_of_the_recording(box_run, trajectory):
    for ours, theirs in zip(box_run[0].shapes, trajectory.shapes, strict=True):
        assert (ours.kind, ours.body) == (theirs.kind, theirs.body)
        np.testing.assert_array_equal(ours.vertices, theirs.vertices)
        np.testing.assert_array_equal(ours.faces, theirs.faces)


def test_frames_keep_the_clock(trajectory):
    frames = view.frames_of(trajectory)
    assert frames[0] == 0
    assert frames[-1] == len(trajectory.time) - 1
    np.testing.assert_allclose(trajectory.time[frames[:-1]], np.arange(len(frames) - 1) / 30, atol=0.01)


@pytest.mark.parametrize("floating", [False, True])
def test_robot_starts_just_clear_of_the_ground(checkout, floating):
    world = view.robot_above_ground(str(checkout / "models" / "links.urdf"), floating)
    assert view.lowest_point(world) == pytest.approx(1e-3)
    assert world.problem().contacts == 0 or min(world.problem().gap) > 0


def test_page_is_self_contained_and_draws_without_complaint(trajectory, tmp_path):
    page = view.to_html(trajectory, caption="box")
    assert not re.search(r"""(src|href)=["']?https?://""", page)
    assert "box · 1 m of arrow" in page
    from stiction import browser

    try:
        browser.find_chromium()
    except browser.ViewError as missing:
        pytest.skip(str(missing))
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    with browser.Browser() as chromium:
        picture = chromium.picture(file, (320, 200))
        assert chromium.complaints == []
        assert all(address.startswith(("file:", "data:", "blob:")) for address in chromium.requests)
    assert picture.startswith(b"\x89PNG")
    pixels = _pixels(picture)
    assert np.unique(pixels.reshape(-1, 3), axis=0).shape[0] > 50  # something is drawn
    orange = (pixels[..., 0] > 150) & (pixels[..., 2] < 0.55 * pixels[..., 0])
    assert orange.any()  # the arrows of the forces


def _pixels(png):
    import io

    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def test_command_writes_a_page(box_run, tmp_path):
    command = pathlib.Path(sys.executable).with_name("stiction")
    page = tmp_path / "page.html"
    done = subprocess.run([command, "view", box_run[2], "--html", page], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    scene = re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page.read_text(encoding="utf-8"))
    assert len(base64.b64decode(scene[1])) > 1000
    unknown = subprocess.run(
        [command, "view", "nothing.npz", "--html", page], capture_output=True, text=True, check=False
    )
    assert unknown.returncode == 2
    assert unknown.stderr == "stiction view: nothing.npz: no such file\n"


def test_without_viser_it_says_what_to_install(box_run, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert view.main([str(box_run[2]), "--html", "unused.html"]) == 2
    assert "pip install 'viser" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["time", "body_poses", "contact_offsets", "mesh_faces", "shape_kinds", "format"])
def test_damaged_recordings_are_refused_by_name(box_run, tmp_path, key):
    arrays = dict(np.load(box_run[2]))
    damaged = {
        "time": np.array([np.nan]),
        "contact_offsets": arrays["contact_offsets"][::-1],
        "mesh_faces": arrays["mesh_faces"] + 1000,
        "shape_kinds": np.array(["cone"] * 6),
        "format": np.array(["another"]),
    }.get(key, arrays[key][:-1])
    file = tmp_path / "bad.npz"
    np.savez(file, **{**arrays, key: damaged})
    with pytest.raises(stiction.FileError, match=f"bad.npz: {key}"):
        Trajectory.load(file)
