"""Environment steps per second and core: stiction's environments beside gymnasium's MuJoCo ones, from the same MJCF
files, in one run.

Actions are drawn from the action space; five steps of the file's length per action, in MuJoCo by Runge-Kutta where
the file says so (Ant, Humanoid). Alone: one environment in a Python loop. Vector: 16 runs, ours on one thread,
gymnasium's in a SyncVectorEnv, so that both use one core. "physics": what is left of ours without Python, the same
torques through `stiction.rollout`. Episodes that end start again within the time.
"""

import argparse
import statistics
import time

import gymnasium
import numpy as np

import stiction
import stiction.envs  # registers its environments

ROBOTS = ("HalfCheetah", "Ant", "Humanoid")
LAWS = ("coulomb_cone", "anitescu")
RUNS = 16


class Alone:
    def __init__(self, make):
        self.env = make()
        self.env.reset(seed=0)
        self.env.action_space.seed(0)

    def seconds(self, steps):
        actions = [self.env.action_space.sample() for _ in range(steps)]
        start = time.perf_counter()
        for action in actions:
            *_, ended, cut, _ = self.env.step(action)
            if ended or cut:
                self.env.reset()
        return (time.perf_counter() - start) / steps


class Vector(Alone):
    def seconds(self, steps):
        actions = [self.env.action_space.sample() for _ in range(max(1, steps // RUNS))]
        start = time.perf_counter()
        for action in actions:
            self.env.step(action)
        return (time.perf_counter() - start) / (RUNS * len(actions))


class Physics:
    """The same steps without anything that an environment adds."""

    def __init__(self, robot, law):
        self.env = gymnasium.make_vec(f"stiction/{robot}-v0", num_envs=RUNS, law=law, threads=1)
        self.env.reset(seed=0)
        self.env.action_space.seed(0)

    def seconds(self, steps):
        task, runs = self.env.unwrapped.task, self.env.unwrapped.runs
        count = max(1, steps // RUNS)
        spent = 0.0
        for _ in range(count):
            command = task.command(np.asarray(self.env.action_space.sample(), dtype=float))
            start = time.perf_counter()
            runs.runs.step(command, task.frame_skip)
            spent += time.perf_counter() - start
            if np.any(task.reward(runs.batch, runs.goals, task.before(runs.batch), command)[1]):
                self.env.reset()
        return spent / (RUNS * count)


def contenders(robot):
    theirs = f"{robot}-v5"
    yield "MuJoCo", "alone", Alone(lambda: gymnasium.make(theirs))
    yield "MuJoCo", "vector", Vector(lambda: gymnasium.make_vec(theirs, num_envs=RUNS, vectorization_mode="sync"))
    for law in LAWS:
        ours = f"stiction/{robot}-v0"
        yield law, "alone", Alone(lambda ours=ours, law=law: gymnasium.make(ours, law=law))
        yield (
            law,
            "vector",
            Vector(lambda ours=ours, law=law: gymnasium.make_vec(ours, num_envs=RUNS, law=law, threads=1)),
        )
        yield law, "physics", Physics(robot, law)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3000, help="environment steps of a measurement")
    parser.add_argument("--rounds", type=int, default=5, help="measurements, in turn; the median counts")
    options = parser.parse_args()
    print(f"stiction {stiction.__version__}: environment steps per second on one core, and their ratio to MuJoCo's")
    print(f"{'robot':12} {'engine':14} {'alone':>9} {'ratio':>6} {'vector':>9} {'ratio':>6} {'physics':>9}")
    for robot in ROBOTS:
        ready = list(contenders(robot))
        seconds = {key[:2]: [] for key in ready}
        for _ in range(options.rounds):  # in turn, so that what else the machine does meets all
            for engine, how, contender in ready:
                seconds[engine, how].append(contender.seconds(options.steps))
        rate = {key: 1.0 / statistics.median(values) for key, values in seconds.items()}
        for engine in ("MuJoCo", *LAWS):
            cells = [f"{robot:12} {engine:14}"]
            for how in ("alone", "vector"):
                cells.append(f"{rate[engine, how]:9.0f} {rate[engine, how] / rate['MuJoCo', how]:6.2f}")
            print(*cells, f"{rate[engine, 'physics']:9.0f}" if (engine, "physics") in rate else f"{'-':>9}")


if __name__ == "__main__":
    main()
