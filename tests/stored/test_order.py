"""The seeded order depends on the seed and the ids, and on nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, spearmanr

from fewgold.samplers import Balanced, ByMetric, Clusters, SimpleRandom, Stratified, Systematic
from fewgold.stored import DuckDB, StoredPool
from fewgold.stored.groups import salt_of
from reference.stored import key, line_of, ranked
from sweeps import quick

SIZE = 240
SAMPLERS = [
    SimpleRandom(), Systematic(), Systematic(inside="m"), Stratified(), Clusters(3),
    Stratified(ByMetric(bins=5)), Stratified(allocation="optimal"), Balanced(),
]  # fmt: skip
IDS = {
    "text": [f"s{k}" for k in range(SIZE)],
    "numbers": list(range(SIZE)),
    "non-ASCII": [f"{k}·né-寿司-🙂{k % 7}" for k in range(SIZE)],
}


def table(ids):
    rng = np.random.default_rng(4)
    documents = [ids[k // 9] for k in range(SIZE)]
    return pd.DataFrame(
        {"id": ids, "doc": documents, "m": rng.normal(size=SIZE), "k": rng.gamma(1, size=SIZE)}
    )


def one_file(frame, folder):
    frame.to_parquet(folder / "a.parquet")


def shuffled(frame, folder):
    frame.sample(frac=1, random_state=1).to_parquet(folder / "z.parquet", row_group_size=7)


def many_files(frame, folder):
    for k in range(11):
        frame[10 - k :: 11].to_parquet(folder / f"{k * 7919 % 100}-part.parquet")


def by_folders(frame, folder):
    for k in range(3):
        (folder / f"day=2024-01-0{k + 1}").mkdir()
        frame[k::3].to_parquet(folder / f"day=2024-01-0{k + 1}" / "x.parquet", row_group_size=20)


@pytest.mark.parametrize("ids", quick(IDS, ["numbers", "non-ASCII"]))
def test_the_same_sample_however_rows_are_stored(tmp_path, ids):
    frame, found = table(ids), []
    for write, threads in ((one_file, 1), (shuffled, 2), (many_files, 2), (by_folders, 1)):
        folder = tmp_path / write.__name__
        folder.mkdir()
        write(frame, folder)
        engine = DuckDB(threads=threads)
        columns = {"id": "id", "document": "doc", "metrics": ["m", "k"]}
        with StoredPool(folder, engine=engine, **columns) as pool:
            found.append([s.draw(pool, 30, rng=5).ids.tolist() for s in SAMPLERS])
            if write is one_file:
                again = [s.draw(pool, 30, rng=6).ids.tolist() for s in SAMPLERS]
                assert all(a != b for a, b in zip(found[-1], again, strict=True))
            assert pool.fingerprint and len(pool) == SIZE
    assert found[1:] == found[:-1]
    assert set(map(type, found[0][0])) == {type(ids[0])}


def test_the_folder_of_a_file_makes_a_column(tmp_path):
    by_folders(table(IDS["text"]), tmp_path)
    with StoredPool(tmp_path, id="id", document="day", metrics="m") as pool:
        assert pool.n_documents == 3
        assert np.bincount(Stratified().draw(pool, 9, rng=1).design.strata).tolist() == [3, 3, 3]


def test_one_seed_one_salt():
    salts = [salt_of(np.random.default_rng(seed)) for seed in range(300)]
    assert len(set(salts)) == 300
    assert salts[7] == salt_of(np.random.default_rng(7))


def places(order, runs=600, size=12):
    """Where each of some values stands in the orders of many seeds: (runs, size)."""
    values = [f"s{k}" for k in range(size)]
    found = np.empty((runs, size), dtype=int)
    for seed in range(runs):
        line = order(values, salt_of(np.random.default_rng(seed)))
        found[seed] = [line.index(v) for v in values]
    return found


@pytest.mark.parametrize("order", [line_of, ranked])
def test_every_place_is_as_likely(order):
    found = places(order)
    counts = np.stack([(found == p).sum(0) for p in range(12)])
    # Rows and columns of the table each sum to a constant: (12 - 1)² degrees of freedom.
    assert chisquare(counts.ravel(), ddof=12 * 12 - 1 - 11 * 11).pvalue > 1e-3
    steps = (found[:, 1:] > found[:, :-1]).sum()
    assert abs(steps - 600 * 11 / 2) < 4 * np.sqrt(600 * 11 / 4)


@pytest.mark.parametrize("order", [line_of, ranked])
def test_orders_of_two_seeds_have_nothing_in_common(order):
    found = places(order)
    related = [spearmanr(a, b).statistic for a, b in zip(found[::2], found[1::2], strict=True)]
    assert abs(np.mean(related)) < 4 / np.sqrt(11 * len(related))
    assert np.var(related) == pytest.approx(1 / 11, rel=0.3)


def test_keys_are_md5():
    """Written down, so that no later version draws other samples for the same seed."""
    assert key("0f", "é") == "98b73e5755b4c9bce3eacc817161ac4d"
    salt = salt_of(np.random.default_rng(1))
    assert salt == "20c1af7cde48b93f"
