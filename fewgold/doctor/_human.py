"""Human scores: which columns they are, and what is odd about them."""

from __future__ import annotations

import numpy as np

from fewgold.doctor._model import Finding, plural, some
from fewgold.doctor._scores import Floats, is_binary, orientations, scale_of
from fewgold.doctor._seen import Seen
from fewgold.roles import human_columns
from fewgold.tables import parts

# Words in the names of columns that a program fills in.
_AUTOMATIC = {
    "judge",
    "llm",
    "gpt",
    "auto",
    "automatic",
    "metric",
    "model",
    "predicted",
    "pred",
    "qe",
}


def human_findings(seen: Seen) -> list[Finding]:
    """What is odd about the human scores that would be used."""
    findings = []
    if len(seen.humans) > len(seen.human) and seen.human:
        others = [h for h in seen.humans if h not in seen.human]
        findings.append(
            Finding("note", "several-humans",
                    f"several columns look like human scores; “{seen.human[0]}” is taken here",
                    some(others, 6), "Choose another with --human. None of them is a metric.")
        )  # fmt: skip
    findings += [*_words(seen), *_maybe_human(seen)]
    for name in seen.human:
        column = seen.columns[name]
        known = column.values[column.finite]
        if known.size < 2:
            continue
        if (known == known[0]).all():
            findings.append(
                Finding("warning", "constant-human", f"all scores in “{name}” are {known[0]:g}",
                        do="Is it the right column? There is nothing to estimate from it.")
            )  # fmt: skip
        elif is_binary(known):
            share = float(known.mean())
            if min(share, 1 - share) < 0.05 and known.size >= 20:
                findings.append(
                    Finding("warning", "imbalance",
                            f"{share:.1%} of the scores in “{name}” are 1: one of the two kinds is "
                            "rare",
                            do="Small samples may hold none of it. Use intervals that are made for "
                            "it (--limits 0,1 with the bound star, or the model alpha).")
                )  # fmt: skip
        else:
            findings += _off_scale(seen, name, known)
    return findings


def _words(seen: Seen) -> list[Finding]:
    """Columns that are called as human scores are, but hold words such as good and bad."""
    findings = []
    for name in human_columns(list(seen.columns)):
        column = seen.columns[name]
        if column.numeric or column.blank.all() or name == seen.rater:
            continue
        words = list(dict.fromkeys(v for v in seen.labels(name) if v))
        if len(words) <= 20 and max(map(len, words)) <= 20:
            findings.append(
                Finding("warning", "human-words",
                        f"“{name}” may be human ratings, but holds no numbers", some(words, 4),
                        "Write numbers, such as 1 for good and 0 for bad, to have them used.")
            )  # fmt: skip
    return findings


def _maybe_human(seen: Seen) -> list[Finding]:
    """Grades under a name that tells nothing: a metric, or what people said?"""
    found = []
    for name, sign in orientations(seen).items():
        values = np.unique(seen.columns[name].values[seen.columns[name].finite])
        words = set(parts(name))
        if (
            sign is not None
            or not values.size
            or words & _AUTOMATIC
            or name in seen.leaks
            or values.size > 11
        ):
            continue
        if (values == np.round(values)).all() and values.min() >= -25 and values.max() <= 100:
            found.append(name)
    if not found:
        return []
    return [
        Finding("note", "maybe-human",
                f"{plural(len(found), 'column')} of few whole numbers under a name that no known "
                "metric has, taken for a metric here", some(found),
                f"If people gave them, say so: --human {found[0]}.")
    ]  # fmt: skip


def _off_scale(seen: Seen, name: str, known: Floats) -> list[Finding]:
    scale = scale_of(known, name)
    places = np.array([], dtype=np.int64)
    if scale is not None:
        values = seen.columns[name].values
        places = np.flatnonzero(np.isfinite(values) & ((values < scale[0]) | (values > scale[1])))
    if not places.size or scale is None:
        return []
    rows = [f"row {p + 1:,}: {seen.columns[name].values[p]:g}" for p in places[:3]]
    return [
        Finding("warning", "off-scale",
                f"{plural(len(places), 'score')} in “{name}” outside {scale[0]:g} to {scale[1]:g}, "
                "where nearly all others lie", "; ".join(rows),
                "Typing errors? Mend them: guaranteed bounds refuse scores beyond --limits.")
    ]  # fmt: skip
