"""Scores of parts of the pool (languages, domains, lengths) from one sample, with intervals.

A slice is a part of the pool whose segments are all known. Its score is the mean prediction over
the slice plus the mean error of the control on the rated ones (`weighted_mean`). Slices with too
few ratings are listed without a score, unless shrinkage towards the others is requested.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr, stdtrit

from fewgold.common.arrays import FloatArray, codes_of
from fewgold.common.checks import as_names, check_choice, check_confidence
from fewgold.common.statistics import adjusted_p_values
from fewgold.common.text import decimals, html_table, plain_frame
from fewgold.errors import DataError, UnknownNameError
from fewgold.estimate import Estimate, Interval, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.pool import Pool
from fewgold.quantities import mean_of, total, weighted_mean
from fewgold.sample import Ratings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from fewgold.io.columns import Roles

__all__ = ["Slices", "labels_of", "shrunk", "slices"]

#: Fewest ratings for which a slice gets its own score.
LEAST = 10
CORRECTIONS = ("holm", "bonferroni", "fdr", "none")
# Largest number of distinct values of a column used for slices without being named.
_MOST_VALUES = 30
# Fewest slices with a score for which shrinkage is possible.
_LEAST_SLICES = 3


@dataclass(frozen=True, eq=False)
class Slices:
    """Scores of slices, and the difference of each from the rest.

    Parameters
    ----------
    names
        Label of each slice, the largest slice first.
    estimates, rest
        Estimate of each slice and of all other segments; None if there are too few ratings.
    rated, sizes
        Number of rated segments and of all segments in each slice.
    whole
        The estimate of the whole pool.
    by
        The column that defines the slices.
    least
        Fewest ratings for which a slice gets its own score.
    shrink
        Whether scores are shrunk towards their common mean.
    correction
        Correction of the p-values of differences: ``holm``, ``bonferroni``, ``fdr`` or ``none``.
    """

    names: tuple[str, ...]
    estimates: tuple[Estimate | None, ...]
    rest: tuple[Estimate | None, ...]
    rated: tuple[int, ...]
    sizes: tuple[int, ...]
    whole: Estimate
    by: str
    least: int = LEAST
    shrink: bool = False
    correction: str = "holm"

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of one slice."""
        if name not in self.names:
            raise UnknownNameError("slice", name, self.names)
        found = self.estimates[self.names.index(name)]
        if found is None:
            count = self.rated[self.names.index(name)]
            raise DataError(
                f"the slice {name!r} has {count} ratings, fewer than {self.least}: too few for a "
                "score of its own. Rate more of it (fewgold select --by), or use shrinkage "
                "(shrink=True)."
            )
        return found

    def __repr__(self) -> str:
        few = sum(e is None for e in self.estimates)
        return f"Slices({len(self)} by {self.by}{f', {few} with too few ratings' if few else ''})"

    def _repr_html_(self) -> str:
        """The slices in a notebook."""
        heads, rows = self.cells()
        return html_table(repr(self), rows, heads, self._told)

    @property
    def too_few(self) -> tuple[str, ...]:
        """Slices with too few ratings for a score of their own."""
        return tuple(n for n, e in zip(self.names, self.estimates, strict=True) if e is None)

    def to_frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """One row per slice.

        ``low`` and ``high`` cover the score of this slice with the given confidence; ``low_all``
        and ``high_all`` cover those of all slices at once (Bonferroni). ``difference`` is the
        difference from all other segments, with its own interval and a p-value ``p`` corrected for
        the number of slices. With shrinkage ``shrunk``, ``shrunk_low`` and ``shrunk_high`` are
        added.
        """
        import pandas as pd

        check_confidence(confidence)
        count = sum(e is not None for e in self.estimates)
        together = 1 - (1 - confidence) / max(count, 1)
        rows = []
        for k, name in enumerate(self.names):
            own = self.estimates[k]
            row: dict[str, Any] = {"slice": name, "n": self.rated[k], "size": self.sizes[k]}
            row |= dict.fromkeys(("value", "se", "low", "high", "low_all", "high_all"), math.nan)
            if own is not None:
                low, high = own.interval(confidence)
                all_low, all_high = own.interval(together)
                row |= {"value": float(own.value), "se": float(own.se), "low": float(low)}
                row |= {"high": float(high), "low_all": float(all_low), "high_all": float(all_high)}
            row |= _apart(own, self.rest[k], confidence)
            row["enough"] = own is not None
            rows.append(row)
        frame = pd.DataFrame(rows)
        frame["p"] = adjusted_p_values(frame["p"].to_numpy(dtype=float), self.correction)
        if self.shrink:
            value, se, low, high = self._shrunk(confidence)
            frame = frame.assign(shrunk=value, shrunk_se=se, shrunk_low=low, shrunk_high=high)
        return frame

    def _shrunk(self, confidence: float) -> tuple[FloatArray, ...]:
        values, errors = np.full((2, len(self)), np.nan)
        skewness = np.zeros(len(self))
        for k, own in enumerate(self.estimates):
            if own is not None and math.isfinite(float(own.se)):
                values[k] = float(own.value)
                # With skewed scores and few degrees of freedom, intervals are wider than normal
                # ones.
                low, high = own.interval(0.95)
                wide = float(high - low) / (2 * 1.959963984540054)
                errors[k] = max(float(own.se), wide) if math.isfinite(wide) else float(own.se)
                if math.isfinite(wide) and high > low:
                    skewness[k] = float((low + high - 2 * own.value) / (high - low))
        mean, sd, low, high = shrunk(values, errors, confidence, np.clip(skewness, -0.9, 0.9))
        limits = {e.ratings.limits for e in self.estimates if isinstance(e, LinearEstimate)}
        # A slice without a score of its own, in particular, may reach beyond the scale.
        low, high = Interval(low, high).within(limits.pop() if len(limits) == 1 else None)
        return mean, sd, low, high

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The slices in plain numbers, for JSON."""
        return {
            "by": self.by,
            "least": self.least,
            "correction": self.correction,
            "shrink": self.shrink,
            "confidence": confidence,
            "too_few": list(self.too_few),
            "slices": plain_frame(self.to_frame(confidence)),
            "signature": self.signature(confidence),
        }

    def signature(self, confidence: float = 0.95) -> str:
        """How the scores were made, in one line: that of the whole pool, and the slices."""
        record = self.whole.to_dict(confidence)
        cut = "|".join(f"{n}\x1f{r}\x1f{s}" for n, r, s in
                       zip(self.names, self.rated, self.sizes, strict=True))  # fmt: skip
        digest = hashlib.sha256(cut.encode()).hexdigest()[:6]
        parts = [record["signature"], f"by:{self.by.replace(' ', '-')}#{digest}"]
        parts.append(f"least:{self.least}")
        return "|".join([*parts, *(["shrink:yes"] if self.shrink else [])])

    def summary(self, confidence: float = 0.95) -> str:
        """A readable table."""
        heads, rows = self.cells(confidence)
        wide = [max(len(r[k]) for r in [heads, *rows]) for k in range(len(heads))]
        lines = [
            "  ".join(
                c.ljust(w) if k == 0 else c.rjust(w)
                for k, (c, w) in enumerate(zip(r, wide, strict=True))
            )
            for r in [heads, *rows]
        ]
        notes = (f"note: {note}" for note in self._told)
        return "\n".join([f"by {self.by}", *(line.rstrip() for line in lines), *notes])

    def cells(
        self, confidence: float = 0.95, *, coarser: int = 0
    ) -> tuple[list[str], list[list[str]]]:
        """Headers and rows of a readable table, with ``coarser`` digits fewer than usual."""
        frame = self.to_frame(confidence)
        level = f"{100 * confidence:.6g}%"
        heads = [self.by, "rated", "of", "score", level, "all at once", "from the rest", "p"]
        finite = [float(e.se) for e in self.estimates if e is not None and 0 < float(e.se) < 1e300]
        digits = max(decimals(min(finite) if finite else None) - 1 - coarser, 0)
        if self.shrink:  # the rest is in the dataframe: lines of text should fit a screen
            heads = [*heads[:5], "shrunk", level]

        def span(low: float, high: float) -> str:
            if math.isnan(low):
                return "–"
            return f"{low:.{digits}f} to {high:.{digits}f}".replace("inf", "∞")

        rows = []
        for row in frame.to_dict("records"):
            line = [str(row["slice"]), str(row["n"]), str(row["size"])]
            if row["enough"]:
                p = row["p"]
                apart = row["difference"]
                line += [
                    f"{row['value']:.{digits}f}", span(row["low"], row["high"]),
                    span(row["low_all"], row["high_all"]),
                    "–" if math.isnan(apart) else f"{apart:+.{digits}f}".replace("-", "−"),
                    "–" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}",
                ]  # fmt: skip
            else:
                line += ["too few", "–", "–", "–", "–"]
            if self.shrink:
                line = line[:5]
                line += [f"{row['shrunk']:.{digits}f}", span(row["shrunk_low"], row["shrunk_high"])]
            rows.append(line)
        return heads, rows

    @property
    def _told(self) -> list[str]:
        """Remarks about the ratings, such as how labelled rows were chosen, and the slices."""
        return list(dict.fromkeys([*self.whole.to_dict()["notes"], *self.notes]))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the reader about the slices."""
        found = []
        if self.too_few:
            found.append(
                f"{len(self.too_few)} of {len(self)} slices have fewer than {self.least} ratings, "
                "too few for a score of their own; fewgold select --by takes enough of each"
            )
        if self.shrink:
            found.append(
                "shrunk scores borrow from the other slices: they are closer to the truth on "
                "average, but an unusual slice is pulled towards the others"
            )
        return tuple(found)

    def plot(self, ax: Axes | None = None, *, confidence: float = 0.95) -> Axes:
        """A forest plot: scores with intervals, one row per slice, and the whole pool."""
        import pandas as pd

        from fewgold.plots import forest

        frame = self.to_frame(confidence)
        frame = frame[frame["enough"]] if not self.shrink else frame
        names = ("shrunk", "shrunk_low", "shrunk_high") if self.shrink else ("value", "low", "high")
        shown = pd.DataFrame({
            "system": [f"{s} ({n} of {N})" for s, n, N in
                       zip(frame["slice"], frame["n"], frame["size"], strict=True)],
            "score": frame[names[0]], "low": frame[names[1]], "high": frame[names[2]],
        })  # fmt: skip
        low, high = self.whole.interval(confidence)
        last = {"system": "all", "score": float(self.whole.value), "low": low, "high": high}
        shown = pd.concat([shown, pd.DataFrame([last])], ignore_index=True)
        shown["group"] = [0] * (len(shown) - 1) + [1]
        return forest(shown, ax, label="shrunk score" if self.shrink else "score",
                      confidence=confidence)  # fmt: skip


