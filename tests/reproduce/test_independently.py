"""At least one figure of each table again, with numpy alone: nothing of fewgold computes it.

fewgold only draws the samples (Saldías et al.) and the random numbers (Estrella et al.), reads the
published figures, and is compared, as are these.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fewgold import Pool, datasets, registry, simulate
from fewgold.agreement import Answers, prediction_errors
from fewgold.bounds import Hoeffding
from fewgold.reliability import reliability
from fewgold.reproduce import daniken_systems, estrella_study, saldias_methods
from fewgold.reproduce.daniken_study import (
    FIGURES,
    GRIDS,
    MEANS,
    ORDERS,
    SPOT_THE_BOT,
    grid_table,
    means_table,
    orders_table,
)
from fewgold.reproduce.daniken_systems import PRINTED, ROC_FIGURES, rates_table, stars_table
from fewgold.reproduce.saldias_methods import ORACLE_RANGE, TABLE5, TABLES


@pytest.fixture(scope="module")
def folder() -> Path:
    found = datasets.data_folder()
    if found is None:
        pytest.skip("the public ratings are not there; set FEWGOLD_DATA")
    return found


def columns(path: Path, system: str, names: list[str]) -> dict[str, Any]:
    """Columns of one system, by hand."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["system"] == system]
    found: dict[str, Any] = {name: np.array([float(r[name]) for r in rows]) for name in names}
    return found | {"doc": np.array([r["doc_id"] for r in rows])}


TOHOKU = "Tohoku-AIP-NTT.890"


@pytest.fixture(scope="module")
def news(folder: Path) -> dict[str, Any]:
    pool, _ = datasets.load_real("wmt20_ende", system=TOHOKU)
    found = columns(folder / "wmt20_ende.csv.gz", TOHOKU, ["mqm", *pool.metrics])
    found["z"] = np.stack([found[m] for m in pool.metrics], axis=1)
    sign = np.array([pool.orientation[m] for m in pool.metrics])  # 0 for lengths
    found["sign"] = sign
    return found | {"pool": pool, "names": list(pool.metrics)}


def estimates(news: dict[str, Any], name: str, draws: int = 20) -> tuple[Any, Any]:
    """Estimates of a strategy by fewgold, and the rows that each came from."""
    estimator = registry.strategy(name, news["pool"])
    sample = estimator.sampler.draw(news["pool"], 0.1, draws=draws, rng=4)
    ratings = sample.rate(news["mqm"][sample.indices])
    return estimator.estimate(ratings).value, sample.indices


def standardised(x: Any) -> Any:
    return (x - x.mean(0)) / x.std(0)


# Saldías et al. ----------------------------------------------------------------------------------


def test_table_1_random_and_by_document(news: dict[str, Any]) -> None:
    value, rows = estimates(news, "random+mean")
    np.testing.assert_allclose(value, news["mqm"][rows].mean(1), rtol=1e-12)
    value, rows = estimates(news, "docs-prop-printed+mean")
    names, sizes = np.unique(news["doc"], return_counts=True)
    due = sizes * rows.shape[1] / sizes.sum()
    for one, drawn in zip(value, rows, strict=True):
        took = np.array([(news["doc"][drawn] == name).sum() for name in names])
        # Whole numbers nearest to what is due, with the right total.
        assert took.sum() == rows.shape[1] and (np.abs(took - due) <= 1).all()
        means = [news["mqm"][drawn[news["doc"][drawn] == n]].mean() for n in names[took > 0]]
        share = sizes[took > 0] / sizes[took > 0].sum()
        assert one == pytest.approx(float(share @ np.array(means)), rel=1e-10)


