"""Robots cut at their joints, whose loops contacts without slip nearly contradict as their feet land."""

import numpy as np
import pytest

import stiction

ROBOT = """<mujoco><worldbody><body name="a" pos="0 0 .5"><freejoint/><geom type="box" size=".2 .2 .05" mass="2"/>
<body name="l0" pos=".15 .15 0"><joint name="h0" axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.2" mass="1"/>
<body pos="0 0 -.2"><joint axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.15" mass=".5"/></body></body>
<body name="l1" pos="-.15 -.1 0"><joint name="h1" axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.2" mass="1"/>
<body pos="0 0 -.2"><joint axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.15" mass=".5"/></body></body>
</body></worldbody></mujoco>"""


def world_of(**options):
    world = stiction.World(friction=0.6)
    world.add_ground()
    world.add_robot(ROBOT, name="robot", **options)
    return world


def dropped(seed, coordinates, dt, law, scheme):
    """A world with the robot cut so, and a stepper at a fall that the seed says."""
    start, rng = world_of(), np.random.default_rng(seed)
    start.set_velocity("a", 0.3 * rng.normal(size=3), rng.normal(size=3))
    for joint in ("h0", "h1"):
        start.set_velocity(joint, float(rng.normal()))
    world = world_of(coordinates=coordinates)
    stepper = stiction.Stepper(world, dt=dt, law=law, scheme=scheme)
    stepper.reset(*world.from_uncut(start.initial_q, start.initial_v))
    return world, stepper


@pytest.mark.parametrize(
    ("coordinates", "scheme", "dt", "seed"),
    [
        ("maximal", "semi_implicit_euler", 1e-3, 2),
        ("maximal", "semi_implicit_euler", 2e-3, 3),
        ("extended", "semi_implicit_euler", 2e-3, 9),
        ("maximal", "moreau_midpoint", 2e-3, 2),
        ("extended", "moreau_midpoint", 1e-3, 6),
    ],
)
def test_undoing_drift_that_contacts_resist_gives_no_energy(coordinates, scheme, dt, seed):
    world, stepper = dropped(seed, coordinates, dt, "no_slip", scheme)
    energy = world.energy(stepper.q, stepper.v)
    for step in range(round(0.5 / dt)):
        assert stepper.step(), step
        before, energy = energy, world.energy(stepper.q, stepper.v)
        assert energy < before + 5e-3, step
    problem = world.problem(stepper.q, stepper.v, dt=dt)
    equalities = [row for row, kind in enumerate(problem.row_kinds) if kind == "equality"]
    assert np.abs(problem.b[equalities]).max() * dt < 3e-4


@pytest.mark.parametrize(
    ("law", "coordinates", "dt", "seed"),
    [
        ("frictionless", "maximal", 1e-3, 5),
        ("coulomb_cone", "maximal", 2e-3, 0),
        ("moreau", "extended", 1e-3, 6),
        ("moreau", "maximal", 1e-3, 0),
    ],
)
def test_the_passes_of_energy_momentum_go_on_while_two_of_them_gain(law, coordinates, dt, seed):
    _, stepper = dropped(seed, coordinates, dt, law, "energy_momentum")
    for step in range(round(0.4 / dt)):
        assert stepper.step(), step


NO_CONTACT = 'contype="0" conaffinity="0"'


def four_bar(base, crank, axis="0 1 0", gravity="0 0 0"):
    """Bars along `crank` joined by a coupler; `axis`: of the second crank's hinge."""
    bar = f'<geom type="capsule" fromto="0 0 0 {crank}" size=".02" {NO_CONTACT}/>'
    return (
        f'<mujoco><option gravity="{gravity}"/><worldbody><body name="a">{base}<geom type="box" size=".1 .05 .02" '
        f'{NO_CONTACT}/><body name="c" pos=".1 0 0"><joint name="h" axis="0 1 0"/>{bar}<body name="d" pos="{crank}">'
        f'<joint name="g" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -.2 0 0" size=".02" {NO_CONTACT}/></body>'
        f'</body><body name="e" pos="-.1 0 0"><joint name="k" axis="{axis}"/>{bar}</body></body></worldbody><equality>'
        '<connect body1="d" body2="e" anchor="-.2 0 0"/></equality></mujoco>'
    )


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "moreau_midpoint"])
@pytest.mark.parametrize("off", ["1e-9", "3.7e-6", "9e-5"])
def test_axes_that_a_file_gives_by_a_few_digits_do_not_lock_a_planar_linkage(scheme, off):
    """A strictly rigid one could not move; what 1.5708 is off pi/2 is 3.7e-6."""

    def turned(axis):
        world = stiction.World()
        world.add_robot(four_bar("", ".3 0 0", axis, "0 0 -9.81"), self_collision=False)
        stepper = stiction.Stepper(world, dt=1e-3, scheme=scheme)
        assert all(stepper.step().status == "solved" for _ in range(300))
        return stepper.q[0]

    exact = turned("0 1 0")
    assert abs(exact) > 0.4
    assert turned(f"{off} 1 0") == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "moreau_midpoint"])
