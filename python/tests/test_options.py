"""Options of solve and inverse: each is reachable, and a bad one is named."""

import numpy as np
import pytest

import stiction


@pytest.fixture
def problem(random_arrays):
    M, v, J, mu, dt, impulse = random_arrays(11)
    return stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse)


def table_on_four_legs():
    """A rigid body on four feet, (x, y) = (+-1, +-1), that carries its weight."""
    rows = []
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            rows += [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x]]
    return stiction.ContactProblem(np.eye(6), np.zeros(6), rows, 0.5, dt=1.0, impulse=[0, 0, -4.0, 0, 0, 0])


def test_options_that_the_solver_does_not_read_are_refused(problem):
    for option, value, readers in (
        ("alpha", 0.3, "jor or sor"),
        ("max_sweeps", 50, "jor, sor or pgs"),
        ("max_pivots", 500, "auto, goldfarb_idnani, ppm, lemke, active_set or dantzig"),
    ):
        for solver in ("auto", "interior_point", "jor"):
            arguments = {"solver": solver, option: value}
            if solver in readers:
                stiction.solve(problem, **arguments)
                continue
            message = f"{option}: expected none unless the solver is {readers}, got solver {solver}"
            with pytest.raises(ValueError, match=message):
                stiction.solve(problem, **arguments)
            with pytest.raises(ValueError, match=message):
                stiction.inverse(problem, [0], 0.0, **arguments)
    searched = stiction.inverse(problem, [0], 0.0, solver="interior_point", choice="least_torque", max_pivots=500)
    assert searched.status in ("solved", "inaccurate", "infeasible")


WRONG_VALUES = [
    ("law", "coulomb"),
    ("solver", "simplex"),
    ("solver", "ppm"),  # not one of coulomb_cone
    ("tolerance", 0.0),
    ("tolerance", float("nan")),
    ("edges", 3),
    ("edges", 2**40),
    ("variant", "stewart"),
    ("viscous_slip", "during"),
    ("choice", "shortest"),
    ("choice", "closest_to_last"),  # without last
    ("last", np.zeros((4, 3))),  # without choice
    ("alpha", 2.0),
    ("alpha", -1.0),
    ("max_sweeps", 0),
    ("max_factorizations", 0),
    ("max_pivots", -1),
    ("threads", 0),
    ("bilateral_by_prox", True),  # of jor and sor
    ("align_edges", True),  # of polygons
]


@pytest.mark.parametrize(("name", "value"), WRONG_VALUES)
@pytest.mark.parametrize("function", ["solve", "inverse"])
def test_a_wrong_value_is_named(problem, function, name, value):
    request = () if function == "solve" else ([6, 7], [0.0, 0.0])
    named = "last" if name == "choice" and value == "closest_to_last" else name
    with pytest.raises(ValueError, match=rf"^{named}: expected .+, got "):
        getattr(stiction, function)(problem, *request, **{"law": "coulomb_cone", name: value})


WRONG_TYPES = [
    ("law", 3),
    ("solver", b"ppm"),
    ("tolerance", "1e-9"),
    ("edges", 4.0),
    ("edges", True),
    ("variant", 1),
    ("align_edges", "yes"),
    ("align_edges", 1),
    ("viscous_slip", ["after"]),
    ("choice", 0),
    ("alpha", "0.6"),
    ("alpha", [0.6]),
    ("max_sweeps", 100.5),
    ("max_factorizations", 100.5),
    ("max_pivots", 100.5),
    ("threads", 1.5),
    ("bilateral_by_prox", ""),
]


@pytest.mark.parametrize(("name", "value"), WRONG_TYPES)
@pytest.mark.parametrize("function", ["solve", "inverse"])
def test_a_wrong_type_is_named(problem, function, name, value):
    request = () if function == "solve" else ([6, 7], [0.0, 0.0])
    with pytest.raises(TypeError, match=rf"^{name}: expected an? .+, got .+ \("):
        getattr(stiction, function)(problem, *request, **{name: value})


def test_none_is_no_option(problem):
    for name in ("law", "alpha", "choice", "bilateral_by_prox"):
        with pytest.raises(TypeError, match=rf"{name}: NoneType"):
            stiction.solve(problem, **{name: None})


