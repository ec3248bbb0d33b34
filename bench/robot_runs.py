"""Runs of robots (robot_scenes.py) in engines (robot_engines.py), measured alike, and their table.

Same model file, same law of the torques, computed from the state at the start of a step and held over it, same steps,
same measures; feet and joints are read from the engines' own states. What the error of a scene is:

creep: the way along the ground of the foot that moves most, over the last SETTLED seconds (m): friction holds them.
own limit: mean over joints and times of |q - q_limit| (rad), q_limit being the engine's own run at LIMIT_STEP; what the
limit itself is like is seen from how far it lies from stiction's.
known: mean of |q - q_known| (rad).
"""

import dataclasses
import time

import numpy as np
import robot_engines as engines
from robot_scenes import LIMIT_STEP, SCENES, RobotScene
from scene_engines import GRAVITY

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)  # s: beyond, held torques of these gains make light links swing up in every engine
SAMPLE = 4e-3  # s, at which motions are compared
SETTLED = 0.9  # s: three periods of the trot
LOST = 1.0  # rad: a joint further off than this is out of control
LIMIT = 60.0  # s of processor time in the steps of a run
LABELS = {"creep": "creep of a foot (m)", "own limit": "from the own limit (rad)", "known": "error of the joints (rad)"}

ENGINES = (
    engines.MuJoCo,
    engines.MuJoCoStiff,
    engines.Stiction,
    engines.StictionMidpoint,
    engines.Bullet,
    engines.Ode,
    engines.Dart,
    engines.Drake,
    engines.DrakeTamsi,
)


def run(kind, scene, dt):
    """Joints at the times of SAMPLE, feet, support, and processor time of a step (s); None out of control."""
    engine, world = kind(scene, dt), scene.robot.world(scene)
    every, steps = round(SAMPLE / dt), round(scene.duration / dt)
    joints, feet, support, spent, late = [], [], [], 0.0, steps - round(SETTLED / dt)
    for k in range(steps):
        q, v = engine.joints()
        if not np.isfinite(q).all() or np.abs(q - scene.wanted(k * dt)[0]).max() > LOST or spent > LIMIT:
            return None
        tau = scene.torque(k * dt, q, v)
        before = time.process_time()
        try:
            engine.step(tau)
        except RuntimeError:  # the solver gave up, or the state is not finite any more
            return None
        spent += time.process_time() - before
        if k >= late and scene.robot.feet:
            support.append(engine.support())
        if (k + 1) % every == 0:
            joints.append(engine.joints()[0])
            if scene.robot.feet:
                feet.append(scene.robot.feet_at(world, *engine.base(), joints[-1]))
    return Motion(scene, np.array(joints), np.array(feet), np.array(support), spent / steps)


@dataclasses.dataclass
class Motion:
    scene: RobotScene
    joints: np.ndarray  # (samples, n)
    feet: np.ndarray  # (samples, feet, 3)
    support: np.ndarray  # N, in the steps of the last SETTLED seconds
    seconds: float  # of processor time, a step

    def times(self):
        return SAMPLE * np.arange(1, len(self.joints) + 1)

    def creep(self):
        late = self.feet[-1 - round(SETTLED / SAMPLE) :, :, :2]
        return float(np.linalg.norm(late - late[0], axis=-1).max())

    def depth(self):
        return float(np.maximum(self.scene.robot.radius - self.feet[..., 2], 0.0).max())

    def tracking(self):
        wanted = np.array([self.scene.wanted(t)[0] for t in self.times()])
        return float(np.abs(self.joints - wanted).mean())

    def away_from(self, joints):
        return float(np.abs(self.joints - joints).mean())

    def uneven(self):
        """Mean of |force - weight| over the weight."""
        return float(np.abs(self.support / (self.scene.robot.mass * GRAVITY) - 1.0).mean())

    def mean_force(self):
        return float(self.support.mean() / (self.scene.robot.mass * GRAVITY) - 1.0)


def error(motion, scene, limit):
    if motion is None or (scene.judged == "own limit" and limit is None):
        return None
    if scene.judged == "creep":
        return motion.creep()
    if scene.judged == "own limit":
        return motion.away_from(limit.joints)
    return motion.away_from(np.array([scene.known(t) for t in motion.times()]))


def measure(kind, scene, rigid_limit):
    row = {"scene": scene.name, "engine": kind.name, "judged": scene.judged, "label": LABELS[scene.judged]}
    if reason := kind.missing() or kind.refuses(scene):
        return row | {"missing": reason}
    motions = [run(kind, scene, dt) for dt in STEPS]
    limit = run(kind, scene, LIMIT_STEP) if scene.robot.feet else None
    row["error"] = [error(motion, scene, limit) for motion in motions]
    row["seconds"] = [motion and motion.seconds for motion in motions]
    if (motion := motions[STEPS.index(1e-3)]) is not None:
        row["tracking"] = motion.tracking()
        if scene.robot.feet:
            force = abs(motion.mean_force()) if scene.walks else motion.uneven()
            row |= {"depth": motion.depth(), "force": force}
    if limit is not None:
        row["limit"] = limit.away_from(rigid_limit.joints)
    return row


def measure_robots(tell):
    rows = []
    for make in SCENES:
        scene = make()
        rigid_limit = run(engines.Stiction, scene, LIMIT_STEP) if scene.robot.feet else None
        unit = None
        for kind in ENGINES:
            row = measure(kind, scene, rigid_limit)
            if "seconds" in row:
                unit = unit or row["seconds"][STEPS.index(1e-3)]
                row["time"] = [s and s / unit for s in row["seconds"]]
            rows.append(row)
            tell(row)
    return rows


HEAD = (
    "scene | engine | error at "
    + ", ".join(f"{1e3 * dt:g}" for dt in STEPS)
    + " ms | limit | tracking | deepest | force | time of a step at 1 ms, MuJoCo's"
)


def robot_row(row):
    start = f"| {row['scene']} | {row['engine']} |"
    if "missing" in row:
        return f"{start} {row['missing']} | | | | | |"
    unit = "m" if row["judged"] == "creep" else "rad"
    errors = ", ".join("out of control" if e is None else f"{e:.1e}" for e in row["error"])
    cells = [f"{row[name] * scale:.1e}" if name in row else "" for name, scale in COLUMNS]
    spent = row["time"][STEPS.index(1e-3)]
    return f"{start} {errors} {unit} | {' | '.join(cells)} | {'' if spent is None else format(spent, '.2f')} |"


COLUMNS = (("limit", 1.0), ("tracking", 1.0), ("depth", 1e3), ("force", 1.0))
