"""Commands that work when pasted, for a table."""

from __future__ import annotations

import math
import shlex
from pathlib import Path

import numpy as np

from fewgold import registry
from fewgold.doctor.findings import Command, Finding
from fewgold.doctor.identity import keys
from fewgold.doctor.scores import is_binary, spread, to_points
from fewgold.doctor.seen import Seen
from fewgold.doctor.supports import Able
from fewgold.io import looks_human


def commands(seen: Seen, fit: Able, findings: list[Finding]) -> list[Command]:
    """What to run with this table: the most useful first."""
    errors = {f.code for f in findings if f.severity == "error"}
    repair = _repair(seen, errors)
    if repair is not None:
        return [repair]
    points = _points(seen) if errors <= {"decimal-comma"} else []
    if points and errors:
        return points
    if errors or fit.pool is None:
        return []
    made: list[Command | None] = [*points]
    if fit.can("comparison"):
        made.append(_compare(seen))
    if fit.binary is not None and fit.can("binary model"):
        made.append(_alpha(seen, fit.binary, fit.judges))
    if not fit.rated:
        made += [_select(seen, fit), *([] if fit.crossed else _further(seen))]
    elif fit.unrated:
        made.append(_select(seen, fit))
    if fit.can("simulation"):
        made.append(_simulate(seen, fit))
    if fit.rated >= 10:
        made.append(_plan(seen, fit))
    if fit.can("reliability") and fit.rated == seen.rows and len(seen.human) == 1:
        made.append(_reliability(seen))
    return [c for c in made if c is not None][:4]


def out_name(path: str, tail: str) -> str:
    """A new file in the current folder, named after ``path``."""
    stem = Path(path).name
    for end in (".gz", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".json"):
        stem = stem.removesuffix(end)
    name, number = f"{stem}{tail}", 1
    while Path(name).exists():
        number += 1
        head, dot, ext = tail.rpartition(".")
        name = f"{stem}{head}-{number}{dot}{ext}"
    return shlex.quote(name)


def python(code: str) -> str:
    """A command that runs some Python, in double quotes where the shell leaves those alone."""
    if not set(code) & set('"$`\\!'):
        return f'python -c "{code}"'
    return f"python -c {shlex.quote(code)}"


def _file(seen: Seen) -> str:
    return shlex.quote(seen.path)


def _roles(seen: Seen, *wanted: str) -> str:
    """Options for the columns that the commands would not find by themselves."""
    text = ""
    for role in wanted or ("id", "document", "system"):
        name = getattr(seen, role)
        if name is not None and seen.guessed.get(role) != name:
            text += f" --{role} {shlex.quote(name)}"
    return text


def _columns(seen: Seen) -> str:
    """All columns of a table to rate; ``--texts``, where raters would get ids alone."""
    named = [t for t in seen.texts if "," not in t]
    texts = f" --texts {shlex.quote(','.join(named))}" if named and not seen.texts_named else ""
    return f"{_roles(seen)}{texts}{_metrics(seen, rated=False)}"


def _metrics(seen: Seen, rated: bool = True) -> str:
    """``--metrics``, where a guess would take a column too many, also from human scores."""
    odd = [] if rated else [h for h in seen.human if not looks_human(h)]
    odd += [h for h in seen.humans if h not in seen.human and not looks_human(h)]
    if not seen.leaks and not odd and "metrics" not in seen.told:
        return ""
    named = [m for m in seen.usable_metrics if "," not in m]  # a list with commas cannot hold it
    return f" --metrics {shlex.quote(','.join(named) or 'none')}"


def _human(seen: Seen) -> str:
    return f" --human {shlex.quote(','.join(seen.human))}"


def _compare(seen: Seen) -> Command:
    extra = keys(seen) or ()
    rater = f" --rater {shlex.quote(seen.rater)}" if seen.rater in extra and seen.rater else ""
    text = f"fewgold compare {_file(seen)}{_human(seen)}{rater}{_roles(seen)}{_metrics(seen)}"
    return Command(text, "rank the systems by what people said")


def _select(seen: Seen, fit: Able) -> Command | None:
    assert fit.pool is not None
    if seen.rater is not None and seen.rater in (keys(seen) or ()):
        return None  # one row per rater is a table of ratings and not a pool
    size = len(fit.pool)
    budget = size if size <= 50 else min(max(50, round(size / 10)), 200)
    several = " --shared" if fit.crossed else ""
    sheet = out_name(seen.path, "-to-rate.csv")
    text = f"fewgold select {_file(seen)} --budget {budget}{several}{_columns(seen)} --out {sheet}"
    what = "outputs of all systems on the same segments" if several else "segments"
    return Command(text, f"choose {what} for people to rate")


