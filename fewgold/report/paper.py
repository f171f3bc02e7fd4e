"""What goes into a paper: the methods, the papers to cite, and the citation of fewgold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fewgold._text import counted, listed, rounded, shorter
from fewgold._version import __version__
from fewgold.estimate import LinearEstimate
from fewgold.report.study import Study

# Papers that describe methods, and how they are cited.


COCHRAN = "Cochran (1977), Sampling Techniques, third edition, Wiley"
SALDIAS = (
    "Saldías Fuentes, Foster, Freitag and Tan (2022), Toward More Effective Human Evaluation for "
    "Machine Translation, Workshop on Human Evaluation of NLP Systems (HumEval)"
)
DANIKEN = (
    "von Däniken, Deriu, Tuggener and Cieliebak (2022), On the Effectiveness of Automated Metrics "
    "for Text Generation Systems, Findings of EMNLP"
)
NEYMAN = "Neyman (1934), On the two different aspects of the representative method, JRSS 97"
MODEL_ASSISTED = "Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, Springer"


@dataclass(frozen=True)
class Words:
    """What a method does, why one takes it, and the papers to cite for it."""

    does: str
    why: str
    papers: tuple[str, ...] = ()


# Authors and year at the head of a reference; three or more authors are the first et al.
_AUTHORS = re.compile(r"(?:after )?([^()\d]+?) \((\d{4})\)")


def papers(*lists: Iterable[str]) -> list[str]:
    """Papers without repeats, in alphabetical order."""
    unique = {paper for papers in lists for paper in papers if paper}
    return sorted(unique, key=lambda paper: paper.removeprefix("von ").casefold())


def _authors(names: str) -> str:
    return f"{names.partition(',')[0]} et al." if "," in names else names


def in_text(papers: Iterable[str]) -> str:
    """Papers as they are cited in running text, such as ``Owen, 1988; Cochran, 1977``."""
    found = [f"{_authors(m[1])}, {m[2]}" for m in map(_AUTHORS.match, papers) if m]
    return "; ".join(dict.fromkeys(found))


# Samplers in words, and where they are described.


SAMPLERS = {
    "random": Words(
        "Segments were drawn at random, every set of them equally likely.",
        "It needs no assumption and no metric, and every interval is proved or tried for it.",
        (COCHRAN,),
    ),
    "docs-prop": Words(
        "Each document got its share of the ratings, and segments within it were drawn at random.",
        "Segments of one document resemble each other, so spreading ratings over documents tells "
        "more than drawing them anywhere.",
        (COCHRAN, SALDIAS),
    ),
    "docs-opt": Words(
        "Documents whose metrics vary more got more ratings, and the ratings are weighted back.",
        "Where scores vary more, one rating tells less, so more are worth having.",
        (NEYMAN, SALDIAS),
    ),
    "metrics-prop": Words(
        "Segments were put into bins from low to high metrics, and each bin got its share.",
        "Good and bad outputs are then represented as they are in the pool.",
        (COCHRAN, SALDIAS),
    ),
    "metrics-opt": Words(
        "Segments were put into bins from low to high metrics; bins in which the metrics vary more "
        "got more ratings, which are weighted back.",
        "Good and bad outputs are represented, and more ratings go where scores vary more.",
        (NEYMAN, SALDIAS),
    ),
    "docs-sys": Words(
        "The documents were put in a line in random order, and segments taken from it at regular "
        "distances after a random start.",
        "No document gets more than its due, however few the ratings are.",
        (
            "Madow and Madow (1944), On the theory of systematic sampling, Annals of Mathematical "
            "Statistics 15",
        ),
    ),
    "docs-balanced": Words(
        "Segments were drawn at random so that their metrics average as they do in the pool and "
        "they are spread over the documents, all with the same chance in one draw: balanced "
        "sampling by the cube method.",
        "What the metrics tell about the scores is then no longer left to chance.",
        (
            "Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91",
            "Hasler and Tillé (2014), Fast balanced sampling for highly stratified population, "
            "Computational Statistics and Data Analysis 74",
        ),
    ),
    "docs-whole": Words(
        "Documents in random order were taken whole until the budget was spent.",
        "Raters see the context. The price is that segments of one document resemble each other, "
        "so that each tells less.",
        (COCHRAN,),
    ),
    "docs-chunks": Words(
        "Stretches of consecutive segments were taken at regular distances from the documents in "
        "random order.",
        "Raters see some context, and the ratings are spread over more documents than whole ones "
        "would be.",
        (COCHRAN,),
    ),
    "docs-incr": Words(
        "Each further rating went to the document where the ratings so far, or predictions from "
        "them, vary most for its size.",
        "It learns where ratings are needed; because the scores decide what is rated, the mean is "
        "biased.",
        (SALDIAS,),
    ),
}


# Estimators in words, and where they are described.


ESTIMATORS = {
    "mean": Words(
        "The ratings were averaged, each weighted by how it was drawn.",
        "It assumes nothing about metrics.",
        (COCHRAN,),
    ),
    "cv": Words(
        "The mean of the ratings was corrected by how far the metrics of the rated segments are "
        "off their mean over the whole pool (control variates).",
        "Metrics are known for every segment, so chance in which segments were drawn shows in "
        "them, and can be taken out as far as metrics follow the ratings.",
        (COCHRAN, SALDIAS),
    ),
    "cv-knn": Words(
        "Scores of the whole pool were predicted from the rated segments with the most similar "
        "metrics, and the mean prediction was corrected by what it gets wrong on rated segments.",
        "It uses what the metrics tell even where that is not a straight line.",
        (SALDIAS, MODEL_ASSISTED),
    ),
    "cv-forest": Words(
        "Scores of the whole pool were predicted by a random forest on the metrics, and the mean "
        "prediction was corrected by what it gets wrong on rated segments that it was not trained "
        "on.",
        "It uses what the metrics tell even where that is not a straight line.",
        ("Breiman (2001), Random forests, Machine Learning 45", MODEL_ASSISTED),
    ),
    "ridge": Words(
        "The mean of the ratings was corrected by a ridge regression on the metrics, which are "
        "known over the whole pool; slopes that the ratings do not bear out are held back.",
        "It uses all metrics without making too much of few ratings.",
        (
            "Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal "
            "problems, Technometrics 12",
            MODEL_ASSISTED,
        ),
    ),
    "alpha": Words(
        "The share of adequate segments was estimated by a Bayesian model: the rated segments tell "
        "how often the metric is right, and what it says of the others is corrected by that.",
        "A metric that is often wrong still tells something, once it is known how often it is.",
        (DANIKEN,),
    ),
}
# The binary model where there was no metric to correct.
ALONE = Words(
    "The share of adequate segments was estimated by a Bayesian model from the ratings alone; no "
    "metric was used.",
    "It assumes nothing about metrics.",
    (DANIKEN,),
)


# Finds the words for a sampler, an estimator or a kind of interval, also for those of your own.


_PRINTED = "Followed as printed in the paper, known errors included, to reproduce it."


def sampler_words(name: str, doc: str = "") -> Words:
    """What a sampler does; ``doc`` is the docstring that speaks for one of your own."""
    return _found(name, SAMPLERS, doc)


def estimator_words(name: str, doc: str = "", *, how: str | None = None) -> Words:
    """What an estimator does; ``doc`` is the docstring that speaks for one of your own.

    ``how`` is how the binary model used a metric, empty if it used none.
    """
    if how == "":
        return ALONE
    return _found(name, ESTIMATORS, doc)


def _found(name: str, known: dict[str, Words], doc: str) -> Words:
    base = name.removesuffix("-printed")
    fitting = [key for key in known if base == key or _continues(base, key)]
    if not fitting:
        first = doc.strip().partition("\n")[0].strip() or f"{name}, a method of your own."
        return Words(first, "")
    words = known[max(fitting, key=len)]
    return words if base == name else Words(f"{words.does} {_PRINTED}", words.why, words.papers)


def _continues(name: str, key: str) -> bool:
    """``docs-chunks3`` goes on from docs-chunks, ``cv-comet`` from cv, ``docs-optimist`` not."""
    rest = name.removeprefix(key)
    return rest != name and (rest[0] == "-" or (key == "docs-chunks" and rest.isdigit()))


_KINDS = {
    "guaranteed": "Guaranteed: at least {level} of such intervals hold the true value, whatever "
    "the scores are, as long as they lie on the stated scale and were drawn as stated.",
    "conjectured": "Conjectured: no case is known in which fewer than {level} of such intervals "
    "hold the true value, but it is not proved.",
    "approximate": "Approximate: about {level} of such intervals hold the true value, the more "
    "closely the more ratings there are.",
    "credible": "Credible: given the model and its priors, the true value lies in it with a "
    "probability of {level}.",
}


def promise(kind: str, level: str) -> str:
    """What an interval of that kind promises, in a sentence; nothing for kinds of your own."""
    return _KINDS.get(kind, "").format(level=level)


BIBTEX = f"""@software{{fewgold,
  author  = {{{{The fewgold developers}}}},
  title   = {{{{fewgold: the score of a whole test set from few human ratings}}}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""


def bound_papers(study: Study) -> list[str]:
    """Where the interval is described."""
    estimate = study.estimate
    if not isinstance(estimate, LinearEstimate):
        return []
    reference = estimate.bound.resolve(estimate, study.confidence).reference
    return [part.strip() for part in reference.split(";") if re.search(r"\(\d{4}\)", part)]


def references(study: Study) -> list[str]:
    """The papers whose methods were used."""
    own = [sampler_words(name).papers for name in study.samplers]
    return papers(*own, estimator_words(study.estimator.name).papers, bound_papers(study))


def methods(study: Study) -> str:
    """A paragraph for the methods section, with the numbers of this study."""
    record = study.record
    inside = "" if study.documents is None else f" in {study.documents['pool']} documents"
    system = study.context.get("system")
    of = f" of the system {shorter(system)}" if system else ""
    sentences = [
        f"We estimated the {study.what} over {study.size} segments{inside}{of} from human ratings "
        f"of {study.n} of them ({study.n / study.size:.1%})."
    ]
    for name in study.samplers:
        sentences.append(_cited(sampler_words(name, _doc(study.estimator.sampler))))
    told = [f"strategy {study.strategy}"]
    if study.seeds:
        told.append(f"{'seed' if len(study.seeds) == 1 else 'seeds'} {listed(study.seeds)}")
    if len(study.waves) > 1:
        told.append(f"{len(study.waves)} waves")
    sentences.append(f"Segments were drawn with fewgold {__version__} ({', '.join(told)}).")
    how = getattr(study.estimate, "how", None)
    own = estimator_words(study.estimator.name, _doc(study.estimator), how=how)
    sentences.append(_cited(own))
    if used := used_metrics(study):
        sentences.append(f"{'Metric' if len(used) == 1 else 'Metrics'}: {listed(used)}.")
    sentences += _who(study)
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


def used_metrics(study: Study) -> list[str]:
    """The metrics that the estimator goes by; a cut one with its threshold."""
    how = getattr(study.estimate, "how", None)
    if how is not None:
        return [how] if how else []
    if study.estimator.name == "mean":
        return []
    own = getattr(study.estimator, "metrics", None)
    return list(own) if isinstance(own, tuple) else list(study.ratings.sample.pool.metrics)


def _cited(words: Words) -> str:
    """The sentence with its papers before the full stop."""
    papers = in_text(words.papers)
    return f"{words.does.rstrip('.')} ({papers})." if papers else words.does


def _who(study: Study) -> list[str]:
    counts = study.counts
    told = []
    if counts.get("answers"):
        each = counts["answers"] / max(counts["segments"], 1)
        told.append(
            f"{counted(counts['raters'], 'rater')} gave {counted(counts['answers'], 'answer')}, "
            f"{each:.3g} for each rated segment on average."
        )
    if study.unrated:
        how = ", taken as missing at random" if study.ratings.warnings else ""
        without = counted(len(study.unrated), "sampled segment")
        told.append(f"{without} remained without a rating{how}.")
    return told


def _doc(thing: object) -> str:
    return type(thing).__doc__ or ""
