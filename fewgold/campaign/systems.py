"""Several systems in one campaign: samples for all of them, and a view of each.

The pool of such a campaign has one row per output, which is what raters see. Samples are drawn from
another pool: that of the segments, for all systems at once (`joint`), or that of one system.
`OneSystem` is the part of a campaign that is about one system, as if there were no others.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.campaign.answers import scores
from fewgold.campaign.database import FILE
from fewgold.campaign.settings import Settings
from fewgold.common.arrays import IntArray
from fewgold.common.checks import as_names, check_choice
from fewgold.common.text import counted, verb
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.slices import LEAST

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.campaign.store import Store, Wave
    from fewgold.campaign.study import Campaign
    from fewgold.report.comparison_page import ComparisonReport


# The pools that samples are drawn from


def names_of(pool: Pool, segments: NDArray[Any]) -> tuple[str, ...]:
    """Check a pool of outputs and return its systems, in the order of their first row."""
    if pool.system is None:
        raise DataError("a campaign of several systems needs to know the system of each output.")
    systems, labels = [str(s) for s in pool.system.tolist()], [str(s) for s in segments.tolist()]
    names = tuple(dict.fromkeys(systems))
    if len(names) < 2:
        raise DataError(
            f"the pool has only one system, {names[0]!r}. Leave out the column of systems, or "
            "give the outputs of two or more."
        )
    seen: set[tuple[str, str]] = set()
    for both in zip(labels, systems, strict=True):
        if not both[0].strip() or not both[1].strip():
            raise DataError("every output needs the id of its segment and the name of its system.")
        if both in seen:
            raise DataError(
                f"segment {both[0]!r} has two outputs of the system {both[1]!r}. Keep one of "
                "them. If ids start again in each document, combine document and segment into "
                "one id."
            )
        seen.add(both)
    return names


def joint(pool: Pool, segments: NDArray[Any]) -> Pool:
    """The segments of a pool of outputs, once each, with metrics averaged over systems."""
    import pandas as pd

    from fewgold.comparison import joint_pool

    assert pool.system is not None
    # By position, since a metric may have any name.
    columns: dict[str, Any] = {f"metric {k}": v for k, v in enumerate(pool.metrics.values())}
    names = dict(zip(columns, pool.metrics, strict=True))
    columns |= {"id": segments.astype(str), "system": pool.system.astype(str)}
    for name, values in (("document", pool.documents), ("cost", pool.cost)):
        if values is not None:
            columns[name] = values
    found = joint_pool(
        pd.DataFrame(columns), id="id", system="system", metrics=list(names),
        document=None if pool.documents is None else "document",
        cost=None if pool.cost is None else "cost",
        orientation={k: pool.orientation[m] for k, m in names.items() if m in pool.orientation},
    )  # fmt: skip
    spread = None
    if pool.spread is not None:
        told = pd.Series(pool.spread).groupby(segments.astype(str)).mean()
        spread = np.asarray(told.loc[found.ids.astype(str)], dtype=np.float64)
    return replace(
        found,
        metrics={names[k]: v for k, v in found.metrics.items()},
        orientation={names[k]: v for k, v in found.orientation.items()},
        spread=spread,
    )


def alone(pool: Pool, segments: NDArray[Any], system: str) -> tuple[Pool, IntArray]:
    """The outputs of one system, with the ids of their segments, and their rows in the whole pool.

    A metric that is the same for all of them has no information and is left out.
    """
    assert pool.system is not None
    places = np.flatnonzero(pool.system.astype(str) == system)
    part = pool.take(places)
    metrics = {k: v for k, v in part.metrics.items() if v.size < 2 or np.ptp(v) > 0}
    made = replace(
        part,
        ids=segments[places].astype(str),
        metrics=metrics,
        orientation={k: v for k, v in part.orientation.items() if k in metrics},
    )
    return made, places


def rows_in(pool: Pool, segments: NDArray[Any]) -> IntArray:
    """The row of each of these segments in a pool of segments; −1 if it is not there."""
    row = {str(name): k for k, name in enumerate(pool.ids.tolist())}
    return np.array([row.get(str(name), -1) for name in segments.tolist()], dtype=np.int64)


# One of several systems, as if it were the only one


class OneSystem:
    """The part of a campaign's store that is about one system, read only."""

    def __init__(self, store: Store, system: str) -> None:
        if system not in store.settings.systems:
            raise UnknownNameError("system", system, store.settings.systems)
        self.whole, self.system = store, system
        self.path = store.path

    @property
    def database(self) -> sqlite3.Connection:
        """The same as for the whole campaign."""
        return self.whole.database

    @cached_property
    def settings(self) -> Settings:
        """The settings of the whole campaign, with the name of this system."""
        whole = self.whole.settings
        return replace(
            whole, name=f"{whole.name}: {self.system}", system=self.system, systems=(),
            fingerprint=self.pool.fingerprint, budget=None,
        )  # fmt: skip

    @cached_property
    def pool(self) -> Pool:
        """The outputs of this system, with the ids of their segments."""
        return self._alone[0]

    @property
    def frame(self) -> Pool:
        """The outputs of this system."""
        return self.pool

    @property
    def labels(self) -> dict[str, NDArray[Any]]:
        """Columns for slices, for the outputs of this system."""
        places = self._alone[1]
        return {name: values[places] for name, values in self.whole.labels.items()}

    @cached_property
    def _alone(self) -> tuple[Pool, IntArray]:
        return alone(self.whole.pool, self.whole.segments, self.system)

    def sample(self, waves: int | None = None) -> Sample:
        """The drawn outputs of this system, with the design by which they were drawn."""
        if not self.whole.settings.shared:
            return self.whole.sample(waves, self.system, self.pool)
        from fewgold.comparison.designs import subset

        drawn = self.whole.sample(waves)
        rows = rows_in(self.pool, drawn.ids)
        has = rows >= 0
        design = drawn.design
        if not has.any():
            raise DataError(f"no output of the system {self.system!r} was drawn.")
        if not has.all() or len(self.pool) != len(drawn.pool):
            # It lacks outputs for some segments. Those that it has are taken as a random part.
            design = subset(design, has, size=len(self.pool))
        return Sample(self.pool, rows[has], design, info=drawn.info)

    def waves(self) -> list[Wave]:
        """Every draw, with the outputs of this system."""
        names = dict(zip(self.whole.pool.ids.astype(str).tolist(), self._labels, strict=True))
        own = set(self.whole.pool.ids[self._alone[1]].astype(str).tolist())
        found = []
        for wave in self.whole.waves():
            ids = tuple(names[id] for id in wave.ids if id in own)
            found.append(replace(wave, ids=ids, n=len(ids), segments=len(ids)))
        return found

    @property
    def _labels(self) -> list[str]:
        return [str(s) for s in self.whole.segments.tolist()]

    def answers(self) -> pd.DataFrame:
        """Every answer for this system that counts, by segment."""
        return self.whole.answers(self.system)

    def set_aside(self) -> pd.DataFrame:
        """Answers for this system that do not count, and why."""
        return self.whole.set_aside(self.system)

    def rejected(self) -> pd.DataFrame:
        """Rows that could not be read, for any system."""
        return self.whole.rejected()

    def journal(self) -> pd.DataFrame:
        """What happened in the whole campaign."""
        return self.whole.journal()

    def adoptable(self) -> int:
        """Number of answers set aside whose segments have since been sampled."""
        return self.whole.adoptable(self.system)

    def last_wave_with_answers(self) -> int:
        """As for the whole campaign, but using the answers for this system."""
        return self.whole.last_wave_with_answers(self.system)

    def settled(self) -> dict[str, float]:
        """The scores that adjudicators settled, by segment."""
        found = self.whole.settled()
        return {label: found[id] for id, label in self._own if id in found}

    def for_two(self) -> frozenset[str]:
        """Segments whose output of this system gets one more rater at random."""
        found = self.whole.for_two()
        return frozenset(label for id, label in self._own if id in found)

    @property
    def _own(self) -> list[tuple[str, str]]:
        """The segments of this system's outputs, by their ids in the whole pool."""
        places = self._alone[1]
        ids, labels = self.whole.pool.ids[places], self.whole.segments[places]
        return list(zip(map(str, ids.tolist()), map(str, labels.tolist()), strict=True))

    def drawn(self, waves: int | None = None) -> IntArray:
        """Rows of the drawn outputs in the pool of this system, in the order of drawing."""
        return np.asarray(self.sample(waves).indices)

    def state(self) -> tuple[int, ...]:
        """The same as for the whole campaign."""
        return self.whole.state()

    def snapshot(self) -> AbstractContextManager[None]:
        """Read everything as of one moment."""
        return self.whole.snapshot()

    def close(self) -> None:
        """Close the file of the whole campaign."""
        self.whole.close()


