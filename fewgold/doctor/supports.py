"""What can be done with a table: strategies, bounds, the binary model, comparison and the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold import registry
from fewgold.doctor.findings import Finding, Support, plural, some
from fewgold.doctor.identity import TINY, keys
from fewgold.doctor.scores import higher_is_better, is_binary, is_flag, is_marked, scale_of
from fewgold.doctor.seen import Seen
from fewgold.doctor.texts import finding
from fewgold.errors import FewgoldError
from fewgold.pool import Pool


@dataclass(frozen=True, eq=False)
class Able:
    """What a table is fit for; the commands follow from it."""

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
    """Try the pool that the commands would build, and see what it allows."""
    pool, problem = _pool(seen)
    systems = seen.count(seen.system)
    extra = None if seen.id is None else keys(seen)
    scores = seen.scores() if seen.human else np.full(seen.rows, np.nan)
    known = scores[np.isfinite(scores)]
    scale = scale_of(known, seen.human[0]) if seen.human else None
    columns = seen.columns
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
        *_strategies(fit), *([] if pool is None else [_bounds(seen, fit)]), _binary(seen, fit),
        _compare(seen, fit), _simulate(seen, fit), _plan(fit), _reliability(seen, fit), _stop(fit),
    ]  # fmt: skip
    return replace(fit, supports=tuple(supports))


def _unrated(seen: Seen, scores: NDArray[np.float64]) -> int:
    """Outputs that nobody rated; with a row for each rater, one rating of an output is enough."""
    if seen.id is None:
        return int(np.isnan(scores).sum())
    system = seen.labels(seen.system) if seen.system else [""] * seen.rows
    outputs = list(zip(seen.labels(seen.id), system, strict=True))
    # A cell that cannot be read is a mistake, but somebody rated there.
    rated = np.isfinite(scores)
    for name in seen.human:
        rated = rated | ~seen.columns[name].blank
    done = {o for o, known in zip(outputs, rated.tolist(), strict=True) if known}
    return len(set(outputs)) - len(done)


def _pool(seen: Seen) -> tuple[Pool | None, Finding | None]:
    """The pool of the table (of all systems jointly, where there are several), or why not."""
    from fewgold import shared_sheets, sheets

    extra = None if seen.id is None else keys(seen)
    if extra is None:
        return None, None
    columns: dict[str, Any] = {
        "id": seen.id, "document": seen.document, "system": seen.system,
        "metrics": list(seen.usable_metrics), "cost": seen.cost, "texts": list(seen.texts),
    }  # fmt: skip
    frame = seen.frame.assign(**{m: seen.columns[m].values for m in seen.usable_metrics})
    joint = seen.system is not None and seen.system in extra
    if seen.rater is not None and seen.rater in extra:
        frame = frame.drop_duplicates([seen.id, *([seen.system] if joint and seen.system else [])])
    try:
        pool = (shared_sheets.build_joint_pool if joint else sheets.build_pool)(frame, columns)
    except FewgoldError as error:
        return None, finding("no-pool", why=str(error))
    return pool, None


def _strategies(fit: Able) -> list[Support]:
    pool = fit.pool
    if pool is None:
        return [Support("strategies", False, "not before the errors above are mended")]
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
        lines.append(Support("estimators", True, "mean only; the others correct by metrics"))
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
        f"approximate ones always; guaranteed ones (star, betting, …) with {guess} and a sample "
        "drawn with --strategy random+mean",
    )  # fmt: skip


def _binary(seen: Seen, fit: Able) -> Support:
    how = ""
    if fit.binary is not None:
        how = f"“{fit.binary}” is 0 and 1: fewgold alpha, fewgold roc"
    elif fit.rated:
        how = f"after a cut of “{seen.human[0]}” that says what is adequate, such as {_cut(seen)}"
    return _unless("binary model", how, {
        "no human ratings yet (0 and 1, or a cut of scores)": not fit.rated,
        "no metric without gaps that could help": not fit.judges,
    })  # fmt: skip


def _cut(seen: Seen) -> str:
    """A cut that leaves some scores on either side, the good ones passing."""
    values = seen.scores()
    known = values[np.isfinite(values)]
    middle = float(np.median(known))
    if higher_is_better(seen) is not False:
        at = middle if (known < middle).any() else float(known[known > middle].min(initial=middle))
        return f"--adequate '>={at:g}'"
    at = middle if (known > middle).any() else float(known[known < middle].max(initial=middle))
    return f"--adequate '<={at:g}'"


def _unless(name: str, how: str, obstacles: dict[str, bool]) -> Support:
    """Supported as ``how`` says, unless one of the obstacles is there; the first one is told."""
    why = next((why for why, there in obstacles.items() if there), None)
    return Support(name, why is None, why or how)


def _compare(seen: Seen, fit: Able) -> Support:
    return _unless("comparison", f"{fit.systems} systems, segment by segment: fewgold compare", {
        "no column of systems": seen.system is None,
        "one system only": fit.systems < 2,
        "the systems share no segments under the same id": not fit.crossed,
        "no ratings yet; select --shared picks what to rate": not fit.rated,
    })  # fmt: skip


def _simulate(seen: Seen, fit: Able) -> Support:
    if fit.pool is None or not seen.human or not fit.rated:
        return Support("simulation", False, "needs a human score for every row")
    if len(seen.human) > 1:
        return Support("simulation", False, "needs one column of human scores; average the raters")
    if seen.rater is not None and seen.rater in (keys(seen) or ()):
        return Support("simulation", True, "every system and rater a pool of its own (--by)")
    if fit.rated < seen.rows:
        said = f"of the {plural(fit.rated, 'row')} that people rated, with --rated-only"
        return Support("simulation", fit.rated >= TINY, said)
    return Support("simulation", True, "people rated every row: fewgold simulate")


def _plan(fit: Able) -> Support:
    if fit.rated >= 10:
        return Support("planning", True, "with the spread of the human scores: fewgold plan")
    return Support("planning", True, "only from the scale or a guess: fewgold plan --limits, --sd")


def _reliability(seen: Seen, fit: Able) -> Support:
    return _unless("reliability", "how steady a score is with 1, 2, 3, … documents", {
        "no document column": seen.document is None,
        "fewer than 3 documents": seen.count(seen.document) < 3,
        "no scores, neither of people nor of metrics": not (fit.rated or seen.usable_metrics),
    })  # fmt: skip


def _stop(fit: Able) -> Support:
    how = "select --strategy random --in-order, then fewgold stop with --limits"
    return _unless("stopping", how, {
        "not before the errors above are mended": fit.pool is None,
        "for one system at a time: keep the rows of one": fit.crossed,
    })  # fmt: skip
