"""Sweeps: the numbers of a serial run whoever runs them, also where a worker is killed; going on from what is there."""

import csv
import functools
import importlib.util
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import stiction
from stiction.sweep import name_of

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="needs distributed, pip install 'stiction[sweep]'"
)
GRID = {"mu": [0.2, 0.4, 0.6, 0.8], "controller": ["pid", "id-lcp-mu"]}
FIXED = {"duration": 0.2, "starts": 1, "ground": "rigid"}


ASKED = []  # no part of what an experiment is: a list that it closes over would be


def square(x, y=0):
    return {"sum": x * x + y, "third": x / 3}


def grown(x, y):
    x.append(y)
    return {"count": len(x)}


def test_rows_come_in_the_order_of_the_grid_with_all_their_digits(tmp_path):
    out = tmp_path / "rows.csv"
    rows = stiction.sweep(square, {"x": [1.5, 2], "y": [1, 2, 3]}, out, workers=0, progress=False)
    assert [(row["x"], row["y"]) for row in rows] == [(x, y) for x in (1.5, 2) for y in (1, 2, 3)]
    assert all(row["sum"] == row["x"] ** 2 + row["y"] for row in rows)
    with out.open() as file:
        assert [float(row["third"]) for row in csv.DictReader(file)] == [row["x"] / 3 for row in rows]


def test_a_sweep_goes_on_from_the_points_that_are_there(tmp_path):
    ASKED.clear()

    def experiment(x):
        ASKED.append(x)
        if x == 3 and len(ASKED) == 3:
            raise RuntimeError("stopped")
        return [{"double": 2 * x}, {"double": -2 * x}]

    out = tmp_path / "rows.csv"
    with pytest.raises(RuntimeError, match="stopped"):
        stiction.sweep(experiment, {"x": [1, 2, 3, 4]}, out, workers=0, progress=False)
    with (tmp_path / "rows.csv.points").open("a") as file:
        file.write('{"point": {"x": 4}, "ro')  # as where it was killed while it wrote
    rows = stiction.sweep(experiment, {"x": [1, 2, 3, 4]}, out, workers=0, progress=False)
    assert ASKED == [1, 2, 3, 3, 4]
    assert [row["double"] for row in rows] == [2, -2, 4, -4, 6, -6, 8, -8]
    stiction.sweep(experiment, {"x": [4, 2]}, out, workers=0, progress=False)
    assert ASKED == [1, 2, 3, 3, 4]
    with pytest.raises(stiction.FileError, match=r"expected points of"):
        stiction.sweep(square, {"x": [1]}, out, workers=0, progress=False)


@pytest.mark.parametrize("cut", ['{"point": {"x": 2}', '{"point": {"x": 2}, "rows": [{"double": 4}]}', "{", ""])
def test_a_last_line_that_is_cut_is_run_again_or_kept_whole(tmp_path, cut):
    out, points = tmp_path / "rows.csv", tmp_path / "rows.csv.points"
    stiction.sweep(square, {"x": [1]}, out, workers=0, progress=False)
    points.write_text(points.read_text() + cut)
    rows = stiction.sweep(square, {"x": [1, 2, 3]}, out, workers=0, progress=False)
    assert [row["x"] for row in rows] == [1, 2, 3]
    kept = [json.loads(line) for line in points.read_text().splitlines()]
    assert [line["point"]["x"] for line in kept[1:]] == [1, 2, 3]


@pytest.mark.parametrize("head", ['{"experi', ""])
def test_a_head_that_is_cut_is_written_again(tmp_path, head):
    out, points = tmp_path / "rows.csv", tmp_path / "rows.csv.points"
    points.write_text(head)
    for _ in range(2):
        assert stiction.sweep(square, {"x": [1]}, out, workers=0, progress=False)[0]["sum"] == 1
    assert len(points.read_text().splitlines()) == 2


