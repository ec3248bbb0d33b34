"""Balance: a biped is pushed and stays up."""

from __future__ import annotations

import numpy as np

from .arguments import number
from .robot_task import FloatingRobot


class Biped(FloatingRobot):
    """Stand after a push: the base starts with a horizontal velocity of up to `push` (m/s) in any direction.

    Observed (39): down in body axes (3), base velocity and angular velocity in body axes (6; m/s, rad/s), joint
    positions from the start posture (10; rad), joint velocities (10; rad/s), the last action (10). 50 actions a second.
    Reward: exp(-2 |v_xy|²) while it stands, - 0.01 |action|²; the episode ends with a fall.
    """

    def __init__(self, push=0.6, frame_skip=10, **stepping):
        super().__init__("biped", 400.0, 10.0, frame_skip, stepping)  # the scene's own hold
        self.push = number("push", push, least=0.0)

    def start(self, random):
        q, v = self.start_with(random, 0.02)
        angle, speed = random.uniform(0.0, 2 * np.pi), random.uniform(0.0, self.push)
        v[:2] = speed * np.cos(angle), speed * np.sin(angle)
        return q, v, ()

    def reward(self, batch, goals, before, actions):
        drift = np.vecdot(batch.v[..., :2], batch.v[..., :2])
        effort = 0.01 * np.vecdot(actions, actions)
        down = self.fallen(batch, np.pi / 3, 0.5)
        still = ~down * np.exp(-2.0 * drift)
        return still - effort, down, {"reward_still": still, "reward_action": -effort}
