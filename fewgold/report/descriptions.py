"""Samplers, estimators and intervals in words, and the papers that describe them.

The one table of wordings: ``fewgold strategies`` lists the short lines, reports use the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from fewgold.estimators.regressors import REGRESSORS

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
class Description:
    """What a method does, why one takes it, and the papers to cite for it.

    ``short`` is a line for lists, empty where only variants of the method are listed.
    """

    short: str
    does: str
    why: str
    papers: tuple[str, ...] = ()


SAMPLERS = {
    "random": Description(
        "any segment with the same chance",
        "Segments were drawn at random, every set of them equally likely.",
        "It needs no assumption and no metric, and every interval is proved or tried for it.",
        (COCHRAN,),
    ),
    "docs-prop": Description(
        "from each document its share of the budget",
        "Each document got its share of the ratings, and segments within it were drawn at random.",
        "Segments of one document resemble each other, so spreading ratings over documents tells "
        "more than drawing them anywhere.",
        (COCHRAN, SALDIAS),
    ),
    "docs-opt": Description(
        "more from documents whose metrics vary more",
        "Documents whose metrics vary more got more ratings, and the ratings are weighted back.",
        "Where scores vary more, one rating tells less, so more are worth having.",
        (NEYMAN, SALDIAS),
    ),
    "metrics-prop": Description(
        "from segments of high, middling and low metrics alike",
        "Segments were put into bins from low to high metrics, and each bin got its share.",
        "Good and bad outputs are then represented as they are in the pool.",
        (COCHRAN, SALDIAS),
    ),
    "metrics-opt": Description(
        "the same, more where the metrics vary more",
        "Segments were put into bins from low to high metrics; bins in which the metrics vary more "
        "got more ratings, which are weighted back.",
        "Good and bad outputs are represented, and more ratings go where scores vary more.",
        (NEYMAN, SALDIAS),
    ),
    "docs-sys": Description(
        "every so many segments along the documents in random order",
        "The documents were put in a line in random order, and segments taken from it at regular "
        "distances after a random start.",
        "No document gets more than its due, however few the ratings are.",
        (
            "Madow and Madow (1944), On the theory of systematic sampling, Annals of Mathematical "
            "Statistics 15",
        ),
    ),
    "docs-balanced": Description(
        "documents spread out, metrics averaging as in the pool",
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
    "docs-uneven": Description(
        "as docs-balanced, likelier where ratings are expected to stray",
        "Segments were drawn by the cube method so that their metrics average as they do in the "
        "pool and they are spread over the documents, with a larger chance where the rating was "
        "expected to stray further from what the metrics predict; ratings are weighted by one "
        "over their chance.",
        "A rating tells more where it can be predicted less, and the weights keep the score right "
        "whatever was expected.",
        (
            "Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91",
            NEYMAN,
            MODEL_ASSISTED,
        ),
    ),
    "docs-two-wave": Description(
        "a balanced first wave; its ratings tell where the next go (use --given)",
        "A first wave was drawn with equal chances, balanced on metrics and documents. How far its "
        "ratings strayed from what the metrics predict decided on the chances of the second wave; "
        "given the first, these are known, and ratings are weighted by one over their chance.",
        "Nothing has to be known beforehand about where ratings vary most.",
        (
            "Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91",
            NEYMAN,
            MODEL_ASSISTED,
        ),
    ),
    "docs-whole": Description(
        "whole documents, for raters who need context",
        "Documents in random order were taken whole until the budget was spent.",
        "Raters see the context. The price is that segments of one document resemble each other, "
        "so that each tells less.",
        (COCHRAN,),
    ),
    "docs-chunks": Description(
        "3 segments in a row; docs-chunksK for any K",
        "Stretches of consecutive segments were taken at regular distances from the documents in "
        "random order.",
        "Raters see some context, and the ratings are spread over more documents than whole ones "
        "would be.",
        (COCHRAN,),
    ),
    "docs-incr": Description(
        "",
        "Each further rating went to the document where the ratings so far, or predictions from "
        "them, vary most for its size.",
        "It learns where ratings are needed; because the scores decide what is rated, the mean is "
        "biased.",
        (SALDIAS,),
    ),
}
_UNEVEN = (
    " A segment had a larger chance where the rating was expected to stray further from what the "
    "metrics predict, and ratings are weighted by one over their chance."
)
SAMPLERS |= {
    f"{name}-uneven": replace(
        SAMPLERS[name],
        short=f"as {name}, likelier where ratings are expected to stray",
        does=SAMPLERS[name].does.replace(", every set of them equally likely", "") + _UNEVEN,
        why="A rating tells more where it can be predicted less.",
        papers=(*SAMPLERS[name].papers, NEYMAN, MODEL_ASSISTED),
    )
    for name in ("random", "metrics-prop", "docs-sys")
}
SAMPLERS["docs-uneven-rank"] = replace(
    SAMPLERS["docs-uneven"],
    short="the same by the rank of the metrics, for error counts only",
    does=SAMPLERS["docs-uneven"].does
    + " The worse the metrics of a segment, the further its rating was expected to stray.",
)
# Variants that differ in nothing but the line for lists
SAMPLERS |= {
    name: replace(SAMPLERS["docs-incr"], short=short)
    for name, short in {
        "docs-incr-human": "where the ratings so far vary most (biased; use --given)",
        "docs-incr-metrics": "where predicted ratings vary most (biased; use --given)",
    }.items()
}
ESTIMATORS = {
    "mean": Description(
        "the mean of the ratings, weighted as they were drawn",
        "The ratings were averaged, each weighted by how it was drawn.",
        "It assumes nothing about metrics.",
        (COCHRAN,),
    ),
    "cv": Description(
        "",
        "The mean of the ratings was corrected by how far the metrics of the rated segments are "
        "off their mean over the whole pool (control variates).",
        "Metrics are known for every segment, so chance in which segments were drawn shows in "
        "them, and can be taken out as far as metrics follow the ratings.",
        (COCHRAN, SALDIAS),
    ),
    "cv-knn": Description(
        "mean corrected by what similar rated segments got",
        "Scores of the whole pool were predicted from the rated segments with the most similar "
        "metrics, and the mean prediction was corrected by what it gets wrong on rated segments.",
        "It uses what the metrics tell even where that is not a straight line.",
        (SALDIAS, MODEL_ASSISTED),
    ),
    "cv-forest": Description(
        "mean corrected by a random forest on the metrics",
        "Scores of the whole pool were predicted by a random forest on the metrics, and the mean "
        "prediction was corrected by what it gets wrong on rated segments that it was not trained "
        "on.",
        "It uses what the metrics tell even where that is not a straight line.",
        ("Breiman (2001), Random forests, Machine Learning 45", MODEL_ASSISTED),
    ),
    "ridge": Description(
        "mean corrected by all metrics, as far as the ratings bear it",
        "The mean of the ratings was corrected by a ridge regression on the metrics, which are "
        "known over the whole pool; slopes that the ratings do not bear out are held back.",
        "It uses all metrics without making too much of few ratings.",
        (
            "Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal "
            "problems, Technometrics 12",
            MODEL_ASSISTED,
        ),
    ),
    "alpha": Description(
        "share of adequate segments from ratings of 0 and 1, by a model of metric errors",
        "The share of adequate segments was estimated by a Bayesian model: the rated segments tell "
        "how often the metric is right, and what it says of the others is corrected by that.",
        "A metric that is often wrong still tells something, once it is known how often it is.",
        (DANIKEN,),
    ),
}
ESTIMATORS |= {
    name: replace(ESTIMATORS["ridge" if name == "ridge-free" else "cv"], short=short)
    for name, short in {
        "cv-mean": "mean corrected by the average of the metrics",
        "cv-multi": "mean corrected by all metrics, a slope each",
        "ridge-free": "the same without using which way each metric points",
    }.items()
}
# A regressor by name; "cv-sklearn" alone speaks for those of your own.
ESTIMATORS |= {
    f"cv-sklearn{name}": replace(
        ESTIMATORS["cv-forest"],
        short=f"mean corrected by {what}" if name else "",
        does=ESTIMATORS["cv-forest"].does.replace(
            "a random forest on the metrics", f"{what} (scikit-learn, from the metrics)"
        ),
        papers=("Pedregosa et al. (2011), Scikit-learn, JMLR 12", MODEL_ASSISTED),
    )
    for name, what in {
        "": "a regressor",
        **{f":{name}": what for name, (what, _) in REGRESSORS.items()},
    }.items()
}
# The binary model where there was no metric to correct.
ALONE = Description(
    "",
    "The share of adequate segments was estimated by a Bayesian model from the ratings alone; no "
    "metric was used.",
    "It assumes nothing about metrics.",
    (DANIKEN,),
)

_PRINTED = "Followed as printed in the paper, known errors included, to reproduce it."


def describe_sampler(name: str, doc: str = "") -> Description:
    """What a sampler does; ``doc`` is the docstring that speaks for one of your own."""
    return _found(name, SAMPLERS, doc)


def describe_estimator(name: str, doc: str = "", *, how: str | None = None) -> Description:
    """What an estimator does; ``doc`` is the docstring that speaks for one of your own.

    ``how`` is how the binary model used a metric, empty if it used none.
    """
    if how == "":
        return ALONE
    return _found(name, ESTIMATORS, doc)


def _found(name: str, known: dict[str, Description], doc: str) -> Description:
    base = name.removesuffix("-printed")
    # docs-chunks3 goes on from docs-chunks, cv-comet from cv, docs-optimist not from docs-opt.
    stem = re.sub(r"^docs-chunks\d+$", "docs-chunks", base)
    fitting = [key for key in known if stem == key or stem.startswith((f"{key}-", f"{key}:"))]
    if not fitting:
        first = doc.strip().partition("\n")[0].strip() or f"{name}, a method of your own."
        return Description("", first, "")
    words = known[max(fitting, key=len)]
    return words if base == name else replace(words, does=f"{words.does} {_PRINTED}")


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


def short_line(name: str, known: dict[str, Description], make: Callable[[str], object]) -> str:
    """A line about a sampler or an estimator; its own docstring speaks for a plug-in.

    ``make`` is called for plug-ins only: building some estimators imports much.
    """
    base = name.removesuffix("-printed")
    if name != base:
        return f"{base} as printed in the paper, to reproduce it"
    key = "docs-chunks" if name == "docs-chunks3" else name
    if key in known:
        return known[key].short
    if name.startswith("cv-sklearn:"):
        return f"mean corrected by {name.removeprefix('cv-sklearn:')}, a regressor of your own"
    if name.startswith("cv-"):
        return f"mean corrected by {name.removeprefix('cv-')}"
    if name.startswith("alpha-"):
        return f"alpha with what {name.removeprefix('alpha-')} says of the unrated segments"
    return (type(make(name)).__doc__ or "").strip().partition("\n")[0]
