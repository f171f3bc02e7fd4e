"""The posterior of the success rate of this test set, a finite number of items.

Rated items are known; the only unknown is how many of the others are adequate. That number is s of
the mixture, and its posterior is given by the weights W_s. Under `CELLS`, a uniform prior on the
four cells of the 2 × 2 table, S(s) is constant and W is the convolution of BetaBinomial(u1; TP + 1,
FP + 1) and BetaBinomial(u0; FN + 1, TN + 1), with u1 and u0 the unrated items that the metric gave
1 and 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from scipy.special import betaln

from fewgold.bayes.counts import Counts
from fewgold.bayes.density import Curve, Panels
from fewgold.bayes.mixture import Mixture, Mixtures, Shapes, beta_binomial_rows, mixtures, shapes
from fewgold.bayes.posterior import AlphaPosterior, Posterior, Steps, check_chances
from fewgold.bayes.priors import Beta, Priors
from fewgold.bayes.quadrature import check_possible
from fewgold.common.arrays import FloatArray, IntArray
from fewgold.errors import FewgoldError

# From this many unrated items, with at most this share rated, a test set can be treated as the
# process.
_HUGE, _FEW_RATED = 5_000_000, 1e-3
#: A uniform prior over the four cells of the 2 × 2 table: uniform ρ and η, and α ~ Beta(2, 2).
CELLS = Priors(alpha=(2.0, 2.0))


@dataclass(frozen=True, eq=False, repr=False)
class PoolPosterior(Posterior):
    """Posterior of the share of adequate items in this test set, rated and unrated together.

    Counts that are arrays make a batch.

    Parameters
    ----------
    counts
        The metric-only items are the unrated rest of the test set. Items of a calibration set
        (``pairs="calibration"``) are not part of the test set.
    priors
        Uniform α, ρ and η by default. `CELLS`, uniform over the four cells of the 2 × 2 table, has
        α ~ Beta(2, 2), as if one more adequate and one more inadequate item had been seen: its
        intervals are too narrow if few items are adequate, or few are inadequate. Rates may also be
        known numbers.
    unrated
        Number of items rated neither by people nor by the metric; only for human ratings alone.
    known
        Items of the test set that were picked by class, such as a calibration set taken from it:
        their ``human_ones`` and ``human_total``. Their class is known, and the rest is not a random
        sample of the test set.

    Examples
    --------
    527 of 1002 items are rated, and the metric is right nine times out of ten:

    >>> counts = Counts(tp=284, fn=32, fp=21, tn=190, metric_ones=276, metric_total=475)
    >>> pool = PoolPosterior(counts)
    >>> float(pool.sd.round(4))
    0.009
    >>> print(pool.summary())
    0.6004 ± 0.0090 (posterior mean and sd)
    95% credible interval 0.5828 to 0.6178 (equal tails)
    of the 1002 items of this test set, 527 of them rated by humans
    """

    counts: Counts
    priors: Priors | None = None
    unrated: int = 0
    known: Counts = Counts()

    def __post_init__(self) -> None:
        mixed = np.any((self.counts.metric_total > 0) | (self.counts._paired_total > 0))
        if self.unrated and mixed:
            raise FewgoldError(
                "unrated= is for human ratings alone; with a metric the unrated items are those "
                "in metric_total."
            )
        if self.unrated < 0 or int(self.unrated) != self.unrated:
            raise FewgoldError(
                f"unrated must be a whole number of 0 or more; got {self.unrated!r}."
            )
        if np.any(self._size == 0):
            raise FewgoldError("the test set has no items; give counts, or unrated=.")
        if self._priors._known_rates is not None:
            check_possible(shapes(self.counts, self._priors), self._priors._known_rates)

    @property
    def _about(self) -> str:
        return f", {self.counts!r}"

    @property
    def _source(self) -> str:
        rated = int(self._rated)
        return f"of the {int(self._size)} items of this test set, {rated} of them rated by humans"

    @property
    def _priors(self) -> Priors:
        return self.priors or Priors()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.counts.shape

    @property
    def _rated(self) -> Any:
        """Items of the test set that humans rated."""
        return self.counts._adequate + self.counts._inadequate + self.known.human_total

    @property
    def _size(self) -> Any:
        """Items of the test set."""
        return self._rated + self.counts.metric_total + self.unrated

    def draw(self, k: Any) -> PoolPosterior:
        known = self.known.draw(k) if self.known.shape else self.known
        return PoolPosterior(self.counts.draw(k), self._priors, self.unrated, known)

    @cached_property
    def _distinct(self) -> tuple[Shapes, IntArray, IntArray, IntArray]:
        """Distinct shapes, sizes and known adequate items, and the index of each in the batch."""
        # After items were picked by class, the rest is not a sample of the test set. If every
        # number of adequate items is equally likely a priori, so is every number in the rest.
        priors = replace(self._priors, alpha=(1.0, 1.0)) if self._picked else self._priors
        table = shapes(self.counts, priors)
        columns = [*table, self._size, self.counts._adequate + self.known.human_ones]
        flat = np.stack([np.ravel(column).astype(np.float64) for column in columns], axis=-1)
        rows, where = np.unique(flat, axis=0, return_inverse=True)
        *fields, size, adequate = rows.T.copy()
        return Shapes(*fields), size.astype(np.int64), adequate.astype(np.int64), where.ravel()

    @property
    def _picked(self) -> bool:
        return bool(np.any(self.known.human_total > 0))

    def _reweighed(self, rows: IntArray, found: Mixtures) -> Mixtures:
        """Mixtures of s for a nonuniform prior of α, over all items of the test set."""
        _, sizes, known, _ = self._distinct
        a, b = self._priors.alpha
        ones = (known[rows] + found.first)[:, None] + np.arange(found.mass.shape[1])
        zeros = sizes[rows, None] - ones
        inside = zeros >= 0
        zeros = np.where(inside, zeros, 0)
        log_w = betaln(a + ones, b + zeros) - betaln(1 + ones, 1 + zeros)
        log_w -= np.where(found.mass > 0, log_w, -np.inf).max(-1, keepdims=True)
        mass = found.mass * np.exp(np.where(inside & (found.mass > 0), log_w, -np.inf))
        return replace(found, mass=mass / mass.sum(-1, keepdims=True))

    def _groups(self) -> Iterator[tuple[IntArray, Mixtures]]:
        """Groups of distinct posteriors of similar size, and the probabilities of s for each."""
        table = self._distinct[0]
        if self.unrated:
            n = np.full(table.a0.size, float(self.unrated))
            law = table.a0, table.b0, n
            yield np.arange(table.a0.size), Mixtures(*beta_binomial_rows(*law), *law)
        else:
            plain = self._priors.alpha == (1.0, 1.0) or not self._picked
            for rows, found in mixtures(table, self._priors._known_rates):
                yield rows, found if plain else self._reweighed(rows, found)

    @cached_property
    def _distributions(self) -> list[Steps]:
        _, sizes, known, where = self._distinct
        out: dict[int, Steps] = {}
        for rows, found in self._groups():
            for at, row in enumerate(rows):
                first, mass = found.row(at)
                share = (known[row] + first + np.arange(mass.size)) / sizes[row]
                out[int(row)] = Steps(share, mass)
        return [out[k] for k in where]

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        table, sizes, known, where = self._distinct
        flat = (table.a0 == table.ar + table.br) & (table.b0 == table.ae + table.be)
        if self.unrated:
            unrated = np.full(sizes.size, float(self.unrated))
            mean, variance = _beta_binomial_moments(table.a0, table.b0, unrated)
        elif flat.all() and self._priors._known_rates is None and not self._picked:
            # s is the sum of two independent numbers
            ones = _beta_binomial_moments(table.ar, table.be, table.m)
            zeros = _beta_binomial_moments(table.br, table.ae, table.k)
            mean, variance = ones[0] + zeros[0], ones[1] + zeros[1]
        else:
            mean, variance = np.empty(sizes.size), np.empty(sizes.size)
            for rows, found in self._groups():
                s = found.first[:, None] + np.arange(found.mass.shape[1])
                mean[rows] = np.vecdot(found.mass, s)
                variance[rows] = np.vecdot(found.mass, (s - mean[rows, None]) ** 2)
        mean, sd = (known + mean) / sizes, np.sqrt(variance) / sizes
        return mean[where].reshape(self.shape), sd[where].reshape(self.shape)

    @property
    def mode(self) -> FloatArray:
        """The most likely share."""
        return self._stack([step.values[step.mass.argmax()] for step in self._distributions])

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Smallest share whose CDF reaches ``p``: (*batch, *p.shape)."""
        chances = check_chances(p)
        flat = chances.ravel() - 1e-13
        _, sizes, known, where = self._distinct
        out = np.empty((sizes.size, flat.size))
        for rows, found in self._groups():
            below = np.cumsum(found.mass, axis=-1)
            held = found.mass > 0
            last = held.shape[1] - 1 - held[:, ::-1].argmax(-1)
            at = np.stack([np.searchsorted(row, flat) for row in below])
            at = np.clip(at, held.argmax(-1)[:, None], last[:, None])
            out[rows] = (known[rows, None] + found.first[:, None] + at) / sizes[rows, None]
        return np.asarray(out[where].reshape(self.shape + chances.shape))


