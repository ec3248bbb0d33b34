"""What an MJCF looks like, against what MuJoCo's own viewer draws of it."""

import functools
import itertools
import pathlib

import numpy as np
import pytest

import stiction
from stiction import view

pytest.importorskip("viser", reason="stiction view needs viser")

import trimesh

from stiction import page
from stiction.visuals import VisualShape, VisualTendon, visuals_of

FILE = """<mujoco model="lamp"><compiler angle="radian" assetdir="parts"/>
<default><geom rgba="0.2 0.4 0.6 1"/><mesh scale="0.5 0.25 2"/>
<site rgba="0.1 0.2 0.9 1"/><default class="seen"><geom contype="0" conaffinity="0" group="2" mass="0" material="paint"
 rgba="0.5 0.5 0.5 1"/></default></default>
<asset><mesh name="shade" file="shade.obj" refpos="0.01 0.02 0.03" refquat="0.8 0 0.6 0"/>
<mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="0.1 0.1 0.1"/>
<texture name="green" type="2d" file="green.png"/>
<texture name="tan" type="cube" builtin="flat" rgb1="0.8 0.6 0.4" width="64" height="64"/>
<texture name="boards" type="cube" builtin="checker" rgb1="1 0.2 0" rgb2="0 0.4 0.6" width="64" height="64"/>
<texture name="sky" type="cube" builtin="gradient" rgb1="0.2 0.9 0.4" rgb2="0.7 0 0.3" width="40" height="40"/>
<texture name="tiles" type="2d" builtin="checker" rgb1="0.1 0.2 0.3" rgb2="0.9 0.7 0.5" mark="edge" markrgb="1 1 1"
 width="60" height="30"/>
<texture name="glow" type="2d" builtin="gradient" rgb1="1 0.9 0.4" rgb2="0.1 0 0.3" mark="cross" markrgb="0 1 0"
 width="50" height="50"/>
<texture name="dice" type="cube" file="dice.png" gridsize="2 3" gridlayout="RLUDFB"/>
<texture name="half" type="cube" fileup="side.png" fileleft="side.png" rgb1="0.3 0.5 0.1" hflip="true"/>
<material name="half" texture="half"/><material name="sky" texture="sky"/>
<material name="dice" texture="dice" texuniform="true"/>
<material name="tiles" texture="tiles" texrepeat="3 2" texuniform="true"/>
<material name="glow" texture="glow" texrepeat="2.5 1.7"/>
<material name="skin" texture="tan" rgba="0.9 1 1 1"/><material name="chess" texture="boards"/>
<material name="paint" rgba="0.1 0.9 0.3 1" texture="green"/><material name="glass" rgba="0.8 0.1 0.1 0.4"/></asset>
<worldbody>
<geom name="table" type="box" size="1 1 0.1" pos="0 0 -0.1"/>
<geom class="seen" type="plane" size="0.3 0.2 0.1" pos="0 0 0.4" zaxis="1 2 2" material="glow"/>
<geom class="seen" type="plane" size="0.3 0.2 0.1" pos="0 1 0.4" material="tiles"/>
<geom class="seen" type="sphere" size="0.1" pos="1 0 0.4" material="sky"/>
<geom class="seen" type="ellipsoid" size="0.1 0.2 0.3" pos="1 1 0.4" material="dice"/>
<geom class="seen" type="capsule" size="0.1 0.3" pos="2 1 0.4" material="dice"/>
<geom class="seen" type="cylinder" size="0.1 0.3" pos="2 0 0.4" material="chess"/>
<geom class="seen" type="box" size="0.1 0.3 0.2" pos="3 0 0.4" material="glow"/>
<geom class="seen" type="box" size="0.1 0.3 0.2" pos="3 1 0.4" material="half"/>
<site name="hook" pos="0.3 0 0.1"/><site type="box" size="0.02" rgba="0.5 0.5 0.5 1" material="skin" euler="0.3 0 0"/>
<body name="stem" pos="0.1 0.2 0.5" euler="0.1 0.2 0.3"><joint type="slide" axis="0 0 1" pos="0.3 0.2 0.1"/>
  <joint axis="0 1 0" pos="0.05 -0.02 0.1" ref="0.4"/>
  <geom type="capsule" fromto="0 0 0 0.1 0.2 0.3" size="0.02"/>
  <site name="tip" type="capsule" fromto="0 0 0 0.1 0.1 0" size="0.01"/><site group="3"/>
  <geom type="box" size="0.02 0.03 0.04" rgba="0.5 0.5 0.5 1" material="chess"/>
  <geom type="cylinder" size="0.03 0.1" group="3"/><geom type="sphere" size="0.02" rgba="1 0 0 0"/>
  <geom class="seen" type="ellipsoid" size="0.1 0.05 0.03" material="glass" axisangle="1 2 3 0.7"/>
  <frame pos="0 0 0.1" childclass="seen" xyaxes="0 1 0 -1 0 0">
  <geom type="mesh" mesh="shade" pos="0.01 0.02 0.03"/></frame>
  <body pos="0 0 0.4" quat="0.6 0 0.8 0" childclass="seen"><geom type="mesh" mesh="wedge" rgba="1 0.5 0 1"/>
    <body pos="0 0.1 0"><joint axis="1 0 0" pos="0 0 0.05"/>
    <geom type="box" size="0.1 0.05 0.02" contype="1" mass="1"/></body></body>
</body>
<body name="ball" pos="0.5 0 1"><freejoint/><geom size="0.1"/><site name="eye" pos="0.1 0.2 0" group="4"/></body>
</worldbody>
<tendon><spatial rgba="0.9 0.1 0.4 1"><site site="hook"/><site site="tip"/><pulley divisor="2"/><site site="tip"/>
<site site="eye"/><site site="hook"/></spatial><spatial group="3"><site site="hook"/><site site="eye"/></spatial>
<spatial><site site="eye"/><site site="tip"/></spatial></tendon></mujoco>"""


