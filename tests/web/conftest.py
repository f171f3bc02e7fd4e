"""Campaigns to serve, a client of the owner, and a look at what pages are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI
from starlette.testclient import TestClient

from fewgold.web import create_app
from web.e2e import live

Client = Callable[..., TestClient]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[FastAPI, str]:
    """Pages of a campaign in which every text is an attack, and the secret of its rater."""
    path = tmp_path_factory.mktemp("hostile") / "study"
    secret = live.hostile(path)
    return create_app(path, token=live.TOKEN), secret


@pytest.fixture(scope="session")
def loop() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def client(hostile: tuple[FastAPI, str], loop: BlockingPortal) -> Iterator[Client]:
    """Make a client of that server: a stranger, or the owner."""
    made: list[TestClient] = []

    def make(owner: bool = False, app: FastAPI = hostile[0], faults: bool = True) -> TestClient:
        found = TestClient(
            app, base_url="http://127.0.0.1", headers={"Origin": "http://127.0.0.1"},
            raise_server_exceptions=faults,
        )  # fmt: skip
        found.portal = loop  # one event loop for all of them, not one for each request
        made.append(found)
        if owner:
            found.cookies.set(app.state.site.cookie, app.state.site.token)
        return found

    yield make
    for found in made:
        found.close()


@pytest.fixture
def study(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A campaign of 60 segments for ann and bob, and the secrets of their links."""
    path = tmp_path / "study"
    return path, live.campaign(path, "ann", "bob")
