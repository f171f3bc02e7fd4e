"""Help in one screen, and all of it with --help-all."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import typer.main

from fewgold.cli import app
from fewgold.cli.help import FIRST

Run = Callable[..., Any]
COMMANDS = vars(typer.main.get_command(app))["commands"]
MAIN_PATH = ["doctor", "select", "estimate", "report", "compare", "judge"]


@pytest.fixture(autouse=True)
def _of_usual_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_on_one_screen(name: str, run: Run) -> None:
    text = run(name, "--help").stdout
    assert len(text.splitlines()) <= 40
    assert "<bool>" not in text
    options = {p.name for p in COMMANDS[name].params if p.param_type_name == "option"}
    left = options - set(FIRST.get(name, options))
    assert set(FIRST.get(name, ())) <= options
    if left:
        what = "1 more option" if len(left) == 1 else f"{len(left)} more options"
        assert text.rstrip().splitlines()[-1].strip() == f"{what}: root {name} --help-all"


@pytest.mark.parametrize("name", COMMANDS)
def test_all_options_are_shown_when_asked_for(name: str, run: Run) -> None:
    short, full = run(name, "--help").stdout, run(name, "--help-all").stdout
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "option":
            assert parameter.opts[0] in full
            if name in FIRST and parameter.name not in FIRST[name]:
                assert f"│ {parameter.opts[0]} " not in short


def test_select_shows_six_options(run: Run) -> None:
    assert len(FIRST["select"]) == 6
    shown = [line.split()[1] for line in run("select", "-h").stdout.splitlines() if "│ --" in line]
    assert shown == ["--budget", "--out", "--metrics", "--id", "--strategy", "--seed"]


def test_overview_begins_with_the_main_path(run: Run) -> None:
    text = run("--help").stdout
    rows = [line.split()[1] for line in text.splitlines() if line.startswith("│ ")]
    assert rows[:6] == MAIN_PATH
    assert {*COMMANDS} <= {*rows}
    assert len(text.splitlines()) <= 53
    assert "--version" not in text and "--version" in run("--help-all").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_breaks_off(name: str, run: Run) -> None:
    """Sentences are wrapped where the screen ends, not where the code has a line break."""
    described = run(name, "--help").stdout.split("╭")[0].splitlines()
    paragraph = [line.strip() for line in described]
    for line, following in itertools.pairwise(paragraph):
        if line and following and not following.startswith("fewgold "):
            assert len(line) + len(following.split()[0]) >= 77, line


def test_help_needs_no_arguments(run: Run) -> None:
    assert "--in-order" in run("select", "--help-all").stdout  # although POOL is missing
    assert "--help-all" in run("select", "--help-al", code=2).stderr
