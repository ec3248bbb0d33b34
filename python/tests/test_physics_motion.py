"""Impacts, loads and free motion in closed form, through World and Stepper."""

import numpy as np
import pytest

import stiction
from stiction import Shape

GRAVITY = 9.81


# ---- impacts ----


def bounces(height, e, h, law, duration):
    """Apexes above the ground, each by the parabola through its last step upwards, and the time of the last impact."""
    world = stiction.World()
    world.add_ground(restitution=e)
    world.add_body("ball", Shape.sphere(0.1), mass=1.0, position=(0, 0, 0.1 + height), restitution=e)
    stepper = stiction.Stepper(world, dt=h, law=law)
    apexes, last, v = [], 0.0, 0.0
    while stepper.time < duration:
        assert stepper.step().status == "solved"
        if v > 0 > stepper.v[2]:
            apexes.append(stepper.q[2] - 0.1 - h * stepper.v[2] + v * v / (2 * GRAVITY))
        if stepper.v[2] > v + 1e-9:
            last = stepper.time
        v = stepper.v[2]
    return np.array(apexes), last


@pytest.mark.parametrize("law", ["coulomb_cone", "moreau"])
def test_a_ball_bounces_to_the_heights_of_its_coefficient(law):
    """A landing is off by less than h v, its speed by g h: an apex by less than 2 h v of the first landing."""
    e = 0.7
    for h in (4e-4, 1e-4):
        for height in (0.5, 0.54, 0.6):  # where in a step the ball lands is as good as random
            apexes, _ = bounces(height, e, h, law, 1.6)
            expected = height * e ** (2.0 * np.arange(1, 5))
            np.testing.assert_allclose(apexes[:4], expected, atol=2 * h * np.sqrt(2 * GRAVITY * height))


@pytest.mark.parametrize("law", ["coulomb_cone", "moreau"])
def test_a_ball_comes_to_rest_at_zenos_time(law):
    e, height, steps = 0.6, 0.3, (8e-4, 4e-4, 2e-4, 1e-4, 5e-5)
    zeno = np.sqrt(2 * height / GRAVITY) * (1 + e) / (1 - e)
    errors = [abs(bounces(height, e, h, law, 1.1 * zeno)[1] - zeno) for h in steps]
    assert 0.8 < np.polyfit(np.log(steps), np.log(errors), 1)[0] < 1.3, errors


def cradle(gap, law, e=1.0):
    world = stiction.World(gravity=(0, 0, 0))
    for k in range(3):
        world.add_body(f"ball{k}", Shape.sphere(0.05), mass=0.2, position=(k * (0.1 + gap), 0, 0), restitution=e)
    stepper = stiction.Stepper(world, law=law)
    stepper.reset(v=np.eye(18)[0])
    return stepper


@pytest.mark.parametrize("law", ["coulomb_cone", "coulomb_pyramid", "moreau"])
def test_a_cradle_of_touching_balls_is_one_impact(law):
    """Newton's law at both contacts at once, u_01 = e v, u_12 = 0; energy and momentum stay."""
    stepper = cradle(0.0, law)
    assert stepper.step().status == "solved"
    np.testing.assert_allclose(stepper.v[::6], [-1 / 3, 2 / 3, 2 / 3], atol=1e-9)
    np.testing.assert_allclose(np.delete(stepper.v, [0, 6, 12]), 0, atol=1e-12)


@pytest.mark.parametrize("law", ["coulomb_cone", "moreau"])
def test_a_cradle_of_balls_apart_is_one_impact_after_the_other(law):
    stepper = cradle(5e-3, law)
    for _ in range(20):
        assert stepper.step().status == "solved"
    np.testing.assert_allclose(stepper.v[::6], [0, 0, 1], atol=1e-9)


def block(breadth, height, gravity=GRAVITY, h=1e-3):
    world = stiction.World(gravity=(0, 0, -gravity), friction=3.0)
    world.add_ground()
    world.add_body("block", Shape.box((breadth, 0.1, height)), mass=2.0, position=(0, 0, height / 2))
    return world, stiction.Stepper(world, dt=h)


@pytest.mark.parametrize("breadth", [0.1, 0.3, 0.6, 0.8])
def test_a_block_that_lands_on_its_other_edge_keeps_housners_share_of_its_spin(breadth):
    height, spin = 0.5, 2.0
    world, stepper = block(breadth, height, gravity=0.0)
    stepper.reset(v=[spin * height / 2, 0, -spin * breadth / 2, 0, spin, 0])  # about its edge at -x
    assert stepper.step().status == "solved"
    share = 1 - 1.5 * breadth**2 / (breadth**2 + height**2)  # 1 - 1.5 sin² α
    # It turns about the edge at +x; were the share negative that would press the edge at -x, and it stays.
    after = spin * max(share, 0.0)
    np.testing.assert_allclose(
        world.velocity_in_world_axes(stepper.v, stepper.q),
        [after * height / 2, 0, after * breadth / 2, 0, after, 0],
        atol=1e-9,
    )


