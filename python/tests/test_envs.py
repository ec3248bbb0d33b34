"""Environments: gymnasium's checker, the same start, observation and reward as gymnasium's own, one by one the bits
of a vector.
"""

import copy
import inspect
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import stiction

gymnasium = pytest.importorskip("gymnasium", reason="needs gymnasium, pip install 'stiction[envs]'")
envs = pytest.importorskip("stiction.envs.env", reason="registers the environments")
check_env = pytest.importorskip("gymnasium.utils.env_checker", reason="comes with gymnasium").check_env

NAMES = ["HalfCheetah", "Ant", "Humanoid", "Quadruped", "Biped", "PushBox"]


def make(name, **arguments):
    return gymnasium.make(f"stiction/{name}-v0", **arguments)


def started(env):
    env.reset(seed=0)
    return env


def make_vec(name, number, threads, **arguments):
    return gymnasium.make_vec(f"stiction/{name}-v0", num_envs=number, threads=threads, **arguments)


@pytest.mark.filterwarnings("ignore:.*Box observation space m")
@pytest.mark.parametrize("name", NAMES)
def test_gymnasiums_checker_has_nothing_to_say(name):
    check_env(make(name).unwrapped, skip_render_check=True)  # test_envs_render.py has that


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_has_the_bits_of_environments_one_by_one(name, threads):
    runs, steps, limit = 3, 40, 25
    vector = make_vec(name, runs, threads, max_episode_steps=limit)
    vector.action_space.seed(5)
    seen, _ = vector.reset(seed=11)
    actions = [vector.action_space.sample() for _ in range(steps)]
    rows = [(seen, np.zeros(runs), np.zeros(runs, bool), np.zeros(runs, bool)), *(vector.step(a)[:4] for a in actions)]
    for i in range(runs):
        env = make(name, max_episode_steps=limit)
        seen, _ = env.reset(seed=11 + i)
        np.testing.assert_array_equal(rows[0][0][i], seen)
        over = False
        for k, action in enumerate(actions):
            row = (env.reset()[0], 0.0, False, False) if over else env.step(action[i])[:4]
            over = row[2] or row[3]
            for ours, alone in zip(rows[k + 1], row, strict=True):
                np.testing.assert_array_equal(ours[i], alone)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("together", [False, True])
def test_a_vector_tells_what_gymnasiums_own_tells(name, together):
    theirs = gymnasium.vector.SyncVectorEnv([lambda: make(name, max_episode_steps=3)] * 2)
    ours = make_vec(name, 2, 1, max_episode_steps=3)
    ours.action_space.seed(3)
    told = [(ours.reset(seed=1)[1], theirs.reset(seed=1)[1])]
    for k in range(8):
        if k == 2 and not together:
            mask = {"reset_mask": np.array([False, True])}
            told.append((ours.reset(options=mask)[1], theirs.reset(options=mask)[1]))
        action = ours.action_space.sample()
        told.append((ours.step(action)[-1], theirs.step(action)[-1]))
    for mine, reference in told:
        assert set(mine) == set(reference)
        for key, values in reference.items():
            rows = reference["_" + key] if "_" + key in reference else slice(None)
            np.testing.assert_array_equal(mine[key][rows], values[rows])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("runs", [None, 2])
def test_what_a_step_gave_stays_as_it_was(name, runs):
    """Views of the engine's arrays would go on with it."""
    env = make(name) if runs is None else make_vec(name, runs, 1)
    env.action_space.seed(2)
    env.reset(seed=2)
    seen, rewards, *_, info = env.step(env.action_space.sample())
    given = [seen, rewards, *info.values()]
    assert all(np.shape(value) == (() if runs is None else (runs,)) for value in given[1:])
    kept = [np.array(value) for value in given]
    assert not np.array_equal(env.step(env.action_space.sample())[0], seen)
    for value, was in zip(given, kept, strict=True):
        np.testing.assert_array_equal(value, was)


