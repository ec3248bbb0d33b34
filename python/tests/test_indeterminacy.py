"""Indeterminacy of what boxes press on: closed forms, and random boxes among walls."""

import numpy as np
import pytest

import stiction

RELATIVE = 1e-6  # of the largest impulse


def intervals(problem, solution):
    found = stiction.indeterminacy(problem, solution, intervals=True)
    return found, RELATIVE * np.abs(solution.impulses).max()


def box_on_slope(size, mass, gravity, friction, turn=0.0, walls=()):
    """A box on the plane z = 0 under tilted gravity, its faces flush against walls on the given sides of x and y."""
    turned = np.array([[np.cos(turn), -np.sin(turn), 0.0], [np.sin(turn), np.cos(turn), 0.0], [0.0, 0.0, 1.0]])
    orientation = [0.0, 0.0, np.sin(turn / 2), np.cos(turn / 2)]
    world = stiction.World(gravity=gravity, friction=friction)
    world.add_ground()
    world.add_body("box", stiction.Shape.box(size), mass=mass, position=(0, 0, size[2] / 2), orientation=orientation)
    for axis, side in walls:
        extent, middle = np.ones(3), np.array([0.0, 0.0, 0.5])
        extent[axis], middle[axis] = 0.2, side * (size[axis] / 2 + 0.1)
        world.add_body(f"wall {axis}", stiction.Shape.box(extent), position=turned @ middle, orientation=orientation)
    return world.problem()


@pytest.mark.parametrize("law", ["coulomb_cone", "coulomb_pyramid"])
def test_cube_at_rest_on_a_slope(law):
    """Friction in the plane of the feet shifts load to the lower two; left and right bear the same."""
    mass, edge, across, down = 3.404, 0.2, 4.83, 8.54
    problem = box_on_slope([edge] * 3, mass, (across, 0.0, -down), 0.871)
    solution = stiction.solve(problem, law=law)
    found, allowed = intervals(problem, solution)
    lower = solution.impulses[:, 0] > mass * problem.dt * down / 4
    assert found.complete
    assert found.dimension == 12 - 6
    # Of the upper pair and of the lower; what one of them bears more on its left, the other bears more on its right.
    low, high = mass * problem.dt * (down - across) / 2, mass * problem.dt * (down + across) / 2
    np.testing.assert_allclose(found.normal_min[~lower], 0.0, atol=allowed)
    np.testing.assert_allclose(found.normal_max[~lower], low, atol=allowed)
    np.testing.assert_allclose(found.normal_min[lower], (high - low) / 2, atol=allowed)
    np.testing.assert_allclose(found.normal_max[lower], (high + low) / 2, atol=allowed)


@pytest.mark.parametrize("law", ["coulomb_cone", "coulomb_pyramid", "frictionless"])
def test_boxes_among_walls(law):
    """Faces on faces make near ties of all rays: every interval is found, and holds the impulse that was solved for."""
    rng = np.random.default_rng(5)
    for _ in range(150):
        size = rng.uniform(0.1, 0.5, 3).round(2)
        gravity = np.array([4.0 * rng.normal(), 4.0 * rng.normal(), -8.0])
        walls = [(axis, np.sign(gravity[axis])) for axis in range(rng.integers(0, 3))]
        problem = box_on_slope(
            size, rng.uniform(0.5, 5.0), gravity, rng.uniform(0.2, 1.2), rng.uniform(0.0, 6.0), walls
        )
        solution = stiction.solve(problem, law=law)
        found, allowed = intervals(problem, solution)
        assert found.complete
        assert (solution.impulses[:, 0] >= found.normal_min - allowed).all()
        assert (solution.impulses[:, 0] <= found.normal_max + allowed).all()


@pytest.mark.parametrize("height", [0.05, 0.0499])
@pytest.mark.parametrize("law", ["linear_penalty", "stick_slip_spring", "regularized_stiction", "hunt_crossley", "sap"])
def test_compliant_laws_determine_every_impulse(law, height):
    world = stiction.World(friction=0.6)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.4, 0.2, 0.1)), mass=2.0, position=(0, 0, height))
    problem = world.problem()
    problem.material = {"stiffness": 1e5, "damping": 300.0, "dissipation_time": 0.01}
    solution = stiction.solve(problem, law=law)
    found, allowed = intervals(problem, solution)
    assert (found.dimension, found.complete) == (0, True)
    np.testing.assert_allclose(found.normal_min, solution.impulses[:, 0], atol=allowed)
    np.testing.assert_allclose(found.normal_max, solution.impulses[:, 0], atol=allowed)
