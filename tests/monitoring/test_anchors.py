"""Drift of a judge on an anchor set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fewgold.errors import DataError, UnknownNameError
from fewgold.monitoring import FalseAlarms, judge_drift
from fewgold.monitoring.anchors import sign_p_value
from reference import monitoring as slow


def _runs(weeks: int = 6, items: int = 50, changed: int = 99, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.8
    rows = []
    for week in range(1, weeks + 1):
        wrong = rng.random(items) < (0.1 if week < changed else 0.4)
        rows.append(pd.DataFrame({
            "item": np.arange(items), "week": week, "judge": (truth != wrong).astype(int),
            "score": truth + rng.normal(0, 0.2, items) - (0.5 if week >= changed else 0),
            "people": truth.astype(int),
        }))  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def test_p_values_are_exact_or_safe() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        signs = rng.choice([-1.0, 0.0, 1.0], 11)
        assert sign_p_value(signs) == pytest.approx(slow.sign_test(signs.tolist()))
        mixed = rng.normal(0.5, 1, 10)
        assert sign_p_value(mixed) >= slow.sign_test(mixed.tolist()) - 1e-12
    assert sign_p_value(np.zeros(5)) == 1


def test_a_judge_that_changed_is_found_and_one_that_did_not_is_left_alone() -> None:
    same = judge_drift(_runs(), item="item", batch="week", judges=["judge", "score"])
    assert same.alarms == () and "No evidence that a judge has drifted" in same.verdict
    moved = judge_drift(
        _runs(changed=4), item="item", batch="week", judges=["judge", "score"], human="people"
    )
    assert ("score", "4") in moved.alarms and ("|judge − people|", "6") in moved.alarms
    assert not any(batch in ("2", "3") for _, batch in moved.alarms)
    frame = moved.to_frame()
    assert (frame["low"] <= frame["change"]).all() and (frame["change"] <= frame["high"]).all()
    assert "has drifted" in moved.verdict and "ALARM" in moved.summary()
    assert moved.to_dict()["alarms"] and repr(moved).startswith("Drift(20 comparisons")


def test_the_rate_is_spent_over_the_looks() -> None:
    table = _runs()
    level = judge_drift(table, item="item", batch="week", judges="judge").to_frame()["level"]
    assert level.sum() <= 0.05 and level.iloc[0] == pytest.approx(0.05 / 200)
    ever = FalseAlarms(0.05, looks=None)
    level = judge_drift(
        table, item="item", batch="week", judges="judge", false_alarms=ever
    ).to_frame()["level"]
    assert level.iloc[0] == pytest.approx(0.025) and level.sum() < 0.05
    both = judge_drift(
        table, item="item", batch="week", judges=["judge", "score"], human="people",
        false_alarms=FalseAlarms(0.05, looks=5),
    ).to_frame()  # fmt: skip
    assert both.groupby(both["judge"].str.contains("score"))["level"].sum().tolist() == [
        pytest.approx(0.05), pytest.approx(0.05)
    ]  # fmt: skip


def test_more_looks_than_planned_do_not_add_false_alarms() -> None:
    """Looks that were made before keep their levels, so nothing is left for later ones."""
    found = judge_drift(
        _runs(changed=3), item="item", batch="week", judges="score",
        false_alarms=FalseAlarms(0.05, looks=3),
    )  # fmt: skip
    level = found.to_frame()["level"].tolist()
    assert level == [pytest.approx(0.05 / 3)] * 3 + [0, 0]
    assert found.alarms == (("score", "3"), ("score", "4"))
    assert found.verdict.endswith("first 3 looks were planned: later batches raise no alarm.")


def test_false_alarms_of_an_unchanged_judge() -> None:
    rate = FalseAlarms(0.2, looks=5)
    wrong = sum(
        bool(judge_drift(_runs(seed=s), item="item", batch="week", judges="judge",
                         false_alarms=rate).alarms)
        for s in range(60)
    )  # fmt: skip
    assert wrong / 60 <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 60)


def test_bad_anchor_sets_are_refused() -> None:
    table = _runs()
    with pytest.raises(UnknownNameError):
        judge_drift(table, item="item", batch="week", judges="jugde")
    with pytest.raises(DataError, match="occurs twice"):
        judge_drift(pd.concat([table, table.head(1)]), item="item", batch="week", judges="judge")
    with pytest.raises(DataError, match="two batches"):
        judge_drift(table[table["week"] == 1], item="item", batch="week", judges="judge")
    with pytest.raises(DataError, match="at least 5"):
        judge_drift(
            table[(table["week"] == 1) | (table["item"] < 3)], item="item", batch="week",
            judges="judge",
        )  # fmt: skip