def scaled(factor, more=None):
    def experiment(x, *, offset=more):
        return {"y": x * factor + (offset or 0)}

    return experiment


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return {"y": self.factor * x}

    def again(self, x):
        return {"y": self.factor * x}


def compiled(text):
    """A function without a text that Python finds."""
    names = {}
    exec(text, names)
    return names["f"]


@pytest.mark.parametrize(
    "make",
    [
        lambda k: scaled(k),
        lambda k: scaled(np.arange(3.0) * k),
        lambda k: scaled(1, more=k),
        lambda k: scaled({"a": [k, {1, 2}]}["a"][0]),
        lambda k: functools.partial(square, y=k),
        lambda k: functools.partial(square, k),
        lambda k: functools.partial(scaled(k)),
        lambda k: Scale(k),
        lambda k: Scale(k).again,
        lambda k: compiled(f"def f(x):\n    return {{'y': {k} * x}}"),
        lambda k: compiled(f"def f(x):\n    def g(): return {k} * x\n    return {{'y': g()}}"),
        lambda k: compiled(f"def f(x, k={k}):\n    return {{'y': k * x}}"),
        lambda k: compiled(f"def f(x):\n    return {{'y': x.{'real' if k == 1 else 'imag'}}}"),
        lambda k: (lambda x: {"y": x}) if k == 1 else (lambda x: {"y": 10 * x}),
    ],
)
def test_functions_that_differ_in_what_they_hold_do_not_share_points(make):
    names = {name_of(make(k)) for k in (1, 1, 10, 1.0)}
    assert name_of(make(1)) == name_of(make(1))
    assert len(names) > 1


def test_a_closure_is_not_given_the_points_of_another(tmp_path):
    out = tmp_path / "rows.csv"
    stiction.sweep(scaled(1), {"x": [1, 2]}, out, workers=0, progress=False)
    with pytest.raises(stiction.FileError, match="expected points of"):
        stiction.sweep(scaled(10), {"x": [1, 2, 3]}, out, workers=0, progress=False)
    rows = stiction.sweep(scaled(1), {"x": [1, 2, 3]}, out, workers=0, progress=False)
    assert [row["y"] for row in rows] == [1, 2, 3]


def test_a_partial_is_swept(tmp_path):
    experiment = functools.partial(square, y=5)
    rows = stiction.sweep(experiment, {"x": [1, 2]}, tmp_path / "rows.csv", workers=0, progress=False)
    assert [row["sum"] for row in rows] == [6, 9]
    with pytest.raises(RuntimeError, match="square at"):
        stiction.sweep(functools.partial(square, y="a"), {"x": [1]}, workers=0, progress=False)


def test_what_no_other_process_could_tell_again_is_refused_by_name(tmp_path):
    class Mine:
        pass

    for held in (threading.Lock(), Mine(), [Mine]):
        with pytest.raises(ValueError, match=r"experiment: scaled.<locals>.experiment: factor.*expected .* got"):
            stiction.sweep(scaled(held), {"x": [1]}, tmp_path / "rows.csv", workers=0, progress=False)
    recursive = []
    recursive.append(recursive)
    assert name_of(scaled(recursive)) == name_of(scaled(recursive))


def test_a_function_is_the_same_in_another_process():
    text = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_sweep as t; "
        "print(t.name_of(t.scaled({'b': {'x', 'y', 'z', 'w'}, 'a': t.np.arange(3.0)})), t.name_of(t.Scale(2)))"
    )
    command = [sys.executable, "-c", text, str(pathlib.Path(__file__).parent)]
    said = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": str(seed)}, capture_output=True, text=True, check=True
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(said) == 1


def test_points_of_another_version_are_those_of_another_experiment(tmp_path, monkeypatch):
    out, points = tmp_path / "rows.csv", tmp_path / "rows.csv.points"
    stiction.sweep(square, {"x": [1]}, out, workers=0, progress=False)
    monkeypatch.setattr(sys.modules["stiction.sweep"], "__version__", "999.0")
    text = points.read_text()
    with pytest.raises(
        stiction.FileError, match=r"expected points of square .* by stiction 999\.0, got .*move it away"
    ):
        stiction.sweep(square, {"x": [1, 2]}, out, workers=0, progress=False)
    assert points.read_text() == text


