"""A campaign at one moment: its numbers, tables and figures, as the pages show them.

Expensive results are computed once for all visitors.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from fastapi import HTTPException

from fewgold import plots
from fewgold.bayes import roc_table
from fewgold.bounds import sequence
from fewgold.campaign import Campaign
from fewgold.campaign.study import most_informative, partial_ratings, waves_to_use
from fewgold.common.text import decimals, fixed, shorter
from fewgold.errors import DataError, FewgoldError
from fewgold.missing import estimate
from fewgold.plots.style import available
from fewgold.report import StudyReport, number
from fewgold.report.descriptions import promise
from fewgold.report.study_sections import WITHOUT, weighted_line
from fewgold.web import files
from fewgold.web.files import Recent, TextTable
from fewgold.web.site import Site

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fewgold.bayes import RocTable
    from fewgold.campaign.status import Status
    from fewgold.comparison import Comparison, SlicedComparison
    from fewgold.judge import Assessment
    from fewgold.report.study import StudyNumbers


#: Tables of a whole campaign with several systems; other tables are about one system.
OF_ALL = ("waves", "answers", "unrated", "set-aside", "rejected", "journal")
_STATES = 6  # how many are kept; each state of the campaign has two: numbers and figures
_LOOKS = 500  # earlier estimates to keep; they do not change any more
_PARTS = 200  # results to keep for one state, since visitors choose cuts


P = ParamSpec("P")
T = TypeVar("T")


def _once(make: Callable[Concatenate[View, P], T]) -> Callable[Concatenate[View, P], T]:
    """Compute a result once per state of the campaign, when it is first needed."""

    @functools.wraps(make)
    def found(view: View, /, *args: P.args, **options: P.kwargs) -> T:
        return view.results.get((make.__name__, *args), lambda: make(view, *args, **options))

    return found


class Results:
    """Results for the last few states of one campaign."""

    def __init__(self) -> None:
        self._states, self.past = Recent(_STATES), Recent(_LOOKS)

    @staticmethod
    def shared(site: Site) -> Results:
        """The results for a site's campaign, shared by all its pages."""
        found: Results = site.kept.setdefault("results", Results())
        return found

    def of(self, state: Hashable) -> Recent:
        """The results for one state."""
        return self._states.get(state, lambda: Recent(_PARTS))


