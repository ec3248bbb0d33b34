"""stiction plot and stiction report: what they say of a run, against the run."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction import figures, frames, plot, report, sizes
from stiction.trajectory import CONTACT_MODES, of_simulation

pytest.importorskip("matplotlib")

COMMAND = Path(sys.executable).with_name("stiction")
MU, GRAVITY = 0.3, 9.81


@pytest.fixture(scope="module")
def trajectory():
    """A box that slides until t = v / (mu g), then sticks."""
    world = stiction.World(friction=MU)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
    world.set_velocity("box", (1.0, 0, 0))
    return of_simulation(stiction.simulate(world, duration=0.5, dt=0.01))


@pytest.fixture(scope="module")
def file(trajectory, tmp_path_factory):
    file = tmp_path_factory.mktemp("run") / "box.npz"
    trajectory.save(file)
    return file


def test_the_contact_diagram_slides_then_sticks(trajectory):
    names, edges, modes = figures.contact_diagram(trajectory)
    assert names == ["box"]
    assert len(edges) == modes.shape[1] + 1
    stop, middle = 1.0 / (MU * GRAVITY), 0.5 * (edges[1:] + edges[:-1])
    step = edges[1] - edges[0]
    assert (modes[0][middle < stop - step] == CONTACT_MODES.index("slip")).all()
    assert (modes[0][middle > stop + step] == CONTACT_MODES.index("stick")).all()


def test_the_figure_has_the_curves_of_the_run(trajectory):
    figure = figures.figure_of(trajectory)
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    force = panels[frames.FORCES].lines[0]
    np.testing.assert_allclose(force.get_xdata(), trajectory.time[1:])
    np.testing.assert_allclose(force.get_ydata(), 2.0 * GRAVITY, rtol=1e-9)
    assert "Contacts" in panels


def test_the_figure_of_one_step_has_a_mark_for_it():
    world = stiction.World()
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05), velocity=(1.0, 0, 0))
    run = of_simulation(stiction.simulate(world, duration=0.01, dt=0.01))
    panels = {axes.get_title(loc="left"): axes for axes in figures.figure_of(run).axes}
    force = panels[frames.FORCES].lines[0]
    assert force.get_marker() == "o"
    np.testing.assert_allclose(force.get_xydata(), [[0.01, 2.0 * GRAVITY]])
    x, start = panels[frames.CENTER].lines[0], panels[frames.CENTER].lines[0].get_xydata()[0]
    assert x.get_marker() in ("", "None")
    np.testing.assert_allclose(start, [0.0, 0.0], atol=1e-12)
    assert len(x.get_xdata()) == 2


def limits_of(axes):
    return tuple(map(float, axes.get_ylim()))


def test_what_differs_by_rounding_alone_is_drawn_as_a_constant(trajectory):
    """A force of 19.62 N to 1e-14 and a penetration of 1e-13 mm fill their panels with noise; 1 % of it is a curve."""
    import dataclasses

    random = np.random.default_rng(0).uniform(-1.0, 1.0, len(trajectory.time))

    def panels(**changes):
        drawn = figures.figure_of(dataclasses.replace(trajectory, **changes))
        drawn.canvas.draw()
        return {axes.get_title(loc="left"): axes for axes in drawn.axes}

    noisy = panels(penetration=1e-16 * (1.0 + random), contact_forces=trajectory.contact_forces * (1.0 + 1e-14))
    weight = 2.0 * GRAVITY
    low, high = limits_of(noisy[frames.FORCES])
    assert low < 0.96 * weight < 1.04 * weight < high
    assert max(len(label.get_text()) for label in noisy[frames.FORCES].get_yticklabels()) <= 5
    low, high = limits_of(noisy[frames.PENETRATION])
    assert low < -0.04 < 0.04 < high  # mm
    forces = (
        trajectory.contact_forces * (1.0 + 0.01 * random[1:].repeat(np.diff(trajectory.contact_offsets)[1:]))[:, None]
    )
    curve = panels(penetration=1e-6 * (1.0 + random), contact_forces=forces)
    for title, within in ((frames.FORCES, 0.03 * weight), (frames.PENETRATION, 2.5e-3)):
        low, high = limits_of(curve[title])
        assert high - low < within


def test_names_with_letters_of_a_formula_are_drawn_as_they_are(tmp_path):
    """matplotlib reads $ as the start of maths, and leaves what begins with _ out of a legend."""
    names = ["a$_$b", "_hidden", "%s $x$", "x_{1}^2$"]
    world = stiction.World()
    world.add_ground()
    for k, name in enumerate(names):
        world.add_body(name, stiction.Shape.sphere(0.1), mass=1.0, position=(0.3 * k, 0, 0.1))
    urdf = '<robot name="r"><link name="root"/>'
    for name in ("_one$^$", "two$_$"):
        urdf += f"""<link name="tip {name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial></link><joint name="{name}" type="revolute"><parent link="root"/><child link="tip {name}"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>"""
    world.add_robot(urdf + "</robot>", position=(0, 3, 1))
    run = of_simulation(stiction.simulate(world, duration=0.03, dt=0.01, controller=lambda *_: np.array([1.0, 2.0])))
    drawn = figures.figure_of(run)
    drawn.canvas.draw()
    panels = {axes.get_title(loc="left"): axes for axes in drawn.axes}
    assert [label.get_text() for label in panels["Contacts"].get_yticklabels()] == names
    assert [text.get_text() for text in panels[frames.TORQUES].get_legend().get_texts()] == ["_one$^$", "two$_$"]
    for panel in figures.panels_of(run):
        plot.narrow_figure(panel).canvas.draw()
    plot.pyplot().close("all")
    run.save(tmp_path / "run.npz")
    done = subprocess.run(
        [COMMAND, "plot", tmp_path / "run.npz", "--out", tmp_path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def rows_of(page):
    return {re.sub("<.*?>", "", cells[0]): cells[1:] for cells in map(cells_of, re.findall("<tr>.*?</tr>", page))}


def test_the_weight_is_that_under_the_gravity_of_the_run():
    import dataclasses

    world = stiction.World(gravity=(0, 0, -1.62))
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.2)), mass=1000.0, position=(0, 0, 0.1))
    moon = of_simulation(stiction.simulate(world, duration=0.02, dt=0.01, law="anitescu", tolerance=1e-8))
    rows = rows_of(report.summary(moon))
    assert rows["mass, weight"] == ["1000 kg, 1620 N"]
    assert rows["mean normal force"] == ["1620 N"]
    assert rows["end"] == ["solved"]
    assert rows["law, scheme"] == ["anitescu, semi_implicit_euler"]
    assert rows["step, tolerance"] == ["0.01 s, 1e-08"]
    assert sizes.weight_of(moon) == sizes.arrow_force(moon) == 1620.0  # arrows: by the largest force without gravity
    afloat = dataclasses.replace(moon, gravity=np.zeros(3))
    assert sizes.weight_of(afloat) == 0.0
    np.testing.assert_allclose(sizes.arrow_force(afloat), np.linalg.norm(moon.contact_forces, axis=1).max(), rtol=1e-12)
    unsaid = {"status": "", "law": "", "scheme": "", "dt": None, "tolerance": None, "gravity": None}
    rows = rows_of(report.summary(dataclasses.replace(moon, **unsaid)))
    assert rows["mass"] == ["1000 kg"]
    assert rows["end"] == ["not recorded"]
    assert not {"mass, weight", "law, scheme", "step, tolerance"} & set(rows)


