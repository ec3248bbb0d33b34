"""Copies and pickles have the bits of the original; pinocchio's models go over whole; python -m stiction."""

import array
import copy
import hashlib
import json
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import stiction


def some_world():
    world = stiction.World(gravity=(0.1, 0, -9.81), friction=0.4, material={"stiffness": 1e5})
    world.add_ground(friction=0.7)
    world.add_robot("models/links.urdf", floating=True, position=(0, 0, 0.2))
    parts = [stiction.Shape.box((0.1, 0.1, 0.1)), (stiction.Shape.sphere(0.05), (0.1, 0, 0))]
    world.add_body("box", parts, density=500.0, position=(0.5, 0, 0.2), velocity=(0.1, 0, 0))
    world.add_terrain(stiction.Terrain("hills", seed=3), position=(0, 0, -1))
    world.set_pair("box", friction=0.2)
    world.exclude("box", "trunk")
    return world


WAYS = {
    "copy": lambda x: x.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_world_has_the_bits_of_the_first_and_is_another_one(way):
    world = some_world()
    other = WAYS[way](world)
    runs = [stiction.simulate(w, 0.05) for w in (world, other)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    other.add_body("late", stiction.Shape.sphere(0.1), mass=1.0)
    assert other.nv == world.nv + 6


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_scene_is_the_scene(way):
    world = stiction.World.from_scene("stack")
    other = WAYS[way](world)
    np.testing.assert_array_equal(stiction.simulate(world, 0.05).q, stiction.simulate(other, 0.05).q)


class Named:
    """For classes made from ours: an __init__ that takes other arguments."""

    def __init__(self, tags, *arguments, **options):
        super().__init__(*arguments, **options)
        self.tags = tags


class NamedWorld(Named, stiction.World):
    def add_body(self, *arguments, **options):
        self.tags.append("body")
        return super().add_body(*arguments, **options)


class NamedStepper(Named, stiction.Stepper):
    pass


class NamedBatch(Named, stiction.Batch):
    pass


class NamedTerrain(Named, stiction.Terrain):
    pass


def a_named_world():
    world = NamedWorld(["a"], friction=0.4)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.06), velocity=(1, 0, 0))
    return world


def a_named_stepper():
    stepper = NamedStepper(["a"], a_named_world(), dt=2e-3)
    stepper.step()
    return stepper


NAMED = {
    NamedWorld: a_named_world,
    NamedStepper: a_named_stepper,
    NamedBatch: lambda: NamedBatch(["a"], a_named_world(), 2),
    NamedTerrain: lambda: NamedTerrain(["a"], "hills", seed=3),
}


@pytest.mark.parametrize("way", ["copy.copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("cls", NAMED)
def test_classes_made_from_ours_keep_their_class_and_attributes(cls, way):
    first = NAMED[cls]()
    other = WAYS[way](first)
    assert type(other) is cls
    assert other.tags == first.tags
    if cls is not NamedTerrain:  # which nothing changes, so that it is its own copy
        assert (other.tags is first.tags) == (way == "copy.copy")
    if cls is NamedWorld:
        runs = [stiction.simulate(world, 0.02) for world in (first, other)]
        np.testing.assert_array_equal(runs[0].q, runs[1].q)
    if cls in (NamedStepper, NamedBatch):
        for stepping in (first, other):
            stepping.step(np.zeros((2, 0)) if cls is NamedBatch else None)
        np.testing.assert_array_equal(other.q, first.q)
        assert cls is NamedBatch or other.time == first.time == 2 * 2e-3


def test_a_deep_copy_keeps_what_it_holds_of_itself():
    world = a_named_world()
    world.own = [world]
    other = copy.deepcopy(world)
    assert other.own[0] is other


def test_what_failed_is_not_said_again():
    world = stiction.World()
    with pytest.raises(ValueError, match="mass"):
        world.add_body("ball", stiction.Shape.sphere(0.1), mass=-1.0)
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0)
    assert pickle.loads(pickle.dumps(world)).nv == 6


INERTIAL = '<inertial><mass value="{}"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def write_robot(folder, mass=1.0, height=1.0):
    """A ball with a mesh in a folder, a tetrahedron."""
    folder.mkdir(exist_ok=True)
    mesh = '<collision><geometry><mesh filename="t.obj"/></geometry></collision>'
    text = f'<robot name="r"><link name="l">{INERTIAL.format(mass)}{mesh}</link></robot>'
    (folder / "r.urdf").write_text(text)
    write_mesh(folder / "t.obj", height)
    return folder / "r.urdf"


def write_mesh(file, height):
    corners = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, height))
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
    file.write_text("\n".join(lines))


