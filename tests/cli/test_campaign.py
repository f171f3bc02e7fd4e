"""A campaign on the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
import typer.main

from fewgold.campaign import Campaign
from fewgold.cli import app
from fewgold.formats import Rating
from sweeps import quick

Run = Callable[..., Any]


@pytest.fixture
def study(run: Run) -> str:
    run("init", "study", "pool.csv", "--metrics", "comet,bleu", "--limits", "0,25", "--seed", 3)
    return "study"


@pytest.fixture
def answer(table: pd.DataFrame) -> Callable[..., None]:
    """Answer the first segments that wait for it, with what people would say."""
    gold = dict(zip(table["segment"], table["human"], strict=True))

    def give(count: int | None = None, rater: str = "ann") -> None:
        with Campaign("study") as campaign:
            campaign.add(Rating(i, gold[i], rater) for i in campaign.unrated[:count])

    return give


def test_from_init_to_report(run: Run, study: str, answer: Callable[..., None]) -> None:
    chosen = json.loads(run("select", study, "--budget", 30, "--json").stdout)
    assert chosen["n"] == 30 and chosen["seed"] == 3 and len(chosen["ids"]) == 30
    direct = json.loads(
        run("select", "pool.csv", "--metrics", "comet,bleu", "--budget", 30, "--seed", 3, "-o",
            "sheet.csv", "--json").stdout
    )  # fmt: skip
    assert direct["fingerprint"] == Campaign(study).pool.fingerprint
    assert set(pd.read_csv("sheet.csv", dtype=str)["id"]) == set(chosen["ids"])
    answer()
    text = run("estimate", study).stdout
    assert "Estimated mean score of all 150 segments" in text and "est:ridge|design:" in text
    more = json.loads(run("select", study, "--more", "10", "--json").stdout)
    assert more["wave"] == 2 and more["sampled"] == 40
    assert "10 of 40 segments are unrated" in run("estimate", study, code=3).stderr
    early = json.loads(run("estimate", study, "--waves", 1, "--json").stdout)
    assert early["n"] == 30
    answer()
    late = json.loads(run("estimate", study, "--json").stdout)
    assert late["n"] == 40 and late["seed"] == [3, more["seed"]]
    run("report", study, "-o", "r.html")
    page = Path("r.html").read_text()
    assert late["signature"] in page and "http-equiv" in page
    assert "exists" in run("report", study, "-o", "r.html", code=2).stderr
    run("report", study, "-o", "r.md", "--confidence", "90%")
    assert "90% interval" in Path("r.md").read_text()


def test_a_goal_is_reached_only_by_a_narrow_interval(run: Run) -> None:
    """Equal scores have no spread to plan from, but a guaranteed interval is wide all the same."""
    run("init", "study", "pool.csv", "--metrics", "none", "--limits", "0,25", "--tolerance", 1,
        "--bound", "betting", "--strategy", "random+mean")  # fmt: skip
    run("select", "study", "--budget", 10)
    with Campaign("study") as campaign:
        campaign.add(Rating(i, 5.0, "ann") for i in campaign.unrated)
        goal = campaign.status().goal
    assert goal is not None and goal["needed"] is None and goal["half_width"] > 1
    text = run("status", "study").stdout
    assert "± 1 wanted" in text and "reached" not in text


def test_a_report_of_a_sheet(run: Run, rate: Callable[[str], None]) -> None:
    run("select", "pool.csv", "--budget", 25, "--seed", 1, "-o", "s.csv")
    rate("s.csv")
    made = json.loads(run("report", "s.csv", "-o", "s.html", "--json").stdout)
    direct = json.loads(run("estimate", "s.csv", "--json").stdout)
    assert made["estimate"]["value"] == direct["value"]
    assert made["estimate"]["signature"] == direct["signature"]


def test_gaps_of_a_sheet_are_a_choice(run: Run, rate: Callable[[str], None]) -> None:
    run("select", "pool.csv", "--budget", 25, "--seed", 1, "-o", "s.csv")
    rate("s.csv")
    sheet = pd.read_csv("s.csv", dtype=str)
    sheet.loc[:3, "score"] = ""
    sheet[1:].to_csv("s.csv", index=False)
    assert "--gaps" in run("estimate", "s.csv", code=3).stderr
    chance = json.loads(run("estimate", "s.csv", "--gaps", "at-random", "--json").stdout)
    assert chance["n"] == 21 and "gaps:4-at-random" in chance["signature"]
    assert any("missing at random" in note for note in chance["notes"])
    args = ("estimate", "s.csv", "--gaps", "bounds")
    assert "ends of the scale" in " ".join(run(*args, code=2).stderr.replace("│", " ").split())
    worst = json.loads(run(*args, "--limits", "mqm", "--json").stdout)
    assert worst["low"] <= worst["region"][0] <= chance["value"] <= worst["region"][1]
    assert worst["region"][1] <= worst["high"] and "gaps:4-worst-case" in worst["signature"]
    assert "whatever the \nscores of the unrated segments" in run(*args, "--limits", "mqm").stdout
    run("report", "s.csv", "-o", "s.html", "--gaps", "at-random")
    assert "missing at random" in Path("s.html").read_text()


def test_a_spreadsheet_there_and_back(run: Run, study: str, table: pd.DataFrame) -> None:
    run("select", study, "--budget", 12, "-o", "to_rate.xlsx")
    gold = dict(zip(table["segment"], table["human"], strict=True))
    book = openpyxl.load_workbook("to_rate.xlsx")
    page = book.active
    assert page is not None
    head = [c.value for c in page[1]]
    place = {name: head.index(name) for name in ("id", "rate", "score", "rater")}
    rows = [row for row in page.iter_rows(min_row=2) if row[place["rate"]].value == "yes"]
    assert len(rows) == 12
    for row in rows[:7]:
        row[place["score"]].value = gold[str(row[place["id"]].value)]
        row[place["rater"]].value = "ann"
    rows[7][place["score"]].value = "very good"
    book.save("answers.xlsx")
    done = json.loads(run("import", study, "answers.xlsx", "--json").stdout)
    (one,) = done["imports"]
    assert one["stored"] == 7 and one["blank"] == 4 and len(one["refused"]) == 1
    assert one["rows"] == one["used"] + one["blank"] + one["context"] + 1
    assert done["rated"] == 7 and len(done["unrated"]) == 5
    assert "very good" in run("import", study, "answers.xlsx").stdout
    run("import", study, "answers.xlsx", "--fail-rejected", code=1)
    assert len(run("status", study, "--unrated").stdout.split()) == 5
    run("export", study, "--what", "rejected", "-o", "rejected.csv")
    assert "very good" in Path("rejected.csv").read_text()


@pytest.mark.parametrize(
    "to",
    quick(
        ["csv", "tsv", "xlsx", "jsonl", "parquet", "label-studio", "label-studio-csv", "argilla",
         "pearmut", "potato", "appraise"],
        ["csv", "xlsx", "label-studio", "pearmut"],
    ),
)  # fmt: skip
def test_answers_go_to_other_tools_and_come_back(
    run: Run, study: str, answer: Callable[..., None], to: str
) -> None:
    run("select", study, "--budget", 15)
    run("export", study, "-o", f"tasks.{to}", "--to", to)
    tasks = json.loads(run("import", study, f"tasks.{to}", "--from", to, "--json").stdout)
    assert tasks["stored"] == 0 and tasks["imports"][0]["blank"] == 15
    answer()
    run("export", study, "--what", "ratings", "-o", f"out.{to}", "--to", to)
    run("init", "twin", "pool.csv", "--metrics", "comet,bleu", "--limits", "0,25", "--seed", 3)
    run("select", "twin", "--budget", 15)
    back = json.loads(run("import", "twin", f"out.{to}", "--json").stdout)
    assert back["stored"] == 15, back
    numbers = [json.loads(run("estimate", s, "--json").stdout) for s in (study, "twin")]
    assert numbers[0]["signature"] == numbers[1]["signature"]
    assert numbers[0]["value"] == numbers[1]["value"]


def test_a_tree_is_a_pool(run: Run) -> None:
    texts = {"documents/en-de.docs": "news a\n" * 6 + "news b\n" * 6,
             "sources/en-de.txt": "".join(f"source {i}\n" for i in range(12))}  # fmt: skip
    for system in ("one", "two"):
        outputs = "".join(f"{system} {i}\n" for i in range(12))
        texts[f"system-outputs/en-de/{system}.txt"] = outputs
    scores = "".join(f"{s}\t{i * i % 7}\n" for s in ("one", "two") for i in range(12))
    texts["metric-scores/en-de/BLEU-refA.seg.score"] = scores
    texts["human-scores/en-de.mqm.seg.score"] = scores
    for name, text in texts.items():
        Path("tree", name).parent.mkdir(parents=True, exist_ok=True)
        Path("tree", name).write_text(text)
    args = ("init", "study", "tree", "--pair", "en-de", "--only-system", "two", "--json")
    made = json.loads(run(*args).stdout)
    assert made["pool_size"] == 12 and made["metrics"] == ["BLEU-refA"]
    assert made["pool_documents"] == 2 and made["texts"] == ["source", "output"]
    run("select", "study", "--budget", 12)
    done = json.loads(run("import", "study", "tree", "--json").stdout)
    assert done["rated"] == 12 and done["imports"][0]["set_aside"] == {
        "it rates another system": 12
    }


def test_answers_on_stdin(run: Run, study: str) -> None:
    run("select", study, "--budget", 5)
    with Campaign(study) as campaign:
        text = "id,score\n" + "".join(f"{i},2\n" for i in campaign.unrated)
    assert (
        "Stored 5 new answers from stdin (csv, 5 rows)"
        in run("import", study, "-", stdin=text).stdout
    )


def test_status_says_what_is_next(run: Run, study: str, answer: Callable[..., None]) -> None:
    assert "fewgold select study --budget" in run("status", study).stdout
    run("select", study, "--budget", 10)
    run("status", study, "--fail-open", code=1)
    answer(5)
    text = run("status", study).stdout
    assert "5 of 10 sampled segments rated" in text and "missing at random" in " ".join(
        text.split()
    )
    answer()
    run("status", study, "--fail-open")
    assert "fewgold report study" in run("status", study).stdout
    assert max(map(len, text.splitlines())) <= 80


def test_one_at_a_time(run: Run) -> None:
    run("init", "study", "pool.csv", "--strategy", "docs-incr-human", "--seed", 1, "-q")
    assert "--next" in run("select", "study", "--budget", 4).stdout
    seen = []
    for _ in range(4):
        one = json.loads(run("select", "study", "--next", "--rater", "ann", "--json").stdout)
        seen.append(one["segment"])
        Path("a.csv").write_text(f"key,score,rater\n{one['key']},3,ann\n")
        run("import", "study", "a.csv")
    assert len(set(seen)) == 4
    assert "Nothing to rate" in run("select", "study", "--next", "--rater", "ann").stdout


def test_what_cannot_be_done_is_said(run: Run, study: str) -> None:
    for args, code, said in [
        (("init", study, "pool.csv"), 3, "exists already"),
        (("init", "x", "none.csv"), 3, "there is no file"),
        (("select", study, "--more", "5"), 3, "nothing has been drawn yet"),
        (("select", study, "--budget", "5", "--metrics", "comet"), 2, "--metrics cannot be given"),
        (("select", "pool.csv", "--more", "5", "-o", "x.csv"), 2, "are for campaigns"),
        (("select", "pool.csv", "--budget", "5"), 2, "-o FILE"),
        (("select", study, "--budget", "5", "-o", "x.what"), 2, "cannot tell the format"),
        (("import", study), 2, "name a file"),
        (("import", study, "none.json"), 3, "there is no file"),
        (("import", "nowhere", "pool.csv"), 3, "there is no campaign"),
        (("export", study, "-o", "x.csv"), 3, "nothing has been drawn yet"),
        (("export", study, "-o", "x.csv", "--to", "exel"), 2, "exel"),
        (("estimate", study), 3, "nothing has been drawn yet"),
        (("report", study, "-o", "x.pdf"), 2, ".html or .md"),
        (("status", "pool.csv"), 3, "there is no campaign"),
        (("estimate", study, "--limits", "0,9"), 2, "--limits cannot be given"),
    ]:
        result = run(*args, code=code)
        assert said in " ".join(result.stderr.replace("│", " ").split()), (args, result.stderr)
        assert "Traceback" not in result.stderr
    assert not Path("x.csv").exists()
    with Campaign(study) as campaign:
        assert not campaign.waves  # a format that cannot be written draws nothing


def test_every_command_has_json_and_an_example(run: Run) -> None:
    commands = vars(typer.main.get_command(app))["commands"]
    assert len(commands) >= 18
    for name, command in commands.items():
        flags = {flag for p in command.params for flag in p.opts}
        assert "--json" in flags, name
        assert f"fewgold {name} " in command.help.replace("[bold]", ""), name


def test_completion_is_there(process: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    shown = process(env={"_FEWGOLD_COMPLETE": "source_bash"})
    assert shown.returncode == 0 and "complete -o default -F" in shown.stdout
    words = {"_FEWGOLD_COMPLETE": "complete_bash", "COMP_WORDS": "fewgold sel", "COMP_CWORD": "1"}
    assert process(env=words).stdout.split() == ["select"]


def test_which_end_is_good_is_told_or_not(run: Run) -> None:
    def begin(name: str, *options: object) -> dict[str, Any]:
        args = ("init", name, "pool.csv", "--metrics", "comet,bleu", *options, "--json")
        found: dict[str, Any] = json.loads(run(*args).stdout)
        return found

    told = begin("a", "--limits", "0,25", "--lower-is-better")
    assert told["higher_is_better"] is False and told["question"].startswith("How bad")
    assert begin("b", "--limits", "mqm")["higher_is_better"] is False
    assert begin("c", "--limits", "da")["question"] == "How good is this output?"
    own = begin("d", "--limits", "0,25", "--lower-is-better", "--question", "Count errors.")
    assert own["question"] == "Count errors."
    unknown = run("init", "e", "pool.csv", "--metrics", "comet,bleu", "--limits", "0,25")
    assert "Rate this output." in unknown.stdout and "0 to 25" in unknown.stdout
    assert "--lower-is-better" in unknown.stderr
    with Campaign("e") as campaign:
        assert campaign.settings.higher_is_better is None


def test_refused_bounds_name_what_to_type(run: Run) -> None:
    """Python's arguments are of no use on a command line."""
    told = ("init", "study", "pool.csv", "--metrics", "comet", "--limits", "0,25", "--bound")
    for bound, strategy in [
        ("betting", "docs-balanced+ridge"), ("hoeffding", "random+ridge"),
        ("clopper-pearson", "docs-prop+mean"), ("star", "docs-prop+mean"),
        ("stratified-betting", "docs-sys+mean"),
    ]:  # fmt: skip
        said = " ".join(run(*told, bound, "--strategy", strategy, code=3).stderr.split())
        assert "--bound student" in said, said
        assert "bound=" not in said and "()" not in said and "printed=" not in said, said
