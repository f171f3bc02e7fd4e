"""Success rates as a metric says them, and as they are once its errors are corrected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewgold._arrays import BoolArray, RNGLike, as_rng
from fewgold._validate import check_choice, check_confidence, check_count
from fewgold.bayes.counts import Counts
from fewgold.bayes.finite import PoolPosterior
from fewgold.bayes.posterior import AlphaPosterior
from fewgold.bayes.priors import Priors
from fewgold.bayes.table import ALL, BinaryTable, read_binary
from fewgold.bayes.thresholds import RULES, choose_cut
from fewgold.cut import Cut
from fewgold.errors import DataError, FewgoldError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

# The counts behind each way to estimate a success rate with a metric.


class Tally(NamedTuple):
    """Ones and how many there are."""

    ones: int
    total: int


class Items(NamedTuple):
    """What was counted on the items of one system, for one metric."""

    cells: dict[str, int]  # rated by both
    human: Tally  # rated by humans, whether the metric scored them or not
    alone: Tally  # rated by humans, without a score of the metric
    rest: Tally  # by the metric alone
    said: Tally  # all labels of the metric


class Way(NamedTuple):
    """A name, and what a posterior is made of."""

    how: str
    counts: Counts
    priors: Priors | None


def count_items(
    table: BinaryTable, metric: str, cuts: dict[str, Cut], seen: BoolArray
) -> dict[str, Items]:
    """The counts of each system that the metric scored; ``seen`` ratings may be used."""
    found = {}
    for name, cut in cuts.items():
        own = table.of(name)
        scores, labels, rated = table.scores[metric][own], table.labels[own] == 1, seen[own]
        scored = ~np.isnan(scores)
        if not scored.any():
            continue
        ones = np.zeros(scores.size, dtype=bool)
        ones[scored] = cut(scores[scored])
        both = rated & scored
        cells = {
            "tp": labels & ones, "fn": labels & ~ones, "fp": ~labels & ones, "tn": ~labels & ~ones
        }  # fmt: skip
        found[name] = Items(
            {cell: int((which & both).sum()) for cell, which in cells.items()},
            _tally(labels[rated]),
            _tally(labels[rated & ~scored]),
            _tally(ones[scored & ~rated]),
            _tally(ones[scored]),
        )
    return found


def _tally(labels: BoolArray) -> Tally:
    return Tally(int(labels.sum()), labels.size)


def naive_way(items: Items) -> Way:
    """The metric's labels in the place of human ones."""
    said = Counts(human_ones=items.said.ones, human_total=items.said.total)
    return Way("naive", said, None)


def corrected_ways(
    items: dict[str, Items], name: str, known: tuple[float, float] | None
) -> Iterator[Way]:
    """The ways that correct the metric's errors on the system ``name``."""
    own = items[name]
    yield Way("own", _counts(own.cells, own.alone, own.rest), None)
    if len(items) > 1:
        # The labels of paired items tell about this system's α, and those of all systems about
        # the ρ and η they share: as many factors of the likelihood as with "own".
        everyone = _sum(found.cells for found in items.values())
        yield Way("pooled", _counts(everyone, own.human, own.rest, "calibration"), None)
        others = _sum(found.cells for other, found in items.items() if other != name)
        yield Way("transfer", _counts(others, Tally(0, 0), own.said, "calibration"), None)
    if known is not None:
        yield Way("known", _counts({}, own.human, own.rest), _given(known))


def _counts(cells: dict[str, int], human: Tally, auto: Tally, pairs: str = "sample") -> Counts:
    return Counts(
        **cells, human_ones=human.ones, human_total=human.total, metric_ones=auto.ones,
        metric_total=auto.total, pairs=pairs,
    )  # fmt: skip


def _sum(tables: Iterable[dict[str, int]]) -> dict[str, int]:
    total = dict.fromkeys(("tp", "fn", "fp", "tn"), 0)
    for cells in tables:
        total = {cell: total[cell] + cells[cell] for cell in total}
    return total


