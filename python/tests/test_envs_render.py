"""Gymnasium's render modes: pictures of the state, and the page that shows every step."""

import os
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

import stiction

gymnasium = pytest.importorskip("gymnasium", reason="needs gymnasium, pip install 'stiction[envs]'")
pytest.importorskip("viser", reason="pictures need viser, pip install 'stiction[view]'")
pytest.importorskip("stiction.envs", reason="registers the environments")
from stiction.envs import Task, render  # noqa: E402

check_env = pytest.importorskip("gymnasium.utils.env_checker", reason="comes with gymnasium").check_env

SIZE = {"width": 240, "height": 160}  # small: a processor draws it
SHAPE = (160, 240, 3)
UNTIL = "new Promise(done => { const next = () => (%s ? done() : setTimeout(next, 20)); next(); })"


def make(mode, name="Ant", **arguments):
    return gymnasium.make(f"stiction/{name}-v0", render_mode=mode, **SIZE, **arguments)


def act(env, steps):
    env.action_space.seed(1)
    for _ in range(steps):
        env.step(env.action_space.sample())


@pytest.fixture(scope="module")
def ant(headless):
    env = make("rgb_array")
    env.reset(seed=1)
    yield env
    env.close()


def differs(one, other):
    """Pixels that differ."""
    return (np.abs(one.astype(int) - other).max(axis=2) > 40).sum()


def is_robot(picture):
    """Of the colour of gymnasium's Ant, which ground and sky are not."""
    return picture[..., 0].astype(int) - picture[..., 2] > 40


def test_a_picture_shows_the_robot_in_its_middle_on_a_ground(ant):
    ant.reset(seed=1)
    picture = ant.render()
    assert (picture.shape, picture.dtype) == (SHAPE, np.uint8)
    rows, columns = np.nonzero(is_robot(picture))
    assert len(rows) > 0.02 * SHAPE[0] * SHAPE[1]
    assert np.hypot(rows.mean() - SHAPE[0] / 2, columns.mean() - SHAPE[1] / 2) < 0.15 * SHAPE[0]
    assert min(rows.min(), columns.min(), SHAPE[0] - rows.max(), SHAPE[1] - columns.max()) > 5
    below, above = picture[-40:].reshape(-1, 3), picture[:10].reshape(-1, 3)
    assert len(np.unique(below, axis=0)) > 20  # its lines
    assert (above > 250).all()  # and no words over it
    assert ant.unwrapped.shown.browser.complaints == []


def test_a_picture_is_that_of_the_state(ant):
    ant.reset(seed=1)
    start = ant.render()
    np.testing.assert_array_equal(ant.render(), start)
    act(ant, 5)
    later = ant.render()
    assert differs(start, later) > 200
    np.testing.assert_array_equal(ant.render(), later)
    ant.reset(seed=1)
    np.testing.assert_array_equal(ant.render(), start)


def test_the_camera_follows_the_robot_and_the_ground_does_not_end(ant):
    ant.reset(seed=1)
    q = ant.unwrapped.runs.runs.q[0].copy()
    pictures = ant.unwrapped.shown
    here = pictures.picture(q)
    q[:2] += 300.0, -70.0  # a whole number of the ground's cells
    far = pictures.picture(q)
    assert np.abs(here.astype(int) - far).mean() < 0.5
    q[:2] += 0.3
    assert np.abs(far.astype(int) - pictures.picture(q)).mean() > 0.5  # its lines pass by


class Drop(Task):
    """A ball of 0.1 m falls from 1.5 m."""

    def __init__(self, **stepping):
        self.world = stiction.World()
        self.world.add_ground()
        self.world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0, position=(0, 0, 1.5))
        self.low, self.high, self.observed, self.stepping = -np.ones(1), np.ones(1), 1, stepping

    def start(self, random):
        return self.world.initial_q, np.zeros(self.world.nv), ()

    def command(self, actions):
        return np.zeros((*actions.shape[:-1], self.world.nv))

    def observe(self, batch, goals, actions):
        return batch.q[..., 2:3]

    def reward(self, batch, goals, before, actions):
        return np.zeros(batch.q.shape[:-1]), batch.q[..., 2] < 0.0, {}


