"""Label Studio: what it imports, and its exports as JSON, JSON_MIN and CSV."""

import csv
import json
import random
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fewgold.errors import DataError
from fewgold.formats import Names, Rating, Segment, Tasks, get, recognise
from fewgold.formats.label_studio import config
from formats.tool_samples import (
    check_broken,
    check_refused,
    check_round_trip,
    check_tasks,
    ratings,
    tasks,
)

JSON, CSV = get("label-studio"), get("label-studio-csv")


def result(value, name="score", type="number"):
    return {"from_name": name, "to_name": "output", "type": type, "value": value}


def answered(*results, **more):
    return {"id": 1, "completed_by": 3, "result": list(results), **more}


def export(path: Path, *listed):
    """Tasks with the keys k1, k2, … and the annotations given for each."""
    found = [
        {"id": 90 + i, "data": {"fewgold_key": f"k{i}", "output": "x"}, "annotations": given}
        for i, given in enumerate(listed, start=1)
    ]
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["label-studio", "label-studio-csv"])
def test_answers_come_back_as_they_went_out(name, tmp_path):
    reading = check_round_trip(name, tmp_path)
    assert reading.rows == 6 and reading.blank == (tasks().to_rate[-1].key,)


@pytest.mark.parametrize("name", ["label-studio", "label-studio-csv"])
def test_tasks_read_back_as_blank(name, tmp_path):
    path = check_tasks(name, tmp_path)
    assert (tmp_path / "tasks.config.xml").read_text(encoding="utf-8") == config(tasks())
    assert get(name)._beside(path) == tmp_path / "tasks.config.xml"


def test_a_task_carries_its_key_its_place_and_its_context(tmp_path):
    found = tasks()
    JSON.write_tasks(found, tmp_path / "t.json")
    listed = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert [t["data"]["fewgold_key"] for t in listed] == [s.key for s in found.to_rate]
    assert recognise(tmp_path / "t.json") is JSON
    first = listed[0]["data"]
    assert (first["segment_id"], first["document"], first["position"]) == ("a:2", "a", 2)
    assert first["source"] == "Quelle 1"
    assert first["machine_output"] == found.segments[1].texts["machine output"]
    assert first["context_before"].startswith("[context, do not rate]\nsource: Quelle 0\n")
    assert "Quelle 2" in first["context_after"] and "Quelle 1" not in first["context_after"]
    alone = listed[-1]["data"]
    assert alone["context_before"] == alone["context_after"] == ""


def test_the_interface_is_xml_over_fields_that_every_task_has(tmp_path):
    found = tasks()
    JSON.write_tasks(found, tmp_path / "t.json")
    data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))[0]["data"]
    root = ElementTree.fromstring(config(found))
    texts = root.findall("Text")
    assert [t.get("value") for t in texts] == [
        "$context_before", "$source", "$machine_output", "$context_after",
    ]  # fmt: skip
    assert all(t.get("value")[1:] in data for t in texts)
    shown = [h.get("value") for h in root.findall("Header")]
    assert shown[0] == "context before, do not rate"
    assert shown[-1].replace("\u200b", "") == found._instruction
    score = root.find("Number")
    assert score.get("toName") == "machine_output" in {t.get("name") for t in texts}
    assert (score.get("min"), score.get("max"), score.get("step")) == ("0", "100", "1")


def test_a_short_scale_has_a_button_per_point():
    root = ElementTree.fromstring(config(tasks((1, 5))))
    assert [c.get("value") for c in root.find("Choices")] == ["1", "2", "3", "4", "5"]
    assert ElementTree.fromstring(config(tasks((0, 0.5)))).find("Number").get("max") == "0.5"
    assert ElementTree.fromstring(config(tasks(None))).find("Number").get("max") is None


def test_names_that_label_studio_owns_are_left_to_it(tmp_path):
    texts = {"id": "a", "score": "b", "annotator": "c", "Score": "d", "原文": "e", "9": "f"}
    found = Tasks((Segment("fg-0-abc234", "s", texts),), score="score")
    JSON.write_tasks(found, tmp_path / "t.json")
    data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))[0]["data"]
    fields = [name for name in data if name not in ("fewgold_key", "segment_id")]
    assert [data[name] for name in fields] == ["", 1, *"abcdef"]
    assert len({name.lower() for name in (*fields, "score", "id", "annotator")}) == len(fields) + 3
    JSON.write_ratings(found, [Rating("fg-0-abc234", 2.0)], tmp_path / "r.json")
    assert JSON.read(tmp_path / "r.json").ratings == (Rating("fg-0-abc234", 2.0),)


