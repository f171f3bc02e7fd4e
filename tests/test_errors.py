"""Errors carry a code and a hint per audience; their sentences are for people only."""

from __future__ import annotations

import pickle

import pytest

from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.io import TableError


def test_a_hint_per_audience() -> None:
    error = DataError("3 are missing.", code="gaps", hints={"python": "f().", "cli": "--f."})
    assert error.code == "gaps" and str(error) == "3 are missing. f()."
    assert error.message_for("cli") == "3 are missing. --f."
    assert error.message_for("web") == str(error)
    error.hints["cli"] = "--g."
    assert error.message_for("cli") == "3 are missing. --g." and str(error).endswith("f().")


def test_an_error_without_hints_says_the_same_to_everybody() -> None:
    error = FewgoldError("no.")
    assert (error.code, str(error), error.message_for("cli")) == ("", "no.", "no.")


def test_an_unknown_name_tells_what_was_expected_and_what_came() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown pet 'cta'\. Did you mean 'cat'") as caught:
        raise UnknownNameError("pet", "cta", ["dog", "cat"])
    error = caught.value
    assert (error.code, error.kind, error.name) == ("unknown-name", "pet", "cta")
    assert error.known == ("cat", "dog")


@pytest.mark.parametrize(
    "error",
    [
        DataError("3 are missing.", code="gaps", hints={"cli": "--f."}),
        UnknownNameError("pet", "cta", ["dog", "cat"]),
        TableError("a.csv", "json", "it is bad", "Mend it."),
    ],
)
def test_errors_come_back_from_other_processes(error: FewgoldError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
