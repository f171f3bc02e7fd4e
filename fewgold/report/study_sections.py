"""The sections of the report of a study, in their order, with their figures."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import plots, report
from fewgold.common.arrays import FloatArray
from fewgold.common.text import counted, fixed, listed, rounded, shorter
from fewgold.history import METRIC
from fewgold.io.columns import told_orientation
from fewgold.plots.style import available
from fewgold.report.descriptions import describe_estimator, describe_sampler, promise
from fewgold.report.methods import BIBTEX, methods, references
from fewgold.report.study import StudyNumbers

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.report import Section


_FEW = 16  # with fewer ratings the interval is rough
_OFF = 3.5  # standard errors of a metric's mean in a plain random sample
_PULL = 0.5  # of the sum of squares, by one segment


def notes(study: StudyNumbers) -> list[str]:
    """Notes of the estimate, then gaps, then findings of the diagnostics."""
    found = [_sentence(note) for note in study.record["notes"]]
    found += _gaps(study)
    units = study.ratings.sample.design.units
    drawn = study.n if units is None else len(set(units.tolist()))
    rough = study.record["bound_kind"] == "approximate" and study.half_width is not None
    if rough and drawn < _FEW and not study.exact:
        what = counted(drawn, "rating" if units is None else "unit drawn as a whole")
        if units is not None and drawn != 1:
            what = f"{drawn} documents or runs of segments drawn as a whole"
        found.append(
            f"{what} hardly {'shows' if drawn == 1 else 'show'} how scores are spread: treat "
            "the interval as a rough one."
        )
    pulls = study.pulls
    if pulls is not None and len(pulls) and study.n > 3 and float(pulls["share"][0]) > _PULL:
        found.append(
            f"One segment, {shorter(pulls['segment'][0])}, accounts for {pulls['share'][0]:.0%} of "
            f"the variation of the ratings. Check its rating."
        )
    if len(study.likeness) and not study.by_class:
        row = study.likeness.iloc[int(study.likeness["chance"].abs().to_numpy().argmax())]
        if abs(row["chance"]) > _OFF:
            found.append(
                f"The sample's mean of {shorter(row['metric'])} is {abs(row['difference']):.2f} "
                f"standard deviations {'above' if row['difference'] > 0 else 'below'} the pool's, "
                f"more than chance explains. Is this the sample that was drawn, and are all of its "
                f"segments rated?"
            )
    return list(dict.fromkeys(found))


def _gaps(study: StudyNumbers) -> list[str]:
    found = []
    if study.unrated:
        some = ", ".join(map(shorter, study.unrated[:5]))
        more = f" and {len(study.unrated) - 5} more" if len(study.unrated) > 5 else ""
        how = study.context.get("gaps") or (
            "The score represents the pool only if they are missing for reasons unrelated to their "
            "scores"
        )
        if study.ratings.warnings:  # the estimate itself says how they were treated
            how = study.context.get("gaps") or ""
        count = counted(len(study.unrated), "sampled segment")
        has = "has" if len(study.unrated) == 1 else "have"
        found.append(f"{count} {has} no rating: {some}{more}. {_sentence(str(how))}".strip())
        worst = study.context.get("worst_case")
        if worst is not None:
            low, high = (study.shown(end) for end in worst)
            found.append(
                f"Whatever their scores are, the {study.level} interval is {low} to {high}."
            )
    if study.strays:
        found.append(
            f"{counted(study.strays, 'answer')} for segments that were never sampled "
            f"{'is' if study.strays == 1 else 'are'} set aside and not used."
        )
    drawn = sum(int(wave.get("n") or 0) for wave in study.waves)
    if study.waves and drawn != study.n + len(study.unrated):
        found.append(
            f"The waves add up to {counted(drawn, 'segment')}, but {study.n} are rated and "
            f"{len(study.unrated)} listed as not rated."
        )
    return found


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def top(study: StudyNumbers) -> list[Section]:
    """The top of the report: the score, and the warnings."""
    record = study.record
    if study.exact:
        lines = ["Exact for these ratings: every segment was rated, so there is no sampling error."]
    elif study.half_width is None:
        lines = [f"{study.level} interval: {ends(study)}"]
    else:
        lines = [
            f"{study.level} interval: {ends(study)} ({record['bound_label']})",
            promise(record["bound_kind"], study.level),
        ]
    share = f"{study.n / study.size:.1%}"
    lines.append(f"Based on ratings of {study.n} of {study.size} segments ({share}).")
    what = study.what[:1].upper() + study.what[1:]
    whole = "" if what.startswith("Success") else f" of all {study.size} segments"
    if "segments" in what:
        whole = f", among all {study.size}"
    if study.process and study.linear is not None:
        whole = " in a new test set like this one"
    found: list[Section] = [
        report.Headline(f"{what}{whole}, estimated", study.shown(record["value"]), lines)
    ]
    warnings = notes(study)
    if warnings:
        found.append(report.Notes("Before you use this number", warnings))
    return found


def ends(study: StudyNumbers) -> str:
    low, high = study.record["low"], study.record["high"]
    if low is None or high is None:
        return "unknown (too few ratings)"
    return f"{study.shown(low)} to {study.shown(high)}"


_CLOSE = 0.05  # share of the ratings below which savings or losses are negligible


def saving(study: StudyNumbers) -> Section:
    result, n = study.saved, study.n
    told = []
    if study.exact:
        told.append("Every segment was rated: none were saved, and there is no sampling error.")
    elif result.plain is None:
        told.append(f"The ratings saved are unknown: {result.why}.")
    elif study.plain:
        told.append("This is the mean of a plain random sample: there is nothing to compare.")
    elif abs(result.plain - n) <= _CLOSE * n:
        told.append("It was about as precise as the mean of a plain random sample of that size.")
    elif result.plain > n:
        told.append(
            f"The mean of a plain random sample would need about {rounded(result.plain)} ratings "
            f"for the same standard error: these {n} saved about {_ratings(result.plain - n)}."
        )
    else:
        told.append(
            f"The mean of a plain random sample would have needed only about "
            f"{rounded(result.plain)} ratings for the same standard error: here the strategy did "
            f"worse than plain random sampling, by about {_ratings(n - result.plain)}."
        )
    if result.plain is not None and not study.plain:
        assert result.random_se is not None
        told.append(
            f"With {n} plain random ratings the standard error would be about "
            f"{study.shown(result.random_se)}; here it is {study.shown(study.record['se'])}. This "
            "is a rough figure, since both errors are estimated from the same ratings."
        )
    return report.Text("Ratings saved", told)


def _ratings(count: float) -> str:
    told = rounded(count)
    return f"{told} rating" if told == "1" else f"{told} ratings"


def others(study: StudyNumbers) -> Section:
    frame = study.alternatives
    caption = "There is no other estimator to compare with here."
    if len(frame) > 1:
        caption = (
            "The first row is the estimate of this report. The others are a check: choosing among "
            "them by their result would invalidate the interval."
        )

    def shown(value: float) -> str:
        return "unknown" if math.isinf(value) else study.shown(value)

    formats: dict[str, Any] = dict.fromkeys(("value", "se", "low", "high"), shown)
    names = {"name": "estimator", "se": "standard error", "interval": "kind of interval"}
    table = report.Table("", frame, caption, formats, names=names)
    return report.Group("Other estimators", [table])


#: Largest number of rows to show in a table; the rest are counted.
ROWS = 40
#: Numbers that differ by less than this, relatively, are treated as equal.
SAME = 1e-9


def diagnosed(study: StudyNumbers) -> Section:
    """All diagnostics that the study has data for."""
    parts: list[Section] = []
    if len(study.correlations):
        caption = (
            f"Pearson's correlation over the pool, weighted as drawn, with its {study.level} "
            "interval. Metrics for which lower is better have the opposite sign."
        )
        shown = _short(study.correlations.head(ROWS), "metric")
        two: dict[str, Any] = dict.fromkeys(("r", "low", "high"), lambda v: fixed(v, 2))
        parts.append(report.Table("Metrics and human scores", shown, caption, two))
        caption = (
            "Metric means of the rated segments, weighted as drawn, and of the pool. Difference: "
            "in standard deviations of the pool. Against chance: in standard errors of a plain "
            "random sample; above 2 is rare, above 3 is suspicious."
        )
        shown = _short(study.likeness.head(ROWS), "metric")
        digits: dict[str, Any] = {
            "difference": lambda v: fixed(v, 3), "chance": lambda v: fixed(v, 1)
        }  # fmt: skip
        names = {"pool": "pool mean", "sample": "sample mean", "chance": "against chance"}
        parts.append(report.Table("Sample and pool", shown, caption, digits, names=names))
    parts.append(_weighted(study))
    strata = study.strata
    if strata is not None and len(strata) <= ROWS:
        caption = "Share: of the pool, by the weights."
        parts.append(report.Table("Strata", strata, caption, {"share": lambda v: f"{v:.1%}"}))
    elif strata is not None:
        fewest, most = int(strata["ratings"].min()), int(strata["ratings"].max())
        told = f"{len(strata)} strata, with {fewest} to {most} ratings each."
        parts.append(report.Text("Strata", told))
    if study.pulls is not None:
        caption = (
            "How far each segment moves the estimate, and its share of the sum of squares. If one "
            "dominates, check its rating."
        )
        formats = {
            "pull": lambda v: f"{'+' if v > 0 else ''}{fixed(v, study.places + 1)}",
            "share": lambda v: f"{v:.0%}",
        }
        shown = _short(study.pulls, "segment", "document")
        parts.append(report.Table("Most influential segments", shown, caption, formats))
    lead = "" if len(study.correlations) else "The pool has no automatic metrics to compare with."
    return report.Group("Diagnostics", parts, lead)


def _short(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The same table, with long names shortened in the middle."""
    return frame.assign(**{c: [shorter(v) for v in frame[c]] for c in columns if c in frame})


