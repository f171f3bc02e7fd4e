"""``fewgold estimate``: turns a rated sheet into a score for the whole pool."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import criteria as side_by_side
from fewgold.cli import input, options, parse, slices
from fewgold.cli import rated as rated_study
from fewgold.cli.console import emit, escape, pairs, quoted, remarks, table
from fewgold.cli.options import Json, Output, Quiet, argument, option
from fewgold.common.text import counted, decimals, plain_value

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.campaign import Campaign
    from fewgold.estimator import Estimator
    from fewgold.missing import PartialRatings
    from fewgold.sample import Ratings

#: Kinds of interval of a posterior.
_TAILS = ("equal", "hdi")


def estimate(
    file: str = argument(
        ...,
        "FILE",
        "A rated sheet, a campaign, or a table with labels on some rows (--chosen); - is CSV on "
        "stdin.",
    ),
    pool: options.Pool = None,
    design: options.SideFile = None,
    human: str | None = option(
        None,
        "COLUMN",
        "Column of human scores; A,B takes the mean of several, which must all be filled in.",
    ),
    id: options.SheetId = "id",
    estimator: options.Estimator = None,
    confidence: options.Confidence = None,
    bound: str | None = option(
        None,
        "NAME",
        "Method for the interval: auto (default), student, or a guaranteed one such as star; "
        "fewgold strategies lists them. With --estimator alpha-METRIC also equal (default) or hdi.",
    ),
    prior: str | None = option(
        None,
        "tp=N,…|rho=M@N,…",
        "With --estimator alpha-METRIC: what you knew of the metric before (see fewgold alpha).",
    ),
    limits: options.ScaleEnds = None,
    adequate: str | None = option(
        None,
        "CUT",
        "Estimate the share of segments whose score meets CUT, such as '>=4'.",
        "--share",
        "--adequate",
    ),
    by: slices.By = None,
    least: slices.Least = 10,
    shrink: slices.Shrink = False,
    weights: slices.Weights = None,
    mix: slices.Mix = None,
    quantile: slices.Quantile = None,
    total: slices.Total = False,
    ratio: slices.Ratio = None,
    plot: slices.Forest = None,
    gaps: rated_study.Gaps = "wait",
    waves: int | None = option(
        None, "K", "In a campaign: use only the first K waves, which must be fully rated.", min=1
    ),
    system: options.OneSystem = None,
    higher_is_better: bool | None = options.direction(None, "Default: taken from the ratings."),
    chosen: options.Chosen = None,
    labels: options.LabelFile = None,
    on: options.LabelKey = None,
    metrics: options.LabelMetrics = None,
    document: options.LabelDocument = None,
    texts: options.LabelTexts = None,
    target: options.EstimateTarget = "pool",
    criteria: options.Criteria = None,
    simultaneous: options.Simultaneous = False,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the score of all segments from the rated ones.

    Prints the score with its confidence interval. First it checks that the pool
    has not changed and that every chosen segment has a rating.

    Examples, for a sheet of fewgold select and for a table with labels:

    [bold]fewgold estimate to_rate.csv --limits 0,100[/bold]

    [bold]fewgold estimate table.csv --human passed --chosen random[/bold]
    """
    several = rated_study.criteria_asked(criteria, human)
    passing = parse.cut("--share or --adequate", adequate)
    asked = slices.Asked(by, least, shrink, weights, mix, quantile, total, ratio, plot)
    human = asked.numerator or human
    made_by = None if bound is None or bound in _TAILS else parse.bound(bound)
    level = None if confidence is None else parse.confidence(confidence)
    if system is None and input.is_campaign(file):
        from fewgold.campaign import Campaign

        with Campaign(file) as whole:
            if whole.systems:
                if asked or several or passing is not None:
                    raise typer.BadParameter(
                        "this campaign has several systems: name one with --system."
                    )
                _each_system(whole, estimator, gaps, level, waves, "json" if json else output)
                return
    found = rated_study.opened(
        file, pool=pool, design=design, human=human, id=id, estimator=estimator, level=level,
        limits=limits, gaps=gaps, waves=waves, chosen=chosen, labels=labels, on=on,
        metrics=metrics, document=document, texts=texts, criteria=several, system=system,
        quiet=quiet,
    )  # fmt: skip
    partial, rated, made, level = found.partial, found.criteria, found.estimator, found.level
    strategy, seed, in_sheet = found.strategy, found.seed, found.sheet
    if rated is not None and len(rated.criteria) == 1 and asked:
        from fewgold.criteria import directed

        made, rated = directed(made, rated.criteria[0]), None
    if simultaneous and rated is None:
        raise typer.BadParameter("--simultaneous is for several criteria: name them (--criteria).")
    parts = [partial] if rated is None else list(rated.parts.values())
    rated_study.check_limits(parts, made, made_by, passing, gaps)
    if passing is not None:
        partial = partial.cut(passing)
        rated = None if rated is None else rated.cut(passing)
    made = rated_study.pointed(made, higher_is_better, quiet)
    if made_by is not None or bound in _TAILS:
        made = replace(made, bound=made_by or bound)  # type: ignore[type-var]
    made = _informed(made, prior)
    if rated is not None:
        if asked:
            raise typer.BadParameter(
                "--by, --quantile and the like work with one criterion at a time: name it with "
                "--criteria."
            )
        facts = {
            "strategy": strategy, "seed": seed, "target": target,
            "adequate": None if passing is None else str(passing), "file": file,
        }  # fmt: skip
        side = rated.estimate(made, gaps, target=target, confidence=level)
        told = side.to_dict(level, simultaneous=simultaneous) | facts
        side_by_side.answer(plain_value(told), "json" if json else output)
        return
    if asked:
        from fewgold.missing import ratings_for

        if gaps == "bounds":
            raise typer.BadParameter(
                "--gaps bounds is for the mean of the whole pool only. Leave it out, or leave out "
                "--by, --quantile and the like."
            )
        if target == "process" and asked.total:
            raise typer.BadParameter(
                "--total adds up the segments of this pool; leave out --target process."
            )
        ratings = ratings_for(partial, made, gaps)
        facts = {
            "strategy": strategy, "seed": seed, "file": file, "target": target,
            "adequate": None if passing is None else str(passing),
        }  # fmt: skip
        column = input.columns_beside(file, ratings, found.table(), in_sheet, id)
        how = "json" if json else output
        slices.answer(asked, ratings, made, column, level, facts, how, quiet, target)
        return
    result = _made(made, partial, gaps, level, target)
    result |= {
        "strategy": strategy,
        "seed": seed,
        "interval_label": result.get("bound_label", ""),
        "adequate": None if passing is None else str(passing),
        "file": file,
    }
    result = plain_value(result)
    flat = {k: v for k, v in result.items() if not isinstance(v, list)}
    how = "json" if json else output
    emit(how, result, [flat], lambda out: _show(out, result), lambda: slices.paper([result]))


