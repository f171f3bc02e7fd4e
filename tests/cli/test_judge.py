"""``fewgold judge`` on sheets, tables and campaigns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.campaign import Campaign

Run = Callable[..., Any]


@pytest.fixture
def judged(folder: Path) -> Path:
    """A table in which people rated a third of the rows."""
    rng = np.random.default_rng(1)
    human = (rng.random(240) < 0.6) * 1.0
    judge = np.where(rng.random(240) < 0.8, human, 1 - human)
    table = pd.DataFrame(
        {
            "id": [f"a{k}" for k in range(240)],
            "output": [f"=say {'so ' * int(k)}" for k in rng.integers(1, 9, 240)],
            "topic": rng.choice(["law", "sport"], 240),
            "llm": judge,
            "sure": np.clip(0.2 + 0.6 * judge + rng.normal(0, 0.1, 240), 0, 1).round(3),
            "passed": np.where(rng.permutation(240) < 80, human, np.nan),
        }
    )
    table.to_csv("judged.csv", index=False)
    return folder / "judged.csv"


def test_a_rated_sheet_brings_its_design(run: Run, rate: Callable[[str], None]) -> None:
    run("select", "pool.csv", "--budget", "60", "--metrics", "comet", "--seed", "1", "-o", "s.csv")
    rate("s.csv")
    text = run("judge", "s.csv", "--adequate", "<=3", "--threshold", ">=0.5").stdout
    assert "comet against people: 60 of 150 segments rated" in text
    assert "design:docs-balanced" in text and "Cohen's κ" in text
    # A column of the pool that played no part in the choice, and slices and covariates.
    told = run("judge", "s.csv", "--judge", "bleu", "--by", "position", "--against", "words",
               "--json").stdout  # fmt: skip
    found = json.loads(told)
    assert found["judges"][0]["judge"] == "bleu" and found["judges"][0]["kind"] == "numeric"
    assert len(found["slices"]) == 6 and found["against"][0]["column"] == "words"


def test_a_table(run: Run, judged: Path) -> None:
    result = run("judge", "judged.csv", "--human", "passed", "--judges", "llm,sure")
    assert "llm against people: 80 of 240 segments rated" in result.stdout
    assert "difference between judges" in result.stdout
    assert "taken as a random sample" in result.stderr
    rows = run("judge", "judged.csv", "--judge", "llm", "--format", "csv", "-q").stdout
    assert rows.startswith("judge,measure,rated,value,se,low,high\nllm,people,80,")
    latex = run("judge", "judged.csv", "--judge", "llm", "--format", "latex", "-q").stdout
    assert "kappa" in latex and latex.startswith(r"\begin{tabular}")
    piped = run("judge", "-", "--judge", "llm", "-q", stdin=judged.read_text()).stdout
    assert piped == run("judge", "judged.csv", "--judge", "llm", "-q").stdout


def test_disagreements_are_listed(run: Run, judged: Path) -> None:
    text = run("judge", "judged.csv", "--judge", "sure", "--disagreements", "2", "-q").stdout
    assert "disagreements with sure, largest first:" in text
    assert text.count("output: =say") == 2
    run("judge", "judged.csv", "--judge", "sure", "-o", "wrong.csv", "-q")
    listed = pd.read_csv("wrong.csv")
    assert list(listed["error"].abs()) == sorted(listed["error"].abs(), reverse=True)
    assert listed["output"].str.startswith("'=say").all()  # no formula for a spreadsheet
    found = json.loads(run("judge", "judged.csv", "--judge", "sure", "--disagreements", "3",
                           "--json", "-q").stdout)  # fmt: skip
    assert len(found["disagreements"]["sure"]) == 3


def test_pages_and_figures(run: Run, judged: Path) -> None:
    pytest.importorskip("matplotlib")
    result = run("judge", "judged.csv", "--judge", "sure", "-o", "j.html")
    assert "Wrote j.html" in result.stderr
    assert Path("j.html").read_text(encoding="utf-8").count("<svg") == 2
    run("judge", "judged.csv", "--judge", "sure", "-o", "j.png", "-q")
    assert Path("j.png").read_bytes().startswith(b"\x89PNG")
    run("judge", "judged.csv", "-o", "j.png", code=2)
    run("judge", "judged.csv", "-o", "j.png", "--force", "-q")
    run("judge", "judged.csv", "-o", "j.docx", code=2)


def test_a_campaign(run: Run, rate: Callable[[str], None], table: pd.DataFrame) -> None:
    run("init", "study", "pool.csv", "--metrics", "comet,bleu", "--strategy", "docs-sys+mean",
        "--limits", "0,25")  # fmt: skip
    run("select", "study", "--budget", "40", "--seed", "2")
    gold = dict(zip(table["segment"], table["human"], strict=True))
    with Campaign("study") as campaign:
        ids = campaign.sample.ids.tolist()
    answers = pd.DataFrame({"id": ids, "score": [gold[i] for i in ids]})
    answers.iloc[:30].to_csv("a.csv", index=False)
    run("import", "study", "a.csv")
    assert "unrated" in run("judge", "study", "--judge", "comet", code=3).stderr
    some = run("judge", "study", "--judge", "comet", "--gaps", "at-random").stdout
    assert "missing at random" in some
    answers.iloc[30:].to_csv("b.csv", index=False)
    run("import", "study", "b.csv")
    found = json.loads(run("judge", "study", "--adequate", "<=4", "--json").stdout)
    assert [j["judge"] for j in found["judges"]] == ["comet", "bleu"]
    assert found["design"] == "systematic" and found["n"] == 40
    run("judge", "study", "--human", "x", code=2)


def test_mistakes_have_a_sentence(run: Run, judged: Path) -> None:
    assert "unknown column 'nope'" in run("judge", "judged.csv", "--judge", "nope", code=3).stderr
    wrong = run("judge", "judged.csv", "--judge", "llm", "--threshold", "half", code=2)
    assert "--threshold must be a sign and a number" in " ".join(wrong.stderr.split())
    run("judge", "judged.csv", "--gaps", "never", code=2)
    run("judge", "none.csv", code=3)
    pd.read_csv("judged.csv").drop(columns=["llm", "sure"]).to_csv("bare.csv", index=False)
    assert "--judge" in run("judge", "bare.csv", code=3).stderr
    stars = pd.read_csv("judged.csv").assign(passed=lambda t: t["passed"] * 4)
    stars.to_csv("stars.csv", index=False)
    told = run("judge", "stars.csv", "--judge", "llm", "--threshold", ">=1", code=3).stderr
    assert "--adequate '>=4'" in told


def test_calibrated_scores_are_written(run: Run, judged: Path) -> None:
    text = run("judge", "judged.csv", "--judge", "sure", "--calibrate", "new.csv", "-q").stdout
    assert "sure_calibrated: calibration error" in text
    before, after = pd.read_csv("judged.csv"), pd.read_csv("new.csv")
    pd.testing.assert_frame_equal(before, after.drop(columns="sure_calibrated"))
    assert after["sure_calibrated"].between(0, 1, inclusive="neither").all()
    told = run("judge", "judged.csv", "--judge", "sure", "--calibrate", "new.csv", "--calibration",
               "isotonic", "--force", "--json", "-q").stdout  # fmt: skip
    found = json.loads(told)
    assert found["calibrated"][0]["method"] == "isotonic"
    # The column serves as the chance of a pass in the next study.
    run("select", "new.csv", "--budget", "20", "--metrics", "sure_calibrated", "--uncertainty",
        "sure_calibrated:probability", "--seed", "1", "-o", "next.csv", "-q")  # fmt: skip
    for code, more, sentence in (
        (2, ("--calibrate", "new.csv"), "'new.csv' exists"),
        (2, ("--calibrate", "new.txt"), "--calibrate writes a .csv"),
        (2, ("--calibration", "isotonic"), "needs --calibrate FILE.csv"),
        (3, ("--calibrate", "b.csv", "--calibration", "magic"), "unknown calibration 'magic'"),
    ):
        failed = run("judge", "judged.csv", "--judge", "sure", *more, code=code)
        assert sentence in " ".join(failed.stderr.split()), more
