"""Scores of segments in documents: reading them, and design effects of documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fewgold import io
from fewgold.common.arrays import FloatArray, IntArray, codes_of
from fewgold.common.checks import check_choice, no_number
from fewgold.common.statistics import intraclass_correlation
from fewgold.common.text import counted
from fewgold.errors import DataError, UnknownNameError
from fewgold.pool import Pool
from fewgold.reliability.corpus import CorpusScore

ONE = "(all)"  # the name of the only system if there is no system column


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """Scores by score, system and segment, with the segments of a document together, in file order.

    ``values`` is (scores, systems, segments) and ``sizes`` says how many segments each document
    has. ``left_out`` counts segments that lacked a score. For a corpus score ``values`` are the
    contributions of segments (jackknife pseudo-values), and ``corpus`` has the score itself and its
    rows (systems, segments), by the index of the score.
    """

    scores: tuple[str, ...]
    systems: tuple[str, ...]
    documents: tuple[str, ...]
    values: FloatArray
    sizes: IntArray
    left_out: int = 0
    corpus: Mapping[int, tuple[CorpusScore, IntArray]] = field(default_factory=dict)

    @property
    def starts(self) -> IntArray:
        """Where each document begins: (documents,)."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def means(self) -> FloatArray:
        """The score of all documents together: (scores, systems)."""
        return np.asarray(self.values.mean(-1))

    @property
    def totals(self) -> FloatArray:
        """Sums within documents: (scores, systems, documents)."""
        return np.asarray(np.add.reduceat(self.values, self.starts, axis=-1))

    def check_means(self) -> None:
        """Raise an error for means of 0, if results are relative to them."""
        top = np.abs(self.values).max(-1)
        zero = np.argwhere(np.abs(self.means) <= 1e-12 * top)
        if zero.size:
            which, who = zero[0]
            raise DataError(
                f"score {self.scores[which]!r} of system {self.systems[who]!r} is 0 on average, "
                "so a standard deviation relative to the mean is undefined.",
                hints={
                    "python": "Use absolute values: relative=False.",
                    "cli": "Use absolute values: --absolute.",
                    "web": "Use absolute values.",
                },
            )


#: Columns of scores, or arrays and corpus scores by name.
ScoreColumns: TypeAlias = str | Sequence[str] | Mapping[str, Any]


def read_scores(
    data: Any,
    *,
    score: ScoreColumns,
    document: str | None,
    system: str | None,
    segment: str | None,
    gaps: str,
) -> DocumentScores:
    """Read a frame or a pool; see `fewgold.reliability.reliability` for the arguments."""
    check_choice("gaps", gaps, ("error", "drop"))
    column, names = _columns(data)
    if isinstance(data, Pool):
        if document is None and data.documents is None:
            raise DataError("the pool has no documents. Give it documents, or name a column.")
        document = document or "document"
        system = "system" if system is None and data.system is not None else system
        # Ids of a pool are all different, so they cannot match segments between systems.
    if document is None:
        raise DataError("reliability is computed over documents: name the column that holds them.")
    given = _given_scores(score, column, names)
    for name in (document, system, segment):
        if name is not None and name not in names:
            raise UnknownNameError("column", name, names)
    roles = [name for name in (document, system, segment) if name is not None]
    if len(set(roles)) < len(roles):
        raise DataError(f"documents, systems and segments each need their own column; got {roles}.")
    docs = _labels(document, column(document))
    n = docs.size
    teams = np.full(n, ONE) if system is None else _labels(system, column(system))
    whole_sets = {k: v for k, v in enumerate(given.values()) if isinstance(v, CorpusScore)}
    values = np.stack([_row_numbers(name, v, n) for name, v in given.items()])
    doc, team = codes_of(docs), codes_of(teams)
    if segment is None:
        place = _positions(doc, team)
        _check_paired(doc, team, docs)
    else:
        place = codes_of(_labels(segment, column(segment)))
    unit = codes_of(doc * (int(place.max()) + 1) + place)
    cube = _cube(values, team, unit, repeat=segment or "position", alone=system is None)
    first = np.unique(unit, return_index=True)[1]
    by_doc = np.argsort(doc[first], kind="stable")
    cube, of_doc = cube[..., by_doc], doc[first][by_doc]
    whole = np.isfinite(cube).all((0, 1))
    if not whole.all():
        if gaps == "error":
            missing = np.isnan(cube).any(1).sum(1)
            parts = ", ".join(f"{s!r} {m}" for s, m in zip(given, missing, strict=True) if m)
            raise DataError(
                f"segments that lack a score for a system: {parts} of {cube.shape[-1]}. All "
                "numbers of documents must be compared on the same footing.",
                hints={
                    "python": "Fill the gaps, or leave these segments out (gaps='drop').",
                    "cli": "Fill the gaps, or leave these segments out with --drop-gaps.",
                    "web": "Fill the gaps, or leave these segments out.",
                },
            )
        cube, of_doc = cube[..., whole], of_doc[whole]
    corpus = {k: (made, cube[k].astype(np.int64)) for k, made in whole_sets.items()}
    kept, sizes = np.unique(of_doc, return_counts=True)
    if of_doc.size < 2:
        raise DataError(
            f"expected at least two segments with scores in every system; got {of_doc.size}. "
            "One segment shows no spread."
        )
    if kept.size < 2:
        raise DataError(
            f"expected at least two documents; got {kept.size} with {of_doc.size} segments. A "
            "single document cannot show the effect of adding more. Is it the right column?"
        )
    for k, (made, rows) in corpus.items():
        cube[k] = [made._pseudo_values(own) for own in rows]
    cube.setflags(write=False)
    return DocumentScores(
        scores=tuple(given),
        systems=tuple(str(t) for t in teams[np.unique(team, return_index=True)[1]]),
        documents=tuple(str(d) for d in docs[np.unique(doc, return_index=True)[1]][kept]),
        values=cube,
        sizes=sizes.astype(np.int64),
        left_out=int((~whole).sum()),
        corpus=corpus,
    )


