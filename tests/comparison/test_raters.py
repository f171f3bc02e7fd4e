"""Bias, spread and agreement of raters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fewgold.agreement import krippendorff
from fewgold.comparison import compare
from fewgold.comparison.raters import mixes, rater_effects
from fewgold.comparison.table import Scored
from fewgold.errors import DataError
from reference import comparison as slow


def rated(items=40, raters=4, seed=0, share=0.6):
    rng = np.random.default_rng(seed)
    item, who = np.nonzero(rng.random((items, raters)) < share)
    y = rng.normal(0, 3, items)[item] + np.array([0.0, 1, -1, 2])[who] + rng.normal(size=item.size)
    return Scored(item // 2, item % 2, who, y, tuple("abcd")[:raters]), item


@pytest.mark.parametrize("seed", range(20))
def test_bias_is_that_of_the_large_least_squares_problem(seed: int) -> None:
    scored, item = rated(40 + 5 * seed, seed=seed, share=0.4 + 0.03 * seed)
    found = rater_effects(scored)
    _, compact = np.unique(item, return_inverse=True)
    bias, error = slow.additive(compact, scored.rater, scored.score)
    np.testing.assert_allclose(found.bias, bias, atol=1e-9)
    np.testing.assert_allclose(found.bias_se, error, rtol=1e-8)
    assert found.connected
    assert found.count.sum() == item.size


def test_alpha_is_that_of_all_pairs() -> None:
    scored, item = rated(seed=3)
    lists = [scored.score[item == i].tolist() for i in np.unique(item)]
    assert krippendorff(scored.score, item) == pytest.approx(slow.krippendorff(lists))


def test_the_error_of_a_bias_is_right() -> None:
    draws = [rater_effects(rated(60, 4, seed)[0]) for seed in range(300)]
    true = np.array([0.0, 1, -1, 2]) - 0.5
    z = np.stack([(d.bias - true) / d.bias_se for d in draws])
    assert np.abs(z.mean(0)).max() < 0.2
    assert z.std(0) == pytest.approx(1, abs=0.15)
    assert np.stack([d.spread for d in draws]).mean() == pytest.approx(1, abs=0.05)


def test_raters_who_share_nothing_have_no_bias() -> None:
    scored = Scored(
        np.array([0, 0, 1, 1, 2, 3]), np.zeros(6, int), np.array([0, 1, 0, 1, 2, 2]),
        np.array([1.0, 2, 3, 4, 5, 6]), ("a", "b", "c"),
    )  # fmt: skip
    found = rater_effects(scored)
    assert np.isnan(found.bias).tolist() == [False, False, True]
    circles = Scored(
        np.array([0, 0, 1, 1]), np.zeros(4, int), np.arange(4), np.arange(4.0), tuple("abcd")
    )
    assert not rater_effects(circles).connected


def test_raters_of_different_outputs_are_tied_by_segments() -> None:
    rng = np.random.default_rng(2)
    segment, system = np.divmod(np.arange(300 * 4), 4)
    who = rng.integers(3, size=segment.size)
    bias = np.array([-1.0, 0.0, 1.0])
    y = rng.normal(0, 3, 300)[segment] + system + bias[who] + rng.normal(size=segment.size)
    found = rater_effects(Scored(segment, system, who, y, ("a", "b", "c")))
    design = np.zeros((y.size, 300 + 4 + 3))
    design[np.arange(y.size), segment] = 1
    design[np.arange(y.size), 300 + system] = 1
    design[np.arange(y.size), 304 + who] = 1
    inverse = np.linalg.pinv(design, rcond=1e-9)
    take = (np.eye(3) - 1 / 3) @ inverse[304:]
    noise = np.square(y - design @ (inverse @ y)).sum() / (y.size - 300 - 3 - 2)
    assert found.basis == "segments"
    np.testing.assert_allclose(found.bias, take @ y, atol=1e-9)
    np.testing.assert_allclose(found.bias_se, np.sqrt(noise * np.square(take).sum(1)), rtol=1e-8)
    assert found.spread == pytest.approx(1, abs=0.2)
    assert np.isnan(found.alpha)
    # A rater who rated one system, and that alone, cannot be told from it.
    alone = rater_effects(Scored(segment, system, system, y, tuple("abcd")))
    assert np.isnan(alone.bias).all()


def uneven(harsh=3.0, seed=1, n=120):
    """Two equal systems; rater b, who is harsh, sees system y more often."""
    rng = np.random.default_rng(seed)
    rows = []
    for segment in range(n):
        level = rng.gamma(1, 2)
        for system, odds in (("x", 0.2), ("y", 0.8)):
            output = level + rng.normal()
            raters = ["a", "b"] if rng.random() < 0.3 else ["b" if rng.random() < odds else "a"]
            for rater in raters:
                score = output + (harsh if rater == "b" else 0) + 0.3 * rng.normal()
                rows.append((f"s{segment}", system, rater, score))
    return pd.DataFrame(rows, columns=["seg", "system", "rater", "score"])


def test_uneven_raters_are_noticed_and_can_be_taken_out() -> None:
    roles = {"human": "score", "system": "system", "id": "seg", "rater": "rater"}
    plain = compare(uneven(), higher_is_better=True, **roles)
    assert any("unevenly" in note for note in plain.notes)
    row = plain.differences().iloc[0]
    assert row["significant"]
    assert row["rater_shift"] == pytest.approx(row["difference"], abs=0.5)
    fixed = compare(uneven(), higher_is_better=True, adjust_raters=True, **roles)
    assert not fixed.differences().iloc[0]["significant"]
    assert not any("unevenly" in note for note in fixed.notes)
    assert plain.raters()["bias"].tolist() == pytest.approx([-1.5, 1.5], abs=0.15)


def test_shifts_are_the_mean_biases() -> None:
    scored, item = rated(seed=5)
    people = rater_effects(scored)
    mix = mixes(scored, 2)
    np.testing.assert_allclose(mix.sum(1), 1)
    found = mix @ people.bias
    for system in range(2):
        each = [
            people.bias[scored.rater[item == i]].mean() for i in np.unique(item) if i % 2 == system
        ]
        assert found[system] == pytest.approx(np.mean(each))


def test_no_raters_no_table() -> None:
    frame = uneven().drop_duplicates(["seg", "system"])
    result = compare(frame, human="score", system="system", id="seg")
    with pytest.raises(DataError, match="Name the column of raters"):
        result.raters()
    with pytest.raises(DataError, match="if it is known who rated"):
        compare(frame, human="score", system="system", id="seg", adjust_raters=True)
