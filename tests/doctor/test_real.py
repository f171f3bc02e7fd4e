"""Real files: what must be said about each was written down before the doctor looked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from doctor.shell import runs
from fewgold.datasets import data_folder
from fewgold.doctor import examine
from sweeps import quick

pytestmark = pytest.mark.skipif(
    data_folder() is None, reason="no folder with real data; set FEWGOLD_DATA to have them tested"
)


@dataclass(frozen=True)
class Expected:
    """What a file is, what is to be found in it, and the commands that fit."""

    file: str
    kind: str
    exit_code: int
    codes: set[str]
    facts: dict[str, str]
    commands: tuple[str, ...]
    supports: tuple[str, ...] = ()
    not_metrics: tuple[str, ...] = ()


REAL = [
    Expected(
        "wmt20_ende.csv.gz", "table", 1, {"metric-gaps", "copied-metric", "not-metrics"},
        {"segments": "1,418 (column seg_id", "documents": "130 ", "systems": "9 "},
        ("compare --human mqm", "simulate --human mqm", "plan", "reliability --score mqm"),
        ("strategies", "comparison", "simulation", "reliability", "planning"),
        ("is_human", "doc_seg_id", "bb_wmt20-comet-da", "COMET-QE"),
    ),
    Expected(
        "wmt20_zhen.csv.gz", "table", 1, {"metric-gaps", "copied-metric", "not-metrics"},
        {"segments": "2,000 (column seg_id", "documents": "155 ", "systems": "9 "},
        ("compare --human mqm", "simulate --human mqm", "plan", "reliability --score mqm"),
        ("strategies", "comparison", "simulation", "reliability", "planning"),
        ("is_human", "bb_BLEURT", "bb_MoverScore"),
    ),
    Expected(
        "ted_ende.csv.gz", "table", 1, {"few-documents", "metric-gaps", "not-metrics"},
        {"segments": "529 ", "documents": "5 ", "systems": "14 ", "raters": "4 "},
        ("compare --human mqm", "simulate --human mqm", "plan", "reliability --score mqm"),
        ("comparison", "simulation", "binary model"), ("n_errors", "n_major", "sb_BLEU"),
    ),
    Expected(
        "frank.csv.gz", "table", 0,
        {"filled-gaps", "not-metrics", "several-humans", "ids-elsewhere", "not-crossed",
         "no-role"},
        {"segments": "499 (column doc_id", "systems": "9 "},
        ("compare --human factuality --id doc_id", "alpha --human factual_binary",
         "simulate --human factuality --id doc_id", "plan"),
        ("comparison", "binary model", "simulation"), ("factual_binary", "is_human"),
    ),
    Expected(
        "topicalchat.csv.gz", "table", 0, {"not-metrics", "several-humans", "ids-elsewhere"},
        {"segments": "60 (column doc_id", "systems": "6 "},
        ("compare --human human_overall --id doc_id",
         "simulate --human human_overall --id doc_id", "plan"),
        ("comparison", "simulation"), ("human_coherence", "is_human"),
    ),
    Expected(
        "raw/EQ_static.seg.score.gz", "metric-submission", 1, {"no-ratings", "several-languages"},
        {"metric": "EQ_static", "languages": "2: en-zh, zh-en"}, ("python", "doctor"),
    ),
    Expected(
        "raw/ad-seg-scores-en-de.csv.gz", "wmt-da", 0, {"not-crossed"},
        {"segments": "1418", "systems": "17: ", "scores": "0 to 100"},
        ("compare", "simulate --strategies random+mean --budgets 10%,20%"), ("comparison",),
    ),
    Expected(
        "raw/mqm_newstest2020_ende.avg_seg_scores.tsv.gz", "mqm-averages", 0, set(),
        {"segments": "1418", "systems": "10: ", "scores": "0 to 25"},
        ("compare --lower-is-better", "simulate --strategies random+mean --budgets 10%,20%"),
        ("comparison",),
    ),
    Expected(
        "raw/mqm_ted_ende.tsv.gz", "mqm", 0, set(),
        {"segments": "529", "systems": "14: ", "raters": "4: ", "ratings": "7406"},
        ("compare --lower-is-better", "simulate --strategies random+mean --budgets 10%,20%"),
        ("comparison",),
    ),
    Expected("columns.json", "unknown", 3, {"json"}, {}, ()),
    Expected("README.md", "unknown", 3, {"not-a-table"}, {}, ()),
    Expected("raw", "unknown", 3, {"folder"}, {}, ()),
]  # fmt: skip


@pytest.mark.parametrize("case", quick(REAL, slice(2, None, 2)), ids=lambda c: c.file)
def test_real(case: Expected) -> None:
    folder = data_folder()
    assert folder is not None
    found = examine(folder / case.file)
    assert (found.kind, found.exit_code) == (case.kind, case.exit_code), found.summary()
    assert found.codes == case.codes, found.summary()
    for name, start in case.facts.items():
        assert str(found.facts[name]).startswith(start), found.facts[name]
    said = [_plain(c.text, str(folder / case.file)) for c in found.next_commands]
    assert len(said) == len(case.commands)
    for text, wanted in zip(said, case.commands, strict=True):
        assert text.startswith(wanted), said
    able = {s.name for s in found.supports if s.ok}
    assert set(case.supports) <= able
    for name in case.not_metrics:
        assert name in found.facts["not metrics"]
        assert name not in found.facts["metrics"]


def _plain(command: str, path: str) -> str:
    """The command without the program's name and without the file."""
    words = command.split()
    if words[0] == "fewgold":
        words = words[1:]
    kept = [w for k, w in enumerate(words) if w != path and not (k == 1 and w.endswith(".csv"))]
    return " ".join(kept)


@pytest.mark.parametrize(
    "file",
    [
        "topicalchat.csv.gz",
        pytest.param("raw/mqm_ted_ende.tsv.gz", marks=pytest.mark.slow),
        "raw/mqm_newstest2020_ende.avg_seg_scores.tsv.gz",
    ],
)
def test_commands_run(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = data_folder()
    assert folder is not None
    for command in examine(folder.resolve() / file).next_commands[:2]:
        done = runs(command.text, tmp_path)
        assert done.returncode == 0, f"{command.text}\n{done.stderr}"
