"""The owner's pages about raters' work: what they show, and what their buttons do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from fewgold.campaign import Campaign, checks
from fewgold.formats import Rating
from fewgold.pool import Pool
from fewgold.web import create_app
from web.test_annotate import small_pool


def owner(path: Path) -> TestClient:
    app = create_app(path)
    found = TestClient(
        app, base_url="http://127.0.0.1", headers={"Origin": "http://127.0.0.1"}
    )  # fmt: skip
    found.cookies.set(app.state.site.cookie, app.state.site.token)
    return found


def rated(path: Path, **settings: Any) -> Campaign:
    made = Campaign.create(
        path, small_pool(), seed=1, strategy="random+mean", limits=(0, 100), each=2, **settings
    )
    wave = made.select(12)
    for k, id in enumerate(wave.ids[:10]):
        made.add([Rating(id, 40 + k, "ann", details={"seconds": 12.0, "comment": "so-so"})])
        made.add([Rating(id, 41 + k if k else 90, "bob", details={"seconds": 20.0})])
    return made


def test_raters_work_is_shown_and_held_items_are_handed_on(tmp_path: Path) -> None:
    with rated(tmp_path / "a") as made:
        made.desk.claim("ann")
        made.desk.claim("bob")
        pages = owner(made.path)
        text = pages.get("/work").text
        assert re.findall(r'data-testid="answers">(\d+)<', text) == ["10", "10"]
        assert "12 s" in text and "16 s (median of 20)" in text
        assert "10 items have two or more raters" in text and "% interval" in text
        assert "too narrow" in text  # of ten shared items
        assert "fewgold work" in text and "Give all of them" in text
        assert pages.post("/work/hand-on", data={"rater": "ann"}).status_code == 200
        assert [h.rater for h in made.desk.held()] == ["bob"]
        assert pages.post("/work/hand-on", data={"all": "1"}).status_code == 200
        assert made.desk.held() == []
        for page in ("/overview", "/raters"):
            assert 'href="/work"' in pages.get(page).text
        assert TestClient(create_app(made.path), base_url="http://127.0.0.1").get(
            "/work"
        ).status_code == 403  # fmt: skip


def test_how_raters_work_is_changed(tmp_path: Path) -> None:
    with rated(tmp_path / "a") as made:
        pages = owner(made.path)
        good = {"check_every": "20", "second": "0.2", "hold": "5", "practice": "3"}
        assert pages.post("/work", data=good).status_code == 200
        made.store.reload()
        now = made.settings
        assert (now.check_every, now.second, now.hold, now.practice) == (20, 0.2, 300, 3)
        for wrong in ({"second": "2"}, {"practice": "21"}, {"check_every": "1"}, {"hold": "x"}):
            answer = pages.post("/work", data=good | wrong)
            assert answer.status_code == 400 and "Expected" in answer.text, wrong
        made.store.reload()
        assert made.settings == now


def test_an_owner_settles_what_raters_differ_about(tmp_path: Path) -> None:
    with rated(tmp_path / "a") as made:
        pages = owner(made.path)
        assert "Raters differ by at least" in pages.get("/work/queue").text
        rule = {"differ": "20", "adjudication": "replaces"}
        assert pages.post("/work/queue/rule", data={**rule, "differ": "no"}).status_code == 400
        text = pages.post("/work/queue/rule", data=rule).text
        assert "1 item to settle, 0 settled" in text and "differ by 50" in text
        assert "output" in text and "so-so" in text and ">90<" in text
        assert "megasystem" not in text and "othersystem" not in text
        assert "Settle where raters differ" not in pages.get("/overview").text  # two are unrated
        found = re.search(r'name="segment" value="([^"]+)"', text)
        assert found is not None
        form = {"segment": found[1], "score": "500", "by": "cleo", "comment": "why"}
        wrong = pages.post("/work/queue", data=form)
        assert wrong.status_code == 400 and "outside the scale" in wrong.text
        assert pages.post("/work/queue", data=form | {"score": "60", "by": ""}).status_code == 400
        text = pages.post("/work/queue", data=form | {"score": "60"}).text
        assert "0 items to settle, 1 settled" in text
        assert list(made.store.settled().values()) == [60]
        assert len(made.answers()) == 20  # those of the raters stay


def test_a_pair_is_settled_by_the_side_on_which_it_is_shown(tmp_path: Path) -> None:
    pool = Pool(
        ids=np.array([str(k) for k in range(30)]),
        texts={"a": np.array([f"AA{k}." for k in range(30)]),
               "b": np.array([f"BB{k}." for k in range(30)])},
    )  # fmt: skip
    with Campaign.create(
        tmp_path / "a", pool, seed=2, strategy="random+mean", sides=("a", "b"), each=2
    ) as made:
        wave = made.select(8)
        for id in wave.ids:
            made.add([Rating(id, 1, "ann"), Rating(id, -1, "bob")])
        made.change(differ=1.0)
        pages = owner(made.path)
        seen = set()
        for _ in wave.ids:
            text = pages.get("/work/queue").text
            found = re.search(r'name="segment" value="([^"]+)"', text)
            assert found is not None
            place = made.desk.place_of(found[1])
            first = text.index(f"AA{place}.") < text.index(f"BB{place}.")
            table = text[text.index(f"AA{place}.") :]
            ann = re.search(r"ann</th><td>(\w+) is better", table)
            assert ann is not None and ann[1] == ("left" if first else "right")
            pages.post("/work/queue", data={"segment": found[1], "score": "left", "by": "cleo"})
            assert made.store.settled()[str(pool.ids[place])] == (1 if first else -1)
            seen.add(first)
        assert seen == {True, False}


def test_practice_items_are_named_on_a_page(tmp_path: Path) -> None:
    with rated(tmp_path / "a", practice=2) as made:
        pages = owner(made.path)
        drawn = set(made.store.drawn().tolist())
        free = next(str(made.pool.ids[p]) for p in range(48) if p not in drawn)
        form = {"id": free, "answer-0": "70", "explanation": "Because <i>."}
        text = pages.post("/work/practice", data=form).text
        assert free in text and ">70<" in text and "Because &lt;i&gt;." in text
        taken = str(made.pool.ids[min(drawn)])
        wrong = pages.post("/work/practice", data=form | {"id": taken})
        assert wrong.status_code == 400 and "is in the sample" in wrong.text
        wrong = pages.post("/work/practice", data=form | {"answer-0": "good"})
        assert wrong.status_code == 400 and "must be a number" in wrong.text
        text = pages.post("/work/practice/drop", data={"id": free}).text
        assert ">70<" not in text


def test_known_answers_are_set_on_a_page(tmp_path: Path) -> None:
    with rated(tmp_path / "a", check_every=2) as made:
        pages = owner(made.path)
        drawn = set(made.store.drawn().tolist())
        free, other = [str(made.pool.ids[p]) for p in range(48) if p not in drawn][:2]
        assert "/work/known" in pages.get("/work").text
        text = pages.post("/work/known", data={"id": free, "low": "70", "high": "80,5"}).text
        assert f">{free}<" in text and "70 to 80.5" in text
        text = pages.post("/work/known", data={"id": other, "low": "0"}).text
        assert checks.known(made.store) == {free: (70.0, 80.5), other: (0.0, 0.0)}
        for wrong, told in (
            ({"id": "nobody", "low": "70"}, "has no segment"),
            ({"id": free, "low": "101"}, "must be on the scale"),
            ({"id": free, "low": "80", "high": "70"}, "must be on the scale"),
            ({"id": free, "low": "good"}, "must be a number"),
            ({"id": free}, "must be a number"),
        ):
            page = pages.post("/work/known", data=wrong)
            assert page.status_code == 400 and told in page.text
        given = {made.next(f"rater {k}").id for k in range(2)}  # type: ignore[union-attr]
        assert not given & {free, other}  # checks come between answers
        text = pages.post("/work/known/drop", data={"id": other}).text
        assert "70 to 80.5" in text and list(checks.known(made.store)) == [free]