def test_table_2_incremental(news: dict[str, Any]) -> None:
    """Each rating goes to the document furthest below its share by variance; then the mean."""
    pool, gold = news["pool"], news["mqm"]
    estimator = registry.strategy("docs-incr-human-printed+mean", pool)
    ratings = estimator.collect(pool, lambda s: gold[s.indices], 142, draws=2, rng=3)
    values = estimator.estimate(ratings).value
    names, document = np.unique(news["doc"], return_inverse=True)
    sizes = np.bincount(document)
    for value, rows in zip(values, ratings.sample.indices, strict=True):
        taken = np.zeros(names.size)
        for t, row in enumerate(rows):
            y, inside = gold[rows[:t]], document[rows[:t]]
            spread = np.ones(names.size)
            if t >= 2:
                spread = np.full(names.size, y.var(ddof=1))
                for d in np.flatnonzero(taken > 1):
                    spread[d] = y[inside == d].var(ddof=1)
            mass = np.where(taken < sizes, sizes * spread, 0.0)
            due = np.where(mass > 0, (t + 1) * mass / mass.sum() - taken, -np.inf)
            assert due[document[row]] >= due.max() - 1e-8, f"rating {t + 1}"
            taken[document[row]] += 1
        reached = np.flatnonzero(taken)
        means = [gold[rows[document[rows] == d]].mean() for d in reached]
        here = np.average(means, weights=sizes[reached])
        assert value == pytest.approx(float(here), rel=1e-10)


def test_table_3_control_variates(news: dict[str, Any]) -> None:
    z = standardised(news["z"])
    gram = z.T @ z / len(z)
    comet = news["names"].index("COMET")
    both = standardised((z * news["sign"]).mean(1))
    for name in ("cv-COMET-printed", "cv-mean-printed", "cv-multi-printed"):
        value, rows = estimates(news, f"random+{name}")
        for one, drawn in zip(value, rows, strict=True):
            y = news["mqm"][drawn]
            if name == "cv-multi-printed":
                beta = np.linalg.pinv(gram) @ (z[drawn] * y[:, None]).mean(0)
                here = y.mean() - beta @ z[drawn].mean(0)
            else:
                x = (both if "mean" in name else z[:, comet])[drawn]
                here = y.mean() - (y * x).mean() * x.mean()
            assert one == pytest.approx(here, rel=1e-6), name


def test_tables_3_and_4_nearest_neighbours(news: dict[str, Any]) -> None:
    z = standardised(news["z"])
    value, rows = estimates(news, "random+cv-knn-printed", draws=3)
    for one, drawn in zip(value, rows, strict=True):
        y = news["mqm"][drawn]
        far = ((z[:, None, :] - z[drawn][None]) ** 2).sum(-1)
        near = np.argsort(far, axis=1, kind="stable")[:, :25]
        predicted = standardised(y[near].mean(1))
        here = y.mean() - (y * predicted[drawn]).mean() * predicted[drawn].mean()
        assert one == pytest.approx(here, rel=2e-3)  # ties among neighbours


def test_table_4_both_together(news: dict[str, Any]) -> None:
    """Equations 1 and 3: stratified means of scores and predictions, with the sample's E[XZ]."""
    z = standardised(news["z"])
    names, document = np.unique(news["doc"], return_inverse=True)
    sizes = np.bincount(document)
    value, rows = estimates(news, "docs-prop-printed+cv-knn-printed", draws=3)
    for one, drawn in zip(value, rows, strict=True):
        y, inside = news["mqm"][drawn], document[drawn]
        far = ((z[:, None, :] - z[drawn][None]) ** 2).sum(-1)
        near = np.argsort(far, axis=1, kind="stable")[:, :25]
        predicted = standardised(y[near].mean(1))[drawn]
        took = np.bincount(inside, minlength=names.size)
        share = sizes * (took > 0) / sizes[took > 0].sum()

        def stratified(x: Any) -> float:
            means = np.bincount(inside, x, names.size) / np.maximum(took, 1)  # noqa: B023
            return float(share @ means)  # noqa: B023

        here = stratified(y) - (y * predicted).mean() * stratified(predicted)
        assert one == pytest.approx(here, rel=2e-3)  # ties among neighbours


