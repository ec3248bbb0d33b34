"""Error against time per step: bodies on planes, known in closed form, in every engine and at five step lengths.

Sections of docs/benchmarks.md that are measured elsewhere: SimBenchmark's tests (simbenchmark.py) and robots under
control (robot_runs.py).

The error is that of the position after 1 s, over the way known in closed form (m/m), or in metres where the body rests.
The time is the processor's of a step in the mean, collision included, over that of MuJoCo's defaults at 1 ms.
"""

import dataclasses
import re
import time
from collections.abc import Callable

import numpy as np
import robot_runs
import simbenchmark
from scene_engines import ENGINES, GRAVITY, MuJoCo, MuJoCoElliptic, Stiction, StictionTodorov, mjcf
from scene_shapes import Body, Scene, Shape, quaternion_of, rotate
from small_scenes import STIFF, stiff_geom

STEPS = (8e-3, 4e-3, 2e-3, 1e-3, 5e-4)  # s
DURATION = 1.0  # s


class MuJoCoStiff(MuJoCo):
    name, differs = "MuJoCo stiff", "elliptic cones, noslip, time constant of two steps"

    def xml(self, scene):
        text = mjcf(scene, "elliptic").replace('cone="elliptic"', STIFF["option"])
        return text.replace("<default><geom ", f"<default><geom {stiff_geom(scene.dt)} ")


class StictionMidpoint(Stiction):
    name, scheme = "stiction midpoint", "moreau_midpoint"
    differs = "its scheme `moreau_midpoint`"


@dataclasses.dataclass
class Known:
    """A scene of one body; `way` it has gone along `along` after 1 s (m), 0 where it stays."""

    name: str
    body: Body
    friction: float
    along: np.ndarray
    way: float
    normal: np.ndarray = dataclasses.field(default_factory=lambda: np.array([0.0, 0, 1]))

    def scene(self, dt):
        return Scene(self.name, [self.body], dt, DURATION, self.friction, [(np.zeros(3), self.normal)])


def on_slope(name, angle, friction, way):
    """A box of 20 x 20 x 10 cm at rest on a plane turned by the angle about y."""
    turn = quaternion_of([0, 1, 0], angle)
    normal, down = rotate(turn, np.array([0.0, 0, 1])), rotate(turn, np.array([1.0, 0, 0]))
    return Known(name, Body(Shape("box", (0.2, 0.2, 0.1)), 1.0, 0.05 * normal, turn), friction, down, way, normal)


def known_scenes():
    g, slope, speed = GRAVITY, np.radians(30), 2.0
    x = np.array([1.0, 0, 0])
    rolls = 2 * speed / (7 * 0.2 * g)  # s, until the ball rolls: then at 5/7 of its speed
    return [
        on_slope("box slides down 30 degrees", slope, 0.3, 0.5 * g * (np.sin(slope) - 0.3 * np.cos(slope))),
        on_slope("box sticks on 15 degrees", np.radians(15), 0.5, 0.0),
        Known(
            "box slides until it stops",
            Body(Shape("box", (0.2, 0.2, 0.1)), 1.0, np.array([0, 0, 0.05]), velocity=speed * x),
            0.5,
            x,
            speed**2 / (2 * 0.5 * g),
        ),
        Known(
            "ball slides until it rolls",
            Body(Shape("sphere", (0.1,)), 1.0, np.array([0, 0, 0.1]), velocity=speed * x),
            0.2,
            x,
            speed * rolls - 0.5 * 0.2 * g * rolls**2 + 5 / 7 * speed * (DURATION - rolls),
        ),
    ]


def engines():
    chosen = [kind for kind in ENGINES if kind not in (MuJoCoElliptic, StictionTodorov)]
    return [chosen[0], MuJoCoStiff, chosen[1], StictionMidpoint, *chosen[2:]]


def measure(known, kind, dt, rounds):
    """Error at the end, and processor time of a step (s), the least of the rounds."""
    times, engine = [], None
    for _ in range(rounds):
        del engine  # Bullet is one world at a time
        engine = kind(known.scene(dt))
        start = engine.poses()[0][0]
        steps = round(DURATION / dt)
        before = time.process_time()
        for _ in range(steps):
            engine.step()
        times.append((time.process_time() - before) / steps)
    gone = engine.poses()[0][0] - start
    error = abs(known.along @ gone - known.way) / known.way if known.way else np.linalg.norm(gone)
    return float(error), min(times)


