"""The section on what was sampled, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold import report
from fewgold.reporting import _words
from fewgold.reporting._checks import ROWS, SAME
from fewgold.reporting._phrases import counted, listed, shorter
from fewgold.reporting._study import Study

if TYPE_CHECKING:
    from fewgold.report import Section


def sampled(study: Study) -> Section:
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
