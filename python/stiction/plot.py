"""The figure of an experiment from its JSON: `stiction experiment NAME --plot FIGURE.svg`.

python -m stiction.plot [--narrow] FIGURE.svg < rows.json       the suffix says which format; needs matplotlib
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import json
import math
import pathlib
import re
import sys
import textwrap
import typing

import numpy as np

from . import command

FIRST_ORDER = "first order"  # the line that is drawn beside errors
SOLVES = 1e-9  # tolerance of the solves: errors below it say nothing of the step length
LEAST = 1e-17  # where an error of 0 is drawn
WIDTH = 14.0  # inches: of a figure of all panels
NARROW = 4.0  # inches: of a panel by itself, 384 pixels of a style sheet, about what a phone has
CURVES = 24  # of a panel of errors: more are told apart by quantity, a panel of each
TICKS = 0.09  # of a scale: what three digits take of the narrowest panel
LETTERS = 7  # points: the smallest
TITLE = 9  # points
LINE = 1.4 * LETTERS / 72.0  # inches: of a line of a legend
ROW, NARROW_ROW = (
    0.16,
    0.21,
)  # inches: of a row with its name before it, and of one with its name above it, but for the name
NAME = 66  # characters: of a line of a name above its row


@dataclasses.dataclass
class Panel:
    """What is drawn on axes of its own. draw(axes) gives what the legend is of.

    share: of a figure's width, in sixths; the legend of a panel narrower than a half is below it. narrow_height: by
    itself; None: the same.
    """

    title: str
    height: float  # inches
    draw: typing.Callable[[typing.Any], list]
    share: int = 6
    narrow_height: float | None = None
    x_label: str = ""  # where the draw function sets none

    @property
    def slug(self) -> str:
        """The title as part of a file's name, without units and sources."""
        words = re.findall(r"[a-z0-9]+", re.sub(r"\(.*?\)|\[.*?\]", "", self.title.lower()))
        return "-".join(words)


def is_narrow(axes) -> bool:
    return axes.figure.get_figwidth() <= NARROW


def legend_columns(names: typing.Iterable[str]) -> int:
    """Of a legend below a plot that is narrow, or as wide as a third of a figure."""
    longest = max(map(len, names))
    return 3 if longest <= 14 else 2 if longest <= 30 else 1


def legend(owner, handles: list, **place) -> None:
    """A legend of axes or of a figure, whose names are data: no letter of them is one of matplotlib's maths."""
    labels = [handle.get_label() for handle in handles]  # by themselves: of handles alone those with a _ are left out
    for text in owner.legend(handles, labels, **place).get_texts():
        text.set_parse_math(False)


def tidy(axes, panel: Panel) -> None:
    """Title, grid and letters of drawn axes."""
    width = axes.figure.get_figwidth() * (1.0 if is_narrow(axes) else panel.share / 6.0)
    lines = textwrap.wrap(panel.title, round(13.5 * width))
    axes.set_title("\n".join(lines), fontsize=TITLE, loc="left", parse_math=False)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.tick_params(labelsize=LETTERS, which="both")
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(LETTERS + 1)
        label.set_parse_math(False)
        label.set_text(textwrap.fill(label.get_text(), round(12 * width)))