# The comparison


def compare(
    campaign: Campaign, gaps: str, waves: int | None, criterion: str | None = None,
    by: str | Sequence[str] = (), least: int = LEAST, **options: Any,
) -> Any:  # fmt: skip
    """All systems of a campaign compared; see `Campaign.compare` and `Campaign.compare_by`."""
    from fewgold.comparison import compare, compare_by, compare_samples

    settings, store = campaign.settings, campaign.store
    if settings.sides:
        raise FewgoldError(
            "this campaign has no scores to compare, since its raters say which of two outputs is "
            "better.",
            hints={
                "python": "Use campaign.preferences().",
                "cli": "Use fewgold preferences CAMPAIGN.",
            },
        )
    if not settings.systems:
        raise FewgoldError(
            "this campaign has only one system, so there is nothing to compare. For its score: "
            "fewgold estimate CAMPAIGN (campaign.estimate())."
        )
    limits, way = settings.limits, settings.higher_is_better
    if criterion is not None:
        asked = settings.criterion(criterion)
        limits, way = asked.limits, asked.higher_is_better
    options = {"higher_is_better": way, **options}
    options.setdefault("level", 1 - settings.confidence)
    if not settings.shared:
        parts = {name: campaign.of(name) for name in settings.systems}
        samples = {
            name: part._partial(waves_of(part, waves) if gaps == "at-random" else waves, criterion)
            for name, part in parts.items()
        }
        kept = {k: options[k] for k in ("higher_is_better", "correction", "level") if k in options}
        if unused := sorted(
            k for k in options if k not in kept and options[k] not in (None, False, "auto")
        ):
            raise FewgoldError(
                f"{unused[0]} needs systems that are rated on the same segments, but here each "
                "has its own sample."
            )
        done = {
            name: p.complete() if gaps == "wait" else p.at_random() for name, p in samples.items()
        }
        if not by:
            return compare_samples(done, **kept)
        by_system = {name: part.slicing(by) for name, part in parts.items()}
        return compare_by(done, by_system, least=least, **kept)
    if gaps == "at-random":
        waves = waves_of(campaign, waves)
    if gaps == "wait" and (left := unrated(campaign, waves)):
        raise DataError(
            f"{len(left)} of {store.drawn(waves).size} chosen outputs {verb(len(left), 'have')} no "
            f"answer, first {left[0]}. Have them rated, or treat them as missing at random:",
            hints={
                "python": "gaps='at-random'.",
                "cli": "fewgold compare --rated-only, fewgold report --gaps at-random.",
                "web": "set the gaps to at-random.",
            },
        )
    cells = campaign.slicing(by) if by else {}
    table, roles = scored(campaign, waves, criterion, cells)
    if options.get("adjust_raters") and roles["rater"] is None:
        raise DataError("adjust_raters needs answers of two or more named raters.")
    options |= {**roles, "sample": store.sample(waves), "limits": limits}
    if cells:
        return compare_by(table, list(cells), least=least, **options)
    return compare(table, **options)


