"""Stepper: motion by closed forms, contacts that balance, pushes, and states that are copies."""

import copy
import pickle
import threading

import numpy as np
import pytest

import stiction
from stiction import Shape

GRAVITY = 9.81


def boxes(height=0.1, **options):
    world = stiction.World(**options)
    world.add_ground()
    world.add_body("box", Shape.box((0.2, 0.2, 0.2)), mass=2.0, position=(0.1, 0, height))
    return world


def stepped(world, **settings):
    stepper = stiction.Stepper(world, **settings)
    for _ in range(3):
        stepper.step()
    return stepper.q


def batched(world, **settings):
    batch = stiction.Batch(world, 2, 1, **settings)
    batch.step(np.zeros((2, world.nv)), 3)
    return batch.q[1].copy()


ENTRANCES = {
    "Stepper": stepped,
    "Batch": batched,
    "simulate": lambda world, **given: stiction.simulate(world, 3 * given.get("dt", 1e-3), **given).q[-1],
    "rollout": lambda world, **given: stiction.rollout(world, steps=3, threads=1, **given).q[0, -1],
}


def pendulum(tmp_path, effort=3.0):
    path = tmp_path / "pendulum.urdf"
    path.write_text(
        f"""<robot name="pendulum"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 -1"/><mass value="2"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
        <limit lower="-9" upper="9" effort="{effort}" velocity="99"/></joint></robot>"""
    )
    world = stiction.World()
    world.add_robot(str(path))
    return world


def test_a_stepper_does_what_simulate_does():
    world = boxes(height=0.3)
    run = stiction.simulate(world, 0.3, law="coulomb_cone")
    stepper = stiction.Stepper(world, law="coulomb_cone")
    assert (stepper.dt, stepper.law) == (1e-3, "coulomb_cone")
    for k in range(300):
        report = stepper.step()
        assert report
        assert report.status == "solved"
        assert report.contacts == run.contacts[k + 1]
        assert stepper.q.tobytes() == run.q[k + 1].tobytes()
        assert stepper.v.tobytes() == run.v[k + 1].tobytes()
    np.testing.assert_allclose(stepper.time, 0.3)
    assert report.residual <= 1e-9
    assert sum(report.seconds.values()) > 0.0


def test_contacts_carry_the_weight():
    world = boxes()
    stepper = stiction.Stepper(world, law="coulomb_cone", dt=2e-3)
    assert len(stepper.contacts) == 0
    stepper.step()
    contacts = stepper.contacts
    assert len(contacts) == 4
    np.testing.assert_allclose(contacts.forces.sum(axis=0), [0, 0, 2.0 * GRAVITY], atol=1e-9)
    np.testing.assert_allclose(
        sorted(map(tuple, contacts.points.round(9))), [(x, y, 0) for x in (0, 0.2) for y in (-0.1, 0.1)], atol=1e-9
    )
    assert contacts.frames.shape == (4, 3, 3)
    for frame, impulse, force in zip(contacts.frames, contacts.impulses, contacts.forces, strict=True):
        np.testing.assert_allclose(frame[:, 0], [0, 0, 1], atol=1e-12)  # from the ground to the box
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) > 0.0
        np.testing.assert_allclose(frame @ impulse / 2e-3, force)
    assert [tuple(np.array(world.body_names)[pair]) for pair in contacts.bodies] == [("box", "ground")] * 4
    assert contacts.body_names == [("box", "ground")] * 4
    np.testing.assert_allclose(contacts.gaps, 0.0, atol=1e-9)
    np.testing.assert_allclose(contacts.velocities, 0.0, atol=1e-9)
    np.testing.assert_array_equal(contacts.mu, 0.5)
    assert len(set(contacts.ids)) == 4
    taken = contacts.forces.copy()
    stepper.apply_force("box", (0, 0, 100))
    stepper.step()
    np.testing.assert_array_equal(contacts.forces, taken)  # a copy


