"""Pictures that an MJCF puts on its geoms: builtin ones and files, flat ("2d") or of the six faces of a cube.

A cube's faces are +x, -x, +y, -y, +z, -z; a point of a geom takes its colour from where the ray from the geom's middle
through it meets the cube, as OpenGL's cube maps have it. Points are in units of the geom's half sizes, but for textures
that are `texuniform`.
"""

from __future__ import annotations

import itertools
import pathlib
import typing

import numpy as np
import trimesh

from .visuals import TEXTURE_PIXELS, numbers, small

if typing.TYPE_CHECKING:
    import xml.etree.ElementTree as ElementTree

# A cube's faces in their order: the attributes that name their files, the letters of a gridlayout.
FACES, LETTERS = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"), "RLUDFB"
# Of each face: the axes along its columns and rows, with their signs.
SIDES = (
    ((2, -1), (1, -1)),
    ((2, 1), (1, -1)),
    ((0, 1), (2, 1)),
    ((0, 1), (2, -1)),
    ((0, 1), (1, -1)),
    ((0, -1), (1, -1)),
)
STRIPS = 10  # that a geom is cut into along z
RGB = {"rgb1": (0.8, 0.8, 0.8), "rgb2": (0.5, 0.5, 0.5), "markrgb": (0.0, 0.0, 0.0)}  # of one that says nothing


def picture_of(texture: ElementTree.Element, resource: typing.Callable[[str], pathlib.Path]) -> np.ndarray:
    """Pixels (height, width, 3) of a 2d texture, (6, n, n, 3) of a cube's faces, from 0 to 1.

    resource: the path of a file that the texture names; raises FileError.
    """
    colors = {key: numbers(texture.get(key), fallback) for key, fallback in RGB.items()}
    is_cube = texture.get("type", "cube") != "2d"
    if texture.get("file"):
        pixels = _read(texture, resource(texture.get("file")))
        return _faces_of_grid(texture, pixels, colors["rgb1"]) if is_cube else pixels
    if any(texture.get(key) for key in FACES):
        return _faces_of_files(texture, resource, colors["rgb1"])
    height, width = (int(texture.get(key, 1)) for key in ("height", "width"))
    out = _builtin(texture.get("builtin", "none"), (width, width) if is_cube else (height, width), is_cube, colors)
    _mark(out, texture, colors["markrgb"])
    return out


def _read(texture: ElementTree.Element, path: pathlib.Path) -> np.ndarray:
    from PIL import Image

    pixels = np.asarray(Image.open(path).convert("RGB"), float) / 255.0
    flips = [axis for axis, key in ((0, "vflip"), (1, "hflip")) if texture.get(key) == "true"]
    return np.flip(pixels, flips)


