"""Learn from earlier ratings: a predicted score and its expected spread for each segment.

Earlier ratings are those of last year's test set, or of other systems on this one. Two models are
fitted to them, both fixed before the first new rating, so that guarantees hold and no degrees of
freedom are used:

- the score that the metrics predict: a ridge regression, and boosted trees for its residuals. It
  joins the metrics of the pool as ``history``, a control like any other;
- the spread around that prediction, which `fewgold.samplers.Chances` follow: log-linear in a
  spline of the predicted score, fitted to predictions for documents that were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold.common.arrays import FloatArray, IntArray, codes_of
from fewgold.common.checks import as_names
from fewgold.errors import DataError
from fewgold.pool import Pool

#: Name of the metric that a history adds to a pool.
METRIC = "history"
# Fewest ratings that a history needs.
_FEWEST = 30
_FOLDS = 3
# Predictions and spreads are rounded to this many significant digits, so that a seed gives the same
# sample on every machine.
_DIGITS = 6


@dataclass(frozen=True)
class PastStudy:
    """Segments of one system with their ratings; NaN where a segment was not rated."""

    pool: Pool
    scores: FloatArray

    def __post_init__(self) -> None:
        if not isinstance(self.pool, Pool):
            raise DataError(
                f"a history needs a Pool with each study's scores; got {type(self.pool).__name__}."
            )
        try:
            scores = np.asarray(self.scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "the earlier scores of a history must be numbers, nan where there is none."
            ) from None
        if scores.shape != (len(self.pool),):
            raise DataError(
                f"a history needs one score per segment, shape ({len(self.pool)},), nan where "
                f"there is none; got {scores.shape}."
            )
        if np.isinf(scores).any():
            raise DataError(
                f"an earlier score is infinite, first for id {self.pool.ids[np.isinf(scores)][0]!s}"
                ". Correct it, or give nan for a segment that was not rated."
            )
        object.__setattr__(self, "scores", scores)

    def holds(self, pool: Pool, scores: FloatArray) -> bool:
        """Whether these are ratings of this pool: the same segments with the same metric scores."""
        known = dict(zip(_keys(pool), scores.tolist(), strict=True))
        both = [
            (known[key], own)
            for key, own in zip(_keys(self.pool), self.scores.tolist(), strict=True)
            if key in known and np.isfinite(own)
        ]
        pairs = np.array(both).reshape(-1, 2)
        return bool(both) and bool(np.allclose(pairs[:, 0], pairs[:, 1], rtol=1e-9, atol=0.0))


@dataclass(frozen=True)
class History:
    """Earlier ratings, used to choose segments and as a control variate for the next ratings.

    Parameters
    ----------
    studies
        One for each system or year, as ``(pool, scores)``; scores are NaN where a segment was not
        rated. Scales may differ between studies: each study is standardised.
    same_segments
        Whether to use ratings of the same segments (same id and document) from other systems too.
        How hard a segment was for other systems says much about the next one.

    Examples
    --------
    >>> import numpy as np
    >>> from fewgold.datasets import load_demo
    >>> pool, gold = load_demo()
    >>> half = np.arange(len(pool)) % 2 == 0
    >>> last_year = pool.take(np.flatnonzero(half)), gold[half]
    >>> informed = History([last_year]).inform(pool.take(np.flatnonzero(~half)))
    >>> "history" in informed.metrics, informed.spread is not None
    (True, True)
    """

    studies: Sequence[tuple[Pool, FloatArray] | PastStudy]
    same_segments: bool = True

    def __post_init__(self) -> None:
        studies = tuple(s if isinstance(s, PastStudy) else PastStudy(*s) for s in self.studies)
        rated = sum(int(np.isfinite(s.scores).sum()) for s in studies)
        if rated < _FEWEST:
            raise DataError(
                f"a history needs at least {_FEWEST} ratings to learn from; got {rated}.",
                hints={
                    "python": "Do without it, or add ratings of other systems or years.",
                    "cli": "Leave out --history, or add ratings of other systems or years to its "
                    "file.",
                },
            )
        object.__setattr__(self, "studies", studies)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        human: str,
        id: str,
        metrics: Sequence[str] | str,
        document: str | None = None,
        system: str | None = None,
        same_segments: bool = True,
    ) -> History:
        """Read earlier ratings from a dataframe, one row per output; scores may be missing.

        ``system`` is the column that identifies the system (or year): each is a separate study.
        """
        import narwhals.stable.v2 as nw

        frame = nw.from_native(table, eager_only=True)
        labels = codes_of(np.asarray(frame[system].to_numpy()).astype(str)) if system else None
        parts = [None] if labels is None else range(int(labels.max()) + 1)
        studies = []
        for part in parts:
            own = frame if labels is None else frame.filter((labels == part).tolist())
            scores = own[human].to_numpy()
            varied = [m for m in as_names(metrics) if own[m].n_unique() > 1]
            pool = Pool.from_table(own, id=id, document=document, metrics=varied)
            studies.append((pool, scores))
        return cls(studies, same_segments)

    def inform(self, pool: Pool) -> Pool:
        """The pool with the metric ``history`` and an expected spread for each segment."""
        if not isinstance(pool, Pool):
            raise DataError(
                "a history predicts every segment in memory, and this pool is on disk. Use "
                "docs-balanced+ridge, or let the chances follow the history: "
                "Balanced(chances=Chances(history.spread))."
            )
        if METRIC in pool.metrics:
            raise DataError(
                f"the pool has a metric called {METRIC!r} already.",
                hints={
                    "python": "Rename it, or leave it out.",
                    "cli": "Rename the column, or list the others with --metrics.",
                },
            )
        names = self.shared_metrics(pool)
        studies = [s for s in self._studies if np.isfinite(s.scores).sum() > 1]
        others = [self._same(s.pool, [o for o in studies if o is not s]) for s in studies]
        here = self._same(pool, studies)
        known = self.same_segments and here.any() and any(o.any() for o in others)
        tables = [
            _features(s.pool, names, o if known else None)
            for s, o in zip(studies, others, strict=True)
        ]
        x = np.concatenate(tables)
        y = np.concatenate([_relative(s.scores) for s in studies])
        documents = np.concatenate([_labels(s.pool) for s in studies])
        rated = np.isfinite(y)
        new = _features(pool, names, here if known else None)
        predicted, spread = _fit(x[rated], y[rated], codes_of(documents[rated]), new)
        if np.ptp(predicted) == 0:
            raise DataError(
                "the earlier ratings say nothing about this pool: all predictions are equal.",
                hints={"python": "Do without the history.", "cli": "Leave out --history."},
            )
        if self.same_segments and here.any() and not known:
            # A single earlier study cannot show how scores carry over between systems, but they do.
            predicted = predicted + here
        informed = pool.with_metrics(**{METRIC: _rounded(predicted)})
        return replace(
            informed, spread=_rounded(spread), orientation={**informed.orientation, METRIC: 0}
        )

    def spread(self, pool: Pool) -> FloatArray:
        """The expected spread of each segment by its metrics: ``Chances(history.spread)``.

        For a pool on disk only this is available, since only the candidates are predicted.
        """
        informed = replace(self, same_segments=False).inform(pool)
        assert informed.spread is not None
        return informed.spread

    @property
    def _studies(self) -> tuple[PastStudy, ...]:
        return tuple(s for s in self.studies if isinstance(s, PastStudy))

    def _same_rated(self, pool: Pool) -> int:
        """How many segments of the pool were rated before."""
        if not self.same_segments:
            return 0
        rated = {
            key
            for s in self._studies
            for key, score in zip(_keys(s.pool), s.scores.tolist(), strict=True)
            if np.isfinite(score)
        }
        return sum(key in rated for key in _keys(pool))

    def shared_metrics(self, pool: Pool) -> list[str]:
        """The metrics that the pool and every study have."""
        names = [m for m in pool.metrics if all(m in s.pool.metrics for s in self._studies)]
        if not names:
            theirs = sorted({m for s in self._studies for m in s.pool.metrics})
            raise DataError(
                "the history and the pool have no metric in common. The pool has "
                f"{', '.join(pool.metrics) or 'none'}; the history has "
                f"{', '.join(theirs) or 'none'}. Score both with the same metric, or rename "
                "columns so that they agree."
            )
        return names

    def _same(self, pool: Pool, studies: Iterable[PastStudy]) -> FloatArray:
        """Mean relative score of the same segments in other studies, shrunk towards 0: (N,)."""
        total, count = np.zeros(len(pool)), np.zeros(len(pool))
        keys = _keys(pool)
        for study in studies:
            known = {
                k: v
                for k, v in zip(_keys(study.pool), _relative(study.scores), strict=True)
                if np.isfinite(v)
            }
            found = np.array([known.get(k, np.nan) for k in keys])
            total += np.where(np.isfinite(found), found, 0.0)
            count += np.isfinite(found)
        return np.asarray(total / (count + 1.0))


def _keys(pool: Pool) -> list[tuple[str, str]]:
    documents = pool.ids if pool.documents is None else pool.documents
    return list(zip(map(str, pool.ids.tolist()), map(str, documents.tolist()), strict=True))


def _labels(pool: Pool) -> NDArray[Any]:
    """Groups that folds must not split: documents, or segments where there are none."""
    return (pool.ids if pool.documents is None else pool.documents).astype(str)


def _relative(scores: FloatArray) -> FloatArray:
    """Scores with mean 0 and standard deviation 1, if they vary; NaN stays NaN."""
    spread = np.nanstd(scores)
    return np.asarray((scores - np.nanmean(scores)) / (spread if spread > 0 else 1.0))


def _features(pool: Pool, names: Sequence[str], same: FloatArray | None) -> FloatArray:
    """Standardised metrics, and the score of the same segments in other studies: (N, p)."""
    z = pool.standardised(names)
    return np.asarray((z if same is None else np.vstack([z, same])).T)


def _fit(
    x: FloatArray, y: FloatArray, documents: IntArray, new: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Predicted score and spread of new segments (m, p), from rated ones (n, p)."""
    from sklearn.linear_model import PoissonRegressor
    from sklearn.model_selection import GroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer

    folds = min(_FOLDS, int(documents.max()) + 1)
    groups = documents if folds > 1 else np.arange(y.size)
    seen = np.empty(y.size)
    for train, test in GroupKFold(max(folds, 2)).split(x, y, groups):
        seen[test] = _predict(x[train], y[train], x[test])
    predicted = _predict(x, y, new)
    error = np.abs(y - seen)
    if not error.any() or np.ptp(seen) == 0:
        return predicted, np.ones(len(new))
    curve = make_pipeline(
        SplineTransformer(n_knots=4, degree=2, knots="quantile", extrapolation="constant"),
        PoissonRegressor(alpha=1e-2, max_iter=1000),
    )
    curve.fit(seen[:, None], error / error.mean())
    return predicted, np.asarray(curve.predict(predicted[:, None]))


def _predict(x: FloatArray, y: FloatArray, new: FloatArray) -> FloatArray:
    """Ridge regression, plus boosted trees for its residuals if there are some hundred ratings."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV

    line = RidgeCV(np.geomspace(0.1, 1e4, 11)).fit(x, y)
    trees = HistGradientBoostingRegressor(
        learning_rate=0.05,
        max_iter=100,
        max_leaf_nodes=8,
        min_samples_leaf=40,
        early_stopping=False,
        random_state=0,
    ).fit(x, y - line.predict(x))
    return np.asarray(line.predict(new) + trees.predict(new))


def _rounded(values: FloatArray) -> FloatArray:
    return np.asarray(np.round(values / np.abs(values).max(), _DIGITS))
