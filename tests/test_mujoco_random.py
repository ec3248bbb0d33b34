"""MJCF drawn at random against MuJoCo's compiled model: start, limits, M, bias, forces of joints and poses of geoms."""

import numpy as np
import pytest
from mujoco_models import Drawn, close, mujoco, ours, random_state

import stiction


def per_coordinate(world, name):
    return np.concatenate([np.full(joint.nv, getattr(joint, name)) for joint in world.joints] or [np.zeros(0)])


@pytest.mark.parametrize("seed", range(60))
def test_a_random_model_is_mujocos(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log into the current folder
    xml = Drawn(seed).xml
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    world = stiction.World()
    world.add_robot(xml, filter_overlaps=False)
    assert (world.nq, world.nv) == (model.nq, model.nv)
    alone = per_coordinate(world, "nv") == 1  # of ball joints it is left out
    close(per_coordinate(world, "dry_friction"), np.where(alone, model.dof_frictionloss, 0.0))
    for joint, limited, limits, start in zip(
        world.joints, model.jnt_limited, model.jnt_range, model.jnt_qposadr, strict=True
    ):
        if joint.nv == 1:
            close((joint.lower, joint.upper), limits if limited else (-np.inf, np.inf))
            close(world.initial_q[joint.q], model.qpos0[start])
    data.qpos[:], data.qvel[:] = random_state(model, seed)
    mujoco.mj_forward(model, data)
    q, v, T, turning = ours(model, data.qpos, data.qvel)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    mass = np.asarray(world.mass_matrix(q))
    close(T.T @ mass @ T, M)
    force = np.asarray(world.bias(q, v)) + per_coordinate(world, "damping") * v + mass @ turning
    close(T.T @ force, data.qfrc_bias - data.qfrc_passive)
    for shape in world.shapes:
        geom = data.geom(shape.name)
        pose = np.asarray(world.pose(shape.body, q)) @ shape.placement
        close(pose[:3, 3], geom.xpos)
        close(pose[:3, :3], geom.xmat.reshape(3, 3))


@pytest.mark.parametrize(
    "asset",
    [
        'scale="-2 3 4"',
        'refpos="1 2 3" scale="2 3 -4"',
        'refpos="1 2 3" refquat="1 2 3 4" scale="2 2 2"',
        'refpos="1 2 3" refquat="1 0 0 1" scale="2 3 4"',
    ],
)
def test_a_mesh_is_where_mujoco_has_it(asset, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tetrahedron.obj").write_text(
        "v 0.1 0 0\nv 1 0.2 0\nv 0 1 0.3\nv 0 0.1 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    )
    file = tmp_path / "robot.xml"
    file.write_text(f"""<mujoco><asset><mesh name="m" file="tetrahedron.obj" {asset}/></asset><worldbody>
        <body name="a"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <geom type="mesh" mesh="m" pos="1 2 3" euler="10 20 30"/></body></worldbody></mujoco>""")
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    expected = data.geom_xpos[0] + model.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T
    world = stiction.World()
    world.add_robot(file)
    assert not world.warnings
    (shape,) = world.shapes
    pose = world.pose(shape.body) @ shape.placement
    vertices = pose[:3, 3] + shape.vertices @ pose[:3, :3].T
    apart = np.linalg.norm(vertices[:, None] - expected[None], axis=2)
    assert apart.min(axis=0).max() < 1e-6  # MuJoCo's vertices are in single precision
