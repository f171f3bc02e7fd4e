"""What the columns of a pool on disk stand for, as SQL.

Inside, columns go by names of their own, so that no query has to care about what users call them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fewgold.errors import DataError, UnknownNameError
from fewgold.stored._engine import FILE, ROW, quoted
from fewgold.stored._sources import kind
from fewgold.tables import CostTerms

_AS_THEY_ARE = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "BYTE", "SHORT", "INT", "LONG", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32",
    "UINT64", "VARCHAR", "STRING",
}  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """The roles of columns, as in `Pool.from_table`, and the order inside documents."""

    id: str
    document: str | None = None
    metrics: tuple[str, ...] = ()
    cost: CostTerms | None = None
    system: str | None = None
    texts: tuple[str, ...] = ()
    order: str | None = None
    orientation: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def wanted(self) -> dict[str, str]:
        """Each column that is needed, and what for."""
        found = {self.id: "ids"}
        if self.document is not None:
            found[self.document] = "documents"
        found |= dict.fromkeys(self.metrics, "metric")
        if self.cost is not None:
            found.setdefault(self.cost.column, "cost")
        if self.system is not None:
            found.setdefault(self.system, "system")
        for name in self.texts:
            found.setdefault(name, "text")
        if self.order is not None:
            found.setdefault(self.order, "order")
        return found

    def check(self, types: Mapping[str, str]) -> None:
        """Refuse metrics and costs that are no numbers, and one column in two roles."""
        numeric = dict.fromkeys(self.metrics, "metric")
        if self.cost is not None and not self.cost.words:
            numeric[self.cost.column] = "cost"
        for name, what in numeric.items():
            if kind(types[name]) not in ("number", "boolean"):
                raise DataError(
                    f"the {what} {name!r} must hold numbers; the column is of type {types[name]}. "
                    "Is it the right column?"
                )
        if len(set(self.metrics)) < len(self.metrics):
            raise DataError("a metric was named twice. Name each once.")

    def select(self, source: str, types: Mapping[str, str]) -> str:
        """The query that gives every column its name inside.

        Ids and documents come back as they are if they are whole numbers, else as text: Python
        writes dates or decimals in other ways than engines, and a top-up would miss its own ids.
        """

        def raw(column: str) -> str:
            plain = str(types[column]).upper() in _AS_THEY_ARE
            return quoted(column) if plain else f"CAST({quoted(column)} AS VARCHAR)"

        parts = [f"{raw(self.id)} AS id_raw", f"CAST({quoted(self.id)} AS VARCHAR) AS id_"]
        if self.document is not None:
            parts += [
                f"{raw(self.document)} AS doc_raw",
                f"CAST({quoted(self.document)} AS VARCHAR) AS doc_",
            ]
        for k, m in enumerate(self.metrics):
            # Ends of the raw column are told by the footers of the files, those of a cast are not.
            parts += [f"{quoted(m)} AS m{k}_raw", f"CAST({quoted(m)} AS DOUBLE) AS m{k}_"]
        if self.cost is not None:
            fixed, per, column, words = self.cost
            amount = f"CAST({quoted(column)} AS DOUBLE)"
            if words:
                amount = f"len(regexp_extract_all({quoted(column)}, '[^\\s]+'))"
            price = f"{fixed:.17e} + {per:.17e} * {amount}"
            parts += [f"{price} AS cost_raw", f"{price} AS cost_"]
        if self.system is not None:
            parts.append(f"{quoted(self.system)} AS sys_")
        parts += [f"{quoted(t)} AS t{k}_" for k, t in enumerate(self.texts)]
        if self.order is not None:
            parts.append(f"{quoted(self.order)} AS order_")
        if ROW in types:
            parts += [f"{FILE} AS file_", f"{ROW} AS row_"]
        return f"SELECT {', '.join(parts)} FROM {source}"

    def metric(self, name: str) -> str:
        """A metric's name inside."""
        if name not in self.metrics:
            raise UnknownNameError("metric", name, self.metrics)
        return f"m{self.metrics.index(name)}_"

    @property
    def shown(self) -> list[str]:
        """The columns inside that a chosen row is fetched with."""
        found = ["id_raw"] + (["doc_raw"] if self.document is not None else [])
        found += [f"m{k}_" for k in range(len(self.metrics))]
        found += ["cost_"] if self.cost is not None else []
        found += ["sys_"] if self.system is not None else []
        return found + [f"t{k}_" for k in range(len(self.texts))]

    def label(self, column: str) -> str:
        """A column to make strata by, as text."""
        if column == "document" and self.document is not None:
            return "doc_"
        if column == "system" and self.system is not None:
            return "CAST(sys_ AS VARCHAR)"
        if column in self.texts:
            return f"CAST(t{self.texts.index(column)}_ AS VARCHAR)"
        if column == self.document:
            return "doc_"
        known = [*self.texts, *(["system"] if self.system else [])]
        known += ["document"] if self.document else []
        raise DataError(
            f"unknown column {column!r} to make strata by. Known: {', '.join(known) or 'none'}. "
            "Name it in texts=[…] when the pool is opened."
        )
