"""Bayesian models of adequate/inadequate ratings and of imperfect metrics."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fewgold.bayes.batch import moments
from fewgold.bayes.cells import CellPosterior, PreferencePosterior, bins, outcomes, tally
from fewgold.bayes.comparison import Significance, probability_greater, significance
from fewgold.bayes.counts import Counts, patterns
from fewgold.bayes.estimator import BinaryPosterior, RatedPosterior
from fewgold.bayes.finite import CELLS, PoolPosterior
from fewgold.bayes.posterior import AlphaPosterior, Posterior
from fewgold.bayes.priors import Pooled, Priors, RaterPriors, Separate, Trend
from fewgold.bayes.roc import Roc, RocPoint, RocTable, choose_cut, choose_cuts, roc_table
from fewgold.bayes.success import NaiveTable, SuccessRates, naive_table, success_rates

if TYPE_CHECKING:
    from fewgold.bayes.pairwise import Preferences, preferences
    from fewgold.bayes.raters import RaterPosterior

# Loaded on demand: most commands do not need them.
_LATER = {"Preferences": "pairwise", "preferences": "pairwise", "RaterPosterior": "raters"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


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
