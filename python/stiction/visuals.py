"""What the links of a robot look like, which the engine itself has no use for: of a URDF its <visual> elements, of an
MJCF its geoms (mjcf_visuals.py)."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import typing
import xml.etree.ElementTree as ElementTree

import numpy as np
import trimesh

from ._core import FileError
from .trajectory import RecordedShape, Trajectory

if typing.TYPE_CHECKING:
    import PIL.Image

PLAIN = (150, 158, 170)  # of what has no colour
TEXTURE_PIXELS = 256  # a side at most: some robots have 40 pictures of 2048, and a page is to be sent to somebody


@dataclasses.dataclass(frozen=True)
class VisualShape(RecordedShape):
    """A shape that is seen and does not collide. color: red, green, blue up to 255. opacity: 1 hides what is behind.

    surface: a mesh whose file has colours or a picture of its own, in the shape's frame; they take the place of color.
    """

    color: tuple[int, int, int] = PLAIN
    opacity: float = 1.0
    surface: trimesh.Trimesh | None = None


@dataclasses.dataclass(frozen=True)
class VisualTendon:
    """A line that is straight between points of bodies. bodies: indices (n,); points: in their frames (n, 3) m."""

    bodies: list[int]
    points: np.ndarray
    color: tuple[int, int, int] = PLAIN


def visuals_of(file: str | os.PathLike, trajectory: Trajectory) -> list[VisualShape | VisualTendon]:
    """What a URDF or an MJCF shows, on the bodies of every such robot in a run; FileError where a mesh is missing."""
    file = pathlib.Path(file)
    root = parsed(file)
    if root.tag != "mujoco":
        robots = robots_in(trajectory, _urdf_bodies(root))
        return repeated(_of_urdf(file, root, robots[0]), robots)
    from . import mjcf_visuals

    return mjcf_visuals.shapes_of(file, root, trajectory)


def robots_in(trajectory: Trajectory, names: typing.Collection[str]) -> list[dict[str, int]]:
    """Indices of the bodies of a run that a robot's file calls by these names, of every such robot; {} where there is
    none. The run puts a robot's name and / before those that others have too. A robot has each name once and its bodies
    one after the other; one with fewer of the names than another is of another file.
    """
    known = []  # index, the file's name, what the run puts before it
    for index, own in enumerate(trajectory.body_names):
        name = max((name for name in names if own == name or own.endswith(f"/{name}")), key=len, default=None)
        if name is not None:
            known.append((index, name, own.removesuffix(name)))
    qualified = {name for _, name, prefix in known if prefix}  # whose plain name is a free or static body's
    known = [body for body in known if body[2] or body[1] not in qualified]

    def robot_from(start: int) -> dict[str, int]:
        out, prefixes = {}, {""}
        for index, name, prefix in known[start:]:
            prefixes.add(prefix)
            if name in out or len(prefixes) > 2:
                break
            out[name] = index
        return out

    found = [robot_from(start) for start in range(len(known))]
    most, robots, start = max(map(len, found), default=0), [], 0
    while start < len(found):
        whole = len(found[start]) == most
        if whole:
            robots.append(found[start])
        start += most if whole else 1
    return robots or [{}]


def repeated(shown: list[VisualShape | VisualTendon], robots: list[dict[str, int]]) -> list[VisualShape | VisualTendon]:
    """What is shown on the first robot, on every one; what belongs to none once."""
    out = list(shown)
    for robot in robots[1:]:
        to = {body: robot[name] for name, body in robots[0].items()}
        for visual in shown:
            if isinstance(visual, VisualShape):
                if visual.body in to:
                    out.append(dataclasses.replace(visual, body=to[visual.body]))
            elif all(body in to for body in visual.bodies):
                out.append(dataclasses.replace(visual, bodies=[to[body] for body in visual.bodies]))
    return out


def _urdf_bodies(robot):
    """The names of the links that are nearest the root of those that fixed joints join."""
    fixed = {joint.find("child").get("link") for joint in robot.findall("joint") if joint.get("type") == "fixed"}
    return {link.get("name") for link in robot.findall("link")} - fixed


def _of_urdf(file, robot, bodies):
    """Links joined by fixed joints are one body, which has the name of the one nearest the root."""
    materials = {m.get("name"): m for m in robot.findall("material") if m.find("color") is not None}
    parents = {joint.find("child").get("link"): joint for joint in robot.findall("joint")}
    out = []
    for link in robot.findall("link"):
        body, place = _body_of_link(link.get("name"), parents, bodies)
        if body is None:
            continue
        for k, visual in enumerate(link.findall("visual")):
            shape = _shape_of(visual.find("geometry")[0], file)
            shape["placement"] = placement_of(place @ _origin(visual))
            name = f"{link.get('name')}_visual_{k}"
            out.append(VisualShape(name=name, body=body, color=_color(visual, materials), **shape))
    return out


def _body_of_link(link, parents, bodies):
    """Index of the body that a link belongs to, None where the run has none, and the link's frame in it (4, 4)."""
    place = np.eye(4)
    while link in parents and parents[link].get("type") == "fixed":
        place = _origin(parents[link]) @ place
        link = parents[link].find("parent").get("link")
    return bodies.get(link), place


