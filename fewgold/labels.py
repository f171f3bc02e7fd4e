"""The score of a whole table from existing labels of some rows, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fewgold import registry
from fewgold.chosen import Chosen, Labelled, read_labelled
from fewgold.common.checks import Limits, check_choice
from fewgold.cut import Cut
from fewgold.design import Design
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Estimate, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators import Mean, Ridge
from fewgold.missing import PartialRatings
from fewgold.missing import estimate as estimated
from fewgold.pool import Pool
from fewgold.sample import Sample

__all__ = ["estimate_mean"]


def estimate_mean(
    table: Any,
    *,
    human: str | Sequence[str] | None = None,
    metrics: str | Sequence[str] | None = None,
    chosen: str | Chosen = "random",
    estimator: Estimator | str | None = None,
    bound: Bound | str | None = None,
    adequate: Cut | str | None = None,
    target: str = "pool",
    limits: Limits | None = None,
    gaps: str = "wait",
    **columns: Any,
) -> Estimate:
    """Estimate the mean human score of all rows of a table in which some rows are labelled.

    Parameters
    ----------
    table
        A dataframe of pandas, polars, pyarrow or narwhals; missing labels are NaN or null.
    human
        The column of labels; numbers, or words such as pass and fail. Several are averaged.
    metrics
        Judges and other columns known for all rows: numbers (gaps are fine), words such as pass and
        fail, or categories. None guesses them, ``[]`` uses none.
    chosen
        How the labelled rows were chosen: ``"random"``, ``"strata:COLUMN"`` (at random within
        each value), ``"whole:COLUMN"`` (all rows of values that were drawn at random) or
        ``"chances:COLUMN"`` (the chance of each row). The result says so.
    estimator
        By default ridge regression on the metrics, or the mean if there are none.
    bound
        How intervals are made; see `fewgold.bounds`.
    adequate
        Estimate the share of rows whose score satisfies a condition, such as ``">= 4"``.
    target
        ``"pool"``: the score of these rows. ``"process"``: that of a new test set like this one.
    limits
        Ends of the scale, such as ``(1, 5)``.
    gaps
        What to do about unlabelled rows of values chosen ``whole:``; see
        `fewgold.missing.estimate`.
    columns
        ``id``, ``document``, ``system``, ``texts`` and ``orientation``, if they should not be
        guessed.

    Returns
    -------
    Estimate
        An estimate with ``value``, ``se``, ``interval()`` and ``summary()``.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"judge": rng.normal(size=1000)})
    >>> frame["human"] = frame["judge"] + rng.normal(size=1000)
    >>> frame.loc[200:, "human"] = np.nan
    >>> result = estimate_mean(frame, human="human", metrics=["judge"], chosen="random")
    >>> print(f"{result.value:.2f} ± {result.se:.2f}")
    -0.09 ± 0.07
    """
    found = read_labelled(table, human=human, metrics=metrics, chosen=chosen, **columns)
    partial = partial_ratings(found, limits)
    if adequate is not None:
        partial = partial.cut(adequate)
    made = usual_estimator(found.pool) if estimator is None else estimator
    if isinstance(made, str):
        made = registry.estimator(made, found.pool)
    if bound is not None:
        made = replace(made, bound=bound)  # type: ignore[type-var]
    result: Estimate = for_target(made, partial, target, gaps)
    return result


def usual_estimator(pool: Pool) -> Estimator:
    """Ridge regression if there are metrics, otherwise the mean."""
    return Ridge() if pool.metrics else Mean()


def partial_ratings(found: Labelled, limits: Limits | None = None) -> PartialRatings:
    """The labels of a table; only rows of values chosen as a whole may lack one.

    If all labels are 0 or 1, the scale is taken to be 0 to 1.
    """
    sample, scores = Sample.labelled(found)
    if limits is None and np.isin(scores[np.isfinite(scores)], (0.0, 1.0)).all():
        limits = (0.0, 1.0)
    return PartialRatings(sample, scores, limits)


def for_target(
    estimator: Estimator, partial: PartialRatings, target: str = "pool", gaps: str = "wait",
    confidence: float = 0.95,
) -> Any:  # fmt: skip
    """The estimate for these segments (``pool``) or for new ones like them (``process``)."""
    check_choice("target", target, ("pool", "process"))
    if target == "process" and hasattr(estimator, "target"):
        return estimated(partial, replace(estimator, target=target), gaps, confidence)  # type: ignore[type-var]
    made = estimated(partial, estimator, gaps, confidence)
    if target == "pool":
        return made
    if not isinstance(made, LinearEstimate):
        raise DesignError(
            "worst-case bounds for unrated segments are available for the pool only. For a new "
            "test set "
            "(target 'process') have them rated, or treat them as missing at random."
        )
    return made.for_process()


def looks_chosen(found: Labelled) -> tuple[str, ...]:
    """Evidence that the labelled rows are not a random subset of the table, in sentences.

    Compares labelled with unlabelled rows on every metric, category and text length, and checks
    whether labels are clustered by document: permutation tests, with Holm's correction over all of
    them. Finding nothing does not prove that the rows were chosen at random.
    """
    size = len(found.pool)
    labels = np.full(size, np.nan)
    labels[found.rows] = found.scores
    whole = Sample(found.pool, np.arange(size), Design.simple(size, size))
    frame = PartialRatings(whole, labels).diagnosis()
    sentences = []
    for row in frame[frame["p_holm"] < 0.05].to_dict("records"):
        chance = f"p = {row['p_holm']:.2g}, corrected for {len(frame)} comparisons"
        more = row["difference"] < 0  # unlabelled less labelled
        if row["kind"] == "documents":
            what = "are clustered by document"
        elif row["kind"] == "order":
            what = f"come {'later' if more else 'earlier'} in the table"
        elif "=" in row["known"] or row["known"].endswith(" missing"):
            rated, unrated = (f"{100 * row[k]:.0f} %" for k in ("rated", "unrated"))
            what = f"have {row['known']} in {rated}, the others in {unrated}"
        else:
            size_of = f"{abs(row['difference']):.2g} standard deviations"
            what = f"have {'higher' if more else 'lower'} {row['known']}, by {size_of}"
        sentences.append(f"labelled rows {what} ({chance})")
    return tuple(sentences)
