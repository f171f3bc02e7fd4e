"""Several raters: one score by a rule, and how far they agree."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from fewgold import Pool
from fewgold.agreement import Answers, krippendorff, krippendorff_nominal, prediction_errors
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.estimators import Mean
from fewgold.samplers import SimpleRandom
from reference import agreement as slow


def answers_of(*rows):
    """Answers from a row of scores a rater, None where there is none."""
    found = [
        (f"s{k}", f"r{i}", v)
        for i, row in enumerate(rows)
        for k, v in enumerate(row)
        if v is not None
    ]
    return Answers(*zip(*found, strict=True))


def text(*rows):
    return [[None if v == "." else float(v) for v in row.split()] for row in rows]


# Krippendorff (2011), Computing Krippendorff's alpha-reliability: examples A, B and C.
FOUR = text(
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
BINARY = text("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")
LETTERS = [[float(ord(c)) for c in word] for word in ("aabbdcccedda", "babbbccceddd")]
# Shrout and Fleiss (1979), table 2: six targets, four judges.
JUDGES = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
).T.tolist()


def test_published_alphas():
    four = answers_of(*FOUR).agreement()
    assert round(four.alpha_nominal, 3) == 0.743
    assert round(four.alpha, 3) == 0.849
    assert round(answers_of(*BINARY).agreement().alpha_nominal, 3) == 0.095
    assert round(answers_of(*LETTERS).agreement().alpha_nominal, 3) == 0.692


def test_published_intraclass_correlations():
    found = answers_of(*JUDGES).agreement().components
    assert round(found.icc, 2) == 0.29
    assert round(found.icc_consistency, 2) == 0.71
    # Mean squares 11.24 between targets, 32.49 between judges and 1.02 of the rest.
    assert found.residual == pytest.approx(1.019, abs=5e-4)
    assert found.segment == pytest.approx((11.242 - 1.019) / 4, abs=5e-4)
    assert found.rater == pytest.approx((32.486 - 1.019) / 6, abs=5e-4)
    assert (found.circles, found.freedom) == (1, 15)


def unbalanced(seed, segments=14, raters=4, chance=0.5):
    rng = np.random.default_rng(seed)
    there = rng.random((segments, raters)) < chance
    there[0] = True
    segment, rater = np.nonzero(there)
    segment = np.unique(segment, return_inverse=True)[1]
    score = rng.normal(size=segments)[segment] + rng.normal(size=raters)[rater]
    return segment, rater, np.round(score + rng.normal(0, 0.7, segment.size))


@pytest.mark.parametrize("seed", range(5))
def test_against_the_definition(seed):
    segment, rater, score = unbalanced(seed)
    found = Answers(segment, rater, score).agreement()
    expected = np.maximum(slow.henderson(segment, rater, score), 0)
    c = found.components
    np.testing.assert_allclose([c.segment, c.rater, c.residual], expected, atol=1e-9)
    lists = [score[segment == s].tolist() for s in np.unique(segment)]
    squares = slow.alpha(lists, lambda a, b: (a - b) ** 2)
    assert krippendorff(score, segment) == pytest.approx(squares)
    assert krippendorff_nominal(score, segment) == pytest.approx(
        slow.alpha(lists, lambda a, b: float(a != b))
    )


def test_components_are_unbiased_on_uneven_tables():
    """By the definition, which the code comes to, before negative estimates are set to 0."""
    segment, rater, _ = unbalanced(1, 20, 5, 0.4)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(800):
        y = 2 * rng.normal(size=20)[segment] + 1.5 * rng.normal(size=5)[rater]
        found.append(slow.henderson(segment, rater, y + rng.normal(size=y.size)))
    mean, error = np.mean(found, 0), np.std(found, 0) / np.sqrt(len(found))
    assert (np.abs(mean - [4, 2.25, 1]) < 4 * error).all()


def test_one_score_a_segment():
    segments = ["b", "a", "a", "a", "a", "a"]
    raters = ["x", "x", "y", "x", "z", "x"]
    scores = [7, 1, 10, 3, 5, 8]
    answers = Answers(segments, raters, scores)
    assert answers.scores() == {"b": 7.0, "a": pytest.approx(23 / 3)}
    assert answers.scores(repeats="first") == {"b": 7.0, "a": pytest.approx(16 / 3)}
    assert answers.scores(repeats="mean") == {"b": 7.0, "a": pytest.approx((4 + 10 + 5) / 3)}
    assert answers.scores(raters="median") == {"b": 7.0, "a": 8.0}
    # Time decides what is first, and equal times keep the order of the rows.
    late = Answers(segments, raters, scores, times=[0, 9, 1, 3, 1, 2])
    assert late.scores(repeats="last")["a"] == pytest.approx((1 + 10 + 5) / 3)
    assert late.scores(repeats="first")["a"] == pytest.approx((8 + 10 + 5) / 3)
    same = Answers(segments, raters, scores, times=["t"] * 6)
    assert same.scores() == answers.scores()


def test_the_table_of_raters():
    answers = Answers(
        ["a", "b", "c", "a", "b", "c", "d", "a"],
        ["x", "x", "x", "y", "y", "y", "y", "x"],
        [1, 2, 3, 2, 2, 6, 9, 3],
    )
    frame = answers.agreement(repeats="first").to_frame().set_index("rater")
    x, y = frame.loc["x"], frame.loc["y"]
    assert (x["answers"], x["segments"], x["shared"], y["shared"]) == (4, 3, 3, 3)
    assert (x["mean"], y["mean"]) == (2, 4.75)
    gaps = np.array([-1, 0, -3])
    assert x["deviation"] == pytest.approx(gaps.mean()) == -y["deviation"]
    assert x["deviation_se"] == pytest.approx(gaps.std(ddof=1) / np.sqrt(3))
    assert x["correlation"] == pytest.approx(np.corrcoef([1, 2, 3], [2, 2, 6])[0, 1])
    assert x["same"] == pytest.approx(1 / 3)
    assert (x["repeats"], x["self_same"], x["self_difference"]) == (1, 0, 2)
    assert y["repeats"] == 0
    assert np.isnan(y["self_same"])
    assert answers.agreement().repeat_sd == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ([[1, 2, 3]], "one rater"),
        ([[1, None], [None, 2]], "no segment has two raters"),
        ([[1, 1], [1, 1]], "all scores are the same"),
        ([[1, None], [1, 2]], "too few segments are shared"),
        (
            [[1, 2, None, None], [3, 1, None, None], [None, None, 2, 4], [None, None, 4, 1]],
            "2 sets",
        ),
        ([[1]], "one rater"),
    ],
)
def test_what_cannot_be_told_is_a_note(rows, note):
    found = answers_of(*rows).agreement()
    assert note in " ".join(found.notes)
    assert "note: " in found.summary()
    json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert repr(found).startswith("Agreement(")


def test_constant_scores_have_no_alpha_and_no_variance():
    found = answers_of([2, 2, 2], [2, 2, 2]).agreement()
    assert np.isnan(found.alpha) and np.isnan(found.alpha_nominal)
    assert found.components.segment == found.components.rater == found.components.residual == 0


def test_good_ratings_need_no_note():
    found = answers_of(*JUDGES).agreement()
    assert found.notes == ()
    assert found.to_dict()["icc"] == pytest.approx(found.components.icc)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([], [], []), "no answers"),
        (
            (["a"], ["x"], [np.nan]),
            "1 answer without a score, the first from rater x for segment a",
        ),
        ((["a"], ["x"], [None]), "without a score"),
        ((["a"], ["x"], ["good"]), "must be numbers"),
        ((["a", "b"], ["x"], [1]), "equally long"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(DataError, match=message):
        Answers(*given)


def test_what_else_is_refused():
    answers = Answers(["a", "b"], ["x", "x"], [1, 2], [1, "late"])
    with pytest.raises(DataError, match="the same type"):
        answers.scores()
    with pytest.raises(FewgoldError, match="repeats must be one of last, first, mean"):
        answers_of([1]).scores(repeats="best")
    with pytest.raises(FewgoldError, match="raters must be one of mean, median"):
        answers_of([1]).scores(raters="best")


def test_from_a_table():
    frame = pd.DataFrame({"seg": ["a", "a"], "who": ["x", "x"], "y": [1, 2], "at": [5, 4]})
    answers = Answers.from_table(frame, segment="seg", rater="who", score="y", time="at")
    assert answers.scores() == {"a": 1.0}
    with pytest.raises(UnknownNameError, match="speaker"):
        Answers.from_table(frame, segment="seg", rater="speaker", score="y")


# The error of a mean ----------------------------------------------------------------------------


def study(rng, size=200, n=80, raters=6, sd=(1.0, 0.8, 1.2)):
    """One study: n of ``size`` segments, two of the raters for each; truth, and what came."""
    segment, rater = rng.normal(0, sd[0], size), rng.normal(0, sd[1], raters)
    sample = SimpleRandom().draw(Pool(ids=np.arange(size)), n, rng=rng)
    pairs = np.argsort(rng.random((n, raters)), axis=1)[:, :2]
    rows = np.repeat(sample.indices, 2)
    who = pairs.ravel()
    answers = Answers(rows, who, segment[rows] + rater[who] + rng.normal(0, sd[2], rows.size))
    made = Mean(bound="student").estimate(sample.rate(answers.scores()))
    return segment.mean(), rater.mean(), made, answers.agreement()


@pytest.mark.slow
def test_errors_for_these_and_for_any_raters():
    """Squared errors against what is stated, for the same raters and for any.

    400 studies: a mean of squares is known to 4 √(2/400) = 0.28 of itself.
    """
    rng = np.random.default_rng(5)
    these, any_, narrow = [], [], []
    for _ in range(400):
        truth, level, made, found = study(rng)
        these.append(((made.value - truth - level) ** 2, found.error(made, "these").se ** 2))
        any_.append(((made.value - truth) ** 2, found.error(made, "any").se ** 2))
        narrow.append(found.error(made, "answers").se ** 2)
        low, high = found.interval(made, target="any")
        assert low < made.value < high
    these, any_ = np.mean(these, 0), np.mean(any_, 0)
    assert these[1] == pytest.approx(these[0], rel=0.28)
    assert any_[1] == pytest.approx(any_[0], rel=0.28)
    # Without it the error is far too small.
    assert np.mean(narrow) < 0.25 * any_[0]


def test_errors_by_hand():
    truth = np.random.default_rng(2)
    _, _, made, found = study(truth, size=100, n=40)
    c, w, f = found.components, 1 / 40, 0.4
    assert found.error(made, "answers").se == pytest.approx(float(made.se))
    noise = c.residual * 40 * w**2 * f / 2
    assert found.error(made, "these").se ** 2 == pytest.approx(float(made.se) ** 2 + noise)
    share = np.bincount(found.rater, minlength=6) * w / 2
    raters = c.rater * (share**2).sum()
    se, df = found.error(made, "any")
    assert se**2 == pytest.approx(float(made.se) ** 2 + noise + raters)
    parts = [(float(made.se) ** 2, 39), (noise, c.freedom), (raters, 5)]
    assert df == pytest.approx(se**4 / sum(v**2 / d for v, d in parts))


def test_errors_that_cannot_be_told():
    pool = Pool(ids=np.arange(30))
    sample = SimpleRandom().draw(pool, 5, rng=1)
    answers = Answers(sample.ids.tolist(), ["x"] * 5, [1, 2, 3, 4, 5])
    made = Mean().estimate(sample.rate(answers.scores()))
    found = answers.agreement()
    assert np.isnan(found.error(made).se)
    assert np.isnan(found.interval(made).low)
    with pytest.raises(DataError, match="5 segments of the estimate have no answer here"):
        Answers(["q"], ["x"], [1]).agreement().error(made)
    with pytest.raises(FewgoldError, match="target must be one of answers, these, any"):
        found.error(made, "all")


def test_intervals_stay_on_the_scale():
    """Two raters far apart: without the scale the interval would reach beyond both ends."""
    sample = SimpleRandom().draw(Pool(ids=np.arange(40)), 20, rng=1)
    rng = np.random.default_rng(2)
    rows, who = np.repeat(sample.indices, 2), np.tile([0, 1], 20)
    scores = np.clip(rng.integers(0, 3, 20).repeat(2) + 2.0 * who, 0, 5)
    answers = Answers(rows, who, scores)
    found = answers.agreement()
    free = found.interval(Mean().estimate(sample.rate(answers.scores())), target="any")
    assert free.low < 0 and free.high > 5
    cut = found.interval(
        Mean().estimate(sample.rate(answers.scores(), limits=(0, 5))), target="any"
    )
    assert (cut.low, cut.high) == (0, 5)


def test_error_of_predicting_a_rater_from_the_others():
    """By hand: r0 is 1 above the mean of the others in one pool and 2 below it in the other."""
    one = answers_of([3, 3, None], [2, 2, 4], [2, 2, 6]).agreement()
    two = answers_of([1, 1], [3, 3], [3, 3]).agreement()
    errors = prediction_errors({"one": one, "two": two})
    assert errors["r0"] == pytest.approx((1 + 2) / 2)
    # r1 in pool one: means (2 + 2 + 4)/3 against (2.5 + 2.5 + 6)/3; in pool two 3 against 2.
    assert errors["r1"] == pytest.approx((1 + 1) / 2)
    with pytest.raises(DataError, match="at least one pool"):
        prediction_errors({})
