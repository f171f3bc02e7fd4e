"""Write files whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from fewgold._temporary import Temporary
from fewgold.errors import DataError


def write_texts(contents: Mapping[Path, str | bytes]) -> None:
    """Write all files or none: each beside its target first, then moved into place."""
    made: dict[Path, Path] = {}
    with ExitStack() as gone:
        for target, text in contents.items():
            if not target.parent.is_dir():
                raise DataError(f"there is no folder {str(target.parent)!r} to write to. Make it.")
            made[target] = gone.enter_context(Temporary(target.parent, f".{target.name}."))
            with open(made[target], "xb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
                file.flush()
                os.fsync(file.fileno())
        for target, place in made.items():
            os.replace(place, target)
