"""What can be done with a table, and commands for it that work when pasted."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold import registry
from fewgold.common.arrays import codes_of
from fewgold.doctor.findings import Command, Finding, Support, finding, plural, some
from fewgold.doctor.identity import TINY, keys
from fewgold.doctor.scores import (
    correlation,
    higher_is_better,
    is_binary,
    is_flag,
    is_marked,
    scale_of,
    spread,
    to_points,
)
from fewgold.doctor.seen import Seen
from fewgold.errors import FewgoldError
from fewgold.io import looks_human, parts
from fewgold.io.columns import nested_paths
from fewgold.pool import Pool


@dataclass(frozen=True, eq=False)
class Able:
    """What a table can be used for, which determines the commands."""

    pool: Pool | None
    systems: int
    rated: int
    unrated: int
    limits: tuple[float, float] | None
    binary: str | None
    crossed: bool
    judges: tuple[str, ...]
    supports: tuple[Support, ...] = ()
    findings: tuple[Finding, ...] = ()

    def can(self, name: str) -> bool:
        """Whether the table supports something."""
        return any(s.ok for s in self.supports if s.name == name)


def able(seen: Seen) -> Able:
    """Build the pool as the commands would, and see what it allows."""
    pool, problem = _pool(seen)
    systems = seen.count(seen.system)
    extra = None if seen.id is None else keys(seen)
    scores = seen.scores() if seen.human else np.full(seen.rows, np.nan)
    known = scores[np.isfinite(scores)]
    scale = scale_of(known, seen.human[0]) if seen.human else None
    columns = seen.cells
    binary = [h for h in seen.humans if is_binary(columns[h].values[columns[h].finite])]
    crossed = extra is not None and systems > 1 and seen.system in extra
    fit = Able(
        pool, systems, int(known.size), _unrated(seen, scores),
        None if scale is None else scale[:2],
        next((h for h in binary if not is_marked(h)), None),
        crossed and seen.count(seen.id) < seen.rows,  # two systems share some segment
        tuple(m for m in seen.usable_metrics if not is_flag(seen, m)),
        findings=() if problem is None else (problem,),
    )  # fmt: skip
    supports = [
        *_strategies(fit), *([] if pool is None else [_bounds(seen, fit), *_uneven(seen, fit)]),
        *_studies(seen, fit),
    ]  # fmt: skip
    return replace(fit, supports=tuple(supports))


def _unrated(seen: Seen, scores: NDArray[np.float64]) -> int:
    """Number of unrated outputs; with one row per rater, one rating of an output is enough."""
    if seen.id is None:
        return int(np.isnan(scores).sum())
    system = seen.labels(seen.system) if seen.system else [""] * seen.rows
    outputs = list(zip(seen.labels(seen.id), system, strict=True))
    # A cell that cannot be read is a mistake, but counts as rated.
    rated = np.isfinite(scores)
    for name in seen.human:
        rated = rated | ~seen.cells[name].blank
    done = {o for o, known in zip(outputs, rated.tolist(), strict=True) if known}
    return len(set(outputs)) - len(done)


def _pool(seen: Seen) -> tuple[Pool | None, Finding | None]:
    """The pool of the table (joint if there are several systems), or why there is none."""
    from fewgold import shared_sheets, sheets

    extra = None if seen.id is None else keys(seen)
    if extra is None:
        return None, None
    columns: dict[str, Any] = {
        "id": seen.id, "document": seen.document, "system": seen.system,
        "metrics": list(seen.usable_metrics), "cost": seen.cost, "texts": list(seen.texts),
    }  # fmt: skip
    frame = seen.table.assign(**{m: seen.cells[m].values for m in seen.usable_metrics})
    joint = seen.system is not None and seen.system in extra
    if seen.rater is not None and seen.rater in extra:
        frame = frame.drop_duplicates([seen.id, *([seen.system] if joint and seen.system else [])])
    try:
        pool = (shared_sheets.build_joint_pool if joint else sheets.build_pool)(frame, columns)
    except FewgoldError as error:
        return None, finding("no-pool", why=error.message_for("cli"))
    return pool, None


def _strategies(fit: Able) -> list[Support]:
    pool = fit.pool
    if pool is None:
        return [Support("strategies", False, "not until the problems above are solved")]
    names = registry.strategy_names(pool)
    text = f"{len(names)} usual ones; recommended: {registry.recommended(pool)}"
    if fit.crossed:
        text += "; with --shared, for all systems at once"
    lines = [Support("strategies", True, text)]
    if pool.documents is None:
        why = "docs-prop, docs-opt, docs-sys, docs-whole, docs-chunks: no document column"
        lines.append(Support("by document", False, why))
    elif len(set(pool.codes.tolist())) < 2:
        lines.append(Support("by document", False, "docs-*: one document only"))
    if not pool.metrics:
        why = "metrics-*, docs-opt, docs-balanced, docs-incr-metrics: no metric without gaps"
        lines.append(Support("by metric", False, why))
        lines.append(Support("estimators", True, "mean only; the others need metrics"))
    else:
        first = some([f"cv-{m}" for m in pool.metrics], 2)
        why = f"mean, ridge, cv-mean, cv-multi, cv-knn, {first}"
        lines.append(Support("estimators", True, why))
    return lines


def _bounds(seen: Seen, fit: Able) -> Support:
    limits = fit.limits
    guess = f"--limits {limits[0]:g},{limits[1]:g}" if limits else "--limits LOW,HIGH"
    if limits and "mqm" in seen.human[0].lower() and limits[1] == 25:
        guess = "--limits mqm"
    return Support(
        "bounds", True,
        f"approximate ones always; guaranteed ones (star, betting, …) need {guess} and a sample "
        "drawn with --strategy random+mean",
    )  # fmt: skip


# Fewest labels for a statement about how they were chosen.
_LEAST_LABELS = 10
# Fewest ratings of a system for judging whether uneven chances pay, and the share of the segments
# assumed to be rated.
_ENOUGH, _SHARE = 100, 0.1


def _uneven(seen: Seen, fit: Able) -> list[Support]:
    """Whether it pays to rate more where ratings are far from the metrics' predictions."""
    from fewgold.io.columns import sureness

    sure = [
        name
        for name in map(str, seen.table.columns)
        if sureness(name) and name not in seen.humans and _fits(seen.cells[name].values, name)
    ]
    named = f"--uncertainty {sure[0]}" if sure else ""
    if seen.rater is not None and seen.rater in (keys(seen) or ()):
        return []
    gain = _gain(seen, sure[0] if sure else None) if fit.rated and seen.usable_metrics else None
    if gain is not None:
        less, how = gain
        use = f"with {named}" if how == "column" else f"--strategy {registry.BY_RANK}"
        if less < 0.02:
            what = f"by “{sure[0]}”" if how == "column" else "by the rank of the metrics"
            return [Support("uneven chances", False, f"{what} they would not have paid off here")]
        said = f"about {less:.0%} less error on these ratings, {use}; fewgold simulate shows more"
        return [Support("uneven chances", True, said)]
    if sure and not fit.rated:
        said = f"“{sure[0]}” may show where ratings vary most: fewgold select {named}"
        return [Support("uneven chances", True, f"{said}; so may earlier ratings: --history FILE")]
    if fit.crossed and fit.rated and _unrated_systems(seen):
        said = (
            "the ratings of the other systems show where those of a new one will vary: "
            "--history FILE"
        )
        return [Support("uneven chances", True, said)]
    return []


