"""What stiction view shows, against the run; test_view_browser.py looks at it in a real browser."""

import base64
import dataclasses
import gzip
import json
import pathlib
import re
import socket
import subprocess
import sys
import types

import numpy as np
import pytest

import stiction
from stiction import view
from stiction.trajectory import Trajectory, of_simulation

pytest.importorskip("viser", reason="stiction view needs viser")

from stiction import frames, page
from stiction.live import LiveRun

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


def header_of(data):
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])


@pytest.fixture(scope="module")
def content(trajectory):
    """The header and the arrays of the page's content."""
    data = page.content_of([trajectory], ["box"])
    length, header = int.from_bytes(data[:8], "little"), header_of(data)

    def array(at, *shape):
        start = 8 + length + at["offset"]
        return np.frombuffer(data[start : start + at["bytes"]], at["dtype"]).reshape(shape or -1)

    return header, array


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


def test_the_page_holds_every_state_of_the_run(trajectory, content):
    header, array = content
    (run,) = header["runs"]
    arrays = run["arrays"]
    np.testing.assert_allclose(array(arrays["time"]), trajectory.time, rtol=1e-6)
    poses = array(arrays["poses"], len(trajectory.time), len(run["bodies"]), 7)
    for k, body in enumerate(run["bodies"]):
        assert run["nodes"][k].endswith(trajectory.body_names[body])
        np.testing.assert_allclose(poses[:, k, :3], trajectory.body_poses[:, body, :3], atol=1e-6)
        np.testing.assert_allclose(np.roll(poses[:, k, 3:], -1, axis=1), trajectory.body_poses[:, body, 3:], atol=1e-6)
    np.testing.assert_array_equal(array(arrays["offsets"]), trajectory.contact_offsets)
    np.testing.assert_allclose(array(arrays["forces"], -1, 3), trajectory.contact_forces, rtol=1e-6)
    np.testing.assert_array_equal(array(arrays["modes"]), trajectory.contact_modes)
    nodes = {message["name"] for message in header["messages"] if "props" in message}
    assert nodes >= {*run["nodes"], *run["collision"], "/run0/forces", "/run0/cones", "/run0/balls", "/run0/lines"}


@pytest.mark.parametrize("scene", ["bounce", "biped"])
def test_the_camera_sees_all_of_a_run_that_stays(scene):
    run = view.run_of(scene, duration=1.0)
    messages = {m["type"]: m for m in header_of(page.content_of([run], ["run"]))["messages"]}
    eye, aim = (
        np.array(messages[f"SetCamera{kind}Message"][key])
        for kind, key in (("Position", "position"), ("LookAt", "look_at"))
    )
    bodies = run.body_poses[:, run.body_mass > 0.0, :3].reshape(-1, 3)
    along = (aim - eye) / np.linalg.norm(aim - eye)
    far = (bodies - eye) @ along
    off = np.linalg.norm(bodies - eye - far[:, None] * along, axis=1)
    assert (off < np.tan(messages["SetCameraFovMessage"]["fov"] / 2.0) * far).all()


def test_the_camera_looks_where_a_run_starts_that_the_page_follows():
    from stiction.stage import view_of

    world = stiction.World(friction=0.0)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.2)), mass=1.0, position=(1, 2, 0.1))
    world.set_velocity("box", (3.0, 0, 0))
    far, near = (view.of_simulation(stiction.simulate(world, duration=T, dt=0.01)) for T in (0.2, 0.05))
    middle, size, _ = view_of([far])
    np.testing.assert_allclose([*middle, size], [1, 2, 0.1, 0.16 * np.sqrt(3)], atol=1e-6)
    middle, size, _ = view_of([near, far])
    np.testing.assert_allclose([*middle, size], [1.3, 2, 0.1, 0.8], atol=1e-6)  # whole: the first stays, both are seen


def box_that_slides(side, x, speed=0.0):
    world = stiction.World(friction=0.0)
    world.add_ground()
    box = stiction.Shape.box((side, side, side))
    world.add_body("box", box, mass=1.0, position=(x, 0, side / 2), velocity=(speed, 0, 0))
    return view.of_simulation(stiction.simulate(world, duration=0.2, dt=0.01))


