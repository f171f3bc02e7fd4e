"""From a draft to a campaign: columns, pool, what a budget would achieve, and the campaign.

It does what ``fewgold doctor``, ``init`` and ``select`` do, for an uploaded table.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import registry, sheets
from fewgold.campaign import Campaign, sides
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import as_limits
from fewgold.common.temporary import TemporaryFolder
from fewgold.common.text import listed
from fewgold.comparison.table import ScoreTable, direction
from fewgold.doctor import Diagnosis, examine
from fewgold.doctor.scores import scale_of
from fewgold.errors import DataError, FewgoldError
from fewgold.io.columns import MAYBE_HUMAN, Roles, known_orientation
from fewgold.planning import Outlook
from fewgold.pool import Pool
from fewgold.report.descriptions import ESTIMATORS, SAMPLERS, short_line
from fewgold.samplers import Chances
from fewgold.slices import sliceable
from fewgold.uncertainty import SpreadColumn, chances_sentence, roles_beside
from fewgold.web.drafts import Draft

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fewgold.web.jobs import Progress

ROLES = ("id", "document", "system", "cost")
NONE = "none"


@dataclass(frozen=True)
class NamedColumns:
    """The columns that the owner chose; None means that the column is guessed."""

    id: str | None = None
    document: str | None = None
    system: str | None = None
    cost: str | None = None
    uncertainty: str | None = None
    metrics: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    human: tuple[str, ...] | None = None
    systems: tuple[str, ...] | None = None  # the chosen ones; all by default
    sides: tuple[str, ...] = ()  # two texts to show side by side
    between: tuple[str, ...] = ()  # the columns that name the two systems of each pair

    @classmethod
    def of(cls, draft: Draft) -> NamedColumns:
        """The choices stored in a draft."""
        kept = draft.state.get("columns")
        known = kept if isinstance(kept, dict) else {}
        told: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v
            for k, v in known.items()
            if k in cls.__dataclass_fields__
        }
        return cls(**told)

    @property
    def told(self) -> dict[str, Any]:
        """The columns in the form that commands and the doctor take."""
        found: dict[str, Any] = {k: getattr(self, k) for k in ROLES}
        for name in ("metrics", "texts", "human"):
            value = getattr(self, name)
            found[name] = None if value is None else list(value) or [NONE]
        return {k: v for k, v in found.items() if v is not None}


#: What to do about a finding of the doctor, where its own advice is about commands.
_ON_PAGE = {
    "no-ids": "If each row is a segment, add a column “id” to the table. If a column identifies "
    "them, choose it below under “Segments”; rows of several systems also need “Systems”.",
    "ids-elsewhere": "If it does not, choose another one below under “Segments”.",
    "crossed-columns": "If these are segments and systems, choose them below. If one of them holds "
    "raters, call it rater in the table.",
    "nested-fields": "To use one of them, give it a column of its own in the table.",
    "texts-elsewhere": "Raters see the texts that are ticked below. Leave out what they must not "
    "see.",
    "several-humans": "Choose below under “Existing human scores”. None of them is a metric.",
    "maybe-human": "If these are human scores, tick them below under “Existing human scores”.",
    "imbalance": "Small samples may contain none of it.",
    "off-scale": "Typing errors? Correct them in the table.",
    "leak": "It must not be used as a metric: results would look better than they are.",
    "not-metrics": "If one is in fact automatic, tick it below under “Automatic metrics”.",
    "orientation": "If so, reverse the sign of the metric in the table.",
    "labels-not-random": "The new campaign does not count them, but the plan below relies on them.",
}


@dataclass(eq=False)
class DraftTable:
    """An uploaded table, the roles of its columns, and the doctor's findings."""

    draft: Draft
    frame: pd.DataFrame
    remarks: tuple[str, ...]
    chosen: NamedColumns

    @classmethod
    def read(cls, draft: Draft) -> DraftTable:
        """Read the upload of a draft."""
        frame, remarks = draft.read()
        if not len(frame):
            raise DataError(f"{draft.name!r} has no rows.")
        return cls(draft, frame, remarks, NamedColumns.of(draft))

    def with_columns(self, chosen: NamedColumns) -> DraftTable:
        """The same table with the chosen columns."""
        return DraftTable(self.draft, self.frame, self.remarks, chosen)

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [str(c) for c in self.frame.columns]

    @cached_property
    def roles(self) -> Roles:
        """The roles of the columns."""
        return self._roles_beside(self.frame)[0]

    def _roles_beside(self, frame: pd.DataFrame) -> tuple[Roles, SpreadColumn | None]:
        """The roles of these rows, and the column of the uncertainty."""
        return roles_beside(frame, self.chosen.uncertainty, need_id=False, **self.chosen.told)

    @cached_property
    def uncertainty(self) -> SpreadColumn | None:
        """The column that says how uncertain ratings are, if one was chosen."""
        return self._roles_beside(self.frame)[1]

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The doctor's findings about the file."""
        told = {k: v for k, v in self.chosen.told.items() if k != "cost"}
        if told.get("human") == [NONE]:  # the doctor may still look for them
            del told["human"]
        place, pair = self.draft.path, self.draft.pair
        named = {k: _named(v) for k, v in told.items()}
        found = examine(place if pair is None else place / pair, **named)
        say = self.draft.told
        return replace(
            found, path=self.draft.shown,
            findings=tuple(
                replace(
                    f, what=say(f.what), where=say(f.where), do=_ON_PAGE.get(f.code, say(f.do))
                )
                for f in found.findings
                if f.code != "options-unused"
            ),
            next_commands=tuple(replace(c, text=say(c.text)) for c in found.next_commands),
        )  # fmt: skip

    @cached_property
    def all_systems(self) -> list[str]:
        """The systems in the table, in the order of their first row."""
        system = self.roles.system
        if system is None:
            return []
        return list(dict.fromkeys(v for v in self.roles.cells.labels(system) if v))

    @cached_property
    def systems(self) -> list[str]:
        """The systems to rate."""
        wanted = self.chosen.systems
        return [s for s in self.all_systems if wanted is None or s in wanted]

    @cached_property
    def crossed(self) -> bool:
        """Whether several systems are rated on the same segments."""
        found = self.roles
        if len(self.systems) < 2 or found.id is None:
            return False
        return len(set(found.cells.labels(found.id))) < len(self.frame)

    @cached_property
    def rated_columns(self) -> tuple[str, ...]:
        """The columns of human scores; several if each is a rater."""
        return self.roles.human

    @cached_property
    def part(self) -> Roles:
        """The rows of the chosen systems, without human scores."""
        found = self.roles
        if found.id is None:
            raise DataError("which column has the ids of the segments? Choose it.")
        if self.all_systems and not self.systems:
            raise DataError("no system is selected. Select at least one.")
        if len(self.systems) < len(self.all_systems):
            assert found.system is not None
            own = [v in self.systems for v in found.cells.labels(found.system)]
            part = self.frame[own].reset_index(drop=True)
            found = self._roles_beside(part)[0]
        people = dict.fromkeys(found.human, MAYBE_HUMAN)
        return replace(found, human=(), left_out={**people, **found.left_out})

    @cached_property
    def pool(self) -> tuple[Pool, NDArray[Any] | None, tuple[str, ...]]:
        """The outputs, the segment of each if systems are compared, and notes."""
        found = self.part
        with self.draft.named():
            if self.chosen.sides:
                made = sheets.build_pool(found.table, found.columns)
                if self.chosen.between:
                    made = sides.with_pairs(made, found.table, self.chosen.between)
                sides.check(made, self.chosen.sides)
                return self._informed(made), None, ()
            if self.crossed:
                from fewgold.shared_sheets import build_outputs

                outputs = build_outputs(found.table, found.columns)
                return self._informed(outputs.pool), outputs.segments, outputs.notes
            return self._informed(sheets.build_pool(found.table, found.columns)), None, ()

    def _informed(self, pool: Pool) -> Pool:
        """The pool with the expected spread of its ratings, if a column tells it."""
        if self.uncertainty is None:
            return pool
        return pool.with_spread(self.uncertainty.spread(self.part.table, pool.ids))

    @cached_property
    def segments(self) -> Pool:
        """The pool to draw from: the outputs, or the segments that all systems share."""
        pool, segments, _ = self.pool
        if segments is None:
            return pool
        from fewgold.campaign.systems import joint

        return joint(pool, segments)

    @cached_property
    def notes(self) -> list[str]:
        """Notes about what was left out or filled in."""
        remarks = [r.rstrip(".") for r in self.remarks]
        return [*remarks, *self.roles.notes("web")]

    @cached_property
    def orientations(self) -> dict[str, int | None]:
        """Which way each metric points; None if its name does not say."""
        cells = self.roles.cells
        return {m: known_orientation(m, cells[m].values) for m in self.roles.metrics}

    def command(self) -> list[str]:
        """Command-line options for the columns that differ from the guess."""
        told = self.roles
        guessed, _ = roles_beside(self.frame, self.chosen.uncertainty, need_id=False)
        words: list[str] = []
        two = self.chosen.sides
        for role in ROLES:
            now = getattr(told, role)
            if now != getattr(guessed, role) and not (two and role == "system"):
                words += [f"--{role}", now or NONE]
        for role in ("metrics", "texts"):
            now = getattr(told, role)
            if now != getattr(guessed, role) and not (two and role == "texts"):
                words += [f"--{role}", ",".join(now) or NONE]
        if self.chosen.uncertainty is not None:
            words += ["--uncertainty", self.chosen.uncertainty]
        if two:
            both = [name for name in told.texts if name not in two]
            words += ["--texts", ",".join(both)] if both else []
            words += ["--side-by-side", ",".join(two)]
        if self.chosen.between:
            words += ["--between", ",".join(self.chosen.between)]
        return words