def _fits(values: NDArray[np.float64], name: str) -> bool:
    """Whether a column fits its name: numbers of 0 or more, or probabilities."""
    from fewgold.io.columns import sureness

    top = 1.0 if sureness(name) == "probability" else math.inf
    return bool(np.isfinite(values).all() and values.min() >= 0 and 0 < values.max() <= top)


def _unrated_systems(seen: Seen) -> bool:
    labels = np.array(seen.labels(str(seen.system)))
    rated = np.isfinite(seen.scores())
    return any(not rated[labels == name].any() for name in set(labels.tolist()))


def _gain(seen: Seen, column: str | None) -> tuple[float, str] | None:
    """How much uneven chances would have reduced the error, and their source: a column or ranks.

    With residuals e of a regression on the metrics, the squared error at n of N is about Σ e² (1/π
    − 1) / N², compared with Σ e² (N/n − 1) / N² for equal chances. None if there are too few
    ratings; or if there is no column for the spread, and the scale is too short for ranks or no
    metric has a known direction.
    """
    from fewgold.io.columns import sureness
    from fewgold.samplers import spread_of_probability

    scores = seen.scores()
    systems = np.array(seen.labels(seen.system) if seen.system else [""] * seen.rows)
    uneven = equal = 0.0
    how = "ranks" if column is None else "column"
    name = registry.BY_RANK if column is None else registry.UNEVEN
    chances = getattr(registry.strategy(name).sampler, "chances", None)
    assert chances is not None
    for name in dict.fromkeys(systems.tolist()):
        rows = np.flatnonzero((systems == name) & np.isfinite(scores))
        if rows.size < _ENOUGH:
            continue
        metrics = {m: seen.cells[m].values[rows] for m in seen.usable_metrics}
        metrics = {m: v for m, v in metrics.items() if np.isfinite(v).all() and np.ptp(v) > 0}
        y = scores[rows]
        if not metrics or np.ptp(y) == 0:
            continue
        pool = Pool(np.arange(rows.size), metrics)
        if column is None and not pool._tells_quality:
            continue
        if column is not None:
            own = seen.cells[column].values[rows]
            spread = spread_of_probability(own) if sureness(column) == "probability" else own
            if not spread.any():
                continue
            pool = pool.with_spread(spread)
        elif np.ptp(y) <= _LONG:
            continue
        x = np.vstack([np.ones(rows.size), pool.standardised()]).T
        e = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        n = max(round(_SHARE * rows.size), 1)
        uneven += float((e**2 * (1 / chances.inclusion(pool, n) - 1)).sum()) / e.var()
        equal += float((e**2).sum() * (rows.size / n - 1)) / e.var()
    return None if equal == 0 else (1 - math.sqrt(uneven / equal), how)


