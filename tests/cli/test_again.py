"""The lines that a report shows under "How to do it again" do it again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer

from fewgold import sheets
from fewgold.cli import app
from sweeps import quick

_COMMANDS = vars(typer.main.get_command(app))["commands"]


def options_of(command: str) -> set[str]:
    """The names of all options of a command."""
    found = _COMMANDS[command].params
    return {p.name for p in found if p.param_type_name == "option" and p.name != "help"}


#: Options of select, each in a call that another choice would change. None has the default value.
DRAWN: dict[str, list[str]] = {
    "budget": ["--budget", "20%"],
    "cost_budget": ["--cost", "words", "--cost-budget", "900"],
    "risk": ["--cost", "words", "--cost-budget", "900", "--risk", "5%"],
    "strategy": ["--budget", "30", "--strategy", "metrics-prop+cv-mean"],
    "seed": ["--budget", "30", "--seed", "5"],
    "id": ["--budget", "30", "--id", "code"],
    "document": ["--budget", "30", "--document", "position"],
    "metrics": ["--budget", "30", "--metrics", "bleu"],
    "cost": ["--budget", "30", "--strategy", "metrics-opt", "--cost", "5+0.5*words"],
    "system": ["--budget", "30", "--system", "doc_id"],
    "texts": ["--budget", "30", "--texts", "source,words"],
    "orientation": [
        *("--budget", "30", "--strategy", "metrics-prop+cv-mean"),
        *("--orientation", "comet=-1,bleu=+1"),
    ],
    "uncertainty": ["--budget", "30", "--uncertainty", "words"],
    "uniform": ["--budget", "30", "--uncertainty", "words", "--uniform", "10%"],
    "score_column": ["--budget", "30", "--score-column", "mqm"],
    "in_order": ["--budget", "30", "--strategy", "random", "--in-order"],
    "by": ["--budget", "60", "--by", "doc_id", "--per-slice", "2"],
    "per_slice": ["--budget", "80", "--by", "doc_id", "--per-slice", "3"],
}
#: Options that have a test of their own below, or change no sheet.
ELSEWHERE = {
    "given": "test_a_second_wave_is_drawn_again",
    "history": "test_a_sheet_with_a_history_is_drawn_again",
    "history_human": "test_a_sheet_with_a_history_is_drawn_again",
    "shared": "test_a_sheet_of_several_systems_is_drawn_again",
    "criteria": "test_a_sheet_with_several_criteria_is_drawn_again",
    "engine": "test_a_pool_on_disk_is_drawn_from_again",
    "memory": "test_a_pool_on_disk_is_drawn_from_again",
    "order": "test_a_pool_on_disk_is_drawn_from_again",
    **dict.fromkeys(("more", "to", "next", "rater"), "campaigns only"),
    **dict.fromkeys(("out", "design", "force"), "where the files go"),
    **dict.fromkeys(("json", "quiet"), "what is printed"),
}


def test_every_option_of_select_is_tried() -> None:
    assert options_of("select") == DRAWN.keys() | ELSEWHERE.keys()
    tests = {name for name in ELSEWHERE.values() if name.startswith("test_")}
    assert tests <= globals().keys()


def test_every_option_of_report_is_one_of_estimate() -> None:
    from fewgold.cli.report import _OF_PAGE

    assert options_of("report") - set(_OF_PAGE) <= options_of("estimate")


@pytest.fixture
def pool(folder: Path, table: pd.DataFrame) -> str:
    """A table whose columns can be taken in several ways, in a folder of its own."""
    (folder / "sub dir").mkdir()
    wide = table.drop(columns="human").assign(code=[f"c{k}" for k in range(len(table))][::-1])
    wide.to_csv("sub dir/the pool.csv", index=False)
    return "sub dir/the pool.csv"


def fill(sheet: str, human: str = "score", leave: int = 0) -> None:
    """Scores that follow the ids, so that both waves and every pool can be rated."""
    frame = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    score = [str(int.from_bytes(i.encode()) * 7 % 23) for i in frame["id"]]
    frame[human] = score if not leave else [*score[:-leave], *[""] * leave]
    frame.to_csv(sheet, index=False)


def shown(path: str) -> pd.DataFrame:
    """What a sheet shows, whether it is rated or not."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return frame.assign(**{frame.columns[-1]: ""})


#: What a page says about a weighted mean.
_SHOWN = ("value", "se", "low", "high", "signature", "quantity")


