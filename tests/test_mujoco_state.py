"""The fourteen models of gymnasium's assets against MuJoCo at the same state.

Compared: start, M, bias, smooth acceleration, poses of the file's bodies, limits, springs, contact points, free motion.
"""

import pathlib
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco", reason="needs mujoco as the reference")
gymnasium = pytest.importorskip("gymnasium", reason="needs the models of gymnasium")

ASSETS = pathlib.Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
MODELS = sorted(file.stem for file in ASSETS.glob("*.xml"))


def without_fluid(name, folder, *, smooth=False):
    """The file without its fluid, which is left out here (docs/scenes.md); smooth: nor contacts and joint limits."""
    tree = ElementTree.parse(ASSETS / f"{name}.xml")
    for option in tree.iter("option"):
        for fluid in ("density", "viscosity"):
            option.attrib.pop(fluid, None)
    if smooth:
        for geom in tree.iter("geom"):
            geom.set("contype", "0")
            geom.set("conaffinity", "0")
        for joint in (*tree.iterfind("worldbody//joint"), *tree.iterfind("default//joint")):
            joint.set("limited", "false")
    file = folder / f"{name}.xml"
    tree.write(file)
    return file


class Both:
    """One file in both engines, with the change of coordinates of a floating base: ours has body axes and [x y z w]."""

    def __init__(self, file):
        self.model = mujoco.MjModel.from_xml_path(str(file))
        self.data = mujoco.MjData(self.model)
        self.world = stiction.World()
        self.world.add_robot(str(file), filter_overlaps=False)
        self.free = self.model.njnt > 0 and self.model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE

    def set(self, q, v):
        """Our q and v from MuJoCo's."""
        self.data.qpos[:], self.data.qvel[:] = q, v
        mujoco.mj_forward(self.model, self.data)
        return self.ours(q, v)

    def ours(self, q, v):
        q, v = q.copy(), v.copy()
        if self.free:
            q[3:7] = np.roll(q[3:7], -1)
            v[:3] = self.base_axes.T @ v[:3]
        return q, v

    @property
    def base_axes(self):
        return self.data.xmat[1].reshape(3, 3)

    def turn(self):
        """T with v_ours = T v_mujoco."""
        T = np.eye(self.model.nv)
        if self.free:
            T[:3, :3] = self.base_axes.T
        return T

    def turning(self, v):
        """dT/dt v_mujoco: our base's velocity is taken in axes that turn."""
        out = np.zeros(self.model.nv)
        if self.free:
            out[:3] = -np.cross(v[3:6], self.base_axes.T @ v[:3])
        return out

    def random_state(self, seed):
        """Positions off the start by about 0.3, velocities about 1."""
        rng = np.random.default_rng(seed)
        q = self.model.qpos0 + 0.3 * rng.standard_normal(self.model.nq)
        if self.free:
            q[3:7] /= np.linalg.norm(q[3:7])
        return q, rng.standard_normal(self.model.nv)

    def per_coordinate(self, name):
        return np.concatenate([np.full(joint.nv, getattr(joint, name)) for joint in self.world.joints])


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes its log into the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=MODELS)
def smooth(request, tmp_path):
    return Both(without_fluid(request.param, tmp_path, smooth=True))


@pytest.fixture(params=MODELS)
def whole(request, tmp_path):
    return Both(without_fluid(request.param, tmp_path))


def test_gymnasium_has_fourteen_models():
    assert len(MODELS) == 14


def test_the_start_is_that_of_the_file(whole):
    start, _ = whole.ours(whole.model.qpos0, np.zeros(whole.model.nv))
    np.testing.assert_allclose(whole.world.initial_q, start, atol=1e-12)
    outside = [j.name for j in whole.world.joints if j.nv == 1 and not j.lower <= start[j.q] <= j.upper]
    for name in outside:
        assert any(f"'{name}' starts at" in warning for warning in whole.world.warnings), whole.world.warnings
    assert sum("outside its limits" in warning for warning in whole.world.warnings) == len(outside)


def test_inertia_and_smooth_acceleration_are_those_of_mujoco(smooth):
    model, data, world = smooth.model, smooth.data, smooth.world
    q, v = smooth.set(*smooth.random_state(1))
    T, turning = smooth.turn(), smooth.turning(data.qvel)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    ours = np.asarray(world.mass_matrix(q))
    np.testing.assert_allclose(T.T @ ours @ T, M, atol=1e-9 * np.abs(M).max())
    damping = smooth.per_coordinate("damping") * v
    force = T.T @ (np.asarray(world.bias(q, v)) + damping + ours @ turning)
    expected = data.qfrc_bias - data.qfrc_passive
    np.testing.assert_allclose(force, expected, atol=1e-8 * (1.0 + np.abs(expected).max()))
    acceleration = np.linalg.solve(ours, -np.asarray(world.bias(q, v)) - damping)
    expected = T @ data.qacc_smooth + turning
    np.testing.assert_allclose(acceleration, expected, atol=1e-8 * (1.0 + np.abs(expected).max()))