def measure_accuracy(rounds, tell):
    rows = []
    for known in known_scenes():
        unit = None
        for kind in engines():
            rests = known.way == 0.0
            label = "moved (m)" if rests else "error of the way"
            row = {"scene": known.name, "engine": kind.name, "rests": rests, "label": label}
            if reason := kind.missing() or kind.refuses(known.scene(STEPS[0])):
                row["missing"] = reason
            else:
                figures = [measure(known, kind, dt, rounds) for dt in STEPS]
                unit = unit or figures[STEPS.index(1e-3)][1]
                row |= {"error": [f[0] for f in figures], "time": [f[1] / unit for f in figures]}
            rows.append(row)
            tell(row)
    return rows


HEAD = (
    "scene | engine | error at " + ", ".join(f"{1e3 * dt:g}" for dt in STEPS) + " ms | time of a step at 1 ms, MuJoCo's"
)


def accuracy_row(row):
    if "missing" in row:
        return f"| {row['scene']} | {row['engine']} | {row['missing']} | |"
    unit = " m" if row["rests"] else ""
    errors = ", ".join(f"{e:.1e}" for e in row["error"]) + unit
    return f"| {row['scene']} | {row['engine']} | {errors} | {row['time'][STEPS.index(1e-3)]:.2f} |"


PAGE = """# Error against time per step

Written by `bench/compare --only accuracy --rounds {rounds} --markdown docs/benchmarks.md`, each section one run of one
program for all engines (`--accuracy` names one). Here: one body on a plane whose motion is known in closed form. Step
lengths of {steps} ms. What the engines are like, each at its defaults but for

{engines}

The bodies start in touch, which for engines with soft contacts is above where they rest.

- *error*: of the position after 1 s, over the way known in closed form; of a box that should rest, how far it moved
  (m).
- *time*: processor time of a step in the mean, collision and the call from Python included, least of {rounds} runs,
  over that of MuJoCo's defaults at 1 ms in the same scene.

A scheme of first order ends half a step's way off: that part is the same in every engine, and halves with the step;
what does not halve is the contact model's.

![error against time per step](benchmarks.svg)

| {head} |
| --- | --- | --- | --- |
"""


SIMBENCHMARK = """
## SimBenchmark: rolling, bouncing, 666, elastic 666

Of Kang and Hwangbo's benchmark ([SimBenchmark](https://leggedrobotics.github.io/SimBenchmark/)), with its metrics.

- *rolling*: 25 balls on a plate that 150 N pull along the ground for 4 s at 60 degrees to the axes; the mean of
  |v - v_known|² of the plate and of a ball, added. Where friction is a pyramid, it is weaker in that direction.
- *bouncing*: 49 balls with restitution 1 for 20 s; the mean of (E / E_0 - 1)². A first-order step changes the energy of
  free fall by half a step's way.
- *666*: 216 balls without friction, dropped for 10 s; the mean of the sum of squares of all overlaps (m²).
- *elastic 666*: the same balls with restitution 1; the error of bouncing. A ball that another throws against a third
  within one step bounces off that in the next.

Errors are means over the steps; (to N %): the run met the limit of {limit:g} s of processor time, or its solver gave up
there. Restitution is a coefficient of impacts, which soft contacts do not have.

| {head} |
| --- | --- | --- | --- |
"""


