"""Slices and several criteria on the page of a study."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold.campaign import Campaign
from fewgold.formats import Rating
from fewgold.pool import Pool


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"language": rng.choice(["de", "fr", "ja"], 300)})
    frame["judge"] = rng.normal(size=300)
    for name in ("fluency", "adequacy"):
        frame[name] = np.round(3 + np.clip(frame["judge"] + rng.normal(size=300), -2, 2))
        frame.loc[90:, name] = None
    frame.to_csv("answers.csv", index=False)
    return frame


def test_slices_of_labels(run, answers) -> None:
    asked = ["--human", "fluency", "--chosen", "random", "--metrics", "judge", "--by", "language"]
    told = json.loads(run("report", "answers.csv", *asked, "-o", "r.md", "--json", "-q").stdout)
    alone = json.loads(run("estimate", "answers.csv", *asked, "--json", "-q").stdout)
    assert told["slices"]["slices"] == alone["slices"]["slices"]
    page = Path("r.md").read_text(encoding="utf-8")
    assert "## By language" in page and "| de " in page
    run("report", "answers.csv", *asked, "--shrink", "-o", "r.html", "-q")
    assert "shrunk" in Path("r.html").read_text(encoding="utf-8")
    assert "'x'" in run("report", "answers.csv", *asked, "--by", "x", "-o", "n.md", code=3).output
    assert not Path("n.md").exists()


def test_slices_and_weights_of_a_new_test_set(run, answers) -> None:
    answers.assign(traffic=answers["judge"].abs() + 0.1).to_csv("answers.csv", index=False)
    asked = ["--human", "fluency", "--chosen", "random", "--metrics", "judge", "--by", "language"]
    asked += ["--target", "process", "--json", "-q"]
    pool = json.loads(run("estimate", "answers.csv", *asked, "--target", "pool").stdout)
    alone = json.loads(run("estimate", "answers.csv", *asked).stdout)
    for new, old in zip(alone["slices"]["slices"], pool["slices"]["slices"], strict=True):
        assert new["value"] == pytest.approx(old["value"]) and new["se"] > old["se"]
    assert "target:process" in alone["slices"]["signature"]
    told = json.loads(run("report", "answers.csv", *asked, "-o", "r.md").stdout)
    assert told["slices"]["slices"] == alone["slices"]["slices"] and told["weighted"] is None
    for k, other in enumerate((["--weights", "traffic"], ["--mix", "de=.2,fr=.3,ja=.5"])):
        alone = json.loads(run("estimate", "answers.csv", *asked, *other).stdout)
        told = json.loads(run("report", "answers.csv", *asked, *other, "-o", f"{k}.md").stdout)
        same = ("value", "se", "low", "high", "signature", "quantity")
        assert {n: told["weighted"][n] for n in same} == {n: alone[n] for n in same}
        assert told["slices"]["slices"] == alone["slices"]["slices"]
        page = Path(f"{k}.md").read_text(encoding="utf-8")
        assert f"## The {told['weighted']['quantity']}" in page
        assert told["commands"][-1].endswith(" ".join(other))
    wrong = run("estimate", "answers.csv", *asked[:-4], *asked[-4:], "--total", code=2).output
    assert "adds up the segments" in " ".join(wrong.split())


def test_criteria_of_labels(run, answers) -> None:
    asked = ["--criteria", "fluency:1-5,adequacy:1-5", "--chosen", "random", "--metrics", "judge"]
    told = json.loads(run("report", "answers.csv", *asked, "-o", "r.md", "--json", "-q").stdout)
    alone = json.loads(run("estimate", "answers.csv", *asked, "--json", "-q").stdout)
    assert [c["value"] for c in told["criteria"]] == [c["value"] for c in alone["criteria"]]
    assert told["estimate"]["value"] == told["criteria"][0]["value"]
    page = Path("r.md").read_text(encoding="utf-8")
    assert "## Criteria" in page and "## How criteria correlate" in page
    assert "Everything else on this page, also scores by slice, is about fluency." in page
    assert "We estimated the mean fluency" in page and "Note on" not in page


def test_criteria_of_a_campaign(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    pool = Pool(ids=np.array([f"s{k}" for k in range(80)]), metrics={"m": rng.normal(size=80)})
    with Campaign.create("study", pool, seed=1, criteria=["fluency:1-5", "adequacy:0-9"]) as study:
        study.select(30)
        study.add(
            Rating(i, rater="ann", scores={"fluency": float(1 + k % 5), "adequacy": float(k % 9)})
            for k, i in enumerate(study.waves[0].ids)
        )
    told = json.loads(run("report", "study", "-o", "r.md", "--json", "-q").stdout)
    assert [c["criterion"] for c in told["criteria"]] == ["fluency", "adequacy"]
    assert "Mean fluency of all 80 segments" in Path("r.md").read_text(encoding="utf-8")
