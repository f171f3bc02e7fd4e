"""Arrow files, and folders of Arrow or Parquet files saved by Hugging Face datasets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fewgold.io.files import TableError

#: How an Arrow file begins; a stream of Arrow begins with the length of its schema.
FILE, STREAM = b"ARROW1", b"\xff\xff\xff\xff"
_PART = re.compile(r"(?:(?P<split>[\w.-]+?)-)?\d{5}-of-\d{5}(?:-[0-9a-f]+)?\.(?:parquet|arrow)")
_MARKS = ("state.json", "dataset_info.json", "dataset_dict.json")


def is_dataset(path: str | Path) -> bool:
    """Whether a folder is a Hugging Face dataset, saved to disk or in the hub's layout."""
    place = Path(path)
    if not place.is_dir():
        return False
    return any((place / mark).is_file() for mark in _MARKS) or bool(_on_hub(place))


def _on_hub(place: Path) -> list[Path]:
    """Parts of splits in the folder ``data``, or next to the dataset card."""
    card = any((place / name).is_file() for name in ("README.md", ".gitattributes"))
    parts = list((place / "data").glob("*.parquet")) if (place / "data").is_dir() else []
    parts += place.glob("*.parquet") if card else ()
    return sorted(p for p in parts if _PART.fullmatch(p.name))


def read_dataset(path: str | Path) -> tuple[Any, str]:
    """The rows of a dataset, and a note on its splits.

    If there are several, the one called test is read; the others may be training data.
    """
    place, splits = Path(path), dict(_splits(Path(path)))
    if not splits:
        raise TableError(
            str(path), "folder", "the dataset has no Arrow or Parquet files",
            "Name the folder that holds data-00000-of-….arrow, or write it again.",
        )  # fmt: skip
    name = next(iter(splits)) if len(splits) == 1 else "test"
    if name not in splits:
        raise TableError(
            str(path), "splits", f"it holds {len(splits)} splits ({', '.join(splits)}) and none is "
            "called test",
            f"Name the one to evaluate, such as {_where(place, next(iter(splits)), splits)!r}.",
        )  # fmt: skip
    said = ""
    if len(splits) > 1:
        others = ", ".join(s for s in splits if s != name)
        said = f"only the split {name!r} is read, not {others}"
    return _joined(splits[name], str(path)), said


def _where(place: Path, split: str, splits: dict[str, list[Path]]) -> str:
    folder = place / split
    return str(folder if folder.is_dir() else splits[split][0])


def _splits(place: Path) -> Iterator[tuple[str, list[Path]]]:
    if (place / "dataset_dict.json").is_file():
        for inner in sorted(p for p in place.iterdir() if p.is_dir()):
            if files := _listed(inner):
                yield inner.name, files
        return
    if files := _listed(place):
        yield place.name, files
        return
    found: dict[str, list[Path]] = {}
    for part in _on_hub(place):
        named = _PART.fullmatch(part.name)
        found.setdefault((named and named["split"]) or "all", []).append(part)
    yield from found.items()


def _listed(folder: Path) -> list[Path]:
    """The Arrow files that a saved dataset lists, in their order; otherwise those found."""
    try:
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        names = [str(f["filename"]) for f in state["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return sorted(folder.glob("*.arrow"))
    files = [folder / Path(name).name for name in names]
    gone = [f.name for f in files if not f.is_file()]
    if gone:
        raise TableError(
            str(folder), "missing-part", f"the dataset lists {gone[0]!r}, which is missing",
            "Fetch or save it again; a download may have stopped halfway.",
        )  # fmt: skip
    return files


def _joined(files: list[Path], name: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise _without() from None
    tables = []
    for file in files:
        try:
            if file.suffix == ".parquet":
                tables.append(pq.ParquetFile(file).read(use_threads=False))
            else:
                tables.append(read_arrow(file.read_bytes(), str(file)))
        except (pa.ArrowException, OSError, ValueError, OverflowError, TypeError) as error:
            raise _damaged(str(file), error) from None
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise _damaged(name, error) from None


def read_arrow(data: bytes, name: str) -> Any:
    """The table in an Arrow file, as a file or as a stream."""
    try:
        import pyarrow as pa
        import pyarrow.ipc as ipc
    except ImportError:
        raise _without() from None
    buffer = pa.BufferReader(data)
    try:
        opened = ipc.open_file(buffer) if data[:6] == FILE else ipc.open_stream(buffer)
        table = opened.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, OverflowError, TypeError, KeyError) as error:
        raise _damaged(name, error) from None
    return table


def _without() -> TableError:
    return TableError(
        "Arrow", "arrow", "reading Arrow needs pyarrow",
        "Install it with: pip install 'fewgold[parquet]'.",
    )  # fmt: skip


def _damaged(name: str, error: Exception) -> TableError:
    why = str(error).partition("\n")[0].rstrip(".")
    return TableError(name, "arrow", f"it cannot be read as an Arrow file: {why}",
                      "Write it again.")  # fmt: skip