class View:
    """What pages show about a campaign, all as of the same moment."""

    def __init__(self, campaign: Campaign, known: Results) -> None:
        self.campaign = campaign
        self.known = known
        self.state = campaign.store.state()
        self.results = known.of((campaign.settings, self.state))
        #: Separate from the results, so that numbers need not wait for a figure.
        self.figures = known.of((campaign.settings, self.state, "figures"))

    @property
    def version(self) -> str:
        """A name for the state, used in addresses."""
        return version(self.campaign)

    @property
    @_once
    def status(self) -> Status:
        return self.campaign.status()

    @property
    @_once
    def study(self) -> StudyNumbers | None:
        """The study as in the report, with gaps as in the status; None without an estimate."""
        if self.status.estimate is None:
            return None
        made = self.campaign.report("at-random")
        return made.study if isinstance(made, StudyReport) else None  # with several systems

    @property
    @_once
    def comparison(self) -> Comparison | None:
        """The comparison of the systems so far; None for one system or too few answers."""
        if not self.campaign.systems or self.status.comparison is None:
            return None
        return self.campaign.compare("at-random")

    @_once
    def sliced(self, by: str) -> SlicedComparison:
        """The systems compared within the slices of a column."""
        return self.campaign.compare_by([by] if by else [], "at-random")

    @property
    @_once
    def answers(self) -> pd.DataFrame:
        return self.campaign.answers()

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics in the order of the pool; addresses use their number."""
        return list(self.campaign.pool.metrics)

    @property
    @_once
    def scores(self) -> pd.DataFrame:
        """Every rated segment of the sample with its score and its metrics."""
        import pandas as pd

        pool, sample, scores = self.campaign.pool, self.campaign.sample, self.campaign.scores()
        at = sample.indices[~np.isnan(scores)]
        columns: list[tuple[str, Any]] = [("segment", pool.ids[at])]
        if pool.documents is not None:
            columns.append(("document", pool.documents[at]))
        columns.append(("score", scores[~np.isnan(scores)]))
        columns += [(name, values[at]) for name, values in pool.metrics.items()]
        # By position, since a metric may be called "score" too.
        frame = pd.DataFrame({k: values for k, (_, values) in enumerate(columns)})
        return frame.set_axis([name for name, _ in columns], axis=1)

    @_once
    def roc(self, cut: str) -> RocTable:
        """ROC curves of all metrics; ``cut`` says which human scores are adequate."""
        import pandas as pd

        if not self.status.rated:
            raise DataError("there are no ratings yet.")
        study = self.study
        if study is None:
            raise DataError("there is no estimate yet, so there is no ROC curve.")
        pool, ratings = self.campaign.pool, study.ratings
        signs = dict(pool.orientation)
        names = [name for name in pool.metrics if signs.get(name) != 0]
        if not names:
            raise DataError("the pool has no metrics.")
        human = "human score"
        while human in names:
            human += "_"
        at = ratings.sample.indices
        frame = pd.DataFrame({human: ratings.scores} | {n: pool.metrics[n][at] for n in names})
        return roc_table(
            frame, human=human, metrics=names, adequate=cut or None,
            orientation={n: signs[n] for n in names if signs.get(n)},
            confidence=self.campaign.settings.confidence,
        )  # fmt: skip

    @_once
    def judges(
        self, names: tuple[str, ...], cut: str, threshold: str, by: str | None,
        against: str | None, criterion: str = "",
    ) -> Assessment:  # fmt: skip
        """Metrics against people; the cuts say which human and which metric scores are good."""
        from fewgold.judge import assess

        if self.study is None:
            raise DataError("there is no estimate yet, so there is nothing to compare.")
        ratings = self.study.ratings
        criteria = self.campaign.settings.criteria
        if criteria and criterion not in ("", criteria[0].name):
            ratings = self.campaign.ratings("at-random", criterion)
        ratings = ratings.cut(cut) if cut else ratings
        return assess(
            ratings, names, threshold=threshold or None, by=by,
            against=() if against is None else against, columns=self.campaign.labels,
            confidence=self.campaign.settings.confidence,
        )  # fmt: skip


_VALUES = 30  # in a column for slices


def slicing_columns(view: View) -> list[str]:
    """Columns with few values, suitable for slices; those hidden from raters come first."""
    pool = view.campaign.pool
    known = {**view.campaign.labels, "document": pool.documents, **pool.texts, **pool.metrics}
    return [
        name for name, values in known.items()
        if values is not None and 1 < len(set(map(str, values.tolist()))) <= _VALUES
    ]  # fmt: skip


def version(campaign: Campaign) -> str:
    """A name for the campaign's state, which is the same until something changes."""
    told = repr((campaign.settings, campaign.store.state())).encode()
    return hashlib.sha256(told).hexdigest()[:16]


@contextmanager
def looking(site: Site, known: Results) -> Iterator[View]:
    """The campaign as of now, while a page is made."""
    with site.open() as campaign, campaign.store.snapshot():
        yield View(campaign, known)


# The estimate over time: what the status would have said after each number of answers. The first k
# answers are taken as a random part of the sample, just as the status takes all answers so far. So
# segments without an answer at that time are gaps.


COLUMNS = ("answers", "n", "value", "se", "low", "high", "interval")
_STEPS = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
_MOST = 14


def looks(count: int) -> list[int]:
    """Numbers of answers after which to look: round ones, which stay the same as answers come.

    >>> looks(72)
    [5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60]
    """
    grid = [5, 8, *(step * 10**k for k in range(6) for step in _STEPS)]
    return [k for k in grid if k < count][-_MOST:]


