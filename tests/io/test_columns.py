"""What the columns of a table are taken for."""

from __future__ import annotations

import pandas as pd
import pytest

from fewgold import io
from fewgold.errors import DataError
from fewgold.io.columns import clear_human, human_columns, roles


@pytest.mark.parametrize(
    "name",
    ["bb_MoverScore", "bb_wmt20-comet-da", "bert_score", "UniEval_naturalness", "COMET-DA",
     "Judge score", "judge_score", "llmScore", "BLEURT Score"],
)  # fmt: skip
def test_known_metrics_are_not_taken_for_human_scores(name: str) -> None:
    assert human_columns([name, "mqm"]) == ["mqm"]
    assert human_columns([name]) == []


@pytest.mark.parametrize(
    "name",
    ["mqm", "human_overall", "z_score", "factuality", "rater1", "gold", "raterA_comet",
     "human judge score"],
)  # fmt: skip
def test_human_scores(name: str) -> None:
    assert human_columns([name, "comet", "words"]) == [name]


def test_a_mark_of_human_systems_is_no_score_and_no_metric() -> None:
    assert human_columns(["is_human", "mqm"]) == ["mqm"]
    assert io.looks_human("is_human")


def test_counts_of_errors_give_way_and_are_never_metrics() -> None:
    assert human_columns(["mqm", "n_errors", "n_major"]) == ["mqm"]
    assert human_columns(["n_errors", "comet"]) == ["n_errors"]
    table = pd.DataFrame({"mqm": [1, 0, 5], "n_errors": [1, 0, 4], "comet": [0.2, 0.7, 0.1]})
    found = roles(table, need_id=False)
    assert found.metrics == ("comet",)
    assert {n: str(w) for n, w in found.left_out.items()} == {"n_errors": "may be human scores"}


def test_several_are_asked_about() -> None:
    table = pd.DataFrame({"id": list("abc"), "factuality": [0.5, 1, 0], "factual_binary": [0, 1, 0],
                          "FactCC": [0.1, 0.9, 0.3]})  # fmt: skip
    found = roles(table)
    assert found.human == () and found.humans == ("factuality", "factual_binary")
    for ask in (found.one_human, found.some_humans):
        with pytest.raises(
            DataError, match=r"which column .* it \(factuality or factual_binary\?\)\.$"
        ) as caught:
            ask()
        told = caught.value.message_for("cli")
        assert told.endswith("Name it with --human (factuality or factual_binary?).")
    assert roles(table, human=["factuality"]).one_human() == "factuality"


def test_raters_in_columns_are_taken_together_and_nothing_else_is() -> None:
    table = pd.DataFrame({"id": list("abc"), "rater1": [1, 2, 3], "rater2": [2, 2, 3]})
    found = roles(table)
    assert found.some_humans() == ("rater1", "rater2")
    with pytest.raises(DataError, match=r"Name it \(rater1 or rater2\?\)"):
        found.one_human()
    assert clear_human(["rater1", "rater2", "rating"], lambda name: True) == ("rating",)
    assert clear_human(["rater1", "adequacy"], lambda name: True) == ()


def test_gaps_of_pandas_are_empty_and_dates_are_no_metrics() -> None:
    assert all(map(io.is_empty, [None, pd.NA, pd.NaT, float("nan"), "", " "]))
    assert not any(map(io.is_empty, [0, 0.0, False, "nan", [1], "0"]))
    days = pd.date_range("2026-01-01", periods=3)
    scores = pd.array([1.5, None, 2.0], dtype="Float64")
    found = roles(pd.DataFrame({"day": days, "comet": scores}), need_id=False)
    assert found.metrics == ()
    assert {n: str(w) for n, w in found.left_out.items()} == {"comet": "1 gap"}


@pytest.mark.parametrize("gap", ["", "NA", "nan", "None", "null", "n/a", " N/A "])
def test_a_fifth_of_gaps_is_filled_and_more_are_left_out_unless_named(gap: str) -> None:
    few, many = [gap, *"1234"], [gap, gap, *"123"]
    table = pd.DataFrame({"id": list("abcde"), "few": few, "many": many})
    found = roles(table)
    assert found.metrics == ("few",)
    assert (found.gaps, {n: str(w) for n, w in found.left_out.items()}) == (
        {"few": 1},
        {"many": "2 gaps"},
    )
    assert "gaps in metrics, filled with the mean of the metric: few (1)" in found.notes()
    assert io.filled(found.table, found.metrics)["few"].tolist() == [2.5, 1, 2, 3, 4]
    assert roles(table, metrics=["many"]).gaps == {"many": 2}
    on_disk = {n: str(w) for n, w in roles(table, fill=False).left_out.items()}
    assert on_disk == {"few": "1 gap, to be filled first", "many": "2 gaps, to be filled first"}