def test_wrong_options_of_inverse_are_named(problem):
    for name in ("repair_inconsistent", "prove_infeasible"):
        with pytest.raises(TypeError, match=f"^{name}: expected a bool"):
            stiction.inverse(problem, [6], [0.0], **{name: 1})
    with pytest.raises(ValueError, match=r"^choice: expected .+, got least_torque"):
        stiction.solve(problem, choice="least_torque")
    with pytest.raises(TypeError, match=r"^problem: expected a ContactProblem, got"):
        stiction.inverse(stiction.ReducedProblem(np.eye(3), np.zeros(3), 0.5), [0], [0.0])
    with pytest.raises(TypeError, match=r"^problem: expected a ContactProblem or a ReducedProblem, got"):
        stiction.solve("problem.json")
    with pytest.raises(ValueError, match=r"^joints"):
        stiction.inverse(problem, [0.5], [0.0])
    with pytest.raises(ValueError, match=r"^torque_limits\[0\]"):
        stiction.inverse(problem, [6], [0.0], torque_limits=[-1.0])


def test_numpy_scalars_are_numbers(problem):
    plain = stiction.solve(problem, law="anitescu", tolerance=1e-8, edges=8, align_edges=True)
    numpy = stiction.solve(
        problem, law=np.str_("anitescu"), tolerance=np.float32(1e-8), edges=np.int64(8), align_edges=np.True_
    )
    assert plain.impulses.tobytes() == numpy.impulses.tobytes()


def test_prox_options_reach_the_solver(problem):
    def iterations(**options):
        solution = stiction.solve(problem, law="coulomb_cone", solver="sor", **options)
        return solution.status, solution.iterations

    status, usual = iterations()
    assert status == "solved"
    assert iterations(alpha=0.1)[1] > 2 * usual
    status, stopped = iterations(max_sweeps=2)
    assert status != "solved"
    assert stopped <= 2


def test_bilateral_rows_by_prox_lead_to_the_same_motion(problem):
    rows = np.zeros((1, 12))
    rows[0, [6, 7]] = [1.0, -1.0]
    held = stiction.ContactProblem(
        problem.M, problem.v, problem.J, problem.mu, dt=problem.dt, impulse=problem.impulse, J_b=rows
    )
    direct = stiction.solve(held, law="coulomb_cone", solver="sor")
    iterated = stiction.solve(held, law="coulomb_cone", solver="sor", bilateral_by_prox=True)
    assert direct.status == iterated.status == "solved"
    assert direct.impulses.tobytes() != iterated.impulses.tobytes()
    np.testing.assert_allclose(direct.v, iterated.v, atol=1e-7)


@pytest.mark.parametrize("law", ["frictionless", "coulomb_cone", "coulomb_pyramid", "anitescu"])
def test_choices_share_the_load_or_keep_it(law):
    problem = table_on_four_legs()
    even = stiction.solve(problem, law=law, choice="least_norm")
    np.testing.assert_allclose(even.impulses, np.tile([1.0, 0, 0], (4, 1)), atol=1e-9)
    uneven = np.array([[1.5, 0, 0], [0.5, 0, 0], [0.5, 0, 0], [1.5, 0, 0]])  # the same motion
    kept = stiction.solve(problem, law=law, choice="closest_to_last", last=uneven)
    np.testing.assert_allclose(kept.impulses, uneven, atol=1e-9)
    np.testing.assert_allclose(kept.v, even.v, atol=1e-9)
    again = stiction.solve(problem, law=law, choice="least_norm")
    assert again.impulses.tobytes() == even.impulses.tobytes()  # nothing is left of the call between


