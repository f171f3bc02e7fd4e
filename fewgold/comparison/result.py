"""The result of a comparison: scores, significant differences, groups and ranks; text and plots."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold import plots
from fewgold.bounds.approximate import student_quantile
from fewgold.common import text as wording
from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import check_choice, check_confidence
from fewgold.common.statistics import adjusted_pairs
from fewgold.common.text import html_table, plain_value
from fewgold.comparison.pairs import Pairs
from fewgold.comparison.raters import Raters
from fewgold.errors import DataError
from fewgold.estimate import LinearEstimate
from fewgold.report.sections import figures_of, save_result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


# Significant differences, groups and ranks from the differences of pairs ---

DRAWS = 20_000


def order_of(value: FloatArray, higher: bool) -> IntArray:
    """Systems from best to worst by their mean difference from the others: (..., S)."""
    mean = value.mean(-1)
    return np.asarray(np.argsort(-mean if higher else mean, axis=-1, kind="stable"))


def groups_of(beats: BoolArray, order: IntArray) -> IntArray:
    """Group of each system, 1 being the best: (..., S), in the order of the systems.

    A new group starts only if every system above is significantly better than every one below.
    """
    size = order.shape[-1]
    rows = np.take_along_axis(beats, order[..., :, None], axis=-2)
    ranked = np.take_along_axis(rows, order[..., None, :], axis=-1)
    groups = np.ones(order.shape, dtype=np.int64)
    for k in range(1, size):
        groups[..., k:] += np.asarray(ranked[..., :k, k:].all((-1, -2)))[..., None]
    found = np.empty_like(groups)
    np.put_along_axis(found, order, groups, axis=-1)
    return found


def rank_intervals(beats: BoolArray) -> tuple[IntArray, IntArray]:
    """First and last possible rank of each system: (..., S) both.

    All these intervals jointly contain the true ranks with the family-wise confidence of the tests:
    a system ranks below those that beat it, and above those that it beats.
    """
    size = beats.shape[-1]
    return np.asarray(1 + beats.sum(-2)), np.asarray(size - beats.sum(-1))


def rank_probabilities(pairs: Pairs, higher: bool, seed: int = 0) -> FloatArray:
    """P(system has rank k), systems as rows: (S, S), by draws around the estimates.

    The true scores are drawn from a multivariate Student distribution around the estimates, with
    the variances of the pairwise differences. Pairs with the same scores everywhere are drawn as
    equal, and ties are broken at random.
    """
    value = pairs.value
    size = len(value)
    known = np.isfinite(pairs.variance)
    finite = np.where(known, pairs.variance, 0.0)
    unknown = 1e8 * (float(np.abs(value).max()) ** 2 + float(finite.max())) + 1e-300
    spread = np.where(known, finite, unknown)  # all orders are equally likely
    # Covariance of the scores about their mean, from the variances of differences (Torgerson 1952);
    # with gaps it may have negative eigenvalues, which are set to 0.
    centre = np.eye(size) - 1 / size
    values, axes = np.linalg.eigh(-0.5 * centre @ spread @ centre)
    root = axes * np.sqrt(np.clip(values, 0.0, None))
    off = ~np.eye(size, dtype=bool)
    df = max(float(pairs.df[off].min()), 1.0)
    rng = np.random.default_rng(seed)
    scale = np.sqrt(rng.chisquare(df, (DRAWS, 1)) / df)
    drawn = value.mean(-1) + rng.standard_normal((DRAWS, size)) @ root.T / scale
    drawn = drawn + rng.random(drawn.shape) * 1e-9 * (np.abs(drawn).max() + 1e-300)
    places = np.argsort(-drawn if higher else drawn, axis=-1)
    counts = np.zeros((size, size))
    for k in range(size):
        counts[:, k] = np.bincount(places[:, k], minlength=size)
    return counts / DRAWS


CORRECTIONS = ("holm", "fdr", "none")


def better(value: FloatArray, adjusted: FloatArray, level: float, higher: bool) -> BoolArray:
    """True where the row is significantly better than the column: (..., S, S)."""
    ahead = value > 0 if higher else value < 0
    return np.asarray((adjusted <= level) & ahead)


# The result ---

#: Name and description of each correction.
PLOTS = ("forest", "differences", "ranks")
_LEVELS = (0.05, 0.01, 0.001)
_CORRECTED = {
    "holm": ("by Holm", "Holm: no false finding among all"),
    "fdr": ("by FDR", "FDR: share of false findings"),
    "none": ("not corrected", "each tested separately, not corrected"),
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems compared; made by `compare`. Frames list the systems from best to worst.

    Parameters
    ----------
    systems
        S names, in the order of the table.
    estimates
        The score of each system by itself.
    pairs
        Differences (S, S), row minus column.
    basis, shared, factor
        (S, S) the basis of each difference, the number of shared segments, and the factor by which
        its variance would grow on different ones.
    higher_is_better, level, correction
        As in `compare`.
    span
        Length of the rating scale, if known.
    people, shift
        Effects of the raters, and what their biases add to each system (S,).
    facts
        Target, unit, design and counts.
    notes
        Remarks for the reader.
    told
        Further parts of the signature.
    """

    systems: tuple[str, ...]
    estimates: tuple[LinearEstimate, ...]
    pairs: Pairs
    basis: NDArray[np.str_]
    shared: IntArray
    factor: FloatArray
    higher_is_better: bool
    level: float
    correction: str
    span: float | None
    people: Raters | None
    shift: FloatArray | None
    facts: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        n, size = self.facts["n"], self.facts["pool_size"]
        return f"Comparison({len(self.systems)} systems on {n} of {size} segments)"

    def _repr_html_(self) -> str:
        """The ranking in a notebook, with groups and intervals."""
        scores, ranking = self.scores(), self.ranking()
        digits = decimals(float(np.nanmin(scores["se"])))
        both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
        rows = [
            (
                own.system, "–".join(map(str, sorted({place.rank_low, place.rank_high}))),
                place.group, f"{own.score:.{digits}f}",
                f"{own.low:.{digits}f} to {own.high:.{digits}f}", f"{place.p_best:.3f}",
            )
            for place, own in both
        ]  # fmt: skip
        level = f"{100 * self.confidence:.10g}% interval"
        heads = ("system", "rank", "group", "score", level, "P(best)")
        notes = (_significant(self), *self.remarks)
        return html_table(repr(self), rows, heads, notes)

    @property
    def confidence(self) -> float:
        """Confidence of the intervals: 1 minus the level of the tests."""
        return 1 - self.level

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and warnings that follow from the results."""
        each = [e.ratings.warnings for e in self.estimates]
        told = (
            note if all(note in other for other in each) else f"{name}: {note}"
            for name, own in zip(self.systems, each, strict=True)
            for note in own
        )
        found = list(dict.fromkeys((*self.notes, *told)))
        sign = -1 if self.higher_is_better else 1
        scores = sign * np.array([float(self.estimates[k].value) for k in self._order])
        if (np.diff(scores) < 0).any():
            found.append(
                "the ranking follows the differences, which are more precise; the separately "
                "estimated scores are not all in that order"
            )
        if self.pairs.spreadless.any():
            i, j = (int(k) for k in np.argwhere(self.pairs.spreadless)[0])
            found.append(
                f"the ratings of {self.systems[i]} or {self.systems[j]}, or their differences, are "
                "all equal, which says nothing about the error of the difference"
                + ("" if self.span else "; give the limits of the scale to have an interval")
            )
        return tuple(found)

    @cached_property
    def _order(self) -> IntArray:
        """Systems from best to worst, as positions in ``systems``."""
        return order_of(self.pairs.value, self.higher_is_better)

    @cached_property
    def _adjusted(self) -> FloatArray:
        """P-values after correction: (S, S)."""
        return adjusted_pairs(self.pairs.p_values(), self.correction)

    @cached_property
    def _beats(self) -> BoolArray:
        """Which system is better than which at the family-wise level, the basis of the ranks."""
        sure = adjusted_pairs(self.pairs.p_values(), "holm")
        return better(self.pairs.value, sure, self.level, self.higher_is_better)

    @cached_property
    def _p_better(self) -> FloatArray:
        """P(row better than column), ½ on the diagonal: (S, S)."""
        less = self.pairs.less()
        chance = 1 - less if self.higher_is_better else less
        np.fill_diagonal(chance, 0.5)
        return chance

    def scores(self) -> pd.DataFrame:
        """One row per system: its separately estimated score, with an interval.

        Do not compare these intervals to test differences, which are far more precise if systems
        were rated on the same segments: see `differences`.
        """
        import pandas as pd

        rows = []
        for k in self._order:
            made = self.estimates[k]
            low, high = made.interval(self.confidence)
            method = made.method.removesuffix("-higher").removesuffix("-lower")
            numbers = (float(x) for x in (made.value, made.se, low, high))
            rows.append((self.systems[k], *numbers, made.n, method))
        columns = ["system", "score", "se", "low", "high", "ratings", "method"]
        return pd.DataFrame(rows, columns=columns)

    def differences(self) -> pd.DataFrame:
        """One row per pair, the better of the two by the ranking first.

        ``difference`` is the score of ``first`` minus that of ``second`` with its interval (of this
        pair alone), ``p_better`` the probability that ``first`` is truly better, ``p`` the p-value
        of no difference and ``p_adjusted`` the same after correction. ``n`` counts the segments
        that both were rated on; ``basis`` says whether these alone were used ("shared") or all that
        each was rated on, of which some ("partly") or too few to count ("separate") are shared.
        ``apart`` is the factor by which the variance would grow if the two had been rated on
        different segments. ``rater_shift`` is what an uneven distribution of raters adds to the
        difference.
        """
        import pandas as pd

        above = np.triu_indices(len(self.systems), 1)
        first, second = at = self._order[above[0]], self._order[above[1]]
        value, half = self.pairs.value[at] + 0.0, self._half_widths[at]  # 0 for −0
        columns = {
            "first": [self.systems[k] for k in first],
            "second": [self.systems[k] for k in second],
            "difference": value,
            "se": self.pairs.se[at],
            "low": value - half,
            "high": value + half,
            "df": self.pairs.df[at],
            "p_better": self._p_better[at],
            "p": self.pairs.p_values()[at],
            "p_adjusted": self._adjusted[at],
            "significant": self._adjusted[at] <= self.level,
            "n": self.shared[at],
            "basis": self.basis[at].tolist(),
            "apart": self.factor[at],
        }
        if self.shift is not None:
            columns["rater_shift"] = self.shift[first] - self.shift[second]
        return pd.DataFrame(columns)

    @cached_property
    def _half_widths(self) -> FloatArray:
        """Half-widths of the intervals of differences: (S, S)."""
        se = self.pairs.se
        known = np.isfinite(se)
        quantile = student_quantile(np.maximum(self.pairs.df, 1.0), self.confidence)
        half = np.where(known, quantile * np.where(known, se, 0.0), np.inf)
        if self.span is not None:
            # The rule of three, as in any estimate whose ratings show no spread: unrated segments
            # may differ by the whole scale.
            weight = np.max([e.design.weights.max() for e in self.estimates])
            widest = 2 * self.span * (1 - (self.level / 2) ** weight)
            half = np.where(self.pairs.spreadless, widest, half)
        return np.asarray(half)

    def ranking(self) -> pd.DataFrame:
        """One row per system, the best first.

        ``group`` numbers the groups of systems that cannot be told apart: a new one starts only if
        every system above is significantly better than every one below. ``rank_low`` to
        ``rank_high`` are the possible ranks of a system; all these intervals hold jointly with the
        confidence 1 − level. ``p_best`` is the probability of being the best, ``advantage`` the
        mean difference from the others, positive for better.
        """
        import pandas as pd

        low, high = rank_intervals(self._beats)
        group = groups_of(self._beats, self._order)
        chance = self.rank_probabilities().to_numpy()
        size = len(self.systems)
        sign = 1 if self.higher_is_better else -1
        return pd.DataFrame(
            {
                "rank": np.arange(1, size + 1),
                "system": [self.systems[k] for k in self._order],
                "group": group[self._order],
                "rank_low": low[self._order],
                "rank_high": high[self._order],
                "mean_rank": chance @ np.arange(1, size + 1),
                "p_best": chance[:, 0],
                "advantage": sign * self.pairs.value.sum(-1)[self._order] / (size - 1),
                "wins": self._beats.sum(-1)[self._order],
                "losses": self._beats.sum(-2)[self._order],
            }
        )

    def needed(self, power: float = 0.8) -> pd.DataFrame:
        """Approximate number of rated segments needed to resolve the pairs still unresolved.

        With this number, a difference of the observed size is significant with probability
        ``power``: it is then Φ⁻¹(1 − a/2) + Φ⁻¹(power) standard errors, where a is the level,
        divided by the number of remaining pairs for Holm's correction. Standard errors are
        proportional to √(1/n − 1/N), all else equal. For a pair that was compared on shared
        segments, n counts these; otherwise it is the number rated for each of the two (their
        harmonic mean), of pools of N. ``segments`` and ``more`` (beyond those already rated for the
        pair) are empty if the whole pool is too small, or if the spread is unknown.
        """
        import pandas as pd
        from scipy.special import ndtri

        check_confidence(power)
        frame = self.differences()
        frame = frame[~frame["significant"]]
        level = self.level / max(len(frame), 1) if self.correction == "holm" else self.level
        times = float(ndtri(1 - level / 2) + ndtri(power))
        own = dict(zip(self.systems, self.estimates, strict=True))
        rows: Any = frame.itertuples()
        found = []
        for row in rows:
            n, size = float(row.n), float(self.facts["pool_size"])
            if row.basis != "shared":
                two = own[row.first], own[row.second]
                n = 2 / sum(1 / e.n for e in two)
                size = 2 / sum(1 / e.design.size for e in two)
            left_out = 0.0 if self.facts["target"] == "process" else 1 / size
            segments: int | None = None
            if np.isfinite(row.se) and row.se > 0 and row.difference != 0 and 1 / n > left_out:
                unit = row.se**2 / (1 / n - left_out)
                wanted = 1 / ((row.difference / times) ** 2 / unit + left_out)
                if wanted < (size - 0.5 if left_out else 1e9):
                    segments = max(int(np.ceil(wanted - 1e-9)), int(n) + 1)
            more = None if segments is None else segments - int(n)
            found.append((row.first, row.second, row.difference, row.se, segments, more))
        columns = ["first", "second", "difference", "se", "segments", "more"]
        made = pd.DataFrame(found, columns=columns)
        return made.astype({"segments": "Int64", "more": "Int64"})

    def rank_probabilities(self) -> pd.DataFrame:
        """P(the system has rank k), systems as rows and ranks as columns."""
        import pandas as pd

        chance = self._chances[self._order]
        names = [self.systems[k] for k in self._order]
        ranks = pd.Index(np.arange(1, len(names) + 1), name="rank")
        return pd.DataFrame(chance, index=pd.Index(names, name="system"), columns=ranks)

    @cached_property
    def _chances(self) -> FloatArray:
        return rank_probabilities(self.pairs, self.higher_is_better)

    def raters(self) -> pd.DataFrame:
        """One row per rater: ratings, mean, bias and spread."""
        if self.people is None:
            raise DataError(
                "the raters are unknown. Name the column of raters, or several columns of scores, "
                "one per rater."
            )
        return self.people.to_frame()

    def signature(self) -> str:
        """How the numbers were made, in one line."""
        told = self.estimates[0].ratings._signed()
        scores = b"".join(e.ratings.scores.tobytes() for e in self.estimates)
        above = self.basis[np.triu_indices(len(self.systems), 1)]
        parts: dict[str, Any] = {
            "cmp": "+".join(sorted(set(above.tolist()), reverse=True)),
            "systems": len(self.systems),
            "design": self.facts["design"],
            "n": self.facts["n"],
            "N": self.facts["pool_size"],
            "target": self.facts["target"],
            "unit": self.facts["unit"],
            "control": "metrics" if float(self.pairs.gain) > 0 else "none",
            "test": self.correction,
            "level": f"{self.level:.10g}",
            **{k: told[k] for k in ("seed", "pool")},
            "y": hashlib.sha256(scores).hexdigest()[:6],
            "v": told["v"],
            **{k: told[k] for k in ("scale", "orient", "chosen") if k in told},
            **self.told,
        }
        if not self.higher_is_better:
            parts["better"] = "lower"
        return "|".join(f"{k}:{v}" for k, v in parts.items())

    def summary(self) -> str:
        """A readable summary of the ranking and its caveats."""
        facts, scores, ranking = self.facts, self.scores(), self.ranking()
        about = (
            f"all {facts['pool_size']} segments"
            if facts["target"] == "pool"
            else f"new {facts['unit']}s like these"
        )
        digits = decimals(float(np.nanmin(scores["se"])))
        level = f"{100 * self.confidence:.10g}%"
        wide = max(6, *(len(name) for name in scores["system"])) + 2
        lines = [
            f"{len(self.systems)} systems, {facts['n']} segments rated; about {about}",
            "",
            f"{'rank':<6}{'system':<{wide}}{'score':>8}  {level + ' interval':<18}{'P(best)':>7}",
        ]
        group = 0
        both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
        for place, own in both:
            if place.group != group and group:
                lines.append("-" * (wide + 41))
            group = place.group
            ranks = "–".join(map(str, sorted({place.rank_low, place.rank_high})))
            interval = f"{own.low:.{digits}f} to {own.high:.{digits}f}"
            lines.append(
                f"{ranks:<6}{own.system:<{wide}}{own.score:>8.{digits}f}  {interval:<18}"
                f"{place.p_best:>7.3f}"
            )
        lines += ["", f"{_significant(self)} ({_CORRECTED[self.correction][1]})"]
        if float(self.pairs.gain) > 0:
            gain = 100 * float(self.pairs.gain)
            lines.append(f"metrics removed {gain:.0f}% of the variance of differences")
        if (apart := _apart(self)) is not None:
            lines.append(f"rated on different {apart}")
        people = self.people
        if people is not None:
            lines.append(
                f"{len(people.names)} raters: Krippendorff's α {people.alpha:.2f}, biases from "
                f"{np.nanmin(people.bias):+.2f} to {np.nanmax(people.bias):+.2f}"
                if np.isfinite(people.bias).any()
                else f"{len(people.names)} raters, no output rated by two of them"
            )
        lines += [f"note: {note}" for note in self.remarks]
        return "\n".join([*lines, self.signature()])

    def to_dict(self) -> dict[str, Any]:
        """The results in plain values, for JSON; None for values that are not finite."""
        chance = self.rank_probabilities()
        record = {
            **self.facts,
            "systems": len(self.systems),
            "higher_is_better": self.higher_is_better,
            "level": self.level,
            "correction": self.correction,
            "control_gain": float(self.pairs.gain),
            "scores": self.scores().to_dict("records"),
            "differences": self.differences().to_dict("records"),
            "ranking": self.ranking().to_dict("records"),
            "rank_probabilities": {str(s): chance.loc[s].tolist() for s in chance.index},
            "raters": None if self.people is None else self.people.to_dict(),
            "notes": list(self.remarks),
            "signature": self.signature(),
        }
        found: dict[str, Any] = plain_value(record)
        return found

    def plot(self, kind: str = "forest", ax: Axes | None = None) -> Axes:
        """Draw ``"forest"`` (scores), ``"differences"`` (all pairs) or ``"ranks"``."""
        import pandas as pd

        check_choice("kind", kind, PLOTS)
        if kind == "forest":
            names = self.facts["human"]
            way = "higher" if self.higher_is_better else "lower"
            label = f"{' and '.join(names) if len(names) < 3 else 'score'} ({way} is better)"
            frame = self.scores().assign(group=self.ranking()["group"])
            return plots.forest(frame, ax, label=label, confidence=self.confidence)
        if kind == "ranks":
            chances = self.rank_probabilities()
            return plots.rank_intervals(self.ranking(), chances, ax, confidence=self.confidence)
        at = np.ix_(self._order, self._order)
        names = [self.systems[k] for k in self._order]
        value, half = self.pairs.value[at], self._half_widths[at]
        depth = (self._adjusted[at][..., None] <= np.array(_LEVELS)).sum(-1)
        np.fill_diagonal(depth, 0)
        known = half[np.isfinite(half) & (half > 0)]
        digits = decimals(float(np.median(known))) if known.size else 2
        cells = [
            [
                f"{v:+.{digits}f}\n±{h:.{digits}f}".replace("-", "−").replace("inf", "?")
                for v, h in zip(*rows, strict=True)
            ]
            for rows in zip(value, half, strict=True)
        ]
        return plots.significance_matrix(
            pd.DataFrame(self._p_better[at], index=names, columns=names), depth, ax, levels=_LEVELS,
            means=self.scores()["score"].to_numpy(), cells=cells,
            said=f"row minus column, ± for {100 * self.confidence:.10g}%",
            note=_CORRECTED[self.correction][0],
        )  # fmt: skip

    def save(self, folder: str | Path) -> list[Path]:
        """Write all tables as CSV and, if matplotlib is installed, the plots as PNG."""
        frames = {
            "scores": self.scores(),
            "differences": self.differences(),
            "ranking": self.ranking(),
            "rank_probabilities": self.rank_probabilities().reset_index(),
        }
        if self.people is not None:
            frames["raters"] = self.people.to_frame()
        return save_result(folder, frames, {}, figures_of(self.plot, list(PLOTS)))


def findings(result: Comparison) -> list[str]:
    """The main findings: significant differences first, then the gain by metrics and pairing."""
    found = [f"{_significant(result)} ({_CORRECTED[result.correction][0]})."]
    gain = float(result.pairs.gain)
    if gain > 0:
        found.append(f"Metrics removed {100 * gain:.0f}% of the variance of the differences.")
    if (apart := _apart(result)) is not None:
        found.append(f"Rated on different {apart}.")
    return found


def _significant(result: Comparison) -> str:
    pairs = result.differences()
    sure = int(pairs["significant"].sum())
    of = f"{sure} of {wording.counted(len(pairs), 'difference')}"
    return f"{of} {'is' if sure == 1 else 'are'} significant at {result.level:g}"


def _apart(result: Comparison) -> str | None:
    """The cost of separate samples; None if no pair shares enough segments."""
    factor = result.factor[np.isfinite(result.factor) & (result.basis == "shared")]
    if not factor.size:
        return None
    unit, times = result.facts["unit"], np.median(factor)
    return f"{unit}s, differences would have {times:.1f} times the variance"


def needed_line(row: Mapping[str, Any]) -> str:
    """A line on the segments needed to tell two systems apart; ``row`` is from `Comparison.needed`.

    >>> row = {"first": "A", "second": "B", "difference": 0.31, "se": 0.2}
    >>> needed_line({**row, "segments": 240, "more": 90})
    'A vs B: not resolved; a difference of this size takes about 240 segments, 90 more'
    """
    told = f"{row['first']} vs {row['second']}: not resolved"
    if row["difference"] == 0:
        return f"{told}; the difference found is 0, which no number of segments resolves"
    if row["se"] is None:
        return f"{told}; the error of the difference is unknown, and so is the number of segments"
    if row["segments"] is None:
        return f"{told}; a difference of this size takes more segments than there are"
    return (
        f"{told}; a difference of this size takes about {row['segments']} segments, "
        f"{row['more']} more"
    )


def decimals(error: float) -> int:
    """Decimals that show an error of this size to two digits."""
    return wording.decimals(error, 2, unknown=3)