def test_gaps_are_counted_and_filled_system_by_system() -> None:
    scores = [None, *range(9), *range(100, 110)]
    table = pd.DataFrame({"id": [*range(10)] * 2, "system": ["x"] * 10 + ["y"] * 10, "qe": scores})
    found = roles(table)
    assert found.gaps == {"qe": 1}
    assert io.filled(found.table, ["qe"], "system")["qe"].tolist()[0] == 4.0
    table.loc[:2, "qe"] = None  # 3 of 20, but 3 of the 10 of x
    assert {n: str(w) for n, w in roles(table).left_out.items()} == {"qe": "3 gaps"}


def test_decimal_commas_are_told() -> None:
    commas = ["0,85", "0,9", "1", "0,125", "-2", "3"]
    table = pd.DataFrame({"id": list("abcdef"), "comet": commas,
                          "reply": ["1,5", "Yes, of course", "No", "", "", ""]})  # fmt: skip
    found = roles(table)
    assert found.metrics == ("comet",)
    assert found.table["comet"].tolist() == [0.85, 0.9, 1.0, 0.125, -2.0, 3.0]
    assert "decimal commas in comet are read as points" in found.notes()


@pytest.mark.parametrize("cells", [["0,85", "0.9", "0,7"], ["1,234", "2,345", "4,125"]])
def test_commas_that_may_be_either_are_left_out(cells: list[str]) -> None:
    found = roles(pd.DataFrame({"id": list("abc"), "comet": cells}))
    assert found.metrics == ()
    assert {n: str(w) for n, w in found.left_out.items()} == {
        "comet": f"commas that may be decimal or not, such as {cells[0]!r}: write points"
    }


@pytest.mark.parametrize("pair", ["true/false", "yes/no", "pass/fail", "passed/failed"])
def test_verdicts_count_where_there_is_nothing_else(pair: str) -> None:
    one, zero = pair.split("/")
    table = pd.DataFrame({"id": list("abcdef"), "text": [one, zero] * 3, "human": [zero, one] * 3,
                          "judge": [one.upper(), zero.title(), *[one] * 3, "NA"]})  # fmt: skip
    found = roles(table)
    assert (found.metrics, found.human, found.texts) == (("judge",), ("human",), ("text",))
    assert found.table["human"].tolist() == [0, 1] * 3
    assert found.table["judge"].tolist()[:5] == [1, 0, 1, 1, 1]
    assert found.table["text"].tolist() == [one, zero] * 3
    assert f"in judge, {one} counts as 1 and {zero} as 0" in found.notes()
    mixed = table.assign(judge=[one, zero, "perhaps", one, zero, one])
    assert roles(mixed).metrics == ()


def test_ids_are_found_by_their_cells_and_said_so() -> None:
    table = pd.DataFrame({"Reply No": ["R1", "R2", "R3"], "sim": [0.1, 0.5, 0.2]})
    found = roles(table)
    assert found.id == "Reply No"
    assert found.notes() == ["columns guessed: id = Reply No, metrics = sim"]
    with pytest.raises(DataError, match="cannot tell which column holds the ids"):
        roles(table.assign(**{"Reply No": "R1"}))


def test_what_an_id_is_made_of_is_no_metric() -> None:
    frame = pd.DataFrame(
        {"talk": ["a", "a", "b", "b"], "turn": [1, 2, 1, 2], "judge": [0.1, 0.7, 0.2, 0.9]}
    )
    found = roles(frame, id="talk,turn")
    assert found.metrics == ("judge",)


def test_raters_read_the_prompt_before_the_response() -> None:
    table = pd.DataFrame({"id": ["a", "b"], "response": ["Hi", "Bye"], "prompt": ["Hello?", "?"]})
    found = roles(table)
    assert found.texts == ("prompt", "response")