def write_scene(folder):
    write_robot(folder)
    (folder / "s.toml").write_text('[[robot]]\nfile = "r.urdf"\nfloating = true\n')
    return folder / "s.toml"


def robot_world(file):
    world = stiction.World()
    world.add_robot(file, "name", True)
    return world


MADE = {
    "robot": lambda folder: robot_world(write_robot(folder)),
    "relative": lambda folder: robot_world(os.path.relpath(write_robot(folder))),
    "scene": lambda folder: stiction.World.from_scene(write_scene(folder)),
    "relative scene": lambda folder: stiction.World.from_scene(os.path.relpath(write_scene(folder))),
}
HELD = {
    "world": lambda world: world,
    "stepper": lambda world: stiction.Stepper(world),
    "batch": lambda world: stiction.Batch(world, 2, 1),
}


def fallen(held):
    """Speed after a step under a force of 6 N, which tells the mass."""
    if isinstance(held, stiction.World):
        held = stiction.Stepper(held)
    force = np.zeros(6)
    force[0] = 6.0
    if isinstance(held, stiction.Batch):
        held.step([force] * len(held))
        return held.v[0, 0]
    held.step(force)
    return held.v[0]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("what", HELD)
@pytest.mark.parametrize("way", ["copy", "copy.copy", "deepcopy"])
def test_a_copy_reads_no_file(tmp_path, monkeypatch, made, what, way):
    held = HELD[what](MADE[made](tmp_path / "a"))
    write_robot(tmp_path / "a", mass=7.0, height=3.0)
    write_robot(tmp_path / "b", mass=8.0)
    monkeypatch.chdir(tmp_path / "b")
    for file in ("r.urdf", "t.obj"):
        (tmp_path / "a" / file).unlink() if what != "world" or file == "r.urdf" else None
    if what == "world":
        write_mesh(tmp_path / "a" / "t.obj", 1.0)  # which is read by the first stepper
    other = WAYS[way](held)
    assert fallen(other) == pytest.approx(6e-3)
    assert fallen(held) == pytest.approx(6e-3)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("what", HELD)
def test_a_pickle_finds_its_files_wherever_it_is_read(tmp_path, monkeypatch, made, what):
    pickled = pickle.dumps(HELD[what](MADE[made](tmp_path / "a")))
    write_robot(tmp_path / "b", mass=7.0)
    monkeypatch.chdir(tmp_path / "b")
    assert fallen(pickle.loads(pickled)) == pytest.approx(6e-3)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("what", HELD)
@pytest.mark.parametrize("file", ["r.urdf", "t.obj"])
def test_a_pickle_of_a_file_that_has_changed_is_refused_by_name(tmp_path, made, what, file):
    held = HELD[what](MADE[made](tmp_path / "a"))
    write_robot(tmp_path / "a", **({"mass": 7.0} if file == "r.urdf" else {"height": 3.0}))
    with pytest.raises(stiction.FileError, match=rf"^{tmp_path}/a/{file}: expected what the pickled World was made of"):
        pickle.loads(pickle.dumps(held))
    write_robot(tmp_path / "a")
    assert fallen(pickle.loads(pickle.dumps(held))) == pytest.approx(6e-3)
    (tmp_path / "a" / file).unlink()
    with pytest.raises(stiction.FileError, match=file):
        pickle.loads(pickle.dumps(held))


def test_a_pickle_tells_of_exclusions_and_scenes_that_have_changed(tmp_path):
    file = write_robot(tmp_path)
    world = robot_world(file)
    (tmp_path / "r.srdf").write_text('<robot name="r"/>')
    with pytest.raises(stiction.FileError, match=rf"{tmp_path}/r.srdf: expected"):
        pickle.loads(pickle.dumps(world))
    scene = stiction.World.from_scene(write_scene(tmp_path / "s"))
    (tmp_path / "s" / "s.toml").write_text("[simulation]\ngravity = [0, 0, -1]\n")
    with pytest.raises(stiction.FileError, match=rf"{tmp_path}/s/s.toml: expected"):
        pickle.loads(pickle.dumps(scene))


