"""``fewgold reliability`` from a table to figures, and what it says when something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.datasets import demo_frame
from fewgold.reliability import documents_needed, reliability

Run = Callable[..., Any]
FAST = ("--draws", "40", "--orders", "2")


@pytest.fixture(scope="module")
def three() -> pd.DataFrame:
    """Three systems on 20 documents; nothing is missing but some ratings."""
    frame = demo_frame("ende")[["segment", "document", "system", "rater1", "comet", "bleu"]]
    first = list(dict.fromkeys(frame["document"]))[:20]
    return frame[frame["system"].isin(["human", "alpha", "beta"]) & frame["document"].isin(first)]


@pytest.fixture
def demo(folder: Path, three: pd.DataFrame) -> pd.DataFrame:
    """The same, as ``demo.csv``."""
    three.to_csv("demo.csv", index=False)
    return three


def test_text(run: Run, demo: pd.DataFrame) -> None:
    done = run("reliability", "demo.csv", "--score", "comet,bleu", *FAST)
    assert "document = document, system = system, segment = segment" in done.stderr
    want = reliability(
        demo, score=["comet", "bleu"], document="document", system="system", segment="segment",
        draws=40, orders=2, rng=0,
    )  # fmt: skip
    assert done.stdout.strip() == want.summary()
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_embedded_sets(run: Run) -> None:
    done = run("reliability", "demo-ende", *FAST, "--half-width", "0.3", "--against", "human")
    assert "score = score" in done.stderr
    assert "130 documents, 1418 segments, 2 random orders, 40 draws of segments" in done.stdout
    assert "for a difference to human within ±0.3" in done.stdout
    assert "unknown demo set 'x'" in run("reliability", "demo-x", code=3).stderr


def test_formats(run: Run, demo: pd.DataFrame) -> None:
    args = ("reliability", "demo.csv", "--score", "bleu", *FAST, "-q")
    record = json.loads(run(*args, "--json", "--half-width", "1", "--population", "these").stdout)
    assert record["documents"] == 20 and record["resample"] == "segments"
    assert len(record["fits"]) == 6 and len(record["ranks"]) == 20
    plan = documents_needed(
        demo, score="bleu", document="document", system="system", segment="segment",
        half_width=1, population="these",
    )  # fmt: skip
    found = [row["documents"] for row in record["needed"]["rows"]]
    assert found == plan.documents[0].tolist()
    rows = run(*args, "--format", "csv").stdout.splitlines()
    assert rows[0].startswith("score,system,documents,segments,mean,sd,relative_sd")
    assert len(rows) == 1 + 3 * 20
    assert r"\toprule" in run(*args, "--format", "latex").stdout


def test_options(run: Run, demo: pd.DataFrame) -> None:
    def ask(*more: str) -> dict[str, Any]:
        args = ("reliability", "demo.csv", "--score", "bleu", *FAST, "--json", "-q", *more)
        found: dict[str, Any] = json.loads(run(*args).stdout)
        return found

    assert ask() == ask() and ask("--seed", "1") != ask()
    assert ask("--orders", "file")["orders"] == "file"
    whole = ask("--resample", "documents", "--at", "2,5,10")
    assert [row["documents"] for row in whole["curves"][:3]] == [2, 5, 10]
    assert len(ask("--at", "all")["ranks"]) == 20
    plain, far = ask(), ask("--x-i", "2", "--epsilon", "0.001")
    assert far["fits"][0]["x_min"] == pytest.approx(2 * plain["fits"][0]["x_min"])
    assert far["fits"][0]["x_max"] < plain["fits"][0]["x_max"]
    absolute = ask("--absolute")
    assert absolute["relative"] is False and absolute["fits"][0]["a"] > plain["fits"][0]["a"]
    single = ask("--system", "none", "--segment", "none")
    assert single["systems"] == ["(all)"] and "ranks" not in single


FORMS = ("png", "svg", "pdf")


def test_folder(
    run: Run, demo: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("reliability", "demo.csv", *FAST)
    done = run(*args, "--score", "bleu", "-o", "out/deep")
    deep = folder / "out" / "deep"
    assert "written: out/deep/curves.csv" in done.stdout
    assert len(pd.read_csv(deep / "fits.csv")) == 6
    kinds = ("sd", "mean", "tangent", "ranks")
    figures = {f"{kind}.{form}" for kind in kinds for form in FORMS}
    assert {p.name for p in deep.iterdir()} == figures | {"curves.csv", "fits.csv", "ranks.csv"}
    assert all((deep / name).stat().st_size > 5_000 for name in figures)

    def draw_nothing(figure: object, path: Path) -> Path:
        path.touch()
        return path

    monkeypatch.setattr("fewgold.plots.save", draw_nothing)
    run(*args, "--score", "bleu,comet", "--half-width", "1", "-o", "two")
    kinds = ("sd", "mean", "tangent", "documents")
    names = [f"{kind}-{k}" for kind in kinds for k in ("1-bleu", "2-comet")]
    figures = {f"{name}.{form}" for name in [*names, "ranks"] for form in FORMS}
    tables = {"curves.csv", "fits.csv", "ranks.csv", "documents.csv"}
    assert {p.name for p in (folder / "two").iterdir()} == figures | tables


def test_columns_are_guessed(run: Run) -> None:
    done = run("reliability", "pool.csv", *FAST)
    assert "document = doc_id, system = model, score = human" in done.stderr
    assert "25 documents, 150 segments" in done.stdout


def test_ids_that_systems_do_not_share(run: Run, demo: pd.DataFrame) -> None:
    demo.assign(segment=np.arange(len(demo))).to_csv("own.csv", index=False)
    done = run("reliability", "own.csv", "--score", "bleu", *FAST)
    assert "segment =" not in done.stderr
    assert f"20 documents, {len(demo) // 3} segments" in done.stdout


@pytest.mark.parametrize(
    ("args", "code", "say"),
    [
        (("demo.csv",), 3, "that lack a score for a system: 'rater1'"),
        (("demo.csv", "--score", "blue"), 3, "Did you mean 'bleu'"),
        (("demo.csv", "--score", "bleu", "--document", "page"), 3, "unknown column 'page'"),
        (("demo.csv", "--score", "bleu", "--system", "who"), 3, "unknown column 'who'"),
        (("demo.csv", "--score", "system"), 3, "must hold numbers"),
        (
            ("demo.csv", "--score", "bleu", "--document", "system", "--system", "system"),
            3,
            "each need their own column",
        ),
        (("one.csv", "--score", "bleu"), 3, "at least two documents; got 1"),
        (("row.csv", "--score", "bleu"), 3, "at least two segments"),
        (("nought.csv", "--score", "bleu"), 3, "is 0 on average"),
        (("bare.csv", "--score", "bleu"), 3, "which column holds the documents?"),
        (("bare.csv", "--document", "system"), 3, "which column holds the human scores?"),
        (("demo.csv", "--score", "bleu", "--orders", "many"), 2, "--orders must be"),
        (("demo.csv", "--score", "bleu", "--at", "few"), 2, "--at must be like"),
        (("demo.csv", "--score", "bleu", "--at", "500"), 3, "from 1 to 20"),
        (("demo.csv", "--score", "bleu", "--against", "human"), 2, "need --half-width"),
        (("demo.csv", "--score", "bleu", "--half-width", "1", "--against", "x"), 3, "system 'x'"),
        (("demo.csv", "--score", "bleu", "--half-width", "-1"), 3, "must be above 0"),
        (
            ("demo.csv", "--score", "bleu", "--half-width", "1", "--population", "x"),
            2,
            "--population must be",
        ),
        (("nowhere.csv",), 3, "no file"),
    ],
)
def test_what_is_wrong(
    run: Run, demo: pd.DataFrame, args: tuple[str, ...], code: int, say: str
) -> None:
    demo.assign(document="d").to_csv("one.csv", index=False)
    demo.head(1).to_csv("row.csv", index=False)
    demo.assign(bleu=0).to_csv("nought.csv", index=False)
    demo[["segment", "system", "bleu"]].to_csv("bare.csv", index=False)
    done = run("reliability", *args, *(() if "--orders" in args else FAST), code=code)
    assert say in " ".join(done.stderr.replace("│", " ").split())
