"""Adequate or not: ``fewgold alpha`` and ``fewgold roc``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import draw, emit, note, notes, table
from fewgold.cli.options import Json, Output, Quiet, argument, described, flag, option
from fewgold.common.text import decimals

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from fewgold.bayes import Counts


_COLUMNS = "Columns"
# The true success rate when a metric or judge makes mistakes

_COUNTS = "Counts instead of a file"
_PARTS = ("human", "tp", "fn", "fp", "tn", "metric")

RatedRows = Annotated[
    Literal["sample", "calibration"],
    described(
        "HOW",
        "How the rated rows were chosen: sample (at random, for each system), or calibration "
        "(otherwise; they only show how often the metric is right).",
    ),
]

RateCorrection = Annotated[
    Literal["none", "holm", "fdr", "bonferroni"],
    described("NAME", "Correction for many comparisons: none, holm, fdr or bonferroni."),
]


def alpha(
    file: str | None = argument(
        None,
        "[FILE]",
        "Table in which people rated some rows and a metric scored all of them (- is stdin).",
        show_default=False,
    ),
    human: str | None = option(
        None, "COLUMN", "Column of human ratings (empty where nobody rated).", panel=_COLUMNS
    ),
    metric: str | None = option(
        None,
        "COLUMN,…",
        "The metric or judge; several may have scored the same rows or different ones.",
        panel=_COLUMNS,
    ),
    system: str | None = option(None, "COLUMN", "Column of system names.", panel=_COLUMNS),
    by: str | None = option(
        None,
        "COLUMN,…",
        "Also estimate the rate for each value of a column, such as each language.",
        panel=_COLUMNS,
    ),
    adequate: str | None = option(
        None, "CUT", "Human scores that count as adequate, such as '<=0'; not needed for 0 and 1."
    ),
    threshold: str | None = option(
        None,
        "CUT|RULE",
        "Metric scores that count as adequate, such as '>=0.5'. equal or information: a cut "
        "chosen from the rated rows. bins: no cut, for example for a judge's probabilities.",
    ),
    pairs: RatedRows = "sample",
    chosen: options.Chosen = None,
    labels: options.LabelFile = None,
    on: options.LabelKey = None,
    target: Annotated[
        options.Target | None,
        described(
            "WHAT",
            "pool: the rate of these rows alone (default for a file); process: that of the system "
            "that produced them (default for counts).",
            show_default=False,
        ),
    ] = None,
    counts: str | None = option(
        None,
        "tp=N,…",
        "Counts of rows: tp, fn, fp and tn if rated by both; human=ONES/ALL and "
        "metric=ONES/ALL if rated by one of them.",
        panel=_COUNTS,
    ),
    rho: float | None = option(
        None,
        "P",
        "Share of adequate outputs that the metric recognises (ρ), if known.",
        panel=_COUNTS,
        parser=parse.rate,
    ),
    eta: float | None = option(
        None,
        "P",
        "Share of inadequate outputs that the metric recognises (η), if known.",
        panel=_COUNTS,
        parser=parse.rate,
    ),
    prior: options.Prior = None,
    correction: RateCorrection = "none",
    confidence: str = option("0.95", "LEVEL", "Confidence level, such as 0.95 or 95%."),
    out: options.Drawing = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the success rate α with an imperfect metric or judge.

    People rate some outputs as adequate or not; a metric or LLM judge rates all
    of them. The outputs rated by both show how often the metric is right on
    adequate outputs ([bold]ρ[/bold]) and on inadequate ones ([bold]η[/bold]). These
    rates correct its verdicts on the others.

    Examples:

    [bold]fewgold alpha judged.csv --human passed --metric judge[/bold]

    [bold]fewgold alpha --counts tp=43,fn=18,fp=12,tn=29,metric=540/1000[/bold]
    """
    from fewgold.bayes import Priors, significance, success_rates
    from fewgold.bayes.success import success_rates_chosen, success_rates_of

    level = parse.confidence(confidence)
    if (file is None) == (counts is None):
        raise typer.BadParameter(
            "give either a FILE with --human and --metric, or --counts such as "
            "tp=43,fn=18,fp=12,tn=29,metric=540/1000."
        )
    if (rho is None) != (eta is None):
        raise typer.BadParameter("--rho and --eta go together: give both rates or neither.")
    if prior is not None and rho is not None:
        raise typer.BadParameter("--prior is for rates that are not known; leave out --rho, --eta.")
    priors = None if rho is None or eta is None else Priors(rho=rho, eta=eta)
    priors = parse.priors(prior) or priors
    found: Any
    target = target or ("pool" if counts is None else "process")
    if counts is not None:
        if any((human, metric, system, by, adequate, threshold, chosen, labels, on)):
            raise typer.BadParameter("columns and cuts need a FILE; --counts has neither.")
        found = success_rates_of(_counts(counts, pairs), priors, target)
    else:
        assert file is not None
        passing, cut = parse.cut("--adequate", adequate), _threshold(threshold)
        if metric is None:
            note("no --metric, so only the human ratings are used", quiet)
        if chosen is not None and pairs == "calibration":
            raise typer.BadParameter(
                "--chosen says that the rated rows are a sample of the table, and --pairs "
                "calibration says that they are not. Leave one of them out."
            )
        read = input.with_labels(file, parse.names(human), labels, on, quiet)
        # A comma separates names, unless it is part of one.
        judges = [metric] if metric and metric in read.columns else parse.names(metric)
        seen = input.understand(
            read, quiet, human=None if human is None else [human], system=system, texts=[],
            metrics=judges, need_id=False, fills=False,
        )  # fmt: skip
        rows, group = input.sliced(seen.table, seen.system, by)
        columns: dict[str, Any] = {
            "human": seen.one_human(), "metric": judges or None, "system": group,
            "priors": priors, "adequate": passing, "threshold": cut, "target": target,
        }  # fmt: skip
        if chosen is None:
            found = success_rates(rows, pairs=pairs, **columns)
        else:
            found = success_rates_chosen(rows, chosen=chosen, **columns)
    frame = found.to_frame(level)
    kind = None if correction == "none" else correction
    several = len(found.posteriors) > 1
    pairwise = significance(found.posteriors, correction=kind) if several else None
    notes(found.notes, quiet)
    written = draw(lambda: found.plot(confidence=level), out, quiet)
    record = {
        **({} if by is None else {"by": by}),
        "metric": found.metric, "pairs": pairs, "target": target, "confidence": level,
        "systems": frame.to_dict("records"),
        "comparisons": [] if pairwise is None else pairwise.to_frame().to_dict("records"),
        "correction": kind, "notes": list(found.notes), "files": list(map(str, written)),
    }  # fmt: skip

    def text(console: Console) -> None:
        _show_alpha(console, frame, found.metric, target, level)
        if pairwise is not None:
            print(
                f"\n{pairwise.summary()}\nIf the systems answered the same inputs, fewgold compare "
                f"finds smaller differences."
            )
        for path in written:
            print(f"written: {path}")

    emit("json" if json else output, record, record["systems"], text)


