"""Raters who all make mistakes."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fewgold.bayes import AlphaPosterior, Counts, Priors, RaterPosterior, RaterPriors
from fewgold.bayes.raters import health, sweep
from fewgold.errors import DataError, FewgoldError
from fewgold.estimate import Estimate
from reference import raters as twin

LABELS = [
    [1, 1, 1],
    [1, 1, 0],
    [1, None, 1],
    [0, 0, 1],
    [0, 0, 0],
    [1, 0, None],
    [0, 0, 0],
    [1, 1, 1],
    [None, 1, 0],
]
GOLD = [1, None, None, 0, None, None, None, None, None]
SHAPES = {"alpha": (2.0, 1.5), "rho": (3.0, 1.0), "eta": (2.0, 1.0)}


def numbers(rows):
    return np.array(rows, dtype=float)


def simulated(n=200, alpha=0.6, rates=(0.9, 0.8, 0.75), seed=5):
    rng = np.random.default_rng(seed)
    adequate = rng.random(n) < alpha
    right = rng.random((n, len(rates))) < rates
    return adequate, np.where(right, adequate[:, None], ~adequate[:, None]).astype(float)


def near(found, posterior, sd=None):
    """Within 4.5 Monte Carlo errors of the posterior mean."""
    sd = float(posterior.sd) if sd is None else sd
    return pytest.approx(found, abs=4.5 * sd / np.sqrt(posterior._ess))


@pytest.mark.sweep
@pytest.mark.parametrize("gold", [None, GOLD])
@pytest.mark.parametrize("gold_from", ["sample", "calibration"])
def test_every_assignment_of_classes(gold, gold_from):
    posterior = RaterPosterior(
        numbers(LABELS),
        gold=None if gold is None else numbers(gold),
        gold_from=gold_from,
        priors=RaterPriors(**SHAPES),
        above_chance=False,
        effective=3000,
    )
    sample = gold_from == "sample"
    steps, mean, chance, rho, eta = twin.by_enumeration(
        LABELS, **SHAPES, gold=gold, gold_tells_alpha=sample
    )
    assert isinstance(posterior, Estimate)
    assert posterior.mean == near(mean, posterior)
    assert posterior.adequate == near(chance, posterior, sd=0.5)
    frame = posterior.raters()
    assert frame["rho"].to_numpy() == near(rho, posterior, sd=0.3)
    assert frame["eta"].to_numpy() == near(eta, posterior, sd=0.3)
    pool = RaterPosterior(
        posterior.labels,
        gold=posterior.gold,
        gold_from=gold_from,
        target="pool",
        priors=posterior.priors,
        above_chance=False,
        effective=3000,
    )
    known, size = (1, 9) if sample and gold else (0, 9 if gold is None else 7)
    assert pool._size == size
    at = (known + np.arange(steps.size)) / size
    assert pool.cdf(at) == near(np.cumsum(steps), posterior, sd=0.5)
    assert pool.quantile(1.0) <= at[-1]


def test_prior_cut_off_below_chance():
    rows = [row for row in LABELS if None not in row]
    shapes = {"alpha": (1, 1), "rho": (1, 1), "eta": (1, 1)}
    mean, sd, error = twin.by_prior_draws(
        rows, **shapes, size=100_000, rng=np.random.default_rng(0)
    )
    posterior = RaterPosterior(rows, priors=RaterPriors(**shapes), effective=3000)
    allowed = 4.5 * np.hypot(error, sd / np.sqrt(posterior._ess))
    assert posterior.mean == pytest.approx(mean, abs=allowed)
    # The sd of a spread of that shape is off by less than 0.7 of that of a mean.
    assert posterior.sd == pytest.approx(sd, abs=allowed)
    assert (posterior._rates.sum(-1).mean(-1) > 1).all()


def test_without_the_cut_and_with_uniform_priors_classes_may_change_places():
    rows = [[1, 1, 1]] * 4 + [[1, 1, 0], [0, 0, 0]]
    priors = RaterPriors(rho=(1, 1), eta=(1, 1))
    lost = RaterPosterior(rows, priors=priors, above_chance=False, effective=200)
    found = RaterPosterior(rows, priors=priors, effective=200)
    assert lost.mean == near(0.5, lost)
    assert found.mean > 0.55


def test_one_rater_with_gold_is_the_binary_model():
    """A single rater is what the metric is in `AlphaPosterior`, which is exact."""
    counts = Counts(tp=20, fn=6, fp=4, tn=15, metric_ones=60, metric_total=100)
    exact = AlphaPosterior(counts, Priors(alpha=(1, 1), rho=(4, 1), eta=(4, 1)))
    labels = np.r_[np.ones(20), np.zeros(6), np.ones(4), np.zeros(15), np.ones(60), np.zeros(40)]
    gold = np.r_[np.ones(26), np.zeros(19), np.full(100, np.nan)]
    posterior = RaterPosterior(labels[:, None], gold=gold, above_chance=False, effective=10_000)
    assert posterior.mean == near(float(exact.mean), posterior)
    assert posterior.sd == pytest.approx(float(exact.sd), rel=0.04)
    ends = np.array([posterior.interval(0.9), exact.interval(0.9)])
    np.testing.assert_allclose(ends[0], ends[1], atol=0.12 * float(exact.sd))
    np.testing.assert_allclose(
        posterior.cdf([0.5, 0.6, 0.7]), exact.cdf([0.5, 0.6, 0.7]), atol=4.5 * 0.5 / 100
    )
    frame = posterior.raters(0.9)
    assert frame["rho"][0] == pytest.approx(exact.rho.mean, abs=0.005)
    assert frame["eta_sd"][0] == pytest.approx(exact.eta.sd, rel=0.06)
    ends = frame[["rho_low", "rho_high"]].to_numpy()[0]
    np.testing.assert_allclose(ends, exact.rho.interval(0.9), atol=0.012)
    assert posterior.notes == ()


def test_metric_is_one_more_rater():
    adequate, labels = simulated(rates=(0.9, 0.8, 0.75, 0.7))
    priors = RaterPriors(metric_rho=(4, 1), metric_eta=(4, 1))
    kwargs = {"priors": priors, "above_chance": False, "effective": 200}
    as_rater = RaterPosterior(labels, **kwargs)
    as_metric = RaterPosterior(labels[:, :3], metric=labels[:, 3], **kwargs)
    assert as_metric.mean == as_rater.mean
    assert list(as_metric.raters()["rater"]) == ["rater 1", "rater 2", "rater 3", "metric"]
    assert as_metric.adequate[adequate].mean() > as_metric.adequate[~adequate].mean() + 0.5


def test_unrated_items_of_the_test_set():
    _, labels = simulated(60)
    kwargs = {"target": "pool", "effective": 500}
    rows = np.vstack([labels, np.full((40, 3), np.nan)])
    pool = RaterPosterior(rows, **kwargs)
    same = RaterPosterior(labels, unrated=40, **kwargs)
    process = RaterPosterior(labels, effective=500)
    assert pool._size == same._size == 100
    assert pool.mean == same.mean
    assert pool.interval(0.8) == same.interval(0.8)
    done = RaterPosterior(labels, **kwargs)
    # 60 items and the mean of 40 to come; their variance given α adds α(1 − α)/40.
    assert pool.mean == pytest.approx(0.6 * float(done.mean) + 0.4 * float(process.mean))
    assert done.sd < process.sd
    assert pool.adequate[60:] == pytest.approx(float(process.mean))
    many = RaterPosterior(labels, target="pool", unrated=100_000, effective=500)
    assert many.sd == pytest.approx(float(process.sd), rel=1e-3)
    assert many.interval().low == pytest.approx(process.interval().low, abs=2e-3)
    drawn = many.sample(4000, rng=1)
    assert drawn.mean() == pytest.approx(float(many.mean), abs=4.5 * float(many.sd) / 63)


def test_draws_density_and_intervals_agree():
    _, labels = simulated()
    posterior = RaterPosterior(labels, effective=500)
    drawn = posterior.sample(20_000, rng=2)
    assert drawn.mean() == pytest.approx(float(posterior.mean), abs=4.5 * float(posterior.sd) / 141)
    assert posterior.cdf(np.median(drawn)) == pytest.approx(0.5, abs=4.5 * 0.5 / 141)
    equal, shortest = posterior.interval(0.9), posterior.interval(0.9, kind="hdi")
    assert shortest.high - shortest.low <= equal.high - equal.low + 1e-9
    ends = posterior.cdf(np.array(shortest))
    assert ends[1] - ends[0] == pytest.approx(0.9, abs=1e-6)


def test_same_seed_same_numbers():
    _, labels = simulated()
    one, two = (RaterPosterior(labels, effective=200) for _ in range(2))
    other = RaterPosterior(labels, effective=200, seed=1)
    assert one.mean == two.mean
    assert one.mean != other.mean
    assert one.mean == near(float(other.mean), one, sd=1.5 * float(one.sd))


def test_effective_draws_are_worth_what_they_say():
    """Means of α over seeds vary as the stated number of independent draws would."""
    _, labels = simulated(80)
    model = RaterPosterior(labels)._model
    copies = {name: np.repeat(getattr(model, name), 40, axis=0) for name in ("counts", "a", "b")}
    model = replace(model, **copies)
    rng = np.random.default_rng(1)
    theta, _ = sweep(model, model.start(4, rng), 300, rng)
    _, draws = sweep(model, theta, 500, rng)
    means = draws.adequate.mean((1, 2))
    stated = draws.adequate.std() / np.sqrt(health(draws.adequate.astype(float)).ess)
    # 39 degrees of freedom: outside of these once in 1,000 times.
    scaled = (means - means.mean()) / stated
    assert 0.64 < np.sqrt((scaled**2).sum() / 39) < 1.42


def test_health_of_chains():
    rng = np.random.default_rng(4)
    found = health(rng.normal(size=(3, 16, 1000)))
    assert found.rhat == pytest.approx(1.0, abs=0.005)
    assert found.ess == pytest.approx(16_000, rel=0.15)
    slow = np.zeros((16, 4000))
    for t in range(1, 4000):
        slow[:, t] = 0.9 * slow[:, t - 1] + rng.normal(size=16)
    assert health(slow).ess == pytest.approx(64_000 * 0.1 / 1.9, rel=0.2)
    apart = rng.normal(size=(16, 1000)) + np.arange(16)[:, None]
    assert health(apart).rhat > 3
    assert health(apart).ess < 100
    still = health(np.ones((16, 100)))
    assert (still.rhat, still.ess) == (1.0, 1600.0)
    stuck = health(np.repeat(np.arange(16.0)[:, None], 100, axis=1))
    assert stuck.rhat == np.inf


def test_two_raters_are_said_not_to_tell():
    _, labels = simulated(100)
    two, three = RaterPosterior(labels[:, :2], effective=200), RaterPosterior(labels, effective=200)
    assert "no item has three answers" in two.notes[0]
    assert two.notes[0] in two.summary()
    assert not three.notes
    gold = np.where(np.arange(100) < 30, 1.0, np.nan)
    assert not RaterPosterior(labels[:, :2], gold=gold, effective=200).notes


def test_frame_summary_and_plain_numbers():
    _, labels = simulated(40)
    frame = pd.DataFrame(labels, columns=["Ann", "Bob", "Eve"])
    frame.loc[3, "Bob"] = np.nan
    posterior = RaterPosterior(frame, effective=200)
    table = posterior.raters()
    assert list(table["rater"]) == ["Ann", "Bob", "Eve"]
    assert list(table["answers"]) == [40, 39, 40]
    assert (table["rho_low"] < table["rho"]).all() and (table["eta"] < table["eta_high"]).all()
    assert "from 119 answers of 3 raters to 40 items, 0 of them gold" in posterior.summary()
    pool = RaterPosterior(frame, effective=200, target="pool", unrated=10)
    assert "of the 50 items of this test set" in pool.summary()
    plain = json.loads(json.dumps(posterior.to_dict()))
    assert plain["raters"][1]["rater"] == "Bob"
    assert plain["low"] < plain["value"] == float(posterior.value) < plain["high"]
    assert plain["rhat"] <= 1.01 and plain["ess"] >= 200
    assert "3 raters, 40 items" in repr(posterior)


def test_all_gold_leaves_the_raters_to_be_known():
    _, labels = simulated(50)
    gold = np.arange(50) % 2
    posterior = RaterPosterior(labels, gold=gold, above_chance=False, effective=200)
    assert posterior.mean == pytest.approx(26 / 52)
    hits = labels[gold == 1].sum(0)
    assert posterior.raters()["rho"].to_numpy() == pytest.approx((4 + hits) / 30, abs=0.01)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"labels": [[1, 2]]}, "must be 0, 1, or NaN where there is no answer; got 2"),
        ({"labels": [["good"]]}, "such as words"),
        ({"labels": [[1, 0], [1]]}, "rows of unequal lengths"),
        ({"labels": [1, 0, 1]}, "must be a table of items × raters; got an array of shape"),
        ({"labels": [[np.nan], [np.nan]]}, "contain no answer"),
        ({"labels": np.zeros((3, 0))}, "no column"),
        ({"gold": [1]}, "gold must have one label for each of the 2 items"),
        ({"metric": [[1, 0]]}, "metric must have one label for each of the 2 items"),
        ({"metric": [0.5, 1]}, "Cut scores at a threshold"),
    ],
)
def test_bad_labels(change, sentence):
    with pytest.raises(DataError, match=sentence):
        RaterPosterior(**({"labels": [[1, 0], [1, 1]]} | change))


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"target": "all"}, "target must be one of process, pool; got 'all'"),
        ({"gold_from": "x"}, "gold_from must be one of"),
        ({"unrated": -1}, "unrated must be a whole number"),
        ({"effective": 5}, "effective must be a whole number of at least 100"),
    ],
)
def test_bad_choices(change, sentence):
    with pytest.raises(FewgoldError, match=sentence):
        RaterPosterior([[1, 0], [1, 1]], **change)


def test_bad_priors():
    with pytest.raises(FewgoldError, match=r"rho must be a pair of positive numbers"):
        RaterPriors(rho=(0, 1))
