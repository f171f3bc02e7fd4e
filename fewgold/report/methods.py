"""Text for a paper: the methods, the papers to cite, and how to cite fewgold."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fewgold._version import __version__
from fewgold.common.text import counted, listed, rounded, shorter, verb
from fewgold.estimate import LinearEstimate
from fewgold.report.descriptions import Description, describe_estimator, describe_sampler
from fewgold.report.study import StudyNumbers

BIBTEX = f"""@software{{fewgold,
  author  = {{{{The fewgold developers}}}},
  title   = {{{{fewgold: the score of a whole test set from few human ratings}}}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""


def bound_papers(study: StudyNumbers) -> list[str]:
    """The paper that describes the interval."""
    estimate = study.estimate
    if not isinstance(estimate, LinearEstimate):
        return []
    reference = estimate.bound.resolve(estimate, study.confidence).reference
    return [part.strip() for part in reference.split(";") if re.search(r"\(\d{4}\)", part)]


def references(study: StudyNumbers) -> list[str]:
    """The papers whose methods were used."""
    own = [describe_sampler(name).papers for name in study.samplers]
    return papers(*own, describe_estimator(study.estimator.name).papers, bound_papers(study))


def methods(study: StudyNumbers) -> str:
    """A paragraph for the methods section, with the numbers of this study."""
    record = study.record
    inside = "" if study.documents is None else f" in {study.documents['pool']} documents"
    system = study.context.get("system")
    of = f" of the system {shorter(system)}" if system else ""
    about = f"over {study.size} segments"
    if study.process:
        about = f"to expect in new test sets like this one of {study.size} segments"
    sentences = [
        f"We estimated the {study.what} {about}{inside}{of} from human ratings of {study.n} of "
        f"them ({study.n / study.size:.1%})."
    ]
    for name in study.samplers:
        sentences.append(_cited(describe_sampler(name, _doc(study.estimator.sampler))))
    if study.context.get("chances"):
        sentences.append(str(study.context["chances"]))
    told = [f"strategy {study.strategy}"]
    if study.seeds:
        told.append(f"{'seed' if len(study.seeds) == 1 else 'seeds'} {listed(study.seeds)}")
    if len(study.waves) > 1:
        told.append(f"{len(study.waves)} waves")
    drawn = f"Segments were drawn with fewgold {__version__} ({', '.join(told)})."
    sentences.append(study.chosen or drawn)
    how = getattr(study.estimate, "how", None)
    own = describe_estimator(study.estimator.name, _doc(study.estimator), how=how)
    sentences.append(_cited(own))
    if used := used_metrics(study):
        sentences.append(f"{'Metric' if len(used) == 1 else 'Metrics'}: {listed(used)}.")
    counts = study.counts
    if counts.get("answers"):
        each = counts["answers"] / max(counts["segments"], 1)
        sentences.append(
            f"{counted(counts['raters'], 'rater')} gave {counted(counts['answers'], 'answer')}, "
            f"{each:.3g} for each rated segment on average."
        )
    if study.unrated:
        taken = ", taken as missing at random" if study.ratings.warnings else ""
        without = counted(len(study.unrated), "sampled segment")
        sentences.append(f"{without} {verb(len(study.unrated), 'have')} no rating{taken}.")
    if study.exact:
        sentences.append(f"The result is {study.shown(record['value'])}; every segment was rated.")
    else:
        error = "posterior standard deviation" if study.linear is None else "standard error"
        ends = f"from {study.shown(record['low'])} to {study.shown(record['high'])}"
        if record["low"] is None or record["high"] is None:
            ends = "that is unknown"
        label = [record["bound_label"], in_text(bound_papers(study))]
        sentences.append(
            f"The estimate is {study.shown(record['value'])}, with a {error} of "
            f"{study.shown(record['se'])} and a {study.level} interval {ends} "
            f"({'; '.join(filter(None, label))})."
        )
    if study.saved.plain is not None and not study.plain:
        sentences.append(
            f"The mean of a plain random sample would need about {rounded(study.saved.plain)} "
            "ratings for the same standard error."
        )
    return " ".join(sentences)


def used_metrics(study: StudyNumbers) -> list[str]:
    """The metrics that the estimator uses, with the threshold if there is one."""
    how = getattr(study.estimate, "how", None)
    if how is not None:
        return [how] if how else []
    if study.estimator.name == "mean":
        return []
    own = getattr(study.estimator, "metrics", None)
    return list(own) if isinstance(own, tuple) else list(study.ratings.sample.pool.metrics)


def _cited(words: Description) -> str:
    """The sentence, with its citations before the full stop."""
    papers = in_text(words.papers)
    return f"{words.does.rstrip('.')} ({papers})." if papers else words.does


def _doc(thing: object) -> str:
    return type(thing).__doc__ or ""


# Authors and year at the start of a reference; three or more authors become "et al."
_AUTHORS = re.compile(r"(?:after )?([^()\d]+?) \((\d{4})\)")


def papers(*lists: Iterable[str]) -> list[str]:
    """Papers without repeats, in alphabetical order."""
    unique = {paper for papers in lists for paper in papers if paper}
    return sorted(unique, key=lambda paper: paper.removeprefix("von ").casefold())


def in_text(papers: Iterable[str]) -> str:
    """Papers as cited in running text, such as ``Owen, 1988; Cochran, 1977``."""
    found = []
    for match in filter(None, map(_AUTHORS.match, papers)):
        first, several, _ = match[1].partition(",")
        found.append(f"{first}{' et al.' if several else ''}, {match[2]}")
    return "; ".join(dict.fromkeys(found))
