import math
import threading

import numpy as np
import pytest

import stiction

GRAVITY = 9.81
EXACT = ["frictionless", "no_slip", "anitescu"]  # laws whose inverse is exact


def test_names():
    assert {*EXACT, "coulomb_pyramid", "coulomb_cone", "max_dissipation"} <= set(stiction.LAWS)
    assert len(set(stiction.LAWS)) == len(stiction.LAWS)
    assert "auto" in stiction.SOLVERS


@pytest.mark.parametrize("law", ["coulomb_pyramid", "coulomb_cone"])
def test_a_sliding_mass_on_an_incline_brakes_by_coulombs_law(incline, law):
    angle, mu, dt = 0.3, 0.2, 1e-3
    solution = stiction.solve(incline(angle, speed=-1.0, mu=mu, dt=dt), law=law)
    normal = dt * 2.0 * GRAVITY * math.cos(angle)
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.impulses, [[normal, mu * normal, 0.0]], atol=1e-10)
    np.testing.assert_allclose(
        solution.v, [-1.0 - dt * GRAVITY * (math.sin(angle) - mu * math.cos(angle)), 0, 0], atol=1e-10
    )
    assert solution.certificate.worst <= 1e-9


@pytest.mark.parametrize("law", ["coulomb_pyramid", "coulomb_cone", "no_slip", "anitescu", "max_dissipation"])
def test_a_mass_below_the_friction_angle_stays(incline, law):
    solution = stiction.solve(incline(0.2, mu=0.3), law=law)
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.v, 0.0, atol=1e-10)
    np.testing.assert_allclose(solution.contact_velocities, 0.0, atol=1e-10)


def test_a_frictionless_mass_slides(incline):
    solution = stiction.solve(incline(0.2), law="frictionless")
    np.testing.assert_allclose(solution.v, [-1e-3 * GRAVITY * math.sin(0.2), 0, 0], atol=1e-12)


def test_restitution_and_gap():
    arrays = {"M": np.eye(1), "J": np.array([[1.0], [0], [0]]), "mu": 0.0, "dt": 0.1}
    bounce = stiction.solve(stiction.ContactProblem(v=[-2.0], restitution=0.5, **arrays))
    np.testing.assert_allclose(bounce.v, [1.0], atol=1e-12)
    closing = stiction.solve(stiction.ContactProblem(v=[-2.0], gap=0.05, **arrays))
    np.testing.assert_allclose(closing.v, [-0.5], atol=1e-12)


def test_certificate_has_every_residual_by_name(incline):
    certificate = stiction.solve(incline(0.2)).certificate
    names = ["momentum", "bilateral", "bounds", "penetration", "tension"]
    names += ["normal_complementarity", "cone", "dissipation", "relaxation", "constitutive"]
    names += ["natural_map", "energy_balance", "rounding"]
    scaled = [getattr(certificate, name).scaled for name in names]
    assert max(scaled) == certificate.worst
    assert all(getattr(certificate, name).raw >= 0.0 for name in names)
    assert certificate.finite
    assert certificate.energy_change <= 1e-12


@pytest.mark.parametrize("law", EXACT)
@pytest.mark.parametrize("seed", range(5))
def test_forward_under_the_torques_of_inverse_is_the_same_motion(random_arrays, law, seed):
    M, v, J, mu, dt, impulse = random_arrays(seed)
    joints = np.arange(6, 12)
    desired = np.random.default_rng(seed + 100).normal(size=6)
    problem = stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse)
    plan = stiction.inverse(problem, joints, desired, law=law)
    assert plan.status == "solved"
    assert plan.tau.shape == (6,)
    assert np.abs(plan.impulses).max() > 0.0
    if not plan.repaired:
        np.testing.assert_allclose(plan.v[joints], desired, atol=1e-9)
    forward = impulse.copy()
    forward[joints] += dt * plan.tau
    step = stiction.solve(stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=forward), law=law)
    assert step.status == "solved"
    np.testing.assert_allclose(step.v, plan.v, atol=1e-8)


def test_torque_limits_are_kept_and_the_shortfall_is_told():
    problem = stiction.ContactProblem(2.0 * np.eye(2), [0.0, 0.0], np.zeros((0, 2)), [], dt=0.1)
    free = stiction.inverse(problem, [1], [1.0])
    np.testing.assert_allclose(free.tau, [20.0])
    limited = stiction.inverse(problem, [1], [1.0], torque_limits=5.0)
    assert limited.status == "solved"
    np.testing.assert_allclose(limited.tau, [5.0])
    np.testing.assert_allclose([limited.v[1], limited.shortfall], [0.25, 0.75])


