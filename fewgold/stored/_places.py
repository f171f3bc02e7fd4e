"""Rows fetched by where they lie, where the engine knows it.

Which rows are near the wanted ones is told by the columns that make groups and ranks. Ids and texts
are read for the chosen rows only, and for those that tie with them.
"""

from __future__ import annotations

from hashlib import md5
from typing import Any

from fewgold.stored._engine import Engine

_FETCHING = "Fetching the chosen segments"


def fetch_placed(
    engine: Engine, table: str, ask: Any, keys: list[str], near: tuple[str, str],
    match: str, ranks: list[str], columns: list[str], salt: str | None,
) -> Any:  # fmt: skip
    """The rows of the table ``wanted_``, which is ``ask``: their columns, and ``place_``.

    Parameters
    ----------
    keys
        Columns that tell the group of a row.
    near
        Common tables and FROM clause that give the rows of the wanted groups, as ``c``.
    match
        Whether a row ``c`` belongs to a wanted group ``w``.
    ranks
        Columns by which rows are ranked in their group.
    salt
        Ties go by the md5 of salt and id; by the ids if None.
    """
    tables, source = near
    own = ", ".join(f"c.{name}" for name in keys)
    listed = ", ".join(f"c.{name}" for name in ranks)
    engine.keep("near_", f"{tables} SELECT c.file_, c.row_, {own}, {listed} {source}", _FETCHING)
    line = f"PARTITION BY {', '.join(keys)} ORDER BY {', '.join(ranks)}"
    engine.keep(
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
    found = engine.frame(
        at_places("ties_", f"{own}, c.first_", ["id_", *columns], table), _FETCHING
    )
    for name in ("near_", "ties_"):
        engine.drop(name)
    found["key_"] = ""
    if salt is not None:
        found["key_"] = [md5(f"{salt}:{i}".encode()).hexdigest() for i in found["id_"]]
    found = found.sort_values([*keys, "first_", "key_", "id_"])
    group = [*keys, "first_"]
    found["twice_"] = found.duplicated([*group, "id_"])
    found["rank_"] = found.groupby(group).cumcount() + found["first_"]
    chosen = ask.merge(found, on=[*keys, "rank_"], how="left")
    twice = found[found["twice_"]]
    return chosen[[*columns, "place_", "twice_"]] if twice.empty else twice


def at_places(places: str, own: str, columns: list[str], table: str) -> str:
    """Columns of the rows at some places, as SQL.

    The row number is asked for by itself first: a scan that looks for one column alone skips what
    it need not read.
    """
    listed = ", ".join(f"p.{name}" for name in columns)
    return f"""SELECT {own}, {listed} FROM {places} AS c INNER JOIN (
            SELECT * FROM {table} WHERE row_ IN (SELECT row_ FROM {places})
        ) AS p ON c.row_ = p.row_ AND c.file_ = p.file_"""