def test_choices_of_inverse():
    problem = table_on_four_legs()
    by_name = {
        name: stiction.inverse(problem, [2], [0.0], law="frictionless", choice=name)
        for name in ("warm_start", "least_norm", "least_torque")
    }
    assert all(s.status == "solved" for s in by_name.values())
    assert all(s.choice_met for s in by_name.values())
    norms = {name: np.linalg.norm(s.impulses) for name, s in by_name.items()}
    assert norms["least_norm"] <= min(norms.values()) + 1e-9
    torques = {name: abs(s.tau[0]) for name, s in by_name.items()}
    assert torques["least_torque"] <= min(torques.values()) + 1e-9
    last = by_name["least_torque"].impulses
    kept = stiction.inverse(problem, [2], [0.0], law="frictionless", choice="closest_to_last", last=last)
    np.testing.assert_allclose(kept.impulses, last, atol=1e-9)


def test_torque_limits_that_are_all_infinite_are_none():
    problem, asked = table_on_four_legs(), {"law": "frictionless", "choice": "least_torque"}
    free = stiction.inverse(problem, [2], [0.0], **asked)
    same = stiction.inverse(problem, [2], [0.0], torque_limits=np.inf, **asked)
    assert same.choice_met
    assert same.tau.tobytes() == free.tau.tobytes()
    with pytest.raises(ValueError, match=r"^choice: expected another than least_torque beside torque limits"):
        stiction.inverse(problem, [2], [0.0], torque_limits=5.0, **asked)


def test_edges_are_those_of_the_polygon_in_a_disc_that_least_torque_starts_from():
    for law in ("coulomb_cone", "anitescu"):
        taken = stiction.inverse(table_on_four_legs(), [2], [0.0], law=law, choice="least_torque", edges=16)
        assert taken.choice_met
    for arguments in ({"law": "coulomb_cone"}, {"law": "frictionless", "choice": "least_torque"}):
        with pytest.raises(ValueError, match=r"^edges: expected 4 unless a law has a friction polygon, got 16"):
            stiction.inverse(table_on_four_legs(), [2], [0.0], edges=16, **arguments)


@pytest.mark.parametrize(("joints", "told"), [([2.0], "2.0"), (["HIP"], "'HIP'"), ([2, 2**70], "2"), (1.5, "1.5")])
def test_joints_are_whole_numbers(joints, told):
    with pytest.raises(ValueError, match=rf"^joints: expected whole-number indices, got {told}"):
        stiction.inverse(table_on_four_legs(), joints, 0.0)
    assert stiction.inverse(table_on_four_legs(), [], []).status == "solved"


def test_a_choice_on_a_problem_known_by_its_contacts():
    whole = table_on_four_legs()
    contacts = stiction.ReducedProblem(whole.J @ whole.J.T, whole.J @ whole.impulse, 0.5)
    solution = stiction.solve(contacts, law="frictionless", choice="least_norm")
    np.testing.assert_allclose(solution.impulses, np.tile([1.0, 0, 0], (4, 1)), atol=1e-9)


def test_last_has_the_shape_of_impulses():
    problem = table_on_four_legs()
    for last in (np.zeros((3, 3)), np.zeros((4, 2))):
        with pytest.raises(ValueError, match=r"^last: expected shape \(4, 3\), got shape"):
            stiction.solve(problem, choice="closest_to_last", last=last)
    with pytest.raises(ValueError, match=r"^last: expected an array of 2 dimensions"):
        stiction.solve(problem, choice="closest_to_last", last=np.zeros(12))
    with pytest.raises(ValueError, match=r"^last\[0, 1\]: expected a finite number"):
        stiction.solve(problem, choice="closest_to_last", last=np.diag([1.0, 1, 1, 1])[:, :3] + [0, np.nan, 0])


def test_prescribed_coordinates_are_reached():
    problem = stiction.ContactProblem(
        2.0 * np.eye(2), [0.0, 0.0], np.zeros((0, 2)), [], dt=0.1, prescribed=[1], v_prescribed=[1.0]
    )
    solution = stiction.solve(problem)
    np.testing.assert_allclose(solution.v, [0.0, 1.0])
    np.testing.assert_allclose(solution.tau, [20.0])
    assert problem.prescribed == [1]
    again = stiction.inverse(problem, problem.prescribed, problem.v_prescribed)
    np.testing.assert_allclose(again.tau, [20.0])
    with pytest.raises(ValueError, match=r"^problem.prescribed"):
        stiction.inverse(problem, [0], [1.0])
    with pytest.raises(ValueError, match=r"^prescribed: expected"):
        stiction.ContactProblem(np.eye(2), [0.0, 0.0], np.zeros((0, 2)), [], v_prescribed=[1.0])
    with pytest.raises(ValueError, match=r"prescribed"):
        stiction.ContactProblem(np.eye(2), [0.0, 0.0], np.zeros((0, 2)), [], prescribed=[2])