def _faces_of_grid(texture: ElementTree.Element, pixels: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Of one square for all faces, or of a grid whose letters say which square is which."""
    rows, columns = numbers(texture.get("gridsize"), (1, 1)).astype(int)
    n = pixels.shape[1] // columns
    if rows * columns == 1:
        return np.stack([pixels[:n, :n]] * 6)
    out = np.broadcast_to(missing, (6, n, n, 3)).copy()
    for square, letter in enumerate(texture.get("gridlayout", "")[: rows * columns]):
        if letter in LETTERS:
            row, column = n * (square // columns), n * (square % columns)
            out[LETTERS.index(letter)] = pixels[row : row + n, column : column + n]
    return out


def _faces_of_files(texture: ElementTree.Element, resource: typing.Callable, missing: np.ndarray) -> np.ndarray:
    found = {k: _read(texture, resource(texture.get(key))) for k, key in enumerate(FACES) if texture.get(key)}
    n = len(next(iter(found.values())))
    return np.stack([found.get(k, np.broadcast_to(missing, (n, n, 3))) for k in range(6)])


def _builtin(kind: str, size: tuple[int, int], is_cube: bool, colors: dict[str, np.ndarray]) -> np.ndarray:
    one, two = colors["rgb1"], colors["rgb2"]
    if kind == "flat":
        out = np.broadcast_to(one, (6, *size, 3) if is_cube else (*size, 3)).copy()
        if is_cube:
            out[3] = two  # what is below
        return out
    if kind == "checker":
        upper, left = (np.arange(n) < n // 2 for n in size)
        is_one = (upper[:, None] == left)[..., None]
        face = np.where(is_one, one, two)
        return np.stack([face] * 4 + [np.where(is_one, two, one)] * 2) if is_cube else face
    if kind == "gradient":
        y, x = np.meshgrid(
            *(np.linspace(*ends, n) for ends, n in zip(((1, -1), (-1, 1)), size, strict=True)), indexing="ij"
        )
        if not is_cube:
            return _between(two, one, 2.0 * np.hypot(x, y) - 1.0)
        side = _between(one, two, np.arcsin(y / np.sqrt(1.0 + x**2 + y**2)) / (np.pi / 2.0))
        up = 1.0 - np.arccos(1.0 / np.sqrt(1.0 + x**2 + y**2)) / (np.pi / 2.0)
        return np.stack([side, side, _between(one, two, up), _between(one, two, -up), side, side])
    return np.ones((6, *size, 3) if is_cube else (*size, 3))


def _between(one: np.ndarray, two: np.ndarray, at: np.ndarray) -> np.ndarray:
    """From the colour two where at is -1 to one where it is 1, by a sigmoid."""
    share = np.clip(0.5 * (1.0 + np.sqrt(2.0) * at / np.sqrt(1.0 + at**2)), 0.0, 1.0)[..., None]
    return share * one + (1.0 - share) * two


def _mark(pixels: np.ndarray, texture: ElementTree.Element, color: np.ndarray) -> None:
    """Edge and cross as MuJoCo has them; of random dots the share, for their places are drawn anew every time."""
    mark, (height, width) = texture.get("mark", "none"), pixels.shape[-3:-1]
    rows, columns = {"edge": ([0, -1], [0, -1]), "cross": ([height // 2], [width // 2])}.get(mark, ([], []))
    pixels[..., rows, :, :] = color
    pixels[..., :, columns, :] = color
    if mark == "random":
        dots = np.random.default_rng(0).random(pixels.shape[:-1]) < float(texture.get("random", 0.01))
        pixels[dots] = color


def units_of(kind: str, half: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Corners of triangles (m, 3, 3) in units of a geom's half sizes (3,); a capsule's caps in those of a sphere."""
    out = triangles / half
    if kind == "capsule":
        end = np.sign(triangles[..., 2].mean(axis=1)) * half[2]
        is_cap = np.abs(triangles[..., 2].mean(axis=1)) > half[2]
        out[is_cap, :, 2] = (triangles[..., 2] - end[:, None])[is_cap] / half[0]
    return out


def painted(
    mesh: trimesh.Trimesh, units: np.ndarray, flat: bool, picture: np.ndarray, repeat: np.ndarray, rgba: np.ndarray
) -> trimesh.Trimesh:
    """The mesh with a picture on it. units: (m, 3, 3), the corners of its triangles in the units of the geom.

    flat: its triangles are, and not parts of something round. repeat: of a 2d texture, times along x and y.
    """
    normals = np.repeat(mesh.face_normals[:, None], 3, axis=1) if flat else mesh.vertex_normals[mesh.faces]
    corners = np.concatenate([mesh.triangles, normals, units], axis=2)
    if picture.ndim == 3:
        x, y = corners[..., 6], corners[..., 7]
        uv = np.stack([0.5 * repeat[0] * x - 0.5, 1.5 + 0.5 * repeat[1] * y], axis=2)
        image, limit = picture, TEXTURE_PIXELS
    else:
        reach = np.abs(units[..., 2]).max()
        for z in np.linspace(-reach, reach, STRIPS + 1)[1:-1]:  # along a cylinder a picture of a cube is not linear
            corners = _cut(corners, corners[..., 8] - z)
        for one, other in itertools.combinations(range(3), 2):  # no triangle on two faces
            for sign in (1.0, -1.0):
                corners = _cut(corners, corners[..., 6 + one] + sign * corners[..., 6 + other])
        uv, image, limit = _on_cube(corners[..., 6:], picture), np.concatenate(picture), 3 * TEXTURE_PIXELS
    points = corners.reshape(-1, 9)
    return trimesh.Trimesh(
        points[:, :3],
        np.arange(len(points)).reshape(-1, 3),
        vertex_normals=points[:, 3:6] / np.linalg.norm(points[:, 3:6], axis=1, keepdims=True),
        visual=visual_of(uv.reshape(-1, 2), image, rgba, limit),
        process=False,
    )


def visual_of(
    uv: np.ndarray, pixels: np.ndarray, rgba: np.ndarray, limit: int = TEXTURE_PIXELS
) -> trimesh.visual.TextureVisuals:
    """Pixels (height, width, 3), times a colour, at places (n, 2) of vertices. limit: of the longer side."""
    from PIL import Image

    pixels = np.round(255.0 * np.clip(pixels * rgba[:3], 0.0, 1.0)).astype(np.uint8)  # a factor of glTF is not in sRGB
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=small(Image.fromarray(pixels), limit),
        baseColorFactor=(1.0, 1.0, 1.0, float(rgba[3])),
        metallicFactor=0.0,
        roughnessFactor=0.9,
    )
    return trimesh.visual.TextureVisuals(uv=uv, material=material)


