"""Scores become 1 or 0, and the sign at the threshold is kept."""

import numpy as np
import pytest

from fewgold.cut import Cut, binary
from fewgold.errors import DataError, FewgoldError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("> 1", [0, 0, 1]),
        (">= 1", [0, 1, 1]),
        ("≥1", [0, 1, 1]),
        ("< 1", [1, 0, 0]),
        ("<=1", [1, 1, 0]),
        ("≤ 1", [1, 1, 0]),
        ("==1", [0, 1, 0]),
        ("= 1", [0, 1, 0]),
        (" >=  1e0 ", [0, 1, 1]),
    ],
)
def test_sign_decides_at_the_threshold(text: str, expected: list[int]) -> None:
    assert Cut.parse(text)([0.0, 1.0, 2.0]).tolist() == [bool(x) for x in expected]


@pytest.mark.parametrize("cut", [Cut(">=", 0.1 + 0.2), Cut("<", -3.0), Cut("==", 1e-9)])
def test_text_and_back(cut: Cut) -> None:
    assert Cut.parse(str(cut)) == cut
    assert Cut.parse(cut) is cut


@pytest.mark.parametrize("text", ["0.5", "", ">=", ">= x", "=> 1", ">= nan", "<= inf", None])
def test_what_is_no_cut(text: str) -> None:
    with pytest.raises(FewgoldError, match="cut"):
        Cut.parse(text)


def test_missing_scores_are_not_zeros() -> None:
    with pytest.raises(DataError, match="1 of 2 scores are missing"):
        Cut(">=", 0)([1.0, np.nan])


def test_binary_says_what_to_do() -> None:
    assert binary([0, 1.0], "labels", "Cut them.").tolist() == [False, True]
    with pytest.raises(DataError, match=r"labels must be 0 or 1; got 0\.5\. Cut them\."):
        binary([0, 0.5], "labels", "Cut them.")
    with pytest.raises(DataError, match="got nan"):
        binary([0, np.nan], "labels", "Cut them.")