def test_a_rocking_block_loses_housners_share_at_every_impact():
    breadth, height, angle, steps = 0.1, 0.5, 0.05, (1e-3, 5e-4, 2.5e-4)
    share = 1 - 1.5 * breadth**2 / (breadth**2 + height**2)
    errors = []
    for h in steps:
        world, stepper = block(breadth, height, h=h)
        # Turned about its edge at -x, which stays where it was.
        c, s, q = np.cos(angle), np.sin(angle), world.initial_q.copy()
        q[[0, 2]] = (c - 1) * breadth / 2 - s * height / 2, c * height / 2 + s * breadth / 2
        q[3:] = [0, -np.sin(angle / 2), 0, np.cos(angle / 2)]
        stepper.reset(q=q)
        spins, tilt = [], -angle
        while len(spins) < 4:
            spin = stepper.v[4]
            assert stepper.step().status == "solved"
            last, tilt = tilt, 2 * np.arctan2(stepper.q[4], stepper.q[6])
            if tilt * last <= 0:  # upright: just before an impact or just after it
                spins.append(max(abs(spin), abs(stepper.v[4])))
        errors.append(np.abs(np.divide(spins[1:], spins[:-1]) - share).max())
    assert 0.8 < np.polyfit(np.log(steps), np.log(errors), 1)[0] < 1.5, errors
    assert errors[-1] < 0.01


# ---- loads ----


def test_every_interface_of_a_stack_carries_what_is_above():
    count, mass = 10, 2.0
    world = stiction.World()
    world.add_ground()
    for k in range(count):
        world.add_body(f"box{k}", Shape.box((0.3, 0.2, 0.1)), mass=mass, position=(0, 0, 0.05 + 0.1 * k))
    stepper = stiction.Stepper(world)
    start = stepper.q
    for _ in range(100):
        assert stepper.step().status == "solved"
    np.testing.assert_allclose(stepper.q, start, atol=1e-12)
    loads = np.zeros(count)
    for (a, b), force in zip(stepper.contacts.body_names, stepper.contacts.forces, strict=True):
        upper, lower = max(a, b), min(a, b)  # "ground" is above every "box" in the alphabet
        loads[0 if upper == "ground" else int(upper[3:])] += abs(force[2])
        assert lower == "box0" if upper == "ground" else int(upper[3:]) == int(lower[3:]) + 1
    np.testing.assert_allclose(loads, mass * GRAVITY * np.arange(count, 0, -1), rtol=1e-8)


def test_feet_carry_the_weight_and_say_that_their_shares_are_open():
    """Joints held: twelve forces, six balances, so six are open, and every foot's share lies in an interval."""
    world = stiction.World.from_scene("quadruped")
    run = stiction.simulate("quadruped", duration=1.0)
    assert run.status == "solved"
    q, v, h = run.q[-1], np.zeros(world.nv), 1e-3
    problem = world.problem(q, v, dt=h)
    held = stiction.inverse(problem, world.actuated, 0.0)
    assert (held.status, problem.contacts) == ("solved", 4)
    np.testing.assert_allclose(held.v, 0, atol=1e-9)
    frames = np.stack([problem.normals, problem.tangents1, problem.tangents2], axis=2)
    forces = (frames @ held.impulses[:, :, None])[:, :, 0] / h
    weight = np.array([0, 0, world.mass_matrix(q)[0, 0] * GRAVITY])
    np.testing.assert_allclose(forces.sum(axis=0), weight, atol=1e-8)
    moment = np.cross(problem.positions, forces).sum(axis=0)
    np.testing.assert_allclose(moment, np.cross(world.center_of_mass(q), weight), atol=1e-8)

    shares = stiction.indeterminacy(problem, held, intervals=True)
    assert (shares.dimension, shares.complete) == (6, True)
    assert np.all(shares.normal_min <= held.impulses[:, 0])
    assert np.all(shares.normal_max >= held.impulses[:, 0])
    # The weight is above the middle: each diagonal carries half of it, and either of its feet nearly all of that.
    assert np.all(shares.normal_max - shares.normal_min > 0.45 * weight[2] * h)
    other = stiction.inverse(problem, world.actuated, 0.0, choice="least_norm")
    assert np.linalg.norm(other.impulses) <= np.linalg.norm(held.impulses) * (1 + 1e-9)
    tau = np.zeros(world.nv)
    tau[world.actuated] = held.tau
    again = stiction.solve(world.problem(q, v, tau, dt=h))
    np.testing.assert_allclose(again.v, 0, atol=1e-9)


