"""Three ways to the posterior of α agree with each other and with sums and grids."""

import numpy as np
import pytest
from scipy import stats

from fewgold.bayes import quadrature
from fewgold.bayes.batch import gauss_jacobi, reverse_moments
from fewgold.bayes.density import Panels, chance_greater
from fewgold.bayes.mixture import Shapes, _tilted, beta_binomial, log_factors, log_weights, mixture
from fewgold.bayes.quadrature import by_quadrature, known_moments
from reference import binary as twin
from sweeps import quick


def shape_of(values):
    return Shapes(*(np.array(float(x)) for x in values))


def batch_of(values):
    return Shapes(*(np.array([float(x)]) for x in values))


def gap(found, true):
    """Largest relative error of mean and sd; of the mean from the nearer end."""
    (mean, variance), (mu, v) = found, true
    return max(abs(mean - mu) / min(mu, 1 - mu), abs(np.sqrt(variance / v) - 1))


@pytest.mark.parametrize(
    "values",
    [
        (1, 1, 1, 1, 1, 1, 3, 2),
        (3, 2, 2, 1, 1, 4, 5, 0),
        (1, 7, 2, 2, 9, 1, 0, 6),
        (2, 2, 1, 1, 1, 1, 1, 1),
    ],
)
def test_exact_fractions(values):
    mean = twin.exact_moment(values, alpha=1)
    variance = twin.exact_moment(values, alpha=2) - mean * mean
    true = float(mean), float(variance)
    assert gap(mixture(shape_of(values)).moments(), true) < 1e-13
    assert gap(by_quadrature(shape_of(values)).moments(), true) < 1e-8
    hidden = twin.by_hidden_counts(values)
    assert gap(hidden["alpha"], true) < 1e-12
    rho = twin.exact_moment(values, rho=1)
    assert hidden["rho"][0] == pytest.approx(float(rho), rel=1e-12)


def test_papers_grid():
    values = (9, 6, 6, 4, 4, 3, 11, 9)
    found = mixture(shape_of(values)).moments()
    assert gap(found, twin.by_grid(values)) < 1e-3  # the grid's own error is of order 1e-4


@pytest.mark.parametrize("seed", quick(range(60), slice(20)))
def test_mixture_and_quadrature_agree(seed):
    values = twin.random_shapes(np.random.default_rng(seed))
    true = mixture(shape_of(values)).moments()
    assert gap(by_quadrature(shape_of(values)).moments(), true) < 1e-7


@pytest.mark.parametrize("seed", range(60))
def test_reverse_knows_its_error(seed):
    values = twin.random_shapes(np.random.default_rng(100 + seed))
    found = reverse_moments(batch_of(values))
    assert np.isfinite(found.mean).all()
    if found.error[0] < 1e-7:
        true = mixture(shape_of(values)).moments()
        assert gap((found.mean[0], found.variance[0]), true) < 1e-8


@pytest.mark.parametrize("seed", range(30))
def test_mixture_against_all_hidden_counts(seed):
    rng = np.random.default_rng(seed)
    values = twin.random_shapes(rng, largest=100, priors=(0.3, 0.5, 1.0, 1.7))
    true = twin.by_hidden_counts(values)["alpha"]
    # The twin's log Γ of 100,000 is good to 1e-10 and no better.
    assert gap(mixture(shape_of(values)).moments(), true) < 1e-8


def test_reverse_converges_for_a_full_table():
    for values in [(61, 41, 43, 18, 29, 12, 540, 460), (317, 212, 222, 96, 149, 64, 540, 460)]:
        found = reverse_moments(batch_of(values))
        assert found.error[0] < 1e-6
        true = mixture(shape_of(values)).moments()
        assert gap((found.mean[0], found.variance[0]), true) < 1e-8


def test_dirichlet_prior_in_closed_form():
    """With α ~ Beta(2, 2): Var α = V(v1) E[ψ²] + V(v0) E[(1−ψ)²] + V(ψ)(E v1 − E v0)²."""
    ar, br, ae, be, m, k = 43, 19, 29, 13, 540, 460
    beta = [(m + ar + be, k + br + ae), (ar, be), (br, ae)]
    (psi, v_psi), (hit, v_hit), (miss, v_miss) = (
        (a / (a + b), a * b / (a + b) ** 2 / (a + b + 1)) for a, b in beta
    )
    mean = psi * hit + (1 - psi) * miss
    variance = v_hit * (psi**2 + v_psi) + v_miss * ((1 - psi) ** 2 + v_psi)
    variance += v_psi * (hit - miss) ** 2
    values = (ar + br, ae + be, ar, br, ae, be, m, k)
    assert gap(mixture(shape_of(values)).moments(), (mean, variance)) < 1e-12
    found = reverse_moments(batch_of(values))
    assert gap((found.mean[0], found.variance[0]), (mean, variance)) < 1e-12


def test_tilts_keep_the_digits_of_the_fft():
    """A calibration set of 100,000 puts the weight far out in the tail of f ∗ g."""
    values = (1.0, 1.0, 35_001.0, 15_001.0, 35_001.0, 15_001.0, 1000, 3000)
    shape = shape_of(values)
    logs = log_factors(shape)
    first, log_w = log_weights(*logs, direct=False)
    start, direct = log_weights(*logs, direct=True)
    low = max(first, start)
    high = min(first + log_w.size, start + direct.size)
    near = log_w[low - first : high - first] - direct[low - start : high - start]
    assert np.abs(near).max() < 1e-8
    plain = _tilted(logs[0], logs[1], 0.0, False)  # without a tilt nothing of it is seen
    assert plain[0] > start + direct.argmax() or plain[1] < start + direct.argmax()


