"""Cells that should be numbers: what to do is said, a decimal comma by the number to write."""

from __future__ import annotations

import pandas as pd
import pytest

from fewgold import Pool
from fewgold.comparison import joint_pool
from fewgold.errors import DataError


def _outputs() -> pd.DataFrame:
    rows = [(i, s) for i in ("a", "b", "c") for s in ("x", "y")]
    return pd.DataFrame(rows, columns=["id", "system"]).assign(qe="0.5")


def _joint(table: pd.DataFrame) -> None:
    joint_pool(table, id="id", system="system", metrics="qe")


def test_a_decimal_comma() -> None:
    told = "must hold numbers; .*'0,853'. Write 0.853: a comma may mean thousands."
    with pytest.raises(DataError, match=told):
        _joint(_outputs().assign(qe="0,853"))
    with pytest.raises(DataError, match=told):
        Pool(ids=["a", "b"], metrics={"qe": ["0,853", "0,9"]})
    with pytest.raises(DataError, match=r"got .good.\. Is it the right column"):
        Pool(ids=["a", "b"], metrics={"qe": ["good", "bad"]})


@pytest.mark.parametrize(("rows", "told"), [([1], "1 gap,"), ([1, 3], "2 gaps,")])
def test_gaps_are_counted_in_english(rows: list[int], told: str) -> None:
    table = _outputs()
    table.loc[rows, "qe"] = ""
    with pytest.raises(DataError, match=f"'qe' has {told} first for segment a of y"):
        _joint(table)
