import fcntl
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import termios
import time

import numpy as np
import pytest

MODELS = str(pathlib.Path(__file__).parents[1] / "models")
LINKS = MODELS + "/links.urdf"


def stiction(*arguments, cwd=None):
    command = pathlib.Path(sys.executable).with_name("stiction")
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.parametrize(
    ("arguments", "named", "hint"),
    [
        ([], "command", "stiction --help"),
        (["bogus"], "bogus", "stiction --help"),
        (["bogus", "--help"], "bogus", "stiction --help"),
        (["experiment", "walz", "--help"], "walz", "stiction experiment --help"),
        (["simulate", "--help", "extra", "more"], "more", "stiction simulate --help"),
        (
            ["simulate", LINKS],
            "expected a scene (.toml), whose [[robot]] names such a file",
            "stiction simulate --help",
        ),
        (["info"], "MODEL", "stiction info --help"),
        (["experiment", "walz"], "expected one of trot", "stiction experiment --help"),
        (["experiment", "walz", "--help"], "experiment: expected one of trot", "stiction experiment --help"),
        (
            ["terrain", "hills", "--size", "40"],
            "cell: expected at most 4000000 samples, got 0.02 m on 40 x 40 m: 4004001",
            "terrain --help",
        ),
        (["info", LINKS, "--seed", "x"], "--seed", "stiction info --help"),
        (["info", LINKS, "--seed", "-1"], "--seed: expected an integer in [0, 2^63), got '-1'", "stiction info --help"),
        (["terrain", "--seed", "18446744073709551616"], "--seed: expected an integer", "stiction terrain --help"),
        (
            ["info", "scene.toml"],
            "MODEL: expected a URDF or MJCF file, got 'scene.toml', which is named",
            "info --help",
        ),
        (["info", "run.npz"], "which is named as a recorded run", "stiction info --help"),
        (["info", "absent.urdf"], "absent.urdf: no such file", "stiction info --help"),
        (["simulate", MODELS], "a folder, not a file", "stiction simulate --help"),
        # Before the work whose result would be lost:
        (["info", LINKS, "--json", "absent/out.json"], "no folder absent", "stiction info --help"),
        (["experiment", "trot", "--json", MODELS], "a folder of that name", "stiction experiment trot --help"),
        (
            ["experiment", "trot", "--plot", "trot.txt"],
            "ends in .svg or .png or .pdf",
            "stiction experiment trot --help",
        ),
        (["simulate", "bounce", "--record", "run.mcap"], "ends in .npz, got 'run.mcap'", "stiction simulate --help"),
        (["simulate", "bounce", "--dump", "last.txt"], "ends in .json or .npz", "stiction simulate --help"),
        (["simulate", "bounce", "--log", "absent/log.csv"], "no folder absent", "stiction simulate --help"),
        # What would change nothing:
        (
            ["simulate", "bounce", "--integrator", "rk4"],
            "--integrator: expected none unless",
            "stiction simulate --help",
        ),
        (
            ["simulate", "bounce", "--impact-model", "poisson"],
            "--impact-model: expected none unless",
            "simulate --help",
        ),
        (["simulate", "bounce", "--strict", "--acceptable", "1e-6"], "--acceptable: expected none beside", "simulate"),
        (
            ["simulate", "bounce", "--acceptable", "1e-12"],
            "--acceptable: expected a number >= the tolerance",
            "simulate",
        ),
        (
            ["simulate", "bounce", "--coordinates", "maximal"],
            "--coordinates: expected none for a scene without robots, got maximal",
            "stiction simulate --help",
        ),
        # Before the table begins:
        (
            ["experiment", "trot", "--duration", "-1"],
            "duration: expected a finite number > 0, got -1",
            "stiction experiment trot --help",
        ),
        (
            ["experiment", "trot", "--duration", "1e-4"],
            "duration: expected half a step",
            "stiction experiment trot --help",
        ),
        (
            ["experiment", "trot", "--lookahead", "0"],
            "lookahead: expected a finite number > 0, got 0",
            "stiction experiment trot --help",
        ),
        # Only --json writes to standard output:
        (["simulate", "bounce", "--log", "-"], "--log: expected a file, got '-'", "stiction simulate --help"),
        (["simulate", "bounce", "--record", "-"], "--record: expected a file name", "stiction simulate --help"),
        (["simulate", "bounce", "--dump", "-"], "--dump: expected a file name", "stiction simulate --help"),
        (["terrain", "--scene", "-"], "--scene: expected a file name", "stiction terrain --help"),
        (["terrain", "hills", "--friction", "0.1;2"], "--friction: expected numbers, got '0.1;2'", "terrain --help"),
        (
            ["solve", "absent.json", "--max-sweeps", "two"],
            "--max-sweeps: expected an integer, got 'two'",
            "solve --help",
        ),
        (["foo"], "unknown command 'foo': expected one of info, simulate, inverse, solve, compare", "stiction --help"),
        ([], "a command is needed: one of info, simulate, inverse", "stiction --help"),
    ],
)
def test_bad_input_is_one_line_with_a_hint_and_exit_code_2(arguments, named, hint):
    result = stiction(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert named in result.stderr
    assert hint in result.stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["simulate", "scene.toml", "--log", "a.npz", "--record", "./a.npz"], "--record"),
        (["simulate", "scene.toml", "--record", "a.npz", "--dump", "folder/../a.npz"], "--dump"),
        (["simulate", "scene.toml", "--log", "link.toml"], "--log"),
        (["simulate", "scene.toml", "--json", "scene.toml"], "--json"),
        (["experiment", "trot", "--quick", "--plot", "a.svg", "--json", "a.svg"], "--json"),
        (["terrain", "--scene", "a.toml", "--json", "a.toml"], "--json"),
        (["info", "robot.urdf", "--json", "robot.urdf"], "--json"),
    ],
)
def test_no_two_options_name_one_file(tmp_path, arguments, named):
    scene = pathlib.Path(MODELS, "scenes", "bounce.toml").read_text()
    (tmp_path / "scene.toml").write_text(scene)
    (tmp_path / "robot.urdf").write_text(pathlib.Path(LINKS).read_text())
    (tmp_path / "link.toml").symlink_to("scene.toml")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    result = stiction(*arguments, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"{named}: expected a file that no other option names" in result.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "scene.toml").read_text() == scene


