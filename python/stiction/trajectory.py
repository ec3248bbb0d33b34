"""Runs with all that happened in them, to and from files: what `stiction simulate --record` writes, `stiction view`
shows and `stiction convert` turns into another format.

.npz: arrays by the names of `Trajectory`, as numpy.savez_compressed writes them. .mcap: a log of the same numbers, to
the bit, that robotics viewers open (mcap_log.py). .rrd: a recording for the viewer of Rerun (rerun_log.py).
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import tempfile
import typing
import zipfile

import numpy as np

from . import command
from ._core import FileError, Simulation, Stepper, _require_writable

FORMAT, VERSION = "stiction trajectory", 6.0
OLDER = (3.0, 4.0, 5.0)  # that are still read: without certificate, without drive_tau, without how the run ended
WHOLE = ("", "solved", "acceptable")  # status of a run that is not known to have ended before its duration was over
CONTACT_MODES = ("open", "stick", "slip")
RUN_TEXTS, RUN_NUMBERS = ("status", "refused", "law", "scheme"), ("dt", "tolerance")  # of the whole run
STAGES = ("update", "detect", "assemble", "solve", "project", "integrate")
WRITTEN = (".npz", ".mcap", ".rrd")  # endings
KINDS = ("sphere", "box", "capsule", "cylinder", "plane", "mesh")


class EqualByNumbers:
    """Dataclasses are compared field by field as tuples, which arrays refuse."""

    __hash__ = None

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in dataclasses.fields(self))
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)


@dataclasses.dataclass(frozen=True, eq=False)
class RecordedShape(EqualByNumbers):
    """A collision shape, fixed to a body.

    body: index of the body. placement (7,): shape frame in the body's, position and quaternion x y z w.
    size (3,) m: of a sphere its radius, of a box its edge lengths, of a capsule or cylinder (axis z) radius and length
    of the cylindrical part. vertices (n, 3) m and faces (m, 3): of a mesh.
    """

    name: str
    kind: str
    body: int
    placement: np.ndarray
    size: np.ndarray
    vertices: np.ndarray
    faces: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Trajectory(EqualByNumbers):
    """A run of k states, b bodies and c contacts in all, in SI units and world axes; equal to one of the same numbers.

    time (k,); q (k, nq) and v (k, nv), whose coordinates have the names q_names and v_names.
    Of the step that led to a state, zero for the first: tau (k, nv) applied and tau_desired (k, nv), before limits cut
    them, and drive_tau (k, nv), of drives beside tau (files before version 5: zero); residual (k,), worst scaled one,
    and certificate (k, p), the worst of each of its parts certificate_names, of which files of version 3 have none;
    penetration (k,), deepest before the step; iterations (k,) of the solver;
    sub_steps (k,); at_acceptable (k,), 1 where the tolerance was missed; saturated (k,), torques cut; seconds (k, 6),
    wall time of STAGES.
    body_names (b,), each its own: "robot/name" where others have the name too; body_mass (b,), 0 of static bodies;
    body_poses (k, b, 7): position and quaternion x y z w; center_of_mass (k, 3) of all that moves.
    The contacts of state i are those from contact_offsets[i] to contact_offsets[i + 1], of the step that led to it:
    contact_points (c, 3); contact_frames (c, 3, 3), columns the normal and two tangents; contact_impulses (c, 3) in
    that frame; contact_forces (c, 3), the mean over the step, on the first body of
    contact_bodies (c, 2); contact_gaps (c,), before the step; contact_mu (c,), friction, may be
    infinite; contact_modes (c,), indices of CONTACT_MODES.
    What the program that drove the run says of each step: signals (k, s), whose signal_names end with their unit;
    targets (k, t, 3) and reached (k, t, 3), where the points target_names were meant to be and where they were at the
    start of the step.
    How the run ended and what it was stepped with; what a file from before version 6 does not tell is "" or None:
    status: "solved", every step met the tolerance; "acceptable", some met acceptable alone; otherwise the run ended
    before its duration was over, with the status of the step that was refused, "interrupted" by a signal, or, of a
    trot, "fell". refused: what that step was refused for, as StepReport.refused, "" where none was. law and scheme: of
    the run, whose contacts may have laws of their own; dt: its step (s); tolerance: the scaled residual that steps
    aimed at; gravity (3,) m/s².
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    q_names: list[str]
    v_names: list[str]
    tau: np.ndarray
    tau_desired: np.ndarray
    drive_tau: np.ndarray
    residual: np.ndarray
    certificate_names: list[str]
    certificate: np.ndarray
    penetration: np.ndarray
    iterations: np.ndarray
    sub_steps: np.ndarray
    at_acceptable: np.ndarray
    saturated: np.ndarray
    seconds: np.ndarray
    body_names: list[str]
    body_mass: np.ndarray
    body_poses: np.ndarray
    center_of_mass: np.ndarray
    contact_offsets: np.ndarray
    contact_points: np.ndarray
    contact_frames: np.ndarray
    contact_impulses: np.ndarray
    contact_forces: np.ndarray
    contact_bodies: np.ndarray
    contact_gaps: np.ndarray
    contact_mu: np.ndarray
    contact_modes: np.ndarray
    signal_names: list[str]
    signals: np.ndarray
    target_names: list[str]
    targets: np.ndarray
    reached: np.ndarray
    shapes: list[RecordedShape]
    status: str = ""
    refused: str = ""
    law: str = ""
    scheme: str = ""
    dt: float | None = None
    tolerance: float | None = None
    gravity: np.ndarray | None = None

    @classmethod
    def load(cls, path: str | os.PathLike) -> Trajectory:
        """Reads .npz or .mcap; FileError names the file and the array that is not as it should be; time grows."""
        path = os.fspath(path)
        suffix = pathlib.Path(path).suffix
        if suffix == ".rrd":
            raise FileError(f"{path}: expected .npz or .mcap: a recording for Rerun (.rrd) is not read again")
        if suffix == ".mcap":
            from . import mcap_log

            return _Reader(path, mcap_log.read(path)).trajectory()
        return _Reader(path, _read_npz(path)).trajectory()

    def save(self, path: str | os.PathLike) -> None:
        """Writes .npz, .mcap or, to be looked at, .rrd, as the name ends; FileError when it cannot be written.

        A file that is there is replaced when all is written: what ends before leaves it as it was.
        """
        path = os.fspath(path)
        suffix = pathlib.Path(path).suffix
        require_written("path", path)
        _require_writable(path)  # before anything is made: what writes .rrd speaks of its own
        try:
            with command.replacing(path) as beside:
                if suffix == ".mcap":
                    from . import mcap_log

                    mcap_log.write(beside, self)
                elif suffix == ".rrd":
                    from . import rerun_log

                    rerun_log.write(beside, self)
                else:
                    np.savez_compressed(beside, **self.arrays())
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror}") from None

    def contacts(self, state: int) -> slice:
        """The contacts of the step that led to a state."""
        return slice(int(self.contact_offsets[state]), int(self.contact_offsets[state + 1]))

    def early_end(self) -> str:
        """When and why the run ended before its duration was over, as "1.11 s: numerical_error"; "": not known to."""
        if self.status in WHOLE:
            return ""
        why = f" ({self.refused})" if self.refused else ""
        return f"{self.time[-1]:.6g} s: {self.status}{why}"

    def worst_parts(self) -> list[str]:
        """The name of the part of the certificate that was the worst, state by state; "" where that is not recorded."""
        if not self.certificate_names:
            return [""] * len(self.time)
        return [
            self.certificate_names[k] if residual > 0.0 else ""
            for k, residual in zip(self.certificate.argmax(axis=1), self.residual, strict=True)
        ]

    def replay(self, stepper: Stepper) -> int | None:
        """Steps again from the first state under the torques applied; the first state that is not the same bit for bit.

        stepper: of the same world and options, its effort limits off or the same. None: the run is reproduced whole.
        """
        stepper.reset(q=self.q[0], v=self.v[0], time=float(self.time[0]))
        for i in range(1, len(self.time)):
            taken = stepper.step(self.tau[i]).accepted
            if not (taken and np.array_equal(stepper.q, self.q[i]) and np.array_equal(stepper.v, self.v[i])):
                return i
        return None

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays by name, as the file has them."""
        out = {"format": np.array([FORMAT]), "version": np.array(VERSION)}
        for field in dataclasses.fields(self):
            if field.name != "shapes":
                value = getattr(self, field.name)
                out[field.name] = np.array(value, str) if isinstance(value, list) else value
        out |= {key: np.array([getattr(self, key)], str) for key in RUN_TEXTS}
        numbers = {key: getattr(self, key) for key in RUN_NUMBERS}
        out |= {key: np.array(np.nan if value is None else value, float) for key, value in numbers.items()}
        out["gravity"] = np.full(3, np.nan) if self.gravity is None else self.gravity
        out["contact_frames"] = self.contact_frames.reshape(-1, 9)
        for key in ("targets", "reached"):
            out[key] = getattr(self, key).reshape(len(self.time), -1)
        vertex_offsets, face_offsets = (
            np.cumsum([0, *(len(getattr(s, name)) for s in self.shapes)]) for name in ("vertices", "faces")
        )
        return out | {
            "shape_names": np.array([s.name for s in self.shapes], str),
            "shape_kinds": np.array([s.kind for s in self.shapes], str),
            "shape_bodies": np.array([s.body for s in self.shapes], int),
            "shape_placements": np.reshape([s.placement for s in self.shapes], (-1, 7)).astype(float),
            "shape_sizes": np.reshape([s.size for s in self.shapes], (-1, 3)).astype(float),
            "mesh_vertex_offsets": vertex_offsets,
            "mesh_vertices": np.concatenate([np.empty((0, 3)), *(s.vertices for s in self.shapes)]),
            "mesh_face_offsets": face_offsets,
            "mesh_faces": np.concatenate([np.empty((0, 3), int), *(s.faces for s in self.shapes)]),
        }


def apart(names: typing.Iterable[str], *taken: str) -> list[str]:
    """The names, with _ behind one that is taken or, as in older files, was there before."""
    out, seen = [], set(taken)
    for name in names:
        while name in seen:
            name += "_"
        out.append(name)
        seen.add(name)
    return out


def require_written(argument: str, path: str) -> None:
    """Refuses a file that `Trajectory.save` would not write, by the name of the argument."""
    if pathlib.Path(path).suffix not in WRITTEN:
        *others, last = WRITTEN
        raise ValueError(f"{argument}: expected a name that ends in {', '.join(others)} or {last}, got {path!r}")


def of_simulation(run: Simulation) -> Trajectory:
    """What `stiction.simulate` returned, as it would be read from its file."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "run.npz")
        run.save(file)
        return Trajectory.load(file)