def _given(known: tuple[float, float]) -> Priors:
    rho, eta = map(float, known)
    if rho + eta <= 1:
        raise FewgoldError(
            f"a known metric must have rho + eta above 1; got {rho:g} and {eta:g}. If it points "
            "the wrong way, give it the orientation -1 and the rates 1 - rho and 1 - eta."
        )
    return Priors(rho=rho, eta=eta)


# Success rates by humans, by metrics taken at their word, and corrected: frames of the result.


HUMAN = "Human"
HOWS = ("human", "naive", "own", "pooled", "transfer", "known")


@dataclass(frozen=True, eq=False)
class NaiveTable:
    """Estimates of the success rates of systems, naive and corrected. Made by `naive_table`."""

    frame: pd.DataFrame
    confidence: float

    def __repr__(self) -> str:
        metrics = set(self.frame["metric"]) - {HUMAN}
        return f"NaiveTable({self.frame['system'].nunique()} systems, {len(metrics)} metrics)"

    def to_frame(self) -> pd.DataFrame:
        """One row a metric, system and way (``how``).

        ``rated`` human ratings and ``scored`` ratings by the metric went into the mean, sd and
        interval. Where all items of the system have a human score, ``truth`` is their share of
        adequate ones, ``error`` the mean less that, and ``covered`` whether the interval holds
        it.
        """
        return self.frame

    def wide(self, how: str = "own") -> pd.DataFrame:
        """Mean and sd by humans and by each metric, a row a system: the thesis's layout.

        Tables 5.1 and 5.2 of the thesis are ``wide("naive")``, Tables 5.3 and 5.4 ``wide("own")``.
        """
        check_choice("how", how, HOWS[1:])
        part = self.frame[self.frame["how"].isin(("human", how))]
        if how not in set(part["how"]):
            raise FewgoldError(
                f"the table has no estimates {how!r}; it has "
                f"{', '.join(dict.fromkeys(self.frame['how']))}."
            )
        table = part.pivot(index="system", columns="metric", values=["mean", "sd"])
        order = list(dict.fromkeys(part["metric"]))
        wanted = [(value, name) for name in order for value in ("mean", "sd")]
        shown = table[wanted].swaplevel(axis=1)
        shown.columns.names = [None, None]
        return shown.loc[list(dict.fromkeys(part["system"]))]

    def errors(self) -> pd.DataFrame:
        """How far each way is from all human ratings: one row a metric and way.

        Mean and largest absolute error over the systems, ``kendall`` the rank correlation of the
        means with the truth (NaN where either is constant), ``coverage`` the share of intervals
        that hold the truth.
        """
        import pandas as pd
        from scipy.stats import kendalltau

        known = self.frame[self.frame["truth"].notna()]
        if known.empty:
            raise FewgoldError(
                "errors need systems of which people rated all items: hold ratings back with "
                "rated=."
            )
        rows = []
        for (metric, how), part in known.groupby(["metric", "how"], sort=False):
            several = part["mean"].nunique() > 1 and part["truth"].nunique() > 1
            rows.append(
                {
                    "metric": metric,
                    "how": how,
                    "systems": len(part),
                    "mean_error": part["error"].abs().mean(),
                    "largest_error": part["error"].abs().max(),
                    "kendall": float(kendalltau(part["mean"], part["truth"])[0])
                    if several
                    else np.nan,
                    "mean_sd": part["sd"].mean(),
                    "coverage": part["covered"].astype(float).mean(),
                }
            )
        return pd.DataFrame(rows)


# Rows of a naive table: what each way of estimating says of a system.


def human_row(table: BinaryTable, system: str, seen: BoolArray, target: str) -> dict[str, Any]:
    """By the human ratings of the system alone."""
    own = table.of(system)
    labels = table.labels[own & seen]
    if not labels.size:
        raise DataError(f"no item of {system} is rated.")
    counts = Counts(human_ones=int(labels.sum()), human_total=labels.size)
    posterior: AlphaPosterior | PoolPosterior = AlphaPosterior(counts)
    if target == "pool":
        posterior = PoolPosterior(counts, unrated=int(own.sum()) - labels.size)
    return {"metric": HUMAN, "system": system, "cut": ""} | estimate_row("human", posterior)


