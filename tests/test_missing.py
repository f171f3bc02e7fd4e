"""Samples with unrated segments: wait, treat the gaps as missing at random, or assume the worst."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from fewgold import Pool, Sample, registry
from fewgold.bayes import BinaryPosterior
from fewgold.bounds import Betting, Hoeffding, Student, sequence
from fewgold.datasets import load_demo
from fewgold.design import Design
from fewgold.errors import DataError, DesignError, FewgoldError
from fewgold.estimators import Mean
from fewgold.missing import GapBounds, PartialRatings
from fewgold.samplers import Clusters, SimpleRandom, Systematic
from reference import Scripted, all_draws, all_starts, all_within, document_orders, grid
from reference.gaps import answer_sets, permutation_p, stratified

TIGHT = {"rtol": 0, "atol": 1e-10}
GOLD = np.array([0.0, 0.0, 1.5, 3.0, 0.5, 25.0, 7.0, 1.0, 2.0])


def pool_of(documents):
    return Pool(ids=[f"s{k}" for k in range(len(documents))], documents=np.array(list(documents)))


def demo_gaps(sampler="random", n=100, lost=15, seed=3, limits="mqm"):
    pool, gold = load_demo("ende", rater="rater3")
    sample = registry.sampler(sampler).draw(pool, n, rng=seed)
    scores = gold[sample.indices]
    scores[np.random.default_rng(seed).permutation(n)[:lost]] = np.nan
    return PartialRatings(sample, scores, limits)


def spread_over(pool, gold, rows, design, sets, within="groups"):
    """Values and variances of the mean, for every sample and every set of answers."""
    found = []
    for k, row in enumerate(rows):
        one = Sample(pool, row, design if design.weights.ndim == 1 else design.draw(k))
        for keep in sets:
            scores = np.where(keep, gold[row], np.nan)
            made = Mean().estimate(PartialRatings(one, scores).at_random(within=within))
            found.append((float(made.value), float(made.se) ** 2))
    return np.array(found).T


# The design of the answered ---------------------------------------------------------------------


def test_a_simple_sample_with_gaps_is_a_smaller_simple_sample():
    partial = demo_gaps()
    ratings = partial.at_random()
    r, size = 85, len(partial.sample.pool)
    design = ratings.sample.design
    np.testing.assert_allclose(design.weights, 1 / r)
    np.testing.assert_allclose(design.inclusion, r / size)
    made, y = Mean(bound=Student()).estimate(ratings), partial.scores[partial._keep]
    assert made.value == pytest.approx(y.mean())
    assert made.se == pytest.approx(np.sqrt((1 - r / size) * y.var(ddof=1) / r))
    assert made.df == pytest.approx(r - 1)
    assert design._label == "simple with gaps"
    assert ratings.n == partial.rated == r
    assert set(partial.missing) | set(ratings.sample.ids) == set(partial.sample.ids)


def test_every_simple_sample_and_every_set_of_answers():
    pool, gold = pool_of("abbccc"), GOLD[:6]
    rows = np.array(list(combinations(range(6), 4)))
    design = SimpleRandom().draw(pool, 4, rng=0).design
    value, variance = spread_over(pool, gold, rows, design, answer_sets([0] * 4, [3]))
    np.testing.assert_allclose(value.mean(), gold.mean(), **TIGHT)
    np.testing.assert_allclose(variance.mean(), value.var(), **TIGHT)


@pytest.mark.parametrize("answers", [(2, 3), (3, 2), (2, 2)])
def test_every_stratified_sample_and_every_set_of_answers(answers):
    pool, gold = pool_of("aaaabbbbb"), GOLD
    design = design_of_strata([0, 0, 0, 1, 1, 1], [4, 5])
    rows = all_draws(pool.codes, [3, 3])
    value, variance = spread_over(pool, gold, rows, design, answer_sets(design.strata, answers))
    np.testing.assert_allclose(value.mean(), gold.mean(), **TIGHT)
    np.testing.assert_allclose(variance.mean(), value.var(), **TIGHT)


def test_a_stratified_sample_with_gaps_is_that_of_the_textbook():
    partial = demo_gaps("metrics-prop", 120, 20)
    design = partial.sample.design
    taken = np.bincount(design.strata)
    sizes = np.rint(taken / design.inclusion[np.searchsorted(design.strata, range(taken.size))])
    keep = partial._keep
    value, variance = stratified(partial.scores[keep], design.strata[keep], sizes)
    made = Mean().estimate(partial.at_random())
    assert made.value == pytest.approx(value)
    assert made.se**2 == pytest.approx(variance)
    assert made.design._slope_df == keep.sum() - taken.size


def test_every_systematic_sample_and_every_set_of_answers():
    pool, gold = pool_of("abbcc"), GOLD[2:7]
    tables = grid(document_orders(pool.codes), all_within(pool.codes), all_starts(5))
    rng = Scripted(permuted=[tables[0]], random=[tables[1]], integers=[tables[2]])
    rows, design = Systematic()._draw(pool, 3, len(tables[0]), rng)
    value, _ = spread_over(pool, gold, rows, design, answer_sets([0, 0, 0], [2]))
    np.testing.assert_allclose(value.mean(), gold.mean(), **TIGHT)


def test_every_sample_of_documents_and_every_set_of_answers():
    pool, gold = pool_of("abbcc"), GOLD[2:7]
    orders = document_orders(pool.codes)
    tables = grid(orders, all_starts(5))
    rng = Scripted(permuted=[tables[0]], integers=[tables[1]])
    rows, design = Clusters()._draw(pool, 4, len(tables[0]), rng)
    value, _ = spread_over(pool, gold, rows, design, answer_sets([0] * 4, [3]))
    np.testing.assert_allclose(value.mean(), gold.mean(), **TIGHT)


def test_every_pair_of_waves_and_every_set_of_answers():
    """Two simple samples joined as waves: value unbiased, variance as near as without gaps."""
    pool, gold = pool_of("abbccdd"), GOLD[:7]
    rest = [[i for i in range(7) if i not in one] for one in combinations(range(7), 3)]
    rows = np.array(
        [
            (*one, *two)
            for one, left in zip(combinations(range(7), 3), rest, strict=True)
            for two in combinations(left, 3)
        ]
    )
    first = SimpleRandom().draw(pool, 3, rng=0).design
    wave = SimpleRandom().draw(pool.take(np.arange(4)), 3, rng=0).design
    design = first._then(wave, 7)
    full, se2 = spread_over(pool, gold, rows, design, np.ones((1, 6), dtype=bool))
    np.testing.assert_allclose(full.mean(), gold.mean(), **TIGHT)
    np.testing.assert_allclose(se2.mean(), full.var(), **TIGHT)
    sets = answer_sets([0, 0, 0, 1, 1, 1], [2, 2])
    value, variance = spread_over(pool, gold, rows, design, sets)
    np.testing.assert_allclose(value.mean(), gold.mean(), **TIGHT)
    np.testing.assert_allclose(variance.mean(), value.var(), **TIGHT)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "sampler",
    [
        "random",
        "docs-prop",
        "docs-opt",
        "metrics-opt",
        "docs-sys",
        "docs-balanced",
        "docs-whole",
        "docs-chunks3",
        "docs-opt-printed",
    ],
)
@pytest.mark.parametrize(
    ("lost", "within"), [(1, "groups"), (40, "groups"), (90, "groups"), (40, "sample")]
)
def test_weights_sum_to_one_for_every_sampler(sampler, lost, within):
    partial = demo_gaps(sampler, 120, lost)
    ratings = partial.at_random(within=within)
    design, before = ratings.sample.design, partial.sample.design
    assert design.weights.sum() == pytest.approx(1)
    assert (design.weights >= before.weights[partial._keep] * (1 - 1e-12)).all()
    rate = before.weights[partial._keep] / design.weights
    np.testing.assert_allclose(design.inclusion, before.inclusion[partial._keep] * rate)
    # The formula for influence comes to the usual one where the design's is the usual one.
    usual = design.weights * np.sqrt(1 - design.inclusion)
    np.testing.assert_allclose(design.influence, usual, atol=1e-12)
    assert design.balance is None
    assert design.unbiased == before.unbiased
    for name in ("mean", "ridge"):
        made = registry.estimator(name, ratings.sample.pool).estimate(ratings)
        low, high = made.interval(bound=Student() if name == "ridge" else None)
        assert low < made.value < high
        assert 0 < made.se < np.inf


def design_of_strata(strata, sizes):
    strata, sizes = np.asarray(strata), np.asarray(sizes)
    taken = np.bincount(strata)
    return Design(
        "stratified",
        int(sizes.sum()),
        weights=(sizes / sizes.sum() / taken)[strata],
        inclusion=(taken / sizes)[strata],
        groups=strata,
        strata=strata,
    )


def by_hand(gone):
    """Three strata of 10, 20 and 10 segments, two taken of each; ``gone`` are unrated."""
    pool = Pool(ids=np.arange(40))
    design = design_of_strata([0, 0, 1, 1, 2, 2], [10, 20, 10])
    scores = np.array([1.0, 2, 3, 4, 5, 6])
    scores[list(gone)] = np.nan
    return PartialRatings(Sample(pool, np.arange(6) * 5, design), scores).at_random()


def test_an_empty_stratum_gives_its_weight_to_the_one_beside_it():
    ratings = by_hand([0, 1])
    np.testing.assert_allclose(ratings.sample.design.weights, [0.375, 0.375, 0.125, 0.125])
    # In the middle, of two neighbours the one whose answers carry less.
    ratings = by_hand([2, 3, 0])
    np.testing.assert_allclose(ratings.sample.design.weights, [0.25, 0.375, 0.375])


def test_a_stratum_with_one_answer_is_compared_with_its_neighbour():
    ratings = by_hand([1])
    design = ratings.sample.design
    np.testing.assert_allclose(design.weights, [0.25, 0.25, 0.25, 0.125, 0.125])
    np.testing.assert_array_equal(design.groups, [0, 0, 0, 1, 1])
    assert np.isfinite(Mean().estimate(ratings).se)
    last = by_hand([5]).sample.design
    np.testing.assert_array_equal(last.groups, [0, 0, 1, 1, 1])
    all_lone = by_hand([0, 2, 4]).sample.design
    assert np.unique(all_lone.groups).size == 1
    assert not all_lone._lonely


def test_a_stratum_taken_whole_and_answered_whole_stays_settled():
    pool = Pool(ids=np.arange(22))
    design = design_of_strata([0, 0, 1, 1, 1, 1], [2, 20])
    sample = Sample(pool, np.arange(6), design)
    kept = PartialRatings(sample, np.array([9.0, 1, 2, 3, 4, np.nan])).at_random().sample.design
    np.testing.assert_allclose(kept.influence[:2], 0)
    lost = PartialRatings(sample, np.array([9.0, np.nan, 2, 3, 4, 5])).at_random().sample.design
    assert lost.influence[0] > 0
    assert lost.inclusion[0] == pytest.approx(0.5)


def test_a_census_with_gaps_is_a_sample():
    pool = Pool(ids=np.arange(9))
    sample = SimpleRandom().draw(pool, 9, rng=1)
    scores = GOLD[sample.indices]
    assert Mean().estimate(PartialRatings(sample, scores).complete()).se == 0
    scores[:3] = np.nan
    made = Mean().estimate(PartialRatings(sample, scores).at_random())
    assert made.se**2 == pytest.approx((1 - 6 / 9) * scores[3:].var(ddof=1) / 6)


def test_documents_answered_in_part_keep_their_weight_and_lost_ones_give_it_away():
    pool = pool_of("a" * 10 + "b" * 10 + "c" * 10 + "d" * 10)
    units = np.repeat([0, 1, 2], 10)
    design = Design(
        "clusters", 40, np.full(30, 1 / 30), np.full(30, 0.75), np.zeros(30, dtype=int), units=units
    )
    sample = Sample(pool, np.arange(30), design)
    scores = np.arange(30.0)
    scores[5:10] = np.nan
    found = PartialRatings(sample, scores).at_random().sample.design
    np.testing.assert_allclose(np.bincount(found.units, found.weights), 1 / 3)
    scores[10:20] = np.nan
    found = PartialRatings(sample, scores).at_random().sample.design
    np.testing.assert_allclose(np.bincount(found.units, found.weights), 1 / 2)
    np.testing.assert_array_equal(np.unique(found.units), [0, 1])


def test_neighbours_on_a_line_are_put_together_to_twenty():
    partial = demo_gaps("docs-sys", 100, 1)
    design = partial.at_random().sample.design
    assert sorted(np.bincount(design.groups)) == [19, 20, 20, 20, 20]
    few = demo_gaps("docs-sys", 24, 2).at_random().sample.design
    assert not few.groups.any()


@pytest.mark.parametrize("spread", ["human", "metrics"])
def test_adaptive_samples_stay_marked_as_biased(spread):
    pool, gold = load_demo("ende", rater="rater3")
    estimator = registry.strategy(f"docs-incr-{spread}+mean", pool)
    sample = estimator.collect(pool, lambda s: gold[s.indices], 60, rng=3).sample
    scores = gold[sample.indices]
    scores[::4] = np.nan
    made = estimator.estimate(PartialRatings(sample, scores).at_random())
    assert made.design._label == "adaptive with gaps"
    assert made.design.weights.sum() == pytest.approx(1)
    assert any("does not give an unbiased mean" in note for note in made.remarks)


def test_one_answer_says_nothing_about_the_spread():
    partial = demo_gaps(n=5, lost=4)
    made = Mean().estimate(partial.at_random())
    assert np.isinf(made.se)
    np.testing.assert_allclose(made.interval(), (0, 25))


# What results say -------------------------------------------------------------------------------


def test_nothing_changes_without_gaps():
    partial = demo_gaps(lost=0)
    for ratings in (partial.complete(), partial.at_random()):
        assert ratings.sample.design is partial.sample.design
        assert ratings.warnings == ()
        assert "gaps" not in Mean().estimate(ratings).signature()
    assert partial.missing.size == 0
    found = partial.bounds(Mean())
    np.testing.assert_allclose(found.interval(), Mean().estimate(partial.complete()).interval())


def test_every_estimate_says_that_it_rests_on_an_assumption():
    ratings = demo_gaps("docs-balanced").at_random()
    for name in ("mean", "ridge", "cv-knn"):
        made = registry.estimator(name).estimate(ratings)
        assert "15 of 100 segments are unrated, treated as missing at random" in made.summary()
        assert any("at random" in note for note in made.to_dict()["notes"])
        assert made.signature().endswith("|gaps:15-at-random")


def test_the_binary_model_says_so_too():
    partial = demo_gaps("random").cut("<= 0")
    made = BinaryPosterior().estimate(partial.at_random())
    assert "treated as missing at random" in made.summary()
    assert any("at random" in note for note in made.to_dict()["notes"])
    assert "gaps:15-at-random" in made.signature()
    spread = demo_gaps("docs-sys", 60).cut("<= 0")
    assert BinaryPosterior().estimate(spread.at_random()).approximate
    made = BinaryPosterior().estimate(spread.at_random(within="sample"))
    assert "gaps:15-at-random-anywhere" in made.signature()


@pytest.mark.parametrize("bound", [Betting(), Hoeffding()])
def test_guarantees_do_not_rest_on_it(bound):
    ratings = demo_gaps().at_random()
    with pytest.raises(DesignError, match=r"simple with gaps.*no guarantee can rest on.*bounds"):
        Mean(bound=bound).estimate(ratings).interval()
    assert Mean().estimate(ratings).interval().low > 0
    with pytest.raises(DesignError, match="before the first gap"):
        sequence.path(ratings, tolerance=0.5)


def test_waiting_lists_what_is_unrated():
    partial = demo_gaps(lost=3)
    with pytest.raises(DataError, match="3 of 100 segments are unrated") as raised:
        partial.complete()
    assert all(str(i) in str(raised.value) for i in partial.missing)
    with pytest.raises(DataError, match=r"and 10 more\. Have them rated"):
        demo_gaps(lost=30).complete()


def test_scores_by_id():
    partial = demo_gaps()
    ids = partial.sample.ids[partial._keep].tolist()
    known = dict(zip(ids, partial.scores[partial._keep].tolist(), strict=True))
    for given in (known, pd.Series(known), known | {partial.missing[0]: None}):
        found = PartialRatings(partial.sample, given)
        np.testing.assert_array_equal(found.scores, partial.scores)
    with pytest.raises(DataError, match=r"ratings of segments outside the sample, 1 in all"):
        PartialRatings(partial.sample, known | {"elsewhere": 1.0})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s * np.nan, "nothing to estimate from yet"),
        (lambda s: s + np.inf, "is infinite"),
        (lambda s: s[:-1], "must have the shape of the sample"),
        (lambda s: s + 30, "outside the scale 0 to 25"),
        (lambda s: ["good"] * s.size, "ratings must be numbers"),
    ],
)
def test_what_is_refused(change, message):
    partial = demo_gaps()
    with pytest.raises(FewgoldError, match=message):
        PartialRatings(partial.sample, change(partial.scores), "mqm")


def test_batches_are_refused():
    pool = Pool(ids=np.arange(9))
    sample = SimpleRandom().draw(pool, 4, draws=2, rng=1)
    with pytest.raises(DesignError, match="one study at a time"):
        PartialRatings(sample, np.ones((2, 4)))
    with pytest.raises(FewgoldError, match="within must be one of groups, sample"):
        demo_gaps().at_random(within="documents")


def test_top_ups_with_gaps():
    pool, gold = load_demo("ende", rater="rater3")
    sampler = registry.sampler("docs-sys")
    first = sampler.draw(pool, 60, rng=1)
    more = sampler.draw(pool, 40, given=first.rate(gold[first.indices], limits="mqm"), rng=2)
    scores = gold[more.indices]
    scores[:10] = np.nan
    partial = PartialRatings(more, scores)
    assert (partial.rated, partial.sample.n, partial.limits) == (90, 100, (0.0, 25.0))
    made = Mean().estimate(partial.at_random())
    assert made.design.weights.sum() == pytest.approx(1)
    assert "10 of 100" in made.summary()
    # Weight that was known for sure of the first wave stays with it.
    np.testing.assert_allclose(
        made.design.weights[:60].sum(), partial.sample.design.weights[:60].sum()
    )


def test_gaps_of_an_earlier_wave_are_still_told():
    pool, gold = load_demo("ende", rater="rater3")
    early = demo_gaps("docs-sys", 60, 10).at_random()
    more = registry.sampler("docs-sys").draw(pool, 40, given=early, rng=2)
    whole = more.rate(gold[more.indices])
    assert "10 of 60" in Mean().estimate(whole).summary()
    scores = gold[more.indices]
    scores[:4] = np.nan
    again = PartialRatings(more, scores)
    made = Mean().estimate(again.at_random())
    assert "14 of 100 segments are unrated" in made.summary()
    assert "gaps:14-at-random" in made.signature()
    worst = again.bounds(Mean())
    assert "4 of 90 segments are unrated, and may have any score" in worst.notes[0]
    assert "in an earlier wave, 10 of 60 segments are unrated, treated" in worst.notes[1]
    assert "gaps:4-worst-case+10-at-random" in worst.signature()


# The worst case ---------------------------------------------------------------------------------


def test_bounds_by_hand():
    pool = Pool(ids=np.arange(50))
    sample = SimpleRandom().draw(pool, 5, rng=1)
    partial = PartialRatings(sample, np.array([1.0, 2, np.nan, 4, np.nan]), (0, 10))
    found = partial.bounds(Mean(bound=Student()))
    np.testing.assert_allclose(found.region, [7 / 5, 27 / 5])
    low = Mean(bound=Student()).estimate(sample.rate([1.0, 2, 0, 4, 0], limits=(0, 10)))
    high = Mean(bound=Student()).estimate(sample.rate([1.0, 2, 10, 4, 10], limits=(0, 10)))
    assert found.interval().low == low.interval().low
    assert found.interval(0.8).high == high.interval(0.8).high
    told = json.loads(json.dumps(found.to_dict()))
    assert told["region"] == pytest.approx([1.4, 5.4])
    assert (told["n"], told["unrated"], told["confidence"]) == (3, 2, 0.95)
    assert told["low"] == pytest.approx(float(found.interval().low))
    assert "gaps:2-worst-case" in found.signature()
    assert "1.4000 to 5.4000, whatever the unrated scores are" in found.summary()
    assert found.summary().count("note:") == 1
    assert repr(found) == "GapBounds(1.4000 to 5.4000, 2 of 5 unrated)"


def test_bounds_need_the_scale():
    partial = demo_gaps(limits=None)
    with pytest.raises(DataError, match="from its definition and not from the answers"):
        partial.bounds(Mean())


@pytest.mark.parametrize("name", ["mean", "ridge", "cv-knn"])
def test_bounds_hold_more_than_either_choice(name):
    partial = demo_gaps("docs-balanced")
    estimator = registry.estimator(name)
    found = partial.bounds(estimator)
    made = estimator.estimate(partial.at_random())
    low, high = found.interval()
    assert low < made.interval().low < made.interval().high < high
    assert low < found.region.low < made.value < found.region.high < high
    assert isinstance(found, GapBounds)


def test_bounds_keep_a_guarantee_and_take_a_posterior():
    partial = demo_gaps(lost=5)
    found = partial.bounds(Mean(bound=Betting()))
    assert found.to_dict()["bound_kind"] == "guaranteed"
    assert found.interval().low < found.region.low
    whole = partial.cut("<= 0").bounds(BinaryPosterior(bound="hdi"))
    low = BinaryPosterior(bound="equal").estimate(whole.low.ratings)
    assert whole.interval().low == low.interval().low
    assert "gaps:5-worst-case" in whole.signature()
    assert whole.summary()


# Diagnosis --------------------------------------------------------------------------------------


def test_p_values_are_those_of_all_permutations():
    rng = np.random.default_rng(4)
    metric = rng.normal(size=12)
    pool = Pool(ids=np.arange(12), metrics={"m": metric}, documents=np.repeat([0, 1, 2], 4))
    design = design_of_strata(np.repeat([0, 1], 6), [6, 6])
    sample = Sample(pool, np.arange(12), design)
    gone = np.zeros(12, dtype=bool)
    gone[np.argsort(metric)[[0, 1, 3, 7]]] = True
    frame = PartialRatings(sample, np.where(gone, np.nan, 1.0)).diagnosis().set_index("known")
    row = frame.loc["m"]
    exact = permutation_p(metric, gone)
    inside = permutation_p(metric, gone, design.strata)
    assert exact < 0.3
    assert row["p"] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4999))
    assert row["p_within"] == pytest.approx(inside, abs=4 * np.sqrt(inside * (1 - inside) / 4999))
    assert row["rated"] == pytest.approx(metric[~gone].mean())
    size = (metric[gone].mean() - metric[~gone].mean()) / metric.std(ddof=1)
    assert row["difference"] == pytest.approx(size)
    assert (frame["p_holm"] >= frame["p"]).all()


def test_gaps_that_follow_a_metric_are_found():
    pool, gold = load_demo("ende", rater="rater3")
    sample = SimpleRandom().draw(pool, 150, rng=1)
    comet = pool.metrics["comet"][sample.indices]
    scores = np.where(comet < np.quantile(comet, 0.2), np.nan, gold[sample.indices])
    partial = PartialRatings(sample, scores)
    found = " ".join(partial.findings())
    assert "unrated segments have lower comet, by" in found
    assert "not missing at random" in found
    assert demo_gaps().findings() == ()


def test_gaps_by_document_and_at_the_end_are_found():
    pool = Pool(
        ids=np.arange(60),
        documents=np.repeat(np.arange(12), 5),
        texts={"source": ["x" * (k % 7 + 1) for k in range(60)]},
        cost=np.full(60, 2.0),
    )
    sample = Sample(pool, np.arange(60), SimpleRandom().draw(pool, 60, rng=1).design)
    scores = np.where(np.arange(60) < 45, 1.0, np.nan)
    partial = PartialRatings(sample, scores)
    frame = partial.diagnosis().set_index("known")
    assert list(frame.index) == ["length of source", "place in the sample", "documents"]
    assert frame.loc["documents", "difference"] == pytest.approx(1)
    assert frame.loc["documents", "p_holm"] < 0.01
    assert frame.loc["length of source", "p"] > 0.05
    assert frame.loc["place in the sample", "p_holm"] < 0.01
    told = " ".join(partial.findings())
    assert "are clustered by document" in told
    # The first of a random order are a random sample; of any other they are not.
    assert "come later in the list" not in told
    line = replace(sample, design=replace(sample.design, kind="systematic"))
    told = " ".join(PartialRatings(line, scores).findings())
    assert "unrated segments come later in the list" in told


def test_a_bare_pool_and_no_gaps_can_be_diagnosed():
    pool = Pool(ids=np.arange(9))
    sample = SimpleRandom().draw(pool, 5, rng=1)
    frame = PartialRatings(sample, np.array([1.0, 2, np.nan, 4, 5])).diagnosis()
    assert frame["known"].tolist() == ["place in the sample"]
    frame = PartialRatings(sample, np.arange(5.0)).diagnosis()
    assert frame["p"].isna().all()
    assert PartialRatings(sample, np.arange(5.0)).findings() == ()
