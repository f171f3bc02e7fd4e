"""A small pool on disk, a runner, and somebody who rates."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import fewgold
from fewgold.cli import app
from waiting import PATIENCE

Run = Callable[..., Any]


def make_table(n: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    comet = rng.normal(size=n)
    return pd.DataFrame(
        {
            "segment": [f"{k:05d}" for k in range(n)],
            "doc_id": [f"dök{k // 6}" for k in range(n)],
            "position": [k % 6 for k in range(n)],
            "model": "alpha",
            "source": [f"wörd {'x ' * (k % 5)}" for k in range(n)],
            "comet": comet,
            "bleu": 30 + 10 * comet + rng.normal(0, 9, n),
            "words": rng.integers(3, 40, n),
            "human": np.clip(np.round(4 - 2 * comet + rng.normal(size=n), 3), 0, 25),
        }
    )


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    return make_table()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame) -> Path:
    """An empty folder to work in, with ``pool.csv``."""
    monkeypatch.chdir(tmp_path)
    table.to_csv("pool.csv", index=False)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Run the command in this process."""

    def call(*args: object, code: int = 0, stdin: str | None = None) -> Any:
        result = CliRunner().invoke(app, [str(a) for a in args], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, f"{result.exit_code}: {result.output}"
        return result

    return call


@pytest.fixture
def rate(table: pd.DataFrame) -> Callable[[str], None]:
    """Fill in a sheet with what people would say."""
    gold = dict(zip(table["segment"], table["human"], strict=True))

    def fill(path: str, column: str = "score") -> None:
        separator = "\t" if path.endswith(".tsv") else ","
        frame = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
        frame[column] = [repr(float(gold[i])) for i in frame["id"]]
        frame.iloc[::-1].to_csv(path, sep=separator, index=False)

    return fill


def process(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command as users do."""
    root = str(Path(fewgold.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "fewgold", *args],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        env=environment,
        **options,
    )


@pytest.fixture(name="process")
def _process() -> Callable[..., subprocess.CompletedProcess[str]]:
    return process
