"""The list of faults fits the code of today, and planting them tells caught from survived."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from mutants import run

FAULTS = run.read_faults()


def test_every_fault_can_be_planted() -> None:
    """If this fails after a change of the code, say in faults.toml what the line is now."""
    assert [why for fault in FAULTS if (why := fault.stale())] == []


def test_faults_are_code_that_runs_and_differs() -> None:
    assert len({fault.id for fault in FAULTS}) == len(FAULTS) >= 60
    for fault in FAULTS:
        sound = (run.ROOT / fault.file).read_text(encoding="utf-8")
        ast.parse(sound.replace(fault.old, fault.new), fault.id)
        assert fault.old.split() != fault.new.split(), fault.id
        assert fault.means.endswith(".") and fault.tests, fault.id


def test_a_fault_that_no_longer_fits_says_what_to_do(tmp_path: Path) -> None:
    package = tmp_path / "fewgold"
    package.mkdir()
    (package / "a.py").write_text("x = 1\n")
    (package / "b.py").write_text("y = 2\ny = 2\n")
    (tmp_path / "test_a.py").write_text("def test_x():\n    pass\n")
    fits = run.Fault("one", "fewgold/a.py", "One.", "x = 1", "x = 0", ("test_a.py::test_x",))
    assert not fits.stale(tmp_path)
    moved = replace(fits, file="fewgold/gone.py").stale(tmp_path)
    assert "found it 0 times. It stands in fewgold/a.py. Update tests/mutants" in moved
    assert "2 times" in replace(fits, file="fewgold/b.py", old="y = 2").stale(tmp_path)
    gone = replace(fits, tests=("test_a.py::test_y",)).stale(tmp_path)
    assert "no test test_a.py::test_y" in gone


def test_a_planted_fault_is_caught_or_survives_and_leaves_nothing(tmp_path: Path) -> None:
    package = tmp_path / "planted_in_a_copy"
    package.mkdir()
    code = package / "__init__.py"
    code.write_text("def mean(x):\n    return sum(x) / len(x)\n")
    # In a process of its own too: it must see the copy.
    (tmp_path / "test_mean.py").write_text(
        "import subprocess, sys\nfrom planted_in_a_copy import mean\n\n\n"
        "def test_elsewhere():\n"
        "    code = 'from planted_in_a_copy import mean; assert mean([1, 3]) == 2'\n"
        "    subprocess.run([sys.executable, '-c', code], check=True)\n\n\n"
        "def test_blind():\n    assert mean([0]) == 0\n"
    )
    sound = code.read_text()
    fault = run.Fault(
        "divisor", "planted_in_a_copy/__init__.py", "A divisor.", "len(x)", "(len(x) + 1)", ()
    )
    for test, verdict in [
        ("test_mean.py::test_elsewhere", "caught"),
        ("test_mean.py::test_blind", "survived"),
        ("test_mean.py::test_none", "broken"),
    ]:
        found, printed = run.try_fault(replace(fault, tests=(test,)), tmp_path)
        assert found == verdict, printed
        assert code.read_text() == sound


def test_what_runs_for_ever_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_long.py").write_text(
        "import time\n\n\ndef test_long():\n    while True:\n        time.sleep(60)\n"
    )
    monkeypatch.setattr(run, "LONGEST", 2.0)
    assert run.run_tests(tmp_path, ["test_long.py"])[0] is None


def test_tests_of_a_file_taken_whole_run_once() -> None:
    one = FAULTS[0]
    faults = [replace(one, tests=("a.py", "b.py::x")), replace(one, tests=("a.py::y", "b.py::x"))]
    assert run.chosen_tests(faults) == ["a.py", "b.py::x"]
