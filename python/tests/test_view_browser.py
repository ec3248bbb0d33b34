"""The page of stiction view in a real browser: what it draws, what it complains of, what it asks the network for."""

import contextlib
import dataclasses
import io
import json
import pathlib
import tempfile
import threading
import time

import numpy as np
import pytest

import stiction
from stiction import frames, view
from stiction.trajectory import CONTACT_MODES, of_simulation

pytest.importorskip("viser", reason="stiction view needs viser")

from stiction import browser

PATIENCE = 30.0  # s
SIZE = (760, 300)  # small: a processor draws it
MU, MASS, GRAVITY = 0.3, 2.0, 9.81
ORANGE, BLUE = (232, 86, 0), (18, 104, 200)  # of contacts that slip and stick


@pytest.fixture(scope="module")
def trajectory():
    """A box that slides, then sticks."""
    world = stiction.World(friction=MU)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=MASS, position=(0, 0, 0.05))
    world.set_velocity("box", (1.0, 0, 0))
    return of_simulation(stiction.simulate(world, duration=0.5, dt=0.01))


@pytest.fixture(scope="module")
def chromium(trajectory, tmp_path_factory, headless):
    """A browser that shows the run."""
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(view.to_html(trajectory, names=["box"]), encoding="utf-8")
    with headless.Browser() as chromium:
        chromium.open(file, SIZE)
        yield chromium


def picture_of(file):
    from PIL import Image

    return np.asarray(Image.open(file).convert("RGB")).astype(int)


def pixels(chromium):
    return picture_of(io.BytesIO(chromium.still_picture()))


def picture_at(chromium, seconds, shows=lambda picture: True):
    """The scene at a time, without the panel beside it, the legend above it and the axes in its corner.

    shows: what it is to show; a busy machine draws late, so that is waited for.
    """
    chromium.seek(seconds)
    end = time.monotonic() + PATIENCE
    while not shows(picture := pixels(chromium)[60:240, 80:350]) and time.monotonic() < end:
        pass
    return picture


def differs(one, other):
    """Pixels that differ."""
    return (np.abs(one - other).max(axis=2) > 40).sum()


def is_warm(picture):
    return (picture[..., 0] > 150) & (picture[..., 2] < 0.55 * picture[..., 0])


def test_it_draws_without_complaint_and_asks_nobody(chromium):
    picture = picture_at(chromium, 0.1)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    assert chromium.complaints == []
    assert chromium.evaluate("stiction.page.options.shadows") is False  # SwiftShader: no graphics processor
    assert chromium.requests
    assert all(address.startswith(("file:", "data:", "blob:")) for address in chromium.requests)


def test_the_picture_changes_with_time_and_its_colours_tell_slip_from_stick(chromium):
    sliding = picture_at(chromium, 0.1, lambda picture: is_warm(picture).sum() > 40)
    resting = picture_at(chromium, 0.5, lambda picture: is_warm(picture).sum() < 3)
    assert differs(sliding, resting) > 200
    assert is_warm(sliding).sum() > 20 * max(is_warm(resting).sum(), 1)
    few = 0.1 * differs(sliding, resting)  # edges of shadows, which viser fits anew
    again = picture_at(chromium, 0.1, lambda picture: differs(sliding, picture) < few)
    assert differs(sliding, again) < few


@pytest.mark.parametrize("seconds", [0.1, 0.2, 0.5])
def test_arrows_are_the_forces_of_the_log_in_the_stated_scale(chromium, trajectory, seconds):
    chromium.seek(seconds)
    drawn = "(d => ({points: [...d.points], colors: [...d.colors]}))(stiction.page.views[0].drawn)"
    drawn = json.loads(chromium.evaluate(f"JSON.stringify({drawn})"))
    state = int(np.abs(trajectory.time - seconds).argmin())
    at = trajectory.contacts(state)
    arrows = np.reshape(drawn["points"], (-1, 2, 3))
    newtons_per_meter = chromium.evaluate("stiction.page.content.newtonsPerUnit")
    np.testing.assert_allclose(arrows[:, 0], trajectory.contact_points[at], atol=1e-6)
    forces = newtons_per_meter * (arrows[:, 1] - arrows[:, 0])
    np.testing.assert_allclose(forces, trajectory.contact_forces[at], atol=1e-4)
    np.testing.assert_allclose(forces.sum(axis=0)[2], MASS * GRAVITY, rtol=1e-5)
    color = {"slip": ORANGE, "stick": BLUE}[CONTACT_MODES[trajectory.contact_modes[at][0]]]
    np.testing.assert_array_equal(np.reshape(drawn["colors"], (-1, 3)), np.tile(color, (len(arrows), 1)))
    assert f"1 m of arrow = {newtons_per_meter:g} N" in chromium.evaluate(
        "document.getElementById('legend').textContent"
    )