def again(run: Any, sheet: str, *options: str) -> list[str]:
    """Run the lines of the report; the estimate is that of the report, digit by digit."""
    page = json.loads(run("report", sheet, "-o", "r.md", "--force", "--json", *options).stdout)
    lines = page["commands"]
    assert all(line in Path("r.md").read_text(encoding="utf-8") for line in lines)
    *drawing, estimating = [shlex.split(line) for line in lines]
    for words in drawing:
        assert words[:2] == ["fewgold", "select"]
        run(*words[1:], "--quiet")
    made = json.loads(run(*estimating[1:], "--json").stdout)
    assert {k: made[k] for k in page["estimate"]} == page["estimate"]
    return lines


@pytest.mark.parametrize("option", DRAWN)
def test_the_same_segments_are_drawn_and_the_same_number_made(
    run: Any, pool: str, option: str
) -> None:
    human = "mqm" if option == "score_column" else "score"
    run("select", pool, *DRAWN[option], "-o", "sheet.csv", "--quiet")
    blank = shown("sheet.csv")
    fill("sheet.csv", human)
    again(run, "sheet.csv")
    pd.testing.assert_frame_equal(shown("sheet-again.csv"), blank)


def test_a_second_wave_is_drawn_again(run: Any, pool: str) -> None:
    run("select", pool, "--metrics", "bleu", "--budget", "20", "-o", "sub dir/one.csv", "--quiet")
    fill("sub dir/one.csv")
    run("select", pool, "--given", "sub dir/one.csv", "--budget", "10%", "-o", "two.csv", "--quiet")
    blank = shown("two.csv")
    fill("two.csv")
    lines = again(run, "two.csv")
    assert len(lines) == 3
    pd.testing.assert_frame_equal(shown("two-again.csv"), blank)
    pd.testing.assert_frame_equal(shown("sub dir/one-again.csv"), shown("sub dir/one.csv"))


def test_a_sheet_with_a_history_is_drawn_again(run: Any, pool: str, table: pd.DataFrame) -> None:
    earlier = table.assign(other=table["human"] ** 2, doc_id="last year " + table["doc_id"])
    earlier.to_csv("sub dir/last year.csv", index=False)
    run(
        *("select", pool, "--history", "sub dir/last year.csv", "--history-human", "other"),
        *("--budget", "30", "-o", "sub dir/sheet.csv", "--quiet"),
    )
    blank = shown("sub dir/sheet.csv")
    fill("sub dir/sheet.csv")
    lines = again(run, "sub dir/sheet.csv")
    assert "--history 'sub dir/last year.csv'" in lines[0] and "--history-human other" in lines[0]
    pd.testing.assert_frame_equal(shown("sub dir/sheet-again.csv"), blank)
    assert "was learnt from earlier ratings (150 ratings in sub dir/last year.csv" in " ".join(
        Path("r.md").read_text(encoding="utf-8").split()
    )


def test_a_sheet_of_several_systems_is_drawn_again(run: Any, table: pd.DataFrame) -> None:
    both = [table.assign(model=name) for name in ("alpha", "beta")]
    pd.concat(both).to_csv("both.csv", index=False)
    run(
        *("select", "both.csv", "--shared", "--metrics", "bleu", "--texts", "source"),
        *("--budget", "20", "-o", "sheet.csv", "--quiet"),
    )
    (line,) = sheets.commands("sheet.csv")
    run(*shlex.split(line)[1:], "--quiet")
    assert Path("sheet-again.csv").read_bytes() == Path("sheet.csv").read_bytes()


def test_a_sheet_with_several_criteria_is_drawn_again(run: Any, pool: str) -> None:
    criteria = ("--criteria", "fluency:1-5:higher,adequacy:0-100")
    run("select", pool, *criteria, "--budget", "20", "-o", "sheet.csv", "--quiet")
    (line,) = sheets.commands("sheet.csv")
    run(*shlex.split(line)[1:], "--quiet")
    assert Path("sheet-again.csv").read_bytes() == Path("sheet.csv").read_bytes()


@pytest.mark.parametrize(
    "extra",
    quick(["--engine=duckdb", "--memory=1GB", "--order=position"], ["--order=position"]),
)
def test_a_pool_on_disk_is_drawn_from_again(run: Any, table: pd.DataFrame, extra: str) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    Path("logs").mkdir()
    for k in range(2):
        table.drop(columns="human").iloc[k::2].to_parquet(f"logs/{k}.parquet")
    pools = ["logs/0.parquet"] if "engine" in extra else ["logs/0.parquet", "logs/1.parquet"]
    run(
        *("select", *pools, "--metrics", "bleu", "--texts", "source", "--budget", "24"),
        *("--strategy", "docs-chunks3", extra, "-o", "sheet.csv", "--quiet"),
    )
    blank = shown("sheet.csv")
    fill("sheet.csv")
    again(run, "sheet.csv")
    pd.testing.assert_frame_equal(shown("sheet-again.csv"), blank)


