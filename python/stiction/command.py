"""What the subcommands of the package share: how they say what they lack and what they refuse."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import select
import shutil
import signal
import sys
import threading
import typing

from ._core import FileError, _require_writable

if typing.TYPE_CHECKING:
    from .trajectory import Trajectory

INTERRUPTED = 130  # the exit code that shells give to what SIGINT ends
READER_LEFT = 141  # and to what SIGPIPE ends, which Python itself ignores

# What to install for a module that an extra of the package brings; pyproject.toml has the same versions.
PACKAGES = {
    "imageio_ffmpeg": "imageio-ffmpeg==0.8.1",
    "matplotlib": "matplotlib==3.11.2",
    "mcap": "mcap==1.6.0",
    "msgspec": "viser==1.1.1",
    "rerun": "rerun-sdk>=0.41",
    "trimesh": "viser==1.1.1",
    "viser": "viser==1.1.1",
    "websockets": "viser==1.1.1",
    "zstandard": "viser==1.1.1",
}


def said(error: Exception) -> str:
    """An error in words; of a package that is not installed, with the line that installs it."""
    if isinstance(error, OSError) and error.strerror:  # Python's own, which puts a number before its words
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    module = (getattr(error, "name", None) or "").split(".")[0]
    if not isinstance(error, ImportError) or module not in PACKAGES:
        return str(error)
    package = PACKAGES[module]
    return (
        f"this needs the package {re.split('[=>]', package)[0]}, which is not installed here; this line installs it:\n"
        f"{sys.executable} -m pip install '{package}'"
    )


def tell_end(name: str, trajectory: Trajectory) -> None:
    """A line on standard error of a run that ended before its duration was over."""
    if end := trajectory.early_end():
        print(f"{name}: ended at {end}", file=sys.stderr)


def write(file: str | os.PathLike, content: str | bytes) -> None:
    """Writes a file, in the place of one that is there only when all is written."""
    if isinstance(content, str):
        content = content.encode(errors="surrogateescape")  # names of files beyond the locale
    with replacing(file) as beside:
        pathlib.Path(beside).write_bytes(content)


def require_file(option: str, file: str, ending: str) -> None:
    """Refuses a file of another kind, or that cannot be written, by its option's name, before anything is computed."""
    if not file.endswith(ending):
        raise ValueError(f"{option}: expected a file name that ends in {ending}, got {file!r}")
    try:
        _require_writable(file)
    except FileError as error:
        raise FileError(f"{option}: {error}") from None


def require_folder(option: str, folder: str) -> None:
    """The same of a folder, which may have to be made."""
    there = os.path.abspath(folder)
    while not os.path.exists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        raise FileError(f"{option}: {folder}: cannot be written: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise FileError(f"{option}: {folder}: cannot be written: {there} is not yours to write to")


@contextlib.contextmanager
def replacing(file: str | os.PathLike) -> typing.Iterator[str]:
    """A name beside a file, to write to; it takes the file's place at the end, or goes where none is reached.

    What cannot be written is said of the file: a full disk's own error names none.
    """
    file, target = os.fspath(file), os.path.realpath(file)  # a link stays one
    folder = os.path.dirname(target)
    name = f".stiction-{os.getpid()}-{threading.get_ident()}{pathlib.Path(file).suffix}"  # writers go by the suffix
    beside = os.path.join(folder, name)
    try:
        if os.path.exists(target):
            with open(target, "ab"):  # a file that may not be written is not replaced either
                pass
            if not os.path.isfile(target) or not os.access(folder, os.W_OK | os.X_OK):
                yield file  # a device, or a file beside which nothing can be made
                return
        try:
            yield beside
            if os.path.exists(target):
                shutil.copymode(target, beside)
            os.replace(beside, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
    except OSError as error:
        if error.errno is not None and error.filename in (None, beside, target):
            error.filename = file
        raise


@contextlib.contextmanager
def terminable() -> typing.Iterator[None]:
    """SIGTERM and SIGHUP end what is done within by SystemExit, so that programs it started and files it works on go
    with it."""
    ending = [s for s in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(s) is signal.SIG_DFL]  # others go on
    for number in ending:
        signal.signal(number, lambda came, _: sys.exit(128 + came))  # the exit code that shells give it
    try:
        yield
    finally:
        for number in ending:
            signal.signal(number, signal.SIG_DFL)


def reader_left() -> bool:
    """Whether nobody reads standard output any more, which is no fault of what is written."""
    try:
        asked = select.poll()
        asked.register(sys.stdout.fileno(), 0)
        return any(event & select.POLLERR for _, event in asked.poll(0))
    except (OSError, ValueError, AttributeError):  # no file of the system, or closed
        return False


def left_by_reader() -> int:
    """The exit code where nobody reads standard output any more; what is left of that, Python drops as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_LEFT


def run(name: str, work: typing.Callable[[], None]) -> int:
    """The exit code of a subcommand: 2 for what is missing, unreadable or refused, 130 where it is interrupted.

    Both with a line on standard error. SIGTERM, SIGHUP and a reader of its output that goes end it without one.
    """
    try:
        with terminable():
            work()
            sys.stdout.flush()
    except BrokenPipeError as error:
        if not reader_left():
            print(f"{name}: {said(error)}", file=sys.stderr)
            return 2
        return left_by_reader()
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"{name}: {said(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0
