"""Real human ratings from public research repositories, read from a folder on the user's disk.

The data are not part of fewgold. They are read from the folder in the environment variable
``FEWGOLD_DATA``, or from ``shared/data`` next to the repository.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats.rows import lines_of
from fewgold.pool import Pool

if TYPE_CHECKING:
    import pandas as pd

VARIABLE = "FEWGOLD_DATA"

# The data sets, and the human score usually used for each.
HUMAN_SCORE = {
    "wmt20_ende": "mqm",
    "wmt20_zhen": "mqm",
    "wmt21_ende": "mqm",
    "wmt21_zhen": "mqm",
    "ted_ende": "mqm",
    "frank": "factual_binary",
    "topicalchat": "human_overall",
}


def data_folder() -> Path | None:
    """The folder with the real data, or None if there is none.

    ``FEWGOLD_DATA`` decides if it is set, even to a folder that does not exist: a typing error must
    not lead to different data. Otherwise the first ``shared/data`` with a ``columns.json`` above
    the working directory, then above this package.
    """
    named = os.environ.get(VARIABLE)
    if named:
        folder = Path(named).expanduser()
        return folder if folder.is_dir() else None
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for parent in (start, *start.parents):
            candidate = parent / "shared" / "data"
            if (candidate / "columns.json").is_file():
                return candidate
    return None


def load_real(
    name: str, *, system: str | None = None, rater: str | None = None, human: str | None = None
) -> tuple[Pool, NDArray[np.float64]]:
    """Load one system's outputs with their human scores.

    The pool's metrics are the columns that ``columns.json`` gives an orientation and no role.
    Metrics with a gap for this system are left out, and so are constant ones. Two public
    columns are copies of others and are kept as published (``bleurt-combi`` equals
    ``Yisi-combi`` in wmt20_ende, ``bb_chrFpp`` equals ``bb_chrF`` in wmt20_zhen).

    Parameters
    ----------
    name : str
        Which data set: "wmt20_ende", "wmt20_zhen", "wmt21_ende", "wmt21_zhen", "ted_ende", "frank"
        or "topicalchat".
    system : str, optional
        One of `real_systems`; by default the first that is not a human.
    rater : str, optional
        Only the segments of this rater, in data sets with a column ``rater`` (ted_ende). By
        default the scores of several raters on a segment are averaged.
    human : str, optional
        Another column with human scores, such as "factuality" of frank.

    Returns
    -------
    pool : Pool
        Ids such as "seg0007" if segments are numbered, otherwise the documents' names; the same for
        all systems.
    gold : ndarray of float64, shape (len(pool),)
        Human scores, in the pool's order. For ``mqm`` larger is worse.

    Raises
    ------
    FileNotFoundError
        If the data are not available.
    """
    table = real_frame(name)
    roles = _columns(name)
    scores = [column for column, facts in roles.items() if facts.get("role") == "human"]
    human = HUMAN_SCORE[name] if human is None else human
    if human not in scores:
        raise UnknownNameError(f"human score of {name!r}", human, scores)
    systems = list(table["system"].unique())
    if system is None:
        system = str(table.loc[table["is_human"] == 0, "system"].iloc[0])
    elif system not in systems:
        raise UnknownNameError(f"system of {name!r}", system, systems)
    table = table[table["system"] == system]

    if rater is not None:
        if "rater" not in table.columns:
            raise DataError(
                f"expected no rater, because the scores of {name!r} are means over several; got "
                f"{rater!r}."
            )
        raters = sorted(table["rater"].unique())
        if rater not in raters:
            raise UnknownNameError(f"rater of {system!r} in {name!r}", rater, raters)
        table = table[table["rater"] == rater]

    numbered = "seg_id" in table.columns
    ids = table["seg_id"].map("seg{:04d}".format) if numbered else table["doc_id"].astype(str)
    table = table.assign(id=ids)
    gold = table.groupby("id", sort=False)[human].mean()
    table = table.drop_duplicates("id").reset_index(drop=True)
    orientation = {
        column: int(facts["orientation"])
        for column, facts in roles.items()
        if "orientation" in facts and "role" not in facts and column in table.columns
    }
    metrics = [
        column
        for column in table.columns
        if column in orientation and table[column].notna().all() and table[column].nunique() > 1
    ]
    pool = Pool.from_table(
        table,
        id="id",
        document="doc_id",
        metrics=metrics,
        system="system",
        orientation={metric: orientation[metric] for metric in metrics},
    )
    return pool, gold.to_numpy(dtype=np.float64)


def real_systems(name: str) -> list[str]:
    """The systems of a data set, human ones included, in the order of the file."""
    return [str(system) for system in real_frame(name)["system"].unique()]


def real_frame(name: str) -> pd.DataFrame:
    """The whole table of a data set, as it is in the file."""
    import pandas as pd

    # Only empty cells count as missing: a document may well be called "NA" or "null".
    return pd.read_csv(_file(name, f"{name}.csv.gz"), keep_default_na=False, na_values=[""])


def _columns(name: str) -> dict[str, dict[str, Any]]:
    contents = json.loads(_file(name, "columns.json").read_text(encoding="utf-8"))
    columns: dict[str, dict[str, Any]] = contents[name]["columns"]
    return columns


def _file(name: str, filename: str) -> Path:
    if name not in HUMAN_SCORE:
        raise UnknownNameError("real data set", name, HUMAN_SCORE)
    folder = data_folder()
    if folder is None:
        named = os.environ.get(VARIABLE)
        place = (
            f"{VARIABLE} names {named!r}, which is not a folder" if named else "there is no folder"
        )
        raise FileNotFoundError(
            f"the data set {name!r} is not part of fewgold, and {place} with it. Set {VARIABLE} to "
            "the folder that holds the *.csv.gz files and columns.json, or use load_demo."
        )
    path = folder / filename
    if not path.is_file():
        raise FileNotFoundError(
            f"expected {filename} in the folder {folder}, but it is missing. Set {VARIABLE} to "
            "the folder that holds the *.csv.gz files and columns.json."
        )
    return path


# Scores of a metric as its makers submitted them --------------------------------------------------


def read_metric_submission(path: str | Path) -> pd.DataFrame:
    """Read a segment-level submission to the WMT 2020 metrics task (``*.seg.score``).

    The file has no header: METRIC, LP, TESTSET, REFSET, SYSTEM, DOC, SEGID, SCORE, where SEGID
    counts from 1 within the document.

    Returns
    -------
    pandas.DataFrame
        ``metric, lp, testset, refset, system, doc, doc_seg_id, score``.
    """
    import pandas as pd

    names = ["metric", "lp", "testset", "refset", "system", "doc", "doc_seg_id", "score"]
    rows = []
    for line in lines_of(path):
        cells = line.text.split("\t")
        if len(cells) != len(names):
            raise DataError(
                f"{path}, {line.place}: expected the {len(names)} tab-separated columns "
                f"{', '.join(names)}, got {len(cells)}."
            )
        rows.append(cells)
    table = pd.DataFrame(rows, columns=names, dtype=str)
    return table.assign(
        doc_seg_id=_integers(table["doc_seg_id"], "SEGID", path),
        score=_numbers(table["score"], "score", path),
    )


def _numbers(column: pd.Series[str], name: str, path: str | Path) -> pd.Series[float]:
    import pandas as pd

    absent = column.str.strip().str.lower().isin(["none", "nan", "na", ""])
    values = pd.to_numeric(column.mask(absent), errors="coerce").astype(np.float64)
    wrong = column[values.isna() & ~absent]
    if len(wrong):
        raise DataError(f"{path}: expected numbers in the column {name}, got {wrong.iloc[0]!r}.")
    return values


def _integers(column: pd.Series[str], name: str, path: str | Path) -> pd.Series[int]:
    values = _numbers(column, name, path)
    if values.isna().any() or (values % 1 != 0).any():
        raise DataError(f"{path}: expected whole numbers in every row of the column {name}.")
    return values.astype(np.int64)
