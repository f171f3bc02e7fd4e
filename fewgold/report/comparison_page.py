"""The report of a comparison: which system is better, how certain that is, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold import plots
from fewgold._version import __version__
from fewgold.common.text import listed, plain_value
from fewgold.comparison.result import Comparison, decimals, findings, needed_line
from fewgold.errors import DataError
from fewgold.plots.style import available
from fewgold.report.sections import (
    BulletList,
    Code,
    Facts,
    Figure,
    Format,
    Headline,
    Notes,
    Section,
    Table,
    markdown,
    page,
    write,
)

if TYPE_CHECKING:
    from fewgold.comparison import SlicedComparison

_FIGURES = {
    "forest": (
        "Scores by system",
        "The score of each system alone; differences are more precise than these intervals "
        "suggest.",
    ),
    "differences": ("Differences of all pairs", "The row minus the column."),
    "ranks": ("Ranks", "Possible ranks of each system, and their probabilities."),
}


@dataclass(frozen=True, eq=False)
class ComparisonReport:
    """The report of a comparison of systems.

    Parameters
    ----------
    result
        The comparison.
    title
    Title of the page.
    facts
        Further facts for the overview, as pairs of a name and a value.
    commands
    Commands that reproduce the result.
    notes
        What a reader must know besides the notes of the comparison.
    slices
        The comparison within slices, to be shown as well.
    """

    result: Comparison
    title: str
    facts: Sequence[tuple[str, str]] = ()
    commands: Sequence[str] = ()
    notes: Sequence[str] = field(default=())
    slices: SlicedComparison | None = None

    def html(self) -> str:
        """The report as one self-contained HTML page."""
        return page(self.title, **self._parts(drawn=available()))

    def markdown(self) -> str:
        """The same as Markdown, without the figures."""
        return markdown(self.title, **self._parts(drawn=False))

    def write(self, path: str | Path) -> Path:
        """Write ``.html`` or ``.md``, depending on the path; leaves no partial file."""
        suffix = Path(path).suffix.lower()
        if suffix in (".html", ".htm"):
            return write(path, self.html())
        if suffix in (".md", ".markdown"):
            return write(path, self.markdown())
        raise DataError(f"a report must end in .html or .md; got {str(path)!r}.")

    def to_dict(self) -> dict[str, Any]:
        """All numbers of the report, for JSON."""
        return {
            "schema": "fewgold.comparison/1",
            "title": self.title,
            **self.result.to_dict(),
            "needed": plain_value(self.result.needed().to_dict("records")),
            "slices": None if self.slices is None else self.slices.to_dict(),
            "facts": dict(self.facts),
            "commands": list(self.commands),
            "version": __version__,
        }

    def _parts(self, *, drawn: bool) -> dict[str, Any]:
        return {
            "top": _top(self),
            "sections": _sections(self, drawn),
            "footer": [f"Made with fewgold {__version__}.", f"`{self.result.signature()}`"],
        }


def _top(report: ComparisonReport) -> list[Section]:
    result, ranking = report.result, report.result.ranking()
    best = ranking[ranking["group"] == 1]["system"].tolist()
    facts = result.facts
    if len(best) == 1:
        said = f"{best[0]} is better than all others"
    elif len(best) < len(ranking):
        said = f"{listed(best)} lead, and cannot be ranked among themselves"
    else:
        said = "No system is better than all others"
    about = (
        f"all {facts['pool_size']} segments"
        if facts["target"] == "pool"
        else f"new {facts['unit']}s like these"
    )
    lines = [f"From {facts['n']} rated segments; about {about}.", *findings(result)]
    made: list[Section] = [Headline(f"{len(result.systems)} systems compared", said, lines)]
    told = [*report.notes, *result.remarks]
    return made + ([Notes("Read this first", told)] if told else [])


def _sections(report: ComparisonReport, drawn: bool) -> list[Section]:
    result = report.result
    level = f"{100 * result.confidence:.10g}%"
    scores = result.scores()
    digits = f".{decimals(float(scores['se'].min()))}f"
    ranking = result.ranking().merge(scores, on="system")
    shown = ranking[
        ["system", "rank_low", "rank_high", "group", "score", "low", "high", "p_best", "ratings"]
    ]
    form: Mapping[str, Format] = {
        **dict.fromkeys(("score", "low", "high"), digits), "p_best": ".3f"
    }  # fmt: skip
    way = "Higher" if result.higher_is_better else "Lower"
    found: list[Section] = [
        Table(
            "Ranking", shown,
            f"{way} scores are better. Ranks hold together with {level} confidence; a new group "
            "starts where every system above is significantly better than every one below.",
            formats=form,
            names={
                "rank_low": "best rank", "rank_high": "worst rank", "low": f"{level} from",
                "high": "to", "p_best": "P(best)",
            },
        ),
    ]  # fmt: skip
    if drawn:
        found += [
            Figure(title, plots.to_svg(result.plot(kind), alt=title), caption)
            for kind, (title, caption) in _FIGURES.items()
        ]
    pairs = result.differences()[
        ["first", "second", "difference", "low", "high", "p_better", "p_adjusted", "significant",
         "n", "basis"]
    ]  # fmt: skip
    found.append(
        Table(
            "Differences", pairs,
            f"The first minus the second, with the {level} interval of each pair alone; p-values "
            f"are corrected ({result.correction}).",
            formats=dict.fromkeys(("difference", "low", "high"), digits)
            | {
                "p_better": ".3f", "p_adjusted": ".4f",
                "significant": lambda found: "yes" if found else "not shown",
            },
            names={
                "low": f"{level} from", "high": "to", "p_better": "P(first better)",
                "p_adjusted": "p, corrected", "n": "segments", "basis": "compared on",
            },
        )
    )  # fmt: skip
    if report.slices is not None:
        found += _slices(report.slices, drawn)
    rows: list[dict[str, Any]] = plain_value(result.needed().to_dict("records"))
    if rows:
        found.append(
            BulletList(
                "Ratings needed to tell them apart", [f"{needed_line(row)}." for row in rows]
            )
        )
    if result.people is not None:
        found.append(
            Table(
                "Raters", result.raters(),
                "Bias: how much higher a rater's scores are, ± its standard error. Spread: the "
                "standard deviation of what the bias leaves. A dash means unknown.",
                names={"bias_se": "±"},
            )
        )  # fmt: skip
    if report.facts:
        found.append(Facts("How it was done", report.facts))
    if report.commands:
        found.append(Code("How to reproduce it", "\n".join(report.commands), "sh"))
    return found


def _slices(sliced: SlicedComparison, drawn: bool) -> list[Section]:
    """The differences within each slice, as a table and a figure."""
    import pandas as pd

    heads, rows = sliced.cells()
    names = {f"column {k}": head for k, head in enumerate(heads)}  # a heading may be empty
    told = " ".join([
        "Significant (*) after the correction for all pairs in all slices.",
        *(f"{note}." for note in sliced.notes),
        f"Signature: {sliced.signature()}",
    ])  # fmt: skip
    made: list[Section] = [
        Table(f"By {sliced.by}", pd.DataFrame(rows, columns=list(names)), told, names=names)
    ]
    if drawn and any(part is not None for part in sliced.parts.values()):
        svg = plots.to_svg(sliced.plot(), alt=f"Differences by {sliced.by}")
        made.append(Figure(f"By {sliced.by}, drawn", svg, "Dots are differences, lines intervals."))
    return made
