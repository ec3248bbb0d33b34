"""The tables of the docs say what the engine does, and what they print to be typed runs as printed."""

import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import stiction

WORDS = {
    "goldfarb_idnani": "goldfarb-idnani",
    "ppm": "principal pivoting",
    "lemke": "lemke",
    "enumerate": "enumeration",
    "active_set": "active set",
    "interior_point": "interior point",
    "dantzig": "dantzig",
    "pgs": "pgs",
    "jor": "jor",
    "sor": "sor",
    "newton": "newton",
}


def table(text, header):
    """Cells of the rows below a header row that begins with these columns."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("| " + " | ".join(header) + " |"):
            break
    next(lines)  # the rule
    rows = []
    for line in lines:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def names(cell):
    return re.findall(r"`(\w+)`", cell)


def solvers_of(law):
    return {solver for solver in stiction.SOLVERS if solver != "auto" and stiction.can_solve(law, solver)}


def written(cell):
    return {solver for solver, word in WORDS.items() if re.search(rf"\b{word}\b", cell.lower())}


def test_table_of_laws(checkout):
    rows = table((checkout / "docs/laws.md").read_text(), ["law", "conditions", "program", "default solver", "others"])
    stated = {}
    for laws, *_, default, others in rows:
        for law in names(laws):
            assert law not in stated
            stated[law] = written(default) | written(others)
    assert stated == {law: solvers_of(law) for law in stiction.LAWS}


@pytest.mark.parametrize("bounded", [False, True])
def test_default_solvers_of_the_table(checkout, random_arrays, bounded):
    M, v, J, mu, dt, impulse = random_arrays(1)
    row = {"J_b": np.eye(1, len(v)), "lo": -0.1, "hi": 0.1} if bounded else {}
    material = {"stiffness": 1e4, "viscosity": 1.0, "damping": 1.0, "dissipation": 0.1}
    problem = stiction.ContactProblem(M, v, J, mu, dt=dt, impulse=impulse, material=material, **row)
    default = {row.law: row.solver for row in stiction.compare(problem, repetitions=1) if row.is_default}
    rows = table((checkout / "docs/laws.md").read_text(), ["law", "conditions", "program", "default solver", "others"])
    for laws, *_, cell, _others in rows:
        usual, *cases = cell.split(";")
        with_rows = next((case for case in cases if "bounded rows" in case), usual)
        for law in names(laws):
            assert {default[law]} == written(with_rows if bounded else usual), law


def test_default_of_the_relaxation_by_case():
    def default(nv):
        problem = stiction.ContactProblem(np.eye(nv), np.zeros(nv), np.eye(3, nv), 0.5)
        return next(row.solver for row in stiction.compare(problem, laws=["anitescu"], repetitions=1) if row.is_default)

    assert [default(96), default(97)] == ["active_set", "interior_point"]


def test_table_of_solvers(checkout):
    stated = {}
    for solvers, laws, *_ in table((checkout / "docs/solvers.md").read_text(), ["solver", "laws", "method"]):
        for solver in names(solvers):
            assert solver not in stated
            stated[solver] = set(names(laws))
    assert stated == {
        solver: {law for law in stiction.LAWS if stiction.can_solve(law, solver)}
        for solver in stiction.SOLVERS
        if solver != "auto"
    }


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def run(folder, *arguments):
    command = pathlib.Path(sys.executable).with_name("stiction")
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=False, cwd=folder)


def test_commands_of_the_readme_run_as_printed(checkout, tmp_path):
    (tmp_path / "models").symlink_to(checkout / "models")
    lines = [line for block in blocks((checkout / "README.md").read_text(), "sh") for line in block.splitlines()]
    commands = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("stiction ")]
    assert len(commands) >= 8
    for command in commands:
        if command[0] == "view":
            command = windowless(command)
        if command[0] == "report":
            command = [*command, "--no-pictures"]
        result = run(tmp_path, *command)
        assert result.returncode == 0, (command, result.stderr)
        assert result.stdout or command[0] == "view"


def windowless(command):
    """A view that ends by itself and needs no browser."""
    command = [word for word in command if word != "--live"]
    pytest.importorskip("viser", reason="stiction view needs viser")
    if "--png" in command:
        at = command.index("--png")
        command = command[:at] + command[at + 2 :]
    return command if "--html" in command else [*command, "--html", "page.html"]


def test_python_of_the_readme_runs(checkout, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, _ = blocks((checkout / "README.md").read_text(), "python")
    exec(compile(code, "README.md", "exec"), {})
    first, second = capsys.readouterr().out.split("\n")[:2]
    status, height, residual = first.split()
    assert (status, float(height)) == ("solved", pytest.approx(0.05, abs=1e-5))
    assert float(residual) < 1e-9
    assert second.startswith("solved")
    assert (tmp_path / "run.npz").exists()


def test_stepping_of_the_readme_runs(checkout, monkeypatch, capsys):
    _, program = blocks((checkout / "README.md").read_text(), "python")
    assert len(program.splitlines()) <= 12
    monkeypatch.chdir(checkout)
    exec(compile(program, "README.md", "exec"), {})
    assert "status='solved'" in capsys.readouterr().out


def test_the_scene_of_the_docs_runs(checkout, tmp_path):
    (scene,) = blocks((checkout / "docs/scenes.md").read_text(), "toml")
    (tmp_path / "scene.toml").write_text(scene)
    result = run(tmp_path, "simulate", "scene.toml")
    assert result.returncode == 0, result.stderr
    assert "status solved" in result.stdout


def test_trot_of_the_readme_is_that_of_its_page(checkout):
    def rows(page):
        lines = [line.split("|")[1:-1] for line in (checkout / page).read_text().splitlines() if line.startswith("|")]
        return [[cell.strip() for cell in line] for line in lines]

    def medians(cell):
        return re.sub(r"/\S+", "", cell)

    page = {}
    for controller, setup, friction, fell, error, off, *_ in (row for row in rows("docs/trot.md") if len(row) == 8):
        if setup.startswith("ours"):
            page.setdefault((controller.split(",")[0], friction), [fell, medians(error), medians(off)])
    shown = [row for row in rows("README.md") if len(row) == 5 and row[1] in ("0.1", "high")]
    assert len(shown) == 8
    for controller, friction, *figures in shown:
        name = controller.removeprefix("the paper's ").split(":")[0]
        assert figures == page[name, friction], controller


def test_links_of_the_docs_lead_somewhere(checkout):
    pages = [checkout / "README.md", checkout / "CONTRIBUTING.md", *checkout.glob("docs/**/*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#]+)\)", page.read_text())]
    links = [
        (page, link) for page, link in links if page.parent.name != "site"
    ]  # whose links are those of the built site
    assert len(links) > 5
    for page, link in links:
        assert link.startswith("https://") or (page.parent / link).exists(), (page.name, link)


def test_folders_of_the_readme_exist(checkout):
    rows = table((checkout / "README.md").read_text(), ["folder", "what"])
    folders = [name for cell, _ in rows for name in re.findall(r"`([\w/]+)`", cell)]
    assert len(folders) > 15
    for name in folders:
        assert (checkout / name).is_dir() or (checkout / "src/stiction" / name).is_dir(), name