def test_a_solution_with_torque_limits_is_one_of_the_callers_problem():
    """Of four masses one falls on a stop, a row of J_b; of the driven ones the first saturates."""
    row = {"J_b": [[1.0, 0, 0, 0]], "b": [0.0], "lo": [0.0], "hi": [np.inf]}
    impulse = [-1.0, 0, 0, 0]
    problem = stiction.ContactProblem(
        2.0 * np.eye(4), np.zeros(4), np.zeros((0, 4)), [], dt=0.1, impulse=impulse, **row
    )
    limited = stiction.inverse(problem, [2, 3, 1], [1.0, 1.0, 1.0], torque_limits=[5.0, np.inf, 30.0])
    assert limited.status == "solved"
    np.testing.assert_allclose(limited.bounded_impulses, [1.0])
    np.testing.assert_allclose(limited.prescribed_impulses, [0.5, 2.0, 2.0])
    np.testing.assert_allclose(limited.tau, limited.prescribed_impulses / 0.1)
    balance = problem.M @ limited.v - problem.impulse - problem.J_b.T @ limited.bounded_impulses
    np.testing.assert_allclose(balance[[2, 3, 1]], limited.prescribed_impulses, atol=1e-12)
    shared = stiction.inverse(four_feet(), [2], [0.0], law="frictionless", torque_limits=1.0)
    intervals = stiction.indeterminacy(four_feet(), shared, intervals=True)
    assert intervals.dimension == 1  # the torque is kept
    np.testing.assert_allclose(intervals.normal_max, shared.impulses[:, 0].sum() / 2.0, atol=1e-7)


def four_feet():
    """A rigid body on four feet, (x, y) = (+-1, +-1), that carries its weight: 6 velocities, 12 contact impulses."""
    rows = []
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            rows += [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x]]
    return stiction.ContactProblem(np.eye(6), np.zeros(6), rows, 0.5, dt=1.0, impulse=[0, 0, -4.0, 0, 0, 0])


@pytest.mark.parametrize("edges", [4, 8, 16])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_contacts_in_one_place_share_a_load_in_every_way(count, edges):
    normals = np.zeros((3 * count, 1))
    normals[::3] = 1.0
    problem = stiction.ContactProblem([[1.3]], [0.0], normals, 0.5, dt=0.01, impulse=[-0.1])
    for solver in ("active_set", "interior_point"):
        solution = stiction.solve(problem, law="anitescu", edges=edges, solver=solver)
        shared = stiction.indeterminacy(problem, solution, intervals=True)
        assert shared.complete
        assert shared.dimension == 3 * count - 1
        np.testing.assert_allclose(shared.normal_max, 0.1, atol=1e-7)
        np.testing.assert_allclose(shared.normal_min, 0.0, atol=1e-7)


def random_inertia(random, size):
    factor = random.normal(size=(size, size))
    return factor @ factor.T + 0.3 * np.eye(size)


RIGID = ["frictionless", "no_slip", "coulomb_cone", "coulomb_pyramid", "moreau", "anitescu", "max_dissipation"]


@pytest.mark.parametrize("law", RIGID)
def test_what_equality_rows_hold_already_takes_no_impulse_of_rounding(law):
    random = np.random.default_rng(0)
    for _ in range(50):
        jacobian = random.normal(size=(3, 6))
        row = random.normal(size=6)
        held = {
            "a limit": ([row, row], [0.1, 0.1], [-np.inf, 0.0]),
            "a contact": (jacobian, [0.0] * 3, [-np.inf] * 3),
            "its tangents": (jacobian[1:], [0.0] * 2, [-np.inf] * 2),
        }
        for what, (rows, targets, lo) in held.items():
            problem = stiction.ContactProblem(
                *(random_inertia(random, 6), random.normal(size=6), jacobian, 0.5),
                dt=0.01, impulse=random.normal(size=6), J_b=rows, b=targets, lo=lo, hi=[np.inf] * len(lo),
            )  # fmt: skip
            solution = stiction.solve(problem, law=law)
            assert solution.status == "solved", (what, solution.certificate.worst)
            assert np.abs(solution.impulses).max() < 1e3
            assert np.abs(solution.v).max() < 1e3


