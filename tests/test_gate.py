"""A gate: verdicts, exit codes, and how many more ratings would decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fewgold import Pool
from fewgold.bayes import BinaryPosterior
from fewgold.bounds import Betting, Student
from fewgold.errors import DataError, FewgoldError
from fewgold.estimators import Mean
from fewgold.gate import VERDICTS, Gate, gate
from fewgold.labels import for_target
from fewgold.missing import PartialRatings
from fewgold.samplers import SimpleRandom


def _estimate(n: int = 60, size: int = 1000, seed: int = 0) -> tuple[Any, float]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 1, size)
    pool = Pool(np.arange(size), {"z": scores + rng.normal(size=size)})
    sample = SimpleRandom().draw(pool, n, rng=seed)
    return Mean(bound=Student()).estimate(sample.rate(scores[sample.indices])), scores.mean()


def test_a_verdict_is_where_the_interval_lies() -> None:
    made, _ = _estimate()
    low, high = made.interval(0.9)
    apart = 0.01
    for bar, higher, verdict in (
        (low - apart, True, "better"), (low + apart, True, "unknown"),
        (high + apart, True, "worse"),
        (low - apart, False, "worse"), (high - apart, False, "unknown"),
        (high + apart, False, "better"), (low, True, "better"), (high, False, "better"),
    ):  # fmt: skip
        found = gate(made, bar, higher_is_better=higher)
        assert found.verdict == verdict
        assert found.exit_code == {"better": 0, "worse": 1, "unknown": 3}[verdict]
        assert found.passed is {"better": True, "worse": False, "unknown": None}[verdict]
        assert found.level == pytest.approx(0.9)
        assert f"{bar:g}" in found.sentence and found.signature in found.summary()
        assert (found.more is not None) == (verdict == "unknown")


def test_wrong_verdicts_are_as_rare_as_stated() -> None:
    """The worst case: the score is just on the wrong side of the bar."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=2000)
    pool = Pool(np.arange(2000), {})
    sample = SimpleRandom().draw(pool, 80, draws=3000, rng=2)
    wrong = 0
    for k in range(3000):
        one = sample.draw(k)
        made = Mean(bound=Student()).estimate(one.rate(scores[one.indices]))
        wrong += gate(made, float(scores.mean()) + 1e-9).verdict == "better"
    assert wrong / 3000 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 3000)
    assert wrong / 3000 > 0.03


def test_looks_share_the_error() -> None:
    made, _ = _estimate()
    one, five = gate(made, 0.0, looks=1), gate(made, 0.0, looks=5)
    assert five.level == pytest.approx(1 - 2 * 0.05 / 5)
    assert five.low < one.low and five.high > one.high


def test_as_many_more_ratings_decide_with_the_stated_chance() -> None:
    rng = np.random.default_rng(5)
    scores, size = rng.normal(size=3000), 3000
    pool, bar = Pool(np.arange(size), {}), float(scores.mean()) - 0.12
    first = SimpleRandom().draw(pool, 60, rng=1)
    # An estimate that is right about the mean and the spread tells what it takes.
    y = scores[first.indices]
    y = (y - y.mean()) / y.std(ddof=1) * scores.std() + scores.mean()
    more = gate(Mean(bound=Student()).estimate(first.rate(y)), bar).more
    assert more is not None
    sample = SimpleRandom().draw(pool, 60 + more, draws=800, rng=3)
    decided = 0
    for k in range(800):
        one = sample.draw(k)
        made = Mean(bound=Student()).estimate(one.rate(scores[one.indices]))
        decided += gate(made, bar).verdict == "better"
    assert decided / 800 == pytest.approx(0.8, abs=0.05)


def test_all_that_is_left_may_be_needed() -> None:
    made, _ = _estimate(n=60, size=100)
    found = gate(made, float(made.value) + 1e-6)
    assert found.more == 40 and "all 40" in found.advice


def test_a_census_always_decides() -> None:
    made, truth = _estimate(n=100, size=100)
    assert gate(made, truth - 1e-6).verdict == "better"
    assert gate(made, truth + 1e-6).verdict == "worse"


def test_other_estimates_can_be_gated() -> None:
    rng = np.random.default_rng(4)
    good = rng.random(500) < 0.8
    judge = np.where(rng.random(500) < 0.9, good, ~good).astype(float)
    pool = Pool(np.arange(500), {"judge": judge})
    sample = SimpleRandom().draw(pool, 80, rng=1)
    scores = good[sample.indices].astype(float)
    partial = PartialRatings(sample, scores, (0.0, 1.0))
    posterior = gate(BinaryPosterior().estimate(partial.complete()), 0.5)
    assert (posterior.verdict, posterior.kind) == ("better", "credible")
    process = gate(for_target(Mean(), partial, "process"), 0.8)
    assert process.verdict == "unknown" and process.more is not None
    scores[:5] = np.nan
    bounds = PartialRatings(sample, scores, (0.0, 1.0)).bounds(Mean())
    found = gate(bounds, 0.78)
    assert (found.verdict, found.value, found.more) == ("unknown", None, None)
    sure = gate(Mean(bound=Betting()).estimate(partial.complete()), 0.5)
    assert (sure.verdict, sure.kind) == ("better", "guaranteed")


def test_what_cannot_be_is_refused() -> None:
    made, _ = _estimate()
    rated = (
        SimpleRandom().draw(Pool(np.arange(50), {}), 20, rng=1).rate([0.0, 1.0] * 10, limits=(0, 1))
    )
    with pytest.raises(DataError, match="from 0 to 1; got 80"):
        gate(Mean().estimate(rated), 80)
    with pytest.raises(DataError, match="the bar must be a number"):
        gate(made, math.nan)
    with pytest.raises(FewgoldError, match=r"above 0\.5"):
        gate(made, 1.0, confidence=0.5)
    with pytest.raises(FewgoldError, match="equal tails"):
        gate(Mean(bound=Betting(upper=0.2)).estimate(made.ratings), 1.0)


def test_a_gate_shows_itself() -> None:
    made, _ = _estimate()
    found = gate(made, float(made.value))
    assert isinstance(found, Gate) and found.verdict in VERDICTS
    assert repr(found).startswith("Gate(unknown: ")
    assert list(found.to_frame()["verdict"]) == ["unknown"]
    assert found.to_dict()["more"] == found.more
    assert found.plot().lines
