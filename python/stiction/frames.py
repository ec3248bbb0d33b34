"""The numbers of a run as a page needs them: states to draw, and curves to plot beside them."""

from __future__ import annotations

import dataclasses

import numpy as np

from .sizes import arrow_force
from .trajectory import STAGES, Trajectory

STATES_BYTES = 6e6  # of a run's states, before compression: a page of two long runs stays below 15 MB
CURVE_POINTS = 1500  # pairs of least and largest value: more than a plot is wide in pixels
ROUNDING = 1e-16  # of scaled residuals, which are of the size 1: what is less says nothing, and 0 has no logarithm
PLACE = 1e-12  # m: what rounding leaves of places within kilometres
FORCE = 1e-9  # weights, and weights times a metre: below the tolerance that steps are solved to
SIMULATED, PREDICTED = "simulated", "predicted"  # names of curves
# Titles of plots.
FORCES, TORQUES = "Normal force, sum (N)", "Torque or force of joints (N m, N)"
RESIDUAL, PARTS = "Residual, scaled", "Residual, scaled, by part of the certificate"
TIMES = "Wall time per step (µs)"
COUNTS, PENETRATION, CENTER = "Contacts, iterations", "Deepest penetration (mm)", "Centre of mass (m)"


def states_of(trajectory: Trajectory, bodies: list[int], readings: int = 0) -> np.ndarray:
    """Indices of the states to keep: every one where they fit, else every n-th; the last one always.

    readings: numbers of curves that each state has beside what is drawn of it.
    """
    count = len(trajectory.time)
    contact = 4 * (3 + 3 + 3 + 1) + 1
    state = 28 * len(bodies) + 12 + 24 * len(trajectory.target_names) + 4 * readings
    size = count * state + contact * len(trajectory.contact_mu)
    stride = max(1, int(np.ceil(size / STATES_BYTES)))
    return np.unique(np.append(np.arange(0, count, stride), count - 1))


