"""Bayesian models of adequate/inadequate ratings and of metrics that make mistakes."""

from fewgold.bayes.batch import moments
from fewgold.bayes.cells import CellPosterior, PreferencePosterior, bins, outcomes, tally
from fewgold.bayes.comparison import Significance, probability_greater, significance
from fewgold.bayes.counts import Counts, patterns
from fewgold.bayes.estimator import BinaryPosterior, RatedPosterior
from fewgold.bayes.finite import CELLS, PoolPosterior
from fewgold.bayes.posterior import AlphaPosterior, Posterior
from fewgold.bayes.preferences import Preferences, preferences
from fewgold.bayes.priors import Pooled, Priors, RaterPriors, Separate, Trend
from fewgold.bayes.raters import RaterPosterior
from fewgold.bayes.roc import Roc, RocPoint, RocTable, choose_cut, choose_cuts, roc_table
from fewgold.bayes.success import NaiveTable, SuccessRates, naive_table, success_rates

__all__ = [
    "CELLS",
    "AlphaPosterior",
    "BinaryPosterior",
    "CellPosterior",
    "Counts",
    "NaiveTable",
    "PoolPosterior",
    "Pooled",
    "Posterior",
    "PreferencePosterior",
    "Preferences",
    "Priors",
    "RatedPosterior",
    "RaterPosterior",
    "RaterPriors",
    "Roc",
    "RocPoint",
    "RocTable",
    "Separate",
    "Significance",
    "SuccessRates",
    "Trend",
    "bins",
    "choose_cut",
    "choose_cuts",
    "moments",
    "naive_table",
    "outcomes",
    "patterns",
    "preferences",
    "probability_greater",
    "roc_table",
    "significance",
    "success_rates",
    "tally",
]
