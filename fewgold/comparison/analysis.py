"""Compare systems from a table of ratings, or from one sample each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold.bounds import Auto
from fewgold.bounds.approximate import student_quantile
from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import Limits, as_limits, as_names, check_choice, check_confidence
from fewgold.common.text import counted, listed, verb
from fewgold.comparison.designs import own_pools, setting, system_estimates
from fewgold.comparison.pairs import (
    Pairs,
    Placed,
    apart,
    factors,
    gapped_pairs,
    metric_gain,
    shared_counts,
    shared_pairs,
)
from fewgold.comparison.raters import Raters, adjusted_spread, bias_variance, mixes, rater_effects
from fewgold.comparison.result import CORRECTIONS, Comparison
from fewgold.comparison.table import Scored, ScoreTable, direction, read
from fewgold.errors import DataError, UnknownNameError
from fewgold.estimate import LinearEstimate
from fewgold.estimators import Mean, Ridge
from fewgold.sample import Ratings, Sample


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
    """Compare systems by human ratings, preferably of the same segments.

    Parameters
    ----------
    frame
        Any dataframe with one row per segment and system (and rater). The score is empty if nobody
        rated. The segments of the table are the pool that the result is about.
    human
        Column of human scores, or several columns, one per rater.
    system, id, document
        Column names. Ids identify segments and are the same for all systems.
    metrics
        Automatic metrics of every output, used as controls if they help. Never human scores.
    rater
        Column that says who rated; scores of several raters are averaged.
    sample
        How the rated segments were drawn (from `joint_pool`). Otherwise they are treated as a
        simple random sample of the pool, which is right only if they were chosen at random.
    target
        ``"pool"``: the scores that the systems would have if every segment of the table had been
        rated. ``"process"``: their scores on new text like this. Default: the pool, or the process
        if every segment is rated.
    unit
        What varies independently: ``"segment"`` or ``"document"``. Default: documents if these were
        rated as a whole, or if they are known and the target is "process"; else segments.
    correction
        ``"holm"`` (no false finding), ``"fdr"`` (few among the findings) or ``"none"``. Groups and
        intervals of ranks always use Holm.
    level
        Accepted probability of error; intervals have the confidence 1 − level.
    higher_is_better
        False for MQM-like penalties. Default: inferred from the name of the column or scale, or
        from the metrics; the result says how.
    limits
        Ends of the rating scale, such as ``(0, 25)`` or ``"mqm"``.
    control
        ``"auto"`` uses metrics for differences if they narrow them out of sample, ``"never"``
        does not.
    adjust_raters
        Remove the bias of each rater from the scores first.
    orientation
        Orientation of the metrics, as in `Pool`.

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
                "the bias of each rater was removed; the errors of differences include the "
                "uncertainty that this adds"
            )
        told["raters"] = f"{len(people.names)}-{_digest(ratings)}"
        if adjust_raters:
            told["raters"] += "-adjusted"
            if limits is not None:  # scores with biases removed may leave the scale
                told["scale"] = "{:.10g}-{:.10g}".format(*(as_limits(limits) or ()))
    elif adjust_raters:
        raise DataError(
            "scores can only be adjusted for raters if it is known who rated.",
            hints={
                "python": "Name the column of raters (rater=…).",
                "cli": "Name the column of raters with --rater.",
                "web": "Choose the column of raters.",
            },
        )
    # Which segments were rated, and what they represent.
    rows, design, info, facts = setting(table, sample, target, unit, notes)
    pools = own_pools(table) if sample is None else np.ones_like(table.present)
    usable = _usable(table, names, pools, notes)
    scores = table.human[:, rows]
    ends = as_limits(limits)
    _check(table, scores, None if adjust_raters else ends)
    process = facts["target"] == "process"
    if any(usable) and process and control == "auto":
        notes.append("metrics are not used for results about new segments")
    if process:
        usable = [()] * len(table.systems)
    # Scores of single systems, then differences of pairs.
    estimates = system_estimates(
        table, rows, design, pools, metrics=usable, orientation=signs, higher=higher, info=info,
        limits=None if adjust_raters else ends,
    )  # fmt: skip
    factor = factors(design, scores)
    z = _common(table, usable, pools, rows) if control == "auto" else None
    if np.isfinite(scores).all():
        pairs = shared_pairs(design, scores, z)
        basis = np.full((len(scores), len(scores)), "shared")
        if z is not None and not pairs.gain.any():
            notes.append(
                "metrics did not reduce the error of differences out of sample and were not used"
            )
    else:
        alone = estimates
        if control == "never" and any(usable):
            alone = system_estimates(
                table, rows, design, pools, metrics=[()] * len(scores), orientation={},
                higher=higher, info=info, limits=None if adjust_raters else ends,
            )  # fmt: skip
        name_of = table.ids.astype(str)
        if design.units is not None and table.documents is not None:
            name_of = table.documents.astype(str)
        placed = [
            Placed.of(made, name_of[rows[np.isfinite(own)]], name_of[mine])
            for made, own, mine in zip(alone, scores, pools, strict=True)
        ]
        pairs, basis = gapped_pairs(design, scores, placed, factor, z)
        pairs = _with_flat(pairs, estimates, ends, level)
        notes += _about_pools(table.systems, pools)
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