@pytest.mark.parametrize(
    "option",
    [
        ("--gaps", "at-random"), ("--estimator", "cv-bleu"), ("--confidence", "90%"),
        ("--adequate", "<=9"), ("--limits", "0,25"), ("--pool", "moved.csv"),
        ("--limits", "mqm", "--adequate", ">= 4", "--confidence", "0.8"),
    ],
)  # fmt: skip
def test_options_of_the_report_are_those_of_the_estimate(
    run: Any, pool: str, option: tuple[str, ...]
) -> None:
    run("select", pool, "--budget", "40", "-o", "sheet.csv", "--quiet")
    fill("sheet.csv", leave=3 if "--gaps" in option else 0)
    if "--pool" in option:
        Path(pool).rename("moved.csv")
    again(run, "sheet.csv", *option)


def test_a_report_made_from_elsewhere_names_files_that_are_there(
    run: Any, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("sub dir")
    run("select", "the pool.csv", "--budget", "20", "-o", "-sheet.csv", "--quiet")
    fill("-sheet.csv")
    monkeypatch.chdir("..")
    lines = again(run, "sub dir/-sheet.csv")
    assert "'sub dir/the pool.csv'" in lines[0]


def test_a_pool_from_stdin_is_the_one_that_the_report_was_given(run: Any, pool: str) -> None:
    run(
        *("select", "-", "--metrics", "bleu", "--budget", "20", "-o", "sheet.csv", "--quiet"),
        stdin=Path(pool).read_text(encoding="utf-8"),
    )
    fill("sheet.csv")
    again(run, "sheet.csv", "--pool", pool)
    pd.testing.assert_frame_equal(shown("sheet-again.csv"), shown("sheet.csv"))


def test_side_files_of_before_tell_enough(run: Any, pool: str) -> None:
    run(
        *("select", pool, "--metrics", "bleu", "--texts", "model", "--cost", "words"),
        *("--cost-budget", "600", "-o", "sheet.csv", "--quiet"),
    )
    blank = shown("sheet.csv")
    side = Path("sheet.csv.design.json")
    record = json.loads(side.read_text(encoding="utf-8"))
    del record["select"]
    side.write_text(json.dumps(record), encoding="utf-8")
    fill("sheet.csv")
    again(run, "sheet.csv")
    pd.testing.assert_frame_equal(shown("sheet-again.csv"), blank)


@pytest.mark.parametrize(
    "option",
    [
        (), ("--gaps", "at-random"), ("--estimator", "cv-bleu"), ("--confidence", "90%"),
        ("--adequate", "<= 9"), ("--by", "document"), ("--weights", "words"),
    ],
)  # fmt: skip
def test_the_report_of_a_campaign_does_its_estimate_again(
    run: Any, pool: str, option: tuple[str, ...]
) -> None:
    run("init", "sub dir/study", pool, "--limits", "0,25", "--seed", "1")
    run("select", "sub dir/study", "--budget", "40", "-o", "sheet.csv")
    fill("sheet.csv", leave=3 if "--gaps" in option else 0)
    run("import", "sub dir/study", "sheet.csv")
    page = json.loads(run("report", "sub dir/study", "-o", "r.md", "--json", *option).stdout)
    (line,) = page["commands"]
    made = json.loads(run(*shlex.split(line)[1:], "--json").stdout)
    shown = {n: page["weighted"][n] for n in _SHOWN} if "--weights" in option else page["estimate"]
    assert {k: made[k] for k in shown} == shown
    tried = {"gaps", "estimator", "confidence", "adequate", "by", "weights"}
    # Campaigns of several systems or criteria, larger slices, and shares: tests of their own.
    of_others = {"system", "criteria", "shrink", "mix"}
    sheets_only, of_the_page = (
        {"limits", "pool", "target", "id"},
        {"out", "title", "force", "json", "quiet"},
    )
    labels = {
        "human",
        "chosen",
        "metrics",
        "labels",
        "document",
        "texts",
        "on",
    }  # of a table that people labelled, not of a campaign
    assert options_of("report") == tried | of_others | sheets_only | of_the_page | labels
