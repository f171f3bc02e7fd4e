"""Raters on pages: links, answers that are stored once, undo, skip, and what is left."""

from __future__ import annotations

import math

import pytest

from fewgold.campaign import Campaign
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating


def give(campaign: Campaign, rater: str, score: float, form: str, key: str = "") -> str:
    """Answer the next segment, or a certain one; its key."""
    if not key:
        segment = campaign.next(rater)
        assert segment is not None
        key = segment.key
    assert campaign.desk.rate(Rating(key, score, rater, answer=form)).new
    return key


def scores(campaign: Campaign) -> list[float]:
    return [float(s) for s in campaign.answers()["score"]]


def test_links_name_raters_until_they_are_removed(campaign: Campaign) -> None:
    ann, bob = campaign.desk.add_rater(" Ann "), campaign.desk.add_rater("Bob")
    assert campaign.desk.links() == {"Ann": ann, "Bob": bob} and len(ann) >= 20
    assert campaign.desk.rater_of(ann) == "Ann" and campaign.desk.rater_of("no" * 10) is None
    with pytest.raises(FewgoldError, match="there is already a rater 'Ann'"):
        campaign.desk.add_rater("Ann")
    for bad in ("", "  ", "a\nb", "\u202eevil", "x" * 81):
        with pytest.raises(FewgoldError, match="1 to 80 printable characters"):
            campaign.desk.add_rater(bad)
    campaign.desk.remove_rater("Ann")
    assert campaign.desk.rater_of(ann) is None
    with pytest.raises(FewgoldError, match="there is no rater 'Ann'"):
        campaign.desk.remove_rater("Ann")


def test_a_form_is_stored_once_however_often_it_comes(campaign: Campaign) -> None:
    campaign.select(10)
    key = give(campaign, "ann", 60, "form-1")
    for score in (60.0, 70.0):
        kept = campaign.desk.rate(Rating(key, score, "ann", "later", answer="form-1"))
        assert (kept.new, kept.score, kept.withdrawn) == (False, 60.0, False)
    assert scores(campaign) == [60.0]
    # Forms of different people may have the same name, and a second form is a second answer.
    assert campaign.desk.rate(Rating(key, 70, "bob", answer="form-1")).new
    assert campaign.desk.rate(Rating(key, 80, "ann", answer="form-2")).new
    assert scores(campaign) == [60.0, 70.0, 80.0]


def test_a_form_taken_back_does_not_return_by_being_sent_again(campaign: Campaign) -> None:
    campaign.select(10)
    key = give(campaign, "ann", 60, "form-1")
    assert campaign.desk.withdraw("ann") == key
    kept = campaign.desk.rate(Rating(key, 60, "ann", answer="form-1"))
    assert (kept.new, kept.withdrawn) == (False, True)
    assert scores(campaign) == []


def test_what_the_rater_saw_counts_though_it_was_not_theirs(campaign: Campaign) -> None:
    campaign.select(10)
    key = give(campaign, "ann", 60, "form-1")
    assert campaign.desk.rate(Rating(key, 40, "bob", answer="form-9")).new  # not handed to bob
    drawn = set(campaign.sample.indices.tolist())
    out = next(p for p in range(60) if p not in drawn)
    from fewgold.formats import key as key_of

    other = key_of(out, str(campaign.pool.ids[out]), campaign.pool.fingerprint)
    wrong = key[:-1] + ("a" if key[-1] != "a" else "b")
    for bad in (other, wrong, "", "fg-1-aaaaaa", "fg-" + "9" * 5000 + "-aaaaaa", "000"):
        with pytest.raises(DataError, match="was not sampled in this campaign"):
            campaign.desk.rate(Rating(bad, 40, "bob", answer="form-10"))
    for score in (-1.0, 101.0, math.nan, math.inf):
        with pytest.raises(DataError, match="outside 0 to 100"):
            campaign.desk.rate(Rating(key, score, "bob", answer="form-11"))
    with pytest.raises(FewgoldError, match="needs a rater"):
        campaign.desk.rate(Rating(key, 5, "", answer="form-12"))
    assert scores(campaign) == [60.0, 40.0]


