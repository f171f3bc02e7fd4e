"""Scores of batches, their intervals and the alarm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.chosen import read_labelled
from fewgold.errors import DataError, DesignError, UnknownNameError
from fewgold.estimators import Mean
from fewgold.labels import estimate_mean
from fewgold.monitoring import (
    FalseAlarms,
    batch_labels,
    from_labelled,
    from_ratings,
    monitor,
    next_batch,
)
from fewgold.monitoring.detector import log_evidence
from fewgold.samplers import SimpleRandom


def stream(weeks: int = 12, drop: int = 99, rated: int = 40, seed: int = 1) -> pd.DataFrame:
    """Weeks of 200 answers, worse from week ``drop`` on."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"week": np.repeat(np.arange(1, weeks + 1), 200)})
    good = rng.random(len(frame)) < np.where(frame["week"] >= drop, 0.6, 0.9)
    frame["judge"] = np.where(rng.random(len(frame)) < 0.9, good, ~good).astype(float)
    chosen = np.concatenate([rng.permutation(200) < rated for _ in range(weeks)])
    frame["passed"] = np.where(chosen, good.astype(float), np.nan)
    return frame


def batches(frame: pd.DataFrame, **options: Any) -> Any:
    found = read_labelled(frame, human="passed", metrics=options.pop("metrics", ["judge"]),
                          other=["week"], chosen=options.pop("chosen", "random"))  # fmt: skip
    return from_labelled(found, "week", **options)


def test_without_metrics_each_batch_has_the_mean_of_its_ratings() -> None:
    frame = stream()
    found = monitor(batches(frame, metrics=[])).to_frame()
    assert found["value"].tolist() == pytest.approx(frame.groupby("week")["passed"].mean().tolist())
    one = estimate_mean(frame[frame["week"] == 3].drop(columns=["judge", "week"]), human="passed",
                        estimator=Mean())  # fmt: skip
    assert found["se"][2] == pytest.approx(float(one.se))
    assert found["n"].tolist() == [40] * 12 and found["size"].tolist() == [200] * 12


def test_the_judge_is_used_as_it_was_in_the_batches_before() -> None:
    frame = stream()
    found = monitor(batches(frame)).to_frame()
    plain = monitor(batches(frame, metrics=[])).to_frame()
    assert found["se"][1:].mean() < 0.9 * plain["se"][1:].mean()
    later = frame.copy()
    later.loc[later["week"] > 6, "passed"] = 1 - later["passed"]
    again = monitor(batches(later)).to_frame()
    pd.testing.assert_frame_equal(found[["value", "se"]][:6], again[["value", "se"]][:6])


def test_a_drop_is_found_with_every_reference_and_no_drop_is_not() -> None:
    for options in (
        {}, {"baseline": 4}, {"target": 0.86}, {"method": "approximate", "baseline": 4},
        {"method": "guaranteed", "target": 0.86}, {"estimator": Mean()},
        {"false_alarms": FalseAlarms(average_run=200), "baseline": ["1", "2", "3"]},
    ):  # fmt: skip
        found = monitor(batches(stream(drop=8)), drop=0.2, **options)  # type: ignore[arg-type]
        assert found.alarm is not None and found.alarm.began in ("7", "8", "9"), options
        assert int(found.alarm.batch) >= 8
        good = monitor(batches(stream(seed=5)), drop=0.2, **options)  # type: ignore[arg-type]
        if options != {"target": 0.86}:
            assert good.alarm is None, options
    assert monitor(batches(stream(drop=8))).alarm is None  # none was asked for


def test_direction() -> None:
    frame = stream(drop=8)
    frame["passed"] = 1 - frame["passed"]
    found = monitor(batches(frame), drop=0.2, higher_is_better=False)
    assert found.alarm is not None and int(found.alarm.batch) >= 8
    assert monitor(batches(frame), drop=0.2).alarm is None
    mirrored = monitor(batches(stream(drop=8)), drop=0.2)
    assert found.table["evidence"][1:] == pytest.approx(mirrored.table["evidence"][1:], rel=1e-6)


def test_intervals_nest_and_lie_on_the_scale() -> None:
    for method in ("approximate", "guaranteed"):
        frame = monitor(batches(stream()), method=method, baseline=4).to_frame()
        inner, outer = frame["high"] - frame["low"], frame["high_all"] - frame["low_all"]
        assert (outer > inner).all()
        assert frame["low_all"].min() >= 0 and frame["high_all"].max() <= 1
        assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"])).mean() > 0.8
        assert (frame["running_low"] < frame["running"]).all()