def test_can_solve_says_what_solve_accepts(problem):
    for law in stiction.LAWS:
        for solver in stiction.SOLVERS:
            if stiction.can_solve(law, solver):
                continue
            with pytest.raises(ValueError, match=r"^solver: expected a solver of law"):
                stiction.solve(problem, law=law, solver=solver)
    assert all(stiction.can_solve(law) for law in stiction.LAWS)
    with pytest.raises(ValueError, match=r"^solver: expected one of"):
        stiction.can_solve("no_slip", "simplex")


# Contacts that name their own laws ask as much of the options as one law for all.
@pytest.mark.parametrize(
    ("laws", "name", "value"),
    [
        ("coulomb_cone", "tolerance", float("inf")),
        ("coulomb_cone", "threads", 0),
        ("coulomb_cone", "threads", -9),
        ("coulomb_cone", "max_factorizations", 0),
        ("coulomb_pyramid", "edges", 0),
        ("anitescu", "edges", 3),
        ("coulomb_cone", "align_edges", True),
        ("moreau", "variant", "anitescu_potra"),
    ],
)
def test_options_are_checked_against_named_laws(laws, name, value):
    p = stiction.ContactProblem(np.eye(3), [-1, 0.3, 0.4], np.eye(3), 0.5, dt=1e-3, laws=laws)
    with pytest.raises(ValueError, match=rf"^{name}: expected .+, got "):
        stiction.solve(p, **{name: value})


def test_options_of_named_laws_are_those_of_one_law():
    arrays = (np.eye(3), [-1, 0.3, 0.4], np.eye(3), 0.5)
    for law, options in (("anitescu", {"edges": 0}), ("coulomb_pyramid", {"align_edges": True, "edges": 6})):
        named = stiction.solve(stiction.ContactProblem(*arrays, dt=1e-3, laws=law), **options)
        alone = stiction.solve(stiction.ContactProblem(*arrays, dt=1e-3), law=law, **options)
        assert named.status == "solved"
        np.testing.assert_array_equal(named.impulses, alone.impulses)


@pytest.mark.parametrize(
    ("law", "solver"),
    [("max_dissipation", "interior_point"), ("stick_slip_spring", "newton"), ("coulomb_cone", "auto")],
)
def test_the_budget_of_systems_holds(law, solver):
    rng = np.random.default_rng(0)
    for _ in range(30):
        nv, n = int(rng.integers(3, 9)), int(rng.integers(2, 8))
        a = rng.normal(size=(nv, nv))
        p = stiction.ContactProblem(
            a @ a.T + 0.1 * np.eye(nv),
            rng.normal(size=nv),
            rng.normal(size=(3 * n, nv)),
            rng.choice([0.3, 1.0, 10.0], size=n),
            dt=1e-2,
            material={"stiffness": 1e5, "damping": 10.0, "stiffness_tangential": 1e5, "damping_tangential": 10.0},
            gap=rng.choice([0.0, -1e-3], size=n),
        )
        for most in (1, 3):
            s = stiction.solve(p, law=law, solver=solver, max_factorizations=most)
            assert s.iterations <= most
            assert np.isfinite(s.v).all()


def test_a_file_means_what_its_arguments_mean(tmp_path):
    arrays = {"M": np.eye(3), "v": [-1.0, 0, 0], "J": np.eye(3), "mu": [0.5], "gap": [5e-4]}
    np.savez(tmp_path / "problem.npz", **arrays)
    p, loaded = stiction.ContactProblem(**arrays), stiction.load_problem(tmp_path / "problem.npz")
    assert loaded.dt == p.dt
    np.testing.assert_array_equal(stiction.solve(loaded).v, stiction.solve(p).v)