def slices(
    ratings: Ratings,
    estimator: Estimator,
    by: Any,
    *,
    weights: Any = None,
    least: int = LEAST,
    shrink: bool = False,
    correction: str = "holm",
    target: str = "pool",
    quantity: Callable[[Ratings, Estimator, FloatArray], Estimate] | None = None,
) -> Slices:
    """Estimate the scores of subgroups from one sample, each with its own interval.

    Parameters
    ----------
    ratings
        The ratings of one study, with the pool in memory.
    estimator
        The estimator for the whole pool. Its slopes are fitted to all ratings.
    by
        Column of the pool (a text, ``"document"`` or ``"system"``), several to cross them, or one
        label per segment of the pool, as an array or as a mapping from a name to an array.
    weights
        (N,) weights of the segments within slices, as in `weighted_mean`.
    least
        Fewest ratings for which a slice gets its own score; slices with fewer are "too few".
    shrink
        Add scores shrunk towards the common mean of the slices (`shrunk`).
    correction
        Correction of the p-values of differences from the rest.
    target
        ``"pool"``: of these segments. ``"process"``: of new ones of the same kind, as in a new test
        set like this one.
    quantity
        What to estimate in each slice instead of the mean; a function of ratings, estimator and
        weights such as `fewgold.quantities.total`.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.estimators import Ridge
    >>> pool, gold = load_demo("ende")
    >>> sample = Ridge().select(pool, 200, rng=1)
    >>> length = np.where(pool.metrics["words"] < 25, "short", "long")
    >>> found = slices(sample.rate(gold[sample.indices]), Ridge(), {"length": length})
    >>> list(found.names), found.rated
    (['short', 'long'], (110, 90))
    """
    check_choice("correction", correction, CORRECTIONS)
    if least < 2:
        raise DataError(f"least must be at least 2 ratings; got {least}.")
    sample = ratings.sample
    name, labels = labels_of(sample.pool, by)
    omega = np.ones(len(sample.pool)) if weights is None else np.asarray(weights, dtype=np.float64)
    codes = codes_of(labels)
    sizes, rated = np.bincount(codes), np.bincount(codes[sample.indices], minlength=codes.max() + 1)
    first = np.unique(codes, return_index=True)[1]
    order = np.argsort(-sizes, kind="stable")

    def estimated(inside: NDArray[np.bool_], of: str) -> Estimate | None:
        own = omega * inside
        count, size = int(inside[sample.indices].sum()), int(inside.sum())
        if not own.any() or count < min(least, size):
            return None
        if quantity is not None:
            return quantity(ratings, estimator, own)
        found = weighted_mean(ratings, estimator, own, of=of)
        return found if target == "pool" else found.for_process()

    names = tuple(str(labels[first[k]]) for k in order)
    return Slices(
        names=names,
        estimates=tuple(
            estimated(codes == k, f"{name}={n}") for k, n in zip(order, names, strict=True)
        ),
        # A slice's total is not comparable with that of all the other segments.
        rest=tuple(
            None if quantity is total else estimated(codes != k, f"{name}!={labels[first[k]]}")
            for k in order
        ),
        rated=tuple(int(rated[k]) for k in order),
        sizes=tuple(int(sizes[k]) for k in order),
        whole=mean_of(ratings, estimator, weights, target=target) if quantity is None
        else quantity(ratings, estimator, omega),
        by=name,
        least=least,
        shrink=shrink,
        correction=correction,
    )  # fmt: skip