def posterior_of(way: Way, target: str) -> AlphaPosterior | PoolPosterior:
    """Of the success rate in this test set, or of what made the items."""
    if target == "pool":
        return PoolPosterior(way.counts, way.priors)
    return AlphaPosterior(way.counts, way.priors or Priors())


def estimate_row(how: str, posterior: AlphaPosterior | PoolPosterior) -> dict[str, Any]:
    """A row but for the truth; ρ and η are those of the paired items, or the known ones."""
    counts, priors = posterior.counts, posterior.priors
    rho = eta = np.nan
    tp, fn, fp, tn = (int(x) for x in (counts.tp, counts.fn, counts.fp, counts.tn))
    if priors is not None and priors.known:
        rho, eta = priors.rho, priors.eta  # type: ignore[assignment]
    else:
        rho = tp / (tp + fn) if tp + fn else np.nan
        eta = tn / (tn + fp) if tn + fp else np.nan
    naive = how == "naive"
    people = int(counts.human_total) + (tp + fn + fp + tn) * (counts.pairs == "sample")
    row = {"how": how, "rho": rho, "eta": eta, "rated": 0 if naive else people}
    auto = counts.human_total if naive else counts.metric_total
    return row | {"scored": int(auto), "posterior": posterior}


def frame_of(rows: list[dict[str, Any]], table: BinaryTable, confidence: float) -> pd.DataFrame:
    """Rows with mean, sd, interval and, where all items are rated, the truth."""
    import pandas as pd

    truth = {}
    for name in table.systems or [ALL]:
        labels = table.labels[table.of(name)]
        truth[name] = float(labels.mean())  # NaN where an item has no human score
    done = []
    for row in rows:
        posterior = row.pop("posterior")
        low, high = (float(end) for end in posterior.interval(confidence))
        right = truth[row["system"]]
        row |= {"mean": float(posterior.mean), "sd": float(posterior.sd), "low": low, "high": high}
        row |= {"truth": right, "error": row["mean"] - right}
        row["covered"] = pd.NA if np.isnan(right) else bool(low <= right <= high)
        done.append(row)
    return pd.DataFrame(done).astype({"covered": "boolean"})


# Which ratings a naive table uses, and where it cuts the metrics.


def ratings_used(
    table: BinaryTable, frame: pd.DataFrame, rated: int | str | None, rng: RNGLike
) -> BoolArray:
    """Which human ratings may be used."""
    if rated is None:
        return table.rated
    seen = np.zeros(table.labels.size, dtype=bool)
    if isinstance(rated, str):
        if rated not in frame.columns:
            raise UnknownNameError("column", rated, map(str, frame.columns))
        flags = frame[rated].to_numpy()
        bad = ~np.isin(flags, [0, 1])
        if bad.any():
            raise DataError(f"column {rated!r} must hold 0 and 1; got {flags[bad][0]!r}.")
        return np.asarray(flags.astype(bool) & table.rated)
    check_count("rated", rated)
    generator = as_rng(rng)
    for name in table.systems or [ALL]:
        rows = np.flatnonzero(table.of(name) & table.rated)
        if rows.size < rated:
            raise DataError(
                f"rated asks for {rated} ratings of each system, and {name} has {rows.size}."
            )
        seen[generator.choice(rows, rated, replace=False)] = True
    return seen


def cut_of(
    table: BinaryTable,
    metric: str,
    system: str,
    seen: BoolArray,
    rule: str,
    given: Cut | str | None,
) -> Cut:
    """The cut of a metric, chosen on the rated items of a system or of all."""
    if given is not None:
        return Cut.parse(given)
    rows = seen & ~np.isnan(table.scores[metric]) & table.of(system)
    if not rows.any():
        raise DataError(f"no rated item of {system} has a score of {metric!r}.")
    return choose_cut(table.labels[rows], table.scores[metric][rows], rule, table.signs[metric])


def check_whole(table: BinaryTable, metric: str, system: str) -> None:
    """The metric must have scored all items of the system."""
    gaps = int(np.isnan(table.scores[metric][table.of(system)]).sum())
    if gaps:
        raise DataError(
            f"{metric!r} has no score for {gaps} items of {system}, so it tells nothing about "
            "them: target='pool' needs scores of all items."
        )


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