@pytest.mark.parametrize("friction", [1e3, 1e4])
def test_a_steep_cone_glides_by_no_more_than_its_slope(friction):
    random = np.random.default_rng(7)
    for _ in range(40):
        jacobian = random.normal(size=(6, 6))
        problem = stiction.ContactProblem(random_inertia(random, 6), random.normal(size=6), jacobian, friction, dt=0.01)
        solution = stiction.solve(problem, law="anitescu")
        assert solution.status == "solved", solution.certificate.relaxation
        u = (jacobian @ solution.v).reshape(-1, 3)
        assert np.all(np.abs(u[:, 1:]).max(axis=1) <= u[:, 0] / friction + 1e-9)  # the support of a square


@pytest.mark.parametrize("law", RIGID)
@pytest.mark.parametrize("least", [1e-3, 0.5])
def test_a_row_that_always_pulls_moves_what_is_at_rest(law, least):
    for lo, hi in ((least, np.inf), (least, 2.0), (-np.inf, -least), (least, least)):
        problem = stiction.ContactProblem(
            np.eye(6), np.zeros(6), np.eye(6)[[2, 0, 1]], 0.5, J_b=np.eye(6)[[3]], lo=[lo], hi=[hi]
        )
        solution = stiction.solve(problem, law=law)
        assert solution.status == "solved", solution.certificate
        np.testing.assert_allclose(solution.v, np.sign(lo + hi) * least * np.eye(6)[3], atol=1e-9)


def test_a_torque_without_bound_is_no_solution():
    problem = stiction.ContactProblem(np.eye(1), [0.0], np.zeros((0, 1)), [], dt=1e-3)
    inverse = stiction.inverse(problem, [0], [1e306])
    assert inverse.status == "numerical_error"


def test_friction_beyond_all_reason_is_no_bad_input():
    random = np.random.default_rng(7)
    for law in RIGID:
        problem = stiction.ContactProblem(np.eye(6), random.normal(size=6), random.normal(size=(3, 6)), 1e300, dt=0.01)
        assert np.all(np.isfinite(stiction.solve(problem, law=law).v)), law


def test_a_limit_beyond_what_equality_rows_hold_is_infeasible():
    random = np.random.default_rng(0)
    for count in (1, 2, 3, 4):
        row = random.normal(size=4)
        problem = stiction.ContactProblem(
            *(random_inertia(random, 4), random.normal(size=4), np.zeros((0, 4)), []),
            dt=0.01, J_b=[row, row], b=[0.0, 0.1], lo=[-np.inf, 0.0], hi=[np.inf, np.inf],
        )  # fmt: skip
        solution = stiction.solve(problem, law="frictionless")
        assert solution.status == "infeasible"
        assert stiction.proves_infeasible(problem, solution.ray, law="frictionless")
        asked = stiction.inverse(problem, np.arange(count), np.zeros(count), law="frictionless")
        assert asked.status == "infeasible"  # not repaired by velocities of 1e14


def test_indeterminacy_of_four_feet():
    problem = four_feet()
    frictionless = stiction.solve(problem, law="frictionless")
    one = stiction.indeterminacy(problem, frictionless, intervals=True)
    assert (one.dimension, one.complete) == (1, True)  # a table of four legs
    np.testing.assert_allclose(one.normal_min, 0.0, atol=1e-7)
    np.testing.assert_allclose(one.normal_max, 2.0, atol=1e-7)
    cone = stiction.indeterminacy(problem, stiction.solve(problem, law="coulomb_cone"))
    assert cone.dimension == 12 - 6
    held = stiction.inverse(problem, [2], [0.0], law="frictionless")
    assert stiction.indeterminacy(problem, held).dimension == 2  # the torque takes up what the feet do not
    with pytest.raises(ValueError, match="solution"):
        stiction.indeterminacy(stiction.ContactProblem(np.eye(2), [0.0, 0.0], np.zeros((0, 2)), []), held)


def test_same_input_same_bits(random_arrays):
    M, v, J, mu, dt, impulse = random_arrays(7, contacts=12)
    problem = stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse)
    rows = [row for row in stiction.compare(problem, repetitions=1) if not row.not_applicable]
    assert len(rows) >= 8
    for row in rows:
        first, second = (stiction.solve(problem, law=row.law, solver=row.solver) for _ in range(2))
        assert first.impulses.tobytes() == second.impulses.tobytes()
        assert first.v.tobytes() == second.v.tobytes()


def test_other_threads_run_during_a_solve(random_arrays):
    M, v, J, mu, dt, impulse = random_arrays(8, nv=300, contacts=300)
    problem, turns = stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse), 0
    thread = threading.Thread(target=stiction.solve, args=(problem, "coulomb_cone"))
    thread.start()
    while thread.is_alive():
        turns += 1
        thread.join(0.001)
    assert turns > 5  # a held lock would give one or two


