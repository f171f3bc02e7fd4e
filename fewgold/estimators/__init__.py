"""Estimators of the mean human score of the whole pool."""

from fewgold.estimators.crossfit import Control, CrossFit, Predictions
from fewgold.estimators.knn import KNN
from fewgold.estimators.learned import Learned
from fewgold.estimators.linear import ControlVariates, Mean
from fewgold.estimators.regressors import regressor_names
from fewgold.estimators.ridge import Ridge

__all__ = [
    "KNN",
    "Control",
    "ControlVariates",
    "CrossFit",
    "Learned",
    "Mean",
    "Predictions",
    "Ridge",
    "regressor_names",
]
