"""Assess judges against people: the result, its text and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr

from fewgold.common.arrays import batches, codes_of
from fewgold.common.checks import as_names, check_confidence, check_count
from fewgold.common.text import fixed, listed, number, plain_frame, plain_value, rounded, shorter
from fewgold.cut import Cut
from fewgold.design import Design, DesignKind
from fewgold.errors import DataError, UnknownNameError
from fewgold.estimate import signature
from fewgold.judge.calibration import bin_edges, calibration
from fewgold.judge.measures import MeasuredValue, Paired
from fewgold.judge.recalibration import Recalibration, best_method, curve_of
from fewgold.judge.trial import (
    BINARY,
    MEASURES,
    JudgedColumns,
    Trial,
    TrialSettings,
    bins_for,
    curve_frame,
    follows_of,
    slices_of,
    trial_of,
)
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample, SampleInfo

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from fewgold.report.sections import Section


def assess(
    ratings: Ratings,
    judges: str | Sequence[str] | None = None,
    *,
    threshold: Cut | str | None = None,
    by: str | Sequence[str] | None = None,
    against: str | Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    bins: int | None = None,
    confidence: float = 0.95,
) -> Assessment:
    """How well one or more judges agree with people, over the whole pool.

    Parameters
    ----------
    ratings
        Human scores of a sample. For pass or fail use 0 and 1; cut other scores with
        ``ratings.cut(">= 4")``.
    judges
        Metrics of the pool, or names in ``columns``; by default all metrics but covariates.
    threshold
        When a judge's score counts as 1, such as ``">= 0.5"``. Not needed for a probability.
    by
        Column of the pool whose values define slices; many different numbers are cut into quarters.
        With several columns, every combination of their values is a slice.
    against
        Columns of the pool, such as length or position, on which errors may depend. For a text, its
        number of words is used.
    columns
        Further columns over the whole pool by name, (N,) each. A judge may have gaps (NaN) here:
        the result is then about the segments that it scored.
    bins
        Bins of the reliability curve; by default one per 20 ratings, between 2 and 10.
    confidence
        Confidence of the intervals.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.samplers import SimpleRandom
    >>> pool, gold = load_demo("zhen")
    >>> sample = SimpleRandom().draw(pool, 200, rng=1)
    >>> ratings = sample.rate(gold[sample.indices]).cut("<= 0")
    >>> found = assess(ratings, "qe", threshold=">= 0.1")
    >>> sorted(found.to_frame()["measure"])[:4]
    ['ac1', 'accuracy', 'auc', 'difference']
    """
    check_confidence(confidence)
    if ratings.scores.ndim > 1:
        raise DataError(
            "a judge is assessed one study at a time; use one draw: ratings.draw(k). For "
            "simulations fewgold.judge.figures takes a batch."
        )
    if bins is not None:
        check_count("bins", bins, 2)
    table = JudgedColumns(ratings, columns or {})
    names = table.judges(judges)
    cut = None if threshold is None else Cut.parse(threshold)
    setting = TrialSettings(ratings, table, cut, bins, confidence)
    trials = tuple(trial_of(setting, name) for name in names)
    columns_by = () if by is None else as_names(by)
    slices = list(slices_of(setting, names, columns_by)) if columns_by else []
    follows = [follows_of(setting, t, x) for t in trials for x in as_names(against)]
    return Assessment(
        ratings,
        trials,
        confidence,
        ", ".join(columns_by) or None,
        tuple(slices),
        tuple(follows),
        table,
    )


def assess_table(
    table: pd.DataFrame,
    *,
    human: str,
    judges: str | Sequence[str],
    id: str | None = None,
    document: str | None = None,
    texts: str | Sequence[str] = (),
    adequate: Cut | str | None = None,
    **options: Any,
) -> Assessment:
    """As `assess`, from a table with one row per segment, of which people rated some or all.

    If some rows are unrated, the rated ones are treated as a simple random sample. If all rows are
    rated, they represent future segments from the same process, clustered by ``document``.

    Parameters
    ----------
    human, judges
        Column names; ``human`` is empty for unrated rows. Pass/fail, yes/no and true/false become 1
        and 0.
    adequate
        Which human scores are good, such as ``">= 4"``.
    options
        As in `assess`.
    """
    from fewgold import io

    frame = table.reset_index(drop=True)
    told = [human, *as_names(judges), *([document] if document else []), *([id] if id else [])]
    for name in told:
        if name not in frame.columns:
            raise UnknownNameError("column", name, [str(c) for c in frame.columns])
    scores = io.column_of(frame[human], human)
    if not scores.numeric:
        raise DataError(f"the column {human!r} holds no scores. Name the right column.")
    rows = np.flatnonzero(scores.finite)
    if not rows.size:
        raise DataError(f"there are no ratings: the column {human!r} is empty.")
    size, n = len(frame), rows.size
    ids = [f"row {k + 1}" for k in range(size)] if id is None else frame[id].astype(str).tolist()
    pool = Pool(
        ids=np.array(ids),
        documents=None if document is None else frame[document].astype(str).to_numpy(),
        texts={name: frame[name].fillna("").astype(str).to_numpy() for name in as_names(texts)},
    )
    whole = n == size
    units = codes_of(frame[document].astype(str).to_numpy()) if whole and document else None
    design = Design(
        kind=DesignKind.PROCESS if whole else DesignKind.SIMPLE,
        size=size,
        weights=np.full(n, 1 / n),
        inclusion=np.full(n, 0.0 if whole else n / size),
        groups=np.zeros(n, dtype=np.int64),
        units=units,
    )
    sample = Sample(pool, rows, design, info=SampleInfo(("process" if whole else "random",)))
    ratings = Ratings(sample, scores.values[rows])
    if adequate is not None:
        ratings = ratings.cut(adequate)
    columns = {str(name): frame[name] for name in frame.columns if name != human}
    return assess(ratings, judges, columns=columns, **options)


# The result

_BESIDE = 3  # largest number of judges in a text table


@dataclass(frozen=True, eq=False)
class Assessment:
    """The assessment of judges against people: tables, text, plots and a page.

    Parameters
    ----------
    ratings
        The human ratings it is based on.
    judges
        A `Trial` for each judge, over the whole pool.
    slices
        A `Trial` for each value of the column ``by`` and each judge.
    follows
        How errors depend on other columns, one record per judge and column.
    """

    ratings: Ratings
    judges: tuple[Trial, ...]
    confidence: float
    by: str | None
    slices: tuple[Trial, ...]
    follows: tuple[dict[str, Any], ...]
    _table: JudgedColumns = field(repr=False)

    def __repr__(self) -> str:
        names = ", ".join(t.judge for t in self.judges)
        return f"Assessment({names}; {self.ratings.n} of {len(self.ratings.sample.pool)} rated)"

    def __getitem__(self, judge: str) -> Trial:
        """The trial of one judge over the whole pool."""
        for trial in self.judges:
            if trial.judge == judge:
                return trial
        raise UnknownNameError("judge", judge, [t.judge for t in self.judges])

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the reader, each sentence once."""
        return tuple(dict.fromkeys(n for t in self.judges for n in t.notes))

    def signature(self) -> str:
        """How the figures were made, in one line."""
        names = "+".join(t.judge for t in self.judges)
        return signature(self.ratings, f"judge({names})", "linearised", self.confidence)

    def to_frame(self) -> pd.DataFrame:
        """One row per judge, slice and measure: value, se, low and high."""
        import pandas as pd

        rows = [
            {"judge": t.judge, "slice": t.slice, "measure": key, "rated": t.rated}
            | {k: float(v) for k, v in made._asdict().items()}
            for t in (*self.judges, *self.slices)
            for key, made in t.figures.items()
        ]
        names = ["judge", "slice", "measure", "rated", *MeasuredValue._fields]
        frame = pd.DataFrame(rows, columns=names)
        return frame if self.slices else frame.drop(columns="slice")

    def table(self) -> pd.DataFrame:
        """One readable row per measure: value and interval of each judge."""
        import pandas as pd

        keys = [k for k in MEASURES if any(k in t.figures for t in self.judges)]
        frame = pd.DataFrame({"measure": [MEASURES[k][0] for k in keys]})
        if len(self.judges) > 1:
            for t in self.judges:
                frame[t.judge] = [_cell(t, k) for k in keys]
        else:
            t = self.judges[0]
            made = [t.figures[k] for k in keys]
            frame["value"] = [_number(float(f.value), _places(t)) for f in made]
            frame[f"{100 * self.confidence:.6g}% interval"] = [_ends(f, _places(t)) for f in made]
        return frame.assign(says=[MEASURES[k][1] for k in keys])

    def differences(self) -> pd.DataFrame:
        """Each pair of judges on the same ratings: first minus second, interval and p-value."""
        import pandas as pd

        rows = []
        for a, b in combinations(self.judges, 2):
            for key in a._made:
                if key in ("people", "difference") or key not in b._made:
                    continue
                rows.append({"first": a.judge, "second": b.judge, "measure": key}
                            | _paired(a, b, key, self.confidence))  # fmt: skip
        names = ["first", "second", "measure", "value", "se", "low", "high", "p"]
        return pd.DataFrame(rows, columns=names)

    def disagreements(self, judge: str | None = None, most: int | None = None) -> pd.DataFrame:
        """Rated segments on which a judge and people disagree, the largest errors first.

        Among equal errors, the one that represents more segments of the pool comes first.
        """
        import pandas as pd

        trial = self.judges[0] if judge is None else self[judge]
        sample, pool = self.ratings.sample, self.ratings.sample.pool
        if trial._error is None:
            return pd.DataFrame()
        of, error = trial._error
        differs = np.abs(error) > 1e-12
        if trial.confusion is not None and trial.kind != "ordinal":
            verdict = trial._made["accuracy"][0]
            differs = verdict.judge != verdict.human
        if of.inside is not None:
            differs = differs & of.inside
        stands = of.weights * trial.size
        order = [k for k in np.lexsort((-stands, -np.abs(error))) if differs[k]][:most]
        at = sample.indices[order]
        frame = pd.DataFrame(
            {
                "id": sample.ids[order],
                "people": self.ratings.scores[order],
                "judge": of.judge[order],
                "error": error[order],
                "stands_for": stands[order],
            }
        )
        if pool.documents is not None:
            frame.insert(1, "document", pool.documents[at])
        return frame.assign(**{str(name): values[at] for name, values in pool.texts.items()})

    def calibrated(self, judge: str | None = None, method: str | None = None) -> Recalibration:
        """A judge's score as a probability that people find a segment good.

        It is fitted to these ratings, so use it for new outputs, to choose what to rate next, or
        for display; assessed on the same ratings it would look better than it is.

        Parameters
        ----------
        judge
            The judge's name; None takes the first.
        method
            ``logistic`` (Platt) or ``isotonic``; None takes the one with the smaller error on
            ratings left out of the fit.

        Examples
        --------
        >>> from fewgold.datasets import judged_frame
        >>> found = assess_table(judged_frame(), human="passed", judges="confidence")
        >>> found.calibrated()
        Recalibration(confidence, isotonic, 3000 segments)
        """
        trial = self.judges[0] if judge is None else self[judge]
        if not np.isin(self.ratings.scores, BINARY).all():
            raise DataError(
                "calibration needs human verdicts of good or bad. Say which human scores are good:",
                hints={"python": 'ratings.cut(">= 4").', "cli": "--adequate '>=4'."},
            )
        whole, at = self._table.scores(trial.judge)
        keep = np.isfinite(at)
        human, scores = self.ratings.scores[keep], at[keep]
        design = self.ratings.sample.design
        documents = self.ratings.sample.pool.documents
        units = np.arange(at.size)
        if documents is not None:
            units = codes_of(np.asarray(documents)[self.ratings.sample.indices])
        chosen, held, error = best_method(scores, human, design.weights[keep], units[keep], method)
        curve = curve_of(chosen, scores, human, design.weights[keep])
        values, known = np.full(whole.shape, np.nan), np.isfinite(whole)
        values[known] = curve(whole[known])
        before: tuple[float | None, MeasuredValue | None] = None, None
        if trial.calibration is not None:
            plain = float(np.average((scores - human) ** 2, weights=design.weights[keep]))
            before = plain, trial.figures["ece"]
        own = np.zeros(at.size)
        own[keep] = held
        inside = None if keep.all() else keep
        pool = values[known]
        of = Paired(self.ratings.scores, own, design, float(pool.mean()), inside)
        edges = bin_edges(pool, bins_for(int(keep.sum())))
        after = calibration(of, pool, edges, self.confidence).ece
        return Recalibration(trial.judge, chosen, values, (before[0], error), (before[1], after))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "confidence": self.confidence,
            "n": self.ratings.n,
            "pool_size": len(self.ratings.sample.pool),
            "design": self.ratings.sample.design._label,
            "judges": [t.to_dict() for t in self.judges],
            "by": self.by,
            "slices": [t.to_dict() for t in self.slices],
            "differences": plain_frame(self.differences()),
            "against": plain_value(list(self.follows)),
            "notes": list(self.notes),
            "signature": self.signature(),
        }

    def summary(self) -> str:
        """A readable summary."""
        return "\n".join(_lines(self))

    def plot(self, kind: str | None = None, judge: str | None = None, **options: Any) -> Axes:
        """Draw ``confusion``, ``reliability`` or ``scores``; None takes the first that fits."""
        from fewgold import plots

        trial = self.judges[0] if judge is None else self[judge]
        kinds = trial.plots
        kind = next(iter(kinds)) if kind is None and kinds else kind
        if kind not in kinds:
            raise UnknownNameError("figure of this judge", str(kind), list(kinds))
        options.setdefault("title", trial.judge)
        if kind == "confusion":
            words = _said(trial)
            frame = trial.matrix().set_axis(words).set_axis(words, axis=1)
            return plots.confusion_matrix(frame, **options)
        if kind == "reliability":
            assert trial.calibration is not None
            q = float(trial._made["auc"][0].quantile(self.confidence))
            return plots.reliability_diagram(curve_frame(trial.calibration, q), **options)
        of, _ = trial._made["people"]
        dev, spread = of._centred_judge
        slope = float(of.mean(dev * of.human) / spread[0]) if spread[0] > 0 else 0.0
        level = float(of.mean(of.human) - slope * of.mean(of.judge))
        return plots.scatter_fit(
            of.judge, of.human, (level, slope), xlabel=trial.judge, ylabel="people", **options
        )

    def page(self, title: str = "Is the judge any good?", disagreements: int = 20) -> str:
        """One HTML page with figures, tables and the disagreements."""
        from fewgold.report import sections

        parts = self.sections(disagreements)
        notes = [part for part in parts if isinstance(part, sections.Notes)]
        rest = [part for part in parts if part not in notes]
        return sections.page(title, _lead(self), rest, top=notes)

    def sections(self, disagreements: int = 20, *, figures: bool = True) -> list[Section]:
        """The sections of the page, for use on your own page: `fewgold.report.Section`."""
        return _sections(self, disagreements, figures)

    def write(self, path: str | Path, title: str = "Is the judge any good?") -> Path:
        """Write the page to a file."""
        from fewgold.report import sections

        return sections.write(path, self.page(title))

    def _repr_html_(self) -> str:
        """The measures as a table, for notebooks."""
        from fewgold.report.sections import Table

        return Table("Judge against people", self.table()).body()


