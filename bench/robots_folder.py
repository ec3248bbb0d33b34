"""Where the robots of example-robot-data are, if it is installed."""

import pathlib
import sys


def robots_folder():
    """Their folder, or None."""
    for path in map(pathlib.Path, sys.path):
        folder = path / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    return None