@pytest.mark.parametrize("arguments", [["simulate", "bounce", "--json"], ["info", LINKS, "--json"], ["scenes"]])
def test_standard_output_that_is_full_is_an_error(arguments):
    command = pathlib.Path(sys.executable).with_name("stiction")
    with open("/dev/full", "w") as full:
        result = subprocess.run([command, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 2
    assert "standard output: cannot be written" in result.stderr


def test_info_says_what_the_file_says():
    result = stiction("info", LINKS, "--floating", "--json")
    assert result.returncode == 0
    info = json.loads(result.stdout)
    actuated = [joint for joint in info["joints"] if joint["actuated"]]
    assert (info["nq"], info["nv"], info["actuated"]) == (19, 18, 12)
    assert len(actuated) == 12
    assert info["mass"] == pytest.approx(sum(body["mass"] for body in info["bodies"]))
    text = pathlib.Path(LINKS).read_text()
    assert all(f'"{joint["name"]}"' in text for joint in actuated)


def test_what_a_file_says_in_vain_is_named_on_standard_error(tmp_path):
    robot = tmp_path / "arm.xml"
    robot.write_text(
        '<mujoco model="arm"><option wind="1 0 0"/>'
        '<worldbody><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    scene = tmp_path / "arm.toml"
    scene.write_text('[simulation]\nduration = 0.01\n[[robot]]\nfile = "arm.xml"\n')
    warning = f"warning: arm: {robot}:1: wind of <option> left out: there is no fluid\n"
    for arguments in (["info", robot], ["simulate", scene], ["compare", scene, "--laws", "coulomb_cone"]):
        assert stiction(*arguments).stderr.endswith(warning), arguments
        assert stiction(*arguments, "--quiet").stderr == ""


def test_links_that_are_left_out_of_collision_are_named_by_every_command(tmp_path):
    robot, scene = tmp_path / "arm.xml", tmp_path / "arm.toml"
    link = '<body name="{0}"><joint name="{0}"/><geom size="0.1"/>'
    robot.write_text(
        f"<mujoco model='arm'><worldbody>{''.join(map(link.format, 'abc'))}</body></body></body></worldbody></mujoco>"
    )
    scene.write_text('[simulation]\nduration = 0.01\n[[robot]]\nfile = "arm.xml"\n')
    warning = "warning: arm: links that touch in nearly every pose do not collide: a - c (200.0 mm)\n"
    for arguments in (["info", robot], ["simulate", scene], ["experiment", "drop", "--robot", robot, "--quick"]):
        assert stiction(*arguments).stderr.endswith(warning), arguments
    assert warning[9:-1] in json.loads(stiction("info", robot, "--json", "--quiet").stdout)["warnings"]


def test_the_law_of_a_run_reaches_the_pairs_that_name_none(tmp_path):
    scene = tmp_path / "slope.toml"
    box = '[[body]]\nname = "{}"\nshape = "box"\nsize = [0.2, 0.2, 0.1]\nmass = 1\nposition = [0, {}, 0.05]\n'
    scene.write_text(
        "[simulation]\nduration = 0.1\ngravity = [3, 0, -9]\n"
        '[[static]]\nname = "ground"\nshape = "plane"\n'
        + box.format("own", 0)
        + box.format("other", 1)
        + '[[pair]]\na = "own"\nb = "ground"\nlaw = "coulomb_cone"\n'
    )
    log = tmp_path / "log.csv"
    assert stiction("simulate", scene, "--law", "frictionless", "--log", log).returncode == 0
    head, *_, last = (line.split(",") for line in log.read_text().splitlines())
    speeds = [float(value) for name, value in zip(head, last, strict=True) if name in ("v own.vx", "v other.vx")]
    assert speeds == pytest.approx([0.0, 0.3], abs=1e-8)


def test_the_scheme_is_a_choice():
    ends = {}
    for scheme in ("semi_implicit_euler", "moreau_midpoint"):
        run = stiction("simulate", "bounce", "--duration", 0.02, "--dt", 0.01, "--scheme", scheme, "--json", "--quiet")
        ends[scheme] = json.loads(run.stdout)["q"][2]
    assert ends["moreau_midpoint"] - ends["semi_implicit_euler"] == pytest.approx(0.5 * 9.81 * 0.02 * 0.01)
    taken = stiction(
        "simulate",
        "bounce",
        "--duration",
        0.02,
        "--dt",
        0.01,
        "--scheme",
        "event_driven",
        "--integrator",
        "rk45",
        "--json",
        "--quiet",
    )
    assert json.loads(taken.stdout)["q"][2] == pytest.approx(ends["moreau_midpoint"], abs=1e-12)
    assert "rk45" in stiction("simulate", "bounce", "--integrator", "rk5").stderr
    unknown = stiction("simulate", "bounce", "--scheme", "euler")
    assert unknown.returncode == 2
    assert "moreau_midpoint" in unknown.stderr


def test_inverse_takes_the_joints_of_the_file_and_the_velocities_that_are_given(tmp_path):
    file = tmp_path / "held.npz"
    np.savez(
        file, M=np.diag([1.0, 2.0, 3.0]), v=np.zeros(3), J=np.zeros((0, 3)), mu=[], dt=0.1,
        prescribed=[2, 0], v_prescribed=[0.3, -0.2],
    )  # fmt: skip

    def velocity(*words):
        answer = stiction("inverse", file, "--law", "frictionless", "--json", *words)
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)["velocity"]

    np.testing.assert_allclose(velocity(), [-0.2, 0.0, 0.3], atol=1e-12)
    np.testing.assert_allclose(velocity("--velocities", "1,2"), [2.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(velocity("--joints", "0,2", "--velocities", "1,2"), [1.0, 0.0, 2.0], atol=1e-12)
    refused = stiction("inverse", file, "--joints", 1, "--velocities", 0.5)  # the others would be let go
    assert refused.returncode == 2
    assert "--joints: expected the coordinates that the file prescribes: 0, 2, got 1" in refused.stderr
    refused = stiction("inverse", file, "--least-torque", "--torque-limit", 5)
    assert refused.returncode == 2
    assert "--least-torque: expected no --torque-limit beside it, got 5" in refused.stderr


@pytest.mark.parametrize(
    ("joints", "velocities", "refusal"),
    [
        ("1,2", "1,2,3", "--velocities: expected one for each of 2 joints, got 3"),
        ("1,2", None, "--velocities: expected one for each of 2 joints, got none"),
        ("1,2", "1,nan", "--velocities: expected finite numbers, got nan"),
        ("1,9", "1,2", "--joints: expected indices in [0, 3), got 9"),
        ("1,1", "1,2", "--joints: expected each joint once, got 1 again"),
    ],
)
def test_inverse_speaks_of_its_options(tmp_path, joints, velocities, refusal):
    file = tmp_path / "free.npz"
    np.savez(file, M=np.eye(3), v=np.zeros(3), J=np.zeros((0, 3)), mu=[], dt=0.1)
    refused = stiction("inverse", file, "--joints", joints, *(["--velocities", velocities] if velocities else []))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"stiction: {refusal} (see stiction inverse --help)\n"


def test_laws_of_contacts_are_those_told(tmp_path):
    box = '[[body]]\nname = "{}"\nshape = "box"\nsize = [0.2, 0.2, 0.1]\nmass = 1.0\nposition = [{}, 0, 0.05]\n'
    (tmp_path / "scene.toml").write_text(
        '[simulation]\nduration = 0.01\n[[static]]\nname = "ground"\nshape = "plane"\n'
        + box.format("one", 0)
        + box.format("other", 2)
        + '[[pair]]\na = "ground"\nb = "other"\nlaw = "frictionless"\n'
    )
    file = tmp_path / "problem.json"
    assert stiction("simulate", tmp_path / "scene.toml", "--dump", file, "--quiet").returncode == 0
    for command in (["solve", file], ["inverse", file, "--joints", "0", "--velocities", "0"]):
        told = stiction(*command)
        assert (told.returncode, told.stderr) == (0, "")
        assert "law coulomb_cone, frictionless" in told.stdout
        refused = stiction(*command, "--law", "no_slip")
        assert refused.returncode == 2
        assert refused.stderr.startswith("stiction: --law: expected none beside a file whose contacts name their own")


def test_a_scene_in_which_nothing_moves_is_said_to_be_one(tmp_path):
    (tmp_path / "empty.toml").write_text("")
    result = stiction("simulate", tmp_path / "empty.toml")
    assert result.returncode == 0
    assert "nothing in the scene moves" in result.stderr


def test_bodies_of_two_robots_of_one_file_are_told_apart(tmp_path):
    scene = tmp_path / "two.toml"
    robot = f'[[robot]]\nfile = "{LINKS}"\nname = "%s"\nfloating = true\nposition = [%d, 0, 1]\n'
    scene.write_text("[simulation]\nduration = 0.01\n" + robot % ("a", 0) + robot % ("b", 3))
    ends = [line.split()[0] for line in stiction("simulate", scene).stdout.splitlines() if " m/s" in line]
    assert len(ends) == 2
    assert ends[0].startswith("a/")
    assert ends[1] == ends[0].replace("a/", "b/")


def test_json_goes_to_the_named_file(tmp_path):
    file = tmp_path / "info.json"
    assert stiction("info", LINKS, "--json", file, "--quiet").stdout == ""
    assert json.loads(file.read_text())["name"] == "links"


@pytest.fixture
def contacts_only(tmp_path):
    """One contact known by W, q, mu alone: it sticks to the ground's normal and slides along the first tangent."""
    np.savez(tmp_path / "wq.npz", W=np.diag([1.0, 2.0, 2.0]), q=[-1.0, 0.3, 0.0], mu=[0.1])
    return tmp_path / "wq.npz"


def test_solve_reports_everything_of_a_problem_known_by_its_contacts(contacts_only):
    result = stiction("solve", contacts_only, "--law", "coulomb_cone", "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["status"], answer["law"], answer["solver"]) == ("solved", "coulomb_cone", "interior_point")
    assert answer["iterations"] >= 1
    assert answer["microseconds"] > 0
    assert answer["impulses"] == pytest.approx([1.0, -0.1, 0.0], abs=1e-9)
    assert answer["velocity"] == pytest.approx([0.0, 0.1, 0.0], abs=1e-9)
    assert answer["certificate"]["natural_map"]["unit"] == "m/s"
    assert answer["certificate"]["natural_map"]["raw"] < 1e-9


def test_solve_seeks_other_impulses_of_many_contacts_on_request(tmp_path):
    """Every body has two contacts at one place: its normal impulse may go to either."""
    many, few = tmp_path / "many.npz", tmp_path / "few.npz"
    for file, bodies in ((many, 101), (few, 100)):
        J = np.zeros((6 * bodies, 3 * bodies))
        for k in range(bodies):
            J[6 * k : 6 * k + 6, 3 * k : 3 * k + 3] = np.vstack([np.eye(3)] * 2)
        W = J @ J.T
        np.savez(file, W=W, q=J @ np.tile([-1.0, 0.0, 0.0], bodies), mu=np.full(2 * bodies, 0.5))
    asked = json.loads(stiction("solve", few, "--law", "frictionless", "--json").stdout)
    assert asked["indeterminacy"]["dimension"] == 100
    assert "indeterminacy" not in json.loads(stiction("solve", many, "--law", "frictionless", "--json").stdout)
    assert "--intervals" in stiction("solve", many, "--law", "frictionless").stdout
    told = json.loads(stiction("solve", many, "--law", "frictionless", "--intervals", "--json").stdout)["indeterminacy"]
    assert told["dimension"] == 101
    assert told["normal_min"] == pytest.approx([0.0] * 202, abs=1e-9)
    assert told["normal_max"] == pytest.approx([1.0] * 202, abs=1e-9)


@pytest.mark.parametrize(("slip", "factor"), [("after", 1.0 / 1.25), ("before", 0.75)])
def test_viscous_friction_of_a_problem_with_materials(tmp_path, slip, factor):
    """2 kg on the ground with 5 N s/m, h = 0.1 s: the slip falls by 1 + h c/m, or by h c/m of what it was."""
    rows = [{"block": 0, "rows": np.eye(3).tolist()}]
    problem = {
        "format": "stiction contact problem",
        "version": 1,
        "dt": 0.1,
        "blocks": [3],
        "M": [(2 * np.eye(3)).tolist()],
        "v": [0, 0.6, 0.8],
        "impulse": [-1, 0, 0],
        "contacts": [{"mu": 0.5, "restitution": 0, "gap": 0, "material": {"viscosity": 5}, "J": rows}],
        "prescribed": [],
        "v_prescribed": [],
        "rows": [],
    }
    file = tmp_path / "wet.json"
    file.write_text(json.dumps(problem))
    result = stiction("solve", file, "--law", "viscous", "--viscous-slip", slip, "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["velocity"] == pytest.approx([0.0, 0.6 * factor, 0.8 * factor], abs=1e-12)
    assert answer["impulses"][0] == pytest.approx(1.0)
    assert answer["certificate"]["constitutive"]["raw"] < 1e-12


@pytest.mark.parametrize(
    ("option", "value", "needs"),
    [("--edges", "8", "has a friction polygon"), ("--viscous-slip", "before", "is viscous")],
)
def test_options_that_no_law_reads_are_refused(contacts_only, tmp_path, option, value, needs):
    held = tmp_path / "held.npz"
    np.savez(held, M=np.eye(3), v=np.zeros(3), J=np.eye(3), mu=[0.5], dt=0.1, prescribed=[0], v_prescribed=[0.3])
    lcp = tmp_path / "lcp.dat"
    lcp.write_text("2\n0\n2\n2\n2\t2\n2 1\n1 2\n-1 -1\n")
    named = f"expected none unless a law {needs}, got {value} with law"
    for arguments in (["solve", contacts_only], ["inverse", held]):
        refused = stiction(*arguments, option, value)
        assert refused.returncode == 2
        assert f"{option}: {named} coulomb_cone" in refused.stderr
    searched = stiction("inverse", held, "--least-torque", option, value)  # over a polygon in the disc
    assert searched.returncode == (0 if option == "--edges" else 2)
    refused = stiction("solve", contacts_only, "--law", "no_slip", option, value)
    assert f"{option}: {named} no_slip" in refused.stderr
    refused = stiction("solve", lcp, option, value)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"{option}: expected none for a linear complementarity problem, got {value}" in refused.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--law", "coulomb_cone"),
        ("--variant", "stewart_trinkle"),
        ("--alpha", "0.6"),
        ("--max-sweeps", "5"),
        ("--max-factorizations", "5"),
        ("--align-edges", None),
        ("--bilateral-by-prox", None),
        ("--intervals", None),
    ],
)
def test_a_linear_complementarity_problem_has_no_contacts(tmp_path, option, value):
    lcp = tmp_path / "lcp.dat"
    lcp.write_text("2\n0\n2\n2\n2\t2\n2 1\n1 2\n-1 -1\n")
    refused = stiction("solve", lcp, *filter(None, (option, value)))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"{option}: expected none for a linear complementarity problem, got {value or 'true'}" in refused.stderr


def test_the_pivots_of_a_linear_complementarity_problem_are_bounded(tmp_path):
    lcp = tmp_path / "lcp.dat"
    lcp.write_text("2\n0\n2\n2\n2\t2\n2 1\n1 2\n-1 -1\n")
    solved = stiction("solve", lcp, "--solver", "lemke", "--json")
    assert solved.returncode == 0
    assert json.loads(solved.stdout)["z"] == pytest.approx([1 / 3, 1 / 3])
    stopped = stiction("solve", lcp, "--solver", "lemke", "--max-pivots", 1, "--json")
    assert stopped.returncode == 1
    assert json.loads(stopped.stdout)["status"] == "iteration_limit"
    assert "--max-pivots: expected an integer >= 0, got -1" in stiction("solve", lcp, "--max-pivots", -1).stderr


@pytest.mark.parametrize(
    ("option", "value", "readers"),
    [
        ("--alpha", "0.5", "jor or sor"),
        ("--max-sweeps", "9", "jor, sor or pgs"),
        ("--max-pivots", "9", "auto, goldfarb_idnani, ppm, lemke, active_set or dantzig"),
    ],
)
def test_options_that_the_solver_does_not_read_are_refused(contacts_only, option, value, readers):
    for solver in ("auto", "interior_point"):
        refused = stiction("solve", contacts_only, "--solver", solver, option, value)
        if (option, solver) == ("--max-pivots", "auto"):
            assert refused.returncode == 0, refused.stderr
            continue
        assert refused.returncode == 2
        assert f"{option}: expected none unless the solver is {readers}, got solver {solver}" in refused.stderr


def test_edges_are_taken_where_a_law_reads_them(contacts_only):
    assert stiction("solve", contacts_only, "--law", "anitescu", "--edges", 8).returncode == 0
    refused = stiction("compare", contacts_only, "--laws", "frictionless,coulomb_cone", "--edges", 8)
    assert refused.returncode == 2
    named = "--edges: expected none unless a law has a friction polygon, got 8 with --laws frictionless,coulomb_cone"
    assert named in refused.stderr
    taken = stiction("compare", contacts_only, "--laws", "frictionless,anitescu", "--edges", 8, "--repetitions", 1)
    assert taken.returncode == 0, taken.stderr


def test_compare_has_a_row_per_law_and_solver(contacts_only):
    result = stiction("compare", contacts_only, "--json", "--repetitions", "1")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)["rows"]
    names = [(row["law"], row["solver"]) for row in rows]
    assert ("coulomb_cone", "interior_point") in names
    assert ("coulomb_pyramid", "lemke") in names
    assert len(names) == len(set(names))
    for row in rows:
        assert row.get("not_applicable") or row["certificate"]["worst"] <= 1e-9, row


def test_compare_takes_a_scene_and_names(tmp_path):
    file = tmp_path / "rows.json"
    laws = ["--laws", "frictionless,coulomb_cone"]
    result = stiction("compare", "scenes/incline.toml", "--steps", "5", *laws, "--json", file)
    assert result.returncode == 0, result.stderr
    assert "coulomb_cone" in result.stdout
    comparison = json.loads(file.read_text())
    assert comparison["contacts"] > 0
    assert {row["law"] for row in comparison["rows"]} == {"frictionless", "coulomb_cone"}
    assert stiction("compare", "scenes/incline.toml", "--laws", "sticky").returncode == 2


def test_simulate_counts_steps_above_the_tolerance_and_strict_stops_with_a_file(tmp_path):
    loose = stiction("simulate", "scenes/incline.toml", "--duration", 0.02, "--tolerance", 1e-300, "--json", "--quiet")
    assert loose.returncode == 0
    run = json.loads(loose.stdout)
    assert run["status"] == "acceptable"
    assert 0 < run["steps_at_acceptable"] <= run["steps"]
    assert run["worst_residual"] <= 1e-6

    file = tmp_path / "failed.json"
    strict = stiction("simulate", "scenes/incline.toml", "--tolerance", 1e-300, "--strict", "--dump", file)
    assert strict.returncode != 0
    assert "residual" in strict.stdout
    assert stiction("solve", file, "--law", "coulomb_cone").returncode == 0


def test_scenes_that_ship_are_listed_and_run_by_name(tmp_path):
    listed = stiction("scenes", "--json")
    scenes = json.loads(listed.stdout)
    assert {"stack", "quadruped"} <= {scene["name"] for scene in scenes}
    assert all(scene["about"] and pathlib.Path(scene["file"]).exists() for scene in scenes)
    assert stiction("simulate", "incline", "--duration", 0.01).returncode == 0
    unknown = stiction("simulate", "stak")
    assert (unknown.returncode, "stack" in unknown.stderr) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_keeps_what_it_has(tmp_path, number):
    command = [pathlib.Path(sys.executable).with_name("stiction"), "simulate", "stack", "--duration", "1e5"]
    files = ["--record", "run.npz", "--log", "run.csv", "--json", "run.json"]
    heard = {"preexec_fn": lambda: signal.signal(number, signal.SIG_DFL), "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, *files], cwd=tmp_path, **heard) as run:
        log = tmp_path / "run.csv"
        while run.poll() is None and not (log.exists() and log.stat().st_size > 10_000):
            time.sleep(0.01)
        run.send_signal(number)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 128 + number
    end = json.loads((tmp_path / "run.json").read_text())
    assert end["status"] == "interrupted"
    assert f"interrupted at {end['time']:.6g} s" in said
    recorded = np.load(tmp_path / "run.npz")["time"]
    logged = np.loadtxt(log, delimiter=",", skiprows=1, usecols=0)
    assert recorded[-1] == end["time"] == logged[-1]
    np.testing.assert_array_equal(recorded, logged)
    assert np.load(tmp_path / "run.npz")["status"].tolist() == ["interrupted"]


def test_a_run_whose_terminal_is_closed_keeps_what_it_has(tmp_path):
    """Neither the bar, the line nor the table can be written any more."""
    command = [pathlib.Path(sys.executable).with_name("stiction"), "simulate", "stack", "--duration", "1e5"]
    log, record = tmp_path / "run.csv", tmp_path / "run.npz"
    ours, theirs = pty.openpty()

    def take_over():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True, "preexec_fn": take_over}
    with subprocess.Popen([*command, "--record", record, "--log", log], **ends) as run:
        os.close(theirs)
        while run.poll() is None and not (log.exists() and log.stat().st_size > 10_000):
            time.sleep(0.01)
        os.close(ours)
        assert run.wait(timeout=60) == 128 + signal.SIGHUP
    saved = np.load(record)
    assert saved["status"].tolist() == ["interrupted"]
    np.testing.assert_array_equal(saved["time"], np.loadtxt(log, delimiter=",", skiprows=1, usecols=0))


def test_whose_reader_goes_ends_without_a_word_and_with_one_code(tmp_path):
    """As of any program that SIGPIPE ends: 141 in a shell."""
    pytest.importorskip("matplotlib")
    assert stiction("simulate", "stack", "--duration", 0.01, "--record", tmp_path / "run.npz").returncode == 0
    drawn = ["experiment", "alpha", "--quick", "--alpha", 0.5, "--quiet", "--json", "--plot", "alpha.svg"]
    for words in (["convert", "run.npz", "run.mcap"], ["plot", "run.npz", "--narrow"], ["scenes"], drawn):
        reads, writes = os.pipe()
        os.close(reads)
        command = [pathlib.Path(sys.executable).with_name("stiction"), *map(str, words)]
        default = {"preexec_fn": lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL)}
        done = subprocess.run(command, cwd=tmp_path, stdout=writes, stderr=subprocess.PIPE, check=False, **default)
        os.close(writes)
        assert done.returncode in (141, -signal.SIGPIPE), words
        assert done.stderr == b"", words


@pytest.mark.parametrize(("first", "second"), [(signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)])
def test_a_second_signal_ends_the_writing_whichever_came_first(tmp_path, first, second):
    fifo = tmp_path / "run.npz"
    os.mkfifo(fifo)  # written to for as long as nobody reads
    command = [pathlib.Path(sys.executable).with_name("stiction"), "simulate", "stack", "--duration", "1e5"]
    command += ["--record", fifo, "--log", tmp_path / "run.csv"]

    def heard():
        for number in (first, second):
            signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(command, preexec_fn=heard, stderr=subprocess.PIPE, text=True) as run:
        log = tmp_path / "run.csv"
        while run.poll() is None and not (log.exists() and log.stat().st_size > 10_000):
            time.sleep(0.01)
        run.send_signal(first)
        try:
            while "interrupted at" not in run.stderr.readline():  # before the files are written
                assert run.poll() is None
            run.send_signal(second)
            assert run.wait(timeout=20) == -second
        finally:
            run.kill()


def test_log_begins_with_the_start_and_names_joints(tmp_path):
    file = tmp_path / "log.csv"
    assert stiction("simulate", "quadruped", "--duration", 0.003, "--log", file).returncode == 0
    header, *rows = [line.split(",") for line in file.read_text().splitlines()]
    assert header[:2] == ["time", "q trunk.x"]
    assert {"q LF_HIP", "v trunk.wz", "v RH_SHANK"} <= set(header)
    assert [float(row[0]) for row in rows] == pytest.approx([0.0, 0.001, 0.002, 0.003])
    assert float(rows[0][header.index("q LF_HIP")]) == 0.3927
    assert all(len(row) == len(header) for row in rows)


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "stack", "--dt", "nan"),
        ("simulate", "stack", "--dt", "0"),
        ("simulate", "stack", "--sub-steps", "0"),
        ("terrain", "stairs", "--run", "1e-12"),
        ("simulate", "stack", "--duration", "inf"),
        ("simulate", "stack", "--duration", "1e300"),
        ("solve", "absent.json", "--tolerance", "nan"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_by_name(arguments):
    result = stiction(*arguments)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert arguments[-2].lstrip("-") in result.stderr
    assert len(result.stderr) < 200


def test_two_numbers_are_apart_by_a_space_or_a_comma(tmp_path):
    scenes = []
    for k, two in enumerate((["0.1", "2"], ["0.1,2"])):
        scenes.append(tmp_path / f"{k}.toml")
        assert stiction("terrain", "hills", "--friction", *two, "--scene", scenes[-1]).returncode == 0
    assert scenes[0].read_text() == scenes[1].read_text()
    assert "0.1,2" in " ".join(stiction("terrain", "--help").stdout.split())
    assert "`stiction scenes` lists" in " ".join(stiction("compare", "--help").stdout.split())


def test_ground_from_a_seed_becomes_a_scene_that_runs(tmp_path):
    scene, figures = tmp_path / "ground.toml", tmp_path / "figures.json"
    options = [
        "--seed",
        3_000_000_007,
        "--size",
        1,
        0.8,
        "--cell",
        0.05,
        "--friction",
        0.3,
        0.6,
        "--scene",
        scene,
        "--json",
        figures,
    ]
    made = stiction("terrain", "facets", *options)
    assert made.returncode == 0, made.stderr
    ground = json.loads(figures.read_text())
    assert ground["triangles"] == 2 * 20 * 16
    assert 0.3 <= ground["patches"]["least"] <= ground["patches"]["most"] <= 0.6
    run = stiction("simulate", scene, "--duration", 0.5)
    assert run.returncode == 0, run.stderr
    assert "status solved" in run.stdout
    assert stiction("terrain", "hills", "--rise", 0.1).returncode == 2


def test_experiments_are_listed_and_their_rows_have_a_reference(tmp_path):
    listed = stiction("experiment", "--list")
    assert listed.returncode == 0
    assert {"trot", "alpha", "textbook", "classics", "drop"} <= {
        line.split()[0] for line in listed.stdout.splitlines() if line
    }
    assert stiction("experiment").returncode == 2
    file = tmp_path / "rows.json"
    table = stiction("experiment", "textbook", "--quick", "--json", file)
    assert table.returncode == 0, table.stderr
    rows = json.loads(file.read_text())["rows"]
    assert len(table.stdout.splitlines()) > len(rows)
    for row in rows:
        assert row["example"] in table.stdout
        assert (row["exact"] is None) != (row["published"] is None), row


def test_a_run_that_is_refused_leaves_the_log_that_is_there(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("kept")
    done = stiction("simulate", "stack", "--duration", 1e-5, "--log", log)
    assert done.returncode == 2
    assert "duration: expected half a step" in done.stderr
    assert log.read_text() == "kept"


def test_controllers_that_predict_no_forces_have_no_error_of_them():
    arguments = ["--ground", "rigid", "--mu", 0.5, "--starts", 1, "--duration", 0.05, "--json", "-q"]
    for controller, predicts in (("pid", False), ("id-lcp-mu", True)):
        done = stiction("experiment", "trot", "--controller", controller, *arguments)
        assert done.returncode == 0, done.stderr
        for row in json.loads(done.stdout)["rows"]:
            assert (row["force_error"]["median"] is not None) == predicts
            assert (row["runs"][0]["force_error_of_mean"] is not None) == predicts
            assert row["torque_mean"]["median"] > 0.0