def test_a_name_finds_the_frame_of_the_files_body(smooth):
    model, data, world = smooth.model, smooth.data, smooth.world
    q, v = smooth.set(*smooth.random_state(2))
    J = np.zeros((6, model.nv))
    for body in range(1, model.nbody):
        name = model.body(body).name
        if not name:
            continue
        pose = np.asarray(world.pose(name, q))
        np.testing.assert_allclose(pose[:3, 3], data.xpos[body], atol=1e-10)
        np.testing.assert_allclose(pose[:3, :3], data.xmat[body].reshape(3, 3), atol=1e-10)
        mujoco.mj_jacBody(model, data, J[:3], J[3:], body)
        np.testing.assert_allclose(world.velocity(name, q, v), J @ data.qvel, atol=1e-9)


def test_limits_and_springs_are_those_of_mujoco(whole):
    model = whole.model
    for i, joint in enumerate(whole.world.joints):
        if joint.nv != 1:
            continue
        low, high = model.jnt_range[i] if model.jnt_limited[i] else (-np.inf, np.inf)
        np.testing.assert_allclose((joint.lower, joint.upper), (low, high), rtol=1e-12)
        assert joint.armature == model.dof_armature[model.jnt_dofadr[i]]
        assert joint.stiffness == np.ravel(model.jnt_stiffness[i])[0]
        assert joint.spring_reference == model.qpos_spring[model.jnt_qposadr[i]]


def test_free_motion_converges_to_mujocos_at_first_order(smooth):
    model, data = smooth.model, smooth.data
    q0, v0 = smooth.random_state(2)
    v0 *= 0.2
    duration, errors = 0.02, []
    start = smooth.set(q0, v0)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 1e-4
    for _ in range(round(duration / model.opt.timestep)):
        mujoco.mj_step(model, data)
    end, _ = smooth.ours(data.qpos.copy(), data.qvel.copy())
    for dt in (2e-4, 1e-4):
        run = stiction.simulate(smooth.world, duration, dt=dt, q=start[0], v=start[1])
        errors.append(np.abs(run.q[-1] - end).max())
    assert errors[0] < 1e-2
    assert errors[1] < 0.65 * errors[0] or errors[0] < 1e-12


DEEPEST = 5e-3  # m: beyond, the two manifolds differ in which points of a capsule or a box they keep
# Models that something lifts: index of its coordinate in q.
LIFTED = {"ant": 2, "half_cheetah": 1, "hopper": 1, "humanoid": 2, "humanoidstandup": 2}
LIFTED |= {"walker2d": 1, "walker2d_v5": 1}


def touching_state(both, name, seed):
    """A random pose whose deepest point is 2 mm in the floor; our q and v."""
    q, v = both.random_state(seed)
    if name in LIFTED:
        height = LIFTED[name]
        q[height] = -3.0  # all of it in the floor
        both.set(q, 0.0 * v)
        contacts = both.data.contact
        floor = [c.dist for c in contacts if both.model.geom_type[c.geom[0]] == mujoco.mjtGeom.mjGEOM_PLANE]
        q[height] -= min(floor) + 2e-3
    return both.set(q, 0.0 * v)


@pytest.mark.parametrize("name", MODELS)
def test_contact_points_are_those_of_mujoco(name, tmp_path):
    both = Both(without_fluid(name, tmp_path))
    stepper = stiction.Stepper(both.world, dt=1e-6)  # so short a step sees what touches now
    body = [both.model.body(root).name for root in both.model.body_weldid]
    found = 0
    for seed in range(8):
        stepper.reset(*touching_state(both, name, seed))
        ours = stepper.forward().contacts
        names = [frozenset(re.sub(r"^body\d+$", "", name) for name in pair) for pair in ours.body_names]  # unnamed ones
        for c in both.data.contact:
            pair = frozenset(body[both.model.geom_bodyid[g]] for g in c.geom)
            if not -DEEPEST < c.dist < -1e-9:
                continue
            same = [i for i in range(len(ours)) if names[i] == pair]
            assert same, f"{pair} at {c.dist}"
            # Midway; on what is static ours are on its surface.
            static = any(both.model.body_weldid[both.model.geom_bodyid[g]] == 0 for g in c.geom)
            points = ours.points + (0.5 * ours.gaps[:, None] * ours.frames[:, :, 0] if static else 0.0)
            i = min(same, key=lambda i: np.linalg.norm(points[i] - c.pos))
            np.testing.assert_allclose(points[i], c.pos, atol=1e-8)
            np.testing.assert_allclose(ours.gaps[i], c.dist, atol=1e-8)
            np.testing.assert_allclose(abs(ours.frames[i][:, 0] @ c.frame[:3]), 1.0, atol=1e-8)
            found += 1
        pairs = {frozenset(body[both.model.geom_bodyid[g]] for g in c.geom) for c in both.data.contact}
        assert all(names[i] in pairs for i in range(len(ours)) if ours.gaps[i] < -1e-6)
    assert (found > 0) == (name in LIFTED)  # no coordinate of the others opens or closes a contact
