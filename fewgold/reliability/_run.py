"""The score as documents are added: one bootstrap for each order and number of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fewgold._arrays import FloatArray, IntArray, RNGLike, as_rng
from fewgold._validate import check_choice, check_confidence, check_count
from fewgold.errors import DataError, FewgoldError
from fewgold.reliability._fits import EPSILON
from fewgold.reliability._ranks import agreement
from fewgold.reliability._resample import document_means, segment_means
from fewgold.reliability._result import Reliability
from fewgold.reliability._scores import DocumentScores, Score, read_scores

_ROUNDING = 1e-9  # of the range of the scores: a spread below it is none
STEPS = 30  # numbers of documents that are tried if the caller does not say which


def reliability(
    data: Any,
    *,
    score: Score,
    document: str | None = None,
    system: str | None = None,
    segment: str | None = None,
    orders: str | int = "file",
    draws: int = 1500,
    resample: str = "segments",
    at: Sequence[int] | str | None = None,
    relative: bool = True,
    x_i: float = 1.0,
    epsilon: float = EPSILON,
    confidence: float = 0.95,
    gaps: str = "error",
    rng: RNGLike = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reliability:
    """How steady a score is with 1, 2, 3, … documents.

    For each number d of documents, segments (or documents) are drawn again and again from the first
    d documents, and the spread of the mean score over these draws is its standard deviation there
    (Estrella, Hamon and Popescu-Belis 2007).

    Parameters
    ----------
    data : dataframe or Pool
        One row a segment and system.
    score : str, sequence of str, or mapping
        Columns of human or metric scores; or arrays by name, one number a row.
    document : str
        Column of documents. A pool knows its own.
    system : str, optional
        Column of systems. They are resampled together, on the same segments.
    segment : str, optional
        Column of ids that systems share. Without it, segments of a document belong together by
        their place in it.
    orders : "file" or int
        Documents as they come, or so many random orders. The order decides what the first
        documents are, so that a single one tells much about chance.
    draws : int
        Bootstrap samples for each order and number of documents.
    resample : {"segments", "documents"}
        What is drawn. ``"segments"`` is the paper's: it takes the segments of a document for
        unrelated, and new documents to be like these. ``"documents"`` draws whole ones, which is
        right where segments of a document are alike, as they mostly are; it starts at two.
    at : sequence of int or "all", optional
        Numbers of documents to try. By default all up to 30; of more documents, 30 numbers that
        lie closer together at the start.
    relative : bool
        Divide standard deviations by the mean. For scores that may be negative, switch it off.
    x_i, epsilon : float
        Where the tangent of x_min touches, and the slope at which x_max lies.
    gaps : {"error", "drop"}
        What to do about segments that lack a score of some system.
    rng : seed or Generator
        Each order has a stream of its own.
    progress : callable, optional
        Told how many orders are done, and of how many.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> pool, gold = load_demo("ende", rater="rater3")
    >>> found = reliability(pool, score={"human": gold}, draws=300, rng=0)
    >>> found
    Reliability(1 score, 1 system, 65 documents, file order, 300 draws of segments)
    >>> fit = found.fits().iloc[0]
    >>> fit["kind"], bool(2 < fit["x_min"] < 6)
    ('power', True)
    """
    check_choice("resample", resample, ("segments", "documents"))
    check_count("draws", draws, 2)
    check_confidence(confidence)
    if not x_i > 0 or not epsilon > 0:
        raise FewgoldError(f"x_i and epsilon must be above 0; got {x_i!r} and {epsilon!r}.")
    scores = read_scores(
        data, score=score, document=document, system=system, segment=segment, gaps=gaps
    )
    if relative:
        _check_means(scores)
    by_file = orders == "file"
    count = 1 if by_file else _count_orders(orders)
    steps = _steps(at, len(scores.documents), first=1 if resample == "segments" else 2)
    parts = []
    for k, stream in enumerate(as_rng(rng).spawn(count)):
        documents = np.arange(scores.sizes.size)
        order = documents if by_file else stream.permutation(documents)
        parts.append(_one_order(scores, order, steps, resample, draws, confidence, stream))
        if progress is not None:
            progress(k + 1, count)
    return Reliability(
        data=scores, at=steps, draws=draws, resample=resample, file_order=by_file,
        relative=bool(relative), x_i=float(x_i), epsilon=float(epsilon), confidence=confidence,
        **{name: np.stack([part[name] for part in parts], axis=-2) for name in parts[0]},
    )  # fmt: skip


def _one_order(
    scores: DocumentScores,
    order: IntArray,
    steps: IntArray,
    resample: str,
    draws: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Figures (scores, systems, steps) of one order of the documents, and of the ranking there."""
    shape = scores.values.shape[:2]
    sizes = scores.sizes[order]
    ends = np.cumsum(sizes)
    starts = np.concatenate([[0], np.cumsum(scores.sizes)[:-1]])[order]
    rows = np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1])
    base = scores.values[..., :1].reshape(-1, 1)  # so that what is constant is exactly 0
    values = scores.values.reshape(-1, ends[-1])[:, rows] - base
    totals = np.add.reduceat(values, ends - sizes, axis=-1)
    plain = base + np.cumsum(totals, -1)[:, steps - 1] / ends[steps - 1]
    nothing = _ROUNDING * (values.max(-1) - values.min(-1))
    tail = (1 - confidence) / 2
    found: dict[str, list[Any]] = {
        name: [] for name in ("mean", "sd", "low", "high", "tau", "pairs", "exact", "settled")
    }
    for k, d in enumerate(steps.tolist()):
        if resample == "segments":
            means = segment_means(values[:, : ends[d - 1]], draws, rng)
        else:
            means = document_means(totals[:, :d], sizes[:d], draws, rng)
        spread = means.std(0, ddof=1)
        found["sd"].append(np.where(spread <= nothing, 0.0, spread).reshape(shape))
        means += base.T
        found["mean"].append(means.mean(0).reshape(shape))
        low, high = np.quantile(means, [tail, 1 - tail], axis=0)
        found["low"].append(low.reshape(shape))
        found["high"].append(high.reshape(shape))
        if shape[1] > 1:
            ranks = agreement(means.reshape(-1, *shape), scores.means)
            now = agreement(plain[:, k].reshape(1, *shape), scores.means)
            for name, value in zip(("tau", "pairs", "exact"), ranks, strict=True):
                found[name].append(value)
            found["settled"].append(now.pairs)
    stacked = {name: np.stack(v, axis=-1) for name, v in found.items() if v}
    stacked["first"] = plain.reshape(*shape, steps.size)
    stacked["segments"] = ends[steps - 1].astype(np.float64)
    return {"tau": _none(), "pairs": _none(), "exact": _none(), "settled": _none()} | stacked