class Fall(envs.Task):
    """Hands out views of the engine's arrays."""

    def __init__(self, **stepping):
        self.world = stiction.World()
        self.world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0, position=(0, 0, 1))
        self.low, self.high, self.observed, self.stepping = -np.ones(1), np.ones(1), 6, stepping

    def start(self, random):
        return self.world.initial_q, self.world.initial_v, ()

    def command(self, actions):
        return np.zeros((*actions.shape[:-1], self.world.nv))

    def observe(self, batch, goals, actions):
        return batch.q[..., 1:]

    def start_info(self, batch):
        return {"v": batch.v[..., 2]}

    def reward(self, batch, goals, before, actions):
        return batch.q[..., 2], batch.q[..., 2] < -100, {"v": batch.v[..., 2]}


@pytest.mark.parametrize("env", [envs.TaskEnv, envs.TaskVectorEnv])
def test_views_that_a_task_hands_out_are_copied(env):
    env = env(Fall)
    start, told = env.reset(seed=0)
    seen, rewards, *_, info = env.step(env.action_space.sample())
    given = [start, told["v"], seen, rewards, info["v"]]
    kept = [np.array(value) for value in given]
    env.step(env.action_space.sample())
    for value, was in zip(given, kept, strict=True):
        np.testing.assert_array_equal(value, was)
    assert seen.ravel()[1] < start.ravel()[1]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "PushBox"])
def test_rewards_are_the_sum_of_their_parts(name):
    env = make(name)
    env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(5):
        _, reward, _, _, info = env.step(env.action_space.sample())
        assert reward == pytest.approx(
            sum(value for key, value in info.items() if key.startswith("reward_")), abs=1e-12
        )


def test_a_step_is_that_of_a_stepper_under_the_same_torques():
    env = make("HalfCheetah")
    env.reset(seed=4)
    task, batch = env.unwrapped.task, env.unwrapped.runs.batch
    stepper = stiction.Stepper(task.world)
    stepper.reset(batch.q, batch.v)
    action = np.linspace(-1, 1, 6)
    seen, *_ = env.step(action)
    for _ in range(5):
        stepper.step(action * [120, 90, 60, 120, 60, 30])
    np.testing.assert_array_equal(seen, np.concatenate((stepper.q[1:], stepper.v)))


@pytest.mark.filterwarnings("ignore:.*Box observation space m")
@pytest.mark.parametrize("name", NAMES)
def test_docstrings_say_what_is_observed_and_what_every_argument_is(name):
    task = getattr(stiction.envs, name)
    assert f"Observed ({task().observed})" in task.__doc__
    own = set(inspect.signature(task.__init__).parameters) - {"self", "stepping", "frame_skip"}
    assert {argument for argument in own if argument not in task.__doc__} == set()
    assert "Reward: " in task.__doc__


def test_the_task_that_the_page_writes_runs(checkout):
    page = (checkout / "docs/environments.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    there = {}
    exec(compile(code, "environments.md", "exec"), there)
    env = there["env"]
    assert env.unwrapped.task.dt == pytest.approx(5e-3)
    check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=1)
    seen, reward, ended, cut, info = env.step(np.ones(1))
    assert seen[1] == pytest.approx(5e-3 * (10.0 - 0.1 * 9.81), rel=1e-6)  # from rest, under friction
    assert (ended, cut, info["x"]) == (False, False, seen[0])
    vector = gymnasium.make_vec("Slide-v0", num_envs=2, threads=1, friction=0.1)
    vector.reset(seed=1)
    rows, rewards, *_ = vector.step(np.ones((2, 1)))
    assert (list(rows[0]), rewards[0]) == (list(seen), reward)


def test_an_action_lasts_as_long_as_its_steps():
    env = make("PushBox", dt=5e-3, frame_skip=4)
    assert env.unwrapped.task.dt == pytest.approx(0.02)
    assert env.unwrapped.metadata["render_fps"] == 50


def test_page_and_package_list_what_a_user_may_say_of_the_steps(checkout):
    from stiction.envs.env import STEPPED

    page = (checkout / "docs/environments.md").read_text()
    listed = page[page.index("Every one takes") : page.index("as `stiction.World`")]
    assert re.findall(r"`([a-z_]+)`", listed) == list(STEPPED)
    said = stiction.envs.__doc__
    listed = said[said.index("Every environment takes") : said.index("as `stiction.World`")]
    assert re.findall(r"(\w+)=", listed) == list(STEPPED)


