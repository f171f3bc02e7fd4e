"""Samples and their design, and the human scores of the sampled segments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.checks import Limits, as_limits
from fewgold.common.text import counted, html_table, verb
from fewgold.cut import Cut
from fewgold.design import Design
from fewgold.errors import DataError, DesignError
from fewgold.io.columns import told_orientation
from fewgold.pool import Pool

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.chosen import Chosen, Labelled

__all__ = ["Design", "Ratings", "Sample"]


def _sheets() -> Any:
    """The module of sheets, imported late because it depends on this one."""
    return import_module("fewgold.sheets")


@dataclass(frozen=True)
class GapHandling:
    """How sampled segments without a rating were handled.

    ``note`` is for readers, ``code`` for signatures; ``unrated`` counts the segments dropped from
    the sample for lack of a rating.
    """

    note: str
    code: str
    unrated: int = 0


@dataclass(frozen=True)
class Assumption:
    """An assumption about existing labels: a sentence for readers and a code for signatures.

    ``numbered`` says that the rows have no ids but their numbers, which mean nothing elsewhere.
    """

    note: str
    code: str
    numbered: bool = False


@dataclass(frozen=True)
class SampleInfo:
    """Where a sample and its ratings come from, for signatures, files and reports.

    There is one sampler and one seed (where known), or one for each wave if they differ.
    """

    samplers: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    adequate: str | None = None  # the cut that turned scores into 0 and 1, such as "<= 0"
    gaps: GapHandling | None = None
    chosen: Assumption | None = None  # how rows that were not drawn by fewgold were chosen
    target: str | None = None  # "process" if results are about new segments like these
    adjudicated: Assumption | None = None  # how disagreements between raters were resolved

    @property
    def sampler(self) -> str | None:
        """The sampler; if waves differ, all of them, such as ``random+docs-sys``."""
        return "+".join(self.samplers) or None

    @property
    def seed(self) -> int | str | None:
        """The seed; if waves differ, all of them, such as ``1+2``."""
        if len(self.seeds) > 1:
            return "+".join(map(str, self.seeds))
        return self.seeds[0] if self.seeds else None

    def then(self, wave: SampleInfo) -> SampleInfo:
        """Combine the information of two waves."""

        def both(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
            return first if first == second else first + second

        return SampleInfo(
            both(self.samplers, wave.samplers),
            both(self.seeds, wave.seeds),
            wave.adequate or self.adequate,
            wave.gaps or self.gaps,
            wave.chosen or self.chosen,
            wave.target or self.target,
            wave.adjudicated or self.adjudicated,
        )

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for files, without unknown entries."""
        gaps = self.gaps
        found = {
            "sampler": self.sampler,
            "seed": self.seed,
            "adequate": self.adequate,
            "gaps": None if gaps is None else gaps.note,
            "gaps_signed": None if gaps is None else gaps.code,
            "unrated": None if gaps is None else gaps.unrated or None,
            "chosen": None if self.chosen is None else self.chosen.code,
            "chosen_note": None if self.chosen is None else self.chosen.note,
            "target": self.target,
            "adjudicated": None if self.adjudicated is None else self.adjudicated.code,
            "adjudicated_note": None if self.adjudicated is None else self.adjudicated.note,
        }
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> SampleInfo:
        """Read what `to_dict` wrote."""
        sampler, seed = record.get("sampler"), record.get("seed")
        gaps = None
        if "gaps" in record:
            gaps = GapHandling(record["gaps"], record["gaps_signed"], int(record.get("unrated", 0)))
        return cls(
            () if sampler is None else tuple(str(sampler).split("+")),
            () if seed is None else tuple(int(s) for s in str(seed).split("+")),
            record.get("adequate"),
            gaps,
            None if "chosen" not in record else Assumption(record["chosen_note"], record["chosen"]),
            record.get("target"),
            None if "adjudicated" not in record
            else Assumption(record["adjudicated_note"], record["adjudicated"]),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a pool to annotate, (n,) for a study or (draws, n) for a simulation.

    A top-up (``given``) lists only the new segments; `rate` returns the ratings of both waves, so
    that one wave is never mistaken for a sample of the whole pool.
    """

    pool: Pool
    indices: IntArray
    design: Design
    given: Ratings | None = None
    joined: Design | None = None
    info: SampleInfo = SampleInfo()

    def __post_init__(self) -> None:
        if self.indices.shape != self.design.weights.shape:
            raise DesignError(
                f"the design describes a sample of shape {self.design.weights.shape}, but "
                f"{self.indices.shape} rows were drawn."
            )

    def __repr__(self) -> str:
        draws = "" if self.indices.ndim == 1 else f"{self.indices.shape[0]} draws of "
        more = "" if self.given is None else f", in addition to {self.given.n} already rated"
        return f"Sample({draws}{self.n} of {len(self.pool)} segments, {self.design._label}{more})"

    def _repr_html_(self) -> str:
        """The sample in a notebook: how it was drawn, and the first segments."""
        rows: list[tuple[str, object]] = [
            ("segments", f"{self.n} of {len(self.pool)}"),
            ("design", self.info.sampler or self.design._label),
        ]
        if self.indices.ndim == 1:
            first = ", ".join(map(str, self.ids[:5].tolist()))
            rows.append(("to rate", first + (", …" if self.n > 5 else "")))
        else:
            rows.append(("draws", self.indices.shape[0]))
        return html_table("Sample", rows)

    @property
    def n(self) -> int:
        """Segments to annotate in each draw."""
        return int(self.indices.shape[-1])

    @property
    def ids(self) -> NDArray[Any]:
        return np.asarray(self.pool.ids[self.indices])

    @property
    def cost(self) -> FloatArray:
        """What annotating each draw costs: the pool's cost, or 1 per segment."""
        if self.pool.cost is None:
            return np.full(self.indices.shape[:-1], float(self.n))
        return np.asarray(self.pool.cost[self.indices].sum(-1))

    @classmethod
    def labelled(cls, found: Labelled) -> tuple[Sample, FloatArray]:
        """The rows of a table that were chosen to be labelled, and their labels, NaN where missing.

        ``found`` is the result of `fewgold.chosen.read_labelled`.
        """
        info = SampleInfo(chosen=Assumption(found.sentence, found.chosen.code, found.numbered))
        return cls(found.pool, found.rows, found.design, info=info), found.scores

    def to_frame(self) -> pd.DataFrame:
        """A table of the segments to annotate: id, document, texts, metrics, weight and chance.

        Not for raters, who should not see metrics: `to_sheet` writes what they need.
        """
        import pandas as pd

        if self.indices.ndim != 1:
            raise DataError(
                "a batch of draws does not fit in one table. Use one draw: sample.draw(k)."
            )
        pool, rows = self.pool, self.indices
        columns: dict[str, Any] = {"id": pool.ids[rows]}
        if pool.documents is not None:
            columns["document"] = pool.documents[rows]
        for table in (pool.texts, pool.metrics):
            columns |= {name: values[rows] for name, values in table.items()}
        design = self.design
        return pd.DataFrame(columns).assign(weight=design.weights, chance=design.inclusion)

    def to_sheet(
        self,
        path: str | Path,
        *,
        estimator: str | None = None,
        score: str = "score",
        in_order: bool = False,
        overwrite: bool = False,
    ) -> Path:
        """Write a sheet for the raters, and a design file that says how the segments were drawn.

        The sheet has ids, documents, texts and an empty column; no metrics and no system. Fill it
        in, and read it with `Ratings.from_sheet` or ``fewgold estimate``. The design file
        ``<path>.design.json`` holds the design and the pool (without its texts), so that nothing
        else is needed; for a pool on disk it holds only the fingerprint.

        Parameters
        ----------
        path
            A ``.csv`` or ``.tsv`` file.
        estimator
            What ``fewgold estimate`` will use: by default ridge if there are metrics, else the
            mean.
        score
            Name of the empty column.
        in_order
            List the segments in the order of drawing, so that rating may stop early.
        overwrite
            Replace existing files, which may hold ratings.

        Returns
        -------
        Path
            The design file.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from fewgold.datasets import load_demo
        >>> from fewgold.samplers import Systematic
        >>> pool, gold = load_demo()
        >>> sample = Systematic().draw(pool, 50, rng=1)
        >>> with TemporaryDirectory() as folder:
        ...     side = sample.to_sheet(Path(folder) / "to_rate.csv")
        ...     back = Sample.from_sheet(Path(folder) / "to_rate.csv")
        >>> side.name, back
        ('to_rate.csv.design.json', Sample(50 of 1418 segments, systematic))
        """
        written: Path = _sheets().to_sheet(
            self, path, estimator=estimator, score=score, in_order=in_order, overwrite=overwrite
        )
        return written

    @classmethod
    def from_sheet(
        cls, path: str | Path, pool: Any = None, *, design: str | Path | None = None
    ) -> Sample:
        """Read the sample from a sheet written by `to_sheet` or ``fewgold select``, rated or not.

        Parameters
        ----------
        path
            The sheet.
        pool
            The pool, if it is not where the design file says. A different pool is refused.
        design
            The design file, if it is not beside the sheet.
        """
        found: Sample = _sheets().sample_of(path, pool, design)[1]
        return found

    def standardised(self, names: Iterable[str] | None = None) -> FloatArray:
        """Metrics of the sampled segments, standardised over the pool: (..., p, n)."""
        return self._columns(self.pool.standardised(names))

    def _columns(self, table: FloatArray) -> FloatArray:
        """The sampled segments' part of a table over the pool: (p, N) -> (..., p, n)."""
        return np.moveaxis(np.take(table, self.indices, axis=1), 0, -2)

    def draw(self, k: int | IntArray) -> Sample:
        """The ``k``-th draw of a batch, as a sample."""
        given = None if self.given is None else self.given.draw(k)
        joined = None if self.joined is None else self.joined.draw(k)
        return Sample(self.pool, self.indices[k], self.design.draw(k), given, joined, self.info)

    def rate(self, scores: Any, *, limits: Limits | None = None) -> Ratings:
        """Attach human scores, as an array like ``indices`` or a mapping from id.

        ``limits`` are the ends of the rating scale, such as ``(0, 25)`` or ``"mqm"``. Guaranteed
        bounds need them; they must come from the scale, never from the answers.
        """
        if hasattr(scores, "to_dict"):  # a pandas Series, indexed by id
            if not scores.index.is_unique:
                raise DataError("some ids have more than one rating. Average them first.")
            scores = scores.to_dict()
        if isinstance(scores, Mapping):
            scores = self._by_id(scores)
        alone = replace(self, given=None, joined=None)
        fresh = Ratings(alone, np.asarray(scores, dtype=np.float64), as_limits(limits))
        if (given := self.given) is None:
            return fresh
        whole = Sample(
            self.pool,
            np.concatenate([given.sample.indices, self.indices], -1),
            self.joined or given.sample.design._then(self.design, len(self.pool)),
            info=given.sample.info.then(self.info),
        )
        scores = np.concatenate([given.scores, fresh.scores], -1)
        return Ratings(whole, scores, fresh.limits or given.limits)

    def _by_id(self, scores: Mapping[Any, float]) -> FloatArray:
        ids = self.ids.ravel().tolist()
        missing = [i for i in ids if i not in scores]
        if len(missing) == len(ids) and scores and {str(i) for i in ids} <= set(map(str, scores)):
            mine, yours = type(ids[0]).__name__, type(next(iter(scores))).__name__
            raise DataError(
                f"the pool's ids are of type {mine}, those of the ratings of type {yours}. Give "
                "both the same type, for instance text."
            )
        if missing:
            raise DataError(
                f"{len(missing)} of {len(ids)} sampled segments {verb(len(missing), 'have')} no "
                f"rating, first {missing[:3]}. Rate every segment of the sample: leaving some out "
                "biases the "
                "estimate."
            )
        found = np.empty(len(ids))
        for k, i in enumerate(ids):
            try:
                found[k] = scores[i]
            except (TypeError, ValueError):
                raise DataError(
                    f"ratings must be numbers; id {i!r} has {scores[i]!r}. Correct it, or have the "
                    "segment rated."
                ) from None
        return found.reshape(self.indices.shape)

    def folds(self, k: int) -> IntArray:
        """Fold label of each sampled segment, balanced within groups: (..., n).

        Segments are in the random order in which they were drawn, so labels by position are already
        random and estimation needs no random generator. Segments of one unit share a fold.
        """
        groups, units = self.design.groups, self.design.units
        if units is not None:
            return np.asarray(units % k)
        order = np.argsort(groups, axis=-1, kind="stable")
        labels = np.empty_like(order)
        turns = np.broadcast_to(np.arange(order.shape[-1]) % k, order.shape)
        np.put_along_axis(labels, order, turns, axis=-1)
        return labels


@dataclass(frozen=True, eq=False)
class Ratings:
    """Human scores of a sample: the only input of every estimator."""

    sample: Sample
    scores: FloatArray
    limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.sample.given is not None:
            raise DesignError(
                "this sample is a top-up and does not represent the pool by itself. Use "
                "sample.rate(scores), which joins the earlier ratings."
            )
        if self.scores.shape != self.sample.indices.shape:
            raise DataError(
                f"scores must have the shape of the sample, {self.sample.indices.shape}; got "
                f"{self.scores.shape}."
            )
        broken = ~np.isfinite(self.scores)
        if broken.any():
            raise DataError(
                f"{int(broken.sum())} of {broken.size} ratings {verb(int(broken.sum()), 'are')} "
                "missing or infinite, first for "
                f"id {self.sample.ids[broken][0]!s}. Rate every segment of the sample: leaving "
                "some out biases the estimate."
            )
        if self.limits is not None:
            low, high = as_limits(self.limits) or self.limits
            outside = (self.scores < low) | (self.scores > high)
            if outside.any():
                raise DataError(
                    f"{counted(int(outside.sum()), 'rating')} {verb(int(outside.sum()), 'lie')} "
                    f"outside the scale {low:g} to {high:g}, "
                    f"first {self.scores[outside][0]:g}. Correct the ratings or the limits."
                )

    def __repr__(self) -> str:
        return (
            f"Ratings({self.scores.shape[-1]} scores, mean {self.scores.mean():.4g}, {self.sample})"
        )

    def _repr_html_(self) -> str:
        """The ratings in a notebook: how many, their spread and the scale."""
        y = self.scores
        rows: list[tuple[str, object]] = [
            ("ratings", f"{self.n} of {len(self.sample.pool)} segments"),
            ("mean, sd", f"{y.mean():.4g}, {y.std():.4g}"),
            ("range", f"{y.min():.4g} to {y.max():.4g}"),
            ("scale", "not given" if self.limits is None else "{:g} to {:g}".format(*self.limits)),
        ]
        return html_table("Ratings", rows, notes=self.warnings)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        human: str | Sequence[str] | None = None,
        chosen: str | Chosen = "random",
        limits: Limits | None = None,
        **columns: Any,
    ) -> Ratings:
        """Read existing labels from a dataframe in which some rows are labelled.

        Parameters
        ----------
        table
            A dataframe of pandas, polars, pyarrow or narwhals; missing labels are NaN or null.
        human
            The column of labels (guessed from its name if None), or several of them.
        chosen
            How the labelled rows were chosen: ``"random"``, ``"strata:COLUMN"``,
            ``"whole:COLUMN"`` or ``"chances:COLUMN"``. Every result says so.
        limits
            Ends of the scale, such as ``(0, 1)``.
        columns
            ``metrics``, ``id``, ``document``, ``system``, ``texts`` and ``orientation``, if they
            should not be guessed.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"judge": [1.0, 2, 3, 4, 5, 6], "human": [1, None, 3, None, 4, 7]})
        >>> ratings = Ratings.from_table(frame, human="human", metrics="judge")
        >>> ratings.n, len(ratings.sample.pool)
        (4, 6)
        >>> ratings.warnings
        ('the 4 labelled rows are taken to be a simple random sample of the 6 rows of the table',)
        """
        from fewgold.chosen import read_labelled  # only needed for existing labels

        sample, scores = Sample.labelled(
            read_labelled(table, human=human, chosen=chosen, **columns)
        )
        return cls(sample, scores, as_limits(limits))

    @classmethod
    def from_sheet(
        cls,
        path: str | Path,
        pool: Any = None,
        *,
        human: str | Sequence[str] | None = None,
        id: str = "id",
        limits: Limits | None = None,
        design: str | Path | None = None,
    ) -> Ratings:
        """Read the scores from a sheet written by `Sample.to_sheet` or ``fewgold select``.

        Parameters
        ----------
        path
            The sheet, its rows in any order.
        pool
            The pool, if it is not where the design file says. A different pool is refused.
        human
            The column of scores, if not the one that was written empty; several are averaged.
        id
            The column of ids.
        limits
            Ends of the scale, such as ``(0, 25)``.
        design
            The design file, if it is not beside the sheet.
        """
        sheets = _sheets()
        record, sample = sheets.sample_of(path, pool, design)
        score = record["score_column"] if human is None else human
        found: Ratings = sheets.read_ratings(
            path, sample, id=id, score=score, limits=as_limits(limits)
        )
        return found

    @property
    def n(self) -> int:
        return int(self.scores.shape[-1])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings that every result from these ratings shows, such as how gaps were handled."""
        info = self.sample.info
        parts = (info.chosen, info.gaps, info.adjudicated)
        found = [told.note for told in parts if told is not None]
        return tuple(found)

    def _signed(self) -> dict[str, str]:
        """Facts for signatures: seed, pool, scores, version, scale, gaps and orientations."""
        from fewgold._version import __version__

        info, pool = self.sample.info, self.sample.pool
        found = {
            "seed": "none" if info.seed is None else str(info.seed),
            "pool": pool.fingerprint[:6],
            "y": hashlib.sha256(self.scores.tobytes()).hexdigest()[:6],
            "v": __version__,
        }
        if own := told_orientation(pool.orientation, pool.metrics):
            found["orient"] = own
        if self.limits is not None:
            found["scale"] = "{:.10g}-{:.10g}".format(*self.limits)
        if info.adequate is not None:
            found["adequate"] = info.adequate.replace(" ", "")
        if info.gaps is not None:
            found["gaps"] = info.gaps.code
        if info.chosen is not None:
            found["chosen"] = info.chosen.code
        if info.target is not None:
            found["target"] = info.target
        if info.adjudicated is not None:
            found["adjudicated"] = info.adjudicated.code
        return found

    def cut(self, cut: Cut | str) -> Ratings:
        """Ratings of 1 (adequate) and 0 from scores, such as ``ratings.cut("<= 0")`` for MQM.

        Their mean is the share of adequate segments, whatever the estimator.
        """
        passing = Cut.parse(cut)
        sample = replace(self.sample, info=replace(self.sample.info, adequate=str(passing)))
        return Ratings(sample, passing(self.scores).astype(np.float64), (0.0, 1.0))

    def draw(self, k: int | IntArray) -> Ratings:
        """The ``k``-th draw of a batch."""
        return Ratings(self.sample.draw(k), self.scores[k], self.limits)
