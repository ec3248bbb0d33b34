"""Bullet, through PyBullet."""

import numpy as np
from scene_shapes import inertia, rotate

from .base import GRAVITY, Engine


class Bullet(Engine):
    name, module = "Bullet", "pybullet"
    differs = "projected Gauss-Seidel; inertia of meshes by its diagonal; sleeping and damping off"

    def __init__(self, scene):
        import pybullet as p

        self.p, self.client = p, p.connect(p.DIRECT)
        p.setGravity(0, 0, -GRAVITY)
        p.setTimeStep(scene.dt)
        for point, normal in scene.planes:
            plane = p.createMultiBody(
                0, p.createCollisionShape(p.GEOM_PLANE, planeNormal=list(normal)), basePosition=list(point)
            )
            friction = scene.friction_of(scene.plane_friction, "product")
            p.changeDynamics(plane, -1, lateralFriction=friction, restitution=scene.restitution**0.5)
        self.push, self.bodies = scene.push, [self.add(body, scene) for body in scene.bodies]

    def add(self, body, scene):
        p, shape = self.p, body.shape
        w, x, y, z = body.quaternion
        collision = {
            "sphere": lambda: p.createCollisionShape(p.GEOM_SPHERE, radius=shape.size[0]),
            "box": lambda: p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5 * e for e in shape.size]),
            "capsule": lambda: p.createCollisionShape(p.GEOM_CAPSULE, radius=shape.size[0], height=shape.size[1]),
            "mesh": lambda: p.createCollisionShape(p.GEOM_MESH, vertices=shape.vertices.tolist()),
        }[shape.kind]()
        id_ = p.createMultiBody(body.mass, collision, basePosition=list(body.position), baseOrientation=[x, y, z, w])
        p.resetBaseVelocity(id_, list(body.velocity))
        p.changeDynamics(
            id_,
            -1,
            lateralFriction=scene.friction_of(body.friction, "product"),
            restitution=scene.restitution**0.5,
            localInertiaDiagonal=list(np.diag(inertia(shape, body.mass))),
            linearDamping=0,
            angularDamping=0,
            activationState=p.ACTIVATION_STATE_DISABLE_SLEEPING,
        )
        return id_

    def step(self):
        if self.push is not None:
            at = self.poses()[0][0]
            self.p.applyExternalForce(self.bodies[0], -1, list(self.push), list(at), self.p.WORLD_FRAME)
        self.p.stepSimulation()

    def poses(self):
        pairs = [self.p.getBasePositionAndOrientation(b) for b in self.bodies]
        return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])[:, [3, 0, 1, 2]]

    def velocities(self):
        pairs = [self.p.getBaseVelocity(b) for b in self.bodies]
        turns = self.poses()[1] * [1, -1, -1, -1]
        return np.array([a for a, _ in pairs]), rotate(turns, np.array([w for _, w in pairs]))

    def __del__(self):
        self.p.disconnect(self.client)
