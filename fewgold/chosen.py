"""Existing labels: a table with labels for some rows, and how those rows were chosen.

Nobody drew these rows with fewgold, so there is no record of the design. The user says how they
were chosen, and every result repeats it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewgold.common.arrays import BoolArray, FloatArray, IntArray, codes_of
from fewgold.common.checks import as_names
from fewgold.common.text import counted, verb
from fewgold.design import Design
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.cells import column_of, is_gap
from fewgold.io.columns import (
    LeftOut,
    Reason,
    Roles,
    as_controls,
    roles,
    texts_of,
    with_ids,
    with_paths,
)
from fewgold.pool import Pool

if TYPE_CHECKING:
    import pandas as pd

#: What `Chosen.parse` reads, for messages.
CHOICES = "random, strata:COLUMN, whole:COLUMN or chances:COLUMN"
# Largest accepted distance between the number of labels and the sum of the chances, in standard
# deviations.
_FAR = 5.0
# A column counts as filled in together with the labels if this would happen by chance with less
# than this probability.
_CHANCE = 1e-5


@dataclass(frozen=True)
class Chosen:
    """How the labelled rows of a table were chosen.

    Parameters
    ----------
    how
        ``random``: every row with the same chance. ``strata``: at random within each value of
        ``column``, at rates that may differ. ``whole``: random values of ``column`` (conversations,
        users) with all of their rows. ``chances``: each row with the chance given in ``column``.
    column
        None for ``random``.

    Examples
    --------
    >>> Chosen.parse("strata:language")
    Chosen(how='strata', column='language')
    """

    how: str
    column: str | None = None

    @classmethod
    def parse(cls, text: str | Chosen) -> Chosen:
        """Parse ``random``, ``strata:COLUMN``, ``whole:COLUMN`` or ``chances:COLUMN``."""
        if isinstance(text, Chosen):
            return text
        how, colon, column = str(text).strip().partition(":")
        if (how == "random" and not colon) or (how in ("strata", "whole", "chances") and column):
            return cls(how, column.strip() or None)
        raise DataError(
            f"how the labelled rows were chosen must be {CHOICES}; got {str(text)!r}.",
            hints={
                "cli": "For instance --chosen random, or --chosen strata:language.",
                "python": 'For instance chosen="random", or chosen="strata:language".',
            },
        )

    @property
    def code(self) -> str:
        """The form used in signatures, such as ``strata:language``."""
        return self.how if self.column is None else f"{self.how}:{self.column}"

    def sentence(self, n: int, size: int) -> str:
        """The assumption that every result rests on."""
        rows = f"the {n:,} labelled rows are taken to be"
        if n == size:
            return f"all {size:,} rows are labelled"
        return {
            "random": f"{rows} a simple random sample of the {size:,} rows of the table",
            "strata": f"{rows} simple random samples of the rows of each {self.column}",
            "whole": f"{rows} all rows of values of {self.column} that were chosen at random",
            "chances": f"{rows} drawn independently, with the chances in {self.column}",
        }[self.how]

    def design(self, table: pd.DataFrame, labelled: BoolArray) -> tuple[IntArray, Design]:
        """The chosen rows of a table (a few may still lack a label) and their design."""
        rows, size = np.flatnonzero(labelled), labelled.size
        if self.column is None:
            return rows, Design.simple(rows.size, size)
        if self.column not in table.columns:
            raise UnknownNameError("column", self.column, [str(c) for c in table.columns])
        if self.how == "chances":
            return rows, Design.of_chances(self._chances(table, labelled)[rows], size)
        labels = texts_of(table[self.column])
        if "" in labels:
            raise DataError(
                f"the column {self.column!r} is empty in {counted(labels.count(''), 'row')}, "
                "first in row "
                f"{labels.index('') + 1}. Fill it in for every row."
            )
        codes = codes_of(np.array(labels))
        sizes = np.bincount(codes)
        counts = np.bincount(codes[rows], minlength=sizes.size)
        names = dict(zip(codes.tolist(), labels, strict=True))
        if self.how == "strata":
            bare = np.flatnonzero(counts == 0)
            if bare.size:
                told = (f"{names[int(h)]} ({counted(int(sizes[h]), 'row')})" for h in bare[:4])
                shown = ", ".join(told) + (", …" if bare.size > 4 else "")
                raise DataError(
                    f"{bare.size} of {sizes.size} values of {self.column!r} "
                    f"{verb(bare.size, 'have')} no labelled row: {shown}. Label some rows of each, "
                    "or remove those values from the table: the score then covers only the rest."
                )
            return rows, Design.stratified(codes[rows], sizes)
        touched = np.flatnonzero(counts)
        if touched.size < 2:
            raise DataError(
                f"all labelled rows have the same {self.column} ({names[int(touched[0])]!r}), "
                "so nothing can be learned about how they differ. Label the rows of two or more."
            )
        rows = np.flatnonzero(np.isin(codes, touched))
        return rows, Design.clusters(codes_of(codes[rows]), sizes.size, size)

    def _chances(self, table: pd.DataFrame, labelled: BoolArray) -> FloatArray:
        """Chances of all rows, checked to lie between 0 and 1 and to fit the number of labels."""
        name = str(self.column)
        chances = column_of(table[name], name).values
        wrong = ~((chances > 0) & (chances <= 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"the column {name!r} must hold each row's chance of being labelled, above 0 and "
                f"at most 1; not so in {counted(int(wrong.sum()), 'row')}, the first is row "
                f"{row + 1} ({table[name].iloc[row]!s})."
            )
        n, expected = int(labelled.sum()), float(chances.sum())
        if abs(n - expected) > max(_FAR * float(np.sqrt((chances * (1 - chances)).sum())), 1.0):
            raise DataError(
                f"the chances in {name!r} add up to {expected:,.1f}, but {n:,} rows are "
                "labelled. They must be each row's chance of being labelled, for all rows of the "
                f"table, not weights or shares: multiplied by {n / expected:.4g} they would fit."
            )
        return chances


class Labelled(NamedTuple):
    """A half-labelled table as a pool, the chosen rows, and their labels (NaN where missing)."""

    pool: Pool
    rows: IntArray
    scores: FloatArray
    design: Design
    chosen: Chosen
    roles: Roles
    notes: tuple[str, ...] = ()
    numbered: bool = False  # no column identifies rows, so row numbers serve as ids

    @property
    def sentence(self) -> str:
        """The assumption about how the rows were chosen."""
        return self.chosen.sentence(int(np.isfinite(self.scores).sum()), len(self.pool))


def as_pandas(table: Any) -> pd.DataFrame:
    """Convert any dataframe (pandas, polars, pyarrow, narwhals) to pandas."""
    import narwhals.stable.v2 as nw
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        return table.reset_index(drop=True).rename(columns=str)
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise DataError(
            "expected a dataframe of pandas, polars, pyarrow or narwhals; got "
            f"{type(table).__name__}. "
            + (
                "Collect it first: table.collect()."
                if hasattr(table, "collect")
                else "Read files with fewgold.io.read_table."
            )
        ) from None
    return pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


def _columns(said: Any) -> list[str]:
    """Names of columns as text; a frame made of an array has numbers."""
    return [str(said)] if isinstance(said, int) else [str(name) for name in as_names(said)]


def read_labelled(
    table: Any,
    *,
    human: str | Sequence[str] | None = None,
    chosen: str | Chosen = "random",
    metrics: str | Sequence[str] | None = None,
    id: str | Sequence[str] | None = None,
    document: str | None = None,
    system: str | None = None,
    texts: str | Sequence[str] | None = None,
    orientation: Mapping[str, int] | None = None,
    other: Sequence[str] = (),
) -> Labelled:
    """Read a table in which people labelled some rows.

    Columns that are not named are guessed. Metrics may have gaps, hold words such as pass and fail,
    or be categories (`fewgold.io.columns.as_controls`). Without ids the rows are numbered; an id
    may be made of several columns: ``["conversation", "turn"]``.
    ``other`` are further columns, such as the batch of each row.
    """
    frame, how = as_pandas(table), Chosen.parse(chosen)
    id = None if id is None else ",".join(_columns(id))
    listed: dict[str, Any] = {
        role: None if said is None else _columns(said)
        for role, said in (("human", human), ("metrics", metrics), ("texts", texts))
    }
    used = [c for c in (how.column,) if c is not None and c in frame.columns]
    if how.column is not None and not used:
        raise UnknownNameError("column", how.column, [str(c) for c in frame.columns])
    for name in other:
        if name not in frame.columns:
            raise UnknownNameError("column", name, [str(c) for c in frame.columns])
    used += other
    found = roles(
        frame, id=id, document=document, system=system, orientation=orientation, need_id=False,
        other=[c for c in used if c not in (document, system, id)], **listed,
    )  # fmt: skip
    people = found.some_humans()
    found = found.per_output()
    frame = found.table
    notes: list[str] = []
    scores = _scores(frame, people, notes)
    labelled = np.isfinite(scores)
    if not labelled.any():
        raise DataError(
            f"no row has a label: the column {people[0]!r} is empty. Name the right one, or choose "
            "rows to rate with fewgold select."
        )
    rows, design = how.design(frame, labelled)
    found, late = with_controls(found, labelled, how, named=metrics is not None, without=used)
    notes = [*found.notes(), *notes]
    controls, told = as_controls(
        found, named=metrics is not None, without=[*used, *late], labels=int(labelled.sum())
    )
    ids, about = with_ids(found)
    pool = Pool(
        ids=ids,
        metrics=controls,
        documents=None if found.document is None else _filled(texts_of(frame[found.document])),
        system=None if found.system is None else np.array(texts_of(frame[found.system])),
        texts={name: np.array(texts_of(frame[name]), dtype=object) for name in found.texts},
        orientation=dict(orientation or {}),
    )
    told = [*notes, *about, *told]
    return Labelled(pool, rows, scores[rows], design, how, found, tuple(told), bool(about))


def with_controls(
    found: Roles, labelled: BoolArray, how: Chosen, *, named: bool, without: Sequence[str] = ()
) -> tuple[Roles, list[str]]:
    """The columns that serve as metrics where people labelled some rows, and those that must not.

    Many gaps, or words such as "timeout" in their place, are no reason to leave a metric out: an
    extra column says where they are. Columns that were filled in with the labels are left out.
    """
    late = _with_labels(found, labelled, how, without)
    gappy = [name for name in found.gappy if name not in late]
    wrong = [name for name in (*found.metrics, *found.gappy) if name in late]
    if wrong and named:
        raise DataError(
            f"{wrong[0]!r} cannot be a metric: {late[wrong[0]]}. A metric must not depend on "
            "whether people labelled the row. Leave it out of the metrics."
        )
    kept = (*(name for name in found.metrics if name not in late), *gappy)
    guessed = {"metrics": ", ".join(kept) or "none"} if "metrics" in found.guessed else {}
    left = {name: why for name, why in found.left_out.items() if name not in gappy}
    found = replace(
        found,
        metrics=kept,
        gaps={n: found.cells[n].gaps for n in kept if n in (*found.gaps, *gappy)},
        left_out=left | {name: late[name] for name in wrong},
        guessed={**found.guessed, **guessed},
    )
    return found, list(late)


def _with_labels(
    found: Roles, labelled: BoolArray, how: Chosen, without: Sequence[str]
) -> dict[str, LeftOut]:
    """Columns that were filled in together with the labels, such as other human scores.

    As a metric such a column would be known where its error is known, and nowhere else: standard
    errors would be far too small.
    """
    taken = {found.id, found.document, found.rater, *found.human, *found.texts, *without}
    rest, late = ~labelled, dict[str, LeftOut]()
    if not rest.any():
        return late
    for name in map(str, found.table.columns):
        column = found.cells[name]
        if name in taken or (column.numeric and name not in (*found.metrics, *found.gappy)):
            continue
        cells = column.values if column.numeric else np.array(found.cells.labels(name), object)
        filled = column.finite if column.numeric else cells != ""
        plain = bool(filled.all())
        if plain:  # 0 or "none" may stand where nobody labelled
            filled = cells != cells[rest][0]
        if filled[rest].any() if plain else filled.all():
            continue
        if not filled[rest].any() and filled.any() and not plain:
            late[name] = LeftOut(Reason.LABELLED)
        elif _beyond_chance(filled, labelled, how, found):
            inside, outside = (f"{100 * filled[r].mean():.0f} %" for r in (labelled, rest))
            why = f"filled in for {inside} of the labelled rows and {outside} of the others"
            late[name] = LeftOut(Reason.LABELLED, why)
    return late


def _beyond_chance(filled: BoolArray, labelled: BoolArray, how: Chosen, found: Roles) -> bool:
    """Whether far more labelled rows are filled than the choice of rows explains."""
    from scipy.stats import hypergeom

    codes = np.zeros(filled.size, dtype=np.int64)
    if how.column is not None:
        if how.how == "chances":  # rows with similar chances
            chances = found.cells[how.column].values
            codes = np.searchsorted(np.quantile(chances, [0.2, 0.4, 0.6, 0.8]), chances)
        else:
            codes = codes_of(np.array(found.cells.labels(how.column)))
    if how.how == "whole":  # the values were drawn, not the rows
        count = np.bincount(codes)
        filled = 2 * np.bincount(codes, filled) > count
        labelled = np.bincount(codes, labelled) > 0
        codes = np.zeros(count.size, dtype=np.int64)
    groups = np.unique(codes)
    return any(
        hypergeom.sf((filled & labelled & own).sum() - 1, own.sum(), (filled & own).sum(),
                     (labelled & own).sum()) < _CHANCE / groups.size
        for own in (codes == group for group in groups)
    )  # fmt: skip


def _scores(frame: pd.DataFrame, people: Sequence[str], notes: list[str]) -> FloatArray:
    """The labels, NaN where there is none; for several columns the mean of those present."""
    table = np.empty((len(people), len(frame)))
    for k, name in enumerate(people):
        column = column_of(frame[name], name)
        odd = [row for rows in column.sorts.values() for row in rows]
        if odd or not (column.numeric or column.blank.all()):
            cells = frame[name].tolist()
            first = min(odd) if odd else next(k for k, v in enumerate(cells) if not is_gap(v))
            raise DataError(
                f"the labels in {name!r} must be numbers, or one pair of words such as pass and "
                f"fail; row {first + 1} has {str(cells[first])!r}. Correct it, or empty the cell."
            )
        table[k] = column.values
    known = np.isfinite(table)
    total, count = np.where(known, table, 0.0).sum(0), known.sum(0)
    partly = int(((count > 0) & (count < len(people))).sum())
    if partly:
        notes.append(
            f"{counted(partly, 'row')} with a label in only some of {', '.join(people)}: the mean "
            "of the "
            "labels present is used"
        )
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _filled(labels: list[str]) -> Any:
    """The document of each row; a row without one becomes its own document."""
    return np.array([v or f"row {k + 1}" for k, v in enumerate(labels)])


def join_labels(
    table: pd.DataFrame, labels: pd.DataFrame, on: str, human: str | None = None
) -> pd.DataFrame:
    """The table with the labels of a second one, matched by the column (or columns A,B) ``on``.

    Parameters
    ----------
    table
        One row per item, with metrics.
    labels
        One row per labelled item.
    on
        The column that both tables have.
    human
        The column of labels in the second table; None takes all columns that the first lacks.
    """
    keys = [on] if on in table.columns else [c.strip() for c in on.split(",")]
    table, labels = with_paths(table, keys), with_paths(labels, [*keys, human])
    for name in keys:
        for frame in (table, labels):
            if name not in frame.columns:
                raise UnknownNameError("column", name, [str(c) for c in frame.columns])
    new = [human] if human else [c for c in labels.columns if c not in table.columns]
    for name in new:
        if name not in labels.columns:
            raise UnknownNameError("column", name, [str(c) for c in labels.columns])
    if not new:
        raise DataError(
            "the file of labels has no column that is not already in the table. Name the labels "
            "with --human."
        )

    def key(frame: pd.DataFrame) -> list[tuple[str, ...]]:
        return list(zip(*(texts_of(frame[name]) for name in keys), strict=True))

    places: dict[tuple[str, ...], int] = {}
    for row, label in enumerate(key(table)):
        if places.setdefault(label, row) != row:
            raise DataError(
                f"{on} {':'.join(label)!r} occurs more than once in the table, so labels cannot "
                "be matched. Name all columns that together identify a row: --on A,B."
            )
    own = key(labels)
    strange = [label for label in own if label not in places]
    if strange:
        raise DataError(
            f"{len(strange):,} of {len(own):,} labels {verb(len(strange), 'belong')} to rows that "
            "are not in the table, "
            f"the first with {on} {':'.join(strange[0])!r}. Give the table from which the "
            "labelled rows were chosen."
        )
    if len(set(own)) < len(own):
        twice = next(label for label in own if own.count(label) > 1)
        raise DataError(
            f"{on} {':'.join(twice)!r} has more than one label. Keep one row per item, or give "
            "each rater a column."
        )
    made = table.copy()
    for name in new:
        column: list[Any] = [None] * len(table)
        for label, value in zip(own, labels[name].tolist(), strict=True):
            column[places[label]] = value
        made[name] = column
    return made
