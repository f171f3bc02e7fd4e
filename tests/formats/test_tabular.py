"""Plain tables: what goes out comes back, and every odd row is told."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewgold import formats
from fewgold import io as tables
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Names, Probe, Rating, Segment, Tasks, key
from fewgold.io import bare, guard

TABLES = ("csv", "tsv", "jsonl", "xlsx", "parquet")
ODD_IDS = ("=1+1", "'=1+1", "''=1", "007", "3-4", "-1", "+49 30", "@you", "größe", "a b", '"q"')


def study(score: str = "score", **more: Any) -> Tasks:
    segments = [
        Segment(
            key(k, id_, "p"),
            id_,
            {"source": f'Grüße, "Welt"\n{k}\r!', "output": f"=HYPERLINK({k})"},
            f"doc{k // 4}",
            k % 4 + 1,
            rate=k % 4 != 2,
        )
        for k, id_ in enumerate(ODD_IDS)
    ]
    return Tasks(tuple(segments), score=score, **more)


def path_of(name: str, folder: Path, stem: str = "file") -> Path:
    return folder / f"{stem}{formats.get(name).suffixes[0]}"


def read(folder: Path, text: str | bytes, name: str = "csv", **names: str) -> formats.Reading:
    path = path_of(name, folder)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return formats.read(path, name, Names(**names))


def refusal(folder: Path, text: str | bytes, name: str = "csv", **names: str) -> str:
    with pytest.raises(FewgoldError) as caught:
        read(folder, text, name, **names)
    return str(caught.value)


# Tasks out, answers back ------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("score", ["score", "quality", "=odd"])
def test_tasks_come_back_blank_with_their_context(name: str, score: str, tmp_path: Path) -> None:
    tasks = study(score)
    path = path_of(name, tmp_path)
    formats.get(name).write_tasks(tasks, path)
    found = formats.read(path)
    assert found.format == name
    assert found.rows == len(tasks.segments)
    assert found.blank == tuple(s.key for s in tasks.to_rate)
    assert found.context == len(tasks.segments) - len(tasks.to_rate)
    assert not found.ratings
    assert not found.rejected


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "xlsx"])
def test_answers_typed_into_the_sheet(name: str, tmp_path: Path) -> None:
    """Whatever the score is called, with the id beside the key for the campaign to compare."""
    tasks = study("quality")
    path = path_of(name, tmp_path)
    formats.get(name).write_tasks(tasks, path)
    rated = tasks.to_rate[1]
    if name == "xlsx":
        book = openpyxl.load_workbook(path)
        sheet = book.worksheets[0]
        columns = {c.value: c.column for c in sheet[1]}
        for row in range(2, sheet.max_row + 1):
            if sheet.cell(row, columns["key"]).value == rated.key:
                sheet.cell(row, columns["quality"]).value = 3.5
                sheet.cell(row, columns["rater"]).value = "Ann "
                sheet.cell(row, columns["comment"]).value = "=odd"
        book.save(path)
    elif name == "jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            if row["key"] == rated.key:
                row |= {"quality": 3.5, "rater": "Ann ", "comment": "=odd"}
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        text = path.read_bytes().decode()
        separator = "\t" if name == "tsv" else ","
        empty = separator.join(["yes", "", "", "", rated.key])
        full = separator.join(["yes", "3.5", "Ann ", "'=odd", rated.key.upper()])
        assert empty in text
        path.write_bytes(text.replace(empty, full).encode())
    found = formats.read(path)
    wanted = Rating(rated.key, 3.5, "Ann", details={"id": rated.id, "comment": "=odd"})
    assert found.ratings == (wanted,)
    assert found.used == 1
    assert len(found.blank) == len(tasks.to_rate) - 1


SAFE = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Cn")), max_size=8)
RATINGS = st.lists(
    st.builds(
        Rating,
        st.one_of(st.sampled_from(ODD_IDS), SAFE.filter(lambda t: bool(t.strip()))),
        st.floats(allow_nan=False, allow_infinity=False),
        SAFE,
        SAFE,
        SAFE,
        SAFE,
        st.dictionaries(SAFE, st.one_of(SAFE, st.integers(), st.lists(SAFE), st.none())),
    ),
    max_size=4,
)


@pytest.mark.parametrize("name", TABLES)
@given(ratings=RATINGS)
@settings(max_examples=25, deadline=None)
def test_ratings_come_back_exactly(
    name: str, ratings: list[Rating], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same ratings, or a refusal to write that leaves no file (TSV has no quotes).

    A file without any rating is refused when it is read.
    """
    path = path_of(name, tmp_path_factory.mktemp("r"))
    try:
        formats.get(name).write_ratings(study(), ratings, path)
    except DataError:
        assert name in ("tsv", "xlsx")
        assert not path.exists()
        return
    if ratings:
        assert list(formats.read(path, name).ratings) == ratings
    else:
        with pytest.raises(DataError, match=r"it has no rows\.|it is empty\."):
            formats.read(path, name)


