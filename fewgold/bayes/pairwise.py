"""Which of two systems people prefer: people judged some pairs, an automatic judge all.

Verdicts are words (A, B, tie, or the names of the systems) or differences of scores. The pairs that
people judged are used to correct the judge's verdicts on the others: see `PreferencePosterior`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold import io
from fewgold.bayes.cells import LOSS, TIE, WIN, PreferencePosterior, outcomes, tally
from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import check_choice, check_confidence
from fewgold.common.text import verb
from fewgold.errors import DataError, FewgoldError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Words that people and judges use, in lower case. The names of the systems are added.
_FIRST = frozenset(("a", "model_a", "system_a", "first", "left", "win", "wins", "won"))
_SECOND = frozenset(
    ("b", "model_b", "system_b", "second", "right", "loss", "lose", "loses", "lost")
)
_TIES = frozenset(
    ("tie", "tied", "ties", "draw", "equal", "same", "both", "neither", "tie (bothbad)", "bothbad",
     "both bad", "both good", "no preference")
)  # fmt: skip
_BOTH_BAD = frozenset(("neither", "tie (bothbad)", "bothbad", "both bad"))
_NO_VERDICT = 3  # the category of pairs without any judge's answer


@dataclass(frozen=True, eq=False)
class Preferences:
    """Shares of pairs in which one system is preferred. Made by `preferences`.

    Attributes
    ----------
    posterior
        Posterior of the net preference: the share of pairs that ``a`` wins minus the share that
        ``b`` wins.
    a, b
        Names of the two systems.
    judges
        Columns of the judges; empty if only people's verdicts are used.
    people, said
        Shares of wins of ``b``, ties and wins of ``a`` among the pairs judged by people, and among
        those judged by the judges.
    notes
        Remarks that a reader must know.
    """

    posterior: PreferencePosterior
    a: str
    b: str
    judges: tuple[str, ...]
    people: FloatArray
    said: FloatArray
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        net = self.posterior
        return f"Preferences({self.a} over {self.b}: {float(net.mean):+.4f} ± {float(net.sd):.4f})"

    @property
    def probability_better(self) -> float:
        """P(``a`` wins more pairs than ``b``); an even balance counts one half."""
        return float(self.posterior.probability_better)

    def to_frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """Rows for wins of ``a``, ties, wins of ``b`` and the net preference.

        ``people`` and ``judges`` are the shares as counted; mean, sd, low and high are corrected.
        """
        import pandas as pd

        check_confidence(confidence)
        net = self.posterior
        parts = (
            (self.a, net.win, (0.0, 0.0, 1.0)), ("tie", net.tie, (0.0, 1.0, 0.0)),
            (self.b, net.loss, (1.0, 0.0, 0.0)), ("net", net, (-1.0, 0.0, 1.0)),
        )  # fmt: skip
        rows = []
        for name, posterior, signs in parts:
            low, high = (float(end) for end in posterior.interval(confidence))
            rows.append({
                "preferred": name, "people": float(self.people @ signs),
                "judges": float(self.said @ signs), "mean": float(posterior.mean),
                "sd": float(posterior.sd), "low": low, "high": high,
            })  # fmt: skip
        return pd.DataFrame(rows)

    def summary(self, confidence: float = 0.95) -> str:
        """A readable table."""
        level = f"{100 * confidence:.6g}% interval"
        wide = max(9, len(self.a), len(self.b))
        judged = (
            "" if not self.judges else f"  {'judge' if len(self.judges) == 1 else 'judges':>6s}"
        )
        lines = [f"{'preferred':{wide}s}  people{judged}  corrected  {level}"]
        for row in self.to_frame(confidence).to_dict("records"):
            sign = "+" if row["preferred"] == "net" else ""
            cells = [f"{row['people']:{sign}6.3f}"]
            cells += [f"{row['judges']:{sign}6.3f}"] if self.judges else []
            cells += [
                f"{row['mean']:{sign}9.3f}",
                f"{row['low']:{sign}.3f} to {row['high']:{sign}.3f}",
            ]
            lines.append(f"{row['preferred']:{wide}s}  " + "  ".join(cells).replace("-", "−"))
        chance, names = self.probability_better, (self.a, self.b)
        if chance < 0.5:
            chance, names = 1 - chance, names[::-1]
        said = "> 0.999" if chance > 0.9995 else f"= {chance:.3f}"
        lines += ["", f"P({names[0]} wins more pairs than {names[1]}) {said}"]
        lines.append(self.posterior._source.replace("items", "pairs").replace("humans", "people"))
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The shares in plain values, for JSON."""
        return {
            "a": self.a, "b": self.b, "judges": list(self.judges), "confidence": confidence,
            "target": self.posterior.target, "pairs": int(self.posterior.rated.sum())
            + int(self.posterior.unrated.sum()), "rated": int(self.posterior.rated.sum()),
            "preferences": self.to_frame(confidence).to_dict("records"),
            "probability_better": self.probability_better, "notes": list(self.notes),
        }  # fmt: skip

    def plot(self, ax: Axes | None = None, *, confidence: float = 0.95) -> Axes:
        """Plot shares of wins and ties with their intervals, next to those of the judges."""
        from fewgold.plots import corrected_forest

        frame = self.to_frame(confidence).iloc[:3]
        frame = frame.assign(
            system=[f"{self.a} better", "tie", f"{self.b} better"], score=frame["mean"],
            naive=frame["judges"],
        )  # fmt: skip
        return corrected_forest(frame, ax, label="share of pairs", confidence=confidence)


