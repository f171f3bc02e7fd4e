"""Unbiasedness by exhaustive enumeration: every sample that a design can give, with its chance."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from fewgold import Pool, Sample
from fewgold.estimators import KNN, ControlVariates, CrossFit, Learned, Mean
from fewgold.samplers import Balanced, ByColumn, Clusters, SimpleRandom, Stratified, Systematic
from reference import (
    Scripted,
    all_draws,
    all_starts,
    all_within,
    batch_of,
    cube_tree,
    document_orders,
    grid,
)
from sweeps import quick

TIGHT = {"rtol": 0, "atol": 1e-10}


def make_pool(documents, seed=5):
    """A pool with skewed scores: most near 0, a few very bad, as in MQM."""
    rng = np.random.default_rng(seed)
    size = len(documents)
    gold = np.round(rng.gamma(0.4, 6.0, size), 2)
    gold[-2] = 25.0
    metrics = {"m": gold + rng.normal(0, 4, size), "k": rng.normal(size=size) - 0.1 * gold}
    return Pool(ids=np.arange(size), documents=np.array(list(documents)), metrics=metrics), gold


UNEQUAL = make_pool("abbcccc")  # documents of 1, 2 and 4 segments
FOUR = make_pool("abbccd")  # four documents, more than a budget of two or three
STRATA = make_pool("aaaabbbbb")  # two strata that get two segments or more


def estimates(pool, gold, rows, design, estimator):
    return estimator.estimate(Sample(pool, rows, design).rate(gold[rows]))


def check_exact(pool, gold, rows, design, estimator):
    """The mean of value is the pool mean, the mean of se² the variance of value."""
    made = estimates(pool, gold, rows, design, estimator)
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)
    truth = made.value.var()
    assert truth > 1e-3
    np.testing.assert_allclose((made.se**2).mean(), truth, **TIGHT)


UNTUNED = [Mean(), ControlVariates(slopes={"m": 2.5, "k": -0.7})]
by_estimator = pytest.mark.parametrize("estimator", UNTUNED, ids=["mean", "fixed-slopes"])


# Simple random ------------------------------------------------------------------------------


@by_estimator
@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_simple_random_value_and_variance(estimator, n):
    pool, gold = UNEQUAL
    rows = np.array(list(combinations(range(7), n)))
    design = SimpleRandom().draw(pool, n, rng=0).design
    check_exact(pool, gold, rows, batch_of(design, len(rows)), estimator)


def test_simple_random_draws_every_set_equally_often():
    pool, _ = FOUR
    orders = list(permutations(range(6)))
    sample = SimpleRandom().draw(pool, 3, draws=len(orders), rng=Scripted(permutation=orders))
    _, counts = np.unique(np.sort(sample.indices, -1), axis=0, return_counts=True)
    assert counts.tolist() == [len(orders) // 20] * 20


# Stratified ---------------------------------------------------------------------------------


def own_mass(pool, strata):
    return np.array([2.0, 3.0])


@by_estimator
@pytest.mark.parametrize(
    ("n", "allocation", "counts"),
    [
        (5, "proportional", (2, 3)),
        (7, "proportional", (3, 4)),
        (5, own_mass, (2, 3)),
        (6, lambda pool, strata: np.array([1.0, 5.0]), None),
        (6, lambda pool, strata: np.array([1.0, 2.0]), (2, 4)),
        (7, lambda pool, strata: np.array([9.0, 1.0]), (4, 3)),  # one stratum taken whole
    ],
)
def test_stratified_value_and_variance(estimator, n, allocation, counts):
    pool, gold = STRATA
    sampler = Stratified(allocation=allocation)
    one = sampler.draw(pool, n, rng=0)
    if counts is None:  # one stratum is due 1.2 and 5 is full: strata are merged
        counts = tuple(np.bincount(one.design.strata))
    strata = np.zeros(9, dtype=int) if len(counts) == 1 else pool.codes
    assert np.array_equal(np.bincount(one.design.strata), counts)
    rows = all_draws(strata, counts)
    check_exact(pool, gold, rows, batch_of(one.design, len(rows)), estimator)


@pytest.mark.parametrize("n", [5, 7])
def test_stratified_sampler_itself(n):
    """The rows that the sampler makes of every possible order, not only the design's formula."""
    pool, gold = STRATA
    (keys,) = grid(all_within(pool.codes))
    sample = Stratified().draw(pool, n, draws=len(keys), rng=Scripted(random=[keys]))
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)
    np.testing.assert_allclose((made.se**2).mean(), made.value.var(), **TIGHT)


