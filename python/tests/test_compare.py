import math

import numpy as np
import pytest

import stiction


def test_a_row_for_every_law(incline):
    comparison = stiction.compare(incline(0.3, speed=-1.0, mu=0.2), repetitions=1)
    assert [row.law for row in comparison] == sorted((row.law for row in comparison), key=stiction.LAWS.index)
    assert {row.law for row in comparison} == set(stiction.LAWS)
    assert comparison.reference == "solved"
    assert len(comparison) == len(comparison.rows)
    assert comparison[-1].law == comparison[len(comparison) - 1].law
    with pytest.raises(IndexError):
        comparison[len(comparison)]


def test_figures_are_those_of_solve(incline):
    problem = incline(0.3, speed=-1.0, mu=0.2)
    exact = stiction.solve(problem, law="coulomb_cone")
    for row in stiction.compare(problem, laws=["frictionless", "coulomb_cone"], repetitions=1):
        solution = stiction.solve(problem, law=row.law, solver=row.solver)
        assert row.status == solution.status == "solved"
        assert row.iterations == solution.iterations
        assert row.microseconds > 0
        assert row.certificate.worst == solution.certificate.worst
        np.testing.assert_array_equal(row.impulses, solution.impulses)
        np.testing.assert_array_equal(row.velocity, solution.v)
        assert row.difference == np.abs(solution.v - exact.v).max()


def test_prints_as_a_table(incline):
    text = str(stiction.compare(incline(0.3), repetitions=1))
    assert "|v - v_exact|" in text.splitlines()[0]
    assert any(line.startswith("coulomb_cone") and " solved " in line for line in text.splitlines())
    assert "not applicable: " in text


def test_missing_parameters_are_named(incline):
    row = stiction.compare(incline(0.3), laws=["hunt_crossley"], repetitions=1)[0]
    assert row.status == "not_applicable"
    assert row.not_applicable


def test_a_problem_known_by_its_contacts_alone(tmp_path):
    W, q, mu = np.diag([1.0, 2.0, 2.0]), [-1.0, 0.3, 0.0], [0.1]
    comparison = stiction.compare(stiction.ReducedProblem(W, q, mu), laws=["coulomb_cone"])
    for row in comparison:
        np.testing.assert_allclose(row.impulses, [[1.0, -0.1, 0.0]], atol=1e-9)
        np.testing.assert_allclose(row.velocity, [0.0, 0.1, 0.0], atol=1e-9)
    assert not math.isnan(comparison[0].difference)
    np.savez(tmp_path / "wq.npz", W=W, q=q, mu=mu)
    solution = stiction.solve(stiction.load_problem(tmp_path / "wq.npz"), law="coulomb_cone")
    np.testing.assert_allclose(solution.contact_velocities, [[0.0, 0.1, 0.0]], atol=1e-9)
    assert (solution.v.size, solution.tau.size) == (0, 0)


def test_names_are_checked(incline):
    with pytest.raises(ValueError, match="law: expected one of"):
        stiction.compare(incline(0.3), laws=["sticky"])
    with pytest.raises(ValueError, match="solver: expected one of"):
        stiction.compare(incline(0.3), solvers=["magic"])
    for argument in ("laws", "solvers"):
        with pytest.raises(ValueError, match=f"^{argument}: expected one name or more, .* got an empty list$"):
            stiction.compare(incline(0.3), **{argument: []})