def test_every_kind_of_annotation_is_accounted_for(tmp_path):
    path = export(
        tmp_path / "export.json",
        [
            answered(result({"rating": 4}, type="rating"), id=11, lead_time=7.5),
            answered(result({"rating": 2}), id=12, completed_by={"id": 5, "email": "b@x.org"}),
            answered(id=13, was_cancelled=True),
        ],
        [answered(was_cancelled=True)],
        [],
        [answered(result({"choices": ["4 - good"]}), updated_at="u", created_at="c")],
        [answered(result({"choices": ["splendid"]}))],
        [answered(result({"number": 1}), result({"number": 2}))],
        [answered(result({"choices": ["Adequate"]}), created_at="c"), 7, answered()],
        [answered(result({"text": ["fine"]}, "comment", "textarea"), result({"number": 0}))],
    )
    reading = JSON.read(path)
    assert [(r.segment, r.score, r.rater) for r in reading.ratings] == [
        ("k1", 4.0, "3"), ("k1", 2.0, "b@x.org"), ("k4", 4.0, "3"), ("k7", 1.0, "3"),
        ("k8", 0.0, "3"),
    ]  # fmt: skip
    assert [r.answer for r in reading.ratings] == ["11", "12", "1", "1", "1"]
    assert reading.ratings[0].details == {"lead_time": 7.5}
    assert [r.time for r in reading.ratings] == ["", "", "u", "c", ""]
    assert reading.ratings[4].details == {"answers": {"comment": ["fine"]}}
    assert reading.blank == ("k2", "k3")
    assert reading.context == 2  # one skipped and one empty, of segments that others have rated
    assert [r.place for r in reading.rejected] == [
        "task 5, annotation 1", "task 6, annotation 1", "task 7, annotation 2",
    ]  # fmt: skip
    assert "'splendid' is not a number" in reading.rejected[0].why
    assert "2 times" in reading.rejected[1].why
    assert reading.rows == 12 and reading.used == 5
    assert reading.notes == ("the score is the answer to 'score'.", "raters skipped 2 tasks.")


def test_one_of_several_questions_is_chosen_by_name(tmp_path):
    both = answered(result({"rating": 4}, "fluency"), result({"rating": 2}, "adequacy"))
    path = export(tmp_path / "export.json", [both])
    with pytest.raises(DataError, match=r"'fluency', 'adequacy'.*Names\(score=…\)") as caught:
        JSON.read(path)
    assert "--human" in caught.value.message_for("cli")
    with pytest.raises(DataError, match=r"no question 'mqm'.*'fluency', 'adequacy'"):
        JSON.read(path, Names(score="mqm"))
    rating = JSON.read(path, Names(score="adequacy")).ratings[0]
    assert rating.score == 2.0 and rating.details == {"answers": {"fluency": 4}}


def test_a_question_of_words_does_not_hide_the_one_of_numbers(tmp_path):
    both = answered(
        result({"choices": ["news"]}, "domain", "choices"), result({"rating": 2}, "adequacy")
    )
    assert JSON.read(export(tmp_path / "e.json", [both])).ratings[0].score == 2.0


def test_fields_can_be_named(tmp_path):
    found = [
        {
            "data": {"nr": 7, "who": "zoe"},
            "annotations": [answered(result({"number": 3}))],
        }
    ]
    path = tmp_path / "e.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    assert len(JSON.read(path).rejected) == 1
    rating = JSON.read(path, Names(id="nr", rater="who")).ratings[0]
    assert (rating.segment, rating.rater) == ("7", "zoe")
    with pytest.raises(DataError, match=r"no field 'key'.*'nr', 'who'"):
        JSON.read(path, Names(id="key"))
    with pytest.raises(DataError, match=r"'whom'.*names a rater"):
        JSON.read(path, Names(id="nr", rater="whom"))


MIN = {
    "fewgold_key": "k1", "id": 91, "output": "x", "position": 4, "annotator": 3,
    "annotation_id": 11, "created_at": "c", "updated_at": "u", "lead_time": 7.5,
}  # fmt: skip