def test_friction_slows_a_slide_by_mu_g():
    for mu in (0.2, 0.7):
        stepper = stiction.Stepper(boxes(), law="coulomb_cone", friction=mu)
        stepper.reset(v=[1.0, 0, 0, 0, 0, 0])
        for _ in range(50):
            stepper.step()
        np.testing.assert_allclose(stepper.v[0], 1.0 - mu * GRAVITY * 0.05, atol=1e-6)


def test_a_compliant_world_sinks_by_its_load():
    stiffness = 1e5
    world = stiction.World(material={"stiffness": stiffness, "damping": 300.0})
    world.add_ground()
    world.add_body("ball", Shape.sphere(0.1), mass=2.0, position=(0, 0, 0.1))
    stepper = stiction.Stepper(world, law="linear_penalty")
    for _ in range(1000):
        assert stepper.step()
    np.testing.assert_allclose(0.1 - stepper.q[2], 2.0 * GRAVITY / stiffness, rtol=1e-6)
    with pytest.raises(ValueError, match=r"stifness"):
        stiction.World(material={"stifness": 1.0})


STIFF = {"stiffness": 1e5, "damping": 500.0, "stiffness_tangential": 1e5, "damping_tangential": 500.0}


def standing(checkout, friction=0.5):
    world = stiction.World(material=STIFF)
    world.add_ground(friction=friction)
    angles, sign = {"HIP": 0.3927, "THIGH": 0.7854, "SHANK": 1.5708}, {"LF": 1, "RF": -1, "LH": -1, "RH": 1}
    joints = {f"{leg}_{joint}": sign[leg] * angle for leg in sign for joint, angle in angles.items()}
    world.add_robot(
        checkout / "models" / "links.urdf", floating=True, position=(0, 0, 0.15), joints=joints, name="quadruped"
    )
    return world


@pytest.mark.parametrize("law", ["stick_slip_spring", "linear_penalty", "coulomb_cone"])
def test_the_inverse_of_a_steppers_problem_is_what_the_step_does(checkout, law):
    world = standing(checkout)
    joints = world.actuated  # a base turns within the step, and its axes with it
    stepper, other = (stiction.Stepper(world, law=law, effort_limits=False) for _ in range(2))
    elongated = 0
    for k in range(400):
        if k == 200:
            for one in (stepper, other):
                one.apply_force(world.link_names[0], force=(1.0, 0.5, 0.0), duration=0.05)
        problem = stepper.problem()
        plan = stiction.inverse(problem, joints, np.full(12, 0.02 * np.sin(0.05 * k)), law=law)
        assert stepper.step(plan.tau)
        other.step(plan.tau)
        np.testing.assert_allclose(stepper.v[joints], plan.v[joints], atol=1e-9)
        np.testing.assert_allclose(stepper.contacts.impulses, plan.impulses, atol=1e-9)
        np.testing.assert_array_equal(stepper.v, other.v)  # asking changes nothing
        elongated += any(np.any(m["spring"]) for m in problem.material)
    assert (elongated > 200) == (law == "stick_slip_spring")


def test_a_steppers_problem_has_what_the_stepper_has(checkout):
    world = standing(checkout)
    stepper = stiction.Stepper(world, dt=2e-3, friction=0.1)
    stepper.drive(position=world.initial_q[7:], kp=10.0, kd=0.1)
    tau = np.linspace(-0.01, 0.01, 12)
    for _ in range(50):
        problem = stepper.problem(tau)
        assert problem.dt == 2e-3
        assert set(problem.mu) <= {0.1}
        answer = stiction.solve(problem)
        stepper.step(tau)
        np.testing.assert_allclose(stepper.v[world.actuated], answer.v[world.actuated], atol=1e-9)
        np.testing.assert_allclose(stepper.contacts.impulses, answer.impulses, atol=1e-9)
    with pytest.raises(ValueError, match=r"scheme: expected .*event_driven"):
        stiction.Stepper(world, scheme="event_driven").problem()


