"""A judge on trial, from ratings to text, tables, figures and page."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

from fewgold import Pool
from fewgold.datasets import load_demo
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.judge import Assessment, assess, assess_table
from fewgold.samplers import SimpleRandom

N = 200


def frame(seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    human = (rng.random(N) < 0.7) * 1.0
    judge = np.where(rng.random(N) < 0.85, human, 1 - human)
    return pd.DataFrame(
        {
            "id": [f"s{k}" for k in range(N)],
            "topic": np.where(np.arange(N) < 120, "law", "sport"),
            "length": rng.integers(5, 90, N),
            "text": [f"=word {'x ' * int(k)}" for k in rng.integers(1, 9, N)],
            "judge": judge,
            "chance": np.clip(0.15 + 0.7 * judge + rng.normal(0, 0.1, N), 0, 1),
            "score": judge * 3 + rng.normal(size=N),
            "human": np.where(rng.permutation(N) < 80, human, np.nan),
            "truth": human,
        }
    )


def whole(table: pd.DataFrame, **options: Any) -> Assessment:
    return assess_table(table, human="human", **options)


def test_values_are_for_the_whole_table() -> None:
    table = frame()
    found = whole(table, judges="judge")["judge"]
    assert (found.rated, found.size, found.kind) == (80, N, "binary")
    rated = table.dropna(subset="human")
    share = table["judge"].mean()
    good = rated.groupby("judge")["human"].mean()
    assert found.figures["judge"].value == share
    assert found.figures["precision"].value == pytest.approx(good[1])
    # Poststratified: the share of each verdict is that of the table.
    expected = share * good[1] + (1 - share) * good[0]
    assert found.figures["people"].value == pytest.approx(expected)
    assert found.figures["difference"].value == pytest.approx(share - expected)
    assert found.confusion is not None and found.counts is not None
    assert found.confusion.sum() == pytest.approx(1)
    assert found.counts.tolist() == sk.confusion_matrix(rated["human"], rated["judge"]).tolist()


def test_a_table_that_is_rated_throughout_stands_for_more_of_its_kind() -> None:
    table = frame().assign(human=lambda t: t["truth"])
    found = whole(table, judges="judge")
    kappa = found["judge"].figures["kappa"]
    assert kappa.value == pytest.approx(sk.cohen_kappa_score(table["truth"], table["judge"]))
    assert kappa.low < kappa.value < kappa.high
    # The judge is not known for outputs to come: its share has an error too, that of a share.
    share = table["judge"].mean()
    error = np.sqrt(share * (1 - share) / (N - 1))
    assert found["judge"].figures["judge"].se == pytest.approx(error)
    assert "further segments from the same process" in found.notes[-1]
    documents = np.arange(N) // 10
    apart = whole(table.assign(doc=documents), judges="judge", document="doc")
    assert apart["judge"].figures["kappa"].se != kappa.se


def test_words_for_pass_and_fail() -> None:
    table = frame()
    words = table.assign(
        judge=table["judge"].map({1.0: "pass", 0.0: "fail"}),
        human=table["human"].map({1.0: "yes", 0.0: "no"}),
    )
    plain, said = (whole(t, judges="judge").to_dict()["judges"] for t in (table, words))
    assert plain == said


def test_a_judge_with_gaps_is_assessed_where_it_spoke() -> None:
    table = frame()
    table.loc[:39, "judge"] = np.nan
    found = whole(table, judges="judge")
    alone = whole(table.iloc[40:], judges="judge")
    assert found["judge"].size == 160
    assert "no score for 40 segments" in found.notes[0]
    for key, made in found["judge"].figures.items():
        assert made.value == pytest.approx(alone["judge"].figures[key].value)


def test_probabilities_have_a_curve() -> None:
    found = whole(frame(), judges="chance")
    trial = found["chance"]
    assert trial.kind == "probability" and "treated as a probability" in found.notes[0]
    assert trial.calibration is not None
    assert trial.calibration.share.sum() == pytest.approx(1)
    assert trial.calibration.rated.sum() == 80
    assert set(trial.figures) > {"auc", "ece", "kappa"}
    strict = whole(frame(), judges="chance", threshold=">= 0.9")["chance"]
    assert strict.figures["judge"].value < trial.figures["judge"].value
    assert strict.figures["ece"] == trial.figures["ece"]


def test_scores_need_a_threshold_for_verdicts() -> None:
    found = whole(frame(), judges="score")
    assert set(found["score"].figures) == {"people", "auc"}
    assert "need a threshold" in found.notes[0]
    cut = whole(frame(), judges="score", threshold=">= 1.5")
    assert "kappa" in cut["score"].figures and "auc" in cut["score"].figures
    numbers = frame().assign(human=lambda t: t["human"] * 7.3)
    with pytest.raises(DataError, match="human scores are not 0 and 1"):
        whole(numbers, judges="score", threshold=">= 1.5")
    good = assess_table(numbers, human="human", judges="judge", adequate=">= 5")
    assert good["judge"].kind == "binary"


def test_levels_and_numbers() -> None:
    rng = np.random.default_rng(3)
    human = rng.integers(1, 6, N) * 1.0
    table = pd.DataFrame(
        {
            "human": human,
            "stars": np.clip(human + rng.integers(-1, 2, N), 1, 5),
            "same": human + rng.normal(size=N),
            "other": 1000 * human + rng.normal(size=N),
        }
    )
    found = whole(table, judges=["stars", "same", "other"])
    assert [t.kind for t in found.judges] == ["ordinal", "numeric", "numeric"]
    assert {"kappa_linear", "kappa_quadratic", "spearman"} <= set(found["stars"].figures)
    assert "distance" in found["same"].figures
    assert "difference" not in found["other"].figures
    assert any("different scales" in note for note in found.notes)
    theirs = sk.cohen_kappa_score(table["human"], table["stars"], weights="quadratic")
    assert found["stars"].figures["kappa_quadratic"].value == pytest.approx(theirs)


def test_slices_sum_to_the_whole() -> None:
    found = whole(frame(), judges="judge", by="topic")
    law, sport = found.slices
    assert (law.slice, sport.slice) == ("law", "sport")
    assert law.rated + sport.rated == 80 and law.size == 120
    assert law.figures["judge"].value == frame()["judge"][:120].mean()
    quarters = whole(frame(), judges="judge", by="length").slices
    assert len(quarters) == 4 and sum(t.size for t in quarters) == N
    few = frame().assign(rare=np.where(frame()["human"].notna().cumsum() <= 2, "a", "b"))
    small = whole(few, judges="judge", by="rare").slices[0]
    assert not small.figures and "too few" in small.notes[0]
    assert "too few" in whole(few, judges="judge", by="rare").summary()
    with pytest.raises(DataError, match="too many for slices"):
        whole(frame(), judges="judge", by="id")
    with pytest.raises(UnknownNameError, match="unknown column 'nope'"):
        whole(frame(), judges="judge", by="nope")


def test_slices_by_two_columns() -> None:
    table = frame().assign(long=lambda t: np.where(t["length"] > 45, "long", "short"))
    found = whole(table, judges="judge", by=["topic", "long"])
    assert [t.slice for t in found.slices] == [
        "law, long", "law, short", "sport, long", "sport, short",
    ]  # fmt: skip
    alone = whole(table[table["topic"] == "sport"], judges="judge", by="long").slices[1]
    both = found.slices[3]
    assert (both.rated, both.size) == (alone.rated, alone.size)
    assert both.figures["kappa"].value == pytest.approx(alone.figures["kappa"].value)
    assert "topic, long" in found.summary()
    with pytest.raises(DataError, match="slices, but at most 30"):
        whole(table.assign(many=np.arange(N) % 20), judges="judge", by=["topic", "many"])


def test_two_judges_are_compared_on_the_same_ratings() -> None:
    table = frame()
    rng = np.random.default_rng(9)
    table["coin"] = (rng.random(N) < 0.5) * 1.0
    table["twin"] = table["judge"]
    found = whole(table, judges=["judge", "coin", "twin"]).differences()
    better = found.query("first == 'judge' and second == 'coin' and measure == 'kappa'").iloc[0]
    assert better["low"] > 0 and better["p"] < 0.001
    same = found.query("first == 'judge' and second == 'twin' and measure == 'kappa'").iloc[0]
    assert same["value"] == 0 and same["low"] < 0 < same["high"]


def test_errors_that_follow_a_column_are_found() -> None:
    rng = np.random.default_rng(2)
    human = (rng.random(600) < 0.5) * 1.0
    length = rng.integers(1, 100, 600)
    kind = np.where(rng.random(600) < length / 150, 1.0, human)  # long ones pass
    table = pd.DataFrame({"human": human, "judge": kind, "length": length})
    table["noise"] = rng.normal(size=600)
    table["text"] = ["w " * k for k in length]
    found = whole(table, judges="judge", against=["length", "noise", "text"])
    by = {row["column"]: row for row in found.follows}
    assert by["length"]["error_low"] > 0 and by["length"]["size_low"] > 0
    assert by["noise"]["error_low"] < 0 < by["noise"]["error_high"]
    slope = by["words of text"]["error_slope"]
    assert slope == pytest.approx(by["length"]["error_slope"])
    plain = np.polyfit(length, kind - human, 1)[0] * length.std()
    assert slope == pytest.approx(plain)
    assert "words of text" in found.summary()


def test_disagreements_come_with_their_texts() -> None:
    found = whole(frame(), judges=["judge", "chance"], texts=["text"])
    listed = found.disagreements("chance")
    assert (listed["error"].abs().diff().dropna() <= 1e-12).all()
    assert ((listed["judge"] >= 0.5) != (listed["people"] == 1)).all()
    assert listed["text"].str.startswith("=word").all()
    assert len(found.disagreements("judge", 3)) == 3


def test_ratings_saved() -> None:
    good = whole(frame(), judges="judge")["judge"].worth
    assert good is not None and 80 < good[1] < good[0] < good[2] < N
    table = frame().assign(coin=np.random.default_rng(1).integers(0, 2, N))
    none = whole(table, judges="coin")["coin"].worth
    assert none is not None and none[0] == pytest.approx(80, abs=3) and none[1] == 80


def test_text_tables_figures_and_page() -> None:
    pytest.importorskip("matplotlib")
    found = whole(
        frame(), judges=["judge", "chance", "score"], texts=["text"], by="topic", against="length"
    )
    told = found.summary()
    assert "Cohen's κ" in told and "people: good" in told and "nan" not in told.lower()
    json.dumps(found.to_dict(), allow_nan=False)
    rows = found.to_frame()
    assert set(rows["slice"].dropna()) == {"law", "sport"}
    page = found.page()
    assert page.count("<svg") == 4 and "Disagreements with judge" in page
    assert "Judge against people" in found._repr_html_()
    assert found.plot("reliability", "chance").get_ylabel()
    with pytest.raises(UnknownNameError, match="figure of this judge"):
        found.plot("reliability", "judge")
    with pytest.raises(UnknownNameError, match="unknown judge"):
        found["nope"]


def test_sampled_pools() -> None:
    pool, gold = load_demo("zhen")
    sample = SimpleRandom().draw(pool, 60, rng=1)
    ratings = sample.rate(gold[sample.indices], limits="mqm")
    found = assess(ratings)
    assert len(found.judges) == len([m for m in pool.metrics if pool.orientation.get(m) != 0])
    assert "pearson" in found["comet"].figures
    batch = SimpleRandom().draw(pool, 60, draws=2, rng=1)
    with pytest.raises(DataError, match="one study at a time"):
        assess(batch.rate(gold[batch.indices]))
    with pytest.raises(DataError, match="the column 'x' has 3 values"):
        assess(ratings, "x", columns={"x": [1, 2, 3]})
    with pytest.raises(FewgoldError, match="bins"):
        assess(ratings, bins=1)
    bare = Pool(np.arange(100))
    drawn = SimpleRandom().draw(bare, 10, rng=1)
    with pytest.raises(DataError, match="no metric that could be a judge"):
        assess(drawn.rate(np.arange(10.0)))


HUMANS = {
    "both": lambda rng: rng.integers(0, 2, N) * 1.0,
    "good": lambda rng: np.ones(N),
    "bad": lambda rng: np.zeros(N),
    "stars": lambda rng: rng.integers(1, 6, N) * 1.0,
    "threes": lambda rng: np.full(N, 3.0),
    "numbers": lambda rng: rng.normal(size=N),
    "one number": lambda rng: np.full(N, 0.77),
}
JUDGES = {
    "same": lambda rng, human: human.copy(),
    "opposite": lambda rng, human: human.max() + human.min() - human,
    "verdicts": lambda rng, human: rng.integers(0, 2, N) * 1.0,
    "constant": lambda rng, human: np.ones(N),
    "chances": lambda rng, human: rng.random(N),
    "one chance": lambda rng, human: np.full(N, 0.3),
    "stars": lambda rng, human: rng.integers(1, 6, N) * 1.0,
    "scores": lambda rng, human: 100 * rng.normal(size=N),
}


@pytest.mark.parametrize("human, judge", list(product(HUMANS, JUDGES)))
@pytest.mark.parametrize("rated", [1, 2, 5, N])
def test_degenerate_ratings_give_an_answer_or_a_sentence(
    human: str, judge: str, rated: int
) -> None:
    rng = np.random.default_rng(7)
    scores = HUMANS[human](rng)
    table = pd.DataFrame({"judge": JUDGES[judge](rng, scores), "human": scores})
    table.loc[rng.permutation(N)[rated:], "human"] = np.nan
    table["topic"] = np.arange(N) % 3
    found = whole(table, judges="judge", by="topic", against="topic")
    told = found.summary()
    assert "nan" not in told.lower() and "inf" not in told.lower()
    json.dumps(found.to_dict(), allow_nan=False)
    found.disagreements()
    for made in found["judge"].figures.values():
        if np.isnan(made.value):  # said in a note
            assert any("not defined" in note for note in found.notes)
        else:
            assert made.low <= made.value + 1e-9 and made.value - 1e-9 <= made.high
            assert not np.isnan(made.low) and not np.isnan(made.high)


def test_tables_that_cannot_be_used() -> None:
    table = frame()
    with pytest.raises(DataError, match="holds no scores"):
        assess_table(table, human="topic", judges="judge")
    with pytest.raises(DataError, match="there are no ratings"):
        assess_table(table.assign(human=np.nan), human="human", judges="judge")
    with pytest.raises(UnknownNameError, match="unknown column 'nope'"):
        assess_table(table, human="human", judges="nope")
    with pytest.raises(DataError, match="no scores of a judge"):
        assess_table(table, human="human", judges="topic")