@pytest.mark.parametrize("documents", ["abbccd", "abbbccde", "aabbcc", "abcdefg"])
def test_small_strata_stand_in_a_line_at_any_budget(documents):
    """Two segments for many documents: shares that add up to 1.9999999999999998 are two."""
    pool, _ = make_pool(documents)
    assert Stratified().draw(pool, 2, rng=0).design.kind == "systematic"


def test_merged_strata_are_unbiased():
    pool, gold = make_pool("aaabbbcc")
    sampler = Stratified(allocation=lambda pool, strata: np.array([5.0, 1.0, 0.0]))
    one = sampler.draw(pool, 4, rng=0)
    counts = np.bincount(one.design.strata)
    assert len(counts) < 3  # a stratum of mass 0 is not left out but merged
    assert one.design.unbiased
    # Which strata were merged is internal: every order of all eight segments covers any merging.
    keys = np.array(list(permutations(range(8)))) / 8
    sample = sampler.draw(pool, 4, draws=len(keys), rng=Scripted(random=[keys]))
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)


# Systematic, and the line of small strata ---------------------------------------------------


def systematic_draws(pool, n, sampler):
    codes = pool.codes
    orders, keys, starts = grid(document_orders(codes), all_within(codes), all_starts(len(pool)))
    script = Scripted(permuted=[orders], random=[keys], integers=[starts])
    return sampler.draw(pool, n, draws=len(orders), rng=script)


LINES = {"3": UNEQUAL, "4": FOUR, "5": make_pool("abbbccde")}


def all_in_line(pool, n):
    """Whether docs-prop puts every document in the line: each is due fewer than two."""
    return n > 1 and (n * np.bincount(pool.codes) / len(pool) < 2).all()


@pytest.mark.parametrize(
    ("sampler", "pool_gold", "n"),
    [
        pytest.param(sampler, pool_gold, n, id=f"{sampler.name}-{name}-{n}")
        for sampler in (Systematic(), Stratified())
        for name, pool_gold in LINES.items()
        for n in (1, 2, 3, 5)
        if isinstance(sampler, Systematic) or all_in_line(pool_gold[0], n)
    ],
)
def test_line_is_unbiased(pool_gold, n, sampler):
    pool, gold = pool_gold
    sample = systematic_draws(pool, n, sampler)
    taken = np.bincount(sample.indices.ravel(), minlength=len(pool)) / len(sample.indices)
    np.testing.assert_allclose(taken, n / len(pool), **TIGHT)
    np.testing.assert_allclose(sample.design.inclusion, n / len(pool), **TIGHT)
    for estimator in UNTUNED:
        made = estimator.estimate(sample.rate(gold[sample.indices]))
        np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)


@pytest.mark.parametrize("n", [2, 3])
def test_systematic_spreads_over_documents(n):
    """No document gets more than its due rounded up, nor less than its due rounded down."""
    pool, _ = UNEQUAL
    sample = systematic_draws(pool, n, Systematic())
    sizes = np.bincount(pool.codes)
    for d, size in enumerate(sizes):
        got = (pool.codes[sample.indices] == d).sum(-1)
        # A run of N_d positions holds ⌊n N_d/N⌋ or ⌈n N_d/N⌉ regular points.
        assert got.min() >= np.floor(n * size / 7)
        assert got.max() <= np.ceil(n * size / 7)


def test_order_inside_documents_comes_round():
    """By a metric, starting anywhere in each document: up all the way, but for one fall."""
    metric = np.array([0.0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])
    pool = Pool(ids=np.arange(12), documents=np.repeat([0, 1, 2], 4), metrics={"m": metric})
    starts = set()
    for seed in range(20):
        line = Systematic(inside="m").draw(pool, 12, rng=seed).indices
        order = metric[line].reshape(3, 4)
        assert (np.diff(order, axis=-1) % 4 == 1).all()
        starts |= set(order[:, 0].tolist())
    assert starts == {0, 1, 2, 3}


