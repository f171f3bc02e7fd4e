"""``compare`` and its result: targets, units, gaps, directions, errors."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fewgold.common.text import plain_frame
from fewgold.comparison import compare, compare_samples, joint_pool
from fewgold.comparison.designs import plain_design
from fewgold.comparison.result import needed_line
from fewgold.datasets import demo_frame
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.estimators import Ridge
from fewgold.pool import Pool
from fewgold.registry import sampler
from fewgold.sample import Ratings, Sample
from fewgold.samplers import SimpleRandom
from tests.reference import comparison as reference

ROLES = {"human": "score", "system": "system", "id": "seg"}


def table(systems=3, n=60, rated=25, seed=0, documents=6):
    """Scores of systems on the first ``rated`` segments, a metric on all; a is best."""
    rng = np.random.default_rng(seed)
    level = rng.gamma(1, 2, n)
    rows = []
    for k in range(n):
        for s in range(systems):
            error = rng.normal()
            score = level[k] + s + error
            rows.append(
                (f"s{k:03d}", "abcdef"[s], f"d{k * documents // n}", 0.5 * error + rng.normal(),
                 score if k < rated else np.nan)
            )  # fmt: skip
    return pd.DataFrame(rows, columns=["seg", "system", "doc", "comet", "score"])


def wide(frame):
    return frame.pivot(index="system", columns="seg", values="score").to_numpy()


def test_differences_of_a_simple_random_sample() -> None:
    frame = table()
    result = compare(frame, higher_is_better=False, **ROLES)
    y = wide(frame)[:, :25]
    d = y[0] - y[1]
    se = d.std(ddof=1) / 5 * np.sqrt(1 - 25 / 60)
    row = result.differences().set_index(["first", "second"]).loc[("a", "b")]
    assert row["difference"] == pytest.approx(d.mean())
    assert row["se"] == pytest.approx(se)
    half = stats.t.ppf(0.975, 24) * se
    assert (row["low"], row["high"]) == pytest.approx((d.mean() - half, d.mean() + half))
    assert row["p_better"] == pytest.approx(stats.t.cdf(-d.mean() / se, 24))
    assert row["n"] == 25
    factor = (y[0].var(ddof=1) + y[1].var(ddof=1)) / d.var(ddof=1)
    assert row["apart"] == pytest.approx(factor)
    assert any("simple random sample" in note for note in result.notes)


def test_frames_agree_with_each_other() -> None:
    result = compare(table(5, 80, 40, 3), higher_is_better=False, **ROLES)
    ranking, chance = result.ranking(), result.rank_probabilities()
    assert ranking["system"].tolist() == result.scores()["system"].tolist() == list(chance.index)
    assert ranking["system"].iloc[0] == "a"
    np.testing.assert_allclose(ranking["p_best"], chance[1])
    assert ranking["advantage"].is_monotonic_decreasing
    assert (
        (ranking["rank_low"] <= ranking["rank"]) & (ranking["rank"] <= ranking["rank_high"])
    ).all()
    pairs = result.differences()
    assert len(pairs) == 10
    assert (pairs["p_better"] >= 0.5).all()
    assert (pairs["difference"] <= 0).all()
    assert ranking["wins"].sum() == ranking["losses"].sum() == pairs["significant"].sum()


def test_turned_scores_give_the_same_ranking() -> None:
    frame = table(4, 80, 40, 5)
    down = compare(frame, higher_is_better=False, **ROLES)
    up = compare(frame.assign(score=-3 * frame["score"]), higher_is_better=True, **ROLES)
    assert down.ranking()["system"].tolist() == up.ranking()["system"].tolist()
    np.testing.assert_allclose(down.differences()["p"], up.differences()["p"])
    np.testing.assert_allclose(
        -3 * down.differences()["difference"], up.differences()["difference"]
    )


def test_the_order_of_rows_does_not_matter() -> None:
    frame = table(4, 50, 30)
    once = compare(frame, metrics=["comet"], higher_is_better=False, **ROLES)
    again = compare(
        frame.sample(frac=1, random_state=1), metrics=["comet"], higher_is_better=False, **ROLES
    )
    pd.testing.assert_frame_equal(once.differences(), again.differences())
    pd.testing.assert_frame_equal(once.scores(), again.scores())


def test_all_rated_speaks_of_new_text_and_of_documents() -> None:
    frame = table(2, 60, 60)
    plain = compare(frame, **ROLES)
    told = stats.ttest_rel(*wide(frame))
    assert plain.differences()["p"].iloc[0] == pytest.approx(told.pvalue)
    assert plain.facts["target"] == "process"
    by = compare(frame, document="doc", **ROLES)
    means = pd.DataFrame({"d": wide(frame)[0] - wide(frame)[1], "doc": np.arange(60) // 10})
    told = stats.ttest_1samp(means.groupby("doc")["d"].mean(), 0)
    assert by.facts["unit"] == "document"
    assert by.differences()["p"].iloc[0] == pytest.approx(told.pvalue)
    exact = compare(frame, target="pool", **ROLES)
    assert exact.differences()["se"].iloc[0] == 0
    assert exact.differences()["significant"].iloc[0]


def test_documents_rated_as_a_whole_are_the_unit() -> None:
    frame = table(2, 60, 30)  # three of six documents
    result = compare(frame, document="doc", higher_is_better=False, **ROLES)
    assert result.facts["unit"] == "document"
    d = (wide(frame)[0] - wide(frame)[1])[:30].reshape(3, 10).mean(1)
    row = result.differences().iloc[0]
    assert row["se"] == pytest.approx(d.std(ddof=1) / np.sqrt(3) * np.sqrt(1 - 1 / 2))
    assert row["df"] == pytest.approx(2)
    assert compare(frame, document="doc", unit="segment", **ROLES).differences()["df"].iloc[0] == 29


def test_separate_segments_are_compared_by_welch() -> None:
    frame = table(2, 60, 60)
    odd = frame["seg"].str[-1].astype(int) % 2 == 1
    frame["score"] = frame["score"].where(odd == (frame["system"] == "b"))
    result = compare(frame, target="process", higher_is_better=False, **ROLES)
    y = wide(frame)
    told = stats.ttest_ind(y[0][::2], y[1][1::2], equal_var=False)
    row = result.differences().iloc[0]
    assert row["p"] == pytest.approx(told.pvalue)
    assert row["df"] == pytest.approx(told.df)
    assert row["basis"] == "separate"
    assert any("1/2 to 1/5 of the variance" in note for note in result.notes)


def test_gaps_leave_the_shared_segments() -> None:
    frame = table(3, 60, 40)
    lost = (frame["system"] == "c") & frame["seg"].isin([f"s{k:03d}" for k in range(5)])
    frame["score"] = frame["score"].mask(lost)
    result = compare(frame, higher_is_better=False, **ROLES)
    pairs = result.differences().set_index(["first", "second"])
    assert pairs["n"].to_dict() == {("a", "b"): 40, ("a", "c"): 35, ("b", "c"): 35}
    y = wide(frame)
    d = (y[0] - y[2])[5:40]
    assert pairs.loc[("a", "c"), "difference"] == pytest.approx(d.mean())
    assert pairs.loc[("a", "c"), "se"] == pytest.approx(
        d.std(ddof=1) / np.sqrt(35) * np.sqrt(1 - 35 / 60)
    )
    assert (pairs["basis"] == "shared").all()
    assert any("as if the others were missing at random" in note for note in result.notes)


def test_few_shared_among_many_are_not_enough() -> None:
    frame = table(2, 200, 200)
    k = frame["seg"].str[1:].astype(int)
    keep = np.where(frame["system"] == "a", k < 112, k >= 100)
    frame["score"] = frame["score"].where(keep)
    result = compare(frame, target="process", higher_is_better=False, **ROLES)
    assert result.differences()["n"].iloc[0] == 12
    row = result.differences().iloc[0]
    assert row["basis"] == "partly"
    y = wide(frame)
    a, b = y[0][:112], y[1][100:]
    covariance = np.sum((a[100:] - a.mean()) * (b[:12] - b.mean())) / (111 * 99) ** 0.5
    covariance *= (112 * 100) ** 0.5 / (112 * 100)
    variance = a.var(ddof=1) / 112 + b.var(ddof=1) / 100 - 2 * covariance
    assert row["difference"] == pytest.approx(a.mean() - b.mean())
    assert row["se"] == pytest.approx(np.sqrt(variance))
    assert any("judging by the shared segments" in note for note in result.notes)
    assert any(note.startswith("a and b (12 segments rated for both) are") for note in result.notes)


def test_separate_ratings_without_spread_are_unknown() -> None:
    frame = table(2, 40, 40)
    odd = frame["seg"].str[-1].astype(int) % 2 == 1
    frame["score"] = frame["score"].clip(0, 25).where(odd == (frame["system"] == "b"))
    frame.loc[frame["system"] == "a", "score"] *= 0
    row = compare(frame, target="pool", higher_is_better=False, **ROLES).differences().iloc[0]
    assert row["p"] == 1
    assert np.isinf(row["high"])
    ended = compare(frame, target="pool", higher_is_better=False, limits="mqm", **ROLES)
    assert np.isfinite(ended.differences()["high"].iloc[0])


@pytest.mark.parametrize("name", ["random", "docs-prop", "docs-balanced", "docs-whole"])
def test_a_drawn_sample_brings_its_design(name: str) -> None:
    frame = table(3, 120, 120, documents=12)
    pool = joint_pool(frame, id="seg", system="system", document="doc", metrics=["comet"])
    sample = sampler(name).draw(pool, 40, rng=1)
    frame["score"] = frame["score"].where(frame["seg"].isin(sample.ids))
    result = compare(
        frame, document="doc", metrics=["comet"], sample=sample, control="never",
        higher_is_better=False, **ROLES,
    )  # fmt: skip
    y = wide(frame)[:, sample.indices]
    # A difference is a column of its own, also for the working model of documents.
    difference, variance = sample.design.moments(y[:1] - y[2:])
    row = result.differences().set_index(["first", "second"]).loc[("a", "c")]
    assert row["difference"] == pytest.approx(difference[0])
    assert row["se"] == pytest.approx(np.sqrt(variance[0, 0]))
    assert not any("simple random" in note for note in result.notes)
    assert result.facts["unit"] == ("document" if name == "docs-whole" else "segment")


def test_a_top_up_has_the_design_of_both_waves() -> None:
    frame = table(2, 100, 100)
    pool = joint_pool(frame, id="seg", system="system")
    first = sampler("random").draw(pool, 20, rng=1)
    more = sampler("random").draw(pool, 20, given=first.rate(np.zeros(20)), rng=2)
    both = [*first.ids, *more.ids]
    frame["score"] = frame["score"].where(frame["seg"].isin(both))
    result = compare(frame, sample=more, higher_is_better=False, **ROLES)
    assert result.facts["n"] == 40
    assert result.differences()["n"].iloc[0] == 40


def test_metrics_help_only_where_they_do() -> None:
    frame = table(3, 300, 100, 4)
    helped = compare(frame, metrics=["comet"], higher_is_better=False, **ROLES)
    plain = compare(frame, metrics=["comet"], control="never", higher_is_better=False, **ROLES)
    assert helped.pairs.gain > 0.1
    assert (helped.differences()["se"] < plain.differences()["se"]).all()
    useless = frame.assign(comet=np.random.default_rng(0).random(len(frame)))
    left = compare(useless, metrics=["comet"], higher_is_better=False, **ROLES)
    assert left.pairs.gain == 0
    assert any("did not reduce" in note for note in left.notes)
    gaps = frame.assign(comet=frame["comet"].mask(frame["seg"] == "s299"))
    short = compare(gaps, metrics=["comet"], higher_is_better=False, **ROLES)
    told = "metric 'comet' has no value for 3 of 900 outputs and was not used for those systems"
    assert told in short.notes
    pd.testing.assert_frame_equal(short.differences(), plain.differences())


@pytest.mark.parametrize(
    ("name", "sign", "metric", "higher"),
    [
        ("mqm", 1, None, False),
        ("mqm", -1, None, True),
        ("errors", 1, None, False),
        ("score", 1, "comet", True),
        ("score", -1, "comet", False),
        ("score", 1, None, True),
        ("score", -1, None, True),
    ],
)
def test_direction(name: str, sign: int, metric: str | None, higher: bool) -> None:
    frame = table(2, 60, 60).rename(columns={"score": name})
    frame[name] = sign * frame[name].clip(0.1)
    metrics = () if metric is None else [metric]
    if metric is not None:
        frame["comet"] = frame[name] * (1 if higher else -1)
    result = compare(frame, human=name, system="system", id="seg", metrics=metrics)
    assert result.higher_is_better is higher
    assert "better" in result.notes[0]


def test_the_scale_tells_the_direction() -> None:
    frame = table(2, 60, 60)
    frame["score"] = frame["score"].clip(0, 25)
    assert not compare(frame, limits="mqm", **ROLES).higher_is_better
    assert compare(frame, limits="da", **ROLES).higher_is_better


def test_correction_and_level() -> None:
    frame = table(4, 60, 25, 8)
    found = {
        c: compare(frame, correction=c, higher_is_better=False, **ROLES).differences()["p_adjusted"]
        for c in ("none", "fdr", "holm")
    }
    assert (found["none"] <= found["fdr"] + 1e-15).all()
    assert (found["fdr"] <= found["holm"] + 1e-15).all()
    wide99 = compare(frame, level=0.01, higher_is_better=False, **ROLES).differences()
    wide95 = compare(frame, higher_is_better=False, **ROLES).differences()
    assert (wide99["low"] < wide95["low"]).all()


def test_equal_differences_need_limits() -> None:
    frame = table(3, 60, 25)
    a = frame.loc[frame["system"] == "a", "score"].to_numpy()
    frame.loc[frame["system"] == "b", "score"] = a
    open_ended = compare(frame, higher_is_better=False, **ROLES)
    assert any("give the limits" in note for note in open_ended.remarks)
    row = open_ended.differences().set_index(["first", "second"]).loc[("a", "b")]
    assert row["p"] == 1
    assert np.isinf(row["high"])
    frame["score"] = frame["score"].clip(0, 25)
    ended = compare(frame, higher_is_better=False, limits="mqm", **ROLES)
    row = ended.differences().set_index(["first", "second"]).loc[("a", "b")]
    assert 0 < row["high"] < 25
    assert json.loads(json.dumps(open_ended.to_dict(), allow_nan=False))["differences"]


def test_record_text_and_plots(tmp_path) -> None:
    table_ = demo_frame("ende")
    raters = [f"rater{k}" for k in range(1, 7)]
    some = table_["segment"].isin(table_["segment"].unique()[::13])
    table_[raters] = table_[raters].where(some)
    result = compare(
        table_, human=raters, system="system", id="segment", metrics=["comet"], limits=(0, 25)
    )
    record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert record["raters"]["alpha"] == pytest.approx(result.people.alpha)
    assert record["systems"] == 5
    assert "human" in result.summary()
    assert repr(result) == "Comparison(5 systems on 110 of 1418 segments)"
    pytest.importorskip("matplotlib")
    written = {p.name for p in result.save(tmp_path / "out")}
    assert {"forest.png", "differences.png", "ranks.png", "raters.csv"} <= written
    with pytest.raises(FewgoldError, match="kind must be one of"):
        result.plot("pie")


def test_other_dataframes() -> None:
    pl = pytest.importorskip("polars")
    frame = table()
    found = compare(pl.from_pandas(frame), higher_is_better=False, **ROLES)
    told = compare(frame, higher_is_better=False, **ROLES)
    pd.testing.assert_frame_equal(found.differences(), told.differences())


def broken(**changes):
    frame = table(2, 20, 10)
    return frame.assign(**changes) if changes else frame


@pytest.mark.parametrize(
    ("frame", "more", "sentence"),
    [
        (table(1), {}, "one system only, 'a'"),
        (broken(), {"id": "segment"}, "unknown column 'segment'"),
        (broken(), {"id": "score"}, "used for two roles"),
        (pd.concat([broken(), broken()]), {}, "s000 has more than one row for the system a"),
        (broken(score=["x"] * 40), {}, "have no number in column 'score'"),
        (broken(score=["3,5", "3.5"] * 20), {}, "decimal comma"),
        (broken(score=["1,234"] * 40), {}, "a comma may mean thousands"),
        (broken(score=np.nan), {}, "no row has a score"),
        (broken(comet="high"), {"metrics": ["comet"]}, "metric 'comet' must hold numbers"),
        (broken(doc=range(40)), {"document": "doc"}, "is in two documents"),
        (broken(system=None), {}, "'system' has empty cells"),
        (broken(), {"unit": "document"}, "documents are unknown"),
        (broken(doc="d"), {"unit": "document", "document": "doc"}, "are in one document"),
        (broken(), {"limits": (0, 1)}, "lie outside the scale 0 to 1"),
        (broken(), {"target": "all"}, "target must be one of"),
        (broken(), {"correction": "bonferroni"}, "correction must be one of"),
        (broken(), {"level": 0}, "must lie between 0 and 1"),
        (broken(), {"orientation": {"ter": -1}}, "unknown metric in orientation"),
        (table(2, 20, 1), {}, "has 1 rated segment; at least two are needed"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(frame, more, sentence) -> None:
    with pytest.raises(FewgoldError, match=sentence):
        compare(frame, **{**ROLES, **more})


def test_samples_that_do_not_fit() -> None:
    frame = table(2, 40, 40)
    pool = joint_pool(frame, id="seg", system="system")
    sample = sampler("random").draw(pool, 20, rng=1)
    with pytest.raises(DataError, match="20 rated segments are not in the sample"):
        compare(frame, sample=sample, **ROLES)
    with pytest.raises(DataError, match="drawn from 40 segments, and the table has"):
        compare(frame[frame["seg"].isin(sample.ids)], sample=sample, **ROLES)
    with pytest.raises(DataError, match="From a batch of draws give one"):
        compare(frame, sample=sampler("random").draw(pool, 20, draws=2, rng=1), **ROLES)
    with pytest.raises(DataError, match="dataframe"):
        compare("table.csv", **ROLES)


def test_joint_pool() -> None:
    frame = table(3, 20, 0).assign(seconds=2.0, source=lambda f: "text " + f["seg"])
    pool = joint_pool(
        frame, id="seg", system="system", document="doc", metrics="comet", cost="seconds",
        texts="source",
    )  # fmt: skip
    mean = frame.groupby("seg")["comet"].mean().to_numpy()
    np.testing.assert_allclose(pool.metrics["comet"], mean)
    assert pool.orientation["comet"] == 1
    assert (pool.cost == 6).all()
    assert pool.texts["source"][3] == "text s003"
    apart = joint_pool(frame, id="seg", system="system", metrics=["comet"], per_system=True)
    assert list(apart.metrics) == ["comet:a", "comet:b", "comet:c"]
    assert apart.orientation["comet:b"] == 1
    with pytest.raises(DataError, match="'comet' has 3 gaps"):
        joint_pool(
            frame.assign(comet=frame["comet"].mask(frame["seg"] == "s004")),
            id="seg", system="system", metrics="comet",
        )  # fmt: skip
    with pytest.raises(DataError, match="differs between systems"):
        joint_pool(frame.assign(source=range(60)), id="seg", system="system", texts="source")
    with pytest.raises(UnknownNameError):
        joint_pool(frame, id="seg", system="system", texts="src")


def test_what_is_said_of_metrics_is_true() -> None:
    """Outputs that are not in the table are not outputs whose metric is missing."""
    frame = demo_frame("ende")
    frame = frame[frame["system"].isin(["alpha", "beta"])].reset_index(drop=True)
    ids = frame["segment"].unique()
    late = set(ids[700:])
    kept = frame[~((frame["system"] == "beta") & frame["segment"].isin(late))]
    how = {"human": "rater1", "system": "system", "id": "segment", "metrics": ["comet", "bleurt"]}
    rated = kept.assign(rater1=[float(k % 5) for k in range(len(kept))])
    notes = " ".join(compare(rated, **how).remarks)
    assert f"not used for beta: {len(late)} of {ids.size} outputs are not in the table" in notes
    assert "no value" not in notes
    whole = frame.assign(rater1=[float(k % 5) for k in range(len(frame))])
    whole.loc[[3, 9], "comet"] = None
    notes = " ".join(compare(whole, **how).remarks)
    assert f"metric 'comet' has no value for 2 of {2 * ids.size} outputs and was not used" in notes
    assert "not in the table" not in notes


def split_table(seed=0, size=600, n=60, pools="own", k=0):
    """Two systems with a metric each; A and B rated on segments of their own but for k."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=size)
    frames = []
    for s, name in enumerate("AB"):
        quality = common + rng.normal(size=size)
        frame = pd.DataFrame({"seg": [f"s{i}" for i in range(size)], "sys": name})
        frame["human"] = 60 + 2 * s + 10 * quality
        frame["comet"] = quality + 0.5 * rng.normal(size=size)
        frames.append(frame)
    order = rng.permutation(size)
    halves = [order[: size // 2], order[size // 2 :]]
    rated = [halves[0][:n], halves[1][:n]]
    if k:
        rated[1] = np.concatenate([rated[0][:k], rated[1][k:]])
    for s, frame in enumerate(frames):
        frame.loc[~frame.index.isin(rated[s]), "human"] = np.nan
        if pools == "own":
            frames[s] = frame[frame.index.isin(halves[s])]
    return pd.concat(frames)


SPLIT = {"human": "human", "system": "sys", "id": "seg", "higher_is_better": True}


def test_systems_on_different_outputs_use_their_own_metrics() -> None:
    """The difference of two corrected estimates, each about its own pool; the errors add."""
    frame = split_table()
    made = compare(frame, metrics=["comet"], **SPLIT)
    plain = compare(frame, **SPLIT)
    found, bare = (r.differences().iloc[0] for r in (made, plain))
    each = {}
    for name, part in frame.groupby("sys"):
        pool = Pool.from_table(part, id="seg", metrics=["comet"])
        rows = np.flatnonzero(part["human"].notna())
        sample = Sample(pool, rows, plain_design(rows.size, len(part), None, False, "pool"))
        ratings = sample.rate(part["human"].to_numpy()[rows])
        each[name] = Ridge(higher_is_better=True).estimate(ratings)
    sign = 1 if found["first"] == "A" else -1
    assert sign * found["difference"] == pytest.approx(float(each["A"].value - each["B"].value))
    assert found["se"] == pytest.approx(float(np.hypot(each["A"].se, each["B"].se)))
    assert found["se"] < 0.7 * bare["se"]
    assert found["basis"] == "separate"
    assert "control:metrics" in made.signature()
    assert any("each score is about its system's" in note for note in made.notes)
    # And the same from samples of their own.
    apart = compare_samples({k: v.ratings for k, v in each.items()}, higher_is_better=True)
    again = apart.differences().iloc[0]
    assert again[["difference", "se", "df"]].tolist() == pytest.approx(
        found[["difference", "se", "df"]].tolist()
    )


@pytest.mark.parametrize("k", [0, 20])
def test_variance_of_partly_shared_samples_is_the_formula(k) -> None:
    """A(1/n − 1/N) + B(1/m − 1/N) − 2C(k/nm − 1/N), C on the shared; unknown C at its largest."""
    frame = split_table(pools="same", k=k, n=40, size=200)
    result = compare(frame, **SPLIT)
    a, b = (frame[frame["sys"] == s]["human"].to_numpy() for s in "AB")
    want = reference.partly_shared_variance(a, b)
    assert result.differences()["basis"].item() == ("partly" if k else "separate")
    assert result.pairs.variance[0, 1] == pytest.approx(want, rel=1e-9)


def test_a_system_with_rated_outputs_only_is_no_census() -> None:
    """Where only the rated outputs of B are listed, its pool is that of all systems."""
    frame = split_table(pools="same")
    short = frame[(frame["sys"] == "A") | frame["human"].notna()]
    result = compare(short, metrics=["comet"], **SPLIT)
    assert (result.scores()["se"] > 0).all()
    assert dict(result.scores()[["system", "method"]].to_numpy()) == {"A": "ridge", "B": "mean"}


def test_samples_that_cannot_be_compared() -> None:
    pool = Pool(ids=np.arange(50))
    one = SimpleRandom().draw(pool, 10, rng=0)
    ratings = one.rate(np.arange(10.0), limits=(0, 25))
    with pytest.raises(DataError, match="two or more systems"):
        compare_samples({"a": ratings})
    with pytest.raises(DataError, match="different scales"):
        compare_samples({"a": ratings, "b": one.rate(np.arange(10.0), limits=(0, 100))})
    # The same segments throughout are pairs: the differences alone count.
    other = one.rate(np.arange(10.0) ** 1.1)
    paired = compare_samples({"a": one.rate(np.arange(10.0)), "b": other}, higher_is_better=True)
    _, variance, _ = reference.simple_difference(other.scores, np.arange(10.0), 50)
    assert paired.pairs.variance[0, 1] == pytest.approx(variance)


def test_rows_without_ids_are_those_of_their_own_table() -> None:
    """Two tables of different outputs are both numbered 1, 2, …: no row is in both."""
    rng = np.random.default_rng(0)
    tables = {}
    for name in ("old", "new"):
        table = pd.DataFrame({"judge": rng.normal(size=300)})
        table["human"] = table["judge"] + rng.normal(size=300)
        table.loc[rng.permutation(300)[150:], "human"] = np.nan
        tables[name] = table
    numbered = compare_samples({k: Ratings.from_table(t, human="human") for k, t in tables.items()})
    named = compare_samples({
        k: Ratings.from_table(t.assign(id=[f"{k}{i}" for i in range(300)]), human="human")
        for k, t in tables.items()
    })  # fmt: skip
    told, known = numbered.differences().iloc[0], named.differences().iloc[0]
    assert (told["basis"], told["n"]) == ("separate", 0)
    assert told["se"] == pytest.approx(known["se"], rel=1e-12)


@pytest.mark.parametrize("same", [True, False])
def test_how_many_more_for_systems_on_segments_of_their_own(same) -> None:
    """Ratings and pool are those of each of the two: neither their union, nor other systems."""
    rng = np.random.default_rng(3)
    size, n = 400, 60
    gold = {name: rng.normal(shift, 1, size) for name, shift in (("a", 0.3), ("b", 0), ("c", 5))}
    drawn = np.split(rng.permutation(size)[: 3 * n], 3)
    samples = {}
    for (name, scores), rows in zip(gold.items(), drawn, strict=True):
        ids = np.array([f"{'' if same else name}{k}" for k in range(size)])
        design = plain_design(n, size, None, False, "pool")
        samples[name] = Ratings(Sample(Pool(ids=ids), rows, design), scores[rows])
    three = compare_samples(samples, higher_is_better=True, correction="none")
    del samples["c"]
    two = compare_samples(samples, higher_is_better=True, correction="none")
    told = two.needed().iloc[0]
    pd.testing.assert_frame_equal(three.needed(), two.needed())
    row = two.differences().iloc[0]
    assert told["more"] == told["segments"] - n
    times = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    errors = [
        row["se"] * np.sqrt((1 / k - 1 / size) / (1 / n - 1 / size))
        for k in (told["segments"], told["segments"] - 1)
    ]
    assert row["difference"] / errors[0] >= times > row["difference"] / errors[1]


def test_what_no_number_of_segments_resolves_is_told_apart() -> None:
    """A difference of 0, one without a known error, and one too small for the pool."""
    rng = np.random.default_rng(3)
    scores, noise = rng.normal(size=100), rng.normal(size=100)
    noise += 0.001 - noise[1:40].mean()
    gold = {"a": scores, "b": scores, "c": scores + 1, "d": scores + noise}
    rows = [
        (k, name, own[k] if (name == "d") <= k < 40 else np.nan)
        for name, own in gold.items()
        for k in range(100)
    ]
    frame = pd.DataFrame(rows, columns=["seg", "system", "score"])
    found = compare(frame, higher_is_better=True, **ROLES)
    lines = [needed_line(row) for row in plain_frame(found.needed()) or []]

    def line(first, second):
        return next(
            each for each in lines if {*each.split(":")[0].split(" vs ")} == {first, second}
        )

    assert line("a", "b").endswith(
        "the difference found is 0, which no number of segments resolves"
    )
    assert line("a", "c").endswith(
        "the error of the difference is unknown, and so is the number of segments"
    )
    assert line("a", "d").endswith("takes more segments than there are")
    assert not np.signbit(found.differences()["difference"].where(lambda d: d == 0, 0.0)).any()
