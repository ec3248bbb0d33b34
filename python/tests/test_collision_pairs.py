"""Who collides with whom: MJCF against MuJoCo itself, SRDF, filters and exclusions of example robots."""

import pathlib

import numpy as np
import pytest

import stiction
from stiction import Shape


def gymnasium_models():
    gymnasium = pytest.importorskip("gymnasium", reason="needs the models of gymnasium")
    folder = pathlib.Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
    return {file.stem: file for file in sorted(folder.glob("*.xml"))}


def mujoco_names(mujoco, model):
    """Names as stiction gives them: an unnamed geom has its body's and its number among those that can collide."""
    names, count = [], {}
    for g in range(model.ngeom):
        body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, model.geom_bodyid[g])
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, g)
        collides = model.geom_contype[g] or model.geom_conaffinity[g]
        if not (name or collides):
            names.append(None)
            continue
        names.append(name or f"{body}_{count.get(body, 0)}")
        count[body] = count.get(body, 0) + bool(collides)
    return names


def mujoco_pairs(mujoco, file):
    """The pairs that MuJoCo makes contacts of when every geom is within the margin of every other."""
    spec = mujoco.MjSpec.from_file(str(file))
    for geom in spec.geoms:
        geom.margin = 1e3
    for pair in spec.pairs:
        pair.margin = 1e3
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    names, weld = mujoco_names(mujoco, model), model.body_weldid[model.geom_bodyid]
    moving = (
        pair for pair in data.contact.geom if weld[pair[0]] != weld[pair[1]]
    )  # a <pair> may name what is welded together
    return {frozenset((names[a], names[b])) for a, b in moving}


@pytest.mark.parametrize("name", [
    "ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_double_pendulum", "inverted_pendulum",
    "point", "pusher", "pusher_v5", "reacher", "swimmer", "walker2d", "walker2d_v5",
])  # fmt: skip
def test_candidate_pairs_of_an_mjcf_are_those_of_mujoco(name):
    mujoco = pytest.importorskip("mujoco", reason="needs mujoco as the reference")
    file = gymnasium_models()[name]
    world = stiction.World()
    world.add_robot(str(file), filter_overlaps=False)
    ours = [frozenset(pair) for pair in world.collision_pairs]
    assert len(ours) == len(set(ours))
    assert set(ours) == mujoco_pairs(mujoco, file)


