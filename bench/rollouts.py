"""Rollouts of robots from gymnasium's MJCF files beside MuJoCo's own `rollout`: steps per second against threads.

Every run starts above the floor at a random velocity and is driven by random torques; both engines read the same file,
take the same steps of 2 ms by semi-implicit Euler (some of the files ask for Runge-Kutta, four times the work) under
the same torques. Robots fall and lie down within the time. All else of MuJoCo is at the file's settings.
"""

import importlib.util
import os
import pathlib
import statistics
import sys
import time

import numpy as np

import stiction

STEP = 2e-3
ROBOTS = {"half_cheetah.xml": "links in a plane", "ant.xml": "quadruped", "humanoid.xml": "humanoid"}
TORQUE, SPEED = 10.0, 0.5  # N m, and rad/s or m/s: standard deviations


def model_file(name):
    if (gymnasium := importlib.util.find_spec("gymnasium")) is None:
        sys.exit("compare: gymnasium, whose robots are rolled out, is not installed (pip install gymnasium)")
    return pathlib.Path(gymnasium.origin).parent / "envs" / "mujoco" / "assets" / name


class Ours:
    name = "stiction"

    def __init__(self, file, runs, steps, seed):
        self.world = stiction.World()
        self.world.add_robot(str(file))
        random = np.random.default_rng(seed)
        self.driven = self.world.actuated
        self.v = np.zeros((runs, self.world.nv))
        self.v[:, self.driven] = random.normal(0, SPEED, (runs, len(self.driven)))
        self.tau = random.normal(0, TORQUE, (runs, steps, len(self.driven)))

    def run(self, threads):
        out = stiction.rollout(self.world, v=self.v, tau=self.tau, dt=STEP, threads=threads, effort_limits=False)
        return {"taken": int(out.taken.sum()), "solved": out.status.count("solved")}


class MuJoCo:
    name = "MuJoCo"

    def __init__(self, file, runs, steps, seed):
        import mujoco
        import mujoco.rollout

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(file))
        self.model.opt.timestep = STEP
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        ours = Ours(file, runs, steps, seed)
        driven = self.model.nv - len(ours.driven) + np.arange(len(ours.driven))  # the joints after the base
        data = mujoco.MjData(self.model)
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.start = np.empty((runs, mujoco.mj_stateSize(self.model, kind)))
        for i in range(runs):
            mujoco.mj_resetData(self.model, data)
            data.qvel[driven] = ours.v[i, ours.driven]
            mujoco.mj_getState(self.model, data, self.start[i], kind)
        self.forces = np.zeros((runs, steps, self.model.nv))
        self.forces[:, :, driven] = ours.tau

    def run(self, threads):
        data = [self.mujoco.MjData(self.model) for _ in range(threads)]
        self.mujoco.rollout.rollout(
            *(self.model, data, self.start, self.forces),
            control_spec=self.mujoco.mjtState.mjSTATE_QFRC_APPLIED.value,
        )
        return {"taken": self.forces.shape[0] * self.forces.shape[1], "solved": None}


def measure_rollouts(quick, rounds):
    runs, steps = (8, 100) if quick else (64, 500)
    counts = [1]
    while 2 * counts[-1] <= (os.cpu_count() or 1):
        counts.append(2 * counts[-1])
    engines = [Ours]
    if importlib.util.find_spec("mujoco") is None:
        print("compare: mujoco is not installed (pip install mujoco)", file=sys.stderr)
    else:
        engines.append(MuJoCo)
    rows = []
    for name, what in ROBOTS.items():
        ready = [engine(model_file(name), runs, steps, seed=1) for engine in engines]
        for threads in counts:
            seconds = {engine.name: [] for engine in ready}
            for _ in range(rounds):  # in turn, so that what else the machine does meets both
                for engine in ready:
                    start = time.perf_counter()
                    said = engine.run(threads)
                    seconds[engine.name].append(time.perf_counter() - start)
                    row = {"robot": name, "what": what, "threads": threads, "engine": engine.name, "runs": runs} | said
                    if len(seconds[engine.name]) == rounds:
                        rows.append(row | {"per_second": said["taken"] / statistics.median(seconds[engine.name])})
    return rows


def print_rollouts(rows):
    print(f"Rollouts: steps of {1e3 * STEP:g} ms per second, wall time")
    print(f"{'robot':>18} {'threads':>7} {'engine':>9} {'steps/s':>9} {'runs':>5} {'solved':>6}")
    for r in rows:
        solved = "-" if r["solved"] is None else r["solved"]
        print(f"{r['robot']:>18} {r['threads']:>7} {r['engine']:>9} {r['per_second']:>9.3g} {r['runs']:>5} {solved:>6}")
