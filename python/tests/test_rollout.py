"""rollout: many runs at once, each with the bits of one stepper alone."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import stiction

STEPS = 60


def falling_boxes():
    world = stiction.World(friction=0.4)
    world.add_ground()
    for i in range(3):
        world.add_body(
            f"box{i}", stiction.Shape.box((0.1, 0.1, 0.1)), mass=1.0 + i, position=(0.02 * i, 0, 0.06 + 0.12 * i)
        )
    return world


def starts(world, runs):
    random = np.random.default_rng(3)
    return random.uniform(-0.5, 0.5, (runs, world.nv)), random.uniform(-1, 1, (runs, STEPS, world.nv))


@pytest.mark.parametrize("threads", [1, 2, None])
def test_each_run_has_the_bits_of_a_stepper_alone(threads):
    world = falling_boxes()
    v, tau = starts(world, 5)
    out = stiction.rollout(world, v=v, tau=tau, threads=threads)
    assert out.q.shape == (5, STEPS + 1, world.nq)
    assert out.v.shape == (5, STEPS + 1, world.nv)
    assert list(out.taken) == [STEPS] * 5
    assert out.status == ["solved"] * 5
    stepper = stiction.Stepper(world)
    for i in range(5):
        stepper.reset(v=v[i])
        for k in range(STEPS):
            np.testing.assert_array_equal(out.v[i, k], stepper.v)
            stepper.step(tau[i, k])
        np.testing.assert_array_equal(out.q[i, STEPS], stepper.q)


JOINED = """<mujoco><worldbody>
<body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
<body name="d" pos=".3 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
<equality>{}</equality></mujoco>"""


@pytest.mark.parametrize("law", ["frictionless", "coulomb_cone", "coulomb_pyramid", "anitescu", "moreau", "no_slip"])
@pytest.mark.parametrize("join", ['<connect body1="a" body2="d" anchor=".15 0 0"/>', '<weld body1="a" body2="d"/>'])
def test_a_run_that_flies_out_of_numbers_is_a_status_of_its_own(law, join):
    world = stiction.World()
    world.add_ground()
    world.add_robot(JOINED.format(join), name="r")
    v = np.zeros((3, world.nv))
    for seed in range(5):
        v[1] = 1e8 * np.random.default_rng(seed).normal(size=world.nv)
        out = stiction.rollout(world, v=v, steps=10, law=law)
        assert list(out.taken[[0, 2]]) == [10, 10]
        assert out.taken[1] == 10 or out.status[1] != "solved"
        assert out.errors == [""] * 3
        assert np.isfinite(out.q).all()
        batch, stepper = stiction.Batch(world, 3, law=law), stiction.Stepper(world, law=law)
        batch.restart(1, None, v[1])
        stepper.reset(None, v[1])
        for k in range(10):
            batch.step(np.zeros((3, world.nv)))
            assert list(batch.taken[[0, 2]]) == [1, 1]
            assert bool(batch.taken[1]) == bool(stepper.step())
            np.testing.assert_array_equal(batch.q[1], stepper.q)
            np.testing.assert_array_equal(batch.q[0], out.q[0, k + 1])


def test_torques_of_driven_joints_are_cut_and_go_for_all_runs():
    world = stiction.World(gravity=(0, 0, 0))
    world.add_robot("models/links.urdf", floating=True)
    driven = world.actuated
    limits = np.array([j.effort_limit for j in world.joints if j.actuated])
    tau = np.tile(10 * limits, (4, 1))
    cut = stiction.rollout(world, tau=tau)
    full = np.zeros((2, 4, world.nv))
    full[:, :, driven] = limits
    np.testing.assert_array_equal(cut.q[0], stiction.rollout(world, tau=full).q[1])
    assert np.any(cut.q != stiction.rollout(world, tau=tau, effort_limits=False).q)


def test_without_torques_the_held_joints_hold():
    world = stiction.World.from_scene("quadruped")
    out = stiction.rollout(world, steps=20)
    held = stiction.simulate("quadruped", duration=20 * stiction.Stepper(world).dt)
    np.testing.assert_array_equal(out.q[0], held.q)


def test_a_stepper_without_torques_knows_of_no_held_joints():
    world = stiction.World.from_scene("quadruped")
    v = np.zeros(world.nv)
    v[world.actuated] = 1.0
    stepper = stiction.Stepper(world)
    stepper.reset(v=v)
    for _ in range(20):
        stepper.step()
    free = stiction.rollout(world, v=v, tau=np.zeros((20, world.nv)))
    np.testing.assert_array_equal(free.q[0, -1], stepper.q)
    assert np.abs(stiction.rollout(world, v=v, steps=20).q[0, -1] - stepper.q).max() > 1e-3


def test_arguments_that_do_not_fit_are_named():
    world = falling_boxes()
    v, tau = starts(world, 2)
    for named, arguments in {
        "steps: expected a number": {},
        "steps: expected 60": {"tau": tau, "steps": 5},
        "v: expected 18 numbers": {"v": v[:, :3], "steps": 1},
        "v: expected an array of 1 dim": {"v": tau, "steps": 1},
        "tau: expected 2 runs": {"v": v, "tau": tau[:1].repeat(3, axis=0)},
        "tau: expected 18 generalised": {"tau": tau[:, :, :4]},
        "threads": {"steps": 1, "threads": 0},
        "v: expected an array of numbers": {"v": [[0.0] * 18, [0.0]], "steps": 1},
        "q.*finite": {"q": np.full(world.nq, np.nan), "steps": 1},
        "dt": {"steps": 1, "dt": -1.0},
    }.items():
        with pytest.raises(ValueError, match=named):
            stiction.rollout(world, **arguments)
    with pytest.raises(TypeError, match="threads"):
        stiction.rollout(world, steps=1, threads="two")


def test_the_run_and_the_step_of_what_is_not_finite_are_named():
    world = falling_boxes()
    _, tau = starts(world, 3)
    tau[2, 5, 1] = np.inf
    with pytest.raises(ValueError, match=r"tau\[2, 5, 1\]: expected a finite number"):
        stiction.rollout(world, tau=tau)


def test_no_steps_and_no_runs():
    world = falling_boxes()
    assert stiction.rollout(world, steps=0).q.shape == (1, 1, world.nq)
    assert "runs=1" in repr(stiction.rollout(world, steps=2))


def test_no_runs_are_refused():
    world = falling_boxes()
    for name, shape in {"q": (0, world.nq), "v": (0, world.nv), "tau": (0, 3, world.nv)}.items():
        with pytest.raises(ValueError, match=f"{name}: expected one run or more"):
            stiction.rollout(world, **({"steps": 3} | {name: np.zeros(shape)}))


def test_steps_that_memory_does_not_hold_are_refused():
    program = """
