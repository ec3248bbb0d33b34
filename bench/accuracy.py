"""Error against time per step: bodies on planes, known in closed form, in every engine and at five step lengths.

The error is that of the position after 1 s, over the way known in closed form (m/m), or in metres where the body rests.
The time is the processor's of a step in the mean, collision included, over that of MuJoCo's defaults at 1 ms.
"""

import dataclasses
import time

import numpy as np
import simbenchmark
from scene_engines import ENGINES, GRAVITY, MuJoCo, MuJoCoElliptic, Stiction, StictionTodorov, mjcf
from scene_shapes import Body, Scene, Shape, quaternion_of, rotate
from small_scenes import STEP, STIFF

STEPS = (8e-3, 4e-3, 2e-3, 1e-3, 5e-4)  # s
DURATION = 1.0  # s


class MuJoCoStiff(MuJoCo):
    name, differs = "MuJoCo stiff", "elliptic cones, noslip, time constant of two steps"

    def xml(self, scene):
        geom = STIFF["geom"].replace(str(2.001 * STEP), str(2.001 * scene.dt))
        text = mjcf(scene, "elliptic").replace('cone="elliptic"', STIFF["option"])
        return text.replace("<default><geom ", f"<default><geom {geom} ")


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
            row = {"scene": known.name, "engine": kind.name, "rests": known.way == 0.0}
            if reason := kind.missing() or kind.refuses(known.scene(STEPS[0])):
                row["missing"] = reason
            else:
                figures = [measure(known, kind, dt, rounds) for dt in STEPS]
                unit = unit or figures[STEPS.index(1e-3)][1]
                row |= {"error": [f[0] for f in figures], "time": [f[1] / unit for f in figures]}
            rows.append(row)
            tell(row)
    return rows


def measure_simbenchmark(tell):
    return simbenchmark.measure_simbenchmark(engines(), tell)


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

Written by `bench/compare --only accuracy --markdown docs/benchmarks.md`: one body on a plane whose motion is known in
closed form, one run of one program for all engines. Step lengths of {steps} ms. What the engines are like, each at its
defaults but for

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
## SimBenchmark: rolling, bouncing, 666

Of Kang and Hwangbo's benchmark ([SimBenchmark](https://leggedrobotics.github.io/SimBenchmark/)), with its metrics.

- *rolling*: 25 balls on a plate that 150 N pull along the ground for 4 s at 60 degrees to the axes; the mean of
  |v - v_known|² of the plate and of a ball, added. Where friction is a pyramid, it is weaker in that direction.
- *bouncing*: 49 balls with restitution 1 for 20 s; the mean of (E / E_0 - 1)². A first-order step changes the energy of
  free fall by half a step's way.
- *666*: 216 balls without friction, dropped for 10 s; the mean of the sum of squares of all overlaps (m²).

Errors are means over the steps; (to N %): the run met the limit of {limit:g} s of processor time, or its solver gave up
there. Restitution is a coefficient of impacts, which soft contacts do not have.

| {head} |
| --- | --- | --- | --- |
"""


def accuracy_page(rows, balls, rounds):
    steps = ", ".join(f"{1e3 * dt:g}" for dt in STEPS)
    like = "\n".join(f"- {kind.name}: {kind.differs}" for kind in engines())
    return (
        PAGE.format(steps=steps, rounds=rounds, head=HEAD, engines=like)
        + "\n".join(map(accuracy_row, rows))
        + "\n"
        + SIMBENCHMARK.format(head=simbenchmark.HEAD, limit=simbenchmark.LIMIT)
        + "\n".join(simbenchmark.simbenchmark_row(row, balls) for row in balls)
        + "\n"
    )


def draw(rows, file):
    """One panel per scene, a line per engine over the step lengths. Needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "stiction"
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    names = list(dict.fromkeys(row["scene"] for row in rows))
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for name, panel in zip(names, axes.flat, strict=True):
        for k, row in enumerate(r for r in rows if r["scene"] == name):
            if "missing" in row:
                continue
            per_second = [t * 1e-3 / dt for t, dt in zip(row["time"], STEPS, strict=True)]
            panel.loglog(
                per_second, np.maximum(row["error"], 1e-17), "o-", color=f"C{k}", label=row["engine"], markersize=3
            )
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("processor time of 1 s, over MuJoCo's at 1 ms")
        panel.set_ylabel("moved (m)" if "sticks" in name else "error of the way")
        panel.set_xlim(0.05, 5.0)
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=8)
    figure.savefig(file, metadata={"Date": None})
