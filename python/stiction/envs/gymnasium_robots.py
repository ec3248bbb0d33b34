"""HalfCheetah, Ant and Humanoid from gymnasium's own MJCF files, with observation, reward and frame_skip of its v5.

What differs is the engine: contacts are rigid, each step of the file's length is taken once (MuJoCo takes Ant and
Humanoid by Runge-Kutta of fourth order), contact forces are means over the last step, and all that is observed is of
one state, where MuJoCo's cinert, cvel and centre of mass lag the positions by a step.
"""

from __future__ import annotations

import pathlib
import xml.etree.ElementTree as ElementTree

import gymnasium
import numpy as np

import stiction

from .arguments import flag, interval, number
from .env import Task, column

ASSETS = pathlib.Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
DENSITY = 1000.0  # MJCF's default (kg/m³)


class GymnasiumRobot(Task):
    """Torques at the file's actuators, in its order: action times gear, cut to the control range."""

    def __init__(self, file, frame_skip, links, stepping):
        self.file = ASSETS / file
        if not self.file.exists():
            raise FileNotFoundError(f"stiction.envs: {self.file} is not in this gymnasium")
        self.frame_skip = frame_skip
        self.world = stiction.World()
        self.world.add_robot(self.file, name="robot")
        self.stepping = {"links": links} | stepping
        tree = ElementTree.parse(self.file)
        motors = tree.findall("actuator/motor")
        given = tree.find("default/motor")
        low, high = [], []
        for motor in motors:
            limits = motor.get("ctrlrange") or given.get("ctrlrange")
            low.append(float(limits.split()[0]))
            high.append(float(limits.split()[1]))
        self.low, self.high = np.array(low), np.array(high)
        at = {joint.name: i for i, joint in enumerate(j for j in self.world.joints if j.actuated)}
        self.order = np.argsort([at[motor.get("joint")] for motor in motors])  # of the driven joints, their actuators
        self.gear = np.array([float(motor.get("gear")) for motor in motors])[self.order]
        nq, nv = self.world.nq, self.world.nv
        self.free = nq != nv
        self.positions = np.arange(nq)
        if self.free:
            self.positions[3:7] = [6, 3, 4, 5]  # MuJoCo's quaternion begins with w
        self.q0 = self.world.initial_q[self.positions]
        names = {name: i for i, name in enumerate(self.world.link_names)}
        # A nameless body is called by its number in the file, the world being 0.
        bodies = [body.get("name") or f"body{i + 1}" for i, body in enumerate(tree.iterfind("worldbody//body"))]
        self.bodies = np.array([names[name] for name in bodies])
        # Where the 6 or 10 numbers of these bodies are in the row of all links'.
        self.six, self.ten = ((n * self.bodies[:, None] + np.arange(n)).ravel() for n in (6, 10))

    def own(self, q, v):
        """Our q and v of MuJoCo's, whose floating base has its linear velocity in world axes."""
        if not self.free:
            return q, v
        q = q.copy()
        q[self.positions] = q.copy()
        q[3:7] /= np.linalg.norm(q[3:7])
        turned = self.world.velocity_in_body_axes(np.concatenate((v[:3], np.zeros(len(v) - 3))), q)
        return q, np.concatenate((turned[:3], v[3:]))

    def command(self, actions):
        return actions.take(self.order, -1) * self.gear


class HalfCheetah(GymnasiumRobot):
    """Run along x. Actions (6) in [-1, 1] times 120, 90, 60 (back thigh, shin, foot), 120, 60, 30 N m (front).

    Observed (17): height of the torso from its start (m), its pitch (rad), joint positions (6; rad), velocity of the
    torso along x and z (2; m/s), pitch rate (rad/s), joint velocities (6; rad/s). 20 actions a second: `frame_skip`
    steps of 10 ms.
    Reward: forward_reward_weight (s/m) times the mean velocity of the torso along x, - ctrl_cost_weight |action|²;
    the episode does not end. reset_noise_scale: starts are that of the file ± as much (uniform; m, rad), velocities
    normal with that standard deviation (m/s, rad/s).
    """

    def __init__(
        self, frame_skip=5, forward_reward_weight=1.0, ctrl_cost_weight=0.1, reset_noise_scale=0.1, **stepping
    ):
        super().__init__("half_cheetah.xml", frame_skip, None, stepping)
        self.forward = number("forward_reward_weight", forward_reward_weight)
        self.effort = number("ctrl_cost_weight", ctrl_cost_weight)
        self.noise = number("reset_noise_scale", reset_noise_scale, least=0.0)
        self.observed = self.world.nq + self.world.nv - 1

    def start(self, random):
        q = self.q0 + random.uniform(-self.noise, self.noise, self.world.nq)
        return q, self.noise * random.standard_normal(self.world.nv), ()

    def before(self, batch):
        return column(batch.q, 0)

    def observe(self, batch, goals, actions):
        return np.concatenate((batch.q[..., 1:], batch.v), axis=-1)

    def start_info(self, batch):
        return {"x_position": column(batch.q, 0)}

    def reward(self, batch, goals, before, actions):
        x = column(batch.q, 0)
        velocity = (x - before) / self.dt
        forward, effort = self.forward * velocity, self.effort * np.vecdot(actions, actions)
        info = {"x_position": x, "x_velocity": velocity, "reward_forward": forward, "reward_ctrl": -effort}
        return forward - effort, False, info


