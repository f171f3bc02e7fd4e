"""Rank several systems from verdicts on pairs of outputs, with the Bradley–Terry model.

P(i is preferred to j) = 1/(1 + exp(θ_j − θ_i)); a tie is half a win of each. People judge a sample
of the pairs; an automatic judge may have judged all of them. The estimand is the strengths θ fitted
to the verdicts that people would give on all pairs of the table: they solve

    mean over the pool of x (y − p(θ)) = 0,    p = 1/(1 + exp(−x·θ)),

where x is +1 for the first system of the pair and −1 for the second, and y is 1, ½ or 0. The mean
is estimated like any other (one rule, one variance), using the judge's own residuals e from the
strengths that fit its verdicts, whose mean over the pool is known:

    design mean of x (y − p(θ) − β e)  +  β · mean over the pool of x e  =  0.

Intervals use the sandwich variance H⁻¹ V H⁻¹, with V the design's variance of that mean and H the
mean of x xᵀ p (1 − p) over the pool. They are valid even if the model is wrong.

References
----------
.. [1] Bradley, R. A., Terry, M. E. (1952). Rank analysis of incomplete block designs.
.. [2] Ford, L. R. (1957). Solution of a ranking problem from binary comparisons.
.. [3] Angelopoulos, A. N., Duchi, J. C., Zrnic, T. (2023). PPI++: efficient prediction-powered
       inference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from fewgold import io
from fewgold.bayes.pairwise import both_bad, verdicts
from fewgold.chosen import Chosen
from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import as_names, check_choice, check_confidence
from fewgold.common.statistics import adjusted_pairs
from fewgold.common.text import counted, listed, plain_value, verb
from fewgold.comparison.pairs import Pairs
from fewgold.comparison.result import CORRECTIONS, better, groups_of, rank_intervals
from fewgold.design import Design
from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_STEPS, _CLOSE, _FAR = 100, 1e-10, 30.0
# A tiny penalty for the judge, whose own strengths may be infinite; it is only a control.
_HOLD = 1e-4


@dataclass(frozen=True, eq=False)
class PairRanking:
    """Strengths of several systems from verdicts on pairs. Made by `bradley_terry`.

    Attributes
    ----------
    systems
        Names of the systems, the strongest first.
    strength
        θ of each, (S,), in log-odds with mean 0.
    covariance, df
        Covariance of the strengths, (S, S), and its degrees of freedom.
    people, judged
        Strengths from people's verdicts alone, and from the judge's; NaN without a judge.
    counts
        One row per system: ``pairs`` that people judged, ``wins``, ``ties``, ``losses``, and
        ``both_bad`` (included in the ties).
    gain
        Share of the variance removed by the judge.
    rated, pool_size
        Pairs that people judged, and all pairs.
    target
        ``pool`` or ``process``.
    """

    systems: tuple[str, ...]
    strength: FloatArray
    covariance: FloatArray
    df: float
    people: FloatArray
    judged: FloatArray
    counts: pd.DataFrame
    gain: float
    rated: int
    pool_size: int
    judges: tuple[str, ...]
    target: str = "pool"
    level: float = 0.05
    correction: str = "holm"
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"PairRanking({' > '.join(self.systems)}; {self.rated} of {self.pool_size} pairs)"

    @property
    def confidence(self) -> float:
        return 1 - self.level

    @property
    def _pairs(self) -> Pairs:
        """All differences of strengths."""
        var = np.diagonal(self.covariance)
        value = self.strength[:, None] - self.strength[None, :]
        variance = np.maximum(var[:, None] + var[None, :] - 2 * self.covariance, 0.0)
        df = np.full(value.shape, self.df)
        flat = np.zeros(value.shape, dtype=bool)
        return Pairs(value, variance, df, flat, np.asarray(self.gain), np.zeros(0))

    @property
    def _adjusted(self) -> FloatArray:
        return adjusted_pairs(self._pairs.p_values(), self.correction)

    @property
    def _beats(self) -> BoolArray:
        sure = adjusted_pairs(self._pairs.p_values(), "holm")  # ranks are for all systems at once
        return better(self._pairs.value, sure, self.level, True)

    def to_frame(self) -> pd.DataFrame:
        """One row per system, the strongest first.

        ``strength`` in log-odds relative to the mean of all systems; ``share`` of the points
        against the others, each met equally often, with ties as half a point; both with ``low`` and
        ``high`` ends of an interval. ``group`` and ranks are based on tests of all pairs of
        systems.
        """
        import pandas as pd

        t = float(stdtrit(self.df, 1 - self.level / 2))
        se = np.sqrt(np.diagonal(self.covariance))
        share, share_se = self._shares()
        middle = logit(share)
        half = t * share_se / (share * (1 - share))
        first, last = rank_intervals(self._beats)
        groups = groups_of(self._beats, np.arange(len(self.systems)))
        found = pd.DataFrame({
            "system": self.systems, "strength": self.strength, "se": se,
            "low": self.strength - t * se, "high": self.strength + t * se, "share": share,
            "share_low": expit(middle - half), "share_high": expit(middle + half),
            "people": self.people, "judge": self.judged, "group": groups, "rank_low": first,
            "rank_high": last,
        })  # fmt: skip
        return found.join(self.counts.reset_index(drop=True))

    def _shares(self) -> tuple[FloatArray, FloatArray]:
        """Mean probability that each system beats another, and its delta-method standard error."""
        size = len(self.systems)
        chance = expit(self.strength[:, None] - self.strength[None, :])
        slope = chance * (1 - chance)
        np.fill_diagonal(chance, 0.0)
        np.fill_diagonal(slope, 0.0)
        gradient = (np.diag(slope.sum(1)) - slope) / (size - 1)
        variance = np.einsum("si,ij,sj->s", gradient, self.covariance, gradient)
        return chance.sum(1) / (size - 1), np.sqrt(np.maximum(variance, 0.0))

    def differences(self) -> pd.DataFrame:
        """One row per pair of systems: the probability that the first is preferred, and its test.

        Intervals are for one pair each; ``p_adjusted`` and ``significant`` are for all together.
        """
        import pandas as pd

        found, adjusted = self._pairs, self._adjusted
        t = float(stdtrit(self.df, 1 - self.level / 2))
        rows = []
        for i in range(len(self.systems)):
            for j in range(i + 1, len(self.systems)):
                gap, se = float(found.value[i, j]), float(found.se[i, j])
                rows.append({
                    "first": self.systems[i], "second": self.systems[j], "difference": gap,
                    "se": se, "preferred": float(expit(gap)),
                    "low": float(expit(gap - t * se)), "high": float(expit(gap + t * se)),
                    "p_value": float(found.p_values()[i, j]), "p_adjusted": float(adjusted[i, j]),
                    "significant": bool(adjusted[i, j] <= self.level),
                })  # fmt: skip
        return pd.DataFrame(rows)

    def summary(self) -> str:
        """Readable tables."""
        wide = max(6, *(len(s) for s in self.systems))
        level = f"{100 * self.confidence:.6g}%"
        head = f"{'system':{wide}s}  points  {level} interval  strength  interval"
        lines = [f"{head:{len(head)}s}            ranks  judged  won  tied  lost"]
        for row in self.to_frame().to_dict("records"):
            ranks = f"{row['rank_low']} to {row['rank_high']}"
            ranks = str(row["rank_low"]) if row["rank_low"] == row["rank_high"] else ranks
            numbers = (
                f"{row['share']:6.3f}  {row['share_low']:.3f} to {row['share_high']:.3f}  "
                f"{row['strength']:+8.3f}  {row['low']:+.3f} to {row['high']:+.3f}  "
                f"{ranks:>6s}  {row['pairs']:6d}  {row['wins']:3d}  {row['ties']:4d}  "
                f"{row['losses']:4d}"
            )
            lines.append(f"{row['system']:{wide}s}  {numbers.replace('-', '−')}")
        lines.append("")
        for row in self.differences().to_dict("records"):
            sure = "" if row["significant"] else ", not distinguishable"
            numbers = (
                f"{row['preferred']:.3f} ({row['low']:.3f} to {row['high']:.3f}), "
                f"p = {row['p_adjusted']:.3g}"
            ).replace("-", "−")
            lines.append(f"{row['first']} preferred to {row['second']}: {numbers}{sure}")
        text = "\n".join(lines)
        told = f"{self.rated:,} of {self.pool_size:,} pairs judged by people"
        if self.judges:
            told += f"; {listed(list(self.judges))} judged all and " + (
                f"removed {self.gain:.0%} of the variance" if self.gain > 0.005 else "did not help"
            )
        end = [told + ".", "points: share of wins against the others, a tie being half a win.",
               "Intervals are approximate (sandwich); p values are corrected for all pairs "
               f"({self.correction})."]  # fmt: skip
        return "\n".join([text, "", *end, *(f"note: {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        found: dict[str, Any] = plain_value({
            "systems": list(self.systems), "ranking": self.to_frame().to_dict("records"),
            "differences": self.differences().to_dict("records"), "rated": self.rated,
            "pairs": self.pool_size, "judges": list(self.judges), "gain": self.gain,
            "df": self.df, "target": self.target, "confidence": self.confidence,
            "correction": self.correction, "notes": list(self.notes),
        })  # fmt: skip
        return found

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot each system's share of the points, with its interval."""
        from fewgold.plots import corrected_forest

        frame = self.to_frame()
        frame = frame.assign(
            score=frame["share"], low=frame["share_low"], high=frame["share_high"],
            naive=_as_shares(self.judged),
        )  # fmt: skip
        return corrected_forest(
            frame, ax, label="share of points against the others", confidence=self.confidence
        )


