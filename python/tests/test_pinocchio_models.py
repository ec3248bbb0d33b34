"""A pinocchio.Model is taken where the URDF that it was read from is, and what is left out of it is said."""

import numpy as np
import pytest

import stiction

LINK = """<link name="{}"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def urdf(root, limit, kind="revolute"):
    """Two links and the joint between them."""
    return f"""<robot name="r">{LINK.format(root)}{LINK.format("b")}<joint name="j" type="{kind}">
      <parent link="{root}"/><child link="b"/><axis xyz="0 0 1"/><limit effort="35" velocity="20" {limit}/>
      </joint></robot>"""


@pytest.fixture
def pin():
    return pytest.importorskip("pinocchio", reason="needs pinocchio's Python bindings (pip install pin)")


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(("limit", "at"), [("", 0.0), ('lower="0.5" upper="0.5"', 0.5)])
def test_a_joint_without_range_is_that_of_the_urdf(pin, kind, limit, at):
    text = urdf("a", limit, kind)
    read, taken = stiction.World(), stiction.World()
    read.add_robot(text, joints={"j": at})
    taken.add_robot(pin.buildModelFromXML(text), joints={"j": at})
    for world in (read, taken):
        (joint,) = world.joints
        assert (joint.lower, joint.upper, joint.actuated) == (at, at, True)
        (warning,) = world.warnings
        assert f"joint 'j' cannot move: lower and upper are both {at:g}" in warning
    ends = []
    for world in (read, taken):
        stepper = stiction.Stepper(world)
        assert [stepper.step([1.0]).status for _ in range(50)] == ["solved"] * 50
        ends.append(stepper.q)
    np.testing.assert_allclose(ends, at, atol=1e-9)


def test_a_root_link_may_be_called_world(pin):
    """A link of that name stands still where the base does; on a free-flyer it moves, and an MJCF's world may not."""
    text = urdf("world", 'lower="-1" upper="1"')
    worlds = []
    for robot, settings in ((text, {"floating": True}), (pin.buildModelFromXML(text, pin.JointModelFreeFlyer()), {})):
        world = stiction.World()
        world.add_robot(robot, position=(0, 0, 0.5), **settings)
        assert world.joints[0].kind == "free"
        worlds.append(world)
    random = np.random.default_rng(2)
    q = worlds[0].integrate(worlds[0].initial_q, random.normal(size=7))
    read, taken = (world.mass_matrix(q) for world in worlds)
    np.testing.assert_allclose(taken, read, atol=1e-12)
    np.testing.assert_allclose(worlds[1].pose("root_joint_body", q), worlds[0].pose("world", q), atol=1e-12)
    stiction.World().add_robot(pin.buildModelFromXML(text))  # fixed: its world is the world


@pytest.mark.parametrize("robot", ["ur_description/urdf/ur5_robot.urdf", "xarm_description/urdf/xarm7.urdf"])
def test_arms_on_a_free_flyer_are_those_of_pinocchio(pin, example_robot, robot):
    model = pin.buildModelFromUrdf(example_robot(robot), pin.JointModelFreeFlyer())
    world = stiction.World()
    world.add_robot(model)
    assert world.nv == model.nv
    M = pin.crba(model, model.createData(), pin.neutral(model))
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(world.mass_matrix(pin.neutral(model)), M, atol=1e-9 * np.abs(M).max())


@pytest.mark.parametrize("effort", [0.0, 50.0])
def test_efforts_of_a_spherical_joint_are_left_out_aloud(pin, effort):
    model = pin.Model()
    free = (np.full(3, 10.0), np.full(4, -1.01), np.full(4, 1.01))
    joint = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball", np.full(3, effort), *free)
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    world = stiction.World()
    world.add_robot(model)
    assert world.actuated.size == 0
    assert len(world.warnings) == (effort > 0.0)
    assert effort == 0.0 or "an actuator of the ball joint 'ball'" in world.warnings[0]


@pytest.mark.parametrize(
    ("least", "most", "taken"), [(-0.3, 0.7, 0.7), (-0.7, 0.3, 0.7), (-0.4, 0.4, 0.4), (0.0, 0.5, 0.5)]
)
def test_dry_friction_that_differs_both_ways_is_said(pin, least, most, taken):
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "a")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    model.lowerDryFrictionLimit, model.upperDryFrictionLimit = np.array([least]), np.array([most])
    world = stiction.World()
    world.add_robot(model)
    assert world.joints[0].dry_friction == taken
    assert len(world.warnings) == (least < 0.0 and least != -most)
    assert all("dry friction is the same both ways: that of the larger side is taken" in w for w in world.warnings)


def test_pairs_of_a_collision_model_are_not_read_and_those_of_an_srdf_are(pin, tmp_path):
    """Two balls that overlap, on links that neither follow each other nor are disabled by the collision model."""
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
    links = "".join(LINK.format(name).replace("</link>", ball) for name in "abc")
    joints = "".join(
        f'<joint name="{child}" type="continuous"><origin xyz="0.05 0 {height}"/><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="0 0 1"/></joint>'
        for parent, child, height in (("a", "b", 0.5), ("a", "c", 0.6))
    )
    text = f'<robot name="r">{links}{joints}</robot>'
    (tmp_path / "r.urdf").write_text(text)
    (tmp_path / "r.srdf").write_text('<robot name="r"><disable_collisions link1="b" link2="c" reason="User"/></robot>')
    model = pin.buildModelFromUrdf(str(tmp_path / "r.urdf"))
    shapes = pin.buildGeomFromUrdf(model, str(tmp_path / "r.urdf"), pin.GeometryType.COLLISION)
    assert len(shapes.geometryObjects) == 3
    assert len(shapes.collisionPairs) == 0
    for settings, collide in (({}, True), ({"srdf": tmp_path / "r.srdf"}, False)):
        world = stiction.World()
        world.add_robot((model, shapes), filter_overlaps=False, **settings)
        assert (("b_0", "c_0") in world.collision_pairs) == collide


def test_driven_coordinates_and_their_limits_are_in_the_order_of_actuated():
    text = """<mujoco><compiler angle="radian"/><worldbody>
      <body name="base"><freejoint/><geom type="sphere" size="0.1"/>
      <body name="a" pos="0 0 1"><joint name="a" axis="1 0 0"/><geom type="sphere" size="0.1"/>
      <body name="b" pos="0 0 1"><joint name="b" type="ball"/><geom type="sphere" size="0.1"/>
      <body name="c" pos="0 0 1"><joint name="c" axis="1 0 0"/><geom type="sphere" size="0.1"/>
      </body></body></body></body></worldbody>
      <actuator><motor joint="c" ctrllimited="true" ctrlrange="-3 3"/><motor joint="a"/></actuator></mujoco>"""
    world = stiction.World()
    world.add_robot(text)
    assert world.actuated.tolist() == [6, 10]
    assert world.actuated_q.tolist() == [7, 12]
    assert world.effort_limits.tolist() == [np.inf, 3.0]
    q = world.initial_q.copy()
    q[world.actuated_q] = 0.1, 0.2
    v = np.zeros(world.nv)
    v[world.actuated] = 0.1, 0.2
    np.testing.assert_allclose(q, world.integrate(world.initial_q, v), atol=1e-15)
    for array in (world.actuated_q, world.effort_limits):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert stiction.World().actuated_q.size == 0
    assert stiction.World().effort_limits.size == 0
