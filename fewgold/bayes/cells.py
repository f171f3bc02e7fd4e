"""Items in categories of a metric: the posterior of the success rate for any categories.

The categories may be the ratings of one metric, the patterns of several, or bins of its scores. Let
ψ_j be the share of category j and v_j = P(adequate | category j), so that α = Σ_j ψ_j v_j. In this
test set the categories of all items are known; the only unknown is how many of the unrated items
are adequate: a sum of beta-binomials. This is post-stratification, with a prior for categories with
few ratings.

`PreferencePosterior` does the same for preferences between two outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.special import gammaln

from fewgold.bayes.counts import whole_numbers
from fewgold.bayes.mixture import beta_binomial
from fewgold.bayes.posterior import Posterior, Steps
from fewgold.bayes.priors import (
    FEW_PANELS,
    PANELS,
    CellPrior,
    Nodes,
    Pooled,
    Separate,
    fejer,
    interpolation,
)
from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng, batches, group_sum
from fewgold.common.checks import check_choice, check_count
from fewgold.errors import DataError, FewgoldError

_AT_ONCE = 64
_FEW = 5  # with fewer ratings of a class, the rate may be close to 0 or 1
_SOME = 30  # ratings from which half the points suffice


@dataclass(frozen=True, eq=False, repr=False)
class CategoryPosterior(Posterior):
    """A posterior from rated items (..., J, classes) and unrated items (..., J) by category."""

    rated: IntArray
    unrated: IntArray
    target: str = "pool"

    _classes: ClassVar[int]
    _largest: ClassVar[int]  # for larger test sets the quantiles come from draws

    def __post_init__(self) -> None:
        check_choice("target", self.target, ("pool", "process"))
        cells, rest = whole_numbers("rated", self.rated), whole_numbers("unrated", self.unrated)
        wrong = cells.ndim < 2 or cells.shape[-1] != self._classes
        if wrong or cells.shape[-2:-1] != rest.shape[-1:]:
            raise DataError(
                f"rated must be (..., J, {self._classes}) and unrated (..., J), for J categories; "
                f"got {cells.shape} and {rest.shape}."
            )
        batch = np.broadcast_shapes(cells.shape[:-2], rest.shape[:-1])
        cells = np.broadcast_to(cells, batch + cells.shape[-2:])
        rest = np.broadcast_to(rest, batch + rest.shape[-1:])
        if np.any(cells.sum((-1, -2)) + rest.sum(-1) == 0):
            raise DataError("the test set has no items; give counts of rated or unrated ones.")
        object.__setattr__(self, "rated", cells)
        object.__setattr__(self, "unrated", rest)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.unrated.shape[:-1]

    def draw(self, k: Any) -> Self:
        return replace(self, rated=self.rated[k], unrated=self.unrated[k])

    @property
    def _flat(self) -> tuple[FloatArray, FloatArray]:
        """Rated (D, J, classes) and unrated (D, J)."""
        rated = self.rated.reshape(-1, *self.rated.shape[-2:]).astype(np.float64)
        return rated, self.unrated.reshape(-1, self.unrated.shape[-1]).astype(np.float64)

    @property
    def _exact(self) -> bool:
        return self.target == "pool" and int(self.unrated.sum(-1).max()) <= self._largest

    def _stretched(self, drawn: list[FloatArray], low: float = 0.0) -> list[Steps]:
        """Draws of each as steps, shifted and scaled to its mean and sd, clipped to [low, 1]."""
        found = []
        for values, mean, sd in zip(drawn, self.mean.ravel(), self.sd.ravel(), strict=True):
            spread = values.std()
            moved = mean + (values - values.mean()) * (sd / spread if spread > 0 else 0.0)
            chances = np.full(values.size, 1 / values.size)
            found.append(Steps(np.sort(np.clip(moved, low, 1.0)), chances))
        return found

    @property
    def _source(self) -> str:
        known, rest, count = int(self.rated.sum()), int(self.unrated.sum()), self.unrated.shape[-1]
        kinds = f" in {count} categories" if count > 1 else ""
        if self.target == "process":
            return f"from {known} items rated by humans and {rest} others{kinds}"
        items = f"of the {known + rest} items of this test set{kinds}"
        return f"{items}, {known} of them rated by humans"


@dataclass(frozen=True, eq=False, repr=False)
class CellPosterior(CategoryPosterior):
    """Posterior of the share of adequate items, from ratings and items by category of a metric.

    Within each category the rated items must be a random sample of its items; the share rated may
    differ between categories. Arrays with more axes in front make a batch.

    Parameters
    ----------
    rated
        (..., J, 2): rated items of each category, inadequate and adequate.
    unrated
        (..., J): the other items of each category.
    target
        ``"pool"``: the share in this test set. ``"process"``: the rate of the process that made the
        items, of which the test set is a sample.
    prior
        `Pooled` (the default), `Trend` for ordered categories, or `Separate`.
    draws
        Number of draws used for the quantiles if ``target="process"``.
    effective
        (..., J, 2): effective counts, if the ratings of a category are not a simple random sample
        of it; by default ``rated``.

    Notes
    -----
    Mean and sd are exact to about 1e-6 of the sd. For the pool quantiles and CDF are exact to 1e-4
    in probability with a handful of ratings and 1e-5 with more, up to 200,000 unrated items. For
    the process they come from draws with a fixed seed, scaled to the exact mean and sd; with 4,096
    draws the ends of a 95% interval are off by about 0.03 sd. The shares ψ of the categories have a
    Dirichlet prior worth one item.

    With one category (human ratings alone) and a uniform prior this is the Beta posterior and, for
    the pool, the beta-binomial one.

    Examples
    --------
    >>> posterior = CellPosterior(rated=[[60, 10], [20, 90]], unrated=[320, 500])
    >>> print(posterior.summary())
    0.5548 ± 0.0254 (posterior mean and sd)
    95% credible interval 0.5040 to 0.6040 (equal tails)
    of the 1000 items of this test set in 2 categories, 180 of them rated by humans
    """

    rated: IntArray
    unrated: IntArray
    target: str = "pool"
    prior: CellPrior = Pooled()
    draws: int = 4096
    effective: FloatArray | None = None

    _classes: ClassVar[int] = 2
    _largest: ClassVar[int] = 200_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("draws", self.draws, 100)
        if self.effective is not None:
            weighed = np.asarray(self.effective, dtype=np.float64)
            if weighed.shape[-2:] != self.rated.shape[-2:] or not np.all(weighed >= 0):
                raise DataError(
                    "effective must be (..., J, 2) like rated, with numbers of 0 or more; got the "
                    f"shape {weighed.shape} and the smallest number {weighed.min(initial=0):g}."
                )
            object.__setattr__(self, "effective", np.broadcast_to(weighed, self.rated.shape))

    @property
    def _about(self) -> str:
        return f", {self.unrated.shape[-1]} categories, {self.target}"

    def draw(self, k: Any) -> Self:
        weighed = None if self.effective is None else self.effective[k]
        return replace(self, rated=self.rated[k], unrated=self.unrated[k], effective=weighed)

    def _nodes(self, rows: slice, panels: int = PANELS) -> Nodes:
        rated, unrated = (x[rows] for x in self._flat)
        weighed = rated
        if self.effective is not None:
            weighed = self.effective.reshape(-1, *self.rated.shape[-2:])[rows]
        return self.prior._nodes(weighed, rated.sum(-1) + unrated, panels)

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        rated, unrated = self._flat
        moments = _pool_moments if self.target == "pool" else _process_moments
        parts = [
            moments(self._nodes(rows, FEW_PANELS), rated[rows], unrated[rows])
            for rows in batches(len(rated), _AT_ONCE)
        ]
        mean, variance = (np.concatenate(x).reshape(self.shape) for x in zip(*parts, strict=True))
        return mean, np.sqrt(variance)

    @cached_property
    def _distributions(self) -> list[Steps]:
        rated, unrated = self._flat
        found, drawn = [], []
        for rows in batches(len(rated), _AT_ONCE):
            nodes = self._nodes(rows)
            for at, cells in enumerate(zip(rated[rows], unrated[rows], strict=True)):
                node = Nodes(*(x[at] for x in nodes))
                if self._exact:
                    found.append(self._summed(node, *cells))
                else:
                    rng = np.random.default_rng(0)
                    drawn.append(self._drawn(node, *cells, self.draws, rng))
        return found or self._stretched(drawn)

    def _summed(self, node: Nodes, rated: FloatArray, unrated: FloatArray) -> Steps:
        sharp = bool(rated.sum(0).min() < _FEW)
        every = 2 if rated.sum() >= _SOME else 1
        mass = _total_mass(node, unrated.astype(np.int64), sharp, every)
        ones = rated[:, 1].sum() + np.arange(mass.size)
        return Steps(ones / (rated.sum() + unrated.sum()), mass)

    def _drawn(
        self, node: Nodes, rated: FloatArray, unrated: FloatArray, size: int,
        rng: np.random.Generator,
    ) -> FloatArray:  # fmt: skip
        """Draws of the share (size,), from nodes drawn in proportion to their weights."""
        ticks = (np.arange(size) + rng.random()) / size
        which = np.searchsorted(np.cumsum(node.weight)[:-1], ticks)
        at = np.unravel_index(which, node.weight.shape)
        rates = rng.beta(node.a[at], node.b[at])
        if self.target == "process":
            return np.asarray(np.vecdot(rng.dirichlet(share_prior(rated, unrated), size), rates))
        ones = rng.binomial(unrated.astype(np.int64), rates).sum(-1) + rated[:, 1].sum()
        return np.asarray(ones / (rated.sum() + unrated.sum()))

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Draws of the share: (*batch, size), in random order."""
        generator = as_rng(rng)
        if self._exact:
            return super().sample(size, rng=generator)
        out = []
        for at, (known, rest) in enumerate(zip(*self._flat, strict=True)):
            node = Nodes(*(x[0] for x in self._nodes(slice(at, at + 1))))
            out.append(generator.permutation(self._drawn(node, known, rest, size, generator)))
        return self._stack(out)


