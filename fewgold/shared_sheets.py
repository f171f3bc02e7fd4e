"""Blind sheets for several systems on the same segments: raters cannot tell the systems apart.

One row per chosen segment and system, in random order within the segment, with meaningless ids. The
design file holds the key, with which `fewgold compare` joins the scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold import io, sheets
from fewgold.common.text import verb
from fewgold.comparison import joint_pool
from fewgold.comparison.table import label
from fewgold.errors import DataError, UnknownNameError
from fewgold.formats import Criterion
from fewgold.io import refuse
from fewgold.pool import Pool
from fewgold.sample import Sample
from fewgold.sheets import DOCUMENT, ID, SCORE

if TYPE_CHECKING:
    import pandas as pd

SEGMENT, _JOIN = "segment", "segment and system"


@dataclass(frozen=True, eq=False)
class Shared:
    """What a design file of several systems says: the pool's table, the sample and the key."""

    table: pd.DataFrame
    columns: Mapping[str, Any]
    sample: Sample
    key: Mapping[str, tuple[str, str]]
    score: str


def build_joint_pool(table: Any, columns: Mapping[str, Any]) -> Pool:
    """The pool of all systems, from the column roles that `fewgold select` uses."""
    table = sheets.as_recorded(table, columns)
    table = io.filled(table, columns.get("metrics") or (), columns.get("system"))
    if columns.get("cost") is not None:
        table = io.with_cost(table, columns["cost"])
    roles = {k: columns.get(k) for k in ("id", "system", "document", "cost")}
    return joint_pool(
        table,
        metrics=columns.get("metrics") or (),
        orientation=columns.get("orientation") or {},
        **roles,  # type: ignore[arg-type]
    )


@dataclass(frozen=True, eq=False)
class Outputs:
    """A pool of all outputs of several systems, the segment of each output, and notes."""

    pool: Pool
    segments: NDArray[Any]
    notes: tuple[str, ...] = ()


def build_outputs(table: Any, columns: Mapping[str, Any]) -> Outputs:
    """The outputs of several systems in the form a campaign needs, from the column roles.

    Texts that are the same for all outputs of a system but differ between systems would reveal the
    system to raters, and are left out.
    """
    id, system = columns["id"], columns["system"]
    table = io.filled(sheets.as_recorded(table, columns), columns.get("metrics") or (), system)
    names = [label(system, v) for v in table[system].tolist()]
    segments = np.array([label(id, v) for v in table[id].tolist()], dtype=object)
    texts = list(columns.get("texts") or ())
    telling = [text for text in texts if _tells(table[text].tolist(), names)]
    own = "output"
    while own in table.columns:
        own += "_"
    made = [f"{name}:{segment}" for name, segment in zip(names, segments, strict=True)]
    kept = [text for text in texts if text not in telling]
    pool = sheets.build_pool(
        table.assign(**{own: made, system: names}), {**columns, "id": own, "texts": kept}
    )
    notes = tuple(
        f"{text!r} reveals the system of an output, so it is not shown to raters"
        for text in telling
    )
    return Outputs(pool, segments, notes)


def _tells(values: Sequence[Any], systems: Sequence[str]) -> bool:
    """Whether a text is constant within each system and differs between systems."""
    seen: dict[str, str] = {}
    for value, system in zip(values, systems, strict=True):
        if seen.setdefault(system, str(value)) != str(value):
            return False
    return len(set(seen.values())) == len(seen) > 1


def save_shared(
    sample: Sample,
    table: pd.DataFrame,
    path: str | Path,
    *,
    columns: Mapping[str, Any],
    seed: int = 0,
    score: str = SCORE,
    criteria: Sequence[Criterion] = (),
    **options: Any,
) -> Path:
    """Write the blind sheet and its design file; further ``options`` as in `sheets.save_sample`.

    ``seed`` decides the order of the systems within each segment.
    """
    separator = "\t" if str(path).lower().endswith(".tsv") else ","
    # The table row of the output of each segment and system.
    rows: dict[str, dict[str, int]] = {}
    both = zip(table[columns["id"]].tolist(), table[columns["system"]].tolist(), strict=True)
    for row, (segment, system) in enumerate(both):
        rows.setdefault(label("id", segment), {})[label("system", system)] = row
    chosen = np.sort(sample.indices)
    if sample.pool.documents is not None:
        chosen = chosen[np.argsort(sample.pool.codes[chosen], kind="stable")]
    texts = list(columns.get("texts") or ())
    heads = [ID, SEGMENT, *([DOCUMENT] if sample.pool.documents is not None else []), *texts]
    empty = [c.name for c in criteria] or [score]
    heads += empty
    sheets.check_header(heads)
    rng = np.random.default_rng([seed, len(sample.pool)])
    total = sum(len(rows[label(columns["id"], i)]) for i in sample.pool.ids[chosen].tolist())
    lines: list[list[str]] = [[io.neutral(name) for name in heads]]
    key: list[dict[str, str]] = []
    shown = {name: table[name].tolist() for name in texts}
    for index in chosen.tolist():
        segment = label(columns["id"], sample.pool.ids[index])
        outputs = list(rows[segment].items())
        for place in rng.permutation(len(outputs)).tolist():
            system, row = outputs[place]
            name = f"r{len(key) + 1:0{len(str(total))}d}"
            key.append({"id": name, "segment": segment, "system": system})
            line: list[Any] = [name, segment]
            if sample.pool.documents is not None:
                line.append(sample.pool.documents[index])
            line += [shown[text][row] for text in texts]
            lines.append([*(io.cell(value, separator) for value in line), *("" for _ in empty)])
    return sheets.save_sample(
        sample, path, columns=columns, score=score, criteria=criteria, systems={"rows": key},
        text=io.as_text(lines, separator), **options,
    )  # fmt: skip