def _paired(a: Trial, b: Trial, key: str, confidence: float) -> dict[str, float]:
    """Difference in a measure between two judges on the same ratings."""
    (of_a, one), (of_b, two) = a._made[key], b._made[key]
    value = float(one.value - two.value)
    left = of_a.residuals(one.influence) - of_b.residuals(two.influence)
    se = float(np.sqrt(of_a.variance_of(left)))
    q, df = float(of_a.quantile(confidence)), float(of_a.df)
    half = q * se
    if se <= 1e-9 and not of_a.design._census:
        # The judges never differ on rated segments: allow for as many differences as the ratings
        # may have missed.
        half = q**2 / (float(of_a.units()) + q**2)
    p = 2 * float(stdtr(df, -abs(value) / se)) if se > 1e-9 else float("nan")
    return {"value": value, "se": se, "low": value - half, "high": value + half, "p": p}


# Text and page


def _number(value: float, places: int = 3) -> str:
    return "–" if not np.isfinite(value) else fixed(float(value), places)


def _places(trial: Trial) -> int:
    """Decimals for means of scores; shares have three."""
    size = abs(float(trial.figures["people"].value))
    return 3 if size <= 10 else 2 if size < 100 else 1


def _ends(made: MeasuredValue, places: int = 3) -> str:
    if made.se == 0 and made.low == made.high:
        return "known"
    if not (np.isfinite(made.low) and np.isfinite(made.high)):
        return "unknown"
    return f"{_number(float(made.low), places)} to {_number(float(made.high), places)}"