def test_forward_says_what_a_step_does_and_does_not_do_it():
    stepper = stiction.Stepper(boxes(height=0.11))
    tau = np.array([3.0, 0, 1.0, 0, 0.01, 0])
    for _ in range(60):  # lands within
        before, contacts = stepper.state, stepper.contacts
        forward = stepper.forward(tau)
        assert stepper.q.tobytes() == before.q.tobytes()
        assert stepper.contacts.impulses.tobytes() == contacts.impulses.tobytes()
        report = stepper.step(tau)
        assert forward.state.q.tobytes() == stepper.q.tobytes()
        assert forward.state.v.tobytes() == stepper.v.tobytes()
        assert forward.contacts.impulses.tobytes() == stepper.contacts.impulses.tobytes()
        assert (forward.report.status, forward.report.iterations) == (report.status, report.iterations)
        np.testing.assert_allclose(forward.acceleration, (stepper.v - before.v) / stepper.dt)
    flight = stiction.Stepper(boxes(height=9.0)).forward([0, 0, 4.0, 0, 0, 0])
    np.testing.assert_allclose(flight.acceleration, [0, 0, 4.0 / 2.0 - GRAVITY, 0, 0, 0], atol=1e-10)


def test_contacts_say_whether_they_stick_as_runs_do():
    """A box that slides until friction has stopped it, and before that falls."""
    world = boxes(height=0.101)
    stepper = stiction.Stepper(world, friction=0.5)
    stepper.reset(v=[0.2, 0, 0, 0, 0, 0])
    run = stiction.simulate(world, 0.08, friction=0.5, v=stepper.v)
    seen = set()
    for k in range(1, 81):
        stepper.step()
        modes = stepper.contacts.modes
        np.testing.assert_array_equal(modes, run.contact_modes[run.contact_offsets[k] : run.contact_offsets[k + 1]])
        seen |= {(stepper.v[0] > 1e-6, mode) for mode in modes}
    assert seen >= {(True, 2), (False, 1)}
    assert not seen & {(True, 1), (False, 2)}


def test_a_push_changes_momentum_by_its_impulse():
    world = boxes(height=5.0, gravity=(0, 0, 0))
    stepper = stiction.Stepper(world, dt=1e-3)
    inertia = 2.0 * 0.2**2 / 6.0
    with pytest.raises(ValueError, match=r"^body: expected the name of a link"):
        stepper.apply_force("boxes", (3.0, 0, 0))
    stepper.apply_force("box", (3.0, 0, 0))  # one step
    stepper.step()
    np.testing.assert_allclose(stepper.v, [1.5e-3, 0, 0, 0, 0, 0], atol=1e-15)
    stepper.step()
    np.testing.assert_allclose(stepper.v, [1.5e-3, 0, 0, 0, 0, 0], atol=1e-15)
    stepper.reset()
    stepper.apply_force("box", (0, 0, 1.0), point=(0.1, 0, 0), duration=5e-3)  # r x F = -0.1 about y
    stepper.apply_force("box", torque=(0, 0, 0.2), duration=5e-3)
    with pytest.raises(TypeError):
        stepper.apply_force("box", (0, 0, 1.0), (0.1, 0, 0))  # a point or a torque?
    with pytest.raises(TypeError):
        world.generalized_force("box", (0, 0, 1.0), (0.1, 0, 0))
    for _ in range(20):
        stepper.step()
    # The force keeps its direction and its point turns with the box: second order in the angle.
    np.testing.assert_allclose(stepper.v[2], 2.5e-3, rtol=1e-5)
    np.testing.assert_allclose(stepper.v[3:], np.array([0, -0.1 * 5e-3, 0.2 * 5e-3]) / inertia, rtol=1e-3, atol=1e-4)
    for duration in (3e-4, 1e-3, 2.5e-3, 7e-3):
        stepper.reset(time=0.7)
        stepper.apply_force("box", (2.0, 0, 0), duration=duration)
        for _ in range(10):
            stepper.step()
        np.testing.assert_allclose(stepper.v[0], duration, rtol=1e-6)
    stepper.apply_force("box", (1.0, 0, 0), duration=np.inf)
    stepper.reset()  # ends it
    stepper.step()
    np.testing.assert_array_equal(stepper.v, 0.0)


