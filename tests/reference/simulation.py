"""The figures of a simulation the slow way: one study at a time, plain sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def figures(
    errors: Sequence[float],
    base: Sequence[float],
    ends: Sequence[tuple[float, float]],
    truth: float,
) -> dict[str, float]:
    """The columns of a cell that need no more than averages."""
    draws = len(errors)
    size = [abs(e) for e in errors]
    base_size = [abs(e) for e in base]
    mean = sum(size) / draws
    half = [(high - low) / 2 for low, high in ends]
    return {
        "abs_error": mean,
        "abs_error_sd": math.sqrt(sum((s - mean) ** 2 for s in size) / (draws - 1)),
        "bias": sum(errors) / draws,
        "rmse": math.sqrt(sum(e * e for e in errors) / draws),
        "win": float(mean < sum(base_size) / draws),
        "coverage": sum(low <= truth <= high for low, high in ends) / draws,
        "half_width": sum(half) / draws,
        "slack": sum(t - s for t, s in zip(half, size, strict=True)) / draws,
    }


def one_by_one(estimator: Any, batch: Any) -> tuple[list[float], list[tuple[float, float]]]:
    """Values and intervals of a batch of ratings, as if each were a study of its own."""
    values, ends = [], []
    for k in range(batch.scores.shape[0]):
        made = estimator.estimate(batch.draw(k))
        low, high = made.interval(0.95)
        values.append(float(made.value))
        ends.append((float(low), float(high)))
    return values, ends
