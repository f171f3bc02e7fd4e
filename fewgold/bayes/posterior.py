"""The posterior of the success rate α, which is an estimate like any other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from fewgold._arrays import FloatArray, IntArray, RNGLike, as_rng
from fewgold._validate import check_choice, check_confidence
from fewgold.bayes import quadrature
from fewgold.bayes.batch import METHODS, batch_panels, batch_quantiles, by_mixture, moments, smooth
from fewgold.bayes.counts import Counts
from fewgold.bayes.density import (
    BetaCurve,
    Curve,
    PanelCurve,
    Panels,
    between,
    gauss_legendre,
    shortest,
    shrink,
)
from fewgold.bayes.mixture import Shapes, draw_hidden, mixture, shapes
from fewgold.bayes.priors import Priors
from fewgold.bayes.quadrature import (
    Segment,
    by_quadrature,
    log_evidence,
    log_evidence_at,
    log_inside,
    log_joint,
    narrowest,
    outer_rule,
)
from fewgold.errors import FewgoldError
from fewgold.estimate import Interval

# What all posteriors say of themselves: value, se, summary, plain numbers.


class Readout(ABC):
    """Turns mean, sd and interval into the parts of an estimate."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @property
    @abstractmethod
    def mean(self) -> FloatArray: ...

    @property
    @abstractmethod
    def sd(self) -> FloatArray: ...

    @abstractmethod
    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval: ...

    @property
    @abstractmethod
    def _source(self) -> str: ...

    @property
    def var(self) -> FloatArray:
        """Posterior variance."""
        return np.asarray(self.sd**2)

    @property
    def value(self) -> FloatArray:
        """The estimate: the posterior mean."""
        return self.mean

    @property
    def se(self) -> FloatArray:
        """Posterior standard deviation, where other estimates have a standard error."""
        return self.sd

    def summary(self, confidence: float = 0.95) -> str:
        """A few lines for people."""
        self._check_single("summary")
        low, high = self.interval(confidence)
        return "\n".join(
            [
                f"{float(self.mean):.4f} ± {float(self.sd):.4f} (posterior mean and sd)",
                f"{100 * confidence:.6g}% credible interval {low:.4f} to {high:.4f} (equal tails)",
                self._source,
            ]
        )

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The posterior in plain numbers, for JSON."""
        low, high = self.interval(confidence)
        return {
            "value": self.mean.tolist(),
            "se": self.sd.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "confidence": confidence,
            "bound": "posterior",
            "bound_kind": "credible",
            "bound_label": "posterior, credible interval with equal tails",
        }

    def _check_single(self, name: str) -> None:
        if self.shape:
            raise FewgoldError(
                f"{name} is for one posterior, and this is a batch of shape {self.shape}; take one "
                "of it with draw(k)."
            )


def check_chances(p: ArrayLike) -> FloatArray:
    """Probabilities from 0 to 1."""
    chances = np.asarray(p, dtype=np.float64)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise FewgoldError(f"a quantile is asked for at probabilities from 0 to 1; got {p!r}.")
    return chances


# Posteriors that are steps: shares with their masses, of a finite test set or of draws.


class Steps(NamedTuple):
    """A distribution on the shares ``values``, in order, with masses ``mass``."""

    values: FloatArray
    mass: FloatArray

    @property
    def below(self) -> FloatArray:
        """P(share ≤ value) at each value."""
        return np.minimum(np.cumsum(self.mass), 1.0)


class StepReadout(Readout):
    """CDF, quantiles and intervals from the steps of each posterior of a batch, in order."""

    @property
    @abstractmethod
    def steps(self) -> list[Steps]: ...

    @property
    def laws(self) -> list[Steps]:
        """What comparisons go by."""
        return self.steps

    def _stack(self, answers: list[Any]) -> FloatArray:
        array = np.array(answers, dtype=np.float64)
        return array.reshape(self.shape + array.shape[1:])

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P(share ≤ x): (*batch, *x.shape)."""
        at = np.asarray(x, dtype=np.float64) + 1e-12  # shares are fractions, and rounded
        found = [np.searchsorted(step.values, at, side="right") for step in self.steps]
        sums = [np.append(0.0, step.below) for step in self.steps]
        return self._stack([total[k] for total, k in zip(sums, found, strict=True)])

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Smallest share whose CDF reaches ``p``: (*batch, *p.shape)."""
        chances = check_chances(p) - 1e-13
        out = []
        for step in self.steps:
            at = np.searchsorted(step.below, chances)
            out.append(step.values[np.minimum(at, step.values.size - 1)])
        return self._stack(out)

    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval:
        """Credible interval: equal tails, or ``kind="hdi"``, the shortest. Shares of a test set
        are steps, so it holds a little more than ``confidence``."""
        check_confidence(confidence)
        if check_choice("kind", kind, ("equal", "hdi")) == "equal":
            ends = self.quantile([0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence])
        else:
            ends = self._stack([_shortest(step, confidence) for step in self.steps])
        return Interval(ends[..., 0], ends[..., 1])

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Independent draws of the share: (*batch, size)."""
        generator = as_rng(rng)
        return self._stack([generator.choice(s.values, size, p=s.mass) for s in self.steps])


