"""A budget planned from last year's ratings gives the width that was asked for."""

import pytest

from fewgold import simulate
from fewgold.datasets import load_demo
from fewgold.planning import Goal, plan_from_history

pytestmark = pytest.mark.slow


def test_history_keeps_its_promise() -> None:
    pool, gold = load_demo("ende")
    names = ["random+mean", "docs-balanced+ridge"]
    found = plan_from_history(Goal(half_width=0.4), pool, gold, names, draws=100)
    for need in found.needs:
        done = simulate(pool, gold, [need.strategy], [need.n], draws=300, rng=77).to_frame()
        reached = done.set_index("strategy").loc[need.strategy]["half_width"]
        assert reached == pytest.approx(0.4, rel=0.05), need.strategy
    assert found["docs-balanced+ridge"].n < found["random+mean"].n
