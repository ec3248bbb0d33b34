"""Drives of a stepper's joints: velocities, servos, limits, and the torques that they take."""

from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.frames import TORQUES, charts_of
from stiction.trajectory import Trajectory, of_simulation


def hanging_arm():
    world = stiction.World()
    world.add_robot("models/ur10.urdf")
    return world


def test_velocity_drives_bring_joints_to_their_velocities_within_effort_limits():
    stepper = stiction.Stepper(hanging_arm(), dt=1e-3)
    wanted = np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1])
    stepper.drive(velocity=wanted, limits=np.inf)
    assert stepper.step().status == "solved"
    np.testing.assert_allclose(stepper.v, wanted, atol=1e-12)
    other = stiction.Stepper(hanging_arm(), dt=1e-3, effort_limits=False)
    other.step(stepper.drive_torques)
    np.testing.assert_allclose(other.v, wanted, atol=1e-9)
    world = hanging_arm()
    weak = stiction.Stepper(world, dt=1e-3)
    weak.drive(velocity=100 * wanted)
    weak.step()
    efforts = np.array([joint.effort_limit for joint in world.joints if joint.actuated])
    assert (np.abs(weak.drive_torques) <= efforts * (1 + 1e-12)).all()
    np.testing.assert_allclose(np.abs(weak.drive_torques / efforts).max(), 1, rtol=1e-12)
    weak.drive()
    weak.step()
    np.testing.assert_array_equal(weak.drive_torques, 0)


def test_servos_hold_a_position_at_any_gain_and_step():
    stepper = stiction.Stepper(hanging_arm(), dt=0.05)
    goal = np.array([0.0, -1.2, 1.4, -1.0, 0.5, 0.3])
    stepper.drive(position=goal, kp=1e5, kd=1e4, limits=np.inf)
    for _ in range(100):
        assert stepper.step()
    np.testing.assert_allclose(stepper.q, goal, atol=5e-3)
    np.testing.assert_allclose(stepper.v, 0, atol=1e-3)
    np.testing.assert_allclose(stepper.drive_torques, 1e5 * (goal - stepper.q) - 1e4 * stepper.v, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    ("scheme", "sub_steps"),
    [
        ("semi_implicit_euler", 1),
        ("semi_implicit_euler", 4),
        ("moreau_midpoint", 1),
        ("moreau_midpoint", 3),
        ("event_driven", 1),
    ],
)
def test_torques_of_servos_are_those_of_the_steps_end(scheme, sub_steps):
    stepper = stiction.Stepper(hanging_arm(), dt=2e-3, scheme=scheme, sub_steps=sub_steps)
    goal = np.array([0.5, -1.2, 1.4, -1.0, 0.5, 0.3])
    stepper.drive(position=goal, kp=20.0, kd=5.0, limits=np.inf)
    for _ in range(5):
        assert stepper.step()
        np.testing.assert_allclose(
            stepper.drive_torques, 20.0 * (goal - stepper.q) - 5.0 * stepper.v, rtol=1e-9, atol=1e-9
        )
    with pytest.raises(ValueError, match="kp"):
        stepper.drive(position=goal)


def test_torques_of_drives_are_those_of_the_last_step_whichever_are_set_since():
    for first in ({"position": 0.5, "kp": 20.0, "kd": 5.0}, {"velocity": 0.1}):
        stepper = stiction.Stepper(hanging_arm())
        stepper.drive(**first)
        stepper.step()
        torques = stepper.drive_torques
        assert np.abs(torques).max() > 1.0
        for then in ({"velocity": 0.3}, {"position": 0.0, "kp": 1.0}, {}):
            stepper.drive(**then)
            np.testing.assert_array_equal(stepper.drive_torques, torques)
            np.testing.assert_array_equal(stepper.copy().drive_torques, torques)
        stepper.step()
        np.testing.assert_array_equal(stepper.drive_torques, 0.0)


