"""Naive against corrected: the counts behind each way, and the thesis's tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fewgold.bayes import AlphaPosterior, Counts, PoolPosterior, Priors, choose_cut, naive_table
from fewgold.datasets import data_folder, real_frame
from fewgold.errors import FewgoldError

CELLS = ("tp", "fn", "fp", "tn")
ASKED = {"human": "human", "metrics": ["m"], "system": "system", "cuts": {"m": ">= 1"}}


def block(system: str, cells: tuple[int, int, int, int], rest: tuple[int, int]) -> pd.DataFrame:
    """Rows of a system: paired items by cell, and items that only the metric rated (1s, 0s)."""
    human = np.repeat([1, 1, 0, 0, np.nan, np.nan], [*cells, *rest])
    metric = np.repeat([1, 0, 1, 0, 1, 0], [*cells, *rest])
    return pd.DataFrame({"system": system, "human": human, "m": metric})


def two() -> pd.DataFrame:
    return pd.concat(
        [block("a", (40, 10, 5, 25), (60, 40)), block("b", (20, 20, 10, 30), (70, 90))],
        ignore_index=True,
    )


def at(frame: pd.DataFrame, system: str, how: str) -> pd.Series:
    row = frame[(frame["system"] == system) & (frame["how"] == how)]
    assert len(row) == 1
    return row.iloc[0]


def test_what_each_way_counts() -> None:
    frame = naive_table(two(), known={"m": (0.8, 0.7)}, **ASKED).to_frame()
    auto = {"metric_ones": 60, "metric_total": 100}
    human = {"human_ones": 50, "human_total": 80}
    paired = dict(zip(CELLS, (40, 10, 5, 25), strict=True))
    everyone = dict(zip(CELLS, (60, 30, 15, 55), strict=True))
    others = dict(zip(CELLS, (20, 20, 10, 30), strict=True))
    calibrated = {"pairs": "calibration"}
    want = {
        "human": AlphaPosterior(Counts(**human)),
        "naive": AlphaPosterior(Counts(human_ones=105, human_total=180)),
        "own": AlphaPosterior(Counts(**paired, **auto)),
        "pooled": AlphaPosterior(Counts(**everyone, **human, **auto, **calibrated)),
        "transfer": AlphaPosterior(
            Counts(**others, metric_ones=105, metric_total=180, **calibrated)
        ),
        "known": AlphaPosterior(Counts(**human, **auto), Priors(rho=0.8, eta=0.7)),
    }
    for how, posterior in want.items():
        row = at(frame, "a", how)
        low, high = posterior.interval(0.95)
        got = row[["mean", "sd", "low", "high"]].tolist()
        assert got == [float(posterior.mean), float(posterior.sd), float(low), float(high)], how
    assert at(frame, "a", "own")[["rho", "eta"]].tolist() == [0.8, 25 / 30]
    assert at(frame, "b", "transfer")[["rho", "eta"]].tolist() == [0.8, 25 / 30]
    numbers = frame[frame["system"] == "a"].set_index("how")[["rated", "scored"]]
    assert numbers.loc[list(want)].to_numpy().tolist() == [
        [80, 0], [0, 180], [80, 100], [80, 100], [0, 180], [80, 100]
    ]  # fmt: skip


def test_pooling_one_system_with_itself_changes_nothing() -> None:
    """The likelihood of ``pooled`` has the same factors as that of ``own``."""
    own = AlphaPosterior(Counts(tp=40, fn=10, fp=5, tn=25, metric_ones=60, metric_total=100))
    split = AlphaPosterior(
        Counts(
            tp=40, fn=10, fp=5, tn=25, human_ones=50, human_total=80, metric_ones=60,
            metric_total=100, pairs="calibration",
        )
    )  # fmt: skip
    assert float(own.mean) == pytest.approx(float(split.mean), rel=1e-12)
    assert float(own.sd) == pytest.approx(float(split.sd), rel=1e-12)


def test_the_test_set_itself() -> None:
    frame = naive_table(two(), target="pool", **ASKED).to_frame()
    own = PoolPosterior(Counts(tp=40, fn=10, fp=5, tn=25, metric_ones=60, metric_total=100))
    human = PoolPosterior(Counts(human_ones=50, human_total=80), unrated=100)
    for how, posterior in (("own", own), ("human", human)):
        row = at(frame, "a", how)
        assert (row["mean"], row["sd"]) == (float(posterior.mean), float(posterior.sd))
    wider = naive_table(two(), **ASKED).to_frame()
    assert at(frame, "a", "own")["sd"] < at(wider, "a", "own")["sd"]


def test_rated_items_without_a_score_count_as_human_ones() -> None:
    frame = two()
    gone = frame.index[(frame["system"] == "a") & (frame["human"] == 1) & (frame["m"] == 1)][:10]
    unrated = frame.index[(frame["system"] == "a") & frame["human"].isna() & (frame["m"] == 0)][:4]
    frame["m"] = frame["m"].astype(float)
    frame.loc[[*gone, *unrated], "m"] = np.nan
    row = at(naive_table(frame, **ASKED).to_frame(), "a", "own")
    want = AlphaPosterior(
        Counts(
            tp=30, fn=10, fp=5, tn=25, human_ones=10, human_total=10, metric_ones=60,
            metric_total=96,
        )
    )  # fmt: skip
    assert (row["mean"], row["sd"]) == (float(want.mean), float(want.sd))
    with pytest.raises(FewgoldError, match="no score for 14 items of a"):
        naive_table(frame, target="pool", **ASKED)


def full(n: int = 300) -> pd.DataFrame:
    """Two systems rated in full; the metric flatters the second."""
    rng = np.random.default_rng(2)
    system = np.repeat(["a", "b"], n)
    human = rng.random(2 * n) < np.where(system == "a", 0.7, 0.4)
    metric = 1.5 * human + rng.normal(size=2 * n) + 1.5 * (system == "b")
    return pd.DataFrame({"system": system, "mqm": np.where(human, 0.0, 3.0), "m": metric})


FULL = {"human": "mqm", "adequate": "<= 0", "metrics": ["m"], "system": "system"}


def test_ratings_held_back_are_used_for_nothing_but_the_truth() -> None:
    frame = full()
    frame["used"] = np.arange(len(frame)) % 3 == 0
    table = naive_table(frame, rated="used", **FULL).to_frame()
    assert set(table.loc[table["how"] == "own", "rated"]) == {100}
    used = frame[frame["used"]]
    assert set(table.loc[table["metric"] == "m", "cut"]) == {
        str(choose_cut(used["mqm"] == 0, used["m"]))
    }
    turned = frame.assign(mqm=frame["mqm"].where(frame["used"], 3 - frame["mqm"]))
    other = naive_table(turned, rated="used", **FULL).to_frame()
    alike = ["metric", "system", "how", "cut", "mean", "sd", "low", "high"]
    pd.testing.assert_frame_equal(table[alike], other[alike])
    assert not np.isclose(table["truth"], other["truth"]).any()
    assert at(table, "a", "own")["truth"] == (frame.loc[frame["system"] == "a", "mqm"] == 0).mean()
    hidden = naive_table(
        frame.assign(mqm=frame["mqm"].where(frame["used"])), **FULL
    ).to_frame()  # fmt: skip
    pd.testing.assert_frame_equal(table[alike], hidden[alike])
    assert hidden["truth"].isna().all() and hidden["covered"].isna().all()


def test_a_random_draw_of_ratings() -> None:
    one, again, other = (
        naive_table(full(), rated=50, rng=seed, **FULL).to_frame() for seed in (1, 1, 2)
    )
    assert set(one.loc[one["how"] == "human", "rated"]) == {50}
    pd.testing.assert_frame_equal(one, again)
    assert not one["mean"].equals(other["mean"])


def test_naive_is_wrong_and_corrected_is_right() -> None:
    """A flattered system wins by the metric's word; its own ρ and η put that right."""
    frame = full(1500)
    table = naive_table(frame, rated=400, rng=3, **FULL)
    errors = table.errors().set_index("how")
    assert errors.loc["naive", "kendall"] == -1 and errors.loc["own", "kendall"] == 1
    assert errors.loc["naive", "mean_error"] > 0.2 > 0.05 > errors.loc["own", "mean_error"]
    assert errors.loc["naive", "coverage"] == 0 and errors.loc["own", "coverage"] == 1
    assert errors.loc["transfer", "largest_error"] > 0.2
    # The naive rate is αρ + (1 − α)(1 − η) (thesis 4.2.2), but for the prior of one each.
    rows = table.to_frame()
    a = frame[frame["system"] == "a"]
    labels = a["m"] >= float(at(rows, "a", "naive")["cut"].split()[1])
    good = a["mqm"] == 0
    rho, eta, alpha = labels[good].mean(), 1 - labels[~good].mean(), good.mean()
    corrupt = alpha * rho + (1 - alpha) * (1 - eta)
    assert at(rows, "a", "naive")["mean"] == pytest.approx((1500 * corrupt + 1) / 1502)