@_once
def growth(view: View) -> pd.DataFrame:
    """The estimate and its interval by number of answers; the last row is as in the status."""
    import pandas as pd

    campaign, answers, now = view.campaign, view.answers, view.status.estimate
    rows = []
    for k in looks(len(answers)):
        last = max(answers["stored_at"][:k])
        waves = sum(wave.drawn_at <= last for wave in campaign.waves)
        withdrawn = view.state[-2]  # needed to know which answers were the first k
        key = (campaign.settings, withdrawn, k, waves)
        found = view.known.past.get(
            key, functools.partial(_estimate_after, campaign, answers[:k], waves)
        )
        if found is not None:
            rows.append(found)
    if now is not None:
        rows.append(_row(len(answers), now))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(
        dict.fromkeys(("value", "se", "low", "high"), float)
    )


def _row(count: int, made: dict[str, Any]) -> tuple[Any, ...]:
    names = ("n", "value", "se", "low", "high", "bound_label")
    return (count, *(made[name] for name in names))


def _estimate_after(
    campaign: Campaign, answers: pd.DataFrame, waves: int
) -> tuple[Any, ...] | None:
    """The row for the first answers; None if there was no estimate at that time."""
    stored = dict(zip(answers["segment"], answers["stored_at"], strict=True))
    started = [
        wave.number
        for wave in campaign.waves[:waves]
        if any(stored.get(i, "") >= wave.drawn_at for i in wave.ids)
        or stored.keys() >= set(wave.ids)
    ]
    by_wave = functools.partial(partial_ratings, campaign.store, answers)
    try:
        count = most_informative(by_wave, max(started, default=0)) or waves
        made = estimate(by_wave(count), campaign._estimator(), "at-random")
        return _row(len(answers), made.to_dict(campaign.settings.confidence))
    except FewgoldError:
        return None


@_once
def stopping_path(view: View) -> sequence.Path | None:
    """The interval of the stopping rule after each rating, as in the status."""
    stop, settings = view.status.stop, view.campaign.settings
    if stop is None or settings.tolerance is None:
        return None
    found, upto = view.campaign._partial(waves_to_use(view.campaign)), stop["looked_at"]
    ratings = sequence.first(found.sample, upto).rate(found.scores[:upto], limits=settings.limits)
    return sequence.path(ratings, settings.tolerance, settings.confidence, rule=settings.rule)


def steps(view: View) -> pd.DataFrame | None:
    """The stopping rule as a table, one row per rating."""
    import pandas as pd

    path = stopping_path(view)
    if path is None:
        return None
    count = range(1, path.ratings.n + 1)
    return pd.DataFrame({"n": count, "mean": path.mean, "low": path.low, "high": path.high})


# Numbers and sentences on the pages, with the same digits as on the command line


def headline(view: View) -> dict[str, Any]:
    """The score and its interval, rounded and in full."""
    found = view.status
    made, told = found.estimate, {"level": f"{100 * found.confidence:.6g}%"}
    if made is None:
        return told | {"value": None}
    digits = decimals(made["se"])
    known = made["low"] is not None and made["high"] is not None
    return told | {
        "value": fixed(made["value"], digits),
        "low": fixed(made["low"], digits) if known else None,
        "high": fixed(made["high"], digits) if known else None,
        "se": None if made["se"] is None else fixed(made["se"], digits),
        "full": made,
        "what": "mean human score" if view.study is None else view.study.what,
        "promise": promise(made["bound_kind"], told["level"]) if known else "",
    }


def by_system(view: View) -> list[dict[str, Any]]:
    """The progress and score of each of several systems; empty if there is only one."""
    found = []
    for one in view.status.systems:
        made, score = one["estimate"], "no score yet"
        if made is not None:
            digits = decimals(made["se"])
            score = fixed(made["value"], digits)
            if made["low"] is not None and made["high"] is not None:
                score += f" ({fixed(made['low'], digits)} to {fixed(made['high'], digits)})"
        told = {k: one[k] for k in ("system", "rated", "sampled")}
        found.append(told | {"score": score, "level": f"{100 * view.status.confidence:.6g}%"})
    return found


