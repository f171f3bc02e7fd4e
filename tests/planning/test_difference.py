"""Measurable differences, their power, and what sampled studies say of them."""

import numpy as np
import pytest
from scipy.special import ndtri

from fewgold.bayes import AlphaPosterior, Counts, Priors, moments, probability_greater
from fewgold.errors import DesignError, FewgoldError
from fewgold.planning import (
    Setting,
    break_even,
    detection_power,
    difference_table,
    information,
    measurable_difference,
    sample_estimates,
    simulated_power,
)
from fewgold.planning.split import asymptotic_sd

STUDY = {"alpha": 0.6, "rho": 0.9, "eta": 0.8, "human": 200, "metric": 3000}


def test_it_is_what_the_formula_says() -> None:
    counts = Counts(tp=108, fn=12, fp=16, tn=64, metric_ones=1860, metric_total=3000)
    sd = moments(counts)[1]
    assert measurable_difference(**STUDY) == pytest.approx(np.sqrt(2) * 1.959964 * sd, rel=1e-6)
    found = measurable_difference(**STUDY, level=0.01, power=0.9)
    assert found == pytest.approx(np.sqrt(2) * (2.575829 + 1.281552) * sd, rel=1e-6)


def test_an_observed_difference_of_that_size_is_just_significant() -> None:
    """Equation 6 says so too: P(α1 > α2) is 1 − γ/2 at the measurable difference."""
    n = 200_000  # so many that whole counts do not matter
    gap = measurable_difference(alpha=0.6, human=n)
    ones = np.rint(n * (0.6 + np.array([0.5, -0.5]) * gap)).astype(int)
    first, second = (AlphaPosterior(Counts(human_ones=k, human_total=n)) for k in ones)
    assert probability_greater(first, second) == pytest.approx(0.975, abs=0.001)


def test_arrays_broadcast_and_equal_one_by_one() -> None:
    alpha, accuracy = np.array([0.2, 0.6])[:, None, None], np.array([0.6, 0.9])[:, None]
    sizes = np.array([0, 50, 400])
    for known in (False, True):
        found = measurable_difference(
            alpha=alpha, rho=accuracy, eta=accuracy, human=sizes, metric=700, known=known
        )
        assert found.shape == (2, 2, 3)
        for i, j, k in np.ndindex(found.shape):
            a, r = alpha[i, 0, 0], accuracy[j, 0]
            one = measurable_difference(
                alpha=a, rho=r, eta=r, human=sizes[k], metric=700, known=known
            )
            assert one == pytest.approx(found[i, j, k], rel=1e-12)
    levels = measurable_difference(**STUDY, level=[0.01, 0.05], power=[[0.5], [0.9]])
    assert levels.shape == (2, 2)
    assert levels[0, 1] == pytest.approx(measurable_difference(**STUDY))


def test_paired_and_human_ratings() -> None:
    """Paired beside human ratings: in sum as many about α, fewer about the metric."""
    every = measurable_difference(**STUDY)
    half = measurable_difference(**STUDY | {"human": 100}, paired=100)
    assert half > every
    # Without metric-only ratings it makes no difference who else rated the item.
    alone = STUDY | {"metric": 0}
    assert measurable_difference(**alone) == pytest.approx(
        float(measurable_difference(**alone | {"human": 100}, paired=100)), rel=1e-12
    )
    away = measurable_difference(**STUDY | {"human": 100}, paired=100, pairs="calibration")
    assert away > half
    known = measurable_difference(**STUDY, known=True)
    assert known < every
    many = measurable_difference(**STUDY, paired=10**6, pairs="calibration")
    assert many == pytest.approx(known, rel=2e-3)


def test_calibration_share() -> None:
    """A set with both classes is better than one with adequate items alone."""
    study = {**STUDY, "paired": 200, "pairs": "calibration"}
    found = measurable_difference(**study, calibration_share=[0.5, 0.99])
    assert found[0] < found[1]
    setting = Setting(**study, calibration_share=0.5)
    drawn = setting._sampled(7, rng=0)
    assert np.all(drawn.tp + drawn.fn == 100)
    assert np.ptp(Setting(**study)._sampled(30, rng=0).tp) > 0