@pytest.mark.parametrize("metrics", [[], ["judge"]])
def test_perfect_ratings_do_not_make_scores_certain(metrics: list[str]) -> None:
    frame = stream()
    frame["judge"] = np.random.default_rng(2).random(len(frame))
    frame["passed"] = frame["passed"].where(frame["passed"].isna(), 1.0)
    found = monitor(batches(frame, metrics=metrics)).to_frame()
    # 40 of 200 are rated: were 13 of them bad, all ratings would be good with a chance of 4.4 %,
    # and were 17 bad, of 1.7 %.
    assert (
        found["low"].between(1 - 17 / 200, 1 - 13 / 200).all() and (found["high"] > 1 - 1e-9).all()
    )
    assert (found["low_all"] < 1 - 26 / 200).all()


def test_rare_bad_scores_that_a_batch_missed_widen_its_interval() -> None:
    frame = stream().drop(columns="judge")
    rng = np.random.default_rng(5)
    errors = np.where(rng.random(len(frame)) < 0.1, 20.0, 0.0) + rng.random(len(frame))
    lucky = (frame["week"] == 8) & frame["passed"].notna()
    errors[lucky] %= 1
    frame["passed"] = np.where(frame["passed"].notna(), errors, np.nan)
    found = monitor(batches(frame, metrics=[], limits=(0, 25)), higher_is_better=False).to_frame()
    width = (found["high"] - found["low"]).to_numpy()
    others = np.delete(width, 7)
    assert width[7] > 0.5 * np.median(others) and found["se"][7] < 0.1 * found["se"].median()
    one = found.iloc[7]
    assert one["low"] <= one["value"] <= one["high"]


def test_what_is_promised_is_said() -> None:
    told = {
        (): ("approximate", "never gets worse"),
        (("target", 0.8),): ("guaranteed", "guaranteed by betting"),
        (("baseline", 4),): ("approximate", "system is never worse than in the baseline"),
        (("baseline", 4), ("method", "guaranteed")): ("guaranteed", "guaranteed by betting"),
        (("target", 0.8), ("method", "approximate")): ("approximate", "about normal"),
    }
    for options, (kind, words) in told.items():
        found = monitor(batches(stream()), drop=0.2, **dict(options))  # type: ignore[arg-type]
        assert found.kind == kind and words in found.promise and "0.05" in found.promise


def test_gaps_in_time_and_few_ratings() -> None:
    frame = stream(drop=8)
    frame.loc[frame["week"] == 5, "passed"] = np.nan
    some = frame["week"] == 6
    first = frame.index[some & frame["passed"].notna()][0]
    frame.loc[some & (frame.index != first), "passed"] = np.nan
    for baseline in ("before", 4):
        found = monitor(batches(frame), drop=0.2, baseline=baseline)
        table = found.to_frame()
        assert math.isnan(table["value"][4]) and table["n"][4] == 0
        assert np.isfinite(table["value"][5]) and table["n"][5] == 1
        assert found.alarm is not None
        assert any("without ratings" in note for note in found.notes)


def test_everything_rated_leaves_nothing_open() -> None:
    frame = stream(rated=200, drop=8)
    found = monitor(batches(frame), drop=0.2)
    table = found.to_frame()
    truth = frame.groupby("week")["passed"].mean().tolist()
    assert table["value"].tolist() == pytest.approx(truth)
    assert table["low_all"].tolist() == pytest.approx(truth)
    assert found.alarm is not None and found.alarm.batch == "8"


def test_other_designs() -> None:
    frame = stream(drop=8)
    frame["lang"] = np.where(np.arange(len(frame)) % 3 == 0, "de", "fr")
    strata = read_labelled(frame, human="passed", metrics=["judge"], chosen="strata:lang",
                           other=["week"])  # fmt: skip
    found = monitor(from_labelled(strata, "week"), drop=0.2)
    assert found.kind == "approximate" and found.alarm is not None
    with pytest.raises(DesignError, match="simple random sample of each batch"):
        monitor(from_labelled(strata, "week"), drop=0.2, target=0.8, method="guaranteed")


def test_one_sample_with_batches() -> None:
    frame = stream(weeks=4, rated=200)
    from fewgold import Pool

    pool = Pool(np.arange(len(frame)), {"judge": frame["judge"].to_numpy()})
    scores = frame["passed"].to_numpy()
    sample = SimpleRandom().draw(pool, 200, rng=1)
    ratings = sample.rate(scores[sample.indices], limits=(0, 1))
    found = monitor(from_ratings(ratings, frame["week"].to_numpy(), name="week"), drop=0.2)
    assert sum(found.table["n"]) == 200 and found.by == "week"
    with pytest.raises(DataError, match="needs its batch"):
        from_ratings(ratings, [1, 2])


