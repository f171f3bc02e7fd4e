"""A drawn sample on disk: a sheet for the raters, and a design file that says how it was drawn.

The sheet shows what raters need and nothing that could influence them: no metrics, no system, and
the order of drawing only on request. The design file ``<sheet>.design.json`` holds the rest, with
exact floats.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold import formats, io, registry
from fewgold._version import __version__
from fewgold.common.text import pretty
from fewgold.design import Design, DesignKind
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Criterion, alias, holds_name
from fewgold.io import neutral, refuse
from fewgold.missing import PartialRatings
from fewgold.pool import Pool, Population
from fewgold.sample import Ratings, Sample, SampleInfo
from fewgold.stored import Engine
from fewgold.stored.pool import reopen

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.criteria import CriteriaRatings

# Designs and pools as plain records, which every file of a study stores, with exact floats --------

# Fields of a Design with one value per segment, by the name of a single value.
_FLOATS = {
    "weight": "weights", "inclusion": "inclusion", "influence": "influence", "share": "shares"
}  # fmt: skip
_WHOLE = {"group": "groups", "unit": "units", "stratum": "strata", "document": "documents"}


def drawn(pool: Pool, indices: NDArray[Any], design: Design) -> dict[str, Any]:
    """A design as plain values, with one entry per segment in the order of drawing."""
    columns = {"id": [str(i) for i in pool.ids[indices]], "index": indices.tolist()}
    for key, name in (_FLOATS | _WHOLE).items():
        if getattr(design, name) is not None:
            columns[key] = getattr(design, name).tolist()
    if design.balance is not None:
        columns["balance"] = design.balance.T.tolist()
    segments = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    head = {"kind": design._label, "size": design.size, "unbiased": design.unbiased}
    if design.documents is not None:
        head["concentration"] = design.concentration
    return {**head, "segments": segments}


def rated(given: Ratings) -> dict[str, Any]:
    """A sample with its scores, as `drawn` stores it."""
    record = drawn(given.sample.pool, given.sample.indices, given.sample.design)
    limits = None if given.limits is None else list(given.limits)
    info = given.sample.info.to_dict()
    return {**record, "scores": given.scores.tolist(), "limits": limits, "info": info}


def design_of(record: Mapping[str, Any], pool: Pool) -> tuple[NDArray[np.int64], Design]:
    """Read the rows and the design stored by `drawn`, checked against the pool."""
    segments = record["segments"]
    indices = np.array([s["index"] for s in segments], dtype=np.int64)
    if indices.size and not (indices.min() >= 0 and indices.max() < len(pool)):
        raise DataError("the design refers to rows that the pool does not have.")
    ids = [str(i) for i in pool.ids[indices]]
    wrong = [s["id"] for s, i in zip(segments, ids, strict=True) if s["id"] != i]
    refuse("of the design do not match the pool's rows", wrong, "Is it the same pool?")
    arrays: dict[str, Any] = {}
    for names, dtype in ((_FLOATS, np.float64), (_WHOLE, np.int64)):
        for key, name in names.items():
            if key in segments[0]:
                arrays[name] = np.array([s[key] for s in segments], dtype=dtype)
    if "balance" in segments[0]:
        arrays["balance"] = np.array([s["balance"] for s in segments], dtype=np.float64).T
    kind, gaps = DesignKind.parse(record["kind"])
    return indices, Design(
        kind=kind,
        size=record["size"],
        concentration=record.get("concentration", 0.0),  # older designs have no documents
        unbiased=record["unbiased"],
        gaps=gaps,
        **arrays,
    )


def check_pool(stored: Mapping[str, Any], pool: Population) -> None:
    """Refuse a pool that differs from the recorded one, and say what changed."""
    if stored["fingerprint"] == pool.fingerprint:
        return
    then, now = stored["digests"], pool._digests()
    reasons = [f"{k} changed" for k in then if k in now and now[k] != then[k]]
    reasons += [f"{k} is gone" for k in then if k not in now]
    reasons += [f"{k} is new" for k in now if k not in then]
    if stored["size"] != len(pool):
        reasons.insert(0, f"it has {len(pool)} segments now and had {stored['size']}")
    raise DataError(
        f"this is not the pool that the sample was drawn from (fingerprint {pool.fingerprint} "
        f"now, {stored['fingerprint']} then): {'; '.join(reasons) or 'its order changed'}. Give "
        "the original pool: an estimate from another one would be wrong."
    )


SCHEMA = "fewgold.sample/1"
#: What the sheet calls the segment's id and its document, whatever the pool calls them.
ID, DOCUMENT, SCORE = "id", "document", "score"


def design_path(path: str | Path) -> Path:
    """Path of the design file of a sheet."""
    return Path(f"{path}.design.json")


def open_table(
    path: str | Path,
    tell: Callable[[str], None] | None = None,
    *,
    pair: str | None = None,
    raters: bool = False,
    source: str | None = None,
) -> pd.DataFrame:
    """Open any table that fewgold reads: plain files, published ratings or evaluation logs.

    ``path`` is a file, a folder of mt-metrics-eval or of logs, or ``-`` for standard input.
    ``tell`` is called with warnings; ``pair``, ``raters`` and ``source`` are as in
    `fewgold.formats.rated_table`.
    """
    found = None if str(path) == "-" else formats.rated_table(path, pair, raters, source)
    if found is None:
        file = io.read_file(path)
        frame, notes = file.frame(), file.notes
    else:
        frame, notes = found.frame, found.notes
    if tell is not None:
        for sentence in notes:
            tell(sentence.rstrip("."))
    return frame


def build_pool(table: Any, columns: Mapping[str, Any]) -> Pool:
    """A pool from a table and the roles of its columns; the cost may be ``FIXED+PER*COLUMN``.

    Gaps in metrics are filled with the mean of the metric.
    """
    table = io.filled(as_recorded(table, columns), columns.get("metrics") or ())
    if columns.get("cost") is not None:
        table = io.with_cost(table, columns["cost"])
    return Pool.from_table(table, **columns)


def added_columns(pool: Pool, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Values that a pool has but its table lacks: the spread, and metrics from elsewhere."""
    own = columns.get("metrics") or ()
    made = {
        name: {"values": values.tolist(), "orientation": pool.orientation.get(name)}
        for name, values in pool.metrics.items()
        if name not in own
    }
    found = {"metrics": made, "spread": None if pool.spread is None else pool.spread.tolist()}
    return {k: v for k, v in found.items() if v}