def test_pickled_meshes_are_those_of_their_files(tmp_path, monkeypatch):
    write_mesh(tmp_path / "t.obj", 1.0)
    monkeypatch.chdir(tmp_path)
    world = stiction.World()
    shape = stiction.Shape.mesh("t.obj")
    world.add_body("t", shape, density=6.0)
    monkeypatch.chdir("/")
    for again in (world.copy(), pickle.loads(pickle.dumps(world))):
        assert again.mass_matrix()[0, 0] == pytest.approx(1.0)
        stiction.Stepper(again).step()
    write_mesh(tmp_path / "t.obj", 2.0)
    assert world.copy().mass_matrix()[0, 0] == pytest.approx(1.0)
    for held in (world, shape):
        with pytest.raises(stiction.FileError, match=rf"{tmp_path}/t.obj: expected"):
            pickle.loads(pickle.dumps(held))


def test_a_pickle_tells_of_a_mesh_that_only_weighs(tmp_path):
    write_mesh(tmp_path / "t.obj", 1.0)
    (tmp_path / "r.xml").write_text(
        "<mujoco><asset><mesh name='t' file='t.obj'/></asset><worldbody><body><freejoint/>"
        "<geom type='mesh' mesh='t' density='6' contype='0' conaffinity='0'/></body></worldbody></mujoco>"
    )
    world = robot_world(tmp_path / "r.xml")
    assert pickle.loads(pickle.dumps(world)).mass_matrix()[0, 0] == pytest.approx(1.0)
    write_mesh(tmp_path / "t.obj", 2.0)
    with pytest.raises(stiction.FileError, match=rf"{tmp_path}/t.obj: expected"):
        pickle.loads(pickle.dumps(world))


def test_a_copied_world_is_added_to_by_itself():
    robot = stiction.World()
    robot.add_robot("models/links.urdf", floating=True, coordinates="maximal")
    worlds = [robot, robot.copy(), robot.copy()]
    for count, world in enumerate(worlds):
        for k in range(count):
            world.add_body(f"ball {k}", stiction.Shape.sphere(0.1), mass=1.0, position=(3 + k, 0, 1))
            world.set_velocity(f"ball {k}", (1.0, 0, 0))
    assert [world.nv - robot.nv for world in worlds] == [0, 6, 12]
    for count, world in enumerate(worlds):
        again = pickle.loads(pickle.dumps(world))
        np.testing.assert_array_equal(again.initial_v, world.initial_v)
        assert np.count_nonzero(world.initial_v) == count
    with pytest.raises(ValueError, match="nothing to be added"):
        stiction.World.from_scene("stack").copy().add_ground()