def _beta_binomial_moments(
    a: FloatArray, b: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of BetaBinomial(n; a, b)."""
    c = a + b
    return n * a / c, n * a * b * (c + n) / (c * c * (c + 1))


@dataclass(frozen=True, eq=False, repr=False)
class ProcessPosterior(Posterior):
    """Posterior of α behind a test set, if some items were picked by class.

    The test set is a sample of the process; the rest after picking is not. Given that T of its N
    items are adequate, α is Beta(a + T, b + N − T), so its posterior is a mixture of these with the
    weights of `PoolPosterior`. For a test set without picked items this equals `AlphaPosterior`.

    Parameters
    ----------
    pool
        Posterior of the share in the test set, with ``known`` items.

    Examples
    --------
    A judge that is right nine times out of ten labelled 1000 answers, of which 200 are adequate;
    people rated 150 of these and 150 others:

    >>> from fewgold.bayes import Counts
    >>> counts = Counts(tp=135, fn=15, fp=15, tn=135, metric_ones=110, metric_total=700,
    ...     pairs="calibration")
    >>> pool = PoolPosterior(counts, known=Counts(human_ones=150, human_total=300))
    >>> print(ProcessPosterior(pool).summary())
    0.1979 ± 0.0240 (posterior mean and sd)
    95% credible interval 0.1515 to 0.2442 (equal tails)
    from 1000 items, 300 of them rated by humans
    """

    pool: PoolPosterior

    @property
    def shape(self) -> tuple[int, ...]:
        return self.pool.shape

    def draw(self, k: Any) -> ProcessPosterior:
        return ProcessPosterior(self.pool.draw(k))

    @cached_property
    def _mixtures(self) -> list[Mixture]:
        a, b = self.pool._priors.alpha
        sizes = np.broadcast_to(self.pool._size, self.shape).ravel()
        found = []
        for step, size in zip(self.pool._distributions, sizes, strict=True):
            first = round(float(step.values[0] * size))
            found.append(Mixture(first, step.mass / step.mass.sum(), a, b, float(size)))
        return found

    @cached_property
    def _distributions(self) -> list[Curve]:
        return [Panels.fit(m.log_density) for m in self._mixtures]

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        mean, variance = np.array([m.moments() for m in self._mixtures]).T
        return mean.reshape(self.shape), np.sqrt(variance).reshape(self.shape)

    @property
    def _source(self) -> str:
        return f"from {int(self.pool._size)} items, {int(self.pool._rated)} of them rated by humans"


@dataclass(frozen=True, eq=False, repr=False)
class PartsPosterior(Posterior):
    """Posterior of the share of a test set in two parts, each with its own posterior.

    The rates of the parts are independent a priori, so the numbers of adequate items add up. If a
    judge has verdicts on one part only, the prior knowledge about it (`Priors` of ρ and η) informs
    about that part, and only human ratings inform about the other.

    Parameters
    ----------
    parts
        Posteriors of the shares of both parts, with the same shape.
    sizes
        Items of each part.
    """

    parts: tuple[Posterior, Posterior]
    sizes: tuple[int, int]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.parts[0].shape

    def draw(self, k: Any) -> PartsPosterior:
        one, two = self.parts
        return PartsPosterior((one.draw(k), two.draw(k)), self.sizes)

    @property
    def _shares(self) -> FloatArray:
        return np.array(self.sizes) / sum(self.sizes)

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        one, two = self._shares
        (mean, sd), (other, spread) = (part._moments for part in self.parts)
        return one * mean + two * other, np.hypot(one * sd, two * spread)

    @cached_property
    def _distributions(self) -> list[Steps]:
        pairs = zip(*(part._distributions for part in self.parts), strict=True)
        return [self._summed(*pair) for pair in pairs]

    def _summed(self, one: Steps, two: Steps) -> Steps:
        count = one.mass.size + two.mass.size - 1
        spectrum = fft.rfft(one.mass, count) * fft.rfft(two.mass, count)
        mass = np.maximum(fft.irfft(spectrum, count), 0.0)
        mass[mass < 1e-14] = 0.0
        first = sum(
            round(float(part.values[0]) * size)
            for part, size in zip((one, two), self.sizes, strict=True)
        )
        return Steps((first + np.arange(mass.size)) / sum(self.sizes), mass / mass.sum())

    @property
    def _source(self) -> str:
        one, two = self.sizes
        return f"of the {one + two} items of this test set, {two} of them without a verdict"


def prior_of_part(alpha: Beta, share: float) -> Beta:
    """The prior of the rate of a part with this share of the items.

    The prior information is divided by size; each part keeps at least one item's worth, or all if
    that is less.
    """
    total = sum(alpha)
    weight = max(total * share, min(total, 1.0)) / total
    return alpha[0] * weight, alpha[1] * weight


def posterior_of(
    counts: Counts, priors: Priors | None, target: str, *, unrated: int = 0,
    known: Counts | None = None,
) -> AlphaPosterior | PoolPosterior | ProcessPosterior:  # fmt: skip
    """The posterior of the success rate in this test set (``"pool"``), or of the process behind it.

    With millions of items, almost none of them rated, the two coincide: their sds differ by less
    than 0.05 %. Then the second replaces the first, which is slow.
    """
    rated, rest = counts._adequate + counts._inadequate, counts.metric_total + unrated
    huge = np.min(rest) > _HUGE and np.max(rated / rest) < _FEW_RATED
    if known is None and (target == "process" or huge):
        return AlphaPosterior(counts, priors or Priors())
    pool = PoolPosterior(counts, priors, unrated, known or Counts())
    return pool if target == "pool" else ProcessPosterior(pool)
