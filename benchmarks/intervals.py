"""Compare all intervals: how often they hold and how wide they are; for docs/intervals.md.

    python benchmarks/intervals.py [--draws 500] [--data wmt20_ende,wmt20_zhen] [--whole]
    python benchmarks/intervals.py --skewed        # few ratings of the most skewed real scores
    python benchmarks/intervals.py --choose        # the evidence for bound="auto"; needs no files
    python benchmarks/intervals.py --plot docs/intervals.svg

The first command draws simple random samples of 10, 30 and 50 % of the segments of each system,
with scores from 0 to 25, and makes 95 % intervals of the plain mean. ``holds`` is the share of
intervals that contain the true mean, ``t`` is half their width (cut at the limits), ``slack`` is
t − |error|, and ``H/t`` is the half-width of the paper's Hoeffding formula (R = 25, not cut)
divided by t. Half of the documents are the pool, as in the paper, or all with ``--whole``.
``--time`` shows the time of one interval of one study of 10 % instead. Needs the real WMT20 files;
``--skewed`` also needs those of the TED talks.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from _common import arguments as common
from _common import need, read, table

from fewgold import Pool
from fewgold.bounds import BOUNDS, Auto, BootstrapT, Bound, Hall, Hoeffding, Likelihood, Student
from fewgold.bounds.betting import Betting, STaR
from fewgold.common.arrays import FloatArray
from fewgold.datasets import load_demo, load_real, real_systems
from fewgold.estimate import LinearEstimate
from fewgold.estimators import Mean
from fewgold.reproduce.saldias_methods import TABLE5
from fewgold.samplers import SimpleRandom

SHARES = (0.1, 0.3, 0.5)
LIMITS = (0.0, 25.0)
ORACLE_R = {"wmt20_ende": 4.0, "wmt20_zhen": 7.0}
LEFT_OUT = {"hypergeometric", "clopper-pearson", "stratified-betting"}  # other scores or samples


def methods(name: str) -> dict[str, Bound]:
    found: dict[str, Bound] = {"hoeffding, printed": Hoeffding(printed=True)}
    found |= {key: make() for key, make in BOUNDS.items() if key not in LEFT_OUT}
    found |= {"star, 3/4 above": STaR(upper=0.75), "betting, 3/4 above": Betting(upper=0.75)}
    found |= {"star + COMET": STaR(metric="COMET", upper=0.75)}
    found["hoeffding, oracle R"] = Hoeffding(printed=True, score_range=ORACLE_R[name])
    return found


def half(pool: Pool, gold: FloatArray, whole: bool, seed: int) -> tuple[Pool, FloatArray]:
    """The segments of half of the documents, or all."""
    chosen = np.random.default_rng(seed).permutation(int(pool.codes.max()) + 1)
    keep = np.flatnonzero(np.isin(pool.codes, chosen[:: 1 if whole else 2]))
    metrics = {name: pool.matrix([name])[0][keep] for name in pool.metrics}
    return Pool(pool.ids[keep], metrics), gold[keep]


def drawn(pool: Pool, gold: FloatArray, n: int, draws: int, seed: int) -> LinearEstimate:
    sample = SimpleRandom().draw(pool, n, draws=draws, rng=seed)
    return Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS))


def figures(made: LinearEstimate, truth: float, bound: Bound) -> tuple[float, float, float]:
    low, high = made.interval(0.95, bound)
    width = (high - low) / 2
    holds = (low <= truth) & (truth <= high)
    slack = width - np.abs(made.value - truth)
    return float(holds.mean()), float(width.mean()), float(slack.mean())


def milliseconds(made: LinearEstimate, bound: Bound) -> float:
    one, best = made.draw(0), np.inf
    for _ in range(5):
        fresh = replace(one)  # nothing worked out yet
        start = time.perf_counter()
        fresh.interval(0.95, bound)
        best = min(best, time.perf_counter() - start)
    return 1000 * best


def study(name: str, systems: list[str], draws: int, whole: bool) -> None:
    """Mean figures over the systems."""
    tried = methods(name)
    total = {key: np.zeros((len(SHARES), 3)) for key in tried}
    formula = np.zeros(len(SHARES))
    for k, system in enumerate(systems):
        pool, gold = half(*load_real(name, system=system), whole, k)
        for i, share in enumerate(SHARES):
            n = round(share * len(pool))
            made = drawn(pool, gold, n, draws, 100 * k + i)
            left = (1 - (n - 1) / len(pool)) / n
            formula[i] += 25 * np.sqrt(left * np.log(2 / 0.05) / 2) / len(systems)
            for key, bound in tried.items():
                total[key][i] += np.array(figures(made, gold.mean(), bound)) / len(systems)
    print(f"{name}: {len(systems)} systems, N about {len(gold)}, {draws} draws each, 95 %\n")
    rows = []
    for key, bound in tried.items():
        holds, width, slack = total[key].T
        rows.append([
            key, bound.kind,
            *(f"{100 * v:.1f}" for v in holds), *(f"{v:.2f}" for v in (*width, *slack)),
            *(f"{v:.1f}" for v in formula / width),
        ])  # fmt: skip
    pair = "EnDe" if name.endswith("ende") else "ZhEn"
    base = [TABLE5[pair][share]["base"] for share in SHARES]
    cells = [[f"{v:.4g}" for v in row] for row in zip(*((c.cal, c.t, c.slack) for c in base))]  # noqa: B905
    rows.append(["Table 5, as printed", "", *(v for row in cells for v in row), "", "", ""])
    heads = [f"{what} {share:.0%}" for what in ("holds", "t", "slack", "H/t") for share in SHARES]
    table(["", "promise", *heads], rows, left=2)


def times(name: str, draws: int) -> None:
    """Milliseconds of one interval, the best of five."""
    pool, gold = half(*load_real(name, system=real_systems(name)[0]), False, 0)
    made = drawn(pool, gold, round(0.1 * len(pool)), draws, 0)
    print(f"{name}: one study of {made.ratings.n} of {len(pool)} segments\n")
    cells = [(key, f"{milliseconds(made, bound):.2f}") for key, bound in methods(name).items()]
    table(["", "ms"], cells)


ADAPTIVE: dict[str, Bound] = {
    "student": Student(), "hall": Hall(), "bootstrap-t": BootstrapT(),
    "likelihood": Likelihood(), "auto": Auto(),
}  # fmt: skip
SMALL = (30, 50, 70, 100, 140, 280)


def skewed(name: str, systems: list[str], draws: int) -> None:
    """Few ratings: worst and mean coverage over the systems, and widths over the oracle's."""
    cells: dict[str, list[list[tuple[float, float]]]] = {key: [] for key in ADAPTIVE}
    for k, system in enumerate(systems):
        pool, gold = load_real(name, system=system)
        rows: dict[str, list[tuple[float, float]]] = {key: [] for key in ADAPTIVE}
        for n in SMALL:
            made = drawn(pool, gold, n, draws, 1000 * k + n)
            oracle = 1.96 * gold.std(ddof=1) * np.sqrt(1 / n - 1 / len(gold))
            for key, bound in ADAPTIVE.items():
                holds, width, _ = figures(made, gold.mean(), bound)
                rows[key].append((holds, width / oracle))
        for key, row in rows.items():
            cells[key].append(row)
    print(f"{name}, {draws} draws: worst and mean coverage in %, t over that of the known spread\n")
    lines = []
    for key, found in ((key, np.array(part)) for key, part in cells.items()):
        worst, mean, wide = found[..., 0].min(0), found[..., 0].mean(0), found[..., 1].mean(0)
        cell = (f"{100 * a:.1f} {100 * b:.1f} {c:.2f}" for a, b, c in zip(worst, mean, wide))  # noqa: B905
        lines.append([f"`{key}`", *cell])
    table(["ratings", *map(str, SMALL)], lines)


