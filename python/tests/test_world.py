import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import stiction
from stiction import Shape

GRAVITY = 9.81


def falling_sphere(height=5.0, **options):
    world = stiction.World(**options)
    world.add_ground(friction=0.5)
    world.add_body("ball", Shape.sphere(0.1), mass=2.0, position=(0, 0, height))
    return world


def test_a_world_describes_itself(checkout):
    world = falling_sphere()
    assert (world.nq, world.nv) == (7, 6)
    assert world.body_names == ["ground", "ball"]
    np.testing.assert_array_equal(world.initial_q, [0, 0, 5, 0, 0, 0, 1])
    np.testing.assert_array_equal(world.pose("ball")[:3, 3], [0, 0, 5])
    np.testing.assert_allclose(world.energy(), 2.0 * GRAVITY * 5.0)
    world.add_robot(str(checkout / "models" / "links.urdf"), floating=True, joints={"LF_SHANK": 1.5})
    assert (world.nq, world.nv) == (7 + 7 + 12, 6 + 6 + 12)
    np.testing.assert_array_equal(world.actuated, np.arange(12, 24))
    knee = next(joint for joint in world.joints if joint.name == "LF_SHANK")
    assert world.joint_names == [joint.name for joint in world.joints]
    assert (knee.kind, knee.actuated, world.initial_q[knee.q]) == ("revolute", True, 1.5)


