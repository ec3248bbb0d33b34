"""What every engine of this folder has, and what several of them use."""

import importlib.util
import pathlib

import numpy as np

GRAVITY = 9.81


def plane_quaternion(normal):
    """w x y z of the shortest turn from +z to the normal."""
    q = np.array([1.0 + normal[2], -normal[1], normal[0], 0.0])
    return q / np.linalg.norm(q)


def write_obj(shape, file):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in shape.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in shape.faces.tolist()]
    pathlib.Path(file).write_text("\n".join(lines) + "\n")


def face_planes(shape):
    """(m, 4) outward unit normals and offsets of a mesh's triangles."""
    a, b, c = (shape.vertices[shape.faces[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return np.column_stack([normals, np.einsum("fi,fi->f", normals, a)])


class Engine:
    bounces = True  # has a coefficient of restitution

    @classmethod
    def missing(cls):
        return None if importlib.util.find_spec(cls.module) else f"no Python module {cls.module}"

    @classmethod
    def refuses(cls, scene):
        if scene.restitution > 0 and not cls.bounces:
            return "no restitution"
        return None


class DenseEngine(Engine):
    """Engines whose step is cubic in the bodies, and which are handed no meshes here."""

    MOST = 400  # bodies: beyond, a step takes minutes, which no clock between steps ends

    @classmethod
    def refuses(cls, scene):
        if len(scene.bodies) > cls.MOST:
            return f"more than {cls.MOST} bodies"
        meshes = any(body.shape.kind == "mesh" for body in scene.bodies)
        return "convex meshes are not handed to it" if meshes else super().refuses(scene)