def populations(size: int = 1400) -> Iterator[tuple[str, FloatArray]]:
    """Scores of many shapes, from one seed."""
    rng = np.random.default_rng(5)
    errors = rng.choice([0.1, 1, 1, 2, 5, 5, 6, 10, 25], size, p=[0.1, 0.3, 0.2, 0.1, 0.12, 0.08, 0.05, 0.04, 0.01])  # fmt: skip # noqa: E501
    yield "normal", rng.normal(12, 2, size).clip(0, 25)
    yield "uniform", rng.uniform(0, 25, size)
    yield "exponential", rng.exponential(2, size).clip(0, 25)
    yield "60 % zeros", np.where(rng.random(size) < 0.6, 0, rng.exponential(3, size)).clip(0, 25)
    yield "lognormal", rng.lognormal(0, 1, size).clip(0, 25)
    yield "like MQM", np.where(rng.random(size) < 0.5, 0, errors)
    for rater in ("rater1", "rater3"):
        yield f"embedded, {rater}", load_demo("ende", rater=rater)[1]


def choose(draws: int) -> None:
    """Coverage and mean half-width over that of the known spread, by number of ratings."""
    sizes = (6, 10, 15, 16, 20, 30, 45, 59, 60, 100, 200)
    for title, gold in populations():
        u = (gold - gold.mean()) / gold.std()
        pool = Pool(np.arange(len(gold)))
        rows: dict[str, list[str]] = {key: [f"`{key}`"] for key in ADAPTIVE}
        for n in sizes:
            made = drawn(pool, gold, n, draws, n)
            oracle = 1.96 * gold.std(ddof=1) * np.sqrt(1 / n - 1 / len(gold))
            for key, bound in ADAPTIVE.items():
                holds, width, _ = figures(made, gold.mean(), bound)
                rows[key].append(f"{100 * holds:.1f} {width / oracle:.2f}")
        print(f"{title}, skewness {(u**3).mean():.1f}: coverage in %, width; {draws} draws\n")
        table(["ratings", *map(str, sizes)], rows.values())