def numbers(text: str | None, fallback: typing.Sequence[float] = ()) -> np.ndarray:
    return np.array([float(word) for word in text.split()]) if text else np.array(fallback, float)


def _origin(element):
    origin = element.find("origin")
    roll_pitch_yaw, position = (
        numbers(None if origin is None else origin.get(key), (0, 0, 0)) for key in ("rpy", "xyz")
    )
    out = trimesh.transformations.euler_matrix(*roll_pitch_yaw, axes="sxyz")
    out[:3, 3] = position
    return out


def placement_of(pose: np.ndarray) -> np.ndarray:
    """Position and quaternion x y z w of a pose (4, 4)."""
    w, x, y, z = trimesh.transformations.quaternion_from_matrix(pose)
    return np.array([*pose[:3, 3], x, y, z, w])


def _shape_of(geometry, file):
    shape = {"kind": geometry.tag, "size": np.zeros(3), "vertices": np.empty((0, 3)), "faces": np.empty((0, 3), int)}
    if geometry.tag == "box":
        return shape | {"size": numbers(geometry.get("size"), ())}
    if geometry.tag in ("sphere", "cylinder", "capsule"):
        return shape | {"size": np.array([float(geometry.get("radius")), float(geometry.get("length", 0)), 0.0])}
    mesh = loaded(_resource(geometry.get("filename"), file))
    vertices = mesh.vertices * numbers(geometry.get("scale"), (1, 1, 1))
    return shape | {
        "kind": "mesh",
        "vertices": vertices,
        "faces": np.asarray(mesh.faces),
        "surface": _colored(mesh, vertices),
    }


def parsed(path: pathlib.Path) -> ElementTree.Element:
    """The root of an XML file."""
    try:
        return ElementTree.parse(path).getroot()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except ElementTree.ParseError as error:
        raise FileError(f"{path}: {error}") from None


def loaded(path: pathlib.Path) -> trimesh.Trimesh:
    """The mesh of a file."""
    try:
        return trimesh.load(path, force="mesh")
    except Exception as error:  # a reader per format, each with errors of its own
        raise FileError(f"{path}: {error}") from None


def _colored(mesh, vertices):
    """The mesh with the colours or the texture of its file, at these vertices; None where it has neither."""
    if mesh.visual.kind is None:
        return None
    out = mesh.copy()
    out.vertices = vertices
    if mesh.visual.kind == "texture":
        material = out.visual.material
        if hasattr(material, "to_pbr"):
            material = out.visual.material = material.to_pbr()
        if material.metallicFactor is None:  # of glTF's own default, 1, nothing but reflections would be seen
            material.metallicFactor = 0.0
        if (picture := material.baseColorTexture) is not None:
            material.baseColorTexture = small(picture)
        elif material.baseColorFactor is None:
            return None
    return out


def small(picture: PIL.Image.Image, pixels: int = TEXTURE_PIXELS) -> PIL.Image.Image:
    """The picture with its longer side cut to `pixels`."""
    picture = picture.convert("RGB")
    picture.thumbnail((pixels, pixels))
    return picture


def _resource(name, file):
    """package://NAME/PATH lies below a folder NAME, or below the same path of some folder above the URDF."""
    if not name.startswith("package://"):
        return file.parent / name.removeprefix("file://")
    inside = name.removeprefix("package://")
    for folder in file.resolve().parents:
        for path in (folder / inside, folder / inside.split("/", 1)[-1]):
            if path.is_file():
                return path
    raise FileError(f"{file}: {name}: no such file")


def _color(visual, materials):
    material = visual.find("material")
    if material is not None and material.find("color") is None:
        material = materials.get(material.get("name"))
    if material is None:
        return PLAIN
    red, green, blue, *_ = numbers(material.find("color").get("rgba"), ())
    return tuple(round(255 * part) for part in (red, green, blue))
