"""What docs/errata.md says is wrong in the papers, shown; and that its references exist."""

from __future__ import annotations

import ast
import re
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest

from fewgold import registry
from fewgold.bayes import AlphaPosterior, Counts, Priors, moments, probability_greater
from fewgold.bounds import Bernstein, Bound, Hoeffding
from fewgold.cut import Cut
from fewgold.estimators import Mean
from fewgold.planning import Setting, information, measurable_difference
from fewgold.pool import Pool
from fewgold.reliability.bootstrap import segment_means
from fewgold.reliability.result import CubicFit, PowerFit, power_fit
from fewgold.reproduce.daniken_systems import PRINTED
from fewgold.samplers import Incremental, SimpleRandom

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_the_page_names_tests() -> None:
    assert len(NAMED) > 25


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED)))
def test_tests_that_the_page_names_exist(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


# Estrella et al. (2007) -----------------------------------------------------------------------


def test_001_x_max_of_the_power_fit() -> None:
    """|f′| = ε at (ab/ε)^(1/(b+1)); −ε/(ab), as printed, has no real power."""
    a, b, epsilon = 0.05, 0.4, 1e-4
    fit = PowerFit(a, b)
    x = fit.x_max(epsilon)
    # By the curve itself, not by the formula of its slope.
    assert float(fit(x - 1e-4) - fit(x + 1e-4)) / 2e-4 == pytest.approx(epsilon, rel=1e-5)
    assert isinstance((-epsilon / (a * b)) ** (-1 / (b + 1)), complex)


def test_001_x_max_of_the_cubic() -> None:
    """The roots of f′ begin with −c/(3d), and the smaller one may be a maximum."""
    d, c, b = -1e-5, 3e-4, -2e-3
    right = np.sort((-c + np.array([1, -1]) * np.sqrt(c * c - 3 * d * b)) / (3 * d))
    printed = np.sort(-c / (2 * d) + np.array([1, -1]) * np.sqrt(c * c - 3 * d * b) / (3 * d))
    roots = np.sort(np.roots([3 * d, 2 * c, b]).real)
    assert right == pytest.approx(roots)
    assert np.all(np.abs(printed - roots) > 1)
    assert np.all((6 * d * right + 2 * c > 0) == [True, False])
    assert CubicFit(0.05, b, c, d).x_max() == pytest.approx(roots[0])
    # With d > 0 it is the larger root that is the minimum; the paper takes the smaller one.
    d, c, b = 1e-5, -3e-4, 2e-3
    first, second = np.sort(np.roots([3 * d, 2 * c, b]).real)
    assert 0 < first < second
    assert 6 * d * first + 2 * c < 0 < 6 * d * second + 2 * c
    assert CubicFit(0.05, b, c, d).x_max() == pytest.approx(second)


def test_001_epsilon() -> None:
    """Table 2 has x_max from 20 to 64 but for two: that takes 0.0001 (0.01 %), not 0.001."""
    fits = [PowerFit(a, b) for a in (0.02, 0.1) for b in (1 / 3, 1 / 2)]
    fine, coarse = ([fit.x_max(epsilon) for fit in fits] for epsilon in (1e-4, 1e-3))
    assert [fit.x_max() for fit in fits] == fine
    assert min(fine) == pytest.approx(20, abs=2)
    assert max(fine) == pytest.approx(64, abs=16)
    assert max(coarse) < 15


def test_001_chance_of_a_value_in_a_resample() -> None:
    """Each of n values is drawn with chance 1/n: a resample of n has as many on average as there
    are. With 1/N, N = 1500 resamples, one value of 790 would make 0.53 of itself."""
    n, resamples = 790, 1500
    values = np.zeros((1, n))
    values[0, 7] = n  # the mean of a resample counts how often it was drawn
    drawn = segment_means(values, resamples, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(1, abs=0.1)  # four standard errors
    assert drawn.mean() - 4 / np.sqrt(resamples) > n / resamples


def test_001_x_min_knows_nothing_of_the_noise() -> None:
    """The tangent at 1 meets the axis at 1 + 1/b, whatever a: 3 for b = 1/2, 4 for b = 1/3."""
    x = np.arange(1.0, 16.0)
    for b, expected in ((1 / 2, 3), (1 / 3, 4)):
        for a in (0.001, 0.05, 10.0):
            assert power_fit(x, a * x**-b).x_min() == pytest.approx(expected)


# von Däniken et al. (2022) and von Däniken (2023) ---------------------------------------------


def test_002_when_a_difference_is_significant() -> None:
    """By "P < 1 − γ/2", as printed, two systems with the same ratings would differ."""
    same = AlphaPosterior(Counts(human_ones=60, human_total=100))
    chance = probability_greater(same, same)
    assert chance == pytest.approx(0.5)
    assert chance < 1 - 0.05 / 2
    assert not (chance > 1 - 0.05 / 2 or chance < 0.05 / 2)


def test_002_known_rates_are_not_estimated_ones() -> None:
    """Fig. 2 with known ρ, η and what 100 paired ratings give: 0.112 and 0.128."""
    study = {"alpha": 0.65, "rho": 0.6, "eta": 0.6, "human": 100, "metric": 1000}
    assert measurable_difference(**study, known=True) == pytest.approx(0.112, abs=0.001)
    assert measurable_difference(**study) == pytest.approx(0.128, abs=0.001)


def test_002_overlap_counts_twice() -> None:
    """T_Φ ⊆ T_M: the posterior sd is too small for how much the estimate varies; apart it is not.

    300 items that both rated and 300 or no more of the metric; 4000 studies tell an sd to 1.1 %.
    """
    for more, claimed in ((300, 0.895), (0, 0.826)):
        setting = Setting(alpha=0.6, rho=0.9, eta=0.9, human=300, metric=more)
        counts = setting._sampled(4000, rng=0)
        apart, sd_apart = moments(counts)
        twice = Counts(
            tp=counts.tp,
            fn=counts.fn,
            fp=counts.fp,
            tn=counts.tn,
            metric_ones=counts.metric_ones + counts.tp + counts.fp,
            metric_total=more + 300,
        )
        overlap, sd_overlap = moments(twice)
        assert sd_apart.mean() / apart.std() == pytest.approx(1, abs=0.045)
        assert sd_overlap.mean() / overlap.std() == pytest.approx(claimed, abs=0.04)


def test_002_metrics_one_after_the_other() -> None:
    """Eq. 5 with its own posterior as prior: a copy of the metric tells nothing, and shrinks it."""
    known = Priors(rho=0.7, eta=0.7)
    once = moments(Counts(metric_ones=540, metric_total=1000), known)[1]
    again = moments(Counts(metric_ones=2 * 540, metric_total=2 * 1000), known)[1]
    assert again == pytest.approx(once / np.sqrt(2), rel=0.01)


def test_002_systems_on_the_same_inputs() -> None:
    """Eq. 6 takes systems for independent. On the same 200 inputs, whose difficulty is shared,
    two equal systems come out different in far fewer than 5 % of studies, and power is lost."""
    rng = np.random.default_rng(0)
    easy = rng.beta(1.0, 1.0, (4000, 200))
    ones = np.stack([(rng.random(easy.shape) < easy).sum(-1) for _ in range(2)])
    mean, sd = moments(Counts(human_ones=ones, human_total=200))
    odd = np.abs(mean[0] - mean[1]) > 1.96 * np.hypot(*sd)
    assert odd.mean() < 0.03
    apart = np.abs(mean[0, :-1] - mean[1, 1:]) > 1.96 * np.hypot(sd[0, :-1], sd[1, 1:])
    assert apart.mean() == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize("ones", [0, 300, 970])
def test_002_uniform_priors_do_not_know_which_way_a_metric_points(ones: int) -> None:
    """ρ + η > 1 is assumed and not imposed: without paired ratings the posterior mean is ½."""
    mean, sd = moments(Counts(metric_ones=ones, metric_total=1000))
    assert mean == pytest.approx(0.5, abs=1e-9)
    assert sd > 0.25


def test_002_smallest_gap_is_not_the_best_threshold() -> None:
    """Scores N(1, 1) of adequate outputs, N(0, 1) of others, α = 0.9: 0.058 where ρ = η."""
    from scipy.special import ndtr

    at = np.linspace(-2, 3, 2001)
    rho, eta = ndtr(1 - at), ndtr(at)
    worth = information(0.9, rho, eta)
    equal = worth[np.abs(rho - eta).argmin()]
    assert equal == pytest.approx(0.058, abs=5e-4)
    assert worth.max() == pytest.approx(0.068, abs=5e-4)


def test_002_above_or_from_the_threshold_on() -> None:
    """> in the paper, ≥ in the thesis. Thresholds are observed scores, so they differ."""
    human, scores = np.array([1, 1, 0, 0]), np.array([3.0, 2.0, 2.0, 1.0])
    found = {
        sign: Counts.from_labels(paired=(human, ones))
        for sign, ones in ((sign, Cut(sign, 2.0)(scores)) for sign in (">", ">="))
    }
    assert (int(found[">"].tp), int(found[">"].tn)) == (1, 2)
    assert (int(found[">="].tp), int(found[">="].tn)) == (2, 1)


def test_003_metropolis_accepts_when_u_is_at_most_t() -> None:
    """A walk over three states of weight 1, 2 and 5; as printed (t ≤ u) it goes elsewhere."""
    weight = np.array([1.0, 2.0, 5.0])
    rng = np.random.default_rng(0)
    steps, chances = rng.integers(1, 3, 60_000), rng.random(60_000)

    def shares(accept: bool) -> np.ndarray:
        state, seen = 0, np.zeros(3)
        for step, u in zip(steps, chances, strict=True):
            other = (state + int(step)) % 3
            t = min(1.0, weight[other] / weight[state])
            if (u <= t) == accept:
                state = other
            seen[state] += 1
        return seen / seen.sum()

    assert shares(True) == pytest.approx(weight / 8, abs=0.015)
    assert shares(False)[0] > 0.9  # every step up has t = 1 and is refused


def test_002_probability_of_a_count() -> None:
    """P(r = 1) is no distribution over counts; the binomial with that rate is."""
    alpha, rho, eta, n = 0.6, 0.7, 0.8, 12
    rate = alpha * (rho + eta - 1) + (1 - eta)
    printed = np.full(n + 1, rate)
    binomial = np.array([comb(n, m) * rate**m * (1 - rate) ** (n - m) for m in range(n + 1)])
    assert printed.sum() == pytest.approx((n + 1) * rate) != 1
    assert binomial.sum() == pytest.approx(1)


def test_002_cells_of_the_grid() -> None:
    """Midpoints (i + ½)/N for i = 0 … N − 1 lie in (0, 1); that of i = N does not."""
    size = 2000
    middle = (np.arange(size + 1) + 0.5) / size
    assert (middle[:-1] < 1).all() and middle[-1] > 1


def test_003_expectation_needs_the_density() -> None:
    """∫ f(θ) dθ is E[f] under a uniform density only: the mean of Beta(8, 4) is 2/3, not 1/2."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    density = grid**7 * (1 - grid) ** 3
    density /= density.mean()
    assert grid.mean() == pytest.approx(0.5)
    assert (grid * density).mean() == pytest.approx(2 / 3, abs=1e-6)


def test_003_comet_changes_the_table() -> None:
    """Facebook-AI against VolcTrans-AT: no star by people alone, one with COMET (Table 5.6)."""
    cells = PRINTED["thesis5.5"].cells
    place = list(cells).index("Facebook-AI")
    by_people, with_comet = cells["VolcTrans-AT"][place], "*"
    assert by_people == "." and by_people != with_comet


def test_003_a_perfect_classifier() -> None:
    """Its false positive rate, 1 − η, is 0; the thesis says that both rates are 1."""
    labels = np.array([1, 0, 0, 1, 1])
    counts = Counts.from_labels(paired=(labels, labels))
    assert counts.tp / (counts.tp + counts.fn) == 1
    assert counts.fp / (counts.fp + counts.tn) == 0


# Saldías et al. (2022) ------------------------------------------------------------------------


def test_004_equation_4_conforms_one_way() -> None:
    """E[XZ]ᵀ (E[ZZᵀ])⁻¹ Z̄ is a number; for one metric it is equation 3."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(50, 3))
    z = (z - z.mean(0)) / z.std(0)
    x = 5 + z @ [1.0, 0.5, 0.0] + rng.normal(size=50)
    products, second = (x[:, None] * z).mean(0), z.T @ z / len(z)
    assert np.ndim(products @ np.linalg.inv(second) @ z[:10].mean(0)) == 0
    with pytest.raises(ValueError):
        np.linalg.inv(second) @ products[None, :] @ z[:10].mean(0)[:, None]  # as printed
    one = products[:1] @ np.linalg.inv(second[:1, :1]) @ z[:10, :1].mean(0)
    assert one == pytest.approx((x * z[:, 0]).mean() * z[:10, 0].mean())


def test_004_estimated_slopes_are_biased_a_little() -> None:
    """Regression slopes from all samples of 3 of 7; the bias falls about as 1/n, and is 0 at N."""
    x = np.array([0.0, 0.0, 1.0, 1.0, 4.0, 9.0, 25.0])
    z = np.array([0.1, 0.2, 0.2, 0.5, 0.4, 0.9, 1.0])
    z = (z - z.mean()) / z.std()

    def bias(n: int) -> float:
        found = []
        for rows in map(list, combinations(range(7), n)):
            centred = z[rows] - z[rows].mean()
            slope = centred @ x[rows] / (centred @ centred)
            found.append(x[rows].mean() - slope * z[rows].mean())
        return float(np.mean(found) - x.mean())

    biases = [abs(bias(n)) for n in (4, 5, 6, 7)]
    assert biases[0] > 0.1
    assert biases[0] > biases[1] > biases[2] > biases[3] == pytest.approx(0, abs=1e-12)


def test_004_incremental_allocation_is_biased() -> None:
    """Two documents, one with rare high scores: where none was seen none are looked for."""
    rare, even = np.repeat([0.0, 25.0], [16, 4]), np.repeat([0.0, 1.0], [10, 10])
    gold = np.concatenate([rare, even])
    pool = Pool(np.array([f"s{i}" for i in range(40)]), documents=np.repeat([0, 1], 20))
    ratings = Incremental("human")._replay(
        pool, lambda s: gold[s.indices], [1] * 12, draws=1000, rng=np.random.default_rng(0)
    )
    value = Mean().estimate(ratings).value
    assert not ratings.sample.design.unbiased
    assert value.mean() + 6 * value.std() / np.sqrt(1000) < gold.mean()


def test_004_equation_2_goes_by_the_standard_deviation() -> None:
    rng = np.random.default_rng(2)
    spread = np.repeat([0.5, 1.0, 2.0, 4.0], 200)
    pool = Pool(
        ids=np.arange(800),
        documents=np.repeat(list("abcd"), 200),
        metrics={"comet": spread * rng.normal(size=800)},
    )
    sample = registry.sampler("docs-opt-printed").draw(pool, 100, rng=1)
    drawn = np.bincount(pool.codes[sample.indices], minlength=4)
    sigma = pool.composite().reshape(4, 200).std(1, ddof=1)
    assert np.abs(drawn - 100 * sigma / sigma.sum()).max() < 1  # n σ_l N_l / Σ σ_l N_l, rounded
    assert np.abs(drawn - 100 * sigma**2 / (sigma**2).sum()).max() > 10  # as the words have it


def test_004_bernstein_goes_by_the_standard_deviation() -> None:
    """A bound in the unit of the scores must double when the scores do; with σ² it does not."""
    scores = np.random.default_rng(0).exponential(3.0, 50).clip(0, 25)

    def half(times: float) -> float:
        low, high = _interval(times * scores, 1000, Bernstein(printed=True), times * 25)
        return (high - low) / 2

    assert half(2) == pytest.approx(2 * half(1))
    sd = scores.std()
    printed = sd * np.sqrt(2 * np.log(60) / 50) + 75 * np.log(60) / 50
    assert half(1) == pytest.approx(printed)
    squared = [
        (t * sd) ** 2 * np.sqrt(2 * np.log(60) / 50) + t * 75 * np.log(60) / 50 for t in (1, 2)
    ]
    assert squared[1] > 2.2 * squared[0]


def test_004_bernstein_does_not_know_of_the_pool() -> None:
    """With everything rated Hoeffding's bound is next to 0, and Bernstein's is not."""
    scores = np.random.default_rng(0).exponential(3.0, 990).clip(0, 25)
    hoeffding, bernstein = (
        np.ptp(_interval(scores, 1000, bound, 25)) / 2
        for bound in (Hoeffding(printed=True), Bernstein(printed=True))
    )
    assert hoeffding < 0.15 < 0.4 < bernstein


def _interval(scores: np.ndarray, size: int, bound: Bound, top: float) -> tuple[float, float]:
    """Of the mean of a simple random sample with these scores, not cut at the scale."""
    sample = SimpleRandom().draw(Pool(np.arange(size)), scores.size, rng=0)
    estimate = Mean(bound=bound).estimate(sample.rate(scores, limits=(0, top)))
    low, high = bound.interval(estimate, 0.95)
    return float(low), float(high)
