"""solve and inverse that start from the last answer: a Workspace."""

import copy
import pickle
import threading

import numpy as np
import pytest

import stiction

SOLVED_BY = [(law, solver) for law in stiction.LAWS for solver in stiction.SOLVERS if stiction.can_solve(law, solver)]
FEET = np.array([[0.12, 0.1], [0.12, -0.1], [-0.12, 0.1], [-0.12, -0.1]])
DT = 1e-3


@pytest.fixture
def standing(on_legs):
    """A base on four legs that stand: one load more than there are equations.

    Its angular velocity and the legs' desired velocities are random of `size`.
    """

    def draw(random, size):
        M, J, weight = on_legs(FEET, DT)
        v = np.zeros(10)
        v[3:6] = size * random.normal(size=3)
        asked = size * np.column_stack((np.ones(4), FEET)) @ random.normal(size=3)
        return stiction.ContactProblem(M, v, J, 0.8, dt=DT, impulse=weight), np.arange(6, 10), asked

    return draw


@pytest.mark.parametrize(("law", "solver"), [("no_slip", "auto"), ("no_slip", "ppm"), ("max_dissipation", "auto")])
def test_torques_of_near_equal_requests_are_near(law, solver, standing):
    """[ZD15, section 3.6]: 5.4 N of load may jump from legs to legs; what the requests differ by needs 1e-3 N."""
    random, workspace, taus = np.random.default_rng(0), stiction.Workspace(), []
    for _ in range(200):
        solution = stiction.inverse(*standing(random, 1e-7), law, solver=solver, workspace=workspace)
        assert solution.status == "solved"
        taus.append(solution.tau)
    assert np.abs(np.diff(taus, axis=0)).max() < 1e-3


def two_legs(heavier):
    """A mass that moves up and down on two legs: each may bear all of it. One weighs 1e-6 more."""
    M, J = np.diag([1.0, 0.0, 0.0]), np.zeros((6, 3))
    for i in range(2):
        J[3 * i] = [1.0, *np.eye(2)[i]]
        M += (0.1 + 1e-6 * (i == heavier)) * np.outer(J[3 * i], J[3 * i])
    return stiction.ContactProblem(M, np.zeros(3), J, 0.5, dt=DT, impulse=-9.81 * DT * M @ [1.0, 0.0, 0.0])


def bear(heavier, workspace):
    """MINDIFF [ZD15, Alg. 3]: of the answers, one leg or the other, the closest to the last in (v, tau)."""
    asked = (two_legs(heavier), [1, 2], [0.0, 0.0], "coulomb_pyramid")
    return stiction.inverse(*asked, solver="enumerate", workspace=workspace)


def test_mindiff_keeps_the_vertex_that_it_was_at():
    workspace, bearing = stiction.Workspace(), []
    for k in range(6):
        solution = bear(k % 2, workspace)
        assert solution.status == "solved"
        bearing.append(int(np.argmax(solution.impulses[:, 0])))
        np.testing.assert_allclose(np.sort(solution.impulses[:, 0]), [0.0, 1.2 * 9.81 * DT], atol=1e-7)
    assert len(set(bearing)) == 1


def independent(random, contacts, nv=None):
    """Contacts whose rows do not depend on each other, unless nv < 3 contacts: their impulses are unique."""
    nv = 3 * contacts + 2 if nv is None else nv
    factor = random.normal(size=(nv, nv))
    problem = stiction.ContactProblem(
        *(factor @ factor.T + np.eye(nv), random.normal(size=nv), random.normal(size=(3 * contacts, nv)), 0.5),
        dt=0.01, impulse=0.1 * random.normal(size=nv),
    )  # fmt: skip
    problem.material = {"stiffness": 1e4, "dissipation_time": 0.01}
    problem.ids = random.choice(10, contacts, replace=False)
    return problem


@pytest.mark.parametrize(("law", "solver"), SOLVED_BY)
def test_answers_that_are_unique_are_those_of_a_cold_start(law, solver):
    """Of problems that have some contacts in common, and of ones that hardly changed."""
    random, workspace = np.random.default_rng(1), stiction.Workspace()
    for contacts in (2, 3, 2, 1, 2):
        problem = independent(random, min(contacts, 2) if solver == "enumerate" else contacts)  # which takes long
        for _ in range(2):
            problem.v[:] += 1e-3 * random.normal(size=len(problem.v))
            cold = stiction.solve(problem, law, solver)
            warm = stiction.solve(problem, law, solver, workspace=workspace)
            assert (warm.status == "solved") >= (cold.status == "solved")
            if cold.status != "solved":
                continue
            size = np.abs(cold.impulses).max() + 1e-12
            np.testing.assert_allclose(warm.impulses, cold.impulses, atol=1e-5 * size)
            np.testing.assert_allclose(warm.v, cold.v, atol=1e-5 * np.abs(cold.v).max())