def test_arguments_that_do_not_fit_are_named():
    env = make("Ant").unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action: expected shape \(8,\)"):
        env.step(np.zeros(3))
    with pytest.raises(ValueError, match=r"actions: expected shape \(2, 8\)"):
        started(make_vec("Ant", 2, 1)).step(np.zeros((3, 8)))
    vector = started(make_vec("Ant", 3, 1))
    for mask in ([0, 0, 1], [True, False], True):
        with pytest.raises(ValueError, match="reset_mask: expected 3 booleans"):
            vector.reset(options={"reset_mask": np.array(mask)})
    vector.reset(options={"reset_mask": np.array([False, False, True])})
    with pytest.raises(ValueError, match="law"):
        make("Ant", law="sticky")
    for number in (-1, 0, 2.5, True):
        with pytest.raises(ValueError, match=f"num_envs: expected a whole number of runs >= 1, got {number}"):
            make_vec("Ant", number, 1)
    world = env.task.world
    for named, arguments in {
        "runs": {"runs": 0},
        "threads": {"threads": 0},
        "kd": {"kd": 1.0},
        "kp": {"kp": -1.0},
        r"kd\[0\]": {"kp": 1.0, "kd": np.nan},
        "drives.servos": {"kp": 1.0, "scheme": "energy_momentum"},
        "links": {"links": np.zeros((2, 3))},
    }.items():
        with pytest.raises(ValueError, match=named):
            stiction.Batch(world, **({"runs": 1} | arguments))
    with pytest.raises(ValueError, match="command: expected shape"):
        stiction.Batch(world, 2).step(np.zeros((2, 3)))


def test_the_biped_stands_where_it_is_not_pushed_and_falls_where_it_is_pushed_hard():
    for push, stands in ((0.0, True), (3.0, False)):
        env = make_vec("Biped", 8, 1, push=push)
        env.reset(seed=0)
        fell = np.zeros(8, bool)
        for _ in range(150):
            fell |= env.step(np.zeros((8, 10)))[2]
        assert fell.any() != stands, push


def test_a_finger_that_is_driven_at_the_box_brings_it_to_a_goal_behind_it():
    env = make("PushBox").unwrapped
    env.reset(seed=0)
    runs = env.runs
    runs.goals[:] = 0.15, 0.0
    runs.runs.restart(0)  # at the scene's start, the finger behind the box
    for _ in range(200):
        v, x = runs.batch.v_world, runs.batch.q
        _, _, there, _, info = env.step(np.clip([0.35 + 0.2 - v[0], -2 * x[1] - v[1]], -1, 1))
        if there:
            break
    assert there, info
    assert info["distance"] < 0.02


def in_mujoco(name, q, v):
    mujoco = pytest.importorskip("mujoco", reason="needs mujoco as the reference")
    env = gymnasium.make(f"{name}-v5").unwrapped
    env.set_state(q, v)
    mujoco.mj_forward(env.model, env.data)
    return env


@pytest.mark.parametrize("name", ["HalfCheetah", "Ant", "Humanoid"])
def test_starts_and_spaces_are_those_of_gymnasiums_own(name):
    pytest.importorskip("mujoco", reason="needs mujoco as the reference")
    ours, theirs = make(name), gymnasium.make(f"{name}-v5")
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.unwrapped.task.dt == pytest.approx(theirs.unwrapped.dt)
    for seed in range(3):
        seen, info = ours.reset(seed=seed)
        expected, told = theirs.reset(seed=seed)
        if name != "HalfCheetah":
            quaternion = slice(1, 5)  # theirs is seen as it was drawn, not of unit length
            expected[quaternion] /= np.linalg.norm(expected[quaternion])
        # Nothing touches at the start but where a foot of the Ant is drawn into the ground: forces are those of a
        # step here.
        forces = 6 * len(ours.unwrapped.task.bodies) if name != "HalfCheetah" else 0
        count = len(seen) - forces
        np.testing.assert_allclose(seen[:count], expected[:count], atol=1e-9)
        for key in info:
            assert info[key] == pytest.approx(told[key], abs=1e-12)


