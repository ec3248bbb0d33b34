"""How long `stiction view` takes to open and what a picture costs while a run plays, and who pays.

python bench/viewer_frames.py RUN.npz       opening, then playing
python bench/viewer_frames.py SCENE         opening of stiction view SCENE --live

In a headless Chromium that draws with the processor (SwiftShader), at 1280 x 800. Printed of opening: seconds from the
address to each stage, and what the drawing process has spent by then. Printed per picture: wall time, the page's own
scripts (state to messages, plots), all scripts (viser's client and three.js as well), the processor time of the process
that draws, and the draw calls.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from stiction import view
from stiction.browser import DRAWN, Browser
from stiction.trajectory import Trajectory
from stiction.visuals import visuals_of

# Counts the draw calls of all contexts; adds up what the page's own drawing takes.
COUNT = """(() => {
  const spent = window.spent = { own: 0, pictures: 0, calls: 0, triangles: 0 };
  for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
    const call = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (mode, ...rest) {
      ++spent.calls;
      const count = name.startsWith("drawElements") ? rest[0] : rest[1];
      spent.triangles += mode === 4 ? count / 3 * (name.endsWith("Instanced") ? rest.at(-1) : 1) : 0;
      return call.call(this, mode, ...rest);
    };
  }
  const draw = stiction.page.draw;
  stiction.page.draw = function () {
    const start = performance.now();
    draw.call(this);
    spent.own += performance.now() - start;
    ++spent.pictures;
  };
})()"""
# Notes when the page gets to each stage, its shader programs, and the longest that it was stuck.
OPEN = """(() => {
  const opened = window.opened = { stages: {}, programs: 0, stuck: 0 };
  const link = WebGL2RenderingContext.prototype.linkProgram;
  WebGL2RenderingContext.prototype.linkProgram = function (...program) {
    ++opened.programs;
    return link.apply(this, program);
  };
  let last = 0;
  const look = now => {
    const canvas = document.querySelector("#root canvas[data-engine]");
    const { connection, page } = window.stiction ?? {};
    const reached = { "client runs": connection, "scene sent": page, "canvas shown": canvas?.style.opacity == 1 };
    for (const stage in reached) if (reached[stage]) opened.stages[stage] ??= now / 1000;
    opened.stuck = Math.max(opened.stuck, (now - last) / 1000);
    last = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""
PLAY = """new Promise(done => {
  Object.assign(spent, { own: 0, pictures: 0, calls: 0, triangles: 0 });
  const start = performance.now();
  stiction.page.player.seek(stiction.page.player.start + 1);
  stiction.page.player.play();
  setTimeout(() => {
    stiction.page.player.pause();
    done({ ...spent, wall: performance.now() - start });
  }, SECONDS * 1000);
})"""


def processor_seconds(pid: int) -> dict[str, float]:
    """Processor time of a process' descendants, by their --type."""
    out: dict[str, float] = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            parts = (folder / "cmdline").read_text().replace("\0", " ").split()
            if _descends(int(folder.name), pid):
                kind = next((part[7:] for part in parts if part.startswith("--type=")), "browser")
                out[kind] = out.get(kind, 0.0) + (int(words[11]) + int(words[12])) / 100.0
        except (OSError, IndexError):
            continue
    return out


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return False


def measure(page: pathlib.Path, size: tuple[int, int], seconds: float, before: str) -> dict[str, float]:
    with Browser() as browser:
        browser.open(page, size)
        if before:
            browser.evaluate(before)
        browser.evaluate(COUNT)
        browser._send("Performance.enable")
        processes, scripts = processor_seconds(browser._process.pid), _scripts(browser)
        spent = browser.evaluate(PLAY.replace("SECONDS", str(seconds)))
        now = processor_seconds(browser._process.pid)
        pictures = max(spent["pictures"], 1)
        return {
            "pictures/s": 1e3 * pictures / spent["wall"],
            "ms wall": spent["wall"] / pictures,
            "ms own scripts": spent["own"] / pictures,
            "ms all scripts": 1e3 * (_scripts(browser) - scripts) / pictures,
            "ms drawing process": 1e3 * (now.get("gpu-process", 0.0) - processes.get("gpu-process", 0.0)) / pictures,
            "draw calls": spent["calls"] / pictures,
            "1000 triangles": 1e-3 * spent["triangles"] / pictures,
        }


def opening(address: str, size: tuple[int, int]) -> dict[str, float]:
    """Seconds from asking for a page until it is drawn."""
    with Browser() as browser:
        browser._send("Page.addScriptToEvaluateOnNewDocument", source=OPEN)
        browser.resize(size)
        processes, start = processor_seconds(browser._process.pid), time.monotonic()
        browser._send("Page.navigate", url=address)
        browser.evaluate(DRAWN)
        browser.picture()
        drawn = time.monotonic() - start
        spent = processor_seconds(browser._process.pid).get("gpu-process", 0.0) - processes.get("gpu-process", 0.0)
        opened = json.loads(browser.evaluate("JSON.stringify(opened)"))
        return opened["stages"] | {
            "drawn": drawn,
            "longest stuck": opened["stuck"],
            "drawing process": spent,
            "programs": opened["programs"],
        }


def opening_live(scene: str, size: tuple[int, int]) -> dict[str, float]:
    """The same of `stiction view SCENE --live`, and what its server takes to be there."""
    start = time.monotonic()
    command = [sys.executable, "-m", "stiction", "view", scene, "--live", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[2]
            return {"server": time.monotonic() - start} | opening(address, size)
        finally:
            server.terminate()


def _scripts(browser: Browser) -> float:
    metrics = {metric["name"]: metric["value"] for metric in browser._send("Performance.getMetrics")["metrics"]}
    return metrics["ScriptDuration"]


CASES = {
    "with shadows": "stiction.page.options.shadows = true; stiction.page.draw()",
    "as it opens, without": "",
    "nor cones": "stiction.page.options.cones = false; stiction.page.draw()",
    "nor plots": "document.getElementById('charts')?.remove()",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("source", metavar="RUN|SCENE")
    parser.add_argument("--robot")
    parser.add_argument("--size", type=view.size_of, default=(1280, 800))
    parser.add_argument("--seconds", type=float, default=8.0, help="of playing, per row")
    options = parser.parse_args()
    if pathlib.Path(options.source).suffix not in (".npz", ".mcap"):
        _print({"opening (s)": opening_live(options.source, options.size)}.items())
        return
    trajectory = Trajectory.load(options.source)
    visuals = visuals_of(options.robot, trajectory) if options.robot else []
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        page.write_text(view.to_html(trajectory, names=["run"], visuals=visuals), encoding="utf-8")
        _print({"opening (s)": opening(page.as_uri(), options.size)}.items())
        _print((name, measure(page, options.size, options.seconds, before)) for name, before in CASES.items())


def _print(rows) -> None:
    """A table of rows, each printed when it is there."""
    for number, (name, row) in enumerate(rows):
        if number == 0:
            print(f"{'':24}" + "".join(f"{key:>20}" for key in row))
        print(f"{name:24}" + "".join(f"{value:20.2f}" for value in row.values()), flush=True)


if __name__ == "__main__":
    main()
