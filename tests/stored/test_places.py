"""Rows fetched by their places in files are those that the plain query gives."""

import numpy as np
import pytest

from fewgold.pool import Pool
from fewgold.samplers import (
    ByColumn,
    ByMetric,
    Clusters,
    SimpleRandom,
    Stratified,
    Systematic,
)
from fewgold.stored import StoredPool, groups

pytest.importorskip("duckdb")
SAMPLERS = [
    SimpleRandom(),
    Systematic(),
    Systematic(inside="judge"),
    Systematic(ByMetric()),
    Stratified(),
    Stratified(ByColumn("language"), allocation="optimal"),
    Clusters(),
    Clusters(3),
]


def pool(metrics=("judge", "score")):
    """Verdicts and scores of few digits: most ranks are ties."""
    rng = np.random.default_rng(3)
    n = 900
    table = {
        "judge": rng.integers(2, size=n).astype(float),
        "score": rng.integers(5, size=n).astype(float),
    }
    return Pool(
        np.array([f"s{k:04d}" for k in range(n)]),
        {m: table[m] for m in metrics},
        documents=np.array([f"d{k // 7}" for k in range(n)]),
        texts={"language": np.array([("de", "en", "zh")[k % 3] for k in range(n)])},
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import pandas as pd

    made, where = pool(), tmp_path_factory.mktemp("places")
    frame = pd.DataFrame(
        {"id": made.ids, "document": made.documents, **made.metrics, **made.texts, "at": range(900)}
    ).sample(frac=1, random_state=1)
    for k in range(3):
        frame.iloc[k::3].to_parquet(where / f"{k}.parquet", row_group_size=100)
    return where


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("giant", [10**9, 20])
@pytest.mark.parametrize("metrics", [("judge", "score"), ("judge",)])
def test_the_same_rows_with_and_without_places(folder, metrics, giant, seed, monkeypatch):
    monkeypatch.setattr(groups, "_GIANT", giant)
    columns = {"id": "id", "document": "document", "metrics": metrics, "texts": "language"}
    stored = StoredPool(folder, order="at", **columns)
    plain = StoredPool.of(pool(metrics))
    assert stored._scan.view.placed and not plain._scan.view.placed
    samplers = [*SAMPLERS, Stratified(ByMetric("score" if "score" in metrics else "judge"))]
    for sampler in samplers:
        ours = sampler.draw(stored, 90, rng=seed)
        theirs = sampler.draw(plain, 90, rng=seed)
        assert ours.ids.tolist() == theirs.ids.tolist(), sampler.name
        np.testing.assert_array_equal(ours.design.weights, theirs.design.weights)
