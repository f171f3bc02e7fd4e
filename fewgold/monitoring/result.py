"""The result of monitoring: one row per batch, the alarm, and its guarantees."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._version import __version__
from fewgold.common.text import decimals, fixed, plain_frame, plain_value
from fewgold.errors import UnknownNameError
from fewgold.monitoring.detector import FalseAlarms

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: The meaning of the table's columns.
COLUMNS = {
    "batch": "label of the batch",
    "n": "rated segments",
    "size": "all segments",
    "value": "score of all segments of the batch",
    "se": "its standard error",
    "low": "interval of this batch alone",
    "high": "interval of this batch alone",
    "low_all": "interval that holds for all batches and looks jointly",
    "high_all": "interval that holds for all batches and looks jointly",
    "judge": "score by the metrics alone, on the human scale of the baseline",
    "difference": "people minus metrics",
    "running": "mean of all batches so far",
    "running_low": "confidence sequence of the running mean",
    "running_high": "confidence sequence of the running mean",
    "evidence": "of a drop; 1 or more is an alarm",
    "alarm": "whether evidence is 1 or more",
}


@dataclass(frozen=True)
class Alarm:
    """An alarm: the batch that raised it, and where the drop probably began.

    Parameters
    ----------
    batch, look
        The batch that raised the alarm, and the number of that look, counted from 1.
    began
        The batch at which the drop most likely began.
    batches
        All batches with enough evidence.
    """

    batch: str
    look: int
    began: str
    batches: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Monitoring:
    """One score per batch over time; made by `monitor`.

    Parameters
    ----------
    table
        Columns of the dataframe, see `COLUMNS`.
    by
        The column that defines batches.
    higher_is_better
        Direction of the scores.
    target, baseline
        What scores are compared with: a number, or the batches of the baseline.
    growing
        Whether each batch is compared with all earlier ones.
    reference, baseline_value, baseline_se
        The score that counts as "not worse" (the target, or the conservative bound of the
        baseline), and the baseline's own score and standard error. For a growing baseline all
        describe the mean of the batches before the drop (or of all batches).
    drop, false_alarms
        The drop to which the alarm is tuned, and how rare false alarms are.
    alarm, judge_alarm
        The alarm for the score, and the alarm for people and metrics drifting apart; None if
        there is none.
    confidence, looks
        Confidence level of the intervals, and the number of batches that the joint intervals
        cover (None: no end).
    kind, line_kind
        Whether the alarm and the intervals are ``guaranteed`` or ``approximate``.
    bets
        Whether the alarm bets on single ratings.
    method, limits, unit_sd
        The estimator; the ends of the scale; the expected standard deviation of one rating in the
        next batch, after correction by metrics.
    notes
        What a reader must know.
    """

    table: Mapping[str, Any]
    by: str
    higher_is_better: bool
    target: float | None
    baseline: tuple[str, ...]
    growing: bool
    reference: float
    baseline_value: float
    baseline_se: float
    drop: float | None
    false_alarms: FalseAlarms
    alarm: Alarm | None
    judge_alarm: Alarm | None
    confidence: float
    looks: int | None
    kind: str
    line_kind: str
    bets: bool
    method: str
    limits: tuple[float, float] | None
    unit_sd: float
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.table["batch"])

    def __repr__(self) -> str:
        said = "no alarm" if self.alarm is None else f"alarm at {self.alarm.batch}"
        return f"Monitoring({len(self)} batches by {self.by}, {said})"

    def __getitem__(self, batch: str) -> dict[str, Any]:
        """The row of one batch."""
        labels = list(self.table["batch"])
        if batch not in labels:
            raise UnknownNameError("batch", batch, labels)
        row = self.to_frame().iloc[labels.index(batch)]
        return {str(name): value for name, value in row.items()}

    def to_frame(self) -> pd.DataFrame:
        """One row per batch; `COLUMNS` says what the columns mean."""
        import pandas as pd

        frame = pd.DataFrame(dict(self.table))
        frame["alarm"] = frame["evidence"] >= 1 - 1e-12
        return frame[list(COLUMNS)]

    @property
    def promise(self) -> str:
        """What the alarm guarantees."""
        made = self.false_alarms.promise(bool(self.baseline))
        if self.growing:
            how_sure = "approximate: assumes that batch scores are about normal"
            return f"{made}, as long as the system never gets worse ({how_sure})"
        if self.baseline and self.kind == "approximate":
            how_sure = "approximate: assumes that batch scores are about normal"
            return f"{made}, as long as the system is never worse than in the baseline ({how_sure})"
        how = {
            ("guaranteed", True): "guaranteed by betting on single ratings",
            ("approximate", False): "approximate: assumes that batch scores are about normal",
        }[self.kind, self.bets]
        what = "in the baseline" if self.baseline else "the target"
        return f"{made}, as long as the segments of no batch score worse than {what} ({how})"

    @property
    def line_promise(self) -> str:
        """What the intervals guarantee."""
        level = f"{100 * self.confidence:.6g}%"
        over = "for ever" if self.looks is None else f"for {self.looks} batches"
        return (
            f"each interval contains the score of its batch with probability {level}; the wider "
            f"ones contain the scores of all batches together with probability {level}, {over} "
            f"and however often you look ({self.line_kind})"
        )

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        if self.drop is None:
            return "No alarm was requested: say which drop matters."
        if self.alarm is None:
            if not np.isfinite(self.table["evidence"]).any():
                return "No alarm yet: no batch with ratings comes after the first ones."
            if self.growing:
                return "No alarm: no evidence that the score has fallen."
            return f"No alarm: no evidence that the score is worse than {self._reference()}."
        return (
            f"Alarm at {self.alarm.batch}: the score is worse than {self._reference()}; the drop "
            f"probably began with {self.alarm.began}."
        )

    @property
    def judge_verdict(self) -> str:
        """Whether people and metrics drift apart, in one sentence; empty if unknown."""
        if self.drop is None or not np.isfinite(self.table["difference"]).any():
            return ""
        if self.judge_alarm is None:
            return "People and metrics agree as they did at the beginning."
        return (
            f"People differ from what the metrics predict at {self.judge_alarm.batch}, probably "
            f"since {self.judge_alarm.began}: the metrics miss part of a change, or they or the "
            f"raters have changed. An anchor set can show which."
        )

    def _reference(self) -> str:
        if self.target is not None:
            return f"the target of {self.target:g}"
        places = decimals(self.baseline_se, 2)
        if self.growing:
            return f"before ({fixed(self.baseline_value, places)})"
        return f"in the baseline ({fixed(self.baseline_value, places)})"

    def signature(self) -> str:
        """How it was made, in one line."""
        text = "|".join(
            f"{b}\x1f{n}\x1f{s}\x1f{v:.12g}" for b, n, s, v in
            zip(self.table["batch"], self.table["n"], self.table["size"], self.table["value"],
                strict=True)
        )  # fmt: skip
        against = (
            f"target:{self.target:g}"
            if self.target is not None
            else "baseline:before"
            if self.growing
            else f"baseline:{len(self.baseline)}"
        )
        alarms = self.false_alarms
        rate = (
            f"run:{alarms.average_run:g}"
            if alarms.average_run is not None
            else f"false:{alarms.rate:g}/{alarms.looks or 'ever'}"
        )
        parts = [
            f"est:{self.method}", f"by:{self.by.replace(' ', '-')}", f"batches:{len(self)}",
            f"n:{int(np.sum(self.table['n']))}", against,
            f"drop:{'none' if self.drop is None else format(self.drop, 'g')}", rate,
            f"alarm:{'betting' if self.bets else 'normal'}-{self.kind}",
            f"level:{self.confidence:g}", f"y:{hashlib.sha256(text.encode()).hexdigest()[:6]}",
            f"v:{__version__}",
        ]  # fmt: skip
        return "|".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""

        def told(alarm: Alarm | None) -> dict[str, Any] | None:
            if alarm is None:
                return None
            return {"batch": alarm.batch, "look": alarm.look, "began": alarm.began,
                    "batches": list(alarm.batches)}  # fmt: skip

        made: dict[str, Any] = plain_value({
            "by": self.by, "verdict": self.verdict, "judge_verdict": self.judge_verdict,
            "alarm": told(self.alarm), "judge_alarm": told(self.judge_alarm),
            "higher_is_better": self.higher_is_better, "drop": self.drop, "target": self.target,
            "baseline": list(self.baseline), "growing": self.growing,
            "baseline_value": self.baseline_value,
            "baseline_se": self.baseline_se, "reference": self.reference,
            "false_alarms": {
                "rate": self.false_alarms.rate, "looks": self.false_alarms.looks,
                "average_run": self.false_alarms.average_run,
            },
            "promise": self.promise, "kind": self.kind, "confidence": self.confidence,
            "line_kind": self.line_kind, "line_promise": self.line_promise, "looks": self.looks,
            "method": self.method, "unit_sd": self.unit_sd,
            "batches": plain_frame(self.to_frame()), "notes": list(self.notes),
            "signature": self.signature(),
        })  # fmt: skip
        return made

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headers and rows of a readable table."""
        frame = self.to_frame()
        level = f"{100 * self.confidence:.6g}%"
        known = frame["se"][np.isfinite(frame["se"]) & (frame["se"] > 0)]
        places = decimals(float(known.median()) if len(known) else None, 2)
        judged = bool(np.isfinite(frame["difference"]).any())
        heads = [self.by, "rated", "score", level, "all batches"]
        heads += ["people − judge"] if judged else []
        heads += ["evidence"] if self.drop is not None else []

        def number(value: float) -> str:
            return "–" if math.isnan(value) else fixed(value, places)

        def span(low: float, high: float) -> str:
            if math.isnan(low):
                return "–"
            ends = (("−∞" if e < 0 else "∞") if math.isinf(e) else fixed(e, places)
                    for e in (low, high))  # fmt: skip
            return " to ".join(ends)

        rows = []
        for row in frame.to_dict("records"):
            line = [
                str(row["batch"]), f"{row['n']}/{row['size']}", number(row["value"]),
                span(row["low"], row["high"]), span(row["low_all"], row["high_all"]),
            ]  # fmt: skip
            line += [number(row["difference"])] if judged else []
            if self.drop is not None:
                line.append(_evidence(row["evidence"]))
            rows.append(line)
        return heads, rows

    def summary(self) -> str:
        """The verdict, a table and the guarantees."""
        heads, rows = self.cells()
        wide = [max(len(r[k]) for r in [heads, *rows]) for k in range(len(heads))]
        lines = [
            "  ".join(c.ljust(w) if k == 0 else c.rjust(w)
                      for k, (c, w) in enumerate(zip(r, wide, strict=True))).rstrip()
            for r in [heads, *rows]
        ]  # fmt: skip
        said = [self.verdict, *([self.judge_verdict] if self.judge_verdict else [])]
        told = [f"alarm: {self.promise}"] if self.drop is not None else []
        told += [f"intervals: {self.line_promise}", *(f"note: {note}" for note in self.notes)]
        return "\n".join([*said, "", *lines, "", *told, self.signature()])

    def plot(self, ax: Axes | None = None, *, title: str | None = None) -> Axes:
        """The line with its bands, the score by metrics, and alarms."""
        from fewgold.plots import score_line

        level = f"{100 * self.confidence:.6g}%"
        frame = self.to_frame().assign(baseline=[b in self.baseline for b in self.table["batch"]])
        return score_line(
            frame, ax, reference=self.reference, level=level, title=title,
            reference_label="target" if self.target is not None
            else "mean before" if self.growing else "baseline's bound",
            began=None if self.alarm is None else self.alarm.began,
        )  # fmt: skip

    def page(self, title: str = "Scores over time") -> str:
        """One HTML page with the line, the table and the guarantees."""
        from fewgold.plots import to_svg
        from fewgold.plots.style import available
        from fewgold.report import sections as s

        parts: list[Any] = []
        top = [s.Notes("Before you use this", self.notes)] if self.notes else []
        if available():
            alt = f"Scores of {len(self)} batches. {self.verdict}"
            line = to_svg(self.plot(), alt=alt)
            promise = self.line_promise
            told = f"{promise[:1].upper()}{promise[1:]}."
            parts.append(s.Figure("The line", line, caption=told))
        parts.append(_grid(self.to_frame().drop(columns="alarm")))  # the evidence says it
        if self.drop is not None:
            parts.append(s.Text("The alarm", [
                f"It is tuned to a drop of {self.drop:g}. Its guarantee: {self.promise}.",
                "`evidence` of 1 or more is an alarm. It weighs all batches at which a drop may "
                "have begun, and you may look at it after every batch.",
            ]))  # fmt: skip
        parts.append(s.Code("How it was made", self.signature()))
        lead = [self.verdict, *([self.judge_verdict] if self.judge_verdict else [])]
        return s.page(title, lead, parts, top=top)

    def write(self, path: str | Path, title: str = "Scores over time") -> Path:
        """Write the page to a file."""
        from fewgold.report import sections

        return sections.write(path, self.page(title))

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        from fewgold.report.sections import Table

        return Table(self.verdict, self.to_frame()).body()


