"""Several criteria on one sample: each estimate is that of the criterion alone."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import multivariate_normal, norm

import fewgold as fg
from fewgold.bounds import Hoeffding
from fewgold.criteria import Criterion, _joint_level, from_table, rate
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.estimators import Mean, Ridge
from fewgold.formats.base import parse_criteria
from fewgold.samplers import Balanced, ByDocument, SimpleRandom, Stratified

SCALES = ["fluency:1-5:higher", "adequacy:0-100"]


@pytest.fixture(scope="module")
def study():
    """A pool and the true scores of every segment on two criteria."""
    pool, penalty = fg.datasets.load_demo("zhen")
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(2, len(pool)))
    fluency = np.clip(np.round(5 - penalty / 4 + 0.5 * noise[0]), 1, 5)
    adequacy = np.clip(np.round(100 - 4 * penalty + 10 * noise[1]), 0, 100)
    return pool, {"fluency": fluency, "adequacy": adequacy}


def rated(study, sampler=None, n=80, seed=1):
    pool, gold = study
    sample = (sampler or Balanced()).draw(pool, n, rng=seed)
    return rate(sample, {k: v[sample.indices] for k, v in gold.items()}, SCALES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fluency", Criterion("fluency")),
        (" fluency : 1-5 ", Criterion("fluency", (1, 5))),
        ("x:-2-2:lower", Criterion("x", (-2, 2), False)),
        ("x:-5--1", Criterion("x", (-5, -1))),
        ("x:0.5..1.5:higher", Criterion("x", (0.5, 1.5), True)),
        ("x:mqm", Criterion("x", (0, 25), False)),
        ("x:da", Criterion("x", (0, 100), True)),
        ("x:lower", Criterion("x", None, False)),
    ],
)
def test_criteria_are_read_as_they_are_spelled(text, expected) -> None:
    found = Criterion.parse(text)
    assert found == expected
    assert Criterion.parse(found.spelled) == found
    assert Criterion.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("text", ["", "a:", "a:5-1", "a:1-5:up", "a:1-5:lower:x", "a=b", "a:x"])
def test_what_is_no_criterion_is_said(text) -> None:
    with pytest.raises(FewgoldError, match=r"criterion|limits"):
        Criterion.parse(text)


def test_a_criterion_is_named_once() -> None:
    with pytest.raises(FewgoldError, match="given twice"):
        parse_criteria(["a:1-5", "a"])


@pytest.mark.parametrize("sampler", [Balanced(), SimpleRandom(), Stratified(ByDocument())])
def test_each_estimate_is_that_of_the_criterion_alone(study, sampler) -> None:
    both = rated(study, sampler)
    made = both.estimate(Ridge())
    sample, gold = both["fluency"].sample, study[1]
    alone = {
        "fluency": Ridge(higher_is_better=True).estimate(
            sample.rate(gold["fluency"][sample.indices], limits=(1, 5))
        ),
        "adequacy": Ridge().estimate(
            sample.rate(gold["adequacy"][sample.indices], limits=(0, 100))
        ),
    }
    table = made.table().set_index("criterion")
    for name, one in alone.items():
        low, high = one.interval()
        told = table.loc[name, ["value", "se", "low", "high", "n"]].tolist()
        assert told == pytest.approx([*map(float, (one.value, one.se, low, high)), 80])
        assert made[name].to_dict()["signature"] == one.signature()


def test_a_top_up_joins_the_earlier_ratings_of_every_criterion(study) -> None:
    pool, gold = study
    first = rated(study, n=40)
    waves = Balanced().draw(pool, 40, given=first["fluency"].complete(), rng=2)
    new = {k: v[waves.indices] for k, v in gold.items()}
    both = rate(waves, new, SCALES, given=first)
    sample = both["adequacy"].sample
    assert sample.n == 80
    np.testing.assert_array_equal(both["adequacy"].scores, gold["adequacy"][sample.indices])
    np.testing.assert_array_equal(both["fluency"].scores, gold["fluency"][sample.indices])
    with pytest.raises(DataError, match="earlier ratings of 'fluency' are missing"):
        rate(waves, new, SCALES)


def test_scores_and_criteria_must_have_the_same_names(study) -> None:
    sample = SimpleRandom().draw(study[0], 5, rng=1)
    with pytest.raises(UnknownNameError, match="style"):
        rate(sample, {"fluency": np.ones(5)}, ["style"])
    with pytest.raises(DataError, match="scores for style"):
        rate(sample, {"fluency": np.ones(5), "style": np.ones(5)}, ["fluency"])
    frame = pd.DataFrame({"fluency": 1.0, "style": 2.0}, index=sample.ids)
    assert list(rate(sample, frame)) == ["fluency", "style"]


def test_gaps_are_those_of_each_criterion(study) -> None:
    pool, gold = study
    sample = SimpleRandom().draw(pool, 60, rng=3)
    scores = {k: v[sample.indices].copy() for k, v in gold.items()}
    scores["adequacy"][:7] = np.nan
    both = rate(sample, scores, SCALES)
    assert {k: len(v) for k, v in both.missing.items()} == {"fluency": 0, "adequacy": 7}
    with pytest.raises(DataError, match="adequacy: 7 of 60 segments are unrated"):
        both.estimate(Mean())
    made = both.estimate(Mean(), "at-random")
    assert made.table()["n"].tolist() == [60, 53]
    assert made.error_correlation is None  # not the same segments: Bonferroni
    assert made.level(0.95, simultaneous=True) == pytest.approx(0.975)
    assert [note for note in made.notes if note.startswith("adequacy: 7 of 60")]
    assert made.correlations()["n"].tolist() == [53]
    bounds = both.estimate(Mean(), "bounds").to_dict()
    assert bounds["criteria"][0]["value"] is not None
    assert bounds["criteria"][1]["region"][0] < bounds["criteria"][1]["region"][1]


def slow_correlation(x, y, weights):
    """Weighted correlation, one sum at a time."""
    total = sum(weights)
    mean_x = sum(w * a for w, a in zip(weights, x, strict=True)) / total
    mean_y = sum(w * b for w, b in zip(weights, y, strict=True)) / total
    xy = sum(w * (a - mean_x) * (b - mean_y) for w, a, b in zip(weights, x, y, strict=True))
    xx = sum(w * (a - mean_x) ** 2 for w, a in zip(weights, x, strict=True))
    yy = sum(w * (b - mean_y) ** 2 for w, b in zip(weights, y, strict=True))
    return xy / (xx * yy) ** 0.5


@pytest.mark.parametrize("sampler", [SimpleRandom(), Stratified(ByDocument())])
def test_correlations_are_weighted_by_the_design(study, sampler) -> None:
    both = rated(study, sampler, n=160)
    found = both.correlations().iloc[0]
    part = both["fluency"]
    weights = part.sample.design.weights
    expected = slow_correlation(part.scores, both["adequacy"].scores, weights)
    assert found["value"] == pytest.approx(expected)
    assert -1 <= found["low"] < found["value"] < found["high"] <= 1
    if isinstance(sampler, SimpleRandom):
        assert found["value"] == pytest.approx(
            np.corrcoef(part.scores, both["adequacy"].scores)[0, 1]
        )


def test_the_correlation_of_a_census_is_exact(study) -> None:
    pool, gold = study
    both = rated(study, SimpleRandom(), n=len(pool))
    found = both.correlations().iloc[0]
    exact = np.corrcoef(gold["fluency"], gold["adequacy"])[0, 1]
    assert [found["value"], found["low"], found["high"]] == pytest.approx([exact] * 3)


def test_the_joint_level_is_that_of_the_multivariate_normal() -> None:
    for k, rho in [(2, 0.0), (2, 0.8), (3, 0.5), (4, -0.2)]:
        correlation = np.full((k, k), rho) + (1 - rho) * np.eye(k)
        level = _joint_level(correlation, 0.95)
        edge = norm.ppf((1 + level) / 2)
        box = multivariate_normal(np.zeros(k), correlation)
        inside = box.cdf(np.full(k, edge), lower_limit=np.full(k, -edge))
        assert inside == pytest.approx(0.95, abs=0.002)


def test_alike_criteria_need_no_correction_and_others_at_most_bonferroni(study) -> None:
    pool, gold = study
    sample = SimpleRandom().draw(pool, 60, rng=3)
    y = gold["fluency"][sample.indices]
    same = rate(sample, {"a": y, "b": 2 * y + 3}).estimate(Mean())
    np.testing.assert_allclose(same.error_correlation, np.ones((2, 2)))
    assert same.level(0.95, simultaneous=True) == pytest.approx(0.95, abs=0.002)
    both = rated(study).estimate()
    level = both.level(0.95, simultaneous=True)
    assert 0.95 < level < 0.975
    wide, narrow = both.intervals(simultaneous=True), both.intervals()
    for name in both:
        assert wide[name].low < narrow[name].low < narrow[name].high < wide[name].high
    sure = rated(study, SimpleRandom()).estimate(Mean(bound=Hoeffding()))
    assert sure.level(0.95, simultaneous=True) == pytest.approx(0.975)  # a guarantee stays one


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_labels_that_exist_on_several_criteria(study, kind) -> None:
    pool, gold = study
    rng = np.random.default_rng(8)
    rows = rng.permutation(len(pool))[:120]
    frame = pd.DataFrame({"comet": pool.metrics["comet"]})
    for k, (name, scores) in enumerate(gold.items()):
        labels = np.full(len(pool), np.nan)
        labels[rows[: 120 - 20 * k]] = scores[rows[: 120 - 20 * k]]
        frame[name] = labels
    table = frame if kind == "pandas" else pl.from_pandas(frame)
    both = from_table(table, SCALES, metrics="comet")
    made = both.estimate()
    assert made.table()["n"].tolist() == [120, 100]
    for name, limits in [("fluency", (1, 5)), ("adequacy", (0, 100))]:
        other = next(n for n in gold if n != name)
        alone = fg.estimate_mean(
            frame.drop(columns=other), human=name, metrics="comet", limits=limits,
            estimator=Ridge(higher_is_better=True if name == "fluency" else None),
        )  # fmt: skip
        assert made[name].value == pytest.approx(alone.value)
        assert list(both[name].sample.pool.metrics) == ["comet"]
    assert made.correlations()["n"].tolist() == [100]
    with pytest.raises(DataError, match="a criterion and a metric"):
        from_table(table, ["fluency", "comet"], metrics="comet")


def test_shares_of_each_criterion(study) -> None:
    both = rated(study, SimpleRandom()).cut(">= 4").estimate(Mean())
    fluency = rated(study, SimpleRandom())["fluency"].scores
    assert both["fluency"].value == pytest.approx((fluency >= 4).mean())
    assert "correlation of fluency and adequacy" in rated(study).estimate().summary()
