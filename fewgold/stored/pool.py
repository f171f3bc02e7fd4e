"""A pool that stays on disk: Parquet files, and an engine that reads only what is needed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import Generator

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.checks import as_names
from fewgold.common.text import verb
from fewgold.design import Design
from fewgold.errors import BudgetError, DataError, DesignError, UnknownNameError
from fewgold.io import CostTerms, cost_terms
from fewgold.pool import Pool
from fewgold.stored.engine import FILE, ROW, DuckDB, Engine, Progress, listed
from fewgold.stored.groups import Wanted
from fewgold.stored.scan import Scan
from fewgold.stored.sources import (
    NUMBERS,
    ColumnRoles,
    Paths,
    TableView,
    check_columns,
    check_files,
    find_files,
    refuse_id,
)

if TYPE_CHECKING:
    import pandas as pd

# Suffix of a column name that holds probabilities of a pass instead of spreads.
_PROBABILITY = ":probability"
# Up to this many files, min/max are read from each Parquet footer.
_ONE_BY_ONE = 500


class StoredPool:
    """A pool in Parquet files, as large as the disk allows, that is never loaded into memory.

    It is drawn from like a `Pool`: ``sampler.draw(pool, 500, rng=7)`` fetches the 500 chosen rows,
    and estimators use the ratings as usual. Which rows a seed chooses depends only on ids,
    documents and metrics, not on files, threads or the engine.

    Parameters
    ----------
    paths
        A Parquet file, a folder, a pattern such as ``"logs/*.parquet"``, or several of these.
    id, document, metrics, cost, system, texts, orientation
        Columns, as in `Pool.from_table`. Ids must differ; that is checked for the chosen rows
        against all others, and for all rows by `check_ids`.
    order
        The column with the order of segments within their document, for samplers that take
        consecutive ones. Ids by default.
    spread
        The column of expected spreads of ratings that uneven chances follow, as in `Pool`;
        ``"judge_p:probability"`` for a judge's probability q of a pass, converted to √(q(1−q)).
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
        spread: str | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.files = find_files(paths)
        self.engine: Engine = DuckDB() if engine is None else engine
        source = f"files_{next(NUMBERS)}"
        types = self.engine._attach(source, self.files)
        told = spread if spread is None or spread in types else spread.removesuffix(_PROBABILITY)
        columns = ColumnRoles(
            id=id,
            document=document,
            metrics=as_names(metrics or ()),
            cost=None if cost is None else cost_terms(cost, list(types)),
            system=system,
            texts=as_names(texts),
            order=order,
            orientation=dict(orientation or {}),
            spread=told,
            probability=told != spread,
        )
        each: tuple[str, ...] = ()
        if isinstance(self.engine, DuckDB) and len(self.files) > 1:
            check_files(self.engine, self.files, columns.wanted)
            if len(self.files) <= _ONE_BY_ONE:
                each = tuple(f"read_parquet([{listed([f])}])" for f in self.files)
        check_columns(types, columns.wanted)
        columns.check(types)
        bare = {name: kind for name, kind in types.items() if name != ROW}
        view = _view(self.engine, source, columns, types)
        files = tuple(f"({columns.select(one, bare)})" for one in each)
        self._scan = Scan(replace(view, files=files))

    #: Candidates used in the search for what a cost budget buys with uneven chances.
    _trial: Candidates | None = None

    @classmethod
    def _of_scan(cls, scan: Scan, files: Sequence[str] = ()) -> StoredPool:
        pool = cls.__new__(cls)
        pool.files, pool.engine, pool._scan = list(files), scan.view.engine, scan
        return pool

    @classmethod
    def of(cls, pool: Any, *, engine: Engine | None = None) -> StoredPool:
        """Use a pool in memory as if on disk: a seed draws the same sample as from files."""
        import pandas as pd

        engine = DuckDB() if engine is None else engine
        whole = pool.ids.dtype.kind in "iu"
        table: dict[str, Any] = {"id": pool.ids if whole else pool.ids.astype(str)}
        named: dict[str, Any] = {}
        for role, values in (
            ("document", pool.documents), ("cost", pool.cost), ("system", pool.system),
            ("spread", pool.spread),
        ):  # fmt: skip
            if values is not None:
                plain = values.dtype.kind in "iufb"
                table[f"{role} "] = values if plain else values.astype(str)
                named[role] = f"{role} "
        if "cost" in named:
            named["cost"] = CostTerms(0.0, 1.0, named["cost"], False)
        # Numbered names, since engines treat BLEU and bleu as the same name.
        table |= {f"metric {k}": v for k, v in enumerate(pool.metrics.values())}
        table |= {f"text {k}": v for k, v in enumerate(pool.texts.values())}
        frame = pd.DataFrame(table)
        frame["order "] = np.arange(len(pool))
        source = f"files_{next(NUMBERS)}"
        engine._add(source, frame)
        columns = ColumnRoles(
            id="id", metrics=tuple(f"metric {k}" for k in range(len(pool.metrics))),
            texts=tuple(f"text {k}" for k in range(len(pool.texts))), order="order ", **named,
        )  # fmt: skip
        types = {c: "BIGINT" if v.dtype.kind in "iu" else "VARCHAR" for c, v in table.items()}
        view = _view(engine, source, columns, types)
        # From here on columns have the names of the pool; only the table has other names.
        columns = replace(
            columns, metrics=tuple(pool.metrics), texts=tuple(pool.texts),
            orientation=dict(pool.orientation),
        )  # fmt: skip
        return cls._of_scan(Scan(replace(view, columns=columns)))

    @staticmethod
    def _peek(paths: Paths, engine: Engine, rows: int = 1000) -> pd.DataFrame:
        """The first rows of the files with all columns, for inspection."""
        name = f"files_{next(NUMBERS)}"
        engine._attach(name, find_files(paths))
        found = engine._frame(f"SELECT * FROM {name} LIMIT {rows}", "Looking at the columns")
        return found.drop(columns=[FILE, ROW], errors="ignore")

    def __len__(self) -> int:
        return self._scan.moments.size

    def __repr__(self) -> str:
        return f"StoredPool({len(self)} segments, metrics: {', '.join(self.metrics) or 'none'})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the engine and remove its temporary files."""
        self.engine.close()

    def check_ids(self) -> None:
        """Refuse ids that occur twice anywhere; this pass takes time and disk space."""
        self._scan.view.refuse_twice()

    # The interface of every pool: see `Population`.

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return self._scan.metrics

    @property
    def binary_metrics(self) -> tuple[str, ...]:
        """Metrics that are 0 or 1 for every segment."""
        return self._scan.binary_metrics

    @property
    def has_documents(self) -> bool:
        """Whether the document of each segment is known."""
        return self._scan.columns.document is not None

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return self._scan.n_documents

    @property
    def _known_n_documents(self) -> int | None:
        return self.n_documents if self._scan.counted_documents else None

    @property
    def _has_cost(self) -> bool:
        return self._scan.columns.cost is not None

    @property
    def _has_spread(self) -> bool:
        return self._scan.columns.spread is not None

    @property
    def _tells_quality(self) -> bool:
        return any(self._scan.orientation.values())

    @property
    def _total_cost(self) -> float:
        return len(self) * float(self._scan.moments.mean[-1])

    @property
    def _source(self) -> tuple[str, int]:
        return self.engine.name, len(self.files)

    @cached_property
    def fingerprint(self) -> str:
        """A short digest of one pass: size, first and last id, ranges and means of metrics.

        Means count to six digits, since threads sum up in any order.
        """
        parts = [str(len(self)), *(f"{k} {v}" for k, v in self._digests().items())]
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]

    def _digests(self) -> dict[str, str]:
        m = self._scan.moments
        found = {"ids": f"{m.first_id} {m.last_id}"}
        names = [f"metric {name}" for name in self.metrics]
        names += ["spread"] * self._has_spread + ["cost"] * self._has_cost
        for name, low, high, mean in zip(names, m.low, m.high, m.mean, strict=True):
            # The position of the mean between the ends, times π to avoid rounding ties: means of
            # scores with few digits are often at a tie, and their last bits differ between passes.
            place = (mean / 2 - low / 2) / ((high / 2 - low / 2) or 1.0) * np.pi
            found[name] = f"{low!r} {high!r} {place:.6f}"
        return {k: hashlib.sha256(v.encode()).hexdigest()[:12] for k, v in found.items()}

    def _metric_values(self, metric: str) -> FloatArray:
        return self._scan.column(metric)

    def _can_use(self, sampler: Any) -> bool:
        return bool(sampler._draws_from_disk)

    def _draw_with(
        self, sampler: Any, n: int, draws: int | None, rng: Generator
    ) -> tuple[Pool, IntArray, Design]:
        if draws is not None:
            raise BudgetError(
                "draws is for simulations, which take a pool in memory; this one is on disk. "
                "Draw one sample at a time, or load a part of the pool."
            )
        part, design = sampler._draw_stored(self, n, rng)
        return part, np.arange(n), design

    def _draw_beside(
        self, sampler: Any, n: int, pool: Pool, rated: IntArray, rng: Generator
    ) -> tuple[Pool, IntArray, Design]:
        assert isinstance(pool, Excerpt)
        part, design = sampler._draw_stored(self._without(pool.ids), n, rng)
        rows = np.arange(pool.ids.size, pool.ids.size + n)
        return pool.followed_by(part), rows, design

    def _cost_with(self, sampler: Any, n: int) -> tuple[float, float]:
        found: tuple[float, float] = sampler._cost_stored(self, n)
        return found

    # Rows of it in memory.

    def _rows(self, wanted: Wanted, salt: str, order: str | None = None) -> Excerpt:
        """The requested rows, in that order, with the moments of the whole pool."""
        return Excerpt.from_rows(self, self._scan.rows(wanted, salt, order))

    def _with_rows(self, ids: Mapping[int, str]) -> Pool:
        if sorted(ids) != list(range(len(ids))):
            raise DataError("the design refers to rows that the pool does not have.")
        return self._fetch([ids[k] for k in range(len(ids))])

    def _fetch(self, ids: Sequence[Any]) -> Excerpt:
        """The rows with these ids, in that order."""
        import pandas as pd

        names, view = [str(i) for i in ids], self._scan.view
        place = pd.Series(np.arange(len(names)), index=names)
        columns = ", ".join(f"p.{c}" for c in ["id_", *view.columns.shown])
        with view.ids_table(names) as asked:
            found = view.engine._frame(
                f"SELECT {columns} FROM {view.table} AS p INNER JOIN {asked} AS a ON p.id_ = a.id_",
                "Fetching segments",
            )
        missing = sorted(set(names) - set(found["id_"]))
        if missing:
            raise DataError(
                f"{len(missing)} of {len(names)} ids {verb(len(missing), 'are')} not in the pool, "
                f"first {missing[0]!r}. "
                "Is this the same pool?"
            )
        if not found["id_"].is_unique:
            refuse_id(found["id_"][found["id_"].duplicated()].iloc[0])
        found = found.iloc[np.argsort(place[found.pop("id_")].to_numpy())]
        return Excerpt.from_rows(self, found)

    def _without(self, ids: Iterable[Any]) -> StoredPool:
        """The pool without some of its segments, such as those that are rated already."""
        view, names = self._scan.view, list(ids)
        taken, table = f"taken_{next(NUMBERS)}", f"pool_{next(NUMBERS)}"
        view.add_ids(taken, names)
        gone = f"SELECT 1 FROM {taken} AS t WHERE t.id_ = p.id_"
        view.engine._view(table, f"SELECT * FROM {view.table} AS p WHERE NOT EXISTS ({gone})")
        columns = replace(view.columns, orientation=dict(self._scan.orientation))
        rest = Scan(replace(view, table=table, columns=columns, files=()), whole=False)
        left = StoredPool._of_scan(rest, self.files)
        fewer = len(self) - len(left)
        if fewer != len(names):
            raise DataError(
                f"{len(names)} ids should be left out, but {fewer} rows have them. Ids must be "
                "unique: find duplicates with check_ids(), and check that this is the same pool."
            )
        return left