def labels_of(pool: Pool, by: Any) -> tuple[str, NDArray[Any]]:
    """The name of the slicing column, and the label of each pool segment."""
    if isinstance(by, Mapping):
        parts = {str(k): np.asarray(v) for k, v in by.items()}
    elif isinstance(by, str) or (isinstance(by, Sequence) and len(by) != len(pool)):
        parts = {name: _column(pool, name) for name in as_names(by)}
    else:
        parts = {"slice": np.asarray(by)}
    if not parts:
        raise DataError("slices need a column: by=…, such as by='language'.")
    for name, values in parts.items():
        if values.shape != (len(pool),):
            raise DataError(
                f"{name!r} must have one label per segment, {len(pool)}; got {values.shape}."
            )
    texts = [["(empty)" if _missing(v) else str(v) for v in p.tolist()] for p in parts.values()]
    return ",".join(parts), np.array([" / ".join(cells) for cells in zip(*texts, strict=True)])


def sliceable(found: Roles) -> list[str]:
    """Columns of a table with few different values, which could make slices; no human scores."""
    from fewgold.io.columns import has_fields

    taken = {
        found.id, found.document, found.system, found.rater, found.cost, *found.human,
        *found.humans, *found.metrics, *found.texts,
    }  # fmt: skip
    columns = found.table
    names = [str(n) for n in columns if n not in taken and not has_fields(columns[n])]
    counts = {name: found.table[name].astype(str).nunique() for name in names}
    return [name for name, count in counts.items() if 1 < count <= _MOST_VALUES]


