"""The cube method: exact inclusion probabilities, fixed zone sizes, balance kept."""

from __future__ import annotations

import numpy as np
import pytest

from fewgold import Pool
from fewgold.estimators import Mean
from fewgold.samplers import Balanced, balanced
from fewgold.samplers.balanced import Dues, balance_variates, cube
from fewgold.samplers.chances import Chances
from fewgold.testing import check_sampler
from reference import chances_given_count, cube_tree
from sweeps import quick

CASES = {
    # chance of each segment, borders of zones, number of balanced variates
    "one zone": ([0.5] * 4, [0, 4], 0),
    "one zone, third": ([1 / 3] * 6, [0, 6], 0),
    "two zones": ([0.5] * 4 + [0.25] * 4, [0, 4, 8], 1),
    "three zones": ([1 / 3] * 3 + [0.5] * 4 + [2 / 3] * 3, [0, 3, 7, 10], 2),
    "four zones, one variate": ([0.5] * 8, [0, 2, 4, 6, 8], 1),
    "a zone taken whole": ([0.5] * 4 + [1.0] * 2 + [0.5] * 2, [0, 4, 6, 8], 1),
    "more variates than zones": ([0.5] * 6, [0, 2, 6], 3),
    "single segments": ([1.0, 0.5, 0.5, 1.0], [0, 1, 3, 4], 1),
}


def in_zones(variates, chance, bounds, rng, draws=1):
    """The same line for every draw of a batch: (draws, L), True for places taken."""
    size = len(chance)
    zone = np.searchsorted(bounds, np.arange(size), side="right")
    lines = (np.broadcast_to(a, (draws, size)) for a in (np.arange(size), chance, zone))
    return cube(variates, *lines, rng)


@pytest.mark.parametrize("chance", [[0.5] * 4, [0.2, 0.3, 0.5, 0.9, 0.1], [0.0, 1.0, 0.4, 0.6]])
@pytest.mark.parametrize("p", [0, 1, 2, 5])
def test_inclusion_probabilities_of_units_by_the_whole_tree(chance, p):
    """Unequal chances, also 0 and 1, with a whole number in total."""
    chance = np.array(chance)
    variates = np.random.default_rng(4).normal(size=(p, chance.size))
    tree = cube_tree(lambda rng: in_zones(variates, chance, [0], rng)[0])
    assert sum(prob for _, prob in tree) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(sum(prob * taken for taken, prob in tree), chance, atol=1e-8)
    assert {int(taken.sum()) for taken, _ in tree} == {round(chance.sum())}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_inclusion_probabilities_by_the_whole_tree(case):
    chance, bounds, p = np.array(case[0]), np.array(case[1]), case[2]
    variates = np.random.default_rng(3).normal(size=(p, chance.size))
    tree = cube_tree(lambda rng: in_zones(variates, chance, bounds, rng)[0])
    total = sum(prob for _, prob in tree)
    assert total == pytest.approx(1.0, abs=1e-12)
    included = sum(prob * taken for taken, prob in tree)
    np.testing.assert_allclose(included, chance, atol=1e-8)
    due = np.round(np.add.reduceat(chance, bounds[:-1]))
    for taken, _ in tree:
        np.testing.assert_array_equal(np.add.reduceat(taken.astype(float), bounds[:-1]), due)
    # A simple zone of half of its segments would be drawn in many ways: so is this.
    assert len({tuple(taken) for taken, _ in tree}) >= 2


def test_ties_and_constant_variates_do_no_harm():
    chance, bounds = np.full(8, 0.5), np.array([0, 4, 8])
    for column in (np.zeros(8), np.ones(8), np.repeat([0.0, 1.0], 4), np.tile([0.0, 1.0], 4)):
        variates = np.stack([column, column])
        tree = cube_tree(lambda rng, v=variates: in_zones(v, chance, bounds, rng)[0])
        included = sum(prob * taken for taken, prob in tree)
        np.testing.assert_allclose(included, chance, atol=1e-8)


