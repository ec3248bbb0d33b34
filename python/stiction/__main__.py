"""python -m stiction: the command of this environment, with the same arguments and exit code."""

import os
import pathlib
import sys
import sysconfig


def main():
    command = pathlib.Path(sysconfig.get_path("scripts")) / "stiction"
    if not os.access(command, os.X_OK):
        sys.exit(f"stiction: expected the command beside this package's interpreter, there is none: {command}")
    os.execv(command, [str(command), *sys.argv[1:]])


if __name__ == "__main__":
    main()
