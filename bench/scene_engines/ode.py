"""ODE."""

import ctypes
import os
import pathlib

import numpy as np
from scene_shapes import inertia, rotate

from .base import GRAVITY, Engine, face_planes


class Ode(Engine):
    """Through bench/ode_engine.cpp, which is built where ODE's headers are (libode-dev)."""

    name = "ODE"
    differs = "quick step, 20 sweeps over a friction pyramid; damping and sleeping off; ERP 0.2, CFM 1e-10"
    build = pathlib.Path(__file__).resolve().parents[2] / "build" / "release"  # set by --build
    library = None

    @classmethod
    def missing(cls):
        if cls.library is None:
            file = cls.build / "bench" / "libode_engine.so"
            if not file.exists():
                return "its library is not built (libode-dev, then ./dev bench)"
            cls.library = ctypes.CDLL(os.fspath(file))
            cls.library.ode_scene.restype = ctypes.c_void_p
        return None

    @classmethod
    def refuses(cls, scene):
        if scene.plane_friction or scene.restitution > 0:
            return "bench/ode_engine.cpp has one friction for all, and no restitution"
        for body in scene.bodies:
            if body.shape.kind == "mesh" and len({tuple(plane) for plane in face_planes(body.shape).round(9)}) < len(
                body.shape.faces
            ):
                return "an assertion of its own ends the program where triangles of a mesh share a plane"
        return None

    def __init__(self, scene):
        self.missing()
        self.count, self.dt = len(scene.bodies), ctypes.c_double(scene.dt)
        self.scene = ctypes.c_void_p(self.library.ode_scene(ctypes.c_double(scene.friction), ctypes.c_double(GRAVITY)))
        numbers = lambda values: np.ravel(values).astype(float).ctypes.data_as(ctypes.POINTER(ctypes.c_double))  # noqa: E731
        for point, normal in scene.planes:
            self.library.ode_plane(self.scene, numbers(normal), ctypes.c_double(float(normal @ point)))
        for body in scene.bodies:
            shape = body.shape
            id_ = self.library.ode_body(
                self.scene,
                ctypes.c_double(body.mass),
                numbers(inertia(shape, body.mass)),
                numbers(np.concatenate([body.position, body.quaternion])),
                numbers(body.velocity),
            )
            if shape.kind == "box":
                self.library.ode_box(self.scene, id_, numbers(shape.size))
            elif shape.kind == "mesh":
                corners = np.column_stack([np.full(len(shape.faces), 3), shape.faces]).astype(np.uintc)
                self.library.ode_convex(
                    self.scene,
                    id_,
                    numbers(shape.vertices),
                    len(shape.vertices),
                    numbers(face_planes(shape)),
                    corners.ctypes.data_as(ctypes.POINTER(ctypes.c_uint)),
                    len(corners),
                )
            else:
                add = {"sphere": self.library.ode_sphere, "capsule": self.library.ode_capsule}[shape.kind]
                add(self.scene, id_, *map(ctypes.c_double, shape.size))

    def step(self):
        self.library.ode_step(self.scene, self.dt)

    def state(self):
        out = np.empty((self.count, 13))
        self.library.ode_state(self.scene, out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        return out

    def poses(self):
        x = self.state()
        return x[:, :3], x[:, 3:7]

    def velocities(self):
        x = self.state()
        return x[:, 7:10], rotate(x[:, 3:7] * [1, -1, -1, -1], x[:, 10:])

    def __del__(self):
        self.library.ode_free(self.scene)