@pytest.mark.parametrize("trades", [2, 3])
def test_several_blocks_by_the_whole_tree(trades, monkeypatch):
    """Blocks that leave places undecided, zones that are cut by them, and a second round."""
    monkeypatch.setattr(balanced, "_TRADES", trades)
    chance = np.array([0.25, 0.5, 0.75, 0.5, 0.5, 0.5, 0.7, 0.9, 0.4])
    bounds = np.array([0, 4, 6])
    variates = np.random.default_rng(8).normal(size=(1, chance.size))
    tree = cube_tree(lambda rng: in_zones(variates, chance, bounds, rng)[0])
    assert sum(prob for _, prob in tree) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(sum(prob * taken for taken, prob in tree), chance, atol=1e-8)
    for taken, _ in tree:
        np.testing.assert_array_equal(np.add.reduceat(taken.astype(int), bounds), [2, 1, 2])


def test_balance_is_kept_up_to_the_last_zones():
    """Totals may move only with the last p trades of a draw."""
    rng = np.random.default_rng(0)
    count, width, p = 60, 10, 3
    chance, bounds = np.full(count * width, 0.1), np.arange(0, count * width + 1, width)
    variates = rng.normal(size=(p, count * width))
    taken = in_zones(variates, chance, bounds, rng, draws=400)
    off = variates @ (taken - chance).T
    # Simple draws within zones would be off by about √60; the last trades involve about p zones.
    assert np.sqrt((off**2).mean()) < np.sqrt(p + 1) * 1.5
    assert np.sqrt(count * 0.9) > 3 * np.sqrt((off**2).mean())


def test_the_last_trades_keep_what_balance_they_can():
    """Two trades, two equations: the direction that changes both totals least is known.

    The first pair differs by 1 and the second by −1 in the first variate, so that both up or both
    down keeps it. One up and one down would keep the second variate, which counts half.
    """
    variates = np.array([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]])
    tree = cube_tree(lambda rng: in_zones(variates, np.full(4, 0.5), [0, 2], rng)[0])
    likely = [taken for taken, prob in tree if prob > 1e-6]
    assert len(likely) == 2
    for taken in likely:
        assert variates[0] @ (taken - 0.5) == 0
        assert abs(variates[1] @ (taken - 0.5)) == 1


@pytest.mark.parametrize(("trades", "side"), [(8, 1024), (2, 5)])
def test_inclusion_by_many_draws(trades, side, monkeypatch):
    """Also where blocks are small and few of them work at a time."""
    monkeypatch.setattr(balanced, "_TRADES", trades)
    monkeypatch.setattr(balanced, "_SIDE_BY_SIDE", side)
    rng = np.random.default_rng(7)
    draws, count = 4200, 24
    chance = np.repeat(np.where(np.arange(count) % 2, 0.25, 0.5), 4)
    bounds = np.arange(0, 4 * count + 1, 4)
    variates = rng.normal(size=(2, chance.size))
    taken = in_zones(variates, chance, bounds, rng, draws)
    error = np.sqrt(chance * (1 - chance) / draws)
    assert (np.abs(taken.mean(0) - chance) < 5 * error).all()
    np.testing.assert_array_equal(
        np.add.reduceat(taken.astype(float), bounds[:-1], axis=1),
        np.broadcast_to(np.where(np.arange(count) % 2, 1.0, 2.0), (draws, count)),
    )


def test_a_cost_that_copies_a_metric_adds_no_equation():
    """An equation that follows from others would leave directions to rounding errors."""
    rng = np.random.default_rng(2)
    metrics = {f"m{k}": rng.normal(size=200) for k in range(3)}
    pool = Pool(np.arange(200), metrics, cost=3 + metrics["m1"])
    variates = balance_variates(pool, 8)
    assert variates.shape == (3, 200)
    np.testing.assert_allclose(variates @ variates.T / 200, np.eye(3), atol=1e-8)
    cost = pool.cost - pool.cost.mean()
    assert np.corrcoef(variates[0], cost)[0, 1] == pytest.approx(1.0)
    other = Pool(np.arange(200), metrics, cost=3 + rng.normal(size=200))
    assert balance_variates(other, 8).shape == (4, 200)


