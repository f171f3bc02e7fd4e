"""The posterior of the success rate α, which is an estimate like any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import FloatArray, IntArray, RNGLike, as_rng
from fewgold._validate import check_choice, check_confidence
from fewgold.bayes import _known
from fewgold.bayes._choice import by_mixture, smooth
from fewgold.bayes._counts import Counts
from fewgold.bayes._curve import BetaCurve, Curve, PanelCurve, shortest
from fewgold.bayes._informative import chance_informative
from fewgold.bayes._intervals import batch_panels, batch_quantiles
from fewgold.bayes._joint import log_evidence, log_evidence_at, log_joint
from fewgold.bayes._mixture import mixture
from fewgold.bayes._moments import METHODS, moments
from fewgold.bayes._panels import Panels
from fewgold.bayes._priors import Priors
from fewgold.bayes._quadrature_density import by_quadrature
from fewgold.bayes._rates import rho_curve, sample_rates
from fewgold.bayes._readout import Readout, check_chances
from fewgold.bayes._shapes import Shapes, shapes
from fewgold.errors import FewgoldError
from fewgold.estimate import Interval

# A mixture of more components than this is slower to draw than the quadrature.
_COMPONENTS = 30_000
# Up to so many quantiles are found without drawing the density.
_FEW = 8


class Rates(NamedTuple):
    """Joint draws of the success rate and of the metric's hit rates, each (size,)."""

    alpha: FloatArray
    rho: FloatArray
    eta: FloatArray


