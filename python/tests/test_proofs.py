"""Proofs that there is no answer, and the functions that check them."""

import numpy as np
import pytest

import stiction

WALLS = [1, 2]
SHUT = [1.0, -0.5]


def vise(**further):
    """A block on its way between two walls along x, mu = 0.5; velocities of block, left wall, right wall."""
    rows = np.zeros((6, 3))
    rows[0, :2], rows[3, [0, 2]] = [1, -1], [-1, 1]
    return stiction.ContactProblem(np.eye(3), np.zeros(3), rows, 0.5, dt=0.01, **further)


def driven(b):
    return vise(J_b=[[0, 1, 0], [0, 0, 1]], b=b)


def test_an_impossible_problem_comes_with_a_ray_that_is_checked_from_the_problem_alone():
    refused = stiction.solve(driven(SHUT))
    assert refused.status == "infeasible"
    ray = refused.ray
    assert ray.proof
    assert ray.impulses.shape == (2, 3)
    assert ray.bounded_impulses.shape == (2,)
    np.testing.assert_allclose(ray.impulses[:, 0], ray.impulses[0, 0])
    np.testing.assert_allclose(ray.work / ray.impulses[0, 0], -1.5)
    assert stiction.proves_infeasible(driven(SHUT), ray)
    assert not stiction.proves_infeasible(driven([-1.0, 0.5]), ray)
    made = stiction.InfeasibilityRay(ray.impulses, ray.bounded_impulses)
    assert stiction.proves_infeasible(driven(SHUT), made)
    turned = stiction.InfeasibilityRay(-ray.impulses, -ray.bounded_impulses)
    assert not stiction.proves_infeasible(driven(SHUT), turned)
    crooked = ray.impulses.copy()
    crooked[0, 1] = 1e-3
    assert not stiction.proves_infeasible(driven(SHUT), stiction.InfeasibilityRay(crooked, ray.bounded_impulses))


def test_a_possible_problem_has_no_ray():
    opened = stiction.solve(driven([-1.0, 0.5]))
    assert opened.status == "solved"
    assert opened.ray is None
    assert opened.proof is None


def test_a_ray_outlives_its_solution():
    ray = stiction.solve(driven(SHUT)).ray
    impulses = ray.impulses
    del ray
    assert impulses[0, 0] > 0.0


@pytest.mark.parametrize("law", ["frictionless", "coulomb_pyramid", "coulomb_cone", "anitescu"])
def test_a_refused_request_comes_with_a_proof(law):
    problem = vise()
    stopped = stiction.inverse(problem, WALLS, SHUT, law=law)
    assert stopped.repaired
    assert stopped.shortfall > 0.1
    assert stiction.certifies_infeasibility(problem, WALLS, SHUT, stopped.proof, law=law)
    assert not stiction.certifies_infeasibility(problem, WALLS, [-1.0, 0.5], stopped.proof, law=law)
    z = stopped.proof
    assert not stiction.certifies_infeasibility(
        problem, WALLS, SHUT, stiction.RequestProof(-z.contacts, z.rows, z.joints), law=law
    )
    assert stiction.certifies_infeasibility(
        problem, WALLS, SHUT, stiction.RequestProof(z.contacts, z.rows, z.joints), law=law
    )


def test_the_ray_of_an_inverse_is_that_of_the_prescribed_problem():
    refused = stiction.inverse(vise(), WALLS, SHUT, repair_inconsistent=False)
    assert refused.status == "infeasible"
    assert not refused.repaired
    prescribed = vise(prescribed=WALLS, v_prescribed=SHUT)
    assert stiction.proves_infeasible(prescribed, refused.ray)
    assert stiction.solve(prescribed).status == "infeasible"
    with pytest.raises(ValueError, match="prescribed_impulses"):
        stiction.proves_infeasible(vise(), refused.ray)


def test_weak_torques_have_a_proof_that_says_how_weak():
    problem = stiction.ContactProblem(2.0 * np.eye(2), [0.0, 0.0], np.zeros((0, 2)), [], dt=0.1)
    weak = stiction.inverse(problem, [1], [1.0], torque_limits=5.0)
    assert weak.shortfall > 0.1
    assert stiction.certifies_infeasibility(problem, [1], [1.0], weak.proof, torque_limits=5.0)
    assert not stiction.certifies_infeasibility(problem, [1], [1.0], weak.proof, torque_limits=20.0)
    assert not stiction.certifies_infeasibility(problem, [1], [1.0], weak.proof)
    assert stiction.inverse(problem, [1], [1.0], torque_limits=5.0, prove_infeasible=False).proof is None
    assert stiction.inverse(problem, [1], [1.0], torque_limits=25.0).proof is None


def test_a_problem_known_by_w_alone_has_proofs_too():
    # Two contacts that nothing moves against each other, driven into each other.
    shut = stiction.ReducedProblem(
        np.kron([[1.0, -1.0], [-1.0, 1.0]], np.diag([1.0, 0.0, 0.0])), [-1.0, 0, 0, -1.0, 0, 0], 0.5
    )
    for law in ("frictionless", "coulomb_pyramid", "coulomb_cone"):
        solution = stiction.solve(shut, law=law)
        assert solution.status == "infeasible"
        assert stiction.proves_infeasible(shut, solution.ray, law=law)
        away = stiction.ReducedProblem(shut.W, [-1.0, 0, 0, 2.0, 0, 0], 0.5)
        assert not stiction.proves_infeasible(away, solution.ray, law=law)
        assert stiction.solve(away, law=law).status == "solved"
    with pytest.raises(TypeError, match=r"^problem: expected a ContactProblem or a ReducedProblem, got"):
        stiction.proves_infeasible(3, solution.ray)


def test_checks_refuse_what_does_not_fit():
    problem, empty = vise(), stiction.RequestProof(np.zeros((2, 3)), None, [0.0, 0.0])
    assert not stiction.certifies_infeasibility(problem, WALLS, SHUT, empty)
    with pytest.raises(ValueError, match=r"joints\[0\]"):
        stiction.certifies_infeasibility(problem, [7], [1.0], empty)
    with pytest.raises(ValueError, match="v_desired"):
        stiction.certifies_infeasibility(problem, WALLS, [1.0], empty)
    with pytest.raises(ValueError, match=r"contacts\.shape\[1\]"):
        stiction.RequestProof(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"ray\.impulses"):
        stiction.proves_infeasible(problem, stiction.InfeasibilityRay(np.zeros((1, 3))))
    with pytest.raises(TypeError, match="law: expected a str"):
        stiction.proves_infeasible(problem, stiction.InfeasibilityRay(np.zeros((2, 3))), law=3)
