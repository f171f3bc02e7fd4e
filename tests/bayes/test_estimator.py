"""The binary model as an estimator: what it counts, what it refuses, what it says."""

import re
from dataclasses import replace

import numpy as np
import pytest

from fewgold import registry
from fewgold.bayes import (
    AlphaPosterior,
    BinaryPosterior,
    Counts,
    PoolPosterior,
    Priors,
)
from fewgold.bayes.estimator import DEFAULT_PRIORS
from fewgold.bayes.finite import ProcessPosterior
from fewgold.cut import Cut
from fewgold.errors import DataError, DesignError, FewgoldError, UnknownNameError
from fewgold.estimate import Estimate
from fewgold.estimators import Mean
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Clusters, SimpleRandom, Stratified, Systematic


@pytest.fixture(scope="module")
def study() -> tuple[Pool, np.ndarray]:
    """300 items, 60 % adequate; a judge that is right 4 times of 5; a score that knows a little."""
    rng = np.random.default_rng(7)
    gold = (rng.random(300) < 0.6).astype(float)
    judge = np.where(rng.random(300) < 0.8, gold, 1 - gold)
    second = np.where(rng.random(300) < 0.7, gold, 1 - gold)
    score = gold + rng.normal(0, 1, 300)
    pool = Pool(
        np.arange(300),
        documents=np.repeat(np.arange(30), 10),
        metrics={"judge": judge, "second": second, "score": score, "wrong": 1 - judge},
        orientation={"score": 1},
    )
    return pool, gold


def _rated(pool: Pool, gold: np.ndarray, n: int = 60, **options: int) -> Ratings:
    sample = SimpleRandom().draw(pool, n, rng=3, **options)
    return sample.rate(gold[sample.indices])


def _counted(ratings: Ratings, labels: np.ndarray) -> dict[str, int]:
    """The 2 × 2 table and the rest of the pool, one segment after the other."""
    found = dict.fromkeys(("tp", "fn", "fp", "tn", "metric_ones", "metric_total"), 0)
    scores = dict(zip(ratings.sample.indices.tolist(), ratings.scores.tolist(), strict=True))
    for row, label in enumerate(labels.tolist()):
        if row not in scores:
            found["metric_total"] += 1
            found["metric_ones"] += int(label)
        elif scores[row]:
            found["tp" if label else "fn"] += 1
        else:
            found["fp" if label else "tn"] += 1
    return found


def test_counts_each_segment_once(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold)
    found = _counted(ratings, pool.metrics["judge"] == 1)
    assert sum(found.values()) - found["metric_ones"] == len(pool)
    ours = BinaryPosterior("judge").estimate(ratings)
    theirs = PoolPosterior(Counts(**found), DEFAULT_PRIORS)
    assert isinstance(ours, Estimate)
    assert float(ours.value) == float(theirs.mean)
    assert float(ours.se) == float(theirs.sd)
    assert ours.interval(0.9) == theirs.interval(0.9)
    process = BinaryPosterior("judge", target="process").estimate(ratings)
    assert float(process.value) == pytest.approx(
        float(AlphaPosterior(Counts(**found), DEFAULT_PRIORS).mean)
    )
    assert process.se > ours.se


def test_batch_counts_as_one_by_one(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold, draws=6)
    for made in (
        BinaryPosterior("judge"),
        BinaryPosterior("score", threshold="information"),
        BinaryPosterior("score", threshold="equal", strict=True),
        BinaryPosterior("score", threshold="bins"),
        BinaryPosterior(("judge", "second")),
        BinaryPosterior(("judge", "score"), threshold={"score": "information"}),
        BinaryPosterior(()),
    ):
        together = made.estimate(ratings)
        low, high = together.interval()
        for k in range(6):
            alone = made.estimate(ratings.draw(k))
            assert float(alone.value) == pytest.approx(float(together.value[k]), abs=1e-12)
            assert float(alone.interval().low) == pytest.approx(float(low[k]), abs=1e-12)
            assert float(alone.interval().high) == pytest.approx(float(high[k]), abs=1e-12)
            assert float(together.draw(k).se) == pytest.approx(float(alone.se), abs=1e-12)


def test_a_chosen_cut_is_that_of_the_ratings(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold)
    ours = BinaryPosterior("score", threshold="information").estimate(ratings)
    cut = Cut.parse(ours.how.removeprefix("score "))
    assert cut.at in pool.metrics["score"][ratings.sample.indices]
    labels = cut(pool.metrics["score"])
    counts = Counts(**_counted(ratings, labels))
    assert float(ours.value) == float(PoolPosterior(counts, DEFAULT_PRIORS).mean)
    given = BinaryPosterior("score", threshold=cut).estimate(ratings)
    assert float(given.value) == float(ours.value)
    assert f"({ours.how})" in ours.signature()


