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
    print(f"\n{name}:", ", ".join(f"{what} {np.mean(found):.3f}" for what, found in hits.items()))
    for what, found in hits.items():
        per_study = count if what in ("own", "shrunk") else 1
        slack = 0.02 + 4 * np.sqrt(0.95 * 0.05 / (DRAWS * per_study))
        assert 0.95 - slack < np.mean(found), (what, np.mean(found))
        if what != "median":
            assert np.mean(found) < min(0.95 + slack, 0.999), (what, np.mean(found))


@pytest.mark.slow
@pytest.mark.parametrize("rated", [20, 40])
@pytest.mark.parametrize("name", ["random+mean", "random+ridge"])
def test_pass_or_fail(name: str, rated: int) -> None:
    """A good judge makes intervals of few verdicts narrower, and somewhat too narrow."""
    rng = np.random.default_rng(7)
    size, rates = 1200, np.array([0.75, 0.86, 0.6, 0.9, 0.8, 0.7])
    label = np.arange(size) % rates.size
    good = rng.random(size) < rates[label]
    judge = np.where(rng.random(size) < 0.88, good, ~good) + 0.15 * rng.normal(size=size)
    pool, gold = Pool(ids=np.arange(size), metrics={"judge": judge}), good.astype(float)
    made = strategy(name, pool)
    truth = np.array([gold[label == k].mean() for k in range(rates.size)])
    sample = made.select(pool, rated * rates.size, draws=DRAWS, rng=5)
    hits: list[float] = []
    for k in range(DRAWS):
        drawn = sample.draw(k)
        ratings = drawn.rate(gold[drawn.indices], limits=(0, 1))
        frame = slices(ratings, made, label).to_frame().query("enough")
        true = truth[frame["slice"].astype(int)]
        hits.extend((frame["low"] - 1e-9 <= true) & (true <= frame["high"] + 1e-9))
    print(f"\n{name}, about {rated} of {size // rates.size}: {np.mean(hits):.3f}")
    assert np.mean(hits) > (0.94 if name == "random+mean" else 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("documents", ["none", "crossed", "nested"])
@pytest.mark.parametrize("name", ["random+mean", "random+ridge", "docs-balanced+ridge"])
def test_slices_of_a_new_test_set(name: str, documents: str) -> None:
    """The expected score of each slice, over pools that are drawn anew each time.

    Slices lie across documents or hold whole ones. Intervals for the pool alone are too narrow.
    """
    if documents == "none" and name.startswith("docs"):
        pytest.skip("there are no documents")
    rng = np.random.default_rng(23)
    size, count, share = 600, 60, [0.4, 0.3, 0.3]
    wanted = np.array([0.0, 0.5, -0.5])
    inside: dict[str, list[bool]] = {"process": [], "pool": []}
    for _ in range(DRAWS):
        document = np.repeat(np.arange(count), size // count)
        label = rng.choice(3, size, p=share)
        if documents == "nested":
            label = rng.choice(3, count, p=share)[document]
        effect = 0.0 if documents == "none" else 0.6 * rng.normal(size=count)[document]
        metric = effect + rng.normal(size=size)
        gold = wanted[label] + metric + rng.normal(size=size)
        known = None if documents == "none" else document
        pool = Pool(ids=np.arange(size), documents=known, metrics={"m": metric})
        made = strategy(name, pool)
        drawn = made.select(pool, 150, rng=rng)
        ratings = drawn.rate(gold[drawn.indices])
        for target, found in inside.items():
            frame = slices(ratings, made, label.astype(str), target=target).to_frame()
            true = wanted[frame["slice"].astype(int)]
            found.extend(((frame["low"] <= true) & (true <= frame["high"])).tolist())
    rates = {target: float(np.mean(found)) for target, found in inside.items()}
    print(f"\n{name}, documents {documents}: {rates}")
    # Slices of one pool share its documents; a slice of whole ones has only about twenty of them.
    slack = 0.015 + 4 * np.sqrt(0.95 * 0.05 / DRAWS / 3)
    assert 0.95 - slack < rates["process"] < 0.95 + slack
    assert rates["pool"] < rates["process"] - 0.02