FINGER = """<mujoco><option gravity="0 0 0"/><worldbody><body name="f"><joint name="s" type="slide" axis="1 0 0"/>
<geom type="box" size=".05 .05 .05" mass="1"/></body></worldbody><actuator><motor joint="s"/></actuator></mujoco>"""


@pytest.mark.parametrize("scheme", stiction.SCHEMES)
def test_what_a_torque_or_a_push_drives_at_a_wall_is_met_within_the_step(scheme):
    for force, gap in ((1e3, 1e-4), (1e5, 0.02)):
        for pushed in (False, True):
            world = stiction.World(gravity=(0, 0, 0))
            world.add_robot(FINGER)
            world.add_body("wall", Shape.box((1e-3, 1, 1)), position=(0.05 + gap + 5e-4, 0, 0))
            stepper = stiction.Stepper(world, scheme=scheme, effort_limits=False)
            if pushed:
                stepper.apply_force("f", (force, 0, 0), duration=1.0)
            for _ in range(5):
                assert stepper.step(None if pushed else [force])
                assert stepper.q[0] < gap + 1e-6
            assert stepper.q[0] == pytest.approx(gap, abs=1e-6)


PENDULUM = """<robot name="p"><link name="w"/><link name="b"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="w"/><child link="b"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize("scheme", stiction.SCHEMES)
def test_a_pendulum_under_a_constant_push_keeps_its_energy(tmp_path, scheme):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    world = stiction.World(gravity=(0, 0, 0))
    world.add_robot(path, joints={"j": 0.3})
    stepper = stiction.Stepper(world, 2e-3, scheme=scheme)
    stepper.apply_force("b", (0, 0, -400), point=(0, 0, -1), duration=5.0)
    start, most = 400 * (1 - np.cos(0.3)), 0.0
    for _ in range(2500):
        assert stepper.step().status == "solved"
        most = max(most, 0.5 * 1.001 * stepper.v[0] ** 2 + 400 * (1 - np.cos(stepper.q[0])))
    # 0.04: swings of the step times the frequency, 20 rad/s, to first and to second order
    assert most == pytest.approx(start, rel={"semi_implicit_euler": 0.04, "event_driven": 1e-6}.get(scheme, 0.04**2))


def test_a_push_on_the_ground_is_met_by_friction():
    stepper = stiction.Stepper(boxes(), law="coulomb_cone")
    stepper.apply_force("box", (0.4 * 2.0 * GRAVITY, 0, 0), point=(0, 0, -0.1), duration=1.0)
    for _ in range(100):
        stepper.step()
    np.testing.assert_allclose(stepper.v, 0.0, atol=1e-9)
    np.testing.assert_allclose(stepper.contacts.forces.sum(axis=0), [-0.4 * 2.0 * GRAVITY, 0, 2.0 * GRAVITY], atol=1e-6)


@pytest.mark.parametrize("law", ["coulomb_cone", "coulomb_pyramid", "anitescu", "moreau"])
def test_copies_and_states_repeat_to_the_bit(law):
    world = boxes(height=0.25)
    world.add_body("ball", Shape.sphere(0.1), mass=1.0, position=(0.15, 0.02, 0.6))
    stepper = stiction.Stepper(world, law=law)

    def run(s, steps=150):
        assert all(s.step() for _ in range(steps))
        return s.q.tobytes() + s.v.tobytes()

    run(stepper)
    saved, twin, deep = stepper.state, stepper.copy(), copy.deepcopy(stepper)
    first = run(stepper)
    assert run(twin) == first
    assert run(deep) == first
    stepper.state = saved
    again = run(stepper)
    fresh = stiction.Stepper(world, law=law)
    fresh.reset(saved.q, saved.v, saved.time)
    assert run(fresh) == again
    assert fresh.time == stepper.time


def test_the_scheme_is_a_choice():
    ball = stiction.World()
    ball.add_body("ball", Shape.sphere(0.1), mass=1.0, position=(0, 0, 5.0))
    fall = {name: stiction.Stepper(ball, dt=0.01, scheme=name) for name in stiction.SCHEMES}
    for name, stepper in fall.items():
        assert stepper.scheme == name
        for _ in range(10):
            stepper.step()
    exact = 5.0 - 0.5 * GRAVITY * 0.1**2
    np.testing.assert_allclose(fall["semi_implicit_euler"].q[2], exact - 0.5 * GRAVITY * 0.1 * 0.01, atol=1e-12)
    for name in ("moreau_midpoint", "energy_momentum", "event_driven"):
        np.testing.assert_allclose(fall[name].q[2], exact, atol=1e-12)  # a parabola is exact at second order
    run = stiction.simulate(ball, 0.1, dt=0.01, scheme="moreau_midpoint")
    np.testing.assert_allclose(run.q[-1], fall["moreau_midpoint"].q, atol=1e-15)
    rolled = stiction.rollout(ball, steps=10, dt=0.01, scheme="moreau_midpoint")
    np.testing.assert_array_equal(rolled.q[0, -1], fall["moreau_midpoint"].q)


def test_impacts_are_taken_as_asked():
    """Three balls in a row, elastic, the first one comes in at 1 m/s: at once (-1, 2, 2)/3, in turn (0, 0, 1)."""
    cradle = stiction.World(gravity=(0, 0, 0))
    for k in range(3):
        cradle.add_body(
            f"ball{k}", Shape.sphere(0.1), mass=1.0, position=(0.2 * k, 0, 0), restitution=1.0, friction=0.0
        )
    for order, expected in (("simultaneous", (-1 / 3, 2 / 3, 2 / 3)), ("sequential", (0.0, 0.0, 1.0))):
        for model in ("newton", "poisson"):
            stepper = stiction.Stepper(cradle, dt=0.01, scheme="event_driven", impact_order=order, impact_model=model)
            v = np.zeros(18)
            v[0] = 1.0
            stepper.reset(v=v)
            stepper.step()
            np.testing.assert_allclose(stepper.v[[0, 6, 12]], expected, atol=1e-8)
    with pytest.raises(ValueError, match=r"integrator.*rk45"):
        stiction.Stepper(cradle, scheme="event_driven", integrator="rk5")


def test_a_state_is_a_value():
    stepper = stiction.Stepper(boxes(height=1.0))
    stepper.step()
    state = stepper.state
    other = pickle.loads(pickle.dumps(state))
    assert (other.q.tobytes(), other.v.tobytes(), other.time) == (state.q.tobytes(), state.v.tobytes(), state.time)
    state.q[2] = 7.0
    assert stepper.q[2] < 1.0
    assert state.copy().q[2] == 7.0
    stepper.state = state
    assert stepper.q[2] == 7.0
    stepper.state = stiction.State(other.q, other.v)
    assert stepper.time == 0.0


def test_torques_of_the_driven_joints_alone(checkout):
    world = boxes(height=1.0)
    world.add_robot(str(checkout / "models" / "links.urdf"), floating=True, position=(0, 0, 2.0))
    short, full = stiction.Stepper(world), stiction.Stepper(world)
    torques = np.linspace(-0.1, 0.1, len(world.actuated))
    tau = np.zeros(world.nv)
    tau[world.actuated] = torques
    for _ in range(3):
        short.step(torques)
        full.step(tau)
    assert short.v.tobytes() == full.v.tobytes()


def test_torques_beyond_the_effort_limit_are_cut_and_counted(tmp_path):
    world = pendulum(tmp_path)
    inertia = 0.1 + 2.0
    for torque, acting, saturated in [(2.0, 2.0, 0), (50.0, 3.0, 1), (-50.0, -3.0, 1)]:
        forward = stiction.Stepper(world).forward([torque])
        np.testing.assert_allclose(forward.acceleration, acting / inertia)
        assert forward.report.saturated == saturated
    run = stiction.simulate(world, 3e-3, controller=lambda t, q, v: [50.0 if t < 1.5e-3 else 1.0])
    np.testing.assert_array_equal(run.saturated, [0, 1, 1, 0])
    np.testing.assert_allclose(run.tau[:, 0], [0, 3, 3, 1])
    free = stiction.Stepper(world, effort_limits=False).forward([50.0])
    np.testing.assert_allclose(free.acceleration, 50.0 / inertia)


def test_hulls_are_built_once(tmp_path):
    mesh = tmp_path / "wedge.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    world = stiction.World()
    world.add_ground()
    world.add_body("wedge", Shape.mesh(str(mesh)), mass=1.0, inertia=np.eye(3), position=(0, 0, 0.01))
    stiction.simulate(world, 1e-3)
    mesh.unlink()
    assert stiction.Stepper(world).step()
    assert stiction.simulate(world, 0.05).contacts[-1] > 0
    assert world.problem(q=[0, 0, 0, 0, 0, 0, 1]).contacts > 0


def test_a_world_may_grow_under_a_stepper():
    world = boxes(height=1.0)
    stepper = stiction.Stepper(world)
    world.add_body("late", Shape.sphere(0.1), mass=1.0, position=(0, 0, 3.0))
    assert stepper.step()
    assert (len(stepper.q), len(stiction.Stepper(world).q)) == (7, 14)


def test_threads_take_turns():
    stepper, expected = stiction.Stepper(boxes(height=0.2)), stiction.Stepper(boxes(height=0.2))
    threads = [threading.Thread(target=lambda: [stepper.step() for _ in range(200)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(600):
        expected.step()
    assert stepper.q.tobytes() == expected.q.tobytes()


@pytest.mark.parametrize(
    ("options", "named", "error"),
    [
        ({"dt": 0.0}, "dt", ValueError),
        ({"dt": "fast"}, "dt", TypeError),
        ({"law": "glue"}, "law", ValueError),
        ({"law": 3}, "law", TypeError),
        ({"solver": "dantzig", "law": "coulomb_cone"}, "solver", ValueError),
        ({"scheme": "euler"}, "scheme", ValueError),
        ({"tolerance": float("nan")}, "tolerance", ValueError),
        ({"edges": 2}, "edges", ValueError),
        ({"edges": np.zeros(2)}, "edges", TypeError),
        ({"friction": -0.1}, "friction", ValueError),
        ({"recovery": 1.5}, "recovery", ValueError),
        ({"choice": "least_torque"}, "choice", ValueError),
        ({"effort_limits": "no"}, "effort_limits", TypeError),
    ],
)
def test_a_bad_option_is_named(options, named, error):
    with pytest.raises(error, match=rf"\b{named}\b"):
        stiction.Stepper(boxes(), **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"integrator": "rk4"}, "integrator: expected none unless the scheme is event_driven, got scheme semi_impl"),
        ({"scheme": "moreau_midpoint", "impact_model": "poisson"}, "impact_model: expected none unless .* moreau_mid"),
        ({"impact_order": "sequential"}, "impact_order: expected none unless the scheme is event_driven"),
        ({"time_tolerance": 1e-9}, "time_tolerance: expected none unless the scheme is event_driven"),
        ({"rest_speed": 1e-6}, "rest_speed: expected none unless the scheme is event_driven"),
        ({"integration_tolerance": 1e-9}, "integration_tolerance: expected none unless the scheme is event_driven"),
        ({"most_events": 20}, "most_events: expected none unless the scheme is event_driven"),
        (
            {"scheme": "event_driven", "integration_tolerance": 1e-9},
            "integration_tolerance: expected none unless the integrator is rk45, got integrator rk4",
        ),
        ({"edges": 8}, "edges: expected None unless a law has a friction polygon, got 8 with law 'coulomb_cone'"),
        ({"strict": True, "acceptable": 1e-6}, "acceptable: expected none beside strict, got 1e-06"),
        ({"acceptable": 1e-10}, "acceptable: expected a number >= the tolerance of 1e-09, got 1e-10"),
        (
            {"acceptable": 1e-5, "tolerance": 1e-4},
            "acceptable: expected a number >= the tolerance of 0.0001, got 1e-05",
        ),
    ],
)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_an_option_that_would_change_nothing_is_refused(entrance, options, said):
    with pytest.raises(ValueError, match=said):
        ENTRANCES[entrance](boxes(), **options)


SETTINGS = {
    "dt": 2e-3,
    "law": "coulomb_pyramid",
    "solver": "lemke",
    "tolerance": 1e-8,
    "acceptable": 1e-5,
    "edges": 6,
    "choice": "least_norm",
    "friction": 0.3,
    "recovery": 0.1,
    "loop_recovery": 0.5,
    "scheme": "moreau_midpoint",
    "sub_steps": 2,
    "material": {"viscosity": 1.0},
}
EVENTS = {
    "scheme": "event_driven",
    "strict": True,
    "integrator": "rk45",
    "impact_model": "poisson",
    "impact_order": "sequential",
    "time_tolerance": 1e-8,
    "rest_speed": 1e-5,
    "integration_tolerance": 1e-7,
    "most_events": 50,
}


@pytest.mark.parametrize("settings", [SETTINGS, EVENTS])
def test_every_entrance_takes_the_same_settings(settings):
    """And ends with the same bits."""
    ends = {name: entrance(boxes(), **settings) for name, entrance in ENTRANCES.items()}
    for q in ends.values():
        np.testing.assert_array_equal(q, ends["Stepper"])


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("dt", 0.0), ("law", "sticky"), ("solver", "best"), ("tolerance", -1.0), ("acceptable", -1.0), ("edges", 1)],
        *[("choice", "any"), ("friction", -1.0), ("recovery", 2.0), ("loop_recovery", -0.1), ("scheme", "euler")],
        *[("sub_steps", 0), ("time_tolerance", 0.0), ("rest_speed", 0.0), ("integration_tolerance", 0.0)],
        *[("most_events", 0), ("integrator", "rk5"), ("impact_model", "none"), ("impact_order", "any")],
        ("material", {"stiff": 1.0}),
    ],
)
def test_every_entrance_names_what_is_out_of_range(entrance, name, value):
    fitting = {"scheme": "event_driven", "integrator": "rk45"} if name in EVENTS and name != "scheme" else {}
    fitting |= {"law": "coulomb_pyramid"} if name == "edges" else {}
    said = "stiff" if name == "material" else rf"\b{name}\b"
    with pytest.raises((ValueError, TypeError), match=said):
        ENTRANCES[entrance](boxes(), **fitting | {name: value})


def test_what_a_world_says_for_other_options_is_no_mistake(tmp_path):
    scene = tmp_path / "scene.toml"
    scene.write_text(
        "[simulation]\nedges = 8\nacceptable = 1e-6\n[events]\nintegrator = 'rk45'\n[[static]]\nshape = 'plane'\n"
    )
    world = stiction.World.from_scene(scene)
    for options in (
        {"strict": True},
        {"tolerance": 1e-4},
        {"scheme": "moreau_midpoint"},
        {"law": "coulomb_pyramid", "edges": 6},
    ):
        stiction.Stepper(world, **options)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda s: s.step(np.zeros(5)), "tau"),
        (lambda s: s.step(np.full(6, np.nan)), "tau"),
        (lambda s: s.step("tau"), "tau"),
        (lambda s: s.forward(np.zeros((6, 1))), "tau"),
        (lambda s: s.reset(q=np.zeros(7)), "q"),
        (lambda s: s.reset(v=[np.inf] * 6), "v"),
        (lambda s: s.reset(time=np.nan), "time"),
        (lambda s: s.apply_force("nobody", (1, 0, 0)), "nobody"),
        (lambda s: s.apply_force("ground", (1, 0, 0)), "body: expected one that moves, got 'ground"),
        (lambda s: s.apply_force("box", (1, 0)), "force"),
        (lambda s: s.apply_force("box"), "force: expected a force, a torque or both, got neither"),
        (lambda s: s.apply_force("box", point=(0, 0, 0.1)), "force: expected a force, a torque or both, got neither"),
        (lambda s: s.apply_force("box", torque=(0, 0, 1), point=(0, 0, 0.1)), "point: expected None without force"),
        (lambda s: s.apply_force("box", (1, 0, 0), point=(0, np.nan, 0)), "point"),
        (lambda s: s.apply_force("box", (1, 0, 0), point=(0, 1e200, 0)), "point"),
        (lambda s: s.apply_force("box", (1, 0, 0), duration=-1.0), "duration"),
        (lambda s: setattr(s, "state", stiction.State([0.0], [0.0])), "q"),
    ],
)
def test_a_bad_argument_is_named_and_changes_nothing(call, named):
    stepper = stiction.Stepper(boxes())
    before = stepper.q.tobytes()
    with pytest.raises(ValueError, match=rf"\b{named}\b"):
        call(stepper)
    assert stepper.q.tobytes() == before
    assert stepper.step()


def test_a_step_says_how_much_of_it_events_did_not_take():
    world = stiction.World()
    world.add_robot(
        "<mujoco><worldbody><body><joint type='hinge' damping='1'/>"
        "<inertial pos='0 0 0' mass='.001' diaginertia='1e-6 1e-6 1e-6'/></body></worldbody></mujoco>"
    )
    stepper = stiction.Stepper(world, dt=0.01, scheme="event_driven")
    stepper.reset(v=[1.0])
    report = stepper.step()
    assert report.status == "solved"
    assert 0.0 < report.without_events <= 0.01
    assert 0.0 < stepper.v[0] < 1e-3


def test_where_the_report_says_that_joints_were_braked_no_problem_knows_of_it():
    links = "".join(
        f'<body pos="{0.3 * (i > 0)} 0 0"><joint axis="0 {i % 2} {1 - i % 2}"/>'
        '<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="0.5" contype="0" conaffinity="0"/>'
        for i in range(4)
    )
    world = stiction.World(gravity=(0, 0, 0))
    world.add_robot(f"<mujoco><worldbody>{links}{'</body>' * 4}</worldbody></mujoco>")
    s = stiction.Stepper(world, dt=5e-3)
    s.reset(v=[10.0, -6.0, 10.0, -6.0])
    braked = 0
    for _ in range(200):
        free = stiction.solve(world.problem(s.q, s.v, dt=5e-3)).v
        report = s.step()
        assert report
        if report.sub_steps == 1:
            assert (report.braked != 0.0) == (np.abs(s.v - free).max() > 1e-9)
            braked += report.braked != 0.0
    assert braked > 10


def test_a_report_says_what_a_step_was_refused_for():
    world = stiction.World()
    world.add_body("ball", stiction.Shape.sphere(0.1), mass=1.0, position=(0, 0, 1))
    stepper = stiction.Stepper(world, dt=1e-3)
    assert stepper.step().refused == ""
    report = stepper.step([1e30, 0, 0, 0, 0, 0])
    assert not report
    assert report.refused == "reach"
    assert "refused='reach'" in repr(report)


def test_friction_changes_while_it_runs():
    """A box pushed by 6 N at a weight of 9.81 N: holds at 0.8, slides at 0.4 by 6 - 0.4 * 9.81 N, rests again."""
    world = stiction.World()
    world.add_ground(friction=0.8)
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.02)), mass=1.0, position=(0, 0, 0.01), friction=0.8)
    stepper = stiction.Stepper(world, dt=1e-3)
    stepper.apply_force("box", force=(6.0, 0.0, 0.0), duration=np.inf)
    assert stepper.friction is None
    for _ in range(100):
        stepper.step()
    assert abs(stepper.v[0]) < 1e-12
    stepper.friction = 0.4
    assert stepper.friction == 0.4
    for _ in range(100):
        stepper.step()
    np.testing.assert_allclose(stepper.v[0], 0.1 * (6.0 - 0.4 * 9.81), rtol=1e-9)
    twins = [pickle.loads(pickle.dumps(stepper)), stepper.copy()]
    for twin in (stepper, *twins):
        twin.step()
        assert twin.friction == 0.4
        assert twin.v.tobytes() == stepper.v.tobytes()
    stepper.friction = None
    for _ in range(200):
        stepper.step()
    assert abs(stepper.v[0]) < 1e-12
    with pytest.raises(ValueError, match=r"friction: expected .*>= 0.*got -1"):
        stepper.friction = -1.0
    with pytest.raises(TypeError, match="friction"):
        stepper.friction = "ice"
    assert stepper.friction is None
