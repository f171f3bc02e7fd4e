"""Systems compared within slices: each as by itself, corrected together, and honest where few."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fewgold.comparison import compare, compare_by, compare_samples, joint_pool
from fewgold.datasets import demo_frame, load_demo
from fewgold.errors import DataError, UnknownNameError
from fewgold.pool import Pool
from fewgold.samplers import ByDocument, SimpleRandom, Stratified

RATERS = [f"rater{k}" for k in range(1, 7)]
OPTIONS = {"human": "rater1", "system": "system", "id": "segment", "limits": "mqm"}


def table(rated: int = 240) -> pd.DataFrame:
    found = demo_frame("ende")
    found = found[found["system"].isin(["alpha", "beta", "human"])].reset_index(drop=True)
    found["part"] = found["document"].str[-1].map(lambda c: "a" if c in "01234" else "b")
    found["rater1"] = found[RATERS].mean(axis=1)
    lot = np.random.default_rng(1).permutation(found["segment"].unique())[:rated]
    found["rater1"] = found["rater1"].where(found["segment"].isin(lot))
    return found


def test_each_slice_is_compared_as_by_itself() -> None:
    frame = table()
    found = compare_by(frame, "part", **OPTIONS)
    assert sum(found.sizes.values()) == frame["segment"].nunique()
    assert sum(found.rated.values()) == 240
    for name in ("a", "b"):
        alone = compare(frame[frame["part"] == name], **OPTIONS, higher_is_better=False)
        assert np.array_equal(found[name].pairs.value, alone.pairs.value)
        assert np.array_equal(found[name].pairs.se, alone.pairs.se)
    order = found.whole.ranking()["system"].tolist()
    told = found.differences()
    assert all(order.index(r.first) < order.index(r.second) for r in told.itertuples())
    # Corrected for all pairs in all slices: Holm's largest factor is their number.
    worst = told.sort_values("p").iloc[0]
    assert worst["p_adjusted"] == pytest.approx(min(1, worst["p"] * len(told)))
    part = found["a"].differences().set_index(["first", "second"])
    mine = told[told["slice"] == "a"]
    for row in mine.itertuples():
        same = (row.first, row.second) in part.index
        other = part.loc[(row.first, row.second) if same else (row.second, row.first)]
        assert row.difference == (1 if same else -1) * other["difference"]
        assert row.low <= row.difference <= row.high
        assert row.high - row.low == pytest.approx(other["high"] - other["low"])


def test_a_drawn_sample_keeps_its_weights_in_slices() -> None:
    frame = demo_frame("ende")
    frame = frame[frame["system"].isin(["alpha", "beta"])].reset_index(drop=True)
    frame["part"] = frame["document"].str[-1].map(lambda c: "a" if c in "01234" else "b")
    pool = joint_pool(frame, id="segment", system="system", metrics=["comet"], document="document")
    sample = Stratified(ByDocument()).draw(pool, 300, rng=1)
    drawn = frame["segment"].isin(set(sample.ids.tolist()))
    frame["rater1"] = frame[RATERS].mean(axis=1)
    frame["rater1"] = frame["rater1"].where(drawn)
    found = compare_by(frame, "part", **OPTIONS, sample=sample)
    weight = dict(zip(sample.ids.tolist(), sample.design.weights.tolist(), strict=True))
    for name in ("a", "b"):
        own = frame[(frame["part"] == name) & drawn]
        wide = own.pivot(index="segment", columns="system", values="rater1")
        w = np.array([weight[i] for i in wide.index])
        gap = float(w @ (wide["alpha"] - wide["beta"]).to_numpy() / w.sum())
        (row,) = found.differences().query("slice == @name").itertuples()
        sign = 1 if row.first == "alpha" else -1
        assert sign * row.difference == pytest.approx(gap)


def test_samples_of_their_own_are_cut_by_their_pools() -> None:
    pool, gold = load_demo("ende")
    long = np.where(pool.metrics["words"] > 22, "long", "short")
    pool = Pool(ids=pool.ids, metrics=pool.metrics, texts={"length": long})
    samples = {}
    for k, name in enumerate(("old", "new")):
        sample = SimpleRandom().draw(pool, 150, rng=k)
        samples[name] = sample.rate(gold[sample.indices] + (name == "new"), limits="mqm")
    found = compare_by(samples, "length", higher_is_better=False)
    assert set(found.parts) == {"long", "short"} and sum(found.rated.values()) == 300
    assert found.sizes == {k: 2 * int((long == k).sum()) for k in ("long", "short")}
    (row,) = found["short"].differences().itertuples()
    assert (row.first, row.second) == ("old", "new") and row.difference < 0
    whole = compare_samples(samples, higher_is_better=False)
    assert np.array_equal(found.whole.pairs.value, whole.pairs.value)


def test_small_slices_say_so() -> None:
    frame = table(30)
    few = frame["segment"].isin(frame.loc[frame["rater1"].notna(), "segment"].unique()[:4])
    frame["part"] = np.where(few, "tiny", frame["part"])
    frame.loc[frame["segment"] == frame["segment"].iloc[0], "part"] = None
    found = compare_by(frame, "part", **OPTIONS)
    assert found.parts["(empty)"] is None and "too few" in found.why["(empty)"]
    assert "too few" in found.summary()
    with pytest.raises(DataError, match=r"no comparison: .* too few"):
        found["(empty)"]
    with pytest.raises(UnknownNameError, match="'none'"):
        found["none"]


def test_what_cannot_be_a_slice_is_refused() -> None:
    frame = table()
    with pytest.raises(UnknownNameError, match="language"):
        compare_by(frame, "language", **OPTIONS)
    with pytest.raises(DataError, match="is in two slices by system"):
        compare_by(frame, "system", **OPTIONS)


def test_it_is_shown_and_written(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    found = compare_by(table(), "part", **OPTIONS)
    assert "<table" in found._repr_html_() and "|by:part#" in found.signature()
    assert set(found.to_dict()["slices"][0]) == {"slice", "size", "rated", "enough"}
    assert len(found.scores()) == 6
    names = {path.name for path in found.save(tmp_path)}
    assert names == {"slices.csv", "slices.png", "slices.svg", "slices.pdf"}
