"""A problem made of arrays falls apart into its connected parts as that of a world does."""

import pickle

import numpy as np
import pytest

import stiction


def two_boxes(mass, between=False):
    """A light box that slides, one of `mass` that comes down on its own; `between` a third that flies."""
    world = stiction.World(friction=0.5)
    world.add_ground()
    motion = {"velocity": (0.3, 0.1, -0.05), "angular_velocity": (0.2, -0.1, 0.3)}
    world.add_body("feather", stiction.Shape.box((0.1, 0.3, 0.2)), mass=1.0, position=(0, 0, 0.1), **motion)
    if between:
        world.add_body("bird", stiction.Shape.sphere(0.1), mass=1.0, position=(5, 0, 9))
    world.add_body("anvil", stiction.Shape.box((1, 1, 1)), mass=mass, position=(10, 0, 0.5), velocity=(1, 0, -2))
    return world.problem()


def of_arrays(p, order=None):
    order = np.arange(p.velocities) if order is None else order
    M, J, v, impulse = p.M[np.ix_(order, order)], p.J[:, order], p.v[order], p.impulse[order]
    return stiction.ContactProblem(
        M=M, v=v, J=J, mu=p.mu, dt=p.dt, impulse=impulse, gap=p.gap, restitution=p.restitution
    )


def of_file(p, file):
    arrays = ("M", "v", "J", "mu", "dt", "impulse", "gap", "restitution")
    np.savez(file, **{name: getattr(p, name) for name in arrays})
    return stiction.load_problem(file)


@pytest.mark.parametrize("mass", [1.0, 1e9, 1e12])
@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("solver", ["interior_point", "auto"])
def test_what_is_beside_a_body_changes_none_of_its_digits(tmp_path, mass, between, solver):
    p = two_boxes(mass, between)
    ours = stiction.solve(p, solver=solver)
    for other in (of_arrays(p), of_file(p, tmp_path / "p.npz"), pickle.loads(pickle.dumps(p))):
        theirs = stiction.solve(other, solver=solver)
        np.testing.assert_array_equal(theirs.v, ours.v)
        np.testing.assert_array_equal(theirs.impulses, ours.impulses)


def test_coordinates_of_a_part_need_not_follow_each_other():
    p = two_boxes(1e9)
    order = np.r_[0:3, 6:9, 3:6, 9:12]  # of the boxes in turn: the inertia of none is coupled to its velocity
    other = stiction.solve(of_arrays(p, order), solver="interior_point")
    np.testing.assert_allclose(other.v[np.argsort(order)], stiction.solve(p, solver="interior_point").v, atol=1e-9)


def test_blocks_hold_all_of_the_inertia():
    p = stiction.ContactProblem([[2.0, 1.0], [1.0, 2.0]], [0.0, 0.0], np.zeros((0, 2)), [])
    for wrong in ([1, 1], [1], [3], [-1, 3]):
        with pytest.raises(ValueError, match="blocks"):
            p._blocks = wrong
    assert p._blocks == [2]