def _table(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows of text with aligned columns, the first ``left`` of them left-aligned."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(w) if k < left else cell.rjust(w)
            for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _lines(found: Assessment) -> Iterator[str]:
    level = f"{100 * found.confidence:.6g}% interval"
    for k, t in enumerate(found.judges):
        if k:
            yield ""
        yield f"{t.judge} against people: {t.rated} of {t.size} segments rated"
        if t.confusion is not None and t.counts is not None and t.levels.size <= 7:
            yield ""
            yield from _matrix_lines(t)
        if len(found.judges) == 1 and t.figures:
            yield from _figure_lines(t, level)
        yield from _worth_lines(t)
    if len(found.judges) > 1:
        for some in batches(len(found.judges), _BESIDE):
            yield from _beside_lines(found.judges[some], level)
        yield from _difference_lines(found, level)
    if found.slices:
        yield from _slice_lines(found)
    if found.follows:
        yield from _follow_lines(found, level)
    if found.notes:
        yield ""
        yield from (f"note: {note}" for note in found.notes)
    yield ""
    yield found.signature()


def _figure_lines(t: Trial, level: str) -> Iterator[str]:
    """The measures of one judge, with explanations."""
    yield ""
    rows = [["", "value", level, ""]]
    for key, made in t.figures.items():
        name, says = MEASURES[key]
        places = _places(t)
        rows.append([name, _number(float(made.value), places), _ends(made, places), says])
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].rjust(widths[2])]
        yield "  ".join([*cells, row[3]]).rstrip()