def _shortest(step: Steps, confidence: float) -> FloatArray:
    """Ends of the shortest interval that holds ``confidence``."""
    before = np.append(0.0, step.below[:-1])
    last = np.searchsorted(step.below, before + confidence - 1e-13)
    fits = last < step.values.size
    last = np.minimum(last, step.values.size - 1)
    width = np.where(fits, step.values[last] - step.values, np.inf)
    best = int(width.round(12).argmin())  # the first of equal ones
    return step.values[[best, int(last[best])]]


# What the ratings tell about the metric: the posteriors of ρ and η.
#
# Ratings by the metric alone tell about ρ and η too, since p = αρ + (1 − α)(1 − η) ties them to α.


_PANELS, _NODES, _DROP = 6, 16, 30.0
_AT_ONCE = 16
_HALF_PI = 0.5 * np.pi
# Above so many metric-only ratings, joint samples come by weighting where the weights are flat.
_LARGE, _FLAT = 1_000_000, 20.0
_PROPOSALS = 50  # for each draw


def rho_curve(shape: Shapes) -> Curve:
    """The marginal posterior of ρ."""
    if not shape.total:
        return BetaCurve(float(shape.ar), float(shape.br))

    def log_density(rho: FloatArray, rest: FloatArray) -> FloatArray:
        return _log_marginal(shape, rho, rest)

    powers = float(shape.ar), float(shape.br)
    return PanelCurve(Panels.fit(log_density, tolerance=1e-8, powers=powers))


