"""The binary model on every design: exact where it can be, effective counts elsewhere."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import betaln

from fewgold import registry
from fewgold.bayes import BinaryPosterior, CellPosterior, Counts, Pooled, tally
from fewgold.bayes.effective import effective_counts, is_exact
from fewgold.bayes.estimator import DEFAULT_PRIORS
from fewgold.errors import DataError
from fewgold.estimators import Mean
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Clusters, Sampler, SimpleRandom, Stratified, Systematic
from reference import effective as reference


def toy(size: int = 240) -> tuple[Pool, np.ndarray]:
    """Documents that differ, and a judge that is right 4 times of 5."""
    rng = np.random.default_rng(5)
    documents = np.repeat(np.arange(size // 8), 8)
    rate = np.clip(0.5 + 0.25 * rng.normal(size=size // 8), 0.05, 0.95)[documents]
    gold = (rng.random(size) < rate).astype(float)
    judge = np.where(rng.random(size) < 0.8, gold, 1 - gold)
    metrics = {"judge": judge, "score": gold + rng.normal(0, 1, size)}
    return Pool(np.arange(size), documents=documents, metrics=metrics), gold


def by_judge(pool: Pool) -> np.ndarray:
    return np.asarray(pool.metrics["judge"])


def rated(sampler: Sampler, pool: Pool, gold: np.ndarray, n: int = 40, **more: int) -> Ratings:
    made = Mean(sampler=sampler)
    return made.collect(pool, lambda s: gold[s.indices], n, limits=(0, 1), rng=3, **more)


@pytest.mark.parametrize("drawn", [(1, 3), (2, 2), (3, 1)])
def test_strata_of_the_metric_are_exact(drawn: tuple[int, int]) -> None:
    """Against all labels that the unrated could have, each weighed by its marginal likelihood."""
    judge = np.array([0, 0, 0, 0, 1, 1, 1.0])
    gold = np.array([0, 1, 0, 0, 1, 1, 0.0])
    pool = Pool(np.arange(7), metrics={"judge": judge})

    def mass(pool: Pool, strata: np.ndarray) -> np.ndarray:
        return np.array(drawn, dtype=float)

    # Strata due fewer than two are merged unless the rounding is as printed.
    sampler = Stratified(by_judge, allocation=mass, rounding="printed")
    sample = sampler.draw(pool, 4, rng=1)
    found = BinaryPosterior("judge").estimate(sample.rate(gold[sample.indices]))
    assert not found.approximate
    rows = set(sample.indices.tolist())
    chances = np.zeros(8)
    for labels in product((0, 1), repeat=7):
        if all(labels[row] == gold[row] for row in rows):
            y = np.array(labels)
            tp, fn = (y * judge).sum(), (y * (1 - judge)).sum()
            fp, tn = ((1 - y) * judge).sum(), ((1 - y) * (1 - judge)).sum()
            (a, b), ones = DEFAULT_PRIORS.alpha, y.sum()
            log = betaln(a + ones, b + 7 - ones) + betaln(1 + tp, 1 + fn) + betaln(1 + tn, 1 + fp)
            chances[ones] += np.exp(log)
    chances /= chances.sum()
    at = np.arange(8) / 7
    assert float(found.value) == pytest.approx(chances @ at, rel=1e-12)
    assert found.posterior.cdf(at) == pytest.approx(np.cumsum(chances), abs=1e-12)


def test_which_designs_are_exact() -> None:
    pool, gold = toy()
    judge = pool.metrics["judge"].astype(int)
    for sampler, exact in (
        (registry.sampler("random"), True),
        (Stratified(by_judge), True),
        (Stratified(), False),
        (Systematic(), False),
        (Clusters(3), False),
        (registry.sampler("random-uneven"), False),
    ):
        ratings = rated(sampler, pool, gold)
        assert is_exact(ratings.sample.design, judge[ratings.sample.indices], 2) is exact
    # Strata of the judge, but no categories: human ratings alone.
    ratings = rated(Stratified(by_judge, allocation=lambda p, s: np.array([3.0, 1.0])), pool, gold)
    assert BinaryPosterior("judge").estimate(ratings).approximate is False
    assert BinaryPosterior(()).estimate(ratings).approximate is True


SAMPLERS = [
    "docs-prop", "docs-opt", "metrics-prop", "metrics-opt", "docs-sys", "docs-balanced",
    "random-uneven", "docs-sys-uneven", "docs-whole", "docs-chunks3", "docs-incr-human",
]  # fmt: skip


@pytest.mark.parametrize("name", SAMPLERS)
def test_effective_counts_by_loops(name: str) -> None:
    pool, gold = toy()
    judge = pool.metrics["judge"].astype(int)
    ratings = rated(registry.sampler(name), pool, gold, draws=3)
    for k in range(3):
        one = ratings.draw(k)
        rows, labels = one.sample.indices, one.scores == 1
        cells, design = judge[rows], one.sample.design
        ours = effective_counts(design, cells, labels, *tally(judge, rows, labels))
        theirs, effect = reference.effective_counts(
            design, cells.tolist(), one.scores.tolist(), np.bincount(judge).tolist()
        )
        assert ours.counts == pytest.approx(theirs, rel=1e-9)
        assert float(ours.design_effect) == pytest.approx(effect, rel=1e-9)


@pytest.mark.parametrize("made", [
    BinaryPosterior("judge"), BinaryPosterior(()), BinaryPosterior("score", threshold="bins"),
    BinaryPosterior("judge", target="process"),
])  # fmt: skip
def test_a_batch_equals_one_by_one(made: BinaryPosterior) -> None:
    pool, gold = toy()
    for name in ("docs-prop", "docs-opt", "docs-whole"):
        ratings = rated(registry.sampler(name), pool, gold, draws=4)
        together = made.estimate(ratings)
        low, high = together.interval()
        for k in range(4):
            alone = made.estimate(ratings.draw(k))
            assert float(alone.value) == pytest.approx(float(together.value[k]), abs=1e-11)
            assert [float(x) for x in alone.interval()] == pytest.approx(
                [float(low[k]), float(high[k])], abs=1e-9
            )
            assert float(together.draw(k).se) == pytest.approx(float(alone.se), abs=1e-11)


def test_the_value_is_that_of_the_weights() -> None:
    """With many ratings it is the post-stratified mean of the design, whatever the chances."""
    pool, gold = toy(4000)
    judge = pool.metrics["judge"].astype(int)
    ratings = rated(registry.sampler("docs-opt"), pool, gold, 1500)
    weights, rows = ratings.sample.design.weights, ratings.sample.indices
    share = 0.0
    for j in (0, 1):
        here = judge[rows] == j
        stands = np.maximum(4000 * weights[here] - 1, 0)
        rest = (judge == j).sum() - here.sum()
        share += gold[rows][here].sum() + rest * (stands @ gold[rows][here]) / stands.sum()
    found = BinaryPosterior("judge").estimate(ratings)
    assert float(found.value) == pytest.approx(share / 4000, abs=3e-4)
    se = float(Mean().estimate(ratings).se)
    assert 0.6 * se < float(found.se) < 1.02 * se


def test_few_documents_say_little_about_the_design_effect() -> None:
    pool, gold = toy()
    n = 40  # five whole documents
    ratings = rated(Clusters(), pool, gold, n, draws=200)
    judge = pool.metrics["judge"].astype(int)
    rows, labels = ratings.sample.indices, ratings.scores == 1
    found = effective_counts(
        ratings.sample.design, judge[rows], labels, *tally(judge, rows, labels)
    )
    # The variance of five documents has four degrees of freedom; the prior some eighteen more.
    alone = np.log(Mean().estimate(ratings).se ** 2 / ratings.scores.var(-1))
    assert np.log(found.design_effect).std() < 0.5 * alone.std()
    assert np.median(found.design_effect) > 1
    # One document shows no variance at all: its design effect is the expected one.
    one = rated(Clusters(), pool, gold, 8)
    made = BinaryPosterior("judge").estimate(one)
    assert np.isfinite(made.se) and made.interval().high - made.interval().low > 0.4


def test_all_alike_and_one_rating() -> None:
    pool, gold = toy()
    for name in ("docs-prop", "docs-opt", "docs-whole", "docs-chunks3"):
        for scores in (np.zeros(240), np.ones(240)):
            found = BinaryPosterior("judge").estimate(rated(registry.sampler(name), pool, scores))
            low, high = found.interval()
            nearest = low if scores[0] == 0 else 1 - high
            assert 0 <= nearest < 0.02 and 0.02 < high - low < 0.5
            assert float(found.se) > 0
    single = BinaryPosterior("judge").estimate(rated(Systematic(), pool, gold, 1))
    assert 0 < float(single.value) < 1
    census = BinaryPosterior("judge").estimate(rated(Systematic(), pool, gold, 240))
    assert float(census.value) == pytest.approx(gold.mean())
    assert float(census.se) == pytest.approx(0, abs=1e-9)


def test_counts_with_effective_numbers() -> None:
    weighed = np.array([[[6.0, 2.0], [1.0, 4.5]]] * 2)
    counts = Counts(tp=[5, 5], fn=2, fp=1, tn=6, metric_ones=30, metric_total=60, effective=weighed)
    assert counts.draw(0).effective is not None and counts.draw(0).shape == ()
    turned = counts.flipped()
    assert turned.effective == pytest.approx(weighed[:, ::-1])
    assert turned.flipped().effective == pytest.approx(weighed)
    with pytest.raises(DataError, match="effective must be"):
        CellPosterior([[3, 2], [1, 4]], [20, 20], effective=np.array([[1.0, -1.0], [0.0, 2.0]]))
    with pytest.raises(DataError, match="effective must be"):
        CellPosterior([[3, 2], [1, 4]], [20, 20], effective=np.ones((3, 2)))
    same = CellPosterior([[3, 2], [1, 4]], [20, 20], effective=np.array([[3.0, 2], [1, 4]]))
    plain = CellPosterior([[3, 2], [1, 4]], [20, 20])
    assert float(same.mean) == float(plain.mean) and same.interval() == plain.interval()


def test_biased_designs_say_so() -> None:
    pool, gold = toy()
    ratings = rated(registry.sampler("docs-prop-printed"), pool, gold, 20)
    assert not ratings.sample.design.unbiased
    notes = BinaryPosterior("judge").estimate(ratings).notes
    assert any("this design is biased: it leaves out documents" in note for note in notes)
    ratings = rated(registry.sampler("docs-incr-metrics"), pool, gold, 40)
    assert not ratings.sample.design.unbiased
    notes = BinaryPosterior("judge").estimate(ratings).notes
    assert any("biased: how many ratings a document got" in note for note in notes)


def test_ratings_that_decide_where_the_next_ones_go() -> None:
    """Documents are the categories, whose ratings alone decided; gaps and waves change nothing."""
    pool, gold = toy()
    ratings = rated(registry.sampler("docs-incr-human"), pool, gold, 40)
    found = BinaryPosterior("judge").estimate(ratings)
    cells = tally(pool.codes, ratings.sample.indices, ratings.scores == 1)
    expected = CellPosterior(*cells, prior=Pooled((0.5, 0.5)))
    assert float(found.value) == float(expected.mean) and found.approximate
    assert [float(x) for x in found.interval()] == [float(x) for x in expected.interval()]
    assert "metrics are not used" in found.summary()
    assert not any("biased" in note for note in found.notes)
    first = SimpleRandom().draw(pool, 20, rng=1)
    more = registry.sampler("docs-incr-human").draw(
        pool, 20, given=first.rate(gold[first.indices]), rng=2
    )
    joined = more.rate(gold[more.indices])
    cells = tally(pool.codes, joined.sample.indices, joined.scores == 1)
    expected = CellPosterior(*cells, prior=Pooled((0.5, 0.5)))
    assert float(BinaryPosterior("judge").estimate(joined).value) == float(expected.mean)


def test_waves_of_different_designs() -> None:
    pool, gold = toy()
    first = Systematic().draw(pool, 20, rng=1)
    ratings = first.rate(gold[first.indices])
    more = Stratified(allocation="optimal").draw(pool, 30, given=ratings, rng=2)
    joined = more.rate(gold[more.indices])
    found = BinaryPosterior("judge").estimate(joined)
    assert found.approximate and joined.n == 50
    assert abs(float(found.value) - float(Mean().estimate(joined).value)) < 0.15