def _beside_lines(trials: Sequence[Trial], level: str) -> list[str]:
    """The measures of several judges, one column each."""
    keys = [k for k in MEASURES if any(k in t.figures for t in trials)]
    rows = [[f"value ({level})", *(t.judge for t in trials)]]
    rows += [[MEASURES[k][0], *(_cell(t, k) for t in trials)] for k in keys]
    return ["", *_table(rows)] if keys else []


def _cell(t: Trial, key: str, missing: str = "–") -> str:
    """A value with its interval."""
    made = t.figures.get(key)
    if made is None:
        return missing
    places = _places(t)
    value = _number(float(made.value), places)
    return value if value == "–" else f"{value} ({_ends(made, places)})"


def _said(t: Trial) -> list[str]:
    """The levels of a judge in words."""
    if t.levels.size == 2 and (t.levels == BINARY).all():
        return ["bad", "good"]
    return [f"{v:g}" for v in t.levels]


def _matrix_lines(t: Trial) -> list[str]:
    assert t.confusion is not None and t.counts is not None
    names = _said(t)
    rows = [["share of the pool (rated)", *(f"judge: {n}" for n in names)]]
    for i, name in enumerate(names):
        cells = [
            f"{_number(float(t.confusion[i, j]))} ({t.counts[i, j]:.0f})" for j in range(len(names))
        ]
        rows.append([f"people: {name}", *cells])
    return _table(rows)