def tally(
    codes: ArrayLike, rows: ArrayLike, labels: ArrayLike, classes: int = 2, count: int | None = None
) -> tuple[IntArray, IntArray]:
    """Count rated items by category and class, and unrated items by category.

    Parameters
    ----------
    codes
        (N,) category 0, 1, … of each item of the test set; (..., N) if it differs between draws.
    rows
        (..., n) which items were rated, each once.
    labels
        (..., n) their classes 0, 1, …; for adequate or not, 1 is adequate.
    classes
        Number of classes.
    count
        Number of categories J; by default taken from ``codes``.

    Returns
    -------
    rated : (..., J, classes)
    unrated : (..., J)

    Examples
    --------
    >>> rated, unrated = tally(codes=[0, 0, 1, 1, 1], rows=[0, 2, 3], labels=[1, 0, 1])
    >>> rated.tolist(), unrated.tolist()
    ([[0, 1], [1, 1]], [1, 1])
    """
    code, row, label = (np.asarray(x) for x in (codes, rows, labels))
    if row.shape != label.shape:
        raise DataError(f"rows and labels must have one shape; got {row.shape} and {label.shape}.")
    label = whole_numbers("labels", label)
    if label.size and label.max() >= classes:
        raise DataError(f"labels must be classes from 0 to {classes - 1}; got {label.max()}.")
    size = int(code.max()) + 1 if count is None else count
    if code.ndim == 1:
        here, everyone = code[row], np.bincount(code, minlength=size)
    else:
        here = np.take_along_axis(code, row, -1)
        everyone = group_sum(np.ones(code.shape), code, size).astype(np.int64)
    cells = group_sum(np.ones(here.shape), classes * here + label, classes * size)
    rated = cells.reshape(*here.shape[:-1], size, classes).astype(np.int64)
    return rated, everyone - rated.sum(-1)


