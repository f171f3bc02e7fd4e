"""What a cell's result depends on, as a digest: finished cells are found again by it."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import secrets
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fewgold
from fewgold.pool import Pool

# These parts show results and do not make them.
_SHOWN = ("cli", "plots", "report", "reproduce", "web")


def digest(*parts: Any) -> str:
    """A digest of objects and of the code behind them.

    An object that cannot be pickled, or whose class has no source file, gets a digest of its own
    each time, so that it is computed again rather than mistaken.
    """
    found = hashlib.sha256(_own_code().encode())
    for part in parts:
        try:
            found.update(pickle.dumps(part, protocol=5))
        except Exception:
            found.update(secrets.token_bytes(16))
        for kind in sorted({*_kinds(part)}, key=lambda k: (k.__module__, k.__qualname__)):
            found.update(_source(kind))
    return found.hexdigest()[:24]


def data_digest(pool: Pool, gold: Any) -> str:
    """A digest of everything in a pool, and its scores."""
    found = hashlib.sha256(np.ascontiguousarray(gold).tobytes())
    tables = {"m": pool.metrics, "t": pool.texts}
    columns: dict[str, Any] = {"ids": pool.ids, "d": pool.documents, "c": pool.cost}
    columns |= {"s": pool.system}
    columns |= {f"{k}\x1f{name}": v for k, table in tables.items() for name, v in table.items()}
    for name, values in columns.items():
        found.update(f"\x1e{name}\x1f".encode())
        if values is not None:
            found.update("\x1f".join(map(str, values.tolist())).encode())
    found.update(repr(sorted(pool.orientation.items())).encode())
    return found.hexdigest()[:24]


def all_data_digest(studies: Mapping[str, tuple[Pool, Any]]) -> str:
    """A short digest of all pools and scores of a simulation, for its signature."""
    parts = [f"{name}\x1f{data_digest(*study)}" for name, study in studies.items()]
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()[:6]


def _kinds(part: Any, depth: int = 0) -> Iterator[type]:
    """Classes of an object and its attributes that are not fewgold's own or built in."""
    kind = part if isinstance(part, type) else type(part)
    if depth > 6 or kind.__module__ in ("builtins", "numpy"):
        items = part.values() if isinstance(part, dict) else part
        if isinstance(part, dict | list | tuple) and depth <= 6:
            for item in items:
                yield from _kinds(item, depth + 1)
        return
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] not in ("fewgold", "builtins", "abc", "typing"):
            yield base
    for value in getattr(part, "__dict__", {}).values():
        yield from _kinds(value, depth + 1)


def _source(kind: type) -> bytes:
    """The file that a class comes from: its helpers are in it too."""
    try:
        return _read(inspect.getfile(kind))
    except (OSError, TypeError):
        return secrets.token_bytes(16)


@cache
def _read(path: str) -> bytes:
    return hashlib.sha256(Path(path).read_bytes()).digest()


@cache
def _own_code() -> str:
    root = Path(fewgold.__file__).parent
    found = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in _SHOWN:
            found.update(path.read_bytes())
    return found.hexdigest()
