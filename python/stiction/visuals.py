"""What the links of a URDF look like, which the engine itself has no use for: its <visual> elements."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import xml.etree.ElementTree as ElementTree

import numpy as np
import trimesh

from ._core import FileError
from .trajectory import RecordedShape, Trajectory

PLAIN = (150, 158, 170)  # of what has no colour
TEXTURE_PIXELS = 256  # a side at most: some robots have 40 pictures of 2048, and a page is to be sent to somebody


@dataclasses.dataclass(frozen=True)
class VisualShape(RecordedShape):
    """A shape that is seen and does not collide. color: red, green, blue up to 255.

    surface: a mesh whose file has colours or a picture of its own, in the shape's frame; they take the place of color.
    """

    color: tuple[int, int, int] = PLAIN
    surface: trimesh.Trimesh | None = None


def visuals_of(file: str | os.PathLike, trajectory: Trajectory) -> list[VisualShape]:
    """The visual shapes of a URDF's links, on the bodies of a run with that robot; FileError where a mesh is missing.

    Links joined by fixed joints are one body, which has the name of the one nearest the root.
    """
    file = pathlib.Path(file)
    try:
        robot = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise FileError(f"{file}: {error}") from None
    materials = {m.get("name"): m for m in robot.findall("material") if m.find("color") is not None}
    parents = {joint.find("child").get("link"): joint for joint in robot.findall("joint")}
    out = []
    for link in robot.findall("link"):
        body, place = _body_of(link.get("name"), parents, trajectory)
        if body is None:
            continue
        for k, visual in enumerate(link.findall("visual")):
            shape = _shape_of(visual.find("geometry")[0], file)
            shape["placement"] = _placement(place @ _origin(visual))
            name = f"{link.get('name')}_visual_{k}"
            out.append(VisualShape(name=name, body=body, color=_color(visual, materials), **shape))
    return out


def _body_of(link, parents, trajectory):
    """Index of the body that a link belongs to and the link's frame in it (4, 4); None of a static one."""
    place = np.eye(4)
    while link in parents and parents[link].get("type") == "fixed":
        place = _origin(parents[link]) @ place
        link = parents[link].find("parent").get("link")
    names = [name.rsplit("/", 1)[-1] for name in trajectory.body_names]
    return (names.index(link) if link in names else None), place


def _numbers(text, fallback):
    return np.array([float(word) for word in text.split()]) if text else np.array(fallback, float)


def _origin(element):
    origin = element.find("origin")
    roll_pitch_yaw, position = (
        _numbers(None if origin is None else origin.get(key), (0, 0, 0)) for key in ("rpy", "xyz")
    )
    out = trimesh.transformations.euler_matrix(*roll_pitch_yaw, axes="sxyz")
    out[:3, 3] = position
    return out


def _placement(pose):
    w, x, y, z = trimesh.transformations.quaternion_from_matrix(pose)
    return np.array([*pose[:3, 3], x, y, z, w])


def _shape_of(geometry, file):
    shape = {"kind": geometry.tag, "size": np.zeros(3), "vertices": np.empty((0, 3)), "faces": np.empty((0, 3), int)}
    if geometry.tag == "box":
        return shape | {"size": _numbers(geometry.get("size"), ())}
    if geometry.tag in ("sphere", "cylinder", "capsule"):
        return shape | {"size": np.array([float(geometry.get("radius")), float(geometry.get("length", 0)), 0.0])}
    path = _resource(geometry.get("filename"), file)
    try:
        mesh = trimesh.load(path, force="mesh")
    except Exception as error:  # a reader per format, each with errors of its own
        raise FileError(f"{path}: {error}") from None
    vertices = mesh.vertices * _numbers(geometry.get("scale"), (1, 1, 1))
    return shape | {
        "kind": "mesh",
        "vertices": vertices,
        "faces": np.asarray(mesh.faces),
        "surface": _colored(mesh, vertices),
    }


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
        if (picture := material.baseColorTexture) is not None:
            picture = picture.convert("RGB")
            picture.thumbnail((TEXTURE_PIXELS, TEXTURE_PIXELS))
            material.baseColorTexture = picture
        elif material.baseColorFactor is None:
            return None
    return out


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
    red, green, blue, *_ = _numbers(material.find("color").get("rgba"), ())
    return tuple(round(255 * part) for part in (red, green, blue))
