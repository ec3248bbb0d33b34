"""Trajectories as MCAP logs (mcap.dev), JSON messages that robotics viewers open and any language reads.

topic      schema                    a message for
/tf        foxglove.FrameTransforms  every state: poses of all bodies in the frame "world"
/scene     foxglove.SceneUpdate      the first state: shapes in the frames of their bodies; every state: forces
/state     stiction.State            every state: time, q, v
/step      stiction.Step             every step: torques, residual, iterations, seconds of its stages, ...
/contacts  stiction.Contacts         every step: points, frames, impulses, forces, modes, ...
/model     stiction.Model            the first state: names, masses, shapes with their meshes, how the run ended and
                                     what it was stepped with

/scene repeats what the others say, for viewers; `read` leaves it. Numbers are written with all their digits, so that a
log read again is the trajectory to the bit. Times of messages are those of the run in nanoseconds from 0. Arrows and
grounds are as large as in `stiction view`. Frames have the names of their bodies, but a body "world" has the frame
"world_".
"""

from __future__ import annotations

import json
import struct
import typing

import numpy as np

from ._core import FileError
from .sizes import Sizes
from .trajectory import RUN_NUMBERS, RUN_TEXTS, apart

if typing.TYPE_CHECKING:
    from .trajectory import Trajectory

STEP_KEYS = (
    "tau",
    "tau_desired",
    "drive_tau",
    "residual",
    "certificate",
    "penetration",
    "iterations",
    "sub_steps",
    "at_acceptable",
    "saturated",
    "seconds",
    "center_of_mass",
    "signals",
    "targets",
    "reached",
)
CONTACT_KEYS = ("points", "frames", "impulses", "forces", "bodies", "gaps", "mu", "modes")
WIDTHS = {"points": 3, "frames": 9, "impulses": 3, "forces": 3, "bodies": 2}
INTEGERS = {"iterations", "sub_steps", "at_acceptable", "saturated", "bodies", "modes"}
WORLD = "world"  # the frame that all others are in

NUMBER, INTEGER, TEXT = {"type": "number"}, {"type": "integer"}, {"type": "string"}


def _array(items):
    return {"type": "array", "items": items}


def _object(**properties):
    return {"type": "object", "properties": properties}


VECTOR, QUATERNION = _object(x=NUMBER, y=NUMBER, z=NUMBER), _object(x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)
POSE, COLOR = _object(position=VECTOR, orientation=QUATERNION), _object(r=NUMBER, g=NUMBER, b=NUMBER, a=NUMBER)
STAMP = _object(sec=INTEGER, nsec=INTEGER)
ROWS = _array(_array(NUMBER))
SCHEMAS = {
    "/tf": (
        "foxglove.FrameTransforms",
        _object(
            transforms=_array(
                _object(
                    timestamp=STAMP, parent_frame_id=TEXT, child_frame_id=TEXT, translation=VECTOR, rotation=QUATERNION
                )
            )
        ),
    ),
    "/scene": (
        "foxglove.SceneUpdate",
        _object(
            deletions=_array(_object(timestamp=STAMP, type=INTEGER, id=TEXT)),
            entities=_array(
                _object(
                    timestamp=STAMP,
                    frame_id=TEXT,
                    id=TEXT,
                    lifetime=STAMP,
                    frame_locked={"type": "boolean"},
                    metadata=_array(_object(key=TEXT, value=TEXT)),
                    arrows=_array(
                        _object(
                            pose=POSE,
                            shaft_length=NUMBER,
                            shaft_diameter=NUMBER,
                            head_length=NUMBER,
                            head_diameter=NUMBER,
                            color=COLOR,
                        )
                    ),
                    cubes=_array(_object(pose=POSE, size=VECTOR, color=COLOR)),
                    spheres=_array(_object(pose=POSE, size=VECTOR, color=COLOR)),
                    cylinders=_array(
                        _object(pose=POSE, size=VECTOR, bottom_scale=NUMBER, top_scale=NUMBER, color=COLOR)
                    ),
                    triangles=_array(
                        _object(
                            pose=POSE,
                            points=_array(VECTOR),
                            color=COLOR,
                            colors=_array(COLOR),
                            indices=_array(INTEGER),
                        )
                    ),
                )
            ),
        ),
    ),
    "/state": ("stiction.State", _object(time=NUMBER, q=_array(NUMBER), v=_array(NUMBER))),
    "/step": (
        "stiction.Step",
        _object(
            tau=_array(NUMBER),
            tau_desired=_array(NUMBER),
            drive_tau=_array(NUMBER),
            residual=NUMBER,
            certificate=_array(NUMBER),
            penetration=NUMBER,
            iterations=INTEGER,
            sub_steps=INTEGER,
            at_acceptable=INTEGER,
            saturated=INTEGER,
            seconds=_array(NUMBER),
            center_of_mass=_array(NUMBER),
            signals=_array(NUMBER),
            targets=_array(NUMBER),
            reached=_array(NUMBER),
        ),
    ),
    "/contacts": (
        "stiction.Contacts",
        _object(
            points=ROWS,
            frames=ROWS,
            impulses=ROWS,
            forces=ROWS,
            bodies=_array(_array(INTEGER)),
            gaps=_array(NUMBER),
            mu=_array({"type": ["number", "null"]}),
            modes=_array(INTEGER),
        ),
    ),
    "/model": ("stiction.Model", {"type": "object"}),
}
PRIMITIVES = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")
GREY, GREEN, ORANGE, MAGENTA = (
    {"r": r, "g": g, "b": b, "a": 1.0}
    for r, g, b in ((0.6, 0.6, 0.65), (0.1, 0.7, 0.2), (0.9, 0.5, 0.1), (0.77, 0.0, 0.43))
)


