"""An experiment at every point of a grid, on workers of Dask: `stiction.sweep`, `stiction sweep`.

    grid = {"mu": [0.1, 0.4], "controller": ["pid", "id-lcp-mu"]}
    table = stiction.sweep("trot", grid, "trot.csv", fixed={"duration": 1.0})

An experiment is a name of `stiction experiment --list`, run as the command does with `--json`, or a function of
keyword arguments that returns a row {name: value} or a list of them. Every point is a run of its own on one thread,
with nothing of the others in it, so its numbers do not depend on who ran it or when: they are those of a serial run,
bit for bit.

Points that are done are kept beside the results (`FILE.points`, one JSON line each) as they come; the same sweep
started again runs the others only. The same is one of the same experiment, of a function by its name and what
`identity` says of it, and of the same version of stiction; globals that the function finds are not compared. A worker
that dies loses nothing but time: its points are run by the rest.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import csv
import inspect
import itertools
import json
import numbers
import os
import pathlib
import signal
import subprocess
import sys
import sysconfig
import typing

from .. import command
from .._core import FileError, __version__, _require_writable
from . import identity

Row = dict[str, typing.Any]
Experiment = str | typing.Callable[..., Row | list[Row]]

BAD_INPUT = 2  # the command's exit code
OWN = ("help", "json", "quiet")  # options of an experiment that a sweep itself sets
NO_PYARROW = "a .parquet needs the package pyarrow, which is not installed here: pip install 'stiction[sweep]'"
NO_DASK = "a sweep needs the package distributed, which is not installed here: pip install 'stiction[sweep]'"


def sweep(
    experiment: Experiment,
    grid: typing.Mapping[str, typing.Sequence],
    out: str | os.PathLike | None = None,
    *,
    fixed: typing.Mapping[str, typing.Any] | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> list[Row]:
    """Runs an experiment at all points of a grid; returns rows in the order of the grid, the last name fastest.

    experiment: a name of `stiction experiment --list`, or a function of keyword arguments. grid: {argument: values}.
    out: file of the rows, .csv or .parquet; a sweep that was stopped goes on from it; None: nothing is kept.
    fixed: further arguments, the same everywhere. scheduler: address of a Dask scheduler ("tcp://host:8786"), whose
    workers have stiction installed. None: workers on this machine (None: one per core; 0: here, one after the other,
    without Dask), bound to 127.0.0.1; a script calls it under `if __name__ == "__main__":` then, since they start by
    reading the script, too. progress: a bar on standard error.
    A row has the arguments of its point and what the experiment said, objects within it as columns NAME.KEY, without
    lists. Raises ValueError, for names that are none and values that the command cannot read before a point is run,
    FileError, also for a column of mixed types in .parquet, and RuntimeError with the point that failed, whose row is
    none or whose workers died, or with the address of a scheduler that does not answer.
    """
    if workers is not None and not (isinstance(workers, numbers.Integral) and workers >= 0):
        raise ValueError(f"workers: expected a whole number >= 0 or None, got {workers!r}")
    points = points_of(experiment, grid, fixed or {})
    suffix = None if out is None else pathlib.Path(out).suffix
    if suffix not in (None, ".csv", ".parquet"):
        raise ValueError(f"out: expected a name that ends in .csv or .parquet, got {os.fspath(out)!r}")
    if out is not None:
        _require_writable(os.fspath(out))
    check(experiment, points)
    if suffix == ".parquet":  # the arguments are columns, too
        parts_of(os.fspath(out), points)
    store = Store(experiment, out)
    missing = [point for point in points if key_of(point) not in store.done]
    bar = Bar(len(points), len(points) - len(missing), progress)
    try:
        for point, rows in runs(experiment, missing, scheduler, workers):
            store.add(point, rows)
            bar.step()
    finally:
        bar.end()
        store.close()
    table = [point | row for point in points for row in store.done[key_of(point)]]
    if out is not None:
        write(os.fspath(out), table)
    return table


def points_of(experiment: Experiment, grid: typing.Mapping[str, typing.Sequence], fixed: typing.Mapping) -> list[Row]:
    """The points of a grid, each {argument: value}."""
    for name in grid:
        if name in fixed:
            raise ValueError(f"fixed: expected arguments that are not in the grid, got {name!r}")
    if not callable(experiment) and not isinstance(experiment, str):
        raise ValueError(f"experiment: expected a name or a function, got {experiment!r}")
    lists = {name: values_of(f"grid[{name!r}]", values) for name, values in grid.items()}
    same = {name: argument(f"fixed[{name!r}]", value) for name, value in fixed.items()}
    return [same | dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def values_of(name: str, values: typing.Iterable) -> list:
    dimensions = getattr(values, "ndim", 1)
    if dimensions != 1:
        raise ValueError(f"{name}: expected a list of values, got an array of {dimensions} dimensions")
    if isinstance(values, str | bytes | typing.Mapping) or not isinstance(values, typing.Iterable):
        raise ValueError(f"{name}: expected a list of values, got {values!r}")
    read = [argument(name, value) for value in values]
    if not read:
        raise ValueError(f"{name}: expected at least one value, got an empty list")
    return read


def argument(name: str, value):
    """What a file of points can hold, numbers of NumPy as Python's own."""
    try:
        value = plain(value)
        json.dumps(value, ensure_ascii=False).encode()
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}: expected numbers, texts, true, false, None or lists of them, all in UTF-8, got {value!r}"
        ) from None
    return value