def test_the_layout_and_human_columns_of_the_thesis() -> None:
    """Tables 5.1 and 5.3, WMT21: 527 of 1002 items rated; a weak metric with ρ = η = 0.6."""
    printed = {"Facebook-AI": (353, 0.67, 0.020), "Nemo": (337, 0.64, 0.021)}
    printed |= {"VolcTrans-AT": (324, 0.61, 0.021), "HuaweiTSC": (308, 0.58, 0.021)}
    parts = []
    for name, (ones, *_) in printed.items():
        tp, tn = round(0.6 * ones), round(0.6 * (527 - ones))
        rest = round(475 * (0.6 * ones + 0.4 * (527 - ones)) / 527)
        parts.append(block(name, (tp, ones - tp, 527 - ones - tn, tn), (rest, 475 - rest)))
    table = naive_table(pd.concat(parts), **ASKED)
    naive, own = table.wide("naive"), table.wide("own")
    assert list(naive.columns) == [("Human", "mean"), ("Human", "sd"), ("m", "mean"), ("m", "sd")]
    for name, (_, mean, sd) in printed.items():
        for shown in (naive, own):
            assert shown.loc[name, "Human"].tolist() == pytest.approx([mean, sd], abs=0.005)
            assert round(float(shown.loc[name, ("Human", "sd")]), 3) == sd
        assert round(float(naive.loc[name, ("m", "sd")]), 3) == 0.016  # as all of Table 5.1
        # Table 5.3: consistent with humans, and no reduction of the sd to speak of.
        assert own.loc[name, ("m", "mean")] == pytest.approx(mean, abs=0.01)
        assert sd - 0.001 <= round(float(own.loc[name, ("m", "sd")]), 3) <= sd
    assert list(naive.index) == list(printed)


