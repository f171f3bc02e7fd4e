"""Which systems differ: tests of all pairs, with correction for multiple comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from fewgold.bayes.density import Curve, chances_greater
from fewgold.bayes.posterior import Posterior, Steps
from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.checks import check_choice
from fewgold.common.statistics import adjusted_pairs
from fewgold.errors import FewgoldError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def probability_greater(first: Posterior, second: Posterior, method: str = "exact") -> Any:
    """P(α1 > α2) for two independent posteriors; ties between test sets count one half.

    Batches broadcast and give an array of their shape; two single posteriors give a float. Systems
    rated on the same items are not independent: compare them item by item.

    Parameters
    ----------
    first, second
        The posteriors of the two systems, or batches of them.
    method
        ``"exact"``, or ``"normal"``: from means and sds alone, off by 0.02 with 10 ratings.

    References
    ----------
    von Däniken et al. (2022), equation 6. A difference is significant at level γ when this is above
    1 − γ/2 or below γ/2.

    Examples
    --------
    >>> from fewgold.bayes import AlphaPosterior, Counts
    >>> one, two = (AlphaPosterior(Counts(human_ones=k, human_total=527)) for k in (353, 340))
    >>> round(probability_greater(one, two), 4)
    0.8003
    >>> others = AlphaPosterior(Counts(human_ones=[340, 337, 336], human_total=527))
    >>> probability_greater(one, others).round(4)
    array([0.8003, 0.8497, 0.8642])
    """
    try:
        shape = np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        raise FewgoldError(
            f"compared batches must have compatible shapes; got {first.shape} and {second.shape}."
        ) from None
    if check_choice("method", method, ("exact", "normal")) == "normal":
        gap, spread = first.mean - second.mean, np.hypot(first.sd, second.sd)
        certain = spread <= 0
        chance = np.where(
            certain, 0.5 * (1 + np.sign(gap)), ndtr(gap / np.where(certain, 1.0, spread))
        )
        return chance if shape else float(chance)
    pairs = list(zip(_spread(first, shape), _spread(second, shape), strict=True))
    # Equal counts share their distribution.
    distinct = {(id(one), id(two)): (one, two) for one, two in pairs}
    curves = {k: p for k, p in distinct.items() if not any(isinstance(x, Steps) for x in p)}
    known = {k: _chance(*p) for k, p in distinct.items() if k not in curves}
    panels = [[curve.panels for curve in each] for each in zip(*curves.values(), strict=True)]
    if panels:
        known |= zip(curves, chances_greater(*panels).tolist(), strict=True)
    found = [known[id(one), id(two)] for one, two in pairs]
    return np.array(found).reshape(shape) if shape else found[0]


def _spread(posterior: Posterior, shape: tuple[int, ...]) -> list[Curve | Steps]:
    """The distribution of each posterior of a batch that was broadcast to ``shape``."""
    each = posterior._distributions
    at = np.broadcast_to(np.arange(len(each)).reshape(posterior.shape), shape)
    return [each[int(k)] for k in at.ravel()]


def _chance(first: Curve | Steps, second: Curve | Steps) -> float:
    """P(first > second) + P(first = second)/2, if one of them is a test set."""
    if isinstance(first, Steps):
        if isinstance(second, Steps):
            x = first.values  # shares are fractions, and rounded
            return float(first.mass @ (0.5 * (second.cdf(x) + second.cdf(x - 2e-12))))
        return float(first.mass @ second.cdf(first.values))
    return 1 - _chance(second, first)


@dataclass(frozen=True, eq=False)
class Significance:
    """P(α of the row > α of the column) for all pairs of systems. Made by `significance`.

    Parameters
    ----------
    names, means
        The systems, and the posterior means of their success rates.
    probability
        P(row > column), (k, k); one half on the diagonal.
    p
        Two-sided tails 2 min(P, 1 − P), (k, k), after the correction if there is one.
    levels
        In descending order.
    """

    names: tuple[str, ...]
    means: FloatArray
    probability: FloatArray
    p: FloatArray
    levels: tuple[float, ...]
    correction: str | None = None

    def __repr__(self) -> str:
        found = int((np.triu(self._reached, 1) > 0).sum())
        pairs = len(self.names) * (len(self.names) - 1) // 2
        return f"Significance({found} of {pairs} pairs differ at {self.levels[0]:g})"

    @property
    def _reached(self) -> IntArray:
        """How many of the levels each pair reaches: (k, k)."""
        reached = (self.p[..., None] < np.array(self.levels)).sum(-1)
        np.fill_diagonal(reached, 0)
        return np.asarray(reached)

    def to_frame(self) -> pd.DataFrame:
        """One row per pair: the better system, the mean difference, P, p and the level reached.

        ``level`` is NaN for pairs that do not differ.
        """
        import pandas as pd

        reached, rows = self._reached, []
        for i, j in combinations(range(len(self.names)), 2):
            depth = int(reached[i, j])
            rows.append({
                "first": self.names[i], "second": self.names[j],
                "difference": float(self.means[i] - self.means[j]),
                "probability": float(self.probability[i, j]), "p": float(self.p[i, j]),
                "level": self.levels[depth - 1] if depth else np.nan,
            })  # fmt: skip
        return pd.DataFrame(rows)

    def summary(self) -> str:
        """The matrix as text, with a star for each level."""
        reached, lines = self._reached, [["", *self.names]]
        for i, (name, mean) in enumerate(zip(self.names, self.means, strict=True)):
            lines.append([f"{name} ({mean:.2f})"])
            for j, p in enumerate(self.probability[i]):
                near = ">.999" if p >= 0.9995 else "<.001" if p < 0.0005 else f"{p:.3f}"
                shown, stars = ("–", 0) if i == j else (near, reached[i, j])
                lines[-1].append(shown + "*" * stars + " " * (len(self.levels) - stars))
        width = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown_lines = [
            "  ".join([line[0].ljust(width[0]), *map(str.rjust, line[1:], width[1:])]).rstrip()
            for line in lines
        ]
        marks = ", ".join(f"{'*' * (k + 1)} {g:g}" for k, g in enumerate(self.levels))
        after = f", after {self.correction} correction" if self.correction else ""
        return "\n".join([*shown_lines, f"P(row > column); two-sided levels: {marks}{after}"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The matrix as a figure."""
        import pandas as pd

        from fewgold.plots import significance_matrix

        matrix = pd.DataFrame(self.probability, list(self.names), list(self.names))
        return significance_matrix(
            matrix, self._reached, ax, levels=self.levels, means=self.means,
            note=f"after {self.correction} correction" if self.correction else "",
        )  # fmt: skip


