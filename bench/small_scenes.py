"""One step of 1 ms of the small scenes of step_bench.cpp beside MuJoCo: a box on an incline, four boxes held between
two pushers, Solo12 standing.

Both engines step the whole scene in compiled code, control included, in turn for some rounds; the time is the
processor's over all steps of a run, median of the rounds. `creep`: how far what should rest has moved (of Solo12's feet
in the second half; the sliding box: how far it is from where it should be). MuJoCo at its defaults, and as stiff as it
gets: elliptic cones, noslip, time constant of two steps.
"""

import importlib.util
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

import numpy as np
from robots_folder import robots_folder

STEP, GRAVITY = 1e-3, 9.81
SCENES = ("box_slides", "box_sticks", "row_of_boxes", "solo12_stands")  # as step_bench calls them
STEPS = {"box_slides": 2000, "box_sticks": 2000, "row_of_boxes": 1000, "solo12_stands": 2000}

DEFAULTS = {"option": "", "geom": ""}


def stiff_geom(dt):
    return f'solref="{2.001 * dt} 1" solimp="0.99 0.999 0.001"'


STIFF = {
    "option": 'cone="elliptic" impratio="100" noslip_iterations="10" iterations="100" tolerance="1e-12"',
    "geom": stiff_geom(STEP),
}
ENGINES = {"MuJoCo": DEFAULTS, "MuJoCo stiff": STIFF}

FEET, FOOT_RADIUS = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"), 0.016
LEGS = {"FL": 1, "FR": 1, "HL": -1, "HR": -1}
POSE = {f"{leg}_{joint}": s * q for leg, s in LEGS.items() for joint, q in (("HAA", 0.0), ("HFE", 0.8), ("KFE", -1.6))}


def mjcf(engine, friction, world, actuators="", gravity=(0, 0, -GRAVITY)):
    return (
        f'<mujoco><option timestep="{STEP}" gravity="{" ".join(map(str, gravity))}" {engine["option"]}/>'
        f'<default><geom friction="{friction} 0 0" condim="3" {engine["geom"]}/></default>'
        f"<worldbody>{world}</worldbody><actuator>{actuators}</actuator></mujoco>"
    )


class Box:
    """On the incline, which is level under a tilted gravity."""

    ANGLE = np.deg2rad(15)

    def __init__(self, engine, friction):
        import mujoco

        fall = GRAVITY * max(0.0, np.sin(self.ANGLE) - friction * np.cos(self.ANGLE))
        duration = STEPS["box_slides"] * STEP
        self.way = 0.5 * fall * duration * (duration + STEP)  # of velocities first, positions then
        self.model = mujoco.MjModel.from_xml_string(
            mjcf(
                engine,
                friction,
                '<geom type="plane" size="20 20 1"/><body pos="0 0 .1"><freejoint/>'
                '<geom type="box" size=".1 .1 .1" mass="1"/></body>',
                gravity=(GRAVITY * np.sin(self.ANGLE), 0, -GRAVITY * np.cos(self.ANGLE)),
            )
        )

    def reset(self, data):
        pass

    def creep(self, middle, data):
        return abs(data.qpos[0] - self.way)


class Row:
    def __init__(self, engine, friction=0.5):
        import mujoco

        bodies = [
            f'<body pos="{x} 0 0"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>'
            for x in (-0.15, -0.05, 0.05, 0.15)
        ]
        bodies += [
            f'<body pos="{x} 0 0"><joint name="{name}" type="slide" axis="1 0 0"/>'
            '<geom type="box" size=".05 .1 .1" mass="1"/></body>'
            for name, x in (("left", -0.25), ("right", 0.25))
        ]
        motors = '<motor joint="left"/><motor joint="right"/>'
        self.model = mujoco.MjModel.from_xml_string(mjcf(engine, friction, "".join(bodies), motors))

    def reset(self, data):
        data.ctrl[:] = [100, -100]

    def creep(self, middle, data):
        return max(abs(data.qpos[7 * k + 2]) for k in range(4))


def solo12_file():
    return robots_folder() / "solo_description/robots/solo12.urdf"


