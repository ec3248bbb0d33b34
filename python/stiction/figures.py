"""Figures of a recorded run or of an experiment, as SVG and PNG: `stiction plot`."""

from __future__ import annotations

import argparse
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
import typing

import numpy as np

from . import command, frames, plot
from .trajectory import CONTACT_MODES, Trajectory

MODE_COLORS = ("#96999f", "#1268c8", "#e85600")  # open, stick, slip: as stiction view draws them
BINS = 800  # of the contact diagram, along time
WIDTH, HEIGHT = 10.0, 2.1  # inches: of a panel


def contact_diagram(trajectory: Trajectory) -> tuple[list[str], np.ndarray, np.ndarray]:
    """What each moving body does over time: names (b,), edges of time (n + 1,), modes (b, n), -1 without contact.

    Of a stretch of time the liveliest mode: slip before stick before open.
    """
    steps = np.repeat(np.arange(len(trajectory.time)), np.diff(trajectory.contact_offsets))
    last = len(trajectory.time) - 1
    bins = min(BINS, max(last, 1))
    bounds = np.arange(bins + 1) * last // bins  # states
    at = np.searchsorted(bounds, steps - 1, side="right") - 1
    moving = trajectory.body_mass > 0.0
    modes = np.full((len(moving), bins), -1)
    for side in (0, 1):
        np.maximum.at(modes, (trajectory.contact_bodies[:, side], at), trajectory.contact_modes)
    touching = np.flatnonzero(moving & (modes >= 0).any(axis=1))
    return [trajectory.body_names[body] for body in touching], trajectory.time[bounds], modes[touching]


def limits_of_constant(values: np.ndarray, least: float) -> tuple[float, float] | None:
    """Of an axis on which values that differ by rounding alone are a level line; None where they differ by more."""
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    if high - low > max(plot.SOLVES * largest, least):
        return None
    room = 0.05 * largest if largest > least else 0.05  # as matplotlib gives numbers that are equal
    middle = 0.5 * (low + high) if largest > least else 0.0
    return middle - room, middle + room


def draw_chart(axes, trajectory: Trajectory, chart: frames.Chart) -> list:
    """Draws it; what its legend is of, nothing where there is one curve."""
    time, values = chart.curves(trajectory.time)
    log = chart.log and (chart.values > 0.0).any()
    if log and (values < chart.least).any():
        values = np.maximum(values, chart.least)
        axes.set_ylabel(f"less than {chart.least:g}: at {chart.least:g}")
    for k, name in enumerate(chart.names):
        broad = name == frames.SIMULATED and len(chart.names) > 1  # pale, below what was predicted of it
        style = {"linewidth": 2.4, "alpha": 0.4} if broad else {"linewidth": 0.8}
        style["marker"] = "o" if len(time) == 1 else ""  # one step alone draws no line
        axes.plot(time, values[:, k], color=f"C{k % 10}", linestyle="-" if k < 10 else "--", label=name, **style)
    if log:
        axes.set_yscale("log")
    else:
        axes.ticklabel_format(axis="y", useOffset=False)
        if (limits := limits_of_constant(values, chart.least)) is not None:
            axes.set_ylim(*limits)
    axes.margins(x=0)
    return list(axes.lines) if len(chart.names) > 1 else []


def draw_contacts(axes, trajectory: Trajectory) -> list:
    """Draws the contact diagram; what its legend is of."""
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    names, edges, modes = contact_diagram(trajectory)
    colors = ListedColormap(("#ffffff", *MODE_COLORS))
    norm = BoundaryNorm(np.arange(-1.5, 3.0), colors.N)
    rows = np.arange(len(names) + 1) - 0.5
    axes.pcolormesh(edges, rows, modes, cmap=colors, norm=norm, rasterized=True)
    axes.set_yticks(range(len(names)), names, fontsize=6, parse_math=False)
    axes.invert_yaxis()
    return [Patch(color=color, label=mode) for color, mode in zip(MODE_COLORS, CONTACT_MODES, strict=True)]


def panels_of(trajectory: Trajectory) -> list[plot.Panel]:
    """All there is to plot of a run, over its time."""
    panel = functools.partial(plot.Panel, x_label="time (s)")
    draw = functools.partial(draw_chart, trajectory=trajectory)
    out = [panel(chart.title, HEIGHT, functools.partial(draw, chart=chart)) for chart in frames.charts_of(trajectory)]
    if touches := len(contact_diagram(trajectory)[0]):
        contacts = functools.partial(draw_contacts, trajectory=trajectory)
        out.append(panel("Contacts", max(HEIGHT, 0.16 * touches), contacts))
    return out


def figure_of(trajectory: Trajectory):
    """A matplotlib figure of all there is to plot of a run, over its time."""
    drawn = panels_of(trajectory)
    heights = [panel.height for panel in drawn]
    figure, panels = plot.pyplot().subplots(
        len(heights),
        figsize=(WIDTH, sum(heights)),
        height_ratios=heights,
        layout="constrained",
        sharex=True,
        squeeze=False,
    )
    for axes, panel in zip(panels[:, 0], drawn, strict=True):
        if handles := panel.draw(axes):
            plot.legend(axes, handles, fontsize=6, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        plot.tidy(axes, panel)
    panels[-1, 0].set_xlabel("time (s)", fontsize=8)
    return figure


def rows_of(experiment: str, options: typing.Sequence[str]) -> typing.Any:
    """What an experiment of the command `stiction` writes as JSON; ValueError where it refuses."""
    program = pathlib.Path(sys.executable).with_name("stiction")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "rows.json")
        call = [str(program), "experiment", experiment, *options, "--json", str(file)]
        done = subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if not file.exists():
            raise ValueError(
                done.stderr.strip().removeprefix("stiction: ") or f"stiction experiment {experiment} wrote nothing"
            )
        return json.loads(file.read_text())


def main(arguments: typing.Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="stiction plot", description="Figures of a recorded run or of an experiment, as SVG and PNG."
    )
    parser.add_argument(
        "source",
        metavar="RUN|EXPERIMENT",
        help="trajectory (.npz, .mcap), or a name of stiction experiment --list",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", default=".", help="where the files go, made where there is none (default: here)"
    )
    parser.add_argument("--narrow", action="store_true", help="every plot by itself, legible on a phone")
    options, rest = parser.parse_known_args(arguments)
    source = pathlib.Path(options.source)

    def write() -> None:
        command.require_folder("--out", options.out)
        if source.suffix in (".npz", ".mcap"):
            if rest:
                parser.error(f"unrecognized arguments: {' '.join(rest)}")
            trajectory = Trajectory.load(source)
            command.tell_end(f"stiction plot: {source}", trajectory)
            panels, wide = panels_of(trajectory), functools.partial(figure_of, trajectory)
        elif source.suffix:
            raise ValueError(f"expected a recorded run (.npz, .mcap) or the name of an experiment, got '{source}'")
        else:
            result = rows_of(options.source, rest)
            panels, wide = plot.panels_of(result), functools.partial(plot.draw, result)
        pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
        name = pathlib.Path(options.out, source.stem)
        drawn = plot.narrow_figures(name, panels) if options.narrow else [(name, wide())]
        for file in plot.save_all(drawn, (".svg", ".png")):
            print(file)

    return command.run("stiction plot", write)


if __name__ == "__main__":
    sys.exit(main())
