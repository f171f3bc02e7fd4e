"""Planned budgets hold on real ratings: half-widths and power are as promised, within 5 %."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fewgold import registry, simulate
from fewgold.common.statistics import intraclass_correlation as intraclass
from fewgold.datasets import data_folder, load_real, real_systems
from fewgold.planning import Goal, Outlook, plan_from_history

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(data_folder() is None, reason="no real data: set FEWGOLD_DATA"),
]
SETS = ("wmt20_ende", "wmt20_zhen")


def _study(name: str, at: int = 0):
    return load_real(name, system=real_systems(name)[at])


def _reached(pool, gold, strategy: str, n: int) -> tuple[float, float]:
    made = registry.strategy(strategy, pool)
    made = type(made)(sampler=made.sampler, bound="student")
    done = simulate(pool, gold, {strategy: made}, [n], draws=600, rng=5).to_frame()
    cell = done.set_index("strategy").loc[strategy]
    return float(cell["half_width"]), float(cell["coverage"])


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("at", [0, 4])
def test_half_width_from_what_is_known(name: str, at: int) -> None:
    """With the sd and correlation of the pool itself, the formulas keep their word."""
    pool, gold = _study(name, at)
    z = pool.standardised()
    slopes = np.linalg.lstsq(z.T, gold - gold.mean(), rcond=None)[0]
    multiple = float(np.corrcoef(slopes @ z, gold)[0, 1])
    sizes = np.bincount(pool.codes)
    outlook = Outlook(
        sd=float(gold.std(ddof=1)),
        correlation=multiple,
        slopes=len(pool.metrics),
        icc=intraclass(gold, pool.codes),
        per_document=float((sizes**2).sum() / sizes.sum()),
        size=len(pool),
    )
    goal = Goal(half_width=float(0.12 * gold.std()))
    for strategy in ("random+mean", "random+ridge"):
        n = outlook.ratings(strategy, goal)
        half, coverage = _reached(pool, gold, strategy, n)
        assert half == pytest.approx(goal.half_width, rel=0.05), (strategy, n)
        assert coverage > 0.92


@pytest.mark.parametrize("name", SETS)
def test_half_width_from_history(name: str) -> None:
    pool, gold = _study(name)
    goal = Goal(half_width=float(0.15 * gold.std()))
    names = ["random+mean", "random+ridge", "docs-balanced+ridge", "docs-chunks3+mean"]
    found = plan_from_history(goal, pool, gold, names, draws=200)
    for need in found.needs:
        done = simulate(pool, gold, [need.strategy], [need.n], draws=600, rng=6).to_frame()
        half = done.set_index("strategy").loc[need.strategy]["half_width"]
        assert half == pytest.approx(goal.half_width, rel=0.05), need.strategy


@pytest.mark.parametrize("name", SETS)
def test_ratings_from_pilots(name: str) -> None:
    """A pilot of 100 errs by its sd, but not to one side: plans have the right size on average."""
    pool, gold = _study(name)
    goal = Goal(half_width=float(0.15 * gold.std()))
    made = registry.strategy("random+mean", pool)
    right = Outlook(sd=float(gold.std(ddof=1)), size=len(pool)).ratings("random+mean", goal)
    found, safe = [], []
    for seed in range(200):
        sample = made.select(pool, 100, rng=seed)
        ratings = sample.rate(gold[sample.indices])
        found.append(Outlook.from_pilot(ratings).ratings("random+mean", goal))
        safe.append(Outlook.from_pilot(ratings, assurance=0.8).ratings("random+mean", goal))
    assert np.mean(found) == pytest.approx(right, rel=0.05)
    # Skewed scores: an assurance of 80 % for normal ones is less, but well above one half.
    assert np.mean(np.array(safe) >= right) > 0.6
    print(name, "enough with assurance:", np.mean(np.array(safe) >= right))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("power", [0.5, 0.8])
def test_power_of_differences(name: str, power: float) -> None:
    """Differences of two systems on the same segments, moved to a mean of the planned size."""
    one, two = (_study(name, at)[1] for at in (1, 5))
    scores = one - two
    sd, size = float(scores.std(ddof=1)), scores.size
    goal = Goal(difference=0.2 * sd, power=power)
    n = goal.least(sd, size)
    moved = scores - scores.mean() + goal.difference
    rng = np.random.default_rng(8)
    rows = np.argsort(rng.random((4000, size)), axis=1)[:, :n]
    drawn = moved[rows]
    se = drawn.std(1, ddof=1) * np.sqrt(1 / n - 1 / size)
    found = np.abs(drawn.mean(1) / se) > stats.t.ppf(0.975, n - 1)
    assert found.mean() == pytest.approx(power, abs=0.05)
