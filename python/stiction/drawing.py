"""Where and in which unit a run is drawn. Browsers draw in single precision, and viser's camera sees from a centimetre
to a kilometre: what is smaller, larger or far away is drawn in another unit of length or from another origin.
"""

from __future__ import annotations

import dataclasses
import math
import typing

import numpy as np

from .trajectory import RecordedShape, Trajectory

if typing.TYPE_CHECKING:
    from .visuals import VisualShape, VisualTendon

STEP = 100.0  # units between origins: what is 0.03 units large, the smallest drawn, has its place to 1e-4 of that


@dataclasses.dataclass(frozen=True)
class Drawing:
    """Lengths and places as they are drawn. origin (3,): of the drawing (m); unit: of its lengths (m)."""

    origin: np.ndarray
    unit: float

    @classmethod
    def of(cls, middle: np.ndarray, size: float) -> Drawing:
        """For what is around a point and this large (m): in metres from the world's origin if that draws it well."""
        unit = 1000.0 ** round(math.log(size, 1000.0))
        return cls(STEP * unit * np.round(np.asarray(middle) / (STEP * unit)), unit)

    @property
    def plain(self) -> bool:
        """Whether things are drawn where they are, in metres."""
        return self.unit == 1.0 and not self.origin.any()

    def places(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) of the world."""
        return (points - self.origin) / self.unit

    def poses(self, poses: np.ndarray) -> np.ndarray:
        """Poses (..., 7) in the world, position and quaternion."""
        return np.concatenate([self.places(poses[..., :3]), poses[..., 3:]], axis=-1)

    def run(self, run: Trajectory) -> Trajectory:
        """A run whose bodies, contacts, targets and centre of mass are those drawn; all else is as it was."""
        if self.plain:
            return run
        places = ("center_of_mass", "contact_points", "targets", "reached")
        moved = {name: self.places(getattr(run, name)) for name in places}
        shapes = [self.shape(shape) for shape in run.shapes]
        return dataclasses.replace(run, body_poses=self.poses(run.body_poses), shapes=shapes, **moved)

    def shape(self, shape: RecordedShape) -> RecordedShape:
        """A shape of a body, or what the body looks like there."""
        placement = np.concatenate([shape.placement[:3] / self.unit, shape.placement[3:]])
        scaled = {"size": np.asarray(shape.size) / self.unit, "vertices": shape.vertices / self.unit}
        if (surface := getattr(shape, "surface", None)) is not None:
            scaled["surface"] = surface.copy().apply_scale(1.0 / self.unit)
        return dataclasses.replace(shape, placement=placement, **scaled)

    def visual(self, visual: VisualShape | VisualTendon) -> VisualShape | VisualTendon:
        if self.unit == 1.0:
            return visual
        if isinstance(visual, RecordedShape):
            return self.shape(visual)
        return dataclasses.replace(visual, points=visual.points / self.unit)
