"""The Python reference as Markdown, from the type stubs of the compiled module and the sources of the package.

They are read, not imported: what is shown is what editors and type checkers see.
"""

import ast
import inspect
import pathlib
import re

from markup import markdown

import stiction

PACKAGE = pathlib.Path(stiction.__file__).parent
# Modules of the package beside `stiction` itself whose public functions and classes are part of the interface.
MODULES = ("view", "envs", "sweep")
GROUPS = {
    "Worlds and robots": ("World", "Shape", "Terrain", "Joint", "DrawnShape", "scenes"),
    "Stepping and runs": (
        "Stepper",
        "StepReport",
        "State",
        "Forward",
        "Contacts",
        "simulate",
        "Simulation",
        "rollout",
        "Rollout",
        "Trajectory",
    ),
    "Contact problems": ("ContactProblem", "WorldProblem", "ReducedProblem", "load_problem"),
    "Solving, both ways": ("solve", "inverse", "Solution", "can_solve", "compare", "Comparison", "CompareRow"),
    "What an answer is worth": (
        "Certificate",
        "Residual",
        "indeterminacy",
        "Indeterminacy",
        "InfeasibilityRay",
        "RequestProof",
        "proves_infeasible",
        "certifies_infeasibility",
    ),
    "Errors": ("FileError",),
}


def shortened(code):
    """A type as it is read: arrays without their layout, modules without their path."""
    code = re.sub(r"Annotated\[(NDArray)\[numpy\.(\w+)\], dict\([^()]*\([^()]*\)[^()]*\)\]", r"\1[\2]", code)
    return code.replace("numpy.typing.", "").replace("numpy.", "").replace("NDArray[float64]", "NDArray")


def signature(node):
    arguments = ast.parse(ast.unparse(node)).body[0].args
    for group in (arguments.posonlyargs, arguments.args):
        if group and group[0].arg in ("self", "cls"):
            del group[0]
    result = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return shortened(f"({ast.unparse(arguments)}){result}")


def decorators(node):
    return {ast.unparse(decorator).rsplit(".", 1)[-1] for decorator in node.decorator_list}


def directive(kind, name, body, depth, options=()):
    fence = ":" * (3 + depth)
    lines = [f"{fence}{{py:{kind}}} {name}", *(f":{option}" for option in options), "", body, fence]
    return "\n".join(lines)


def member(node, seen):
    marks = decorators(node)
    again = ["no-index:"] if node.name in seen else []
    seen.add(node.name)
    text = markdown(ast.get_docstring(node) or "")
    if "property" in marks:
        return directive("property", node.name, text, 0, [f"type: {shortened(ast.unparse(node.returns))}", *again])
    kind = "staticmethod" if "staticmethod" in marks else "classmethod" if "classmethod" in marks else "method"
    return directive(kind, node.name + signature(node), text, 0, again)


def described_class(node):
    """A class with its public members; what its constructor says is part of it."""
    methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
    start = next((item for item in methods if item.name == "__init__"), None)
    texts = [ast.get_docstring(node) or "", (ast.get_docstring(start) or "") if start else ""]
    parts = [markdown(text) for text in texts if text]
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign) and not item.target.id.startswith("_")]
    parts += [
        directive("attribute", f.target.id, "", 0, [f"type: {shortened(ast.unparse(f.annotation))}"]) for f in fields
    ]
    seen = set()
    for item in methods:
        is_setter = any(mark == "setter" for mark in decorators(item))
        if not item.name.startswith("_") and not is_setter:
            parts.append(member(item, seen))
    return directive("class", node.name + (signature(start) if start else ""), "\n\n".join(parts), 1)


def described(nodes):
    """One name of a module: a class, or a function with its overloads."""
    if isinstance(nodes[0], ast.ClassDef):
        return described_class(nodes[0])
    parts = []
    for k, node in enumerate(nodes):
        text = markdown(ast.get_docstring(node) or "")
        parts.append(directive("function", node.name + signature(node), text, 1, ["no-index:"] if k else []))
    return "\n\n".join(parts)


def definitions(file):
    """Functions, with their overloads, and classes of a file by name."""
    out = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            out.setdefault(node.name, []).append(node)
    return out


def package_page():
    known = definitions(PACKAGE / "_core.pyi")
    for file in PACKAGE.glob("*.py"):
        public = [name for name in definitions(file) if getattr(stiction, name, None) is not None]
        known |= {name: definitions(file)[name] for name in public if name not in known}
    grouped = [name for names in GROUPS.values() for name in names]
    others = [n for n in stiction.__all__ if n not in grouped and not n.isupper() and n != "__version__"]
    names = {
        "LAWS": "contact laws: [one page each](../docs/laws.md)",
        "SCHEMES": "time-integration schemes: [one page each](../docs/schemes.md)",
        "SOLVERS": "solvers: [which solves what](../docs/solvers.md)",
    }
    parts = ["# Python: `stiction`", "```{py:currentmodule} stiction\n```", inspect.getdoc(stiction) or ""]
    parts.append("Names that options take, as tuples:")
    parts.append("\n".join(f"- `stiction.{name}`: {text}" for name, text in names.items()))
    for title, members in [*GROUPS.items(), *([("More", others)] if others else [])]:
        parts.append(f"## {title}")
        parts += [described(known[name]) for name in members if name in known]
    return "\n\n".join(parts) + "\n"


def module_page(name):
    file = PACKAGE / f"{name}.py" if (PACKAGE / f"{name}.py").exists() else PACKAGE / name / "__init__.py"
    parts = [f"# Python: `stiction.{name}`", f"```{{py:currentmodule}} stiction.{name}\n```"]
    parts.append(markdown(ast.get_docstring(ast.parse(file.read_text())) or ""))
    for key, nodes in definitions(file).items():
        if not key.startswith("_") and key != "main" and ast.get_docstring(nodes[0]):
            parts.append(described(nodes))
    return "\n\n".join(parts) + "\n"


def pages():
    """Text of each page by file name."""
    there = [name for name in MODULES if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name / "__init__.py").exists()]
    return {"python.md": package_page()} | {f"python_{name}.md": module_page(name) for name in there}
