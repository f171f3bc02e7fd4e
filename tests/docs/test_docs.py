"""The code in README and docs runs, prints what is shown, and the examples run.

A few blocks and examples replay hundreds of studies. They run with few here, where the words that
blocks print are compared, and as they stand with the slow tests, where the figures are.
"""

import re
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from fewgold.simulation import result as simulation_result
from sessions import has_session, played, undated

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
BLOCKS = {
    f"{page.stem}-{k}": (code, shown)
    for page in PAGES
    for k, (code, shown) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
}
#: Blocks and examples that take seconds, and what makes them quick.
LONG = {
    "binary-1": ("draws=500", "draws=3"),
    "large-2": ("LocalCluster(", "LocalCluster(processes=False, "),
    "planning-1": ("draws=100", "draws=3"),
    "raters-1": ("RaterPosterior(labels)", "RaterPosterior(labels, effective=100)"),
    "raters-2": ("RaterPosterior(labels, ", "RaterPosterior(labels, effective=100, "),
    "raters-3": ("RaterPosterior(labels, ", "RaterPosterior(labels, effective=100, "),
    "reliability-0": ("orders=20", "orders=2"),
    "whole-documents-0": ("draws=200", "draws=8"),
    "09_compare_strategies": ("draws=40", "draws=2"),
    "10_plan": ("draws=50", "draws=2"),
    "13_own_bound": ("draws=500", "draws=50"),
    "14_reproduce": ("draws=60", "draws=2"),
}
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}


def _quick_and_slow(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in names]


def _shortened(name: str, code: str) -> str:
    much, little = LONG[name]
    assert code.count(much) == 1
    return code.replace(much, little)


def _printed(code: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(code, "page", "exec"), {"__name__": "page"})
    return capsys.readouterr().out.strip()


@pytest.mark.parametrize("name", _quick_and_slow(BLOCKS))
def test_page(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = BLOCKS[name]
    printed = _printed(code, capsys)
    if shown:
        assert printed == shown.strip()


@pytest.mark.parametrize("name", sorted(LONG.keys() & BLOCKS))
def test_page_with_little_to_do(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = BLOCKS[name]
    assert _words(_printed(_shortened(name, code), capsys)) == _words(shown)


def _words(text: str) -> list[str]:
    """All words but numbers, in any order: that of a ranking depends on the figures."""
    return sorted(re.findall(r"[^\W\d]+", text))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if has_session(p.read_text(encoding="utf-8"))], ids=lambda p: p.stem
)
def test_session(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert undated(played(text, tmp_path)) == undated(text)


@pytest.fixture
def run_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Path], str]:
    """Run a script in an empty folder: what it prints."""

    def run(path: Path) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(path)])
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        runpy.run_path(str(path), run_name="__main__")
        return capsys.readouterr().out.strip()

    return run


@pytest.mark.parametrize("name", _quick_and_slow(EXAMPLES))
def test_example(name: str, run_script: Callable[[Path], str]) -> None:
    assert run_script(EXAMPLES[name])


@pytest.mark.parametrize("name", sorted(LONG.keys() & EXAMPLES))
def test_example_with_little_to_do(
    name: str,
    run_script: Callable[[Path], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(simulation_result, "_figures", lambda done: {"error": done.plot("error")})
    script = tmp_path / f"{name}.py"
    code = EXAMPLES[name].read_text(encoding="utf-8")
    script.write_text(_shortened(name, code), encoding="utf-8")
    assert run_script(script)


def test_examples_are_short() -> None:
    for path in EXAMPLES.values():
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 60, path.name


def test_every_long_one_is_there() -> None:
    assert LONG.keys() <= BLOCKS.keys() | EXAMPLES.keys()


def _headings(page: Path) -> set[str]:
    """What a forge, and the site, make of the headings of a page."""
    plain = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    found = re.findall(r"^#{1,4} (.+)$", plain, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_links_lead_somewhere() -> None:
    seen = 0
    for page in PAGES:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            target, _, heading = link.partition("#")
            if "://" not in link:
                found = page.parent / target if target else page
                assert found.exists(), f"{page.name}: {link}"
                assert not heading or heading in _headings(found), f"{page.name}: {link}"
                seen += bool(heading)
    assert seen > 2
