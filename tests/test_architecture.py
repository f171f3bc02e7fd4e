"""Imports go one way: the order of docs/architecture.md, checked on the source."""

import ast
from pathlib import Path

import pytest

import fewgold

ROOT = Path(fewgold.__file__).parent

# Each row may import from the rows above it. Packages of one row do not know each other.
LAYERS = [
    {"errors", "_arrays", "_equal", "_once", "_temporary", "_version"},
    {"_xlsx"},
    {"_validate", "tables", "_neighbours", "_pretty", "cut"},
    {"plots", "_orientation"},
    {"report", "roles"},
    {"formats"},
    {"pool", "design"},
    {"stored"},
    {"sample"},
    {"estimate", "records"},
    {"samplers", "bounds", "agreement"},
    {"estimator"},
    {"estimators", "bayes"},
    {"registry", "testing", "gaps"},
    {"simulation"},
    {"planning", "reliability", "comparison"},
    {"files", "datasets"},
    {"shared", "reporting"},
    {"doctor"},
    {"campaign", "reproduce"},
    {"web"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def _part(path: Path) -> str:
    """The top-level part of the package that a file belongs to."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def _imports(path: Path) -> set[str]:
    """The modules that a file imports, such as ``fewgold.pool`` or ``tempfile``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module == "fewgold":
                found |= {f"fewgold.{a.name}" for a in node.names if a.name in RANK}
    return found


@pytest.fixture(scope="module")
def imports() -> dict[Path, set[str]]:
    return {path: _imports(path) for path in sorted(ROOT.rglob("*.py"))}


def test_imports_go_one_way(imports: dict[Path, set[str]]) -> None:
    wrong = []
    for path, found in imports.items():
        part = _part(path)
        if part == "__init__":
            continue  # the front door names everything
        assert part in RANK, f"{part} has no place in the order of layers: give it one"
        others = {name.split(".")[1] for name in found if name.startswith("fewgold.")} - {part}
        wrong += [f"{path.relative_to(ROOT)}: {o}" for o in others if RANK[o] >= RANK[part]]
    assert not wrong, "a module must not import from its own layer or from one above"


def test_temporary_things_are_made_in_one_place(imports: dict[Path, set[str]]) -> None:
    """Where their removal is arranged before they are made."""
    assert [path.name for path, found in imports.items() if "tempfile" in found] == [
        "_temporary.py"
    ]


def test_public_names_exist() -> None:
    for name in fewgold.__all__:
        assert hasattr(fewgold, name)
    assert fewgold.__all__ == sorted(fewgold.__all__)
