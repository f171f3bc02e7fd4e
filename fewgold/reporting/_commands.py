"""The commands that do a study again."""

from __future__ import annotations

import shlex

from fewgold._orientation import told_orientation
from fewgold.reporting._study import Study


def commands(study: Study) -> str:
    """The commands that draw the same segments and make the same number."""
    own = study.context.get("commands")
    if own:
        return own if isinstance(own, str) else "\n".join(map(str, own))
    pool = shlex.quote(str(study.context.get("pool_file") or "POOL.csv"))
    waves = list(study.waves) or [{"n": study.n + len(study.unrated)}]
    if len(study.seeds) > len(waves) == 1:  # waves of sizes that were not told
        waves = [{"n": f"N{i}"} for i in range(1, len(study.seeds) + 1)]
    columns = _columns(study)
    lines = []
    for i, wave in enumerate(waves[:6]):
        seed = study.seeds[i] if i < len(study.seeds) else "SEED"
        strategy = shlex.quote(str(wave.get("strategy") or study.strategy))
        given = f" --given wave{i}.csv" if i else columns
        lines.append(
            f"fewgold select {pool}{given} --strategy {strategy} --budget {wave.get('n')} "
            f"--seed {shlex.quote(seed)} -o wave{i + 1}.csv"
        )
    if len(waves) > 6:
        lines.append(f"# and so on, up to wave {len(waves)}")
    return "\n".join([*lines, f"fewgold estimate wave{len(waves)}.csv{_options(study)}"])


def _columns(study: Study) -> str:
    """The metrics and texts of the pool; a guess from the table's columns may take others."""
    pool = study.ratings.sample.pool
    told = {
        "--metrics": ",".join(pool.metrics) or "none",
        "--texts": ",".join(pool.texts),
        "--orientation": told_orientation(pool.orientation, pool.metrics),
    }
    return "".join(f" {name} {shlex.quote(value)}" for name, value in told.items() if value)


def _options(study: Study) -> str:
    found = []
    name = study.strategy.partition("+")[2] or study.strategy
    if name != study.estimator.name and study.strategy not in study.samplers:
        found += ["--estimator", study.estimator.name]
    adequate, limits = study.ratings.sample.info.get("adequate"), study.ratings.limits
    if adequate is not None:
        found += ["--adequate", str(adequate).replace(" ", "")]
    elif limits is not None:
        found += ["--limits", "{:g},{:g}".format(*limits)]
    bound = study.estimator.bound
    spelled = bound if isinstance(bound, str) else bound.name
    metric = getattr(bound, "metric", None)
    if spelled not in ("auto", "equal"):
        found += ["--bound", f"{spelled}:{metric}" if metric else spelled]
    better = getattr(study.estimator, "higher_is_better", None)
    if better is not None:
        found.append("--higher-is-better" if better else "--lower-is-better")
    if study.confidence != 0.95:
        found += ["--confidence", f"{study.confidence:g}"]
    return "".join(f" {shlex.quote(word)}" for word in found)