def _none() -> FloatArray:
    return np.empty((0, 0))


def _count_orders(orders: str | int) -> int:
    if isinstance(orders, str):
        raise FewgoldError(
            f"orders must be 'file' or a number of random orders, such as 20; got {orders!r}."
        )
    return check_count("orders", orders)


def _steps(at: Sequence[int] | str | None, total: int, first: int) -> IntArray:
    """The numbers of documents to try."""
    if at is None and total > STEPS:
        # Rounding makes the first ones fall together, so ask for more until there are enough.
        for tried in range(STEPS, 20 * STEPS):
            steps = np.unique(np.geomspace(first, total, tried).round().astype(np.int64))
            if steps.size >= STEPS:
                break
        return steps
    if at is None or isinstance(at, str):
        if isinstance(at, str):
            check_choice("at", at, ("all",))
        return np.arange(first, total + 1)
    steps = np.unique(np.array([check_count("at", d) for d in at], dtype=np.int64))
    if not steps.size or steps[0] < first or steps[-1] > total:
        raise FewgoldError(
            f"at must be numbers of documents from {first} to {total}; got {list(at)!r}."
        )
    return steps


def _check_means(scores: DocumentScores) -> None:
    top = np.abs(scores.values).max(-1)
    zero = np.argwhere(np.abs(scores.means) <= 1e-12 * top)
    if zero.size:
        which, who = zero[0]
        raise DataError(
            f"score {scores.scores[which]!r} of system {scores.systems[who]!r} is 0 on average, so "
            "a standard deviation relative to the mean means nothing. Take it as it is with "
            "relative=False (--absolute)."
        )
