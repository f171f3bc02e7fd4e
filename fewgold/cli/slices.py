"""Slices, weights and quantities other than the mean, for ``fewgold estimate``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import parse
from fewgold.cli.console import PaperTable, draw, emit, escape, pairs, remarks, table
from fewgold.cli.options import OutputFormat, described
from fewgold.common.text import decimals, plain_value

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from fewgold.common.arrays import FloatArray
    from fewgold.estimate import Estimate
    from fewgold.estimator import Estimator
    from fewgold.quantities import DomainEstimate
    from fewgold.sample import Ratings

SLICES = "Slices and other quantities"

By = Annotated[
    str | None,
    described(
        "COLUMN,…", "Also report each value of a column, such as each language.", panel=SLICES
    ),
]
Least = Annotated[
    int, described("N", "Fewest ratings for a slice to get its own score.", panel=SLICES, min=2)
]
Shrink = Annotated[
    bool,
    typer.Option(
        "--shrink", help="Also shrink the slices towards their common mean.", rich_help_panel=SLICES
    ),
]
Weights = Annotated[
    str | None,
    described(
        "COLUMN", "Column of weights of the segments, for another traffic mix.", panel=SLICES
    ),
]
Mix = Annotated[
    str | None,
    described("A=0.5,B=0.5", "Share of each value of --by, for another traffic mix.", panel=SLICES),
]
Quantile = Annotated[
    str | None,
    described("P,…", "Estimate quantiles, such as 0.5,0.9, instead of the mean.", panel=SLICES),
]
Total = Annotated[
    bool, typer.Option("--total", help="Estimate the sum of all scores.", rich_help_panel=SLICES)
]
Ratio = Annotated[
    str | None,
    described(
        "NUM/DEN",
        "Estimate the sum of one column over that of another, such as errors/words.",
        panel=SLICES,
    ),
]
Forest = Annotated[
    Path | None,
    described("FILE", "Save a plot of the slices: .png, .svg or .pdf.", "--plot", panel=SLICES),
]


@dataclass(frozen=True)
class Asked:
    """The quantities that the options ask for besides the mean of the whole pool."""

    by: str | None = None
    least: int = 10
    shrink: bool = False
    weights: str | None = None
    mix: str | None = None
    quantile: str | None = None
    total: bool = False
    ratio: str | None = None
    plot: Path | None = None

    def __post_init__(self) -> None:
        if sum(map(bool, (self.quantile, self.total, self.ratio))) > 1:
            raise typer.BadParameter("give one of --quantile, --total and --ratio.")
        if self.mix is not None and (self.by is None or self.weights or self.quantile):
            raise typer.BadParameter(
                "--mix needs --by, and cannot be combined with --weights or --quantile."
            )
        if self.by is None and (self.shrink or self.plot is not None):
            raise typer.BadParameter("--shrink and --plot need slices: --by COLUMN.")
        if self.by is not None and len(parse.names(self.quantile)) > 1:
            raise typer.BadParameter("--by works with one quantile at a time.")

    def __bool__(self) -> bool:
        return self != Asked(least=self.least)

    @property
    def numerator(self) -> str | None:
        """The human column in ``--ratio NUM/DEN``."""
        return None if self.ratio is None or "/" not in self.ratio else self.ratio.partition("/")[0]

    @property
    def denominator(self) -> str | None:
        return None if self.ratio is None else self.ratio.rpartition("/")[2].strip()


#: Finds a column for the whole pool, or for the rated segments only.
Columns = Callable[[str], "NDArray[Any]"]


def answer(
    asked: Asked, ratings: Ratings, estimator: Estimator, column: Columns, level: float,
    facts: dict[str, Any], how: OutputFormat, quiet: bool, target: str = "pool",
) -> None:  # fmt: skip
    """Estimate and print the requested quantities, for these segments or for new ones like them."""
    from fewgold import quantities
    from fewgold.slices import slices

    weights = None if asked.weights is None else _numbers(column, asked.weights)
    of = f"mean with weights {asked.weights}" if asked.weights else "mean"
    made: Callable[[Ratings, Estimator, Any], Estimate]
    if asked.quantile is not None:
        shares = [parse.rate(p) for p in parse.names(asked.quantile)]
        made = lambda r, e, w: quantities.quantile(r, e, shares[0], w, target=target)  # noqa: E731
    elif asked.ratio is not None:
        below = _numbers(column, asked.denominator or "")
        made = lambda r, e, w: quantities.ratio(r, e, below, w, target=target)  # noqa: E731
    elif asked.total:
        made = quantities.total
    else:
        made = lambda r, e, w: quantities.mean_of(r, e, w, of, target=target)  # noqa: E731
    labels = None
    if asked.by is not None:
        labels = {name: column(name) for name in parse.names(asked.by)}
    found: list[Any]
    if asked.mix is not None:
        found = [reweighted(asked, ratings, estimator, column, target)]
    elif asked.quantile is not None:
        found = [quantities.quantile(ratings, estimator, p, weights, target=target) for p in shares]
    else:
        found = [made(ratings, estimator, weights)]
    sliced = None
    if labels is not None:
        plain = not (asked.quantile or asked.ratio or asked.total)
        sliced = slices(
            ratings, estimator, labels, weights=weights, least=asked.least, shrink=asked.shrink,
            target=target, quantity=None if plain else made,
        )  # fmt: skip
    written = (
        [] if sliced is None else draw(lambda: sliced.plot(confidence=level), asked.plot, quiet)
    )
    answers = [plain_value({"quantity": "mean", **e.to_dict(level), **facts}) for e in found]
    record = {**answers[0], "answers": answers, "files": [str(path) for path in written]}
    flat = [{k: v for k, v in a.items() if not isinstance(v, list)} for a in answers]
    if sliced is not None:
        record |= {"slices": sliced.to_dict(level)}
        flat = record["slices"]["slices"]

    def text(out: Console) -> None:
        for made in answers:
            _show(out, made)
        if sliced is not None:
            heads, rows = sliced.cells(level)
            out.print()
            if _width(heads, rows) > out.width:
                heads = [head.replace("from the rest", "from\nthe rest") for head in heads]
            if _width(heads, rows) > out.width:
                _, rows = sliced.cells(level, coarser=1)
            shown = table(*map(escape, heads), wrap=1)
            for row in rows:
                shown.add_row(*map(escape, row))
            out.print(shown)
            remarks(out, sliced.notes)
        out.print("\nTo cite these numbers:")
        cited = [made["signature"] for made in answers]
        if sliced is not None:
            cited = [*(cited if asked.mix else []), sliced.signature(level)]
        for line in cited:
            out.print(f"  {escape(line)}", soft_wrap=True)
        for path in written:
            print(f"written: {path}")

    def printed() -> PaperTable:
        if sliced is None:
            return paper(answers)
        heads, rows = sliced.cells(level)
        return heads, rows, [sliced.signature(level), *sliced.notes]

    emit(how, record, flat, text, printed)


def _numbers(column: Columns, name: str) -> FloatArray:
    """A column of numbers."""
    import numpy as np

    from fewgold.io import column_of

    return np.asarray(column_of(column(name), name).values, dtype=np.float64)


def reweighted(
    asked: Asked, ratings: Ratings, estimator: Estimator, column: Columns, target: str
) -> DomainEstimate:
    """The mean with other weights (``--weights``), or with another mix of slices (``--mix``)."""
    from fewgold.quantities import weighted_mean
    from fewgold.slices import labels_of

    if asked.mix is None:
        assert asked.weights is not None
        of = f"mean with weights {asked.weights}"
        omega = _numbers(column, asked.weights)
        found = weighted_mean(ratings, estimator, omega, of=of)
        return found if target == "pool" else found.for_process()
    by = {name: column(name) for name in parse.names(asked.by)}
    name, cells = labels_of(ratings.sample.pool, by)
    omega, codes = _mixed(asked.mix, cells)
    of = f"mean with {name} {asked.mix}"
    found = weighted_mean(ratings, estimator, omega, cells=codes, of=of)
    return found if target == "pool" else found.for_process()


def paper(results: Sequence[dict[str, Any]]) -> PaperTable:
    """Estimates as a paper prints them: value, standard error, interval, ratings, estimator."""
    level = f"{100 * results[0]['confidence']:.6g}% interval"
    rows = []
    for result in results:
        digits = decimals(result.get("se") or 0.0)
        shown = [result.get("value"), result.get("se")]
        cells = ["–" if v is None else f"{v:.{digits}f}" for v in shown]
        ends = "unknown"
        if result["low"] is not None and result["high"] is not None:
            ends = f"{result['low']:.{digits}f} to {result['high']:.{digits}f}"
        named = [] if len(results) == 1 else [str(result["quantity"])]
        rows.append([*named, *cells, ends, f"{result['n']} of {result['pool_size']}",
                     str(result["method"])])  # fmt: skip
    heads = ["estimate", "standard error", level, "rated", "estimator"]
    heads = heads if len(results) == 1 else ["quantity", *heads]
    return heads, rows, [result["signature"] for result in results]


def _mixed(text: str, labels: NDArray[Any]) -> tuple[FloatArray, NDArray[Any]]:
    """Weights that give each label its share, and the labels as integers."""
    import numpy as np

    from fewgold.common.arrays import codes_of
    from fewgold.errors import UnknownNameError

    shares: dict[str, float] = {}
    for part in parse.names(text):
        name, equals, share = part.rpartition("=")
        if not equals:
            raise typer.BadParameter(f"--mix must be like de=0.5,fr=0.5; got {part!r}.")
        shares[name.strip()] = parse.rate(share)
    known = sorted(set(labels.tolist()))
    for name in shares:
        if name not in known:
            raise UnknownNameError("slice in --mix", name, known)
    absent = [name for name in known if name not in shares]
    if absent or min(shares.values()) < 0 or not sum(shares.values()) > 0:
        raise typer.BadParameter(
            "--mix needs a share of at least 0 for every value of --by; "
            + (f"{', '.join(absent[:5])} have none." if absent else f"got {text!r}.")
        )
    sizes = {name: int((labels == name).sum()) for name in known}
    return np.array([shares[v] / sizes[v] for v in labels.tolist()]), codes_of(labels)


def _width(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Width of a table in characters, with two between columns."""
    tops = [max(map(len, head.split("\n"))) for head in heads]
    cells = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return sum(map(max, tops, cells)) + 2 * (len(tops) - 1)


def _show(out: Console, result: dict[str, Any]) -> None:
    digits = decimals(result["se"])
    what = result["quantity"]
    if result.get("adequate"):
        what = f"share with a score {result['adequate']}" + (f", {what}" if what != "mean" else "")
    interval = " to ".join(
        "unknown" if end is None else f"{end:.{digits}f}" for end in (result["low"], result["high"])
    )
    value = f"[green]{result['value']:.{digits}f}[/green]"
    about = "a new test set like this" if result["target"] == "process" else "all segments"
    out.print(f"[bold]Estimated {escape(what)} of {about}: {value}[/bold]")
    error = "unknown" if result["se"] is None else f"{result['se']:.{digits}f}"
    lines = [
        (f"{100 * result['confidence']:.6g}% interval",
         f"{interval} ({escape(result['bound_label'])})"),
        ("standard error", error),
        ("ratings", f"{result['n']} of {result['pool_size']} segments"),
        ("estimator", escape(result["method"])),
    ]  # fmt: skip
    pairs(out, lines)
    remarks(out, result["notes"])