def random_mjcf(seed):
    """A tree of spheres with flags, welds, joints in a row, empty bodies, <exclude> and <pair>."""
    rng = np.random.default_rng(seed)
    geoms, bodies = [], []

    def geom():
        geoms.append(f"g{len(geoms)}")
        flags = rng.integers(0, 4, 2)
        return f'<geom name="{geoms[-1]}" size="0.1" contype="{flags[0]}" conaffinity="{flags[1]}"/>'

    def body(depth):
        bodies.append(f"b{len(bodies)}")
        name = bodies[-1]
        joints = "" if depth and rng.random() < 0.3 else "<joint/>"
        if depth == 0 and rng.random() < 0.5:
            joints = "<freejoint/>"
        elif joints and rng.random() < 0.3:
            joints += '<joint axis="1 0 0"/>'
        inertia = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        shapes = "".join(geom() for _ in range(rng.integers(0, 3)))
        children = "".join(body(depth + 1) for _ in range(rng.integers(0, 3 if depth < 3 else 1)))
        return f'<body name="{name}">{joints}{inertia}{shapes}{children}</body>'

    tree = geom() + "".join(body(0) for _ in range(3)) + f'<body name="fixed">{geom()}{body(1)}</body>'
    contact = "".join(
        '<exclude body1="{}" body2="{}"/>'.format(*rng.choice(bodies, 2, replace=False))
        for _ in range(len(bodies) // 3)
    )
    flags = '<option><flag filterparent="disable"/></option>' if seed % 4 == 3 else ""
    pair = '<pair geom1="{}" geom2="{}"/>'.format(*rng.choice(geoms, 2, replace=False)) if len(geoms) > 1 else ""
    return f"<mujoco>{flags}<worldbody>{tree}</worldbody><contact>{contact}{pair}</contact></mujoco>"


@pytest.mark.parametrize("seed", range(24))
def test_candidate_pairs_of_random_trees_are_those_of_mujoco(seed, tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="needs mujoco as the reference")
    file = tmp_path / "tree.xml"
    file.write_text(random_mjcf(seed))
    world = stiction.World()
    world.add_robot(str(file), filter_overlaps=False)
    assert set(map(frozenset, world.collision_pairs)) == mujoco_pairs(mujoco, file)


def deepest(world):
    """Gap of the deepest contact at the start by pair of bodies."""
    problem = world.problem()
    gaps = {}
    for pair, gap in zip(problem.bodies, problem.gap, strict=True):
        gaps[frozenset(pair)] = min(gaps.get(frozenset(pair), np.inf), gap)
    return gaps


# Overlapping in their neutral configurations: with an SRDF beside them, without one, hands full of touching links.
@pytest.mark.parametrize(
    "path",
    [
        "solo_description/robots/solo12.urdf",
        "talos_data/robots/talos_reduced.urdf",
        "icub_description/robots/icub.urdf",
        "tiago_description/robots/tiago.urdf",
        "panda_description/urdf/panda_collision.urdf",
        "hyq_description/robots/hyq_no_sensors.urdf",
    ],
)
def test_links_of_a_robot_do_not_start_inside_each_other(path, example_robot):
    raw, filtered = stiction.World(), stiction.World()
    raw.add_robot(example_robot(path), floating=True, srdf="", filter_overlaps=False)
    filtered.add_robot(example_robot(path), floating=True)
    assert min(deepest(raw).values()) < -1e-3
    assert all(gap > -1e-3 for gap in deepest(filtered).values())


def two_balls(**options):
    world = stiction.World(**options)
    world.add_ground(friction=0.5)
    world.add_body("a", Shape.sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    world.add_body("b", Shape.sphere(0.1), mass=1.0, position=(0, 0, 0.3))
    return world


def test_an_excluded_pair_passes_through():
    world = two_balls()
    assert world.collision_pairs == [("ground_0", "a_0"), ("ground_0", "b_0"), ("a_0", "b_0")]
    world.exclude("b", "a")
    assert world.collision_pairs == [("ground_0", "a_0"), ("ground_0", "b_0")]
    run = stiction.simulate(world, 0.3, law="coulomb_cone")
    np.testing.assert_allclose(run.q[-1, [2, 9]], 0.1, atol=1e-5)
    for call in (world.exclude, world.set_pair):
        with pytest.raises(ValueError, match=r"^b: .*'nobody'"):
            call("a", "nobody")
        with pytest.raises(ValueError, match=r"^b: expected another body than a, got 'a'"):
            call("a", "a")
    for velocity in (1.0, (1, 0, 0)):
        with pytest.raises(ValueError, match=r"^name: .*'nobody'"):
            world.set_velocity("nobody", velocity)


def test_a_pair_has_its_own_material():
    world = two_balls()
    world.set_pair("a", "ground", friction=0.2, restitution=0.3)
    problem = world.problem()
    by_pair = {
        frozenset(pair): (mu, e) for pair, mu, e in zip(problem.bodies, problem.mu, problem.restitution, strict=True)
    }
    assert by_pair == {frozenset(("a", "ground")): (0.2, 0.3), frozenset(("a", "b")): (0.5, 0.0)}
    world.set_pair("a", "b", law="frictionless", stiffness=1e4)
    problem = world.problem()
    own = {frozenset(pair): k for k, pair in enumerate(problem.bodies)}
    assert problem.laws[own[frozenset(("a", "b"))]] == "frictionless"
    assert problem.material[own[frozenset(("a", "b"))]]["stiffness"] == 1e4


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"friction": -0.1}, "friction"),
        ({"restitution": 2.0}, "restitution"),
        ({"law": "glue"}, "glue"),
        ({"stifness": 1.0}, "stifness"),
        ({"stiffness": -1.0}, "stiffness"),
    ],
)
def test_errors_of_a_pair_name_the_argument(arguments, part):
    with pytest.raises(ValueError, match=part):
        two_balls().set_pair("a", "b", **arguments)
    with pytest.raises(ValueError, match="'nobody'"):
        two_balls().set_pair("a", "nobody", friction=1.0)


def test_self_collision_of_a_robot_can_be_turned_off(checkout):
    def pairs(**options):
        world = stiction.World()
        world.add_ground()
        world.add_robot(str(checkout / "models" / "links.urdf"), floating=True, **options)
        return world.collision_pairs

    assert any("ground_0" not in pair for pair in pairs())
    off = pairs(self_collision=False)
    assert off
    assert all("ground_0" in pair for pair in off)
