"""The page that shows runs: viser's client, our own controls and plots, and the numbers, in one file."""

from __future__ import annotations

import base64
import gzip
import html
import importlib.resources
import json
import pathlib
import typing

import numpy as np
import viser

from . import frames
from .sizes import LONGEST_ARROW
from .stage import Stage
from .trajectory import Trajectory
from .visuals import VisualShape, VisualTendon

if typing.TYPE_CHECKING:
    from .live import Stream

SCRIPTS = ("data.js", "scene.js", "chart.js", "player.js", "live.js", "panel.js")  # in the order that they build on


def part(name: str) -> str:
    """A file of the page."""
    return importlib.resources.files(__package__).joinpath("page", name).read_text(encoding="utf-8")


class Packer:
    """Arrays by name or number in one block of bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, data: np.ndarray | bytes, dtype: str | None = None) -> dict:
        """Where the array lies: its offset, its bytes and its type."""
        if isinstance(data, np.ndarray):
            data, dtype = np.ascontiguousarray(data).tobytes(), np.dtype(data.dtype).str
        padding = -self.size % 8
        entry = {"offset": self.size + padding, "bytes": len(data), "dtype": dtype}
        self.parts += [bytes(padding), data]
        self.size = entry["offset"] + len(data)
        return entry


def content_of(
    trajectories: list[Trajectory],
    names: list[str],
    visuals: typing.Sequence[VisualShape | VisualTendon] = (),
    live: Stream | None = None,
) -> bytes:
    """What the page's scripts read: 8 bytes of length, a JSON header, and the arrays that it points into.

    visuals: of the first run. live: what goes on from the one run there is.
    """
    stage, packer = Stage(trajectories, visuals, live.view if live else None), Packer()
    buffers = [packer.add(buffer) for buffer in stage.buffers]
    runs = []
    for trajectory, moved, drawn, name in zip(trajectories, stage.drawn, stage.runs, names, strict=True):
        plotted = live.charts() if live else frames.charts_of(trajectory)
        readings = sum(len(chart.names) for chart in plotted if chart.thins)
        states = frames.states_of(trajectory, drawn.bodies, readings)
        arrays = frames.drawn_states(moved, drawn.bodies, states)
        charts = []
        for chart in plotted:
            time, values = (np.empty(0), chart.values) if live else chart.curves(trajectory.time)
            # A state's values are found by its time, as double as the states' own.
            curves = {"time": packer.add(time.astype(np.float64)), "values": packer.add(values.T.astype(np.float32))}
            if chart.thins:
                curves["readings"] = packer.add(chart.readings(states).T.astype(np.float32))
            charts.append({"title": chart.title, "names": chart.names, "log": chart.log, "shown": chart.shown} | curves)
        run = {"name": name, "root": drawn.root, "nodes": drawn.frames, "bodies": drawn.bodies}
        run |= {"bodyNames": trajectory.body_names, "collision": drawn.collision, "visual": drawn.visual}
        run |= {"ground": drawn.ground, "path": drawn.path, "opacity": drawn.opacity}
        run |= {"opacities": drawn.opacities, "movable": drawn.movable, "tendons": drawn.tendons}
        run |= {"planes": drawn.planes}
        run |= {"end": trajectory.early_end()}  # "": it went on to the end of its duration, or nobody said
        run |= {"targetNames": trajectory.target_names, "charts": charts}
        runs.append(run | {"arrays": {key: packer.add(array) for key, array in arrays.items()}})
    if live:
        live.bodies, live.drawing = stage.runs[0].bodies, stage.drawing
    header = {
        "messages": stage.messages,
        "buffers": buffers,
        "runs": runs,
        "live": {"controls": live.controls(), "follows": live.view is None} if live else None,
        "size": stage.sizes.size,
        "extent": stage.extent,
        "follows": stage.follows,
        "dot": stage.sizes.dot,
        "origin": stage.drawing.origin.tolist(),
        "unit": stage.drawing.unit,
        "newtonsPerUnit": stage.sizes.newtons_per_metre,
        "longestArrow": stage.sizes.longest,
        "weights": LONGEST_ARROW if stage.sizes.weighs else None,
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *packer.parts])


def page_of(content: bytes, title: str) -> str:
    """The page that shows it; it needs neither server nor network."""
    client = pathlib.Path(viser.__file__).parent / "client" / "build" / "index.html"
    page = client.read_text(encoding="utf-8").replace("<title>Viser</title>", f"<title>{html.escape(title)}</title>")
    data = base64.b64encode(gzip.compress(content, compresslevel=9, mtime=0)).decode("ascii")
    scripts = "\n".join(part(name) for name in SCRIPTS)
    head = f"<style>{part('style.css')}</style><script>{part('connection.js')}\n{scripts}</script>"
    store = f'<script type="application/octet-stream" id="stiction-data">{data}</script>'
    start, end = page.index("<link"), page.rindex("</body>")
    return page[:start] + head + page[start:end] + part("body.html") + store + page[end:]
