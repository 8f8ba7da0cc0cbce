"""The explorer's server: this machine only, and only who knows its address.

It listens on 127.0.0.1. A random token is part of the address, and every request must have it; the Host header must be
this server's, so that no other site can reach it under a name of its own (DNS rebinding); and what comes from a page of
another origin is refused. It reads no files and writes none.
"""

import hmac
import json
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gpbe.errors import InputError, one_line
from gpbe.look.explorer import changes
from gpbe.look.explorer.page import PAGE, POLICY
from gpbe.mdp import PredictionProblem
from gpbe.mdp.toml_writer import render

HERE = "127.0.0.1"
MOST_BYTES = 2**20
"""The largest request."""
PATIENCE = 60.0
"""Seconds that a request may take to arrive."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",  # the address has the token
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Allow": "GET, POST",
}
_OURS = {
    HTTPStatus.NOT_IMPLEMENTED: HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.HTTP_VERSION_NOT_SUPPORTED: HTTPStatus.BAD_REQUEST,
}
"""What the standard library says of a request that it does not know, though the mistake is the sender's."""


class Refused(Exception):
    """A request that is not answered."""

    def __init__(self, status: HTTPStatus, message: str):
        super().__init__(message)
        self.status = status


class Explorer:
    """A server of the explorer's page for one problem, and for those of the zoo.

    >>> from gpbe import mdp
    >>> with Explorer(mdp.baird()) as explorer:
    ...     explorer.address.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, problem: PredictionProblem, port: int = 0):
        changes.check_small(problem)
        self.first = problem.name
        self.problems = changes.offered() | {problem.name: problem}
        self.token = secrets.token_urlsafe(16)
        self.computing = threading.Lock()
        if not 0 <= port < 2**16:
            raise InputError(f"--port {port} should lie in 0 to 65535; 0 takes one that is free")
        try:
            self.server = _Server((HERE, port), _Handler)
        except OSError as error:
            raise InputError(f"cannot listen on port {port}: {error.strerror}; leave --port out") from None
        self.server.explorer = self
        self.port = self.server.server_port

    @property
    def address(self) -> str:
        """The URL of the page. Its token is the only key: whoever knows it may use the page."""
        return f"http://{HERE}:{self.port}/{self.token}/"

    def serve(self) -> None:
        """Answer until it is interrupted."""
        self.server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Listen no longer."""
        self.server.server_close()

    def __enter__(self) -> "Explorer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def describe(self, name: str | None) -> dict[str, Any]:
        """The problem of that name as it came, and which others there are."""
        problem, _ = changes.read(self.problems, self.first, {} if name is None else {"problem": name})
        return changes.described(problem) | {"problems": list(self.problems)}

    def solve(self, given: Any) -> dict[str, Any]:
        """What the exact side says about a changed problem; one at a time, as people look."""
        with self.computing:
            problem, lam = changes.read(self.problems, self.first, given)
            return changes.answer(problem, lam, bool(given.get("bounds")))

    def save(self, given: Any) -> str:
        """A changed problem as a file that other commands read."""
        return render(changes.read(self.problems, self.first, given)[0])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    explorer: Explorer


class _Handler(BaseHTTPRequestHandler):
    """Reads a request, and writes the answer or a line that says why there is none."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "gpbe", ""
    timeout = PATIENCE
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _get(self) -> tuple[str, str]:
        explorer, (path, query) = self.server.explorer, self._wanted()
        if path == "":
            return "text/html", PAGE
        if path == "problem":
            return "application/json", _as_json(explorer.describe(query.get("name", [None])[0]))
        raise Refused(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _post(self) -> tuple[str, str]:
        explorer, sent, (path, _) = self.server.explorer, self._body(), self._wanted()
        if path == "solve":
            return "application/json", _as_json(explorer.solve(_from_json(sent)))
        if path == "problem.toml":
            return "application/toml", explorer.save(_from_json(sent))
        raise Refused(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _wanted(self) -> tuple[str, dict[str, list[str]]]:
        """What is asked for, after the token. Who may not ask learns nothing."""
        if self.headers.defects or self.headers.get_payload():  # the lines after one that is no header were not read
            raise Refused(HTTPStatus.BAD_REQUEST, "the headers of the request cannot be read")
        names = [f"{name}:{self.server.server_port}" for name in (HERE, "localhost")]
        if self.headers.get_all("Host", []) not in [[name] for name in names]:
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "this is not the server of that host")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in [f"http://{name}" for name in names]:
            raise Refused(HTTPStatus.FORBIDDEN, "this server answers its own page only")
        parts = urlsplit(self.path)
        token, slash, path = parts.path.removeprefix("/").partition("/")
        if not (slash and hmac.compare_digest(token.encode(), self.server.explorer.token.encode())):
            raise Refused(HTTPStatus.FORBIDDEN, "the address is not whole; use the one that gpbe explore printed")
        return path, parse_qs(parts.query, max_num_fields=10)

    def _body(self) -> bytes:
        """What was sent, if it is not too much. It is read whoever sent it, for what is left unread breaks the line."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or self.headers.get("Transfer-Encoding"):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the request should tell its length")
        if len(length) > 9 or int(length) > MOST_BYTES:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request should have {MOST_BYTES:,} bytes at most")
        return self.rfile.read(int(length))

    def _answer(self, find: Callable[[], tuple[str, str]]) -> None:
        try:
            kind, text = find()
            status = HTTPStatus.OK
        except Refused as refusal:
            status, kind, text = refusal.status, "application/json", _as_json({"error": str(refusal)})
        except InputError as error:
            status, kind, text = HTTPStatus.BAD_REQUEST, "application/json", _as_json({"error": str(error)})
        except (ArithmeticError, ValueError, MemoryError) as error:  # a singular matrix, or what JSON has no word for
            said = one_line(f"this could not be computed: {error}")
            status, kind, text = HTTPStatus.UNPROCESSABLE_ENTITY, "application/json", _as_json({"error": said})
        # After a refusal the rest of the request may still be on its way, so that the connection is of no more use.
        self.close_connection = self.close_connection or status != HTTPStatus.OK
        self._write(status, kind, text.encode())

    def _write(self, status: HTTPStatus, kind: str, data: bytes) -> None:
        with suppress(ConnectionError):  # the page has gone
            self.send_response(status)
            for name, value in {"Content-Type": f"{kind}; charset=utf-8", **HEADERS}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request (the standard library calls this) as everything else is refused."""
        self.close_connection = True
        status = _OURS.get(HTTPStatus(code), HTTPStatus(code))
        said = one_line(f"this is no request that is answered here: {message or status.phrase}")
        self._write(status, "application/json", _as_json({"error": said}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal is the user's."""


def _from_json(sent: bytes) -> Any:
    try:
        return json.loads(sent)
    except (ValueError, RecursionError):
        raise InputError("the request is not JSON") from None


def _as_json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
