"""Figures of README and docs carry the commands that make them, and the commands can be run.

What they print is checked by ``python benchmarks/evidence.py --check``, which takes an hour; that
they run at all by tests/theory/test_benchmarks.py.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = {page: page.read_text(encoding="utf-8") for page in PAGES}
SCRIPTS = [path for path in sorted(BENCHMARKS.glob("*.py")) if not path.name.startswith("_")]

WHAT = r"((?:[A-Z_]+=\S+ )*(?:python (?:benchmarks|examples|tests|docs)/|make |fewgold )[^`\n]*)"
IN_PROSE = re.compile(r"(?:^ {4}|`)" + WHAT, re.MULTILINE)
IN_SHELL = re.compile(r"^(?:\$ )?" + WHAT, re.MULTILINE)
FENCED = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def commands(text: str) -> list[str]:
    """Commands in backticks, in lines of their own, and in blocks of the shell."""
    found = [m[1] for m in IN_PROSE.finditer(FENCED.sub("", text))]
    for kind, body in FENCED.findall(text):
        if kind == "console":  # what is printed there is none
            found += [m[1] for m in IN_SHELL.finditer(body) if m[0].startswith("$ ")]
        elif kind in ("", "sh", "bash"):
            found += [m[1] for m in IN_SHELL.finditer(body)]
    ends = re.compile(r"\s+#|\s+[|&>]|\s*;|\s*\\$")
    return [ends.split(command)[0].strip() for command in found]


NAMED = sorted({(page, command) for page, text in TEXT.items() for command in commands(text)})


def named(start: str) -> list[str]:
    """Commands of one kind, with the variables before them taken off."""
    found = [re.sub(r"^(?:[A-Z_]+=\S+ )+", "", command) for _, command in NAMED]
    return [words for words in found if words.startswith(start)]


@cache
def load(path: Path) -> ModuleType:
    """A script as a module, as if called from its folder."""
    spec = importlib.util.spec_from_file_location(f"evidence_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def test_commands_are_found() -> None:
    text = (
        "As `python benchmarks/x.py --a` says:\n\n    OMP=1 python benchmarks/y.py   # quick\n"
        "\n```console\n$ fewgold demo\n```\n\n```text\nmake no\n```\nand make it so\n"
    )
    found = ["python benchmarks/x.py --a", "OMP=1 python benchmarks/y.py", "fewgold demo"]
    assert commands(text) == found
    assert len(named("python benchmarks/")) > 20
    assert len(named("fewgold ")) > 20
    assert len(named("make ")) > 1


def test_python_commands() -> None:
    for command in named("python "):
        _, script, *options = shlex.split(command)
        assert (ROOT / script).is_file(), f"{script} is not there"
        if script.startswith("benchmarks/"):
            load(ROOT / script).arguments().parse_args(options)


@pytest.mark.parametrize("command", named("make "))
def test_make_command(command: str) -> None:
    target = shlex.split(command)[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), target


@cache
def subcommands() -> dict[str, Any]:
    """Of the command line, with those below them: "reproduce saldias"."""
    from fewgold.cli import app

    found: dict[str, Any] = {}

    def walk(group: Any, before: str) -> None:
        for name, command in group.commands.items():
            found[f"{before}{name}"] = command
            if hasattr(command, "commands"):
                walk(command, f"{before}{name} ")

    walk(typer.main.get_command(app), "")
    return found


def test_fewgold_commands() -> None:
    """The subcommand is there, and knows every option that is named."""
    known = subcommands()
    for command in named("fewgold "):
        words = [word for word in shlex.split(command)[1:] if word != "…"]
        if not words or words[0] in ("COMMAND", "--help", "--version"):
            continue
        name = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
        assert name in known, f"{command!r} names no subcommand"
        options = {o for p in known[name].params for o in (*p.opts, *p.secondary_opts)}
        for word in words[1:]:
            if re.match(r"--?[a-z]", word):
                known_option = word.partition("=")[0] in options | {"--help"}
                assert known_option, f"{word} of {command!r}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_script(path: Path) -> None:
    """Every script has a quick run and says which page shows what it prints."""
    module = load(path)
    assert module.arguments().parse_args(["--quick"]).quick is True
    if path.stem != "evidence":
        shown = re.findall(r"docs/[\w/-]+\.md|README", module.__doc__ or "")
        assert shown, f"{path.name} does not say which page shows it"
        for page in shown:
            name = "README.md" if page == "README" else page
            assert f"benchmarks/{path.name}" in TEXT[ROOT / name], f"{path.name} is not on {name}"


def test_without_data() -> None:
    """A sentence and exit code 3, no traceback."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "wmt20.py"), "--quick"],
        env={**os.environ, "FEWGOLD_DATA": "/nowhere"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("This needs real ratings (wmt20_ende, wmt20_zhen), which are")
    assert "Traceback" not in done.stderr


NEEDY = ["comparison", "incremental", "intervals", "reliability", "stopping", "thresholds", "wmt20"]


@pytest.mark.parametrize("name", NEEDY)
def test_script_without_data(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FEWGOLD_DATA", "/nowhere")
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--quick"])
    with pytest.raises(SystemExit) as ended:
        load(BENCHMARKS / f"{name}.py").main()
    assert ended.value.code == 3
    assert "docs/evidence.md" in capsys.readouterr().err


@pytest.fixture
def evidence() -> ModuleType:
    return load(BENCHMARKS / "evidence.py")


def test_marked_tables(evidence: ModuleType) -> None:
    """Every block is whole, has a name of its own, and runs a benchmark."""
    found = [block for page in PAGES for block in evidence.blocks(page)]
    names = [block.name for block in found]
    assert len(names) == len(set(names)) > 25
    for block in found:
        assert "python benchmarks/" in block.command
        assert re.search(r"\d{4}-\d\d-\d\d with fewgold \d", block.made), block.made
        assert block.shown.startswith("![") if block.kind == "figure" else "| ---" in block.shown


PAGE = """# A page

<!-- evidence: one -->

    python script.py

| a |
| --- |
| 1 |

*Made on 2020-01-01 with fewgold 0.*

<!-- end -->

<!-- evidence: two, ratios -->

    python script.py --twice

old

*Measured on 2020-01-01 with fewgold 0.*

<!-- end -->
"""


def test_check_and_rewrite(
    evidence: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("none\n")
    page = tmp_path / "docs" / "page.md"
    page.write_text(PAGE)
    (tmp_path / "script.py").write_text(
        "import sys\nprint('| a |\\n| --- |\\n|', len(sys.argv), '|')\n"
    )
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    monkeypatch.setattr(evidence.pages, "__defaults__", (tmp_path,))

    evidence.main(["--check"])  # the first is right; times are not compared
    assert page.read_text() == PAGE
    page.write_text(PAGE.replace("| 1 |", "| 7 |"))
    capsys.readouterr()
    with pytest.raises(SystemExit, match="1"):
        evidence.main(["--check"])
    told = capsys.readouterr().out
    assert "one (docs/page.md): differs" in told and "two (docs/page.md): runs" in told

    evidence.main(["--only", "one"])
    written = page.read_text()
    assert "| 1 |" in written and "| 7 |" not in written and "old" in written
    assert written.count("2020-01-01") == 1
    evidence.main([])
    assert "\n\nold\n\n" not in page.read_text() and "| 2 |" in page.read_text()
    with pytest.raises(SystemExit, match="2"):
        evidence.main(["--only", "three"])
    assert "no evidence is called 'three'; there are one, two." in capsys.readouterr().err

    (tmp_path / "script.py").write_text("import sys\nsys.exit('no such file')\n")
    with pytest.raises(SystemExit, match="1"):
        evidence.main(["--check", "--only", "one"])
    assert "failed with exit code 1:\nno such file" in capsys.readouterr().out
    (tmp_path / "script.py").write_text("import sys\nsys.stderr.write('No data.')\nsys.exit(3)")
    before = page.read_text()
    evidence.main([])
    assert page.read_text() == before
    assert "one (docs/page.md): left as it is: No data." in capsys.readouterr().out


def test_a_block_that_is_not_closed(evidence: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("*Made on 2020-01-01 with fewgold 0.*\n\n", ""))
    with pytest.raises(ValueError, match="opens"):
        evidence.blocks(page)


def test_readme_agrees_with_the_evidence(evidence: ModuleType) -> None:
    """Gains in README are those of docs/evidence.md."""
    blocks = {block.name: block for block in evidence.blocks(ROOT / "docs" / "evidence.md")}
    pairs = re.split(r"^wmt20_zhen", blocks["wmt20"].shown, flags=re.MULTILINE)
    gains: dict[str, list[str]] = {}
    for part in pairs:
        for name, cells in re.findall(r"^\| `(\S+)` +\|(.*)\|$", part, re.MULTILINE):
            gains.setdefault(name, []).extend(c.strip() for c in cells.split("|")[:4])
    row = gains["docs-balanced+ridge"]
    told = re.search(
        r"`docs-balanced\+ridge` has a smaller error than the plain mean of a random\ssample: "
        r"by ([\d.]+) to ([\d.]+) % for English–German and by ([\d.]+) to ([\d.]+) % for Chinese",
        TEXT[ROOT / "README.md"],
    )
    assert told is not None
    ends = (min(row[:4]), max(row[:4]), min(row[4:]), max(row[4:]))
    assert told.groups() == ends
    assert "61 to 86 %" in TEXT[ROOT / "README.md"]
    (stopping,) = (
        b for b in evidence.blocks(ROOT / "docs" / "stopping.md") if b.name == "stopping"
    )
    saved = re.findall(r"\| guaranteed +\|[^|]*\|[^|]*\| +([\d.]+) %", stopping.shown)
    assert (min(saved), max(saved)) == ("60.9", "86.3")