def _weighted(study: StudyNumbers) -> Section:
    w = study.weights
    effect = w["design_effect"]
    low, high, factor = w["weight_min"], w["weight_max"], w["weighting_effect"]
    assert low is not None and high is not None and factor is not None
    spread = "all equal" if high - low <= SAME * high else f"{low:.3g} to {high:.3g} (mean 1)"
    items = [
        ("weights", spread),
        ("effective sample size", f"{w['effective']:.4g} of {study.n}"),
        ("variance from unequal weights", f"× {factor:.3g}"),
        ("design effect, plain mean", "unknown" if effect is None else f"{effect:.2f}"),
    ]
    if study.documents is not None:
        d = study.documents
        each = f"{d['fewest']}" if d["fewest"] == d["most"] else f"{d['fewest']} to {d['most']}"
        items.append(("ratings per rated document", each))
    return report.Facts("Weights and documents", items)


def answered(study: StudyNumbers) -> Section:
    """Counts of answers, a comparison of raters, and a list of gaps."""
    c = study.counts
    items = []
    if "answers" in c:
        items += [
            ("answers used", f"{c['answers']} by {counted(c['raters'], 'rater')}"),
            ("segments with several raters", str(c["several_raters"])),
            ("repeated answers by the same rater", str(c["repeats"])),
        ]
        if c["without_score"]:
            items.append(("answers without a score", str(c["without_score"])))
        if c["elsewhere"]:
            items.append(("answers for segments outside the sample", str(c["elsewhere"])))
    items += [("sampled but not rated", str(c["unrated"])), ("set aside", str(c["strays"]))]
    parts: list[Section] = [report.Facts("", items)]
    if study.raters is not None:
        told = agreement(study)
        parts += [_by_rater(study), *([report.Text("Agreement", told)] if told else [])]
    if study.unrated:
        some = ", ".join(map(shorter, study.unrated[:100]))
        more = f" and {len(study.unrated) - 100} more" if len(study.unrated) > 100 else ""
        parts.append(report.Text("Not rated", f"{some}{more}"))
    return report.Group("Raters and answers", parts)


