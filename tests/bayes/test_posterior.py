"""The posterior as an object: every answer agrees with the others, in a batch and one by one."""

import json
import pickle

import numpy as np
import pytest
from scipy import stats

from fewgold.bayes import AlphaPosterior, Counts, PoolPosterior, Priors, moments
from fewgold.bayes.mixture import draw_hidden, shapes
from fewgold.errors import DataError, FewgoldError
from fewgold.estimate import Estimate
from reference import binary as twin
from sweeps import quick

CASES = {
    "human": Counts(human_ones=7, human_total=9),
    "none": Counts(),
    "paired": Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000),
    "few": Counts(tp=2, fn=1, fp=0, tn=1, metric_ones=13, metric_total=40),
    "uniform": Counts(metric_ones=300, metric_total=1000),
    "one class": Counts(tp=90, fn=10, metric_ones=700, metric_total=1000),
    "conflict": Counts(
        human_ones=5, human_total=100, tp=95, tn=95, metric_ones=900, metric_total=1000
    ),
    "all": Counts(human_ones=50, human_total=50, tp=50, metric_ones=300, metric_total=300),
    "calibration": Counts(
        tp=70, fn=30, fp=20, tn=80, metric_ones=450, metric_total=2000, pairs="calibration"
    ),
    "many": Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540_000, metric_total=1_000_000),
}
EVERY = pytest.mark.parametrize("counts", CASES.values(), ids=CASES.keys())


SMALL = [(1, 1, 1, 1, 1, 1, 3, 2), (5, 4, 4, 2, 3, 2, 9, 7), (40, 3, 2, 3, 6, 4, 3, 9)]


def of_shapes(values):
    a0, b0, ar, br, ae, be, m, k = values
    priors = Priors(alpha=(a0, b0), rho=(ar, br), eta=(ae, be))
    return AlphaPosterior(Counts(metric_ones=m, metric_total=m + k), priors)


@EVERY
def test_answers_agree(counts):
    posterior = AlphaPosterior(counts)
    assert isinstance(posterior, Estimate)
    curve = posterior._distributions[0]
    mean, variance = curve.moments()
    assert mean == pytest.approx(float(posterior.mean), rel=1e-7)
    assert np.sqrt(variance) == pytest.approx(float(posterior.sd), rel=1e-6)
    p = np.array([1e-6, 0.025, 0.3, 0.5, 0.9, 0.999])
    q = posterior.quantile(p)
    assert np.all(np.diff(q) > 0)
    np.testing.assert_allclose(posterior.cdf(q), p, atol=1e-9)
    assert posterior.cdf([0.0, 1.0]).tolist() == pytest.approx([0, 1], abs=1e-12)
    x = np.linspace(q[0], q[-1], 20_001)
    steps = 0.5 * (posterior.pdf(x[1:]) + posterior.pdf(x[:-1])) * np.diff(x)
    assert steps.sum() == pytest.approx(p[-1] - p[0], abs=1e-5)
    assert float(posterior.pdf(posterior.mode)) >= posterior.pdf(x[1:-1]).max() * (1 - 1e-5)
    low, high = posterior.interval(0.9)
    first, last = posterior.interval(0.9, kind="hdi")
    assert posterior.cdf(high) - posterior.cdf(low) == pytest.approx(0.9, abs=1e-8)
    assert posterior.cdf(last) - posterior.cdf(first) == pytest.approx(0.9, abs=1e-8)
    assert last - first <= high - low + 1e-12


@pytest.mark.parametrize("method", ["mixture", "reverse", "quadrature"])
def test_methods_can_be_told(method):
    counts = CASES["paired"]
    told, auto = AlphaPosterior(counts, method=method), AlphaPosterior(counts)
    assert told.mean == pytest.approx(float(auto.mean), rel=1e-7)
    assert told.sd == pytest.approx(float(auto.sd), rel=1e-7)
    np.testing.assert_allclose(told.quantile([0.01, 0.5]), auto.quantile([0.01, 0.5]), rtol=1e-7)
    with pytest.raises(FewgoldError, match="method must be one of auto, mixture, reverse, quad"):
        AlphaPosterior(counts, method="nuts")


def test_human_ratings_alone_are_a_beta():
    posterior = AlphaPosterior(CASES["human"], Priors(alpha=(0.5, 0.5)))
    beta = stats.beta(7.5, 2.5)
    assert posterior.mean == pytest.approx(beta.mean())
    assert posterior.mode == pytest.approx(6.5 / 8)
    np.testing.assert_allclose(posterior.quantile([0.1, 0.8]), beta.ppf([0.1, 0.8]))
    np.testing.assert_allclose(posterior.pdf([0.3, 0.7]), beta.pdf([0.3, 0.7]))