# Scores with at most this range are treated as pass or fail, or as a Likert scale.
_LONG = 10.0


def _studies(seen: Seen, fit: Able) -> list[Support]:
    """Analyses that use ratings, or prepare for them."""
    cut = ""
    if fit.binary is not None:
        cut = f"“{fit.binary}” is 0 and 1: fewgold alpha, fewgold roc"
    elif fit.rated:
        cut = f"after a cut of “{seen.human[0]}” that defines adequate, such as {_cut(seen)}"
    plan = "only from the scale or a guess: fewgold plan --limits, --sd"
    if fit.rated >= 10:
        plan = "with the spread of the human scores: fewgold plan"
    stop = "select --strategy random --in-order, then fewgold stop with --limits"
    return [
        _unless("binary model", cut, {
            "no human ratings yet (0 and 1, or a cut of scores)": not fit.rated,
            "no metric without gaps that could help": not fit.judges,
        }),
        _unless("comparison", f"{fit.systems} systems, segment by segment: fewgold compare", {
            "no column of systems": seen.system is None,
            "one system only": fit.systems < 2,
            "the systems share no segments under the same id": not fit.crossed,
            "no ratings yet; select --shared picks what to rate": not fit.rated,
        }),
        _simulation(seen, fit),
        Support("planning", True, plan),
        _unless("reliability", "how stable a score is with 1, 2, 3, … documents", {
            "no document column": seen.document is None,
            "fewer than 3 documents": seen.count(seen.document) < 3,
            "no scores, neither human nor automatic": not (fit.rated or seen.usable_metrics),
        }),
        _unless("stopping", stop, {
            "not until the problems above are solved": fit.pool is None,
            "one system at a time: keep only its rows": fit.crossed,
        }),
    ]  # fmt: skip


def _cut(seen: Seen) -> str:
    """A cut with some scores on either side, so that the good ones pass."""
    values = seen.scores()
    known = values[np.isfinite(values)]
    middle = float(np.median(known))
    if higher_is_better(seen) is not False:
        at = middle if (known < middle).any() else float(known[known > middle].min(initial=middle))
        return f"--adequate '>={at:g}'"
    at = middle if (known > middle).any() else float(known[known < middle].max(initial=middle))
    return f"--adequate '<={at:g}'"


def _unless(name: str, how: str, obstacles: dict[str, bool]) -> Support:
    """Supported as in ``how``, unless there is an obstacle; the first one is reported."""
    why = next((why for why, there in obstacles.items() if there), None)
    return Support(name, why is None, why or how)


def _simulation(seen: Seen, fit: Able) -> Support:
    if fit.pool is None or not seen.human or not fit.rated:
        return Support("simulation", False, "needs a human score for every row")
    if len(seen.human) > 1:
        return Support("simulation", False, "needs one column of human scores; average the raters")
    if seen.rater is not None and seen.rater in (keys(seen) or ()):
        return Support("simulation", True, "with a separate pool for every system and rater (--by)")
    if fit.rated < seen.rows:
        said = f"of the {plural(fit.rated, 'row')} that people rated, with --rated-only"
        return Support("simulation", fit.rated >= TINY, said)
    return Support("simulation", True, "people rated every row: fewgold simulate")


# Commands that work when pasted, for a table ------------------------------------------------------


def commands(seen: Seen, fit: Able, findings: list[Finding]) -> list[Command]:
    """The commands to run with this table, the most useful first."""
    errors = {f.code for f in findings if f.severity == "error" or f.code == "no-ids"}
    has_labels = any(f.code.startswith("labels") for f in findings)
    labels = [_estimate(seen), *_over_time(seen)] if has_labels and errors <= {"no-ids"} else []
    repair = _repair(seen, errors)
    if repair is not None:
        return [*labels, repair]
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
    made += labels
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


