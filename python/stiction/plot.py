"""The figure of an experiment from its JSON: `stiction experiment NAME --plot FIGURE.svg`.

python -m stiction.plot FIGURE.svg < rows.json       the suffix says which format; needs matplotlib
"""

from __future__ import annotations

import itertools
import json
import math
import sys

import numpy as np

from . import command

SOLVES = 1e-9  # tolerance of the solves: errors below it say nothing of the step length
LEAST = 1e-17  # where an error of 0 is drawn


def grouped(rows, key):
    """Rows by the value of a key, in the order of first appearance."""
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def errors_of(row):
    reference = next(row[key] for key in ("exact", "published", "own") if row.get(key) is not None)
    return [abs(ours - reference) / (abs(reference) or 1.0) for ours in row["ours_by_step"]]


def draw_orders(axes, example, rows, steps):
    """Error against step length: a colour per setting, a mark per quantity, and a line of first order."""
    colors = {setting: f"C{k % 10}" for k, setting in enumerate(grouped(rows, "setting"))}
    marks = dict(zip(grouped(rows, "quantity"), itertools.cycle("os^vDP*X"), strict=False))
    for row in rows:
        axes.loglog(steps, errors_of(row), marker=marks[row["quantity"]], markersize=4, color=colors[row["setting"]])
    first = min(error for row in rows for error in errors_of(row))
    axes.loglog(steps, [first * step / min(steps) for step in steps], ":", color="0.5")
    names = [axes.plot([], [], color=color, label=setting)[0] for setting, color in colors.items()]
    names += [axes.plot([], [], mark, color="0.4", label=quantity)[0] for quantity, mark in marks.items()]
    names += axes.plot([], [], ":", color="0.5", label="first order")
    axes.legend(handles=names, fontsize=5, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    axes.set_title(example, fontsize=9)
    axes.set_xticks(steps, [f"{1e3 * step:g} ms" for step in steps])
    axes.set_xticks([], minor=True)


def draw_solves(axes, rows):
    """Errors of rows that no step length enters, one line of dots per example."""
    examples = grouped(rows, "example")
    for k, example in enumerate(examples):
        errors = [max(row["error"], LEAST) for row in examples[example]]
        axes.semilogx(errors, [k] * len(errors), ".", color="C0", alpha=0.5)
    axes.axvline(SOLVES, color="0.5", linestyle=":")
    axes.set_yticks(range(len(examples)), examples, fontsize=6)
    axes.invert_yaxis()
    axes.set_title(f"error of single solves; dotted: tolerance {SOLVES:g}", fontsize=9)


def draw_published(axes, rows):
    """Ours and the published figure of each row, on one line."""
    shown = [row for row in rows if row["ours"] and row["published"]]  # on a scale of logarithms
    for k, row in enumerate(shown):
        axes.semilogx([row["ours"], row["published"]], [k, k], "-", color="0.8")
    axes.semilogx([row["ours"] for row in shown], range(len(shown)), "o", color="C0", label="ours")
    axes.semilogx([row["published"] for row in shown], range(len(shown)), "x", color="C1", label="published")
    names = [f"{row['example']}, {row['setting']}: {row['quantity']} ({row['unit'] or '1'})" for row in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=6)
    axes.invert_yaxis()
    axes.legend(fontsize=6)
    axes.set_title("ours beside published", fontsize=9)


def draw_figure(axes, figure):
    """Curves that an experiment asks to be drawn, one colour each."""
    for curve in figure["curves"]:
        axes.plot(curve["x"], curve["y"], label=curve["name"], linewidth=1)
    axes.set_xscale("log" if figure["log_x"] else "linear")
    axes.set_yscale("log" if figure["log_y"] else "linear")
    axes.set_xlabel(figure["x_label"])
    axes.set_ylabel(figure["y_label"])
    if figure["equal"]:
        axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(figure["title"], fontsize=9)
    axes.legend(fontsize=6)


def draw_report(pyplot, report):
    known = [row for row in report["rows"] if row["error"] is not None]
    single = [row for row in known if len(row["ours_by_step"]) == 1]
    wide = [
        (draw_solves, [row for row in single if row["exact"] is not None]),
        (draw_published, [row for row in single if row["published"] is not None]),
    ]
    wide = [(draw_rows, rows) for draw_rows, rows in wide if rows]
    wide += [(draw_figure, figure) for figure in report.get("figures", [])]
    runs = [row for row in known if len(row["ours_by_step"]) > 1 and all(error > SOLVES for error in errors_of(row))]
    panels = grouped(runs, "example")
    columns = 3
    lines = len(wide) + math.ceil(len(panels) / columns)
    figure = pyplot.figure(figsize=(14, 4.5 * lines), layout="constrained")
    grid = figure.add_gridspec(lines, columns)
    for line, (draw_rows, rows) in enumerate(wide):
        draw_rows(figure.add_subplot(grid[line, :]), rows)
    for k, example in enumerate(panels):
        axes = figure.add_subplot(grid[len(wide) + k // columns, k % columns])
        draw_orders(axes, example, panels[example], report["steps"])
        axes.set_ylabel("error")
    return figure


def draw_alpha(pyplot, sweep):
    """Mean iterations against the relaxation, where every problem converged, and the published choice [G14, Fig. 6]."""
    figure, axes = pyplot.subplots(layout="constrained")
    for curve in sweep["curves"]:
        points = [point for point in curve["points"] if point["failures"] == 0]
        alphas, iterations = [p["alpha"] for p in points], [p["mean_iterations"] for p in points]
        (line,) = axes.plot(alphas, iterations, label=curve["name"])
        chosen = curve["published"]["chosen_alpha"]
        if alphas and alphas[0] <= chosen <= alphas[-1]:
            axes.plot(chosen, np.interp(chosen, alphas, iterations), "x", color=line.get_color())
    axes.plot([], [], "x", color="0.4", label="α chosen in the paper")
    axes.set_xlabel("α")
    axes.set_ylabel("mean iterations")
    axes.legend()
    return figure


def draw_trot(pyplot, trot):
    """Ours and published, side by side [ZD15, Tables 3 and 5], and what figures there are."""
    rows, figures = trot["rows"], trot["figures"]
    lines = math.ceil(len(figures) / 2)
    table = 2.0 + 0.25 * len(rows)  # inches
    figure = pyplot.figure(figsize=(14, table + 6.0 * lines), layout="constrained")
    grid = figure.add_gridspec(1 + lines, 2, height_ratios=[table] + [6.0] * lines)
    for k, curves in enumerate(figures):
        draw_figure(figure.add_subplot(grid[1 + k // 2, k % 2]), curves)
    friction = ["by patch" if row["mu"] is None else f"μ {row['mu']}" for row in rows]
    names = [" ".join([r["ground"], r["controller"], r["objective"], mu]) for r, mu in zip(rows, friction, strict=True)]
    titles = {"position_error": "mean joint error (rad)", "force_error_relative": "error of predicted normal force"}
    for column, (measure, title) in enumerate(titles.items()):
        axes = figure.add_subplot(grid[0, column])
        published = [row["published"][measure] for row in rows]
        axes.barh(
            [k - 0.2 for k in range(len(rows))], [row[measure]["median"] for row in rows], 0.4, label="ours, median"
        )
        axes.barh(
            [k + 0.2 for k in range(len(rows))],
            [math.nan if value is None else value for value in published],
            0.4,
            label="published",
        )
        axes.set_yticks(range(len(rows)), names, fontsize=7)
        axes.invert_yaxis()
        axes.set_title(title)
        axes.legend()
    return figure


def pyplot():
    """matplotlib's, without a window; the same figure has the same bytes."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "stiction"
    from matplotlib import pyplot

    return pyplot


def draw(result):
    """A matplotlib figure of what an experiment wrote."""
    if "claims" in result:
        return draw_trot(pyplot(), result)
    return draw_alpha(pyplot(), result) if "curves" in result else draw_report(pyplot(), result)


def save(figure, file):
    """Writes a figure; the suffix says which format."""
    figure.savefig(file, dpi=150, metadata={"Date": None} if str(file).endswith(".svg") else None)


def main():
    (file,) = sys.argv[1:]
    return command.run(f"stiction: {file}", lambda: save(draw(json.load(sys.stdin)), file))


if __name__ == "__main__":
    sys.exit(main())