def ranking(view: View) -> TextTable | None:
    """The ranking of the systems, as on the page Compare."""
    from fewgold.web.replay import compared

    return None if view.comparison is None else compared(view.comparison)


def announcement(view: View) -> tuple[str, str] | None:
    """What the owner should not miss: a heading and a sentence, or None."""
    found = view.status
    if found.stop is not None and found.stop["fired"]:
        return (
            "The stopping rule says: stop",
            f"{found.stop['after']} ratings are enough for ± {view.campaign.settings.tolerance:g} "
            f"({found.stop['rule']}: {found.stop['promise']}). You do not need more.",
        )
    if found.goal is not None and found.goal["half_width"] <= found.goal["tolerance"]:
        digits = decimals(found.goal["half_width"])
        return (
            "The tolerance is reached",
            f"The interval is ± {found.goal['half_width']:.{digits}f}, and ± "
            f"{found.goal['tolerance']:g} was wanted. It is valid for one look at the end; if "
            "you stop the moment it looks narrow, it misses the true score more often than it "
            "should.",
        )
    return None


def costs(view: View) -> list[tuple[str, str]]:
    """What is still to do, and how much more the goal needs."""
    found, pool = view.status, view.campaign.pool
    told = [("sampled segments without an answer", str(len(found.unrated)))]
    if found.each > 1:
        told.append(
            (f"sampled segments with fewer than {found.each} raters", str(found.incomplete))
        )
    more = None if found.goal is None else found.goal["more"]
    if found.goal is not None and found.goal["needed"] is not None:
        told.append(("ratings for the tolerance, about", str(found.goal["needed"])))
        told.append(("of these not drawn yet, about", str(more)))
    if pool.cost is not None and found.sampled:
        waiting = np.isin(pool.ids.astype(str), found.unrated)
        told.append(("cost of the segments without an answer", f"{pool.cost[waiting].sum():.4g}"))
        rest = np.delete(pool.cost, view.campaign.sample.indices)
        if more and rest.size:
            told.append(("cost of those, about", f"{more * rest.mean():.4g}"))
    return told


def spoken(view: View) -> str:
    """A sentence for screen readers when the number changes."""
    told, found = headline(view), view.status
    rated = f"{found.rated} of {found.sampled} sampled segments rated."
    if told["value"] is None:
        return rated
    ends = (
        "" if told["low"] is None else f", {told['level']} interval {told['low']} to {told['high']}"
    )
    heard = announcement(view)
    return f"{rated} Estimate {told['value']}{ends}." + (f" {heard[0]}." if heard else "")


def cut_hints(scores: Sequence[float], higher: bool | None = None) -> list[str]:
    """Suggested cuts from the scores that occur; none if they are 0 and 1.

    One for each direction, or only one if it is known which end of the scale is good.
    """
    seen = sorted(set(scores))
    if len(seen) < 2 or set(seen) <= {0.0, 1.0}:
        return []
    middle = sorted(scores)[len(scores) // 2]
    low = middle if middle < seen[-1] else seen[-2]
    high = middle if middle > seen[0] else seen[1]
    below, above = f"<= {low:.3g}", f">= {high:.3g}"
    return [below, above] if higher is None else [above] if higher else [below]


ROWS = 25  # rows shown; the download has the rest


@dataclass(frozen=True)
class Kind:
    """How a table is made and shown; ``make`` returns None if there is nothing to show."""

    title: str
    make: Callable[[View], pd.DataFrame | None]
    caption: str = ""
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    last: bool = False  # show the last rows

    def shown(self, name: str, view: View) -> dict[str, Any] | None:
        """The table with readable digits; None if it has no rows."""
        frame = self.make(view)
        if frame is None or not len(frame):
            return None
        part = frame.tail(ROWS) if self.last else frame.head(ROWS)
        heads, cells = [], []
        for k, column in enumerate(map(str, frame.columns)):
            values = part.iloc[:, k].tolist()
            told = [v for v in values if v is not None]
            numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in told)
            heads.append((self.names.get(column, column), numeric))
            form = self.formats.get(column, _text)
            gaps = [v is None or (isinstance(v, float) and np.isnan(v)) for v in values]
            cells.append(["–" if gap else form(v) for v, gap in zip(values, gaps, strict=True)])
        return {
            "name": name, "title": self.title, "caption": self.caption, "heads": heads,
            "rows": list(zip(*cells, strict=True)), "total": len(frame),
        }  # fmt: skip