def waves_of(campaign: Campaign, waves: int | None) -> int | None:
    """The waves to use while answers are still coming, unless the caller chose."""
    from fewgold.campaign.study import waves_to_use

    return waves_to_use(campaign) if waves is None else waves


def unrated(campaign: Campaign, waves: int | None = None) -> tuple[str, ...]:
    """Ids of drawn outputs without an answer, in the order of drawing."""
    answers, settings = campaign.answers(), campaign.settings
    if settings.criteria:
        names = [c.name for c in settings.criteria]
        parts = [set(scores(answers, settings, criterion=name)) for name in names]
        rated = set.intersection(*parts)
    else:
        rated = set(answers["segment"])
    ids = campaign.pool.ids[campaign.store.drawn(waves)].astype(str).tolist()
    return tuple(id for id in ids if id not in rated)


def scored(
    campaign: Campaign, waves: int | None = None, criterion: str | None = None,
    cells: Mapping[str, NDArray[Any]] | None = None,
) -> tuple[pd.DataFrame, dict[str, Any]]:  # fmt: skip
    """All outputs with their metrics, slices and scores, and the columns by role.

    One row per output and rater if there are two or more named raters, their mean counts and
    nothing was settled, so that the raters' biases can be estimated. Otherwise one row per output.
    """
    import pandas as pd

    pool, settings, store = campaign.pool, campaign.settings, campaign.store
    shared = [name for name in pool.metrics if name in store.frame.metrics]
    slices = dict(cells or {})
    taken = {*shared, *slices}

    def named(role: str) -> str:
        while role in taken:
            role += "_"
        taken.add(role)
        return role

    assert pool.system is not None
    roles: dict[str, Any] = {"human": named("score"), "id": named("segment")}
    roles |= {"system": named("system"), "document": None, "rater": None}
    own = named("output")
    columns = {roles["id"]: store.segments.astype(str), roles["system"]: pool.system.astype(str)}
    if pool.documents is not None:
        roles["document"] = named("document")
        columns[roles["document"]] = pool.documents.astype(str)
    columns |= {name: pool.metrics[name] for name in shared} | slices
    base = pd.DataFrame({own: pool.ids.astype(str), **columns})
    answers = campaign.answers()
    drawn = set(pool.ids[store.drawn(waves)].astype(str).tolist())
    answers = answers[answers["segment"].isin(drawn)]
    people = sorted(set(answers["rater"]))
    rater, settled = None, store.settled()
    if len(people) > 1 and not settled and "" not in people and settings.among == "mean":
        rater = roles["rater"] = named("rater")
        by = answers["rater"]
        parts = {who: scores(answers[by == who], settings, None, criterion) for who in people}
        given = [(id, who, score) for who, part in parts.items() for id, score in part.items()]
        found = pd.DataFrame(given, columns=[own, rater, roles["human"]])
    else:
        by_id = scores(answers, settings, settled, criterion)
        found = pd.DataFrame(by_id.items(), columns=[own, roles["human"]])
    table = base.merge(found, on=own, how="left").drop(columns=own)
    table[roles["human"]] = table[roles["human"]].astype(float)
    orientation = {k: v for k, v in pool.orientation.items() if k in shared}
    return table, {**roles, "metrics": shared, "orientation": orientation}


