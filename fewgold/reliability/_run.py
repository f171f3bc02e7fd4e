"""The score as documents are added: one bootstrap for each order and number of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fewgold._arrays import RNGLike, as_rng
from fewgold._validate import check_choice, check_confidence, check_count
from fewgold.errors import FewgoldError
from fewgold.reliability._columns import Score
from fewgold.reliability._fits import EPSILON
from fewgold.reliability._one_order import one_order
from fewgold.reliability._read import read_scores
from fewgold.reliability._result import Reliability
from fewgold.reliability._scores import check_means
from fewgold.reliability._steps import count_orders, steps_of


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
        check_means(scores)
    by_file = orders == "file"
    count = 1 if by_file else count_orders(orders)
    steps = steps_of(at, len(scores.documents), first=1 if resample == "segments" else 2)
    parts = []
    for k, stream in enumerate(as_rng(rng).spawn(count)):
        documents = np.arange(scores.sizes.size)
        order = documents if by_file else stream.permutation(documents)
        parts.append(one_order(scores, order, steps, resample, draws, confidence, stream))
        if progress is not None:
            progress(k + 1, count)
    return Reliability(
        data=scores, at=steps, draws=draws, resample=resample, file_order=by_file,
        relative=bool(relative), x_i=float(x_i), epsilon=float(epsilon), confidence=confidence,
        **{name: np.stack([part[name] for part in parts], axis=-2) for name in parts[0]},
    )  # fmt: skip
