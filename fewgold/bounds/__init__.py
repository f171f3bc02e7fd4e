"""How far the estimate may be from the pool mean. One bound, one file."""

from fewgold.bounds._auto import Auto
from fewgold.bounds._bca import BCa
from fewgold.bounds._bernstein import Bernstein
from fewgold.bounds._bernstein_serfling import BernsteinSerfling
from fewgold.bounds._betting import Betting
from fewgold.bounds._bootstrap_t import BootstrapT
from fewgold.bounds._clopper_pearson import ClopperPearson
from fewgold.bounds._gaffke import Gaffke
from fewgold.bounds._hall import Hall
from fewgold.bounds._hoeffding import Hoeffding
from fewgold.bounds._hypergeometric import Hypergeometric
from fewgold.bounds._likelihood import Likelihood
from fewgold.bounds._maurer_pontil import MaurerPontil
from fewgold.bounds._names import BOUNDS, as_bound
from fewgold.bounds._rao_wu import RaoWu
from fewgold.bounds._star import STaR
from fewgold.bounds._stratified_betting import StratifiedBetting
from fewgold.bounds._student import Student
from fewgold.estimate import Bound

__all__ = [
    "BOUNDS",
    "Auto",
    "BCa",
    "Bernstein",
    "BernsteinSerfling",
    "Betting",
    "BootstrapT",
    "Bound",
    "ClopperPearson",
    "Gaffke",
    "Hall",
    "Hoeffding",
    "Hypergeometric",
    "Likelihood",
    "MaurerPontil",
    "RaoWu",
    "STaR",
    "StratifiedBetting",
    "Student",
    "as_bound",
]
