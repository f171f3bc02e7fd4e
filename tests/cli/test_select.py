"""``fewgold select``: budgets, guessed columns, usage errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fewgold import io
from fewgold.cli.input import unrated
from fewgold.io.columns import roles

Run = Callable[..., Any]


def selected(run: Run, *args: Any) -> dict[str, Any]:
    out = ("-o", "s.csv", "--force", "--json")
    return dict(json.loads(run("select", "pool.csv", *out, *args).stdout))


@pytest.mark.parametrize(
    ("budget", "n"),
    [("30", 30), ("10%", 15), ("0.1", 15), ("2.5 %", 4), ("100%", 150), (" 7 ", 7), ("0.01%", 1)],
)
def test_budgets(run: Run, budget: str, n: int) -> None:
    assert selected(run, "--budget", budget)["n"] == n
    assert len(io.read_table("s.csv")) == n


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--budget", "5", "--cost-budget", "5"),
        ("--budget", "many"),
        ("--budget", "1.5"),
        ("--budget", "0"),
        ("--budget", "-3"),
        ("--budget", "101%"),
        ("--budget", "0%"),
        ("--budget", "5", "--risk", "0.1"),
        ("--budget", "5", "--seed", "-1"),
        ("--budget", "5", "--orientation", "comet"),
        ("--budget", "5", "--orientation", "comet=2"),
        ("--budget", "5", "--no-such-option"),
    ],
)
def test_usage_errors(run: Run, args: tuple[str, ...]) -> None:
    result = run("select", "pool.csv", "-o", "s.csv", *args, code=2)
    assert not result.stdout
    assert not Path("s.csv").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--budget", "151"), "from 1 to 150"),
        (("--budget", "5", "--strategy", "docs-blanced+ridge"), "Did you mean 'docs-balanced'"),
        (("--budget", "5", "--strategy", "random+rige"), "Did you mean 'ridge'"),
        (("--budget", "5", "--id", "segmnt"), "Did you mean 'segment'"),
        (("--budget", "5", "--id", "doc_id"), "ids must differ"),
        (("--budget", "5", "--metrics", "comet,blue"), "Did you mean 'bleu'"),
        (("--budget", "5", "--metrics", "source"), "must hold numbers"),
        (("--budget", "5", "--metrics", "flat"), "is constant"),
        (("--budget", "5", "--cost", "12+0.7*wrds"), "Did you mean 'words'"),
        (("--budget", "5", "--orientation", "chrf=1"), "unknown metric in orientation 'chrf'"),
        (("--budget", "5", "--score-column", "source"), "two columns named 'source'"),
    ],
)
def test_data_errors(run: Run, table: pd.DataFrame, args: tuple[str, ...], message: str) -> None:
    table.assign(flat=1.0).to_csv("pool.csv", index=False)
    result = run("select", "pool.csv", "-o", "s.csv", *args, code=3)
    assert message in result.stderr
    assert "error: " in result.stderr
    assert not result.stdout
    assert not Path("s.csv").exists()


@pytest.mark.parametrize("gap", ["", "NA"])
@pytest.mark.parametrize("count", [30, 31])
def test_gaps_in_metrics(run: Run, table: pd.DataFrame, gap: str, count: int) -> None:
    """Up to a fifth of 150 is filled with the mean; with more, only what is named is."""
    cells = table["comet"].astype(object)
    cells.iloc[:count] = gap
    table.assign(comet=cells).to_csv("pool.csv", index=False)
    args = ("select", "pool.csv", "--budget", "5", "--seed", "1", "--force")
    guessed = run(*args, "-o", "s.csv").stderr
    told = f"gaps in metrics, filled with the mean of the metric: comet ({count})"
    assert (told in guessed) == (count == 30)
    assert (", comet (31 gaps). To use one of them anyway, name" in guessed) == (count == 31)
    named = ("--metrics", "comet,bleu")
    assert told in run(*args, "-o", "named.csv", *named).stderr
    full = pd.to_numeric(cells, errors="coerce")
    table.assign(comet=full.fillna(full.mean())).to_csv("pool.csv", index=False)
    run(*args, "-o", "full.csv", *named)
    assert Path("named.csv").read_text() == Path("full.csv").read_text()


def test_files_that_cannot_be_used(run: Run) -> None:
    end = ("--budget", "5", "-o", "s.csv")
    assert "there is no file" in run("select", "none.csv", *end, code=3).stderr
    Path("empty.csv").write_text("")
    assert "is empty" in run("select", "empty.csv", *end, code=3).stderr
    Path("x.jsonl").write_text("[1]\n")
    assert "object" in run("select", "x.jsonl", *end, code=3).stderr
    Path("x.docx").write_text("x")
    assert "it is text but not a table" in run("select", "x.docx", *end, code=3).stderr
    Path("bad.csv").write_text("id,comet\n")
    assert "no rows" in run("select", "bad.csv", *end, code=3).stderr
    result = run("select", "pool.csv", "--budget", "5", "-o", "no/where.csv", code=3)
    assert "no folder" in result.stderr


def test_files_are_not_overwritten(run: Run) -> None:
    args = ("select", "pool.csv", "--budget", 5, "-o", "s.csv")
    run(*args, "--seed", 1)
    before = Path("s.csv").read_text()
    assert "--force" in run(*args, "--seed", 2, code=3).stderr
    assert Path("s.csv").read_text() == before
    run(*args, "--seed", 2, "--force")
    assert Path("s.csv").read_text() != before


def test_sources_are_not_overwritten_by_force(run: Run) -> None:
    before = Path("pool.csv").read_text()
    run("select", "pool.csv", "--budget", 5, "-o", "./pool.csv", "--force", code=2)
    run(
        "select",
        "pool.csv",
        "--budget",
        5,
        "-o",
        "s.csv",
        "--design",
        "pool.csv",
        "--force",
        code=2,
    )
    assert Path("pool.csv").read_text() == before
    run("select", "pool.csv", "--budget", 5, "-o", "s.csv")
    again = ("--given", "s.csv", "-o", "s.csv", "--force")
    run("select", "pool.csv", "--budget", 5, *again, code=2)


def test_a_seed_is_chosen_and_said(run: Run) -> None:
    first = selected(run, "--budget", 20)
    ids = io.read_table("s.csv")["id"].tolist()
    again = selected(run, "--budget", 20, "--seed", first["seed"])
    assert io.read_table("s.csv")["id"].tolist() == ids
    assert again["seed"] == first["seed"]
    seeds = {selected(run, "--budget", 3)["seed"] for _ in range(4)}
    assert len(seeds) > 1


def test_columns_are_guessed_and_said(run: Run) -> None:
    result = run("select", "pool.csv", "--budget", 5, "-o", "s.csv")
    assert "id = segment, document = doc_id, system = model, texts = source" in result.stderr
    assert "metrics = comet, bleu, words" in result.stderr
    assert "human (may be human scores)" in result.stderr
    assert "position (numbers the rows)" in result.stderr
    result = run("select", "pool.csv", "--budget", 5, "-o", "t.csv", "-q")
    assert result.stderr == ""


def test_named_columns_are_taken(run: Run) -> None:
    got = selected(run, "--budget", 5, "--metrics", "comet", "--orientation", "comet=-1")
    assert got["columns"]["metrics"] == ["comet"]
    assert "metrics" not in got["guessed"]
    record = json.loads(Path("s.csv.design.json").read_text())
    assert record["pool"]["columns"]["orientation"] == {"comet": -1}
    got = selected(run, "--budget", 5, "--metrics", "none")
    assert got["columns"]["metrics"] == []
    assert got["strategy"] == "docs-sys+mean"
    selected(run, "--budget", 5, "--texts", "source,model")
    assert list(io.read_table("s.csv")) == ["id", "document", "source", "model", "score"]


def test_what_select_shows(run: Run) -> None:
    text = run("select", "pool.csv", "--budget", 5, "-o", "s.csv", "--seed", 9).stdout
    for part in ("Chose 5 of 150 segments", "of 25 documents", "(recommended)", "--seed 9",
                 "s.csv.design.json", "fewgold estimate s.csv"):  # fmt: skip
        assert part in text
    args = ("select", "pool.csv", "--budget", 5, "-o", "t.csv", "--strategy", "docs-incr-human")
    assert "--given t.csv" in run(*args).stdout


def guess(**columns: Any) -> Any:
    return unrated(roles(pd.DataFrame(columns)))


@pytest.mark.parametrize(
    "name",
    ["human", "score", "MQM", "mqm_score", "rater1", "raterA_score", "gold", "DA", "da_raw",
     "human_comet", "overall-score", "annotator 2", "Rating", "label", "humanScore", "z_score"],
)  # fmt: skip
def test_human_scores_never_pass_for_metrics(name: str) -> None:
    found = guess(id=["a", "b"], comet=[0.1, 0.2], **{name: [1.0, 2.0]})
    assert found.columns["metrics"] == ["comet"]
    assert name in found.left_out


@pytest.mark.parametrize(
    "name", ["COMET-DA", "wmt20-comet-da", "bleurt_score", "BERTScore", "metricx", "judge", "qe"]
)
def test_metrics_pass_for_metrics(name: str) -> None:
    assert guess(id=["a", "b"], **{name: [1.0, 2.0]}).columns["metrics"] == [name]


def test_guesses_that_are_not_made() -> None:
    found = guess(
        id=["a", "b", "c"], n=[0, 1, 2], seg_no=[5, 9, 7], flat=[1, 1, 1], gaps=["1", "", "3"],
        words=["x", "1", "2"], cost=[1, 0, 2], price=["a", "b", "c"], inf=[1.0, float("inf"), 2],
    )  # fmt: skip
    assert found.columns["metrics"] == ["cost"]
    assert found.columns["cost"] is None
    assert {n: str(w) for n, w in found.left_out.items()} == {
        "n": "numbers the rows",
        "seg_no": "numbers the rows",
        "flat": "the same everywhere",
        "gaps": "1 gap",
        "inf": "1 not a number, such as 'inf': empty such cells",
    }


def test_no_id_is_no_guess(run: Run) -> None:
    pd.DataFrame({"a": ["x", "x"], "b": [1, 2]}).to_csv("p.csv", index=False)
    result = run("select", "p.csv", "--budget", 1, "-o", "s.csv", code=3)
    assert "Name it with --id, or two that tell rows apart (--id a,b): a, b." in result.stderr
    assert "number the rows first: fewgold doctor prints a command" in result.stderr


def test_ids_are_found_by_their_cells(run: Run, table: pd.DataFrame) -> None:
    table = table.assign(segment=[f"V{i}" for i in table["segment"]])
    table.to_csv("pool.csv", index=False)
    table.rename(columns={"segment": "Vorgang"}).to_csv("other.csv", index=False)
    args = ("--budget", "10", "--seed", "1")
    assert "id = Vorgang, " in run("select", "other.csv", *args, "-o", "a.csv").stderr
    run("select", "pool.csv", *args, "-o", "b.csv")
    assert Path("a.csv").read_text() == Path("b.csv").read_text()


@pytest.mark.parametrize("named", [True, False])
def test_a_pool_with_a_byte_order_mark_is_the_same_pool(run: Run, named: bool) -> None:
    """The id is the first column: a mark that stays on its name hides it. In a file and a pipe."""
    columns = ("--id", "segment", "--document", "doc_id", "--metrics", "comet") if named else ()
    plain = selected(run, "--budget", "10", "--seed", "3", *columns)
    ids = io.read_table("s.csv")["id"].tolist()
    pool = Path("pool.csv")
    pool.write_bytes(b"\xef\xbb\xbf" + pool.read_bytes())
    assert selected(run, "--budget", "10", "--seed", "3", *columns) == plain
    assert io.read_table("s.csv")["id"].tolist() == ids
    text = pool.read_text(encoding="utf-8")
    assert text.startswith("\ufeff")
    options = ("-o", "p.csv", "--budget", "10", "--seed", "3", *columns)
    run("select", "-", *options, stdin=text)
    assert io.read_table("p.csv")["id"].tolist() == ids


def test_refusals_name_the_way_out(run: Run) -> None:
    said = run("select", "pool.csv", "--budget", 10**6, "-o", "s.csv", code=3).stderr
    assert "--budget 10%" in said and "a float" not in said.lower()
    shared = ("select", "pool.csv", "--budget", 5, "-o", "s.csv", "--shared", "--in-order")
    assert "fewgold init FOLDER POOL" in run(*shared, code=2).stderr.replace("│", " ")
