"""The bootstrap by documents against plain loops, fits of known exponents, and errors."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq, minimize_scalar

from fewgold import Pool
from fewgold.common.text import plain_value as plain
from fewgold.datasets import demo_frame, load_demo
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.reliability import bootstrap as resample
from fewgold.reliability import reliability
from fewgold.reliability.bootstrap import rank_agreement
from fewgold.reliability.result import CubicFit, PowerFit, cubic_fit, power_fit
from reference import reliability as slow


def make_table(sizes=(3, 5, 2, 4, 6, 1), systems=3, seed=5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for k, size in enumerate(sizes):
        shift = rng.normal()
        for place in range(size):
            ease = rng.normal()
            for m in range(systems):
                score = 5 + shift + ease + 0.3 * m + rng.normal()
                rows.append((f"d{k}", f"d{k}-{place}", f"s{m}", score, 100 - score))
    return pd.DataFrame(rows, columns=["doc", "seg", "team", "human", "metric"])


NAMES = {"document": "doc", "system": "team", "segment": "seg"}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return make_table()


@pytest.mark.parametrize("what", ["segments", "documents"])
def test_equals_plain_loops(table: pd.DataFrame, what: str) -> None:
    draws, first = 40, 1 if what == "segments" else 2
    found = reliability(
        table, score=["human", "metric"], draws=draws, resample=what, rng=3, **NAMES
    )
    assert found.at.tolist() == list(range(first, 7))
    rng = np.random.default_rng(3).spawn(1)[0]
    full = table.groupby(["team"], sort=False)[["human", "metric"]].mean()
    for k, d in enumerate(found.at):
        part = table[table["doc"].isin([f"d{j}" for j in range(d)])]
        cells = [
            part.loc[part["team"] == team, score].tolist()
            for score in ("human", "metric")
            for team in ("s0", "s1", "s2")
        ]
        docs = part.loc[part["team"] == "s0", "doc"].tolist()
        if what == "segments":
            means = slow.segment_draws(cells, draws, rng)
        else:
            means = slow.document_draws(cells, docs, draws, rng)
        for c, values in enumerate(means):
            at = (c // 3, c % 3, 0, k)
            assert found.mean[at] == pytest.approx(slow.mean(values), rel=1e-12)
            assert found.sd[at] == pytest.approx(slow.sd(values), rel=1e-9)
            assert found.low[at] == pytest.approx(np.quantile(values, 0.025), rel=1e-12)
            assert found.high[at] == pytest.approx(np.quantile(values, 0.975), rel=1e-12)
            assert found.first[at] == pytest.approx(slow.mean(cells[c]), rel=1e-12)
        for s, score in enumerate(("human", "metric")):
            want = slow.ranking(means[3 * s : 3 * s + 3], full[score].tolist())
            got = found.tau[s, 0, k], found.pairs[s, 0, k], found.exact[s, 0, k]
            assert got == pytest.approx(want, abs=1e-12)
        assert found.segments[0, k] == len(docs)


def test_bootstrap_sd_is_that_of_all_samples() -> None:
    values = [0.0, 1.0, 5.0, 2.5]
    want = slow.every_bootstrap_sd(values)
    assert want == pytest.approx(np.std(values) / 2)  # which is known without drawing
    draws = 20_000
    means = resample.segment_means(np.array([values]), draws, np.random.default_rng(8))
    assert means.std() == pytest.approx(want, rel=5 / np.sqrt(2 * draws))


def test_draws_of_documents_have_an_unbiased_variance() -> None:
    """Documents of one size: d − 1 out of d gives s²/d, where d out of d gives (d − 1)/d of it."""
    totals = np.array([[3.0, 7.0, 4.0]])
    draws = 20_000
    means = resample.document_means(totals, np.array([2, 2, 2]), draws, np.random.default_rng(8))
    want = np.std(totals / 2, ddof=1) / np.sqrt(3)
    assert means.std() == pytest.approx(want, rel=5 / np.sqrt(2 * draws))
    alone = resample.document_means(totals[:, :1], np.array([2]), 5, np.random.default_rng(8))
    assert np.isnan(alone).all()


def test_pieces_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(1e9, 1, size=(2, 30))
    once = resample.segment_means(values, 50, np.random.default_rng(1))
    monkeypatch.setattr(resample, "_CELLS", 64)
    pieces = resample.segment_means(values, 50, np.random.default_rng(1))
    assert np.array_equal(once, pieces)
    assert once.std(0) == pytest.approx(values.std(1) / np.sqrt(30), rel=0.5)


def test_random_orders(table: pd.DataFrame) -> None:
    found = reliability(table, score="human", orders=4, draws=50, rng=1, **NAMES)
    again = reliability(table, score="human", orders=4, draws=50, rng=1, **NAMES)
    more = reliability(table, score="human", orders=6, draws=50, rng=1, **NAMES)
    assert np.array_equal(found.sd, again.sd)
    assert np.array_equal(found.sd, more.sd[:, :, :4])  # an order has a stream of its own
    sizes = found.data.sizes
    assert len(set(found.segments[:, 0])) > 1 and set(found.segments[:, 0]) <= set(sizes)
    assert (found.segments[:, -1] == sizes.sum()).all()
    assert found.first[0, :, :, -1] == pytest.approx(np.repeat(found.data.means.T, 4, 1))
    frame = found.to_frame()
    part = frame[frame["system"] == "s1"]
    assert part["order_sd"].to_numpy() == pytest.approx(found.first[0, 1].std(0, ddof=1))
    relative = found.sd[0, 1] / np.abs(found.mean[0, 1])
    assert part["relative_sd"].to_numpy() == pytest.approx(np.sqrt((relative**2).mean(0)))
    assert part["least"].to_numpy() == pytest.approx(relative.min(0))
    assert len(found.to_frame(by_order=True)) == 4 * len(frame)
    ranks = found.ranks()
    assert ranks["settled"].iloc[-1] == 1 and ranks["pairs"].iloc[-1] < 1


def test_systems_together_or_alone(table: pd.DataFrame) -> None:
    """The same draws for all systems: one alone gives the same figures as beside others."""
    both = reliability(table, score="human", draws=60, rng=2, **NAMES)
    one = table[table["team"] == "s2"]
    alone = reliability(one, score="human", document="doc", draws=60, rng=2)
    assert alone.sd[0, 0] == pytest.approx(both.sd[0, 2], rel=1e-12)
    with pytest.raises(DataError, match="two systems or more"):
        alone.ranks()


def test_rows_may_come_in_any_order(table: pd.DataFrame) -> None:
    mixed = table.sample(frac=1, random_state=1)
    want = reliability(table, score="human", draws=9, at=[6], rng=2, **NAMES)
    found = reliability(mixed, score="human", draws=9, at=[6], rng=2, **NAMES)
    order = [found.systems.index(name) for name in want.systems]
    assert found.data.means[0, order] == pytest.approx(want.data.means[0])
    assert found._effects.icc[0, order] == pytest.approx(want._effects.icc[0])
    by_place = reliability(table, score="human", draws=9, document="doc", system="team", rng=2)
    with_ids = reliability(table, score="human", draws=9, rng=2, **NAMES)
    assert np.array_equal(by_place.sd, with_ids.sd)


def test_pools_frames_and_arrays(table: pd.DataFrame) -> None:
    import polars

    want = reliability(table, score="metric", draws=20, rng=0, **NAMES)
    other = reliability(polars.from_pandas(table), score="metric", draws=20, rng=0, **NAMES)
    assert np.array_equal(want.sd, other.sd)
    pool, gold = load_demo("ende", rater="rater2")
    a = reliability(pool, score={"human": gold}, at=[1, 5, 20], draws=30, rng=0)
    assert a.systems == ("alpha",) and a.data.means[0, 0] == pytest.approx(gold.mean())
    b = reliability(pool, score="comet", at=[1, 5, 20], draws=30, rng=0)
    assert b.data.means[0, 0] == pytest.approx(pool.metrics["comet"].mean())
    with pytest.raises(DataError, match="has no documents"):
        reliability(Pool(ids=np.arange(3)), score={"x": [1, 2, 3]})


def test_numbers_of_documents() -> None:
    frame = demo_frame("ende")
    told = {"score": "bleu", "document": "document", "system": "system", "segment": "segment"}
    found = reliability(frame, draws=2, rng=0, **told)
    assert found.at.size == 30 and found.at[0] == 1 and found.at[-1] == 130
    assert (np.diff(found.at) > 0).all() and found.at[:9].tolist() == list(range(1, 10))
    assert reliability(frame, draws=2, at="all", rng=0, **told).at.size == 130
    assert reliability(frame, draws=2, at=[9, 3, 3], rng=0, **told).at.tolist() == [3, 9]
    for wrong in ([0], [131], [], [2.5]):
        with pytest.raises(FewgoldError, match="at must be"):
            reliability(frame, draws=2, at=wrong, **told)


@pytest.mark.parametrize(("b", "x_min"), [(1 / 2, 3.0), (1 / 3, 4.0), (1 / 4, 5.0), (1.0, 2.0)])
def test_known_exponents_give_the_x_min_of_table_2(b: float, x_min: float) -> None:
    """15 documents as in the paper, of sizes that make the standard deviation fall as d^(−b)."""
    sizes = slow.known_power_sizes(b, 15, first=60)
    rng = np.random.default_rng(11)
    table = pd.DataFrame(
        {"doc": np.repeat(np.arange(15), sizes), "score": rng.normal(0.7, 0.25, sum(sizes))}
    )
    found = reliability(table, score="score", document="doc", rng=4)
    fit = found.power()
    assert fit.b == pytest.approx(b, abs=0.06) and fit.r2 > 0.97
    assert fit.x_min() == pytest.approx(x_min, rel=0.12)
    a = 0.25 / 0.7 / np.sqrt(60)
    assert fit.x_max() == pytest.approx((a * b / 1e-4) ** (1 / (b + 1)), rel=0.1)


def test_x_min_does_not_see_the_noise() -> None:
    """Ten times the noise, the same x_min: only x_max moves."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=15 * 50)
    doc = np.repeat(np.arange(15), 50)
    quiet, loud = (
        reliability(
            pd.DataFrame({"doc": doc, "y": 100 + size * noise}), score="y", document="doc", rng=1
        ).power()
        for size in (1, 10)
    )
    assert loud.x_min() == pytest.approx(quiet.x_min(), rel=0.01)
    assert loud.x_max() > 4 * quiet.x_max()


