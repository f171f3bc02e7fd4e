"""Whether systems share the rates of a metric, and what it would cost to act as if they did."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from fewgold.bayes._roc import RocPoint

_EXPECTED = 5  # fewer expected items in a cell, and the chi-square distribution is rough


def compared(points: dict[str, RocPoint]) -> dict[str, Any]:
    """The tests and what they are about, named as in `RocTable.heterogeneity`."""
    rho = _same([(p.tp, p.fn) for p in points.values()])
    eta = _same([(p.tn, p.fp) for p in points.values()])
    on, worst, se = _worst(points)
    row: dict[str, Any] = {"rho_min": rho.least, "rho_max": rho.most}
    row |= {"rho_p": _tail(rho.statistic, rho.df), "eta_min": eta.least, "eta_max": eta.most}
    row |= {"eta_p": _tail(eta.statistic, eta.df)}
    row |= {"p": _tail(rho.statistic + eta.statistic, rho.df + eta.df)}
    row |= {"sparse": rho.sparse or eta.sparse}
    return row | {"worst": worst, "worst_se": se, "on": on}


class _Homogeneity(NamedTuple):
    statistic: float
    df: int
    least: float
    most: float
    sparse: bool


def _same(hits: list[tuple[int, int]]) -> _Homogeneity:
    """Pearson's chi-square of hits and misses (k, 2), systems without either left out."""
    table = np.array([row for row in hits if sum(row)], dtype=np.float64)
    if not len(table):
        return _Homogeneity(0.0, 0, np.nan, np.nan, True)
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    terms = (table - expected) ** 2 / np.where(expected > 0, expected, 1.0)
    rates = table[:, 0] / table.sum(1)
    few = bool((expected < _EXPECTED).any())
    return _Homogeneity(
        float(terms.sum()), len(table) - 1, float(rates.min()), float(rates.max()), few
    )


def _tail(statistic: float, df: int) -> float:
    """P-value of a chi-square statistic; NaN where there is nothing to compare."""
    return float(chdtrc(df, statistic)) if df else float("nan")


def _worst(points: dict[str, RocPoint]) -> tuple[str, float, float]:
    """The system that ρ and η of the others serve worst, and the error of its success rate.

    The error is corrected − α, with corrected = (p + η − 1)/(ρ + η − 1). Its standard error by the
    delta method has three parts: ρ and η of the others, and the system's own items, of which p and
    α are both means.
    """
    names = list(points)
    cells = np.array([(p.tp, p.fn, p.fp, p.tn) for p in points.values()], dtype=np.float64)
    tp, fn, fp, tn = (cells.sum(0) - cells).T
    own = cells / cells.sum(1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho, eta = tp / (tp + fn), tn / (tn + fp)
        ahead = np.where(rho + eta > 1, rho + eta - 1, np.nan)
        corrected = (own[:, 0] + own[:, 2] + eta - 1) / ahead
        from_others = corrected**2 * rho * (1 - rho) / (tp + fn)
        from_others += (1 - corrected) ** 2 * eta * (1 - eta) / (tn + fp)
    # An item adds metric / ahead − human to the error, (…, 4) for the four cells.
    adds = np.array([1, 0, 1, 0]) / ahead[:, None] - np.array([1, 1, 0, 0])
    spread = (own * adds**2).sum(1) - (own * adds).sum(1) ** 2
    se = np.sqrt(from_others / ahead**2 + spread / cells.sum(1))
    error = np.clip(corrected, 0, 1) - (own[:, 0] + own[:, 1])
    if np.isnan(error).all():
        return "", float("nan"), float("nan")
    at = int(np.nanargmax(np.abs(error)))
    return names[at], float(error[at]), float(se[at])
