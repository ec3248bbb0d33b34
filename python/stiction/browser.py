"""A headless Chromium: pictures of pages, what they complained of, and what they asked the network for."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import typing

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

NO_CHROMIUM = (
    "pictures need Chromium or Chrome, and none was found; on Debian or Ubuntu: sudo apt-get install chromium "
    "(or name one with the environment variable CHROMIUM)"
)
# Headless, drawn by the processor, nothing kept, nothing asked of the network.
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # root, as in containers, has none
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--remote-debugging-port=0",
)
# Until the page has its runs, three.js' canvas is opaque (pale before the page's lights are there) and was drawn since.
DRAWN = """new Promise(done => {
  let frames = 0;
  const next = () => {
    const canvas = document.querySelector('#root canvas[data-engine]');
    if (window.stiction?.page && canvas && getComputedStyle(canvas).opacity == 1) ++frames;
    frames > 2 ? done(frames) : requestAnimationFrame(next);
  };
  next();
})"""
# Until a page that does nothing by itself is there.
LOADED = "new Promise(done => (document.readyState === 'complete' ? done() : window.addEventListener('load', done)))"
# Until what was asked for has been drawn: the page draws at the next frame, viser's client at the one after.
SETTLED = """new Promise(done => {
  let frames = 4;
  const next = () => (--frames < 0 ? done() : requestAnimationFrame(next));
  next();
})"""


class ViewError(RuntimeError):
    """Something that this machine lacks; the message says what and how to get it."""


def find_chromium() -> str:
    """The path of a Chromium or Chrome; raises ViewError where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    for name in filter(None, (os.environ.get("CHROMIUM"), *names)):
        if path := shutil.which(name):
            return path
    raise ViewError(NO_CHROMIUM)


class Browser:
    """A running Chromium; a context manager, which ends it.

    complaints: errors on the console and uncaught exceptions of the pages shown. requests: addresses they asked for.
    """

    def __init__(self, patience: float = 120.0) -> None:
        self.patience = patience  # s, for one command: a loaded machine draws slowly without a graphics processor
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._ids = itertools.count(1)
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._log = pathlib.Path(self._folder.name, "log")
        with self._log.open("w") as log:
            profile = f"--user-data-dir={self._folder.name}/profile"
            self._process = subprocess.Popen(
                [find_chromium(), *ARGUMENTS, profile],
                env=os.environ | {"TMPDIR": self._folder.name},  # it leaves its socket's folder behind
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self._socket = connect(self._address(), max_size=None, open_timeout=patience)
            target = self._send("Target.createTarget", url="about:blank")["targetId"]
            self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self._send(f"{domain}.enable")
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._end()

    def open(self, address: str | os.PathLike, size: tuple[int, int], density: float = 1.0, drawn: str = DRAWN) -> None:
        """Shows a page, a file or an http address, until it is drawn. size: in pixels of its style sheet, of which one
        is `density` pixels of the picture. drawn: a promise in JavaScript that ends then; DRAWN is for `stiction.page`.
        """
        if not str(address).startswith(("http:", "https:", "file:")):
            page, hash_, fragment = os.fspath(address).partition("#")
            address = pathlib.Path(page).resolve().as_uri() + hash_ + fragment
        self.resize(size, density)
        self._send("Page.navigate", url=str(address))
        self.evaluate(drawn)
        self.still_picture()

    def resize(self, size: tuple[int, int], density: float = 1.0) -> None:
        """Gives the window a size, as `open` does."""
        self._send(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=density,
            mobile=False,
        )

    def evaluate(self, expression: str) -> typing.Any:
        """The value of a JavaScript expression in the page, of a promise what it comes to."""
        answer = self._send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ViewError(f"the page fails: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def seek(self, seconds: float) -> None:
        """Shows the state at a time (s) and waits until it is drawn."""
        self.evaluate(f"stiction.page.player.seek({seconds!r}); {SETTLED}")

    def picture(self, form: str = "png") -> bytes:
        """What the window shows, as PNG or as JPEG."""
        return base64.b64decode(self._send("Page.captureScreenshot", format=form)["data"])

    def still_picture(self) -> bytes:
        """The picture, as PNG, once it no longer changes: viser's client fades in, and a busy machine draws late."""
        end, last = time.monotonic() + self.patience, b""
        while (drawn := self.picture()) != last and time.monotonic() < end:
            last = drawn
            time.sleep(0.2)
        return drawn

    def press(self, kind: str, x: float, y: float, buttons: int = 1) -> None:
        """A mouse event: kind mousePressed, mouseMoved or mouseReleased, at a place in the window (pixels)."""
        self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def key(self, key: str) -> None:
        """Presses and releases a key, by its name in JavaScript."""
        for kind in ("keyDown", "keyUp"):
            self._send("Input.dispatchKeyEvent", type=kind, key=key)

    def _end(self) -> None:
        """Ends Chromium with all that it has started, which would write to the folder again, and removes the folder."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    def _address(self) -> str:
        """Where Chromium listens, which it says once it does."""
        end = time.monotonic() + self.patience
        while time.monotonic() < end and self._process.poll() is None:
            for line in self._log.read_text(errors="replace").splitlines():
                if "DevTools listening on " in line:
                    return line.split("DevTools listening on ")[1].strip()
            time.sleep(0.05)
        raise ViewError(
            f"{self._process.args[0]} does not start: {self._log.read_text(errors='replace').strip()[-400:]}"
        )

    def _send(self, method: str, **parameters: typing.Any) -> dict:
        """The answer to a command; events that come before it are noted."""
        message = {"id": next(self._ids), "method": method, "params": parameters}
        if hasattr(self, "_session"):
            message["sessionId"] = self._session
        try:
            self._socket.send(json.dumps(message))
            while (answer := json.loads(self._socket.recv(timeout=self.patience))).get("id") != message["id"]:
                self._note(answer.get("method"), answer.get("params", {}))
        except TimeoutError:
            raise ViewError(f"Chromium does not answer {method} within {self.patience:g} s") from None
        except ConnectionClosed:
            raise ViewError(f"Chromium ended before it answered {method}, as it does without memory") from None
        if "error" in answer:
            raise ViewError(f"Chromium refuses {method}: {answer['error']['message']}")
        return answer["result"]

    def _note(self, event: str | None, what: dict) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(what["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and what["type"] == "error":
            self.complaints.append(" ".join(str(argument.get("value", "")) for argument in what["args"]))
        elif event == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.complaints.append(what["entry"]["text"])
