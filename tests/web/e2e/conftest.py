"""A real browser, and people in front of it whom nothing bad may happen to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from waiting import PATIENCE
from web.e2e import live


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium of the system; one for each module, since its loop would disturb other tests."""
    found = live.chromium()
    if found is None:
        pytest.skip("there is no Chromium here (Debian: apt install chromium)")
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as play:
        running = play.chromium.launch(executable_path=found, args=live.FLAGS)
        yield running
        running.close()


@dataclass
class Troubles:
    """What must not happen on a page, and did."""

    all: list[str] = field(default_factory=list)
    excused: bool = False  # the console tells of requests that fail, where they are meant to

    def watch(self, page: Any) -> None:
        page.on("dialog", lambda d: (self.all.append(f"dialog {d.message}"), d.dismiss()))
        page.on("pageerror", lambda e: self.all.append(f"error {e}"))
        page.on("console", self.console)
        page.on("request", self.request)

    def console(self, message: Any) -> None:
        if message.type in ("error", "warning") and not self.excused:
            self.all.append(f"console {message.text} {message.location}")

    def request(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme != "data" and parts.hostname != "127.0.0.1":
            self.all.append(f"request {request.url}")


Visit = Callable[..., Any]


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Open a page in a window of its own; afterwards nothing bad may have happened on it."""
    contexts: list[Any] = []
    troubles = Troubles()

    def opened(url: str, *, width: int = 1200, height: int = 900, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page = context.new_page()
        troubles.watch(page)
        page.goto(url)
        return page

    opened.troubles = troubles  # type: ignore[attr-defined]
    yield opened
    for context in contexts:
        context.close()
    assert troubles.all == []
