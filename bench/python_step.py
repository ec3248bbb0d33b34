"""What a step costs from Python, beside what it costs in C++.

Per scene, medians over the steps (us): wall time of `Stepper.step(tau)`, time in the C++ stages of the same steps
(StepReport.seconds), and their difference; then the wall time of `simulate(world, dt)`, which a loop without a Stepper
would call once per step. Robots of example-robot-data stand by a proportional-derivative law; without that package they
are left out.
"""

import argparse
import pathlib
import time

import numpy as np
from robots_folder import robots_folder

import stiction

ROBOTS = {
    "solo12": ("solo_description/robots/solo12.urdf", 0.35, {}, 5.0, 0.1),
    "go1": ("go1_description/urdf/go1.urdf", 0.45, {}, 40.0, 1.0),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", 0.85, {}, 100.0, 2.0),
}


def box():
    world = stiction.World()
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1))
    return world, lambda q, v: np.zeros(world.nv)


def robot(folder, name):
    file, height, joints, kp, kd = ROBOTS[name]
    world = stiction.World()
    world.add_ground()
    world.add_robot(str(folder / file), floating=True, position=(0, 0, height), joints=joints)
    driven = world.actuated
    by_v = {joint.v: joint.q for joint in world.joints}
    coordinates = np.array([by_v[i] for i in driven])
    target = world.initial_q[coordinates]
    return world, lambda q, v: kp * (target - q[coordinates]) - kd * v[driven]


def through_stepper(world, control, steps):
    stepper = stiction.Stepper(world)
    wall, inside = [], []
    for _ in range(steps):
        tau = control(stepper.q, stepper.v)
        start = time.perf_counter()
        report = stepper.step(tau)
        wall.append(time.perf_counter() - start)
        inside.append(sum(report.seconds.values()))
        assert report, report
    return np.array(wall), np.array(inside), report.contacts, stepper.q, stepper.v


def through_simulate(world, q, v, steps):
    wall = []
    for _ in range(steps):
        start = time.perf_counter()
        stiction.simulate(world, 1e-3, q=q, v=v)
        wall.append(time.perf_counter() - start)
    return np.array(wall)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--robots", type=pathlib.Path, default=robots_folder(), help="folder of robot descriptions")
    options = parser.parse_args()
    scenes = {"box": box}
    if options.robots and options.robots.is_dir():
        scenes |= {name: lambda name=name: robot(options.robots, name) for name in ROBOTS}
    print("scene      nv contacts      step       C++   more  ratio  simulate(dt)  us")
    for name, make in scenes.items():
        world, control = make()
        wall, inside, contacts, q, v = through_stepper(world, control, options.steps)
        more = np.median(wall - inside)
        one = np.median(through_simulate(world, q, v, 50))
        step, stages = np.median(wall) * 1e6, np.median(inside) * 1e6
        print(
            f"{name:8} {world.nv:4} {contacts:8} {step:9.1f} {stages:9.1f} {more * 1e6:6.2f} {step / stages:6.2f}",
            end="",
        )
        print(f" {one * 1e6:13.1f}")


if __name__ == "__main__":
    main()