@pytest.mark.parametrize("name", TABLES)
def test_every_digit_survives(name: str, tmp_path: Path) -> None:
    scores = [0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5, 1e22, 123456789012345678.0]
    ratings = [Rating(f"s{k}", score, "Ann") for k, score in enumerate(scores)]
    path = path_of(name, tmp_path)
    formats.get(name).write_ratings(study(), ratings, path)
    assert [r.score for r in formats.read(path).ratings] == scores


@pytest.mark.parametrize("name", TABLES)
def test_details_and_who_and_when_survive(name: str, tmp_path: Path) -> None:
    details = {"errors": [{"span": [1, 2], "severity": "major"}], "seconds": 3.25, "note": None}
    tasks = study()
    ratings = [
        Rating(s.key, 4.0, rater, "2026-11-17T03:21:32Z", "system A", f"a{k}", details)
        for k, s in enumerate(tasks.to_rate)
        for rater in ("Ann", "Bö b")
    ]
    path = path_of(name, tmp_path)
    formats.get(name).write_ratings(tasks, ratings, path)
    assert list(formats.read(path).ratings) == ratings


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_sheets_hold_no_formulas(name: str, tmp_path: Path) -> None:
    path = path_of(name, tmp_path)
    formats.get(name).write_tasks(study(), path)
    text = path.read_bytes().decode("utf-8-sig")
    assert "'=HYPERLINK" in text
    assert not [c for c in text.replace("\n", ",").replace("\t", ",").split(",") if c[:1] == "="]


@given(st.text(max_size=6))
def test_guarded_text_is_no_formula_and_comes_back(text: str) -> None:
    assert bare(guard(text)) == text
    assert tables.neutral(guard(text)) == guard(text)


def test_a_byte_order_mark_only_where_it_is_needed(tmp_path: Path) -> None:
    plain = Tasks((Segment(key(0, "a", "p"), "a", {"text": "plain"}),))
    for tasks, mark in ((plain, b"id"), (study(), b"\xef\xbb\xbfid")):
        formats.get("csv").write_tasks(tasks, tmp_path / "a.csv")
        assert (tmp_path / "a.csv").read_bytes().startswith(mark)


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path, quote: str) -> None:
    text = f"\ufeff{quote}id{quote},score\nnaïve,3\n"
    assert read(tmp_path, text).ratings == (Rating("naïve", 3.0),)
    assert read(tmp_path, text, id="id").ratings == (Rating("naïve", 3.0),)
    line = '\ufeff{"id": "naïve", "score": 3}\n'
    assert read(tmp_path, line, "jsonl").ratings == (Rating("naïve", 3.0),)


def test_files_may_be_packed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    formats.get("csv").write_tasks(study(), path)
    assert gzip.decompress(path.read_bytes())
    assert formats.read(path).rows == len(study().segments)