def _by_rater(study: StudyNumbers) -> Section:
    raters = study.raters
    assert raters is not None
    kept = ["rater", "answers", "segments", "mean", "sd"]
    caption = "No segment has answers from two raters, so agreement is unknown."
    if raters["shared"].any():
        kept += ["shared", "deviation", "deviation_se", "correlation", "same"]
        caption = (
            "Computed on segments that others rated too. Against others: difference from the mean "
            "of the others, ± standard error. Same: share of the others who gave the same score."
        )
    if len(raters) > ROWS:
        caption += f" The {ROWS} busiest of {len(raters)}."
    frame = _short(raters[kept].head(ROWS), "rater")
    formats: dict[str, Any] = {c: lambda v: fixed(v, 2) for c in ("mean", "sd", "correlation")}
    formats["same"] = lambda v: f"{v:.0%}"
    names = {"deviation": "against others", "correlation": "r with others"}
    return report.Table(
        "Raters",
        frame,
        caption,
        {c: f for c, f in formats.items() if c in kept},
        {"deviation": "deviation_se"} if "deviation" in kept else {},
        {c: name for c, name in names.items() if c in kept},
    )


def agreement(study: StudyNumbers) -> list[str]:
    """Agreement of raters, and the result to expect from other raters like them."""
    found = study.agreement
    if found is None:
        return []
    told = []
    if not math.isnan(found.alpha):
        told.append(
            f"Krippendorff's α is {fixed(found.alpha, 2)} for scores as numbers and "
            f"{fixed(found.alpha_nominal, 2)} for scores as categories, on {found.shared} segments "
            f"rated by two or more: 1 is perfect agreement, 0 is chance agreement."
        )
    told.append("The interval of the score is for these answers by these raters.")
    wide = study.any_raters
    if wide is not None:
        told.append(
            f"For any raters like them the standard error is {study.shown(wide['se'])} and the "
            f"{study.level} interval {study.shown(wide['low'])} to {study.shown(wide['high'])} "
            f"(Student, approximate; a rough estimate from {len(found.table)} raters)."
        )
    told += [f"{note[:1].upper()}{note[1:]}." for note in found.notes]
    return told


