import pathlib
import re
import subprocess
import sys

import stiction


def test_module_and_command_have_the_version_of_the_project():
    lists = pathlib.Path(__file__).parents[2] / "CMakeLists.txt"
    version = re.search(r"project\(stiction VERSION ([\d.]+)", lists.read_text())[1]
    command = pathlib.Path(sys.executable).with_name("stiction")
    printed = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert stiction.__version__ == version
    assert printed.strip() == f"stiction {version}"


def test_stubs_speak_python():
    stub = (pathlib.Path(stiction.__file__).parent / "_core.pyi").read_text()
    assert "std::" not in stub
    assert "def solve(problem: ContactProblem | ReducedProblem, law: str" in stub