def test_undo_goes_back_one_by_one_and_names_what_it_takes(campaign: Campaign) -> None:
    campaign.select(10)
    first = give(campaign, "ann", 60, "form-1")
    second = give(campaign, "ann", 70, "form-2")
    give(campaign, "bob", 5, "form-3")
    assert campaign.desk.last("ann") == ("answer", "form-2")
    assert campaign.desk.withdraw("ann", "form-1") is None  # not the last one
    assert campaign.desk.withdraw("ann", "form-2") == second
    assert campaign.desk.withdraw("ann", "form-2") == second  # pressed twice
    assert sorted(scores(campaign)) == [5.0, 60.0]
    again = campaign.next("ann")
    assert again is not None and again.key == second
    old = campaign.desk.taken_back("ann", second)
    assert old is not None and (old.score, old.answer) == (70.0, "form-2")
    assert campaign.desk.taken_back("bob", second) is None
    give(campaign, "ann", 71, "form-4", second)
    assert campaign.desk.taken_back("ann", second) is None
    assert campaign.desk.withdraw("ann") == second
    assert campaign.desk.withdraw("ann") == first
    assert campaign.desk.withdraw("ann") is None and campaign.desk.last("ann") is None
    assert scores(campaign) == [5.0]
    kept = campaign.store.database.execute("SELECT score FROM withdrawn ORDER BY number").fetchall()
    assert kept == [(60.0,), (70.0,), (71.0,)]  # nothing is thrown away


def test_undo_leaves_imported_answers_alone(campaign: Campaign) -> None:
    wave = campaign.select(10)
    campaign.add([Rating(wave.ids[0], 30, "ann")], "file")
    assert campaign.desk.last("ann") is None and campaign.desk.withdraw("ann") is None
    assert scores(campaign) == [30.0]


def test_skipped_segments_come_back_on_request(campaign: Campaign) -> None:
    campaign.select(3)
    seen = []
    for _ in range(3):
        segment = campaign.next("ann")
        assert segment is not None
        seen.append(segment.key)
        campaign.desk.skip(segment.key, "ann")
        campaign.desk.skip(segment.key, "ann")  # pressed twice
    assert len(set(seen)) == 3 and campaign.next("ann") is None
    assert campaign.desk.skipped("ann") == 3 and campaign.desk.left("ann") == (3, 0)
    assert campaign.desk.left("bob") == (0, 3)
    assert campaign.desk.last("ann") == ("skip", seen[-1])
    campaign.desk.unskip("ann", seen[-1])
    back = campaign.next("ann")
    assert back is not None and back.key == seen[-1] and campaign.desk.skipped("ann") == 2
    give(campaign, "ann", 9, "form-1", seen[0])  # rated after all
    assert campaign.desk.skipped("ann") == 1
    campaign.desk.unskip("ann")
    assert campaign.desk.skipped("ann") == 0 and campaign.desk.left("ann") == (0, 2)
    with pytest.raises(DataError, match="was not sampled"):
        campaign.desk.skip("nothing", "ann")


def test_progress_counts_wanted_answers_only(campaign: Campaign) -> None:
    campaign.select(4)
    campaign.change(each=2)
    key = give(campaign, "ann", 1, "form-1")
    for rater in ("bob", "eve"):  # one more than wanted
        give(campaign, rater, 1, "form-1", key)
    give(campaign, "ann", 1, "form-2", key)  # a second thought
    found = campaign.desk.progress("ann")
    assert (found.own, found.all, found.wanted) == (1, 2, 8)
    assert campaign.desk.left("zoe") == (0, 3)
    other = give(campaign, "ann", 1, "form-3")
    give(campaign, "ann", 2, "form-4", other)  # one rater of the two wanted
    assert campaign.desk.progress("ann").all == 3


def test_the_last_act_is_known_when_answers_and_skips_alternate(campaign: Campaign) -> None:
    campaign.select(5)
    segment = campaign.next("ann")
    assert segment is not None
    campaign.desk.skip(segment.key, "ann")
    campaign.store.database.execute("UPDATE skips SET at = '2020-01-01T00:00:00.000Z'")
    give(campaign, "ann", 50, "form-1")
    assert campaign.desk.last("ann") == ("answer", "form-1")
    campaign.desk.withdraw("ann", "form-1")
    assert campaign.desk.last("ann") == ("skip", segment.key)


def test_a_campaign_has_a_store_and_a_desk_and_is_neither(campaign: Campaign) -> None:
    assert not isinstance(campaign, type(campaign.store) | type(campaign.desk))
    assert campaign.desk.store is campaign.store and not hasattr(campaign, "add_rater")