def _each_system(
    whole: Campaign, estimator: str | None, gaps: rated_study.Gaps, level: float | None,
    waves: int | None, how: options.OutputFormat,
) -> None:  # fmt: skip
    """The score of each system separately."""
    from fewgold.campaign.study import waves_to_use

    rows = []
    level = level or whole.settings.confidence
    for name in whole.systems:
        part = whole.of(name)
        used = waves_to_use(part) if gaps == "at-random" and waves is None else waves
        made = _made(part._estimator(estimator), part._partial(used), gaps, level, "pool")
        rows.append({"system": name, **plain_value(made)})
    keys = ("system", "value", "se", "low", "high", "n", "pool_size", "signature")
    flat = [{k: row.get(k) for k in keys} for row in rows]
    record = {"confidence": level, "systems": rows, "file": str(whole.path)}

    def text(out: Console) -> None:
        shown = table("system", "score", f"{100 * level:.6g}% interval", "±", "ratings")
        for row in rows:
            digits = decimals(row.get("se") or 0.0)
            ends = row["region"] if "region" in row else (row["low"], row["high"])
            value = "–" if row.get("value") is None else f"{row['value']:.{digits}f}"
            unknown = None in ends
            interval = "unknown" if unknown else f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"
            half = "–" if unknown else f"{(ends[1] - ends[0]) / 2:.{digits}f}"
            shown.add_row(escape(row["system"]), value, interval, half, str(row["n"]))
        out.print(shown)
        out.print(
            "\nThese intervals are for each score alone. Differences are more precise than they "
            "suggest: "
            f"[green]fewgold compare {quoted(_place(whole))}[/green]"
        )

    emit(how, record, flat, text)


def _place(campaign: Campaign) -> str:
    from fewgold.campaign.systems import folder_of

    return folder_of(campaign.path)


