"""What estimates from samples with gaps promise, on the embedded data.

One rater of the English-German set, as in ``test_coverage.py``: 140 of 705 segments are drawn, a
part of them goes unrated. Coverage is compared with that of a whole sample of as many segments as
were answered. ``FEWGOLD_SEED`` sets another seed, ``FEWGOLD_DRAWS`` more draws; run with ``-s``
for the figures, of which docs/missing.md has a table.
"""

from __future__ import annotations

import os
from math import sqrt

import numpy as np
import pytest

from fewgold import registry
from fewgold.bounds import Betting, Student
from fewgold.datasets import load_demo
from fewgold.estimators import Mean
from fewgold.missing import PartialRatings

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
DRAWS = int(os.environ.get("FEWGOLD_DRAWS", "1000"))
MC = sqrt(0.95 * 0.05 / DRAWS)
N = 140
ESTIMATORS = ("mean", "ridge", "cv-multi")
PARAMETERS = {"mean": 0, "ridge": 4, "cv-multi": 7}
# The highest rms(se)/sd. Gaps undo balance and part of the gain from neighbours, but what they left
# of it is not in the standard error.
HIGHEST = {"docs-balanced": 1.20, "docs-chunks3": 1.25, "metrics-opt": 1.15, "docs-whole": 1.15}


@pytest.fixture(scope="module")
def demo():
    return load_demo("ende", rater="rater3")


def by_count(share):
    """A fixed number of gaps, every set of them as likely as any other."""

    def lose(rng, rows):
        gone = np.zeros(rows.size, dtype=bool)
        gone[rng.permutation(rows.size)[: round(share * rows.size)]] = True
        return gone

    return lose


def by_chance(chance):
    """Each segment of the pool (N,) with its own chance of being lost."""
    return lambda rng, rows: rng.random(rows.size) < chance[rows]


def run(demo, sampler, lose, names=ESTIMATORS, within="groups", draws=DRAWS):
    """Values, standard errors and hits of Student's 95 % interval of each estimator: (3, draws)."""
    pool, gold = demo
    rng = np.random.default_rng([SEED, len(sampler)])
    batch = registry.sampler(sampler).draw(pool, N, draws=draws, rng=rng)
    made_by = {name: registry.estimator(name, pool) for name in names}
    found = {name: [] for name in names}
    for k in range(draws):
        sample = batch.draw(k)
        scores = gold[sample.indices]
        scores[lose(rng, sample.indices)] = np.nan
        ratings = PartialRatings(sample, scores).at_random(within=within)
        for name, estimator in made_by.items():
            made = estimator.estimate(ratings)
            low, high = made.interval(0.95, Student())
            found[name].append((made.value, made.se, low <= gold.mean() <= high))
    return {name: np.array(rows, dtype=float).T for name, rows in found.items()}


def whole(demo, sampler, n):
    """Coverage and rms(se)/sd of whole samples of n segments."""
    pool, gold = demo
    batch = registry.sampler(sampler).draw(pool, n, draws=DRAWS, rng=SEED)
    ratings = batch.rate(gold[batch.indices])
    found = {}
    for name in ESTIMATORS:
        made = registry.estimator(name, pool).estimate(ratings)
        low, high = made.interval(0.95, Student())
        hit = float(((low <= gold.mean()) & (gold.mean() <= high)).mean())
        found[name] = hit, sqrt((made.se**2).mean()) / made.value.std()
    return found


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
@pytest.mark.parametrize(
    "sampler",
    [
        "random",
        "docs-prop",
        "metrics-opt",
        "docs-sys",
        "docs-balanced",
        "docs-whole",
        "docs-chunks3",
    ],
)
def test_gaps_by_chance(demo, sampler, share):
    pool, gold = demo
    answered = N - round(share * N)
    as_many = whole(demo, sampler, answered)
    for name, (value, se, hit) in run(demo, sampler, by_count(share)).items():
        sd, p = value.std(), PARAMETERS[name]
        ratio = sqrt((se**2).mean()) / sd
        bias = value.mean() - gold.mean()
        print(
            f"\n{sampler:14} {share:4} {name:9} bias/sd {bias / sd:+.3f}  se/sd {ratio:.3f}  "
            f"coverage {hit.mean():.3f}  {answered} without gaps {as_many[name][0]:.3f}",
            end="",
        )
        units = answered / (len(pool) / 65) if sampler == "docs-whole" else answered
        assert abs(bias) < 4 * sd / sqrt(DRAWS) + (gold.std() / units if p else 0.0), name
        # Two standard deviations of 1,000 values are known to 3 % each with such long tails.
        covered, usual = as_many[name]
        assert 0.88 * min(usual, 1.0) < ratio < 1.08 * HIGHEST.get(sampler, 1.12), (name, ratio)
        # Both coverages are measured, each with its error.
        assert hit.mean() > covered - 4 * sqrt(2) * MC, (name, hit.mean(), covered)
        assert hit.mean() < 0.95 + 0.3 * (HIGHEST.get(sampler, 1.12) * 1.08 - 1) + 4 * MC, name