# Springs are taken at the end of the step here and at its start by MuJoCo, an error of first order in the step: in
# 0.1 s at 10 ms those of the HalfCheetah change velocities by a tenth; the Ant has none. What MuJoCo lets go straight
# within a step is the origin of a base, here it is the centre of mass.
@pytest.mark.parametrize(("name", "off"), [("HalfCheetah", 0.1), ("Ant", 1e-4), ("Humanoid", 0.02)])
def test_a_flight_is_seen_and_rewarded_as_in_mujoco(name, off):
    ours = make(name).unwrapped
    task = ours.task
    q, v = lifted(task, name)
    theirs = in_mujoco(name, q, v)
    ours.reset(seed=0)
    ours.runs.runs.restart(0, *task.own(q, v))
    action = 0.1 * np.linspace(-1, 1, len(task.low))
    theirs.model.opt.integrator = 0  # semi-implicit Euler, as here
    for _ in range(2):
        seen, reward, ended, _, info = ours.step(action)
        expected, rewarded, over, _, told = theirs.step(action)
    n = len(q) + len(v) - (1 if name == "HalfCheetah" else 2)
    np.testing.assert_allclose(seen[:n], expected[:n], atol=off)
    assert reward == pytest.approx(rewarded, abs=0.01)  # theirs has places one step of five late
    assert ended == over
    assert set(info) == set(told) - {"tendon_length", "tendon_velocity"}


def lifted(task, name):
    """Off the ground and within the joints' limits, so that nothing touches."""
    q = task.q0.copy()
    q[1 if name == "HalfCheetah" else 2] += 0.35
    if name == "Ant":
        q[7:] = [0, 0.8, 0, -0.8, 0, -0.8, 0, 0.8]
    for joint in task.world.joints:
        if "knee" in joint.name:
            q[joint.q] = -0.5
    v = np.zeros(task.world.nv)
    v[0] = 0.5
    return q, v


def test_the_training_example_learns_for_a_while(checkout, tmp_path):
    pytest.importorskip("stable_baselines3", reason="needs stable-baselines3, which brings torch")
    words = [sys.executable, checkout / "examples/train_biped.py", "--steps", "4096", "--every", "4096"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "4096 actions: reward" in done.stdout


@pytest.mark.parametrize("name", ["HalfCheetah", "Quadruped", "PushBox"])
def test_arguments_that_are_none_are_said(name):
    for skip in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match=f"frame_skip: expected a whole number of steps >= 1, got {skip!r}"):
            gymnasium.make(f"stiction/{name}-v0", frame_skip=skip)
    with pytest.raises(TypeError, match=f"{name}: expected .*frame_skip.*law.*, got foo, bar"):
        gymnasium.make(f"stiction/{name}-v0", foo=3, bar=1)


@pytest.mark.parametrize("name", NAMES)
def test_actions_that_are_no_numbers_are_named_and_move_nothing(name):
    env, vector = started(make(name).unwrapped), started(make_vec(name, 3, 1))
    for bad in (np.nan, np.inf, -np.inf):
        action, actions = np.zeros(len(env.task.low)), np.zeros(vector.action_space.shape)
        action[1] = actions[2, 1] = bad
        before = env.runs.runs.q.copy(), vector.unwrapped.runs.runs.q.copy()
        with pytest.raises(ValueError, match=re.escape(f"action[1]: expected a finite number, got {bad}")):
            env.step(action)
        with pytest.raises(ValueError, match=re.escape(f"actions[2, 1]: expected a finite number, got {bad}")):
            vector.step(actions)
        np.testing.assert_array_equal(env.runs.runs.q, before[0])
        np.testing.assert_array_equal(vector.unwrapped.runs.runs.q, before[1])
    with pytest.raises(ValueError, match="action: expected numbers, got complex128"):
        env.step(np.zeros(len(env.task.low), complex))


