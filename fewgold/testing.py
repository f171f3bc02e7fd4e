"""Checks for samplers, estimators and bounds; run them on your own classes before you trust them.

    from fewgold.testing import check_sampler
    check_sampler(MySampler())

Each check raises AssertionError with a sentence that says what went wrong. The same checks run over
everything in fewgold's registry.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np

from fewgold.bounds import Student
from fewgold.common.arrays import FloatArray
from fewgold.cut import Cut
from fewgold.errors import BudgetError
from fewgold.estimate import Bound, Estimate
from fewgold.estimator import Estimator
from fewgold.estimators import Mean
from fewgold.pool import Pool
from fewgold.sample import Sample
from fewgold.samplers import Sampler, SimpleRandom

__all__ = ["check_bound", "check_estimator", "check_sampler"]


def toy_pool(size: int = 120, documents: int = 17, seed: int = 0) -> tuple[Pool, FloatArray]:
    """A small pool with documents, metrics and costs, and gold scores that follow them."""
    rng = np.random.default_rng(seed)
    document = np.sort(rng.integers(documents, size=size))
    quality = rng.normal(size=documents)[document] * 0.5 + rng.normal(size=size)
    pool = Pool(
        ids=np.array([f"s{i:04d}" for i in range(size)]),
        documents=np.array([f"d{d:03d}" for d in document]),
        metrics={
            "comet": quality + rng.normal(size=size),
            "bleu": 20 + 8 * (quality + 2 * rng.normal(size=size)),
            "judge": (quality + rng.normal(size=size)).round(),
        },
        cost=rng.uniform(5, 60, size=size),
        texts={"genre": np.array(["news", "chat", "legal"])[document % 3]},
    )
    return pool, np.asarray(np.clip(3 - 2 * quality + rng.normal(size=size), 0, 25))


def _say(condition: object, message: str) -> None:
    if not bool(np.all(np.asarray(condition))):
        raise AssertionError(message)


def check_sampler(sampler: Sampler, *, unbiased: bool = True, draws: int = 4000) -> None:
    """Check budget, repeats, weights, seeds, batches, top-ups, census, pickling, unbiasedness.

    ``unbiased=False`` for designs known to be biased, which must say so themselves.
    """
    name = sampler.name
    for size, documents in ((120, 17), (31, 31), (9, 1)):
        pool, gold = toy_pool(size, documents, seed=size)
        for n in sorted({2, size // 4, size // 2, size}):
            sample = sampler.draw(pool, n, draws=3, rng=7)
            _check_rows(name, sample, pool, n)
            again = sampler.draw(pool, n, draws=3, rng=7)
            _say(again.indices == sample.indices, f"{name}: the same seed gave another sample.")
        census = sampler.draw(pool, size, rng=1)
        mean, cov = census.design.moments(gold[census.indices][None])
        _say(np.isclose(mean[0], gold.mean()), f"{name}: a census does not give the mean.")
        _say(np.abs(cov) < 1e-18, f"{name}: a census has a variance.")
        for budget in (0, size + 1, 2.5):
            try:
                sampler.draw(pool, budget, rng=0)
            except BudgetError:
                continue
            raise AssertionError(f"{name}: a budget of {budget!r} of {size} was not refused.")
    pool, gold = toy_pool()
    first = sampler.draw(pool, 20, rng=3)
    more = sampler.draw(pool, 15, given=first.rate(gold[first.indices]), rng=4)
    _say(not set(more.indices) & set(first.indices), f"{name}: a top-up repeats segments.")
    both = more.rate(gold[more.indices])
    _say(both.n == 35, f"{name}: a top-up lost ratings.")
    total = both.sample.design.weights.sum()
    _say(np.isclose(total, 1), f"{name}: weights do not sum to 1 after a top-up.")
    clone = pickle.loads(pickle.dumps(sampler))
    _say(clone.draw(pool, 20, rng=3).indices == first.indices, f"{name}: a pickled copy differs.")
    _check_unbiased(name, sampler, unbiased, draws)


def _check_rows(name: str, sample: Sample, pool: Pool, n: int) -> None:
    rows, design = sample.indices, sample.design
    _say(rows.shape == (3, n), f"{name}: asked for 3 draws of {n}, got shape {rows.shape}.")
    _say((rows >= 0) & (rows < len(pool)), f"{name}: some rows are outside the pool.")
    _say([len(set(r)) == n for r in rows.tolist()], f"{name}: a segment was drawn twice.")
    _say(np.isclose(design.weights.sum(-1), 1), f"{name}: weights do not sum to 1.")
    _say(design.weights > 0, f"{name}: weights must be above 0.")
    pi = design.inclusion
    _say((pi > 0) & (pi <= 1 + 1e-12), f"{name}: a chance is not above 0 and at most 1.")
    one = sample.draw(1)
    _say(one.design.weights == design.weights[1], f"{name}: a batch differs from its draws.")


def _check_unbiased(name: str, sampler: Sampler, unbiased: bool, draws: int) -> None:
    pool, gold = toy_pool(60, 20, seed=5)
    # A score that depends on document size exposes designs that favour some sizes.
    gold = gold + 3.0 * np.bincount(pool.codes)[pool.codes]
    for n in (8, 25):
        sample = sampler.draw(pool, n, draws=draws, rng=11)
        if not unbiased:
            if not sample.design.unbiased:
                return
            continue
        _say(sample.design.unbiased, f"{name}: the design says that it is biased.")
        values = (sample.design.weights * gold[sample.indices]).sum(-1)
        z = (values.mean() - gold.mean()) / (values.std() / np.sqrt(draws))
        _say(abs(z) < 5, f"{name}: biased by {z:.1f} Monte-Carlo errors at n = {n}.")
    _say(unbiased, f"{name}: unbiased=False was passed, but the design claims no bias.")


def check_estimator(
    estimator: Estimator, *, equivariant: bool = True, adequate: Cut | str | None = None
) -> None:
    """Check batches, affine scores, census, few ratings, nested intervals, pickling, JSON.

    ``equivariant=False`` for printed forms whose error depends on the origin of the scale, and for
    estimators that accept only ratings of 0 and 1, for which ``adequate`` cuts the scores.
    """
    name = estimator.name
    pool, gold = toy_pool()
    if adequate is not None:
        gold = Cut.parse(adequate)(gold).astype(np.float64)

    def annotate(sample: Sample) -> FloatArray:
        return np.asarray(gold[sample.indices])

    ratings = estimator.collect(pool, annotate, 40, draws=3, rng=2)
    together = estimator.estimate(ratings)
    _say(isinstance(together, Estimate), f"{name}: the result is not an Estimate.")
    for k in range(3):
        alone = estimator.estimate(ratings.draw(k))
        _say(np.isclose(alone.value, together.value[k], rtol=1e-9), f"{name}: batch differs.")
        _say(np.isclose(alone.se, together.se[k], rtol=1e-7), f"{name}: batch se differs.")
    if equivariant:
        moved = estimator.estimate(ratings.sample.rate(100 - 2 * ratings.scores))
        _say(np.isclose(moved.value, 100 - 2 * together.value), f"{name}: not affine equivariant.")
        _say(np.isclose(moved.se, 2 * together.se, rtol=1e-6), f"{name}: se is not equivariant.")
    _check_intervals(name, together)
    census = estimator.run(pool, annotate, len(pool), rng=0)
    _say(np.isclose(census.value, gold.mean()), f"{name}: a census does not give the mean.")
    _say(np.abs(census.se) < 1e-9, f"{name}: a census has a standard error.")
    for n in (1, 2, 3):
        few = estimator.run(pool, annotate, n, rng=0)
        _say(np.isfinite(few.value), f"{name}: no finite value from {n} ratings.")
        _say(few.se > 0, f"{name}: {n} ratings give a standard error of 0.")
    copy = pickle.loads(pickle.dumps(estimator))
    _say(copy.estimate(ratings).value == together.value, f"{name}: a pickled copy differs.")
    one = estimator.estimate(ratings.draw(0))
    _say("value" in one.to_dict() and one.summary(), f"{name}: no summary.")


def _check_intervals(name: str, estimate: Estimate) -> None:
    narrow, wide = estimate.interval(0.8), estimate.interval(0.99)
    _say(wide.low <= narrow.low, f"{name}: the 99 % interval does not contain the 80 % one.")
    _say(wide.high >= narrow.high, f"{name}: the 99 % interval does not contain the 80 % one.")
    inside = (narrow.low <= estimate.value + 1e-12) & (estimate.value <= narrow.high + 1e-12)
    _say(inside, f"{name}: the interval does not contain the value.")


def check_bound(
    bound: Bound,
    *,
    sampler: Sampler | None = None,
    limits: tuple[float, float] = (0.0, 25.0),
    draws: int = 1000,
    confidence: float = 0.9,
    population: Callable[[np.random.Generator], FloatArray] | None = None,
) -> None:
    """Check nesting, label, and coverage on a skewed population.

    A guaranteed bound must cover at least as often as it promises (minus Monte Carlo error); an
    approximate one may fall short by a tenth, since the population is skewed.
    """
    name = bound.name
    kinds = ("guaranteed", "conjectured", "approximate")
    _say(bound.kind in kinds, f"{name}: unknown kind {bound.kind!r}.")
    rng = np.random.default_rng(3)
    size = 200
    draw = population or (lambda r: np.minimum(r.exponential(2.0, size).round(1), limits[1]))
    gold = np.clip(draw(rng), *limits)
    pool = Pool(np.arange(gold.size))
    for n in (20, 100):
        sample = (sampler or SimpleRandom()).draw(pool, n, draws=draws, rng=n)
        ratings = sample.rate(gold[sample.indices], limits=limits)
        estimate = Mean(bound=bound).estimate(ratings)
        _check_intervals(name, estimate)
        low, high = estimate.interval(confidence)
        covered = float(((low <= gold.mean()) & (gold.mean() <= high)).mean())
        slack = 4 * np.sqrt(confidence * (1 - confidence) / draws)
        least = confidence - slack - (0.1 if bound.kind == "approximate" else 0.0)
        _say(covered >= least, f"{name}: covers {covered:.1%}, not {confidence:.0%}, at n = {n}.")
    ends = [*estimate.interval(0.95), estimate.interval(0.95, Student()).low]
    _say(~np.isnan(ends), f"{name}: an end of the interval is not a number.")