@pytest.mark.parametrize(
    ("first", "second"), [((0.1, 0.0), (0.1, 1.1)), ((0.1, 0.0), (0.1, 5.0)), ((0.1, 0.0), (5.0, 0.0))]
)
def test_the_camera_sees_two_runs_however_far_apart_and_unlike_they_are(first, second):
    from stiction.stage import view_of

    for sizes in ((first, second), (second, first)):
        lower = min(x - side / 2 for side, x in sizes)
        upper = max(x + side / 2 for side, x in sizes)
        middle, size, follows = view_of([box_that_slides(*run) for run in sizes])
        assert size == pytest.approx(
            max(upper - lower, 0.8 * np.hypot(upper - lower, np.sqrt(2) * max(first[0], second[0])))
        )
        assert middle[0] == pytest.approx((lower + upper) / 2)
        assert not follows


def test_the_camera_sees_where_both_runs_start_if_one_of_them_leaves():
    from stiction.stage import view_of

    stays, leaves = box_that_slides(0.1, 0.0), box_that_slides(0.1, 1.1, 100.0)
    for runs, follows in (((stays, leaves), False), ((leaves, stays), True)):
        middle, size, followed = view_of(list(runs))
        np.testing.assert_allclose([*middle, size], [0.55, 0, 0.05, 1.2], atol=1e-6)
        assert followed == follows


def ball_in_flight(height, speed, duration):
    world = stiction.World(friction=0.5)
    world.add_ground()
    ball = stiction.Shape.sphere(0.1)
    world.add_body("ball", ball, mass=1.0, position=(0, 0, height), velocity=(speed, 0, 0))
    return view.of_simulation(stiction.simulate(world, duration=duration))


def test_the_page_follows_what_leaves_the_picture_of_its_start():
    from stiction.stage import view_of

    thrown, fallen, seen = (ball_in_flight(*run) for run in ((1.5, 3.0, 1.0), (5.0, 0.0, 1.2), (1.5, 0.0, 0.6)))
    for run, height in ((thrown, 1.5), (fallen, 5.0)):
        middle, size, follows = view_of([run])
        np.testing.assert_allclose([*middle, size], [0, 0, height, 0.16 * np.sqrt(3)], atol=1e-6)
        assert follows
    middle, size, follows = view_of([seen])  # whole, from the start down to the ground
    assert middle[2] == pytest.approx(0.8, abs=2e-3)
    assert size == pytest.approx(1.6, abs=4e-3)
    assert not follows


def test_what_is_small_and_far_away_is_drawn_near_in_another_unit():
    from stiction.drawing import Drawing

    for size, unit in ((3e-4, 1e-3), (2e-2, 1e-3), (0.05, 1.0), (20.0, 1.0), (50.0, 1e3), (1e4, 1e3), (5e-6, 1e-6)):
        assert Drawing.of(np.zeros(3), size).unit == unit
    assert Drawing.of(np.array([40.0, -49.0, 0.0]), 1.0).plain
    middle = np.array([1e6 + 0.125, -3.0, 2e4])
    drawing = Drawing.of(middle, 1e-2)
    np.testing.assert_allclose(drawing.origin + drawing.unit * drawing.places(middle), middle, rtol=1e-15)
    assert np.abs(drawing.places(middle)).max() <= 50.0
    pose = drawing.poses(np.array([*middle, 0.0, 0.0, 0.6, 0.8]))
    np.testing.assert_array_equal(pose, [*drawing.places(middle), 0.0, 0.0, 0.6, 0.8])


def test_no_picture_of_a_sky_lights_the_scene(content):
    """A processor takes longer to blur one than for all the rest of opening."""
    messages = {message["type"]: message for message in content[0]["messages"]}
    assert messages["EnvironmentMapMessage"]["hdri_data"] is None
    assert messages["HemisphereLightMessage"]["props"]["intensity"] > 0.0
    assert messages["EnableLightsMessage"]["cast_shadow"] is False


