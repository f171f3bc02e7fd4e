"""Which systems differ: all pairs put to the test, with a correction for many comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from fewgold._arrays import FloatArray
from fewgold._validate import check_choice
from fewgold.bayes._compare import Posterior, probability_greater
from fewgold.bayes._significance_table import Significance
from fewgold.errors import FewgoldError

CORRECTIONS = {"holm": "holm", "fdr": "fdr_bh", "bonferroni": "bonferroni"}


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
        A posterior for each system, in the order in which they are to be shown: of any kind, and
        also as `BinaryPosterior` estimates it. Exactly compared are `AlphaPosterior` and
        `PoolPosterior`.
    levels
        Levels γ.
    correction
        For many comparisons: None; ``"holm"`` or ``"bonferroni"`` keep the chance of any false
        find below γ, whatever the comparisons have to do with each other; ``"fdr"`` keeps the
        expected share of false finds below γ (Benjamini and Hochberg).
    method
        ``"exact"`` or ``"normal"``: see `probability_greater`.

    Notes
    -----
    Posteriors are taken for independent: each system was rated on items of its own. Systems that
    answered the same inputs are not independent: what is hard for one is often hard for the
    other. Then true differences are known better than this says, so few of them are found.
    Compare such systems item by item. Systems whose ρ and η come from the same calibration set
    are not independent either; there the error may go both ways.

    The tails are posterior probabilities. With flat priors and more than a few ratings they are
    close to p-values, and only as such do the corrections keep what they promise.

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
        check_choice("correction", correction, tuple(CORRECTIONS))
    asked = tuple(sorted({float(level) for level in levels}, reverse=True))
    if not asked or not all(0 < level < 1 for level in asked):
        raise FewgoldError(f"levels must be numbers between 0 and 1; got {levels!r}.")
    check_choice("method", method, ("exact", "normal"))
    each = [_check_single(name, posterior) for name, posterior in posteriors.items()]
    size = len(each)
    probability = np.full((size, size), 0.5)
    for i, j in combinations(range(size), 2):
        chance = float(probability_greater(each[i], each[j], method))
        probability[i, j] = min(max(chance, 0.0), 1.0)
        probability[j, i] = 1 - probability[i, j]
    tails = 2 * np.minimum(probability, probability.T)
    if correction is not None:
        tails = _corrected(tails, CORRECTIONS[correction])
    means = np.array([float(p.mean) for p in each])
    return Significance(names, means, probability, tails, asked, correction)


def _check_single(name: str, posterior: Posterior) -> Posterior:
    if posterior.shape:
        raise FewgoldError(
            f"expected one posterior for each system; {name!r} is a batch of shape "
            f"{posterior.shape}. Take one of it with draw(k)."
        )
    return posterior


def _corrected(tails: FloatArray, method: str) -> FloatArray:
    from statsmodels.stats.multitest import multipletests

    upper = np.triu_indices(len(tails), 1)
    adjusted = np.ones_like(tails)
    adjusted[upper] = multipletests(tails[upper], method=method)[1]
    adjusted.T[upper] = adjusted[upper]
    return adjusted
