"""Drake, with its two contact solvers."""

import logging

import numpy as np
from scene_shapes import inertia, rotate

from .base import GRAVITY, DenseEngine


class Drake(DenseEngine):
    """Point contact, everything at its defaults but the contact solver. One multibody plant, its discrete update."""

    name, module, approximation = "Drake SAP", "pydrake", "kSap"
    differs = "convex SAP over friction cones, a pair's coefficient 2ab/(a + b); compliant at its default stiffness"
    bounces = False

    def __init__(self, scene):
        from pydrake import geometry, math
        from pydrake.multibody import math as math_
        from pydrake.multibody import plant as plants
        from pydrake.multibody import tree
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        self.geometry, self.math, self.tree = geometry, math, tree
        logging.getLogger("drake").setLevel(logging.ERROR)  # half spaces and deformable bodies, at every one
        builder = DiagramBuilder()
        self.plant, _ = plants.AddMultibodyPlantSceneGraph(builder, time_step=scene.dt)
        self.plant.set_discrete_contact_approximation(getattr(plants.DiscreteContactApproximation, self.approximation))
        self.plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])
        coulomb = lambda own: plants.CoulombFriction(*2 * [scene.friction_of(own, "harmonic")])  # noqa: E731
        for k, (point, normal) in enumerate(scene.planes):
            pose = geometry.HalfSpace.MakePose(normal, point)
            self.plant.RegisterCollisionGeometry(
                self.plant.world_body(), pose, geometry.HalfSpace(), f"plane {k}", coulomb(scene.plane_friction)
            )
        self.bodies = [self.add(f"body {k}", body, coulomb(body.friction)) for k, body in enumerate(scene.bodies)]
        self.plant.Finalize()
        self.simulator = Simulator(builder.Build())
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for own, body in zip(self.bodies, scene.bodies, strict=True):
            turn = math.RotationMatrix(np.column_stack([rotate(body.quaternion, e) for e in np.eye(3)]))
            self.plant.SetFreeBodyPose(self.context, own, math.RigidTransform(turn, body.position))
            velocity = math_.SpatialVelocity(np.zeros(3), body.velocity)
            self.plant.SetFreeBodySpatialVelocity(self.context, own, velocity)
        self.steps, self.dt = 0, scene.dt
        if scene.push is not None:
            force = plants.ExternallyAppliedSpatialForce()
            force.body_index = self.bodies[0].index()
            force.F_Bq_W = math_.SpatialForce(np.zeros(3), scene.push)
            self.plant.get_applied_spatial_force_input_port().FixValue(self.context, [force])
        self.simulator.Initialize()

    def add(self, name, body, friction):
        i = inertia(body.shape, body.mass) / body.mass
        unit = self.tree.UnitInertia(i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
        own = self.plant.AddRigidBody(name, self.tree.SpatialInertia(body.mass, np.zeros(3), unit))
        size = body.shape.size
        shape = {
            "sphere": lambda: self.geometry.Sphere(size[0]),
            "box": lambda: self.geometry.Box(*size),
            "capsule": lambda: self.geometry.Capsule(size[0], size[1]),
        }[body.shape.kind]()
        self.plant.RegisterCollisionGeometry(own, self.math.RigidTransform(), shape, name, friction)
        return own

    def step(self):
        self.steps += 1
        self.simulator.AdvanceTo(self.steps * self.dt)

    def poses(self):
        poses = [self.plant.EvalBodyPoseInWorld(self.context, own) for own in self.bodies]
        turns = [pose.rotation().ToQuaternion().wxyz() for pose in poses]
        return np.array([pose.translation() for pose in poses]), np.array(turns)

    def velocities(self):
        both = [self.plant.EvalBodySpatialVelocityInWorld(self.context, own) for own in self.bodies]
        turns = self.poses()[1] * [1, -1, -1, -1]
        return np.array([v.translational() for v in both]), rotate(turns, np.array([v.rotational() for v in both]))


class DrakeTamsi(Drake):
    name, approximation = "Drake TAMSI", "kTamsi"
    MOST = 100  # beyond, its dense steps take a fifth of a second and more
    differs = "TAMSI, implicit Coulomb friction with a stiction tolerance of 1 mm/s; compliant at its default stiffness"
