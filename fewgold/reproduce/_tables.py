"""The tables of the paper beside what comes out here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.reproduce import _printed
from fewgold.reproduce._compare import abs_error
from fewgold.reproduce._data import Rated
from fewgold.reproduce._methods import BASE, BEST, bounds, lines
from fewgold.simulation import Simulation

if TYPE_CHECKING:
    import pandas as pd

#: The sizes of Table 5.
SIZES = (0.1, 0.3, 0.5)
WHO = {"base": BASE, "best": BEST}


def errors_table(
    table: str,
    data: Iterable[Rated],
    runs: Mapping[str, Simulation],
    rankings: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """Tables 1 to 4 and 6: a line for each method, printed and ours.

    ``rankings`` are those of the simulations, by strategy. ``ratio`` is the error over that of
    the baseline: what can be compared across data.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    seen = set()
    for rated in data:
        run, printed = runs[rated.name], _printed.TABLES[table].get(rated.pair, {})
        base = abs_error(run, BASE)
        seen.add(rated.pair)
        for line in lines(table, rated.metrics[0]):
            mine = rankings[rated.name].loc[line.strategy]
            ratio = abs_error(run, line.strategy) / base
            row: dict[str, Any] = {"data": rated.name, "pair": rated.pair, **line._asdict()}
            row |= _as_printed(printed, line.method, line.kind)
            row |= {
                **{"error": mine["abs_error"], "error_mc": mine["abs_error_mc"]},
                **{"sdev": mine["abs_error_sd"], "sdev_mc": mine["abs_error_sd_mc"]},
                **{"win": 100 * mine["win"], "win_mc": 100 * mine["win_mc"]},
                **{"ratio": ratio.value, "ratio_mc": ratio.mc},
            }
            rows.append(row)
    for pair, printed in _printed.TABLES[table].items():
        if pair not in seen:  # EnRu of Table 6, for which there are no data
            for method in printed:
                row = {
                    "data": "",
                    "pair": pair,
                    "method": method,
                    "strategy": "",
                    "kind": "printed",
                }
                rows.append(row | _as_printed(printed, method, "printed"))
    return pd.DataFrame(rows)


def _as_printed(printed: Mapping[str, _printed.Row], method: str, kind: str) -> dict[str, float]:
    row = printed.get(method) if kind == "printed" else None
    return {
        "printed_error": row.abs_error if row else np.nan,
        "printed_sdev": row.sdev if row else np.nan,
        "printed_win": np.nan if row is None or row.win is None else row.win,
        "printed_ratio": row.abs_error / printed["baseline"].abs_error if row else np.nan,
    }


def bounds_table(data: Iterable[Rated], runs: Mapping[str, Simulation]) -> pd.DataFrame:
    """Table 5: how often the error was below the bound, by how much, and the bound."""
    import pandas as pd

    rows = []
    for rated in data:
        frame = runs[rated.name].by_budget()
        for bound, made in bounds(rated.pair).items():
            for size in sizes(runs[rated.name]):
                for who, strategy in WHO.items():
                    at = (frame["strategy"] == strategy) & np.isclose(frame["budget"], size)
                    mine = frame[at].iloc[0]
                    oracle = bound.endswith("oracle")
                    shown = _printed.TABLE5[rated.pair][round(size, 2)][who] if oracle else None
                    rows.append(
                        {
                            **{"data": rated.name, "pair": rated.pair},
                            **{"bound": made.name, "R": getattr(made, "score_range", np.nan)},
                            **{"size": 100 * size, "estimator": who},
                            "printed_cal": shown.cal if shown else np.nan,
                            "printed_slack": shown.slack if shown else np.nan,
                            "printed_t": shown.t if shown else np.nan,
                            "cal": 100 * mine[f"coverage_{bound}"],
                            "cal_mc": 100 * mine[f"coverage_{bound}_mc"],
                            "slack": mine[f"slack_{bound}"],
                            "slack_mc": mine[f"slack_{bound}_mc"],
                            "t": mine[f"half_width_{bound}"],
                            "error": mine["abs_error"],
                        }
                    )
    return pd.DataFrame(rows)


def sizes(run: Simulation) -> list[float]:
    """Those sizes of Table 5 that were simulated."""
    return [b for b in run.budgets if isinstance(b, float) and np.isclose(b, SIZES).any()]


def metrics_table(full: Iterable[Rated], small: Iterable[Rated]) -> pd.DataFrame:
    """Table 9: the metrics here beside those of the paper, each in the order of correlation.

    Then those of Table 6, of which the paper prints no correlation.
    """
    import pandas as pd

    rows = []
    for rated in full:
        theirs = list(_printed.TABLE9[rated.pair].items())
        mine = list(rated.correlations.items())
        for k in range(max(len(mine), len(theirs))):
            ours, printed = (x[k] if k < len(x) else ("", np.nan) for x in (mine, theirs))
            rows.append((rated.name, "tables 1 to 5", *printed, *ours, len(rated.studies)))
    for rated in small:
        for ours in rated.correlations.items():
            rows.append((rated.name, "table 6", "", np.nan, *ours, len(rated.studies)))
    columns = ["data", "used", "printed_metric", "printed_r", "metric", "r", "systems"]
    return pd.DataFrame(rows, columns=columns)