@pytest.fixture(scope="module")
def cut_short(tmp_path_factory):
    """A box that is out of reach, 1e9 m off, after 1.11 s: its scene."""
    scene = tmp_path_factory.mktemp("away") / "away.toml"
    box = '[[body]]\nname = "box"\nshape = "sphere"\nradius = 0.1\nmass = 1.0\nvelocity = [9e8, 0, 0]\n'
    scene.write_text(f"[simulation]\ndt = 0.01\nduration = 2.0\n{box}")
    return scene


@pytest.mark.parametrize("words", [["report", "--no-pictures"], ["plot"], ["view", "--html", "page.html"]])
def test_who_shows_a_run_that_was_cut_short_says_so(cut_short, tmp_path, words):
    stiction.simulate(cut_short).save(tmp_path / "away.npz")
    stiction.simulate(cut_short, duration=0.1).save(tmp_path / "whole.npz")
    for name, said in (
        ("away.npz", f"stiction {words[0]}: away.npz: ended at 1.11 s: numerical_error (reach)\n"),
        ("whole.npz", ""),
    ):
        call = [COMMAND, words[0], name, *words[1:]]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, said)
    if words[0] == "report":
        rows = rows_of((tmp_path / "away-report.html").read_text())
        assert rows["end"] == ["before its duration was over, at 1.11 s: numerical_error (reach)"]
        assert rows["simulated time"] == ["1.11 s in 111 steps"]


def test_a_scene_that_fails_as_it_is_shown_is_told_too(cut_short, tmp_path):
    page = tmp_path / "page.html"
    call = [COMMAND, "view", cut_short, "--html", page]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        0,
        f"stiction view: {cut_short}: ended at 1.11 s: numerical_error (reach)\n",
    )


