"""Ratings saved: against direct computation."""

import math
from functools import cache

import numpy as np
import pytest

from fewgold.bayes import BinaryPosterior
from fewgold.datasets import load_demo as load
from fewgold.design import Design
from fewgold.estimators import Mean, Ridge
from fewgold.registry import strategy
from fewgold.report.study import pool_variance, same_error, saved
from fewgold.sample import Ratings, Sample

load_demo = cache(load)


def rated(name: str = "random+mean", n: int = 100, kind: str = "zhen", seed: int = 1) -> Ratings:
    pool, gold = load_demo(kind)
    sample = strategy(name, pool).select(pool, n, rng=seed)
    return sample.rate(gold[sample.indices], limits=(0, 25))


def test_the_variance_of_a_simple_sample_is_the_usual_one() -> None:
    ratings = rated()
    assert pool_variance(ratings) == pytest.approx(ratings.scores.var(ddof=1), rel=1e-12)


def test_large_scores_do_not_drown_the_spread() -> None:
    ratings = rated()
    shifted = Ratings(ratings.sample, ratings.scores + 1e9)
    assert pool_variance(shifted) == pytest.approx(pool_variance(ratings), rel=1e-5)


def test_the_variance_is_unbiased_under_unequal_chances() -> None:
    """All samples of two strata with different rates, taken together, give S² exactly."""
    from itertools import combinations, product

    from fewgold import Pool

    y = np.array([1.0, 4.0, 2.0, 9.0, 7.0, 3.0, 8.0])
    pool = Pool(ids=list("abcdefg"))
    first, second = combinations(range(3), 2), combinations(range(3, 7), 2)
    found = []
    for one, two in product(list(first), list(second)):
        rows = np.array([*one, *two])
        design = Design(
            kind="stratified",
            size=7,
            weights=np.array([3 / 7 / 2] * 2 + [4 / 7 / 2] * 2),
            inclusion=np.array([2 / 3] * 2 + [2 / 4] * 2),
            groups=np.array([0, 0, 1, 1]),
        )
        found.append(pool_variance(Sample(pool, rows, design).rate(y[rows])))
    assert np.mean(found) == pytest.approx(y.var(ddof=1), rel=1e-12)


def test_n_solves_the_equation_of_the_standard_error() -> None:
    n = same_error(0.3, 40.0, 1500)
    assert math.sqrt(40.0 * (1 / n - 1 / 1500)) == pytest.approx(0.3, rel=1e-12)
    assert same_error(0.3, 40.0, math.inf) == pytest.approx(40 / 0.09)


def test_a_plain_random_sample_is_worth_itself() -> None:
    ratings = rated(n=80)
    result = saved(ratings, Mean().estimate(ratings))
    assert result.plain == pytest.approx(80)
    assert result.saved == pytest.approx(0, abs=1e-9)
    expected = ratings.scores.std(ddof=1) * math.sqrt(1 / 80 - 1 / len(ratings.sample.pool))
    assert result.random_se == pytest.approx(expected)


def test_a_better_estimator_saves_ratings() -> None:
    ratings = rated("docs-balanced+ridge", 200)
    estimate = Ridge().estimate(ratings)
    result = saved(ratings, estimate)
    size, spread = len(ratings.sample.pool), pool_variance(ratings)
    assert result.plain is not None
    assert spread * (1 / result.plain - 1 / size) == pytest.approx(float(estimate.se) ** 2)
    assert result.plain > 250


def test_whole_documents_cost_ratings() -> None:
    ratings = rated("docs-whole+mean", 300)
    result = saved(ratings, Mean().estimate(ratings))
    assert result.saved is not None
    assert result.saved < 0


def test_shares_go_by_their_own_spread() -> None:
    ratings = rated().cut("<= 1")
    judge = BinaryPosterior("comet", threshold="equal")
    posterior = judge.estimate(ratings)
    p, size = float(posterior.value), len(ratings.sample.pool)
    variance = p * (1 - p) * size / (size - 1)
    expected = 1 / (float(posterior.se) ** 2 / variance + 1 / size)
    assert saved(ratings, posterior).plain == pytest.approx(expected)
    process = BinaryPosterior("comet", threshold="equal", target="process").estimate(ratings)
    p = float(process.value)
    expected = p * (1 - p) / float(process.se) ** 2  # of a system, of which there is no end
    assert saved(ratings, process).plain == pytest.approx(expected)


def test_what_cannot_be_told_says_why() -> None:
    pool, gold = load_demo("zhen")
    whole = strategy("random+mean").select(pool, len(pool), rng=1)
    cases = {
        "every segment was rated": whole.rate(gold[whole.indices]),
        "one rating does not show": rated(n=1),
        "9 ratings are too few": rated(n=9),
        "is biased": rated("docs-prop-printed+mean"),
        "do not vary": Ratings(rated().sample, np.ones(100)),
    }
    for why, ratings in cases.items():
        result = saved(ratings, Mean().estimate(ratings))
        assert result.plain is None
        assert why in result.why
    printed = strategy("random+cv-multi-printed", pool).estimate(rated())
    assert "is biased" in saved(rated(), printed).why
