"""How many documents must be rated, from a pilot of rated ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewgold._validate import check_confidence, check_count
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.reliability._clusters import clusters
from fewgold.reliability._columns import Score
from fewgold.reliability._documents_table import DocumentsNeeded
from fewgold.reliability._half_width import fewest_documents
from fewgold.reliability._read import read_scores
from fewgold.reliability._scores import DocumentScores


def documents_needed(
    data: Any,
    *,
    half_width: float,
    score: Score,
    document: str | None = None,
    system: str | None = None,
    segment: str | None = None,
    against: str | None = None,
    confidence: float = 0.95,
    population: int | str | None = None,
    gaps: str = "error",
) -> DocumentsNeeded:
    """How many whole documents must be rated to know a score to within ``half_width``.

    Documents are drawn at random and rated completely; the score is the mean over their segments, a
    ratio of two sums, as documents have different sizes. With the residuals e = total − value·size
    of the documents, whose variance is S², its standard error is √((1 − d/D)·S²/d) over the mean
    size, and the half-width is Student's quantile at d − 1 degrees of freedom times that (Cochran
    1977, section 9A.1). ``data`` serves as the pilot that tells S².

    Parameters
    ----------
    data, score, document, system, segment, gaps
        As for `reliability`.
    half_width : float
        In the units of the score.
    against : str, optional
        A system: plan for the differences of the others to it, on the same documents.
    population : int or "these", optional
        The documents that there are to draw from, if the score of that very set is wanted:
        ``"these"`` are those of the data. Without it documents stand for all of their kind, and the
        finite population correction 1 − d/D is left out.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> pool, gold = load_demo("ende", rater="rater3")
    >>> plan = documents_needed(pool, score={"human": gold}, half_width=0.5)
    >>> plan
    DocumentsNeeded(82 documents for ±0.5)
    >>> documents_needed(pool, score={"human": gold}, half_width=0.5, population="these")
    DocumentsNeeded(37 documents for ±0.5)
    """
    check_confidence(confidence)
    if not 0 < half_width < float("inf"):
        raise FewgoldError(
            f"half_width must be above 0, in units of the score; got {half_width!r}."
        )
    scores = read_scores(
        data, score=score, document=document, system=system, segment=segment, gaps=gaps
    )
    if against is not None:
        scores = differences(scores, against)
    size: int | None = None
    if isinstance(population, str):
        if population != "these":
            raise FewgoldError(
                f"population must be a number of documents or 'these'; got {population!r}."
            )
        size = int(scores.sizes.size)
    elif population is not None:
        size = check_count("population", population, 2)
    found = clusters(scores)
    documents = np.vectorize(fewest_documents, otypes=[float])(
        found.between, half_width, confidence, size
    )
    return DocumentsNeeded(scores, found, float(half_width), confidence, size, against, documents)


def differences(scores: DocumentScores, against: str) -> DocumentScores:
    """Scores of the other systems less those of one."""
    if against not in scores.systems:
        raise UnknownNameError("system", against, scores.systems)
    if len(scores.systems) < 2:
        raise DataError("a difference needs two systems. Name their column (system=).")
    base = scores.systems.index(against)
    others = [k for k in range(len(scores.systems)) if k != base]
    return DocumentScores(
        scores.scores, tuple(scores.systems[k] for k in others), scores.documents,
        scores.values[:, others] - scores.values[:, [base]], scores.sizes, scores.left_out,
    )  # fmt: skip
