"""Engines that step one robot on a plane under torques of its joints, all from the same URDF text.

An engine has `missing()` and `refuses(scene)`: why it, or a scene in it, cannot be run, if so; `step(tau)`, which
advances by dt under torques (n,) held over the step (N m); `joints()`: positions and velocities (n,) in the order of
scene.robot.names; `base()`: position (3,) and quaternion (w x y z) of the root link; `support()`: vertical force of
the ground on the robot in the last step (N).
"""

import logging
import pathlib
import tempfile
from xml.etree import ElementTree

import numpy as np
import scene_engines
from scene_engines import GRAVITY
from small_scenes import STIFF, stiff_geom


class RobotEngine:
    like = None  # the engine of scene_engines, whose module this is, and whose name unless it has its own

    def __init_subclass__(cls):
        cls.name = cls.__dict__.get("name", cls.like.name)

    @classmethod
    def missing(cls):
        return cls.like.missing()

    @classmethod
    def refuses(cls, scene):
        return None


class Stiction(RobotEngine):
    like, scheme = scene_engines.Stiction, None

    def __init__(self, scene, dt):
        import stiction

        self.world = scene.robot.world(scene)
        self.stepper = stiction.Stepper(self.world, dt=dt, scheme=self.scheme)
        self.stepper.reset(scene.robot.coordinates(scene.q, scene.height), scene.robot.rates(scene.v))
        self.count, self.dt = len(scene.q), dt

    def step(self, tau):
        report = self.stepper.step(tau)
        if not report.accepted:
            raise RuntimeError(report.status)

    def joints(self):
        return self.stepper.q[-self.count :].copy(), self.stepper.v[-self.count :].copy()

    def base(self):
        q = self.stepper.q
        return (q[:3].copy(), q[[6, 3, 4, 5]]) if len(q) > self.count else (np.zeros(3), np.array([1.0, 0, 0, 0]))

    def support(self):
        contacts = self.stepper.contacts
        return float(np.sum(contacts.impulses.reshape(-1, 3)[:, 0])) / self.dt  # along the plane's normal


class StictionMidpoint(Stiction):
    name, scheme = "stiction midpoint", "moreau_midpoint"


