"""Appraise: batches out, scores back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fewgold import formats
from fewgold.errors import DataError
from fewgold.formats import Names, Probe, Rating, Segment, Tasks, key
from fewgold.formats.appraise import Appraise

KEYS = [key(i, f"s{i}", "pool") for i in range(8)]


def tasks(raters: tuple[str, ...] = ()) -> Tasks:
    """Two documents; in the first, segments 1, 2 and 4 are to be rated."""
    rate = (False, True, True, False, True, False, True, True)
    made = []
    for i, wanted in enumerate(rate):
        document, position = ("d1", i + 1) if i < 6 else ("", 1)
        texts = {"source": f"S{i}", "output": f"O{i}"}
        made.append(Segment(KEYS[i], f"s{i}", texts, document, position, wanted))
    return Tasks(tuple(made), raters=raters)


def put(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "scores.csv"
    path.write_bytes(("\n".join(lines) + "\n").encode())
    return path


def test_every_kind_of_line(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "u1,sysA,0,TGT,eng,deu,80,doc-1,False,1700.5,1710.25",
        'u1,sysA,1,TGT,eng,deu,75,doc-1,False,"[{""severity"": ""major""}]",1710.25,1720.0,3,99',
        "u1,sysA,2,TGT,eng,deu,70,12,False,[],1.0,2.0",
        "u1,sysA,9,TGT,eng,deu,60,doc-1,True,1.0,2.0",
        "u2,sysB,68,TGT,eng,deu,10,5.0,6.0",
        "u2,sysB,68,TGT,eng,deu,11",
        "u2,sysB,8,BAD,eng,deu,40",
        "u2,ref,8,REF,eng,deu,41",
        "u2,sysB,8,CHK,eng,deu,42",
        "",
    )
    assert formats.recognise(path) is formats.get("appraise")
    got = Appraise().read(path)
    assert (got.rows, got.used, got.context, got.rejected) == (9, 5, 4, ())
    assert [(r.rater, r.system, r.segment, r.score, r.time) for r in got.ratings] == [
        ("u1", "sysA", "doc-1:0", 80.0, "1710.25"),
        ("u1", "sysA", "doc-1:1", 75.0, "1720.0"),
        ("u1", "sysA", "12:2", 70.0, "2.0"),
        ("u2", "sysB", "68", 10.0, "6.0"),
        ("u2", "sysB", "68", 11.0, ""),
    ]
    assert got.ratings[1].details["errors"] == [{"severity": "major"}]
    assert got.ratings[1].details["batch"] == "3"
    assert got.notes == (
        "1 line not counted: scores of whole documents.",
        "1 line not counted: deliberately degraded.",
        "1 line not counted: references.",
        "1 line not counted: repeats.",
    )
    assert Appraise().read(path, Names(id="item")).ratings[0].segment == "0"
    assert Appraise().read(path, Names(id="system")).ratings[0].segment == "sysA"
    with pytest.raises(ValueError, match="unknown id of Appraise 'key'"):
        Appraise().read(path, Names(id="key"))


def test_older_versions_print_errors_as_python_does(tmp_path: Path) -> None:
    path = put(tmp_path, "u,s,1,TGT,eng,deu,10,d,False,\"{'start_i': 0, 'severity': 'major'}\"")
    assert Appraise().read(path).ratings[0].details["errors"] == {
        "start_i": 0,
        "severity": "major",
    }


def test_broken_lines(tmp_path: Path) -> None:
    good = "u1,sysA,0,TGT,eng,deu,80,doc-1,False,1.5,2.5"
    path = put(
        tmp_path,
        "\ufeff" + good,
        good.replace("TGT", "XXX"),
        good.replace("80", "None"),
        "u1,sysA,0",
        good.replace("sysA", '"sysA'),
        good.replace("sysA", "sys\0A"),
        good + ",1",
        good.replace("1.5", "soon"),
        good.replace("sysA,0", "sysA,"),
        good.replace(",", "\t"),
        good + "\r",
    )
    got = Appraise().read(path)
    assert got.rows == 11 and len(got.ratings) == 2
    assert [r.place for r in got.rejected] == [f"line {i}" for i in range(2, 11)]
    parts = (
        "type of item (TGT, BAD, REF, CHK), got 'XXX'", "as the score, got 'None'", "got 3",
        "quotation marks", "NUL", "after the score", "after the score", "names no item", "got 1",
    )  # fmt: skip
    for rejected, part in zip(got.rejected, parts, strict=True):
        assert part in rejected.why


def test_other_files(tmp_path: Path) -> None:
    for text in ("id,score\n1,2\n", "a,b,c,TGT,5,6,7\n", "[1, 2]", '[{"items": 3, "task": 1}]', ""):
        path = put(tmp_path, text)
        assert not Appraise()._recognises(Probe(path))
    with pytest.raises(DataError, match=r"not a file of Appraise's scores.*in line 1 expected at"):
        Appraise().read(put(tmp_path, "id,score", "1,2"))
    with pytest.raises(DataError, match="is not a batch file of Appraise"):
        Appraise().read(put(tmp_path, "[1, 2]"))
    with pytest.raises(DataError, match="no column to name"):
        Appraise().read(path, Names(score="x"))


def test_batches_put_context_where_it_is_not_rated(tmp_path: Path) -> None:
    path = tmp_path / "batches.json"
    Appraise().write_tasks(tasks(("ann", "bob")), path, languages=("eng", "deu"))
    (batch,) = json.loads(path.read_text(encoding="utf-8"))
    assert batch["task"] == {
        "batchNo": 1, "batchSize": 9, "randomSeed": 0, "requiredAnnotations": 2,
        "sourceLanguage": "eng", "targetLanguage": "deu",
    }  # fmt: skip
    items = batch["items"]
    assert [i["_item"] for i in items] == list(range(9))
    rated = [i for i in items if not i["isCompleteDocument"]]
    assert [i["targetID"] for i in rated] == [KEYS[i] for i in (1, 2, 4, 6, 7)]
    assert [i["documentID"] for i in rated] == ["d1#1", "d1#1", "d1#2", "#3", "#4"]
    assert all(type(i["itemID"]) is int and i["itemID"] > 0 for i in items)
    assert rated[2]["targetContextLeft"] == "O0\nO1\nO2\nO3"
    assert rated[2]["sourceContextRight"] == "S5"
    whole = [i for i in items if i["isCompleteDocument"]]
    assert whole[0]["targetText"] == "O1 O2" and whole[0]["documentID"] == "d1#1"
    assert formats.recognise(path) is formats.get("appraise")
    got = Appraise().read(path)
    assert got.blank == tuple(KEYS[i] for i in (1, 2, 4, 6, 7)) and got.context == 4
    del items[1]["targetID"]
    path.write_text(json.dumps([batch]), encoding="utf-8")
    got = Appraise().read(path)
    assert got.rows == 9 and len(got.blank) == 4 and got.rejected[0].place == "item 2"


def test_batches_hold_whole_documents(tmp_path: Path) -> None:
    segments = tuple(
        Segment(key(i, str(i), "p"), str(i), {"output": "x"}, f"d{i // 30}", i % 30 + 1)
        for i in range(120)
    )
    path = tmp_path / "batches.json"
    Appraise().write_tasks(Tasks(segments), path)
    sizes = [len(b["items"]) for b in json.loads(path.read_text())]
    assert sizes == [93, 31]


def test_answers_to_batches_come_back_under_their_keys(tmp_path: Path) -> None:
    """As Appraise exports them: the target's id stands in the place of the system."""
    path = tmp_path / "batches.json"
    Appraise().write_tasks(tasks(), path)
    lines = []
    for n, item in enumerate(json.loads(path.read_text())[0]["items"]):
        cells = ["ann", item["targetID"], item["itemID"], item["itemType"], "eng", "eng", n,
                 item["documentID"], item["isCompleteDocument"], "[]", 1.0, 2.0 + n]  # fmt: skip
        lines.append(",".join(map(str, cells)))
    got = Appraise().read(put(tmp_path, *lines))
    assert [(r.segment, r.score, r.system) for r in got.ratings] == [
        (KEYS[i], float(n), "") for i, n in ((1, 0), (2, 1), (4, 3), (6, 5), (7, 7))
    ]
    assert got.context == 4