def test_open_surfaces_throw_no_shadow_on_themselves():
    from stiction.visuals import VisualShape

    run = view.run_of("terrain", duration=0.01)
    box, ground = (next(s for s in run.shapes if s.name.startswith(name)) for name in ("box", "terrain"))
    fields = {key: getattr(ground, key) for key in ("kind", "size", "placement", "vertices", "faces")}
    looks = VisualShape(name="sheet", body=box.body, **fields)
    meshes = [m for m in header_of(page.content_of([run], ["run"], [looks]))["messages"] if m["type"] == "MeshMessage"]
    drawn = {message["name"].split("/")[-1]: message["props"] for message in meshes}
    sides = {
        name.split(" ")[-1]: (props["side"], props["cast_shadow"], props["receive_shadow"])
        for name, props in drawn.items()
    }
    assert sides[box.name] == ("front", True, True)
    assert sides[ground.name] == ("double", False, True)
    assert sides["0"] == ("double", True, False)  # the visual


def test_plots_are_of_the_run(trajectory, content):
    header, array = content
    charts = {chart["title"]: chart for chart in header["runs"][0]["charts"]}
    force = charts[frames.FORCES]
    np.testing.assert_allclose(array(force["time"]), trajectory.time[1:], rtol=1e-6)
    weight = MASS * GRAVITY
    np.testing.assert_allclose(array(force["values"]), weight, rtol=1e-6)  # the box alone stands on the ground
    np.testing.assert_allclose(array(charts[frames.RESIDUAL]["values"]), trajectory.residual[1:], rtol=1e-6)
    center = charts[frames.CENTER]  # a state has one, also the first
    np.testing.assert_allclose(array(center["time"]), trajectory.time, rtol=1e-6)
    values = array(center["values"]).reshape(3, -1)
    np.testing.assert_allclose(values, trajectory.center_of_mass.T, rtol=1e-6, atol=1e-6)


def under_gravity(gravity, velocity, duration=0.02):
    """A box of 1 t on the ground, or in flight where there is none to fall to; the run says its gravity."""
    world = stiction.World(gravity=gravity)
    world.add_ground()
    box = stiction.Shape.box((0.2, 0.2, 0.2))
    world.add_body("box", box, mass=1000.0, position=(0, 0, 0.1), velocity=velocity)
    run = of_simulation(stiction.simulate(world, duration=duration, dt=0.01))
    object.__setattr__(run, "gravity", np.array(gravity))
    return run


def test_arrows_are_as_long_as_the_weight_of_the_run_makes_them():
    """On the Moon as on the Earth: what bears the box is 0.5 to 1 of its side; longer than four weights is cut."""
    from stiction.sizes import Sizes

    for gravity in (1.62, 9.81, 274.0):
        run = under_gravity((0, 0, -gravity), (0, 0, 0))
        sizes = Sizes.of(run)
        arrows, shown, cut = sizes.arrows(run.contact_forces[run.contacts(-2)])
        assert shown.all()
        assert not cut.any()
        assert 0.4 * 0.2 - 1e-9 <= arrows.sum(axis=0)[2] <= 0.2 + 1e-9
        weight = 1000.0 * gravity
        arrows, _, cut = sizes.arrows(np.array([[0, 0, 3.99 * weight], [0, 0, 4.01 * weight]]))
        assert cut.tolist() == [False, True]
        header = header_of(page.content_of([run], ["run"]))
        assert header["longestArrow"] == pytest.approx(4.0 * weight)
        assert header["weights"] == 4.0


def test_without_weight_arrows_are_as_long_as_the_largest_force_makes_them():
    from stiction.sizes import Sizes

    run = under_gravity((0, 0, 0), (0, 0, -1.0))
    largest = np.linalg.norm(run.contact_forces, axis=1).max()
    assert largest > 0.0
    sizes = Sizes.of(run)
    arrows, _, cut = sizes.arrows(run.contact_forces)
    assert not cut.any()
    assert 0.4 * 0.2 - 1e-9 <= np.linalg.norm(arrows, axis=1).max() <= 0.2 + 1e-9
    header = header_of(page.content_of([run], ["run"]))
    assert header["longestArrow"] == pytest.approx(4.0 * largest)
    assert header["weights"] is None