def _as_shares(strength: FloatArray) -> FloatArray:
    """Mean probability that each system beats another one."""
    size = strength.size
    chance = expit(strength[:, None] - strength[None, :])
    return np.asarray((chance.sum(1) - np.diagonal(chance)) / (size - 1))


def bradley_terry(
    frame: pd.DataFrame,
    *,
    human: str,
    first: str,
    second: str,
    judges: str | Sequence[str] = (),
    chosen: str | Chosen | Design = "random",
    tie: float = 0.0,
    target: str = "pool",
    level: float = 0.05,
    correction: str = "holm",
) -> PairRanking:
    """Rank systems from human verdicts on some pairs of outputs, and a judge's on all of them.

    Parameters
    ----------
    frame
        One row per pair of outputs. An empty human verdict means that nobody judged the pair.
    human, judges
        Columns of verdicts: A, B and tie (or left, right, both bad and similar words, or the names
        of the systems), or numbers above 0 if the first is better.
    first, second
        Columns with the names of the two systems of each pair.
    chosen
        How the pairs that people judged were chosen: ``random``, ``strata:COLUMN``,
        ``whole:COLUMN`` (such as all pairs of a source) or ``chances:COLUMN``; or the design of
        the judged rows in their order.
    tie
        Numbers no further than this from 0 are ties.
    target
        ``"pool"``: for these pairs. ``"process"``: for the systems that made them.
    level, correction
        Correction for the tests of all pairs of systems; see `compare`.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("x", "y", "A"), ("y", "z", "A"), ("z", "x", "tie"), ("x", "z", "A"),
    ...         ("y", "x", "A"), ("z", "y", "A")] * 6
    >>> frame = pd.DataFrame(rows, columns=["one", "two", "people"])
    >>> found = bradley_terry(frame, human="people", first="one", second="two")
    >>> found.systems, found.to_frame()["share"].round(3).tolist()
    (('x', 'y', 'z'), [0.625, 0.5, 0.375])
    """
    check_choice("target", target, ("pool", "process"))
    check_choice("correction", correction, CORRECTIONS)
    check_confidence(1 - level)
    names = list(as_names(judges))
    for column in (human, first, second, *names):
        if column not in frame.columns:
            raise UnknownNameError("column", column, map(str, frame.columns))
    if human in names:
        raise DataError(f"{human!r} holds the verdicts of people, so it cannot be a judge as well.")
    systems, one, two = _systems(frame, first, second)
    ones, twos = np.array(systems, dtype=object)[one], np.array(systems, dtype=object)[two]
    told = verdicts(frame, human, ones, twos, tie) / 2
    judged = ~np.isnan(told)
    if not judged.any():
        raise DataError(f"no row has a verdict in column {human!r}.")
    if isinstance(chosen, Design):
        rows, design = np.flatnonzero(judged), chosen
        if design.n != rows.size or design.size != len(frame):
            raise DataError(
                f"the design is for {design.n} of {design.size} pairs, but {rows.size} of "
                f"{len(frame)} rows have a human verdict."
            )
    else:
        how = Chosen.parse(chosen)
        rows, design = how.design(frame, judged)
        if not judged[rows].all():
            raise DataError(
                f"if pairs were chosen by {how.code}, people must have judged every pair of the "
                f"chosen values; {counted(int((~judged[rows]).sum()), 'pair')} without a verdict."
            )
    size = len(systems)
    _check_links(systems, one[rows], two[rows], told[rows])
    x = np.zeros((len(frame), size))
    x[np.arange(len(frame)), one], x[np.arange(len(frame)), two] = 1.0, -1.0
    notes: list[str] = []
    if not isinstance(chosen, Design) and rows.size < len(frame):
        notes.append(Chosen.parse(chosen).sentence(rows.size, len(frame)))
    each = [verdicts(frame, name, ones, twos, tie) / 2 for name in names]
    fits = [_control(x, said) for said in each]
    for name, said in zip(names, each, strict=True):
        if gaps := int(np.isnan(said).sum()):
            notes.append(f"{name} has no verdict on {gaps} of {len(frame)} pairs")
    errors = np.array([e for _, e in fits]).reshape(len(names), len(frame))
    fitted = _fit(x, told[rows], rows, design, errors, target)
    if fitted.fallen_back:
        notes.append(
            "with the judges' correction the strengths are not finite, so only people's verdicts "
            "are used"
        )
    order = np.argsort(-fitted.strength, kind="stable")
    unsettled = both_bad(frame, human)
    if bad := int(unsettled[rows].sum()):
        remark = f"{bad} of {rows.size} verdicts {verb(bad, 'say')} that both are bad"
        notes.append(f"{remark}: this counts as a tie")
    counts = _counts(size, one[rows], two[rows], told[rows], unsettled[rows]).iloc[order]
    said = np.mean([f for f, _ in fits], axis=0) if fits else np.full(size, np.nan)
    return PairRanking(
        tuple(systems[k] for k in order), fitted.strength[order],
        fitted.covariance[np.ix_(order, order)], fitted.df, fitted.alone[order], said[order],
        counts, fitted.gain, rows.size, len(frame), tuple(names), target, level, correction,
        tuple(notes),
    )  # fmt: skip