def _with_own_ids(name: str, ratings: Ratings) -> Ratings:
    """The ratings, whose rows are not those of another table if they only have numbers as ids."""
    sample = ratings.sample
    if sample.info.chosen is None or not sample.info.chosen.numbered:
        return ratings
    ids = np.array([f"{name}:{i}" for i in sample.pool.ids])
    return replace(ratings, sample=replace(sample, pool=replace(sample.pool, ids=ids)))


def compare_samples(
    samples: Mapping[str, Ratings],
    *,
    higher_is_better: bool | None = None,
    correction: str = "holm",
    level: float = 0.05,
) -> Comparison:
    """Compare systems that each have their own sample and pool.

    Each score is adjusted by the metrics of its own pool (`Ridge`). Segments are identified by
    their ids: those rated for two systems count as pairs, the others as independent draws. Systems
    on different outputs, such as two versions of a product on different traffic, share none, and
    neither do tables without ids.

    Parameters
    ----------
    samples
        The ratings of each system, by name.
    higher_is_better, correction, level
        As in `compare`.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.samplers import SimpleRandom
    >>> pool, gold = load_demo("ende")
    >>> old, new = (SimpleRandom().draw(pool, 80, rng=seed) for seed in (1, 2))
    >>> result = compare_samples({
    ...     "old": old.rate(gold[old.indices]), "new": new.rate(gold[new.indices] + 0.1)})
    >>> result.differences()["significant"].tolist()
    [False]
    """
    check_choice("correction", correction, CORRECTIONS)
    check_confidence(1 - level)
    if len(samples) < 2:
        raise DataError(f"comparing needs two or more systems; got {len(samples)}.")
    for name, ratings in samples.items():
        if ratings.scores.ndim != 1 or ratings.n < 2:
            raise DataError(
                f"the system {name!r} needs one sample with two or more ratings; got scores of "
                f"shape {ratings.scores.shape}."
            )
    samples = {name: _with_own_ids(name, ratings) for name, ratings in samples.items()}
    every = list(samples.values())
    scales = {ratings.limits for ratings in every}
    if len(scales) > 1:
        raise DataError(
            "the systems were rated on different scales: "
            f"{listed([str(r.limits) for r in every])}. Give all of them the same limits."
        )
    notes: list[str] = []
    if higher_is_better is None:
        higher_is_better, why = _direction_of(every)
        notes.append(why)
    estimates = []
    for ratings in every:
        ridge = Ridge(higher_is_better=higher_is_better, bound=Auto())
        estimates.append((ridge if ratings.sample.pool.metrics else Mean()).estimate(ratings))
    whole = [e.design.units is not None for e in estimates]
    placed = []
    for made in estimates:
        sample = made.ratings.sample
        names = sample.pool.ids
        if all(whole) and all(r.sample.pool.documents is not None for r in every):
            names = sample.pool.codes if sample.pool.documents is None else sample.pool.documents
        elif made.design.units is not None:
            # Documents for one and segments for the other: their overlap is unknown.
            names = np.arange(len(sample.pool))
        names = names.astype(str)
        placed.append(Placed.of(made, names[sample.indices], names))
    size = len(estimates)
    value, variance, df = np.zeros((size, size)), np.zeros((size, size)), np.ones((size, size))
    flat = np.zeros((size, size), dtype=bool)
    basis = np.full((size, size), "shared", dtype="<U8")
    shared = np.diag([r.n for r in every])
    for i in range(size):
        for j in range(i):
            found = apart(placed[i], placed[j])
            at, mirrored = (i, j), (j, i)
            value[at], value[mirrored] = found[0], -found[0]
            flat[at] = flat[mirrored] = bool(estimates[i].spreadless | estimates[j].spreadless)
            both = bool(estimates[i].spreadless & estimates[j].spreadless)
            variance[at] = variance[mirrored] = np.inf if both else found[1]
            df[at] = df[mirrored] = found[2]
            basis[at] = basis[mirrored] = "partly" if found[3] else "separate"
            first, second = (every[k].sample.ids.astype(str) for k in at)
            shared[at] = shared[mirrored] = np.intersect1d(first, second).size
    gain = np.asarray(metric_gain(*estimates))
    ends = every[0].limits
    pairs = _with_flat(Pairs(value, variance, df, flat, gain, np.zeros(0)), estimates, ends, level)
    pools = [r.sample.pool.ids.astype(str) for r in every]
    if any(not np.array_equal(pools[0], ids) for ids in pools[1:]):
        notes.append(
            "each score is about the pool of its own system, so a difference may be due to the "
            "segments"
        )
    designs = dict.fromkeys(r.sample.info.sampler or r.sample.design._label for r in every)
    return Comparison(
        systems=tuple(samples),
        estimates=tuple(estimates),
        pairs=pairs,
        basis=basis,
        shared=shared,
        factor=np.full((size, size), np.nan),
        higher_is_better=higher_is_better,
        level=level,
        correction=correction,
        span=None if ends is None else ends[1] - ends[0],
        people=None,
        shift=None,
        facts={
            "human": ["score"],
            "pool_size": int(np.unique(np.concatenate(pools)).size),
            "target": "pool",
            "unit": "document" if all(whole) else "segment",
            "n": int(np.unique(np.concatenate([r.sample.ids.astype(str) for r in every])).size),
            "design": "+".join(designs),
        },
        notes=tuple(dict.fromkeys([*notes, *(n for e in estimates for n in e.notes)])),
    )


