"""Do the Monte-Carlo errors of a simulation tell how much its figures vary from seed to seed?"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fewgold as fg
from fewgold.testing import toy_pool

pytestmark = pytest.mark.slow

RUNS, DRAWS = 300, 60
FIGURES = [
    *("abs_error", "abs_error_sd", "bias", "rmse", "half_width", "slack", "reduction"),
    *("variance_ratio", "ess", "coverage", "se", "sd", "se_ratio"),
]


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    """The same simulation with many seeds."""
    pool, gold = toy_pool(200)
    names = ["random+mean", "random+cv-multi", "docs-prop+mean"]
    frames = [
        fg.simulate(pool, gold, names, [40], draws=DRAWS, rng=seed).to_frame().assign(seed=seed)
        for seed in range(RUNS)
    ]
    return pd.concat(frames)


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("strategy", ["random+cv-multi", "docs-prop+mean"])
def test_errors_of_figures(runs: pd.DataFrame, strategy: str, figure: str) -> None:
    """Their root mean square against the spread over seeds, good to 1/√(2·300) = 4 %."""
    part = runs[runs.strategy == strategy]
    told = np.sqrt((part[f"{figure}_mc"] ** 2).mean())
    real = part[figure].std()
    # Errors of standard deviations come from fourth moments, which 60 draws tell poorly; coverage
    # counts four more draws on purpose.
    assert told == pytest.approx(real, rel=0.16 if figure != "coverage" else 0.25)


def test_wins(runs: pd.DataFrame) -> None:
    """The told error of a win, averaged, against that of a coin with the real share of wins."""
    part = runs[runs.strategy == "docs-prop+mean"]
    share = part["win"].mean()
    assert 0.1 < share < 0.9, "choose data where the winner is not clear"
    assert np.sqrt((part["win_mc"] ** 2).mean()) == pytest.approx(
        np.sqrt(share * (1 - share)), rel=0.25
    )


def test_known_baseline_saves_draws(runs: pd.DataFrame) -> None:
    """Against the formula of the baseline's variance, pairs tell more than each cell by itself."""
    part = runs[runs.strategy == "random+cv-multi"]
    base = runs[runs.strategy == "random+mean"]
    plain = (part["rmse"].to_numpy() / base["rmse"].to_numpy()) ** 2
    exact = 1 / part["ess"].to_numpy() - 1 / 200
    exact = exact / (1 / 40 - 1 / 200)
    assert exact.std() < plain.std()
    assert exact.mean() == pytest.approx(plain.mean(), abs=0.03)