def sampled(study: StudyNumbers) -> Section:
    told = [study.chosen or f"Strategy `{study.strategy}`."]
    for name in study.samplers:
        words = describe_sampler(name, type(study.estimator.sampler).__doc__ or "")
        told.append(f"Sampler `{name}`: {words.does} {words.why}".strip())
    how = getattr(study.estimate, "how", None)
    words = describe_estimator(study.estimator.name, type(study.estimator).__doc__ or "", how=how)
    told.append(f"Estimator `{study.estimator.name}`: {words.does} {words.why}".strip())
    low, high = study.weights["inclusion_min"], study.weights["inclusion_max"]
    assert low is not None and high is not None
    chance = f"Segments had chances from {low:.3g} to {high:.3g} of being rated."
    if high - low <= SAME * high:
        chance = f"Every segment had the same chance of being rated, {low:.3g}."
    seeds = study.seeds
    known = f"{'Seed' if len(seeds) == 1 else 'Seeds'}: {listed(seeds)}."
    if study.chosen is None:
        told.append(f"{chance} {known if seeds else 'The seed is not known.'}")
    else:
        told.append(f"{chance} The user stated this; no test can prove it.")
    parts: list[Section] = [report.Text("", told)]
    if study.waves:
        parts.append(_waves(study))
    return report.Group("What was sampled, and why", parts)


def _waves(study: StudyNumbers) -> Section:
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


