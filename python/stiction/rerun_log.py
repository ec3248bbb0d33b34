"""Trajectories as Rerun recordings (rerun.io), for its viewer: `stiction convert RUN.npz RUN.rrd`, `rerun RUN.rrd`.

entity                     what                                            at
world/bodies/BODY          pose of a body                                  every state
world/bodies/BODY/SHAPE    a collision shape in the frame of its body      all times
world/contacts             points, coloured open, stick, slip              every state
world/forces               arrows of the forces on the first bodies        every state
world/center_of_mass       a point                                         every state
world/targets              points meant and reached, where there are any   every state
plots/CHART/CURVE          what `stiction view` plots, one number          every state

One time-line, `time`, is the run's own clock (s). Arrows and grounds are as large as in `stiction view`. A recording is
for looking at: numbers of contacts are of single precision there, and it is not read again. A recording's id is a hash
of its run: two of them in one viewer stay apart.
"""

from __future__ import annotations

import hashlib
import typing

import numpy as np

from .frames import charts_of
from .sizes import Sizes
from .trajectory import apart

if typing.TYPE_CHECKING:
    from .trajectory import Trajectory

COLORS = np.array(((150, 150, 150), (40, 140, 60), (220, 120, 30)), dtype=np.uint8)  # of CONTACT_MODES
CUT = (196, 0, 110)  # of arrows that are longer than the longest
MEANT, REACHED = (60, 90, 200), (200, 60, 60)


def write(path: str, trajectory: Trajectory) -> None:
    """Raises ModuleNotFoundError without rerun-sdk, OSError where the file cannot be written."""
    import rerun

    parts = (*trajectory.body_names, trajectory.time, trajectory.q, trajectory.v, trajectory.contact_forces)
    run = hashlib.sha256(b"".join(repr(part).encode() if isinstance(part, str) else part.tobytes() for part in parts))
    recording = rerun.RecordingStream("stiction", recording_id=run.hexdigest()[:32], send_properties=False)
    memory = recording.memory_recording()  # Rerun's own writer of files may wait for ever where a disk is full
    recording.log("world", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    names, sizes = [entity("world/bodies", name) for name in apart(trajectory.body_names)], Sizes.of(trajectory)
    clock = rerun.TimeColumn("time", duration=trajectory.time)

    def send(name, columns):
        rerun.send_columns(name, [clock], columns, recording=recording)

    for k, name in enumerate(names):
        poses = trajectory.body_poses[:, k]
        send(name, rerun.Transform3D.columns(translation=poses[:, :3], quaternion=poses[:, 3:]))
    for i, shape in enumerate(trajectory.shapes):
        name = entity(names[shape.body], f"{i}_{shape.name}")
        for part in drawn(rerun, shape, sizes.ground):
            recording.log(name, part, static=True)
    send_contacts(rerun, send, trajectory, sizes)
    send("world/center_of_mass", rerun.Points3D.columns(positions=trajectory.center_of_mass))
    for chart in charts_of(trajectory):
        for curve, values in zip(chart.names, chart.values.T, strict=True):
            send(entity(entity("plots", chart.title), curve), rerun.Scalars.columns(scalars=values))
    with open(path, "wb") as file:
        file.write(memory.drain_as_bytes())


def entity(parent, name):
    """A child's path, each name its own."""
    from rerun import escape_entity_path_part

    return parent + "/" + escape_entity_path_part(name)


def send_contacts(rerun, send, trajectory, sizes):
    counts = np.diff(trajectory.contact_offsets)
    colors = COLORS[trajectory.contact_modes]
    points = rerun.Points3D.columns(positions=trajectory.contact_points, colors=colors)
    send("world/contacts", points.partition(counts))
    vectors, _, cut = sizes.arrows(trajectory.contact_forces)
    colors = np.where(cut[:, None], np.array(CUT, np.uint8), colors)
    radii = np.full(len(vectors), sizes.shaft_radius)
    arrows = rerun.Arrows3D.columns(vectors=vectors, origins=trajectory.contact_points, colors=colors, radii=radii)
    send("world/forces", arrows.partition(counts))
    states, targets = trajectory.targets.shape[:2]
    if targets:
        both = np.concatenate((trajectory.targets, trajectory.reached), axis=1).reshape(-1, 3)
        paint = np.tile(np.repeat((MEANT, REACHED), targets, axis=0), (states, 1)).astype(np.uint8)
        columns = rerun.Points3D.columns(positions=both, colors=paint)
        send("world/targets", columns.partition(np.full(states, 2 * targets)))


def drawn(rerun, shape, ground):
    """A shape in its body's frame, as Rerun's components; an infinite plane is a square of this side (m)."""
    place, turn = [shape.placement[:3]], [shape.placement[3:]]
    radius, length = shape.size[:2]
    if shape.kind == "sphere":
        return [rerun.Ellipsoids3D(centers=place, quaternions=turn, radii=[radius])]
    if shape.kind == "box":
        return [rerun.Boxes3D(centers=place, quaternions=turn, sizes=[shape.size])]
    if shape.kind == "plane":
        return [rerun.Boxes3D(centers=place, quaternions=turn, sizes=[[ground, ground, 0.0]])]
    if shape.kind == "cylinder":
        return [rerun.Cylinders3D(centers=place, quaternions=turn, lengths=[length], radii=[radius])]
    if shape.kind == "capsule":
        # Rerun's begins at the centre of its lower cap, ours lies about its middle.
        x, y, z, w = shape.placement[3:]
        axis = np.array((2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)))
        start = [shape.placement[:3] - 0.5 * length * axis]
        return [rerun.Capsules3D(translations=start, quaternions=turn, lengths=[length], radii=[radius])]
    pose = rerun.InstancePoses3D(translations=place, quaternions=turn)
    return [rerun.Mesh3D(vertex_positions=shape.vertices, triangle_indices=shape.faces), pose]
