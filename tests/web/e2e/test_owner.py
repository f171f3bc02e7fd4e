"""Somebody who plans, and an owner who watches the number move."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewgold.campaign import Campaign
from fewgold.formats import Rating
from web.e2e import live

Visit = Callable[..., Any]


def test_planning(visit: Visit) -> None:
    """A slider moves, the numbers follow, and the address restores the view."""
    with live.Server() as server:
        page = visit(f"{server.origin}/plan/binary")
        before = page.inner_text("[data-testid=headline]")
        slider = page.locator("input[type=range][data-twin=human]")
        slider.focus()
        for _ in range(12):
            page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "(b) => document.querySelector('[data-testid=headline]').innerText !== b", arg=before
        )
        human = page.input_value("[name=human]")
        page.wait_for_function("(v) => location.search.includes('human=' + v)", arg=human)
        page.wait_for_function(
            "(v) => document.querySelector('#link').value.includes('human=' + v)", arg=human
        )
        moved = page.inner_text("[data-testid=headline]")
        table = page.inner_text("#results-table")
        assert moved != before

        again = visit(page.url)
        assert again.input_value("[name=human]") == human
        assert again.inner_text("[data-testid=headline]") == moved
        assert again.inner_text("#results-table") == table

        page.goto(f"{server.origin}/plan/scores")
        first = page.inner_text("#results")
        page.fill("[name=wanted]", "0.7")
        page.wait_for_function(
            "(b) => document.querySelector('#results').innerText !== b", arg=first
        )
        page.wait_for_function("() => location.search.includes('wanted=0.7')")
        assert visit(page.url).inner_text("#results") == page.inner_text("#results")


def test_the_estimate_moves_while_answers_come(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "study"
    live.campaign(path, rated=30, tolerance=5)
    _, human = live.small_pool()
    with live.Server(path) as server:
        page = visit(server.owner)
        page.goto(f"{server.origin}/explore")
        before = page.get_attribute("#value", "value")
        with Campaign(path) as campaign:
            first = campaign.status().estimate
            assert first is not None
            assert float(before) == first["value"]
            for _ in range(10):
                given = campaign.next("late")
                assert given is not None
                campaign.add([Rating(given.id, human[given.id], "late")])
            after = campaign.status().estimate
            assert after is not None
        # Nobody touches the page.
        page.wait_for_function(
            "(b) => document.querySelector('#value').getAttribute('value') !== b",
            arg=before,
        )
        assert float(page.get_attribute("#value", "value")) == after["value"] != float(before)
        assert float(page.get_attribute("#low", "value")) == after["low"]
        assert float(page.get_attribute("#high", "value")) == after["high"]
        page.close()


@pytest.mark.slow
def test_from_a_new_rater_to_the_download(visit: Visit, tmp_path: Path) -> None:
    """The owner adds a rater, whose link works and has no other rights; answers come back."""
    path = tmp_path / "study"
    live.campaign(path, limits=(1, 5), question="Is it fluent?")
    with live.Server(path) as server:
        owner = visit(server.owner)
        assert "token" not in owner.url
        owner.get_by_role("link", name="Raters").first.click()
        owner.fill("#name", "Zoë & <b>Co</b>")
        owner.click("[data-testid=add]")
        link = owner.input_value("[data-testid=link]")
        assert link.startswith(f"{server.origin}/rate/")

        rater = visit(link, width=390, height=800, has_touch=True, is_mobile=True)
        assert rater.inner_text("h1") == "Is it fluent?"
        assert "Zoë & <b>Co</b>" in rater.inner_text("header")
        assert rater.get_by_role("link", name=re.compile("Explore|Raters")).count() == 0
        rater.locator("[data-testid=press-4]").tap()
        rater.wait_for_function("() => document.querySelector('#own').innerText === '1'")
        visit.troubles.excused = True  # type: ignore[attr-defined]
        for closed in ("/explore", "/raters", "/replay", "/explore/status.json"):
            assert rater.goto(f"{server.origin}{closed}").status == 403

        got = owner.context.request.get(f"{server.origin}/explore/table/answers.csv")
        assert got.headers["content-disposition"].startswith("attachment")
        (row,) = csv.DictReader(io.StringIO(got.text().lstrip("\ufeff")))
        assert row["rater"] == "Zoë & <b>Co</b>"
        assert float(row["score"]) == 4
