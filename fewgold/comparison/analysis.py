"""From a table of rated systems to a comparison."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold.bounds.approximate import student_quantile
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import Limits, as_limits, as_names, check_choice, check_confidence
from fewgold.comparison.designs import setting, system_estimates
from fewgold.comparison.pairs import Pairs, factors, gapped_pairs, shared_counts, shared_pairs
from fewgold.comparison.raters import Raters, adjusted_spread, bias_variance, mixes, rater_effects
from fewgold.comparison.result import CORRECTIONS, Comparison
from fewgold.comparison.table import Scored, ScoreTable, direction, read
from fewgold.errors import DataError, UnknownNameError
from fewgold.estimate import LinearEstimate
from fewgold.sample import Sample


def compare(
    frame: Any,
    *,
    human: str | Sequence[str],
    system: str,
    id: str,
    document: str | None = None,
    metrics: Sequence[str] | str = (),
    rater: str | None = None,
    sample: Sample | None = None,
    target: str | None = None,
    unit: str | None = None,
    correction: str = "holm",
    level: float = 0.05,
    higher_is_better: bool | None = None,
    limits: Limits | None = None,
    control: str = "auto",
    adjust_raters: bool = False,
    orientation: Mapping[str, int] | None = None,
) -> Comparison:
    """Compare systems whose outputs people rated, best on the same segments.

    Parameters
    ----------
    frame
        Any dataframe with one row per segment and system (and rater). The score is empty where
        nobody rated. All segments of the table are the pool that the result is about.
    human
        Column of human scores, or several columns, one per rater.
    system, id, document
        Columns. Ids name segments and are the same for all systems.
    metrics
        Automatic metrics of every output, a control where they help. Never human scores.
    rater
        Column that says who rated; scores of several raters are averaged.
    sample
        How the rated segments were drawn (from `joint_pool`). Otherwise they are taken for a
        simple random sample of the pool, which is right only if they were chosen at random.
    target
        ``"pool"``: the scores that the systems would have if every segment of the table had been
        rated. ``"process"``: their scores on new text like this. Default: the pool, or the process
        where every segment is rated.
    unit
        What varies independently: ``"segment"`` or ``"document"``. Default: documents where these
        were rated as a whole, or for the target "process" if documents are known; else segments.
    correction
        ``"holm"`` (no false finding at all), ``"fdr"`` (few among the findings) or ``"none"``.
        Groups and intervals of ranks are always by Holm.
    level
        Chance of error that is accepted; intervals have the confidence 1 − level.
    higher_is_better
        False for MQM-like penalties. Default: read from the name of the column or scale, or from
        the metrics, which the result says.
    limits
        Ends of the rating scale, such as ``(0, 25)`` or ``"mqm"``.
    control
        ``"auto"`` uses metrics for differences if they narrow them out of sample, ``"never"``
        does not.
    adjust_raters
        Take the bias of each rater out of the scores first.
    orientation
        Of the metrics, as in `Pool`.

    Examples
    --------
    Five systems of the embedded data, each rated on the same 150 segments.

    >>> from fewgold.datasets import demo_frame
    >>> table = demo_frame("ende")
    >>> lot = np.random.default_rng(1).permutation(table["segment"].unique())[:150]
    >>> rated = table["segment"].isin(lot)
    >>> raters = [f"rater{k}" for k in range(1, 7)]
    >>> table[raters] = table[raters].where(rated)
    >>> result = compare(table, human=raters, system="system", id="segment",
    ...                  metrics=["comet", "bleurt"], limits="mqm")
    >>> result.ranking()[["system", "group", "rank_low", "rank_high"]]
      system  group  rank_low  rank_high
    0  human      1         1          1
    1   beta      2         2          4
    2  alpha      2         2          4
    3  gamma      2         2          5
    4  delta      2         4          5
    """
    check_choice("correction", correction, CORRECTIONS)
    check_choice("control", control, ("auto", "never"))
    check_confidence(1 - level)
    if target is not None:
        check_choice("target", target, ("pool", "process"))
    if unit is not None:
        check_choice("unit", unit, ("segment", "document"))
    names, humans = list(as_names(metrics)), list(as_names(human))
    table = read(
        frame, human=humans, system=system, id=id, document=document, metrics=names, rater=rater
    )
    signs = dict(orientation or {})
    for name in signs:
        if name not in names:
            raise UnknownNameError("metric in orientation", name, names)
    notes: list[str] = []
    higher = higher_is_better
    if higher is None:
        higher, why = direction(humans, table, signs, limits)
        notes.append(why)
    # Who rated, and what their biases add to each system.
    people: Raters | None = None
    mix = np.zeros((len(table.systems), 0))
    shift = np.zeros(len(table.systems))
    told: dict[str, str] = {}
    if table.ratings is not None:
        ratings = table.ratings
        people = rater_effects(ratings)
        mix = mixes(table.ratings, len(table.systems))
        shift = mix @ np.nan_to_num(people.bias)
        if adjust_raters:
            bias = np.nan_to_num(people.bias)[table.ratings.rater]
            table = table.with_scores(table.ratings.score - bias)
            notes.append(
                "the bias of each rater was taken out; what that adds to the errors of differences "
                "is counted"
            )
        told["raters"] = f"{len(people.names)}-{_digest(ratings)}"
        if adjust_raters:
            told["raters"] += "-adjusted"
            if limits is not None:  # scores without the bias may leave the scale
                told["scale"] = "{:.10g}-{:.10g}".format(*(as_limits(limits) or ()))
    elif adjust_raters:
        raise DataError("adjust_raters needs to know who rated: name the column with rater=….")
    # Which segments were rated, and what they represent.
    rows, design, info, facts = setting(table, sample, target, unit, notes)
    usable = _usable(table, names, notes)
    scores = table.human[:, rows]
    ends = as_limits(limits)
    _check(table, scores, None if adjust_raters else ends)
    for_scores = usable if facts["target"] == "pool" else ()
    if usable and facts["target"] == "process" and control == "auto":
        notes.append("metrics are not used where new segments are meant")
    options: dict[str, Any] = {
        "metrics": for_scores, "orientation": signs, "higher": higher, "info": info,
        "limits": None if adjust_raters else ends,
    }  # fmt: skip
    # Scores of the systems by themselves, then differences of pairs.
    estimates = system_estimates(table, rows, design, **options)
    factor = factors(design, scores)
    complete = bool(np.isfinite(scores).all())
    if complete:
        z = None
        if for_scores and control == "auto":  # mean 0 for each system, one scale: (p, S, n)
            z = np.stack([table.metrics[name] for name in for_scores])
            z = z - z.mean(-1, keepdims=True)
            z = (z / z.std((-1, -2), keepdims=True))[:, :, rows]
        pairs = shared_pairs(design, scores, z)
        basis = np.full((len(scores), len(scores)), "shared")
        if z is not None and not pairs.gain.any():
            notes.append("metrics did not narrow the differences out of sample and were not used")
    else:
        apart = system_estimates(table, rows, design, correct=False, **options)
        pairs, basis = gapped_pairs(design, scores, apart, factor)
        pairs = _with_flat(pairs, estimates, ends, level)
        notes += _about_gaps(table.systems, scores, basis, factor)
    if people is not None and adjust_raters:
        variance = pairs.variance + bias_variance(mix, people)
        if table.documents is not None and table.ratings is not None:
            codes = np.unique(table.documents, return_inverse=True)[1]
            if codes.max() > 0:
                spread = adjusted_spread(table.ratings, codes, len(table.systems))
                variance = np.maximum(variance, spread)
        pairs = replace(pairs, variance=variance)
    if people is not None:
        notes += _about_raters(people, shift, pairs.se, table.systems, adjust_raters)
    return Comparison(
        systems=table.systems,
        estimates=tuple(estimates),
        pairs=pairs,
        basis=basis,
        shared=shared_counts(scores),
        factor=factor,
        higher_is_better=higher,
        level=level,
        correction=correction,
        span=None if ends is None else ends[1] - ends[0],
        people=people,
        shift=None if people is None or adjust_raters else shift,
        facts={"human": humans, "pool_size": int(table.ids.size), **facts},
        notes=tuple(notes),
        told=told,
    )


def _about_gaps(
    systems: Sequence[str], scores: FloatArray, basis: NDArray[np.str_], factor: FloatArray
) -> list[str]:
    """What a reader must know about segments that not all systems share, in sentences."""
    count = shared_counts(scores)
    above = np.triu_indices(len(systems), 1)
    apart = [(int(i), int(j)) for i, j in zip(*above, strict=True) if basis[i, j] != "shared"]
    notes = []
    if len(apart) < above[0].size:
        notes.append(
            "systems were not all rated on the same segments: pairs are compared on those that "
            "both have, as if chance had left out the others, and without metrics"
        )
    if apart:
        i, j = min(apart, key=lambda pair: int(count[pair]))
        which = f"{systems[i]} and {systems[j]}"
        if len(apart) > 1:
            which = f"{len(apart)} pairs, such as {which},"
        seen = factor[np.isfinite(factor)]
        cost = (
            f"about 1/{np.median(seen):.1f} of the variance of separate ones, as the shared "
            "segments tell"
            if seen.size
            else "1/2 to 1/5 of the variance of separate ones on public test sets of translation"
        )
        notes.append(
            f"{which} share few segments ({count[i, j]}) and are compared by all that each was "
            f"rated on, as if chance had chosen it. Differences on the same segments have {cost}"
        )
    return notes


def _about_raters(
    people: Raters, shift: FloatArray, se: FloatArray, systems: Sequence[str], adjusted: bool
) -> list[str]:
    """What a reader must know about raters, in sentences."""
    notes = []
    if people.basis == "segments":
        notes.append(
            "too few outputs were rated by several people: biases of raters are from what they "
            "gave to different systems on the same segments"
        )
    if not people.connected:
        notes.append("some raters share nothing with the others: their biases are not comparable")
    if np.isnan(people.bias).any():
        lone = people.names[int(np.isnan(people.bias).argmax())]
        notes.append(f"the bias of {lone} is unknown: nobody else rated the same outputs")
    gap = np.abs(shift[:, None] - shift[None, :])
    known = np.isfinite(se) & (se > 0)
    ratio = np.where(known, gap / np.where(known, se, 1.0), 0.0)
    if not adjusted and ratio.max() > 0.25:
        i, j = (int(k) for k in np.unravel_index(int(ratio.argmax()), ratio.shape))
        notes.append(
            f"raters are spread unevenly over systems: their biases shift {systems[i]} against "
            f"{systems[j]} by {shift[i] - shift[j]:+.3g}, {ratio.max():.1f} standard errors; "
            "adjust_raters=True (--adjust-raters) takes them out"
        )
    return notes


def _digest(ratings: Scored) -> str:
    """A short digest of who gave which score to which output."""
    parts = (ratings.segment, ratings.system, ratings.rater, ratings.score)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:6]


def _usable(table: ScoreTable, names: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """Metrics that every output of the pool has and that vary."""
    found: list[str] = []
    absent = int((~table.present).sum())
    if names and absent:
        notes.append(
            f"metrics are not used: {absent} of {table.present.size} outputs (segments times "
            "systems) are not in the table"
        )
        return ()
    for name in names:
        gaps = int((~np.isfinite(table.metrics[name])).sum())
        if gaps:
            notes.append(
                f"metric {name!r} has no value for {gaps} of {table.present.size} outputs and was "
                "left out"
            )
        elif (np.ptp(table.metrics[name], axis=-1) == 0).any():
            notes.append(f"metric {name!r} is constant for a system and was left out")
        else:
            found.append(name)
    return tuple(found)


def _check(table: ScoreTable, scores: FloatArray, limits: tuple[float, float] | None) -> None:
    counts = np.isfinite(scores).sum(-1)
    few = [s for s, c in zip(table.systems, counts, strict=True) if c < 2]
    if few:
        raise DataError(
            f"the system {few[0]!r} has {int(counts.min())} rated segments; two are the least. "
            "Have it rated on the segments of the others, or leave it out."
        )
    if limits is not None:
        seen = scores[np.isfinite(scores)]
        outside = seen[(seen < limits[0]) | (seen > limits[1])]
        if outside.size:
            raise DataError(
                f"{outside.size} scores lie outside the scale {limits[0]:g} to {limits[1]:g}, "
                f"first {outside[0]:g}. Correct them, or the limits."
            )


def _with_flat(
    pairs: Pairs,
    estimates: Sequence[LinearEstimate],
    ends: tuple[float, float] | None,
    level: float,
) -> Pairs:
    """Differences to a system whose ratings are all equal: the error of the other, and more.

    How much the equal ratings may hide is told by the scale (the rule of three), and added to the
    half-width; without the scale nothing is known.
    """
    one = pairs.spreadless & np.isfinite(pairs.variance)
    if not one.any():
        return pairs
    if ends is None:
        return replace(pairs, variance=np.where(one, np.inf, pairs.variance))
    weight = max(float(e.design.weights.max()) for e in estimates if np.any(e.spreadless))
    miss = (ends[1] - ends[0]) * (1 - (level / 2) ** weight)
    quantile = student_quantile(np.maximum(pairs.df, 1.0), 1 - level)
    se = np.sqrt(np.where(one, pairs.variance, 0.0)) + miss / quantile
    variance = np.where(one, se**2, pairs.variance)
    return replace(pairs, variance=variance, spreadless=pairs.spreadless & ~one)
