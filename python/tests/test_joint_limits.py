"""Limits of joints, however fast a joint is driven at them."""

import numpy as np
import pytest

import stiction

HINGE = """<mujoco><worldbody><body><joint name="h" axis="0 0 1" range="{} {}" limited="true"/>
<inertial pos="0 0 0" mass=".2" diaginertia=".001 .001 .001"/></body></worldbody></mujoco>"""


# 10 N m on 1e-3 kg m^2 for 5 ms: 50 rad/s, 0.25 rad in the step, with the limit 0.1 rad ahead.
@pytest.mark.parametrize("scheme", stiction.SCHEMES)
def test_a_joint_that_a_torque_drives_at_its_limit_stops_there(scheme):
    world = stiction.World(gravity=(0, 0, 0))
    world.add_robot(HINGE.format(-57.29577951308232, 57.29577951308232), actuated=["h"])
    stepper = stiction.Stepper(world, dt=5e-3, scheme=scheme)
    for sign in (1.0, -1.0):
        stepper.reset(q=[0.9 * sign])
        for _ in range(5):
            assert stepper.step([10.0 * sign]).status == "solved"
            assert abs(stepper.q[0]) < 1.0 + 1e-9
        assert abs(stepper.q[0]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("coordinates", ["minimal", "maximal"])
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_flap_that_lands_on_its_side_does_not_turn_beyond_its_limits(coordinates, dt):
    flap = """<mujoco><worldbody><body name="b"><freejoint/><geom type="sphere" size=".05" mass="2"/>
      <body name="flap"><joint name="h" axis="0 1 0" range="-5 5" limited="true"/>
      <geom type="box" pos=".1 0 0" size=".06 .05 .01" mass=".1"/></body></body></worldbody></mujoco>"""
    for height in (0.2, 0.3):
        world = stiction.World()
        world.add_ground()
        world.add_robot(flap, self_collision=False, coordinates=coordinates)
        whole = stiction.World()
        whole.add_robot(flap, self_collision=False)
        q, v = whole.initial_q.copy(), whole.initial_v.copy()
        q[2], v[2] = height, -3.0
        q[3:7] = [0, np.sin(0.3), 0, np.cos(0.3)]
        stepper = stiction.Stepper(world, dt=dt)
        stepper.reset(*world.from_uncut(q, v))
        for _ in range(round(0.5 / dt)):
            assert stepper.step().accepted
            angle = world.to_uncut(stepper.q, stepper.v)[0][7]
            # Cut joints leave their limits by what their bodies turn within a step, and come back.
            assert abs(angle) < np.radians(5.0) + (1e-6 if coordinates == "minimal" else 0.05)


@pytest.mark.parametrize(("lower", "upper"), [(-229.0, 229.0), (-10.0, 400.0)])
def test_limits_of_more_than_a_turn_are_left_out_of_a_cut_joint_with_a_warning(lower, upper):
    world = stiction.World(gravity=(0, 0, 0))
    world.add_robot(HINGE.format(lower, upper), coordinates="maximal")
    assert any("limits more than a turn apart are left out of cut joints" in text for text in world.warnings)
    (joint,) = world.cut_joints
    assert (joint.lower, joint.upper) == (-np.inf, np.inf)


def test_undoing_overlap_moves_no_joint_past_its_limit():
    world = stiction.World(gravity=(0, 0, 0))
    world.add_robot(
        """<robot name="r"><link name="base"/><link name="bar">
        <inertial><origin xyz="0.03 0 0"/><mass value="1"/>
        <inertia ixx="0.001" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><origin xyz="0.03 0 0"/><geometry><sphere radius="0.03"/></geometry></collision></link>
        <joint name="j" type="revolute"><parent link="base"/><child link="bar"/><axis xyz="0 1 0"/>
        <limit lower="-0.06" upper="0.06" effort="1" velocity="1"/></joint></robot>"""
    )
    world.add_body("ball", stiction.Shape.sphere(0.05), position=(0.03, 0, 0.03))
    stepper = stiction.Stepper(world)
    for _ in range(100):
        assert stepper.step().status == "solved"
        assert abs(stepper.q[0]) < 0.06 + 1e-6
