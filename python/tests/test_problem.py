import gc
import re
import weakref

import numpy as np
import pytest

import stiction

GOOD = {
    "M": 2.0 * np.eye(3),
    "v": np.zeros(3),
    "J": np.eye(3),
    "mu": np.array([0.5]),
    "dt": 1e-3,
    "impulse": np.zeros(3),
    "gap": np.zeros(1),
    "restitution": np.zeros(1),
    "J_b": np.ones((1, 3)),
    "b": np.zeros(1),
    "lo": np.zeros(1),
    "hi": np.ones(1),
}


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("M", np.full((3, 3), np.nan)),
        ("M", np.ones((3, 2))),
        ("M", np.ones(3)),
        ("M", -np.eye(3)),
        ("M", np.array([[1.0, 2, 0], [0, 1, 0], [0, 0, 1]])),
        ("M", "inertia"),
        ("M", [[1.0, 2.0], [3.0]]),
        ("v", np.zeros(4)),
        ("v", [0.0, np.inf, 0.0]),
        ("v", np.zeros(3, dtype=complex)),
        ("v", [None, None, None]),
        ("J", np.eye(4)[:, :3]),
        ("J", np.zeros((3, 4))),
        ("J", np.zeros(3)),
        ("J", np.full((3, 3), np.inf)),
        ("mu", [-0.1]),
        ("mu", [np.nan]),
        ("mu", [0.5, 0.5]),
        ("dt", 0.0),
        ("dt", -1.0),
        ("dt", np.nan),
        ("impulse", np.zeros(2)),
        ("impulse", [0.0, np.nan, 0.0]),
        ("gap", [0.0, 0.0]),
        ("gap", [np.inf]),
        ("restitution", [1.5]),
        ("restitution", [-0.5]),
        ("J_b", np.ones((1, 2))),
        ("J_b", None),
        ("b", [np.nan]),
        ("b", [0.0, 0.0]),
        ("lo", [2.0]),
        ("hi", [np.nan]),
    ],
)
def test_a_bad_argument_is_named(argument, value):
    with pytest.raises(ValueError, match=rf"\b{argument}\b"):
        stiction.ContactProblem(**(GOOD | {argument: value}))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"law": "coulomb"}, "law"),
        ({"solver": "magic"}, "solver"),
        ({"law": "no_slip", "solver": "enumerate"}, "solver"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"edges": 3}, "edges"),
        ({"edges": 10**9, "law": "coulomb_pyramid"}, "edges"),
    ],
)
def test_a_bad_option_is_named(options, named):
    with pytest.raises(ValueError, match=named):
        stiction.solve(stiction.ContactProblem(**GOOD), **options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"joints": [3]}, "joints"),
        ({"joints": [-1]}, "joints"),
        ({"joints": [0.5]}, "joints"),
        ({"joints": [True, False, False]}, "joints.*mask"),
        ({"joints": [0, 0], "v_desired": [0.0, 0.0]}, "joints"),
        ({"v_desired": [0.0, 0.0]}, "v_desired"),
        ({"v_desired": [np.nan]}, "v_desired"),
        ({"torque_limits": [-1.0]}, "torque_limits"),
        ({"torque_limits": [1.0, 1.0]}, "torque_limits"),
        ({"torque_limits": np.zeros(0)}, "torque_limits"),
    ],
)
def test_a_bad_argument_of_inverse_is_named(options, named):
    with pytest.raises(ValueError, match=named):
        stiction.inverse(stiction.ContactProblem(**GOOD), **({"joints": [0], "v_desired": [0.0]} | options))


def test_properties_are_what_went_in():
    problem = stiction.ContactProblem(**GOOD)
    for name, value in GOOD.items():
        np.testing.assert_array_equal(getattr(problem, name), value)
    assert (problem.contacts, problem.velocities) == (1, 3)


def test_arrays_of_other_layouts_and_types_are_taken(random_arrays):
    M, v, J, mu, dt, impulse = random_arrays(0)
    plain = stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse)
    other = stiction.ContactProblem(
        M.tolist(), np.repeat(v, 2)[::2], np.asfortranarray(J), 0.5, dt=dt, impulse=impulse[::-1][::-1]
    )
    for name in ("M", "v", "J", "mu", "impulse"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(other, name))


def test_vectors_are_views_and_every_solve_checks_them():
    problem = stiction.ContactProblem(**GOOD)
    problem.mu[0] = 0.25
    assert problem.mu[0] == 0.25
    problem.mu[0] = -1.0
    with pytest.raises(ValueError, match="mu"):
        stiction.solve(problem)


def test_a_view_keeps_its_owner_alive():
    problem = stiction.ContactProblem(**(GOOD | {"v": [1.0, 2.0, 3.0]}))
    v, impulses = problem.v, stiction.solve(problem).impulses
    del problem
    gc.collect()
    np.testing.assert_array_equal(v, [1.0, 2.0, 3.0])
    assert impulses.shape == (1, 3)
    assert not impulses.flags.writeable