@pytest.mark.parametrize(
    ("name", "argument", "values"),
    [
        ("Ant", "healthy_z_range", (3, (1, 0), (0.2, np.nan), "ab")),
        ("Ant", "healthy_reward", (np.nan, "a", None)),
        ("Ant", "forward_reward_weight", ("a", np.inf)),
        ("Ant", "terminate_when_unhealthy", ("no", 1)),
        ("Ant", "contact_force_range", ((1, -1), 2)),
        ("Ant", "reset_noise_scale", (-1, np.nan)),
        ("Humanoid", "contact_cost_range", ((1, -1),)),
        ("HalfCheetah", "reset_noise_scale", (-1,)),
        ("PushBox", "distance", (np.nan, -1, 0, (0, 0), np.inf)),
        ("Quadruped", "forward", (np.nan, 3, (1, -1), (0, np.inf))),
        ("Biped", "push", (-1, np.nan, (1, 2))),
    ],
)
def test_arguments_of_a_task_are_asked_when_it_is_made(name, argument, values):
    for value in values:
        for maker in (make, lambda name, **arguments: make_vec(name, 2, 1, **arguments)):
            with pytest.raises(ValueError, match=rf"^{argument}: expected .*, got {re.escape(repr(value))}$"):
                maker(name, **{argument: value})


@pytest.mark.parametrize("seed", ["a", 0.5])
def test_seeds_that_are_none_are_said(seed):
    with pytest.raises(ValueError, match=f"seed: expected a whole number, a list of them or None, got {seed!r}"):
        make_vec("HalfCheetah", 2, 1).reset(seed=seed)


def test_what_may_be_infinite_is_taken():
    env = started(make("Ant", healthy_z_range=(0.2, np.inf), terminate_when_unhealthy=np.bool_(True)))
    env.step(np.zeros(8))


@pytest.mark.parametrize("name", NAMES)
def test_a_start_comes_before_the_first_step_and_says_what_it_does_not_know(name):
    env, vector = make(name).unwrapped, make_vec(name, 3, 1)
    for one in (env, vector):
        with pytest.raises(gymnasium.error.ResetNeeded, match="step: expected a reset before the first one"):
            one.step(np.zeros(one.action_space.shape))
    vector.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        vector.step(np.zeros(vector.action_space.shape))
    with pytest.raises(ValueError, match="options: expected none, got x"):
        env.reset(options={"x": 1})
    with pytest.raises(ValueError, match="options: expected reset_mask, got x"):
        vector.reset(options={"x": 1})
    env.reset(options={})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("runs", [None, 2])
@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_and_pickles_go_on_with_the_same_bits(name, runs, again):
    env = started((make(name) if runs is None else make_vec(name, runs, 1)).unwrapped)
    env.action_space.seed(1)
    for _ in range(3):
        env.step(env.action_space.sample())
    other = again(env)
    for k in range(6):
        action = env.action_space.sample()
        both = [one.reset() if k == 3 else one.step(action) for one in (env, other)]
        for mine, same in zip(*both, strict=True):
            np.testing.assert_equal(mine, same)
        assert other.runs.runs.q.ctypes.data != env.runs.runs.q.ctypes.data


@pytest.mark.parametrize("law", ["linear_penalty", "stick_slip_spring", "hunt_crossley", "regularized_stiction", "sap"])
@pytest.mark.parametrize("name", ["Ant", "Quadruped", "PushBox"])
def test_laws_that_give_way_need_a_material_and_take_it(name, law):
    with pytest.raises(ValueError, match=rf"^material.stiffness: expected a number > 0 .*law {law}"):
        make(name, law=law)
    material = {"stiffness": 5e4, "damping": 100.0, "stiffness_tangential": 5e4, "dissipation_time": 0.01}
    env = started(make(name, law=law, material=material))
    env.action_space.seed(0)
    cut = 0
    for _ in range(20):
        *_, over, short, _ = env.step(env.action_space.sample())
        cut += short
        if over or short:
            env.reset()
    assert cut == 0


def test_info_tells_a_refused_step_from_the_end_of_time():
    strict = {"tolerance": 1e-17, "acceptable": 1e-17}  # no step of a robot that stands meets it
    env = gymnasium.make("stiction/Ant-v0", **strict).unwrapped
    env.reset(seed=1)
    seen = [env.step(np.full(8, 0.1)) for _ in range(3)][-1]
    assert seen[3]
    assert seen[4]["refused"]
    short = gymnasium.make_vec("stiction/Ant-v0", num_envs=2, max_episode_steps=2)
    short.reset(seed=1)
    for last in (False, True):
        *_, cut, info = short.step(np.full((2, 8), 0.1))
        assert cut.all() == last
        assert "refused" not in info
