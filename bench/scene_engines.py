"""Engines that step a scene of scene_shapes.py: bodies, start, planes, friction, step and gravity alike.

An engine has `missing()` and `refuses(scene)`: why it, or a scene in it, cannot be run, if so; `step()`, which advances
by scene.dt and returns its own report, if it has any; `poses()`: centres of mass (n, 3) and quaternions (n, 4; w x y
z); `velocities()`: linear in world axes (n, 3) and angular in body axes (n, 3).
"""

import ctypes
import importlib.util
import logging
import os
import pathlib
import tempfile

import numpy as np
from scene_shapes import inertia, rotate

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


def mjcf(scene, cone):
    geoms = {
        "sphere": lambda s: f'type="sphere" size="{s.size[0]}"',
        "box": lambda s: f'type="box" size="{" ".join(str(0.5 * x) for x in s.size)}"',
        "capsule": lambda s: f'type="capsule" size="{s.size[0]} {0.5 * s.size[1]}"',
    }
    numbers = lambda values: " ".join(repr(float(x)) for x in np.ravel(values))  # noqa: E731
    assets, bodies = [], []
    for point, normal in scene.planes:
        bodies.append(
            f'<geom type="plane" size="0 0 1" pos="{numbers(point)}" quat="{numbers(plane_quaternion(normal))}" '
            f'friction="{scene.friction_of(scene.plane_friction, "max")} 0 0"/>'
        )
    for k, body in enumerate(scene.bodies):
        if body.shape.kind == "mesh":
            corners = " ".join(map(str, np.ravel(body.shape.faces)))
            assets.append(f'<mesh name="m{k}" vertex="{numbers(body.shape.vertices)}" face="{corners}"/>')
            geom = f'type="mesh" mesh="m{k}"'
        else:
            geom = geoms[body.shape.kind](body.shape)
        moments = inertia(body.shape, body.mass)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        bodies.append(
            f'<body pos="{numbers(body.position)}" quat="{numbers(body.quaternion)}"><freejoint/><geom {geom} '
            f'friction="{scene.friction_of(body.friction, "max")} 0 0"/>'
            f'<inertial pos="0 0 0" mass="{body.mass}" '
            f'fullinertia="{numbers(moments)}"/></body>'
        )
    return (
        '<mujoco><compiler inertiafromgeom="false"/><size memory="1G"/>'
        f'<option timestep="{scene.dt}" gravity="0 0 {-GRAVITY}" cone="{cone}"/>'
        f'<default><geom friction="{scene.friction} 0 0" condim="3"/></default>'
        f"<asset>{''.join(assets)}</asset><worldbody>{''.join(bodies)}</worldbody></mujoco>"
    )


class MuJoCo(Engine):
    """Defaults: pyramidal friction, soft contacts."""

    name, module, cone = "MuJoCo", "mujoco", "pyramidal"
    differs = "friction pyramid of four edges; soft contacts (solref 0.02 1, solimp 0.9 0.95 0.001)"
    bounces = False

    def __init__(self, scene):
        import mujoco

        self.step_once = mujoco.mj_step
        self.model = mujoco.MjModel.from_xml_string(self.xml(scene))
        self.data = mujoco.MjData(self.model)
        self.data.qvel.reshape(-1, 6)[:, :3] = [body.velocity for body in scene.bodies]
        if scene.push is not None:
            self.data.xfrc_applied[1, :3] = scene.push

    def xml(self, scene):
        return mjcf(scene, self.cone)

    def step(self):
        self.step_once(self.model, self.data)

    def poses(self):
        q = self.data.qpos.reshape(-1, 7)
        return q[:, :3].copy(), q[:, 3:].copy()

    def velocities(self):
        v = self.data.qvel.reshape(-1, 6)
        return v[:, :3].copy(), v[:, 3:].copy()


class MuJoCoElliptic(MuJoCo):
    name, cone = "MuJoCo elliptic", "elliptic"
    differs = "friction cone; soft contacts as above"


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


class DenseEngine(Engine):
    """Engines whose step is cubic in the bodies, and which are handed no meshes here."""

    MOST = 400  # bodies: beyond, a step takes minutes, which no clock between steps ends

    @classmethod
    def refuses(cls, scene):
        if len(scene.bodies) > cls.MOST:
            return f"more than {cls.MOST} bodies"
        meshes = any(body.shape.kind == "mesh" for body in scene.bodies)
        return "convex meshes are not handed to it" if meshes else super().refuses(scene)


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


class Ode(Engine):
    """Through bench/ode_engine.cpp, which is built where ODE's headers are (libode-dev)."""

    name = "ODE"
    differs = "quick step, 20 sweeps over a friction pyramid; damping and sleeping off; ERP 0.2, CFM 1e-10"
    build = pathlib.Path(__file__).resolve().parent.parent / "build" / "release"  # set by --build
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


# Times are measured against the first.
ENGINES = (MuJoCo, Stiction, MuJoCoElliptic, StictionTodorov, Bullet, Ode, Dart, Drake, DrakeTamsi)
