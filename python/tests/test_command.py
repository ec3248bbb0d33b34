"""The package's subcommands say in a line what they lack, and how to get it."""

import contextlib
import importlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest

import stiction
from stiction import command, plot
from stiction.trajectory import of_simulation

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


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("suffix", "module", "function"),
    [
        (".mcap", "stiction.mcap_log", "_contacts"),
        (".rrd", "stiction.rerun_log", "send_contacts"),
        (".npz", "numpy.lib.format", "write_array"),
    ],
)
def test_an_interrupt_leaves_the_file_that_is_there(folder, monkeypatch, capsys, suffix, module, function):
    if suffix == ".rrd":
        pytest.importorskip("rerun", reason="needs rerun-sdk, pip install 'stiction[rerun]'")
    from stiction import convert

    kept = folder / f"keep{suffix}"
    kept.write_bytes(b"what was there")
    monkeypatch.setattr(importlib.import_module(module), function, interrupted)
    assert convert.main([str(folder / "run.npz"), str(kept)]) == 130
    assert capsys.readouterr() == ("", "stiction convert: interrupted\n")
    assert kept.read_bytes() == b"what was there"
    assert sorted(file.name for file in folder.iterdir()) == [kept.name, "run.npz"]


@contextlib.contextmanager
def no_file_beyond(size):
    """What a full disk does to a write, this limit does too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("suffix", [".npz", ".mcap", ".rrd"])
def test_a_run_that_cannot_be_written_leaves_the_file_that_is_there(folder, suffix):
    for package in {".mcap": ["mcap"], ".rrd": ["rerun"]}.get(suffix, []):
        pytest.importorskip(package)
    run = stiction.simulate("bounce", duration=1.0)
    kept = folder / f"keep{suffix}"
    kept.write_bytes(b"what was there")
    for writer in [run, stiction.Trajectory.load(folder / "run.npz")] if suffix == ".npz" else [of_simulation(run)]:
        with (
            no_file_beyond(1000),
            pytest.raises(stiction.FileError, match=rf"^{re.escape(str(kept))}: cannot be written: "),
        ):
            writer.save(kept)
    assert kept.read_bytes() == b"what was there"
    assert sorted(file.name for file in folder.iterdir()) == [kept.name, "run.npz"]


def test_what_cannot_be_written_is_named_and_leaves_what_is_there(folder):
    figure = plot.pyplot().figure()
    writers = {
        "page.html": lambda file: command.write(file, "x" * 10_000),
        "figure.svg": lambda file: plot.save(figure, file),
        "rows.csv": lambda file: sweep_module().write(str(file), [{"x": 1.0}] * 10_000),
    }
    for name, write in writers.items():
        kept = folder / name
        kept.write_bytes(b"what was there")
        with no_file_beyond(1000), pytest.raises(OSError, match="File too large") as refused:
            write(kept)
        assert str(kept) in str(refused.value)
        assert kept.read_bytes() == b"what was there"
    assert sorted(file.name for file in folder.iterdir()) == sorted([*writers, "run.npz"])


def sweep_module():
    return sys.modules["stiction.sweep"]  # the package's own name is the function's


def living(group):
    """Command lines of the processes of a group that have not ended."""
    lines = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, its_group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                lines.append((process / "cmdline").read_text().replace("\0", " "))
    return lines


def wait_for(found):
    end = time.monotonic() + 60
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    "words",
    [["plot", "trot"], *(["sweep", "trot", "--grid", "mu=1", "--out", "a.csv", "--workers", n] for n in ("0", "1"))],
)
def test_sigterm_ends_the_experiment_too(tmp_path, words):
    """systemd, docker stop and batch queues send it to the command alone."""
    if words[-1] == "1":
        pytest.importorskip("distributed", reason="workers need Dask")
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [pathlib.Path(sys.executable).with_name("stiction"), *words],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(lambda: any(" experiment trot --json" in line for line in living(process.pid)))
        process.terminate()
        assert process.wait(timeout=60) == 143
        wait_for(lambda: not living(process.pid))
        kept = {entry.name for entry in (tmp_path / "temporary").iterdir()}
        assert kept <= {"dask-scratch-space"}
        assert not (tmp_path / "a.csv.points").exists()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_an_interrupted_sweep_says_so(tmp_path, monkeypatch, capsys):
    sweep = sweep_module()
    monkeypatch.setattr(sweep, "run_point", interrupted)
    assert sweep.main(["trot", "--out", str(tmp_path / "rows.csv"), "--workers", "0"]) == 130
    assert capsys.readouterr().err.endswith(" 0/1\nstiction sweep: interrupted; started again it goes on\n")


def test_a_file_that_is_replaced_keeps_its_place_and_mode(folder):
    run = stiction.Trajectory.load(folder / "run.npz")
    (folder / "there").mkdir()
    real, link = folder / "there" / "run.npz", folder / "link.npz"
    real.write_bytes(b"")
    real.chmod(0o640)
    link.symlink_to(real)
    run.save(link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    np.testing.assert_array_equal(stiction.Trajectory.load(real).q, run.q)
    assert os.listdir(real.parent) == ["run.npz"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_device_is_written_to_and_never_replaced(folder):
    (folder / "full.npz").symlink_to("/dev/full")
    with pytest.raises(stiction.FileError, match=r"full\.npz: cannot be written: No space left"):
        stiction.Trajectory.load(folder / "run.npz").save(folder / "full.npz")
    assert (folder / "full.npz").is_char_device()


def test_a_name_that_the_locale_has_no_letters_for_is_taken(tmp_path):
    folder = tmp_path / "dir ü"
    folder.mkdir()
    stiction.simulate("stack", 0.01).save(folder / "rün 1.npz")
    words = [sys.executable, "-m", "stiction", "report", "rün 1.npz", "--no-pictures"]
    plain = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=plain, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "rün 1" in (folder / "rün 1-report.html").read_text(encoding="utf-8")
