"""What the standard errors and intervals promise, on the embedded data with 2,000 draws per cell.

One rater of the English-German set: 705 segments in 65 documents, scores from 0 to 25 with a
skewness of 2.6. ``FEWGOLD_SEED`` sets another seed: the tests hold for any.

Measured with seed 7 (5 %, 20 %, 50 %):

====================== =====================  =====================
strategy               coverage of 95 %       rms(se)/sd
====================== =====================  =====================
random+mean            0.904 0.939 0.947      0.990 0.972 1.009
random+cv-mean         0.895 0.939 0.957      0.981 0.978 1.012
random+cv-multi        0.875 0.922 0.947      0.865 0.941 0.997
random+ridge           0.882 0.929 0.949      0.934 0.953 1.000
docs-prop+mean         0.930 0.937 0.952      1.067 0.993 1.011
docs-prop+cv-multi     0.903 0.925 0.943      0.918 0.947 0.993
docs-opt+mean          0.916 0.940 0.945      0.996 1.005 1.010
metrics-prop+mean      0.913 0.942 0.947      0.998 1.024 1.014
docs-sys+mean          0.930 0.945 0.944      1.067 1.021 0.994
docs-sys+ridge         0.901 0.933 0.941      0.964 0.974 0.980
docs-chunks3+mean      0.911 0.977 0.983      1.029 1.193 1.185
docs-balanced+mean     0.921 0.940 0.951      0.999 0.992 1.022
docs-balanced+ridge    0.931 0.943 0.952      1.021 1.003 1.027
docs-uneven-rank+mean  0.924 0.953 0.945      0.981 1.030 0.984
docs-uneven-rank+ridge 0.918 0.952 0.949      0.954 1.032 0.984
docs-whole+mean        0.943 0.906 0.907      1.043 0.976 0.987
docs-whole+ridge       0.942 0.907 0.919      0.938 0.961 0.981
====================== =====================  =====================

Skewed scores undercover at small n, nearly always below the truth: a sample without very bad
segments has a low mean and a small standard error at once.
"""

from __future__ import annotations

import os
from math import exp, pi, sqrt

import numpy as np
import pytest

from fewgold import registry
from fewgold.bounds import Auto, Bernstein, Hoeffding, Student
from fewgold.datasets import load_demo
from fewgold.estimators import ControlVariates, Mean

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
DRAWS = 2000
CHUNK = 500
MC = sqrt(0.95 * 0.05 / DRAWS)  # error of a coverage, 0.005
BUDGETS = (0.05, 0.2, 0.5)


@pytest.fixture(scope="module")
def demo():
    return load_demo("ende", rater="rater3")


def skew_allowance(y, n):
    """By how much Student's interval of a mean undercovers, to first order in 1/n.

    Hall (1992), The Bootstrap and Edgeworth Expansion, section 2.6: 2 z φ(z)/n times
    γ²(z⁴ + 2z² - 3)/18 - κ(z² - 3)/12. Student's quantile takes care of the remaining term.
    """
    z = 1.96
    u = (y - y.mean()) / y.std()
    skew, kurtosis = (u**3).mean(), (u**4).mean() - 3
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    term = skew**2 * (z**4 + 2 * z**2 - 3) / 18 - kurtosis * (z**2 - 3) / 12
    return 2 * z * density / n * max(term, 0.0)


