"""The sections of the report, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold import report
from fewgold.reporting import _figures, _paper, _words
from fewgold.reporting._checks import ROWS, SAME, diagnosed
from fewgold.reporting._notes import counted, notes, shorter
from fewgold.reporting._paper import listed, rounded
from fewgold.reporting._people import answered
from fewgold.reporting._study import Study

if TYPE_CHECKING:
    from fewgold.report import Section

_UNKNOWN = "unknown: the ratings do not tell"
_CLOSE = 0.05  # of the ratings: within that nothing was saved or lost to speak of


def top(study: Study) -> list[Section]:
    """What stands above everything: the number, and the warnings."""
    record = study.record
    lines = [interval_line(study)]
    if study.exact:
        lines = ["Exact for these ratings: every segment was rated, nothing was left to chance."]
    elif record["low"] is not None and record["high"] is not None:
        lines.append(_words.promise(record["bound_kind"], study.level))
    share = f"{study.n / study.size:.1%}"
    lines.append(f"From {study.n} rated of {study.size} segments ({share}).")
    what = study.what[:1].upper() + study.what[1:]
    whole = "" if what.startswith("Success") else f" of all {study.size} segments"
    if "segments" in what:
        whole = f", among all {study.size}"
    found: list[Section] = [
        report.Headline(f"{what}{whole}, estimated", study.shown(record["value"]), lines)
    ]
    warnings = notes(study)
    if warnings:
        found.append(report.Notes("Before you use this number", warnings))
    return found


def interval_line(study: Study) -> str:
    """The interval with its label."""
    ends = _ends(study)
    label = "" if ends == _UNKNOWN else f" ({study.record['bound_label']})"
    return f"{study.level} interval: {ends}{label}"


def _ends(study: Study) -> str:
    low, high = study.record["low"], study.record["high"]
    if low is None or high is None:
        return _UNKNOWN
    return f"{study.shown(low)} to {study.shown(high)}"


def sections(study: Study, *, drawn: bool) -> list[Section]:
    """All sections; with figures if they are to be ``drawn``."""
    found: list[Section] = [_glance(study), _sampled(study), _saving(study)]
    if drawn and _figures.available():
        figures = _figures.figures(study)
        if figures:
            found.append(report.Group("Figures", figures, beside=True))
    elif drawn:
        found.append(report.Text("Figures", _figures.WITHOUT))
    found += [_others(study), diagnosed(study), answered(study), _to_cite(study)]
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
        (f"{study.level} interval", _ends(study)),
        (error, study.shown(record["se"])),
        ("rated", f"{study.n} of {study.size} segments"),
    ]
    if study.documents is not None:
        items.append(
            ("documents reached", f"{study.documents['sample']} of {study.documents['pool']}")
        )
    if study.saved.plain is not None and not study.plain:
        items.append(("as good as", f"about {rounded(study.saved.plain)} plain random ratings"))
    items += _wished(study)
    known = ("tolerance", "commands", "pool_file", "gaps", "score", "worst_case")
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
    items = [("half-width asked for", f"± {tolerance:g}")]
    if half is None:
        return items
    if half <= tolerance * (1 + SAME):
        return [*items, ("half-width reached", f"± {study.shown(half)}")]
    items.append(("half-width so far", f"± {study.shown(half)}"))
    if study.needed is not None and study.needed > study.n:
        items.append(("still to rate for it", f"about {rounded(study.needed - study.n)}"))
    return items


def _sampled(study: Study) -> Section:
    told = [f"Strategy `{study.strategy}`."]
    for name in study.samplers:
        words = _words.sampler_words(name, type(study.estimator.sampler).__doc__ or "")
        told.append(f"Sampler `{name}`: {words.does} {words.why}".strip())
    how = getattr(study.estimate, "how", None)
    words = _words.estimator_words(
        study.estimator.name, type(study.estimator).__doc__ or "", how=how
    )
    told.append(f"Estimator `{study.estimator.name}`: {words.does} {words.why}".strip())
    told.append(_chances(study))
    parts: list[Section] = [report.Text("", told)]
    if study.waves:
        parts.append(_waves(study))
    return report.Group("What was sampled, and why", parts)


def _chances(study: Study) -> str:
    low, high = study.weights["inclusion_min"], study.weights["inclusion_max"]
    assert low is not None and high is not None
    if high - low <= SAME * high:
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
        {c: [_plain(w.get(c)) for w in study.waves[:ROWS]] for c in columns}, columns=columns
    )
    total = sum(int(w.get("n") or 0) for w in study.waves)
    caption = f"{counted(len(study.waves), 'wave')}, {counted(total, 'segment')} in all."
    if len(study.waves) > ROWS:
        caption += f" The first {ROWS} are listed."
    names = {c: h for c, h in {"number": "wave", "n": "segments"}.items() if c in columns}
    formats: dict[str, Any] = dict.fromkeys(set(columns) & {"seed", "strategy", "date"}, str)
    return report.Table("", table, caption, formats, names=names)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else shorter(value)


def _saving(study: Study) -> Section:
    result, n = study.saved, study.n
    told = []
    if study.exact:
        told.append("Every segment was rated: none were saved, and nothing is left to chance.")
    elif result.plain is None:
        told.append(f"Nothing can be said about ratings saved: {result.why}.")
    elif study.plain:
        told.append("This is the mean of a plain random sample: there is nothing to compare.")
    elif abs(result.plain - n) <= _CLOSE * n:
        told.append("It came to about the same as the mean of a plain random sample of that size.")
    elif result.plain > n:
        more = rounded(result.plain - n)
        told.append(
            f"The mean of a plain random sample would need about {rounded(result.plain)} ratings "
            f"for the same standard error: these {n} saved about {more} {_rating(more)}."
        )
    else:
        fewer = rounded(n - result.plain)
        told.append(
            f"The mean of a plain random sample would have needed only about "
            f"{rounded(result.plain)} ratings for the same standard error: here the strategy did "
            f"worse than plain random sampling, by about {fewer} {_rating(fewer)}."
        )
    if result.plain is not None and not study.plain:
        assert result.random_se is not None
        told.append(
            f"With {n} plain random ratings the standard error would be about "
            f"{study.shown(result.random_se)}; here it is {study.shown(study.record['se'])}. This "
            "is a rough figure, since both errors are estimated from the same ratings."
        )
    return report.Text("Ratings saved", told)


def _rating(count: str) -> str:
    return "rating" if count == "1" else "ratings"


def _others(study: Study) -> Section:
    frame = study.alternatives
    one = len(frame) == 1
    caption = (
        "There is no other estimator to compare with here."
        if one
        else "The first line is the estimate of this report. The others are a check: to choose "
        "among them by the result would spoil the interval."
    )
    names = {"name": "estimator", "se": "standard error", "interval": "kind of interval"}
    formats: dict[str, Any] = dict.fromkeys(
        ("value", "se", "low", "high"), lambda v: _finite(study, v)
    )
    table = report.Table("", frame, caption, formats, names=names)
    return report.Group("Other estimators", [table])


def _finite(study: Study, value: float) -> str:
    return "unknown" if value in (float("inf"), float("-inf")) else study.shown(value)


def _to_cite(study: Study) -> Section:
    papers = _paper.references(study)
    parts: list[Section] = [
        report.Code("Signature", study.record["signature"]),
        report.Code("Methods, to paste", _paper.methods(study)),
        report.Code("To cite fewgold", _paper.BIBTEX, "bibtex"),
    ]
    if papers:
        parts.append(report.Items("Methods used", papers))
    return report.Group("For your paper", parts)
