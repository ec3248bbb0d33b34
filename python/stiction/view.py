"""Scenes, robots and recorded runs in the browser, as a self-contained page, a picture or a film: `stiction view`."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
import threading
import typing

import numpy as np

import stiction

from . import command
from .trajectory import Trajectory, of_simulation

if typing.TYPE_CHECKING:
    from .browser import Browser
    from .visuals import VisualShape, VisualTendon

FRAMES_PER_SECOND = 30
ROBOT_FILES = (".urdf", ".xml", ".mjcf")
RUN_FILES = (".npz", ".mcap")
SCENE_FILES = (".toml", "")  # "": one that comes with stiction
MOST_PIXELS = 4096  # a side: of larger pictures Chromium draws parts, or ends


def run_of(source: str | os.PathLike, duration: float | None = None, floating: bool = False) -> Trajectory:
    """The run to show: a trajectory (.npz, .mcap), or a scene (.toml, or its name) or robot (URDF, MJCF) simulated.

    duration: s; None: the scene's, 1 s for a robot. floating: a robot's base moves freely; it starts just clear of the
    ground, and nothing drives its joints. Raises FileError and ValueError.
    """
    source = os.fspath(source)
    suffix = pathlib.Path(source).suffix
    if suffix in RUN_FILES:
        return Trajectory.load(source)
    return of_simulation(stiction.simulate(world_of(source, floating), duration=duration))


def world_of(source: str, floating: bool = False) -> stiction.World:
    """The world of a scene (.toml, or its name) or of a robot (URDF, MJCF) above a ground."""
    suffix = pathlib.Path(source).suffix
    if suffix in ROBOT_FILES:
        return robot_above_ground(source, floating)
    if suffix not in SCENE_FILES:
        robots, runs = ", ".join(ROBOT_FILES), ", ".join(RUN_FILES)
        taken = f"a scene (.toml, or the name of one that ships), a robot ({robots}) or a recorded run ({runs})"
        raise ValueError(f"expected {taken}, got {source!r}")
    return stiction.World.from_scene(source)


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
        pose = world.pose(shape.body) @ shape.placement
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


def to_html(
    *trajectories: Trajectory,
    names: typing.Sequence[str] = (),
    visuals: typing.Sequence[VisualShape | VisualTendon] = (),
) -> str:
    """A web page that holds everything it shows: no server, no network.

    trajectories: one run, or two to compare. names: of the runs, as the page calls them. visuals: what the bodies of
    the first run look like, beside what collides (`visuals_of`).
    """
    from . import page

    names = list(names) or [f"run {k + 1}" for k in range(len(trajectories))]
    if not 1 <= len(trajectories) <= 2 or len(names) != len(trajectories):
        raise ValueError(
            f"expected one run or two and a name for each, got {len(trajectories)} runs, {len(names)} names"
        )
    return page.page_of(page.content_of(list(trajectories), names, visuals), " and ".join(names))


def opened(page: str, size: tuple[int, int], folder: str) -> Browser:
    """A browser that shows the page without its controls."""
    from .browser import Browser

    file = pathlib.Path(folder, "page.html")
    file.write_text(page, encoding="utf-8")
    browser = Browser()
    try:
        browser.open(f"{file.as_uri()}?fixedDpr=1#plain", size)  # else viser draws fewer pixels where drawing is slow
    except BaseException:
        browser.__exit__()
        raise
    return browser


def to_png(page: str, file: str | os.PathLike, at: float | None = None, size: tuple[int, int] = (1280, 800)) -> None:
    """A picture of one state of a page (`to_html`), drawn by a headless Chromium. at: its time (s); None: the end."""
    with tempfile.TemporaryDirectory() as folder, opened(page, size, folder) as browser:
        browser.seek(1e9 if at is None else at)  # the page goes no further than the run
        command.write(file, browser.still_picture())


def to_mp4(page: str, file: str | os.PathLike, speed: float = 1.0, size: tuple[int, int] = (1280, 800)) -> None:
    """A film of a page (`to_html`), drawn picture by picture by a headless Chromium.

    speed: of the run's clock against the film's.
    """
    import imageio.v3 as imageio
    import imageio_ffmpeg

    if any(pixels % 2 for pixels in size):  # colours have half the pixels
        raise ValueError(f"size: expected even numbers of pixels, got {size}")
    rate = FRAMES_PER_SECOND
    options = {"fps": rate, "codec": "libx264", "quality": 8, "macro_block_size": 2}
    with command.replacing(file) as beside:
        film = imageio_ffmpeg.write_frames(beside, size, **options)
        film.send(None)
        try:
            with tempfile.TemporaryDirectory() as folder, opened(page, size, folder) as browser:
                start, end = (browser.evaluate(f"stiction.page.player.{edge}") for edge in ("start", "end"))
                for k in range(int((end - start) / speed * rate) + 1):
                    browser.seek(start + k * speed / rate)
                    film.send(np.ascontiguousarray(imageio.imread(browser.picture("jpeg"))))
        finally:
            film.close()


def play(page: str, port: int = 8080) -> None:
    """Serves a page (`to_html`) to the browsers of this machine until interrupted."""
    from .serve import address_of, serve_page

    with serve_page(page, port) as server:
        print(f"stiction view: {address_of(server)} (Ctrl-C ends it)", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


def play_live(world: stiction.World, port: int = 8080, name: str = "live", visuals: typing.Sequence = ()) -> None:
    """Simulates a world in real time and serves the page that shows it, pushes it and pauses it, until interrupted."""
    from . import page
    from .live import LiveRun
    from .serve import address_of, serve_page

    run = LiveRun(world)
    content = page.content_of([run.start], [name], visuals, live=run)
    with serve_page(page.page_of(content, name), port, run.stream) as server:
        stepping = threading.Thread(target=run.run, daemon=True)
        stepping.start()
        try:
            print(f"stiction view: {address_of(server)} (Ctrl-C ends it)", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            run.stop()
            stepping.join()  # a thread that outlives the interpreter keeps the world


def positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise ValueError(text)
    return value


positive.__name__ = "finite number > 0"  # what argparse calls it in a complaint


def finite(text: str) -> float:
    value = float(text)
    if not abs(value) < float("inf"):
        raise ValueError(text)
    return value


finite.__name__ = "finite number"


def port_of(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 16:
        raise ValueError(text)
    return value


port_of.__name__ = "port in [0, 65535]"


def parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(prog="stiction view", description=__doc__.split(":")[0] + ".", allow_abbrev=False)
    out.add_argument(
        "sources",
        metavar="SCENE|RUN",
        nargs="+",
        help="scene (.toml, or a name that stiction scenes lists), robot (.urdf, .xml), or recorded run (.npz, .mcap); "
        "two are compared",
    )
    out.add_argument("--duration", type=positive, help="simulated time (s; default: the scene's, 1 for a robot)")
    out.add_argument("--floating", action="store_true", help="give a URDF a floating base")
    out.add_argument("--live", action="store_true", help="simulate while it is looked at: pause, step, push, friction")
    out.add_argument("--robot", metavar="FILE", help="URDF or MJCF that says what the robot of a run looks like")
    out.add_argument("--html", metavar="FILE", help="write a self-contained web page instead of serving it")
    out.add_argument("--png", metavar="FILE", help="write a picture, drawn by a headless Chromium")
    out.add_argument("--at", type=finite, help="time of the picture (s; default: the end)")
    out.add_argument("--mp4", metavar="FILE", help="write a film, drawn by a headless Chromium")
    out.add_argument("--speed", type=positive, help="of the film (default: 1)")
    out.add_argument(
        "--size",
        type=size_of,
        metavar="WxH",
        help=f"of picture and film (default: 1280x800; at most {MOST_PIXELS} a side)",
    )
    out.add_argument(
        "--port",
        type=port_of,
        default=8080,
        help="of the page, which this machine alone can reach (default: %(default)s)",
    )
    return out


def size_of(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (0 < int(width) <= MOST_PIXELS and 0 < int(height) <= MOST_PIXELS):
        raise ValueError(text)
    return int(width), int(height)


size_of.__name__ = f"size like 1280x800, at most {MOST_PIXELS} a side,"


def robot_visuals(file: str, trajectory: Trajectory) -> list[VisualShape | VisualTendon]:
    """What the file that --robot names shows of a run; ValueError where that is nothing."""
    from .visuals import visuals_of

    found = visuals_of(file, trajectory) if pathlib.Path(file).suffix in ROBOT_FILES else []
    if not found:
        raise ValueError(f"--robot: expected a file (.urdf, .xml) that shows bodies of the run, got {file}")
    return found


def _visuals(options: argparse.Namespace, trajectory: Trajectory) -> list[VisualShape | VisualTendon]:
    from .visuals import visuals_of

    if options.robot:
        return robot_visuals(options.robot, trajectory)
    source = options.sources[0]
    return visuals_of(source, trajectory) if pathlib.Path(source).suffix in ROBOT_FILES else []


def _show_live(options: argparse.Namespace) -> None:
    _refuse_floating(options)
    for name in ("html", "png", "mp4", "duration", "at", "speed", "size"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name}: expected a run, which --live has none of: it serves a page and writes nothing")
    if len(options.sources) != 1 or pathlib.Path(options.sources[0]).suffix in RUN_FILES:
        raise ValueError(f"--live: expected one scene or robot, got {' '.join(options.sources)}")
    world = world_of(options.sources[0], options.floating)
    start = of_simulation(stiction.simulate(world, duration=stiction.Stepper(world).dt))  # one step is enough
    play_live(world, options.port, pathlib.Path(options.sources[0]).stem, _visuals(options, start))


def _refuse_floating(options: argparse.Namespace) -> None:
    if options.floating and not any(pathlib.Path(source).suffix in ROBOT_FILES for source in options.sources):
        raise ValueError(f"--floating: expected a robot ({', '.join(ROBOT_FILES)}), got {' '.join(options.sources)}")


def _refuse_unused(options: argparse.Namespace) -> None:
    """Of pages that are written or served: an option that would change nothing."""
    for name, of in (("at", ("png",)), ("speed", ("mp4",)), ("size", ("png", "mp4"))):
        if getattr(options, name) is not None and not any(getattr(options, other) for other in of):
            raise ValueError(f"--{name}: expected beside {' or '.join(f'--{other}' for other in of)}")
    if options.mp4 and options.size and any(pixels % 2 for pixels in options.size):
        raise ValueError(f"--size: expected even numbers of pixels for a film, got {'x'.join(map(str, options.size))}")
    _refuse_floating(options)
    if options.duration is not None and all(pathlib.Path(source).suffix in RUN_FILES for source in options.sources):
        raise ValueError(f"--duration: expected a scene or robot to simulate, got {' '.join(options.sources)}")


def _show(options: argparse.Namespace) -> None:
    _refuse_unused(options)
    for name in ("html", "png", "mp4"):
        if file := getattr(options, name):
            command.require_file(f"--{name}", file, f".{name}")
    trajectories = [run_of(source, options.duration, options.floating) for source in options.sources]
    for source, trajectory in zip(options.sources, trajectories, strict=True):
        command.tell_end(f"stiction view: {source}", trajectory)
    names = [pathlib.Path(source).stem for source in options.sources]
    if len(set(names)) < len(names):
        names = options.sources
    start, end = min(t.time[0] for t in trajectories), max(t.time[-1] for t in trajectories)
    if options.at is not None and not start <= options.at <= end:
        raise ValueError(f"--at: expected a time of the run, {start:g} to {end:g} s, got {options.at:g}")
    size = options.size or (1280, 800)
    page = to_html(*trajectories, names=names, visuals=_visuals(options, trajectories[0]))
    if options.html:
        command.write(options.html, page)
    if options.png:
        to_png(page, options.png, options.at, size)
    if options.mp4:
        to_mp4(page, options.mp4, options.speed or 1.0, size)
    if not (options.html or options.png or options.mp4):
        play(page, options.port)


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    return command.run("stiction view", lambda: (_show_live if options.live else _show)(options))


if __name__ == "__main__":
    sys.exit(main())