def load_shared(path: str | Path | sheets.Record, pool_path: str | Path | None = None) -> Shared:
    """Load from its design file what is needed to read a sheet of several systems."""
    record = sheets.read_record(path)
    if "systems" not in record:
        raise DataError(
            "this sheet holds one system only. Get its score with fewgold estimate. To compare "
            "systems, select segments for all of them: fewgold select --shared."
        )
    table = sheets.pool_table(record, pool_path)
    with sheets.intact(record.path):
        columns = dict(record["pool"]["columns"])
        table = sheets.as_recorded(table, columns)  # with ids made of several columns
        pool = sheets.with_added(build_joint_pool(table, columns), record["pool"].get("added"))
        sample = sheets.load_sample(record, pool)
        key = {row["id"]: (row["segment"], row["system"]) for row in record["systems"]["rows"]}
        return Shared(table, columns, sample, key, record["score_column"])


def read_shared(
    path: str | Path,
    shared: Shared,
    *,
    human: Sequence[str] = (),
    rater: str | None = None,
    id: str = ID,
    gaps: bool = False,
    by: Sequence[str] = (),
) -> pd.DataFrame:
    """The pool's table with the scores of a rated sheet, one row per output (and rater).

    Rows that are missing or empty are unrated outputs: an error unless ``gaps`` says that they are
    missing at random. ``human`` names one column of scores, or one per rater. ``by`` lists columns
    of the pool's table that define slices; raters need not see them.
    """

    sheet = io.read_table(path)
    wanted = list(human) or [shared.score]
    for name in [id, *wanted, *([rater] if rater is not None else [])]:
        if name not in sheet.columns:
            raise DataError(
                f"{str(path)!r} has no column {name!r}. It has "
                f"{', '.join(map(str, sheet.columns))}. Name the right one."
            )
    sheet = sheet[~sheet.map(io.is_empty).all(axis=1)]
    found = [str(i).strip() for i in sheet[id]]
    foreign = [i for i in found if i not in shared.key]
    refuse("are not in the sample", foreign, "Is it another sample's file?")
    if rater is None:
        twice = sorted(i for i, count in Counter(found).items() if count > 1)
        refuse(
            "occur more than once", twice,
            {
                "python": "Keep one row of each; for several raters name their column (rater=…).",
                "cli": "Keep one row of each; for several raters name their column (--rater).",
            },
        )  # fmt: skip
    if not gaps:
        empty = sheet[wanted].map(io.is_gap).all(axis=1)
        rated = {i for i, bare in zip(found, empty, strict=True) if not bare}
        if bare := [i for i in shared.key if i not in rated]:
            more = ", …" if len(bare) > 5 else ""
            raise DataError(
                f"{len(bare)} of {len(shared.key)} outputs {verb(len(bare), 'are')} not rated: "
                f"{', '.join(bare[:5])}{more}.",
                hints={
                    "python": "Rate them all, or, if some are missing at random, use gaps=True.",
                    "cli": "Rate them all, or, if some are missing at random, use --rated-only.",
                },
            )
    roles = shared.columns
    kept = [roles["id"], roles["system"], roles.get("document"), *(roles.get("metrics") or ())]
    for name in by:
        if name not in shared.table.columns:
            raise UnknownNameError("column", name, map(str, shared.table.columns))
    kept += by
    base = io.filled(
        shared.table[[name for name in dict.fromkeys(kept) if name is not None]],
        roles.get("metrics") or (),
        roles["system"],
    )
    left = [
        f"{label('id', i)}\x1f{label('system', s)}"
        for i, s in zip(base[roles["id"]], base[roles["system"]], strict=True)
    ]
    scores = sheet[[*wanted, *([rater] if rater is not None else [])]].copy()
    clash = [name for name in scores.columns if name in base.columns]
    refuse("name columns of the sheet and of the pool", clash, "Rename those of the sheet.")
    scores[_JOIN] = ["\x1f".join(shared.key[i]) for i in found]
    joined: pd.DataFrame = base.assign(**{_JOIN: left}).merge(scores, on=_JOIN, how="left")
    return joined.drop(columns=_JOIN)