def test_cones_have_the_slope_of_the_friction_and_hold_the_forces(chromium, trajectory):
    chromium.seek(0.1)
    view_ = "stiction.page.views[0]"
    cones = json.loads(
        chromium.evaluate(
            f"JSON.stringify((c => ({{n: c.count, s: [...c.batched_scales]}}))({view_}.cones({view_}.state, 1)))"
        )
    )
    scales = np.reshape(cones["s"], (-1, 3))[: cones["n"]]
    np.testing.assert_allclose(scales[:, 0], MU * scales[:, 2], rtol=1e-6)
    at = trajectory.contacts(10)
    newtons_per_meter = chromium.evaluate("stiction.page.content.newtonsPerUnit")
    np.testing.assert_allclose(newtons_per_meter * scales[:, 2], trajectory.contact_forces[at][:, 2], rtol=1e-5)


def test_keys_go_state_by_state_and_the_cursor_with_them(chromium, trajectory):
    chromium.seek(0.1)
    for key, state in (("ArrowRight", 11), ("ArrowRight", 12), ("ArrowLeft", 11), ("End", 50), ("Home", 0)):
        chromium.key(key)
        assert chromium.evaluate("stiction.page.player.time") == pytest.approx(trajectory.time[state], abs=1e-6)
    chromium.seek(0.2)
    shown = chromium.evaluate("[...stiction.page.charts.values()][0].values.textContent")
    assert shown.split()[-1] == f"{MASS * GRAVITY:.4g}"
    assert chromium.evaluate("document.getElementById('clock').textContent").startswith("0.200")


def test_a_plot_is_drawn_once_and_its_cursor_goes_on(chromium):
    """Numbers above a plot wrap now and then; to draw its curves anew then would cost more than the scene."""
    chart = "[...stiction.page.charts.values()][0]"
    wrap = f"""new Promise(done => {{
      const chart = {chart};
      let drawn = 0;
      chart.draw = () => ++drawn;
      chart.values.innerHTML = "1<br>2<br>3";
      requestAnimationFrame(() => requestAnimationFrame(() => {{ delete chart.draw; done(drawn); }}));
    }})"""
    assert chromium.evaluate(wrap) == 0
    places = []
    for seconds in (0.1, 0.4):
        chromium.seek(seconds)
        places.append(
            chromium.evaluate(
                f"{chart}.cursor.getBoundingClientRect().x - {chart}.canvas.getBoundingClientRect().x"
                f" - {chart}.xOf({seconds})"
            )
        )
    np.testing.assert_allclose(places, -0.5, atol=0.01)
    chromium.evaluate("stiction.page.player.zoom(0.1, 0.5); 0")
    chromium.seek(0.5)
    assert chromium.evaluate(f"{chart}.cursor.hidden")
    chromium.evaluate("stiction.page.player.zoom(null); 0")


def test_numbers_above_a_plot_keep_their_places(chromium):
    chart = "[...stiction.page.charts.values()][0]"
    widths = chromium.evaluate(
        f"""[0, 1, -0.001234, -12345.678, -1.2345e-12].map(value => {{
          {chart}.values.innerHTML = `<i><u>${{short(value)}}</u></i>`;
          return {chart}.values.querySelector("u").getBoundingClientRect().width;
        }})"""
    )
    assert widths == [66] * 5


