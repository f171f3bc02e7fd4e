"""A study on disk: the pool, what was drawn from it and how, and every answer that came."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fewgold import formats, registry
from fewgold._arrays import FloatArray
from fewgold._version import __version__
from fewgold.campaign.answers import Receipt, adopt, check_ids, check_systems, receive
from fewgold.campaign.database import connect, create, database_path, now, snapshot, transaction
from fewgold.campaign.desk import Desk
from fewgold.campaign.settings import Settings, check_seed, load_settings, save_settings
from fewgold.campaign.waves import (
    Wave,
    check_left,
    load_pool,
    load_waves,
    load_whole,
    save_pool,
    save_wave,
    wave_seed,
)
from fewgold.errors import DataError, DesignError, FewgoldError
from fewgold.estimator import Estimator
from fewgold.formats import Names, Rating, Reading, Segment
from fewgold.missing import GapBounds, PartialRatings, estimate
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.samplers import Budget, Cost

if TYPE_CHECKING:
    from fewgold.campaign.status import Status
    from fewgold.estimate import Estimate
    from fewgold.formats import Tasks
    from fewgold.report import StudyReport

# Which waves an estimate goes by while answers are still coming.


# An answer that was there before the wave was drawn says nothing about whether raters are at it.
_LAST = """
SELECT COALESCE(MAX(waves.number), 0) FROM waves
WHERE EXISTS (
    SELECT 1 FROM drawn JOIN ratings USING (segment)
    WHERE wave = waves.number AND stored_at >= drawn_at
) OR n = (SELECT COUNT(DISTINCT segment) FROM drawn JOIN ratings USING (segment)
          WHERE wave = waves.number)
