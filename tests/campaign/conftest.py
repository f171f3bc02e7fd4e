"""A small pool with texts, and people who answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fewgold.campaign import Campaign
from fewgold.formats import Rating
from fewgold.pool import Pool

N = 60


def small_pool() -> Pool:
    rng = np.random.default_rng(5)
    quality = rng.normal(size=N)
    return Pool(
        ids=np.array([f"{i:03d}" for i in range(N)]),
        documents=np.array([f"doc{i // 6}" for i in range(N)]),
        metrics={
            "comet": quality + rng.normal(size=N),
            "length": rng.integers(3, 40, N).astype(float),
        },
        texts={"source": np.array([f"source {i}" for i in range(N)]),
               "output": np.array([f"=output {i} <b>ü</b>" for i in range(N)])},
        orientation={"comet": 1, "length": 0},
    )  # fmt: skip


def truth(id: str) -> float:
    """What people think of a segment."""
    return float((int(id) * 37) % 101)


@pytest.fixture
def pool() -> Pool:
    return small_pool()


@pytest.fixture
def campaign(tmp_path: Path, pool: Pool) -> Campaign:
    return Campaign.create(tmp_path / "study", pool, seed=4, limits=(0, 100))


Answer = Callable[..., list[Rating]]


@pytest.fixture
def answer() -> Answer:
    """Answers of one rater about some ids."""

    def make(ids: list[str], rater: str = "ann", shift: float = 0.0) -> list[Rating]:
        return [Rating(i, truth(i) + shift, rater) for i in ids]

    return make