def test_table_5_share_covered() -> None:
    """How often Hoeffding's bound with a range of 4 holds for a mean, against a long loop."""
    rng = np.random.default_rng(8)
    y = np.minimum(rng.gamma(0.3, 7.0, 700), 25.0)
    pool = Pool(
        ids=np.arange(700), metrics={"m": y + rng.normal(0, 3, 700)}, documents=np.arange(700) // 10
    )
    done = simulate(
        {"one": (pool, y)}, strategies=["random+mean"], budgets=[0.1], draws=2000,
        bounds={"oracle": Hoeffding(printed=True, score_range=4.0)}, rng=3,
    )  # fmt: skip
    mine = done.by_budget().iloc[0]
    t = 4.0 * np.sqrt((1 - 69 / 700) * np.log(2 / 0.05) / 140)
    errors = np.abs([y[rng.permutation(700)[:70]].mean() - y.mean() for _ in range(4000)])
    assert mine["half_width_oracle"] == pytest.approx(t, rel=1e-12)
    held = (errors <= t).mean()
    noise = np.sqrt(held * (1 - held) * (1 / 2000 + 1 / 4000))
    assert abs(mine["coverage_oracle"] - held) <= 4 * noise


def test_table_5_half_widths_follow_from_hoeffding() -> None:
    """R √(k_n ln(2/δ)/(2n)) with the sizes of half a test set, 709 and 1000 segments."""
    for pair, size in (("EnDe", 709), ("ZhEn", 1000)):
        for share, cells in TABLE5[pair].items():
            n = round(share * size)
            left = 1 - (n - 1) / size
            t = ORACLE_RANGE[pair] * np.sqrt(left * np.log(2 / 0.05) / (2 * n))
            assert cells["base"].t == pytest.approx(t, abs=0.011)


