"""A wheel whose mass is at its rim falls over its heavy side, and its light rim spins up and strikes the floor."""

import numpy as np
import pytest

import stiction

RADIUS = 0.1  # m


@pytest.mark.parametrize("friction", [0.0, 0.8])
@pytest.mark.parametrize("h", [2e-3, 5e-3])
@pytest.mark.parametrize("law", ["coulomb_cone", "moreau", "anitescu"])
def test_a_strike_that_does_not_settle_is_halved(law, h, friction):
    """A step that had not settled had 70 to 9000 times the energy, `solved`, and the wheel in the floor."""
    world = stiction.World(friction=friction)
    world.add_ground()
    tilt = 0.3
    world.add_body(
        "wheel",
        stiction.Shape.sphere(RADIUS),
        mass=1.0,
        inertia=1e-4 * np.eye(3),
        com=(0, 0, 0.099),
        position=(0, 0, RADIUS),
        orientation=(0, np.sin(tilt / 2), 0, np.cos(tilt / 2)),
    )
    stepper = stiction.Stepper(world, h, law=law, scheme="energy_momentum")
    start = world.energy(stepper.q, stepper.v)
    for _ in range(round(0.8 / h)):
        assert stepper.step().status == "solved"
        assert world.energy(stepper.q, stepper.v) < 2.0 * start
        assert world.pose("wheel", stepper.q)[2, 3] > 0.9 * RADIUS