def _further(seen: Seen) -> list[Command]:
    """Other ways to have segments of one system rated."""
    select = f"fewgold select {_file(seen)} --budget 100% --strategy random --in-order"
    select += f"{_columns(seen)} --out {out_name(seen.path, '-in-order.csv')}"
    init = f"fewgold init {out_name(seen.path, '-study')} {_file(seen)}{_columns(seen)}"
    return [
        Command(select, "or rate from the top, until fewgold stop says that it is enough"),
        Command(init, "or a campaign, which keeps samples and answers for days"),
    ]


def _simulate(seen: Seen, fit: Able) -> Command | None:
    assert fit.pool is not None
    extra = keys(seen) or ()
    if seen.rater in extra and max(fit.systems, 1) * seen.count(seen.rater) > 12:
        return None  # so many pools take minutes
    names = dict.fromkeys(["random+mean", registry.recommended(fit.pool)])
    by = f" --by {shlex.quote(','.join(extra))}" if seen.rater in extra else ""
    gaps = " --rated-only" if fit.rated < seen.rows else ""
    text = f"fewgold simulate {_file(seen)}{_human(seen)}{by}{gaps}{_roles(seen, 'id', 'document')}"
    text += f"{_metrics(seen)} --strategies {','.join(names)} --budgets 10%,20% --draws 50"
    return Command(text, "see on these ratings what sampling would have saved")


def _plan(seen: Seen, fit: Able) -> Command | None:
    assert fit.pool is not None
    facts = spread(seen)
    if not facts["sd"] > 0:
        return None
    digit = 10.0 ** math.floor(math.log10(facts["sd"] / 5))
    width = round(facts["sd"] / 5 / digit) * digit
    text = f"fewgold plan --half-width {width:.6g} --sd {facts['sd']:.4g}"
    text += f" --correlation {min(abs(facts['r']), 0.99):.2f} --size {len(fit.pool)}"
    return Command(text, "how many ratings the next test set of this size needs")


def _reliability(seen: Seen) -> Command:
    document = _roles(seen, "document")
    text = f"fewgold reliability {_file(seen)} --score {shlex.quote(seen.human[0])}{document}"
    return Command(f"{text} --orders 5 --draws 200", "how steady scores are by number of documents")


def _alpha(seen: Seen, human: str, metrics: tuple[str, ...]) -> Command:
    near = {m: seen.columns[m].values for m in metrics}
    target = seen.columns[human].values
    known = np.isfinite(target)
    judges = [m for m, v in near.items() if is_binary(v)]

    def strength(name: str) -> float:
        x, y = near[name][known], target[known]
        return 0.0 if x.std() == 0 or y.std() == 0 else abs(float(np.corrcoef(x, y)[0, 1]))

    best = max(judges or list(near), key=strength)
    cut = "" if best in judges else " --threshold equal"
    text = f"fewgold alpha {_file(seen)} --human {shlex.quote(human)} --metric {shlex.quote(best)}"
    text += f"{cut}{_roles(seen, 'system')}"
    return Command(text, "the share of adequate outputs, by ratings and metric")


def _points(seen: Seen) -> list[Command]:
    """Points for decimal commas, in all columns at once; then look again."""
    out = out_name(seen.path, "-points.csv")
    (name,) = shlex.split(out)
    code = to_points(seen.path, list(seen.columns.values()), seen.frame, name)
    if code is None:
        return []
    return [
        Command(python(code), "write decimal points, and go on with the new file"),
        Command(f"fewgold doctor {out}", "then look again", now=False),
    ]


def _repair(seen: Seen, errors: set[str]) -> Command | None:
    """Python that mends the one thing that can be mended without asking."""
    text = f"from fewgold.io import read_table; t = read_table({seen.path!r}); "
    out = out_name(seen.path, "-with-ids.csv").strip("'")
    if errors == {"no-ids"}:
        text += f"t.insert(0, 'id', range(1, len(t) + 1)); t.to_csv({out!r}, index=False)"
        return Command(python(text), "number the rows, and go on with the new file")
    if errors and errors <= {"ids-by-document", "two-documents"} and seen.id and seen.document:
        text += f"t[{seen.id!r}] = t[{seen.document!r}].astype(str) + ':' + t[{seen.id!r}]"
        text += f".astype(str); t.to_csv({out!r}, index=False)"
        return Command(python(text), "make ids of document and segment, and go on with that file")
    if errors == {"duplicate-rows"}:
        out = out_name(seen.path, "-once.csv").strip("'")
        text += f"t.drop_duplicates().to_csv({out!r}, index=False)"
        return Command(python(text), "keep each row once, and go on with the new file")
    return None
