"""Bodies of all shapes thrown on each other, friction up to 1000: every step is taken, few miss the tolerance."""

import numpy as np
import pytest

import stiction
from stiction import Shape

SHAPES = {
    "sphere": lambda size: Shape.sphere(size[0]),
    "box": Shape.box,
    "capsule": lambda size: Shape.capsule(size[0], size[1]),
    "cylinder": lambda size: Shape.cylinder(size[0], size[1]),
}


def thrown(seed, friction):
    """Up to 15 bodies, their masses apart by up to 1000, some at 5 m/s, a few of them overlapping at first."""
    rng = np.random.default_rng(seed)
    count, restitution = int(rng.integers(4, 16)), float(rng.choice([0.0, 0.5]))
    world = stiction.World(friction=friction, gravity=(0, 0, -9.81))
    world.add_body("floor", Shape.plane(), friction=friction, restitution=restitution)
    heaviest = rng.uniform(0, 3)
    for k in range(count):
        shape = SHAPES[str(rng.choice(list(SHAPES)))](rng.uniform(0.03, 0.3, 3))
        turn, layer = rng.normal(size=4), np.array([0.0, 0.0, 0.4 * k * (rng.random() < 0.7)])
        world.add_body(
            f"body {k}",
            shape,
            mass=10 ** rng.uniform(0, heaviest),
            position=rng.uniform((-0.4, -0.4, 0.2), (0.4, 0.4, 1.0)) + layer,
            orientation=tuple(turn / np.linalg.norm(turn)),
            velocity=tuple(rng.normal(size=3) * rng.choice([0, 1, 5])),
            friction=friction,
            restitution=restitution,
        )
    return stiction.Stepper(world, dt=float(rng.choice([2e-3, 5e-3, 1e-2])))


# Some paths are lost, by the luck of rounding: of 40,000 steps 4, 4 and 49 on one machine. With friction that left its
# cones it was 1 in 125.
@pytest.mark.parametrize(("friction", "share"), [(0.5, 1e-3), (3.0, 1e-3), (1000.0, 2.5e-3)])
def test_thrown_bodies_are_solved_and_stay(friction, share):
    seeds, steps, missed = 60, 200, 0
    for seed in range(seeds):
        stepper = thrown(seed, friction)
        for k in range(steps):
            report = stepper.step()
            assert report.accepted, (seed, k, report.status)
            assert report.certificate["cone"] <= (1e-6 if report.at_acceptable else 1e-9), (seed, k)
            missed += report.at_acceptable
        assert np.abs(stepper.v.reshape(-1, 6)[:, :3]).max() < 20.0, seed
        assert stepper.q.reshape(-1, 7)[:, 2].min() > 0.0, seed
    assert missed <= share * seeds * steps