def _xyz(p):
    return {"x": p[0], "y": p[1], "z": p[2]}


def _pose(position, quaternion=(0.0, 0.0, 0.0, 1.0)):
    return {"position": _xyz(position), "orientation": dict(zip("xyzw", quaternion, strict=True))}


def _stamp(nanoseconds):
    return {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}


def _along(directions):
    """The shortest turns that bring x onto unit vectors (n, 3): quaternions x y z w (n, 4)."""
    x, y, z = directions.T
    q = np.stack([np.zeros(len(x)), -z, y, 1.0 + x], axis=1)
    q[x < -1 + 1e-12] = [0.0, 0.0, 1.0, 0.0]
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def _entity(identity, frame, stamp, **primitives):
    empty = {kind: [] for kind in ("metadata", *PRIMITIVES)}
    head = {
        "timestamp": stamp,
        "frame_id": frame,
        "id": identity,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": True,
    }
    return head | empty | primitives


def _shape_primitives(shape, ground):
    """A shape as the primitives that the well-known schema has; an infinite plane is a thin square of this side (m)."""
    pose = _pose(shape.placement[:3].tolist(), shape.placement[3:].tolist())
    size = shape.size.tolist()
    if shape.kind == "sphere":
        return {"spheres": [{"pose": pose, "size": _xyz([2 * size[0]] * 3), "color": GREY}]}
    if shape.kind == "box":
        return {"cubes": [{"pose": pose, "size": _xyz(size), "color": GREY}]}
    if shape.kind == "plane":
        return {"cubes": [{"pose": pose, "size": _xyz([ground, ground, 5e-5 * ground]), "color": GREY}]}
    if shape.kind in ("cylinder", "capsule"):
        radius, length = size[:2]
        ends = {"bottom_scale": 1.0, "top_scale": 1.0, "color": GREY}
        out = {"cylinders": [{"pose": pose, "size": _xyz([2 * radius, 2 * radius, length]), **ends}]}
        if shape.kind == "capsule":
            axis = _z_axis(shape.placement[3:])
            centres = [shape.placement[:3] + s * 0.5 * length * axis for s in (-1, 1)]
            out["spheres"] = [
                {"pose": _pose(c.tolist()), "size": _xyz([2 * radius] * 3), "color": GREY} for c in centres
            ]
        return out
    points = [_xyz(p) for p in shape.vertices.tolist()]
    indices = shape.faces.ravel().tolist()
    return {"triangles": [{"pose": pose, "points": points, "color": GREY, "colors": [], "indices": indices}]}