def _missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _column(pool: Pool, name: str) -> NDArray[Any]:
    known: dict[str, Any] = dict(pool.texts)
    known |= {"document": pool.documents, "system": pool.system}
    known = {k: v for k, v in known.items() if v is not None}
    if name not in known:
        hint = {
            "python": "Name it in texts=[…] when the pool is made, or give its labels.",
            "cli": "Name it with --texts when you select.",
        }
        raise UnknownNameError("column", name, known, hint)
    return np.asarray(known[name])


def _apart(own: Estimate | None, rest: Estimate | None, confidence: float) -> dict[str, float]:
    """The difference of a slice from all other segments, with Welch's degrees of freedom.

    They share no rating. They share the slopes, whose error is small compared with their own.
    """
    names = ("difference", "difference_se", "difference_low", "difference_high", "p")
    if own is None or rest is None:
        return dict.fromkeys(names, math.nan)
    gap = float(own.value - rest.value)
    parts = [(float(e.se) ** 2, float(getattr(e, "df", math.inf))) for e in (own, rest)]
    variance = sum(v for v, _ in parts)
    if not math.isfinite(variance):
        return {**dict.fromkeys(names, math.nan), "difference": gap}
    if variance == 0:
        return dict(zip(names, (gap, 0.0, gap, gap, float(gap == 0)), strict=True))
    spent = sum(v**2 / df for v, df in parts if df > 0)
    df = max(variance**2 / spent, 1.0) if spent > 0 else 1e9
    se = math.sqrt(variance)
    half = float(stdtrit(min(df, 1e9), (1 + confidence) / 2)) * se
    p = 2 * float(stdtr(min(df, 1e9), -abs(gap) / se))
    return dict(zip(names, (gap, se, gap - half, gap + half, p), strict=True))


