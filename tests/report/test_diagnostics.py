"""Diagnostics: against numpy and against slow, obvious sums."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from fewgold import Pool
from fewgold.datasets import load_demo as load
from fewgold.estimators import Mean, Ridge
from fewgold.registry import strategy
from fewgold.report.study import StudyNumbers, correlation, correlations, pulls
from fewgold.report.study_sections import weighted_line
from fewgold.sample import Ratings

load_demo = cache(load)


def rated(name: str = "random+mean", n: int = 100, seed: int = 1) -> Ratings:
    pool, gold = load_demo("zhen")
    sample = strategy(name, pool).select(pool, n, rng=seed)
    return sample.rate(gold[sample.indices])


def numbers(ratings: Ratings) -> StudyNumbers:
    return StudyNumbers(ratings, Mean(), "random+mean", 0.95)


def test_correlation_of_a_simple_sample_is_pearsons() -> None:
    ratings = rated()
    frame = correlations(ratings)
    assert set(frame["metric"]) == set(ratings.sample.pool.metrics)
    for row in frame.itertuples():
        x = ratings.sample.pool.metrics[str(row.metric)][ratings.sample.indices]
        assert row.r == pytest.approx(np.corrcoef(x, ratings.scores)[0, 1], rel=1e-12)
        assert row.low < row.r < row.high
    assert frame["r"].abs().is_monotonic_decreasing


def test_correlation_weighs_as_drawn() -> None:
    ratings = rated("docs-opt+mean", 150)
    w = ratings.sample.design.weights
    assert np.ptp(w) > 0
    x = ratings.sample.pool.metrics["comet"][ratings.sample.indices]
    cov = np.cov(x, ratings.scores, aweights=w)
    r, low, high = correlation(ratings.sample.design, x, ratings.scores)
    assert r == pytest.approx(cov[0, 1] / math.sqrt(cov[0, 0] * cov[1, 1]), rel=1e-12)
    assert low < r < high


def test_the_interval_is_fishers_for_normal_scores() -> None:
    """Large normal samples of a much larger pool: half-width on Fisher's scale about 1.96/√n."""
    rng = np.random.default_rng(5)
    size, n = 200_000, 4000
    x = rng.normal(size=size)
    y = 0.6 * x + 0.8 * rng.normal(size=size)
    pool = Pool(ids=np.arange(size), metrics={"x": x})
    sample = strategy("random+mean").select(pool, n, rng=2)
    _, low, high = correlation(sample.design, x[sample.indices], y[sample.indices])
    half = (math.atanh(high) - math.atanh(low)) / 2
    assert half == pytest.approx(1.96 / math.sqrt(n), rel=0.05)


def test_a_census_leaves_no_doubt_about_the_correlation() -> None:
    pool, gold = load_demo("zhen")
    sample = strategy("random+mean").select(pool, len(pool), rng=1)
    x = pool.metrics["comet"]
    r, low, high = correlation(sample.design, x[sample.indices], gold[sample.indices])
    assert r == pytest.approx(np.corrcoef(x, gold)[0, 1])
    assert math.isnan(low) or low == pytest.approx(r) == pytest.approx(high)


def test_few_or_constant_ratings_have_no_correlation() -> None:
    two = rated(n=2)
    assert correlations(two)["r"].isna().all()
    four = correlations(rated(n=4))
    assert four["r"].notna().all()
    assert four["low"].isna().all()
    flat = Ratings(rated().sample, np.full(100, 3.0))
    assert correlations(flat)["r"].isna().all()


def test_likeness_is_in_deviations_of_the_pool() -> None:
    ratings = rated("docs-opt+mean", 150)
    frame = numbers(ratings).likeness.set_index("metric")
    pool, w = ratings.sample.pool, ratings.sample.design.weights
    x = pool.metrics["ter"]
    mean = float(np.average(x[ratings.sample.indices], weights=w))
    gap = (mean - x.mean()) / x.std(ddof=1)
    row = frame.loc["ter"]
    assert (row["pool"], row["sample"]) == (pytest.approx(x.mean()), pytest.approx(mean))
    assert row["difference"] == pytest.approx(gap)
    assert row["chance"] == pytest.approx(gap / math.sqrt(1 / 150 - 1 / len(pool)))


