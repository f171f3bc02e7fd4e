"""A study on disk: the pool, what was drawn from it and how, and every answer."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from fewgold import formats, registry
from fewgold._version import __version__
from fewgold.campaign import adjudication, checks, practice, sides, systems
from fewgold.campaign.answers import (
    Receipt,
    adopt,
    answers_to,
    check_ids,
    check_systems,
    receive,
    scores,
)
from fewgold.campaign.database import FILE, database_path, now
from fewgold.campaign.desk import Desk, segment, tasks, tasks_for
from fewgold.campaign.settings import Settings, check_seed
from fewgold.campaign.store import Overtaken, Store, Wave, wave_seed
from fewgold.campaign.systems import OneSystem
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import as_names, check_choice
from fewgold.criteria import directed
from fewgold.errors import DataError, DesignError, FewgoldError, UnknownNameError
from fewgold.estimator import Estimator
from fewgold.formats import Names, Rating, Reading, Segment, handout
from fewgold.missing import GapBounds, PartialRatings, estimate, ratings_for
from fewgold.pool import Pool
from fewgold.sample import Assumption, Ratings, Sample
from fewgold.samplers import Budget, Cost
from fewgold.samplers.incremental import Incremental
from fewgold.slices import LEAST

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.bayes.pairwise import Preferences
    from fewgold.campaign.practice import PracticeItem
    from fewgold.campaign.status import Status
    from fewgold.campaign.work import Work
    from fewgold.comparison import Comparison, PairRanking, SlicedComparison
    from fewgold.criteria import CriteriaEstimate, CriteriaRatings
    from fewgold.estimate import Estimate
    from fewgold.formats import Tasks
    from fewgold.report import StudyReport
    from fewgold.report.comparison_page import ComparisonReport
    from fewgold.slices import Slices


class Campaign:
    """A study in a file, from the first draw to the final score.

    Every change is written at once, whole or not at all: when a method returns, its effect survives
    a crash. Several processes may work on one campaign. Its ``store`` is the file with all tables,
    and its ``desk`` is for what raters do: links, rating, skipping, undoing.

    Examples
    --------
    >>> import tempfile, fewgold as fg
    >>> pool, human = fg.datasets.load_demo()
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = Campaign.create(folder.name + "/study", pool, seed=1, limits="mqm")
    >>> wave = study.select(60)
    >>> scores = dict(zip(pool.ids.tolist(), human.tolist()))
    >>> receipt = study.add(fg.formats.Rating(i, scores[i], "ann") for i in wave.ids)
    >>> receipt.stored, study.estimate().n
    (60, 60)
    >>> study.close(); folder.cleanup()
    """

    def __init__(
        self, path: str | Path | Store | OneSystem, *, pool: Pool | None = None
    ) -> None:  # fmt: skip
        # A `OneSystem` answers the same questions as a `Store`, but nothing can be written to it.
        self.store = Store(path) if isinstance(path, str | Path) else cast("Store", path)
        self.desk = Desk(self.store)
        self.path = self.store.path
        if pool is not None and pool.fingerprint == self.settings.fingerprint:
            self.store.__dict__["pool"] = pool  # already read by a caller that opens it often

    @classmethod
    def create(
        cls, path: str | Path, pool: Pool, *, name: str | None = None,
        strategy: str | None = None, seed: int | None = None, segments: Any = None,
        shared: bool = True, labels: Mapping[str, Any] | None = None, **settings: Any,
    ) -> Campaign:  # fmt: skip
        """Begin a campaign in a new folder, or in a new file if ``path`` ends in ``.fewgold``.

        ``settings`` are those of `Settings`. The default strategy is the recommended one, and the
        default seed is random.

        To compare several systems, ``pool`` has one row per output, with its system, and
        ``segments`` has the segment of each row. All systems are rated on the same segments, unless
        ``shared`` is False; then each has its own sample.

        ``labels`` are columns for slices that raters do not see, such as the language of each row.
        """
        place = database_path(path)
        check_ids(pool)
        outputs: Any = None
        names: tuple[str, ...] = ()
        drawn_from = [pool]
        if segments is not None:
            outputs = np.array([str(s) for s in np.asarray(segments).tolist()], dtype=object)
            if outputs.size != len(pool):
                raise DataError(
                    f"there are {outputs.size} segments for {len(pool)} outputs. Name one for each."
                )
            names = systems.names_of(pool, outputs)
            drawn_from = [systems.joint(pool, outputs)]
            if not shared:
                drawn_from = [systems.alone(pool, outputs, name)[0] for name in names]
        chosen = strategy or registry.recommended(drawn_from[0])
        made = registry.strategy(chosen, drawn_from[0], uniform=settings.get("uniform"))
        if names and made.sampler.step is not None:
            raise FewgoldError(
                f"{chosen} learns from each answer which segment comes next, and works for one "
                "system only. For several systems choose another strategy, such as the "
                "recommended one."
            )
        given = Settings(
            name=name or (place.parent.name if place.parent == Path(path) else place.stem),
            strategy=chosen if "+" in chosen else f"{made.sampler.name}+{made.name}",
            seed=secrets.randbelow(10**6) if seed is None else seed,
            fingerprint=pool.fingerprint,
            created_at=now(),
            version=__version__,
            systems=names,
            shared=shared,
            **settings,
        )
        if given.sides:
            sides.check(pool, given.sides)
        if (chances := getattr(made.sampler, "chances", None)) is not None:
            chances._check_scale(given.limits)
        for each in drawn_from:
            _check_bound(registry.strategy(chosen, each, uniform=given.uniform), given, each)
        Store.create(path, pool, given, outputs, labels)
        return cls(path)

    def of(self, system: str) -> Campaign:
        """The part of a campaign of several systems that is about one of them, read only.

        It is a campaign with the outputs of this system, its part of the sample and its answers:
        ``of("A").estimate()``, ``.status()``, ``.report()``. Draw and rate in the whole campaign.
        """
        return Campaign(OneSystem(self.store, system))

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that are compared; none if the campaign is about a single system."""
        return self.settings.systems

    def compare(
        self, gaps: str = "wait", *, waves: int | None = None, criterion: str | None = None,
        **options: Any,
    ) -> Comparison:  # fmt: skip
        """Compare the systems: differences, ranks and groups.

        Parameters
        ----------
        gaps
            What to do about chosen outputs without an answer. ``wait``: refuse. ``at-random``:
            assume that they are missing at random and compare pairs on the segments that both have.
        waves
            Use the first waves only.
        criterion
            One of several criteria; by default the first.
        options
            As in `fewgold.comparison.compare`: ``target``, ``unit``, ``correction``, ``level``,
            ``higher_is_better``, ``control``, ``adjust_raters``.
        """
        check_choice("gaps", gaps, ("wait", "at-random"))
        made: Comparison = systems.compare(self, gaps, waves, criterion, **options)
        return made

    def compare_by(
        self, by: str | Sequence[str], gaps: str = "wait", *, least: int = LEAST,
        waves: int | None = None, criterion: str | None = None, **options: Any,
    ) -> SlicedComparison:  # fmt: skip
        """Compare the systems within each slice, and on all segments.

        ``by`` and ``least`` are as in `fewgold.comparison.compare_by`, everything else as in
        `compare`.
        """
        check_choice("gaps", gaps, ("wait", "at-random"))
        if not as_names(by):
            raise FewgoldError("name a column to slice by, such as by='language'.")
        made: SlicedComparison = systems.compare(self, gaps, waves, criterion, by, least, **options)
        return made

    def slicing(self, by: str | Sequence[str]) -> dict[str, NDArray[Any]]:
        """Columns to slice by: by name, one value per row of the pool."""
        pool = self.pool
        known: dict[str, Any] = {"document": pool.documents, **pool.texts, **self.labels}
        known |= {n: v for n, v in pool.metrics.items() if n not in known}
        known = {name: values for name, values in known.items() if values is not None}
        for name in as_names(by):
            if name not in known:
                hint = {
                    "python": "To keep more columns: Campaign.create(labels=…).",
                    "cli": "To keep more columns: fewgold init --by.",
                    "web": "Other columns can only be kept when a campaign begins.",
                }
                raise UnknownNameError("column", name, known, hint)
        return {name: np.asarray(known[name]) for name in as_names(by)}

    def slices(
        self, by: str | Sequence[str], gaps: str = "wait", *, estimator: Any = None,
        cut: str | None = None, waves: int | None = None, criterion: str | None = None,
        **options: Any,
    ) -> Slices:  # fmt: skip
        """The scores of slices, each with its own interval.

        Parameters
        ----------
        by
            A column, or several to cross: a text, a label (`labels`) or ``"document"``.
        gaps, estimator, cut, waves, criterion
            As in `estimate`; ``gaps`` is ``wait`` or ``at-random``.
        options
            As in `fewgold.slices.slices`: ``least``, ``shrink``, ``weights``, ``target``.
        """
        from fewgold.slices import slices

        check_choice("gaps", gaps, ("wait", "at-random"))
        if gaps == "at-random" and waves is None:
            waves = waves_to_use(self)
        found = self._partial(waves, criterion)
        found = found if cut is None else found.cut(cut)
        made = self._estimator(estimator)
        if criterion is not None:
            made = directed(made, self.settings.criterion(criterion))
        return slices(ratings_for(found, made, gaps), made, self.slicing(by), **options)

    @property
    def labels(self) -> dict[str, NDArray[Any]]:
        """Columns for slices, hidden from raters: by name, one label per row of the pool."""
        return self.store.labels

    def close(self) -> None:
        """Close the file. The campaign remains on disk."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def __repr__(self) -> str:
        waves = self.waves
        return (
            f"Campaign({self.settings.name!r}, {sum(w.n for w in waves)} of {len(self.pool)} "
            f"segments in {len(waves)} wave{'s' if len(waves) != 1 else ''})"
        )

    @property
    def settings(self) -> Settings:
        """The settings, with later changes."""
        return self.store.settings

    @property
    def pool(self) -> Pool:
        """The segments that could be rated."""
        return self.store.pool

    @cached_property
    def _strategy(self) -> Estimator:
        """The estimator, with its sampler."""
        settings = self.settings
        return registry.strategy(settings.strategy, self.store.frame, uniform=settings.uniform)

    @property
    def _learns_stepwise(self) -> bool:
        """Whether more segments are drawn as soon as all are rated; never with several systems."""
        return not self.systems and self._strategy.sampler.step is not None

    @property
    def waves(self) -> list[Wave]:
        """All draws, first to last."""
        return self.store.waves()

    @property
    def sample(self) -> Sample:
        """All waves as one sample, with their joint design."""
        return self.store.sample()

    def change(self, **values: Any) -> None:
        """Change settings that do not affect what was drawn, and note it in the journal."""
        fixed = {"strategy", "seed", "fingerprint", "created_at", "version", "name", "uniform",
                 "criteria", "sides"}  # fmt: skip
        if wrong := sorted(fixed & set(values)):
            raise FewgoldError(f"{', '.join(wrong)} cannot be changed once a campaign has begun.")
        self.store.change(replace(self.settings, **values), values)

    def select(self, budget: Budget, *, seed: int | None = None) -> Wave:
        """Draw the first wave. A strategy that learns draws one segment at a time; see `next`."""
        if self.waves:
            raise FewgoldError(
                "segments have been drawn already.",
                hints={
                    "python": "Add more with campaign.more(n).",
                    "cli": "Add more with --more N.",
                    "web": "Add a wave instead.",
                },
            )
        if not self._learns_stepwise:
            return self._draw(budget, seed, before=0)
        self.change(budget=self._strategy.sampler.count(self.pool, budget))
        return self._draw(self._strategy.sampler.step or 1, seed, before=0)

    def more(self, budget: Budget, *, seed: int | None = None) -> Wave:
        """Add a wave, so that all waves together still represent the pool."""
        before = len(self.waves)
        if not before:
            raise FewgoldError(
                "nothing has been drawn yet.",
                hints={
                    "python": "Draw the first wave with campaign.select(n).",
                    "cli": "Draw the first wave with --budget N.",
                },
            )
        drawn, size = self.store.drawn().size, len(self.pool)
        if drawn >= size:
            raise FewgoldError(
                f"all {drawn} {'outputs' if self.systems else 'segments'} of the pool have been "
                "drawn already, so there is nothing to add."
            )
        if not self._learns_stepwise:
            return self._draw(budget, seed, before)
        count = self._strategy.sampler.count(self.pool, budget, drawn)
        self.change(budget=max(self.settings.budget or 0, drawn) + count)
        return self._draw(self._strategy.sampler.step or 1, seed, before)

    def _draw(self, budget: Budget, seed: int | None, before: int) -> Wave:
        number = before + 1
        own = wave_seed(self.settings.seed, number) if seed is None else check_seed(seed)
        spent = asdict(budget) if isinstance(budget, Cost) else budget
        draws = {}
        if self.systems and not self.settings.shared:
            for k, name in enumerate(self.systems):
                part = self.of(name)
                draws[name] = _drawn(part, part.pool, budget, np.random.default_rng([own, k]))
        else:
            draws[""] = _drawn(self, self.store.frame, budget, own)
        self.store.add_wave(draws, number=number, seed=own, budget=spent)
        return self.waves[-1]

    def next(self, rater: str = "", *, hold: float | None = None) -> Segment | None:
        """The next segment for a rater, or None if there is nothing to do at the moment.

        Segments come in a random order fixed by the seed, so those rated first represent the rest.
        A segment is kept for its rater for ``hold`` seconds (by default that of the settings), so
        two raters do not rate the same one. A strategy that learns draws another segment when all
        others are rated or taken, until the budget is used up, so that no rater has to wait.
        """
        place = next_place(self, rater, hold)
        if place is None:
            if not self.store.drawn().size:
                self.store.sample()  # raises an error, since nothing has been drawn yet
            return None
        return segment(self, place, rater=rater)

    def add(self, ratings: Iterable[Rating], source: str = "library") -> Receipt:
        """Store answers. When this returns they are on disk."""
        given = tuple(ratings)
        return self._store(Reading("ratings", len(given), len(given), given), source)

    def import_file(
        self, path: str | Path, format: str | None = None, names: Names | None = None, *,
        by: str = "", source: str = "",
    ) -> Receipt:  # fmt: skip
        """Store the answers of a file in any format of `fewgold.formats`.

        ``by`` is the rater of answers that do not name one. Without it, sheets of two people who
        did not write their names would count as two answers of one person. ``source`` is a name to
        record instead of the file's own.
        """
        criteria = self.settings.criteria
        reading = formats.read(path, format, names or Names(), criteria)
        if by:
            told = tuple(r if r.rater else replace(r, rater=by) for r in reading.ratings)
            reading = replace(reading, ratings=told)
        return self._store(reading, source or Path(path).name)

    def _store(self, reading: Reading, source: str) -> Receipt:
        check_systems(reading.ratings, self.pool, self.settings.system)
        with self.store.transaction() as database:
            return receive(database, self.pool, self.settings, reading, source)

    def adopt(self) -> int:
        """Let answers count that were set aside but whose segments have since been sampled."""
        with self.store.transaction() as database:
            return adopt(database)

    def answers(self) -> pd.DataFrame:
        """Every answer that counts, in the order of arrival: segment, score, rater, time, …

        Several criteria have a column each, with NaN if an answer has no score for one.
        """
        return self.store.answers()

    def scores(self, waves: int | None = None, criterion: str | None = None) -> FloatArray:
        """One score per sampled segment, in the order of `sample`; NaN without an answer.

        With several criteria, the first one unless another is named.
        """
        sample = self.store.sample(waves)
        return _scores(sample, self.answers(), self.settings, self.store.settled(), criterion)

    @property
    def unrated(self) -> tuple[str, ...]:
        """Ids of drawn segments that lack an answer to any criterion, in the order of drawing."""
        return systems.unrated(self)

    def _partial(self, waves: int | None = None, criterion: str | None = None) -> PartialRatings:
        """The scores of the first waves (by default all), with gaps."""
        if self.systems:
            raise FewgoldError(
                f"this campaign has {len(self.systems)} systems, each with its own score.",
                hints={
                    "python": f"Take one, such as campaign.of({self.systems[0]!r}), or compare "
                    "them: campaign.compare().",
                    "cli": f"Name one, such as --system {self.systems[0]}, or compare them with "
                    "fewgold compare.",
                    "web": "Choose one of them, or compare them.",
                },
            )
        return partial_ratings(self.store, self.answers(), waves, criterion)

    def criteria_ratings(self, waves: int | None = None) -> CriteriaRatings:
        """The scores of every criterion, with gaps."""
        from fewgold.criteria import CriteriaRatings

        criteria = self.settings.criteria
        if not criteria:
            raise FewgoldError("this campaign has a single score, not several criteria.")
        answers = self.answers()
        parts = {c.name: partial_ratings(self.store, answers, waves, c.name) for c in criteria}
        return CriteriaRatings(criteria, parts)

    def estimates(
        self, gaps: str = "wait", *, estimator: Estimator | str | None = None,
        cut: str | None = None, waves: int | None = None, target: str = "pool",
    ) -> CriteriaEstimate:  # fmt: skip
        """The scores of all criteria side by side; options as those of `estimate`."""
        if gaps == "at-random" and waves is None:
            waves = waves_to_use(self)
        found = self.criteria_ratings(waves)
        found = found if cut is None else found.cut(cut)
        level = self.settings.confidence
        made = self._estimator(estimator)
        return found.estimate(made, gaps, target=target, confidence=level)

    def ratings(self, gaps: str = "wait", criterion: str | None = None) -> Ratings:
        """One score per sampled segment; ``at-random`` assumes that gaps are random.

        Of several criteria the first one, unless ``criterion`` names another.
        """
        if gaps not in ("wait", "at-random"):
            raise FewgoldError(f"gaps must be wait or at-random to get ratings; got {gaps!r}.")
        partial = self._partial(criterion=criterion)
        return partial.complete() if gaps == "wait" else partial.at_random()

    def estimate(
        self, gaps: str = "wait", *, estimator: Estimator | str | None = None,
        cut: str | None = None, waves: int | None = None, criterion: str | None = None,
    ) -> Estimate | GapBounds:  # fmt: skip
        """The score of the whole pool.

        Parameters
        ----------
        gaps
            What to do about sampled segments without an answer. ``wait``: refuse. ``at-random``:
            assume that they are missing at random, with a warning; last waves with few answers or
            none are left out. ``bounds``: assume nothing; they may have any score on the scale.
        estimator
            Another estimator than the strategy's own.
        cut
            Estimate the share of segments whose score satisfies a condition, such as ``"<= 0"``.
        waves
            Use the first waves only, for example those before a wave that is not rated yet. They
            represent the pool by themselves.
        criterion
            One of several criteria; by default the first. `estimates` returns all of them.
        """
        if gaps == "at-random" and waves is None:
            waves = waves_to_use(self)
        found = self._partial(waves, criterion)
        found = found if cut is None else found.cut(cut)
        made = self._estimator(estimator)
        if criterion is not None:
            made = directed(made, self.settings.criterion(criterion))
        return estimate(found, made, gaps, self.settings.confidence)

    def _estimator(self, name: Estimator | str | None = None) -> Estimator:
        """The strategy's own estimator, or another one, with the campaign's bound."""
        return _with_bound(self._strategy, name, self.settings.bound, self.pool)

    def status(self) -> Status:
        """The progress of the campaign, the estimate so far, and what is still missing."""
        from fewgold.campaign.status import status

        with self.store.snapshot():
            return status(self)

    def work(self) -> Work:
        """What raters did: answers, time, attention checks, and agreement as it grows."""
        from fewgold.campaign.work import work

        return work(self)

    def preferences(
        self, judges: str | Sequence[str] = (), *, target: str = "pool"
    ) -> Preferences | PairRanking:
        """Which system people prefer, in a campaign with outputs side by side.

        For two systems whose pairs were drawn at random, the posterior of the shares; otherwise the
        strengths of the Bradley–Terry model. ``judges`` are metrics of the pool that are above 0 if
        the first output is better.
        """
        return sides.preferences(self, judges, target)

    def set_known(self, answers: Mapping[str, float | tuple[float, float]]) -> int:
        """Set the right answers to some segments, which raters get as attention checks.

        ``answers`` has for each id the right score, or the lowest and highest one. Checks are
        handed out if ``check_every`` is set, and never enter the estimate.
        """
        both = {
            id: (told, told) if isinstance(told, int | float) else told
            for id, told in answers.items()
        }
        return checks.set_known(self.store, both)

    def practise_on(self, items: Iterable[PracticeItem]) -> int:
        """Choose the segments that new raters practise on, with optional answers and explanations.

        If the setting ``practice`` asks for more, others are added at random. All must be outside
        the sample, and answers to them never count.
        """
        return practice.name_items(self.store, list(items))

    def differing(self, *, settled: bool = False) -> pd.DataFrame:
        """Unsettled segments on which raters differ by ``differ`` or more, largest difference
        first.

        With ``settled``, includes the settled ones with their score.
        """
        return adjudication.queue(self.store, settled=settled)

    def settle(self, segment: str, score: float, *, by: str, comment: str = "") -> bool:
        """Store an adjudicator's score for a segment on which raters differ.

        False if the same score was stored before. The setting ``adjudication`` says whether it
        replaces the answers or joins them. A pair is settled as it is rated: 1, 0 or −1 under its
        id (1 if the first output is better), or a code under its key (1 if the left one is).
        """
        details = {"comment": comment} if comment else {}
        told = Rating(segment, score, by, now(), answer=secrets.token_hex(8), details=details)
        return adjudication.settle(self.store, told)

    def report(self, gaps: str = "wait", **options: Any) -> StudyReport | ComparisonReport:
        """The report of the campaign. Write it with ``.write("report.html")``.

        ``options`` are ``estimator``, ``cut``, ``confidence`` and ``title``. With several systems
        it reports their comparison, with the options ``confidence``, ``title`` and ``by``
        (slices); ``of("A").report()`` is about one of them.
        """
        if self.systems:
            return systems.report(self, gaps, **options)
        return _report(self, gaps, **options)

    def tasks(self, which: str = "unrated", *, context: int = 2, masked: bool = True) -> Tasks:
        """Segments to rate, with their neighbours; ``all`` includes those already rated.

        Ids and documents that could reveal the system get other names, unless ``masked`` is False.
        """
        return tasks(self, which, context, masked)

    def tasks_for(
        self, raters: Sequence[str], which: str = "unrated", *, context: int = 2
    ) -> dict[str, Tasks]:
        """Segments for each of some raters, in a different random order for each.

        Each segment goes to as many raters as it still needs (``each``), shared out evenly, and
        documents stay together. With outputs side by side, left and right are random for each
        rater.
        """
        return tasks_for(self, handout.raters_of(as_names(raters)), which, context)


def next_place(campaign: Campaign, rater: str, hold: float | None = None) -> int | None:
    """The row of the next segment for a rater; see `Campaign.next`."""
    while True:
        place = campaign.desk.claim(rater, hold)
        if place is not None or not campaign._learns_stepwise:
            return place
        waves, most = campaign.waves, min(campaign.settings.budget or 0, len(campaign.pool))
        if not waves or sum(wave.n for wave in waves) >= most:
            return None  # nothing left to draw
        # Segments that others have open, or that were skipped, count as taken. The strategy learns
        # from them once they are rated.
        with suppress(Overtaken):  # another rater has drawn a segment at the same moment
            campaign._draw(campaign._strategy.sampler.step or 1, None, len(waves))


def _drawn(
    campaign: Campaign, pool: Pool, budget: Budget, seed: Any
) -> tuple[Sample, Sample]:  # fmt: skip
    """A wave of a sample, and the joint sample of it and the waves before."""
    given, sampler = None, campaign._strategy.sampler
    if campaign.waves and isinstance(sampler, Incremental) and not campaign.settings.systems:
        count = sampler.count(pool, budget, campaign.sample.n)
        sample = sampler.draw_meanwhile(campaign.sample, campaign.scores(), count, rng=seed)
    else:
        if campaign.waves:  # only strategies that learn look at the scores
            if not sampler._learns:
                given = Ratings(campaign.sample, np.zeros(campaign.sample.n))
            else:
                given = systems.joint_ratings(campaign) if campaign.systems else campaign.ratings()
        sample = campaign._strategy.select(pool, budget, given=given, rng=seed)
    # The joint sample does not depend on the scores of the new wave.
    return sample, sample.rate(np.zeros(sample.n)).sample


# Estimators and bounds


def _with_bound(
    strategy: Estimator, estimator: Estimator | str | None, bound: str | None, pool: Pool
) -> Estimator:
    """The given estimator, or the strategy's own, with the campaign's bound."""
    if isinstance(estimator, Estimator):
        return estimator
    chosen = strategy
    if estimator is not None:
        chosen = registry.estimator(estimator.rpartition("+")[2], pool)
    if bound is None:
        return chosen
    by = bound if bound in ("equal", "hdi") else registry.bound(bound)
    return replace(chosen, bound=by)  # type: ignore[type-var]


def _check_bound(strategy: Estimator, settings: Settings, pool: Pool) -> None:
    """Try the bound on a sample with made-up scores, so that it fails now and not after rating."""
    if settings.bound is None:
        return
    chosen = _with_bound(strategy, None, settings.bound, pool)
    ends = settings.limits or (0.0, 1.0)
    sample = chosen.select(pool, min(20, len(pool)), rng=0)
    scores = np.where(np.arange(sample.n) % 3 == 0, ends[0], ends[1])
    try:
        chosen.estimate(sample.rate(scores, limits=settings.limits)).interval(settings.confidence)
    except DesignError as error:
        raise FewgoldError(
            f"the bound {settings.bound} cannot be used with {settings.strategy}: {error.message}",
            hints=error.hints,
        ) from None


# Estimates while answers are still coming


def partial_ratings(
    store: Store, answers: pd.DataFrame, waves: int | None, criterion: str | None = None
) -> PartialRatings:
    """The scores of the first waves (by default all) from the answers, with gaps."""
    sample, settings, settled = store.sample(waves), store.settings, store.settled()
    limits = settings.limits if criterion is None else settings.criterion(criterion).limits
    found = _scores(sample, answers, settings, settled, criterion)
    if criterion is not None and criterion != settings.criteria[0].name:
        settled = {}
    if count := sum(str(i) in settled for i in sample.ids[~np.isnan(found)].tolist()):
        told = Assumption(_settled_note(count, settings), f"{settings.adjudication}({count})")
        sample = replace(sample, info=replace(sample.info, adjudicated=told))
    return PartialRatings(sample, found, limits)


def _scores(
    sample: Sample, answers: pd.DataFrame, settings: Settings, settled: Mapping[str, float],
    criterion: str | None = None,
) -> FloatArray:  # fmt: skip
    by_id = scores(answers, settings, settled, criterion)
    return np.array([by_id.get(str(i), np.nan) for i in sample.ids.tolist()], dtype=np.float64)


def _settled_note(count: int, settings: Settings) -> str:
    """What readers should know about settled scores."""
    way = "instead of" if settings.adjudication == "replaces" else "beside"
    many = "1 segment has a score" if count == 1 else f"{count} segments have scores"
    return (
        f"{many} settled by an adjudicator, which counts {way} the raters' answers, because "
        f"these differ by {settings.differ:g} or more"
    )


def waves_to_use(campaign: Campaign) -> int | None:
    """How many of the first waves an estimate with gaps uses; None for all."""
    store = campaign.store
    # With several systems on the same segments, a segment counts once one of its outputs is rated.
    answers = store.answers("") if campaign.systems else campaign.answers()
    last = store.last_wave_with_answers()
    count = most_informative(lambda waves: partial_ratings(store, answers, waves), last)
    if not 0 < count < len(campaign.waves):
        return None
    try:
        store.sample(count)
    except DataError:
        # A strategy that learns keeps the design of all waves only, and its last segment is a gap
        # until its answer comes.
        return None
    return count


def most_informative(partial: Callable[[int], PartialRatings], last: int) -> int:
    """The number of first waves, up to ``last``, whose answers have the most information.

    A new wave has the weight of its size as soon as it joins the waves before. While few of its
    segments are rated, these few carry all of that weight, so the estimate would get worse with the
    first answers, and the earlier waves alone are better. The criterion is the effective size, 1/Σ
    influence² with gaps at random. It depends on how segments were drawn and which of them are
    rated, never on a score.
    """
    best, most = last, -1.0
    for count in range(last, 0, -1):
        try:
            design = partial(count).at_random().sample.design
        except DataError:  # no answers, or a strategy that learns
            break
        spent = float(np.square(design.influence).sum())
        size = np.inf if spent <= 0 else 1 / spent
        if size > most * (1 + 1e-9):
            best, most = count, size
        if design.kind in ("simple", "adaptive"):
            break  # waves of a simple random sample are one sample, and more of it is better
    return best


# The report


def _report(
    campaign: Campaign, gaps: str, *, estimator: Estimator | str | None = None,
    cut: str | None = None, confidence: float | None = None, title: str | None = None,
) -> StudyReport:  # fmt: skip
    from fewgold.report import study_report

    check_choice("gaps", gaps, ("wait", "at-random"))
    settings, chosen = campaign.settings, campaign._estimator(estimator)
    level = confidence or settings.confidence
    partial = campaign._partial(waves_to_use(campaign) if gaps == "at-random" else None)
    partial = partial if cut is None else partial.cut(cut)
    told: dict[str, Any] = {"commands": [_command(campaign, gaps, cut, estimator, confidence)]}
    if settings.tolerance is not None and cut is None:
        told["tolerance"] = settings.tolerance
    if settings.criteria:
        told["score"] = settings.criteria[0].name
    preferred = None
    if settings.sides:
        own = campaign.pool.system is None
        told["score"] = f"preference for {settings.sides[0] if own else 'the first output'}"
        try:
            preferred = _preferred(campaign, level)
        except FewgoldError as error:
            told["ranking"] = f"not possible: {error.message_for('web')}"
    if settings.chances:
        told["chances"] = settings.chances
    if settings.system is not None:
        told["system"] = settings.system
    if gaps == "at-random" and partial.missing.size:
        told["gaps"] = "taken as missing at random"
        if partial.limits is not None:
            low, high = partial.bounds(chosen).interval(level)
            told["worst_case"] = (float(low), float(high))
    waves = []
    for wave in campaign.waves:
        row: dict[str, Any] = {
            "number": wave.number, "n": wave.n, "seed": wave.seed, "strategy": wave.strategy,
            "date": wave.drawn_at[:10],
        }  # fmt: skip
        with suppress(FewgoldError):  # answers are missing, or the strategy learns
            made = campaign.estimate(estimator=chosen, cut=cut, waves=wave.number).to_dict(level)
            row |= {name: made[name] for name in ("value", "low", "high")}
        waves.append(row)
    page = study_report(
        ratings_for(partial, chosen, gaps), chosen, strategy=settings.strategy,
        title=title or settings.name, confidence=level, answers=_leading(campaign), waves=waves,
        unrated=partial.missing.tolist(), strays=len(campaign.store.set_aside()), context=told,
    )  # fmt: skip
    return page if preferred is None else replace(page, preferences=preferred)


def _preferred(campaign: Campaign, level: float) -> Preferences | PairRanking:
    """Which system people prefer, with intervals of this level."""
    from fewgold.comparison import PairRanking

    found = campaign.preferences()
    return replace(found, level=1 - level) if isinstance(found, PairRanking) else found


def _leading(campaign: Campaign) -> pd.DataFrame:
    """The answers, to the first criterion if there are several."""
    criteria = campaign.settings.criteria
    return answers_to(campaign.answers(), criteria[0].name) if criteria else campaign.answers()


def _command(
    campaign: Campaign, gaps: str, cut: str | None, estimator: Estimator | str | None,
    confidence: float | None,
) -> str:  # fmt: skip
    """The command that reproduces the estimate of the report."""
    place = campaign.path.parent if campaign.path.name == FILE else campaign.path
    named = estimator.name if isinstance(estimator, Estimator) else estimator
    options: dict[str, str | None] = {
        "--gaps": None if gaps == "wait" else gaps, "--adequate": cut, "--estimator": named,
        "--confidence": None if confidence is None else repr(confidence),
    }  # fmt: skip
    if isinstance(campaign.store, OneSystem):
        options["--system"] = campaign.store.system
    words = [word for name, value in options.items() if value is not None for word in (name, value)]
    return shlex.join(["fewgold", "estimate", place.as_posix(), *words])