def _read_npz(path: str) -> dict[str, np.ndarray]:
    try:
        with open(path, "rb") as file:
            if not zipfile.is_zipfile(file):
                raise FileError(f"{path}: not a trajectory (.npz): no zip archive")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
    except FileError:
        raise
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except PermissionError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except Exception as error:  # NumPy's and zipfile's readers raise many kinds
        raise FileError(f"{path}: not a trajectory (.npz): {error}") from None


class _Reader:
    def __init__(self, path: str, arrays: dict[str, np.ndarray]) -> None:
        self.path = path
        self.arrays = arrays

    def fail(self, key: str, reason: str) -> None:
        raise FileError(f"{self.path}: {key}: {reason}")

    def get(self, key: str, *shape: int | None, kind: str = "f", bounded: bool = True) -> np.ndarray:
        """The array of this shape (None: any extent) and kind of number; finite unless it may be unbounded."""
        if key not in self.arrays:
            self.fail(key, "this array is missing")
        array = self.arrays[key]
        if array.dtype.kind != kind:
            self.fail(key, f"expected numbers of kind {kind!r}, got {array.dtype}")
        if array.ndim != len(shape) or any(
            want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
        ):
            wanted = tuple("any" if extent is None else extent for extent in shape)
            self.fail(key, f"expected shape {wanted}, got {array.shape}")
        if kind == "f" and not (np.isfinite(array).all() if bounded else (array >= 0.0).all()):
            self.fail(key, f"expected {'finite numbers' if bounded else 'numbers >= 0'}")
        return array

    def offsets(self, key: str, count: int, end: int) -> np.ndarray:
        offsets = self.get(key, count + 1, kind="i")
        if offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
            self.fail(key, f"expected ascending numbers from 0 to {end}")
        return offsets

    def indices(self, key: str, *shape: int | None, end: int) -> np.ndarray:
        array = self.get(key, *shape, kind="i")
        if array.size and not (array.min() >= 0 and array.max() < end):
            self.fail(key, f"expected indices in [0, {end})")
        return array

    def trajectory(self) -> Trajectory:
        if self.arrays.get("format", np.array("")).tolist() != [FORMAT]:
            self.fail("format", f"expected {FORMAT!r}, as stiction simulate --record writes it")
        version = self.get("version").item()
        if version not in (*OLDER, VERSION):
            self.fail("version", f"this program reads versions {OLDER[0]:g} to {VERSION:g}, the file has {version:g}")
        time = self.get("time", None)
        names, q_names, v_names, signals, targets = (
            self.get(key, None, kind="U").tolist()
            for key in ("body_names", "q_names", "v_names", "signal_names", "target_names")
        )
        states, bodies, nv = len(time), len(names), len(v_names)
        if version < 4.0:
            self.arrays |= {"certificate_names": np.empty(0, str), "certificate": np.empty((states, 0))}
        if version < 5.0:
            self.arrays["drive_tau"] = np.zeros((states, nv))
        if version < 6.0:
            self.arrays |= {key: np.array([""]) for key in RUN_TEXTS}
            self.arrays |= {key: np.array(np.nan) for key in RUN_NUMBERS} | {"gravity": np.full(3, np.nan)}
        parts = self.get("certificate_names", None, kind="U").tolist()
        if states == 0:
            self.fail("time", "expected at least one state")
        for i in np.flatnonzero(np.diff(time) <= 0.0)[:1] + 1:
            self.fail(f"time[{i}]", f"expected a time after time[{i - 1}] = {time[i - 1]}, got {time[i]}")
        points = self.get("contact_points", None, 3)
        contacts = len(points)
        return Trajectory(
            time=time,
            q=self.get("q", states, len(q_names)),
            v=self.get("v", states, nv),
            q_names=q_names,
            v_names=v_names,
            tau=self.get("tau", states, nv),
            tau_desired=self.get("tau_desired", states, nv),
            drive_tau=self.get("drive_tau", states, nv),
            residual=self.get("residual", states),
            certificate_names=parts,
            certificate=self.get("certificate", states, len(parts)),
            penetration=self.get("penetration", states),
            iterations=self.get("iterations", states, kind="i"),
            sub_steps=self.get("sub_steps", states, kind="i"),
            at_acceptable=self.get("at_acceptable", states, kind="i"),
            saturated=self.get("saturated", states, kind="i"),
            seconds=self.get("seconds", states, len(STAGES)),
            body_names=names,
            body_mass=self.get("body_mass", bodies),
            body_poses=self.get("body_poses", states, bodies, 7),
            center_of_mass=self.get("center_of_mass", states, 3),
            contact_offsets=self.offsets("contact_offsets", states, contacts),
            contact_points=points,
            contact_frames=self.get("contact_frames", contacts, 9).reshape(contacts, 3, 3),
            contact_impulses=self.get("contact_impulses", contacts, 3),
            contact_forces=self.get("contact_forces", contacts, 3),
            contact_bodies=self.indices("contact_bodies", contacts, 2, end=bodies),
            contact_gaps=self.get("contact_gaps", contacts),
            contact_mu=self.get("contact_mu", contacts, bounded=False),
            contact_modes=self.indices("contact_modes", contacts, end=len(CONTACT_MODES)),
            signal_names=signals,
            signals=self.get("signals", states, len(signals)),
            target_names=targets,
            targets=self.get("targets", states, 3 * len(targets)).reshape(states, len(targets), 3),
            reached=self.get("reached", states, 3 * len(targets)).reshape(states, len(targets), 3),
            shapes=self.shapes(bodies),
            **{key: self.get(key, 1, kind="U")[0].item() for key in RUN_TEXTS},
            **{key: None if (value := self.known(key)) is None else value.item() for key in RUN_NUMBERS},
            gravity=self.known("gravity", 3),
        )

    def known(self, key: str, *shape: int) -> np.ndarray | None:
        """Finite numbers; None where they are none, which stands for what nobody said."""
        array = self.arrays.get(key, np.array(""))
        if array.dtype.kind == "f" and array.shape == shape and np.isnan(array).all():
            return None
        return self.get(key, *shape)

    def shapes(self, bodies: int) -> list[RecordedShape]:
        names = self.get("shape_names", None, kind="U").tolist()
        count = len(names)
        kinds = self.get("shape_kinds", count, kind="U").tolist()
        body = self.indices("shape_bodies", count, end=bodies)
        placements, sizes = self.get("shape_placements", count, 7), self.get("shape_sizes", count, 3)
        vertices, faces = self.get("mesh_vertices", None, 3), self.get("mesh_faces", None, 3, kind="i")
        vertex, face = (
            self.offsets("mesh_vertex_offsets", count, len(vertices)),
            self.offsets("mesh_face_offsets", count, len(faces)),
        )
        out = []
        for i, kind in enumerate(kinds):
            if kind not in KINDS:
                self.fail("shape_kinds", f"expected some of {', '.join(KINDS)}, got {kind!r}")
            points, triangles = vertices[vertex[i] : vertex[i + 1]], faces[face[i] : face[i + 1]]
            if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(points)):
                self.fail("mesh_faces", f"expected indices of the {len(points)} vertices of shape {i}")
            out.append(RecordedShape(names[i], kind, int(body[i]), placements[i], sizes[i], points, triangles))
        return out
