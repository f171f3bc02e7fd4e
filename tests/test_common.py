"""The public check kit over everything in the registry."""

from typing import Any

import pytest

from fewgold import registry
from fewgold.testing import check_bound, check_estimator, check_sampler, toy_pool
from sweeps import quick

BIASED = {"docs-prop-printed", "docs-opt-printed", "docs-incr-human", "docs-incr-metrics"}
BIASED |= {"docs-incr-human-printed", "docs-incr-metrics-printed"}
POOL, GOLD = toy_pool()


#: Taken apart in tests of their own, which cost less.
LONG = {"docs-balanced", "cv-forest", "gaffke"}


def but_long(names: list[str]) -> list[Any]:
    short = [n for n in names if n not in LONG and not n.startswith("cv-sklearn:")]
    return quick(names, short)


@pytest.mark.parametrize("name", but_long(registry.sampler_names()))
def test_sampler(name: str) -> None:
    check_sampler(registry.sampler(name), unbiased=name not in BIASED)


@pytest.mark.parametrize("name", but_long(registry.estimator_names(POOL)))
def test_estimator(name: str) -> None:
    made = registry.estimator(name, POOL)
    # Trees break ties by rounding errors, so that a forest follows a turned scale only nearly.
    trees = name == "cv-forest" or name.endswith(("_forest", "_trees", "_boosting", "isotonic"))
    exact = not name.endswith("-printed") and not trees and name != "alpha"
    check_estimator(made, equivariant=exact, adequate=">= 5" if name == "alpha" else None)


def test_a_forest_learns_what_the_metrics_tell() -> None:
    made = registry.estimator("cv-forest", POOL)
    sample = registry.sampler("random").draw(POOL, 40, rng=2)
    estimate = made.estimate(sample.rate(GOLD[sample.indices]))
    mean = registry.estimator("mean", POOL).estimate(sample.rate(GOLD[sample.indices]))
    assert abs(estimate.value - GOLD.mean()) < 4 * estimate.se
    assert 0 < estimate.se < mean.se


@pytest.mark.parametrize("cut", [":equal", ":information", ">=0", "<0", ":bins"])
def test_binary_estimator(cut: str) -> None:
    made = registry.estimator(f"alpha-comet{cut}", POOL)
    check_estimator(made, equivariant=False, adequate=">= 5")


@pytest.mark.parametrize("name", registry.strategy_names(POOL))
def test_strategy(name: str) -> None:
    check_estimator(registry.strategy(name, POOL))


@pytest.mark.parametrize("name", but_long(registry.bound_names()))
def test_bound(name: str) -> None:
    two_values = name in ("hypergeometric", "clopper-pearson")
    check_bound(
        registry.bound(name),
        population=(lambda rng: 25.0 * (rng.random(200) < 0.2)) if two_values else None,
    )
