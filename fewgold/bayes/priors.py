"""Priors: what is known before any ratings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from scipy.special import expit, gammaln, ndtri, xlogy

from fewgold.bayes.density import mass_window
from fewgold.common.arrays import FloatArray, batches
from fewgold.errors import FewgoldError

Beta: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Priors:
    """Beta priors of the success rate α and of the metric's hit rates ρ and η.

    Parameters
    ----------
    alpha
        (a, b) of the Beta prior of α, the share of adequate items.
    rho, eta
        (a, b) of the Beta priors of ρ = P(metric 1 | adequate) and η = P(metric 0 | inadequate).
        A number instead of a pair says that the rate is known; then both must be numbers.

    Notes
    -----
    With uniform priors and without items rated by both people and the metric, the metric carries no
    information: the posterior mean of α stays at ½.

    Examples
    --------
    >>> Priors(rho=0.7, eta=0.8)
    Priors(alpha=(1.0, 1.0), rho=0.7, eta=0.8)
    """

    alpha: Beta = (1.0, 1.0)
    rho: Beta | float = (1.0, 1.0)
    eta: Beta | float = (1.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", beta_pair("alpha", self.alpha))
        for name in ("rho", "eta"):
            rate = getattr(self, name)
            known = isinstance(rate, int | float | np.number)
            if known and not 0 <= rate <= 1:
                raise FewgoldError(f"a known {name} must lie between 0 and 1; got {rate!r}.")
            object.__setattr__(self, name, float(rate) if known else beta_pair(name, rate))
        if isinstance(self.rho, tuple) != isinstance(self.eta, tuple):
            raise FewgoldError(
                f"rho and eta must both be known numbers or both have Beta priors; got "
                f"rho={self.rho!r} and eta={self.eta!r}. A tight prior such as (700, 300) stands "
                "for a rate that is almost known."
            )

    @classmethod
    def from_counts(
        cls, tp: float, fn: float, fp: float, tn: float, *, weight: float = 1.0,
        alpha: Beta = (1.0, 1.0),
    ) -> Priors:  # fmt: skip
        """Priors from counts of the same judge's earlier hits and errors, such as last month's.

        Each earlier item counts as ``weight`` of a current item: below 1 if the judge or the
        outputs may have changed. Earlier items say nothing about the current success rate.

        Examples
        --------
        >>> Priors.from_counts(tp=80, fn=20, fp=10, tn=90, weight=0.5)
        Priors(alpha=(1.0, 1.0), rho=(41.0, 11.0), eta=(46.0, 6.0))
        """
        if not (np.isfinite(weight) and weight >= 0):
            raise FewgoldError(f"weight must be a number of 0 or more; got {weight!r}.")
        if not all(np.isfinite(n) and n >= 0 for n in (tp, fn, fp, tn)):
            raise FewgoldError(f"counts must be numbers of 0 or more; got {(tp, fn, fp, tn)!r}.")
        rho = 1 + weight * tp, 1 + weight * fn
        return cls(alpha, rho, (1 + weight * tn, 1 + weight * fp))

    @classmethod
    def from_means(
        cls, *, alpha: Beta | None = None, rho: Beta | None = None, eta: Beta | None = None
    ) -> Priors:
        """Priors from a mean and the number of items it is worth, for each given rate.

        A rate of mean m worth n items has the prior Beta(m n, (1 − m) n); others are uniform.

        Examples
        --------
        >>> Priors.from_means(rho=(0.8, 50), eta=(0.9, 20))
        Priors(alpha=(1.0, 1.0), rho=(40.0, 10.0), eta=(18.0, 2.0))
        """
        found = {}
        for name, given in {"alpha": alpha, "rho": rho, "eta": eta}.items():
            if given is None:
                continue
            mean, size = given
            if not (0 < mean < 1 and 0 < size < np.inf):
                raise FewgoldError(
                    f"{name} must be a mean between 0 and 1 and the number of items that it is "
                    f"worth, such as (0.8, 50); got {given!r}."
                )
            pair = mean * size, (1 - mean) * size
            found[name] = (round(pair[0], 12), round(pair[1], 12))
        return cls(**found)

    @classmethod
    def parse(cls, text: str) -> Priors:
        """Parse priors as people type them, such as ``rho=30/40,eta=45/50``.

        Rates are given as counts (``rho=30/40``: 30 of 40 adequate items recognised) or as a mean
        and the number of items it is worth (``rho=0.75@40``); ``tp=30,fn=10,fp=5,tn=45`` gives the
        counts of both rates at once. Rates that are not named are uniform. ``weight=0.5`` lets each
        earlier item count as half a current item, for a judge that may have changed.

        Examples
        --------
        >>> Priors.parse("rho=30/40, eta=0.9@50")
        Priors(alpha=(1.0, 1.0), rho=(31.0, 11.0), eta=(45.0, 5.0))
        >>> Priors.parse("tp=30,fn=10,fp=5,tn=45,weight=0.5").rho
        (16.0, 6.0)
        """
        cells: dict[str, float] = {}
        rates: dict[str, Beta] = {}
        weight = 1.0
        parts = re.split(r"[,;]", re.sub(r"\s", "", text).strip(",;"))
        matches = [_PRIOR.fullmatch(part) for part in parts]
        if None in matches or len({m[1] for m in matches if m}) < len(parts):
            raise _not_a_prior(text)
        for name, number, sign, size in (m.groups() for m in matches if m):
            if (sign is None) == (name in ("alpha", "rho", "eta")):
                raise _not_a_prior(text)
            if name == "weight":
                weight = float(number)
            elif sign is None:
                cells[name] = float(number)
            elif sign == "/" and float(number) > float(size):
                raise FewgoldError(
                    f"the prior of {name} must be hits out of all items, such as 30/40; got "
                    f"{number}/{size}."
                )
            else:
                rates[name] = float(number), float(size)
        counted = len(cells) == 4 and set(rates) <= {"alpha"}
        if not counted and (cells or not rates):
            raise _not_a_prior(text)
        signs = {m[1]: m[3] for m in matches if m}
        found: dict[str, Beta] = {}
        for name, (first, size) in rates.items():
            # A share before the slash, as in 0.8/50, cannot be a count: it is a mean, as in 0.8@50.
            if signs[name] == "@" or 0 < first < 1:
                mean = {name: (first, size * weight)}
                found[name] = getattr(cls.from_means(**mean), name)
            else:
                found[name] = 1 + weight * first, 1 + weight * (size - first)
        if counted:
            tp, fn, fp, tn = (cells[name] for name in ("tp", "fn", "fp", "tn"))
            alpha = found.get("alpha", (1.0, 1.0))
            return cls.from_counts(tp, fn, fp, tn, weight=weight, alpha=alpha)
        return cls(**found)

    @property
    def _known_rates(self) -> tuple[float, float] | None:
        """ρ and η where they are given numbers."""
        return (
            cast(tuple[float, float], (self.rho, self.eta))
            if not isinstance(self.rho, tuple)
            else None
        )

    def flipped(self) -> Priors:
        """The priors with 0 and 1 of the metric swapped, as in `Counts.flipped`.

        Examples
        --------
        >>> Priors(rho=0.25, eta=0.5).flipped()
        Priors(alpha=(1.0, 1.0), rho=0.75, eta=0.5)
        """
        if isinstance(self.rho, tuple) and isinstance(self.eta, tuple):
            return replace(self, rho=self.rho[::-1], eta=self.eta[::-1])
        rho, eta = cast(tuple[float, float], self._known_rates)
        return replace(self, rho=1 - rho, eta=1 - eta)


# Parse a rate: 30/40, 0.75@40, or a number alone.
_PRIOR = re.compile(
    r"(alpha|rho|eta|tp|fn|fp|tn|weight)=(\d+\.?\d*|\.\d+)(?:([/@])(\d+\.?\d*|\.\d+))?"
)


def _not_a_prior(text: str) -> FewgoldError:
    return FewgoldError(
        "a prior must be like rho=30/40,eta=45/50 (counts), rho=0.75@40,eta=0.9@50 (a mean and the "
        "number of items it is worth), or all of tp=30,fn=10,fp=5,tn=45; alpha and weight may be "
        f"added. Got {text!r}."
    )


def beta_pair(name: str, pair: object) -> Beta:
    try:
        a, b = (float(x) for x in pair)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        a = b = 0.0
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise FewgoldError(f"{name} must be a pair of positive numbers (a, b); got {pair!r}.")
    return a, b


@dataclass(frozen=True)
class RaterPriors:
    """Beta priors of the success rate and of the hit rates of raters.

    Parameters
    ----------
    alpha
        (a, b) of the Beta prior of α, the share of adequate items; uniform.
    rho, eta
        (a, b) for every human rater: ρ = P(says 1 | adequate) and η = P(says 0 | inadequate). They
        favour raters who are right four times out of five: without gold labels nothing else
        distinguishes adequate from inadequate.
    metric_rho, metric_eta
        (a, b) for a metric that is treated as one more rater; uniform.

    Examples
    --------
    >>> RaterPriors(rho=(2, 1), eta=(2, 1)).rho
    (2.0, 1.0)
    """

    alpha: Beta = (1.0, 1.0)
    rho: Beta = (4.0, 1.0)
    eta: Beta = (4.0, 1.0)
    metric_rho: Beta = (1.0, 1.0)
    metric_eta: Beta = (1.0, 1.0)

    def __post_init__(self) -> None:
        for name in ("alpha", "rho", "eta", "metric_rho", "metric_eta"):
            object.__setattr__(self, name, beta_pair(name, getattr(self, name)))

    def _shapes(self, humans: int, metrics: int) -> tuple[FloatArray, FloatArray]:
        """Shapes a and b of α, then ρ of each rater, then η of each: (1 + 2R,) each."""
        rho = [self.rho] * humans + [self.metric_rho] * metrics
        eta = [self.eta] * humans + [self.metric_eta] * metrics
        a, b = np.array([self.alpha, *rho, *eta]).T
        return a, b


# Rates of metric categories ---
#
# v_j = P(adequate | category j). Given the strength κ and the centres μ_j, v_j ~ Beta(κ μ_j, κ (1 −
# μ_j)), so a category with few ratings is shrunk to its centre as if by κ more ratings. Neither κ
# nor the location θ and the slope of the centres are plugged in: they are summed over with their
# posterior weights.

_DROP = 14.0
_AT_ONCE = 50_000  # numbers in the arrays of one block
#: Panels of the rule for θ: for distributions, and for mean and sd.
PANELS, FEW_PANELS = 64, 32


class Nodes(NamedTuple):
    """A mixture: with probability ``weight`` (D, M, P) the v_j are independent Beta(a, b).

    The P points of each of the M models are those of `fejer`, or a single one.
    """

    weight: FloatArray
    a: FloatArray
    b: FloatArray


class CellPrior(Protocol):
    """Turns ratings (D, J, 2) and the number of items of each category (D, J) into a mixture.

    ``panels`` sets the resolution at which rates are summed over.
    """

    def _nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes: ...


@dataclass(frozen=True)
class Separate:
    """A separate prior for each category: v_j ~ Beta(a, b), uniform by default.

    With many categories or few ratings it shrinks the result towards a/(a + b): use it if each
    category has at least about ten ratings, or to reproduce `PoolPosterior` for one metric.
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        beta_pair("Separate", (self.a, self.b))

    def _nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        return _single_node(rated, self.a, self.b)


