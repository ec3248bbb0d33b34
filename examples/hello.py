"""A quadruped stands: torques that hold it, forces under its feet (inverse), both put to the test (forward)."""

import pathlib

import numpy as np

import stiction

LINKS = pathlib.Path(__file__).resolve().parents[1] / "models" / "links.urdf"
ANGLES = {"HIP": 0.3927, "THIGH": 0.7854, "SHANK": 1.5708}
SIGN = {"LF": 1, "RF": -1, "LH": -1, "RH": 1}

world = stiction.World()
world.add_ground(friction=0.5)
world.add_robot(
    str(LINKS),
    floating=True,
    position=(0, 0, 0.15),
    joints={f"{leg}_{joint}": SIGN[leg] * angle for leg in SIGN for joint, angle in ANGLES.items()},
)
legs = world.actuated


def hold(t, q, v):
    """Inverse dynamics: the torques after which no leg joint moves."""
    plan = stiction.inverse(world.problem(q, v), legs, np.zeros(len(legs)), law="anitescu")
    tau = np.zeros(world.nv)
    tau[legs] = plan.tau
    return tau


run = stiction.simulate(world, 0.5, law="anitescu", controller=hold)
q, v = run.q[-1], run.v[-1]
problem = world.problem(q, v)
plan = stiction.inverse(problem, legs, np.zeros(len(legs)), law="anitescu")
step = stiction.solve(world.problem(q, v, hold(0, q, v)), law="anitescu")
print(f"after {run.time[-1]:g} s ({run.status}) the body is {q[2]:.4f} m high, on {problem.contacts} contacts")
print("normal forces predicted (N):", plan.impulses[:, 0] / problem.dt)
print("normal forces simulated (N):", step.impulses[:, 0] / problem.dt)