def _view(engine: Engine, source: str, columns: ColumnRoles, types: Mapping[str, str]) -> TableView:
    """A table with internal column names."""
    unknown = set(columns.orientation) - set(columns.metrics)
    if unknown:
        raise UnknownNameError("metric in orientation", sorted(unknown)[0], columns.metrics)
    table = f"pool_{next(NUMBERS)}"
    engine._view(table, columns.select(source, types))
    return TableView(engine, table, columns, placed=ROW in types)


class Excerpt(Pool):
    """A `Pool` of which only the drawn rows are in memory.

    Its size, and the means and spreads used to standardise metrics, are those of the whole pool, so
    estimates are the same as if all of it were in memory. Rows are counted from 0 in the order in
    which they were drawn.
    """

    store: StoredPool

    @classmethod
    def from_rows(cls, store: StoredPool, frame: Any) -> Excerpt:
        """Build from a dataframe with internal column names."""
        columns = store._scan.columns
        part = object.__new__(cls)

        def values(name: str) -> Any:
            return frame[name].to_numpy()

        part._set(
            store=store,
            ids=values("id_raw"),
            metrics={m: values(f"m{k}_").astype(np.float64) for k, m in enumerate(columns.metrics)},
            documents=None if columns.document is None else values("doc_raw"),
            cost=None if columns.cost is None else values("cost_").astype(np.float64),
            system=None if columns.system is None else values("sys_"),
            texts={t: values(f"t{k}_") for k, t in enumerate(columns.texts)},
            orientation=dict(store._scan.orientation),
            spread=None if columns.spread is None else values("spread_").astype(np.float64),
        )
        return part

    def followed_by(self, more: Excerpt) -> Excerpt:
        """These rows, then others of the same pool."""
        both = object.__new__(Excerpt)

        def join(first: Any, then: Any) -> Any:
            return None if first is None else np.concatenate([first, then])

        both._set(
            store=self.store,
            ids=join(self.ids, more.ids),
            metrics={m: join(v, more.metrics[m]) for m, v in self.metrics.items()},
            documents=join(self.documents, more.documents),
            cost=join(self.cost, more.cost),
            system=join(self.system, more.system),
            texts={t: join(v, more.texts[t]) for t, v in self.texts.items()},
            orientation=self.orientation,
            spread=join(self.spread, more.spread),
        )
        return both

    def __len__(self) -> int:
        return len(self.store)

    def __repr__(self) -> str:
        metrics = ", ".join(self.metrics) or "none"
        return f"Excerpt({self.ids.size} of {len(self)} segments, metrics: {metrics})"

    def take(self, rows: IntArray) -> Pool:
        raise DesignError(
            "only the drawn rows of a pool on disk are in memory. Draw from the pool itself, or "
            "load all of it with Pool.from_file."
        )

    @property
    def n_documents(self) -> int:
        return self.store.n_documents

    @property
    def binary_metrics(self) -> tuple[str, ...]:
        return self.store.binary_metrics

    @property
    def fingerprint(self) -> str:
        return self.store.fingerprint

    def standardised(self, names: Iterable[str] | None = None) -> FloatArray:
        """Metrics of the drawn rows by the means and spreads of the whole pool: (p, n)."""
        chosen = list(self.metrics) if names is None else list(as_names(names))
        every, moments = list(self.metrics), self.store._scan.moments
        which = [every.index(m) for m in chosen if m in every]
        z = self.matrix(chosen) - moments.pivot[which, None] - moments.above[which, None]
        return np.asarray(z / moments.scale[which, None])

    @cached_property
    def _composite(self) -> FloatArray:
        names, weights = self.store._scan.composite_weights
        return np.asarray(weights @ self.standardised(names))

    def _standard_composite(self) -> FloatArray:
        """The composite with standard deviation 1 over the whole pool."""
        names, weights = self.store._scan.composite_weights
        spread = float(np.sqrt(weights @ self.store._scan.correlation(names) @ weights))
        return np.asarray(self.composite() / (spread if spread > 0 else 1.0))

    def _gram(self, names: Iterable[str] | None = None) -> FloatArray:
        if names == "mean":
            return np.ones((1, 1))
        chosen = list(self.metrics if names is None else as_names(names))
        return self.store._scan.correlation(chosen)

    def _range_of(self, names: Iterable[str], weights: FloatArray) -> tuple[float, float]:
        return self.store._scan.range_of(list(as_names(names)), weights)

    def _metric_values(self, metric: str) -> FloatArray:
        """A metric over the whole pool: the drawn rows first, then the others, in any order.

        This brings one column into memory, 8 bytes per segment.
        """
        if metric not in self._columns:
            mine = self.composite() if metric == "mean" else self.matrix([metric])[0]
            others = self.store._scan.column(metric, [str(i) for i in self.ids])
            self._columns[metric] = np.concatenate([mine, others])
        return self._columns[metric]

    @cached_property
    def _columns(self) -> dict[str, FloatArray]:
        return {}

    # The interface of every pool refers to the whole pool.

    @property
    def _rows_in_memory(self) -> bool:
        return False

    def _moments_of(
        self, models: Sequence[Callable[[FloatArray], FloatArray]]
    ) -> list[tuple[float, float]]:
        count, mean, square = 0, np.zeros(len(models)), np.zeros(len(models))
        for part in self.store._scan.chunks():
            # Chan's update: sums of squares of large numbers would lose their digits.
            predicted = np.stack([model(part) for model in models])
            own, m = predicted.mean(-1), part.shape[0]
            gap, count = own - mean, count + m
            mean += gap * m / count
            square += predicted.var(-1) * m + gap**2 * (count - m) * m / count
        return [(float(a), float(np.sqrt(b / count))) for a, b in zip(mean, square, strict=True)]

    def _digests(self) -> dict[str, str]:
        return self.store._digests()

    @property
    def _source(self) -> tuple[str, int]:
        return self.store._source


