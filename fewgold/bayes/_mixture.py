"""The posterior of α as a finite mixture of Betas, by a convolution.

Write each item that only the metric rated as one of four kinds: i of the m ones are adequate, and
j of the k zeros. Then p^m (1 − p)^k is a sum over i and j of products of powers, and integrating
α, ρ and η leaves, with s = i + j and N = m + k,

    p(α | data) = Σ_s W_s Beta(α; a0 + s, b0 + N − s),    W_s ∝ S(s) (f ∗ g)(s),
    f(i) = BetaBinomial(i; m, ar, be),    g(j) = BetaBinomial(j; k, br, ae),
    S(s) = Γ(a0 + s) Γ(b0 + N − s) / (Γ(ar + br + s) Γ(ae + be + N − s)).

`_factors` has f, g and S, `_convolution` their product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from fewgold._arrays import FloatArray
from fewgold.bayes._convolution import product
from fewgold.bayes._factors import factors
from fewgold.bayes._shapes import Shapes

# Above so many components the density is summed from those near α.
_MANY = 30_000


class Mixture(NamedTuple):
    """Weights of the components s = first, first + 1, …, and the parameters of the Betas."""

    first: int
    weights: FloatArray
    a0: float
    b0: float
    total: float

    def _components(self, of: slice = slice(None)) -> tuple[FloatArray, FloatArray]:
        """Parameters of the Betas, or of some of them."""
        s = self.first + np.arange(*of.indices(self.weights.size), dtype=np.float64)
        return self.a0 + s, self.b0 + (self.total - s)

    def moments(self) -> tuple[float, float]:
        """Mean and variance."""
        a, b = self._components()
        size = self.a0 + self.b0 + self.total
        mean = float(self.weights @ a) / size
        within = float(self.weights @ (a * b)) / (size * size * (size + 1))
        return mean, within + float(self.weights @ (a / size - mean) ** 2)

    def log_density(self, alpha: FloatArray, beta: FloatArray) -> FloatArray:
        """Log density of α at ``alpha`` = 1 − ``beta``, each (n,)."""
        if self.weights.size > _MANY:
            # A component matters near its own mean only: within 15 sd no weight makes up for it.
            reach = 15 * np.sqrt(self.total * alpha * beta) + 100
            first = np.floor(self.total * alpha - reach) - self.first
            last = np.ceil(self.total * alpha + reach) - self.first
            ends = np.clip(np.stack([first, last + 1]), 0, self.weights.size).astype(np.int64)
            at = zip(alpha[:, None], beta[:, None], *ends, strict=True)
            return np.array([self._log_sum(x, y, slice(low, high))[0] for x, y, low, high in at])
        step = max(1, 2_000_000 // self.weights.size)
        parts = [
            self._log_sum(alpha[start : start + step], beta[start : start + step], slice(None))
            for start in range(0, alpha.size, step)
        ]
        return np.concatenate(parts)

    def _log_sum(self, alpha: FloatArray, beta: FloatArray, of: slice) -> FloatArray:
        """Log density from some of the components."""
        weights = self.weights[of]
        keep = weights > 0
        if not keep.any():
            return np.full(alpha.size, -1e300)
        a, b = (shape[keep] for shape in self._components(of))
        terms = np.multiply.outer(np.log(alpha), a - 1) + np.multiply.outer(np.log(beta), b - 1)
        terms += np.log(weights[keep]) - betaln(a, b)
        top = terms.max(-1)
        terms -= top[:, None]
        return np.asarray(top + np.log(np.exp(terms, out=terms).sum(-1)))


def mixture(shape: Shapes, rates: tuple[float, float] | None = None) -> Mixture:
    """The mixture for one set of shapes (scalars); ``rates`` are ρ and η where they are known."""
    first, log_w = product(*factors(shape, rates))
    weights = np.exp(log_w - log_w.max())
    size = float(shape.total)
    return Mixture(first, weights / weights.sum(), float(shape.a0), float(shape.b0), size)
