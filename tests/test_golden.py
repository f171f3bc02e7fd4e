"""What the first version wrote still opens, and gives the same numbers (`tests/golden`)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fewgold import io, registry, sheets
from fewgold.cli import app

GOLDEN = Path(__file__).parent / "golden"
#: Paths, and the signature, which may tell more than it did.
APART = ("file", "files", "signature", "campaign")
SEEDS = json.loads((GOLDEN / "out/seeds.json").read_text(encoding="utf-8"))
SHEETS = sorted(
    p.stem for p in (GOLDEN / "out").glob("*.json") if p.stem not in ("seeds", "status", "study")
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, since opening a campaign may write to it."""
    shutil.copytree(GOLDEN, tmp_path / "golden")
    monkeypatch.chdir(tmp_path / "golden")
    return tmp_path / "golden"


def run(*arguments: str) -> Any:
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def same(found: Any, wanted: Any, where: str = "") -> None:
    """Every value of then is there now; new keys may have come."""
    if isinstance(wanted, dict):
        for key, value in wanted.items():
            if key not in APART:
                assert key in found, f"{where}{key} is gone"
                if key == "notes":  # further ones may have come, too
                    assert [note for note in found[key] if note in value] == value
                    continue
                same(found[key], value, f"{where}{key}.")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), where
        for k, value in enumerate(wanted):
            same(found[k], value, f"{where}{k}.")
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12), where
    else:
        assert found == wanted, where


@pytest.mark.parametrize("name", SHEETS)
def test_sheets_of_then_give_the_numbers_of_then(name: str, here: Path) -> None:
    sheet = f"{name}.tsv" if name == "tabs" else f"{name}.csv"
    found = run("compare" if name == "shared" else "estimate", sheet, "-q")
    wanted = json.loads((here / "out" / f"{name}.json").read_text(encoding="utf-8"))
    same(found, wanted)


def test_signatures_of_plain_sheets_are_those_of_then(here: Path) -> None:
    for name in ("random_mean", "docs-balanced_ridge"):
        wanted = json.loads((here / "out" / f"{name}.json").read_text(encoding="utf-8"))
        found = run("estimate", f"{name}.csv", "-q")["signature"]
        assert found == wanted["signature"]


def test_a_campaign_of_then_goes_on(here: Path) -> None:
    """It opens, takes answers that carry keys of then, and gives the number of then."""
    assert run("import", "study", "late.csv", "-q")["imports"][0]["refused"] == []
    found = run("estimate", "study", "-q")
    same(found, json.loads((here / "out/study.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", SEEDS["strategies"])
def test_seeds_of_then_draw_the_segments_of_then(name: str) -> None:
    pool = sheets.build_pool(
        io.read_table(GOLDEN / "pool.csv"),
        {"id": "id", "document": "document", "metrics": ["comet", "bleu"]},
    )
    assert pool.fingerprint == SEEDS["fingerprint"]
    gold = io.read_table(GOLDEN / "gold.csv")
    scores = dict(zip(gold["id"], map(float, gold["score"]), strict=True))
    strategy = registry.strategy(name, pool)
    sample = strategy.select(pool, 20, rng=11)
    wanted = SEEDS["strategies"][name]
    assert [str(i) for i in sample.ids] == wanted["ids"]
    made = strategy.estimate(sample.rate(scores))
    ends = made.interval(0.95)
    found = [float(v) for v in (made.value, made.se, ends.low, ends.high)]
    assert found == pytest.approx([wanted[k] for k in ("value", "se", "low", "high")], rel=1e-9)