class Candidates(Pool):
    """Rows of a pool on disk, from which a sample is drawn in memory.

    It is a pool with one segment per row, but metrics and cost are standardised with the means and
    spreads of the whole pool, rounded so that a seed always draws the same sample. The imbalance of
    the rows relative to the whole pool is therefore visible. Ids and texts are fetched only for
    drawn rows.
    """

    store: StoredPool
    wanted: Wanted
    salt: str

    @classmethod
    def at(cls, store: StoredPool, wanted: Wanted, salt: str) -> Candidates:
        """Candidates of a first draw: the rows ``wanted``, with their numbers and documents."""
        columns, part = store._scan.columns, object.__new__(cls)
        frame, wanted = store._scan.numbers(wanted, salt)

        def numbers(name: str) -> FloatArray:
            return frame[name].to_numpy().astype(np.float64)

        part._set(
            store=store,
            wanted=wanted,
            salt=salt,
            ids=np.arange(len(frame)),
            metrics={m: numbers(f"m{k}_") for k, m in enumerate(columns.metrics)},
            documents=None if columns.document is None else frame["doc_"].to_numpy(),
            cost=None if columns.cost is None else numbers("cost_"),
            system=None,
            texts={},
            orientation=dict(store._scan.orientation),
            spread=None if columns.spread is None else numbers("spread_"),
        )
        return part

    def fetch(self, rows: IntArray) -> Excerpt:
        """Fetch some of the rows with ids and texts."""
        return self.store._rows(self.wanted.some(rows), self.salt)

    def forget(self) -> None:
        """Drop the tables kept for fetching rows."""
        self.store._scan.forget(self.wanted)

    def standardised(self, names: Iterable[str] | None = None) -> FloatArray:
        chosen = list(self.metrics) if names is None else list(as_names(names))
        rounded = [self.store._scan.rounded(list(self.metrics).index(m)) for m in chosen]
        mean, slope = np.array(rounded).T
        return np.asarray((self.matrix(chosen) - mean[:, None]) * slope[:, None])

    def _standardised_cost(self) -> FloatArray | None:
        if self.cost is None:
            return None
        mean, slope = self.store._scan.rounded(-1)
        return np.asarray((self.cost - mean) * slope) if slope else None

    @property
    def _mean_spread(self) -> float:
        """The mean of the expected spread over the whole pool."""
        return float(self.store._scan.moments.mean[len(self.metrics)])


