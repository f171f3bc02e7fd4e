"""Success rates of systems from a table with some human ratings and a metric on all rows.

`success_rates` corrects the metric using the rows that people rated too; `naive_table` compares
that with the metric taken at face value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.bayes.cells import CellPosterior, bins, tally
from fewgold.bayes.counts import ALL, BinaryTable, Counts, hit_rates, read_binary
from fewgold.bayes.estimator import BinaryPosterior, parts_posterior, worse_than_chance
from fewgold.bayes.finite import PoolPosterior, posterior_of
from fewgold.bayes.posterior import AlphaPosterior, Posterior
from fewgold.bayes.priors import Pooled, Priors, Trend
from fewgold.bayes.roc import RULES, choose_cut
from fewgold.chosen import Chosen, read_labelled
from fewgold.common.arrays import BoolArray, IntArray, RNGLike, as_rng
from fewgold.common.checks import check_choice, check_confidence, check_count
from fewgold.cut import Cut, binary
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.io.cells import column_of
from fewgold.io.columns import texts_of
from fewgold.sample import Ratings, Sample

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


_HINT = "Give a threshold, such as '>= 0.5', or a rule: " + " or ".join(RULES) + "."
_BINS = "bins"
_SOME = 10  # fewest rated items for such a warning


@dataclass(frozen=True, eq=False)
class SuccessRates:
    """A posterior for each system, with the data behind it. Made by `success_rates`."""

    posteriors: Mapping[str, Posterior]
    facts: Mapping[str, Mapping[str, Any]]
    metric: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"SuccessRates({len(self.posteriors)} systems, {self.metric or 'people alone'})"

    def summary(self, confidence: float = 0.95) -> str:
        """One readable line per system."""
        lines = [
            f"{row['system']}: {row['mean']:.4f} ± {row['sd']:.4f}, "
            f"{100 * confidence:.6g}% credible interval {row['low']:.4f} to {row['high']:.4f}, "
            f"{row['rated']} of {row['items']} items rated"
            for row in self.to_frame(confidence).to_dict("records")
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def plot(self, ax: Axes | None = None, *, confidence: float = 0.95) -> Axes:
        """Plot corrected rates with intervals, and the metric taken at face value."""
        from fewgold.plots import corrected_forest

        frame = self.to_frame(confidence).rename(columns={"mean": "score"})
        return corrected_forest(frame, ax, label="success rate", confidence=confidence)

    def to_frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """One row per system.

        ``items`` of the system, ``rated`` by people, their share of adequate ones (``human``), the
        share according to the metric (``naive``), posterior mean, sd and interval, and the share of
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