@pytest.mark.parametrize("ones, at", [(540, 0.6), (100, 0.0), (900, 1.0)])
def test_mode_with_known_rates(ones, at):
    """Theorem 1 of von Däniken et al.: (m/N + η − 1)/(ρ + η − 1), clipped."""
    counts = Counts(metric_ones=ones, metric_total=1000)
    posterior = AlphaPosterior(counts, Priors(rho=0.7, eta=0.7))
    assert posterior.mode == pytest.approx(at, abs=1e-6)
    assert posterior.sample_rates(3, rng=0).rho.tolist() == [0.7] * 3
    with pytest.raises(FewgoldError, match=r"rho is known to be 0\.7"):
        _ = posterior.rho


def test_known_rates_the_wrong_way_round():
    counts = Counts(human_ones=6, human_total=9, metric_ones=30, metric_total=100)
    wrong = Priors(rho=0.2, eta=0.3)
    for ask in (AlphaPosterior, PoolPosterior, moments):
        with pytest.raises(FewgoldError, match=r"got rho=0\.2 and eta=0\.3.*Priors\.flipped\(\)"):
            ask(counts, wrong)
    turned = AlphaPosterior(counts.flipped(), wrong.flipped())
    assert turned.mean == pytest.approx(twin.known_by_grid(7, 4, 0.2, 0.3, 30, 70)[0], abs=1e-6)
    assert Priors(rho=(2, 5), eta=(3, 1)).flipped() == Priors(rho=(5, 2), eta=(1, 3))


def test_a_metric_that_tells_nothing():
    counts = Counts(human_ones=6, human_total=9, metric_ones=30, metric_total=100)
    posterior = AlphaPosterior(counts, Priors(rho=0.4, eta=0.6))
    assert posterior.mean == pytest.approx(7 / 11, rel=1e-9)
    np.testing.assert_allclose(posterior.quantile([0.1, 0.9]), stats.beta(7, 4).ppf([0.1, 0.9]))
    assert "carry no information" in posterior.summary()
    assert posterior.informative == 0


def test_impossible_ratings():
    with pytest.raises(DataError, match="rho=0 and eta=1 gives no ones"):
        AlphaPosterior(Counts(metric_ones=1, metric_total=2), Priors(rho=0, eta=1))


def test_a_metric_without_pairs_tells_nothing():
    posterior = AlphaPosterior(CASES["uniform"])
    assert posterior.mean == pytest.approx(0.5, abs=1e-10)


def test_exchanging_adequate_and_inadequate():
    counts = CASES["few"]
    other = Counts(tp=1, fn=0, fp=1, tn=2, metric_ones=27, metric_total=40)
    one, two = AlphaPosterior(counts), AlphaPosterior(other)
    assert one.mean == pytest.approx(1 - two.mean, rel=1e-9)
    assert one.rho.mean == pytest.approx(two.eta.mean, rel=1e-7)
    assert one.cdf(0.3) == pytest.approx(1 - two.cdf(0.7), abs=1e-9)
    flipped = AlphaPosterior(counts.flipped())
    assert one.mean == pytest.approx(flipped.mean, rel=1e-9)
    assert one.rho.mean == pytest.approx(1 - flipped.rho.mean, rel=1e-7)


@pytest.mark.parametrize("seed", quick(range(12), slice(4)))
def test_rates_of_the_metric(seed):
    values = twin.random_shapes(np.random.default_rng(seed), largest=100)
    true = twin.by_hidden_counts(values)
    a0, b0, ar, br, ae, be, m, k = values
    posterior = AlphaPosterior(
        Counts(metric_ones=m, metric_total=m + k),
        Priors(alpha=(a0, b0), rho=(ar, br), eta=(ae, be)),
    )
    for name in ("rho", "eta"):
        rate = getattr(posterior, name)
        mean, variance = true[name]
        assert rate.mean == pytest.approx(mean, rel=1e-6, abs=1e-7)
        assert rate.sd == pytest.approx(np.sqrt(variance), rel=1e-5)
        low, high = rate.interval(0.9)
        assert rate.cdf(high) - rate.cdf(low) == pytest.approx(0.9, abs=1e-7)


@pytest.mark.parametrize("name", ["paired", "few", "many"])
def test_joint_draws(name):
    posterior = AlphaPosterior(CASES[name])
    size = 20_000
    draws = posterior.sample_rates(size, rng=0)
    for rate, of in (
        (draws.alpha, posterior),
        (draws.rho, posterior.rho),
        (draws.eta, posterior.eta),
    ):
        assert abs(rate.mean() - of.mean) < 5 * of.sd / np.sqrt(size)
        assert rate.std() == pytest.approx(float(of.sd), rel=0.05)
    ks = stats.kstest(posterior.cdf(posterior.sample(size, rng=1)), "uniform")
    assert ks.pvalue > 1e-4


