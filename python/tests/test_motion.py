"""Feedback and plans: their equations, the joints that follow, a robot that trots under them."""

import numpy as np
import pytest

import stiction

FEET = ["LF_foot", "RF_foot", "LH_foot", "RH_foot"]


@pytest.fixture
def world():
    return stiction.World.from_scene("quadruped")


def joints_of(world):
    by_v = {joint.v: joint.q for joint in world.joints}
    return np.array([by_v[i] for i in world.actuated])


def with_joints(world, angles):
    q = world.initial_q.copy()
    q[joints_of(world)] = angles
    return q


def test_feedback_is_the_sum_of_its_terms():
    control = stiction.JointController(2, kp=[2.0, 3.0], kd=0.5, ki=10.0, dt=0.01)
    q, v, wanted, rate = np.array([0.1, 0.2]), np.array([1.0, -1.0]), np.array([0.3, 0.1]), np.array([0.0, 0.5])
    error, integral = wanted - q, (wanted - q) * 0.01
    expected = np.array([2.0, 3.0]) * error + 0.5 * (rate - v) + 10.0 * integral
    np.testing.assert_allclose(control.torques(q, v, wanted, rate), expected, rtol=1e-14)
    np.testing.assert_allclose(control.torques(q, v, wanted, rate), expected + 10.0 * integral, rtol=1e-14)
    control.reset()
    np.testing.assert_allclose(control.torques(q, v, wanted, rate), expected, rtol=1e-14)


def test_the_reference_is_what_inverse_dynamics_takes():
    control = stiction.JointController(1, kp=100.0, kd=20.0, dt=1e-3, lookahead=5e-3)
    a, v = control.reference([0.1], [0.2], [0.3], [0.0], [1.0])
    assert a == pytest.approx([1.0 + 100.0 * 0.2 + 20.0 * -0.2])
    assert v == pytest.approx([0.2 + 5e-3 * a[0]])


def test_joints_put_the_feet_where_the_plan_says(world):
    planner = stiction.TrotPlanner(world, FEET)
    before = None
    swung = np.zeros(4, bool)
    for t in np.arange(0.0, 0.6, 0.01):
        plan = planner.update(t, (0.1, 0.02, 0.3))
        q = with_joints(world, plan.q)
        base = np.linalg.inv(world.pose("trunk", q))
        feet = np.array([(base @ world.pose(foot, q))[:3, 3] for foot in FEET])
        np.testing.assert_allclose(feet, plan.feet, atol=1e-8)
        v = np.zeros(world.nv)
        v[world.actuated] = plan.v
        turn = base[:3, :3]
        rates = np.array([turn @ world.velocity(foot, q, v)[:3] for foot in FEET])
        np.testing.assert_allclose(rates, plan.foot_velocities, atol=1e-8)
        if before is not None:
            # Stance feet move against the command: dx/dt = -(v + w x p).
            still = np.array(plan.stance) & np.array(before.stance)
            against = -(np.array([0.1, 0.02, 0.0]) + np.cross([0, 0, 0.3], plan.feet))
            np.testing.assert_allclose(plan.foot_velocities[still], against[still], atol=1e-9)
        swung |= ~np.array(plan.stance)
        before = plan
    assert swung.all()


def test_feet_that_roll_have_no_speed_where_they_touch_the_ground(world):
    planner = stiction.TrotPlanner(world, FEET, foot_radius=0.01)
    command = np.array([0.1, 0.02, 0.3])
    for t in np.arange(0.0, 0.6, 0.01):
        plan = planner.update(t, command)
        q, v = with_joints(world, plan.q), np.zeros(world.nv)
        v[world.actuated] = plan.v
        turn = np.linalg.inv(world.pose("trunk", q))[:3, :3]
        for i in np.flatnonzero(plan.stance):
            linear, angular = np.split(world.velocity(FEET[i], q, v), 2)
            lowest = turn @ linear + np.cross(turn @ angular, [0, 0, -0.01])
            base = np.array([*command[:2], 0]) + np.cross([0, 0, command[2]], plan.feet[i])
            np.testing.assert_allclose(lowest + base, 0.0, atol=1e-8)


def test_the_quadruped_trots_forward_under_plan_and_feedback(world):
    planner = stiction.TrotPlanner(world, FEET, start_time=0.2)
    control = stiction.JointController(12, kp=20.0, kd=0.3)
    stepper = stiction.Stepper(world)
    at = joints_of(world)
    start = stepper.q[0]
    while stepper.time < 1.7:
        plan = planner.update(stepper.time, (0.1, 0.0, 0.0))
        assert stepper.step(control.torques(stepper.q[at], stepper.v[world.actuated], plan.q, plan.v))
    assert stepper.q[2] > 0.1
    assert 0.07 < stepper.q[0] - start < 0.2  # 0.15 m asked for