def _text(value: Any) -> str:
    return number(value, digits=4) if isinstance(value, float) else shorter(value, 160)


def _waves(view: View) -> pd.DataFrame:
    """Every wave, with the estimate after it if all answers up to it are there."""
    import pandas as pd

    rated = set(view.answers["segment"])
    after = [] if view.study is None else list(view.study.waves)
    rows = []
    for k, wave in enumerate(view.campaign.waves):
        made = after[k] if k < len(after) else {}
        rows.append(
            {
                "wave": wave.number, "drawn": wave.drawn_at[:16].replace("T", " "),
                **({"outputs": wave.n} if view.campaign.systems else {}),
                "segments": wave.segments, "rated": sum(i in rated for i in wave.ids),
                "strategy": wave.strategy, "seed": str(wave.seed), "value": made.get("value"),
                "low": made.get("low"), "high": made.get("high"),
            }
        )  # fmt: skip
    frame = pd.DataFrame(rows)
    return (
        frame
        if frame.empty or frame["value"].notna().any()
        else frame.drop(columns=["value", "low", "high"])
    )


def _documents(view: View) -> pd.DataFrame | None:
    """Every document in the sample, with its numbers of segments."""
    import pandas as pd

    pool = view.campaign.pool
    if pool.documents is None or not view.status.sampled:
        return None
    sample, scores = view.campaign.sample, view.campaign.scores()
    names = pd.Series(pool.documents.astype(str))
    part = pd.DataFrame({"document": names[sample.indices].tolist(), "score": scores})
    groups = part.groupby("document", sort=False)["score"]
    frame = pd.DataFrame({"sampled": groups.size(), "rated": groups.count(), "mean": groups.mean()})
    frame.insert(0, "segments", names.value_counts().reindex(frame.index))
    return frame.reset_index().sort_values(
        ["rated", "sampled", "document"], ascending=[False, False, True], ignore_index=True
    )


def _of(name: str) -> Callable[[View], pd.DataFrame | None]:
    """A table of the study."""
    return lambda view: None if view.study is None else getattr(view.study, name)


def _unrated(view: View) -> pd.DataFrame | None:
    import pandas as pd

    if not view.status.unrated:
        return None
    pool = view.campaign.pool
    frame = pd.DataFrame({"segment": list(view.status.unrated)})
    if pool.documents is None:
        return frame
    where = dict(zip(map(str, pool.ids.tolist()), map(str, pool.documents.tolist()), strict=True))
    return frame.assign(document=[where[i] for i in frame["segment"]])


def _alternatives(view: View) -> pd.DataFrame | None:
    frame = None if view.study is None else view.study.alternatives
    return None if frame is None else frame.replace([np.inf, -np.inf], np.nan)


Form = Callable[[Any], str]


def _digits(digits: int, *columns: str) -> dict[str, Form]:
    """Columns with this number of decimals."""
    return dict.fromkeys(columns, lambda v: fixed(v, digits))


def _percent(digits: int, *columns: str) -> dict[str, Form]:
    return dict.fromkeys(columns, lambda v: f"{v:.{digits}%}")


_SCORE: dict[str, Form] = {"score": lambda v: f"{v:.6g}"}
_LABELS: dict[str, Form] = dict.fromkeys(("segment", "document"), lambda v: shorter(v, 60))