def with_added(pool: Pool, added: Mapping[str, Any] | None) -> Pool:
    """The pool with the columns of `added_columns`; unchanged if its size has changed.

    `check_pool` then says what changed.
    """
    if not added:
        return pool
    metrics = added.get("metrics") or {}
    columns = [m["values"] for m in metrics.values()] + [added.get("spread")]
    if any(values is not None and len(values) != len(pool) for values in columns):
        return pool
    signs = {k: m["orientation"] for k, m in metrics.items() if m["orientation"] is not None}
    values = {k: np.array(m["values"], dtype=np.float64) for k, m in metrics.items()}
    return replace(
        pool,
        metrics={**pool.metrics, **values},
        orientation={**pool.orientation, **signs},
        spread=added.get("spread"),
    )


def as_recorded(table: Any, columns: Mapping[str, Any]) -> Any:
    """The table with column names as in a design file: old files may have spaces around names.

    Ids made of several columns, and paths into nested cells, are columns as well.
    """
    from fewgold.io.columns import joined_id

    listed = [
        v for value in columns.values() for v in (value if isinstance(value, list) else [value])
    ]
    padded = {v.strip(): v for v in listed if isinstance(v, str) and v != v.strip()}
    table = table.rename(columns=padded) if padded else table
    names = [v for v in listed if isinstance(v, str)]
    return io.with_paths(joined_id(table, columns.get("id")), names)


