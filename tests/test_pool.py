"""A pool: what it makes of its metrics, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from fewgold import Pool
from fewgold.errors import DataError

N = 50


def columns() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    first = rng.normal(5.0, 3.0, N)
    return first, -2.0 * first + rng.normal(size=N)


def test_standardised_metrics_have_mean_0_and_standard_deviation_1_over_the_pool() -> None:
    first, second = columns()
    pool = Pool(np.arange(N), {"first": first, "second": second})
    for z in (pool.standardised(), pool.standardised(["second"]), pool._standard_composite()):
        np.testing.assert_allclose(z.mean(-1), 0.0, atol=1e-12)
        np.testing.assert_allclose(np.square(z).sum(-1) / N, 1.0)
    np.testing.assert_allclose(np.diag(pool._gram()), 1.0)


@pytest.mark.parametrize("orientation", [{"first": 1}, {"first": -1}, {}])
def test_a_metric_of_unknown_orientation_is_turned_as_it_correlates(
    orientation: dict[str, int],
) -> None:
    first, second = columns()
    pool = Pool(np.arange(N), {"first": first, "second": second}, orientation=orientation)
    z = pool.standardised()
    both = (z[0] - z[1]) / 2  # the two point in opposite directions
    sign = orientation.get("first", np.sign(pool.composite() @ both))
    np.testing.assert_allclose(pool.composite(), sign * both)


def test_the_fingerprint_sees_every_part() -> None:
    first, second = columns()
    parts = {
        "ids": np.arange(N),
        "metrics": {"first": first},
        "documents": np.arange(N) // 5,
        "cost": np.full(N, 2.0),
    }
    other = {
        "ids": np.arange(N)[::-1],
        "metrics": {"first": second},
        "documents": np.arange(N) // 2,
        "cost": np.full(N, 3.0),
    }
    prints = [Pool(**parts).fingerprint]  # type: ignore[arg-type]
    for name, value in other.items():
        prints.append(Pool(**{**parts, name: value}).fingerprint)  # type: ignore[arg-type]
    assert len(set(prints)) == len(prints)
    assert Pool(**parts).fingerprint == prints[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_a_rating_costs_more_than_nothing(bad: float) -> None:
    cost = np.ones(N)
    cost[7] = bad
    with pytest.raises(DataError, match=r"above 0 for every segment; not so for 1, first \[7\]"):
        Pool(np.arange(N), cost=cost)
