"""Segments shared out among raters, in another order for each, by documents and without names."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from campaign.test_sides import pairs_pool
from campaign.test_systems import begun, rate
from fewgold import formats
from fewgold.campaign import Campaign, sides
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating
from fewgold.formats.handout import hand_out, hand_out_to

RATERS = ("ann", "bob", "cleo")


@pytest.mark.parametrize("each", [1, 2, 3])
def test_each_segment_goes_to_as_many_raters_as_it_needs(tmp_path: Path, each: int) -> None:
    study = begun(tmp_path, each=each)
    study.select(30)
    found = study.tasks_for(RATERS)
    given = Counter(s.key for own in found.values() for s in own.to_rate)
    assert set(given.values()) == {each}
    assert set(given) == {s.key for s in study.tasks("unrated").to_rate}
    loads = [len(own.to_rate) for own in found.values()]
    biggest = max(Counter(study.pool.documents[study.store.drawn()].tolist()).values())
    assert max(loads) - min(loads) <= biggest
    for rater, own in found.items():
        assert own.raters == (rater,) and own.each == 1  # in a file of their own
        assert own.name == "fewgold" or "study" in own.name


def test_documents_stay_together_and_whole_for_all_systems(tmp_path: Path) -> None:
    study = begun(tmp_path)
    study.select(40)
    whose: dict[str, set[str]] = {}
    for rater, own in study.tasks_for(RATERS).items():
        line = [s.document for s in own.segments]
        assert len([d for d, _ in groupby(line)]) == len(set(line))  # none comes twice
        for _, shown in groupby(own.segments, key=lambda s: s.document):
            positions = [s.position for s in shown]
            assert positions == sorted(positions)
        for place in (study.desk.place_of(s.key) for s in own.to_rate):
            whose.setdefault(str(study.pool.documents[place]), set()).add(rater)
    assert len(whose) > 10
    assert all(len(people) == 1 for people in whose.values())


def test_each_rater_has_an_order_of_their_own_that_stays(tmp_path: Path) -> None:
    study = begun(tmp_path, each=3)
    study.select(40)
    found = study.tasks_for(RATERS)
    lines = {rater: [s.document for s in own.to_rate] for rater, own in found.items()}
    assert all(sorted(line) == sorted(lines["ann"]) for line in lines.values())
    assert len({tuple(line) for line in lines.values()}) == 3
    again = {rater: [s.key for s in own.segments] for rater, own in study.tasks_for(RATERS).items()}
    assert again == {rater: [s.key for s in own.segments] for rater, own in found.items()}
    # By chance alone about half of all pairs of documents are in the same order for two raters.
    first = {rater: list(dict.fromkeys(line)) for rater, line in lines.items()}
    names = first["ann"]
    same = [
        (first["bob"].index(a) < first["bob"].index(b))
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    ]
    assert 0.3 < sum(same) / len(same) < 0.7


def test_whoever_rated_a_segment_does_not_get_it_again(tmp_path: Path) -> None:
    study = begun(tmp_path, each=2)
    study.select(20)
    ids = [str(i) for i in study.pool.ids[study.store.drawn()].tolist()]
    assert rate(study, ids[:30], "ann") == 30
    assert rate(study, ids[:10], "bob") == 10
    found = study.tasks_for(RATERS, "incomplete")
    given = {
        rater: {str(study.pool.ids[study.desk.place_of(s.key)]) for s in own.to_rate}
        for rater, own in found.items()
    }
    assert not given["ann"] & set(ids[:30]) and not given["bob"] & set(ids[:10])
    count = Counter(id for own in given.values() for id in own)
    assert count == Counter(dict.fromkeys(ids[10:30], 1) | dict.fromkeys(ids[30:], 2))


def test_pairs_are_left_and_right_by_the_lot_of_each_rater(tmp_path: Path) -> None:
    study = Campaign.create(
        tmp_path / "s", pairs_pool(), seed=3, strategy="random", sides=("ours", "theirs"), each=4
    )
    study.select(40)
    found = study.tasks_for((*RATERS, "dan"))
    left = {
        rater: {s.texts["source"]: s.texts["left"] for s in own.to_rate}
        for rater, own in found.items()
    }
    # Two raters see a pair the same way round or not, and then all pairs.
    ways = {frozenset(own[k] == left["ann"][k] for k in left["ann"]) for own in left.values()}
    assert ways == {frozenset({True}), frozenset({False})}
    for own in left.values():
        assert sum(text.startswith("first") for text in own.values()) == 20
    # Each says that the first output is better, wherever it stands, and that is what comes back.
    code = {v: k for k, v in sides.CODES.items()}
    for rater, own in found.items():
        for s in own.to_rate:
            side = "left" if s.texts["left"].startswith("first") else "right"
            assert study.add([Rating(s.key, float(code[side]), rater)]).stored == 1
    assert set(study.scores().tolist()) == {1.0}


@pytest.mark.parametrize(
    "to",
    ["csv", "jsonl", "xlsx", "parquet", "label-studio", "argilla", "potato", "appraise", "pearmut"],
)
def test_files_for_each_rater_come_back(tmp_path: Path, to: str) -> None:
    if to in ("xlsx", "parquet"):
        pytest.importorskip({"xlsx": "openpyxl", "parquet": "pyarrow"}[to])
    study = begun(tmp_path)
    study.select(15)
    form = formats.get(to)
    folder = tmp_path / "out"
    folder.mkdir()
    made = hand_out_to(
        form, study.tasks_for(["ann", "bob b.", "bob?b?"]), folder / f"x{form.suffixes[0]}"
    )
    assert sorted(made.files) == sorted(folder.iterdir())
    seconds = {form._beside(p) for p in made.files}
    tasks = [p for p in made.files if p not in seconds and not p.name.endswith(".README.txt")]
    assert len(tasks) == (1 if to == "pearmut" else 3)
    back = [study.import_file(path, to) for path in tasks]
    assert sum(b.blank for b in back) == study.store.drawn().size
    assert not any(b.rejected for b in back)
    shared = to in ("label-studio", "argilla", "potato", "appraise")
    assert any("shows everybody the same order" in note for note in made.notes) == shared


def test_formats_of_published_ratings_have_no_order(tmp_path: Path) -> None:
    study = begun(tmp_path)
    study.select(15)
    for to in ("mqm", "mqm-averages", "mt-metrics-eval", "wmt-da"):
        with pytest.raises(DataError, match="cannot give each rater an order"):
            hand_out_to(formats.get(to), study.tasks_for(["ann"]), tmp_path / "x")


def test_names_of_raters_that_cannot_be(tmp_path: Path) -> None:
    study = begun(tmp_path)
    study.select(15)
    with pytest.raises(FewgoldError, match="is given twice"):
        study.tasks_for(["ann", "ann "])
    with pytest.raises(FewgoldError, match="1 to 80 characters"):
        study.tasks_for(["ann", ""])


def test_files_for_everybody_ask_as_many_raters_as_the_campaign_wants(tmp_path: Path) -> None:
    study = begun(tmp_path, each=3)
    study.select(15)
    told = study.tasks("all")
    assert told.each == 3
    made = hand_out(formats.get("label-studio"), told, tmp_path / "l.json")
    assert any("maximum_annotations" in note for note in made.notes)
    hand_out(formats.get("pearmut"), told, tmp_path / "p.json")
    receipt = study.import_file(tmp_path / "p.json", "pearmut")
    assert receipt.blank == 3 * study.store.drawn().size


def test_files_of_incomplete_segments_ask_as_many_raters_as_are_missing(tmp_path: Path) -> None:
    study = begun(tmp_path, each=3)
    wave = study.select(15)
    rate(study, wave.ids, "ann")
    assert study.tasks("incomplete").each == 2
    rate(study, wave.ids[1:], "bob")
    assert study.tasks("incomplete").each == 2  # of the first
    rate(study, wave.ids[:1], "bob")
    assert study.tasks("incomplete").each == 1
