"""Effective counts: ratings under any design expressed as ratings of a simple random sample.

The models of this package count rated items by category of a metric and by class. That is exact
where the rated items of each category are a simple random sample of it: a simple random sample, or
strata that are functions of the categories, at any sampling rates. Other designs enter through
*effective counts*: within each category the classes are weighted by the items that each rating
stands for, and the total is scaled by the design effect, the variance under the design over that of
simple sampling within categories (the pseudo-posterior of Savitsky and Toth 2016; Chen, Elliott and
Little 2010). This is an approximation, and summaries say so.

A design effect estimated from few ratings is noisy, and with few whole documents it hardly shows.
So it is shrunk towards the value expected under the design: by the inverse-χ² prior that is
conjugate to a variance, as in the moderated variances of Smyth (2004), worth ν₀ degrees of freedom
around

    d₀ = Σ (influence of a rating)² σ² / (the same under simple sampling) · (1 + (m − 1) ICC₀),

with σ² = v (1 − v) for the rate v of the rating's category, and m the mean size of units that were
drawn as a whole. The posterior mean of the design effect is (ν₀ d₀ + ν d̂) / (ν₀ + ν − 2), which
also allows for its remaining uncertainty.

References
----------
Chen, Elliott and Little (2010), Bayesian penalized spline model-based inference for finite
population proportion in unequal probability sampling. Survey Methodology 36.
Kish (1965), Survey sampling, section 8.2.
Savitsky and Toth (2016), Bayesian estimation under informative sampling. Electronic Journal of
Statistics 10.
Smyth (2004), Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments. Statistical Applications in Genetics and Molecular Biology 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold.common.arrays import BoolArray, FloatArray, IntArray, group_sum, spread_out
from fewgold.design import Design, DesignKind

# Prior standard deviation of the logarithm of a design effect around its expectation, if segments
# were drawn one by one.
_STRAY = 0.2
# Expected intraclass correlation within documents of what a metric leaves unexplained, and the
# standard deviation of its logarithm: a range of about 0.01 to 0.35.
_ICC, _ICC_STRAY = 0.07, 0.8
# Ratings at the overall rate added to each category to stabilise its rate for residuals.
_STEADY = 2.0
# A rating counts for at most this many ratings of a simple random sample.
_MOST = 4.0


class Effective(NamedTuple):
    """Effective counts (..., J, 2) of inadequate and adequate ratings, and the design effects."""

    counts: FloatArray
    design_effect: FloatArray


def is_exact(design: Design, cells: IntArray, count: int) -> bool:
    """Whether rated items are a simple random sample within each category.

    ``cells`` (..., n) are the categories of the rated items, of which there are ``count``.
    """
    if design.units is not None:
        return False
    if design.kind in (DesignKind.SIMPLE, DesignKind.PROCESS):
        return bool(np.all(np.ptp(design.weights, axis=-1) <= 1e-9 * design.weights.max(-1)))
    strata = design.strata
    if design.kind != DesignKind.STRATIFIED or strata is None or int(strata.max()) >= count:
        return False
    seen = np.broadcast_to(strata, cells.shape)
    # Each category is within one stratum: its largest and smallest stratum number agree.
    pairs = (seen + (int(strata.max()) + 1) * cells).reshape(-1, cells.shape[-1])
    return all(
        np.unique(row).size == np.unique(cell).size
        for row, cell in zip(pairs, cells.reshape(pairs.shape), strict=True)
    )


def effective_counts(
    design: Design, cells: IntArray, adequate: BoolArray, rated: IntArray, unrated: IntArray
) -> Effective:
    """Effective counts of the ratings under ``design``.

    Parameters
    ----------
    design
        How the items were drawn.
    cells
        (..., n) the category of each rated item.
    adequate
        (..., n) whether it is adequate.
    rated, unrated
        (..., J, 2) and (..., J), as from `tally`.
    """
    size, n = design.size, cells.shape[-1]
    y = adequate.astype(np.float64)
    weights = np.broadcast_to(design.weights, y.shape)
    n_cells = unrated.shape[-1]
    number = rated.sum(-1).astype(np.float64)
    seen = number > 0
    # Number of unrated items that each rating represents.
    stands = np.clip(size * weights - 1.0, 0.0, None)
    total = group_sum(stands, cells, n_cells)
    stands = np.where(spread_out(total, cells) > 0, stands, 1.0)
    total = group_sum(stands, cells, n_cells)
    share = group_sum(stands * y, cells, n_cells) / np.where(seen, total, 1.0)
    counts = np.stack([number * (1 - share), number * share], axis=-1)
    if n < 2:
        return Effective(counts, np.ones(y.shape[:-1]))
    # Rates of the categories, and the variance of a rating there.
    overall = np.vecdot(weights, y)[..., None] / weights.sum(-1, keepdims=True)
    rate = (counts[..., 1] + _STEADY * overall) / (number + _STEADY)
    spread = rate * (1 - rate)
    squared = np.where(seen, (number + unrated) * unrated / (size * np.fmax(number, 1)) ** 2, 0.0)
    simple, left = spread_out(squared, cells), y - spread_out(rate, cells)
    # Residuals are weighted by what they represent, like the rates in the model.
    fair = stands * spread_out(number / np.where(seen, total, 1.0), cells)
    effect = _design_effect(design, simple, left, fair, spread_out(spread, cells))
    # Var Σ u_j v_j is proportional to A/c + B for c times the ratings, and to A + B otherwise.
    rest = np.where(seen, unrated, 0.0)
    a, b = (rest**2 * spread / np.fmax(number, 1)).sum(-1), (rest * spread).sum(-1)
    below = np.maximum(effect * (a + b) - b, a / _MOST)
    factor = np.where(a > 0, a / np.where(below > 0, below, 1.0), 1.0)
    return Effective(counts * factor[..., None, None], effect)


def _design_effect(
    design: Design, simple: FloatArray, left: FloatArray, fair: FloatArray, spread: FloatArray
) -> FloatArray:
    """The expected design effect of each draw: (...).

    Computed from squared influences under simple sampling within categories, from residuals with
    their weights within categories (1 on average), and from their expected variances, each (...,
    n).
    """
    n = left.shape[-1]
    deviations = design.deviations(left[..., None, :])[..., 0, :]
    ours = np.vecdot(deviations, deviations)
    centred = left - left.mean(-1, keepdims=True)
    theirs = np.vecdot(simple * fair, centred**2) * n / (n - 1)
    influence = np.broadcast_to(design.influence, left.shape)
    own = np.square(influence).sum(-1)
    sizes = np.square(design._by_unit(influence)).sum(-1) / np.where(own > 0, own, 1.0)
    alike = np.maximum(sizes - 1, 0.0) * _ICC
    flat = np.vecdot(simple, spread)
    expected = np.vecdot(influence**2, spread) / np.where(flat > 0, flat, 1.0)
    expected = np.where(flat > 0, expected, 1.0) * (1 + alike)
    prior_df = 2 / (_STRAY**2 + (_ICC_STRAY * alike / (1 + alike)) ** 2)
    told = (theirs > 0) & ~design._lonely
    found = np.where(told, ours / np.where(told, theirs, 1.0), 0.0)
    # The part shared by both variances does not inform about their ratio.
    df = np.where(told, design.df, 0.0)
    df = df / np.maximum(1 - df / (n - 1), 1e-3)
    effect = (prior_df * expected + df * found) / (prior_df + df - 2)
    return np.asarray(np.where(own > 0, effect, 1.0))