def measure(demo, sampler, estimators, budget, bound=None, draws=DRAWS, limits=None):
    """Values, standard errors and hits of the 95 % interval of each estimator, same samples."""
    pool, gold = demo
    made_by = {e if isinstance(e, str) else e.name: e for e in estimators}
    rng = np.random.default_rng([SEED, int(1000 * budget)])
    parts = {e: [] for e in made_by}
    drawn = registry.sampler(sampler)
    for _ in range(draws // CHUNK):
        sample = drawn.draw(pool, budget, draws=CHUNK, rng=rng)
        ratings = sample.rate(gold[sample.indices], limits=limits)
        for name, e in made_by.items():
            estimator = registry.estimator(e, pool) if isinstance(e, str) else e
            made = estimator.estimate(ratings)
            low, high = made.interval(0.95, bound)
            hit = (low <= gold.mean()) & (gold.mean() <= high)
            parts[name].append((made.value, made.se, hit))
    return {
        e: tuple(np.concatenate([p[i] for p in part]) for i in range(3))
        for e, part in parts.items()
    }


# Per sampler: estimators; lowest and highest rms(se)/sd beside the error of measuring it; and
# whether se² is unbiased for the plain mean.
SAMPLERS = {
    "random": (("mean", "cv-mean", "cv-multi", "ridge"), 1.0, 1.0),
    "docs-prop": (("mean", "cv-multi"), 1.0, 1.15),
    "docs-opt": (("mean",), 1.0, 1.05),
    "metrics-prop": (("mean",), 1.0, 1.0),
    "metrics-opt": (("mean",), 1.0, 1.0),
    "docs-sys": (("mean", "ridge"), 1.0, 1.15),
    "docs-chunks3": (("mean",), 1.0, 1.35),
    "docs-balanced": (("mean", "ridge"), 1.0, 1.10),
    "docs-uneven-rank": (("mean", "ridge"), 1.0, 1.10),
    # Four or five documents at 5 %, cut at both ends: the variance of so few units is too small.
    "docs-whole": (("mean", "ridge"), 0.88, 1.15),
}
PARAMETERS = {"mean": 0, "cv-mean": 1, "cv-multi": 7, "ridge": 4}


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_student(demo, sampler, budget):
    pool, gold = demo
    estimators, lowest, highest = SAMPLERS[sampler]
    n = round(budget * len(pool))
    # What varies independently: segments, or documents of about eleven.
    units = n / (len(pool) / 65) if sampler == "docs-whole" else n
    for name, (value, se, hit) in measure(demo, sampler, estimators, budget, Student()).items():
        sd = value.std()
        p = PARAMETERS[name]
        # Bias: none for the mean; of order sd/n where slopes are fitted to the same ratings.
        bias = abs(value.mean() - gold.mean())
        allowed = 0.0 if p == 0 else gold.std() / units
        assert bias < 4 * sd / sqrt(DRAWS) + allowed, (name, bias / sd)
        # se: the sd of 2,000 values is known to 2 %, rms(se) to 1 %. Estimating p slopes
        # multiplies the true variance by 1 + p/(n - p - 2), which se leaves out.
        ratio = sqrt((se**2).mean()) / sd
        slopes = 1 / sqrt(1 + p / (n - p - 2))
        assert 0.93 * lowest * slopes < ratio < 1.07 * highest, (name, ratio)
        # Coverage: 95 % less what the skewness costs, and what a small se costs.
        short = 0.95 - skew_allowance(gold, min(units * 2, n))
        short -= 0.95 - 0.95 * min(ratio, 1.0) ** 0.5
        assert hit.mean() > short - 4 * MC - 0.01, (name, hit.mean(), short)
        assert hit.mean() < 0.95 + 0.3 * (highest * 1.07 - 1) + 4 * MC, (name, hit.mean())


@pytest.mark.parametrize("budget", BUDGETS)
def test_undercoverage_of_the_mean_is_what_the_skewness_predicts(demo, budget):
    """The formula is no fig leaf: it foretells the coverage of the plain mean."""
    _, gold = demo
    n = round(budget * len(gold))
    (_, _, hit) = measure(demo, "random", ("mean",), budget, Student())["mean"]
    # The finite population makes the mean of half of it less skewed than the formula says.
    assert hit.mean() == pytest.approx(0.95 - skew_allowance(gold, n), abs=4 * MC)


# What 95 % intervals may fall short by, beside the Monte-Carlo error: skewed scores and few units.
SHORT = {"cv-multi": 0.03, "docs-whole": 0.02}


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_auto(demo, sampler, budget):
    """The default interval of every strategy, where Student's covers 88 to 93 % at 5 %."""
    estimators, _, highest = SAMPLERS[sampler]
    for name, (_, _, hit) in measure(demo, sampler, estimators, budget, Auto()).items():
        short = max(SHORT.get(name, 0.01), SHORT.get(sampler, 0.0))
        assert hit.mean() > 0.95 - short - 4 * MC, (name, hit.mean())
        assert hit.mean() < 0.965 + 0.3 * (highest * 1.07 - 1) + 4 * MC, (name, hit.mean())


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("sampler", "bound"),
    [
        ("random", Hoeffding()),
        ("random", Bernstein()),
        ("docs-opt", Hoeffding()),
        ("metrics-prop", Hoeffding()),
    ],
    ids=["hoeffding", "bernstein", "hoeffding-docs-opt", "hoeffding-metrics"],
)
def test_guaranteed_bounds_cover(demo, sampler, bound, budget):
    (_, _, hit) = measure(demo, sampler, (Mean(),), budget, bound, limits=(0.0, 25.0))["mean"]
    assert hit.mean() >= 0.95


