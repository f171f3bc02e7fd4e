"""Replay annotation many times and compare strategies.

`simulate` makes a task for each pool, budget and group of strategies that share a sampler. Tasks
run in any order, on any number of processes; each gives the cells of its strategies.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fewgold import registry
from fewgold.common.arrays import RNGLike, as_rng
from fewgold.common.checks import Limits, as_limits, check_choice, check_confidence, check_count
from fewgold.common.text import counted, verb
from fewgold.errors import BudgetError, DataError, FewgoldError, UnknownNameError
from fewgold.estimate import Bound
from fewgold.estimator import Estimator
from fewgold.estimators import Mean
from fewgold.samplers import Budget, Cost, SimpleRandom
from fewgold.simulation.cells import (
    Cell,
    CellStore,
    Task,
    all_data_digest,
    as_estimator,
    budget_label,
)
from fewgold.simulation.result import Simulation, shown
from fewgold.simulation.studies import Study, as_studies

#: 5 % to 50 % in steps of 5 %, as in Saldías et al. (2022).
DEFAULT_BUDGETS: tuple[float, ...] = tuple(k / 20 for k in range(1, 11))
BASELINE = "random+mean"

Strategies = Mapping[str, Estimator | str] | Iterable[Estimator | str] | Estimator | str
Progress = Callable[[int, int], None]


def simulate(
    data: Any,
    gold: Any = None,
    strategies: Strategies | None = None,
    budgets: Iterable[Budget] | Budget = DEFAULT_BUDGETS,
    *,
    draws: int = 100,
    rng: RNGLike = 0,
    baseline: str = BASELINE,
    confidence: float = 0.95,
    bounds: Mapping[str, Bound] | Iterable[Bound | str] | Bound | str = (),
    limits: Limits | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    store: str | Path | None = None,
    resume: bool = True,
) -> Simulation:
    """Replay annotation on fully rated data, to see which strategy comes closest to the truth.

    Parameters
    ----------
    data
        A pool, or (pool, gold) as `fewgold.datasets.load_demo` returns them; or many: a mapping
        from names to (pool, gold), or a sequence of such pairs.
    gold
        Human scores of every segment, if ``data`` is a single pool.
    strategies
        Names such as ``docs-prop+cv-knn``, estimators, or a mapping from your own names to either.
        By default all that `registry.strategy_names` lists for the pools, plus ``random+alpha`` for
        scores of 0 and 1.
    budgets
        Counts, shares of the pool, or `Cost`.
    draws
        Repetitions of each study.
    rng
        A seed. The same seed gives the same figures, whatever the parallelism, the other
        strategies and the other pools.
    baseline
        The strategy that the others are compared with; added if it is not among them.
    confidence
        Confidence of the intervals whose coverage is counted.
    bounds
        Further bounds, or their names, to try on every estimate besides each estimator's own.
    limits
        Ends of the rating scale, such as ``(0, 25)`` or ``"mqm"``, for bounds that need them.
    n_jobs
        Processes, as for joblib: None follows `joblib.parallel_config`, else 1; -1 takes
        all cores. Within ``parallel_config("dask")`` the cells run on that cluster.
    progress
        Called with the number of finished tasks and the total.
    store
        A folder that keeps finished cells, so that an interrupted simulation can resume.
    resume
        Use the cells found in ``store``. Cells made with other data, settings or strategy code are
        not used; failures are tried again.
    """
    studies = as_studies(data, gold)
    chosen = _strategies(strategies, studies, baseline)
    amounts = _budgets(budgets)
    check_count("draws", draws, least=2)
    check_confidence(confidence)
    if isinstance(rng, int | np.integer) and rng < 0:
        raise FewgoldError(f"rng must be a seed of at least 0; got {rng}.")
    seed = int(rng) if isinstance(rng, int | np.integer) else int(as_rng(rng).integers(2**62))
    ends = as_limits(limits)
    extra = _bounds(bounds, ends)
    for name, study in studies.items():
        low, high = ends or (-np.inf, np.inf)
        outside = (study.gold < low) | (study.gold > high)
        if outside.any():
            raise DataError(
                f"{counted(int(outside.sum()), 'score')} of {name} "
                f"{verb(int(outside.sum()), 'lie')} outside the limits {low:g} to "
                f"{high:g}, first {study.gold[outside][0]:g}. Correct the scores or the limits."
            )
    tasks = [
        Task(label, study.pool, study.gold, budget, group, draws, seed, confidence, extra, ends)
        for label, study in studies.items()
        for group in _groups(chosen, study)
        for budget in amounts
    ]
    start = time.perf_counter()
    found = _all_cells(tasks, n_jobs, progress, store, resume)
    cells = tuple(  # in the order in which pools, strategies and budgets were given
        found[label, name, budget_label(budget)]
        for label in studies
        for name in chosen
        for budget in amounts
    )
    if all(cell.failure for cell in cells):
        first = next(iter(found.values())).failure
        raise FewgoldError(f"no strategy worked on these data. First: {first}")
    base = chosen[baseline]  # the error of the mean of a simple random sample is known exactly
    return Simulation(
        cells=cells,
        draws=draws,
        seed=seed,
        baseline=baseline,
        plain=base == BASELINE or (isinstance(base, Mean) and base.sampler == SimpleRandom()),
        confidence=confidence,
        bounds=tuple(extra),
        data=all_data_digest(studies),
        told=_unusual_settings(chosen, strategies is None, amounts, extra, ends),
        seconds=time.perf_counter() - start,
    )


def _strategies(
    given: Strategies | None, studies: Mapping[str, Study], baseline: str
) -> dict[str, Estimator | str]:
    if given is None:
        given = usual_strategies(studies)
    if isinstance(given, str | Estimator):
        given = [given]
    named: dict[str, Estimator | str] = {}
    if isinstance(given, Mapping):
        named = {str(name): made for name, made in given.items()}
    else:
        for made in given:
            name = _name_of(made, studies)
            if name in named and named[name] != made:
                raise FewgoldError(
                    f"two strategies are called {name!r}. Name them: strategies={{name: …}}."
                )
            named[name] = made
    for name, made in named.items():
        if not isinstance(made, str | Estimator):
            raise FewgoldError(
                f"strategy {name!r} must be a name or an Estimator; got {type(made).__name__}."
            )
        check_strategy(made, studies)
    if baseline not in named:
        check_strategy(baseline, studies)
        named = {baseline: baseline, **named}
    return named


def usual_strategies(studies: Mapping[str, Study]) -> list[str]:
    """The strategies that a simulation on these data compares by default."""
    lists = (registry.strategy_names(study.pool) for study in studies.values())
    names = list(dict.fromkeys(name for names in lists for name in names))
    if all(np.isin(study.gold, (0, 1)).all() for study in studies.values()):
        names.append("random+alpha")
    return names


def _unusual_settings(
    chosen: Mapping[str, Estimator | str], usual: bool, budgets: list[Budget],
    bounds: Mapping[str, Bound], limits: tuple[float, float] | None,
) -> dict[str, str]:  # fmt: skip
    """Parts of the signature for settings that are not the default."""
    found: dict[str, str] = {}
    labels = [budget_label(b) for b in budgets]
    if tuple(labels) == DEFAULT_BUDGETS:
        found["budgets"] = "-".join(map(shown, (labels[0], labels[-1])))
    else:
        found["budgets"] = ",".join(map(shown, labels))
    if not usual:
        made = {
            name: m if isinstance(m, str) else f"{m.sampler!r}+{m.spelled}+{m.bound!r}"
            for name, m in chosen.items()
        }
        text = re.sub(r" at 0x[0-9a-f]+", "", repr(made))  # without memory addresses
        found["strategies"] = f"{len(made)}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"
    if bounds:
        found["bounds"] = ",".join(
            b.spelled if name == b.name else f"{name}={b.spelled}" for name, b in bounds.items()
        )
    if limits is not None:
        found["scale"] = "{:.10g}-{:.10g}".format(*limits)
    return found


def _name_of(made: Any, studies: Mapping[str, Study]) -> str:
    """SAMPLER+ESTIMATOR, even for a sampler or an estimator alone."""
    if isinstance(made, str):
        if "+" in made:
            return made
        check_strategy(made, studies)
        made = registry.strategy(made, next(iter(studies.values())).pool)
    if not isinstance(made, Estimator):
        raise FewgoldError(f"a strategy is a name or an Estimator; got {type(made).__name__}.")
    return f"{made.sampler.name}+{made.name}"


def check_strategy(made: Estimator | str, studies: Mapping[str, Study]) -> None:
    """Raise an error for a name unknown to all pools; one unknown to some fails in its cells."""
    for k, study in enumerate(studies.values()):
        try:
            as_estimator(made, study.pool)
            return
        except UnknownNameError:
            if k == len(studies) - 1:
                raise


def check_scale(
    made: Estimator | str, studies: Mapping[str, Study], limits: tuple[float, float] | None
) -> None:
    """Raise an error for rank-based uneven chances on a rating scale that they do not suit."""
    for study in studies.values():
        chances = getattr(as_estimator(made, study.pool).sampler, "chances", None)
        if chances is not None:
            chances._check_scale(limits)


def _budgets(given: Iterable[Budget] | Budget) -> list[Budget]:
    found: list[Budget] = []
    for budget in given if isinstance(given, Iterable) and not isinstance(given, str) else [given]:
        if not isinstance(budget, int | float | np.number | Cost) or isinstance(budget, bool):
            raise BudgetError(
                "budgets must be numbers of segments, shares such as 0.05, or Cost(…); got "
                f"{budget!r}."
            )
        found.append(budget.item() if isinstance(budget, np.number) else budget)
    if not found:
        raise BudgetError(
            "expected at least one budget; got none. Give counts or shares, such as [0.05, 0.1]."
        )
    labels = [budget_label(b) for b in found]
    if len(set(labels)) < len(labels):  # also 1 and 1.0, one segment and all of them
        raise BudgetError(f"budgets must differ as numbers; got {labels}.")
    return found


def _bounds(
    given: Mapping[str, Bound] | Iterable[Bound | str] | Bound | str,
    limits: tuple[float, float] | None,
) -> dict[str, Bound]:
    if isinstance(given, Mapping):
        named = {str(name): bound for name, bound in given.items()}
    else:
        listed = [given] if isinstance(given, Bound | str) else list(given)
        # A bound given by name keeps that name, such as star:comet.
        pairs = [(b, registry.bound(b)) if isinstance(b, str) else (b.name, b) for b in listed]
        named = dict(pairs)
        if len(named) < len(pairs):
            raise FewgoldError("two bounds have the same name. Name them: bounds={name: …}.")
    for name, bound in named.items():
        if not name or name == "mc" or name.endswith("_mc"):
            raise FewgoldError(
                f"a bound cannot be called {name!r}, because column names end that way. Give it "
                "another name: {…}."
            )
        if limits is None and bound.needs_limits:
            raise FewgoldError(
                f"the {name} bound needs the ends of the scale.",
                hints={
                    "python": "Give them, such as limits=(0, 25).",
                    "cli": "Give them, such as --limits 0,25.",
                    "web": "Give them as the rating scale.",
                },
            )
    return named


def _groups(
    chosen: Mapping[str, Estimator | str], study: Study
) -> Iterator[dict[str, Estimator | str]]:
    """Strategies with the same sampler: they share their samples, for paired comparisons."""
    groups: list[tuple[Any, dict[str, Estimator | str]]] = []
    for name, made in chosen.items():
        try:
            sampler: Any = as_estimator(made, study.pool).sampler
        except FewgoldError:
            sampler = name  # fails later, and says so in its cells
        for other, group in groups:
            if _alike(other, sampler):
                group[name] = made
                break
        else:
            groups.append((sampler, {name: made}))
    return (group for _, group in groups)


def _alike(one: Any, other: Any) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # such as a field that is an array
        return one is other


def _all_cells(
    tasks: Sequence[Task],
    n_jobs: int | None,
    progress: Progress | None,
    store: str | Path | None,
    resume: bool,
) -> dict[tuple[str, str, int | float | str], Cell]:
    """Cells by pool, strategy and budget: those of an earlier run, and the rest computed."""
    from joblib import Parallel, delayed

    kept = None if store is None else CellStore(store)
    found: list[Cell] = []
    todo: dict[int, Task] = {}
    for k, task in enumerate(tasks):
        known = {s: kept.load(key) for s, key in task.keys.items()} if kept and resume else {}
        found += [cell for cell in known.values() if cell is not None]
        left = {s: made for s, made in task.strategies.items() if known.get(s) is None}
        if left:
            todo[k] = replace(task, strategies=left)
    done = len(tasks) - len(todo)
    if progress:
        progress(done, len(tasks))
    run = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="4*n_jobs")
    for k, computed in run(delayed(_run)(k, task) for k, task in todo.items()):
        found += computed
        if kept is not None:
            for cell in computed:
                kept.save(tasks[k].keys[cell.strategy], cell)
        done += 1
        if progress:
            progress(done, len(tasks))
    return {(cell.pool, cell.strategy, cell.budget): cell for cell in found}


def _run(k: int, task: Task) -> tuple[int, list[Cell]]:
    return k, task.run()


BACKENDS = ("loky", "threading", "multiprocessing", "dask")


@contextmanager
def running_on(
    backend: str | None = None, scheduler: str | None = None, n_jobs: int | None = None
) -> Iterator[None]:
    """Run simulations within this context on a joblib backend.

    ``dask`` uses the cluster at the address ``scheduler``, or a local one if no address is given;
    its workers need fewgold installed. Everything else about `simulate` stays the same, including
    its figures.
    """
    from joblib import parallel_config

    if backend is None and scheduler is not None:
        raise FewgoldError("a scheduler needs the dask backend. Add backend='dask'.")
    if backend is not None:
        check_choice("backend", backend, BACKENDS)
    if backend != "dask":
        if scheduler is not None:
            raise FewgoldError(f"a scheduler needs the dask backend; got {backend!r}.")
        chosen: Any = {"n_jobs": n_jobs}
        if backend is not None:
            chosen = {"backend": backend, "n_jobs": -1 if n_jobs is None else n_jobs}
        with parallel_config(**chosen):
            yield
        return
    try:
        import distributed
    except ImportError:
        raise FewgoldError(
            'the dask backend needs dask. Install it: pip install "fewgold[cluster]".'
        ) from None
    dask: Any = distributed
    with ExitStack() as open_until_done:
        try:
            cluster = scheduler or open_until_done.enter_context(
                dask.LocalCluster(n_workers=n_jobs, dashboard_address=":0")
            )
            open_until_done.enter_context(dask.Client(cluster, timeout="10s"))
        except (OSError, ValueError, TimeoutError) as error:
            raise FewgoldError(f"no dask scheduler answers at {scheduler!r}: {error}") from None
        with parallel_config("dask", n_jobs=-1):
            yield
