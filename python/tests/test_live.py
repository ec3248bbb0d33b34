"""A simulation that runs while it is looked at, and the server that shows it: without a browser."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import stiction
from stiction import frames
from stiction.live import LiveRun, _pose

pytest.importorskip("websockets", reason="stiction view needs viser, which brings it")

from stiction.serve import address_of, serve_page

MASS, GRAVITY = 2.0, 9.81


@pytest.fixture
def run():
    world = stiction.World(friction=0.8)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=MASS, position=(0, 0, 0.05))
    run = LiveRun(world)
    run.bodies = [world.body_names.index("box")]
    return run


def place(run):
    return run.world.pose("box", run.stepper.q)[:3, 3]


def test_it_steps_in_real_time_and_stands_still_when_told(run):
    run.advance(0.05)
    assert run.stepper.time == pytest.approx(0.05, abs=2 * run.stepper.dt)
    run.ask({"run": False})
    time = run.stepper.time
    run.advance(0.05)
    assert run.stepper.time == time
    run.ask({"step": True})
    assert run.stepper.time == pytest.approx(time + run.stepper.dt)
    run.ask({"restart": True})
    assert run.stepper.time == 0.0


def test_a_frame_is_the_state_in_the_order_that_the_page_reads(run):
    run.ask({"step": True})
    numbers = np.frombuffer(run.frame, "<f4")
    contacts = run.stepper.contacts
    n = len(contacts)
    assert numbers[0] == pytest.approx(run.stepper.time)
    assert numbers[1] == n == 4
    np.testing.assert_allclose(numbers[2:9], [0, 0, 0.05, 1, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(numbers[9:12], run.world.center_of_mass(run.stepper.q), atol=1e-6)
    forces = numbers[12 + 3 * n : 12 + 6 * n].reshape(n, 3)
    np.testing.assert_allclose(forces.sum(axis=0), [0, 0, MASS * GRAVITY], atol=1e-4)
    curves = sum(len(chart.names) for chart in run.charts())
    assert len(numbers) == 2 + 7 + 3 + 11 * n + curves
    assert numbers[-curves] == pytest.approx(MASS * GRAVITY, rel=1e-6)


def test_the_parts_of_the_certificate_are_plotted_beside_the_times(run):
    for _ in range(5):
        run.ask({"step": True})
        charts = run.charts()
        titles = [chart.title for chart in charts]
        assert titles.index(frames.TIMES) == titles.index(frames.PARTS) + 1
        assert charts[titles.index(frames.PARTS)].shown
        assert charts[titles.index(frames.PARTS)].names == list(run.report.certificate)
        ends = np.cumsum([len(chart.names) for chart in charts])
        curves = np.split(np.frombuffer(run.frame, "<f4")[-ends[-1] :], ends[:-1])
        parts, (worst,) = (curves[titles.index(title)] for title in (frames.PARTS, frames.RESIDUAL))
        np.testing.assert_allclose(parts, list(run.report.certificate.values()), rtol=1e-6)
        assert worst == parts.max() > 0.0


def test_a_push_hangs_the_body_on_the_mouse(run):
    """Lifted by a spring of frequency w to a target z, a body comes to rest g / w^2 below it."""
    from stiction.live import PUSH_FREQUENCY

    body = run.bodies[0]
    run.ask({"push": {"body": body, "point": [0, 0, 0.05], "target": [0, 0, 1.0]}})
    for _ in range(3000):
        run.ask({"step": True})
    assert place(run)[2] == pytest.approx(1.0 - GRAVITY / PUSH_FREQUENCY**2, abs=1e-3)
    run.ask({"push": None})
    for _ in range(1000):
        run.ask({"step": True})
    assert place(run)[2] == pytest.approx(0.05, abs=1e-3)


def test_what_stands_still_is_not_pushed(run):
    ground = run.world.body_names.index("ground")
    with pytest.raises(ValueError, match=r"^push: expected a body that moves, got 'ground', which stands still$"):
        run.ask({"push": {"body": ground, "point": [0, 0, 0], "target": [0, 0, 1.0]}})
    assert run.step()


@pytest.mark.parametrize("others", ["robot", "free body"])
def test_of_bodies_of_the_same_name_the_one_that_is_dragged_moves(checkout, others):
    world = stiction.World(gravity=(0, 0, 0))
    world.add_robot(checkout / "models/links.urdf", name="one", floating=True)
    if others == "robot":
        world.add_robot(checkout / "models/links.urdf", name="two", floating=True, position=(5, 0, 0))
    else:
        world.add_body("trunk", stiction.Shape.box((0.3,) * 3), mass=1, position=(5, 0, 0))
    places = [world.pose(index)[0, 3] for index in range(len(world.body_names))]
    run, bodies = LiveRun(world), [places.index(x) for x in (0.0, 5.0)]

    def heights():
        return np.array([world.pose(body, run.stepper.q)[2, 3] for body in bodies])

    for which, body in enumerate(bodies):  # from one to the next without letting go
        run.stepper.reset()
        point, before = world.pose(body)[:3, 3], heights()
        target = point + np.array([0, 0, 0.5])
        run.ask({"push": {"body": body, "point": point.tolist(), "target": target.tolist()}})
        for _ in range(50):
            run.step()
        rise = heights() - before
        assert rise[which] > 0.01
        assert np.abs(np.delete(rise, which)).max() < 1e-9


def test_curves_of_two_robots_of_a_file_are_told_apart(checkout):
    world = stiction.World(gravity=(0, 0, 0))
    for k, name in enumerate(("one", "two")):
        world.add_robot(checkout / "models/links.urdf", name=name, floating=True, position=(5 * k, 0, 0))
    run = LiveRun(world)
    (names,) = (chart.names for chart in run.charts() if chart.title == frames.TORQUES)
    assert len(set(names)) == len(names) == len(world.actuated)
    assert names == [run.start.v_names[v] for v in world.actuated]


def test_less_friction_lets_it_slide(run):
    """Pushed with less than mu m g it stays; with friction taken away it goes."""
    pull = {"push": {"body": run.bodies[0], "point": [0, 0, 0.0], "target": [0.02, 0, 0.0]}}
    run.ask(pull)
    for _ in range(100):
        run.ask({"step": True})
    assert abs(place(run)[0]) < 1e-6
    run.ask({"friction": 0.0})
    for _ in range(100):
        run.ask({"step": True})
    assert place(run)[0] > 1e-3


SPRING = """[simulation]
dt = 0.001
law = "stick_slip_spring"
gravity = [2.0, 0.0, -9.6]
friction = 0.6
[material]
stiffness = 3e4
damping = 50.0
stiffness_tangential = 1e3
damping_tangential = 50.0
[[static]]
name = "ground"
shape = "plane"
[[body]]
name = "box"
shape = "box"
size = [0.2, 0.2, 0.1]
mass = 2.0
position = [0, 0, 0.05]
"""


def test_another_friction_leaves_what_holds_alone(tmp_path):
    """A box at rest hangs on the springs of its contacts, which bear 4 N along the ground: they are not forgotten."""
    (tmp_path / "spring.toml").write_text(SPRING)
    run = LiveRun(stiction.World.from_scene(tmp_path / "spring.toml"))
    run.ask({"friction": 0.6})
    for _ in range(2000):
        run.step()
    rest = run.stepper.q[0]
    for k in range(20):
        run.ask({"friction": 0.6 + 0.01 * (k % 5)})
        for _ in range(30):
            run.step()
            np.testing.assert_allclose(run.stepper.contacts.forces[:, 0].sum(), -4.0, rtol=1e-3)
    assert run.stepper.q[0] == pytest.approx(rest, abs=1e-6)


def test_joints_are_held_until_they_are_let_go():
    run = LiveRun(stiction.World.from_scene("quadruped"))
    for _ in range(500):
        assert run.step()
    held = run.stepper.q[2]
    assert held == pytest.approx(run.world.initial_q[2], abs=0.02)
    run.ask({"hold": False})
    for _ in range(500):
        run.step()
    assert run.stepper.q[2] < 0.7 * held


TWO_WHEELS = """<mujoco><worldbody>
<body><joint name="A" axis="0 0 1"/><geom type="cylinder" size=".1 .02" mass="1"/></body>
<body pos="1 0 0"><joint name="B" axis="0 0 1"/><geom type="cylinder" size=".1 .02" mass="1"/></body>
</worldbody><actuator><motor joint="A"/><motor joint="B"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    "drives",
    [
        '[[drive]]\njoints = ["A"]\nvelocity = 2.0',
        '[[drive]]\njoints = ["B"]\nposition = 1.0\nkp = 9.0\nkd = 1.0',
        "[[coupled]]\njoints = { A = 1.0, B = -2.0 }\nvelocity = 3.0",
    ],
)
def test_what_a_scene_drives_or_couples_stays_in_force(tmp_path, drives):
    """As a stepper does it, whatever the page asks; the page has no button to hold the joints."""
    (tmp_path / "wheels.xml").write_text(TWO_WHEELS)
    (tmp_path / "scene.toml").write_text(f'[[robot]]\nfile = "wheels.xml"\n{drives}\n')
    world = stiction.World.from_scene(tmp_path / "scene.toml")
    run, stepper = LiveRun(world), stiction.Stepper(world)
    assert run.controls()["holds"] is False

    def steps():
        for _ in range(100):
            assert run.step()
            stepper.step()
        np.testing.assert_array_equal(run.stepper.q, stepper.q)
        np.testing.assert_array_equal(run.stepper.drive_torques, stepper.drive_torques)

    steps()
    assert np.abs(stepper.v).max() > 0.1
    for request in ({"hold": True}, {"hold": False}, {"friction": 0.3}):
        run.ask(request)
        steps()
    run.ask({"restart": True})
    stepper.reset()
    steps()


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"speed": float("nan")}, "speed: expected a finite number > 0, got nan"),
        ({"speed": float("inf")}, "speed: expected a finite number > 0, got inf"),
        ({"speed": 0}, "speed: expected a finite number > 0, got 0"),
        ({"friction": float("nan")}, "friction: expected a number >= 0 or infinity, got nan"),
        ({"push": {"body": -1}}, "push: expected a body in [0, 1], got -1"),
        ({"push": {"body": 2}}, "push: expected a body in [0, 1], got 2"),
        ({"push": {"body": 0.5}}, "push: expected a body in [0, 1], got 0.5"),
        (
            {"push": {"body": 0, "point": [0, 0], "target": [0, 0, 1]}},
            "push: expected a point of three numbers below 1e+09 m, got [0, 0]",
        ),
        (
            {"push": {"body": 0, "point": [0, 0, 0], "target": [0, 0]}},
            "push: expected a target of three numbers below 1e+09 m, got [0, 0]",
        ),
        (
            {"push": {"body": 0, "point": [0, 0, 0], "target": [0, 0, float("nan")]}},
            "push: expected a target of three numbers below 1e+09 m, got [0, 0, nan]",
        ),
        (
            {"push": {"body": 0, "point": [0, 0, 0], "target": [0, 0, 1e300]}},
            "push: expected a target of three numbers below 1e+09 m, got [0, 0, 1e+300]",
        ),
    ],
)
def test_values_that_would_end_the_run_are_refused_by_name(run, request_, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        run.ask(request_)
    assert run.push is None
    run.advance(0.02)
    assert run.stepper.time > 0.0


def next_news(page):
    """What a server says next beside frames."""
    end = time.monotonic() + 10.0
    while time.monotonic() < end:
        if isinstance(message := page.recv(timeout=5), str):
            return json.loads(message)
    raise AssertionError("no news")


@contextlib.contextmanager
def served(run):
    """Opens pages of a run, which goes on."""
    from websockets.sync.client import connect

    with serve_page("<html></html>", 0, run.stream) as server:
        threads = [threading.Thread(target=task, daemon=True) for task in (server.serve_forever, run.run)]
        for thread in threads:
            thread.start()
        yield lambda: connect(address_of(server).replace("http", "ws") + "stream")
        run.stop()
        server.shutdown()
    for thread in threads:
        thread.join()


def until(condition):
    end = time.monotonic() + 10.0
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def test_every_page_is_told_what_the_controls_are_at(run):
    """One that comes and one that is there, whoever set them."""
    at = {"run": True, "speed": 1.0, "hold": False, "friction": None, "holds": False}
    with served(run) as opened, opened() as first:
        assert next_news(first) == {"notice": "", "controls": at}
        for request in ({"run": False}, {"speed": 0.1}, {"friction": 0.3}):
            first.send(json.dumps(request))
            at |= request
            assert next_news(first)["controls"] == at
        with opened() as second:
            assert next_news(second)["controls"] == at
            second.send(json.dumps({"run": True}))
            for page in (first, second):
                assert next_news(page)["controls"] == at | {"run": True}


def test_what_a_page_drags_falls_when_it_goes(run):
    body = run.bodies[0]

    def push(height):
        return json.dumps({"push": {"body": body, "point": [0, 0, 0.05], "target": [0, 0, height]}})

    with served(run) as opened:
        with opened() as first:
            first.send(push(1.0))
            until(lambda: run.push is not None)
        until(lambda: run.push is None)
        until(lambda: abs(place(run)[2] - 0.05) < 1e-3)
        with opened() as first:
            with opened() as second:
                first.send(push(1.0))
                until(lambda: run.push is not None)
                second.send(json.dumps({"push": None}))  # it has none
                second.send(json.dumps({"speed": 0.5}))
                until(lambda: run.speed == 0.5)
            assert run.push is not None
            first.send(json.dumps({"push": None}))
            until(lambda: run.push is None)


def test_a_step_that_is_refused_is_told(capsys):
    """A drive without limit runs into its joint's."""
    from websockets.sync.client import connect

    world = stiction.World()
    world.add_robot(
        '<mujoco><worldbody><body name="arm"><joint name="j" axis="0 1 0" range="-10 10"/><geom type="capsule" '
        'fromto="0 0 0 0.3 0 0" size="0.02"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>'
    )
    run = LiveRun(world)
    run.holds = run.hold = False
    run.stepper.drive(velocity=[3.0])
    with serve_page("<html></html>", 0, run.stream) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with connect(address_of(server).replace("http", "ws") + "stream") as page:
            for asked in ("", "again"):
                run.ask({"run": True})
                while run.running:
                    run.advance(0.05)
                while not (news := next_news(page))["notice"] or news["controls"]["run"]:
                    pass
                assert "was refused (infeasible, residual" in news["notice"], asked
            run.ask({"restart": True})
            run.ask({"step": True})
            assert next_news(page)["notice"] == ""
        run.stop()
        server.shutdown()
    assert "stiction view: The step at 0.0" in capsys.readouterr().out


def test_quaternions_are_those_of_the_rotations():
    rng = np.random.default_rng(3)
    for turn in [*rng.normal(size=(50, 4)), [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]:
        w, x, y, z = np.array(turn) / np.linalg.norm(turn)
        S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        X = np.eye(4)
        X[:3, :3] = np.eye(3) + 2 * w * S + 2 * S @ S
        found = _pose(X)[3:]
        assert abs(found @ [w, x, y, z]) == pytest.approx(1.0, abs=1e-12)


def test_a_connection_that_asks_for_nothing_is_no_event(run, caplog):
    """Browsers open some ahead of need."""
    import socket

    with serve_page("<html></html>", 0, run.stream) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host, port = server.socket.getsockname()
        socket.create_connection((host, port)).close()
        time.sleep(0.3)
        assert urllib.request.urlopen(address_of(server)).status == 200
    assert caplog.records == []


def test_the_server_is_this_machines_alone(run):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    with serve_page("<html>hello</html>", 0, run.stream) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert server.socket.getsockname()[0] == "127.0.0.1"
        address = address_of(server)
        assert urllib.request.urlopen(address).read() == b"<html>hello</html>"
        for path, headers, status in (
            ("", {"Host": "elsewhere.example"}, 403),
            ("", {"Origin": "http://elsewhere.example"}, 403),
            ("other", {}, 404),
        ):
            request = urllib.request.Request(address + path, headers=headers)
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            assert refused.value.code == status
        stream = address.replace("http", "ws") + "stream"
        with pytest.raises(InvalidStatus):
            connect(stream, origin="http://elsewhere.example")
        run.ask({"run": False})
        with connect(stream) as connection:
            connection.send(json.dumps({"step": True}))
            while isinstance(frame := connection.recv(timeout=30), str):
                pass
            frame = np.frombuffer(frame, "<f4")
            assert frame[0] == pytest.approx(run.stepper.time)
        run.stop()


@pytest.mark.parametrize("looked_at", [False, True])
def test_an_interrupt_ends_it_without_a_word(looked_at):
    """A thread that outlived the interpreter would keep the world, of which the bindings complain."""
    from websockets.sync.client import connect

    words = [sys.executable, "-m", "stiction", "view", "stack", "--live", "--port", "0"]
    live = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = live.stdout.readline().split()[2]
        page = connect(address.replace("http", "ws") + "stream") if looked_at else None
        if page:
            page.send(json.dumps({"run": False}))
        live.send_signal(signal.SIGINT)
        assert live.communicate(timeout=20)[0] == ""
        assert live.returncode == 0
    finally:
        live.kill()
