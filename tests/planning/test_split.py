"""The best division of a budget, against every division there is."""

import numpy as np
import pytest

from fewgold.bayes import Counts, Priors, moments
from fewgold.errors import BudgetError, FewgoldError
from fewgold.planning import best_split, break_even
from fewgold.planning.split import asymptotic_sd


def sd_of(alpha, rho, eta, n, m, known=False):
    """Posterior sd at expected counts that are not rounded, written out again."""
    ones = (alpha * rho + (1 - alpha) * (1 - eta)) * m
    low = int(ones) if m < 1000 else round(ones)
    share = ones - low if m < 1000 else 0
    rate = (1 + n * alpha, 1 + n * (1 - alpha))
    hits = (1 + n * alpha * rho, 1 + n * alpha * (1 - rho))
    right = (1 + n * (1 - alpha) * eta, 1 + n * (1 - alpha) * (1 - eta))
    priors = Priors(rate, rho, eta) if known else Priors(rate, hits, right)
    first, second = (
        float(moments(Counts(metric_ones=min(k, m), metric_total=m), priors)[1] ** 2)
        for k in (low, low + 1)
    )
    return ((1 - share) * first + share * second) ** 0.5


@pytest.mark.parametrize(
    ("budget", "cost", "rates"),
    [
        (60, 0.1, (0.6, 0.9, 0.9)),
        (60, 0.2, (0.6, 0.99, 0.99)),
        (60, 0.02, (0.8, 0.7, 0.75)),
        (60, 0.3, (0.6, 0.9, 0.9)),  # does not pay
        (40, 0.05, (0.95, 0.9, 0.6)),
    ],
)
def test_brute_force(budget, cost, rates):
    split = best_split(budget, 1.0, cost, alpha=rates[0], rho=rates[1], eta=rates[2])
    every = {(budget, 0): sd_of(*rates, budget, 0)}
    for n in range(int(budget / (1 + cost)) + 1):
        m = int((budget - n * (1 + cost)) / cost + 1e-9)
        every[n, m] = sd_of(*rates, n, m)
    least = min(every.values())
    assert split.best.sd == pytest.approx(least, rel=1e-5)
    assert split.best.sd == pytest.approx(every[split.best.human, split.best.metric], rel=1e-9)
    assert split.humans_alone.sd == pytest.approx(every[budget, 0], rel=1e-9)
    assert split.pays == (least < every[budget, 0])
    assert all(mix.cost <= budget + 1e-9 for mix in split.tried)
    assert split.to_frame()["sd"].min() == split.best.sd


def test_formula_is_the_best_of_the_asymptotic_variance():
    rates = {"alpha": 0.6, "rho": 0.7, "eta": 0.7}
    budget, cost = 100_000, 0.005
    split = best_split(budget, 1.0, cost, **rates)
    n = np.arange(1, int(budget / (1 + cost)) + 1)
    m = np.floor((budget - n * (1 + cost)) / cost)
    best = int(n[asymptotic_sd(**rates, human=n, metric=m).argmin()])
    assert split.formula.human == pytest.approx(best, rel=0.001)
    assert split.formula.sd == pytest.approx(split.best.sd, rel=1e-4)
    assert split.best.human == pytest.approx(best, rel=0.02)


@pytest.mark.parametrize("accuracy", [0.7, 0.9])
def test_break_even(accuracy):
    """Just below it the metric pays, just above it does not: seen in the asymptotic variance."""
    rates = {"alpha": 0.6, "rho": accuracy, "eta": accuracy}
    limit = float(break_even(**rates))
    for times, pays in ((0.9, True), (1.1, False)):
        n = np.arange(1, 100_000 / (1 + times * limit))
        m = (100_000 - n * (1 + times * limit)) / (times * limit)
        least = asymptotic_sd(**rates, human=n, metric=m).min()
        assert (least < np.sqrt(0.24 / 100_000)) == pays
        split = best_split(20_000, 1.0, times * limit, **rates)
        assert (split.formula.metric > 0) == pays == split.pays


def test_known_rates_go_to_one_side():
    rates = {"alpha": 0.6, "rho": 0.9, "eta": 0.9}
    cheap, dear = (best_split(500, 1.0, c, **rates, known=True) for c in (0.5, 0.8))
    assert (cheap.best.human, cheap.best.metric) == (0, 1000)
    assert (dear.best.human, dear.best.metric) == (500, 0)
    assert cheap.formula == cheap.best
    assert cheap.best.sd == pytest.approx(sd_of(0.6, 0.9, 0.9, 0, 1000, known=True))


def test_items_are_limited():
    rates = {"alpha": 0.6, "rho": 0.9, "eta": 0.9}
    split = best_split(300, 1.0, 0.0, **rates, items=2000)
    assert (split.best.human, split.best.metric) == (300, 1700)
    split = best_split(300, 1.0, 0.001, **rates, items=2000)
    assert split.best.human + split.best.metric <= 2000
    assert split.best.human == 298
    everything = best_split(300, 1.0, 0.1, **rates, items=100)
    assert (everything.best.human, everything.best.metric) == (100, 0)


def test_power_and_words():
    split = best_split(200, 2.0, 0.05, alpha=0.7, rho=0.9, eta=0.8, power=0.8, level=0.1)
    assert "found with power 0.8 at level 0.1" in split.summary()
    ratio = split.best.difference / split.best.sd
    assert ratio == pytest.approx(np.sqrt(2) * (1.644854 + 0.841621), rel=1e-6)
    record = split.to_dict()
    assert record["best"]["human"] == split.best.human
    assert record["saving"] == pytest.approx(1 - (split.best.sd / split.humans_alone.sd) ** 2)


@pytest.mark.parametrize(
    ("args", "options", "error", "sentence"),
    [
        ((0, 1, 0.1), {}, FewgoldError, "budget must be a positive number"),
        ((10, 0, 0.1), {}, FewgoldError, "the cost of a human rating must be a positive"),
        ((10, 1, -1), {}, FewgoldError, "the cost of a metric rating must be 0 or more"),
        ((10, 1, 0), {}, BudgetError, "Give it with items=…"),
        ((10, 1, 0.1), {"items": 0}, FewgoldError, "items must be a whole number"),
        ((0.5, 1, 0.1), {}, BudgetError, "is less than one human rating"),
        ((10, 1, 0.1), {"rho": 0.2}, FewgoldError, "exchange its 0 and 1"),
    ],
)
def test_refusals(args, options, error, sentence):
    with pytest.raises(error, match=sentence):
        best_split(*args, **{"alpha": 0.5, "rho": 0.7, "eta": 0.7} | options)