def _named(value: Any) -> Any:
    """The columns as the doctor takes them: a list of one column becomes that column."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


# What a budget would achieve

#: Assumed spread of the scores if it is unknown, as a share of the scale.
_GUESSED = 0.25
_MQM_SD = 2.4  # of MQM scores on WMT20
_PREFERENCE_SD = 0.9  # of 1, 0 and −1, if a fifth are ties and neither side is much better
_LEAST = 10  # fewest labels in the table that are better than a guess
SIMILAR = 0.5  # assumed correlation of two systems' scores on a segment if it is unknown


@dataclass(frozen=True)
class Known:
    """What is known about the scores before rating, and where it comes from."""

    sd: float
    correlation: float
    icc: float | None
    similar: float = SIMILAR
    labels: int = 0  # rows with a human score in the table; 0 if all of it is a guess
    ends: tuple[float, float] = (-math.inf, math.inf)  # the lowest and highest of these scores

    def fits(self, limits: tuple[float, float] | None) -> bool:
        """Whether these scores can belong to a scale: within it, and using more than a corner of
        it.

        >>> known = Known(0.8, 0.5, None, ends=(1.0, 5.0))
        >>> known.fits((1, 5)), known.fits((0, 1)), known.fits((0, 100)), known.fits(None)
        (True, False, False, True)
        """
        if limits is None:
            return True
        low, high = self.ends
        return limits[0] <= low <= high <= limits[1] and high - low >= 0.1 * (limits[1] - limits[0])


def known(table: DraftTable) -> Known | None:
    """What is known from the human scores in the table; None if there are too few."""
    found, human = table.part, table.rated_columns
    if not human or table.chosen.sides:  # scores of outputs say little about preferences
        return None
    scores = sheets.mean_of_known(np.array([found.cells[h].values for h in human]))
    systems = [""] * len(scores)
    if table.crossed and found.system is not None:
        systems = found.cells.labels(found.system)
    labels = np.array(systems)
    rated = np.isfinite(scores)
    names = [s for s in dict.fromkeys(systems) if rated[labels == s].sum() >= _LEAST]
    if not names:
        return None
    parts = [rated & (labels == s) for s in names]
    spread = [float(scores[p].var(ddof=1)) for p in parts]
    if not all(v > 0 for v in spread):
        return None
    return Known(
        sd=math.sqrt(float(np.mean(spread))),
        correlation=float(np.mean([_explained(found, scores, p) for p in parts])),
        icc=float(np.mean([_document_effect(found, scores, p) for p in parts])),
        similar=_similar(found, scores, names, labels) if len(names) > 1 else SIMILAR,
        labels=int(rated.sum()),
        ends=(float(np.nanmin(scores)), float(np.nanmax(scores))),
    )


def own_scale(table: DraftTable) -> tuple[tuple[float, float] | None, bool] | None:
    """The ends of the scale that the human scores in the table seem to be on, and whether higher
    is better. The ends are None if there is no such scale; without human scores, all is.
    """
    found, human = table.part, table.rated_columns
    if not human or table.chosen.sides:
        return None
    every = np.array([found.cells[h].values for h in human])
    given = every[np.isfinite(every)]
    if not given.size:
        return None
    mean = sheets.mean_of_known(every)[None]
    metrics = {m: found.cells[m].values[None] for m in found.metrics}
    present = np.ones_like(mean, dtype=bool)
    scores = ScoreTable(np.arange(mean.size), ("",), None, mean, metrics, present)
    higher, _ = direction(human, scores, {})
    scale = scale_of(given, human[0])
    if scale is None:  # too few values, or no common scale
        ends = (0.0, 100.0) if given.min() >= 0 and given.max() <= 100 else None
        return ends, higher
    return scale[:2], higher


def _explained(found: Roles, scores: FloatArray, rows: NDArray[np.bool_]) -> float:
    """The multiple correlation of the metrics with the scores, adjusted for their number."""
    columns = [found.cells[m].values[rows] for m in found.metrics]
    columns = [np.where(np.isfinite(c), c, np.nanmean(c)) for c in columns if np.nanstd(c) > 0]
    n, p = int(rows.sum()), len(columns)
    if not p or n <= p + 2:
        return 0.0
    y = scores[rows] - scores[rows].mean()
    x = np.column_stack([(c - c.mean()) / c.std() for c in columns])
    rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    share = 1 - float(rest @ rest) / float(y @ y) * (n - 1) / (n - 1 - p)
    return math.sqrt(min(max(share, 0.0), 0.99))


def _document_effect(found: Roles, scores: FloatArray, rows: NDArray[np.bool_]) -> float:
    from fewgold.common.arrays import codes_of
    from fewgold.common.statistics import intraclass_correlation

    if found.document is None:
        return 0.0
    codes = codes_of(np.array(found.cells.labels(found.document))[rows])
    icc = float(intraclass_correlation(scores[rows], codes))
    return 0.0 if math.isnan(icc) else min(max(icc, 0.0), 1.0)


def _similar(found: Roles, scores: FloatArray, names: Sequence[str], labels: NDArray[Any]) -> float:
    """The mean correlation of two systems' scores on the same segments."""
    assert found.id is not None
    ids = np.array(found.cells.labels(found.id))
    by_system = {
        name: dict(zip(ids[own], scores[own], strict=True))
        for name in names
        if (own := (labels == name) & np.isfinite(scores)).any()
    }
    told = []
    for one, other in combinations(by_system.values(), 2):
        both = [i for i in one if i in other]
        pairs = np.array([[one[i], other[i]] for i in both])
        if len(both) >= _LEAST and (pairs.std(axis=0) > 0).all():
            told.append(float(np.corrcoef(pairs.T)[0, 1]))
    return min(max(float(np.mean(told)), -0.9), 0.95) if told else SIMILAR