@pytest.mark.parametrize("number", [1, 2])
def test_points_that_are_none_are_named_by_file_and_line(tmp_path, number):
    out, points = tmp_path / "rows.csv", tmp_path / "rows.csv.points"
    stiction.sweep(square, {"x": [1, 2]}, out, workers=0, progress=False)
    lines = points.read_text().splitlines()
    lines[number - 1] = lines[number - 1][:-4] + "}"
    text = "\n".join(lines) + "\n"
    points.write_text(text)
    with pytest.raises(stiction.FileError, match=rf"rows.csv.points: line {number}: expected a line of a sweep"):
        stiction.sweep(square, {"x": [1, 2]}, out, workers=0, progress=False)
    assert points.read_text() == text


def test_where_nothing_can_be_written_no_point_is_run(tmp_path):
    def experiment(x):
        raise AssertionError(x)

    (tmp_path / "rows.csv.points").mkdir()
    (tmp_path / "folder.csv").mkdir()
    for name, said in {
        "rows.csv": r"rows\.csv\.points: cannot be written: Is a directory",
        "folder.csv": r"folder\.csv: cannot be written: a folder of that name is there",
        "none/rows.csv": r"none/rows\.csv: cannot be written: no folder",
    }.items():
        with pytest.raises(stiction.FileError, match=said):
            stiction.sweep(experiment, {"x": [1]}, tmp_path / name, workers=0, progress=False)
    assert not (tmp_path / "folder.csv.points").exists()


def test_the_command_says_in_a_line_what_it_refuses(tmp_path):
    for words, said in {
        ("--grid", "mu=0.1", "--grid", "mu=0.2"): "expected every option once, got mu twice",
        ("--set", "mu=0.1", "--set", "mu=0.2"): "expected every option once, got mu twice",
        ("--workers", "-1"): "stiction sweep: workers: expected a whole number >= 0",
        ("--set", "mu"): "expected OPTION=VALUE, got 'mu'",
        ("--grid", "help="): "stiction sweep: grid: expected options that change a run, got 'help'",
        ("--set", "mu=abc", "--workers", "0"): "--mu: expected a number >= 0 or inf, got 'abc'",
    }.items():
        command = [sys.executable, "-m", "stiction.sweep", "trot", "--out", tmp_path / "rows.csv", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Warning" not in done.stderr


def test_parquet_has_the_rows(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow, pip install 'stiction[sweep]'")

    def experiment(x):
        return {"mu": "inf" if x == 2 else x, "half": x / 2, "whole": x}

    out = tmp_path / "rows.parquet"
    stiction.sweep(experiment, {"x": [1, 2, 3]}, out, workers=0, progress=False)
    table = parquet.read_table(out).to_pydict()
    assert table["mu"] == [1.0, math.inf, 3.0]
    assert table["half"] == [0.5, 1.0, 1.5]
    assert table["whole"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, "q"], r"column 'a': expected values of one type, got 1 and 'q'"),
        ([True, 1], r"column 'a': expected values of one type, got True and 1"),
        ([2**70, 1], r"column 'a': .*too large"),
        ([2**60 + 1, 0.5], r"column 'a': expected whole numbers that a real one holds with all their digits, got 1152"),
    ],
)
def test_a_column_that_parquet_cannot_hold_is_named_and_no_point_is_lost(tmp_path, values, said):
    pytest.importorskip("pyarrow", reason="needs pyarrow, pip install 'stiction[sweep]'")
    ASKED.clear()

    def experiment(x):
        ASKED.append(x)
        return {"a": values[x]}

    out, other = tmp_path / "rows.parquet", tmp_path / "rows.csv"
    with pytest.raises(stiction.FileError, match=rf"rows\.parquet: {said}.*rows\.parquet\.points has the points"):
        stiction.sweep(experiment, {"x": [0, 1]}, out, workers=0, progress=False)
    assert ASKED == [0, 1]
    assert not out.exists()
    (tmp_path / "rows.parquet.points").rename(tmp_path / "rows.csv.points")
    rows = stiction.sweep(experiment, {"x": [0, 1]}, other, workers=0, progress=False)
    assert [row["a"] for row in rows] == values
    assert ASKED == [0, 1]
    assert other.read_text().splitlines() == ["x,a", *(f"{x},{value}" for x, value in enumerate(values))]