# ---- free motion ----


def spinning_brick(h, duration=1.0):
    """Relative errors of momentum, angular momentum and energy at the end."""
    world = stiction.World(gravity=(0, 0, 0))
    inertia = np.diag([0.01, 0.02, 0.025])
    world.add_body("brick", Shape.box((0.3, 0.2, 0.1)), mass=2.0, inertia=inertia, position=(0, 0, 0))
    stepper = stiction.Stepper(world, dt=h)
    stepper.reset(v=[0.3, -0.2, 0.1, 0.1, 4.0, 0.2])  # about the axis of middle inertia: it tumbles

    def constants():
        R = world.pose("brick", stepper.q)[:3, :3]
        return 2.0 * R @ stepper.v[:3], R @ inertia @ stepper.v[3:], world.energy(stepper.q, stepper.v)

    start = constants()
    while stepper.time < duration - h / 2:
        assert stepper.step().status == "solved"
    end = constants()
    return [np.linalg.norm(b - a) / np.linalg.norm(a) for a, b in zip(start, end, strict=True)]


def test_a_spinning_brick_keeps_its_momentum_and_energy_and_its_angular_momentum_to_first_order():
    """Momentum and energy to rounding; angular momentum to O(h): the body turns at the end-of-step velocity."""
    steps = (4e-3, 2e-3, 1e-3)
    momentum, angular, energy = np.transpose([spinning_brick(h, 3.0) for h in steps])
    assert momentum.max() < 1e-11
    assert energy.max() < 1e-11
    assert 0.95 < np.polyfit(np.log(steps), np.log(angular), 1)[0] < 1.05, angular
    assert angular[-1] < 2e-3


@pytest.mark.parametrize("scheme", stiction.SCHEMES)
def test_a_body_whose_origin_is_not_its_centre_of_mass_flies_straight(scheme):
    com = np.array([0.05, 0.02, 0.1])
    world = stiction.World(gravity=(0, 0, 0))
    inertia = np.diag([0.03, 0.02, 0.012])
    world.add_body("b", stiction.Shape.sphere(0.1), mass=2.0, angular_velocity=(5, 12, 5), com=com, inertia=inertia)
    stepper = stiction.Stepper(world, scheme=scheme)
    before, velocity = world.center_of_mass(), world.velocity("b", point=com)[:3]
    for _ in range(1000):
        assert stepper.step()
    wobble = 0.5e-3 * np.linalg.norm((5, 12, 5)) * np.linalg.norm(com)  # h ω c / 2: the origin goes straight in a step
    np.testing.assert_allclose(world.center_of_mass(stepper.q), before + velocity, atol=2.0 * wobble)
    np.testing.assert_allclose(world.velocity("b", stepper.q, stepper.v, com)[:3], velocity, atol=1e-6)
    assert world.energy(stepper.q, stepper.v) == pytest.approx(world.energy(), rel=1e-6)


def energy_left_to_a_coin(scheme, dt, duration=0.5):
    """Part of the energy of a frictionless coin that wobbles on its rim."""
    radius, thickness, tilt = 0.1, 1e-3, 0.6
    c, s = np.cos(tilt), np.sin(tilt)
    world = stiction.World(friction=0.0)
    world.add_ground()
    world.add_body(
        "coin",
        Shape.cylinder(radius, thickness),
        mass=1.0,
        position=(0, 0, radius * s + 0.5 * thickness * c),
        orientation=(0, np.sin(0.5 * tilt), 0, np.cos(0.5 * tilt)),
        angular_velocity=(6.0 * s, 0, 6.0 + 6.0 * c),
    )
    stepper = stiction.Stepper(world, dt=dt, law="frictionless", scheme=scheme)
    for _ in range(round(duration / dt)):
        assert stepper.step().accepted
    return world.energy(stepper.q, stepper.v) / world.energy()


@pytest.mark.parametrize("scheme", [s for s in stiction.SCHEMES if s != "event_driven"])
def test_a_coin_on_its_rim_loses_energy_at_first_order(scheme):
    coarse, fine = (1.0 - energy_left_to_a_coin(scheme, dt) for dt in (2e-4, 5e-5))
    assert 0.02 < fine < 0.05
    assert coarse / fine == pytest.approx(4.0, rel=0.2)


def test_a_coin_on_its_rim_keeps_its_energy_between_events():
    assert energy_left_to_a_coin("event_driven", 1e-3) == pytest.approx(1.0, abs=1e-5)
