"""The one reader of tables, the one parser of numbers, the one guess of roles."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold import io as tables
from fewgold.errors import DataError
from fewgold.io import TableError, column_of, filled, read_file, read_table
from fewgold.io.columns import roles

TEXTS = ['He said "hi"', "two\nlines", "plain", "x, y; z", "a\ttab", '5" pipe', "Grüße €", " "]
IDS = ["007", "1.10", "NA", "null", "3-4", "a b", "x=1", "8"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": IDS,
            "document": ["NA", "NA", "d1", "d1", "d2", "d2", "d3", "d3"],
            "output": TEXTS,
            "comet": [0.5, 0.25, -1.0, 0.125, 2.0, 0.75, 1.5, 0.0],
        }
    )


def saved(folder: Path, data: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def refusal(folder: Path, data: str | bytes, name: str = "t.csv") -> TableError:
    with pytest.raises(TableError) as caught:
        read_table(saved(folder, data, name))
    return caught.value


# Every way to write the same table --------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_separators_go_by_content(separator: str, name: str, ends: str, tmp_path: Path) -> None:
    text = frame().to_csv(sep=separator, index=False, lineterminator=ends)
    found = read_table(saved(tmp_path, text, name))
    assert found["id"].tolist() == IDS
    assert found["output"].tolist() == TEXTS
    assert found["document"].tolist() == frame()["document"].tolist()
    assert column_of(found["comet"], "comet").values.tolist() == frame()["comet"].tolist()


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_encodings_are_found_and_told(encoding: str, packed: bool, tmp_path: Path) -> None:
    data = frame().to_csv(index=False).encode(encoding)
    path = saved(
        tmp_path, gzip.compress(data) if packed else data, "t.csv.gz" if packed else "t.csv"
    )
    found = read_file(path)
    assert found.header == ("id", "document", "output", "comet")
    assert found.frame()["output"].tolist() == TEXTS
    foreign = not encoding.startswith("utf-8")
    assert any(r.code == "encoding" for r in found.remarks) is foreign
    assert found.packed is packed


def test_a_line_that_states_the_separator(tmp_path: Path) -> None:
    found = read_table(saved(tmp_path, "sep=|\nid|x\na;b|1,5\n"))
    assert found.to_dict("list") == {"id": ["a;b"], "x": ["1,5"]}
    found = read_table(saved(tmp_path, "sep=;\nid,note;x\na,b;1\n"))
    assert found.to_dict("list") == {"id,note": ["a,b"], "x": ["1"]}


def test_other_kinds_hold_the_same(tmp_path: Path) -> None:
    rows = frame().to_dict("records")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    for name, data in (("t.jsonl", lines), ("t.json", json.dumps(rows)), ("t.csv", lines)):
        found = read_table(saved(tmp_path, data, name))
        assert found["output"].tolist() == TEXTS
        assert found["comet"].tolist() == frame()["comet"].tolist()
    for name in ("t.xlsx", "t.parquet", "t.csv"):
        out = io.BytesIO()
        frame().to_parquet(out) if name != "t.xlsx" else frame().to_excel(out, index=False)
        found = read_table(saved(tmp_path, out.getvalue(), name))
        assert found["id"].tolist() == IDS
        assert found["output"].tolist() == TEXTS


def test_an_index_of_pandas_that_has_a_name_is_a_column(tmp_path: Path) -> None:
    frame().set_index("id").to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")["id"].tolist() == IDS


def test_tsv_without_quoting_keeps_its_quotes(tmp_path: Path) -> None:
    cells = ['He said "hi"', '"Quoted," he said', '5" pipe', '"all of it, with a comma"', "a, b"]
    text = "id\toutput\n" + "".join(f"{k}\t{c}\n" for k, c in enumerate(cells))
    assert read_table(saved(tmp_path, text, "t.tsv"))["output"].tolist() == cells


def test_a_tsv_whose_texts_are_in_quotes_keeps_them(tmp_path: Path) -> None:
    text = 'id\toutput\n1\t"Hello there"\n2\tplain\n'
    cells = read_table(saved(tmp_path, text, "t.tsv"))["output"].tolist()
    assert cells == ['"Hello there"', "plain"]


def test_a_name_with_a_comma_does_not_make_it_csv(tmp_path: Path) -> None:
    text = "id\tlength, words\toutput\na\t3\tone, two, three\nb\t1\tfour\n"
    assert list(read_table(saved(tmp_path, text)).columns) == ["id", "length, words", "output"]


def test_quotes_that_a_program_put_are_undone(tmp_path: Path) -> None:
    text = 'id\toutput\n1\t"a ""b"" c"\n2\tplain\n'
    assert read_table(saved(tmp_path, text, "t.tsv"))["output"].tolist() == ['a "b" c', "plain"]


def test_line_ends_are_those_of_files(tmp_path: Path) -> None:
    text = "id,output\ra,one\u2028two\x85three\rb,x\r"
    found = read_table(saved(tmp_path, text))
    assert found["output"].tolist() == ["one\u2028two\x85three", "x"]


def test_separators_at_the_ends_of_rows_and_empty_rows(tmp_path: Path) -> None:
    found = read_file(saved(tmp_path, "id,x,\na,1,\n,,\nb,2,\n\n"))
    assert found.frame().to_dict("list") == {"id": ["a", "b"], "x": ["1", "2"]}
    assert [r.code for r in found.remarks] == ["empty-rows"]
    assert read_table(saved(tmp_path, "id,x\na,1,,\nb,2,,\n"))["x"].tolist() == ["1", "2"]


def test_spaces_around_names_are_left_out(tmp_path: Path) -> None:
    assert list(read_table(saved(tmp_path, "id , x\na, 1\n")).columns) == ["id", "x"]


# What cannot be told apart is refused, with the line --------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("id,x,y\na,1,2\nb,3\nc,1,2\n", "ragged", "line 3 has 2"),
        ("id,x,y\na,1,2\nb,3,4,5\n", "ragged", "line 3 has 4"),
        ('id,x,y\na,"1\n2",2\nb,3\n', "ragged", "line 4 has 2"),
        ("id\tx\na\t1\nb\n", "ragged", "line 3 has 1"),
        ("id,x\na,1,2\nb,3,4\n", "header-too-short", "2 names but every row has 3 cells"),
        ("# remark\nid,x,y\na,1,2\n", "no-header", "1 cell and every row after it 3"),
        ("a1,0.5\nb2,0.7\n", "no-header", "looks like a row of data"),
        ('id,x\na,"open\nb,2\n', "broken-quotes", "line 2 has broken quotes"),
        ("id,x,x\na,1,2\n", "duplicate-columns", "two columns are called 'x'"),
        ("id,x, x\na,1,2\n", "duplicate-columns", "two columns are called 'x'"),
        ("id,x\na,1\x002\n", "nul", "line 2 holds a NUL"),
        ("id,x\n", "no-rows", "no rows"),
        ("\n \n", "empty", "empty"),
        ('{"id": 1}\n{"id": \n', "json", "line 2 is not JSON"),
        ('{"id": 1, "id": 2}\n{"id": 3}\n', "json", "line 1 has a field twice"),
    ],
)
def test_refused(text: str, code: str, says: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, text)
    assert error.code == code
    assert says in str(error)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    assert refusal(tmp_path, bytes(range(256)) * 4).code == "binary"
    assert refusal(tmp_path, b"id,x\n\x81\x8d,1\n").code == "encoding"
    assert refusal(tmp_path, gzip.compress(b"id,x\na,1\n" * 99)[:-9]).code == "damaged-gzip"
    assert refusal(tmp_path, b"SQLite format 3\x00" + bytes(99)).code == "sqlite"
    assert refusal(tmp_path, "Dear all,\n", "t.txt").code in ("not-a-table", "no-rows")


# Columns as numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["0,5", "1,25", "3", ""], [0.5, 1.25, 3.0, None]),
        (["0,512", "1,234"], [0.512, 1.234]),
        (["1,234", "2,345"], None),
        (["0,5", "1.5"], None),
        (["1,234.5", "0.5"], None),
        (["True", "false", ""], [1.0, 0.0, None]),
        (["pass", "FAIL", "NA"], [1.0, 0.0, None]),
        (["yes", "no", "maybe"], None),
        (["yes", "1"], None),
        (["1", "2.5", "nan", "None", "n/a"], [1.0, 2.5, None, None, None]),
        (["1", "2", "3", "4", "x"], None),
        (["50%", "40%"], None),
        (["1e3", "-2"], [1000.0, -2.0]),
        (["1", "inf"], None),
    ],
)
def test_numbers(cells: list[str], values: list[float | None] | None) -> None:
    found = column_of(pd.Series(cells, dtype=str), "x")
    assert (found.numeric and not found.odd) is (values is not None)
    if values is not None:
        wanted = np.array([np.nan if v is None else v for v in values])
        np.testing.assert_array_equal(found.values, wanted)
        np.testing.assert_array_equal(found.blank, np.isnan(wanted))


def test_long_columns_of_text_are_seen_to_be_text_and_long_numbers_stay_numbers() -> None:
    words = pd.Series(["some words here"] * 3000 + ["1"] * 10, dtype=str)
    assert not column_of(words, "x").numeric
    late = pd.Series(["1"] * 2500 + ["x"] * 2 + [""] * 3, dtype=str)
    found = column_of(late, "x")
    assert found.odd == {"words": [2500, 2501]}
    assert found.blank.sum() == 3


def test_gaps_are_filled_with_the_mean_of_the_system() -> None:
    table = pd.DataFrame(
        {"system": list("aabb"), "m": ["1", "", "5", "7"], "o": ["1", "", "", "4"]}
    )
    assert filled(table, ["m"])["m"].tolist() == [1.0, 13 / 3, 5.0, 7.0]
    both = filled(table, ["m", "o"], by="system")
    assert both["m"].tolist() == [1.0, 1.0, 5.0, 7.0]
    assert both["o"].tolist() == [1.0, 1.0, 4.0, 4.0]
    assert filled(table, ["m"])["o"].tolist() == ["1", "", "", "4"]


# Roles ------------------------------------------------------------------------------------------


def table(n: int = 40, **more: object) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    plain = {"id": [f"s{k}" for k in range(n)], "comet": rng.normal(size=n)}
    return pd.DataFrame({**plain, **more})


def test_a_metric_with_a_few_gaps_is_used_and_one_with_many_is_not() -> None:
    few = [None if k < 8 else float(k % 7) for k in range(40)]
    many = [None if k < 9 else float(k % 7) for k in range(40)]
    found = roles(table(bleu=few, chrf=many))
    assert found.metrics == ("comet", "bleu")
    assert found.gaps == {"bleu": 8}
    assert {n: str(w) for n, w in found.left_out.items()} == {"chrf": "9 gaps"}
    assert any("filled with the mean" in s and "bleu (8)" in s for s in found.notes())
    assert any("name the metrics with --metrics" in s for s in found.notes())
    named = roles(table(bleu=few, chrf=many), metrics=["chrf"])
    assert (named.metrics, named.gaps) == (("chrf",), {"chrf": 9})
    on_disk = roles(table(bleu=few), fill=False)
    assert {n: str(w) for n, w in on_disk.left_out.items()} == {
        "bleu": "8 gaps, to be filled first"
    }
    assert not any("--metrics" in s for s in on_disk.notes())


def test_a_metric_that_one_system_lacks_is_left_out() -> None:
    ids = [f"s{k % 20}" for k in range(40)]
    lacking = [float(k % 7) if k < 35 else None for k in range(40)]
    found = roles(table(id=ids, system=["a"] * 20 + ["b"] * 20, bleu=lacking))
    assert {n: str(w) for n, w in found.left_out.items()} == {
        "bleu": "5 gaps"
    }  # 5 of 20 of the second system


def test_naming_is_only_offered_where_it_works() -> None:
    found = roles(table(qe=[1.0] * 40, bleu=["1,234"] * 40))
    assert set(found.left_out) == {"qe", "bleu"}
    assert not any("--metrics" in s for s in found.notes())


def test_human_scores_are_never_metrics_and_unclear_ones_are_asked_about() -> None:
    one = roles(table(mqm=[float(k % 5) for k in range(40)], mqm_z=[float(k) for k in range(40)]))
    assert one.human == ("mqm",)
    assert one.humans == ("mqm", "mqm_z")
    assert one.metrics == ("comet",)
    assert {n: str(w) for n, w in one.left_out.items()} == {"mqm_z": "may be human scores"}
    scores = [float(k % 5) for k in range(40)]
    two = roles(table(score=scores, rating=scores))
    assert two.human == ()
    with pytest.raises(DataError, match=r"Name it \(score or rating\?\)"):
        two.some_humans()
    raters = roles(table(rater1=scores, rater2=scores))
    assert raters.human == ("rater1", "rater2")
    with pytest.raises(DataError, match=r"rater1 or rater2\?"):
        raters.one_human()
    words = roles(table(human=["fine", "poor"] * 20))
    with pytest.raises(DataError, match="holds words and not a number"):
        words.one_human()


def test_texts_stay_words_and_judges_count() -> None:
    found = roles(table(answer=["yes", "no"] * 20, verdict=["pass", "fail"] * 20))
    assert found.texts == ("answer",)
    assert found.table["answer"].tolist()[:2] == ["yes", "no"]
    assert found.metrics == ("comet", "verdict")
    assert found.table["verdict"].tolist()[:2] == [1.0, 0.0]
    assert "in verdict, pass counts as 1 and fail as 0" in found.notes()


def test_several_raters_of_an_output_become_their_mean() -> None:
    rows = table(4, id=["a", "a", "b", "b"], rater=["x", "y", "x", "y"], score=[1, 2, 4, 5])
    found = roles(rows).per_output()
    assert found.table["id"].tolist() == ["a", "b"]
    assert found.table["score"].tolist() == [1.5, 4.5]
    assert found.rater is None


def test_roles_that_nobody_shall_have() -> None:
    rows = table(document=["d"] * 40, system=["s"] * 40)
    found = roles(rows, document="none", system="none", metrics=["none"])
    assert (found.document, found.system, found.metrics) == (None, None, ())


def test_the_names_of_tables_are_exported() -> None:
    assert set(tables.__all__) <= set(dir(tables))
