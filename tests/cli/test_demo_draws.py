"""The demo repeats its study often enough for the figures that it shows."""

from __future__ import annotations

import inspect
import math

from typer.testing import CliRunner

from fewgold.cli import app
from fewgold.cli.begin import demo


def test_worth_is_good_to_three_percent_by_default() -> None:
    draws = inspect.signature(demo).parameters["draws"].default.default
    assert math.sqrt(2 / draws) < 0.035


def test_the_demo_says_how_close_its_figures_are() -> None:
    done = CliRunner().invoke(app, ["demo", "--draws", "32", "--quiet"], env={"COLUMNS": "80"})
    told = " ".join(done.stdout.split())
    assert "With 32 repetitions this figure is accurate to about 25%; --draws 160" in told