def save_sample(
    sample: Sample,
    path: str | Path,
    *,
    strategy: str,
    columns: Mapping[str, Any],
    pool_path: str | Path | Sequence[str] | None = None,
    score: str = SCORE,
    budget: Any = None,
    design: str | Path | None = None,
    in_order: bool = False,
    overwrite: bool = False,
    systems: Mapping[str, Any] | None = None,
    text: str | None = None,
    given: str | Path | None = None,
    options: Sequence[str] | None = None,
    history: str | Path | None = None,
    uniform: float | None = None,
    chances: str | None = None,
    table: Mapping[str, Any] | None = None,
    criteria: Sequence[Criterion] = (),
    given_criteria: CriteriaRatings | None = None,
) -> Path:
    """Write the sheet to rate and its design file, and return the path of the design file.

    Parameters
    ----------
    sample
        One drawn sample. A top-up is stored with the ratings that it continues.
    path
        A ``.csv`` or ``.tsv`` file; ``-`` is CSV on standard output, and then ``design`` is needed.
    strategy
        Name of the strategy that will make the estimate, such as ``docs-balanced+ridge``.
    columns
        The roles of the pool's columns, as in `Pool.from_table`, to build the pool again.
    pool_path
        The pool's file, stored relative to the design file; for a pool on disk, its paths.
    score
        Name of the empty column.
    budget
        The requested budget, for the record.
    design
        Path of the design file, if not beside the sheet.
    in_order
        List the segments in the order of drawing, to be rated from the top and stopped early.
    overwrite
        Replace existing files. They may hold ratings, so that is never the default.
    systems, text
        The key to a sheet with several systems, and the sheet itself (`fewgold.shared_sheets`).
    given
        The rated sheet that this one continues.
    options
        The options of ``fewgold select`` that reproduce this draw, for `commands`.
    history
        The file of earlier ratings that gave the expected spread, for `commands`.
    uniform, chances
        With uneven chances: the share of equal chances, if set, which top-ups use again; and a
        sentence for reports that says where the chances come from.
    table
        The pool itself, by column, if it does not come from a file.
    criteria
        Criteria to rate, each with its own column instead of ``score``.
    given_criteria
        For a top-up: the earlier ratings on every criterion.
    """
    if sample.indices.ndim != 1:
        raise DataError("a batch of draws cannot be rated. Save one of them: sample.draw(k).")
    name = str(path)
    if name == "-" and design is None:
        raise DataError(
            "with the sheet on standard output, the design needs a file of its own.",
            hints={"python": "Name it with design=….", "cli": "Name it with --design FILE."},
        )
    if name != "-" and not name.lower().endswith((".csv", ".tsv")):
        raise DataError(f"the sheet must be a .csv or .tsv file; got {name!r}.")
    side = design_path(path) if design is None else Path(design)
    targets = [side] if name == "-" else [Path(path), side]
    for target in targets:
        if target.exists() and not overwrite:
            raise DataError(
                f"{str(target)!r} exists and may hold ratings.",
                hints={
                    "python": "Choose another name, or overwrite it (overwrite=True).",
                    "cli": "Choose another name, or overwrite it with --force.",
                },
            )
    separator = "\t" if name.lower().endswith(".tsv") else ","
    columns_to_fill = [c.name for c in criteria] or [score]
    if text is None:
        text = sheet(sample, columns_to_fill, separator, in_order=in_order)
    where = _places(pool_path, side.parent)
    engine, _ = sample.pool._source
    added = added_columns(sample.pool, columns) if engine == "memory" else {}
    signs = dict(sample.pool.orientation)
    signs = {k: v for k, v in signs.items() if k not in added.get("metrics", ())}
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "fewgold": __version__,
        "strategy": strategy,
        "sampler": sample.info.sampler,
        "seed": sample.info.seed,
        "n": sample.n,
        "budget": budget,
        "score_column": columns_to_fill[0],
        "pool": {
            "path": where,
            "size": len(sample.pool),
            "fingerprint": sample.pool.fingerprint,
            "digests": sample.pool._digests(),
            "columns": {**columns, "orientation": signs},
            **({} if engine == "memory" else {"engine": engine}),
            **({"added": added} if added else {}),
            **({} if table is None else {"table": dict(table)}),
        },
        "sample": drawn(sample.pool, sample.indices, sample.design),
        "given": None if sample.given is None else rated(sample.given),
        # The joined design is stored only if it cannot be computed from the two waves.
        "joined": None
        if sample.given is None or sample.joined is None
        else drawn(sample.pool, np.r_[sample.given.sample.indices, sample.indices], sample.joined),
    }
    if systems is not None:
        record["systems"] = dict(systems)
    if options is not None:
        record["select"] = {"given": _places(given, side.parent), "options": list(options)}
        if history is not None:
            record["select"]["history"] = _places(history, side.parent)
    record |= {k: v for k, v in {"uniform": uniform, "chances": chances}.items() if v is not None}
    if criteria:
        record["criteria"] = [c.to_dict() for c in criteria]
        if given_criteria is not None:
            earlier = {c: p.complete().scores.tolist() for c, p in given_criteria.parts.items()}
            record["given"]["criteria"] = earlier
    if name == "-":
        io.write_texts({side: pretty(record)})
        sys.stdout.write(text)
    else:
        # Spreadsheets recognise UTF-8 only after a byte order mark.
        mark = "" if text.isascii() else "\ufeff"
        io.write_texts({side: pretty(record), Path(path): mark + text})
    return side


