"""A recorded run in another format: `stiction convert`."""

from __future__ import annotations

import argparse
import pathlib
import sys
import typing

from . import command
from .trajectory import Trajectory, require_written


def main(arguments: typing.Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="stiction convert", description="A recorded run in another format.")
    parser.add_argument("run", help="trajectory (.npz or .mcap)")
    parser.add_argument("to", help="file to write: .npz, .mcap or .rrd (a recording for Rerun)")
    parsed = parser.parse_args(arguments)

    def convert() -> None:
        require_written("to", parsed.to)
        trajectory = Trajectory.load(parsed.run)
        trajectory.save(parsed.to)
        size = pathlib.Path(parsed.to).stat().st_size
        print(f"{parsed.to}: {len(trajectory.time)} states, {size / 1e6:.2g} MB")

    return command.run("stiction convert", convert)


if __name__ == "__main__":
    sys.exit(main())