@dataclass(frozen=True)
class Pooled:
    """Categories are shrunk towards a common rate, the more the ratings agree.

    Parameters
    ----------
    rate
        (a, b) of the Beta prior of the overall rate Σ_j (share of j in the pool) μ_j.
    strengths
        Values of κ, equally likely a priori: from categories that determine the class almost fully
        (½) to almost uninformative ones (128).
    """

    rate: Beta = (1.0, 1.0)
    strengths: tuple[float, ...] = (0.5, 2.0, 8.0, 32.0, 128.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", beta_pair("rate", self.rate))
        _check_strengths(self.strengths)

    def _nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        flat = np.zeros((len(items), 1))
        return _shrunk(rated, items, flat, (0.0,), self.strengths, self.rate, panels)


@dataclass(frozen=True)
class Trend:
    """Ordered categories are shrunk towards a trend: rising, falling or flat.

    The centres are μ_j = logistic(θ + slope · z_j), with z_j the normal score of the middle of
    category j in the pool, or the ``places`` given. Deviations from the trend are captured by κ, so
    a metric whose best values are in its middle does little harm.

    Parameters
    ----------
    rate, strengths
        As in `Pooled`.
    slopes
        Values of the slope, with prior weights from a standard normal density.
    places
        Positions of the categories; by default their normal scores, in the order of their numbers.
    """

    rate: Beta = (1.0, 1.0)
    strengths: tuple[float, ...] = (2.0, 16.0, 128.0)
    slopes: tuple[float, ...] = (-2.5, -1.5, -0.75, 0.0, 0.75, 1.5, 2.5)
    places: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", beta_pair("rate", self.rate))
        _check_strengths(self.strengths)

    def _nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        models = self._places(items), self.slopes, self.strengths, self.rate
        return _shrunk(rated, items, *models, panels)

    def _places(self, items: FloatArray) -> FloatArray:
        if self.places is None:
            middle = np.cumsum(items, axis=-1) - 0.5 * items
            share = middle / np.maximum(items.sum(-1, keepdims=True), 1)
            return np.asarray(ndtri(np.clip(share, 1e-4, 1 - 1e-4)))
        if len(self.places) != items.shape[-1]:
            raise FewgoldError(
                f"places must have one number for each category; got {len(self.places)} for "
                f"{items.shape[-1]} categories."
            )
        return np.broadcast_to(np.asarray(self.places, dtype=np.float64), items.shape)


def _check_strengths(strengths: tuple[float, ...]) -> None:
    if not strengths or not all(0 < k < np.inf for k in strengths):
        raise FewgoldError(f"strengths must be positive numbers; got {strengths!r}.")


@lru_cache(maxsize=8)
def fejer(panels: int) -> tuple[FloatArray, FloatArray]:
    """Nodes (1 + cos(kπ/n))/2, k = 1 … n − 1, and weights of Fejér's second rule on [0, 1].

    Every second node belongs to the rule with half the panels.
    """
    angle = np.pi / panels * np.arange(1, panels)
    odd = np.arange(1, panels, 2)
    sums = (np.sin(np.multiply.outer(angle, odd)) / odd).sum(-1)
    return 0.5 * (1 + np.cos(angle)), 2 * np.sin(angle) / panels * sums


@lru_cache(maxsize=2)
def interpolation(panels: int, skip: int) -> FloatArray:
    """From every ``skip``-th node of the Fejér rule to all of them, by the barycentric formula."""
    x, _ = fejer(panels)
    k = np.arange(skip, panels, skip)
    own = (-1.0) ** (k // skip) * np.sin(np.pi * k / panels) ** 2
    gaps = x[:, None] - x[k - 1]
    gaps[k - 1] = 1.0
    matrix = own / gaps
    matrix[k - 1] = np.eye(k.size)
    return np.asarray(matrix / matrix.sum(1, keepdims=True))


def _single_node(rated: FloatArray, a: float, b: float) -> Nodes:
    """A single node: v_j ~ Beta(a, b), updated with the ratings (D, J, 2)."""
    cells = rated[:, None, None]
    return Nodes(np.ones((len(rated), 1, 1)), a + cells[..., 1], b + cells[..., 0])


def _shrunk(
    rated: FloatArray, items: FloatArray, places: FloatArray, slopes: tuple[float, ...],
    strengths: tuple[float, ...], rate: Beta, panels: int,
) -> Nodes:  # fmt: skip
    """The mixture over κ, slopes and θ, in blocks of the batch that fit the cache."""
    if rated.shape[-2] == 1:  # nothing to shrink to: its rate is the overall rate
        return _single_node(rated, *rate)
    wide = len(strengths) * len(slopes) * panels * rated.shape[-2]
    parts = []
    for rows in batches(len(rated), max(1, _AT_ONCE // wide)):
        share = items[rows] / items[rows].sum(-1, keepdims=True)
        kappa = np.repeat(strengths, len(slopes))[:, None, None]  # one for each of the M models
        slope = np.tile(slopes, len(strengths))[:, None, None]
        offset = slope * places[rows, None, None]  # (D, M, 1, J)
        model = _Models(rated[rows, None, None], share[:, None, None], kappa, offset, rate)
        # Find where each model has its mass: θ = logit sin² ω, with a Fejér rule over ω. In ω,
        # unlike θ, a rate near 0 or 1 has no long tail, and other rates are nearly normal.
        low, high = mass_window(model.log_posterior, offset.shape[:2], _DROP)
        x, w = fejer(panels)
        omega = low[..., None] + (high - low)[..., None] * x
        log_w = model.log_posterior(omega) + np.log((high - low)[..., None] * w)
        log_w = log_w - 0.5 * slope[..., 0] ** 2
        weight = np.exp(log_w - log_w.max((-1, -2), keepdims=True))
        up, down = model.centres(omega)
        a, b = kappa * up + model.rated[..., 1], kappa * down + model.rated[..., 0]
        parts.append(Nodes(weight / weight.sum((-1, -2), keepdims=True), a, b))
    return Nodes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class _Models(NamedTuple):
    """Ratings, shares, strengths, offsets of θ and the prior of the rate, by model."""

    rated: FloatArray
    share: FloatArray
    kappa: FloatArray
    offset: FloatArray
    rate: Beta

    def centres(self, omega: FloatArray) -> tuple[FloatArray, FloatArray]:
        """μ_j and 1 − μ_j at ω (D, M, T): (D, M, T, J)."""
        place = 2 * np.log(np.sin(omega) / np.cos(omega))[..., None] + self.offset
        return expit(place), expit(-place)

    def log_posterior(self, omega: FloatArray) -> FloatArray:
        """Log of prior times likelihood of (κ, slope, ω), without the prior of the slope."""
        up, down = self.centres(omega)
        slope, (a, b) = (self.share * up * down).sum(-1), self.rate
        prior = np.log(slope)
        if (a, b) != (1.0, 1.0):
            mean, rest = (self.share * up).sum(-1), (self.share * down).sum(-1)
            prior = prior + xlogy(a - 1, mean) + xlogy(b - 1, rest)
        like = _log_rising(self.kappa * up, self.rated[..., 1])
        like += _log_rising(self.kappa * down, self.rated[..., 0])
        like -= _log_rising(self.kappa, self.rated.sum(-1))
        return np.asarray(prior + like.sum(-1) - np.log(np.sin(omega) * np.cos(omega)))


def _log_rising(start: FloatArray, steps: FloatArray) -> FloatArray:
    """log of start (start + 1) … (start + steps − 1)."""
    start = np.maximum(start, 1e-300)
    return np.asarray(gammaln(start + steps) - gammaln(start))
