"""Counts of human ratings, metric ratings, and ratings by both; from labels or a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewgold import io
from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import check_choice
from fewgold.common.text import verb
from fewgold.cut import Cut, binary
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.columns import known_orientation

if TYPE_CHECKING:
    import pandas as pd


def whole_numbers(name: str, value: Any) -> IntArray:
    """Check counts: whole numbers, none negative."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a whole number of 0 or more; got {value!r}.") from None
    bad = ~(np.isfinite(array) & (array >= 0) & (array == np.floor(array)))
    if bad.any():
        came = array[bad].flat[0]
        raise DataError(f"{name} must be a whole number of 0 or more; got {came:g}.")
    return array.astype(np.int64)


def as_labels(name: str, values: ArrayLike) -> BoolArray:
    """Labels as booleans (..., n)."""
    array = np.asarray(values)
    if array.ndim == 0:
        raise DataError(f"{name} labels must be a list or an array; got {values!r}.")
    if array.dtype == bool:
        return array
    ones = array == 1
    bad = ~(ones | (array == 0))
    if bad.all() and array.size and array.dtype.kind in "OUT":  # words for 1 and 0, such as pass
        words = np.char.lower(np.char.strip(array.astype(str)))
        pair = next((p for p in io.cells.VERDICTS if np.isin(words, p).all()), None)
        if pair is not None:
            return np.asarray(words == pair[0])
    if bad.any():
        raise DataError(
            f"{name} labels must be 0 or 1, or words such as pass and fail; got "
            f"{array[bad].flat[0]!r}. Cut scores at a threshold first."
        )
    return np.asarray(ones)