def _worth_lines(t: Trial, told: str = "this judge") -> list[str]:
    if t.worth is None:
        return []
    value, low, high = t.worth
    return [
        "",
        f"{t.rated} ratings with {told} give the mean as precisely as {rounded(value)} without "
        f"({rounded(low)} to {rounded(high)}).",
    ]


def _key_measures(found: Assessment) -> list[str]:
    """The measures shown in tables of slices and pairs."""
    order = ("difference", "accuracy", "sensitivity", "specificity", "kappa", "ac1", "auc", "ece",
             "kappa_quadratic", "spearman", "distance")  # fmt: skip
    return [k for k in order if any(k in t.figures for t in found.judges)]


def _difference_lines(found: Assessment, level: str) -> list[str]:
    rows = [["difference between judges", "", "value", level]]
    keys = _key_measures(found)
    for row in found.differences().to_dict("records"):
        if row["measure"] in keys:
            ends = f"{_number(row['low'])} to {_number(row['high'])}"
            pair = f"{row['first']} − {row['second']}"
            rows.append([pair, MEASURES[row["measure"]][0], _number(row["value"]), ends])
    return ["", *_table(rows, 2)] if len(rows) > 1 else []


def _slice_lines(found: Assessment) -> list[str]:
    shown = ["difference", "accuracy", "kappa", "spearman"]
    if any(not set(shown) & set(t.figures) for t in found.judges):
        shown.append("auc")  # nothing else is known of a score without a threshold
    table = _slice_rows(found, [k for k in _key_measures(found) if k in shown])
    return ["", *_table(table, 1 + (len(found.judges) > 1))]