def test_the_spreadsheet_helps_raters(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    tasks = study(limits=(0.0, 100.0), raters=("Ann", "Bob"))
    formats.get("xlsx").write_tasks(tasks, path)
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    header = [c.value for c in sheet[1]]
    assert header[-5:] == ["rate", "score", "rater", "comment", "key"]
    assert sheet.freeze_panes == "A2"
    rules = {v.type: v for v in sheet.data_validations.dataValidation}
    assert (float(rules["decimal"].formula1), float(rules["decimal"].formula2)) == (0.0, 100.0)
    assert rules["list"].formula1 == '"Ann,Bob"'
    column = header.index("score") + 1
    for k, segment in enumerate(tasks.segments, 2):
        cell = sheet.cell(k, column)
        assert cell.value is None
        assert (cell.coordinate in rules["decimal"].sqref) is segment.rate
        assert (cell.coordinate in rules["custom"].sqref) is not segment.rate
        assert (cell.fill.fill_type == "solid") is not segment.rate
        assert sheet.cell(k, 1).data_type == "s"
        assert sheet.cell(k, header.index("source") + 1).alignment.wrap_text
    assert tasks.question in [c.value for c in book["how to rate"]["A"]]
    assert not [note for note in formats.read(path).notes if "only the sheet" in note]
    book.create_sheet("mine")
    book.save(path)
    assert "only the sheet 'tasks' is read, not 'mine'." in formats.read(path).notes


def test_what_a_format_cannot_hold_is_refused_and_nothing_written(tmp_path: Path) -> None:
    tab = [Rating("a\tb", 1.0)]
    with pytest.raises(DataError, match="tab or a line break"):
        formats.get("tsv").write_ratings(study(), tab, tmp_path / "a.tsv")
    long = [Rating("a", 1.0, details={"x": "y" * 40_000})]
    with pytest.raises(DataError, match="holds 32767 characters"):
        formats.get("xlsx").write_ratings(study(), long, tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="finite score"):
        formats.get("csv").write_ratings(study(), [Rating("a", float("nan"))], tmp_path / "a.csv")
    with pytest.raises(DataError, match="not plain JSON"):
        formats.get("csv").write_ratings(
            study(), [Rating("a", 1.0, details={"x": {1}})], tmp_path / "a.csv"
        )
    with pytest.raises(DataError, match="a lone surrogate"):
        formats.get("csv").write_ratings(study(), [Rating("\ud800", 1.0)], tmp_path / "a.csv")
    twice = Tasks((Segment(key(0, "a", "p"), "a", {"key": "text"}),))
    with pytest.raises(DataError, match="two columns 'key'"):
        formats.get("csv").write_tasks(twice, tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


# Which column is what ---------------------------------------------------------------------------


def test_columns_are_found_by_their_usual_names(tmp_path: Path) -> None:
    text = "Segment ID,Annotator,Rating,timestamp,model\na,Ann,3,today,m1\n"
    found = read(tmp_path, text)
    assert found.ratings == (Rating("a", 3.0, "Ann", "today", "m1"),)
    assert "segments are named by 'Segment ID', scores are in 'Rating'." in found.notes


def test_columns_may_be_named(tmp_path: Path) -> None:
    text = "a,b,c\n1,2,3\n"
    assert read(tmp_path, text, id="a", score="B", rater="c").ratings == (Rating("1", 2.0, "3"),)
    assert "unknown score column 'd'" in refusal(tmp_path, text, id="a", score="d")
    assert "no column that is clearly the score: its columns are a, b, c" in refusal(tmp_path, text)


def test_a_text_called_answer_is_no_id_of_an_answer(tmp_path: Path) -> None:
    found = read(tmp_path, "id,answer,score\n1,same,2\n2,same,3\n")
    assert [r.answer for r in found.ratings] == ["", ""]


def test_one_score_column_a_rater(tmp_path: Path) -> None:
    text = "id,A,B\n1,2,3\n2,,4\n3,,\n4,x,5\n"
    found = read(tmp_path, text, score="A,B")
    assert found.ratings == (Rating("1", 2.0, "A"), Rating("1", 3.0, "B"), Rating("2", 4.0, "B"))
    assert (found.rows, found.used, found.blank) == (4, 2, ("3",))
    assert [(r.place, "'A'" in r.why) for r in found.rejected] == [("line 5", True)]
    assert read(tmp_path, 'id,"A,B"\n1,2\n', score="A,B").ratings == (Rating("1", 2.0),)
    assert "must be different" in refusal(tmp_path, text, score="A,A")


def test_columns_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    assert "two columns are called 'score'" in refusal(
        tmp_path, "id,score,score\n1,2,3\n", score="score"
    )
    assert "score and Score could all be it" in refusal(tmp_path, "id,score,Score\n1,2,3\n")
    assert "two columns are called 'text'" in refusal(tmp_path, "id,text,text,score\n1,a,b,3\n")


def test_keys_win_over_ids(tmp_path: Path) -> None:
    made = key(3, "x", "p")
    found = read(tmp_path, f"id,key,score\nx,{made},3\n")
    assert found.ratings == (Rating(made, 3.0, details={"id": "x"}),)
    found = read(tmp_path, f"id,segment,score\n1,{made},3\n")
    assert found.ratings == (Rating(made, 3.0),)


# Odd rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ('"3,5"', "write 3.5"),
        ("abc", "not a number"),
        ("nan", "not a number"),
        ("inf", "not a number"),
        ("1e999", "finite"),
        ("1_000", "not a number"),
        ("0x10", "not a number"),
        ("#DIV/0!", "not a number"),
        ("True", "not a number"),
    ],
)
def test_odd_scores_are_rejected(tmp_path: Path, value: str, why: str) -> None:
    found = read(tmp_path, f"id,score\na,1.5\nb,{value}\n")
    assert found.ratings == (Rating("a", 1.5),)
    assert [(r.place, r.raw) for r in found.rejected] == [("line 3", f"b,{value}")]
    assert why in found.rejected[0].why


