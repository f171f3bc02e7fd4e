"""Descriptions of samplers, estimators and intervals, with their papers.

``fewgold strategies`` lists the short descriptions; reports use the long ones.
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
    """What a method does, why to use it, and the papers to cite for it.

    ``short`` is one line for lists, empty if only variants of the method are listed.
    """

    short: str
    does: str
    why: str
    papers: tuple[str, ...] = ()


SAMPLERS = {
    "random": Description(
        "every segment with the same chance",
        "Segments were drawn at random, with every subset equally likely.",
        "It needs no assumptions and no metrics, and every interval is proved or tested for it.",
        (COCHRAN,),
    ),
    "docs-prop": Description(
        "each document gets its share of the budget",
        "Each document got its share of the ratings, and segments within it were drawn at random.",
        "Segments of one document resemble each other, so spreading ratings over documents is more "
        "informative than drawing them anywhere.",
        (COCHRAN, SALDIAS),
    ),
    "docs-opt": Description(
        "more ratings for documents whose metrics vary more",
        "Documents whose metrics vary more got more ratings, and weights correct for this.",
        "Where scores vary more, one rating is less informative, so more are worthwhile.",
        (NEYMAN, SALDIAS),
    ),
    "metrics-prop": Description(
        "evenly from segments with low, medium and high metrics",
        "Segments were put into bins from low to high metrics, and each bin got its share.",
        "Good and bad outputs are then represented as in the pool.",
        (COCHRAN, SALDIAS),
    ),
    "metrics-opt": Description(
        "the same, with more ratings where the metrics vary more",
        "Segments were put into bins from low to high metrics; bins in which the metrics vary more "
        "got more ratings, and weights correct for this.",
        "Good and bad outputs are represented, and more ratings go where scores vary more.",
        (NEYMAN, SALDIAS),
    ),
    "docs-sys": Description(
        "at regular steps along the documents in random order",
        "The documents were put in random order, and segments were taken at regular steps from a "
        "random start.",
        "No document gets more than its share, however few the ratings.",
        (
            "Madow and Madow (1944), On the theory of systematic sampling, Annals of Mathematical "
            "Statistics 15",
        ),
    ),
    "docs-balanced": Description(
        "spread over documents, with the same metric averages as the pool",
        "Segments were drawn at random, with equal chances in one draw, spread over the documents "
        "and with the same metric averages as the pool: balanced sampling by the cube method.",
        "The part of the scores that metrics predict is then no longer left to chance.",
        (
            "Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91",
            "Hasler and Tillé (2014), Fast balanced sampling for highly stratified population, "
            "Computational Statistics and Data Analysis 74",
        ),
    ),
    "docs-uneven": Description(
        "as docs-balanced, but more where ratings are hard to predict",
        "Segments were drawn by the cube method, spread over the documents and with the same "
        "metric averages as the pool, with a larger chance where the rating was expected to differ "
        "more from what the metrics predict; ratings are weighted by one over their chance.",
        "A rating is more informative where it is harder to predict, and the weights keep the "
        "score unbiased whatever was expected.",
        (
            "Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91",
            NEYMAN,
            MODEL_ASSISTED,
        ),
    ),
    "docs-two-wave": Description(
        "a balanced first wave, whose ratings decide where the next go (use --given)",
        "A first wave was drawn with equal chances, balanced on metrics and documents. How far its "
        "ratings differed from what the metrics predict determined the chances of the second wave; "
        "given the first wave these are known, and ratings are weighted by one over their chance.",
        "Nothing needs to be known beforehand about where ratings vary most.",
        (
            "Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91",
            NEYMAN,
            MODEL_ASSISTED,
        ),
    ),
    "docs-whole": Description(
        "whole documents, for raters who need context",
        "Whole documents were taken in random order until the budget was spent.",
        "Raters see the context. The price is that segments of one document resemble each other, "
        "so each is less informative.",
        (COCHRAN,),
    ),
    "docs-chunks": Description(
        "3 segments in a row; docs-chunksK for any K",
        "Runs of consecutive segments were taken at regular steps along the documents in random "
        "order.",
        "Raters see some context, and the ratings are spread over more documents than with whole "
        "documents.",
        (COCHRAN,),
    ),
    "docs-incr": Description(
        "",
        "Each further rating went to the document where the ratings so far, or predictions from "
        "them, vary most in relation to its size.",
        "It learns where ratings are needed, but the mean is biased because the scores decide what "
        "is rated.",
        (SALDIAS,),
    ),
}
_UNEVEN = (
    " A segment had a larger chance if its rating was expected to differ more from what the "
    "metrics predict, and ratings are weighted by one over their chance."
)
SAMPLERS |= {
    f"{name}-uneven": replace(
        SAMPLERS[name],
        short=f"as {name}, but more where ratings are hard to predict",
        does=SAMPLERS[name].does.replace(", with every subset equally likely", "") + _UNEVEN,
        why="A rating is more informative where it is harder to predict.",
        papers=(*SAMPLERS[name].papers, NEYMAN, MODEL_ASSISTED),
    )
    for name in ("random", "metrics-prop", "docs-sys")
}
SAMPLERS["docs-uneven-rank"] = replace(
    SAMPLERS["docs-uneven"],
    short="the same, by the rank of the metrics, for error counts only",
    does=SAMPLERS["docs-uneven"].does
    + " The worse a segment's metrics, the less predictable its rating was expected to be.",
)
# Variants that differ only in their short description
SAMPLERS |= {
    name: replace(SAMPLERS["docs-incr"], short=short)
    for name, short in {
        "docs-incr-human": "where the ratings so far vary most (biased; use --given)",
        "docs-incr-metrics": "where predicted ratings vary most (biased; use --given)",
    }.items()
}
ESTIMATORS = {
    "mean": Description(
        "the mean of the ratings, weighted by how they were drawn",
        "The ratings were averaged, each weighted by how it was drawn.",
        "It assumes nothing about metrics.",
        (COCHRAN,),
    ),
    "cv": Description(
        "",
        "The mean of the ratings was corrected for the difference between the metrics of the rated "
        "segments and their mean over the whole pool (control variates).",
        "Metrics are known for every segment, so they show how the drawn segments differ from the "
        "pool by chance, which can be removed as far as metrics predict the ratings.",
        (COCHRAN, SALDIAS),
    ),
    "cv-knn": Description(
        "mean corrected by the scores of similar rated segments",
        "Scores of the whole pool were predicted from the rated segments with the most similar "
        "metrics, and the mean prediction was corrected by its errors on rated segments.",
        "It uses metrics even if their relation to the scores is not linear.",
        (SALDIAS, MODEL_ASSISTED),
    ),
    "cv-forest": Description(
        "mean corrected by a random forest on the metrics",
        "Scores of the whole pool were predicted by a random forest on the metrics, and the mean "
        "prediction was corrected by its errors on rated segments that it was not trained on.",
        "It uses metrics even if their relation to the scores is not linear.",
        ("Breiman (2001), Random forests, Machine Learning 45", MODEL_ASSISTED),
    ),
    "ridge": Description(
        "mean corrected by all metrics, shrunk if ratings are few",
        "The mean of the ratings was corrected by a ridge regression on the metrics, which are "
        "known over the whole pool; slopes that the ratings do not support are shrunk.",
        "It uses all metrics without overfitting when ratings are few.",
        (
            "Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal "
            "problems, Technometrics 12",
            MODEL_ASSISTED,
        ),
    ),
    "alpha": Description(
        "share of adequate segments from ratings of 0 and 1, by a model of metric errors",
        "The share of adequate segments was estimated by a Bayesian model: the rated segments show "
        "how often the metric is right, and its verdicts on the others are corrected accordingly.",
        "A metric that is often wrong is still informative once its error rates are known.",
        (DANIKEN,),
    ),
}
ESTIMATORS |= {
    name: replace(ESTIMATORS["ridge" if name == "ridge-free" else "cv"], short=short)
    for name, short in {
        "cv-mean": "mean corrected by the average of the metrics",
        "cv-multi": "mean corrected by all metrics, with one slope each",
        "ridge-free": "the same without using the direction of each metric",
    }.items()
}
# Regressors by name; "cv-sklearn" alone describes the user's own.
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
# The binary model without a metric to correct.
ALONE = Description(
    "",
    "The share of adequate segments was estimated by a Bayesian model from the ratings alone; no "
    "metric was used.",
    "It assumes nothing about metrics.",
    (DANIKEN,),
)

_PRINTED = "Follows the paper as printed, known errors included, to reproduce it."


def describe_sampler(name: str, doc: str = "") -> Description:
    """What a sampler does; ``doc`` is the docstring that describes a user's own sampler."""
    return _found(name, SAMPLERS, doc)