def _z_axis(quaternion):
    x, y, z, w = quaternion
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def _arrows(trajectory, at, sizes):
    arrows, shown, cut = sizes.arrows(trajectory.contact_forces[at])
    arrows = arrows[shown]
    lengths = np.linalg.norm(arrows, axis=1)
    rows = (trajectory.contact_points[at], trajectory.contact_modes[at], cut)
    rows = (_along(arrows / lengths[:, None]), lengths, *(row[shown] for row in rows))
    widths = {"shaft_diameter": 2.0 * sizes.shaft_radius, "head_diameter": 2.0 * sizes.head_radius}
    out = []
    for turn, length, point, mode, too_long in zip(*(row.tolist() for row in rows), strict=True):
        head = min(sizes.head_length, 0.5 * length)
        lengths_of = {"shaft_length": length - head, "head_length": head}
        color = MAGENTA if too_long else ORANGE if mode == 2 else GREEN
        out.append({"pose": _pose(point, turn), **lengths_of, **widths, "color": color})
    return out


def _model(trajectory, arrays):
    keys = [k for k in arrays if k.startswith(("shape_", "mesh_")) or k.endswith("_names") or k == "body_mass"]
    run = {key: None if np.isnan(arrays[key]).all() else arrays[key].tolist() for key in (*RUN_NUMBERS, "gravity")}
    return {key: arrays[key].tolist() for key in (*RUN_TEXTS, *keys)} | run  # null: JSON has no word for NaN


def _contacts(arrays, at):
    """Those of one step; infinite friction, which JSON has no word for, is null."""
    out = {key: arrays[f"contact_{key}"][at].tolist() for key in CONTACT_KEYS}
    return out | {"mu": [mu if mu < float("inf") else None for mu in out["mu"]]}


def write(path: str, trajectory: Trajectory) -> None:
    """Raises ModuleNotFoundError where the package mcap is not installed, OSError where the file cannot be written."""
    from mcap.writer import Writer

    arrays = trajectory.arrays()
    sizes, frames = Sizes.of(trajectory), apart(trajectory.body_names, WORLD)
    with open(path, "wb") as file:
        writer = Writer(file, enable_data_crcs=True)  # those of chunks leave out what is between them
        writer.start(profile="", library="stiction")
        writer.add_metadata("stiction", {"format": arrays["format"][0], "version": str(arrays["version"])})
        channels = {}
        for topic, (name, schema) in SCHEMAS.items():
            text = json.dumps({"title": name} | schema).encode()
            channels[topic] = writer.register_channel(topic, "json", writer.register_schema(name, "jsonschema", text))
        count = 0

        def put(topic, nanoseconds, message):
            nonlocal count
            data = json.dumps(message, allow_nan=False).encode()
            writer.add_message(channels[topic], nanoseconds, data, nanoseconds, count)
            count += 1

        for i, seconds in enumerate(trajectory.time.tolist()):
            now = max(0, round(1e9 * seconds))
            stamp = _stamp(now)
            if i == 0:
                put("/model", now, _model(trajectory, arrays))
                shapes = [
                    _entity(f"{k} {shape.name}", frames[shape.body], stamp, **_shape_primitives(shape, sizes.ground))
                    for k, shape in enumerate(trajectory.shapes)
                ]
                put("/scene", now, {"deletions": [], "entities": shapes})
            transforms = [
                {
                    "timestamp": stamp,
                    "parent_frame_id": WORLD,
                    "child_frame_id": name,
                    "translation": _xyz(pose[:3]),
                    "rotation": dict(zip("xyzw", pose[3:], strict=True)),
                }
                for name, pose in zip(frames, trajectory.body_poses[i].tolist(), strict=True)
            ]
            put("/tf", now, {"transforms": transforms})
            put("/state", now, {"time": seconds, "q": trajectory.q[i].tolist(), "v": trajectory.v[i].tolist()})
            put("/step", now, {key: arrays[key][i].tolist() for key in STEP_KEYS})
            at = trajectory.contacts(i)
            put("/contacts", now, _contacts(arrays, at))
            forces = _entity("contact forces", WORLD, stamp, arrows=_arrows(trajectory, at, sizes))
            put("/scene", now, {"deletions": [], "entities": [forces]})
        writer.finish()


