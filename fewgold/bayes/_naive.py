"""Success rates as a metric says them, and as they are once its errors are corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fewgold._arrays import RNGLike
from fewgold._validate import check_choice, check_confidence
from fewgold.bayes._binary_table import ALL, read_binary
from fewgold.bayes._naive_rates import NaiveTable
from fewgold.bayes._naive_rows import estimate_row, frame_of, human_row, posterior_of
from fewgold.bayes._naive_used import check_whole, cut_of, ratings_used
from fewgold.bayes._posterior import AlphaPosterior
from fewgold.bayes._thresholds import RULES
from fewgold.bayes._ways import corrected_ways, count_items, naive_way
from fewgold.cut import Cut
from fewgold.errors import UnknownNameError

if TYPE_CHECKING:
    import pandas as pd


def naive_table(
    frame: pd.DataFrame,
    *,
    human: str,
    metrics: Sequence[str],
    system: str | None = None,
    adequate: Cut | str | None = None,
    rated: int | str | None = None,
    rule: str = "equal",
    cuts: Mapping[str, Cut | str] | None = None,
    per_system: bool = False,
    strict: bool = False,
    orientation: Mapping[str, int] | None = None,
    known: Mapping[str, tuple[float, float]] | None = None,
    target: str = "process",
    confidence: float = 0.95,
    rng: RNGLike = None,
) -> NaiveTable:
    """Success rates of systems: by humans, by metrics taken at their word, and corrected.

    The ways (``how``):

    - ``human``: the human ratings of the system alone.
    - ``naive``: the labels of the metric as if a human had given them.
    - ``own``: ρ and η from the rated items of the system, which tell about α too; the metric
      adds its labels of the unrated items.
    - ``pooled``: as own, but all systems share ρ and η.
    - ``transfer``: no human rating of the system is used; ρ and η come from the rated items of
      the other systems.
    - ``known``: as own, but ρ and η are given numbers.

    Parameters
    ----------
    frame
        A row an item, or an item and system. Items without a human score are unrated.
    human, metrics, system, adequate, rule, cuts, per_system, strict, orientation
        As for `roc_table`. Thresholds are chosen on the rated items.
    rated
        To try things out on data that people rated in full: how many ratings of each system,
        drawn at random, are used, or the column that says which (1) are. The others are held
        back for ``truth``.
    known
        (ρ, η) of metrics, where they are known.
    target
        ``"process"``: the rate of the process that made the items, as in the thesis.
        ``"pool"``: the share in this very test set, which is what ``truth`` is; its sds are
        smaller. Naive estimates are those of a process either way.
    confidence
        Of the credible intervals.
    rng
        Seed of the draw of ratings.

    References
    ----------
    von Däniken (2023), Tables 5.1 to 5.4: human, and naive and corrected for each metric.

    Examples
    --------
    >>> from fewgold.datasets import demo_frame
    >>> frame = demo_frame("zhen").dropna(subset="rater1")
    >>> table = naive_table(
    ...     frame, human="rater1", adequate="<= 1", metrics=["comet"], system="system",
    ...     rated=300, rng=1,
    ... )
    >>> table.wide("naive").round(3)
            Human         comet
             mean     sd   mean     sd
    system
    human   0.560  0.029  0.435  0.016
    alpha   0.490  0.029  0.533  0.016
    beta    0.464  0.029  0.467  0.016
    gamma   0.427  0.028  0.487  0.016
    delta   0.447  0.029  0.428  0.016
    """
    check_choice("rule", rule, RULES)
    check_choice("target", target, ("process", "pool"))
    check_confidence(confidence)
    table = read_binary(frame, human, metrics, system, adequate, orientation, strict)
    for name in {**(cuts or {}), **(known or {})}:
        if name not in table.scores:
            raise UnknownNameError("metric", name, table.scores)
    seen = ratings_used(table, frame, rated, rng)
    systems = table.systems or [ALL]
    rows = [human_row(table, name, seen, target) for name in systems]
    for metric in table.scores:
        given = (cuts or {}).get(metric)
        shared = None if per_system else cut_of(table, metric, ALL, seen, rule, given)
        chosen = {n: shared or cut_of(table, metric, n, seen, rule, given) for n in systems}
        items = count_items(table, metric, chosen, seen)
        for name, found in items.items():
            facts = {"metric": metric, "system": name, "cut": str(chosen[name])}
            said = naive_way(found)
            rows.append(facts | estimate_row(said.how, AlphaPosterior(said.counts)))
            if target == "pool":
                check_whole(table, metric, name)
            for way in corrected_ways(items, name, (known or {}).get(metric)):
                rows.append(facts | estimate_row(way.how, posterior_of(way, target)))
    return NaiveTable(frame_of(rows, table, confidence), confidence)
