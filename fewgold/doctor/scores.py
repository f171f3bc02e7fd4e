"""Scales, leaks, copies, outliers, and which way metrics point."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.common import statistics
from fewgold.doctor.findings import Finding, Severity, finding, plural, some
from fewgold.doctor.seen import Seen
from fewgold.errors import DataError
from fewgold.io import Column, parts
from fewgold.io.cells import DECIMAL_COMMA
from fewgold.io.columns import LeftOut, Reason, human_columns, known_orientation

if TYPE_CHECKING:
    import pandas as pd

# Cells that only look like numbers, and texts that raters should not see unchanged ----------------

_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_FORMULA = re.compile(r"\s*(=\s*[A-Za-z(+\-\"]|@[A-Z]+\(|[+-][A-Z]+[0-9]*\()")


def to_points(path: str, columns: Sequence[Column], frame: pd.DataFrame, out: str) -> str | None:
    """Python that writes the table with decimal points, if its commas are decimal commas.

    None if no column has decimal commas, or if one also has commas between thousands (``1,234.5``).
    """
    found = [c for c in columns if "decimal-comma" in c.odd]
    cells = [str(frame[c.name].iloc[p]).strip() for c in found for p in c.odd["decimal-comma"]]
    if not cells or not all(map(DECIMAL_COMMA.fullmatch, cells)):
        return None
    return (
        f"from fewgold.io import read_table; t = read_table({path!r}); "
        f"c = {[c.name for c in found]!r}; "
        "t[c] = t[c].map(lambda v: str(v).replace('.', '').replace(',', '.') if ',' in str(v) "
        f"else v); t.to_csv({out!r}, index=False)"
    )


def cell_findings(
    columns: Sequence[Column], frame: pd.DataFrame, matter: Sequence[str]
) -> Iterator[Finding]:
    """Findings on cells that only look like numbers; an error in columns that ``matter``."""
    for column in columns:
        if column.read_as == "decimal commas":
            yield finding("decimal-comma", name=column.name)
    codes = {"decimal-comma": "decimal-comma/cells", "words": "mixed-types"}
    for column in columns:
        for sort, places in column.odd.items():
            where = "; ".join(f"row {p + 1:,}: {frame[column.name].iloc[p]}" for p in places[:3])
            grave: Severity = "error" if column.name in matter else "warning"
            yield finding(codes.get(sort, sort), where, grave, name=column.name, n=len(places))


def text_findings(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[Finding]:
    """Escaped characters and formulas in texts that raters would see."""
    for code, matches in (("html-escaped", _ENTITY.search), ("formula", _FORMULA.match)):
        hits = []
        for name in names:
            cells = frame[name].tolist()
            rows = [k for k, v in enumerate(cells) if isinstance(v, str) and matches(v)]
            if rows:
                first = str(cells[rows[0]]).strip()[:40]
                hits.append(f"{name}: {plural(len(rows), 'row')}, first {rows[0] + 1:,}: {first}")
        if hits:
            yield finding(code, "; ".join(hits[:3]))


Floats = NDArray[np.float64]
# Ends of common scales, narrow ones first, and their names.
SCALES: tuple[tuple[float, float, str], ...] = (
    (0, 1, "shares or 0 and 1"), (1, 5, "five grades"), (0, 5, "grades to 5"),
    (1, 7, "seven grades"), (0, 6, "grades to 6"), (1, 10, "ten grades"), (0, 10, "grades to 10"),
    (0, 25, "MQM"), (-25, 0, "MQM, negated"), (0, 100, "direct assessment"),
)  # fmt: skip
LEAK = 0.95
_COPY = 0.99999
_FAR = 30.0  # in interquartile ranges from the middle half
_RARE = 0.02
# Words in the names of flag columns, which mark presence rather than quality.
_MARKS = {"missing", "absent", "present", "available", "na", "nan", "isna", "null", "flag"}
# Words in the names of columns with a judge's reasons.
_WHY = {"reason", "reasons", "comment", "comments", "explanation", "rationale", "feedback", "note"}


def scale_of(values: Floats, name: str = "") -> tuple[float, float, str] | None:
    """The common scale of all scores, except a few that look like mistakes; or None.

    The name decides for MQM, whose scores may all be small. A few scores beyond a scale are
    mistakes if many reach its upper end and none is just beyond it.
    """
    if not values.size:
        return None
    if "mqm" in parts(name):
        return SCALES[8] if (values <= 0).all() and (values < 0).any() else SCALES[7]
    exact = None
    for scale in SCALES:
        low, high, _ = scale
        inside = (values >= low) & (values <= high)
        if inside.all():
            full = values.min() < low + 0.6 * (high - low) and values.max() > low + 0.4 * (
                high - low
            )
            exact = exact or (scale if full else None)
        elif inside.mean() >= 1 - _RARE:
            width = high - low
            beyond = values[~inside]
            top = (values >= high - 0.02 * width) & inside
            if top.mean() >= _RARE and ((beyond < low) | (beyond > high + 0.1 * width)).all():
                return scale
    return exact


def is_binary(values: Floats) -> bool:
    """True for scores that are all 0 or 1."""
    return bool(values.size) and bool(np.isin(values, (0.0, 1.0)).all())


def is_flag(seen: Seen, name: str) -> bool:
    """True for a flag column that judges nothing: ``has_reference``, ``comet_missing``.

    By its name, or because it marks exactly the rows in which another column is empty or filled.
    This ignores columns of judges' reasons, which some judges give only for failures.
    """
    if is_marked(name):
        return True
    values = seen.cells[name].values
    if not is_binary(values) or values.min() == values.max():
        return False
    others = [c.blank for k, c in seen.cells.items() if k != name and not set(parts(k)) & _WHY]
    return any((o == (values == 1)).all() or (o == (values == 0)).all() for o in others)


def is_marked(name: str) -> bool:
    """Whether the name says that a column marks rows.

    >>> [is_marked(name) for name in ("has_reference", "comet_missing", "judge", "history")]
    [True, True, False, False]
    """
    words = parts(name)
    return words[:1] in (["is"], ["has"]) or bool(set(words) & _MARKS)


def describe(seen: Seen, name: str) -> str:
    """A column of human scores in a few words."""
    column = seen.cells[name]
    known = column.values[column.finite]
    if not known.size:
        return "empty" if column.blank.all() else "no numbers"
    words = []
    if is_binary(known):
        words.append(f"0 and 1, {known.mean():.0%} ones")
    else:
        words.append(f"{known.min():.4g} to {known.max():.4g}, mean {known.mean():.4g}")
        scale = scale_of(known, name)
        if scale is not None:
            words.append(f"scale {scale[0]:g} to {scale[1]:g}?")
    if column.gaps:
        words.append(f"{known.size:,} of {seen.rows:,} rows")
    return ", ".join(words)


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's correlation where both are known; 0 if undefined or meaningless."""
    if (np.isfinite(x) & np.isfinite(y)).sum() < 3:
        return 0.0
    return float(np.nan_to_num(statistics.correlation(x, y)))


