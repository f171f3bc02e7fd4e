"""Everybody can use the pages: axe-core, narrow screens, dark and light, without JavaScript."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import pytest

from sweeps import quick
from web.e2e import live

Visit = Callable[..., Any]
PAGES = [
    "/", "/plan/binary", "/plan/scores", "/overview", "/explore", "/raters", "/work", "/work/queue",
    "/work/practice", "/work/known", "/waves", "/downloads",
    "/replay", "/nothing", "rate",
]  # fmt: skip
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[live.Server, str]]:
    """A campaign with some answers, and the secret of a rater."""
    path = tmp_path_factory.mktemp("served") / "study"
    secret = live.campaign(path, "ann", rated=30)["ann"]
    with live.Server(path) as server:
        yield server, secret


def axe(page: Any) -> list[str]:
    """What axe-core finds that keeps people from using the page."""
    source = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    page.evaluate(source)  # not as an element: the page's policy would refuse it, and should
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{v['impact']}: {v['help']}: {[n['target'] for n in v['nodes']][:3]}"
        for v in found["violations"]
        if v["impact"] in GRAVE
    ]


def wide(page: Any) -> str:
    """The widest thing that makes the page scroll sideways, or nothing."""
    return str(
        page.evaluate(
            """() => {
                const room = document.documentElement.clientWidth;
                if (document.documentElement.scrollWidth <= room) return "";
                const out = [...document.querySelectorAll("body *")].filter(
                    (e) => e.getBoundingClientRect().right > room + 1);
                return out.slice(0, 3).map((e) => e.outerHTML.slice(0, 120)).join(" | ") || "?";
            }"""
        )
    )


@pytest.mark.parametrize("where", quick(PAGES, ["/plan/binary", "/explore", "rate"]))
def test_nothing_keeps_people_out(
    visit: Visit, served: tuple[live.Server, str], where: str
) -> None:
    server, secret = served
    url = f"{server.origin}/rate/{secret}" if where == "rate" else f"{server.origin}{where}"
    page = visit(server.owner, reduced_motion="reduce")
    visit.troubles.excused = where == "/nothing"  # type: ignore[attr-defined]
    for scheme, width in (("light", 1200), ("dark", 360)):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert page.goto(url).status == (404 if where == "/nothing" else 200)
        assert axe(page) == [], (where, scheme)
        assert page.locator("h1").count() == 1
        assert page.locator("html").get_attribute("lang") == "en"
        assert wide(page) == "", (where, width)
        if where == "rate":  # the one page that people use for hours, on anything
            page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
            assert axe(page) == [], (where, "the other scheme")
    page.close()
