"""A sample on disk: what comes back is what was drawn, and nothing else is accepted."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fewgold import io as tables
from fewgold import registry, sheets
from fewgold.cli import app
from fewgold.errors import DataError, UnknownNameError
from fewgold.pool import Pool
from fewgold.sample import Design, Ratings, Sample

COLUMNS = {"id": "id", "document": "doc", "metrics": ["comet", "ter"], "texts": ["source"]}
STRATEGIES = [
    "random+mean",
    "docs-prop+cv-multi",
    "docs-balanced+ridge",
    "docs-uneven-rank+ridge",
    "docs-two-wave+ridge",
    "docs-whole+mean",
    "docs-chunks3+ridge",
    "docs-incr-human+mean",
    "metrics-opt+mean",
]


def make_table(n: int = 120, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [f"{k:04d}" for k in range(n)],
            "doc": [f"d{k // 8}" for k in range(n)],
            "comet": rng.normal(size=n),
            "ter": rng.random(n),
            "source": [f"text {k}" for k in range(n)],
        }
    )


@pytest.fixture
def table() -> pd.DataFrame:
    return make_table()


@pytest.fixture
def pool(table: pd.DataFrame) -> Pool:
    return sheets.build_pool(table, COLUMNS)


@pytest.fixture
def gold(pool: Pool) -> dict[str, float]:
    rng = np.random.default_rng(5)
    scores = 3 - pool.metrics["comet"] + rng.normal(size=len(pool))
    return dict(zip(pool.ids.tolist(), scores.tolist(), strict=True))


def draw(pool: Pool, strategy: str = "docs-balanced+ridge", n: int = 30) -> Sample:
    return registry.strategy(strategy, pool).select(pool, n, rng=7)


def save(sample: Sample, path: Path, **options: Any) -> Path:
    options = {"strategy": "docs-balanced+ridge", "columns": COLUMNS} | options
    return sheets.save_sample(sample, path, **options)


def fill(path: Path, gold: dict[str, Any], separator: str = ",") -> pd.DataFrame:
    """Rate a sheet, in another order of rows."""
    frame = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    frame["score"] = [repr(gold[i]) for i in frame["id"]]
    frame = frame.iloc[::-1]
    frame.to_csv(path, sep=separator, index=False)
    return frame


def assert_same(a: Sample, b: Sample) -> None:
    assert a.indices.tolist() == b.indices.tolist()
    names = ("weights", "inclusion", "groups", "influence", "units", "balance", "strata")
    for name in (*names, "documents", "shares"):
        first, second = getattr(a.design, name), getattr(b.design, name)
        assert (first is None) == (second is None), name
        if first is not None:
            np.testing.assert_array_equal(first, second, strict=True)
    for name in ("kind", "size", "unbiased", "concentration"):
        assert getattr(a.design, name) == getattr(b.design, name)
    assert a.info == b.info


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_comes_back_is_what_was_drawn(
    pool: Pool, gold: dict[str, float], tmp_path: Path, strategy: str
) -> None:
    sample = draw(pool, strategy)
    side = save(sample, tmp_path / "a.csv", strategy=strategy)
    fill(tmp_path / "a.csv", gold)
    back = sheets.load_sample(side, pool)
    assert_same(sample, back)
    chosen = registry.strategy(strategy, pool)
    ratings = sheets.read_ratings(tmp_path / "a.csv", back)
    assert chosen.estimate(ratings).to_dict() == chosen.estimate(sample.rate(gold)).to_dict()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_top_up(pool: Pool, gold: dict[str, float], tmp_path: Path, strategy: str) -> None:
    chosen = registry.strategy(strategy, pool)
    first = draw(pool, strategy).rate(gold, limits=(-9, 19))
    more = chosen.select(pool, 12, given=first, rng=8)
    side = save(more, tmp_path / "more.csv", strategy=strategy)
    assert len(tables.read_table(tmp_path / "more.csv")) == 12
    fill(tmp_path / "more.csv", gold)
    back = sheets.load_sample(side, pool)
    assert_same(more, back)
    ratings = sheets.read_ratings(tmp_path / "more.csv", back)
    assert ratings.n == 42
    assert ratings.limits == (-9, 19)
    expected = chosen.estimate(more.rate(gold))
    assert chosen.estimate(ratings).to_dict() == expected.to_dict()
    # A third wave continues the two.
    third = chosen.select(pool, 5, given=ratings, rng=9)
    side = save(third, tmp_path / "third.csv", strategy=strategy)
    fill(tmp_path / "third.csv", gold)
    joined = sheets.read_ratings(tmp_path / "third.csv", sheets.load_sample(side, pool))
    assert chosen.estimate(joined).to_dict() == chosen.estimate(third.rate(gold)).to_dict()


def test_the_sheet_is_blind(pool: Pool, tmp_path: Path) -> None:
    sample = draw(pool)
    save(sample, tmp_path / "a.csv")
    frame = tables.read_table(tmp_path / "a.csv")
    assert list(frame.columns) == ["id", "document", "source", "score"]
    assert frame["id"].tolist() == sorted(sample.ids.tolist()) != sample.ids.tolist()
    assert set(frame["score"]) == {""}


def test_documents_stay_together_in_the_order_of_the_pool() -> None:
    table = make_table(60).sample(frac=1, random_state=3)
    pool = sheets.build_pool(table, COLUMNS)
    rows = list(csv.DictReader(io.StringIO(sheets.sheet(draw(pool, n=40)))))
    documents = [r["document"] for r in rows]
    runs = [d for d, before in zip(documents, [None, *documents], strict=False) if d != before]
    assert len(runs) == len(set(runs))
    assert runs == [d for d in dict.fromkeys(table["doc"]) if d in runs]
    place = {i: k for k, i in enumerate(table["id"])}
    inside = [[place[r["id"]] for r in rows if r["document"] == d] for d in runs]
    assert all(rows == sorted(rows) for rows in inside)


def test_saving_twice_gives_the_same_bytes(pool: Pool, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        save(draw(pool), tmp_path / folder / "s.csv", pool_path=tmp_path / folder / "pool.csv")
    for name in ("s.csv", "s.csv.design.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_side_file_says_how(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    side = save(draw(pool), tmp_path / "out" / "s.csv", pool_path=tmp_path / "p.csv", budget="25%")
    record = json.loads(side.read_text())
    assert record["schema"] == sheets.SCHEMA
    assert (record["seed"], record["n"], record["budget"]) == (7, 30, "25%")
    assert record["sampler"] == "docs-balanced"
    assert record["pool"]["path"] == "../p.csv"
    assert record["pool"]["columns"]["orientation"] == {"comet": 1, "ter": -1}
    assert record["pool"]["fingerprint"] == pool.fingerprint
    assert str(tmp_path) not in side.read_text()


def test_existing_files_stay(pool: Pool, tmp_path: Path) -> None:
    sheet = tmp_path / "a.csv"
    save(draw(pool), sheet)
    sheet.write_text("precious")
    with pytest.raises(DataError, match="may hold ratings"):
        save(draw(pool), sheet)
    assert sheet.read_text() == "precious"
    sheet.unlink()
    with pytest.raises(DataError, match=r"a\.csv\.design\.json' exists"):
        save(draw(pool), sheet)
    save(draw(pool), sheet, overwrite=True)
    assert len(tables.read_table(sheet)) == 30


def test_a_failed_write_leaves_nothing(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        save(draw(pool), tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_where_it_can_be_written(pool: Pool, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        save(draw(pool), tmp_path / "none" / "a.csv")
    with pytest.raises(DataError, match=r"\.csv or \.tsv"):
        save(draw(pool), tmp_path / "a.xlsx")
    with pytest.raises(DataError, match=r"a file of its own\. Name it with design="):
        save(draw(pool), Path("-"))
    batch = registry.strategy("random+mean").select(pool, 5, draws=3, rng=0)
    with pytest.raises(DataError, match="batch of draws"):
        save(batch, tmp_path / "a.csv")


NASTY = [
    "=1+1",
    "+x",
    "-y",
    "@sum",
    "-7",
    "007",
    "1e5",
    "naïve 日本",
    "a,b",
    'q"uote',
    " pad",
    "'x",
]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_texts_are_made_harmless_and_ids_survive(tmp_path: Path, suffix: str) -> None:
    texts = ["=cmd|' /C calc'!A0", "+1", "- said", "@x", "\tt", "a\nb", "tab\there", "=1", "ok"]
    table = pd.DataFrame({"id": NASTY, "text": [texts[k % 9] for k in range(len(NASTY))]})
    pool = Pool.from_table(table, id="id", texts=["text"])
    sample = draw(pool, "random+mean", len(NASTY))
    path = tmp_path / f"s.{suffix}"
    side = save(sample, path, columns={"id": "id", "texts": ["text"]})
    frame = tables.read_table(path)
    for cell in frame["id"].tolist() + frame["text"].tolist():
        # A number is no formula, and "+1" and "-7" are numbers.
        assert not cell.startswith(("=", "@", "\t", "\r")), cell
        assert not cell.startswith(("+", "-")) or float(cell), cell
    frame["score"] = "1.5"
    frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",", **_quoting(suffix))
    ratings = sheets.read_ratings(path, sheets.load_sample(side, pool))
    assert ratings.sample.ids.tolist() == sample.ids.tolist()
    # A spreadsheet that drops the apostrophes again does no harm either.
    frame["id"] = [str(i) for i in sample.ids]
    frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",", **_quoting(suffix))
    assert sheets.read_ratings(path, sample).n == len(NASTY)


def _quoting(suffix: str) -> dict[str, Any]:
    return {"quoting": csv.QUOTE_NONE, "quotechar": None} if suffix == "tsv" else {}


def test_ids_that_cannot_be_told_apart_are_refused() -> None:
    pool = Pool(ids=np.array(["=a", "'=a"]))
    with pytest.raises(DataError, match="too alike"):
        sheets.sheet(draw(pool, "random+mean", 2))
    pool = Pool(ids=np.array(["a\tb", "c"]))
    with pytest.raises(DataError, match=r"Write a \.csv"):
        sheets.sheet(draw(pool, "random+mean", 2), separator="\t")


def test_two_columns_of_one_name_are_refused(pool: Pool) -> None:
    with pytest.raises(DataError, match="two columns named 'source'"):
        sheets.sheet(draw(pool), score="source")


def test_byte_order_mark_only_where_needed(tmp_path: Path) -> None:
    for k, word in enumerate(["plain", "naïve"]):
        pool = Pool(ids=np.array([word, "b"]))
        save(draw(pool, "random+mean", 2), tmp_path / f"{k}.csv", columns={"id": "id"})
    assert (tmp_path / "0.csv").read_bytes()[:2] == b"id"
    assert (tmp_path / "1.csv").read_bytes()[:3] == b"\xef\xbb\xbf"
    assert list(tables.read_table(tmp_path / "1.csv").columns) == ["id", "score"]


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("suffix", "quote"), [(".csv", ""), (".csv", '"'), (".tsv", ""), (".jsonl", ""), (".json", "")]
)
def test_a_byte_order_mark_is_no_part_of_the_first_name(
    tmp_path: Path, suffix: str, quote: str, packed: str
) -> None:
    """As Excel and Notepad write it. With it, an id column would be missing or have a twin."""
    row = '{"id": "naïve", "comet": "1"}'
    line = f"{quote}id{quote},comet\nnaïve,1\n"
    text = {".jsonl": row, ".json": f"[{row}]"}.get(suffix, line)
    data = text.replace(",", "\t" if suffix == ".tsv" else ",").encode("utf-8-sig")
    assert data.startswith(b"\xef\xbb\xbf")
    path = tmp_path / f"a{suffix}{packed}"
    path.write_bytes(gzip.compress(data) if packed else data)
    found = tables.read_table(path)
    assert list(found.columns) == ["id", "comet"]
    assert [str(v) for v in found.iloc[0]] == ["naïve", "1"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252"])
def test_other_encodings_are_read_and_told(tmp_path: Path, suffix: str, encoding: str) -> None:
    row = '{"id": "naïve", "comet": "1"}'
    text = {".jsonl": row, ".json": f"[{row}]"}.get(suffix, "id,comet\nnaïve,1\n")
    data = text.replace(",", "\t" if suffix == ".tsv" else ",").encode(encoding)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    found = tables.read_file(path)
    assert found.frame().to_dict("list") == {"id": ["naïve"], "comet": ["1"]}
    kind = "Windows-1252" if encoding == "cp1252" else "UTF-16"
    assert found.sentences == (f"the text is not in UTF-8 and was read as {kind}.",)
    assert tables.read_text(path) == data.decode(encoding)


def test_bytes_of_no_encoding_are_refused_by_their_place(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,comet\na,1\nna\xefve\x81,1\n")
    with pytest.raises(DataError, match=r"not in UTF-8, .* \(line 3, byte 15\)\. Save it as"):
        tables.read_table(path)


@pytest.fixture
def rated(pool: Pool, gold: dict[str, float], tmp_path: Path) -> tuple[Path, Sample]:
    sample = draw(pool)
    save(sample, tmp_path / "a.csv")
    fill(tmp_path / "a.csv", gold)
    return tmp_path / "a.csv", sample


def _edit(path: Path, change: Any) -> None:
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame = change(frame)
    frame.to_csv(path, index=False)


def _set(frame: pd.DataFrame, value: str, row: int = 0) -> pd.DataFrame:
    frame.loc[row, "score"] = value
    return frame


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.iloc[2:], r"2 ids of the sample are missing: \d+, \d+\. Rate every"),
        (lambda f: pd.concat([f, f.iloc[:1]]), r"1 id occurs more than once: \d+\. Keep one"),
        (lambda f: pd.concat([f, f.iloc[:1].assign(id="x9")]), "not in the sample: x9.*leading"),
        (lambda f: f.assign(id=f["id"].str.lstrip("0")), r"ids are not in the sample: .*, …\."),
        (lambda f: _set(f, ""), r"1 id has no score in column 'score': \d+"),
        (lambda f: _set(f, "  "), "no score"),
        (lambda f: _set(f, "3,5"), r"decimal comma: \d+ \(3,5\)\. Write 3\.5"),
        (lambda f: _set(f, "good"), r"no number in column 'score': \d+ \(good\)"),
        (lambda f: _set(f, "nan"), r"1 id has no score in column 'score': \d+"),
        (lambda f: _set(f, "n/a"), r"1 id has no score in column 'score': \d+"),
        (lambda f: _set(f, "inf"), "no number"),
        (lambda f: _set(f, "1_000"), "no number"),
        (lambda f: f.drop(columns="score"), "no column 'score'. It has id, document, source"),
        (lambda f: f.drop(columns="id"), "no column 'id'.*id=…"),
    ],
)
def test_ratings_that_are_refused(rated: tuple[Path, Sample], change: Any, message: str) -> None:
    path, sample = rated
    _edit(path, change)
    with pytest.raises(DataError, match=message):
        sheets.read_ratings(path, sample)


def test_errors_name_arguments_in_python_and_options_on_the_command_line(
    rated: tuple[Path, Sample],
) -> None:
    path, sample = rated
    for source, told in [(path, repr(str(path))), (pd.read_csv(path, dtype=str), "the sheet")]:
        with pytest.raises(DataError, match=r"has no column 'nix'.* with human=…") as caught:
            sheets.read_ratings(source, sample, score="nix")
        assert caught.value.message_for("cli").startswith(f"{told} has no column 'nix'. It has id,")
        assert caught.value.message_for("cli").endswith("Name the right one with --human.")
    _edit(path, lambda frame: frame.drop(index=0))
    with pytest.raises(DataError, match=r"see fewgold\.missing") as caught:
        sheets.read_ratings(path, sample)
    assert "--" not in str(caught.value) and "--gaps" in caught.value.message_for("cli")


def test_spreadsheets_of_other_countries(
    rated: tuple[Path, Sample], gold: dict[str, float]
) -> None:
    path, sample = rated
    frame = pd.read_csv(path, dtype=str)
    frame.to_csv(path, sep=";", index=False)
    assert sheets.read_ratings(path, sample).scores.tolist() == sample.rate(gold).scores.tolist()
    points = sheets.read_ratings(path, sample).scores.tolist()
    frame["score"] = frame["score"].str.replace(".", ",")
    assert frame["score"].str.contains(",").any()
    frame.to_csv(path, sep=";", index=False)
    assert sheets.read_ratings(path, sample).scores.tolist() == points
    frame["score"] = [f"1,{k:03d}" for k in range(len(frame))]
    frame.to_csv(path, sep=";", index=False)
    with pytest.raises(
        DataError, match=r"decimal comma: \d+ \(1,000\).* a comma may mean thousands"
    ):
        sheets.read_ratings(path, sample)


def test_words_of_a_verdict_are_scores(rated: tuple[Path, Sample]) -> None:
    path, sample = rated
    _edit(path, lambda f: f.assign(score=["Pass" if int(i) % 2 else "fail" for i in f["id"]]))
    passed = {i: float(int(i) % 2) for i in map(str, sample.ids)}
    read = sheets.read_ratings(path, sample)
    assert read.scores.tolist() == sample.rate(passed).scores.tolist()
    assert read.limits == (0.0, 1.0)
    assert sheets.read_ratings(path, sample, limits=(-1, 1)).limits == (-1.0, 1.0)
    _edit(path, lambda f: _set(f, "yes"))
    with pytest.raises(DataError, match=r"no number in column 'score': \d+ \(yes\)"):
        sheets.read_ratings(path, sample)


def test_empty_rows_and_other_columns_are_ignored(rated: tuple[Path, Sample]) -> None:
    path, sample = rated
    before = sheets.read_ratings(path, sample).scores
    _edit(path, lambda f: f.assign(comment="fine"))
    path.write_text(path.read_text() + ",,,,\n,,,,\n")
    assert sheets.read_ratings(path, sample).scores.tolist() == before.tolist()


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "tsv"])
def test_ratings_in_other_formats(
    rated: tuple[Path, Sample], gold: dict[str, float], suffix: str
) -> None:
    path, sample = rated
    frame = pd.read_csv(path, dtype={"id": str})
    other = path.with_suffix(f".{suffix}")
    if suffix == "jsonl":
        lines = [json.dumps({"id": i, "score": gold[i]}) for i in frame["id"]]
        other.write_text("\n".join(lines))
    elif suffix == "parquet":
        frame.assign(score=[gold[i] for i in frame["id"]]).to_parquet(other)
    else:
        frame.assign(score=[repr(gold[i]) for i in frame["id"]]).to_csv(
            other, sep="\t", index=False
        )
    scores = sheets.read_ratings(other, sample).scores
    assert scores.tolist() == sample.rate(gold).scores.tolist()


def test_gaps_in_typed_formats_are_gaps(rated: tuple[Path, Sample]) -> None:
    path, sample = rated
    frame = pd.read_csv(path, dtype={"id": str})
    frame.loc[0, "score"] = np.nan
    frame.to_parquet(path.with_suffix(".parquet"))
    with pytest.raises(DataError, match="1 id has no score"):
        sheets.read_ratings(path.with_suffix(".parquet"), sample)


def test_several_raters_are_averaged(rated: tuple[Path, Sample], gold: dict[str, float]) -> None:
    path, sample = rated
    _edit(path, lambda f: f.assign(a=f["score"], b=f["score"].astype(float) + 1))
    ratings = sheets.read_ratings(path, sample, score=["a", "b"])
    np.testing.assert_allclose(ratings.scores, sample.rate(gold).scores + 0.5, rtol=1e-12)


def test_with_gaps_the_mean_is_of_the_raters_who_gave_a_score(
    rated: tuple[Path, Sample], gold: dict[str, float]
) -> None:
    path, sample = rated
    both, first, nobody = sample.ids[:3].tolist()

    def two_raters(frame: pd.DataFrame) -> pd.DataFrame:
        scores = frame["score"].astype(float)
        one = scores.astype(object).mask(frame["id"] == nobody, "")
        two = (scores + 1).astype(object).mask(frame["id"].isin([first, nobody]), "")
        return frame.assign(a=one, b=two)

    _edit(path, two_raters)
    partial = sheets.read_partial(path, sample, score=["a", "b"], gaps=True)
    found = dict(zip(sample.ids.tolist(), partial.scores.tolist(), strict=True))
    assert found[both] == pytest.approx(gold[both] + 0.5)
    assert found[first] == pytest.approx(gold[first])
    assert partial.missing.tolist() == [nobody]


def test_whole_numbers_as_ids(tmp_path: Path) -> None:
    pool = Pool(ids=np.arange(40), metrics={"comet": np.random.default_rng(0).random(40)})
    sample = draw(pool, "random+cv-comet", 10)
    side = save(sample, tmp_path / "a.csv", columns={"id": "id"})
    fill(tmp_path / "a.csv", {str(i): float(i) for i in range(40)})
    ratings = sheets.read_ratings(tmp_path / "a.csv", sheets.load_sample(side, pool))
    assert ratings.scores.tolist() == sample.indices.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(comet=t["comet"] + 1e-9), "metric comet changed"),
        (lambda t: t.iloc[:-1], "119 segments now and had 120"),
        (lambda t: t.assign(id=t["id"] + "x"), "ids changed"),
        (lambda t: t.assign(doc="one"), "documents changed"),
    ],
)
def test_another_pool_is_refused(
    pool: Pool, table: pd.DataFrame, tmp_path: Path, change: Any, message: str
) -> None:
    side = save(draw(pool), tmp_path / "a.csv")
    other = sheets.build_pool(change(table), COLUMNS)
    with pytest.raises(DataError, match=message) as caught:
        sheets.load_sample(side, other)
    assert pool.fingerprint in str(caught.value)
    assert other.fingerprint in str(caught.value)


def test_metrics_come_and_go(pool: Pool, tmp_path: Path) -> None:
    side = save(draw(pool), tmp_path / "a.csv")
    other = Pool(pool.ids, {"comet": pool.metrics["comet"]}, pool.documents, np.ones(120))
    with pytest.raises(DataError, match="metric ter is gone; cost is new"):
        sheets.load_sample(side, other)


def test_the_pool_is_found_again(table: pd.DataFrame, pool: Pool, tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    table.to_csv(path, index=False)
    pool = sheets.build_pool(tables.read_table(path), COLUMNS)
    side = save(draw(pool), tmp_path / "a.csv", pool_path=path)
    assert sheets.load_pool(side).fingerprint == pool.fingerprint
    moved = path.rename(tmp_path / "moved.csv")
    with pytest.raises(DataError, match=r"no longer at .* with pool=…"):
        sheets.load_pool(side)
    assert sheets.load_pool(side, moved).fingerprint == pool.fingerprint
    side = save(draw(pool), tmp_path / "b.csv")
    with pytest.raises(DataError, match="standard input"):
        sheets.load_pool(side)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(schema="fewgold.sample/99"), "schema 'fewgold.sample/99'"),
        (lambda r: r.pop("schema"), "schema None"),
        (lambda r: r.pop("sample"), "damaged"),
        (lambda r: r["sample"]["segments"][0].pop("weight"), "damaged"),
        (lambda r: r["sample"]["segments"][0].update(weight="x"), "damaged"),
        (lambda r: r["sample"].update(segments=[]), "damaged"),
        (lambda r: r["sample"]["segments"][0].update(index=999), "rows that the pool does not"),
        (lambda r: r["sample"]["segments"][0].update(index=-1), "rows that the pool does not"),
        (
            lambda r: r["sample"]["segments"][0].update(id="zz"),
            "does not match the pool's rows: zz",
        ),
    ],
)
def test_side_files_that_are_refused(pool: Pool, tmp_path: Path, change: Any, message: str) -> None:
    side = save(draw(pool), tmp_path / "a.csv")
    record = json.loads(side.read_text())
    change(record)
    side.write_text(json.dumps(record))
    with pytest.raises(DataError, match=message):
        sheets.load_sample(side, pool)


def test_no_side_file(pool: Pool, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file '.*a.csv'"):
        sheets.read_record(tmp_path / "a.csv.design.json")
    (tmp_path / "a.csv").touch()
    with pytest.raises(DataError, match=r"cannot read '.*a.csv': it is empty"):
        sheets.read_record(tmp_path / "a.csv.design.json")
    with pytest.raises(DataError, match=r"cannot read '.*': it is a folder"):
        sheets.read_record(f"{tmp_path}.design.json")
    (tmp_path / "c.csv.design.json").write_text("{}")
    with pytest.raises(DataError, match="is a design file"):
        sheets.read_record(tmp_path / "c.csv.design.json.design.json")
    (tmp_path / "a.csv").write_text("id,score\n1,2\n")
    with pytest.raises(DataError, match=r"there is no design file.*fewgold doctor .*a\.csv"):
        sheets.read_record(tmp_path / "a.csv.design.json")
    with pytest.raises(DataError, match="there is no design file") as found:
        sheets.read_record(tmp_path / "b.json")
    assert "fewgold doctor" not in str(found.value)  # the sheet is not known
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(DataError, match="not a design file"):
        sheets.read_record(tmp_path / "b.json")


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ("words", [4.0, 2.0]),
        ("12+0.7*words", [12 + 0.7 * 4, 12 + 0.7 * 2]),
        ("12 + words", [16.0, 14.0]),
        (".5*words", [2.0, 1.0]),
        ("10+2*words(text)", [16.0, 12.0]),
        ("words(text)", [3.0, 1.0]),
        ("a+b*c", [7.0, 8.0]),
    ],
)
def test_costs(cost: str, expected: list[float]) -> None:
    table = pd.DataFrame(
        {"id": ["a", "b"], "words": ["4", "2"], "text": ["x y z", "x"], "a+b*c": [7, 8]}
    )
    pool = sheets.build_pool(table, {"id": "id", "cost": cost})
    assert pool.cost is not None
    assert pool.cost.tolist() == expected


def test_costs_that_are_refused() -> None:
    table = pd.DataFrame({"id": ["a", "b"], "words": [1, 2], "text": ["x", "y"]})
    for cost in ("12+0.7*wrds", "__import__('os')", "words(wrds)", "-3*words"):
        with pytest.raises(UnknownNameError, match=r"FIXED\+PER\*COLUMN"):
            sheets.build_pool(table, {"id": "id", "cost": cost})
    with pytest.raises(DataError, match="must hold a number"):
        sheets.build_pool(table, {"id": "id", "cost": "3*text"})


def test_a_record_that_was_read_serves_in_place_of_its_path(pool: Pool, tmp_path: Path) -> None:
    side = save(draw(pool), tmp_path / "a.csv")
    record = sheets.read_record(side)
    assert record.path == side and sheets.read_record(record) is record
    side.unlink()  # nothing reads it a second time
    assert sheets.load_sample(record, pool).ids.tolist() == draw(pool).ids.tolist()


def test_columns_that_the_table_lacks_are_kept_exactly(pool: Pool, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    known = replace(
        pool.with_metrics(history=rng.normal(size=len(pool))),
        spread=rng.gamma(2.0, 1 / 3, len(pool)),
        orientation={**pool.orientation, "history": 0},
    )
    chosen = registry.strategy("docs-uneven+ridge", known, uniform=0.4)
    sample = chosen.select(known, 20, rng=1)
    path = tmp_path / "s.csv"
    side = sheets.save_sample(sample, path, strategy="docs-uneven+ridge", columns=COLUMNS)
    record = sheets.read_record(side)
    assert set(record["pool"]["digests"]) >= {"metric history", "spread"}
    assert "history" not in record["pool"]["columns"]["orientation"]
    again = sheets.with_added(pool, record["pool"]["added"])
    assert again.fingerprint == known.fingerprint and again.orientation == known.orientation
    np.testing.assert_array_equal(again.spread, known.spread)
    loaded = sheets.load_sample(record, again)
    np.testing.assert_array_equal(loaded.design.weights, sample.design.weights)
    with pytest.raises(DataError, match=r"metric history is gone; spread is gone"):
        sheets.load_sample(record, pool)


def test_a_side_file_of_before_has_no_added_columns(pool: Pool, tmp_path: Path) -> None:
    sample = registry.strategy("docs-uneven+ridge", pool).select(pool, 20, rng=1)
    record = sheets.read_record(
        sheets.save_sample(sample, tmp_path / "s.csv", strategy="x+mean", columns=COLUMNS)
    )
    assert "added" not in record["pool"] and "chances" not in record and "uniform" not in record
    assert sheets.with_added(pool, record["pool"].get("added")) is pool


# In Python alone: Sample.to_sheet, Sample.from_sheet, Ratings.from_sheet


@pytest.mark.parametrize("strategy", ["random+mean", "docs-balanced+ridge", "docs-whole+mean"])
def test_a_sheet_of_python_needs_nothing_else(
    pool: Pool, gold: dict[str, float], tmp_path: Path, strategy: str
) -> None:
    known = replace(pool, cost=np.arange(1.0, 121.0), spread=np.linspace(0.5, 1.5, 120))
    sample, path = draw(known, strategy), tmp_path / "a.csv"
    assert sample.to_sheet(path, estimator=strategy.partition("+")[2]) == sheets.design_path(path)
    assert list(pd.read_csv(path).columns) == ["id", "document", "source", "score"]
    assert_same(sample, Sample.from_sheet(path))
    fill(path, gold)
    chosen = registry.strategy(strategy, known)
    expected = chosen.estimate(sample.rate(gold, limits=(-9, 19))).to_dict()
    for given in (None, known):
        ratings = Ratings.from_sheet(path, given, limits=(-9, 19))
        assert chosen.estimate(ratings).to_dict() == expected
    run = CliRunner().invoke(app, ["estimate", str(path), "--limits=-9,19", "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["value"] == expected["value"]
    for command in ("doctor", "judge"):
        run = CliRunner().invoke(app, [command, str(path)])
        assert run.exit_code == 0, run.output
    with pytest.raises(DataError, match="exists and may hold ratings"):
        sample.to_sheet(path)
    other = Pool(ids=np.arange(120), metrics=pool.metrics)
    with pytest.raises(DataError, match="not the pool that the sample was drawn from"):
        Ratings.from_sheet(path, other)


def test_a_top_up_and_names_that_collide(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    metrics = {"id": rng.normal(size=40), "system": rng.normal(size=40)}
    pool = Pool(ids=np.arange(40), metrics=metrics, system=np.full(40, "a"))
    first = registry.strategy("random+mean").select(pool, 10, rng=1)
    first.to_sheet(tmp_path / "first.csv")
    assert Sample.from_sheet(tmp_path / "first.csv").ids.tolist() == first.ids.tolist()
    rated = first.rate(rng.normal(size=10))
    more = registry.strategy("random+mean").select(pool, 5, given=rated, rng=2)
    more.to_sheet(tmp_path / "more.csv", score="stars")
    frame = pd.read_csv(tmp_path / "more.csv").assign(stars=1.0)
    frame.to_csv(tmp_path / "more.csv", index=False)
    both = Ratings.from_sheet(tmp_path / "more.csv")
    assert both.n == 15
    assert both.scores.tolist() == [*rated.scores.tolist(), *[1.0] * 5]


def test_a_design_of_ones_own_has_no_sampler(
    pool: Pool, gold: dict[str, float], tmp_path: Path
) -> None:
    rows = np.arange(0, 120, 4)
    own = Sample(pool, rows, Design.simple(30, 120))
    path = tmp_path / "own.csv"
    own.to_sheet(path, estimator="mean")
    fill(path, gold)
    run = CliRunner().invoke(app, ["estimate", str(path), "--json"])
    assert run.exit_code == 0, run.output
    value = json.loads(run.stdout)["value"]
    assert value == pytest.approx(np.mean([gold[i] for i in pool.ids[rows]]))
    with pytest.raises(UnknownNameError, match="estimator"):
        own.to_sheet(tmp_path / "b.csv", estimator="nonsense")
