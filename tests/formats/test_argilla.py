"""Argilla: records and settings that go out, responses that come back."""

import json
from dataclasses import replace

import pytest

from fewgold.errors import DataError
from fewgold.formats import Names, Rating, Segment, Tasks, get, recognise
from fewgold.formats.argilla import settings
from formats.tool_samples import (
    check_broken,
    check_refused,
    check_round_trip,
    check_tasks,
    ratings,
    tasks,
)

ARGILLA = get("argilla")


def record(id, **more):
    return {"id": id, "fields": {"output": "x"}, "metadata": {}, "responses": {}, **more}


def saved(path, records, lines=False):
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    path.write_text(text, encoding="utf-8")
    return path


def test_answers_come_back_as_they_went_out(tmp_path):
    reading = check_round_trip("argilla", tmp_path)
    assert reading.rows == 6 and reading.blank == (tasks().to_rate[-1].key,)


def test_tasks_read_back_as_blank(tmp_path):
    path = check_tasks("argilla", tmp_path)
    assert recognise(path) is ARGILLA
    beside = json.loads(ARGILLA._beside(path).read_text(encoding="utf-8"))
    assert beside == settings(tasks())


def test_as_many_raters_answer_each_record_as_the_campaign_wants():
    for each in (1, 3):
        made = settings(replace(tasks(), each=each))
        assert made["distribution"] == {"strategy": "overlap", "min_submitted": each}


def test_records_have_the_fields_of_the_settings(tmp_path):
    found = tasks((1, 5))
    ARGILLA.write_tasks(found, tmp_path / "t.json")
    records = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert [r["id"] for r in records] == [s.key for s in found.to_rate]
    assert records[0]["metadata"] == {"segment_id": "a:2", "document": "a", "position": 2}
    made = settings(found)
    names = [field["name"] for field in made["fields"]]
    assert names == ["context_before", "source", "machine_output", "context_after"]
    assert all(list(r["fields"]) == names for r in records)
    assert [f["name"] for f in made["fields"] if f["required"]] == ["machine_output"]
    assert "do not rate" in made["fields"][0]["title"]
    question = made["questions"][0]
    assert question["title"] == found.question
    assert question["settings"]["options"] == [{"value": v} for v in (1, 2, 3, 4, 5)]


@pytest.mark.parametrize("limits", [(0, 100), (0, 0.5), (-2, 2), None])
def test_a_scale_that_argilla_has_not_is_asked_for_as_text(limits):
    assert settings(tasks(limits))["questions"][0]["type"] == "text"


def test_names_are_what_argilla_takes():
    texts = {"Source Text": "a", "source_text": "b", "status": "c", "Score": "d"}
    made = settings(Tasks((Segment("k", "1", texts),)))
    names = [field["name"] for field in made["fields"]] + [made["questions"][0]["name"]]
    assert len(set(names)) == 5 and all(n == n.lower() for n in names)
    assert "status" not in names


def test_every_response_is_accounted_for(tmp_path):
    two = {"score": [{"value": 4, "user_id": "u1"}, {"value": "2 - poor", "user_id": "u2"}]}
    states = {
        "score": [
            {"value": 1, "user_id": "u1", "status": "draft"},
            {"value": 5, "user_id": "u2", "status": "submitted"},
            {"value": 3, "user_id": "u3", "status": "discarded"},
        ]
    }
    listed = [
        record("k1", responses=two),
        record("k2", responses=states),
        record("k3"),
        record("k4", responses={"score": [{"value": "?", "user_id": "u1"}]}),
        record("k5", responses={"score": [{"value": 1, "user_id": "u", "status": "draft"}]}),
        record("k6", responses={"score": 7}),
        record(None, responses=two),
        "x",
    ]
    for lines in (False, True):
        path = saved(tmp_path / "r.json", listed, lines)
        assert recognise(path) is ARGILLA
        reading = ARGILLA.read(path)
        assert reading.ratings == (
            Rating("k1", 4.0, "u1"), Rating("k1", 2.0, "u2"), Rating("k2", 5.0, "u2"),
        )  # fmt: skip
        assert reading.blank == ("k3", "k5") and reading.context == 2
        assert len(reading.rejected) == 5 and reading.rows == 12
        assert reading.notes == ("3 responses are drafts or discarded: they do not count.",)


def test_flat_records_are_read(tmp_path):
    listed = [
        {"id": "k1", "output": "x", "score.responses": [4, 3], "score.responses.users": ["a", "b"],
         "score.responses.status": ["submitted", "draft"]},
        {"id": "k2", "output": "x", "score.responses": None, "score.responses.users": None},
    ]  # fmt: skip
    path = saved(tmp_path / "r.jsonl", listed, lines=True)
    assert recognise(path) is ARGILLA
    reading = ARGILLA.read(path)
    assert reading.ratings == (Rating("k1", 4.0, "a"),)
    assert reading.blank == ("k2",) and reading.context == 1 and reading.rows == 3


def test_responses_by_user_are_read(tmp_path):
    response = {
        "id": "r9", "user_id": "u1", "status": "submitted", "inserted_at": "i", "updated_at": "t",
        "values": {"score": {"value": 3}, "comment": {"value": "well"}},
    }  # fmt: skip
    gone = {"id": "r8", "user_id": "u2", "status": "discarded", "values": None}
    path = saved(tmp_path / "r.json", [record("k1", responses=[response, gone])])
    reading = ARGILLA.read(path)
    details = {"answers": {"comment": "well"}}
    assert reading.ratings == (Rating("k1", 3.0, "u1", "t", "", "r9", details),)
    assert reading.context == 1 and reading.rows == 2


def test_one_of_several_questions_is_chosen_by_name(tmp_path):
    both = {q: [{"value": 3 + i, "user_id": "u"}] for i, q in enumerate(("fluency", "adequacy"))}
    path = saved(tmp_path / "r.json", [record("k1", responses=both)])
    with pytest.raises(DataError, match=r"'fluency', 'adequacy'.*Names\(score=…\)"):
        ARGILLA.read(path)
    assert ARGILLA.read(path, Names(score="adequacy")).ratings[0].score == 4.0
    with pytest.raises(DataError, match="no question 'mqm'"):
        ARGILLA.read(path, Names(score="mqm"))


def test_files_of_others_are_left_to_them(tmp_path):
    path = tmp_path / "x.json"
    for text in ('[{"id": 1, "fields": {}}]', '[{"fields": {}, "responses": {}}]', "[]", "{",
                 '{"id": 1, "score": 2}', '[{"id": 1, "a.responses": [1]}]'):  # fmt: skip
        path.write_text(text, encoding="utf-8")
        assert recognise(path) is not ARGILLA


def test_what_makes_no_sense_is_refused(tmp_path):
    path = tmp_path / "x.json"
    check_refused(ARGILLA, path, "", "is empty")
    check_refused(ARGILLA, path, "[]", "holds no records")
    check_refused(ARGILLA, path, '[{"id": 1', "not JSON")
    check_refused(ARGILLA, path, "[" * 100_000, "nested too deeply")


@pytest.mark.parametrize("seed", range(2))
def test_broken_files(seed, tmp_path):
    path = tmp_path / "x.json"
    ARGILLA.write_ratings(tasks(), ratings(tasks()), path)
    check_broken("argilla", path.read_text(encoding="utf-8"), path, seed)
    by_user = [{"user_id": "u", "values": {"score": {"value": 83}}, "status": "submitted"}]
    flat = {"id": "k", "score.responses": [83], "score.responses.users": ["a"]}
    listed = [record("k1", responses=by_user), flat, record("k2")]
    check_broken("argilla", json.dumps(listed), path, seed)
