"""The scripts of bench that take options start, from any folder."""

import pathlib
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).parents[1] / "bench"
SCRIPTS = sorted(
    file
    for file in BENCH.iterdir()
    if file.is_file() and file.suffix in ("", ".py") and "argparse.ArgumentParser(" in file.read_text()
)


def test_there_are_some():
    assert {"compare", "contact_sheet", "drop", "experiments"} <= {file.name for file in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_it_says_what_it_takes(script, tmp_path):
    said = subprocess.run([sys.executable, script, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert said.returncode == 0, said.stderr
    assert "--help" in said.stdout
