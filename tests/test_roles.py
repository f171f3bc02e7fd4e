"""Which columns look like human scores."""

from __future__ import annotations

import pandas as pd
import pytest

from fewgold import tables
from fewgold.errors import DataError
from fewgold.roles import human_column, human_columns, metric_columns


@pytest.mark.parametrize(
    "name", ["bb_MoverScore", "bb_wmt20-comet-da", "bert_score", "UniEval_naturalness", "COMET-DA"]
)
def test_known_metrics_are_not_taken_for_human_scores(name: str) -> None:
    assert human_columns([name, "mqm"]) == ["mqm"]
    assert human_columns([name]) == []


@pytest.mark.parametrize(
    "name", ["mqm", "human_overall", "z_score", "factuality", "rater1", "gold", "raterA_comet"]
)
def test_human_scores(name: str) -> None:
    assert human_columns([name, "comet", "words"]) == [name]


def test_a_mark_of_human_systems_is_no_score_and_no_metric() -> None:
    assert human_columns(["is_human", "mqm"]) == ["mqm"]
    assert tables.looks_human("is_human")


def test_counts_of_errors_give_way_and_are_never_metrics() -> None:
    assert human_columns(["mqm", "n_errors", "n_major"]) == ["mqm"]
    assert human_columns(["n_errors", "comet"]) == ["n_errors"]
    table = pd.DataFrame({"n_errors": [1, 0, 4], "comet": [0.2, 0.7, 0.1]})
    found, left = metric_columns(table, set())
    assert found == ["comet"]
    assert left == {"n_errors": "may be human scores"}


def test_several_are_asked_about() -> None:
    with pytest.raises(DataError, match=r"factuality or factual_binary\?"):
        human_column(["factuality", "factual_binary", "FactCC"])


def test_gaps_of_pandas_are_empty_and_dates_are_no_metrics() -> None:
    assert all(map(tables.is_empty, [None, pd.NA, pd.NaT, float("nan"), "", " "]))
    assert not any(map(tables.is_empty, [0, 0.0, False, "nan", [1], "0"]))
    days = pd.date_range("2026-01-01", periods=3)
    scores = pd.array([1.5, None, 2.0], dtype="Float64")
    found, left = metric_columns(pd.DataFrame({"day": days, "comet": scores}), set())
    assert found == []
    assert left == {"comet": "1 gap"}


def test_decimal_commas_are_told() -> None:
    table = pd.DataFrame({"comet": ["0,85", "0,9", None], "reply": ["1,5", "Yes, of course", "No"]})
    found, left = metric_columns(table, set())
    assert found == []
    assert left == {"comet": "decimal commas, such as '0,85': write points"}