def test_order_inside_documents_does_not_hide_its_error():
    """Equal documents, one segment of each, and scores that go by the rank within the document.

    With the same order everywhere all documents would be hit at the same rank: an error that no
    comparison of neighbours can show.
    """
    metric = np.tile(np.arange(10.0), 50)
    pool = Pool(ids=np.arange(500), documents=np.repeat(np.arange(50), 10), metrics={"m": metric})
    gold = (metric >= 8) * 10.0
    sample = Systematic(inside="m").draw(pool, 50, draws=2000, rng=0)
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    # The ratio of variances from 2,000 draws is known to 3 %.
    assert 0.85 < (made.se**2).mean() / made.value.var() < 1.25


def clustered_pool():
    """Documents that differ much: what systematic sampling gains by, and its variance misses."""
    documents = "aabbccdd"
    gold = np.array([0.0, 1.0, 4.0, 5.0, 9.0, 8.0, 20.0, 25.0])
    return Pool(ids=np.arange(8), documents=np.array(list(documents))), gold


def test_systematic_variance_is_not_below_the_truth():
    """With documents that differ, neighbours come from different documents: se² is too large.

    Enumerated over all orders of documents and segments and all starts; the true variance is
    smaller than what a simple random sample has, and the estimate lies between the two.
    """
    pool, gold = clustered_pool()
    sample = systematic_draws(pool, 4, Systematic())
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)
    ratio = (made.se**2).mean() / made.value.var()
    simple = gold.var(ddof=1) * (1 - 4 / 8) / 4
    assert made.value.var() < 0.25 * simple
    # Every sample has one segment of each document, compared as if they were one group of four.
    assert ratio > 1
    assert (made.se**2).mean() <= simple * 1.2


def test_systematic_equals_simple_random_when_documents_are_single_segments():
    """Then the line is in random order, so that every set is equally likely and se² is exact."""
    pool, gold = make_pool("abcdef")
    sample = systematic_draws(pool, 3, Systematic())
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)
    np.testing.assert_allclose((made.se**2).mean(), made.value.var(), **TIGHT)


def test_line_beside_large_strata_is_unbiased():
    """docs-prop with one document drawn by itself and three in the line."""
    pool, gold = make_pool("aaaaabbcd")
    n = 5
    line = pool.codes[5:] - 1
    # Three of the five are taken: each ordered triple once stands for all orders.
    triples = np.array([[*t, *sorted({*range(5)} - {*t})] for t in permutations(range(5), 3)])
    ranks = np.argsort(triples, -1) / 5 + 0.1
    orders, keys, starts, inside = grid(
        document_orders(line), all_within(line), all_starts(4), ranks
    )
    script = Scripted(permuted=[orders], random=[keys, inside], integers=[starts])
    sample = Stratified().draw(pool, n, draws=len(orders), rng=script)
    assert sample.design.kind == "systematic"
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)
    taken = np.bincount(sample.indices.ravel(), minlength=9) / len(orders)
    np.testing.assert_allclose(taken, np.r_[np.full(5, 3 / 5), np.full(4, 2 / 4)], **TIGHT)
    # The stratum drawn by itself and the line are independent, so values vary by both.
    own_part = 5 / 9 * np.array([gold[s[:3]].mean() for s in sample.indices])
    line_part = 4 / 9 * np.array([gold[s[3:]].mean() for s in sample.indices])
    np.testing.assert_allclose(made.value.var(), own_part.var() + line_part.var(), **TIGHT)


# Clusters -----------------------------------------------------------------------------------


def cluster_draws(pool, n, sampler):
    orders, turns = grid(document_orders(pool.codes), np.arange(len(pool))[:, None])
    script = Scripted(permuted=[orders], integers=[turns])
    return sampler.draw(pool, n, draws=len(orders), rng=script)


@pytest.mark.parametrize("sampler", [Clusters(), Clusters(2), Clusters(3)], ids=lambda s: s.name)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("pool_gold", [UNEQUAL, FOUR, make_pool("aabbccdd")], ids=["3", "4", "4x2"])
def test_clusters_are_unbiased(sampler, n, pool_gold):
    pool, gold = pool_gold
    sample = cluster_draws(pool, n, sampler)
    taken = np.bincount(sample.indices.ravel(), minlength=len(pool)) / len(sample.indices)
    np.testing.assert_allclose(taken, n / len(pool), **TIGHT)
    for estimator in UNTUNED:
        made = estimator.estimate(sample.rate(gold[sample.indices]))
        np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)


