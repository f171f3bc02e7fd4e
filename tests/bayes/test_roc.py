"""Thresholds, ROC curves and whether systems share them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.metrics import matthews_corrcoef, roc_auc_score, roc_curve

from fewgold.bayes import Roc, choose_cut, choose_cuts, roc_table
from fewgold.bayes.roc import newcombe
from fewgold.cut import Cut
from fewgold.datasets import data_folder, real_frame
from fewgold.errors import FewgoldError
from fewgold.plots import to_svg

SIGNS = (">=", ">", "<=", "<")


def by_hand(human: list[int], metric: list[float], rule: str, sign: str) -> float:
    """Try every observed score, one at a time, as the papers say; ties as the docstring says."""
    y = np.array(human)
    rows = []
    for at in sorted(set(metric)):
        m = Cut(sign, at)(metric).astype(int)
        rho, eta = m[y == 1].mean(), 1 - m[y == 0].mean()
        k = 0.0 if m.min() == m.max() else np.corrcoef(y, m)[0, 1] ** 2
        gap, ahead = round(abs(rho - eta), 9), round(rho + eta - 1, 9)
        if rule == "equal":
            key = (gap, -ahead, -m.sum())
        else:
            key = (not ahead > 0, -round(k, 9), gap, -m.sum())
        rows.append((key, at))
    return min(rows)[1]


labelled = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-4, 4)), min_size=2, max_size=25
).filter(lambda rows: len({y for y, _ in rows}) == 2 and len({x for _, x in rows}) > 1)


@settings(max_examples=150, deadline=None)
@given(labelled, st.sampled_from(("equal", "information")), st.sampled_from(SIGNS))
def test_every_observed_score_was_tried(rows: list[tuple[int, int]], rule: str, sign: str) -> None:
    human, metric = [y for y, _ in rows], [x / 2 for _, x in rows]
    chosen = choose_cut(human, metric, rule, sign)
    assert chosen == Cut(sign, by_hand(human, metric, rule, sign))


def test_a_batch_equals_one_by_one() -> None:
    rng = np.random.default_rng(3)
    human = rng.random((4, 5, 30)) < 0.6
    metric = np.round(human + rng.normal(size=human.shape), 1)
    for rule in ("equal", "information"):
        for sign in SIGNS:
            together = choose_cuts(human, metric, rule, sign)
            assert together.shape == (4, 5)
            alone = [
                choose_cut(h, m, rule, sign).at
                for h, m in zip(human.reshape(-1, 30), metric.reshape(-1, 30), strict=True)
            ]
            assert together.ravel().tolist() == alone


def test_a_metric_turned_round_is_cut_at_the_same_place() -> None:
    rng = np.random.default_rng(5)
    human = rng.random(60) < 0.5
    metric = np.round(human + rng.normal(size=60), 1)
    for rule in ("equal", "information"):
        for sign, turned in ((">=", "<="), (">", "<")):
            up, down = (
                choose_cut(human, metric, rule, sign),
                choose_cut(human, -metric, rule, turned),
            )
            assert up.at == -down.at
            assert np.array_equal(up(metric), down(-metric))


def test_information_prefers_cuts_that_point_the_right_way() -> None:
    # K is 0.44 at ">= 3", where ρ + η < 1, and 0.17 at ">= 2".
    human, metric = [0, 1, 1, 0, 0], [1, 2, 2, 3, 3]
    assert choose_cut(human, metric, "information").at == 2
    # A metric that is wrong everywhere has none; its cut is that of the flipped metric.
    assert choose_cut([1, 1, 0, 0], [1, 2, 3, 4], "information").at == 3


def test_draws_that_cannot_be_cut_are_nan() -> None:
    human, metric = [[0, 1], [1, 1], [0, 0], [0, 1]], [[1, 2], [1, 2], [1, 2], [3, 3]]
    assert np.array_equal(np.isnan(choose_cuts(human, metric)), [False, True, True, True])


@pytest.mark.parametrize(
    ("human", "metric", "options", "say"),
    [
        ([1, 1, 1], [1, 2, 3], {}, "all 3 items are adequate"),
        ([0, 0], [1, 2], {}, "all 2 items are inadequate"),
        ([0, 1], [2, 2], {}, "gives 2 to all 2 items"),
        ([0, 1], [1, np.nan], {}, "1 of 2 are not"),
        (
            [0, np.nan],
            [1, 2],
            {},
            "labels must be 0 or 1, or words such as pass and fail; got .*nan",
        ),
        ([0, 3], [1, 2], {}, "Cut scores at a threshold"),
        ([], [], {}, "got none"),
        ([0, 1], [1, 2, 3], {}, "2 labels and 3 scores"),
        ([0, 1], 3, {}, "no list of scores"),
        ([0, 1], ["a", "b"], {}, "must be numbers"),
        ([[0, 1]], [[1, 2]], {}, "choose_cuts takes batches"),
        ([0, 1], [1, 2], {"rule": "best"}, "rule must be one of equal, information"),
        ([0, 1], [1, 2], {"sign": "=="}, "sign must be one of"),
    ],
)
def test_what_cannot_be_cut(
    human: object, metric: object, options: dict[str, str], say: str
) -> None:
    with pytest.raises(FewgoldError, match=say):
        choose_cut(human, metric, **options)  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(labelled, st.sampled_from(SIGNS))
def test_the_curve_is_that_of_scikit_learn(rows: list[tuple[int, int]], sign: str) -> None:
    human, metric = np.array([y for y, _ in rows]), np.array([x / 2 for _, x in rows])
    up = metric if sign[0] == ">" else -metric
    roc = Roc.of(human, metric, sign)
    assert roc.auc == pytest.approx(roc_auc_score(human, up), abs=1e-12)
    fpr, tpr, _ = roc_curve(human, up, drop_intermediate=False)
    curve = roc.curve()
    assert set(zip(curve["fpr"], curve["tpr"], strict=True)) <= set(zip(fpr, tpr, strict=True))
    assert np.trapezoid(curve["tpr"], curve["fpr"]) == pytest.approx(roc.auc, abs=1e-12)
    table = roc._sweep
    rates = table.tp / (human == 1).sum(), 1 - table.fp / (human == 0).sum()
    for at, rho, eta, k in zip(table.at, *rates, table.information, strict=True):
        one = Cut(sign, at)(metric)
        point = roc.at(Cut(sign, at))
        assert rho == pytest.approx(one[human == 1].mean())
        assert eta == pytest.approx(1 - one[human == 0].mean())
        assert (point.rho, point.eta) == pytest.approx((rho, eta))
        assert k == pytest.approx(matthews_corrcoef(human, one) ** 2, abs=1e-12)
        assert point.information == pytest.approx(k, abs=1e-12)
    for rule in ("equal", "information"):
        assert len(set(metric)) == 1 or roc.chosen(rule).cut == choose_cut(
            human, metric, rule, sign
        )


def delong(human: np.ndarray, metric: np.ndarray) -> float:
    """The standard error by its definition: all pairs, and the variance of their row means."""
    ones, zeros = metric[human], metric[~human]
    wins = (ones[:, None] > zeros) + 0.5 * (ones[:, None] == zeros)
    return float(
        np.sqrt(wins.mean(1).var(ddof=1) / ones.size + wins.mean(0).var(ddof=1) / zeros.size)
    )


@pytest.mark.parametrize("digits", [0, 6])
def test_standard_error_of_the_area(digits: int) -> None:
    rng = np.random.default_rng(8)
    human = rng.random(300) < 0.3
    metric = np.round(0.8 * human + rng.normal(size=300), digits)
    roc, turned = Roc.of(human, metric), Roc.of(human, -metric, "<=")
    assert roc.auc_se == pytest.approx(delong(human, metric), rel=1e-12)
    assert (turned.auc, turned.auc_se) == pytest.approx((roc.auc, roc.auc_se), rel=1e-12)
    again = rng.integers(0, 300, (1000, 300))
    areas = [Roc.of(human[rows], metric[rows]).auc for rows in again]
    # The sd of 1000 replicates is known to 1/√2000; the bootstrap varies class sizes too.
    assert roc.auc_se == pytest.approx(np.std(areas), rel=0.1)
    low, high = roc.auc_interval(0.95)
    assert low < roc.auc < high < 1
    assert high - low == pytest.approx(2 * 1.96 * roc.auc_se, rel=0.05)


def test_classes_that_do_not_overlap_leave_doubt() -> None:
    apart = Roc.of([0] * 20 + [1] * 10, np.arange(30))
    assert apart.auc == 1 and apart.auc_se == 0
    low, high = apart.auc_interval()
    assert high == 1 and 0.8 < low < 0.95
    # Score interval: at its end the AUC is 1.96 sds of Hanley and McNeil away.
    q1, q2, mean = low / (2 - low), 2 * low**2 / (1 + low), 15
    var = low * (1 - low) + (mean - 1) * (q1 - low**2) + (mean - 1) * (q2 - low**2)
    assert (1 - low) / np.sqrt(var / 200) == pytest.approx(1.959964, rel=1e-6)
    wrong = Roc.of([1] * 10 + [0] * 20, np.arange(30)).auc_interval()
    assert (wrong.low, wrong.high) == pytest.approx((0, 1 - low), abs=1e-9)
    single = Roc.of([0, 0, 1], [1, 3, 2])
    assert np.isnan(single.auc_se)
    assert tuple(map(float, single.auc_interval())) == pytest.approx(newcombe(0.5, 1, 2, 1.959964))


def two_systems(n: int = 400, shift: float = 0.0) -> pd.DataFrame:
    """A metric that adds ``shift`` to all outputs of the second system."""
    rng = np.random.default_rng(21)
    system = np.repeat(["one", "two"], n)
    human = rng.random(2 * n) < 0.6
    metric = 1.5 * human + rng.normal(size=2 * n) + shift * (system == "two")
    return pd.DataFrame(
        {"system": system, "mqm": np.where(human, 0, 5), "m": metric, "ter": -metric}
    )


def test_table_by_system() -> None:
    frame = two_systems(shift=2.0)
    table = roc_table(frame, human="mqm", adequate="<= 0", metrics=["m"], system="system")
    rows = table.to_frame().set_index("system")
    assert list(rows.index) == ["(all)", "one", "two"]
    assert rows["cut"].nunique() == 1 and list(rows["n"]) == [800, 400, 400]
    cut = choose_cut(frame["mqm"] == 0, frame["m"])
    assert rows.loc["(all)", "cut"] == str(cut)
    two = frame[frame["system"] == "two"]
    assert rows.loc["two", "rho"] == cut(two["m"])[two["mqm"] == 0].mean()
    own = roc_table(
        frame, human="mqm", adequate="<= 0", metrics=["m"], system="system", per_system=True
    ).to_frame()
    assert str(choose_cut(two["mqm"] == 0, two["m"])) == own.set_index("system").loc["two", "cut"]
    given_cut = roc_table(frame, human="mqm", adequate="<= 0", metrics=["m"], cuts={"m": "> 1"})
    assert list(given_cut.to_frame()["cut"]) == ["> 1"]


def test_larger_is_worse() -> None:
    frame = two_systems()
    both = roc_table(
        frame, human="mqm", adequate="<= 0", metrics=["m", "ter"], orientation={"ter": -1},
        strict=True,
    ).to_frame()  # fmt: skip
    assert both["auc"][0] == pytest.approx(both["auc"][1], rel=1e-12)
    assert both["rho"][0] == both["rho"][1] and both["eta"][0] == both["eta"][1]
    assert both["cut"].str.slice(0, 2).tolist() == ["> ", "< "]


def test_heterogeneity_is_a_chi_square() -> None:
    same, apart = (
        roc_table(
            two_systems(shift=shift), human="mqm", adequate="<= 0", metrics=["m"], system="system"
        )
        for shift in (0.0, 1.0)
    )
    cells = [same.point("m", name) for name in ("one", "two")]
    rho = chi2_contingency([(p.tp, p.fn) for p in cells], correction=False)
    eta = chi2_contingency([(p.tn, p.fp) for p in cells], correction=False)
    row = same.heterogeneity().iloc[0]
    assert row["rho_p"] == pytest.approx(rho.pvalue) and row["eta_p"] == pytest.approx(eta.pvalue)
    assert row["p"] > 0.01 and not row["sparse"] and abs(row["worst"]) < 0.1
    assert apart.heterogeneity()["p"].iloc[0] < 1e-6
    assert abs(apart.heterogeneity()["worst"].iloc[0]) > 0.2


def test_the_worst_error_by_hand() -> None:
    frame = pd.DataFrame(
        {
            "system": ["a"] * 20 + ["b"] * 20,
            "human": [1] * 10 + [0] * 10 + [1] * 10 + [0] * 10,
            # a: ρ = 0.9, η = 0.8; b: ρ = 0.6, η = 0.8
            "m": [1] * 9 + [0] + [1] * 2 + [0] * 8 + [1] * 6 + [0] * 4 + [1] * 2 + [0] * 8,
        }
    )
    row = (
        roc_table(frame, human="human", metrics=["m"], system="system", cuts={"m": ">= 1"})
        .heterogeneity()
        .iloc[0]
    )
    # a corrected with b: (0.55 − 0.2) / 0.4 = 0.875; b with a: (0.4 − 0.2) / 0.7 = 0.286.
    assert (row["on"], row["worst"]) == ("a", pytest.approx(0.375))


def test_the_standard_error_of_the_worst_error() -> None:
    """Over samples of two systems with ρ, η of 0.9, 0.8 and 0.6, 0.8: that of the first by far."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(100):
        human = rng.random(1600) < 0.5
        first = np.arange(1600) < 800
        metric = rng.random(1600) < np.where(human, np.where(first, 0.9, 0.6), 0.2)
        frame = pd.DataFrame(
            {"s": np.where(first, "a", "b"), "human": 1.0 * human, "m": 1.0 * metric}
        )
        table = roc_table(frame, human="human", metrics=["m"], system="s", cuts={"m": ">= 1"})
        found.append(table.heterogeneity().iloc[0])
    rows = pd.DataFrame(found)
    assert set(rows["on"]) == {"a"}
    # (0.55 − 0.2) / 0.4 − 0.5; an sd of 100 samples is known to 7 %.
    assert rows["worst"].mean() == pytest.approx(0.375, abs=0.02)
    assert rows["worst_se"].mean() == pytest.approx(rows["worst"].std(), rel=0.21)


