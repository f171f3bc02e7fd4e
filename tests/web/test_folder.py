"""A folder of campaigns: pages of each under its own address, and links that do not tell which."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from fewgold.campaign import Campaign
from fewgold.web import create_app
from web.e2e import live

Client = Callable[..., TestClient]
NAME = "our system & theirs"


@pytest.fixture
def folder(tmp_path: Path) -> tuple[FastAPI, dict[str, str]]:
    """Two campaigns, one of them a file, beside other things; the raters' secrets by campaign."""
    first = live.campaign(tmp_path / NAME, "ann", rated=30)["ann"]
    second = live.campaign(tmp_path / "second.fewgold", "ann")["ann"]
    (tmp_path / "nothing").mkdir()
    (tmp_path / "table.csv").write_text("id,score\n")
    (tmp_path / "broken.fewgold").write_text("nothing of ours")
    return create_app(folder=tmp_path, token=live.TOKEN), {NAME: first, "second": second}


def test_the_owner_sees_all_of_them(client: Client, folder: tuple[FastAPI, dict[str, str]]) -> None:
    owner, stranger = client(owner=True, app=folder[0]), client(app=folder[0])
    text = owner.get("/").text
    assert f'href="/c/{quote(NAME)}/' in text
    assert "30 of 60" in text
    assert "0 of 60" in text
    assert "not a campaign" in text  # the broken one
    assert "second" not in stranger.get("/").text
    assert stranger.get("/c/second/explore").status_code == 403
    assert owner.get("/c/third/explore").status_code == 404
    assert "no campaign of this name" in owner.get("/c/third/explore").text
    assert owner.get("/c/broken/explore").status_code == 400
    for outside in ("..", "%2e%2e", "..%2Fsecond", "second.fewgold", "nothing"):
        assert owner.get(f"/c/{outside}/explore").status_code == 404
    assert owner.get("/explore").status_code == 404


def test_links_and_redirects_stay_with_their_campaign(
    client: Client, folder: tuple[FastAPI, dict[str, str]], tmp_path: Path
) -> None:
    owner, root = client(owner=True, app=folder[0]), f"/c/{quote(NAME)}"
    for page in (
        "/explore",
        "/raters",
        "/explore/import",
        "/explore/settings",
        "/explore/metric/0",
    ):
        text = owner.get(f"{root}{page}").text
        for link in re.findall(r'(?:href|action|src|hx-get|hx-post)="(/[^"]*)"', text):
            own = link.startswith((f"{root}/", "/plan/", "/replay", "/static/")) or link == "/"
            assert own, (page, link)
    sent = owner.post(f"{root}/waves", data={"count": "10", "waves": "1"}, follow_redirects=False)
    assert sent.headers["location"] == f"{root}/waves"
    with Campaign(tmp_path / NAME) as one, Campaign(tmp_path / "second.fewgold") as other:
        assert [w.n for w in one.waves] == [60, 10]
        assert [w.n for w in other.waves] == [60]


def test_the_secret_of_a_rater_finds_the_campaign_and_does_not_tell_its_name(
    client: Client, folder: tuple[FastAPI, dict[str, str]], tmp_path: Path
) -> None:
    app, secrets = folder
    owner, rater = client(owner=True, app=app), client(app=app)
    links = re.findall(r'value="(http[^"]*)"', owner.get(f"/c/{quote(NAME)}/raters").text)
    assert links == [f"http://127.0.0.1/rate/{secrets[NAME]}"]
    page = rater.get(f"/rate/{secrets['second']}")
    assert page.status_code == 200
    assert "second" not in page.text
    sent = dict(re.findall(r'name="(segment|form|since)" value="([^"]*)"', page.text))
    answer = rater.post(
        f"/rate/{secrets['second']}", data={**sent, "score": "70"}, follow_redirects=False
    )
    assert answer.headers["location"] == f"/rate/{secrets['second']}"
    with Campaign(tmp_path / NAME) as one, Campaign(tmp_path / "second.fewgold") as other:
        assert len(one.answers()) == 30
        assert len(other.answers()) == 1
        other.desk.remove_rater("ann")
    for secret in (secrets["second"], "made-up"):
        lost = rater.get(f"/rate/{secret}")
        assert lost.status_code == 404
        assert "does not work" in lost.text