def test_table_6_baseline_on_wmt21(folder: Path) -> None:
    for pair, own in (("EnDe", "wmt21_ende"), ("ZhEn", "wmt21_zhen")):
        with gzip.open(folder / f"{own}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        rng = np.random.default_rng(5)
        errors, spread = [], []
        for system in {r["system"] for r in rows}:
            y = np.array([float(r["mqm"]) for r in rows if r["system"] == system])
            for share in np.arange(1, 11) / 20:
                n = round(share * y.size)
                means = np.array([y[rng.permutation(y.size)[:n]].mean() for _ in range(60)])
                errors.append(np.abs(means - y.mean()).mean())
                spread.append(np.abs(means - y.mean()).std(ddof=1))
        printed = TABLES["table6"][pair]["baseline"]
        assert np.mean(errors) == pytest.approx(printed.abs_error, rel=0.03)
        assert np.mean(spread) == pytest.approx(printed.sdev, rel=0.05)


def test_tables_7_8_10_and_11_sizes_and_means(folder: Path) -> None:
    sizes = saldias_methods.data_table("table7", "wmt20")["here"].tolist()
    for k, own in enumerate(("wmt20_ende", "wmt20_zhen")):
        with gzip.open(folder / f"{own}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        found = [len({r[name] for r in rows}) for name in ("seg_id", "doc_id")]
        assert sizes[2 * k : 2 * k + 2] == found
    sizes = saldias_methods.data_table("table10", "wmt21")["here"].tolist()
    for k, own in enumerate(("wmt21_ende", "wmt21_zhen")):
        with gzip.open(folder / f"{own}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        one = [r for r in rows if r["system"] == rows[0]["system"]]
        assert [len(one), len({r["doc_id"] for r in one})] == sizes[2 * k : 2 * k + 2]
        mean = np.mean([float(r["mqm"]) for r in one])
        frame = saldias_methods.data_table("table11", "wmt21")
        frame = frame[frame["pair"] == ("EnDe", "ZhEn")[k]]
        assert (np.abs(frame["here"] - mean) < 1e-9).any()
    for pair, table in (("EnDe", "wmt20_ende"), ("ZhEn", "wmt20_zhen")):
        with gzip.open(folder / f"{table}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        systems = {r["system"]: [q for q in rows if q["system"] == r["system"]] for r in rows[::97]}
        frame = saldias_methods.data_table("table8", "wmt20")
        frame = frame[frame["pair"] == pair]
        for own in systems.values():
            mean = np.mean([float(r["mqm"]) for r in own])
            assert (np.abs(frame["here"] - mean) < 1e-9).any()


def test_table_9_correlations(folder: Path) -> None:
    """Mean absolute correlation over the systems that are not human."""
    rated = saldias_methods.ten_metrics("wmt20_ende", saldias_methods.load("wmt20_ende"))
    made = saldias_methods.metrics_table([rated], []).set_index("metric")["r"]
    with gzip.open(folder / "wmt20_ende.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["is_human"] == "0"]
    for metric in ("COMET", "YiSi-2", "TER", "target_length"):
        found = []
        for system in {r["system"] for r in rows}:
            own = [(float(r["mqm"]), float(r[metric])) for r in rows if r["system"] == system]
            found.append(abs(np.corrcoef(np.array(own).T)[0, 1]))
        assert made[metric] == pytest.approx(float(np.mean(found)), abs=1e-9)


def test_table_12_predicting_a_rater_from_the_others() -> None:
    """Three of six raters per segment, as in the paper; one error per rater, over systems."""
    rng = np.random.default_rng(2)
    pools, by_hand = {}, []
    for system in ("one", "two"):
        who = np.array([rng.permutation(6)[:3] for _ in range(80)])
        score = np.round(rng.gamma(1.0, 2.0, (80, 1)) + rng.normal(0, 1, (80, 3)) + 0.3 * who, 1)
        segment = np.repeat(np.arange(80), 3)
        names = [f"rater{k + 1}" for k in who.ravel()]
        pools[system] = Answers(segment.tolist(), names, score.ravel()).agreement()
        errors = []
        for rater in range(6):
            mine = who == rater
            rated = mine.any(1)
            others = (score.sum(1) - (score * mine).sum(1))[rated] / 2
            errors.append(abs((score * mine).sum(1)[rated].mean() - others.mean()))
        by_hand.append(errors)
    here = prediction_errors(pools)
    for rater, error in enumerate(np.mean(by_hand, axis=0)):
        assert here[f"rater{rater + 1}"] == pytest.approx(float(error), abs=1e-9)


# von Däniken et al. and the thesis ---------------------------------------------------------------


def epsilon(sd: float) -> float:
    return float(np.sqrt(2) * 1.959964 * sd)


def cell(name: str, human: int, metric: int, draws: int = 2) -> tuple[str, Any]:
    """A figure as printed, and its line in the table that fewgold makes."""
    grid = GRIDS[name]
    printed = grid.cells[grid.human.index(human)][grid.metric.index(metric)]
    alone = grid._replace(human=(human,), metric=(metric,), cells=((printed,),))
    return printed, grid_table(name, alone, draws, 8).iloc[0]


@pytest.mark.parametrize(("human", "metric"), [(10, 1000), (100, 1000), (1000, 5000), (0, 50000)])
def test_table_1_rates_known(human: int, metric: int) -> None:
    alpha = (np.arange(40_000) + 0.5) / 40_000
    ones, rate = round(human * 0.6), 0.6 * 0.7 + 0.4 * 0.3
    m = round(metric * rate)
    p = alpha * 0.7 + (1 - alpha) * 0.3
    log = ones * np.log(alpha) + (human - ones) * np.log1p(-alpha)
    log += m * np.log(p) + (metric - m) * np.log1p(-p)
    weight = np.exp(log - log.max())
    mean = np.average(alpha, weights=weight)
    sd = np.sqrt(np.average((alpha - mean) ** 2, weights=weight))
    printed, made = cell("table1", human, metric)
    assert f"{epsilon(sd):.3f}" == printed
    assert made["here"] == pytest.approx(epsilon(sd), rel=1e-4)


def sd_estimated(
    n: tuple[int, int], tp: int, tn: int, m: tuple[int, int], pairs: tuple[int, int] | None = None
) -> float:
    """Posterior sd of α on a grid over all three rates; ``pairs`` give ρ and η, by default n."""
    p1, p0 = pairs or n

    def axis(successes: int, failures: int, points: int = 121) -> Any:
        mean = (successes + 1) / (successes + failures + 2)
        width = 7 * np.sqrt(mean * (1 - mean) / (successes + failures + 3))
        ends = max(mean - width, 1e-9), min(mean + width, 1 - 1e-9)
        return np.linspace(*ends, points)

    a, r, e = axis(*n)[:, None, None], axis(tp, p1 - tp)[:, None], axis(tn, p0 - tn)
    p = a * r + (1 - a) * (1 - e)
    log = n[0] * np.log(a) + n[1] * np.log1p(-a) + tp * np.log(r) + (p1 - tp) * np.log1p(-r)
    log = log + tn * np.log(e) + (p0 - tn) * np.log1p(-e)
    log = log + m[0] * np.log(p) + m[1] * np.log1p(-p)
    weight = np.exp(log - log.max()).sum((1, 2))
    a = a.ravel()
    mean = np.average(a, weights=weight)
    return float(np.sqrt(np.average((a - mean) ** 2, weights=weight)))


@pytest.mark.parametrize("name", ["table11", "table12", "table13", "table14"])
def test_tables_11_to_14_rates_estimated(name: str) -> None:
    grid = GRIDS[name]
    human, metric, acc = 250, 1000, grid.accuracy
    ones = round(human * grid.alpha)
    tp, tn = round(ones * acc), round((human - ones) * acc)
    m = round(metric * (grid.alpha * acc + (1 - grid.alpha) * (1 - acc)))
    sd = sd_estimated((ones, human - ones), tp, tn, (m, metric - m))
    printed, made = cell(name, human, metric)
    assert float(printed) == pytest.approx(epsilon(sd), abs=0.0006)
    assert made["here"] == pytest.approx(epsilon(sd), rel=0.002)


def test_figures_1_and_2_rates_known() -> None:
    """Figure 1 at accuracy 0.85, Figure 2 for BleuRT and SacreBLEU, from the density of α."""
    alpha = (np.arange(40_000) + 0.5) / 40_000

    def known(rate: float, accuracy: float, human: int, metric: int) -> float:
        ones, p = round(human * rate), alpha * accuracy + (1 - alpha) * (1 - accuracy)
        m = round(metric * (rate * accuracy + (1 - rate) * (1 - accuracy)))
        log = ones * np.log(alpha) + (human - ones) * np.log1p(-alpha)
        log = log + m * np.log(p) + (metric - m) * np.log1p(-p)
        weight = np.exp(log - log.max())
        mean = np.average(alpha, weights=weight)
        return epsilon(float(np.sqrt(np.average((alpha - mean) ** 2, weights=weight))))

    first = FIGURES["figure1"].frame().set_index(["line", "x"])["value"]
    for metric in (1000, 10_000):
        here = first[f"{metric:,} metric ratings", 0.85]
        assert here == pytest.approx(known(0.6, 0.85, 0, metric), rel=1e-4)
    second = FIGURES["figure2"].frame().set_index(["line", "x"])["value"]
    for name, accuracy in (("BleuRT", 0.6), ("SacreBLEU", 0.52)):
        for human in (100, 527):
            here = second[f"{name}, {human} human", 1000]
            assert here == pytest.approx(known(0.65, accuracy, human, 1000), rel=1e-4)


def test_figure_3_rates_from_other_pairs() -> None:
    figure = replace(FIGURES["figure3"], points=(600,))
    here = figure.frame().set_index(["panel", "line"])["value"]
    m = round(10_000 * (0.3 * 0.6 + 0.7 * 0.4))
    for human in (100, 600):
        n = round(0.3 * human), human - round(0.3 * human)
        sd = sd_estimated(n, 108, 252, (m, 10_000 - m), pairs=(180, 420))
        assert here[f"{human} human ratings", "accuracy 0.60"] == pytest.approx(
            epsilon(sd), rel=0.002
        )


def test_figures_5_3_and_5_4_simulated_studies() -> None:
    """Mean sd over 50 studies of the thesis, and their mean bias, against studies of our own."""
    rng = np.random.default_rng(9)
    sds, means = [], []
    for _ in range(50):
        ones = int(rng.binomial(500, 0.6))
        tp, tn = int(rng.binomial(ones, 0.85)), int(rng.binomial(500 - ones, 0.85))
        m = int(rng.binomial(2500, 0.6 * 0.85 + 0.4 * 0.15))
        sds.append(sd_estimated((ones, 500 - ones), tp, tn, (m, 2500 - m)))
        means.append(ones / 500)
    for name in ("figure5.3", "figure5.4"):
        figure = replace(FIGURES[name], points=(2500,))
        found = figure.frame(0).set_index(["panel", "line"])["value"]
        here = found["α = 0.60, 500 human ratings", "ρ = η = 0.85"]
        if name == "figure5.3":
            noise = float(np.std(sds)) * np.sqrt(2 / 50)
            assert here == pytest.approx(float(np.mean(sds)), abs=4 * noise + 2e-5)
        else:
            assert abs(here) < 4 * float(np.mean(sds)) / np.sqrt(50)


@pytest.mark.parametrize("name", ["thesis5.8", "thesis5.9"])
def test_tables_5_8_and_5_9_sampled_counts_without_the_root(name: str) -> None:
    grid, rng = GRIDS[name], np.random.default_rng(6)
    human, metric, acc = 250, 1000, grid.accuracy
    found = []
    for _ in range(60):
        ones = int(rng.binomial(human, grid.alpha))
        tp, tn = int(rng.binomial(ones, acc)), int(rng.binomial(human - ones, acc))
        m = int(rng.binomial(metric, grid.alpha * acc + (1 - grid.alpha) * (1 - acc)))
        found.append(sd_estimated((ones, human - ones), tp, tn, (m, metric - m)))
    here = epsilon(float(np.mean(found))) / np.sqrt(2)
    noise = epsilon(float(np.std(found))) / np.sqrt(2) * np.sqrt(1 / 60 + 1 / 50)
    printed, made = cell(name, human, metric, draws=50)
    assert abs(float(printed) - here) <= 0.0005 + 4 * noise
    assert abs(made["their_way"] - here) <= 4 * noise
    assert made["here"] == pytest.approx(np.sqrt(2) * made["their_way"])


@pytest.mark.parametrize("name", ["table4", "table5", "table8", "table9"])
def test_tables_4_5_8_9_on_their_grid(name: str) -> None:
    """P(α1 > α2) of the first two systems, cells that fall together dropped as they did."""
    order = ORDERS[name]
    edges = np.linspace(0, 1, 2001)
    fine = (np.arange(400_000) + 0.5) / 400_000
    mass = []
    for k, n in list(zip(order.adequate, order.total, strict=True))[:2]:
        log = k * np.log(fine) + (n - k) * np.log1p(-fine)
        weight = np.exp(log - log.max())
        counted, _ = np.histogram(fine, edges, weights=weight)
        mass.append(counted / counted.sum())
    better = float(mass[0][1:] @ np.cumsum(mass[1])[:-1])
    assert float(order.cells[0][1]) == pytest.approx(better, abs=0.00051)
    made = orders_table(order).iloc[0]
    assert made["their_way"] == pytest.approx(better, abs=2e-6)
    # The density changes little within a cell, so half of the ties belong to each side.
    assert made["here"] == pytest.approx(better + float(mass[0] @ mass[1]) / 2, abs=2e-5)


@pytest.mark.parametrize("name", ["means4", "means5", "means8", "means9"])
def test_tables_4_5_8_9_rates_and_differences(name: str) -> None:
    """Mean of each posterior on a grid, and the differences of those."""
    means = MEANS[name]
    order = ORDERS[means.order]
    fine = (np.arange(200_000) + 0.5) / 200_000
    rates = []
    for k, n in zip(order.adequate, order.total, strict=True):
        log = k * np.log(fine) + (n - k) * np.log1p(-fine)
        rates.append(float(np.average(fine, weights=np.exp(log - log.max()))))
    assert [f"{rate:.2f}" for rate in rates] == list(means.rates)
    gaps = []
    for i, printed in enumerate(means.gaps):
        gaps += [rates[i] - rate for rate in rates[i + 1 :]]
        assert [f"{abs(rates[i] - rate):.2f}" for rate in rates[i + 1 :]] == list(printed[i + 1 :])
    assert means_table(means)["here"].to_numpy() == pytest.approx([*rates, *gaps], abs=1e-6)


def test_tables_5_2_and_5_4_of_the_thesis() -> None:
    order = ORDERS["table8"]
    made = rates_table("thesis5.2", SPOT_THE_BOT).set_index(["system", "quantity"])["here"]
    places = {"Blender": 0, "LostInConv.": 1, "Huggingface": 3, "Seq2Seq": 5}
    for system, place in places.items():
        k, n = order.adequate[place], order.total[place]
        draws = np.random.default_rng(place).beta(k + 1, n - k + 1, 400_000)
        mean, sd = PRINTED["thesis5.2"].cells[system]
        assert f"{draws.mean():.2f}" == mean
        assert float(sd) == pytest.approx(draws.std(), abs=0.00052)
        assert made[system, "mean"] == pytest.approx(draws.mean(), abs=5 * draws.std() / 632)
        assert made[system, "sd"] == pytest.approx(draws.std(), rel=0.006)


def test_tables_5_1_to_5_7_of_the_thesis(folder: Path) -> None:
    with gzip.open(folder / "wmt21_ende.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    tally, tallies = {}, daniken_systems.wmt21_tallies()
    for system in ("Facebook-AI", "UEdin"):
        y = [float(r["mqm"]) for r in rows if r["system"] == system]
        tally[system] = (sum(v == 0 for v in y), len(y))
        mean = (tally[system][0] + 1) / (len(y) + 2)
        sd = np.sqrt(mean * (1 - mean) / (len(y) + 3))
        assert PRINTED["thesis5.1"].cells[system] == (f"{mean:.2f}", f"{sd:.3f}")
        made = rates_table("thesis5.1", tallies).query(f"system == '{system}'")["here"]
        assert made.tolist() == pytest.approx([mean, sd])
    (mean1, sd1), (mean2, sd2) = (
        ((k + 1) / (n + 2), np.sqrt((k + 1) * (n - k + 1) / ((n + 2) ** 2 * (n + 3))))
        for k, n in tally.values()
    )
    z = abs(mean1 - mean2) / np.hypot(sd1, sd2)
    stars = sum(z > limit for limit in (1.959964, 2.575829, 3.290527))
    cells = PRINTED["thesis5.5"].cells
    mirrored = cells["UEdin"][list(cells).index("Facebook-AI")]
    assert mirrored.count("*") == stars
    made = stars_table("thesis5.5", tallies).set_index(["first", "second"])["here"]
    assert made["UEdin", "Facebook-AI"] == made["Facebook-AI", "UEdin"] == stars
    # Table 5.7 from the counts of Table 8: the best of Spot The Bot against the next.
    order = ORDERS["table8"]
    (k1, n1), (k2, n2) = list(zip(order.adequate, order.total, strict=True))[:2]
    difference = (k1 + 1) / (n1 + 2) - (k2 + 1) / (n2 + 2)
    spread = sum((k + 1) * (n - k + 1) / ((n + 2) ** 2 * (n + 3)) for k, n in ((k1, n1), (k2, n2)))
    count = sum(abs(difference) / np.sqrt(spread) > c for c in (1.959964, 2.575829, 3.290527))
    table = PRINTED["thesis5.7"].cells
    names = list(table)
    one, two = names.index("Blender"), names.index("LostInConv.")
    assert table["Blender"][two].count("*") == table["LostInConv."][one].count("*") == count
    made = stars_table("thesis5.7", SPOT_THE_BOT).set_index(["first", "second"])["here"]
    assert made["Blender", "LostInConv."] == count


def test_figures_5_1_and_5_2_of_the_thesis(folder: Path) -> None:
    """Areas under the curves of BLEU: the share of pairs that it puts in order, ties half."""
    with gzip.open(folder / "wmt21_ende.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["system"] in PRINTED["thesis5.1"].cells]
    by_system = ROC_FIGURES["figure5.2"].curves()
    assert set(by_system) == set(PRINTED["thesis5.1"].cells)
    curves = {"": ROC_FIGURES["figure5.1"].curves()["all systems"], **by_system}
    for system, curve in curves.items():
        own = [r for r in rows if system in ("", r["system"])]
        adequate = np.array([float(r["mqm"]) == 0 for r in own])
        bleu = np.array([float(r["sb_BLEU"]) for r in own])
        gap = bleu[adequate][:, None] - bleu[~adequate]
        assert curve.auc == pytest.approx(float((np.sign(gap) + 1).mean() / 2), abs=1e-9)


# Estrella et al. ---------------------------------------------------------------------------------


def test_estrella_table_2_means_of_segments() -> None:
    """Adequacy of S1: x_min, x_max and R² of a line through logarithms of bootstrap spreads."""
    table, scores = estrella_study.imitation(0)
    first = (table["system"] == "S1").to_numpy()
    made = reliability(
        table[first], score={"adequacy": scores["adequacy"][first]}, document="document",
        system="system", segment="segment", draws=1500, rng=3,
    ).fits()  # fmt: skip
    power = made[made["kind"] == "power"].iloc[0]
    y, document = scores["adequacy"][first], table["document"].to_numpy()[first]
    x = np.arange(1, 16)
    # The spread of the mean of a resample of n is σ/√n, divided by the mean.
    spread = []
    for d in x:
        own = y[np.isin(document, [f"d{k + 1}" for k in range(d)])]
        spread.append(own.std() / np.sqrt(own.size) / own.mean())
    slope, start = np.polyfit(np.log(x), np.log(spread), 1)
    a, b = np.exp(start), -slope
    # 1500 draws tell each standard deviation to 1.8 %.
    assert power["x_min"] == pytest.approx(1 + 1 / b, abs=0.15)
    assert power["x_max"] == pytest.approx((a * b / 1e-4) ** (1 / (b + 1)), rel=0.05)
    fitted = start + slope * np.log(x)
    left = ((np.log(spread) - fitted) ** 2).sum() / ((np.log(spread).std() ** 2) * x.size)
    assert power["r2"] == pytest.approx(1 - left, abs=0.02)


def test_estrella_conclusions_five_documents(folder: Path) -> None:
    """Share of the pairs of systems on WMT20 in their final order, with 5 and with 23 documents."""
    with gzip.open(folder / "wmt20_ende.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    systems = sorted({r["system"] for r in rows})
    names = sorted({r["doc_id"] for r in rows})
    system, document = ({x: k for k, x in enumerate(xs)} for xs in (systems, names))
    sums = np.zeros((len(systems), len(names)))
    for r in rows:
        sums[system[r["system"]], document[r["doc_id"]]] += float(r["mqm"])
    final = sums.sum(1)
    one, two = np.triu_indices(len(systems), 1)
    rng = np.random.default_rng(1)
    made = estrella_study.ranking(0).set_index("data").loc["wmt20_ende"]
    assert (made["systems"], made["documents_250"]) == (len(systems), 23)
    for size, kind in ((5, "5"), (23, "250")):
        shares = []
        for _ in range(4000):
            # All systems have the same segments, so sums are in the same order as means.
            part = sums[:, rng.permutation(len(names))[:size]].sum(1)
            same = np.sign(part[one] - part[two]) == np.sign(final[one] - final[two])
            shares.append(same.mean())
        spread = float(np.std(shares))
        assert made[f"mc_{kind}"] == pytest.approx(spread / np.sqrt(1000), rel=0.1)
        noise = spread * np.sqrt(1 / 4000 + 1 / 1000)
        assert abs(made[f"pairs_{kind}"] - np.mean(shares)) <= 4 * noise
