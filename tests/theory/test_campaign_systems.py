"""Campaigns of several systems with waves and gaps: intervals of differences and ranks hold."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from fewgold.campaign import Campaign
from fewgold.datasets import demo_frame
from fewgold.formats import Rating
from fewgold.pool import Pool

pytestmark = pytest.mark.slow

SYSTEMS = ("alpha", "beta", "gamma", "delta")
METRICS = ("comet", "bleurt", "chrf")
DRAWS = 600
LEVEL = 0.05


def begun(path: Path, strategy: str) -> tuple[np.ndarray, dict[str, float]]:
    """A campaign of four systems of the embedded data; true scores of each, and of each output."""
    table = demo_frame("ende")
    table = table[table["system"].isin(SYSTEMS)]
    human = table[[f"rater{k}" for k in range(1, 7)]].mean(axis=1).to_numpy()
    ids = (table["system"] + ":" + table["segment"].astype(str)).to_numpy()
    pool = Pool(
        ids=ids, system=table["system"].to_numpy(), documents=table["document"].to_numpy(),
        metrics={name: table[name].to_numpy(dtype=float) for name in METRICS},
    )  # fmt: skip
    Campaign.create(
        path, pool, segments=table["segment"].to_numpy(), strategy=strategy, seed=1,
        limits=(0, 25), higher_is_better=False,
    ).close()  # fmt: skip
    true = np.array([human[table["system"] == s].mean() for s in SYSTEMS])
    return true, dict(zip(ids.tolist(), human.tolist(), strict=True))


@pytest.mark.parametrize("strategy", ["docs-balanced+ridge", "random+mean"])
def test_differences_and_ranks(tmp_path: Path, strategy: str) -> None:
    """60 segments, then 40 more; a seventh of all outputs is never rated, as chance has it.

    Each interval of a difference holds in 95 % of the draws, and all intervals of ranks together
    in at least as many.
    """
    true, gold = begun(tmp_path / "first.fewgold", strategy)
    rank = {s: 1 + int((true < value).sum()) for s, value in zip(SYSTEMS, true, strict=True)}
    value_of = dict(zip(SYSTEMS, true, strict=True))
    covered, ranked = [], []
    for draw in range(DRAWS):
        path = tmp_path / "draw.fewgold"
        shutil.copy(tmp_path / "first.fewgold", path)
        rng = np.random.default_rng([draw, 9])
        with Campaign(path) as study:
            study.select(60, seed=2 * draw)
            study.more(40, seed=2 * draw + 1)
            told = [i for i in study.unrated if rng.random() > 1 / 7]
            study.add(Rating(i, gold[i]) for i in told)
            result = study.compare("at-random", level=LEVEL)
        path.unlink()
        for row in result.differences().itertuples():
            wanted = value_of[row.first] - value_of[row.second]
            covered.append(row.low <= wanted <= row.high)
        ranks = result.ranking().set_index("system")
        ranked.append(
            all(ranks.loc[s, "rank_low"] <= rank[s] <= ranks.loc[s, "rank_high"] for s in SYSTEMS)
        )
    # Six differences of a draw are as good as three independent ones, or more.
    error = 3 * np.sqrt(LEVEL * (1 - LEVEL) / (3 * DRAWS))
    print(f"{strategy}: {np.mean(covered):.4f} of differences, {np.mean(ranked):.4f} of ranks")
    assert abs(np.mean(covered) - (1 - LEVEL)) < 0.01 + error
    assert np.mean(ranked) > 1 - LEVEL - 3 * np.sqrt(LEVEL * (1 - LEVEL) / DRAWS)
