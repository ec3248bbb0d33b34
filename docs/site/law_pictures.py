"""The picture of a contact law: a block that is pushed, pushed all round, and let go on slopes, by the engine."""

import math

import numpy as np

import stiction
from stiction import plot

CAPTION = (
    "A block of 1 kg, friction 0.5. Left: pushed by a force that grows to its weight in 0.5 s. Middle: friction of one "
    "step from rest under a push of its weight in each direction; dotted, Coulomb's circle. Right: let go on slopes of "
    "0.8 and 1.2 times the friction; dotted, Coulomb's law."
)
MU, MASS, GRAVITY, STEP = 0.5, 1.0, 9.81, 1e-3
WEIGHT = MASS * GRAVITY
# Ground 0.1 mm deep under the block, and dampers that settle it within some steps; each law reads its own.
MATERIAL = {
    "viscosity": 20.0,  # N s/m: 0.5 m/s under the whole weight
    "stiffness": WEIGHT / 1e-4,
    "damping": 100.0,
    "dissipation": 1.0,
    "dissipation_time": 2e-3,
    "stiffness_tangential": WEIGHT / 1e-4,
    "damping_tangential": 100.0,
    "stiction_speed": 1e-2,
    "regularization": 1e-2,
    "time_constant": 2e-2,
    "friction_ratio": 0.5,
}
SPRINGS = ("sap", "stick_slip_spring", "linear_penalty", "regularized_stiction", "hunt_crossley")  # carry load by depth
CORNERS = 4  # contacts of the block's face, which share its weight


def shared(material):
    """Material of each of the corners that together are one contact of `material`."""
    extensive = ("viscosity", "stiffness", "damping", "stiffness_tangential", "damping_tangential")
    return {name: value / CORNERS if name in extensive else value for name, value in material.items()}


def block(law, slope=0.0):
    """A stepper with a low block at rest on ground that leans by `slope` (rad), where it sinks in as far as it will."""
    gravity = (GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope))
    world = stiction.World(gravity=gravity, friction=MU, material=shared(MATERIAL))
    world.add_ground()
    world.add_body("block", stiction.Shape.box((0.4, 0.4, 0.02)), mass=MASS, position=(0, 0, 0.01))
    return stiction.Stepper(world, dt=STEP, law=law)


def push_ramp(law, seconds=0.5, settle=0.05):
    """Push and friction over the weight, along a ramp."""
    stepper, pushes, frictions = block(law), [], []
    for _ in range(round(settle / STEP)):
        stepper.step()
    steps = round(seconds / STEP)
    for k in range(steps):
        push = WEIGHT * (k + 1) / steps
        stepper.apply_force("block", force=(push, 0.0, 0.0))
        stepper.step()
        pushes.append(push / WEIGHT)
        frictions.append(-stepper.contacts.forces[:, 0].sum() / WEIGHT)
    return np.array(pushes), np.array(frictions)


def pushed_round(law, directions=120):
    """Friction over the weight (directions, 2) of one point at rest under a push of its weight in each direction."""
    out, depth = [], -1e-4 if law in SPRINGS else 0.0
    for angle in np.linspace(0.0, 2.0 * np.pi, directions + 1):
        push = WEIGHT * STEP * np.array([-1.0, np.cos(angle), np.sin(angle)])
        problem = stiction.ContactProblem(
            MASS * np.eye(3), np.zeros(3), np.eye(3), MU, dt=STEP, impulse=push, gap=depth, material=MATERIAL
        )
        out.append(stiction.solve(problem, law=law).impulses[0, 1:] / (WEIGHT * STEP))
    return np.array(out)


def slide(law, ratio, seconds=0.5):
    """Time and speed down a slope whose tangent is `ratio` times the friction."""
    stepper, times, speeds = block(law, math.atan(ratio * MU)), [0.0], [0.0]
    for _ in range(round(seconds / STEP)):
        stepper.step()
        times.append(stepper.time)
        speeds.append(_world_speed(stepper))
    return np.array(times), np.array(speeds)


def _world_speed(stepper):
    return float(stepper.v[0])  # the block turns by nothing to speak of, so its axes are the world's


def draw(law):
    figure, (push, section, slopes) = plot.pyplot().subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    pushes, frictions = push_ramp(law)
    push.plot(pushes, np.minimum(pushes, MU), ":", color="0.5")
    push.plot(pushes, frictions, color="C0")
    push.set_xlabel("push over weight")
    push.set_ylabel("friction over weight")
    push.set_ylim(-0.05, 1.1)
    circle = MU * np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 200))
    section.plot(circle.real, circle.imag, ":", color="0.5")
    section.plot(*pushed_round(law).T, ".-", color="C0", markersize=3, linewidth=0.8)
    section.set_aspect("equal", adjustable="datalim")
    section.set_xlabel("friction over weight, S")
    section.set_ylabel("friction over weight, T")
    for color, ratio in (("C2", 0.8), ("C1", 1.2)):
        time, speed = slide(law, ratio)
        angle = math.atan(ratio * MU)
        exact = max(0.0, math.sin(angle) - MU * math.cos(angle)) * GRAVITY
        slopes.plot(time, exact * time, ":", color="0.5")
        slopes.plot(time, speed, color=color, label=f"slope {ratio:g} μ")
    slopes.set_xlabel("time (s)")
    slopes.set_ylabel("speed downhill (m/s)")
    slopes.legend(fontsize=8, loc="upper left")
    for axes in (push, section, slopes):
        axes.grid(alpha=0.25, linewidth=0.5)
    return figure