def test_labels_of_batches() -> None:
    days = ["2026-01-31", "2026-02-01", "2026-02-02"]
    assert batch_labels(days, "month")[1] == ["2026-01", "2026-02"]
    assert batch_labels(days, "week")[1] == ["2026-W05", "2026-W06"]
    assert batch_labels(pd.to_datetime(days).to_numpy())[1][0].startswith("2026-01-31")
    assert batch_labels(["b", "a", "b"])[1] == ["b", "a"]
    with pytest.raises(DataError, match="must hold dates"):
        batch_labels(["soon"], "week")
    with pytest.raises(DataError, match="empty in 1 row,"):
        batch_labels(["a", None])


def test_budget_of_the_next_batch() -> None:
    found = monitor(batches(stream()), drop=0.2)
    made = next_batch(found, 200, budget=700, batches=16)
    assert (made.left, made.batches, made.suspicious) == (700 - 480, 4, False)
    assert made.ratings == 55 and 0 < made.se < 0.1
    worse = next_batch(monitor(batches(stream(drop=11)), drop=0.2), 200, budget=700, batches=16)
    assert worse.suspicious and worse.ratings == 88
    with pytest.raises(DataError, match="nothing is left"):
        next_batch(found, 200, budget=400, batches=16)


def test_a_result_shows_itself() -> None:
    found = monitor(batches(stream(drop=8)), drop=0.2)
    assert repr(found).startswith("Monitoring(12 batches by week, alarm at ")
    assert found.verdict in found.summary() and found.signature() in found.page()
    assert found["3"]["n"] == 40
    with pytest.raises(UnknownNameError):
        found["13"]
    told = found.to_dict()
    assert told["alarm"]["batch"] == found.alarm.batch  # type: ignore[union-attr]
    assert len(told["batches"]) == 12 and "<table" in found._repr_html_()
    assert len(found.plot().lines) >= 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"drop": 0}, "above 0"),
        ({"baseline": 0}, "at least 1"),
        ({"baseline": ["20"]}, "20"),
        ({"drop": 0.1, "method": "guaranteed"}, "give a target"),
        ({"method": "sure"}, "must be one of"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], sentence: str) -> None:
    from fewgold.errors import FewgoldError

    with pytest.raises(FewgoldError, match=sentence):
        monitor(batches(stream()), **options)


def test_evidence_stays_a_number_after_the_planned_looks() -> None:
    """Batches that are rated as a whole differ for certain, also at beginnings without weight."""
    frame = pd.DataFrame({"week": np.repeat(np.arange(1, 13), 6)})
    frame["passed"] = np.where(frame["week"] > 8, 3.0, 4.0)
    found = monitor(batches(frame, metrics=[]), drop=0.5, false_alarms=FalseAlarms(looks=4))
    assert found.to_frame()["evidence"][1:].notna().all()
    assert found.alarm is not None and found.alarm.batch in ("9", "10")
    parts = np.concatenate([np.full(6, -np.inf), np.full(6, np.inf)])
    assert log_evidence(parts, FalseAlarms(looks=4).weights(12))[-1] == -np.inf


def test_an_alarm_is_refused_for_batches_of_one_or_two_ratings() -> None:
    """Their scores are not normal: batches of a single segment raised a false alarm each time."""
    frame = stream()
    few = frame.groupby("week").cumcount() < 2
    frame["passed"] = np.where(few, frame["judge"], np.nan)
    made = batches(frame)
    with pytest.raises(DataError, match="needs about 5 ratings per batch or more"):
        monitor(made, drop=0.2)
    assert monitor(made).alarm is None
    assert monitor(made, drop=0.2, target=0.5).bets


def test_targets_and_drops_lie_on_the_scale() -> None:
    made = batches(stream())
    with pytest.raises(DataError, match="target must lie on the scale of the scores, from 0 to 1"):
        monitor(made, drop=0.1, target=85)
    with pytest.raises(DataError, match="drop must be smaller than the scale"):
        monitor(made, drop=10)


def test_a_baseline_of_all_batches_says_that_nothing_was_compared() -> None:
    found = monitor(batches(stream(weeks=4)), drop=0.2, baseline=4)
    assert found.verdict == "No alarm yet: no batch with ratings comes after the first ones."
    frame = stream()
    frame.loc[frame["week"] == 5, "passed"] = np.nan
    notes = monitor(batches(frame), drop=0.2).notes
    assert "1 batch without ratings has no score" in notes
