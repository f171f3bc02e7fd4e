"""The score by number of documents: one bootstrap per order and number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng, batches
from fewgold.common.checks import check_choice, check_confidence, check_count
from fewgold.errors import FewgoldError
from fewgold.reliability.result import EPSILON, Reliability
from fewgold.reliability.scores import DocumentScores, ScoreColumns, read_scores

_CELLS = 100_000  # numbers at a time: counting is twice as fast within the cache


#: Scores samples of units, given how often each unit was drawn: (draws, n) -> (draws,).
Scorer = Callable[[FloatArray], FloatArray]


def segment_means(
    values: FloatArray, draws: int, rng: np.random.Generator, others: Sequence[Scorer] = ()
) -> FloatArray:
    """Means of ``draws`` samples of n segments out of n, with replacement.

    ``values`` is (cells, n), and a sample has the same segments for every cell, so differences
    between systems are paired. Returns (draws, cells), with further columns for the scores that
    ``others`` compute from the same samples.
    """
    n = values.shape[1]
    return _resampled(values, np.ones(n), values[:, :1], n, draws, rng, others)


def document_means(
    totals: FloatArray,
    sizes: IntArray,
    draws: int,
    rng: np.random.Generator,
    others: Sequence[Scorer] = (),
) -> FloatArray:
    """Means over segments of samples of whole documents, d − 1 out of d with replacement.

    ``totals`` is (cells, d), sums within documents. Returns (draws, cells), and columns of
    ``others`` as in `segment_means`. With d − 1 rather than d documents the variance of a mean is
    unbiased (Rao and Wu 1988, their m = n − 1), which matters if d is 2 or 3. With one document the
    variance between documents is unknown: NaN.
    """
    cells, d = totals.shape
    if d < 2:
        return np.full((draws, cells + len(others)), np.nan)
    mean = totals.sum(-1, keepdims=True) / sizes.sum()
    return _resampled(totals, sizes.astype(np.float64), mean, d - 1, draws, rng, others)


def _resampled(
    totals: FloatArray,
    sizes: FloatArray,
    pivot: FloatArray,
    count: int,
    draws: int,
    rng: np.random.Generator,
    others: Sequence[Scorer],
) -> FloatArray:
    """Ratios of totals to sizes over samples of ``count`` units, with replacement.

    The sum of a sample is the number of times each unit was drawn times its total; drawing and
    counting take the same time for one system as for twenty. Totals are centred by ``pivot`` times
    the size, so that huge means with tiny spreads keep their precision.
    """
    cells, n = totals.shape
    out = np.empty((draws, cells + len(others)))
    centred = (totals - pivot * sizes).T
    for part in batches(draws, _CELLS // n):
        rows = part.stop - part.start
        drawn = rng.integers(n, size=(rows, count)) + n * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
        out[part, :cells] = pivot.T + counts @ centred / (counts @ sizes)[:, None]
        for k, score in enumerate(others, cells):
            out[part, k] = score(counts)
    return out


class RankAgreement(NamedTuple):
    """Means over draws: Kendall's τ-b, share of pairs in order, share of equal rankings."""

    tau: FloatArray
    pairs: FloatArray
    exact: FloatArray


def rank_agreement(means: FloatArray, full: FloatArray) -> RankAgreement:
    """Compare the rankings of draws (draws, scores, systems) with the full one (scores, systems).

    Pairs that tie in the full set have no order to keep and are left out; pairs that tie in a draw
    count as half in order. A draw in which all systems tie has a τ of 0.

    >>> import numpy as np
    >>> draws = np.array([[[1.0, 2.0, 3.0]], [[2.0, 1.0, 3.0]]])
    >>> found = rank_agreement(draws, np.array([[1.0, 2.0, 4.0]]))
    >>> found.tau.round(3), found.pairs.round(3), found.exact
    (array([0.667]), array([0.833]), array([0.5]))
    """
    first, second = np.triu_indices(full.shape[-1], 1)
    # Values that differ only by rounding are ties.
    least = 1e-9 * (np.abs(full).max(-1, keepdims=True) + np.ptp(full, axis=-1, keepdims=True))
    seen, want = (
        np.where(np.abs(gap) <= least, 0.0, np.sign(gap))
        for gap in (x[..., first] - x[..., second] for x in (means, full))
    )
    ordered = (want != 0).sum(-1)
    product = seen * want
    both = np.sqrt((seen != 0).sum(-1) * ordered)
    tau = np.divide(product.sum(-1), both, out=np.zeros(both.shape), where=both > 0)
    with np.errstate(invalid="ignore", divide="ignore"):  # all tie in the full set: nothing to keep
        pairs = (1 + (product.sum(-1) / ordered)) / 2
    exact = (product == np.abs(want)).all(-1)
    found = (np.where(ordered == 0, np.nan, x.mean(0)) for x in (tau, pairs, exact))
    return RankAgreement(*found)


def _by_document(score: Scorer, sizes: IntArray, counts: FloatArray) -> FloatArray:
    """The score of segments, when whole documents are drawn."""
    return score(np.repeat(counts, sizes, axis=1))


_ROUNDING = 1e-9  # share of the range of the scores: a smaller spread counts as none


