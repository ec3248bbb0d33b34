"""Bodies of meshes and of several shapes, their mass, and what a world starts with."""

import pathlib
import pickle
from xml.etree import ElementTree

import numpy as np
import pytest

import stiction
from stiction import Shape

GRAVITY = 9.81
# Corners of a prism over a plane polygon, given counter-clockwise, triangles of its two faces by their indices. Mesh
# files are read in single precision, which holds eighths exactly.
L_CORNERS = [(0.0, 0.0), (0.375, 0.0), (0.375, 0.125), (0.125, 0.125), (0.125, 0.375), (0.0, 0.375)]
L_TRIANGLES = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
BOX_CORNERS = [(-0.125, -0.25), (0.125, -0.25), (0.125, 0.25), (-0.125, 0.25)]
BOX_TRIANGLES = [(0, 1, 2), (0, 2, 3)]


def prism(file: pathlib.Path, corners, triangles, height, closed=True):
    """Writes an OBJ file of the prism |z| <= height/2; not closed: without one of its triangles."""
    n = len(corners)
    vertices = [(x, y, z) for z in (-height / 2, height / 2) for x, y in corners]
    faces = [(a, c, b) for a, b, c in triangles] + [(a + n, b + n, c + n) for a, b, c in triangles]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, j + n), (i, j + n, i + n)]
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in (faces if closed else faces[:-1])]
    file.write_text("\n".join(lines) + "\n")
    return file


def inertia_of(shape, **given):
    """(6, 6) of one body about its origin."""
    world = stiction.World()
    world.add_body("body", shape, **given)
    return np.array(world.mass_matrix())