def test_verdicts_count_if_there_is_nothing_else(tmp_path: Path) -> None:
    found = read(tmp_path, "id,passed\na,True\nb,false\nc,\n")
    assert [r.score for r in found.ratings] == [1.0, 0.0]
    assert found.blank == ("c",)
    found = read(tmp_path, '{"id": 1, "score": true}\n{"id": 2, "score": 3}\n', "jsonl")
    assert [r.score for r in found.ratings] == [3.0]
    assert len(found.rejected) == 1


def test_rows_without_a_segment_or_of_the_wrong_length(tmp_path: Path) -> None:
    text = "id,score,note\na,1,x\n,2,x\nb,3\nc,4,x,y\nd,5,x,,\n,,\n\n  \ne,,\n"
    found = read(tmp_path, text)
    assert [r.segment for r in found.ratings] == ["a", "d"]
    assert [(r.place, r.why) for r in found.rejected] == [
        ("line 3", "has no segment: its 'id' is empty."),
        ("line 4", "has 2 cells where the header has 3."),
        ("line 5", "has 4 cells where the header has 3."),
    ]
    assert (found.rows, found.context, found.blank) == (7, 1, ("e",))
    assert "1 row is empty." in found.notes


def test_context_must_stay_unrated(tmp_path: Path) -> None:
    text = "id,rate,score\na,yes,1\nb,no (context),\nc,no (context),4\n"
    found = read(tmp_path, text)
    assert (found.used, found.context) == (1, 1)
    assert "is context that was not to be rated, but has the score '4'" in found.rejected[0].why


def test_a_file_cut_short_is_noticed(tmp_path: Path) -> None:
    """The key comes last, so that it is the first to be damaged."""
    tasks = Tasks(tuple(Segment(key(k, f"s{k}", "p"), f"s{k}") for k in range(3)))
    formats.get("csv").write_tasks(tasks, tmp_path / "a.csv")
    found = read(tmp_path, (tmp_path / "a.csv").read_bytes()[:-4])
    assert found.blank == (tasks.segments[0].key, tasks.segments[1].key)
    assert "has a damaged key" in found.rejected[0].why


def test_a_quote_that_is_never_closed_costs_one_row(tmp_path: Path) -> None:
    text = 'id,text,score\na,"open,1\nb,x,2\nc,"fine, too",3\nd,"two\nlines",4\ne,"a"b,5\n'
    found = read(tmp_path, text)
    assert [(r.segment, r.score) for r in found.ratings] == [("b", 2.0), ("c", 3.0), ("d", 4.0)]
    assert [(r.place, r.raw) for r in found.rejected] == [
        ("line 2", 'a,"open,1'),
        ("line 7", 'e,"a"b,5'),
    ]
    assert "broken quotes" in found.rejected[0].why
    assert "header" in refusal(tmp_path, '"id,score\na,1\n')