def solo12_mjcf(engine, friction):
    """The robot's file with spheres at its feet as the only shapes, a floating base, a ground and position servos."""
    import mujoco

    robot = ElementTree.parse(solo12_file()).getroot()
    for link in robot.findall("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
        if link.get("name") in FEET:
            link.append(
                ElementTree.fromstring(f'<collision><geometry><sphere radius="{FOOT_RADIUS}"/></geometry></collision>')
            )
    base = '<joint name="root" type="floating"><parent link="world"/><child link="base_link"/></joint>'
    robot.append(ElementTree.fromstring('<link name="world"/>'))
    robot.append(ElementTree.fromstring(base))
    robot.append(ElementTree.fromstring('<mujoco><compiler fusestatic="false"/></mujoco>'))
    text = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode")).to_xml()
    option = f'<option timestep="{STEP}" {engine["option"]}/>'
    text = re.sub(r"<option\b[^>]*/>", "", text)
    text = text.replace("<worldbody>", f'{option}<worldbody><geom type="plane" size="5 5 1"/>', 1)
    text = re.sub(r"<geom ", f'<geom friction="{friction} 0 0" condim="3" {engine["geom"]} ', text)
    servos = "".join(f'<position joint="{name}" kp="10" kv="0.1"/>' for name in POSE)
    return text.replace("</mujoco>", f"<actuator>{servos}</actuator></mujoco>")


class Solo12:
    def __init__(self, engine, friction=0.6):
        import mujoco

        self.mujoco, self.model = mujoco, mujoco.MjModel.from_xml_string(solo12_mjcf(engine, friction))
        self.feet = [self.model.body(name).id for name in FEET]

    def reset(self, data):
        data.qpos[:] = 0
        data.qpos[3] = 1
        for k, (name, q) in enumerate(POSE.items()):
            data.qpos[self.model.joint(name).qposadr[0]] = data.ctrl[k] = q
        data.qpos[2] = FOOT_RADIUS - self.positions(data)[:, 2].min()

    def positions(self, data):
        self.mujoco.mj_kinematics(self.model, data)
        return data.xpos[self.feet].copy()

    def creep(self, middle, data):
        moved = self.positions(data) - self.positions(middle)
        return float(np.linalg.norm(moved[:, :2], axis=1).max())


MAKE = {
    "box_slides": lambda engine: Box(engine, 0.2),
    "box_sticks": lambda engine: Box(engine, 0.5),
    "row_of_boxes": Row,
    "solo12_stands": Solo12,
}


class MuJoCo:
    def __init__(self, scene, options):
        import mujoco

        self.mujoco, self.scene, self.steps = mujoco, MAKE[scene](options), STEPS[scene]
        self.data = mujoco.MjData(self.scene.model)

    def run(self):
        """Seconds a step, creep and contacts."""
        step, model, data, half = self.mujoco.mj_step, self.scene.model, self.data, self.steps // 2
        self.mujoco.mj_resetData(model, data)
        self.scene.reset(data)
        start = time.process_time()
        step(model, data, half)
        seconds = time.process_time() - start
        middle = self.mujoco.MjData(model)
        middle.qpos[:] = data.qpos
        start = time.process_time()
        step(model, data, half)
        seconds += time.process_time() - start
        return seconds / self.steps, self.scene.creep(middle, data), data.ncon


def own_run(program, scene):
    out = subprocess.run(
        [program, f"--benchmark_filter=^{scene}$", "--benchmark_format=json", "--benchmark_min_time=0.2"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    row = json.loads(out)["benchmarks"][0]
    return 1e-6 * row["cpu_time"], row["creep_m"], row["contacts"]


def instructions(program, scene):
    """Of one step, as valgrind counts them; None without valgrind."""
    if shutil.which("valgrind") is None:
        return None
    with tempfile.NamedTemporaryFile() as profile:
        said = subprocess.run(
            [
                *("valgrind", "--tool=callgrind", f"--callgrind-out-file={profile.name}", "--collect-atstart=no"),
                *("--toggle-collect=stiction::Stepper::step(*", program, f"--benchmark_filter=^{scene}$"),
                "--benchmark_min_time=0.00001",  # one step beside those of the counters
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stderr
    return int(re.search(r"Collected : (\d+)", said)[1]) / (STEPS[scene] + 1)


def measure_steps(build, rounds, count_instructions):
    program = build / "bench" / "step_bench"
    engines = ENGINES
    if importlib.util.find_spec("mujoco") is None:
        print("compare: mujoco is not installed (pip install mujoco)", file=sys.stderr)
        engines = {}
    rows = []
    for scene in SCENES:
        runs = {"stiction": lambda scene=scene: own_run(program, scene)}
        runs |= {name: MuJoCo(scene, options).run for name, options in engines.items()}
        taken = {name: [] for name in runs}
        for _ in range(rounds):
            for name, run in runs.items():
                taken[name].append(run())
        for name, results in taken.items():
            seconds, creep, contacts = zip(*results, strict=True)
            row = {"scene": scene, "engine": name, "us": 1e6 * statistics.median(seconds), "us_min": 1e6 * min(seconds)}
            rows.append(row | {"creep_m": creep[0], "contacts": contacts[0]})
        if count_instructions:
            rows[-len(runs)]["instructions"] = instructions(program, scene)
    return rows


def print_steps(rows):
    print("One step of 1 ms, control included; processor time, median and least of the rounds")
    print(f"{'scene':>14} {'engine':>13} {'contacts':>8} {'us':>7} {'least':>7} {'creep m':>9} {'instructions':>12}")
    for r in rows:
        print(
            f"{r['scene']:>14} {r['engine']:>13} {r['contacts']:>8.0f} {r['us']:>7.2f} {r['us_min']:>7.2f} "
            f"{r['creep_m']:>9.1e} {'-' if not r.get('instructions') else format(r['instructions'], '.0f'):>12}"
        )
