"""The owner's page of raters: links, counts, what they see, and that the goal is reached."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape
from starlette.testclient import TestClient

from fewgold.campaign import Campaign
from fewgold.formats import Rating
from fewgold.pool import Pool
from fewgold.web import create_app

ORIGIN = {"Origin": "http://127.0.0.1"}


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    rng = np.random.default_rng(3)
    pool = Pool(
        ids=np.array([f"s{i}" for i in range(400)]),
        metrics={"comet": rng.normal(size=400)},
        texts={"output": np.array([f"output {i}" for i in range(400)])},
    )
    return Campaign.create(
        tmp_path / "study", pool, seed=2, limits=(0, 1), tolerance=0.2, strategy="random+mean"
    )


@pytest.fixture
def owner(campaign: Campaign) -> TestClient:
    app = create_app(campaign.path)
    client = TestClient(app, base_url="http://127.0.0.1")
    client.cookies.set(app.state.site.cookie, app.state.site.token)
    return client


def post(client: TestClient, path: str, **fields: Any) -> Any:
    return client.post(path, data=fields, headers=ORIGIN)


def test_raters_are_added_and_removed(campaign: Campaign, owner: TestClient) -> None:
    page = owner.get("/raters")
    assert page.status_code == 200 and "There are no raters yet." in page.text
    assert "No segments have been drawn yet" in page.text
    name = "Zoë <i> & 'co' %2F?"
    page = post(owner, "/raters", name=name)
    assert str(escape(name)) in page.text and "<i>" not in page.text
    (link,) = re.findall(r'value="(http://127\.0\.0\.1/rate/[^"]+)"', page.text)
    assert link.rpartition("/")[2] == campaign.desk.links()[name]
    assert owner.get(link).status_code == 200
    (ask,) = re.findall(r'href="(/raters/remove\?name=[^"]+)"', page.text)
    page = owner.get(html.unescape(ask))
    assert page.status_code == 200 and campaign.desk.links()
    (sent,) = re.findall(r'name="name" value="([^"]+)"', page.text)
    page = post(owner, "/raters/remove", name=html.unescape(sent))
    assert campaign.desk.links() == {} and owner.get(link).status_code == 404


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\nb"])
def test_bad_names_get_a_sentence_beside_the_field(
    campaign: Campaign, owner: TestClient, name: str
) -> None:
    page = post(owner, "/raters", name=name)
    assert page.status_code == 400 and campaign.desk.links() == {}
    assert 'role="alert">A rater needs a name of 1 to 80 printable characters' in page.text


def test_a_name_is_given_once(campaign: Campaign, owner: TestClient) -> None:
    post(owner, "/raters", name="ann")
    page = post(owner, "/raters", name="ann")
    assert page.status_code == 400 and "There is already a rater &#39;ann&#39;" in page.text
    assert 'value="ann"' in page.text and len(campaign.desk.links()) == 1
    assert post(owner, "/raters/remove", name="nobody").status_code == 400
    assert owner.get("/raters/remove?name=nobody").status_code == 400
    unnamed = owner.get("/raters/remove")
    assert unnamed.status_code == 400 and "which rater is to be removed?" in unnamed.text.lower()


def test_what_raters_see_and_how_many_there_are(campaign: Campaign, owner: TestClient) -> None:
    assert " checked" not in owner.get("/raters").text
    page = post(owner, "/raters/settings", shown=["system", "estimate", "nonsense"], each="2")
    assert page.text.count(" checked") == 2 and 'value="2"' in page.text
    with Campaign(campaign.path) as found:
        assert (found.settings.shown, found.settings.each) == (("system", "estimate"), 2)
        journal = len(found.store.journal())
    post(owner, "/raters/settings", shown=["system", "estimate"], each="2")
    with Campaign(campaign.path) as found:
        assert len(found.store.journal()) == journal  # nothing changed, nothing to note
    for bad in ("", "0", "x", "-1", "1.5", "²", "99999"):
        page = post(owner, "/raters/settings", each=bad)
        assert page.status_code == 400 and "Give a whole number from 1 to 999" in page.text
    post(owner, "/raters/settings", each="1")
    with Campaign(campaign.path) as found:
        assert (found.settings.shown, found.settings.each) == ((), 1)


def test_counts_of_raters(campaign: Campaign, owner: TestClient) -> None:
    wave = campaign.select(10)
    campaign.desk.add_rater("ann")
    campaign.add([Rating(i, 1, "ann") for i in wave.ids[:3]])
    campaign.desk.skip(campaign.desk.key_at(int(campaign.sample.indices[4])), "ann")
    page = owner.get("/raters/state").text
    assert 'data-testid="rated">3<' in page and 'data-testid="skipped">1<' in page
    assert "<strong>3</strong> of 10 wanted" in page and "<html" not in page


def test_the_stopping_rule_announces_itself_to_the_owner_alone(
    campaign: Campaign, owner: TestClient
) -> None:
    wave = campaign.select(200)
    token = campaign.desk.add_rater("ann")
    campaign.add([Rating(i, 1, "ann") for i in wave.ids[:2]])
    assert "says that it is enough" not in owner.get("/raters").text
    campaign.add([Rating(i, 1, "ann") for i in wave.ids[2:150]])
    stop = campaign.status().stop
    assert stop is not None and stop["fired"]
    page = owner.get("/raters").text
    assert f"(kelly) fired after {stop['after']} ratings" in page
    assert "enough" not in owner.get(f"/rate/{token}").text
    campaign.add([Rating(i, 1, "ann") for i in wave.ids[150:]])
    assert "Every sampled segment has all its answers" in owner.get("/raters").text


def test_the_goal_announces_itself_where_no_rule_applies(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    pool = Pool(
        ids=np.array([f"s{i}" for i in range(200)]), metrics={"comet": rng.normal(size=200)}
    )
    campaign = Campaign.create(
        tmp_path / "goal", pool, seed=2, tolerance=3.0, strategy="random+mean"
    )
    wave = campaign.select(40)
    app = create_app(campaign.path)
    owner = TestClient(app, base_url="http://127.0.0.1")
    owner.cookies.set(app.state.site.cookie, app.state.site.token)
    campaign.add([Rating(i, float(k % 3), "ann") for k, i in enumerate(wave.ids)])
    goal = campaign.status().goal
    assert goal is not None and goal["more"] == 0
    page = owner.get("/raters").text
    from fewgold.report import number

    assert f"as narrow as wanted: ± {number(goal['half_width'])}, and the goal was ± 3.00" in page
    assert "The pool has no texts, so raters only see ids." in page


def test_strangers_see_nothing(campaign: Campaign) -> None:
    campaign.desk.add_rater("ann")
    client = TestClient(create_app(campaign.path), base_url="http://127.0.0.1")
    page = client.get("/raters")
    assert page.status_code == 403 and campaign.desk.links()["ann"] not in page.text


def test_links_say_https_where_browsers_need_it(campaign: Campaign) -> None:
    app = create_app(campaign.path, secure=True)
    client = TestClient(app, base_url="http://127.0.0.1")
    token = campaign.desk.add_rater("ann")
    page = client.get(
        "/raters", headers={"Cookie": f"{app.state.site.cookie}={app.state.site.token}"}
    )
    assert f"https://127.0.0.1/rate/{token}" in page.text
