"""Counts and priors: what they hold, and the sentences for what they cannot hold."""

import numpy as np
import pytest

from fewgold.bayes import Counts, Priors
from fewgold.bayes.mixture import shapes
from fewgold.errors import DataError, FewgoldError


def test_labels_are_counted():
    counts = Counts.from_labels(
        human=[1, 0, 1],
        paired=(np.array([True, True, False, False]), [1, 0, 1, 0]),
        metric=[0.0, 1.0, 1.0, 1.0],
    )
    assert repr(counts) == (
        "Counts(human_ones=2, human_total=3, tp=1, fn=1, fp=1, tn=1, metric_ones=3, metric_total=4)"
    )
    assert counts._adequate == 4
    assert counts._inadequate == 3
    assert counts._paired_total == 4
    assert counts._metric_zeros == 1


def test_labels_in_a_batch():
    counts = Counts.from_labels(paired=([[1, 0], [1, 1]], [[1, 1], [0, 1]]), metric=[1, 0, 0])
    assert counts.shape == (2,)
    assert counts.tp.tolist() == [1, 1]
    assert counts.fp.tolist() == [1, 0]
    assert repr(counts.draw(1)) == "Counts(tp=1, fn=1, metric_ones=1, metric_total=3)"
    assert repr(counts) == "Counts(a batch of shape (2,), pairs='sample')"


def test_a_calibration_set_tells_nothing_about_the_rate():
    kinds = [
        Counts(human_ones=1, human_total=3, tp=5, fp=4, pairs=p) for p in ("sample", "calibration")
    ]
    assert [(int(c._adequate), int(c._inadequate)) for c in kinds] == [(6, 6), (1, 2)]
    assert [float(shapes(c, Priors()).ar) for c in kinds] == [6.0, 6.0]


def test_flipping_twice():
    counts = Counts(tp=1, fn=2, fp=3, tn=4, metric_ones=5, metric_total=20)
    assert (
        repr(counts.flipped()) == "Counts(tp=2, fn=1, fp=4, tn=3, metric_ones=15, metric_total=20)"
    )
    assert repr(counts.flipped().flipped()) == repr(counts)


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"tp": -1}, "tp must be a whole number of 0 or more; got -1"),
        ({"tn": 2.5}, "tn must be a whole number of 0 or more; got 2.5"),
        ({"fp": np.nan}, "fp must be a whole number of 0 or more; got nan"),
        ({"fn": "many"}, "fn must be a whole number of 0 or more; got 'many'"),
        ({"human_ones": 3, "human_total": 2}, "human_ones must not exceed human_total; got 3 of 2"),
        ({"metric_ones": [1, 9], "metric_total": 5}, "must not exceed metric_total; got 9 of 5"),
        ({"tp": [1, 2], "fp": [1, 2, 3]}, "counts of a batch must have compatible shapes"),
        ({"pairs": "random"}, "pairs must be one of sample, calibration; got 'random'"),
    ],
)
def test_bad_counts(given, sentence):
    with pytest.raises(FewgoldError, match=sentence):
        Counts(**given)


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"human": [0, 1, 2]}, "human labels must be 0 or 1, or words .*; got .*2.*threshold"),
        ({"paired": ([1, 0], [1])}, "one human and one metric label for each item; got 2 and 1"),
        ({"metric": 1}, "metric labels must be a list or an array; got 1"),
    ],
)
def test_bad_labels(given, sentence):
    with pytest.raises(DataError, match=sentence):
        Counts.from_labels(**given)


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"alpha": (0, 1)}, r"alpha must be a pair of positive numbers \(a, b\); got \(0, 1\)"),
        ({"rho": (1, 2, 3)}, "rho must be a pair of positive numbers"),
        ({"alpha": 0.5}, "alpha must be a pair of positive numbers"),
        ({"rho": 1.2, "eta": 0.5}, "a known rho must lie between 0 and 1; got 1.2"),
        ({"rho": 0.7}, "rho and eta must both be known numbers or both have Beta priors"),
    ],
)
def test_bad_priors(given, sentence):
    with pytest.raises(FewgoldError, match=sentence):
        Priors(**given)