#: Every table by its name in addresses.
TABLES: dict[str, Kind] = {
    "growth": Kind(
        "The estimate as answers came in", growth,
        "What the status would have said after each number of answers. Segments without an "
        "answer at that time are taken as missing at random. Each interval is valid for one "
        "look, not for stopping when it looks good.",
        names={"n": "segments rated", "se": "standard error"}, last=True,
    ),
    "sequence": Kind(
        "The stopping rule, rating by rating", steps,
        "In the order of drawing, up to the first segment without an answer.", last=True,
    ),
    "waves": Kind(
        "Waves", _waves,
        "The estimate after a wave and its interval are shown once all answers up to it have "
        "come in.", last=True,
    ),
    "documents": Kind(
        "Documents", _documents,
        "Documents in the sample, those with most ratings first. Mean: the plain mean of the "
        "document's ratings.", _digits(2, "mean"),
    ),
    "strata": Kind(
        "Strata", _of("strata"), "Share: share of the pool, by the weights.", _percent(1, "share")
    ),
    "correlations": Kind(
        "Metrics and human scores", _of("correlations"),
        "Pearson's correlation r over the pool, weighted by the design, with its interval. It is "
        "negative for a metric that is lower for better output.", _digits(2, "r", "low", "high"),
    ),
    "likeness": Kind(
        "Sample and pool", _of("likeness"),
        "Metric means of the pool and of the rated segments, weighted by the design. Difference: "
        "in standard deviations of the pool. Against chance: in standard errors of a simple "
        "random sample; beyond 2 is rare, beyond 3 is suspicious.",
        _digits(3, "difference") | _digits(1, "chance"),
        {"pool": "pool mean", "sample": "sample mean", "chance": "against chance"},
    ),
    "estimators": Kind(
        "Other estimators", _alternatives,
        "The first row is the estimate. The others are a check. Choosing among them by their "
        "result would make the interval invalid.",
        names={"name": "estimator", "se": "standard error", "interval": "kind of interval"},
    ),
    "pulls": Kind(
        "Most influential segments", _of("pulls"),
        "Pull: by how much a segment moves the estimate. Share: its part of the sum of all "
        "squared pulls. If one segment dominates, check its rating.",
        _percent(0, "share") | _LABELS | _SCORE,
    ),
    "raters": Kind(
        "Raters", _of("raters"),
        "Shared: segments that others rated too; the following columns are about these. "
        "Deviation: how much higher than the mean of the others, ± its standard error. Same: share "
        "of the others' scores that are equal. Repeats: segments that the rater rated again; the "
        "last columns are about these.",
        _digits(2, "mean", "sd", "correlation", "self_difference")
        | _percent(0, "same", "self_same"),
        {"deviation_se": "±", "correlation": "r with others",
         "self_same": "same again", "self_difference": "differs again by"},
    ),
    "answers": Kind("Answers", lambda view: view.answers, "The latest answers.", _SCORE, last=True),
    "set-aside": Kind(
        "Set aside", lambda view: view.campaign.store.set_aside(),
        "Answers that are kept but do not count, and why.", _SCORE,
    ),
    "rejected": Kind(
        "Rejected", lambda view: view.campaign.store.rejected(),
        "Rows that could not be read, and why. They are kept unchanged.",
    ),
    "journal": Kind(
        "Journal", lambda view: view.campaign.store.journal(), "What happened, and when.", last=True
    ),
    "unrated": Kind(
        "Not rated yet", _unrated, "Sampled segments without an answer, in the order of drawing."
    ),
    "scores": Kind(
        "Scores and metrics", lambda view: view.scores if view.status.rated else None,
        "Every rated segment of the sample.",
    ),
}  # fmt: skip

ROC = Kind(
    "Metrics as judges",
    lambda view: None,
    "AUC: probability that an adequate segment has a better metric score than an inadequate one, "
    "with its interval. ρ: share of adequate segments recognised; η: share of inadequate ones; "
    "both at the cut where they are most similar. K: how informative the metric is at that cut, "
    "0 to 1. All unweighted, over the rated segments.",
    _digits(2, "auc", "auc_low", "auc_high", "rho", "eta", "alpha", "K") | _digits(3, "auc_se"),
    {"auc": "AUC", "auc_se": "standard error", "auc_low": "low", "auc_high": "high", "rho": "ρ",
     "eta": "η", "alpha": "adequate"},
)  # fmt: skip


