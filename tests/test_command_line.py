import json
import pathlib
import subprocess
import sys

import pytest

LINKS = str(pathlib.Path(__file__).parents[1] / "models" / "links.urdf")


def stiction(*arguments):
    command = pathlib.Path(sys.executable).with_name("stiction")
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "named", "hint"),
    [
        ([], "command", "stiction --help"),
        (["bogus"], "bogus", "stiction --help"),
        (["info"], "MODEL", "stiction info --help"),
        (["info", "absent.urdf"], "absent.urdf", "stiction info --help"),
        (["info", LINKS, "--seed", "x"], "--seed", "stiction info --help"),
        (["info", LINKS, "--json", "absent/out.json"], "absent/out.json", "stiction info --help"),
    ],
)
def test_bad_input_is_one_line_with_a_hint_and_exit_code_2(arguments, named, hint):
    result = stiction(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert named in result.stderr
    assert hint in result.stderr


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


def test_json_goes_to_the_named_file(tmp_path):
    file = tmp_path / "info.json"
    assert stiction("info", LINKS, "--json", file, "--quiet").stdout == ""
    assert json.loads(file.read_text())["name"] == "links"
