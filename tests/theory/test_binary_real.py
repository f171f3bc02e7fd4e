"""Pool posteriors on real ratings: how often the true share of a system's outputs is covered.

Simple random samples of each system's outputs are rated by looking up what people said; the share '
    'of adequate segments among all is known. ``FEWGOLD_SEED`` sets another seed, '
    '``FEWGOLD_DRAWS`` more
samples of each system. Run with ``-s`` for the tables.

Cuts of the metric are given (its median over the pool, which needs no ratings; FactCC comes as 0
and 1), or chosen on the very ratings that the posterior is then made from. The latter is not
accounted for by the model, and costs coverage where few outputs are adequate.
"""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np
import pytest

from fewgold.bayes import Counts, PoolPosterior, Priors, choose_cuts
from fewgold.datasets import data_folder, load_real, real_frame, real_systems

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        data_folder() is None, reason="no folder with real data; set FEWGOLD_DATA to have it tested"
    ),
]
SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
DRAWS = int(os.environ.get("FEWGOLD_DRAWS", "60"))
CELLS = Priors(alpha=(2, 2))
HOW = ("humans", "given", "given-uniform", "equal", "information")
STUDIES = [
    *(("frank", "BertScore_P_Art", how) for how in HOW),
    ("frank", "FactCC", "given"),
    *(("wmt20_ende", "COMET", how) for how in HOW),
    *(("wmt20_zhen", "COMET", how) for how in HOW),
]


@lru_cache(maxsize=3)
def outputs(name, metric):
    """Adequate or not, and the metric, of each system's outputs."""
    found = []
    for system in real_systems(name):
        pool, score = load_real(name, system=system)
        adequate = score >= 0.5 if name == "frank" else score <= 0  # no MQM error at all
        found.append((adequate, np.asarray(pool.metrics[metric])))
    return found


def posterior(rng, adequate, metric, n, how):
    """Of ``DRAWS`` samples; ``how``: humans alone, a given cut, or a rule to choose one.

    Priors are uniform over the cells of the 2 × 2 table, or over α, ρ and η.
    """
    size = adequate.size
    rows = rng.permuted(np.tile(np.arange(size), (DRAWS, 1)), axis=1)[:, :n]
    human = adequate[rows]
    if how == "humans":
        counts = Counts(human_ones=human.sum(-1), human_total=n)
        return PoolPosterior(counts, unrated=size - n)
    if how.startswith("given"):
        at = np.full(DRAWS, np.median(metric) if np.unique(metric).size > 2 else 0.5)
    else:
        at = choose_cuts(human, metric[rows], rule=how)
        at = np.where(np.isnan(at), np.median(metric), at)  # ratings of one class tell no cut
    ones = metric >= at[:, None]
    told = np.take_along_axis(ones, rows, -1)
    tp, fp = (human & told).sum(-1), (~human & told).sum(-1)
    counts = Counts(
        tp=tp,
        fn=human.sum(-1) - tp,
        fp=fp,
        tn=(~human).sum(-1) - fp,
        metric_ones=ones.sum(-1) - tp - fp,
        metric_total=size - n,
    )
    return PoolPosterior(counts, Priors() if how == "given-uniform" else CELLS)


@pytest.mark.parametrize("name, metric, how", STUDIES)
def test_true_share_is_covered(name, metric, how):
    """95 and 90 % over all systems, a little less where the cut was chosen on the ratings.

    Up to 2 points below are let pass with a given cut and up to 4 with a chosen one, for n of 100
    and more, beside 4 standard errors. With 50 ratings, of which some 4 are adequate in wmt20_zhen,
    coverage goes down to 92 %, and not because of chosen cuts: the prior of the cells does it.
    """
    rng = np.random.default_rng(SEED)
    slack = 0.02 if how in ("humans", "given", "given-uniform") else 0.04
    for n in (50, 100, 200) if name == "frank" else (50, 100, 200, 400):
        held, sds, shares = [], [], []
        for adequate, scores in outputs(name, metric):
            truth = adequate.mean()
            pool = posterior(rng, adequate, scores, n, how)
            ends = [pool.interval(level) for level in (0.95, 0.9)]
            held.append([((a <= truth + 1e-9) & (truth - 1e-9 <= b)).mean() for a, b in ends])
            sds.append(pool.sd.mean())
            shares.append(truth)
        at_95, at_90 = np.mean(held, axis=0)
        print(
            f"\n{name} {metric} {how} n={n} 95: {at_95:.3f} 90: {at_90:.3f} "
            f"lowest system {np.min(held, axis=0)[0]:.2f} sd {np.mean(sds):.4f} "
            f"shares {min(shares):.2f} to {max(shares):.2f}",
            end="",
        )
        studies = DRAWS * len(held)
        if n >= 100:
            assert at_95 > 0.95 - slack - 4 * np.sqrt(0.95 * 0.05 / studies)
            assert at_90 > 0.9 - slack - 4 * np.sqrt(0.9 * 0.1 / studies)


def test_systems_on_the_same_inputs_are_not_independent():
    """WMT20 en–de, MQM = 0: what docs/binary-metrics.md says of comparing posteriors."""
    frame = real_frame("wmt20_ende")
    wide = frame.assign(ok=(frame["mqm"] == 0) * 1.0).pivot_table("ok", "seg_id", "system")
    pairs = np.triu_indices(wide.shape[1], 1)
    assert wide.corr().to_numpy()[pairs].mean() == pytest.approx(0.37, abs=0.005)
    labels = wide.to_numpy()
    own = labels.var(0, ddof=1)
    ratio = [
        np.sqrt((labels[:, i] - labels[:, j]).var(ddof=1) / (own[i] + own[j]))
        for i, j in zip(*pairs, strict=True)
    ]
    assert (min(ratio), max(ratio)) == pytest.approx((0.63, 0.95), abs=0.006)
