"""What is wrong with files, columns and values is said, with what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fewgold import Pool
from fewgold.errors import BudgetError, DataError, DesignError, FewgoldError, UnknownNameError
from fewgold.samplers import (
    ByColumn,
    ByMetric,
    Clusters,
    Incremental,
    SimpleRandom,
    Stratified,
    Systematic,
)
from fewgold.stored import DuckDB, StoredPool

COLUMNS = {"id": "id", "document": "doc", "metrics": ["m"]}


def frame(size=12, first=0, **changes):
    numbers = np.arange(first, first + size)
    made = {"id": [f"s{k}" for k in numbers], "doc": [f"d{k // 3}" for k in numbers]}
    return pd.DataFrame(made | {"m": np.sin(numbers)} | changes)


def open_pool(folder, *frames, **columns):
    for k, part in enumerate(frames):
        part.to_parquet(folder / f"part{k}.parquet", index=False)
    return StoredPool(folder, engine=DuckDB(threads=1), **(COLUMNS | columns))


def refused(match, folder, *frames, error=DataError, **columns):
    """Opening it, or the first look at the numbers, says what is wrong."""
    with pytest.raises(error, match=match):
        len(open_pool(folder, *frames, **columns))


def test_a_column_missing_in_one_file(tmp_path):
    refused(
        r"column 'm' \(metric\) is missing in 1 of 2 files: .*part1.*Leave those files out",
        tmp_path, frame(), frame(first=12).drop(columns="m"),
    )  # fmt: skip


def test_a_field_inside_a_record_is_no_column(tmp_path):
    inside = frame(first=12, meta=[{"m": 0.5, "id": 3}] * 12)
    refused("column 'm' .* missing in 1 of 2", tmp_path, frame(), inside.drop(columns="m"))
    inside.to_parquet(tmp_path / "part1.parquet")
    assert len(open_pool(tmp_path)) == 24


def test_text_in_one_file_and_numbers_in_another(tmp_path):
    refused(
        r"'m' \(metric\) has different types in different files: number in .*part0.*; text in "
        ".*part1.*one type",
        tmp_path, frame(), frame(first=12, m=[f"{k}" for k in range(12)]),
    )  # fmt: skip


def test_whole_numbers_in_one_file_and_decimals_in_another(tmp_path):
    pool = open_pool(tmp_path, frame(m=np.arange(12)), frame(first=12, m=np.arange(12) + 0.4))
    assert pool._scan.moments.mean[0] == pytest.approx(5.7)  # none is rounded


def test_files_without_rows(tmp_path):
    pool = open_pool(tmp_path, frame(0).astype({"id": str, "doc": str}), frame())
    assert len(pool) == 12
    assert SimpleRandom().draw(pool, 12, rng=1).n == 12


def test_row_groups_without_rows(tmp_path):
    table = pa.Table.from_pandas(frame())
    with pq.ParquetWriter(tmp_path / "a.parquet", table.schema) as writer:
        for part in (table[:0], table[:5], table[:0], table[5:]):
            writer.write_table(part)
    assert Systematic().draw(open_pool(tmp_path), 12, rng=1).n == 12


def test_no_rows_at_all(tmp_path):
    refused("pool is empty; expected at least one", tmp_path, frame(0).astype({"id": str}))


@pytest.mark.parametrize("value", [None, np.nan, np.inf, -np.inf])
def test_broken_metrics(tmp_path, value):
    part = frame()
    part.loc[[2, 7], "m"] = value
    refused(r"metric 'm' has 2 missing or infinite values of 12\. Score every", tmp_path, part)


def test_missing_ids_and_documents(tmp_path):
    part = frame()
    part.loc[3, "id"] = None
    refused("ids are missing for 1 of 12 rows. Fill them in", tmp_path, part)
    part = frame()
    part.loc[[3, 4], "doc"] = None
    refused("documents are missing for 2 of 12 rows", tmp_path, part)


@pytest.mark.sweep
@pytest.mark.parametrize("sampler", [SimpleRandom(), Systematic(), Stratified(), Clusters()])
@pytest.mark.parametrize("files", [1, 2])
def test_ids_that_occur_twice(tmp_path, sampler, files):
    parts = [frame(6), frame(6)] if files == 2 else [pd.concat([frame(6), frame(6)])]
    pool = open_pool(tmp_path, *parts)
    with pytest.raises(DataError, match=r"ids must differ; 's[0-5]' occurs more than once"):
        sampler.draw(pool, 12, rng=1)
    with pytest.raises(DataError, match="ids must differ; 's0' occurs more than once"):
        pool.check_ids()


def test_ids_twice_in_different_documents_are_seen_by_top_ups(tmp_path):
    pool = open_pool(tmp_path, frame(8, id=list("abcdabcd"), doc=list("11112222")))
    with pytest.raises(DataError, match=r"2 rows have them\. Ids must be unique"):
        pool._without(["a"])


def test_a_constant_metric(tmp_path):
    refused(r"metric 'm' is constant \(1 for all 12", tmp_path, frame(m=1.0))


def test_metrics_of_text(tmp_path):
    refused("metric 'm' must hold numbers; .*VARCHAR", tmp_path, frame(m="good"))


def test_unknown_columns(tmp_path):
    refused("Did you mean 'doc'", tmp_path, frame(), document="docs", error=UnknownNameError)
    refused("unknown column 'x'", tmp_path, frame(), metrics=["x"], error=UnknownNameError)
    with pytest.raises(UnknownNameError, match="orientation"):
        open_pool(tmp_path, frame(), orientation={"k": 1})


def test_no_files(tmp_path):
    with pytest.raises(DataError, match="no Parquet file was found"):
        StoredPool(tmp_path, id="id")
    with pytest.raises(DataError, match=r"no Parquet file was found at .*logs"):
        StoredPool(tmp_path / "logs*.parquet", id="id")
    with pytest.raises(DataError, match="there is no file or folder"):
        StoredPool(tmp_path / "logs.parquet", id="id")


def test_files_of_other_kinds(tmp_path):
    frame().to_csv(tmp_path / "a.csv")
    frame().to_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"must be Parquet; .*a\.csv"):
        StoredPool(tmp_path / "*", id="id")
    (tmp_path / "c.parquet").write_bytes((tmp_path / "b.parquet").read_bytes()[:200])
    with pytest.raises(DataError, match=r"could not be read: .*c\.parquet"):
        StoredPool(tmp_path, id="id")
    (tmp_path / "c.parquet").write_text("id,m\n1,2\n")
    with pytest.raises(DataError, match=r"could not be read: .*c\.parquet"):
        StoredPool(tmp_path, id="id")


def test_names_of_files_are_no_patterns(tmp_path):
    for name in ("log[1].parquet", "log*.parquet", "it's.parquet", "log1.parquet"):
        frame(5).to_parquet(tmp_path / name)
        assert len(StoredPool(tmp_path / name, **COLUMNS)) == 5


def test_names_of_columns(tmp_path):
    names = {"id": 'the "id"', "doc": "select", "m": "a.b c'd"}
    frame().rename(columns=names).to_parquet(tmp_path / "a.parquet")
    pool = StoredPool(tmp_path, id=names["id"], document="select", metrics=names["m"])
    assert Stratified(ByMetric(names["m"], bins=2)).draw(pool, 6, rng=1).n == 6
    twins = Pool(np.arange(5), {"BLEU": np.arange(5.0), "bleu": np.arange(5.0) ** 2})
    np.testing.assert_allclose(StoredPool.of(twins)._scan.moments.mean, [2, 6])


ODD_IDS = ["", " ", "'", '"', "\\", "é", "e\u0301", "A", "a", "x" * 5000, "🙂", "NULL", "0", "00"]


def test_odd_ids_are_all_different(tmp_path):
    part = frame(len(ODD_IDS), id=ODD_IDS, doc=ODD_IDS)
    pool = open_pool(tmp_path, part)
    scores = {i: float(k) for k, i in enumerate(ODD_IDS)}
    for sampler in (SimpleRandom(), Systematic(), Systematic(inside="m"), Clusters()):
        ratings = sampler.draw(pool, 7, rng=2).rate(scores)
        ratings = sampler.draw(pool, 7, given=ratings, rng=3).rate(scores)
        assert sorted(ratings.sample.ids.tolist()) == sorted(ODD_IDS)
    assert pool.n_documents == len(ODD_IDS)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(pd.date_range("2024-01-01", periods=12, freq="h")),
        pa.array(np.arange(12) * 1e15 + 0.5),
        pa.array([f"{k}.10" for k in range(12)]).cast(pa.decimal128(9, 2)),
        pa.array([f"é{k}".encode() for k in range(12)]),
        pa.array([f"c{k}" for k in range(12)]).dictionary_encode(),
        pa.array(np.arange(12, dtype=np.uint64) + 2**63),
    ],
    ids=["time", "float", "decimal", "bytes", "dictionary", "unsigned"],
)
def test_ids_of_other_types_are_topped_up(tmp_path, ids):
    pq.write_table(pa.table({"id": ids, "m": np.sin(np.arange(12))}), tmp_path / "a.parquet")
    pool = StoredPool(tmp_path, id="id", metrics="m")
    ratings = SimpleRandom().draw(pool, 6, rng=1).rate(np.zeros(6))
    ratings = SimpleRandom().draw(pool, 6, given=ratings, rng=2).rate(np.zeros(6))
    found = ratings.sample.ids.tolist()
    assert len(set(found)) == 12
    assert pool._fetch(found).ids.tolist() == found


def test_strata_without_a_label(tmp_path):
    topics = ["p", None, "", None, "p", "q", "q", "p", "p", "p", "q", "q"]
    pool = open_pool(tmp_path, frame(topic=topics), texts=["topic"])
    sample = Stratified(ByColumn("topic")).draw(pool, 12, rng=1)
    assert len(set(sample.ids.tolist())) == 12
    assert sorted(np.bincount(sample.design.strata)) == [3, 4, 5]  # no label is one stratum


def test_what_pools_on_disk_cannot_do(tmp_path):
    pool = open_pool(tmp_path, frame())
    with pytest.raises(DesignError, match=r"in memory, and this pool is on disk.*Pool\.from"):
        Incremental().draw(pool, 6)
    with pytest.raises(BudgetError, match="draws is for simulations"):
        SimpleRandom().draw(pool, 6, draws=2)
    with pytest.raises(DesignError, match="ByDocument, ByColumn or ByMetric; got"):
        Stratified(lambda p: p.ids).draw(pool, 6)
    with pytest.raises(DesignError, match="custom allocation"):
        Stratified(allocation=lambda p, s: np.ones(4)).draw(pool, 6)
    with pytest.raises(DataError, match="unknown column 'topic'"):
        Stratified(ByColumn("topic")).draw(pool, 6)
    with pytest.raises(DesignError, match="no inner order"):
        Systematic(ByMetric(), inside="m").draw(pool, 6)
    for bins in (-1, 13):
        with pytest.raises(DataError, match=f"bins must be from 1 to 12.*got {bins}"):
            Stratified(ByMetric(bins=bins)).draw(pool, 6)
    with pytest.raises(DataError, match="needs documents"):
        Systematic().draw(StoredPool(tmp_path, id="id"), 6)
    with pytest.raises(DataError, match="needs automatic metrics"):
        Stratified(ByMetric()).draw(StoredPool(tmp_path, id="id"), 6)


def test_closing(tmp_path):
    pool = open_pool(tmp_path, frame())
    part = SimpleRandom().draw(pool, 6, rng=1).pool
    pool.close()
    pool.close()
    for use in (lambda: SimpleRandom().draw(pool, 6), lambda: part._metric_values("m")):
        with pytest.raises(FewgoldError, match=r"was closed\. Open it again"):
            use()
    with pytest.raises(FewgoldError, match="was closed"):
        next(pool._scan.chunks())