def test_toggles_hide_what_they_name(chromium):
    with_forces = picture_at(chromium, 0.1, lambda picture: is_warm(picture).sum() > 40)
    press = "[...document.querySelectorAll('.chip')].filter(c => c.textContent === {!r}).forEach(c => c.click())"
    names = ("Forces", "Friction cones", "Contact points")
    for name in names:
        chromium.evaluate(press.format(name))
    without = picture_at(chromium, 0.1, lambda picture: is_warm(picture).sum() < 3)
    for name in names:
        chromium.evaluate(press.format(name))
    assert is_warm(without).sum() < 0.1 * is_warm(with_forces).sum()
    assert chromium.complaints == []


@pytest.fixture(scope="module")
def thrown():
    """A ball that falls seven times its size and rolls on."""
    world = stiction.World(friction=0.5)
    world.add_ground()
    ball = stiction.Shape.sphere(0.1)
    world.add_body("ball", ball, mass=1.0, position=(0, 0, 1.5), velocity=(3.0, 0, 0))
    return of_simulation(stiction.simulate(world, duration=1.0, dt=2e-3))


def is_of_the_ball(picture):
    """Of the ball's pale blue, not that of contacts that stick."""
    return np.abs(picture[..., 2] - picture[..., 0] - 48) < 24


def test_what_is_thrown_stays_in_the_picture(chromium, thrown, tmp_path):
    page, counts = view.to_html(thrown), []
    for seconds in (0.0, 0.3, 0.6, 1.0):
        view.to_png(page, file := tmp_path / "ball.png", at=seconds, size=(300, 300))
        ball = np.argwhere(is_of_the_ball(picture_of(file)))
        counts.append(len(ball))
        inner = np.percentile(ball, [2, 98], axis=0)  # without edges of the axes' blue in the corner
        assert inner.min() > 10
        assert inner.max() < 290
    assert min(counts) > 0.5 * max(counts) > 4000


def test_an_upright_picture_is_as_wide_as_a_square_one_is(chromium, trajectory, tmp_path):
    """Of twice the height: what a square picture of that width shows, and as much again above and below."""
    page, pictures = view.to_html(trajectory), []
    for size in ((300, 300), (300, 600)):
        view.to_png(page, file := tmp_path / "box.png", at=0.5, size=size)
        pictures.append(picture_of(file))
    square, upright = pictures[0][80:280, 60:], pictures[1][230:430, 60:]  # without legend and axes
    assert differs(square, upright) < 0.02 * square[..., 0].size


def walking(thrown, bob):
    """The same ball carried 3 m ahead, up and down by `bob` (m) four times."""
    part = np.linspace(0.0, 1.0, len(thrown.time))
    shift = np.column_stack([3.0 * part, 0.0 * part, bob * np.sin(8.0 * np.pi * part)])
    poses = thrown.body_poses.copy()
    poses[..., :3] = poses[:1, :, :3]
    poses[:, thrown.body_mass > 0.0, :3] += shift[:, None]
    return dataclasses.replace(thrown, body_poses=poses, center_of_mass=thrown.center_of_mass[:1] + shift)


def test_the_ground_under_a_robot_that_walks_does_not_bob(chromium, thrown, tmp_path):
    size = 0.16 * np.sqrt(3)  # of the picture
    for bob in (0.2 * size, 0.6 * size):
        run = walking(thrown, bob)
        file = tmp_path / "walk.html"
        file.write_text(view.to_html(run), encoding="utf-8")
        with browser.Browser() as window:
            window.open(file, SIZE)
            assert window.evaluate("stiction.page.options.follow")
            places = "[...run.states.time.keys()].map(k => stiction.page.place(run, k, 0))"
            moved = window.evaluate(f"(run => JSON.stringify({places}))(stiction.page.views[0])")
        moved = np.array(json.loads(moved))
        seen = run.center_of_mass - run.center_of_mass[0] + moved
        np.testing.assert_allclose(seen[:, :2], 0.0, atol=1e-6)
        if bob < 0.25 * size:
            np.testing.assert_array_equal(moved[:, 2], 0.0)
        else:
            assert np.abs(seen[:, 2]).max() == pytest.approx(0.25 * size, rel=1e-3)