def _random_error(ratings: Ratings, target: options.Target) -> float | None:
    """Approximate standard error of the mean of a plain random sample of the same size."""
    n, size = ratings.n, len(ratings.sample.pool) if target == "pool" else math.inf
    if n < 2:
        return None
    weights, scores = ratings.sample.design.weights, ratings.scores
    centred = scores - weights @ scores / weights.sum()
    spread = float(weights @ centred**2 / weights.sum()) * n / (n - 1)
    return math.sqrt(spread * max(1 / n - 1 / size, 0.0))


def _informed(chosen: Estimator, prior: str | None) -> Estimator:
    """The binary model with the given priors. The prior of the share changes only if it is
    given."""
    if prior is None:  # avoids loading the binary model
        return chosen
    priors = parse.priors(prior)
    assert priors is not None
    from fewgold.bayes import BinaryPosterior
    from fewgold.bayes.estimator import DEFAULT_PRIORS

    if not isinstance(chosen, BinaryPosterior):
        raise typer.BadParameter(
            f"--prior is for the binary model (--estimator alpha-METRIC); got {chosen.name}."
        )
    if "alpha" not in prior:
        priors = replace(priors, alpha=DEFAULT_PRIORS.alpha)
    return replace(chosen, priors=priors)


def _made(
    chosen: Estimator,
    partial: PartialRatings,
    gaps: str,
    level: float,
    target: options.Target,
) -> dict[str, Any]:
    """The record of the estimate."""
    from fewgold.estimators import Mean
    from fewgold.missing import estimate as estimated

    def for_target(chosen: Estimator, gaps: str) -> Any:
        if target == "pool":
            return estimated(partial, chosen, gaps, level)
        from fewgold import labels

        return labels.for_target(chosen, partial, target, gaps, level)

    made = for_target(chosen, gaps)
    result: dict[str, Any] = made.to_dict(level)
    if "region" in result:
        return result
    ratings, bare = partial.at_random(), result
    if type(chosen) is not Mean or chosen.bound != Mean().bound:
        bare = for_target(Mean(), "at-random").to_dict(level)
    return result | {
        "plain_mean": bare["value"], "plain_mean_se": bare["se"], "plain_mean_low": bare["low"],
        "plain_mean_high": bare["high"], "random_se": _random_error(ratings, target),
    }  # fmt: skip


def _show(out: Console, result: dict[str, Any]) -> None:
    """The estimate, or the range that gaps leave open (``region``), and how it was made."""
    region, error = result.get("region"), result.get("se")
    credible = "target" in result  # a posterior of the share of adequate segments
    what = "share of adequate segments among all" if credible else "mean score of all"
    if result["adequate"] is not None:
        what = f"share with a score {result['adequate']} among all"
    what += f" {result['pool_size']} segments"
    if region is None:
        digits = decimals(error or 0.0)
        value = f"[green]{result['value']:.{digits}f}[/green]"
        out.print(f"[bold]Estimated {what}: {value}[/bold]")
    else:
        digits = decimals(region[1] - region[0])
        between = " and ".join(f"{end:.{digits}f}" for end in region)
        out.print(
            f"[bold]The {what} is between about [green]{between}[/green][/bold], whatever the "
            f"scores of the unrated segments."
        )
    out.print()
    interval = "unknown"
    if result["low"] is not None and result["high"] is not None:
        interval = f"{result['low']:.{digits}f} to {result['high']:.{digits}f}"
    named = f"{100 * result['confidence']:.6g}% interval"
    lines = [(named, f"{interval} ({escape(result['interval_label'])})")]
    if region is None:
        unsure = "unknown (too few ratings)" if error is None else f"{error:.{digits}f}"
        lines.append(("posterior sd" if credible else "standard error", unsure))
    lines.append(("ratings", f"{result['n']} of {result['pool_size']} segments"))
    if region is not None:
        lines.append(("unrated", counted(result["unrated"], "chosen segment")))
    lines.append(("estimator", escape(result["method"])))
    if result.get("metric"):
        lines.append(("metric", escape(result["metric"])))
    if result.get("rho") is not None and result.get("eta") is not None:
        right = f"on {result['rho']:.0%} of the adequate rated segments (ρ)"
        lines.append(("it is right", f"{right} and {result['eta']:.0%} of the inadequate (η)"))
    if result.get("random_se") is not None:
        told = (
            f"a plain random sample of {result['n']} would have a standard error of about "
            f"{result['random_se']:.{digits}f}; the plain mean of these ratings is "
            f"{result['plain_mean']:.{digits}f}"
        )
        lines.append(("for comparison", told))
    pairs(out, lines)
    remarks(out, result["notes"])
    out.print("\nTo cite this number:")
    out.print(f"  {escape(result['signature'])}", soft_wrap=True)
