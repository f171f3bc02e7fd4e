"""The code in README and docs runs, prints what is shown, and the examples run."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from sessions import has_session, played, undated

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
BLOCKS = [
    pytest.param(code, shown, id=f"{page.stem}-{k}")
    for page in PAGES
    for k, (code, shown) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize(("code", "shown"), BLOCKS)
def test_page(code: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "page", "exec"), {"__name__": "page"})
    printed = capsys.readouterr().out
    if shown:
        assert printed.strip() == shown.strip()


@pytest.mark.parametrize(
    "page", [p for p in PAGES if has_session(p.read_text(encoding="utf-8"))], ids=lambda p: p.stem
)
def test_session(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert undated(played(text, tmp_path)) == undated(text)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
