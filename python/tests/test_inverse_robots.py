"""Inverse dynamics of whole robots that lie on the ground, asked for joint velocities that their contacts refuse."""

import pathlib

import numpy as np
import pytest

import stiction

TALOS, TIAGO = "talos_data/robots/talos_full_v2.urdf", "tiago_pro_description/robots/tiago_pro.urdf"


@pytest.mark.parametrize(("robot", "seed"), [(TALOS, 0), (TALOS, 1), (TALOS, 4), (TIAGO, 2), (TIAGO, 3), (TIAGO, 4)])
def test_robots_whose_fingers_are_coupled_follow_the_nearest_without_slip(example_robot, robot, seed):
    path = example_robot(robot)
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=4)
    world = stiction.World(friction=0.6)
    world.add_ground()
    placed = {"position": (0, 0, 0.6), "orientation": turn / np.linalg.norm(turn)}
    world.add_robot(path, floating=True, package_dirs=[pathlib.Path(path).parents[4]], **placed)
    stepper = stiction.Stepper(world, dt=5e-3, law="coulomb_pyramid")
    for _ in range(200):
        stepper.step()
    problem = world.problem(stepper.q, np.zeros(world.nv), dt=1e-3)
    coupled = [j for j, kind in enumerate(problem.row_kinds) if kind == "equality"]
    assert len(coupled) >= 10
    joints = np.array(world.actuated)
    desired = 0.3 * rng.normal(size=len(joints))
    answer = stiction.inverse(problem, joints, desired, law="no_slip")
    assert answer.status == "solved", answer.certificate
    assert answer.repaired
    assert np.linalg.norm(answer.v[joints] - desired) <= np.linalg.norm(desired)
    assert np.abs(problem.J_b[coupled] @ answer.v).max() < 1e-9
    slip = np.array(answer.contact_velocities)[problem.gap < 1e-6][:, 1:]
    assert np.abs(slip).max() < 1e-9 * answer.certificate.velocity_scale


@pytest.mark.parametrize("law", ["frictionless", "anitescu", "max_dissipation"])
def test_what_is_proved_without_a_repair_is_proved_of_the_request_that_is_replaced(example_robot, law):
    """A humanoid stands with its arms against its body and is asked for joint velocities at random."""
    path = pathlib.Path(example_robot("talos_data/robots/talos_reduced.urdf"))
    world = stiction.World(friction=0.7)
    world.add_ground()
    keyframe = {"srdf": path.parents[1] / "srdf/talos.srdf", "keyframe": "half_sitting"}
    world.add_robot(path, floating=True, package_dirs=[path.parents[4]], **keyframe)
    q = world.initial_q.copy()
    q[2] = 1.01637875  # the soles on the ground
    problem = world.problem(q, np.zeros(world.nv))
    joints, proved = np.array(world.actuated), 0
    for seed in range(12):
        desired = 1e-3 * np.random.default_rng(seed).normal(size=len(joints))
        as_asked = stiction.inverse(problem, joints, desired, law, repair_inconsistent=False)
        if as_asked.status != "infeasible":
            continue
        answer = stiction.inverse(problem, joints, desired, law)
        assert answer.repaired
        assert answer.proof is not None, seed
        assert stiction.certifies_infeasibility(problem, joints, desired, answer.proof, law=law)
        proved += 1
    assert proved > 5


FEET = {"FL": (0.15, 0.1), "FR": (0.15, -0.1), "HL": (-0.15, 0.1), "HR": (-0.15, -0.1)}
LEG = """<body name="{0}_hip" pos="{1} {2} 0"><joint name="{0}_hip" axis="1 0 0"/>
    <geom type="sphere" size=".02" mass=".2" {3}/>
  <body name="{0}_thigh"><joint name="{0}_thigh" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".01" mass=".3" {3}/>
    <body name="{0}_shank" pos="0 0 -.2"><joint name="{0}_knee" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .05 0 -.2" size=".01" mass=".2" {3}/>
      <geom type="sphere" pos=".05 0 -.2" size=".02" mass=".05"/></body></body>
  <body name="{0}_rod" pos=".04 0 0"><joint name="{0}_rod" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".005" mass=".1" {3}/></body>
</body>"""


