"""Several raters who make mistakes: the success rate, and the accuracy of each rater."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit

from fewgold.bayes.counts import read_labels
from fewgold.bayes.density import Curve, Panels
from fewgold.bayes.mixture import Mixture, beta_binomial
from fewgold.bayes.posterior import Posterior, Steps
from fewgold.bayes.priors import RaterPriors
from fewgold.common.arrays import BoolArray, FloatArray, IntArray, RNGLike, as_rng
from fewgold.common.checks import as_names, check_choice, check_confidence, check_count
from fewgold.common.text import counted
from fewgold.cut import Cut
from fewgold.errors import DataError, FewgoldError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class AnswerPatterns:
    """Answers of raters to items, grouped into patterns.

    Parameters
    ----------
    names
        The raters, the metric last.
    humans
        How many of them are human.
    patterns
        (P, R) distinct rows of answers to items of unknown class; NaN for no answer.
    counts
        (P,) number of items with each pattern.
    which
        (n,) pattern of each item; −1 for gold items and −2 for items without any answer.
    gold
        (n,) class of the gold items, NaN for the others.
    cells
        (4, R) answers to gold items: hits and misses of the adequate, hits and misses of the
        inadequate.
    answered
        (R,) answers of each rater, gold included.
    """

    names: tuple[str, ...]
    humans: int
    patterns: FloatArray
    counts: IntArray
    which: IntArray
    gold: FloatArray
    cells: IntArray
    answered: IntArray

    @property
    def gold_ones(self) -> int:
        return int((self.gold == 1).sum())

    @property
    def gold_zeros(self) -> int:
        return int((self.gold == 0).sum())


class Health(NamedTuple):
    """Split R-hat and effective number of draws of each quantity."""

    rhat: FloatArray
    ess: FloatArray


def health(draws: FloatArray) -> Health:
    """R-hat and effective draws of chains (..., C, T), as Gelman et al. (2013, section 11.4–5).

    Each chain is halved. Autocorrelations are summed in pairs while these are positive and
    decreasing (Geyer 1992).
    """
    half = draws.shape[-1] // 2
    x = np.concatenate([draws[..., :half], draws[..., half : 2 * half]], axis=-2)
    means = x.mean(-1)
    within = x.var(-1, ddof=1).mean(-1)
    pooled = (half - 1) / half * within + means.var(-1, ddof=1)
    flat = pooled <= 0  # all draws are equal
    safe = np.where(flat, 1.0, pooled)
    rhat = np.sqrt(np.where(flat, 1.0, safe / np.where(within > 0, within, np.nan)))
    spectrum = np.fft.rfft(x - means[..., None], 2 * half)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2)[..., :half].mean(-2) / half
    correlation = 1 - (within[..., None] - covariance) / safe[..., None]
    pairs = correlation[..., : half // 2 * 2].reshape(*correlation.shape[:-1], -1, 2).sum(-1)
    pairs = np.where(np.logical_and.accumulate(pairs > 0, axis=-1), pairs, 0.0)
    pairs[..., 0] = np.maximum(pairs[..., 0], 1.0)
    time = 2 * np.minimum.accumulate(pairs, axis=-1).sum(-1) - 1
    count = float(x.shape[-2] * half)
    return Health(np.nan_to_num(rhat, nan=np.inf), np.where(flat, count, count / time))


# Gibbs sampling of raters' hit rates and of the number of adequate items, by pattern ---
#
# Given the rates, items with the same answers are adequate independently with the same probability,
# so their number is binomial. Given those numbers all rates are Beta. A sweep needs one draw per
# pattern, not per item. Many chains run in parallel.
#
# Rates are kept above chance on average over the human raters: a draw from the Betas that violates
# this is rejected and the last one kept, a Metropolis step whose target is the truncated prior.

_EDGE = 1e-12  # no rate is closer to 0 or 1, where logarithms diverge


@dataclass(frozen=True, eq=False)
class Model:
    """A batch of B studies with the same P patterns of R raters.

    Parameters
    ----------
    patterns
        (P, R) answers, NaN for no answer.
    counts
        (B, P) number of items with each pattern.
    a, b
        (B, 1 + 2R) shapes of the Betas of α, and of ρ and η of each rater, including gold items.
    humans
        This many raters, the first ones, are better than chance on average; 0 for no constraint.
    """

    patterns: FloatArray
    counts: IntArray
    a: FloatArray
    b: FloatArray
    humans: int

    @property
    def raters(self) -> int:
        return int(self.patterns.shape[-1])

    def allowed(self, theta: FloatArray) -> BoolArray:
        """Whether Σ(ρ + η) of the human raters exceeds their number."""
        r, h = self.raters, self.humans
        total = theta[..., 1 : 1 + h].sum(-1) + theta[..., 1 + r : 1 + r + h].sum(-1)
        return np.asarray((total > h) | (h == 0))

    def start(self, chains: int, rng: np.random.Generator) -> FloatArray:
        """Rates from the prior: (B, chains, 1 + 2R)."""
        size = (self.counts.shape[0], chains, self.a.shape[-1])
        betas = self.a[:, None], self.b[:, None], size
        theta = rng.beta(*betas)
        for _ in range(100):
            bad = ~self.allowed(theta)
            if not bad.any():
                break
            theta = np.where(bad[..., None], rng.beta(*betas), theta)
        # If the prior or the gold items put raters far below chance, start at the boundary.
        theta[..., 1:] = np.where(self.allowed(theta)[..., None], theta[..., 1:], 0.5 + 1e-6)
        return np.clip(theta, _EDGE, 1 - _EDGE)


class ChainDraws(NamedTuple):
    """Draws of T sweeps: numbers of adequate items, rates, and P(adequate) by pattern."""

    adequate: IntArray
    rates: FloatArray
    chance: FloatArray


def sweep(
    model: Model, theta: FloatArray, length: int, rng: np.random.Generator
) -> tuple[FloatArray, ChainDraws]:
    """Run ``length`` sweeps from ``theta`` (B, C, 1 + 2R): the last rates, and the draws."""
    r = model.raters
    one, zero = (np.asarray(v == model.patterns.T, dtype=np.float64) for v in (1, 0))
    counts = model.counts[:, None, :]
    a, b = model.a[:, None], model.b[:, None]
    studies, chains = theta.shape[:2]
    adequate = np.empty((studies, chains, length), dtype=np.int64)
    rates = np.empty((studies, chains, length, 2 * r))
    chance = np.zeros((studies, chains, counts.shape[-1]))
    up, down = np.empty_like(theta), np.empty_like(theta)
    for t in range(length):
        right, wrong = np.log(theta), np.log1p(-theta)
        odds = (
            (right[..., :1] - wrong[..., :1])
            + (right[..., 1 : 1 + r] - wrong[..., 1 + r :]) @ one
            + (wrong[..., 1 : 1 + r] - right[..., 1 + r :]) @ zero
        )
        share = expit(odds)
        chance += share
        hits = rng.binomial(counts, share)
        rest = counts - hits
        up[..., 0], down[..., 0] = hits.sum(-1), rest.sum(-1)
        up[..., 1 : 1 + r], down[..., 1 : 1 + r] = hits @ one.T, hits @ zero.T
        up[..., 1 + r :], down[..., 1 + r :] = rest @ zero.T, rest @ one.T
        new = np.clip(rng.beta(a + up, b + down), _EDGE, 1 - _EDGE)
        kept = ~model.allowed(new)
        if kept.any():
            new[kept, 1:] = theta[kept, 1:]
        theta = new
        adequate[..., t] = up[..., 0]
        rates[..., t, :] = theta[..., 1:]
    return theta, ChainDraws(adequate, rates, chance.mean(1) / length)


#: Chains have converged if R-hat is at most this (Vehtari et al. 2021).
MET = 1.01
_LEAST = 400
_LONGEST = 32_000
_MEMORY = 40_000_000  # number of rates kept


def run(
    model: Model, *, effective: int, seed: int, chains: int = 16, first: int = 500
) -> tuple[ChainDraws, Health, int]:
    """Run sweeps, doubled until every R-hat is at most 1.01 with enough effective draws.

    Enough means ``effective`` draws of the number of adequate items, and 400 of each rate. Returns
    the draws of the last half of all sweeps, their diagnostics, (B, 1 + 2R) each, and the number of
    sweeps: at most 32,000, or fewer if that would exhaust memory, as with very many raters.
    """
    rng = np.random.default_rng(seed)
    longest = min(_LONGEST, _MEMORY // (model.counts.shape[0] * chains * 2 * model.raters))
    theta, _ = sweep(model, model.start(chains, rng), first, rng)
    length = first
    while True:
        theta, draws = sweep(model, theta, length, rng)
        rates = np.moveaxis(draws.rates, -1, 1)
        found = health(np.concatenate([draws.adequate[:, None].astype(np.float64), rates], axis=1))
        enough = np.all(found.ess[:, 0] >= effective) and np.all(found.ess >= _LEAST)
        if (enough and np.all(found.rhat <= MET)) or 2 * length > longest // 2:
            return draws, found, 2 * length
        length *= 2


def read_answers(labels: Any, gold: ArrayLike | None, metric: ArrayLike | None) -> AnswerPatterns:
    """Check the labels and count them."""
    table = _numbers("labels", labels)
    if table.ndim != 2:
        raise DataError(
            f"labels must be a table of items × raters; got an array of shape {table.shape}. "
            "Put the answers of each rater into a column, NaN for no answer."
        )
    n, humans = table.shape
    names = tuple(f"rater {k + 1}" for k in range(humans))
    if isinstance(labels, pd.DataFrame):
        names = tuple(str(name) for name in labels.columns)
    if metric is not None:
        columns: dict[str, Any]
        if isinstance(metric, pd.DataFrame):
            columns = {str(name): metric[name] for name in metric.columns}
        else:
            columns = {"metric": metric}
        more = [_column(name, values, n) for name, values in columns.items()]
        table, names = np.column_stack([table, *more]), (*names, *columns)
    if not table.shape[1]:
        raise DataError("labels has no column; give a column for each rater.")
    known = np.full(n, np.nan) if gold is None else _column("gold", gold, n)
    expert, answers = np.isfinite(known), np.isfinite(table)
    if not answers.any() and not expert.any():
        raise DataError("labels contain no answer; give 0 or 1 where a rater answered.")
    open_ = ~expert & answers.any(-1)
    which = np.where(expert, -1, -2)
    patterns, inverse, counts = np.unique(
        np.where(answers, table, -1.0)[open_], axis=0, return_inverse=True, return_counts=True
    )
    which[open_] = inverse.reshape(-1)
    # How often each rater gave an answer to the gold items of a class.
    cells = [(table[known == c] == y).sum(0) for c, y in ((1, 1), (1, 0), (0, 0), (0, 1))]
    patterns = np.where(patterns < 0, np.nan, patterns)
    given = answers.sum(0)
    return AnswerPatterns(names, humans, patterns, counts, which, known, np.stack(cells), given)


def _numbers(name: str, values: Any) -> FloatArray:
    """Labels as 0, 1 and NaN."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{name} must be 0, 1, or NaN where there is no answer; got something else, such as "
            "words or rows of unequal lengths."
        ) from None
    bad = ~(np.isnan(array) | (array == 0) | (array == 1))
    if bad.any():
        raise DataError(
            f"{name} must be 0, 1, or NaN where there is no answer; got {array[bad].flat[0]:g}. "
            "Cut scores at a threshold first."
        )
    return array