def test_quotes_that_join_rows_are_noticed(tmp_path: Path) -> None:
    """Two quotes some rows apart make one long cell of all between; its lines tell."""
    found = read(tmp_path, 'id,text,score\na,"x,1\nb,y,2\nc,z",3\nd,w,4\n')
    assert [(r.segment, r.score) for r in found.ratings] == [("b", 2.0), ("c", 3.0), ("d", 4.0)]
    assert [r.raw for r in found.rejected] == ['a,"x,1']
    keys = [key(k, "x", "p") for k in range(3)]
    text = f'text,score,key\n"open,1,{keys[0]}\n"open,"2",{keys[1]}\nshut,3,{keys[2]}\n'
    assert [r.segment for r in read(tmp_path, text).ratings] == [keys[2]]
    letter = 'id,text,score\na,"Dear all, and so on,\n2 of us, 3 of you\nBest, me",1\n'
    assert read(tmp_path, letter).ratings == (Rating("a", 1.0),)


def test_endless_quotes_end(tmp_path: Path) -> None:
    said = refusal(tmp_path, "id,score\n" + 'a","b\n' * 20_000)
    assert "quotes are broken in too many places" in said


@pytest.mark.parametrize(("separator", "name"), [(",", "csv"), (";", "csv"), ("\t", "tsv")])
def test_separators_are_found_by_the_header(separator: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text(separator.join(["id", "te,xt" if separator != "," else "t;x", "score\n"]))
    with path.open("a") as file:
        file.write(separator.join(["a", "x", "3\n"]))
    found = formats.read(path)
    assert (found.format, found.ratings) == (name, (Rating("a", 3.0),))


def test_csv_that_says_its_separator(tmp_path: Path) -> None:
    found = read(tmp_path, "sep=;\r\nid;score\r\na;3\r\n")
    assert found.ratings == (Rating("a", 3.0),)
    assert "has no tabs. Read it as csv." in refusal(tmp_path, "id;score\na;3\n", "tsv")


def test_tsv_with_and_without_quotes(tmp_path: Path) -> None:
    plain = 'id\ttext\tscore\na\t"Hello" he said\t1\nb\tsaid "x\t2\n'
    assert [r.segment for r in read(tmp_path, plain, "tsv").ratings] == ["a", "b"]
    excel = 'id\ttext\tscore\n"a, b"\t"two\nlines"\t1\nb\tx\t2\n'
    found = read(tmp_path, excel, "tsv")
    assert [r.segment for r in found.ratings] == ["a, b", "b"]
    assert "quotes" in found.notes[0]


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_lines_may_end_in_any_way(name: str, tmp_path: Path) -> None:
    lines = ["id,text,score", "a,\u2028x\x0b\x85,1", "b,y,2", ""]
    for end in ("\n", "\r\n", "\r"):
        text = end.join(lines).replace(",", "\t" if name == "tsv" else ",")
        found = read(tmp_path, text, name)
        assert (found.rows, [r.score for r in found.ratings]) == (2, [1.0, 2.0])


def test_nul_and_half_characters_are_rejected(tmp_path: Path) -> None:
    found = read(tmp_path, "id,score\na\x00,1\nb,2\x00\nc,3\n")
    assert [r.segment for r in found.ratings] == ["c"]
    lines = '{"id": "\\ud800", "score": 1}\n{"id": "a", "score": 1, "details": {"x": "\\udc00"}}\n'
    assert len(read(tmp_path, lines, "jsonl").rejected) == 2


def test_json_lines_of_all_kinds(tmp_path: Path) -> None:
    lines = [
        '{"id": 7, "score": 1}',
        '{"id": "b", "score": "2.5"}',
        "[1, 2]",
        "3",
        '{"id": "c"',
        '{"id": "d", "score": NaN}',
        '{"id": "e", "score": 1, "score": 2}',
        '{"id": "f", "score": [3]}',
        '{"id": {"x": 1}, "score": 3}',
        '{"id": "g"}',
        "",
        f'{{"id": "h", "score": {"9" * 400}}}',
        "[" * 100_000,
        f'{{"id": "i", "score": {"9" * 5000}}}',
    ]
    found = read(tmp_path, "\n".join(lines), "jsonl")
    assert [(r.segment, r.score) for r in found.ratings] == [("7", 1.0), ("b", 2.5)]
    assert found.blank == ("g",)
    assert found.rows == 13
    why = {r.place: r.why for r in found.rejected}
    assert why["line 3"] == "is not an object {…}."
    assert "'nan' as its score, which is not a finite number" in why["line 6"]
    assert "twice" in why["line 7"]
    assert "nested too deep" in why["line 13"]


def test_a_json_array_of_objects(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"id": "a", "score": 1}, 3, {"id": "b", "score": null}]')
    found = formats.read(path)
    assert (found.format, found.rows, found.used, found.blank) == ("jsonl", 3, 1, ("b",))
    assert found.rejected[0].place == "item 2"


