"""Names, numbers and labels of the plots of stiction view, read off the page in a real browser."""

import json

import numpy as np
import pytest

import stiction
from stiction import frames, view
from stiction.trajectory import of_simulation

pytest.importorskip("viser", reason="stiction view needs viser")

SIZE = (900, 400)
NONE = "\N{EN DASH}"  # in place of a number
FOUR_DIGITS = 6e-4  # relative
# What a chart writes at its axes: text, and the middle of where it stands (pixels); and the colours of its curves.
DRAWN = """(chart => {
  const out = { x: [], y: [], strokes: [] }, own = CanvasRenderingContext2D.prototype, { fillText, stroke } = own;
  own.fillText = function (text, x, y) {
    const half = this.measureText(text).width / 2;
    this.textAlign === "center" ? out.x.push([text, x, half]) : out.y.push([text, y, 2 * half]);
  };
  own.stroke = function () { out.strokes.push(this.strokeStyle); };
  try { chart.draw(); } finally { Object.assign(own, { fillText, stroke }); }
  out.times = out.x.map(([text, x]) => chart.timeAt(x));
  out.heights = out.y.map(([text]) => chart.yOf(Number(text)));
  out.width = chart.canvas.clientWidth;
  return JSON.stringify(out);
})"""
# Of every state the numbers above the plots, by title and curve.
READ = """(p => JSON.stringify([...p.views[0].states.times].map(t => {
  p.player.time = t;
  p.draw();
  const numbers = chart => [...chart.values.querySelectorAll("u")].map(u => u.textContent);
  return Object.fromEntries([...p.charts.values()].map(chart => [chart.title, numbers(chart)]));
})))(stiction.page)"""
# All plots, of runs of many curves too.
OPEN = """document.querySelectorAll('#plots .chip[aria-pressed="false"]').forEach(chip => chip.click())"""


@pytest.fixture(scope="module")
def window(headless):
    with headless.Browser() as window:
        yield window


@pytest.fixture
def show(window, tmp_path):
    """Shows runs, by their names, with all plots."""

    def shown(**runs):
        page = tmp_path / "page.html"
        page.write_text(view.to_html(*runs.values(), names=list(runs)), encoding="utf-8")
        window.open(page, SIZE)
        window.evaluate(OPEN)
        return window

    return shown


def ball_that_bounces(steps, dt):
    """Its plots have spikes of one state: of every bounce."""
    world = stiction.World()
    world.add_ground(restitution=0.9)
    world.add_body("ball", stiction.Shape.sphere(0.02), mass=1.0, position=(0, 0, 0.021), restitution=0.9)
    return of_simulation(stiction.simulate(world, duration=steps * dt, dt=dt))


@pytest.fixture(scope="module")
def bounces():
    return ball_that_bounces(600, 1e-3)


def numbers_of(run, states, chart):
    """What stands above a plot in these states: no step led to the first."""
    out = []
    for state in states:
        values = chart.values[state]
        if state == 0 and not chart.of_states:
            values = np.full(len(values), np.nan)
        if chart.log and len(values) > 1:
            values = values[values > 0.0]
        out.append(values)
    return out


def require_numbers(window, run, states):
    shown = json.loads(window.evaluate(READ))
    assert len(shown) == len(states)
    for chart in frames.charts_of(run):
        for told, expected in zip((row[chart.title] for row in shown), numbers_of(run, states, chart), strict=True):
            told = [float("nan") if text == NONE else float(text) for text in told]
            np.testing.assert_allclose(told, expected, rtol=FOUR_DIGITS, atol=1e-40, err_msg=chart.title)


def test_numbers_above_a_plot_are_those_of_the_state_shown(show, bounces):
    window = show(ball=bounces)
    force = frames.normal_force(bounces)
    assert (np.abs(np.diff(force)) > 0.5 * force.max()).sum() > 10  # a state too early would be seen
    require_numbers(window, bounces, range(len(bounces.time)))
    assert window.complaints == []


