"""Incremental sampling against a slow second implementation."""

from __future__ import annotations

import numpy as np
import pytest

from fewgold import Pool, registry
from fewgold.common.neighbours import Neighbours
from fewgold.samplers import Incremental
from reference.incremental import next_strata


def make_pool(size: int = 40, documents: int = 7) -> tuple[Pool, np.ndarray]:
    rng = np.random.default_rng(5)
    label = np.sort(np.r_[np.arange(documents), rng.integers(0, documents, size - documents)])
    gold = rng.gamma(0.6, 5.0, size) + rng.gamma(0.5, 3.0, documents)[label]
    metrics = {"comet": -gold + rng.normal(0, 4, size), "own": rng.normal(size=size)}
    return Pool(np.array([f"s{i}" for i in range(size)]), metrics, label), gold


POOL, GOLD = make_pool()


@pytest.mark.parametrize("measure", ["sd", "variance"])
@pytest.mark.parametrize("spread", ["human", "metrics"])
def test_each_rating_goes_where_eq_2_says(spread: str, measure: str) -> None:
    sampler = Incremental(spread, k=4, measure=measure)
    draws = 3
    ratings = sampler._replay(
        *(POOL, lambda s: GOLD[s.indices], [1] * 30), draws=draws, rng=np.random.default_rng(1)
    )
    codes, points = POOL.codes.tolist(), POOL.standardised().T
    for draw in range(draws):
        rows = ratings.sample.indices[draw].tolist()
        assert len(set(rows)) == 30
        for t, row in enumerate(rows):
            scores = GOLD[rows[:t]].tolist()
            allowed = next_strata(
                codes, rows[:t], scores, spread=spread, measure=measure, k=4, metrics=points
            )
            assert codes[row] in allowed, f"rating {t + 1}"


def test_variance_is_another_allocation() -> None:
    def rows(measure: str) -> list[list[int]]:
        return (
            Incremental(measure=measure)
            ._replay(
                POOL, lambda s: GOLD[s.indices], [1] * 20, draws=4, rng=np.random.default_rng(1)
            )
            .sample.indices.tolist()
        )

    assert rows("sd") != rows("variance")


def test_names() -> None:
    for name in ("docs-incr-human", "docs-incr-metrics"):
        assert registry.sampler(name).name == name
        assert registry.sampler(f"{name}-printed").name == f"{name}-printed"
        assert registry.sampler(f"{name}-printed").measure == "variance"
    with pytest.raises(ValueError, match="measure"):
        Incremental(measure="range")


def test_neighbours_are_the_nearest() -> None:
    rng = np.random.default_rng(2)
    points, k, draws = rng.normal(size=(3, 25)), 4, 2
    model = Neighbours(points, k, draws)
    rows = np.stack([rng.permutation(25)[:12] for _ in range(draws)])
    scores = rng.normal(size=(draws, 12))
    for t in range(12):
        model.add(rows[:, t], scores[:, t])
        for draw in range(draws):
            for i in range(25):
                away = ((points[:, rows[draw, : t + 1]] - points[:, [i]]) ** 2).sum(0)
                near = np.argsort(away, kind="stable")[:k]
                assert model.predictions()[draw, i] == pytest.approx(scores[draw, near].mean())


def test_few_ratings_tell_nothing_of_the_spread() -> None:
    """With no more ratings than neighbours all predictions are equal, up to rounding errors.

    The documents must then get their proportional shares, and not what the rounding errors say.
    """
    rng = np.random.default_rng(3)
    label = np.repeat(np.arange(10), 30)
    gold = rng.gamma(0.6, 5.0, 300) / 3
    pool = Pool(np.array([f"s{i}" for i in range(300)]), {"comet": rng.normal(size=300)}, label)
    ratings = Incremental("metrics")._replay(
        pool, lambda s: gold[s.indices], [1] * 20, draws=50, rng=np.random.default_rng(1)
    )
    taken = np.apply_along_axis(np.bincount, -1, pool.codes[ratings.sample.indices], minlength=10)
    assert (taken == 2).all()


@pytest.mark.parametrize("spread", ["human", "metrics"])
def test_ratings_that_are_still_to_come_count_as_taken_only(spread: str) -> None:
    """The next one goes where eq. 2 says by the known scores, with the open ones in the counts."""
    sampler, rng = Incremental(spread, k=4), np.random.default_rng(8)
    start = sampler.draw(POOL, 12, rng=1)
    codes, points = POOL.codes.tolist(), POOL.standardised().T
    for seed in range(40):
        scores = np.where(rng.random(12) < 0.4, np.nan, GOLD[start.indices])
        known = ~np.isnan(scores)
        further = sampler.draw_meanwhile(start, scores, rng=seed)
        (row,) = further.indices.tolist()
        assert row not in set(start.indices.tolist())
        rows = start.indices[known].tolist() + start.indices[~known].tolist()
        allowed = next_strata(
            codes, rows, scores[known].tolist(), spread=spread, measure="sd", k=4, metrics=points
        )
        assert codes[row] in allowed
        whole = further.rate(np.zeros(1)).sample
        assert whole.indices.tolist() == [*start.indices.tolist(), row]
        strata = whole.design.strata
        assert strata is not None and strata.tolist() == POOL.codes[whole.indices].tolist()


def test_all_known_is_a_top_up() -> None:
    sampler = Incremental()
    start = sampler.draw(POOL, 10, rng=1)
    scores = GOLD[start.indices]
    one = sampler.draw(POOL, 3, given=start.rate(scores), rng=5)
    other = sampler.draw_meanwhile(start, scores, 3, rng=5)
    assert one.indices.tolist() == other.indices.tolist()
    assert one.info == other.info