def _systems(frame: pd.DataFrame, first: str, second: str) -> tuple[list[str], IntArray, IntArray]:
    """Names of the systems in the order of their first row, and those of each pair."""
    columns = [
        ["" if io.is_empty(v) else str(v).strip() for v in frame[name].to_numpy(dtype=object)]
        for name in (first, second)
    ]
    for row, (a, b) in enumerate(zip(*columns, strict=True), 1):
        if not a or not b:
            raise DataError(f"row {row} does not name both systems ({first!r} and {second!r}).")
        if a == b:
            raise DataError(
                f"row {row} compares {a!r} with itself. Leave such rows out, or check which "
                f"columns name the systems (here {first!r} and {second!r})."
            )
    systems = list(dict.fromkeys(name for pair in zip(*columns, strict=True) for name in pair))
    code = {name: k for k, name in enumerate(systems)}
    one, two = (np.array([code[name] for name in column], dtype=np.int64) for column in columns)
    return systems, one, two


def _check_links(systems: Sequence[str], one: IntArray, two: IntArray, y: FloatArray) -> None:
    """Refuse verdicts without finite maximum-likelihood strengths (Ford 1957), and say why.

    However the systems are divided into two groups, each group must have points against the other.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(systems)

    def parts(a: IntArray, b: IntArray, kind: Literal["weak", "strong"]) -> list[list[str]]:
        links = coo_array((np.ones(a.size), (a, b)), shape=(size, size))
        count, label = connected_components(links, connection=kind)
        return [[s for s, k in zip(systems, label, strict=True) if k == j] for j in range(count)]

    if len(apart := parts(one, two, "weak")) > 1:
        told = " and ".join(f"{{{listed(part)}}}" for part in apart[:4])
        raise DataError(
            f"no pair that people judged links {told}{' and others' if apart[4:] else ''}, so "
            "they cannot be ranked together. Have pairs between them judged, or rank each group "
            "separately."
        )
    got, gave = y > 0, y < 1
    winners = np.concatenate([one[got], two[gave]])
    losers = np.concatenate([two[got], one[gave]])
    strong = parts(winners, losers, "strong")
    if len(strong) > 1:
        beaten = set(zip(winners.tolist(), losers.tolist(), strict=True))
        code = {name: k for k, name in enumerate(systems)}
        for part in strong:
            inside = {code[name] for name in part}
            lost = any(a not in inside and b in inside for a, b in beaten)
            won = any(a in inside and b not in inside for a, b in beaten)
            if lost and won:
                continue
            count = int((np.isin(one, list(inside)) != np.isin(two, list(inside))).sum())
            end = "won" if won else "lost"
            raise DataError(
                f"{listed(part)} {end} every pair with the other systems ({count}), so there is "
                f"no finite strength. Have more of {'its' if len(part) == 1 else 'their'} pairs "
                f"judged, or leave {'it' if len(part) == 1 else 'them'} out: "
                f"{'first' if won else 'last'} place is all that can be said."
            )


def _solve(x: FloatArray, weight: FloatArray, target: FloatArray, hold: float = 0.0) -> FloatArray:
    """Strengths θ (S,) with Σ weight x p(θ) + hold θ = target; NaN if there are none near.

    Newton's method on a convex function, halving steps that go too far. The strengths sum to 0.
    """
    size = x.shape[1]
    theta = np.zeros(size)
    one = np.full((size, size), 1.0 / size)  # fixes the sum, which is otherwise undetermined

    def objective(t: FloatArray) -> float:
        return float(weight @ np.logaddexp(0.0, x @ t) + hold * (t @ t) / 2 - target @ t)

    value = objective(theta)
    for _ in range(_STEPS):
        p = expit(x @ theta)
        gradient = x.T @ (weight * p) + hold * theta - target
        if np.abs(gradient).max() < _CLOSE:
            return theta
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x + hold * np.eye(size) + one
        step = np.linalg.solve(curve, gradient)
        scale = 1.0
        while (new := objective(theta - scale * step)) > value + 1e-12 and scale > 1e-8:
            scale /= 2
        theta, value = theta - scale * step, new
        if np.abs(theta).max() > _FAR:
            break
    return theta if np.abs(theta).max() <= _FAR else np.full(size, np.nan)


def _control(x: FloatArray, said: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A judge's strengths, and the residuals of its verdicts from them; 0 without a verdict."""
    given = ~np.isnan(said)
    if not given.any():
        return np.zeros(x.shape[1]), np.zeros(len(x))
    own, y = x[given], said[given]
    weight = np.full(y.size, 1 / y.size)
    # Σ x (y − p) with y = ½ at θ = 0: the target is the sum of x y.
    strength = _solve(own, weight, own.T @ (weight * y), _HOLD)
    errors = np.zeros(len(x))
    errors[given] = y - expit(own @ strength)
    return strength, errors