def _columns(data: Any) -> tuple[Callable[[str], NDArray[Any]], list[str]]:
    """A function that returns a column, and the names of all columns."""
    if isinstance(data, Pool):
        found: dict[str, NDArray[Any]] = {**data.texts, **data.metrics, "id": data.ids}
        if data.documents is not None:
            found["document"] = data.documents
        if data.system is not None:
            found["system"] = data.system
        return found.__getitem__, list(found)
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise DataError(
            f"expected a dataframe or a Pool; got {type(data).__name__}. Read files with "
            "fewgold.io.read_table."
        ) from None
    return (lambda name: np.asarray(frame[name].to_numpy())), [str(c) for c in frame.columns]


def _given_scores(
    score: ScoreColumns, column: Callable[[str], NDArray[Any]], names: Sequence[str]
) -> dict[str, Any]:
    """The scores by name: columns, arrays, or corpus scores."""
    if isinstance(score, Mapping):
        found = {
            str(name): values if isinstance(values, CorpusScore) else np.asarray(values)
            for name, values in score.items()
        }
    else:
        wanted = [score] if isinstance(score, str) else list(score)
        for name in wanted:
            if name not in names:
                raise UnknownNameError("column", str(name), names)
        found = {name: column(name) for name in wanted}
    if not found:
        raise DataError("expected at least one score; got none. Name a column of scores.")
    return found


def _labels(name: str, raw: NDArray[Any]) -> NDArray[Any]:
    """A column as text; every row needs a label."""
    empty = [k for k, v in enumerate(raw.tolist()) if io.is_empty(v)]
    if empty:
        raise DataError(
            f"column {name!r} is empty in {counted(len(empty), 'row')}, first in row {empty[0]} "
            "(counted from "
            "0). Fill them in or leave these rows out."
        )
    return np.array([str(v) for v in raw.tolist()])


def _row_numbers(name: str, score: Any, n: int) -> FloatArray:
    """Scores as numbers; for a corpus score the row numbers, from 0."""
    if not isinstance(score, CorpusScore):
        return _numbers(name, score, n)
    # A score made with `of_rows` has no counts, but knows its number of rows.
    if score._rows != n:
        raise DataError(
            f"score {name!r} has statistics of {score._rows} rows; the table has {n}. They must be "
            "in the order of the table."
        )
    return np.arange(n, dtype=np.float64)