def test_the_leading_components_are_balanced():
    """With one variate, the direction in which the metrics vary most: half of all here."""
    rng = np.random.default_rng(4)
    common, size = rng.normal(size=300), 300
    metrics = {f"m{k}": common + 0.7 * rng.normal(size=size) for k in range(4)}
    pool = Pool(np.arange(size), metrics)
    design = Balanced(components=1).draw(pool, 40, rng=0)
    z = pool.standardised()
    first = np.linalg.svd(z)[0][:, 0] @ z
    assert abs(np.corrcoef(design.design.balance[0], first[design.indices])[0, 1]) > 0.999


@pytest.mark.parametrize("n", quick([5, 17, 40], [5]))
def test_every_segment_has_the_same_chance(n):
    """The sampler as a whole, with documents of very unequal sizes."""
    draws = 12_000
    documents = np.repeat(np.arange(6), [1, 2, 3, 9, 15, 30])
    metrics = {"m": np.random.default_rng(1).normal(size=60)}
    pool = Pool(ids=np.arange(60), documents=documents, metrics=metrics)
    rows = Balanced().draw(pool, n, draws=draws, rng=3).indices
    taken = np.bincount(rows.ravel(), minlength=60) / draws
    error = np.sqrt(n / 60 * (1 - n / 60) / draws)
    assert (np.abs(taken - n / 60) < 5 * error).all()
    # Each document gets its due rounded up or down.
    for d, size in enumerate(np.bincount(documents)):
        got = (documents[rows] == d).sum(-1)
        assert got.min() >= np.floor(n * size / 60)
        assert got.max() <= np.ceil(n * size / 60)


