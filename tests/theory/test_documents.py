"""Standard errors where documents are spread evenly, on pools that are made by a two-level model.

Root of the mean squared standard error over the spread of the estimates, at 10, 20 and 40 %, and in
brackets without documents in the design: ``python tests/theory/test_documents.py``. With seed 7 and
ρ = 0.5: docs-sys 1.20 1.07 1.01 (1.30 1.26 1.14), docs-balanced 1.12 1.11 1.04 (1.18 1.19 1.09),
docs-chunks3 1.12 1.30 0.99 (1.19 1.57 1.58). ``FEWGOLD_SEED`` sets another seed.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from fewgold import Pool
from fewgold.design import Design, neighbours
from fewgold.estimators import Mean
from fewgold.sample import Sample
from fewgold.samplers import Balanced, Clusters, Systematic
from fewgold.samplers.systematic import spread_documents

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
POOLS, DRAWS, SHARES = 12, 150, (0.1, 0.2, 0.4)


def two_levels(rho, rng):
    """A pool of 100 documents of 3 to 17 segments, and scores of variance 1."""
    documents = np.repeat(np.arange(100), rng.integers(3, 18, 100))
    size = documents.size
    gold = np.sqrt(rho) * rng.normal(size=100)[documents] + np.sqrt(1 - rho) * rng.normal(size=size)
    metrics = {"a": gold + rng.normal(size=size), "b": rng.normal(size=size)}
    return Pool(ids=np.arange(size), documents=documents, metrics=metrics), gold


class Uneven(Systematic):
    """Systematic along the line with chances that differ fourfold within each document."""

    def _draw(self, pool, n, draws, rng):
        size = len(pool)
        mass = np.where(np.arange(size) % 2 == 0, 1.6, 0.4)
        chance = n * mass / mass.sum()
        rows = np.empty((draws, n), dtype=np.int64)
        for row in rows:
            place = rng.permutation(pool.codes.max() + 1)[pool.codes] + 0.5 * rng.random(size)
            line = np.argsort(place)
            ends = np.cumsum(chance[line])
            row[:] = line[np.searchsorted(ends, rng.random() + np.arange(n)).clip(max=size - 1)]
        weights = 1 / (size * chance[rows])
        return rows, Design(
            kind="balanced",
            size=size,
            weights=weights / weights.sum(-1, keepdims=True),
            inclusion=chance[rows],
            groups=np.broadcast_to(neighbours(n, 4), rows.shape),
            **spread_documents(pool, rows),
        )


def ratio(sampler, rho, share, documents=True):
    """Root of the mean variance over the mean square error, over pools and draws."""
    found = []
    for k in range(POOLS):
        rng = np.random.default_rng([SEED, k])
        pool, gold = two_levels(rho, rng)
        sample = sampler.draw(pool, share, draws=DRAWS, rng=rng)
        if not documents:
            old = replace(sample.design, documents=None, shares=None)
            sample = Sample(pool, sample.indices, old)
        made = Mean().estimate(sample.rate(gold[sample.indices]))
        found.append(((made.se**2).mean(), ((made.value - gold.mean()) ** 2).mean()))
    variance, error = np.mean(found, 0)
    return float(np.sqrt(variance / error))


SAMPLERS = {
    "docs-sys": Systematic(),
    "docs-balanced": Balanced(),
    "docs-chunks3": Clusters(3),
    "uneven": Uneven(),
}


# Most that the ratio may be, by ρ, at 10, 20 and 40 %: where few documents have two ratings, they
# cannot tell ρ, and stretches of documents are less than chunks could rely on here.
MOST = {0.0: (1.06, 1.06, 1.06), 0.2: (1.12, 1.07, 1.06), 0.5: (1.25, 1.15, 1.08)}
CHUNKS = {0.0: (1.06, 1.06, 1.06), 0.2: (1.12, 1.17, 1.06), 0.5: (1.18, 1.38, 1.06)}


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("rho", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("name", SAMPLERS)
def test_standard_errors_are_right_on_average(name, rho, at):
    most = (CHUNKS if name == "docs-chunks3" else MOST)[rho][at]
    # 1,800 draws know the ratio to 1.7 %.
    assert 0.93 < ratio(SAMPLERS[name], rho, SHARES[at]) < most


@pytest.mark.parametrize(("name", "share"), [("docs-sys", 0.4), ("docs-chunks3", 0.4)])
def test_without_documents_they_would_be_too_large(name, share):
    assert ratio(SAMPLERS[name], 0.5, share, documents=False) > 1.09


if __name__ == "__main__":
    for name, sampler in SAMPLERS.items():
        for rho in (0.0, 0.2, 0.5):
            cells = [(ratio(sampler, rho, s), ratio(sampler, rho, s, False)) for s in SHARES]
            print(f"{name:14s} {rho:.1f} ", *(f"{a:.3f} ({b:.3f})" for a, b in cells), flush=True)