ROBOTS = """
## Robots under control

A quadruped stands and trots, SimBenchmark's ANYmal stands, a UR10 follows a sinusoid of 0.5 rad and 0.5 Hz: in every
engine the same model file, without limits, damping, or shapes but the spheres of the feet; the same gains; torques from
the state at the start of a step, held over it; the same measures, of the engines' own states. The gains of the
quadruped are those of the joints in *Inverse Dynamics with Rigid Contact and Friction*, its friction is 0.8; ANYmal has
SimBenchmark's gains, pose and height of fall, which measures speed alone; 4 s, trot and arm 2 s.

- *error* against what is known: *stands*, friction holds the feet, and the error is the way along the ground of the one
  that moves most in the last 0.9 s (m), in which balls still roll by 0.2 µm; *UR10, computed torque*, the wanted
  motion; *UR10, PD*, the motion that its equations have by Runge-Kutta's method of fourth order at 0.1 ms. The last
  two: means over joints and times of |q - q_known| (rad).
- *error* against the engine's own limit, *trots* and *ANYmal*, for which nothing closed is known: mean of
  |q - q_limit| (rad), its own run at 0.0625 ms. *limit*: how far that run is from stiction's, mean over joints and
  times (rad); the part of an engine's contact model that no shorter step takes away.
- at 1 ms: *tracking*, mean of |q - q_wanted| (rad); *deepest*, a foot in the ground (mm); *force*, mean of
  |vertical force / weight - 1| in the last 0.9 s; of the trot, that of the mean force.

Torques of these gains that are held for 2 ms make the wrist of the UR10 swing up.

![error against time per step](benchmarks_robots.svg)

| {head} |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def known_page(rows, rounds):
    steps = ", ".join(f"{1e3 * dt:g}" for dt in STEPS)
    like = "\n".join(f"- {kind.name}: {kind.differs}" for kind in engines())
    head = PAGE.format(steps=steps, rounds=rounds, head=HEAD, engines=like)
    return head + "\n".join(map(accuracy_row, rows)) + "\n"


def simbenchmark_page(rows, rounds):
    head = SIMBENCHMARK.format(head=simbenchmark.HEAD, limit=simbenchmark.LIMIT)
    return head + "\n".join(simbenchmark.simbenchmark_row(row, rows) for row in rows) + "\n"


def robots_page(rows, rounds):
    return ROBOTS.format(head=robot_runs.HEAD) + "\n".join(map(robot_runs.robot_row, rows)) + "\n"


@dataclasses.dataclass
class Part:
    """A section of docs/benchmarks.md."""

    measure: Callable  # of the rounds and of what is told of each row
    page: Callable  # of its rows and the rounds
    figure: tuple | None = None  # what its file's name ends in, steps, columns of panels


PARTS = {
    "known": Part(measure_accuracy, known_page, ("", STEPS, 2)),
    "simbenchmark": Part(lambda rounds, tell: simbenchmark.measure_simbenchmark(engines(), tell), simbenchmark_page),
    "robots": Part(lambda rounds, tell: robot_runs.measure_robots(tell), robots_page, ("_robots", robot_runs.STEPS, 3)),
}


def write_page(measured, rounds, file):
    """Sections of the parts measured (name -> rows), those of the others as the file has them; and their figures."""
    kept = re.split(r"(?=^\n## )", file.read_text(), flags=re.MULTILINE) if file.exists() else []
    sections = dict(zip(PARTS, kept, strict=False))
    for name, rows in measured.items():
        sections[name] = PARTS[name].page(rows, rounds)
        if PARTS[name].figure:
            ending, steps, columns = PARTS[name].figure
            draw(rows, steps, columns, file.with_name(f"{file.stem}{ending}.svg"))
    file.write_text("".join(sections[name] for name in PARTS if name in sections))


def draw(rows, steps, columns, file):
    """A panel per scene, a line per engine over the step lengths. Needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "stiction"
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    names = list(dict.fromkeys(row["scene"] for row in rows))
    high = -(-len(names) // columns)
    figure, axes = plt.subplots(high, columns, figsize=(5 * columns, 3.5 * high), layout="constrained")
    for panel in axes.flat[len(names) :]:
        panel.axis("off")
    for name, panel in zip(names, axes.flat, strict=False):
        for k, row in enumerate(r for r in rows if r["scene"] == name):
            if "missing" in row:
                continue
            points = [
                (t * 1e-3 / dt, max(error, 1e-17))
                for t, dt, error in zip(row["time"], steps, row["error"], strict=True)
                if error is not None
            ]
            if points:
                panel.loglog(*zip(*points, strict=True), "o-", color=f"C{k}", label=row["engine"], markersize=3)
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("processor time of 1 s, over MuJoCo's at 1 ms")
        panel.set_ylabel(next(row["label"] for row in rows if row["scene"] == name))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=8)
    figure.savefig(file, metadata={"Date": None})
