"""What can be done with a table: strategies, bounds, the binary model, comparison and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold import registry
from fewgold.doctor.findings import Finding, Support, plural, some
from fewgold.doctor.identity import TINY, keys
from fewgold.doctor.scores import is_binary, is_flag, is_marked, scale_of
from fewgold.doctor.seen import Seen
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
    supports: tuple[Support, ...]
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
    limits = None if scale is None else (scale[0], scale[1])
    binary = next(
        (
            h for h in seen.humans
            if is_binary(seen.columns[h].values[seen.columns[h].finite]) and not is_marked(h)
        ), None,
    )  # fmt: skip
    judges = tuple(m for m in seen.usable_metrics if not is_flag(seen, m))
    crossed = extra is not None and systems > 1 and seen.system in extra and _shared(seen)
    context: dict[str, Any] = {
        "seen": seen, "pool": pool, "rated": int(known.size), "systems": systems,
        "crossed": crossed, "binary": binary, "limits": limits, "judges": judges,
    }  # fmt: skip
    supports = [
        *_strategies(**context), *([] if pool is None else [_bounds(**context)]),
        _binary(**context), _compare(**context),
        _simulate(**context), _plan(**context), _reliability(**context), _stop(**context),
    ]  # fmt: skip
    findings = () if problem is None else (problem,)
    return Able(
        pool, systems, int(known.size), _unrated(seen, scores), limits, binary, crossed,
        judges, tuple(supports), findings,
    )  # fmt: skip


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

    if seen.id is None:
        return None, None
    extra = keys(seen)
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
        return None, Finding("error", "no-pool", f"no pool can be made of it: {error}")
    return pool, None


def _shared(seen: Seen) -> bool:
    """Whether some segment has the outputs of two systems."""
    assert seen.id is not None
    ids = seen.labels(seen.id)
    return len(set(ids)) < len(ids)


def _strategies(pool: Pool | None, crossed: bool, **_: Any) -> list[Support]:
    if pool is None:
        why = "not before the errors above are mended"
        return [Support("strategies", False, why)]
    names = registry.strategy_names(pool)
    text = f"{len(names)} usual ones; recommended: {registry.recommended(pool)}"
    if crossed:
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
        lines.append(
            Support("estimators", True, f"mean, ridge, cv-mean, cv-multi, cv-knn, {first}")
        )
    return lines


def _bounds(seen: Seen, limits: tuple[float, float] | None, **_: Any) -> Support:
    guess = f"--limits {limits[0]:g},{limits[1]:g}" if limits else "--limits LOW,HIGH"
    if limits and "mqm" in seen.human[0].lower() and limits[1] == 25:
        guess = "--limits mqm"
    return Support(
        "bounds", True,
        f"approximate ones always; guaranteed ones (star, betting, …) with {guess} and a sample "
        "drawn with --strategy random+mean",
    )  # fmt: skip


def _binary(
    seen: Seen, rated: int, binary: str | None, judges: tuple[str, ...], **_: Any
) -> Support:
    if not rated:
        return Support("binary model", False, "no human ratings yet (0 and 1, or a cut of scores)")
    if not judges:
        return Support("binary model", False, "no metric without gaps that could help")
    if binary is not None:
        return Support("binary model", True, f"“{binary}” is 0 and 1: fewgold alpha, fewgold roc")
    return Support(
        "binary model", True,
        f"after a cut of “{seen.human[0]}” that says what is adequate, such as {_cut(seen)}",
    )  # fmt: skip


def _cut(seen: Seen) -> str:
    """A cut that leaves some scores on either side, the good ones passing."""
    from fewgold.doctor.scores import higher_is_better

    values = seen.scores()
    known = values[np.isfinite(values)]
    middle = float(np.median(known))
    if higher_is_better(seen) is not False:
        at = middle if (known < middle).any() else float(known[known > middle].min(initial=middle))
        return f"--adequate '>={at:g}'"
    at = middle if (known > middle).any() else float(known[known < middle].max(initial=middle))
    return f"--adequate '<={at:g}'"


def _compare(seen: Seen, systems: int, rated: int, crossed: bool, **_: Any) -> Support:
    if systems < 2:
        why = "no column of systems" if seen.system is None else "one system only"
        return Support("comparison", False, why)
    if not crossed:
        return Support("comparison", False, "the systems share no segments under the same id")
    if not rated:
        return Support("comparison", False, "no ratings yet; select --shared picks what to rate")
    return Support("comparison", True, f"{systems} systems, segment by segment: fewgold compare")


def _simulate(seen: Seen, pool: Pool | None, rated: int, **_: Any) -> Support:
    if pool is None or not seen.human or not rated:
        return Support("simulation", False, "needs a human score for every row")
    if len(seen.human) > 1:
        return Support("simulation", False, "needs one column of human scores; average the raters")
    if seen.rater is not None and seen.rater in (keys(seen) or ()):
        return Support("simulation", True, "every system and rater a pool of its own (--by)")
    if rated < seen.rows:
        said = f"of the {plural(rated, 'row')} that people rated, with --rated-only"
        return Support("simulation", rated >= TINY, said)
    return Support("simulation", True, "people rated every row: fewgold simulate")


def _plan(seen: Seen, rated: int, **_: Any) -> Support:
    if rated >= 10:
        return Support("planning", True, "with the spread of the human scores: fewgold plan")
    return Support("planning", True, "only from the scale or a guess: fewgold plan --limits, --sd")


def _reliability(seen: Seen, rated: int, **_: Any) -> Support:
    if seen.document is None:
        return Support("reliability", False, "no document column")
    if seen.count(seen.document) < 3:
        return Support("reliability", False, "fewer than 3 documents")
    if not rated and not seen.usable_metrics:
        return Support("reliability", False, "no scores, neither of people nor of metrics")
    return Support("reliability", True, "how steady a score is with 1, 2, 3, … documents")


def _stop(pool: Pool | None, crossed: bool, **_: Any) -> Support:
    if pool is None:
        return Support("stopping", False, "not before the errors above are mended")
    if crossed:
        return Support("stopping", False, "for one system at a time: keep the rows of one")
    return Support(
        "stopping", True, "select --strategy random --in-order, then fewgold stop with --limits"
    )