def test_balanced_samples_are_like_the_pool() -> None:
    pool, gold = load_demo("zhen")
    plain = strategy("random+mean").select(pool, 200, draws=20, rng=1)
    even = strategy("docs-balanced+mean").select(pool, 200, draws=20, rng=1)

    def off(sample: object, k: int) -> float:
        ratings = sample.draw(k).rate(gold[sample.draw(k).indices])  # type: ignore[attr-defined]
        return float((numbers(ratings).likeness["chance"] ** 2).mean())

    assert np.mean([off(even, k) for k in range(20)]) < 0.2
    assert 0.5 < np.mean([off(plain, k) for k in range(20)]) < 2


def test_weights_and_design_effect() -> None:
    ratings = rated("docs-opt+mean", 150)
    got = numbers(ratings).weights
    w = ratings.sample.design.weights / ratings.sample.design.weights.sum()
    assert got["effective"] == pytest.approx(1 / (w**2).sum())
    assert got["weighting_effect"] == pytest.approx(150 * (w**2).sum())
    assert (got["weight_min"], got["weight_max"]) == (
        pytest.approx(150 * w.min()),
        pytest.approx(150 * w.max()),
    )
    assert numbers(rated()).weights["design_effect"] == pytest.approx(1.0)
    whole = rated("docs-whole+mean", 300)
    variance = float(Mean().estimate(whole).se) ** 2
    from fewgold.report.study import pool_variance

    size = len(whole.sample.pool)
    expected = variance / (pool_variance(whole) * (1 / 300 - 1 / size))
    assert numbers(whole).weights["design_effect"] == pytest.approx(expected)
    assert expected > 1.5


def test_documents_are_counted() -> None:
    ratings = rated("docs-sys+mean", 100)
    pool, rows = ratings.sample.pool, ratings.sample.indices
    assert pool.documents is not None
    counts = pd.Series(pool.documents[rows]).value_counts()
    assert numbers(ratings).documents == {
        "pool": len(set(pool.documents)),
        "sample": len(counts),
        "fewest": int(counts.min()),
        "most": int(counts.max()),
    }
    none = Pool(ids=list("abc"))
    sample = strategy("random+mean").select(none, 2, rng=1)
    assert numbers(sample.rate([1.0, 2.0])).documents is None


def test_strata_add_up_to_the_estimate() -> None:
    ratings = rated("metrics-opt+mean", 150)
    frame = numbers(ratings).strata
    assert frame is not None
    assert frame["ratings"].sum() == 150
    assert frame["share"].sum() == pytest.approx(1)
    mean = float(Mean().estimate(ratings).value)
    assert (frame["share"] * frame["mean"]).sum() == pytest.approx(mean)
    assert numbers(rated()).strata is None


def test_pulls_are_weighted_residuals() -> None:
    ratings = rated(n=60)
    estimate = Ridge().estimate(ratings)
    frame = pulls(estimate, 60)
    assert frame["pull"].sum() == pytest.approx(0, abs=1e-12)
    assert frame["share"].sum() == pytest.approx(1)
    left = estimate.residuals - estimate.residuals.mean()
    top = int(np.abs(left).argmax())
    assert frame["segment"][0] == str(ratings.sample.ids[top])
    assert frame["pull"][0] == pytest.approx(left[top] / 60)
    assert len(pulls(estimate)) == 5


def test_the_line_of_the_scatter_is_weighted_least_squares() -> None:
    rng = np.random.default_rng(0)
    x, y, w = rng.normal(size=30), rng.normal(size=30), rng.random(30) + 0.1
    slope, intercept = np.polyfit(x, y, 1, w=np.sqrt(w))
    assert weighted_line(x, y, w) == (pytest.approx(intercept), pytest.approx(slope))
    assert weighted_line(np.ones(30), y, w) == (pytest.approx(np.average(y, weights=w)), 0.0)