def test_a_robot_that_is_not_of_the_run_is_refused(file, tmp_path, checkout):
    robot = checkout / "models" / "links.urdf"
    for words in ([], ["--no-pictures"]):
        call = [COMMAND, "report", file, "--html", tmp_path / "page.html", "--robot", robot, *words]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
        said = f"--robot: expected a file (.urdf, .xml) that shows bodies of the run, got {robot}"
        assert done.stderr == f"stiction report: {said}\n"


def test_hard_steps_come_in_the_order_that_the_page_says(trajectory):
    import dataclasses

    count = len(trajectory.time)
    iterations, parts, missed = (np.zeros(count, int) for _ in range(3))
    iterations[7], iterations[9], parts[5], missed[3] = 50, 60, 4, 1
    residual = np.full(count, 1e-12)
    run = dataclasses.replace(
        trajectory, iterations=iterations, sub_steps=parts, at_acceptable=missed, residual=residual
    )
    assert report.hardness(run)[:4].tolist() == [5, 3, 9, 7]
    assert 0 not in report.hardness(run)


def test_plot_writes_both_formats_of_a_run_and_of_an_experiment(file, tmp_path):
    for source in ([file], ["alpha", "--quick", "--alpha", "0.5"]):
        done = subprocess.run(
            [COMMAND, "plot", *source, "--out", tmp_path], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    for name in ("box", "alpha"):
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    again = tmp_path / "again"
    again.mkdir()
    subprocess.run([COMMAND, "plot", file, "--out", again], check=True, capture_output=True)
    assert (again / "box.svg").read_bytes() == (tmp_path / "box.svg").read_bytes()


@pytest.mark.parametrize(
    ("source", "word"),
    [
        (["absent.npz"], "no such file"),
        (["run.csv"], "expected a recorded run"),
        (["nonsense"], "stiction plot: experiment: expected one of"),
        (["alpha", "--nonsense"], "--nonsense"),
    ],
)
def test_plot_says_in_a_line_what_it_cannot(source, word):
    done = subprocess.run([COMMAND, "plot", *source], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_the_mean_normal_force_of_steps_in_parts_is_the_change_of_momentum():
    """Of a box that falls on its corner: m (g + v/T) at the end of the run, which starts at rest."""
    world = stiction.World()
    world.add_ground()
    turned = np.array([0.1, 0.2, 0.1, 1.0]) / np.sqrt(1.06)
    box = stiction.Shape.box((0.2, 0.16, 0.1))
    world.add_body("box", box, mass=2.0, position=(0, 0, 0.15), orientation=turned)
    trajectory = of_simulation(stiction.simulate(world, duration=0.3, dt=5e-3, sub_steps=3))
    assert (trajectory.sub_steps[1:] >= 3).all()
    x, y, z, w = trajectory.body_poses[-1, 1, 3:]
    up = (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y))  # in the axes of the box
    expected = 2.0 * (GRAVITY + trajectory.v[-1, :3] @ up / trajectory.time[-1])
    assert frames.normal_force(trajectory)[1:].mean() == pytest.approx(expected, rel=1e-9)
    assert f"<td>mean normal force</td><td>{expected:.4g} N</td>" in report.summary(trajectory)


def test_the_report_is_one_page_that_says_what_the_run_did(file, tmp_path, trajectory):
    page = tmp_path / "report.html"
    command = [COMMAND, "report", file, "--html", page, "--no-pictures"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{page}\n")
    text = page.read_text()
    assert not re.search(r"""(src|href)=["']?https?://""", text)
    rows = {re.sub("<.*?>", "", cells[0]): cells[1:] for cells in map(cells_of, re.findall("<tr>.*?</tr>", text))}
    assert rows["simulated time"] == ["0.5 s in 50 steps"]
    assert rows["worst scaled residual"][-1] == report.number(trajectory.residual.max())
    assert rows["mean normal force"] == [f"{2.0 * GRAVITY:.4g} N"]
    hardest = report.hardness(trajectory)[0]
    row = rows[f"{trajectory.time[hardest]:.6g}"]
    assert row[1] == trajectory.worst_parts()[hardest].replace("_", " ")
    assert row[2] == str(trajectory.iterations[hardest])
    counts = [int(cells[0]) for name, cells in rows.items() if name.replace(" ", "_") in trajectory.certificate_names]
    assert sum(counts) == (trajectory.residual[1:] > 0.0).sum()
    assert counts == sorted(counts, reverse=True)


def test_a_robot_that_is_not_there_is_refused_with_and_without_pictures(file, tmp_path):
    for words in ([], ["--no-pictures"]):
        command = [sys.executable, "-m", "stiction.report", file, "--html", tmp_path / "page.html"]
        command += ["--robot", "nope.urdf", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
        assert done.stderr == "stiction report: --robot: nope.urdf: no such file\n"


def test_a_report_says_which_part_of_the_certificate_was_the_worst(trajectory):
    import dataclasses

    names, count = trajectory.certificate_names, len(trajectory.time)
    certificate = np.full((count, len(names)), 1e-15)
    certificate[0], certificate[1:, names.index("cone")] = 0.0, 1e-12
    certificate[7, names.index("dissipation")] = 1e-8
    residual, iterations = certificate.max(axis=1), np.zeros(count, int)
    run = dataclasses.replace(trajectory, certificate=certificate, residual=residual, iterations=iterations)
    rows = list(map(cells_of, re.findall("<tr>.*?</tr>", report.hard_table(run))))
    assert rows[1][:3] == [f"{run.time[7]:.6g}", "1e-08", "dissipation"]
    assert {row[2] for row in rows[2:]} == {"cone"}
    parts = list(map(cells_of, re.findall("<tr>.*?</tr>", report.parts_table(run))))
    assert parts[1][:3] == ["cone", str(count - 2), "1e-12"]
    assert parts[2][:3] == ["dissipation", "1", "1e-15"]
    chart = next(chart for chart in frames.charts_of(run) if chart.title == frames.PARTS)
    assert chart.names == ["cone", "dissipation"]
    np.testing.assert_array_equal(chart.values[:, 1], certificate[:, names.index("dissipation")])


@pytest.mark.parametrize(("width", "letters"), [(390, 8.0), (320, 6.5)])  # pixels
def test_a_phone_shows_the_whole_width_of_a_report_in_letters_that_can_be_read(
    trajectory, tmp_path, width, letters, headless
):
    pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
    images = f'<div class="grid pictures"><figure><img src="{pixel}"></figure></div>'
    page = tmp_path / "report.html"
    page.write_text(report.report(trajectory, "a_run_with_a_name_that_is_longer_than_the_page_is_wide", images))
    with headless.Browser() as window:
        window.open(page, (width, 844), drawn=headless.LOADED)
        assert window.evaluate("innerWidth") == width
        assert window.evaluate("document.documentElement.scrollWidth") <= width
        right = "Math.max(...[...document.querySelectorAll('h1, .wide, .grid, img, svg')].map(e => %s))"
        assert window.evaluate(right % "e.getBoundingClientRect().right") <= width
        scale = "Math.min(...[...document.querySelectorAll('svg')].map(e => e.clientWidth / e.viewBox.baseVal.width))"
        assert plot.LETTERS * window.evaluate(scale) >= letters
        assert window.complaints == []


def test_narrow_plots_are_files_of_their_own(file, tmp_path):
    done = subprocess.run(
        [COMMAND, "plot", file, "--narrow", "--out", tmp_path / "new"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = {Path(line).name for line in done.stdout.splitlines()}
    assert {"box-normal-force-sum.svg", "box-contacts.png", "box-wall-time-per-step.svg"} <= names
    assert names == {entry.name for entry in (tmp_path / "new").iterdir()}


def test_what_cannot_be_written_is_said_with_option_and_path(file, tmp_path):
    (tmp_path / "there").write_text("a file")
    for words, said in {
        ("report", "--html", "page.htm"): "--html: expected a file name that ends in .html, got 'page.htm'",
        ("report", "--html", "none/page.html"): "--html: none/page.html: cannot be written: no folder none",
        ("plot", "--out", "there"): f"--out: there: cannot be written: {tmp_path / 'there'} is not a folder",
        ("plot", "--out", "there/new"): f"--out: there/new: cannot be written: {tmp_path / 'there'} is not a folder",
    }.items():
        module = "stiction.figures" if words[0] == "plot" else "stiction.report"
        command = [sys.executable, "-m", module, file, *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (2, f"stiction {words[0]}: {said}\n")
    assert [entry.name for entry in tmp_path.iterdir()] == ["there"]


def cells_of(row):
    return re.findall("<t[dh]>(.*?)</t[dh]>", row)


def test_the_report_has_pictures_of_start_end_and_the_hardest_step(trajectory, headless):
    pytest.importorskip("viser", reason="pictures need viser")
    times = dict(report.picture_times(trajectory))
    assert {0, len(trajectory.time) - 1, int(report.hardness(trajectory)[0])} <= set(times.values())
    images = report.pictures(trajectory, size=(240, 150))
    assert images.count("<img") == len(times)
    assert "after the hardest step" in images
    assert "1 m of arrow" in images