def label_findings(seen: Seen, fit: Able) -> list[Finding]:
    """Whether the labelled rows of a half-labelled table look like a random subset of it."""
    from fewgold.chosen import read_labelled
    from fewgold.labels import looks_chosen

    if not fit.unrated or fit.rated < _LEAST_LABELS or fit.crossed or seen.rater is not None:
        return []
    named = None if not seen.leaks and "metrics" not in seen.told else list(seen.usable_metrics)
    try:
        found = read_labelled(
            seen.table, human=list(seen.human), metrics=named, id=seen.id, document=seen.document
        )
        against = looks_chosen(found)
    except FewgoldError:
        return []  # problems with the table are reported elsewhere
    if against:
        return [finding("labels-not-random", "; ".join(against), n=fit.rated)]
    return [finding("labels", n=fit.rated)]


def _estimate(seen: Seen) -> Command:
    named = f" --metrics {shlex.quote(','.join(seen.usable_metrics) or 'none')}"
    metrics = named if seen.leaks or "metrics" in seen.told else ""
    chosen, which = "random", "the labelled ones"
    if _whole_documents(seen):
        chosen, which = f"whole:{seen.document}", f"the labelled values of {seen.document}"
    text = f"fewgold estimate {_file(seen)}{_human(seen)}{_roles(seen, 'id', 'document')} --chosen "
    text += f"{shlex.quote(chosen)}{metrics}"
    return Command(text, f"the score of all rows, if {which} were chosen at random")


def _whole_documents(seen: Seen) -> bool:
    """Whether several documents are labelled in full, and no others even in part."""
    if seen.document is None:
        return False
    labelled = np.isfinite(seen.scores())
    codes = codes_of(np.array(seen.labels(seen.document)))
    count = np.bincount(codes)
    done = np.bincount(codes, labelled)
    full = (done == count).sum()
    return bool(2 <= full < count.size < seen.rows and ((done == 0) | (done == count)).all())


# Words in the names of columns with the time of an output; the fewest batches, and mean ratings per
# batch, for a time series.
_TIMES = frozenset({"date", "day", "week", "month", "release", "version", "timestamp", "created"})
_FEWEST_BATCHES, _RATED = 4, 20


def _over_time(seen: Seen) -> list[Command]:
    """Follow the score from batch to batch, if a column says when outputs were made."""
    from fewgold.monitoring import batch_labels

    scores = seen.scores()
    taken = {seen.id, seen.document, seen.system, *seen.humans, *seen.texts}
    for name in map(str, seen.table.columns):
        if name in taken or not _TIMES & set(parts(name)):
            continue
        for every in (None, "day", "week", "month"):
            try:
                order = batch_labels(seen.table[name].tolist(), every, name)[1]
            except FewgoldError:
                break
            if len(order) < _FEWEST_BATCHES:
                break
            if np.isfinite(scores).sum() / len(order) >= _RATED:
                metrics = _metrics(seen)
                text = f"fewgold monitor {_file(seen)}{_human(seen)}{_roles(seen, 'id')}"
                text += f" --chosen random{metrics} --batch {shlex.quote(name)}"
                text += f" --every {every}" if every else ""
                size = np.nanstd(scores) / 3
                if size > 0:
                    text += f" --drop {float(f'{size:.1g}'):g}"
                return [Command(text, "the score over time, and whether it has become worse")]
    return []


def out_name(path: str, tail: str) -> str:
    """A new file in the current folder, named after ``path``."""
    stem = Path(path).name
    for end in (".gz", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".json", ".eval"):
        stem = stem.removesuffix(end)
    name, number = f"{stem}{tail}", 1
    while Path(name).exists():
        number += 1
        head, dot, ext = tail.rpartition(".")
        name = f"{stem}{head}-{number}{dot}{ext}"
    return shlex.quote(name)


def python(code: str) -> str:
    """A command that runs some Python, in double quotes if the shell allows."""
    if not set(code) & set('"$`\\!'):
        return f'python -c "{code}"'
    return f"python -c {shlex.quote(code)}"


def _file(seen: Seen) -> str:
    return shlex.quote(seen.path)


def _roles(seen: Seen, *wanted: str) -> str:
    """Options for columns that the commands would not find on their own."""
    text = ""
    for role in wanted or ("id", "document", "system"):
        name = getattr(seen, role)
        if name is not None and seen.named.get(role) != name:
            text += f" --{role} {shlex.quote(name)}"
    return text