def roc_shown(view: View, cut: str) -> tuple[dict[str, Any] | None, str]:
    """The table of ROC curves, or None and the reason."""
    try:
        kept = view.roc(cut).to_frame().drop(columns=["system", "gaps"])
    except FewgoldError as error:
        return None, error.message_for("web")
    shown = replace(ROC, make=lambda _: kept.assign(cut=kept["cut"].map(_short_cut)))
    return shown.shown("roc", view), ""


def _short_cut(cut: object) -> object:
    """A cut with four digits.

    >>> _short_cut(">= 48.05971914914326"), _short_cut(">= 3")
    ('>= 48.06', '>= 3')
    """
    sign, _, number = str(cut).partition(" ")
    try:
        return f"{sign} {float(number):.4g}"
    except ValueError:
        return cut


# The figures of the pages, as files; none without matplotlib.


#: Every figure by its name in addresses; those by metric are followed by its number.
PLAIN = ("growth", "sequence", "estimators", "roc")
BY_METRIC = ("scatter", "shape", "roc")
_DOTS = 400  # in a scatter plot; more would not show more


def drawn_figure(view: View, name: str, kind: str, cut: str = "") -> bytes:
    """A figure as SVG or PNG; not found if there is nothing to draw."""
    base, _, place = name.rpartition("-")
    of_metric = base in BY_METRIC and place in {str(k) for k in range(len(view.metrics))}
    if kind not in files.IMAGES or not (of_metric or name in PLAIN):
        raise HTTPException(404, "There is no such figure.")
    if not available():
        raise HTTPException(404, WITHOUT)
    plot = functools.partial(_figure, view, name, cut)
    return view.figures.get((name, kind, cut), lambda: files.drawn(plot, kind))


def _figure(view: View, name: str, cut: str) -> Axes | Figure:
    if name == "growth":
        frame = growth(view)
        if not len(frame):
            raise HTTPException(404, "There is no estimate yet, so there is nothing to draw.")
        count = frame["answers"]  # the first intervals are very wide and would hide the others
        late = frame.assign(n=count)[count >= count.iloc[-1] / 4].reset_index(drop=True)
        ax = plots.interval_path(late, label="estimate")
        ax.set_xlabel("answers")
        return ax
    if name == "sequence":
        path = stopping_path(view)
        if path is None:
            raise HTTPException(
                404, "There is no stopping rule here: it needs a simple random sample."
            )
        return path.plot()
    study = view.study
    if study is None:
        raise HTTPException(404, "There is no estimate yet, so there is nothing to draw.")
    if name == "estimators":
        frame = study.alternatives
        return plots.interval_rows(frame, label=f"{study.what}, {study.level} intervals")
    if name == "roc":
        return view.roc(cut).plot()
    base, _, place = name.rpartition("-")
    metric = view.metrics[int(place)]
    if base == "roc":
        import pandas as pd

        table = view.roc(cut)
        if metric not in table.rocs:
            raise HTTPException(404, f"{shorter(metric)} is a covariate, not a judge.")
        roc, point = table.roc(metric), table.point(metric)
        marked = pd.DataFrame([{"system": metric, "fpr": 1 - point.eta, "tpr": point.rho}])
        return plots.roc_curves(roc.curve().assign(system=metric, auc=roc.auc), marked)
    sample, scores = study.ratings.sample, study.ratings.scores
    values, weights = view.campaign.pool.metrics[metric], sample.design.weights
    at, label = values[sample.indices], shorter(metric, 40)
    if base == "scatter":
        line = weighted_line(at, scores, weights)
        return plots.scatter_fit(at[:_DOTS], scores[:_DOTS], line, xlabel=label)
    return plots.two_distributions(values, at, weights, label=label)
