"""Some rows of a pool on disk, with what is known of the rest."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold._validate import as_names
from fewgold.errors import DesignError
from fewgold.pool import Pool

if TYPE_CHECKING:
    from fewgold.stored._pool import StoredPool


class Excerpt(Pool):
    """A `Pool` of which only the drawn rows are in memory.

    Its size, and the means and spreads by which metrics are standardised, are those of the whole
    pool, so that estimators give what they would give if all of it were in memory. Rows are counted
    from 0 in the order in which they were drawn.
    """

    store: StoredPool

    @classmethod
    def from_rows(cls, store: StoredPool, frame: Any) -> Excerpt:
        """From a frame with the columns of the store's own names."""
        columns = store.columns
        part = object.__new__(cls)

        def values(name: str) -> Any:
            return frame[name].to_numpy()

        part._set(
            store=store,
            ids=values("id_raw"),
            metrics=MappingProxyType(
                {m: values(f"m{k}_").astype(np.float64) for k, m in enumerate(columns.metrics)}
            ),
            documents=None if columns.document is None else values("doc_raw"),
            cost=None if columns.cost is None else values("cost_").astype(np.float64),
            system=None if columns.system is None else values("sys_"),
            texts=MappingProxyType({t: values(f"t{k}_") for k, t in enumerate(columns.texts)}),
            orientation=MappingProxyType(dict(store.orientation)),
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
            metrics=MappingProxyType(
                {m: join(v, more.metrics[m]) for m, v in self.metrics.items()}
            ),
            documents=join(self.documents, more.documents),
            cost=join(self.cost, more.cost),
            system=join(self.system, more.system),
            texts=MappingProxyType({t: join(v, more.texts[t]) for t, v in self.texts.items()}),
            orientation=self.orientation,
        )
        return both

    def __len__(self) -> int:
        return len(self.store)

    def __repr__(self) -> str:
        metrics = ", ".join(self.metrics) or "none"
        return f"Excerpt({self.ids.size} of {len(self)} segments, metrics: {metrics})"

    def take(self, rows: IntArray) -> Pool:
        raise DesignError(
            "rows of a pool on disk that were not drawn are not in memory. Draw from the pool "
            "itself, or load it whole with Pool.from_file."
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
        which = [self.store.metrics.index(m) for m in chosen if m in self.store.metrics]
        moments = self.store.moments
        z = self.matrix(chosen) - moments.pivot[which, None] - moments.above[which, None]
        return np.asarray(z / moments.scale[which, None])

    @cached_property
    def _composite(self) -> FloatArray:
        names, weights = self.store.composite_weights
        return np.asarray(weights @ self.standardised(names))

    def standard_composite(self) -> FloatArray:
        """The composite with standard deviation 1 over the whole pool."""
        names, weights = self.store.composite_weights
        spread = float(np.sqrt(weights @ self.store.correlation(names) @ weights))
        return np.asarray(self.composite() / (spread if spread > 0 else 1.0))

    def gram(self, names: Iterable[str] | None = None) -> FloatArray:
        if names == "mean":
            return np.ones((1, 1))
        return self.store.correlation(list(self.metrics if names is None else as_names(names)))

    def range_of(self, names: Iterable[str], weights: FloatArray) -> tuple[float, float]:
        return self.store.range_of(list(as_names(names)), weights)

    def everywhere(self, metric: str) -> FloatArray:
        """A metric over the whole pool: the drawn rows first, then the others, in any order.

        This brings one column into memory, 8 bytes a segment.
        """
        if metric not in self._columns:
            mine = self.composite() if metric == "mean" else self.matrix([metric])[0]
            others = self.store.column(metric, [str(i) for i in self.ids])
            self._columns[metric] = np.concatenate([mine, others])
        return self._columns[metric]

    @cached_property
    def _columns(self) -> dict[str, FloatArray]:
        return {}
