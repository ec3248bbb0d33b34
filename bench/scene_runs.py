"""Runs of scenes (pile_scenes.py) in engines (scene_engines), measured alike, and their table."""

import time

import numpy as np
from scene_engines import ENGINES, GRAVITY, Stiction
from scene_shapes import inertia

TOUCHING = 1e-5  # m: contacts with a gap below this count in the median penetration
REST = 0.5  # s before the end, over which creep is the way that the bodies move
SAMPLES = 50  # times that the penetration is looked at, which is much slower than a step


class Meter:
    """Energy and penetration of a scene, whoever stepped it: gaps are those that stiction finds at its poses."""

    def __init__(self, scene):
        self.reference = Stiction(scene)
        self.mass = np.array([body.mass for body in scene.bodies])
        self.inertia = np.array([inertia(body.shape, body.mass) for body in scene.bodies])

    def energy(self, engine):
        """Kinetic and potential, above z = 0 (J)."""
        v, w = engine.velocities()
        height = engine.poses()[0][:, 2]
        kinetic = 0.5 * self.mass @ (v**2).sum(axis=1) + 0.5 * np.einsum("bi,bij,bj", w, self.inertia, w)
        return kinetic + GRAVITY * self.mass @ height

    def gaps(self, engine):
        return self.reference.gaps(*engine.poses())


class EnergyRise:
    """Largest rises above the least value so far: of the energy, and of it without what undoing overlap lifted."""

    def __init__(self, start):
        self.start = start
        self.least, self.most = [start, start], [0.0, 0.0]
        self.lifted = 0.0

    def add(self, energy, lifted=0.0):
        self.lifted += lifted
        for k, value in enumerate((energy, energy - self.lifted)):
            self.most[k] = max(self.most[k], value - self.least[k])
            self.least[k] = min(self.least[k], value)


class Keeper:
    """Keeps the problems of the first few steps that ended a run or missed the tolerance, for `stiction solve`."""

    MOST = 5

    def __init__(self, engine, folder):
        self.engine, self.folder, self.kept, self.before = engine, folder, 0, None

    def look(self):
        if self.folder:
            self.before = self.engine.state()

    def judge(self, report, step):
        if not self.folder or (report.accepted and not report.at_acceptable) or self.kept == self.MOST:
            return
        self.kept += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        scene = self.engine.scene
        name = f"{scene.name} step {step} {'above tolerance' if report.accepted else 'ended'}"
        self.engine.world.problem(*self.before, dt=scene.dt).save(self.folder / f"{name.replace(' ', '_')}.npz")


