"""Broken files: each gets the advice that is right for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.tables import BROKEN, Broken
from fewgold.doctor import examine


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.name)
def test_advice(case: Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    case.make(Path(case.file))
    found = examine(case.file)
    assert set(case.codes) <= found.codes, found.summary()
    assert found.exit_code == case.exit_code, found.summary()
    assert case.says in " ".join(found.summary().split())
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["exit_code"] == case.exit_code
    printed = [line for line in found.summary().splitlines() if " -c " not in line]
    assert max(map(len, printed)) <= 80
    grave = {f.code for f in found.findings if f.severity != "note"}
    assert grave <= set(case.codes), found.summary()
