"""What users may rely on, one line each: names, members, parameters, and commands with options.

    python tests/packaging/public_names.py           # show what has changed
    python tests/packaging/public_names.py --write   # and agree to it

A test compares the list with public_names.txt beside this file, so that nothing is added or
removed without someone seeing it. CONTRIBUTING.md says what a removal takes.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import fewgold

LISTED = Path(__file__).with_name("public_names.txt")
# Public beside those that `fewgold` itself names: what a sampler, an estimator or a bound of
# one's own is made of, the figures, and sequences of intervals.
FURTHER = [
    "bounds.sequence", "cut", "design", "errors", "estimate", "estimator", "formats.logs", "plots",
]  # fmt: skip
_MARK = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def modules() -> list[ModuleType]:
    """The public modules. Of a package, what its ``__all__`` lists is public, not its modules."""
    named = [n for n in fewgold.__all__ if inspect.ismodule(getattr(fewgold, n))]
    return [fewgold, *(import_module(f"fewgold.{name}") for name in sorted([*named, *FURTHER]))]


def names(module: ModuleType) -> list[str]:
    """``__all__``, or what a module without it defines."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    found: set[str] = set()
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return sorted(name for name in found if not name.startswith("_"))


def parameters(thing: Any) -> str:
    """Names in parentheses; ``=`` after those that may be left out."""
    if inspect.isclass(thing):
        own = dataclasses.is_dataclass(thing) or "__init__" in vars(thing)
        if not own or getattr(thing, "_is_protocol", False):
            return ""
    words: list[str] = []
    for p in inspect.signature(thing).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not any(w.startswith("*") for w in words):
            words.append("*")
        words.append(_MARK.get(p.kind, "") + p.name + ("" if p.default is p.empty else "="))
    return f"({', '.join(w for w in words if w not in ('self', 'cls'))})"


def members(kind: type, public: set[int]) -> Iterator[str]:
    """What a class has beyond its public bases and its parameters."""
    known: set[str] = set()
    found: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        if owner is not kind and (id(owner) in public or "fewgold" not in owner.__module__):
            known |= set(vars(owner))
        else:
            found |= vars(owner)
    if dataclasses.is_dataclass(kind):
        known |= {field.name for field in dataclasses.fields(kind) if field.init}
    for name in sorted(found):
        if not name.startswith("_") and name not in known:
            value = found[name]
            thing = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            yield name + (parameters(thing) if inspect.isfunction(thing) else "")


def in_python() -> Iterator[str]:
    """Lines such as ``fewgold.Pool.from_table(frame, *, id=)``; members at the first home."""
    things = [(m.__name__, name, getattr(m, name)) for m in modules() for name in names(m)]
    public = {id(thing) for _, _, thing in things}
    homes: dict[int, str] = {}
    for module, name, thing in things:
        path = f"{module}.{name}"
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield path
        elif id(thing) in homes:
            yield f"{path} = {homes[id(thing)]}"
        else:
            homes[id(thing)] = path
            yield path + parameters(thing)
            if inspect.isclass(thing):
                yield from (f"{path}.{member}" for member in members(thing, public))


def on_the_command_line() -> Iterator[str]:
    """Lines such as ``$ fewgold select POOL… --budget --strategy``: a command with its options."""
    from typer.main import get_command

    from fewgold.cli import app

    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    for name in sorted(commands):
        given = [p.metavar or p.name for p in commands[name].params if not is_option(p)]
        options = {o for p in commands[name].params for o in (*p.opts, *p.secondary_opts)}
        long = sorted(option for option in options if option.startswith("--"))
        yield " ".join(["$ fewgold", name, *given, *long])


def is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def listing() -> str:
    return "\n".join([*in_python(), *on_the_command_line()]) + "\n"


def changes() -> list[str]:
    """What is gone (-) and what is new (+)."""
    old = LISTED.read_text(encoding="utf-8").splitlines() if LISTED.exists() else []
    compared = difflib.unified_diff(old, listing().splitlines(), lineterm="", n=0)
    return [line for line in compared if line[:3] not in ("---", "+++") and line[0] in "+-"]


if __name__ == "__main__":
    print("\n".join(changes()) or "nothing has changed")
    if "--write" in sys.argv[1:]:
        LISTED.write_text(listing(), encoding="utf-8")