def _grid(frame: pd.DataFrame) -> Any:
    """The table of the page, with as many digits as the standard errors deserve."""
    from fewgold.report.sections import Format, Table

    known = frame["se"][np.isfinite(frame["se"]) & (frame["se"] > 0)]
    places = decimals(float(known.median()) if len(known) else None, 2)
    first = ["batch", "n", "size", "value", "low", "high", "low_all", "high_all", "evidence"]
    order = [c for c in first if c in frame]  # what decides, before one has to scroll
    frame = frame[[*order, *(c for c in frame if c not in order)]]
    plain = ("batch", "n", "size", "evidence")
    formats: dict[str, Format] = {c: f".{places}f" for c in map(str, frame) if c not in plain}
    return Table(
        "One row per batch", frame,
        "n: rated segments, of size. Low and high: interval of the batch alone; for all: interval "
        "that holds for all batches and looks jointly. Metrics: score by the metrics alone. "
        "Running: mean of all batches so far. Evidence of 1 or more is an alarm.",
        formats | {"evidence": _evidence},
        names={
            "low_all": "low for all", "high_all": "high for all", "judge": "metrics",
            "running_low": "running, low", "running_high": "running, high",
        },
    )  # fmt: skip


def _evidence(value: float) -> str:
    """Evidence next to the threshold of 1, to show how close an alarm is."""
    if math.isnan(value):
        return "–"
    if value >= 1:
        return "ALARM"
    return "< 0.01" if value < 0.01 else f"{value:.2f}"