class MuJoCo(RobotEngine):
    """Defaults: pyramidal friction, soft contacts."""

    like = scene_engines.MuJoCo

    def __init__(self, scene, dt):
        import mujoco

        self.mujoco = mujoco
        self.model = self.compiled(scene, dt)
        self.data = mujoco.MjData(self.model)
        ids = [self.model.joint(name) for name in scene.robot.names]
        self.q = np.array([joint.qposadr[0] for joint in ids])
        self.v = np.array([joint.dofadr[0] for joint in ids])
        if scene.robot.floating:
            self.data.qpos[:7] = [0, 0, scene.height, 1, 0, 0, 0]
        self.data.qpos[self.q], self.data.qvel[self.v] = scene.q, scene.v
        self.floating = scene.robot.floating

    def compiled(self, scene, dt):
        text = scene.robot.urdf
        if scene.robot.floating:
            root = f'<parent link="world"/><child link="{scene.robot.root}"/>'
            text = text.replace(
                "</robot>", f'<link name="world"/><joint name="root" type="floating">{root}</joint></robot>'
            )
        spec = self.mujoco.MjSpec.from_string(text.replace("</robot>", "<mujoco/></robot>"))
        spec.option.timestep = dt
        for geom in spec.geoms:
            geom.friction, geom.condim = [scene.friction, 0, 0], 3
        ground = spec.worldbody.add_geom(type=self.mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        ground.friction, ground.condim = [scene.friction, 0, 0], 3
        self.set_contacts(spec, dt)
        return spec.compile()

    def set_contacts(self, spec, dt):
        pass

    def step(self, tau):
        self.data.qfrc_applied[self.v] = tau
        self.mujoco.mj_step(self.model, self.data)

    def joints(self):
        return self.data.qpos[self.q].copy(), self.data.qvel[self.v].copy()

    def base(self):
        if not self.floating:
            return np.zeros(3), np.array([1.0, 0, 0, 0])
        return self.data.qpos[:3].copy(), self.data.qpos[3:7].copy()

    def support(self):
        return float(self.data.qfrc_constraint[2])  # nothing but contacts is a constraint of these robots


class MuJoCoStiff(MuJoCo):
    """As stiff as it gets: the settings of small_scenes.STIFF at any step."""

    name = "MuJoCo stiff"

    def set_contacts(self, spec, dt):
        option, geom = (ElementTree.fromstring(f"<x {text}/>").attrib for text in (STIFF["option"], stiff_geom(dt)))
        spec.option.cone = self.mujoco.mjtCone.mjCONE_ELLIPTIC
        for name in option.keys() - {"cone"}:
            setattr(spec.option, name, type(getattr(spec.option, name))(float(option[name])))
        for own in spec.geoms:
            own.solref = np.array(geom["solref"].split(), float)
            own.solimp[:3] = np.array(geom["solimp"].split(), float)


class Bullet(RobotEngine):
    like = scene_engines.Bullet

    def __init__(self, scene, dt):
        import pybullet as p

        self.p, self.client, self.floating = p, p.connect(p.DIRECT), scene.robot.floating
        p.setGravity(0, 0, -GRAVITY)
        p.setTimeStep(dt)
        plane = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
        p.changeDynamics(plane, -1, lateralFriction=1.0)  # a pair's coefficient is the product
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "robot.urdf"
            file.write_text(scene.robot.urdf)
            flags = p.URDF_USE_INERTIA_FROM_FILE
            self.robot = p.loadURDF(str(file), useFixedBase=not self.floating, flags=flags)
        count = p.getNumJoints(self.robot)
        places = {p.getJointInfo(self.robot, k)[1].decode(): k for k in range(count)}
        self.ids = [places[name] for name in scene.robot.names]
        for link in range(-1, count):
            p.changeDynamics(
                self.robot,
                link,
                lateralFriction=scene.friction,
                linearDamping=0,
                angularDamping=0,
                jointDamping=0,
                activationState=p.ACTIVATION_STATE_DISABLE_SLEEPING,
            )
        for k, q, v in zip(self.ids, scene.q, scene.v, strict=True):
            p.resetJointState(self.robot, k, q, v)
        p.setJointMotorControlArray(self.robot, self.ids, p.VELOCITY_CONTROL, forces=[0] * len(self.ids))
        # Bullet's base is at the centre of mass of the root link, along its principal axes.
        self.center, self.axes = p.getDynamicsInfo(self.robot, -1)[3:5]
        if self.floating:
            at = np.array([0, 0, scene.height]) + self.center
            p.resetBasePositionAndOrientation(self.robot, at, self.axes)

    def step(self, tau):
        self.p.setJointMotorControlArray(self.robot, self.ids, self.p.TORQUE_CONTROL, forces=tau)
        self.p.stepSimulation()

    def joints(self):
        states = self.p.getJointStates(self.robot, self.ids)
        return np.array([s[0] for s in states]), np.array([s[1] for s in states])

    def base(self):
        inertial = self.p.invertTransform(self.center, self.axes)
        at, turn = self.p.multiplyTransforms(*self.p.getBasePositionAndOrientation(self.robot), *inertial)
        return np.array(at), np.array(turn)[[3, 0, 1, 2]]

    def support(self):
        return sum(contact[9] for contact in self.p.getContactPoints())

    def __del__(self):
        self.p.disconnect(self.client)


class Dart(RobotEngine):
    like = scene_engines.Dart

    def __init__(self, scene, dt):
        import dartpy

        self.world = dartpy.simulation.World()
        self.world.setTimeStep(dt)
        self.world.setGravity([0, 0, -GRAVITY])
        self.world.setCollisionDetector(dartpy.collision.BulletCollisionDetector())
        sleep = self.world.getDeactivationOptions()
        sleep.mEnabled = False
        self.world.setDeactivationOptions(sleep)
        ground = dartpy.dynamics.Skeleton("ground")
        _, node = ground.createWeldJointAndBodyNodePair()
        plane = dartpy.dynamics.PlaneShape([0, 0, 1], 0.0)
        scene_engines.Dart.collide(node, plane, scene.friction, 0.0)
        ground.setMobile(False)
        self.world.addSkeleton(ground)
        loader, options = dartpy.utils.DartLoader(), dartpy.utils.DartLoaderOptions()
        kind = dartpy.utils.DartLoaderRootJointType
        options.mDefaultRootJointType = kind.FLOATING if scene.robot.floating else kind.FIXED
        loader.setOptions(options)
        self.robot = loader.parseSkeletonString(scene.robot.urdf, dartpy.common.Uri(""))
        for k in range(self.robot.getNumBodyNodes()):
            body = self.robot.getBodyNode(k)
            for shape in range(body.getNumShapeNodes()):
                body.getShapeNode(shape).getDynamicsAspect().setFrictionCoeff(scene.friction)
        self.ids = np.array([self.robot.getDof(name).getIndexInSkeleton() for name in scene.robot.names])
        q, v = self.robot.getPositions(), self.robot.getVelocities()
        q[self.ids], v[self.ids] = scene.q, scene.v
        if scene.robot.floating:
            q[5] = scene.height
        self.robot.setPositions(q)
        self.robot.setVelocities(v)
        self.forces = np.zeros(len(q))
        self.world.addSkeleton(self.robot)

    def step(self, tau):
        self.forces[self.ids] = tau
        self.robot.setForces(self.forces)
        self.world.step()

    def joints(self):
        return self.robot.getPositions()[self.ids], self.robot.getVelocities()[self.ids]

    def base(self):
        pose = self.robot.getBodyNode(0).getTransform()
        turn = pose.quaternion()
        return np.array(pose.translation()), np.array([turn.w(), turn.x(), turn.y(), turn.z()])

    def support(self):
        return sum(abs(contact.force[2]) for contact in self.world.getLastCollisionResult().getContacts())


class Ode(RobotEngine):
    like = scene_engines.Ode

    @classmethod
    def refuses(cls, scene):
        return "bench/ode_engine.cpp has no joints, and ODE reads no URDF"


class Drake(RobotEngine):
    like = scene_engines.Drake

    def __init__(self, scene, dt):
        from pydrake import geometry, math
        from pydrake.multibody import parsing
        from pydrake.multibody import plant as plants
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        logging.getLogger("drake").setLevel(logging.ERROR)
        builder, robot = DiagramBuilder(), scene.robot
        plant, _ = plants.AddMultibodyPlantSceneGraph(builder, time_step=dt)
        approximation = getattr(plants.DiscreteContactApproximation, self.like.approximation)
        plant.set_discrete_contact_approximation(approximation)
        plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])
        friction = (
            f'</geometry><drake:proximity_properties><drake:mu_static value="{scene.friction}"/>'
            f'<drake:mu_dynamic value="{scene.friction}"/></drake:proximity_properties>'
        )
        text = robot.urdf.replace("<robot ", '<robot xmlns:drake="http://drake.mit.edu" ')
        (model,) = parsing.Parser(plant).AddModelsFromString(text.replace("</geometry>", friction), "urdf")
        coulomb = plants.CoulombFriction(scene.friction, scene.friction)
        plant.RegisterCollisionGeometry(
            plant.world_body(), math.RigidTransform(), geometry.HalfSpace(), "ground", coulomb
        )
        root = plant.GetBodyByName(robot.root)
        if not robot.floating:
            plant.WeldFrames(plant.world_frame(), root.body_frame())
        for name in robot.names:
            plant.AddJointActuator(name, plant.GetJointByName(name))
        plant.Finalize()
        self.simulator = Simulator(builder.Build())
        self.plant, self.root, self.floating = plant, root, robot.floating
        self.context = context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        if robot.floating:
            plant.SetFreeBodyPose(context, root, math.RigidTransform([0, 0, scene.height]))
        self.own = [plant.GetJointByName(name) for name in robot.names]
        for joint, q, v in zip(self.own, scene.q, scene.v, strict=True):
            joint.set_angle(context, q)
            joint.set_angular_rate(context, v)
        self.q = np.array([joint.position_start() for joint in self.own])
        self.v = np.array([joint.velocity_start() for joint in self.own])
        self.torques = plant.get_actuation_input_port(model).FixValue(context, np.zeros(len(robot.names)))
        self.steps, self.dt = 0, dt
        self.simulator.Initialize()

    def step(self, tau):
        self.torques.GetMutableData().set_value(tau)
        self.steps += 1
        self.simulator.AdvanceTo(self.steps * self.dt)

    def joints(self):
        return self.plant.GetPositions(self.context)[self.q], self.plant.GetVelocities(self.context)[self.v]

    def base(self):
        pose = self.plant.EvalBodyPoseInWorld(self.context, self.root)
        return pose.translation().copy(), pose.rotation().ToQuaternion().wxyz()

    def support(self):
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        count = results.num_point_pair_contacts()
        return sum(abs(results.point_pair_contact_info(k).contact_force()[2]) for k in range(count))


class DrakeTamsi(Drake):
    like = scene_engines.DrakeTamsi