def test_pictures_have_shadows_where_the_page_opens_without(chromium, trajectory, tmp_path):
    assert chromium.evaluate("stiction.page.options.shadows") is False
    with view.opened(view.to_html(trajectory), SIZE, tmp_path) as window:
        assert window.evaluate("stiction.page.options.shadows") is True
        shaded = pixels(window)
        window.evaluate(f"stiction.page.options.shadows = false; stiction.page.request(); {browser.SETTLED}")
        assert (shaded.sum(axis=2) < pixels(window).sum(axis=2) - 60).sum() > 300


def test_two_runs_stand_beside_each_other(trajectory, chromium, tmp_path):
    world = stiction.World(friction=0.1)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=MASS, position=(0, 0, 0.05))
    world.set_velocity("box", (1.0, 0, 0))
    other = of_simulation(stiction.simulate(world, duration=0.5, dt=0.01))
    file = tmp_path / "two.html"
    file.write_text(view.to_html(trajectory, other, names=["rough", "slick"]), encoding="utf-8")
    with browser.Browser() as second:
        second.open(file, SIZE)
        second.seek(0.5)
        places = "JSON.stringify(stiction.page.views.map(v => [...v.state.center]))"
        ends = np.array(json.loads(second.evaluate(places)))
        np.testing.assert_allclose(ends, [trajectory.center_of_mass[-1], other.center_of_mass[-1]], atol=1e-6)
        assert second.evaluate("[...stiction.page.charts.values()][0].runs.length") == 2
        assert second.evaluate("document.getElementById('title').textContent") == "rough and slick"
        told = second.evaluate("[...stiction.page.charts.values()][0].values.textContent")
        force = f"{MASS * GRAVITY:.4g}"
        assert told.split() == ["━", "rough:", "simulated", force, "┅", "slick:", "simulated", force]
        assert second.complaints == []


TEXTURED = """<robot name="lamp"><link name="lamp"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="lamp.obj"/></geometry></visual>
<collision><geometry><sphere radius="0.05"/></geometry></collision></link></robot>"""


def test_a_mesh_is_drawn_with_the_texture_of_its_file(chromium, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    from PIL import Image

    from stiction.visuals import TEXTURE_PIXELS, visuals_of

    lamp = trimesh.creation.box(extents=(0.08, 0.08, 0.08))
    picture = Image.new("RGB", (1024, 512), (20, 160, 30))  # green, which nothing else in the scene is
    lamp.visual = trimesh.visual.TextureVisuals(uv=lamp.vertices[:, :2] + 0.5, image=picture)
    lamp.export(tmp_path / "lamp.obj")
    file = tmp_path / "lamp.urdf"
    file.write_text(TEXTURED)
    run = view.run_of(file, duration=0.01, floating=True)
    (shape,) = visuals_of(file, run)
    assert shape.surface.visual.material.baseColorTexture.size == (TEXTURE_PIXELS, TEXTURE_PIXELS // 2)
    np.testing.assert_allclose(np.ptp(shape.surface.vertices, axis=0), 0.08)
    page = tmp_path / "lamp.html"
    page.write_text(view.to_html(run, names=["lamp"], visuals=[shape]), encoding="utf-8")
    with browser.Browser() as window:
        window.open(page, SIZE)
        drawn = picture_at(window, 0.0, lambda drawn: is_green(drawn).sum() > 500)
        assert is_green(drawn).sum() > 500
        assert window.complaints == []


def is_green(picture):
    return picture[..., 1] > 1.5 * np.maximum(picture[..., 0], picture[..., 2])


TENDON = """<mujoco><worldbody><site name="top" pos="0 0 1"/><body name="ball" pos="0.3 0 1" euler="0 0 90"><freejoint/>
<geom size="0.1"/><site name="eye" pos="0.1 0 0.05"/></body></worldbody>
<tendon><spatial rgba="0 0.6 0 1"><site site="top"/><site site="eye"/></spatial></tendon></mujoco>"""


def test_a_tendon_goes_with_its_bodies(chromium, tmp_path):
    from stiction.visuals import visuals_of

    file = tmp_path / "tendon.xml"
    file.write_text(TENDON)
    run = view.run_of(file, duration=0.1)
    page = tmp_path / "tendon.html"
    page.write_text(view.to_html(run, names=["run"], visuals=visuals_of(file, run)), encoding="utf-8")
    with browser.Browser() as window:
        window.open(page, SIZE)
        window.seek(0.1)
        lines = "stiction.page.views[0].marks(stiction.page.views[0].state, stiction.page.options, true)[1]"
        drawn = json.loads(window.evaluate(f"JSON.stringify({lines})"))
        (tendon,) = [line["ends"] for line in drawn if line["color"] == [0, 153, 0]]
        ball = run.body_poses[-1, run.body_names.index("ball"), :3]
        top = [0.0, 0.0, run.body_poses[0, run.body_names.index("ball"), 2]]  # as high as the ball is at first
        np.testing.assert_allclose(tendon, [*top, *(ball + np.array([0.0, 0.1, 0.05]))], atol=1e-5)
        window.evaluate("stiction.page.options.visuals = false; 0")
        assert (0, 153, 0) not in [
            tuple(line["color"]) for line in json.loads(window.evaluate(f"JSON.stringify({lines})"))
        ]
        assert window.complaints == []


@contextlib.contextmanager
def served(world):
    """A simulation of a world that stands still, and its address."""
    from stiction import page
    from stiction.live import LiveRun
    from stiction.serve import address_of, serve_page

    run = LiveRun(world)
    run.running = False
    content = page.content_of([run.start], ["live"], live=run)
    with serve_page(page.page_of(content, "live"), 0, run.stream) as server:
        threads = [threading.Thread(target=task, daemon=True) for task in (server.serve_forever, run.run)]
        for thread in threads:
            thread.start()
        yield run, address_of(server)
        run.stop()
    for thread in threads:
        thread.join()


@pytest.fixture
def live():
    world = stiction.World(friction=0.8)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.2)), mass=MASS, position=(0, 0, 0.1))
    with served(world) as run_and_address:
        yield run_and_address


