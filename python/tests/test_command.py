"""The package's subcommands say in a line what they lack, and how to get it."""

import contextlib
import copy
import importlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
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


def test_convert_refuses_another_format_by_its_own_argument(folder, capsys):
    assert importlib.import_module("stiction.convert").main([str(folder / "run.npz"), "run.csv"]) == 2
    said = capsys.readouterr().err
    assert said == "stiction convert: to: expected a name that ends in .npz, .mcap or .rrd, got 'run.csv'\n"


def said(*words):
    """What the command answers, its exit code first."""
    executable = pathlib.Path(sys.executable).with_name("stiction")
    done = subprocess.run([executable, *map(str, words)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_sides_of_a_ground_are_refused_by_their_option():
    for sides in (["0"], ["2", "-1"]):
        code, _, words = said("terrain", "--size", *sides)
        assert code == 2
        assert f"--size: expected a finite number > 0, got {sides[-1]}" in words


@pytest.mark.parametrize("numbers", [["-1"], ["2", "1"], ["0.1", "-1"], ["inf"]])
def test_friction_of_a_ground_is_refused_as_it_was_given(numbers):
    code, _, words = said("terrain", "hills", "--friction", *numbers)
    assert code == 2
    assert f"--friction: expected a finite number >= 0, or two with the least first, got {' '.join(numbers)} " in words


def test_the_hint_is_of_the_experiment_whose_option_it_was():
    code, _, words = said("experiment", "trot", "--mu", "-1")
    assert code == 2
    assert words.endswith("(see stiction experiment trot --help)\n")
    assert said("experiment", "trott")[2].endswith("(see stiction experiment --help)\n")
    assert said("compare")[2].endswith("(see stiction compare --help)\n")


def test_compare_refuses_what_the_other_kind_of_source_has(tmp_path):
    file = tmp_path / "contacts.npz"
    np.savez(file, W=np.eye(3), q=[-1.0, 0.0, 0.0], mu=[0.5])
    code, _, words = said("compare", file, "--steps", "5")
    assert code == 2
    assert f"--steps: expected none unless a scene is compared, got 5 with {file} " in words
    code, _, words = said("compare", "bounce", "--symmetric-part")
    assert code == 2
    assert "--symmetric-part: expected none unless a problem with a W is compared" in words
    assert '"steps": 2,' in said("compare", "bounce", "--steps", "2", "--laws", "frictionless", "--json")[1]


@pytest.mark.parametrize("option", ["law", "solver", "scheme", "integrator", "impact-model", "impact-order", "log"])
def test_an_empty_name_is_none_of_those_there_are(option):
    code, _, words = said("simulate", "stack", "--duration", "0.01", f"--{option}", "")
    assert code == 2
    assert re.search(r": expected .*, got ''", words)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("99999999999", "an integer of at most 2147483647"),
        ("2.5", "an integer"),
        ("2000000", "an integer from 1 to 1e6"),
    ],
)
def test_an_integer_that_does_not_fit_is_told_the_range(given, expected):
    code, _, words = said("simulate", "stack", "--sub-steps", given)
    assert code == 2
    assert f": expected {expected}, got " in words


@contextlib.contextmanager
def as_nobody():
    """Files of mode 0 are read by the superuser alone."""
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("kind", ["npz", "mcap", "toml"])
def test_a_file_that_may_not_be_read_is_not_said_to_be_damaged(kind):
    if kind == "mcap":
        pytest.importorskip("mcap.stream_reader")
    read = stiction.World.from_scene if kind == "toml" else stiction.Trajectory.load
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        file = pathlib.Path(folder, f"run.{kind}")
        file.write_bytes(b"not to be read")
        file.chmod(0)
        with as_nobody(), pytest.raises(stiction.FileError) as raised:
            read(str(file))
    assert str(raised.value) == f"{file}: cannot be read: Permission denied"


def test_help_of_a_shape_says_what_its_methods_are():
    for cls in (stiction.Shape, stiction.Terrain):
        assert {cls.__copy__.__name__, cls.__deepcopy__.__name__}.isdisjoint({"<lambda>"})
    shape = stiction.Shape.sphere(1.0)
    assert copy.copy(shape) is copy.deepcopy(shape) is shape


def test_the_symmetric_part_is_that_of_a_w(tmp_path):
    solid, contacts = tmp_path / "solid.npz", tmp_path / "contacts.npz"
    np.savez(solid, M=np.eye(3), v=[0.0, 0.0, -1.0], J=np.eye(3)[[2, 0, 1]], mu=[0.5], dt=1e-3)
    np.savez(contacts, W=np.eye(3), q=[-1.0, 0.0, 0.0], mu=[0.5])
    for command_ in ("solve", "compare"):
        assert said(command_, contacts, "--symmetric-part")[0] == 0
        code, _, words = said(command_, solid, "--symmetric-part")
        assert code == 2
        assert f"{solid}: W: missing, and its symmetric part is asked for" in words


def test_inverse_tells_whether_the_least_torque_was_found(tmp_path):
    """Two contacts side by side carry a mass whose height is prescribed: the torque can carry all or nothing."""
    file = tmp_path / "two.npz"
    J = np.eye(3)[[2, 0, 1, 2, 0, 1]]
    np.savez(file, M=np.eye(3), v=np.zeros(3), J=J, mu=[0.5, 0.5], dt=1e-2, impulse=[0.0, 0.0, -0.0981])
    asked = ["inverse", file, "--law", "frictionless", "--joints", "2", "--velocities", "0"]
    code, table, words = said(*asked, "--least-torque")
    assert code == 0, words
    assert "of all contact impulses with this motion those of least torque" in table
    told = json.loads(said(*asked, "--least-torque", "--json")[1])
    assert told["least_torque"] is True
    assert told["tau"] == pytest.approx([0.0], abs=1e-9)
    assert "least_torque" not in json.loads(said(*asked, "--json")[1])
    assert "least torque" not in said(*asked)[1]


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


def test_sigterm_ends_what_a_worker_that_does_not_answer_has_started(tmp_path):
    """A worker that is killed ends nothing by itself."""
    pytest.importorskip("distributed", reason="workers need Dask")
    process = subprocess.Popen(
        [
            pathlib.Path(sys.executable).with_name("stiction"),
            "sweep",
            "trot",
            "--grid",
            "mu=1",
            "--out",
            "a.csv",
            "--workers",
            "1",
        ],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(lambda: any(" experiment trot --json" in line for line in living(process.pid)))
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                _, parent, group = stat.read_text().rpartition(")")[2].split()[:3]
                if int(group) == process.pid and " experiment trot --json" in (
                    stat.parent / "cmdline"
                ).read_text().replace("\0", " "):
                    os.kill(int(parent), signal.SIGSTOP)
        process.terminate()
        assert process.wait(timeout=60) == 143
        wait_for(lambda: not living(process.pid))
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