def test_one_workspace_takes_laws_solvers_sizes_and_both_ways_in_turn():
    random, workspace, asked = np.random.default_rng(2), stiction.Workspace(), {"max_sweeps": 200}
    for k in random.permutation(len(SOLVED_BY) * 4):
        law, solver = SOLVED_BY[k % len(SOLVED_BY)]
        problem = independent(random, random.integers(0, 3 if solver == "enumerate" else 4))
        options = asked if solver in ("jor", "sor", "pgs") else {}
        if k % 2:
            v, joints = random.normal(size=2), [0, 1]
            limits = {"torque_limits": 3.0} if solver == "auto" else {}
            cold = stiction.inverse(problem, joints, v, law, solver=solver, **options, **limits)
            warm = stiction.inverse(problem, joints, v, law, solver=solver, workspace=workspace, **options, **limits)
        else:
            cold = stiction.solve(problem, law, solver, **options)
            warm = stiction.solve(problem, law, solver, workspace=workspace, **options)
        assert np.isfinite(np.concatenate((warm.impulses.ravel(), warm.v))).all()
        assert (warm.status == "solved") >= (cold.status == "solved"), (law, solver, k)


def test_refused_requests_are_replaced_as_from_a_cold_start():
    """Feet that shall splay: tangents of another problem, which another solver left, are not taken for theirs."""
    random, workspace, replaced = np.random.default_rng(11), stiction.Workspace(), 0
    for k in range(60):
        nv, contacts = random.integers(3, 7), random.integers(2, 8)
        factor = random.normal(size=(nv, nv))
        problem = stiction.ContactProblem(
            *(factor @ factor.T + np.eye(nv), random.normal(size=nv), random.normal(size=(3 * contacts, nv)), 1.0)
        )
        asked = (problem, [0, nv - 1], random.normal(size=2), "no_slip")
        solver = ("ppm", "active_set", "auto")[k % 3]
        cold = stiction.inverse(*asked, solver=solver)
        warm = stiction.inverse(*asked, solver=solver, workspace=workspace)
        assert (warm.status, warm.repaired) == (cold.status, cold.repaired)
        np.testing.assert_allclose(warm.v, cold.v, atol=1e-7)
        replaced += cold.repaired
    assert replaced > 30


def table(ids, places):
    """A plate of 4 kg on frictionless feet at `places`, named by `ids`."""
    J = np.zeros((3 * len(places), 3))
    for i, (x, y) in enumerate(places):
        J[3 * i] = 1.0, y, -x
    problem = stiction.ContactProblem(np.diag([4.0, 0.1, 0.1]), np.zeros(3), J, 0.0, dt=DT, impulse=[-4.0, 0, 0])
    problem.ids = ids
    return problem


def test_closest_to_last_follows_contacts_by_name():
    """The least-squares change of the loads of feet that stay, nothing from those that have gone."""
    corners, workspace = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1], [0, 0]]), stiction.Workspace()
    choice = {"law": "frictionless", "choice": "closest_to_last", "workspace": workspace}
    first = stiction.solve(table(range(4), corners[:4]), **choice)
    np.testing.assert_allclose(first.impulses[:, 0], 1.0, atol=1e-9)  # no answer before: the least norm
    uneven = np.array([[1.5, 0, 0], [0.5, 0, 0], [0.5, 0, 0], [1.5, 0, 0]])
    stiction.solve(table(range(4), corners[:4]), **choice, last=uneven)
    last = dict(enumerate(uneven[:, 0]))
    for ids in ([3, 1, 0, 2], [2, 4, 3, 1, 0], [4, 0, 3], [0, 1, 2, 3, 4]):
        was = np.array([last.get(k, 0.0) for k in ids])
        balance = np.array([[1.0, y, -x] for x, y in corners[ids]]).T
        expected = was + np.linalg.pinv(balance) @ (np.array([4.0, 0, 0]) - balance @ was)
        assert (expected > -1e-12).all()
        got = stiction.solve(table(ids, corners[ids]), **choice)
        np.testing.assert_allclose(got.impulses[:, 0], expected, atol=1e-8)
        last = dict(zip(ids, got.impulses[:, 0].copy(), strict=True))


def test_stage_two_is_the_last_answer_too(standing):
    workspace, (problem, joints, asked) = stiction.Workspace(), standing(np.random.default_rng(3), 0.0)
    least = stiction.inverse(problem, joints, asked, "no_slip", choice="least_torque", workspace=workspace)
    assert least.choice_met
    kept = stiction.inverse(problem, joints, asked, "no_slip", choice="closest_to_last", workspace=workspace)
    np.testing.assert_allclose(kept.impulses, least.impulses, atol=1e-9)


def test_iterations_start_where_the_contacts_were():
    random = np.random.default_rng(4)
    problem, workspace = independent(random, 6), stiction.Workspace()
    first = stiction.solve(problem, "moreau", "sor", workspace=workspace)
    order = random.permutation(6)
    other = stiction.ContactProblem(
        *(problem.M, problem.v, problem.J.reshape(6, 3, -1)[order].reshape(18, -1), 0.5),
        dt=0.01,
        impulse=problem.impulse,
    )
    other.ids = problem.ids[order]
    again = stiction.solve(other, "moreau", "sor", workspace=workspace)
    assert first.status == again.status == "solved"
    assert again.iterations < 0.3 * first.iterations
    np.testing.assert_allclose(again.impulses, first.impulses[order], atol=1e-7)