def test_priors() -> None:
    tight = Priors(alpha=(60, 40))
    assert measurable_difference(**STUDY, priors=tight) < measurable_difference(**STUDY)
    one = measurable_difference(**STUDY, known=True, priors=tight)
    counts = Setting(**STUDY).expected()
    sd = moments(counts, Priors(alpha=(60, 40), rho=0.9, eta=0.8))[1]
    assert one == pytest.approx(np.sqrt(2) * ndtri(0.975) * sd)


# Power --------------------------------------------------------------------------------------


def test_power_is_the_inverse() -> None:
    for power in (0.1, 0.5, 0.8, 0.99):
        gap = measurable_difference(**STUDY, power=power, level=0.02)
        assert detection_power(gap, **STUDY, level=0.02) == pytest.approx(power)
    assert detection_power(0.0, **STUDY) == pytest.approx(0.025)
    assert measurable_difference(**STUDY, power=0.5) == measurable_difference(**STUDY)
    ratio = measurable_difference(**STUDY, power=0.8) / measurable_difference(**STUDY)
    assert ratio == pytest.approx(1.429, abs=0.001)


@pytest.mark.parametrize("wanted", [0.5, 0.8])
def test_simulated_studies_have_that_power(wanted: float) -> None:
    """ε alone is found in one of two studies. Within four Monte-Carlo errors."""
    study = STUDY | {"human": 400}
    gap = float(measurable_difference(**study, power=wanted))
    found = simulated_power(gap, **study, draws=1000, rng=1)
    assert found.mc < 0.016
    assert found.power == pytest.approx(wanted, abs=4 * found.mc)


def test_no_difference_is_found_at_half_the_level() -> None:
    found = simulated_power(0.0, alpha=0.6, human=500, level=0.1, draws=4000, rng=2)
    assert found.power == pytest.approx(0.05, abs=4 * found.mc)


# Sampled studies ----------------------------------------------------------------------------


def test_bias_of_humans_alone() -> None:
    """E of the posterior mean is (nα + 1)/(n + 2), so the bias is (1 − 2α)/(n + 2)."""
    alpha, n = np.array([0.05, 0.5, 0.9])[:, None], np.array([10, 100])
    found = sample_estimates(alpha=alpha, human=n, draws=4000, rng=0)
    assert found.bias.shape == (3, 2)
    assert np.all(np.abs(found.bias - (1 - 2 * alpha) / (n + 2)) < 4.5 * found.bias_mc)
    true = np.sqrt(n * alpha * (1 - alpha)) / (n + 2)
    assert found.bias_spread == pytest.approx(true, rel=0.06)
    assert found.bias_mc == pytest.approx(found.bias_spread / np.sqrt(4000))


def test_true_negatives_go_by_eta() -> None:
    """Errata of Algorithm 2, line 6: with ρ in its place the counts would say η = ρ."""
    counts = Setting(alpha=0.5, rho=0.95, eta=0.6, human=1000)._sampled(300, rng=0)
    share = counts.tn / (counts.tn + counts.fp)
    assert share.mean() == pytest.approx(0.6, abs=0.005)
    assert (counts.tp / (counts.tp + counts.fn)).mean() == pytest.approx(0.95, abs=0.005)


def test_sampled_method_is_near_the_expected_one() -> None:
    study = STUDY | {"human": [200, 1000]}
    found = measurable_difference(**study, method="sampled", draws=100, rng=0)
    drawn = sample_estimates(**study, draws=100, rng=0)
    assert found == pytest.approx(np.sqrt(2) * ndtri(0.975) * drawn.sd)
    assert found == pytest.approx(measurable_difference(**study), rel=0.02)
    frame = drawn.to_frame()
    assert frame["human"].tolist() == [200, 1000]
    assert frame["sd_mc"].to_numpy() == pytest.approx(drawn.sds.std(-1, ddof=1) / 10)


def test_same_seed_same_studies() -> None:
    one, two = (sample_estimates(**STUDY, draws=5, rng=3).means for _ in range(2))
    assert np.array_equal(one, two)