def test_servos_with_limits_end_on_the_clamped_line():
    limit = np.array([40.0, 60.0, 50.0, 5.0, 5.0, 5.0])
    goal = np.array([0.5, -1.2, 1.4, -1.0, 0.5, 0.3])
    stepper = stiction.Stepper(hanging_arm(), dt=0.01)
    stepper.drive(position=goal, kp=300.0, kd=20.0, limits=limit)
    met = set()
    for _ in range(150):
        assert stepper.step().status == "solved"
        free = 300.0 * (goal - stepper.q) - 20.0 * stepper.v
        np.testing.assert_allclose(stepper.drive_torques, np.clip(free, -limit, limit), rtol=1e-9, atol=1e-6)
        met |= set(np.sign(np.trunc(free / limit)))
    assert 0.0 in met
    assert len(met) > 1
    # The torques are those that make this motion.
    before, other = stepper.copy(), stiction.Stepper(hanging_arm(), dt=0.01, effort_limits=False)
    other.reset(before.q, before.v)
    assert stepper.step()
    other.step(stepper.drive_torques)
    np.testing.assert_allclose(other.v, stepper.v, atol=1e-9)


def test_servos_keep_to_the_motors_of_the_file():
    world = hanging_arm()
    efforts = np.array([joint.effort_limit for joint in world.joints if joint.actuated])
    stepper = stiction.Stepper(world, dt=0.01)
    stepper.drive(position=3.0, kp=1e5, kd=1e3)
    assert stepper.step().status == "solved"
    np.testing.assert_allclose(stepper.drive_torques[:5], efforts[:5], rtol=1e-12)  # the last one comes to its goal
    assert abs(stepper.drive_torques[5]) < efforts[5]
    stepper.drive(position=3.0, kp=1e5, kd=1e3, limits=np.inf)
    stepper.step()
    assert (stepper.drive_torques > 2.0 * efforts).any()
    ahead = stiction.Stepper(world, scheme="event_driven")
    with pytest.raises(ValueError, match=r"limits .those of a robot's file too. under this scheme, got event_driven"):
        ahead.drive(position=3.0, kp=1e5)


def test_runs_record_the_torques_of_drives(tmp_path):
    (tmp_path / "scene.toml").write_text(
        """[simulation]
duration = 2.0
[[robot]]
file = "slide.xml"
[[drive]]
position = 0.1
kp = 400.0
kd = 40.0
"""
    )
    (tmp_path / "slide.xml").write_text(
        """<mujoco><worldbody><body><joint name="slide" type="slide" axis="0 0 1"/>
        <geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody>
        <actuator><motor joint="slide" ctrlrange="-30 30" ctrllimited="true"/></actuator></mujoco>"""
    )
    run = stiction.simulate(tmp_path / "scene.toml")
    gravity = 9.81
    np.testing.assert_allclose(run.drive_tau[-1], 2.0 * gravity, rtol=1e-6)
    np.testing.assert_allclose(run.drive_tau[1:].max(), 30.0, rtol=1e-12)
    np.testing.assert_array_equal(run.drive_tau[0], 0.0)
    np.testing.assert_array_equal(run.tau, 0.0)
    np.testing.assert_allclose(2.0 * np.diff(run.v[:, 0]) / 1e-3, run.drive_tau[1:, 0] - 2.0 * gravity, atol=1e-9)
    recorded = of_simulation(run)
    (torques,) = (chart for chart in charts_of(recorded) if chart.title == TORQUES)
    np.testing.assert_array_equal(torques.values, run.drive_tau)
    recorded.save(tmp_path / "run.mcap")
    np.testing.assert_array_equal(Trajectory.load(tmp_path / "run.mcap").drive_tau, run.drive_tau)