@pytest.mark.parametrize("bytes_of_states", [6e6, 2e4])
def test_in_a_long_run_too(show, bounces, monkeypatch, bytes_of_states):
    """Whose curves have the extremes of stretches, and whose states are not all kept where there are too many."""
    monkeypatch.setattr(frames, "CURVE_POINTS", 100)
    monkeypatch.setattr(frames, "STATES_BYTES", bytes_of_states)
    window = show(ball=bounces)
    times = np.array(json.loads(window.evaluate("JSON.stringify([...stiction.page.views[0].states.times])")))
    states = np.searchsorted(bounces.time, times)
    np.testing.assert_array_equal(bounces.time[states], times)
    assert (len(states) == len(bounces.time)) == (bytes_of_states == 6e6)
    assert window.evaluate("[...stiction.page.charts.values()][0].runs[0].time.length") == 200
    require_numbers(window, bounces, states)


def curves_of(window):
    """(title, run, name, number, colour) of all curves, from what stands above the plots."""
    told = """JSON.stringify([...stiction.page.charts.values()].flatMap(c => [...c.values.querySelectorAll("i")].map(
      i => [c.title, i.firstChild.textContent, i.querySelector("u").textContent, getComputedStyle(i).color])))"""
    out = []
    for title, label, number, color in json.loads(window.evaluate(told)):
        run, _, name = label.strip()[2:].partition(": ")
        out.append((title, run, name, number, color))
    return out


@pytest.mark.parametrize("pair", [("quadruped", "biped"), ("biped", "quadruped")])
def test_curves_of_two_robots_have_their_own_names(show, pair):
    runs = {name: of_simulation(stiction.simulate(name, duration=0.01)) for name in pair}
    window = show(**runs)
    window.seek(0.005)
    expected, told = [], curves_of(window)
    for run, trajectory in runs.items():
        state = int(np.flatnonzero(trajectory.time <= 0.005 + 1e-9)[-1])
        for chart in frames.charts_of(trajectory):
            numbers = dict(zip(chart.names, chart.values[state], strict=True))
            seen = [name for name in chart.names if not (chart.log and len(chart.names) > 1) or numbers[name] > 0.0]
            expected += [(chart.title, run, name, numbers[name]) for name in seen]
    assert {row[:3] for row in expected} == {row[:3] for row in told}
    numbers = {row[:3]: float(row[3]) for row in told}
    for *curve, number in expected:
        assert numbers[tuple(curve)] == pytest.approx(number, rel=FOUR_DIGITS, abs=1e-40)
    for title in {row[0] for row in told}:
        colors = {(name, color) for t, _, name, _, color in told if t == title}
        assert len({name for name, _ in colors}) == len(colors) == len({color for _, color in colors}), title


def test_the_same_part_of_two_certificates_has_one_colour_in_curves_too(show):
    runs = {}
    for law in ("coulomb_cone", "anitescu"):
        world = stiction.World(friction=0.3)
        world.add_ground()
        box = stiction.Shape.box((0.2, 0.2, 0.1))
        world.add_body("box", box, mass=2.0, position=(0, 0, 0.05), velocity=(1.0, 0, 0))
        runs[law] = of_simulation(stiction.simulate(world, duration=0.2, dt=0.01, law=law))
    names = {
        law: next(chart.names for chart in frames.charts_of(run) if chart.title == frames.PARTS)
        for law, run in runs.items()
    }
    assert names["coulomb_cone"] != names["anitescu"]  # else nothing is shown
    window = show(**runs)
    chart = f"stiction.page.charts.get({frames.PARTS!r})"
    strokes = json.loads(window.evaluate(f"{DRAWN}({chart})"))["strokes"]  # the first run's are drawn last
    second, first = strokes[: len(names["anitescu"])], strokes[len(names["anitescu"]) :]
    colors = {}
    for name, color in [*zip(names["coulomb_cone"], first, strict=True), *zip(names["anitescu"], second, strict=True)]:
        assert colors.setdefault(name, color) == color
    assert len(set(colors.values())) == len(colors)


def test_names_are_text(show, bounces):
    window = show(**{"<b>a</b> & <img src=x onerror=console.error(1)>": bounces, "b": bounces})
    told = window.evaluate("[...stiction.page.charts.values()][0].values.textContent")
    assert "<b>a</b> & <img src=x onerror=console.error(1)>: simulated" in told
    assert window.complaints == []


SPANS = [(0, 1.6e-4), (12.3451, 12.3459), (0, 10), (0, 1e-6), (0.3, 0.9), (998.5, 1001.5), (5e-4, 6e-4), (0, 86400)]


