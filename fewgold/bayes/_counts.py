"""What was counted: human ratings, metric ratings, and ratings of both on the same items."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import IntArray
from fewgold._validate import check_choice
from fewgold.bayes._labels import as_labels, whole_numbers
from fewgold.errors import DataError

_PAIRS = ("sample", "calibration")


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of adequate (1) and inadequate (0) ratings. Arrays make a batch; they broadcast.

    The three sets of items do not overlap: an item that both a human and the metric rated is
    counted in the 2 × 2 table and nowhere else.

    Parameters
    ----------
    human_ones, human_total
        Items that only humans rated: how many were adequate, and how many there are.
    tp, fn, fp, tn
        Items that both rated: adequate and metric 1, adequate and metric 0, inadequate and
        metric 1, inadequate and metric 0.
    metric_ones, metric_total
        Items that only the metric rated: how many it gave a 1, and how many there are.
    pairs
        ``"sample"``: the items that both rated are a random sample of the items, so they tell
        about the success rate as well. ``"calibration"``: they are class-balanced or come from
        elsewhere, and tell about the errors of the metric alone.

    Examples
    --------
    >>> counts = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000)
    >>> int(counts.paired_total), int(counts.adequate)
    (102, 61)
    """

    human_ones: IntArray | int = 0
    human_total: IntArray | int = 0
    tp: IntArray | int = 0
    fn: IntArray | int = 0
    fp: IntArray | int = 0
    tn: IntArray | int = 0
    metric_ones: IntArray | int = 0
    metric_total: IntArray | int = 0
    pairs: str = "sample"

    def __post_init__(self) -> None:
        check_choice("pairs", self.pairs, _PAIRS)
        names = [f.name for f in fields(self) if f.name != "pairs"]
        whole = [whole_numbers(name, getattr(self, name)) for name in names]
        try:
            whole = [np.array(a) for a in np.broadcast_arrays(*whole)]
        except ValueError:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(names, whole, strict=True))
            raise DataError(f"counts of a batch must have shapes that fit; got {shapes}.") from None
        for name, array in zip(names, whole, strict=True):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for kind in ("human", "metric"):
            ones, total = getattr(self, f"{kind}_ones"), getattr(self, f"{kind}_total")
            if np.any(ones > total):
                at = np.argmax(ones > total)
                raise DataError(
                    f"{kind}_ones must not exceed {kind}_total; got {ones.flat[at]} of "
                    f"{total.flat[at]}. The total counts ones and zeros."
                )

    @classmethod
    def from_labels(
        cls,
        *,
        human: ArrayLike = (),
        paired: tuple[ArrayLike, ArrayLike] = ((), ()),
        metric: ArrayLike = (),
        pairs: str = "sample",
    ) -> Counts:
        """Count labels (..., n) of 0 and 1 along the last axis.

        Parameters
        ----------
        human
            Labels of the items that only humans rated.
        paired
            Human labels and metric labels of the items that both rated, in the same order.
        metric
            Labels of the items that only the metric rated.
        pairs
            See the class.

        Examples
        --------
        >>> Counts.from_labels(paired=([1, 1, 0], [1, 0, 0]), metric=[1, 1, 0])
        Counts(tp=1, fn=1, tn=1, metric_ones=2, metric_total=3)
        """
        alone, theirs, ours, auto = (
            as_labels(name, values)
            for name, values in (
                ("human", human),
                ("paired human", paired[0]),
                ("paired metric", paired[1]),
                ("metric", metric),
            )
        )
        if theirs.shape[-1] != ours.shape[-1]:
            raise DataError(
                f"paired needs one human and one metric label for each item; got "
                f"{theirs.shape[-1]} and {ours.shape[-1]}."
            )
        return cls(
            human_ones=alone.sum(-1),
            human_total=np.array(alone.shape[-1]),
            tp=(theirs & ours).sum(-1),
            fn=(theirs & ~ours).sum(-1),
            fp=(~theirs & ours).sum(-1),
            tn=(~theirs & ~ours).sum(-1),
            metric_ones=auto.sum(-1),
            metric_total=np.array(auto.shape[-1]),
            pairs=pairs,
        )

    def __repr__(self) -> str:
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.shape:
            return f"Counts(a batch of shape {self.shape}, pairs={self.pairs!r})"
        shown = [f"{n}={int(v)}" for n, v in named.items() if n != "pairs" and v]
        return f"Counts({', '.join(shown + [f'pairs={self.pairs!r}'] * (self.pairs != 'sample'))})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch; () for a single study."""
        return np.shape(self.tp)

    def draw(self, k: Any) -> Counts:
        """The ``k``-th of a batch, or a smaller batch."""
        names = (f.name for f in fields(self) if f.name != "pairs")
        return replace(self, **{n: np.asarray(getattr(self, n))[k] for n in names})

    def flipped(self) -> Counts:
        """The counts when 0 and 1 of the metric change places: for one with ρ + η < 1."""
        return replace(
            self,
            tp=self.fn,
            fn=self.tp,
            fp=self.tn,
            tn=self.fp,
            metric_ones=self.metric_zeros,
        )

    @property
    def paired_total(self) -> IntArray:
        """Items that both rated."""
        return np.asarray(self.tp + self.fn + self.fp + self.tn)

    @property
    def metric_zeros(self) -> IntArray:
        """Items that only the metric rated, and gave a 0."""
        return np.asarray(self.metric_total - self.metric_ones)

    @property
    def adequate(self) -> IntArray:
        """Adequate items among those that tell about the success rate."""
        return np.asarray(self.human_ones + (self.tp + self.fn) * (self.pairs == "sample"))

    @property
    def inadequate(self) -> IntArray:
        """Inadequate items among those that tell about the success rate."""
        alone = np.asarray(self.human_total) - np.asarray(self.human_ones)
        return np.asarray(alone + (self.fp + self.tn) * (self.pairs == "sample"))