def _columns(seen: Seen) -> str:
    """Options for a table to rate; ``--texts`` if raters would otherwise see only ids."""
    named = [t for t in seen.texts if "," not in t]
    texts = f" --texts {shlex.quote(','.join(named))}" if named and not seen.texts_named else ""
    return f"{_roles(seen)}{texts}{_metrics(seen, rated=False)}"


def _metrics(seen: Seen, rated: bool = True) -> str:
    """``--metrics``, if guessing would include too many columns, even human scores."""
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
    return Command(text, "rank the systems by human scores")


def _select(seen: Seen, fit: Able) -> Command | None:
    assert fit.pool is not None
    if seen.rater is not None and seen.rater in (keys(seen) or ()):
        return None  # a table with one row per rater is not a pool
    size = len(fit.pool)
    budget = size if size <= 50 else min(max(50, round(size / 10)), 200)
    several = " --shared" if fit.crossed else ""
    sheet = out_name(seen.path, "-to-rate.csv")
    text = f"fewgold select {_file(seen)} --budget {budget}{several}{_columns(seen)} --out {sheet}"
    what = "outputs of all systems on the same segments" if several else "segments"
    return Command(text, f"choose {what} for people to rate")


def _further(seen: Seen) -> list[Command]:
    """Other ways to get segments of one system rated."""
    select = f"fewgold select {_file(seen)} --budget 100% --strategy random --in-order"
    select += f"{_columns(seen)} --out {out_name(seen.path, '-in-order.csv')}"
    init = f"fewgold init {out_name(seen.path, '-study')} {_file(seen)}{_columns(seen)}"
    return [
        Command(select, "or rate from the top until fewgold stop says that it is enough"),
        Command(init, "or a campaign, which keeps samples and answers for days"),
    ]


def _simulate(seen: Seen, fit: Able) -> Command | None:
    assert fit.pool is not None
    extra = keys(seen) or ()
    if seen.rater in extra and max(fit.systems, 1) * seen.count(seen.rater) > 12:
        return None  # this many pools take minutes
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
    return Command(f"{text} --orders 5 --draws 200", "how stable scores are by number of documents")


def _alpha(seen: Seen, human: str, metrics: tuple[str, ...]) -> Command:
    target = seen.cells[human].values
    near = {m: abs(correlation(seen.cells[m].values, target)) for m in metrics}
    judges = [m for m in metrics if is_binary(seen.cells[m].values)]
    best = max(judges or list(metrics), key=lambda m: near[m])
    cut = "" if best in judges else " --threshold equal"
    text = f"fewgold alpha {_file(seen)} --human {shlex.quote(human)} --metric {shlex.quote(best)}"
    text += f"{cut}{_roles(seen, 'system')}"
    return Command(text, "the share of adequate outputs, from ratings and metric")


def _points(seen: Seen) -> list[Command]:
    """Commands that replace decimal commas with points in all columns, then check again."""
    out = out_name(seen.path, "-points.csv")
    (name,) = shlex.split(out)
    code = to_points(seen.path, list(seen.cells.values()), seen.table, name)
    if code is None:
        return []
    return [
        Command(python(code), "write decimal points, and continue with the new file"),
        Command(f"fewgold doctor {out}", "then check again", now=False),
    ]


def _repair(seen: Seen, errors: set[str]) -> Command | None:
    """Python that fixes the one problem that can be fixed without asking."""
    text = f"from fewgold.io import read_table; t = read_table({seen.path!r}); "
    out = out_name(seen.path, "-with-ids.csv").strip("'")
    if errors == {"no-ids"}:
        text += f"t.insert(0, 'id', range(1, len(t) + 1)); t.to_csv({out!r}, index=False)"
        return Command(python(text), "number the rows, and continue with the new file")
    if errors and errors <= {"ids-by-document", "two-documents"} and seen.id and seen.document:
        text += f"t[{seen.id!r}] = t[{seen.document!r}].astype(str) + ':' + t[{seen.id!r}]"
        text += f".astype(str); t.to_csv({out!r}, index=False)"
        return Command(
            python(text), "combine document and segment into ids, and continue with that file"
        )
    if errors == {"duplicate-rows"}:
        if nested_paths(seen.table):
            out = out_name(seen.path, "-once.jsonl").strip("'")
            text += f"t[~t.astype(str).duplicated()].to_json({out!r}, orient='records', "
            text += "lines=True, double_precision=15)"
        else:
            out = out_name(seen.path, "-once.csv").strip("'")
            text += f"t.drop_duplicates().to_csv({out!r}, index=False)"
        return Command(python(text), "keep each row once, and continue with the new file")
    return None