@pytest.mark.parametrize("way", WAYS)
def test_what_numpy_takes_is_remembered(way):
    numbers = array.array("d", [0.1, 0.2, 0.3])
    view = memoryview(numbers)
    world = stiction.World(gravity=memoryview(array.array("d", [0, 0, -1.0])))
    world.add_body("box", stiction.Shape.box(view), mass=1.0, position=numbers, com=view, velocity=view)
    world.set_velocity("box", view, numbers)
    world.add_terrain(stiction.Terrain("hills", size=array.array("d", [4.0, 4.0])), position=view)
    batch = stiction.Batch(world, 2)
    numbers[:] = array.array("d", [9.0, 9.0, 9.0])
    for again in (WAYS[way](world), WAYS[way](batch)._world):
        np.testing.assert_array_equal(again.initial_q[:3], [0.1, 0.2, 0.3])
        np.testing.assert_allclose(again.initial_v, [0.1, 0.2, 0.3] * 2)


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_problem_is_solved_alike(way):
    world = some_world()
    problem = stiction.World.from_scene("stack").problem()
    other = WAYS[way](problem)
    for name in ("M", "J", "v", "mu", "ids", "gap", "J_b", "lo", "hi"):
        np.testing.assert_array_equal(getattr(problem, name), getattr(other, name))
    ours, theirs = (stiction.solve(p, law="anitescu") for p in (problem, other))
    np.testing.assert_array_equal(ours.v, theirs.v)
    np.testing.assert_array_equal(ours.impulses, theirs.impulses)
    assert type(other) is type(problem)
    for name in ("positions", "normals", "tangents1", "tangents2"):
        np.testing.assert_array_equal(getattr(problem, name), getattr(other, name))
    assert len(other.bodies) == problem.contacts
    assert other.bodies == problem.bodies
    rows = WAYS[way](world.problem())
    assert list(rows.row_kinds) == list(world.problem().row_kinds)
    other.v[:] = 0.0
    assert world.problem().velocities == rows.velocities


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_problem_keeps_the_compliance_of_its_rows(way, tmp_path):
    """1 kg that a motor shall bring to 1 m/s: v + R v = 1 with R = 1 (m/s)/(N s)."""
    file = tmp_path / "motor.json"
    stiff = stiction.ContactProblem([[1.0]], [0.0], np.zeros((0, 1)), [], J_b=[[1.0]], b=[1.0], lo=[-9.0], hi=[9.0])
    stiff.save(file)
    problem = json.loads(file.read_text())
    problem["rows"][0]["compliance"] = 1.0
    file.write_text(json.dumps(problem))
    np.testing.assert_allclose(stiction.solve(WAYS[way](stiction.load_problem(file))).v, [0.5], rtol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_copied_states_and_reduced_problems_are_others_with_the_same_numbers(way):
    state = stiction.State(np.arange(3.0), np.ones(2), 0.5)
    other = WAYS[way](state)
    np.testing.assert_array_equal(state.q, other.q)
    assert other.time == 0.5
    other.q[0] = 7.0
    assert state.q[0] == 0.0
    A = np.random.default_rng(1).normal(size=(6, 6))
    problem = stiction.ReducedProblem(A @ A.T, -np.ones(6), 0.5)
    other = WAYS[way](problem)
    np.testing.assert_allclose(other.W, problem.W, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(other.q, problem.q)


def test_the_module_is_the_command():
    def said(*words):
        return subprocess.run(words, capture_output=True, text=True, check=False)

    ours = said(sys.executable, "-m", "stiction", "scenes")
    assert ours.returncode == 0, ours.stderr
    assert "stack" in ours.stdout
    assert said(sys.executable, "-m", "stiction", "simulate", "nothing.toml").returncode != 0


def pinocchio_pair(example_robot, path, floating):
    pin = pytest.importorskip("pinocchio", reason="needs pinocchio's Python bindings (pip install pin)")
    file = example_robot(path)
    root = [pin.JointModelFreeFlyer()] if floating else []
    return pin, file, pin.buildModelFromUrdf(file, *root)


@pytest.mark.parametrize(
    ("path", "floating"),
    [
        ("ur_description/urdf/ur10_robot.urdf", False),
        ("solo_description/robots/solo12.urdf", True),
        ("talos_data/robots/talos_reduced.urdf", True),
    ],
)
def test_a_pinocchio_model_has_its_dynamics(example_robot, path, floating):
    pin, _, model = pinocchio_pair(example_robot, path, floating)
    world = stiction.World()
    world.add_robot(model)
    assert (world.nq, world.nv) == (model.nq, model.nv)
    assert world.joint_names == list(model.names[1:])
    data = model.createData()
    random = np.random.default_rng(4)
    q = pin.integrate(model, pin.neutral(model), random.normal(size=model.nv))
    v = random.normal(size=model.nv)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(world.mass_matrix(q), M, atol=1e-9 * np.abs(M).max())
    bias = pin.nonLinearEffects(model, data, q, v)
    np.testing.assert_allclose(world.bias(q, v), bias, atol=1e-9 * np.abs(bias).max())
    for joint in world.joints:
        if joint.nv == 1:
            assert joint.effort_limit == pytest.approx(model.effortLimit[joint.v])
            assert joint.velocity_limit == pytest.approx(model.velocityLimit[joint.v])
            assert (joint.lower, joint.upper) == pytest.approx(
                (model.lowerPositionLimit[joint.q], model.upperPositionLimit[joint.q])
            )
    pin.framesForwardKinematics(model, data, q)
    for i, frame in enumerate(model.frames):
        if frame.type.name == "BODY" and frame.name in world.link_names:
            np.testing.assert_allclose(world.pose(frame.name, q), data.oMf[i].homogeneous, atol=1e-9)
    again = pickle.loads(pickle.dumps(world))
    np.testing.assert_array_equal(again.mass_matrix(q), world.mass_matrix(q))


def test_a_pinocchio_model_collides_by_its_collision_model():
    pin = pytest.importorskip("pinocchio", reason="needs pinocchio's Python bindings (pip install pin)")
    file = "models/links.urdf"
    model = pin.buildModelFromUrdf(file, pin.JointModelFreeFlyer())
    shapes = pin.buildGeomFromUrdf(model, file, pin.GeometryType.COLLISION)
    worlds = []
    for robot in ((model, shapes), file):
        world = stiction.World()
        world.add_ground()
        world.add_robot(robot, **({"floating": True} if robot == file else {}))
        q = world.initial_q.copy()
        q[:7] = 0, 0, 0.1, 0, 0, 0, 1
        q[7:] = [0.3927, 0.7854, 1.5708, -0.3927, -0.7854, -1.5708, -0.3927, -0.7854, -1.5708, 0.3927, 0.7854, 1.5708]
        order = np.argsort([joint.name for joint in world.joints[1:]])
        worlds.append(sorted(np.round(world.problem(q).gap, 9)) if order.size == 12 else None)
    assert worlds[0]
    assert worlds[0] == worlds[1]


@pytest.mark.filterwarnings("error")
def test_inverse_dynamics_of_a_moving_base_are_those_of_pinocchio():
    """v_desired of the base is in its axes before the step, in which ω × v of the centre of mass is no acceleration; it
    turns by the implicit midpoint rule, which is the equation at the start of the step to first order."""
    pin = pytest.importorskip("pinocchio", reason="needs pinocchio's Python bindings (pip install pin)")
    model = pin.buildSampleModelHumanoid()
    world = stiction.World()
    world.add_robot(model)
    random = np.random.default_rng(0)
    for _ in range(5):
        q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
        v, a = random.normal(size=model.nv), random.normal(size=model.nv)
        torques = pin.rnea(model, model.createData(), q, v, a)
        c = pin.centerOfMass(model, model.createData(), q) - q[:3]
        c = pin.Quaternion(q[3:7]).matrix().T @ c
        off = []
        for h in (1e-3, 1e-4):
            wanted = v + h * a
            wanted[:3] += h * np.cross(v[3:6], v[:3] + np.cross(v[3:6], c))
            inverse = stiction.inverse(world.problem(q, v, dt=h), np.arange(model.nv), wanted)
            off.append(np.linalg.norm(inverse.tau[3:6] - torques[3:6]))
            np.testing.assert_allclose(
                np.delete(inverse.tau, slice(3, 6)),
                np.delete(torques, slice(3, 6)),
                atol=1e-9 * np.abs(torques).max(),
            )
        assert off[0] < 1e-4 * np.linalg.norm(torques[3:6])
        assert off[1] < 0.11 * off[0]


def test_a_joint_of_pinocchio_that_has_no_like_here_is_named():
    pin = pytest.importorskip("pinocchio", reason="needs pinocchio's Python bindings (pip install pin)")
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3(np.eye(3), np.array([0, 0, 1.0])), "root")
    with pytest.raises(ValueError, match=r"'root'.*without a placement"):
        stiction.World().add_robot(model)
    model = pin.Model()
    model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "skate")
    with pytest.raises(ValueError, match=r"'skate'.*got Planar"):
        stiction.World().add_robot(model)


