"""Delays, ratings for a delay, and budgets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fewgold.errors import DataError
from fewgold.monitoring import FalseAlarms, delays, ratings_for_delay, share_budget


def test_more_ratings_and_larger_drops_are_seen_earlier() -> None:
    for baseline in ("before", 4, 0):
        found = delays(0.4, [0.1, 0.3], [25, 100], size=500, baseline=baseline, draws=150)
        middle = found.quantile(0.5)
        assert (middle[1] <= middle[0]).all() and (middle[:, 1] <= middle[:, 0]).all()
        frame = found.to_frame()
        assert frame["false"].max() <= 0.05
        assert len(found.summary().splitlines()) == 7
        assert len(found.to_dict()["delays"]) == 4
        assert len(found.plot().lines) == 2


def test_a_delay_is_what_the_growth_of_evidence_says() -> None:
    """Against a target, evidence grows by about δ²/2σ² a batch until log(K/α)."""
    alarms = FalseAlarms(0.05, looks=100)
    found = delays(1.0, 0.25, 100, baseline=0, false_alarms=alarms, draws=600)
    growth = 0.25**2 / (2 / 100)
    assert found.mean[0, 0] == pytest.approx(math.log(100 / 0.05) / growth, abs=1.0)


def test_fewest_ratings_for_a_delay() -> None:
    n = ratings_for_delay(0.4, 0.1, 5, size=500, draws=150)
    assert n is not None
    late = delays(0.4, 0.1, [n - 5, n], size=500, draws=150).mean[:, 0]
    assert late[1] <= 5 < late[0]
    assert ratings_for_delay(1.0, 1e-4, 2, draws=20) is None


def test_budget_by_trying_everything() -> None:
    sds, sizes = np.array([0.5, 1.0, 2.0]), np.array([12, 20, 15])
    for budget in (9, 20, 40):
        best = {"each": (math.inf, (0,)), "all": (math.inf, (0,))}
        for n in itertools.product(*(range(2, size + 1) for size in sizes)):
            if sum(n) != budget:
                continue
            v = sds**2 * (1 / np.array(n) - 1 / sizes)
            for goal, loss in (("each", v.max()), ("all", float((sizes**2) @ v))):
                best[goal] = min(best[goal], (loss, n))
        for goal in ("each", "all"):
            found = share_budget(sds, sizes, budget, goal=goal)
            assert found.sum() == budget
            v = sds**2 * (1 / found - 1 / sizes)
            loss = v.max() if goal == "each" else float((sizes**2) @ v)
            assert loss <= best[goal][0] * 1.25 + 1e-12
    assert share_budget(sds, sizes, 100).tolist() == sizes.tolist()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: delays(0.0, 0.1), "standard deviation"),
        (lambda: delays(1.0, -0.1), "drops must be"),
        (lambda: delays(1.0, 0.1, 1), "at least 2"),
        (lambda: delays(1.0, 0.1, 50, size=20), "at most 20"),
        (lambda: delays(1.0, 0.1, baseline="first"), "'before'"),
        (lambda: ratings_for_delay(1.0, 0.1, 0.5), "at least 1"),
        (lambda: share_budget([1.0], [10, 10], 5), "each batch needs"),
        (lambda: share_budget([1.0, 1.0], [10, 10], 3), "fewer than 2"),
        (lambda: share_budget([math.nan, 1.0], [10, 10], 9), "must be numbers"),
    ],
)
def test_what_cannot_be_is_refused(call, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match=sentence):
        call()
