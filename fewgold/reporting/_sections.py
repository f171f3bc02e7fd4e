"""The sections of the report, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold import report
from fewgold.report._number import fixed
from fewgold.reporting import _figures, _paper, _words
from fewgold.reporting._notes import counted, notes, shorter
from fewgold.reporting._paper import listed, rounded
from fewgold.reporting._study import Study

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.report import Section

_ROWS = 40  # of a table; the rest is counted
_SAME = 1e-9


def top(study: Study) -> list[Section]:
    """What stands above everything: the number, and the warnings."""
    record = study.record
    lines = [interval_line(study)]
    if study.exact:
        lines.append("Every segment was rated: nothing was left to chance.")
    elif record["low"] is not None and record["high"] is not None:
        lines.append(_words.promise(record["bound_kind"], study.level))
    share = f"{study.n / study.size:.1%}"
    lines.append(f"From {study.n} rated of {study.size} segments ({share}).")
    what = study.what[:1].upper() + study.what[1:]
    whole = "" if what.startswith("Success") else f" of all {study.size} segments"
    if "segments" in what:
        whole = f", all {study.size} taken together"
    found: list[Section] = [
        report.Headline(f"{what}{whole}, estimated", study.shown(record["value"]), lines)
    ]
    warnings = notes(study)
    if warnings:
        found.append(report.Notes("Before you use this number", warnings))
    return found


def interval_line(study: Study) -> str:
    record = study.record
    ends = f"{study.shown(record['low'])} to {study.shown(record['high'])}"
    if record["low"] is None or record["high"] is None:
        ends = "unknown"
    return f"{study.level} interval: {ends} ({record['bound_label']})"


def sections(study: Study, *, drawn: bool) -> list[Section]:
    """All sections; with figures if they are to be ``drawn``."""
    found: list[Section] = [_glance(study), _sampled(study), _saving(study)]
    if drawn and _figures.available():
        figures = _figures.figures(study)
        if figures:
            found.append(report.Group("Figures", figures, beside=True))
    elif drawn:
        found.append(report.Text("Figures", _figures.WITHOUT))
    found += [_others(study), _diagnosed(study), *_answered(study), _to_cite(study)]
    found.append(
        report.Group(
            "How to do it again",
            [report.Code("", _paper.commands(study), "sh")],
            "The same pool, strategy and seed draw the same segments; the signature tells whether "
            "pool, ratings and version are those of this report.",
        )
    )
    return found


def _glance(study: Study) -> Section:
    record = study.record
    error = "posterior standard deviation" if study.linear is None else "standard error"
    items = [
        (f"{study.level} interval", interval_line(study).partition(": ")[2]),
        (error, study.shown(record["se"])),
        ("rated", f"{study.n} of {study.size} segments"),
    ]
    if study.documents is not None:
        items.append(
            ("documents reached", f"{study.documents['sample']} of {study.documents['pool']}")
        )
    if study.saved.plain is not None and not study.plain:
        items.append(("as good as", f"about {rounded(study.saved.plain)} plain random ratings"))
    items.append(("strategy", f"`{study.strategy}`"))
    items += _wished(study)
    known = ("tolerance", "commands", "pool_file", "gaps", "score")
    items += [
        (shorter(key), shorter(value, 200))
        for key, value in study.context.items()
        if key not in known and value is not None
    ]
    return report.Facts("At a glance", items)


def _wished(study: Study) -> list[tuple[str, str]]:
    tolerance = study.context.get("tolerance")
    if tolerance is None:
        return []
    half = study.half_width
    if half is None:
        return [("tolerance", f"± {tolerance:g} asked for; the interval is unknown")]
    if half <= tolerance * (1 + _SAME):
        return [("tolerance", f"± {tolerance:g} asked for, ± {half:.3g} reached")]
    more = ""
    if study.needed is not None and study.needed > study.n:
        more = f"; about {rounded(study.needed - study.n)} more ratings"
    return [("tolerance", f"± {tolerance:g} asked for, ± {half:.3g} so far{more}")]


def _sampled(study: Study) -> Section:
    told = []
    for name in study.samplers:
        words = _words.sampler_words(name, type(study.estimator.sampler).__doc__ or "")
        told.append(f"Sampler `{name}`: {words.does} {words.why}".strip())
    words = _words.estimator_words(study.estimator.name, type(study.estimator).__doc__ or "")
    told.append(f"Estimator `{study.estimator.name}`: {words.does} {words.why}".strip())
    told.append(_chances(study))
    parts: list[Section] = [report.Text("", told)]
    if study.waves:
        parts.append(_waves(study))
    return report.Group("What was sampled, and why", parts)


def _chances(study: Study) -> str:
    low, high = study.weights["inclusion_min"], study.weights["inclusion_max"]
    assert low is not None and high is not None
    if high - low <= _SAME * high:
        chance = f"Every segment had the same chance of being rated, {low:.3g}."
    else:
        chance = f"Segments had chances from {low:.3g} to {high:.3g} of being rated."
    seeds = study.seeds
    if not seeds:
        return f"{chance} The seed is not known."
    return f"{chance} {'Seed' if len(seeds) == 1 else 'Seeds'}: {listed(seeds)}."


def _waves(study: Study) -> Section:
    import pandas as pd

    known = ("number", "n", "seed", "strategy", "date")
    columns = [c for c in known if any(w.get(c) is not None for w in study.waves)]
    table = pd.DataFrame(
        {c: [_plain(w.get(c)) for w in study.waves[:_ROWS]] for c in columns}, columns=columns
    )
    total = sum(int(w.get("n") or 0) for w in study.waves)
    caption = f"{counted(len(study.waves), 'wave')}, {counted(total, 'segment')} in all."
    if len(study.waves) > _ROWS:
        caption += f" The first {_ROWS} are listed."
    names = {c: h for c, h in {"number": "wave", "n": "segments"}.items() if c in columns}
    formats: dict[str, Any] = dict.fromkeys(set(columns) & {"seed", "strategy", "date"}, str)
    return report.Table("", table, caption, formats, names=names)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else shorter(value)


def _saving(study: Study) -> Section:
    result, n = study.saved, study.n
    told = []
    if result.plain is None:
        told.append(f"Nothing can be said about ratings saved: {result.why}.")
    elif study.plain:
        told.append("This is the mean of a plain random sample: there is nothing to compare.")
    elif round(result.plain) > n:
        more = rounded(result.plain - n)
        told.append(
            f"The mean of a plain random sample would need about {rounded(result.plain)} ratings "
            f"for the same standard error: these {n} saved about {more}."
        )
    elif round(result.plain) < n:
        told.append(
            f"The mean of a plain random sample would have needed only about "
            f"{rounded(result.plain)} ratings for the same standard error: here the strategy did "
            f"worse than plain random sampling, by about {rounded(n - result.plain)} ratings."
        )
    else:
        told.append("It came to the same as the mean of a plain random sample of that size.")
    if result.plain is not None and not study.plain:
        assert result.random_se is not None
        told.append(
            f"With {n} plain random ratings the standard error would be about "
            f"{study.shown(result.random_se)}; here it is {study.shown(study.record['se'])}. This "
            "is a rough figure, since both errors are estimated from the same ratings."
        )
    return report.Text("Ratings saved", told)


def _others(study: Study) -> Section:
    frame = study.alternatives
    one = len(frame) == 1
    caption = (
        "There is no other estimator to compare with here."
        if one
        else "The first line is this report's estimate, chosen before the ratings came. The others "
        "are a check: choosing among them by the result would spoil the interval."
    )
    names = {"name": "estimator", "se": "standard error", "interval": "kind of interval"}
    formats: dict[str, Any] = dict.fromkeys(
        ("value", "se", "low", "high"), lambda v: _finite(study, v)
    )
    return report.Table("Other estimators", frame, caption, formats, names=names)


def _finite(study: Study, value: float) -> str:
    return "unknown" if value in (float("inf"), float("-inf")) else study.shown(value)


def _diagnosed(study: Study) -> Section:
    parts: list[Section] = []
    if len(study.correlations):
        parts += [_correlated(study), _alike(study)]
    parts.append(_weighted(study))
    strata = study.strata
    if strata is not None and len(strata) <= _ROWS:
        caption = "Share: of the pool, by the weights."
        formats = {"share": "%"}
        parts.append(report.Table("Strata", strata, caption, formats))
    elif strata is not None:
        fewest, most = int(strata["ratings"].min()), int(strata["ratings"].max())
        told = f"{len(strata)} strata, with {fewest} to {most} ratings each."
        parts.append(report.Text("Strata", told))
    if study.pulls is not None:
        parts.append(_pulling(study))
    lead = "" if len(study.correlations) else "The pool has no automatic metrics to compare with."
    return report.Group("Diagnostics", parts, lead)


def _correlated(study: Study) -> Section:
    frame = study.correlations
    shown = frame.head(_ROWS).assign(metric=[shorter(m) for m in frame["metric"].head(_ROWS)])
    caption = (
        f"Pearson's correlation over the pool, weighted as drawn, with its {study.level} interval. "
        "A metric that is lower for better output has the other sign."
    )
    formats: dict[str, Any] = dict.fromkeys(("r", "low", "high"), lambda v: fixed(v, 2))
    return report.Table("Metrics and human scores", _cut(shown, frame), caption, formats)


def _cut(shown: pd.DataFrame, whole: pd.DataFrame) -> pd.DataFrame:
    return shown if len(shown) == len(whole) else shown.reset_index(drop=True)


def _alike(study: Study) -> Section:
    frame = study.likeness.head(_ROWS)
    frame = frame.assign(metric=[shorter(m) for m in frame["metric"]])
    caption = (
        "Metric means of the rated segments, weighted as drawn, and of the pool. Difference: in "
        "standard deviations of the pool. Against chance: in standard errors of a plain random "
        "sample; beyond 2 is rare, beyond 3 suspicious."
    )
    formats: dict[str, Any] = {"difference": lambda v: fixed(v, 3), "chance": lambda v: fixed(v, 1)}
    names = {"pool": "pool mean", "sample": "sample mean", "chance": "against chance"}
    return report.Table("Sample and pool", frame, caption, formats, names=names)


def _weighted(study: Study) -> Section:
    w = study.weights
    effect = w["design_effect"]
    items = [
        (
            "smallest and largest weight",
            f"{w['weight_min']:.3g} and {w['weight_max']:.3g} (mean 1)",
        ),
        ("effective sample size", f"{w['effective']:.4g} of {study.n}"),
        ("cost of unequal weights", f"× {w['weighting_effect']:.3g} in variance"),
        ("design effect, plain mean", "unknown" if effect is None else f"{effect:.2f}"),
    ]
    if study.documents is not None:
        d = study.documents
        each = f"{d['fewest']}" if d["fewest"] == d["most"] else f"{d['fewest']} to {d['most']}"
        items.append(("ratings in each document reached", each))
    return report.Facts("Weights and documents", items)


def _pulling(study: Study) -> Section:
    frame = study.pulls
    assert frame is not None
    for column in ("segment", "document"):
        if column in frame:
            frame = frame.assign(**{column: [shorter(v) for v in frame[column]]})
    caption = (
        "By how much a segment moves the estimate, and its share of the sum of all squares. If one "
        "dominates, look at its rating again."
    )
    formats: dict[str, Any] = {
        "pull": lambda v: f"{'+' if v > 0 else ''}{fixed(v, study.places + 1)}",
        "share": "%",
    }
    return report.Table("Segments that pull most", frame, caption, formats)


def _answered(study: Study) -> list[Section]:
    c = study.counts
    items = []
    if "answers" in c:
        items += [
            ("answers used", f"{c['answers']} by {counted(c['raters'], 'rater')}"),
            ("segments with several raters", str(c["several_raters"])),
            ("answers given again by the same rater", str(c["repeats"])),
        ]
        if c["without_score"]:
            items.append(("answers without a score", str(c["without_score"])))
        if c["elsewhere"]:
            items.append(("answers for segments outside the sample", str(c["elsewhere"])))
    items += [("sampled but not rated", str(c["unrated"])), ("set aside", str(c["strays"]))]
    parts: list[Section] = [report.Facts("", items)]
    if study.raters is not None:
        parts.append(_by_rater(study))
    if study.unrated:
        some = ", ".join(map(shorter, study.unrated[:100]))
        more = f" and {len(study.unrated) - 100} more" if len(study.unrated) > 100 else ""
        parts.append(report.Text("Not rated", f"{some}{more}"))
    return [report.Group("Raters and answers", parts)]


def _by_rater(study: Study) -> Section:
    raters = study.raters
    assert raters is not None
    frame = raters.head(_ROWS).assign(rater=[shorter(r) for r in raters["rater"].head(_ROWS)])
    caption = (
        "Against others: how much higher a rater scores than the others on the segments that they "
        "share, ± standard error."
    )
    if len(raters) > _ROWS:
        caption += f" The {_ROWS} busiest of {len(raters)}."
    names = {"against": "against others", "shared": "shared segments"}
    if not raters["shared"].any():
        frame = frame.drop(columns=["shared", "against", "against_se"])
        return report.Table("Raters", frame, "No segment has answers of two raters.")
    return report.Table("Raters", frame, caption, errors={"against": "against_se"}, names=names)


def _to_cite(study: Study) -> Section:
    papers = _paper.references(study)
    parts: list[Section] = [
        report.Code("Signature", study.record["signature"]),
        report.Code("Methods, to paste", _paper.methods(study)),
        report.Code("To cite fewgold", _paper.BIBTEX, "bibtex"),
    ]
    if papers:
        parts.append(report.Text("Methods used", papers))
    return report.Group("For your paper", parts)
