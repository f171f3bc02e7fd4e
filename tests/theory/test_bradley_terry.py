"""Coverage of rankings from pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from fewgold.comparison import bradley_terry
from fewgold.comparison.bradley_terry import _solve

WORDS = {0.0: "B", 0.5: "tie", 1.0: "A"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("systems", "size", "rated", "agree"),
    [(4, 2000, 60, 0.7), (4, 600, 300, 0.7), (6, 3000, 200, 0.5), (3, 1000, 40, 0.8)],
)
def test_strengths_are_covered(systems: int, size: int, rated: int, agree: float) -> None:
    """With a judge and without, though the model is wrong: pairs differ in more than strengths."""
    draws = 500
    rng = np.random.default_rng(systems * 1000 + rated)
    strength = np.linspace(-0.8, 0.8, systems)
    one = rng.integers(systems, size=size)
    two = (one + 1 + rng.integers(systems - 1, size=size)) % systems
    y = (rng.random(size) < expit(strength[one] - strength[two] + rng.normal(0, 0.5, size))) * 1.0
    y[rng.random(size) < 0.2] = 0.5
    said = np.where(rng.random(size) < agree, y, rng.choice([0, 0.5, 1], size, p=[0.3, 0.1, 0.6]))
    x = np.zeros((size, systems))
    x[np.arange(size), one], x[np.arange(size), two] = 1, -1
    truth = _solve(x, np.full(size, 1 / size), x.T @ y / size)
    frame = pd.DataFrame({
        "one": [f"s{k}" for k in one], "two": [f"s{k}" for k in two],
        "judge": [WORDS[v] for v in said],
    })  # fmt: skip
    words = np.array([WORDS[v] for v in y], dtype=object)
    covered: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(draws):
        frame["people"] = np.where(
            np.isin(np.arange(size), rng.permutation(size)[:rated]), words, ""
        )
        for judge in (True, False):
            found = bradley_terry(
                frame, human="people", first="one", second="two",
                judges=["judge"] if judge else [],
            ).to_frame().set_index("system")  # fmt: skip
            own = found.loc[[f"s{k}" for k in range(systems)]]
            covered[judge].append(float(((own["low"] <= truth) & (truth <= own["high"])).mean()))
    for each in covered.values():
        # Systems of a draw go together, so the error is that of the draws' means.
        error = np.std(each) / np.sqrt(draws)
        assert 0.94 - 3 * error <= np.mean(each) <= 0.96 + 3 * error