def preferences(
    frame: pd.DataFrame,
    *,
    human: str,
    judges: Sequence[str] = (),
    a: str = "A",
    b: str = "B",
    tie: float = 0.0,
    target: str = "pool",
    prior: float = 1.0 / 3.0,
) -> Preferences:
    """Correct a judge's preferences, using the pairs that people judged too.

    Parameters
    ----------
    frame
        One row per pair of outputs. Pairs with an empty human verdict were not judged; the others
        must be a random sample.
    human, judges
        Columns of verdicts: A, B and tie (or win, loss, draw and similar words, or the names ``a``
        and ``b``), or numbers above 0 if A is better. Several judges are combined by majority.
        Pairs without any judge's verdict form a separate category.
    a, b
        Names of the two systems.
    tie
        Numbers no further than this from 0 are ties.
    target
        ``"pool"``: for these pairs. ``"process"``: for the systems that made them.
    prior
        See `PreferencePosterior`.

    Examples
    --------
    >>> import pandas as pd
    >>> people = ["A", "tie", "B"] * 8 + [None] * 96
    >>> frame = pd.DataFrame({"judge": ["A", "A", "B", "tie", "A", "B"] * 20, "human": people})
    >>> found = preferences(frame, human="human", judges=["judge"])
    >>> found.to_frame().round(2)[["preferred", "people", "judges", "mean"]]
      preferred  people  judges  mean
    0         A    0.33    0.50  0.33
    1       tie    0.33    0.17  0.34
    2         B    0.33    0.33  0.33
    3       net    0.00    0.17 -0.01
    """
    check_choice("target", target, ("pool", "process"))
    judges = [judges] if isinstance(judges, str) else list(judges)
    if a.strip().lower() == b.strip().lower():
        raise FewgoldError(f"a and b must be two different names; got {a!r} twice.")
    for name in (human, *judges):
        if name not in frame.columns:
            raise UnknownNameError("column", name, map(str, frame.columns))
    if human in judges:
        raise DataError(f"{human!r} holds the verdicts of people, so it cannot be a judge as well.")
    ones, twos = np.full(len(frame), a, dtype=object), np.full(len(frame), b, dtype=object)
    people = verdicts(frame, human, ones, twos, tie)
    rows = np.flatnonzero(~np.isnan(people))
    if not rows.size:
        raise DataError(f"no row has a verdict in column {human!r}.")
    each = [verdicts(frame, name, ones, twos, tie) for name in judges]
    codes, count = np.zeros(people.size, dtype=np.int64), 1
    said, notes = np.full(3, np.nan), []
    if bad := int(both_bad(frame, human).sum()):
        remark = f"{bad} of {rows.size} verdicts {verb(bad, 'say')} that both are bad"
        notes.append(f"{remark}: this counts as a tie")
    if each:
        votes = np.stack(each) - 1.0
        given = ~np.isnan(votes)
        balance = np.where(given, votes, 0.0).sum(0)
        codes = np.where(given.any(0), 1 + np.sign(balance).astype(np.int64), _NO_VERDICT)
        count = _NO_VERDICT + 1
        said = _shares(codes[codes < _NO_VERDICT])
        if gaps := int((codes == _NO_VERDICT).sum()):
            notes.append(
                f"{gaps} of {codes.size} pairs have no verdict from a judge: they form a separate "
                "category"
            )
        if len(each) > 1:
            notes.append(f"{len(each)} judges are combined by majority")
    rated, unrated = tally(codes, rows, people[rows].astype(np.int64), classes=3, count=count)
    used = rated.sum(-1) + unrated > 0
    if np.any(used & (rated.sum(-1) == 0)):
        notes.append(
            "people judged none of the pairs with one of the judge's verdicts, so the result for "
            "those pairs rests on the prior: have some of them judged"
        )
    posterior = PreferencePosterior(rated[used], unrated[used], target, prior)
    shares = _shares(people[rows].astype(np.int64))
    return Preferences(posterior, a, b, tuple(judges), shares, said, tuple(notes))


