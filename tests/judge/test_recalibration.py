"""Scores turned into probabilities: scikit-learn's curves, and whether they help on other data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from fewgold.errors import DataError, UnknownNameError
from fewgold.judge import Assessment, assess_table
from fewgold.judge.recalibration import curve_of, left_out

N, RATED = 4000, 300


def table(seed: int = 1, power: float = 3.0) -> pd.DataFrame:
    """An overconfident judge, and the truth."""
    rng = np.random.default_rng(seed)
    chance = rng.random(N)
    truth = (rng.random(N) < chance) * 1.0
    stated = 1 / (1 + ((1 - chance) / chance) ** power)
    human = np.where(np.arange(N) < RATED, truth, np.nan)
    return pd.DataFrame({"stated": stated, "score": 40 * stated - 7, "human": human,
                         "truth": truth, "chance": chance})  # fmt: skip


def assessed(frame: pd.DataFrame, judges: Any = "stated", **options: Any) -> Assessment:
    return assess_table(frame, human="human", judges=judges, **options)


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
def test_the_whole_pool_gets_better(method: str) -> None:
    frame = table()
    found = assessed(frame).calibrated(method=method)
    rest = np.arange(N) >= RATED
    before = ((frame["stated"] - frame["chance"]) ** 2)[rest].mean()
    after = ((found.values - frame["chance"]) ** 2)[rest].mean()
    assert after < 0.5 * before
    assert found.brier[0] is not None and found.brier[1] < found.brier[0]
    # What is said of the new column is near the truth: the fit did not see what it is tried on.
    true = float(((found.values - frame["truth"]) ** 2)[rest].mean())
    assert found.brier[1] == pytest.approx(true, abs=4 * 0.25 / np.sqrt(RATED))
    order = np.argsort(frame["stated"].to_numpy())
    assert (np.diff(found.values[order]) >= -1e-12).all()
    json.dumps(found.to_dict(), allow_nan=False)


def test_curves_are_those_of_sklearn() -> None:
    frame = table()[:RATED]
    x, y = frame["score"].to_numpy(), frame["truth"].to_numpy()
    weights = np.random.default_rng(2).dirichlet(np.full(RATED, 5.0))
    new = np.linspace(-10, 40, 50)
    least = 1 / (RATED + 2)
    steps = IsotonicRegression(out_of_bounds="clip").fit(x, y, sample_weight=weights)
    expected = np.clip(steps.predict(new), least, 1 - least)
    assert curve_of("isotonic", x, y, weights)(new) == pytest.approx(expected)
    z = (x - x.mean()) / x.std()
    line = LogisticRegression(C=1.0).fit(z[:, None], y, sample_weight=weights * RATED)
    expected = line.predict_proba(((new - x.mean()) / x.std())[:, None])[:, 1]
    expected = np.clip(expected, least, 1 - least)
    assert curve_of("logistic", x, y, weights)(new) == pytest.approx(expected)


def test_a_judge_that_knows_nothing_gains_nothing() -> None:
    """Left out of the fit, so that a curve through noise does not look good."""
    rng = np.random.default_rng(5)
    noise, human = rng.random(200), (rng.random(200) < 0.5) * 1.0
    for method in ("logistic", "isotonic"):
        p = left_out(method, noise, human, np.full(200, 1 / 200), np.arange(200))
        assert ((p - human) ** 2).mean() > 0.245
    in_sample = curve_of("isotonic", noise, human, np.full(200, 1 / 200))(noise)
    assert ((in_sample - human) ** 2).mean() < 0.245


def test_documents_stay_together() -> None:
    """Copies within a document: leaving single rows out would let the curve see the answer."""
    rng = np.random.default_rng(6)
    noise, human = rng.random(40), (rng.random(40) < 0.5) * 1.0
    many = [np.repeat(a, 8) for a in (noise, human, np.arange(40))]
    weights = np.full(320, 1 / 320)
    apart = left_out("isotonic", many[0], many[1], weights, np.arange(320))
    together = left_out("isotonic", many[0], many[1], weights, many[2])
    assert ((together - many[1]) ** 2).mean() > ((apart - many[1]) ** 2).mean() + 0.01


def test_scores_gaps_and_verdicts() -> None:
    frame = table()
    frame.loc[[3, 500], "score"] = np.nan
    frame["verdict"] = np.where(frame["stated"] > 0.5, "pass", "fail")
    found = assessed(frame, ["score", "verdict"])
    scores = found.calibrated("score")
    assert np.isnan(scores.values[[3, 500]]).all() and np.isfinite(scores.values).sum() == N - 2
    assert scores.brier[0] is None and "as a probability" in scores.summary()
    verdict = found.calibrated("verdict")
    rated = frame[:RATED].groupby("verdict")["truth"].mean()
    assert np.unique(verdict.values) == pytest.approx(rated.sort_values(), abs=0.03)


def test_a_good_probability_is_left_alone() -> None:
    frame = table(power=1.0)
    found = assessed(frame).calibrated(method="isotonic")
    assert "keep stated" in found.summary()


def test_sentences() -> None:
    frame = table()
    with pytest.raises(UnknownNameError, match="calibration 'magic'"):
        assessed(frame).calibrated(method="magic")
    few = frame.assign(human=np.where(np.arange(N) < 60, np.arange(N) > 2, np.nan).astype(float))
    few.loc[60:, "human"] = np.nan
    with pytest.raises(DataError, match="only 3 rated segments of the rarer kind"):
        assessed(few).calibrated()
    with pytest.raises(DataError, match="human verdicts of good or bad"):
        assessed(frame.assign(human=frame["human"] * 3)).calibrated()
