"""The picture of a time-integration scheme: order of its error, energy it keeps, and a bouncing ball, by the engine."""

import math

import numpy as np

import stiction
from stiction import plot

CAPTION = (
    "Left: error of a thrown tumbling body after 0.48 s against the step, all schemes; dotted, slopes 1, 2 and 4. "
    "Middle: energy of a body turning over about its middle axis, 1 ms. Right: a ball dropped from 1 m that bounces "
    "with restitution 0.7, step 10 ms; dotted, exact."
)
INERTIA = np.diag([0.03, 0.05, 0.07])  # kg m², of 1 kg
STEPS = (0.016, 0.008, 0.004, 0.002)  # s
REFERENCE = 2.5e-4  # s, of the scheme of fourth order
GRAVITY, HEIGHT, RESTITUTION, RADIUS = 9.81, 1.0, 0.7, 0.05


def thrown(scheme, dt, seconds, spin=(1.0, 6.0, 2.0)):
    """A stepper of a body thrown with a spin about no principal axis."""
    world = stiction.World()
    world.add_body(
        "body",
        stiction.Shape.box((0.5, 0.3, 0.1)),
        mass=1.0,
        inertia=INERTIA,
        velocity=(1, 0, 3),
        angular_velocity=spin,
    )
    stepper = stiction.Stepper(world, dt=dt, scheme=scheme)
    for _ in range(round(seconds / dt)):
        yield world, stepper.step(), stepper


def end_of(scheme, dt, seconds=0.48):
    *_, (_, _, stepper) = thrown(scheme, dt, seconds)
    return stepper.q.copy()


def errors(scheme, exact):
    return [max(np.abs(end_of(scheme, dt) - exact).max(), 1e-16) for dt in STEPS]


def energies(scheme, seconds=5.0):
    """Time, and kinetic and potential energy over the kinetic energy of the spin at the start, less what it was."""
    times, values = [], []
    spin = np.array([0.05, 20.0, 0.05])
    scale = 0.5 * spin @ INERTIA @ spin
    for world, _, stepper in thrown(scheme, 1e-3, seconds, tuple(spin)):
        times.append(stepper.time)
        values.append((world.kinetic_energy(stepper.q, stepper.v) + world.potential_energy(stepper.q)) / scale)
    return np.array(times), np.abs(np.array(values) - values[0])


def bounces(scheme, seconds=1.6, dt=0.01):
    """Time and height of the ball's lowest point."""
    world = stiction.World()
    world.add_ground(restitution=RESTITUTION)
    world.add_body(
        "ball", stiction.Shape.sphere(RADIUS), mass=1.0, position=(0, 0, RADIUS + HEIGHT), restitution=RESTITUTION
    )
    run = stiction.simulate(world, duration=seconds, dt=dt, scheme=scheme)
    return run.time, run.q[:, 2] - RADIUS


def exact_bounces(times):
    """Height of the same ball in closed form."""
    out, start, speed = [], math.sqrt(2.0 * HEIGHT / GRAVITY), math.sqrt(2.0 * GRAVITY * HEIGHT)
    for t in times:
        while t > start and t - start > 2.0 * RESTITUTION * speed / GRAVITY:
            start, speed = start + 2.0 * RESTITUTION * speed / GRAVITY, RESTITUTION * speed
        since = t - start
        fall = HEIGHT - 0.5 * GRAVITY * t * t if t <= start else RESTITUTION * speed * since - 0.5 * GRAVITY * since**2
        out.append(fall)
    return np.array(out)


def draw(scheme):
    figure, (order, energy, ball) = plot.pyplot().subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    exact = end_of("event_driven", REFERENCE)
    for name in stiction.SCHEMES:
        style = {"color": "C0", "linewidth": 2.0} if name == scheme else {"color": "0.75", "linewidth": 1.0}
        order.loglog(STEPS, errors(name, exact), "o-", markersize=4, label=name if name == scheme else None, **style)
    for slope, level in ((1, 1e-2), (2, 1e-4), (4, 1e-8)):
        order.loglog(STEPS, [level * (dt / STEPS[0]) ** slope for dt in STEPS], ":", color="0.5")
    order.set_xlabel("step (s)")
    order.set_ylabel("largest error of q")
    order.legend(fontsize=8)
    order.set_xticks(STEPS, [f"{1e3 * dt:g} ms" for dt in STEPS])
    order.set_xticks([], minor=True)
    time, change = energies(scheme)
    energy.semilogy(time, np.maximum(change, 1e-16), color="C0")
    energy.set_ylim(1e-16, 1.0)
    energy.set_xlabel("time (s)")
    energy.set_ylabel("change of energy, relative")
    fine = np.linspace(0.0, 1.6, 800)
    ball.plot(fine, exact_bounces(fine), ":", color="0.5")
    ball.plot(*bounces(scheme), ".-", color="C0", markersize=3, linewidth=0.8)
    ball.set_xlabel("time (s)")
    ball.set_ylabel("height (m)")
    for axes in (order, energy, ball):
        axes.grid(alpha=0.25, linewidth=0.5)
    return figure