def lamp(folder):
    """The file, its mesh with texture coordinates and its picture."""
    from PIL import Image

    (folder / "parts").mkdir()
    shade = trimesh.creation.box(extents=(0.2, 0.3, 0.1))
    uv = shade.vertices[:, :2] + 0.5
    shade.visual = trimesh.visual.TextureVisuals(uv=uv, image=Image.new("RGB", (8, 8), (200, 0, 0)))
    shade.export(folder / "parts" / "shade.obj")
    Image.new("RGB", (1024, 512), (20, 160, 30)).save(folder / "parts" / "green.png")
    dice = np.kron(np.random.default_rng(1).integers(0, 256, (8, 12, 3)), np.ones((4, 4, 1)))
    Image.fromarray(dice.astype(np.uint8)).save(folder / "parts" / "dice.png")
    Image.fromarray(dice.astype(np.uint8)).crop((0, 0, 16, 16)).save(folder / "parts" / "side.png")
    file = folder / "lamp.xml"
    file.write_text(FILE)
    return file


def corners(shape, pose):
    """Bounds in the world of a shape drawn at the pose (7,) of its body: (2, 3)."""
    from stiction.stage import mesh_of, rotate

    placed = shape.placement[:3] + rotate(shape.placement[3:], np.asarray(mesh_of(shape).vertices))
    world = pose[:3] + rotate(pose[3:], placed)
    return np.array([world.min(axis=0), world.max(axis=0)])