def test_names_of_contacts_and_rows():
    problem = stiction.ContactProblem(np.eye(6), np.zeros(6), np.eye(6), 0.5, J_b=np.ones((1, 6)))
    assert (len(problem.ids), len(problem.row_ids)) == (0, 0)
    problem.ids, problem.row_ids = np.array([2**64 - 1, 3], dtype=np.uint64), [3]
    assert problem.ids.tolist() == [2**64 - 1, 3]
    assert problem.row_ids.tolist() == [3]
    with pytest.raises(ValueError, match=r"^ids\[1\]: expected a name that nothing before it has, got 1$"):
        problem.ids = [1, 1]
    with pytest.raises(ValueError, match=r"^ids: expected size 2, got size 1$"):
        problem.ids = [1]
    for name in ("ids", "row_ids"):
        for wrong in ([-1], [1.5], None, [2**64]):
            with pytest.raises(
                TypeError, match=rf"^{name}: expected whole numbers in \[0, 2\^64\), got .*{re.escape(str(wrong))}"
            ):
                setattr(problem, name, wrong)
    assert problem.ids.tolist() == [2**64 - 1, 3]


def test_kinds_of_rows(tmp_path):
    inf = np.inf
    problem = stiction.ContactProblem(
        np.eye(6), np.zeros(6), np.eye(6), 0.5, J_b=np.ones((3, 6)), lo=[-inf, 0, -1], hi=[inf, inf, 1]
    )
    assert problem.row_kinds == ["equality", "limit", "motor"]
    problem.row_kinds = ["equality", "motor", "friction"]
    for name in ("kinds.json", "kinds.npz"):
        problem.save(tmp_path / name)
        assert stiction.load_problem(tmp_path / name).row_kinds == ["equality", "motor", "friction"]
    with pytest.raises(ValueError, match=r"^row_kind: expected one of equality, limit, friction, motor, got 'brake'$"):
        problem.row_kinds = ["equality", "motor", "brake"]
    with pytest.raises(ValueError, match=r"^row_kinds: expected size 3, got size 2$"):
        problem.row_kinds = ["equality", "motor"]
    assert problem.row_kinds == ["equality", "motor", "friction"]


def test_no_contacts():
    problem = stiction.ContactProblem(np.eye(2), [1.0, 2.0], np.zeros((0, 2)), [], impulse=[0.5, 0.0])
    solution = stiction.solve(problem)
    assert solution.status == "solved"
    assert solution.impulses.shape == (0, 3)
    np.testing.assert_allclose(solution.v, [1.5, 2.0])


@pytest.mark.parametrize("extension", ["json", "npz"])
def test_save_and_load(tmp_path, extension, random_arrays):
    M, v, J, mu, dt, impulse = random_arrays(1)
    problem = stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse, J_b=np.eye(12)[:2], lo=[0, -np.inf])
    problem.save(tmp_path / f"problem.{extension}")
    loaded = stiction.load_problem(tmp_path / f"problem.{extension}")
    for name in GOOD:
        np.testing.assert_array_equal(getattr(problem, name), getattr(loaded, name))


def test_an_npz_of_numpy_is_the_same_problem(tmp_path, random_arrays):
    M, v, J, mu, dt, impulse = random_arrays(2)
    np.savez(tmp_path / "problem.npz", M=M, v=v, J=J, mu=mu, dt=dt, impulse=impulse)
    loaded = stiction.solve(stiction.load_problem(tmp_path / "problem.npz"))
    direct = stiction.solve(stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse))
    assert loaded.status == "solved"
    np.testing.assert_array_equal(loaded.impulses, direct.impulses)


def test_a_problem_without_inertia(tmp_path, random_arrays):
    M, v, J, mu, dt, impulse = random_arrays(3)
    W, q = J @ np.linalg.solve(M, J.T), J @ (v + np.linalg.solve(M, impulse))
    np.savez_compressed(tmp_path / "problem.npz", W=W, q=q, mu=mu)
    loaded = stiction.load_problem(tmp_path / "problem.npz")
    assert isinstance(loaded, stiction.ReducedProblem)
    np.testing.assert_allclose(loaded.W, W, atol=1e-14)
    for problem in (loaded, stiction.ReducedProblem(W, q, mu)):
        reduced = stiction.solve(problem, law="coulomb_cone")
        full = stiction.solve(stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse), law="coulomb_cone")
        assert reduced.status == full.status == "solved"
        np.testing.assert_allclose(reduced.contact_velocities.ravel(), W @ reduced.impulses.ravel() + q, atol=1e-12)
        np.testing.assert_allclose(reduced.contact_velocities, full.contact_velocities, atol=1e-6)