def _direction_of(every: Sequence[Ratings]) -> tuple[bool, str]:
    """Whether higher scores are better, judged by the metrics that all pools have."""
    pools = [r.sample.pool for r in every]
    common = [m for m in pools[0].metrics if all(m in p.metrics for p in pools)]
    metrics = {m: [r.sample.pool.matrix([m])[0][r.sample.indices] for r in every] for m in common}
    human = np.concatenate([r.scores for r in every])[None]
    table = ScoreTable(
        ids=np.arange(human.size),
        systems=("all",),
        documents=None,
        human=human,
        metrics={m: np.concatenate(parts)[None] for m, parts in metrics.items()},
        present=np.ones(human.shape, dtype=bool),
    )
    return direction((), table, dict(pools[0].orientation))


def _about_pools(systems: Sequence[str], pools: BoolArray) -> list[str]:
    """A note on the pool of each score, if systems were run on different segments."""
    if pools.all():
        return []
    counts = pools.sum(-1)
    each = [f"{name} {count}" for name, count in zip(systems, counts, strict=True)]
    both = int(pools.all(0).sum())
    return [
        "systems have outputs for different segments, and each score is about its system's: "
        f"{listed(each)}, of which {both} are shared, so a difference may be due to the segments"
    ]


def _about_gaps(
    systems: Sequence[str], scores: FloatArray, basis: NDArray[np.str_], factor: FloatArray
) -> list[str]:
    """Remarks on segments that not all systems share."""
    count = shared_counts(scores)
    above = np.triu_indices(len(systems), 1)
    separate = [(int(i), int(j)) for i, j in zip(*above, strict=True) if basis[i, j] != "shared"]
    notes = []
    if len(separate) < above[0].size:
        notes.append(
            "systems were not all rated on the same segments: pairs are compared on the segments "
            "rated for both, as if the others were missing at random"
        )
    if separate:
        i, j = min(separate, key=lambda pair: int(count[pair]))
        which = f"{systems[i]} and {systems[j]}"
        if len(separate) > 1:
            which = f"{len(separate)} pairs, such as {which}"
        seen = factor[np.isfinite(factor)]
        cost = (
            f"about 1/{np.median(seen):.1f} of the variance of separate ones, judging by the "
            "shared segments"
            if seen.size
            else "1/2 to 1/5 of the variance of separate ones on public test sets of translation"
        )
        notes.append(
            f"{which} ({counted(int(count[i, j]), 'segment')} rated for both) are compared on all "
            "segments rated for either, as if these were chosen at random; differences on the same "
            f"segments have {cost}"
        )
    return notes