class Walker(GymnasiumRobot):
    """What Ant and Humanoid share: a floating base, an upright range, a cost of contact forces."""

    def place(self, batch):
        """x and y (k,) whose rates are told, and that of x rewarded; new memory."""
        raise NotImplementedError

    def before(self, batch):
        return self.place(batch)

    def contact_cost(self, batch):
        raise NotImplementedError

    def start_info(self, batch):
        x, y = column(batch.q, 0), column(batch.q, 1)
        return {"x_position": x, "y_position": y, "distance_from_origin": np.hypot(x, y)}

    def reward(self, batch, goals, before, actions):
        x, y = self.place(batch)
        x_velocity, y_velocity = (x - before[0]) / self.dt, (y - before[1]) / self.dt
        z = column(batch.q, 2)
        healthy = (z >= self.upright[0]) & (z <= self.upright[1])
        forward, survive = self.forward * x_velocity, healthy * self.healthy
        effort, contact = self.effort * np.vecdot(actions, actions), self.contact_cost(batch)
        info = self.start_info(batch) | {
            "x_velocity": x_velocity,
            "y_velocity": y_velocity,
            "reward_forward": forward,
            "reward_ctrl": -effort,
            "reward_contact": -contact,
            "reward_survive": survive,
        }
        return forward + survive - (effort + contact), ~healthy & self.ends, info


class Ant(Walker):
    """Walk along x on four legs. Actions (8) in [-1, 1] times 150 N m: hip, ankle of legs 4, 1, 2, 3 of the file.

    Observed (105): height of the torso (m), its orientation (4; quaternion w x y z), joint positions (8; rad), velocity
    of the torso in world axes (3; m/s), its angular velocity in its own axes (3; rad/s), joint velocities (8; rad/s);
    moments about the robot's centre of mass (N m) and forces of contacts on 13 bodies in the last step, world axes
    (13 x 6; N), each number cut to contact_force_range. 20 actions a second: `frame_skip` steps of 10 ms.
    Reward: forward_reward_weight (s/m) times the mean velocity of the torso along x, + healthy_reward while it is
    healthy, - ctrl_cost_weight |action|², - contact_cost_weight times the squares of the 78 cut numbers of contacts.
    Healthy: the height of the torso is within healthy_z_range (m); else the episode ends, if terminate_when_unhealthy.
    reset_noise_scale: starts are that of the file ± as much (uniform; m, rad), velocities normal with that standard
    deviation (m/s, rad/s).
    """

    def __init__(
        self,
        frame_skip=5,
        forward_reward_weight=1.0,
        ctrl_cost_weight=0.5,
        contact_cost_weight=5e-4,
        healthy_reward=1.0,
        terminate_when_unhealthy=True,
        healthy_z_range=(0.2, 1.0),
        contact_force_range=(-1.0, 1.0),
        reset_noise_scale=0.1,
        **stepping,
    ):
        super().__init__("ant.xml", frame_skip, None, stepping)
        self.forward = number("forward_reward_weight", forward_reward_weight)
        self.effort = number("ctrl_cost_weight", ctrl_cost_weight)
        self.contact = number("contact_cost_weight", contact_cost_weight)
        self.healthy = number("healthy_reward", healthy_reward)
        self.ends = flag("terminate_when_unhealthy", terminate_when_unhealthy)
        self.upright = interval("healthy_z_range", healthy_z_range, infinite=True)
        self.forces = interval("contact_force_range", contact_force_range, infinite=True)
        self.noise = number("reset_noise_scale", reset_noise_scale, least=0.0)
        self.observed = self.world.nq + self.world.nv - 2 + 6 * len(self.bodies)

    def start(self, random):
        q = self.q0 + random.uniform(-self.noise, self.noise, self.world.nq)
        return *self.own(q, self.noise * random.standard_normal(self.world.nv)), ()

    def place(self, batch):
        return column(batch.q, 0), column(batch.q, 1)

    def contact_forces(self, batch):
        return batch.wrenches.take(self.six, -1).clip(*self.forces)

    def contact_cost(self, batch):
        forces = self.contact_forces(batch)
        return self.contact * np.vecdot(forces, forces)

    def observe(self, batch, goals, actions):
        parts = (batch.q.take(self.positions[2:], -1), batch.v_world, self.contact_forces(batch))
        return np.concatenate(parts, axis=-1)


