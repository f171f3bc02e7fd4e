"""Posteriors of the success rate α, with the interface of all estimates.

`Posterior` turns distributions (curves or steps) into estimates; every model of this package is a
subclass. `AlphaPosterior` is the model of von Däniken et al. (2022).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fewgold.bayes import quadrature
from fewgold.bayes.batch import METHODS, batch_panels, batch_quantiles, by_mixture, moments, smooth
from fewgold.bayes.counts import Counts
from fewgold.bayes.density import BetaCurve, Curve, LogDensity, Panels
from fewgold.bayes.mixture import Shapes, mixture, sample_rates, shapes
from fewgold.bayes.priors import Priors
from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng, single
from fewgold.common.checks import check_choice, check_confidence
from fewgold.common.text import html_table
from fewgold.errors import FewgoldError
from fewgold.estimate import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Steps(NamedTuple):
    """A distribution on the shares ``values``, in order, with masses ``mass``.

    Shares are rounded fractions, hence the small tolerances below.
    """

    values: FloatArray
    mass: FloatArray

    @property
    def below(self) -> FloatArray:
        """P(share ≤ value) at each value."""
        return np.minimum(np.cumsum(self.mass), 1.0)

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(share ≤ x)."""
        at = np.searchsorted(self.values, x + 1e-12, side="right")
        return np.asarray(np.append(0.0, self.below)[at])

    def quantile(self, p: FloatArray) -> FloatArray:
        """Smallest share whose CDF reaches ``p``."""
        at = np.searchsorted(self.below, p - 1e-13)
        return np.asarray(self.values[np.minimum(at, self.values.size - 1)])

    def shortest(self, confidence: float) -> FloatArray:
        """Ends of the shortest interval with mass ``confidence``."""
        below = self.below
        last = np.searchsorted(below, np.append(0.0, below[:-1]) + confidence - 1e-13)
        fits = last < self.values.size
        last = np.minimum(last, self.values.size - 1)
        width = np.where(fits, self.values[last] - self.values, np.inf)
        best = int(width.round(12).argmin())  # the first if several are equally short
        return self.values[[best, int(last[best])]]

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Independent draws."""
        return rng.choice(self.values, size, p=self.mass / self.mass.sum())


_TAIL, _BARS = (
    5e-4,
    80,
)  # the mass that a figure leaves out on either side, and its number of points


class Posterior(ABC):
    """Posterior distribution of a success rate, or a batch of them; an estimate like the others.

    Its intervals are credible intervals: given the priors and the data, they contain the rate with
    the stated probability.
    """

    _measures: ClassVar[str] = "success rate"  # in figures

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch; () for one posterior."""

    @property
    @abstractmethod
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and sds, each of the batch's shape."""

    @property
    @abstractmethod
    def _distributions(self) -> Sequence[Curve | Steps]:
        """The distribution of each posterior of the batch, in order."""

    @property
    @abstractmethod
    def _source(self) -> str:
        """The data used, in one line."""

    @property
    def _about(self) -> str:
        """What its repr shows besides mean and sd."""
        return ""

    def __repr__(self) -> str:
        kind = type(self).__name__
        if self.shape:
            return f"{kind}(a batch of shape {self.shape})"
        low, high = (float(end) for end in self.interval())
        about = f"95% {low:.4f} to {high:.4f}{self._about}"
        return f"{kind}({float(self.mean):.4f} ± {float(self.sd):.4f}, {about})"

    def _repr_html_(self) -> str:
        """The posterior in a notebook."""
        if self.shape:
            return html_table(type(self).__name__, [("a batch of shape", self.shape)])
        low, high = (float(end) for end in self.interval())
        rows = [
            ("mean", f"{float(self.mean):.4f}"),
            ("sd", f"{float(self.sd):.4f}"),
            ("95% credible interval", f"{low:.4f} to {high:.4f}"),
            ("from", self._source.removeprefix("from ")),
        ]
        return html_table(type(self).__name__, rows)

    def draw(self, k: Any) -> Posterior:
        """The ``k``-th of a batch, or a smaller batch."""
        raise FewgoldError("this is a single posterior, not a batch to draw from.")

    @property
    def mean(self) -> FloatArray:
        """Posterior mean."""
        return single(self._moments[0])

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviation; for a test set 0 if every item is rated."""
        return single(self._moments[1])

    @property
    def value(self) -> FloatArray:
        """The estimate: the posterior mean."""
        return self.mean

    @property
    def se(self) -> FloatArray:
        """Posterior standard deviation, in place of a standard error."""
        return self.sd

    def _stack(self, answers: Sequence[Any]) -> FloatArray:
        """Stack one result per posterior: (*batch, …)."""
        array = np.array(answers, dtype=np.float64)
        return array.reshape(self.shape + array.shape[1:])

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P(rate ≤ x): (*batch, *x.shape)."""
        at = np.asarray(x, dtype=np.float64)
        return self._stack([each.cdf(at) for each in self._distributions])

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Quantile at the probability ``p``: (*batch, *p.shape)."""
        chances = check_chances(p)
        return self._stack([each.quantile(chances) for each in self._distributions])

    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval:
        """Credible interval: equal tails, or ``kind="hdi"``, the shortest.

        Shares of a test set are discrete, so the probability is slightly above ``confidence``.
        """
        check_confidence(confidence)
        if check_choice("kind", kind, ("equal", "hdi")) == "equal":
            ends = self.quantile([0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence])
        else:
            ends = self._stack([each.shortest(confidence) for each in self._distributions])
        return Interval(single(ends[..., 0]), single(ends[..., 1]))

    def __float__(self) -> float:
        """The mean of a single posterior."""
        return float(self.mean)

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Independent draws: (*batch, size)."""
        generator = as_rng(rng)
        return self._stack([each.sample(size, generator) for each in self._distributions])

    def summary(self, confidence: float = 0.95) -> str:
        """A readable summary of a few lines."""
        self._check_single("summary")
        low, high = self.interval(confidence)
        return (
            f"{float(self.mean):.4f} ± {float(self.sd):.4f} (posterior mean and sd)\n"
            f"{100 * confidence:.6g}% credible interval {low:.4f} to {high:.4f} (equal tails)\n"
            f"{self._source}"
        )

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The posterior in plain numbers, for JSON."""
        low, high = self.interval(confidence)
        return {
            "value": self.mean.tolist(), "se": self.sd.tolist(), "low": low.tolist(),
            "high": high.tolist(), "confidence": confidence, "bound": "posterior",
            "bound_kind": "credible",
            "bound_label": "posterior, credible interval with equal tails",
        }  # fmt: skip

    def plot(self, ax: Axes | None = None, *, confidence: float = 0.95) -> Axes:
        """Plot the density, or the probabilities of a test set's shares, with a shaded interval."""
        from fewgold.plots import posterior_area

        self._check_single("plot")
        (one,) = self._distributions
        low, high = self.quantile([_TAIL, 1 - _TAIL])
        if isinstance(one, Steps):  # few enough shares that bars are visible
            inside = np.flatnonzero((one.values >= low - 1e-12) & (one.values <= high + 1e-12))
            first, last = int(inside[0]), int(inside[-1])
            step = -(-(last + 1 - first) // _BARS)
            starts = np.arange(first, last + 1, step)
            gap = float(np.diff(one.values[first : last + 1]).mean()) if last > first else 0.01
            mass = np.add.reduceat(one.mass[: last + 1], starts)
            edges = np.append(one.values[starts], one.values[last] + gap) - 0.5 * gap
        else:
            edges = np.linspace(low, high, _BARS + 1)
            mass = np.diff(one.cdf(edges))
        return posterior_area(
            edges, mass / np.diff(edges), float(self.mean), self.interval(confidence), ax,
            confidence=confidence, label=self._measures,
        )  # fmt: skip

    def _check_single(self, name: str) -> None:
        if self.shape:
            raise FewgoldError(
                f"{name} is for one posterior, and this is a batch of shape {self.shape}; take one "
                "of it with draw(k)."
            )


def check_chances(p: ArrayLike) -> FloatArray:
    """Check that probabilities are between 0 and 1."""
    chances = np.asarray(p, dtype=np.float64)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise FewgoldError(f"quantiles need probabilities from 0 to 1; got {p!r}.")
    return chances


# A mixture of more components than this is slower to draw than the quadrature.
_COMPONENTS = 30_000
# Up to this many quantiles are found without computing the whole density.
_FEW = 8


class Rates(NamedTuple):
    """Joint draws of the success rate and the metric's hit rates, each (size,)."""

    alpha: FloatArray
    rho: FloatArray
    eta: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class AlphaPosterior(Posterior):
    """Posterior of α, the success rate of the process that made the items.

    Counts that are arrays make a batch of posteriors.

    Parameters
    ----------
    counts
        The counts.
    priors
        Beta priors of α, ρ and η; uniform by default. Plain numbers mean that ρ and η are known.
    method
        ``"auto"``, ``"mixture"``, ``"reverse"`` or ``"quadrature"``: see `moments`. Reverse gives
        only mean and sd; the density is then computed as with auto.

    Notes
    -----
    Mean and sd are exact for all priors. The density is represented by piecewise polynomials,
    accurate to about 1e-9 of its peak; if it is infinite at 0 or 1, as with a prior shape of α
    below 1 and no ratings against it, the mass near the end is computed from the power law there.

    References
    ----------
    von Däniken, Deriu, Tuggener and Cieliebak (2022), On the effectiveness of automated metrics
    for text generation systems, section 3: human ratings (3.1), metrics with known errors (3.2),
    with estimated errors (3.3), and both together (3.4, equation 5).

    Examples
    --------
    >>> counts = Counts(tp=221, fn=95, fp=63, tn=148, metric_ones=540, metric_total=1000)
    >>> posterior = AlphaPosterior(counts)
    >>> print(posterior.summary())
    0.5996 ± 0.0202 (posterior mean and sd)
    95% credible interval 0.5597 to 0.6388 (equal tails)
    from 0 human, 527 paired and 1000 metric ratings
    >>> posterior.rho.mean.round(3), posterior.rho.quantile([0.025, 0.975]).round(3)
    (np.float64(0.699), array([0.657, 0.74 ]))
    """

    counts: Counts
    priors: Priors = Priors()
    method: str = "auto"

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        if self.priors._known_rates is not None:
            quadrature.check_possible(self._shapes, self.priors._known_rates)

    @property
    def _about(self) -> str:
        return f", {self.counts!r}"

    @property
    def _source(self) -> str:
        c, rates = self.counts, self.priors._known_rates
        idle = "; rho + eta = 1, so the metric ratings carry no information"
        return (
            f"from {int(c.human_total)} human, {int(c._paired_total)} paired and "
            f"{int(c.metric_total)} metric ratings{idle if rates and sum(rates) <= 1 else ''}"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.counts.shape

    def draw(self, k: Any) -> AlphaPosterior:
        return replace(self, counts=self.counts.draw(k))

    @cached_property
    def _shapes(self) -> Shapes:
        return shapes(self.counts, self.priors)

    @cached_property
    def _distinct(self) -> tuple[Shapes, IntArray]:
        """Distinct shapes (n,), and the index of each posterior of the batch."""
        return self._shapes.distinct()

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        return moments(self.counts, self.priors, self.method)

    @cached_property
    def _distributions(self) -> list[Curve]:
        rows, where = self._distinct  # equal counts share one
        made = self._curves_of(np.arange(rows.a0.size))
        return [made[k] for k in where]

    def _curves_of(self, chosen: IntArray) -> dict[int, Curve]:
        """The densities of some of the distinct posteriors."""
        rows, where = self._distinct
        made: dict[int, Curve] = {}
        if self.method != "quadrature" and self.priors._known_rates is None:
            made = {int(chosen[k]): p for k, p in batch_panels(rows.draw(chosen)).items()}
        mean, sd = (x.ravel() for x in self._moments) if len(made) < chosen.size else ((), ())
        for k in chosen:
            if int(k) not in made:
                first = int(np.argmax(where == k))
                made[int(k)] = self._curve(rows.draw(k), float(mean[first]), float(sd[first]))
        return made

    def _curve(self, shape: Shapes, mean: float, sd: float) -> Curve:
        rates = self.priors._known_rates
        powers = float(shape.a0), float(shape.b0)
        if not shape.total:
            return BetaCurve(*powers)
        if rates is not None and self.method != "mixture":
            log_density: LogDensity = partial(quadrature.log_density_known, shape, rates)
        elif self.method == "quadrature" or not (self.method == "mixture" or by_mixture(shape)):
            return quadrature.by_quadrature(shape)
        else:
            parts = mixture(shape, rates)
            if parts.weights.size > _COMPONENTS and self.method != "mixture" and smooth(shape):
                return quadrature.by_quadrature(shape)
            log_density = parts.log_density
        # The tails of these densities are no heavier than exponential, so 40 sd hold all mass.
        window = max(0.0, mean - 40 * sd), min(1.0, mean + 40 * sd)
        return Panels.fit(log_density, window, powers=powers)

    @cached_property
    def mode(self) -> FloatArray:
        """Where the density is highest."""
        return self._stack([curve.mode for curve in self._distributions])

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Density at ``x``: (*batch, *x.shape)."""
        at = np.asarray(x, dtype=np.float64)
        return self._stack([curve.pdf(at) for curve in self._distributions])

    def quantile(self, p: ArrayLike) -> FloatArray:
        chances = check_chances(p)
        drawn = "_distributions" in self.__dict__
        if chances.size > _FEW or drawn or self.method == "quadrature":
            return super().quantile(chances)
        rows, where = self._distinct
        flat = chances.ravel()
        sums = self.method == "mixture"
        found, done = batch_quantiles(rows, self.priors._known_rates, flat, sums)
        if not done.all():
            at = np.flatnonzero(~done)
            curves = self._curves_of(at)
            found[at] = [curves[int(k)].quantile(flat) for k in at]
        return np.asarray(found[where].reshape(self.shape + chances.shape))

    def sample_rates(self, size: int, *, rng: RNGLike = None) -> Rates:
        """Independent draws of (α, ρ, η) from the joint posterior of one study."""
        self._check_single("sample_rates")
        if self.priors._known_rates is not None:
            alpha = self.sample(size, rng=rng)
            return Rates(alpha, *(np.full(size, rate) for rate in self.priors._known_rates))
        return Rates(*sample_rates(self._shapes, size, as_rng(rng)))

    @cached_property
    def rho(self) -> RatePosterior:
        """Marginal posterior of ρ = P(metric 1 | adequate)."""
        return self._rate("rho", self._shapes)

    @cached_property
    def eta(self) -> RatePosterior:
        """Marginal posterior of η = P(metric 0 | inadequate)."""
        return self._rate("eta", self._shapes.exchanged)

    def _rate(self, name: str, shape: Shapes) -> RatePosterior:
        self._check_single(name)
        if self.priors._known_rates is not None:
            rate = getattr(self.priors, name)
            raise FewgoldError(f"{name} is known to be {rate:g}, so it has no posterior.")
        return RatePosterior(quadrature.rho_curve(shape))

    def joint(self, rho: ArrayLike, eta: ArrayLike) -> FloatArray:
        """Density of (ρ, η) given the data, at arrays that broadcast; of one study.

        Accurate to a relative error of about 1e-8 if the shapes of α are ½ or more.

        Examples
        --------
        >>> counts = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000)
        >>> x = (np.arange(100) + 0.5) / 100
        >>> grid = AlphaPosterior(counts).joint(x[:, None], x)
        >>> float(grid.mean().round(6))
        1.0
        """
        self._check_single("joint")
        if self.priors._known_rates is not None:
            raise FewgoldError("rho and eta are known: they have no joint density.")
        one, two = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (rho, eta)))
        inside = ((one >= 0) & (one <= 1) & (two >= 0) & (two <= 1)).ravel()
        out = np.zeros(one.size)
        logs = quadrature.log_joint(self._shapes, one.ravel()[inside], two.ravel()[inside])
        out[inside] = np.exp(logs - self._log_evidence)
        return out.reshape(one.shape)

    @cached_property
    def _log_evidence(self) -> float:
        if by_mixture(self._shapes):
            return quadrature.log_evidence(self._shapes)
        at = float(self.mean)
        return quadrature.log_evidence_at(self._shapes, at, float(self.pdf(at)))

    @cached_property
    def informative(self) -> FloatArray:
        """P(ρ + η > 1): the probability that a 1 of the metric is evidence of an adequate item.

        Near 0, the metric points the wrong way: see `Counts.flipped`. Near ½, the ratings do not
        show which way it points. The posterior of α is right in either case.

        Examples
        --------
        >>> counts = Counts(tp=12, fn=30, fp=25, tn=9, metric_ones=400, metric_total=1000)
        >>> [float(AlphaPosterior(c).informative.round(4)) for c in (counts, counts.flipped())]
        [0.0, 1.0]
        """
        if self.priors._known_rates is not None:
            return np.full(self.shape, float(sum(self.priors._known_rates) > 1))
        rows, where = self._distinct
        curves = self._curves_of(np.flatnonzero(rows.total > 0))
        found = np.empty(rows.a0.size)
        for k in range(rows.a0.size):
            panels = curves[k].panels if k in curves else None
            found[k] = quadrature.chance_informative(rows.draw(k), panels)
        return found[where].reshape(self.shape)


@dataclass(frozen=True, eq=False, repr=False)
class RatePosterior(Posterior):
    """Marginal posterior of a hit rate of the metric."""

    curve: Curve
    shape = ()
    _source = "a hit rate of the metric"

    @property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        mean, variance = self.curve.moments()
        return np.asarray(mean), np.sqrt(variance)

    @property
    def _distributions(self) -> list[Curve]:
        return [self.curve]

    @property
    def mode(self) -> float:
        """Where the density is highest."""
        return self.curve.mode

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Density at ``x``."""
        return self.curve.pdf(np.asarray(x, dtype=np.float64))
