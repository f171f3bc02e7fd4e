"""Strategies by name: a sampler, a plus sign, an estimator.

``docs-prop+cv-knn`` draws by document and estimates with a nearest-neighbour control. Names that
end in ``-printed`` follow the paper to the letter, errors included, for reproduction. If its
formula and its text differ (eq. 2: σ_l or the variance), ``docs-opt-printed`` follows the formula,
and ``docs-incr-human-printed`` and ``docs-incr-metrics-printed`` follow the text; see
docs/errata.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from typing import Any, cast

from fewgold.bounds import BOUNDS, as_bound
from fewgold.errors import DesignError, UnknownNameError
from fewgold.estimate import Bound
from fewgold.estimator import Estimator
from fewgold.estimators import (
    KNN,
    ControlVariates,
    CrossFit,
    Learned,
    Mean,
    Ridge,
    regressor_names,
)
from fewgold.pool import Population
from fewgold.samplers import (
    Balanced,
    ByMetric,
    Chances,
    Clusters,
    Incremental,
    RankSpread,
    Sampler,
    SimpleRandom,
    Stratified,
    Systematic,
    TwoWave,
)

__all__ = [
    "estimator", "recommended", "sampler", "sampler_names", "strategy", "strategy_names",
]  # fmt: skip

#: Recommended with metrics, and without.
RECOMMENDED = "docs-balanced+ridge"
#: Recommended if it is known beforehand how far each rating is likely to be from its prediction.
UNEVEN = "docs-uneven+ridge"
#: For error counts only, if nothing is known beforehand.
BY_RANK = "docs-uneven-rank+ridge"
WITHOUT_METRICS = "docs-sys+mean"

_SAMPLERS: dict[str, Callable[[], Sampler]] = {
    "random": SimpleRandom,
    "docs-prop": Stratified,
    "docs-opt": lambda: Stratified(allocation="optimal"),
    "docs-prop-printed": lambda: Stratified(rounding="printed"),
    "docs-opt-printed": lambda: Stratified(allocation="optimal", rounding="printed"),
    "metrics-prop": lambda: Stratified(ByMetric()),
    "metrics-opt": lambda: Stratified(ByMetric(), allocation="optimal"),
    "docs-sys": Systematic,
    "docs-balanced": Balanced,
    "random-uneven": lambda: SimpleRandom(chances=Chances()),
    "metrics-prop-uneven": lambda: Stratified(ByMetric(), chances=Chances()),
    "docs-sys-uneven": lambda: Systematic(chances=Chances()),
    "docs-uneven": lambda: Balanced(chances=Chances()),
    "docs-uneven-rank": lambda: Balanced(chances=Chances(RankSpread(), uniform=0.5)),
    "docs-two-wave": TwoWave,
    "docs-whole": Clusters,
    "docs-chunks3": lambda: Clusters(3),
    "docs-incr-human": Incremental,
    "docs-incr-metrics": lambda: Incremental("metrics"),
    "docs-incr-human-printed": lambda: Incremental(measure="variance"),
    "docs-incr-metrics-printed": lambda: Incremental("metrics", measure="variance"),
}


def _binary_posterior(*args: Any, **more: Any) -> Estimator:
    from fewgold.bayes import BinaryPosterior  # its models are loaded on demand

    return BinaryPosterior(*args, **more)


_ESTIMATORS: dict[str, Callable[[], Estimator]] = {
    "mean": Mean,
    "cv-mean": lambda: ControlVariates(metrics="mean"),
    "cv-mean-printed": lambda: ControlVariates(metrics="mean", form="printed"),
    "cv-multi": ControlVariates,
    "cv-multi-printed": lambda: ControlVariates(form="printed"),
    "cv-knn": Learned,
    "cv-knn-printed": lambda: Learned(KNN(folds=None), slope="printed"),
    "cv-forest": lambda: Learned(CrossFit("random_forest")),
    "ridge": Ridge,
    "ridge-free": lambda: Ridge(signs=False),
    "alpha": _binary_posterior,
}
# Families of names with a part that the user fills in.
_SKLEARN = "cv-sklearn:"
_CHUNKS = re.compile(r"docs-chunks(\d+)")
_ALPHA = re.compile(r"alpha-(?P<metric>.+?)(?P<cut>:(?:equal|information|bins)|[<>]=?.+)?")
_HINT = (
    "A strategy is SAMPLER+ESTIMATOR. docs-chunksK takes any number K, cv-METRIC any metric of the "
    "pool, and each may end in -printed. cv-sklearn:NAME takes a regressor of scikit-learn, "
    "cv-sklearn:package.module:Class any other. alpha-METRIC takes a metric of 0 and 1; others "
    "need a threshold, such as alpha-comet>=0.5 or alpha-comet:equal, or bins: alpha-comet:bins."
)


@cache
def _plugins(kind: str) -> Mapping[str, Callable[[], object]]:
    return {e.name: e.load() for e in entry_points(group=f"fewgold.{kind}")}


def sampler_names() -> list[str]:
    """Names of all samplers, plug-ins included."""
    return [*_SAMPLERS, *_plugins("samplers")]


def estimator_names(pool: Population | None = None) -> list[str]:
    """Names of all estimators, plug-ins included, with one ``cv-`` name for each metric."""
    metrics = [] if pool is None else [f"cv-{m}" for m in pool.metrics]
    if pool is not None:
        metrics += [f"alpha-{m}" for m in pool.binary_metrics]
    learned = [f"{_SKLEARN}{name}" for name in regressor_names()]
    return [*_ESTIMATORS, *learned, *_plugins("estimators"), *metrics]


def sampler(name: str) -> Sampler:
    """The sampler of that name."""
    chunks = _CHUNKS.fullmatch(name)
    if chunks and int(chunks[1]):
        return Clusters(int(chunks[1]))
    known = {**_SAMPLERS, **_plugins("samplers")}
    if name not in known:
        raise UnknownNameError("sampler", name, known, _HINT)
    made = known[name]()
    assert isinstance(made, Sampler)
    return made


def estimator(name: str, pool: Population | None = None) -> Estimator:
    """The estimator of that name; ``cv-<metric>`` is checked against the pool, if one is given."""
    known = {**_ESTIMATORS, **_plugins("estimators")}
    if name in known:
        made = known[name]()
        assert isinstance(made, Estimator)
        return made
    metric = name.removeprefix("cv-")
    if name.startswith(_SKLEARN) and (pool is None or metric not in pool.metrics):
        return Learned(CrossFit(name.removeprefix(_SKLEARN)))
    if metric != name:
        form = "regression"
        if metric.endswith("-printed") and (pool is None or metric not in pool.metrics):
            metric, form = metric.removesuffix("-printed"), "printed"
        if pool is None or metric in pool.metrics:
            return ControlVariates(metrics=(metric,), form=form)
    if name.startswith("alpha-") and (made := _alpha(name, pool)) is not None:
        return made
    raise UnknownNameError("estimator", name, estimator_names(pool), _HINT)


def _alpha(name: str, pool: Population | None) -> Estimator | None:
    """The binary model with a metric: ``alpha-judge``, ``alpha-comet>=0.5``, ``alpha-qe:bins``."""
    whole = name.removeprefix("alpha-")
    match = _ALPHA.fullmatch(name)
    if pool is not None and whole in pool.metrics:  # a metric may have any name
        return _binary_posterior(whole)
    if match is None or (pool is not None and match["metric"] not in pool.metrics):
        return None
    return _binary_posterior(match["metric"], threshold=(match["cut"] or "").lstrip(":") or None)


def bound_names() -> list[str]:
    """Names of all bounds, plug-ins included."""
    return [*BOUNDS, *_plugins("bounds")]


def bound(name: str) -> Bound:
    """The bound of that name; ``star:comet`` takes a metric as well."""
    plugins = cast("Mapping[str, Callable[[], Bound]]", _plugins("bounds"))
    return as_bound(name, {**BOUNDS, **plugins})


def strategy(
    name: str, pool: Population | None = None, *, uniform: float | None = None
) -> Estimator:
    """An estimator with its sampler, from a name such as ``docs-prop+cv-knn``.

    A sampler alone is used with the mean; an estimator alone with its usual sampler. ``uniform`` is
    the share of equal chances in the mixture of a sampler with uneven ones.
    """
    if uniform is not None:
        made = strategy(name, pool)
        return made.with_sampler(with_uniform(made.sampler, uniform))
    first, plus, second = name.strip().partition("+")
    if second:
        return estimator(second, pool).with_sampler(sampler(first))
    if not plus and (first in sampler_names() or _CHUNKS.fullmatch(first)):
        return replace(Mean(), sampler=sampler(first))
    if not plus and (first in estimator_names(pool) or first.startswith(_SKLEARN)):
        return estimator(first, pool)
    raise UnknownNameError("strategy", name, strategy_names(pool), _HINT)


def with_uniform(sampler: Sampler, uniform: float) -> Sampler:
    """A sampler with uneven chances, with this share of equal ones in the mixture."""
    if isinstance(sampler, TwoWave):
        return replace(sampler, uniform=uniform)
    chances = getattr(sampler, "chances", None)
    if chances is None:
        names = [n for n in _SAMPLERS if "-uneven" in n]
        raise DesignError(
            f"{sampler.name} draws every segment with the same chance, so there is nothing to mix.",
            hints={
                "python": f"Leave out uniform=, or use one of {', '.join(names)}.",
                "cli": f"Leave out --uniform, or use --strategy {UNEVEN}.",
            },
        )
    return cast("Sampler", replace(cast("Any", sampler), chances=replace(chances, uniform=uniform)))


def strategy_names(pool: Population | None = None) -> list[str]:
    """The strategies of Saldías et al. (2022) and ours, which a simulation compares by default.

    For a pool without documents or metrics, only those that do not need them.
    """
    cv = [f"random+cv-{m}" for m in pool.metrics] if pool is not None else []
    names = [
        "random+mean",
        "docs-prop+mean",
        "docs-opt+mean",
        "metrics-prop+mean",
        *cv,
        "random+cv-mean",
        "random+cv-multi",
        "random+cv-knn",
        "docs-prop+cv-knn",
        "metrics-prop+cv-knn",
        "docs-incr-human+mean",
        "docs-incr-metrics+mean",
        "docs-sys+mean",
        "docs-sys+ridge",
        "docs-whole+ridge",
        "docs-balanced+mean",
        RECOMMENDED,
        UNEVEN,
        BY_RANK,
        "docs-two-wave+ridge",
    ]
    if pool is None:
        return names
    # Without an expected spread docs-uneven is the same as docs-balanced.
    without = {BY_RANK if pool._has_spread else UNEVEN}
    if not pool._tells_quality:
        without.add(BY_RANK)
    if not pool.has_documents:
        without |= {name for name in names if name.startswith("docs-")}
        names.append("random+ridge")
    if not pool.metrics:
        needing = ("metrics-", "docs-opt", "docs-balanced", "docs-incr-metrics")
        without |= {n for n in names if n.startswith(needing) or not n.endswith("+mean")}
    return [name for name in names if name not in without]


def recommended(pool: Population) -> str:
    """The strategy that we recommend for this pool."""
    if pool._has_spread:
        if pool.metrics:
            return UNEVEN
        return "docs-sys-uneven+mean" if pool.has_documents else "random-uneven+mean"
    if pool.metrics:
        return RECOMMENDED
    return WITHOUT_METRICS if pool.has_documents else "random+mean"
