"""A scene, a robot or a recorded run in the browser, as a self-contained web page or as a picture: `stiction view`."""

from __future__ import annotations

import argparse
import contextlib
import html
import io
import os
import pathlib
import sys
import tempfile
import time
import typing

import numpy as np

import stiction

from .trajectory import Trajectory, of_simulation

if typing.TYPE_CHECKING:
    import viser

    from .stage import Stage

FRAMES_PER_SECOND = 30
NO_VISER = (
    "stiction view needs the package viser, which is not installed here; this line installs it:\n"
    f"{sys.executable} -m pip install 'viser==1.1.1'"
)


def run_of(source: str | os.PathLike, duration: float | None = None, floating: bool = False) -> Trajectory:
    """The run to show: a trajectory (.npz, .mcap), or a scene (.toml, or its name) or robot (URDF, MJCF) simulated.

    duration: s; None: the scene's, 1 s for a robot. floating: a robot's base moves freely; it starts just clear of the
    ground, and nothing drives its joints. Raises FileError and ValueError.
    """
    source = os.fspath(source)
    suffix = pathlib.Path(source).suffix
    if suffix in (".npz", ".mcap"):
        return Trajectory.load(source)
    world = (
        robot_above_ground(source, floating)
        if suffix in (".urdf", ".xml", ".mjcf")
        else stiction.World.from_scene(source)
    )
    return of_simulation(stiction.simulate(world, duration=duration))


def robot_above_ground(file: str, floating: bool = False, clearance: float = 1e-3) -> stiction.World:
    """A world with a ground and one robot, lifted until its lowest shape is `clearance` (m) above the ground."""
    world = _robot_on_ground(file, floating, 0.0)
    return _robot_on_ground(file, floating, clearance - lowest_point(world))


def _robot_on_ground(file: str, floating: bool, height: float) -> stiction.World:
    world = stiction.World()
    world.add_ground(friction=0.8)
    world.add_robot(file, floating=True if floating else None, position=(0.0, 0.0, height))
    return world


def lowest_point(world: stiction.World) -> float:
    """Height of the lowest point of all shapes but planes at the start (m); 0 where there are none."""
    heights = [0.0]
    for shape in world.shapes:
        if shape.kind == "plane":
            continue
        pose = world.pose(world.body_names[shape.body]) @ shape.placement
        up = pose[2, :3]  # the world's z axis in the shape's frame
        heights.append(pose[2, 3] - _reach(shape, -up))
    return min(heights[1:], default=0.0)


def _reach(shape: stiction.DrawnShape, direction: np.ndarray) -> float:
    """Farthest the shape reaches along a unit direction from its frame's origin (m)."""
    radius, length = shape.size[0], shape.size[1]
    if shape.kind == "sphere":
        return radius
    if shape.kind == "box":
        return float(np.abs(direction) @ shape.size) / 2
    if shape.kind == "capsule":
        return radius + abs(direction[2]) * length / 2
    if shape.kind == "cylinder":
        return radius * float(np.hypot(direction[0], direction[1])) + abs(direction[2]) * length / 2
    return float((shape.vertices @ direction).max())


def frames_of(trajectory: Trajectory, speed: float = 1.0) -> np.ndarray:
    """States to show, one per 1/30 s of the window's clock, the last one included."""
    start, end = trajectory.time[0], trajectory.time[-1]
    clock = np.arange(start, end, speed / FRAMES_PER_SECOND)
    return np.append(np.searchsorted(trajectory.time, clock - 1e-12), len(trajectory.time) - 1)


def _import_viser() -> None:
    try:
        import viser  # noqa: F401
    except ImportError:
        raise ImportError(NO_VISER) from None


def _make_stage(trajectory: Trajectory, port: int = 8080) -> tuple[viser.ViserServer, Stage]:
    """A server that nobody but this machine reaches, with the run on its stage."""
    _import_viser()
    import viser

    from .stage import Stage

    with contextlib.redirect_stdout(io.StringIO()):  # viser's own banner
        server = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
    return server, Stage(server, trajectory)


def _with_caption(page: str, caption: str, plain: bool) -> str:
    """The page with a line of text at its foot; plain: without the notices that viser shows."""
    style = "position:fixed;left:12px;bottom:10px;z-index:9;padding:2px 6px;"
    style += "font:13px sans-serif;color:#333;background:#ffffffb0"
    hidden = (
        "<style>.mantine-Notifications-root,.mantine-Notification-root{display:none!important}</style>" if plain else ""
    )
    if not plain:
        style = style.replace("bottom:10px", "top:10px")  # the time-line is at the foot
    end = page.rindex("</body>")
    return f'{page[:end]}{hidden}<div style="{style}">{html.escape(caption)}</div>{page[end:]}'