def test_formulas_against_their_meaning() -> None:
    fit = PowerFit(a=0.08, b=0.41)
    for x_i in (1.0, 2.5):
        tangent = lambda x, at=x_i: fit(at) + fit.slope(at) * (x - at)  # noqa: E731
        assert fit.x_min(x_i) == pytest.approx(brentq(tangent, 1, 1000))
    assert fit.slope(fit.x_max(1e-3)) == pytest.approx(-1e-3)
    step = 1e-6
    assert fit.slope(3.0) == pytest.approx((fit(3 + step) - fit(3 - step)) / (2 * step), rel=1e-6)
    for cubic in (
        CubicFit(a=5.0, b=-1.0, c=0.07, d=-0.0011),
        CubicFit(a=5.0, b=-1.0, c=0.02, d=0.0015),
        CubicFit(a=1.0, b=0.6, c=-0.6, d=0.1),
        CubicFit(a=5.0, b=-1.0, c=0.05, d=0.0),
    ):
        lowest = minimize_scalar(cubic, bounds=(0.5, 12), method="bounded").x
        assert cubic.x_max() == pytest.approx(lowest, abs=1e-3)
        assert cubic.slope(cubic.x_max()) == pytest.approx(0, abs=1e-12)
    tangent = lambda x: cubic(1.0) + cubic.slope(1.0) * (x - 1)  # noqa: E731
    assert cubic.x_min() == pytest.approx(brentq(tangent, 1, 1000))


