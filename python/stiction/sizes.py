"""How large arrows of forces and grounds are drawn: by what moves, in the viewer and in logs for others."""

from __future__ import annotations

import dataclasses
import itertools
import math
import typing

import numpy as np

if typing.TYPE_CHECKING:
    from .trajectory import RecordedShape, Trajectory

EARTH = (0.0, 0.0, -9.81)  # m/s², the gravity of runs that do not say theirs
LONGEST_ARROW = 4.0  # in lengths of the arrow that stands for the whole weight; what is longer is cut
GROUND = 40.0  # sections: the side of the square that stands for an infinite plane
NOTHING = 1.0  # m: the size of a run that has no bodies to show


def round_number(value: float) -> float:
    """The number 1, 2 or 5 times a power of ten nearest below."""
    power = 10.0 ** math.floor(math.log10(value))
    return max(digit for digit in (1, 2, 5) if digit * power <= value * (1 + 1e-9)) * power


def rotate(quaternion: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (..., 3) turned by a quaternion x y z w."""
    u, w = quaternion[:3], quaternion[3]
    cross = 2.0 * np.cross(u, points)
    return points + w * cross + np.cross(u, cross)


def corners_of(shape: RecordedShape) -> np.ndarray:
    """Of the box around a shape other than a plane, in its body's frame (8, 3)."""
    if shape.kind == "mesh":
        low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    else:
        radius, length = shape.size[:2]
        reach = {
            "sphere": (radius, radius, radius),
            "box": 0.5 * shape.size,
            "cylinder": (radius, radius, 0.5 * length),
            "capsule": (radius, radius, 0.5 * length + radius),
        }
        high = np.asarray(reach[shape.kind])
        low = -high
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    return shape.placement[:3] + rotate(shape.placement[3:], corners)


def bounds_of(trajectory: Trajectory, states: typing.Iterable[int] = (-1,)) -> np.ndarray:
    """Lower and upper corner of what moves, of the fixed bodies where nothing does, in states of the run (2, 3)."""
    moving = trajectory.body_mass > 0.0
    points = [np.zeros((0, 3))]
    for shape in trajectory.shapes:
        if shape.kind == "plane" or (moving.any() and not moving[shape.body]):
            continue
        corners = corners_of(shape)
        points += [pose[:3] + rotate(pose[3:], corners) for pose in trajectory.body_poses[list(states), shape.body]]
    found = np.concatenate(points)
    return np.stack([found.min(axis=0), found.max(axis=0)]) if len(found) else np.zeros((2, 3))


def weight_of(trajectory: Trajectory) -> float:
    """Of all that moves, under the run's gravity (N)."""
    gravity = trajectory.gravity
    return float(np.linalg.norm(EARTH if gravity is None else gravity) * trajectory.body_mass.sum())


def arrow_force(trajectory: Trajectory) -> float:
    """What an arrow about as long as what moves stands for (N): the weight; in weightlessness the largest contact
    force, and where there is none yet, as in a live view, the weight on the earth."""
    largest = np.linalg.norm(trajectory.contact_forces, axis=1).max(initial=0.0)
    return weight_of(trajectory) or float(largest) or float(np.linalg.norm(EARTH) * trajectory.body_mass.sum())


@dataclasses.dataclass(frozen=True)
class Sizes:
    """size: of what moves, at the end (m); force: of an arrow about as long (N); weighs: that is the weight. All else
    follows."""

    size: float
    force: float
    weighs: bool

    @classmethod
    def of(cls, trajectory: Trajectory) -> Sizes:
        size = float(np.ptp(bounds_of(trajectory), axis=0).max()) or NOTHING
        return cls(size, arrow_force(trajectory), weight_of(trajectory) > 0.0)

    @property
    def section(self) -> float:
        """Between the stronger lines of a ground (m)."""
        return round_number(self.size)

    @property
    def ground(self) -> float:
        """Side of the square that stands for an infinite plane (m)."""
        return GROUND * self.section

    @property
    def newtons_per_metre(self) -> float:
        """Scale of the arrows."""
        return 1.0 / round_number(self.size / self.force) if self.force > 0.0 else 1.0

    @property
    def longest(self) -> float:
        """Force of the longest arrow (N)."""
        return LONGEST_ARROW * self.force

    @property
    def dot(self) -> float:
        """Radius of points that are marked (m)."""
        return 0.006 * self.size

    @property
    def shaft_radius(self) -> float:
        """Of an arrow (m)."""
        return 0.7 * self.dot

    @property
    def head_radius(self) -> float:
        """Of an arrow (m)."""
        return 1.8 * self.dot

    @property
    def head_length(self) -> float:
        """Of an arrow that is longer (m)."""
        return 4.5 * self.dot

    def arrows(self, forces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Arrows (n, 3) (m) of forces (n, 3) (N), which of them (n,) are to be seen, and which of them (n,) are cut."""
        norms = np.linalg.norm(forces, axis=1)
        shown, cut = norms > 1e-6 * self.longest, norms > self.longest
        shares = np.divide(self.longest, norms, out=np.ones_like(norms), where=cut)
        return forces * (shares / self.newtons_per_metre)[:, None], shown, cut
