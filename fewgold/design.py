"""How a sample was drawn, and the variance that follows from it.

Every variance in fewgold is one function of per-segment residuals and a `Design`: the sum of the
squared deviations from group means, each times its influence (weight times the root of the finite
population correction), with Bessel's correction for its group. If the design spread documents
evenly, it is also multiplied by the share of that variance that remains under a working model of
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from fewgold.common.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    codes_of,
    from_pivot,
    group_sum,
    spread_out,
)
from fewgold.errors import DesignError, UnknownNameError

__all__ = ["Design", "collapse", "neighbours"]

T = TypeVar("T")
# Prior mean and standard deviation of the intraclass correlation within documents, used when the
# ratings say little about it. Ratings of translations have 0.1 to 0.25 beyond what metrics explain.
_USUAL, _STRAY = 0.1, 0.15
_WITH_GAPS = " with gaps"  # suffix of a kind in files and messages
# With fewer degrees of freedom per slope than this, uneven weights join the regressors.
_PER_SLOPE = 5


class DesignKind(StrEnum):
    """How the segments were drawn, which decides what guaranteed bounds may promise."""

    SIMPLE = "simple"
    STRATIFIED = "stratified"
    EMPTY_STRATA = "stratified with empty strata"
    SYSTEMATIC = "systematic"
    BALANCED = "balanced"
    CLUSTERS = "clusters"
    #: With chances that differ between segments, but without balancing documents or metrics.
    UNEVEN = "uneven"
    ADAPTIVE = "adaptive"
    WAVES = "waves"
    #: Not drawn from a list: the segments stand for those that the same process would make.
    PROCESS = "process"
    #: Drawn in a way unknown to fewgold, or a batch whose draws differ in kind.
    OTHER = "other"

    @classmethod
    def parse(cls, text: str) -> tuple[DesignKind, bool]:
        """Read the kind and the gaps from a stored label; see `Design._label`."""
        drawn = text.removesuffix(_WITH_GAPS)
        return cls(drawn), drawn != text

    @classmethod
    def _missing_(cls, value: object) -> DesignKind:
        return cls.OTHER


class _cached(Generic[T]):
    """A cached property, computed only once if all draws of a batch share the design.

    It then stays without batch axes, since it broadcasts by itself, unless it is `_per_draw`.
    Unlike `functools.cached_property` of Python 3.11 it takes no lock, which would take a large
    part of the time for small arrays.
    """

    def __init__(self, compute: Callable[[Any], T], per_draw: bool = False) -> None:
        self._compute, self._per_draw = compute, per_draw
        self._name, self.__doc__ = compute.__name__, compute.__doc__

    @overload
    def __get__(self, design: None, owner: Any) -> _cached[T]: ...
    @overload
    def __get__(self, design: object, owner: Any) -> T: ...
    def __get__(self, design: Any, owner: Any) -> Any:
        if design is None:
            return self
        shared = design._shared
        if self._name in design.__dict__:  # a closed form, found along with `_shared`
            return design.__dict__[self._name]
        if shared is None:
            value: Any = self._compute(design)
        else:
            value = getattr(shared, self._name)
            if self._per_draw:
                shape = (*design.weights.shape[:-1], *value.shape)
                # Filling a short array is faster than broadcasting to it.
                value = np.broadcast_to(value, shape) if value.shape else np.full(shape, value)
        design.__dict__[self._name] = value  # Python looks here first from now on
        return value


def _per_draw(compute: Callable[[Any], T]) -> _cached[T]:
    """A cached property that always has the batch axes of the design."""
    return _cached(compute, per_draw=True)


@dataclass(frozen=True, eq=False)
class Design:
    """Weights that estimate the pool mean, and what is needed for the variance of that estimate.

    Parameters
    ----------
    kind
        How the segments were drawn, a `DesignKind` or its name such as ``"simple"``.
    size
        Segments in the pool, N.
    weights
        (..., n), sum 1: ``(weights * y).sum(-1)`` estimates the mean of y over the pool.
    inclusion
        (..., n) probability that the segment is in the sample; only approximate for waves, and if
        earlier scores influenced the choice.
    groups
        (..., n) the group within which segments (or units) are compared for the variance: strata,
        collapsed so that each holds at least two, or neighbours along a systematic line.
    influence
        (..., n) weight of a deviation from the group's mean; weights times the root of the
        finite population correction unless given.
    units
        (..., n) unit that was drawn as a whole, if that is not the segment.
    balance
        (..., p, n) variates with mean 0 over the pool, whose weighted sample mean was brought as
        close to 0 as whole segments allow.
    strata
        (..., n) stratum that each segment was drawn from, if groups had to be collapsed.
    unbiased
        False for formulas that are biased as printed in a paper.
    gaps
        True if only some of the drawn segments were rated, which are treated as a second phase of
        random sampling. Guaranteed bounds refuse such samples.
    documents
        (..., n) document of each segment as a whole number, the same in all waves; given if
        documents were spread so evenly that the variance is smaller than neighbours suggest.
    shares
        (..., n) share of that document in the segments of the pool, N_h/N.
    concentration
        Σ (N_h/N)² over all documents of the pool.
    metrics_only
        True to fit slopes to the metrics alone even if chances are uneven, see
        `_fit_beside_weights`.
    """

    kind: DesignKind
    size: int
    weights: FloatArray
    inclusion: FloatArray
    groups: IntArray
    influence: FloatArray = None  # type: ignore[assignment]  # filled in below
    units: IntArray | None = None
    balance: FloatArray | None = None
    strata: IntArray | None = None
    unbiased: bool = True
    gaps: bool = False
    documents: IntArray | None = None
    shares: FloatArray | None = None
    concentration: float = 0.0
    metrics_only: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", DesignKind(self.kind))
        if self.influence is None:
            root_fpc = np.sqrt(np.clip(1.0 - self.inclusion, 0.0, None))
            object.__setattr__(self, "influence", np.asarray(self.weights * root_fpc))

    # The usual designs, for samples drawn outside fewgold.

    @classmethod
    def simple(cls, n: int, size: int) -> Design:
        """A simple random sample: n of ``size`` segments, every such set equally likely.

        >>> Design.simple(150, 2000)
        Design(simple, 150 of 2000)
        """
        if not 0 < n <= size:
            raise DesignError(f"expected 1 to {size} sampled segments of {size}; got {n}.")
        return cls(
            kind=DesignKind.SIMPLE,
            size=size,
            weights=np.full(n, 1 / n),
            inclusion=np.full(n, n / size),
            groups=np.zeros(n, dtype=np.int64),
        )

    @classmethod
    def stratified(cls, strata: Any, sizes: Any) -> Design:
        """Simple random samples within strata, of any number of segments each.

        A stratum with a single sampled segment is compared with another one for the variance.
        Strata without any are left out, which is biased, and the design says so.

        Parameters
        ----------
        strata
            (n,) stratum of each sampled segment: 0, 1, …, or labels.
        sizes
            (H,) segments of the pool in each stratum; with labels a mapping from label to size.

        Examples
        --------
        >>> Design.stratified([0, 0, 1, 1], [30, 10]).weights
        array([0.375, 0.375, 0.125, 0.125])
        >>> Design.stratified(["de", "fr", "de"], {"de": 30, "fr": 10})
        Design(stratified, 3 of 40)
        """
        if isinstance(sizes, Mapping):
            places = {label: k for k, label in enumerate(sizes)}
            labels = np.asarray(strata).tolist()
            for label in labels:
                if label not in places:
                    raise UnknownNameError("stratum", str(label), map(str, places))
            strata, sizes = [places[label] for label in labels], list(sizes.values())
        strata, sizes = np.asarray(strata, dtype=np.int64), np.asarray(sizes)
        counts = np.bincount(strata, minlength=sizes.size)
        if counts.size > sizes.size or (counts > sizes).any():
            raise DesignError(
                "expected the number of segments of the pool in each stratum, at least as many as "
                f"were sampled ({counts.tolist()}); got {sizes.tolist()}."
            )
        used = counts > 0
        groups = collapse(strata, counts.astype(np.float64), sizes)
        return cls(
            kind=DesignKind.STRATIFIED if used.all() else DesignKind.EMPTY_STRATA,
            size=int(sizes.sum()),
            weights=(sizes / sizes[used].sum() / np.maximum(counts, 1))[strata],
            inclusion=(counts / sizes)[strata],
            groups=np.unique(groups, return_inverse=True)[1],
            strata=strata,
            unbiased=bool(used.all()),
        )

    @classmethod
    def clusters(cls, units: Any, n_units: int, size: int) -> Design:
        """A simple random sample of whole documents (conversations, users, …), all rated.

        The mean is that of the sampled segments, a ratio estimate: documents count by their size.

        Parameters
        ----------
        units
            (n,) document of each sampled segment: 0, 1, … without gaps, or labels.
        n_units
            Documents of the pool.
        size
            Segments of the pool.
        """
        units = codes_of(np.asarray(units))
        drawn = int(units.max()) + 1
        if not (drawn <= n_units and units.size <= size):
            raise DesignError(
                f"{drawn} documents with {units.size} segments were sampled, more than the pool "
                f"has: {n_units} with {size}."
            )
        return cls(
            kind=DesignKind.CLUSTERS,
            size=size,
            weights=np.full(units.size, 1 / units.size),
            inclusion=np.full(units.size, drawn / n_units),
            groups=np.zeros(units.size, dtype=np.int64),
            units=units,
        )

    @classmethod
    def of_chances(cls, inclusion: FloatArray, size: int) -> Design:
        """Segments drawn independently of each other, each with its own known chance.

        Weights are in proportion to 1/π and sum to 1 (Hájek). The variance is that of independent
        draws (Poisson sampling); for a sample of fixed size it is conservative.

        Parameters
        ----------
        inclusion
            (n,) chance π of each sampled segment.
        size
            Segments of the pool.
        """
        inclusion = np.asarray(inclusion, dtype=np.float64)
        if not ((inclusion > 0) & (inclusion <= 1)).all():
            raise DesignError("the chance of each sampled segment must be above 0 and at most 1.")
        weights = 1 / inclusion
        return cls(
            kind=DesignKind.UNEVEN,
            size=size,
            weights=weights / weights.sum(),
            inclusion=inclusion,
            groups=np.zeros(inclusion.size, dtype=np.int64),
        )

    def __repr__(self) -> str:
        return f"Design({self._label}, {self.n} of {self.size})"

    @property
    def n(self) -> int:
        return int(self.weights.shape[-1])

    @property
    def _label(self) -> str:
        """The kind as written in messages and files, such as ``simple with gaps``."""
        return f"{self.kind}{_WITH_GAPS}" if self.gaps else str(self.kind)

    def drawn_as(self, *kinds: str) -> bool:
        """Whether the design has one of these kinds and every drawn segment was rated."""
        return self.kind in kinds and not self.gaps

    # Estimated means, and deviations whose squares sum to the variance.

    def means(self, columns: FloatArray) -> FloatArray:
        """Estimated pool means (..., k) of k columns (..., k, n)."""
        return np.asarray(np.vecdot(columns, self.weights[..., None, :]))

    def moments(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Estimated pool means (..., k) of k columns (..., k, n), and their covariance."""
        dev = self.deviations(columns) * np.sqrt(self._document_factor(columns))[..., None]
        return self.means(columns), np.asarray(dev @ np.swapaxes(dev, -1, -2))

    def deviations(self, columns: FloatArray) -> FloatArray:
        """Scaled unit deviations (..., k, u) whose cross-products are the covariance of means.

        Where documents are known, multiplied by the root of `_document_factor`.
        """
        dev = self._unit_deviations(columns)
        return dev if self.balance is None else self._project(dev, self.balance)

    def _unit_deviations(self, columns: FloatArray) -> FloatArray:
        dev = self._within(columns)
        dev *= self._scale[..., None, :]
        return np.asarray(self._by_unit(dev) * self._root_bessel[..., None, :])

    def _project(self, deviations: FloatArray, balance: FloatArray) -> FloatArray:
        """Remove what the balanced variates explain, since the design hardly lets it vary.

        Whole segments cannot balance exactly. The remaining imbalance is visible in the sample, and
        is added as one more deviation.
        """
        x = self._unit_deviations(balance)
        slopes = _slopes(deviations, x)
        df, p = self.df, balance.shape[-2]
        grow = np.sqrt((df + p) / np.maximum(df, 1.0))
        left = (deviations - slopes @ x) * grow[..., None, None]
        missing = (balance * self.weights[..., None, :]).sum(-1, keepdims=True)
        return np.concatenate([left, slopes @ missing], axis=-1)

    def scatter(
        self,
        columns: FloatArray,
        *,
        overwrite: bool = False,
        pivot: bool = True,
        beside_weights: bool = False,
    ) -> FloatArray:
        """Scaled segment deviations (..., k, n), from which slopes are fitted.

        ``overwrite`` reuses the memory of ``columns``. Without ``pivot`` the means of the columns
        are assumed not to be large compared with their spread. ``beside_weights`` removes what the
        weights explain, see `_fit_beside_weights`.
        """
        dev = self._centred(columns, overwrite=overwrite, pivot=pivot)
        dev *= self._scale[..., None, :]
        if beside_weights:
            for k in range(2):
                unit = self._weight_basis[..., None, k, :]
                dev -= np.vecdot(dev, unit)[..., None] * unit
        return dev

    def _fit_beside_weights(self, slopes: int) -> bool:
        """Whether to add the weight as a regressor when fitting this many slopes.

        Slopes are biased if chances depend on the residuals: ratings with large weights then have
        residuals of one sign, and pull the slopes towards the errors of the metrics' sample means.
        With the weight as a regressor, residuals no longer depend on it. A balanced sample balances
        the sum of the weights, so nothing is lost. In other samples the part of the scores that
        depends on the weights is then left to chance, which only pays off with many slopes and few
        ratings. Predictions for a part of the pool need slopes without the weight, whose mean over
        that part is unknown.
        """
        if (
            self.metrics_only
            or self._by_strata
            or not (np.ptp(self.inclusion, axis=-1) > 1e-9).any()
        ):
            return False
        return self.drawn_as("balanced") or self.n - 1 < _PER_SLOPE * slopes

    @_cached
    def _weight_basis(self) -> FloatArray:
        """Orthonormal basis of constant and weight, zeros for equal weights: (..., 2, n)."""
        a, w = self.influence, self.weights
        total = np.square(a).sum(-1, keepdims=True)
        level = (np.square(a) * w).sum(-1, keepdims=True) / np.where(total > 0, total, 1.0)
        basis = np.stack([a, a * (w - level)], axis=-2)
        length = np.sqrt(np.vecdot(basis, basis))
        # Equal weights leave only rounding errors, which must not be taken for a direction.
        some = length > 1e-9 * np.sqrt(total) * np.concatenate([np.ones_like(level), level], -1)
        return np.asarray(basis * (some / np.where(some, length, 1.0))[..., None])

    def _centred(
        self, columns: FloatArray, *, overwrite: bool = False, pivot: bool = True
    ) -> FloatArray:
        """Columns (..., k, n) minus the means around which slopes are fitted.

        Stratum means for stratified designs, where only the spread within strata matters. The
        overall mean for others: means of neighbour groups would cost a quarter of the information.
        """
        return self._within(columns, overwrite, pivot, whole=not self._by_strata)

    def _within(
        self, columns: FloatArray, overwrite: bool = False, pivot: bool = True, whole: bool = False
    ) -> FloatArray:
        """Columns (..., k, n) minus their weighted means: of groups, or of the ``whole`` sample."""
        w, g = self.weights[..., None, :], self.groups[..., None, :]
        dev = from_pivot(columns, overwrite) if pivot else columns
        out = dev if pivot or overwrite else None
        if self._n_groups == 1:
            mean = np.vecdot(dev, w)[..., None] / self._group_weights[..., None, :]
        elif whole:
            mean = np.vecdot(dev, w)[..., None] / w.sum(-1, keepdims=True)
        else:
            sums = group_sum(w * dev, g, self._n_groups)
            mean = self._spread(sums / self._group_weights[..., None, :], g)
        return np.asarray(np.subtract(dev, mean, out=out))

    # Documents: two levels of variance, of which the design reduces the upper one.

    def _document_factor(self, columns: FloatArray) -> FloatArray:
        """Factor for the squared deviations of each column (..., k, n): (..., k).

        Without documents 1. Otherwise from a working model: a score is the mean, plus an effect of
        its document, plus an effect of the segment, all uncorrelated, with variances ρσ² and (1 −
        ρ)σ². The error of a mean with weights w, given which segments were drawn, then has the
        variance

            V = σ² [(1 − ρ) Q + ρ T],   Q = Σ a²,   T = Σ_h (W_h − N_h/N)²,

        where a is the influence of a segment, W_h the weight of the segments drawn from document h
        and N_h/N its share in the pool, over all documents, sampled or not. T is small if every
        document got its proportional share: at equal chances it is Σ f_h (1 − f_h)/n² on average,
        f_h being the fractional part of n N_h/N. But the squared deviations have the expectation σ²
        [(1 − ρ) Q + ρ A], where A is their sum over the indicators of documents: the units compared
        come mostly from different documents.
        """
        if self.documents is None:
            return np.ones(columns.shape[:-1])
        levels, rho = self._levels, self._intraclass(columns)
        q, due, shown = (x[..., None] for x in (levels.q, levels.due, levels.shown))
        true, seen = (1 - rho) * q + rho * due, (1 - rho) * q + rho * shown
        return np.asarray(np.where(seen > 0, true / np.where(seen > 0, seen, 1.0), 1.0))

    def _intraclass(self, columns: FloatArray) -> FloatArray:
        """Intraclass correlation ρ within documents, of each column (..., k, n): (..., k).

        From the squares of deviations, and the products of those that share a document. Both have
        expectations that are linear in the two variances, with factors known from the design, and
        the solution is unbiased under the model (the method of moments of the analysis of
        variance). It is then shrunk towards a typical value, more strongly with fewer ratings.
        """
        levels = self._levels
        dev = self._within(columns, whole=True)
        dev *= self.influence[..., None, :]
        if self.balance is not None:
            x = self._within(self.balance, whole=True)
            x *= self.influence[..., None, :]
            dev -= _slopes(dev, x) @ x
        squares = np.vecdot(dev, dev)
        sums = group_sum(dev, levels.codes[..., None, :], levels.n_documents)
        products = np.vecdot(sums, sums) - squares
        (a, b), (c, d) = levels.moments[..., None]
        own, shared = d * squares - b * products, a * products - c * squares
        total = own + shared
        seen = (a * d - b * c > 0) & (total > 0)
        rho = np.clip(shared / np.where(seen, total, 1.0), -1.0, 0.95)
        trust = np.where(seen, levels.trust[..., None], 0.0)
        return np.asarray(trust * rho + (1 - trust) * _USUAL)

    @cached_property
    def _levels(self) -> _Levels:
        """What the two variance components need from the design."""
        assert self.documents is not None and self.shares is not None
        w, a = self.weights, self.influence
        codes = _ranked(self.documents)
        count = int(codes.max()) + 1

        def sums(values: FloatArray) -> FloatArray:
            return group_sum(values, codes, count)

        got, share = sums(w), np.zeros((*w.shape[:-1], count))
        np.put_along_axis(share, codes, self.shares, axis=-1)
        untouched = np.maximum(self.concentration - np.square(share).sum(-1), 0.0)
        # Expected squares and products of a (y − Σ w y), for independent scores of variance 1 and
        # for scores that are equal within a document.
        first, second = sums(a), sums(a**2)
        pairs = first**2 - second
        weighed = sums(a**2 * w)
        w2, left = np.square(w).sum(-1)[..., None], 1 - 2 * got + np.square(got).sum(-1)[..., None]
        moments = [
            [second * (1 + w2) - 2 * weighed, second * left],
            [pairs * w2 - 2 * (sums(a * w) * first - weighed), pairs * left],
        ]
        # Standard error of ρ if it were 0, and the extra error from having so few documents.
        whole = pairs.sum(-1)
        some = whole > 1e-12 * second.sum(-1)
        whole = np.where(some, whole, 1.0)
        noise = 2 * (second**2 - sums(a**4)).sum(-1) / whole**2
        few = 2 * np.square(pairs).sum(-1) / whole**2
        return _Levels(
            codes=codes,
            n_documents=count,
            q=np.square(a).sum(-1),
            due=np.square(got - share).sum(-1) + untouched,
            shown=self._shown_by_documents(codes),
            moments=np.array([[x.sum(-1) for x in row] for row in moments]),
            trust=np.where(some, 1 / (1 + few + noise / _STRAY**2), 0.0),
        )

    def _shown_by_documents(self, codes: IntArray) -> FloatArray:
        """Sum of the variances of the indicators of documents, as `deviations` shows them: (...).

        Σ c a' (a' − 2 a p + a S) over the parts that units have in documents: a is the influence of
        the unit, a' that of the part, c is Bessel's correction, p the share of the document in the
        unit's group and S the sum of p² over documents.
        """
        a, most = self.influence, int(codes.max()) + 1
        units = np.broadcast_to(np.arange(self.n), a.shape) if self.units is None else self.units
        place = _ranked(self.groups * most + codes)  # of a document in a group
        group = np.zeros((*a.shape[:-1], int(place.max()) + 1), dtype=np.int64)
        np.put_along_axis(group, place, np.broadcast_to(self.groups, a.shape), axis=-1)
        share = group_sum(self.weights, place, group.shape[-1])
        share /= spread_out(self._group_weights, group)
        squares = group_sum(share**2, group, self._n_groups)
        part, whole = a, a
        if self.units is not None:
            piece = _ranked(units * most + codes)
            part = spread_out(group_sum(a, piece, int(piece.max()) + 1), piece)
            whole = spread_out(self._by_unit(a), units)
        bessel = np.broadcast_to(self._root_bessel, (*a.shape[:-1], self._root_bessel.shape[-1]))
        grow = np.square(spread_out(bessel, units))
        rest = whole * (spread_out(squares, self.groups) - 2 * spread_out(share, place))
        return np.asarray((grow * a * (part + rest)).sum(-1))

    # Degrees of freedom, and cases where the variance cannot be estimated.

    @property
    def _balanced_slopes(self) -> int:
        """Number of slopes whose degrees of freedom the balanced variates have used already.

        0 in older files, whose standard errors counted them twice and are kept as they were. The
        sum of uneven weights is a balanced variate but not a metric.
        """
        if self.balance is None or self.documents is None:
            return 0
        return int(self.balance.shape[-2]) - int(np.ptp(self.inclusion) > 1e-9)

    @cached_property
    def df(self) -> FloatArray:
        """Degrees of freedom of the variance, minus one for each balanced variate."""
        p = 0 if self.balance is None else self.balance.shape[-2]
        df = np.asarray(np.maximum(self._satterthwaite_df - p, 0.0))
        batch = self.weights.shape[:-1]
        return df if df.shape == batch else np.full(batch, df)

    @_cached
    def _satterthwaite_df(self) -> FloatArray:
        """Degrees of freedom by Satterthwaite's formula for groups of equal spread.

        If a few segments carry most of the weight, they also cause most of the uncertainty about
        the variance.
        """
        df = self._group_df
        mass = self._sums(self._by_unit(self.influence) ** 2, self._unit_groups)
        seen = df > 0
        per = np.where(seen, mass**2 / np.where(seen, df, 1.0), 0.0).sum(-1)
        total = np.where(seen, mass, 0.0).sum(-1) ** 2
        combined = np.where(per > 0, total / np.where(per > 0, per, 1.0), 0.0)
        return np.asarray(np.minimum(combined, df.sum(-1)))

    @_per_draw
    def _slope_df(self) -> FloatArray:
        """Degrees of freedom for slopes: segments minus the means that they are centred on."""
        if not self._by_strata:
            return np.full(self.weights.shape[:-1], self.n - 1.0)
        df = np.maximum(self._group_counts - 1.0, 0.0)
        return np.asarray(np.where(self._exhausted, 0.0, df).sum(-1))

    @_per_draw
    def _census(self) -> BoolArray:
        """True where every segment was drawn (a census), so nothing is left to chance."""
        return np.asarray(self._exhausted.all(-1))

    @_per_draw
    def _lonely(self) -> BoolArray:
        """True where a single unit was drawn from a larger group, so its variance is unknown."""
        used = self._group_counts > 0
        return np.asarray((used & ~self._exhausted & (self._group_df <= 0)).any(-1))

    @_per_draw
    def _root_fpc(self) -> FloatArray:
        """Root of the finite population correction, influence over weight: (..., n)."""
        return np.asarray(self.influence / self.weights)

    @_cached
    def _scale(self) -> FloatArray:
        """The influence (..., n), or (..., 1) if it is constant within a draw.

        Multiplying by one number takes half as long as by an array.
        """
        first = self.influence[..., :1]
        return first if (self.influence == first).all() else self.influence

    @_per_draw
    def _max_squared_influence(self) -> FloatArray:
        return np.asarray(np.square(self.influence).max(-1))

    @_cached
    def _equal(self) -> bool:
        """Whether all ratings count alike: a simple random sample, see `_closed_forms`."""
        return False

    @property
    def _by_strata(self) -> bool:
        return self.kind in (DesignKind.SIMPLE, DesignKind.STRATIFIED)

    # Groups, and the units compared within them.

    @cached_property
    def _n_groups(self) -> int:
        return int(self.groups.max()) + 1 if self._shared is None else self._shared._n_groups

    @_cached
    def _group_weights(self) -> FloatArray:
        """Weight of each group, 1 for those without any: (..., groups)."""
        total = self._sums(self.weights, self.groups)
        return np.asarray(np.where(total > 0, total, 1.0))

    @property
    def _centring_shares(self) -> FloatArray:
        """Weight of each segment in the mean that `_centred` takes from it: (..., n)."""
        if not self._by_strata or self._n_groups == 1:
            return self.weights
        return np.asarray(self.weights / self._spread(self._group_weights, self.groups))

    @_cached
    def _group_counts(self) -> FloatArray:
        """Segments of each group: (..., groups)."""
        return self._sums(np.ones(self.groups.shape), self.groups)

    @_cached
    def _exhausted(self) -> BoolArray:
        """Groups without sampling error, such as a stratum taken whole: (..., groups)."""
        return np.asarray(self._sums(self.influence, self.groups) <= 0)

    @_cached
    def _unit_groups(self) -> IntArray:
        """Group of each unit (..., u); units are segments unless said otherwise.

        A draw with fewer units than the largest draw of the batch is padded with units of weight 0.
        """
        if self.units is None:
            return self.groups
        table = np.zeros((*self.units.shape[:-1], int(self.units.max()) + 1), dtype=np.int64)
        np.put_along_axis(table, self.units, self.groups, axis=-1)
        return table

    @_cached
    def _unit_shares(self) -> FloatArray:
        """Share p of each unit in the weight of its group: (..., u)."""
        weights = self._spread(self._group_weights, self._unit_groups)
        return np.asarray(self._by_unit(self.weights) / weights)

    @_cached
    def _squared_shares(self) -> FloatArray:
        """Σp² over the units of each group, 1/m for m equal units: (..., groups)."""
        return self._sums(self._unit_shares**2, self._unit_groups)

    @_cached
    def _group_df(self) -> FloatArray:
        """Degrees of freedom of each group: units minus one, or fewer where they are uneven."""
        s, clusters = self._squared_shares, self.kind == DesignKind.CLUSTERS
        df = self._cluster_df() if clusters else 1.0 / np.where(s > 0, s, 1.0) - 1.0
        return np.asarray(np.where(self._exhausted | (df < 1e-9), 0.0, df))

    def _cluster_df(self) -> FloatArray:
        """`document_df` of the units of each group, drawn as a whole: (..., groups)."""
        return document_df(self._unit_shares, lambda x: self._sums(x, self._unit_groups))

    @_cached
    def _root_bessel(self) -> FloatArray:
        """Square root of Bessel's correction for each unit: (..., u), or 1 for all.

        Bessel's correction m/(m − 1) for m equal units. In general S / Σp²(1 − 2p + S) with
        S = Σp², so that a fragment of a document does not count as a whole one. A balanced sample
        may have chances that differ within a group: influences take the place of the p before the
        bracket and in the numerator.
        """
        p, s, groups = self._unit_shares, self._squared_shares, self._unit_groups
        uneven = self.drawn_as("balanced")
        squares = self._by_unit(self.influence) ** 2 if uneven else p**2
        total = self._sums(squares, groups) if uneven else s
        seen = self._sums(squares * (1 - 2 * p + self._spread(s, groups)), groups)
        lone = seen <= 1e-12 * total
        factor = np.asarray(np.where(lone, 1.0, total / np.where(lone, 1.0, seen)))
        return np.asarray(np.sqrt(self._spread(factor, groups)))

    def _sums(self, values: FloatArray, groups: IntArray) -> FloatArray:
        """Sums within groups, or plain sums if there is one group: (..., n) -> (..., groups)."""
        if self._n_groups == 1:
            return np.asarray(values.sum(-1, keepdims=True))
        return group_sum(values, groups, self._n_groups)

    def _spread(self, per_group: FloatArray, groups: IntArray) -> FloatArray:
        """For each member the value of its group: (..., groups) -> (..., n), or 1 for all."""
        return per_group if self._n_groups == 1 else spread_out(per_group, groups)

    def _by_unit(self, values: FloatArray) -> FloatArray:
        """Sums over the segments of each unit: (..., n) -> (..., u)."""
        if self.units is None:
            return values
        units = self.units.reshape(
            *self.units.shape[:-1], *[1] * (values.ndim - self.units.ndim), -1
        )
        return group_sum(values, units, int(self.units.max()) + 1)

    # Batches of draws.

    @cached_property
    def _shared(self) -> Design | None:
        """The design of one draw, without balance and documents, if the whole batch shares it."""
        if self.weights.ndim == 1:
            self.__dict__.update(found := self._closed_forms())
            self.__dict__["_equal"] = bool(found)
            return None
        names = ("weights", "inclusion", "groups", "influence", "units", "strata")
        arrays = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        # An array broadcast to all draws has stride 0 along the batch axis.
        if any(any(array.strides[:-1]) for array in arrays.values()):
            return None
        first = (0,) * (self.weights.ndim - 1)
        own = {name: array[first] for name, array in arrays.items()}
        return replace(self, balance=None, documents=None, shares=None, **own)

    def _closed_forms(self) -> dict[str, Any]:
        """Cached properties by name for a simple random sample: one group, equal weights.

        These designs are the most common, and sums over groups would take as long as everything
        else.
        """
        if not (self.drawn_as("simple") and self.n and self.units is None) or self.groups.any():
            return {}
        weight, influence = float(self.weights[0]), float(self.influence[0])
        if (self.weights != weight).any() or (self.influence != influence).any():
            return {}
        n = self.n
        df = n - 1.0 if influence > 0 else 0.0
        return {
            "_n_groups": 1,
            "_group_weights": np.array([n * weight]),
            "_group_counts": np.array([float(n)]),
            "_root_bessel": np.array([(n / (n - 1) if n > 1 else 1.0) ** 0.5]),
            "_exhausted": np.array([influence <= 0]),
            "_group_df": np.array([df]),
            "_satterthwaite_df": np.array(df),
            "_census": np.array(influence <= 0),
            "_slope_df": np.array(df),
            "_lonely": np.array(n == 1 and influence > 0),
            "_root_fpc": np.full(n, influence / weight),
            "_scale": np.array([influence]),
            "_max_squared_influence": np.array(influence**2),
        }

    def draw(self, k: int | slice | IntArray) -> Design:
        """The design of the ``k``-th draw of a batch, or of several draws."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        arrays: dict[str, Any] = {n: x[k] for n, x in parts.items() if isinstance(x, np.ndarray)}
        return replace(self, **arrays)

    def _of_draws(self, part: slice) -> Design:
        """The design of these draws for `scatter`: that of a single draw if all share it."""
        return self.draw(part) if self._shared is None else self._shared

    @classmethod
    def _stack(cls, designs: Sequence[Design]) -> Design:
        """Combine the designs of single draws into one batch."""
        first = designs[0]
        arrays: dict[str, Any] = {}
        for name in (f.name for f in fields(first)):
            parts = [getattr(d, name) for d in designs]
            if not any(isinstance(p, np.ndarray) for p in parts):
                continue
            # An optional part that not every draw has, or not in the same shape, is left out.
            alike = all(p is not None and p.shape == parts[0].shape for p in parts)
            arrays[name] = np.stack(parts) if alike else None
        same = all(d.kind == first.kind for d in designs)
        return replace(
            first,
            kind=first.kind if same else DesignKind.OTHER,
            unbiased=all(d.unbiased for d in designs),
            **arrays,
        )

    # Waves.

    def _then(self, wave: Design, size: int) -> Design:
        """This design, followed by a wave drawn from the remaining segments.

        Given the past, each wave together with the scores already known estimates the pool mean
        without bias, so wave estimates are uncorrelated. They are averaged with weights that depend
        only on the sizes, in inverse proportion to the variance under equal spreads.
        """
        n1, n2, left = self.n, wave.n, size - self.n
        v1 = 1 / n1 - 1 / size
        v2 = (left / size) ** 2 * (1 / n2 - 1 / left)
        mix = v1 / (v1 + v2) if v1 + v2 > 0 else 1.0
        part = mix * left / size
        join = np.concatenate

        def units(d: Design) -> IntArray:
            own = np.broadcast_to(np.arange(d.n), d.groups.shape)
            return own if d.units is None else d.units

        clustered = self.units is not None or wave.units is not None
        # A wave of a single unit joins the first group of the other.
        mine, others = self.groups, wave.groups + self._n_groups
        lone = wave._lonely[..., None]
        others = np.where(lone, mine[..., :1], others)
        mine = np.where(self._lonely[..., None] & ~lone, others[..., :1], mine)
        chance = [
            self.inclusion + (1 - self.inclusion) * n2 / left,
            n1 / size + (1 - n1 / size) * wave.inclusion,
        ]
        # Balance is not carried over, so the joined variance is, if anything, too large. Nor are
        # documents of chunks, since chunks of the second wave are cut from what the first left of a
        # document.
        documents: dict[str, Any] = {}
        if not clustered and self.documents is not None and wave.documents is not None:
            assert wave.shares is not None
            before = (wave.documents[..., :, None] == self.documents[..., None, :]).sum(-1)
            shares = (wave.shares * left + before) / size
            documents = {
                "documents": join([self.documents, wave.documents], -1),
                "shares": join([self.shares, shares], -1),
                "concentration": self.concentration,
            }
        return Design(
            kind=DesignKind.WAVES,
            size=size,
            weights=join([(1 - mix) * self.weights + mix / size, part * wave.weights], -1),
            inclusion=join(chance, -1),
            groups=join([mine, others], -1),
            influence=join([(1 - mix) * self.influence, part * wave.influence], -1),
            units=join([units(self), units(wave) + int(units(self).max()) + 1], -1)
            if clustered
            else None,
            unbiased=self.unbiased and wave.unbiased,
            **documents,
        )


class _Levels(NamedTuple):
    """What `Design._document_factor` needs to know about documents; independent of the ratings."""

    codes: IntArray  # (..., n) document of each segment, from 0
    n_documents: int
    q: FloatArray  # (...) Q, T and A of the working model
    due: FloatArray
    shown: FloatArray
    moments: FloatArray  # (2, 2, ...) from the variances to expected squares and products
    trust: FloatArray  # (...) weight of the ratings in the intraclass correlation


def _slopes(deviations: FloatArray, x: FloatArray) -> FloatArray:
    """Slopes (..., k, p) of deviations (..., k, u) on variates (..., p, u)."""
    gram = x @ np.swapaxes(x, -1, -2)
    slopes = np.linalg.pinv(gram, hermitian=True) @ x @ np.swapaxes(deviations, -1, -2)
    return np.asarray(np.swapaxes(slopes, -1, -2))


def _ranked(labels: IntArray) -> IntArray:
    """Labels as 0, 1, … in the order of their values, separately for each draw: (..., n)."""
    order = np.argsort(labels, axis=-1, kind="stable")
    line = np.take_along_axis(labels, order, axis=-1)
    rank = np.zeros(labels.shape, dtype=np.int64)
    rank[..., 1:] = np.cumsum(line[..., 1:] != line[..., :-1], axis=-1)
    codes = np.empty_like(rank)
    np.put_along_axis(codes, order, rank, axis=-1)
    return codes


@lru_cache(maxsize=16)
def simple_design(n: int, size: int) -> Design:
    """The design of a simple random sample of n of ``size`` segments.

    It returns the same object each time, so that simulations compute its closed forms once.
    """
    design = Design.simple(n, size)
    for array in (design.weights, design.inclusion, design.groups):
        array.flags.writeable = False
    return design


def document_df(
    p: FloatArray, sums: Callable[[FloatArray], FloatArray] = lambda x: x.sum(-1)
) -> FloatArray:
    """Degrees of freedom of a variance between documents (or chunks) with shares p, sum 1.

    A unit with share p is assumed to have variance v = p². With S = Σp², deviations from the mean
    have the covariance Q = diag(v) − p vᵀ − v pᵀ + S p pᵀ, and (tr Q)² / tr Q² are the degrees of
    freedom of a χ² with the mean and the variance of their sum of squares (Bell and McCaffrey 2002,
    Bias reduction in standard errors for linear regression with multi-stage samples). With a few
    long documents among short ones the degrees of freedom are fewer than the documents.
    """
    s, p3, p4, p5 = (sums(p**k) for k in (2, 3, 4, 5))
    trace = s - 2 * p3 + s**2
    norm = p4 * (1 + 4 * s) - 4 * p5 + 2 * p3**2 + s**4 - 4 * s**2 * p3
    lone = trace <= 1e-9
    return np.asarray(np.where(lone, 0.0, trace**2 / np.where(lone, 1.0, norm)))


def neighbours(n: int, size: int) -> IntArray:
    """Groups of about ``size`` consecutive positions, each of at least two: (n,)."""
    count = max(n // max(size, 2), 1)
    return np.asarray(np.arange(n) * count // max(n, 1), dtype=np.int64)


def collapse(strata: IntArray, taken: FloatArray, sizes: FloatArray | IntArray) -> IntArray:
    """Variance groups of a stratified sample: strata, with lone segments joined to the next.

    Parameters
    ----------
    strata
        (..., n) stratum of each segment.
    taken
        (..., H) segments taken from each stratum.
    sizes
        (H,) segments in each stratum of the pool; a stratum taken whole needs no partner.
    """
    lone = ((taken == 1) & (sizes > 1)).astype(np.int64)
    rank = np.cumsum(lone, -1) - 1
    count = lone.sum(-1, keepdims=True)
    pair = np.minimum(rank // 2, np.maximum(count // 2 - 1, 0))
    h = taken.shape[-1]
    # A single lone stratum has no lone partner, so it joins the largest stratum.
    fullest = np.broadcast_to(taken.argmax(-1)[..., None], taken.shape)
    label = np.where(lone > 0, np.where(count == 1, fullest, h + pair), np.arange(h))
    return np.asarray(np.take_along_axis(np.broadcast_to(label, taken.shape), strata, axis=-1))