def narrow_figure(panel: Panel):
    """A matplotlib figure of one panel, legible on a phone: its legend is below."""
    height = panel.narrow_height or panel.height
    figure, axes = pyplot().subplots(figsize=(NARROW, height), layout="constrained")
    handles = panel.draw(axes)
    if panel.x_label:
        axes.set_xlabel(panel.x_label)
    tidy(axes, panel)
    if handles:
        columns = legend_columns([handle.get_label() for handle in handles])
        figure.set_figheight(height + -(-len(handles) // columns) * LINE)
        legend(figure, handles, fontsize=LETTERS, loc="outside lower left", ncols=columns, frameon=False)
    return figure


def named_rows(title: str, draw: typing.Callable[[typing.Any], list], names: list[str], share: int = 6) -> Panel:
    """A panel of rows at 0, 1, ... from the top, with their names before them, or above them where there is no room.

    draw(axes): draws the rows, gives what the legend is of.
    """
    wrapped = [textwrap.fill(name, NAME) for name in names]

    def draw_named(axes) -> list:
        handles = draw(axes)
        axes.set_ylim(len(names) - 0.5, -0.75)
        shown = [] if is_narrow(axes) else names
        axes.set_yticks(range(len(shown)), shown, parse_math=False)
        at = {
            "xycoords": axes.get_yaxis_transform(),
            "textcoords": "offset points",
            "xytext": (0, 4),
            "parse_math": False,
        }
        for k, name in enumerate(wrapped if is_narrow(axes) else []):
            axes.annotate(name, (0.01, k), va="bottom", fontsize=LETTERS, linespacing=1.0, **at).set_in_layout(False)
        return handles

    lines = max(name.count("\n") + 1 for name in wrapped)
    row = NARROW_ROW + lines * LETTERS / 72.0
    return Panel(title, max(1.5, 0.6 + ROW * len(names)), draw_named, share, narrow_height=0.5 + row * len(names))


def grouped(rows, key):
    """Rows by the value of a key, in the order of first appearance."""
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def errors_of(row):
    reference = next(row[key] for key in ("exact", "published", "own") if row.get(key) is not None)
    return [abs(ours - reference) / (abs(reference) or 1.0) for ours in row["ours_by_step"]]


def ticks_apart(steps):
    """Steps to mark on a scale of logarithms, the ends always: their labels leave each other room."""
    ends, out = (min(steps), max(steps)), [min(steps)]
    least = TICKS * math.log(ends[1] / ends[0])
    for step in sorted(steps)[1:]:
        if math.log(step / out[-1]) >= least and (step == ends[1] or math.log(ends[1] / step) >= least):
            out.append(step)
    return out if out[-1] == ends[1] else [*out, ends[1]]


def draw_orders(axes, rows, steps, settings):
    """Error against step length: a colour per setting, a mark per quantity, and a line of first order.

    settings: of all panels that are to have the same colours.
    """
    own = grouped(rows, "setting")
    colors = {setting: f"C{k % 10}" for k, setting in enumerate(settings) if setting in own}
    marks = dict(zip(grouped(rows, "quantity"), itertools.cycle("os^vDP*X"), strict=False))
    for row in rows:
        axes.loglog(steps, errors_of(row), marker=marks[row["quantity"]], markersize=4, color=colors[row["setting"]])
    first = min(error for row in rows for error in errors_of(row))
    axes.loglog(steps, [first * step / min(steps) for step in steps], ":", color="0.5")
    names = [axes.plot([], [], color=color, label=setting)[0] for setting, color in colors.items()]
    names += [axes.plot([], [], mark, color="0.4", label=quantity)[0] for quantity, mark in marks.items()]
    names += axes.plot([], [], ":", color="0.5", label=FIRST_ORDER)
    shown = ticks_apart(steps)
    axes.set_xticks(shown, [f"{1e3 * step:g}" for step in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("step (ms)")
    axes.set_ylabel("error")
    return names


def draw_solves(axes, examples):
    """Errors of rows that no step length enters, one line of dots per example."""
    for k, rows in enumerate(examples.values()):
        errors = [max(row["error"], LEAST) for row in rows]
        axes.semilogx(errors, [k] * len(errors), ".", color="C0", alpha=0.5)
    axes.axvline(SOLVES, color="0.5", linestyle=":")
    return []


def draw_beside(axes, ours, published, label="ours"):
    """Ours and the published figure of each row, on one line; nothing of what is None or no more than 0."""
    both = [
        np.array([value if value and value > 0.0 else math.nan for value in values]) for values in (ours, published)
    ]
    rows = np.arange(len(ours))
    axes.semilogx(np.stack(both), np.stack([rows, rows]), "-", color="0.8")
    marks = zip(both, ("o", "x"), ("C0", "C1"), (label, "published"), strict=True)
    return [
        axes.semilogx(values, rows, mark, color=color, markersize=4, label=name)[0]
        for values, mark, color, name in marks
    ]


def draw_figure(axes, figure):
    """Curves that an experiment asks to be drawn, one colour each."""
    from matplotlib.ticker import LogFormatter

    for curve in figure["curves"]:
        axes.plot(curve["x"], curve["y"], label=curve["name"], linewidth=1)
    axes.set_xscale("log" if figure["log_x"] else "linear")
    axes.set_yscale("log" if figure["log_y"] else "linear")
    if figure["log_x"]:  # 2, 4, 10 rather than powers of ten
        axes.xaxis.set_major_formatter(LogFormatter())
        axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2.0, 0.4)))
    axes.set_xlabel(figure["x_label"])
    axes.set_ylabel(figure["y_label"])
    if figure["equal"]:
        axes.set_aspect("equal", adjustable="datalim")
    return list(axes.lines)


def panels_of_report(report):
    known = [row for row in report["rows"] if row["error"] is not None]
    single = [row for row in known if len(row["ours_by_step"]) == 1]
    exact = grouped([row for row in single if row["exact"] is not None], "example")
    published = [row for row in single if row["ours"] and row["published"]]  # on a scale of logarithms
    out = []
    if exact:
        title = f"error of single solves; dotted: tolerance {SOLVES:g}"
        out.append(named_rows(title, functools.partial(draw_solves, examples=exact), list(exact)))
    if published:
        units = [f" ({row['unit']})" if row["unit"] else "" for row in published]
        names = [
            f"{row['example']}, {row['setting']}: {row['quantity']}{unit}"
            for row, unit in zip(published, units, strict=True)
        ]
        both = {key: [row[key] for row in published] for key in ("ours", "published")}
        out.append(named_rows("ours beside published", functools.partial(draw_beside, **both), names))
    out += [
        Panel(figure["title"], 4.0, functools.partial(draw_figure, figure=figure), narrow_height=3.0)
        for figure in report.get("figures", [])
    ]
    runs = [row for row in known if len(row["ours_by_step"]) > 1 and all(error > SOLVES for error in errors_of(row))]
    for example, rows in grouped(runs, "example").items():
        parts, settings = {example: rows}, list(grouped(rows, "setting"))
        if len(rows) > CURVES:
            parts = {f"{example}, {quantity}": some for quantity, some in grouped(rows, "quantity").items()}
        for title, some in parts.items():
            draw = functools.partial(draw_orders, rows=some, steps=report["steps"], settings=settings)
            names = [FIRST_ORDER, *grouped(some, "setting"), *grouped(some, "quantity")]
            lines = -(-len(names) // legend_columns(names))
            out.append(Panel(title, max(4.0, 3.0 + lines * LINE), draw, share=2, narrow_height=3.0))
    return out


def draw_alpha(axes, curves):
    """Mean iterations against the relaxation, where every problem converged, and the published choice [G14, Fig. 6]."""
    for curve in curves:
        points = [point for point in curve["points"] if point["failures"] == 0]
        alphas, iterations = [p["alpha"] for p in points], [p["mean_iterations"] for p in points]
        (line,) = axes.plot(alphas, iterations, label=curve["name"])
        chosen = curve["published"]["chosen_alpha"]
        if alphas and alphas[0] <= chosen <= alphas[-1]:
            axes.plot(chosen, np.interp(chosen, alphas, iterations), "x", color=line.get_color())
    axes.plot([], [], "x", color="0.4", label="α chosen in the paper")
    axes.set_xlabel("α")
    axes.set_ylabel("mean iterations")
    return [line for line in axes.lines if not line.get_label().startswith("_")]


def panels_of_trot(trot):
    """Ours and published, side by side [ZD15, Tables 3 and 5], and what figures there are."""
    rows, out = trot["rows"], []
    friction = ["by patch" if row["mu"] is None else f"μ {row['mu']}" for row in rows]
    names = [
        " ".join(filter(None, [r["ground"], r["controller"], r["objective"], mu]))
        for r, mu in zip(rows, friction, strict=True)
    ]
    titles = {"position_error": "mean joint error (rad)", "force_error_relative": "error of predicted normal force"}
    for measure, title in titles.items():
        known = [(row, name) for row, name in zip(rows, names, strict=True) if row[measure]["median"] is not None]
        if not known:
            continue
        ours = [row[measure]["median"] for row, _ in known]
        published = [row["published"][measure] for row, _ in known]
        draw = functools.partial(draw_beside, label="ours, median", ours=ours, published=published)
        out.append(named_rows(title, draw, [name for _, name in known], share=3))
    for figure in trot["figures"]:
        draw = functools.partial(draw_figure, figure=figure)
        out.append(Panel(figure["title"], 5.0, draw, share=3, narrow_height=3.0))
    return out


def panels_of(result):
    """What there is to draw of an experiment, by what it wrote."""
    if "curves" in result:
        draw = functools.partial(draw_alpha, curves=result["curves"])
        return [Panel("mean iterations, where all problems converged", 4.8, draw, share=3, narrow_height=3.0)]
    return panels_of_trot(result) if "claims" in result else panels_of_report(result)


def pyplot():
    """matplotlib's, without a window; the same figure has the same bytes."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "stiction"
    from matplotlib import pyplot

    return pyplot


def lines_of(panels):
    """Panels that stand side by side, as many as there is room for."""
    lines, left = [], 0
    for panel in panels:
        if panel.share > left:
            lines.append([])
            left = 6
        lines[-1].append(panel)
        left -= panel.share
    return lines


def draw(result):
    """A matplotlib figure of what an experiment wrote."""
    lines = lines_of(panels_of(result))
    heights = [max(panel.height for panel in line) for line in lines]
    columns = max((sum(panel.share for panel in line) for line in lines), default=6)
    figure = pyplot().figure(figsize=(WIDTH * columns / 6.0, sum(heights, 0.0) or 1.0), layout="constrained")
    grid = figure.add_gridspec(max(len(lines), 1), columns, height_ratios=heights or None)
    for line, panels in enumerate(lines):
        at = 0
        for panel in panels:
            axes = figure.add_subplot(grid[line, at : at + panel.share])
            at += panel.share
            if handles := panel.draw(axes):
                place = {}
                if panel.share < 3:
                    columns = legend_columns(handle.get_label() for handle in handles)
                    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": columns}
                legend(axes, handles, fontsize=LETTERS - 1, **place)
            tidy(axes, panel)
    return figure


def save(figure, file):
    """Writes a figure; the suffix says which format."""
    with command.replacing(file) as beside:
        figure.savefig(beside, dpi=150, metadata={"Date": None} if str(file).endswith(".svg") else None)


def save_all(figures, suffixes):
    """Writes figures by the files' names without suffix, and gives the files; a figure is gone then."""
    for name, figure in figures:
        for suffix in suffixes:
            file = pathlib.Path(f"{name}{suffix}")
            save(figure, file)
            yield file
        pyplot().close(figure)


def narrow_figures(name, panels):
    """Every panel by itself, beside its file's name without suffix."""
    return ((f"{name}-{panel.slug}", narrow_figure(panel)) for panel in panels)


def main():
    parser = argparse.ArgumentParser(prog="python -m stiction.plot", description="The figure of an experiment.")
    parser.add_argument("--narrow", action="store_true")
    parser.add_argument("file", type=pathlib.Path)
    options = parser.parse_args()

    def write():
        result, file = json.load(sys.stdin), options.file
        if options.narrow:
            list(save_all(narrow_figures(file.with_suffix(""), panels_of(result)), [file.suffix]))
        else:
            save(draw(result), file)

    return command.run(f"stiction: {options.file}", write)


if __name__ == "__main__":
    sys.exit(main())