def joint_ratings(campaign: Campaign) -> Ratings:
    """One score per drawn segment, the mean over its systems; used by strategies that learn."""
    if left := unrated(campaign):
        raise DataError(
            f"{counted(len(left), 'chosen output')} without an answer, first {left[0]}. The next "
            "wave depends on all answers, so have all of them rated first."
        )
    by_id = scores(campaign.answers(), campaign.settings, campaign.store.settled())
    pool, segments = campaign.pool, campaign.store.segments
    found: dict[str, list[float]] = {}
    for place in campaign.store.drawn().tolist():
        found.setdefault(str(segments[place]), []).append(by_id[str(pool.ids[place])])
    sample = campaign.sample
    told = np.array([np.mean(found[str(i)]) for i in sample.ids.tolist()], dtype=np.float64)
    return Ratings(sample, told, campaign.settings.limits)


# The report


def report(
    campaign: Campaign, gaps: str, *, confidence: float | None = None, title: str | None = None,
    estimator: Any = None, cut: str | None = None, by: str | Sequence[str] = (),
) -> ComparisonReport:  # fmt: skip
    """The report of all systems, optionally with slices."""
    from fewgold.report.comparison_page import ComparisonReport

    if estimator is not None or cut is not None:
        raise FewgoldError(
            "the report of several systems takes no estimator and no cut.",
            hints={
                "python": "For the report of one of them: campaign.of(system).report().",
                "cli": "For the report of one of them, name it with --system.",
            },
        )
    check_choice("gaps", gaps, ("wait", "at-random"))
    settings = campaign.settings
    options: dict[str, Any] = {} if confidence is None else {"level": 1 - confidence}
    sliced = campaign.compare_by(by, gaps, **options) if by else None
    result = campaign.compare(gaps, **options) if sliced is None else sliced.whole
    waves = campaign.waves
    drawn = ", ".join(f"{w.segments} on {w.drawn_at[:10]} (seed {w.seed})" for w in waves)
    how = "the same segments for all" if settings.shared else "a separate sample for each"
    outputs = sum(wave.n for wave in waves)
    left = len(unrated(campaign))
    facts = [
        ("systems", str(len(settings.systems))),
        ("rated", f"{outputs - left} of {outputs} chosen outputs"),
        ("drawn", drawn),
        ("how", how),
        ("strategy", settings.strategy),
        ("raters", str(campaign.answers()["rater"].nunique())),
    ]
    notes = []
    if left:
        many = counted(left, "chosen output")
        notes.append(f"{many} without an answer, taken as missing at random")
    words = ["fewgold", "compare", folder_of(campaign.path)]
    words += ["--rated-only"] if gaps == "at-random" else []
    words += [] if confidence is None else ["--level", f"{1 - confidence:.10g}"]
    words += ["--by", ",".join(as_names(by))] if by else []
    return ComparisonReport(
        result, title or settings.name, facts, [shlex.join(words)], notes, sliced
    )


def folder_of(path: Path) -> str:
    """The path of a campaign as one would type it."""
    return (path.parent if path.name == FILE else path).as_posix()
