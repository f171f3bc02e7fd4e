"""Tests whether a judge (or the raters) changed, on an anchor set judged again in every batch.

Each item is compared with itself in the first run, so only a change of the judge can show. If the
judge is unchanged, its two runs on an item could be swapped, so either sign of the difference is
equally likely. Nothing else is assumed. The sign test is exact if all differences have the same
size, as for pass and fail (McNemar). Otherwise P(Σd ≥ x √Σd²) ≤ exp(−x²/2) for any differences
with random signs (Hoeffding 1963; Efron 1969).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betainc, stdtrit

from fewgold.common.arrays import FloatArray
from fewgold.common.checks import as_names, check_confidence
from fewgold.common.text import cell, decimals, plain_frame
from fewgold.errors import DataError, UnknownNameError
from fewgold.monitoring.batches import batch_labels
from fewgold.monitoring.detector import FalseAlarms

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 5


@dataclass(frozen=True, eq=False)
class Drift:
    """Changes of judges on the anchor set, one row per judge and batch.

    Parameters
    ----------
    rows
        Rows of the dataframe.
    reference
        The batch to compare the others with.
    false_alarms, confidence
        As requested.
    """

    rows: tuple[dict[str, Any], ...]
    reference: str
    false_alarms: FalseAlarms
    confidence: float

    def __repr__(self) -> str:
        return (
            f"Drift({len(self.rows)} comparisons with {self.reference}, {len(self.alarms)} alarms)"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per judge and batch.

        ``change`` is the mean of the items minus their mean in the reference, with ``low`` and
        ``high``; ``flips`` is the share of items that changed; ``p`` is the p-value of the sign
        test, and ``level`` the largest p that gives an ``alarm``.
        """
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    @property
    def alarms(self) -> tuple[tuple[str, str], ...]:
        """Judges and batches with an alarm."""
        return tuple((r["judge"], r["batch"]) for r in self.rows if r["alarm"])

    @property
    def verdict(self) -> str:
        """The result in a sentence or two."""
        first: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            if row["alarm"]:
                first.setdefault(row["judge"], row)
        late = (
            f" Only the first {self.false_alarms.looks} looks were planned: later batches raise no "
            "alarm."
            if any(row["level"] == 0 for row in self.rows)
            else ""
        )
        if not first:
            moved = max((r["flips"] for r in self.rows), default=0.0)
            return (
                f"No evidence that a judge has drifted since {self.reference}"
                + (f"; up to {moved:.0%} of the items changed, in both directions" if moved else "")
                + f".{late}"
            )
        return (
            " ".join(
                f"{name} has drifted: by {_signed(row['change'])} at {row['batch']}, on the same "
                f"items as in {self.reference}."
                for name, row in first.items()
            )
            + late
        )

    @property
    def promise(self) -> str:
        """What the alarms guarantee."""
        return (
            f"the chance of any false alarm for one judge, however often you look, is at most "
            f"{self.false_alarms.rate:g} (guaranteed if runs of an unchanged judge are "
            f"exchangeable)"
        )

    def summary(self) -> str:
        """The verdict and a table."""
        level = f"{100 * self.confidence:.6g}%"
        heads = ["judge", "batch", "items", "change", level, "changed", "p", ""]
        lines = [heads]
        for row in self.rows:
            places = decimals(row["se"], 2)
            lines.append([
                row["judge"], row["batch"], str(row["items"]), cell(row["change"], places),
                f"{cell(row['low'], places)} to {cell(row['high'], places)}", f"{row['flips']:.0%}",
                f"{row['p']:.2g}", "ALARM" if row["alarm"] else "",
            ])  # fmt: skip
        wide = [max(len(line[k]) for line in lines) for k in range(len(heads))]
        table = [
            "  ".join(c.ljust(w) if k < 2 else c.rjust(w)
                      for k, (c, w) in enumerate(zip(line, wide, strict=True))).rstrip()
            for line in lines
        ]  # fmt: skip
        return "\n".join([self.verdict, "", *table, "", f"alarm: {self.promise}"])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "verdict": self.verdict, "reference": self.reference, "promise": self.promise,
            "alarms": [list(pair) for pair in self.alarms], "rows": plain_frame(self.to_frame()),
        }  # fmt: skip


