"""Readers for the file formats in which human ratings and metric scores are published.

Each takes a path (plain or gzip) and returns a tidy table, one row per score.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.errors import DataError
from fewgold.formats.means import blank_separated
from fewgold.formats.mqm import MqmTsv, error_counts
from fewgold.formats.rows import lines_of

if TYPE_CHECKING:
    import pandas as pd


def read_mqm_tsv(path: str | Path) -> pd.DataFrame:
    """Read a Google MQM file, one line per marked error, and score each rated output.

    Weights: major 5, minor 1, neutral 0, minor punctuation 0.1, non-translation 25; the sum
    is capped at 25. A line "No-error" gives a score of 0. Test items of raters (HOTW-test) are
    left out. `fewgold.formats` reads the same files with spans, comments and other weights.

    Parameters
    ----------
    path : str or Path
        Tab-separated file with the columns ``system, doc, seg_id, rater, category, severity``
        (others are ignored).

    Returns
    -------
    pandas.DataFrame
        ``system, doc, seg_id, rater, mqm, n_errors, n_major``, in the order of the file;
        ``mqm`` from 0 (perfect) to 25.

    References
    ----------
    Freitag et al. (2021). Experts, errors, and context: a large-scale study of human
    evaluation for machine translation. TACL 9.
    """
    import pandas as pd

    reading = MqmTsv().read(path)
    if reading.rejected:
        first = reading.rejected[0]
        raise DataError(f"{path}, {first.place}: {first.why}")
    if reading.blank:
        raise DataError(f"{path}: {len(reading.blank)} lines have no severity yet.")
    rows: list[tuple[Any, ...]] = []
    for rating in reading.ratings:
        place = (rating.details.get(name, "") for name in ("document", "segment"))
        counts = error_counts(rating)
        errors = (rating.score, counts.total(), counts["major"])
        rows.append((rating.system, *place, rating.rater, *errors))
    names = ["system", "doc", "seg_id", "rater", "mqm", "n_errors", "n_major"]
    table = pd.DataFrame(rows, columns=names)
    return table.assign(seg_id=_integers(table["seg_id"], "seg_id", path))


def read_avg_seg_scores(path: str | Path) -> pd.DataFrame:
    """Read a file of MQM scores averaged over raters (``*.avg_seg_scores.tsv``).

    The published files separate columns by blanks or tabs or both, write ``None`` for a
    missing score and negate the scores. Here missing scores are NaN and larger is worse.

    Returns
    -------
    pandas.DataFrame
        ``system, seg_id, mqm``.
    """
    table = _read_blank_separated(path, ["system", "mqm_avg_score", "seg_id"])
    scores = _numbers(table["mqm_avg_score"], "mqm_avg_score", path)
    # Adding 0 turns the -0.0 of a negated perfect score into 0.0.
    return table[["system"]].assign(
        seg_id=_integers(table["seg_id"], "seg_id", path), mqm=-scores + 0.0
    )


def read_wmt_da(path: str | Path) -> pd.DataFrame:
    """Read segment-level direct assessment of WMT (``ad-seg-scores-*.csv``, blank-separated).

    Returns
    -------
    pandas.DataFrame
        ``system, doc, doc_seg_id, raw, z, n``: document and position come from the segment's
        name, "doc_7", which counts from 0; ``doc_seg_id`` counts from 1 as everywhere else.
        ``raw`` on 0-100 and the standardised ``z`` are means of ``n`` assessments, larger is
        better.
    """
    import pandas as pd

    table = _read_blank_separated(path, ["SYS", "SID", "RAW.SCR", "Z.SCR", "N"])
    place = table["SID"].str.rsplit("_", n=1, expand=True)
    if place.shape[1] != 2:
        raise DataError(f"{path}: expected segment names such as 'doc_7', got none with '_'.")
    return pd.DataFrame(
        {
            "system": table["SYS"],
            "doc": place[0],
            "doc_seg_id": _integers(place[1], "SID", path) + 1,
            "raw": _numbers(table["RAW.SCR"], "RAW.SCR", path),
            "z": _numbers(table["Z.SCR"], "Z.SCR", path),
            "n": _integers(table["N"], "N", path),
        }
    )


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


def _read_blank_separated(path: str | Path, names: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for line, cells in blank_separated(path, names):
        if isinstance(cells, str):
            raise DataError(f"{path}, {line.place}: {cells}.")
        rows.append(cells)
    return pd.DataFrame(rows, columns=list(names), dtype=str)


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
