"""The pool of segments that could be annotated, with metrics, costs and documents.

`Population` is the interface that samplers, estimators and files use. `Pool` holds all segments in
memory; `fewgold.stored.StoredPool` leaves them on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fewgold import io
from fewgold.common.arrays import FloatArray, IntArray, codes_of
from fewgold.common.checks import as_names, no_number
from fewgold.common.text import counted, html_table, verb
from fewgold.design import Design
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.columns import known_orientation

_ROOM = 10**7  # largest number of characters in a fixed-width column of texts


def lacks_documents() -> DataError:
    """The error for a pool without documents."""
    return DataError(
        "this needs documents, and the pool has none.",
        hints={
            "python": "Name their column (document=…), or use another strategy.",
            "cli": "Name their column with --document, or use another strategy.",
            "web": "Choose their column, or another strategy.",
        },
    )


def lacks_metrics() -> DataError:
    """The error for a pool without metrics."""
    return DataError(
        "this needs automatic metrics, and the pool has none.",
        hints={
            "python": "Name their columns (metrics=[…]), or use another strategy.",
            "cli": "Name their columns with --metrics, or use another strategy.",
            "web": "Choose their columns, or another strategy.",
        },
    )


class Population(Protocol):
    """The interface of every pool: segments to draw from, in memory or on disk.

    Samplers have a hook for each kind of pool, and the pool calls the right one (`_draw_with`,
    `_draw_beside`, `_cost_with`), so that no other code depends on the kind.
    """

    def __len__(self) -> int: ...
    @property
    def metrics(self) -> Collection[str]: ...
    @property
    def binary_metrics(self) -> tuple[str, ...]: ...
    @property
    def has_documents(self) -> bool: ...
    @property
    def n_documents(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...

    @property
    def _has_cost(self) -> bool: ...
    @property
    def _total_cost(self) -> float: ...
    @property
    def _has_spread(self) -> bool:
        """Whether the expected spread of each rating around the metrics is known."""

    @property
    def _tells_quality(self) -> bool:
        """Whether the orientation (larger is better or worse) of some metric is known."""

    @property
    def _known_n_documents(self) -> int | None:
        """The number of documents, or None if counting them would take a pass over files."""

    @property
    def _source(self) -> tuple[str, int]:
        """The reader of the segments, ``memory`` or an engine, and the number of files."""

    def _metric_values(self, metric: str) -> FloatArray:
        """A metric over the whole pool, or the composite (``"mean"``): (N,)."""

    def _digests(self) -> dict[str, str]:
        """A digest of each part, so that an error can later name the part that changed."""

    def _with_rows(self, ids: Mapping[int, str]) -> Pool:
        """A pool in memory with at least these rows, given by row number and id."""

    def _can_use(self, sampler: Any) -> bool:
        """Whether the sampler can draw from a pool of this kind."""

    def _draw_with(
        self, sampler: Any, n: int, draws: int | None, rng: Generator
    ) -> tuple[Pool, IntArray, Design]:
        """Draw n segments (``draws`` times, if given): a pool with them, rows and design."""

    def _draw_beside(
        self, sampler: Any, n: int, pool: Pool, rated: IntArray, rng: Generator
    ) -> tuple[Pool, IntArray, Design]:
        """Draw n more segments in addition to the ``rated`` rows of ``pool``."""

    def _cost_with(self, sampler: Any, n: int) -> tuple[float, float]:
        """Mean and variance of the cost of n segments drawn by the sampler."""


@dataclass(frozen=True, eq=False)
class Pool:
    """N segments with automatic scores for each, and no human scores.

    Parameters
    ----------
    ids
        One label per segment, all different.
    metrics
        Scores of automatic metrics or judges, an array of N numbers per metric.
    documents
        The document (conversation, article) that each segment belongs to.
    cost
        What one rating of each segment costs, in any unit.
    system
        The system that produced each segment.
    texts
        Further columns to show to annotators or to stratify by.
    orientation
        +1 where a larger metric means better output, -1 where it means worse, 0 for a covariate
        such as length. Metrics with common names need not be listed.
    spread
        Expected distance of each segment's rating from the metrics' prediction, in any unit;
        `fewgold.samplers.Chances` are in proportion to it.
    """

    ids: NDArray[Any]
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)
    documents: NDArray[Any] | None = None
    cost: FloatArray | None = None
    system: NDArray[Any] | None = None
    texts: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    orientation: Mapping[str, int] = field(default_factory=dict)
    spread: FloatArray | None = None

    def __post_init__(self) -> None:
        ids = _column("ids", self.ids)
        if not ids.size:
            raise DataError("the pool is empty; expected at least one segment.")
        _refuse_duplicates(ids)
        metrics = {str(name): _metric(str(name), v, ids) for name, v in self.metrics.items()}
        cost = None if self.cost is None else _numbers("cost", self.cost, ids)
        if cost is not None and (cost <= 0).any():
            bad = ids[cost <= 0]
            raise DataError(
                f"cost must be above 0 for every segment; not so for {bad.size}, first {bad[:3]!s}."
            )
        spread = None if self.spread is None else _numbers("spread", self.spread, ids)
        if spread is not None and ((spread < 0).any() or not spread.any()):
            bad = ids[spread < 0] if spread.any() else ids
            raise DataError(
                "the expected spread must be at least 0 for every segment and above 0 for some; "
                f"not so for {bad.size}, first {bad[:3]!s}."
            )
        unknown = set(self.orientation) - set(metrics)
        if unknown:
            raise UnknownNameError("metric in orientation", sorted(unknown)[0], metrics)
        wrong = {k: v for k, v in self.orientation.items() if v not in (-1, 0, 1)}
        if wrong:
            raise DataError(
                "orientation must be 1 (larger is better), -1 (larger is worse) or 0 (covariate); "
                f"got {wrong}."
            )
        known = {name: known_orientation(name, v) for name, v in metrics.items()}
        signs = {k: v for k, v in known.items() if v is not None} | dict(self.orientation)
        self._set(
            ids=ids,
            metrics=metrics,
            documents=_optional("documents", self.documents, ids.size),
            cost=cost,
            system=_optional("system", self.system, ids.size),
            texts={k: _sized(k, _column(k, v), ids.size) for k, v in self.texts.items()},
            orientation=signs,
            spread=spread,
        )

    def _set(self, **values: Any) -> None:
        """Set fields of a frozen pool; mappings become read-only."""
        for name, value in values.items():
            fixed = MappingProxyType(value) if type(value) is dict else value
            object.__setattr__(self, name, fixed)

    def __getstate__(self) -> dict[str, Any]:
        # Cached values that are quick to compute are not worth sending to a worker.
        cached = ("_standardised", "_composite", "_passages")
        state = {k: v for k, v in self.__dict__.items() if k not in cached}
        return {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def __len__(self) -> int:
        return int(self.ids.size)

    def __repr__(self) -> str:
        documents = "" if self.documents is None else f", {self.n_documents} documents"
        metrics = ", ".join(self.metrics) or "none"
        return f"Pool({len(self)} segments{documents}, metrics: {metrics})"

    def _repr_html_(self) -> str:
        """The pool in a notebook: its size and its metrics."""
        documents = "" if self.documents is None else f", {self.n_documents} documents"
        rows = [
            (name, *(f"{x:.4g}" for x in (v.mean(), v.std(), v.min(), v.max())))
            for name, v in self.metrics.items()
        ]
        heads = ("metric", "mean", "sd", "least", "largest") if rows else ()
        return html_table(f"Pool of {len(self)} segments{documents}", rows, heads)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        id: str,
        document: str | None = None,
        metrics: Sequence[str] | str | None = None,
        cost: str | None = None,
        system: str | None = None,
        texts: Sequence[str] | str = (),
        orientation: Mapping[str, int] | None = None,
        spread: str | None = None,
    ) -> Pool:
        """A pool from any dataframe (pandas, polars, pyarrow, …), one row per segment.

        ``metrics=None`` takes no metric: a column of human scores is numeric too, and must never
        end up among the metrics.
        """
        import narwhals.stable.v2 as nw

        if isinstance(table, str | Path):
            raise DataError(
                f"from_table takes a dataframe; got the path {str(table)!r}. Read it with "
                "Pool.from_file."
            )
        frame = nw.from_native(table, eager_only=True)
        known = list(frame.columns)

        def column(name: str) -> NDArray[Any]:
            if name not in known:
                raise UnknownNameError("column", name, known)
            return np.asarray(frame[name].to_numpy())

        return cls(
            ids=column(id),
            metrics={name: column(name) for name in as_names(metrics or ())},
            documents=None if document is None else column(document),
            cost=None if cost is None else column(cost),
            system=None if system is None else column(system),
            texts={name: column(name) for name in as_names(texts)},
            orientation=orientation or {},
            spread=None if spread is None else column(spread),
        )

    @classmethod
    def from_file(cls, path: str | Path, **columns: Any) -> Pool:
        """A pool from a CSV, TSV, JSON lines or Parquet file; ``columns`` as in `from_table`."""
        return cls.from_table(io.read_table(path), **columns)

    def take(self, rows: IntArray) -> Pool:
        """The pool restricted to ``rows``. A metric may be constant there."""
        part = object.__new__(Pool)
        part._set(
            ids=self.ids[rows],
            metrics={k: v[rows] for k, v in self.metrics.items()},
            documents=None if self.documents is None else self.documents[rows],
            cost=None if self.cost is None else self.cost[rows],
            system=None if self.system is None else self.system[rows],
            texts={k: v[rows] for k, v in self.texts.items()},
            orientation=self.orientation,
            spread=None if self.spread is None else self.spread[rows],
        )
        return part

    def with_metrics(self, **metrics: FloatArray) -> Pool:
        """The pool with further metrics, such as the predictions of a model trained elsewhere."""
        return replace(self, metrics={**self.metrics, **metrics})

    def with_spread(self, spread: FloatArray) -> Pool:
        """The pool with an expected spread for each segment."""
        return replace(self, spread=spread)

    @cached_property
    def codes(self) -> IntArray:
        """The document of each segment as a whole number."""
        if self.documents is None:
            raise lacks_documents()
        return codes_of(self.documents)

    @cached_property
    def _passages(self) -> IntArray:
        """The passage (one system's version of a document) of each segment, as a whole number."""
        if not self._has_several_systems:
            return self.codes
        assert self.system is not None
        systems = codes_of(self.system)
        return codes_of(self.codes * (int(systems.max()) + 1) + systems)

    @cached_property
    def _has_several_systems(self) -> bool:
        """Whether the segments are known to come from more than one system."""
        return self.system is not None and bool((self.system != self.system[0]).any())

    def matrix(self, names: Iterable[str] | None = None) -> FloatArray:
        """Metric scores, one row per metric: (p, N)."""
        chosen = list(self.metrics) if names is None else list(as_names(names))
        for name in chosen:
            if name not in self.metrics:
                raise UnknownNameError("metric", name, self.metrics)
        if not chosen:
            raise lacks_metrics()
        return np.stack([self.metrics[name] for name in chosen])

    def standardised(self, names: Iterable[str] | None = None) -> FloatArray:
        """Metrics with mean 0 and standard deviation 1 over the pool: (p, N), read-only."""
        chosen = tuple(self.metrics if names is None else as_names(names))
        if chosen not in self._standardised:
            z = _standardise(self.matrix(chosen))
            if len(chosen) > 1 and chosen != tuple(self.metrics):
                return z
            self._standardised[chosen] = z
        return self._standardised[chosen]

    @cached_property
    def _standardised(self) -> dict[tuple[str, ...], FloatArray]:
        """A cache for `standardised`: all metrics together, and single ones."""
        return {}

    def _standardised_cost(self) -> FloatArray | None:
        """The cost with mean 0 and standard deviation 1, if there is one that varies: (N,)."""
        if self.cost is None or not (spread := self.cost.std()) > 0:
            return None
        return np.asarray((self.cost - self.cost.mean()) / spread)

    @property
    def _rows_in_memory(self) -> bool:
        """Whether the metrics of all segments are in memory, not only those of the drawn ones."""
        return True

    def _moments_of(
        self, models: Sequence[Callable[[FloatArray], FloatArray]]
    ) -> list[tuple[float, float]]:
        """Mean and standard deviation over the pool of each model's predictions, (m, p) to (m,)."""
        predicted = [model(self.standardised().T) for model in models]
        return [(float(p.mean()), float(p.std())) for p in predicted]

    def composite(self) -> FloatArray:
        """Mean of the standardised metrics, with signs such that larger is better: (N,).

        A metric of unknown orientation gets the sign of its correlation with the others. Covariates
        are left out, unless there is nothing else.
        """
        return self._composite

    @cached_property
    def _composite(self) -> FloatArray:
        names = [m for m in self.metrics if self.orientation.get(m) != 0] or list(self.metrics)
        z = self.standardised(names)
        known = np.array([float(self.orientation.get(m, 0)) for m in names])
        signs = oriented(known, z @ z.T)
        mean: FloatArray = (signs[:, None] * z).mean(0)
        mean.setflags(write=False)
        return mean

    def _standard_composite(self) -> FloatArray:
        """The composite with mean 0 and standard deviation 1: (N,)."""
        mean = self.composite()
        spread = mean.std()
        return np.asarray((mean - mean.mean()) / (spread if spread > 0 else 1.0))

    def _gram(self, names: Iterable[str] | None = None) -> FloatArray:
        """Mean products of standardised metrics, or of the composite (``"mean"``): (p, p)."""
        z = self._standard_composite()[None] if names == "mean" else self.standardised(names)
        return np.asarray(z @ z.T / len(self))

    def _range_of(self, names: Iterable[str], weights: FloatArray) -> tuple[float, float]:
        """Smallest and largest value of a weighted sum of standardised metrics."""
        total = weights @ self.standardised(names)
        return float(total.min()), float(total.max())

    def _metric_values(self, metric: str) -> FloatArray:
        """A metric over the whole pool, or the composite (``"mean"``): (N,)."""
        return self.composite() if metric == "mean" else self.matrix([metric])[0]

    @property
    def has_documents(self) -> bool:
        """Whether the document of each segment is known."""
        return self.documents is not None

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return int(self.codes.max()) + 1

    @property
    def binary_metrics(self) -> tuple[str, ...]:
        """Metrics that are 0 or 1 for every segment."""
        return tuple(m for m, v in self.metrics.items() if np.isin(v, (0.0, 1.0)).all())

    @cached_property
    def fingerprint(self) -> str:
        """A short digest of ids, documents, metrics, costs and spread, equal for equal pools."""
        digest = hashlib.sha256()
        for labels in (self.ids, self.documents):
            if labels is not None:
                digest.update(_as_bytes(labels) + b"\x1e")
        for name in sorted(self.metrics):
            digest.update(name.encode() + b"\x1f" + self.metrics[name].tobytes())
        if self.cost is not None:
            digest.update(b"cost\x1f" + self.cost.tobytes())
        if self.spread is not None:
            digest.update(b"spread\x1f" + self.spread.tobytes())
        return digest.hexdigest()[:16]

    def _digests(self) -> dict[str, str]:
        labels = {"ids": self.ids, "documents": self.documents}
        found = {k: _as_bytes(v) for k, v in labels.items() if v is not None}
        found |= {f"metric {k}": v.tobytes() for k, v in self.metrics.items()}
        if self.cost is not None:
            found["cost"] = self.cost.tobytes()
        if self.spread is not None:
            found["spread"] = self.spread.tobytes()
        return {k: hashlib.sha256(v).hexdigest()[:12] for k, v in found.items()}

    @property
    def _has_cost(self) -> bool:
        return self.cost is not None

    @property
    def _total_cost(self) -> float:
        assert self.cost is not None
        return float(self.cost.sum())

    @property
    def _has_spread(self) -> bool:
        return self.spread is not None

    @property
    def _tells_quality(self) -> bool:
        return any(self.orientation.get(name) for name in self.metrics)

    @property
    def _known_n_documents(self) -> int | None:
        return self.n_documents

    @property
    def _source(self) -> tuple[str, int]:
        return "memory", 1

    def _with_rows(self, ids: Mapping[int, str]) -> Pool:
        return self

    def _can_use(self, sampler: Any) -> bool:
        return True

    def _draw_with(
        self, sampler: Any, n: int, draws: int | None, rng: Generator
    ) -> tuple[Pool, IntArray, Design]:
        rows, design = sampler._draw(self, n, draws or 1, rng)
        return (self, rows[0], design.draw(0)) if draws is None else (self, rows, design)

    def _draw_beside(
        self, sampler: Any, n: int, pool: Pool, rated: IntArray, rng: Generator
    ) -> tuple[Pool, IntArray, Design]:
        rows, designs = [], []
        for taken in np.atleast_2d(rated):
            rest = np.setdiff1d(np.arange(len(self)), taken)
            chosen, design = sampler._draw(self.take(rest), n, 1, rng)
            rows.append(rest[chosen[0]])
            designs.append(design.draw(0))
        if rated.ndim == 1:
            return self, rows[0], designs[0]
        return self, np.stack(rows), Design._stack(designs)

    def _cost_with(self, sampler: Any, n: int) -> tuple[float, float]:
        found: tuple[float, float] = sampler._cost_moments(self, self.cost, n)
        return found


def oriented(signs: FloatArray, products: FloatArray) -> FloatArray:
    """Signs (p,) of metrics; unknown orientations (0) are inferred from correlations.

    ``products`` (p, p) are proportional to the correlations. If no sign is known, metrics get the
    signs of the first principal component.
    """
    if not signs.any():
        values, vectors = np.linalg.eigh(products)
        first = vectors[:, int(values.argmax())]
        signs = np.sign(first) * (np.sign(first.sum()) or 1.0)
    else:
        signs = np.where(signs == 0, np.sign(products @ signs), signs)
    return np.where(signs == 0, 1.0, signs)


def _as_bytes(labels: NDArray[Any]) -> bytes:
    return "\x1f".join(map(str, labels.tolist())).encode()


def _standardise(x: FloatArray) -> FloatArray:
    """Rows (p, N) with mean 0 and standard deviation 1, or 0 where they are constant."""
    # Scale before squaring, so that scores such as 1e200 or 1e-200 do not overflow.
    top = np.maximum(x.max(-1, keepdims=True), -x.min(-1, keepdims=True))
    x = x / np.where(top > 0, top, 1.0)
    x -= x.mean(-1, keepdims=True)
    spread = x.std(-1)
    flat = spread <= 1e-13
    x /= np.where(flat, 1.0, spread)[:, None]
    x[flat] = 0.0
    x.setflags(write=False)
    return x


def _column(name: str, values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{name} must be a single column; got an array of shape {array.shape}.")
    if array.dtype.kind == "O":
        missing = np.array([v is None or v != v for v in array.tolist()], dtype=bool)
        if missing.any():
            raise DataError(
                f"{name} has {counted(int(missing.sum()), 'missing value')}, the first in row "
                f"{int(missing.argmax())}. Every segment needs one."
            )
        if all(isinstance(v, str) for v in array.tolist()):
            # Every cell of a fixed-width text array is as large as the longest, so avoid it for
            # long texts.
            longest = max((len(v) for v in array.tolist()), default=0)
            array = array.astype(str) if longest * array.size <= _ROOM else array
    return array


def _sized(name: str, array: NDArray[Any], size: int) -> NDArray[Any]:
    if array.size != size:
        raise DataError(f"{name} has {array.size} values, but there are {size} segments.")
    return array


def _optional(name: str, values: Any, size: int) -> NDArray[Any] | None:
    return None if values is None else _sized(name, _column(name, values), size)


def _refuse_duplicates(ids: NDArray[Any]) -> None:
    bare = [k for k, i in enumerate(ids.tolist()) if isinstance(i, str) and not i.strip()]
    if bare:
        raise DataError(
            f"every segment needs an id; {len(bare)} of {ids.size} ids {verb(len(bare), 'are')} "
            "empty, the first in row "
            f"{bare[0] + 1}."
        )
    unique, counts = np.unique(ids.astype(str), return_counts=True)
    if (counts > 1).any():
        twice = unique[counts > 1]
        raise DataError(
            f"ids must differ; {counted(twice.size, 'id')} {verb(twice.size, 'occur')} more than "
            f"once, first {str(twice[0])!r} "
            f"({counts[counts > 1][0]} times). If the table holds several systems or raters, "
            "keep one of them, or build ids from system and segment."
        )


def _numbers(name: str, values: Any, ids: NDArray[Any]) -> FloatArray:
    array = _sized(name, np.asarray(values), ids.size)
    if array.dtype.kind in "fiub":
        numbers = array.astype(np.float64)
    else:
        column = io.column_of(array, name)
        wrong = [k for sort, rows in column.sorts.items() if sort != "infinite" for k in rows]
        if wrong:
            bad = array.tolist()[min(wrong)]
            raise DataError(f"{name} must hold numbers; got {bad!r}. {no_number(bad)}")
        numbers = column.values
    broken = ~np.isfinite(numbers)
    if broken.any():
        hint = f"Give a number for every segment, or no {name}."
        if name.startswith("metric "):
            hint = (
                "Score every segment, fill the gaps with the metric's mean (fewgold.io.filled), or "
                "leave this metric out."
            )
        raise DataError(
            f"{name} has {counted(int(broken.sum()), 'missing or infinite value')}, first for id "
            f"{ids[broken][0]!s}. {hint}"
        )
    return numbers


def _metric(name: str, values: Any, ids: NDArray[Any]) -> FloatArray:
    numbers = _numbers(f"metric {name!r}", values, ids)
    if ids.size > 1 and (numbers == numbers[0]).all():
        raise DataError(
            f"metric {name!r} is constant ({numbers[0]:g} for all {ids.size} segments), so it "
            "carries no information. Leave it out, or check the column."
        )
    numbers.setflags(write=False)
    return numbers
