"""The owner's overview: what comes next at each stage, and what a further wave would bring."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from campaign.test_systems import begun, rate
from fewgold.campaign import Campaign
from fewgold.formats import Rating
from fewgold.web import create_app
from fewgold.web.forms import named
from fewgold.web.overview import widths
from web.e2e import live

Client = Callable[..., TestClient]


def test_each_stage_says_what_comes_next(client: Client, tmp_path: Path) -> None:
    pool, human = live.small_pool()
    path = tmp_path / "my study"
    with Campaign.create(path, pool, seed=3, limits=(0, 100), tolerance=0.5) as made:
        owner = client(owner=True, app=create_app(path, token=live.TOKEN))

        def shown() -> str:
            found = re.search(r"Next: ([^<]*)", owner.get("/overview").text)
            assert found is not None
            return html.unescape(found[1])

        assert shown() == "choose what to rate"
        made.select(40)
        assert shown() == "invite people to rate"
        made.desk.add_rater("ann")
        assert shown() == "have the segments rated"
        for _ in range(40):
            given = made.next("ann")
            assert given is not None
            made.add([Rating(given.id, human[given.id], "ann")])
        assert shown() == "add a wave"
        goal = made.status().goal
        assert goal is not None
        page = owner.get("/waves", params={"count": goal["more"]}).text
        assert f'value="{goal["more"]}"' in page
        assert f"{named(path)} --more {goal['more']}" in html.unescape(page)
        made.change(tolerance=20.0)
        assert shown() == "download the result"
        made.change(each=2)
        assert shown() == "have segments rated by more people"


def test_it_follows_by_itself_and_only_when_something_changed(
    client: Client, tmp_path: Path
) -> None:
    live.campaign(tmp_path / "study", "ann", rated=30)
    owner = client(owner=True, app=create_app(tmp_path / "study", token=live.TOKEN))
    seen = re.search(r'id="seen" name="seen" value="(\w+)"', owner.get("/overview").text)
    assert seen is not None
    assert owner.get("/overview/state", params={"seen": seen[1]}).status_code == 204
    assert owner.get("/overview/state", params={"seen": "x"}).status_code == 200


@pytest.mark.parametrize("rated", [0, 1, 30])
def test_pages_of_the_owner_at_any_time(client: Client, tmp_path: Path, rated: int) -> None:
    live.campaign(tmp_path / "study", rated=rated)
    owner = client(owner=True, app=create_app(tmp_path / "study", token=live.TOKEN))
    for page in ("/overview", "/waves", "/downloads"):
        answer = owner.get(page)
        assert answer.status_code == 200
        assert "nan" not in re.sub(r"<[^>]*>", " ", answer.text).lower().split()
    # Every link of the page of downloads leads to a file.
    text = owner.get("/downloads").text
    for link in re.findall(r'href="(/explore/[^"]*)" download', text):
        assert owner.get(link).status_code == 200, link


def test_every_link_leads_somewhere(client: Client, tmp_path: Path) -> None:
    """Pages of a campaign of several systems, and those of each of its systems."""
    place = tmp_path / "study"
    with begun(tmp_path, limits=(0, 100), labels={"month": np.arange(240) // 3 % 2}) as made:
        rate(made, made.select(20).ids, "ann")
    owner = client(owner=True, app=create_app(place, token=live.TOKEN))
    seen, waiting = set(), ["/overview"]
    while waiting:
        path = waiting.pop()
        page = owner.get(path)
        assert page.status_code == 200, path
        found = re.findall(r'<a [^>]*?href="(/[^"#]*)"', page.text)
        named = {html.unescape(link) for link in found} - seen
        own = {n for n in named if not re.search(r"\.\w+(\?|$)|^/(plan|replay)|/of/[1-9]", n)}
        seen |= own
        waiting += sorted(own)
    assert {"/compare", "/work/queue", "/of/0/explore", "/of/0/explore/time"} <= seen
    followed = owner.get("/of/0/explore/time", params={"batch": "month"})
    assert "fewgold monitor" in followed.text and "--system alpha" in followed.text


def test_widths_are_those_of_the_goal() -> None:
    """The curve reaches the tolerance where the status says that it does."""
    made = {"low": 10.0, "high": 12.0, "n": 50, "se": 0.5}
    for n, half in widths(made, 50, 400):
        assert half == pytest.approx(math.sqrt((1 / n - 1 / 400) / (1 / 50 - 1 / 400)))
    assert widths(made, 50, 400)[0] == (50, pytest.approx(1.0))
    assert widths(made | {"n": 400}, 400, 400) == []
    assert widths(made | {"low": None}, 50, 400) == []
    assert widths(made | {"se": 0.0}, 50, 400) == []