def test_orientation_turns_a_number_round(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    metrics = {"error": -pool.metrics["score"]}
    turned = Pool(pool.ids, metrics=metrics, orientation={"error": -1})
    ratings = _rated(turned, gold)
    assert BinaryPosterior("error", threshold=-0.5).estimate(ratings).how == "error <= -0.5"
    strict = BinaryPosterior("error", threshold=-0.5, strict=True)
    assert strict.estimate(ratings).how == "error < -0.5"
    straight = BinaryPosterior("score", threshold=0.5).estimate(_rated(pool, gold))
    same = BinaryPosterior("error", threshold=-0.5).estimate(ratings)
    assert float(straight.value) == float(same.value)


def test_flipped_metric_gives_the_same_and_says_so(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold)
    right = BinaryPosterior("judge").estimate(ratings)
    wrong = BinaryPosterior("wrong").estimate(ratings)
    assert float(wrong.value) == pytest.approx(float(right.value), abs=1e-12)
    assert not right.notes
    assert "ρ + η ≤ 1" in wrong.notes[0]


def test_binary_metrics_are_found_and_taken_jointly(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold)
    joint = BinaryPosterior().estimate(ratings)
    assert joint.how == "judge and second and wrong"
    # The third is the first turned round: it adds nothing.
    two = BinaryPosterior(("judge", "second")).estimate(ratings)
    assert float(joint.value) == pytest.approx(float(two.value), abs=2e-3)
    assert float(joint.se) == pytest.approx(float(two.se), rel=0.03)
    alone = BinaryPosterior(()).estimate(ratings)
    assert two.se < alone.se


def test_without_a_binary_metric_people_alone(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    scalar = Pool(pool.ids, metrics={"score": pool.metrics["score"]})
    ratings = _rated(scalar, gold)
    found = BinaryPosterior().estimate(ratings)
    ones = int(ratings.scores.sum())
    theirs = PoolPosterior(Counts(human_ones=ones, human_total=60), DEFAULT_PRIORS, 240)
    assert float(found.value) == float(theirs.mean)
    assert "alpha-score:bins" in found.notes[0]
    assert not BinaryPosterior(()).estimate(ratings).notes


def test_a_census_is_certain(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold, len(pool))
    for made in (
        BinaryPosterior(()),
        BinaryPosterior("judge"),
        BinaryPosterior(("judge", "second")),
    ):
        found = made.estimate(ratings)
        assert float(found.value) == pytest.approx(gold.mean())
        assert float(found.se) == pytest.approx(0, abs=1e-9)


def test_calibration_uses_the_rated_for_the_errors_alone(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold)
    found = _counted(ratings, pool.metrics["judge"] == 1)
    # Of the test set, the rated segments are known and the others go by the metric.
    pooled = BinaryPosterior("judge", pairs="calibration").estimate(ratings)
    rest = PoolPosterior(Counts(**found, pairs="calibration"))
    share = (ratings.scores.sum() + float(rest.mean) * 240) / 300
    assert float(pooled.value) == pytest.approx(share)
    assert float(pooled.se) == pytest.approx(float(rest.sd) * 240 / 300)
    low, high = rest.interval()
    ends = [(ratings.scores.sum() + x * 240) / 300 for x in (low, high)]
    assert [float(x) for x in pooled.interval()] == pytest.approx(ends)
    # With the picked ones the test set is a sample of the process.
    process = BinaryPosterior("judge", target="process", pairs="calibration").estimate(ratings)
    assert isinstance(process.posterior, ProcessPosterior)
    assert float(process.value) == pytest.approx(float(pooled.value), abs=0.005)
    assert process.se > pooled.se


def test_a_metric_that_never_differs_is_no_metric(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold)
    alone = BinaryPosterior(()).estimate(ratings)
    found = BinaryPosterior("score", threshold="> -99").estimate(ratings)
    assert float(found.value) == float(alone.value)
    assert "carries no information" in found.notes[0]


def test_many_metrics_are_counted(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    rng = np.random.default_rng(1)
    coins = {f"coin{k}": (rng.random(300) < 0.5).astype(float) for k in range(4)}
    judge = {"judge": pool.metrics["judge"]}
    many = Pool(pool.ids, metrics=judge | coins)
    found = BinaryPosterior().estimate(_rated(many, gold))
    assert found.notes == ("5 metrics are combined by counting how many say 1",)
    assert found.posterior.rated.shape[-2] <= 6
    few = Pool(pool.ids, metrics=judge | {k: coins[k] for k in list(coins)[:3]})
    assert not BinaryPosterior().estimate(_rated(few, gold)).notes


def test_priors_and_kinds_of_intervals(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, gold)
    sure = BinaryPosterior("judge", priors=Priors(rho=(800, 200), eta=(800, 200)))
    assert sure.estimate(ratings).se < BinaryPosterior("judge").estimate(ratings).se
    short = replace(sure, bound="hdi").estimate(ratings)
    wide, narrow = (np.ptp(x.interval()) for x in (sure.estimate(ratings), short))
    assert narrow <= wide
    assert "shortest" in short.to_dict()["bound_label"]


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (BinaryPosterior("score"), "scores of 'score' without a threshold must be 0 or 1"),
        (BinaryPosterior("scoer"), "scoer"),
        (BinaryPosterior("score", threshold="half"), "a cut is a sign and a number"),
        (BinaryPosterior(("judge", "second"), threshold={"third": ">= 0"}), "third"),
        (BinaryPosterior(("judge", "second"), priors=Priors(rho=(2, 1))), "have no ρ and η"),
        (BinaryPosterior((), pairs="calibration"), "exactly one metric, cut"),
    ],
)
def test_bad_input(study: tuple[Pool, np.ndarray], made: BinaryPosterior, problem: str) -> None:
    pool, gold = study
    with pytest.raises((DataError, FewgoldError, UnknownNameError), match=problem):
        made.estimate(_rated(pool, gold))


def test_scores_must_be_cut(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    ratings = _rated(pool, 5 * gold)
    with pytest.raises(DataError, match=r"ratings must be 0 or 1; got 5\. .*ratings\.cut"):
        BinaryPosterior("judge").estimate(ratings)
    assert BinaryPosterior("judge").estimate(ratings.cut(">= 5")).ratings.limits == (0, 1)


@pytest.mark.parametrize("bound", registry.bound_names())
def test_bounds_by_name(study: tuple[Pool, np.ndarray], bound: str) -> None:
    """They are those of the mean of the same ratings; what that refuses is refused here."""
    pool, gold = study
    for sampler in (SimpleRandom(), registry.sampler("docs-opt")):
        sample = sampler.draw(pool, 60, rng=5)
        ratings = sample.rate(gold[sample.indices])
        limited = sample.rate(gold[sample.indices], limits=(0, 1))
        found = BinaryPosterior("judge", bound=bound).estimate(ratings)
        plain = Mean(bound=registry.bound(bound)).estimate(limited)
        try:
            expected = plain.interval(0.9)
        except DesignError as refused:
            with pytest.raises(DesignError, match=re.escape(str(refused))):
                found.interval(0.9)
            continue
        assert tuple(map(float, found.interval(0.9))) == tuple(map(float, expected))
        assert float(found.value) == float(BinaryPosterior("judge").estimate(ratings).value)
        record = found.to_dict(0.9)
        assert record["bound_kind"] == plain.to_dict(0.9)["bound_kind"]
        assert "from the human ratings alone" in found.summary()
        assert f"posterior-{bound}" in found.signature()


def test_bounds_that_do_not_fit() -> None:
    with pytest.raises(UnknownNameError, match="unknown bound 'widest'"):
        BinaryPosterior(bound="widest")
    for made in ({"target": "process"}, {"pairs": "calibration"}):
        with pytest.raises(FewgoldError, match="only work for the share of this test set"):
            BinaryPosterior("judge", bound="student", **made)


def test_designs(study: tuple[Pool, np.ndarray]) -> None:
    pool, gold = study
    judge = BinaryPosterior("judge")

    def rated(sampler: object) -> Ratings:
        sample = sampler.draw(pool, 60, rng=1)  # type: ignore[attr-defined]
        return sample.rate(gold[sample.indices])

    for other in (Clusters(), Clusters(3), Stratified(allocation="optimal"), Systematic()):
        found = judge.estimate(rated(other))
        assert found.approximate and "approximate" in found.to_dict()["bound_label"]
        assert "through its design effect of" in found.notes[0]
        with pytest.raises(FewgoldError, match="chosen by class"):
            replace(judge, pairs="calibration").estimate(rated(other))
    first = SimpleRandom().draw(pool, 30, rng=1)
    earlier = first.rate(gold[first.indices])
    more = SimpleRandom().draw(pool, 30, given=earlier, rng=2)
    joined = more.rate(gold[more.indices])
    assert joined.n == 60
    simple = judge.estimate(joined)
    assert not simple.notes and not simple.approximate


@pytest.mark.parametrize(
    ("name", "metric", "threshold"),
    [
        ("alpha", None, None),
        ("alpha-judge", "judge", None),
        ("alpha-score>=0.5", "score", ">=0.5"),
        ("alpha-score<0.5", "score", "<0.5"),
        ("alpha-score:equal", "score", "equal"),
        ("alpha-score:information", "score", "information"),
        ("alpha-score:bins", "score", "bins"),
    ],
)
def test_names(
    study: tuple[Pool, np.ndarray], name: str, metric: str | None, threshold: str | None
) -> None:
    pool, _ = study
    for within in (None, pool):
        made = registry.strategy(f"docs-sys+{name}", within)
        assert isinstance(made, BinaryPosterior)
        assert (made.metric, made.threshold) == (metric, threshold)
        assert made.name == name
    assert "alpha-judge" in registry.estimator_names(pool)
    assert "alpha-score" not in registry.estimator_names(pool)
    with pytest.raises(UnknownNameError, match="alpha-METRIC"):
        registry.strategy("random+alpha-nothing:bins", pool)