def check(experiment: Experiment, points: list[Row]) -> None:
    """Raises ValueError for names that are no arguments, and for values that the command cannot read."""
    if callable(experiment):
        check_arguments(experiment, points[0] if points else {})
        return
    read = set()
    for name in points[0] if points else ():
        if name in OWN:
            raise ValueError(f"grid: expected options that change a run, got {name!r}")
    for point in points:
        new = {key_of({name: value}) for name, value in point.items()} - read
        if new or point is points[0]:
            run_stiction(experiment, point, "--help")  # which reads what it is given, and runs nothing
            read |= new


def check_arguments(function: typing.Callable, point: Row) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:  # one without
        return
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    for name in point if inspect.Parameter.VAR_KEYWORD not in kinds else ():
        if name not in signature.parameters:
            raise ValueError(f"grid: expected the arguments of {identity.called(function)}{signature}, got {name!r}")
    try:
        signature.bind(**point)
    except TypeError as error:
        raise ValueError(f"grid: expected the arguments of {identity.called(function)}: {error}") from None


def plain(value):
    """Numbers of NumPy as Python's own."""
    return value.item() if hasattr(value, "item") else value


def key_of(point: Row) -> str:
    return json.dumps(point, sort_keys=True)


class Store:
    """Rows of the points that are done, kept in a file where there is one."""

    def __init__(self, experiment: Experiment, out: str | os.PathLike | None) -> None:
        self.done: dict[str, list[Row]] = {}
        self.file = None if out is None else pathlib.Path(os.fspath(out) + ".points")
        if self.file is not None:
            self.head = {"experiment": name_of(experiment), "version": __version__}
            self._tried(self._open)

    def _open(self) -> None:
        text = self.file.read_text(errors="replace") if self.file.exists() else ""
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            try:
                kept = json.loads(line)
                if number > 1:
                    self.done[key_of(kept["point"])] = kept["rows"]
                elif len(lines) > 1 and kept != self.head:
                    raise FileError(
                        f"{self.file}: expected points of {self.head['experiment']} by stiction {__version__}, "
                        f"got {line}; move it away"
                    )
            except (KeyError, TypeError, ValueError):
                if number < len(lines):
                    raise FileError(f"{self.file}: line {number}: expected a line of a sweep, got {line!r}") from None
                lines.pop()  # a sweep that was killed may leave a part of its last line
        whole = "".join(f"{line}\n" for line in [json.dumps(self.head), *lines[1:]])
        with open(self.file, "a") as file:  # what cannot be written is refused before the first point
            if text != whole:
                file.truncate(0)
                file.write(whole)

    def add(self, point: Row, rows: list[Row]) -> None:
        self.done[key_of(point)] = rows
        if self.file is not None:
            self._tried(self._append, {"point": point, "rows": rows})

    def close(self) -> None:
        """A file without points is none that a sweep could go on from."""
        if self.file is not None and not self.done:
            self.file.unlink(missing_ok=True)

    def _append(self, line: dict) -> None:
        with open(self.file, "a") as file:
            print(json.dumps(line), file=file)

    def _tried(self, work: typing.Callable[..., None], *arguments) -> None:
        try:
            work(*arguments)
        except FileError:
            raise
        except OSError as error:
            raise FileError(f"{self.file}: cannot be written: {error.strerror}") from None


