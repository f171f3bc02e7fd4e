"""Rankings from pairs: against logistic regression, by hand, and what cannot be ranked."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import root
from scipy.special import expit

from fewgold.comparison import bradley_terry
from fewgold.design import Design
from fewgold.errors import DataError, UnknownNameError

WORDS = {0.0: "B", 0.5: "tie", 1.0: "A"}


def pairs(
    size: int, rated: int, systems: int = 4, agree: float = 0.75, seed: int = 0, ties: float = 0.2
) -> pd.DataFrame:
    """A table of pairs: people's verdicts on some, a judge's on all, and the truth."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(-0.8, 0.8, systems)
    one = rng.integers(systems, size=size)
    two = (one + 1 + rng.integers(systems - 1, size=size)) % systems
    y = (rng.random(size) < expit(strength[one] - strength[two])).astype(float)
    y[rng.random(size) < ties] = 0.5
    judge = np.where(rng.random(size) < agree, y, rng.choice([0, 0.5, 1], size, p=[0.2, 0.1, 0.7]))
    human = np.array([WORDS[v] for v in y], dtype=object)
    human[rng.permutation(size)[rated:]] = None
    return pd.DataFrame({
        "one": [f"s{k}" for k in one], "two": [f"s{k}" for k in two], "people": human,
        "judge": [WORDS[v] for v in judge], "y": y, "source": np.arange(size) // 5,
    })  # fmt: skip


def columns(frame: pd.DataFrame, systems: list[str]) -> np.ndarray:
    return np.array([
        [(a == s) - (b == s) for s in systems]
        for a, b in zip(frame["one"], frame["two"], strict=True)
    ], dtype=float)  # fmt: skip


def test_without_ties_it_is_logistic_regression() -> None:
    """Plain Bradley–Terry, strengths and sandwich, against statsmodels."""
    import statsmodels.api as sm

    frame = pairs(400, 400, ties=0.0)
    found = bradley_terry(frame, human="people", first="one", second="two", target="process")
    systems = sorted(found.systems)
    x = columns(frame, systems)
    made = sm.GLM(frame["y"], x[:, 1:], family=sm.families.Binomial()).fit(cov_type="HC0")
    theta = np.r_[0.0, made.params]
    got = found.to_frame().set_index("system").loc[systems]
    np.testing.assert_allclose(got["strength"], theta - theta.mean(), atol=1e-8)
    np.testing.assert_allclose(got["people"], got["strength"])
    gaps = found.differences().set_index(["first", "second"])
    se = dict(zip(systems[1:], made.bse, strict=True))
    for (first, second), row in gaps.iterrows():
        if systems[0] in (first, second):  # ours take each row as left out
            other = second if first == systems[0] else first
            assert row["se"] == pytest.approx(se[other], rel=0.02)


def test_ties_are_half_a_win_of_each() -> None:
    frame = pairs(300, 300)
    found = bradley_terry(frame, human="people", first="one", second="two")
    either = [{0.0: "B", 0.5: word, 1.0: "A"} for word in "AB"]
    twice = pd.concat([frame.assign(people=frame["y"].map(words)) for words in either])
    other = bradley_terry(twice, human="people", first="one", second="two")
    np.testing.assert_allclose(found.strength, other.strength, atol=1e-8)
    # All pairs are judged: nothing is left to chance about these very pairs.
    assert np.allclose(found.covariance, 0) and found.differences()["significant"].all()
    row = found.to_frame().iloc[0]
    x = columns(frame, list(found.systems))[:, 0]
    points = np.where(x > 0, frame["y"], 1 - frame["y"])[x != 0]
    assert (row["wins"], row["ties"]) == ((points == 1).sum(), (points == 0.5).sum())


def test_the_judge_is_a_control_variate() -> None:
    """The equations as they are printed, solved by another solver."""
    frame = pairs(900, 150)
    found = bradley_terry(frame, human="people", first="one", second="two", judges="judge")
    systems = list(found.systems)
    x, rated = columns(frame, systems), frame["people"].notna().to_numpy()
    y, said = frame["y"].to_numpy(), frame["judge"].map({"B": 0, "tie": 0.5, "A": 1}).to_numpy()

    def strengths(equation) -> np.ndarray:
        solved = root(
            lambda t: equation(t - t.mean()) + t.mean(), np.zeros(len(systems)), tol=1e-12
        )
        assert solved.success
        return solved.x - solved.x.mean()

    judge = strengths(lambda t: x.T @ (said - expit(x @ t)) / len(x) - 1e-4 * t)
    e = said - expit(x @ judge)
    xs, ys, es = x[rated], y[rated], e[rated]
    alone = strengths(lambda t: xs.T @ (ys - expit(xs @ t)) / len(xs))
    left = ys - expit(xs @ alone)
    beta = (es @ left) / (es @ es)
    told = strengths(
        lambda t: xs.T @ (ys - expit(xs @ t) - beta * es) / len(xs) + beta * x.T @ e / len(x)
    )
    np.testing.assert_allclose(found.strength, told, atol=1e-6)
    np.testing.assert_allclose(found.people, alone, atol=1e-6)
    plain = bradley_terry(frame, human="people", first="one", second="two")
    assert 0.2 < found.gain < 0.8
    assert np.trace(found.covariance) < 0.8 * np.trace(plain.covariance)


