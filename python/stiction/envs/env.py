"""A task, one run of it as a `gymnasium.Env`, and many as a `gymnasium.vector.VectorEnv`.

Both are the same `stiction.Batch` under the same code of the task, so that run i of a vector has the bits of an
environment of its own that is reset with the same seed, whatever the number of runs and threads. One run alone sees
its own row of every array: what is a column of a vector is a number there, and NumPy calculates with numbers ten
times as fast as with arrays of one.
"""

from __future__ import annotations

import functools
import inspect

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import stiction

from . import render

# What a user says of the stepping,
STEPPED = ("dt", "law", "solver", "tolerance", "acceptable", "friction", "scheme", "material")
STEPPING = (*STEPPED, "kp", "kd", "links")  # and a task: arguments of stiction.Batch


def column(rows, i):
    """Number i of every row (k,), new memory; of one row alone the number."""
    return rows[i] if rows.ndim == 1 else rows[:, i].copy()


class Task:
    """What is in the world, what is seen of it and what is asked for. `batch` has the arrays of stiction.Batch.

    Arrays have a row of n numbers per run, (k, n), or are that row, (n,), where there is one run alone, and (k,) is
    then a number. The same code does for both where it counts axes from the last and takes columns by `column`.

    world: stiction.World. frame_skip: steps per action. low, high: (m,) actions. observed: numbers in an observation.
    stepping: arguments of stiction.Batch. goal_size: numbers that a run is told at its start (`goals`, (k, goal_size)).
    file: URDF or MJCF that says what the robot looks like, where what collides is not all there is to see.
    view: what pictures show, its middle (3,) and its size (m); None: what moves, which they follow.
    """

    frame_skip = 5
    goal_size = 0
    file = None
    view = None
    world: stiction.World
    low: np.ndarray
    high: np.ndarray
    observed: int
    stepping: dict

    @functools.cached_property
    def dt(self):
        """s per action: frame_skip steps of the given length, else of the world's own."""
        return self.frame_skip * stiction.Stepper(self.world, dt=self.stepping.get("dt")).dt

    def start(self, random):
        """q (nq,), v (nv,) and goal (goal_size,) of a run, drawn from a numpy.random.Generator."""
        raise NotImplementedError

    def command(self, actions):
        """(k, m) what stiction.Batch.step takes, of actions (k, m)."""
        raise NotImplementedError

    def before(self, batch):
        """Whatever `reward` needs of the state before the step, in new memory."""

    def observe(self, batch, goals, actions):
        """(k, observed). actions: the last ones, zero after a start."""
        raise NotImplementedError

    def reward(self, batch, goals, before, actions):
        """Rewards (k,), whether the episode ends there (k,) bool or False for none, and info {name: (k,) or (k, n)}."""
        raise NotImplementedError

    def start_info(self, batch):
        """The same {name: array} after a start."""
        return {}


def own(array):
    """The array in memory of its own: that of a batch is written over by the next step."""
    return array if getattr(array, "base", None) is None else array.copy()


class Views:
    """The arrays of a stiction.Batch, which stay where they are: asking it for them costs a microsecond each.

    Those of links are (k, 6 links) or (k, 10 links), `taken` is (k, 1). alone: the only row of each.
    """

    def __init__(self, batch, alone):
        for name in ("q", "v", "v_world", "com", "wrenches", "inertias", "velocities", "taken"):
            rows = getattr(batch, name).reshape(len(batch), -1)
            setattr(self, name, rows[0] if alone else rows)


