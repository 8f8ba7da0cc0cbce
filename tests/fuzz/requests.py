"""Requests that nobody should send to the explorer."""

import json
import socket
import threading
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fuzz import odd
from gpbe.errors import LONGEST

METHODS = ("PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "", "G T", "\x00", "G" * 70_000)
PATHS = (
    *("", "/", "*", "//", "/solve", "/TOKEN", "/TOKE/", "/TOKENx/", "/xTOKEN/solve", "/%54OKEN/", "/TOKEN%2fsolve"),
    *("//TOKEN/", "/[", "//[", "//]TOKEN/", "/TOKEN/..", "/TOKEN/../../etc/passwd", "/TOKEN//solve", "/TOKEN/solve/"),
    *(
        "/TOKEN/problem?name=",
        "/TOKEN/problem?name=%ff",
        "/TOKEN/problem?name=/etc/passwd",
        "/TOKEN/solve;x",
        "/TOKEN/?",
    ),
    *("/TOKEN/problem?" + "name=x&" * 99, "/TOKEN/" + "x" * 70_000, "http://HOST/TOKEN/", "http://evil.example/TOKEN/"),
    *("/TOKEN/problem#x", "/TOKEN/\x00", "/\xff/", "/TOKEN/problem.toml/..", "/\tTOKEN/"),
)
VERSIONS = ("HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.1.1", "HTTP/x", "http/1.1", "HTTP/99999999999.1", "HTTP/1.", "")
HOSTS = (
    "evil.example",
    "evil.example:PORT",
    "127.0.0.1",
    "127.0.0.1:1",
    "",
    "HOST:1",
    "HOST.evil.example",
    "[::1]:PORT",
)
ORIGINS = ("null", "", "http://evil.example", "https://HOST", "http://HOST.evil.example", "http://127.0.0.1", "*")
LENGTHS = ("", "-1", "+5", "1e3", "x", "1048577", "9" * 5000, "\u0665", "5, 5", " 5", "5", "0x10", "1_0")
HEADERS = (
    *(
        "no colon",
        ": no name",
        "X: " + "x" * 70_000,
        "X: \x00",
        "X:\r y",
        " folded",
        "\tfolded: 1",
        "X : 1",
        "\xff: \xff",
    ),
    *(
        "Expect: 100-continue",
        "Connection: keep-alive",
        "Connection: close",
        "Content-Type: text/plain",
        "Upgrade: h2c",
    ),
    *("X: y\r\n" * 150, "Content-Encoding: gzip", "Cookie: token=TOKEN", "Transfer-Encoding: chunked"),
)
WHOLE: dict[str, Any] = {
    "problem": "kolter",
    "lam": 0.5,
    "discount": 0.9,
    "target": [[0.4, 0.6], [0.5, 0.5]],
    "behavior": [[0.3, 0.7], [0.25, 0.75]],
    "features": [[1.0], [1.05]],
    "bounds": True,
}


class Request(NamedTuple):
    """What is sent, with TOKEN and HOST and PORT in the place of the server's own; and whether it may be answered."""

    sent: bytes
    may: bool = True


class Requests:
    """Requests to one server, which must outlive them all."""

    patience = 5.0
    corpus = "requests"

    def __init__(self, _: Path):
        from gpbe import mdp
        from gpbe.look.explorer import Explorer

        self.explorer = Explorer(mdp.find("kolter"))
        self.wrong: list[str] = []
        self.explorer.server.handle_error = self._died
        threading.Thread(target=self.explorer.serve, daemon=True).start()
        right = _request("POST", "/TOKEN/solve", "HTTP/1.1", ["Host: HOST"], json.dumps(WHOLE).encode())
        assert self.check(Request(right)) == "read"  # and what is imported late is there

    def _died(self, *_: Any) -> None:
        import traceback

        self.wrong.append(traceback.format_exc()[-3000:])

    def make(self, rng: Random) -> Request:
        path, body = rng.choice((("/TOKEN/solve", True), ("/TOKEN/problem.toml", True), ("/TOKEN/problem", False)))
        method, version, headers, may = "POST" if body else "GET", "HTTP/1.1", ["Host: HOST"], True
        content = _content(rng) if body or rng.random() < 0.1 else b""
        length = f"Content-Length: {len(content)}"
        for _ in range(rng.choice((0, 1, 1, 2))):
            act = rng.randrange(7)
            if act == 0:
                method = rng.choice(METHODS)
            elif act == 1:
                path = rng.choice(PATHS)
                may = may and path.split("?")[0].startswith(("/TOKEN/", "//TOKEN/", "http://"))
            elif act == 2:
                version = rng.choice(VERSIONS)
            elif act == 3:
                wrong = [f"Host: {host}" for host in rng.sample(HOSTS, rng.choice((0, 1, 1, 2)))]
                headers, may = [*headers[: rng.randrange(2) and len(wrong)], *wrong, *headers[1:]], False
            elif act == 4:
                headers.append(f"Origin: {rng.choice(ORIGINS)}")
                may = False
            elif act == 5:
                length = f"Content-Length: {rng.choice(LENGTHS)}"
            else:
                headers.append(rng.choice(HEADERS))
        sent = _request(
            method, path, version, [*headers, length] if body or content else headers, content, length=False
        )
        return Request(odd.spoiled(sent, rng) if (spoil := rng.random() < 0.1) else sent, may or spoil)

    def kept(self, file: Path) -> Request:
        return Request(file.read_bytes(), file.name.startswith("read-"))

    def keep(self, case: Request, folder: Path) -> str:
        folder.mkdir(exist_ok=True)
        target = folder / f"requests-{len(list(folder.iterdir()))}.http"
        target.write_bytes(case.sent)
        return str(target)

    def check(self, case: Request) -> str:
        status, text = self._ask(case.sent)
        assert not self.wrong, self.wrong.pop()
        alive, _ = self._ask(_request("GET", "/TOKEN/problem", "HTTP/1.1", ["Host: HOST", "Connection: close"]))
        assert alive == 200, "it no longer answers"
        if status == 200:
            assert case.may, "it answers whom it should not"
            return "read"
        assert status is None or 400 <= status < 500, status
        said = json.loads(text)["error"] if text else ""
        assert said.isprintable(), said
        assert len(said) <= LONGEST, len(said)
        return "refused"

    def _ask(self, request: bytes) -> tuple[int | None, str]:
        """Status and text of the first answer; no status where the line ends without one, or HTTP has no such thing."""
        host = f"127.0.0.1:{self.explorer.port}".encode()
        own = {b"TOKEN": self.explorer.token.encode(), b"HOST": host, b"PORT": str(self.explorer.port).encode()}
        for name, value in own.items():
            request = request.replace(name, value)
        got = bytearray()
        with socket.create_connection(("127.0.0.1", self.explorer.port), 30) as line:
            try:
                line.sendall(request)
                line.shutdown(socket.SHUT_WR)
                while more := line.recv(2**16):
                    got += more
            except OSError:  # it was refused before all of it had been sent
                pass
        head, _, rest = bytes(got).partition(b"\r\n\r\n")
        if head.startswith(b"HTTP/1.1 100"):
            head, _, rest = rest.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/"):  # nothing, or what HTTP/0.9 has: text alone
            return None if not got or b'"error"' in got else 200, bytes(got).decode()
        sizes = [int(line.split(b":")[1]) for line in head.splitlines() if line.startswith(b"Content-Length")]
        return int(head.split()[1]), rest[: sizes[0]].decode()


def _request(
    method: str, path: str, version: str, headers: list[str], content: bytes = b"", length: bool = True
) -> bytes:
    lines = [" ".join(filter(None, (method, path, version))), *headers]
    lines += [f"Content-Length: {len(content)}"] if length and content else []
    return "\r\n".join([*lines, "", ""]).encode("latin-1", errors="replace") + content


def _content(rng: Random) -> bytes:
    act = rng.random()
    if act < 0.1:
        raw = (
            b"",
            b"{",
            b"[" * 10**5,
            b"\xff",
            b"\x00" * 100,
            b'{"lam": 1e999}',
            b"9" * 5000,
            b" " * (2**20 + 1),
            b'"',
        )
        return rng.choice(raw)
    tree: Any = WHOLE
    for _ in range(rng.choice((0, 1, 1, 2))):
        tree = odd.changed(tree, rng) if rng.random() < 0.6 else odd.nudged(tree, rng)
    try:
        content = json.dumps(tree).encode(rng.choice(("utf-8",) * 8 + ("utf-16", "utf-8-sig")))
    except ValueError:  # a whole number of more digits than Python writes
        return b'{"lam": 1' + b"0" * 9000 + b"}"
    return odd.spoiled(content, rng) if act < 0.25 else content