def test_residuals_below_rounding_are_drawn_at_it_and_the_axis_says_so(trajectory):
    pytest.importorskip("matplotlib")
    from stiction import figures, plot

    values = np.array([0.0, 1e-20, 1e-14, 0.0])[:, None]
    run = dataclasses.replace(trajectory, time=np.arange(4.0))
    figure, axes = plot.pyplot().subplots()
    figures.draw_chart(axes, run, frames.Chart(frames.RESIDUAL, ["worst"], values, log=True, least=frames.ROUNDING))
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [1e-16, 1e-14, 1e-16])
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "less than 1e-16: at 1e-16"
    charts = {chart.title: chart for chart in frames.charts_of(trajectory)}
    assert charts[frames.RESIDUAL].least == frames.ROUNDING
    assert charts[frames.TIMES].least == 0.0
    plot.pyplot().close(figure)


def test_thinned_curves_keep_their_extremes():
    time = np.arange(20001) / 1000.0
    values = np.random.default_rng(0).normal(size=(len(time), 2))
    values[12345, 1] = 99.0
    thin_time, thin = frames.thinned(time, values)
    assert len(thin_time) == len(thin) == 2 * frames.CURVE_POINTS
    np.testing.assert_array_equal(thin.max(axis=0), values.max(axis=0))
    np.testing.assert_array_equal(thin.min(axis=0), values.min(axis=0))
    assert abs(thin_time[thin[:, 1].argmax()] - time[12345]) <= time[-1] / frames.CURVE_POINTS


def test_long_runs_are_thinned_to_what_a_page_may_weigh(trajectory):
    count = 400_000
    bodies = list(range(len(trajectory.body_names)))
    long = dataclasses.replace(trajectory, time=np.arange(count) / 1e3)
    states = frames.states_of(long, bodies)
    assert states[0] == 0
    assert states[-1] == count - 1
    assert 28 * len(bodies) * len(states) <= frames.STATES_BYTES
    assert len(frames.states_of(trajectory, bodies)) == len(trajectory.time)


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


@pytest.mark.parametrize("radius", [1e-6, 2e-4, 1e-3, 0.1, 1e4])
@pytest.mark.parametrize("slender", [0.0, 1e-3, 2.0, 300.0])
def test_drawn_shapes_are_whole_however_small(trajectory, radius, slender):
    from stiction.stage import mesh_of

    for shape in trajectory.shapes:
        if shape.kind not in ("sphere", "box", "capsule", "cylinder") or (slender == 0.0 and shape.kind != "sphere"):
            continue
        length = slender * radius
        size = {"box": (radius, radius, length)}.get(shape.kind, (radius, length, 0.0))
        mesh = mesh_of(dataclasses.replace(shape, size=np.array(size)))
        assert mesh.is_watertight, shape.kind
        extents = {
            "sphere": [2 * radius] * 3,
            "box": size,
            "capsule": [2 * radius, 2 * radius, length + 2 * radius],
            "cylinder": [2 * radius, 2 * radius, length],
        }
        np.testing.assert_allclose(np.ptp(mesh.bounds, axis=0), extents[shape.kind], rtol=1e-6)


def test_world_shapes_are_those_of_the_recording(box_run, trajectory):
    for ours, theirs in zip(box_run[0].shapes, trajectory.shapes, strict=True):
        assert (ours.kind, ours.body) == (theirs.kind, theirs.body)
        np.testing.assert_array_equal(ours.vertices, theirs.vertices)
        np.testing.assert_array_equal(ours.faces, theirs.faces)


@pytest.mark.parametrize("floating", [False, True])
def test_robot_starts_just_clear_of_the_ground(checkout, floating):
    world = view.robot_above_ground(str(checkout / "models" / "links.urdf"), floating)
    assert view.lowest_point(world) == pytest.approx(1e-3)
    assert world.problem().contacts == 0 or min(world.problem().gap) > 0


