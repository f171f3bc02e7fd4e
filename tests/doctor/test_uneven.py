"""Whether uneven chances are likely to pay on a table, as the doctor tells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold.doctor import examine


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(table: pd.DataFrame) -> tuple[bool, str] | None:
    table.to_csv("t.csv", index=False)
    found = [s for s in examine("t.csv").supports if s.name == "uneven chances"]
    return (found[0].ok, found[0].detail) if found else None


def table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    comet = rng.normal(size=n)
    return pd.DataFrame({
        "id": [f"s{k:03d}" for k in range(n)], "document": [f"d{k // 5}" for k in range(n)],
        "comet": comet.round(4), "source": [f"text {k}" for k in range(n)],
    })  # fmt: skip


def test_by_the_rank_of_the_metrics() -> None:
    rng, base = np.random.default_rng(3), table()
    m = base["comet"].to_numpy()
    # Error counts stray the more the worse the metric; others everywhere alike.
    counts = np.round(6 - 4 * m + 3 * np.exp(-1.2 * m) * rng.normal(size=len(m)), 2) + 40
    alike = np.round(6 - 4 * m + 3 * rng.normal(size=len(m)), 2) + 40
    ok, detail = told(base.assign(mqm=counts)) or (False, "")
    assert ok and "less error on these ratings, --strategy docs-uneven-rank+ridge" in detail
    ok, detail = told(base.assign(mqm=alike)) or (True, "")
    assert not ok and detail == "by the rank of the metrics they would not have paid off here"


def test_the_gain_is_that_of_the_formula() -> None:
    from fewgold import Pool
    from fewgold.registry import sampler

    base, rng = table(), np.random.default_rng(3)
    m = base["comet"].to_numpy()
    y = 40 - 4 * m + 3 * np.exp(-1.2 * m) * rng.normal(size=len(m))
    _, detail = told(base.assign(mqm=y)) or (False, "")
    slope = np.cov(m, y, ddof=0)[0, 1] / m.var()
    e = y - y.mean() - slope * (m - m.mean())
    n = len(m) // 10
    chances = sampler("docs-uneven-rank").chances  # type: ignore[attr-defined]
    pi = chances.inclusion(Pool(base["id"].to_numpy(), {"comet": m}), n)
    ratio = np.sqrt((e**2 * (1 / pi - 1)).sum() / (e**2 * (len(m) / n - 1)).sum())
    assert detail.startswith(f"about {1 - ratio:.0%} less error")


def test_by_a_judge() -> None:
    rng, base = np.random.default_rng(4), table()
    q = rng.beta(0.3, 0.3, len(base)).round(4)
    judged = base.assign(judge_prob=q)
    ok, detail = told(judged) or (False, "")
    assert ok and "fewgold select --uncertainty judge_prob" in detail and "--history" in detail
    right = judged.assign(human=(rng.random(len(q)) < q).astype(int))
    ok, detail = told(right) or (False, "")
    assert ok and "with --uncertainty judge_prob" in detail
    wrong = judged.assign(human=(rng.random(len(q)) < 0.5).astype(int))
    ok, detail = told(wrong) or (True, "")
    assert not ok and detail == "by “judge_prob” they would not have paid off here"


def test_a_system_without_ratings_beside_others() -> None:
    rng, base = np.random.default_rng(5), table(60)
    old = base.assign(system="old", human=rng.integers(1, 6, 60).astype(float))
    new = base.assign(system="new", human=np.nan)
    ok, detail = told(pd.concat([old, new])) or (False, "")
    assert ok and "--history FILE" in detail


def test_where_nothing_tells_nothing_is_said() -> None:
    rng, base = np.random.default_rng(6), table()
    assert told(base) is None
    assert told(base.assign(human=rng.integers(1, 6, len(base)))) is None  # a Likert scale
    assert told(base.assign(confidence=rng.normal(size=len(base)))) is None  # not what it says
    assert told(table(40).assign(mqm=rng.integers(0, 25, 40))) is None  # too few
    # A metric of which nobody knows whether larger is better ranks nothing.
    unknown = base.rename(columns={"comet": "score_b"}).assign(mqm=rng.integers(0, 26, len(base)))
    assert told(unknown) is None