#: Default number of bins, whatever the number of ratings.
BINS = 8


def bins(scores: ArrayLike, count: int = BINS) -> IntArray:
    """The bin of each item, 0 for the lowest scores.

    Bins are cut at quantiles of the scores of the whole pool, which needs no ratings. Their rates
    are shrunk towards a trend (`Trend`), so many bins do little harm with few ratings, and eight
    are used whatever the number of ratings. Of the variance of a binormal rating (half adequate, d'
    = 1.478) a threshold explains 0.292, eight bins 0.368 and the score itself 0.373.

    Parameters
    ----------
    scores
        (N,) scores of the whole pool. Equal scores share a bin, so there may be fewer than asked.
    count
        Number of bins.

    Examples
    --------
    >>> bins([0.1, 0.9, 0.5, 0.4], 2).tolist()
    [0, 1, 1, 0]
    >>> bins([3, 3, 3, 3, 7]).tolist()
    [0, 0, 0, 0, 1]
    """
    check_count("count", count)
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise DataError(f"scores must be a list of numbers; got the shape {values.shape}.")
    if not np.isfinite(values).all():
        raise DataError("scores must be finite numbers; leave out items without a score.")
    ordered = np.sort(values)
    # An item's position is the middle of those with the same score.
    middle = np.searchsorted(ordered, values) + np.searchsorted(ordered, values, side="right")
    place = middle * count // (2 * values.size)
    codes: IntArray = np.unique(place, return_inverse=True)[1].ravel().astype(np.int64)
    return codes


