"""Regressors by name, for ``cv-sklearn:NAME``.

The settings suit 30 to 500 ratings and up to a few dozen metrics. Models receive metrics
standardised over the pool and scores standardised over their training ratings (`CrossFit`), so none
of them needs a scaler for its penalty. Models that draw random numbers have a fixed seed: the same
ratings give the same estimate.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from fewgold.errors import DataError, UnknownNameError

#: Entry points of this group add names: a class, an instance, or a function that returns one.
GROUP = "fewgold.regressors"
_HINT = (
    "For any other installed regressor with fit and predict use package.module:Class; entry "
    f"points of the group {GROUP} add names."
)
# Penalties and noise, as shares of the variance of the scores.
_PENALTIES = np.geomspace(0.1, 1e4, 11)


def _linear() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _ridge() -> Any:
    from sklearn.linear_model import RidgeCV

    return RidgeCV(_PENALTIES)


def _elastic_net() -> Any:
    from sklearn.linear_model import ElasticNetCV

    return ElasticNetCV(l1_ratio=[0.5, 0.95], alphas=np.geomspace(1e-3, 1, 13), cv=5)


def _bayesian_ridge() -> Any:
    from sklearn.linear_model import BayesianRidge

    return BayesianRidge()


def _huber() -> Any:
    from sklearn.linear_model import HuberRegressor

    return HuberRegressor(alpha=1.0, max_iter=1000)


def _quadratic() -> Any:
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    return make_pipeline(
        PolynomialFeatures(2, include_bias=False), StandardScaler(), RidgeCV(_PENALTIES)
    )


def _spline() -> Any:
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer

    curves = SplineTransformer(n_knots=4, degree=3, extrapolation="constant", include_bias=False)
    return make_pipeline(curves, RidgeCV(np.geomspace(0.01, 100, 9)))


def _isotonic() -> Any:
    from sklearn.feature_selection import SelectKBest, f_regression
    from sklearn.isotonic import IsotonicRegression
    from sklearn.pipeline import make_pipeline

    curve = IsotonicRegression(increasing="auto", out_of_bounds="clip")
    return make_pipeline(SelectKBest(f_regression, k=1), curve)


def _kernel_ridge() -> Any:
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0, 10.0]}, cv=5)


def _svr() -> Any:
    from sklearn.svm import SVR

    # With the usual tolerance of 1e-3, scores of the opposite sign give slightly other predictions.
    return SVR(C=1.0, epsilon=0.1, tol=1e-6)


def _gaussian_process() -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    smooth = ConstantKernel(0.5, (1e-3, 1e2)) * RBF(3.0, (0.3, 1e2))
    return GaussianProcessRegressor(smooth + WhiteKernel(0.5, (1e-2, 10.0)), random_state=0)


def _random_forest() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(n_estimators=100, min_samples_leaf=5, random_state=0)


def _extra_trees() -> Any:
    from sklearn.ensemble import ExtraTreesRegressor

    return ExtraTreesRegressor(n_estimators=100, min_samples_leaf=5, random_state=0)


def _gradient_boosting() -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(
        n_estimators=50, max_depth=2, subsample=0.5, min_samples_leaf=5, random_state=0
    )


def _hist_gradient_boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=50,
        max_leaf_nodes=6,
        min_samples_leaf=8,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=0,
    )


#: Regressors of scikit-learn by name: a short description, and a function that creates one.
REGRESSORS: dict[str, tuple[str, Callable[[], Any]]] = {
    "linear": ("a straight line in each metric", _linear),
    "ridge": ("a ridge regression", _ridge),
    "elastic_net": ("a regression that drops metrics that do not help", _elastic_net),
    "bayesian_ridge": ("a Bayesian ridge regression", _bayesian_ridge),
    "huber": ("a regression robust to outliers", _huber),
    "quadratic": ("a ridge regression with squares and products", _quadratic),
    "spline": ("a smooth curve in each metric", _spline),
    "isotonic": ("a rising or falling curve in the best single metric", _isotonic),
    "kernel_ridge": ("a smooth surface (kernel ridge)", _kernel_ridge),
    "svr": ("a support vector regression", _svr),
    "gaussian_process": ("a Gaussian process", _gaussian_process),
    "random_forest": ("a random forest", _random_forest),
    "extra_trees": ("a forest of extremely random trees", _extra_trees),
    "gradient_boosting": ("boosted trees", _gradient_boosting),
    "hist_gradient_boosting": ("boosted trees on binned metrics", _hist_gradient_boosting),
}


@cache
def _plugins() -> Mapping[str, Any]:
    return {point.name: point for point in entry_points(group=GROUP)}


def regressor_names() -> list[str]:
    """Names of all regressors, including those from entry points."""
    return [*REGRESSORS, *_plugins()]


def is_path(name: str) -> bool:
    """Whether a regressor is given as ``package.module:Class``."""
    return ":" in name


def check_regressor(name: str) -> None:
    """Raise an error for a name or path that is not a regressor."""
    if is_path(name):
        regressor(name)
    elif name not in REGRESSORS and name not in _plugins():
        raise UnknownNameError("regressor", name, regressor_names(), _HINT)


def regressor(name: str) -> Any:
    """Create a regressor from its name in `REGRESSORS`, its entry point, or its path.

    Examples
    --------
    >>> regressor("svr")
    SVR(tol=1e-06)
    >>> regressor("sklearn.linear_model:Lasso")
    Lasso(random_state=0)
    """
    if is_path(name):
        return _made(_at(name), name)
    if name in REGRESSORS:
        return REGRESSORS[name][1]()
    check_regressor(name)
    found = _plugins()[name].load()
    return found() if inspect.isfunction(found) else _made(found, name)


def _at(path: str) -> Any:
    """The class or instance at ``package.module:Class``; nothing else is ever called."""
    module, _, name = path.partition(":")
    try:
        found = import_module(module)
    except (ImportError, ValueError) as error:
        raise DataError(
            f"the regressor {path!r} cannot be imported: {error}. It must be "
            "package.module:Class, installed or on PYTHONPATH."
        ) from None
    if not hasattr(found, name):
        near = [n for n in dir(found) if hasattr(getattr(found, n, None), "predict")]
        raise UnknownNameError(f"class in {module}", name, near)
    return getattr(found, name)


def _made(found: Any, name: str) -> Any:
    """An instance with default settings, and seed 0 if it takes one."""
    if not (hasattr(found, "fit") and hasattr(found, "predict")):
        raise DataError(
            f"{name!r} is not a regressor: expected a class with fit and predict, got "
            f"{type(found).__name__}."
        )
    if not inspect.isclass(found):
        return found
    try:
        model: Any = found()
    except TypeError as error:
        raise DataError(
            f"the regressor {name!r} cannot be created without arguments: {error}. Name an "
            "existing instance instead, package.module:instance."
        ) from None
    seeded = "random_state" in getattr(model, "get_params", dict)()
    return model.set_params(random_state=0) if seeded else model
