"""Where a variance is nothing, nearly nothing, or unknown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fewgold.comparison import compare, joint_pool
from fewgold.comparison.raters import adjusted_spread
from fewgold.comparison.table import Scored
from fewgold.errors import DataError


def _frame(scores: np.ndarray) -> pd.DataFrame:
    """A row an output of an array (systems, segments), NaN where nobody rated."""
    systems, size = scores.shape
    return pd.DataFrame(
        {
            "segment": np.tile([f"s{k:04d}" for k in range(size)], systems),
            "system": np.repeat([f"sys{k}" for k in range(systems)], size),
            "score": scores.ravel(),
        }
    )


def _compare(scores: np.ndarray, **options):
    return compare(
        _frame(scores),
        human="score",
        system="system",
        id="segment",
        higher_is_better=True,
        **options,
    )


def test_rounding_is_no_difference():
    base = np.tile([0.1, 0.2, 0.3, 0.7], 15)
    found = _compare(np.stack([base, base[::-1], np.roll(base, 1)]), target="pool")
    assert not found.differences()["significant"].any()
    assert (found.ranking()["group"] == 1).all()


def test_one_system_without_spread():
    """200 of 200 against 98 of 200 on other segments: the error is that of both."""
    rng = np.random.default_rng(1)
    scores = np.full((2, 1000), np.nan)
    scores[0, :200] = 1
    scores[1, 200:400] = rng.random(200) < 0.5
    unknown = _compare(scores)
    row = unknown.differences().iloc[0]
    assert row["p"] == 1 and np.isinf(row["high"])
    assert unknown.ranking()["p_best"].tolist() == pytest.approx([0.5, 0.5], abs=0.02)
    known = _compare(scores, limits=(0, 1))
    row = known.differences().iloc[0]
    alone = known.scores().set_index("system").loc["sys1"]
    assert row["high"] - row["low"] > alone["high"] - alone["low"]
    assert row["significant"] and row["low"] < 1 - scores[1, 200:400].mean() < row["high"]


def test_nearly_a_census_is_nearly_certain_and_no_more():
    rng = np.random.default_rng(4)
    ratio, covered = [], []
    for _ in range(150):
        scores = rng.normal(size=(2, 50))
        truth = scores[0].mean() - scores[1].mean()
        scores[0, 0] = scores[1, 1] = np.nan
        row = _compare(scores, target="pool").differences().iloc[0]
        sign = 1 if row["first"] == "sys0" else -1
        covered.append(row["low"] <= sign * truth <= row["high"])
        ratio.append((row["se"] ** 2, (row["difference"] - sign * truth) ** 2))
    claimed, true = np.mean(ratio, axis=0)
    assert claimed == pytest.approx(true, rel=0.35)
    assert np.mean(covered) > 0.88


def test_spread_of_adjusted_means_is_the_jackknife():
    rng = np.random.default_rng(2)
    segment = np.tile(np.arange(40), 2)
    system = np.repeat([0, 1], 40)
    rater = rng.integers(0, 2, 80)
    score = rng.normal(size=80) + rater
    rated = Scored(segment, system, rater, score, ("ann", "bob"))
    documents = np.arange(40) // 4
    found = adjusted_spread(rated, documents, 2)
    assert found.shape == (2, 2)
    assert found[0, 0] == 0 and found[0, 1] == pytest.approx(found[1, 0])
    # Ratings are independent here, so that the variance is about that of two means of 40.
    assert 0.3 < found[0, 1] / (2 / 40) < 3.0


def test_no_segment_for_two_systems():
    frame = _frame(np.ones((2, 10)))
    frame["segment"] += frame["system"]
    with pytest.raises(DataError, match="no segment occurs for two systems"):
        joint_pool(frame, id="segment", system="system")


def test_a_slip_of_the_pen_does_not_turn_the_ranking_round():
    rng = np.random.default_rng(3)
    quality = rng.normal(size=(2, 60)) + np.array([[1.0], [0.0]])
    frame = _frame(np.abs(2 - quality + 0.5 * rng.normal(size=(2, 60))))  # errors: lower is better
    frame["comet"] = quality.ravel()
    frame.loc[3, "score"] = 250.0
    found = compare(frame, human="score", system="system", id="segment", metrics=["comet"])
    assert not found.higher_is_better