def orientations(seen: Seen) -> dict[str, int | None]:
    """Which way each metric points, as far as its name shows."""
    found = {}
    for name in seen.metrics:
        values = seen.cells[name].values
        found[name] = known_orientation(name, values[np.isfinite(values)])
    return found


def leaks(seen: Seen) -> tuple[tuple[str, ...], list[Finding]]:
    """Metrics that follow the human scores so closely that they must come from them."""
    if not seen.human:
        return (), []
    found, findings = [], []
    targets = {name: seen.cells[name].values for name in seen.humans}
    for name in seen.metrics:
        values = seen.cells[name].values
        near = {t: correlation(values, y) for t, y in targets.items() if np.isfinite(y).sum() >= 10}
        target = max(near, key=lambda t: abs(near[t]), default="")
        if target and abs(near[target]) >= LEAK:
            found.append(name)
            r = near[target]
            what = "is a copy of" if abs(r) >= _COPY else "follows too closely"
            findings.append(finding("leak", name=name, what=what, target=target, r=r))
    return tuple(found), findings


def metric_findings(seen: Seen) -> Iterator[Finding]:
    """Findings on the metrics, and on numeric columns not among them."""
    left: dict[Reason, dict[str, LeftOut]] = {reason: {} for reason in Reason}
    for name, why in seen.left_out.items():
        left[why.reason][name] = why
    if flat := list(left[Reason.CONSTANT]):
        yield finding("constant-metric", some(flat, 6), n=len(flat))
    if gaps := left[Reason.GAPS]:
        where = some([f"{n}: {why}" for n, why in gaps.items()], 4) + _gap_rows(seen, gaps)
        yield finding("metric-gaps", where, n=len(gaps))
    if few := {n: count for n, count in seen.gaps.items() if n in seen.usable_metrics}:
        where = some([f"{n}: {count}" for n, count in few.items()], 4) + _gap_rows(seen, few)
        yield finding("filled-gaps", where, n=len(few))
    if hidden := [n for n in left[Reason.HUMAN] if n not in seen.humans]:
        are = "is" if len(hidden) == 1 else "are"
        yield finding("not-metrics", some(hidden, 6), n=len(hidden), are=are)
    if twins := _copies(seen):
        yield finding("copied-metric", some(twins, 4), n=len(twins))
    yield from _outliers(seen)
    yield from _turned(seen)


