"""All pairs of systems: probabilities, levels, corrections, table and figure."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from fewgold import Pool
from fewgold.bayes import (
    AlphaPosterior,
    BinaryPosterior,
    CellPosterior,
    Counts,
    PoolPosterior,
    Priors,
    RaterPosterior,
    probability_greater,
    significance,
)
from fewgold.bayes.density import chance_greater
from fewgold.bayes.mixture import mixtures, shapes
from fewgold.errors import FewgoldError
from fewgold.plots import significance_matrix, to_svg
from fewgold.samplers import SimpleRandom

ONES = {"BL": 38, "LiC": 30, "KV": 24, "HF": 18, "BR": 6, "S2S": 4}


def rated(ones: dict[str, int], total: int = 100) -> dict[str, AlphaPosterior]:
    return {
        name: AlphaPosterior(Counts(human_ones=k, human_total=total)) for name, k in ones.items()
    }


def ahead(a: int, b: int, total: int) -> float:
    """P(α1 > α2) of two Beta posteriors: a direct integral."""
    one, two = beta(a + 1, total - a + 1), beta(b + 1, total - b + 1)
    return float(quad(lambda x: one.pdf(x) * two.cdf(x), 0, 1, epsabs=1e-11, limit=200)[0])


def test_the_matrix_by_direct_integrals() -> None:
    found = significance(rated(ONES))
    for (i, a), (j, b) in combinations(enumerate(ONES.values()), 2):
        want = ahead(a, b, 100)
        assert found.probability[i, j] == pytest.approx(want, abs=1e-8)
        assert found.probability[j, i] == 1 - found.probability[i, j]
        assert found.p[i, j] == found.p[j, i] == pytest.approx(2 * min(want, 1 - want), abs=2e-8)
    assert np.all(np.diag(found.probability) == 0.5)
    assert np.all(np.diag(found._reached) == 0)


def test_the_level_is_two_sided() -> None:
    """Significant when P > 1 − γ/2 or P < γ/2: 0.96 is not significant at 0.05."""
    one_sided = significance(rated({"a": 40, "b": 28}))
    assert 0.95 < one_sided.probability[0, 1] < 0.975
    assert not one_sided._reached.any()
    both = significance(rated({"a": 40, "b": 26}))
    assert both.probability[0, 1] > 0.975 and both.probability[1, 0] < 0.025
    assert both._reached[0, 1] == both._reached[1, 0] == 1
    assert both.to_frame()["level"].tolist() == [0.05]


def test_levels_in_any_order() -> None:
    found = significance(rated(ONES), levels=[0.01, 0.2, 0.05])
    assert found.levels == (0.2, 0.05, 0.01)
    frame = found.to_frame()
    for _, row in frame.iterrows():
        reached = [g for g in found.levels if row["p"] < g]
        assert row["level"] == min(reached) if reached else np.isnan(row["level"])
    assert frame["level"].isna().any() and (frame["level"] == 0.01).any()


def by_hand(p: list[float], how: str) -> list[float]:
    """The corrections as their papers define them."""
    m = len(p)
    if how == "bonferroni":
        return [min(1.0, m * x) for x in p]
    order = np.argsort(p)
    out = [0.0] * m
    if how == "holm":
        largest = 0.0
        for rank, k in enumerate(order):
            largest = max(largest, (m - rank) * p[k])
            out[k] = min(1.0, largest)
    else:
        least = 1.0
        for rank in range(m - 1, -1, -1):
            k = order[rank]
            least = min(least, m / (rank + 1) * p[k])
            out[k] = least
    return out


@pytest.mark.parametrize("how", ["holm", "fdr", "bonferroni"])
def test_corrections(how: str) -> None:
    plain, corrected = significance(rated(ONES)), significance(rated(ONES), correction=how)
    upper = np.triu_indices(len(ONES), 1)
    want = by_hand(plain.p[upper].tolist(), how)
    assert corrected.p[upper] == pytest.approx(want, rel=1e-12)
    assert np.array_equal(corrected.p, corrected.p.T)
    assert np.array_equal(corrected.probability, plain.probability)
    assert np.all(corrected._reached <= plain._reached)
    assert f"after {how} correction" in corrected.summary()


def test_few_false_finds_among_equals_after_holm() -> None:
    """Equal systems: with Holm any difference is found in at most about 5 % of studies."""
    rng = np.random.default_rng(17)
    posterior = {k: AlphaPosterior(Counts(human_ones=k, human_total=80)) for k in range(81)}
    least = np.array(
        [
            significance(
                {n: posterior[k] for n, k in zip("abcde", ones, strict=True)}, method="normal"
            ).p.min()
            for ones in rng.binomial(80, 0.6, (120, 5)).tolist()
        ]
    )
    # Holm finds something if and only if the least of the ten is below a tenth of the level.
    corrected, plain = int((10 * least < 0.05).sum()), int((least < 0.05).sum())
    # Binomial(120, 0.05) is above 13 once in 500; without correction it is a quarter of studies.
    assert corrected <= 13 < plain


def test_normal_and_pool_posteriors() -> None:
    near = significance(rated(ONES), method="normal").probability
    assert np.abs(near - significance(rated(ONES)).probability).max() < 0.01
    pools = {
        name: PoolPosterior(Counts(human_ones=k, human_total=100), unrated=50)
        for name, k in ONES.items()
    }
    # Two thirds of the items are rated, so the systems are told apart more surely.
    sure = significance(pools).probability
    assert sure[0, 1] > significance(rated(ONES)).probability[0, 1]
    census = PoolPosterior(Counts(human_ones=3, human_total=9))
    same = significance({"a": census, "b": census})
    assert same.probability[0, 1] == 0.5 and same.p[0, 1] == 1


def test_estimates_and_other_posteriors() -> None:
    """What BinaryPosterior gives, bins, and raters who err: all have a distribution."""
    pool = Pool([f"s{k}" for k in range(300)])
    sample = SimpleRandom().draw(pool, 100, rng=1)
    labels = {"a": np.arange(100) < 60, "b": np.arange(100) < 40}
    estimates = {n: BinaryPosterior().estimate(sample.rate(1.0 * y)) for n, y in labels.items()}
    prior = Priors(alpha=(0.5, 0.5))
    bare = {
        n: PoolPosterior(Counts(human_ones=int(y.sum()), human_total=100), prior, unrated=200)
        for n, y in labels.items()
    }
    assert significance(estimates).probability[0, 1] == significance(bare).probability[0, 1]
    answers = [[1, 1, 0], [0, 1, 1], [1, 0, 0]] * 5
    rng = np.random.default_rng(1)
    for target in ("pool", "process"):
        others = {
            "c": RaterPosterior(answers, target=target),
            "d": CellPosterior([[30, 10], [10, 40]], [80, 90], target=target),
        }
        near = significance(bare | others)
        assert near.means[2] == float(others["c"].mean)
        draws = {n: p.sample(40_000, rng=rng) for n, p in (bare | others).items()}
        ahead = np.mean(draws["c"] > draws["d"]) + 0.5 * np.mean(draws["c"] == draws["d"])
        assert near.probability[2, 3] == pytest.approx(ahead, abs=0.012)
        ahead = np.mean(draws["a"] > draws["d"]) + 0.5 * np.mean(draws["a"] == draws["d"])
        assert near.probability[0, 3] == pytest.approx(ahead, abs=0.012)


def test_table_and_figure() -> None:
    found = significance(rated(ONES))
    lines = found.summary().splitlines()
    assert lines[1].split() == [
        "BL",
        "(0.38)",
        "–",
        "0.882",
        "0.983*",
        "0.999**",
        ">.999***",
        ">.999***",
    ]
    svg = to_svg(found.plot(), alt="which differ")
    assert "&gt; .999" in svg and "0.001" in svg and "LiC" in svg
    assert list(found.names) == list(ONES)
    assert repr(found).startswith("Significance(") and "of 15 pairs" in repr(found)
    image = found.plot().collections[0].get_array()
    assert image is not None
    white, grey = image[0, 1], image[0, 0]
    assert tuple(white) == (1, 1, 1, 1) and tuple(grey) != (1, 1, 1, 1)
    better, worse = image[0, 5], image[5, 0]
    assert better[2] > better[0] and worse[0] > worse[2]  # blue for better, orange for worse


def test_bad_input() -> None:
    two = rated({"a": 1, "b": 2}, 5)
    with pytest.raises(FewgoldError, match="two systems or more; got 1"):
        significance(rated({"a": 1}))
    with pytest.raises(FewgoldError, match="between 0 and 1"):
        significance(two, levels=[5])
    with pytest.raises(FewgoldError, match="between 0 and 1"):
        significance(two, levels=[])
    with pytest.raises(FewgoldError, match="correction must be one of holm, fdr, bonferroni"):
        significance(two, correction="tukey")
    with pytest.raises(FewgoldError, match="batch of shape"):
        significance({**two, "c": AlphaPosterior(Counts(human_ones=[1, 2], human_total=5))})
    with pytest.raises(FewgoldError, match="square"):
        significance_matrix(pd.DataFrame(np.eye(2)), np.zeros((3, 3)), levels=[0.05])


def test_many_pairs_as_one_by_one() -> None:
    """Curves with as many panels go together, those that are infinite at an end by themselves."""
    rng = np.random.default_rng(2)
    tp, tn = rng.integers(0, 30, 12), rng.integers(0, 30, 12)
    counts = Counts(
        tp=tp, fn=3, fp=5, tn=tn, metric_ones=rng.integers(0, 300, 12), metric_total=300
    )
    for prior in (Priors(), Priors(alpha=(0.2, 0.2))):
        posterior = AlphaPosterior(counts, prior)
        other = posterior.draw(np.roll(np.arange(12), 1))
        together = probability_greater(posterior, other)
        for k in range(12):
            curves = posterior._distributions[k].panels, other._distributions[k].panels
            assert together[k] == pytest.approx(chance_greater(*curves), abs=1e-12)


@pytest.mark.parametrize("metric", [40, 1000, 30_000])
def test_densities_of_a_batch_are_those_of_the_sums(metric: int) -> None:
    counts = Counts(
        tp=[30, 3, 0], fn=[9, 1, 0], fp=[8, 2, 4], tn=[40, 5, 9], metric_ones=metric // 3,
        metric_total=metric,
    )  # fmt: skip
    for rows, found in mixtures(shapes(counts, Priors()).distinct()[0]):
        x = np.tile(np.linspace(0.02, 0.98, 25), (rows.size, 1))
        row = np.repeat(np.arange(rows.size), 25)
        _, expected = found.cdf_and_pdf(row, x.ravel())
        expected = expected.reshape(x.shape)
        assert np.abs(found.densities(x) - expected).max() < 1e-10 * expected.max()
