"""``fewgold report``: writes a study as one self-contained page."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import input, options, parse, slices
from fewgold.cli import rated as rated_study
from fewgold.cli.console import escape, no_plots, show
from fewgold.cli.options import Json, Quiet, argument, flag, option

if TYPE_CHECKING:
    from fewgold.report import StudyReport
    from fewgold.report.comparison_page import ComparisonReport

# Options of the page itself. All others change the numbers, and fewgold estimate has them too.
_OF_PAGE = ("out", "title", "force", "json", "quiet")


def report(
    context: typer.Context,
    file: str = argument(
        ..., "CAMPAIGN|SHEET", "A campaign, a rated sheet, or a table with labels (--chosen)."
    ),
    out: str = option("report.html", "FILE", "Report to write: .html or .md.", "--out", "-o"),
    title: str | None = option(None, "TEXT", "Title of the report."),
    gaps: str = option(
        "wait",
        "HOW",
        "If chosen segments have no answer: wait (refuse to estimate) or at-random (assume that "
        "they are missing at random).",
    ),
    estimator: options.Estimator = None,
    confidence: options.Confidence = None,
    adequate: str | None = option(
        None, "CUT", "Report the share of segments whose score meets CUT, such as '<=0'."
    ),
    limits: str | None = option(
        None, "LOW,HIGH", "Lowest and highest rating, such as 1,5 or mqm (of a sheet)."
    ),
    pool: str | None = option(None, "POOL", "New path of the pool of a sheet, if it has moved."),
    id: options.SheetId = "id",
    human: str | None = option(None, "COLUMN", "Column of human scores.", panel=options.LABELS),
    chosen: options.Chosen = None,
    labels: options.LabelFile = None,
    on: options.LabelKey = None,
    metrics: options.LabelMetrics = None,
    document: options.LabelDocument = None,
    texts: options.LabelTexts = None,
    target: options.EstimateTarget = "pool",
    system: options.OneSystem = None,
    by: slices.By = None,
    shrink: slices.Shrink = False,
    weights: slices.Weights = None,
    mix: slices.Mix = None,
    criteria: options.Criteria = None,
    force: bool = flag(False, "--force", "Overwrite an existing report."),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the report of a study as one self-contained page.

    The page shows the score with its interval, what was sampled and why, how many
    ratings that saved, checks and plots, and how to cite the result.

    Example: [bold]fewgold report study -o report.html[/bold]
    """
    from fewgold.errors import DataError
    from fewgold.plots.style import available

    if gaps not in ("wait", "at-random"):
        raise typer.BadParameter(f"--gaps must be wait or at-random; got {gaps!r}.")
    if not out.lower().endswith((".html", ".htm", ".md", ".markdown")):
        raise typer.BadParameter(f"-o must end in .html or .md; got {out!r}.")
    if Path(out).exists() and not force:
        raise typer.BadParameter(f"{out!r} exists. Overwrite it with --force.")
    level = None if confidence is None else parse.confidence(confidence)
    passing = parse.cut("--adequate", adequate)
    cut = None if passing is None else str(passing)
    of_campaign = input.is_campaign(file)
    if of_campaign and (limits is not None or pool is not None):
        raise typer.BadParameter("--limits and --pool are for sheets; a campaign has its own.")
    if of_campaign and id != "id":
        options.refuse_for_campaign({"--id": id})
    if of_campaign and target != "pool":
        raise typer.BadParameter(
            "the report of a campaign is about its pool; for --target process use fewgold estimate."
        )
    of_table = {
        "--human": human, "--metrics": metrics, "--labels": labels, "--on": on,
        "--document": document, "--texts": texts,
    }  # fmt: skip
    if chosen is None and (unused := [k for k, v in of_table.items() if v is not None]):
        raise typer.BadParameter(
            f"{unused[0]} is for tables with labels; say how those were chosen: --chosen random."
        )
    if chosen is not None and (of_campaign or pool is not None):
        raise typer.BadParameter("--chosen is for tables with labels, not for sheets or campaigns.")
    if system is not None and not of_campaign:
        raise typer.BadParameter("--system is for campaigns of several systems.")
    asked = slices.Asked(by, shrink=shrink, weights=weights, mix=mix)
    several = rated_study.criteria_asked(criteria, human)
    made: StudyReport | ComparisonReport
    study: rated_study.RatedStudy | None = None

    def opened() -> rated_study.RatedStudy:
        return rated_study.opened(
            file, pool=pool, design=None, human=human, id=id, estimator=estimator, level=level,
            limits=limits, gaps=gaps, waves=None, chosen=chosen, labels=labels, on=on,
            metrics=metrics, document=document, texts=texts, criteria=several, system=system,
            quiet=quiet or of_campaign,
        )  # fmt: skip

    try:
        if of_campaign:
            from fewgold.campaign import Campaign

            with Campaign(file) as whole:
                campaign = whole if system is None else whole.of(system)
                told: dict[str, Any] = {"estimator": estimator, "cut": cut}
                if campaign.systems and by is not None and not (shrink or weights or mix):
                    told["by"], asked = parse.names(by), slices.Asked()
                made = campaign.report(gaps, confidence=level, title=title, **told)
                several = several or campaign.settings.criteria
        else:
            from fewgold import sheets
            from fewgold.missing import ratings_for
            from fewgold.report import study_report

            study = opened()
            if study.criteria is not None and passing is not None:
                study = study._replace(criteria=study.criteria.cut(passing))
            several = () if study.criteria is None else study.criteria.criteria
            partial = study.partial if cut is None else study.partial.cut(cut)
            again = shlex.join(["fewgold", "estimate", file, *options.typed(context, _OF_PAGE)])
            told = {"commands": [again]}
            if study.record is not None:
                told["commands"] = [*sheets.commands(file, pool, study.record), again]
                told["chances"] = study.record.get("chances")
                told |= {"score": several[0].name} if several else {}
            made = study_report(
                ratings_for(partial, study.estimator, gaps), study.estimator,
                strategy=study.strategy, title=title or Path(file).stem, confidence=study.level,
                unrated=study.partial.missing.tolist(), target=target, context=told,
            )  # fmt: skip
        if several or asked:
            words = options.typed(context, _OF_PAGE) if of_campaign and asked else []
            made = _beside(made, asked, words, file, id, study or opened(), gaps)
    except DataError as error:
        if error.code == "unrated":
            error.hints["cli"] = (
                "--gaps at-random treats them as missing at random; the report then gives the "
                "worst case too."
            )
        raise
    if not available():
        no_plots(quiet)
    made.write(out)
    shown: dict[str, Any] = made.to_dict() | {"file": out}
    show(json, shown, lambda screen: screen.print(f"[bold]Wrote {escape(out)}[/bold]"))


