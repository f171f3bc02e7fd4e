"""The result of a reliability study: curves with fits, ranks; frames, text and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan, sqrt
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.checks import check_choice
from fewgold.common.text import counted, number
from fewgold.errors import DataError, UnknownNameError
from fewgold.reliability.scores import ONE, DesignEffects, DocumentScores, design_effects

if TYPE_CHECKING:
    import pandas as pd


# Curves fitted to standard deviations by number of documents, and values read off them ---

EPSILON = 1e-4  # 0.01 %, which fits Table 2 of Estrella et al.; elsewhere they print 0.001


@dataclass(frozen=True)
class PowerFit:
    """f(x) = a·x^(−b), fitted by least squares to the logarithms.

    ``r2`` is the share of variance explained in the logarithms, as in spreadsheets; ``r2_raw`` is
    that in the values themselves, comparable with a `CubicFit`.

    Examples
    --------
    >>> fit = PowerFit(a=0.06, b=0.5)
    >>> fit.x_min(), round(fit.x_max(1e-4), 1)
    (3.0, 44.8)
    """

    a: float
    b: float
    r2: float = nan
    r2_raw: float = nan

    def __call__(self, x: ArrayLike) -> FloatArray:
        return np.asarray(self.a * np.asarray(x, dtype=float) ** -self.b)

    def slope(self, x: ArrayLike) -> FloatArray:
        """f′(x) = −a·b·x^(−b−1)."""
        return np.asarray(-self.a * self.b * np.asarray(x, dtype=float) ** (-self.b - 1))

    def x_min(self, x_i: float = 1.0) -> float:
        """Where the tangent at ``x_i`` meets the x axis: x_i·(1 + 1/b), whatever ``a`` is."""
        return x_i * (1 + 1 / self.b) if self.b > 0 else nan

    def x_max(self, epsilon: float = EPSILON) -> float:
        """Where the curve falls by less than ``epsilon`` per document: (a·b/ε)^(1/(b+1)).

        The paper prints f′ = +ε, which a falling curve never reaches; |f′| = ε is meant.
        """
        return (self.a * self.b / epsilon) ** (1 / (self.b + 1)) if self.b > 0 else nan


@dataclass(frozen=True)
class CubicFit:
    """f(x) = a + b·x + c·x² + d·x³, fitted by least squares.

    Examples
    --------
    >>> fit = CubicFit(a=0.05, b=-0.01, c=0.0009, d=-0.00002)
    >>> round(fit.x_min(), 2), round(fit.x_max(), 2)
    (5.95, 7.36)
    """

    a: float
    b: float
    c: float
    d: float
    r2: float = nan

    def __call__(self, x: ArrayLike) -> FloatArray:
        x = np.asarray(x, dtype=float)
        return np.asarray(self.a + x * (self.b + x * (self.c + x * self.d)))

    def slope(self, x: ArrayLike) -> FloatArray:
        """f′(x) = b + 2c·x + 3d·x²."""
        x = np.asarray(x, dtype=float)
        return np.asarray(self.b + x * (2 * self.c + x * 3 * self.d))

    def x_min(self, x_i: float = 1.0) -> float:
        """Where the tangent at ``x_i`` meets the x axis: x_i − f(x_i)/f′(x_i)."""
        slope = float(self.slope(x_i))
        return x_i - float(self(x_i)) / slope if slope < 0 else nan

    def x_max(self) -> float:
        """Where the curve is lowest: the root of f′ with f″ > 0, if it is positive.

        That is (−c + √(c² − 3db))/(3d), the sign being the same whatever d is: the other root is
        the maximum. The paper prints −c/(2d) for the first term, and takes the smaller of two
        positive roots, which is the maximum if d < 0.
        """
        inside = self.c**2 - 3 * self.d * self.b
        if not inside > 0:
            return nan
        root = sqrt(inside)
        if self.c >= 0:  # the same root without subtracting two nearly equal numbers
            x = -self.b / (self.c + root)
        elif self.d != 0:
            x = (-self.c + root) / (3 * self.d)
        else:
            return nan
        return x if x > 0 else nan


def power_fit(x: ArrayLike, y: ArrayLike) -> PowerFit:
    """Fit a power law to the points above 0; all NaN with fewer than three of them.

    Examples
    --------
    >>> fit = power_fit([1, 2, 4, 8], [8, 4, 2, 1])
    >>> round(fit.a, 6), round(fit.b, 6), round(fit.r2, 6)
    (8.0, 1.0, 1.0)
    """
    x, y = _points(x, y)
    x, y = x[y > 0], y[y > 0]
    if x.size < 3:
        return PowerFit(nan, nan)
    slope, start = np.polynomial.Polynomial.fit(np.log(x), np.log(y), 1).convert().coef[::-1]
    fit = PowerFit(float(np.exp(start)), float(-slope))
    r2 = _r_squared(np.log(y), np.log(fit(x)))
    return PowerFit(fit.a, fit.b, r2, _r_squared(y, fit(x)))


def cubic_fit(x: ArrayLike, y: ArrayLike) -> CubicFit:
    """Fit a cubic; all NaN with fewer than five points, since a cubic fits four exactly."""
    x, y = _points(x, y)
    if x.size < 5:
        return CubicFit(nan, nan, nan, nan)
    coefficients = np.zeros(4)
    found = np.polynomial.Polynomial.fit(x, y, 3).convert().coef
    coefficients[: found.size] = found
    fit = CubicFit(*coefficients.tolist())
    return CubicFit(fit.a, fit.b, fit.c, fit.d, _r_squared(y, fit(x)))


def _r_squared(y: FloatArray, fitted: FloatArray) -> float:
    """R²: 1 minus the squared residuals over the squared deviations from the mean."""
    total = float(((y - y.mean()) ** 2).sum())
    return 1 - float(((y - fitted) ** 2).sum()) / total if total > 0 else nan


def _points(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.isfinite(x) & np.isfinite(y)
    return x[known], y[known]


# The result ---

KINDS = ("sd", "mean", "tangent", "ranks")
WIDTH = 80  # columns of text


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bootstrap figures by score, system, order and number of documents.

    Arrays are (scores, systems, orders, numbers): ``mean``, ``sd``, and ``low`` and ``high`` ends
    of the bootstrap, and the mean of the ``first`` documents without it. ``segments`` is (orders,
    numbers); ``tau``, ``pairs``, ``exact`` and ``settled`` are (scores, orders, numbers), or empty
    with a single system. ``at`` are the numbers of documents. Made by `reliability`.
    """

    data: DocumentScores
    at: IntArray
    draws: int
    resample: str
    file_order: bool
    relative: bool
    x_i: float
    epsilon: float
    confidence: float
    mean: FloatArray
    sd: FloatArray
    low: FloatArray
    high: FloatArray
    first: FloatArray
    segments: FloatArray
    tau: FloatArray
    pairs: FloatArray
    exact: FloatArray
    settled: FloatArray

    def __repr__(self) -> str:
        scores, systems = counted(len(self.scores), "score"), counted(len(self.systems), "system")
        return (
            f"Reliability({scores}, {systems}, {len(self.data.documents)} documents, "
            f"{self._order_text}, {self.draws} draws of {self.resample})"
        )

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of the scores."""
        return self.data.scores

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return self.data.systems

    @property
    def _orders(self) -> int:
        """Number of orders of the documents."""
        return int(self.segments.shape[0])

    @property
    def _order_text(self) -> str:
        return "file order" if self.file_order else counted(self._orders, "random order")

    @cached_property
    def _effects(self) -> DesignEffects:
        """Intraclass correlation and design effect of the documents."""
        return design_effects(self.data)

    @cached_property
    def _spread(self) -> FloatArray:
        """The fitted spread: standard deviations, if relative over the means (NaN where 0)."""
        return _ratio(self.sd, np.abs(self.mean)) if self.relative else self.sd

    def to_frame(self, *, by_order: bool = False) -> pd.DataFrame:
        """One row per score, system and number of documents, averaged over orders.

        ``mean``, ``sd``, ``relative_sd`` (root mean squares over orders), ``low`` and ``high`` are
        those of the bootstrap. ``order_sd`` is the standard deviation over orders of the mean of
        the first documents, without the bootstrap: the variation due to which documents come first.
        ``least`` and ``most`` are the ends of the fitted spread over orders. With ``by_order``
        there is one row per order.
        """
        import pandas as pd

        every = list(range(self._orders))
        frames = []
        for s, m, keys in self._cells():
            for orders in [[o] for o in every] if by_order else [every]:
                order = {"order": orders[0]} if by_order else {}
                frames.append(pd.DataFrame(keys | order | self._figures(s, m, orders)))
        return pd.concat(frames, ignore_index=True)

    def _cells(self) -> list[tuple[int, int, dict[str, Any]]]:
        """Indices and names of all scores and systems."""
        return [
            (s, m, {"score": score, "system": system})
            for s, score in enumerate(self.scores)
            for m, system in enumerate(self.systems)
        ]

    def _figures(self, s: int, m: int, orders: list[int]) -> dict[str, Any]:
        """Columns of `to_frame` for a score and system, over some orders."""
        mean, sd, first, spread = (
            x[s, m, orders] for x in (self.mean, self.sd, self.first, self._spread)
        )
        return {
            "documents": self.at,
            "segments": self.segments[orders].mean(0),
            "mean": mean.mean(0),
            "sd": root_mean_square(sd),
            "relative_sd": root_mean_square(_ratio(sd, np.abs(mean))),
            "low": self.low[s, m, orders].mean(0),
            "high": self.high[s, m, orders].mean(0),
            "order_sd": first.std(0, ddof=1) if len(orders) > 1 else np.nan,
            "least": np.fmin.reduce(spread, axis=0),
            "most": np.fmax.reduce(spread, axis=0),
        }

    def power(self, score: str | None = None, system: str | None = None) -> PowerFit:
        """The power law through the spread of a score and system, over all orders."""
        return power_fit(self.at, self._curve(*self._cell(score, system)))

    def _curve(self, s: int, m: int) -> FloatArray:
        """The fitted spread of a score and system by number, over all orders."""
        return root_mean_square(self._spread[s, m])

    def _cell(self, score: str | None, system: str | None) -> tuple[int, int]:
        found = []
        wanted = ("score", score, self.scores), ("system", system, self.systems)
        for kind, name, known in wanted:
            if name is None and len(known) > 1:
                raise DataError(
                    f"there are {len(known)} {kind}s: choose one of {', '.join(known)}."
                )
            if name is not None and name not in known:
                raise UnknownNameError(kind, name, known)
            found.append(0 if name is None else known.index(name))
        return found[0], found[1]

    def fits(self, *, x_i: float | None = None, epsilon: float | None = None) -> pd.DataFrame:
        """Power law and cubic of each score and system, and x_min and x_max by either.

        ``r2`` is R² in the logarithms for the power law, as spreadsheets and the paper have it;
        ``r2_raw`` is R² in the values for both, and ``better`` marks the larger. ``x_min_low`` and
        ``x_min_high``, and the same of x_max, are the 10 % and 90 % points of fits to single
        orders, NaN with a single order; a curve that does not fall has no such point, which counts
        as infinite.
        """
        import pandas as pd

        x_i = self.x_i if x_i is None else x_i
        epsilon = self.epsilon if epsilon is None else epsilon
        rows = []
        for s, m, keys in self._cells():
            curve, singles = self._curve(s, m), self._spread[s, m]
            p, c = power_fit(self.at, curve), cubic_fit(self.at, curve)
            ps = [power_fit(self.at, y) for y in singles]
            cs = [cubic_fit(self.at, y) for y in singles]
            rows.append(
                {**keys, "kind": "power", "a": p.a, "b": p.b, "c": np.nan, "d": np.nan}
                | {"r2": p.r2, "r2_raw": p.r2_raw, "better": not c.r2 > p.r2_raw}
                | {"x_min": p.x_min(x_i), "x_max": p.x_max(epsilon)}
                | _range("x_min", [fit.x_min(x_i) for fit in ps])
                | _range("x_max", [fit.x_max(epsilon) for fit in ps])
            )
            rows.append(
                {**keys, "kind": "cubic", "a": c.a, "b": c.b, "c": c.c, "d": c.d}
                | {"r2": c.r2, "r2_raw": c.r2, "better": bool(c.r2 > p.r2_raw)}
                | {"x_min": c.x_min(x_i), "x_max": c.x_max()}
                | _range("x_min", [fit.x_min(x_i) for fit in cs])
                | _range("x_max", [fit.x_max() for fit in cs])
            )
        return pd.DataFrame(rows)

    def ranks(self) -> pd.DataFrame:
        """How well rankings by the first documents agree with that by all of them.

        One row per score and number. Over orders and draws, ``tau`` is Kendall's τ-b, ``pairs`` the
        share of pairs of systems in the order of the full set, ``exact`` the share of rankings that
        are the same throughout. ``settled`` is ``pairs`` without resampling, which ends at 1
        because the first documents become all documents; the others end below 1 because of the
        random choice of segments (or documents).
        """
        import pandas as pd

        if len(self.systems) < 2:
            raise DataError("a ranking needs two systems or more. Name their column.")
        names = ("tau", "pairs", "exact", "settled")
        frames = [
            pd.DataFrame(
                {"score": score, "documents": self.at, "segments": self.segments.mean(0)}
                | {name: getattr(self, name)[s].mean(0) for name in names}
            )
            for s, score in enumerate(self.scores)
        ]
        return pd.concat(frames, ignore_index=True)

    def summary(self) -> str:
        """Curves at three numbers of documents, fits, ranks, and caveats."""
        data = self.data
        lines = [
            f"{counted(len(data.documents), 'document')}, "
            f"{counted(int(data.sizes.sum()), 'segment')}, "
            f"{self._order_text}, {self.draws} draws of {self.resample}"
        ]
        if data.left_out:
            lines.append(f"{counted(data.left_out, 'segment')} lacking a score left out")
        for s in range(len(self.scores)):
            lines += ["", *self._table(s)]
        return "\n".join([*lines, "", *self._meaning()])

    def _table(self, s: int) -> list[str]:
        """One line per system, and how soon their ranking settles."""
        # The first and last numbers of documents, and one halfway on a logarithmic scale.
        middle = np.abs(np.log(self.at) - np.log(self.at[[0, -1]]).mean()).argmin()
        places = sorted({0, int(middle), self.at.size - 1})
        ends = [str(self.at[k]) for k in places]
        fits = self.fits()
        fits = fits[(fits["score"] == self.scores[s]) & (fits["kind"] == "power")]
        rows = [[shortened(self.scores[s]), "mean", *ends, "b", "R²", "x_min", "x_max"]]
        for m, fit in enumerate(fits.to_dict("records")):
            curve = self._curve(s, m)
            cells = [shortened(self.systems[m]), number(self.data.means[s, m])]
            cells += [number(curve[k], percent=self.relative, digits=2) for k in places]
            cells += [number(fit["b"], digits=2), number(fit["r2"])]
            x_min = number(fit["x_min"], digits=2)
            if self._orders > 1:
                low, high = (number(fit[f"x_min_{end}"], digits=2) for end in ("low", "high"))
                x_min += f" ({low}–{high})"
            rows.append([*cells, x_min, number(fit["x_max"], digits=2)])
        kind = "Relative sd" if self.relative else "Standard deviation"
        numbers = f"{', '.join(ends[:-1])} and {ends[-1]}" if len(ends) > 1 else ends[0]
        lines = [f"{kind} with {numbers} documents, and its power law a·x^(−b)", *aligned(rows)]
        if len(self.systems) > 1:
            pairs, tau = self.pairs[s].mean(0), self.tau[s].mean(0)
            parts = [
                f"{number(pairs[k], percent=True, digits=2)} with {self.at[k]} (τ {tau[k]:.2f})"
                for k in places
            ]
            lines += wrap(f"Pairs of systems in the final order: {', '.join(parts)}", WIDTH)
        return lines

    def _meaning(self) -> list[str]:
        x = "1 + 1/b" if self.x_i == 1 else f"{self.x_i:g}·(1 + 1/b)"
        step = number(self.epsilon, percent=self.relative, digits=1)
        notes = [
            f"x_min = {x} depends only on the exponent and says nothing about the noise: an "
            f"exponent of 1/2, that of any mean of unrelated segments, gives {3 * self.x_i:g}. "
            f"x_max is where one more document lowers the curve by {step}."
        ]
        factor = np.sqrt(self._effects.deff[np.isfinite(self._effects.deff)])
        if self.resample == "segments" and factor.size and np.median(factor) > 1.05:
            low, high = f"{factor.min():.1f}", f"{factor.max():.1f}"
            times = low if low == high else f"{low} to {high}"
            notes.append(
                "Segments of a document are alike: if whole documents are drawn, the standard "
                f"deviation is {times} times as large (resample documents)."
            )
        last = self._spread[..., -1]
        if self.relative and np.isfinite(last).any() and np.nanmax(last) > 0.5:
            notes.append(
                "Some means are near 0, so standard deviations relative to them are unstable. "
                "Use absolute ones."
            )
        return [line for sentence in notes for line in wrap(sentence, WIDTH)]

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        data = self.data
        found: dict[str, Any] = {
            "scores": list(data.scores), "systems": list(data.systems),
            "documents": len(data.documents), "segments": int(data.sizes.sum()),
            "left_out": data.left_out, "orders": "file" if self.file_order else self._orders,
            "draws": self.draws, "resample": self.resample, "relative": self.relative,
            "x_i": self.x_i, "epsilon": self.epsilon, "confidence": self.confidence,
            "curves": self.to_frame().to_dict("records"),
            "fits": self.fits().to_dict("records"),
            "clusters": [
                keys | {k: float(getattr(self._effects, k)[s, m]) for k in ("value", "icc", "deff")}
                for s, m, keys in self._cells()
            ],
        }  # fmt: skip
        if len(self.systems) > 1:
            found["ranks"] = self.ranks().to_dict("records")
        return found

    def plot(
        self, kind: str = "sd", ax: Any = None, *, score: str | None = None, **more: Any
    ) -> Any:
        """Draw a figure on axes, and return them; ``more`` as in `fewgold.plots`.

        ``sd``: the spread by number of documents, one line per system, with power laws. ``mean``:
        the score itself with its intervals. ``tangent``: how x_min and x_max are read off (Figure
        11 of the paper); ``systems=`` names those to show. ``ranks``: how soon the ranking is
        settled. ``score`` selects one of several scores.
        """
        from fewgold import plots

        check_choice("kind", kind, KINDS)
        if kind == "ranks":
            frame = self.ranks()
            if score is not None:
                self._cell(score, self.systems[0])
                frame = frame[frame["score"] == score]
            return plots.rank_stability(frame, ax, **more)
        chosen = self.scores[self._cell(score, self.systems[0])[0]]
        frame, fits = self.to_frame(), self.fits()
        frame = frame[frame["score"] == chosen]
        fits = fits[(fits["score"] == chosen) & (fits["kind"] == "power")]
        if self.systems == (ONE,):
            frame, fits = frame.assign(system=chosen), fits.assign(system=chosen)
        if kind == "mean":
            return plots.mean_by_documents(frame, ax, **{"ylabel": chosen, **more})
        value = "relative_sd" if self.relative else "sd"
        if kind == "tangent":
            told = {"x_i": self.x_i, "epsilon": self.epsilon, **more}
            return plots.tangent(frame, fits, ax, value=value, **told)
        return plots.reliability_curves(frame, fits, ax, value=value, **more)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """A quotient, NaN if the divisor is 0."""
    out = np.full(below.shape, np.nan)
    np.divide(above, below, out=out, where=below > 0)
    return out


def root_mean_square(x: FloatArray) -> FloatArray:
    """Root mean square over the first axis, ignoring NaN: (orders, n) -> (n,)."""
    known = np.isfinite(x)
    total, count = np.where(known, x, 0.0) ** 2, known.sum(0)
    mean = np.divide(total.sum(0), count, out=np.full(count.shape, np.nan), where=count > 0)
    return np.asarray(np.sqrt(mean))


def _range(name: str, values: list[float]) -> dict[str, float]:
    """The 10 % and 90 % points over orders."""
    ends = [np.nan, np.nan]
    if len(values) > 1:
        found = np.where(np.isnan(values), np.inf, values)
        ends = np.quantile(found, [0.1, 0.9], method="inverted_cdf").tolist()
    return {f"{name}_low": ends[0], f"{name}_high": ends[1]}


_NAME = 18  # the longest name of a system in a table


def shortened(name: str) -> str:
    """Shorten a name to leave room for the numbers."""
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table as lines: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{'>' if k else '<'}{width}}"
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
