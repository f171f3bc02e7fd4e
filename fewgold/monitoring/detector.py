"""Alarms that are valid at every look: evidence of a score below a reference.

Batch t gives an e-value L_t: given the past, its mean is at most 1 as long as the score of the
batch is not worse than the reference. At batch t, the evidence that scores became worse with
batch j is Π L_i over i = j … t. Since j is unknown, all j are combined with weights,

    M_t = Σ_{j ≤ t} w_j Π_{i=j..t} L_i = (M_{t−1} + w_t) L_t.

With weights that sum to 1, M_t plus the weight not yet used has a mean of at most 1 and is a
nonnegative supermartingale, so the chance that M ever reaches 1/α is at most α (Ville 1939). With
w_j = 1 for all j this is the Shiryaev-Roberts detector: M_t − t is a supermartingale, and the
mean number of looks until M first reaches A without a change is at least A (Shin, Ramdas and
Rinaldo 2024, E-detectors). L_t may use anything that was known before the batch was rated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold.bounds.betting import CAP, WEIGHT, capital_factors, running_variance
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import check_count
from fewgold.errors import FewgoldError

#: The share of the false alarm rate reserved for the uncertainty of the baseline.
BASELINE_SHARE = 0.5
# Number of ratings that the variance of earlier batches is worth in the bets of a batch.
_MEMORY = 20.0


@dataclass(frozen=True)
class FalseAlarms:
    """How rare false alarms must be.

    Parameters
    ----------
    rate
        The chance of any false alarm; not used with ``average_run``.
    looks
        Expected number of looks, over which the weight of possible changes is spread evenly. The
        rate also holds for more looks, but a change that begins later is found late. None weighs
        look j by 1/(j (j + 1)), with no end.
    average_run
        Instead of a rate: the smallest mean number of looks until a false alarm.
    """

    rate: float = 0.05
    looks: int | None = 200
    average_run: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise FewgoldError(
                f"the rate of false alarms must be between 0 and 1, such as 0.05; got {self.rate}."
            )
        if self.looks is not None:
            check_count("looks", self.looks)
        if self.average_run is not None and not self.average_run > 1:
            raise FewgoldError(
                f"the average run must be a number of looks above 1; got {self.average_run}."
            )

    def weights(self, count: int) -> FloatArray:
        """Weight of a change that begins at each look."""
        j = np.arange(1, count + 1, dtype=np.float64)
        if self.average_run is not None:
            return np.ones(count)
        if self.looks is None:
            return np.asarray(1 / (j * (j + 1)))
        return np.where(j <= self.looks, 1 / self.looks, 0.0)

    def log_threshold(self, baseline: bool) -> float:
        """Logarithm of the evidence that triggers an alarm.

        If the reference is estimated, part of the rate is reserved for its error.
        """
        if self.average_run is not None:
            return float(np.log(self.average_run))
        return float(-np.log(self.rate * (1 - BASELINE_SHARE if baseline else 1)))

    @property
    def baseline_rate(self) -> float:
        """The chance that an estimated reference is too strict."""
        return self.rate * BASELINE_SHARE

    def promise(self, baseline: bool) -> str:
        """What is guaranteed, in words."""
        if self.average_run is not None:
            given = (
                f", unless the bound of the baseline is wrong (a chance of {self.baseline_rate:g})"
                if baseline
                else ""
            )
            return f"on average at least {self.average_run:g} looks until a false alarm{given}"
        return f"the chance of any false alarm, however often you look, is at most {self.rate:g}"


def log_evidence(log_e: FloatArray, weights: FloatArray) -> FloatArray:
    """log M_t, from the logarithms of the e-values of the batches: (..., T)."""
    out = np.empty(np.shape(log_e))
    with np.errstate(divide="ignore"):
        start = np.log(weights)
    before = np.full(np.shape(log_e)[:-1], -np.inf)
    for t in range(np.shape(log_e)[-1]):
        before = np.logaddexp(before, start[t])
        bare = np.isneginf(before)  # no weight: not even certain evidence counts
        before = np.where(bare, before, np.where(bare, 0.0, before) + log_e[..., t])
        out[..., t] = before
    return out


def likely_start(log_e: FloatArray, weights: FloatArray, at: int) -> int:
    """The look at which the change most likely began, as judged at look ``at`` (both from 0)."""
    after = np.cumsum(log_e[: at + 1][::-1])[::-1]
    with np.errstate(divide="ignore"):
        return int(np.argmax(np.log(weights[: at + 1]) + after))


def normal_e(
    gap: FloatArray, drop: FloatArray | float, expected: FloatArray, own: FloatArray
) -> FloatArray:
    """Logarithms of the e-values of approximately normal batch estimates: (...).

    ``gap`` is how much worse the estimate is than the reference. The bet λ = drop/σ² is tuned to
    a drop of that size, where σ² is the variance expected from earlier batches. Then exp(λ gap −
    λ² (2σ² + s²)/6), where s² is the variance observed in the batch, has a mean of at most 1 if
    σ² is right (Delyon 2009, proposition 12). For skewed scores this mean is much closer to 1
    than with either variance alone, because the third moments cancel. If there is no sampling
    error (``expected`` is 0), a gap is certain, unless it is a rounding error.
    """
    sure = expected <= 0
    variance = np.where(sure, 1.0, expected)
    bet = drop / variance
    made = bet * gap - np.square(bet) * (2 * variance + own) / 6
    return np.asarray(np.where(sure, np.where(gap > 1e-9 * drop, np.inf, 0.0), made))


def log_evidence_before(
    values: FloatArray,
    expected: FloatArray,
    own: FloatArray,
    drop: float,
    weights: FloatArray,
    relative: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Evidence that some batch is worse than earlier ones: (..., T), and its parts (..., T, T).

    The level is unknown. Batch t is compared with the weighted mean m of all earlier batches,
    whose variance is 1/W, where W is the sum of their 1/σ². If a drop began with batch j, the
    batches before j make up the share W_j/W of m, so batch t is expected to be drop · W_j/W
    lower: that is the bet. If scores never fall, these gaps have means of at most 0 and are
    uncorrelated, and each factor is that of `normal_e`. With equal scores and known variances the
    product is the likelihood ratio of a drop at j with the level integrated out.

    Part j of look t is the logarithm of the product from j to t. ``values`` are oriented so that
    larger is better; ``weights`` (T,) are the weights of the possible beginnings, 0 for the first
    batch. ``relative`` are variances up to a common factor, by default ``expected``: weights by
    estimated variances would make m look more precise than it is.
    """
    count = values.shape[-1]
    base = expected if relative is None else relative
    floor = max(1e-9 * float(base.max()), 1e-90)  # batches known exactly
    precision = 1 / np.maximum(base, floor)
    total = np.cumsum(precision, axis=-1)
    before = np.concatenate([np.zeros((*values.shape[:-1], 1)), total[..., :-1]], axis=-1)
    sums = np.cumsum(precision * values, axis=-1)
    mean = np.zeros(values.shape)
    mean[..., 1:] = sums[..., :-1] / before[..., 1:]
    level = np.zeros(values.shape)
    level[..., 1:] = 1 / before[..., 1:]
    level[level <= floor] = 0.0
    level *= expected / np.maximum(base, floor)
    parts = np.full((*values.shape, count), -np.inf)
    for j in range(1, count):
        share = before[..., j : j + 1] / before[..., j:]
        gap = (mean - values)[..., j:]
        made = normal_e(gap, drop * share, (expected + level)[..., j:], (own + level)[..., j:])
        parts[..., j, j:] = np.cumsum(made, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weighed = np.where(weights[:, None] > 0, parts + np.log(weights)[:, None], -np.inf)
    return np.logaddexp.reduce(weighed, axis=-2), parts


def betting_e(
    scores: FloatArray,
    size: int,
    reference: float,
    drop: float,
    control: tuple[FloatArray, FloatArray, FloatArray] | None = None,
    variance: float | None = None,
) -> float:
    """Logarithm of the e-value of one batch: a bet that its mean is above ``reference``.

    Guaranteed for scores in [0, 1] of a simple random sample in random order, from a batch of
    ``size``: given the past, rating t is drawn at random from the remaining segments, whose mean
    is at most (N m − x_1 − … − x_{t−1})/(N − t + 1) if that of the batch is at most m (the
    martingale of `fewgold.bounds.betting`). The bet is Kelly's for a mean that is higher by
    ``drop``.

    Parameters
    ----------
    scores
        (n,) between 0 and 1, larger is worse.
    control
        A predictable control variate with its smallest and largest value for each rating, from
        `fixed_control`.
    variance
        Variance of the ratings minus the control, expected from earlier batches.
    """
    n = scores.size
    if n == 0:
        return 0.0
    payoff, margin = scores, None
    if control is not None:
        told, _, most = control
        payoff, margin = scores - told, most
    guess, weight = (0.05, WEIGHT) if variance is None else (variance, _MEMORY)
    spread = running_variance(payoff[None], guess, weight)[0]
    left = size - np.arange(n, dtype=np.float64)
    seen = np.concatenate([[0.0], np.cumsum(scores)[:-1]])
    mean = np.maximum(size * reference - seen, 0.0) / left
    off = drop * size / left
    bets = off / (spread + np.square(off))
    factors = capital_factors(mean[None], payoff[None], None if margin is None else margin[None],
                              bets[None], CAP)  # fmt: skip
    return float(np.log(factors).sum())


def fixed_control(
    predicted: FloatArray, rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A control variate whose slope was fixed before the batch: its values, smallest and largest.

    The prediction minus the mean prediction of all segments not yet drawn: mean 0 given the past.
    """
    own = predicted[rows]
    before = np.concatenate([[0.0], np.cumsum(own)[:-1]])
    centre = (predicted.sum() - before) / (predicted.size - np.arange(own.size))
    return own - centre, predicted.min() - centre, predicted.max() - centre


def running_mean_halfwidth(errors: FloatArray, confidence: float, tightest: int = 10) -> FloatArray:
    """Half-widths around the running mean of the batches, valid at all looks together: (T,).

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024,
    theorem 2.2) for a mean that may change from batch to batch. It is tightest near look
    ``tightest``, judging by the error of the first batch.
    """
    variance = np.cumsum(np.square(errors))
    count = np.arange(1, errors.size + 1)
    alpha = 1 - confidence
    known = np.flatnonzero(np.isfinite(errors) & (errors > 0))
    if not known.size:
        return np.where(np.isfinite(variance), 0.0, np.inf)
    goal = tightest * float(errors[known[0]]) ** 2
    rho2 = (-2 * np.log(alpha) + np.log(1 - 2 * np.log(alpha))) / goal
    inside = variance * rho2 + 1
    return np.asarray(np.sqrt(inside / rho2 * np.log(inside / alpha**2)) / count)