def _beside(
    made: StudyReport | ComparisonReport, asked: slices.Asked, words: list[str], file: str, id: str,
    study: rated_study.RatedStudy, gaps: str,
) -> StudyReport:  # fmt: skip
    """Add scores by slice, scores with other weights, and those of all criteria to the report.

    ``words`` are the options that reproduce the numbers, if the report does not know them.
    """
    from fewgold.report import StudyReport
    from fewgold.slices import slices as sliced

    if not isinstance(made, StudyReport):
        raise typer.BadParameter(
            "--shrink, --weights, --mix and --criteria are about one system: name it with "
            "--system. Systems are compared within slices with --by alone."
        )
    if study.criteria is not None:
        side = study.criteria.estimate(
            study.estimator, gaps, target=made.study.target,
            confidence=made.study.confidence,
        )  # fmt: skip
        context = {"score": study.criteria.criteria[0].name, **made.study.context}
        made = replace(made, criteria=side, study=replace(made.study, context=context))
    if not asked:
        return made
    ratings, chosen, target = made.study.ratings, made.study.estimator, made.study.target
    column = input.columns_beside(file, ratings, study.table(), study.sheet, id)
    omega = None
    if asked.weights is not None or asked.mix is not None:
        mean = slices.reweighted(asked, ratings, chosen, column, target)
        omega = mean.omega if asked.weights is not None else None
        made = replace(made, weighted=mean)
    if asked.by is not None:
        labels = {name: column(name) for name in parse.names(asked.by)}
        found = sliced(ratings, chosen, labels, weights=omega, shrink=asked.shrink, target=target)
        made = replace(made, slices=found)
    if words:
        again = [shlex.join(["fewgold", "estimate", file, *words])]
        made = replace(
            made, study=replace(made.study, context={**made.study.context, "commands": again})
        )
    return made
