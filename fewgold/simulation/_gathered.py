"""Estimates and intervals of many draws, gathered into the figures of a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.errors import FewgoldError
from fewgold.estimate import Bound, Estimate
from fewgold.estimator import Estimator
from fewgold.sample import Ratings
from fewgold.simulation._cell import OWN, Cell, Cover, reason
from fewgold.simulation._scores import Score, ratio, root, squared_deviations


class Gathered:
    """Figures of one strategy, block by block; ``gold`` are the scores of all segments."""

    def __init__(self, gold: FloatArray, confidence: float, bounds: Mapping[str, Bound]) -> None:
        self.gold, self.confidence, self.bounds = gold, confidence, bounds
        self.errors: list[FloatArray] = []
        self.se: list[FloatArray] = []
        self.cost: list[FloatArray] = []
        self.ends: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
        self.refusals: dict[str, str] = {}

    def add(self, ratings: Ratings, estimator: Estimator) -> None:
        """Estimates of a block of draws, at once or one by one, and their intervals."""
        if estimator.batched:
            self._add(ratings, estimator.estimate(ratings))
            return
        for k in range(ratings.scores.shape[0]):
            one = ratings.draw(k)
            self._add(one, estimator.estimate(one))

    def _add(self, ratings: Ratings, estimate: Estimate) -> None:
        shape = ratings.scores.shape[:-1]
        value = np.ma.filled(np.ma.asarray(estimate.value, dtype=np.float64), np.nan)
        if value.shape != shape:
            raise FewgoldError(
                f"the estimate has the shape {value.shape} where {shape} draws were given. Set "
                "batched = False in an estimator that takes one study at a time."
            )
        bad = int((~np.isfinite(value)).sum())
        if bad:
            raise FewgoldError(f"{bad} of {value.size} draws gave no finite number.")
        self.errors.append(np.atleast_1d(value - self.gold.mean()))
        self.se.append(_of_shape(estimate.se, shape))
        self.cost.append(np.atleast_1d(ratings.sample.cost))
        self._interval(OWN, shape, lambda: estimate.interval(self.confidence))
        for name, bound in self.bounds.items():
            self._interval(name, shape, lambda b=bound: _by(estimate, self.confidence, b))

    def _interval(self, name: str, shape: tuple[int, ...], make: Any) -> None:
        if name in self.refusals:
            return
        try:
            low, high = (_of_shape(end, shape) for end in make())
            if not (low <= high).all():
                raise FewgoldError("the lower end of an interval lies above the upper end.")
        except Exception as error:
            self.refusals[name] = reason(error)
            return
        self.ends.setdefault(name, []).append((low, high))

    def cell(self, facts: Mapping[str, Any]) -> Cell:
        """All that was gathered; ``facts`` are those of the cell that were known before."""
        errors, se = np.concatenate(self.errors), np.concatenate(self.se)
        slip = 0.0
        if facts["n"] == facts["size"] or np.ptp(self.gold) == 0:
            # Nothing is left to chance: what differs from the truth are rounding errors.
            slip = 1e-9 * float(np.abs(self.gold).max())
            errors = np.where(np.abs(errors) <= slip, 0.0, errors)
        covers = {}
        for bound, ends in self.ends.items():
            if bound in self.refusals:
                continue
            low, high = (np.concatenate(part) for part in zip(*ends, strict=True))
            truth, half = self.gold.mean(), high / 2 - low / 2
            held = (low <= truth + slip) & (truth - slip <= high)
            covers[bound] = Cover(
                Score.of_share(held.astype(np.float64)),
                Score.of(half),
                Score.of(half - np.abs(errors)),
            )
        unit = float(np.abs(errors).max()) or 1.0  # squares of 1e200 are none
        return Cell(
            **facts,
            errors=errors,
            se=Score.of(se),
            se_ratio=root(ratio((se / unit) ** 2, squared_deviations(errors / unit))),
            cost=Score.of(np.concatenate(self.cost)),
            covers=covers,
            refusals=self.refusals,
        )


def _of_shape(values: Any, shape: tuple[int, ...]) -> FloatArray:
    """Numbers for each draw; a single one is taken for all, and masked ones are none."""
    array = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
    return np.atleast_1d(np.broadcast_to(array, shape))


def _by(estimate: Any, confidence: float, bound: Bound) -> Any:
    if not hasattr(estimate, "residuals"):
        raise FewgoldError(
            f"{bound.name} is for linear estimates, and this is a {type(estimate).__name__}, which "
            "has its own interval."
        )
    return estimate.interval(confidence, bound)
