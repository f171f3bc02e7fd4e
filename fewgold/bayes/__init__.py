"""Bayesian models of adequate/inadequate ratings and of metrics that make mistakes."""

from fewgold.bayes._compare import probability_greater
from fewgold.bayes._counts import Counts
from fewgold.bayes._moments import moments
from fewgold.bayes._pool import PoolPosterior
from fewgold.bayes._posterior import AlphaPosterior, RatePosterior, Rates
from fewgold.bayes._priors import Priors
from fewgold.bayes._thresholds import choose_cut, choose_cuts

__all__ = [
    "AlphaPosterior",
    "Counts",
    "PoolPosterior",
    "Priors",
    "RatePosterior",
    "Rates",
    "choose_cut",
    "choose_cuts",
    "moments",
    "probability_greater",
]