CORRECTIONS = ("holm", "fdr", "bonferroni")


def significance(
    posteriors: Mapping[str, Posterior],
    levels: Sequence[float] = (0.05, 0.01, 0.001),
    correction: str | None = None,
    method: str = "exact",
) -> Significance:
    """Compare all pairs of systems by P(α1 > α2).

    Two systems differ at level γ when P is above 1 − γ/2 or below γ/2 (the paper prints < for
    the first), that is when the two-sided tail 2 min(P, 1 − P) is below γ.

    Parameters
    ----------
    posteriors
        A posterior for each system, in display order: of any kind, including estimates by
        `BinaryPosterior`. `AlphaPosterior` and `PoolPosterior` are compared exactly.
    levels
        Levels γ.
    correction
        Correction for multiple comparisons: None; ``"holm"`` or ``"bonferroni"`` keep the
        probability of any false finding below γ, under any dependence; ``"fdr"`` keeps the expected
        share of false findings below γ (Benjamini and Hochberg).
    method
        ``"exact"`` or ``"normal"``: see `probability_greater`.

    Notes
    -----
    Posteriors are assumed to be independent: each system was rated on its own items. Systems that
    answered the same inputs are not independent: what is hard for one is often hard for the other.
    Then differences are known more precisely than this assumes, so too few are found; compare such
    systems item by item. Systems whose ρ and η come from the same calibration set are not
    independent either; there the error may go both ways.

    The tails are posterior probabilities. With flat priors and more than a few ratings they are
    close to p-values; the guarantees of the corrections hold only to that extent.

    References
    ----------
    von Däniken et al. (2022), section 3.5, Tables 4 to 10.

    Examples
    --------
    >>> from fewgold.bayes import AlphaPosterior, Counts
    >>> ones = {"Blender": 38, "LostInConv": 30, "KVMemNN": 24, "Seq2Seq": 4}
    >>> rated = {k: AlphaPosterior(Counts(human_ones=n, human_total=100)) for k, n in ones.items()}
    >>> print(significance(rated).summary())
                        Blender  LostInConv   KVMemNN   Seq2Seq
    Blender (0.38)         –       0.882     0.983*    >.999***
    LostInConv (0.30)  0.118           –     0.829     >.999***
    KVMemNN (0.25)     0.017*      0.171         –     >.999***
    Seq2Seq (0.05)     <.001***    <.001***  <.001***      –
    P(row > column); two-sided levels: * 0.05, ** 0.01, *** 0.001
    """
    names = tuple(map(str, posteriors))
    if len(names) < 2:
        raise FewgoldError(f"a comparison needs two systems or more; got {len(names)}.")
    if correction is not None:
        check_choice("correction", correction, CORRECTIONS)
    asked = tuple(sorted({float(level) for level in levels}, reverse=True))
    if not asked or not all(0 < level < 1 for level in asked):
        raise FewgoldError(f"levels must be numbers between 0 and 1; got {levels!r}.")
    check_choice("method", method, ("exact", "normal"))
    for name, posterior in posteriors.items():
        if posterior.shape:
            raise FewgoldError(
                f"expected one posterior for each system; {name!r} is a batch of shape "
                f"{posterior.shape}. Take one of them with draw(k)."
            )
    each = list(posteriors.values())
    size = len(each)
    probability = np.full((size, size), 0.5)
    for i, j in combinations(range(size), 2):
        chance = float(probability_greater(each[i], each[j], method))
        probability[i, j] = min(max(chance, 0.0), 1.0)
        probability[j, i] = 1 - probability[i, j]
    tails = 2 * np.minimum(probability, probability.T)
    if correction is not None:
        tails = adjusted_pairs(tails, correction)
    means = np.array([float(p.mean) for p in each])
    return Significance(names, means, probability, tails, asked, correction)
