"""How a sample was drawn: all that an estimator may know about sampling.

Every variance in fewgold is one function of per-segment residuals and a `Design`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, overload

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray, from_pivot, group_sum, spread_out

# A cached property for what all draws of a batch share.


T = TypeVar("T")


class once(Generic[T]):
    """A cached property that is worked out for one draw where all of a batch share the design.

    The object says so by ``_one``, the same for one draw, or None. Private properties then stay
    those of the one draw, without batch axes: they broadcast by themselves. Unlike
    `functools.cached_property` of Python 3.11 it takes no lock, which for arrays of a few numbers
    would be a good part of the work.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, design: None, owner: Any) -> once[T]: ...
    @overload
    def __get__(self, design: object, owner: Any) -> T: ...
    def __get__(self, design: Any, owner: Any) -> Any:
        if design is None:
            return self
        one = design._one
        if self._name in design.__dict__:  # a closed form, found along with that
            return design.__dict__[self._name]
        if one is None:
            made: Any = self._compute(design)
        else:
            made = getattr(one, self._name)
            if not self._name.startswith("_"):
                made = np.broadcast_to(made, (*design.weights.shape[:-1], *np.shape(made)))
        design.__dict__[self._name] = made  # where Python looks first from now on
        return made


# What a design comes to where all segments weigh alike: no sums are needed.


def closed_forms(design: Any) -> dict[str, Any]:
    """Properties of a `Design` of one draw by their names, if it is one that has closed forms.

    That is, a simple random sample: one group of segments of the same weight. Such studies are the
    most frequent, and sums over groups would take as long as the rest of the estimate.
    """
    if design.kind != "simple" or not design.n or design.units is not None or design.groups.any():
        return {}
    weight, influence = float(design.weights[0]), float(design.influence[0])
    if (design.weights != weight).any() or (design.influence != influence).any():
        return {}
    n = design.n
    free = n - 1.0 if influence > 0 else 0.0
    factor = n / (n - 1) if n > 1 else 1.0
    return {
        "_n_groups": 1,
        "_total": np.array([n * weight]),
        "_factor": np.array([factor]),
        "_growth": np.array([factor**0.5]),
        "_settled": np.array([influence <= 0]),
        "_group_df": np.array([free]),
        "_satterthwaite": np.array(free),
        "certain": np.array(influence <= 0),
        "freedom": np.array(free),
        "blind": np.array(n == 1 and influence > 0),
        "damping": np.full(n, influence / weight),
        "strongest": np.array(influence**2),
    }