def describe_estimator(name: str, doc: str = "", *, how: str | None = None) -> Description:
    """What an estimator does; ``doc`` is the docstring that describes a user's own estimator.

    ``how`` is how the binary model used a metric, empty if it used none.
    """
    if how == "":
        return ALONE
    return _found(name, ESTIMATORS, doc)


def _found(name: str, known: dict[str, Description], doc: str) -> Description:
    base = name.removesuffix("-printed")
    # docs-chunks3 extends docs-chunks, cv-comet extends cv, but docs-optimist not docs-opt.
    stem = re.sub(r"^docs-chunks\d+$", "docs-chunks", base)
    fitting = [key for key in known if stem == key or stem.startswith((f"{key}-", f"{key}:"))]
    if not fitting:
        first = doc.strip().partition("\n")[0].strip() or f"{name}, a user-defined method."
        return Description("", first, "")
    words = known[max(fitting, key=len)]
    return words if base == name else replace(words, does=f"{words.does} {_PRINTED}")


_KINDS = {
    "guaranteed": "Guaranteed: at least {level} of such intervals contain the true value, whatever "
    "the scores are, as long as they are on the stated scale and were drawn as stated.",
    "conjectured": "Conjectured: no case is known in which fewer than {level} of such intervals "
    "contain the true value, but there is no proof.",
    "approximate": "Approximate: about {level} of such intervals contain the true value; more "
    "ratings make this more accurate.",
    "credible": "Credible: given the model and its priors, the interval contains the true value "
    "with a probability of {level}.",
}


def promise(kind: str, level: str) -> str:
    """What an interval of this kind promises, in a sentence; empty for user-defined kinds."""
    return _KINDS.get(kind, "").format(level=level)


def short_line(name: str, known: dict[str, Description], make: Callable[[str], object]) -> str:
    """A one-line description of a sampler or an estimator; from its docstring for a plug-in.

    ``make`` is called for plug-ins only, because building some estimators is slow.
    """
    base = name.removesuffix("-printed")
    if name != base:
        return f"{base} as printed in the paper, to reproduce it"
    key = "docs-chunks" if name == "docs-chunks3" else name
    if key in known:
        return known[key].short
    if name.startswith("cv-sklearn:"):
        return f"mean corrected by {name.removeprefix('cv-sklearn:')}, a user-defined regressor"
    if name.startswith("cv-"):
        return f"mean corrected by {name.removeprefix('cv-')}"
    if name.startswith("alpha-"):
        return f"alpha with what {name.removeprefix('alpha-')} says of the unrated segments"
    return (type(make(name)).__doc__ or "").strip().partition("\n")[0]