def paired(human: ArrayLike, metric: ArrayLike) -> tuple[BoolArray, FloatArray]:
    """Labels as booleans and finite scores, one of each per item."""
    labels = as_labels("human", human)
    try:
        scores = np.asarray(metric, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("the scores of the metric must be numbers.") from None
    if scores.ndim == 0 or labels.shape[-1] != scores.shape[-1]:
        raise DataError(
            f"expected one label and one score for each item; got {labels.shape[-1]} labels and "
            f"{scores.shape[-1] if scores.ndim else 'no list of'} scores."
        )
    if not labels.shape[-1]:
        raise DataError("a threshold needs items rated by both people and the metric; got none.")
    bad = ~np.isfinite(scores)
    if bad.any():
        raise DataError(
            f"the scores of the metric must be finite numbers; {int(bad.sum())} of {scores.size} "
            "are not. Leave those items out."
        )
    return labels, scores


def check_two_classes(labels: BoolArray) -> None:
    """Check that there are both adequate and inadequate items."""
    if labels.all() or not labels.any():
        word = "adequate" if labels.all() else "inadequate"
        raise DataError(
            f"all {labels.size} items are {word}: ρ and η need items of both classes. Rate more "
            "items, or give the threshold."
        )


def hit_rates(tp: int, fn: int, fp: int, tn: int) -> tuple[float, float]:
    """ρ and η from a 2 × 2 table; NaN where it has no item of a class."""
    return tp / (tp + fn) if tp + fn else np.nan, tn / (tn + fp) if tn + fp else np.nan


_WHO = ("human", "metric")
_NUMBERS = (
    "human_ones", "human_total", "tp", "fn", "fp", "tn", "metric_ones", "metric_total",
)  # fmt: skip


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
        Items that both rated: adequate with metric 1, adequate with metric 0, inadequate with
        metric 1, inadequate with metric 0.
    metric_ones, metric_total
        Items that only the metric rated: how many it gave a 1, and how many there are.
    pairs
        ``"sample"``: the items that both rated are a random sample of the items, so they also
        inform about the success rate. ``"calibration"``: they are class-balanced or come from
        elsewhere, and inform only about the errors of the metric.
    effective
        (..., J, 2): effective counts of inadequate and adequate human ratings, if they are not a
        simple random sample. J is 2 for items with a metric of 0 and of 1, or 1 for human ratings
        alone.

    Examples
    --------
    >>> counts = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000)
    >>> counts.flipped()
    Counts(tp=18, fn=43, fp=29, tn=12, metric_ones=460, metric_total=1000)
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
    effective: FloatArray | None = None

    def __post_init__(self) -> None:
        check_choice("pairs", self.pairs, ("sample", "calibration"))
        names = _NUMBERS
        whole = [whole_numbers(name, getattr(self, name)) for name in names]
        try:
            whole = [np.array(a) for a in np.broadcast_arrays(*whole)]
        except ValueError:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(names, whole, strict=True))
            raise DataError(
                f"counts of a batch must have compatible shapes; got {shapes}."
            ) from None
        for name, array in zip(names, whole, strict=True):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for kind in _WHO:
            ones, total = getattr(self, f"{kind}_ones"), getattr(self, f"{kind}_total")
            if np.any(ones > total):
                at = np.argmax(ones > total)
                raise DataError(
                    f"{kind}_ones must not exceed {kind}_total; got {ones.flat[at]} of "
                    f"{total.flat[at]}. The total includes both ones and zeros."
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
        alone, auto = as_labels("human", human), as_labels("metric", metric)
        theirs, ours = (as_labels(f"paired {n}", v) for n, v in zip(_WHO, paired, strict=True))
        if theirs.shape[-1] != ours.shape[-1]:
            raise DataError(
                f"paired needs one human and one metric label for each item; got "
                f"{theirs.shape[-1]} and {ours.shape[-1]}."
            )
        return cls(
            human_ones=alone.sum(-1), human_total=np.array(alone.shape[-1]),
            tp=(theirs & ours).sum(-1), fn=(theirs & ~ours).sum(-1),
            fp=(~theirs & ours).sum(-1), tn=(~theirs & ~ours).sum(-1),
            metric_ones=auto.sum(-1), metric_total=np.array(auto.shape[-1]), pairs=pairs,
        )  # fmt: skip

    def __repr__(self) -> str:
        if self.shape:
            return f"Counts(a batch of shape {self.shape}, pairs={self.pairs!r})"
        shown = [f"{n}={int(getattr(self, n))}" for n in _NUMBERS if getattr(self, n)]
        return f"Counts({', '.join(shown + [f'pairs={self.pairs!r}'] * (self.pairs != 'sample'))})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch; () for a single study."""
        return np.shape(self.tp)

    def draw(self, k: Any) -> Counts:
        """The ``k``-th element of a batch, or a smaller batch."""
        numbers = {n: np.asarray(getattr(self, n))[k] for n in _NUMBERS}
        weighed = None if self.effective is None else self.effective[k]
        return replace(self, **numbers, effective=weighed)

    def flipped(self) -> Counts:
        """The counts with 0 and 1 of the metric swapped: for a metric with ρ + η < 1."""
        ones = self._metric_zeros
        weighed = None if self.effective is None else self.effective[..., ::-1, :]
        return replace(
            self, tp=self.fn, fn=self.tp, fp=self.tn, tn=self.fp, metric_ones=ones,
            effective=weighed,
        )  # fmt: skip

    @property
    def _cells(self) -> tuple[int, int, int, int]:
        """The 2 × 2 table of one study: tp, fn, fp and tn."""
        return int(self.tp), int(self.fn), int(self.fp), int(self.tn)

    @property
    def _paired_total(self) -> IntArray:
        """Items that both rated."""
        return np.asarray(self.tp + self.fn + self.fp + self.tn)

    @property
    def _weights(self) -> tuple[FloatArray, ...]:
        """Exponents of the likelihood: tp, fn, tn and fp, then adequate and inadequate items."""
        if self.effective is None:
            cells = self.tp, self.fn, self.tn, self.fp
            return (*(np.asarray(c) for c in cells), self._adequate, self._inadequate)
        both = self.effective.sum(-2)
        table: tuple[FloatArray, ...] = (np.zeros(self.shape),) * 4
        if self.effective.shape[-2] == 2:
            table = tuple(self.effective[..., j, k] for j, k in ((1, 1), (0, 1), (0, 0), (1, 0)))
        return (*table, both[..., 1], both[..., 0])

    @property
    def _metric_zeros(self) -> IntArray:
        """Items that only the metric rated, with a 0."""
        return np.asarray(self.metric_total - self.metric_ones)

    @property
    def _adequate(self) -> IntArray:
        """Adequate items among those that inform about the success rate."""
        return np.asarray(self.human_ones + (self.tp + self.fn) * (self.pairs == "sample"))

    @property
    def _inadequate(self) -> IntArray:
        """Inadequate items among those that inform about the success rate."""
        alone = np.asarray(self.human_total) - np.asarray(self.human_ones)
        return np.asarray(alone + (self.fp + self.tn) * (self.pairs == "sample"))


def patterns(labels: ArrayLike) -> tuple[IntArray, tuple[str, ...]]:
    """The pattern of several metrics' ratings for each item, among those that occur.

    Treating metrics one by one, as if each had rated different items, would count shared
    information twice: a copy of a metric would narrow the interval. A pattern is counted once. The
    drawback is more categories, most with few ratings, so these are shrunk towards each other
    (`Pooled`).

    Parameters
    ----------
    labels
        (K, N): ratings of 0 and 1 by K metrics for N items.

    Returns
    -------
    codes : (N,)
        Category of each item, in the order of the names.
    names
        Ratings in the order of the metrics, as "101". Without metrics one category, "all".

    Examples
    --------
    >>> codes, names = patterns([[1, 1, 0, 0], [0, 1, 0, 0]])
    >>> codes.tolist(), names
    ([1, 2, 0, 0], ('00', '10', '11'))
    """
    ones = as_labels("metric", labels)
    if ones.ndim != 2:
        raise DataError(
            f"labels must be (K, N), a row for each metric; got the shape {ones.shape}."
        )
    if not len(ones):
        return np.zeros(ones.shape[1], dtype=np.int64), ("all",)
    found, codes = np.unique(ones.T, axis=0, return_inverse=True)
    names = tuple("".join("01"[int(one)] for one in row) for row in found)
    return codes.ravel().astype(np.int64), names


# Labels and scores from a table: the human score cut into 0 and 1, and oriented metrics ---

#: The name of the rows over all systems.
ALL = "(all)"


@dataclass(frozen=True, eq=False)
class BinaryTable:
    """One row per item: its label (NaN if unrated), its system, its scores (NaN if missing)."""

    labels: FloatArray
    system: NDArray[np.object_]
    scores: dict[str, FloatArray]
    signs: dict[str, str]

    @property
    def rated(self) -> BoolArray:
        """Which items people rated."""
        return ~np.isnan(self.labels)

    @property
    def systems(self) -> list[str]:
        """Systems in the order of their first item; empty if all items are from one system."""
        return [] if self.system[0] == ALL else list(dict.fromkeys(self.system.tolist()))

    def of(self, system: str) -> BoolArray:
        """The items of one system, or of all."""
        if system == ALL:
            return np.ones(self.labels.size, dtype=bool)
        return np.asarray(self.system == system)


def read_binary(
    frame: pd.DataFrame,
    human: str,
    metrics: Sequence[str],
    system: str | None,
    adequate: Cut | str | None,
    orientation: Mapping[str, int] | None,
    strict: bool,
    alone: bool = False,
) -> BinaryTable:
    """Read a table after checking its columns."""
    names = [str(c) for c in frame.columns]
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in (human, *metrics, *([system] if system is not None else [])):
        if name not in names:
            raise UnknownNameError("column", name, names)
    if not metrics and not alone:
        raise DataError("expected the name of at least one metric; got none.")
    if human in metrics:
        raise DataError(f"{human!r} holds the human scores, so it cannot be a metric as well.")
    if not len(frame):
        raise DataError("the table has no rows.")
    for name in orientation or {}:
        if name not in metrics:
            raise UnknownNameError("metric", name, metrics)
    raw = _numbers(frame, human)
    rated = ~np.isnan(raw)
    if not rated.any():
        raise DataError(f"no row has a score in column {human!r}.")
    labels = np.full(raw.size, np.nan)
    low, high = np.nanmin(raw), np.nanmax(raw)
    if adequate is None:
        told = f"Scores run from {low:g} to {high:g}: say which are adequate, such as"
        hint = {
            "python": f"{told} adequate='>= {high:g}' or '<= {low:g}'.",
            "cli": f"{told} --adequate '>={high:g}' or '<={low:g}'.",
            "web": f"{told} '>= {high:g}' or '<= {low:g}'.",
        }
        labels[rated] = binary(raw[rated], f"the scores in {human!r}", hint)
    else:
        cut = Cut.parse(adequate)
        labels[rated] = cut(raw[rated])
        if not low <= cut.at <= high:
            raise DataError(
                f"{'every' if labels[rated].any() else 'no'} score in {human!r} is {cut}: they run "
                f"from {low:g} to {high:g}. Choose another cut."
            )
    scores = {name: _numbers(frame, name) for name in metrics}
    signs = {}
    for name, values in scores.items():
        seen = values[~np.isnan(values)]
        way = (orientation or {}).get(name, known_orientation(name, seen))
        signs[name] = ("<" if way == -1 else ">") + ("" if strict else "=")
    made_by: list[Any] = [ALL] * len(frame) if system is None else frame[system].tolist()
    if gaps := sum(io.is_empty(v) for v in made_by):
        raise DataError(f"{gaps} of {len(frame)} rows {verb(gaps, 'have')} no {system}.")
    return BinaryTable(labels, np.array([str(v) for v in made_by], dtype=object), scores, signs)


def read_labels(
    frame: pd.DataFrame, name: str, cut: Cut | str | None = None, option: str = "adequate"
) -> FloatArray:
    """A column as 0, 1 and NaN, from verdicts or from scores and a cut.

    Errors name the ``option`` that gives the cut.
    """
    if name not in frame.columns:
        raise UnknownNameError("column", name, map(str, frame.columns))
    values = _numbers(frame, name)
    seen = ~np.isnan(values)
    hint = {
        "python": f"Say which scores are adequate, such as {option}='>= 4'.",
        "cli": f"Say which scores are adequate, such as --{option} '>=4'.",
        "web": "Say which scores are adequate, such as '>= 4'.",
    }
    if cut is None:
        values[seen] = binary(values[seen], f"the verdicts in {name!r}", hint)
    else:
        values[seen] = Cut.parse(cut)(values[seen])
    return values


def _numbers(frame: pd.DataFrame, name: str) -> FloatArray:
    """A column as numbers; empty cells become NaN, words are an error."""
    found = io.column_of(frame[name], name)
    if "infinite" in found.sorts:
        raise DataError(f"column {name!r} must hold finite numbers; got an infinite one.")
    wrong = sorted(k for rows in found.sorts.values() for k in rows)
    if wrong:
        raise DataError(
            f"column {name!r} must hold numbers; {len(wrong)} of {len(frame)} rows "
            f"{verb(len(wrong), 'do')} not, "
            f"first {str(frame[name].iloc[wrong[0]])!r}. Write 1 for pass and 0 for fail, and "
            "leave missing values empty."
        )
    return found.values