import resource, stiction
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
world = stiction.World()
world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0)
stiction.rollout(world, steps=2**31 - 1)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "ValueError: steps: expected as many as memory holds" in done.stderr


@pytest.fixture
def ctrl_c_is_heard():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="no signals to a thread")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_what_takes_long(threads, ctrl_c_is_heard):
    world = falling_boxes()
    batch = stiction.Batch(world, 2, threads)
    calls = [
        lambda: batch.step(np.zeros((2, 0)), 10**8),
        lambda: stiction.rollout(world, steps=10**6, threads=threads),
        lambda: stiction.simulate(world, 1e3),
    ]
    for call in calls:
        timer = threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        start = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - start < 2.0
    batch.step(np.zeros((2, 0)), 2)
    assert list(batch.taken) == [2, 2]


def in_child(task):
    """What a forked process that does this ends with: 0, a signal below, 1 after an exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
        child = os.fork()
    if child == 0:
        code = 1
        try:
            task()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + 20.0
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.01)
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_forked_process_steps_and_drops_the_batch_that_it_inherits(threads):
    runs, steps = 8, 5
    kept = [stiction.Batch(falling_boxes(), runs, threads) for _ in range(2)]
    tau = np.zeros((runs, 0))
    for batch in kept:
        batch.step(tau, steps)

    def drop():
        kept.clear()

    def step():
        kept[0].step(tau, steps)
        assert np.array_equal(kept[0].q, expected)
        drop()

    other = stiction.Batch(falling_boxes(), runs, 1)
    other.step(tau, 2 * steps)
    expected = other.q.copy()
    for task in (drop, step, lambda: kept[0].copy().step(tau, steps)):
        assert [in_child(task) for _ in range(3)] == [0, 0, 0]
    kept[0].step(tau, steps)
    np.testing.assert_array_equal(kept[0].q, expected)
