import io
import itertools
import json
import pathlib
import subprocess
import sys

import pytest

from stiction import plot

COMMAND = pathlib.Path(sys.executable).with_name("stiction")


def rows_of_a_run():
    row = {"example": "slide", "setting": "coulomb_cone", "unit": "m", "published": None, "order": 1.0, "note": ""}
    return {
        "steps": [0.004, 0.002, 0.001],
        "rows": [
            row
            | {"quantity": "distance", "exact": 2.0, "ours": 2.02, "error": 0.01, "ours_by_step": [2.08, 2.04, 2.02]},
            row | {"quantity": "creep", "exact": 0.0, "ours": 0.0, "error": 0.0, "ours_by_step": [0.0]},
            row | {"quantity": "failed", "exact": 1.0, "ours": None, "error": None, "ours_by_step": []},
        ],
    }


def titles_of(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_errors_are_relative_unless_the_reference_is_zero():
    distance, creep, _ = rows_of_a_run()["rows"]
    assert plot.errors_of(distance) == pytest.approx([0.04, 0.02, 0.01])
    assert plot.errors_of(distance | {"exact": None, "own": 2.0}) == plot.errors_of(distance)
    assert plot.errors_of(creep | {"ours_by_step": [3e-9]}) == [3e-9]


def test_a_report_has_a_panel_of_solves_and_one_per_example_with_orders():
    pytest.importorskip("matplotlib")
    figure = plot.draw(rows_of_a_run())
    assert titles_of(figure)[1:] == ["slide"]
    first = figure.axes[1].lines[0]
    assert list(first.get_ydata()) == pytest.approx([0.04, 0.02, 0.01])
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        plot.draw(rows_of_a_run()).savefig(file, format="svg", metadata={"Date": None})
    assert files[0].getvalue() == files[1].getvalue()


def test_an_example_of_many_curves_has_a_panel_of_each_quantity():
    """Of 10 settings and 7 quantities, as in `feedback`: labels and panels stay apart, colours are the same."""
    pytest.importorskip("matplotlib")
    result = rows_of_a_run()
    row, steps = result["rows"][0], [0.1, 0.05, 0.02, 0.01, 0.004, 0.001]
    result["steps"] = steps
    settings = [f"ID as constraint, slow trot, feet roll, parts of {k} ms" for k in range(10)]
    quantities = [f"quantity {k}" for k in range(7)]
    result["rows"] = [
        row | {"setting": setting, "quantity": quantity, "ours_by_step": [2.0 + step for step in steps]}
        for setting in settings
        for quantity in quantities
        if (setting, quantity) != (settings[0], quantities[6])
    ]
    figure = plot.draw(result)
    figure.canvas.draw()
    assert titles_of(figure) == [f"slide, {quantity}" for quantity in quantities]
    colors = {}
    for axes in figure.axes:
        labels = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert len(labels) >= 4
        for one, other in itertools.pairwise(labels):
            assert one.x1 + 2.0 < other.x0  # pixels
        assert axes.bbox.width > 0.25 * figure.bbox.width
        for handle in axes.get_legend().legend_handles[:-2]:
            assert colors.setdefault(handle.get_label(), handle.get_color()) == handle.get_color()
        assert axes.get_legend().get_window_extent().height < 2.0 * axes.bbox.height
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    marked = plot.ticks_apart([0.1, 0.09, 0.001, 0.0011, 0.01])
    assert marked == [0.001, 0.01, 0.1]


def test_figures_of_an_experiment_have_panels_of_their_own():
    pytest.importorskip("matplotlib")
    figure = {"title": "energy", "x_label": "step", "y_label": "J", "log_x": False, "log_y": True, "equal": False}
    figure["curves"] = [
        {"name": "no-slip", "x": [1, 2, 3], "y": [1e-3, 1e-4, 1e-5]},
        {"name": "other", "x": [1], "y": [1]},
    ]
    axes = plot.draw(rows_of_a_run() | {"figures": [figure]}).axes[1]
    assert axes.get_title(loc="left") == "energy"
    assert axes.get_yscale() == "log"
    assert list(axes.lines[0].get_ydata()) == [1e-3, 1e-4, 1e-5]


def test_the_trot_has_its_tables_and_figures_side_by_side():
    pytest.importorskip("matplotlib")
    row = {"ground": "rigid", "controller": "pid", "objective": "", "mu": 0.1}
    row |= {"position_error": {"median": 0.02, "worst": 0.03}, "force_error_relative": {"median": None, "worst": None}}
    row["published"] = {"position_error": 0.09, "force_error_relative": None}
    path = {"title": "path", "x_label": "x", "y_label": "y", "log_x": False, "log_y": False, "equal": True}
    path["curves"] = [{"name": "pid", "x": [0, 1, 2], "y": [0, 1, 0]}]
    rows = [row, row | {"ground": "hills", "mu": None}]
    assert len(plot.draw({"rows": rows, "claims": [], "figures": [path]}).axes) == 2
    rows.append(row | {"controller": "coulomb_cone", "force_error_relative": row["position_error"]})
    figure = plot.draw({"rows": rows, "claims": [], "figures": [path]})
    assert titles_of(figure) == ["mean joint error (rad)", "error of predicted normal force", "path"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "rigid pid μ 0.1",
        "hills pid by patch",
        "rigid coulomb_cone μ 0.1",
    ]
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == ["rigid coulomb_cone μ 0.1"]


def test_what_is_drawn_narrow_has_letters_that_fit_beside_each_other():
    Text = pytest.importorskip("matplotlib.text").Text
    result = rows_of_a_run()
    long = {"published": 3.0, "setting": "no-slip friction, an active-set quadratic program, 12 contacts per pair"}
    single = [row | long | {"example": f"boxes {k}"} for k, row in enumerate(2 * result["rows"][:1])]
    result["rows"] += [row | {"ours_by_step": row["ours_by_step"][:1]} for row in single]
    panels = plot.panels_of(result)
    assert [panel.slug for panel in panels] == [
        "error-of-single-solves-dotted-tolerance-1e-09",
        "ours-beside-published",
        "slide",
    ]
    for panel in panels:
        figure = plot.narrow_figure(panel)
        figure.draw_without_rendering()
        (axes,) = figure.axes
        texts = [child for child in axes.get_children() if isinstance(child, Text)]  # title and names of rows
        texts += figure.legends[0].texts if figure.legends else []
        places = [text.get_window_extent() for text in texts if text.get_text()]
        assert all(text.get_fontsize() >= plot.LETTERS for text in texts)
        assert all(place.x0 >= 0.0 and place.x1 <= figure.bbox.width for place in places)
        for one, other in itertools.combinations(places, 2):
            assert not one.overlaps(other)
        assert figure.get_figwidth() == plot.NARROW
        assert axes.bbox.width > 0.7 * figure.bbox.width  # the names do not take the plot's room


def test_the_command_draws_and_says_in_one_line_what_it_cannot(tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "alpha.svg"
    drawn = subprocess.run(
        [
            COMMAND,
            "experiment",
            "alpha",
            "--quick",
            "--quiet",
            "--alpha",
            "0.5",
            "--plot",
            file,
            "--json",
            tmp_path / "a",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert drawn.returncode == 0, drawn.stderr
    assert "<svg" in file.read_text()
    narrow = subprocess.run(
        [COMMAND, "plot", "alpha", "--narrow", "--out", tmp_path, "--quick", "--quiet", "--alpha", "0.5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert narrow.returncode == 0, narrow.stderr
    names = [pathlib.Path(line).name for line in narrow.stdout.splitlines()]
    stem = "alpha-mean-iterations-where-all-problems-converged"
    assert names == [f"{stem}.svg", f"{stem}.png"]
    assert all((tmp_path / name).exists() for name in names)
    curves = json.loads((tmp_path / "a").read_text())["curves"]
    assert all(curve["published"]["chosen_alpha"] for curve in curves)
    refused = subprocess.run(
        [COMMAND, "experiment", "textbook", "--quiet", "--plot", tmp_path / "absent" / "x.svg"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "x.svg" in refused.stderr
    assert "Traceback" not in refused.stderr
