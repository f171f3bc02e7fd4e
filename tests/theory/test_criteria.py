"""Intervals of several criteria: each holds by itself, simultaneous ones all together.

Four criteria on the Chinese-English set: the real scores and three made from them, correlated to
different degrees. ``FEWGOLD_SEED`` sets another seed, ``FEWGOLD_DRAWS`` more draws; run with ``-s``
for the figures.
"""

from __future__ import annotations

import os
from math import sqrt

import numpy as np
import pytest

from fewgold import registry
from fewgold.criteria import rate
from fewgold.datasets import load_demo

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("FEWGOLD_SEED", "11"))
DRAWS = int(os.environ.get("FEWGOLD_DRAWS", "1000"))
MC = sqrt(0.95 * 0.05 / DRAWS)


@pytest.fixture(scope="module")
def study():
    pool, penalty = load_demo("zhen")
    rng = np.random.default_rng([SEED, 1])
    noise = rng.normal(size=(3, len(pool)))
    return pool, {
        "penalty": penalty,
        "fluency": np.clip(np.round(5 - penalty / 4 + noise[0]), 1, 5),
        "adequacy": np.clip(np.round(100 - 4 * penalty + 5 * noise[1]), 0, 100),
        "style": np.clip(np.round(3 + noise[2]), 1, 5),
    }


@pytest.mark.parametrize("strategy", ["random+mean", "random+ridge", "docs-balanced+ridge"])
def test_coverage_of_each_and_of_all_together(study, strategy) -> None:
    pool, gold = study
    chosen = registry.strategy(strategy, pool)
    batch = chosen.select(pool, 100, draws=DRAWS, rng=SEED)
    truth = {name: scores.mean() for name, scores in gold.items()}
    pairs = [(a, b) for k, a in enumerate(gold) for b in list(gold)[k + 1 :]]
    exact = [np.corrcoef(gold[a], gold[b])[0, 1] for a, b in pairs]
    each, together, bonferroni, correlated, levels = [], [], [], [], []
    for k in range(DRAWS):
        sample = batch.draw(k)
        made = rate(sample, {n: y[sample.indices] for n, y in gold.items()}).estimate(chosen)

        def hits(ends):
            return [ends[n].low <= truth[n] <= ends[n].high for n in truth]

        each.append(hits(made.intervals()))
        together.append(all(hits(made.intervals(simultaneous=True))))
        bonferroni.append(all(hits({n: made[n].interval(1 - 0.05 / 4) for n in made})))
        levels.append(made.level(simultaneous=True))
        found = made.correlations()
        correlated.append((found["low"] <= exact) & (exact <= found["high"]))
    single, joint = np.mean(each, axis=0), float(np.mean(together))
    of_pairs = np.mean(correlated, axis=0)
    print(
        f"\n{strategy}: each {np.round(single, 3)}, naive together {np.mean(np.all(each, 1)):.3f}, "
        f"simultaneous {joint:.3f} (level {np.mean(levels):.4f}), Bonferroni "
        f"{np.mean(bonferroni):.3f}, correlations {np.round(of_pairs, 3)}"
    )
    assert (np.abs(single - 0.95) < 4 * MC + 0.015).all()
    assert abs(joint - 0.95) < 4 * MC + 0.015
    assert joint > np.mean(np.all(each, 1)) + 0.02  # what nobody corrects for
    assert (of_pairs > 0.95 - 4 * MC - 0.02).all()