def run(kind, scene, limit, failing=None):
    """One engine through one scene, at most `limit` seconds in its steps; `failing`: folder for unsolved problems."""
    meter, engine = Meter(scene), kind(scene)
    keeper = Keeper(engine, failing)
    steps = round(scene.duration / scene.dt)
    every, rest = max(1, steps // SAMPLES), max(0, steps - round(REST / scene.dt))
    energy, deepest, seconds, reports, resting = EnergyRise(meter.energy(engine)), 0.0, [], [], engine.poses()[0]
    row = {
        "scene": scene.name,
        "engine": kind.name,
        "bodies": len(scene.bodies),
        "planned": steps,
        "ended": "",
        "contacts": 0,
    }
    for k in range(steps):
        keeper.look()
        start = time.process_time()
        try:
            report = engine.step()
        except RuntimeError:  # Drake's, where its solver does not converge
            row["ended"] = "gave up"
            break
        seconds.append(time.process_time() - start)
        if report is not None:
            reports.append(report)
            keeper.judge(report, k)
            row["contacts"] = max(row["contacts"], report.contacts)
            if not report.accepted:
                row["ended"] = report.status
                break
        now = meter.energy(engine)
        energy.add(now, report.lifted if report is not None else 0.0)
        if not np.isfinite(now):
            row["ended"] = "not finite"
            break
        if (k + 1) % every == 0:
            deepest = max(deepest, -min(meter.gaps(engine), default=0.0))
        if k + 1 == rest:
            resting = engine.poses()[0]
        if sum(seconds) > limit:
            row["ended"] = "clock"
            break
    row |= rest_of(meter, engine, energy, deepest, resting if len(seconds) == steps else None)
    if reports:
        row["energy_rise_unlifted"] = float(energy.most[1] / energy.start)
    return row | times_of(seconds) | shares_of(reports)


def rest_of(meter, engine, energy, deepest, resting):
    gaps = meter.gaps(engine)
    touching = gaps[gaps < TOUCHING]
    moved = np.linalg.norm(engine.poses()[0] - resting, axis=1) if resting is not None else np.array([np.nan])
    return {
        "energy_rise": float(energy.most[0] / energy.start),
        "penetration": float(max(deepest, -min(gaps, default=0.0))),
        "penetration_end": float(np.median(np.maximum(-touching, 0.0))) if len(touching) else 0.0,
        "moved_median": float(np.median(moved)),
        "moved_most": float(moved.max()),
    }


def times_of(seconds):
    return {
        "seconds": seconds,
        "steps": len(seconds),
        "ms": 1e3 * float(np.mean(seconds)),
        "ms_most": 1e3 * max(seconds),
    }


def times_beside(seconds, reference):
    """Mean over that of the reference, of the steps that both took; slowest step over the reference's mean."""
    if not reference:
        return {}
    both = min(len(seconds), len(reference))
    ratio = np.mean(seconds[:both]) / np.mean(reference[:both])
    return {"ratio": float(ratio), "ratio_most": float(max(seconds) / np.mean(reference))}


def shares_of(reports):
    """Of the steps: at the tolerance, at `acceptable` alone, taken in parts; nothing for engines that do not say."""
    if not reports:
        return {}
    share = lambda test: sum(map(test, reports)) / len(reports)  # noqa: E731
    return {
        "at_tolerance": share(lambda r: r.accepted and not r.at_acceptable),
        "at_acceptable": share(lambda r: r.at_acceptable),
        "halved": share(lambda r: r.sub_steps > 1),
        "iterations": sum(r.iterations for r in reports) / len(reports),
    }


def measure_scenes(scenes, limit, failing, tell):
    """Calls `tell` with the row of every scene in every engine that is there."""
    for scene in scenes:
        reference = None
        for kind in ENGINES:
            row = {"scene": scene.name, "engine": kind.name}
            if reason := kind.missing() or kind.refuses(scene):
                row["missing"] = reason
            else:
                row = run(kind, scene, limit, failing if issubclass(kind, Stiction) else None)
                seconds = row.pop("seconds")
                reference = seconds if kind is ENGINES[0] else reference
                row |= times_beside(seconds, reference)
            tell(row)


HEAD = (
    "scene | engine | contacts | time of MuJoCo's | slowest step | tolerance, acceptable, halved (%) | ended"
    " | energy rise: all, not by lifting (%) | penetration: most, end (mm) | moved at the end: median, most (mm)"
)


def table_row(row):
    if "missing" in row:
        return f"| {row['scene']} | {row['engine']} | {row['missing']} |" + " |" * 7
    shares = [f"{100 * row[key]:.3g}" for key in ("at_tolerance", "at_acceptable", "halved") if key in row]
    cells = [
        row["scene"],
        row["engine"],
        row["contacts"] or "-",
        *(f"{row[key]:.3g}" if key in row else "-" for key in ("ratio", "ratio_most")),
        ", ".join(shares) or "-",
        f"{row['ended']}, step {row['steps']} of {row['planned']}" if row["ended"] else "no",
        ", ".join(f"{100 * row[key]:.2g}" for key in ("energy_rise", "energy_rise_unlifted") if key in row),
        f"{1e3 * row['penetration']:.2g}, {1e3 * row['penetration_end']:.2g}",
        "-" if np.isnan(row["moved_most"]) else f"{1e3 * row['moved_median']:.2g}, {1e3 * row['moved_most']:.2g}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


PAGE = """# Piles, stacks and walls beside other engines

Written by `bench/compare --only scenes --markdown docs/compare.md`, all engines in one run of one program. What a
scene is, `bench/pile_scenes.py` says; bodies, inertias, start, friction coefficient, gravity and step are alike in all.

- *time of MuJoCo's*: processor time of a step in the mean, collision included, over that of MuJoCo's defaults in the
  same steps of the scene, as far as both came; *slowest step*: over MuJoCo's mean.
- *tolerance*, *acceptable*, *halved*: steps whose certificate met 1e-9; that went on above it, within 1e-6; that were
  taken in parts. Other engines do not say how well they solved.
- *ended*: a step that could not be solved, or the clock ({limit:g} s in the steps of a scene).
- *energy rise*: of kinetic and potential energy above its least value so far, over the energy at the start, heights
  counted from z = 0; in stiction also without the potential energy that undoing overlap has added by then, which its
  step reports. Other engines lift too, and do not say by how much.
- *penetration*: of the contacts that stiction's collision finds at every engine's poses, at {samples} times of the run;
  and the median of those that touch at the end.
- *moved at the end*: how far the bodies' centres moved in the last {rest:g} s. Piles of round bodies still roll then.

What the engines do not share: {differs}.
"""


def page(rows, limit):
    differs = "; ".join(f"{kind.name}: {kind.differs}" for kind in ENGINES)
    lines = [
        PAGE.format(limit=limit, samples=SAMPLES, rest=REST, differs=differs),
        f"| {HEAD} |",
        "|" + " --- |" * len(HEAD.split("|")),
    ]
    return "\n".join([*lines, *map(table_row, rows)]) + "\n"