# Large studies ------------------------------------------------------------------------------


@pytest.mark.parametrize(("accuracy", "within"), [(0.5, 0.02), (0.7, 0.02), (0.9, 0.04)])
def test_asymptotic_sd(accuracy: float, within: float) -> None:
    study = {"alpha": 0.6, "rho": accuracy, "eta": accuracy, "human": 100}
    for metric in (0, 500, 10_000):
        exact = Setting(**study, metric=metric).sd()
        assert asymptotic_sd(**study, metric=metric) == pytest.approx(exact, rel=within)


def test_information_is_the_squared_correlation() -> None:
    rng = np.random.default_rng(0)
    human = rng.random(400_000) < 0.3
    metric = np.where(human, rng.random(human.size) < 0.8, rng.random(human.size) > 0.7)
    found = np.corrcoef(human, metric)[0, 1] ** 2
    assert information(0.3, 0.8, 0.7) == pytest.approx(found, abs=0.004)
    assert information(1.0, 1.0, 1.0) == 0
    assert break_even(0.6, 1.0, 1.0) == pytest.approx(1)


# Tables -------------------------------------------------------------------------------------


def test_table() -> None:
    table = difference_table(alpha=0.6, rho=0.7, eta=0.7)
    assert table.shape == (8, 7)
    assert (table.index.name, table.columns.name) == ("human", "metric")
    one = measurable_difference(alpha=0.6, rho=0.7, eta=0.7, human=250, metric=5000)
    assert table.loc[250, 5000] == one
    # More ratings of either kind are never worse by more than what whole counts make of it.
    assert np.all(np.diff(table.to_numpy(), axis=0) < 0)
    assert np.all(np.diff(table.to_numpy(), axis=1) < 1e-4)


# What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rho": 0.3, "eta": 0.6}, "exchange its 0 and 1"),
        ({"rho": None, "eta": None}, "need both rho and eta"),
        ({"eta": None}, "need both rho and eta"),
        ({"alpha": 1.2}, "alpha must lie between 0 and 1"),
        ({"alpha": "high"}, "alpha must be a number"),
        ({"human": 10.5}, "human must be a whole number of 0 or more; got 10.5"),
        ({"metric": -1}, "metric must be a whole number"),
        ({"human": [1, 2], "metric": [1, 2, 3]}, "compatible shapes"),
        ({"pairs": "calibration"}, "expected paired="),
        ({"calibration_share": 0.5}, "in a random sample the share is alpha"),
        ({"pairs": "some"}, "pairs must be one of"),
        ({"level": 0}, "level must lie between 0 and 1"),
        ({"power": 0.01}, "power must lie between level/2"),
        ({"power": 1.0}, "power must lie between level/2"),
        ({"method": "guess"}, "method must be one of"),
        ({"priors": Priors(rho=0.7, eta=0.7)}, "known=True"),
        ({"method": "sampled", "draws": 1}, "draws must be a whole number of at least 2"),
    ],
)
def test_refusals(change: dict, sentence: str) -> None:
    with pytest.raises(FewgoldError, match=sentence):
        measurable_difference(**STUDY | change)


def test_more_refusals() -> None:
    with pytest.raises(FewgoldError, match="both rates"):
        simulated_power(0.5, alpha=0.9, human=10)
    with pytest.raises(FewgoldError, match="human must be a list"):
        difference_table(alpha=0.6, human=5)
    with pytest.raises(FewgoldError, match="single numbers"):
        difference_table(alpha=np.full((2, 1, 1), 0.6), rho=0.7, eta=0.7)
    with pytest.raises(DesignError, match=r"got 0\.9"):
        Setting(alpha=0.5, human=1, rho=0.4, eta=0.5)


def test_a_metric_that_guesses_is_allowed() -> None:
    """ρ + η = 1 says nothing about α: as if only people had rated."""
    humans = measurable_difference(alpha=0.6, human=300)
    for known in (True, False):
        found = measurable_difference(
            alpha=0.6, rho=0.3, eta=0.7, human=300, metric=5000, known=known
        )
        assert found == pytest.approx(humans, rel=0.01)