def guess(
    limits: tuple[float, float] | None, higher_is_better: bool | None, table: DraftTable
) -> Known:
    """Assumptions without human scores: a spread of a quarter of the scale and an average
    metric."""
    if table.chosen.sides:
        sd = _PREFERENCE_SD
    elif limits is None:
        sd = 1.0
    elif limits == (0.0, 1.0):
        sd = 0.5
    elif limits == (0.0, 25.0) and higher_is_better is False:
        sd = _MQM_SD
    else:
        sd = _GUESSED * (limits[1] - limits[0])
    metrics = bool(table.segments.metrics)
    documents = table.segments.documents is not None
    return Known(sd, 0.5 if metrics else 0.0, 0.15 if documents else None)


#: Strategies whose formula bounds the ± of those without their own formula.
_AS = {
    "docs-sys": "random", "docs-uneven": "docs-balanced", "docs-sys-uneven": "random",
    "random-uneven": "random",
}  # fmt: skip


def strategies(pool: Pool) -> list[tuple[str, str]]:
    """Strategies to choose from, with descriptions; the recommended one is first."""
    names = [registry.recommended(pool)]
    if pool._has_spread and pool.metrics:
        names.append(registry.RECOMMENDED)
    if pool.documents is not None:
        names += ["docs-sys+ridge"] if pool.metrics else []
        names += ["docs-chunks3+mean", "docs-whole+mean"]
    names += ["random+ridge"] if pool.metrics else []
    names.append("random+mean")
    return [(name, describe(name)) for name in dict.fromkeys(names)]


