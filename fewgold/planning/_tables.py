"""Measurable differences over two sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.errors import FewgoldError
from fewgold.planning._difference import measurable_difference

if TYPE_CHECKING:
    import pandas as pd

#: The sizes of Tables 11 to 14 of von Däniken et al. (2022).
HUMAN = (0, 100, 250, 500, 1000, 2500, 5000, 10_000)
METRIC = (0, 1000, 2500, 5000, 10_000, 50_000, 100_000)


def difference_table(
    *,
    human: Sequence[int] = HUMAN,
    metric: Sequence[int] = METRIC,
    **study: Any,
) -> pd.DataFrame:
    """Measurable differences: a row for each number of human ratings, a column for the metric.

    Parameters
    ----------
    human, metric
        The sizes; those of the paper by default.
    **study
        ``alpha``, ``rho``, ``eta`` and all else that `measurable_difference` takes, as single
        numbers. ``paired`` is the same in all cells, if given.

    Examples
    --------
    >>> table = difference_table(alpha=0.6, rho=0.9, eta=0.9, human=[100, 1000])
    >>> print(table.rename_axis(None).round(3))
    metric  0       1000    2500    5000    10000   50000   100000
    100      0.134   0.091   0.088   0.087   0.086   0.086   0.086
    1000     0.043   0.036   0.032   0.030   0.028   0.027   0.026
    """
    import pandas as pd

    for name, sizes in (("human", human), ("metric", metric)):
        if np.ndim(sizes) != 1 or not len(sizes):
            raise FewgoldError(f"{name} must be a list of sizes; got {sizes!r}.")
    found = measurable_difference(human=np.asarray(human)[:, None], metric=metric, **study)
    if np.ndim(found) != 2:
        raise FewgoldError(
            f"a table has single numbers for all but human and metric; got an array that makes it "
            f"{np.ndim(found)}-dimensional. Use measurable_difference for those."
        )
    return pd.DataFrame(
        found,
        index=pd.Index(list(human), name="human"),
        columns=pd.Index(list(metric), name="metric"),
    )