def test_what_was_not_solved_is_no_start():
    """Iterations that grow without bound, then a problem that they solve."""
    random, astray = np.random.default_rng(12), 0
    for _ in range(30):
        workspace, (first, then) = stiction.Workspace(), (independent(random, 7, nv=4) for _ in range(2))
        first.mu[:] = 2.0
        if stiction.solve(first, "coulomb_cone", "jor", workspace=workspace).status == "solved":
            continue
        cold = stiction.solve(then, "coulomb_cone", "jor")
        warm = stiction.solve(then, "coulomb_cone", "jor", workspace=workspace)
        assert (warm.status, warm.impulses.tobytes()) == (cold.status, cold.impulses.tobytes())
        astray += cold.status == "solved"
    assert astray > 10


def answers(standing, workspaces, seed):
    """Of calls with each in turn, as bytes, per workspace."""
    out = [[] for _ in workspaces]
    for k in range(8):
        for i, workspace in enumerate(workspaces):
            random = np.random.default_rng([seed, i, k])
            for law, solver in (("no_slip", "ppm"), ("max_dissipation", "auto"), ("coulomb_cone", "auto")):
                solution = stiction.inverse(*standing(random, 1e-2), law, solver=solver, workspace=workspace)
                out[i].append(solution.impulses.tobytes() + solution.tau.tobytes())
    return out


def test_workspaces_have_nothing_in_common(standing):
    together = answers(standing, [stiction.Workspace(), stiction.Workspace(), None], 5)
    alone = [
        answers(standing, [None, stiction.Workspace()], 5)[1],
        answers(standing, [stiction.Workspace(), None, None], 5)[2],
    ]
    assert together[0] == answers(standing, [stiction.Workspace()], 5)[0]
    assert together[1:] == alone


@pytest.mark.parametrize(
    "made", [copy.copy, copy.deepcopy, lambda w: w.copy(), lambda w: pickle.loads(pickle.dumps(w))]
)
def test_copies_and_pickles_go_on_by_themselves(made, standing):
    workspace = stiction.Workspace()
    answers(standing, [workspace], 6)
    bear(0, workspace)
    other = made(workspace)
    assert answers(standing, [other], 7) == answers(standing, [workspace], 7)
    assert bear(1, other).tau.tobytes() == bear(1, workspace).tau.tobytes()
    answers(standing, [other], 8)
    other.forget()
    assert answers(standing, [other], 7) == answers(standing, [stiction.Workspace()], 7)


def test_a_workspace_in_use_is_refused():
    problem, workspace = independent(np.random.default_rng(9), 3), stiction.Workspace()
    long = {"law": "moreau", "solver": "jor", "tolerance": 1e-300, "max_sweeps": 2_000_000, "workspace": workspace}
    refusals, ended = [], threading.Event()

    def try_for_long():
        while not ended.is_set():
            try:
                stiction.solve(problem, **long)
            except ValueError as error:
                refusals.append(str(error))

    thread = threading.Thread(target=try_for_long)
    thread.start()
    while not refusals:
        try:
            stiction.solve(problem, workspace=workspace)
        except ValueError as error:
            refusals.append(str(error))
    ended.set()
    thread.join()
    assert refusals[0] == "workspace: expected one that no other call is using, so one for each thread, got one in use"
    assert stiction.solve(problem, workspace=workspace).status == "solved"


def test_what_is_refused():
    problem = independent(np.random.default_rng(0), 1)
    for call in (lambda **o: stiction.solve(problem, **o), lambda **o: stiction.inverse(problem, [0], [0.0], **o)):
        with pytest.raises(TypeError, match=r"^workspace: expected a Workspace or None, got 3 \(int\)$"):
            call(workspace=3)
        with pytest.raises(ValueError, match=r"^last: expected the impulses .*, or a workspace, got None$"):
            call(choice="closest_to_last")


def test_copies_of_state_are_read_only(checkout):
    """What is written into one would be lost."""
    world = stiction.World()
    world.add_robot(str(checkout / "models" / "links.urdf"), floating=True)
    world.add_ground()
    stepper, batch, problem = stiction.Stepper(world), stiction.Batch(world, 2), world.problem()
    shape = world.shapes[0]
    for owner, names in (
        (world, ("initial_q", "initial_v", "actuated")),
        (stepper, ("q", "v", "drive_torques")),
        (batch, ("q", "v", "v_world", "com", "wrenches", "taken")),
        (problem, ("M", "J", "J_b")),
        (stiction.ReducedProblem(np.eye(3), np.zeros(3), 0.5), ("W",)),
        (shape, ("placement", "size")),
    ):
        for name in names:
            with pytest.raises(ValueError, match="read-only"):
                getattr(owner, name)[...] = 1
    q = stepper.q.copy()
    q[2] = 5.0
    stepper.reset(q)
    assert stepper.q[2] == 5.0
