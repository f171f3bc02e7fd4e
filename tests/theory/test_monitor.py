"""What a monitor promises, by simulation: false alarms in 200 looks, and every point of the line.

Each stream is 201 batches of 150 items, 40 rated, that never get worse: rows of a population drawn
anew for each batch (or the same rows in every batch, where the promise is about a batch's own).
Real ones replay FRANK (factual or not) and WMT20 English-German (MQM, all systems).
``FEWGOLD_SEED`` sets another seed: the tests hold for any. Tolerances follow from the number
of streams alone (``FEWGOLD_STREAMS``).
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from fewgold import Pool
from fewgold.datasets import data_folder, real_frame
from fewgold.design import Design
from fewgold.monitoring import Batch, Batches, FalseAlarms, monitor
from fewgold.sample import Ratings, Sample

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
STREAMS = int(os.environ.get("FEWGOLD_STREAMS", "40"))
LOOKS, SIZE, RATED, RATE = 200, 150, 40, 0.05
#: Chance that a promise that is just kept fails a test here.
ERR = 1e-4

Population = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], tuple[float, float], bool, float]


@cache
def population(name: str) -> Population:
    """Scores, judge, ends of the scale, whether higher is better, and a drop that matters."""
    if name == "synthetic":
        rng = np.random.default_rng(1)
        scores = np.where(rng.random(3000) < 0.3, rng.beta(1, 2, 3000), 1.0)
        return scores, scores + rng.normal(0, 0.3, 3000), (0.0, 1.0), True, 0.1
    if data_folder() is None:
        pytest.skip("real data are not here; set FEWGOLD_DATA to their folder")
    if name == "frank":
        frame = real_frame("frank").dropna(subset=["factual_binary", "BertScore_P_Art"])
        human, judge = frame["factual_binary"], frame["BertScore_P_Art"]
        return human.to_numpy(float), judge.to_numpy(float), (0.0, 1.0), True, 0.15
    frame = real_frame("wmt20_ende")
    metric = next(c for c in frame if "bleurt" in str(c).lower())
    frame = frame.dropna(subset=["mqm", metric])
    human, judge = frame["mqm"], frame[metric]
    return human.to_numpy(float), judge.to_numpy(float), (0.0, 25.0), False, 1.5


def stream(name: str, seed: int, same: bool = False) -> tuple[Batches, np.ndarray[Any, Any]]:
    """Batches that never get worse, and the mean of all items of each."""
    scores, judge, limits, _, _ = population(name)
    rng = np.random.default_rng([SEED, seed])
    rows = rng.integers(scores.size, size=SIZE)
    parts, truth = [], []
    for k in range(LOOKS + 1):
        if not same:
            rows = rng.integers(scores.size, size=SIZE)
        taken = rng.permutation(SIZE)[:RATED]
        pool = Pool(np.arange(SIZE), {"judge": judge[rows]})
        sample = Sample(pool, taken, Design.simple(RATED, SIZE))
        own = Ratings(sample, scores[rows[taken]], limits)
        parts.append(Batch(str(k), np.arange(SIZE) + SIZE * k, own, RATED))
        truth.append(scores[rows].mean())
    return Batches(tuple(parts), "batch", SIZE * (LOOKS + 1)), np.array(truth)


WAYS: dict[str, dict[str, Any]] = {
    "before": {},
    "first 4": {"baseline": 4},
    "first 4, guaranteed": {"baseline": 4, "method": "guaranteed"},
}
NAMES = ["synthetic", "frank", "wmt20"]


@cache
def alarms(name: str, way: str) -> int:
    """How many streams that never get worse gave an alarm."""
    *_, higher, drop = population(name)
    how: dict[str, Any] = WAYS.get(way, {})
    found = 0
    for seed in range(STREAMS):
        # Bets are about the segments of a batch, comparisons with other batches about the system.
        same = way.startswith("target") or way.endswith("guaranteed")
        batches, truth = stream(name, seed, same=same)
        if way.startswith("target"):
            how = {"target": float(truth[0]), "method": way.split()[1]}
        made = monitor(
            batches, drop=drop, higher_is_better=higher, false_alarms=FalseAlarms(RATE, LOOKS),
            **how,
        )  # fmt: skip
        found += made.alarm is not None
    return found


@pytest.mark.parametrize("way", [*WAYS, "target auto", "target approximate"])
@pytest.mark.parametrize("name", NAMES)
def test_false_alarms_in_200_looks_are_as_rare_as_promised(name: str, way: str) -> None:
    assert alarms(name, way) <= binom.isf(ERR, STREAMS, RATE)


@cache
def misses(name: str, method: str) -> dict[str, Any]:
    """(streams, batches) whether an interval misses the mean of all items of its batch."""
    higher = population(name)[3]
    found: dict[str, list[Any]] = {"own": [], "all": [], "running": []}
    for seed in range(STREAMS):
        batches, truth = stream(name, seed)
        how = {"baseline": 4, "method": "guaranteed"} if method == "guaranteed" else {}
        made = monitor(batches, higher_is_better=higher, **how).table  # type: ignore[arg-type]
        running = np.cumsum(truth) / np.arange(1, truth.size + 1)
        for key, (low, high), true in (
            ("own", ("low", "high"), truth), ("all", ("low_all", "high_all"), truth),
            ("running", ("running_low", "running_high"), running),
        ):  # fmt: skip
            found[key].append((made[low] > true + 1e-9) | (made[high] < true - 1e-9))
    return {key: np.array(value) for key, value in found.items()}


@pytest.mark.parametrize("method", ["approximate", "guaranteed"])
@pytest.mark.parametrize("name", NAMES)
def test_every_point_of_the_line_is_covered(name: str, method: str) -> None:
    own = misses(name, method)["own"]
    points = own.shape[1]
    assert own.sum(0).max() <= binom.isf(ERR / points, STREAMS, RATE)  # each point by itself
    assert own.sum() <= binom.isf(ERR, own.size, RATE)  # and all of them


@pytest.mark.parametrize("method", ["approximate", "guaranteed"])
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_line_is_covered_together(name: str, method: str) -> None:
    found = misses(name, method)
    for key in ("all", "running"):
        assert found[key].any(1).sum() <= binom.isf(ERR, STREAMS, RATE), key


def test_a_drop_is_found() -> None:
    """The tests above could be passed by a monitor that is silent for ever."""
    drop = population("synthetic")[4]
    found = 0
    for seed in range(STREAMS):
        batches, _ = stream("synthetic", seed)
        rng = np.random.default_rng([SEED, seed, 1])
        parts = list(batches.parts)
        for k in range(30, LOOKS + 1):
            own = parts[k].ratings
            assert own is not None
            worse = np.clip(own.scores - 2 * drop * (rng.random(RATED) < 0.6), 0, 1)
            parts[k] = Batch(parts[k].label, parts[k].rows,
                             Ratings(own.sample, worse, own.limits), RATED)  # fmt: skip
        made = monitor(Batches(tuple(parts), "batch", batches.size), drop=drop).alarm
        found += made is not None and 30 <= int(made.batch) <= 45
    assert found >= binom.isf(1 - ERR, STREAMS, 0.9)