@dataclass(frozen=True)
class _Fitted:
    strength: FloatArray
    covariance: FloatArray
    df: float
    alone: FloatArray
    gain: float
    fallen_back: bool


def _fit(
    x: FloatArray, y: FloatArray, rows: IntArray, design: Design, errors: FloatArray, target: str
) -> _Fitted:
    """Fit the strengths with the judges as controls, and compute the sandwich variance."""
    pool = len(x)
    own, weight = x[rows], np.asarray(design.weights)
    if target == "process":
        design = replace(design, influence=design.weights)
    alone = _solve(own, weight, own.T @ (weight * y))
    if np.isnan(alone).any():
        raise DataError(
            "the verdicts give no finite strengths: some system almost always wins or loses. "
            "Have more of its pairs judged."
        )
    slopes = _slopes(own, y - expit(own @ alone), weight, errors[:, rows], rows.size)
    found, used, fallen = alone, np.zeros(len(errors)), False
    if slopes.any():
        off = (own.T @ (weight * errors[:, rows]).T) - (x.T @ errors.T) / pool  # (S, k)
        corrected = _solve(own, weight, own.T @ (weight * y) - off @ slopes)
        fallen = bool(np.isnan(corrected).any())
        found, used = (alone, used) if fallen else (corrected, slopes)
    plain = _sandwich(x, own, y, rows, design, errors, alone, np.zeros(len(errors)), target)
    best = _sandwich(x, own, y, rows, design, errors, found, used, target)
    spent = np.trace(plain)
    gain = float(max(0.0, 1 - np.trace(best) / spent)) if used.any() and spent > 0 else 0.0
    df = max(float(design.df) - (x.shape[1] - 2) - int(np.count_nonzero(used)), 1.0)
    return _Fitted(found, best, df, alone, gain, fallen)


