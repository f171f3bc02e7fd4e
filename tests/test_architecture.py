"""The layers and the folders are those of docs/architecture.md, checked on the source."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import fewgold

ROOT = Path(fewgold.__file__).parent

PAGE = ROOT.parent / "docs" / "architecture.md"
# The building blocks of reports; the other modules of that package are the report of a study.
BLOCKS = {"sections"}
# Old names of modules, which only pass on the new ones.
OLD = {"gaps", "reporting"}


def _layers() -> list[list[str]]:
    """The parts of each layer, as the page lists them."""
    listed = PAGE.read_text(encoding="utf-8").split("## Nine layers")[1].split("\n## ")[0]
    items = re.findall(r"^\d+\. (.*(?:\n {3}.*)*)", listed, re.MULTILINE)
    return [re.findall(r"`([^`]+)`", item.partition(": ")[0]) for item in items]


RANK = {part: rank for rank, part in enumerate(part for layer in _layers() for part in layer)}


def _part(module: str) -> str:
    """The part of the package that ``fewgold.x.y`` belongs to."""
    _, first, *rest = module.split(".")
    return "report.study" if first == "report" and rest and rest[0] not in BLOCKS else first


MODULES = {
    ".".join(("fewgold", *p.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): p
    for p in sorted(ROOT.rglob("*.py"))
}


def _imports(path: Path) -> set[str]:
    """The modules that a file imports, such as ``fewgold.pool`` or ``tempfile``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{a.name}" for a in node.names}
            found |= {name if name in MODULES else node.module for name in inner}
    return found


@pytest.fixture(scope="module")
def imports() -> dict[Path, set[str]]:
    return {path: _imports(path) for path in sorted(ROOT.rglob("*.py"))}


def test_there_are_nine_layers_and_every_module_is_in_one() -> None:
    assert len(_layers()) == 9
    doors = {"fewgold", "fewgold.__main__", "fewgold.report", *(f"fewgold.{name}" for name in OLD)}
    assert {_part(m) for m in MODULES if m not in doors} | {"report"} == set(RANK)


def test_imports_go_one_way(imports: dict[Path, set[str]]) -> None:
    wrong = []
    for module, path in MODULES.items():
        if module in ("fewgold", "fewgold.__main__", "fewgold.report"):
            continue  # front doors name what is behind them
        if (part := module.split(".")[1]) in OLD:
            continue
        part = _part(module)
        others = {_part(name) for name in imports[path] if name.startswith("fewgold.")} - {part}
        wrong += [f"{module}: {o}" for o in others if o not in RANK or RANK[o] >= RANK[part]]
    assert not wrong, "a module must not import from a part listed after its own"


def test_private_modules_have_more_than_one_reader(imports: dict[Path, set[str]]) -> None:
    """A helper lives beside its only caller."""
    private = [m for m in MODULES if m.split(".")[-1].startswith("_") and not m.endswith("__")]
    alone = [m for m in private if sum(m in found for found in imports.values()) < 2]
    assert alone == []


def test_a_folder_can_be_seen_at_once() -> None:
    crowded = Counter(path.parent.name for path in MODULES.values() if path.stem != "__init__")
    # The nouns of the flow, a file for each command, and one for each group of pages.
    assert {k: n for k, n in crowded.items() if n > 18 and k not in ("fewgold", "cli", "web")} == {}


def test_a_class_name_has_one_meaning() -> None:
    names = Counter(
        node.name
        for path in MODULES.values()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_temporary_things_are_made_in_one_place(imports: dict[Path, set[str]]) -> None:
    """Where their removal is arranged before they are made."""
    assert [path.name for path, found in imports.items() if "tempfile" in found] == ["temporary.py"]


def test_public_names_exist() -> None:
    for name in fewgold.__all__:
        assert hasattr(fewgold, name)
    assert fewgold.__all__ == sorted(fewgold.__all__)
