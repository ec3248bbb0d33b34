import ast
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import stiction


def test_module_and_command_have_the_version_of_the_project():
    lists = pathlib.Path(__file__).parents[2] / "CMakeLists.txt"
    version = re.search(r"project\(stiction VERSION ([\d.]+)", lists.read_text())[1]
    command = pathlib.Path(sys.executable).with_name("stiction")
    printed = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert stiction.__version__ == version
    assert printed.strip() == f"stiction {version}"


ROOMS = (
    *("assemble", "compare", "control", "drive", "experiments", "geometry", "inverse", "io", "model", "plan", "record"),
    "sim",
)


@pytest.mark.parametrize("room", [*(f"src/stiction/{name}" for name in ROOMS), "python"])
def test_a_room_names_its_files(checkout, room):
    """Headers, and of the bindings their files, whose names its README has with their ending or without."""
    read = (checkout / room / "README.md").read_text()
    files = [*(checkout / room).glob("*.hpp"), *(checkout / room).glob("bind_*.cpp")]
    assert len(files) >= 1
    assert not [file.name for file in files if not re.search(rf"\b{file.stem}\b", read)]


def test_parts_that_need_other_packages_are_there_once_asked_for():
    code = "import stiction; print(stiction.view.to_html.__name__, hasattr(stiction, 'vew'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["to_html", "False"]
    code = "import sys, stiction; print([name for name in ('gymnasium', 'viser') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_stubs_speak_python():
    stub = (pathlib.Path(stiction.__file__).parent / "_core.pyi").read_text()
    assert "std::" not in stub
    assert "def solve(problem: ContactProblem | ReducedProblem, law: str" in stub


def names_of_stub(owner):
    """Names that a module or class of a stub defines."""
    for node in owner.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets)


# Of copies and pickles a type checker asks for what others leave to object.
COPIES = ("__copy__", "__deepcopy__", "__reduce__", "__setattr__")


def is_told(name):
    return not name.startswith("_") or name in COPIES


def test_stubs_have_the_attributes_that_there_are():
    stub = ast.parse((pathlib.Path(stiction.__file__).parent / "_core.pyi").read_text())
    assert set(filter(is_told, names_of_stub(stub))) == {n for n in vars(stiction._core) if is_told(n)}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            there = {name for name in vars(getattr(stiction._core, node.name)) if is_told(name)}
            assert set(filter(is_told, names_of_stub(node))) == there, node.name


def test_the_stub_of_add_robot_has_the_arguments_that_copies_remember():
    stub = ast.parse((pathlib.Path(stiction.__file__).parent / "_core.pyi").read_text())
    world = next(node for node in stub.body if isinstance(node, ast.ClassDef) and node.name == "World")
    add_robot = next(node for node in world.body if isinstance(node, ast.FunctionDef) and node.name == "add_robot")
    assert tuple(argument.arg for argument in add_robot.args.args[1:]) == stiction.copying.ROBOT
    assert "tuple[PinocchioModel, PinocchioGeometry]" in ast.unparse(add_robot.args)


def public(owner, name):
    """(full name, object) of what is public in a module or class, methods and properties included."""
    names = owner.__all__ if inspect.ismodule(owner) else [n for n in vars(owner) if not n.startswith("_")]
    for n in names:
        value = getattr(owner, n)
        yield f"{name}.{n}", value
        if inspect.isclass(value):
            yield from public(value, f"{name}.{n}")


def said(doc):
    """What a docstring says beside the signature that nanobind begins it with."""
    lines = (doc or "").splitlines()
    return [
        line for line in lines if line.strip() and not re.fullmatch(r"(\w+\(.*\)|\(self.*\))( -> .*)?", line.strip())
    ]


def test_every_public_name_has_a_docstring():
    documented = {
        name: value for name, value in public(stiction, "stiction") if callable(value) or isinstance(value, property)
    }
    assert len(documented) > 250
    assert not [name for name, value in documented.items() if not said(value.__doc__)]