def _gap_rows(seen: Seen, gaps: Mapping[str, Any]) -> str:
    """The systems that lack the metrics entirely, if all gaps are there."""
    if seen.system is None:
        first = next(iter(gaps))
        rows = (np.flatnonzero(~seen.cells[first].finite)[:3] + 1).tolist()
        return f"; first in row {some(rows)}"
    labels = np.array(seen.labels(seen.system))
    lost: set[str] = set()
    for name in gaps:
        bare = ~seen.cells[name].finite
        inside = set(labels[bare].tolist())
        if any(not bare[labels == s].all() for s in inside):
            return ""
        lost |= inside
    return f"; all of them in {some(sorted(lost), 4)}"


def _copies(seen: Seen) -> list[str]:
    """Pairs of metrics that correlate perfectly, gaps filled with the mean."""
    names = list(seen.usable_metrics)
    if len(names) < 2:
        return []
    table = np.array([seen.cells[n].values for n in names])
    table = table - np.nanmean(table, 1, keepdims=True)
    table = np.where(np.isfinite(table), table, 0.0)
    table = table / np.maximum(np.abs(table).max(1, keepdims=True), np.finfo(float).tiny)
    size = np.sqrt((table * table).sum(1, keepdims=True))
    table = table / np.where(size > 0, size, 1.0)
    near = np.abs(table @ table.T)
    return [f"{names[j]} of {names[i]}" for i, j in np.argwhere(np.triu(near, 1) >= _COPY)]


def _outliers(seen: Seen) -> Iterator[Finding]:
    for name in dict.fromkeys([*seen.usable_metrics, *seen.human]):
        values = seen.cells[name].values
        known = values[np.isfinite(values)]
        judged = name in seen.human and scale_of(known, name) is not None
        if known.size < 20 or is_binary(known) or judged:
            continue
        low, high = np.quantile(known, [0.25, 0.75])
        fence = _FAR * (high - low)
        far = np.flatnonzero((values > high + fence) | (values < low - fence))
        if fence > 0 and far.size:
            where = _cells(values, far)
            yield finding("outliers", where, n=len(far), name=name, low=low, high=high)


def _cells(values: Floats, places: NDArray[np.intp]) -> str:
    return "; ".join(f"row {p + 1:,}: {values[p]:g}" for p in places[:3])


def higher_is_better(seen: Seen) -> bool | None:
    """Which way the human scores point, judged by metrics of known direction; None if unclear."""
    if seen.human and "mqm" in parts(seen.human[0]):
        scores = seen.scores()
        return not bool((scores[np.isfinite(scores)] > 0).any())
    votes = 0.0
    for name, sign in orientations(seen).items():
        if sign and name in seen.usable_metrics:
            votes += sign * correlation(seen.cells[name].values, seen.scores())
    return None if abs(votes) < 0.1 else votes > 0


