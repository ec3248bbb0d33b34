"""What no inertial frame changes: bodies that pass each other, and those that meet."""

import numpy as np
import pytest

import stiction

LAWS = (
    "coulomb_cone",
    "no_slip",
    "anitescu",
    "todorov",
    "sap",
    "linear_penalty",
    "regularized_stiction",
    "hunt_crossley",
)
MATERIAL = {
    "stiffness": 1e4,
    "dissipation_time": 0.1,
    "damping": 50.0,
    "dissipation": 0.1,
    "stiction_speed": 1e-3,
    "regularization": 1e-4,
}


def step(law, frame, gap, closing, sliding):
    """Velocities of two balls after a step of 5 ms, as the frame has them."""
    world = stiction.World(gravity=(0, 0, 0), friction=0.6, material=MATERIAL)
    for name, side in (("a", -1), ("b", 1)):
        motion = np.array([-side * closing / 2, side * sliding / 2, 0.0])
        place = (side * (0.1 + gap / 2), 0, 0)
        world.add_body(name, stiction.Shape.sphere(0.1), mass=1.0, position=place, velocity=motion + frame)
    stepper = stiction.Stepper(world, dt=5e-3, law=law)
    assert stepper.step().status == "solved"
    after = [world.velocity(name, stepper.q, stepper.v) for name in ("a", "b")]
    return np.array(after) - np.append(frame, np.zeros(3)), motion


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("frame", [(3, 0, 0), (20, 0, 0), (0, 0, -100)])
def test_balls_that_do_not_meet_within_the_step_feel_nothing(law, frame):
    """40 mm apart, closing at 1 m/s, or passing at 20 m/s."""
    for closing, sliding in ((1.0, 0.0), (0.0, 20.0), (1.0, 20.0)):
        v, motion = step(law, np.array(frame, float), 0.04, closing, sliding)
        np.testing.assert_allclose(v[1, :3], motion, atol=1e-12)
        np.testing.assert_allclose(v[:, 3:], 0.0, atol=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sliding", [0.0, 5.0])
def test_balls_that_meet_do_so_alike_in_every_frame(law, sliding):
    for gap in (0.02, 0.004, 1e-4, -1e-3):
        still, _ = step(law, np.zeros(3), gap, 6.0, sliding)
        for frame in ((20.0, 0, 0), (0, 50.0, 0)):
            moving, _ = step(law, np.array(frame), gap, 6.0, sliding)
            np.testing.assert_allclose(moving, still, atol=1e-9)
