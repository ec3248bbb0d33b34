"""Recorded runs: what `stiction simulate --record` writes and `stiction view` shows."""

from __future__ import annotations

import dataclasses
import os

import numpy as np

from ._core import FileError

KINDS = ("sphere", "box", "capsule", "cylinder", "plane", "mesh")


@dataclasses.dataclass(frozen=True)
class RecordedShape:
    """A collision shape, fixed to a body.

    body: index of the body. placement (7,): shape frame in the body's, position and quaternion x y z w.
    size (3,) m: of a sphere its radius, of a box its edge lengths, of a capsule or cylinder (axis z) radius and length
    of the cylindrical part. vertices (n, 3) m and faces (m, 3): of a mesh.
    """

    name: str
    kind: str
    body: int
    placement: np.ndarray
    size: np.ndarray
    vertices: np.ndarray
    faces: np.ndarray


@dataclasses.dataclass(frozen=True)
class Recording:
    """A run of k states, b bodies and c contacts in all, in SI units and world axes.

    time (k,); q (k, nq); v (k, nv); body_names (b,); body_mass (b,), 0 of static bodies;
    body_poses (k, b, 7): position and quaternion x y z w.
    The contacts of state i are those from contact_offsets[i] to contact_offsets[i + 1], of the step that led to it:
    contact_points (c, 3); contact_forces (c, 3), the mean over the step, on the first body of contact_bodies (c, 2);
    contact_gaps (c,), before the step.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    body_names: list[str]
    body_mass: np.ndarray
    body_poses: np.ndarray
    contact_offsets: np.ndarray
    contact_points: np.ndarray
    contact_forces: np.ndarray
    contact_bodies: np.ndarray
    contact_gaps: np.ndarray
    shapes: list[RecordedShape]

    @classmethod
    def load(cls, path: str | os.PathLike) -> Recording:
        """Reads a recording; FileError names the file and the array that is not as it should be."""
        return _Reader(path).recording()

    def contacts(self, state: int) -> slice:
        """The contacts of the step that led to a state."""
        return slice(int(self.contact_offsets[state]), int(self.contact_offsets[state + 1]))


class _Reader:
    def __init__(self, path: str | os.PathLike) -> None:
        self.path = os.fspath(path)
        try:
            with np.load(self.path, allow_pickle=False) as archive:
                self.arrays = {key: archive[key] for key in archive.files}
        except FileNotFoundError:
            raise FileError(f"{self.path}: no such file") from None
        except Exception as error:  # NumPy's and zipfile's readers raise many kinds
            raise FileError(f"{self.path}: not a recording (.npz): {error}") from None

    def fail(self, key: str, reason: str) -> None:
        raise FileError(f"{self.path}: {key}: {reason}")

    def get(self, key: str, *shape: int | None, kind: str = "f") -> np.ndarray:
        """The array of this shape (None: any extent) and kind of number; finite."""
        if key not in self.arrays:
            self.fail(key, "this array is missing")
        array = self.arrays[key]
        if array.dtype.kind != kind:
            self.fail(key, f"expected numbers of kind {kind!r}, got {array.dtype}")
        if array.ndim != len(shape) or any(
            want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
        ):
            wanted = tuple("any" if extent is None else extent for extent in shape)
            self.fail(key, f"expected shape {wanted}, got {array.shape}")
        if kind == "f" and not np.isfinite(array).all():
            self.fail(key, "expected finite numbers")
        return array

    def offsets(self, key: str, count: int, end: int) -> np.ndarray:
        offsets = self.get(key, count + 1, kind="i")
        if offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
            self.fail(key, f"expected ascending numbers from 0 to {end}")
        return offsets

    def indices(self, key: str, *shape: int | None, end: int) -> np.ndarray:
        array = self.get(key, *shape, kind="i")
        if array.size and not (array.min() >= 0 and array.max() < end):
            self.fail(key, f"expected indices in [0, {end})")
        return array

    def recording(self) -> Recording:
        if self.arrays.get("format", np.array("")).tolist() != ["stiction recording"]:
            self.fail("format", "expected 'stiction recording', as stiction simulate --record writes it")
        if self.get("version").item() != 1.0:
            self.fail("version", f"this program reads version 1, the file has {self.arrays['version']}")
        time = self.get("time", None)
        names = self.get("body_names", None, kind="U").tolist()
        states, bodies = len(time), len(names)
        if states == 0:
            self.fail("time", "expected at least one state")
        points = self.get("contact_points", None, 3)
        return Recording(
            time=time,
            q=self.get("q", None, None),
            v=self.get("v", None, None),
            body_names=names,
            body_mass=self.get("body_mass", bodies),
            body_poses=self.get("body_poses", states, bodies, 7),
            contact_offsets=self.offsets("contact_offsets", states, len(points)),
            contact_points=points,
            contact_forces=self.get("contact_forces", len(points), 3),
            contact_bodies=self.indices("contact_bodies", len(points), 2, end=bodies),
            contact_gaps=self.get("contact_gaps", len(points)),
            shapes=self.shapes(bodies),
        )

    def shapes(self, bodies: int) -> list[RecordedShape]:
        names = self.get("shape_names", None, kind="U").tolist()
        count = len(names)
        kinds = self.get("shape_kinds", count, kind="U").tolist()
        body = self.indices("shape_bodies", count, end=bodies)
        placements, sizes = self.get("shape_placements", count, 7), self.get("shape_sizes", count, 3)
        vertices, faces = self.get("mesh_vertices", None, 3), self.get("mesh_faces", None, 3, kind="i")
        vertex, face = (
            self.offsets("mesh_vertex_offsets", count, len(vertices)),
            self.offsets("mesh_face_offsets", count, len(faces)),
        )
        out = []
        for i, kind in enumerate(kinds):
            if kind not in KINDS:
                self.fail("shape_kinds", f"expected some of {', '.join(KINDS)}, got {kind!r}")
            points, triangles = vertices[vertex[i] : vertex[i + 1]], faces[face[i] : face[i + 1]]
            if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(points)):
                self.fail("mesh_faces", f"expected indices of the {len(points)} vertices of shape {i}")
            out.append(RecordedShape(names[i], kind, int(body[i]), placements[i], sizes[i], points, triangles))
        return out
