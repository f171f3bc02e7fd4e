"""Scores of slices, other weights, totals, ratios and quantiles against slow twins."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from fewgold.datasets import load_demo
from fewgold.design import Design
from fewgold.errors import BudgetError, DataError
from fewgold.estimators import ControlVariates, Learned, Mean, Ridge
from fewgold.missing import PartialRatings
from fewgold.pool import Pool
from fewgold.quantities import quantile, ratio, total, weighted_mean
from fewgold.registry import strategy
from fewgold.sample import Ratings, Sample
from fewgold.samplers import SimpleRandom, Stratified, WithinSlices
from fewgold.slices import shrunk, slices
from tests.reference import slices as reference

POOL, GOLD = load_demo("ende")
LANGUAGE = np.array(["de", "fr", "is", "ja"])[POOL.codes % 4]
LENGTH = np.where(POOL.metrics["words"] < 20, "short", "long")


@pytest.mark.parametrize("documents", [False, True])
def test_of_a_new_test_set_as_for_the_whole_pool(documents: bool) -> None:
    """With equal weights a domain is the whole pool, and its error that of the mean of it."""
    rng = np.random.default_rng(4)
    document = np.repeat(np.arange(30), 5)
    gold = rng.normal(size=150) + rng.normal(size=30)[document]
    pool = Pool(ids=np.arange(150), documents=document if documents else None)
    sample = Mean().select(pool, 60, rng=2)
    ratings = sample.rate(gold[sample.indices])
    whole = Mean().estimate(ratings).for_process()
    same = weighted_mean(ratings, Mean(), np.ones(150)).for_process()
    assert float(same.value) == pytest.approx(float(whole.value))
    assert float(same.se) == pytest.approx(float(whole.se))
    assert "process" in same.signature() and "other" in same.remarks[0]
    low, high = same.interval()
    assert low < float(whole.value) < high
    if not documents:
        # Every segment of a slice is rated: what is left is chance in the process, S²/N.
        census = Sample(pool, np.arange(150), Design.simple(150, 150)).rate(gold)
        part = document < 8
        own = weighted_mean(census, Mean(), part.astype(float))
        assert float(own.se) == 0
        assert float(own.for_process().se) == pytest.approx(gold[part].std(ddof=1) / np.sqrt(40))
        assert float(own.for_process().df) == 39


def rated(name: str, n: int = 150, seed: int = 1) -> tuple[Ratings, Mean]:
    made = strategy(name, POOL)
    sample = made.select(POOL, n, rng=seed)
    return sample.rate(GOLD[sample.indices], limits=(0, 25)), made


def test_a_slice_of_a_random_sample_is_a_random_sample() -> None:
    ratings, made = rated("random+mean")
    for label in np.unique(LANGUAGE):
        inside = label == LANGUAGE
        own = weighted_mean(ratings, made, inside)
        scores = ratings.scores[inside[ratings.sample.indices]]
        value, se = reference.slice_mean(scores.tolist(), int(inside.sum()))
        assert own.value == pytest.approx(value, rel=1e-12)
        assert own.se == pytest.approx(se, rel=1e-9)
        assert own.df == pytest.approx(scores.size - 1)
        assert own.size == inside.sum()


@pytest.mark.parametrize("name", ["random+ridge", "random+cv-multi", "docs-balanced+ridge"])
def test_predictions_of_the_slice_plus_what_they_got_wrong(name: str) -> None:
    ratings, made = rated(name)
    whole = made.estimate(ratings)
    assert whole.controls is not None
    predicted = whole.controls.slopes @ POOL.standardised()
    for omega in ((LENGTH == "long").astype(float), POOL.metrics["words"]):
        design = whole.design
        expected = reference.assisted_mean(
            ratings.scores, design.weights, ratings.sample.indices, predicted, omega
        )
        assert weighted_mean(ratings, made, omega).value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["random+mean", "docs-prop+mean", "random+ridge"])
def test_a_slice_that_is_the_pool_is_the_estimate(name: str) -> None:
    ratings, made = rated(name)
    own, whole = weighted_mean(ratings, made, np.ones(len(POOL))), made.estimate(ratings)
    assert own.value == pytest.approx(float(whole.value), rel=1e-9)
    assert own.se == pytest.approx(float(whole.se), rel=1e-6)


def _tiny() -> tuple[Pool, np.ndarray, np.ndarray]:
    labels = np.array([0, 0, 0, 0, 1, 1, 1])
    pool = Pool(
        ids=np.arange(7), documents=labels, metrics={"m": np.array([1.0, 4, 2, 8, 5, 7, 3])}
    )
    return pool, labels, np.array([3.0, 7.0, 1.0, 9.0, 2.0, 8.0, 4.0])


def test_enumeration_where_slices_are_strata() -> None:
    """Every sample of two from each slice: value and variance are unbiased exactly."""
    pool, labels, y = _tiny()
    for k in (0, 1):
        values, variances = [], []
        for rows in product(combinations(range(4), 2), combinations(range(4, 7), 2)):
            index = np.array([*rows[0], *rows[1]])
            sizes = np.array([4.0, 3.0])[labels[index]]
            design = Design("stratified", 7, sizes / 7 / 2, 2 / sizes, labels[index])
            made = weighted_mean(
                Ratings(Sample(pool, index, design), y[index]), Mean(), labels == k
            )
            values.append(float(made.value))
            variances.append(float(made.se) ** 2)
        assert np.mean(values) == pytest.approx(y[labels == k].mean(), rel=1e-12)
        assert np.mean(variances) == pytest.approx(np.var(values), rel=1e-9)


def test_a_slice_that_is_rated_throughout_is_exact() -> None:
    pool, labels, y = _tiny()
    index = np.array([0, 2, 4, 5, 6])
    design = Design("simple", 7, np.full(5, 0.2), np.full(5, 5 / 7), np.zeros(5, dtype=np.int64))
    ratings = Ratings(Sample(pool, index, design), y[index])
    made = weighted_mean(ratings, Mean(), labels == 1)
    assert made.value == pytest.approx(y[4:].mean()) and made.se == 0
    assert made.interval() == pytest.approx((y[4:].mean(),) * 2)
    found = slices(ratings, Mean(), labels)
    assert found.too_few == ("0",)  # two ratings of four segments
    assert found["1"].se == 0


def test_shrunk_intervals_stay_on_the_scale() -> None:
    """Also that of a slice with too few ratings, which is predicted from the others."""
    pool = Pool(ids=np.arange(100))
    labels = np.repeat(["a", "b", "c", "d"], [32, 32, 32, 4])
    passed = (np.arange(100) % 6 > 0).astype(float)
    sample = Mean().select(pool, 60, rng=1)
    scores = passed[sample.indices]
    for limits in (None, (0, 1)):
        frame = slices(sample.rate(scores, limits=limits), Mean(), labels, shrink=True).to_frame()
        (few,) = frame.index[~frame["enough"]]
        reach = frame["shrunk_high"].max()
        assert reach == 1 if limits else reach > 1
        assert frame["shrunk_low"].min() >= 0 if limits else True
        assert frame.loc[few, "shrunk_low"] < frame.loc[few, "shrunk"] < reach
    sums = slices(sample.rate(scores, limits=(0, 1)), Mean(), labels, shrink=True, quantity=total)
    assert sums.to_frame()["shrunk_high"].max() > 1  # a sum is not on the scale


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", ["docs-uneven-rank+mean", "docs-prop+ridge", "docs-prop+cv-knn"])
def test_uneven_weights_and_learned_controls_leave_a_known_mean_alone(
    name: str, gaps: bool
) -> None:
    """Neither weights nor predictions outside the fold may move the mean of known scores."""
    sample = strategy(name, POOL).select(POOL, 150, rng=1)
    scores = GOLD[sample.indices].copy()
    scores[:: 5 if gaps else 200] = np.nan
    ratings = PartialRatings(sample, scores).at_random()
    rows = ratings.sample.indices
    spread = np.argsort(ratings.sample.design.weights)[[0, 1, 2, 60, 61, 62, -3, -2, -1]]
    inside = np.isin(np.arange(len(POOL)), rows[spread])
    own = weighted_mean(ratings, strategy(name, POOL), inside.astype(float))
    mean = float(GOLD[inside].mean())
    assert float(own.value) == pytest.approx(mean, rel=1e-12) and own.se == 0
    assert own.interval() == pytest.approx((mean, mean))
    cells = np.where(np.arange(len(POOL)) % 2, 1, 0)
    mixed = weighted_mean(ratings, strategy(name, POOL), inside * (1.0 + cells), cells=cells)
    assert float(mixed.value) == pytest.approx(np.average(GOLD[inside], weights=1 + cells[inside]))


@pytest.mark.parametrize("name", ["docs-sys+ridge", "docs-chunks3+mean", "docs-uneven-rank+ridge"])
def test_every_design_has_finite_slices(name: str) -> None:
    ratings, made = rated(name)
    found = slices(ratings, made, {"language": LANGUAGE}, shrink=True)
    frame = found.to_frame()
    inside = (frame["low"] < frame["value"]) & (frame["value"] < frame["high"])
    assert inside.all() and (frame["high_all"] >= frame["high"] - 1e-9).all()
    assert np.isfinite(frame.drop(columns=["slice"]).to_numpy(dtype=float)).all()
    assert frame["n"].sum() == ratings.n and frame["size"].sum() == len(POOL)


def test_a_learned_control_predicts_the_slice() -> None:
    ratings, _ = rated("random+mean")
    made = weighted_mean(ratings, Learned(), LENGTH == "long")
    plain = weighted_mean(ratings, Mean(), LENGTH == "long")
    assert made.tuned and abs(made.value - plain.value) < 3 * plain.se and made.se < 1.2 * plain.se


def test_cells_have_their_share() -> None:
    ratings, made = rated("random+mean")
    codes = POOL.codes % 4
    omega = 0.25 / np.bincount(codes)[codes]
    mixed = weighted_mean(ratings, made, omega, cells=codes)
    parts = [weighted_mean(ratings, made, codes == k) for k in range(4)]
    assert mixed.value == pytest.approx(np.mean([float(p.value) for p in parts]), rel=1e-12)
    together = np.sqrt(sum(float(p.se) ** 2 for p in parts)) / 4
    assert mixed.se == pytest.approx(together, rel=0.05)


def test_too_few_and_names() -> None:
    ratings, made = rated("random+mean", 40)
    found = slices(ratings, made, {"document": POOL.documents, "length": LENGTH})
    assert found.by == "document,length" and len(found.too_few) > 100
    with pytest.raises(DataError, match="too few for a score of its own"):
        found[found.too_few[0]]
    assert "too few" in found.summary()
    with pytest.raises(DataError, match="one label per segment"):
        slices(ratings, made, {"x": np.arange(3)})


def test_shrinkage_is_the_posterior_of_the_hierarchy() -> None:
    values, errors = np.array([1.0, 2.5, 2.0, 4.5, 2.2]), np.array([0.5, 0.8, 0.3, 1.0, 0.6])
    mean, sd, low, high = shrunk(values, errors)
    expected, spread = reference.shrunk(values.tolist(), errors.tolist())
    assert mean == pytest.approx(expected, abs=0.01) and sd == pytest.approx(spread, abs=0.01)
    assert ((low < mean) & (mean < high)).all()
    lean = np.array([0.0, 0.2, 0.0, 0.5, -0.3])
    same, _, lower, upper = shrunk(values, errors, skewness=lean)
    assert np.array_equal(same, mean)
    assert upper - lower == pytest.approx(high - low, rel=0.2)
    # Longer on the side to which a slice's own interval leans, the less the more it is shrunk.
    share = np.round((upper - high) / (high - mean), 9)
    assert (np.sign(share) == np.sign(lean)).all() and (np.abs(share) <= np.abs(lean)).all()
    assert (np.sign(np.round(lower - low, 9)) == np.sign(lean)).all()
    unknown, *_ = shrunk(np.append(values, np.nan), np.append(errors, np.nan))
    assert values.min() < unknown[-1] < values.max()
    with pytest.raises(DataError, match="needs 3 slices"):
        shrunk(values[:2], errors[:2])


def test_ratio_total_and_quantile_of_a_random_sample() -> None:
    ratings, made = rated("random+mean")
    words = POOL.metrics["words"]
    own = words[ratings.sample.indices]
    value, se = reference.ratio(ratings.scores.tolist(), own.tolist(), len(POOL))
    only_rated = ratio(ratings, made, own)
    assert only_rated.value == pytest.approx(value) and only_rated.se == pytest.approx(se)
    known = ratio(ratings, made, words)
    assert known.value == pytest.approx(value)
    assert known.se == pytest.approx(se * own.mean() / words.mean())
    found = total(ratings, made)
    assert found.value == pytest.approx(len(POOL) * ratings.scores.mean())
    middle = quantile(ratings, made, 0.5)
    assert middle.value == np.quantile(ratings.scores, 0.5, method="inverted_cdf")
    low, high = middle.interval()
    assert low <= middle.value <= high
    # Woodruff: p lies in the exact interval of the share of scores up to each end.
    assert made.estimate(ratings.cut(f"<= {float(high)}")).interval().low >= 0.5
    assert made.estimate(ratings.cut(f"< {float(low)}")).interval().high < 0.5


def test_a_census_knows_every_quantile() -> None:
    sample = SimpleRandom().draw(POOL, len(POOL), rng=1)
    ratings = sample.rate(GOLD[sample.indices])
    for p in (0.1, 0.5, 0.93):
        found = quantile(ratings, Mean(), p)
        assert tuple(map(float, found.interval())) == (float(found.value),) * 2
        assert found.value == np.quantile(GOLD, p, method="inverted_cdf")


def test_enough_of_every_slice() -> None:
    sampler = WithinSlices(lambda pool: LANGUAGE, SimpleRandom(), per_slice=30)
    sample = sampler.draw(POOL, 130, rng=1)
    counts = np.unique(LANGUAGE[sample.indices], return_counts=True)[1]
    assert counts.min() >= 30 and counts.sum() == 130
    assert sample.design.weights.sum() == pytest.approx(1)
    same = Stratified(lambda pool: LANGUAGE).draw(POOL, 130, rng=1).design
    assert sample.design.kind == same.kind
    with pytest.raises(BudgetError, match="Raise the budget"):
        sampler.draw(POOL, 100, rng=1)
    assert sampler.counts(np.array([1000, 10, 40]), 100).tolist() == [60, 10, 30]


@pytest.mark.parametrize("name", ["docs-balanced", "docs-sys", "docs-prop", "docs-whole"])
def test_any_sampler_within_slices(name: str) -> None:
    made = strategy(f"{name}+mean", POOL)
    long = POOL.ids[LENGTH == "long"]
    made = made.with_sampler(WithinSlices(lambda pool: np.isin(pool.ids, long), made.sampler, 40))
    sample = made.select(POOL, 120, draws=400, rng=3)
    found = made.estimate(sample.rate(GOLD[sample.indices]))
    spread = found.value.std()
    assert abs(found.value.mean() - GOLD.mean()) < 4 * spread / 20
    assert np.sqrt(np.mean(found.se**2)) == pytest.approx(spread, rel=0.25)


def test_ridge_with_fixed_slopes_and_refusals() -> None:
    ratings, _ = rated("random+mean")
    fixed = ControlVariates(slopes={"comet": -1.0})
    assert not weighted_mean(ratings, fixed, LENGTH == "long").tuned
    with pytest.raises(DataError, match="at least 0"):
        weighted_mean(ratings, Ridge(), -np.ones(len(POOL)))
    with pytest.raises(DataError, match="one number per segment"):
        weighted_mean(ratings, Ridge(), np.ones(3))
    with pytest.raises(DataError, match="between 0 and 1"):
        quantile(ratings, Mean(), 1.0)


def test_metrics_predict_slices_where_chances_are_uneven() -> None:
    """The weights balance the whole pool, but not its parts: slopes must do without them."""
    draws, part = 40, np.random.default_rng(0).integers(4, size=len(POOL))
    made = strategy("docs-uneven-rank+ridge", POOL)
    plain = strategy("docs-uneven-rank+mean", POOL)
    sample = made.select(POOL, 250, draws=draws, rng=11)
    error, claimed = np.zeros((2, draws, 4)), np.zeros((draws, 4))
    for k, d in product(range(draws), range(4)):
        drawn = sample.draw(k)
        ratings = drawn.rate(GOLD[drawn.indices])
        found = [weighted_mean(ratings, e, (part == d).astype(float)) for e in (made, plain)]
        error[:, k, d] = [float(f.value) - GOLD[part == d].mean() for f in found]
        claimed[k, d] = float(found[0].se)
    own, alone = np.sqrt(np.square(error).mean((1, 2)))
    assert own < 0.95 * alone
    assert np.sqrt(np.square(claimed).mean()) == pytest.approx(own, rel=0.15)


def test_a_slice_with_one_rating_in_a_group_has_an_interval() -> None:
    """Neighbours of another group take the place of those outside the slice."""
    sample = strategy("docs-balanced+ridge", POOL).select(POOL, 160, rng=1)
    unrated = np.random.default_rng(0).choice(160, 30, replace=False)
    scores = GOLD[sample.indices].copy()
    scores[unrated] = np.nan
    ratings = PartialRatings(sample, scores, (0, 25)).at_random()
    design = ratings.sample.design
    assert np.bincount(design.groups).min() >= 10  # or else groups would be formed anew
    lone = 0
    for seed in range(5):
        language = np.random.default_rng(seed).integers(6, size=len(POOL))
        found = slices(ratings, Ridge(), language)
        inside = language[ratings.sample.indices]
        lone += sum((np.bincount(design.groups[inside == k]) == 1).any() for k in range(6))
        for estimate in found.estimates:
            assert estimate is not None
            low, high = estimate.interval()
            assert 0.1 < float(estimate.se) < 1.5 and high - low < 8
    assert lone > 5


def test_balance_of_the_pool_costs_a_slice_its_part_of_the_degrees_of_freedom() -> None:
    """Samples with uneven chances and without documents balance the sum of the weights."""
    spread = np.random.default_rng(0).gamma(2, 0.3, len(POOL)) + 0.2
    pool = replace(POOL, documents=None, spread=spread)
    part = np.random.default_rng(1).choice(3, len(POOL), p=[0.85, 0.09, 0.06])
    sample = strategy("random-uneven+mean", pool).select(pool, 200, rng=3)
    ratings = sample.rate(GOLD[sample.indices])
    balance = sample.design.balance
    assert balance is not None and balance.shape[-2] == 1
    spent = 0.0
    for k in range(3):
        inside = part[sample.indices] == k
        found = weighted_mean(ratings, Mean(), (part == k).astype(float))
        without = replace(
            ratings, sample=replace(sample, design=replace(sample.design, balance=None))
        )
        free = weighted_mean(without, Mean(), (part == k).astype(float))
        assert 0 < float(found.se) < 3
        assert float(found.df) > 0.4 * inside.sum()
        spent += float(free.df) - float(found.df)
    assert spent == pytest.approx(1.0)
