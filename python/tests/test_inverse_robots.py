"""Inverse dynamics of whole robots that lie on the ground, asked for joint velocities that their contacts refuse."""

import pathlib

import numpy as np
import pytest

import stiction

TALOS, TIAGO = "talos_data/robots/talos_full_v2.urdf", "tiago_pro_description/robots/tiago_pro.urdf"


@pytest.mark.parametrize(("robot", "seed"), [(TALOS, 0), (TALOS, 1), (TALOS, 4), (TIAGO, 2), (TIAGO, 3), (TIAGO, 4)])
def test_robots_whose_fingers_are_coupled_follow_the_nearest_without_slip(example_robot, robot, seed):
    path = example_robot(robot)
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=4)
    world = stiction.World(friction=0.6)
    world.add_ground()
    placed = {"position": (0, 0, 0.6), "orientation": turn / np.linalg.norm(turn)}
    world.add_robot(path, floating=True, package_dirs=[pathlib.Path(path).parents[4]], **placed)
    stepper = stiction.Stepper(world, dt=5e-3, law="coulomb_pyramid")
    for _ in range(200):
        stepper.step()
    problem = world.problem(stepper.q, np.zeros(world.nv), dt=1e-3)
    coupled = [j for j, kind in enumerate(problem.row_kinds) if kind == "equality"]
    assert len(coupled) >= 10
    joints = np.array(world.actuated)
    desired = 0.3 * rng.normal(size=len(joints))
    answer = stiction.inverse(problem, joints, desired, law="no_slip")
    assert answer.status == "solved", answer.certificate
    assert answer.repaired
    assert np.linalg.norm(answer.v[joints] - desired) <= np.linalg.norm(desired)
    assert np.abs(problem.J_b[coupled] @ answer.v).max() < 1e-9
    slip = np.array(answer.contact_velocities)[problem.gap < 1e-6][:, 1:]
    assert np.abs(slip).max() < 1e-9 * answer.certificate.velocity_scale