def test_motors_keep_to_their_torque_speed_line_and_belts_to_their_ratio():
    stepper = stiction.Stepper(hanging_arm(), dt=1e-3)
    names = [joint.name for joint in hanging_arm().joints if joint.actuated]
    stepper.drive(velocity=5.0, limits=20.0, no_load=4.0, coupled=[({names[4]: 1.0, names[5]: -2.0}, 0.0)])
    for _ in range(20):
        assert stepper.step().status == "solved"
        line = 20.0 * (1.0 - stepper.v / 4.0)
        np.testing.assert_allclose(stepper.drive_torques[:4], line[:4], atol=1e-6)
        np.testing.assert_allclose(stepper.v[4], 2.0 * stepper.v[5], atol=1e-10)


def test_belts_tell_their_torques(tmp_path):
    world = hanging_arm()
    names = [joint.name for joint in world.joints if joint.actuated]
    stepper = stiction.Stepper(world, dt=1e-3)
    stepper.drive(coupled=[({names[1]: 1.0, names[2]: -2.0}, 0.3), ({names[2]: 1.0, names[4]: 0.5}, 0.0)])
    q, v = stepper.q, stepper.v
    assert stepper.step().status == "solved"
    needed = world.mass_matrix(q) @ (stepper.v - v) / 1e-3 + world.bias(q, v)
    assert np.abs(needed).max() > 10.0
    np.testing.assert_allclose(stepper.drive_torques, needed, atol=1e-9)
    scene = tmp_path / "belt.toml"
    robot = Path("models/ur10.urdf").resolve()
    scene.write_text(
        f'[simulation]\nduration = 0.01\n[[robot]]\nfile = "{robot}"\n'
        f"[[coupled]]\njoints = {{ {names[1]} = 1.0, {names[2]} = -2.0 }}\nvelocity = 0.3\n"
    )
    run = stiction.simulate(scene)
    assert run.drive_tau[-1, 1] != 0.0
    assert stiction.Stepper(stiction.World.from_scene(scene)).driven == [1, 2]
    np.testing.assert_allclose(run.drive_tau[1:, 2], -2.0 * run.drive_tau[1:, 1], rtol=1e-12)


def test_a_stepper_tells_which_joints_are_driven():
    world = hanging_arm()
    names = [joint.name for joint in world.joints if joint.actuated]
    stepper = stiction.Stepper(world)
    assert stepper.driven == []
    stepper.drive(coupled=[({names[4]: 1.0, names[2]: -2.0}, 0.3)])
    assert stepper.driven == [2, 4]
    for command in ({"velocity": 0.0}, {"position": 0.0, "kp": 1.0}):
        stepper.drive(**command)
        assert stepper.driven == world.actuated.tolist()
    stepper.drive()
    assert stepper.driven == []


def test_drives_that_do_not_fit_are_named():
    stepper = stiction.Stepper(hanging_arm())
    for named, arguments in {
        "velocity": {"velocity": [1.0, 2.0]},
        "^velocity: expected an array of numbers": {"velocity": [[1.0, 2.0], [3.0]]},
        "limits": {"velocity": 0.0, "limits": np.ones(3)},
        "^limits: expected numbers >= 0": {"velocity": 0.0, "limits": -1.0},
        "kp": {"velocity": 0.0, "kp": 1.0},
        r"^kd\[0\]: expected": {"position": 0.0, "kp": 1.0, "kd": np.nan},
        "^kp: expected a gain above zero beside position": {"position": 0.0, "kp": 0.0, "kd": 0.0},
        r"^coupled\[0\]: expected a finite number other than 0": {"coupled": [({"elbow_joint": 0.0}, 1.0)]},
        r"^limits\[0\]: expected": {"position": 0.0, "kp": 1.0, "limits": 0.0},
        r"^no_load\[0\]: expected": {"velocity": 0.0, "limits": 1.0, "no_load": -1.0},
        r"^limits\[0\]: expected a finite number beside no_load, got inf": {
            "velocity": 0.0,
            "limits": np.inf,
            "no_load": 1.0,
        },
        r"^coupled\[1\]: expected one or more, got none": {"coupled": [({"elbow_joint": 1.0}, 0.0), ({}, 0.0)]},
        r"^coupled\[0\]: expected a finite number other than 0, got nan": {"coupled": [({"elbow_joint": np.nan}, 0.0)]},
        "no_load": {"position": 0.0, "no_load": 1.0},
        "one, or a position": {"limits": 1.0},
        r"^coupled\[0\]: .*'elbow'": {"coupled": [({"elbow": 1.0}, 0.0)]},
    }.items():
        with pytest.raises(ValueError, match=named):
            stepper.drive(**arguments)