def success_rates(
    frame: pd.DataFrame,
    *,
    human: str,
    metric: str | Sequence[str] | None = None,
    threshold: Cut | str | None = None,
    system: str | None = None,
    adequate: Cut | str | None = None,
    pairs: str = "sample",
    target: str = "pool",
    priors: Priors | None = None,
    orientation: Mapping[str, int] | None = None,
) -> SuccessRates:
    """Correct what a metric says about every row, using the rows that people rated too.

    Parameters
    ----------
    frame
        One row per item, or per item and system. Rows with an empty human score are unrated.
    human, metric, system
        Columns. Without a metric, only the human ratings are used. Several metrics may have scored
        the same rows or different ones: the combination of their labels, including missing ones, is
        the category of a row.
    threshold
        A cut for a metric that is not 0 and 1, such as ``">= 0.5"``, or a rule by which the rated
        rows choose it: ``"equal"`` or ``"information"``. ``"bins"``: ordered bins of the scores,
        such as a judge's probabilities, instead of a cut.
    adequate
        Which human scores are adequate, such as ``"<= 0"``, if they are not 0 and 1.
    pairs
        ``"sample"``: the rated rows of each system are a random sample of its rows.
        ``"calibration"``: they are not (chosen by class, or of another system). They show only how
        often the metric is right, for all systems together; but the rated rows of a system's test
        set count as known.
    target
        ``"pool"``: the share in this table. ``"process"``: the rate of the process that made the
        items.

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
    if metric is None and pairs == "calibration":
        raise DataError(
            "a calibration set shows how often a metric is right, but there is no metric."
        )
    names = [] if metric is None else [metric] if isinstance(metric, str) else list(metric)
    signs = orientation if names else None
    table = read_binary(frame, human, names, system, adequate, signs, False, alone=True)
    if len(names) > 1 or threshold == _BINS:
        return _by_category(table, names, threshold, pairs, target, priors)
    metric = names[0] if names else None
    labels, how = (None, "") if metric is None else _labels(table, metric, threshold)
    said = np.ones(len(frame), dtype=bool) if metric is None else ~np.isnan(table.scores[metric])
    alone = priors is None or priors == Priors(alpha=priors.alpha)
    if not said.all() and (pairs == "calibration" or (target == "process" and not alone)):
        raise DataError(
            f"{int((~said).sum())} of {said.size} rows without {metric}, but a calibration set, or "
            "priors of ρ and η for the rate of the process, need a score on every row. Score those "
            "rows, or remove them."
        )
    posteriors: dict[str, Posterior] = {}
    facts: dict[str, dict[str, Any]] = {}
    notes: list[str] = []
    for name in table.systems or [ALL]:
        own = table.of(name)
        ours = table.labels[own & table.rated]
        share = float(ours.mean()) if ours.size else np.nan
        facts[name] = {"items": int(own.sum()), "rated": int(ours.size), "human": share}
        if labels is None:
            posteriors[name] = _human_alone(table, name, target, priors)
            continue
        if pairs == "sample" and not ours.size:
            raise DataError(
                f"no item of {name} has a human rating. Leave it out, or use the rated items of "
                "the others to learn how often the metric is right:",
                hints={"python": "pairs='calibration'.", "cli": "--pairs calibration."},
            )
        both = (table.rated if pairs == "calibration" else own & table.rated) & said
        counts = Counts.from_labels(
            paired=(table.labels[both] == 1, labels[both]),
            metric=labels[own & said & ~table.rated], pairs=pairs,
        )  # fmt: skip
        unsaid = int((own & ~said).sum())
        if unsaid:
            posteriors[name] = _with_gaps(table, own, labels, said, target, priors)
            notes.append(
                f"{unsaid} of {int(own.sum())} rows{'' if name == ALL else f' of {name}'} without "
                f"{metric}: "
                + (
                    "they form a third category, besides its 0 and 1"
                    if alone
                    else "only human ratings are used for these"
                )
            )
        elif labels[own].min() == labels[own].max() and ours.size:  # it carries no information
            posteriors[name] = _human_alone(table, name, target, priors)
        else:
            known = Counts(human_ones=int(ours.sum()), human_total=ours.size)
            given = known if pairs == "calibration" else None
            posteriors[name] = posterior_of(counts, priors, target, known=given)
        rho, eta = hit_rates(*counts._cells)
        naive = float(labels[own & said].mean()) if (own & said).any() else np.nan
        facts[name] |= {"naive": naive, "rho": rho, "eta": eta}
        notes += _doubts(name, counts, how)
    if pairs == "calibration" and len(table.systems) > 1:
        notes.append(
            "all systems share the errors of the metric as the rated rows show them; fewgold roc "
            "shows whether they do"
        )
    certain = [
        n for n, p in posteriors.items() if isinstance(p, PoolPosterior) and p._rated == p._size
    ]
    if certain:
        notes.append(
            f"people rated every row of {', '.join(certain)}, so that share is known; for the "
            "rate of the system that made them, choose the process as the target"
        )
    return SuccessRates(posteriors, facts, how, tuple(dict.fromkeys(notes)))


def _by_category(
    table: BinaryTable, metrics: list[str], threshold: Cut | str | None, pairs: str, target: str,
    priors: Priors | None,
) -> SuccessRates:  # fmt: skip
    """Several metrics, or bins of one: their combined labels are the category of a row."""
    if pairs == "calibration" or (priors is not None and priors != Priors(alpha=priors.alpha)):
        raise DataError(
            "several metrics and bins have no ρ and η, so they cannot be combined with a "
            "calibration set or priors of ρ and η. Give one metric and a cut, or a prior of alpha "
            "alone."
        )
    codes, how = np.zeros(table.labels.size, dtype=np.int64), []
    for metric in metrics:
        said = ~np.isnan(table.scores[metric])
        own = np.zeros(said.size, dtype=np.int64)  # 0 if it has no label
        if threshold == _BINS:
            if not said.any():
                raise DataError(f"no row has a score in column {metric!r}.")
            own[said] = 1 + bins(table.scores[metric][said])
            how.append(f"{metric} in {int(own.max())} bins")
        else:
            labels, name = _labels(table, metric, threshold)
            own[said] = 1 + labels[said].astype(np.int64)
            how.append(name)
        codes = np.unique(codes * (int(own.max()) + 1) + own, return_inverse=True)[1].ravel()
    rate = (priors or Priors()).alpha
    gaps = any(np.isnan(table.scores[metric]).any() for metric in metrics)
    ordered = len(metrics) == 1 and not gaps
    posteriors: dict[str, Posterior] = {}
    facts: dict[str, dict[str, Any]] = {}
    for name in table.systems or [ALL]:
        mine = table.of(name)
        rows = np.flatnonzero(table.rated[mine])
        ours = table.labels[mine][rows]
        if not rows.size:
            raise DataError(f"no item of {name} has a human rating. Leave it out, or rate some.")
        kinds = np.unique(codes[mine], return_inverse=True)[1].ravel()
        cells = tally(kinds, rows, ours.astype(np.int64))
        prior = (Trend if ordered else Pooled)(rate=rate)
        posteriors[name] = CellPosterior(*cells, target=target, prior=prior)
        facts[name] = {"items": int(mine.sum()), "rated": rows.size, "human": float(ours.mean())}
    count = int(codes.max()) + 1
    notes = (f"each combination of {' and '.join(how)} is a category: {count} of them occur",)
    return SuccessRates(posteriors, facts, " and ".join(how), notes)


def _human_alone(
    table: BinaryTable, system: str, target: str, priors: Priors | None,
    seen: BoolArray | None = None,
) -> Posterior:  # fmt: skip
    """Estimate from the human ratings of the system alone, or from those that were ``seen``."""
    own = table.of(system)
    ours = table.labels[own & (table.rated if seen is None else seen)]
    counts = Counts(human_ones=int(ours.sum()), human_total=ours.size)
    return posterior_of(counts, priors, target, unrated=int(own.sum()) - ours.size)


def _doubts(name: str, counts: Counts, metric: str) -> tuple[str, ...]:
    """Warnings about suspicious 2 × 2 tables."""
    of = "" if name == ALL else f" of {name}"
    tp, fn, fp, tn = counts._cells
    rated = tp + fn + fp + tn
    if rated >= _SOME and not (tp + fn and tn + fp):
        what, other = ("adequate", "failures") if tp + fn else ("inadequate", "passes")
        return (f"all {rated} rated items{of} are {what}: were {other} left empty?",)
    if rated >= _SOME and not (tp + fp and tn + fn):
        return (
            f"{metric} is {int(tn + fn == 0)} for all {rated} rated items{of}, so it carries no "
            "information: is the threshold right?",
        )
    return worse_than_chance(metric + of, counts)


def _labels(table: BinaryTable, metric: str, threshold: Cut | str | None) -> tuple[BoolArray, str]:
    """The metric's label of every row."""
    scores = table.scores[metric]
    said = ~np.isnan(scores)
    if not said.any():
        raise DataError(f"no row has a score in column {metric!r}.")
    labels = np.zeros(scores.size, dtype=bool)  # rows without a verdict are not used
    if threshold is None:
        what = f"scores of {metric!r} without a threshold"
        labels[said] = binary(scores[said], what, _HINT)
        return labels, metric
    if isinstance(threshold, str) and threshold in RULES:
        both = table.rated & said
        cut = choose_cut(table.labels[both], scores[both], threshold, table.signs[metric])
    else:
        cut = Cut.parse(threshold)
    labels[said] = cut(scores[said])
    return labels, f"{metric} {cut}"