def test_json_min_is_read(tmp_path):
    path = tmp_path / "min.json"
    listed = [
        {**MIN, "score": [{"rating": 4}]},
        {**MIN, "fewgold_key": "k2", "score": [{"rating": 4}, {"rating": 5}]},
        {**MIN, "fewgold_key": "k3", "annotation_id": None, "annotator": None},
        {**MIN, "fewgold_key": ""},
        "no record",
    ]
    path.write_text(json.dumps(listed), encoding="utf-8")
    assert recognise(path) is JSON
    reading = JSON.read(path)
    assert reading.ratings == (
        Rating("k1", 4.0, rater="3", time="u", answer="11", details={"lead_time": 7.5}),
    )
    assert reading.blank == ("k3",) and len(reading.rejected) == 3 and reading.rows == 5


def test_bare_choices_of_json_min_are_found_among_the_data(tmp_path):
    path = tmp_path / "min.json"
    path.write_text(json.dumps([{**MIN, "ok": "yes"}, {**MIN, "ok": "no"}]), encoding="utf-8")
    assert [r.score for r in JSON.read(path).ratings] == [1.0, 0.0]
    path.write_text(json.dumps([{**MIN, "ok": "yes", "comet": 0.8}]), encoding="utf-8")
    with pytest.raises(DataError, match="'ok', 'comet'"):
        JSON.read(path)
    assert JSON.read(path, Names(score="ok")).ratings[0].score == 1.0


def test_the_number_that_label_studio_gives_a_task_names_no_segment(tmp_path):
    path = tmp_path / "min.json"
    record = {name: value for name, value in MIN.items() if name != "fewgold_key"}
    path.write_text(json.dumps([{**record, "score": [{"rating": 4}]}]), encoding="utf-8")
    why = "there is no 'fewgold_key' to identify the segment. Name the field that does."
    assert JSON.read(path).rejected[0].why == why
    assert JSON.read(path, Names(id="id")).ratings[0].segment == "91"


def test_csv_is_read_as_label_studio_writes_it(tmp_path):
    path = tmp_path / "export.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(["annotation_id", "annotator", "created_at", "fewgold_key", "id",
                         "lead_time", "output", "score", "updated_at"])  # fmt: skip
        writer.writerow([11, "b@x.org", "c", "k1", 91, 7.5, "a\nb", '[{"number":83}]', "u"])
        writer.writerow([12, "b@x.org", "c", "k2", 92, "", "a", '[{"number":"?"}]', "u"])
        writer.writerow(["", "", "", "k3", 93, "", "a", "", ""])
        writer.writerow([13, "b", "c", "k4", 94, 1, "a", '[{"number":1}]', "u", "one too many"])
        writer.writerow([13, "b", "c", "k5"])
    assert recognise(path) is CSV
    reading = CSV.read(path)
    assert reading.ratings == (
        Rating("k1", 83.0, "b@x.org", "u", answer="11", details={"lead_time": 7.5}),
    )
    assert reading.blank == ("k3",) and reading.rows == 5
    assert sorted(r.place for r in reading.rejected) == ["row 3", "row 5", "row 6"]


def test_csv_with_other_separators(tmp_path):
    for separator in ";\t":
        path = tmp_path / "export.csv"
        head = ["annotation_id", "annotator", "lead_time", "fewgold_key", "ok"]
        rows = [head, ["1", "a", "2", "k1", "3 - fair"]]
        path.write_text("\n".join(map(separator.join, rows)), encoding="utf-8")
        assert CSV.read(path).ratings[0].score == 3.0


def test_no_cell_is_a_formula(tmp_path):
    CSV.write_ratings(tasks(), ratings(tasks()), tmp_path / "r.csv")
    CSV.write_tasks(tasks(), tmp_path / "t.csv")
    cells = []
    for name in ("r.csv", "t.csv"):
        with open(tmp_path / name, encoding="utf-8", newline="") as file:
            cells += [cell for line in csv.reader(file) for cell in line]
    assert not [c for c in cells if c.startswith(("=", "@", "\t"))]
    assert "'=cmd()" in cells


def test_files_of_others_are_left_to_them(tmp_path):
    path = tmp_path / "x.json"
    for text in ('[{"id": 1, "score": 3}]', '[{"data": [1]}]', "{}", "[]", "[[", "3", '["data"]',
                 '{"data": {"a": 1}}', "\x00", ""):  # fmt: skip
        path.write_text(text, encoding="utf-8")
        assert recognise(path) not in (JSON, CSV)
    path.write_bytes(b"\xff\xfe[")
    assert recognise(path) not in (JSON, CSV)