class Runs:
    """The runs of a task. number: None for one run alone."""

    def __init__(self, task, number=None, threads=1):
        self.task = task
        self.alone = number is None
        self.runs = stiction.Batch(task.world, 1 if self.alone else number, threads, **task.stepping)
        self.all_goals = np.zeros((len(self.runs), task.goal_size))
        self.all_actions = np.zeros((len(self.runs), len(task.low)))
        self.begun = np.zeros(len(self.runs), dtype=bool)
        self.view()

    def view(self):
        self.batch = Views(self.runs, self.alone)
        self.rows = None if self.alone else ...  # the index that gives an array its axis of runs
        mine = 0 if self.alone else ...  # a view of all, which has a base
        self.goals, self.actions = self.all_goals[mine], self.all_actions[mine]

    def __getstate__(self):
        views = ("batch", "rows", "goals", "actions")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.view()

    def restart(self, i, random):
        q, v, self.all_goals[i] = self.task.start(random)
        self.runs.restart(i, q, v)
        self.all_actions[i] = 0.0
        self.begun[i] = True

    def observe(self):
        return own(self.task.observe(self.batch, self.goals, self.actions))

    def start_info(self):
        return {name: own(values) for name, values in self.task.start_info(self.batch).items()}

    def step(self, given):
        """Observations, rewards, ends, refusals, info: a run with a refused step cannot go on and is cut short."""
        task, batch, goals, actions = self.task, self.batch, self.goals, self.actions
        if not self.begun.all():
            raise gymnasium.error.ResetNeeded("step: expected a reset before the first one, got none")
        actions[...] = read_actions(given, actions.shape)
        before = task.before(batch)
        self.runs.step(task.command(actions)[self.rows], task.frame_skip)
        rewards, ended, info = task.reward(batch, goals, before, actions)
        refused = column(batch.taken, 0) < task.frame_skip
        info = {name: own(values) for name, values in info.items()}
        if refused.any():
            info["refused"] = own(refused)
        return self.observe(), own(rewards), own(ended), refused, info


def read_actions(given, shape):
    """An array of finite numbers of this shape."""
    given = np.asarray(given)
    name = "actions" if len(shape) == 2 else "action"
    if given.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {given.shape}")
    if given.dtype.kind not in "iufb":
        raise ValueError(f"{name}: expected numbers, got {given.dtype}")
    finite = np.isfinite(given)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ValueError(f"{name}[{', '.join(map(str, where))}]: expected a finite number, got {given[where]}")
    return given


def require_options(options, known=()):
    if unknown := [name for name in options or {} if name not in known]:
        raise ValueError(f"options: expected {', '.join(known) or 'none'}, got {', '.join(map(str, unknown))}")


def made(kind, arguments):
    """A task of a class with these arguments."""
    skip = arguments.get("frame_skip", 1)
    if isinstance(skip, bool) or not isinstance(skip, int | np.integer) or skip < 1:
        raise ValueError(f"frame_skip: expected a whole number of steps >= 1, got {skip!r}")
    task = kind(**arguments)
    if unknown := [name for name in task.stepping if name not in STEPPING]:
        known = [name for name in inspect.signature(kind).parameters if name != "stepping"] + list(STEPPED)
        raise TypeError(f"{kind.__name__}: expected {', '.join(known)}, got {', '.join(unknown)}")
    return task


def spaces(task):
    seen = gymnasium.spaces.Box(-np.inf, np.inf, (task.observed,), np.float64)
    return seen, gymnasium.spaces.Box(task.low.astype(np.float32), task.high.astype(np.float32), dtype=np.float32)


class TaskEnv(gymnasium.Env):
    """One run. task: a class derived from Task; the other arguments are its own.

    render_mode: "rgb_array", of which `render` gives pictures of width x height pixels; "human", which shows every
    reset and step on a page whose address is printed; None.
    """

    metadata = {"render_modes": ["human", "rgb_array"]}  # noqa: RUF012  as gymnasium has it

    def __init__(self, task, render_mode=None, width=480, height=480, **arguments):
        render.require_mode(render_mode, self.metadata["render_modes"])
        render.require_pixels(width=width, height=height)
        self.task = made(task, arguments)
        self.metadata = self.metadata | {"render_fps": round(1.0 / self.task.dt)}
        self.render_mode, self.size, self.shown = render_mode, (width, height), None
        self.observation_space, self.action_space = spaces(self.task)
        self.runs = Runs(self.task)
        self.time = 0.0  # s since the start

    def __getstate__(self):
        return self.__dict__ | {"shown": None}  # a page or a browser is this one's own

    def reset(self, *, seed=None, options=None):
        require_options(options)
        super().reset(seed=seed)
        self.runs.restart(0, self.np_random)
        self.time = 0.0
        if self.render_mode == "human":
            self.render()
        return self.runs.observe(), self.runs.start_info()

    def step(self, action):
        seen, reward, ended, refused, info = self.runs.step(action)
        self.time += self.task.dt
        if self.render_mode == "human":
            self.render()
        return seen, float(reward), bool(ended), bool(refused), info

    def render(self):
        q = self.runs.runs.q[0]
        if self.render_mode == "human":
            self.shown = self.shown or render.Window(self.task, 1.0 / self.metadata["render_fps"])
            return self.shown.show(q, self.time)
        if self.render_mode == "rgb_array":
            self.shown = self.shown or render.Pictures(self.task, *self.size)
            return self.shown.picture(q)
        return None

    def close(self):
        if self.shown:
            self.shown.close()
        self.shown = None


