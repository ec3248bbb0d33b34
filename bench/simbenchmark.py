"""Four tests of SimBenchmark (Kang and Hwangbo 2018) by their own metrics: rolling, bouncing, 666 and elastic 666.

rolling: 5 x 5 balls of 1 kg on a plate of 10 kg, which 150 N pull along the ground, friction 0.4 below the plate and
0.8 on it, 4 s. The plate slides and the balls roll; the error is the mean over the steps of |v - v_known|², of plate
and one ball, added (m²/s²).
bouncing: 7 x 7 balls of 10 kg fall from 5 m on the ground, restitution 1, no friction, 20 s. The error is the mean over
the steps of (E - E_0)² of the energy of all, here over E_0².
666: 6 x 6 x 6 balls of 10 kg, 21 cm apart and up to 1 mm from their grid, fall from 1.1 m without friction, 10 s. The
error is the mean over the steps of the sum of squares of all overlaps (m²).
elastic 666: the same balls with restitution 1; the error is that of bouncing.
"""

import time

import numpy as np
import pile_scenes
from scene_engines import GRAVITY
from scene_shapes import Body, Scene, Shape

PLATE, BALL, FORCE, PLATE_HEIGHT, RADIUS = 10.0, 1.0, 150.0, 0.1, 0.1  # kg, kg, N, m, m
BELOW, ABOVE = 0.4, 0.8  # friction
DIRECTION = np.array([0.5, np.sqrt(0.75), 0.0])


def rules(ground, plate, ball):
    """Frictions of the three that give the pairs BELOW and ABOVE under every engine's rule."""
    return [dict(zip(("min", "max", "product", "harmonic"), x, strict=True)) for x in (ground, plate, ball)]


# harmonic: 2ab/(a + b)
GROUND, ON_PLATE, ON_BALL = rules((0.4, 0.4, 0.5, 0.8 / 3), (0.8, 0.4, 0.8, 0.8), (0.8, 0.8, 1.0, 0.8))


def rolling(dt):
    plate = Body(Shape("box", (20.0, 20.0, PLATE_HEIGHT)), PLATE, np.array([0, 0, PLATE_HEIGHT / 2]), friction=ON_PLATE)
    balls = [
        Body(Shape("sphere", (RADIUS,)), BALL, np.array([2.0 * i, 2.0 * j, PLATE_HEIGHT + RADIUS]), friction=ON_BALL)
        for i in range(-2, 3)
        for j in range(-2, 3)
    ]
    return Scene(
        "SimBenchmark: rolling", [plate, *balls], dt, 4.0, BELOW, plane_friction=GROUND, push=FORCE * DIRECTION
    )


def bouncing(dt):
    balls = [
        Body(Shape("sphere", (RADIUS,)), 10.0, np.array([2.0 * i, 2.0 * j, 5.0])) for i in range(7) for j in range(7)
    ]
    return Scene("SimBenchmark: bouncing", balls, dt, 20.0, 0.0, restitution=1.0)


def plain_666(dt):
    return pile_scenes.balls_666(6, 10.0, dt, 0.0, name="SimBenchmark: 666")


def elastic_666(dt):
    return pile_scenes.balls_666(6, 10.0, dt, 0.0, 1.0, name="SimBenchmark: elastic 666")


def known_velocities():
    """m/s per second of plate and balls: friction of the ground, and of each ball, that rolls on the moving plate."""
    count = 25
    ground = BELOW * (PLATE + count * BALL) * GRAVITY
    plate = (FORCE - ground) / (PLATE + count * BALL * 2 / 7)  # a ball that rolls takes 2/7 of the plate's acceleration
    return plate * DIRECTION, 2 / 7 * plate * DIRECTION


class Rolling:
    scene, unit = staticmethod(rolling), "m²/s²"

    def __init__(self, engine, scene):
        self.plate, self.ball = known_velocities()

    def error(self, engine, t):
        v = engine.velocities()[0]
        return ((v[0] - self.plate * t) ** 2).sum() + ((v[13] - self.ball * t) ** 2).sum()


class Overlaps:
    scene, unit = staticmethod(plain_666), "m²"

    def __init__(self, engine, scene):
        self.pairs = np.triu_indices(len(scene.bodies), 1)

    def error(self, engine, t):
        x = engine.poses()[0]
        i, j = self.pairs
        between = np.linalg.norm(x[i] - x[j], axis=1) - 2 * RADIUS
        return (np.minimum(between, 0.0) ** 2).sum() + (np.minimum(x[:, 2] - RADIUS, 0.0) ** 2).sum()


class Bouncing:
    scene, unit = staticmethod(bouncing), "of E²"

    def __init__(self, engine, scene):
        self.mass = np.array([body.mass for body in scene.bodies])
        self.moment = np.array([0.4 * body.mass * body.shape.size[0] ** 2 for body in scene.bodies])
        self.start = self.energy(engine)

    def energy(self, engine):
        v, w = engine.velocities()
        height = engine.poses()[0][:, 2] - RADIUS
        return (
            self.mass * (0.5 * (v**2).sum(axis=1) + GRAVITY * height) + 0.5 * self.moment * (w**2).sum(axis=1)
        ).sum()

    def error(self, engine, t):
        return (self.energy(engine) / self.start - 1.0) ** 2


class Elastic(Bouncing):
    scene = staticmethod(elastic_666)


TESTS = (Rolling, Bouncing, Overlaps, Elastic)
STEPS = (16e-3, 8e-3, 4e-3)  # s


LIMIT = 20.0  # s of processor time in the steps of a run, which ends there


def measure(test, kind, dt):
    """Mean error over the steps, processor time of one (s), and the share of the duration that was reached."""
    scene = test.scene(dt)
    engine = kind(scene)
    judge, errors, spent = test(engine, scene), [], 0.0
    for k in range(1, round(scene.duration / dt) + 1):
        before = time.process_time()
        try:
            engine.step()
        except RuntimeError:  # Drake's, where its solver gives up
            return float(np.mean(errors)), spent / k, (k - 1) * dt / scene.duration
        spent += time.process_time() - before
        errors.append(judge.error(engine, k * dt))
        if spent > LIMIT:
            break
    return float(np.mean(errors)), spent / k, k * dt / scene.duration


def measure_simbenchmark(engines, tell):
    rows = []
    for test in TESTS:
        for kind in engines:
            scene = test.scene(STEPS[0])
            row = {"scene": scene.name, "engine": kind.name, "unit": test.unit}
            if reason := kind.missing() or kind.refuses(scene):
                row["missing"] = reason
            else:
                figures = [measure(test, kind, dt) for dt in STEPS]
                row |= {
                    "error": [f[0] for f in figures],
                    "ms": [1e3 * f[1] for f in figures],
                    "share": [f[2] for f in figures],
                }
            rows.append(row)
            tell(row)
    return rows


HEAD = (
    "scene | engine | error at " + ", ".join(f"{1e3 * dt:g}" for dt in STEPS) + " ms | time of a step, first engine's"
)


def simbenchmark_row(row, rows):
    if "missing" in row:
        return f"| {row['scene']} | {row['engine']} | {row['missing']} | |"
    unit = next((r["ms"][-1] for r in rows if r["scene"] == row["scene"] and "ms" in r), 1.0)
    cut = [f" (to {share:.0%})" if share < 0.99 else "" for share in row["share"]]
    errors = ", ".join(f"{e:.1e}{end}" for e, end in zip(row["error"], cut, strict=True)) + f" {row['unit']}"
    return f"| {row['scene']} | {row['engine']} | {errors} | {row['ms'][-1] / unit:.2f} |"