def test_arguments_that_do_not_fit_are_named(world):
    for named, make in {
        "kp": lambda: stiction.JointController(2, kp=[1.0, 2.0, 3.0]),
        "joints": lambda: stiction.JointController(0, kp=1.0),
        "q_desired": lambda: stiction.JointController(2, kp=1.0).torques([0, 0], [0, 0], [0]),
        r"q_desired\[1\]: expected a number within 1e9 of 0": lambda: stiction.JointController(2, kp=1.0).torques(
            [0, 0], [0, 0], [0, -1e200]
        ),
        r"\bq\[0\]: expected a number within 1e9 of 0": lambda: stiction.JointController(2, kp=1.0).reference(
            [2e9, 0], [0, 0], [0, 0]
        ),
        r"v_desired\[0\]: expected a number whose distance from v\[0\] is finite": lambda: stiction.JointController(
            2, kp=1.0
        ).reference([0, 0], [-1e308, 0], [0, 0], [1e308, 0]),
        "period: expected a finite number >= 0.001 s, got 1e-09": lambda: stiction.TrotPlanner(
            world, FEET, period=1e-9
        ),
        "step_height: expected a number from 0 to": lambda: stiction.TrotPlanner(world, FEET, step_height=5.0),
        "foot_radius: expected a number from 0 to": lambda: stiction.TrotPlanner(world, FEET, foot_radius=9.0),
        "feedback: expected a finite number >= 0, got -1": lambda: stiction.TrotPlanner(world, FEET, feedback=-1.0),
        "command: expected at most": lambda: stiction.TrotPlanner(world, FEET).update(0.0, (1e6, 0, 0)),
        "touchdown: expected 2 phases, one per foot, got None": lambda: stiction.TrotPlanner(world, FEET[:2]),
        "duty: expected a number": lambda: stiction.TrotPlanner(world, FEET, duty=1.5),
        "measured: expected": lambda: stiction.TrotPlanner(world, FEET, feedback=0.1).update(0.0, (0, 0, 0)),
        "nominal_feet": lambda: stiction.TrotPlanner(world, FEET, nominal_feet=np.zeros((2, 3))),
        "feet": lambda: stiction.TrotPlanner(world, ["trunk"], touchdown=[0.0]),
        "feet: .*'tail'": lambda: stiction.TrotPlanner(world, ["tail"]),
        "step_height: expected a number from 0 to 0.*, got 0.15": lambda: stiction.TrotPlanner(
            world, FEET, step_height=0.15
        ),
        "command: expected none .* foot 0": lambda: stiction.TrotPlanner(world, FEET, duty=1.0).update(
            0.0, (0.2, 0, 0)
        ),
        f"feet: expected every foot once, got '{FEET[1]}' twice": lambda: stiction.TrotPlanner(
            world, [*FEET[:3], FEET[1]]
        ),
        "command": lambda: stiction.TrotPlanner(world, FEET).update(0.0, (1.0,)),
        "start_time": lambda: stiction.TrotPlanner(world, FEET, start_time=np.nan),
        "feedback": lambda: stiction.TrotPlanner(world, FEET, feedback=np.inf),
        "t: expected a finite": lambda: stiction.TrotPlanner(world, FEET).reset(np.inf),
        "1000 periods": lambda: stiction.TrotPlanner(world, FEET).update(1e9, (0.1, 0.0, 0.0)),  # took an hour
    }.items():
        with pytest.raises(ValueError, match=named):
            make()


def test_feedback_that_no_double_holds_is_refused_and_not_remembered():
    control = stiction.JointController(1, kp=1.0, kd=1e200, ki=1.0, dt=1e-3)
    first = stiction.JointController(1, kp=1.0, kd=1e200, ki=1.0, dt=1e-3).torques([0.0], [0.0], [1.0])
    with pytest.raises(ValueError, match="kp, kd, ki: expected gains that with these values give finite torques"):
        control.torques([0.0], [0.0], [1e9], [1e200])
    with pytest.raises(ValueError, match="kp, kd, ki: expected gains that with these values give finite accelerations"):
        control.reference([0.0], [0.0], [1e9], [1e200])
    np.testing.assert_array_equal(control.torques([0.0], [0.0], [1.0]), first)
    with pytest.raises(ValueError, match=r"q_desired\[0\]: expected a number within 1e9 of 0"):
        stiction.JointController(1, 1e200, kd=1e200).torques([0.0], [0.0], [1e200])
