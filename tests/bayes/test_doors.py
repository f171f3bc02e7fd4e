"""The binary model on every sampler, through every door: sheets, campaigns, simulation, disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold import registry, sheets, simulate
from fewgold.bayes import BinaryPosterior
from fewgold.campaign import Campaign
from fewgold.formats import Rating
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.stored import StoredPool

SIZE = 120
COLUMNS = {"id": "id", "document": "document", "metrics": ["judge"]}
RNG = np.random.default_rng(3)
GOLD = (RNG.random(SIZE) < RNG.beta(4, 3, 15).repeat(8)).astype(float)
FRAME = pd.DataFrame({
    "id": [f"{k:03d}" for k in range(SIZE)],
    "document": [f"d{k // 8}" for k in range(SIZE)],
    "judge": np.where(RNG.random(SIZE) < 0.8, GOLD, 1 - GOLD),
})  # fmt: skip
WAY = {"judge": 1}  # larger is better
POOL = Pool.from_table(FRAME, id="id", document="document", metrics=["judge"], orientation=WAY)
TRUTH = dict(zip(FRAME["id"], GOLD, strict=True))
MODEL = BinaryPosterior("judge")


def rated(sample: Sample) -> Ratings:
    return sample.rate([TRUTH[i] for i in sample.ids.tolist()])


def plausible(found: object) -> None:
    """A posterior that is neither sure nor empty, and not far from the truth."""
    low, high = (float(end) for end in found.interval(0.9999))  # type: ignore[attr-defined]
    assert 0 <= low < high <= 1
    assert low - 0.1 < GOLD.mean() < high + 0.1


@pytest.mark.parametrize("name", registry.sampler_names())
def test_sheets(name: str, tmp_path: Path) -> None:
    """A sheet and a top-up on disk give the estimate that they give in memory."""
    sampler = registry.sampler(name)
    first = rated(sampler.draw(POOL, 24, rng=1))
    both = sampler.draw(POOL, 16, given=first, rng=2)
    for sample, ratings in ((first.sample, first), (both, rated(both))):
        path = tmp_path / f"{ratings.n}.csv"
        sheets.save_sample(sample, path, strategy=f"{name}+alpha-judge", columns=COLUMNS)
        sheet = pd.read_csv(path, dtype=str)
        sheet["score"] = [TRUTH[i] for i in sheet["id"]]
        again = sheets.read_ratings(sheet, sheets.load_sample(sheets.design_path(path), POOL))
        found, expected = MODEL.estimate(again), MODEL.estimate(ratings)
        plausible(found)
        assert float(found.value) == pytest.approx(float(expected.value), abs=1e-12)
        np.testing.assert_allclose(found.interval(), expected.interval(), atol=1e-12)
        assert found.notes == expected.notes


@pytest.mark.parametrize("name", registry.sampler_names())
def test_campaigns(name: str, tmp_path: Path) -> None:
    """Two waves; samplers that look at each rating take one segment at a time."""
    # Ranks of metrics are refused as chances on short scales, so no scale is given there.
    limits = None if name == "docs-uneven-rank" else (0, 1)
    with Campaign.create(
        tmp_path / "study", POOL, seed=4, strategy=f"{name}+alpha-judge", limits=limits
    ) as study:
        study.add([Rating(i, TRUTH[i], "ann") for i in study.select(24).ids])
        for _ in range(8 if "-incr-" in name else 1):
            study.add([Rating(i, TRUTH[i], "ann") for i in study.more(16).ids])
            plausible(study.estimate())
        assert study.status().rated == (9 if "-incr-" in name else 40)


def test_simulation_of_every_sampler() -> None:
    names = [f"{name}+alpha-judge" for name in registry.sampler_names()]
    done = simulate(POOL, GOLD, names, [30], draws=3, limits=(0, 1)).to_frame()
    assert set(names) <= set(done["strategy"])
    assert np.isfinite(done["abs_error"]).all()


@pytest.mark.parametrize("name", registry.sampler_names())
def test_pools_on_disk(name: str, tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "pool.parquet")
    pool = StoredPool(
        tmp_path / "pool.parquet", id="id", document="document", metrics=["judge"], orientation=WAY
    )
    sampler = registry.sampler(name)
    if not pool._can_use(sampler):
        with pytest.raises(Exception, match="on disk"):
            sampler.draw(pool, 24, rng=1)
        return
    first = rated(sampler.draw(pool, 24, rng=1))
    plausible(MODEL.estimate(first))
    plausible(MODEL.estimate(rated(sampler.draw(pool, 16, given=first, rng=2))))
