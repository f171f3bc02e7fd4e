"""Raters who err over many studies: calibration, coverage, and what majority votes miss.

``FEWGOLD_SEED`` sets another seed: the tests hold for any. Studies with the same raters run as one
batch of short chains; that the chains of a single study have met is checked by `RaterPosterior`
itself.

Measured with seed 7 and 400 studies of 300 items, by raters right in 90, 80 and 75 % of them: 95 %
intervals held α of 0.01, 0.1, 0.5, 0.9 and 0.99 in 95.5, 98.5, 95.3, 98.5 and 91.8 % of
them.
"""

from __future__ import annotations

import os
from itertools import product

import numpy as np
import pytest
from scipy import stats

from fewgold.bayes import RaterPosterior, RaterPriors
from fewgold.bayes.raters import Model, health, sweep

pytestmark = pytest.mark.slow
SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
PRIORS = RaterPriors()


def patterns(raters, missing=False):
    rows = np.array(list(product((0.0, 1.0), repeat=raters)))
    if not missing:
        return rows
    # Each item was given to two of the raters.
    return np.unique(
        np.concatenate([np.where(np.arange(raters) == r, -1.0, rows) for r in range(raters)]),
        axis=0,
    )


def chances(rows, alpha, rho, eta):
    """(B, P) chances of each pattern among those with the same raters."""

    def times(one, zero):
        terms = np.where(rows == 1, one[:, None], np.where(rows == 0, zero[:, None], 1.0))
        return terms.prod(-1)

    share = alpha[:, None]
    return share * times(rho, 1 - rho), (1 - share) * times(1 - eta, eta)


def drawn(rng, rows, items, alpha, rho, eta):
    """Items of each pattern, and how many of all are adequate. Raters are left out in turn."""
    good, bad = chances(rows, alpha, rho, eta)
    out = np.zeros((alpha.size, len(rows)), dtype=np.int64)
    adequate = np.zeros(alpha.size, dtype=np.int64)
    groups, which = np.unique(rows < 0, axis=0, return_inverse=True)
    for g in range(len(groups)):
        here = np.flatnonzero(which.reshape(-1) == g)
        both = np.concatenate([good[:, here], bad[:, here]], axis=1)
        seen = rng.multinomial(items // len(groups), both / both.sum(1, keepdims=True))
        out[:, here] = seen[:, : here.size] + seen[:, here.size :]
        adequate += seen[:, : here.size].sum(1)
    return out, adequate


def from_prior(rng, studies, humans, metrics):
    """Rates with the human raters above chance on average."""
    a, b = PRIORS._shapes(humans, metrics)
    raters = humans + metrics
    theta = rng.beta(a, b, (4 * studies, a.size))
    total = theta[:, 1 : 1 + humans].sum(1) + theta[:, 1 + raters : 1 + raters + humans].sum(1)
    theta = theta[total > humans][:studies]
    return theta[:, 0], theta[:, 1 : 1 + raters], theta[:, 1 + raters :]


def chains(rng, rows, counts, humans, a, b, warm, length, many=4):
    table = np.where(rows < 0, np.nan, rows)
    model = Model(table, counts, *(np.broadcast_to(x, (len(counts), x.shape[-1])) for x in (a, b)),
                  humans)  # fmt: skip
    theta, _ = sweep(model, model.start(many, rng), warm, rng)
    return sweep(model, theta, length, rng)[1]


def alphas(rng, draws, a, b, items):
    """Draws of α: a Beta given the number of adequate items."""
    s = draws.adequate.reshape(len(draws.adequate), -1)
    return rng.beta(a[..., :1] + s, b[..., :1] + (items - s))


@pytest.mark.parametrize(
    "humans, metrics, gold, missing",
    [(3, 0, 0, False), (2, 1, 10, False), (3, 0, 0, True), (2, 0, 0, False)],
    ids=["three", "two, a metric and gold", "two of three each", "two"],
)
def test_ranks_are_uniform(humans, metrics, gold, missing):
    """Simulation-based calibration of α, the pool's share, and the rates of the first rater."""
    rng = np.random.default_rng(SEED)
    studies, items, left = 400, 42, 30
    raters = humans + metrics
    alpha, rho, eta = from_prior(rng, studies, humans, metrics)
    rows = patterns(raters, missing)
    counts, adequate = drawn(rng, rows, items, alpha, rho, eta)
    a, b = (np.tile(x, (studies, 1)) for x in PRIORS._shapes(humans, metrics))
    ones = rng.binomial(gold, alpha)
    hit, passed = rng.binomial(ones[:, None], rho), rng.binomial(gold - ones[:, None], eta)
    a += np.column_stack([ones, hit, passed])
    b += np.column_stack([gold - ones, ones[:, None] - hit, gold - ones[:, None] - passed])
    draws = chains(rng, rows, counts, humans, a, b, 300, 700)
    share = alphas(rng, draws, a, b, items)
    ahead = draws.adequate.reshape(studies, -1) + rng.binomial(left, share)
    true = adequate + rng.binomial(left, alpha)
    rates = draws.rates.reshape(studies, -1, 2 * raters)
    below, upto = (ahead < true[:, None]).mean(1), (ahead <= true[:, None]).mean(1)
    ranks = {
        "alpha": (share < alpha[:, None]).mean(1),
        "pool": below + rng.random(studies) * (upto - below),
        "rho": (rates[..., 0] < rho[:, :1]).mean(1),
        "eta": (rates[..., raters] < eta[:, :1]).mean(1),
    }
    found = {name: stats.kstest(rank, "uniform").pvalue for name, rank in ranks.items()}
    print(found, np.quantile(health(draws.adequate.astype(float)).ess, [0.01, 0.1, 0.5]))
    # Four studies of four tests: one below 1e-5 in some 6,000 runs.
    assert min(found.values()) > 1e-5


def covered(rng, studies, items, alpha, rates, warm=500, length=1000):
    """Share of 95 % and of 90 % intervals that hold α, and effective draws of each study."""
    rho = np.broadcast_to(rates, (studies, len(rates)))
    truth = np.full(studies, alpha)
    rows = patterns(len(rates))
    counts, _ = drawn(rng, rows, items, truth, rho, rho)
    a, b = PRIORS._shapes(len(rates), 0)
    draws = chains(rng, rows, counts, len(rates), a, b, warm, length)
    rank = (alphas(rng, draws, a, b, items) < alpha).mean(1)
    ess = health(draws.adequate.astype(float)).ess
    return [(np.abs(rank - 0.5) < 0.5 * level).mean() for level in (0.95, 0.9)], ess


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5, 0.9, 0.99])
def test_coverage_at_a_fixed_rate(alpha):
    """No fewer than 94 %, but 90 % at 0.01 and 0.99.

    A posterior is calibrated over its prior, not at each rate. In the middle these intervals hold
    α more often than stated. At 0.01 three items are adequate, ρ stays as unknown as its prior has
    it, and a uniform prior of α pulls away from the end.
    """
    rng = np.random.default_rng(SEED)
    studies = 400
    (at_95, at_90), ess = covered(rng, studies, 300, alpha, (0.9, 0.8, 0.75))
    print(alpha, at_95, at_90, np.quantile(ess, [0.05, 0.5]))
    error = 4 * np.sqrt(0.95 * 0.05 / studies)
    least = 0.94 if 0.05 < alpha < 0.95 else 0.9
    assert at_95 > least - error