def until(condition, chromium):
    """Waits for what the server or the page is still about to do."""
    end = time.monotonic() + chromium.patience
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    assert condition()


def test_a_live_body_is_stepped_dragged_and_made_slippery(chromium, live):
    run, address = live
    with browser.Browser() as window:
        window.open(address, SIZE)
        until(lambda: window.evaluate("stiction.page.live.socket.readyState") == 1, window)
        window.evaluate("[...document.querySelectorAll('#live button')].find(b => b.textContent === 'Step').click()")
        until(lambda: run.stepper.time > 0.0, window)
        until(lambda: window.evaluate("stiction.page.player.time") == pytest.approx(run.stepper.dt), window)
        certificate = {name: value for name, value in run.report.certificate.items() if value > 0.0}
        told = f"stiction.page.charts.get({frames.PARTS!r})"
        until(lambda: window.evaluate(f"{told}.values.querySelectorAll('i').length") == len(certificate), window)
        last = json.loads(window.evaluate(f"JSON.stringify({told}.runs[0].curves.map(curve => curve.at(-1)))"))
        np.testing.assert_allclose(last, list(run.report.certificate.values()), rtol=1e-6)
        assert all(name in window.evaluate(f"{told}.values.textContent") for name in certificate)
        x, y = json.loads(
            window.evaluate(
                "JSON.stringify((r => [r.x + r.width / 2, r.y + r.height / 2])"
                "(document.querySelector('#root canvas').getBoundingClientRect()))"
            )
        )
        window.press("mouseMoved", x, y, buttons=0)
        window.press("mousePressed", x, y)
        for k in range(1, 6):
            window.press("mouseMoved", x + 8 * k, y - 8 * k)
        until(lambda: run.push is not None, window)
        assert run.push.body == "box"
        np.testing.assert_array_less(np.abs(run.push.local), 0.11)  # the point that was grabbed is on the box
        until(lambda: run.push.target[2] > 0.12, window)  # the mouse went up
        window.press("mouseReleased", x + 40, y - 40, buttons=0)
        until(lambda: run.push is None, window)
        window.evaluate("(f => { f.value = 0.05; f.oninput(); })(document.getElementById('friction')); 0")
        until(lambda: run.stepper.friction == 0.05, window)
        window.evaluate("stiction.page.step(1); 0")
        until(lambda: len(run.stepper.contacts) > 0 and (run.stepper.contacts.mu == 0.05).all(), window)
        assert window.complaints == []
        assert all(request.startswith((address, "data:", "blob:", "ws://127")) for request in window.requests)


