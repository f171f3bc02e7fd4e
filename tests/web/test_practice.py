"""Practice: a new rater sees it first, it is marked, and nothing of it is ever counted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from fewgold.campaign import Campaign
from fewgold.campaign.practice import PracticeItem, given, items
from fewgold.errors import DataError, FewgoldError
from fewgold.pool import Pool
from fewgold.web import create_app
from web.test_annotate import HTMX, Rater, small_pool


def begun(path: Path, pool: Pool | None = None, count: int = 10, **settings: Any) -> Campaign:
    made = Campaign.create(
        path, small_pool() if pool is None else pool, seed=1,
        **{"strategy": "random+mean", "practice": 3, **settings},
    )  # fmt: skip
    made.select(count)
    return made


def seat(made: Campaign, name: str = "ann") -> Rater:
    token = made.desk.add_rater(name)
    return Rater(TestClient(create_app(made.path), base_url="http://127.0.0.1"), token)


def marked(rater: Rater) -> str:
    found = re.search(r"Practice (\d of \d)", rater.text)
    return found[1] if found else ""


def test_practice_comes_first_and_is_never_counted(tmp_path: Path) -> None:
    with begun(tmp_path / "a", limits=(0, 100)) as made:
        ann = seat(made)
        shown, drawn = [], {made.desk.key_at(int(p)) for p in made.store.drawn()}
        for k in range(3):
            ann.look()
            assert marked(ann) == f"{k + 1} of 3" and "does not count" in ann.text
            assert 'action="/rate/' in ann.text and "/practice" in ann.text
            shown.append(ann.form["segment"])
            assert ann.look().form["segment"] == shown[-1]  # until it is answered
            assert ann.post("/practice", **{**ann.form, "score": "50"}).status == 200
        assert len(set(shown)) == 3 and not set(shown) & drawn
        ann.look()
        assert not marked(ann) and "Practice is over" in ann.text
        assert ann.form["segment"] in drawn
        assert made.answers().empty and given(made.store) == {"ann": 3}
        assert made.desk.progress("ann").own == 0 and made.desk.last("ann") is None
        ann.rate("70")
        assert len(made.answers()) == 1 and "Practice" not in ann.look().text
        made.desk.remove_rater("ann")  # whoever comes back does not practise again
        assert not marked(seat(made).look())


def test_an_answer_to_practice_cannot_slip_into_the_ratings(tmp_path: Path) -> None:
    with begun(tmp_path / "a", limits=(0, 100)) as made:
        ann = seat(made)
        ann.look()
        form = ann.form
        assert ann.post("", **{**form, "score": "50"}).status == 400
        assert made.answers().empty
        assert ann.post("/practice", **{**form, "score": "500"}).status == 400
        assert "outside the scale" in ann.text and marked(ann) == "1 of 3"
        ann.post("/practice", **{**form, "score": "50"})
        ann.post("/practice", **{**form, "score": "60"})  # sent twice: the first one stays
        assert given(made.store) == {"ann": 1}
        bob = seat(made, "bob")
        bob.look()
        assert bob.post("/practice", **{**bob.form, "skip": "1"}).status == 200
        assert marked(bob.look()) == "2 of 3" and given(made.store) == {"ann": 1}


def test_what_is_right_is_shown_after_rating(tmp_path: Path) -> None:
    with begun(tmp_path / "a", limits=(0, 100)) as made:
        drawn = set(made.store.drawn().tolist())
        free = [str(made.pool.ids[p]) for p in range(48) if p not in drawn]
        taken = str(made.pool.ids[min(drawn)])
        told = PracticeItem(free[5], {"": 80.0}, "A *good* one <b>.")
        assert made.practise_on([told, PracticeItem(free[2])]) == 2
        assert [i.segment for i in items(made.store)] == [free[5], free[2]]
        for wrong, why in (
            (PracticeItem(taken), "is in the sample"),
            (PracticeItem("none"), "no segment"),
            (PracticeItem(free[1], {"": 101.0}), "outside 0 to 100"),
            (PracticeItem(free[1], {"fluency": 1.0}), "no criteria"),
        ):
            with pytest.raises((DataError, FewgoldError), match=why):
                made.practise_on([wrong])
        for headers in (None, HTMX):
            ann = seat(made, "ann" if headers is None else "bob")
            ann.headers = headers or ann.headers
            ann.look()
            assert ann.form["segment"] == made.desk.key_at(list(made.pool.ids).index(free[5]))
            unseen = re.sub(r'value="[\d.]+"', "", ann.text)  # such as the time of asking
            assert "80" not in unseen and "good" not in ann.text.split("</style>")[-1]
            ann.post("/practice", **{**ann.form, "score": "55"})
            assert 'data-testid="given">55<' in ann.text
            assert 'data-testid="known">80<' in ann.text
            assert "<em>good</em> one &lt;b&gt;" in ann.text
            assert marked(ann.look()) == "2 of 3"
        assert made.answers().empty


def test_a_rater_who_began_before_does_not_practise(tmp_path: Path) -> None:
    with begun(tmp_path / "a", limits=(0, 100), practice=0) as made:
        ann = seat(made)
        ann.look()
        ann.rate("50")
        made.change(practice=2)
        assert not marked(ann.look())
        assert marked(seat(made, "bob").look()) == "1 of 2"
        with pytest.raises(FewgoldError, match="from 0 to 20; got 21"):
            made.change(practice=21)


def test_where_every_segment_was_drawn_there_is_nothing_to_practise_on(tmp_path: Path) -> None:
    with begun(tmp_path / "a", count=48, limits=(0, 100)) as made:
        assert not marked(seat(made).look())
    with begun(tmp_path / "b", count=47, limits=(0, 100)) as made:
        assert marked(seat(made).look()) == "1 of 1"


def test_practice_of_several_criteria(tmp_path: Path) -> None:
    with begun(tmp_path / "a", criteria=("fluency:1-5", "adequacy:0-100:higher")) as made:
        drawn = set(made.store.drawn().tolist())
        free = next(str(made.pool.ids[p]) for p in range(48) if p not in drawn)
        made.practise_on([PracticeItem(free, {"adequacy": 90.0, "fluency": 4.0}, "See.")])
        ann = seat(made)
        ann.look()
        scores = {"score-0": "2", "score-1": "40"}
        ann.post("/practice", **{**ann.form, **scores})
        assert "fluency 2, adequacy 40" in ann.text and "adequacy 90, fluency 4" in ann.text
        assert made.answers().empty


def test_practice_of_several_systems_and_of_pairs(tmp_path: Path) -> None:
    texts = np.array([f"out {s} {k}" for s in "xy" for k in range(20)])
    pool = Pool(
        ids=np.array([f"{s}:{k}" for s in "xy" for k in range(20)]),
        system=np.repeat(["x", "y"], 20), texts={"output": texts},
    )  # fmt: skip
    segments = [str(k) for _ in "xy" for k in range(20)]
    with begun(tmp_path / "a", pool, 5, segments=segments, limits=(0, 100)) as made:
        ann = seat(made)
        drawn = set(made.store.drawn().tolist())
        for _ in range(3):
            place = made.desk._find(ann.look().form["segment"])
            assert marked(ann) and place not in drawn
            ann.post("/practice", **{**ann.form, "score": "50"})
        assert not marked(ann.look()) and made.answers().empty
    two = Pool(
        ids=np.array([str(k) for k in range(20)]),
        texts={"a": np.array([f"AA{k}" for k in range(20)]),
               "b": np.array([f"BB{k}" for k in range(20)])},
    )  # fmt: skip
    with begun(tmp_path / "b", two, 5, sides=("a", "b")) as made:
        drawn = set(made.store.drawn().tolist())
        free = next(p for p in range(20) if p not in drawn)
        made.practise_on([PracticeItem(str(free), {"": 1.0})])
        for name in ("ann", "bob", "cleo", "dan"):
            rater = seat(made, name)
            rater.look()
            left = rater.text.index(f"AA{free}<") < rater.text.index(f"BB{free}<")
            rater.post("/practice", **{**rater.form, "press": "left"})
            known = re.search(r'data-testid="known">(\w+)<', rater.text)
            assert known is not None and known[1] == ("left" if left else "right")
            assert 'data-testid="given">left<' in rater.text
        assert made.answers().empty