@dataclass(frozen=True, eq=False)
class AlphaPosterior(Readout):
    """Posterior of α, the success rate of the process that made the items.

    Its intervals are credible intervals: given the priors and the data, α lies in them with the
    stated probability. Counts that are arrays make a batch of posteriors.

    Parameters
    ----------
    counts
        What was counted.
    priors
        Beta priors of α, ρ and η; uniform by default. Numbers for ρ and η say they are known.
    method
        ``"auto"``, ``"mixture"``, ``"reverse"`` or ``"quadrature"``: see `moments`. Reverse gives
        mean and sd alone; the density then comes as by auto.

    Notes
    -----
    Mean and sd are exact for all priors. The density is cut into polynomials, exact to about 1e-9
    of its peak; where it is infinite at 0 or 1, as with a prior of α below 1 and no ratings against
    it, the mass next to the end is taken from the power law there.

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
        if self.priors.known:
            _known.check_possible(self._shapes, self._known_rates)

    def __repr__(self) -> str:
        if self.shape:
            return f"AlphaPosterior(a batch of shape {self.shape})"
        return f"AlphaPosterior({float(self.mean):.4f} ± {float(self.sd):.4f}, {self.counts!r})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch; () for one posterior."""
        return self.counts.shape

    def draw(self, k: Any) -> AlphaPosterior:
        """The ``k``-th of a batch, or a smaller batch."""
        return replace(self, counts=self.counts.draw(k))

    @cached_property
    def _shapes(self) -> Shapes:
        return shapes(self.counts, self.priors)

    @property
    def _known_rates(self) -> tuple[float, float]:
        return cast(tuple[float, float], (self.priors.rho, self.priors.eta))

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        return moments(self.counts, self.priors, self.method)

    @property
    def mean(self) -> FloatArray:
        """Posterior mean."""
        return self._moments[0]

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviation."""
        return self._moments[1]

    @cached_property
    def _distinct(self) -> tuple[Shapes, IntArray]:
        """Shapes without repeats (n,), and which of them each posterior of the batch has."""
        table = np.stack([field.ravel() for field in self._shapes], axis=-1)
        rows, where = np.unique(table, axis=0, return_inverse=True)
        return Shapes(*rows.T.copy()), where.ravel()

    @cached_property
    def curves(self) -> list[Curve]:
        """The density of each posterior of the batch, in order; equal counts share one."""
        rows, where = self._distinct
        made = self._curves_of(np.arange(rows.a0.size))
        return [made[k] for k in where]

    def _curves_of(self, chosen: IntArray) -> dict[int, Curve]:
        """The densities of some of the distinct posteriors."""
        rows, where = self._distinct
        made: dict[int, Curve] = {}
        if self.method in ("auto", "mixture", "reverse") and not self.priors.known:
            quick = batch_panels(rows.draw(chosen))
            made = {int(chosen[k]): PanelCurve(panels) for k, panels in quick.items()}
        mean, sd = (x.ravel() for x in self._moments) if len(made) < chosen.size else ((), ())
        for k in chosen:
            if int(k) not in made:
                first = int(np.argmax(where == k))
                made[int(k)] = self._curve(rows.draw(k), float(mean[first]), float(sd[first]))
        return made

    def _curve(self, shape: Shapes, mean: float, sd: float) -> Curve:
        if not shape.total:
            return BetaCurve(float(shape.a0), float(shape.b0))
        if self.priors.known and self.method != "mixture":
            rates = self._known_rates

            def log_density(alpha: FloatArray, beta: FloatArray) -> FloatArray:
                return _known.log_density(shape, rates, alpha, beta)

        elif self.method == "quadrature" or not (self.method == "mixture" or by_mixture(shape)):
            return PanelCurve(by_quadrature(shape))
        else:
            parts = mixture(shape, self._known_rates if self.priors.known else None)
            few = parts.weights.size <= _COMPONENTS
            if not few and self.method != "mixture" and smooth(shape):
                return PanelCurve(by_quadrature(shape))
            log_density = parts.log_density
        # The tails of these densities are no heavier than exponential, so 40 sd hold all mass.
        window = max(0.0, mean - 40 * sd), min(1.0, mean + 40 * sd)
        powers = float(shape.a0), float(shape.b0)
        return PanelCurve(Panels.fit(log_density, window, powers=powers))

    @property
    def laws(self) -> list[Curve]:
        """What comparisons go by."""
        return self.curves

    def _each(self, ask: Callable[[Curve], Any]) -> FloatArray:
        """An answer of each posterior: (*batch, …)."""
        answers = np.array([ask(curve) for curve in self.curves], dtype=np.float64)
        return answers.reshape(self.shape + answers.shape[1:])

    @cached_property
    def mode(self) -> FloatArray:
        """Where the density is highest."""
        return self._each(lambda curve: curve.mode)

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Density at ``x``: (*batch, *x.shape)."""
        at = np.asarray(x, dtype=np.float64)
        return self._each(lambda curve: curve.pdf(at))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P(α ≤ x): (*batch, *x.shape)."""
        at = np.asarray(x, dtype=np.float64)
        return self._each(lambda curve: curve.cdf(at))

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Where the CDF reaches ``p``: (*batch, *p.shape)."""
        chances = check_chances(p)
        if chances.size > _FEW or "curves" in self.__dict__ or self.method == "quadrature":
            return self._each(lambda curve: curve.quantile(chances))
        rows, where = self._distinct
        rates = self._known_rates if self.priors.known else None
        flat = chances.ravel()
        found, done = batch_quantiles(rows, rates, flat, self.method == "mixture")
        if not done.all():
            at = np.flatnonzero(~done)
            curves = self._curves_of(at)
            found[at] = [curves[int(k)].quantile(flat) for k in at]
        return np.asarray(found[where].reshape(self.shape + chances.shape))

    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval:
        """Credible interval: equal tails, or ``kind="hdi"``, the shortest of all."""
        check_confidence(confidence)
        if check_choice("kind", kind, ("equal", "hdi")) == "equal":
            ends = self.quantile([0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence])
        else:
            ends = self._each(lambda curve: shortest(curve, confidence))
        return Interval(ends[..., 0], ends[..., 1])

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Independent draws of α: (*batch, size)."""
        generator = as_rng(rng)
        return self._each(lambda curve: curve.quantile(generator.random(size)))

    def sample_rates(self, size: int, *, rng: RNGLike = None) -> Rates:
        """Independent draws of (α, ρ, η) from the joint posterior of one study."""
        self._check_single("sample_rates")
        if self.priors.known:
            alpha = self.sample(size, rng=rng)
            return Rates(alpha, *(np.full(size, rate) for rate in self._known_rates))
        return Rates(*sample_rates(self._shapes, size, as_rng(rng)))

    @cached_property
    def rho(self) -> RatePosterior:
        """Marginal posterior of ρ = P(metric 1 | adequate)."""
        self._check_single("rho")
        self._check_estimated("rho")
        return RatePosterior(rho_curve(self._shapes), False)

    @cached_property
    def eta(self) -> RatePosterior:
        """Marginal posterior of η = P(metric 0 | inadequate)."""
        self._check_single("eta")
        self._check_estimated("eta")
        return RatePosterior(rho_curve(self._shapes.mirrored), True)

    def joint(self, rho: ArrayLike, eta: ArrayLike) -> FloatArray:
        """Density of (ρ, η) given the data, at arrays that broadcast; of one study.

        Exact to about 1e-8 of itself where the shapes of α are ½ or more.

        Examples
        --------
        >>> counts = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000)
        >>> x = (np.arange(100) + 0.5) / 100
        >>> grid = AlphaPosterior(counts).joint(x[:, None], x)
        >>> float(grid.mean().round(6))
        1.0
        """
        self._check_single("joint")
        if self.priors.known:
            raise FewgoldError("rho and eta are known: they have no joint density.")
        one, two = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (rho, eta)))
        inside = ((one >= 0) & (one <= 1) & (two >= 0) & (two <= 1)).ravel()
        out = np.zeros(one.size)
        logs = log_joint(self._shapes, one.ravel()[inside], two.ravel()[inside])
        out[inside] = np.exp(logs - self._log_evidence)
        return out.reshape(one.shape)

    @cached_property
    def _log_evidence(self) -> float:
        if by_mixture(self._shapes):
            return log_evidence(self._shapes)
        at = float(self.mean)
        return log_evidence_at(self._shapes, at, float(self.pdf(at)))

    @cached_property
    def informative(self) -> FloatArray:
        """P(ρ + η > 1): the chance that a 1 of the metric speaks for an adequate item.

        Near 0, the metric is the wrong way round: see `Counts.flipped`. Near ½, the ratings do not
        tell. The posterior of α is right in either case.

        Examples
        --------
        >>> counts = Counts(tp=12, fn=30, fp=25, tn=9, metric_ones=400, metric_total=1000)
        >>> [float(AlphaPosterior(c).informative.round(4)) for c in (counts, counts.flipped())]
        [0.0, 1.0]
        """
        if self.priors.known:
            return np.full(self.shape, float(sum(self._known_rates) > 1))
        rows, where = self._distinct
        curves = self._curves_of(np.flatnonzero(rows.total > 0))
        found = np.empty(rows.a0.size)
        for k in range(rows.a0.size):
            one = rows.draw(k)
            found[k] = chance_informative(one, curves[k].panels if k in curves else None)
        return found[where].reshape(self.shape)

    def _check_estimated(self, name: str) -> None:
        if self.priors.known:
            rate = getattr(self.priors, name)
            raise FewgoldError(f"{name} is known to be {rate:g}: it has no posterior.")

    @property
    def _source(self) -> str:
        c = self.counts
        told = (
            f"from {int(c.human_total)} human, {int(c.paired_total)} paired and "
            f"{int(c.metric_total)} metric ratings"
        )
        if self.priors.known and sum(self._known_rates) <= 1:
            told += "; rho + eta = 1, so those of the metric tell nothing"
        return told


@dataclass(frozen=True, eq=False)
class RatePosterior:
    """Marginal posterior of a hit rate of the metric."""

    curve: Curve
    flipped: bool  # the curve is that of 1 − rate

    @property
    def mean(self) -> np.float64:
        """Posterior mean."""
        mean = self.curve.moments()[0]
        return np.float64(1 - mean if self.flipped else mean)

    @property
    def sd(self) -> np.float64:
        """Posterior standard deviation."""
        return np.float64(np.sqrt(self.curve.moments()[1]))

    @property
    def mode(self) -> float:
        """Where the density is highest."""
        return 1 - self.curve.mode if self.flipped else self.curve.mode

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Density at ``x``."""
        at = np.asarray(x, dtype=np.float64)
        return self.curve.pdf(1 - at if self.flipped else at)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P(rate ≤ x)."""
        at = np.asarray(x, dtype=np.float64)
        return 1 - self.curve.cdf(1 - at) if self.flipped else self.curve.cdf(at)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Where the CDF reaches ``p``."""
        chances = check_chances(p)
        if self.flipped:
            return 1 - self.curve.quantile(1 - chances)
        return self.curve.quantile(chances)

    def interval(self, confidence: float = 0.95) -> Interval:
        """Credible interval with equal tails."""
        tail = 0.5 - 0.5 * check_confidence(confidence)
        low, high = self.quantile([tail, 1 - tail])
        return Interval(np.asarray(low), np.asarray(high))