@pytest.mark.parametrize(
    "values", [*SMALL, (100, 3, 20, 3, 6, 4, 30, 90), (3, 2, 2, 1, 1, 4, 5, 0)]
)
def test_hidden_counts_are_drawn_by_their_chances(values):
    """A χ² test over the pairs (i, j) of which 10 or more are expected."""
    size = 40_000
    i, j = draw_hidden(of_shapes(values)._shapes, size, np.random.default_rng(0))
    expected = size * twin.hidden_counts(values)
    found = np.zeros(expected.shape)
    np.add.at(found, (i.astype(int), j.astype(int)), 1)
    often = expected >= 10
    rest = [size - found[often].sum(), size - expected[often].sum()]
    chi2 = ((found - expected)[often] ** 2 / expected[often]).sum()
    chi2 += (rest[0] - rest[1]) ** 2 / max(rest[1], 1)
    assert stats.chi2.sf(chi2, often.sum()) > 1e-5


def test_joint_draws_with_a_steep_tilt():
    """Many ratings by humans and the metric alone: s is far from where f ∗ g has its peak."""
    counts = Counts(
        human_ones=600,
        human_total=1000,
        tp=400,
        fn=100,
        fp=150,
        tn=300,
        metric_ones=50_000,
        metric_total=100_000,
        pairs="calibration",
    )
    posterior = AlphaPosterior(counts)
    draws = posterior.sample_rates(20_000, rng=0)
    for rate, of in zip(draws, (posterior, posterior.rho, posterior.eta), strict=True):
        assert abs(rate.mean() - of.mean) < 5 * of.sd / np.sqrt(20_000)
        assert rate.std() == pytest.approx(float(of.sd), rel=0.05)


def test_joint_draws_keep_the_correlation():
    values = (5, 4, 4, 2, 3, 2, 9, 7)
    counts = Counts(tp=3, fn=1, fp=1, tn=2, metric_ones=9, metric_total=16)
    posterior = AlphaPosterior(counts)
    assert [float(x) for x in shapes(counts, Priors())] == list(values)
    draws = posterior.sample_rates(100_000, rng=0)
    product = float(twin.exact_moment(values, alpha=1, rho=1))
    assert (draws.alpha * draws.rho).mean() == pytest.approx(product, abs=0.004)


@pytest.mark.parametrize("values", [*SMALL, (2.5, 0.7, 3.5, 1.5, 2.5, 4.5, 6, 0)])
def test_chance_that_the_metric_is_informative(values):
    """Given the hidden counts ρ and 1 − η are two Betas: sum over all of these."""
    _, _, ar, br, ae, be, m, k = values
    omega = 0.5 * np.pi * (np.arange(2000) + 0.5) / 2000  # shapes of ½ are smooth in ω = arcsin √x
    x, w = np.sin(omega) ** 2, np.sin(2 * omega) * 0.5 * np.pi / 2000
    true = sum(
        chance * (w * stats.beta.pdf(x, ar + i, br + j)) @ stats.beta.cdf(x, be + m - i, ae + k - j)
        for (i, j), chance in np.ndenumerate(twin.hidden_counts(values))
    )
    assert of_shapes(values).informative == pytest.approx(true, abs=1e-7)


def test_informative_of_a_batch():
    cells = {"fn": 30, "fp": 25, "tn": 9}
    counts = Counts(tp=[12, 12, 60], **cells, metric_ones=[0, 40, 60], metric_total=[0, 100, 100])
    batch = AlphaPosterior(counts)
    assert batch.informative.shape == (3,)
    assert batch.informative[0] == pytest.approx(
        (
            stats.beta(13, 31).rvs(10**6, random_state=0)
            > stats.beta(26, 10).rvs(10**6, random_state=1)
        ).mean(),
        abs=1e-4,
    )
    flipped = AlphaPosterior(counts.flipped()).informative
    np.testing.assert_allclose(batch.informative + flipped, 1.0, atol=1e-7)
    assert batch.draw(2).informative == pytest.approx(batch.informative[2], abs=1e-12)
    assert AlphaPosterior(CASES["uniform"]).informative == pytest.approx(0.5, abs=1e-7)


@pytest.mark.parametrize("values", SMALL)
def test_joint_density_of_the_rates(values):
    posterior = of_shapes(values)
    nodes, weights = np.polynomial.legendre.leggauss(48)
    x, w = 0.5 * (nodes + 1), 0.5 * weights
    grid = posterior.joint(x[:, None], x)
    assert w @ grid @ w == pytest.approx(1, abs=1e-7)
    np.testing.assert_allclose(grid @ w, posterior.rho.pdf(x), rtol=1e-5, atol=1e-7)
    product = float(twin.exact_moment(values, rho=1, eta=1))
    assert (w * x) @ grid @ (w * x) == pytest.approx(product, abs=1e-7)