@dataclass(frozen=True, eq=False)
class Design:
    """Weights that estimate the pool mean, and what is needed for the variance of that estimate.

    Parameters
    ----------
    kind
        ``simple``, ``stratified``, ``systematic``, ``balanced``, ``clusters``, ``adaptive`` or
        ``waves``: what guaranteed bounds go by.
    size
        Segments in the pool, N.
    weights
        (..., n), sum 1: ``(weights * y).sum(-1)`` estimates the mean of y over the pool.
    inclusion
        (..., n) probability that the segment is in the sample; for waves, and where the scores
        decided, only roughly so.
    groups
        (..., n) the group within which segments (or units) are compared for the variance: strata,
        collapsed so that each holds at least two, or neighbours along a systematic line.
    influence
        (..., n) weight of a deviation from the group's mean; weights times the root of the
        finite population correction unless given.
    units
        (..., n) unit that was drawn as a whole, where that is not the segment.
    balance
        (..., p, n) variates with mean 0 over the pool, whose weighted sample mean was forced to
        be as near to 0 as whole segments allow.
    strata
        (..., n) stratum that each segment was drawn from, where groups had to be collapsed.
    unbiased
        False for printed forms that are known to be biased.
    """

    kind: str
    size: int
    weights: FloatArray
    inclusion: FloatArray
    groups: IntArray
    influence: FloatArray = None  # type: ignore[assignment]  # filled in below
    units: IntArray | None = None
    balance: FloatArray | None = None
    strata: IntArray | None = None
    unbiased: bool = True

    def __post_init__(self) -> None:
        if self.influence is None:
            left = np.sqrt(np.clip(1.0 - self.inclusion, 0.0, None))
            object.__setattr__(self, "influence", np.asarray(self.weights * left))

    def __repr__(self) -> str:
        return f"Design({self.kind}, {self.n} of {self.size})"

    @property
    def n(self) -> int:
        return int(self.weights.shape[-1])

    @cached_property
    def _one(self) -> Design | None:
        """The design of one draw, but for its balance, if the draws of a batch share it."""
        if self.weights.ndim == 1:
            self.__dict__.update(closed_forms(self))
            return None
        names = ("weights", "inclusion", "groups", "influence", "units", "strata")
        arrays = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        # An array that was broadcast to all draws takes no step from one to the next.
        if any(any(array.strides[:-1]) for array in arrays.values()):
            return None
        first = (0,) * (self.weights.ndim - 1)
        own = {name: array[first] for name, array in arrays.items()}
        return replace(self, balance=None, **own)

    @cached_property
    def _n_groups(self) -> int:
        return int(self.groups.max()) + 1 if self._one is None else self._one._n_groups

    @once
    def _own(self) -> IntArray:
        """Group of each unit (..., u); units are segments unless said otherwise.

        A draw with fewer units than the widest of the batch has units without weight at the end.
        """
        if self.units is None:
            return self.groups
        table = np.zeros((*self.units.shape[:-1], int(self.units.max()) + 1), dtype=np.int64)
        np.put_along_axis(table, self.units, self.groups, axis=-1)
        return table

    def _sums(self, values: FloatArray, groups: IntArray) -> FloatArray:
        """Sums within groups, plain ones where there is one group: (..., n) -> (..., groups)."""
        if self._n_groups == 1:
            return np.asarray(values.sum(-1, keepdims=True))
        return group_sum(values, groups, self._n_groups)

    def _spread(self, per_group: FloatArray, groups: IntArray) -> FloatArray:
        """The value of its group for each member: (..., groups) -> (..., n), or 1 for all."""
        return per_group if self._n_groups == 1 else spread_out(per_group, groups)

    def _by_unit(self, values: FloatArray) -> FloatArray:
        """Sums over the segments of each unit: (..., n) -> (..., u)."""
        if self.units is None:
            return values
        units = self.units.reshape(
            *self.units.shape[:-1], *[1] * (values.ndim - self.units.ndim), -1
        )
        return group_sum(values, units, int(self.units.max()) + 1)

    @once
    def _evenness(self) -> FloatArray:
        """Σp² over the units of each group, p being a unit's share of the group: 1/m if equal."""
        return self._sums(self._part**2, self._own)

    @once
    def _total(self) -> FloatArray:
        """Weight of each group, 1 for those without any: (..., groups)."""
        total = self._sums(self.weights, self.groups)
        return np.asarray(np.where(total > 0, total, 1.0))

    @once
    def _part(self) -> FloatArray:
        """Share of each unit in the weight of its group: (..., u)."""
        return np.asarray(self._by_unit(self.weights) / self._spread(self._total, self._own))

    @once
    def _factor(self) -> FloatArray:
        """What makes squared deviations from the group's mean unbiased: (..., groups).

        m/(m − 1) for m equal units. In general S / Σp²(1 − 2p + S) with S = Σp², so that a sliver
        of a document does not pass for a document.
        """
        p, s = self._part, self._evenness
        seen = self._sums(p**2 * (1 - 2 * p + self._spread(s, self._own)), self._own)
        lone = seen <= 1e-12 * s
        return np.asarray(np.where(lone, 1.0, s / np.where(lone, 1.0, seen)))

    @once
    def _group_df(self) -> FloatArray:
        """Degrees of freedom of each group: units less one, or fewer where they are uneven."""
        s = self._evenness
        free = 1.0 / np.where(s > 0, s, 1.0) - 1.0
        return np.asarray(np.where(self._settled | (free < 1e-9), 0.0, free))

    @once
    def _settled(self) -> BoolArray:
        """Groups with nothing left to chance, such as a stratum taken whole: (..., groups)."""
        return np.asarray(self._sums(self.influence, self.groups) <= 0)

    @once
    def certain(self) -> BoolArray:
        """True where nothing at all is left to chance: every segment was taken."""
        return np.asarray(self._settled.all(-1))

    @cached_property
    def df(self) -> FloatArray:
        """Degrees of freedom of the variance, less one for each balanced variate."""
        p = 0 if self.balance is None else self.balance.shape[-2]
        df = np.asarray(np.maximum(self._satterthwaite - p, 0.0))
        return np.broadcast_to(df, self.weights.shape[:-1])

    @once
    def _satterthwaite(self) -> FloatArray:
        """Degrees of freedom by Satterthwaite's formula for groups of equal spread.

        Where a few segments carry most of the weight, they carry most of the uncertainty about
        the variance too.
        """
        free = self._group_df
        mass = self._sums(self._by_unit(self.influence) ** 2, self._own)
        seen = free > 0
        per = np.where(seen, mass**2 / np.where(seen, free, 1.0), 0.0).sum(-1)
        total = np.where(seen, mass, 0.0).sum(-1) ** 2
        df = np.where(per > 0, total / np.where(per > 0, per, 1.0), 0.0)
        return np.asarray(np.minimum(df, free.sum(-1)))

    @once
    def freedom(self) -> FloatArray:
        """Degrees of freedom for slopes: segments less the means that they are centred on."""
        if not self._by_strata:
            return np.full(self.weights.shape[:-1], self.n - 1.0)
        members = self._sums(np.ones(self.groups.shape), self.groups)
        return np.asarray(np.where(self._settled, 0.0, np.maximum(members - 1.0, 0.0)).sum(-1))

    @once
    def damping(self) -> FloatArray:
        """Influence over weight: 1 where next to none of the pool was drawn, 0 if all of it."""
        return np.asarray(self.influence / self.weights)

    @once
    def strongest(self) -> FloatArray:
        """Square of the largest influence: (...)."""
        return np.asarray(np.square(self.influence).max(-1))

    @property
    def _by_strata(self) -> bool:
        return self.kind.removesuffix(" with gaps") in ("simple", "stratified")

    @once
    def blind(self) -> BoolArray:
        """True where a group has one unit and chance left: its variance cannot be estimated."""
        used = self._sums(np.ones(self.groups.shape), self.groups) > 0
        return np.asarray((used & ~self._settled & (self._group_df <= 0)).any(-1))

    def _within(
        self, columns: FloatArray, overwrite: bool = False, pivot: bool = True, whole: bool = False
    ) -> FloatArray:
        """Columns (..., k, n) less their weighted means: of groups, or of the ``whole`` sample."""
        w, g = self.weights[..., None, :], self.groups[..., None, :]
        dev = from_pivot(columns, overwrite) if pivot else columns
        out = dev if pivot or overwrite else None
        if self._n_groups == 1:
            mean = np.vecdot(dev, w)[..., None] / self._total[..., None, :]
        elif whole:
            mean = np.vecdot(dev, w)[..., None] / w.sum(-1, keepdims=True)
        else:
            sums = group_sum(w * dev, g, self._n_groups)
            mean = self._spread(sums / self._total[..., None, :], g)
        return np.asarray(np.subtract(dev, mean, out=out))

    def deviations(self, columns: FloatArray) -> FloatArray:
        """Scaled unit deviations (..., k, u) whose cross-products are the covariance of means."""
        return self._project(self._unit_deviations(columns))

    def _unit_deviations(self, columns: FloatArray) -> FloatArray:
        dev = self._within(columns)
        dev *= self.influence[..., None, :]
        return np.asarray(self._by_unit(dev) * self._growth[..., None, :])

    @once
    def _growth(self) -> FloatArray:
        """Root of the factor of each unit's group: (..., u), or 1 for all."""
        return np.asarray(np.sqrt(self._spread(self._factor, self._own)))

    def _project(self, deviations: FloatArray) -> FloatArray:
        """Take out what the balanced variates explain: the design left little to chance there.

        Whole segments cannot balance exactly. What is missing shows in the sample itself, and
        enters as a deviation of its own.
        """
        if self.balance is None:
            return deviations
        x = self._unit_deviations(self.balance)
        gram = x @ np.swapaxes(x, -1, -2)
        slopes = np.linalg.pinv(gram, hermitian=True) @ x @ np.swapaxes(deviations, -1, -2)
        slopes = np.swapaxes(slopes, -1, -2)
        df, p = self.df, self.balance.shape[-2]
        grow = np.sqrt((df + p) / np.maximum(df, 1.0))
        left = (deviations - slopes @ x) * grow[..., None, None]
        missing = (self.balance * self.weights[..., None, :]).sum(-1, keepdims=True)
        return np.concatenate([left, slopes @ missing], axis=-1)

    def moments(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Estimated pool means (..., k) of k columns (..., k, n), and their covariance."""
        dev = self.deviations(columns)
        return self.means(columns), np.asarray(dev @ np.swapaxes(dev, -1, -2))

    def means(self, columns: FloatArray) -> FloatArray:
        """Estimated pool means (..., k) of k columns (..., k, n)."""
        return np.asarray(np.vecdot(columns, self.weights[..., None, :]))

    def centred(
        self, columns: FloatArray, *, overwrite: bool = False, pivot: bool = True
    ) -> FloatArray:
        """Columns (..., k, n) less the means that slopes are fitted around.

        Stratum means for stratified designs, where only what happens within strata matters. The
        overall mean elsewhere: groups of neighbours would cost a quarter of the information.
        """
        return self._within(columns, overwrite, pivot, whole=not self._by_strata)

    def scatter(
        self, columns: FloatArray, *, overwrite: bool = False, pivot: bool = True
    ) -> FloatArray:
        """Scaled segment deviations (..., k, n) to choose slopes by.

        ``overwrite`` puts them in the place of ``columns``, which saves memory. Without ``pivot``
        the columns are taken to have means that are not large against their spread.
        """
        dev = self.centred(columns, overwrite=overwrite, pivot=pivot)
        dev *= self.influence[..., None, :]
        return dev

    def then(self, wave: Design, size: int) -> Design:
        """This design followed by a wave drawn from the segments that it left.

        Given the past, each wave with the scores already known estimates the pool mean without
        bias, so wave estimates are uncorrelated. They are mixed with weights fixed by the sizes
        alone, in inverse proportion to the variance that equal spreads would give.
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
        # Balance is not carried over: the joined variance is then, if anything, too large.
        return Design(
            kind="waves",
            size=size,
            weights=join([(1 - mix) * self.weights + mix / size, part * wave.weights], -1),
            inclusion=join(
                [
                    self.inclusion + (1 - self.inclusion) * n2 / left,
                    n1 / size + (1 - n1 / size) * wave.inclusion,
                ],
                -1,
            ),
            groups=join(self._groups_with(wave), -1),
            influence=join([(1 - mix) * self.influence, part * wave.influence], -1),
            units=join([units(self), units(wave) + int(units(self).max()) + 1], -1)
            if clustered
            else None,
            unbiased=self.unbiased and wave.unbiased,
        )

    def _groups_with(self, wave: Design) -> list[IntArray]:
        """Groups of both waves; a wave of a single unit joins the first group of the other."""
        mine, others = self.groups, wave.groups + self._n_groups
        lone = wave.blind[..., None]
        others = np.where(lone, mine[..., :1], others)
        mine = np.where(self.blind[..., None] & ~lone, others[..., :1], mine)
        return [mine, others]

    def draw(self, k: int | slice | IntArray) -> Design:
        """The design of the ``k``-th of a batch of draws, or of some."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        arrays: dict[str, Any] = {n: x[k] for n, x in parts.items() if isinstance(x, np.ndarray)}
        return replace(self, **arrays)

    def scatter_of(self, part: slice) -> Design:
        """A design to `scatter` some draws by: that of one draw, where all of them share it."""
        return self.draw(part) if self._one is None else self._one

    @classmethod
    def stack(cls, designs: Sequence[Design]) -> Design:
        """Designs of single draws as one batch."""
        first = designs[0]
        arrays: dict[str, Any] = {}
        for name in (f.name for f in fields(first)):
            parts = [getattr(d, name) for d in designs]
            if not any(isinstance(p, np.ndarray) for p in parts):
                continue
            # An optional part that not every draw has, or not in the same shape, is left out.
            alike = all(p is not None and p.shape == parts[0].shape for p in parts)
            arrays[name] = np.stack(parts) if alike else None
        kinds = sorted({d.kind for d in designs})
        unbiased = all(d.unbiased for d in designs)
        return replace(first, kind=" or ".join(kinds), unbiased=unbiased, **arrays)


def neighbours(n: int, size: int) -> IntArray:
    """Groups of about ``size`` consecutive positions, each of at least two: (n,)."""
    count = max(n // max(size, 2), 1)
    return np.asarray(np.arange(n) * count // max(n, 1), dtype=np.int64)


def collapse(strata: IntArray, taken: FloatArray, sizes: FloatArray | IntArray) -> IntArray:
    """Variance groups of a stratified sample: strata, where lone segments join the next in line.

    Parameters
    ----------
    strata
        (..., n) stratum of each segment.
    taken
        (..., H) segments taken from each stratum.
    sizes
        (H,) segments that each stratum holds; one taken whole needs no partner.
    """
    lone = ((taken == 1) & (sizes > 1)).astype(np.int64)
    rank = np.cumsum(lone, -1) - 1
    count = lone.sum(-1, keepdims=True)
    pair = np.minimum(rank // 2, np.maximum(count // 2 - 1, 0))
    h = taken.shape[-1]
    # A single lone stratum has no partner among the lone ones: it joins the fullest stratum.
    fullest = np.broadcast_to(taken.argmax(-1)[..., None], taken.shape)
    label = np.where(lone > 0, np.where(count == 1, fullest, h + pair), np.arange(h))
    return np.asarray(np.take_along_axis(np.broadcast_to(label, taken.shape), strata, axis=-1))