def drawn_by_mujoco(file):
    """Bounds in the world and rgba of what MuJoCo draws at first, (k, 2, 3) and (k, 4), and a function per shape that
    tells the colour of a point in its frame, None where it is the same all over; infinite planes left out.
    """
    mujoco = pytest.importorskip("mujoco", reason="needs mujoco as the reference")
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    scene = mujoco.MjvScene(model, maxgeom=500)
    mujoco.mjv_updateScene(
        model, data, mujoco.MjvOption(), None, mujoco.MjvCamera(), mujoco.mjtCatBit.mjCAT_ALL.value, scene
    )
    bounds, colors, paints = [], [], []
    for drawn in scene.geoms[: scene.ngeom]:
        if drawn.objtype not in (mujoco.mjtObj.mjOBJ_GEOM, mujoco.mjtObj.mjOBJ_SITE):
            continue
        of = "geom" if drawn.objtype == mujoco.mjtObj.mjOBJ_GEOM else "site"
        i = drawn.objid
        type_, size, material = (getattr(model, f"{of}_{key}")[i] for key in ("type", "size", "matid"))
        kind = mujoco.mjtGeom(int(type_)).name.removeprefix("mjGEOM_").lower()
        if kind == "plane" and (not size[:2].all() or model.geom_contype[i] or model.geom_conaffinity[i]):
            continue
        R, p = getattr(data, f"{of}_xmat")[i].reshape(3, 3), getattr(data, f"{of}_xpos")[i]
        if kind == "mesh":
            mesh = model.geom_dataid[i]
            first = model.mesh_vertadr[mesh]
            points = model.mesh_vert[first : first + model.mesh_vertnum[mesh]] @ R.T
            low, high = points.min(axis=0), points.max(axis=0)
        else:  # the farthest that each reaches along the axes of the world
            z = np.abs(R[:, 2])
            reach = {
                "sphere": np.full(3, size[0]),
                "box": np.abs(R) @ size,
                "ellipsoid": np.sqrt(R**2 @ size**2),
                "capsule": size[0] + size[1] * z,
                "cylinder": size[0] * np.sqrt(1 - np.minimum(z, 1) ** 2) + size[1] * z,
                "plane": np.abs(R[:, :2]) @ size[:2],
            }[kind]
            low, high = -reach, reach
        bounds.append([p + low, p + high])
        colors.append(drawn.rgba.copy())
        texture = model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB] if material >= 0 else -1
        painted = kind == "mesh" and model.mesh_texcoordadr[model.geom_dataid[i]] >= 0
        paints.append(None)
        if texture >= 0 and not painted:
            first, height, width = (getattr(model, f"tex_{key}")[texture] for key in ("adr", "height", "width"))
            picture = model.tex_data[first : first + 3 * height * width].reshape(height, width, 3) / 255.0
            if kind == "mesh" or np.ptp(picture, axis=(0, 1)).max() == 0.0:
                colors[-1][:3] *= picture.mean(axis=(0, 1))
                continue
            is_cube = model.tex_type[texture] != mujoco.mjtTexture.mjTEXTURE_2D
            repeat, uniform = model.mat_texrepeat[material], bool(model.mat_texuniform[material])
            paints[-1] = functools.partial(
                color_at, kind, size, picture * drawn.rgba[:3], is_cube, repeat, bool(uniform)
            )
    return np.array(bounds), np.array(colors), paints


def color_at(kind, size, picture, is_cube, repeat, uniform, point):
    """What OpenGL shows there [OpenGL 2.1 specification, 2.11.4 and table 3.19] with MuJoCo's planes and scales."""
    half = {"sphere": size[[0, 0, 0]], "capsule": size[[0, 0, 1]], "cylinder": size[[0, 0, 1]]}.get(kind, size)
    x, y, z = point / np.where(half > 0.0, half, 1.0)
    if kind == "capsule" and abs(z) > 1.0:
        z = (point[2] - np.sign(z) * size[1]) / size[0]
    if uniform:
        x, y, z = np.array([x, y, z]) * half
    if not is_cube:
        s, t = 0.5 * repeat[0] * x - 0.5, -0.5 * repeat[1] * y - 0.5
        row, column = (int(part % 1.0 * count) for part, count in zip((t, s), picture.shape, strict=False))
        return picture[row, column]
    largest = np.abs([x, y, z]).argmax()
    face, s, t = {
        (0, True): (0, -z, -y),
        (0, False): (1, z, -y),
        (1, True): (2, x, z),
        (1, False): (3, x, -z),
        (2, True): (4, x, -y),
        (2, False): (5, -x, -y),
    }[largest, bool([x, y, z][largest] > 0.0)]
    n, scale = picture.shape[1], max(abs(x), abs(y), abs(z))
    row, column = (min(int(0.5 * (part / scale + 1.0) * n), n - 1) for part in (t, s))
    return picture[(face * n if len(picture) > n else 0) + row, column]


def differs_from(paint, surface):
    """Largest difference of colours (k,) in a surface's triangles, off their middles, which lie on edges of colours."""
    inside = np.array([0.513, 0.307, 0.18])
    image = np.asarray(surface.visual.material.baseColorTexture.convert("RGB"), float) / 255.0
    u, v = (inside @ surface.visual.uv[surface.faces]).T % 1.0
    shown = image[((1.0 - v) * image.shape[0]).astype(int) % image.shape[0], (u * image.shape[1]).astype(int)]
    seen = np.array([paint(point) for point in inside @ surface.triangles])
    return np.abs(shown - np.clip(seen, 0.0, 1.0)).max(axis=1)


def run_at_its_place(file):
    """A run of the robot where its file has it, not lifted off the ground."""
    world = stiction.World()
    world.add_robot(str(file))
    return view.of_simulation(stiction.simulate(world, duration=1e-4, dt=1e-4))