def _column(name: str, values: ArrayLike, n: int) -> FloatArray:
    column = _numbers(name, values)
    if column.shape != (n,):
        raise DataError(
            f"{name} must have one label for each of the {n} items of labels, NaN for no "
            f"answer; got shape {column.shape}."
        )
    return column


@dataclass(frozen=True, eq=False, repr=False)
class RaterPosterior(Posterior):
    """Posterior of the success rate from raters who make mistakes, without a gold standard.

    Each item is adequate with chance α. Rater r says 1 to an adequate item with chance ρ_r and 0 to
    an inadequate one with chance η_r, **independently of the others given the class** (Dawid and
    Skene 1979). Items that are hard for all raters violate this, and make intervals too narrow.

    Parameters
    ----------
    labels
        (items, raters) of 0 and 1, NaN if a rater has not rated an item; an array, or a dataframe
        whose columns are named after the raters. Rows without any answer are unrated items.
    gold
        (items,) class of the items if it is known, from an expert, and NaN otherwise.
    metric
        (items,) labels of a metric for all or some items, treated as one more rater; or a dataframe
        with one column per metric.
    target
        ``"process"``: α of the process that made the items. ``"pool"``: the share of adequate items
        in this test set.
    unrated
        Number of further items of the test set that nobody rated; for the pool.
    gold_from
        ``"sample"``: the gold items are part of the test set and a random sample like the others.
        ``"picked"``: they are part of it, but were picked by class; they inform about raters, and
        their own class is known. ``"calibration"``: they come from elsewhere.
    priors
        Beta priors of α and of the raters' rates.
    above_chance
        Restrict the prior to human raters who are right more often than wrong on average (mean of ρ
        + η above 1). Without this, only the priors say which class is the adequate one.
    effective
        How many independent draws of α the chains should be worth.
    seed
        Random seed of the chains; the same seed gives the same numbers.

    Notes
    -----
    Uses Gibbs sampling with 16 chains, doubled in length until the worst R-hat is at most 1.01 (or
    for 32,000 sweeps, which `notes` then reports). α given the number s of adequate items is a
    Beta, so its posterior is a mixture of Betas whose weights are the shares of the draws: mean and
    density are smooth. With the default of 2,000 effective draws the mean is exact to about 0.02
    posterior sd and ends of 95 % intervals to about 0.06.

    With two raters and no gold α is not identified: three numbers are observed for five unknown
    rates. Then the interval is wide, and its location depends strongly on the priors.

    References
    ----------
    Dawid and Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
    algorithm. von Däniken et al. (2022) use the same model with one rater, the metric.

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
    _answers: AnswerPatterns = field(init=False, repr=False)
    shape = ()

    def __post_init__(self) -> None:
        check_choice("target", self.target, ("process", "pool"))
        check_choice("gold_from", self.gold_from, ("sample", "picked", "calibration"))
        if self.gold_from == "picked" and tuple(self.priors.alpha) != (1.0, 1.0):
            raise FewgoldError(
                f"gold_from='picked' needs a uniform prior of alpha; got {self.priors.alpha!r}."
            )
        check_count("unrated", self.unrated, 0)
        check_count("effective", self.effective, 100)
        object.__setattr__(self, "_answers", read_answers(self.labels, self.gold, self.metric))

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        raters: Sequence[str] = (),
        rater: str | None = None,
        item: str | None = None,
        answer: str | None = None,
        gold: str | None = None,
        metrics: Sequence[str] = (),
        adequate: Cut | str | None = None,
        threshold: Cut | str | None = None,
        **more: Any,
    ) -> RaterPosterior:
        """Build the posterior from a table of verdicts: 0 and 1, pass and fail, or scores to cut.

        Parameters
        ----------
        frame
            One row per item with a column for each of the ``raters``; or one row per answer, with
            the columns ``rater``, ``item`` and ``answer``. Empty cells mean no answer.
        raters, rater, item, answer
            Columns, as above.
        gold, metrics
            Columns of the known class and of metrics or judges. With one row per answer the first
            value of each item counts.
        adequate, threshold
            Which scores of people, and of metrics, count as 1, such as ``">= 4"``.
        **more
            As for the class.

        Examples
        --------
        >>> frame = pd.DataFrame(
        ...     {"ann": ["pass", "fail", "pass"] * 30, "bob": ["yes", "no", None] * 30,
        ...      "cy": [1, 0, 1] * 30}
        ... )
        >>> posterior = RaterPosterior.from_frame(frame, raters=["ann", "bob", "cy"])
        >>> posterior.raters()[["rater", "answers"]].to_dict("list")
        {'rater': ['ann', 'bob', 'cy'], 'answers': [90, 60, 90]}
        """
        raters, metrics = as_names(raters), as_names(metrics)
        if rater is not None:
            if item is None or answer is None:
                raise FewgoldError("one row per answer needs three columns: rater, item, answer.")
            for name in (rater, item):
                if name not in frame.columns:
                    raise UnknownNameError("column", name, map(str, frame.columns))
            frame = frame.assign(**{answer: read_labels(frame, answer, adequate)})
            twice = frame.duplicated([item, rater])
            if twice.any():
                where = frame.loc[twice, [item, rater]].iloc[0].tolist()
                raise DataError(
                    f"{where[1]} answered {where[0]} several times "
                    f"({counted(int(twice.sum()), 'extra row')}). Keep one answer for each rater "
                    "and item."
                )
            labels = frame.pivot(index=item, columns=rater, values=answer)
            beside = [name for name in (gold, *metrics) if name is not None]
            for name in beside:
                if name not in frame.columns:
                    raise UnknownNameError("column", name, map(str, frame.columns))
            whole = frame.groupby(item)[beside].first().reindex(labels.index) if beside else labels
        else:
            if not raters:
                raise FewgoldError("name one column per rater, or the one that says who rated.")
            labels = pd.DataFrame({name: read_labels(frame, name, adequate) for name in raters})
            whole = frame
        judged = {name: read_labels(whole, name, threshold, "threshold") for name in metrics}
        return cls(
            labels, gold=None if gold is None else read_labels(whole, gold, adequate),
            metric=pd.DataFrame(judged) if judged else None, **more,
        )  # fmt: skip

    @property
    def _about(self) -> str:
        return f", {len(self._answers.names)} raters, {self._answers.which.size} items"

    @cached_property
    def _model(self) -> Model:
        """The model that the chains sample from."""
        seen = self._answers
        a, b = self.priors._shapes(seen.humans, len(seen.names) - seen.humans)
        hit, miss, passed, failed = seen.cells
        rate = (seen.gold_ones, seen.gold_zeros) if self.gold_from == "sample" else (0, 0)
        a, b = a + np.r_[rate[0], hit, passed], b + np.r_[rate[1], miss, failed]
        humans = seen.humans if self.above_chance else 0
        return Model(seen.patterns, seen.counts[None], a[None], b[None], humans)

    @cached_property
    def _run(self) -> tuple[ChainDraws, Health, int]:
        return run(self._model, effective=self.effective, seed=self.seed)

    @property
    def _rhat(self) -> float:
        """Worst R-hat over α and all rates: 1 where the chains have converged."""
        return float(self._run[1].rhat.max())

    @property
    def _ess(self) -> float:
        """How many independent draws of α the chains are worth."""
        return float(self._run[1].ess[0, 0])

    @cached_property
    def _mixture(self) -> Mixture:
        """The posterior of α: Betas, weighted by the draws of the number of adequate items."""
        adequate = self._run[0].adequate
        first = int(adequate.min())
        weights = np.bincount(adequate.ravel() - first) / adequate.size
        a, b = float(self._model.a[0, 0]), float(self._model.b[0, 0])
        if self.gold_from == "picked":
            # Every number of adequate items is equally likely a priori, also among the items that
            # were not picked; together with the picked ones they are a sample of the process.
            a, b = a + self._answers.gold_ones, b + self._answers.gold_zeros
        return Mixture(first, weights, a, b, float(self._model.counts.sum()))

    @property
    def _size(self) -> int:
        """Items of the test set, rated or not, including gold ones unless used for calibration."""
        gold = int(np.isfinite(self._answers.gold).sum())
        outside = gold if self.gold_from == "calibration" else 0
        return self._answers.which.size - outside + self.unrated

    @cached_property
    def _steps(self) -> Steps:
        """The posterior of the share in the test set."""
        parts, seen = self._mixture, self._answers
        left = self.unrated + int((seen.which == -2).sum())
        known = 0 if self.gold_from == "calibration" else seen.gold_ones
        mass = np.zeros(parts.weights.size + left)
        for at, weight in enumerate(parts.weights):
            if weight > 0:
                s = parts.first + at
                a, b = np.array([parts.a0 + s]), np.array([parts.b0 + parts.total - s])
                mass[at : at + left + 1] += weight * beta_binomial(a, b, left)[0]
        return Steps((known + parts.first + np.arange(mass.size)) / self._size, mass)

    @cached_property
    def _distributions(self) -> list[Curve | Steps]:
        if self.target == "process":
            return [Panels.fit(self._mixture.log_density)]
        return [self._steps]

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        if self.target == "process":
            mean, variance = self._mixture.moments()
        else:
            values, mass = self._steps
            mean = float(mass @ values)
            variance = float(mass @ (values - mean) ** 2)
        return np.asarray(mean), np.sqrt(variance)

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Draws of the target: (size,)."""
        if self.target == "pool":
            return super().sample(size, rng=rng)
        generator, parts = as_rng(rng), self._mixture
        s = parts.first + generator.choice(parts.weights.size, size, p=parts.weights)
        return np.asarray(generator.beta(parts.a0 + s, parts.b0 + parts.total - s))

    @property
    def _rates(self) -> FloatArray:
        """Draws of the raters' rates from their joint posterior: (draws, raters, 2), ρ and η."""
        raters = len(self._answers.names)
        return np.moveaxis(self._run[0].rates.reshape(-1, 2, raters), 1, 2)

    def raters(self, confidence: float = 0.95) -> pd.DataFrame:
        """One row per rater: answers given; mean, sd and credible interval of ρ and of η."""
        tail = 0.5 - 0.5 * check_confidence(confidence)
        frame = {"rater": self._answers.names, "answers": self._answers.answered}
        for at, name in enumerate(("rho", "eta")):
            drawn = self._rates[..., at]
            low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
            frame |= {name: drawn.mean(0), f"{name}_sd": drawn.std(0)}
            frame |= {f"{name}_low": low, f"{name}_high": high}
        return pd.DataFrame(frame)

    def plot_raters(self, ax: Axes | None = None, *, confidence: float = 0.95) -> Axes:
        """Plot ρ and η of each rater, with credible intervals."""
        from fewgold.plots import forest

        table = self.raters(confidence)
        frame = pd.DataFrame(
            {
                "system": f"{row['rater']} {sign}", "score": row[name],
                "low": row[f"{name}_low"], "high": row[f"{name}_high"], "group": k,
            }
            for k, row in enumerate(table.to_dict("records"))
            for name, sign in (("rho", "ρ"), ("eta", "η"))
        )  # fmt: skip
        return forest(frame, ax, label="probability of being right", confidence=confidence)

    @cached_property
    def adequate(self) -> FloatArray:
        """P(adequate) for each item, in order; 0 or 1 for gold items."""
        seen = self._answers
        found = np.full(seen.which.size, self._mixture.moments()[0])  # right for the unrated
        rated = seen.which >= 0
        found[rated] = self._run[0].chance[0, seen.which[rated]]
        return np.where(np.isfinite(seen.gold), seen.gold, found)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that a reader must know."""
        found = []
        seen = self._answers
        most = np.isfinite(seen.patterns).sum(-1).max(initial=0)  # answers to one item
        if not np.isfinite(seen.gold).any() and most < 3:
            found.append(
                "no item has three answers and there is no gold: the answers alone cannot "
                "separate α from the raters' errors, so the interval depends on the priors; add a "
                "third rater, or gold items"
            )
        if len(seen.names) > seen.which.size:
            found.append(
                f"{len(seen.names)} raters and {seen.which.size} items: is the table transposed? "
                "Rows "
                "are items, columns are raters"
            )
        if self._rhat > MET:
            found.append(
                f"the chains have not converged after {self._run[2]} sweeps: R-hat is "
                f"{self._rhat:.3f}, and they are worth {self._ess:.0f} independent draws; the "
                "answers carry little information, so collect more of them, or gold items"
            )
        return tuple(found)

    def summary(self, confidence: float = 0.95) -> str:
        """A readable summary of a few lines."""
        return "\n".join([super().summary(confidence), *(f"note: {n}" for n in self.notes)])

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The posterior in plain numbers, for JSON."""
        return {
            **super().to_dict(confidence), "target": self.target,
            "raters": self.raters(confidence).to_dict(orient="records"),
            "rhat": self._rhat, "ess": self._ess, "notes": list(self.notes),
        }  # fmt: skip

    @property
    def _source(self) -> str:
        seen = self._answers
        gold = int(np.isfinite(seen.gold).sum())
        of = f"of the {self._size} items of this test set\n" if self.target == "pool" else ""
        return (
            f"{of}from {int(seen.answered.sum())} answers of {len(seen.names)} raters to "
            f"{int(seen.counts.sum()) + gold} items, {gold} of them gold\n"
            f"R-hat {self._rhat:.3f}, {self._ess:.0f} effective draws"
        )
