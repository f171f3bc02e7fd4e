"""Embedded example for adequate/inadequate ratings: an LLM judge on all answers, people on some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: Success rate of each assistant, and how often the judge recognises good and bad answers of it.
_SYSTEMS = {
    "terse": (0.58, 0.80, 0.85),
    "chatty": (0.52, 0.92, 0.62),
    "careful": (0.68, 0.82, 0.84),
}


def judged_frame(items: int = 1000, rated: int = 150, seed: int = 1) -> pd.DataFrame:
    """Answers of three assistants to the same questions, judged by an LLM and partly by people.

    The judge is too kind to one of them, the chatty one: by its word that one is ahead of the terse
    one, which in truth gives more good answers. All numbers are made up.

    Parameters
    ----------
    items
        Questions.
    rated
        Answers of each assistant that people rated, at random.
    seed
        Of the random numbers.

    Returns
    -------
    frame
        ``item``, ``system``, ``judge`` (0 or 1), ``confidence`` of the judge that the answer is
        good (0 to 1), ``passed`` (what people say: 0, 1, or empty where nobody was asked), and
        ``truth``, what they would say of every answer.

    Examples
    --------
    >>> frame = judged_frame()
    >>> frame.groupby("system", sort=False)[["judge", "truth"]].mean().round(2)
             judge  truth
    system
    terse     0.53   0.60
    chatty    0.66   0.55
    careful   0.62   0.68
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    ease = rng.random(items)  # easy questions are easy for all
    parts = []
    for name, (rate, rho, eta) in _SYSTEMS.items():
        mixed = np.where(rng.random(items) < 0.5, ease, rng.random(items))
        truth = mixed < rate
        right = rng.random(items) < np.where(truth, rho, eta)
        judge = np.where(right, truth, ~truth)
        sure = 0.5 + 0.5 * rng.beta(2, 2, items) ** np.where(right, 0.7, 1.4)
        asked = np.zeros(items, dtype=bool)
        asked[rng.permutation(items)[:rated]] = True
        columns = {
            "item": np.arange(1, items + 1),
            "system": name,
            "judge": judge.astype(int),
            "confidence": np.round(np.where(judge, sure, 1 - sure), 3),
            "passed": np.where(asked, truth, np.nan),
            "truth": truth.astype(int),
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
