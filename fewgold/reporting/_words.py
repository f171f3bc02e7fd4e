"""Samplers and estimators in words, and where their methods are described."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_COCHRAN = "Cochran (1977), Sampling Techniques, third edition, Wiley"
_SALDIAS = (
    "Saldías Fuentes, Foster, Freitag and Tan (2022), Toward More Effective Human Evaluation for "
    "Machine Translation, Workshop on Human Evaluation of NLP Systems (HumEval)"
)
_DANIKEN = (
    "von Däniken, Deriu, Tuggener and Cieliebak (2022), On the Effectiveness of Automated Metrics "
    "for Text Generation Systems, Findings of EMNLP"
)
_MODEL = "Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, Springer"


@dataclass(frozen=True)
class Words:
    """What a method does, why one takes it, and the papers to cite for it."""

    does: str
    why: str
    papers: tuple[str, ...] = ()


_SAMPLERS = {
    "random": Words(
        "Segments were drawn at random, every set of them equally likely.",
        "It needs no assumption and no metric, and every interval is proved or tried for it.",
        (_COCHRAN,),
    ),
    "docs-prop": Words(
        "Each document got its share of the ratings, and segments within it were drawn at random.",
        "Segments of one document resemble each other, so spreading ratings over documents tells "
        "more than drawing them anywhere.",
        (_COCHRAN, _SALDIAS),
    ),
    "docs-opt": Words(
        "Documents whose metrics vary more got more ratings, and the ratings are weighted back.",
        "Where scores vary more, one rating tells less, so more are worth having.",
        (
            "Neyman (1934), On the two different aspects of the representative method, JRSS 97",
            _SALDIAS,
        ),
    ),
    "metrics-prop": Words(
        "Segments were put into bins from low to high metrics, and each bin got its share.",
        "Good and bad outputs are then represented as they are in the pool.",
        (_COCHRAN, _SALDIAS),
    ),
    "metrics-opt": Words(
        "Segments were put into bins from low to high metrics; bins in which the metrics vary more "
        "got more ratings, which are weighted back.",
        "Good and bad outputs are represented, and more ratings go where scores vary more.",
        (
            "Neyman (1934), On the two different aspects of the representative method, JRSS 97",
            _SALDIAS,
        ),
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
        (_COCHRAN,),
    ),
    "docs-chunks": Words(
        "Stretches of consecutive segments were taken at regular distances from the documents in "
        "random order.",
        "Raters see some context, and the ratings are spread over more documents than whole ones "
        "would be.",
        (_COCHRAN,),
    ),
    "docs-incr": Words(
        "Each further rating went to the document where the ratings so far, or predictions from "
        "them, vary most for its size.",
        "It learns where ratings are needed; because the scores decide what is rated, the mean is "
        "biased.",
        (_SALDIAS,),
    ),
}
_ESTIMATORS = {
    "mean": Words(
        "The ratings were averaged, each weighted by how it was drawn.",
        "It assumes nothing about metrics.",
        (_COCHRAN,),
    ),
    "cv": Words(
        "The mean of the ratings was corrected by how far the metrics of the rated segments are "
        "off their mean over the whole pool (control variates).",
        "Metrics are known for every segment, so chance in which segments were drawn shows in "
        "them, and can be taken out as far as metrics follow the ratings.",
        (_COCHRAN, _SALDIAS),
    ),
    "cv-knn": Words(
        "Scores of the whole pool were predicted from the rated segments with the most similar "
        "metrics, and the mean prediction was corrected by what it gets wrong on rated segments.",
        "It uses what the metrics tell even where that is not a straight line.",
        (_SALDIAS, _MODEL),
    ),
    "cv-forest": Words(
        "Scores of the whole pool were predicted by a random forest on the metrics, and the mean "
        "prediction was corrected by what it gets wrong on rated segments that it was not trained "
        "on.",
        "It uses what the metrics tell even where that is not a straight line.",
        ("Breiman (2001), Random forests, Machine Learning 45", _MODEL),
    ),
    "ridge": Words(
        "The mean of the ratings was corrected by a ridge regression on the metrics, which are "
        "known over the whole pool; slopes that the ratings do not bear out are held back.",
        "It uses all metrics without making too much of few ratings.",
        (
            "Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal "
            "problems, Technometrics 12",
            _MODEL,
        ),
    ),
    "alpha": Words(
        "The share of adequate segments was estimated by a Bayesian model: the rated segments tell "
        "how often the metric is right, and what it says of the others is corrected by that.",
        "A metric that is often wrong still tells something, once it is known how often it is.",
        (_DANIKEN,),
    ),
}
# The binary model where there was no metric to correct.
_ALONE = Words(
    "The share of adequate segments was estimated by a Bayesian model from the ratings alone; no "
    "metric was used.",
    "It assumes nothing about metrics.",
    (_DANIKEN,),
)
# Authors and year at the head of a reference; three or more authors are the first et al.
_AUTHORS = re.compile(r"(?:after )?([^()\d]+?) \((\d{4})\)")
_PRINTED = "Followed as printed in the paper, known errors included, to reproduce it."


def sampler_words(name: str, doc: str = "") -> Words:
    """What a sampler does; ``doc`` is the docstring that speaks for one of your own."""
    return _found(name, _SAMPLERS, doc)


def estimator_words(name: str, doc: str = "", *, how: str | None = None) -> Words:
    """What an estimator does; ``doc`` is the docstring that speaks for one of your own.

    ``how`` is how the binary model used a metric, empty if it used none.
    """
    if how == "":
        return _ALONE
    return _found(name, _ESTIMATORS, doc)


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
