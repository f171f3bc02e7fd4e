"""How many documents must be rated, from a pilot of rated ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from fewgold.common.arrays import FloatArray
from fewgold.common.checks import check_confidence, check_count
from fewgold.common.statistics import smallest_enough
from fewgold.common.text import cell, number
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.reliability.result import WIDTH, aligned, shortened
from fewgold.reliability.scores import (
    ONE,
    DesignEffects,
    DocumentScores,
    ScoreColumns,
    design_effects,
    read_scores,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class DocumentsNeeded:
    """How many documents a half-width needs, for each score and system. See `documents_needed`."""

    data: DocumentScores
    found: DesignEffects
    half_width: float
    confidence: float
    population: int | None
    against: str | None
    documents: FloatArray

    def at(self, documents: Any) -> FloatArray:
        """The expected half-width with this many documents: (scores, systems, ...)."""
        d = np.asarray(documents, dtype=np.float64)
        if (d < 2).any() or (self.population is not None and (d > self.population).any()):
            most = "" if self.population is None else f" and at most {self.population}"
            raise FewgoldError(f"documents must be at least 2{most}; got {documents!r}.")
        between = self.found.between.reshape(*self.found.between.shape, *(1,) * d.ndim)
        return half_width_of(between, d, self.confidence, self.population)

    def to_frame(self) -> pd.DataFrame:
        """One row per score and system.

        ``value``, ``sd`` of segments, ``icc``, ``deff``, the ``half_width`` if all documents of the
        data are treated as a sample from many, and the ``documents`` and ``segments`` needed (NaN
        if no number is enough). ``expected`` is the expected half-width with them.
        """
        import pandas as pd

        data, got, size = self.data, self.found, float(self.data.sizes.mean())
        now = half_width_of(got.between, np.float64(data.sizes.size), self.confidence, None)
        needed = np.where(np.isnan(self.documents), 2.0, self.documents)
        expected = half_width_of(got.between, needed, self.confidence, self.population)
        pairs = [(score, system) for score in data.scores for system in data.systems]
        columns = {
            "value": got.value, "sd": got.sd, "icc": got.icc, "deff": got.deff, "half_width": now,
            "documents": self.documents, "segments": self.documents * size,
            "expected": np.where(np.isnan(self.documents), np.nan, expected),
        }  # fmt: skip
        frame = pd.DataFrame(pairs, columns=["score", "system"])
        return frame.assign(**{name: values.ravel() for name, values in columns.items()})

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return {
            "target": self.half_width, "confidence": self.confidence, "against": self.against,
            "population": self.population, "documents": int(self.data.sizes.size),
            "segments": int(self.data.sizes.sum()), "rows": self.to_frame().to_dict("records"),
        }  # fmt: skip

    def summary(self) -> str:
        """The answer as text."""
        where = "many" if self.population is None else str(self.population)
        what = "score" if self.against is None else f"difference to {self.against}"
        lines = [
            f"Documents, out of {where}, for a {what} within ±{self.half_width:g} "
            f"({100 * self.confidence:g}%)"
        ]
        head = "mean" if self.against is None else "difference"
        for score, part in self.to_frame().groupby("score", sort=False):
            rows = [[shortened(str(score)), head, "±", "icc", "deff", "documents", "segments"]]
            for row in part.to_dict("records"):
                cells = [shortened(str(row["system"])), number(row["value"])]
                cells += [number(row[name], digits=2) for name in ("half_width", "icc", "deff")]
                rows.append([*cells, cell(row["documents"], 0), cell(row["segments"], 0)])
            lines += aligned(rows)
        notes = (
            f"± treats the {len(self.data.documents)} documents of the data as a sample from "
            "many; icc is the correlation within documents, deff how many times as many "
            "segments are needed with whole documents."
        )
        return "\n".join([*lines, *wrap(notes, WIDTH)])

    def plot(self, ax: Any = None, *, score: str | None = None, **more: Any) -> Any:
        """Plot half-widths against the number of documents, and where they meet the target."""
        import pandas as pd

        from fewgold import plots

        if score is not None and score not in self.data.scores:
            raise UnknownNameError("score", score, self.data.scores)
        if score is None and len(self.data.scores) > 1:
            raise DataError(
                f"there are several scores: choose one of {', '.join(self.data.scores)}."
            )
        s = 0 if score is None else self.data.scores.index(score)
        known = self.documents[s][np.isfinite(self.documents[s])]
        last = max([2.0 * float(d) for d in known] + [float(self.data.sizes.size), 10.0])
        if self.population is not None:
            last = min(
                last, self.population - 1.0
            )  # with all of them there is nothing left to draw
        x = np.unique(np.geomspace(2, max(last, 2), 60).round())
        widths = self.at(x)[s]
        names = [n if n != ONE else self.data.scores[s] for n in self.data.systems]
        curves = [
            pd.DataFrame({"system": name, "documents": x, "half_width": width})
            for name, width in zip(names, widths, strict=True)
        ]
        needed = pd.DataFrame({"system": names, "documents": self.documents[s]})
        told = {"target": self.half_width, **more}
        return plots.documents_for_half_width(
            pd.concat(curves, ignore_index=True), needed, ax, **told
        )

    def __repr__(self) -> str:
        known = self.documents[np.isfinite(self.documents)]
        ends = dict.fromkeys((known.min(), known.max())) if known.size else {}
        said = " to ".join(f"{end:g}" for end in ends) or "no number of"
        return f"DocumentsNeeded({said} documents for ±{self.half_width:g})"


def documents_needed(
    data: Any,
    *,
    half_width: float,
    score: ScoreColumns,
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
    1977, section 9A.1). ``data`` serves as the pilot from which S² is estimated.

    Parameters
    ----------
    data, score, document, system, segment, gaps
        As in `reliability`.
    half_width : float
        In the units of the score.
    against : str, optional
        A system: plan for the differences of the others from it, on the same documents.
    population : int or "these", optional
        The number of documents in the population, if the score of that particular set is wanted;
        ``"these"`` means those of the data. Without it documents represent all of their kind, and
        the finite population correction 1 − d/D is left out.

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
            f"the half-width must be above 0, in units of the score; got {half_width!r}."
        )
    scores = read_scores(
        data, score=score, document=document, system=system, segment=segment, gaps=gaps
    )
    if against is not None:
        scores = _differences(scores, against)
    size: int | None = None
    if isinstance(population, str):
        if population != "these":
            raise FewgoldError(
                f"population must be a number of documents or 'these'; got {population!r}."
            )
        size = int(scores.sizes.size)
    elif population is not None:
        size = check_count("population", population, 2)
    found = design_effects(scores)
    documents = np.vectorize(_fewest_documents, otypes=[float])(
        found.between, half_width, confidence, size
    )
    return DocumentsNeeded(scores, found, float(half_width), confidence, size, against, documents)


def _differences(scores: DocumentScores, against: str) -> DocumentScores:
    """Scores of the other systems minus those of one."""
    if against not in scores.systems:
        raise UnknownNameError("system", against, scores.systems)
    if len(scores.systems) < 2:
        raise DataError("a difference needs two systems. Name their column.")
    base = scores.systems.index(against)
    others = [k for k in range(len(scores.systems)) if k != base]
    return replace(
        scores,
        systems=tuple(scores.systems[k] for k in others),
        values=scores.values[:, others] - scores.values[:, [base]],
        corpus={},
    )


_MOST = 10**9  # documents; beyond that the answer is "never"


def half_width_of(
    between: FloatArray, documents: Any, confidence: float, population: int | None
) -> FloatArray:
    """Student's quantile times the standard error of the mean over d documents."""
    left = 1.0 if population is None else 1 - documents / population
    quantile = stdtrit(documents - 1, (1 + confidence) / 2)
    return np.asarray(quantile * between * np.sqrt(left / documents))


def _fewest_documents(
    between: float, target: float, confidence: float, population: int | None
) -> float:
    """The fewest documents whose half-width is at most the target; NaN if no number is enough."""

    def enough(d: int) -> bool:
        return float(half_width_of(np.asarray(between), d, confidence, population)) <= target

    most = _MOST if population is None else population
    return float(smallest_enough(enough, 2, most)) if enough(most) else float("nan")
