"""Robots that fall onto many of their links at once: points that hold them redundantly, some nearly so."""

import numpy as np
import pytest

import stiction

# Robot, start, its speed, steps of 5 ms: in each the first answers had impulses of 1e8 N s and more that cancel.
FALLS = [
    ("solo_description/robots/solo12.urdf", 3, 4, 300),
    ("go1_description/urdf/go1.urdf", 0, 1, 130),
]


@pytest.mark.parametrize(("path", "start", "speed", "steps"), FALLS)
def test_no_slip_holds_what_fell_on_many_links(path, start, speed, steps, example_robot):
    world = stiction.World(friction=0.5)
    world.add_ground()
    world.add_robot(example_robot(path), floating=True)
    random = np.random.default_rng(start)
    q = np.array(world.initial_q)
    q[2] += 0.4
    turn = random.normal(size=4)
    q[3:7] = turn / np.linalg.norm(turn)
    stepper = stiction.Stepper(world, 5e-3, law="no_slip")
    stepper.reset(q, random.normal(0, 0.3, world.nv) * speed)
    unsolved, largest = [], []
    for k in range(steps):
        report = stepper.step()
        if report.status != "solved":
            unsolved.append((k, report.status, report.residual))
        largest.append(np.abs(stepper.contacts.forces).max(initial=0.0))
    assert not unsolved
    assert np.median(largest) < 1e4  # N, of weights up to 120 N; single steps have more