def make_engine(
    name: str, *, memory: str | None = None, progress: Progress | None = None
) -> Engine:
    """An engine by its name, ``duckdb`` or ``spark``; ``memory`` is for DuckDB."""
    if name.lower() == "duckdb":
        return DuckDB(progress=progress, memory=memory or "2GB")
    if name.lower() == "spark":
        from fewgold.stored.spark import Spark

        return Spark(progress=progress)
    raise UnknownNameError("engine", name, ["duckdb", "spark"])


def reopen(
    record: Mapping[str, Any], folder: Path, path: Paths | None, engine: Engine | None
) -> StoredPool:
    """Open the pool of a record, with paths relative to ``folder``, or at ``path``."""
    if path is None and not record["path"]:
        raise DataError(
            "the location of the pool was not recorded.",
            hints={"python": "Give it with pool=….", "cli": "Give its files with --pool."},
        )
    # Joining to an absolute path leaves it as it is.
    paths = [p if "://" in p else str(folder / p) for p in record["path"] or ()]
    engine = make_engine(record["engine"]) if engine is None else engine
    try:
        return StoredPool(paths if path is None else path, engine=engine, **record["columns"])
    except DataError as error:
        if path is not None or error.code != "missing":
            raise
        raise DataError(
            str(error),
            hints={
                "python": "If the pool has moved, give it with pool=….",
                "cli": "If the pool has moved, give its path with --pool.",
            },
        ) from None
