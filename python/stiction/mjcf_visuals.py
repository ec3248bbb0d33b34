"""What the bodies of an MJCF look like: its geoms and sites in groups 0 to 2, which MuJoCo's own viewer shows.

Textures are drawn on meshes that have coordinates for them and on all but meshes; on the other meshes in their mean
colour. Tendons are straight from site to site, and do not wrap around geoms. Left out: skins, and the planes that
collide, which are drawn as ground.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import typing
import xml.etree.ElementTree as ElementTree

import numpy as np
import trimesh

from . import mjcf_textures
from ._core import FileError
from .stage import mesh_of
from .trajectory import Trajectory
from .visuals import VisualShape, VisualTendon, loaded, numbers, parsed, placement_of, repeated, robots_in

HIDDEN_GROUP = 3  # this group of geoms and those above it are not shown
GREY = (0.5, 0.5, 0.5, 1.0)  # rgba of a geom that says nothing; one that has it takes its material's
SITE_SIZE = (0.005, 0.005, 0.005)  # m, of a site that says nothing
JOINTS = ("joint", "freejoint")
transformations = trimesh.transformations


def shapes_of(
    file: pathlib.Path, root: ElementTree.Element, trajectory: Trajectory
) -> list[VisualShape | VisualTendon]:
    """The shapes and tendons that the file shows, on the bodies of every such robot in a run; FileError where a mesh
    is missing.
    """
    _include(file, root)
    robots = robots_in(trajectory, [name for name, _ in _named_bodies(root)])
    reader = _Reader(file, root, trajectory, robots[0])
    return repeated(reader.shapes + reader.tendons(root), robots)


def _include(file: pathlib.Path, element: ElementTree.Element) -> None:
    for k in reversed(range(len(element))):
        if element[k].tag == "include":
            path = file.parent / element[k].get("file")
            element[k : k + 1] = list(parsed(path))
            _include(file, element)
            return
    for child in element:
        _include(file, child)


def _named_bodies(root: ElementTree.Element) -> list[tuple[str, ElementTree.Element]]:
    """Bodies in the file's order; one without a name is called by its number, that of its first joint's link."""
    out, links = [], 1  # the world
    for element in root.iterfind("worldbody//body"):
        out.append((element.get("name") or f"body{links}", element))
        links += max(sum(child.tag in JOINTS for child in element), 1)
    return out


class _Reader:
    def __init__(
        self, file: pathlib.Path, root: ElementTree.Element, trajectory: Trajectory, bodies: dict[str, int]
    ) -> None:
        self.file, self.trajectory, self.bodies, self.shapes = file, trajectory, bodies, []
        self.names = {element: name for name, element in _named_bodies(root)}
        self.sites: dict[str, tuple[int, np.ndarray]] = {}  # bodies and places on them
        self.compiler = {key: text for element in root.findall("compiler") for key, text in element.items()}
        self.classes: dict[str, tuple[str | None, dict]] = {}
        self.main = "main"
        for element in root.findall("default"):
            self._read_defaults(element, None)
        self.assets = {
            (e.tag, e.get("name") or pathlib.Path(e.get("file", "")).stem): e for e in root.iterfind("asset/*")
        }
        self.paired = {pair.get(end) for pair in root.iterfind("contact/pair") for end in ("geom1", "geom2")}
        self.picture = functools.cache(self._picture)  # which reads files
        (worlds,) = robots_in(trajectory, ["world"])[:1]
        for world in root.findall("worldbody"):
            self._read_content(world, "world", worlds.get("world"), np.eye(4), "")

    def _read_defaults(self, element: ElementTree.Element, parent: str | None) -> None:
        name = element.get("class", "main")
        if parent is None:
            self.main = name
        self.classes[name] = parent, {child.tag: child for child in element if child.tag != "default"}
        for child in element.findall("default"):
            self._read_defaults(child, name)

    def _find(self, element: ElementTree.Element, key: str, childclass: str = "") -> str | None:
        """An element's own attribute, else what its default class says."""
        name = element.get("class") or childclass or self.main
        tag = "tendon" if element.tag == "spatial" else element.tag
        value = element.get(key)
        while value is None and name in self.classes:
            name, elements = self.classes[name]
            value = elements[tag].get(key) if tag in elements else None
        return value

    def _pose(self, element: ElementTree.Element, childclass: str) -> np.ndarray:
        find = functools.partial(self._find, element, childclass=childclass)
        turn = np.pi / 180.0 if self.compiler.get("angle", "degree") == "degree" else 1.0
        out = np.eye(4)
        if text := find("quat"):
            out = transformations.quaternion_matrix(numbers(text))
        elif text := find("axisangle"):
            *axis, angle = numbers(text)
            out = transformations.rotation_matrix(turn * angle, axis)
        elif text := find("euler"):
            for letter, angle in zip(self.compiler.get("eulerseq", "xyz"), numbers(text), strict=True):
                step = transformations.rotation_matrix(turn * angle, np.eye(3)["xyz".index(letter.lower())])
                out = out @ step if letter.islower() else step @ out  # lower case: about the axes of the turned frame
        elif text := find("xyaxes"):
            x, y = numbers(text).reshape(2, 3)
            x = x / np.linalg.norm(x)
            y = y - x * (x @ y)
            out[:3, :3] = np.column_stack([x, y / np.linalg.norm(y), np.cross(x, y) / np.linalg.norm(y)])
        elif text := find("zaxis"):
            out = _turn_of_z(numbers(text))
        out[:3, 3] = numbers(find("pos"), (0, 0, 0))
        return out

    def _placed(self, geom: ElementTree.Element, childclass: str) -> np.ndarray:
        """Where a geom or a site is, which may say so by its two ends."""
        if not (text := self._find(geom, "fromto", childclass)):
            return self._pose(geom, childclass)
        ends = numbers(text).reshape(2, 3)
        out = _turn_of_z(ends[1] - ends[0])
        out[:3, 3] = ends.mean(axis=0)
        return out

    def tendons(self, root: ElementTree.Element) -> list[VisualTendon]:
        """The spatial tendons, straight from site to site, a tendon for each side of a pulley."""
        out = []
        for tendon in root.iterfind("tendon/spatial"):
            color = self._rgba(tendon, "")
            if int(self._find(tendon, "group") or 0) >= HIDDEN_GROUP or color[3] == 0.0:
                continue
            branches: list[list] = [[]]
            for part in tendon:
                if part.tag == "pulley":
                    branches.append([])
                elif part.tag == "site" and part.get("site") in self.sites:
                    branches[-1].append(self.sites[part.get("site")])
            rgb = tuple(round(255 * min(part, 1.0)) for part in color[:3])
            for branch in (branch for branch in branches if len(branch) > 1):
                bodies, points = zip(*branch, strict=True)
                out.append(VisualTendon(list(bodies), np.array(points), rgb))
        return out

    def _read_content(
        self, parent: ElementTree.Element, name: str, body: int | None, place: np.ndarray, childclass: str
    ) -> None:
        """Geoms, sites and bodies in an element. body: the run's, of that name in the file; place: of the element in
        it."""
        colliding = sites = 0
        for element in parent:
            inner = element.get("childclass", childclass)
            if element.tag == "geom":
                collides = self._collides(element, childclass)
                own = element.get("name") or f"{name}_{colliding}"
                colliding += collides
                if body is not None:
                    self._read_geom(element, own, collides, body, place, childclass)
            elif element.tag == "site":
                own = element.get("name") or f"{name}_site_{sites}"
                sites += 1
                if body is not None:
                    self.sites[own] = body, (place @ self._placed(element, childclass))[:3, 3]
                    self._read_geom(element, own, False, body, place, childclass)
            elif element.tag == "frame":
                self._read_content(element, name, body, place @ self._pose(element, childclass), inner)
            elif element.tag == "body":
                self._read_body(element, body, place @ self._pose(element, inner), inner)

    def _read_body(self, element: ElementTree.Element, parent: int | None, place: np.ndarray, childclass: str) -> None:
        """A body that the run does not name is fixed to its parent; the others' origins are at their last joint."""
        name = self.names[element]
        joints = [child for child in element if child.tag in JOINTS]
        body = self.bodies.get(name)
        if body is None:
            body = parent
        else:
            at = numbers(self._find(joints[-1], "pos", childclass), (0, 0, 0)) if joints else np.zeros(3)
            is_free = bool(joints) and (joints[-1].tag == "freejoint" or self._is_free(joints[-1], childclass))
            place = transformations.translation_matrix(np.zeros(3) if is_free else -at)
        self._read_content(element, name, body, place, childclass)

    def _is_free(self, joint: ElementTree.Element, childclass: str) -> bool:
        return self._find(joint, "type", childclass) == "free"

    def _collides(self, geom: ElementTree.Element, childclass: str) -> bool:
        flags = (int(self._find(geom, key, childclass) or 1) for key in ("contype", "conaffinity"))
        return any(flags) or geom.get("name") in self.paired

    def _read_geom(
        self, geom: ElementTree.Element, name: str, collides: bool, body: int, place: np.ndarray, childclass: str
    ) -> None:
        """geom: or a site."""
        find = functools.partial(self._find, geom, childclass=childclass)
        *color, opacity = self._rgba(geom, childclass)
        kind = find("type") or "sphere"
        if int(find("group") or 0) >= HIDDEN_GROUP or opacity == 0.0 or (kind == "plane" and collides):
            return
        size, pose = numbers(find("size")), self._placed(geom, childclass)
        if geom.tag == "site":
            size = np.concatenate((size, SITE_SIZE[len(size) :]))
        if text := find("fromto"):
            half = np.linalg.norm(np.diff(numbers(text).reshape(2, 3), axis=0)) / 2.0
            size = np.array([size[0], half] if kind in ("capsule", "cylinder") else [size[0], size[0], half])
        shape = {"vertices": np.empty((0, 3)), "faces": np.empty((0, 3), int)}
        if kind == "mesh":
            shape |= self._mesh(find("mesh"), find("material"), (*color, opacity))
        elif kind == "hfield":
            same = next((s for s in self.trajectory.shapes if s.body == body and s.name.endswith(name)), None)
            if same is None:
                return
            shape |= {"kind": "mesh", "size": np.zeros(3), "vertices": same.vertices, "faces": same.faces}
        elif (primitive := _primitive(kind, size)) is not None:
            shape |= primitive
        else:
            return
        shape |= {"placement": placement_of(place @ pose), "opacity": float(opacity)}
        out = VisualShape(name=f"{name}_visual", body=body, **shape)
        if kind not in ("mesh", "hfield"):
            out = self._painted(out, kind, size, find("material"), (*color, opacity))
        picture = self.picture(find("material"))
        if out.surface is None and picture is not None:
            color = color * picture.reshape(-1, 3).mean(axis=0)
        color = tuple(round(255 * min(part, 1.0)) for part in color)
        self.shapes.append(dataclasses.replace(out, color=color))

    def _rgba(self, geom: ElementTree.Element, childclass: str) -> np.ndarray:
        rgba = numbers(self._find(geom, "rgba", childclass), GREY)
        material = self.assets.get(("material", self._find(geom, "material", childclass)))
        if material is None or not np.array_equal(rgba, GREY):
            return rgba
        return numbers(self._find(material, "rgba"), (1, 1, 1, 1))

    def _resource(self, folder: str, name: str) -> pathlib.Path:
        path = self.file.parent / self.compiler.get(folder, self.compiler.get("assetdir", "")) / name
        if not path.is_file():
            raise FileError(f"{self.file}: {path}: no such file")
        return path

    def _mesh(self, name: str | None, material: str | None, rgba: typing.Sequence[float]) -> dict:
        asset = self.assets.get(("mesh", name))
        if asset is None:
            raise FileError(f"{self.file}: unknown mesh {name!r}")
        if text := asset.get("vertex"):
            faces = numbers(asset.get("face")).astype(int).reshape(-1, 3)
            mesh = trimesh.Trimesh(numbers(text).reshape(-1, 3), faces, process=False)
            mesh = mesh if len(faces) else mesh.convex_hull
        else:
            mesh = loaded(self._resource("meshdir", asset.get("file")))
        reference = transformations.quaternion_matrix(numbers(asset.get("refquat"), (1, 0, 0, 0)))[:3, :3]
        scale = numbers(self._find(asset, "scale"), (1, 1, 1))
        vertices = ((mesh.vertices - numbers(asset.get("refpos"), (0, 0, 0))) @ reference) * scale
        faces = np.asarray(mesh.faces)[:, :: -1 if np.prod(scale) < 0 else 1]  # a mirrored one is turned inside out
        surface = self._painted_mesh(mesh, vertices, faces, material, rgba)
        return {"kind": "mesh", "size": np.zeros(3), "vertices": vertices, "faces": faces, "surface": surface}

    def _painted_mesh(
        self, mesh: trimesh.Trimesh, vertices: np.ndarray, faces: np.ndarray, material: str | None, rgba
    ) -> trimesh.Trimesh | None:
        """The mesh with its material's 2d texture, where it has coordinates to put it on."""
        picture, uv = self.picture(material), getattr(mesh.visual, "uv", None)
        if picture is None or picture.ndim != 3 or uv is None:
            return None
        visual = mjcf_textures.visual_of(uv, picture, np.array(rgba))
        return trimesh.Trimesh(vertices, faces, visual=visual, process=False)

    def _painted(self, shape: VisualShape, kind: str, size: np.ndarray, material: str | None, rgba) -> VisualShape:
        """A shape that MuJoCo calls `kind`, of half sizes, with its material's texture unless that is of one colour."""
        picture = self.picture(material)
        if picture is None or (picture == picture.reshape(-1, 3)[0]).all():
            return shape
        asset, mesh = self.assets["material", material], mesh_of(shape)
        half = _half_sizes(kind, size)
        units = mjcf_textures.units_of(kind, half, mesh.triangles)
        if (self._find(asset, "texuniform") or "false") == "true":
            units = units * half
        repeat = numbers(self._find(asset, "texrepeat"), (1, 1))
        flat = kind in ("box", "plane")
        return dataclasses.replace(
            shape, surface=mjcf_textures.painted(mesh, units, flat, picture, repeat, np.array(rgba))
        )

    def _picture(self, material: str | None) -> np.ndarray | None:
        """The pixels of a material's texture (`mjcf_textures.picture_of`); None where it has none."""
        asset = self.assets.get(("material", material))
        if asset is None:
            return None
        layer = next((layer for layer in asset.findall("layer") if layer.get("role") == "rgb"), None)
        name = layer.get("texture") if layer is not None else self._find(asset, "texture")
        texture = self.assets.get(("texture", name))
        if texture is None:
            return None
        return mjcf_textures.picture_of(texture, functools.partial(self._resource, "texturedir"))