def describe(strategy: str) -> str:
    """How a strategy chooses segments and uses the ratings, in one line."""
    sampler, _, estimator = strategy.partition("+")
    how = short_line(sampler, SAMPLERS, registry.sampler)
    return f"{how}; {short_line(estimator, ESTIMATORS, registry.estimator)}"


def formula(strategy: str) -> str:
    """The strategy whose formula is used to plan for this one."""
    sampler, plus, estimator = strategy.partition("+")
    return f"{_AS.get(sampler, sampler)}{plus}{estimator}"


def outlook(table: DraftTable, about: Known, *, differences: bool = False) -> Outlook:
    """The outlook for a plan: scores of one system, or differences between two."""
    pool = table.segments
    per = None
    if pool.documents is not None:
        sizes = np.bincount(pool.codes)
        per = float((sizes**2).sum() / sizes.sum())
    sd = about.sd * (math.sqrt(2 * (1 - about.similar)) if differences else 1.0)
    return Outlook(
        sd, about.correlation, max(len(pool.metrics), 1),
        None if pool.documents is None else about.icc, per, len(pool),
    )  # fmt: skip


# The campaign itself


def folder_name(name: str, taken: Mapping[str, Any]) -> str:
    """A simple folder name for a campaign that is not taken yet.

    >>> folder_name("Our systems, spring (2)", {}), folder_name("評価", {"campaign": 0})
    ('our-systems-spring-2', 'campaign-2')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-") or "campaign"
    found, count = plain, 1
    while found in taken:
        count += 1
        found = f"{plain}-{count}"
    return found


@dataclass(frozen=True)
class CampaignPlan:
    """Everything that was decided about a campaign besides the table."""

    name: str
    strategy: str
    budget: int
    seed: int
    limits: tuple[float, float] | str | None
    higher_is_better: bool | None
    confidence: float
    tolerance: float | None
    each: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse settings that no campaign can have."""
        if not self.name.strip():
            raise FewgoldError("give the campaign a name.")
        as_limits(self.limits)


