"""A task, one run of it as a `gymnasium.Env`, and many as a `gymnasium.vector.VectorEnv`.

Both are the same `stiction.Batch` under the same NumPy code, so that run i of a vector has the bits of an
environment of its own that is reset with the same seed, whatever the number of runs and threads.
"""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import stiction


class Task:
    """What is in the world, what is seen of it and what is asked for. Arrays have a row per run; `batch` has those
    of stiction.Batch.

    world: stiction.World. frame_skip: steps per action. low, high: (m,) actions. observed: numbers in an observation.
    stepping: arguments of stiction.Batch. goal_size: numbers that a run is told at its start (`goals`, (k, goal_size)).
    """

    frame_skip = 5
    goal_size = 0
    world: stiction.World
    low: np.ndarray
    high: np.ndarray
    observed: int
    stepping: dict

    def start(self, random):
        """q (nq,), v (nv,) and goal (goal_size,) of a run, drawn from a numpy.random.Generator."""
        raise NotImplementedError

    def command(self, actions):
        """(k, m) what stiction.Batch.step takes, of actions (k, m)."""
        raise NotImplementedError

    def before(self, batch):
        """Whatever `reward` needs of the state before the step."""

    def observe(self, batch, goals, actions):
        """(k, observed), new memory. actions: the last ones, zero after a start."""
        raise NotImplementedError

    def reward(self, batch, goals, before, actions):
        """Rewards (k,), whether the episode ends there (k,) bool, and {name: (k,) or (k, n)} for info."""
        raise NotImplementedError

    def start_info(self, batch):
        """The same {name: array} after a start."""
        return {}


class Views:
    """The arrays of a stiction.Batch, which stay where they are: asking it for them costs a microsecond each."""

    def __init__(self, batch):
        self.q, self.v, self.v_world, self.com = batch.q, batch.v, batch.v_world, batch.com
        self.wrenches, self.inertias, self.velocities = batch.wrenches, batch.inertias, batch.velocities
        self.taken = batch.taken

    def __len__(self):
        return len(self.q)


class Runs:
    """The runs of a task, and the generators that their starts are drawn from."""

    def __init__(self, task, number, threads):
        self.task = task
        self.runs = stiction.Batch(task.world, number, threads, **task.stepping)
        self.batch = Views(self.runs)
        self.goals = np.zeros((number, task.goal_size))
        self.actions = np.zeros((number, len(task.low)))

    def restart(self, i, random):
        q, v, self.goals[i] = self.task.start(random)
        self.runs.restart(i, q, v)
        self.actions[i] = 0.0

    def observe(self):
        return self.task.observe(self.batch, self.goals, self.actions)

    def step(self, actions):
        """Observations, rewards, ends, refusals, info: a run with a refused step cannot go on and is cut short."""
        task, batch = self.task, self.batch
        before = task.before(batch)
        self.runs.step(task.command(actions), task.frame_skip)
        self.actions[:] = actions
        rewards, ended, info = task.reward(batch, self.goals, before, actions)
        return task.observe(batch, self.goals, actions), rewards, ended, batch.taken < task.frame_skip, info


def spaces(task):
    seen = gymnasium.spaces.Box(-np.inf, np.inf, (task.observed,), np.float64)
    return seen, gymnasium.spaces.Box(task.low.astype(np.float32), task.high.astype(np.float32), dtype=np.float32)


def metadata(task):
    return {"render_modes": [], "render_fps": round(1.0 / task.dt)}


class TaskEnv(gymnasium.Env):
    """One run. task: a class derived from Task; the other arguments are its own."""

    metadata = {"render_modes": []}  # noqa: RUF012  as gymnasium has it

    def __init__(self, task, render_mode=None, **arguments):
        self.task = task(**arguments)
        self.metadata = metadata(self.task)
        self.render_mode = render_mode
        self.observation_space, self.action_space = spaces(self.task)
        self.runs = Runs(self.task, 1, 1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.runs.restart(0, self.np_random)
        return self.runs.observe()[0], {name: row[0] for name, row in self.task.start_info(self.runs.batch).items()}

    def step(self, action):
        actions = np.asarray(action, dtype=np.float64)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"action: expected shape {self.action_space.shape}, got {actions.shape}")
        seen, rewards, ended, refused, info = self.runs.step(actions[None])
        return (
            seen[0],
            float(rewards[0]),
            bool(ended[0]),
            bool(refused[0]),
            {name: row[0] for name, row in info.items()},
        )


class TaskVectorEnv(VectorEnv):
    """num_envs runs of one world on `threads` threads (None: as many as there are cores), with the mode NEXT_STEP of
    automatic resets.

    reset(seed=s) gives run i the seed s + i, as gymnasium's own vectors do.
    """

    def __init__(self, task, num_envs=1, threads=None, max_episode_steps=None, render_mode=None, **arguments):
        self.task = task(**arguments)
        self.num_envs = num_envs
        self.metadata = metadata(self.task) | {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.render_mode = render_mode
        self.max_episode_steps = np.inf if max_episode_steps is None else max_episode_steps
        self.single_observation_space, self.single_action_space = spaces(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.runs = Runs(self.task, num_envs, threads)
        self.random = [np.random.default_rng() for _ in range(num_envs)]
        self.age = np.zeros(num_envs, dtype=int)
        self.over = np.zeros(num_envs, dtype=bool)

    def reset(self, *, seed=None, options=None):
        seeds = [None if seed is None else seed + i for i in range(self.num_envs)] if np.ndim(seed) == 0 else list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: expected {self.num_envs} numbers, got {len(seeds)}")
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
        for i in np.flatnonzero(mask):
            if seeds[i] is not None:
                self.random[i], _ = gymnasium.utils.seeding.np_random(seeds[i])
            self.runs.restart(i, self.random[i])
        self.age[mask] = 0
        self.over[mask] = False
        return self.runs.observe(), self.task.start_info(self.runs.batch)

    def step(self, actions):
        actions = np.asarray(actions, dtype=np.float64)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"actions: expected shape {self.action_space.shape}, got {actions.shape}")
        again = np.flatnonzero(self.over)
        seen, rewards, ended, refused, info = self.runs.step(actions)
        self.age += 1
        if again.size:  # their step was of an episode that is over: this one starts the next
            for i in again:
                self.runs.restart(i, self.random[i])
            seen = self.runs.observe()
            rewards[again] = 0.0
            self.age[again] = 0
            ended[again] = refused[again] = False
        cut = (self.age >= self.max_episode_steps) | refused
        self.over = ended | cut
        return seen, rewards, ended, cut, info