def to_sheet(
    sample: Sample,
    path: str | Path,
    *,
    estimator: str | None = None,
    score: str = SCORE,
    in_order: bool = False,
    overwrite: bool = False,
) -> Path:
    """`Sample.to_sheet`: as `save_sample`, with a pool in memory kept in the design file."""
    pool = sample.pool
    sampler = sample.info.sampler or sample.design._label.replace(" ", "-")
    estimator = estimator or ("ridge" if pool.metrics else "mean")
    registry.estimator(estimator, pool)
    columns, held = None, None
    if pool._rows_in_memory:
        roles = {ID: pool.ids, DOCUMENT: pool.documents, "cost": pool.cost, "system": pool.system}
        named = {role: role for role, values in roles.items() if values is not None}
        while taken := {name for name in named.values() if name in pool.metrics}:
            named = {role: f"{name}_" if name in taken else name for role, name in named.items()}
        held = {name: _plain_labels(roles[role]) for role, name in named.items()}
        held |= {name: values.tolist() for name, values in pool.metrics.items()}
        columns = named | {"metrics": list(pool.metrics)}
    return save_sample(
        sample, path, strategy=f"{sampler}+{estimator}", columns=columns or {}, score=score,
        in_order=in_order, overwrite=overwrite, table=held,
    )  # fmt: skip


def _plain_labels(values: Any) -> list[Any]:
    """Labels for JSON: numbers stay numbers, everything else becomes text."""
    return [v if isinstance(v, str | int | float) else str(v) for v in values.tolist()]


def sample_of(
    path: str | Path, pool: Population | None = None, design: str | Path | None = None
) -> tuple[Record, Sample]:
    """The design file of a sheet and its sample; the pool is located unless it is given."""
    record = read_record(design_path(path) if design is None else design)
    return record, load_sample(record, load_pool(record) if pool is None else pool)


def sheet(
    sample: Sample, score: str | Sequence[str] = SCORE, separator: str = ",", *,
    in_order: bool = False,
) -> str:  # fmt: skip
    """The table to rate, by document or in the order of drawing, with an empty score.

    ``score`` may be several columns, one per criterion.

    Ids and documents that could reveal the system are renamed, and rows of several systems are
    listed in an uninformative order.
    """
    pool = sample.pool
    rows = place = sample.indices
    own = {int(i): _masked(pool, i) for i in place}
    if not in_order and pool._has_several_systems:
        rows = np.array(sorted(own, key=lambda i: (own[i][-1], i)))
    elif not in_order:
        by_document = place if pool.documents is None else pool.codes[place] * len(pool) + place
        rows = place[np.argsort(by_document)]
    labels = [ID] if pool.documents is None else [ID, DOCUMENT]
    shown: dict[str, Any] = {name: {i: own[i][k] for i in own} for k, name in enumerate(labels)}
    empty = [score] if isinstance(score, str) else list(score)
    names = [*shown, *pool.texts, *empty]
    check_header(names)
    shown |= pool.texts
    body = [
        [*(io.cell(column[i], separator) for column in shown.values()), *("" for _ in empty)]
        for i in rows.tolist()
    ]
    ids = [str(shown[ID][i]) for i in rows.tolist()]
    twins = [i for i in ids if neutral(i) != i and neutral(i) in set(ids)]
    if twins:
        raise DataError(
            f"the ids {twins[0]!r} and {neutral(twins[0])!r} are too alike. Rename one."
        )
    if separator == "\t" and any(set(i) & set("\t\r\n") for i in ids):
        raise DataError(
            "some ids contain tabs or line breaks, which TSV cannot hold. Write a .csv file."
        )
    return io.as_text([[*map(neutral, shown), *empty], *body], separator)