def test_the_sandwich_by_hand() -> None:
    frame = pairs(500, 120)
    found = bradley_terry(frame, human="people", first="one", second="two")
    systems, rated = list(found.systems), frame["people"].notna().to_numpy()
    x, n = columns(frame, list(found.systems)), int(rated.sum())
    p = expit(x @ found.strength)
    curve = np.linalg.pinv((x * (p * (1 - p))[:, None]).T @ x / len(x))
    xs, ps = x[rated], p[rated]
    lever = np.array([r @ curve @ r for r in xs]) * ps * (1 - ps) / n
    u = xs * ((frame["y"].to_numpy()[rated] - ps) / (1 - lever))[:, None]
    meat = np.cov(u.T) / n * (1 - n / len(x))
    np.testing.assert_allclose(found.covariance, curve @ meat @ curve, rtol=1e-8)
    assert found.df == n - 1 - (len(systems) - 2)


def test_mirrored_pairs_and_names_change_nothing() -> None:
    frame = pairs(300, 90)
    turned = frame.rename(columns={"one": "two", "two": "one"})
    for name in ("people", "judge"):
        turned[name] = frame[name].map({"A": "B", "B": "A", "tie": "tie"})
    named = frame.assign(people=[
        {"A": a, "B": b, "tie": "Both Bad"}.get(v) for v, a, b in
        zip(frame["people"], frame["one"], frame["two"], strict=True)
    ])  # fmt: skip
    numbers = frame.assign(judge=frame["judge"].map({"A": 0.4, "B": -3, "tie": 0}))
    asked = {"human": "people", "first": "one", "second": "two", "judges": ["judge"]}
    first = bradley_terry(frame, **asked)
    for other in (turned, named, numbers):
        found = bradley_terry(other, **asked)
        assert found.systems == first.systems
        np.testing.assert_allclose(found.strength, first.strength, atol=1e-9)
        np.testing.assert_allclose(found.covariance, first.covariance, atol=1e-12)
    bad = bradley_terry(named, **asked)
    ties = int((named["people"] == "Both Bad").sum())
    assert any(f"{ties} of 90 verdicts say that both are bad" in note for note in bad.notes)
    assert bad.to_frame()["both_bad"].sum() == 2 * ties  # once for each of the two


def test_designs_of_chosen_pairs() -> None:
    frame = pairs(600, 600)
    told = frame["source"].isin(np.random.default_rng(1).permutation(120)[:30])
    frame["people"] = frame["people"].where(told)
    asked = {"human": "people", "first": "one", "second": "two"}
    whole = bradley_terry(frame, chosen="whole:source", **asked)
    plain = bradley_terry(frame, **asked)
    np.testing.assert_allclose(whole.strength, plain.strength, atol=1e-9)
    assert whole.df < 30 < plain.df
    own = bradley_terry(frame, chosen=Design.simple(150, 600), **asked)
    np.testing.assert_allclose(own.covariance, plain.covariance)
    with pytest.raises(DataError, match="the design is for 10 of 600 pairs, but 150 of 600"):
        bradley_terry(frame, chosen=Design.simple(10, 600), **asked)


def test_what_cannot_be_ranked() -> None:
    def rank(rows: list[tuple[str, str, str]]) -> None:
        table = pd.DataFrame(rows, columns=["one", "two", "people"])
        bradley_terry(table, human="people", first="one", second="two")

    cycle = [("p", "q", "A"), ("q", "p", "A")]
    with pytest.raises(DataError, match=r"no pair that people judged links \{p, q\} and \{r, s\}"):
        rank([*cycle, ("r", "s", "A"), ("s", "r", "A")])
    with pytest.raises(DataError, match=r"r lost every pair with the other systems \(2\)"):
        rank([*cycle, ("p", "r", "A"), ("r", "q", "B")])
    with pytest.raises(DataError, match=r"p, q lost every pair with the other systems \(1\)"):
        rank([*cycle, ("r", "s", "tie"), ("r", "q", "A")])
    with pytest.raises(DataError, match=r"a system is called 'a'.* in row 2 of 'people'"):
        rank([("a", "b", "A"), ("b", "a", "A")])
    with pytest.raises(DataError, match="row 2 compares 'a' with itself"):
        rank([("p", "b", "A"), ("a", "a", "A")])
    with pytest.raises(DataError, match="row 1 does not name both systems"):
        rank([("a", "", "A")])
    with pytest.raises(DataError, match="must hold A, B and tie"):
        rank([("a", "b", "perhaps")])
    with pytest.raises(DataError, match="no row has a verdict in column 'people'"):
        rank([("a", "b", "")])
    with pytest.raises(UnknownNameError):
        bradley_terry(pairs(9, 9), human="people", first="one", second="tow")


def test_results_are_plain_and_in_order() -> None:
    found = bradley_terry(
        pairs(600, 200), human="people", first="one", second="two", judges=["judge"]
    )
    table, told = found.to_frame(), found.differences()
    assert table["strength"].is_monotonic_decreasing and abs(table["strength"].sum()) < 1e-9
    assert ((table["low"] < table["strength"]) & (table["strength"] < table["high"])).all()
    assert ((table["share_low"] < table["share"]) & (table["share"] < table["share_high"])).all()
    assert table["share"].mean() == pytest.approx(0.5)
    assert (table["rank_low"] <= np.arange(1, 5)).all() and (
        table["rank_high"] >= np.arange(1, 5)
    ).all()
    assert len(told) == 6 and (told["p_adjusted"] >= told["p_value"]).all()
    json.dumps(found.to_dict(), allow_nan=False)
    text = found.summary()
    assert "preferred to" in text and "judge judged all and removed" in text
    assert found.plot().get_xlabel().startswith("share of points against the others")


def test_names_are_shown_as_they_are() -> None:
    """Numbers get a true minus sign, names keep their hyphens."""
    frame = pairs(200, 200).replace({"s0": "gpt-4", "s1": "llama-3-8b"})
    told = bradley_terry(frame, human="people", first="one", second="two").summary()
    assert "gpt-4 " in told and "llama-3-8b preferred to gpt-4: " in told
    assert "−0." in told and "-0." not in told