def test_whole_documents_cut_at_most_two():
    pool, _ = make_pool("aabbbccccddd")
    sample = cluster_draws(pool, 7, Clusters())
    sizes = np.bincount(pool.codes)
    for rows in sample.indices:
        got = np.bincount(pool.codes[rows], minlength=4)
        cut = (got > 0) & (got < sizes)
        assert cut.sum() <= 2


def test_cluster_variance_is_exact_for_documents_of_one_segment():
    pool, gold = make_pool("abcdef")
    sample = cluster_draws(pool, 3, Clusters())
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    np.testing.assert_allclose((made.se**2).mean(), made.value.var(), **TIGHT)


def test_cluster_variance_for_equal_documents():
    """Six documents of two, four segments: the ratio of mean se² to the truth, enumerated.

    A turn by an odd number cuts two documents in half, and the parts are compared as if whole
    documents of one segment: with two or three units se² is rough. It must be of the right order
    where the plain variance, which takes segments for independent, is far too small.
    """
    documents = "aabbccddeeff"
    gold = np.repeat([0.0, 1.0, 3.0, 4.0, 9.0, 20.0], 2) + np.tile([-0.2, 0.2], 6)
    pool = Pool(ids=np.arange(12), documents=np.array(list(documents)))
    sample = cluster_draws(pool, 6, Clusters())
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)
    ratio = (made.se**2).mean() / made.value.var()
    naive = (gold[sample.indices].var(-1, ddof=1) * 0.5 / 6).mean() / made.value.var()
    assert naive < 0.6
    assert 0.85 < ratio < 1.15


# Balanced -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", quick([1, 2, 3, 4], [2]))
def test_balanced_sampler_is_unbiased(n):
    """All orders of documents and segments, and for each the whole tree of the martingale."""
    pool, gold = make_pool("abbcc")
    codes = pool.codes
    value, taken, total = 0.0, np.zeros(5), 0.0
    # Documents are put in order twice: to be given their counts, and to be drawn from.
    tables = grid(document_orders(codes), document_orders(codes), all_within(codes))
    for first, second, keys in zip(*tables, strict=True):
        tree = cube_tree(lambda rng: Balanced().draw(pool, n, rng=rng), [first, second], [keys])
        assert sum(chance for _, chance in tree) == pytest.approx(1.0, abs=1e-12)
        for sample, chance in tree:
            made = Mean().estimate(sample.rate(gold[sample.indices]))
            value += chance * made.value
            taken[sample.indices] += chance * sample.design.weights
            total += chance
    np.testing.assert_allclose(value / total, gold.mean(), **TIGHT)
    np.testing.assert_allclose(taken / total, 1 / 5, **TIGHT)


# Two waves ----------------------------------------------------------------------------------