def name_of(experiment: Experiment) -> str:
    """What says whether kept points are of this experiment."""
    if isinstance(experiment, str):
        return experiment
    return f"{identity.called(experiment)} {identity.digest(experiment)}"


def run_point(experiment: Experiment, point: Row) -> list[Row]:
    """The rows of one point, as JSON has them: what a worker does."""
    rows = run_command(experiment, point) if isinstance(experiment, str) else run_function(experiment, point)
    return json.loads(json.dumps(rows))


def where_of(experiment: Experiment, point: Row) -> str:
    name = f"stiction experiment {experiment}" if isinstance(experiment, str) else identity.called(experiment)
    return f"{name} at {point}"


def run_function(function: typing.Callable[..., Row | list[Row]], point: Row) -> list[Row]:
    where = where_of(function, point)
    try:
        said = function(**copy.deepcopy(point))  # what it does to a list is not done to that of the next point
        if isinstance(said, dict) or not isinstance(said, typing.Iterable):
            said = [said]
        rows = list(said)  # which runs what is left of a generator
    except Exception as error:
        raise RuntimeError(f"{where}: {type(error).__name__}: {error}") from error
    for row in rows:
        if not isinstance(row, dict):
            raise RuntimeError(f"{where}: expected rows {{name: value}}, got {row!r}")
    try:
        rows = [flat(row) for row in rows]
    except ValueError as error:
        raise RuntimeError(f"{where}: {error}") from None
    for name, value in itertools.chain.from_iterable(row.items() for row in rows):
        if name in point:
            raise RuntimeError(f"{where}: expected columns that are no arguments of the point, got {name!r}")
        if not isinstance(value, str | int | float | None):
            raise RuntimeError(f"{where}: {name}: expected a number, a text, true, false or None, got {value!r}")
        for text in (name, value):
            if isinstance(text, str) and not is_utf8(text):
                raise RuntimeError(f"{where}: {name!r}: expected text that UTF-8 can hold, got {text!r}")
    return rows


def run_command(name: str, point: Row) -> list[Row]:
    said = json.loads(run_stiction(name, point, "--json", "-", "--quiet"))
    return [flat(row) for row in (said["rows"] if isinstance(said, dict) else said)]