# Files that are none ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_files_that_make_no_sense_are_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    path = path_of(name, tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        formats.read(path, name)
    for text in (b"", b"\xff\xfe\x00", b"\x1f\x8b\x08cut", b"PK\x03\x04cut", b"PAR1", b"\n \n"):
        said = refusal(tmp_path, text, name)
        assert said.endswith(".")
        assert repr(str(path)) in said


def test_empty_and_header_only(tmp_path: Path) -> None:
    assert "is empty. Expected a header" in refusal(tmp_path, "")
    assert "it has no rows. Expected one row" in refusal(tmp_path, "id,score\n")
    packed = gzip.compress(b"id,score\n" + b"a,1\n" * 1000)
    assert "the gzip file is damaged" in refusal(tmp_path, packed[:-9])


def test_recognised_by_content(tmp_path: Path) -> None:
    for name in TABLES:
        source = path_of(name, tmp_path, "right")
        formats.get(name).write_ratings(study(), [Rating("a", 1.0, "Ann")], source)
        target = tmp_path / "wrong.dat"
        target.write_bytes(source.read_bytes())
        found = formats.recognise(target)
        assert found is not None
        assert found.name == name
    target.write_text('{"id": "a", "text": "one\u2028two", "score": 3}\n', encoding="utf-8")
    assert formats.read(target).ratings == (Rating("a", 3.0),)
    target.write_text("just words\nand more\n")
    assert formats.recognise(target) is None
    assert not any(formats.get(name)._recognises(Probe(tmp_path)) for name in TABLES)


# Spreadsheets -----------------------------------------------------------------------------------


def book(rows: list[list[Any]], path: Path) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    made.save(path)
    return path


def parts(path: Path, **changes: str) -> Path:
    """The same workbook with ``before=after`` in its sheet."""
    with zipfile.ZipFile(path) as archive:
        found = {n: archive.read(n) for n in archive.namelist()}
    sheet = found["xl/worksheets/sheet1.xml"].decode()
    sheet = sheet.replace(changes["before"], changes["after"])
    with zipfile.ZipFile(path, "w") as archive:
        for n, body in found.items():
            archive.writestr(n, sheet if n.endswith("sheet1.xml") else body)
    return path


def test_spreadsheet_cells_of_all_kinds(tmp_path: Path) -> None:
    from datetime import datetime

    when = datetime(2026, 11, 17, 3, 21, 32)
    rows: list[list[Any]] = [
        ["id", "score", "rater", "time"],
        [7, 3.5, "Ann", when],
        [7.5, "4", None, None],
        ["007", True, "Ann", None],
        ["a", None, None, None],
        [None, None, None, None],
        ["b", "=1+1", "Ann", None],
        ["c", 5, "Ann", None, "stray"],
    ]
    found = formats.read(book(rows, tmp_path / "a.xlsx"))
    assert found.ratings == (
        Rating("7", 3.5, "Ann", "2026-11-17T03:21:32"),
        Rating("7.5", 4.0),
    )
    assert (found.rows, found.blank) == (6, ("a",))
    assert [(r.place, r.why.split(".")[0]) for r in found.rejected] == [
        ("row 4", "has 'True' as its score, which is not a number"),
        ("row 7", "has a formula without a stored value"),
        ("row 8", "has cells to the right of the last named column"),
    ]


