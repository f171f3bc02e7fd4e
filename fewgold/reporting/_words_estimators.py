"""Estimators in words, and where they are described."""

from __future__ import annotations

from fewgold.reporting._cited import COCHRAN, DANIKEN, MODEL_ASSISTED, SALDIAS, Words

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