def test_shapes_of_a_body_whose_joint_is_elsewhere_are_where_they_are(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text("""<mujoco><worldbody><body name="a" pos="0 0 2"><joint name="j" pos="0 0 0.5" axis="0 1 0"/>
        <geom name="g" size="0.1" pos="0 0 -1"/></body></worldbody></mujoco>""")
    world = stiction.World()
    world.add_robot(file)
    assert view.lowest_point(world) == pytest.approx(0.9)
    q, (ball,) = np.array([np.pi / 2]), world.shapes
    np.testing.assert_allclose((world.pose(ball.body, q) @ ball.placement)[:3, 3], [-1.5, 0, 2.5], atol=1e-14)
    np.testing.assert_allclose(world.pose("a", q)[:3, 3], [-0.5, 0, 2.5], atol=1e-14)
    with pytest.raises(ValueError, match="body in"):
        world.pose(len(world.body_names))
    trajectory = of_simulation(stiction.simulate(world, duration=1e-3))
    run = LiveRun(world)
    run.bodies = [ball.body]
    run.ask({"step": True})
    np.testing.assert_allclose(np.frombuffer(run.frame, "<f4")[2:5], trajectory.body_poses[1, ball.body, :3], atol=1e-6)


def test_command_writes_a_page(box_run, tmp_path):
    command = pathlib.Path(sys.executable).with_name("stiction")
    page = tmp_path / "page.html"
    done = subprocess.run([command, "view", box_run[2], "--html", page], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)=["']?https?://""", text)
    data = re.search(r'id="stiction-data">([^<]+)<', text)
    assert len(gzip.decompress(base64.b64decode(data[1]))) > 10_000
    unknown = subprocess.run(
        [command, "view", "nothing.npz", "--html", page], capture_output=True, text=True, check=False
    )
    assert unknown.returncode == 2
    assert unknown.stderr == "stiction view: nothing.npz: no such file\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--live", "--html", "page.html"], "--html: expected a run, which --live has none of"),
        (["--live", "--png", "page.png"], "--png: expected a run, which --live has none of"),
        (["--live", "--mp4", "page.mp4"], "--mp4: expected a run, which --live has none of"),
        (["--port", "99999"], "argument --port: invalid port in [0, 65535] value: '99999'"),
        (["--port", "-1"], "argument --port: invalid port in [0, 65535] value: '-1'"),
        (["--at", "nan"], "argument --at: invalid finite number value: 'nan'"),
        (["--at", "99", "--png", "page.png"], "--at: expected a time of the run, 0 to 2 s, got 99"),
        (["--at", "-5", "--png", "page.png"], "--at: expected a time of the run, 0 to 2 s, got -5"),
        (["--at", "1"], "--at: expected beside --png"),
        (["--speed", "2", "--html", "page.html"], "--speed: expected beside --mp4"),
        (["--size", "640x480"], "--size: expected beside --png or --mp4"),
        (["--png", "a.png", "--size", "4097x100"], "size like 1280x800, at most 4096 a side, value: '4097x100'"),
        (["--mp4", "a.mp4", "--size", "2x100000"], "size like 1280x800, at most 4096 a side, value: '2x100000'"),
        (["--mp4", "a.mp4", "--size", "641x479"], "--size: expected even numbers of pixels for a film, got 641x479"),
        (["--html", "page.png"], "--html: expected a file name that ends in .html, got 'page.png'"),
        (["--png", "picture.jpg"], "--png: expected a file name that ends in .png, got 'picture.jpg'"),
        (["--mp4", "film"], "--mp4: expected a file name that ends in .mp4, got 'film'"),
        (["--html", "none/page.html"], "--html: none/page.html: cannot be written: no folder none"),
        (["--png", "none/page.png"], "--png: none/page.png: cannot be written: no folder none"),
        (["--mp4", "none/page.mp4"], "--mp4: none/page.mp4: cannot be written: no folder none"),
        (["wedge.json"], "stiction view: expected a scene (.toml, or the name of one that ships), a robot (.urdf, "),
        (["--robot", "bounce.toml", "--html", "page.html"], "--robot: expected a file (.urdf, .xml) that shows bodies"),
        (["--robot", "nope.urdf", "--html", "page.html"], "stiction view: nope.urdf: No such file or directory\n"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(tmp_path, words, said):
    command = [sys.executable, "-m", "stiction.view", "bounce", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("live", [[], ["--live"]])
def test_a_port_that_is_taken_is_told_by_its_address(live):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "stiction.view", "bounce", *live, "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (2, f"stiction view: 127.0.0.1:{port}: Address already in use\n")


def test_a_scene_of_long_steps_runs_live(monkeypatch):
    shown = []
    monkeypatch.setattr(view, "play_live", lambda world, port, name, visuals: shown.append(name))
    assert stiction.Stepper(stiction.World.from_scene("stack")).dt > 2e-3
    assert view.main(["stack", "--live"]) == 0
    assert shown == ["stack"]


def test_a_recorded_run_is_not_simulated(box_run, tmp_path):
    command = [sys.executable, "-m", "stiction.view", box_run[2], "--duration", "5", "--html", tmp_path / "page.html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "--duration: expected a scene or robot to simulate, got" in done.stderr


@pytest.mark.parametrize("how", [["--live"], ["--html", "page.html"]])
def test_only_robots_are_let_float(box_run, tmp_path, monkeypatch, capsys, how):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(view, "play_live", None)
    for source in ("stack", box_run[2]):
        assert view.main([str(source), "--floating", *how]) == 2
        assert f"--floating: expected a robot (.urdf, .xml, .mjcf), got {source}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", [["--duration", "2"], ["--at", "0"], ["--speed", "2"], ["--size", "640x480"]])
def test_what_a_live_page_does_not_use_is_refused(monkeypatch, capsys, option):
    monkeypatch.setattr(view, "play_live", None)
    assert view.main(["stack", "--live", *option]) == 2
    assert f"{option[0]}: expected a run, which --live has none of" in capsys.readouterr().err


def test_an_interrupted_film_leaves_the_one_that_is_there(tmp_path, monkeypatch):
    pytest.importorskip("imageio_ffmpeg", reason="films need imageio-ffmpeg")

    def interrupted(*_):
        raise KeyboardInterrupt

    film = tmp_path / "film.mp4"
    film.write_bytes(b"what was there")
    monkeypatch.setattr(view, "opened", interrupted)
    with pytest.raises(KeyboardInterrupt):
        view.to_mp4("", film)
    assert film.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [film]


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said_with_the_file(box_run, tmp_path):
    page = tmp_path / "page.html"
    page.symlink_to("/dev/full")
    command = [sys.executable, "-m", "stiction.view", box_run[2], "--html", page]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert str(page) in done.stderr


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


URDF = """<robot name="arm">
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="base"/>
<link name="upper"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/><geometry><box size="0.1 0.2 1"/></geometry>
<material name="red"/></visual></link>
<link name="tool"><visual><geometry>
<mesh filename="package://arm/meshes/tool.stl" scale="2 2 2"/></geometry></visual></link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="glue" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="0 0 1"/></joint>
</robot>"""


LINK = """<link name="{0}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision>{1}</link>"""


def robot_that_shows(kind):
    """A floating one of a base that is seen, a link that is seen and one that is not."""
    if kind == "urdf":
        seen = '<visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>'
        joint = '<joint name="{0}" type="continuous"><parent link="base"/><child link="{0}"/></joint>'
        links = LINK.format("base", seen) + LINK.format("seen", seen) + LINK.format("hidden", "")
        return f'<robot name="r">{links}{joint.format("seen")}{joint.format("hidden")}</robot>'
    return """<mujoco><worldbody><body name="base"><freejoint/><geom size="0.1"/>
<body name="seen"><joint/><geom size="0.1"/></body>
<body name="hidden"><joint/><geom size="0.1" group="3"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_every_robot_of_the_file_is_dressed_and_what_it_does_not_show_stays(tmp_path, ending):
    from stiction.visuals import visuals_of

    file = tmp_path / f"robot.{ending}"
    file.write_text(robot_that_shows(ending))
    world = stiction.World()
    world.add_ground()
    for k in range(2):
        floating = {"floating": True} if ending == "urdf" else {}
        world.add_robot(file, name=f"r{k}", position=(0, float(k), 0.5), **floating)
    world.add_body("seen", stiction.Shape.sphere(0.1), mass=1.0, position=(2, 0, 0.5))
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0, position=(1, 0, 0.5))
    run = view.of_simulation(stiction.simulate(world, duration=0.002))
    visuals = visuals_of(file, run)
    names = [run.body_names[visual.body] for visual in visuals]
    assert sorted(name.split("/")[-1] for name in names) == ["base", "base", "seen", "seen"]
    assert len({visual.body for visual in visuals}) == 4
    (drawn,) = header_of(page.content_of([run], ["run"], visuals))["runs"]
    taken_off = [node.split("/")[2].split(" ")[0] for node in drawn["collision"]]
    assert sorted(int(body) for body in taken_off) == sorted(visual.body for visual in visuals)
    stays = set(drawn["movable"]) - set(drawn["collision"]) - set(drawn["visual"])
    assert len(stays) == 4  # two links that are not shown, two free bodies


@pytest.mark.parametrize(
    ("bodies", "robots"),
    [
        (["one/trunk", "LF", "RF", "trunk"], [[0, 1, 2]]),  # a free body has a link's name
        (["trunk", "one/trunk", "LF", "RF"], [[1, 2, 3]]),
        (["RF", "trunk", "LF", "one/RF"], [[1, 2, 3]]),
        (["two/trunk", "wheel", "one/trunk", "LF", "RF"], [[2, 3, 4]]),  # so has a robot of another file
        (["one/trunk", "LF", "RF", "two/trunk", "wheel"], [[0, 1, 2]]),
        ([f"{robot}/{link}" for robot in ("one", "two") for link in ("trunk", "LF", "RF")], [[0, 1, 2], [3, 4, 5]]),
        (["trunk", "LF", "RF"] * 2, [[0, 1, 2], [3, 4, 5]]),
        (["ball"], [[]]),
    ],
)
def test_a_robot_is_known_by_names_of_which_some_are_qualified(bodies, robots):
    from stiction.visuals import robots_in

    found = robots_in(types.SimpleNamespace(body_names=bodies), ["trunk", "LF", "RF"])
    assert [sorted(robot.values()) for robot in found] == robots


def test_visuals_of_a_urdf_stand_on_the_bodies_of_their_links(tmp_path):
    import trimesh

    from stiction.visuals import visuals_of

    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    trimesh.creation.box(extents=(0.1, 0.1, 0.1)).export(tmp_path / "arm" / "meshes" / "tool.stl")
    file = tmp_path / "arm" / "arm.urdf"
    file.write_text(URDF)
    trajectory = view.run_of(file, duration=0.01)
    box, tool = visuals_of(file, trajectory)
    upper = trajectory.body_names.index("upper")
    assert (box.kind, box.body, box.color) == ("box", upper, (255, 0, 0))
    np.testing.assert_allclose(box.placement, [0, 0, 0.5, 0, 0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-12)
    assert (tool.kind, tool.body) == ("mesh", upper)
    np.testing.assert_allclose(tool.placement[:3], [0, 0, 1])  # the tool is fixed at the end of the arm
    np.testing.assert_allclose(np.ptp(tool.vertices, axis=0), 0.2)
    (run,) = header_of(page.content_of([trajectory], ["arm"], [box, tool]))["runs"]
    assert len(run["visual"]) == 2
    (tmp_path / "arm" / "meshes" / "tool.stl").unlink()
    with pytest.raises(stiction.FileError, match=r"tool\.stl"):
        visuals_of(file, trajectory)