def _with_gaps(
    table: BinaryTable, own: BoolArray, labels: BoolArray, said: BoolArray, target: str,
    priors: Priors | None,
) -> Posterior:  # fmt: skip
    """Rows of a system in three categories: the metric's 0, its 1, and no verdict.

    A judge may give no answer more often for bad outputs, or for good ones: the rated rows show
    which.
    """
    codes = np.where(said, labels.astype(np.int64), 2)[own]
    rows = np.flatnonzero(table.rated[own])
    counts = tally(codes, rows, table.labels[own][rows].astype(np.int64), count=3)
    if priors is not None and priors != Priors(alpha=priors.alpha):
        return parts_posterior(*counts, priors)
    return CellPosterior(*counts, target=target, prior=Pooled((priors or Priors()).alpha))


def success_rates_of(
    counts: Counts, priors: Priors | None = None, target: str = "pool"
) -> SuccessRates:
    """The success rate of one system from its counts, as `success_rates` does for a table.

    Examples
    --------
    >>> counts = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000)
    >>> success_rates_of(counts).to_frame().loc[0, ["mean", "sd"]].astype(float).round(3).tolist()
    [0.597, 0.042]
    """
    check_choice("target", target, ("pool", "process"))
    ones, rated = int(counts._adequate), int(counts._adequate + counts._inadequate)
    outside = counts.pairs == "calibration"  # the paired items are not part of the test set
    said = int(counts.metric_ones) + (0 if outside else int(counts.tp + counts.fp))
    scored = int(counts.metric_total) + (0 if outside else int(counts._paired_total))
    rho, eta = hit_rates(*counts._cells)
    facts: dict[str, Any] = {
        "items": rated + int(counts.metric_total), "rated": rated,
        "human": ones / rated if rated else np.nan,
        "naive": said / scored if scored else np.nan, "rho": rho, "eta": eta,
    }  # fmt: skip
    notes: tuple[str, ...] = ()
    if priors is not None and priors._known_rates is not None:
        facts |= {"rho": priors.rho, "eta": priors.eta}
    elif scored and not int(counts._paired_total):
        notes = (
            "no item was rated by both people and the metric, so how often it is right is "
            "unknown: the result rests on the priors alone",
        )
    elif scored:
        notes = _doubts(ALL, counts, "the metric")
    posterior = posterior_of(counts, priors, target)
    return SuccessRates({ALL: posterior}, {ALL: facts}, "the metric" if scored else "", notes)


