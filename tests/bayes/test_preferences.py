"""Wins, ties and losses."""

import numpy as np
import pytest
from scipy import stats

from fewgold.bayes import PreferencePosterior, outcomes, tally
from fewgold.errors import DataError, FewgoldError
from fewgold.estimate import Estimate
from reference import cells as twin

RATED, UNRATED = [[4, 1, 2], [1, 3, 1], [0, 2, 6]], [5, 3, 6]


@pytest.mark.parametrize("prior", [1 / 3, 1.0])
def test_net_preference_by_enumeration(prior):
    posterior = PreferencePosterior(RATED, UNRATED, prior=prior)
    chances = twin.net_mass(RATED, UNRATED, prior)
    known = 9 - 5
    values = np.array([(known + net) / 34 for net in sorted(chances)])
    mass = np.array([chances[net] for net in sorted(chances)])
    mean = mass @ values
    assert isinstance(posterior, Estimate)
    assert posterior.mean == pytest.approx(mean, rel=1e-10)
    assert posterior.sd == pytest.approx(np.sqrt(mass @ (values - mean) ** 2), rel=1e-10)
    np.testing.assert_allclose(posterior.cdf(values), np.cumsum(mass), atol=1e-12)
    better = mass[values > 1e-9].sum() + 0.5 * mass[np.abs(values) < 1e-9].sum()
    assert posterior.probability_better == pytest.approx(better, rel=1e-9)
    low, high = posterior.interval(0.9)
    assert mass[values < low - 1e-9].sum() <= 0.05 < mass[values < low + 1e-9].sum()
    assert mass[values > high + 1e-9].sum() <= 0.05 < mass[values > high - 1e-9].sum()


def test_the_prior_of_a_category_is_worth_one_rating():
    """By default a third of a rating for each class, so that lopsided preferences may show."""
    posterior = PreferencePosterior([[0, 0, 9]], [1000], target="process")
    assert [float(s.mean) for s in (posterior.loss, posterior.tie, posterior.win)] == pytest.approx(
        [1 / 30, 1 / 30, 28 / 30]
    )


def test_shares_add_up():
    for target in ("pool", "process"):
        posterior = PreferencePosterior(RATED, UNRATED, target)
        shares = posterior.win, posterior.tie, posterior.loss
        assert sum(float(s.mean) for s in shares) == pytest.approx(1)
        assert posterior.mean == pytest.approx(float(shares[0].mean - shares[2].mean))


def test_humans_alone():
    posterior = PreferencePosterior([[5, 4, 9]], [20], prior=1.0)
    np.testing.assert_allclose(
        posterior.win.cdf((9 + np.arange(21)) / 38),
        stats.betabinom(20, 10, 11).cdf(np.arange(21)),
        atol=1e-12,
    )


def test_draws_of_the_process_agree():
    posterior = PreferencePosterior(RATED, [40, 30, 50], "process")
    many = posterior.sample(200_000, rng=1)
    assert abs(many.mean() - posterior.mean) < 5 * posterior.sd / np.sqrt(many.size)
    assert abs(many.std() / posterior.sd - 1) < 5 / np.sqrt(many.size)
    gap = posterior.quantile([0.025, 0.5, 0.975]) - np.quantile(many, [0.025, 0.5, 0.975])
    assert np.abs(gap).max() < 0.1 * posterior.sd


def test_large_test_sets_come_from_draws():
    exact = PreferencePosterior(RATED, [700, 500, 900])
    drawn = PreferencePosterior(RATED, [7000, 5000, 9000])
    assert drawn.sd == pytest.approx(float(exact.sd), rel=0.02)
    np.testing.assert_allclose(drawn.interval(), exact.interval(), atol=0.15 * exact.sd)
    assert drawn.sample(7, rng=0).shape == (7,)


def test_census_batch_and_draw():
    certain = PreferencePosterior(RATED, [0, 0, 0])
    assert certain.sd == 0 and certain.interval() == (4 / 20, 4 / 20)
    batch = PreferencePosterior([RATED, RATED[::-1]], UNRATED)
    assert batch.shape == batch.mean.shape == batch.interval().high.shape == (2,)
    assert batch.draw(1).mean == batch.mean[1]
    assert batch.draw(1).interval().low == batch.interval().low[1]
    assert "batch" in repr(batch) and "pool" in repr(batch.draw(0))


def test_outcomes_are_counted():
    human, metric = outcomes([1, -1, 0, 2, -3]), outcomes([0.2, 0.01, 0.0, 0.5, -0.2], tie=0.1)
    assert human.tolist() == [2, 0, 1, 2, 0] and metric.tolist() == [2, 1, 1, 2, 0]
    rated, unrated = tally(metric, [0, 1, 4], human[[0, 1, 4]], classes=3)
    assert rated.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]] and unrated.tolist() == [0, 1, 1]


def test_bad_preferences():
    with pytest.raises(DataError, match=r"rated must be \(..., J, 3\)"):
        PreferencePosterior([[1, 2]], [3])
    with pytest.raises(FewgoldError, match="prior must be a positive number of ratings; got 0"):
        PreferencePosterior(RATED, UNRATED, prior=0)
    with pytest.raises(FewgoldError, match="tie must be a difference of 0 or more; got -1"):
        outcomes([1.0], tie=-1)
    with pytest.raises(DataError, match="differences must be finite"):
        outcomes([np.nan])