def create(draft: Draft, wanted: CampaignPlan, folder: Path, name: str, progress: Progress) -> None:
    """Write the campaign and draw its first segments, or do nothing at all."""
    place = folder / name
    progress(0, 3)
    table = DraftTable.read(draft)
    pool, segments, _ = table.pool
    progress(1, 3)
    with TemporaryFolder(folder, ".fewgold.") as made:
        shared: dict[str, Any] = {} if segments is None else {"segments": segments, "shared": True}
        sampler = registry.strategy(wanted.strategy, table.segments).sampler
        chances: Chances | None = getattr(sampler, "chances", None)
        if chances is not None and table.uncertainty is not None:
            source = f"was read from the {table.uncertainty.sentence}"
            shared["chances"] = chances_sentence(source, chances)
        with Campaign.create(
            made / name, pool, name=wanted.name, strategy=wanted.strategy, seed=wanted.seed,
            limits=wanted.limits, higher_is_better=wanted.higher_is_better,
            confidence=wanted.confidence, tolerance=wanted.tolerance, each=wanted.each,
            system=table.systems[0] if len(table.systems) == 1 else None,
            sides=table.chosen.sides, labels=_labels(table, pool), **shared, **wanted.settings,
        ) as campaign:  # fmt: skip
            progress(2, 3)
            campaign.select(wanted.budget)
        progress(3, 3)
        if place.exists():
            raise DataError(f"{name!r} exists already. Choose another name.")
        os.rename(made / name, place)


