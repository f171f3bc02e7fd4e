"""A planned study of adequate/inadequate ratings: rates and sizes, and the counts to expect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewgold.bayes import Counts, Priors, moments
from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng
from fewgold.common.checks import check_choice, check_count
from fewgold.errors import DesignError, FewgoldError


@dataclass(frozen=True, eq=False)
class Setting:
    """Rates and sizes of a study of one system. Arrays, which broadcast, make many settings.

    Parameters
    ----------
    alpha
        Expected share of adequate outputs.
    human
        Items that people rate. Without ``paired`` the metric rates all of these too.
    metric
        Items that only the metric rates.
    rho, eta
        P(metric 1 | adequate) and P(metric 0 | inadequate); needed if ``metric`` is above 0.
    paired
        None: every human rating is paired with one of the metric (T_Φ = T_ρη in the papers), so it
        informs about α and about the errors of the metric. A number: this many items are rated by
        both, *in addition to* ``human`` items that only people rate.
    known
        Whether ρ and η are known rather than estimated from the paired ratings.
    priors
        Beta priors of α, ρ and η; uniform by default.
    pairs
        With ``paired``: ``"sample"``, items drawn like the others, which also inform about α; or
        ``"calibration"``, items from elsewhere, which inform only about ρ and η.
    calibration_share
        Share of adequate items among those; ``alpha`` by default (ψ in the papers).

    Examples
    --------
    >>> Setting(alpha=0.6, rho=0.7, eta=0.7, human=527, metric=1000).expected()
    Counts(tp=221, fn=95, fp=63, tn=148, metric_ones=540, metric_total=1000)
    """

    alpha: Any
    human: Any
    metric: Any = 0
    rho: Any = None
    eta: Any = None
    paired: Any = None
    known: bool = False
    priors: Any = None
    pairs: str = "sample"
    calibration_share: Any = None
    #: Items that only people rate, items that both rate, and the share of adequate ones among
    #: these.
    alone: IntArray = field(init=False, repr=False)
    both: IntArray = field(init=False, repr=False)
    share: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.priors is None:
            object.__setattr__(self, "priors", Priors())
        check_choice("pairs", self.pairs, ("sample", "calibration"))
        if self.paired is None and self.pairs == "calibration":
            raise DesignError(
                "a calibration set needs its own size: expected paired=, the number of items in "
                "it; human= counts the items of the system itself."
            )
        if self.calibration_share is not None and self.pairs != "calibration":
            raise DesignError(
                'calibration_share needs pairs="calibration": in a random sample the share is '
                "alpha."
            )
        if self.priors._known_rates is not None and not self.known:
            raise FewgoldError(
                "the priors say that rho and eta are known. Use known=True instead, and give "
                "them as rho= and eta=."
            )
        human, metric = _size("human", self.human), _size("metric", self.metric)
        alone, both = np.zeros_like(human), human
        if self.paired is not None:
            alone, both = human, _size("paired", self.paired)
        if (self.rho is None) != (self.eta is None) or (self.rho is None and metric.any()):
            raise DesignError(
                f"metric ratings need both rho and eta, how often the metric is right; got "
                f"rho={self.rho!r} and eta={self.eta!r}. Estimate them from earlier ratings."
            )
        rho, eta = (
            check_rate(name, 0.5 if rate is None else rate)
            for name, rate in (("rho", self.rho), ("eta", self.eta))
        )
        alpha = check_rate("alpha", self.alpha)
        given = self.calibration_share
        share = alpha if given is None else check_rate("calibration_share", given)
        if np.any(rho + eta < 1 - 1e-9):
            raise DesignError(
                f"rho + eta must be 1 or more; got {float((rho + eta).min()):g}. Otherwise the "
                "metric is wrong more often than chance: exchange its 0 and 1 (rho becomes 1 − "
                "rho, eta 1 − eta)."
            )
        arrays: dict[str, Any] = {"alone": alone, "both": both, "metric": metric}
        arrays |= {"alpha": alpha, "rho": rho, "eta": eta, "share": share}
        try:
            fitted = np.broadcast_arrays(*arrays.values())
        except ValueError:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in arrays.items())
            raise FewgoldError(
                f"rates and sizes must have compatible shapes; got {shapes}."
            ) from None
        for name, array in zip(arrays, fitted, strict=True):
            object.__setattr__(self, name, array)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the settings; () for one."""
        return np.shape(self.alpha)

    @property
    def _chance(self) -> FloatArray:
        """Chance that the metric gives a 1: p = αρ + (1 − α)(1 − η)."""
        return np.asarray(self.alpha * self.rho + (1 - self.alpha) * (1 - self.eta))

    def expected(self) -> Counts:
        """Counts at their expected values, rounded half to even (Python's ``round``).

        This is the simulation of von Däniken et al. (2022), appendix B. They print ⌊x + ½⌋; their
        tables come out with ``round``.
        """
        adequate = _round(self.share * self.both)
        tp, tn = _round(self.rho * adequate), _round(self.eta * (self.both - adequate))
        ones = _round(self._chance * self.metric)
        return self._counts(_round(self.alpha * self.alone), adequate, tp, tn, ones)

    def _sampled(self, draws: int, rng: RNGLike = None) -> Counts:
        """Counts of ``draws`` studies drawn at random: (*shape, draws).

        Algorithm 2 of von Däniken (2023), with η in its line 6, where ρ is printed.
        """
        size = (*self.shape, check_count("draws", draws))
        binomial = as_rng(rng).binomial

        def draw(n: IntArray, p: FloatArray) -> IntArray:
            return np.asarray(binomial(n, np.clip(p, 0.0, 1.0)[..., None], size))

        both = self.both[..., None]
        if self.calibration_share is None:
            adequate = draw(both, self.alpha)
        else:  # the classes of a class-balanced set are fixed
            adequate = np.broadcast_to(_round(self.share * self.both)[..., None], size)
        tp, tn = draw(adequate, self.rho), draw(both - adequate, self.eta)
        alone = draw(self.alone[..., None], self.alpha)
        ones = draw(self.metric[..., None], self._chance)
        return self._counts(alone, adequate, tp, tn, ones)

    def _counts(
        self, alone: IntArray, adequate: IntArray, tp: IntArray, tn: IntArray, ones: IntArray
    ) -> Counts:
        shape = self.shape + (1,) * (np.ndim(adequate) - len(self.shape))
        return Counts(
            human_ones=alone, human_total=self.alone.reshape(shape), tp=tp, fn=adequate - tp,
            fp=self.both.reshape(shape) - adequate - tn, tn=tn, metric_ones=ones,
            metric_total=self.metric.reshape(shape), pairs=self.pairs,
        )  # fmt: skip

    def _moments(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Posterior mean and sd of α for counts of these settings (or of draws of them)."""
        shape = self.shape + (1,) * (len(counts.shape) - len(self.shape))
        keys = [self.metric, self.rho, self.eta] if self.known else [self.metric]
        table = np.stack([np.broadcast_to(k.reshape(shape), counts.shape).ravel() for k in keys])
        # A call handles one pair of known rates; batches with equal metric sets are the cheapest.
        groups, where = np.unique(table, axis=1, return_inverse=True)
        mean, sd = np.empty(counts.shape), np.empty(counts.shape)
        for k, group in enumerate(groups.T):
            at = (where == k).reshape(counts.shape)
            known = Priors(self.priors.alpha, *map(float, group[1:])) if self.known else None
            mean[at], sd[at] = moments(counts.draw(at), known or self.priors)
        return mean, sd

    def sd(self) -> FloatArray:
        """Posterior sd of α at the expected counts."""
        return self._moments(self.expected())[1]


def _round(x: FloatArray) -> IntArray:
    return np.asarray(np.rint(x), dtype=np.int64)


def check_rate(name: str, value: ArrayLike) -> FloatArray:
    """Check shares from 0 to 1 and return them as an array."""
    array = _numbers(name, value)
    if not np.all((array >= 0) & (array <= 1)):
        raise FewgoldError(f"{name} must lie between 0 and 1; got {value!r}.")
    return array


def _size(name: str, value: ArrayLike) -> IntArray:
    array = _numbers(name, value)
    if not np.all(np.isfinite(array) & (array >= 0) & (array == np.floor(array))):
        raise FewgoldError(f"{name} must be a whole number of 0 or more; got {value!r}.")
    return array.astype(np.int64)


def _numbers(name: str, value: ArrayLike) -> FloatArray:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise FewgoldError(f"{name} must be a number or an array of them; got {value!r}.") from None
