"""Who rated what: answers counted by rater, and those that were given twice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fewgold.agreement import Agreement, Answers
from fewgold.errors import DataError
from fewgold.sample import Ratings

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


def agreed(answers: pd.DataFrame | None, ratings: Ratings) -> tuple[Agreement | None, bool]:
    """How far raters agree on the rated segments, and whether these answers make the ratings.

    They do where each rating is the mean of its raters' last, first or averaged answers. Only
    then can the error of other raters be told from them.
    """
    ids = {str(i): i for i in ratings.sample.ids.tolist()}
    if answers is None:
        return None, False
    used = answers[answers["score"].notna() & answers["segment"].isin(ids)]
    if not len(used):
        return None, False
    times = used["time"].tolist() if (used["time"] != "").all() else None
    segments = [ids[s] for s in used["segment"]]
    made = Answers(segments, used["rater"].tolist(), used["score"].tolist(), times)
    wanted = dict(zip(ratings.sample.ids.tolist(), ratings.scores.tolist(), strict=True))
    for repeats in ("last", "mean", "first"):
        scores = made.scores(repeats=repeats)
        if scores.keys() == wanted.keys() and all(
            math.isclose(scores[i], wanted[i], rel_tol=1e-9, abs_tol=1e-9) for i in wanted
        ):
            return made.agreement(repeats), True
    return made.agreement(), False


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