def test_rows_that_other_readers_lose_are_read(tmp_path: Path) -> None:
    rows = [["id", "score"], ["a", 1], ["b", 2]]
    path = parts(book(rows, tmp_path / "a.xlsx"), before='ref="A1:B3"', after='ref="A1:A1"')
    assert formats.read(path).used == 2
    again = parts(path, before='<row r="3">', after='<row r="2">')
    assert formats.read(again).used == 2
    double = parts(book(rows, tmp_path / "b.xlsx"), before='<c r="B2"', after='<c r="A2"')
    with pytest.raises(DataError, match="the cell A2 twice"):
        formats.read(double)


def test_what_is_no_spreadsheet(tmp_path: Path) -> None:
    assert "old .xls file" in refusal(tmp_path, b"\xd0\xcf\x11\xe0rest", "xlsx")
    assert "not a zip file" in refusal(tmp_path, "id,score\n", "xlsx")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "x")
    assert "without xl/workbook.xml" in refusal(tmp_path, out.getvalue(), "xlsx")
    assert "is empty" in refusal(tmp_path, book([], tmp_path / "e.xlsx").read_bytes(), "xlsx")
    path = book([["id", "score"], ["a", 1]], tmp_path / "f.xlsx")
    laughs = '<!DOCTYPE x [<!ENTITY a "b">]><worksheet'
    parts(path, before="<worksheet", after=laughs)
    with pytest.raises(DataError, match="defines entities"):
        formats.read(path)


def test_spreadsheets_of_old_macs_count_days_from_1904(tmp_path: Path) -> None:
    from datetime import datetime

    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    made = openpyxl.Workbook()
    made.epoch = CALENDAR_MAC_1904
    for row in (["id", "score", "time"], ["a", 1, datetime(2026, 11, 17, 3, 21, 32)]):
        made.active.append(row)
    made.save(tmp_path / "a.xlsx")
    assert formats.read(tmp_path / "a.xlsx").ratings == (
        Rating("a", 1.0, "", "2026-11-17T03:21:32"),
    )


def test_columns_beyond_z_stay_in_their_places(tmp_path: Path) -> None:
    names = [f"column {k}" for k in range(800)]  # to ADT
    path = book([names, [f"cell {k}" for k in range(800)]], tmp_path / "a.xlsx")
    found = tables.read_table(path)
    assert found.columns.tolist() == names
    assert found.iloc[0].tolist() == [f"cell {k}" for k in range(800)]


def test_characters_that_spreadsheets_escape(tmp_path: Path) -> None:
    """_x000D_ in a file is a carriage return; a text that says so itself is escaped in turn."""
    path = book([["id", "score"], ["a_x000D_b_x00e9_", 1]], tmp_path / "a.xlsx")
    assert [r.segment for r in formats.read(path).ratings] == ["a\rb\u00e9"]
    told = Rating("fg_x000D_", 2.0, "ann_x0041_", details={"comment": "_x005F_x0041_\r\n"})
    segment = Segment("fg_x000D_", "fg_x000D_", {"output": "x"}, "", 1)
    formats.get("xlsx").write_ratings(Tasks((segment,)), [told], tmp_path / "b.xlsx")
    assert formats.read(tmp_path / "b.xlsx").ratings == (told,)


def test_rows_are_called_by_the_numbers_that_the_spreadsheet_shows(tmp_path: Path) -> None:
    """Empty rows need not be in the file."""
    path = book([["id", "score"], ["a", 1], ["b", "what"]], tmp_path / "a.xlsx")
    with zipfile.ZipFile(path) as archive:
        assert b'<row r="3"><c r="A3"' in archive.read("xl/worksheets/sheet1.xml")
    for before, after in (('<row r="3">', '<row r="9">'), ('"A3"', '"A9"'), ('"B3"', '"B9"')):
        parts(path, before=before, after=after)
    assert [r.place for r in formats.read(path).rejected] == ["row 9"]


def test_a_spreadsheet_that_unpacks_to_more_than_a_gigabyte_is_refused(tmp_path: Path) -> None:
    """By what its table of contents says, before anything is unpacked."""
    path = book([["id", "score"], ["a", 1]], tmp_path / "a.xlsx")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/media/picture.bin", b"")
    data = path.read_bytes()
    at = data.rindex(b"PK\x01\x02")  # the last entry of the table, which is that of the picture
    for size, refused in ((10**8, False), (10**9, True), (2**32 - 2, True)):
        path.write_bytes(data[: at + 24] + struct.pack("<I", size) + data[at + 28 :])
        for read_it in (formats.read, tables.read_table):
            if refused:
                with pytest.raises(DataError, match="unpacks to more than 1 GB"):
                    read_it(path)
            else:
                read_it(path)