def _slice_rows(found: Assessment, keys: Sequence[str]) -> list[list[str]]:
    """A header, and one row per slice and judge: its number of ratings and some measures."""
    several = len(found.judges) > 1
    whole = {t.judge: t.figures for t in found.judges}
    rows = [[found.by or "", *(["judge"] if several else []), "rated",
             *(MEASURES[k][0] for k in keys)]]  # fmt: skip
    for t in found.slices:
        cells = [shorter(t.slice, 30), *([t.judge] if several else []), f"{t.rated} of {t.size}"]
        none = ("too few" if k in whole[t.judge] else "–" for k in keys)
        rows.append([*cells, *(_cell(t, k, no) for k, no in zip(keys, none, strict=True))])
    return rows


def _follow_lines(found: Assessment, level: str) -> list[str]:
    return ["", *_table(_follow_rows(found, level), 2)]


def _follow_rows(found: Assessment, level: str) -> list[list[str]]:
    """A header, and one row per column and judge: how errors depend on the column."""
    rows = [["errors per sd of", "judge", "judge − people", level, "size of error", level]]
    for row in found.follows:
        cells = [row["column"], row["judge"]]
        for key in ("error", "size"):
            ends = [_number(row.get(f"{key}_{end}", np.nan)) for end in ("slope", "low", "high")]
            cells += [ends[0], f"{ends[1]} to {ends[2]}" if ends[0] != "–" else "column constant"]
        rows.append(cells)
    return rows


def _lead(found: Assessment) -> list[str]:
    size = len(found.ratings.sample.pool)
    names = listed([t.judge for t in found.judges])
    told = [f"{names} against people, who rated {found.ratings.n} of {size} segments."]
    for t in found.judges:
        told += _worth_lines(t, t.judge)[1:]
    return told


def _sections(found: Assessment, disagreements: int, figures: bool) -> list[Section]:
    """The parts of the page."""
    import pandas as pd

    from fewgold.plots import to_svg
    from fewgold.plots.style import available
    from fewgold.report import sections as s

    level = f"{100 * found.confidence:.6g}% interval"
    parts: list[Section] = [
        s.Table("Agreement", found.table(), caption=f"With {level}s that follow the design.")
    ]
    if found.notes:
        parts.insert(0, s.Notes("Before you use this", found.notes))
    if figures and available():
        drawn = [
            s.Figure(f"{t.judge}: {told}", to_svg(found.plot(kind, t.judge), alt=told))
            for t in found.judges
            for kind, told in t.plots.items()
        ]
        parts += [s.Group("Figures", drawn, beside=True)] if drawn else []
    if len(found.judges) > 1:
        frame = found.differences()
        frame = frame[frame["measure"].isin(_key_measures(found))]
        frame = frame.assign(measure=[MEASURES[k][0] for k in frame["measure"]])
        digits: dict[str, s.Format] = dict.fromkeys(("value", "se", "low", "high"), ".3f")
        digits["p"] = lambda p: "< 0.001" if p < 0.001 else f"{p:.3f}"
        told = "First minus second, paired. p: p-value of no difference."
        parts.append(s.Table("Judges compared", frame, told, digits))
    if found.slices:
        head, *rows = _slice_rows(found, _key_measures(found))
        frame = pd.DataFrame(rows, columns=head)
        parts.append(s.Table(f"By {found.by}", frame, caption=f"With {level}s."))
    if found.follows:
        frame = pd.DataFrame(
            {
                "column": row[0], "judge": row[1], "judge − people": f"{row[2]} ({row[3]})",
                "size of error": f"{row[4]} ({row[5]})",
            }
            for row in _follow_rows(found, level)[1:]
        )  # fmt: skip
        told = f"Change per standard deviation of a column, with {level}s."
        parts.append(s.Table("What errors depend on", frame, caption=told))
    for t in found.judges:
        frame = found.disagreements(t.judge, disagreements)
        if len(frame):
            parts.append(
                s.Table(
                    f"Disagreements with {t.judge}", frame,
                    "Largest first. Stands for: number of segments of the pool that it represents.",
                    {"people": ".4g", "judge": number, "error": number, "stands_for": ".1f"},
                    names={"stands_for": "stands for"},
                )
            )  # fmt: skip
    parts.append(s.Code("How it was made", found.signature()))
    return parts
