"""Velocity tracking: the quadruped that comes with stiction follows the velocity that it is told."""

from __future__ import annotations

import numpy as np

from .arguments import interval
from .env import column
from .robot_task import FloatingRobot


class Quadruped(FloatingRobot):
    """Follow (v_x, v_y, yaw rate), drawn at the start and held; body axes.

    Observed (48): down in body axes (3), base velocity and angular velocity in body axes (6; m/s, rad/s), what is
    asked for (3), joint positions from the start posture (12; rad), joint velocities (12; rad/s), the last action
    (12). 50 actions a second.
    Reward: exp(-|v_xy - asked|²/0.02) + exp(-(yaw rate - asked)²/0.2)/2 - 0.005 |action|²; the episode ends with a
    fall. forward, sideways (m/s) and yaw (rad/s): ranges that velocities are drawn from.
    """

    goal_size = 3

    def __init__(self, forward=(0.0, 0.3), sideways=(-0.1, 0.1), yaw=(-0.5, 0.5), frame_skip=20, **stepping):
        super().__init__("quadruped", 20.0, 0.3, frame_skip, stepping)  # the scene's own hold
        ranges = {"forward": forward, "sideways": sideways, "yaw": yaw}
        self.lowest, self.highest = np.array([interval(*given) for given in ranges.items()]).T

    def start(self, random):
        return *self.start_with(random, 0.05), random.uniform(self.lowest, self.highest)

    def reward(self, batch, goals, before, actions):
        off = batch.v[..., :2] - goals[..., :2]
        along = np.exp(-np.vecdot(off, off) / 0.02)
        turn_off = column(batch.v, 5) - column(goals, 2)
        turning = 0.5 * np.exp(-(turn_off * turn_off) / 0.2)
        effort = 0.005 * np.vecdot(actions, actions)
        info = {"reward_velocity": along, "reward_yaw": turning, "reward_action": -effort}
        return along + turning - effort, self.fallen(batch, np.pi / 3, 0.06), info