def commands(study: StudyNumbers) -> str:
    """The commands that reproduce the sample and the score."""
    own = study.context.get("commands")
    if own:
        return own if isinstance(own, str) else "\n".join(map(str, own))
    pool = shlex.quote(str(study.context.get("pool_file") or "POOL.csv"))
    waves = list(study.waves) or [{"n": study.n + len(study.unrated)}]
    if len(study.seeds) > len(waves) == 1:  # waves of unknown sizes
        waves = [{"n": f"N{i}"} for i in range(1, len(study.seeds) + 1)]
    # Names the metrics and texts of the pool, because guesses from the table may differ.
    own_pool = study.ratings.sample.pool
    # A history adds its own metric.
    metrics = {m: v for m, v in own_pool.metrics.items() if m != METRIC}
    earlier = METRIC in own_pool.metrics
    told = {
        "--metrics": ",".join(metrics) or "none",
        "--texts": ",".join(own_pool.texts),
        "--orientation": told_orientation(own_pool.orientation, metrics),
        "--history": "HISTORY.csv" if earlier else "",
        "--uncertainty": "COLUMN" if own_pool.spread is not None and not earlier else "",
    }
    columns = "".join(f" {name} {shlex.quote(value)}" for name, value in told.items() if value)
    lines = []
    for i, wave in enumerate(waves[:6]):
        seed = study.seeds[i] if i < len(study.seeds) else "SEED"
        strategy = shlex.quote(str(wave.get("strategy") or study.strategy))
        given = f" --given wave{i}.csv" if i else columns
        lines.append(
            f"fewgold select {pool}{given} --strategy {strategy} --budget {wave.get('n')} "
            f"--seed {shlex.quote(seed)} -o wave{i + 1}.csv"
        )
    if len(waves) > 6:
        lines.append(f"# and so on, up to wave {len(waves)}")
    return "\n".join([*lines, f"fewgold estimate wave{len(waves)}.csv{_options(study)}"])


def _options(study: StudyNumbers) -> str:
    found = []
    name = study.strategy.partition("+")[2] or study.strategy
    if name != study.estimator.name and study.strategy not in study.samplers:
        found += ["--estimator", study.estimator.name]
    adequate, limits = study.ratings.sample.info.adequate, study.ratings.limits
    if adequate is not None:
        found += ["--adequate", str(adequate).replace(" ", "")]
    elif limits is not None:
        found += ["--limits", "{:g},{:g}".format(*limits)]
    bound = study.estimator.bound
    spelled = bound if isinstance(bound, str) else bound.name
    metric = getattr(bound, "metric", None)
    if spelled not in ("auto", "equal"):
        found += ["--bound", f"{spelled}:{metric}" if metric else spelled]
    better = getattr(study.estimator, "higher_is_better", None)
    if better is not None:
        found.append("--higher-is-better" if better else "--lower-is-better")
    if study.confidence != 0.95:
        found += ["--confidence", f"{study.confidence:g}"]
    return "".join(f" {shlex.quote(word)}" for word in found)


def sections(study: StudyNumbers, *, drawn: bool) -> list[Section]:
    """All sections, with figures if ``drawn``."""
    found: list[Section] = [_glance(study), sampled(study), saving(study)]
    if drawn and available():
        if drawings := figures(study):
            found.append(report.Group("Figures", drawings, beside=True))
    elif drawn:
        found.append(report.Text("Figures", WITHOUT))
    to_cite: list[Section] = [
        report.Code("Signature", study.record["signature"]),
        report.Code("Methods section to paste", methods(study)),
        report.Code("To cite fewgold", BIBTEX, "bibtex"),
    ]
    if papers := references(study):
        to_cite.append(report.BulletList("Methods used", papers))
    again = (
        "The same pool, options and seed draw the same segments; the signature shows whether pool, "
        "ratings and version are those of this report."
    )
    return [
        *found,
        others(study),
        diagnosed(study),
        answered(study),
        report.Group("For your paper", to_cite),
        report.Group("How to reproduce it", [report.Code("", commands(study), "sh")], again),
    ]


def _glance(study: StudyNumbers) -> Section:
    record = study.record
    error = "posterior standard deviation" if study.linear is None else "standard error"
    items = [
        (f"{study.level} interval", ends(study)),
        (error, study.shown(record["se"])),
        ("rated", f"{study.n} of {study.size} segments"),
    ]
    if study.documents is not None:
        items.append(
            ("rated documents", f"{study.documents['sample']} of {study.documents['pool']}")
        )
    if study.saved.plain is not None and not study.plain:
        items.append(("as good as", f"about {rounded(study.saved.plain)} plain random ratings"))
    tolerance, half = study.context.get("tolerance"), study.half_width
    if tolerance is not None:
        items.append(("target half-width", f"± {tolerance:g}"))
        if half is not None:
            reached = half <= tolerance * (1 + SAME)
            items.append(
                (f"half-width {'reached' if reached else 'so far'}", f"± {study.shown(half)}")
            )
            if not reached and study.needed is not None and study.needed > study.n:
                items.append(
                    ("ratings still needed for it", f"about {rounded(study.needed - study.n)}")
                )
    known = ("tolerance", "commands", "pool_file", "gaps", "score", "worst_case")
    items += [
        (shorter(key), shorter(value, 200))
        for key, value in study.context.items()
        if key not in known and value is not None
    ]
    return report.Facts("At a glance", items)


