"""Dozens of metrics and few ratings: slopes that help, and standard errors that are honest."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from fewgold import Pool, registry
from fewgold.bounds import Student
from fewgold.datasets import load_demo
from fewgold.estimators import Mean, Ridge

pytestmark = pytest.mark.slow

DRAWS = 800


@pytest.fixture(scope="module")
def judged() -> tuple[Pool, np.ndarray]:
    """The demo with 46 columns: its metrics and copies of them, each with noise of its own."""
    pool, gold = load_demo("ende")
    rng = np.random.default_rng(0)
    names, metrics, orientation = list(pool.metrics), dict(pool.metrics), dict(pool.orientation)
    for k in range(46 - len(names)):
        name = names[k % len(names)]
        values = np.asarray(metrics[name])
        metrics[f"judge{k}"] = values + values.std() * rng.normal(size=len(pool))
        orientation[f"judge{k}"] = orientation.get(name, 0)
    return Pool(pool.ids, metrics, pool.documents, orientation=orientation), gold


@pytest.mark.parametrize("n", [20, 40, 66])
@pytest.mark.parametrize("sampler", ["random", "docs-sys", "docs-balanced"])
def test_many_metrics(judged, sampler, n):
    pool, gold = judged
    sample = registry.sampler(sampler).draw(pool, n, draws=DRAWS, rng=n)
    ratings = sample.rate(gold[sample.indices])
    mean, ridge = Mean(bound=Student()).estimate(ratings), Ridge(bound=Student()).estimate(ratings)
    assert not ridge.notes
    error = {e.method: np.abs(e.value - gold.mean()) for e in (mean, ridge)}
    gain = error["mean"] - error["ridge"]
    noise = gain.std() / sqrt(DRAWS)
    # A balanced sample leaves slopes little to do; elsewhere they must be worth their while.
    least = 0.0 if sampler == "docs-balanced" else 0.05 * error["mean"].mean()
    assert gain.mean() > least - 3 * noise
    # The ratio of se to sd is known to 1/√(2 draws) or somewhat worse, as scores are skewed.
    ratio = sqrt(np.mean(ridge.se**2)) / ridge.value.std()
    assert ratio > 0.95 - 3 / sqrt(2 * DRAWS)
    hits = [np.mean(np.abs(e.value - gold.mean()) <= np.diff(e.interval(0.95), axis=0)[0] / 2)
            for e in (mean, ridge)]  # fmt: skip
    assert hits[1] > hits[0] - 0.02 - 3 * sqrt(0.1 / DRAWS)
