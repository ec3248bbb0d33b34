"""Every picture of the documentation that the engine draws: of laws, of schemes, of experiments."""

import json
import pathlib
import subprocess
import sys
import tempfile

import law_pictures
import scheme_pictures

import stiction
from stiction import plot

CAPTIONS = {
    ("docs", "laws"): law_pictures.CAPTION,
    ("docs", "schemes"): scheme_pictures.CAPTION,
}
ENGINE = pathlib.Path(stiction.__file__).parent
HERE = pathlib.Path(__file__).parent


def is_new(picture, *sources):
    """Whether a picture is younger than what draws it, the engine included."""
    drawn = max(file.stat().st_mtime for file in (*sources, *ENGINE.glob("_core*.so"), ENGINE / "plot.py"))
    return picture.exists() and picture.stat().st_mtime > drawn


def save(figure, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    plot.save(figure, file)
    plot.pyplot().close(figure)


def experiments_with_figures():
    """Names of the experiments that have the option --plot."""
    command = pathlib.Path(sys.executable).with_name("stiction")

    def told(*words):
        return subprocess.run([command, "experiment", *words], capture_output=True, text=True, check=True).stdout

    names = [line.split()[0] for line in told("--list").split("\n\n")[0].splitlines()]
    return [name for name in names if "--plot" in told(name, "--help")]


def draw_experiment(name, file):
    command = pathlib.Path(sys.executable).with_name("stiction")
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder, "rows.json")
        call = [command, "experiment", name, "--quick", "--json", rows]
        done = subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if not rows.exists():  # 1 is a row that failed, and the figure shows it
            raise RuntimeError(f"stiction experiment {name}: {done.stderr}")
        save(plot.draw(json.loads(rows.read_text())), file)


def draw_all(folder):
    """Draws what is older than the engine or its script; names of the experiments that have a figure."""
    for names, drawing in ((stiction.LAWS, law_pictures), (stiction.SCHEMES, scheme_pictures)):
        for name in names:
            file = folder / f"{name}.svg"
            if not is_new(file, pathlib.Path(drawing.__file__)):
                save(drawing.draw(name), file)
    experiments = experiments_with_figures()
    for name in experiments:
        file = folder / f"experiment_{name}.svg"
        if not is_new(file):
            draw_experiment(name, file)
    return experiments
