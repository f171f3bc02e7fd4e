"""Differences, the control, tests and ranks against slow references."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from fewgold.bounds import Student
from fewgold.common.statistics import adjusted_p_values, adjusted_pairs
from fewgold.comparison.designs import plain_design
from fewgold.comparison.pairs import STRENGTHS, Pairs, common_slopes, shared_pairs
from fewgold.comparison.result import (
    better,
    groups_of,
    order_of,
    rank_intervals,
    rank_probabilities,
)
from fewgold.estimators import Mean
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Balanced, Clusters, Sampler, SimpleRandom, Stratified, Systematic
from fewgold.samplers.base import batch_design
from reference import comparison as slow
from reference import document_factor


def scores_of(systems=4, n=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, 2.0, n) + rng.gamma(0.5, 1.0, (systems, n)) + np.arange(systems)[:, None]


def test_simple_differences_are_the_textbook_ones() -> None:
    y = scores_of()
    pairs = shared_pairs(plain_design(30, 200, None, False, "pool"), y)
    for i in range(4):
        for j in range(4):
            if i != j:
                mean, variance, df = slow.simple_difference(y[i], y[j], 200)
                found = pairs.value[i, j], pairs.variance[i, j], pairs.df[i, j]
                assert found == pytest.approx((mean, variance, df), rel=1e-12)


def test_new_segments_give_the_paired_t_test() -> None:
    y = scores_of()
    pairs = shared_pairs(plain_design(30, 30, None, False, "process"), y)
    told = stats.ttest_rel(y[0], y[2])
    assert pairs.p_values()[0, 2] == pytest.approx(told.pvalue, rel=1e-10)
    assert pairs.less()[0, 2] == pytest.approx(1 - told.pvalue / 2)


@pytest.mark.parametrize("sampler", [Stratified(), Systematic(), Balanced(), Clusters(3)])
def test_any_design_agrees_with_the_mean_of_the_differences(sampler: Sampler) -> None:
    documents = np.repeat(np.arange(6), 10)
    metric = np.random.default_rng(9).normal(size=60)
    pool = Pool(ids=np.arange(60), metrics={"m": metric}, documents=documents)
    sample = sampler.draw(pool, 24, rng=1)
    y = (scores_of(3, 60, 2) * (1 + documents % 3))[:, sample.indices]
    pairs = shared_pairs(sample.design, y)
    one = Mean(bound=Student()).estimate(Ratings(sample, y[0] - y[1]))
    assert pairs.value[0, 1] == pytest.approx(float(one.value))
    assert pairs.se[0, 1] == pytest.approx(float(one.se))
    assert pairs.df[0, 1] == pytest.approx(float(one.df))


def test_a_batch_equals_one_by_one() -> None:
    pool = Pool(ids=np.arange(80))
    sample = SimpleRandom().draw(pool, 40, draws=5, rng=3)
    rng = np.random.default_rng(4)
    z = rng.normal(size=(2, 3, 80))
    z -= z.mean(-1, keepdims=True)
    y = np.moveaxis((scores_of(3, 80, 5) + 2 * z[0])[:, sample.indices], 1, 0)
    zs = np.moveaxis(z[..., sample.indices], -2, 0)
    whole = shared_pairs(sample.design, y, zs)
    assert (whole.gain > 0.3).all()
    for k in range(5):
        one = shared_pairs(sample.design.draw(k), y[k], zs[k])
        np.testing.assert_allclose(one.value, whole.value[k], atol=1e-10)
        np.testing.assert_allclose(one.variance, whole.variance[k], atol=1e-12)


def test_document_effects_that_the_design_removed_are_no_error_of_a_difference() -> None:
    """As for the score of one system, by the slow twin, and with a control in a batch."""
    pool = Pool(ids=np.arange(120), documents=np.repeat(np.arange(8), 15))
    sample = Systematic().draw(pool, 40, draws=4, rng=2)
    rng = np.random.default_rng(8)
    z = rng.normal(size=(1, 3, 120))
    z -= z.mean(-1, keepdims=True)
    own = rng.normal(size=(3, 8)) * 2  # each system does well on documents of its own
    full = scores_of(3, 120, 9) + own[:, pool.codes] + 4 * z[0]
    y, zs = (np.moveaxis(x[..., sample.indices], -2, 0) for x in (full, z))
    pairs, controlled = shared_pairs(sample.design, y), shared_pairs(sample.design, y, zs)
    assert (controlled.gain > 0.3).all()
    plain = shared_pairs(replace(sample.design, documents=None), y)
    assert (pairs.variance[:, 0, 1] < plain.variance[:, 0, 1]).all()
    for k in range(4):
        design, codes = sample.design.draw(k), pool.codes[sample.indices[k]]

        def shown(column, design=design):
            return float(np.square(design.deviations(column[None])).sum())

        factor = document_factor(y[k, 0] - y[k, 1], codes, pool.codes, shown)
        assert pairs.variance[k, 0, 1] == pytest.approx(factor * plain.variance[k, 0, 1], rel=1e-9)
        one = shared_pairs(design, y[k], zs[k])
        np.testing.assert_allclose(one.variance, controlled.variance[k], rtol=1e-9, atol=1e-12)


def test_slopes_are_judged_by_segments_left_out() -> None:
    rng = np.random.default_rng(6)
    n, systems = 25, 3
    x = rng.normal(size=(2, systems, n))
    y = 0.8 * x[0] + rng.normal(size=(systems, n))
    design = plain_design(n, 500, None, False, "pool")
    control = common_slopes(design, y, x)

    def centred(a):
        a = a - a.mean(-2, keepdims=True)
        return a - a.mean(-1, keepdims=True)

    rows = np.moveaxis(centred(x), 0, -1).swapaxes(0, 1)  # (n, S, p)
    tried = [slow.left_out_errors(centred(y).T, rows, s) for s in STRENGTHS]
    best = min(tried, key=lambda e: np.square(e).sum())
    gain = 1 - np.square(best).sum() / np.square(centred(y)).sum()
    assert control.gain == pytest.approx(gain)
    scale = np.sqrt(design.influence[0] ** 2 * n / (n - 1))
    np.testing.assert_allclose(control.deviations, scale * best.T, atol=1e-12)


def test_useless_metrics_are_not_used() -> None:
    rng = np.random.default_rng(7)
    draws, n = 200, 100
    y = rng.gamma(1.0, 2.0, (draws, 4, n))
    z = rng.normal(size=(draws, 3, 4, n))
    design = batch_design(plain_design(n, 1000, None, False, "pool"), draws)
    control = common_slopes(design, y, z)
    assert (control.gain > 0).mean() < 0.05
    unused = control.gain == 0
    assert not control.slopes[unused].any()


def test_differences_with_a_control_are_consistent() -> None:
    rng = np.random.default_rng(8)
    z = rng.normal(size=(1, 3, 50))
    y = scores_of(3, 50, 9) + 3 * z[0]
    pairs = shared_pairs(plain_design(50, 400, None, False, "pool"), y, z)
    assert pairs.gain > 0
    assert pairs.value[0, 1] + pairs.value[1, 2] == pytest.approx(pairs.value[0, 2])


def test_all_rated_is_exact_and_equal_differences_are_unknown() -> None:
    y = scores_of(3, 20)
    census = shared_pairs(plain_design(20, 20, None, False, "pool"), y)
    assert not census.variance.any()
    assert census.p_values()[0, 1] == 0
    assert census.less()[0, 2] == 1
    y[1] = y[0] + 2
    sample = shared_pairs(plain_design(20, 90, None, False, "pool"), y)
    assert sample.spreadless[0, 1]
    assert not sample.spreadless[0, 2]
    assert sample.p_values()[0, 1] == 1
    assert sample.less()[0, 1] == 0.5


@pytest.mark.parametrize("how", ["holm", "fdr"])
def test_corrections_agree_with_statsmodels(how: str) -> None:
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(1).random((5, 10)) ** 3
    p[0, 3] = p[0, 4]
    name = {"holm": "holm", "fdr": "fdr_bh"}[how]
    for row, found in zip(p, adjusted_p_values(p, how), strict=True):
        np.testing.assert_allclose(found, multipletests(row, method=name)[1])
        if how == "holm":
            np.testing.assert_allclose(found, slow.holm(row))


def test_groups_and_ranks() -> None:
    rng = np.random.default_rng(2)
    split = 0
    for _ in range(300):
        true = np.sort(rng.normal(0, 3, 5))
        y = true[:, None] + rng.normal(size=(5, 12))
        pairs = shared_pairs(plain_design(12, 100, None, False, "pool"), y)
        beats = better(pairs.value, adjusted_pairs(pairs.p_values(), "holm"), 0.05, True)
        order = order_of(pairs.value, True)
        groups = groups_of(beats, order)
        assert groups.tolist() == slow.groups(beats, order.tolist())
        split += groups.max() > 1
        low, high = rank_intervals(beats)
        for i in range(5):
            assert low[i] == 1 + sum(beats[j, i] for j in range(5))
            assert high[i] == 5 - sum(beats[i, j] for j in range(5))
    assert 50 < split < 300


def test_rank_probabilities_are_those_of_the_joint_distribution() -> None:
    y = scores_of(4, 25, 3) - 0.8 * np.arange(4)[:, None]
    design = plain_design(25, 200, None, False, "pool")
    chance = rank_probabilities(shared_pairs(design, y), False)
    means, covariance = design.moments(y)
    told = slow.rank_chances(means, covariance, 24, 20_000, np.random.default_rng(1), False)
    np.testing.assert_allclose(chance, told, atol=0.02)
    np.testing.assert_allclose(chance.sum(0), 1)
    np.testing.assert_allclose(chance.sum(1), 1)


def test_equal_systems_have_equal_chances() -> None:
    flat = np.zeros((3, 3))
    unknown = np.where(np.eye(3, dtype=bool), 0.0, np.inf)
    pairs = Pairs(flat, unknown, flat + 9, unknown > 0, np.zeros(()), np.zeros(0))
    np.testing.assert_allclose(rank_probabilities(pairs, True), 1 / 3, atol=0.02)