def top_up_simple(pool, gold, first, design, n2):
    """Every simple random wave of n2 after every first sample, as one batch of ratings."""
    before, perms = [], []
    for rows in first:
        left = len(pool) - len(rows)
        for chosen in combinations(range(left), n2):
            before.append(rows)
            perms.append([*chosen, *sorted({*range(left)} - {*chosen})])
    before = np.array(before)
    count = len(before) // len(first)
    stacked = type(design)._stack([design.draw(i // count) for i in range(len(before))])
    given = Sample(pool, before, stacked).rate(gold[before])
    wave = SimpleRandom().draw(pool, n2, given=given, rng=Scripted(permutation=perms))
    return wave.rate(gold[wave.indices])


@by_estimator
@pytest.mark.parametrize(("n1", "n2"), [(2, 2), (2, 3), (3, 2), (3, 3), (4, 2)])
def test_simple_random_waves(estimator, n1, n2):
    pool, gold = FOUR
    first = np.array(list(combinations(range(6), n1)))
    design = batch_of(SimpleRandom().draw(pool, n1, rng=0).design, len(first))
    ratings = top_up_simple(pool, gold, first, design, n2)
    made = estimator.estimate(ratings)
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)
    np.testing.assert_allclose((made.se**2).mean(), made.value.var(), **TIGHT)
    # Two simple random waves are a simple random sample, and the mixture knows it.
    np.testing.assert_allclose(Mean().estimate(ratings).value, ratings.scores.mean(-1), **TIGHT)
    np.testing.assert_allclose(ratings.sample.design.inclusion, (n1 + n2) / 6, **TIGHT)


def test_three_simple_random_waves():
    pool, gold = FOUR
    first = np.array(list(combinations(range(6), 2)))
    design = batch_of(SimpleRandom().draw(pool, 2, rng=0).design, len(first))
    two = top_up_simple(pool, gold, first, design, 1)
    rows, perms = [], []
    for k in range(len(two.scores)):
        for chosen in combinations(range(3), 2):
            rows.append(k)
            perms.append([*chosen, *sorted({0, 1, 2} - {*chosen})])
    stacked = type(design)._stack([two.sample.design.draw(k) for k in rows])
    before = two.sample.indices[rows]
    given = Sample(pool, before, stacked).rate(gold[before])
    wave = SimpleRandom().draw(pool, 2, given=given, rng=Scripted(permutation=perms))
    ratings = wave.rate(gold[wave.indices])
    made = Mean().estimate(ratings)
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)
    np.testing.assert_allclose(made.value, ratings.scores.mean(-1), **TIGHT)


def test_simple_random_after_a_line():
    pool, gold = FOUR
    sample = systematic_draws(pool, 2, Systematic())
    ratings = top_up_simple(pool, gold, sample.indices, sample.design, 2)
    for estimator in UNTUNED:
        np.testing.assert_allclose(estimator.estimate(ratings).value.mean(), gold.mean(), **TIGHT)


@pytest.mark.parametrize("sampler", [Systematic(), Stratified(), Clusters()], ids=lambda s: s.name)
def test_another_design_after_simple_random(sampler):
    """Both waves enumerated; the second sees a pool of fewer documents each time."""
    pool, gold = FOUR
    values = []
    design = SimpleRandom().draw(pool, 2, rng=0).design
    for first in combinations(range(6), 2):
        given = Sample(pool, np.array(first), design).rate(gold[list(first)])
        rest = np.setdiff1d(np.arange(6), first)
        part = pool.take(rest)
        draws = cluster_draws if isinstance(sampler, Clusters) else systematic_draws
        wave = draws(part, 2, sampler)
        here = []
        for k in range(len(wave.indices)):
            one = Sample(pool, rest[wave.indices[k]], wave.design.draw(k), given)
            here.append(float(Mean().estimate(one.rate(gold[one.indices])).value))
        values.append(np.mean(here))
    np.testing.assert_allclose(np.mean(values), gold.mean(), **TIGHT)


# Cross-fitting ------------------------------------------------------------------------------


def ordered(size, n):
    return np.array(list(permutations(range(size), n)))


def linear():
    from sklearn.linear_model import LinearRegression

    return CrossFit(LinearRegression(), folds=2)


@pytest.mark.parametrize(
    ("control", "n"),
    [(KNN(k=1), 4), (KNN(k=2, folds=2), 5), (KNN(k=1, folds=3), 6), (linear, 4)],
    ids=["1nn", "2nn-2", "1nn-3", "linear"],
)
def test_cross_fitted_difference_is_exactly_unbiased(control, n):
    """Over all samples and all drawing orders, since folds go by position."""
    pool, gold = make_pool("abbcccc") if n == 6 else FOUR
    control = control() if callable(control) else control
    rows = ordered(len(pool), n)
    design = batch_of(SimpleRandom().draw(pool, n, rng=0).design, len(rows))
    made = estimates(pool, gold, rows, design, Learned(control, slope="one"))
    assert np.ptp(made.value) > 0.1
    assert np.abs(made.value - gold[rows].mean(-1)).max() > 0.1  # the control does something
    np.testing.assert_allclose(made.value.mean(), gold.mean(), **TIGHT)


# Known biases of the printed forms ----------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 5000.0])
def test_printed_control_variate_has_the_bias_of_the_errata(shift):
    """-(1 - n/N)/n · N/(N-1) · mean(x z²), which is about -μ(1 - n/N)/n."""
    pool, gold = UNEQUAL
    gold, n, size = gold + shift, 3, 7
    rows = np.array(list(combinations(range(size), n)))
    design = batch_of(SimpleRandom().draw(pool, n, rng=0).design, len(rows))
    made = estimates(pool, gold, rows, design, ControlVariates(metrics=("m",), form="printed"))
    z = pool.standardised(["m"])[0]
    exact = -(1 - n / size) / n * size / (size - 1) * (gold * z**2).mean()
    bias = made.value.mean() - gold.mean()
    np.testing.assert_allclose(bias, exact, **TIGHT)
    if shift:
        # The errata leave out N/(N-1), and the spread of x beside its mean.
        rough = -gold.mean() * (1 - n / size) / n
        assert bias == pytest.approx(rough * size / (size - 1), rel=0.01)


def test_errata_three_in_figures():
    """Mean 95, sd 10, r = 0.4, n = 53, N = 527: RMSE 3.05, 1.30, 1.21 and 1.21."""
    rng = np.random.default_rng(20)
    size, n, draws = 527, 53, 20_000
    z = rng.normal(size=size)
    z = (z - z.mean()) / z.std()
    noise = rng.normal(size=size)
    noise -= noise.mean() + (noise @ z) / size * z
    gold = 95 + 10 * (0.4 * z + np.sqrt(1 - 0.4**2) * noise / noise.std())
    pool = Pool(ids=np.arange(size), metrics={"m": z})
    sample = SimpleRandom().draw(pool, n, draws=draws, rng=rng)
    ratings = sample.rate(gold[sample.indices])

    def rmse(value):
        return float(np.sqrt(((value - 95) ** 2).mean()))

    printed = rmse(ControlVariates(form="printed").estimate(ratings).value)
    plain = rmse(Mean().estimate(ratings).value)
    slope = rmse(ControlVariates().estimate(ratings).value)
    x, zs = ratings.scores, z[sample.indices]
    covariance = (x * zs).mean(-1) - x.mean(-1) * zs.mean(-1)
    centred = rmse(x.mean(-1) - covariance * zs.mean(-1))
    # 20,000 draws give an RMSE to 0.5 %. That of the plain mean follows from the sd alone, the
    # others differ a little between populations with these moments.
    assert plain == pytest.approx(10 * np.sqrt((size - n) / (size - 1) / n), rel=0.015)
    assert f"{10 * np.sqrt((size - n) / (size - 1) / n):.2f}" == "1.30"
    assert printed == pytest.approx(3.05, rel=0.025)
    assert centred == pytest.approx(1.21, rel=0.02)
    assert slope == pytest.approx(1.21, rel=0.02)
    assert slope < plain < printed


def test_printed_rounding_leaves_strata_out_and_is_biased():
    pool, gold = make_pool("aaaabbbbcd")
    gold[8:] = 25.0, 20.0  # the short documents are the bad ones
    sampler = Stratified(rounding="printed")
    one = sampler.draw(pool, 4, rng=0)
    assert not one.design.unbiased
    assert set(pool.codes[one.indices]) == {0, 1}
    keys = all_within(pool.codes)
    sample = sampler.draw(pool, 4, draws=len(keys), rng=Scripted(random=[keys]))
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    kept = gold[:8].mean()
    np.testing.assert_allclose(made.value.mean(), kept, **TIGHT)
    assert made.value.mean() - gold.mean() < -made.value.std()
    assert any("unbiased" in note for note in made.notes)


def test_printed_knn_trains_on_what_it_predicts_and_is_biased():
    """Over all samples; the cross-fitted form on the same samples has no bias at all."""
    pool, gold = UNEQUAL
    rows = np.array(list(combinations(range(7), 4)))
    design = batch_of(SimpleRandom().draw(pool, 4, rng=0).design, len(rows))
    printed = estimates(pool, gold, rows, design, Learned(KNN(k=2, folds=None), slope="printed"))
    in_sample = estimates(pool, gold, rows, design, Learned(KNN(k=2, folds=None), slope="one"))
    assert abs(printed.value.mean() - gold.mean()) > 0.05 * gold.std()
    assert abs(in_sample.value.mean() - gold.mean()) > 0.05 * gold.std()
    # And its residuals are too small: the standard error falls short of the true one.
    assert np.sqrt((in_sample.se**2).mean()) < 0.8 * in_sample.value.std()


def test_columns_as_strata():
    """Strata of any column are drawn from as documents are."""
    pool, gold = STRATA
    texts = {"genre": np.array(list("xyxyxyxyx"))}
    pool = Pool(ids=pool.ids, metrics=pool.metrics, texts=texts)
    one = Stratified(ByColumn("genre")).draw(pool, 5, rng=0)
    strata = (texts["genre"] == "y").astype(int)
    rows = all_draws(strata, np.bincount(one.design.strata))
    check_exact(pool, gold, rows, batch_of(one.design, len(rows)), Mean())