def test_joint_density_with_few_and_many_ratings():
    alone = AlphaPosterior(Counts(tp=3, fn=1, tn=2))
    assert alone.joint(0.3, 0.4) == pytest.approx(
        stats.beta.pdf(0.3, 4, 2) * stats.beta.pdf(0.4, 3, 1)
    )
    many = AlphaPosterior(CASES["many"])
    x, w = np.polynomial.legendre.leggauss(160)
    x, w = 0.45 + 0.55 * (x + 1) / 2, 0.275 * w
    grid = many.joint(x[:, None], x)
    assert w @ grid @ w == pytest.approx(1, abs=1e-4)
    assert many.joint(1.2, 0.5) == 0
    with pytest.raises(FewgoldError, match="have no joint density"):
        AlphaPosterior(CASES["few"], Priors(rho=0.8, eta=0.7)).joint(0.5, 0.5)


def test_a_batch_is_one_by_one():
    ones = np.array([[300], [540]])
    counts = Counts(tp=[43, 43, 2], fn=18, fp=12, tn=29, metric_ones=ones, metric_total=1000)
    batch = AlphaPosterior(counts)
    assert batch.shape == batch.mean.shape == batch.mode.shape == (2, 3)
    assert batch.quantile([0.1, 0.5]).shape == (2, 3, 2)
    assert batch.sample(5, rng=0).shape == (2, 3, 5)
    one = batch.draw((1, 2))
    assert one.mean == pytest.approx(batch.mean[1, 2], rel=1e-12)
    assert one.interval().low == pytest.approx(batch.interval().low[1, 2], rel=1e-12)
    with pytest.raises(FewgoldError, match="rho is for one posterior, and this is a batch"):
        _ = batch.rho
    with pytest.raises(FewgoldError, match="summary is for one posterior"):
        batch.summary()
    assert "batch of shape (2, 3)" in repr(batch)


def test_plain_numbers_and_pickles():
    posterior = AlphaPosterior(CASES["few"])
    told = json.loads(json.dumps(posterior.to_dict(0.9)))
    assert told["low"] < told["value"] < told["high"]
    assert told["bound_kind"] == "credible"
    assert "credible interval" in posterior.summary()
    again = pickle.loads(pickle.dumps(AlphaPosterior(CASES["few"])))
    assert again.mean == posterior.mean
    with pytest.raises(FewgoldError, match="probabilities from 0 to 1"):
        posterior.quantile(1.5)


@pytest.mark.sweep
@pytest.mark.parametrize("total", [0, 1, 10, 10**4, 10**7])
@pytest.mark.parametrize("paired", [0, 1, 10**5])
@pytest.mark.parametrize("alpha", [0, 1])
def test_edges_are_finite(total, paired, alpha):
    """All adequate or none, few or many, and a metric that agrees or contradicts."""
    adequate = alpha * paired
    for ones in {0, total}:
        counts = Counts(tp=adequate, tn=paired - adequate, metric_ones=ones, metric_total=total)
        posterior = AlphaPosterior(counts)
        low, high = posterior.interval(0.99)
        assert 0 <= low < posterior.mean < high <= 1
        assert 0 < posterior.sd < 0.5
        assert np.isfinite(posterior.pdf(posterior.mode))


@pytest.mark.parametrize("a, b", [(0.1, 0.1), (0.1, 1.0), (0.6, 0.25)])
def test_priors_that_are_infinite_at_the_ends(a, b):
    """The curve has all of the mass: its mean is that of the mixture."""
    for counts in (
        Counts(metric_ones=30, metric_total=40),
        Counts(tp=5, metric_ones=8, metric_total=9),
    ):
        posterior = AlphaPosterior(counts, Priors(alpha=(a, b)))
        mean, variance = posterior._distributions[0].moments()
        assert mean == pytest.approx(float(posterior.mean), rel=1e-8)
        assert np.sqrt(variance) == pytest.approx(float(posterior.sd), rel=1e-8)
        p = np.array([0.2, 0.5, 0.8])
        q = posterior.quantile(p)
        inside = q < 1 - 1e-12
        np.testing.assert_allclose(posterior.cdf(q)[inside], p[inside], atol=1e-8)


def test_jeffreys_priors_go_by_the_mixture():
    counts = Counts(tp=3, tn=2, metric_ones=600, metric_total=1000)
    half = Priors(*[(0.5, 0.5)] * 3)
    found, told = moments(counts, half), moments(counts, half, "mixture")
    assert found[0] == told[0]
    assert found[1] == told[1]
