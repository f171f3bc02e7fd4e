"""The server as a process: what comes over the wire, byte by byte."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from waiting import PATIENCE
from web.e2e.live import TOKEN, Server

CRLF = "\r\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


def ask(server: Server, text: str, body: bytes = b"") -> tuple[int, str]:
    """Send exactly that; the status and the whole answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as wire:
        with suppress(BrokenPipeError, ConnectionResetError):  # it may answer before all was sent
            wire.sendall(text.replace("\n", CRLF).encode("latin-1") + body)
        got = b""
        with suppress(ConnectionResetError):  # it may close on what it has not read
            while part := wire.recv(65536):
                got += part
    answer = got.decode("utf-8", "replace")
    found = re.match(r"HTTP/1\.1 (\d{3})", answer)
    return int(found.group(1)) if found else 0, answer


def test_hosts(server: Server) -> None:
    own = f"Host: 127.0.0.1:{server.port}\nConnection: close\n"
    assert ask(server, f"GET / HTTP/1.1\n{own}\n")[0] == 200
    for others in (
        "Host: evil.example\n",
        f"Host: 127.0.0.1:{server.port}\nHost: evil.example\n",
        f"Host: evil.example\nHost: 127.0.0.1:{server.port}\n",
        "Host:\n",
        "Host: 127.0.0.1@evil.example\n",
        "",
    ):
        status, answer = ask(server, f"GET / HTTP/1.1\n{others}Connection: close\n\n")
        assert status in (400, 421), others
        assert "<h1>" not in answer
    status, answer = ask(server, "GET / HTTP/1.0\n\n")
    assert status == 421


def test_addresses(server: Server) -> None:
    own = f"Host: 127.0.0.1:{server.port}\nConnection: close\n"
    for path in (
        "/static/../_app.py", "/static/..%2f_app.py", "/static/%2e%2e/_app.py",
        "/static/..\\_app.py", "/static//etc/passwd", "/static/%00", "/static/..",
        "//evil.example/", "http://evil.example/raters",
        "/static/../../../../../../etc/passwd", "/x%0d%0aX-Evil:%201",
        "/static/x%0d%0aX-Evil:%201", "/?token=x%0d%0aX-Evil:%201", "/static?a=%0d%0aX-Evil:%201",
    ):  # fmt: skip
        status, answer = ask(server, f"GET {path} HTTP/1.1\n{own}\n")
        head, _, body = answer.partition(CRLF * 2)
        assert status in (307, 403, 404), (path, status)
        assert "\nx-evil" not in head.lower()
        assert "evil.example" not in head
        assert "root:" not in body
        assert "create_app" not in body
        assert "content-security-policy" in head.lower(), path


def test_sizes(server: Server) -> None:
    own = (
        f"Host: 127.0.0.1:{server.port}\nConnection: close\nOrigin: {server.origin}\n"
        "Content-Type: application/x-www-form-urlencoded\n"
    )
    large = b"a=" + b"x" * 1_100_000
    told = f"Content-Length: {len(large)}\n"
    for path in ("/replay", "/raters", "/rate/x", "/plan/binary", "/"):
        status, _ = ask(server, f"POST {path} HTTP/1.1\n{own}{told}\n", large)
        assert status == 413, path
    chunked = (
        b"".join(b"%x\r\n%s\r\n" % (100_000, b"x" * 100_000) for _ in range(12)) + b"0\r\n\r\n"
    )
    for path in ("/replay", "/raters", "/rate/x/x", "/"):
        text = f"POST {path} HTTP/1.1\n{own}Transfer-Encoding: chunked\n\n"
        assert ask(server, text, chunked)[0] in (0, 403, 404, 405, 413), path
    assert ask(
        server, f"GET / HTTP/1.1\nHost: 127.0.0.1\nConnection: close\nX: {'x' * 200_000}\n\n"
    )[0] in (0, 400, 431)
    smuggled = f"POST / HTTP/1.1\n{own}Content-Length: 5\nContent-Length: 6\n\n"
    assert ask(server, smuggled, b"aaaaaa")[0] == 400


def test_upgrades_are_ignored(server: Server) -> None:
    status, answer = ask(
        server,
        f"GET /raters HTTP/1.1\nHost: 127.0.0.1:{server.port}\nConnection: Upgrade\n"
        "Upgrade: websocket\nSec-WebSocket-Version: 13\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\n"
        "Connection: close\n\n",
    )
    assert status in (403, 404)
    assert "101 Switching" not in answer


def test_it_tells_nothing_of_itself(server: Server) -> None:
    _, answer = ask(server, f"GET / HTTP/1.1\nHost: 127.0.0.1:{server.port}\nConnection: close\n\n")
    assert "uvicorn" not in answer.lower()
    assert TOKEN not in answer
    assert not any("Traceback" in line or TOKEN in line for line in server.errors)
