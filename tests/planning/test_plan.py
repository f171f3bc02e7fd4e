"""Plans: the promised half-width or power is what studies of that size then have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fewgold import simulate
from fewgold.bounds import Hoeffding
from fewgold.common.statistics import intraclass_correlation as intraclass
from fewgold.datasets import demo_systems, load_demo
from fewgold.errors import FewgoldError, UnknownNameError
from fewgold.estimators import Mean
from fewgold.planning import (
    Goal,
    Outlook,
    difference_studies,
    plan,
    plan_binary,
    plan_from_history,
    plan_worst_case,
)
from fewgold.pool import Pool
from fewgold.samplers import SimpleRandom
from fewgold.simulation.studies import Study


@pytest.mark.parametrize("effect", [0.15, 0.2, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_power_is_that_of_statsmodels(effect: float, power: float) -> None:
    from statsmodels.stats.power import TTestPower

    theirs = TTestPower().solve_power(effect_size=effect, power=power, alpha=0.05)
    assert Goal(difference=effect, power=power).least(sd=1.0) == int(np.ceil(theirs))


@pytest.mark.parametrize("size", [None, 300, 2000])
def test_half_width_is_met_and_one_less_is_not(size: int | None) -> None:
    goal, sd = Goal(half_width=0.25, confidence=0.9), 2.0
    n = goal.least(sd, size)

    def half(k: int) -> float:
        left = 1 / k - (0 if size is None else 1 / size)
        return float(stats.t.ppf(0.95, k - 1) * sd * np.sqrt(left))

    assert half(n) <= 0.25 < half(n - 1)


def test_a_goal_beyond_reach_takes_all() -> None:
    assert Goal(half_width=1e-9).least(2.0, 50) == 50
    found = plan(Goal(half_width=1e-9), Outlook(sd=2.0, size=50))
    assert found["random+mean"].n == 50
    assert "all of them" in found["random+mean"].note
    assert found["random+mean"].reached == 0


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_a_guess_that_is_right_keeps_its_promise(correlation: float) -> None:
    """Normal scores and one metric: simulated studies of the planned size are as wide as told."""
    rng = np.random.default_rng(3)
    metric = rng.normal(size=3000)
    gold = correlation * metric + np.sqrt(1 - correlation**2) * rng.normal(size=3000)
    gold = (gold - gold.mean()) / gold.std(ddof=1)
    true = float(np.corrcoef(metric, gold)[0, 1])
    goal, strategy = Goal(half_width=0.12), "random+ridge" if correlation else "random+mean"
    n = Outlook(sd=1.0, correlation=true, size=3000).ratings(strategy, goal)
    pool = Pool(np.arange(3000), metrics={"metric": metric})
    done = simulate(pool, gold, [strategy], [n], draws=400, rng=1).to_frame()
    found = done.set_index("strategy").loc[strategy]
    assert found["half_width"] == pytest.approx(0.12, rel=0.03)
    assert found["coverage"] == pytest.approx(0.95, abs=0.035)


def test_documents_cost_what_simulation_says() -> None:
    rng = np.random.default_rng(4)
    documents = np.repeat(np.arange(400), 6)
    gold = np.sqrt(0.3) * rng.normal(size=400)[documents] + np.sqrt(0.7) * rng.normal(size=2400)
    pool = Pool(np.arange(2400), documents=documents)
    icc = intraclass(gold, documents)
    assert icc == pytest.approx(0.3, abs=0.04)
    outlook = Outlook(sd=float(gold.std(ddof=1)), icc=icc, per_document=6, size=2400)
    for strategy in ("docs-whole+mean", "docs-chunks3+mean"):
        n = outlook.ratings(strategy, Goal(half_width=0.15))
        done = simulate(pool, gold, [strategy], [n], draws=400, rng=2).to_frame()
        found = done.set_index("strategy").loc[strategy]
        assert found["half_width"] == pytest.approx(0.15, rel=0.05), strategy


def test_pilot_tells_what_it_knows() -> None:
    pool, gold = load_demo("zhen")
    sample = SimpleRandom().draw(pool, 400, rng=1)
    outlook = Outlook.from_pilot(sample.rate(gold[sample.indices]))
    assert outlook.sd == pytest.approx(gold.std(ddof=1), rel=0.15)
    z = pool.standardised()
    fitted = np.linalg.lstsq(z.T, gold - gold.mean(), rcond=None)[0]
    multiple = np.corrcoef(fitted @ z, gold)[0, 1]
    assert outlook.correlation == pytest.approx(multiple, abs=0.1)
    assert outlook.slopes == len(pool.metrics)
    assert outlook.icc == pytest.approx(intraclass(gold, pool.codes), abs=0.12)
    safe = Outlook.from_pilot(sample.rate(gold[sample.indices]), assurance=0.9)
    assert safe.sd > outlook.sd
    planned = plan(Goal(half_width=0.4), outlook).to_frame()["strategy"]
    assert set(planned) == set(outlook._known_strategies)


def test_pilots_tell_what_a_judge_saves() -> None:
    """The posterior sd of studies of the planned size is the one that was asked for."""
    rng = np.random.default_rng(5)
    gold = np.repeat([0.0, 1.0], [800, 1200])
    judge = np.where(rng.random(2000) < 0.85, gold, 1 - gold)
    flat = (rng.random(2000) < 0.5).astype(float)
    pool = Pool(ids=np.arange(2000), metrics={"judge": judge, "coin": flat})
    goal, names = Goal(half_width=0.05), ["random+alpha-judge", "docs-sys+alpha-judge"]
    planned = []
    for seed in range(20):
        sample = SimpleRandom().draw(pool, 150, rng=seed)
        pilot = Outlook.from_pilot(sample.rate(gold[sample.indices]), strategies=names)
        found = plan(goal, pilot, [*names, "random+alpha"])
        planned.append(found["random+alpha-judge"].n)
        assert found["docs-sys+alpha-judge"].n == planned[-1]
        assert "planned like random+alpha-judge" in found["docs-sys+alpha-judge"].note
    n = round(float(np.mean(planned)))
    assert "random+alpha" in pilot._known_strategies
    done = simulate(pool, gold, ["random+alpha-judge"], [n], draws=200, rng=1, limits=(0, 1))
    half = done.to_frame().set_index("strategy").loc["random+alpha-judge", "half_width"]
    assert half == pytest.approx(0.05, rel=0.05)
    # A coin saves nothing.
    coin = Outlook.from_pilot(sample.rate(gold[sample.indices]), strategies=["random+alpha-coin"])
    assert coin.kept["alpha-coin"] == pytest.approx(1, abs=0.05)
    with pytest.raises(FewgoldError, match="needs a pilot with this metric and ratings of 0 and 1"):
        plan(goal, Outlook(sd=0.5), ["random+alpha-judge"])


def test_history_counts_what_a_strategy_saves() -> None:
    """That the numbers are right is in theory/test_plan_history.py."""
    pool, gold = load_demo("ende")
    names = ["random+mean", "docs-sys+cv-mean"]
    found = plan_from_history(Goal(half_width=0.4), pool, gold, names, draws=60)
    plain, better = (found[name].n for name in names)
    assert better < plain
    assert found.to_frame()["saved"].tolist() == [0, plain - better]


def test_history_of_another_size() -> None:
    pool, gold = load_demo("ende")
    goal = Goal(half_width=0.4)
    same = plan_from_history(goal, pool, gold, ["random+mean"], draws=60)
    large = plan_from_history(goal, pool, gold, ["random+mean"], draws=60, size=100_000)
    n, size = same["random+mean"].n, len(pool)
    # Without the finite population 1/n is all that counts.
    assert large["random+mean"].n == pytest.approx(1 / (1 / n - 1 / size + 1 / 100_000), rel=0.04)


def test_strategy_that_fails_is_told() -> None:
    pool, gold = load_demo("ende")
    found = plan_from_history(Goal(half_width=1), pool, gold, ["random+alpha"], draws=20)
    assert [need.strategy for need in found.needs] == ["random+mean"]
    assert "random+alpha was left out" in found.notes[0]


def test_history_where_few_ratings_are_all_alike() -> None:
    """Ten passes have no interval of the mean; the larger sizes still tell how many are needed."""
    gold = (np.random.default_rng(1).random(300) < 0.75).astype(float)
    pool = Pool(np.arange(300))
    found = plan_from_history(Goal(half_width=0.06), pool, gold, ["random+mean"], draws=60)
    sd = gold.std(ddof=1)
    exact = 1 / ((0.06 / 1.96 / sd) ** 2 + 1 / 300)
    assert found["random+mean"].n == pytest.approx(exact, rel=0.1)
    with pytest.raises(FewgoldError, match="no strategy could be replayed: random"):
        plan_from_history(Goal(half_width=0.06), pool, np.ones(300), ["random+mean"], draws=5)


def test_worst_case_is_hoeffding_and_half_the_scale() -> None:
    goal = Goal(half_width=1.0)
    found = plan_worst_case(goal, (0, 25), size=1418)
    n = found["hoeffding"].n

    def bound(k: int) -> float:
        return float(25 * np.sqrt((1 - (k - 1) / 1418) * np.log(40) / (2 * k)))

    assert bound(n) <= 1.0 < bound(n - 1)
    assert found["worst sd"].n == goal.least(12.5, 1418)
    assert plan_worst_case(goal, "mqm")["hoeffding"].n == int(np.ceil(625 * np.log(40) / 2))
    both = plan_worst_case(Goal(difference=1.0), (0, 25))
    assert [need.strategy for need in both.needs] == ["worst sd"]


def test_a_worst_case_beyond_half_of_the_pool_is_what_the_bound_takes() -> None:
    need = plan_worst_case(Goal(half_width=0.03), (0, 1), size=300)["hoeffding"]
    pool = Pool(ids=np.arange(300))

    def half(n: int) -> float:
        sample = SimpleRandom().draw(pool, n, rng=0)
        low, high = (
            Mean(bound=Hoeffding(score_range=1))
            .estimate(sample.rate(np.arange(n) % 2.0))
            .interval()
        )
        return float(high - low) / 2

    assert half(need.n) == pytest.approx(need.reached)
    assert half(need.n) <= 0.03 < half(need.n - 1)
    assert plan_worst_case(Goal(half_width=0.001), (0, 1), size=30)["hoeffding"].reached == 0


def test_binary_plan_agrees_with_statsmodels() -> None:
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import proportion_effectsize

    found = plan_binary(Goal(difference=0.1, power=0.8), alpha=0.6)
    effect = proportion_effectsize(0.65, 0.55)
    theirs = NormalIndPower().solve_power(effect, power=0.8, alpha=0.05)
    assert found["people alone"].n == pytest.approx(theirs, rel=0.01)
    with_metric = plan_binary(
        Goal(difference=0.1, power=0.8), alpha=0.6, rho=0.9, eta=0.9, metric=10_000
    )
    assert with_metric["with the metric"].n < 0.5 * with_metric["people alone"].n
    wide = plan_binary(Goal(half_width=0.03), alpha=0.6)["people alone"].n
    assert wide == pytest.approx(1.96**2 * 0.24 / 0.03**2, rel=0.01)


def test_results_in_every_form() -> None:
    found = plan(Goal(half_width=0.3), Outlook(sd=2.4, correlation=0.5, size=1418, cost=2.0))
    assert found.to_frame()["cost"].tolist() == [2.0 * n for n in found.to_frame()["n"]]
    assert "cost" in found.summary()
    record = found.to_dict()
    assert record["strategies"][1]["saved"] > 0
    curves = found.curves()
    for need in found.needs:
        part = curves[curves["strategy"] == need.strategy]
        assert need.n in set(part["n"])
        assert part["reached"].is_monotonic_decreasing
    assert found.plot().get_ylabel() == "half-width"
    with pytest.raises(FewgoldError, match="not 'docs'"):
        found["docs"]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (Goal, "got none"),
        (lambda: Goal(half_width=1, difference=1), "half_width and difference"),
        (lambda: Goal(half_width=0), "positive"),
        (lambda: Goal(half_width=float("nan")), "positive"),
        (lambda: Goal(difference=1, power=0.02), "power must lie between 0.025"),
        (lambda: Goal(half_width=1, confidence=95), "confidence"),
        (lambda: Outlook(sd=0), "sd must be"),
        (lambda: Outlook(sd=1, correlation=1), "correlation"),
        (lambda: Outlook(sd=1, icc=2), "icc"),
        (lambda: Outlook(sd=1, per_document=0.5), "segments per document must be at least 1"),
        (lambda: Outlook(sd=1).ratings("docs-whole+mean", Goal(half_width=1)), "icc and per_doc"),
        (lambda: plan_binary(Goal(half_width=0.1), alpha=0.5, rho=0.7), "both rates of the metric"),
        (lambda: plan_binary(Goal(half_width=0.1), alpha=0.5, metric=10), "need its rates"),
        (lambda: plan_binary(Goal(half_width=0.1), alpha=0.5, rho=0.7, eta=0.7), "metric="),
    ],
)
def test_bad_input(make: object, problem: str) -> None:
    with pytest.raises(FewgoldError, match=problem):
        make()  # type: ignore[operator]


def test_other_strategies_need_history() -> None:
    with pytest.raises(UnknownNameError, match="history"):
        plan(Goal(half_width=1), Outlook(sd=1), ["docs-opt+mean"])


def test_poor_pilots() -> None:
    pool, gold = load_demo("ende")
    few = SimpleRandom().draw(pool, 5, rng=1)
    with pytest.raises(FewgoldError, match="at least 10"):
        Outlook.from_pilot(few.rate(gold[few.indices]))
    flat = SimpleRandom().draw(pool, 20, rng=1)
    with pytest.raises(FewgoldError, match="all ratings of the pilot are equal"):
        Outlook.from_pilot(flat.rate(np.zeros(20)))
    many = SimpleRandom().draw(pool, 20, draws=2, rng=1)
    with pytest.raises(FewgoldError, match="one study"):
        Outlook.from_pilot(many.rate(gold[many.indices]))


@pytest.mark.slow
def test_tolerance_goes_by_the_errors() -> None:
    """Spread-out samples err less than their intervals say: a tolerance takes fewer of them."""
    pool, gold = load_demo("zhen")
    names = ["random+mean", "docs-sys+mean"]
    found = plan_from_history(Goal(tolerance=0.5), pool, gold, names, draws=400)
    for need in found.needs:
        done = simulate(pool, gold, [need.strategy], [need.n], draws=1000, rng=55)
        cell = next(c for c in done.cells if c.strategy == need.strategy)
        assert np.mean(np.abs(cell.errors) <= 0.5) == pytest.approx(0.95, abs=0.03)
    assert found["docs-sys+mean"].n < 0.95 * found["random+mean"].n
    formula = Outlook(sd=float(gold.std(ddof=1)), size=len(pool)).ratings(
        "random+mean", Goal(tolerance=0.5)
    )
    assert found["random+mean"].n == pytest.approx(formula, rel=0.12)


def test_differences_of_systems_as_history() -> None:
    names = demo_systems("ende")[1:4]
    studies = {name: Study(*load_demo("ende", system=name)) for name in names}
    apart = difference_studies(studies)
    assert len(apart) == 3
    first = apart[f"{names[0]} − {names[1]}"]
    assert first.gold == pytest.approx(studies[names[0]].gold - studies[names[1]].gold)
    comet = studies[names[0]].pool.metrics["comet"] - studies[names[1]].pool.metrics["comet"]
    assert first.pool.metrics["comet"] == pytest.approx(comet)
    goal = Goal(difference=0.5, power=0.8)
    found = plan_from_history(goal, {"a": first}, None, ["random+mean"], draws=100)
    formula = goal.least(float(first.gold.std(ddof=1)), len(first.pool))
    assert found["random+mean"].n == pytest.approx(formula, rel=0.06)
    with pytest.raises(FewgoldError, match="two systems rated on the same segments"):
        difference_studies({names[0]: studies[names[0]]})


def test_extremes() -> None:
    assert Goal(difference=1, power=0.8, confidence=0.99).least(0.04) > 2
    with pytest.raises(FewgoldError, match="takes more than"):
        Goal(half_width=1e-9).least(1e9)
    assert plan_binary(Goal(half_width=0.03), alpha=0.02)["people alone"].n > 20
    pool, gold = load_demo("ende")
    small = plan_from_history(Goal(half_width=0.05), pool, gold, [], size=100, draws=20)
    assert small["random+mean"].n == 100
    assert "all of them" in small["random+mean"].note
