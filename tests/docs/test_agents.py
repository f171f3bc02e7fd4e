"""What agents and scripts go by: docs/llms.txt, and the schemas of results."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

import fewgold
from fewgold.cli import app

ROOT = Path(fewgold.__file__).parents[1]
TEXT = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def _made() -> Any:
    found = importlib.util.spec_from_file_location("schemas", ROOT / "docs" / "json_schemas.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


SCHEMAS = _made()


def named() -> list[str]:
    """Every command that the text names, with its options."""
    quoted = re.findall(r"`(fewgold [^`]+)`", TEXT)
    return [*quoted, *re.findall(r"^\$ (fewgold .*)$", TEXT, re.MULTILINE)]


@pytest.mark.parametrize("line", named())
def test_commands_and_options_exist(line: str) -> None:
    _, command, *words = shlex.split(line)
    assert command in COMMANDS
    options = {o for p in COMMANDS[command].params for o in (*p.opts, *p.secondary_opts)}
    assert {w for w in words if re.match(r"--?[a-z]", w)} <= options


def test_options_that_the_rules_name_exist() -> None:
    every = {o for c in COMMANDS.values() for p in c.params for o in p.opts}
    assert set(re.findall(r"`(--?[a-z-]+)[ `]", TEXT)) <= every


def test_the_example_runs(tmp_path: Path) -> None:
    programs = str(Path(sys.executable).parent)
    place = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    for line in re.findall(r"^\$ (.*)$", TEXT, re.MULTILINE):
        if line.startswith("fewgold "):
            words = ["-c", "from fewgold.cli import main; main()", *shlex.split(line)[1:]]
        else:
            words = shlex.split(line)[1:]
        place["PYTHONPATH"] = str(ROOT)
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=place, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}: {done.stderr}"
        if "--json" in line:
            check(json.loads(done.stdout), SCHEMAS.schemas()[line.split()[1]])
    assert (tmp_path / "report.html").is_file()


def test_readers_find_it() -> None:
    for page in ("README.md", "docs/index.md"):
        assert "llms.txt" in (ROOT / page).read_text(encoding="utf-8")


# Schemas -----------------------------------------------------------------------------------------


def check(value: Any, schema: dict[str, Any], where: str = "$") -> None:
    """The part of JSON Schema that ours use, checked without another package."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = SCHEMAS._kind(value)
    assert kind in kinds or (kind == "integer" and "number" in kinds), f"{where}: {value!r}"
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= set(value), where
        for name, inner in value.items():
            other = schema.get("additionalProperties")
            known = schema.get("properties", {}).get(name, other)
            if known is not None:
                check(inner, known, f"{where}.{name}")
    for k, inner in enumerate(value if isinstance(value, list) else ()):
        if "items" in schema:
            check(inner, schema["items"], f"{where}[{k}]")


def test_schemas_and_their_page_are_up_to_date() -> None:
    made = SCHEMAS.texts()
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, "run python docs/json_schemas.py"
    assert set(SCHEMAS.FOLDER.glob("*.json")) == set(made) - {SCHEMAS.PAGE}


def test_every_result_fits_its_schema() -> None:
    from tests.golden.commands import STEPS

    files = {p.stem: p for p in SCHEMAS.FOLDER.glob("*.json")}
    schemas = {n: json.loads(p.read_text(encoding="utf-8")) for n, p in files.items()}
    for step, line in STEPS.items():
        path = SCHEMAS.GOLDEN / f"{step}.json"
        if path.is_file():
            result = json.loads(path.read_text(encoding="utf-8"))
            schema = schemas[line.split()[0]]
            check(result, schema, step)
            assert set(result) <= set(schema["properties"])


def test_the_check_notices_what_it_should() -> None:
    schema = SCHEMAS.schema_of([{"a": 1, "b": [{"c": "x"}]}, {"a": 0.5, "b": []}])
    check({"a": 2, "b": [{"c": "y"}], "new": None}, schema)
    for wrong in ({"a": None, "b": []}, {"b": []}, {"a": 1, "b": [{"c": 3}]}, []):
        with pytest.raises(AssertionError):
            check(wrong, schema)


def test_commands_without_a_schema_are_known() -> None:
    takes = {n for n, c in COMMANDS.items() if any("--json" in p.opts for p in c.params)}
    missing = takes - {p.stem for p in SCHEMAS.FOLDER.glob("*.json")}
    assert missing <= {"datasets", "serve"}


def test_output_of_today_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in ("demo --draws 4", "strategies", "plan --size 300 --sd 2 --half-width 0.4"):
        done = CliRunner().invoke(app, [*line.split(), "--json"])
        assert done.exit_code == 0
        check(json.loads(done.stdout), SCHEMAS.schemas()[line.split()[0]], line)
