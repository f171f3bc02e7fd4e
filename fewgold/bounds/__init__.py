"""How far the estimate may be from the pool mean: bounds, each a class, and all by name."""

from collections.abc import Callable, Mapping

from fewgold.bounds.approximate import Hall, Likelihood, Student
from fewgold.bounds.auto import Auto
from fewgold.bounds.betting import Betting, OrderedBound, STaR
from fewgold.bounds.bootstrap import BCa, BootstrapT, RaoWu
from fewgold.bounds.concentration import Bernstein, BernsteinSerfling, Hoeffding, MaurerPontil
from fewgold.bounds.exact import ClopperPearson, Hypergeometric
from fewgold.bounds.gaffke import Gaffke
from fewgold.bounds.stratified import StratifiedBetting
from fewgold.errors import UnknownNameError
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

#: In the order in which people should think of them.
BOUNDS: Mapping[str, Callable[[], Bound]] = {
    made.name: made
    for made in (
        *(Auto, Student, Likelihood, BootstrapT, Hall, BCa, RaoWu),
        *(STaR, Betting, StratifiedBetting, Hypergeometric, ClopperPearson),
        *(BernsteinSerfling, Hoeffding, Bernstein, Gaffke, MaurerPontil),
    )
}
_HINT = "Those that bet on each rating take a metric too, as star:comet."


def as_bound(bound: Bound | str, known: Mapping[str, Callable[[], Bound]] = BOUNDS) -> Bound:
    """A bound, or the one of that name; ``star:comet`` goes by a metric as well."""
    if isinstance(bound, Bound):
        return bound
    name, colon, metric = str(bound).strip().lower(), "", ""
    if name not in known:
        name, colon, metric = str(bound).strip().partition(":")
        name = name.lower()
    if name not in known:
        raise UnknownNameError("bound", bound, known, _HINT)
    made = known[name]()
    if not colon:
        return made
    if not metric or not isinstance(made, OrderedBound):
        raise UnknownNameError("bound", bound, known, _HINT)
    return type(made)(metric=metric)
