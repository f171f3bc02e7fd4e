"""Evidence of a drop: against slow twins, and as fair as it says, by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fewgold.errors import FewgoldError
from fewgold.monitoring import FalseAlarms
from fewgold.monitoring import detector as d
from reference import monitoring as slow


def test_evidence_weighs_all_beginnings() -> None:
    rng = np.random.default_rng(1)
    log_e = rng.normal(size=(3, 9))
    for alarms in (FalseAlarms(looks=6), FalseAlarms(looks=None), FalseAlarms(average_run=50)):
        weights = alarms.weights(9)
        found = d.log_evidence(log_e, weights)
        for row, own in zip(found, log_e, strict=True):
            assert row == pytest.approx(slow.mixture_evidence(own.tolist(), weights.tolist()))


def test_weights_spend_no_more_than_all() -> None:
    assert FalseAlarms(looks=20).weights(50).sum() == pytest.approx(1)
    assert FalseAlarms(looks=None).weights(10_000).sum() <= 1
    assert FalseAlarms(looks=20).log_threshold(False) == pytest.approx(math.log(20))
    assert FalseAlarms(looks=20).log_threshold(True) == pytest.approx(math.log(40))
    assert FalseAlarms(average_run=500).log_threshold(True) == pytest.approx(math.log(500))


def test_the_likely_beginning_is_where_most_evidence_is() -> None:
    log_e = np.array([-1.0, -2.0, 3.0, 1.0, -0.5])
    assert d.likely_start(log_e, FalseAlarms(looks=5).weights(5), 4) == 2


@pytest.mark.parametrize("control", [False, True])
def test_bets_are_fair_for_every_population_of_seven(control: bool) -> None:
    """The mean over all ordered samples is 1 where the mean is the reference, less where below."""
    rng = np.random.default_rng(3)
    for y in (np.array([0, 0, 0, 0, 1, 1, 1.0]), rng.random(7), np.array([0, 0, 0, 0, 0, 0, 1.0])):
        predicted = np.clip(y + rng.normal(0, 0.3, 7), 0, 1)
        for reference in (y.mean(), min(y.mean() + 0.1, 1.0)):
            found = []
            for rows in itertools.permutations(range(7), 4):
                at = np.array(rows)
                told = d.fixed_control(predicted, at) if control else None
                found.append(math.exp(d.betting_e(y[at], 7, reference, 0.2, told)))
            assert np.mean(found) <= 1 + 1e-12
            if reference == y.mean():
                assert np.mean(found) == pytest.approx(1, abs=1e-9)


def test_bets_are_those_of_the_slow_twin() -> None:
    rng = np.random.default_rng(4)
    scores = rng.random(12)
    for reference, drop in ((0.3, 0.1), (0.5, 0.2), (0.05, 0.4)):
        found = d.betting_e(scores, 60, reference, drop)
        assert found == pytest.approx(math.log(slow.bet(scores.tolist(), 60, reference, drop)))
    assert d.betting_e(np.zeros(0), 60, 0.3, 0.1) == 0


def test_a_bet_wins_where_the_mean_is_above_the_reference() -> None:
    bad = np.array([1.0, 0.0] * 20)
    assert d.betting_e(bad, 400, 0.1, 0.3) > 3 > 0 > d.betting_e(bad, 400, 0.8, 0.1)


def test_evidence_against_the_batches_before() -> None:
    rng = np.random.default_rng(5)
    values, expected = rng.normal(size=8), rng.random(8) + 0.1
    own, weights = rng.random(8) + 0.1, np.array([0, *np.full(7, 1 / 7)])
    found, parts = d.log_evidence_before(values, expected, own, 0.7, weights)
    told = slow.evidence_before(
        values.tolist(), expected.tolist(), own.tolist(), 0.7, weights.tolist()
    )
    assert found[0] == -math.inf
    assert found[1:] == pytest.approx(told[1:])
    assert np.isneginf(parts[3, 2]) and np.isfinite(parts[3, 3])


def test_evidence_before_is_the_likelihood_ratio_where_variances_are_known() -> None:
    """Normal scores, level integrated out: the mean before and after a drop, and their variance."""
    rng = np.random.default_rng(6)
    values, variance, drop, j = rng.normal(size=7), rng.random(7) + 0.2, 0.8, 3
    # With own = expected, each factor has the quadratic term of a likelihood ratio.
    weights = np.zeros(7)
    weights[j] = 1.0
    found, _ = d.log_evidence_before(values, variance, variance, drop, weights)
    w = 1 / variance
    before, after = (w[s] @ values[s] / w[s].sum() for s in (slice(0, j), slice(j, 7)))
    total = 1 / w[:j].sum() + 1 / w[j:].sum()
    assert found[-1] == pytest.approx(drop * (before - after) / total - drop**2 / (2 * total))


def test_normal_evidence_has_a_mean_of_one_at_most_for_skewed_scores() -> None:
    """Delyon's inequality, exactly, for a skewed variable with two values and known variance."""
    for p in (0.02, 0.1, 0.5, 0.9, 0.98):
        x = np.array([1 - p, -p])
        for bet in (0.3, 1.0, 3.0):
            variance = p * (1 - p)
            made = np.exp(bet * x - bet**2 * (2 * variance + x**2) / 6)
            assert p * made[0] + (1 - p) * made[1] <= 1 + 1e-12
            same = d.normal_e(x, bet * variance, np.full(2, variance), x**2)
            assert np.exp(same) == pytest.approx(made)


def test_what_is_known_throughout_is_certain() -> None:
    gap = np.array([0.1, -0.1])
    assert d.normal_e(gap, 0.2, np.zeros(2), np.zeros(2)).tolist() == [math.inf, 0.0]


def test_the_running_mean_has_the_printed_half_widths() -> None:
    errors = np.array([0.3, 0.2, 0.5, 0.1])
    found = d.running_mean_halfwidth(errors, 0.95)
    assert found == pytest.approx(slow.running_halfwidth(errors.tolist(), 0.05, 10))
    assert d.running_mean_halfwidth(np.zeros(3), 0.95).tolist() == [0, 0, 0]


@pytest.mark.parametrize("wrong", [{"rate": 0.0}, {"rate": 1.0}, {"looks": 0}, {"average_run": 1}])
def test_what_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(FewgoldError):
        FalseAlarms(**wrong)  # type: ignore[arg-type]


def test_equal_scores_are_no_drop_even_if_their_mean_is_rounded() -> None:
    """Without sampling error a gap is certain, but not one in the last digit."""
    rng, none = np.random.default_rng(0), np.zeros(30)
    weights = np.concatenate([[0.0], np.full(29, 1 / 200)])
    for score in np.arange(0.01, 3, 0.07).round(2):
        rated = rng.integers(3, 12, 30)
        found, _ = d.log_evidence_before(
            np.full(30, score), none, none, 0.2, weights, relative=1 / rated
        )
        assert (found < 0).all()
