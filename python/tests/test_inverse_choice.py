"""Least torque beside what the solver leaves, with rows of every kind."""

import numpy as np
import pytest

import stiction


def random_request(random):
    nv, contacts, rows = random.integers(4, 9), random.integers(0, 3), random.integers(1, 4)
    factor = random.normal(size=(nv, nv))
    kind = random.integers(0, 3, size=rows)  # loops, end stops, dry friction
    problem = stiction.ContactProblem(
        *(factor @ factor.T + 0.5 * np.eye(nv), np.zeros(nv), random.normal(size=(3 * contacts, nv)), [0.5] * contacts),
        dt=0.01, impulse=random.normal(size=nv), J_b=random.normal(size=(rows, nv)), b=np.zeros(rows),
        lo=np.choose(kind, [-np.inf, 0.0, -0.3]), hi=np.choose(kind, [np.inf, np.inf, 0.3]),
    )  # fmt: skip
    return problem, np.arange(random.integers(2, nv))


@pytest.mark.parametrize("law", ["frictionless", "no_slip", "coulomb_pyramid", "coulomb_cone", "anitescu"])
def test_least_torque_is_no_more_than_the_solver_leaves(law):
    random, less = np.random.default_rng(3), 0
    for _ in range(300):
        problem, joints = random_request(random)
        still = np.zeros(len(joints))
        left = stiction.inverse(problem, joints, still, law)
        least = stiction.inverse(problem, joints, still, law, choice="least_torque")
        if left.status != "solved":
            continue
        assert least.status == "solved"
        assert np.linalg.norm(least.tau) <= np.linalg.norm(left.tau) * (1 + 1e-8) + 1e-8
        less += least.choice_met and np.linalg.norm(least.tau) < 0.9 * np.linalg.norm(left.tau)
    assert less > 20


@pytest.mark.parametrize("law", ["coulomb_cone", "coulomb_pyramid", "no_slip", "anitescu", "max_dissipation"])
def test_a_contact_at_the_centre_of_a_free_joint_bears_what_the_driven_ones_leave(law, tmp_path):
    """A ball on a driven post touches the floor at the joint: what is left of its rows is rounding."""
    random = np.random.default_rng(0)
    for k in range(20):
        turn = random.normal(size=4)
        x, y, z, w = turn / np.linalg.norm(turn)
        up = 0.1 * np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])  # in the ball's axes
        (tmp_path / f"{k}.xml").write_text(
            "<mujoco><worldbody><body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
            "<inertial pos='0 0 0' mass='1' diaginertia='.1 .1 .1'/>"
            f"<body><joint type='ball'/><geom size='.1' pos='{up[0]} {up[1]} {up[2]}' mass='1'/></body></body>"
            "</worldbody></mujoco>"
        )
        world = stiction.World()
        world.add_body("floor", stiction.Shape.plane())
        world.add_robot(tmp_path / f"{k}.xml")
        q = world.initial_q.copy()
        q[2:] = x, y, z, w
        problem = world.problem(q, np.zeros(world.nv), dt=1e-3)
        assert len(problem.gap) == 1
        asked = random.normal(size=2)
        solution = stiction.inverse(problem, [0, 1], asked, law)
        assert solution.status == "solved"
        assert solution.v[1] >= max(asked[1], 0.0) - 1e-9
        if law != "anitescu":  # which opens a contact that slips
            assert solution.v[1] == pytest.approx(max(asked[1], 0.0), abs=1e-9)
        assert np.abs(solution.impulses).max() < 2.0 * (np.abs(asked).sum() + 1.0)


ARM = """<robot name="arm"><link name="b"/>
<link name="l"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="b"/><child link="l"/><axis xyz="0 -1 0"/>
<limit lower="-1" upper="1" effort="100" velocity="10"/><dynamics friction="1"/></joint></robot>"""


@pytest.mark.parametrize("choice", ["warm_start", "least_norm"])
@pytest.mark.parametrize("angle", [0.3, -1.0, -1.01])
def test_torque_limits_that_are_not_reached_change_nothing(choice, angle):
    """An arm with dry friction, free, at its end stop and beyond it, stands still: its motor takes its weight."""
    world = stiction.World()
    world.add_robot(ARM)
    problem = world.problem([angle], [0.0])
    free = stiction.inverse(problem, [0], [0.0], choice=choice)
    limited = stiction.inverse(problem, [0], [0.0], choice=choice, torque_limits=20.0)
    assert limited.tau == pytest.approx(world.bias([angle], [0.0]), abs=1e-9)
    assert (limited.tau == free.tau).all()
    assert (limited.bounded_impulses == 0.0).all()


FEET = np.array([[x, y] for x in (-0.12, 0.0, 0.12) for y in (-0.1, 0.1)])
DT = 1e-3


def closest(reference, load, held):
    """Loads of the legs closest to the reference that bear the wrench `load`, those of `held` known."""
    wrench = np.vstack((np.ones(len(FEET)), FEET.T))
    free = [i for i in range(len(FEET)) if i not in held]
    known = sum((wrench[:, i] * force for i, force in held.items()), np.zeros(3))
    forces = np.array(reference)
    forces[free] += np.linalg.lstsq(wrench[:, free], load - known - wrench[:, free] @ forces[free], rcond=None)[0]
    for i, force in held.items():
        forces[i] = force
    return forces


@pytest.mark.parametrize("choice", ["least_norm", "closest_to_last"])
@pytest.mark.parametrize("law", ["frictionless", "no_slip", "coulomb_pyramid", "coulomb_cone", "anitescu"])
def test_the_choice_holds_where_torque_limits_are_reached(law, choice, on_legs):
    """A leg that is too weak for its share bears what it can, and the rule settles what the others do.

    Six legs leave three loads open; that of the base is off its middle.
    """
    M, J, impulse = on_legs(FEET, DT)
    impulse[3:5] += DT * np.array([0.4, -0.6])
    problem, joints = stiction.ContactProblem(M, np.zeros(12), J, 0.8, dt=DT, impulse=impulse), np.arange(6, 12)
    reference = np.array([3.0, 5.0, 9.0, 4.0, 6.0, 8.0]) if choice == "closest_to_last" else np.zeros(6)
    last = np.zeros((6, 3))
    last[:, 0] = DT * reference
    asked = {"law": law, "choice": choice} | ({"last": last} if choice == "closest_to_last" else {})
    free = stiction.inverse(problem, joints, 0.0, **asked)
    feet = 0.1 * 9.81  # a motor bears the load of its leg without its foot
    load = np.array([1.0, 0.0, 0.0]) * (free.impulses[:, 0].sum() / DT)
    load[1:] = FEET.T @ (free.impulses[:, 0] / DT)
    alone = closest(reference, load, {})
    np.testing.assert_allclose(free.impulses[:, 0] / DT, alone, atol=1e-8)
    for weak in ([2], [2, 5], [1, 2]):
        limits = np.full(6, 100.0)
        held = {i: feet + part * (alone[i] - feet) for i, part in zip(weak, (0.7, 0.9), strict=False)}
        for i, force in held.items():
            limits[i] = force - feet
        limited = stiction.inverse(problem, joints, 0.0, torque_limits=limits, **asked)
        assert limited.status == "solved"
        assert limited.shortfall < 1e-12
        np.testing.assert_allclose(limited.impulses[:, 0] / DT, closest(reference, load, held), atol=1e-7)
        np.testing.assert_allclose(np.abs(limited.tau[weak]), limits[weak], rtol=1e-9)