@pytest.mark.parametrize("coordinates", ["extended", "maximal"])
@pytest.mark.parametrize(
    ("base", "spin"),
    [
        ('<joint name="z" axis="0 0 1"/>', [1.0]),
        ("<freejoint/>", [0, 0, 0, 1.0, 0.5, -1.0]),
        ("<freejoint/>", [0, 0, 0, 3, 7, 2]),
    ],
)
def test_a_planar_linkage_that_drifts_out_of_its_plane_turns_on(scheme, coordinates, base, spin):
    """Cut at its hinges, its rows repeat each other but for what a step's order opens them by."""
    uncut, world = stiction.World(), stiction.World()
    uncut.add_robot(four_bar(base, "0 0 .3"), self_collision=False)
    world.add_robot(four_bar(base, "0 0 .3"), self_collision=False, coordinates=coordinates)
    v = np.array([*spin, 0.5, -0.5, 0.5])
    reference = stiction.Stepper(uncut, dt=1e-3, scheme=scheme)
    reference.reset(uncut.initial_q, v)
    stepper = stiction.Stepper(world, dt=1e-3, scheme=scheme)
    stepper.reset(*world.from_uncut(uncut.initial_q, v))
    rates = []
    for _ in range(200):
        assert reference.step().status == stepper.step().status == "solved"
        rates.append((world.to_uncut(stepper.q, stepper.v)[1][-3:], reference.v[-3:]))
    cut, minimal = np.array(rates).transpose(1, 0, 2)
    assert np.abs(np.diff(cut, axis=0)).max() < 0.05
    np.testing.assert_allclose(cut, minimal, atol=0.05)


def bracelet(links=10, radius=0.15, height=0.5, tilt=0.5):
    """A ring of capsules of 0.1 kg on ball joints, its plane tilted about x (rad)."""
    angles = 2.0 * np.pi * np.arange(links) / links
    across, up = np.cos(tilt) * np.sin(angles), np.sin(tilt) * np.sin(angles)
    corners = radius * np.stack((np.cos(angles), across, up), axis=-1)
    text = ""
    for k, corner in enumerate(corners):
        along = corners[(k + 1) % links] - corner
        place = corner + np.array([0, 0, height]) if k == 0 else corner - corners[k - 1]
        ends = " ".join(f"{x:.17g}" for x in (*(0.2 * along), *(0.8 * along)))
        text += f'<body name="l{k}" pos="{" ".join(f"{x:.17g}" for x in place)}">' + (
            "<freejoint/>" if k == 0 else '<joint type="ball"/>'
        )
        text += f'<geom type="capsule" size="0.012" fromto="{ends}" mass="0.1" friction="0.5"/>'
    anchor = " ".join(f"{x:.17g}" for x in corners[0] - corners[-1])
    return (
        f"<mujoco><worldbody>{text}{'</body>' * links}</worldbody>"
        f'<equality><connect body1="l{links - 1}" body2="l0" anchor="{anchor}"/></equality></mujoco>'
    )


@pytest.mark.parametrize("dt", [1e-2, 5e-3])
@pytest.mark.parametrize("recovery", [1.0, 0.0])
def test_a_bracelet_that_falls_on_a_peg_gains_no_energy(dt, recovery):
    """Parts of steps at velocity level leave the loop open by millimetres while its joints turn by 30 rad/s."""
    world = stiction.World(friction=0.5)
    half = np.sqrt(0.5)
    world.add_body("peg", stiction.Shape.capsule(0.02, 0.6), position=(0.1, 0, 0.3), orientation=(half, 0, 0, half))
    world.add_robot(bracelet(), filter_overlaps=False)
    stepper = stiction.Stepper(world, dt=dt, scheme="event_driven", loop_recovery=recovery)
    start = world.energy(stepper.q, stepper.v)
    for step in range(round(0.5 / dt)):
        assert stepper.step(), step
        assert world.energy(stepper.q, stepper.v) < 1.02 * start, step


TOGGLE = """<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody>
<body name="crank"><joint name="c" axis="0 1 0" range="-1.5 .05" limited="true"/>
<geom type="capsule" size=".005" fromto="0 0 0 .1 0 0" mass=".05" contype="0" conaffinity="0"/>
<body name="coupler" pos=".1 0 0"><joint name="k" axis="0 1 0"/>
<geom type="capsule" size=".005" fromto="0 0 0 .1 0 0" mass=".05" contype="0" conaffinity="0"/></body></body>
<body name="plunger" pos=".2 0 0"><joint name="p" type="slide" axis="1 0 0"/>
<geom type="box" size=".01 .01 .01" pos=".01 0 0" mass=".1"/></body>
<body name="work" pos=".218 0 0"><joint type="slide" axis="1 0 0" stiffness="1e4"/>
<geom type="box" size=".02 .02 .02" pos=".02 0 0" mass=".3"/></body></worldbody>
<equality><connect body1="coupler" body2="plunger" anchor=".1 0 0"/></equality>
<actuator><motor joint="c"/></actuator></mujoco>"""