CONTROLS = """JSON.stringify((section => ({
  title: section.querySelector("span").textContent, button: section.querySelector("button").textContent,
  friction: section.querySelector("#friction").value, told: section.querySelector("b").textContent,
  hold: section.querySelector(".chip").getAttribute("aria-pressed"), speed: document.getElementById("speed").value,
  play: document.getElementById("play").textContent,
}))(document.getElementById("live")))"""


def test_the_controls_of_a_live_page_are_what_the_server_does(chromium):
    """After it is opened again too, by a page that knows nothing, and when the server has ended."""
    with browser.Browser() as window, served(stiction.World.from_scene("quadruped")) as (run, address):

        def shows(**wanted):
            until(lambda: wanted.items() <= json.loads(window.evaluate(CONTROLS)).items(), window)

        def press(text):
            window.evaluate(
                f"[...document.querySelectorAll('#live button')].find(b => b.textContent === {text!r}).click()"
            )

        window.open(address, SIZE)
        at = {"button": "Run", "hold": "true", "speed": "1", "told": "as in the scene", "play": "▶"}
        shows(title="Paused: Run goes on, Step takes one step", **at)
        press("Hold joints")
        window.evaluate("(s => { s.value = '0.1'; s.onchange({ target: s }); })(document.getElementById('speed')); 0")
        window.evaluate("(f => { f.value = 0.05; f.oninput(); })(document.getElementById('friction')); 0")
        until(lambda: (run.stepper.friction, run.hold, run.speed) == (0.05, False, 0.1), window)
        at |= {"hold": "false", "speed": "0.1", "told": "0.05", "friction": "0.05"}
        window.open(address, SIZE)
        shows(title="Paused: Run goes on, Step takes one step", **at)
        press("Run")
        until(lambda: run.running, window)
        shows(**at | {"title": "Running simulation: drag a body to push it", "button": "Pause", "play": "❚❚"})
        run.ask({"run": False, "hold": True})  # as another page would
        shows(**at | {"hold": "true"})
        run.ask({"run": True})
        shows(button="Pause")
        run.stop()
        shows(title="The simulation has ended", button="Run", play="▶")
        window.key(" ")
        shows(title="The simulation has ended", button="Run", play="▶")


def test_a_slider_is_asked_for_when_it_rests(chromium, live):
    run, address = live
    with browser.Browser() as window:
        window.open(address, SIZE)
        until(lambda: window.evaluate("stiction.page.live.socket.readyState") == 1, window)
        asked = """(live => new Promise(done => {
          const asked = [], say = live.say, friction = document.getElementById("friction");
          live.say = what => { asked.push(what); say.call(live, what); };
          for (const value of [0.4, 0.3, 0.2, 0.1]) { friction.value = value; friction.oninput(); }
          setTimeout(() => done(JSON.stringify(asked)), 600);
        }))(stiction.page.live)"""
        assert json.loads(window.evaluate(asked)) == [{"friction": 0.1}]
        until(lambda: run.stepper.friction == 0.1, window)


def elsewhere(run, scale=1.0, offset=(0.0, 0.0, 0.0)):
    """The same run with all its lengths scaled, somewhere else."""
    moved = {name: scale * getattr(run, name) + offset for name in ("center_of_mass", "contact_points")}
    poses = run.body_poses.copy()
    poses[..., :3] *= scale
    poses[:, run.body_mass > 0.0, :3] += offset
    shapes = []
    for shape in run.shapes:
        placement = np.concatenate([scale * shape.placement[:3], shape.placement[3:]])
        scaled = {"size": scale * shape.size, "vertices": scale * shape.vertices, "placement": placement}
        shapes.append(dataclasses.replace(shape, **scaled))
    return dataclasses.replace(run, body_poses=poses, shapes=shapes, **moved)