@pytest.mark.parametrize("packed", [False, True])
def test_round_trip(tmp_path: Path, packed: bool) -> None:
    languages = {"source_language": "eng", "target_language": "eng"}
    given = [
        Rating(KEYS[1], 81.0, "=ann,1", "20.5", "sys A", details={
            "document": "d1", **languages, "errors": [{"severity": "minor"}], "start": "10.25"}),
        Rating(KEYS[2], 0.5, "bob", details={"document": "d1", **languages}),
        Rating("s4", 7.0, "bob", system="B", details=languages),
        Rating(KEYS[6], 100.0, details=languages),
    ]  # fmt: skip
    path = tmp_path / "scores.csv"
    Appraise().write_ratings(tasks(), given, path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert formats.recognise(path) is formats.get("appraise")
    got = Appraise().read(path)
    assert list(got.ratings) == given and got.used == got.rows == 4


def test_published_ids_round_trip(tmp_path: Path) -> None:
    path = put(tmp_path, "u1,sysA,0,TGT,eng,deu,80,doc-1,False,[],1700.5,1710.25")
    got = Appraise().read(path)
    again = tmp_path / "again.csv"
    Appraise().write_ratings(Tasks((Segment("k", "doc-1:0"),)), got.ratings, again)
    assert again.read_text() == path.read_text()
