"""Success rates of systems from a table in which people rated some rows and a metric all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import BoolArray
from fewgold._validate import check_choice
from fewgold.bayes._binary_table import ALL, BinaryTable, read_binary
from fewgold.bayes._counts import Counts
from fewgold.bayes._pool import PoolPosterior
from fewgold.bayes._posterior import AlphaPosterior
from fewgold.bayes._priors import Priors
from fewgold.bayes._process import ProcessPosterior
from fewgold.bayes._rated import Posterior
from fewgold.bayes._success_facts import cells_of, doubts_about, facts_of, hits_of, note_on_sharing
from fewgold.bayes._success_table import SuccessRates
from fewgold.bayes._thresholds import RULES, choose_cut
from fewgold.cut import Cut, binary
from fewgold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


_HINT = "Say where it becomes a 1, such as '>= 0.5', or by which rule: " + " or ".join(RULES) + "."


def success_rates(
    frame: pd.DataFrame,
    *,
    human: str,
    metric: str | None = None,
    threshold: Cut | str | None = None,
    system: str | None = None,
    adequate: Cut | str | None = None,
    pairs: str = "sample",
    target: str = "pool",
    priors: Priors | None = None,
    orientation: Mapping[str, int] | None = None,
) -> SuccessRates:
    """Correct what a metric says of every row by the rows that people rated too.

    Parameters
    ----------
    frame
        A row an item, or an item and system. Where the human score is empty, nobody rated it.
    human, metric, system
        Columns. Without a metric the human ratings speak alone.
    threshold
        A cut for a metric that is not 0 and 1, such as ``">= 0.5"``, or a rule by which the rated
        rows choose it: ``"equal"`` or ``"information"``.
    adequate
        Which human scores are adequate, such as ``"<= 0"``, where they are not 0 and 1.
    pairs
        ``"sample"``: the rated rows of each system are a random sample of its rows.
        ``"calibration"``: they are not (chosen by class, or of another system). They tell how often
        the metric is right, together for all systems, and nothing else; but of its test set, a
        system's rated rows are known.
    target
        ``"pool"``: the share in this table. ``"process"``: the rate of what made the items.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": [1, 1, 0, 1, 0, 1, 1, 0], "ok": [1, 0, 0, 1] + [None] * 4})
    >>> rates = success_rates(frame, human="ok", metric="judge").to_frame()
    >>> rates[["rated", "human", "naive", "rho", "eta", "mean"]].round(2)
       rated  human  naive  rho  eta  mean
    0      4    0.5   0.62  1.0  0.5  0.48
    """
    check_choice("pairs", pairs, ("sample", "calibration"))
    check_choice("target", target, ("pool", "process"))
    if metric is None:
        if pairs == "calibration":
            raise DataError(
                "pairs='calibration' says how often a metric is right, and there is no metric."
            )
        table = read_binary(frame, human, (), system, adequate, None, False, alone=True)
        found = {name: _alone(table, name, target, priors) for name in table.systems or [ALL]}
        return _gathered(found, "", ())
    table = read_binary(frame, human, [metric], system, adequate, orientation, False)
    labels, how = _labels(table, metric, threshold)
    everyone = cells_of(table.labels, labels, table.rated)
    found = {}
    notes: tuple[str, ...] = ()
    for name in table.systems or [ALL]:
        own = table.of(name)
        if pairs == "sample" and not (own & table.rated).any():
            raise DataError(
                f"nobody rated an item of {name}. Leave it out, or let the rated items of the "
                "others tell how often the metric is right: pairs='calibration'."
            )
        cells = (
            everyone
            if pairs == "calibration"
            else cells_of(table.labels, labels, own & table.rated)
        )
        rest = labels[own & ~table.rated]
        counts = Counts(**cells, metric_ones=int(rest.sum()), metric_total=rest.size, pairs=pairs)
        ours = table.labels[own & table.rated]
        posterior = _posterior(counts, ours, priors, target)
        if labels[own].min() == labels[own].max() and ours.size:
            posterior = _alone(table, name, target, priors)[0]
        facts = facts_of(own, ours) | {"naive": float(labels[own].mean()), **hits_of(cells)}
        found[name] = posterior, facts
        notes += doubts_about(name, cells, how)
    notes += note_on_sharing(table) if pairs == "calibration" else ()
    return _gathered(found, how, tuple(dict.fromkeys(notes)))


def _posterior(counts: Counts, ours: Any, priors: Priors | None, target: str) -> Posterior:
    if counts.pairs == "calibration":
        known = Counts(human_ones=int(ours.sum()), human_total=ours.size)
        pool = PoolPosterior(counts, priors, known=known)
        return pool if target == "pool" else ProcessPosterior(pool)
    if target == "pool":
        return PoolPosterior(counts, priors)
    return AlphaPosterior(counts, priors or Priors())


def _gathered(
    found: Mapping[str, tuple[Posterior, dict[str, Any]]],
    how: str,
    notes: tuple[str, ...],
) -> SuccessRates:
    posteriors = {name: posterior for name, (posterior, _) in found.items()}
    certain = [
        n for n, p in posteriors.items() if isinstance(p, PoolPosterior) and p.rated == p.size
    ]
    if certain:
        notes = (
            *notes,
            f"people rated every row of {', '.join(certain)}, so that share is known; the rate of "
            "the system that made them is target='process'",
        )
    return SuccessRates(posteriors, {name: facts for name, (_, facts) in found.items()}, how, notes)


def _alone(
    table: BinaryTable, name: str, target: str, priors: Priors | None
) -> tuple[Posterior, dict[str, Any]]:
    own = table.of(name)
    ours = table.labels[own & table.rated]
    counts = Counts(human_ones=int(ours.sum()), human_total=ours.size)
    facts = facts_of(own, ours)
    if target == "process":
        return AlphaPosterior(counts, priors or Priors()), facts
    return PoolPosterior(counts, priors, unrated=int(own.sum()) - ours.size), facts


def _labels(table: BinaryTable, metric: str, threshold: Cut | str | None) -> tuple[BoolArray, str]:
    """What the metric says of every row."""
    scores = table.scores[metric]
    gaps = int(np.isnan(scores).sum())
    if gaps:
        raise DataError(
            f"{gaps} of {scores.size} rows have no {metric}. Score them, or leave them out."
        )
    if threshold is None:
        return binary(scores, f"scores of {metric!r} without a threshold", _HINT), metric
    if isinstance(threshold, str) and threshold in RULES:
        rated = table.rated
        cut = choose_cut(table.labels[rated], scores[rated], threshold, table.signs[metric])
    else:
        cut = Cut.parse(threshold)
    return cut(scores), f"{metric} {cut}"
