"""What a judge may look like: words, missing verdicts, and what was known of it before."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from fewgold.bayes import (
    AlphaPosterior,
    BinaryPosterior,
    CellPosterior,
    Counts,
    Pooled,
    PoolPosterior,
    Priors,
    Trend,
    bins,
    success_rates,
    tally,
)
from fewgold.bayes.estimator import parts_posterior
from fewgold.bayes.finite import prior_of_part
from fewgold.design import Design
from fewgold.errors import DataError, FewgoldError
from fewgold.io import filled
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample


def test_priors_from_counts_are_those_of_the_earlier_items() -> None:
    """With uniform priors before, the earlier items count as if rated now, but not towards α."""
    priors = Priors.from_counts(tp=80, fn=20, fp=10, tn=90)
    assert priors == Priors(rho=(81, 21), eta=(91, 11))
    now = Counts(tp=20, fn=6, fp=3, tn=11, metric_ones=300, metric_total=600)
    both = Counts(
        human_ones=26, human_total=40, tp=100, fn=26, fp=13, tn=101, metric_ones=300,
        metric_total=600, pairs="calibration",
    )  # fmt: skip
    assert float(AlphaPosterior(now, priors).mean) == pytest.approx(
        float(AlphaPosterior(both).mean)
    )
    assert float(AlphaPosterior(now, priors).sd) == pytest.approx(float(AlphaPosterior(both).sd))
    assert Priors.from_counts(8, 2, 1, 9, weight=0) == Priors()
    for bad in ({"tp": -1}, {"weight": -0.5}, {"weight": np.nan}):
        with pytest.raises(FewgoldError, match="of 0 or more"):
            Priors.from_counts(**({"tp": 8, "fn": 2, "fp": 1, "tn": 9} | bad))


def test_priors_from_means() -> None:
    priors = Priors.from_means(alpha=(0.6, 20), rho=(0.8, 50), eta=(0.9, 10))
    for name, (mean, size) in {"alpha": (0.6, 20), "rho": (0.8, 50), "eta": (0.9, 10)}.items():
        a, b = getattr(priors, name)
        assert a + b == pytest.approx(size)
        assert a / (a + b) == pytest.approx(mean)
    assert Priors.from_means() == Priors()
    with pytest.raises(FewgoldError, match="rho must be a mean between 0 and 1"):
        Priors.from_means(rho=(1.0, 50))


def test_words_are_labels() -> None:
    human = ["pass", "Fail", "pass ", "fail"]
    counts = Counts.from_labels(
        paired=(human, ["yes", "no", "no", "yes"]), metric=["TRUE", "false"]
    )
    assert repr(counts) == "Counts(tp=1, fn=1, fp=1, tn=1, metric_ones=1, metric_total=2)"
    with pytest.raises(DataError, match="words such as pass and fail; got"):
        Counts.from_labels(human=["pass", "no"])
    with pytest.raises(DataError, match="must be 0 or 1"):
        Counts.from_labels(human=["fine", "poor"])


def judged(missing: int = 40) -> pd.DataFrame:
    """400 answers, of which the judge left out some, mostly bad ones."""
    rng = np.random.default_rng(4)
    passed = rng.random(400) < 0.6
    judge = np.where(rng.random(400) < 0.85, passed, ~passed).astype(float)
    judge[rng.permutation(np.flatnonzero(~passed))[:missing]] = np.nan
    human = np.where(rng.random(400) < 0.25, passed, np.nan)
    return pd.DataFrame({"judge": judge, "human": human, "truth": passed})


def test_missing_verdicts_are_a_category() -> None:
    frame = judged()
    rates = success_rates(frame, human="human", metric="judge")
    row = rates.to_frame().iloc[0]
    assert any("40 of 400 rows without judge" in note for note in rates.notes)
    code = frame["judge"].fillna(2).astype(int)
    rated = frame["human"].notna()
    table = [
        [int((rated & (code == j) & (frame["human"] == k)).sum()) for k in (0, 1)] for j in range(3)
    ]
    unrated = [int((~rated & (code == j)).sum()) for j in range(3)]
    expected = CellPosterior(table, unrated)
    assert row["mean"] == float(expected.mean) and row["items"] == 400
    assert row["naive"] == frame["judge"].mean()
    # Left out, the rows without a verdict would take their failures with them.
    dropped = success_rates(frame[frame["judge"].notna()], human="human", metric="judge")
    truth = frame["truth"].mean()
    assert abs(row["mean"] - truth) < abs(dropped.to_frame()["mean"].iloc[0] - truth)
    with pytest.raises(DataError, match="need a score on every row"):
        success_rates(frame, human="human", metric="judge", pairs="calibration")
    with pytest.raises(DataError, match="no row has a score in column 'judge'"):
        success_rates(frame.assign(judge=np.nan), human="human", metric="judge")


def test_missing_verdicts_in_a_pool_are_a_category() -> None:
    """As in a table: the pool keeps gaps as the mean, and those are neither 0 nor 1."""
    frame = judged().reset_index(names="id")
    given = filled(frame, ["judge"])
    pool = Pool.from_table(given, id="id", metrics=["judge"])
    sample = BinaryPosterior("judge").select(pool, 80, rng=3)
    ratings = sample.rate(frame["truth"].to_numpy()[sample.indices].astype(float))
    found = BinaryPosterior("judge").estimate(ratings)
    codes = frame["judge"].fillna(2).to_numpy(int)
    cells = tally(codes, sample.indices, ratings.scores == 1)
    assert float(found.value) == float(CellPosterior(*cells, prior=Pooled((0.5, 0.5))).mean)
    assert not found.approximate
    assert "40 of 400 segments without judge" in found.summary()
    informed = BinaryPosterior("judge", priors=Priors(alpha=(60, 40))).estimate(ratings)
    assert float(informed.sd) < float(found.sd)
    with pytest.raises(FewgoldError, match="leave out the target 'process'"):
        BinaryPosterior("judge", target="process", priors=Priors(rho=(2, 1))).estimate(ratings)
    # Of several systems each has its own mean.
    two = pd.concat([given.assign(system="a"), filled(judged(70), ["judge"]).assign(system="b")])
    two["id"] = np.arange(len(two))
    pool = Pool.from_table(two, id="id", metrics=["judge"], system="system")
    sample = BinaryPosterior("judge").select(pool, 80, rng=3)
    found = BinaryPosterior("judge").estimate(sample.rate(np.arange(80) % 2))
    assert "110 of 800 segments without judge" in found.summary()
    # Scores that merely lie between 0 and 1 are no verdicts.
    pool = Pool([1, 2, 3, 4], metrics={"judge": [0, 1, 1, 0.4]})
    with pytest.raises(DataError, match=r"must be 0 or 1; got 0\.4"):
        BinaryPosterior("judge").select(pool, 2)


def test_rates_known_before_where_verdicts_are_missing() -> None:
    """Both parts by themselves, and all pairs of their counts one by one."""
    frame = judged()
    before = Priors.from_counts(tp=80, fn=20, fp=10, tn=90, alpha=(3, 2))
    rates = success_rates(frame, human="human", metric="judge", priors=before)
    said, rated = frame["judge"].notna(), frame["human"].notna()
    with_verdict = PoolPosterior(
        Counts.from_labels(
            paired=(frame["human"][said & rated], frame["judge"][said & rated]),
            metric=frame["judge"][said & ~rated],
        ),
        Priors(alpha=(2.7, 1.8), rho=before.rho, eta=before.eta),  # 360 of 400 rows
    )
    ours = frame["human"][~said & rated]
    without = PoolPosterior(
        Counts(human_ones=int(ours.sum()), human_total=ours.size), Priors(alpha=(0.6, 0.4)),
        unrated=40 - ours.size,
    )  # fmt: skip
    mass = np.zeros(401)
    (one,), (two,) = with_verdict._distributions, without._distributions
    for share, chance in zip(*one, strict=True):
        for other, more in zip(*two, strict=True):
            mass[round(360 * share + 40 * other)] += chance * more
    values = np.arange(401) / 400
    mean = float(mass @ values)
    found = rates.posteriors[next(iter(rates.posteriors))]
    assert float(found.mean) == pytest.approx(mean, abs=1e-12)
    assert float(found.sd) == pytest.approx(float(np.sqrt(mass @ (values - mean) ** 2)), rel=1e-9)
    np.testing.assert_allclose(found.cdf(values), np.cumsum(mass), atol=1e-10)
    assert any(
        "40 of 400 rows without judge: only human ratings are used for these" in n
        for n in rates.notes
    )
    # As an estimator, one draw or several.
    pool = Pool.from_table(filled(frame.reset_index(names="id"), ["judge"]), id="id",
                           metrics=["judge"])  # fmt: skip
    rows = np.flatnonzero(rated)
    design = Design.simple(rows.size, 400)
    ratings = Ratings(Sample(pool, rows, design), frame["human"].to_numpy()[rows])
    model = BinaryPosterior("judge", priors=before)
    np.testing.assert_allclose(model.estimate(ratings).interval(), found.interval(), atol=1e-12)
    drawn = model.sampler.draw(pool, 50, draws=3, rng=1)
    batch = model.estimate(drawn.rate(frame["truth"].to_numpy(float)[drawn.indices]))
    for k in range(3):
        one_study = model.estimate(batch.ratings.draw(k))
        assert float(one_study.value) == pytest.approx(float(batch.value[k]), abs=1e-12)
        assert float(one_study.interval().low) == pytest.approx(batch.interval().low[k])


def test_missing_votes_count_half() -> None:
    rng = np.random.default_rng(2)
    truth = (rng.random(300) < 0.6).astype(float)
    votes = np.where(rng.random((5, 300)) < 0.75, truth, 1 - truth)
    votes[0, :40] = np.nan
    frame = pd.DataFrame({f"judge{k}": v for k, v in enumerate(votes)}).reset_index(names="id")
    names = [f"judge{k}" for k in range(5)]
    pool = Pool.from_table(filled(frame, names), id="id", metrics=names)
    model = BinaryPosterior(tuple(names))
    sample = model.select(pool, 80, rng=1)
    found = model.estimate(sample.rate(truth[sample.indices]))
    codes = np.unique(np.nan_to_num(2 * votes, nan=1).sum(0), return_inverse=True)[1]
    cells = tally(codes, sample.indices, truth[sample.indices].astype(int))
    assert float(found.value) == float(CellPosterior(*cells, prior=Trend((0.5, 0.5))).mean)
    assert "40 of 300 segments without judge0: that is half a vote" in found.summary()


def test_parts_are_calibrated() -> None:
    """Truths drawn from the prior have uniform ranks among draws of the posterior."""
    rng = np.random.default_rng(11)
    priors = Priors(alpha=(2, 1), rho=(8, 2), eta=(6, 3))
    ranks = []
    for _ in range(400):
        ones = [rng.beta(*prior_of_part(priors.alpha, n / 100)) for n in (80, 20)]
        rho, eta = rng.beta(*priors.rho), rng.beta(*priors.eta)
        adequate = np.concatenate([rng.random(n) < p for n, p in zip((80, 20), ones, strict=True)])
        passed = rng.random(100) < np.where(adequate, rho, 1 - eta)
        codes = np.where(np.arange(100) < 80, passed, 2).astype(int)
        rows = rng.permutation(100)[:15]
        cells = tally(codes, rows, adequate[rows], count=3)
        found = parts_posterior(*cells, priors)
        share = adequate.mean()
        below, upto = (float(found.cdf(share + step)) for step in (-0.005, 0.005))
        ranks.append(below + rng.random() * (upto - below))
    assert kstest(ranks, "uniform").pvalue > 1e-3


def test_metrics_that_scored_different_rows() -> None:
    """What they say together is the category of a row; each has cells of its own."""
    frame = judged(0)
    first = np.arange(400) < 250
    other = np.where(np.random.default_rng(1).random(400) < 0.7, frame["truth"], ~frame["truth"])
    frame["other"] = np.where(first, np.nan, other.astype(float))
    frame["judge"] = frame["judge"].where(first)
    rates = success_rates(frame, human="human", metric=["judge", "other"])
    codes = np.where(first, frame["judge"], 2 + frame["other"]).astype(int)
    rows = np.flatnonzero(frame["human"].notna())
    cells = tally(codes, rows, frame["human"][rows].astype(int))
    found = rates.to_frame().iloc[0]
    assert found["mean"] == pytest.approx(float(CellPosterior(*cells).mean), abs=1e-12)
    assert "4 of them occur" in rates.notes[0]
    with pytest.raises(DataError, match="have no ρ and η"):
        success_rates(frame, human="human", metric=["judge", "other"], priors=Priors(rho=(2, 1)))


def test_probabilities_of_a_judge_in_bins() -> None:
    frame = judged(0)
    noise = np.random.default_rng(2).normal(0, 0.2, 400)
    frame["sure"] = np.clip(0.3 + 0.4 * frame["truth"] + noise, 0, 1)
    rates = success_rates(frame, human="human", metric="sure", threshold="bins")
    rows = np.flatnonzero(frame["human"].notna())
    cells = tally(bins(frame["sure"]), rows, frame["human"][rows].astype(int))
    assert rates.to_frame()["mean"].iloc[0] == float(CellPosterior(*cells, prior=Trend()).mean)
    assert rates.metric == "sure in 8 bins"


def test_priors_as_people_type_them() -> None:
    counts = Priors.from_counts(tp=30, fn=10, fp=5, tn=45)
    assert Priors.parse("rho=30/40, eta=45/50") == counts
    assert Priors.parse("tp=30,fn=10,fp=5,tn=45") == counts
    assert Priors.parse("tp=30; fn=10; fp=5; tn=45; weight=0.5") == Priors.from_counts(
        30, 10, 5, 45, weight=0.5
    )
    means = Priors.from_means(alpha=(0.6, 20), rho=(0.75, 40))
    assert Priors.parse("alpha=0.6@20,rho=.75@40") == means
    assert Priors.parse("rho=0.75/40,alpha=0.6/20") == means  # a share is no count
    assert Priors.parse("rho=0.75@40,weight=0.5") == Priors.from_means(rho=(0.75, 20))
    assert Priors.parse("rho=0/12").rho == (1.0, 13.0) and Priors.parse("rho=1/12").rho == (2, 12)
    assert Priors.parse("alpha=6/10,tp=30,fn=10,fp=5,tn=45").alpha == (7.0, 5.0)
    wrong_ones = (
        "", "rho=0.8", "rho=30/40,rho=3/4", "weight=0.5", "tp=30,fn=10", "rho=30/40,tp=1",
        "rho=-1/4", "beta=30/40", "rho=30/40,weight=1/2", "tp=1,fn=1,fp=1,tn=1,rho=3/4",
    )  # fmt: skip
    for wrong in wrong_ones:
        with pytest.raises(FewgoldError, match="a prior must be like rho=30/40"):
            Priors.parse(wrong)
    with pytest.raises(FewgoldError, match="hits out of all items, such as 30/40; got 50/40"):
        Priors.parse("rho=50/40")
    with pytest.raises(FewgoldError, match="must be a mean between 0 and 1"):
        Priors.parse("rho=30@40")


@pytest.mark.parametrize("ones", [0, 13, 40])
def test_people_alone_by_jeffreys_as_statsmodels_has_it(ones: int) -> None:
    from statsmodels.stats.proportion import proportion_confint

    counts = Counts(human_ones=ones, human_total=40)
    found = AlphaPosterior(counts, Priors(alpha=(0.5, 0.5))).interval(0.9)
    theirs = proportion_confint(ones, 40, alpha=0.1, method="jeffreys")
    assert [float(end) for end in found] == pytest.approx(theirs, abs=1e-7)