def success_rates_chosen(
    frame: pd.DataFrame,
    *,
    human: str,
    chosen: str | Chosen,
    metric: str | Sequence[str] | None = None,
    threshold: Cut | str | None = None,
    system: str | None = None,
    adequate: Cut | str | None = None,
    target: str = "pool",
    priors: Priors | None = None,
) -> SuccessRates:
    """Like `success_rates`, for rated rows that are not a simple random sample.

    ``chosen`` says how the rows of each system were chosen, as in `fewgold.estimate_mean`. Rows
    with unequal chances and whole documents enter through effective counts (`BinaryPosterior`).
    """
    how = Chosen.parse(chosen)
    if how.how == "random":
        made = success_rates(
            frame, human=human, metric=metric, threshold=threshold, system=system,
            adequate=adequate, target=target, priors=priors,
        )  # fmt: skip
        told = [
            ("" if name == ALL else f"{name}: ") + how.sentence(fact["rated"], fact["items"])
            for name, fact in made.facts.items()
        ]
        return replace(made, notes=(*made.notes, *told))
    names = [] if metric is None else [metric] if isinstance(metric, str) else list(metric)
    if threshold is None:
        for name in names:
            column = column_of(frame[name], name)
            binary(column.values[column.finite], f"scores of {name!r} without a threshold", _HINT)
    labels = [ALL] * len(frame) if system is None else texts_of(frame[system])
    posteriors: dict[str, Posterior] = {}
    facts: dict[str, dict[str, Any]] = {}
    notes: list[str] = []
    said = ""
    for label in dict.fromkeys(labels):
        part = frame[np.array(labels) == label]
        found = read_labelled(
            part, human=human, chosen=how, metrics=names, system="none", texts=[], document="none"
        )
        sample, scores = Sample.labelled(found)
        given = Ratings(sample, scores)
        ratings = given if adequate is None else given.cut(adequate)
        lively = tuple(name for name in names if name in sample.pool.metrics)
        own = BinaryPosterior(lively, threshold=threshold, target=target, priors=priors).estimate(
            ratings
        )
        posteriors[label] = own
        record = own.to_dict()
        facts[label] = {
            "items": len(sample.pool), "rated": ratings.n, "human": float(ratings.scores.mean())
        }  # fmt: skip
        if len(lively) == 1:
            values = column_of(part[lively[0]], lively[0]).values
            values = values[np.isfinite(values)]
            cut = threshold if threshold is None or isinstance(threshold, Cut) else None
            plain = np.isin(values, (0.0, 1.0)).all()
            naive = cut(values).mean() if cut is not None else values.mean() if plain else np.nan
            rates = {name: record.get(name) for name in ("rho", "eta")}
            facts[label] |= {"naive": float(naive), **rates}
        said = said or str(record["metric"] or ", ".join(lively))
        head = "" if label == ALL else f"{label}: "
        notes += [f"{head}{note}" for note in own.remarks]
    return SuccessRates(posteriors, facts, said, tuple(notes))


