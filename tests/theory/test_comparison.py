"""What comparisons promise: coverage of differences, family-wise error, groups and ranks.

Coverage is measured on WMT20 (every output is rated, so the differences are known) with samples of
100 to 400 segments; errors of the first kind on copies of one system's scores with noise.
``FEWGOLD_SEED`` sets another seed, ``FEWGOLD_DRAWS`` more samples. Run with ``-s`` for the figures.

What was measured with 2000 draws stands in docs/comparing.md.
"""

from __future__ import annotations

import os
from functools import lru_cache
from math import sqrt

import numpy as np
import pandas as pd
import pytest

from fewgold.bounds.approximate import student_quantile
from fewgold.common.arrays import codes_of
from fewgold.common.statistics import adjusted_pairs
from fewgold.comparison import analysis, compare, compare_by
from fewgold.comparison.designs import plain_design
from fewgold.comparison.pairs import shared_pairs
from fewgold.comparison.result import better, groups_of, order_of, rank_intervals
from fewgold.datasets import data_folder, real_frame
from fewgold.design import Design
from fewgold.pool import Pool
from fewgold.registry import sampler
from fewgold.samplers import SimpleRandom
from fewgold.samplers.base import batch_design

pytestmark = pytest.mark.slow
SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
DRAWS = int(os.environ.get("FEWGOLD_DRAWS", "400"))
REAL = pytest.mark.skipif(
    data_folder() is None, reason="no folder with real data; set FEWGOLD_DATA to have it tested"
)
METRICS = {
    "wmt20_ende": ("COMET", "TER", "chrF", "YiSi-2", "bleurt-combi", "parbleu", "sb_BLEU"),
    "wmt20_zhen": ("COMET", "TER", "chrF", "YiSi-2", "SWSS+METEOR", "parbleu", "sb_BLEU"),
}