def quadruped_of_parallelograms():
    """MJCF of a quadruped whose legs keep their shanks upright by a rod; hips and thighs are driven."""
    still = 'contype="0" conaffinity="0"'
    legs = "".join(LEG.format(name, x, y, still) for name, (x, y) in FEET.items())
    loops = "".join(f'<connect body1="{name}_rod" body2="{name}_shank" anchor="0 0 -.2"/>' for name in FEET)
    motors = "".join(f'<motor joint="{name}_hip"/><motor joint="{name}_thigh"/>' for name in FEET)
    return f"""<mujoco><worldbody><body name="trunk" pos="0 0 .45"><freejoint/>
      <geom type="box" size=".2 .1 .03" mass="3"/>{legs}</body></worldbody>
      <equality>{loops}</equality><actuator>{motors}</actuator></mujoco>"""


def coulomb_error(problem, tau, answer, mu):
    """Largest violation of the step's momentum, loops and Coulomb's law at an answer, each over its own size."""
    lam, dt = np.array(answer.impulses), problem.dt
    u = (problem.J @ answer.v).reshape(-1, 3)
    opening = u[:, 0] + np.maximum(problem.gap, 0.0) / dt
    sliding, friction = np.linalg.norm(u[:, 1:], axis=1), np.linalg.norm(lam[:, 1:], axis=1)
    rows = problem.J_b.T @ np.array(answer.bounded_impulses)
    momentum = problem.M @ (answer.v - problem.v) - problem.impulse - dt * tau - problem.J.T @ lam.ravel() - rows
    speed, impulse = np.abs(answer.v).max(), lam.max()
    against = np.sum(lam[:, 1:] * u[:, 1:], axis=1) + mu * lam[:, 0] * sliding
    return max(
        np.abs(momentum).max() / impulse,
        np.abs(problem.J_b @ answer.v - problem.b).max() / speed,
        -opening.min() / speed,
        np.abs(opening * lam[:, 0]).max() / (speed * impulse),
        (friction - mu * lam[:, 0]).max() / impulse,
        np.abs(against).max() / (speed * impulse),
    )


# Feet that slide as told on legs that loops stiffen: Coulomb's law often has another answer at the same torques.
@pytest.mark.parametrize(("law", "unique"), [("coulomb_cone", False), ("no_slip", True)])
def test_what_robots_with_passive_loops_return_at_the_torques_of_their_inverse(law, unique):
    mu, runs, returned = 0.3, 30, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        world = stiction.World(friction=mu)
        world.add_ground()
        world.add_robot(quadruped_of_parallelograms(), name="robot", position=(0, 0, 0.42))
        stepper = stiction.Stepper(world, dt=1e-3, law=law, effort_limits=False)
        joints = np.array(world.actuated)
        held = [j.q for j in world.joints if j.v in joints]
        stepper.drive(position=world.initial_q[held], kp=200.0, kd=5.0, limits=np.inf)
        for _ in range(400):
            stepper.step()
        stepper.drive()
        stepper.reset(stepper.q, stepper.v)
        desired = stepper.v[joints] + 0.1 * rng.normal(size=len(joints))
        problem = stepper.problem()
        plan = stiction.inverse(problem, joints, desired, law=law)
        assert plan.status == "solved"
        tau = np.zeros(world.nv)
        tau[joints] = plan.tau
        forward = stiction.solve(stepper.problem(tau), law=law)
        assert forward.status == "solved"
        if law == "coulomb_cone":
            assert coulomb_error(problem, tau, plan, mu) < 1e-7
            assert coulomb_error(problem, tau, forward, mu) < 1e-7
        returned += np.abs(forward.v - plan.v).max() < 1e-4 * np.abs(plan.v).max()
    print(f"{law}: {returned} of {runs} return")
    assert returned == runs if unique else 0 < returned < runs