@pytest.mark.parametrize(
    ("change", "say"),
    [
        ({"rated": 500}, "500 ratings of each system were requested, but a has only 300"),
        ({"rated": 0}, "at least 1"),
        ({"rated": "m"}, "must hold 0 and 1"),
        ({"rated": "x"}, "unknown column 'x'"),
        ({"target": "world"}, "target must be one of process, pool"),
        ({"known": {"x": (0.7, 0.7)}}, "unknown metric 'x'"),
        ({"known": {"m": (0.3, 0.6)}}, "orientation -1"),
        ({"cuts": {"x": "> 1"}}, "unknown metric 'x'"),
    ],
)
def test_bad_input(change: dict[str, object], say: str) -> None:
    with pytest.raises(FewgoldError, match=say):
        naive_table(full(), **(FULL | change))  # type: ignore[arg-type]


def test_what_a_table_cannot_tell() -> None:
    table = naive_table(two(), **ASKED)
    with pytest.raises(FewgoldError, match="rated="):
        table.errors()
    with pytest.raises(FewgoldError, match="no estimates 'known'"):
        table.wide("known")
    unrated = two().assign(human=lambda f: f["human"].where(f["system"] == "a"))
    with pytest.raises(FewgoldError, match="no item of b is rated"):
        naive_table(unrated, **ASKED)
    alone = naive_table(two(), **(ASKED | {"system": None})).to_frame()
    assert alone["how"].tolist() == ["human", "naive", "own"]


@pytest.mark.skipif(data_folder() is None, reason="the real data are not here")
def test_on_real_data_only_own_rates_are_right() -> None:
    """The thesis's finding on other data: MQM = 0 with COMET on nine systems, 400 of 1418 rated."""
    errors = (
        naive_table(
            real_frame("wmt20_ende"), human="mqm", adequate="<= 0", metrics=["COMET"],
            system="system", rated=400, rng=1,
        )
        .errors()
        .set_index("how")
    )  # fmt: skip
    assert errors.loc["naive", "mean_error"] > 0.2
    assert errors.loc["own", "mean_error"] < 0.02
    assert errors.loc["transfer", "mean_error"] > 0.1
    # No reduction of the sd to speak of: K is below 0.1.
    assert 0.9 < errors.loc["own", "mean_sd"] / errors.loc["human", "mean_sd"] < 1.01