def judge_drift(
    table: Any,
    *,
    item: str,
    batch: str,
    judges: str | Sequence[str],
    human: str | None = None,
    every: str | None = None,
    reference: str | None = None,
    false_alarms: FalseAlarms | float = 0.05,
    confidence: float = 0.95,
) -> Drift:
    """Test whether judges changed, on an anchor set that is judged again in every batch.

    Parameters
    ----------
    table
        One row per item and batch.
    item, batch
        Columns of item ids and batches.
    judges
        Columns of judges, numbers or words such as pass and fail; or of people who rated the
        anchors again, to test whether the raters have changed.
    human
        Column of a trusted score of each item. Adds each judge's distance from people,
        |judge − human|.
    every
        Groups dates by day, week or month.
    reference
        The batch to compare with; the first if None.
    false_alarms
        The chance of any false alarm for a judge, divided among the looks: α/K for each of K
        looks, or α/(j (j + 1)) for look j if there is no end. With trusted scores each judge has
        two lines, which share it. Batches after look K raise no alarm.
    confidence
        Confidence level of the intervals, each for one batch (approximate).

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"item": list(range(40)) * 3, "week": [1] * 40 + [2] * 40 + [3] * 40})
    >>> runs["judge"] = np.where((runs["week"] == 3) & (runs["item"] < 15), 0.0, 1.0)
    >>> judge_drift(runs, item="item", batch="week", judges="judge").alarms
    (('judge', '3'),)
    """
    from fewgold.chosen import as_pandas
    from fewgold.io.cells import column_of
    from fewgold.io.columns import texts_of

    check_confidence(confidence)
    frame, names = as_pandas(table), as_names(judges)
    for name in (item, batch, *names, *([human] if human else [])):
        if name not in frame.columns:
            raise UnknownNameError("column", name, [str(c) for c in frame.columns])
    alarms = false_alarms
    if not isinstance(alarms, FalseAlarms):
        alarms = FalseAlarms(alarms)
    labels, order, _ = batch_labels(frame[batch].tolist(), every, batch)
    start = order[0] if reference is None else str(reference)
    if start not in order:
        raise UnknownNameError("batch", start, order)
    items = texts_of(frame[item])
    scores: dict[str, FloatArray] = {n: column_of(frame[n], n).values for n in names}
    if human is not None:
        truth = column_of(frame[human], human).values
        scores |= {f"|{n} − {human}|": np.abs(scores[n] - truth) for n in names}
    places: dict[str, dict[str, int]] = {label: {} for label in order}
    for row, (label, name) in enumerate(zip(labels.tolist(), items, strict=True)):
        if places[label].setdefault(name, row) != row:
            raise DataError(
                f"the item {name!r} occurs twice in the batch {label}. Keep one row per item and "
                f"batch, because each item is compared with itself."
            )
    later = [label for label in order if label != start]
    if not later:
        raise DataError("an anchor set needs at least two batches to compare.")
    looks, rate = alarms.looks, alarms.rate / (1 if human is None else 2)
    rows = []
    for name, values in scores.items():
        for look, label in enumerate(later, 1):
            both = [i for i in places[start] if i in places[label]]
            now = values[[places[label][i] for i in both]]
            then = values[[places[start][i] for i in both]]
            known = np.isfinite(now) & np.isfinite(then)
            if known.sum() < _FEWEST:
                raise DataError(
                    f"the batches {start} and {label} share {int(known.sum())} anchors that "
                    f"{name} judged in both; at least {_FEWEST} are needed. Judge the same items "
                    "in every batch."
                )
            level = rate / (look * (look + 1) if looks is None else looks)
            level *= looks is None or look <= looks
            rows.append({"judge": name, "batch": label} | _compared(
                (now - then)[known], confidence, level))  # fmt: skip
    return Drift(tuple(rows), start, alarms, confidence)


def _compared(change: FloatArray, confidence: float, level: float) -> dict[str, Any]:
    n, mean = change.size, float(change.mean())
    se = float(change.std(ddof=1)) / math.sqrt(n)
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * se
    p = sign_p_value(change)
    return {
        "items": n, "change": mean, "se": se, "low": mean - half, "high": mean + half,
        "flips": float((change != 0).mean()), "p": p, "level": level,
        "alarm": level > 0 and p <= level,
    }  # fmt: skip


def sign_p_value(change: FloatArray) -> float:
    """Two-sided p-value of differences (n,) whose signs are random if nothing changed."""
    moved = change[np.abs(change) > 1e-12 * max(float(np.abs(change).max()), 1e-300)]
    if not moved.size:
        return 1.0
    size = np.abs(moved)
    if np.ptp(size) <= 1e-9 * size.max():
        n = moved.size
        most = int(max((moved > 0).sum(), (moved < 0).sum()))
        return min(1.0, 2 * float(betainc(most, n - most + 1, 0.5)))  # P(Bin(n, ½) ≥ most)
    x = float(moved.sum()) / math.sqrt(float(np.square(moved).sum()))
    return min(1.0, 2 * math.exp(-x * x / 2))


def _signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")