def test_what_makes_no_sense_is_refused(tmp_path):
    path = tmp_path / "x.json"
    check_refused(JSON, path, "", "is empty")
    check_refused(JSON, path, '[{"data": {"a": 1', "not JSON.*cut off")
    check_refused(JSON, path, "[]", "holds no tasks")
    check_refused(JSON, path, "3", "holds no tasks")
    check_refused(JSON, path, '[{"data": {}, "data": {}}]', "'data' occurs twice")
    check_refused(JSON, path, "[" * 100_000, "nested too deeply")
    check_refused(CSV, tmp_path / "x.csv", "a,a\n1,2\n", "more than one column 'a'")
    check_refused(CSV, tmp_path / "x.csv", 'a,b\n1,"2\n', "not CSV")
    check_refused(CSV, tmp_path / "x.csv", "a,b\n", "no rows")
    reading_of_plain_objects = tmp_path / "plain.json"
    reading_of_plain_objects.write_text('[{"id": 1, "score": 3}, 4]', encoding="utf-8")
    assert len(JSON.read(reading_of_plain_objects).rejected) == 2


@pytest.mark.parametrize("number", ["NaN", "1e999", "9" * 5000, "-Infinity", '"4,5"', "[[4]]"])
def test_numbers_that_are_none_are_rejected(number, tmp_path):
    path = export(tmp_path / "e.json", [answered(result({"number": "HERE"}))])
    path.write_text(path.read_text(encoding="utf-8").replace('"HERE"', number), encoding="utf-8")
    reading = JSON.read(path)
    assert reading.ratings == () and len(reading.rejected) == 1


def test_a_rating_of_something_else_is_not_written(tmp_path):
    with pytest.raises(DataError, match="'other', which is not among the tasks"):
        JSON.write_ratings(tasks(), [Rating("other", 1.0)], tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()


def test_lone_surrogates_survive_writing(tmp_path):
    found = Tasks((Segment("fg-0-abc234", "s", {"output": "a\ud800b"}),))
    JSON.write_tasks(found, tmp_path / "t.json")
    assert JSON.read(tmp_path / "t.json").blank == ("fg-0-abc234",)
    CSV.write_tasks(found, tmp_path / "t.csv")
    assert CSV.read(tmp_path / "t.csv").blank == ("fg-0-abc234",)


def counted(text):
    """Annotations and tasks without any, in the words of the docstring."""
    found = json.loads(text.removeprefix("\ufeff"), parse_int=str)
    listed = [found] if isinstance(found, dict) else found
    given = [t.get("annotations") if isinstance(t, dict) else None for t in listed]
    sound = [isinstance(t, dict) and isinstance(t.get("data"), dict) for t in listed]
    return sum(
        len(a) if ok and isinstance(a, list) and a else 1
        for a, ok in zip(given, sound, strict=True)
    )


def records(text):
    """Records of JSON_MIN."""
    found = json.loads(text.removeprefix("\ufeff"), parse_int=str)
    return len(found) if isinstance(found, list) else 1


@pytest.mark.parametrize("seed", range(2))
def test_broken_files(seed, tmp_path):
    path = tmp_path / "x.json"
    JSON.write_ratings(tasks(), ratings(tasks()), path)
    text = path.read_text(encoding="utf-8")
    check_broken("label-studio", text, path, seed, counted)
    flat = json.dumps([{**MIN, "score": [{"rating": 83}]}, {**MIN, "score": "83"}])
    check_broken("label-studio", flat, path, seed, records)


def test_broken_csv(tmp_path):
    path, rng = tmp_path / "x.csv", random.Random(3)
    CSV.write_ratings(tasks(), ratings(tasks()), path)
    text = path.read_text(encoding="utf-8")
    for _ in range(200):
        at, length = rng.randrange(len(text)), rng.randrange(9)
        odd = rng.choice(['"', ",", "\n", "\x00", "=", "[{", '{"', "", "x", ";", "\r"])
        path.write_text(text[:at] + odd + text[at + length :], encoding="utf-8", newline="")
        recognise(path)
        with suppress(DataError):
            reading = CSV.read(path)
            with open(path, encoding="utf-8", newline="") as file:
                lines = [line for line in csv.reader(file) if "".join(line).strip()]
            assert reading.rows == len(lines) - 1
