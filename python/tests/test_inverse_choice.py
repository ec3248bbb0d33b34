"""Least torque beside what the solver leaves, with rows of every kind."""

import numpy as np
import pytest

import stiction


def random_request(random):
    nv, contacts, rows = random.integers(4, 9), random.integers(0, 3), random.integers(1, 4)
    factor = random.normal(size=(nv, nv))
    kind = random.integers(0, 3, size=rows)  # loops, end stops, dry friction
    problem = stiction.ContactProblem(
        *(factor @ factor.T + 0.5 * np.eye(nv), np.zeros(nv), random.normal(size=(3 * contacts, nv)), [0.5] * contacts),
        dt=0.01, impulse=random.normal(size=nv), J_b=random.normal(size=(rows, nv)), b=np.zeros(rows),
        lo=np.choose(kind, [-np.inf, 0.0, -0.3]), hi=np.choose(kind, [np.inf, np.inf, 0.3]),
    )  # fmt: skip
    return problem, np.arange(random.integers(2, nv))


@pytest.mark.parametrize("law", ["frictionless", "no_slip", "coulomb_pyramid", "coulomb_cone", "anitescu"])
def test_least_torque_is_no_more_than_the_solver_leaves(law):
    random, less = np.random.default_rng(3), 0
    for _ in range(300):
        problem, joints = random_request(random)
        still = np.zeros(len(joints))
        left = stiction.inverse(problem, joints, still, law)
        least = stiction.inverse(problem, joints, still, law, choice="least_torque")
        if left.status != "solved":
            continue
        assert least.status == "solved"
        assert np.linalg.norm(least.tau) <= np.linalg.norm(left.tau) * (1 + 1e-8) + 1e-8
        less += least.least_torque and np.linalg.norm(least.tau) < 0.9 * np.linalg.norm(left.tau)
    assert less > 20
