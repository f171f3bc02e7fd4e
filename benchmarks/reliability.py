"""Reliability by number of documents, on the real WMT20 ratings; for docs/reliability.md.

    python benchmarks/reliability.py [exponents|settled|coverage|half-widths|pilots] [--draws 4000]
    python benchmarks/reliability.py --plot docs/reliability.svg    # on the embedded data

Shows exponents of the power laws, how soon ranks are settled, coverage, planned half-widths, or
plans from pilots. Without a name it shows all of them, which takes some minutes.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
from _common import arguments as common
from _common import need, read, table
from scipy.special import stdtrit

from fewgold import plots
from fewgold.datasets import demo_frame, real_frame
from fewgold.reliability import documents_needed, reliability

SETS = ("wmt20_ende", "wmt20_zhen")
COLUMNS: dict[str, Any] = {
    "score": "mqm",
    "document": "doc_id",
    "system": "system",
    "segment": "seg_id",
}


def exponents(seed: int, orders: int) -> pd.DataFrame:
    """b, R², x_min and x_max, smallest and largest over systems."""
    rows = []
    for name in SETS:
        for order in ("file", min(orders, 20)):
            for resample in ("segments", "documents"):
                found = reliability(
                    real_frame(name), orders=order, resample=resample, rng=seed, **COLUMNS
                )
                fits = found.fits()
                for kind, part in fits.groupby("kind", sort=False):
                    row: dict[str, Any] = {"set": name, "orders": order, "drawn": resample}
                    row["fit"] = kind
                    for column in ("b", "r2", "x_min", "x_max"):
                        if kind == "power" or column != "b":
                            ends = part[column].min(), part[column].max()
                            digits = ".2f" if column in ("b", "r2") else ".3g"
                            row[column] = " to ".join(format(end, digits) for end in ends)
                    rows.append(row)
    return pd.DataFrame(rows).fillna("")


def settled(seed: int, orders: int) -> pd.DataFrame:
    """Pairs of systems in the final order, by number of documents."""
    rows = []
    for name in SETS:
        frame = real_frame(name)
        every = int(frame["doc_id"].nunique())
        for resample in ("segments", "documents"):
            found = reliability(
                frame, orders=min(orders, 200), draws=200, at=[2, 5, 15, 75, every],
                resample=resample, rng=seed, **COLUMNS,
            )  # fmt: skip
            # Without resampling the orders alone decide, which are the same both times.
            kinds = {"nothing": "settled"} if resample == "segments" else {}
            for drawn, column in (kinds | {resample: "pairs"}).items():
                shares = [f"{100 * v:.0f} %" for v in found.ranks()[column]]
                heads = ("2", "5", "15", "75", "all")
                rows.append({"set": name, "drawn": drawn} | dict(zip(heads, shares, strict=True)))
    return pd.DataFrame(rows)


def coverage(seed: int, orders: int) -> pd.DataFrame:
    """How often 95 % intervals of the first documents hold the score of all, over 400 orders."""
    rows = []
    for name in SETS:
        for resample in ("segments", "documents"):
            found = reliability(
                real_frame(name), orders=orders, draws=300, at=[5, 10, 20], resample=resample,
                rng=seed, **COLUMNS,
            )  # fmt: skip
            full = found.data.means[..., None, None]
            hit = ((found.low <= full) & (full <= found.high)).mean((0, 1, 2))
            heads = ("5", "10", "20")
            cells = [f"{100 * v:.0f} %" for v in hit]
            rows.append({"set": name, "drawn": resample} | dict(zip(heads, cells, strict=True)))
    return pd.DataFrame(rows)


def half_widths(seed: int, draws: int) -> pd.DataFrame:
    """Found divided by promised, smallest and largest over systems and populations."""
    rows = []
    for name in SETS:
        frame = real_frame(name)
        for documents in (20, 40, 80):
            rng = np.random.default_rng([seed, documents])
            found = []
            for population in ("these", None):
                plan = documents_needed(frame, half_width=1, population=population, **COLUMNS)
                sizes, quantile = plan.data.sizes, float(stdtrit(documents - 1, 0.975))
                for m in range(len(plan.data.systems)):
                    target = float(plan.at(documents)[0, m])
                    if population is None:
                        drawn = rng.integers(sizes.size, size=(draws, documents))
                        left = 1.0
                    else:
                        drawn = np.argsort(rng.random((draws, sizes.size)), 1)[:, :documents]
                        left = 1 - documents / sizes.size
                    y, w = plan.data.totals[0, m][drawn], sizes[drawn]
                    value = y.sum(1) / w.sum(1)
                    rest = y - value[:, None] * w
                    se = np.sqrt(left * (rest**2).sum(1) / (documents - 1) / documents) / w.mean(1)
                    hit = np.abs(value - plan.found.value[0, m]) <= quantile * se
                    found.append(
                        (
                            quantile * se.mean() / target,
                            quantile * np.sqrt((se**2).mean()) / target,
                            quantile * value.std() / target,
                            hit.mean(),
                        )
                    )
            low, high = np.min(found, 0), np.max(found, 0)
            heads = ("mean half-width", "rms half-width", "spread", "coverage")
            cells = [f"{a:.2f} to {b:.2f}" for a, b in zip(low, high, strict=True)]
            rows.append(
                {"set": name, "documents": documents} | dict(zip(heads, cells, strict=True))
            )
    return pd.DataFrame(rows)


def pilots(seed: int, draws: int) -> pd.DataFrame:
    """Documents needed according to pilots, divided by the number from the whole set."""
    rng = np.random.default_rng(seed)
    rows = []
    for name in SETS:
        frame = real_frame(name)
        plan = documents_needed(frame, half_width=1, **COLUMNS)
        totals, sizes = plan.data.totals[0], plan.data.sizes.astype(float)
        for size in (10, 20, 40):
            ratios = []
            for _ in range(draws // 10):
                own = rng.choice(sizes.size, size, replace=False)
                value = totals[:, own].sum(1) / sizes[own].sum()
                rest = totals[:, own] - value[:, None] * sizes[own]
                between = np.sqrt((rest**2).sum(1) / (size - 1)) / sizes[own].mean()
                ratios.append((between / plan.found.between[0]) ** 2)
            low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
            told = {"10 %": low, "median": middle, "90 %": high}
            cells = {head: f"{value:.2f}" for head, value in told.items()}
            rows.append({"set": name, "pilot": str(size)} | cells)
    return pd.DataFrame(rows)


def plot(path: str, orders: int) -> None:
    """The figure of the page, on the embedded data."""
    frame = demo_frame("ende")
    frame["human"] = frame.filter(like="rater").mean(axis=1)
    columns: dict[str, Any] = {"document": "document", "system": "system", "segment": "segment"}
    found = reliability(frame, score="human", orders=min(orders, 20), rng=0, **columns)
    plots.save(found.plot("tangent"), path)


TABLES = ("exponents", "settled", "coverage", "half-widths", "pilots")


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("which", nargs="?", choices=TABLES)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--plot", metavar="FILE", help="draw the figure of the page")
    parser.add_argument(
        "--orders", type=int, default=400, help="random orders of documents, for coverage"
    )
    return parser


def main() -> None:
    asked = read(arguments(), draws=50, orders=5)
    if asked.plot:
        plot(asked.plot, asked.orders)
        return
    need(*SETS)
    for which in [asked.which] if asked.which else TABLES:
        if which == "exponents":
            found = exponents(asked.seed, asked.orders)
        elif which == "settled":
            found = settled(asked.seed, asked.orders)
        elif which == "coverage":
            found = coverage(asked.seed, asked.orders)
        elif which == "half-widths":
            found = half_widths(asked.seed, asked.draws)
        else:
            found = pilots(asked.seed, asked.draws)
        left = {"half-widths": 1, "pilots": 1, "exponents": 4}.get(which, 2)
        table([str(c) for c in found.columns], found.to_numpy().tolist(), left=left)


if __name__ == "__main__":
    main()