def _one_order(
    scores: DocumentScores,
    order: IntArray,
    steps: IntArray,
    resample: str,
    draws: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Figures (scores, systems, steps) for one order of the documents, and those of the ranking."""
    shape = scores.values.shape[:2]
    sizes = scores.sizes[order]
    ends = np.cumsum(sizes)
    rows = np.repeat(scores.starts[order] - ends + sizes, sizes) + np.arange(ends[-1])
    base = scores.values[..., :1].reshape(-1, 1)  # so that what is constant is exactly 0
    values = scores.values.reshape(-1, ends[-1])[:, rows] - base
    totals = np.add.reduceat(values, ends - sizes, axis=-1)
    plain = base + np.cumsum(totals, -1)[:, steps - 1] / ends[steps - 1]
    wholes = [
        (s * shape[1] + m, score, own[rows])
        for s, (score, of_system) in scores.corpus.items()
        for m, own in enumerate(of_system)
    ]  # corpus scores: their cell, and their rows in this order
    for cell, score, own in wholes:
        plain[cell] = [score.of(own[: ends[d - 1]]) for d in steps]
    nothing = _ROUNDING * (values.max(-1) - values.min(-1))
    tail = (1 - confidence) / 2
    ranked = ("tau", "pairs", "exact", "settled")
    found: dict[str, list[Any]] = {name: [] for name in ("mean", "sd", "low", "high", *ranked)}
    cells = [cell for cell, _, _ in wholes]
    for k, d in enumerate(steps.tolist()):
        n = ends[d - 1]
        drawn: list[Scorer] = [partial(score._of_counts, rows=own[:n]) for _, score, own in wholes]
        if resample == "segments":
            means = segment_means(values[:, :n], draws, rng, drawn)
        else:
            drawn = [partial(_by_document, score, sizes[:d]) for score in drawn]
            means = document_means(totals[:, :d], sizes[:d], draws, rng, drawn)
        means, whole = means[:, : len(base)], means[:, len(base) :]
        means[:, cells] = whole - base[cells].T
        spread = means.std(0, ddof=1)
        found["sd"].append(np.where(spread <= nothing, 0.0, spread).reshape(shape))
        means += base.T
        found["mean"].append(means.mean(0).reshape(shape))
        low, high = np.quantile(means, [tail, 1 - tail], axis=0)
        found["low"].append(low.reshape(shape))
        found["high"].append(high.reshape(shape))
        if shape[1] > 1:
            ranks = rank_agreement(means.reshape(-1, *shape), scores.means)
            now = rank_agreement(plain[:, k].reshape(1, *shape), scores.means)
            for name, value in zip(ranked, (*ranks, now.pairs), strict=True):
                found[name].append(value)
    none = np.empty((0, 0))
    stacked = {name: np.stack(v, axis=-1) if v else none for name, v in found.items()}
    stacked["first"] = plain.reshape(*shape, steps.size)
    stacked["segments"] = ends[steps - 1].astype(np.float64)
    return stacked


STEPS = 30  # default number of document counts to try


def _steps(at: Sequence[int] | str | None, total: int, first: int) -> IntArray:
    """The numbers of documents to try."""
    if at is None and total > STEPS:
        # Rounding merges the first ones, so ask for more until there are enough.
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


def reliability(
    data: Any,
    *,
    score: ScoreColumns,
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
    """Reliability of a score with 1, 2, 3, … documents.

    For each number d of documents, segments (or documents) are repeatedly drawn from the first d
    documents, and the standard deviation of the mean score over these draws is reported (Estrella,
    Hamon and Popescu-Belis 2007).

    Parameters
    ----------
    data : dataframe or Pool
        One row per segment and system.
    score : str, sequence of str, or mapping
        Columns of human or metric scores; or arrays by name, one number per row. Scores that are
        not means over segments, such as corpus BLEU, are given as a `CorpusScore`, recomputed on
        every sample.
    document : str
        Column of documents. A pool knows its own.
    system : str, optional
        Column of systems. They are resampled together, on the same segments.
    segment : str, optional
        Column of ids that systems share. Without it, segments are matched by their position in the
        document.
    orders : "file" or int
        Documents in file order, or this many random orders. The order decides which documents come
        first, so a single one depends strongly on chance.
    draws : int
        Bootstrap samples for each order and number of documents.
    resample : {"segments", "documents"}
        The units to draw. ``"segments"``, as in the paper, treats the segments of a document as
        unrelated, and new documents as similar to these. ``"documents"`` draws whole ones, which is
        right if segments of a document are alike, as they mostly are; it starts at two.
    at : sequence of int or "all", optional
        Numbers of documents to try. By default all up to 30; for more documents, 30 numbers that
        are closer together at the start.
    relative : bool
        Divide standard deviations by the mean. Switch this off for scores that may be negative.
    x_i, epsilon : float
        The point of the tangent for x_min, and the slope that defines x_max.
    gaps : {"error", "drop"}
        What to do about segments that lack a score of some system.
    rng : seed or Generator
        Each order has its own random stream.
    progress : callable, optional
        Called with the number of finished orders and the total.

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
        scores.check_means()
    by_file = orders == "file"
    if isinstance(orders, str) and not by_file:
        raise FewgoldError(
            f"orders must be 'file' or a number of random orders, such as 20; got {orders!r}."
        )
    count = 1 if isinstance(orders, str) else check_count("orders", orders)
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