def agrees(file, roundness):
    """That each shape lies where MuJoCo has it, in its colour; of round shapes to `roundness` of their size."""
    run = run_at_its_place(file)
    shapes = [shape for shape in visuals_of(file, run) if isinstance(shape, VisualShape)]
    bounds, colors, paints = drawn_by_mujoco(file)
    assert len(shapes) == len(bounds) > 0
    left = list(range(len(bounds)))  # MuJoCo lists a body's geoms before those of its children
    for shape in shapes:
        got = corners(shape, run.body_poses[0, shape.body])
        color = np.array([*shape.color, 255 * shape.opacity])
        off = [np.abs(got - bounds[k]).max() + 1e-3 * np.abs(color - 255 * colors[k]).max() for k in left]
        k = left.pop(int(np.argmin(off)))
        tolerance = 1e-5 + roundness * np.ptp(bounds[k], axis=0).max()
        np.testing.assert_allclose(got, bounds[k], atol=tolerance, err_msg=shape.name)
        np.testing.assert_allclose(color, 255 * colors[k], atol=0.6, err_msg=shape.name)
        assert (paints[k] is None) or shape.surface is not None, shape.name
        if paints[k] is not None:
            assert np.quantile(differs_from(paints[k], shape.surface), 0.95) < 0.03, shape.name  # but for edges
    return shapes


def test_shapes_stand_where_mujoco_draws_them(tmp_path):
    shapes = agrees(lamp(tmp_path), roundness=0.02)
    assert len(shapes) == 19
    (shade,) = (
        shape for shape in shapes if shape.surface is not None and shape.kind == "mesh" and len(shape.faces) == 12
    )
    assert shade.surface.visual.material.baseColorTexture.size == (256, 128)
    np.testing.assert_allclose(shade.surface.vertices, shade.vertices)


@pytest.mark.parametrize("name", ["ant", "half_cheetah", "humanoid", "pusher", "reacher", "walker2d", "swimmer"])
def test_models_of_gymnasium_stand_where_mujoco_draws_them(name):
    gymnasium = pytest.importorskip("gymnasium", reason="needs the models of gymnasium")
    agrees(pathlib.Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml", roundness=0.02)


def test_tendons_are_those_that_mujoco_draws(tmp_path):
    from stiction.stage import rotate

    mujoco = pytest.importorskip("mujoco", reason="needs mujoco as the reference")
    file = lamp(tmp_path)
    run = run_at_its_place(file)
    ours = []
    for tendon in (visual for visual in visuals_of(file, run) if isinstance(visual, VisualTendon)):
        poses = run.body_poses[0][tendon.bodies]
        ends = [pose[:3] + rotate(pose[3:], point) for pose, point in zip(poses, tendon.points, strict=True)]
        ours += [
            [*np.array(pair).mean(axis=0), np.linalg.norm(pair[1] - pair[0]), *tendon.color]
            for pair in itertools.pairwise(ends)
        ]
    model = mujoco.MjModel.from_xml_path(str(file))
    data, scene = mujoco.MjData(model), mujoco.MjvScene(model, maxgeom=500)
    mujoco.mj_forward(model, data)
    shown = mujoco.mjtCatBit.mjCAT_ALL.value
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, mujoco.MjvCamera(), shown, scene)
    drawn = [geom for geom in scene.geoms[: scene.ngeom] if geom.objtype == mujoco.mjtObj.mjOBJ_TENDON]
    theirs = [[*geom.pos, 2.0 * geom.size[2], *np.round(255 * geom.rgba[:3])] for geom in drawn]
    assert len(ours) == 4
    np.testing.assert_allclose(sorted(ours), sorted(theirs), atol=1e-3)


def test_what_lets_light_through_does_so_again_and_what_is_fixed_is_not_dragged(tmp_path):
    import json

    file = lamp(tmp_path)
    run = view.run_of(file, duration=0.01)
    content = page.content_of([run], ["lamp"], visuals_of(file, run))
    (drawn,) = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["runs"]
    assert len(drawn["visual"]) == 19
    assert list(drawn["opacities"].values()) == [0.4]
    table = next(node for node in drawn["collision"] if "table" in node)
    assert table not in drawn["movable"]
    assert len(drawn["movable"]) == 8 + len([n for n in drawn["collision"] if n != table])


def test_a_missing_mesh_is_named(tmp_path):
    file = lamp(tmp_path)
    run = view.run_of(file, duration=0.01)
    (tmp_path / "parts" / "shade.obj").unlink()
    with pytest.raises(stiction.FileError, match=r"shade\.obj"):
        visuals_of(file, run)
