"""Several metrics on the same items: patterns of their ratings."""

import numpy as np
import pytest

from fewgold.bayes import CellPosterior, patterns, tally
from fewgold.errors import DataError


def test_patterns_of_three_metrics():
    rng = np.random.default_rng(2)
    labels = rng.random((3, 200)) < 0.4
    codes, names = patterns(labels)
    assert len(names) == 8 and names == tuple(sorted(names))
    for item in range(200):
        assert names[codes[item]] == "".join(str(int(x)) for x in labels[:, item])


def test_patterns_that_do_not_occur_have_no_category():
    one = np.array([1, 0, 0, 1, 1], dtype=bool)
    codes, names = patterns([one, one, ~one])
    assert names == ("001", "110")
    assert codes.tolist() == [1, 0, 0, 1, 1]


def test_a_copy_changes_nothing():
    """The posterior with a metric and its copy is that with the metric alone."""
    rng = np.random.default_rng(3)
    human, metric = rng.random(400) < 0.7, rng.random(400) < 0.6
    rows, found = np.arange(80), []
    for labels in ([metric], [metric, metric]):
        codes, _ = patterns(np.array(labels))
        found.append(CellPosterior(*tally(codes, rows, human[rows].astype(int))))
    assert found[0].mean == found[1].mean
    assert found[0].interval() == found[1].interval()


def test_no_metric_is_one_category():
    codes, names = patterns(np.zeros((0, 4), dtype=bool))
    assert codes.tolist() == [0, 0, 0, 0] and names == ("all",)


def test_bad_labels():
    with pytest.raises(DataError, match=r"labels must be \(K, N\), a row for each metric"):
        patterns([1, 0, 1])
    with pytest.raises(
        DataError, match="metric labels must be 0 or 1, or words such as pass and fail; got"
    ):
        patterns([[1, 2]])