# Naive and corrected estimates side by side ---

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
        """One row per metric, system and method (``how``).

        ``rated`` human ratings and ``scored`` ratings by the metric went into the mean, sd and
        interval. If all items of the system have a human score, ``truth`` is their share of
        adequate ones, ``error`` the mean minus that, and ``covered`` whether the interval contains
        it.
        """
        return self.frame

    def wide(self, how: str = "own") -> pd.DataFrame:
        """Mean and sd by humans and by each metric, one row per system, as in the thesis.

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

    def summary(self) -> str:
        """A readable table: people, then each metric at face value and corrected."""
        lines = []
        people = self.frame[self.frame["how"] == "human"].set_index("system")
        for metric, part in self.frame[self.frame["how"] != "human"].groupby("metric", sort=False):
            cuts = list(dict.fromkeys(part["cut"]))
            lines.append(
                f"{metric!s} " + (cuts[0] if len(cuts) == 1 else "(a cut for each system)")
            )
            table = part.pivot(index="system", columns="how", values="mean")
            spread = part.pivot(index="system", columns="how", values="sd")
            ways = [how for how in HOWS if how in table.columns]
            order = [str(name) for name in people.index if name in table.index]
            wide = max(6, *(len(name) for name in order))
            heads = ["people", *ways]
            lines.append(f"{'system':{wide}s}" + "".join(f"  {head:>15s}" for head in heads))
            for name in order:
                cells: list[tuple[Any, Any]] = [(people.at[name, "mean"], people.at[name, "sd"])]
                cells += [(table.at[name, how], spread.at[name, how]) for how in ways]
                lines.append(f"{name:{wide}s}" + "".join(f"  {m:7.3f} ± {s:.3f}" for m, s in cells))
            lines.append("")
        lines.append(
            "posterior mean ± sd; naive: the metric taken at face value; own: corrected with "
            "the rated rows of the system"
        )
        if (self.frame["how"] == "pooled").any():
            lines.append(
                "pooled: all systems share the metric's error rates; transfer: those of the other "
                "systems only"
            )
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None, *, how: str = "own") -> Axes:
        """Corrected rates with intervals, and each metric taken at face value."""
        from fewgold.plots import corrected_forest

        check_choice("how", how, HOWS[2:])
        keys = ["metric", "system"]
        naive = self.frame[self.frame["how"] == "naive"].set_index(keys)["mean"].rename("naive")
        frame = self.frame[self.frame["how"] == how].join(naive, on=keys)
        if frame.empty:
            raise FewgoldError(f"the table has no estimates {how!r}.")
        several = frame["metric"].nunique() > 1
        names = frame["system"] + (", " + frame["metric"] if several else "")
        groups = frame["system"].map({s: k for k, s in enumerate(dict.fromkeys(frame["system"]))})
        frame = frame.assign(system=names, score=frame["mean"], group=groups)
        frame = frame.sort_values("group", kind="stable")
        if not several:
            frame = frame.drop(columns="group")
        return corrected_forest(frame, ax, label="success rate", confidence=self.confidence)

    def errors(self) -> pd.DataFrame:
        """Error of each method compared with all human ratings: one row per metric and method.

        Mean and largest absolute error over the systems, ``kendall`` the rank correlation of the
        means with the truth (NaN where either is constant), ``coverage`` the share of intervals
        that contain the truth.
        """
        import pandas as pd
        from scipy.stats import kendalltau

        known = self.frame[self.frame["truth"].notna()]
        if known.empty:
            raise FewgoldError(
                "errors need systems with human ratings of all items: hold some back with rated=."
            )
        rows = []
        for (metric, how), part in known.groupby(["metric", "how"], sort=False):
            several = part["mean"].nunique() > 1 and part["truth"].nunique() > 1
            tau = float(kendalltau(part["mean"], part["truth"])[0]) if several else np.nan
            rows.append({
                "metric": metric, "how": how, "systems": len(part),
                "mean_error": part["error"].abs().mean(),
                "largest_error": part["error"].abs().max(), "kendall": tau,
                "mean_sd": part["sd"].mean(), "coverage": part["covered"].astype(float).mean(),
            })  # fmt: skip
        return pd.DataFrame(rows)


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
    """Success rates of systems: by humans, by metrics taken at face value, and corrected.

    The methods (``how``):

    - ``human``: the human ratings of the system alone.
    - ``naive``: the labels of the metric as if a human had given them.
    - ``own``: ρ and η from the rated items of the system, which also inform about α; the metric
      adds its labels of the unrated items.
    - ``pooled``: like own, but all systems share ρ and η.
    - ``transfer``: no human rating of the system is used; ρ and η come from the rated items of
      the other systems.
    - ``known``: like own, but ρ and η are given.

    Parameters
    ----------
    frame
        One row per item, or per item and system. Items without a human score are unrated.
    human, metrics, system, adequate, rule, cuts, per_system, strict, orientation
        As in `roc_table`. Thresholds are chosen on the rated items.
    rated
        For trials on fully rated data: how many ratings of each system, drawn at random, are used,
        or a column that marks those used with 1. The others are held back for ``truth``.
    known
        (ρ, η) of metrics, if they are known.
    target
        ``"process"``: the rate of the process that made the items, as in the thesis. ``"pool"``:
        the share in this test set, which is also ``truth``; its sds are smaller. Naive estimates
        are always for the process.
    confidence
        Confidence of the credible intervals.
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
    seen = _ratings_used(table, frame, rated, rng)
    systems = table.systems or [ALL]
    rows = []
    for name in systems:
        if not (table.of(name) & seen).any():
            raise DataError(f"no item of {name} is rated.")
        posterior = _human_alone(table, name, target, None, seen)
        facts = {"metric": HUMAN, "system": name, "cut": ""}
        rows.append(facts | _estimate_row("human", posterior))
    for metric in table.scores:
        given = (cuts or {}).get(metric)
        shared = None if per_system else _cut_of(table, metric, ALL, seen, rule, given)
        chosen = {n: shared or _cut_of(table, metric, n, seen, rule, given) for n in systems}
        counts = _count_systems(table, metric, chosen, seen)
        for name, own in counts.items():
            facts = {"metric": metric, "system": name, "cut": str(chosen[name])}
            rows.append(facts | _estimate_row("naive", AlphaPosterior(_at_its_word(own))))
            gaps = int(np.isnan(table.scores[metric][table.of(name)]).sum())
            if target == "pool" and gaps:
                raise DataError(
                    f"{metric!r} has no score for {gaps} items of {name}: the share in the test "
                    "set (target 'pool') needs scores for all items."
                )
            for how, those, priors in _corrections(counts, name, (known or {}).get(metric)):
                rows.append(facts | _estimate_row(how, posterior_of(those, priors, target)))
    return NaiveTable(_frame_of(rows, table, confidence), confidence)


