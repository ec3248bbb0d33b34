"""Shapes and rigid bodies of the benchmark scenes, engine by engine the same: sizes, mass, inertia, start."""

import dataclasses
import itertools

import numpy as np


@dataclasses.dataclass
class Shape:
    """kind and size: sphere (radius), box (edge lengths), capsule (radius, length between caps; along z), mesh ()."""

    kind: str
    size: tuple = ()
    vertices: np.ndarray | None = None  # (n, 3) of a convex mesh, from its centre of mass
    faces: np.ndarray | None = None  # (m, 3), outward


@dataclasses.dataclass
class Body:
    shape: Shape
    mass: float  # kg
    position: np.ndarray  # (3,) of the centre of mass (m)
    quaternion: np.ndarray = dataclasses.field(default_factory=lambda: np.array([1.0, 0, 0, 0]))  # w x y z
    velocity: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))  # world (m/s)
    friction: dict | None = None  # of its own, by the engine's rule of pairs: min, max, product, harmonic


@dataclasses.dataclass
class Scene:
    """Bodies above planes (point, unit normal); friction and restitution of every contact.

    plane_friction, and that of bodies: where pairs differ. push: constant force on the first body (3,) (N).
    """

    name: str
    bodies: list
    dt: float
    duration: float
    friction: float
    planes: list = dataclasses.field(default_factory=lambda: [(np.zeros(3), np.array([0.0, 0, 1.0]))])
    restitution: float = 0.0
    plane_friction: dict | None = None
    push: np.ndarray | None = None

    def friction_of(self, own, rule):
        """Of a body's or the planes' `own` that gives pairs their friction under an engine's rule."""
        if own is not None:
            return own[rule]
        return self.friction**0.5 if rule == "product" else self.friction


def rotate(q, v):
    """v (..., 3) turned by the quaternions q (..., 4; w x y z)."""
    t = 2.0 * np.cross(q[..., 1:], v)
    return v + q[..., :1] * t + np.cross(q[..., 1:], t)


def quaternion_of(axis, angle):
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, float)])


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def hull_faces(vertices):
    """Outward triangles of the hull of points in general position: each three that have all others on one side."""
    faces = []
    for a, b, c in itertools.combinations(range(len(vertices)), 3):
        normal = np.cross(vertices[b] - vertices[a], vertices[c] - vertices[a])
        side = (np.delete(vertices, (a, b, c), axis=0) - vertices[a]) @ normal
        if (side < 0).all():
            faces.append((a, b, c))
        elif (side > 0).all():
            faces.append((a, c, b))
    return np.array(faces)


def solid_moments(vertices, faces):
    """Volume, centre, second moments (3, 3) about the origin of what is inside outward triangles."""
    corners = vertices[faces]
    volumes = np.linalg.det(corners) / 6.0
    sums = corners.sum(axis=1)
    centre = (volumes[:, None] * sums).sum(axis=0) / (4.0 * volumes.sum())
    second = np.einsum("f,fi,fj->ij", volumes, sums, sums) + np.einsum("f,fki,fkj->ij", volumes, corners, corners)
    return volumes.sum(), centre, second / 20.0


def mesh(vertices, faces=None):
    """A convex mesh shifted so that its centre of mass is the origin, and where that was."""
    vertices = np.asarray(vertices, float)
    faces = hull_faces(vertices) if faces is None else np.asarray(faces)
    centre = solid_moments(vertices, faces)[1]
    return Shape("mesh", vertices=vertices - centre, faces=faces), centre


def volume(shape):
    if shape.kind == "mesh":
        return solid_moments(shape.vertices, shape.faces)[0]
    if shape.kind == "box":
        return float(np.prod(shape.size))
    radius = shape.size[0]
    ball = 4.0 / 3.0 * np.pi * radius**3
    return ball if shape.kind == "sphere" else ball + np.pi * radius**2 * shape.size[1]


def inertia(shape, mass):
    """(3, 3) about the centre of mass, body axes, of the homogeneous solid (kg m^2)."""
    if shape.kind == "mesh":
        size, _, second = solid_moments(shape.vertices, shape.faces)
        second = second * mass / size
        return np.trace(second) * np.eye(3) - second
    if shape.kind == "box":
        squares = np.square(shape.size)
        return mass / 12.0 * np.diag(squares.sum() - squares)
    radius = shape.size[0]
    if shape.kind == "sphere":
        return 0.4 * mass * radius**2 * np.eye(3)
    length, ball = shape.size[1], 4.0 / 3.0 * np.pi * radius**3
    rod = np.pi * radius**2 * length
    caps, middle = mass * ball / (ball + rod), mass * rod / (ball + rod)
    along = 0.4 * caps * radius**2 + 0.5 * middle * radius**2
    across = caps * (0.4 * radius**2 + 0.375 * radius * length + 0.25 * length**2) + middle * (
        radius**2 / 4 + length**2 / 12
    )
    return np.diag([across, across, along])
