"""The expected spread of ratings: ``--uncertainty`` and ``--history``.

Commands that draw samples (`select`, `init`, `simulate`) pass on these options, and get a pool
with an expected spread and sentences that say where it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import input, parse
from fewgold.cli.console import notes
from fewgold.cli.options import described
from fewgold.common.text import counted, listed
from fewgold.errors import DataError

if TYPE_CHECKING:
    from fewgold.common.arrays import FloatArray
    from fewgold.history import History
    from fewgold.pool import Pool
    from fewgold.samplers import Chances, Sampler
    from fewgold.uncertainty import SpreadColumn

_PANEL = "Rate more where it matters"


def _uniform(text: str | float) -> float:
    share = parse.rate(text)
    if not 0 < share <= 1:
        raise typer.BadParameter(
            f"the share of equal chances must be above 0 and at most 1, such as 0.5; got {text!r}."
        )
    return share


Uncertainty = Annotated[
    str | None,
    described(
        "COLUMN",
        "Column with the expected spread of each rating, or with a judge's probability of a pass; "
        "COLUMN:spread or COLUMN:probability says which.",
        panel=_PANEL,
    ),
]
HistoryFile = Annotated[
    str | None,
    described(
        "FILE",
        "Table of earlier ratings, such as last year's or those of other systems.",
        panel=_PANEL,
    ),
]
HistoryHuman = Annotated[
    str | None, described("COLUMN", "Column of human scores in --history.", panel=_PANEL)
]
Uniform = Annotated[
    float | None,
    described(
        "SHARE",
        "Share of the budget spent with equal chances, such as 0.5 or 50%. Default: 0.25; 0.5 with "
        "docs-uneven-rank and docs-two-wave.",
        panel=_PANEL,
        parser=_uniform,
    ),
]


@dataclass(frozen=True)
class Informed:
    """A pool, with prior knowledge about its ratings and the source of that knowledge."""

    pool: Any  # a pool of either kind
    record: dict[str, Any]
    icc: float | None = None


def inform(
    pool: Any,
    column: SpreadColumn | None,
    spread: FloatArray | None,
    history: str | None,
    history_human: str | None,
    quiet: bool,
) -> Informed:
    """The pool with its expected spread; a column overrides the spread of a history.

    A pool on disk already knows its spread.
    """
    record: dict[str, Any] = {}
    icc = None
    if history is not None:
        earlier = read_history(history, history_human, pool, quiet)
        pool, record["history"] = earlier.history.inform(pool), earlier.told(pool)
        icc = earlier.icc
    elif history_human is not None:
        raise typer.BadParameter("--history-human needs --history.")
    if spread is not None:
        pool = pool.with_spread(spread)
    if column is not None:
        record["uncertainty"] = {"column": column.name, "kind": column.kind}
        record["uncertainty"] |= {"sentence": column.sentence, "other": column.other}
    return Informed(pool, record, icc)


@dataclass(frozen=True)
class Earlier:
    """Earlier ratings from a file."""

    file: str
    history: History

    @property
    def icc(self) -> float | None:
        """Intraclass correlation within documents over all studies; None if unknown."""
        import numpy as np

        from fewgold.common.statistics import intraclass_correlation

        found = []
        for study in self.history._studies:
            rated = np.isfinite(study.scores)
            if study.pool.documents is not None and rated.sum() > 2:
                value = intraclass_correlation(study.scores[rated], study.pool.codes[rated])
                found += [float(value)] * bool(np.isfinite(value))
        return min(max(float(np.mean(found)), 0.0), 1.0) if found else None

    def told(self, pool: Pool) -> dict[str, Any]:
        """Figures and a sentence about what the history gives to a pool."""
        import numpy as np

        studies = self.history._studies
        rated = sum(int(np.isfinite(s.scores).sum()) for s in studies)
        metrics = self.history.shared_metrics(pool)
        same = self.history._same_rated(pool)
        sentence = f"{counted(rated, 'rating')} in {self.file}"
        if len(studies) > 1:
            sentence += f" of {len(studies)} systems"
        sentence += f", by the common {'metric' if len(metrics) == 1 else 'metrics'} "
        sentence += listed(metrics)
        if same:
            sentence += f"; includes the same segments, whose earlier ratings are used too: {same}"
        return {
            "file": self.file, "ratings": rated, "systems": len(studies), "metrics": metrics,
            "same_segments": same, "sentence": sentence,
        }  # fmt: skip


def read_history(file: str, human: str | None, pool: Pool, quiet: bool) -> Earlier:
    """Earlier ratings from any table that fewgold reads, fully or partly rated."""
    import numpy as np

    from fewgold import io
    from fewgold.history import History
    from fewgold.io.columns import roles
    from fewgold.sheets import mean_of_known

    table = io.with_paths(input.read_table(file, quiet), [*pool.metrics, *parse.names(human)])
    names = [str(c) for c in table.columns]
    metrics = [m for m in pool.metrics if m in names]
    if not metrics:
        raise DataError(
            f"--history: {file} and the pool have no metric in common. The pool has "
            f"{', '.join(pool.metrics) or 'none'}; {file} has the columns {', '.join(names)}. "
            "Score both with the same metric, or rename columns so that they agree."
        )
    found = roles(table, metrics=metrics, texts=[], human=parse.names(human) or None)
    found.some_humans("--history-human")
    found = found.per_output()
    told = replace(found, guessed={}, left_out={}).notes()
    notes((f"{file}: {sentence}" for sentence in told), quiet)
    scores = mean_of_known(np.array([found.cells[name].values for name in found.human]))
    label = "earlier score"
    several = found.system is not None and bool(found.table[found.system].nunique() > 1)
    system = found.system if several else None
    try:
        history = History.from_table(
            io.filled(found.table, found.metrics, system).assign(**{label: scores}), human=label,
            id=str(found.id), metrics=list(found.metrics), document=found.document, system=system,
        )  # fmt: skip
    except DataError as error:
        raise DataError(f"--history: {file}: {error.message}", hints=error.hints) from None
    return Earlier(file, history)


def without_own(earlier: Earlier, pool: Pool, gold: FloatArray, name: str) -> Earlier:
    """The history without the ratings that a simulation replays, which would reveal the truth."""
    kept = [s for s in earlier.history._studies if not s.holds(pool, gold)]
    if not kept:
        raise DataError(
            f"--history: {earlier.file} holds only the ratings of {name} that are replayed. Give "
            f"ratings of other systems or another year."
        )
    return replace(earlier, history=replace(earlier.history, studies=kept))


# Text for output and reports


def chances_of(sampler: Sampler) -> Chances | None:
    """The uneven chances of a sampler; None if they are equal."""
    found: Chances | None = getattr(sampler, "chances", None)
    return found


RANKS = "the rank of the metrics: the worse an output seems, the likelier it is drawn"
_RANKS_SUIT = (
    "Chances by the rank of the metrics suit scores whose best value is the end of the scale, such "
    "as error counts, but not pass or fail or Likert scales. --uncertainty COLUMN or --history "
    "FILE is more informative."
)
_UNUSED = (
    "This strategy does not use the column of --uncertainty; --strategy docs-uneven+ridge does."
)
_EQUAL = (
    "It is not known which ratings vary most, so all segments had the same chance. Give "
    "--uncertainty COLUMN or --history FILE; for error counts only, --strategy "
    "docs-uneven-rank+ridge uses the rank of the metrics."
)


def _are_equal(informed: Informed, chances: Chances) -> bool:
    """Whether chances that could be uneven are equal because the spread is unknown."""
    return not (chances._follow_ranks or informed.pool._has_spread)


def remarks(informed: Informed, chances: Chances | None) -> list[str]:
    """A note about chances by rank, or about chances that came out equal."""
    if chances is None:
        return [_UNUSED] if "uncertainty" in informed.record else []
    if _are_equal(informed, chances):
        return [_EQUAL]
    return [_RANKS_SUIT] if chances._follow_ranks else []


def lines(informed: Informed, chances: Chances | None) -> list[tuple[str, str]]:
    """How the chances were computed, as pairs for the screen."""
    record = informed.record
    found = []
    if "history" in record:
        found.append(("history", record["history"]["sentence"]))
    if chances is not None and chances._follow_ranks:
        found.append(("spread", RANKS))
    elif "uncertainty" in record:
        told = record["uncertainty"]
        other = f" (otherwise: --uncertainty {told['other']})" if told["other"] else ""
        found.append(("spread", f"{told['sentence']}{other}"))
    elif "history" in record:
        found.append(("spread", "learnt from earlier ratings"))
    if chances is not None and not _are_equal(informed, chances):
        found.append(
            ("chances", f"{1 - chances.uniform:.0%} by spread, {chances.uniform:.0%} equal")
        )
    return found


def as_record(informed: Informed, chances: Chances | None) -> dict[str, Any]:
    """How the chances were computed, for JSON."""
    return {
        **informed.record,
        "uniform": None if chances is None else chances.uniform,
        "follow_ranks": chances is not None and chances._follow_ranks,
    }


def sentence(informed: Informed, chances: Chances | None) -> str | None:
    """How the chances were computed, for the methods section of a report."""
    from fewgold.uncertainty import chances_sentence

    if chances is None or _are_equal(informed, chances):
        return None
    record = informed.record
    if chances._follow_ranks:
        source = f"followed {RANKS}"
    elif "uncertainty" in record:
        source = f"was read from the {record['uncertainty']['sentence']}"
    elif "history" in record:
        source = f"was learnt from earlier ratings ({record['history']['sentence']})"
    else:
        source = "was given with the pool"
    return chances_sentence(source, chances)