# Figures, if matplotlib is installed

WITHOUT = (
    "Figures need matplotlib, which is not installed: `pip install 'fewgold[plots]'`. All numbers "
    "are on this page without it."
)
# Largest number of dots in a scatter plot; more take space and add nothing.
_DOTS = 400


def figures(study: StudyNumbers) -> list[report.Figure]:
    """All figures that the study has data for."""
    found = [_alternatives(study), _path(study), *_metric(study)]
    return [figure for figure in found if figure is not None]


def _alternatives(study: StudyNumbers) -> report.Figure | None:
    frame = study.alternatives
    if not np.isfinite(frame[["low", "high"]].to_numpy(dtype=float)).all(axis=1).any():
        return None
    own, *others = frame["name"]
    named = frame.assign(name=[f"{own} (this report)", *(f"{n}, for comparison" for n in others)])
    ax = plots.interval_rows(named, label=f"{study.what}, {study.level} intervals")
    told = "; ".join(
        f"{name} {study.shown(value)}"
        for name, value in zip(named["name"], frame["value"], strict=True)
    )
    svg = plots.to_svg(ax, alt=f"Estimates with intervals: {told}.")
    caption = "The estimate of this report, and other estimates from the same ratings."
    return report.Figure("Comparison with other estimators", svg, caption)


def _path(study: StudyNumbers) -> report.Figure | None:
    frame = study.path
    if frame is None or len(frame) < 2:
        return None
    ax = plots.interval_path(frame, label="estimate")
    count, step = len(frame), "wave" if study.waves and "se" not in frame else "look"
    svg = plots.to_svg(ax, alt=f"Estimate and interval after each of {count} {step}s.")
    caption = (
        f"The estimate and its {study.level} interval as ratings came in. Each interval is valid "
        f"for one look planned in advance, not for stopping when the result looks good."
    )
    return report.Figure("The estimate over time", svg, caption)


def _metric(study: StudyNumbers) -> list[report.Figure]:
    """The best metric: against the ratings, and in the sample and the pool."""
    frame = study.correlations
    if not len(frame) or not np.isfinite(frame["r"][0]):
        return []
    name, sample = str(frame["metric"][0]), study.ratings.sample
    over, at = sample.pool.metrics[name], sample.pool.metrics[name][sample.indices]
    short = shorter(name, 40)
    score = "1 if adequate, else 0" if study.linear is None else "human score"
    line = weighted_line(at, study.ratings.scores, sample.design.weights)
    ax = plots.scatter_fit(
        at[:_DOTS], study.ratings.scores[:_DOTS], line, xlabel=short, ylabel=score
    )
    r = f"{frame['r'][0]:.2f}".replace("-", "−")
    dots = "" if study.n <= _DOTS else f" The first {_DOTS} of {study.n} are drawn."
    scatter = report.Figure(
        "Human scores and the best metric",
        plots.to_svg(ax, alt=f"Human score against {short}, correlation {r}."),
        f"Rated segments by {short}, the metric with the highest correlation (r = {r}), and the "
        f"weighted least-squares line.{dots}",
    )
    ax = plots.two_distributions(over, at, sample.design.weights, label=short)
    shape = report.Figure(
        "The same metric in pool and sample",
        plots.to_svg(ax, alt=f"Distribution of {short} over the pool and over the sample."),
        "Grey: all segments. Line: the rated ones, weighted. They should look alike.",
    )
    return [scatter, shape]


def weighted_line(x: FloatArray, y: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Intercept and slope of weighted least squares; flat if x does not vary."""
    w = w / w.sum()
    mx, my = float(w @ x), float(w @ y)
    spread = float(w @ (x - mx) ** 2)
    slope = float(w @ ((x - mx) * (y - my))) / spread if spread > 0 else 0.0
    return my - slope * mx, slope
