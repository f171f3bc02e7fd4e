"""A bare string is one name wherever names are taken, never a name for each of its letters."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold import History, Ratings, criteria, estimate_mean, simulate
from fewgold.bayes import (
    BinaryPosterior,
    RaterPosterior,
    naive_table,
    preferences,
    roc_table,
    success_rates,
)
from fewgold.campaign import Campaign, Settings
from fewgold.comparison import bradley_terry, compare, compare_by, joint_pool
from fewgold.datasets import demo_frame, load_demo
from fewgold.doctor import examine
from fewgold.errors import DataError
from fewgold.estimators import ControlVariates, Ridge
from fewgold.formats import Rating
from fewgold.judge import assess, assess_table
from fewgold.monitoring import from_ratings, judge_drift, monitor
from fewgold.planning import Goal, Outlook, plan_from_history
from fewgold.pool import Pool
from fewgold.reproduce import saldias
from fewgold.samplers import SimpleRandom
from fewgold.simulation import studies_from_table

sys.path.insert(0, str(Path(__file__).parent / "packaging"))
import public_names

_NAMES = re.compile(r"(Sequence|Iterable|Collection|tuple|list)\[str(, \.\.\.)?\]")
POOL, GOLD = load_demo("zhen", system="alpha")
SAMPLE = SimpleRandom().draw(POOL, 60, rng=1)
FRAME = demo_frame("zhen")
ONE = FRAME[FRAME["system"] == "alpha"].reset_index(drop=True)
RATINGS = SAMPLE.rate(GOLD[SAMPLE.indices])
BATCHES = np.resize(["a", "b"], GOLD.size)
PAIRS = pd.DataFrame({"people": ["A", "B"] * 5, "llm": ["A", "tie"] * 5})
RUNS = pd.DataFrame({"item": list(range(9)) * 2, "week": [1] * 9 + [2] * 9, "llm": [0.5, 1] * 9})


def _preferred(judges: Any) -> Any:
    """A campaign with outputs side by side, all of them judged."""
    numbers = np.arange(10)
    pool = Pool(
        ids=np.array([f"q{k}" for k in numbers]), metrics={"llm": numbers % 3 - 1.0},
        texts={name: np.array([f"{name} {k}" for k in numbers]) for name in ("one", "two")},
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        path = f"{folder}/s"
        with Campaign.create(path, pool, strategy="random", sides=("one", "two")) as study:
            study.select(8)
            study.add(Rating(str(i), float(k % 2), "ann") for k, i in enumerate(study.sample.ids))
            return study.preferences(judges)


def _study(ask: Callable[[Campaign], Any]) -> Any:
    """What a campaign answers that has rated all outputs of two systems, in two languages."""
    numbers = np.arange(80)
    segments, system = numbers // 2, np.where(numbers % 2, "b", "a")
    pool = Pool(
        ids=np.array([f"{s}{k}" for s, k in zip(system, segments, strict=True)]), system=system,
        texts={"output": np.array([f"text {k}" for k in numbers])},
    )  # fmt: skip
    language = np.where(segments % 2, "de", "ja")
    with TemporaryDirectory() as folder, Campaign.create(
        f"{folder}/s", pool, strategy="random", seed=1, segments=segments,
        labels={"language": language},
    ) as study:  # fmt: skip
        study.select(40)
        study.add(Rating(str(i), float(k * 7 % 5), "ann") for k, i in enumerate(pool.ids))
        return ask(study)


VERDICTS = pd.DataFrame({"ann": [0, 1] * 5, "llm": [1, 1] * 5})
RATED = {"human": "rater1", "adequate": "<= 1"}


def _value(estimator: Any, cut: bool = False) -> float:
    ratings = SAMPLE.rate(GOLD[SAMPLE.indices])
    return float(estimator.estimate(ratings.cut("<= 1") if cut else ratings).value)


def _studied(by: Any) -> list[str]:
    return list(studies_from_table(FRAME, human="rater1", by=by, rated_only=True, id="segment")[0])


def _sheet(human: Any) -> list[float]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.csv"
        SAMPLE.to_sheet(path)
        pd.read_csv(path).assign(score=GOLD[SAMPLE.indices]).to_csv(path, index=False)
        return Ratings.from_sheet(path, human=human).scores.tolist()


#: Functions and classes that take names, each as a call of one argument and a name for it.
CASES: dict[tuple[str, str], tuple[str, Callable[[Any], Any]]] = {
    ("Ridge", "metrics"): ("comet", lambda m: _value(Ridge(metrics=m))),
    ("ControlVariates", "metrics"): ("comet", lambda m: _value(ControlVariates(metrics=m))),
    ("BinaryPosterior", "metric"): (
        "comet", lambda m: _value(BinaryPosterior(m, threshold="equal"), cut=True),
    ),
    ("Pool.from_table", "metrics"): (
        "comet", lambda m: list(Pool.from_table(ONE, id="segment", metrics=m).metrics),
    ),
    ("Pool.from_table", "texts"): (
        "document", lambda t: list(Pool.from_table(ONE, id="segment", texts=t).texts),
    ),
    ("History.from_table", "metrics"): (
        "comet",
        lambda m: [
            list(study.pool.metrics)
            for study in History.from_table(ONE, id="segment", human="rater1", metrics=m).studies
        ],
    ),
    ("Pool.matrix", "names"): ("comet", lambda m: POOL.matrix(m).tolist()),
    ("Pool.standardised", "names"): ("comet", lambda m: POOL.standardised(m).tolist()),
    ("Sample.standardised", "names"): ("comet", lambda m: SAMPLE.standardised(m).tolist()),
    ("naive_table", "metrics"): (
        "comet", lambda m: naive_table(ONE, metrics=m, rated=80, rng=1, **RATED).to_frame(),
    ),
    ("success_rates", "metric"): (
        "comet", lambda m: success_rates(ONE, metric=m, threshold="equal", **RATED).to_frame(),
    ),
    ("roc_table", "metrics"): ("comet", lambda m: roc_table(ONE, metrics=m, **RATED).to_frame()),
    ("compare", "human"): (
        "rater1",
        lambda h: compare(FRAME, human=h, system="system", id="segment").signature(),
    ),
    ("compare", "metrics"): (
        "comet",
        lambda m: compare(
            FRAME, human="rater1", system="system", id="segment", metrics=m, target="pool"
        ).signature(),
    ),
    ("compare_by", "by"): (
        "document",
        lambda by: compare_by(
            FRAME, by, human="rater1", system="system", id="segment", target="pool"
        ).signature(),
    ),
    ("joint_pool", "metrics"): (
        "comet",
        lambda m: joint_pool(FRAME, id="segment", system="system", metrics=m).fingerprint,
    ),
    ("joint_pool", "texts"): (
        "document",
        lambda t: list(joint_pool(FRAME, id="segment", system="system", texts=t).texts),
    ),
    ("studies_from_table", "by"): ("system", _studied),
    ("studies_from_table", "human"): (
        "rater1",
        lambda h: studies_from_table(
            FRAME, human=h, by="system", rated_only=True, id="segment"
        )[0]["alpha"].gold.tolist(),
    ),
    ("Settings", "shown"): (
        "metrics", lambda s: Settings(name="x", strategy="random", seed=1, shown=s),
    ),
    ("plan_from_history", "strategies"): (
        "random+ridge",
        lambda s: plan_from_history(Goal(half_width=0.5), POOL, GOLD, s, draws=4).to_frame(),
    ),
    ("Outlook.from_pilot", "strategies"): (
        "random+alpha-comet:bins",
        lambda s: Outlook.from_pilot(RATINGS.cut("<= 1"), strategies=s),
    ),
    ("saldias", "data"): (
        "demo-ende",
        lambda d: saldias(
            2, [0.1], d, incremental=False, systems={"demo-ende": ["alpha"]}
        ).signature,
    ),
}  # fmt: skip
CASES |= {
    ("estimate_mean", "human"): (
        "rater1", lambda h: estimate_mean(ONE, human=h, metrics=[], id="segment").signature(),
    ),
    ("estimate_mean", "metrics"): (
        "comet",
        lambda m: estimate_mean(ONE, human="rater1", metrics=m, id="segment").signature(),
    ),
    ("from_table", "metrics"): (
        "comet",
        lambda m: criteria.from_table(ONE, "rater1", metrics=m, id="segment").estimate().summary(),
    ),
    ("CriteriaRatings.only", "names"): (
        "rater1", lambda n: list(criteria.from_table(ONE, "rater1", id="segment").only(n)),
    ),
    ("Ratings.from_table", "human"): (
        "rater1", lambda h: Ratings.from_table(ONE, human=h, id="segment").scores.tolist(),
    ),
    ("Ratings.from_sheet", "human"): ("score", _sheet),
    ("assess", "judges"): ("comet", lambda j: [t.judge for t in assess(RATINGS, j).judges]),
    ("assess", "against"): (
        "words", lambda x: [f["column"] for f in assess(RATINGS, "comet", against=x).follows],
    ),
    ("assess", "by"): (
        "comet", lambda x: [t.slice for t in assess(RATINGS, "comet", by=x).slices],
    ),
    ("assess_table", "judges"): (
        "comet", lambda j: [t.judge for t in assess_table(ONE, human="rater1", judges=j).judges],
    ),
    ("monitor", "baseline"): (
        "a", lambda b: monitor(from_ratings(RATINGS, BATCHES), drop=1, baseline=b).baseline,
    ),
    ("judge_drift", "judges"): (
        "llm", lambda j: judge_drift(RUNS, item="item", batch="week", judges=j).to_frame(),
    ),
    ("preferences", "judges"): (
        "llm", lambda j: preferences(PAIRS, human="people", judges=j).judges,
    ),
    ("Campaign.preferences", "judges"): ("llm", lambda j: _preferred(j).judges),
    ("Campaign.slicing", "by"): (
        "language", lambda by: {k: v.tolist() for k, v in _study(lambda s: s.slicing(by)).items()},
    ),
    ("Campaign.slices", "by"): (
        "language", lambda by: _study(lambda s: s.of("a").slices(by).to_frame()),
    ),
    ("Campaign.compare_by", "by"): (
        "language", lambda by: _study(lambda s: s.compare_by(by).signature()),
    ),
    ("Campaign.tasks_for", "raters"): ("ann", lambda r: list(_study(lambda s: s.tasks_for(r)))),
    ("bradley_terry", "judges"): (
        "llm",
        lambda j: bradley_terry(
            PAIRS.assign(one="x", two="y"), human="people", first="one", second="two", judges=j
        ).judges,
    ),
    ("RaterPosterior.from_frame", "raters"): (
        "ann", lambda r: RaterPosterior.from_frame(VERDICTS, raters=r)._answers.names,
    ),
    ("RaterPosterior.from_frame", "metrics"): (
        "llm",
        lambda m: RaterPosterior.from_frame(VERDICTS, raters="ann", metrics=m)._answers.names,
    ),
    ("assess_table", "texts"): (
        "document",
        lambda t: list(
            assess_table(ONE, human="rater1", judges="comet", texts=t).disagreements(most=2)
        ),
    ),
}  # fmt: skip
#: Parameters that hold names and are no choice of a user, or have tests of their own.
NOT_HERE = {
    **dict.fromkeys(
        (
            "Simulation", "Significance", "Status", "Wave", "Comparison", "Raters", "Reading",
            "PairRanking",
            "Tasks", "TreePair", "Preferences", "Slices", "Alarm", "Monitoring",
        ),
        "results, which the package itself makes",
    ),
    "CorpusScore.sacrebleu": "texts, no names: tests/reliability/test_corpus.py",
    **dict.fromkeys(("Engine.attach", "DuckDB.attach", "Spark.attach"), "called by StoredPool"),
    **dict.fromkeys(
        ("StoredPool", "Excerpt.standardised"),
        "pools on disk: as those in memory",
    ),
    **dict.fromkeys(
        ("Group", "Headline", "Items", "Text", "markdown", "page"), "sentences of a page, no names"
    ),
    "UnknownNameError": "an error",
    "Simulation.summary": "below",
    "plan": "as plan_from_history",
    "examine": "below",
    "read_tree": "takes a string for a name",
    **dict.fromkeys(
        (
            "coverage_curves", "curves", "documents_for_half_width", "error_curves", "ranking",
            "mean_by_documents", "reliability_curves", "roc_curves", "tangent", "width_curves",
        ),
        "below",
    ),
}  # fmt: skip


def _taking_names() -> set[tuple[str, str]]:
    found = set()
    for module in public_names.modules():
        if module.__name__.count(".") > 1 and not hasattr(module, "__all__"):
            continue  # a room of a package, which itself says what is public
        for name in public_names.names(module):
            thing = getattr(module, name, None)
            things = {name: thing}
            if inspect.isclass(thing):
                things |= {f"{name}.{k}": getattr(thing, k) for k in vars(thing) if k[0] != "_"}
            for label, one in things.items():
                try:
                    parameters = inspect.signature(one).parameters  # type: ignore[arg-type]
                except (TypeError, ValueError):
                    continue
                for p in parameters.values():
                    if p.name != "notes" and _NAMES.search(str(p.annotation)):
                        found.add((label, p.name))
    return found


def test_every_place_that_takes_names_is_known() -> None:
    unknown = {(label, name) for label, name in _taking_names() if label not in NOT_HERE}
    # As the campaign is begun; two sides are two names.
    written = {("saldias", "systems"), ("Settings", "systems"), ("Settings", "sides")}
    assert unknown - written == CASES.keys()


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_bare_string_is_one_name(case: tuple[str, str]) -> None:
    name, call = CASES[case]
    one, listed = call(name), call((name,))
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, listed)
    else:
        assert one == listed


def test_a_bare_string_is_one_name_in_summaries_figures_and_the_doctor(tmp_path: Path) -> None:
    made = simulate(POOL, GOLD, "random+ridge", [0.1], draws=3)
    assert made.summary("random+ridge") == made.summary(["random+ridge"])
    ONE.to_csv(tmp_path / "pool.csv", index=False)
    path = str(tmp_path / "pool.csv")
    assert examine(path, metrics="comet").to_dict() == examine(path, metrics=["comet"]).to_dict()
    pytest.importorskip("matplotlib")
    for kind in ("error", "coverage", "ranking", "widths"):
        drawn = [made.plot(kind, highlight=h) for h in ("random+mean", ["random+mean"])]
        first, second = ([t.get_text() for t in ax.texts] for ax in drawn)
        assert first == second


def test_a_metric_called_mean_is_the_mean_of_all() -> None:
    assert ControlVariates(metrics="mean").name == "cv-mean"
    assert ControlVariates(metrics="comet").name == "cv-comet"


def test_studies_take_what_load_demo_returns() -> None:
    both = load_demo("zhen", system="alpha")
    one = simulate(both, strategies="random+mean", budgets=[0.1], draws=3)
    two = simulate(*both, strategies="random+mean", budgets=[0.1], draws=3)
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())
    given = {"strategies": "random+ridge", "draws": 4}
    plans = [plan_from_history(Goal(half_width=0.5), *d, **given) for d in ((both,), both)]
    pd.testing.assert_frame_equal(plans[0].to_frame(), plans[1].to_frame())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((GOLD, POOL), r"expected pairs \(pool, gold\), a Pool and its scores; got ndarray"),
        ("demo-ende", r"expected a pool with its scores, \(pool, gold\), or several .* got str"),
        (3, r"expected a pool with its scores, \(pool, gold\), or several .* got int"),
        ([(POOL, GOLD, 1)], r"got tuple of 3 \(Pool, ndarray, int\)"),
    ],
)
def test_what_is_no_study_is_said(data: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        simulate(data)
