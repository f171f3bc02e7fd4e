"""Regressors by name: ``cv-sklearn:NAME`` wherever a strategy is named."""

from __future__ import annotations

import pickle
import sys
import types
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import Lasso

from fewgold import registry
from fewgold.datasets import load_demo
from fewgold.errors import DataError, UnknownNameError
from fewgold.estimators import CrossFit, Learned, regressor_names
from fewgold.estimators.regressors import REGRESSORS, regressor
from fewgold.report.descriptions import describe_estimator
from fewgold.samplers import SimpleRandom

POOL, GOLD = load_demo("zhen")


def draws(n: int = 30, draws: int | None = 2) -> Any:
    sample = SimpleRandom().draw(POOL, n, draws=draws, rng=3)
    return sample.rate(GOLD[sample.indices])


@pytest.mark.parametrize("name", REGRESSORS)
def test_each_learns_the_same_alone_and_in_a_batch(name: str) -> None:
    made = registry.strategy(f"cv-sklearn:{name}", POOL)
    assert made.spelled == f"cv-sklearn:{name}"
    ratings = draws()
    batch = made.estimate(ratings)
    alone = pickle.loads(pickle.dumps(made)).estimate(ratings.draw(1))
    assert float(alone.value) == batch.value[1] and float(alone.se) == batch.se[1]
    assert 0 < alone.se < 2 * GOLD.std() / np.sqrt(30)
    what, _ = REGRESSORS[name]
    assert describe_estimator(made.name).short == f"mean corrected by {what}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spline", "kernel_ridge", "hist_gradient_boosting"])
def test_intervals_hold(name: str) -> None:
    ratings = draws(100, 400)
    low, high = registry.estimator(f"cv-sklearn:{name}").estimate(ratings).interval(0.95)
    held = ((low <= GOLD.mean()) & (GOLD.mean() <= high)).mean()
    # Four standard errors of a share of 400 draws below and above 95 %.
    assert abs(held - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 400)


def test_few_ratings_give_the_mean_and_say_so() -> None:
    ratings = draws(19, None)
    made = registry.estimator("cv-sklearn:random_forest").estimate(ratings)
    assert made.value == pytest.approx(ratings.scores.mean())
    assert "too few to learn from" in made.notes[0]


def test_a_forest_has_two_names() -> None:
    assert registry.estimator("cv-forest") == registry.estimator("cv-sklearn:random_forest")


def test_any_class_by_its_path() -> None:
    path = "sklearn.linear_model:Lasso"
    ratings = draws(40, None)
    by_path = registry.strategy(f"docs-prop+cv-sklearn:{path}").estimate(ratings)
    by_hand = Learned(CrossFit(Lasso(random_state=0))).estimate(ratings)
    assert (by_path.value, by_path.se) == (by_hand.value, by_hand.se)


def test_isotonic_takes_one_metric() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 3))
    y = np.exp(x[:, 1]) + 0.1 * rng.normal(size=50)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(x[:, 1], y).predict(x[:, 1])
    assert regressor("isotonic").fit(x, y).predict(x) == pytest.approx(theirs)


def test_names_that_lead_nowhere() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'random_forest'"):
        registry.estimator("cv-sklearn:random_forrest")
    with pytest.raises(DataError, match="cannot be imported: No module named 'nowhere'"):
        registry.strategy("random+cv-sklearn:nowhere.models:Best")
    with pytest.raises(UnknownNameError, match="Did you mean 'Lasso'"):
        registry.estimator("cv-sklearn:sklearn.linear_model:Laso")
    with pytest.raises(DataError, match="'os:abort' is not a regressor"):
        registry.estimator("cv-sklearn:os:abort")
    with pytest.raises(DataError, match="without arguments"):
        registry.estimator("cv-sklearn:sklearn.ensemble:StackingRegressor")
    with pytest.raises(TypeError, match="or the name of one; got int"):
        CrossFit(3)


def test_entry_points_add_names(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("my_models")

    def best() -> Any:
        return DummyRegressor()

    module.best = best  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_models", module)
    from importlib.metadata import EntryPoint

    from fewgold.estimators import regressors

    point = EntryPoint("best", "my_models:best", regressors.GROUP)
    monkeypatch.setattr(regressors, "_plugins", lambda: {"best": point})
    assert "best" in regressor_names()
    assert "cv-sklearn:best" in registry.estimator_names()
    ratings = draws(30, None)
    made = registry.strategy("random+cv-sklearn:best").estimate(ratings)
    assert made.value == pytest.approx(ratings.scores.mean())
