"""What the ratings say of the whole pool."""

from fewgold.estimators._control_variates import ControlVariates
from fewgold.estimators._controls import Control, CrossFit, Predictions
from fewgold.estimators._knn import KNN
from fewgold.estimators._learned import Learned
from fewgold.estimators._mean import Mean
from fewgold.estimators._ridge import Ridge

__all__ = [
    "KNN",
    "Control",
    "ControlVariates",
    "CrossFit",
    "Learned",
    "Mean",
    "Predictions",
    "Ridge",
]