def test_a_system_of_one_class_has_no_area() -> None:
    frame = two_systems(40)
    frame.loc[frame["system"] == "two", "mqm"] = 0
    for per_system in (False, True):
        table = roc_table(
            frame, human="mqm", adequate="<= 0", metrics=["m"], system="system",
            per_system=per_system,
        )  # fmt: skip
        two = table.to_frame().set_index("system").loc["two"]
        assert np.isnan(two[["auc", "auc_se", "auc_low", "eta"]].astype(float)).all()
        assert 0 < two["rho"] <= 1
        assert np.isnan(table.heterogeneity()["eta_p"].iloc[0])
    assert "one, AUC" in to_svg(table.plot())


def test_gaps_are_counted() -> None:
    frame = two_systems(50)
    frame.loc[:4, "m"] = np.nan
    frame.loc[frame.index % 10 == 9, "mqm"] = np.nan
    frame.loc[frame["system"] == "two", "ter"] = np.nan
    table = roc_table(
        frame, human="mqm", adequate="<= 0", metrics=["m", "ter"], system="system"
    ).to_frame()
    at = table.set_index(["metric", "system"])
    assert at.loc[("m", "one"), ["n", "gaps"]].tolist() == [40, 5]
    assert ("ter", "two") not in at.index and at.loc[("ter", "(all)"), "gaps"] == 45


