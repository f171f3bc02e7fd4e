"""Imports go one way: the order of docs/architecture.md, checked on the source."""

import ast
from pathlib import Path

import pytest

import fewgold

ROOT = Path(fewgold.__file__).parent

# Each row may import from the rows above it. Packages of one row do not know each other.
LAYERS = [
    {"errors", "_arrays", "_equal", "_once", "_version"},
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


def _modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def _part(path: Path) -> str:
    """The top-level part of the package that a file belongs to."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("fewgold.")}
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = node.module.split(".")
            if parts == ["fewgold"]:
                found |= {a.name for a in node.names if a.name in RANK}
            elif parts[0] == "fewgold":
                found.add(parts[1])
    return found


@pytest.mark.parametrize("path", _modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    part = _part(path)
    if part == "__init__":
        return  # the front door names everything
    assert part in RANK, f"{part} has no place in the order of layers: give it one"
    for other in _imports(path) - {part}:
        assert RANK[other] < RANK[part], f"{part} must not import {other}"


def test_public_names_exist() -> None:
    for name in fewgold.__all__:
        assert hasattr(fewgold, name)
    assert fewgold.__all__ == sorted(fewgold.__all__)
