"""Robots under control, for every engine: a quadruped stands and trots, ANYmal stands, a UR10 follows a sinusoid.

A scene is a function here and its place in SCENES. How it is judged is its own word, which robot_runs.py explains.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import robot_models

LIMIT_STEP = 6.25e-5  # s, the shortest: that of an engine's own limit
FINE = 1e-4  # s


@dataclasses.dataclass
class RobotScene:
    """A robot at joints q and velocities v, its root `height` above the plane, under `torque(t, q, v)`."""

    name: str
    robot: robot_models.Robot
    q: np.ndarray
    v: np.ndarray
    wanted: Callable  # of t: joint positions, velocities, accelerations
    torque: Callable
    judged: str  # "creep", "own limit", or "known"
    height: float = 0.0
    friction: float = 0.0
    duration: float = 2.0
    known: Callable | None = None  # of t: joint positions
    walks: bool = False


def pd(wanted, kp, kd):
    def torque(t, q, v):
        q_wanted, v_wanted, _ = wanted(t)
        return kp * (q_wanted - q) + kd * (v_wanted - v)

    return torque


def on_its_feet(scene):
    """The scene with the lowest foot touching the ground."""
    feet = scene.robot.feet_at(scene.robot.world(scene), np.zeros(3), (1, 0, 0, 0), scene.q)
    return dataclasses.replace(scene, height=scene.robot.radius - feet[:, 2].min())


QUADRUPED_SIGNS = {"LF": 1, "LH": -1, "RF": -1, "RH": 1}
QUADRUPED_POSE = np.array([s * x for s in QUADRUPED_SIGNS.values() for x in (0.3927, 0.7854, 1.5708)])
QUADRUPED_KP, QUADRUPED_KD = 10.0, 0.1  # N m, N m s: joint gains of the published trot [ZD15]
QUADRUPED_FRICTION = 0.8
TROT_SPEED = 0.1  # m/s
TROT_START = 0.3  # s: before it the quadruped stands


def still(pose):
    zero = np.zeros(len(pose))
    return lambda t: (pose, zero, zero)


def quadruped_stands():
    pose = still(QUADRUPED_POSE)
    scene = RobotScene(
        "quadruped stands",
        robot_models.quadruped(),
        QUADRUPED_POSE,
        np.zeros(12),
        pose,
        pd(pose, QUADRUPED_KP, QUADRUPED_KD),
        "creep",
        friction=QUADRUPED_FRICTION,
        duration=4.0,
    )
    return on_its_feet(scene)


def trot_plan(scene):
    """Wanted joints of a trot straight on, drawn up once, at all times that any step length meets."""
    import stiction

    world = stiction.World()
    joints = dict(zip(scene.robot.names, scene.q, strict=True))
    world.add_robot(str(robot_models.MODELS / "links.urdf"), floating=True, joints=joints)
    planner = stiction.TrotPlanner(world, [f"{leg}_foot" for leg in robot_models.LEGS], start_time=TROT_START)
    names = [joint.name for joint in world.joints if joint.v >= 6]
    order = [names.index(name) for name in scene.robot.names]
    plans = []
    for k in range(round(scene.duration / LIMIT_STEP) + 1):
        t = k * LIMIT_STEP
        plan = planner.update(t, (TROT_SPEED if t >= TROT_START else 0.0, 0.0, 0.0))
        plans.append((plan.q[order], plan.v[order], plan.a[order]))
    return lambda t: plans[round(t / LIMIT_STEP)]


def quadruped_trots():
    scene = dataclasses.replace(
        quadruped_stands(), name="quadruped trots", judged="own limit", duration=2.0, walks=True
    )
    wanted = trot_plan(scene)
    return dataclasses.replace(scene, wanted=wanted, torque=pd(wanted, QUADRUPED_KP, QUADRUPED_KD))


def anymal_stands():
    """SimBenchmark's test under PD, its gains and pose, dropped from its height; there it measures speed alone."""
    legs = {"LF": (0.03, 0.4, -0.8), "LH": (0.03, -0.4, 0.8), "RF": (-0.03, 0.4, -0.8), "RH": (-0.03, -0.4, 0.8)}
    pose = np.concatenate(list(legs.values()))
    wanted = still(pose)
    return RobotScene(
        "SimBenchmark: ANYmal stands",
        robot_models.anymal(),
        pose,
        np.zeros(12),
        wanted,
        pd(wanted, 400.0, 1.0),
        "own limit",
        height=0.54,
        friction=0.8,
        duration=4.0,
    )


ARM_POSE = np.array([0.0, -1.2, 1.4, -1.0, 0.5, 0.3])
ARM_AMPLITUDE, ARM_RATE = 0.5, np.pi  # rad, rad/s
ARM_KP, ARM_KD = np.array([3000, 3000, 1500, 200, 200, 20.0]), np.array([300, 300, 150, 5, 5, 0.5])
COMPUTED_KP, COMPUTED_KD = 100.0, 20.0  # 1/s², 1/s


def arm_wanted(t):
    s, c = ARM_AMPLITUDE * np.sin(ARM_RATE * t), ARM_AMPLITUDE * ARM_RATE * np.cos(ARM_RATE * t)
    return ARM_POSE + s, np.full(6, c), np.full(6, -(ARM_RATE**2) * s)


def arm(name, torque, known):
    q, v, _ = arm_wanted(0.0)
    return RobotScene(name, robot_models.ur10(), q, v, arm_wanted, torque, "known", known=known)


def arm_under_pd():
    scene = arm("UR10, PD", pd(arm_wanted, ARM_KP, ARM_KD), None)
    world = scene.robot.world(scene)

    def rate(t, x):
        q, v = x
        force = scene.torque(t, q, v) - world.bias(q, v)
        return np.array([v, np.linalg.solve(world.mass_matrix(q), force)])

    x, h, places = np.array([scene.q, scene.v]), FINE, {0: scene.q}
    for k in range(round(scene.duration / h)):
        a = rate(k * h, x)
        b = rate((k + 0.5) * h, x + 0.5 * h * a)
        c = rate((k + 0.5) * h, x + 0.5 * h * b)
        d = rate((k + 1) * h, x + h * c)
        x = x + h / 6 * (a + 2 * b + 2 * c + d)
        places[k + 1] = x[0]
    return dataclasses.replace(scene, known=lambda t: places[round(t / h)])


def arm_under_computed_torque():
    scene = arm("UR10, computed torque", None, lambda t: arm_wanted(t)[0])
    world = scene.robot.world(scene)

    def torque(t, q, v):
        q_wanted, v_wanted, a_wanted = arm_wanted(t)
        a = a_wanted + COMPUTED_KP * (q_wanted - q) + COMPUTED_KD * (v_wanted - v)
        return world.mass_matrix(q) @ a + world.bias(q, v)

    return dataclasses.replace(scene, torque=torque)


SCENES = (quadruped_stands, quadruped_trots, anymal_stands, arm_under_pd, arm_under_computed_torque)
