"""Pushing: a finger moves a box to a place on the table."""

from __future__ import annotations

import numpy as np

import stiction

from .arguments import number
from .env import Task


class PushBox(Task):
    """Push the box to a goal, `distance` (m) away at most. Actions in [-1, 1] times 10 N drive the finger along x
    and y.

    Observed (13): finger from the box (2; m), goal from the box (2; m), cosine and sine of the box's yaw (2),
    velocities of the finger (2; m/s) and of the box (2; m/s), its yaw rate (rad/s), the goal (2; m). 20 actions a
    second.
    Reward: nearer to the goal by how much, times 20 (1/m), + 0.2 what the finger came nearer to the box, times 20, -
    0.01 |action|²; within 2 cm of the goal 10 more, and the episode ends.
    """

    goal_size = 2
    near = 0.02  # m

    def __init__(self, distance=0.3, frame_skip=10, **stepping):
        self.world = stiction.World.from_scene("push_box")
        self.frame_skip = frame_skip
        self.distance = number("distance", distance, above=0.0)
        self.view = np.array((0.0, 0.0, 0.05)), 0.1 + 2.0 * self.distance
        self.stepping = stepping
        self.high = np.ones(2)
        self.low = -self.high
        self.observed = 13
        box = next(joint for joint in self.world.joints if joint.nq == 7)
        self.box_q, self.box_v = box.q, box.v
        self.base = self.world.pose("finger")[:2, 3] - self.world.initial_q[:2]  # where the rails' zero is

    def start(self, random):
        q = self.world.initial_q.copy()
        yaw = random.uniform(-np.pi, np.pi)
        q[self.box_q + 5 : self.box_q + 7] = np.sin(yaw / 2), np.cos(yaw / 2)
        q[:2] += random.uniform(-0.02, 0.02, 2)
        angle, far = random.uniform(-np.pi / 2, np.pi / 2), random.uniform(0.5, 1.0) * self.distance
        return q, np.zeros(self.world.nv), far * np.array((np.cos(angle), np.sin(angle)))

    def command(self, actions):
        return 10.0 * np.clip(actions, -1.0, 1.0)

    def places(self, batch):
        """Finger and box (k, 2), world (m)."""
        return batch.q[..., :2] + self.base, batch.q[..., self.box_q : self.box_q + 2]

    def distances(self, places, goals):
        """Of the box from the goal, and of the finger from the box (k,) m."""
        finger, box = places
        far, reach = box - goals, finger - box
        return np.sqrt(np.vecdot(far, far)), np.sqrt(np.vecdot(reach, reach))

    def before(self, batch):
        return [place.copy() for place in self.places(batch)]

    def observe(self, batch, goals, actions):
        finger, box = self.places(batch)
        x, y, z, w = batch.q[..., self.box_q + 3 : self.box_q + 7].T
        turn = np.array((1 - 2 * (y * y + z * z), 2 * (x * y + w * z))).T
        v, at = batch.v_world, self.box_v
        parts = (finger - box, goals - box, turn, v[..., :2], v[..., at : at + 2], v[..., at + 5 : at + 6], goals)
        return np.concatenate(parts, axis=-1)

    def reward(self, batch, goals, before, actions):
        (far, reach), (was_far, was_reach) = self.distances(self.places(batch), goals), self.distances(before, goals)
        there = far < self.near
        effort = 0.01 * np.vecdot(actions, actions)
        gain = 20.0 * (was_far - far) + 4.0 * (was_reach - reach)
        return gain - effort + 10.0 * there, there, {"distance": far, "is_success": there}