def shrunk(
    values: FloatArray,
    errors: FloatArray,
    confidence: float = 0.95,
    skewness: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Scores of slices shrunk towards their common mean: value, standard error, low, high.

    The model of Fay and Herriot (1979): θ ~ N(μ, τ²), and each estimate of θ has a known standard
    error. Both μ and τ have flat priors and are integrated out (Gelman 2006), so that intervals
    allow for τ being unknown. A slice without an estimate (NaN) is predicted from the others.

    Parameters
    ----------
    values, errors
        (D,) scores and standard errors; NaN where a slice has none.
    skewness
        (D,) relative amount by which the upper half of a slice's own interval is longer than the
        mean of both halves; 0 by default. Shrunk intervals inherit it in proportion to the weight
        of the slice's own estimate.

    References
    ----------
    Fay and Herriot (1979), Estimates of income for small places, JASA 74; Gelman (2006), Prior
    distributions for variance parameters in hierarchical models, Bayesian Analysis 1.

    Examples
    --------
    >>> value, *_ = shrunk(np.array([1.0, 2.0, 3.0, 2.0]), np.full(4, 1.0))
    >>> bool(1 < value[0] < 2)
    True
    """
    check_confidence(confidence)
    known = np.isfinite(values) & np.isfinite(errors)
    if known.sum() < _LEAST_SLICES:
        raise DataError(
            f"shrinkage needs {_LEAST_SLICES} slices with a score; got {int(known.sum())}."
        )
    y, v = values[known], np.square(errors[known])
    # A flat prior far beyond plausible values, on a grid that is dense near 0, where it matters
    # most.
    top = 10 * max(float(y.std()), float(np.sqrt(v.mean())), 1e-12)
    tau = top * np.linspace(0, 1, 400) ** 2
    step = np.gradient(tau)
    total = v + np.square(tau)[:, None] + 1e-18 * top**2
    precision = (1 / total).sum(-1)
    mu = (y / total).sum(-1) / precision
    log = -0.5 * (np.log(total).sum(-1) + np.log(precision))
    log -= 0.5 * (np.square(y - mu[:, None]) / total).sum(-1)
    weight = np.exp(log - log.max()) * step
    weight /= weight.sum()
    # Posterior of each slice given τ: normal.
    pull = np.where(known, 0.0, 1.0) * np.ones((tau.size, 1))
    pull[:, known] = v / total
    own = np.where(known, values, 0.0)
    centre = pull * mu[:, None] + (1 - pull) * own
    spread = np.square(pull) / precision[:, None] + pull * np.square(tau)[:, None]
    mean = weight @ centre
    sd = np.sqrt(weight @ (spread + np.square(centre - mean)))
    root = np.sqrt(np.maximum(spread, 1e-18 * top**2))
    low, high = (
        _mixture_quantile(weight, centre, root, q)
        for q in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    if skewness is not None:
        # With skewed scores, low estimates have the largest errors, upwards.
        lean = skewness * (1 - weight @ pull)
        low, high = mean - (mean - low) * (1 - lean), mean + (high - mean) * (1 + lean)
    return mean, sd, low, high


def _mixture_quantile(
    weight: FloatArray, centre: FloatArray, spread: FloatArray, q: float
) -> FloatArray:
    """Quantile of each column of a mixture of normals, by bisection."""
    low, high = (centre - 40 * spread).min(0), (centre + 40 * spread).max(0)
    for _ in range(80):
        middle = (low + high) / 2
        below = weight @ ndtr((middle - centre) / spread) < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)