def _about_raters(
    people: Raters, shift: FloatArray, se: FloatArray, systems: Sequence[str], adjusted: bool
) -> list[str]:
    """Remarks on raters."""
    notes = []
    if people.basis == "segments":
        notes.append(
            "too few outputs were rated by several people: rater biases are estimated from their "
            "ratings of different systems on the same segments"
        )
    if not people.connected:
        notes.append(
            "some raters share no segments with the others: their biases are not comparable"
        )
    if np.isnan(people.bias).any():
        lone = people.names[int(np.isnan(people.bias).argmax())]
        notes.append(f"the bias of {lone} is unknown: nobody else rated the same outputs")
    gap = np.abs(shift[:, None] - shift[None, :])
    known = np.isfinite(se) & (se > 0)
    ratio = np.where(known, gap / np.where(known, se, 1.0), 0.0)
    if not adjusted and ratio.max() > 0.25:
        i, j = (int(k) for k in np.unravel_index(int(ratio.argmax()), ratio.shape))
        notes.append(
            f"raters are distributed unevenly over systems: their biases shift {systems[i]} "
            f"against {systems[j]} by {shift[i] - shift[j]:+.3g}, {ratio.max():.1f} standard "
            "errors; scores adjusted for raters are free of them"
        )
    return notes


def _digest(ratings: Scored) -> str:
    """A short digest of who gave which score to which output."""
    parts = (ratings.segment, ratings.system, ratings.rater, ratings.score)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:6]


def _usable(
    table: ScoreTable, names: Sequence[str], pools: BoolArray, notes: list[str]
) -> list[tuple[str, ...]]:
    """For each system the metrics that vary and are complete on its pool."""
    found: list[tuple[str, ...]] = []
    gaps: dict[str, int] = {}
    constant: dict[str, str] = {}
    absent = np.asarray((pools & ~table.present).any(-1))
    for s, system in enumerate(table.systems):
        mine = []
        for name in names if not absent[s] else ():
            values = table.metrics[name][s, pools[s]]
            missing = int((~np.isfinite(values)).sum())
            if missing:
                gaps[name] = gaps.get(name, 0) + missing
            elif np.ptp(values) == 0:
                constant[name] = system
            else:
                mine.append(name)
        found.append(tuple(mine))
    total = int((pools & table.present).sum())
    for name, count in gaps.items():
        notes.append(
            f"metric {name!r} has no value for {count} of {total} outputs and was not used for "
            "those systems"
        )
    for name, system in constant.items():
        notes.append(f"metric {name!r} is constant for {system} and was left out there")
    if names and absent.any():
        lacking = [s for s, gone in zip(table.systems, absent, strict=True) if gone]
        count = int((pools & ~table.present).sum())
        notes.append(
            f"metrics are not used for {listed(lacking)}: {count} of "
            f"{int(pools[absent].sum())} outputs are not in the table"
        )
    return found


def _common(
    table: ScoreTable, usable: Sequence[tuple[str, ...]], pools: BoolArray, rows: IntArray
) -> FloatArray | None:
    """Metrics that all systems have on the same pool, centred by system, on one scale: (p, S, n).

    None if there are none.
    """
    names = [name for name in usable[0] if all(name in mine for mine in usable)]
    if not names or not pools.all():
        return None
    z = np.stack([table.metrics[name] for name in names])
    z = z - z.mean(-1, keepdims=True)
    return np.asarray((z / z.std((-1, -2), keepdims=True))[:, :, rows])


def _check(table: ScoreTable, scores: FloatArray, limits: tuple[float, float] | None) -> None:
    counts = np.isfinite(scores).sum(-1)
    few = [s for s, c in zip(table.systems, counts, strict=True) if c < 2]
    if few:
        raise DataError(
            f"the system {few[0]!r} has {counted(int(counts.min()), 'rated segment')}; at least "
            "two are "
            "needed. Rate it on the segments of the others, or leave it out."
        )
    if limits is not None:
        seen = scores[np.isfinite(scores)]
        outside = seen[(seen < limits[0]) | (seen > limits[1])]
        if outside.size:
            raise DataError(
                f"{counted(outside.size, 'score')} {verb(outside.size, 'lie')} outside the scale "
                f"{limits[0]:g} to {limits[1]:g}, "
                f"first {outside[0]:g}. Correct the scores or the limits."
            )


def _with_flat(
    pairs: Pairs,
    estimates: Sequence[LinearEstimate],
    ends: tuple[float, float] | None,
    level: float,
) -> Pairs:
    """Half-widths of differences from a system whose ratings are all equal.

    The possible error of the equal ratings comes from the scale (the rule of three) and is added to
    the half-width of the other system; without the scale it is unknown.
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
