"""Writes units for clang-tidy: files of one target, one after the other, so that Eigen is parsed once for them.

Left out are files that include Pinocchio, Coal or nanobind, directly or not: they take 15 s of parsing each and are
compiled with warnings as errors all the same. Takes a build folder with a compile command for every file; prints the
units, NUL-separated.
"""

import functools
import json
import pathlib
import re
import sys

FILES_PER_UNIT = 10  # more save little: what is left is the files' own time

root = pathlib.Path.cwd()


@functools.cache
def is_heavy(file: pathlib.Path) -> bool:
    text = file.read_text()
    if re.search(r'#include [<"](pinocchio|coal|nanobind)/', text):
        return True
    names = re.findall(r'#include "(.+)"', text)
    included = (base / name for name in names for base in (root / "src", root, file.parent))
    return any(is_heavy(header) for header in included if header.exists())


def main(build: pathlib.Path) -> None:
    targets: dict[str, dict[pathlib.Path, str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if not file.is_relative_to(root / ".venv") and not file.is_relative_to(build) and not is_heavy(file):
            # A precompiled header is GCC's, which clang does not read.
            flags = re.sub(r"-Winvalid-pch|-include \S*cmake_pch\.hxx|-o \S+|-c \S+", "", entry["command"])
            targets.setdefault(re.sub(r"\.dir/.*", "", entry["output"]), {})[file] = flags
    units = build / "units"
    units.mkdir(exist_ok=True)
    commands = []
    for files in targets.values():
        names = sorted(files)
        for first in range(0, len(names), FILES_PER_UNIT):
            unit = units / f"unit_{len(commands)}.cpp"
            unit.write_text("".join(f'#include "{name}"\n' for name in names[first : first + FILES_PER_UNIT]))
            commands.append({"directory": str(build), "command": f"{files[names[first]]} -c {unit}", "file": str(unit)})
    (units / "compile_commands.json").write_text(json.dumps(commands))
    for command in commands:
        print(command["file"], end="\0")


main(pathlib.Path(sys.argv[1]).resolve())
