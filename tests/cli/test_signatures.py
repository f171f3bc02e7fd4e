"""A signature pins all that changes a number: every option of every command that prints one."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from fewgold.cli import app

_COMMANDS = vars(typer.main.get_command(app))["commands"]
Change = tuple[tuple[str, ...], tuple[str, ...]]

SHEET, GAPS, ORDER = ("sheet.csv",), ("gaps.csv",), ("order.csv",)
FEW = ("few.csv", "--confidence", "0.9999")
RATED = ("rated.csv", "--human", "part", "--metrics", "comet,bleu", "--document", "doc")
LABELS = ("rated.csv", "--human", "part", "--chosen", "random")
STOP = (*ORDER, "--tolerance", "0.5", "--limits", "0,40")
SIM = ("rated.csv", "--human", "mqm", "--by", "system", "--draws", "4", "--budgets", "10%,20%,30%",
       "--strategies", "random+mean,docs-prop+cv-mean,docs-prop+ridge")  # fmt: skip
UNEVEN = (*SIM, "--metrics", "comet,bleu", "--strategies", "random+mean,docs-uneven+ridge")
EARLIER = (*UNEVEN, "--history", "rated.csv", "--history-human", "mqm")

#: For each command and option: what it is added to, and the option. Every one changes a number.
CHANGES: dict[str, dict[str, Change]] = {
    "estimate": {
        "document": ((*LABELS, "--target", "process"), ("--document", "none")),
        "human": (SHEET, ("--human", "second")),
        "estimator": (SHEET, ("--estimator", "cv-bleu")),
        "confidence": (SHEET, ("--confidence", "0.9")),
        "bound": (SHEET, ("--bound", "student")),
        "limits": (FEW, ("--limits", "0,12")),
        "adequate": (SHEET, ("--adequate", "<=4")),
        "prior": (
            (*SHEET, "--adequate", "<=4", "--estimator", "alpha"), ("--prior", "alpha=0.9@50")
        ),
        "by": (SHEET, ("--by", "lang")),
        "least": ((*SHEET, "--by", "doc"), ("--least", "2")),
        "shrink": ((*SHEET, "--by", "lang", "--least", "2"), ("--shrink",)),
        "weights": (SHEET, ("--weights", "words")),
        "mix": ((*SHEET, "--by", "lang"), ("--mix", "de=0.2,fr=0.3,is=0.5")),
        "quantile": (SHEET, ("--quantile", "0.5")),
        "total": (SHEET, ("--total",)),
        "ratio": (SHEET, ("--ratio", "score/words")),
        "gaps": ((*GAPS, "--limits", "0,40", "--gaps", "at-random"), ("--gaps", "bounds")),
        "waves": (("study",), ("--waves", "1")),
        "chosen": (LABELS, ("--chosen", "strata:system")),
        "metrics": (LABELS, ("--metrics", "bleu")),
        "target": (SHEET, ("--target", "process")),
        "criteria": (SHEET, ("--criteria", "score,second")),
        "simultaneous": ((*SHEET, "--criteria", "score,second"), ("--simultaneous",)),
        "higher_is_better": ((*SHEET, "--lower-is-better"), ("--higher-is-better",)),
    },
    "report": {
        "document": (LABELS, ("--document", "none")),
        "chosen": (LABELS, ("--chosen", "strata:system")),
        "metrics": (LABELS, ("--metrics", "bleu")),
        "human": (LABELS, ("--human", "else")),
        "estimator": (SHEET, ("--estimator", "cv-bleu")),
        "confidence": (SHEET, ("--confidence", "0.9")),
        "limits": (FEW, ("--limits", "0,12")),
        "adequate": (SHEET, ("--adequate", "<=4")),
        "target": (SHEET, ("--target", "process")),
        "criteria": (SHEET, ("--criteria", "score,second")),
        "by": (SHEET, ("--by", "lang")),
        "weights": (SHEET, ("--weights", "words")),
        "mix": ((*SHEET, "--by", "lang"), ("--mix", "de=0.2,fr=0.3,is=0.5")),
    },
    "compare": {
        "human": (RATED, ("--human", "else")),
        "system": (RATED, ("--system", "team")),
        "id": (RATED, ("--id", "code")),
        "document": ((*RATED, "--target", "process"), ("--document", "none")),
        "metrics": (RATED, ("--metrics", "bleu")),
        "rater": (RATED, ("--rater", "who")),
        "orientation": (RATED, ("--orientation", "comet=-1")),
        "target": (RATED, ("--target", "process")),
        "unit": (RATED, ("--unit", "document")),
        "correction": (RATED, ("--correction", "none")),
        "level": (RATED, ("--level", "0.1")),
        "limits": ((*RATED, "--human", "even"), ("--limits", "0,12.5")),
        "higher_is_better": ((*RATED, "--lower-is-better"), ("--higher-is-better",)),
        "chosen": ((*RATED, "--chosen", "random"), ("--chosen", "strata:lang")),
        "by": (RATED, ("--by", "lang")),
        "least": ((*RATED, "--by", "lang", "--least", "5"), ("--least", "14")),
        "no_control": (RATED, ("--no-control",)),
        "adjust_raters": ((*RATED, "--rater", "who"), ("--adjust-raters",)),
    },
    "stop": {
        "tolerance": (STOP, ("--tolerance", "2")),
        "limits": (STOP, ("--limits", "0,50")),
        "metric": (STOP, ("--metric", "comet")),
        "rule": (STOP, ("--rule", "hall")),
        "confidence": (STOP, ("--confidence", "0.9")),
        "human": (STOP, ("--human", "second")),
    },
    "simulate": {
        "human": (SIM, ("--human", "other")),
        "by": (SIM, ("--by", "team")),
        "strategies": (SIM, ("--strategies", "random+mean,docs-prop+mean,docs-prop+ridge")),
        "budgets": (SIM, ("--budgets", "10%,25%,30%")),
        "draws": (SIM, ("--draws", "5")),
        "seed": (SIM, ("--seed", "1")),
        "baseline": (SIM, ("--baseline", "docs-prop+ridge")),
        "confidence": (SIM, ("--confidence", "0.9")),
        "bounds": (SIM, ("--bounds", "student")),
        "limits": ((*SIM, "--budgets", "3", "--confidence", "0.9999"), ("--limits", "0,12")),
        "adequate": (SIM, ("--adequate", "<=4")),
        "document": (SIM, ("--document", "who")),
        "metrics": (SIM, ("--metrics", "bleu")),
        "cost": (SIM, ("--cost", "words")),
        "orientation": (SIM, ("--orientation", "comet=-1")),
        "uncertainty": (UNEVEN, ("--uncertainty", "words:spread")),
        "history": (UNEVEN, ("--history", "rated.csv", "--history-human", "mqm")),
        "history_human": (EARLIER, ("--history-human", "other")),
        "uniform": ((*UNEVEN, "--uncertainty", "words"), ("--uniform", "20%")),
    },
}  # fmt: skip
#: Options that cannot change a number, and why. Those with arguments are tried.
FIXED: dict[str, dict[str, tuple[str, Change | None]]] = {
    "estimate": {
        "pool": ("where the pool is; another pool is refused", (SHEET, ("--pool", "copy.csv"))),
        "design": (
            "where the design file is; another one is of another sample",
            (SHEET, ("--design", "copy.design.json")),
        ),
        "id": ("other names of the same rows are refused", (SHEET, ("--id", "same"))),
        "texts": ("shown, not used", (LABELS, ("--texts", "none"))),
        "plot": ("files", None),
        "labels": ("where the labels are; their values are signed", None),
        "on": ("matches them to rows", None),
        "system": ("which campaign of one system: tests/cli/test_campaign_systems.py", None),
    },
    "report": {
        "pool": ("where the pool is; another pool is refused", (SHEET, ("--pool", "copy.csv"))),
        "gaps": (
            "without gaps all is one, and with them wait refuses",
            (SHEET, ("--gaps", "at-random")),
        ),
        "id": ("other names of the same rows are refused", (SHEET, ("--id", "same"))),
        "texts": ("shown, not used", (LABELS, ("--texts", "none"))),
        "labels": ("where the labels are; their values are signed", None),
        "on": ("matches them to rows", None),
        "system": ("which campaign of one system: tests/cli/test_campaign_systems.py", None),
        "shrink": ("needs larger slices: tests/cli/test_report_beside.py", None),
        "title": ("words", (SHEET, ("--title", "Ours"))),
        "force": ("files", (SHEET, ("--force",))),
        "out": ("files", None),
    },
    "compare": {
        "pool": ("where the pool is; another pool is refused", None),
        "design": ("where the design file is; another one is of another sample", None),
        "rated_only": ("without it gaps in a sheet are refused", None),
        "waves": ("of campaigns of several systems: tests/cli/test_campaign_systems.py", None),
        "out": ("files", (RATED, ("--out", "tables"))),
        "labels": ("where the labels are; their values are signed", None),
        "on": ("matches them to rows", None),
    },
    "stop": {
        "pool": ("where the pool is; another pool is refused", (STOP, ("--pool", "copy.csv"))),
        "design": (
            "where the design file is; another one is of another sample",
            (STOP, ("--design", "order.csv.design.json")),
        ),
        "id": ("other names of the same rows are refused", (STOP, ("--id", "same"))),
        "fail_open": ("exit code", None),
    },
    "simulate": {
        "id": ("names of the rows", None),
        "rated_only": ("tells which rows there are, and without it gaps are refused", None),
        "out": ("files", None),
        "resume": ("the cells kept are those that would be made", None),
        "n_jobs": ("draws do not depend on the processes", (SIM, ("--n-jobs", "2"))),
        "backend": ("as above", None),
        "scheduler": ("as above", None),
    },
}
PRINTED = {"json", "output", "quiet"}  # what is printed and how


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a rated sheet, one with gaps, one in order, a table of systems, a campaign."""
    before = Path.cwd()
    folder = tmp_path_factory.mktemp("signatures")
    os.chdir(folder)
    rng = np.random.default_rng(8)
    n = 120
    comet = rng.normal(size=n)
    pool = pd.DataFrame({
        "segment": [f"s{k:03d}" for k in range(n)], "doc": [f"d{k // 5}" for k in range(n)],
        "comet": comet, "bleu": 30 + 8 * comet + rng.normal(0, 6, n),
        "lang": ["de", "fr", "is"] * (n // 3),
    })  # fmt: skip
    pool["words"] = [f"{5 + k % 9}" for k in range(n)]
    pool.to_csv("pool.csv", index=False)
    pool.to_csv("copy.csv", index=False)
    score = pd.Series(np.clip(np.round(4 - 2 * comet + rng.normal(size=n)), 0, 12), pool["segment"])
    other = score.mul(2).where(score > 2, score + 1)

    def sheet(name: str, *options: str, gaps: int = 0, order: bool = False) -> None:
        call("select", "pool.csv", *options, "--seed", "3", "-o", name)
        frame = pd.read_csv(name)
        frame["same"] = frame["id"]
        frame["score"] = score[frame["id"]].to_numpy()
        frame["second"] = other[frame["id"]].to_numpy()
        frame.loc[frame.index[len(frame) - gaps :], ["score", "second"]] = np.nan
        frame.to_csv(name, index=False)

    sheet("sheet.csv", "--budget", "40")
    sheet("few.csv", "--budget", "4", "--strategy", "random")
    sheet("gaps.csv", "--budget", "40", gaps=4)
    sheet("order.csv", "--budget", "100%", "--strategy", "random", "--in-order", gaps=20)
    Path("copy.design.json").write_bytes(Path("sheet.csv.design.json").read_bytes())
    _systems(pool, score, rng)
    call("init", "study", "pool.csv", "--limits", "0,40", "--seed", "4")
    for more in ("--budget", "--more"):
        call("select", "study", more, "20", "-o", "wave.csv")
        wave = pd.read_csv("wave.csv")
        wave["score"] = score[wave["id"]].to_numpy()
        wave.to_csv("wave.csv", index=False)
        call("import", "study", "wave.csv")
        Path("wave.csv").unlink()
    yield folder
    made.cache_clear()
    os.chdir(before)


def _systems(pool: pd.DataFrame, score: pd.Series, rng: np.random.Generator) -> None:
    """Three systems, rated on the same forty segments by three people, and all of them."""
    parts = []
    for k, name in enumerate(("a", "b", "c")):
        part = pool.assign(system=name, words=rng.integers(3, 30, len(pool)))
        own = rng.normal(0, 0.5, len(pool))
        part["comet"] += own
        noise = rng.normal(k / 2, 0.5, len(pool))
        part["mqm"] = np.clip(score.to_numpy() + np.round(noise - 3 * own, 1), 0, 12)
        part["code"] = [f"c{i - i % 5 + (i + k) % 5}" for i in range(len(pool))]
        part["team"] = [f"t{(k + i) % 3}" for i in range(len(pool))]
        part["who"] = [f"r{i}" for i in rng.integers(0, 3, len(pool))]
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    table["other"] = 12 - table["mqm"] ** 2 / 12
    chosen = table["segment"].isin(rng.permutation(pool["segment"].to_numpy(copy=True))[:40])
    table["part"], table["else"] = table["mqm"].where(chosen), table["other"].where(chosen)
    table["even"] = table["part"].mask(chosen & (table["system"] == "a"), 3.0)
    table.to_csv("rated.csv", index=False)


def call(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, (words, done.output)
    return done.stdout


@functools.cache  # most options are added to the same call
def made(command: str, words: tuple[str, ...]) -> tuple[list[float], list[str]]:
    """All numbers that a command prints, but for the time it took, and its signatures."""
    more = ("-o", "page.md", "--force") if command == "report" and "--force" not in words else ()
    more = ("-o", "page.md") if command == "report" and not more else more
    record = json.loads(call(command, *words, *more, "--json"))
    numbers: list[float] = []
    signatures: list[str] = []

    def walk(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            for name, part in value.items():
                walk(part, name)
        elif isinstance(value, list):
            for part in value:
                walk(part, key)
        elif key == "signature":
            signatures.append(value)
        elif isinstance(value, int | float) and key != "seconds":
            numbers.append(float(value))

    walk(record)
    assert signatures
    return numbers, signatures


def test_every_option_of_every_command_with_a_signature_is_listed() -> None:
    for command, changes in CHANGES.items():
        found = _COMMANDS[command].params
        options = {p.name for p in found if p.param_type_name == "option"} - {"help"} - PRINTED
        assert options == changes.keys() | FIXED[command].keys(), command


@pytest.mark.parametrize(("command", "option"), [(c, o) for c in CHANGES for o in CHANGES[c]])
def test_what_changes_a_number_changes_the_signature(command: str, option: str) -> None:
    base, change = CHANGES[command][option]
    first, second = made(command, base), made(command, (*base, *change))
    assert first[0] != second[0]
    assert first[1] != second[1]


@pytest.mark.parametrize(
    ("command", "option"), [(c, o) for c in FIXED for o in FIXED[c] if FIXED[c][o][1] is not None]
)
def test_what_changes_no_number_leaves_the_signature(command: str, option: str) -> None:
    change = FIXED[command][option][1]
    assert change is not None
    base, more = change
    assert made(command, base) == made(command, (*base, *more))


def test_orientations_of_a_sheet_are_in_the_signature() -> None:
    scores = pd.read_csv("order.csv").set_index("id")["score"].fillna(3.0)
    found = []
    for name, more in (("plain.csv", ()), ("turned.csv", ("--orientation", "bleu=-1"))):
        strategy = ("--strategy", "random+cv-mean", "--budget", "40", "--seed", "9")
        call("select", "pool.csv", *strategy, *more, "-o", name)
        frame = pd.read_csv(name)
        frame.assign(score=scores[frame["id"]].to_numpy()).to_csv(name, index=False)
        found.append(made("estimate", (name,)))
    (plain, told), (turned, other) = found
    assert plain != turned
    assert other == [told[0] + "|orient:bleu=-1"]
