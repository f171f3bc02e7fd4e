"""Estimate the score of a whole test set from few human ratings."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fewgold._version import __version__

if TYPE_CHECKING:
    from fewgold import (
        agreement,
        bayes,
        bounds,
        campaign,
        comparison,
        criteria,
        datasets,
        doctor,
        estimators,
        formats,
        gate,
        judge,
        missing,
        monitoring,
        planning,
        quantities,
        registry,
        reliability,
        report,
        reproduce,
        samplers,
        simulation,
        slices,
        stored,
        testing,
    )
    from fewgold.campaign import Campaign
    from fewgold.errors import FewgoldError
    from fewgold.estimate import Estimate, Interval
    from fewgold.estimator import Estimator
    from fewgold.history import History
    from fewgold.labels import estimate_mean
    from fewgold.pool import Pool
    from fewgold.sample import Design, Ratings, Sample
    from fewgold.samplers import Cost, Sampler
    from fewgold.simulation import Simulation, simulate

__all__ = [
    "Campaign",
    "Cost",
    "Design",
    "Estimate",
    "Estimator",
    "FewgoldError",
    "History",
    "Interval",
    "Pool",
    "Ratings",
    "Sample",
    "Sampler",
    "Simulation",
    "__version__",
    "agreement",
    "bayes",
    "bounds",
    "campaign",
    "comparison",
    "criteria",
    "datasets",
    "doctor",
    "estimate_mean",
    "estimators",
    "formats",
    "gate",
    "judge",
    "missing",
    "monitoring",
    "planning",
    "quantities",
    "registry",
    "reliability",
    "report",
    "reproduce",
    "samplers",
    "simulate",
    "simulation",
    "slices",
    "stored",
    "testing",
]

# Loaded on first use (PEP 562), so that --help does not wait for numpy.
_HOME = {
    "Campaign": "campaign",
    "Cost": "samplers",
    "Design": "design",
    "Estimate": "estimate",
    "Estimator": "estimator",
    "FewgoldError": "errors",
    "History": "history",
    "Interval": "estimate",
    "Pool": "pool",
    "Ratings": "sample",
    "Sample": "sample",
    "Sampler": "samplers",
    "Simulation": "simulation",
    "estimate_mean": "labels",
    "simulate": "simulation",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"fewgold.{_HOME[name]}"), name)
    if name in __all__:
        return import_module(f"fewgold.{name}")
    raise AttributeError(f"module 'fewgold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