@pytest.mark.parametrize("convex", [True, False])
def test_a_box_of_triangles_weighs_what_the_box_does(tmp_path, convex):
    mesh = Shape.mesh(prism(tmp_path / "box.obj", BOX_CORNERS, BOX_TRIANGLES, 0.75), convex=convex)
    box = Shape.box((0.25, 0.5, 0.75))
    mass = 500 * 0.25 * 0.5 * 0.75
    np.testing.assert_allclose(inertia_of(mesh, density=500.0), inertia_of(box, mass=mass), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(inertia_of(mesh, mass=3.0), inertia_of(box, mass=3.0), rtol=1e-12, atol=1e-12)


def test_an_l_is_its_two_bars_by_closed_form(tmp_path):
    mesh = Shape.mesh(prism(tmp_path / "l.obj", L_CORNERS, L_TRIANGLES, 0.125))
    bars = [
        (Shape.box((0.375, 0.125, 0.125)), (0.1875, 0.0625, 0)),
        (Shape.box((0.25, 0.125, 0.125)), (0.0625, 0.25, 0), (0, 0, 0.5**0.5, 0.5**0.5)),
    ]
    compound, solid = inertia_of(bars, density=500.0), inertia_of(mesh, density=500.0)
    np.testing.assert_allclose(compound, solid, rtol=1e-12, atol=1e-13)
    m1, m2 = 500 * 0.375 * 0.125**2, 500 * 0.25 * 0.125**2
    first = m1 * np.array([0.1875, 0.0625]) + m2 * np.array([0.0625, 0.25])
    np.testing.assert_allclose(compound[0, 0], m1 + m2, rtol=1e-14)
    np.testing.assert_allclose(compound[:3, 5], (-first[1], first[0], 0), atol=1e-13)
    about_z = m1 / 12 * (0.375**2 + 0.125**2) + m1 * (0.1875**2 + 0.0625**2)
    about_z += m2 / 12 * (0.25**2 + 0.125**2) + m2 * (0.0625**2 + 0.25**2)
    np.testing.assert_allclose(compound[5, 5], about_z, rtol=1e-13)


def test_an_open_mesh_has_no_mass_and_says_which_file(tmp_path):
    file = prism(tmp_path / "open.obj", BOX_CORNERS, BOX_TRIANGLES, 0.6, closed=False)
    world = stiction.World()
    with pytest.raises(stiction.FileError, match=r"open\.obj.*not closed: 3 edges"):
        world.add_body("body", Shape.mesh(file), mass=1.0)
    world.add_body("body", Shape.mesh(file), mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    assert world.mass_matrix()[3, 3] == 1.0


def test_a_compound_stands_on_its_legs():
    world = stiction.World(friction=0.5)
    world.add_ground()
    leg = Shape.box((0.05, 0.05, 0.4))
    legs = [(leg, (x, y, 0.2)) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
    world.add_body("table", [(Shape.box((0.8, 0.6, 0.05)), (0, 0, 0.425)), *legs], density=600.0)
    mass = 600.0 * (0.8 * 0.6 * 0.05 + 4 * 0.05 * 0.05 * 0.4)
    run = stiction.simulate(world, 0.1)
    assert run.status == "solved"
    np.testing.assert_allclose(run.q[-1], world.initial_q, atol=1e-9)
    last = slice(run.contact_offsets[-2], run.contact_offsets[-1])
    assert run.contacts[-1] == last.stop - last.start == 16
    np.testing.assert_allclose(run.contact_forces[last].sum(axis=0), (0, 0, mass * GRAVITY), atol=1e-6)
    assert set(np.round(run.contact_points[last, 0], 3)) == {-0.325, -0.275, 0.275, 0.325}
    assert (run.contact_bodies[last] == run.contact_bodies[last][0]).all()
    assert run.contact_offsets[0] == run.contact_offsets[1] == 0
    assert len(run.contact_offsets) == len(run.time) + 1


U_CORNERS = [(-0.5, -0.25), (0.5, -0.25), (0.5, 0.5), (0.25, 0.5), (0.25, 0.0), (-0.25, 0.0), (-0.25, 0.5), (-0.5, 0.5)]
U_TRIANGLES = [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)]


@pytest.mark.parametrize(("convex", "height"), [(True, 0.6), (False, 0.1)])
@pytest.mark.parametrize("by_scene", [False, True])
def test_a_ball_lies_in_a_concave_link_or_on_its_hull(tmp_path, convex, height, by_scene):
    """A gutter along y, open above: its floor is at z = 0, the top of its hull at 0.5 m."""
    prism(tmp_path / "gutter.obj", U_CORNERS, U_TRIANGLES, 2.0)
    (tmp_path / "gutter.urdf").write_text(
        "<robot name='gutter'><link name='gutter'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
        "<collision><origin rpy='1.5707963267948966 0 0'/><geometry><mesh filename='gutter.obj'/></geometry>"
        "</collision></link></robot>"
    )
    if by_scene:
        scene = tmp_path / "scene.toml"
        scene.write_text(
            f"[[robot]]\nfile = 'gutter.urdf'\nconvex_meshes = {str(convex).lower()}\n"
            f"[[body]]\nname = 'ball'\nshape = 'sphere'\nradius = 0.1\nmass = 1.0\nposition = [0, 0, {height + 1e-3}]\n"
        )
        world = stiction.World.from_scene(scene)
    else:
        world = stiction.World()
        world.add_robot(tmp_path / "gutter.urdf", convex_meshes=convex)
        world.add_body("ball", Shape.sphere(0.1), mass=1.0, position=(0, 0, height + 1e-3))
    run = stiction.simulate(world, 0.2)
    assert run.status == "solved"
    assert run.q[-1, 2] == pytest.approx(height, abs=1e-5)
    again = stiction.simulate(pickle.loads(pickle.dumps(world)), 0.2)
    np.testing.assert_array_equal(again.q, run.q)


def test_wrong_bodies_are_named():
    box = Shape.box((1, 1, 1))
    world = stiction.World()
    for given, message in [
        ({"shape": box, "mass": 1.0, "density": 1.0}, "mass or density"),
        ({"shape": box, "velocity": (1, 0, 0)}, "velocity"),
        ({"shape": box, "inertia": np.eye(3)}, "inertia: expected a mass"),
        ({"shape": box, "com": (0, 0, 1)}, "com: expected a mass"),
        ({"shape": [], "mass": 1.0}, "at least one"),
        ({"shape": [box, "box"], "mass": 1.0}, r"shape\[1\]"),
        ({"shape": [(box, (0, 0))], "mass": 1.0}, r"shape\[0\].position"),
        ({"shape": box, "density": -1.0}, "density"),
        ({"shape": Shape.plane(), "mass": 1.0}, "half-space"),
    ]:
        with pytest.raises(ValueError, match=message):
            world.add_body("body", **given)
    assert world.body_names == []


def test_a_body_starts_with_its_velocity():
    world = stiction.World(gravity=(0, 0, 0))
    turned = (0, 0, 0.5**0.5, 0.5**0.5)
    linear, angular = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.4])
    world.add_body("a", Shape.sphere(0.1), mass=1.0, orientation=turned, velocity=linear, angular_velocity=angular)
    world.add_body("b", Shape.sphere(0.1), mass=1.0, position=(5, 0, 0))
    np.testing.assert_allclose(world.velocity("a"), [*linear, *angular], atol=1e-15)
    np.testing.assert_array_equal(world.velocity("b"), 0.0)
    run = stiction.simulate(world, 0.5)
    np.testing.assert_allclose(run.q[-1, :3], 0.5 * linear, atol=1e-12)
    world.set_velocity("b", linear)
    world.add_body("c", Shape.sphere(0.1), mass=1.0, position=(0, 9, 0))
    np.testing.assert_allclose(world.velocity("b"), [*linear, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(stiction.Stepper(world).state.v, world.initial_v)


def test_a_robot_starts_with_its_velocity(checkout):
    world = stiction.World()
    world.add_robot(checkout / "models" / "links.urdf", floating=True, orientation=(1, 0, 0, 0))
    joint = next(j for j in world.joints if j.nv == 1)
    root = world.link_names[0]
    world.set_velocity(root, (1, 0, 0), (0, 1, 0))
    world.set_velocity(joint.name, 0.7)
    np.testing.assert_allclose(world.velocity(root), [1, 0, 0, 0, 1, 0], atol=1e-12)
    assert world.initial_v[joint.v] == 0.7
    for name, velocity in [(joint.name, (1, 0, 0)), ("nobody", 1.0), ("nobody", (1, 0, 0)), (root, 1.0)]:
        with pytest.raises(ValueError, match=r"velocity|name"):
            world.set_velocity(name, velocity)


def test_joint_settings_take_the_place_of_the_files(checkout):
    file = checkout / "models" / "links.urdf"
    plain, set_up = stiction.World(), stiction.World()
    plain.add_robot(file, floating=True)
    name = next(j.name for j in plain.joints if j.nv == 1)
    settings = {"armature": 0.02, "damping": 0.3, "dry_friction": 0.1, "effort_limit": 5.0, "velocity_limit": 7.0}
    set_up.add_robot(file, floating=True, joint_settings={name: settings})
    before, joint = (next(j for j in w.joints if j.name == name) for w in (plain, set_up))
    assert {key: getattr(joint, key) for key in settings} == settings
    added = set_up.mass_matrix()[joint.v, joint.v] - plain.mass_matrix()[joint.v, joint.v]
    np.testing.assert_allclose(added, 0.02 - before.armature, rtol=1e-9)
    with pytest.raises(ValueError, match=r"joint_settings\['" + name + r"'\].*dry_friction.*'stiction'"):
        stiction.World().add_robot(file, joint_settings={name: {"stiction": 1.0}})
    with pytest.raises(ValueError, match="damping"):
        stiction.World().add_robot(file, joint_settings={name: {"damping": -1.0}})
    root = next(j.name for j in plain.joints if j.nv == 6)
    for setting in ("dry_friction", "stiffness"):
        with pytest.raises(ValueError, match=rf"{root}.*{setting}.*one coordinate.*free"):
            stiction.World().add_robot(file, floating=True, joint_settings={root: {setting: 1.0}})


def test_scenes_that_ship_are_found_by_name_and_path(checkout):
    scenes = stiction.scenes()
    assert scenes.get("stack")
    by_name = stiction.World.from_scene("stack")
    by_path = stiction.World.from_scene(checkout / "models" / "scenes" / "stack.toml")
    np.testing.assert_array_equal(by_name.initial_q, by_path.initial_q)
    run = stiction.simulate(checkout / "models" / "scenes" / "stack.toml", 0.01)
    np.testing.assert_array_equal(run.q, stiction.simulate("stack", 0.01).q)


def test_a_pose_of_the_srdf_is_a_start(example_robot):
    robot = pathlib.Path(example_robot("talos_data/robots/talos_reduced.urdf"))
    world = stiction.World()
    world.add_robot(robot, floating=True, keyframe="half_sitting", filter_overlaps=False)
    joint = next(j for j in world.joints if j.name == "leg_left_4_joint")
    state = ElementTree.parse(robot.parents[1] / "srdf" / "talos.srdf").find("group_state[@name='half_sitting']")
    value = state.find("joint[@name='leg_left_4_joint']").get("value")
    assert world.initial_q[joint.q] == float(value) != 0.0
    with pytest.raises(ValueError, match="half_sitting"):
        stiction.World().add_robot(robot, keyframe="sitting")


def test_what_a_body_says_of_all_its_contacts():
    """A slope of 1/3: what has mu = 0.5 rests, one without friction gains 3 m/s^2, whatever it lies on."""
    world = stiction.World(gravity=(3, 0, -9), friction=0.5)
    world.add_ground()
    box = Shape.box((0.2, 0.2, 0.1))
    for name, y in [("rests", 0), ("slides", 1)]:
        world.add_body(name, box, mass=1.0, position=(0, y, 0.05))
    world.set_pair("slides", friction=0.0)
    run = stiction.simulate(world, 0.1)
    np.testing.assert_allclose(run.v[-1, [0, 6]], [0.0, 0.3], atol=1e-9)
    run = stiction.simulate(world, 0.1, friction=0.0)
    np.testing.assert_allclose(run.v[-1, [0, 6]], 0.3, atol=1e-9)


def test_simulate_takes_the_options_of_a_stepper():
    """A pyramid brakes a slide that is not along one of its edges sideways too, one of four edges most."""
    world = stiction.World(friction=0.4)
    world.add_ground()
    world.add_body("box", Shape.box((0.2, 0.2, 0.02)), mass=1.0, position=(0, 0, 0.01), velocity=(2, 1, 0))
    stepper = stiction.Stepper(world, law="coulomb_pyramid", edges=8, friction=0.2)
    run = stiction.simulate(world, 0.005, law="coulomb_pyramid", edges=8, friction=0.2)
    for _ in range(5):
        assert stepper.step()
    np.testing.assert_array_equal(run.q[-1], stepper.q)
    np.testing.assert_array_equal(run.v[-1], stepper.v)
    assert np.linalg.norm(run.v[-1] - stiction.simulate(world, 0.005, law="coulomb_pyramid", friction=0.2).v[-1]) > 1e-4


def test_a_law_reaches_the_contacts_of_pairs_that_name_none():
    world = stiction.World(gravity=(3, 0, -9), friction=0.5)
    world.add_ground()
    box = Shape.box((0.2, 0.2, 0.1))
    for name, y in [("own", 0), ("other", 1)]:
        world.add_body(name, box, mass=1.0, position=(0, y, 0.05))
    world.set_pair("own", "ground", law="coulomb_cone")
    for law, speed in [("frictionless", 0.3), ("coulomb_cone", 0.0)]:
        run = stiction.simulate(world, 0.1, law=law)
        np.testing.assert_allclose(run.v[-1, [0, 6]], [0.0, speed], atol=1e-8)
        assert set(world.problem(law=law).laws) == {"coulomb_cone", law}
    assert set(world.problem().laws) == {"coulomb_cone"}


def test_warnings_name_links_that_do_not_collide(tmp_path):
    link = '<body name="{0}"><joint name="{0}"/><geom size="0.1"/>'
    text = (
        f"<mujoco model='arm'><worldbody>{''.join(map(link.format, 'abc'))}</body></body></body></worldbody></mujoco>"
    )
    (tmp_path / "arm.xml").write_text(text)
    world = stiction.World()
    world.add_robot(tmp_path / "arm.xml")
    assert world.warnings == ["arm: links that touch in nearly every pose do not collide: a - c (200.0 mm)"]
    assert world.collision_pairs == []


def test_a_tip_of_more_edges_than_a_hull_takes_is_named_with_the_way_out(tmp_path):
    turn = 2 * np.pi * np.arange(300) / 300
    rim = np.column_stack((0.1 * np.cos(turn), 0.1 * np.sin(turn), 0 * turn))
    around = [(2 + i, 2 + (i + 1) % 300) for i in range(300)]
    lines = ["v 0 0 0.1", *("v {} {} {}".format(*p) for p in rim), "v 0 0 0"]
    lines += [f"f 1 {a} {b}" for a, b in around] + [f"f 302 {b} {a}" for a, b in around]
    path = tmp_path / "cone.obj"
    path.write_text("\n".join(lines) + "\n")
    world = stiction.World()
    world.add_body("cone", stiction.Shape.mesh(path), mass=1.0)
    with pytest.raises(ValueError, match=r"at most 254 edges at each .*convex=False.* got 302 points \(Too many neigh"):
        stiction.Stepper(world)
    whole = stiction.World()
    whole.add_body("cone", stiction.Shape.mesh(path, convex=False), mass=1.0)
    stiction.Stepper(whole)


TETRAHEDRON = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>{}</up_axis></asset>
<library_geometries><geometry id="mesh"><mesh>
<source id="points"><float_array id="numbers" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array><technique_common>
<accessor source="#numbers" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="vertices"><input semantic="POSITION" source="#points"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#vertices" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="scene"><node>
<instance_geometry url="#mesh"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene></COLLADA>"""


@pytest.mark.parametrize("up", ["X_UP", "Y_UP", "Z_UP"])
def test_a_dae_is_its_numbers_in_metres_whichever_axis_is_up(tmp_path, up):
    """As Coal and Pinocchio read it."""
    file = tmp_path / "mesh.dae"
    file.write_text(TETRAHEDRON.format(up))
    world = stiction.World()
    world.add_body("body", Shape.mesh(file), mass=1.0)
    (shape,) = stiction.trajectory.of_simulation(stiction.simulate(world, 1e-3)).shapes
    assert sorted(shape.vertices.tolist()) == [[0, 0, 0], [0, 0, 3], [0, 2, 0], [1, 0, 0]]
    np.testing.assert_array_equal(shape.placement, [0, 0, 0, 0, 0, 0, 1])
