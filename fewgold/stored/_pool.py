"""A pool that stays on disk: Parquet files, and an engine that reads what is needed of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fewgold.errors import DataError, UnknownNameError
from fewgold.stored._engine import FILE, ROW, DuckDB, Engine, listed
from fewgold.stored._excerpt import Excerpt
from fewgold.stored._groups import Wanted, refuse_twice, rows
from fewgold.stored._roles import Columns
from fewgold.stored._scan import NUMBERS, Scan
from fewgold.stored._sources import Paths, check_columns, check_files, find_files
from fewgold.tables import CostTerms, cost_terms

if TYPE_CHECKING:
    import pandas as pd


# Files that are asked one by one for the ends of their columns, which their footers tell.
_ONE_BY_ONE = 500


class StoredPool(Scan):
    """Segments in Parquet files, as many as the disk holds, none of them in memory.

    It is drawn from like a `Pool`: ``sampler.draw(pool, 500, rng=7)`` fetches the 500 rows that
    were chosen, and estimators take the ratings as usual. Which rows a seed chooses depends on ids,
    documents and metrics alone: not on how rows are spread over files, on threads or the engine.

    Parameters
    ----------
    paths
        A Parquet file, a folder, a pattern such as ``"logs/*.parquet"``, or several of these.
    id, document, metrics, cost, system, texts, orientation
        Columns, as in `Pool.from_table`. Ids must differ; that is checked for the chosen rows
        against all others, and for all rows by `check_ids`.
    order
        The column that says in which order segments stand in their document, for samplers that
        take consecutive ones. Ids by default.
    engine
        `DuckDB` by default, in this process; `Spark` for a cluster.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.samplers import Systematic
    >>> pool, gold = load_demo()
    >>> stored = StoredPool.of(pool)  # or StoredPool("logs/*.parquet", id=…, document=…)
    >>> stored
    StoredPool(1418 segments, metrics: comet, bleurt, qe, chrf, bleu, ter, words)
    >>> sample = Systematic().draw(stored, 100, rng=7)
    >>> sample
    Sample(100 of 1418 segments, systematic)
    """

    def __init__(
        self,
        paths: Paths,
        *,
        id: str,
        document: str | None = None,
        metrics: Sequence[str] | str | None = None,
        cost: str | None = None,
        system: str | None = None,
        texts: Sequence[str] | str = (),
        orientation: Mapping[str, int] | None = None,
        order: str | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.files = find_files(paths)
        self.engine: Engine = DuckDB() if engine is None else engine
        source = f"files_{next(NUMBERS)}"
        types = self.engine.attach(source, self.files)
        columns = Columns(
            id=id,
            document=document,
            metrics=_names(metrics or ()),
            cost=None if cost is None else cost_terms(cost, list(types)),
            system=system,
            texts=_names(texts),
            order=order,
            orientation=dict(orientation or {}),
        )
        several = isinstance(self.engine, DuckDB) and len(self.files) > 1
        if isinstance(self.engine, DuckDB) and several:
            check_files(self.engine, self.files, columns.wanted)
        check_columns(types, columns.wanted)
        columns.check(types)
        self._open(source, columns, types)
        if several and len(self.files) <= _ONE_BY_ONE:
            bare = {name: kind for name, kind in types.items() if name != ROW}
            each = [f"read_parquet([{listed([f])}])" for f in self.files]
            self._files = tuple(f"({columns.select(one, bare)})" for one in each)

    def _open(self, source: str, columns: Columns, types: Mapping[str, str]) -> None:
        self.columns = columns
        self._table = f"pool_{next(NUMBERS)}"
        self.engine.view(self._table, columns.select(source, types))
        self._placed = ROW in types
        unknown = set(columns.orientation) - set(columns.metrics)
        if unknown:
            raise UnknownNameError("metric in orientation", sorted(unknown)[0], columns.metrics)

    @staticmethod
    def peek(paths: Paths, engine: Engine, rows: int = 1000) -> pd.DataFrame:
        """The first rows of the files, all columns, to see what there is."""
        name = f"files_{next(NUMBERS)}"
        engine.attach(name, find_files(paths))
        found = engine.frame(f"SELECT * FROM {name} LIMIT {rows}", "Looking at the columns")
        return found.drop(columns=[FILE, ROW], errors="ignore")

    @classmethod
    def of(cls, pool: Any, *, engine: Engine | None = None) -> StoredPool:
        """A pool in memory as if it lay on disk: a seed draws what it draws from files."""
        import pandas as pd

        made = cls.__new__(cls)
        made.files, made.engine = [], DuckDB() if engine is None else engine
        whole = pool.ids.dtype.kind in "iu"
        table: dict[str, Any] = {"id": pool.ids if whole else pool.ids.astype(str)}
        named: dict[str, Any] = {}
        for role, values in (
            ("document", pool.documents), ("cost", pool.cost), ("system", pool.system)
        ):  # fmt: skip
            if values is not None:
                plain = values.dtype.kind in "iufb"
                table[f"{role} "] = values if plain else values.astype(str)
                named[role] = f"{role} "
        if "cost" in named:
            named["cost"] = CostTerms(0.0, 1.0, named["cost"], False)
        # By numbers: engines take BLEU and bleu for the same name.
        table |= {f"metric {k}": v for k, v in enumerate(pool.metrics.values())}
        table |= {f"text {k}": v for k, v in enumerate(pool.texts.values())}
        frame = pd.DataFrame(table)
        frame["order "] = np.arange(len(pool))
        source = f"files_{next(NUMBERS)}"
        made.engine.add(source, frame)
        columns = Columns(
            id="id", metrics=tuple(f"metric {k}" for k in range(len(pool.metrics))),
            texts=tuple(f"text {k}" for k in range(len(pool.texts))), order="order ", **named,
        )  # fmt: skip
        types = {c: "BIGINT" if v.dtype.kind in "iu" else "VARCHAR" for c, v in table.items()}
        made._open(source, columns, types)
        # The columns go by the names of the pool; only the table in the engine has others.
        made.columns = Columns(
            id="id", document=named.get("document"), cost=named.get("cost"),
            system=named.get("system"), metrics=tuple(pool.metrics), texts=tuple(pool.texts),
            order="order ", orientation=dict(pool.orientation),
        )  # fmt: skip
        return made

    def __repr__(self) -> str:
        metrics = ", ".join(self.columns.metrics) or "none"
        return f"StoredPool({len(self)} segments, metrics: {metrics})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the engine and remove its temporary files."""
        self.engine.close()

    def rows(self, wanted: Wanted, salt: str, order: str | None = None) -> Excerpt:
        """The rows asked for, in that order, with what is known of the whole pool."""
        shown = self.columns.shown
        found = rows(self.engine, self._table, wanted, shown, salt, order, self._placed)
        self._check_chosen(found["id_raw"])
        return Excerpt.from_rows(self, found)

    def _check_chosen(self, ids: Iterable[Any]) -> None:
        """Refuse chosen ids that other rows have too: answers could not be told apart."""
        self._taken("drawn_", [str(i) for i in ids])
        twice = self.engine.frame(
            f"SELECT p.id_ FROM {self._table} AS p INNER JOIN drawn_ AS d ON p.id_ = d.id_ "
            "GROUP BY p.id_ HAVING count(*) > 1 ORDER BY p.id_ LIMIT 1",
            "Comparing ids",
        )
        self.engine.drop("drawn_")
        if len(twice):
            refuse_twice(twice["id_"].iloc[0])

    def fetch(self, ids: Sequence[Any]) -> Excerpt:
        """The rows with these ids, in that order."""
        import pandas as pd

        names = [str(i) for i in ids]
        place = pd.Series(np.arange(len(names)), index=names)
        self._taken("asked_", names)
        listed = ", ".join(f"p.{c}" for c in ["id_", *self.columns.shown])
        found = self.engine.frame(
            f"SELECT {listed} FROM {self._table} AS p INNER JOIN asked_ AS a ON p.id_ = a.id_",
            "Fetching segments",
        )
        self.engine.drop("asked_")
        missing = sorted(set(names) - set(found["id_"]))
        if missing:
            raise DataError(
                f"{len(missing)} of {len(names)} ids are not in the pool, first {missing[0]!r}. Is "
                "it the same pool?"
            )
        if not found["id_"].is_unique:
            refuse_twice(found["id_"][found["id_"].duplicated()].iloc[0])
        found = found.iloc[np.argsort(place[found.pop("id_")].to_numpy())]
        return Excerpt.from_rows(self, found)

    def without(self, ids: Iterable[Any]) -> StoredPool:
        """The pool without some of its segments, such as those that are rated already."""
        left = StoredPool.__new__(StoredPool)
        left.files, left.engine, left._whole = self.files, self.engine, False
        left.columns = replace(self.columns, orientation=dict(self.orientation))
        taken, names = f"taken_{next(NUMBERS)}", [str(i) for i in ids]
        self._taken(taken, names)
        left._table, left._placed = f"pool_{next(NUMBERS)}", self._placed
        self.engine.view(
            left._table,
            f"SELECT * FROM {self._table} AS p "
            f"WHERE NOT EXISTS (SELECT 1 FROM {taken} AS t WHERE t.id_ = p.id_)",
        )
        gone = len(self) - len(left)
        if gone != len(names):
            raise DataError(
                f"{len(names)} ids were to be left out, and {gone} rows have them. Ids must "
                "differ: look for those that occur twice with check_ids(), and see that it is the "
                "same pool."
            )
        return left

    def check_ids(self) -> None:
        """Refuse ids that occur twice anywhere: a pass that takes time and room on disk."""
        found = self.engine.frame(
            f"SELECT id_ FROM {self._table} GROUP BY id_ HAVING count(*) > 1 ORDER BY id_ LIMIT 1",
            "Comparing ids",
        )
        if len(found):
            refuse_twice(found["id_"].iloc[0])

    def digests(self) -> dict[str, str]:
        """What a pass tells of each part, to say later which one changed."""
        m = self.moments
        found = {"ids": f"{m.first_id} {m.last_id}"}
        for name, low, high, mean in zip(self._numbers, m.low, m.high, m.mean, strict=True):
            # Where the mean lies between the ends, times π, so that it is never at a tie: means of
            # scores with few digits are, and their last bits differ from one pass to another.
            place = (mean / 2 - low / 2) / ((high / 2 - low / 2) or 1.0) * np.pi
            found[name] = f"{low!r} {high!r} {place:.6f}"
        return {k: hashlib.sha256(v.encode()).hexdigest()[:12] for k, v in found.items()}

    @property
    def _numbers(self) -> list[str]:
        return [f"metric {m}" for m in self.metrics] + ["cost"] * (self.columns.cost is not None)

    @cached_property
    def fingerprint(self) -> str:
        """A short digest of what a pass tells: size, first and last id, ends and means of metrics.

        Means count to six digits, since threads sum up in any order.
        """
        parts = [str(len(self)), *(f"{k} {v}" for k, v in self.digests().items())]
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def _names(given: Sequence[str] | str) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
