"""How to divide a budget between human ratings and ratings of a metric."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import IntArray
from fewgold.bayes import Priors
from fewgold.planning._asymptotic import break_even, information
from fewgold.planning._costs import Costs, check_costs, formula_mix
from fewgold.planning._difference import standard_errors
from fewgold.planning._expected_sd import expected_sd
from fewgold.planning._mix import Mix, Split
from fewgold.planning._setting import Setting

# Sizes tried in a round. Each round looks closer around the best, until all there are tried.
_TRIED = 17
_ROUNDS = 12


def best_split(
    budget: float,
    human_cost: float,
    metric_cost: float,
    *,
    alpha: float,
    rho: float,
    eta: float,
    items: int | None = None,
    known: bool = False,
    priors: Priors | None = None,
    level: float = 0.05,
    power: float | None = None,
) -> Split:
    """Divide a budget for one system so that the posterior sd of its success rate is least.

    Parameters
    ----------
    budget
        What may be spent on one system, in the unit of the costs.
    human_cost, metric_cost
        Cost of one rating. An item that people rate is rated by the metric as well, which is what
        its errors are estimated from, and costs both; with ``known=True`` it costs the first alone.
    alpha, rho, eta, known, priors
        As in `Setting`.
    items
        At most so many items are to be had; needed where the metric costs nothing.
    level, power
        For the measurable difference.

    Notes
    -----
    The sd is that of the exact posterior at the expected counts, which are not rounded here: the
    sd would jump by more from one size to the next than sizes near the best differ. It is flat
    there: a tenth more or fewer human ratings hardly matter.

    The large-sample formula is n/N = √((1 − K) c_m/(K c_h)), at most 1, for n human ratings among
    N items that the metric rates. A metric pays if c_m/c_h < ((1 − √(1 − K))/√K)². With known ρ
    and η money goes to whichever gives more per cost: people, or the metric if K/c_m > 1/c_h.

    Examples
    --------
    >>> split = best_split(1000, 1.0, 0.01, alpha=0.6, rho=0.9, eta=0.9)
    >>> print(split.summary())
    887 human and 10413 metric-only ratings: sd 0.0107
    a difference of 0.0296 is significant at level 0.05
    humans alone: 1000 ratings, sd 0.0155, difference 0.0429
    large-sample formula: 884 and 10716, sd 0.0107
    the metric costs 0.01 of a human rating; in large studies it pays below 0.244
    """
    costs = Costs(*check_costs(budget, human_cost, metric_cost, items), items, known)
    told = Setting(alpha=alpha, rho=rho, eta=eta, human=0, known=known, priors=priors or Priors())
    factor = float(standard_errors(level, power))
    alone = costs.humans_alone
    # With and without the metric: n = 0 … all people, the rest of the money for the metric.
    seen = {(alone, 0): expected_sd(told, alone, 0)}
    low, high = 0, costs.most_human
    for _ in range(_ROUNDS):
        sizes = _sizes(low, high)
        for mix in (costs.mix(int(n)) for n in sizes):
            if mix not in seen:
                seen[mix] = expected_sd(told, *mix)
        best = min(seen, key=lambda mix: seen[mix])[0]
        near = int(np.searchsorted(sizes, min(best, high)))
        low, high = int(sizes[max(near - 1, 0)]), int(sizes[min(near + 1, len(sizes) - 1)])
        if high - low < 2:
            break

    def made(human: int, metric: int) -> Mix:
        sd = seen[human, metric] if (human, metric) in seen else expected_sd(told, human, metric)
        return Mix(human, metric, sd, factor * sd, costs.of(human, metric))

    tried = tuple(made(*mix) for mix in sorted(seen))
    return Split(
        best=min(tried, key=lambda mix: (mix.sd, mix.metric)),
        humans_alone=made(alone, 0),
        formula=made(*formula_mix(costs, alpha, rho, eta)),
        information=float(information(alpha, rho, eta)),
        break_even=float(information(alpha, rho, eta) if known else break_even(alpha, rho, eta)),
        cost_ratio=metric_cost / human_cost,
        tried=tried,
        level=level,
        power=power,
    )


def _sizes(low: int, high: int) -> IntArray:
    """Sizes from low to high, denser at the lower end, where the sd changes faster."""
    if high - low <= _TRIED:
        return np.arange(low, high + 1)
    sizes = low + (high - low) * np.linspace(0, 1, _TRIED) ** 2
    return np.unique(np.rint(sizes).astype(np.int64))