def _count_systems(
    table: BinaryTable, metric: str, cuts: dict[str, Cut], seen: BoolArray
) -> dict[str, Counts]:
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
        found[name] = Counts.from_labels(
            human=labels[rated & ~scored], paired=(labels[both], ones[both]),
            metric=ones[scored & ~rated],
        )  # fmt: skip
    return found


def _at_its_word(own: Counts) -> Counts:
    """Treat the metric's labels as if they were human ones."""
    ones = own.metric_ones + own.tp + own.fp
    return Counts(human_ones=ones, human_total=own.metric_total + own._paired_total)


def _corrections(
    counts: Mapping[str, Counts], name: str, known: tuple[float, float] | None
) -> Iterator[tuple[str, Counts, Priors | None]]:
    """Corrections of the metric's errors on the system ``name``: how, counts and priors."""
    own = counts[name]
    yield "own", own, None
    alone = Counts(
        human_ones=own._adequate, human_total=own._adequate + own._inadequate,
        metric_ones=own.metric_ones, metric_total=own.metric_total,
    )  # fmt: skip
    if len(counts) > 1:
        # The labels of paired items inform about this system's α, and those of all systems about
        # the shared ρ and η: as many factors of the likelihood as with "own".
        cells = np.array([each._cells for each in counts.values()], dtype=np.int64).sum(0)
        yield "pooled", _with_cells(alone, cells), None
        said = _at_its_word(own)
        labels = Counts(metric_ones=said.human_ones, metric_total=said.human_total)
        yield "transfer", _with_cells(labels, cells - own._cells), None
    if known is not None:
        rho, eta = map(float, known)
        if rho + eta <= 1:
            raise FewgoldError(
                f"a known metric must have rho + eta above 1; got {rho:g} and {eta:g}. If it "
                "points the wrong way, give it the orientation -1 and the rates 1 - rho and "
                "1 - eta."
            )
        yield "known", alone, Priors(rho=rho, eta=eta)