class Humanoid(Walker):
    """Walk along x on two legs. Actions (17) in [-0.4, 0.4] times 25 (arms), 100, 200 (knees) or 300 N m (hips' y).

    Observed (348): height of the torso (m), its orientation (4; quaternion w x y z), joint positions (17; rad),
    velocity of the torso in world axes (3; m/s), its angular velocity in its own axes (3; rad/s), joint velocities (17;
    rad/s); of 13 bodies, in world axes about the robot's centre of mass c, inertias Ixx Iyy Izz Ixy Ixz Iyz (kg m²),
    mass times place from c (kg m) and mass (13 x 10; kg); their angular velocities (rad/s) and velocities at c (13 x 6;
    m/s); torques of the actuators, in the order of the joints (17; N m); moments about c (N m) and forces of contacts
    on the bodies in the last step (13 x 6; N). 67 actions a second: `frame_skip` steps of 3 ms.
    Reward: forward_reward_weight (s/m) times the mean velocity of the robot's centre of mass along x, + healthy_reward
    while it is healthy, - ctrl_cost_weight |action|², - contact_cost_weight times the squares of all moments and
    forces of contacts, that product cut to contact_cost_range. Healthy: the height of the torso is within
    healthy_z_range (m); else the episode ends, if terminate_when_unhealthy. reset_noise_scale: starts are that of the
    file ± as much, positions (m, rad) and velocities (m/s, rad/s), uniform.
    """

    def __init__(
        self,
        frame_skip=5,
        forward_reward_weight=1.25,
        ctrl_cost_weight=0.1,
        contact_cost_weight=5e-7,
        contact_cost_range=(-np.inf, 10.0),
        healthy_reward=5.0,
        terminate_when_unhealthy=True,
        healthy_z_range=(1.0, 2.0),
        reset_noise_scale=1e-2,
        **stepping,
    ):
        super().__init__("humanoid.xml", frame_skip, None, stepping)
        self.forward = number("forward_reward_weight", forward_reward_weight)
        self.effort = number("ctrl_cost_weight", ctrl_cost_weight)
        self.contact = number("contact_cost_weight", contact_cost_weight)
        self.costs = interval("contact_cost_range", contact_cost_range, infinite=True)
        self.healthy = number("healthy_reward", healthy_reward)
        self.ends = flag("terminate_when_unhealthy", terminate_when_unhealthy)
        self.upright = interval("healthy_z_range", healthy_z_range, infinite=True)
        self.noise = number("reset_noise_scale", reset_noise_scale, least=0.0)
        self.stepping["links"] = np.zeros((len(self.world.link_names), 13))
        self.stepping["links"][self.bodies] = body_inertias(self.file)
        self.observed = self.world.nq + self.world.nv - 2 + 22 * len(self.bodies) + self.world.nv - 6
        self.limits = np.abs(self.gear * self.high[self.order])

    def start(self, random):
        q = self.q0 + random.uniform(-self.noise, self.noise, self.world.nq)
        return *self.own(q, random.uniform(-self.noise, self.noise, self.world.nv)), ()

    def place(self, batch):
        return column(batch.com, 0), column(batch.com, 1)

    def contact_cost(self, batch):
        cost = self.contact * np.vecdot(batch.wrenches, batch.wrenches)
        return np.minimum(np.maximum(cost, self.costs[0]), self.costs[1])

    def observe(self, batch, goals, actions):
        parts = (
            *(batch.q.take(self.positions[2:], -1), batch.v_world),
            *(batch.inertias.take(self.ten, -1), batch.velocities.take(self.six, -1)),
            self.command(actions).clip(-self.limits, self.limits),
            batch.wrenches.take(self.six, -1),
        )
        return np.concatenate(parts, axis=-1)


def body_inertias(file):
    """(bodies, 13) mass, centre of mass and inertia about it in the body's frame, of the spheres and capsules of an
    MJCF's bodies.
    """
    return np.array([solids(body) for body in ElementTree.parse(file).iterfind("worldbody//body")])


def solids(body):
    parts = [solid(geom) for geom in body.findall("geom")]
    mass = sum(part[0] for part in parts)
    com = sum(part[0] * part[1] for part in parts) / mass
    inertia = np.zeros((3, 3))
    for m, c, own in parts:
        d = c - com
        inertia += own + m * (d @ d * np.eye(3) - np.outer(d, d))
    return np.concatenate(((mass,), com, inertia.ravel()))


def solid(geom):
    """Mass, centre and inertia about it of a sphere or of a capsule between two points."""
    r = float(geom.get("size").split()[0])
    ball = DENSITY * 4 / 3 * np.pi * r**3
    if geom.get("type") == "sphere":
        return ball, numbers(geom.get("pos", "0 0 0")), 0.4 * ball * r**2 * np.eye(3)
    if geom.get("fromto") is None:
        raise ValueError(
            f"geom {geom.get('name')}: expected a sphere, or a capsule with fromto, got {geom.get('type')}"
        )
    ends = numbers(geom.get("fromto")).reshape(2, 3)
    L = np.linalg.norm(ends[1] - ends[0])
    rod = DENSITY * np.pi * r**2 * L
    axial = rod * r**2 / 2 + 0.4 * ball * r**2
    across = rod * (L**2 / 12 + r**2 / 4) + ball * (0.4 * r**2 + L**2 / 4 + 3 * L * r / 8)
    a = (ends[1] - ends[0]) / L
    return ball + rod, ends.mean(axis=0), across * np.eye(3) + (axial - across) * np.outer(a, a)


def numbers(text):
    return np.array([float(word) for word in text.split()])
