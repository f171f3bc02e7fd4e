"""What a metric says of every segment of a pool: 0 or 1, or one of several categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from fewgold._arrays import BoolArray, FloatArray
from fewgold.bayes._thresholds import RULES, choose_cuts
from fewgold.cut import Cut, binary
from fewgold.errors import DesignError, UnknownNameError
from fewgold.pool import Pool
from fewgold.sample import Design, Ratings
from fewgold.stored import StoredPool

Threshold: TypeAlias = "float | str | Cut | None"


class Coded(NamedTuple):
    """Labels of the pool's segments, (N,), or (..., N) where each draw chose its own cut."""

    labels: BoolArray
    how: str  # such as "comet >= 0.5", for summaries and signatures
    notes: tuple[str, ...] = ()


def is_binary(values: FloatArray) -> bool:
    """True for a metric that is 0 or 1 everywhere."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def coded(
    ratings: Ratings, adequate: BoolArray, metric: str, threshold: Threshold, strict: bool
) -> Coded:
    """What ``metric`` says of every segment, cut as ``threshold`` has it."""
    pool = ratings.sample.pool
    scores = scores_of(pool, metric)
    if threshold is None:
        return Coded(check_binary(metric, scores), metric)
    falls = pool.orientation.get(metric) == -1
    sign = ("<" if falls else ">") + ("" if strict else "=")
    if isinstance(threshold, str) and threshold in RULES:
        return _chosen(ratings, adequate, metric, threshold, sign)
    cut = Cut(sign, float(threshold)) if isinstance(threshold, int | float) else None
    cut = cut or Cut.parse(threshold)  # type: ignore[arg-type]
    labels = cut(scores)
    notes: tuple[str, ...] = ()
    if labels.all() or not labels.any():
        notes = (f"{metric} {cut} is {int(labels[0])} for every segment and tells nothing",)
    return Coded(labels, f"{metric} {cut}", notes)


def check_binary(metric: str, scores: FloatArray) -> BoolArray:
    """The labels of a metric that is 0 or 1 everywhere; another needs a threshold."""
    hint = (
        "Say where it becomes a 1, in the name of the strategy or estimator (in quotes): "
        f"'alpha-{metric}>=0.5'; let the ratings choose: alpha-{metric}:equal; or use bins: "
        f"alpha-{metric}:bins. In Python: threshold='>= 0.5', 'equal' or 'bins'."
    )
    return binary(scores, f"scores of {metric!r} without a threshold", hint)


def scores_of(pool: Pool | StoredPool, metric: str) -> FloatArray:
    """The scores of a metric; a name that the pool does not know is an error."""
    if metric not in pool.metrics:
        raise UnknownNameError("metric", metric, pool.metrics)
    return pool.everywhere(metric)


def _chosen(ratings: Ratings, adequate: BoolArray, metric: str, rule: str, sign: str) -> Coded:
    """A cut for each draw, from its own ratings; the median where they are all alike."""
    scores = scores_of(ratings.sample.pool, metric)
    ours = scores[ratings.sample.indices]
    at = choose_cuts(adequate, ours, rule, sign)
    told = np.isfinite(at)
    at = np.where(told, at, np.median(scores))
    labels = np.array(Cut(sign, 0.0)(scores - at[..., None]))
    cut = "" if at.ndim else f" {Cut(sign, float(at))}"
    notes: tuple[str, ...] = ()
    if not told.all():
        notes = (
            f"the ratings do not tell where to cut {metric} (all are alike), so it was cut at its "
            "median",
        )
    return Coded(labels, f"{metric}{cut}", notes)


def each_threshold(
    names: tuple[str, ...], threshold: Threshold | Mapping[str, Threshold]
) -> dict[str, Threshold]:
    """The threshold of each metric."""
    if not isinstance(threshold, Mapping):
        return dict.fromkeys(names, threshold)
    unknown = [name for name in threshold if name not in names]
    if unknown:
        raise UnknownNameError("metric in threshold", unknown[0], names)
    return {name: threshold.get(name) for name in names}


def check_design(design: Design) -> None:
    """Refuse samples that the model does not describe."""
    if design.units is not None:
        raise DesignError(
            "this model takes segments that were drawn one by one, and these came in whole "
            "documents or chunks, which are alike. Use the estimator mean or ridge for them."
        )
    unequal = [
        np.ptp(x, axis=-1).max(initial=0.0) > 1e-9 * x.max()
        for x in (design.weights, design.inclusion)
    ]
    if any(unequal) and design.kind.endswith("with gaps"):
        raise DesignError(
            "this model takes samples in which every segment had the same chance, and by the gaps "
            'chances differ. Say that gaps are alike everywhere, at_random(within="sample"), or '
            "use an estimator that weighs: mean, cv-multi or ridge."
        )
    if any(unequal) or not design.unbiased:
        raise DesignError(
            f"this model takes samples in which every segment had the same chance, and this one "
            f"({design.kind}) has unequal chances. Draw with random, docs-prop or docs-sys, or use "
            "an estimator that weighs: mean, cv-multi or ridge."
        )


def check_sample(ratings: Ratings) -> tuple[str, ...]:
    """Refuse samples that the model does not describe; notes on those that it describes roughly."""
    design = ratings.sample.design
    check_design(design)
    if design.kind == "simple" or ratings.sample.info.get("sampler") == "random":
        return ()
    return (
        "the sample is taken for a plain random one: that it was spread out makes the estimate "
        "better than its interval says",
    )


def worse_than_chance(metric: str, rho: float, eta: float) -> str:
    """What to say of a metric with ρ + η ≤ 1."""
    return (
        f"{metric} is right on {rho:.0%} of adequate and {eta:.0%} of inadequate items, no better "
        "than chance (ρ + η ≤ 1): it tells little, or its 0 and 1 are exchanged. Turn the cut "
        "round, such as '<= …' instead of '>= …'; the estimate is the same either way unless the "
        "priors favour one"
    )
