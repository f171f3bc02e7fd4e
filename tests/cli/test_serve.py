"""``fewgold serve``: where it listens, what it prints, and what it refuses."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn

from waiting import PATIENCE

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "0.0.0.0"], "add --public"),
        (["--host", "192.0.2.1"], "add --public"),
        (["--host", "example.org"], "add --public"),
        (["--host", "0.0.0.0", "--public"], "--name rate.example.org"),
        (["--host", "::", "--public"], "--name rate.example.org"),
        (["--name", "http://rate.example.org"], "without http:// and port"),
        (["--name", "rate.example.org:80"], "without http:// and port"),
        (["--token", "short"], "at least 16 characters"),
        (["--token", "with spaces; and more"], "letters, digits"),
        (["--port", "70000"], "65535"),
    ],
)
def test_what_is_refused(run: Run, options: list[str], sentence: str) -> None:
    said = run("serve", *options, code=2).stderr
    assert sentence in re.sub(r"[\s│]+", " ", said)


def test_a_port_that_is_taken(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        said = run("serve", "--port", other.getsockname()[1], code=3).stderr
    assert "cannot listen on 127.0.0.1" in said
    assert "Choose another with --port" in said


def test_an_address_that_is_not_ours(run: Run) -> None:
    said = run("serve", "--host", "192.0.2.1", "--public", code=3).stderr
    assert "cannot listen on 192.0.2.1" in said


def test_no_such_campaign(run: Run) -> None:
    assert run("serve", "nothing", code=3).stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("options", "address"),
    [
        (["--host", "localhost"], r"http://localhost:\d+/\?token=[A-Za-z0-9_-]{32}"),
        (
            ["--name", "rate.example.org", "--https", "--token", "a-token-of-16-ch"],
            r"https://rate\.example\.org/\?token=a-token-of-16-ch",
        ),
        (
            ["--host", "127.0.0.2", "--public", "--name", "rate.example.org"],
            r"http://rate\.example\.org:\d+/\?token=[A-Za-z0-9_-]{32}",
        ),
    ],
)
def test_the_address_that_is_printed(
    run: Run, monkeypatch: pytest.MonkeyPatch, options: list[str], address: str
) -> None:
    """It is printed once somebody can come: the socket listens already."""
    heard: list[tuple[str, int]] = []

    def serve(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        with socket.create_connection(sockets[0].getsockname(), timeout=PATIENCE) as visitor:
            heard.append(visitor.getpeername())

    monkeypatch.delenv("FEWGOLD_TOKEN", raising=False)
    monkeypatch.setattr(uvicorn.Server, "run", serve)
    assert re.fullmatch(address, run("serve", "-q", *options).stdout.strip())
    assert len(heard) == 1


def test_a_visit_and_an_interrupt() -> None:
    """Ctrl-C ends it without a word."""
    clean = {k: v for k, v in os.environ.items() if k != "FEWGOLD_TOKEN"}
    with subprocess.Popen(
        [sys.executable, "-m", "fewgold", "serve", "-q"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            printed = process.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[A-Za-z0-9_-]{32}", printed)
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(printed.partition("?")[0], timeout=PATIENCE) as answer:
                assert answer.status == 200
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert "Traceback" not in said
    assert process.returncode == 130
