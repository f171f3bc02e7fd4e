"""Recalibrate a judge's score as a probability: Platt scaling or isotonic regression.

Both use scikit-learn. With a few hundred ratings the logistic curve of Platt (1999) usually wins;
isotonic regression (Zadrozny and Elkan 2002) fits any rising curve, and needs more ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.common.text import counted, fixed
from fewgold.errors import DataError, UnknownNameError
from fewgold.judge.measures import MeasuredValue

METHODS = ("logistic", "isotonic")
_FEWEST = 5  # of the rarer kind
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Recalibration:
    """A judge's score converted to a probability, and whether that helped.

    Parameters
    ----------
    judge, method
        Name of the judge; ``logistic`` or ``isotonic``.
    values
        (N,) probability that people find each segment of the pool good; NaN if the judge gave no
        score.
    brier
        Mean squared error of the probability before and after; after is for ratings left out of the
        fit. Before is None for a score that is not a probability.
    ece
        Calibration error before and after, likewise.
    """

    judge: str
    method: str
    values: FloatArray
    brier: tuple[float | None, float]
    ece: tuple[MeasuredValue | None, MeasuredValue]

    def __repr__(self) -> str:
        return f"Recalibration({self.judge}, {self.method}, {self.values.size} segments)"

    @property
    def column(self) -> str:
        """Name of the new column."""
        return f"{self.judge}_calibrated"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""

        def error(made: MeasuredValue | None) -> dict[str, float] | None:
            return None if made is None else {k: float(v) for k, v in made._asdict().items()}

        return {
            "judge": self.judge, "column": self.column, "method": self.method,
            "brier": dict(zip(("before", "after"), self.brier, strict=True)),
            "ece": {"before": error(self.ece[0]), "after": error(self.ece[1])},
        }  # fmt: skip

    def summary(self) -> str:
        """A sentence or two for people."""
        before, after = self.ece
        if before is None or self.brier[0] is None:
            return (
                f"{self.column}: {self.judge} as a probability ({self.method}). On ratings left "
                f"out of the fit its calibration error is {_error(after)}, its mean squared error "
                f"{fixed(self.brier[1], 3)}."
            )
        told = (
            f"{self.column}: calibration error {_error(before)} before and {_error(after)} after, "
            f"mean squared error {fixed(self.brier[0], 3)} and {fixed(self.brier[1], 3)} "
            f"({self.method}, on ratings left out of the fit)."
        )
        worse = self.brier[1] >= self.brier[0]
        return f"{told} It did not improve: keep {self.judge}." if worse else told


def _error(made: MeasuredValue) -> str:
    value, _, low, high = (fixed(float(x), 3) for x in made)
    return f"{value} ({low} to {high})"


Curve = Callable[[FloatArray], FloatArray]


def curve_of(method: str, judge: FloatArray, human: FloatArray, weights: FloatArray) -> Curve:
    """A rising or falling curve from a judge's scores to probabilities.

    No probability is closer to 0 or 1 than n ratings can show, 1/(n + 2) by the rule of succession.
    """
    n = human.size
    least = 1 / (n + 2)
    weight = weights * n / weights.sum()
    if np.ptp(human) == 0 or np.ptp(judge) == 0:
        level = float(np.average(human, weights=weights))
        return lambda scores: np.full(np.shape(scores), np.clip(level, least, 1 - least))
    if method == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        rising = float(np.cov(judge, human, aweights=weights)[0, 1]) >= 0
        steps = IsotonicRegression(increasing=rising, out_of_bounds="clip")
        steps.fit(judge, human, sample_weight=weight)
        return lambda scores: np.clip(steps.predict(scores), least, 1 - least)
    from sklearn.linear_model import LogisticRegression

    scaled = _scale(judge)
    # A weak prior on the slope, worth one rating, so that perfectly separated ratings give a finite
    # curve.
    line = LogisticRegression(C=1.0).fit(scaled(judge)[:, None], human, sample_weight=weight)
    return lambda scores: np.clip(line.predict_proba(scaled(scores)[:, None])[:, 1],
                                  least, 1 - least)  # fmt: skip


def _scale(judge: FloatArray) -> Curve:
    """Standardised log-odds of a probability, or any other score standardised as it is."""
    probable = judge.min() >= 0 and judge.max() <= 1

    def odds(scores: FloatArray) -> FloatArray:
        p = np.clip(scores, 0.001, 0.999)
        return np.asarray(np.log(p / (1 - p)))

    own: Curve = odds if probable else np.asarray
    centre, spread = float(own(judge).mean()), float(own(judge).std())
    return lambda scores: (own(scores) - centre) / (spread if spread > 0 else 1.0)


def left_out(
    method: str, judge: FloatArray, human: FloatArray, weights: FloatArray, units: Any
) -> FloatArray:
    """Probability (n,) of each rated segment from a curve fitted to the others.

    Uses up to five folds that keep units, such as documents, together.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    rarer = int(min((human == 1).sum(), (human == 0).sum()))
    folds = StratifiedGroupKFold(min(_FOLDS, rarer, np.unique(units).size), shuffle=True,
                                 random_state=0)  # fmt: skip
    found = np.empty(human.size)
    for rest, held in folds.split(judge, human, units):
        found[held] = curve_of(method, judge[rest], human[rest], weights[rest])(judge[held])
    return found


def best_method(
    judge: FloatArray,
    human: FloatArray,
    weights: FloatArray,
    units: Any,
    method: str | None,
) -> tuple[str, FloatArray, float]:
    """The method with the smaller held-out squared error, its probabilities, and that error."""
    if method is not None and method not in METHODS:
        raise UnknownNameError("calibration", method, METHODS)
    rarer = int(min((human == 1).sum(), (human == 0).sum()))
    if rarer < _FEWEST or np.unique(units).size < 2:
        raise DataError(
            f"people found only {counted(rarer, 'rated segment')} of the rarer kind (good or bad); "
            f"calibration needs at least {_FEWEST}, from two documents or more. Have more rated."
        )
    tried = [
        (float(np.average((p - human) ** 2, weights=weights)), name, p)
        for name in (METHODS if method is None else (method,))
        for p in [left_out(name, judge, human, weights, units)]
    ]
    error, name, p = min(tried, key=lambda t: t[0])
    return name, p, error