def test_figure_names_systems_and_their_areas() -> None:
    table = roc_table(
        two_systems(), human="mqm", adequate="<= 0", metrics=["m", "ter"], system="system"
    )
    figure = table.plot()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["m", "ter"]
    texts = [t.get_text() for t in figure.axes[0].get_legend().get_texts()]
    areas = table.to_frame().set_index(["metric", "system"])["auc"]
    want = sorted(((areas["m", s], s) for s in ("one", "two")), reverse=True)
    assert texts == [f"{a:.2f}  {s}" for a, s in want]
    svg = to_svg(figure, alt="ROC")
    assert f"<title>one, AUC {areas['m', 'one']:.3f}</title>" in svg


@pytest.mark.parametrize(
    ("change", "say"),
    [
        ({"human": "gold"}, "unknown column 'gold'"),
        ({"metrics": ["n"]}, "unknown column 'n'"),
        ({"metrics": []}, "at least one metric"),
        ({"metrics": ["mqm"]}, "cannot be a metric as well"),
        ({"adequate": None}, "run from .* say which are adequate"),
        ({"adequate": "good"}, "a sign and a number"),
        ({"metrics": ["system"], "system": None}, "must hold numbers; .* first 'one'"),
        ({"orientation": {"x": 1}}, "unknown metric 'x'"),
        ({"cuts": {"x": "> 1"}}, "cuts names 'x'"),
        ({"rule": "youden"}, "rule must be one of"),
        ({"adequate": "<= 100"}, "every score in .* is <= 100"),
    ],
)
def test_tables_that_say_nothing(change: dict[str, object], say: str) -> None:
    asked = {"human": "mqm", "adequate": "<= 0", "metrics": ["m"], "system": "system"} | change
    with pytest.raises(FewgoldError, match=say):
        roc_table(two_systems(10), **asked)  # type: ignore[arg-type]


def test_heterogeneity_needs_systems() -> None:
    table = roc_table(two_systems(10), human="mqm", adequate="<= 0", metrics=["m"])
    with pytest.raises(FewgoldError, match="system="):
        table.heterogeneity()


@pytest.mark.skipif(data_folder() is None, reason="the real data are not here")
def test_metrics_judge_systems_differently_on_real_data() -> None:
    """The finding of the thesis (Figures 5.1 and 5.2), on other systems and metrics."""
    table = roc_table(
        real_frame("wmt20_ende"), human="mqm", adequate="<= 0", metrics=["COMET"], system="system"
    )
    rows = table.to_frame().set_index("system")
    assert rows.loc["(all)", "auc"] == pytest.approx(0.704, abs=5e-4)
    people = [name for name in rows.index if name.startswith("Human")]
    machines = [name for name in rows.index if name not in (*people, "(all)")]
    assert rows.loc[people, "auc_high"].max() < rows.loc[machines, "auc_low"].min()
    assert table.heterogeneity()["p"].iloc[0] < 1e-10