def drawn_states(trajectory: Trajectory, bodies: list[int], states: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays of the states: time (f,), poses (f, b, 7) with quaternion w x y z, contacts from offsets (f + 1,), ..."""
    ranges = [trajectory.contacts(i) for i in states]
    at = np.concatenate([np.arange(r.start, r.stop) for r in ranges]) if ranges else np.empty(0, int)
    poses = trajectory.body_poses[states][:, bodies][:, :, [0, 1, 2, 6, 3, 4, 5]]
    floats = {
        "poses": poses,
        "center": trajectory.center_of_mass[states],
        "points": trajectory.contact_points[at],
        "forces": trajectory.contact_forces[at],
        "normals": trajectory.contact_frames[at, :, 0],
        "mu": trajectory.contact_mu[at],
        "targets": trajectory.targets[states],
        "reached": trajectory.reached[states],
    }
    out = {key: array.astype(np.float32) for key, array in floats.items()}
    out["time"] = trajectory.time[states].astype(np.float64)  # states are found by it
    out["offsets"] = np.cumsum([0, *(r.stop - r.start for r in ranges)]).astype(np.uint32)
    out["modes"] = trajectory.contact_modes[at].astype(np.uint8)
    return out


@dataclasses.dataclass
class Chart:
    """Curves over one time axis. log: on a logarithmic axis, where figures draw what is less than `least` at it; on a
    linear one they draw what differs by less as a constant. shown: without being asked for. of_states: of each state,
    not of the step that led there."""

    title: str
    names: list[str]
    values: np.ndarray  # (k, curves)
    log: bool = False
    shown: bool = True
    least: float = 0.0
    of_states: bool = False

    @property
    def first(self) -> int:
        """The first state that has values: no step led to that of the start."""
        return 0 if self.of_states or len(self.values) < 2 else 1

    @property
    def thins(self) -> bool:
        """Whether there are more values than are drawn."""
        return len(self.values) - self.first > 2 * CURVE_POINTS

    def curves(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is drawn of it over the times (k,) of the states, thinned: times (f,), values (f, curves)."""
        return thinned(time[self.first :], self.values[self.first :])

    def readings(self, states: np.ndarray) -> np.ndarray:
        """Values (f, curves) of these states (f,), NaN where no step led to one."""
        return np.where(states[:, None] < self.first, np.nan, self.values[states])


def charts_of(trajectory: Trajectory) -> list[Chart]:
    """What there is to plot of a run, row by row of its states."""
    out = []
    predicted, simulated = (_signals(trajectory, f"force {kind} ") for kind in ("predicted", "simulated"))
    total, force = normal_force(trajectory)[:, None], FORCE * arrow_force(trajectory)
    if predicted and simulated and any(force.any() for force in predicted.values()):
        both = np.stack([sum(simulated.values()), sum(predicted.values())], axis=1)
        out.append(Chart(FORCES, [SIMULATED, PREDICTED], both, least=force))
        for foot in simulated:
            name = foot.removesuffix(" (N)")
            values = np.stack([simulated[foot], predicted[foot]], axis=1)
            out.append(Chart(f"Normal force, {name} (N)", [SIMULATED, PREDICTED], values, shown=False, least=force))
    else:
        out.append(Chart(FORCES, [SIMULATED], total, least=force))
    torques = trajectory.tau + trajectory.drive_tau
    driven = np.flatnonzero(np.abs(torques).max(axis=0) > 0.0)
    if len(driven):
        names = [trajectory.v_names[j] for j in driven]
        out.append(Chart(TORQUES, names, torques[:, driven], least=force))
    out.append(Chart(RESIDUAL, ["worst"], trajectory.residual[:, None], log=True, least=ROUNDING))
    if worst := set(trajectory.worst_parts()) - {""}:  # those that ever were
        chosen = [k for k, name in enumerate(trajectory.certificate_names) if name in worst]
        names = [trajectory.certificate_names[k] for k in chosen]
        out.append(Chart(PARTS, names, trajectory.certificate[:, chosen], True, False, ROUNDING))
    step = 1e6 * trajectory.seconds
    times = np.stack([step[:, STAGES.index("solve")], step.sum(axis=1)], axis=1)
    names = ["solver", "whole step"]
    if controller := _signals(trajectory, "controller"):
        times, names = np.column_stack([times, *controller.values()]), [*names, "controller"]
    out.append(Chart(TIMES, names, times, log=True))
    counts = np.stack([np.diff(trajectory.contact_offsets), trajectory.iterations], axis=1)
    out.append(Chart(COUNTS, ["contacts", "iterations"], counts.astype(float), shown=False))
    depth = 1e3 * trajectory.penetration[:, None]
    out.append(Chart(PENETRATION, ["deepest"], depth, shown=False, least=1e3 * PLACE))
    out.append(Chart(CENTER, ["x", "y", "z"], trajectory.center_of_mass, shown=False, least=PLACE, of_states=True))
    return out


def normal_force(trajectory: Trajectory) -> np.ndarray:
    """Sum of the normal contact forces of every state's step (k,) N."""
    normal = np.einsum("ci,ci->c", trajectory.contact_forces, trajectory.contact_frames[:, :, 0])
    return np.diff(np.append(0.0, np.cumsum(normal))[trajectory.contact_offsets])


def _signals(trajectory: Trajectory, start: str) -> dict[str, np.ndarray]:
    found = [(k, name) for k, name in enumerate(trajectory.signal_names) if name.startswith(start)]
    return {name.removeprefix(start): trajectory.signals[:, k] for k, name in found}


def thinned(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Curves of fewer points that look the same: least and largest value of each stretch. values (k, curves)."""
    if len(time) <= 2 * CURVE_POINTS:
        return time, values
    edges = np.linspace(0, len(time), CURVE_POINTS + 1).astype(int)[:-1]
    least, most = np.minimum.reduceat(values, edges), np.maximum.reduceat(values, edges)
    out = np.stack([least, most], axis=1).reshape(-1, values.shape[1])
    return np.repeat(time[edges], 2), out
