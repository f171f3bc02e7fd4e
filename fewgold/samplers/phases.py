"""Two-phase sampling: use any sampler on a pool on disk that does not fit into memory.

First, many segments (m, tens of thousands) are drawn with equal chances m/N, and their values are
loaded. From these the sampler draws n in memory, spreading documents. A segment's chance is the
product of both: n/N for equal chances, whatever the first phase drew, and for uneven ones m/N times
its chance π₂ among the m, which determines its weight (Särndal, Swensson and Wretman 1992, section
9.3).

Two phases cost next to nothing. With balanced variates z and residuals e of the ratings, the first
phase adds the error β·(mean of z over the m), which is known, since the mean of z over the pool is
0, and enters the design as imbalance. What it adds to the mean of e is part of the sampling error
of n out of N segments: e varies by S²(1/m − 1/N) in the first phase and by S²(1/n − 1/m) in the
second, S²(1/n − 1/N) together, as if n had been drawn at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from fewgold.common.arrays import FloatArray
from fewgold.design import Design
from fewgold.errors import DesignError
from fewgold.pool import Pool
from fewgold.samplers.base import Sampler
from fewgold.samplers.chances import Chances, ExpectedSpread
from fewgold.samplers.strata import ByColumn
from fewgold.stored import StoredPool
from fewgold.stored.groups import Wanted, salt_of
from fewgold.stored.pool import Candidates

# Fewest candidates in all, and per segment to draw: the first phase then adds at most a fiftieth to
# the variance, and far less for small budgets.
_LEAST, _EACH = 20_000, 50
# If a candidate has more equal rows than this on average, the order of the metrics is too coarse.
_NEAR = 200


def candidates(pool: StoredPool, m: int, rng: Generator) -> Candidates:
    """Draw m segments with equal chances, at regular intervals along a line.

    The line is in the order of the metrics, so that their means are already nearly right. If the
    metrics have so few values that many segments are tied, it is a line of documents in random
    order.
    """
    salt, size = salt_of(rng), len(pool)
    # Integer arithmetic, so that every position has a chance of exactly m/N.
    positions = np.asarray((int(rng.integers(size)) + np.arange(m) * size) // m)
    cells = pool._scan.score_line()
    ends = cells.size.cumsum()
    cell = np.searchsorted(ends, positions, side="right")
    wanted = cells.wanted(cell, positions - (ends - cells.size)[cell])
    if pool.has_documents and cells.size[np.unique(cell)].sum() > _NEAR * m:
        found = pool._scan.line("document", salt, positions)
        # Documents start at a random segment and wrap around.
        new = np.append(True, found.label[1:] != found.label[:-1])
        start = rng.integers(found.size[new])[new.cumsum() - 1]
        rank = (found.offset + start) % found.size
        wanted = Wanted(pool._scan.label("document"), found.label, rank, found.size)
    return Candidates.at(pool, wanted, salt)


def draw_in_phases(
    sampler: Sampler, pool: StoredPool, n: int, rng: Generator
) -> tuple[Pool, Design]:
    """Implement ``Sampler._draw_stored`` by ``Sampler._draw`` on a part of the pool."""
    if isinstance(getattr(sampler, "by", None), ByColumn):
        raise DesignError(
            f"{sampler.name} draws from a pool on disk by documents or by bins of metrics. When "
            "you open the pool, name the column of your strata as the document column."
        )
    if not pool._scan.columns.numbers:
        raise DesignError(
            f"{sampler.name} from a pool on disk needs automatic metrics, and this one has none.",
            hints={
                "python": "Name their columns (metrics=[…]), or use docs-sys.",
                "cli": "Name their columns with --metrics, or use --strategy docs-sys.",
            },
        )
    size = len(pool)
    m = min(size, _LEAST + _EACH * n)
    part = candidates(pool, m, rng)
    rows, second = sampler._draw(part, n, 1, rng)
    design = second.draw(0)
    chances: Chances | None = getattr(sampler, "chances", None)
    mean, balance, groups = 1.0, design.balance, design.groups
    if chances is not None and np.ptp(inclusion := chances.inclusion(part, n)) > 1e-9:
        mean = _mean_mass(chances, part, inclusion * m / n, size)
        if balance is not None:
            # The first column is the chance itself, relative to its mean.
            balance = np.concatenate([(1 + balance[:1]) / mean - 1, balance[1:]])
        if m < size:
            # Candidates taken with certainty were themselves chosen by chance.
            groups = np.where(design.inclusion >= 1 - 1e-9, groups[0], groups)
    own = np.minimum(design.inclusion * (m / size) / mean, 1.0)
    joined = replace(
        design,
        size=size,
        inclusion=own,
        influence=design.weights * np.sqrt(1 - own),
        groups=np.unique(groups, return_inverse=True)[1],
        balance=balance,
    )
    fetched = part.fetch(rows[0])
    part.forget()
    return fetched, joined


def _mean_mass(chances: Chances, part: Candidates, mass: FloatArray, size: int) -> float:
    """The mean over the whole pool of chances whose mean over the candidates is 1.

    It is known if the spread is a column of the pool. If spreads are computed from the candidates,
    it differs from 1 by chance, and its standard error enters the variance.
    """
    m = len(part)
    if isinstance(chances.spread, ExpectedSpread):
        assert part.spread is not None
        relative = part._mean_spread / float(part.spread.mean())
        return chances.uniform + (1 - chances.uniform) * relative
    return float(1 - mass.std() * np.sqrt((1 - m / size) / m))


def cost_in_phases(chances: Chances, pool: StoredPool, n: int) -> tuple[float, float]:
    """Mean and variance of the cost of n segments with uneven chances, from the candidates."""
    part = pool._trial
    if part is None:
        m = min(len(pool), _LEAST)
        part = pool._trial = candidates(pool, m, np.random.default_rng(0))
        part.forget()
    assert part.cost is not None
    share = chances.inclusion(part, 1)
    mean = float(share @ part.cost)
    variance = float(share @ (part.cost - mean) ** 2)
    return n * mean, n * (1 - n / len(pool)) * variance
