"""Bounds by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
from fewgold.bounds._ordered import OrderedBound
from fewgold.bounds._rao_wu import RaoWu
from fewgold.bounds._star import STaR
from fewgold.bounds._stratified_betting import StratifiedBetting
from fewgold.bounds._student import Student
from fewgold.errors import UnknownNameError
from fewgold.estimate import Bound

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
