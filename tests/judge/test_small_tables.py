"""Tiny and odd tables, made at random: every number is finite or told, never NaN."""

from __future__ import annotations

import json
import re
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from fewgold.errors import FewgoldError
from fewgold.judge import Assessment, assess_table
from fewgold.judge.trial import MEASURES, Trial

#: Smallest and largest possible values of measures with a scale of their own.
SCALES = {
    **dict.fromkeys(("accuracy", "sensitivity", "specificity", "precision"), (0.0, 1.0)),
    **dict.fromkeys(("negative_value", "f1", "auc", "ece"), (0.0, 1.0)),
    **dict.fromkeys(("kappa", "kappa_linear", "kappa_quadratic"), (-1.0, 1.0)),
    **dict.fromkeys(("pearson", "spearman", "kendall"), (-1.0, 1.0)),
}
PEOPLE = ([0, 1], [1], [0], ["pass", "fail"], ["yes", "no"], [1, 2, 3, 4, 5], [3], [0.5, 2.25, 7.1])
JUDGES = (
    [0, 1], [1], [0], ["pass", "fail"], ["true", "false"], [0.0, 1.0, 0.3], [0.5], [0.0, 1e-9],
    [1, 2, 3, 4, 5], [-40.0, 3e5, 0.1], [1e-300, 1e-12], [0.1, 0.7, 1.0],
)  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(2, 14))
    people, first, second = (draw(st.sampled_from(x)) for x in (PEOPLE, JUDGES, JUDGES))

    def column(levels: Any) -> list[Any]:
        return draw(st.lists(st.sampled_from(levels), min_size=n, max_size=n))

    def with_gaps(levels: Any) -> list[Any]:
        return column([*levels, None] if draw(st.booleans()) else levels)

    human = with_gaps(people)
    agreed = [people[0] if x is None else x for x in human]
    return pd.DataFrame(
        {
            "human": human,
            "first": agreed if draw(st.booleans()) else with_gaps(first),
            "second": column(second),
            "slice": column("ab"),
            "document": column("xyz"),
            "text": column(["", "one", "two words"]),
        }
    )


def no_blank_numbers(text: str) -> None:
    bare = re.search(r"(?<![a-z])(nan|inf|none)(?![a-z])", text.lower().replace("seed:none", ""))
    assert bare is None, text[max(bare.start() - 200, 0) : bare.end() + 200]


def check(trial: Trial) -> None:
    for key, made in trial.figures.items():
        if np.isnan(made.value):
            assert any(MEASURES[key][0] in note for note in trial.notes), key
            continue
        assert not np.isnan(made.low) and not np.isnan(made.high) and made.se >= 0, key
        assert made.low <= made.value + 1e-9 and made.value - 1e-9 <= made.high, key
        low, high = SCALES.get(key, (-np.inf, np.inf))
        assert low - 1e-9 <= made.low and made.high <= high + 1e-9, key


def check_all(found: Assessment) -> None:
    for trial in (*found.judges, *found.slices):
        check(trial)
    no_blank_numbers(found.summary())
    json.dumps(found.to_dict(), allow_nan=False)
    with mock.patch("fewgold.plots.style.available", return_value=False):  # drawing takes time
        page = found.page()
    no_blank_numbers(re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))
    for name in ("first", "second"):
        assert np.isfinite(found.disagreements(name).select_dtypes("number")).all(axis=None)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.booleans(), st.booleans(), st.sampled_from([None, ">=3", ">=0.5"]))
def test_an_answer_or_a_sentence(
    table: pd.DataFrame, documents: bool, slices: bool, adequate: str | None
) -> None:
    try:
        found = assess_table(
            table, human="human", judges=["first", "second"], texts="text", adequate=adequate,
            document="document" if documents else None, by="slice" if slices else None,
            against=["text", "second"],
        )  # fmt: skip
    except FewgoldError as error:
        told = str(error)
        assert told.endswith((".", ":", "…")) and len(told) > 20
        no_blank_numbers(told)
        event(f"a sentence: {told[:50]}")
        return
    event("an answer: " + ", ".join(trial.kind for trial in found.judges))
    check_all(found)
