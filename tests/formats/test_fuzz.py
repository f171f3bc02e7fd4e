"""A few hundred damaged files; `tests/theory/test_fuzz_formats.py` reads many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from fewgold import formats
from fewgold.formats import Rating, Reading
from fuzzing import case, logged, rows_in, run, valid, wrong

EACH = 20


@pytest.mark.parametrize("name", formats.names())
def test_damaged_files_are_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    failures = run(name, EACH, 1, tmp_path)
    assert not failures, "\n".join(failures[:5])


@pytest.mark.parametrize("name", formats.logs.names())
def test_damaged_logs_are_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    failures = logged(name, EACH, 1, tmp_path)
    assert not failures, "\n".join(failures[:5])


def test_the_same_seed_makes_the_same_mutants(tmp_path: Path) -> None:
    (tmp_path / "valid").mkdir()
    bases = valid("csv", tmp_path / "valid")
    made = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        cases = [case("csv", k, 3, bases, tmp_path / folder) for k in range(30)]
        made.append([c.story for c in cases] + [(tmp_path / folder / "tasks.csv").read_bytes()])
    assert made[0] == made[1]


def test_the_harness_notices_what_it_should(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,score\na,1\nb,2\n")
    assert rows_in(path, "csv") == 2
    fine = (Rating("a", 1.0), Rating("b", 2.0))
    assert not wrong(Reading("csv", 2, 2, fine), path)
    assert "1 rows read" in wrong(Reading("csv", 1, 1, fine[:1]), path)
    assert "no text" in wrong(Reading("csv", 2, 2, (Rating("", 1.0),)), path)
    assert "score" in wrong(Reading("csv", 2, 2, (Rating("a", float("nan")),)), path)
    assert "stored" in wrong(Reading("csv", 2, 2, (Rating("a", 1.0, details={"x": {1}}),)), path)
    assert "stored" in wrong(Reading("csv", 2, 2, (Rating("\ud800", 1.0),)), path)
    assert "used" in wrong(Reading("csv", 2, 2, ()), path)


@pytest.mark.parametrize("name", formats.names())
def test_mutants_start_from_files_with_answers(name: str, tmp_path: Path) -> None:
    found = [formats.read(path, name) for path in valid(name, tmp_path)]
    assert max(len(reading.ratings) for reading in found) >= 6
    assert not any(reading.rejected for reading in found)
