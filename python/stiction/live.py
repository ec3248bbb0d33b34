"""What is looked at while it goes on: frames for pages, and a simulation that they pause, step and push."""

from __future__ import annotations

import json
import threading
import time
import typing

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection

from . import _core, frames
from .drawing import Drawing
from .trajectory import STAGES, Trajectory, of_simulation

FRAMES_PER_SECOND = 30
PUSH_FREQUENCY, PUSH_DAMPING = 2.0 * np.pi * 1.5, 0.7  # rad/s, share of critical: the spring between body and mouse
FARTHEST = 1e9  # m, of places that a page may name: forces stay finite
HOLD_TIME = 0.1  # s in which joints that are held return to their start


class Push:
    """A spring and a damper between a point of a body and the mouse, for the mass that the point has."""

    def __init__(self, world: _core.World, body: str, point: np.ndarray, q: np.ndarray) -> None:
        pose = world.pose(body, q)
        self.world, self.body = world, body
        self.local = pose[:3, :3].T @ (point - pose[:3, 3])
        J = world.jacobian(body, q, self.local)[:3]
        if not J.any():
            raise ValueError(f"push: expected a body that moves, got {body!r}, which stands still")
        self.mass = 3.0 / max(np.trace(J @ np.linalg.solve(world.mass_matrix(q), J.T)), 1e-12)
        self.target = point

    def force(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        pose = self.world.pose(self.body, q)
        away = self.target - (pose[:3, :3] @ self.local + pose[:3, 3])
        speed = self.world.velocity(self.body, q, v, self.local)[:3]
        return self.mass * PUSH_FREQUENCY * (PUSH_FREQUENCY * away - 2.0 * PUSH_DAMPING * speed)


class Stream:
    """States of a world as frames for the pages that look at them. start: one step of it, which tells what is drawn.

    view: what is looked at (m) and how large that is (m); None: what moves. bodies: indices of those drawn, and
    drawing: how, which `page.content_of` sets.
    """

    def __init__(self, world: _core.World, view: tuple[np.ndarray, float] | None = None) -> None:
        self.world, self.view = world, view
        self.start: Trajectory = of_simulation(_core.simulate(world, duration=_core.Stepper(world).dt))
        self.bodies: list[int] = []
        self.drawing = Drawing(np.zeros(3), 1.0)
        self.ended, self.frame, self.fresh = False, b"", threading.Condition()
        self.notice, self.news = "", 0  # why the run stands still, and how often that or a control has changed

    def controls(self) -> dict | None:
        """What the page's controls are at, by the names of its requests; None: it has none."""
        return None

    def charts(self) -> list[frames.Chart]:
        """Titles and names of the curves that frames carry values of."""
        return []

    def ask(self, request: dict, page: object = None) -> None:
        """Does what a page asks for: nothing."""

    def leave(self, page: object) -> None:
        """Takes back what goes on for a page that has gone: nothing."""

    def frame_of(
        self, time: float, q: np.ndarray, contacts: typing.Sequence = (), values: typing.Sequence = ()
    ) -> bytes:
        """A state as the numbers that the page's `receive` takes. contacts: their arrays, in its order."""
        poses = [self.drawing.poses(_pose(self.world.pose(body, q))) for body in self.bodies]
        center = self.world.center_of_mass(q) if self.start.body_mass.any() else np.zeros(3)
        if contacts:
            contacts = [self.drawing.places(contacts[0]), *contacts[1:]]
        count = len(contacts[0]) if contacts else 0
        parts = [[time, count], *poses, self.drawing.places(center), *contacts, values]
        return np.concatenate([np.ravel(part) for part in parts]).astype("<f4").tobytes()

    def publish(self, frame: bytes) -> None:
        with self.fresh:
            self.frame = frame
            self.fresh.notify_all()

    def tell(self, notice: str) -> None:
        """A line for pages to show instead of what they say of a run that goes on; "" takes it back."""
        with self.fresh:
            self.notice, self.news = notice, self.news + 1
            self.fresh.notify_all()

    def stop(self) -> None:
        self.ended = True
        with self.fresh:
            self.fresh.notify_all()

    def stream(self, connection: ServerConnection) -> None:
        """Sends frames to a page, the latest one where it is slow, and does what it asks."""
        left = threading.Event()
        sender = threading.Thread(target=self._send, args=(connection, left), daemon=True)
        sender.start()
        try:
            for message in connection:
                try:
                    self.ask(json.loads(message), connection)
                except (ValueError, TypeError, KeyError, OverflowError) as error:
                    print(f"stiction view: the page asked {message!r}: {error}", flush=True)
        except ConnectionClosed:
            pass
        finally:  # a thread that outlives the interpreter keeps the world
            self.leave(connection)
            left.set()
            with self.fresh:
                self.fresh.notify_all()
            sender.join()

    def _send(self, connection: ServerConnection, left: threading.Event) -> None:
        sent, told = b"", 0  # news since before the page came too: it knows no more than its file
        try:
            while True:
                with self.fresh:
                    while self.frame is sent and self.news == told and not self.ended and not left.is_set():
                        self.fresh.wait()
                    frame, notice, news = self.frame, self.notice, self.news
                if self.ended or left.is_set():
                    return connection.close()
                if frame is not sent:
                    connection.send(frame)
                if news != told:
                    connection.send(json.dumps({"notice": notice, "controls": self.controls()}))
                sent, told = frame, news
        except (ConnectionClosed, OSError):
            pass


class LiveRun(Stream):
    """A world that steps by itself in real time, and what a page may ask of it."""

    def __init__(self, world: _core.World) -> None:
        super().__init__(world)
        self.stepper = _core.Stepper(world)
        self.report: _core.StepReport | None = None
        self.running, self.speed = True, 1.0
        self.push: Push | None = None
        self.pusher: object = None  # the page whose push it is
        self.lock = threading.RLock()
        self.joints = [joint for joint in world.joints if joint.v in set(world.actuated.tolist())]
        self.holds = bool(self.joints) and not self.stepper.driven  # `drive` would end those that the scene has
        self.hold = self.holds
        self.behind = 0.0  # s of simulated time that is due
        self.tell("")  # so that every page that comes is told what its controls are at

    # ---- what a page asks ----

    def ask(self, request: dict, page: object = None) -> None:
        """One request: run, step, restart, speed, friction, hold or push; unknown ones are ignored. page: who asks."""
        with self.lock:
            before = self.controls()
            try:
                self._do(request, page)
            finally:
                if self.controls() != before:
                    self.tell(self.notice)

    def _do(self, request: dict, page: object) -> None:
        if "run" in request:
            self.running = bool(request["run"])
        if "speed" in request:
            speed = float(request["speed"])
            if not 0.0 < speed < np.inf:
                raise ValueError(f"speed: expected a finite number > 0, got {speed:g}")
            self.speed = min(max(speed, 0.01), 10.0)
        if "hold" in request:
            self.hold = bool(request["hold"]) and self.holds
        if "friction" in request:
            self.stepper.friction = max(float(request["friction"]), 0.0)
        if "push" in request:
            self._grab(request["push"], page)
        if "restart" in request:
            self.stepper.reset()
            self.push = None
            self._show()
        if "step" in request:
            self.step()
            self._show()

    def leave(self, page: object) -> None:
        with self.lock:
            if self.pusher is page:
                self.push = None

    def _grab(self, push: dict | None, page: object) -> None:
        if push is None:
            if self.pusher is page:  # another page's goes on
                self.push = None
            return
        names, index = self.start.body_names, push["body"]  # each its own
        if not (isinstance(index, int) and 0 <= index < len(names)):
            raise ValueError(f"push: expected a body in [0, {len(names) - 1}], got {index!r}")
        point, target = (_place(push, name) for name in ("point", "target"))
        if self.push is None or self.pusher is not page or self.push.body != names[index]:
            self.push = Push(self.world, names[index], point, self.stepper.q)
        self.push.target, self.pusher = target, page

    # ---- stepping ----

    def step(self) -> bool:
        """Takes a step; false where it was refused, which ends the run."""
        q, v = self.stepper.q, self.stepper.v
        if self.hold:
            start = self.world.initial_q
            self.stepper.drive(velocity=[(start[j.q] - q[j.q]) / HOLD_TIME for j in self.joints])
        elif self.holds:
            self.stepper.drive()
        if self.push is not None:
            self.stepper.apply_force(self.push.body, self.push.force(q, v), point=self.push.local)
        self.report = self.stepper.step()
        if not self.report.accepted:
            self.running = False
            cause = f"{self.report.status}, residual {self.report.residual:.1e}"
            self.tell(f"The step at {self.stepper.time:.4g} s was refused ({cause}): the simulation stands still")
            print(f"stiction view: {self.notice}", flush=True)
        elif self.notice:
            self.tell("")
        return self.report.accepted

    def advance(self, wall: float) -> None:
        """Steps for `wall` seconds of the window's clock, or as long as that takes: what is too slow runs slower."""
        deadline = time.monotonic() + wall
        with self.lock:
            if not self.running:
                self.behind = 0.0
                return
            self.behind = min(self.behind + self.speed * wall, 2.0 * self.speed * wall + self.stepper.dt)
            while self.behind >= self.stepper.dt and time.monotonic() < deadline and self.step():
                self.behind -= self.stepper.dt
            self._show()

    # ---- what the page gets ----

    def controls(self) -> dict:
        friction = self.stepper.friction
        if friction is not None and not np.isfinite(friction):
            friction = "infinite"  # JSON has no word for it
        out = {"run": self.running, "speed": self.speed, "hold": self.hold, "friction": friction}
        return out | {"holds": self.holds}

    def charts(self) -> list[frames.Chart]:
        """Titles and names of the curves, in the order of `_values`."""
        names = {frames.FORCES: [frames.SIMULATED]}
        if self.joints:
            names[frames.TORQUES] = [self.start.v_names[joint.v] for joint in self.joints]
        names |= {frames.RESIDUAL: ["worst"], frames.PARTS: self.start.certificate_names}
        names |= {frames.TIMES: ["solver", "whole step"]}
        names |= {frames.COUNTS: ["contacts", "iterations"], frames.PENETRATION: ["deepest"]}
        log, few = (frames.RESIDUAL, frames.PARTS, frames.TIMES), (frames.COUNTS, frames.PENETRATION)
        return [
            frames.Chart(title, curves, np.empty((0, len(curves))), title in log, title not in few)
            for title, curves in names.items()
        ]

    def _values(self, contacts: _core.Contacts) -> list[float]:
        report = self.report
        seconds = report.seconds if report else dict.fromkeys(STAGES, 0.0)
        force = float(np.einsum("ci,ci->", contacts.forces, contacts.frames[:, :, 0])) if len(contacts) else 0.0
        torques = self.stepper.drive_torques.tolist() if self.joints else []
        times = [1e6 * seconds["solve"], 1e6 * sum(seconds.values())]
        last = [report.residual, report.iterations, report.penetration] if report else [0.0, 0, 0.0]
        certificate = report.certificate if report else {}
        parts = [certificate.get(name, 0.0) for name in self.start.certificate_names]
        return [force, *torques, last[0], *parts, *times, len(contacts), last[1], 1e3 * last[2]]

    def _show(self) -> None:
        contacts = self.stepper.contacts
        arrays = [contacts.points, contacts.forces, contacts.frames[:, :, 0], contacts.mu, contacts.modes]
        self.publish(self.frame_of(self.stepper.time, self.stepper.q, arrays, self._values(contacts)))

    def run(self) -> None:
        """Steps in real time until `stop`."""
        with self.lock:
            self._show()
        pause = 1.0 / FRAMES_PER_SECOND
        while not self.ended:
            start = time.monotonic()
            self.advance(pause)
            time.sleep(max(0.0, pause - (time.monotonic() - start)))


def _place(push: dict, name: str) -> np.ndarray:
    place = np.array(push[name], float)
    if place.shape != (3,) or not (np.abs(place) < FARTHEST).all():
        raise ValueError(f"push: expected a {name} of three numbers below {FARTHEST:g} m, got {push[name]!r}")
    return place


def _pose(X: np.ndarray) -> np.ndarray:
    """Position and quaternion w x y z of a pose (4, 4)."""
    R, trace = X[:3, :3], np.trace(X[:3, :3])
    parts = np.array([trace, R[0, 0], R[1, 1], R[2, 2]])
    k = int(parts.argmax())  # the largest part: no division by what is nearly zero
    if k == 0:
        q = np.array([1.0 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        a, b, c = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0] = R[c, b] - R[b, c]
        q[1 + a] = 1.0 + R[a, a] - R[b, b] - R[c, c]
        q[1 + b] = R[a, b] + R[b, a]
        q[1 + c] = R[a, c] + R[c, a]
    return np.concatenate([X[:3, 3], q / np.linalg.norm(q)])