def _labels(table: DraftTable, pool: Pool) -> dict[str, Any]:
    """Columns of the table for slices, as `fewgold init` keeps them."""
    found = table.part
    known = {*pool.texts, *pool.metrics}
    return {n: found.table[n].to_numpy() for n in sliceable(found) if n not in known}


def commands(table: DraftTable, wanted: CampaignPlan, name: str) -> list[tuple[str, str]]:
    """The commands that begin the same campaign."""
    words = ["fewgold", "init", name, table.draft.shown]
    if table.draft.pair is not None:
        words += ["--pair", table.draft.pair]
    words += table.command()
    if 0 < len(table.systems) < len(table.all_systems):
        words += ["--only-system", table.systems[0]] if len(table.systems) == 1 else []
    words += ["--strategy", wanted.strategy, "--seed", str(wanted.seed)]
    several = wanted.settings.get("criteria", ())
    if several:
        words += ["--criteria", ",".join(c.spelled for c in several)]
    own = bool(several or table.chosen.sides)  # they have their own scales
    if wanted.limits is not None and not own:
        scale = wanted.limits
        words += ["--limits", scale if isinstance(scale, str) else f"{scale[0]:g},{scale[1]:g}"]
    if wanted.higher_is_better is not None and wanted.limits != "mqm" and not own:
        words.append("--higher-is-better" if wanted.higher_is_better else "--lower-is-better")
    if wanted.confidence != 0.95:
        words += ["--confidence", f"{wanted.confidence:g}"]
    if wanted.tolerance is not None:
        words += ["--tolerance", f"{wanted.tolerance:g}"]
    if wanted.each != 1:
        words += ["--each", str(wanted.each)]
    if wanted.name != name:
        words += ["--name", wanted.name]
    if question := wanted.settings.get("question"):
        words += ["--question", question]
    if (ends := wanted.settings.get("ends")) is not None:
        words += ["--ends", ",".join(ends)]
    if wanted.settings.get("instructions"):
        words += ["--instructions", "instructions.md"]
    if practice := wanted.settings.get("practice"):
        words += ["--practice", str(practice)]
    draw = ["fewgold", "select", name, "--budget", str(wanted.budget)]
    why = "Begin the campaign."
    if 1 < len(table.systems) < len(table.all_systems):
        why += f" First keep only the rows of {listed(table.systems)} in the file."
    if wanted.settings.get("instructions"):
        why += " The instructions are in a file of that name."
    return [
        (shlex.join(words), why),
        (shlex.join(draw), "Draw the segments to rate."),
    ]
