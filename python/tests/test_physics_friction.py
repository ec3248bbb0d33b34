"""Friction in closed form, through World and Stepper.

Forces and velocities of one solve are compared at 1e-9, states at rest at 1e-12, trajectories by their order.
"""

import numpy as np
import pytest

import stiction
from stiction import Shape

GRAVITY = 9.81
EXACT = ("coulomb_cone", "coulomb_pyramid", "moreau")  # every law that is Coulomb's


def about_y(angle):
    """Quaternion [x y z w] of a turn about y: of a slope that falls along x."""
    return np.array([0, np.sin(angle / 2), 0, np.cos(angle / 2)])


def about_z(angle):
    return np.array([0, 0, np.sin(angle / 2), np.cos(angle / 2)])


def times(a, b):
    """The turn b, then the turn a."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])


def on_slope(angle, shape, half_height, mass=2.0, heading=0.0, turn=(0, 0, 0, 1)):
    """A body on a plane that falls by `angle` towards `heading`, and the unit vector down the slope."""
    slope = times(about_z(heading), about_y(angle))
    normal = np.array([np.sin(angle) * np.cos(heading), np.sin(angle) * np.sin(heading), np.cos(angle)])
    world = stiction.World(friction=1.0)
    world.add_body("slope", Shape.plane(), orientation=slope)
    world.add_body("body", shape, mass=mass, position=half_height * normal, orientation=times(slope, np.asarray(turn)))
    down = np.array([np.cos(angle) * np.cos(heading), np.cos(angle) * np.sin(heading), -np.sin(angle)])
    return world, down


def velocity(world, stepper):
    """(6,) of the body, world axes: linear of its centre, angular."""
    return world.velocity("body", stepper.q, stepper.v)


def after_rest(world, stepper, steps=20):
    """`velocity` after some steps from rest: where the acceleration is constant, that times the time, exactly."""
    for _ in range(steps):
        assert stepper.step().status == "solved"
    return velocity(world, stepper)


# ---- slopes ----


@pytest.mark.parametrize("law", EXACT)
@pytest.mark.parametrize("heading", [0.0, 0.4])
def test_a_box_sticks_up_to_the_angle_of_friction_without_creep(law, heading):
    angle, edges = 0.4, 64
    world, _ = on_slope(angle, Shape.box((0.2, 0.3, 0.1)), 0.05, heading=heading)
    mu = np.tan(angle) * (1 + 1e-3)
    if law == "coulomb_pyramid":
        mu /= np.cos(np.pi / edges)  # of the middle of an edge
    stepper = stiction.Stepper(world, law=law, friction=mu, edges=edges if law == "coulomb_pyramid" else None)
    start = stepper.q
    for _ in range(300):
        assert stepper.step().status == "solved"
    np.testing.assert_allclose(stepper.q, start, atol=1e-12)


@pytest.mark.parametrize("heading", [0.0, 0.4])
@pytest.mark.parametrize("share", [0.999, 0.5])
def test_a_box_slides_beyond_it_with_the_rest_of_its_weight(share, heading):
    angle = 0.4
    mu = share * np.tan(angle)
    world, down = on_slope(angle, Shape.box((0.2, 0.3, 0.1)), 0.05, heading=heading)
    stepper = stiction.Stepper(world, friction=mu)
    v = after_rest(world, stepper)
    np.testing.assert_allclose(v[:3], GRAVITY * (np.sin(angle) - mu * np.cos(angle)) * stepper.time * down, atol=1e-9)
    np.testing.assert_allclose(v[3:], 0, atol=1e-9)


ROLLING = {  # shape, how it lies, share of g sin θ, needed mu / tan θ
    "sphere": (Shape.sphere(0.1), (0, 0, 0, 1), 5 / 7, 2 / 7),
    "disc": (Shape.cylinder(0.1, 0.3), (np.sqrt(0.5), 0, 0, np.sqrt(0.5)), 2 / 3, 1 / 3),  # its axis across the slope
}


@pytest.mark.parametrize("name", ROLLING)
def test_rolling_needs_its_share_of_friction(name):
    shape, turn, share, needed = ROLLING[name]
    angle, radius = 0.5, 0.1
    world, down = on_slope(angle, shape, radius, turn=turn)
    for mu in (needed * np.tan(angle) * (1 + 1e-3), 1.0):
        stepper = stiction.Stepper(world, friction=mu)
        v = after_rest(world, stepper)
        np.testing.assert_allclose(v[:3], share * GRAVITY * np.sin(angle) * stepper.time * down, atol=1e-9)
        np.testing.assert_allclose(v[4], (v[:3] @ down) / radius, atol=1e-8)  # rolls
    mu = needed * np.tan(angle) * (1 - 1e-3)
    stepper = stiction.Stepper(world, friction=mu)
    v = after_rest(world, stepper)
    np.testing.assert_allclose(v[:3], GRAVITY * (np.sin(angle) - mu * np.cos(angle)) * stepper.time * down, atol=1e-9)
    assert v[4] * radius < (v[:3] @ down) * (1 - 1e-4)  # and slips


# ---- sliding and rolling on the level ----


def box_on_ground(mu):
    world = stiction.World(friction=mu)
    world.add_ground()
    world.add_body("body", Shape.box((0.2, 0.3, 0.1)), mass=2.0, position=(0, 0, 0.05))
    return world


def test_a_sliding_stop_is_as_long_in_every_direction():
    mu, speed, h = 0.4, 1.0, 1e-3
    world = box_on_ground(mu)
    steps = int(np.ceil(speed / (mu * GRAVITY * h)))
    length = h * sum(speed - k * mu * GRAVITY * h for k in range(1, steps))  # of the scheme
    np.testing.assert_allclose(length, speed**2 / (2 * mu * GRAVITY), atol=speed * h)
    for angle in np.linspace(0, 2 * np.pi, 7, endpoint=False) + 0.1:
        direction = np.array([np.cos(angle), np.sin(angle), 0])
        stepper = stiction.Stepper(world)
        stepper.reset(v=[*(speed * direction), 0, 0, 0])
        for _ in range(steps - 1):
            assert stepper.step().status == "solved"
        assert np.linalg.norm(stepper.v) > 1e-5
        stepper.step()
        np.testing.assert_allclose(stepper.v, 0, atol=1e-12)
        np.testing.assert_allclose(stepper.q[:3] - [0, 0, 0.05], length * direction, atol=1e-9)


def test_a_sliding_sphere_comes_to_roll():
    mu, speed, radius = 0.3, 1.0, 0.1
    world = stiction.World(friction=mu)
    world.add_ground()
    world.add_body("body", Shape.sphere(radius), mass=2.0, position=(0, 0, radius))
    rolls_at, distance, later = 2 * speed / (7 * mu * GRAVITY), 12 * speed**2 / (49 * mu * GRAVITY), 0.2
    errors = []
    for h in (4e-3, 2e-3, 1e-3, 0.5e-3):
        stepper = stiction.Stepper(world, dt=h)
        stepper.reset(v=[speed, 0, 0, 0, 0, 0])
        rolling = None
        while stepper.time < later - h / 2:
            assert stepper.step().status == "solved"
            v = velocity(world, stepper)
            if rolling is None and abs(v[0] - radius * v[4]) < 1e-9:
                rolling = stepper.time
        assert rolls_at <= rolling + 1e-12 < rolls_at + h + 1e-12
        np.testing.assert_allclose(velocity(world, stepper)[:3], [5 / 7 * speed, 0, 0], atol=1e-9)
        errors.append(abs(stepper.q[0] - distance - 5 / 7 * speed * (later - rolls_at)))
    order = np.polyfit(np.log([4, 2, 1, 0.5]), np.log(errors), 1)[0]
    assert 0.9 < order < 1.1, errors


# ---- tipping, the ladder, the pinch ----


@pytest.mark.parametrize("margin", [-1e-3, 1e-3])
def test_a_tall_box_tips_where_its_weight_leaves_its_base(margin):
    width, height, mass = 0.2, 0.5, 2.0
    angle = np.arctan(width / height * (1 + margin))
    world, _ = on_slope(angle, Shape.box((width, 0.3, height)), height / 2, mass=mass)
    stepper = stiction.Stepper(world, friction=1.2 * width / height)
    start = stepper.q
    assert stepper.step().status == "solved"
    # About its lower edge, moment of inertia m (w² + h²)/3.
    moment = mass * GRAVITY * (height / 2 * np.sin(angle) - width / 2 * np.cos(angle))
    expected = max(moment, 0) / (mass * (width**2 + height**2) / 3) * stepper.dt
    np.testing.assert_allclose(velocity(world, stepper)[3:], [0, expected, 0], atol=1e-12)
    for _ in range(200):
        assert stepper.step().status == "solved"
    if margin < 0:
        np.testing.assert_allclose(stepper.q, start, atol=1e-12)
    else:
        assert velocity(world, stepper)[4] > 10 * expected  # it goes on tipping


def test_a_box_that_slides_does_not_tip():
    width, height = 0.2, 0.5
    mu, angle = 0.999 * width / height, np.arctan(width / height * 1.1)
    world, down = on_slope(angle, Shape.box((width, 0.3, height)), height / 2)
    stepper = stiction.Stepper(world, friction=mu)
    v = after_rest(world, stepper)
    np.testing.assert_allclose(v[:3], GRAVITY * (np.sin(angle) - mu * np.cos(angle)) * stepper.time * down, atol=1e-9)
    np.testing.assert_allclose(v[3:], 0, atol=1e-9)


def ladder(angle, length=2.0, radius=0.01, mass=5.0):
    """A capsule from the ground to the smooth wall x = 0, its foot at x > 0."""
    world = stiction.World()
    world.add_ground(friction=9.0)
    world.add_body("wall", Shape.plane(), orientation=about_y(np.pi / 2), friction=0.0)
    middle = [radius + length / 2 * np.cos(angle), 0, radius + length / 2 * np.sin(angle)]
    rod = Shape.capsule(radius, length)
    inertia = mass * length**2 / 12 * np.diag([1, 1, 1e-3])
    world.add_body("body", rod, mass, middle, about_y(angle - np.pi / 2), friction=9.0, inertia=inertia)
    return world


@pytest.mark.parametrize("margin", [-1e-3, 1e-3])
def test_a_ladder_slips_below_the_angle_that_its_foot_holds(margin):
    angle, length, radius, mass = 1.0, 2.0, 0.01, 5.0
    c, s, k = length / 2 * np.cos(angle), length / 2 * np.sin(angle), mass * length**2 / 12
    needed = c / (2 * s + radius)  # N_wall (2 s + r) = m g c about the foot; a thin one: 1 / (2 tan θ)
    np.testing.assert_allclose(needed, 1 / (2 * np.tan(angle)), rtol=0.01)
    mu = needed * (1 + margin)
    world = ladder(angle, length, radius, mass)
    world.set_pair("body", "ground", friction=mu)
    stepper = stiction.Stepper(world)
    start = stepper.q
    if margin > 0:
        for _ in range(300):
            assert stepper.step().status == "solved"
        np.testing.assert_allclose(stepper.q, start, atol=1e-12)
        contacts = stepper.contacts
        forces = {b if a == "body" else a: f for (a, b), f in zip(contacts.body_names, contacts.forces, strict=True)}
        np.testing.assert_allclose(forces["wall"], [mass * GRAVITY * needed, 0, 0], atol=1e-8)
        np.testing.assert_allclose(forces["ground"], [-mass * GRAVITY * needed, 0, mass * GRAVITY], atol=1e-8)
        return
    assert stepper.step().status == "solved"
    # Newton and Euler for (θ'', N_ground, N_wall), θ the angle from the ground; both ends slide.
    #   m x'' = N_wall - μ N,  m z'' = N - m g,  x'' = -s θ'', z'' = c θ'',  k θ'' = -N c + μ N (s + r) + N_wall s
    equations = [[mass * s, -mu, 1], [mass * c, -1, 0], [-k, -c + mu * (s + radius), s]]
    turn, _, _ = np.linalg.solve(equations, [0, -mass * GRAVITY, 0])
    assert turn < 0
    v = velocity(world, stepper)
    np.testing.assert_allclose(v[[0, 2]], np.array([-s, c]) * turn * stepper.dt, atol=1e-9)
    np.testing.assert_allclose(v[4], turn * stepper.dt, atol=1e-9)


GRIPPER = """<robot name="gripper"><link name="base"/>{fingers}</robot>"""
FINGER = """
<link name="{name}">
  <inertial><mass value="0.1"/><inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.01"/></geometry></collision>
