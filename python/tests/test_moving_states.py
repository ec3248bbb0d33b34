"""Forces at a state (q, v) that contacts and loops allow: what J changes by is in them, against closed forms."""

import pathlib

import numpy as np
import pytest

import stiction

DOCS = pathlib.Path(__file__).parents[2] / "docs"
STEPS = (1e-2, 1e-3, 1e-4)  # s
GRAVITY = 9.81

SLIDER_CRANK = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <body name="crank"><joint name="a" axis="0 1 0"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.003 0.003 0.003"/>
    <body name="rod" pos="0.2 0 0"><joint name="b" axis="0 1 0"/>
      <inertial pos="0.25 0 0" mass="2" diaginertia="0.04 0.04 0.04"/></body></body>
  <body name="slider" pos="0.7 0 0"><joint name="s" type="slide" axis="1 0 0"/>
    <inertial pos="0 0 0" mass="3" diaginertia="0.01 0.01 0.01"/></body>
  </worldbody><equality><connect body1="rod" body2="slider" anchor="0.5 0 0"/></equality>
  <actuator><motor joint="a"/></actuator></mujoco>"""
ANGLE, SPEED = 0.7, 3.0  # of the crank: rad, rad/s

PENDULUM = """<mujoco><worldbody><body name="rod"><freejoint/>
  <inertial pos="0 0 1" mass="2" diaginertia="0.001 0.001 0.001"/><geom type="sphere" size="0.05"/></body>
  </worldbody></mujoco>"""
FOOT, LENGTH, MASS, INERTIA = 0.05, 1.0, 2.0, 1e-3  # m, m, kg, kg m²


def slope(function, t):
    """d function/dt by a complex step, to rounding."""
    return np.imag(function(t + 1e-30j)) / 1e-30


def crank(t):
    """q at the crank angle t: the rod's end stays on the x axis."""
    tilt = np.arcsin(-0.4 * np.sin(t))
    return np.array([t, tilt - t, 0.2 * np.cos(t) + 0.5 * np.cos(tilt) - 0.7])


def crank_inertia(t):
    """kg m² of the whole at the crank."""
    sine, rate = 0.4 * np.sin(t), -0.4 * np.cos(t) / np.sqrt(1 - (0.4 * np.sin(t)) ** 2)
    cosine = np.sqrt(1 - sine**2)  # tilt: its sine is -sine
    rod = (-0.2 * np.sin(t) + 0.25 * sine * rate) ** 2 + (0.2 * np.cos(t) + 0.25 * cosine * rate) ** 2
    slider = (-0.2 * np.sin(t) + 0.5 * sine * rate) ** 2
    return 0.1**2 + 0.003 + 2 * rod + 0.04 * rate**2 + 3 * slider


def crank_potential(t):
    return GRAVITY * (-0.1 * np.sin(t) + 2 * (-0.2 + 0.25 * 0.4) * np.sin(t))


def crank_torque():
    """What keeps the crank at SPEED: dE/dt = torque SPEED. N m."""
    return 0.5 * slope(crank_inertia, ANGLE) * SPEED**2 + slope(crank_potential, ANGLE)


@pytest.fixture
def slider_crank():
    """World, q, v, and a at a constant speed of the crank."""
    world = stiction.World()
    world.add_robot(SLIDER_CRANK)
    rate = [slope(crank, ANGLE + step) for step in (-1e-5, 0.0, 1e-5)]
    return world, crank(ANGLE), rate[1] * SPEED, (rate[2] - rate[0]) / 2e-5 * SPEED**2


@pytest.fixture
def pendulum():
    """A rod on a ball that rolls: world, q, v, a of its base as `rnea` takes it, c, force on its foot (x, z; N)."""
    world = stiction.World(friction=1.0)
    world.add_ground()
    world.add_robot(PENDULUM)
    t, rate = 0.3, 1.5
    sine, cosine = np.sin(t), np.cos(t)
    inertia = INERTIA + MASS * (FOOT**2 + LENGTH**2 + 2 * FOOT * LENGTH * cosine)
    change = MASS * LENGTH * sine * (FOOT * rate**2 + GRAVITY) / inertia
    force = MASS * np.array(
        [
            FOOT * change + LENGTH * (cosine * change - sine * rate**2),
            GRAVITY - LENGTH * (sine * change + cosine * rate**2),
        ]
    )
    to_base = np.array([[cosine, 0, -sine], [0, 1, 0], [sine, 0, cosine]])
    q = np.array([FOOT * t, 0, FOOT, 0, np.sin(t / 2), 0, np.cos(t / 2)])
    spin = np.array([0, rate, 0])
    linear = to_base @ [FOOT * rate, 0, 0]
    v = np.r_[linear, spin]
    a = np.r_[to_base @ [FOOT * change, 0, 0] - np.cross(spin, linear), 0, change, 0]
    return world, q, v, a, np.array([0, 0, LENGTH]), force


def before(v, a, h, c):
    """The velocity from which a step of h ends at v: of a floating base in front, its linear part that of the page."""
    start = v - h * a
    start[:3] -= h * np.cross(v[3:6], v[:3] + np.cross(v[3:6], c))
    return start


def assert_of_first_order(off, least):
    """Errors at STEPS fall as h does, down to `least`."""
    assert off[-1] < least
    assert off[1] < 0.15 * off[0]
    assert off[2] < 0.15 * off[1]


