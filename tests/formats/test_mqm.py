"""MQM files: errors in, scores out, and averages."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fewgold import formats
from fewgold.datasets import data_folder, real_frame
from fewgold.errors import DataError
from fewgold.formats import MqmWeights, Names, Probe, Rating, Segment, Tasks, key
from fewgold.formats.means import MqmAverages
from fewgold.formats.mqm import MqmTsv

OLD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment"
NEW = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata\t"
KEYS = [key(i, f"s{i}", "pool") for i in range(4)]


def line(
    seg: str = "1", rater: str = "r1", category: str = "Style", severity: str = "Minor",
    note: str = "", system: str = "A", doc: str = "x", position: str | None = None,
    target: str = "t <v>u</v>",
) -> str:  # fmt: skip
    cells = (system, doc, position or seg, seg, rater, "src", target, category, severity, note)
    return "\t".join(cells)


def tasks() -> Tasks:
    texts = [("Eins.", "One."), ("- Zwei?", "- Two?"), ('"Drei"\t', "=3+4\n"), ("Vier", "Four")]
    return Tasks(
        tuple(
            Segment(KEYS[i], f"s{i}", {"source": s, "output": o}, "d 1", i + 1, rate=i != 1)
            for i, (s, o) in enumerate(texts)
        )
    )


@pytest.fixture
def put(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(*lines: str, name: str = "m.tsv", end: str = "\n") -> Path:
        path = tmp_path / name
        path.write_bytes((end.join(lines) + end).encode())
        return path

    return write


# ------------------------------------------------------------------ reading errors


def test_errors_make_a_score_and_stay_in_the_details(put) -> None:  # type: ignore[no-untyped-def]
    path = put(
        OLD,
        line("1", "r1", "Accuracy/Omission", "Major", "why"),
        line("2", "r1", "No-error", "No-error", "fine"),
        line("1", "r1", "Fluency/Punctuation", "Minor"),
        line("1", "r2", "Non-translation!", "Neutral"),
    )
    got = MqmTsv().read(path)
    assert (got.rows, got.used, got.rejected) == (4, 4, ())
    assert [(r.segment, r.rater, r.score, r.system) for r in got.ratings] == [
        ("1", "r1", 5.1, "A"), ("2", "r1", 0.0, "A"), ("1", "r2", 25.0, "A")
    ]  # fmt: skip
    first = got.ratings[0].details
    assert first["document"] == "x" and first["position"] == "1" and first["segment"] == "1"
    assert first["target"] == "t u" and first["source"] == "src"
    assert first["errors"] == [
        {"category": "Accuracy/Omission", "severity": "Major", "target": "t <v>u</v>",
         "comment": "why"},
        {"category": "Fluency/Punctuation", "severity": "Minor", "target": "t <v>u</v>"},
    ]  # fmt: skip
    assert got.ratings[1].details["errors"] == [] and got.ratings[1].details["comment"] == "fine"


def test_newer_style_with_timings(put) -> None:  # type: ignore[no-untyped-def]
    meta = {"timestamp": 999, "note": "n", "target_spans": [[0, 1]]}
    path = put(
        NEW,
        line(note=json.dumps(meta)),
        line(severity="Major", note='{"timestamp": 1700000000001}'),
        line("2", category="", severity="no_error", note="{not json"),
    )
    got = MqmTsv().read(path)
    assert [r.score for r in got.ratings] == [6.0, 0.0]
    assert got.ratings[0].time == "1700000000001"
    error = got.ratings[0].details["errors"][0]
    assert error["comment"] == "n"
    assert error["metadata"] == {"timestamp": 999, "target_spans": [[0, 1]]}
    assert got.ratings[1].details["comment"] == "{not json"


def test_files_without_a_header(put) -> None:  # type: ignore[no-untyped-def]
    path = put(line(), line("2"))
    assert formats.recognise(path) is formats.get("mqm")
    assert [r.segment for r in MqmTsv().read(path).ratings] == ["1", "2"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("packed", [False, True])
def test_ends_of_lines_marks_and_packing(
    tmp_path: Path, end: str, start: str, packed: bool
) -> None:
    data = (start + end.join([OLD, line(), "", line("2"), "  "]) + end).encode()
    path = tmp_path / ("m.tsv.gz" if packed else "m.tsv")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert formats.recognise(path) is formats.get("mqm")
    got = MqmTsv().read(path)
    assert got.rows == 2 and [r.segment for r in got.ratings] == ["1", "2"]


def test_odd_ends_of_lines_within_texts_are_no_ends(put) -> None:  # type: ignore[no-untyped-def]
    got = MqmTsv().read(put(OLD, line(target="a\u2028b\x0bc\x85d")))
    assert got.ratings[0].details["target"] == "a\u2028b\x0bc\x85d"


def test_a_segment_with_one_unreadable_line_is_rejected_as_a_whole(put) -> None:  # type: ignore[no-untyped-def]
    path = put(
        OLD,
        line("1", "r1"),
        line("1", "r1", severity="Fatal"),
        line("1", "r2"),
        line("2", "r1", severity=""),
        line("3", "r1", note="with\ta tab"),
        line("3", "r1"),
        "A\tx\t4\t4\tr1\tcut",
        line("4", "r1"),
        line("5", "r1", target="a\0b"),
        line("", "r1", position=" "),
        "no tabs at all",
    )
    got = MqmTsv().read(path)
    assert got.rows == 11 and got.used == 1 and [r.rater for r in got.ratings] == ["r2"]
    why = {r.place: r.why for r in got.rejected}
    assert list(why) == [f"line {i}" for i in (2, 3, 5, 6, 7, 8, 9, 10, 11, 12)]
    assert "same rater and segment as line 3, where expected the severities major" in why["line 2"]
    assert "expected the severities major, minor, neutral, no-error, got 'fatal'" in why["line 3"]
    assert "no severity" in why["line 5"]
    assert "expected 10 cells separated by tabs, got 11" in why["line 6"]
    assert "line 6" in why["line 7"] and "line 8" in why["line 9"]
    assert "got 6" in why["line 8"] and "NUL" in why["line 10"]
    assert "names no segment" in why["line 11"] and "got 1" in why["line 12"]
    with pytest.raises(DataError, match="10 of 11 rows cannot be read; the first is line 2"):
        got._require()


def test_critical_errors_need_a_weight(put) -> None:  # type: ignore[no-untyped-def]
    path = put(OLD, line(severity="Critical"))
    assert "weigh critical errors differently" in MqmTsv().read(path).rejected[0].why
    got = MqmTsv().read(path, weights=MqmWeights(critical=10))
    assert got.ratings[0].score == 10


def test_weights_and_cap() -> None:
    standard = MqmWeights()
    assert standard.score([]) == 0
    assert standard.score([("a", "Major")] * 7) == 25
    assert MqmWeights(cap=None).score([("a", "Major")] * 7) == 35
    assert standard.score([("Fluency/Punctuation", "minor")] * 3) == 0.3
    assert standard.score([("Fluency/Punctuation", "Major"), ("a", "Neutral")]) == 5


def test_test_items_and_metadata_lines_are_context(put) -> None:  # type: ignore[no-untyped-def]
    path = put(
        NEW,
        line("1", severity="HOTW-test", category="Found"),
        line("1", severity="No-error", category="No-error"),
        line("1", "", "", "", '{"segment": {"metrics": {"BLEURT": 0.5}}}'),
        line("2", "", "", ""),
    )
    got = MqmTsv().read(path)
    assert (got.used, got.context, got.blank) == (1, 2, ("2",))
    assert got.ratings[0].score == 0
    assert "1 line holds test items" in got.notes[0]


def test_exports_put_together_count_once(put) -> None:  # type: ignore[no-untyped-def]
    once = [line("1"), line("1"), line("1", severity="Major"), line("2"), line("1", "r2")]
    got = MqmTsv().read(put(OLD, *once, *once, line("2", severity="Major")))
    assert [(r.segment, r.rater, r.score) for r in got.ratings] == [
        ("1", "r1", 7.0), ("2", "r1", 6.0), ("1", "r2", 1.0)
    ]  # fmt: skip
    assert (got.rows, got.used, got.context) == (11, 6, 5)
    assert "5 lines repeat earlier lines" in got.notes[0]


def test_ids_that_several_segments_share_are_not_trusted(put) -> None:  # type: ignore[no-untyped-def]
    path = put(OLD, line("1", doc="x", position="1"), line("1", doc="y", position="1"))
    got = MqmTsv().read(path)
    assert [r.segment for r in got.ratings] == ["x:1", "y:1"]
    assert "stands for several segments" in got.notes[0]
    path = put(OLD, line("0", doc="x", position="3"))
    assert MqmTsv().read(path).ratings[0].segment == "x:3"
    path = put(OLD, line("0"), line("1"))
    assert [r.segment for r in MqmTsv().read(path).ratings] == ["0", "1"]


def test_other_columns_by_name(put) -> None:  # type: ignore[no-untyped-def]
    path = put(OLD + "\tmine\twho", line() + "\tS7\tann")
    got = MqmTsv().read(path, Names(id="mine", rater="who"))
    assert (got.ratings[0].segment, got.ratings[0].rater) == ("S7", "ann")
    with pytest.raises(ValueError, match="unknown column 'nobody'"):
        MqmTsv().read(path, Names(rater="nobody"))
    with pytest.raises(DataError, match="hold errors instead of scores"):
        MqmTsv().read(path, Names(score="severity"))


def test_files_that_are_something_else(put) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match=r"expected the columns system, doc.*\(no rater\)"):
        MqmTsv().read(put(OLD.replace("rater", "reader"), line()))
    with pytest.raises(DataError, match="got none"):
        MqmTsv().read(put(""))
    for header in ("system\tdoc\tseg_id\trater\tscore", "id\tcategory\tseverity\tsource\ttarget"):
        path = put(header, "\t".join(["1"] * (header.count("\t") + 1)), name="t.tsv")
        assert not MqmTsv()._recognises(Probe(path))
    assert not MqmTsv()._recognises(Probe(put(OLD.replace("\t", ","), name="t.csv")))


# ------------------------------------------------------------------ there and back


def test_tasks_come_back_blank_and_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "tasks.tsv"
    MqmTsv().write_tasks(tasks(), path)
    assert formats.recognise(path) is formats.get("mqm")
    got = MqmTsv().read(path)
    assert (got.rows, got.context, got.used) == (4, 1, 0)
    assert got.blank == (KEYS[0], KEYS[2], KEYS[3])
    text = path.read_text(encoding="utf-8")
    assert "\t'=3+4 \t" in text and "context: do not rate" in text
    # A rater fills in two errors, and deletes the metadata of one of the lines.
    rows = text.splitlines()
    cells = rows[3].split("\t")
    cells[4], cells[7], cells[8] = "ann", "Style", "Major"
    rows[3] = "\t".join(cells)
    rows.append("\t".join([*cells[:8], "Minor"]))
    path.write_text("\n".join(rows), encoding="utf-8")
    got = MqmTsv().read(path)
    assert [(r.segment, r.score, r.rater, r.system) for r in got.ratings] == [
        (KEYS[2], 6.0, "ann", "")
    ]
    assert got.ratings[0].details["target"] == "=3+4"


def test_key_in_a_comment(put) -> None:  # type: ignore[no-untyped-def]
    path = put(OLD, line("9", note=f"({KEYS[0].upper()}) odd"))
    assert MqmTsv().read(path).ratings[0].segment == KEYS[0]


def test_two_keys_in_one_segment_are_refused(put) -> None:  # type: ignore[no-untyped-def]
    got = MqmTsv().read(put(OLD, line(note=KEYS[0]), line(note=KEYS[1])))
    assert not got.ratings and "different keys" in got.rejected[0].why


def test_ratings_round_trip(tmp_path: Path) -> None:
    errors = [
        {"category": "Fluency/Punctuation", "severity": "Minor", "target": "<v>One</v>.",
         "comment": "=c", "metadata": {"timestamp": 5, "x": [1]}},
        {"category": "Omission", "severity": "Major", "target": "One.", "source": "<v>Eins</v>."},
    ]  # fmt: skip
    about = {"document": "d 1", "source": "Eins.", "target": "One."}
    given = [
        Rating(KEYS[0], 5.1, "+ann", "5", "sys", "17",
               {**about, "position": "1", "segment": "s0", "errors": errors}),
        Rating(KEYS[0], 0.0, "bob", "", "sys", "",
               {**about, "position": "1", "segment": "s0", "errors": [], "comment": "ok"}),
        Rating("s3", 0.0, "bob", "2026-01-02", "", "", {
            "document": "d 1", "position": "4", "segment": "s3", "source": "Vier",
            "target": "Four", "errors": []}),
    ]  # fmt: skip
    path = tmp_path / "r.tsv"
    MqmTsv().write_ratings(tasks(), given, path)
    got = MqmTsv().read(path)
    assert list(got.ratings) == given and got.used == got.rows == 4


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "r.tsv"
    with pytest.raises(DataError, match="only a score of 0 can be written"):
        MqmTsv().write_ratings(tasks(), [Rating(KEYS[0], 4.0)], path)
    bad = Rating(KEYS[0], 4.0, details={"errors": [{"category": "a", "severity": "Major"}]})
    with pytest.raises(DataError, match="is 4, but its errors add up to 5"):
        MqmTsv().write_ratings(tasks(), [bad], path)
    with pytest.raises(DataError, match="rating of 'zzz', which is not among the tasks"):
        MqmTsv().write_ratings(tasks(), [Rating("zzz", 0.0)], path)
    assert not path.exists()


# ------------------------------------------------------------------ averages


def test_averages(put) -> None:  # type: ignore[no-untyped-def]
    path = put(
        "system mqm_avg_score seg_id", "A -2.5\t1", "A\tNone 2", "B  -0.0 1", "B high 2", "B 1",
        "B nan 3", "B -1e999 4", "B -1\0 5", name="a.tsv",
    )  # fmt: skip
    assert formats.recognise(path) is formats.get("mqm-averages")
    got = MqmAverages().read(path)
    assert [(r.system, r.segment, str(r.score)) for r in got.ratings] == [
        ("A", "1", "2.5"), ("B", "1", "0.0")
    ]  # fmt: skip
    assert got.blank == ("2", "3") and got.rows == 8
    assert [r.place for r in got.rejected] == ["line 5", "line 6", "line 8", "line 9"]
    assert "expected 3 values" in got.rejected[1].why
    with pytest.raises(DataError, match=r"expected the columns.*\(no mqm_avg_score\)"):
        MqmAverages().read(put("system score seg_id", "A 1 1"))
    assert not MqmAverages()._recognises(Probe(put("system mqm_avg_score seg_id doc")))


def test_averages_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    given = [Rating(KEYS[0], 1 / 3, system="A"), Rating(KEYS[2], 0.0, system="A")]
    MqmAverages().write_ratings(tasks(), given, path)
    got = MqmAverages().read(path)
    assert list(got.ratings) == given and got.blank == (KEYS[3],)
    MqmAverages().write_ratings(tasks(), [Rating("s0", 1.0, "r"), Rating("s0", 2.0, "q")], path)
    assert MqmAverages().read(path).ratings == (Rating("s0", 1.5),)
    MqmAverages().write_tasks(tasks(), path)
    assert MqmAverages().read(path).blank == (KEYS[0], KEYS[2], KEYS[3])
    with pytest.raises(DataError, match="the system 'A B' cannot be written"):
        MqmAverages().write_ratings(tasks(), [Rating("s0", 1.0, system="A B")], path)


# ------------------------------------------------------------------ published files

needs_data = pytest.mark.skipif(
    data_folder() is None, reason="no folder with real data; set FEWGOLD_DATA to have them tested"
)


def raw(name: str) -> Path:
    folder = data_folder()
    assert folder is not None
    return folder / "raw" / name


@needs_data
def test_published_errors_give_the_scores_of_the_table() -> None:
    path = raw("mqm_ted_ende.tsv.gz")
    assert formats.recognise(path) is formats.get("mqm")
    got = MqmTsv().read(path)
    assert got.used == got.rows == 8435 and not got.notes
    table = real_frame("ted_ende")
    keys = zip(table["system"], table["seg_id"].astype(str), table["rater"], strict=True)
    expected = dict(zip(keys, table["mqm"], strict=True))
    found = {(r.system, r.segment, r.rater): r.score for r in got.ratings}
    assert len(found) == len(got.ratings) and found.keys() == expected.keys()
    assert all(abs(found[k] - expected[k]) < 1e-9 for k in expected)


@pytest.mark.slow
@needs_data
def test_published_errors_survive_writing(tmp_path: Path) -> None:
    got = MqmTsv().read(raw("mqm_ted_ende.tsv.gz"))
    names = dict.fromkeys(r.segment for r in got.ratings)
    path = tmp_path / "again.tsv"
    MqmTsv().write_ratings(Tasks(tuple(Segment(f"k{n}", n) for n in names)), got.ratings, path)
    again = MqmTsv().read(path)
    assert again.ratings == got.ratings


@needs_data
def test_published_averages_match_the_table() -> None:
    path = raw("mqm_newstest2020_ende.avg_seg_scores.tsv.gz")
    assert formats.recognise(path) is formats.get("mqm-averages")
    got = MqmAverages().read(path)
    assert got.used == got.rows == 14_180
    found = {(r.system, r.segment): r.score for r in got.ratings}
    table = real_frame("wmt20_ende")
    for system, seg, mqm in zip(table["system"], table["seg_id"], table["mqm"], strict=True):
        assert abs(found[system, str(seg)] - mqm) < 1e-4
