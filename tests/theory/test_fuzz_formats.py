"""Over 10,000 damaged files, read by every reader: never a traceback, a hang or a lost row.

``FEWGOLD_SEED`` sets another seed: the tests hold for any. A failure names the seed and the mutant,
which ``fuzzing.case`` makes again.
"""

from __future__ import annotations

import faulthandler
import os
from pathlib import Path

import pytest

from fewgold import formats
from fuzzing import logged, replaced, run, share, tabled

pytestmark = pytest.mark.slow
SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
TOTAL = 12_000
EACH_LOG = 1_000


@pytest.mark.parametrize("name", formats.names())
def test_damaged_files_are_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    faulthandler.dump_traceback_later(600)  # for a hang in C, which the alarm cannot end
    try:
        failures = run(name, share(TOTAL), SEED, tmp_path)
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert not failures, f"{len(failures)} failures\n" + "\n".join(failures[:5])


@pytest.mark.parametrize("name", formats.logs.names())
def test_damaged_logs_are_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    failures = logged(name, EACH_LOG, SEED, tmp_path)
    assert not failures, f"{len(failures)} failures\n" + "\n".join(failures[:5])


@pytest.mark.parametrize("name", ["label-studio", "pearmut", "argilla", "potato", "jsonl"])
def test_a_value_of_another_kind_makes_no_row_vanish(name: str, tmp_path: Path) -> None:
    failures = replaced(name, 300, SEED, tmp_path)
    assert not failures, f"{len(failures)} failures\n" + "\n".join(failures[:5])


def test_damaged_pools_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    failures = tabled(200, SEED, tmp_path)
    assert not failures, f"{len(failures)} failures\n" + "\n".join(failures[:5])


def test_there_are_enough_of_them() -> None:
    assert share(TOTAL) * len(formats.names()) >= 10_000