def test_what_a_world_has_not_cannot_be_set():
    world = stiction.World()
    with pytest.raises(AttributeError, match="'World' has no attribute 'gravity'"):
        world.gravity = (0, 0, -1.0)

    class Mine(stiction.World):
        pass

    mine = Mine()
    mine.label = "mine"
    assert mine.label == "mine"


def one_joint_of_pinocchio(kind, **settings):
    """A ball on one joint, and its world; settings: of the model, for every coordinate."""
    pin = pytest.importorskip("pinocchio", reason="needs pinocchio's Python bindings (pip install pin)")
    model = pin.Model()
    joint = model.addJoint(0, getattr(pin, f"JointModel{kind}")(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    model.gravity.linear = np.array(settings.pop("gravity", (0, 0, -9.81)))
    for name, value in settings.items():
        setattr(model, name, np.broadcast_to(value, np.shape(getattr(model, name))).astype(float))
    world = stiction.World()
    world.add_robot(model)
    return pin, model, world


@pytest.mark.parametrize(("lower", "upper", "ends"), [(-0.1, np.inf, -0.1), (-np.inf, 0.2, 0.2), (-0.1, 0.2, -0.1)])
def test_limits_of_pinocchio_hold_on_the_side_that_has_one(lower, upper, ends):
    pull = (0, 0, 9.81 * np.sign(ends))
    _, _, world = one_joint_of_pinocchio("PZ", gravity=pull, lowerPositionLimit=lower, upperPositionLimit=upper)
    assert stiction.simulate(world, 0.5).q[-1][0] == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("kind", ["FreeFlyer", "Spherical"])
def test_armature_and_damping_of_pinocchio_are_those_of_all_axes(kind):
    pin, model, world = one_joint_of_pinocchio(kind, armature=0.5, damping=0.3)
    inertia = pin.crba(model, model.createData(), pin.neutral(model))
    np.testing.assert_allclose(np.diag(world.mass_matrix(world.initial_q)), np.diag(inertia), rtol=1e-12)
    assert world.joints[0].damping == 0.3
    for word in ("armature", "damping"):
        with pytest.raises(ValueError, match=rf"'joint'.*one {word} for all its axes, got 0\.0 1\.0"):
            one_joint_of_pinocchio(kind, **{word: np.arange(model.nv)})


def test_efforts_of_pinocchio_that_differ_by_side_are_said():
    _, _, world = one_joint_of_pinocchio("PZ", lowerEffortLimit=-3.0, upperEffortLimit=10.0)
    assert world.joints[0].effort_limit == 10.0
    assert "not symmetric" in world.warnings[0]


def test_joints_of_pinocchio_out_of_order_are_refused():
    pin = pytest.importorskip("pinocchio", reason="needs pinocchio's Python bindings (pip install pin)")
    model = pin.Model()
    for name, parent in (("hip_l", 0), ("hip_r", 0), ("knee_l", 1), ("knee_r", 2)):
        joint = model.addJoint(parent, pin.JointModelRX(), pin.SE3(np.eye(3), np.array([0, 0.1, -0.3])), name)
        model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    with pytest.raises(ValueError, match=r"hip_l, knee_l, hip_r, knee_r.*got hip_l, hip_r, knee_l, knee_r"):
        stiction.World().add_robot(model)


LAW_SETTINGS = [
    *({"law": law} for law in stiction.LAWS),
    {"law": "coulomb_cone", "choice": "closest_to_last"},
    {"law": "coulomb_pyramid", "choice": "least_norm", "edges": 6},
    {"law": "frictionless", "solver": "lemke"},
    *({"scheme": scheme} for scheme in stiction.SCHEMES),
    {"sub_steps": 2, "recovery": 0.5, "friction": 0.2, "effort_limits": False},
]


def piled_up():
    """A robot that is driven, on a heap of boxes, one of which slides; stacks stand apart, so that there are parts."""
    world = stiction.World(friction=0.6, material={"stiffness": 1e5, "damping": 100.0, "stiffness_tangential": 1e5})
    world.add_ground()
    for k in range(2):
        shape = stiction.Shape.box((0.3 - 0.02 * k, 0.3, 0.1))
        world.add_body(f"box {k}", shape, mass=1.0, position=(0.01 * k, 0, 0.0499 + 0.0999 * k))
    world.add_body("alone", stiction.Shape.box((0.2, 0.2, 0.2)), mass=1.0, position=(2, 0, 0.1))
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0, position=(-2, 0, 0.1))
    world.set_velocity("alone", (1.0, 0.2, 0))
    world.set_velocity("ball", (1.0, 0, 0), (0, 3.0, 0))
    return world


def bits(stepper, steps):
    """A digest of states and residuals of the next steps, under forces that change."""
    out = hashlib.sha256()
    for k in range(steps):
        tau = np.zeros(len(stepper.v))
        tau[6], tau[13] = 2.0 * np.sin(0.1 * k), np.cos(0.1 * k)
        report = stepper.step(tau)
        numbers = [*stepper.q, *stepper.v, stepper.time, report.residual, report.iterations]
        out.update(np.array(numbers).tobytes())
    return out.hexdigest()


@pytest.mark.parametrize("settings", LAW_SETTINGS, ids=lambda s: "-".join(map(str, s.values())))
def test_a_pickled_stepper_goes_on_with_the_same_bits(settings):
    stepper = stiction.Stepper(piled_up(), dt=2e-3, **settings)
    bits(stepper, 30)
    stepper.apply_force("box 1", force=(3.0, 0, 0), duration=0.02)
    pickled = pickle.dumps(stepper)
    again = pickle.loads(pickled)
    assert (again.dt, again.law, again.scheme, again.time) == (stepper.dt, stepper.law, stepper.scheme, stepper.time)
    assert len(again.contacts) == 0
    assert bits(again, 100) == bits(stepper, 100)
    second = pickle.loads(pickle.dumps(stepper.copy()))
    assert bits(second, 5) == bits(stepper, 5)


def test_a_pickled_stepper_keeps_its_drives_and_the_world_that_it_was_made_of(checkout):
    world = stiction.World()
    world.add_ground()
    world.add_robot(str(checkout / "models" / "biped.xml"))
    stepper = stiction.Stepper(world, dt=1e-3)
    world.add_body("later", stiction.Shape.sphere(0.1), mass=1.0, position=(3, 0, 1))
    joints = len(world.actuated)
    stepper.drive(position=np.full(joints, 0.1), kp=np.full(joints, 50.0), kd=np.full(joints, 2.0))
    for _ in range(200):
        assert stepper.step()
    again = pickle.loads(pickle.dumps(stepper))
    for _ in range(100):
        assert stepper.step()
        assert again.step()
        np.testing.assert_array_equal(again.q, stepper.q)
        np.testing.assert_array_equal(again.v, stepper.v)
    np.testing.assert_array_equal(again.drive_torques, stepper.drive_torques)


def test_a_stepper_goes_to_another_process_and_comes_back():
    stepper = stiction.Stepper(piled_up(), dt=2e-3)
    bits(stepper, 30)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        back = pool.apply_async(copy.copy, (stepper,)).get(timeout=60)
    assert bits(back, 100) == bits(stepper, 100)


@pytest.mark.parametrize("damage", [lambda memory: memory[:-1], lambda memory: memory + b"0", lambda memory: b""])
def test_damaged_memory_of_a_stepper_is_refused(damage):
    stepper = stiction.Stepper(piled_up())
    bits(stepper, 3)
    with pytest.raises(ValueError, match="bytes"):
        stiction.Stepper(piled_up())._remember(damage(stepper._memory()))


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_controller_keeps_its_integral_and_is_another_one(way):
    control = stiction.JointController(
        2, kp=[2.0, 3.0], kd=0.5, ki=[10.0, 7.0], dt=0.01, lookahead=0.02, integral_limit=1.0
    )
    unused = WAYS[way](control)
    states = [(0.1, -0.2), (1.0, -1.0), (0.3, 0.1), (0.0, 0.5)]  # q, v and what is desired
    first = control.torques(*states)
    np.testing.assert_array_equal(unused.torques(*states), first)
    other = WAYS[way](control)
    second = control.torques(*states)
    assert (second != first).all()
    np.testing.assert_array_equal(other.torques(*states), second)
    np.testing.assert_array_equal(other.reference(*states), control.reference(*states))
    other.reset()
    np.testing.assert_array_equal(other.torques(*states), first)
    assert (control.torques(*states) != first).all()


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_planner_goes_on_as_the_first_would(way):
    world = stiction.World.from_scene("quadruped")
    feet = ["LF_foot", "RF_foot", "LH_foot", "RH_foot"]
    planner = stiction.TrotPlanner(world, feet, period=0.4, feedback=0.05, foot_radius=0.01, start_time=0.02)
    times, measured = np.arange(0.0, 0.9, 0.01), (0.12, 0.01, 0.28)

    def ahead(which, times):
        plans = [which.update(t, (0.1, 0.02, 0.3), measured) for t in times]
        return np.array([[*plan.q, *plan.v, *plan.a, *plan.feet.ravel(), *plan.stance] for plan in plans])

    assert not ahead(planner, times[:27])[-1, -4:].all()  # feet are in the air
    other, third = WAYS[way](planner), WAYS[way](WAYS[way](planner))
    expected = ahead(planner, times[27:])
    np.testing.assert_array_equal(ahead(other, times[27:]), expected)
    np.testing.assert_array_equal(ahead(third, times[27:]), expected)
    with pytest.raises(AttributeError, match="feedbak"):
        other.feedbak = 1.0
    with pytest.raises(ValueError, match="bytes"):
        other._remember(planner._memory()[:-1])
