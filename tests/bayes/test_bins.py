"""Scores in ordered bins."""

import numpy as np
import pytest
from scipy import stats

from fewgold.bayes import CellPosterior, Pooled, Trend, bins, tally
from fewgold.bayes.cells import BINS
from fewgold.errors import DataError, FewgoldError


def test_bins_are_quantiles():
    scores = np.random.default_rng(0).normal(size=803)
    codes = bins(scores)
    sizes = np.bincount(codes)
    assert sizes.size == BINS and np.ptp(sizes) <= 1
    assert np.array_equal(np.sort(codes), codes[np.argsort(scores)])
    assert np.array_equal(bins(3 * scores + 7), codes)


def test_equal_scores_share_a_bin():
    scores = np.repeat([0.0, 1.0, 2.0], [70, 20, 10])
    assert bins(scores, 4).tolist() == [0] * 70 + [1] * 30
    assert bins(scores, 10).tolist() == scores.tolist()
    assert set(bins(np.zeros(5))) == {0}


def test_variance_explained_by_bins():
    """The figures of the documentation: binormal, half adequate, d' = 1.478."""
    x = np.linspace(-8, 10, 40_001)
    ones, zeros = stats.norm.pdf(x - 1.478), stats.norm.pdf(x)
    mass = (ones + zeros) / (ones + zeros).sum()
    rate = ones / (ones + zeros)
    place = np.cumsum(mass) - 0.5 * mass
    found = []
    for count in (2, 4, 8, 16, x.size):
        codes = (
            np.minimum((place * count).astype(int), count - 1) if count < 99 else np.arange(count)
        )
        share, adequate = np.bincount(codes, mass), np.bincount(codes, mass * rate)
        found.append(float((share * (adequate / share - 0.5) ** 2).sum() / 0.25))
    assert np.round(found, 3).tolist() == [0.292, 0.352, 0.368, 0.372, 0.373]


def test_a_trend_fills_the_gaps():
    """Rates rise from bin to bin: those without ratings lie between and beyond their neighbours."""
    rated = np.zeros((8, 2), dtype=int)
    rated[[0, 2, 4]] = [[9, 1], [6, 4], [2, 8]]
    unrated = np.zeros(8, dtype=int)
    unrated[7] = 100
    above, pooled = (CellPosterior(rated, unrated, prior=p) for p in (Trend(), Pooled()))
    share = np.array([(p.mean * 130 - 13) / 100 for p in (above, pooled)])
    assert share[0] > 0.65 and 0.35 < share[1] < 0.55


def test_direction_does_not_matter():
    scores = np.arange(120.0)
    human = scores + 30 * np.random.default_rng(1).normal(size=120) > 60
    rows = np.arange(0, 120, 4)
    up, down = (
        CellPosterior(*tally(bins(s), rows, human[rows].astype(int)), prior=Trend())
        for s in (scores, -scores)
    )
    assert up.mean == pytest.approx(float(down.mean), rel=1e-9)
    assert up.sd == pytest.approx(float(down.sd), rel=1e-9)


def test_bad_scores():
    with pytest.raises(DataError, match="scores must be finite numbers"):
        bins([1.0, np.nan])
    with pytest.raises(DataError, match="scores must be a list of numbers"):
        bins([[1.0, 2.0]])
    with pytest.raises(FewgoldError, match="count must be a whole number of at least 1"):
        bins([1.0], 0)