def read(path: str) -> dict[str, np.ndarray]:
    """The arrays of a trajectory by name; FileError names the file and what is not as it should be, damage included."""
    from mcap.exceptions import EndOfFile, InvalidMagic
    from mcap.records import Channel, Message, Metadata
    from mcap.stream_reader import CRCValidationError, StreamReader

    messages: dict[str, list] = {topic: [] for topic in SCHEMAS if topic != "/scene"}
    topics: dict[int, str] = {}
    version = ""
    try:
        with open(path, "rb") as file:
            # From the first byte to the last: readers that seek look at no checksum but those of chunks.
            for record in StreamReader(file, validate_crcs=True).records:
                if isinstance(record, Channel):
                    topics[record.id] = record.topic
                elif isinstance(record, Metadata) and record.name == "stiction":
                    version = record.metadata["version"]
                elif isinstance(record, Message) and topics[record.channel_id] in messages:
                    messages[topics[record.channel_id]].append(json.loads(record.data))
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except PermissionError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except CRCValidationError as error:
        raise FileError(f"{path}: damaged: {error}") from None
    except (EndOfFile, InvalidMagic, struct.error):  # the last two where mcap reads beyond the end
        raise FileError(f"{path}: not a log (.mcap) of stiction: cut short, or no MCAP file at all") from None
    except Exception as error:  # mcap's readers raise many kinds
        raise FileError(f"{path}: not a log (.mcap) of stiction: {str(error) or type(error).__name__}") from None
    if not version:
        raise FileError(f"{path}: not a log of stiction: its metadata has no record 'stiction'")
    try:
        return _arrays(messages, float(version))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise FileError(f"{path}: a message is not as stiction writes it: {error!r}") from None


def _arrays(messages, version):
    (model,) = messages["/model"]
    states, steps, contacts = messages["/state"], messages["/step"], messages["/contacts"]
    nv = len(model["v_names"])
    out = {"format": np.array(["stiction trajectory"]), "version": np.array(version)}
    out["time"] = np.array([s["time"] for s in states], float)
    out["q"] = np.array([s["q"] for s in states], float).reshape(len(states), len(model["q_names"]))
    out["v"] = np.array([s["v"] for s in states], float).reshape(len(states), nv)
    for key in STEP_KEYS:
        if version < {"certificate": 4.0, "drive_tau": 5.0}.get(key, 0.0):
            continue  # which had none
        out[key] = np.array([s[key] for s in steps], np.int64 if key in INTEGERS else float)
    targets = 3 * len(model["target_names"])
    widths = {
        "tau": nv,
        "tau_desired": nv,
        "drive_tau": nv,
        "signals": len(model["signal_names"]),
        "targets": targets,
        "reached": targets,
    }
    for key in widths.keys() & out.keys():
        out[key] = out[key].reshape(len(steps), widths[key])
    for message in contacts:
        message["mu"] = [float("inf") if mu is None else mu for mu in message["mu"]]
    for key in CONTACT_KEYS:
        rows = [row for message in contacts for row in message[key]]
        kind = np.int64 if key in INTEGERS else float
        out[f"contact_{key}"] = np.array(rows, kind).reshape([len(rows), WIDTHS[key]] if key in WIDTHS else [len(rows)])
    out["contact_offsets"] = np.cumsum([0, *(len(message["gaps"]) for message in contacts)])
    out["body_poses"] = np.array(
        [
            [
                [*(t["translation"][k] for k in "xyz"), *(t["rotation"][k] for k in "xyzw")]
                for t in message["transforms"]
            ]
            for message in messages["/tf"]
        ],
        float,
    ).reshape(len(states), len(model["body_names"]), 7)
    for key, value in model.items():
        out[key] = _column(key, value)
    return out


def _column(key, value):
    if key == "shape_kinds" or key.endswith("_names") or key in RUN_TEXTS:
        return np.array(value, str)
    if value is None:  # a number of the run that nobody said
        return np.full(3, np.nan) if key == "gravity" else np.array(np.nan)
    widths = {"shape_placements": 7, "shape_sizes": 3, "mesh_vertices": 3, "mesh_faces": 3}
    whole = key in ("shape_bodies", "mesh_faces", "mesh_vertex_offsets", "mesh_face_offsets")
    array = np.array(value, np.int64 if whole else float)
    return array.reshape(-1, widths[key]) if key in widths else array
