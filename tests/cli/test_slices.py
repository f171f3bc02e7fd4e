"""``estimate --by``, ``select --by`` and other answers than the mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def sheet(folder: Path, table: pd.DataFrame, run: Run) -> pd.DataFrame:
    """A pool with a column of languages, and a rated sheet with enough of each."""
    wide = table.assign(
        lang=["de" if k % 4 else "fr" for k in range(len(table))],
        words=[5 + k % 7 for k in range(len(table))],
    )
    wide.drop(columns="human").to_csv("pool.csv", index=False)
    run("select", "pool.csv", "--by", "lang", "--per-slice", "20", "--budget", "60", "--seed", "1",
        "-o", "s.csv")  # fmt: skip
    made = pd.read_csv("s.csv", dtype={"id": str})
    scores = wide.set_index("segment")["human"]
    made["score"] = made["id"].map(scores)
    made.to_csv("s.csv", index=False)
    return wide


def record(run: Run, *args: str) -> dict[str, Any]:
    return dict(json.loads(run("estimate", "s.csv", "--json", *args).stdout))


def test_slices_have_enough_and_add_up(run: Run, sheet: pd.DataFrame) -> None:
    found = record(run, "--by", "lang")
    rows = {row["slice"]: row for row in found["slices"]["slices"]}
    assert {k: row["size"] for k, row in rows.items()} == sheet["lang"].value_counts().to_dict()
    assert min(row["n"] for row in rows.values()) >= 20
    assert sum(row["n"] for row in rows.values()) == found["n"] == 60
    for row in rows.values():
        assert row["low_all"] <= row["low"] < row["value"] < row["high"] <= row["high_all"]
    design = json.loads(Path("s.csv.design.json").read_text(encoding="utf-8"))
    assert design["sampler"].endswith("-by-lang-20")
    assert "--by" in design["select"]["options"]
    lines = run("estimate", "s.csv", "--by", "lang", "--format", "csv").stdout.splitlines()
    assert len(lines) == 3 and lines[0].startswith("slice,n,size,value")
    assert "all at once" in run("estimate", "s.csv", "--by", "lang").stdout


def test_other_answers(run: Run, sheet: pd.DataFrame) -> None:
    plain = record(run)
    size = plain["pool_size"]
    assert record(run, "--total")["value"] == pytest.approx(size * plain["value"])
    both = record(run, "--quantile", "0.5,0.9")["answers"]
    assert [a["p"] for a in both] == [0.5, 0.9] and both[0]["value"] <= both[1]["value"]
    ratio = record(run, "--ratio", "score/words")
    assert ratio["value"] == pytest.approx(plain["value"] / sheet["words"].mean(), rel=0.1)
    assert ratio["signature"].startswith("of:ratio|")
    share = record(run, "--share", ">=50", "--by", "lang")
    assert 0 <= share["value"] <= 1 and share["adequate"] == ">= 50"
    assert record(run, "--adequate", ">=50")["value"] == pytest.approx(share["value"])
    assert record(run, "--weights", "words")["quantity"] == "mean with weights words"
    mixed = record(run, "--by", "lang", "--mix", "de=0.5,fr=0.5")
    rows = {row["slice"]: row["value"] for row in mixed["slices"]["slices"]}
    assert mixed["value"] == pytest.approx((rows["de"] + rows["fr"]) / 2, abs=plain["se"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--by", "nope"), "unknown column 'nope'"),
        (("--shrink",), "need slices"),
        (("--total", "--quantile", "0.5"), "give one of"),
        (("--by", "lang", "--mix", "de=1"), "fr have none"),
        (("--by", "lang", "--gaps", "bounds", "--limits", "0,100"), "whole pool only"),
    ],
)
def test_refusals_say_what_to_do(run: Run, options: tuple[str, ...], sentence: str) -> None:
    result = run("estimate", "s.csv", *options, code=3 if "nope" in options else 2)
    assert sentence in " ".join((result.stderr or result.output).replace("│", " ").split())


def test_labels_that_exist_have_slices_too(run: Run, sheet: pd.DataFrame) -> None:
    labelled = sheet.assign(human=sheet["human"].where(sheet.index % 3 == 0))
    labelled.to_csv("labels.csv", index=False)
    options = ("--human", "human", "--chosen", "random", "--by", "lang", "--id", "segment")
    found = json.loads(run("estimate", "labels.csv", *options, "--json").stdout)
    assert sum(row["n"] for row in found["slices"]["slices"]) == labelled["human"].notna().sum()


def test_success_rates_of_slices(run: Run, sheet: pd.DataFrame) -> None:
    judged = sheet.assign(
        passed=(sheet["human"] > sheet["human"].median()).where(sheet.index % 2 == 0).astype(float),
        judge=(sheet["comet"] > 0).astype(int),
    )
    judged.to_csv("judged.csv", index=False)
    options = ("--human", "passed", "--metric", "judge", "--by", "lang", "--json")
    found = json.loads(run("alpha", "judged.csv", *options).stdout)
    assert {row["system"]: row["items"] for row in found["systems"]} == (
        sheet["lang"].value_counts().to_dict()
    )