def check_header(names: Sequence[str]) -> None:
    """Refuse a sheet that would have two columns with the same name."""
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise DataError(
            f"the sheet would have two columns named {double!r}. Rename the text column, or "
            "choose another name for the score.",
            hints={"python": "See score=….", "cli": "See --score-column."},
        )


def _masked(pool: Pool, place: Any) -> tuple[Any, ...]:
    """The id of a segment and its document, if it has one, as raters may see them."""
    system = () if pool.system is None else (str(pool.system[place]),)
    labels = [of[place] for of in (pool.ids, pool.documents) if of is not None]

    def shown(label: Any, *of: str) -> Any:
        told = pool._has_several_systems or any(holds_name(str(label), name) for name in system)
        return alias(pool.fingerprint, *of, str(label)) if told else label

    return tuple(shown(label, *(system if k else ())) for k, label in enumerate(labels))


class Record(dict[str, Any]):
    """The fields of a design file, and the path that it was read from.

    Read it once with `read_record`, and pass it to any function that takes the path of the file.
    """

    def __init__(self, path: Path, fields: Mapping[str, Any]) -> None:
        super().__init__(fields)
        self.path = path


def read_record(path: str | Path | Record) -> Record:
    """The design file as written by `save_sample`, its schema checked; a `Record` as it is."""
    if isinstance(path, Record):
        return path
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        sheet = str(path).removesuffix(".design.json")
        if sheet != str(path) and not Path(sheet).exists():
            raise DataError(f"there is no file {sheet!r}.") from None
        other = ""
        if sheet != str(path):
            if sheet.endswith(".design.json"):
                raise DataError(f"{sheet!r} is a design file. Give the sheet beside it.") from None
            io.read_table(sheet)  # an empty file, or a folder, is not a sheet at all
            other = f"If another tool made this table, ask fewgold doctor {shlex.quote(sheet)}."
        raise DataError(
            f"there is no design file {str(path)!r}. fewgold select writes it next to its sheet.",
            hints={
                "python": f"Restore it, or give its path with design=…. {other}".rstrip(),
                "cli": f"Restore it, or give its path with --design. {other}".rstrip(),
            },
        ) from None
    except ValueError as error:
        raise DataError(f"{str(path)!r} is not a design file: {error}.") from None
    schema = record.get("schema") if isinstance(record, dict) else None
    if schema != SCHEMA:
        raise DataError(
            f"{str(path)!r} has the schema {schema!r}; this version of fewgold ({__version__}) "
            f"reads {SCHEMA!r}. Give the .design.json file of a sample, or use the version of "
            "fewgold that wrote it."
        )
    return Record(Path(path), record)


def commands(sheet: str | Path, pool: str | None = None, record: Record | None = None) -> list[str]:
    """The shell commands that draw the segments of a sheet again, one line per wave.

    Paths are relative if ``sheet`` is. ``pool`` is the pool's new path if it has moved; ``record``
    is the design file if already read.
    """
    side = design_path(sheet)
    record = read_record(side) if record is None else record
    if "table" in record["pool"]:
        return []  # drawn in Python
    with intact(side):
        told = record.get("select") or _recorded_options(record)
        stored = record["pool"]["path"]
        places = [pool] if pool is not None else [stored] if isinstance(stored, str) else stored
        files = [
            _seen_from_here(p, side.parent if pool is None else Path()) for p in places or ["-"]
        ]
        given = told["given"] and _seen_from_here(told["given"], side.parent)
        copy = Path(sheet).with_name(f"{Path(sheet).stem}-again{Path(sheet).suffix}")
        words = ["fewgold", "select", *files, *(["--given", given] if given else [])]
        if told.get("history"):
            words += ["--history", _seen_from_here(told["history"], side.parent)]
        words += [*told["options"], "-o", _seen_from_here(copy.as_posix(), Path())]
    before = commands(given, pool) if given and design_path(given).is_file() else []
    return [*before, shlex.join(words)]


