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


def test_decimal_commas_throughout_are_numbers() -> None:
    commas = ["0,853", "0,9", "1", "0,25", "0,125", "-0,5"]
    points = [0.853, 0.9, 1.0, 0.25, 0.125, -0.5]
    pool = Pool(ids=list("abcdef"), metrics={"qe": commas})
    assert pool.metrics["qe"].tolist() == points
    _joint(_outputs().assign(qe=commas))


def test_a_comma_that_may_be_either() -> None:
    told = (
        r"must hold numbers; (got|segment a has) '0,853'\. Write 0\.853: a comma may mean thousands"
    )
    with pytest.raises(DataError, match=told):
        _joint(_outputs().assign(qe=["0,853", "0.9"] * 3))
    with pytest.raises(DataError, match=told):
        Pool(ids=["a", "b"], metrics={"qe": ["0,853", "0.9"]})
    with pytest.raises(DataError, match=r"'1,234'\. Write 1\.234: a comma may mean thousands"):
        Pool(ids=["a", "b"], metrics={"qe": ["1,234", "2,345"]})
    with pytest.raises(DataError, match=r"got .fine.\. Is it the right column"):
        Pool(ids=["a", "b"], metrics={"qe": ["fine", "poor"]})


@pytest.mark.parametrize(("rows", "told"), [([1], "1 gap,"), ([1, 3], "2 gaps,")])
def test_gaps_are_counted_in_english(rows: list[int], told: str) -> None:
    table = _outputs()
    table.loc[rows, "qe"] = ""
    with pytest.raises(DataError, match=f"'qe' has {told} first for segment a of y"):
        _joint(table)