"""


def last_begun(database: sqlite3.Connection) -> int:
    """The last wave with an answer that came after it was drawn, or with all of them; else 0."""
    return int(database.execute(_LAST).fetchone()[0])


def begun(campaign: Campaign, last: int) -> int:
    """Of the first waves, up to ``last``, those that tell most with the answers that are there.

    A wave has the weight of its size from the moment that it is joined to those before. While few
    of its segments are rated these carry all of that weight, and the waves before tell more by
    themselves: the estimate would get worse with the first answers of a new wave. What counts is
    the effective size, 1/Σ influence² with gaps taken as chance, which depends on how segments were
    drawn and which of them are rated, and never on a score.
    """
    best, most = last, -1.0
    for count in range(last, 0, -1):
        try:
            design = campaign.partial(count).at_random().sample.design
        except DataError:  # no answers, or a strategy that learns and keeps the whole only
            break
        spent = float(np.square(design.influence).sum())
        size = np.inf if spent <= 0 else 1 / spent
        if size > most * (1 + 1e-9):
            best, most = count, size
        if design.kind in ("simple", "adaptive"):
            break  # waves of a simple sample are one sample: more of it tells more
    return best


# Which estimator a campaign estimates by.


def chosen_estimator(
    strategy: Estimator, estimator: Estimator | str | None, bound: str | None, pool: Pool
) -> Estimator:
    """The estimator that was asked for, else the strategy's own, with the campaign's bound."""
    if isinstance(estimator, Estimator):
        return estimator
    chosen = strategy
    if estimator is not None:
        chosen = registry.estimator(estimator.rpartition("+")[2], pool)
    if bound is None:
        return chosen
    by = bound if bound in ("equal", "hdi") else registry.bound(bound)
    return replace(chosen, bound=by)  # type: ignore[type-var]


def check_bound(strategy: Estimator, settings: Settings, pool: Pool) -> None:
    """Try the bound on a sample with made-up scores: better now than after all the rating."""
    if settings.bound is None:
        return
    chosen = chosen_estimator(strategy, None, settings.bound, pool)
    ends = settings.limits or (0.0, 1.0)
    sample = chosen.select(pool, min(20, len(pool)), rng=0)
    scores = np.where(np.arange(sample.n) % 3 == 0, ends[0], ends[1])
    try:
        chosen.estimate(sample.rate(scores, limits=settings.limits)).interval(settings.confidence)
    except DesignError as error:
        raise FewgoldError(
            f"the bound {settings.bound} does not go with {settings.strategy}: {error}"
        ) from None


class Campaign(Desk):
    """A study that lives in a file, from the first draw to the number.

    Everything that changes it is written at once and whole: when a method returns, its effect
    survives a crash. Several processes may work on one campaign.

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

    def __init__(self, path: str | Path, *, pool: Pool | None = None) -> None:
        self.path = database_path(path)
        self._database = connect(self.path)
        self.settings = load_settings(self._database)
        if pool is not None and pool.fingerprint == self.settings.fingerprint:
            self.__dict__["pool"] = pool  # read before, by somebody who opens it often

    @classmethod
    def create(
        cls,
        path: str | Path,
        pool: Pool,
        *,
        name: str | None = None,
        strategy: str | None = None,
        seed: int | None = None,
        **settings: Any,
    ) -> Campaign:
        """Begin a campaign in a new folder, or in a new file if ``path`` ends in ``.fewgold``.

        ``settings`` are those of `Settings`. Without a strategy it is the recommended one, without
        a seed a new one.
        """
        place = database_path(path)
        check_ids(pool)
        chosen = strategy or registry.recommended(pool)
        made = registry.strategy(chosen, pool)
        given = Settings(
            name=name or (place.parent.name if place.parent == Path(path) else place.stem),
            strategy=chosen if "+" in chosen else f"{made.sampler.name}+{made.name}",
            seed=secrets.randbelow(10**6) if seed is None else seed,
            fingerprint=pool.fingerprint,
            created_at=now(),
            version=__version__,
            **settings,
        )
        check_bound(made, given, pool)

        def fill(database: Any) -> None:
            save_pool(database, pool)
            save_settings(database, given)
            _note(database, "init", {"segments": len(pool), **asdict(given)})

        create(place, fill)
        return cls(path)

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

    @cached_property
    def pool(self) -> Pool:
        """The segments that could be rated."""
        return load_pool(self._database, self.settings.fingerprint)

    @cached_property
    def strategy(self) -> Estimator:
        """The estimator with its sampler."""
        return registry.strategy(self.settings.strategy, self.pool)

    @property
    def waves(self) -> list[Wave]:
        """Every draw, the first one first."""
        return load_waves(self._database)

    @property
    def sample(self) -> Sample:
        """All waves together, with the design that they make."""
        return self.first_waves()

    def first_waves(self, count: int | None = None) -> Sample:
        """The first waves together, all by default."""
        found = load_whole(self._database, self.pool, count)
        if found is not None:
            return found
        if self.waves and count:
            raise DataError(
                f"what the first {count} waves make by themselves is not kept, because "
                f"{self.settings.strategy} learns from answers. Take all waves."
            )
        raise DataError(
            "nothing was drawn yet. Choose segments first: fewgold select CAMPAIGN --budget N "
            "(campaign.select(n))."
        )

    @property
    def begun(self) -> int | None:
        """Waves that an estimate with gaps goes by; None if that is all of them.

        One without answers was not begun, and one with few tells less than those before alone.
        """
        count = begun(self, last_begun(self._database))
        if not 0 < count < len(self.waves):
            return None
        # A strategy that learns keeps the whole only: the last segment is a gap until its answer.
        return None if load_whole(self._database, self.pool, count) is None else count

    def change(self, **values: Any) -> None:
        """Change settings that do not touch what was drawn, and note it in the journal."""
        fixed = {"strategy", "seed", "fingerprint", "created_at", "version", "name"}
        if wrong := sorted(fixed & set(values)):
            raise FewgoldError(f"{', '.join(wrong)} cannot be changed once a campaign has begun.")
        changed = self.settings.changed(**values)
        with transaction(self._database) as database:
            self._check_scale(changed.limits)
            save_settings(database, changed)
            _note(database, "change", values)
        self.settings = changed

    def select(self, budget: Budget, *, seed: int | None = None) -> Wave:
        """Draw the first wave. A strategy that learns draws one segment at a time; see `next`."""
        if self.waves:
            drawn = sum(w.n for w in self.waves)
            raise FewgoldError(
                f"{drawn} segments were drawn already. Add further ones with --more N "
                "(campaign.more(n))."
            )
        step = self.strategy.sampler.step
        if step is None:
            return self._draw(budget, seed, before=0)
        self.change(budget=self.strategy.sampler.count(self.pool, budget))
        return self._draw(step, seed, before=0)

    def more(self, budget: Budget, *, seed: int | None = None) -> Wave:
        """Add a wave to what was drawn, so that all waves together still stand for the pool."""
        before = len(self.waves)
        if not before:
            raise FewgoldError("nothing was drawn yet. Draw the first wave with --budget N.")
        check_left(self.pool, self.sample.n)
        step = self.strategy.sampler.step
        if step is None:
            return self._draw(budget, seed, before)
        drawn = self.sample.n
        count = self.strategy.sampler.count(self.pool, budget, drawn)
        self.change(budget=max(self.settings.budget or 0, drawn) + count)
        return self._draw(step, seed, before)

    def _draw(self, budget: Budget, seed: int | None, before: int) -> Wave:
        number = before + 1
        own = wave_seed(self.settings.seed, number) if seed is None else check_seed(seed)
        given = self._given() if before else None
        sample = self.strategy.select(self.pool, budget, given=given, rng=own)
        # What the waves make together does not depend on the scores of the new one.
        whole = sample.rate(np.zeros(sample.n)).sample
        with transaction(self._database) as database:
            (last,) = database.execute("SELECT COALESCE(MAX(number), 0) FROM waves").fetchone()
            if last != before:
                raise DataError(
                    "somebody else drew a wave at the same moment. Look at the status, and draw "
                    "again if it is still wanted."
                )
            save_wave(
                database, sample, whole, number=number, strategy=self.settings.strategy, seed=own,
                budget=_plain_budget(budget),
            )  # fmt: skip
            _note(database, "select", {"wave": number, "n": sample.n, "seed": own})
        return self.waves[-1]

    def _given(self) -> Ratings:
        """What was drawn before, rated. Only strategies that learn look at the scores."""
        if self.strategy.sampler.step is not None:
            return self.ratings()
        sample = self.sample
        return Ratings(sample, np.zeros(sample.n))

    def next(self, rater: str = "", *, hold: float = 1800.0) -> Segment | None:
        """The next segment for a rater, or None if there is nothing to do for now.

        Segments come in a random order that the seed fixes, so that those rated first stand for
        the rest. One that was handed out is kept for its rater for ``hold`` seconds, so that two
        raters at once do not rate the same. A strategy that learns draws a further segment when
        all are rated, as long as the budget lasts.
        """
        from fewgold.campaign.tasks import segment
        from fewgold.campaign.waves import claim

        while True:
            with transaction(self._database) as database:
                place = claim(database, rater, self.settings.each, hold)
            if place is not None:
                return segment(self, place)
            step, spent = self.strategy.sampler.step, self.sample.n
            if step is None or spent >= min(self.settings.budget or 0, len(self.pool)):
                return None
            if self.unrated:
                return None  # it learns from answers that are still to come
            self._draw(step, None, len(self.waves))

    def add(self, ratings: Iterable[Rating], source: str = "library") -> Receipt:
        """Store answers. When this returns they are on the disk."""
        given = tuple(ratings)
        return self._store(Reading("ratings", len(given), len(given), given), source)

    def import_file(
        self, path: str | Path, format: str | None = None, names: Names | None = None, *,
        by: str = "", source: str = "",
    ) -> Receipt:  # fmt: skip
        """Store the answers of a file in any format of `fewgold.formats`.

        ``by`` is the rater of answers that do not name theirs. Sheets of two people who did not
        write their names would else pass for second thoughts of one. ``source`` is what to call
        the file, if not by its own name.
        """
        reading = formats.read(path, format, names or Names())
        if by:
            told = tuple(r if r.rater else replace(r, rater=by) for r in reading.ratings)
            reading = replace(reading, ratings=told)
        return self._store(reading, source or Path(path).name)

    def _store(self, reading: Reading, source: str) -> Receipt:
        check_systems(reading.ratings, self.pool, self.settings.system)
        with transaction(self._database) as database:
            receipt = receive(database, self.pool, self.settings, reading, source)
            _note(database, "import", receipt.counts())
        return receipt

    def adopt(self) -> int:
        """Let answers count that were set aside and whose segments were sampled since."""
        with transaction(self._database) as database:
            count = adopt(database)
            _note(database, "adopt", {"count": count})
        return count

    def scores(self, waves: int | None = None) -> FloatArray:
        """One score a sampled segment, in the order of `sample`, NaN where there is no answer."""
        from fewgold.campaign.answers import scores

        by_id = scores(self.answers(), self.settings)
        found = [by_id.get(i, np.nan) for i in self.first_waves(waves).ids.tolist()]
        return np.array(found, dtype=np.float64)

    @property
    def unrated(self) -> tuple[str, ...]:
        """Ids of sampled segments without an answer, in the order of drawing."""
        return tuple(self.sample.ids[np.isnan(self.scores())].tolist())

    def partial(self, waves: int | None = None) -> PartialRatings:
        """The scores of the first waves, all by default, with gaps."""
        return PartialRatings(self.first_waves(waves), self.scores(waves), self.settings.limits)

    def ratings(self, gaps: str = "wait") -> Ratings:
        """One score a sampled segment; ``at-random`` takes gaps as made by chance."""
        found = self.partial()
        if gaps == "wait":
            return found.complete()
        if gaps == "at-random":
            return found.at_random()
        raise FewgoldError(f"gaps must be wait or at-random to get ratings; got {gaps!r}.")

    def estimate(
        self,
        gaps: str = "wait",
        *,
        estimator: Estimator | str | None = None,
        cut: str | None = None,
        waves: int | None = None,
    ) -> Estimate | GapBounds:
        """The score of the whole pool.

        Parameters
        ----------
        gaps
            What to do about sampled segments without an answer. ``wait``: refuse. ``at-random``:
            take them as made by chance, with a warning; last waves with few answers or none
            are left out. ``bounds``: assume nothing, and let them have any score of the scale.
        estimator
            Instead of the strategy's own.
        cut
            Such as ``"<= 0"``: estimate the share of segments with such a score.
        waves
            Go by the first waves only, such as those before one that is not rated yet. They stand
            for the pool by themselves.
        """
        if gaps == "at-random" and waves is None:
            waves = self.begun
        found = self.partial(waves) if cut is None else self.partial(waves).cut(cut)
        chosen = self.estimator(estimator)
        return estimate(found, chosen, gaps, self.settings.confidence)

    def estimator(self, name: Estimator | str | None = None) -> Estimator:
        """The strategy's own estimator, or another one, with the campaign's bound."""
        return chosen_estimator(self.strategy, name, self.settings.bound, self.pool)

    def status(self) -> Status:
        """How far it has come, the estimate so far, and what is still wanting."""
        from fewgold.campaign.status import status

        with snapshot(self._database):
            return status(self)

    def report(self, gaps: str = "wait", **options: Any) -> StudyReport:
        """The report of the campaign; write it with ``.write("report.html")``.

        ``options`` are ``estimator``, ``cut``, ``confidence`` and ``title``.
        """
        from fewgold.campaign.report import report

        return report(self, gaps, **options)

    def tasks(self, which: str = "unrated", *, context: int = 2, masked: bool = True) -> Tasks:
        """Segments to have rated, with neighbours around them; ``all`` has rated ones as well.

        Ids and documents that could tell raters the system have other names, unless ``masked`` is
        False.
        """
        from fewgold.campaign.tasks import tasks

        return tasks(self, which, context, masked)


def _note(database: Any, what: str, details: dict[str, Any]) -> None:
    database.execute(
        "INSERT INTO journal (at, what, details) VALUES (?, ?, ?)",
        (now(), what, json.dumps(details, default=str)),
    )


def _plain_budget(budget: Budget) -> Any:
    return asdict(budget) if isinstance(budget, Cost) else budget