def test_many_ratings():
    """N = 10⁷ by quadrature and reverse; the mixture at 10⁶."""
    ten = (61, 41, 43, 19, 29, 13, 5_400_000, 4_600_000)
    found = by_quadrature(shape_of(ten)).moments()
    other = reverse_moments(batch_of(ten))
    assert other.error[0] < 1e-5
    assert gap((other.mean[0], other.variance[0]), found) < 1e-7
    one = (1, 1, 1, 1, 1, 1, 540_000, 460_000)
    assert gap(by_quadrature(shape_of(one)).moments(), mixture(shape_of(one)).moments()) < 1e-7


@pytest.mark.parametrize("a, b", [(1, 1), (0.5, 0.5), (0.3, 4), (43, 19), (1, 1e4), (1e7, 1e6)])
def test_gauss_jacobi_integrates_powers(a, b):
    x, w = gauss_jacobi(np.array([float(a)]), np.array([float(b)]), 8)
    moment = 1.0
    for power in range(1, 16):  # 8 nodes are exact up to degree 15
        moment *= (a + power - 1) / (a + b + power - 1)
        assert w[0] @ x[0] ** power == pytest.approx(moment, rel=1e-10)


@pytest.mark.parametrize("rho, eta", [(0.7, 0.7), (0.9, 0.6), (1.0, 1.0), (0.2, 0.3), (0.5, 0.5)])
@pytest.mark.parametrize("m, k", [(54, 46), (0, 30), (30, 0)])
def test_known_rates(rho, eta, m, k):
    values = (4, 3, 1, 1, 1, 1, m, k)
    mean, variance = known_moments(batch_of(values), (rho, eta))
    true = twin.known_by_grid(4, 3, rho, eta, m, k)[:2]
    assert gap((mean[0], variance[0]), true) < 1e-5
    assert gap(mixture(shape_of(values), (rho, eta)).moments(), (mean[0], variance[0])) < 1e-9


def test_components_far_from_alpha_do_not_matter(monkeypatch):
    values = (1.5, 1.5, 30.5, 4.5, 6.5, 1.5, 4000, 16_000)
    parts = mixture(shape_of(values))
    alpha = np.array([1e-6, 1e-3, 0.1, 0.2, 0.25, 0.5, 0.9, 0.999])
    every = parts.log_density(alpha, 1 - alpha)
    monkeypatch.setattr("fewgold.bayes.mixture._MANY", 10)
    near = parts.log_density(alpha, 1 - alpha)
    seen = every > every.max() - 40
    assert seen.sum() >= 3
    np.testing.assert_allclose(near[seen], every[seen], rtol=1e-10)
    assert np.all(near[~seen] < every.max() - 40)


@pytest.mark.parametrize(("n", "a", "b"), [(12, 3.0, 5.0), (1000, 3.0, 0.5)])
def test_beta_binomial(n, a, b):
    found = beta_binomial(np.array([a]), np.array([b]), n)[0]
    np.testing.assert_allclose(found, twin.beta_binomial(n, a, b), rtol=1e-11)


@pytest.mark.parametrize("a, b", [(0.1, 2), (0.3, 2), (0.05, 5), (0.7, 30), (2.3, 900), (1.5, 1)])
def test_panels_of_a_singular_density(a, b):
    """Beta(0.1, 2) is infinite at 0: two hundredths of its mass lie below 1e-17."""
    panels = Panels.fit(lambda x, y: (a - 1) * np.log(x) + (b - 1) * np.log(y), powers=(a, b))
    beta = stats.beta(a, b)
    assert panels.moments()[0] == pytest.approx(beta.mean(), rel=1e-9)
    assert panels.moments()[1] == pytest.approx(beta.var(), rel=1e-9)
    p = np.array([1e-6, 0.01, 0.1, 0.5, 0.9, 0.999])
    np.testing.assert_allclose(panels.cdf(beta.ppf(p)), p, atol=1e-10)
    np.testing.assert_allclose(panels.quantile(p[1:]), beta.ppf(p[1:]), rtol=1e-7)
    other = Panels.fit(lambda x, y: (b - 1) * np.log(x) + (a - 1) * np.log(y), powers=(b, a))
    assert other.moments()[0] == pytest.approx(beta.sf(0) - beta.mean(), rel=1e-8)
    assert chance_greater(panels, panels) == pytest.approx(0.5, abs=1e-9)
    assert chance_greater(panels, other) + chance_greater(other, panels) == pytest.approx(
        1, abs=1e-9
    )


@pytest.mark.parametrize("a, b", [(3, 5), (1, 4), (4, 1), (300, 2), (2.5, 1.5), (0.3, 0.2)])
def test_mode_of_panels(a, b):
    panels = Panels.fit(lambda x, y: (a - 1) * np.log(x) + (b - 1) * np.log(y), powers=(a, b))
    true = float(a > b) if min(a, b) <= 1 else (a - 1) / (a + b - 2)
    assert panels.mode == pytest.approx(true, abs=1e-7)


def test_interpolated_quadrature_is_as_good_as_all_of_it():
    values = (120.0, 80.0, 43.0, 19.0, 29.0, 13.0, 5_400_000, 4_600_000)
    shape = shape_of(values)
    every = Panels.fit(lambda alpha, beta: quadrature.log_density(shape, alpha, beta))
    p = np.array([0.001, 0.025, 0.5, 0.975])
    np.testing.assert_allclose(by_quadrature(shape).quantile(p), every.quantile(p), atol=1e-8)