def test_parquet_of_all_kinds(tmp_path: Path) -> None:
    from decimal import Decimal

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3], "score": [Decimal("1.5"), None, Decimal("2")]}), path)
    found = formats.read(path)
    assert found.ratings == (Rating("1", 1.5), Rating("3", 2.0))
    assert found.blank == ("2",)
    pq.write_table(pa.table({"id": ["a", "b"], "score": [float("nan"), 1.0]}), path)
    found = formats.read(path)
    assert "finite" in found.rejected[0].why
    pq.write_table(pa.table({"id": ["a"], "score": [[1]]}), path)
    assert "list" in formats.read(path).rejected[0].why
    data = bytearray(path.read_bytes())
    data[-8:-4] = struct.pack("<I", 2**31)
    assert "Parquet file" in refusal(tmp_path, bytes(data), "parquet")


# Pools as spreadsheets --------------------------------------------------------------------------


def test_pools_may_be_spreadsheets_and_json(tmp_path: Path) -> None:
    path = book([["id", "x", None], ["007", 0.1 + 0.2], [8, 7], ["c", 1e300]], tmp_path / "p.xlsx")
    parts(path, before="<v>0.3</v>", after="<v>0.30000000000000004</v>")
    frame = tables.read_table(path)
    assert frame["id"].tolist() == ["007", "8", "c"]
    assert frame["x"].tolist() == ["0.30000000000000004", "7", "1e+300"]
    array = tmp_path / "p.json"
    array.write_text('[{"id": "a", "x": 0.30000000000000004}, {"id": "b", "x": 2}]')
    assert tables.read_table(array)["x"].tolist() == [0.1 + 0.2, 2.0]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([], "is empty"),
        ([["id", "x"]], "no rows"),
        ([["id", "id"], [1, 2]], "two columns are called 'id'"),
        ([["id", "x"], [1, 2, 3]], "cells to the right of the last named column"),
        ([["id", "x"], [1, "=A2"]], "a formula without a value"),
    ],
)
def test_spreadsheets_that_are_no_pools(rows: list[list[Any]], why: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=why):
        tables.read_table(book(rows, tmp_path / "p.xlsx"))


def test_json_that_is_no_pool(tmp_path: Path) -> None:
    for name, text in (("a.json", '{"a": 1}'), ("b.json", "[1]"), ("c.json", "["), ("d.xlsx", "")):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError):
            tables.read_table(tmp_path / name)


def test_tables_whose_rows_are_longer_than_the_header(tmp_path: Path) -> None:
    """pandas would take the first column for an index and move every value on by one."""
    path = tmp_path / "p.csv"
    path.write_text("id,x\na,1,2\nb,3,4\n")
    with pytest.raises(DataError, match="2 names but every row has 3 cells"):
        tables.read_table(path)
    path.write_text("id,x\n")
    with pytest.raises(DataError, match="has no rows"):
        tables.read_table(path)
    packed = tmp_path / "p.csv.gz"
    packed.write_bytes(gzip.compress(b"id,x\na,1\n")[:-3])
    with pytest.raises(DataError, match="cannot read"):
        tables.read_table(packed)


def test_cells_with_any_line_break_stay_one_cell(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(tables.as_text([["id", "x"], ["a\rb", "c\nd"]], ",").encode())
    assert tables.read_table(path)["id"].tolist() == ["a\rb"]


def test_details_that_json_cannot_hold_are_rejected(tmp_path: Path) -> None:
    lines = '{"id": "a", "score": 1, "details": {"x": [NaN]}}\n{"id": "b", "score": 2}\n'
    (tmp_path / "a.jsonl").write_text(lines)
    found = formats.read(tmp_path / "a.jsonl")
    assert [r.segment for r in found.ratings] == ["b"]
    assert [r.why for r in found.rejected] == ["has details that are not plain JSON."]
