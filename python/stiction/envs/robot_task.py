"""What tasks of a floating robot share: what it sees of its base, and servos about its start posture."""

from __future__ import annotations

import numpy as np

import stiction

from .env import Task, column


def down(quaternions):
    """(k, 3) world's -z in body axes, of quaternions (k, 4) x y z w: (0, 0, -1) where the body stands upright."""
    x, y, z, w = quaternions.T
    return np.array((2 * (w * y - x * z), -2 * (y * z + w * x), 2 * (x * x + y * y) - 1)).T


class FloatingRobot(Task):
    """A robot of a scene. Actions in [-1, 1] times `reach` (rad) move the servos' targets about the scene's start
    posture.
    """

    reach = 0.4

    def __init__(self, scene, kp, kd, frame_skip, stepping):
        self.world = stiction.World.from_scene(scene)
        self.frame_skip = frame_skip
        by_v = {joint.v: joint.q for joint in self.world.joints}
        self.joints_v = self.world.actuated
        self.joints_q = np.array([by_v[i] for i in self.joints_v])
        self.q0 = self.world.initial_q
        self.stepping = {"kp": kp, "kd": kd} | stepping
        self.high = np.ones(len(self.joints_v))
        self.low = -self.high
        self.observed = 9 + self.goal_size + 3 * len(self.joints_v)

    def command(self, actions):
        return self.q0[self.joints_q] + self.reach * np.clip(actions, -1.0, 1.0)

    def observe(self, batch, goals, actions):
        q, v = batch.q, batch.v
        joints = q.take(self.joints_q, -1) - self.q0[self.joints_q]
        parts = (down(q[..., 3:7]), v[..., :6], goals, joints, v.take(self.joints_v, -1), actions)
        return np.concatenate(parts, axis=-1)

    def start_with(self, random, spread):
        """The start posture with every joint off by up to `spread` (rad), and zero velocity."""
        q = self.q0.copy()
        q[self.joints_q] += random.uniform(-spread, spread, len(self.joints_q))
        return q, np.zeros(self.world.nv)

    def fallen(self, batch, tilt, height):
        """Tilted by more than `tilt` (rad) or lower than `height` (m)."""
        return (column(down(batch.q[..., 3:7]), 2) > -np.cos(tilt)) | (column(batch.q, 2) < height)