def run_stiction(name: str, point: Row, *words: str) -> str:
    """What the command says of a point; ValueError where it refuses it."""
    command = [str(pathlib.Path(sysconfig.get_path("scripts")) / "stiction"), "experiment", name, *words]
    for option, value in point.items():
        flag = "--" + option.replace("_", "-")
        if value is True or (value is False and "--help" in words):  # is there such a flag?
            command.append(flag)
        elif value is not False:
            command.append(f"{flag}={value}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        kind = ValueError if done.returncode == BAD_INPUT else RuntimeError
        raise kind(f"{where_of(name, point)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def is_utf8(text: str) -> bool:
    """Half of a surrogate pair is none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def flat(row: Row) -> Row:
    """Objects within a row as columns NAME.KEY; lists, single runs with their wall times, are left out.

    Raises ValueError where two columns have one name.
    """
    out = {}
    for name, value in row.items():
        columns = {}
        if isinstance(value, dict):
            columns = {f"{name}.{key}": inner for key, inner in flat(value).items()}
        elif not isinstance(value, list | tuple) and getattr(value, "ndim", 0) == 0:  # an array is a list too
            columns = {name: plain(value)}
        for twice in columns.keys() & out.keys():
            raise ValueError(f"expected columns of different names, got {twice!r} twice")
        out |= columns
    return out


def runs(experiment, points, scheduler, workers) -> typing.Iterator[tuple[Row, list[Row]]]:
    """(point, rows) as they come."""
    if not points:
        return
    if workers == 0 and scheduler is None:
        for point in points:
            yield point, run_point(experiment, point)
        return
    try:
        import dask
        import distributed
    except ImportError:
        raise ModuleNotFoundError(NO_DASK) from None
    cluster = None
    if scheduler is None:
        # A point that kills its worker is told from others only where a worker holds no other.
        with dask.config.set({"distributed.scheduler.worker-saturation": 1.0}):
            cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
            )
    try:
        with client_of(distributed, scheduler or cluster) as client:
            if cluster is not None:
                client.register_plugin(worker_plugin(distributed))
            futures = {client.submit(run_point, experiment, point, pure=False): point for point in points}
            for future in distributed.as_completed(futures):
                yield futures[future], rows_of(future, where_of(experiment, futures[future]))
    finally:
        if cluster is not None:
            started = [process for nanny in cluster.workers.values() for process in below(nanny.pid)]
            cluster.close()
            end(started)  # of a worker that was killed for being slow to close


def client_of(distributed, scheduler):
    try:
        return distributed.Client(scheduler)
    except OSError as error:
        raise RuntimeError(f"scheduler: expected the address of one that answers, got {scheduler!r}: {error}") from None
    except ValueError as error:
        raise ValueError(f"scheduler: expected an address, tcp://HOST:PORT, got {scheduler!r}: {error}") from None


def rows_of(future, where: str) -> list[Row]:
    """What a worker said of a point; an error that is not of the point's own gets its name."""
    import distributed

    try:
        return future.result()
    except distributed.KilledWorker as error:
        died = error.allowed_failures + 1
        raise RuntimeError(f"{where}: {died} workers died one after the other while they had this point") from None
    except Exception as error:
        if where in str(error):
            raise
        raise RuntimeError(f"{where}: {type(error).__name__}: {error}") from error


def worker_plugin(distributed):
    """Of a worker on this machine: what its points have started ends with it."""

    class Plugin(distributed.WorkerPlugin):
        def setup(self, worker):
            leave_interrupts()

        def teardown(self, worker):
            end(below(os.getpid()))

    return Plugin()


def leave_interrupts() -> None:
    """Ctrl-C reaches a worker too, and is for the sweep, which ends it, to act on."""
    signal.signal(signal.SIGINT, lambda *_: None)  # not ignored: programs that the worker starts would inherit that


def below(pid: int | None) -> list:
    """The processes that a process has started, and these; none of one that has ended."""
    import psutil  # which distributed brings

    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True) if pid else []
    return []


def end(processes: list) -> None:
    import psutil

    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


class Bar:
    """Points done of all, on one line of standard error."""

    def __init__(self, points: int, done: int, shown: bool) -> None:
        self.points, self.done, self.shown = points, done, shown
        self.draw()

    def step(self) -> None:
        self.done += 1
        self.draw()

    def draw(self) -> None:
        if self.shown:
            cells = 30 * self.done // max(self.points, 1)
            print(
                f"\r[{'=' * cells}{' ' * (30 - cells)}] {self.done}/{self.points}", end="", file=sys.stderr, flush=True
            )

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)


def write(path: str, table: list[Row]) -> None:
    """Rows as .csv or .parquet; numbers with all their digits, what a row lacks empty."""
    columns = columns_of(table)
    parts = parts_of(path, table) if path.endswith(".parquet") else None
    try:
        with command.replacing(path) as beside:
            if parts is not None:
                import pyarrow.parquet

                pyarrow.parquet.write_table(pyarrow.table(parts), beside)
                return
            with open(beside, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, columns, restval="")
                writer.writeheader()
                writer.writerows(table)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def columns_of(table: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in table for name in row))