@pytest.mark.parametrize("budget", BUDGETS)
def test_guaranteed_bounds_cover_with_fixed_slopes(demo, budget):
    fixed = ControlVariates(slopes={"comet": -1.5, "bleurt": -0.5})
    for bound in (Hoeffding(), Bernstein()):
        made = measure(demo, "random", (fixed,), budget, bound, limits=(0.0, 25.0))
        value, _, hit = made[fixed.name]
        assert hit.mean() >= 0.95
        assert abs(value.mean() - demo[1].mean()) < 4 * value.std() / sqrt(DRAWS)


def test_hoeffding_is_not_vacuous_where_it_can_be_tight(demo):
    """Scores at both ends of the scale: the worst case, where the bound is nearly tight."""
    pool, gold = demo
    ends = np.where(gold > np.median(gold), 25.0, 0.0)
    value, se, _ = measure((pool, ends), "random", ("mean",), 0.2)["mean"]
    n, size = round(0.2 * len(pool)), len(pool)
    half = 25 * sqrt((1 - (n - 1) / size) * np.log(2 / 0.05) / (2 * n))
    assert 1.96 * value.std() < half < 2 * 1.96 * value.std()
    assert sqrt((se**2).mean()) == pytest.approx(value.std(), rel=0.07)


def test_incremental_sampling_is_biased_as_documented(demo):
    """Strata whose first ratings agree are never visited again: low means, false confidence."""
    pool, gold = demo
    estimator = registry.strategy("docs-incr-human+mean", pool)
    ratings = estimator.collect(
        pool, lambda s: gold[s.indices], 0.2, draws=300, rng=np.random.default_rng(SEED)
    )
    made = estimator.estimate(ratings)
    assert not ratings.sample.design.unbiased
    assert any("unbiased" in note for note in made.notes)
    assert made.value.mean() - gold.mean() < -0.5 * made.value.std()
    low, high = made.interval()
    assert ((low <= gold.mean()) & (gold.mean() <= high)).mean() < 0.8


@pytest.mark.parametrize("n", [8, 12, 16, 24])
@pytest.mark.parametrize("name", ["mean", "cv-mean", "cv-knn", "ridge"])
def test_a_control_does_little_harm_at_few_ratings(demo, name, n):
    """RMSE against the plain mean on the same simple random samples."""
    _, gold = demo
    made = measure(demo, "random", ("mean", name), n, draws=500)
    error = {k: sqrt(((v[0] - gold.mean()) ** 2).mean()) for k, v in made.items()}
    assert error[name] < 1.15 * error["mean"]


@pytest.mark.parametrize("n", [24, 35])
def test_fitted_slopes_count_in_the_standard_error(demo, n):
    """Seven slopes from few ratings: what their errors add to the estimate belongs into se.

    Weighting each residual by g = 1 + (Z̄ - z̄)ᵀ S⁻¹ (z - z̄) does it (Särndal et al. 1992, 6.6);
    leaving it out gives 0.79 at n = 24 and 0.84 to 0.88 at n = 35.
    """
    value, se, _ = measure(demo, "random", ("cv-multi",), n)["cv-multi"]
    assert sqrt((se**2).mean()) / value.std() > 0.90