def _recorded_options(record: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``fewgold select``, as far as a design file without them shows."""
    columns, options = record["pool"]["columns"], {"--strategy": record["strategy"]}
    if record["given"] is None:
        for role in ("id", "document", "cost", "system", "order"):
            options[f"--{role}"] = columns.get(role)
        for role in ("metrics", "texts"):
            options[f"--{role}"] = ",".join(columns.get(role) or ())
        signs = columns.get("orientation") or {}
        options["--orientation"] = ",".join(f"{k}={v:+d}" for k, v in signs.items()) or None
    options["--engine"] = record["pool"].get("engine")
    budget = record["budget"]
    if isinstance(budget, Mapping):
        options |= {"--cost-budget": budget["cost"], "--risk": budget["risk"]}
    else:
        options["--budget"] = record["n"] if budget is None else budget
    options |= {"--seed": record["seed"], "--score-column": record["score_column"]}
    words = [w for k, v in options.items() if v is not None for w in (k, str(v))]
    given = None if record["given"] is None else "EARLIER.csv"
    return {"given": given, "options": [*words, *(["--shared"] if "systems" in record else [])]}


def _seen_from_here(path: str, folder: Path) -> str:
    """A path stored relative to ``folder``, made relative to the working directory."""
    if path == "-" or "://" in path:
        return path
    place = Path(os.path.normpath(folder / path)).as_posix()
    return f"./{place}" if place.startswith("-") else place


def load_pool(
    path: str | Path | Record,
    pool_path: str | Path | Sequence[str] | None = None,
    engine: Engine | None = None,
    tell: Callable[[str], None] | None = None,
) -> Population:
    """Load the pool that a design file describes, from its recorded path or from ``pool_path``.

    A pool on disk is opened and stays on disk, read by ``engine`` (by default the recorded one).
    ``tell`` is called with warnings about its file.
    """
    record = read_record(path)
    if "engine" in record["pool"]:
        with intact(record.path):
            return reopen(record["pool"], record.path.parent, pool_path, engine)
    if "systems" in record:
        sheet = shlex.quote(str(record.path).removesuffix(".design.json"))
        raise DataError(
            "this sheet holds several systems. To compare them, and write tables and plots: "
            f"fewgold compare {sheet} -o results"
        )
    if pool_path is not None and not isinstance(pool_path, str | Path):
        raise DataError(
            "this sample was drawn from one table; got several files. Give only that file."
        )
    table = pool_table(record, pool_path, tell)
    with intact(record.path):
        for name in record["pool"]["columns"].get("metrics") or () if tell is not None else ():
            how = io.column_of(table[name], name).read_as if name in table.columns else ""
            if how and tell is not None:
                tell(io.read_as_sentence(name, how))
        pool = build_pool(table, dict(record["pool"]["columns"]))
        return with_added(pool, record["pool"].get("added"))


def pool_table(
    path: str | Path | Record,
    pool_path: str | Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Open the table that the pool of a design file was built from; ``tell`` gets warnings."""
    record = read_record(path)
    with intact(record.path):
        stored, held = record["pool"]["path"], record["pool"].get("table")
        if pool_path is None and held is not None:
            import pandas as pd

            return pd.DataFrame(held)
        if pool_path is None and stored is None:
            raise DataError(
                "the pool came from standard input, so it cannot be read again.",
                hints={"python": "Give it with pool=….", "cli": "Give its file with --pool."},
            )
        place = record.path.parent / stored if pool_path is None else pool_path
        gone = not (Path(place).exists() or formats.is_tree_of_pair(Path(place)))
        if str(place) != "-" and gone:
            raise DataError(
                f"the pool is no longer at {str(place)!r}.",
                hints={"python": "Give it with pool=….", "cli": "Give its path with --pool."},
            )
        return open_table(place, tell)


def load_sample(path: str | Path | Record, pool: Population) -> Sample:
    """Load the sample of a design file; refuses a pool other than the one it was drawn from."""
    record = read_record(path)
    with intact(record.path):
        check_pool(record["pool"], pool)
        waves = [wave for wave in (record["given"], record["sample"]) if wave]
        rows = {s["index"]: s["id"] for wave in waves for s in wave["segments"]}
        held = pool._with_rows(rows)
        indices, design = design_of(record["sample"], held)
        info = SampleInfo.from_dict({k: record[k] for k in ("sampler", "seed")})
        sample = Sample(held, indices, design, info=info)
        if record["given"] is None:
            return sample
        earlier, how = design_of(record["given"], held)
        scores = np.array(record["given"]["scores"], dtype=np.float64)
        limits = record["given"]["limits"]
        before = Sample(held, earlier, how, info=SampleInfo.from_dict(record["given"]["info"]))
        given = Ratings(before, scores, None if limits is None else (limits[0], limits[1]))
        joined = None if record["joined"] is None else design_of(record["joined"], held)[1]
        return replace(sample, given=given, joined=joined)


def read_ratings(
    path: str | Path | pd.DataFrame,
    sample: Sample,
    *,
    id: str = ID,
    score: str | Sequence[str] = SCORE,
    limits: tuple[float, float] | None = None,
) -> Ratings:
    """Read the scores of a filled-in sheet (or its table), matched by id in any row order.

    ``score`` may name several columns, one per rater, to take their mean. Every segment of the
    sample must occur exactly once, with a number, and no others: leaving some out biases the
    result.
    """
    return read_partial(path, sample, id=id, score=score, limits=limits).complete()


def read_partial(
    path: str | Path | pd.DataFrame,
    sample: Sample,
    *,
    id: str = ID,
    score: str | Sequence[str] = SCORE,
    limits: tuple[float, float] | None = None,
    gaps: bool = False,
) -> PartialRatings:
    """Like `read_ratings`, but with ``gaps`` segments may be missing or have no score.

    With several columns, the mean is taken over those that have a score. Words such as yes and no
    count as 1 and 0, which are then the limits.
    """
    frame = io.read_table(path) if isinstance(path, str | Path) else path
    columns = [score] if isinstance(score, str) else list(score)
    for name in [id, *columns]:
        if name not in frame.columns:
            option = "id" if name == id else "human"
            told = repr(str(path)) if isinstance(path, str | Path) else "the sheet"
            raise DataError(
                f"{told} has no column {name!r}. It has {', '.join(map(str, frame.columns))}.",
                hints={
                    "python": f"Name the right one with {option}=….",
                    "cli": f"Name the right one with --{option}.",
                },
            )
    frame = frame[~frame.map(io.is_empty).all(axis=1)]  # spreadsheets leave empty rows behind
    position = {alias(sample.pool.fingerprint, str(i)): k for k, i in enumerate(sample.ids)}
    position |= {neutral(str(i)): k for k, i in enumerate(sample.ids)}
    position |= {str(i): k for k, i in enumerate(sample.ids)}
    found = [str(i) for i in frame[id]]
    refuse("are not in the sample", [i for i in found if i not in position], _MANGLED)
    rows = [position[i] for i in found]
    count = Counter(rows)
    ids = [str(i) for i in sample.ids]
    refuse("occur more than once", [i for k, i in enumerate(ids) if count[k] > 1], _TWICE)
    if not gaps:
        absent = [i for k, i in enumerate(ids) if not count[k]]
        refuse("of the sample are missing", absent, _UNRATED)
    table = np.full((len(columns), sample.n), np.nan)
    for row, name in zip(table, columns, strict=True):
        cells = list(zip(rows, found, frame[name].tolist(), strict=True))
        if gaps:
            cells = [cell for cell in cells if not io.is_gap(cell[2])]
        names, values = [c[1] for c in cells], [c[2] for c in cells]
        row[[c[0] for c in cells]] = io.scores_of(name, names, values, _UNRATED)
    if limits is None and all("/" in io.column_of(frame[name], name).read_as for name in columns):
        limits = (0.0, 1.0)  # two words, such as yes and no
    if len(columns) == 1:
        return PartialRatings(sample, table[0], limits)
    return PartialRatings(sample, mean_of_known(table) if gaps else table.mean(0), limits)


def criteria_of(record: Mapping[str, Any]) -> tuple[Criterion, ...]:
    """The criteria of a sheet, from its design file; empty if it has one score column."""
    return tuple(Criterion.from_dict(c) for c in record.get("criteria", ()))


def score_columns(record: Mapping[str, Any], human: Sequence[str] = ()) -> list[str]:
    """The score columns that were named, else the sheet's own.

    A sheet with several criteria has no default column.
    """
    if human:
        return list(human)
    if criteria := criteria_of(record):
        names = ", ".join(c.name for c in criteria)
        raise DataError(
            f"this sheet has several criteria ({names}).",
            hints={
                "python": "Choose one with human=…, or read all of them with read_criteria.",
                "cli": "Choose one with --human NAME; fewgold estimate and fewgold report take all "
                "of them.",
            },
        )
    return [record["score_column"]]


def read_criteria(
    path: str | Path | pd.DataFrame,
    sample: Sample,
    criteria: Sequence[Criterion],
    *,
    record: Mapping[str, Any] | None = None,
    id: str = ID,
    limits: tuple[float, float] | None = None,
    gaps: bool = False,
) -> CriteriaRatings:
    """Read the scores of a filled-in sheet on several criteria, one column each.

    ``record`` is the design file, which holds the earlier ratings of a top-up; ``limits`` apply to
    criteria that do not state their own. Otherwise like `read_partial`.
    """
    from fewgold.criteria import CriteriaRatings

    frame = io.read_table(path) if isinstance(path, str | Path) else path
    before = {} if record is None else (record.get("given") or {}).get("criteria", {})
    parts, scaled = {}, []
    for criterion in criteria:
        known = criterion if criterion.limits else replace(criterion, limits=limits)
        drawn = sample
        if sample.given is not None:
            if criterion.name not in before:
                raise DataError(
                    f"this sheet continues another one, whose ratings of {criterion.name!r} are "
                    "not in the design file. Estimate only the criterion that it continues.",
                    hints={"python": "Name it with human=….", "cli": "Name it with --human."},
                )
            scores = np.array(before[criterion.name], dtype=np.float64)
            drawn = replace(sample, given=Ratings(sample.given.sample, scores, known.limits))
        parts[criterion.name] = read_partial(
            frame, drawn, id=id, score=criterion.name, limits=known.limits, gaps=gaps
        )
        scaled.append(known)
    return CriteriaRatings(tuple(scaled), parts)


def mean_of_known(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each row over the columns that have a number; NaN if none has."""
    known = np.isfinite(scores)
    total = np.where(known, scores, 0.0).sum(0)
    return np.where(known.any(0), total / np.maximum(known.sum(0), 1), np.nan)


_RATE_ALL = "Rate every segment of the sample: leaving some out biases the estimate. "
_UNRATED = {
    "python": _RATE_ALL + "If they will stay unrated, see fewgold.missing.",
    "cli": _RATE_ALL + "If they will stay unrated, choose how to treat them with --gaps; if rating "
    "stopped early on purpose, use fewgold stop.",
}
_TWICE = {
    "python": "Keep one row of each; with several raters, give each a column (human=['a', 'b']).",
    "cli": "Keep one row of each; with several raters, give each a column (--human a,b).",
}
_MANGLED = (
    "Did a spreadsheet rewrite the ids (leading zeros, dates)? Or is it another sample's file?"
)


@contextmanager
def intact(path: str | Path) -> Iterator[None]:
    """Turns errors from reading an edited design file into one sentence."""
    try:
        yield
    except FewgoldError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise DataError(
            f"{str(path)!r} is damaged ({type(error).__name__}: {error}). Restore the original "
            "design file; drawing again with the same seed recreates it."
        ) from error


def _places(paths: str | Path | Sequence[str] | None, folder: Path) -> str | list[str] | None:
    """The pool's path, relative to a folder."""
    if paths is None:
        return None
    if isinstance(paths, str | Path):
        return _relative(Path(paths), folder)
    return [p if "://" in p else _relative(Path(p), folder) for p in paths]


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive on Windows
        return path.resolve().as_posix()