@pytest.mark.parametrize(("low", "high"), SPANS)
def test_labels_of_times_say_where_they_stand(show, bounces, window, low, high):
    if window.evaluate("window.stiction?.page === undefined"):
        show(ball=bounces)
    window.evaluate(f"Object.assign(stiction.page.player, {{ range: [{low}, {high}] }}); 0")
    drawn = json.loads(window.evaluate(f"{DRAWN}([...stiction.page.charts.values()][0])"))
    labels = [text for text, _, _ in drawn["x"]]
    assert 3 <= len(labels) == len(set(labels)) <= 8
    ends = [x + half for _, x, half in drawn["x"]]
    assert max(ends) <= drawn["width"]
    np.testing.assert_array_less(
        [x + half for _, x, half in drawn["x"][:-1]], [x - half for _, x, half in drawn["x"][1:]]
    )
    # A label at the edge is moved inwards to be seen whole: of that the time is another.
    at = [k for k, (_, x, half) in enumerate(drawn["x"]) if x + half < drawn["width"] - 2]
    np.testing.assert_allclose(
        [float(labels[k]) for k in at], [drawn["times"][k] for k in at], atol=1e-6 * (high - low)
    )


VALUES = [(10000, 12000), (-2e-4, 3e-4), (1e6, 1.0004e6), (0, 1), (-1.25e-12, 3e-12), (-5, -5), (0, 3e-9), (2, 12345)]


@pytest.mark.parametrize(("low", "high"), [*VALUES, (0, 0)])
def test_labels_of_values_say_where_they_stand(show, bounces, window, low, high):
    if window.evaluate("window.stiction?.page === undefined"):
        show(ball=bounces)
    chart = "[...stiction.page.charts.values()][0]"
    curve = f"{{ time: [0, 1], curves: [[{low}, {high}]], names: ['a'], run: 'r', view: {chart}.runs[0].view }}"
    window.evaluate(
        f"stiction.page.player.range = [0, 1]; (c => {{ c.kept ??= c.runs; c.runs = [{curve}]; }})({chart}); 0"
    )
    try:
        drawn = json.loads(window.evaluate(f"{DRAWN}({chart})"))
    finally:
        window.evaluate(f"(c => {{ c.runs = c.kept; }})({chart}); 0")
    labels = [text for text, _, _ in drawn["y"]]
    assert 2 <= len(labels) == len(set(labels)) <= 8
    np.testing.assert_allclose([y for _, y, _ in drawn["y"]], drawn["heights"], atol=0.1)  # pixels
    assert max(wide for _, _, wide in drawn["y"]) <= window.evaluate("LEFT - 5")
    if low == high == 0:
        assert max(map(float, labels)) >= 0.2  # not the rounding of nothing


def test_numbers_have_four_digits(show, bounces, window):
    if window.evaluate("window.stiction?.page === undefined"):
        show(ball=bounces)
    for value in (12345.0, 10500.0, 5.5e-4, 9.996e-4, 12.3456, 1.23456e-7, -98765.0, 0.0, 1e-12, 1.5e300):
        told = window.evaluate(f"short({value!r})")
        assert float(told) == pytest.approx(value, rel=5.1e-4, abs=0.0)
        assert len(told) <= 10


@pytest.mark.parametrize(
    ("dt", "clock"), [(1e-2, "0.020"), (1e-3, "0.002"), (1e-4, "0.0002"), (2.5e-4, "0.00050"), (1 / 240, "0.0083")]
)
def test_the_clock_has_the_digits_of_the_step(show, dt, clock):
    window = show(ball=ball_that_bounces(3, dt))
    window.seek(2 * dt)
    assert window.evaluate("document.getElementById('clock').textContent").startswith(f"{clock} / ")


def test_a_long_name_stays_in_the_picture(show, bounces):
    window = show(**{"x" * 300: bounces, "y" * 300: bounces})
    right = "document.querySelector({!r}).getBoundingClientRect().right".format
    for what, where in (("#title", "#root"), (".chart i", "#charts"), ("#show .chip:last-child", "#side")):
        assert window.evaluate(right(what)) <= window.evaluate(right(where))
    assert window.evaluate("(title => title.scrollWidth <= title.clientWidth)(document.getElementById('title'))")