def test_no_fit_no_number() -> None:
    assert np.isnan(PowerFit(1.0, -0.2).x_min()) and np.isnan(PowerFit(1.0, -0.2).x_max())
    assert np.isnan(CubicFit(1.0, 1.0, 0.0, 1.0).x_max())  # rises everywhere
    assert np.isnan(CubicFit(1.0, 1.0, 0.0, 1.0).x_min())
    assert np.isnan(CubicFit(1.0, -1.0, -1.0, 0.0).x_max())  # falls without end
    assert np.isnan(CubicFit(1.0, 2.0, 1.0, 0.0).x_max())  # lowest left of 0
    assert np.isnan(power_fit([1, 2], [1.0, 0.5]).b)
    assert np.isnan(cubic_fit([1, 2, 3, 4], [1.0, 0.5, 0.3, 0.2]).a)
    kept = power_fit([1, 2, 4, 8, 16], [np.nan, 1.0, 0.0, 0.25, 0.125])
    assert kept.b == pytest.approx(1.0)


def test_fits_against_numpy() -> None:
    rng = np.random.default_rng(2)
    x = np.arange(1, 16)
    y = 0.1 * x**-0.45 * np.exp(rng.normal(0, 0.05, 15))
    slope, start = np.polyfit(np.log(x), np.log(y), 1)
    fit = power_fit(x, y)
    assert (fit.b, fit.a) == pytest.approx((-slope, np.exp(start)))
    assert fit.r2 == pytest.approx(np.corrcoef(np.log(x), np.log(y))[0, 1] ** 2)
    cubic = cubic_fit(x, y)
    assert [cubic.d, cubic.c, cubic.b, cubic.a] == pytest.approx(np.polyfit(x, y, 3).tolist())
    residual = y - np.polyval(np.polyfit(x, y, 3), x)
    assert cubic.r2 == pytest.approx(1 - residual.var() / y.var())