def _turned(seen: Seen) -> Iterator[Finding]:
    """Metrics with a known name that contradict all the others."""
    if not seen.human:
        return
    scores = seen.scores()
    signs = {n: s for n, s in orientations(seen).items() if s and n in seen.usable_metrics}
    near = {n: s * correlation(seen.cells[n].values, scores) for n, s in signs.items()}
    up = sum(near.values()) > 0
    clear = 4 / np.sqrt(max(int(np.isfinite(scores).sum()), 1))
    against = [n for n, r in near.items() if (r > 0) != up and abs(r) > max(0.1, clear)]
    if len(near) >= 2 and against:
        told = [f"{n}: correlation {near[n] * signs[n]:+.2f}" for n in against]
        turned = ",".join(f"{n}={-signs[n]:+d}" for n in against)
        yield finding("orientation", some(told), n=len(against), signs=turned)


def spread(seen: Seen) -> dict[str, Any]:
    """Standard deviation of the human scores and the correlation with the best metric."""
    scores = seen.scores()
    known = scores[np.isfinite(scores)]
    if known.size < 2:
        raise DataError("too few human scores to estimate their spread.")
    near = {n: correlation(seen.cells[n].values, scores) for n in seen.usable_metrics}
    best = max(near, key=lambda n: abs(near[n]), default=None)
    return {"sd": float(known.std(ddof=1)), "best": best, "r": near.get(best, 0.0) if best else 0.0}


# Human scores: their columns, and findings on them ------------------------------------------------

# Words in the names of columns that a program fills in.
_AUTOMATIC = {
    "judge", "llm", "gpt", "auto", "automatic", "metric", "model", "predicted", "pred", "qe",
}  # fmt: skip


def human_findings(seen: Seen) -> Iterator[Finding]:
    """Findings on the human scores that would be used."""
    if len(seen.humans) > len(seen.human) and seen.human:
        others = [h for h in seen.humans if h not in seen.human]
        yield finding("several-humans", some(others, 6), name=seen.human[0])
    yield from _words(seen)
    unknown = [n for n, sign in orientations(seen).items() if sign is None and n not in seen.leaks]
    if maybe := [n for n in unknown if _maybe_human(seen.cells[n])]:
        yield finding("maybe-human", some(maybe), n=len(maybe), name=shlex.quote(maybe[0]))
    for name in seen.human:
        column = seen.cells[name]
        known = column.values[column.finite]
        if known.size < 2:
            continue
        if (known == known[0]).all():
            yield finding("constant-human", name=name, score=float(known[0]))
        elif is_binary(known):
            share = float(known.mean())
            if min(share, 1 - share) < 0.05 and known.size >= 20:
                yield finding("imbalance", name=name, share=share)
        elif (scale := scale_of(known, name)) is not None:
            low, high, _ = scale
            values = column.values
            far = np.flatnonzero(np.isfinite(values) & ((values < low) | (values > high)))
            if far.size:
                where = _cells(values, far)
                yield finding("off-scale", where, n=len(far), name=name, low=low, high=high)


def _words(seen: Seen) -> Iterator[Finding]:
    """Columns named like human scores that hold words such as good and bad."""
    for name in dict.fromkeys([*seen.human, *human_columns(list(seen.cells))]):
        column = seen.cells[name]
        if column.numeric or column.blank.all() or name == seen.rater:
            continue
        words = list(dict.fromkeys(v for v in seen.labels(name) if v))
        if len(words) <= 20 and max(map(len, words)) <= 20:
            yield finding("human-words", some(words, 4), name=name)


def _maybe_human(column: Column) -> bool:
    """Few grades under an uninformative name, which may be a metric or human scores."""
    values = np.unique(column.values[column.finite])
    if not 1 <= values.size <= 11 or set(parts(column.name)) & _AUTOMATIC:
        return False
    whole = (values == np.round(values)).all()
    return bool(whole and values.min() >= -25 and values.max() <= 100)