class TaskVectorEnv(VectorEnv):
    """num_envs runs of one world on `threads` threads (None: as many as there are cores), with the mode NEXT_STEP of
    automatic resets.

    reset(seed=s) gives run i the seed s + i, as gymnasium's own vectors do. As theirs, info has beside every array a
    mask `_name` (k,) of the runs that it tells of; a run that starts again tells of its start.

    render_mode: "rgb_array", of which `render` gives a picture of every run, or None.
    """

    metadata = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        task,
        num_envs=1,
        threads=None,
        max_episode_steps=None,
        render_mode=None,
        width=480,
        height=480,
        **arguments,
    ):
        render.require_mode(render_mode, self.metadata["render_modes"])
        render.require_pixels(width=width, height=height)
        self.task = made(task, arguments)
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ValueError(f"num_envs: expected a whole number of runs >= 1, got {num_envs!r}")
        self.num_envs = num_envs
        self.metadata = self.metadata | {"render_fps": round(1.0 / self.task.dt)}
        self.render_mode, self.size, self.shown = render_mode, (width, height), None
        self.max_episode_steps = np.inf if max_episode_steps is None else max_episode_steps
        self.single_observation_space, self.single_action_space = spaces(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.runs = Runs(self.task, num_envs, threads)
        self.random = [np.random.default_rng() for _ in range(num_envs)]
        self.age = np.zeros(num_envs, dtype=int)
        self.over = np.zeros(num_envs, dtype=bool)

    def __getstate__(self):
        return self.__dict__ | {"shown": None}  # a browser is this one's own

    def reset(self, *, seed=None, options=None):
        require_options(options, ("reset_mask",))
        if np.ndim(seed) == 0 and not isinstance(seed, int | np.integer | None):
            raise ValueError(f"seed: expected a whole number, a list of them or None, got {seed!r}")
        seeds = [None if seed is None else seed + i for i in range(self.num_envs)] if np.ndim(seed) == 0 else list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: expected {self.num_envs} numbers, got {len(seeds)}")
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if mask.dtype != bool or mask.shape != (self.num_envs,):  # whole numbers would be taken for indices of runs
            raise ValueError(f"reset_mask: expected {self.num_envs} booleans, got {mask.tolist()}")
        for i in np.flatnonzero(mask):
            if seeds[i] is not None:
                self.random[i], _ = gymnasium.utils.seeding.np_random(seeds[i])
            self.runs.restart(i, self.random[i])
        self.age[mask] = 0
        self.over[mask] = False
        info = self.runs.start_info()
        return self.runs.observe(), info | {f"_{name}": mask.copy() for name in info}

    def step(self, actions):
        again = np.flatnonzero(self.over)
        seen, rewards, ended, refused, info = self.runs.step(actions)
        ended = ended & ~self.over
        self.age += 1
        if again.size:  # their step was of an episode that is over: this one starts the next
            for i in again:
                self.runs.restart(i, self.random[i])
            seen = self.runs.observe()
            rewards[again] = 0.0
            self.age[again] = 0
            refused[again] = False
        cut = (self.age >= self.max_episode_steps) | refused
        self.over = ended | cut
        return seen, rewards, ended, cut, self.with_masks(info, again)

    def render(self):
        if self.render_mode is None:
            return None
        self.shown = self.shown or render.Pictures(self.task, *self.size)
        return tuple(self.shown.picture(q) for q in self.runs.runs.q)

    def close_extras(self):
        if self.shown:
            self.shown.close()

    def with_masks(self, info, again):
        """Of the runs `again` what a start tells, not the step that they took no part in."""
        start = self.runs.start_info() if again.size else {}
        everyone = np.ones(self.num_envs, dtype=bool)
        others = everyone.copy()
        others[again] = False
        for name, values in info.items() if again.size else ():
            values[again] = start[name][again] if name in start else 0
        told = {name: values for name, values in info.items() if name in start or others.any()}
        return told | {f"_{name}": everyone if name in start else others for name in told}