@lru_cache
def wmt(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores (S, N), metrics (p, S, N) with mean 0 and documents (N,)."""
    frame = real_frame(name)
    wide = frame.pivot(index="system", columns="seg_id")
    scores = wide["mqm"].to_numpy(dtype=float)
    metrics = np.stack([wide[m].to_numpy(dtype=float) for m in METRICS[name]])
    metrics -= metrics.mean(-1, keepdims=True)
    metrics /= metrics.std((1, 2), keepdims=True)
    documents = frame.drop_duplicates("seg_id").sort_values("seg_id")["doc_id"].to_numpy()
    return scores, metrics, documents


def drawn(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(..., N) at rows (draws, n) -> (draws, ..., n)."""
    return np.moveaxis(table[..., rows], -2, 0)


def covered(pairs, truth, confidence=0.95):
    half = student_quantile(np.maximum(pairs.df, 1.0), confidence) * pairs.se
    return np.abs(pairs.value - truth) <= half


@REAL
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("n", [100, 200, 400])
@pytest.mark.parametrize("control", [False, True])
def test_differences_are_covered(name: str, n: int, control: bool) -> None:
    scores, metrics, _ = wmt(name)
    above = np.triu_indices(len(scores), 1)
    truth = scores.mean(-1)[:, None] - scores.mean(-1)[None, :]
    pool = Pool(ids=np.arange(scores.shape[1]))
    sample = SimpleRandom().draw(pool, n, draws=DRAWS, rng=SEED)
    y = drawn(scores, sample.indices)
    plain = shared_pairs(sample.design, y)
    pairs = shared_pairs(sample.design, y, drawn(metrics, sample.indices)) if control else plain
    hit = covered(pairs, truth)[:, above[0], above[1]]
    error, bare = (np.square(p.value - truth)[:, above[0], above[1]].mean() for p in (pairs, plain))
    honest = pairs.variance[:, above[0], above[1]].mean() / error
    print(
        f"\n{name} n={n} control={control}: coverage {hit.mean():.3f}, least "
        f"{hit.mean(0).min():.3f}, mse/plain {error / bare:.3f}, var/mse {honest:.3f}, used "
        f"{(pairs.gain > 0).mean():.2f}"
    )
    # Pairs of one draw share systems, so the mean over pairs varies by more than 36 draws' worth:
    # the standard error is that of the draws' own means.
    mc = hit.mean(1).std(ddof=1) / sqrt(DRAWS)
    assert 0.94 - 3 * mc <= hit.mean() <= 0.96 + 3 * mc
    if control:
        assert error < bare


@REAL
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("strategy", ["docs-prop", "docs-sys", "docs-balanced", "docs-chunks3"])
def test_other_designs_cover(name: str, strategy: str) -> None:
    scores, metrics, documents = wmt(name)
    above = np.triu_indices(len(scores), 1)
    truth = scores.mean(-1)[:, None] - scores.mean(-1)[None, :]
    joint = {f"m{k}": row for k, row in enumerate(metrics.mean(1))}
    pool = Pool(ids=np.arange(scores.shape[1]), documents=documents, metrics=joint)
    draws = min(DRAWS, 200)
    sample = sampler(strategy).draw(pool, 200, draws=draws, rng=SEED)
    y = drawn(scores, sample.indices)
    pairs = shared_pairs(sample.design, y, drawn(metrics, sample.indices))
    hit = covered(pairs, truth)[:, above[0], above[1]]
    print(f"\n{name} {strategy}: coverage {hit.mean():.3f}, least {hit.mean(0).min():.3f}")
    mc = hit.mean(1).std(ddof=1) / sqrt(draws)
    assert 0.935 - 3 * mc <= hit.mean() <= 0.97 + 3 * mc


def copies(systems: int, n: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(draws, S, n): one skewed system, the others the same with noise of their own."""
    base = rng.gamma(0.4, 5.0, size=(draws, 1, n))
    return np.asarray(base + rng.gamma(0.4, 2.0, size=(draws, systems, n)))


def process(n: int, draws: int) -> Design:
    return batch_design(plain_design(n, 10 * n, None, False, "process"), draws)


@pytest.mark.parametrize(("systems", "n"), [(2, 60), (5, 100), (10, 100), (10, 300)])
def test_identical_systems_are_not_told_apart(systems: int, n: int) -> None:
    draws = 4000
    rng = np.random.default_rng([SEED, systems, n])
    pairs = shared_pairs(process(n, draws), copies(systems, n, draws, rng))
    beats = better(pairs.value, adjusted_pairs(pairs.p_values(), "holm"), 0.05, True)
    order = order_of(pairs.value, True)
    any_false = beats.any((-1, -2)).mean()
    split = (groups_of(beats, order).max(-1) > 1).mean()
    print(f"\n{systems} systems, n={n}: any finding {any_false:.4f}, groups split {split:.4f}")
    mc = sqrt(0.05 * 0.95 / draws)
    assert any_false <= 0.05 + 3 * mc
    assert split <= any_false
    if systems == 2:  # Holm has nothing to correct: the level is met, not only kept
        assert any_false >= 0.05 - 4 * mc - 0.01


@REAL
@pytest.mark.parametrize("name", METRICS)
def test_copies_of_real_scores_are_not_told_apart(name: str) -> None:
    """Six systems with the scores of one, shuffled among systems at each segment with noise."""
    scores, metrics, _ = wmt(name)
    rng = np.random.default_rng(SEED)
    draws, n, size = 2000, 150, scores.shape[1]
    rows = rng.integers(size, size=(draws, n))
    base = scores[3][rows][:, None, :]
    y = base + rng.choice([-1.0, 0.0, 0.0, 5.0], size=(draws, 6, n))
    z = np.broadcast_to(drawn(metrics[:, 3], rows)[:, :, None, :], (draws, 7, 6, n))
    z = z + rng.normal(size=(draws, 7, 6, n))
    pairs = shared_pairs(process(n, draws), y, z)
    beats = better(pairs.value, adjusted_pairs(pairs.p_values(), "holm"), 0.05, False)
    any_false = beats.any((-1, -2)).mean()
    split = (groups_of(beats, order_of(pairs.value, False)).max(-1) > 1).mean()
    print(f"\n{name}: any finding {any_false:.4f}, groups split {split:.4f}")
    assert any_false <= 0.05 + 3 * sqrt(0.05 * 0.95 / draws)
    assert split <= any_false


@REAL
@pytest.mark.parametrize("name", METRICS)
def test_rank_intervals_hold_all_true_ranks(name: str) -> None:
    scores, _, _ = wmt(name)
    truth = scores.mean(-1)
    rank = np.empty(len(truth), dtype=int)
    rank[np.argsort(truth)] = np.arange(1, len(truth) + 1)
    pool = Pool(ids=np.arange(scores.shape[1]))
    sample = SimpleRandom().draw(pool, 200, draws=DRAWS, rng=SEED)
    pairs = shared_pairs(sample.design, drawn(scores, sample.indices))
    beats = better(pairs.value, adjusted_pairs(pairs.p_values(), "holm"), 0.05, False)
    low, high = rank_intervals(beats)
    held = ((low <= rank) & (rank <= high)).all(-1).mean()
    print(f"\n{name}: all ranks held {held:.3f}, mean width {(high - low + 1).mean():.2f}")
    assert held >= 0.95 - 3 * sqrt(0.05 * 0.95 / DRAWS)


@REAL
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("kind", ["gaps", "half", "apart"])
def test_gaps_are_covered(name: str, kind: str) -> None:
    """Cells left out by lot, half of the segments shared, or none: four systems, 160 ratings each.

    The pool has 500 segments, so that a correction for its size that is not due would show.
    """
    scores, metrics, _ = wmt(name)
    rng = np.random.default_rng(SEED)
    some = rng.permutation(scores.shape[1])[:500]
    y, z = scores[:4][:, some], metrics[:, :4][..., some]
    truth = y.mean(-1)[:, None] - y.mean(-1)[None, :]
    z = z - z.mean(-1, keepdims=True)
    draws, above = DRAWS // 2, np.triu_indices(4, 1)
    hit, spread, basis = [], [], []
    for _ in range(draws):
        lot = rng.permutation(500)
        kept = np.full(y.shape, np.nan)
        for s in range(4):
            if kind == "gaps":
                rows = rng.permutation(lot[:200])[:160]
            elif kind == "half":
                rows = np.r_[lot[:80], lot[80 + 80 * s :][:80]]
            else:
                rows = lot[120 * s :][:120]
            kept[s, rows] = y[s, rows]
        frame = pd.DataFrame(
            {
                "seg": np.tile(np.arange(500), 4), "system": np.repeat(list("abcd"), 500),
                "mqm": kept.ravel(), "COMET": z[0].ravel(), "YiSi": z[3].ravel(),
            }
        )  # fmt: skip
        result = compare(
            frame, human="mqm", system="system", id="seg", metrics=["COMET", "YiSi"], target="pool"
        )
        hit.append(covered(result.pairs, truth)[above])
        spread.append([result.pairs.variance[above], np.square(result.pairs.value - truth)[above]])
        basis.append((result.basis[above] == "shared").mean())
    found = np.array(hit).mean(1)
    variance, error = np.array(spread).mean((0, 2))
    print(
        f"\n{name} {kind}: coverage {found.mean():.3f}, var/mse {variance / error:.2f}, "
        f"paired {np.mean(basis):.2f}"
    )
    mc = found.std(ddof=1) / sqrt(draws)
    # Without shared segments nothing can be taken off for the size of the pool.
    assert 0.94 - 3 * mc <= found.mean() <= (0.98 if kind == "apart" else 0.96) + 3 * mc


@REAL
@pytest.mark.parametrize("name", METRICS)
def test_documents_rated_as_a_whole(name: str) -> None:
    """Forty whole documents: taken for what they are, and taken for single segments."""
    scores, _, documents = wmt(name)
    codes = codes_of(documents)
    above = np.triu_indices(len(scores), 1)
    truth = scores.mean(-1)[:, None] - scores.mean(-1)[None, :]
    rng = np.random.default_rng(SEED)
    hits: dict[str, list[np.ndarray]] = {"document": [], "segment": []}
    for _ in range(DRAWS):
        rows = np.flatnonzero(np.isin(codes, rng.permutation(codes.max() + 1)[:40]))
        for unit, found in hits.items():
            units = codes_of(codes[rows]) if unit == "document" else None
            design = plain_design(rows.size, codes.size, units, True, "pool")
            found.append(covered(shared_pairs(design, scores[:, rows]), truth)[above])
    share = {unit: np.array(found).mean(1) for unit, found in hits.items()}
    by, wrong = (share[unit].mean() for unit in ("document", "segment"))
    print(f"\n{name}: coverage by documents {by:.3f}, by segments {wrong:.3f}")
    mc = share["document"].std(ddof=1) / sqrt(DRAWS)
    assert 0.94 - 3 * mc <= by <= 0.96 + 3 * mc
    assert wrong < by - 0.03


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_uneven_raters_taken_out(share: float) -> None:
    """Two equal systems of which a harsh rater sees one more often; ``share`` is rated by both."""
    rng = np.random.default_rng([SEED, int(10 * share)])
    draws, n = 300, 100
    found: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(draws):
        output = rng.gamma(1, 2, (n, 1)) + rng.normal(size=(n, 2))
        harsh = rng.random((n, 2)) < np.array([0.25, 0.75])
        both = rng.random((n, 2)) < share
        score = output[..., None] + np.array([0.0, 1.5]) + 0.5 * rng.normal(size=(n, 2, 2))
        seen = np.stack([~harsh | both, harsh | both], -1)
        at = np.argwhere(seen)
        frame = pd.DataFrame(at, columns=["seg", "system", "rater"]).assign(score=score[seen])
        for adjust, p in found.items():
            result = compare(
                frame, human="score", system="system", id="seg", rater="rater", target="process",
                higher_is_better=True, adjust_raters=adjust,
            )  # fmt: skip
            p.append(float(result.pairs.p_values()[0, 1]))
    wrong = {adjust: np.mean(np.array(p) <= 0.05) for adjust, p in found.items()}
    print(f"\nshare {share}: found different {wrong[False]:.3f}, adjusted {wrong[True]:.3f}")
    assert wrong[False] > 0.5
    assert wrong[True] <= 0.05 + 3 * sqrt(0.05 * 0.95 / draws)


def test_raters_of_whole_documents(monkeypatch):
    """Two equal systems; each document of a system has one rater, who sees one of them more often.

    Documents differ by system, so that all ratings of a document err together: without the
    jackknife over documents the adjusted differences claim too much.
    """
    rng = np.random.default_rng(SEED)
    trials, documents, size = 150, 30, 10
    found = {"with": 0, "without": 0}
    for _ in range(trials):
        base, rows = rng.normal(size=(documents, size)), []
        for system, share in (("A", 0.75), ("B", 0.25)):
            own = 2 * rng.normal(size=documents)
            who = (rng.random(documents) < share).astype(int)
            y = base + (own + 1.5 * who)[:, None] + rng.normal(size=(documents, size))
            rows += [
                (f"{d}-{k}", f"d{d}", system, f"r{who[d]}", y[d, k])
                for d in range(documents)
                for k in range(size)
            ]
        frame = pd.DataFrame(rows, columns=["id", "document", "system", "rater", "score"])
        options = {c: c for c in ("id", "document", "system", "rater")}
        for how in found:
            with monkeypatch.context() as patch:
                if how == "without":
                    patch.setattr(analysis, "adjusted_spread", lambda *_: np.zeros((2, 2)))
                made = compare(
                    frame, human="score", **options, higher_is_better=True, adjust_raters=True
                )
            found[how] += bool(made.differences()["significant"].any())
    rates = {how: count / trials for how, count in found.items()}
    print(rates)
    assert rates["with"] < 0.05 + 4 * np.sqrt(0.05 * 0.95 / trials)
    assert rates["without"] > rates["with"]


@pytest.mark.parametrize("kind", ["different outputs", "partly shared"])
def test_systems_on_their_own_samples_are_covered(kind: str) -> None:
    """Skewed scores with a metric, 80 ratings each: separate pools, or a pool with 30 shared.

    Errors are as often within the interval as promised, and the metric narrows it.
    """
    rng = np.random.default_rng([SEED, len(kind)])
    size, n, draws = 1200, 80, 2 * DRAWS
    effect = rng.gamma(1.0, 2.0, size)
    y = effect + rng.gamma(0.5, 2.0, (2, size)) + np.array([[0.0], [0.4]])
    z = y + rng.normal(scale=1.0, size=y.shape)
    ids = np.array([f"s{k}" for k in range(size)])
    hit, ratio = [], []
    halves = np.arange(size) % 2 == 0
    pools = [halves, ~halves] if kind == "different outputs" else [halves | True] * 2
    truth = y[0, pools[0]].mean() - y[1, pools[1]].mean()
    for _ in range(draws):
        rated = [rng.permutation(np.flatnonzero(mine))[:n] for mine in pools]
        if kind == "partly shared":
            lot = rng.permutation(size)
            rated = [lot[:n], lot[n - 30 : 2 * n - 30]]
        parts = []
        for s in range(2):
            human = np.full(size, np.nan)
            human[rated[s]] = y[s, rated[s]]
            part = pd.DataFrame({"seg": ids, "sys": "AB"[s], "human": human, "comet": z[s]})
            parts.append(part[pools[s]])
        frame = pd.concat(parts)
        how = {"human": "human", "system": "sys", "id": "seg", "higher_is_better": True}
        made = compare(frame, metrics=["comet"], **how)
        half = float(made._half_widths[0, 1])
        hit.append(abs(float(made.pairs.value[0, 1]) - truth) <= half)
        ratio.append(half / float(compare(frame, **how)._half_widths[0, 1]))
    mc = sqrt(0.95 * 0.05 / draws)
    print(f"\n{kind}: coverage {np.mean(hit):.3f}, half-width / plain {np.mean(ratio):.2f}")
    assert 0.94 - 3 * mc <= np.mean(hit) <= 0.96 + 3 * mc
    assert np.mean(ratio) < 0.8


@pytest.mark.parametrize("shared", [True, False])
def test_differences_within_slices_are_covered(shared: bool) -> None:
    """Three slices of unequal size and unequal differences, about 30 to 70 ratings each."""
    rng = np.random.default_rng([SEED, 7])
    size, n, draws = 900, 150, 150
    part = np.repeat(["x", "y", "z"], [420, 300, 180])
    gaps = {"x": 0.0, "y": 0.4, "z": -0.3}
    base = rng.normal(size=size)
    scores = [base + rng.normal(size=size) for _ in range(2)]
    scores[1] = scores[1] + np.array([gaps[p] for p in part])
    metrics = [y + rng.normal(size=size) for y in scores]
    truth = {p: scores[0][part == p].mean() - scores[1][part == p].mean() for p in gaps}
    hit = []
    for _ in range(draws):
        lot = rng.permutation(size)[:n]
        frames = []
        for s in range(2):
            human = np.full(size, np.nan)
            rated = lot if shared else rng.permutation(size)[:n]
            human[rated] = scores[s][rated]
            frames.append(pd.DataFrame({
                "seg": np.arange(size) if shared else np.arange(size) + s * size,
                "sys": "AB"[s], "part": part, "human": human, "comet": metrics[s],
            }))  # fmt: skip
        found = compare_by(
            pd.concat(frames), "part", human="human", system="sys", id="seg",
            metrics=["comet"], higher_is_better=True,
        )  # fmt: skip
        for row in found.differences().to_dict("records"):
            sign = 1 if row["first"] == "A" else -1
            hit.append(row["low"] <= sign * truth[row["slice"]] <= row["high"])
    assert len(hit) == 3 * draws
    mc = sqrt(0.95 * 0.05 / len(hit))
    print(f"\nslices, shared {shared}: coverage {np.mean(hit):.3f} of {len(hit)}")
    assert abs(np.mean(hit) - 0.95) <= 0.01 + 4 * mc