def test_majority_taken_for_the_truth_undercovers():
    """Beta intervals from majority votes, by exact sums; and ours on the same studies."""
    items, accuracy, alpha = 300, 0.8, 0.75
    right = accuracy**3 + 3 * accuracy**2 * (1 - accuracy)
    chance = alpha * right + (1 - alpha) * (1 - right)
    k = np.arange(items + 1)
    low, high = stats.beta.ppf([[0.025], [0.975]], 1 + k, 1 + items - k)
    majority = stats.binom.pmf(k, items, chance)[(low < alpha) & (alpha < high)].sum()
    (ours, _), _ = covered(np.random.default_rng(SEED), 300, items, alpha, (accuracy,) * 3)
    print(majority, ours)
    assert majority < 0.6
    assert ours > 0.94 - 4 * np.sqrt(0.95 * 0.05 / 300)


def test_two_raters_stay_unsure_however_many_items():
    """Ten times the items: the sd of three raters falls by √10, that of two hardly."""
    sd = {}
    for raters in (2, 3):
        rows = patterns(raters)
        rates = np.full((1, raters), 0.85)
        expected = sum(chances(rows, np.array([0.6]), rates, rates))[0]
        for items in (100, 1000):
            labels = np.repeat(rows, np.rint(items * expected).astype(int), axis=0)
            sd[raters, items] = float(RaterPosterior(labels, effective=300, seed=SEED).sd)
    print(sd)
    assert sd[2, 1000] > 0.65 * sd[2, 100]
    assert sd[3, 1000] < 0.45 * sd[3, 100]
    assert sd[2, 1000] > 2 * sd[3, 1000]