def _cut(corners: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Triangles (m, 3, k) of corners that are above, on or below a plane, cut along it. height: above it (m, 3)."""
    side = np.where(np.abs(height) < 1e-9, 0, np.sign(height)).astype(int)
    cut = (side.min(axis=1) < 0) & (side.max(axis=1) > 0)
    whole, corners, height, side = corners[~cut], corners[cut], height[cut], side[cut]
    total = side.sum(axis=1, keepdims=True)  # 0 where one corner is on the plane
    alone = np.argmax(side == np.where(total == 0, 1, -total), axis=1)
    order = (alone[:, None] + np.arange(3)) % 3
    corners, height = np.take_along_axis(corners, order[..., None], axis=1), np.take_along_axis(height, order, axis=1)
    a, b, c = np.moveaxis(corners, 1, 0)
    ab, ac = (
        a + (height[:, 0] / (height[:, 0] - height[:, k]))[:, None] * (other - a) for k, other in ((1, b), (2, c))
    )
    parts = np.concatenate([np.stack(part, axis=1) for part in ((a, ab, ac), (ab, b, c), (ab, c, ac))])
    sides = np.diff(parts[..., 6:], axis=1)
    return np.concatenate([whole, parts[np.linalg.norm(np.cross(*np.moveaxis(sides, 1, 0)), axis=1) > 1e-9]])


def _on_cube(units: np.ndarray, picture: np.ndarray) -> np.ndarray:
    """Places (m, 3, 2) in the faces one below the other, of triangles that lie on a face each."""
    middle = units.mean(axis=1)
    axis = np.abs(middle).argmax(axis=1)
    face = 2 * axis + (np.take_along_axis(middle, axis[:, None], axis=1)[:, 0] < 0.0)
    n, out = picture.shape[1], np.empty((*units.shape[:2], 2))
    for k, axes in enumerate(SIDES):
        at = units[face == k]
        place = (sign * at[..., along] / np.abs(at[..., k // 2]) for along, sign in axes)
        u, v = (np.clip(0.5 * (part + 1.0), 0.5 / n, 1.0 - 0.5 / n) for part in place)  # no colour of another face
        out[face == k] = np.stack([u, 1.0 - (k + v) / 6.0], axis=2)
    return out