def parts_of(path: str, table: list[Row]) -> dict:
    """Columns of a table as Parquet has them."""
    try:
        import pyarrow
    except ImportError:
        raise ModuleNotFoundError(NO_PYARROW) from None
    parts = {}
    for name in columns_of(table):
        try:
            parts[name] = pyarrow.array(column([row.get(name) for row in table]))
        except (pyarrow.ArrowException, OverflowError, TypeError, ValueError) as error:
            kept = f"{path}.points"
            hint = f"; {kept} has the points, renamed to FILE.csv.points for a .csv" if os.path.exists(kept) else ""
            raise FileError(f"{path}: column {name!r}: {error}{hint}") from None
    return parts


def column(values: list) -> list:
    """Values of one type: real numbers where not all are whole, or where texts say inf or nan, as JSON has them."""
    known = [value for value in values if value is not None]
    words = [value for value in known if isinstance(value, str)]
    if len(words) < len(known) and all(word in ("inf", "-inf", "nan") for word in words):
        known, words = [float(value) if isinstance(value, str) else value for value in known], []
    kinds = {list if isinstance(value, tuple) else type(value) for value in known}
    if kinds == {int, float}:
        known = [real(value) for value in known]
    elif len(kinds) > 1:
        other = next(value for value in known if type(value) is not type(known[0]))
        raise ValueError(f"expected values of one type, got {known[0]!r} and {other!r}")
    rest = iter(known)
    return [None if value is None else next(rest) for value in values]


def real(value: float) -> float:
    if isinstance(value, int) and float(value) != value:
        raise ValueError(f"expected whole numbers that a real one holds with all their digits, got {value}")
    return float(value)


def value_of(text: str):
    """A number, inf for one, true, false, or the text."""
    for read in (json.loads, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def main(arguments: typing.Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="stiction sweep",
        description="An experiment at every point of a grid, on several processes or machines (Dask); resumable.",
        epilog="stiction sweep trot --grid mu=0.1,0.4 --grid controller=pid,id-lcp-mu --set duration=1 --out trot.csv",
    )
    say = parser.add_argument
    say("experiment", help="a name of stiction experiment --list")
    say("--grid", action="append", default=[], metavar="OPTION=A,B,...", help="values of an option; may be repeated")
    say("--set", action="append", default=[], metavar="OPTION=VALUE", help="an option at all points")
    say("--out", required=True, help="file of the rows, .csv or .parquet; a sweep that was stopped goes on")
    say("--scheduler", help="address of a Dask scheduler, tcp://HOST:PORT (default: this machine)")
    say("--workers", type=int, help="processes on this machine (default: one per core; 0: none, one by one)")
    say("--quiet", action="store_true", help="no progress bar")
    parsed = parser.parse_args(arguments)
    names = set()
    for given in (*parsed.grid, *parsed.set):
        name, equals, _ = given.partition("=")
        if not equals:
            parser.error(f"expected OPTION=VALUE, got {given!r}")
        if name in names:
            parser.error(f"expected every option once, got {name} twice")
        names.add(name)
    grids = (given.split("=", 1) for given in parsed.grid)
    grid = {name: [value_of(word) for word in words.split(",")] for name, words in grids}
    fixed = {name: value_of(word) for name, word in (s.split("=", 1) for s in parsed.set)}
    try:
        with command.terminable():
            table = sweep(
                *(parsed.experiment, grid, parsed.out),
                fixed=fixed,
                scheduler=parsed.scheduler,
                workers=parsed.workers,
                progress=not parsed.quiet,
            )
    except (FileError, ValueError, ModuleNotFoundError) as error:
        print(f"stiction sweep: {error}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        print(f"stiction sweep: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stiction sweep: interrupted; started again it goes on", file=sys.stderr)
        return command.INTERRUPTED
    try:
        print(f"{parsed.out}: {len(table)} rows", flush=True)
    except BrokenPipeError:
        return command.left_by_reader()
    return 0