def test_fits_of_a_study(table: pd.DataFrame) -> None:
    found = reliability(table, score="human", orders=8, draws=100, rng=0, x_i=2.0, **NAMES)
    fits = found.fits()
    row = fits[(fits["system"] == "s1") & (fits["kind"] == "power")].iloc[0]
    fit = power_fit(found.at, found._curve(0, 1))
    assert (row["a"], row["b"], row["r2"]) == (fit.a, fit.b, fit.r2)
    assert row["x_min"] == fit.x_min(2.0) and row["x_max"] == fit.x_max(1e-4)
    assert row["x_min_low"] <= row["x_min_high"]
    other = found.fits(x_i=1.0, epsilon=1e-3)
    assert other["x_min"].iloc[0] == pytest.approx(fits["x_min"].iloc[0] / 2)
    assert other["x_max"].iloc[0] < fits["x_max"].iloc[0]
    assert (fits.groupby("system")["better"].sum() == 1).all()


def test_ties_in_rankings() -> None:
    full = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 3.0]])
    draws = np.array([[[5.0, 4.0, 5.0], [1.0, 2.0, 3.0]], [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]])
    found = rank_agreement(draws, full)
    # First draw: pairs (0, 2) tied and (1, 2) in order: 3/4. Second: both tied, 1/2.
    assert found.pairs[0] == pytest.approx((0.75 + 0.5) / 2)
    assert found.tau[0] == pytest.approx((1 / 2 + 0) / 2)
    assert found.exact[0] == 0
    assert np.isnan(found.pairs[1]) and np.isnan(found.tau[1]) and np.isnan(found.exact[1])


def test_a_first_document_without_errors() -> None:
    table = pd.DataFrame({"doc": list("aabbccddee"), "y": [0, 0, 1, 3, 2, 0, 4, 1, 0, 2]})
    found = reliability(table, score="y", document="doc", draws=200, rng=0)
    assert np.isnan(found._spread[0, 0, 0, 0]) and np.isfinite(found.power().b)
    assert found.sd[0, 0, 0, 0] == 0
    assert "Relative sd with 1, 2 and 5 documents" in found.summary()


def test_results_go_anywhere(table: pd.DataFrame) -> None:
    found = reliability(table, score="human", orders=2, draws=30, rng=0, **NAMES)
    record = json.loads(json.dumps(plain(found.to_dict())))
    assert record["documents"] == 6 and record["orders"] == 2 and len(record["curves"]) == 18
    assert {row["kind"] for row in record["fits"]} == {"power", "cubic"}
    copy = pickle.loads(pickle.dumps(found))
    assert np.array_equal(copy.sd, found.sd)
    with pytest.raises(AttributeError):
        found.draws = 3  # type: ignore[misc]
    text = found.summary()
    assert "6 documents, 21 segments, 2 random orders, 30 draws of segments" in text
    assert "depends only on the exponent" in text and "final order" in text
    assert max(map(len, text.splitlines())) <= 80
    assert repr(found).startswith("Reliability(1 score, 3 systems, 6 documents, 2 random orders")


def test_means_near_nought(table: pd.DataFrame) -> None:
    centred = table.assign(human=table["human"] - table.groupby("team")["human"].transform("mean"))
    with pytest.raises(DataError, match=r"is 0 on average.*relative=False"):
        reliability(centred, score="human", draws=5, **NAMES)
    found = reliability(centred, score="human", draws=50, relative=False, rng=0, **NAMES)
    same = reliability(table, score="human", draws=50, relative=False, rng=0, **NAMES)
    assert found.sd == pytest.approx(same.sd, rel=1e-9)
    near = centred.assign(human=centred["human"] + 1e-3)
    assert "near 0" in reliability(near, score="human", draws=50, rng=0, **NAMES).summary()


