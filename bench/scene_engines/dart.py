"""DART."""

import numpy as np
from scene_shapes import inertia, rotate

from .base import GRAVITY, DenseEngine


class Dart(DenseEngine):
    name, module = "DART", "dartpy"
    differs = "Dantzig's LCP over a friction pyramid, contacts of Bullet's collision; sleeping off"

    def __init__(self, scene):
        import dartpy

        self.dart, self.world = dartpy, dartpy.simulation.World()
        self.world.setTimeStep(scene.dt)
        self.world.setGravity([0, 0, -GRAVITY])
        self.world.setCollisionDetector(dartpy.collision.BulletCollisionDetector())
        sleep = self.world.getDeactivationOptions()
        sleep.mEnabled = False
        self.world.setDeactivationOptions(sleep)
        for k, (point, normal) in enumerate(scene.planes):
            skeleton = dartpy.dynamics.Skeleton(f"plane {k}")
            _, node = skeleton.createWeldJointAndBodyNodePair()
            friction = scene.friction_of(scene.plane_friction, "min")
            plane = dartpy.dynamics.PlaneShape(normal, float(normal @ point))
            self.collide(node, plane, friction, scene.restitution)
            skeleton.setMobile(False)
            self.world.addSkeleton(skeleton)
        self.push = scene.push
        self.bodies = [self.add(f"body {k}", body, scene) for k, body in enumerate(scene.bodies)]

    @staticmethod
    def collide(node, shape, friction, restitution):
        holder = node.createShapeNode(shape)
        holder.createCollisionAspect()
        material = holder.createDynamicsAspect()
        material.setFrictionCoeff(friction)
        material.setRestitutionCoeff(restitution)

    def add(self, name, body, scene):
        dynamics, size = self.dart.dynamics, body.shape.size
        skeleton = dynamics.Skeleton(name)
        joint, node = skeleton.createFreeJointAndBodyNodePair()
        shape = {
            "sphere": lambda: dynamics.SphereShape(size[0]),
            "box": lambda: dynamics.BoxShape(size),
            "capsule": lambda: dynamics.CapsuleShape(size[0], size[1]),
        }[body.shape.kind]()
        self.collide(node, shape, scene.friction_of(body.friction, "min"), scene.restitution)
        mass = dynamics.Inertia()
        mass.setMass(body.mass)
        mass.setMoment(inertia(body.shape, body.mass))
        node.setInertia(mass)
        pose = self.dart.math.Isometry3()
        pose.set_rotation(np.column_stack([rotate(body.quaternion, e) for e in np.eye(3)]))
        pose.set_translation(body.position)
        skeleton.setPositions(dynamics.FreeJoint.convertToPositions(pose))
        joint.setLinearVelocity(body.velocity)
        self.world.addSkeleton(skeleton)
        return node

    def step(self):
        if self.push is not None:
            self.bodies[0].addExtForce(self.push)
        self.world.step()

    def poses(self):
        turns = [node.getTransform().quaternion() for node in self.bodies]
        positions = np.array([node.getTransform().translation() for node in self.bodies])
        return positions, np.array([[q.w(), q.x(), q.y(), q.z()] for q in turns])

    def velocities(self):
        world = np.array([node.getAngularVelocity() for node in self.bodies])
        turns = self.poses()[1] * [1, -1, -1, -1]
        linear = np.array([node.getLinearVelocity() for node in self.bodies])
        return linear, rotate(turns, world)
