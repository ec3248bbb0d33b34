"""What gymnasium's render modes show: pictures, drawn by the page of `stiction view` in a headless Chromium, and that
page itself, live. Both follow what moves, or stay where the task says, and show bodies alone, without forces.
"""

from __future__ import annotations

import base64
import io
import json
import tempfile
import threading
import time
import weakref

import numpy as np

from .. import command
from ..view import MOST_PIXELS


def require_mode(mode, modes):
    if mode is not None and mode not in modes:
        raise ValueError(f"render_mode: expected None or {' or '.join(map(repr, modes))}, got {mode!r}")


def require_pixels(**sizes):
    for name, size in sizes.items():
        if not (isinstance(size, int | np.integer) and 0 < size <= MOST_PIXELS):
            raise ValueError(f"{name}: expected a whole number of pixels from 1 to {MOST_PIXELS}, got {size!r}")


def page_and_stream(task):
    """The page that shows a task's world, and the stream whose frames it takes."""
    try:
        from .. import live, page, visuals
    except ImportError as error:
        raise ImportError(f"render_mode: {command.said(error)}") from error
    stream = live.Stream(task.world, task.view)
    seen = visuals.visuals_of(task.file, stream.start) if task.file else []
    name = type(task).__name__
    return page.page_of(page.content_of([stream.start], [name], seen, live=stream), name), stream


def camera_of(stream, width, height):
    """Where the page's own camera is, as viser's client is told: z ahead and y down; the page widens the angle."""
    import trimesh

    from ..stage import FIELD_OF_VIEW, eye_of, view_of

    middle, size = stream.view or view_of([stream.start])[:2]
    eye, middle = (stream.drawing.places(place) for place in (eye_of(middle, size), middle))
    z = (middle - eye) / np.linalg.norm(middle - eye)
    x = np.cross(z, (0.0, 0.0, 1.0))
    x /= np.linalg.norm(x)
    turn = np.eye(4)
    turn[:3, :3] = np.column_stack((x, np.cross(z, x), z))
    quaternion = trimesh.transformations.quaternion_from_matrix(turn)
    place = {"position": eye.tolist(), "wxyz": quaternion.tolist()}
    return place | {"fov": FIELD_OF_VIEW, "width": width, "height": height}


class Pictures:
    """A Chromium that draws states of a task's world, until `close` or the end of Python."""

    def __init__(self, task, width, height):
        page, self.stream = page_and_stream(task)
        from .. import view

        self.camera = json.dumps(camera_of(self.stream, int(width), int(height)))
        with tempfile.TemporaryDirectory() as folder:
            self.browser = view.opened(page, (int(width), int(height)), folder)
        self.close = weakref.finalize(self, self.browser.__exit__)
        # viser's client draws nothing by itself where nobody sees it: pictures alone are drawn, once each
        self.browser.evaluate("document.getElementById('root').style.transform = 'translateX(200%)'")

    def picture(self, q):
        """(height, width, 3) of a configuration (nq,), red, green and blue from 0 to 255."""
        from PIL import Image

        numbers = np.frombuffer(self.stream.frame_of(0.0, q), "<f4").tolist()
        drawn = self.browser.evaluate(f"stiction.page.live.picture(new Float32Array({numbers}), {self.camera})")
        return np.array(Image.open(io.BytesIO(base64.b64decode(drawn))).convert("RGB"))


class Window:
    """A server of the live page. seconds: between two states, at least."""

    def __init__(self, task, seconds):
        page, self.stream = page_and_stream(task)
        from ..serve import address_of, serve_page

        self.seconds, self.due = seconds, 0.0
        self.server = serve_page(page, 0, self.stream.stream)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.address = address_of(self.server)
        print(f"stiction.envs: {self.address}", flush=True)

    def show(self, q, seconds):
        """Shows a configuration (nq,) as that of a time (s), once the one before has been seen for long enough."""
        time.sleep(max(0.0, self.due - time.monotonic()))
        self.due = time.monotonic() + self.seconds
        self.stream.publish(self.stream.frame_of(seconds, q))

    def close(self):
        self.stream.stop()
        self.server.shutdown()
        self.thread.join()