def test_gaps(table: pd.DataFrame) -> None:
    holes = table.copy()
    holes.loc[[0, 4, 9], "human"] = np.nan
    with pytest.raises(DataError, match=r"'human' 3 of 21.*gaps='drop'"):
        reliability(holes, score="human", draws=5, **NAMES)
    found = reliability(holes, score="human", draws=5, gaps="drop", **NAMES)
    assert found.data.left_out == 3 and found.data.sizes.sum() == 18
    assert "3 segments lacking a score left out" in found.summary()
    lost = table.drop(index=5)
    with pytest.raises(DataError, match="Name the column of segment ids"):
        reliability(lost, score="human", document="doc", system="team", draws=5)
    assert reliability(lost, score="human", draws=5, gaps="drop", **NAMES).data.left_out == 1


@pytest.mark.parametrize(
    ("change", "told", "error", "say"),
    [
        ({}, {"score": "humn"}, UnknownNameError, "Did you mean 'human'"),
        ({}, {"document": "page"}, UnknownNameError, "unknown column 'page'"),
        ({}, {"system": "who"}, UnknownNameError, "unknown column 'who'"),
        ({}, {"score": []}, DataError, "at least one score"),
        ({}, {"score": "seg"}, DataError, "must hold numbers; got 'd0-0' in row 0"),
        ({}, {"document": None}, DataError, "computed over documents"),
        ({}, {"system": None}, DataError, "repeat a segment.*column of systems"),
        ({}, {"orders": "random"}, FewgoldError, "'file' or a number"),
        ({}, {"orders": 0}, FewgoldError, "at least 1"),
        ({}, {"draws": 1}, FewgoldError, "draws must be"),
        ({}, {"resample": "words"}, FewgoldError, "segments, documents"),
        ({}, {"gaps": "fill"}, FewgoldError, "error, drop"),
        ({}, {"epsilon": 0}, FewgoldError, "above 0"),
        ({"doc": "x"}, {}, DataError, "at least two documents; got 1 with 21 segments"),
        ({"doc": ""}, {}, DataError, "is empty in 63 rows"),
        ({"human": np.inf}, {}, DataError, "infinite"),
        ({"human": np.nan}, {"gaps": "drop"}, DataError, "at least two segments.*got 0"),
    ],
)
def test_what_is_wrong(table: pd.DataFrame, change, told, error, say: str) -> None:
    asked = {"score": "human", "draws": 5, **NAMES, **told}
    with pytest.raises(error, match=f"(?s){say}"):
        reliability(table.assign(**change), **asked)


def test_one_segment() -> None:
    with pytest.raises(DataError, match=r"at least two segments.*got 1"):
        reliability(pd.DataFrame({"doc": ["a"], "y": [1.0]}), score="y", document="doc")
    with pytest.raises(DataError, match="expected a dataframe or a Pool; got dict"):
        reliability({"doc": ["a"]}, score="y", document="doc")


def test_documents_of_one_segment() -> None:
    """One segment has no spread, exactly, whatever rounding does; fits leave it out."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"doc": np.arange(25), "y": rng.normal(0.1, 1, 25) + 1e6})
    draws = 4000
    found = reliability(table, score="y", document="doc", draws=draws, rng=0)
    assert found.sd[0, 0, 0, 0] == 0
    d = np.arange(2, 26)
    ideal = [table["y"].iloc[:k].std(ddof=0) / np.sqrt(k) for k in d]  # of all n^n samples
    assert found.sd[0, 0, 0, 1:] == pytest.approx(ideal, rel=5 / np.sqrt(2 * draws))
    assert found.power().b == pytest.approx(power_fit(d, ideal).b, abs=0.02)
    same = pd.DataFrame({"doc": np.repeat(np.arange(6), 3), "y": 0.1})
    flat = reliability(same, score="y", document="doc", draws=50, rng=0)
    assert (flat.sd == 0).all() and flat.mean == pytest.approx(0.1, rel=1e-15)
    assert np.isnan(flat.power().b) and "–" in flat.summary()


def test_rounding_is_a_tie() -> None:
    """1 − 1/3 is 2/3 for people: what differs in the last digit has no order."""
    full = np.array([[0.1 + 0.2, 0.3, 0.1]])
    assert full[0, 0] != full[0, 1]
    found = rank_agreement(np.array([[[0.3, 0.1 + 0.2, 0.0]]]), full)
    assert found.pairs[0] == 1 and found.exact[0] == 1
