"""Raters in a real browser: by keyboard alone, through a crash, two at once, without JavaScript."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewgold.campaign import Campaign
from web.e2e import live

Visit = Callable[..., Any]


def stored(path: Path) -> list[tuple[str, str, float]]:
    with Campaign(path) as campaign:
        return [(r.rater, r.segment, r.score) for r in campaign.store.rated()]


def shown(page: Any) -> str:
    return str(page.get_attribute("#segment", "data-segment"))


def onward(page: Any, before: str) -> str:
    """Wait for the next segment, which is what acknowledges the answer to the one before."""
    page.wait_for_function(
        "(b) => document.querySelector('#segment')?.dataset.segment !== b && "
        "!document.querySelector('#desk[aria-busy=true]') && "
        "document.activeElement !== document.body",
        arg=before,
    )
    return shown(page)


@pytest.mark.parametrize("count", [12, pytest.param(30, marks=pytest.mark.slow)])
def test_many_by_keyboard_through_a_crash(
    visit: Visit, study: tuple[Path, dict[str, str]], count: int
) -> None:
    path, secrets = study
    told: dict[str, float] = {}
    with live.Server(path) as server:
        page = visit(f"{server.origin}/rate/{secrets['ann']}")
        key = shown(page)
        for k in range(count):
            score = (13 * k) % 101
            if k == count // 2:  # the answer is on its way while nobody is there to take it
                visit.troubles.excused = True  # type: ignore[attr-defined]
                server.stop(signal.SIGKILL)
                assert {(s, x) for _, s, x in stored(path)} == set(told.items())
            page.keyboard.type(str(score))
            page.keyboard.press("Enter")
            if k == count // 2:
                page.locator("#offline").wait_for(state="visible")
                assert shown(page) == key
                server.start()  # on the same port; the page sends it again by itself
            following = onward(page, key)
            told[key], key = float(score), following
            assert key not in told
            if k == count // 2:
                page.locator("#offline").wait_for(state="hidden")
                visit.troubles.excused = False  # type: ignore[attr-defined]
        assert page.inner_text("#own") == str(count)
        found = stored(path)
        assert len(found) == count
        assert {(s, x) for _, s, x in found} == set(told.items())
        assert {r for r, _, _ in found} == {"ann"}


def test_undo_skip_and_comment_by_keyboard(
    visit: Visit, study: tuple[Path, dict[str, str]]
) -> None:
    path, secrets = study
    with live.Server(path) as server:
        page = visit(f"{server.origin}/rate/{secrets['ann']}")
        first = shown(page)
        page.keyboard.type("40")
        page.keyboard.press("Enter")
        second = onward(page, first)
        page.keyboard.press("u")
        assert onward(page, second) == first
        assert stored(path) == []
        page.keyboard.press("c")
        page.keyboard.type(f"so so {live.SCRIPT}")
        page.keyboard.press("Escape")
        page.keyboard.type("45")
        page.keyboard.press("Enter")
        onward(page, first)
        assert stored(path) == [("ann", first, 45.0)]
        with Campaign(path) as campaign:
            assert campaign.store.rated()[0].details["comment"] == f"so so {live.SCRIPT}"
        skipped = shown(page)
        page.keyboard.press("s")
        assert onward(page, skipped) not in (skipped, first)
        visit.troubles.excused = True  # type: ignore[attr-defined]
        page.keyboard.type("101")
        page.keyboard.press("Enter")
        page.locator("#trouble").wait_for()
        assert "outside the scale" in page.inner_text("#trouble")
        assert len(stored(path)) == 1


@pytest.mark.slow
def test_two_raters_at_once(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "study"
    secrets = live.campaign(path, "ann", "bob", budget=24, limits=(0, 1))
    told: list[tuple[str, str, float]] = []
    with live.Server(path) as server:
        pages = {name: visit(f"{server.origin}/rate/{s}") for name, s in secrets.items()}
        keys = {name: shown(page) for name, page in pages.items()}
        assert keys["ann"] != keys["bob"]
        for k in range(11):
            for name, page in pages.items():  # both send before either is answered
                page.keyboard.press("y" if (k + (name == "bob")) % 3 else "0")
            for name, page in pages.items():
                told.append((name, keys[name], float(bool((k + (name == "bob")) % 3))))
                page.wait_for_timeout(160)  # the page takes quicker ones for a key that bounces
                keys[name] = onward(page, keys[name])
            assert keys["ann"] != keys["bob"]
    assert sorted(stored(path)) == sorted(told)
    assert len({key for _, key, _ in told}) == 22


@pytest.mark.slow
def test_without_javascript(visit: Visit, study: tuple[Path, dict[str, str]]) -> None:
    path, secrets = study
    with live.Server(path) as server:
        page = visit(f"{server.origin}/rate/{secrets['bob']}", java_script_enabled=False)
        key = page.locator("#segment").get_attribute("data-segment")
        page.fill("#score", "77")
        page.fill("#comment", "fine")
        with page.expect_navigation():
            page.click("#send")
        assert stored(path) == [("bob", key, 77.0)]
        with page.expect_navigation():
            page.locator("#undo").click()
        assert page.locator("#segment").get_attribute("data-segment") == key
        assert page.input_value("#score") == "77"
        assert stored(path) == []
        with page.expect_navigation():
            page.locator("#skip").click()
        assert page.locator("#segment").get_attribute("data-segment") != key
        page.goto(f"{server.origin}/plan/binary")
        before = page.inner_text("[data-testid=headline]")
        page.fill("[name=human]", "2500")
        with page.expect_navigation():
            page.get_by_role("button", name="Show").click()
        assert "human=2500" in page.url
        assert page.inner_text("[data-testid=headline]") != before


@pytest.mark.slow
def test_attacks_do_nothing(visit: Visit, tmp_path: Path) -> None:
    """No dialog opens, no request leaves for elsewhere and the policy is never broken."""
    path = tmp_path / "study"
    secret = live.hostile(path)
    with live.Server(path) as server:
        page = visit(f"{server.origin}/rate/{secret}")
        seen = set()
        for _ in range(6):
            key = shown(page)
            seen |= set(page.locator(".torate .words").all_inner_texts())
            page.keyboard.type("50")
            page.keyboard.press("Enter")
            onward(page, key)
        assert any(re.search("<script|<img|<svg|javascript:", text) for text in seen)
        page.goto(server.owner)
        for where in ("/explore", "/raters", "/replay", "/explore/settings", "/explore/import"):
            assert page.goto(f"{server.origin}{where}").status == 200
            page.wait_for_timeout(100)
            assert page.locator("main script, main img[src=x], main [onerror]").count() == 0
        page.close()
        assert not any("Traceback" in line for line in server.errors)


def test_all_criteria_of_a_segment_by_keyboard(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "several"
    secrets = live.campaign(
        path, "ann", limits=None,
        criteria=["fluency:1-5:higher", "adequacy:0-100:higher", "toxic:0-1:lower"],
    )  # fmt: skip
    with live.Server(path) as server:
        page = visit(f"{server.origin}/rate/{secrets['ann']}")
        first = shown(page)
        for key in ("4", "7", "5", "Enter", "n"):  # one question after the other
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        second = onward(page, first)
        # Going back changes an answer, and what is open keeps Enter from storing.
        for key in ("2", "Enter", "Backspace", "3", "9", "0", "Enter", "Enter", "y", "Enter"):
            page.keyboard.press(key)
        third = onward(page, second)
        with Campaign(path) as campaign:
            assert [dict(r.scores) for r in campaign.store.rated()] == [
                {"fluency": 4, "adequacy": 75, "toxic": 0},
                {"fluency": 3, "adequacy": 90, "toxic": 1},
            ]
        assert third not in (first, second)
        page.keyboard.press("1")
        assert page.is_checked("[data-testid=score-0-1]")
        page.focus("#segment")
        page.keyboard.press("u")
        assert onward(page, third) == second
        assert page.is_checked("[data-testid=score-0-3]")
        assert page.input_value("[data-testid=score-1]") == "90"
