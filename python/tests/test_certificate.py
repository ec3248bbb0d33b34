"""Residuals recomputed from what a solve returns, by NumPy and from the formulas of docs/certificate.md alone."""

import numpy as np
import pytest

import stiction

COMPLIANT = ("sap", "linear_penalty", "stick_slip_spring", "regularized_stiction", "hunt_crossley")


def problem(seed: int) -> stiction.ContactProblem:
    """Two contacts of a body of eight velocities that presses and slides, one of them a joint with a stop."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(8, 8))
    M = a @ a.T + np.eye(8)
    J = rng.normal(size=(6, 8))
    J_b = np.eye(8)[7:]
    v = rng.normal(size=8) - 0.3 * J[0] - 0.3 * J[3]
    return stiction.ContactProblem(
        M, v, J, 0.4, 0.01, impulse=0.1 * rng.normal(size=8), J_b=J_b, b=0.0, lo=0.0, hi=np.inf
    )


def scales(p: stiction.ContactProblem) -> tuple[float, float]:
    inertia = np.diag(p.M)
    targets = [*np.abs(p.b), *np.abs(p.v_prescribed)]
    velocity = max(*np.abs(p.v), *np.abs(p.impulse) / inertia, *targets)
    impulse = max(*np.abs(p.impulse), *(inertia * np.abs(p.v)))
    moved = (p.J_b**2 / inertia).sum(axis=1)
    impulse = max(
        impulse, *(np.abs(p.b[moved > 0]) / moved[moved > 0]), *(inertia[p.prescribed] * np.abs(p.v_prescribed))
    )
    return velocity, impulse


@pytest.mark.parametrize("seed", range(8))
def test_coulomb_residuals_from_the_solution(seed):
    p = problem(seed)
    s = stiction.solve(p, law="coulomb_cone")
    c = s.certificate
    velocity, impulse = scales(p)
    assert (c.velocity_scale, c.impulse_scale) == pytest.approx((velocity, impulse), rel=1e-12)
    balance = p.M @ (s.v - p.v) - p.impulse - p.J.T @ s.impulses.ravel() - p.J_b.T @ s.bounded_impulses
    assert np.abs(balance).max() / impulse < 1e-9
    u = (p.J @ s.v).reshape(-1, 3)
    assert np.allclose(u, s.contact_velocities, atol=1e-12)
    slip, friction = np.hypot(u[:, 1], u[:, 2]), s.impulses[:, 1:]
    gap = p.mu * s.impulses[:, 0] * slip + (friction * u[:, 1:]).sum(axis=1)
    assert np.abs(gap).max() / (impulse * velocity) < 1e-9
    assert c.rounding.raw == np.finfo(float).eps * max(np.abs(s.impulses).max(), np.abs(s.bounded_impulses).max())
    assert c.worst < 1e-9


def max_dissipation_residual(
    p: stiction.ContactProblem, s: stiction.Solution, driven: list[int], edges: int = 4
) -> float:
    """Optimality of min |v+|^2_M / 2 over impulses in the pyramids: docs/certificate.md."""
    n, edges = p.contacts, 4
    nu, nu_b = s.multipliers[:n], s.multipliers[n:]
    J_N = p.J[0::3]
    free = [j for j in range(p.velocities) if j not in driven]
    project = np.zeros_like(p.M)
    project[np.ix_(free, free)] = np.linalg.inv(p.M[np.ix_(free, free)])
    gradient = project @ (p.M @ s.v - J_N.T @ nu - p.J_b.T @ nu_b)
    g = (p.J @ gradient).reshape(n, 3)
    angles = 2 * np.pi * np.arange(edges) / edges
    vertices = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    dual = g[:, 0] + p.mu * (g[:, 1:] @ vertices.T).min(axis=1)
    u_N, w = J_N @ s.v, p.J_b @ s.v - p.b
    b_0 = p.J_b @ (s.v - project @ p.M @ s.v) - p.b
    velocity, impulse = scales(p)
    residuals = [
        np.maximum(-dual, 0.0) / velocity,
        np.abs((g * s.impulses).sum(axis=1)) / (impulse * velocity),
        np.maximum(-nu, 0.0) / impulse,
        np.abs(nu * u_N) / (impulse * velocity),
        np.maximum(-nu_b, 0.0) / impulse,
        np.abs(nu_b * w) / (impulse * velocity),
        np.abs(np.minimum(s.bounded_impulses, impulse / velocity * (p.J_b @ gradient + b_0))) / impulse,
        np.maximum(-u_N, 0.0) / velocity,
        np.maximum(-w, 0.0) / velocity,
    ]
    return max(float(r.max()) for r in residuals)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("driven", [[], [5, 6]])
def test_max_dissipation_is_optimal_by_its_multipliers(seed, driven):
    p = problem(seed)
    desired = [0.1, -0.2][: len(driven)]
    rows = {"impulse": p.impulse, "J_b": p.J_b, "b": p.b, "lo": p.lo, "hi": p.hi}
    inverse = stiction.ContactProblem(
        p.M, p.v, p.J, p.mu, p.dt, **rows, prescribed=np.array(driven, dtype=int), v_prescribed=desired
    )
    s = (
        stiction.inverse(p, driven, desired, law="max_dissipation")
        if driven
        else stiction.solve(p, law="max_dissipation")
    )
    assert s.status == "solved"
    assert s.multipliers.shape == (p.contacts + 1,)
    assert s.certificate.dissipation.scaled < 1e-9
    assert max_dissipation_residual(inverse, s, driven) < 1e-8  # the velocity scale of the formula is a little larger
    assert stiction.solve(p, law="coulomb_cone").multipliers.size == 0


def test_a_wrong_multiplier_shows():
    p = problem(0)
    s = stiction.solve(p, law="max_dissipation")

    class Turned:
        v, impulses, bounded_impulses, multipliers = s.v, s.impulses, s.bounded_impulses, s.multipliers + 0.1

    assert max_dissipation_residual(p, Turned, []) > 1e-3


def box_beside_an_abyss(gap: float) -> stiction.ContactProblem:
    """A body that slides on three points under its weight; a fourth is `gap` above what it could touch."""
    points, rows = ((0.3, 0.2, -0.1), (-0.3, 0.1, -0.1), (-0.2, -0.3, -0.1), (0.0, 0.0, 0.5)), []
    for x, y, z in points:
        rows += [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]]
    M, v = np.diag([1, 1, 1, 0.1, 0.1, 0.1]), [1e-3, 2e-3, 0, 1e-3, 1e-3, 0]
    weight = [0, 0, -9.81e-3, 0, 0, 0]
    return stiction.ContactProblem(M, v, rows, 0.5, dt=1e-3, impulse=weight, gap=[0, 0, 0, gap])


# A scale that counts the gap's velocity lets the box fall freely.
@pytest.mark.parametrize("law", [law for law in stiction.LAWS if law not in COMPLIANT])
@pytest.mark.parametrize("gap", [1.0, 1e6, 1e10])
def test_what_is_far_away_makes_no_error_small(law, gap):
    near, far = (stiction.solve(box_beside_an_abyss(g), law=law) for g in (0.01, gap))
    assert (near.status, far.status) == ("solved", "solved")
    np.testing.assert_allclose(far.v, near.v, atol=1e-10)
    assert far.certificate.velocity_scale == near.certificate.velocity_scale < 0.02


# Two motors that contradict each other, each at its limit: their difference has no digits left, nor has the motion.
@pytest.mark.parametrize(("limit", "solved"), [(1e3, True), (1e12, False), (1e15, False)])
def test_motors_that_push_against_each_other_leave_digits_or_no_solution(limit, solved):
    p = stiction.ContactProblem(
        np.eye(2),
        np.zeros(2),
        [[0, 1], [1, 0], [0, 0]],
        0.5,
        dt=1e-2,
        impulse=[0.1, -0.0981],
        J_b=[[1.0, 0.0], [1.0, 0.0]],
        b=[1.0, -1.0],
        lo=-limit,
        hi=limit,
    )
    s = stiction.solve(p, law="coulomb_cone")
    assert (s.status == "solved") == solved
    if solved:
        np.testing.assert_allclose(s.v, [0.1 - 0.5 * 0.0981, 0.0], atol=1e-9)