def test_the_torque_of_a_loop_is_that_of_its_energy(slider_crank):
    world, q, v, a = slider_crank
    off, without = [], []
    for h in STEPS:
        at_end = stiction.inverse(world.problem(q, v - h * a, dt=h), world.actuated, v[world.actuated])
        assert at_end.status == "solved"
        off.append(abs(at_end.tau[0] - crank_torque()))
        at_start = stiction.inverse(world.problem(q, v, dt=h), world.actuated, (v + h * a)[world.actuated])
        without.append(abs(at_start.tau[0] - crank_torque()))
    assert_of_first_order(off, 1e-4)
    assert min(without) > 0.7  # of 1.15 N m: as the page says, it does not shrink with h


@pytest.mark.parametrize(
    ("scheme", "misses"), [(name, name in ("semi_implicit_euler", "moreau_midpoint")) for name in stiction.SCHEMES]
)
def test_schemes_that_take_a_velocity_of_the_same_instant(slider_crank, scheme, misses):
    """The crank lets go: its first acceleration is that of m(t) t'' + m'(t) t'²/2 + V'(t) = 0."""
    world, q, v, _ = slider_crank
    stepper = stiction.Stepper(world, dt=1e-4, scheme=scheme)
    stepper.reset(q=q, v=v)
    exact = -crank_torque() / crank_inertia(ANGLE)
    off = abs(stepper.forward([0.0]).acceleration[0] - exact)
    assert off > 0.2 * exact if misses else off < 2e-3 * exact
    # From its third step on a run has the velocities, and the opening of its loop, that its scheme leads to.
    assert [stepper.step([0.0]).status for _ in range(2)] == ["solved", "solved"]
    t, rate = stepper.q[0], stepper.v[0]
    exact = -(0.5 * slope(crank_inertia, t) * rate**2 + slope(crank_potential, t)) / crank_inertia(t)
    assert stepper.forward([0.0]).acceleration[0] == pytest.approx(exact, rel=2e-3)


def test_the_force_under_a_foot_is_that_of_the_centre_of_mass(pendulum):
    world, q, v, a, c, force = pendulum
    for h in STEPS:
        found = []
        for start in (before(v, a, h, c), v):
            problem = world.problem(q, start, dt=h)
            axes = np.array([problem.normals[0], problem.tangents1[0], problem.tangents2[0]])
            found.append((stiction.solve(problem).impulses[0] @ axes / h)[[0, 2]])
        np.testing.assert_allclose(found[0], force, atol=1e-9)
        assert np.linalg.norm(found[1] - force) > 2.0


@pytest.mark.parametrize("scheme", ["energy_momentum", "event_driven"])
def test_forces_of_schemes_that_take_a_velocity_of_the_same_instant(pendulum, scheme):
    world, q, v, _, _, force = pendulum
    stepper = stiction.Stepper(world, dt=1e-4, scheme=scheme)
    stepper.reset(q=q, v=v)
    np.testing.assert_allclose(stepper.forward().contacts.forces[0][[0, 2]], force, atol=5e-3)


def test_torques_of_a_moving_base_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio", reason="needs pinocchio's Python bindings (pip install pin)")
    model = pin.buildSampleModelHumanoid()
    world = stiction.World()
    world.add_robot(model)
    random = np.random.default_rng(1)
    q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    v, a = random.normal(size=model.nv), random.normal(size=model.nv)
    torques = pin.rnea(model, model.createData(), q, v, a)
    c = pin.Quaternion(q[3:7]).matrix().T @ (pin.centerOfMass(model, model.createData(), q) - q[:3])
    off = []
    for h in STEPS:
        plan = stiction.inverse(world.problem(q, before(v, a, h, c), dt=h), np.arange(model.nv), v)
        off.append(np.linalg.norm(plan.tau - torques))
    assert_of_first_order(off, 1e-3 * np.linalg.norm(torques))


@pytest.mark.parametrize("page", ["from-pinocchio", "concepts", "limits"])
def test_pages_say_from_which_velocity(page):
    assert "v - h * a" in (DOCS / f"{page}.md").read_text()


@pytest.mark.parametrize("law", ["coulomb_cone", "no_slip", "anitescu"])
def test_forces_of_flat_soles_are_one_choice_on_both_sides(law):
    """Four corners of a sole bear a mast that is held askew: their sum is given, their least norm too."""
    world = stiction.World(friction=0.8)
    world.add_ground()
    world.add_robot(
        """<mujoco><worldbody><body name="sole"><freejoint/><geom type="box" size="0.1 0.05 0.02" mass="1"/>
        <body name="mast"><joint name="ankle" axis="0 1 0"/><geom type="sphere" pos="0 0 0.5" size="0.02" mass="5"/>
        </body></body></worldbody><actuator><motor joint="ankle"/></actuator></mujoco>""",
        position=(0, 0, 0.02),
        joints={"ankle": 0.05},
    )
    for choice in ("warm_start", "least_norm"):
        stepper, workspace = stiction.Stepper(world, law=law, choice=choice), stiction.Workspace()
        for _ in range(20):
            problem = stepper.problem()
            plan = stiction.inverse(problem, world.actuated, [0.0], law=law, choice=choice, workspace=workspace)
            assert stepper.step(plan.tau).status == "solved"
            predicted, borne = plan.impulses / problem.dt, stepper.contacts.impulses / problem.dt
            np.testing.assert_allclose(predicted[:, 0].sum(), borne[:, 0].sum(), atol=1e-6)
            if choice == "least_norm":
                np.testing.assert_allclose(predicted, borne, atol=1e-6)
