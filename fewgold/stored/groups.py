"""Groups of a pool on disk, with known sizes, and their rows by rank.

A row is addressed by its group and its rank there. Rows are ranked by the metrics, and for ties (or
without metrics) by the md5 of a salt and the id, so that ranks do not depend on files, threads or
the engine. Ranks are drawn at random, so any order is valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import md5
from math import ceil, log
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.errors import DataError
from fewgold.stored.engine import Engine, literal
from fewgold.stored.sources import TableView, refuse_id

if TYPE_CHECKING:
    import pandas as pd

#: SQL for the part of a group that a row is in, and the part of each wanted row.
Part: TypeAlias = tuple[str, NDArray[Any]]
_FETCHING = "Fetching the chosen segments"

# Groups with more rows than this are divided by the ends of the ids before their rows are ranked.
_GIANT = 50_000
# Approximate rows per cell of the line of scores, and its numbers of cells as powers of two. Bins
# consist of whole cells.
_IN_CELL, _LEAST_CELLS, _MOST_CELLS = 250, 10, 16
# Fewest md5 digits by which a line of documents is divided.
_DIGITS = 4


@dataclass(frozen=True)
class Wanted:
    """Rows to fetch: the group of each (a label as in ``by``) and the rank in it, from 0.

    Rows are ranked by the metrics, or by the columns ``ranks``. ``near`` is a stored table with the
    rows of these groups, if there is one.
    """

    by: str
    label: NDArray[Any]
    rank: IntArray
    size: IntArray
    ranks: tuple[str, ...] | None = None
    near: str | None = None

    def some(self, which: NDArray[Any]) -> Wanted:
        """The rows at some positions, in that order, or where a mask is True."""
        return replace(self, label=self.label[which], rank=self.rank[which], size=self.size[which])

    def then(self, more: Wanted) -> Wanted:
        """These rows, then others by the same label."""
        return replace(
            self,
            label=np.concatenate([self.label, more.label]),
            rank=np.concatenate([self.rank, more.rank]),
            size=np.concatenate([self.size, more.size]),
        )


def salt_of(rng: Generator) -> str:
    """A salt for the keys of ids and documents, so that each seed gives a different order."""
    return f"{int(rng.integers(1 << 62)):016x}"


def hashed(salt: str, value: str) -> str:
    """A random but repeatable key of a value, as SQL."""
    return f"md5(concat({literal(salt + ':')}, {value}))"


def fetch_rows(view: TableView, wanted: Wanted, salt: str, order: str | None) -> pd.DataFrame:
    """The requested rows, in that order.

    ``order`` ranks the rows of a group by something other than chance. If ranks are random, very
    large groups are first divided by the last characters of the ids: any rank is as good as any
    other, and only few rows are hashed. If the engine knows the positions of rows, groups are found
    by the columns that define them, and other columns are read only near the chosen rows.
    """
    import pandas as pd

    parts = []
    for which, part, sub in _parts(view, wanted, salt, whole=order is not None):
        found = _fetch(view, part, salt, order, sub)
        found.index = pd.Index(which[found.pop("place_").to_numpy()])
        parts.append(found)
    both = pd.concat(parts).sort_index()
    if both["id_raw"].duplicated().any():
        refuse_id(both["id_raw"][both["id_raw"].duplicated()].iloc[0])
    _check_complete(both, wanted)
    return both


def fetch_numbers(
    view: TableView, wanted: Wanted, salt: str, keep: str | None = None
) -> pd.DataFrame:
    """The columns ``wanted.ranks`` of the requested rows, in that order.

    Tied rows are equal in these columns, so no id needs to be read. The rows of all searched
    groups, except giant ones, are kept under a name, so that some can be fetched later.
    """
    import pandas as pd

    assert wanted.ranks is not None
    doing, parts = "Reading candidates", []
    for which, part, sub in _parts(view, wanted, salt):
        ask, keys, cells, near = _asked(view, part, sub)
        view.engine._add("wanted_", ask)
        own = ", ".join(f"c.{name}" for name in (*keys, *wanted.ranks))
        met = f"({cells} SELECT {own} {near})"
        if keep is not None and sub is None:
            view.engine._keep(keep, f"{cells} SELECT c.file_, c.row_, {own} {near}", doing)
            met = keep
        line = f"PARTITION BY {', '.join(keys)} ORDER BY {', '.join(wanted.ranks)}"
        found = view.engine._frame(
            f"""SELECT {", ".join(f"c.{name}" for name in wanted.ranks)}, w.place_
            FROM (SELECT *, row_number() OVER ({line}) AS rank_ FROM {met} AS m) AS c
            INNER JOIN wanted_ AS w ON {_match(keys)} AND c.rank_ = w.rank_""",
            doing,
        )
        view.engine._drop("wanted_")
        found.index = pd.Index(which[found.pop("place_").to_numpy()])
        parts.append(found)
    both = pd.concat(parts).sort_index()
    _check_complete(both, wanted)
    return both


def _check_complete(found: pd.DataFrame, wanted: Wanted) -> None:
    if len(found) != len(wanted.rank) or not found.index.is_unique:
        raise DataError(
            f"{len(wanted.rank)} rows were expected, but {len(found)} were found. Did the files "
            "change in the meantime? Draw again."
        )


def _parts(
    view: TableView, wanted: Wanted, salt: str, *, whole: bool = False
) -> Iterator[tuple[IntArray, Wanted, Part | None]]:
    """Positions of the wanted rows, the rows themselves, and the parts of giant groups.

    Groups stay ``whole`` if their order is not random.
    """
    giant = wanted.size > (np.inf if whole else _GIANT)
    for which in (np.flatnonzero(~giant), np.flatnonzero(giant)):
        if which.size:
            part = wanted.some(which)
            if giant[which[0]]:
                yield which, *_cut_giants(view, replace(part, near=None), salt)
            else:
                yield which, part, None


def _asked(
    view: TableView, wanted: Wanted, sub: Part | None
) -> tuple[pd.DataFrame, list[str], str, str]:
    """The table ``wanted_``, its group keys, and SQL (common tables, FROM) for their rows ``c``."""
    import pandas as pd

    ask = pd.DataFrame({"cell_": wanted.label, "rank_": wanted.rank + 1})
    ask["place_"] = np.arange(len(ask))
    cell = [f"{wanted.by} AS cell_"]
    if sub is not None:
        ask["sub_"] = sub[1]
        cell.append(f"{sub[0]} AS sub_")
    keys = [name for name in ("cell_", "sub_") if name in ask]
    cut = f"SELECT *, {', '.join(cell)} FROM {view.table}"
    if wanted.near is not None:
        cut = f"SELECT * FROM {wanted.near}"
    cells = f"""
        WITH cells_ AS (SELECT DISTINCT {", ".join(keys)} FROM wanted_), cut_ AS ({cut})"""
    return ask, keys, cells, f"FROM cut_ AS c INNER JOIN cells_ AS w ON {_match(keys)}"


def _match(keys: list[str]) -> str:
    return " AND ".join(f"c.{name} = w.{name}" for name in keys)


def _fetch(
    view: TableView, wanted: Wanted, salt: str, order: str | None, sub: Part | None
) -> pd.DataFrame:
    """Rows of groups, or of their parts ``sub``, with ``place_``, the index of the wanted row."""
    columns = view.columns.shown
    ask, keys, cells, near = _asked(view, wanted, sub)
    match = _match(keys)
    view.engine._add("wanted_", ask)
    # Any order that is the same for every engine is valid, since wanted ranks are random: the order
    # of the metrics is available, and ids are read only for ties.
    ranks = [c for c in columns if c.startswith("m")] if order is None else [order]
    ranks = ranks if wanted.ranks is None else list(wanted.ranks)
    if view.placed and ranks and ranks != ["id_"]:
        tied = salt if order is None else None
        found = _fetch_placed(view, ask, keys, (cells, near), match, ranks, tied)
    else:
        line = [*ranks, *([hashed(salt, "id_")] if order is None else []), "id_"]
        listed = ", ".join(f"c.{name}" for name in columns)
        sql = f"""
            {cells}, met_ AS (SELECT c.* {near}),
            ranked_ AS (
                SELECT *, row_number() OVER line_ AS rank_,
                    lag(id_) OVER line_ AS before_
                FROM met_ WINDOW line_ AS (
                    PARTITION BY {", ".join(keys)} ORDER BY {", ".join(line)}
                )
            )
            SELECT {listed}, w.place_, coalesce(c.id_ = c.before_, FALSE) AS twice_
            FROM ranked_ AS c LEFT JOIN wanted_ AS w ON {match} AND c.rank_ = w.rank_
            WHERE w.place_ IS NOT NULL OR c.id_ = c.before_
        """
        found = view.engine._frame(sql, _FETCHING)
    view.engine._drop("wanted_")
    double = found[found["twice_"].to_numpy(dtype=bool)]
    if len(double):
        refuse_id(double["id_raw"].iloc[0])
    return found.drop(columns="twice_")


def _fetch_placed(
    view: TableView, ask: pd.DataFrame, keys: list[str], near: tuple[str, str], match: str,
    ranks: list[str], salt: str | None,
) -> pd.DataFrame:  # fmt: skip
    """The same by position of rows, for engines that know it.

    The columns that define groups (``keys``) and ``ranks`` decide which rows are near the wanted
    ones. Ids and texts are read only for the chosen rows and for rows tied with them: ties are
    resolved by the md5 of salt and id, or by the ids. ``ask`` is the table ``wanted_``; ``near``
    are common tables and a FROM clause that give the rows ``c`` of the wanted groups ``w``, which
    ``match`` compares.
    """
    engine, columns = view.engine, view.columns.shown
    tables, source = near
    own, listed = (", ".join(f"c.{name}" for name in names) for names in (keys, ranks))
    engine._keep("near_", f"{tables} SELECT c.file_, c.row_, {own}, {listed} {source}", _FETCHING)
    line = f"PARTITION BY {', '.join(keys)} ORDER BY {', '.join(ranks)}"
    engine._keep(
        "ties_",
        f"""WITH ranked_ AS (
            SELECT *, row_number() OVER line_ AS rank_, rank() OVER line_ AS first_
            FROM near_ WINDOW line_ AS ({line})
        ), heads_ AS (
            SELECT DISTINCT {own}, c.first_
            FROM ranked_ AS c INNER JOIN wanted_ AS w ON {match} AND c.rank_ = w.rank_
        )
        SELECT c.file_, c.row_, {own}, c.first_
        FROM ranked_ AS c INNER JOIN heads_ AS w ON {match} AND c.first_ = w.first_""",
        _FETCHING,
    )
    # Query the row number alone first: a scan of one column skips what it need not read.
    fetched = ", ".join(f"p.{name}" for name in ["id_", *columns])
    found = engine._frame(
        f"""SELECT {own}, c.first_, {fetched} FROM ties_ AS c INNER JOIN (
            SELECT * FROM {view.table} WHERE row_ IN (SELECT row_ FROM ties_)
        ) AS p ON c.row_ = p.row_ AND c.file_ = p.file_""",
        _FETCHING,
    )
    for name in ("near_", "ties_"):
        engine._drop(name)
    found["key_"] = ""
    if salt is not None:
        found["key_"] = [md5(f"{salt}:{i}".encode()).hexdigest() for i in found["id_"]]
    found = found.sort_values([*keys, "first_", "key_", "id_"])
    group = [*keys, "first_"]
    found["twice_"] = found.duplicated([*group, "id_"])
    found["rank_"] = found.groupby(group).cumcount() + found["first_"]
    twice = found[found["twice_"]]
    if len(twice):
        return twice
    chosen = ask.merge(found, on=[*keys, "rank_"], how="left")
    return chosen[[*columns, "place_", "twice_"]]


def _cut_giants(view: TableView, wanted: Wanted, salt: str) -> tuple[Wanted, Part]:
    """Convert ranks in groups of very many rows to ranks in small parts of them."""
    import pandas as pd

    for part in ("right(id_, 4)", f"substr({hashed(salt, 'id_')}, 1, 4)"):
        view.engine._add("giants_", pd.DataFrame({"cell_": pd.unique(wanted.label)}))
        counts = view.engine._frame(
            f"""SELECT g.cell_, p.sub_, count(*) AS size_
            FROM (SELECT {wanted.by} AS cell_, {part} AS sub_ FROM {view.table}) AS p
            INNER JOIN giants_ AS g ON p.cell_ = g.cell_ GROUP BY g.cell_, p.sub_""",
            "Counting segments",
        ).sort_values(["cell_", "sub_"])
        view.engine._drop("giants_")
        if counts["size_"].max() <= _GIANT or part.startswith("substr"):
            break
    sub = np.empty(len(wanted.rank), dtype=object)
    rank, size = np.zeros((2, len(wanted.rank)), dtype=np.int64)
    for label, own in counts.groupby("cell_"):
        mine = wanted.label == label
        ends = own["size_"].to_numpy().cumsum()
        which = np.searchsorted(ends, wanted.rank[mine], side="right")
        sub[mine] = own["sub_"].to_numpy()[which]
        size[mine] = own["size_"].to_numpy()[which]
        rank[mine] = wanted.rank[mine] - (ends - own["size_"].to_numpy())[which]
    return replace(wanted, rank=rank, size=size), (part, sub)


@dataclass(frozen=True)
class Groups:
    """Strata by a label: sizes, and on request spreads of a score and mean costs."""

    by: str
    label: NDArray[Any]
    size: IntArray
    sd: FloatArray | None = None
    cost: FloatArray | None = None
    cost_sd: FloatArray | None = None

    def merged(self, into: IntArray) -> MergedGroups:
        """Merge groups: ``into`` gives the new group of each."""
        return MergedGroups(self, into)

    def wanted(self, group: IntArray, rank: IntArray) -> Wanted:
        return Wanted(self.by, self.label[group], rank, self.size[group])


@dataclass(frozen=True)
class MergedGroups:
    """Groups of groups, such as bins of cells, or small strata that are joined.

    ``into`` says for each group of ``parts`` to which one it belongs.
    """

    parts: Groups
    into: IntArray

    @property
    def size(self) -> IntArray:
        return np.bincount(self.into, self.parts.size).round().astype(np.int64)

    def merged(self, into: IntArray) -> MergedGroups:
        """Merge groups once more."""
        return MergedGroups(self.parts, into[self.into])

    def wanted(self, group: IntArray, rank: IntArray) -> Wanted:
        order = np.argsort(self.into, kind="stable")
        ends = self.parts.size[order].cumsum()
        first = np.concatenate([[0], self.size.cumsum()[:-1]])
        position = first[group] + rank
        which = np.searchsorted(ends, position, side="right")
        inside = position - (ends - self.parts.size[order])[which]
        return self.parts.wanted(order[which], inside)


def score_bins(view: TableView, score: str, bins: int, size: int) -> MergedGroups:
    """Bins of similar scores and similar sizes, built from cells of a fine histogram."""
    cells = score_cells(view, score, size, _IN_CELL, _MOST_CELLS)
    middle = cells.size.cumsum() - (cells.size + 1) // 2
    into = np.unique(middle * bins // size, return_inverse=True)[1].astype(np.int64)
    return MergedGroups(cells, into)


def score_cells(view: TableView, score: str, size: int, in_cell: int, most: int) -> Groups:
    """Cells of a fine histogram with about equal numbers of rows, at most 2 to the ``most``.

    ``score`` is standardised. x/(1+|x|) maps the whole line to the range from −1 to 1 using only
    basic arithmetic, which is identical in every engine to the last bit, so that far outliers take
    no cells from the others.
    """
    z = f"({score})"
    power = int(np.clip(round(np.log2(size / in_cell)), _LEAST_CELLS, most))
    half = 1 << (power - 1)
    cell = f"CAST(floor({half}.0e0 * (1.0e0 + {z} / (1.0e0 + abs({z})))) AS INTEGER)"
    counts = view.engine._frame(
        f"SELECT {cell} AS cell_, count(*) AS size_ FROM {view.table} GROUP BY 1", "Counting scores"
    ).sort_values("cell_")
    return Groups(cell, counts["cell_"].to_numpy(), counts["size_"].to_numpy().astype(np.int64))


class Located(NamedTuple):
    """For each position the document, its size and the offset inside it."""

    label: NDArray[Any]
    size: IntArray
    offset: IntArray


def locate(
    engine: Engine, groups: str, salt: str, positions: IntArray, most: int | None = None
) -> Located:
    """Find the document of the line at each position.

    ``groups`` is a table of labels and sizes. The line is in the order of the md5 of salt and
    label; documents with ``most`` rows or more are left out. Sizes are summed by the first digits
    of the md5, so that only the documents near the positions are ever sorted.
    """
    digits = max(_DIGITS, ceil(log(16 * len(positions), 16)))
    import pandas as pd

    only = "" if most is None else f"WHERE size < {most}"
    doing = "Putting documents in a line"
    key = f"substr({hashed(salt, 'label')}, 1, 12)"
    engine._keep("line_", f"SELECT label, size, {key} AS key_ FROM {groups} {only}", doing)
    buckets = engine._frame(
        f"SELECT substr(key_, 1, {digits}) AS bucket_, sum(size) AS size_ FROM line_ "
        "GROUP BY 1 ORDER BY 1",
        doing,
    )
    held = buckets["size_"].to_numpy().astype(np.int64)
    ends = held.cumsum()
    which = np.searchsorted(ends, positions, side="right")
    first = ends - held
    names = buckets["bucket_"].to_numpy()
    engine._add("buckets_", pd.DataFrame({"bucket_": names[np.unique(which)]}))
    near = engine._frame(
        "SELECT l.label, l.size, l.key_ FROM line_ AS l "
        f"INNER JOIN buckets_ AS b ON substr(l.key_, 1, {digits}) = b.bucket_ "
        "ORDER BY l.key_, l.label",
        doing,
    )
    engine._drop("buckets_")
    engine._drop("line_")
    sizes = near["size"].to_numpy().astype(np.int64)
    bucket = near["key_"].str[:digits].to_numpy()
    # Where each document starts on the line: the start of its bucket plus the documents before it.
    before = sizes.cumsum() - sizes
    new = np.concatenate([[True], bucket[1:] != bucket[:-1]])
    start = before - before[new][new.cumsum() - 1] + first[np.searchsorted(names, bucket)]
    at = np.searchsorted(start, positions, side="right") - 1
    return Located(near["label"].to_numpy()[at], sizes[at], positions - start[at])