def _with_cells(counts: Counts, cells: IntArray) -> Counts:
    """The same counts with a 2 × 2 table that informs only about ρ and η."""
    return replace(
        counts, **dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)), pairs="calibration"
    )


def _estimate_row(how: str, posterior: Any) -> dict[str, Any]:
    """A row without the truth; ρ and η are those of the paired items, or the known ones."""
    counts, priors = posterior.counts, posterior.priors
    rho, eta = hit_rates(*counts._cells)
    if priors is not None and priors._known_rates is not None:
        rho, eta = priors._known_rates
    rated, scored = int(counts._adequate + counts._inadequate), int(counts.metric_total)
    if how == "naive":
        rated, scored = 0, rated
    row = {"how": how, "rho": rho, "eta": eta, "rated": rated, "scored": scored}
    return row | {"posterior": posterior}


def _frame_of(rows: list[dict[str, Any]], table: BinaryTable, confidence: float) -> pd.DataFrame:
    """Rows with mean, sd, interval and, if all items are rated, the truth."""
    import pandas as pd

    for row in rows:
        posterior = row.pop("posterior")
        low, high = (float(end) for end in posterior.interval(confidence))
        # NaN where an item has no human score
        truth = float(table.labels[table.of(row["system"])].mean())
        row |= {"mean": float(posterior.mean), "sd": float(posterior.sd), "low": low, "high": high}
        row |= {"truth": truth, "error": row["mean"] - truth}
        row["covered"] = pd.NA if np.isnan(truth) else bool(low <= truth <= high)
    return pd.DataFrame(rows).astype({"covered": "boolean"})


def _ratings_used(
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
                f"{rated} ratings of each system were requested, but {name} has only {rows.size}."
            )
        seen[generator.choice(rows, rated, replace=False)] = True
    return seen


def _cut_of(
    table: BinaryTable, metric: str, system: str, seen: BoolArray, rule: str,
    given: Cut | str | None,
) -> Cut:  # fmt: skip
    """The cut of a metric, chosen on the rated items of a system or of all."""
    if given is not None:
        return Cut.parse(given)
    rows = seen & ~np.isnan(table.scores[metric]) & table.of(system)
    if not rows.any():
        raise DataError(f"no rated item of {system} has a score of {metric!r}.")
    return choose_cut(table.labels[rows], table.scores[metric][rows], rule, table.signs[metric])
