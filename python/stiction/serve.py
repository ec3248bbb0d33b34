"""A page at an address that this machine alone can reach, and a stream beside it."""

from __future__ import annotations

import http
import logging
import os
import typing

from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

HOST = "127.0.0.1"


def serve_page(page: str, port: int, stream: typing.Callable[[ServerConnection], None] | None = None) -> Server:
    """A server of the page at /, and of `stream` for every connection to /stream; port 0: one that is free.

    Answers only those who call it by its own name, so that no page from elsewhere can speak to it through the browser.
    """
    body = page.encode()

    def answer(connection: ServerConnection, request: Request) -> Response | None:
        port = server.socket.getsockname()[1]
        names = {f"{name}:{port}" for name in (HOST, "localhost")}
        origin = request.headers.get("Origin")
        if request.headers.get("Host") not in names or (origin and origin.removeprefix("http://") not in names):
            return connection.respond(http.HTTPStatus.FORBIDDEN, "not from here\n")
        if request.path == "/stream" and stream is not None:
            return None
        if request.path != "/":
            return connection.respond(http.HTTPStatus.NOT_FOUND, "nothing here\n")
        headers = Headers([("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body)))])
        return Response(http.HTTPStatus.OK.value, "OK", headers, body)

    quiet = logging.Logger(__name__, logging.CRITICAL)  # browsers open connections that they then do not use
    try:
        server = serve(stream or (lambda _: None), HOST, port, process_request=answer, compression=None, logger=quiet)
    except OSError as error:  # a port that another program has; the library's words name an address alone
        raise OSError(error.errno, os.strerror(error.errno), f"{HOST}:{port}") from None
    return server


def address_of(server: Server) -> str:
    return f"http://{HOST}:{server.socket.getsockname()[1]}/"