def test_gaps_that_differ_between_strata_are_made_good(demo):
    """Strata by metric, of which the worst lose three times as much as the best."""
    pool, gold = demo
    rank = np.argsort(np.argsort(-pool.composite())) / len(pool)
    lose = by_chance(0.15 + 0.35 * (rank > 0.5))
    inside = run(demo, "metrics-prop", lose, ("mean",))["mean"]
    anywhere = run(demo, "metrics-prop", lose, ("mean",), within="sample")["mean"]
    error = [(v[0].mean() - gold.mean()) / v[0].std() for v in (inside, anywhere)]
    print(f"\nbias/sd within strata {error[0]:+.3f}, anywhere {error[1]:+.3f}", end="")
    assert abs(error[0]) < 0.15
    assert abs(error[1]) > 0.3


def test_gaps_that_follow_the_scores_are_not(demo):
    """Bad segments are skipped: intervals miss, and a metric mends a part only."""
    _, gold = demo
    lose = by_chance(np.where(gold > np.quantile(gold, 0.75), 0.6, 0.1))
    found = run(demo, "random", lose, ("mean", "ridge"))
    error = {n: (v[0].mean() - gold.mean()) / v[0].std() for n, v in found.items()}
    hits = {n: v[2].mean() for n, v in found.items()}
    print(f"\nbias/sd {error}, coverage {hits}", end="")
    assert error["mean"] < error["ridge"] < -0.5
    assert hits["mean"] < 0.6
    assert hits["ridge"] < 0.8


def test_gaps_that_follow_a_metric_are_mended_by_it(demo):
    """Once the score is given by the metric up to chance, a control by that metric is enough."""
    pool, gold = demo
    rank = np.argsort(np.argsort(-pool.composite())) / len(pool)
    found = run(demo, "random", by_chance(0.1 + 0.5 * rank), ("mean", "ridge"))
    error = {n: (v[0].mean() - gold.mean()) / v[0].std() for n, v in found.items()}
    hits = {n: v[2].mean() for n, v in found.items()}
    print(f"\nbias/sd {error}, coverage {hits}", end="")
    assert error["mean"] < -0.3
    assert abs(error["ridge"]) < abs(error["mean"]) - 0.15


LOST = {
    "bad ones": lambda y, rng: (y > np.quantile(y, 0.75)) & (rng.random(y.size) < 0.5),
    "good ones": lambda y, rng: (y == 0) & (rng.random(y.size) < 0.4),
    "worst ones": lambda y, rng: y >= np.quantile(y, 0.97),
}


@pytest.mark.parametrize("kind", LOST)
@pytest.mark.parametrize(
    ("sampler", "estimator"),
    [("random", Mean(bound=Betting())), ("random", "mean"), ("docs-balanced", "ridge")],
    ids=["random+mean, betting", "random+mean", "docs-balanced+ridge"],
)
def test_the_worst_case_covers_whatever_is_lost(demo, sampler, estimator, kind):
    """Scores that are truly at an end of the scale, the hardest case, among them."""
    pool, gold = demo
    rng = np.random.default_rng(SEED)
    gone = LOST[kind](gold, rng)
    draws = min(DRAWS, 500)
    batch = registry.sampler(sampler).draw(pool, N, draws=draws, rng=rng)
    made_by = registry.estimator(estimator) if isinstance(estimator, str) else estimator
    below, above = 0, 0
    for k in range(draws):
        sample = batch.draw(k)
        scores = np.where(gone[sample.indices], np.nan, gold[sample.indices])
        low, high = PartialRatings(sample, scores, "mqm").bounds(made_by).interval()
        below += high < gold.mean()
        above += low > gold.mean()
    print(f"\n{kind} {sampler}: below {below / draws:.3f}, above {above / draws:.3f}", end="")
    # Approximate intervals of skewed scores miss a point or two more: see test_coverage.py.
    allowed = 0.05 + (0.0 if made_by.bound == Betting() else 0.02)
    assert (below + above) / draws < allowed + 4 * sqrt(0.05 * 0.95 / draws)
