"""Documents as clusters: textbook formulas, all samples of small sets, and the answer itself."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway, t

from fewgold.common.text import plain_value as plain
from fewgold.errors import FewgoldError, UnknownNameError
from fewgold.reliability import documents_needed
from fewgold.reliability.documents import half_width_of
from reference import reliability as slow


def make(sizes, seed=1, share=1.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    doc = np.repeat(np.arange(len(sizes)), sizes)
    score = 5 + share * rng.normal(size=len(sizes))[doc] + rng.normal(size=doc.size)
    return pd.DataFrame({"doc": doc, "y": score})


def plan(table: pd.DataFrame, half_width: float = 0.5, **more):
    return documents_needed(table, score="y", document="doc", half_width=half_width, **more)


@pytest.mark.parametrize("sizes", [(4,) * 7, (1, 9, 3, 4, 2, 12)])
def test_figures_against_loops(sizes) -> None:
    table = make(sizes)
    found = plan(table).found
    want = slow.cluster_figures(table["y"].tolist(), table["doc"].tolist())
    got = found.between[0, 0], found.icc[0, 0], found.deff[0, 0]
    assert got == pytest.approx(want, rel=1e-12)
    assert found.sd[0, 0] == pytest.approx(table["y"].std())


def test_icc_against_analysis_of_variance() -> None:
    table = make((5,) * 8)
    f = f_oneway(*[part["y"] for _, part in table.groupby("doc")]).statistic
    assert plan(table).found.icc[0, 0] == pytest.approx((f - 1) / (f + 4))


def test_icc_ends() -> None:
    same = make((3,) * 6)
    same["y"] = same.groupby("doc")["y"].transform("mean")
    found = plan(same).found
    assert found.icc[0, 0] == pytest.approx(1)
    # Three equal segments a document count once: deff is 3, but for the divisors d − 1 and n − 1.
    assert found.deff[0, 0] == pytest.approx(3 * (6 / 5) * (17 / 18))
    single = plan(make((1,) * 9)).found
    assert np.isnan(single.icc[0, 0]) and single.deff[0, 0] == pytest.approx(1)


def test_standard_error_is_that_of_all_samples() -> None:
    """Documents of one size: the formula with the finite population correction is exact."""
    table = make((3,) * 7)
    means = slow.every_sample_of_documents(table["y"].tolist(), table["doc"].tolist(), 3)
    found = plan(table, population="these")
    se = float(found.at(3)[0, 0]) / t.ppf(0.975, 2)
    assert se == pytest.approx(np.std(means), rel=1e-12)


def test_the_fewest_that_do() -> None:
    table = make((1, 9, 3, 4, 2, 12, 5, 5))
    for target in (3.0, 0.9, 0.4, 0.11):
        for population in (None, "these", 40):
            found = plan(table, target, population=population)
            d = int(found.documents[0, 0])
            assert found.at(d)[0, 0] <= target
            if d > 2:
                assert found.at(d - 1)[0, 0] > target
            if found.population is not None:
                assert d <= found.population
    between = float(plan(table).found.between[0, 0])
    want = t.ppf(0.95, 24) * between / 5
    assert half_width_of(between, 25, 0.9, None) == pytest.approx(want)
    assert plan(table, 0.2).documents > plan(table, 0.2, confidence=0.8).documents
    assert np.isnan(plan(table, 1e-9).documents[0, 0])
    assert "–" in plan(table, 1e-9).summary()
    assert repr(plan(table, 1e-9)) == "DocumentsNeeded(no number of documents for ±1e-09)"


def test_differences_need_fewer() -> None:
    a = make((6,) * 12, seed=3, share=2.0).assign(team="a")
    b = a.assign(team="b", y=a["y"] + 0.3 + np.random.default_rng(0).normal(0, 0.3, len(a)))
    both = pd.concat([a, b])
    alone = plan(both, 0.3, system="team")
    found = plan(both, 0.3, system="team", against="a")
    assert alone.data.systems == ("a", "b") and found.data.systems == ("b",)
    assert found.found.value[0, 0] == pytest.approx((b["y"] - a["y"]).mean())
    assert found.documents[0, 0] < alone.documents.min() / 5
    assert "difference to a within ±0.3" in found.summary()


def test_frame_text_and_dict() -> None:
    table = make((4, 6, 2, 8, 5))
    found = plan(table, 0.5)
    row = found.to_frame().iloc[0]
    assert row["documents"] == found.documents[0, 0]
    assert row["segments"] == pytest.approx(row["documents"] * 5)
    assert row["expected"] <= 0.5 and row["half_width"] == pytest.approx(found.at(5)[0, 0])
    record = json.loads(json.dumps(plain(found.to_dict())))
    assert record["target"] == 0.5 and record["documents"] == 5 and len(record["rows"]) == 1
    text = found.summary()
    assert "Documents, out of many, for a score within ±0.5 (95%)" in text
    assert max(map(len, text.splitlines())) <= 80
    assert found.at([2, 5, 50]).shape == (1, 1, 3)


@pytest.mark.parametrize(
    ("told", "error", "say"),
    [
        ({"half_width": 0}, FewgoldError, "the half-width must be above 0"),
        ({"population": "all"}, FewgoldError, "a number of documents or 'these'"),
        ({"population": 1}, FewgoldError, "at least 2"),
        ({"confidence": 95}, FewgoldError, "between 0 and 1"),
        ({"against": "a"}, UnknownNameError, "unknown system 'a'"),
    ],
)
def test_what_is_wrong(told, error, say: str) -> None:
    with pytest.raises(error, match=say):
        plan(make((3, 4, 5)), **{"half_width": 0.5, **told})


def test_numbers_that_make_no_sense() -> None:
    found = plan(make((3, 4, 5)), 0.5, population=10)
    for wrong in (1, 11):
        with pytest.raises(FewgoldError, match="at least 2 and at most 10"):
            found.at(wrong)