def test_what_falls_stays_in_the_picture(headless):
    pictures = render.Pictures(Drop(), 240, 160)
    q = Drop().world.initial_q.copy()
    balls = []
    for q[2] in (1.5, 1.0, 0.1, 30.0):
        picture = pictures.picture(q).astype(int)
        ball = np.argwhere(picture[..., 2] - picture[..., 0] > 24)
        assert ball.min() > 5
        assert (ball.max(axis=0) < np.array(SHAPE[:2]) - 5).all()
        balls.append(len(ball))
    pictures.close()
    assert min(balls) > 0.5 * max(balls) > 2000


def test_pictures_have_no_shadows(ant):
    ant.reset(seed=1)
    ant.render()
    assert ant.unwrapped.shown.browser.evaluate("stiction.page.options.shadows") is False


def test_a_list_has_a_picture_of_every_state_and_closing_ends_the_browser(headless):
    env = make("rgb_array_list", "HalfCheetah")
    env.reset(seed=1)
    act(env, 2)
    pictures = env.render()
    assert [picture.shape for picture in pictures] == [SHAPE] * 3
    assert differs(pictures[0], pictures[2]) > 50
    browser = env.unwrapped.shown.browser
    assert browser._process.poll() is None
    env.close()
    assert browser._process.poll() is not None
    env.close()


def test_the_browser_ends_with_python(headless):
    lines = [
        "import gymnasium, stiction.envs",
        f"env = gymnasium.make('stiction/PushBox-v0', render_mode='rgb_array', **{SIZE})",
        "env.reset(seed=1)",
        "env.render()",
        "print(env.unwrapped.shown.browser._process.pid)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_a_vector_gives_a_picture_of_every_run(ant):
    vector = gymnasium.make_vec("stiction/Ant-v0", num_envs=2, threads=1, render_mode="rgb_array", **SIZE)
    vector.reset(seed=1)
    pictures = vector.render()
    assert isinstance(pictures, tuple)
    for i, picture in enumerate(pictures):
        ant.reset(seed=1 + i)
        assert differs(picture, ant.render()) < 20
    assert differs(*pictures) > 20
    process = vector.shown.browser._process
    vector.close()
    assert process.poll() is not None


@pytest.mark.filterwarnings("ignore:.*Box observation space m")
def test_gymnasiums_checker_tries_every_mode(headless):
    check_env(make(None).unwrapped)


def test_people_see_every_step_on_a_page(headless, capsys):
    env = make("human", "HalfCheetah")
    env.reset(seed=1)
    address = capsys.readouterr().out.split()[-1]
    act(env, 3)
    assert capsys.readouterr().out == ""  # it is said once
    assert env.render() is None
    window, task = env.unwrapped.shown, env.unwrapped.task
    frame = np.frombuffer(window.stream.frame, "<f4")
    assert frame[0] == pytest.approx(3 * task.dt)
    q = env.unwrapped.runs.runs.q[0]
    with headless.Browser() as chromium:
        chromium.open(address, (240, 160))
        chromium.evaluate(UNTIL % "stiction.page.player.time > 0")
        chromium.evaluate(headless.SETTLED)
        names = chromium.evaluate(
            "stiction.page.content.runs[0].bodies.map(b => stiction.page.content.runs[0].bodyNames[b])"
        )
        poses = np.reshape(chromium.evaluate("[...stiction.page.views[0].state.poses]"), (-1, 7))
        for name, pose in zip(names, poses, strict=True):
            np.testing.assert_allclose(pose[:3], task.world.pose(name, q)[:3, 3], atol=1e-5)
        assert chromium.evaluate("getComputedStyle(document.getElementById('side')).display") == "none"
        assert chromium.complaints == []
        env.close()
        chromium.evaluate(UNTIL % "stiction.page.live.socket.readyState === 3")
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address)


def test_what_does_not_fit_is_named(monkeypatch):
    expected = "render_mode: expected None or 'human' or 'rgb_array', got 'ansi'"
    with pytest.raises(ValueError, match=expected), pytest.warns(UserWarning, match="ansi"):
        make("ansi")
    with pytest.raises(ValueError, match="render_mode: expected None or 'rgb_array', got 'human'"):
        gymnasium.make_vec("stiction/Ant-v0", num_envs=2, render_mode="human")
    for name in ("width", "height"):
        for size in (0, 12.5, "480", 4097):
            with pytest.raises(
                ValueError, match=f"{name}: expected a whole number of pixels from 1 to 4096, got {size!r}"
            ):
                gymnasium.make("stiction/Ant-v0", **{name: size})
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CHROMIUM", raising=False)
    env = make("rgb_array")
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="pictures need Chromium or Chrome, and none was found"):
        env.render()
