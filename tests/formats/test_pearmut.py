"""Pearmut: campaigns that go out, logs that come back."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fewgold.errors import DataError
from fewgold.formats import Names, Rating, Segment, Tasks, get, recognise
from formats.tool_samples import (
    NASTY,
    check_broken,
    check_refused,
    check_round_trip,
    check_tasks,
    ratings,
    tasks,
)

PEARMUT = get("pearmut")
SPAN = {"start_i": 0, "end_i": 5, "severity": "minor", "category": None}


def item(id, **models):
    return {"item_id": id, "src": "s", "tgt": models or {"A": "x"}}


def said(score, spans=(), text=None):
    return {"score": score, "error_spans": list(spans), "textfield": text}


def line(items, annotation, user="u1", item_i=0, time=17.5):
    return {
        "user_id": user,
        "item_i": item_i,
        "item": items,
        "annotation": annotation,
        "actions": [{"time": 1, "action": "load"}, {"time": time, "action": "submit"}],
    }


def log(path, *lines):
    texts = [text if isinstance(text, str) else json.dumps(text) for text in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_answers_come_back_as_they_went_out(tmp_path):
    assert check_round_trip("pearmut", tmp_path, ".jsonl").rows == 5
    check_round_trip("pearmut", tmp_path)


def test_tasks_read_back_as_blank(tmp_path):
    path = check_tasks("pearmut", tmp_path)
    assert recognise(path) is PEARMUT
    reading = PEARMUT.read(path)
    assert reading.rows == 6 and reading.context == 2
    assert "no answers yet" in reading.notes[0]


def test_a_scale_where_less_is_better_is_not_the_slider_of_the_tool(tmp_path: Path) -> None:
    for higher, own in ((None, False), (True, False), (False, True)):
        found = replace(tasks(), higher_is_better=higher)
        get("pearmut").write_tasks(found, tmp_path / "tasks.json")
        info = json.loads((tmp_path / "tasks.json").read_text())["info"]
        assert ("sliders" in info) == own, higher


def test_documents_go_out_whole_with_context_that_has_nothing_to_rate(tmp_path):
    found = tasks()
    PEARMUT.write_tasks(found, tmp_path / "t.json")
    campaign = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert campaign["campaign_id"] == "study <1>"
    info = campaign["info"]
    assert (info["assignment"], info["users"], info["shuffle"]) == ("single-stream", 1, False)
    assert info["instructions"] == (
        "How &quot;good&quot; is &lt;this&gt; &amp; that, for $5? (0 to 100)"
    )
    assert "sliders" not in info
    documents = campaign["data"]
    assert [len(d) for d in documents] == [3, 2, 1]
    before, rated, _ = documents[0]
    assert before["tgt"] == {} and before["src"] == "Quelle 0"
    assert before["instructions"].startswith("[context, do not rate]<br>machine output: output 0")
    assert "<b>" not in before["instructions"] and "&lt;b&gt;" in before["instructions"]
    assert rated["tgt"] == {"default": f"output 1 {NASTY}"} and "instructions" not in rated
    assert [s["item_id"] for d in documents for s in d] == [s.key for s in found.segments]


def test_several_raters_of_each_segment_get_lists_of_their_own(tmp_path):
    found = tasks()
    whole = Counter(s.key for s in found.segments)
    for each, raters in ((2, ()), (2, ("a", "b", "c")), (3, ("a", "b"))):
        PEARMUT.write_tasks(replace(found, each=each, raters=raters), tmp_path / "t.json")
        campaign = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
        info, lists = campaign["info"], campaign["data"]
        assert (info["assignment"], info["users"]) == ("task-based", list(raters) or each)
        assert len(lists) == (len(raters) or each)
        shown = [[s["item_id"] for d in documents for s in d] for documents in lists]
        times = min(each, len(lists))
        assert Counter(k for own in shown for k in own) == {k: n * times for k, n in whole.items()}
        assert all(len(own) == len(set(own)) for own in shown)
        assert len({own[0] for own in shown}) > 1  # they begin at different places


def test_a_document_without_anything_to_rate_stays_home(tmp_path):
    found = Tasks((Segment("a", "1", {"t": "x"}, "d", 1), Segment("b", "2", {}, "e", 1, False)))
    PEARMUT.write_tasks(found, tmp_path / "t.json")
    data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["data"]
    assert [[s["item_id"] for s in d] for d in data] == [["a"]]


def test_scale_and_raters_are_told(tmp_path):
    found = tasks((1, 5))
    PEARMUT.write_tasks(Tasks(found.segments, limits=(1, 5), raters=("a", "b")), tmp_path / "t")
    info = json.loads((tmp_path / "t").read_text(encoding="utf-8"))["info"]
    assert info["sliders"] == [{"name": "score", "min": 1, "max": 5, "step": 1}]
    assert info["users"] == ["a", "b"]


def test_texts_find_their_places(tmp_path):
    texts = {"response": "R", "prompt": "P", "reference": "<img src=x>", "notes": "N"}
    PEARMUT.write_tasks(Tasks((Segment("k", "1", texts),)), tmp_path / "t.json")
    made = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["data"][0][0]
    assert made["tgt"] == {"default": "R"} and made["src"] == "P\nN"
    assert made["ref"] == "\u200b<img src=x>"  # else it would be shown as a picture


def test_every_answer_is_accounted_for(tmp_path):
    path = log(
        tmp_path / "out.jsonl",
        line([item("t")], [{"A": said(3), "B": said(4)}], item_i="welcome_0"),
        line(
            [item("k1"), item("k2"), item("k3"), item("c")],
            [
                {"A": said(70, [SPAN]), "B": said(100, text="well")},
                {"A": said(None), "B": said(90.5)},
                None,
                {},
            ],
        ),
        "{ no json",
        line([item("k4")], [{"A": said("?")}], user="u2"),
        line([item("k4"), item("k5")], [{"A": said(1)}]),
        line([{"src": "s", "tgt": {"A": "x"}}], [{"A": said(1), "B": said(2)}]),
        line([item("k6")], [{"A": 5}]),
        line([item("k7")], ["x"]),
        "",
        "[1]",
    )
    assert recognise(path) is PEARMUT
    reading = PEARMUT.read(path)
    assert reading.ratings == (
        Rating("k1", 70.0, "u1", "17.5", "A", "", {"error_spans": [SPAN]}),
        Rating("k1", 100.0, "u1", "17.5", "B", "", {"textfield": "well"}),
        Rating("k2", 90.5, "u1", "17.5", "B", "", {}),
    )
    assert reading.blank == ("k3",)
    # Two of a tutorial, one without outputs, and a system of k2 without a score.
    assert reading.context == 4
    assert [r.place for r in reading.rejected] == [
        "line 3", "line 4, segment 1, system 'A'", "line 5", "line 6, segment 1",
        "line 6, segment 1", "line 7, segment 1, system 'A'", "line 8, segment 1", "line 10",
    ]  # fmt: skip
    assert reading.rows == 16


def test_what_was_reset_does_not_count(tmp_path):
    reset = {"user_id": "u1", "item_i": 0, "annotation": "__RESET__"}
    path = log(
        tmp_path / "out.jsonl",
        line([item("k1")], [{"A": said(1)}]),
        line([item("k1")], [{"A": said(2)}], user="u2"),
        line([item("k2")], [{"A": said(3)}], item_i=1),
        reset,
        line([item("k1")], [{"A": said(4)}]),
    )
    reading = PEARMUT.read(path)
    assert [(r.rater, r.segment, r.score) for r in reading.ratings] == [
        ("u2", "k1", 2.0), ("u1", "k2", 3.0), ("u1", "k1", 4.0),
    ]  # fmt: skip
    assert reading.context == 2 and reading.rows == 5
    assert "reset" in reading.notes[0]


def test_a_reset_of_a_user_takes_back_all_that_they_did(tmp_path):
    reset = {"user_id": "u1", "annotation": "__RESET__"}  # as Pearmut 1.1 writes it
    path = log(
        tmp_path / "out.jsonl",
        reset,
        line([item("k1")], [{"A": said(1)}]),
        line([item("k2")], [{"A": said(2)}], item_i=1),
        line([item("k1")], [{"A": said(3)}], user="u2"),
        reset,
        line([item("k1")], [{"A": said(4)}]),
    )
    assert recognise(path) is PEARMUT
    reading = PEARMUT.read(path)
    assert [(r.rater, r.segment, r.score) for r in reading.ratings] == [
        ("u2", "k1", 3.0), ("u1", "k1", 4.0),
    ]  # fmt: skip
    assert reading.context == 4 and reading.rows == 6


def test_the_download_of_the_dashboard(tmp_path):
    reset = {"user_id": "u1", "annotation": "__RESET__"}
    path = tmp_path / "annotations.json"

    def one(key, score):
        return line([item(key)], [{"A": said(score)}])

    held = {
        "first": [one("k1", 1), reset, one("k1", 2)],
        "none": [],
        "second": [one("k2", 3), one("k3", "?"), 7],
    }
    path.write_text(json.dumps(held), encoding="utf-8")
    assert recognise(path) is PEARMUT
    reading = PEARMUT.read(path)
    # A reset in one campaign leaves the others as they are.
    assert [(r.segment, r.score) for r in reading.ratings] == [("k1", 2.0), ("k2", 3.0)]
    assert reading.context == 2 and reading.rows == 6
    assert [r.place for r in reading.rejected] == [
        "campaign 'second', answer 2, segment 1, system 'A'", "campaign 'second', answer 3",
    ]  # fmt: skip


def test_sliders(tmp_path):
    answer = {"score": None, "sliders": {"Fluency": 4, "Adequacy": 80}, "error_spans": []}
    path = log(tmp_path / "out.jsonl", line([item("k1")], [{"A": answer}]))
    with pytest.raises(DataError, match=r"'Fluency', 'Adequacy'.*Names\(score=…\)"):
        PEARMUT.read(path)
    rating = PEARMUT.read(path, Names(score="Adequacy")).ratings[0]
    assert rating.score == 80.0 and rating.details == {"sliders": {"Fluency": 4}}
    with pytest.raises(DataError, match="no slider 'Style'"):
        PEARMUT.read(path, Names(score="Style"))


def test_the_model_of_our_own_campaigns_is_no_system(tmp_path):
    path = log(tmp_path / "out.jsonl", line([item("k1")], [{"default": said(1)}]))
    assert PEARMUT.read(path).ratings[0].system == ""
    assert PEARMUT.read(path, Names(score="score")).ratings[0].score == 1.0


def test_a_long_first_line_is_recognised(tmp_path):
    long = line([{**item("k1"), "src": "x" * 100_000}], [{"A": said(1)}])
    assert recognise(log(tmp_path / "out.jsonl", long, long)) is PEARMUT


def test_what_makes_no_sense_is_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    check_refused(PEARMUT, path, "", "is empty")
    check_refused(PEARMUT, path, '{"user_id": "a"', "holds no JSON lines")
    check_refused(PEARMUT, path, "[" * 100_000, "nested too deeply")


@pytest.mark.parametrize("seed", range(2))
def test_broken_files(seed, tmp_path):
    path = tmp_path / "x.jsonl"
    PEARMUT.write_ratings(tasks(), ratings(tasks()), path)
    check_broken("pearmut", path.read_text(encoding="utf-8"), path, seed)
    PEARMUT.write_tasks(tasks(), path)
    check_broken("pearmut", path.read_text(encoding="utf-8"), path, seed)
