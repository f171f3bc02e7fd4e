"""Bounds: intervals for the pool mean, as classes and by name."""

from collections.abc import Callable, Mapping

from fewgold.bounds.approximate import Hall, Likelihood, Student
from fewgold.bounds.auto import Auto
from fewgold.bounds.betting import Betting, OrderedBound, STaR
from fewgold.bounds.bootstrap import BCa, BootstrapT, RaoWu
from fewgold.bounds.concentration import (
    Bernstein,
    BernsteinSerfling,
    Hoeffding,
    MaurerPontil,
    RangeBound,
)
from fewgold.bounds.exact import ClopperPearson, Hypergeometric
from fewgold.bounds.gaffke import Gaffke
from fewgold.bounds.stratified import StratifiedBetting
from fewgold.errors import DesignError, UnknownNameError
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

#: In the order in which users should consider them.
BOUNDS: Mapping[str, Callable[[], Bound]] = {
    made.name: made
    for made in (
        *(Auto, Student, Likelihood, BootstrapT, Hall, BCa, RaoWu),
        *(STaR, Betting, StratifiedBetting, Hypergeometric, ClopperPearson),
        *(BernsteinSerfling, Hoeffding, Bernstein, Gaffke, MaurerPontil),
    )
}
_HINT = (
    "Bounds that bet on each rating also take a metric, as in star:comet. hoeffding-printed:4 "
    "applies the formula as in Saldías et al. (2022), with a range of 4 and without guarantee."
)
_PRINTED = "-printed"


def as_bound(bound: Bound | str, known: Mapping[str, Callable[[], Bound]] = BOUNDS) -> Bound:
    """A bound from its name (or unchanged); ``star:comet`` uses a metric as well.

    ``hoeffding-printed`` applies the formula to any estimate, as Saldías et al. (2022) do;
    ``hoeffding-printed:4`` uses 4 as the range of the scores.
    """
    if isinstance(bound, Bound):
        return bound
    name, colon, metric = str(bound).strip().lower(), "", ""
    if name not in known:
        name, colon, metric = str(bound).strip().partition(":")
        name = name.lower()
    if name.endswith(_PRINTED):
        return _printed(bound, known.get(name.removesuffix(_PRINTED)), metric if colon else None)
    if name not in known:
        raise UnknownNameError("bound", bound, known, _HINT)
    made = known[name]()
    if not colon:
        return made
    if not metric or not isinstance(made, OrderedBound):
        raise UnknownNameError("bound", bound, known, _HINT)
    return type(made)(metric=metric)


def _printed(bound: str, known: Callable[[], Bound] | None, width: str | None) -> RangeBound:
    """A bound as printed, with the width of the scale if one is given."""
    made = known() if known is not None else None
    if not isinstance(made, RangeBound):
        names = [f"{name}{_PRINTED}" for name, b in BOUNDS.items() if isinstance(b(), RangeBound)]
        raise UnknownNameError("bound", str(bound), names, _HINT)
    if width is None:
        return type(made)(printed=True)
    try:
        score_range = float(width)
    except ValueError:
        raise DesignError(
            f"the range after {made.name}{_PRINTED}: must be a number, such as 4; got {width!r}."
        ) from None
    return type(made)(printed=True, score_range=score_range)
