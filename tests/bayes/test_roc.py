"""Thresholds, ROC curves and whether systems share them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewgold.bayes import choose_cut, choose_cuts
from fewgold.cut import Cut
from fewgold.errors import FewgoldError

SIGNS = (">=", ">", "<=", "<")


def by_hand(human: list[int], metric: list[float], rule: str, sign: str) -> float:
    """Try every observed score, one at a time, as the papers say; ties as the docstring says."""
    y = np.array(human)
    rows = []
    for at in sorted(set(metric)):
        m = Cut(sign, at)(metric).astype(int)
        rho, eta = m[y == 1].mean(), 1 - m[y == 0].mean()
        k = 0.0 if m.min() == m.max() else np.corrcoef(y, m)[0, 1] ** 2
        gap, ahead = round(abs(rho - eta), 9), round(rho + eta - 1, 9)
        if rule == "equal":
            key = (gap, -ahead, -m.sum())
        else:
            key = (not ahead > 0, -round(k, 9), gap, -m.sum())
        rows.append((key, at))
    return min(rows)[1]


labelled = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-4, 4)), min_size=2, max_size=25
).filter(lambda rows: len({y for y, _ in rows}) == 2 and len({x for _, x in rows}) > 1)


@settings(max_examples=150, deadline=None)
@given(labelled, st.sampled_from(("equal", "information")), st.sampled_from(SIGNS))
def test_every_observed_score_was_tried(rows: list[tuple[int, int]], rule: str, sign: str) -> None:
    human, metric = [y for y, _ in rows], [x / 2 for _, x in rows]
    chosen = choose_cut(human, metric, rule, sign)
    assert chosen == Cut(sign, by_hand(human, metric, rule, sign))


def test_a_batch_equals_one_by_one() -> None:
    rng = np.random.default_rng(3)
    human = rng.random((4, 5, 30)) < 0.6
    metric = np.round(human + rng.normal(size=human.shape), 1)
    for rule in ("equal", "information"):
        for sign in SIGNS:
            together = choose_cuts(human, metric, rule, sign)
            assert together.shape == (4, 5)
            alone = [
                choose_cut(h, m, rule, sign).at
                for h, m in zip(human.reshape(-1, 30), metric.reshape(-1, 30), strict=True)
            ]
            assert together.ravel().tolist() == alone


def test_a_metric_turned_round_is_cut_at_the_same_place() -> None:
    rng = np.random.default_rng(5)
    human = rng.random(60) < 0.5
    metric = np.round(human + rng.normal(size=60), 1)
    for rule in ("equal", "information"):
        for sign, turned in ((">=", "<="), (">", "<")):
            up, down = (
                choose_cut(human, metric, rule, sign),
                choose_cut(human, -metric, rule, turned),
            )
            assert up.at == -down.at
            assert np.array_equal(up(metric), down(-metric))


def test_information_prefers_cuts_that_point_the_right_way() -> None:
    # K is 0.44 at ">= 3", where ρ + η < 1, and 0.17 at ">= 2".
    human, metric = [0, 1, 1, 0, 0], [1, 2, 2, 3, 3]
    assert choose_cut(human, metric, "information").at == 2
    # A metric that is wrong everywhere has none; its cut is that of the flipped metric.
    assert choose_cut([1, 1, 0, 0], [1, 2, 3, 4], "information").at == 3


def test_draws_that_cannot_be_cut_are_nan() -> None:
    human, metric = [[0, 1], [1, 1], [0, 0], [0, 1]], [[1, 2], [1, 2], [1, 2], [3, 3]]
    assert np.array_equal(np.isnan(choose_cuts(human, metric)), [False, True, True, True])


@pytest.mark.parametrize(
    ("human", "metric", "options", "say"),
    [
        ([1, 1, 1], [1, 2, 3], {}, "all 3 items are adequate"),
        ([0, 0], [1, 2], {}, "all 2 items are inadequate"),
        ([0, 1], [2, 2], {}, "gives 2 to all 2 items"),
        ([0, 1], [1, np.nan], {}, "1 of 2 are not"),
        ([0, np.nan], [1, 2], {}, "labels must be 0 or 1; got .*nan"),
        ([0, 3], [1, 2], {}, "Cut scores at a threshold"),
        ([], [], {}, "got none"),
        ([0, 1], [1, 2, 3], {}, "2 labels and 3 scores"),
        ([0, 1], 3, {}, "no list of scores"),
        ([0, 1], ["a", "b"], {}, "must be numbers"),
        ([[0, 1]], [[1, 2]], {}, "choose_cuts takes batches"),
        ([0, 1], [1, 2], {"rule": "best"}, "rule must be one of equal, information"),
        ([0, 1], [1, 2], {"sign": "=="}, "sign must be one of"),
    ],
)
def test_what_cannot_be_cut(
    human: object, metric: object, options: dict[str, str], say: str
) -> None:
    with pytest.raises(FewgoldError, match=say):
        choose_cut(human, metric, **options)  # type: ignore[arg-type]