def test_what_a_file_says_in_vain_is_a_warning(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(
        '<mujoco model="arm"><option wind="1 0 0"/>'
        '<worldbody><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    world = falling_sphere()
    assert world.warnings == []
    world.add_robot(str(file))
    assert world.warnings == [f"arm: {file}:1: wind of <option> left out: there is no fluid"]


def test_a_sphere_falls_by_the_closed_form_with_an_error_of_order_one():
    duration, errors = 0.5, []
    for dt in (2e-3, 1e-3, 5e-4):
        run = stiction.simulate(falling_sphere(), duration, dt=dt)
        assert run.status == "solved"
        assert len(run.time) == round(duration / dt) + 1
        np.testing.assert_allclose(run.v[:, 2], -GRAVITY * run.time, atol=1e-11)
        errors.append(np.abs(run.q[-1, 2] - (5.0 - 0.5 * GRAVITY * duration**2)))
    order = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(order, 1.0, atol=1e-6)


def test_a_sphere_comes_to_rest_on_the_ground():
    run = stiction.simulate(falling_sphere(height=0.3), 0.5, law="coulomb_cone")
    assert run.status == "solved"
    np.testing.assert_allclose(run.q[-1, 2], 0.1, atol=1e-5)
    assert (run.contacts[0], run.contacts[-1]) == (0, 1)
    assert run.residual.max() <= 1e-9


def test_a_ball_bounces_by_its_restitution():
    world = stiction.World()
    world.add_ground()
    world.add_body("ball", Shape.sphere(0.1), mass=1.0, position=(0, 0, 0.3), restitution=0.5)
    run = stiction.simulate(world, 0.4)
    impact = np.argmax(run.v[:, 2] > 0.0)
    np.testing.assert_allclose(run.v[impact, 2] / -run.v[impact - 1, 2], 0.5, atol=0.02)


def test_same_world_same_bits():
    first, second = (stiction.simulate(falling_sphere(height=0.2), 0.3, law="coulomb_pyramid") for _ in range(2))
    for name in ("time", "q", "v", "tau", "contacts", "residual"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()


def test_the_problem_of_a_state():
    world = stiction.World()
    world.add_ground(friction=0.25)
    world.add_body("box", Shape.box((0.2, 0.4, 0.6)), mass=3.0, position=(0, 0, 0.3))
    problem = world.problem(dt=2e-3)
    assert (problem.contacts, problem.velocities, problem.dt) == (4, 6, 2e-3)
    corners = sorted(map(tuple, np.round(problem.positions, 12) + 0.0))
    np.testing.assert_allclose(corners, [(x, y, 0) for x in (-0.1, 0.1) for y in (-0.2, 0.2)], atol=1e-9)
    np.testing.assert_allclose(problem.normals, [[0, 0, 1]] * 4, atol=1e-12)
    np.testing.assert_array_equal(problem.mu, 0.25)
    assert len(set(problem.ids)) == 4
    assert problem.bodies == [("box", "ground")] * 4
    np.testing.assert_allclose(np.diag(problem.M)[:3], 3.0)
    np.testing.assert_allclose(problem.impulse, [0, 0, -3.0 * GRAVITY * 2e-3, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(stiction.solve(problem).impulses[:, 0].sum(), 3.0 * GRAVITY * 2e-3)
    assert np.all(np.isinf(world.problem(friction=np.inf).mu))


def test_a_controller_drives_and_inverse_then_forward_agree(checkout):
    world = stiction.World()
    world.add_ground()
    world.add_body("box", Shape.box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1))

    def push(t, q, v):
        plan = stiction.inverse(world.problem(q, v), [0], [0.5], law="coulomb_cone")
        assert plan.status == "solved"
        return np.concatenate([plan.tau, np.zeros(5)])

    run = stiction.simulate(world, 0.1, law="coulomb_cone", controller=push)
    assert run.status == "solved"
    np.testing.assert_allclose(run.v[1:, 0], 0.5, atol=1e-8)
    np.testing.assert_allclose(run.tau[2:, 0], 0.5 * GRAVITY, atol=1e-4)  # friction of the world's shapes


def test_a_scene_file(checkout):
    path = str(checkout / "models" / "scenes" / "incline.toml")
    world = stiction.World.from_scene(path)
    by_world, by_file = stiction.simulate(world, 0.1), stiction.simulate(path, 0.1)
    assert by_world.status == "solved"
    assert by_world.q.tobytes() == by_file.q.tobytes()
    with pytest.raises(ValueError, match="from_scene"):
        world.add_ground()


def test_errors_of_a_controller_come_through():
    def broken(t, q, v):
        raise KeyError("my own mistake")

    with pytest.raises(KeyError, match="my own mistake"):
        stiction.simulate(falling_sphere(), 0.1, controller=broken)
    for answer in (np.zeros(5), np.full(6, np.nan), None, "tau"):
        with pytest.raises(ValueError, match="controller"):
            stiction.simulate(falling_sphere(), 0.1, controller=lambda t, q, v, answer=answer: answer)


def test_steps_above_the_tolerance_are_counted_and_strict_ends_the_run(tmp_path):
    world = falling_sphere(height=0.101)  # lands within 0.02 s
    run = stiction.simulate(world, 0.05, tolerance=1e-300, law="coulomb_cone")
    touching = run.contacts > 0
    assert run.status == "acceptable"
    assert run.time[-1] == pytest.approx(0.05)
    assert touching.any()
    assert run.at_acceptable[touching].any()
    assert run.steps_at_acceptable == run.at_acceptable.sum()
    assert (run.sub_steps[1:] == 1).all()
    assert (run.residual <= 1e-6).all()

    file = tmp_path / "failed.json"
    strict = stiction.simulate(world, 0.05, tolerance=1e-300, law="coulomb_cone", strict=True, dump=str(file))
    assert strict.status not in ("solved", "acceptable")
    assert strict.time[-1] < 0.05
    assert not strict.at_acceptable.any()
    failed = stiction.load_problem(str(file))
    assert stiction.solve(failed, law="coulomb_cone", tolerance=1e-300).status != "solved"
    assert stiction.solve(failed, law="coulomb_cone").status == "solved"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"duration": -1.0}, "duration"),
        ({"duration": float("inf")}, "duration"),
        ({"dt": 0.0}, "dt"),
        ({"law": "glue"}, "law"),
        ({"solver": "glue"}, "solver"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"acceptable": float("nan")}, "acceptable"),
        ({"q": np.zeros(3)}, "q"),
        ({"q": np.zeros(7)}, "q"),
        ({"v": np.full(6, np.nan)}, "v"),
    ],
)
def test_a_bad_argument_of_simulate_is_named(options, named):
    with pytest.raises(ValueError, match=rf"\b{named}\b"):
        stiction.simulate(falling_sphere(), **({"duration": 0.01} | options))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"mass": -1.0}, "mass"),
        ({"mass": 0.0}, "mass"),
        ({"shape": Shape.plane()}, "inertia|plane|shape"),
        ({"position": (0, 0)}, "position"),
        ({"position": (0, 0, float("nan"))}, "position"),
        ({"orientation": (0, 0, 0, 0)}, "orientation"),
        ({"friction": -0.1}, "friction"),
        ({"restitution": 1.1}, "restitution"),
        ({"inertia": np.zeros((3, 3))}, "inertia"),
    ],
)
def test_a_bad_body_is_named(options, named):
    world = stiction.World()
    with pytest.raises(ValueError, match=named):
        world.add_body(**({"name": "ball", "shape": Shape.sphere(0.1), "mass": 1.0} | options))
    assert world.body_names == []