def to_html(trajectory: Trajectory, at: float | None = None, caption: str = "") -> str:
    """A web page that holds everything it shows, with a time-line to play and scrub: no server, no network.

    at: only the state at this time (s), without a time-line; None: the whole run.
    caption: text at the page's edge, before the legend.
    """
    server, stage = _make_stage(trajectory)
    states = frames_of(trajectory) if at is None else [int(np.abs(trajectory.time - at).argmin())]
    try:
        stage.show(int(states[0]))
        page = server.get_scene_serializer()
        for state in states[1:]:
            page.insert_sleep(1.0 / FRAMES_PER_SECOND)
            stage.show(int(state))
        return _with_caption(page.as_html(), " · ".join(filter(None, (caption, stage.legend))), plain=at is not None)
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def to_png(
    trajectory: Trajectory, file: str | os.PathLike, at: float | None = None, size: tuple[int, int] = (1280, 800)
) -> None:
    """A picture of one state, drawn by a headless Chromium. at: its time (s); None: the end of the run."""
    at = float(trajectory.time[-1]) if at is None else at
    _import_viser()
    from .browser import Browser

    with Browser() as browser, tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        page.write_text(to_html(trajectory, at, caption=f"t = {at:.3g} s"), encoding="utf-8")
        pathlib.Path(file).write_bytes(browser.picture(page, size))


def play(trajectory: Trajectory, port: int = 8080) -> None:
    """Shows the run in a window of the browser until interrupted: play, scrub, forces on and off."""
    server, stage = _make_stage(trajectory, port)
    states = frames_of(trajectory)
    server.gui.configure_theme(show_logo=False, show_share_button=False)  # sharing would leave this machine
    with server.gui.add_folder("Run"):
        playing = server.gui.add_checkbox("play", True)
        frame = server.gui.add_slider("frame", 0, max(len(states) - 1, 1), 1, 0)
        speed = server.gui.add_dropdown("speed", ("1", "0.5", "0.25", "0.1", "2"))
        forces = server.gui.add_checkbox("contact forces", True)
        clock = server.gui.add_markdown("")
        server.gui.add_markdown(stage.legend)

    def draw(_: object = None) -> None:
        state = int(states[min(int(frame.value), len(states) - 1)])
        stage.forces_visible = forces.value
        with server.atomic():
            stage.show(state)
        at = trajectory.contacts(state)
        total = np.linalg.norm(trajectory.contact_forces[at], axis=1).sum() if at.stop > at.start else 0.0
        clock.content = (
            f"t = {trajectory.time[state]:.3f} s, {at.stop - at.start} contacts, forces {total:.4g} N in all"
        )

    frame.on_update(draw)
    forces.on_update(draw)
    draw()
    print(f"stiction view: http://127.0.0.1:{server.get_port()} (Ctrl-C ends it)", flush=True)
    try:
        while True:
            time.sleep(1.0 / (FRAMES_PER_SECOND * float(speed.value)))
            if playing.value:
                frame.value = (int(frame.value) + 1) % len(states)
    except KeyboardInterrupt:
        pass
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise ValueError(text)
    return value


positive.__name__ = "finite number > 0"  # what argparse calls it in a complaint


def parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(prog="stiction view", description=__doc__.split(":")[0] + ".", allow_abbrev=False)
    out.add_argument(
        "source",
        metavar="SCENE|RUN",
        help="scene (.toml, or a name that stiction scenes lists), robot (.urdf, .xml), or recorded run (.npz)",
    )
    out.add_argument("--duration", type=positive, help="simulated time (s; default: the scene's, 1 for a robot)")
    out.add_argument("--floating", action="store_true", help="give a URDF a floating base")
    out.add_argument(
        "--html", metavar="FILE", help="write a self-contained web page with a time-line instead of opening a window"
    )
    out.add_argument("--png", metavar="FILE", help="write a picture, drawn by a headless Chromium")
    out.add_argument("--at", type=float, help="time of the picture (s; default: the end)")
    out.add_argument(
        "--port",
        type=int,
        default=8080,
        help="of the window, which this machine alone can reach (default: %(default)s)",
    )
    return out


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        _import_viser()
        trajectory = run_of(options.source, options.duration, options.floating)
        if options.html:
            pathlib.Path(options.html).write_text(to_html(trajectory), encoding="utf-8")
        if options.png:
            to_png(trajectory, options.png, options.at)
        if not options.html and not options.png:
            play(trajectory, options.port)
    except (ImportError, RuntimeError, ValueError, OSError) as error:
        print(f"stiction view: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
