"""Systems compared within slices (languages, domains, lengths) from the same ratings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewgold.common.arrays import BoolArray
from fewgold.common.checks import as_names
from fewgold.common.statistics import adjusted_p_values
from fewgold.common.text import decimals, html_table, plain_frame
from fewgold.comparison.analysis import compare, compare_samples
from fewgold.comparison.designs import subset
from fewgold.comparison.result import Comparison
from fewgold.comparison.table import columns_of
from fewgold.errors import DataError, UnknownNameError
from fewgold.report.sections import figures_of, save_result
from fewgold.sample import Ratings, Sample
from fewgold.slices import LEAST, labels_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["SlicedComparison", "compare_by"]


@dataclass(frozen=True, eq=False)
class SlicedComparison:
    """The systems compared on all segments, and within each slice.

    Parameters
    ----------
    whole
        The comparison on all segments.
    by
        The column that defines the slices.
    parts
        The comparison within each slice, the largest slice first; None if impossible.
    sizes, rated
        Number of segments in each slice, and of rated ones.
    why
        Why a slice has no comparison.
    least
        Fewest rated segments for which a slice is compared.
    """

    whole: Comparison
    by: str
    parts: Mapping[str, Comparison | None]
    sizes: Mapping[str, int]
    rated: Mapping[str, int]
    why: Mapping[str, str]
    least: int = LEAST

    def __repr__(self) -> str:
        none = sum(part is None for part in self.parts.values())
        return (
            f"SlicedComparison({len(self.parts)} by {self.by}, {len(self.whole.systems)} systems"
            f"{f', {none} with too few ratings' if none else ''})"
        )

    def _repr_html_(self) -> str:
        """The differences in a notebook."""
        heads, rows = self.cells()
        return html_table(repr(self), rows, heads, self.notes)

    def __getitem__(self, name: str) -> Comparison:
        """The comparison within one slice."""
        if name not in self.parts:
            raise UnknownNameError("slice", name, self.parts)
        found = self.parts[name]
        if found is None:
            raise DataError(f"the slice {name!r} has no comparison: {self.why[name]}.")
        return found

    @cached_property
    def _differences(self) -> pd.DataFrame:
        import pandas as pd

        rows: list[dict[str, Any]] = []
        order = self.whole.ranking()["system"].tolist()
        for name, part in self.parts.items():
            if part is None:
                continue
            place = {system: k for k, system in enumerate(order)}
            own: list[dict[str, Any]] = []
            for row in part.differences().to_dict("records"):
                if place[row["first"]] > place[row["second"]]:  # one direction in all slices
                    row["first"], row["second"] = row["second"], row["first"]
                    row["difference"] = 0.0 - row["difference"]
                    row["low"], row["high"] = -row["high"], -row["low"]
                    row["p_better"] = 1 - row["p_better"]
                own.append({"slice": name, **{k: row[k] for k in _KEPT}})
            rows += sorted(own, key=lambda row: (place[row["first"]], place[row["second"]]))
        frame = pd.DataFrame(rows, columns=["slice", *_KEPT])
        numbers = ("difference", "se", "low", "high", "p_better", "p")
        frame = frame.astype(dict.fromkeys(numbers, float))  # even if there is no row
        p = frame["p"].to_numpy(dtype=float)
        frame["p_adjusted"] = adjusted_p_values(p, self.whole.correction)
        frame["significant"] = frame["p_adjusted"] <= self.whole.level
        return frame

    def differences(self) -> pd.DataFrame:
        """One row per slice and pair, in the order of the whole ranking.

        ``p_adjusted`` is corrected for all pairs in all slices.
        """
        return self._differences.copy()

    def scores(self) -> pd.DataFrame:
        """One row per slice and system: its score with an interval."""
        import pandas as pd

        parts = [part.scores().assign(slice=n) for n, part in self.parts.items() if part]
        names = ["slice", "system", "score", "se", "low", "high", "ratings"]
        return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on slices without a comparison."""
        return tuple(f"{name}: {why}" for name, why in self.why.items())

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headers and rows of a readable table."""
        level = f"{100 * self.whole.confidence:.6g}%"
        heads = [self.by, "rated", "of", "difference", "", level, "p, corrected"]
        frame = self._differences
        finite = frame["se"][np.isfinite(frame["se"]) & (frame["se"] > 0)]
        digits = max(decimals(float(finite.min()) if len(finite) else None) - 1, 0)
        rows = []
        for name in self.parts:
            facts = [name, str(self.rated[name]), str(self.sizes[name])]
            own = frame[frame["slice"] == name].to_dict("records")
            if not own:
                rows.append([*facts, "too few", "–", "–", "–"])
            for k, row in enumerate(own):
                ends = "unknown"
                if math.isfinite(row["low"]):
                    ends = f"{row['low']:.{digits}f} to {row['high']:.{digits}f}"
                p = row["p_adjusted"]
                told = "–" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"
                rows.append([
                    *(facts if k == 0 else ["", "", ""]), f"{row['first']} − {row['second']}",
                    f"{row['difference']:+.{digits}f}".replace("-", "−"), ends.replace("-", "−"),
                    told + ("*" if row["significant"] else " "),
                ])  # fmt: skip
        return heads, rows

    def summary(self) -> str:
        """A readable table."""
        heads, rows = self.cells()
        wide = [max(len(r[k]) for r in [heads, *rows]) for k in range(len(heads))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, wide, strict=True)).rstrip()
                 for r in [heads, *rows]]  # fmt: skip
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes), self.signature()])

    def signature(self) -> str:
        """The signature of the whole comparison, and the slices."""
        cut = "|".join(f"{n}\x1f{self.rated[n]}\x1f{self.sizes[n]}" for n in self.parts)
        digest = hashlib.sha256(cut.encode()).hexdigest()[:6]
        by = self.by.replace(" ", "-")
        return f"{self.whole.signature()}|by:{by}#{digest}|least:{self.least}"

    def to_dict(self) -> dict[str, Any]:
        """The comparison in plain numbers, for JSON."""
        return {
            "by": self.by, "correction": self.whole.correction,
            "slices": [
                {"slice": n, "size": self.sizes[n], "rated": self.rated[n],
                 "enough": part is not None}
                for n, part in self.parts.items()
            ],
            "scores": plain_frame(self.scores()), "differences": plain_frame(self.differences()),
            "notes": list(self.notes), "signature": self.signature(),
        }  # fmt: skip

    def save(self, folder: str | Path) -> list[Path]:
        """Write the differences as a table and, if matplotlib is installed, as a plot."""
        figures = figures_of(lambda _: self.plot(), ["slices"] if len(self._differences) else [])
        return save_result(folder, {"slices": self.differences()}, {}, figures)

    def plot(self, ax: Axes | None = None) -> Axes:
        """A forest plot of the differences, slice by slice, and on all segments."""
        import pandas as pd

        from fewgold.plots import forest

        frame = self._differences
        whole = self.whole.differences()
        rows = [(f"{r.slice}: {r.first} − {r.second}", r.difference, r.low, r.high, r.slice)
                for r in frame.itertuples()]  # fmt: skip
        rows += [(f"all: {r.first} − {r.second}", r.difference, r.low, r.high, "all")
                 for r in whole.itertuples()]  # fmt: skip
        shown = pd.DataFrame(rows, columns=["system", "score", "low", "high", "slice"])
        shown["group"] = pd.factorize(shown["slice"])[0]
        return forest(shown, ax, label="difference", confidence=self.whole.confidence)


_KEPT = ("first", "second", "difference", "se", "low", "high", "p_better", "p", "n", "basis")


def compare_by(
    data: Any, by: str | Sequence[str] | Mapping[str, Any], *, least: int = LEAST, **options: Any
) -> SlicedComparison:
    """Compare systems within each slice of the segments, and on all of them.

    Parameters
    ----------
    data
        A dataframe as in `compare`, or the ratings of each system by name as in `compare_samples`.
    by
        Column of the slices, or several to cross them. A segment is in one slice, whatever the
        system. For samples, a text column of their pools, ``"document"`` or ``"system"``; or a
        mapping from each system to what `fewgold.slices.slices` takes.
    least
        Fewest rated segments (of each system, for samples) for which a slice is compared.
    options
        As in `compare` or `compare_samples`. The correction covers all pairs in all slices.

    Examples
    --------
    >>> from fewgold.datasets import demo_frame
    >>> table = demo_frame("ende")
    >>> table["half"] = table["document"].str[-1].isin(list("01234")).map({True: "a", False: "b"})
    >>> found = compare_by(table, "half", human="rater1", system="system", id="segment")
    >>> sorted(found.parts)
    ['a', 'b']
    """
    if isinstance(data, Mapping) and all(isinstance(r, Ratings) for r in data.values()):
        return _of_samples(dict(data), by, least, options)
    return _of_table(data, as_names(by), least, options)


def _of_table(
    data: Any, names: tuple[str, ...], least: int, options: dict[str, Any]
) -> SlicedComparison:
    import pandas as pd

    whole = compare(data, **options)
    frame = pd.DataFrame(columns_of(data))
    for name in names:
        if name not in frame.columns:
            raise UnknownNameError("column", name, map(str, frame.columns))
    ids = frame[options["id"]].astype(str)
    cells = {name: frame[name].astype(object).where(frame[name].notna(), None) for name in names}
    labels = pd.Series(_crossed(cells), index=frame.index)
    double = labels.groupby(ids).nunique()
    if (double > 1).any():
        raise DataError(
            f"segment {double.index[double > 1][0]!r} is in two slices by {','.join(names)}: "
            "the slice must be the same for all systems."
        )
    label_of = dict(zip(ids, labels, strict=True))
    sample: Sample | None = options.get("sample")
    humans = list(as_names(options["human"]))
    told = frame[humans].notna().any(axis=1)
    fixed = options | {
        "higher_is_better": whole.higher_is_better, "target": whole.facts["target"],
        "unit": options.get("unit"),
    }  # fmt: skip

    def of(name: str) -> _Slice:
        inside = labels == name
        size, rated = ids[inside].nunique(), ids[inside & told].nunique()

        def made() -> Comparison:
            own = fixed
            if sample is not None:
                keep = np.array([label_of.get(str(i)) == name for i in sample.pool.ids.tolist()])
                own = fixed | {"sample": _part(sample, keep)}
            return compare(frame[inside], **own)

        return _Slice(int(size), int(rated), int(rated), made)

    return _sliced(whole, ",".join(names), sorted(set(labels)), of, least)


def _of_samples(
    data: dict[str, Ratings], by: Any, least: int, options: dict[str, Any]
) -> SlicedComparison:
    whole = compare_samples(data, **options)
    each = by if isinstance(by, Mapping) else dict.fromkeys(data, by)
    if missing := [name for name in data if name not in each]:
        raise DataError(f"by must have labels for each system; {missing[0]!r} has none.")
    told = {name: labels_of(r.sample.pool, each[name]) for name, r in data.items()}
    labels = {name: cells for name, (_, cells) in told.items()}
    called = next(iter(told.values()))[0]
    fixed = options | {"higher_is_better": whole.higher_is_better}

    def of(name: str) -> _Slice:
        keep = {system: labels[system] == name for system in data}
        rated = {s: int(keep[s][r.sample.indices].sum()) for s, r in data.items()}

        def made() -> Comparison:
            own = {}
            for system, ratings in data.items():
                inside = keep[system][ratings.sample.indices]
                drawn = _part(ratings.sample, keep[system])
                own[system] = replace(ratings, sample=drawn, scores=ratings.scores[inside])
            return compare_samples(own, **fixed)

        sizes = (int(k.sum()) for k in keep.values())
        return _Slice(sum(sizes), sum(rated.values()), min(rated.values()), made)

    return _sliced(whole, called, sorted(set().union(*map(set, labels.values()))), of, least)


class _Slice(NamedTuple):
    """Numbers of segments in a slice: all, rated, and rated for the system with the fewest."""

    size: int
    rated: int
    fewest: int
    compared: Callable[[], Comparison]


def _sliced(
    whole: Comparison, by: str, names: list[str], of: Callable[[str], _Slice], least: int
) -> SlicedComparison:
    found = {name: of(name) for name in names}
    parts: dict[str, Comparison | None] = {}
    why: dict[str, str] = {}
    for name in sorted(names, key=lambda name: -found[name].size):
        own = found[name]
        parts[name] = None
        if own.fewest < min(least, own.size):
            few = "" if own.fewest == own.rated else f", {own.fewest} of one system"
            why[name] = f"{own.rated} rated segments{few}: too few to compare systems"
            continue
        try:
            parts[name] = own.compared()
        except DataError as error:
            why[name] = error.message.removesuffix(".")
    sizes, rated = ({n: getattr(found[n], k) for n in parts} for k in ("size", "rated"))
    return SlicedComparison(whole, by, parts, sizes, rated, why, least)


def _crossed(cells: Mapping[str, Any]) -> NDArray[Any]:
    texts = [["(empty)" if v is None or not str(v).strip() else str(v) for v in c]
             for c in cells.values()]  # fmt: skip
    return np.array([" / ".join(row) for row in zip(*texts, strict=True)], dtype=object)


def _part(sample: Sample, keep: BoolArray) -> Sample:
    """The part of a sample in a slice, as a sample of the slice."""
    places = np.flatnonzero(keep)
    row = np.full(keep.size, -1)
    row[places] = np.arange(places.size)
    inside = keep[sample.indices]
    design = subset(sample.design, inside, size=places.size)
    return Sample(sample.pool.take(places), row[sample.indices[inside]], design, info=sample.info)
