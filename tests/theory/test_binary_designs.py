"""The binary model on every design: calibration where it is exact, coverage where it is not.

``FEWGOLD_SEED`` sets another seed: the tests hold for any; ``FEWGOLD_DRAWS`` more samples.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import stats

from fewgold import registry
from fewgold.bayes import BinaryPosterior, Pooled, Priors
from fewgold.estimators import Mean
from fewgold.pool import Pool
from fewgold.samplers import Stratified

pytestmark = pytest.mark.slow
SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
DRAWS = int(os.environ.get("FEWGOLD_DRAWS", "400"))
BIASED = ("-prop-printed", "-opt-printed", "-incr-metrics")


def test_strata_of_the_metric_are_calibrated():
    """Rates from the prior, a pool, strata of its judge at unequal rates: ranks are uniform."""
    rng = np.random.default_rng(SEED)
    priors = Priors(alpha=(1.5, 2.0), rho=(3.0, 1.0), eta=(2.0, 1.0))
    ranks = []
    while len(ranks) < DRAWS:
        alpha, rho, eta = (rng.beta(*pair) for pair in (priors.alpha, priors.rho, priors.eta))
        gold = rng.random(120) < alpha
        judge = np.where(gold, rng.random(120) < rho, rng.random(120) > eta).astype(float)
        if not 10 <= judge.sum() <= 110:  # both strata must give their ratings
            continue
        pool = Pool(np.arange(120), metrics={"judge": judge})
        sampler = Stratified(lambda p: p.metrics["judge"], allocation=lambda p, s: np.array([1, 3]))
        sample = sampler.draw(pool, 24, rng=rng)
        found = BinaryPosterior("judge", priors=priors).estimate(
            sample.rate(gold[sample.indices].astype(float))
        )
        assert not found.approximate
        below, upto = (float(found.cdf(gold.mean() + e)) for e in (-2e-9, 2e-9))
        ranks.append(below + rng.random() * (upto - below))
    assert stats.kstest(ranks, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("name", ["docs-incr-human", "docs-incr-human-printed"])
def test_documents_are_calibrated_where_ratings_decide(name):
    """Rates of documents from the prior, each rating decides where the next goes: uniform ranks."""
    rng = np.random.default_rng(SEED + 1)
    documents = np.repeat(np.arange(15), [2, 4, 6] * 5)
    pool = Pool(np.arange(60), documents=documents, metrics={"noise": rng.normal(size=60)})
    made = BinaryPosterior("noise", threshold=">= 0", sampler=registry.sampler(name))
    ranks = []
    for _ in range(2 * DRAWS):
        rate, strength = rng.beta(0.5, 0.5), rng.choice(Pooled().strengths)
        shapes = np.fmax([strength * rate, strength * (1 - rate)], 1e-300)
        gold = (rng.random(60) < rng.beta(*shapes, 15)[documents]).astype(float)
        found = made.estimate(
            made.collect(pool, lambda s, y=gold: y[s.indices], 24, limits=(0, 1), rng=rng)
        )
        below, upto = (float(found.cdf(gold.mean() + e)) for e in (-2e-9, 2e-9))
        ranks.append(below + rng.random() * (upto - below))
    assert stats.kstest(ranks, "uniform").pvalue > 1e-4


def study(seed):
    """600 items in 60 documents that differ, and a judge that is right 4 times of 5."""
    rng = np.random.default_rng(seed)
    documents = np.repeat(np.arange(60), 10)
    gold = (rng.random(600) < rng.beta(3, 7, 60)[documents]).astype(float)
    judge = np.where(rng.random(600) < 0.8, gold, 1 - gold)
    metrics = {"judge": judge, "score": gold + rng.normal(0, 1, 600), "noise": rng.normal(size=600)}
    known = {"judge": 1, "score": 1}
    return Pool(np.arange(600), documents=documents, metrics=metrics, orientation=known), gold


@pytest.mark.parametrize(
    "name", [n for n in registry.sampler_names() if not any(part in n for part in BIASED)]
)
@pytest.mark.parametrize("n", [60, 240])
def test_intervals_hold_on_every_design(name, n):
    found = []
    for k in range(8):
        pool, gold = study(SEED + k)
        made = Mean(sampler=registry.sampler(name))
        ratings = made.collect(
            pool, lambda s, y=gold: y[s.indices], n, draws=DRAWS // 4, limits=(0, 1), rng=SEED + k
        )
        for model in (BinaryPosterior("judge"), BinaryPosterior("noise", threshold=">= 0")):
            ours, plain = model.estimate(ratings), made.estimate(ratings)
            low, high = ours.interval()
            width = np.diff(plain.interval(), axis=0)[0].mean()
            errors = [np.mean((x.value - gold.mean()) ** 2) for x in (ours, plain)]
            inside = ((low <= gold.mean() + 1e-9) & (gold.mean() - 1e-9 <= high)).mean()
            found.append([inside, (high - low).mean() / width, errors[0], errors[1]])
    inside, wide, ours, plain = np.array(found).mean(0)
    draws = 8 * (DRAWS // 4)  # two models on the same samples
    margin = 4 * np.sqrt(0.95 * 0.05 / draws)
    assert 0.94 - margin < inside < 0.97 + margin
    # A judge helps, and noise costs next to nothing.
    if "-incr-" not in name:  # of which the mean is biased, so that its interval is too narrow
        assert wide < 1.03
    assert ours < 1.05 * plain
