"""The package's subcommands say in a line what they lack, and how to get it."""

import re
import subprocess
import sys
import tomllib

import pytest

import stiction
from stiction import command

COMMANDS = {
    "view": ("viser", ["run.npz", "--html", "page.html"]),
    "report": ("matplotlib", ["run.npz", "--no-pictures"]),
    "figures": ("matplotlib", ["run.npz"]),
    "convert": ("mcap", ["run.npz", "run.mcap"]),
}


@pytest.fixture
def folder(tmp_path):
    stiction.simulate("bounce", duration=0.05).save(tmp_path / "run.npz")
    return tmp_path


@pytest.mark.parametrize("module", COMMANDS)
def test_without_a_package_it_says_what_to_install(module, folder):
    missing, arguments = COMMANDS[module]
    code = f"import sys; sys.modules[{missing!r}] = None; from stiction import {module} as tool\n"
    code += f"sys.exit(tool.main({arguments}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("stiction ")
    assert missing in first
    assert re.fullmatch(rf"{re.escape(sys.executable)} -m pip install '{missing}==[\d.]+'", second)


def test_what_it_says_to_install_is_what_the_extras_have(checkout):
    extras = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(command.PACKAGES.values()) <= {package for extra in extras.values() for package in extra}


def test_other_errors_are_said_as_they_are():
    assert command.said(ValueError("dt: expected a number > 0, got -1")) == "dt: expected a number > 0, got -1"
    assert command.said(ModuleNotFoundError("No module named 'x'", name="x")) == "No module named 'x'"