STOP = 0.05
SQUEEZE = 0.2 * np.cos(STOP) + 0.02 - 0.218  # m, of the block's spring, with the crank at its stop


def toggle(scheme, dt, crank):
    """A stepper of the clamp, its loop closed, its block where the spring leaves it or where the plunger pushes it."""
    world = stiction.World()
    world.add_robot(TOGGLE, name="clamp", joints={"c": -0.8, "k": 1.6}, filter_overlaps=False)
    stepper = stiction.Stepper(world, dt=dt, scheme=scheme)
    plunger = 0.2 * (np.cos(crank) - 1)
    stepper.reset([crank, -2 * crank, plunger, max(plunger + 0.002, 0)], np.zeros(4))
    return world, stepper


SCHEMES = ["semi_implicit_euler", "moreau_midpoint", "energy_momentum"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("dt", [5e-3, 7e-3, 8e-3, 9e-3, 1e-2, 1.5e-2, 2e-2])
def test_a_toggle_clamp_rests_at_its_stop_and_holds_what_it_clamps(scheme, dt):
    """Thrown over dead centre, loop and midpoint carry it past the stop by mrad, and the block presses it outward."""
    _, stepper = toggle(scheme, dt, -0.8)
    while stepper.time < 5.0:
        assert stepper.step([1.0 if stepper.time < 0.25 else 0.0]).status == "solved"
    assert stepper.q[0] == pytest.approx(STOP, abs=1e-6)
    assert -stepper.contacts.forces[:, 0].sum() == pytest.approx(1e4 * SQUEEZE, abs=0.011)  # 1e-6 m of overlap are left


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2, 2e-2])
def test_a_joint_that_returns_against_a_spring_gives_it_no_more_than_it_takes(scheme, dt):
    world, stepper = toggle(scheme, dt, 2 * STOP)
    while stepper.time < 0.2:
        assert stepper.step().status == "solved"
        assert world.energy(stepper.q, stepper.v) < 1.01 * 0.5e4 * SQUEEZE**2
    assert stepper.q[0] == pytest.approx(STOP, abs=1e-6)


@pytest.mark.parametrize("tilt", [0.0, 1e-14, 1e-12, 1e-6])
def test_a_tilt_that_is_rounding_turns_no_linkage(tilt):
    """A planar linkage on a base that is tilted by rounding and more, driven at 0.03 m/s: the third row of each loop is
    what is left of the tilt. A disc that rolls elsewhere ends pieces of the steps; after each drift is undone."""
    world = stiction.World(friction=0.5)
    world.add_ground()
    turned = (np.sin(0.6), 0, 0, np.cos(0.6))
    disc = {"orientation": turned, "velocity": (0.5, 0.2, 0), "angular_velocity": (0, 0, 2)}
    world.add_body("disc", stiction.Shape.cylinder(0.1, 0.02), mass=1.0, position=(2, 0, 0.115), **disc)
    crank = '<inertial pos="0 0 0" mass="0.2" diaginertia="1e-3 1e-3 1e-3"/><joint name="{}" axis="0 0 1"/>'
    world.add_robot(
        f'<mujoco><compiler angle="radian"/><worldbody><body euler="{tilt} {0.6 * tilt} 0">'
        '<inertial pos="0 0 0" mass="10" diaginertia="0.1 0.1 0.1"/>'
        f'<body name="a" pos="0 0.2 0">{crank.format("first")}</body>'
        f'<body name="b" pos="0 -0.2 0">{crank.format("second")}</body><body name="rod" pos="-0.1 0 0">'
        '<inertial pos="0 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/><joint name="y" type="slide" axis="0 1 0"/>'
        '<joint type="slide" axis="1 0 0"/><joint axis="0 0 1"/></body></body></worldbody><equality>'
        '<connect body1="a" body2="rod" anchor="-0.1 -0.03 0"/><connect body1="b" body2="rod" anchor="-0.1 0.03 0"/>'
        '</equality><actuator><motor joint="y"/></actuator></mujoco>',
        position=(0, 0, 1),
    )
    stepper = stiction.Stepper(world, dt=1e-3, scheme="event_driven")
    stepper.drive(velocity=0.03, limits=np.inf)
    cranks = [joint.q for joint in world.joints if joint.name in ("first", "second")]
    for _ in range(1000):
        before = stepper.q[cranks]
        assert stepper.step().status == "solved"
        assert np.abs(stepper.q[cranks] - before).max() < 3.7e-4
    np.testing.assert_allclose(stepper.q[cranks], [-0.28887, -0.32394], atol=1e-5)
