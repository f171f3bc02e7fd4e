"""Success rates of systems from a table in which people rated some rows and a metric all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import BoolArray
from fewgold._validate import check_choice, check_confidence
from fewgold.bayes.counts import Counts
from fewgold.bayes.estimator import Posterior, worse_than_chance
from fewgold.bayes.finite import PoolPosterior, ProcessPosterior
from fewgold.bayes.posterior import AlphaPosterior
from fewgold.bayes.priors import Priors
from fewgold.bayes.table import ALL, BinaryTable, read_binary
from fewgold.bayes.thresholds import RULES, choose_cut
from fewgold.cut import Cut, binary
from fewgold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

# What the rated rows say of a metric, and what they give reason to ask.


_SOME, _FEW = 10, 5  # rated items, before they give reason to ask


def facts_of(own: BoolArray, ours: Any) -> dict[str, Any]:
    """How many rows a system has, how many are rated, and their share of adequate ones."""
    share = float(ours.mean()) if ours.size else np.nan
    return {"items": int(own.sum()), "rated": int(ours.size), "human": share}


def cells_of(human: Any, labels: BoolArray, rows: BoolArray) -> dict[str, int]:
    """The 2 × 2 table of human and metric labels in some rows."""
    yes, said = human[rows] == 1, labels[rows]
    tables = {"tp": yes & said, "fn": yes & ~said, "fp": ~yes & said, "tn": ~yes & ~said}
    return {name: int(cell.sum()) for name, cell in tables.items()}


def hits_of(cells: Mapping[str, int]) -> dict[str, float]:
    """ρ and η as the 2 × 2 table has them; NaN where it has none."""
    yes, no = cells["tp"] + cells["fn"], cells["tn"] + cells["fp"]
    return {
        "rho": cells["tp"] / yes if yes else np.nan,
        "eta": cells["tn"] / no if no else np.nan,
    }


def doubts_about(name: str, cells: Mapping[str, int], metric: str) -> tuple[str, ...]:
    """What the 2 × 2 table gives reason to ask."""
    of = "" if name == ALL else f" of {name}"
    yes, no = cells["tp"] + cells["fn"], cells["tn"] + cells["fp"]
    said, denied = cells["tp"] + cells["fp"], cells["tn"] + cells["fn"]
    if yes + no >= _SOME and not (yes and no):
        what, other = ("adequate", "failures") if yes else ("inadequate", "passes")
        return (f"all {yes + no} rated items{of} are {what}: are {other} left empty?",)
    if yes + no >= _SOME and not (said and denied):
        return (
            f"{metric} says {int(denied == 0)} of all {yes + no} rated items{of}, so it tells "
            "nothing: is the threshold right?",
        )
    if min(yes, no) < _FEW or cells["tp"] / yes + cells["tn"] / no > 1:
        return ()
    return (worse_than_chance(metric + of, cells["tp"] / yes, cells["tn"] / no),)


def note_on_sharing(table: BinaryTable) -> tuple[str, ...]:
    """Said where the rated rows of all systems speak for each."""
    if len(table.systems) < 2:
        return ()
    return (
        "all systems share the errors of the metric as the rated rows show them; whether they do, "
        "fewgold roc tells",
    )


# Success rates of systems, as a frame and as text.


@dataclass(frozen=True, eq=False)
class SuccessRates:
    """A posterior for each system, and what it was made from. Made by `success_rates`."""

    posteriors: Mapping[str, Posterior]
    facts: Mapping[str, Mapping[str, Any]]
    metric: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"SuccessRates({len(self.posteriors)} systems, {self.metric or 'people alone'})"

    def summary(self, confidence: float = 0.95) -> str:
        """A line a system, for people."""
        level = f"{100 * confidence:.6g}%"
        lines = [
            f"{row['system']}: {row['mean']:.4f} ± {row['sd']:.4f}, {level} credible interval "
            f"{row['low']:.4f} to {row['high']:.4f}, {row['rated']} of {row['items']} items rated"
            for row in self.to_frame(confidence).to_dict("records")
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """One row a system.

        ``items`` of the system, ``rated`` by people, their share of adequate ones (``human``), the
        share that the metric says (``naive``), posterior mean, sd and interval, and the share of
        adequate and inadequate rated items that the metric recognises, ρ and η.
        """
        import pandas as pd

        check_confidence(confidence)
        rows = []
        for name, posterior in self.posteriors.items():
            low, high = (float(end) for end in posterior.interval(confidence))
            found = {"mean": float(posterior.mean), "sd": float(posterior.sd)}
            rows.append({"system": name, **self.facts[name], **found, "low": low, "high": high})
        return pd.DataFrame(rows)


# The success rate of one system from its counts alone.


def success_rates_of(
    counts: Counts, priors: Priors | None = None, target: str = "pool"
) -> SuccessRates:
    """The success rate of one system from its counts, as `success_rates` has it from a table.

    Examples
    --------
    >>> counts = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000)
    >>> success_rates_of(counts).to_frame().loc[0, ["mean", "sd"]].astype(float).round(3).tolist()
    [0.597, 0.042]
    """
    check_choice("target", target, ("pool", "process"))
    cells = {name: int(getattr(counts, name)) for name in ("tp", "fn", "fp", "tn")}
    ones, rated = int(counts.adequate), int(counts.adequate + counts.inadequate)
    said = cells["tp"] + cells["fp"] if counts.pairs == "sample" else 0
    paired = int(counts.paired_total) if counts.pairs == "sample" else 0
    scored = paired + int(counts.metric_total)
    posterior: AlphaPosterior | PoolPosterior = AlphaPosterior(counts, priors or Priors())
    if target == "pool":
        posterior = PoolPosterior(counts, priors)
    facts: dict[str, Any] = {
        "items": rated + int(counts.metric_total),
        "rated": rated,
        "human": ones / rated if rated else np.nan,
        "naive": (said + int(counts.metric_ones)) / scored if scored else np.nan,
        **hits_of(cells),
    }
    notes: tuple[str, ...] = ()
    if priors is not None and priors.known:
        facts |= {"rho": priors.rho, "eta": priors.eta}
    elif scored and not int(counts.paired_total):
        notes = (
            "nobody rated items that the metric rated too, so nothing tells how often it is right: "
            "the answer is that of the priors",
        )
    elif scored:
        notes = doubts_about(ALL, cells, "the metric")
    return SuccessRates({ALL: posterior}, {ALL: facts}, "the metric" if scored else "", notes)


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
