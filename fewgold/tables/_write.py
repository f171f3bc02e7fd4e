"""Write files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fewgold.errors import DataError


def write_texts(contents: Mapping[Path, str | bytes]) -> None:
    """Write all files or none: each beside its target first, then moved into place."""
    made: dict[Path, str] = {}
    try:
        for target, text in contents.items():
            if not target.parent.is_dir():
                raise DataError(f"there is no folder {str(target.parent)!r} to write to. Make it.")
            handle, made[target] = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(made[target], 0o666 & ~_umask())
        for target in list(made):
            os.replace(made[target], target)
            del made[target]
    finally:
        for left in made.values():
            os.unlink(left)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
