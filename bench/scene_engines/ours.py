"""stiction itself."""

import pathlib
import tempfile

import numpy as np
from scene_shapes import inertia, rotate

from .base import GRAVITY, Engine, plane_quaternion, write_obj


class Stiction(Engine):
    """Law coulomb_cone; all options at their defaults."""

    name, module, law, scheme = "stiction", "stiction", None, None
    differs = "friction cone, smaller coefficient of a pair; rigid"

    @staticmethod
    def material(scene):
        """Of every contact."""
        return None

    def __init__(self, scene):
        import stiction

        self.scene = scene
        self.world = stiction.World(friction=scene.friction, gravity=(0, 0, -GRAVITY), material=self.material(scene))
        for k, (point, normal) in enumerate(scene.planes):
            w, x, y, z = plane_quaternion(normal)
            self.world.add_body(
                f"plane {k}",
                stiction.Shape.plane(),
                position=point,
                orientation=(x, y, z, w),
                friction=scene.friction_of(scene.plane_friction, "min"),
                restitution=scene.restitution,
            )
        with tempfile.TemporaryDirectory() as folder:
            for k, body in enumerate(scene.bodies):
                w, *axis = body.quaternion
                self.world.add_body(
                    f"body {k}",
                    self.shape(body.shape, pathlib.Path(folder) / f"{k}.obj"),
                    mass=body.mass,
                    position=body.position,
                    orientation=(*axis, w),
                    inertia=inertia(body.shape, body.mass),
                    com=(0, 0, 0),
                    velocity=body.velocity,
                    friction=scene.friction_of(body.friction, "min"),
                    restitution=scene.restitution,
                )
            self.stepper = stiction.Stepper(
                self.world, dt=scene.dt, law=self.law, scheme=self.scheme
            )  # reads the meshes

    @staticmethod
    def shape(shape, file):
        from stiction import Shape

        if shape.kind == "mesh":
            write_obj(shape, file)
            return Shape.mesh(file)
        return {
            "sphere": lambda: Shape.sphere(shape.size[0]),
            "box": lambda: Shape.box(shape.size),
            "capsule": lambda: Shape.capsule(shape.size[0], shape.size[1]),
        }[shape.kind]()

    def step(self):
        if self.scene.push is None:
            return self.stepper.step()
        force = np.zeros(len(self.stepper.v))
        force[:3] = rotate(self.poses()[1][0] * [1, -1, -1, -1], self.scene.push)  # in the body's axes
        return self.stepper.step(force)

    def state(self):
        return self.stepper.q, self.stepper.v

    def poses(self):
        q = self.stepper.q.reshape(-1, 7)
        return q[:, :3].copy(), q[:, [6, 3, 4, 5]]

    def velocities(self):
        turns = self.poses()[1]
        v = self.stepper.v.reshape(-1, 6)
        return rotate(turns, v[:, :3]), v[:, 3:].copy()

    def gaps(self, positions, turns):
        """Of the contacts that this engine finds at these poses (m)."""
        q = np.hstack([positions, turns[:, [1, 2, 3, 0]]])
        return np.array(self.world.problem(q.ravel(), np.zeros(6 * len(q)), dt=self.scene.dt).gap)


class StictionTodorov(Stiction):
    """The convex law that MuJoCo's is built on, about as soft as its defaults: R of solimp 0.9, T its solref."""

    name, law = "stiction todorov", "todorov"
    differs = "the convex law that MuJoCo's is built on, about as soft: R of 0.1 over the mean mass, T = 20 ms"

    @staticmethod
    def material(scene):
        return {"regularization": 0.1 / np.mean([body.mass for body in scene.bodies]), "time_constant": 0.02}