@pytest.mark.parametrize("asked", [{"velocity": 1.0}, {"position": 0.5, "kp": 10.0}])
def test_a_world_without_driven_joints_takes_no_drives(asked):
    world = stiction.World()
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0)
    stepper = stiction.Stepper(world)
    with pytest.raises(ValueError, match=rf"^{next(iter(asked))}: expected None in a world without driven joints, got"):
        stepper.drive(**asked)
    stepper.drive(velocity=np.zeros(0))  # one for each of none, as of any world's
    assert stepper.step()


CAR = """<mujoco><compiler angle="radian"/><worldbody><body pos="0 0 1">
<joint name="steer" axis="0 0 1" range="-1 1" limited="true"/><geom type="box" size=".05 .02 .02" mass=".2"/>
<body><joint name="roll" axis="0 1 0"/><geom type="sphere" size=".1" mass="1"/></body></body></worldbody>
<actuator><motor joint="steer" forcerange="-5 5"/><motor joint="roll" forcerange="-1 1"/></actuator></mujoco>"""


def test_joints_have_drives_of_their_own():
    """A servo on the steering, a velocity on the wheel, each set by itself: what others have stays."""
    world = stiction.World()
    world.add_robot(CAR)
    stepper = stiction.Stepper(world, dt=1e-3)
    stepper.drive(joints=["steer"], position=0.3, kp=50.0, kd=5.0)
    stepper.drive(joints=["roll"], velocity=8.0)
    assert stepper.driven == [0, 1]
    for _ in range(1000):
        assert stepper.step().status == "solved"
    np.testing.assert_allclose(stepper.q[0], 0.3, atol=1e-3)
    np.testing.assert_allclose(stepper.v[1], 8.0, atol=1e-9)
    stepper.drive(joints=["roll"], velocity=-8.0, limits=[0.5])
    for _ in range(1000):
        stepper.step()
    np.testing.assert_allclose(stepper.q[0], 0.3, atol=1e-3)
    np.testing.assert_allclose(stepper.v[1], -8.0, atol=1e-9)
    stepper.drive(joints=["steer"])
    assert stepper.driven == [1]
    stepper.drive(velocity=[0.0, 1.0])
    assert stepper.driven == [0, 1]
    stepper.drive()
    assert stepper.driven == []


def test_joints_of_drives_are_checked_by_name():
    world = stiction.World()
    world.add_robot(CAR)
    stepper = stiction.Stepper(world)
    stepper.drive(joints=["roll"], velocity=1.0)
    with pytest.raises(ValueError, match=r"joints\[0\]: expected .*'steering'"):
        stepper.drive(joints=["steering"], velocity=1.0)
    with pytest.raises(ValueError, match=r"joints\[1\]: expected every joint once, got 'roll' again"):
        stepper.drive(joints=["roll", "roll"], velocity=1.0)
    with pytest.raises(ValueError, match=r"velocity: expected .*1.*got .*2"):
        stepper.drive(joints=["steer"], velocity=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"coupled: expected no couplings beside joints"):
        stepper.drive(joints=["steer"], velocity=1.0, coupled=[({"steer": 1.0, "roll": 1.0}, 0.0)])
    with pytest.raises(ValueError, match=r"velocity\[0\]: expected a finite number"):
        stepper.drive(joints=["steer"], velocity=np.nan)
    assert stepper.driven == [1]