def test_two_threads_share_a_problem(random_arrays):
    M, v, J, mu, dt, impulse = random_arrays(9, contacts=8)
    problem = stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse)
    expected = stiction.solve(problem, law="anitescu").impulses.tobytes()
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.extend(stiction.solve(problem, law="anitescu").impulses.tobytes() for _ in range(50))
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 100


def falling_body(gap):
    """A unit body that falls 20 mm in the step towards one contact below its centre."""
    rows = [[0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]
    return stiction.ContactProblem(np.eye(6), [0.3, 0.4, -2.0, 0, 0, 0], rows, 0.1, dt=0.01, gap=gap)


def test_pyramid_variants_and_aligned_edges():
    problem = falling_body(0.005)
    np.testing.assert_allclose(stiction.solve(problem, law="coulomb_pyramid").v[2], -0.5)
    np.testing.assert_allclose(stiction.solve(problem, law="coulomb_pyramid", variant="anitescu_potra").v[2], -2.0)
    sliding = stiction.solve(falling_body(0.0), law="coulomb_pyramid", align_edges=True)
    assert sliding.status == "solved"
    np.testing.assert_allclose(sliding.v[:2], np.array([0.3, 0.4]) * (1 - 0.1 * 2.0 / 0.5), atol=1e-9)
    with pytest.raises(ValueError, match="align_edges"):
        stiction.solve(problem, law="coulomb_cone", align_edges=True)
    with pytest.raises(ValueError, match="variant"):
        stiction.solve(problem, variant="stewart")


def test_an_argument_that_would_change_nothing_is_refused():
    problem = falling_body(0.0)
    for solve in (stiction.solve, lambda p, **options: stiction.inverse(p, [0], [0.0], **options)):
        with pytest.raises(
            ValueError, match="edges: expected 4 unless a law has a friction polygon, got 8 with law 'coulomb_co"
        ):
            solve(problem, law="coulomb_cone", edges=8)
        with pytest.raises(
            ValueError, match="viscous_slip: expected 'after' unless a law is 'viscous', got 'before' with law"
        ):
            solve(problem, law="coulomb_cone", viscous_slip="before")
    problem.laws = ["coulomb_pyramid"]  # which the law beside it does not change
    assert stiction.solve(problem, law="coulomb_cone", edges=8).status == "solved"


@pytest.mark.parametrize(("slip", "factor"), [("after", 1.0 / 1.25), ("before", 0.75)])
def test_viscous_friction_brakes_in_proportion_to_the_slip(slip, factor):
    problem = stiction.ContactProblem(
        2.0 * np.eye(3), [0, 0.6, 0.8], np.eye(3), 0.5, dt=0.1, impulse=[-1.0, 0, 0], material={"viscosity": 5.0}
    )
    solution = stiction.solve(problem, law="viscous", viscous_slip=slip)
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.v, [0, 0.6 * factor, 0.8 * factor], atol=1e-12)
    with pytest.raises(ValueError, match="viscous_slip"):
        stiction.solve(problem, law="viscous", viscous_slip="during")


def test_the_request_nearest_to_one_that_anitescu_refuses_is_in_its_dual_cone():
    # u_N >= 0.5 u_T: the projection of (-0.1, 0.5) on the cone's edge, along (1, 2).
    p = stiction.ContactProblem(np.eye(3), np.zeros(3), np.eye(3), 0.5, dt=1e-3)
    s = stiction.inverse(p, [0, 1, 2], [-0.1, 0.5, 0.0], law="anitescu")
    assert (s.status, s.repaired) == ("solved", True)
    np.testing.assert_allclose(s.v, [0.18, 0.36, 0.0], atol=1e-9)


@pytest.mark.parametrize("law", ["anitescu", "max_dissipation"])
def test_a_slider_at_the_angle_of_friction_is_solved(law):
    random = np.random.default_rng(0)
    for _ in range(300):  # one generator of the cone moves it by rounding alone
        mu, azimuth = random.choice([0.3, 0.5, 0.7, 1.0]), random.uniform(0.0, 2.0 * np.pi)
        J = np.array([[mu], [np.cos(azimuth)], [np.sin(azimuth)]])
        problem = stiction.ContactProblem([[1.0]], [random.normal()], J, mu)
        assert stiction.solve(problem, law, align_edges=True).status == "solved"