def test_bad_shapes_worlds_and_files_are_named():
    for make, named in [
        (lambda: Shape.sphere(-1.0), "radius"),
        (lambda: Shape.box((1, 0, 1)), "half_extents"),
        (lambda: stiction.World(gravity=(0, 0)), "gravity"),
        (lambda: stiction.World(friction=-1.0), "friction"),
        (lambda: stiction.World().pose("nobody"), "nobody"),
    ]:
        with pytest.raises(ValueError, match=named):
            make()
    with pytest.raises(stiction.FileError, match=r"absent\.urdf"):
        stiction.World().add_robot("absent.urdf")
    with pytest.raises(stiction.FileError, match=r"absent\.toml"):
        stiction.simulate("absent.toml")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"keyframe": "sitting"}, "keyframe: expected"),
        ({"cut": ["elbow_joint"]}, "cut: expected none but for extended coordinates"),
        ({"cut": ["nobody"], "coordinates": "extended"}, "cut: expected names of joints"),
        ({"actuated": ["nobody"]}, "actuated: expected"),
        ({"joints": {"nobody": 1.0}}, "joints, joint_settings: expected"),
        ({"joints": {"elbow_joint": np.nan}}, r"joints\['elbow_joint'\]: expected"),
        ({"joint_settings": {"elbow_joint": {"damping": -1.0}}}, r"joint_settings\['elbow_joint'\].damping: expected"),
    ],
)
def test_what_a_robot_is_refused_for_is_the_argument(arguments, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        stiction.World().add_robot("models/ur10.urdf", **arguments)


def test_a_mesh_that_cannot_be_read_is_said_in_one_line(tmp_path):
    bad = tmp_path / "bad.stl"
    bad.write_text("no mesh")
    for file, reason in (bad, r"cannot be read as a mesh: [^\\/]*"), (tmp_path / "none.stl", "no such file"):
        with pytest.raises(stiction.FileError, match=rf"^{file}: {reason}$"):
            stiction.World().add_body("rock", Shape.mesh(file), mass=1.0)


def test_other_threads_run_during_a_simulation():
    world, runs, turns = falling_sphere(height=0.2), [], 0
    thread = threading.Thread(target=lambda: runs.append(stiction.simulate(world, 20.0)))
    thread.start()
    while thread.is_alive():
        turns += 1
        thread.join(0.001)
    assert runs[0].status == "solved"
    assert turns > 5  # a held lock would give one or two


def test_two_threads_simulate_one_world():
    world = falling_sphere(height=0.2)
    expected, results = stiction.simulate(world, 0.5).q.tobytes(), []
    threads = [
        threading.Thread(target=lambda: results.append(stiction.simulate(world, 0.5).q.tobytes())) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected, expected]


def test_hello_world(checkout):
    package = pathlib.Path(stiction.__file__).parents[1]
    printed = subprocess.run(
        [sys.executable, checkout / "examples" / "hello.py"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(package)},
    ).stdout
    assert "(solved)" in printed
    predicted, simulated = (
        np.array(line.split("[")[1].rstrip("]").split(), float) for line in printed.replace("\n ", " ").splitlines()[1:]
    )
    np.testing.assert_allclose(predicted, simulated, atol=1e-6)
    assert predicted.sum() > 1.0


def test_a_robot_cut_at_its_joints_has_the_state_of_the_whole_one(checkout):
    def quadruped(**options):
        world = stiction.World()
        world.add_robot(str(checkout / "models" / "links.urdf"), floating=True, **options)
        return world

    whole, random = quadruped(), np.random.default_rng(1)
    q = whole.initial_q.copy()
    q[7:] = random.uniform(-0.5, 0.5, 12)
    v, tau = random.normal(size=18), random.normal(size=18)
    for options, nv, cuts in (
        ({"coordinates": "extended"}, 38, 4),
        ({"coordinates": "extended", "cut": ["LF_SHANK"]}, 23, 1),
        ({"coordinates": "maximal"}, 78, 12),
    ):
        world = quadruped(**options)
        assert (world.nv, len(world.cut_joints)) == (nv, cuts)
        q_cut, v_cut = world.from_uncut(q, v)
        np.testing.assert_allclose(world.energy(q_cut, v_cut), whole.energy(q, v), rtol=1e-12)
        for got, expected in zip(world.to_uncut(q_cut, v_cut), (q, v), strict=True):
            np.testing.assert_allclose(got, expected, atol=1e-12)
        np.testing.assert_allclose(world.uncut_forces(tau, q_cut) @ v_cut, tau @ v, rtol=1e-12)
    with pytest.raises(ValueError, match="coordinates: expected minimal, extended or maximal, got 'redundant'"):
        quadruped(coordinates="redundant")


@pytest.mark.parametrize("value", [1e299, -1e10])
def test_gravity_that_leads_out_of_reach_within_a_second_is_named(value):
    with pytest.raises(ValueError, match=r"gravity\[2\]: expected a number within 1e\+09 m/s\^2 of 0, got"):
        stiction.World(gravity=(0, 0, value)).problem()
    mjcf = f'<mujoco><option gravity="0 0 {value}"/><worldbody><geom size="1"/></worldbody></mujoco>'
    with pytest.raises(stiction.FileError, match=r"gravity=.*expected numbers within 1e\+09 m/s\^2 of 0"):
        stiction.World().add_robot(mjcf)


def test_a_text_may_begin_with_a_byte_order_mark():
    text = (
        '<robot name="r"><link name="l"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    world = stiction.World()
    world.add_robot("\ufeff" + text, floating=True)
    assert world.copy().mass_matrix()[0, 0] == pickle.loads(pickle.dumps(world)).mass_matrix()[0, 0] == 2.0


def test_what_is_no_robot_is_named():
    for wrong in (3, ("a", "b")):
        with pytest.raises(TypeError, match=r"file: expected a path, the text of a URDF or MJCF, or a pinocchio"):
            stiction.World().add_robot(wrong)


def test_masked_entries_are_no_numbers():
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    world = stiction.World()
    with pytest.raises(ValueError, match="position: expected an array without masked entries, got a masked array"):
        world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0, position=masked)
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0, position=np.ma.array([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="v: expected an array without masked entries"):
        world.problem(v=np.ma.masked_greater(np.arange(6.0), 3.0))
    with pytest.raises(ValueError, match="joints: expected an array without masked entries"):
        stiction.inverse(world.problem(), np.ma.array([0, 1], mask=[True, False]), [0.0, 0.0])
    assert world.initial_q[1] == 2.0


def test_states_are_finite():
    for wrong in ({"q": [np.nan]}, {"v": [np.inf]}, {"time": np.nan}):
        (name,) = wrong
        with pytest.raises(ValueError, match=rf"{name}.*finite"):
            stiction.State(**({"q": [0.0], "v": [0.0]} | wrong))


def test_files_are_found_through_a_link_to_their_folder(tmp_path):
    def cube(path, half):
        path.parent.mkdir(parents=True)
        corners = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
        faces = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
        path.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {face}\n" for face in faces))

    cube(tmp_path / "v2" / "meshes" / "c.obj", 0.1)
    cube(tmp_path / "project" / "meshes" / "c.obj", 0.3)  # beside the link
    models = tmp_path / "v2" / "models"
    models.mkdir()
    (models / "r.xml").write_text(
        '<mujoco><compiler meshdir="../meshes"/><asset><mesh file="c.obj"/></asset><worldbody><body name="a">'
        '<freejoint/><geom type="mesh" mesh="c"/></body></worldbody></mujoco>'
    )
    (tmp_path / "project" / "current").symlink_to(models)
    world = stiction.World()
    world.add_robot(str(tmp_path / "project" / "current" / "r.xml"))
    assert world.mass_matrix()[0, 0] == pytest.approx(1000.0 * 0.2**3)


@pytest.mark.parametrize(
    ("friction", "warned"),
    [
        ('friction=".1"', True),
        ('friction=".1 1"', True),
        ('friction=".1 .1"', False),
        ('friction="1"', False),
        ("", False),
    ],
)
def test_a_pair_with_friction_of_one_direction_is_named(friction, warned):
    """The second keeps MuJoCo's default of 1."""
    world = stiction.World()
    world.add_robot(
        '<mujoco><worldbody><geom name="p" type="plane" size="1 1 1"/><body name="b" pos="0 0 .1"><freejoint/>'
        '<geom name="g" size=".1"/></body></worldbody>'
        f'<contact><pair geom1="p" geom2="g" {friction}/></contact></mujoco>'
    )
    assert [warning for warning in world.warnings if "friction" in warning] == (
        ["robot: <text>:1: friction is that of the first direction, 0.1; of the second it would be 1"] if warned else []
    )


@pytest.mark.parametrize("last", [False, True])
def test_a_body_of_no_robot_comes_before_what_robots_call_so(last):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    world = stiction.World()
    world.add_ground()

    def add_box():
        world.add_body("box", Shape.box((0.2, 0.2, 0.2)), mass=1.0, position=(5, 0, 0.1))

    if not last:
        add_box()
    for x, name in enumerate(("arm", "leg")):
        link = f'<robot name="{name}"><link name="box">{inertial}{ball}</link></robot>'
        world.add_robot(link, floating=True, position=(x, 0, 0.1))
    if last:
        add_box()
    np.testing.assert_array_equal(world.pose("box")[:3, 3], [5, 0, 0.1])
    np.testing.assert_array_equal(world.pose("arm/box")[:3, 3], [0, 0, 0.1])
    names = world.body_names
    assert sorted(names) == ["arm/box", "box", "ground", "leg/box"]
    for index, name in enumerate(names):
        np.testing.assert_array_equal(world.pose(name), world.pose(index))
    stepper = stiction.Stepper(world)
    stepper.step()
    touching = {name for pair in stepper.contacts.body_names for name in pair}
    assert touching == set(names) == {name for pair in world.problem().bodies for name in pair}
    world.exclude("box", "arm/box")


def test_refusals_say_what_is_wrong(tmp_path):
    scene = tmp_path / "scene.toml"
    for text, message in (
        ('[[body]]\nshape = "box"\nmass = 1.0\n', r"line 1, body\[0\].size: missing"),
        ('[[body]]\nname = ""\nshape = "sphere"\nradius = 0.1\nmass = 1.0\n', "a name that is not empty, got ''"),
        ("[simulation]\nsub_steps = 1000000000000\n", "expected an integer of at most 1e9, got 1000000000000"),
        (
            '[[robot]]\nfile = "links.urdf"\ncoordinates = "maximal"\n[[drive]]\njoints = ["LF_HIP"]\nvelocity = 0.0\n',
            "expected the name of one joint that is not cut, got 'LF_HIP'",
        ),
    ):
        scene.write_text(text)
        with pytest.raises((ValueError, OSError), match=message):
            stiction.World.from_scene(str(scene))
    sliding_arm = (
        '<mujoco><worldbody><body name="c"><joint name="s" type="slide" axis="1 0 0"/><joint name="h" axis="0 1 0"/>'
        '<geom size=".1" pos=".1 0 0"/></body></worldbody></mujoco>'
    )
    with pytest.raises((ValueError, OSError), match="it moves a link without mass, and nothing that has any"):
        stiction.World().add_robot(sliding_arm, coordinates="maximal")
