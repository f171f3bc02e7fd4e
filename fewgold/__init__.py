"""Estimate the score of a whole test set from few human ratings."""

from fewgold import bounds, estimators, samplers
from fewgold._version import __version__
from fewgold.errors import FewgoldError
from fewgold.estimate import Estimate, Interval
from fewgold.estimator import Estimator
from fewgold.pool import Pool
from fewgold.sample import Design, Ratings, Sample
from fewgold.samplers import Cost, Sampler

__all__ = [
    "Cost",
    "Design",
    "Estimate",
    "Estimator",
    "FewgoldError",
    "Interval",
    "Pool",
    "Ratings",
    "Sample",
    "Sampler",
    "__version__",
    "bounds",
    "estimators",
    "samplers",
]