def _turn_of_z(direction: np.ndarray) -> np.ndarray:
    """The smallest turn that takes z to a direction (4, 4)."""
    z = direction / np.linalg.norm(direction)
    across = np.cross([0.0, 0.0, 1.0], z)
    sine = np.linalg.norm(across)
    return transformations.rotation_matrix(np.arctan2(sine, z[2]), across if sine > 1e-10 else [1.0, 0.0, 0.0])


def _half_sizes(kind: str, size: np.ndarray) -> np.ndarray:
    """Along x, y and z (3,), of a capsule without its caps."""
    if kind == "sphere":
        return np.full(3, size[0])
    if kind in ("capsule", "cylinder"):
        return np.array([size[0], size[0], size[1]])
    return np.array([*size[:2], 1.0]) if kind == "plane" else size[:3]


def _primitive(kind: str, size: np.ndarray) -> dict | None:
    """Kind, size and mesh of a shape by its half sizes; None of an infinite plane and of kinds not known."""
    if kind == "sphere":
        return {"kind": kind, "size": np.array([size[0], 0.0, 0.0])}
    if kind == "box":
        return {"kind": kind, "size": 2.0 * size[:3]}
    if kind in ("capsule", "cylinder"):
        return {"kind": kind, "size": np.array([size[0], 2.0 * size[1], 0.0])}
    if kind == "ellipsoid":
        ball = trimesh.creation.icosphere(subdivisions=3)
        return {"kind": "mesh", "size": np.zeros(3), "vertices": ball.vertices * size[:3], "faces": ball.faces}
    if kind == "plane" and size[0] > 0.0 and size[1] > 0.0:
        x, y = size[:2]
        corners = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
        return {"kind": "mesh", "size": np.zeros(3), "vertices": corners, "faces": np.array([[0, 1, 2], [0, 2, 3]])}
    return None