def _threshold(text: str | None) -> Any:
    if text in (None, "equal", "information", "bins"):
        return text
    try:
        return parse.cut("--threshold", text)
    except typer.BadParameter:
        raise typer.BadParameter(
            "--threshold must be a cut such as '>=0.5' (in quotes), equal, information or bins; "
            f"got {text!r}."
        ) from None


def _counts(text: str, pairs: RatedRows) -> Counts:
    """``tp=43,fn=18,metric=540/1000`` as counts."""
    from fewgold.bayes import Counts
    from fewgold.errors import DataError

    found: dict[str, Any] = {}
    for part in parse.names(text):
        match = re.fullmatch(r"(\w+)\s*=\s*(\d+)(?:\s*/\s*(\d+))?", part)
        name = match[1] if match else ""
        whole = name in ("human", "metric")
        if match is None or name not in _PARTS or whole != (match[3] is not None):
            raise typer.BadParameter(
                "--counts must be like human=61/100,tp=43,fn=18,fp=12,tn=29,metric=540/1000 "
                f"(counts, not shares); got {part!r}."
            )
        if name in found or f"{name}_ones" in found:
            raise typer.BadParameter(f"--counts has {name} twice.")
        if whole:
            if int(match[2]) > int(match[3]):
                raise DataError(
                    f"--counts {part} has more ones than ratings. Write {name}=ONES/ALL."
                )
            found |= {f"{name}_ones": int(match[2]), f"{name}_total": int(match[3])}
        else:
            found[name] = int(match[2])
    cells = [name for name in ("tp", "fn", "fp", "tn") if name in found]
    if cells and len(cells) < 4:
        raise typer.BadParameter(
            f"--counts has {', '.join(cells)}, but rows rated by both come in four counts: tp, fn, "
            "fp and tn. Write the others too, as 0 if there are none."
        )
    return Counts(**found, pairs=pairs)