def share_prior(rated: FloatArray | IntArray, unrated: FloatArray | IntArray) -> FloatArray:
    """Dirichlet parameters of the shares of the categories (..., J)."""
    items = rated.sum(-1) + unrated
    return np.asarray(items + 1.0 / items.shape[-1])


def _pool_moments(nodes: Nodes, rated: FloatArray, unrated: FloatArray) -> list[FloatArray]:
    """Mean and variance (D,) of the share of the test set."""
    weight, a, b = nodes
    total, rest = a + b, unrated[:, None, None]
    p = a / total
    spread = np.vecdot(rest * (total + rest), p * (1 - p) / (total + 1))
    more, variance = _mixed(weight, np.vecdot(rest, p), spread)
    size = rated.sum((-1, -2)) + unrated.sum(-1)
    return [(rated[..., 1].sum(-1) + more) / size, variance / size**2]


def _process_moments(nodes: Nodes, rated: FloatArray, unrated: FloatArray) -> list[FloatArray]:
    """Mean and variance (D,) of Σ ψ_j v_j."""
    weight, a, b = nodes
    total = a + b
    p = a / total
    alpha = share_prior(rated, unrated)[:, None, None]
    size = alpha.sum(-1, keepdims=True)
    share = alpha / size
    mean = np.vecdot(share, p)
    within = np.vecdot(share * (alpha + 1) / (size + 1), p * (1 - p) / (total + 1))
    between = np.vecdot(share, (p - mean[..., None]) ** 2) / (size[..., 0] + 1)
    return _mixed(weight, mean, within + between)


def _mixed(weight: FloatArray, mean: FloatArray, spread: FloatArray) -> list[FloatArray]:
    """Mean and variance (D,) of mixtures with weights, means and variances (D, M, P)."""
    centre = (weight * mean).sum((-1, -2))
    gaps = mean - centre[:, None, None]
    return [centre, (weight * (spread + gaps**2)).sum((-1, -2))]


# The number of adequate items among the unrated: a sum of beta-binomials ---
#
# Given a node of the mixture, the numbers in the categories are independent, so the characteristic
# function of their sum is a product. That of the mixture is the weighted sum of the products, and
# is inverted once. Only the frequencies that matter are computed.

ComplexArray: TypeAlias = NDArray[np.complex128]
_ROWS = 4096
_LEFT_OUT = 1e-5  # probability of everything that is left out
_SKIP = 4
_SMALL = 256  # number of items up to which nothing is interpolated
_LOW = 64  # frequencies below which it is interpolated
_BLOCK = 32  # frequencies per block
_NOTHING = 3e-6  # size below which higher frequencies are dropped


