"""Several raters who all make mistakes: the success rate, and how good each of them is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fewgold._arrays import FloatArray, RNGLike, as_rng
from fewgold._validate import check_choice, check_confidence, check_count
from fewgold.bayes._answers import Answers
from fewgold.bayes._chain_health import Health
from fewgold.bayes._curve import Curve, PanelCurve, shortest
from fewgold.bayes._factors import urn
from fewgold.bayes._mixture import Mixture
from fewgold.bayes._panels import Panels
from fewgold.bayes._rater_priors import RaterPriors
from fewgold.bayes._raters_chains import MET, run
from fewgold.bayes._raters_gibbs import Draws, Model
from fewgold.bayes._raters_labels import read_answers
from fewgold.bayes._readout import Readout, check_chances
from fewgold.bayes._steps import Steps
from fewgold.errors import FewgoldError
from fewgold.estimate import Interval

_NOT_IDENTIFIED = (
    "no item has three answers and there is no gold: the answers alone do not tell α from the "
    "raters' errors, and the interval leans on the priors; have a third rater, or gold items"
)


@dataclass(frozen=True, eq=False)
class RaterPosterior(Readout):
    """Posterior of the success rate from raters who err, without anybody taken for the truth.

    Each item is adequate with chance α. Rater r says 1 to an adequate item with chance ρ_r and 0
    to an inadequate one with chance η_r, **independently of the others given the class** (Dawid and
    Skene 1979). Items that are hard for all raters break that, and make intervals too short.

    Parameters
    ----------
    labels
        (items, raters) of 0 and 1, NaN where a rater has not rated an item; an array, or a frame
        whose columns are named after the raters. Rows without any answer are unrated items.
    gold
        (items,) class of the items where it is known, from an expert, and NaN elsewhere.
    metric
        (items,) labels of a metric, which is one more rater; of all items or some.
    target
        ``"process"``: α of the process that made the items. ``"pool"``: the share of adequate
        items in this very test set.
    unrated
        Further items of the test set that nobody rated; for the pool.
    gold_from
        ``"sample"``: the gold items are part of the test set and a random sample like the others.
        ``"picked"``: they are part of it, but were picked by their class; they tell about raters,
        and their own class is known. ``"calibration"``: they come from elsewhere.
    priors
        Beta priors of α and of the raters' rates.
    above_chance
        Cut the prior to where the human raters are right more often than wrong on average, mean of
        ρ + η above 1. Without it nothing but the priors says which class is the adequate one.
    effective
        How many independent draws of α the chains should be worth.
    seed
        Of the chains; the same seed gives the same numbers.

    Notes
    -----
    By Gibbs sampling, 16 chains, doubled in length until the worst R-hat is at most 1.01 (or after
    32,000 sweeps, and `notes` says so). α given the number s of adequate items is a Beta, so its
    posterior is a mixture of Betas whose weights are the shares of the draws: mean and density are
    smooth. With the default of 2,000 effective draws the mean is exact to about 0.02 posterior sd
    and ends of 95 % intervals to about 0.06.

    With two raters and no gold α is not identified: three numbers are observed for five unknown
    rates. Then the interval is wide, and where it lies owes much to the priors.

    References
    ----------
    Dawid and Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
    algorithm. von Däniken et al. (2022) have the same model with one rater, the metric.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> adequate = rng.random(300) < 0.7
    >>> right = rng.random((300, 3)) < [0.9, 0.8, 0.75]
    >>> posterior = RaterPosterior(np.where(right, adequate[:, None], ~adequate[:, None]))
    >>> low, high = posterior.interval()
    >>> bool(low < adequate.mean() < high)
    True
    >>> posterior.raters()[["rater", "answers", "rho", "eta"]].round(1)
         rater  answers  rho  eta
    0  rater 1      300  0.9  0.8
    1  rater 2      300  0.8  0.8
    2  rater 3      300  0.8  0.7
    """

    labels: Any
    gold: ArrayLike | None = field(default=None, kw_only=True)
    metric: ArrayLike | None = field(default=None, kw_only=True)
    target: str = field(default="process", kw_only=True)
    unrated: int = field(default=0, kw_only=True)
    gold_from: str = field(default="sample", kw_only=True)
    priors: RaterPriors = field(default=RaterPriors(), kw_only=True)
    above_chance: bool = field(default=True, kw_only=True)
    effective: int = field(default=2000, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    _answers: Answers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("target", self.target, ("process", "pool"))
        check_choice("gold_from", self.gold_from, ("sample", "picked", "calibration"))
        if self.gold_from == "picked" and tuple(self.priors.alpha) != (1.0, 1.0):
            raise FewgoldError(
                f"gold_from='picked' goes with a uniform prior of alpha; got {self.priors.alpha!r}."
            )
        check_count("unrated", self.unrated, 0)
        check_count("effective", self.effective, 100)
        object.__setattr__(self, "_answers", read_answers(self.labels, self.gold, self.metric))

    def __repr__(self) -> str:
        what = f"{len(self._answers.names)} raters, {self._answers.which.size} items"
        return f"RaterPosterior({float(self.mean):.4f} ± {float(self.sd):.4f}, {what})"

    @property
    def shape(self) -> tuple[int, ...]:
        """(): one study."""
        return ()

    @cached_property
    def model(self) -> Model:
        """What the chains sample from."""
        seen = self._answers
        a, b = self.priors.shapes(seen.humans, len(seen.names) - seen.humans)
        hit, miss, passed, failed = seen.cells
        rate = (seen.gold_ones, seen.gold_zeros) if self.gold_from == "sample" else (0, 0)
        a, b = a + np.r_[rate[0], hit, passed], b + np.r_[rate[1], miss, failed]
        humans = seen.humans if self.above_chance else 0
        return Model(seen.patterns, seen.counts[None], a[None], b[None], humans)

    @cached_property
    def _run(self) -> tuple[Draws, Health, int]:
        return run(self.model, effective=self.effective, seed=self.seed)

    @property
    def rhat(self) -> float:
        """Worst R-hat over α and all rates: 1 where the chains have met."""
        return float(self._run[1].rhat.max())

    @property
    def ess(self) -> float:
        """How many independent draws of α the chains are worth."""
        return float(self._run[1].ess[0, 0])

    @property
    def sweeps(self) -> int:
        """Sweeps of each chain; the last half of them counts."""
        return self._run[2]

    @cached_property
    def _mixture(self) -> Mixture:
        """The posterior of α: Betas, weighted by how often each number of adequate items came."""
        adequate = self._run[0].adequate
        first = int(adequate.min())
        weights = np.bincount(adequate.ravel() - first) / adequate.size
        a, b = float(self.model.a[0, 0]), float(self.model.b[0, 0])
        if self.gold_from == "picked":
            # Every number of adequate items is as likely beforehand, and so is every number among
            # those that were not picked; with the picked ones they are a sample of the process.
            a, b = a + self._answers.gold_ones, b + self._answers.gold_zeros
        return Mixture(first, weights, a, b, float(self.model.counts.sum()))

    @cached_property
    def _curve(self) -> PanelCurve:
        density = self._mixture.log_density
        return PanelCurve(Panels.fit(density), density)

    @property
    def size(self) -> int:
        """Items of the test set, rated or not; gold ones unless they are there to calibrate."""
        gold = int(np.isfinite(self._answers.gold).sum())
        outside = gold if self.gold_from == "calibration" else 0
        return self._answers.which.size - outside + self.unrated

    @cached_property
    def _steps(self) -> Steps:
        """The posterior of the share in the test set."""
        parts, seen = self._mixture, self._answers
        left = self.unrated + seen.unanswered
        known = 0 if self.gold_from == "calibration" else seen.gold_ones
        mass = np.zeros(parts.weights.size + left)
        for at, weight in enumerate(parts.weights):
            if weight > 0:
                s = parts.first + at
                mass[at : at + left + 1] += weight * urn(
                    parts.a0 + s, parts.b0 + parts.total - s, left
                )
        return Steps((known + parts.first + np.arange(mass.size)) / self.size, mass)

    @property
    def laws(self) -> list[Curve | Steps]:
        """What comparisons go by."""
        return [self._curve] if self.target == "process" else [self._steps]

    @cached_property
    def _moments(self) -> tuple[float, float]:
        if self.target == "process":
            return self._mixture.moments()
        values, mass = self._steps
        mean = float(mass @ values)
        return mean, float(mass @ (values - mean) ** 2)

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of the target."""
        return np.asarray(self._moments[0])

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviation of the target."""
        return np.asarray(np.sqrt(self._moments[1]))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P(target ≤ x)."""
        at = np.asarray(x, dtype=np.float64)
        if self.target == "process":
            return self._curve.cdf(at)
        found = np.searchsorted(self._steps.values, at + 1e-12, side="right")
        return np.append(0.0, self._steps.below)[found]

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Where the CDF reaches ``p``."""
        chances = check_chances(p)
        if self.target == "process":
            return self._curve.quantile(chances)
        at = np.searchsorted(self._steps.below, chances - 1e-13)
        return self._steps.values[np.minimum(at, self._steps.values.size - 1)]

    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval:
        """Credible interval: equal tails, or ``kind="hdi"``, the shortest (of the process)."""
        tail = 0.5 - 0.5 * check_confidence(confidence)
        choices = ("equal", "hdi") if self.target == "process" else ("equal",)
        if check_choice("kind", kind, choices) == "equal":
            low, high = self.quantile([tail, 1 - tail])
        else:
            low, high = np.asarray(shortest(self._curve, confidence))
        return Interval(np.asarray(low), np.asarray(high))

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Draws of the target: (size,)."""
        generator = as_rng(rng)
        if self.target == "pool":
            mass = self._steps.mass
            return generator.choice(self._steps.values, size, p=mass / mass.sum())
        parts = self._mixture
        s = parts.first + generator.choice(parts.weights.size, size, p=parts.weights)
        return generator.beta(parts.a0 + s, parts.b0 + parts.total - s)

    @property
    def rates(self) -> FloatArray:
        """Draws of the raters' rates from their joint posterior: (draws, raters, 2), ρ and η."""
        raters = len(self._answers.names)
        return np.moveaxis(self._run[0].rates.reshape(-1, 2, raters), 1, 2)

    def raters(self, confidence: float = 0.95) -> pd.DataFrame:
        """A row for each rater: answers given; mean, sd and credible interval of ρ and of η."""
        tail = 0.5 - 0.5 * check_confidence(confidence)
        frame = {"rater": self._answers.names, "answers": self._answers.answered}
        for at, name in enumerate(("rho", "eta")):
            drawn = self.rates[..., at]
            low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
            frame |= {name: drawn.mean(0), f"{name}_sd": drawn.std(0)}
            frame |= {f"{name}_low": low, f"{name}_high": high}
        return pd.DataFrame(frame)

    @cached_property
    def adequate(self) -> FloatArray:
        """P(adequate) of each item, in order; 0 or 1 of gold items."""
        seen = self._answers
        found = np.full(seen.which.size, self._mixture.moments()[0])  # right for the unrated
        rated = seen.which >= 0
        found[rated] = self._run[0].chance[0, seen.which[rated]]
        return np.where(np.isfinite(seen.gold), seen.gold, found)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        found = []
        if not np.isfinite(self._answers.gold).any() and self._answers.most < 3:
            found.append(_NOT_IDENTIFIED)
        if len(self._answers.names) > self._answers.which.size:
            found.append(
                f"{len(self._answers.names)} raters and {self._answers.which.size} items: is the "
                "table turned? Rows are items, columns are raters"
            )
        if self.rhat > MET:
            found.append(
                f"the chains have not met after {self.sweeps} sweeps: R-hat is {self.rhat:.3f}, "
                f"and they are worth {self.ess:.0f} independent draws; the answers tell little, so "
                "have more of them, or gold items"
            )
        return tuple(found)

    def summary(self, confidence: float = 0.95) -> str:
        """A few lines for people."""
        lines = [super().summary(confidence), *(f"note: {note}" for note in self.notes)]
        return "\n".join(lines)

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The posterior in plain numbers, for JSON."""
        return {
            **super().to_dict(confidence),
            "target": self.target,
            "raters": self.raters(confidence).to_dict(orient="records"),
            "rhat": self.rhat,
            "ess": self.ess,
            "notes": list(self.notes),
        }

    @property
    def _source(self) -> str:
        seen = self._answers
        gold = int(np.isfinite(seen.gold).sum())
        lines = [
            f"from {int(seen.answered.sum())} answers of {len(seen.names)} raters to "
            f"{int(seen.counts.sum()) + gold} items, {gold} of them gold",
            f"R-hat {self.rhat:.3f}, {self.ess:.0f} effective draws",
        ]
        if self.target == "pool":
            lines.insert(0, f"of the {self.size} items of this test set")
        return "\n".join(lines)
