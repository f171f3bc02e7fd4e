"""Potato: tasks and configuration that go out, states and lines that come back."""

import json

import pytest

from fewgold.errors import DataError
from fewgold.formats import Names, Rating, Tasks, get, recognise
from fewgold.formats.potato import config
from formats.tool_samples import (
    NASTY,
    check_broken,
    check_refused,
    check_round_trip,
    check_tasks,
    ratings,
    tasks,
)

POTATO = get("potato")
LABELS = "instance_id_to_label_to_value"


def pair(value, name="number", schema="score"):
    return [{"schema": schema, "name": name}, value]


def state(labels, user="u1", **more):
    return {"user_id": user, "instance_id_ordering": list(labels), LABELS: labels, **more}


def saved(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_answers_come_back_as_they_went_out(tmp_path):
    check_round_trip("potato", tmp_path)
    assert check_round_trip("potato", tmp_path, ending="").rows == 5
    names = {p.name for p in (tmp_path / "ratings").iterdir()}
    assert "%3Dcmd%28%29" in names and "anna@example%2Eorg" in names


def test_tasks_read_back_as_blank(tmp_path):
    path = check_tasks("potato", tmp_path)
    assert POTATO._beside(path).read_text(encoding="utf-8") == config(tasks(), path.name)
    first = json.loads(path.read_text(encoding="utf-8").split("\n")[0])
    assert first["id"] == tasks().to_rate[0].key
    assert (first["segment_id"], first["document"], first["position"]) == ("a:2", "a", 2)
    assert first["machine_output"] == f"output 1 {NASTY}"
    assert first["context_before"].startswith("[context, do not rate]\nsource: Quelle 0")


@pytest.mark.parametrize("limits", [(1, 5), (0, 100), None])
def test_the_configuration_is_yaml(limits):
    yaml = pytest.importorskip("yaml")
    found = tasks(limits)
    found = Tasks(found.segments, "a: 'b' # \x85\u2028", NASTY, limits, ("anna", "no"), "9 x")
    made = yaml.safe_load(config(found, "data.jsonl"))
    assert made["data_files"] == ["data.jsonl"]
    assert made["item_properties"] == {"id_key": "id", "text_key": "machine_output"}
    assert [f["key"] for f in made["instance_display"]["fields"]] == [
        "context_before", "source", "machine_output", "context_after",
    ]  # fmt: skip
    assert made["user_config"] == {"allow_all_users": False, "users": ["anna", "no"]}
    (scheme,) = made["annotation_schemes"]
    assert scheme["name"] == "text_9_x"
    assert scheme["description"] == found._instruction.replace("\u2028", " ")
    if limits == (1, 5):
        assert (scheme["annotation_type"], scheme["labels"]) == ("radio", list("12345"))
    else:
        assert scheme["annotation_type"] == "number"
        assert scheme.get("max_value") == (None if limits is None else 100)


def test_every_instance_is_accounted_for(tmp_path):
    labels = {
        "k1": [pair("73")],
        "k2": [pair("4", "4"), pair("why not", "free_response")],
        "k3": [pair(True, "3")],
        "k4": [pair("true", "scale_2"), pair("false", "scale_1")],
        "k5": [pair("5", "5"), pair("4", "4")],
        "k6": [pair("")],
        "k7": [pair("many")],
        "k8": "x",
        "k9": [["x", 1]],
    }
    how = {
        "k1": {"session_end": 17.5, "total_time_ms": 900},
        "k2": {"time_string": "Time spent: 0d 0h 0m 5s ", "annotation_changes": [
            {"timestamp": 1}, {"timestamp": 2.5}]},
    }  # fmt: skip
    found = state(labels, instance_id_to_behavioral_data=how)
    found["instance_id_ordering"] += ["k10", 11]
    path = saved(tmp_path / "user_state.json", found)
    assert recognise(path) is POTATO
    reading = POTATO.read(path)
    assert reading.ratings == (
        Rating("k1", 73.0, "u1", "17.5", details={"total_time_ms": 900}),
        Rating("k2", 4.0, "u1", "2.5", details={"time_string": "Time spent: 0d 0h 0m 5s "}),
        Rating("k3", 3.0, "u1"),
        Rating("k4", 2.0, "u1"),
    )
    assert reading.blank == ("k6", "k10", "11")
    assert len(reading.rejected) == 4 and reading.rows == 11
    assert "expected one answer, got 2" in reading.rejected[2].why + reading.rejected[3].why


@pytest.mark.parametrize(
    "answers, score",
    [
        ({"score": {"number": "73"}}, 73.0),
        ({"score": {"4": True, "3": False}}, 4.0),
        ({"score": {"labels": {"Yes": "true"}}}, 1.0),
        ({"score": 5}, 5.0),
        ({"score": "2.5"}, 2.5),
        ({"score": {"scale_3": "3"}}, 3.0),
        ([[{"schema": "score", "name": "inadequate"}, "inadequate"]], 0.0),
    ],
)
def test_answers_in_all_their_shapes(answers, score, tmp_path):
    path = saved(tmp_path / "user_state.json", state({"k1": answers}))
    assert POTATO.read(path).ratings == (Rating("k1", score, "u1"),)
    line = {"id": "k1", "user_id": "u1", "label_annotations": answers, "span_annotations": {}}
    lines = saved(tmp_path / "annotated_instances.jsonl", line)
    assert recognise(lines) is POTATO
    assert POTATO.read(lines).ratings == (Rating("k1", score, "u1"),)


def test_a_folder_of_users(tmp_path):
    root = tmp_path / "annotation_output"
    saved(root / "anna" / "user_state.json", state({"k1": [pair("1")]}, "anna"))
    saved(root / "anna" / "annotated_instances.jsonl", {"id": "k1", "label_annotations": {}})
    line = {"id": "k1", "label_annotations": {"score": {"number": "2"}}}
    saved(root / "bert" / "annotated_instances.jsonl", line)
    saved(root / "annotated_instances.jsonl", line)
    saved(root / "cleo" / "user_state.json", state({"k2": []}, "cleo"))
    (root / "dora").mkdir()
    (root / "dora" / "user_state.json").write_text("{", encoding="utf-8")
    assert recognise(root) is POTATO
    reading = POTATO.read(root)
    assert reading.ratings == (Rating("k1", 1.0, "anna"), Rating("k1", 2.0, "bert"))
    assert reading.blank == ("k2",) and reading.rows == 4
    assert reading.rejected[0].place == "dora/user_state.json"


def test_a_folder_with_lines_only(tmp_path):
    line = {"id": "k1", "label_annotations": {"score": {"number": "2"}}}
    saved(tmp_path / "annotated_instances.jsonl", line)
    assert recognise(tmp_path) is POTATO
    assert POTATO.read(tmp_path).ratings == (Rating("k1", 2.0),)


def test_a_folder_without_answers_is_refused(tmp_path):
    assert recognise(tmp_path) is not POTATO
    with pytest.raises(DataError, match="output_annotation_dir"):
        POTATO.read(tmp_path)


def test_one_of_several_schemes_is_chosen_by_name(tmp_path):
    labels = {"k1": [pair("1"), pair("2", schema="fluency"), pair("so so", "text_box", "why")]}
    path = saved(tmp_path / "user_state.json", state(labels))
    with pytest.raises(
        DataError, match=r"'score', 'fluency'\. Choose one: Names\(score=…\)"
    ) as caught:
        POTATO.read(path)
    assert caught.value.message_for("cli").endswith("Choose one with --human.")
    rating = POTATO.read(path, Names(score="fluency")).ratings[0]
    assert rating.score == 2.0
    assert rating.details == {"answers": {"score": ["1"], "why": ["so so"]}}


def test_a_comment_beside_the_score_is_no_second_score(tmp_path):
    labels = {
        f"k{i}": [pair(value), pair("fine", "text_box", "why")]
        for i, value in enumerate(("1", "2", "x"))
    }
    reading = POTATO.read(saved(tmp_path / "user_state.json", state(labels)))
    assert [r.score for r in reading.ratings] == [1.0, 2.0] and len(reading.rejected) == 1


def test_a_state_holds_one_user_and_one_answer_a_segment(tmp_path):
    found = tasks()
    key = found.to_rate[0].key
    with pytest.raises(DataError, match=r"holds one user, and there are 5.*\.jsonl"):
        POTATO.write_ratings(found, ratings(found), tmp_path / "user_state.json")
    twice = [Rating(key, 1.0, "a"), Rating(key, 2.0, "a")]
    with pytest.raises(DataError, match=r"'a' has rated .* twice.*\.jsonl"):
        POTATO.write_ratings(found, twice, tmp_path / "states")
    POTATO.write_ratings(found, twice, tmp_path / "x.jsonl")
    assert POTATO.read(tmp_path / "x.jsonl").ratings == tuple(twice)


def test_a_name_of_a_user_never_leads_out_of_the_folder(tmp_path):
    found = tasks()
    users = ("../../etc", "..", "/abs", "x" * 400)
    given = [Rating(found.to_rate[0].key, 1.0, user) for user in users]
    POTATO.write_ratings(found, given, tmp_path / "out")
    assert {p.name for p in tmp_path.iterdir()} == {"out"}
    assert len(list((tmp_path / "out").iterdir())) == 4
    assert {r.rater for r in POTATO.read(tmp_path / "out").ratings} == set(users)


def test_what_makes_no_sense_is_refused(tmp_path):
    check_refused(POTATO, tmp_path / "x.jsonl", "", "is empty")
    check_refused(POTATO, tmp_path / "x.json", '{"user_id": "a"', "not JSON")
    check_refused(POTATO, tmp_path / "x.json", f'{{"{LABELS}": 3}}', "is not an object")
    check_refused(POTATO, tmp_path / "x.jsonl", "[" * 100_000, "nested too deeply")


@pytest.mark.parametrize("seed", range(2))
def test_broken_files(seed, tmp_path):
    path = tmp_path / "x.jsonl"
    POTATO.write_ratings(tasks(), ratings(tasks()), path)
    text = path.read_text(encoding="utf-8")
    check_broken("potato", text, path, seed, lambda t: sum(map(bool, t.split("\n"))))
    labels = {"k1": [pair("83"), pair("x", schema="why")], "k2": {"score": {"4": True}}}
    how = {"k1": {"annotation_changes": [{"timestamp": 2}], "total_time_ms": 3}}
    text = json.dumps(state(labels, instance_id_to_behavioral_data=how))
    check_broken("potato", text, path, seed)