def _total_mass(nodes: Nodes, unrated: IntArray, sharp: bool = False, every: int = 1) -> FloatArray:
    """Chances of 0, 1, …, U adequate items among ``unrated`` (J,), for nodes (M, P) and (M, P, J).

    High frequencies matter if sums have spikes, as with rates close to 0 or 1, and are never
    interpolated; nor are low ones if the sums are ``sharp``. At low frequencies only one point in
    ``every`` (1 or 2) is used, from the rule with fewer panels.
    """
    period = int(unrated.sum()) + 1
    direct = sharp or nodes.weight.shape[1] == 1 or period <= _SMALL
    thin = nodes
    if (
        every == 2 and nodes.weight.shape[1] > 1
    ):  # with the weights of the rule with half the panels
        panels = nodes.weight.shape[1] + 1
        factor = fejer(panels // 2)[1] / fejer(panels)[1][1::2]
        thin = Nodes(nodes.weight[:, 1::2] * factor, nodes.a[:, 1::2], nodes.b[:, 1::2])
    spectra = _Direct(thin, unrated) if direct else _Interpolated(nodes, unrated)
    spectrum = np.zeros(period // 2 + 1, dtype=np.complex128)
    for start in range(0, spectrum.size, _BLOCK):
        stop = min(start + _BLOCK, spectrum.size)
        if start == _LOW and not direct:
            spectra = _Direct(thin, unrated)
        here = spectra.at(start, stop)
        spectrum[start:stop] = here.sum(0)
        if np.abs(here[:, -4:]).sum(0).max() < _NOTHING:
            break
    mass = np.maximum(fft.irfft(spectrum.conj(), period), 0.0)
    mass[mass < 1e-14] = 0.0
    return np.asarray(mass / mass.sum())


class _Direct:
    """Weighted characteristic functions at all points that matter."""

    def __init__(self, nodes: Nodes, unrated: IntArray) -> None:
        weight = nodes.weight.ravel()
        kept = _heavy(weight)
        self.weight = weight[kept] / weight[kept].sum()
        a, b = (x.reshape(-1, unrated.size)[kept] for x in (nodes.a, nodes.b))
        self.chances = _chances(a, b, unrated)
        self.period = int(unrated.sum()) + 1

    def at(self, start: int, stop: int) -> ComplexArray:
        """At the frequencies from ``start`` to ``stop``: (points, frequencies)."""
        here = np.multiply.outer(self.weight, np.ones(stop - start, dtype=np.complex128))
        for chance in self.chances:
            here *= _transform(chance, self.period, start, stop)
        return np.asarray(here)


class _Interpolated:
    """The same, interpolated from every fourth point.

    With few ratings the rate of a model varies more than the sums do given the rate, so the sums
    are needed at many rates. Apart from its mean, which is known at all points, the distribution of
    a sum changes little between neighbouring points, so the characteristic function of the centred
    sum is interpolated.
    """

    def __init__(self, nodes: Nodes, unrated: IntArray) -> None:
        weight, a, b = (x[_heavy(nodes.weight.sum(-1))] for x in nodes)
        self.weight = weight / weight.sum()
        self.mean = np.vecdot(a / (a + b), unrated.astype(np.float64))
        a, b = (x[:, _SKIP - 1 :: _SKIP].reshape(-1, unrated.size) for x in (a, b))
        self.chances = _chances(a, b, unrated)
        self.period = int(unrated.sum()) + 1

    def at(self, start: int, stop: int) -> ComplexArray:
        # Characteristic functions of the means, by running products.
        turn = np.empty((*self.mean.shape, stop - start), dtype=np.complex128)
        turn[..., 0] = np.exp(2j * np.pi * start / self.period * self.mean)
        turn[..., 1:] = np.exp(2j * np.pi / self.period * self.mean)[..., None]
        turn = np.asarray(np.cumprod(turn, axis=-1))
        centred: ComplexArray = turn[:, _SKIP - 1 :: _SKIP].conj()
        for chance in self.chances:
            centred *= _transform(chance, self.period, start, stop).reshape(centred.shape)
        between = interpolation(PANELS, _SKIP) @ centred.view(np.float64)
        here = self.weight[..., None] * turn * between.view(np.complex128)
        return np.asarray(here.reshape(-1, stop - start))


def _chances(a: FloatArray, b: FloatArray, unrated: IntArray) -> list[FloatArray]:
    """Beta-binomial chances of each category with unrated items, for a and b (points, J)."""
    return [beta_binomial(a[:, j], b[:, j], int(unrated[j])) for j in np.flatnonzero(unrated)]


def _heavy(weight: FloatArray) -> IntArray:
    """Which weights (G,) to keep so that almost nothing is lost."""
    order = np.argsort(weight)
    return np.asarray(order[np.cumsum(weight[order]) > _LEFT_OUT])


def _transform(chance: FloatArray, period: int, start: int, stop: int) -> ComplexArray:
    """Characteristic functions (G, stop − start) of chances (G, n + 1)."""
    out = np.zeros((len(chance), 2 * (stop - start)))
    for first in range(0, chance.shape[1], _ROWS):
        rows = chance[:, first : first + _ROWS]
        out += rows @ _fourier(period, start, stop, first)[: rows.shape[1]]
    return np.asarray(out[:, : stop - start] + 1j * out[:, stop - start :])


@lru_cache(maxsize=32)
def _fourier(period: int, start: int, stop: int, first: int) -> FloatArray:
    """Cosines and sines at the frequencies k of ``period``, one row for each number of items."""
    s = np.arange(first, min(first + _ROWS, period))
    angle = 2 * np.pi / period * (np.multiply.outer(s, np.arange(start, stop)) % period)
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)


# Preferences between two outputs: wins, ties and losses, by humans and by a metric ---
#
# Classes are 0 loss, 1 tie and 2 win. Given the category j of the metric (its own loss, tie or win)
# the probabilities of the classes have a Dirichlet prior, and each category is counted separately.
# In a test set the unrated items of a category are Dirichlet-multinomial.

LOSS, TIE, WIN = 0, 1, 2


def outcomes(differences: ArrayLike, tie: float = 0.0) -> IntArray:
    """Differences of scores as classes: 0 loss, 1 tie (no more than ``tie`` apart) and 2 win.

    Examples
    --------
    >>> outcomes([-0.3, 0.02, 0.0, 1.5], tie=0.05).tolist()
    [0, 1, 1, 2]
    """
    gaps = np.asarray(differences, dtype=np.float64)
    if not np.isfinite(gaps).all():
        raise DataError("differences must be finite numbers; leave out pairs without a score.")
    if not tie >= 0:
        raise FewgoldError(f"tie must be a difference of 0 or more; got {tie!r}.")
    return np.asarray(1 + (gaps > tie).astype(np.int64) - (gaps < -tie))


@dataclass(frozen=True, eq=False, repr=False)
class PreferencePosterior(CategoryPosterior):
    """Posterior of the net preference, the share of wins minus that of losses.

    `win`, `tie` and `loss` are the posteriors of the shares. Within each category of the metric the
    rated pairs must be a random sample. Arrays with more axes in front make a batch.

    Parameters
    ----------
    rated
        (..., J, 3): rated pairs of each category of the metric, by human loss, tie and win.
    unrated
        (..., J): the other pairs of each category. One category means human ratings alone.
    target
        ``"pool"``: for this test set. ``"process"``: for the process that made the items.
    prior
        Weight of a category's Dirichlet prior, in ratings per class. The default amounts to one
        rating per category. A larger prior pulls lopsided preferences towards an even balance: with
        a prior of 1, 30 ratings and 90% wins, 95% intervals contain the truth in 32% of cases; with
        the default, in 89%.
    draws
        Number of draws used for quantiles that are not summed exactly: for the process, and with
        over 5,000 unrated pairs.

    Examples
    --------
    >>> rated = [[30, 9, 6], [8, 10, 7], [5, 8, 37]]
    >>> posterior = PreferencePosterior(rated, unrated=[160, 110, 210])
    >>> print(posterior.summary())
    0.0851 ± 0.0570 (posterior mean and sd)
    95% credible interval -0.0283 to 0.1950 (equal tails)
    of the 600 items of this test set in 3 categories, 120 of them rated by humans
    >>> round(float(posterior.probability_better), 3)
    0.931
    >>> [round(float(share.mean), 3) for share in (posterior.win, posterior.tie, posterior.loss)]
    [0.428, 0.229, 0.343]
    """

    rated: IntArray
    unrated: IntArray
    target: str = "pool"
    prior: float = 1.0 / 3.0
    draws: int = 4096

    _measures: ClassVar[str] = "net preference"
    _classes: ClassVar[int] = 3
    _largest: ClassVar[int] = 5_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("draws", self.draws, 100)
        if not 0 < self.prior < np.inf:
            raise FewgoldError(f"prior must be a positive number of ratings; got {self.prior!r}.")

    @property
    def _about(self) -> str:
        return f", {self.target}"

    def _share(self, outcome: int) -> CellPosterior:
        ones = self.rated[..., outcome]
        rated = np.stack([self.rated.sum(-1) - ones, ones], axis=-1)
        prior = Separate(self.prior, 2 * self.prior)
        return CellPosterior(rated, self.unrated, self.target, prior, self.draws)

    @cached_property
    def win(self) -> CellPosterior:
        """The share of wins."""
        return self._share(WIN)

    @cached_property
    def tie(self) -> CellPosterior:
        """The share of ties."""
        return self._share(TIE)

    @cached_property
    def loss(self) -> CellPosterior:
        """The share of losses."""
        return self._share(LOSS)

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        mean = np.asarray(self.win.mean - self.loss.mean)
        a = self.rated + self.prior
        total = a.sum(-1)
        net = (a[..., WIN] - a[..., LOSS]) / total
        spread = ((a[..., WIN] + a[..., LOSS]) / total - net**2) / (total + 1)
        if self.target == "pool":
            size = self.rated.sum((-1, -2)) + self.unrated.sum(-1)
            variance = np.vecdot(1.0 * self.unrated * (total + self.unrated), spread) / size**2
            return mean, np.sqrt(variance)
        alpha = share_prior(self.rated, self.unrated)
        whole = alpha.sum(-1, keepdims=True)
        share = alpha / whole
        gaps = net - np.vecdot(share, net)[..., None]
        within, between = (alpha + 1) / (whole + 1) * spread, gaps**2 / (whole + 1)
        return mean, np.sqrt(np.vecdot(share, within + between))

    @property
    def probability_better(self) -> FloatArray:
        """P(more wins than losses); an even balance counts one half."""
        below, upto = self.cdf(-2e-12), self.cdf(0.0)
        return np.asarray(1 - 0.5 * (below + upto))

    @cached_property
    def _distributions(self) -> list[Steps]:
        cells = zip(*self._flat, strict=True)
        if self._exact:
            return [_net_steps(self.prior, *one) for one in cells]
        drawn = [self._drawn(*one, self.draws, np.random.default_rng(0)) for one in cells]
        return self._stretched(drawn, low=-1.0)

    def _drawn(
        self, rated: FloatArray, unrated: FloatArray, size: int, rng: np.random.Generator
    ) -> FloatArray:
        """Draws of the net preference: (size,)."""
        gamma = rng.standard_gamma(rated + self.prior, (size, *rated.shape))
        rates = gamma / gamma.sum(-1, keepdims=True)
        if self.target == "process":
            share = rng.dirichlet(share_prior(rated, unrated), size)
            return np.asarray(np.vecdot(share, rates[..., WIN] - rates[..., LOSS]))
        more = rng.multinomial(unrated.astype(np.int64), rates).sum(1) + rated.sum(0)
        return np.asarray((more[:, WIN] - more[:, LOSS]) / more.sum(-1))

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Independent draws of the net preference: (*batch, size)."""
        generator = as_rng(rng)
        if self._exact:
            return super().sample(size, rng=generator)
        cells = zip(*self._flat, strict=True)
        return self._stack([self._drawn(*one, size, generator) for one in cells])


def _net_steps(prior: float, rated: FloatArray, unrated: FloatArray) -> Steps:
    """Net preference of a test set: the sum over categories, by their characteristic functions."""
    total = int(unrated.sum())
    length = fft.next_fast_len(2 * total + 1, real=True)
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    for cell, rest in zip(rated, unrated, strict=True):
        spectrum *= fft.rfft(_net_mass(np.asarray(cell + prior), int(rest)), length)
    mass = np.maximum(fft.irfft(spectrum, length)[: 2 * total + 1], 0.0)
    known = rated[:, WIN].sum() - rated[:, LOSS].sum()
    net = known + np.arange(-total, total + 1)
    return Steps(net / (rated.sum() + total), mass / mass.sum())


def _net_mass(a: FloatArray, n: int) -> FloatArray:
    """P(−n, …, n wins minus losses) among n items of one category, with shapes a (3,)."""
    i = np.arange(n + 1)
    loss, tie, win = gammaln(a[:, None] + i) - gammaln(1.0 + i)
    start = gammaln(a).sum() - gammaln(a.sum())
    scale = gammaln(a.sum() + n) - gammaln(n + 1.0) + start
    mass = np.zeros(2 * n + 1)
    for losses in range(n + 1):  # and 0 to n − losses wins; the rest are ties
        left = n - losses
        terms = win[: left + 1] + tie[left::-1]
        mass[n - losses : 2 * n - 2 * losses + 1] += np.exp(terms + (loss[losses] - scale))
    return mass
