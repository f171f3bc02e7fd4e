"""Intervals of slices, shrunk slices, quantiles and ratios hold as often as they promise."""

from __future__ import annotations

import numpy as np
import pytest

from fewgold.pool import Pool
from fewgold.quantities import quantile, ratio
from fewgold.registry import strategy
from fewgold.slices import slices

DRAWS = 300


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random+mean", "docs-prop+mean", "docs-balanced+ridge"])
def test_coverage(name: str) -> None:
    """On scores that are not skewed: within four Monte-Carlo errors, and two points, of 95 %."""
    rng = np.random.default_rng(11)
    size, count = 1200, 6
    documents = np.repeat(np.arange(120), 10)
    label = documents % count
    metric, words = rng.normal(size=size), rng.integers(5, 40, size).astype(float)
    effect = rng.normal(0, 0.4, 120)[documents]
    gold = 3 + 0.3 * rng.normal(size=count)[label] + metric + effect + rng.normal(0, 1, size)
    pool = Pool(ids=np.arange(size), documents=documents, metrics={"m": metric, "words": words})
    made = strategy(name, pool)
    sample = made.select(pool, 240, draws=DRAWS, rng=5)
    truth = np.array([gold[label == k].mean() for k in range(count)])
    middle = np.quantile(gold, 0.5, method="inverted_cdf")
    hits: dict[str, list[float]] = {"own": [], "shrunk": [], "median": [], "ratio": []}
    for k in range(DRAWS):
        drawn = sample.draw(k)
        ratings = drawn.rate(gold[drawn.indices])
        frame = slices(ratings, made, label, shrink=True).to_frame()
        true = truth[frame["slice"].astype(int)]
        hits["own"].append(float(((frame["low"] <= true) & (true <= frame["high"])).mean()))
        inside = (frame["shrunk_low"] <= true) & (true <= frame["shrunk_high"])
        hits["shrunk"].append(float(inside.mean()))
        low, high = quantile(ratings, made, 0.5).interval()
        hits["median"].append(float(low <= middle <= high))
        low, high = ratio(ratings, made, words).interval()
        hits["ratio"].append(float(low <= gold.sum() / words.sum() <= high))
    for what, found in hits.items():
        per_study = count if what in ("own", "shrunk") else 1
        slack = 0.02 + 4 * np.sqrt(0.95 * 0.05 / (DRAWS * per_study))
        assert 0.95 - slack < np.mean(found), (what, np.mean(found))
        if what != "median":
            assert np.mean(found) < min(0.95 + slack, 0.999), (what, np.mean(found))
