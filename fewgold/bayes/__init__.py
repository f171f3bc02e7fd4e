"""Bayesian models of adequate/inadequate ratings and of metrics that make mistakes."""

from fewgold.bayes._bins import bins
from fewgold.bayes._cell_priors import Pooled, Separate, Trend
from fewgold.bayes._cells import CellPosterior, tally
from fewgold.bayes._coding import is_binary
from fewgold.bayes._compare import probability_greater
from fewgold.bayes._counts import Counts
from fewgold.bayes._estimator import BinaryPosterior
from fewgold.bayes._moments import moments
from fewgold.bayes._naive import naive_table
from fewgold.bayes._naive_rates import NaiveTable
from fewgold.bayes._patterns import patterns
from fewgold.bayes._pool import CELLS, PoolPosterior
from fewgold.bayes._posterior import AlphaPosterior, RatePosterior, Rates
from fewgold.bayes._preferences import PreferencePosterior, outcomes
from fewgold.bayes._priors import Priors
from fewgold.bayes._process import ProcessPosterior
from fewgold.bayes._rated import RatedPosterior
from fewgold.bayes._rater_priors import RaterPriors
from fewgold.bayes._raters import RaterPosterior
from fewgold.bayes._roc import Roc, RocPoint
from fewgold.bayes._roc_curves import RocTable
from fewgold.bayes._roc_table import roc_table
from fewgold.bayes._significance import significance
from fewgold.bayes._significance_table import Significance
from fewgold.bayes._success import success_rates
from fewgold.bayes._success_counts import success_rates_of
from fewgold.bayes._success_table import SuccessRates
from fewgold.bayes._thresholds import choose_cut, choose_cuts

__all__ = [
    "CELLS",
    "AlphaPosterior",
    "BinaryPosterior",
    "CellPosterior",
    "Counts",
    "NaiveTable",
    "PoolPosterior",
    "Pooled",
    "PreferencePosterior",
    "Priors",
    "ProcessPosterior",
    "RatePosterior",
    "RatedPosterior",
    "RaterPosterior",
    "RaterPriors",
    "Rates",
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
    "is_binary",
    "moments",
    "naive_table",
    "outcomes",
    "patterns",
    "probability_greater",
    "roc_table",
    "significance",
    "success_rates",
    "success_rates_of",
    "tally",
]
