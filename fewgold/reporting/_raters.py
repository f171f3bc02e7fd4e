"""Who rated what: answers counted by rater, and those that were given twice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "(not named)"


def checked(answers: pd.DataFrame | None) -> pd.DataFrame | None:
    """Answers with columns segment, rater, score and time; None if there is no table."""
    import pandas as pd

    if answers is None:
        return None
    missing = [c for c in ("segment", "score") if c not in answers.columns]
    if missing:
        raise DataError(
            "answers must be a table with columns segment, rater, score and time, one row an "
            f"answer; it has no {' and no '.join(missing)}, only "
            f"{', '.join(map(str, answers.columns)) or 'none'}."
        )
    frame = pd.DataFrame({"segment": [str(s) for s in answers["segment"].tolist()]})
    raters = answers["rater"].tolist() if "rater" in answers else [None] * len(answers)
    frame["rater"] = [UNKNOWN if _nothing(r) else str(r) for r in raters]
    frame["score"] = pd.to_numeric(answers["score"], errors="coerce").to_numpy(dtype=float)
    times = answers["time"].tolist() if "time" in answers else [None] * len(answers)
    frame["time"] = ["" if _nothing(t) else str(t) for t in times]
    return frame


def _nothing(value: Any) -> bool:
    import pandas as pd

    return value is None or bool(pd.api.types.is_scalar(value) and pd.isna(value)) or value == ""


def by_rater(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers, segments, mean and spread of each rater, the busiest first.

    ``against`` is how much higher a rater scores than the others do on the same segments, on
    average over the segments that they share, and ``against_se`` its standard error.
    """
    import pandas as pd

    scored = answers[answers["score"].notna()]
    cells = scored.groupby(["segment", "rater"], sort=True)["score"].mean().unstack()
    rows = []
    for rater, own in scored.groupby("rater", sort=True):
        gaps = (cells[rater] - cells.drop(columns=rater).mean(axis=1)).dropna()
        k = len(gaps)
        rows.append(
            (
                rater,
                len(own),
                int(own["segment"].nunique()),
                float(own["score"].mean()),
                float(own["score"].std(ddof=1)) if len(own) > 1 else math.nan,
                k,
                float(gaps.mean()) if k else math.nan,
                float(gaps.std(ddof=1)) / math.sqrt(k) if k > 1 else math.nan,
            )
        )
    names = ["rater", "answers", "segments", "mean", "sd", "shared", "against", "against_se"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.sort_values(["answers", "rater"], ascending=[False, True]).reset_index(drop=True)


def counts(
    answers: pd.DataFrame | None, sampled: Sequence[str], unrated: Sequence[str], strays: int
) -> dict[str, int]:
    """How many answers there are, and which of them are missing, doubled or set aside."""
    found = {"unrated": len(unrated), "strays": int(strays)}
    if answers is None:
        return found
    scored = answers[answers["score"].notna()]
    inside = scored[scored["segment"].isin(set(sampled))]
    each = inside.groupby("segment")["rater"].agg(["size", "nunique"])
    return {
        **found,
        "answers": len(inside),
        "raters": int(inside["rater"].nunique()),
        "segments": len(each),
        "several_raters": int((each["nunique"] > 1).sum()),
        "repeats": int(inside.duplicated(["segment", "rater"]).sum()),
        "without_score": int(answers["score"].isna().sum()),
        "elsewhere": len(scored) - len(inside),
    }