def _show_alpha(
    out: Console, frame: pd.DataFrame, metric: str, target: options.Target, level: float
) -> None:
    what = "Share of adequate items in this test set"
    if target == "process":
        what = "Success rate of the system that produced these items"
    out.print(f"[bold]{what}[/bold]" + (f", with {metric}" if metric else ""))
    out.print()
    interval = f"{100 * level:.6g}% interval"
    heads = ("", "items", "rated", "people", "metric", "corrected", interval, "ρ", "η")
    shown = table(*heads, wrap=1)
    for row in frame.to_dict("records"):
        digits = min(decimals(row["sd"]) - 1, 4)
        shown.add_row(
            str(row["system"]), f"{row['items']}", f"{row['rated']}",
            _cell(row["human"]), _cell(row.get("naive")),
            f"[green]{row['mean']:.{digits}f}[/green] ± {row['sd']:.{digits}f}",
            f"{row['low']:.{digits}f} to {row['high']:.{digits}f}",
            _cell(row.get("rho")), _cell(row.get("eta")),
        )  # fmt: skip
    out.print(shown)
    out.print(
        "\npeople: share of rated items that are adequate; metric: share that the metric calls "
        "adequate; corrected: posterior mean and sd; ρ, η: share of the rated adequate and "
        "inadequate items that the metric recognises."
    )


def _cell(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


# How well metrics separate adequate from inadequate outputs, by system

ThresholdRule = Annotated[
    Literal["equal", "information"],
    described(
        "NAME", "How to choose the threshold: equal (smallest |ρ-η|) or information (largest K)."
    ),
]


def roc(
    file: str = argument(..., "FILE", "Table of human and metric scores; - is CSV on stdin."),
    human: str = option(..., "COLUMN", "Column of human scores.", panel=_COLUMNS),
    adequate: str | None = option(
        None, "CUT", "Human scores that count as adequate, such as '<=0'; not needed for 0 and 1."
    ),
    metrics: str | None = option(None, "A,B,…", "Columns of metrics or judges.", panel=_COLUMNS),
    system: str | None = option(
        None, "COLUMN", "Column of system names ('none' to use none).", panel=_COLUMNS
    ),
    orientation: str | None = option(
        None, "A=+1,B=-1", "Whether larger is better (+1) or worse (-1).", panel=_COLUMNS
    ),
    rule: ThresholdRule = "equal",
    per_system: bool = flag(False, "--per-system", "Use a separate threshold for each system."),
    strict: bool = flag(
        False, "--strict", "Count only scores above the threshold, not those equal to it."
    ),
    prior: options.Prior = None,
    confidence: str = option("0.95", "LEVEL", "Confidence level of the intervals."),
    out: options.Drawing = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how well metrics separate adequate outputs from the rest.

    A threshold turns a metric into yes or no. ρ is the share of adequate
    outputs that it then recognises, η the share of inadequate ones, and K is
    the squared correlation of its verdicts with people's. The AUC
    summarises all thresholds.

    Example: [bold]fewgold roc rated.csv --human mqm --adequate '<=0'[/bold]
    """
    from fewgold.bayes import roc_table
    from fewgold.errors import DataError

    passing = parse.cut("--adequate", adequate)
    level = parse.confidence(confidence)
    ways = parse.orientation(orientation)
    told = parse.names(metrics)
    seen = input.understand(
        input.read_table(file, quiet), quiet, human=[human], system=system, texts=[],
        metrics=told or None, need_id=False,
    )  # fmt: skip
    table, system, chosen = seen.table, seen.system, list(seen.metrics)
    if not chosen:
        raise DataError("no column looks like a metric. Name them with --metrics.")
    found = roc_table(
        table, human=human, metrics=chosen, system=system, adequate=passing, rule=rule,
        per_system=per_system, strict=strict, confidence=level,
        orientation={name: way for name, way in ways.items() if name in chosen},
        priors=parse.priors(prior),
    )  # fmt: skip
    if prior is not None:
        note("ρ and η are posterior means: every row includes what was known before", quiet)
    frame = found.to_frame()
    several = (frame.groupby("metric")["system"].nunique() > 2).any()
    apart = found.heterogeneity() if several else None
    written = draw(found.plot, out, quiet)
    record = {
        "human": human, "adequate": None if passing is None else str(passing),
        "rule": rule, "confidence": level, "rows": frame.to_dict("records"),
        "heterogeneity": [] if apart is None else apart.to_dict("records"),
        "files": list(map(str, written)),
    }  # fmt: skip

    def text(console: Console) -> None:
        _show_roc(console, frame, apart, level)
        for path in written:
            print(f"written: {path}")

    rows: Any = frame.to_dict("records")
    emit("json" if json else output, record, rows, text)


def _show_roc(out: Console, frame: pd.DataFrame, apart: pd.DataFrame | None, level: float) -> None:
    """A table for each metric, and whether the systems share its error rates."""
    from rich.text import Text

    from fewgold.bayes.roc import texts

    for metric, found in texts(frame, apart, level).items():
        out.print(Text.assemble((metric, "bold"), f" {found.where}"))
        shown = table("", *found.heads[1:])
        for system, *cells in found.rows:
            shown.add_row(Text(system), *cells)
        out.print(shown)
        for sentence in found.notes:
            out.print(Text(sentence))
        print()
