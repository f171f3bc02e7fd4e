"""How far the estimate may be from the pool mean. One bound, one file."""

from fewgold.bounds.approximate import Hall, Likelihood, Student
from fewgold.bounds.auto import Auto
from fewgold.bounds.betting import Betting, STaR
from fewgold.bounds.bootstrap import BCa, BootstrapT, RaoWu
from fewgold.bounds.concentration import Bernstein, BernsteinSerfling, Hoeffding, MaurerPontil
from fewgold.bounds.exact import ClopperPearson, Hypergeometric
from fewgold.bounds.gaffke import Gaffke
from fewgold.bounds.names import BOUNDS, as_bound
from fewgold.bounds.stratified import StratifiedBetting
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