def _log_marginal(shape: Shapes, rho: FloatArray, rest: FloatArray) -> FloatArray:
    """Log density of ρ, α and η integrated out: α outside, η inside."""
    out = np.asarray(xlogy(shape.ar - 1, rho) + xlogy(shape.br - 1, rest))
    x, w = gauss_legendre(_NODES)
    steps = ((np.arange(_PANELS)[:, None] + x) / _PANELS).ravel()
    log_w = np.log(np.tile(w, _PANELS))
    for start in range(0, rho.size, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        rate = rho[rows, None], rest[rows, None]

        def log_f(omega: FloatArray, rate: tuple[FloatArray, FloatArray] = rate) -> FloatArray:
            s, c = np.sin(omega), np.cos(omega)
            inside = log_inside(shape, 0, (s * s, c * c), rate)
            return (2 * shape.a0 - 1) * np.log(s) + (2 * shape.b0 - 1) * np.log(c) + inside

        low, high = np.zeros(rate[0].shape[0]), np.full(rate[0].shape[0], _HALF_PI)
        low, high = shrink(log_f, low, high, _DROP, points=24)
        values = log_f(low[:, None] + (high - low)[:, None] * steps) + log_w
        top = values.max(-1)
        out[rows] += top + np.log(np.exp(values - top[:, None]).sum(-1)) + np.log(high - low)
    return out


def sample_rates(
    shape: Shapes, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draws of α, ρ and η from their joint posterior, each (size,).

    Exact: draw the hidden numbers of adequate items, then α, ρ and η, which are Betas given these.
    With many metric-only ratings by weighting draws of the reverse factorisation instead.
    """
    up = float(shape.a0 - shape.ar - shape.br)
    down = float(shape.b0 - shape.ae - shape.be)
    if shape.total <= _LARGE or max(abs(up), abs(down)) > _FLAT:
        i, j = draw_hidden(shape, size, rng)
        hidden = i + j, shape.total - i - j
        alpha = rng.beta(shape.a0 + hidden[0], shape.b0 + hidden[1])
        rho = rng.beta(shape.ar + i, shape.br + j)
        eta = rng.beta(shape.ae + shape.k - j, shape.be + shape.m - i)
        return alpha, rho, eta
    many = _PROPOSALS * size
    psi = rng.beta(shape.m + shape.ar + shape.be, shape.k + shape.br + shape.ae, many)
    hit, miss = rng.beta(shape.ar, shape.be, many), rng.beta(shape.br, shape.ae, many)
    alpha = psi * hit + (1 - psi) * miss
    log_w = up * np.log(alpha) + down * np.log1p(-alpha)
    weight = np.exp(log_w - log_w.max())
    chosen = rng.choice(many, size, p=weight / weight.sum())
    alpha, psi, hit, miss = (x[chosen] for x in (alpha, psi, hit, miss))
    return alpha, psi * hit / alpha, (1 - psi) * (1 - miss) / (1 - alpha)


# Does a 1 of the metric speak for an adequate item? The chance that ρ + η > 1.
#
# At a given α the quadrature of `_quadrature` runs over x = ρ and y = 1 − η; each segment inside is
# cut where x = y, and both parts are summed.


_ALPHAS, _CHANCE_NODES = 40, 24
_CHANCE_DROP = 30.0


def chance_informative(shape: Shapes, panels: Panels | None) -> float:
    """P(ρ + η > 1) for one set of shapes.

    ``panels`` are those of the density of α; not needed without ratings by the metric alone.
    """
    if panels is None:
        return float(_independent(shape))
    edges = panels.edges if max(panels.ends) > 0 else panels.edges[[0, -1]]
    x, w = gauss_legendre(_ALPHAS)
    omega = (edges[:-1, None] + np.diff(edges)[:, None] * x).ravel()
    mass = panels.at_angle(omega)[0] * (w * np.diff(edges)[:, None]).ravel()
    omega = np.concatenate([edges[:1], omega, edges[-1:]])
    mass = np.concatenate([[panels.ends[0]], mass, [panels.ends[1]]])
    omega, mass = omega[mass > 1e-12 * mass.max()], mass[mass > 1e-12 * mass.max()]
    alpha, beta = np.sin(omega) ** 2, np.cos(omega) ** 2
    choice = narrowest(shape, alpha, beta)
    chance = np.empty(alpha.size)
    for outer in np.unique(choice):
        rows = choice == outer
        chance[rows] = _given(shape, int(outer), alpha[rows], beta[rows])
    return float(np.clip(mass @ chance / mass.sum(), 0.0, 1.0))


def _independent(shape: Shapes) -> float:
    """Without ratings by the metric alone ρ and η are two Betas: P(ρ > 1 − η)."""
    one = BetaCurve(float(shape.ar), float(shape.br))
    two = BetaCurve(float(shape.be), float(shape.ae))
    return between(one.panels, two.panels)


def _given(shape: Shapes, outer: int, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """P(x > y) at each α (n,)."""
    theta, segment, log_weight = outer_rule(shape, outer, alpha, beta)
    low, high = np.zeros_like(theta), np.full_like(theta, _HALF_PI)
    low, high = shrink(segment.log, low, high, _CHANCE_DROP)
    cut, above = _cut(segment, outer, theta)
    middle = np.clip(cut, low, high)
    parts = [_part(segment, *ends) + log_weight for ends in ((low, middle), (middle, high))]
    top = np.max(parts, axis=(0, 2))[:, None]
    sums = [np.exp(part - top).sum(-1) for part in parts]
    return np.asarray(sums[above] / (sums[0] + sums[1]))


def _cut(segment: Segment, outer: int, theta: FloatArray) -> tuple[FloatArray, int]:
    """The θ inside at which x = y, and whether x > y before (0) or after it (1)."""
    if outer < 2:  # s is y, or x, and is cut at the other rate, which is the outer one
        return theta, outer
    (_, x_low, dx), _ = segment.rising
    (_, y_low, dy) = segment.falling[1]
    share = (y_low + dy - x_low) / np.maximum(dx + dy, 1e-300)
    return np.asarray(np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0)))), 1


def _part(segment: Segment, low: FloatArray, high: FloatArray) -> FloatArray:
    """Log of the integral over a part of each segment; very low where the part is empty."""
    x, w = gauss_legendre(_CHANCE_NODES)
    width = high - low
    values = segment.log(low[..., None] + width[..., None] * x) + np.log(w)
    top = values.max(-1)
    total = top + np.log(np.exp(values - top[..., None]).sum(-1))
    return np.asarray(total + np.log(np.maximum(width, 1e-290)))


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
            quadrature.check_possible(self._shapes, self._known_rates)

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
                return quadrature.log_density_known(shape, rates, alpha, beta)

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
