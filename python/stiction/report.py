"""A web page about a recorded run, to be read without tools: `stiction report`."""

from __future__ import annotations

import argparse
import base64
import html
import io
import os
import pathlib
import sys
import tempfile
import typing

import numpy as np

from . import command, figures, frames, plot, view
from ._core import FileError
from .trajectory import CONTACT_MODES, STAGES, Trajectory

if typing.TYPE_CHECKING:
    from .visuals import VisualShape, VisualTendon

HARDEST, PICTURES, PICTURE_SIZE = 12, 4, (800, 500)
SHARES = (("median", 50.0), ("90 %", 90.0), ("99 %", 99.0), ("worst", 100.0))
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1d232b; max-width: 1000px; margin: 24px auto; padding: 0 16px; }
h1 { font-size: 24px; margin: 0 0 4px; overflow-wrap: anywhere; } h2 { font-size: 18px; margin: 32px 0 8px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13.5px; }
th, td { padding: 4px 12px 4px 0; text-align: right; border-bottom: 1px solid #e3e7eb; white-space: nowrap; }
th { color: #59616c; font-weight: 600; } th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; } .note { color: #59616c; font-size: 13.5px; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(var(--least), 100%), 1fr)); gap: 12px; }
.pictures { --least: 300px; } .plots { --least: 400px; }
figure { margin: 0; }
img, svg { box-sizing: border-box; width: 100%; height: auto; border: 1px solid #e3e7eb; border-radius: 6px; }
.legend i { font-style: normal; margin-right: 12px; }
.legend i::before { content: "●"; color: var(--dot); margin-right: 4px; }
.legend em { font-style: normal; }
figcaption { font-size: 13px; color: #59616c; }
@media (max-width: 600px) {
  table { font-size: 11px; } th, td { padding-right: 5px; } th, td:first-child { white-space: normal; }
  .wide { /* a shadow at the edge beyond which there is more, under the white that goes with the table's end */
    background: linear-gradient(to left, #fff 50%, #fff0) right / 40px 100% no-repeat local,
      linear-gradient(to left, #b8c0ca, #fff0) right / 14px 100% no-repeat scroll;
  }
}
"""


def hardness(trajectory: Trajectory) -> np.ndarray:
    """States after a step, hardest step first: by its parts, then tolerance missed, then iterations, then residual."""
    keys = (trajectory.residual, trajectory.iterations, trajectory.at_acceptable, trajectory.sub_steps)
    order = np.lexsort([key[1:] for key in keys])[::-1]
    return 1 + order


def picture_times(trajectory: Trajectory) -> list[tuple[str, int]]:
    """States to draw, in the order of time, each with what it is."""
    count = len(trajectory.time)
    chosen = {round(k * (count - 1) / (PICTURES - 1)): "" for k in range(PICTURES)}
    if count > 1:
        chosen[int(hardness(trajectory)[0])] = ", after the hardest step"
    return [(f"t = {trajectory.time[state]:.4g} s{note}", state) for state, note in sorted(chosen.items())]


def number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000.0 else f"{value:.0f}"


def table(header: typing.Sequence[str], rows: typing.Sequence[typing.Sequence[str]]) -> str:
    cells = ["".join(f"<th>{html.escape(text)}</th>" for text in header)]
    cells += ["".join(f"<td>{html.escape(text)}</td>" for text in row) for row in rows]
    return '<div class="wide"><table>' + "".join(f"<tr>{row}</tr>" for row in cells) + "</table></div>"


def residual_table(trajectory: Trajectory) -> str:
    """How residuals, penetration, iterations and times are spread over the steps."""
    rows = {
        "worst scaled residual": trajectory.residual[1:],
        "deepest penetration before the step (mm)": 1e3 * trajectory.penetration[1:],
        "iterations of the solver": trajectory.iterations[1:],
        "contacts": np.diff(trajectory.contact_offsets)[1:],
        "wall time of the step (µs)": 1e6 * trajectory.seconds[1:].sum(axis=1),
        "of it the solver (µs)": 1e6 * trajectory.seconds[1:, STAGES.index("solve")],
    }
    body = [[name, *(number(np.percentile(values, share)) for _, share in SHARES)] for name, values in rows.items()]
    return table(["of all steps", *(name for name, _ in SHARES)], body)


def parts_table(trajectory: Trajectory) -> str:
    """How the parts of the certificate are spread over the steps, those that were the worst most often first."""
    worst = trajectory.worst_parts()[1:]
    rows = [
        [
            name.replace("_", " "),
            str(worst.count(name)),
            *(number(np.percentile(values, share)) for _, share in SHARES),
        ]
        for name, values in zip(trajectory.certificate_names, trajectory.certificate[1:].T, strict=True)
        if values.any()
    ]
    rows.sort(key=lambda row: -int(row[1]))
    return table(["part of the certificate", "worst in steps", *(name for name, _ in SHARES)], rows)


def hard_table(trajectory: Trajectory) -> str:
    header = (
        "led to t (s)",
        "residual",
        "worst part",
        "iterations",
        "parts",
        "tolerance",
        "contacts",
        *CONTACT_MODES,
        "solver (µs)",
    )
    rows, worst = [], trajectory.worst_parts()
    for state in hardness(trajectory)[:HARDEST]:
        modes = trajectory.contact_modes[trajectory.contacts(state)]
        rows.append(
            [
                f"{trajectory.time[state]:.6g}",
                number(trajectory.residual[state]),
                worst[state].replace("_", " "),
                str(trajectory.iterations[state]),
                str(trajectory.sub_steps[state]),
                "missed" if trajectory.at_acceptable[state] else "met",
                str(len(modes)),
                *(str(int((modes == mode).sum())) for mode in range(len(CONTACT_MODES))),
                number(1e6 * trajectory.seconds[state, STAGES.index("solve")]),
            ]
        )
    return table(header, rows)


def summary(trajectory: Trajectory) -> str:
    steps, t = len(trajectory.time) - 1, trajectory.time
    mass, force = float(trajectory.body_mass.sum()), frames.normal_force(trajectory)[1:]
    rows = [
        ["bodies that move, coordinates", f"{int((trajectory.body_mass > 0).sum())}, {trajectory.q.shape[1]}"],
        ["mass", f"{mass:.4g} kg"],
        ["simulated time", f"{t[-1] - t[0]:.6g} s in {steps} steps"],
    ]
    if trajectory.gravity is not None:
        rows[1] = ["mass, weight", f"{mass:.4g} kg, {mass * np.linalg.norm(trajectory.gravity):.4g} N"]
    if trajectory.status:
        end = trajectory.early_end()
        rows.append(["end", f"before its duration was over, at {end}" if end else trajectory.status])
    else:
        rows.append(["end", "not recorded"])
    if trajectory.law:
        rows.append(["law, scheme", f"{trajectory.law}, {trajectory.scheme}"])
    if trajectory.dt is not None and trajectory.tolerance is not None:
        rows.append(["step, tolerance", f"{trajectory.dt:g} s, {trajectory.tolerance:g}"])
    if steps:
        wall = float(trajectory.seconds.sum())
        rows += [
            [
                "wall time of the steps, control not counted",
                f"{wall:.3g} s, {(t[-1] - t[0]) / max(wall, 1e-12):.3g} times real time",
            ],
            ["steps that missed the tolerance", str(int(trajectory.at_acceptable.sum()))],
            ["steps taken in parts", str(int((trajectory.sub_steps > 1).sum()))],
            ["steps with torques cut to limits", str(int((trajectory.saturated > 0).sum()))],
            ["mean normal force", f"{force.mean():.4g} N"],
        ]
    return table(["run", ""], rows)


def _svg(figure) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    plot.pyplot().close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]


def pictures(
    trajectory: Trajectory,
    visuals: typing.Sequence[VisualShape | VisualTendon] = (),
    size: tuple[int, int] = PICTURE_SIZE,
) -> str:
    """Pictures of some states as <figure>s, drawn by a headless Chromium.

    visuals: what the bodies look like, beside what collides. Raises ViewError where there is no Chromium,
    ImportError without viser.
    """
    from .browser import Browser, find_chromium

    find_chromium()
    out = []
    page = view.to_html(trajectory, names=["run"], visuals=visuals)
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        file = pathlib.Path(folder, "page.html")
        file.write_text(page, encoding="utf-8")
        browser.open(f"{file}#plain", size)
        legend = browser.evaluate("document.getElementById('legend').innerHTML")
        browser.evaluate("document.getElementById('overlay').remove(); stiction.page.options.follow = true")
        for caption, state in picture_times(trajectory):
            browser.seek(float(trajectory.time[state]))
            data = base64.b64encode(browser.still_picture()).decode("ascii")
            image = f'<img alt="{html.escape(caption)}" src="data:image/png;base64,{data}">'
            out.append(f"<figure>{image}<figcaption>{html.escape(caption)}</figcaption></figure>")
    return f'<div class="grid pictures">{"".join(out)}</div><p class="note legend">{legend}</p>'


def report(trajectory: Trajectory, title: str, images: str) -> str:
    """The page. images: what `pictures` made, or a word on why there are none. Needs matplotlib."""
    parts = [f"<h1>{html.escape(title)}</h1>", summary(trajectory), "<h2>Pictures</h2>", images]
    if len(trajectory.time) > 1:
        parts += ["<h2>Residuals and times</h2>", residual_table(trajectory)]
        parts.append(
            '<p class="note">The residual is the largest of the certificate, each part scaled by the size that the '
            "problem gives it (docs/certificate.md).</p>"
        )
        if trajectory.certificate_names:
            parts.append(parts_table(trajectory))
        parts.append("<h2>The steps that were hard</h2>")
        parts.append(hard_table(trajectory))
        parts.append(
            '<p class="note">First those that were taken in several parts, then those that missed the tolerance, '
            "then by iterations and residual.</p><h2>Over time</h2>"
        )
        drawn = [f"<figure>{_svg(plot.narrow_figure(panel))}</figure>" for panel in figures.panels_of(trajectory)]
        parts.append(f'<div class="grid plots">{"".join(drawn)}</div>')
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title>'
    )
    return (
        f"<!doctype html><html lang=en><head>{head}<style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def main(arguments: typing.Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="stiction report", description="A web page about a recorded run: pictures, figures, residuals, hard steps."
    )
    parser.add_argument("run", help="trajectory (.npz or .mcap)")
    parser.add_argument("--html", metavar="FILE", help="file to write (default: RUN-report.html)")
    parser.add_argument("--robot", metavar="FILE", help="URDF or MJCF: what the robot of the run looks like")
    parser.add_argument("--no-pictures", action="store_true", help="leave the pictures out: they take a browser")
    options = parser.parse_args(arguments)
    source = pathlib.Path(options.run)
    file = pathlib.Path(options.html or f"{source.stem}-report.html")

    def write() -> None:
        command.require_file("--html", str(file), ".html")
        trajectory = Trajectory.load(source)
        command.tell_end(f"stiction report: {source}", trajectory)
        if options.robot and not os.path.isfile(options.robot):
            raise FileError(f"--robot: {options.robot}: no such file")
        images = '<p class="note">Left out.</p>'
        try:
            visuals = view.robot_visuals(options.robot, trajectory) if options.robot else []
            if not options.no_pictures:
                images = pictures(trajectory, visuals)
        except (RuntimeError, ImportError) as missing:
            if not options.no_pictures:
                print(f"stiction report: without pictures: {command.said(missing)}", file=sys.stderr)
        command.write(file, report(trajectory, source.stem, images))
        print(file)

    return command.run("stiction report", write)


if __name__ == "__main__":
    sys.exit(main())