def _slopes(
    x: FloatArray, left: FloatArray, weight: FloatArray, errors: FloatArray, n: int
) -> FloatArray:
    """Least-squares slopes of people's residuals on the judges'; 0 with few verdicts."""
    if not len(errors) or n < _LEAST:
        return np.zeros(len(errors))
    root = np.sqrt(weight)
    return np.asarray(np.linalg.lstsq((errors * root).T, left * root, rcond=1e-8)[0])


#: Fewest human verdicts for which judges are used; with fewer, intervals were too narrow.
_LEAST = 50


def _sandwich(
    x: FloatArray, own: FloatArray, y: FloatArray, rows: IntArray, design: Design,
    errors: FloatArray, strength: FloatArray, slopes: FloatArray, target: str,
) -> FloatArray:  # fmt: skip
    """Covariance of the strengths: (S, S), singular, since they sum to 0.

    Residuals are leave-one-out residuals: e/(1 − h), with the leverages of strengths and
    slopes.
    """
    size, pool = x.shape[1], len(x)
    p = expit(x @ strength)
    curve = (x * (p * (1 - p))[:, None]).T @ x / pool
    inverse = np.linalg.inv(curve + np.full((size, size), 1.0 / size)) - np.full(
        (size, size), 1.0 / size
    )
    mine, weight = p[rows], np.asarray(design.weights)
    judged = errors[:, rows]
    left = y - mine - slopes @ judged
    lever = weight * mine * (1 - mine) * np.einsum("ri,ij,rj->r", own, inverse, own)
    if slopes.any():
        gram = (judged * weight) @ judged.T
        lever = lever + weight * np.einsum(
            "kr,kl,lr->r", judged, np.linalg.pinv(gram, rcond=1e-8), judged
        )
    full = design._census
    left = left if full else left / (1 - np.minimum(lever, 0.5))
    columns = (own * left[:, None]).T
    dev = design.deviations(columns)
    meat = dev @ dev.T
    if target == "process" and slopes.any():
        # The judge's mean is known for these pairs, but not for all possible pairs.
        whole = x * (slopes @ errors)[:, None]
        both = (weight * columns) @ whole[rows] / pool
        meat = meat + np.cov(whole.T, bias=True) / pool + both + both.T
    return np.asarray(inverse @ meat @ inverse)


def _counts(size: int, one: IntArray, two: IntArray, y: FloatArray, bad: BoolArray) -> pd.DataFrame:
    import pandas as pd

    def times(*which: tuple[IntArray, BoolArray | NDArray[Any]]) -> IntArray:
        return np.asarray(sum(np.bincount(code[mask], minlength=size) for code, mask in which))

    tied = y == 0.5
    return pd.DataFrame({
        "pairs": times((one, y >= 0), (two, y >= 0)),
        "wins": times((one, y > 0.5), (two, y < 0.5)),
        "ties": times((one, tied), (two, tied)),
        "losses": times((one, y < 0.5), (two, y > 0.5)),
        "both_bad": times((one, bad), (two, bad)),
    })  # fmt: skip