@pytest.mark.parametrize("scale", [1e-4, 1e-3, 1e-2, 1e2, 1e4, 1e5])
def test_runs_of_all_sizes_look_alike(chromium, trajectory, tmp_path, scale):
    pictures = []
    for run in (trajectory, elsewhere(trajectory, scale)):
        view.to_png(view.to_html(run), file := tmp_path / "run.png", at=0.1, size=SIZE)
        pictures.append(picture_of(file)[60:240, 80:])
    assert is_warm(pictures[0]).sum() > 20
    assert differs(*pictures) < 0.02 * pictures[0][..., 0].size


@pytest.mark.parametrize("offset", [(1e5, 0, 0), (1e6, -1e6, 0)])
def test_a_run_far_away_looks_as_it_does_here(chromium, trajectory, tmp_path, offset):
    pictures = []
    for run in (trajectory, elsewhere(trajectory, 1.0, offset)):
        view.to_png(view.to_html(run), file := tmp_path / "run.png", at=0.1, size=SIZE)
        pictures.append(picture_of(file)[60:240, 80:])
    assert differs(*pictures) < 0.005 * pictures[0][..., 0].size


def test_a_small_live_run_far_away_is_drawn_and_dragged_in_its_own_lengths(headless):
    edge, x = 2e-3, 1e4
    world = stiction.World(friction=0.8)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((edge, edge, edge)), mass=MASS, position=(x, 0, edge / 2))
    with served(world) as (run, address), headless.Browser() as window:
        window.open(address, SIZE)
        until(lambda: window.evaluate("stiction.page.live.socket.readyState") == 1, window)
        rect = "document.querySelector('#root canvas').getBoundingClientRect()"
        u, v = json.loads(window.evaluate(f"JSON.stringify((r => [r.x + r.width / 2, r.y + r.height / 2])({rect}))"))
        window.press("mouseMoved", u, v, buttons=0)
        window.press("mousePressed", u, v)
        for k in range(1, 6):
            window.press("mouseMoved", u + 8 * k, v - 8 * k)
        until(lambda: run.push is not None, window)
        np.testing.assert_array_less(np.abs(run.push.local), 0.55 * edge)
        until(lambda: 0.6 * edge < run.push.target[2] < 10 * edge, window)
        window.press("mouseReleased", u + 40, v - 40, buttons=0)
        assert window.complaints == []


def test_a_film_has_a_picture_for_every_30th_of_a_second(chromium, trajectory, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="films need imageio-ffmpeg")
    file, size = tmp_path / "box.mp4", (320, 200)
    view.to_mp4(view.to_html(trajectory, names=["box"]), file, speed=3.0, size=size)
    reader = ffmpeg.read_frames(str(file))
    about = next(reader)
    pictures = [np.frombuffer(frame, np.uint8).reshape(*size[::-1], 3).astype(int) for frame in reader]
    assert (about["size"], about["fps"]) == (size, 30.0)
    assert len(pictures) == 6  # 0.5 s at three times the speed, both ends included
    assert differs(pictures[0], pictures[-1]) > 100


@pytest.mark.parametrize("kind", ["png", "mp4"])
def test_a_browser_that_ends_is_said_in_a_line(headless, trajectory, tmp_path, monkeypatch, capsys, kind):
    if kind == "mp4":
        pytest.importorskip("imageio_ffmpeg", reason="films need imageio-ffmpeg")
    run, file = tmp_path / "run.npz", tmp_path / f"run.{kind}"
    trajectory.save(run)

    def ended(window, seconds):
        window._process.kill()
        seek(window, seconds)

    seek = headless.Browser.seek
    monkeypatch.setattr(headless.Browser, "seek", ended)
    assert view.main([str(run), f"--{kind}", str(file), "--size", "320x200"]) == 2
    said = capsys.readouterr().err
    assert said == "stiction view: Chromium ended before it answered Runtime.evaluate, as it does without memory\n"
    assert not file.exists()


def test_a_browser_leaves_nothing_behind(headless, monkeypatch, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>drawn</p>")
    # Not in tmp_path: a socket's path may have a hundred letters at most.
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        monkeypatch.setenv("TMPDIR", name)
        with headless.Browser() as window:
            window.open(page, SIZE, drawn="1")
            assert list(folder.iterdir())
        assert not list(folder.iterdir())