def test_arguments_that_parquet_cannot_hold_are_refused_before_a_point_is_run(tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow, pip install 'stiction[sweep]'")

    def experiment(x):
        raise AssertionError(x)

    with pytest.raises(stiction.FileError, match=r"rows\.parquet: column 'x': expected values of one type"):
        stiction.sweep(experiment, {"x": [1, "q"]}, tmp_path / "rows.parquet", workers=0, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_rows_of_a_function_are_flat_like_those_of_a_command():
    def experiment(x):
        error = {"median": np.float32(x / 2), "all": [1, 2]}
        return {"error": error, "runs": [1, 2], "pair": (1, 2), "path": np.zeros(3), "count": np.array(x)}

    rows = stiction.sweep(experiment, {"x": [1, 2]}, workers=0, progress=False)
    assert rows == [{"x": x, "error.median": x / 2, "count": x} for x in (1, 2)]


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=needs_dask)])
def test_what_a_point_does_to_its_arguments_is_not_done_to_those_of_the_next(workers):
    rows = stiction.sweep(grown, {"x": [[1.0], [2.0, 3.0]], "y": [1, 2]}, workers=workers, progress=False)
    assert rows == [{"x": x, "y": y, "count": len(x) + 1} for x in ([1.0], [2.0, 3.0]) for y in (1, 2)]


def test_texts_are_utf8_in_every_locale(tmp_path):
    out = tmp_path / "rows.csv"
    asked = f"stiction.sweep(lambda x: {{'y': chr(0x65E5)}}, {{'x': ['a']}}, {os.fspath(out)!r}, workers=0)"
    command = [sys.executable, "-c", f"import stiction; {asked}"]
    environment = os.environ | {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert out.read_text(encoding="utf-8") == "x,y\na,日\n"


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (lambda: {}["none"], "KeyError: 'none'"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: (i / 0 for i in [1]), "ZeroDivisionError: division by zero"),
        (lambda: 3, r"expected rows {name: value}, got 3"),
        (lambda: None, r"expected rows {name: value}, got None"),
        (lambda: [{"a": 1}, 4.5], r"expected rows {name: value}, got 4\.5"),
        (lambda: {"x": 7}, "expected columns that are no arguments of the point, got 'x'"),
        (lambda: {"a": {"b": 1j}}, r"a\.b: expected a number, .*, got 1j"),
        (lambda: {"a": {"b": 1}, "a.b": 2}, r"expected columns of different names, got 'a\.b' twice"),
        (lambda: {"a.b": 1, "a": {"b": 2}}, r"expected columns of different names, got 'a\.b' twice"),
        (lambda: {"a": "\ud800"}, r"'a': expected text that UTF-8 can hold, got '\\ud800'"),
        (lambda: {"\ud800": 1}, r"'\\ud800': expected text that UTF-8 can hold, got '\\ud800'"),
    ],
)
def test_what_a_function_does_wrong_is_said_with_the_point(said, complaint):
    def experiment(x):
        return said() if x == 2 else {"double": 2 * x}

    with pytest.raises(RuntimeError, match=rf"experiment at {{'x': 2}}: {complaint}"):
        stiction.sweep(experiment, {"x": [1, 2]}, workers=0, progress=False)