</link>
<joint name="{name}_slide" type="prismatic">
  <parent link="base"/><child link="{name}"/><origin xyz="{x} 0 0.5"/><axis xyz="{axis} 0 0"/>
  <limit lower="-1" upper="1" effort="100" velocity="9"/>
</joint>"""


@pytest.mark.parametrize("margin", [-1e-3, 1e-3])
def test_two_fingers_hold_what_their_friction_carries(tmp_path, margin):
    mass, mu, edge = 0.4, 0.6, 0.08
    push = mass * GRAVITY / (2 * mu) * (1 + margin)
    fingers = [
        FINGER.format(name=name, x=side * (edge / 2 + 0.01), axis=-side) for name, side in (("left", -1), ("right", 1))
    ]
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER.format(fingers="".join(fingers)))
    world = stiction.World(friction=mu)
    world.add_robot(str(path))
    world.add_body("body", Shape.box((edge, edge, edge)), mass=mass, position=(0, 0, 0.5))
    stepper = stiction.Stepper(world)
    start = stepper.q
    for _ in range(500 if margin > 0 else 20):
        assert stepper.step([push, push]).status == "solved"
    if margin > 0:
        np.testing.assert_allclose(stepper.q, start, atol=1e-12)
    else:
        fall = (GRAVITY - 2 * mu * push / mass) * stepper.time
        np.testing.assert_allclose(velocity(world, stepper), [0, 0, -fall, 0, 0, 0], atol=1e-9)


# ---- Painlevé's rod ----


def critical_friction(angle):
    """Of a slender rod at `angle` from the ground: beyond it no force holds its sliding end on the ground."""
    c, s = np.cos(angle), np.sin(angle)
    return (1 + 3 * c * c) / (3 * s * c)


def sliding_rod(angle, speed=1.0):
    """A rod that slides along -x on its lower end, this end first; and G of the end (N, and T along +x)."""
    half, radius, mass = 0.5, 1e-9, 2.0
    world = stiction.World()
    world.add_ground(friction=99.0)
    rod, position = Shape.capsule(radius, 2 * half), (0, 0, half * np.sin(angle) + radius)
    inertia = mass * half**2 / 3 * np.diag([1, 1, 1e-3])
    world.add_body("body", rod, mass, position, about_y(np.pi / 2 - angle), friction=99.0, inertia=inertia)
    problem = world.problem()
    assert problem.contacts == 1
    along_x = np.column_stack([problem.normals[0], problem.tangents1[0], problem.tangents2[0]]).T[:, [2, 0]]
    G = along_x.T @ problem.J @ np.linalg.solve(problem.M, problem.J.T) @ along_x
    return world, world.velocity_in_body_axes([-speed, 0, 0, 0, 0, 0]), G


def slid(world, v, mu, h, law):
    """Impulse (N s; N, and T along +x) of one step, and the velocity of the end after it."""
    stepper = stiction.Stepper(world, dt=h, law=law, friction=mu)
    stepper.reset(v=v)
    assert stepper.step().status == "solved"
    force = stepper.contacts.forces[0]
    np.testing.assert_allclose(force[1], 0, atol=1e-9 * force[2])
    return h * force[[2, 0]], stepper.contacts.velocities[0]


def test_the_paradox_begins_at_the_friction_of_the_closed_form():
    for angle in (0.6, np.arctan(2), 1.3):
        G = sliding_rod(angle)[2]
        np.testing.assert_allclose(-G[0, 0] / G[0, 1], critical_friction(angle), rtol=1e-8)
    np.testing.assert_allclose(critical_friction(np.arctan(2)), 4 / 3)  # the lowest


@pytest.mark.parametrize("law", ["coulomb_cone", "moreau"])
@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.99])
def test_below_it_the_rod_slides_on_with_a_finite_force(law, ratio):
    h, angle = 1e-4, 1.0
    mu = ratio * critical_friction(angle)
    world, v, G = sliding_rod(angle)
    impulse, u = slid(world, v, mu, h, law)
    force = GRAVITY / (G[0, 0] * (1 - ratio))  # of u_N = 0: without bound as the ratio goes to 1
    np.testing.assert_allclose(impulse / h, [force, mu * force], rtol=1e-6)
    assert np.linalg.norm(u[1:]) > 0.5


@pytest.mark.parametrize("law", EXACT)
@pytest.mark.parametrize("ratio", [1.01, 2.0])
def test_beyond_it_the_end_is_stopped_by_an_impulse_however_short_the_step(law, ratio):
    """
    There u_N = G_NN (1 - ratio) λ_N - g h < 0 whatever λ_N >= 0 while it slides: no force is a solution at the level of
    accelerations. Velocities may jump, so every step has one, the impulse that stops the end: as large in a step a
    thousand times shorter.
    """
    speed, angle = 1.0, 1.0
    mu = ratio * critical_friction(angle)
    for h in (1e-3, 1e-6):
        world, v, G = sliding_rod(angle, speed)
        impulse, u = slid(world, v, mu, h, law)
        np.testing.assert_allclose(impulse, np.linalg.solve(G, [GRAVITY * h, speed]), rtol=1e-7)
        np.testing.assert_allclose(u, 0, atol=1e-9)
        assert impulse[1] <= mu * impulse[0]


def in_a_slot(law, clearance):
    """A stepper of a block between two walls at friction 0.3."""
    world = stiction.World(friction=0.3)
    for side in (-1, 1):
        world.add_body(f"wall{side}", Shape.box((0.2, 1, 8)), position=(side * (0.2 + clearance / 2), 0, 0))
    world.add_body("block", Shape.box((0.2, 0.2, 0.1)), mass=1.0)
    return stiction.Stepper(world, dt=1e-3, law=law)


@pytest.mark.parametrize("law", ["coulomb_cone", "coulomb_pyramid"])
def test_nothing_holds_a_block_in_a_slot_of_its_own_width(law):
    stepper = in_a_slot(law, 0.0)
    for _ in range(50):
        assert stepper.step().status == "solved"
    assert stepper.v[2] == pytest.approx(-9.81 * 0.05, rel=1e-9)


@pytest.mark.parametrize("law", ["anitescu", "todorov", "max_dissipation"])
def test_laws_that_lift_what_slides_hold_it_there(law):
    """u_N >= mu |u_T| at both walls leaves u_T = 0, as docs/laws.md says."""
    tight, loose = in_a_slot(law, 0.0), in_a_slot(law, 1e-5)
    tight.apply_force("block", (0, 1e3, 0), duration=1e-3)
    for _ in range(50):
        assert {tight.step().status, loose.step().status} == {"solved"}
    assert np.abs(tight.v).max() < 1e-9
    held = -5e-6 / (1e-3 * 0.3) if law == "todorov" else -9.81 * 0.05
    assert loose.v[2] == pytest.approx(held, rel=1e-6)