def test_a_missing_or_broken_file_is_named(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    for file in (tmp_path / "absent.npz", broken):
        with pytest.raises(stiction.FileError, match=file.name) as caught:
            stiction.load_problem(file)
        assert isinstance(caught.value, OSError)


def test_names_that_nobody_reads_are_refused(tmp_path, random_arrays):
    M, v, J, mu, _, _ = random_arrays(1)
    np.savez(tmp_path / "problem.npz", M=M, v=v, J=J, mu=mu, gaps=np.zeros(len(mu)))
    with pytest.raises(stiction.FileError, match=r"problem\.npz: gaps: unknown array: expected some of .* gap, "):
        stiction.load_problem(tmp_path / "problem.npz")
    np.savez(tmp_path / "problem.npz", M=M.astype(np.float16), v=v, J=J, mu=mu)
    with pytest.raises(stiction.FileError, match=r"M: arrays of type '<f2' .* floats of 4 or 8 bytes"):
        stiction.load_problem(tmp_path / "problem.npz")
    file = tmp_path / "problem.json"
    stiction.ContactProblem(M, v, J, mu).save(file)
    text = file.read_text()
    for bad, said in {
        text.replace('"v":', '"nonsense": 3, "v":', 1): "nonsense: unknown key: expected some of format, ",
        text.replace('"v":', '"dt": 5, "v":', 1): "dt: given twice",
        "// one step\n" + text: "line 1: .*invalid literal",
    }.items():
        file.write_text(bad)
        with pytest.raises(stiction.FileError, match=f"problem\\.json: {said}"):
            stiction.load_problem(file)


def test_nothing_is_left_of_a_problem_that_was_dropped():
    class Marked(stiction.ContactProblem):
        pass

    problem = Marked(**GOOD)
    gone = weakref.ref(problem)
    del problem
    gc.collect()
    assert gone() is None


def two_contacts(**arguments):
    return stiction.ContactProblem(np.eye(6), np.zeros(6), np.eye(6), 0.5, **arguments)


def test_contacts_have_their_own_laws_and_materials(tmp_path):
    problem = two_contacts(laws=["viscous", "coulomb_cone"], material={"viscosity": [1.5, 0.0], "stiffness": 2e4})
    assert problem.laws == ["viscous", "coulomb_cone"]
    assert [m["viscosity"] for m in problem.material] == [1.5, 0.0]
    assert [m["stiffness"] for m in problem.material] == [2e4, 2e4]
    assert problem.material[0]["stiction_speed"] == 1e-3
    same = two_contacts(laws=np.array(problem.laws), material=problem.material)
    assert (same.laws, same.material) == (problem.laws, problem.material)
    for name in ["laws.json", "laws.npz"]:
        problem.save(tmp_path / name)
        loaded = stiction.load_problem(tmp_path / name)
        assert (loaded.laws, loaded.material) == (problem.laws, problem.material)
    assert list(np.load(tmp_path / "laws.npz")["laws"]) == problem.laws
    problem.laws, problem.material = "no_slip", [{"spring": (0.1, 0.2)}, {}]
    assert problem.laws == ["no_slip", "no_slip"]
    assert [m["spring"] for m in problem.material] == [(0.1, 0.2), (0.0, 0.0)]
    assert two_contacts().laws == two_contacts().material == []


def test_numpy_writes_laws_and_materials(tmp_path):
    arrays = {"M": np.eye(6), "v": np.zeros(6), "J": np.eye(6), "mu": [0.5, 0.5]}
    np.savez(tmp_path / "problem.npz", laws=["viscous", "no_slip"], material_viscosity=[1.0, 2.0], **arrays)
    problem = stiction.load_problem(tmp_path / "problem.npz")
    assert problem.laws == ["viscous", "no_slip"]
    assert [m["viscosity"] for m in problem.material] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"laws": ["viscous"]}, "laws: expected size 2, got size 1"),
        ({"laws": "sticky"}, "law: expected one of frictionless"),
        ({"laws": 3}, "laws: expected a law's name"),
        ({"material": {"viscousness": 1.0}}, "material: expected a parameter among spring"),
        ({"material": {"viscosity": [1.0, 2.0, 3.0]}}, "material.viscosity: expected size 2, got size 3"),
        ({"material": {"viscosity": "much"}}, "material.viscosity: expected an array of numbers"),
        ({"material": {"spring": [1.0, 2.0]}}, "material.spring: expected an array of 2 dimensions"),
        ({"material": [{}, {"viscosity": -1.0}]}, r"material\[1\].viscosity: expected a finite number >= 0"),
        ({"material": [{}, {"viscousness": 1.0}]}, r"material\[1\]: expected a parameter among"),
        ({"material": [{}, 3]}, r"material\[1\]: expected a dictionary"),
        ({"material": [{}]}, "material: expected size 2, got size 1"),
        ({"material": 3}, "material: expected a dictionary, or one per contact"),
    ],
)
def test_wrong_laws_and_materials_are_named(arguments, says):
    with pytest.raises(ValueError, match=says):
        two_contacts(**arguments)