def test_arguments_that_do_not_fit_are_named(tmp_path):
    for named, arguments in {
        r"grid\['x'\]": {"grid": {"x": 3}},
        r"grid\['y'\]": {"grid": {"y": "ab"}},
        "out": {"grid": {"x": [1]}, "out": tmp_path / "rows.txt"},
        "fixed": {"grid": {"x": [1]}, "fixed": {"x": 1}},
        "workers: expected a whole number >= 0 or None, got -1": {"grid": {"x": [1]}, "workers": -1},
        "workers: expected a whole number >= 0 or None, got 1.5": {"grid": {"x": [1]}, "workers": 1.5},
        r"grid\['x'\]: expected at least one value, got an empty list": {"grid": {"x": []}},
        r"grid\['x'\]: expected a list of values, got an array of 2 dim": {"grid": {"x": np.eye(2)}},
        r"grid\['x'\]: expected a list of values, got an array of 0 dim": {"grid": {"x": np.array(1.0)}},
        r"grid\['x'\]: expected a list of values, got {'a': 1}": {"grid": {"x": {"a": 1}}},
        r"grid\['x'\]: expected numbers, texts, .*, got 1j": {"grid": {"x": [1, 1j]}},
        r"grid\['x'\]: expected .*, all in UTF-8, got \['\\ud800'\]": {"grid": {"x": [["\ud800"]]}},
        r"fixed\['y'\]: expected numbers, texts, .*, got array": {"grid": {"x": [1]}, "fixed": {"y": np.zeros(2)}},
        r"expected the arguments of square\(x, y=0\), got 'q'": {"grid": {"q": [1]}},
    }.items():
        with pytest.raises(ValueError, match=named):
            stiction.sweep(square, progress=False, **{"workers": 0} | arguments)


