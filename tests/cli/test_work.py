"""``fewgold work`` and ``fewgold adjudicate``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.campaign import Campaign
from fewgold.formats import Rating
from fewgold.pool import Pool

Run = Callable[..., Any]


@pytest.fixture
def study(run: Run) -> Path:
    run("init", "study", "pool.csv", "--limits", "0,25", "--seed", 3, "--each", 2)
    run("select", "study", "--budget", 12)
    with Campaign("study") as campaign:
        for shift, name in enumerate(["ann", "bob"]):
            campaign.add(
                Rating(i, float(k + shift * (k % 3) * 4), name, details={"seconds": 20 + k})
                for k, i in enumerate(campaign.sample.ids.tolist())
            )
    return Path("study")


def test_work_is_shown(run: Run, study: Path) -> None:
    text = " ".join(run("work", study).stdout.split())
    assert "ann" in text and "26 s" in text and "12 segments with two raters" in text
    assert "the same score in 33%" in text and "Krippendorff's α" in text
    got = json.loads(run("work", study, "--json").stdout)
    assert [r["rater"] for r in got["raters"]] == ["ann", "bob"]
    assert got["agreement"][-1]["shared"] == 12 and got["seconds"] == 25.5


def test_how_raters_work_is_changed(run: Run, study: Path) -> None:
    pd.DataFrame({"id": ["00001"], "low": [3], "high": [5]}).to_csv("gold.csv", index=False)
    asked = ("--check-every", 5, "--known", "gold.csv", "--second", "0.25", "--hold", 10)
    got = json.loads(run("work", study, *asked, "--hand-on", "all", "--json").stdout)
    assert (got["check_every"], got["second"], got["hold"], got["handed_on"]) == (5, 0.25, 600, 0)
    assert got["known_answers"] == 1
    pd.DataFrame({"name": ["x"]}).to_csv("bad.csv", index=False)
    assert (
        "need the columns id and score" in run("work", study, "--known", "bad.csv", code=3).stderr
    )
    assert "second is the share" in run("work", study, "--second", 2, code=3).stderr


def test_what_differs_is_settled(run: Run, study: Path) -> None:
    assert "smallest difference between raters" in run("adjudicate", study, code=3).stderr
    text = " ".join(run("adjudicate", study, "--differ", 8).stdout.split())
    assert "4 segments to settle: raters differ by 8 or more" in text
    queue = json.loads(run("adjudicate", study, "--json").stdout)["queue"]
    first, *rest = [row["segment"] for row in queue]
    done = run("adjudicate", study, "--segment", first, "--score", 9, "--by", "cleo").stdout
    assert "Settled 1." in done and "3 segments to settle" in done
    pd.DataFrame({"id": rest, "score": 7}).to_csv("done.csv", index=False)
    run("adjudicate", study, "--answers", "done.csv", "--by", "cleo")
    assert json.loads(run("adjudicate", study, "--json").stdout)["left"] == 0
    listed = json.loads(run("adjudicate", study, "--settled", "--json").stdout)["queue"]
    assert [row["score"] for row in listed] == [9, 7, 7, 7]
    made = json.loads(run("estimate", study, "--json").stdout)
    assert "adjudicated:replaces(4)" in made["signature"]
    run("adjudicate", study, "--rule", "joins")
    made = json.loads(run("estimate", study, "--json").stdout)
    assert "adjudicated:joins(4)" in made["signature"]
    assert "go together" in run("adjudicate", study, "--score", 3, code=2).stderr
    assert "--by NAME" in run("adjudicate", study, "--answers", "x.csv", code=2).stderr


def test_outputs_side_by_side(run: Run, folder: Path) -> None:
    """From a table of pairs to who is preferred, by way of a sheet."""
    rows = [
        [f"q{k}", f"question {k}", f"one {k}", f"two {k}", (k % 3) - 1,
         *(("ant", "bee") if k % 2 else ("bee", "cow") if k % 4 else ("cow", "ant"))]
        for k in range(60)
    ]  # fmt: skip
    names = ["id", "source", "output_a", "output_b", "judge", "model_a", "model_b"]
    pd.DataFrame(rows, columns=names).to_csv("pairs.csv", index=False)
    asked = ("--side-by-side", "output_a,output_b", "--texts", "source", "--metrics", "judge")
    began = json.loads(run("init", "two", "pairs.csv", *asked, "--seed", 1, "--json").stdout)
    assert began["limits"] == [-1, 1] and began["question"] == "Which output is better?"
    run("init", "many", "pairs.csv", *asked, "--between", "model_a,model_b", "--seed", 1)
    for name in ("two", "many"):
        run("select", name, "--budget", 40)
        run("export", name, "-o", f"{name}.csv")
        sheet = pd.read_csv(f"{name}.csv", dtype=str, keep_default_na=False)
        assert not {"output_a", "output_b", "model_a"} & set(sheet.columns)
        assert {"source", "left", "right"} <= set(sheet.columns)
        sheet["score"] = [str(1 + k % 4) for k in range(len(sheet))]
        sheet.to_csv(f"{name}.csv", index=False)
        run("import", name, f"{name}.csv", "--by", "ann")
    two = json.loads(run("estimate", "two", "--json").stdout)
    assert -1 <= two["value"] <= 1
    many = json.loads(run("preferences", "many", "--judge", "judge", "--json").stdout)
    assert sorted(many["systems"]) == ["ant", "bee", "cow"] and many["rated"] == 40
    assert "output_a preferred to output_b" in run("preferences", "two").stdout.replace(
        "output_b preferred to output_a", "output_a preferred to output_b"
    )
    assert "leave out --human" in " ".join(
        run("preferences", "two", "--human", "x", code=2).stderr.replace("│", " ").split()
    )
    assert "takes two columns" in run("init", "x", "pairs.csv", *asked[:1], "a", code=2).stderr


def test_a_gate_is_about_one_of_several_systems(run: Run, tmp_path: Path) -> None:
    pool = Pool(
        ids=np.array([f"{s}:{k}" for s in "xy" for k in range(40)]),
        system=np.repeat(["x", "y"], 40), texts={"output": np.array(["text"] * 80)},
    )  # fmt: skip
    segments = [str(k) for _ in "xy" for k in range(40)]
    with Campaign.create(
        tmp_path / "s", pool, seed=1, segments=segments, strategy="random+mean", limits=(0, 100)
    ) as made:
        wave = made.select(20)
        made.add(
            Rating(id, (80 if id[0] == "x" else 40) + int(id[2:]) % 7, "ann") for id in wave.ids
        )
    gate = ["gate", str(tmp_path / "s"), "--bar", "60"]
    assert "--system x" in run(*gate, code=3).stderr
    run(*gate, "--system", "x", code=0)
    run(*gate, "--system", "y", code=1)


def test_the_scale_is_written_beside_plain_tables(run: Run, study: Path) -> None:
    run("init", "told", "pool.csv", "--limits", "0,100", "--higher-is-better", "--ends",
        "useless,perfect")  # fmt: skip
    run("select", "told", "--budget", 5)
    for name in ("rate.csv", "rate.tsv", "rate.jsonl"):
        run("export", "told", "-o", name)
        told = Path(f"{name}.README.txt").read_text("utf-8")
        assert "useless" in told and "perfect" in told and "best" in told, told