def _numbers(name: str, raw: NDArray[Any], n: int) -> FloatArray:
    """Scores as numbers, NaN where there is none."""
    if raw.shape != (n,):
        raise DataError(f"score {name!r} has shape {raw.shape}; expected {n} numbers, one per row.")
    found = io.column_of(raw, name)
    infinite = found.sorts.get("infinite", ())
    if infinite:
        raise DataError(f"score {name!r} is infinite in row {min(infinite)}.")
    wrong = sorted(k for rows in found.sorts.values() for k in rows)
    if wrong:
        value = raw.tolist()[wrong[0]]
        raise DataError(
            f"score {name!r} must hold numbers; got {value!r} in row {wrong[0]} (counted from 0). "
            f"{no_number(value)}"
        )
    return found.values


def _positions(doc: IntArray, team: IntArray) -> IntArray:
    """The position of each row within its document and system: 0, 1, …"""
    cell = doc * (int(team.max()) + 1) + team
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    lengths = np.diff(np.append(starts, cell.size))
    place = np.empty(cell.size, dtype=np.int64)
    place[order] = np.arange(cell.size) - np.repeat(starts, lengths)
    return place


def _check_paired(doc: IntArray, team: IntArray, docs: NDArray[Any]) -> None:
    counts = np.zeros((int(doc.max()) + 1, int(team.max()) + 1), dtype=np.int64)
    np.add.at(counts, (doc, team), 1)
    uneven = np.flatnonzero((counts != counts[:, :1]).any(1))
    if uneven.size:
        name = docs[int(np.argmax(doc == uneven[0]))]
        raise DataError(
            f"systems have different numbers of segments in {uneven.size} documents, first in "
            f"{str(name)!r}, so they cannot be matched.",
            hints={
                "python": "Name the column of segment ids (segment=…).",
                "cli": "Name the column of segment ids with --segment.",
                "web": "Choose the column of segment ids.",
            },
        )


def _cube(values: FloatArray, team: IntArray, unit: IntArray, repeat: str, alone: bool) -> Any:
    """Scores (scores, rows) as (scores, systems, segments), NaN if there is no row."""
    shape = int(team.max()) + 1, int(unit.max()) + 1
    cell = team * shape[1] + unit
    twice = cell.size - np.unique(cell).size
    if twice:
        hint = "Name the column of systems." if alone else "Average over raters first."
        raise DataError(
            f"{twice} rows repeat a segment ({repeat}) of the same document and system. {hint}"
        )
    cube = np.full((len(values), shape[0] * shape[1]), np.nan)
    cube[:, cell] = values
    return cube.reshape(len(values), *shape)


@dataclass(frozen=True, eq=False)
class DesignEffects:
    """Effect of documents on the variance of a mean, for each score and system: (scores, systems).

    Attributes
    ----------
    value
        The mean over all segments.
    sd
        Standard deviation of segments.
    between
        Standard deviation of a document's contribution: that of (total − value·size) over the
        mean size. The mean of d documents, drawn from many, has the standard error between/√d.
    icc
        Intraclass correlation by analysis of variance: 0 if segments of a document are no more
        alike than others, 1 if they are equal; NaN if all documents have one segment.
    deff
        Design effect: variance with whole documents over that with the same number of single
        segments.
    """

    value: FloatArray
    sd: FloatArray
    between: FloatArray
    icc: FloatArray
    deff: FloatArray


def design_effects(scores: DocumentScores) -> DesignEffects:
    """Compute `DesignEffects` (Cochran 1977, ch. 9A; Lohr 2022, ch. 5)."""
    d, n = scores.sizes.size, scores.sizes.sum()
    value = scores.means
    deviations = scores.values - value[..., None]
    excess = np.add.reduceat(deviations, scores.starts, axis=-1)  # total − value·size
    variance = (deviations**2).sum(-1) / (n - 1)
    between = (excess**2).sum(-1) / (d - 1) / (n / d) ** 2
    icc = intraclass_correlation(scores.values, np.repeat(np.arange(d), scores.sizes))
    with np.errstate(invalid="ignore", divide="ignore"):
        deff = between / d / (variance / n)
    return DesignEffects(value, np.sqrt(variance), np.sqrt(between), icc, deff)