def _shares(classes: IntArray) -> FloatArray:
    """Shares of losses, ties and wins."""
    return np.bincount(classes, minlength=3) / classes.size if classes.size else np.full(3, np.nan)


def verdicts(
    frame: pd.DataFrame, name: str, first: NDArray[Any], second: NDArray[Any], tie: float = 0.0
) -> FloatArray:
    """A column as 0 (the second is better), 1 (tie), 2 (the first is better) and NaN (empty).

    ``first`` and ``second`` are the names of the systems of each row, which the verdict may use. If
    these differ between rows, a system must not have the name of a position, such as A.
    """
    texts = _texts(frame, name)
    ones, twos = ([str(v).strip().lower() for v in side] for side in (first, second))
    found = np.full(len(texts), np.nan)
    unknown, several = set(), len(set(ones)) > 1
    for row, (text, a, b) in enumerate(zip(texts, ones, twos, strict=True)):
        if not text or text in io.cells.GAPS:
            continue
        if text in (a, b):
            found[row] = WIN if text == a else LOSS
            if several and text in (_SECOND if text == a else _FIRST):
                raise DataError(
                    f"a system is called {text!r}, so that the verdict {text!r} in row "
                    f"{row + 1} of {name!r} could mean that system or a position. Rename the "
                    "system."
                )
        elif text in _FIRST or text in _SECOND:
            found[row] = WIN if text in _FIRST else LOSS
        elif text in _TIES:
            found[row] = TIE
        else:
            unknown.add(text)
    if not unknown:
        return found
    numbers = io.column_of(frame[name], name)
    wrong = sorted(k for rows in numbers.sorts.values() for k in rows)
    values = numbers.values
    if wrong or set(np.unique(values[~np.isnan(values)])) == {1.0, 2.0}:
        strange = str(frame[name].iloc[wrong[0]]) if wrong else "only 1 and 2"
        raise DataError(
            f"column {name!r} must hold A, B and tie, or the names of the systems, or numbers that "
            f"are above 0 if A is better and below 0 if B is; got {strange!r}.",
            hints={
                "python": "Give the names of the systems with a= and b=.",
                "cli": "Give the names of the systems with --a and --b.",
            },
        )
    classes = np.full(values.size, np.nan)
    seen = ~np.isnan(values)
    classes[seen] = outcomes(values[seen], tie)
    return classes


def both_bad(frame: pd.DataFrame, name: str) -> BoolArray:
    """Which verdicts say that both are bad; these count as ties."""
    return np.array([text in _BOTH_BAD for text in _texts(frame, name)], dtype=bool)


def _texts(frame: pd.DataFrame, name: str) -> list[str]:
    return [
        "" if io.is_empty(v) else str(v).strip().lower() for v in frame[name].to_numpy(dtype=object)
    ]