def balanced_pool(size, p, seed=0):
    rng = np.random.default_rng(seed)
    metrics = {f"m{j}": rng.normal(size=size) for j in range(p)}
    documents = np.sort(rng.integers(0, max(size // 8, 1), size))
    return Pool(ids=np.arange(size), documents=documents, metrics=metrics)


def test_balanced_sample_has_the_pool_means_of_the_metrics():
    pool = balanced_pool(600, 3)
    sample = Balanced().draw(pool, 90, draws=300, rng=1)
    z = pool.standardised()
    means = (z[:, sample.indices] * sample.design.weights).sum(-1)
    # A simple random sample has √(0.85/90) = 0.097.
    assert np.sqrt((means**2).mean()) < 0.03


@pytest.mark.parametrize(
    ("size", "n", "noise"),
    [
        (16, 8, 0.5),
        (24, 12, 2.0),
        (60, 24, 0.5),
        *(
            pytest.param(*sizes, noise, marks=pytest.mark.slow)
            for sizes in [(16, 8), (24, 12), (60, 24), (100, 40), (300, 60)]
            for noise in (0.5, 2.0)
        ),
    ],
)
def test_variance_counts_only_the_balance_that_was_reached(size, n, noise):
    """When the last zones land, balance is lost: scores that follow the metrics vary by that.

    The metrics explain 95 % or 56 % of the scores. Mean se² against the variance of the draws.
    """
    draws = 2500
    pool = balanced_pool(size, 5, seed=2)
    rng = np.random.default_rng(5)
    gold = pool.standardised().sum(0) + noise * rng.normal(size=size)
    sample = Balanced().draw(pool, n, draws=draws, rng=rng)
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    assert abs(made.value.mean() - gold.mean()) < 5 * made.value.std() / np.sqrt(draws)
    # The variance of 2,500 draws is known to √(2/2500) = 2.8 %: 0.85 is five of these below 1.
    assert (made.se**2).mean() / made.value.var() > 0.85


# Uneven chances -----------------------------------------------------------------------------


class OwnSpread:
    """The spread that each id of the pool was given, so that parts of a pool keep theirs."""

    def __init__(self, spread):
        self.spread = np.asarray(spread, dtype=float)

    def __call__(self, pool):
        return self.spread[pool.ids.astype(int)]


def uneven(spread, mixed=0.01, **options):
    return Balanced(chances=Chances(OwnSpread(spread), mixed), **options)


@pytest.mark.parametrize("seed", range(20))
def test_chances_given_the_count_mix_to_the_chances(seed):
    """Between 0 and 1, with whole sums, also for segments that are taken for sure."""
    rng = np.random.default_rng(seed)
    codes = np.sort(rng.integers(6, size=30))
    codes = np.unique(codes, return_inverse=True)[1]
    spread = rng.lognormal(sigma=2, size=30)
    pool = Pool(np.arange(30), documents=codes)
    inclusion = Chances(OwnSpread(spread), 0.1).inclusion(pool, int(rng.integers(2, 28)))
    dues = Dues.of(codes, inclusion)
    f = dues.part[codes]
    np.testing.assert_allclose(f * dues.high + (1 - f) * dues.low, inclusion, atol=1e-9)
    for h in range(codes.max() + 1):
        own = np.flatnonzero(codes == h)
        part, up, down = chances_given_count(inclusion[own].tolist())
        assert dues.part[h] == pytest.approx(part, abs=1e-9)
        np.testing.assert_allclose(dues.high[own], up, atol=1e-8)
        np.testing.assert_allclose(dues.low[own], down, atol=1e-8)
        assert min(up + down) >= -1e-9
        assert max(up + down) <= 1 + 1e-9
        assert sum(up) == pytest.approx(np.ceil(sum(inclusion[own]) - 1e-8))
        assert sum(down) == pytest.approx(np.floor(sum(inclusion[own]) + 1e-8))
    assert (dues.low[inclusion == 1] == 1).all()
    assert (dues.high[inclusion == 1] == 1).all()


UNEVEN = {
    "mild": ([1.0, 2.0, 3.0, 1.0, 2.0], [0, 1, 1, 2, 2], 2),
    "one capped": ([1.0, 50.0, 3.0, 1.0, 2.0], [0, 1, 1, 2, 2], 3),
    "two capped in a document": ([1.0, 50.0, 60.0, 1.0, 2.0, 4.0], [0, 1, 1, 1, 2, 2], 4),
    "one document": ([1.0, 2.0, 9.0, 1.0, 2.0], [0, 0, 0, 0, 0], 2),
}


@pytest.mark.parametrize("case", UNEVEN.values(), ids=UNEVEN.keys())
@pytest.mark.parametrize("balance", [False, True])
def test_uneven_chances_by_the_whole_tree(case, balance, monkeypatch):
    """Chances hold for every order of documents and segments, so one order shows them."""
    spread, documents, n = case
    if balance:
        monkeypatch.setattr(balanced, "RATINGS_PER_VARIATE", 1)
    size = len(spread)
    rng = np.random.default_rng(4)
    gold, metrics = rng.exponential(size=size), {"m": rng.normal(size=size)}
    pool = Pool(np.arange(size), metrics, documents)
    sampler = uneven(spread)
    inclusion = sampler.chances.inclusion(pool, n)
    taken, total, mean = np.zeros(size), 0.0, 0.0
    orders = [rng.permutation(pool.codes.max() + 1) for _ in range(2)]
    tree = cube_tree(lambda g: sampler.draw(pool, n, rng=g), orders, [rng.random(size)])
    for sample, chance in tree:
        rows = sample.indices
        np.testing.assert_allclose(sample.design.inclusion, inclusion[rows])
        weights = 1 / inclusion[rows]
        np.testing.assert_allclose(sample.design.weights, weights / weights.sum())
        assert (sample.design.influence[inclusion[rows] == 1] == 0).all()
        taken[rows] += chance
        mean += chance * (gold[rows] / inclusion[rows]).sum() / size  # Horvitz and Thompson
        total += chance
        got = np.bincount(pool.codes[rows], minlength=pool.codes.max() + 1)
        due = np.bincount(pool.codes, inclusion)
        assert (np.abs(got - due) < 1).all()
    assert total == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(taken, inclusion, atol=1e-8)
    assert mean == pytest.approx(gold.mean(), abs=1e-8)


@pytest.mark.parametrize("n", [12, 40, 90])
def test_uneven_chances_by_many_draws(n):
    """Documents of very unequal sizes, metrics in balance, and some segments taken for sure."""
    draws, size = 4000, 120
    rng = np.random.default_rng(6)
    spread = np.where(np.arange(size) % 17 == 0, 30.0, rng.uniform(0.2, 2.0, size))
    documents = np.repeat(np.arange(7), [1, 2, 3, 9, 15, 30, 60])
    pool = Pool(np.arange(size), {f"m{k}": rng.normal(size=size) for k in range(3)}, documents)
    sampler = uneven(spread, 0.2)
    inclusion = sampler.chances.inclusion(pool, n)
    rows = sampler.draw(pool, n, draws=draws, rng=3).indices
    taken = np.bincount(rows.ravel(), minlength=size) / draws
    error = np.sqrt(inclusion * (1 - inclusion) / draws)
    assert (np.abs(taken - inclusion) <= 5 * error + 1e-8).all()
    due = np.bincount(documents, inclusion)
    for d in range(7):
        got = (documents[rows] == d).sum(-1)
        assert got.min() >= np.floor(due[d] + 1e-9)
        assert got.max() <= np.ceil(due[d] - 1e-9)


def test_weighted_means_of_an_uneven_sample_are_in_balance():
    pool = balanced_pool(600, 3)
    spread = 0.3 + np.random.default_rng(2).exponential(size=600)
    sampler = uneven(spread, 0.3)
    sample = sampler.draw(pool, 90, draws=300, rng=1)
    inclusion = sampler.chances.inclusion(pool, 90)
    means = (pool.standardised()[:, sample.indices] * sample.design.weights).sum(-1)
    total = (1 / inclusion[sample.indices]).sum(-1) / 600
    # By chance alone √Σ(1/π − 1)/600, about 0.11.
    loose = np.sqrt((1 / inclusion - 1).sum()) / 600
    assert np.sqrt((means**2).mean()) < loose / 3
    assert total.std() < loose / 3
    # What was forced has mean 0 over the pool, and the design's own means are near to it.
    assert sample.design.balance.shape == (300, 4, 90)
    forced = (sample.design.balance * sample.design.weights[:, None]).sum(-1)
    assert np.sqrt((forced**2).mean()) < loose / 3


def test_equal_spreads_draw_the_sample_of_equal_chances():
    pool = balanced_pool(200, 2)
    even, plain = uneven(np.full(200, 3.0)), Balanced()
    one, other = (s.draw(pool, 30, draws=3, rng=5) for s in (even, plain))
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_array_equal(one.design.weights, other.design.weights)
    np.testing.assert_array_equal(one.design.balance, other.design.balance)
    assert (even.name, plain.name) == ("docs-uneven", "docs-balanced")


def test_variance_under_uneven_chances():
    """Mean se² against the variance of the draws, as above, with the spread that was expected."""
    draws = 2500
    pool = balanced_pool(300, 2, seed=2)
    rng = np.random.default_rng(5)
    spread = rng.lognormal(size=300)
    gold = pool.standardised().sum(0) + spread * rng.normal(size=300)
    sample = uneven(spread, 0.3).draw(pool, 60, draws=draws, rng=rng)
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    assert abs(made.value.mean() - gold.mean()) < 5 * made.value.std() / np.sqrt(draws)
    ratio = (made.se**2).mean() / made.value.var()
    assert 0.85 < ratio < 1.3
    plain = Balanced().draw(pool, 60, draws=draws, rng=rng)
    equal = Mean().estimate(plain.rate(gold[plain.indices]))
    # The ratio of two such variances is known to √(4/2500) = 4 %: 0.8 is five of these below 1.
    assert made.value.var() < 0.8 * equal.value.var()


@pytest.mark.parametrize("mixed", [0.5, pytest.param(0.01, marks=pytest.mark.slow)])
def test_the_check_kit(mixed):
    """Also top-ups, for which the spread is that of the segments that are left."""
    check_sampler(Balanced(chances=Chances(_by_row, mixed)))


def _by_row(pool):
    return np.where(np.arange(len(pool)) % 7, 1.0 + np.arange(len(pool)) / len(pool), 20.0)