def plot(path: str, draws: int) -> None:
    """Coverage and width of each interval at 10 % and 50 %, on the embedded data."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    pool, gold = load_demo("ende", rater="rater3")
    plt.rcParams["svg.hashsalt"] = "fewgold"
    colours = {"guaranteed": "#1b6ca8", "conjectured": "#7b4ea3", "approximate": "#c2571a"}
    shares: dict[float, Literal["full", "none"]] = {0.1: "full", 0.5: "none"}
    bounds = [make() for key, make in BOUNDS.items() if key not in LEFT_OUT]
    made = {s: drawn(pool, gold, round(s * len(pool)), draws, 2) for s in shares}
    found = {(b, s): figures(made[s], gold.mean(), b) for b in bounds for s in shares}
    bounds.sort(key=lambda b: -found[b, 0.1][1])
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
    for row, bound in enumerate(bounds):
        for share, fill in shares.items():
            for ax, value in zip(axes, (100 * found[bound, share][0], found[bound, share][1]), strict=True):  # fmt: skip # noqa: E501
                ax.plot(value, row, "o", color=colours[bound.kind], fillstyle=fill, ms=6)
    axes[0].axvline(95, color="0.6", lw=1, ls="--")
    axes[0].set(xlabel="intervals that hold the true mean, %")
    axes[0].set_yticks(range(len(bounds)), [b.name for b in bounds])
    axes[1].set(xscale="log", xlabel="half-width, on a scale from 0 to 25")
    axes[1].set_xticks([0.3, 0.5, 1, 2, 5], ["0.3", "0.5", "1", "2", "5"])
    axes[1].minorticks_off()
    for ax in axes:
        ax.grid(axis="y", color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
    marks = [Line2D([], [], marker="o", ls="", color=c, label=k) for k, c in colours.items()]
    marks += [
        Line2D(
            [], [], marker="o", ls="", color="0.3", fillstyle=fill, label=f"{s:.0%} of 705 rated"
        )
        for s, fill in shares.items()
    ]
    axes[1].legend(handles=marks, frameon=False, loc="lower left", fontsize=8)
    figure.savefig(path, metadata={"Date": None} if path.endswith("svg") else None)


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--data", default="wmt20_ende,wmt20_zhen")
    parser.add_argument("--systems", type=int, help="only the first systems of each")
    parser.add_argument("--whole", action="store_true", help="all documents are the pool")
    parser.add_argument("--skewed", action="store_true", help="few ratings of skewed real scores")
    parser.add_argument(
        "--choose", action="store_true", help="coverage on populations of many shapes"
    )
    parser.add_argument("--time", action="store_true", help="show milliseconds per interval")
    parser.add_argument("--plot", metavar="FILE", help="draw the figure of the page")
    return parser


def main() -> None:
    options = read(arguments(), draws=20, systems=1)
    names = options.data.split(",") + ["ted_ende"] * options.skewed
    if options.choose:
        choose(options.draws)
        return
    if options.plot:
        plot(options.plot, options.draws)
        return
    need(*names)
    for name in names:
        systems = real_systems(name)[: options.systems]
        if options.skewed:
            skewed(name, systems, options.draws)
        elif options.time:
            times(name, options.draws)
        else:
            study(name, systems, options.draws, options.whole)


if __name__ == "__main__":
    main()