def test_names_and_values_that_are_none_are_refused_before_a_point_is_run(tmp_path):
    def experiment(x):
        raise AssertionError(x)

    out = tmp_path / "rows.csv"
    for said, experiment_of, grid in [
        ("stiction experiment nosuch at .*'nosuch'", "nosuch", {"a": [1]}),
        ("stiction experiment trot at .*'--nosuch=1'", "trot", {"nosuch": [1]}),
        ("stiction experiment trot at .*--nosuch", "trot", {"nosuch": [False]}),
        ("stiction experiment trot at .*--mu: expected a number >= 0 or inf, got 'abc'", "trot", {"mu": [0.1, "abc"]}),
        ("--controller: expected one of pid, .*, got 'skate'", "trot", {"controller": ["pid", "skate"]}),
        ("--ground: expected one of .*, got 'ice'", "trot", {"mu": [0.1, 0.2], "ground": ["rigid", "ice"]}),
        ("grid: expected the arguments of .*experiment.*'y'", experiment, {"x": [1], "y": [1]}),
        ("grid: expected the arguments of .*experiment: .*'x'", experiment, {}),
    ]:
        with pytest.raises(ValueError, match=said):
            stiction.sweep(experiment_of, grid, out, fixed={}, workers=0, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_what_fails_at_its_first_point_leaves_no_file(tmp_path):
    def experiment(x):
        raise RuntimeError("none")

    with pytest.raises(RuntimeError, match="none"):
        stiction.sweep(experiment, {"x": [1]}, tmp_path / "rows.csv", workers=0, progress=False)
    assert list(tmp_path.iterdir()) == []


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler on loopback, and its two workers."""
    file = tmp_path / "scheduler.json"
    run = [sys.executable, "-m", "distributed.cli.dask_"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}

    def start(kind, *words):
        command = [
            *run[:2],
            run[2] + kind,
            "--scheduler-file",
            str(file),
            "--host",
            "127.0.0.1",
            "--no-dashboard",
            *words,
        ]
        return subprocess.Popen(command, **quiet)

    scheduler = start("scheduler", "--port", "0")
    wait_for(file.exists)
    workers = [start("worker", "--nthreads", "1", "--no-nanny", "--name", f"w{i}") for i in range(2)]
    try:
        yield json.loads(file.read_text())["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@needs_dask
def test_a_killed_worker_loses_nothing_and_the_bits_are_those_of_a_serial_run(cluster, tmp_path):
    import distributed

    address, workers = cluster
    assert address.startswith("tcp://127.0.0.1:")
    with distributed.Client(address) as client:
        client.wait_for_workers(2, timeout=60)
    kept = tmp_path / "rows.csv.points"
    grid, killed = GRID, []

    def kill():
        wait_for(lambda: kept.exists() and len(kept.read_text().splitlines()) > 1)
        killed.append(len(kept.read_text().splitlines()) - 1)
        workers[0].kill()

    thread = threading.Thread(target=kill)
    thread.start()
    rows = stiction.sweep("trot", grid, tmp_path / "rows.csv", fixed=FIXED, scheduler=address, progress=False)
    thread.join()
    assert killed[0] < 8, "it was over before a worker could be killed"
    assert workers[0].wait() != 0
    assert rows == stiction.sweep("trot", grid, fixed=FIXED, workers=0, progress=False)


@needs_dask
@pytest.mark.parametrize("count", [2, 5])
def test_a_point_that_kills_its_workers_is_named(tmp_path, count):
    script = tmp_path / "script.py"
    script.write_text(f"""
import os, sys, stiction

def kill(x):
    if x == 1:
        os._exit(1)
    return {{"double": 2 * x}}

if __name__ == "__main__":
    try:
        stiction.sweep(kill, {{"x": list(range({count}))}}, "rows.csv", workers=1, progress=False)
    except RuntimeError as error:
        sys.exit(str(error))
""")
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    # Beside it Dask says what it lost.
    said = "kill at {'x': 1}: 4 workers died one after the other while they had this point"
    assert said in done.stderr.splitlines()
    assert done.returncode == 1


@needs_dask
def test_a_scheduler_that_does_not_answer_is_named():
    import dask

    with pytest.raises(ValueError, match=r"scheduler: expected an address, tcp://HOST:PORT, got 'nowhere'"):
        stiction.sweep(square, {"x": [1]}, scheduler="nowhere", progress=False)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "500ms"}),
        pytest.raises(RuntimeError, match=r"scheduler: expected .* one that answers, got 'tcp://127\.0\.0\.1:1'"),
    ):
        stiction.sweep(square, {"x": [1]}, scheduler="tcp://127.0.0.1:1", progress=False)


@needs_dask
def test_an_interrupt_ends_the_workers_without_a_word_of_theirs(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import pathlib, sys, time, stiction
from stiction import command

def wait(x):
    pathlib.Path("started").touch()
    time.sleep(60)

if __name__ == "__main__":
    work = lambda: stiction.sweep(wait, {"x": [1]}, workers=1, progress=False)
    sys.exit(command.run("script", work))
""")
    process = subprocess.Popen(
        [sys.executable, script], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for((tmp_path / "started").exists)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it, to all
    assert process.communicate(timeout=60)[1] == "script: interrupted\n"
    assert process.returncode == 130


@needs_dask
def test_the_command_sweeps_on_workers_of_its_own(tmp_path):
    out = tmp_path / "rows.csv"
    words = ["--grid", "mu=0.3,inf", "--set", "controller=pid", "--set", "duration=0.1", "--set", "starts=1"]
    command = [pathlib.Path(sys.executable).with_name("stiction"), "sweep", "trot", *words, "--set", "ground=rigid"]
    done = subprocess.run(
        [*command, "--workers", "1", "--out", out], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "2/2" in done.stderr
    assert "2 rows" in done.stdout
    assert out.read_text().count("\n") == 3
    refused = subprocess.run([*command, "--out", tmp_path / "rows.xls"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "expected a name that ends in .csv" in refused.stderr
