"""The embedded demonstration data: two synthetic test sets with six raters and five systems."""

from __future__ import annotations

import gzip
import io
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fewgold.errors import UnknownNameError
from fewgold.pool import Pool

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("ende", "zhen")
RATERS = tuple(f"rater{j}" for j in range(1, 7))
ORIENTATION = {"comet": 1, "bleurt": 1, "qe": 1, "chrf": 1, "bleu": 1, "ter": -1, "words": 0}

# Reading time of an annotator: a fixed part for opening the segment and a part per output word.
SECONDS_PER_SEGMENT = 10.0
SECONDS_PER_WORD = 0.8

_SOURCE_WORDS = (
    "la rivo fluas tra verda valo kaj malnova ponto ligas du bordojn sub klara matena lumo "
    "dum homoj iras al merkato kun korboj da pomoj pano fromago libroj"
)
_OUTPUT_WORDS = (
    "the river runs through a green valley and an old bridge joins both banks under clear "
    "morning light while people walk to market with baskets of apples bread cheese books"
)


def load_demo(
    kind: str = "ende", *, system: str = "alpha", rater: str | None = None, texts: bool = False
) -> tuple[Pool, NDArray[np.float64]]:
    """Load one system's outputs of an embedded synthetic test set, with human scores.

    The sets resemble the WMT 2020 news test sets with MQM ratings: scores from 0 (perfect) to 25,
    skewed, with many zeros, in contiguous documents. They contain no real data: they come from a
    model based on published figures (tests/reference/demo_data.py of the sources).

    Parameters
    ----------
    kind : {"ende", "zhen"}
        "ende" has 1418 segments in 130 documents and metrics of low correlation with the
        score; "zhen" has 2000 in 155, with worse scores and stronger metrics.
    system : str
        One of `demo_systems`. "human" is better than the metrics suggest.
    rater : str, optional
        "rater1" to "rater6": only the segments that this rater saw (about half of the documents),
        with the rater's scores. By default the score is the mean of the three raters of each
        segment.
    texts : bool
        Add the columns ``source`` and ``output``: meaningless text of the right length, for
        trying annotation pages. The same call gives the same text.

    Returns
    -------
    pool : Pool
        Ids such as "seg0007" (the same for all systems), documents, the metrics ``comet,
        bleurt, qe, chrf, bleu, ter`` and ``words``, and the cost in ``seconds``.
    gold : ndarray of float64, shape (len(pool),)
        Human scores, in the pool's order; larger is worse.

    Examples
    --------
    >>> pool, gold = load_demo("ende", rater="rater3")
    >>> len(gold) == len(pool)
    True
    """
    table = demo_frame(kind)
    systems = demo_systems(kind)
    if system not in systems:
        raise UnknownNameError(f"system of the demo set {kind!r}", system, systems)
    table = table[table["system"] == system]
    if rater is None:
        gold = table[list(RATERS)].mean(axis=1)
    elif rater in RATERS:
        table = table[table[rater].notna()]
        gold = table[rater]
    else:
        raise UnknownNameError("rater", rater, RATERS, "None means the mean of three raters.")

    table = table.assign(seconds=SECONDS_PER_SEGMENT + SECONDS_PER_WORD * table["words"])
    if texts:
        for name, words, counts, key in (
            ("source", _SOURCE_WORDS, "source_words", ""),
            ("output", _OUTPUT_WORDS, "words", system),
        ):
            rows = zip(table["segment"], table[counts], strict=True)
            table[name] = [_sentence(words, int(count), segment + key) for segment, count in rows]
    pool = Pool.from_table(
        table.reset_index(drop=True),
        id="segment",
        document="document",
        metrics=list(ORIENTATION),
        cost="seconds",
        system="system",
        texts=("source", "output") if texts else (),
        orientation=ORIENTATION,
    )
    return pool, gold.to_numpy(dtype=np.float64)


def demo_systems(kind: str = "ende") -> list[str]:
    """The systems of an embedded set: the human translator first, then from best to worst."""
    return list(demo_frame(kind)["system"].unique())


def demo_frame(kind: str = "ende") -> pd.DataFrame:
    """The whole table of an embedded set: one row per segment and system.

    Parameters
    ----------
    kind : {"ende", "zhen"}
        Which set.

    Returns
    -------
    pandas.DataFrame
        ``segment, document, position, system, source_words, words``, the metrics, and ``rater1`` to
        ``rater6``, missing if the rater did not see the document.
    """
    import pandas as pd

    if kind not in KINDS:
        raise UnknownNameError("demo set", kind, KINDS)
    packed = resources.files("fewgold.datasets").joinpath(f"demo-{kind}.csv.gz").read_bytes()
    return pd.read_csv(io.BytesIO(gzip.decompress(packed)))


def _sentence(vocabulary: str, count: int, key: str) -> str:
    """``count`` words, chosen by the key: the same on every machine and in every version."""
    choices = vocabulary.split()
    state = int.from_bytes(key.encode(), "big") % 2_147_483_647 or 1
    words = []
    for _ in range(count):
        state = state * 48_271 % 2_147_483_647  # Park-Miller generator
        words.append(choices[state % len(choices)])
    return " ".join(words).capitalize() + "."


# Embedded example for adequate/inadequate ratings: an LLM judge on all answers, people on some.


#: Success rate of each assistant, and how often the judge recognises good and bad answers of it.
_SYSTEMS = {
    "terse": (0.58, 0.80, 0.85),
    "chatty": (0.52, 0.92, 0.62),
    "careful": (0.68, 0.82, 0.84),
}


def judged_frame(items: int = 1000, rated: int = 150, seed: int = 1) -> pd.DataFrame:
    """Answers of three assistants to the same questions, judged by an LLM and partly by people.

    The judge is too lenient to one of them, the chatty one, and puts it ahead of the terse one,
    which in truth gives more good answers. All numbers are made up.

    Parameters
    ----------
    items
        Number of questions.
    rated
        Number of answers per assistant that people rated, chosen at random.
    seed
        Random seed.

    Returns
    -------
    frame
        ``item``, ``system``, ``judge`` (0 or 1), ``confidence`` of the judge that the answer is
        good (0 to 1), ``passed`` (the human verdict: 0, 1, or empty if unrated), and ``truth``, the
        verdict people would give on every answer.

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
    ease = rng.random(items)  # easy questions are easy for all assistants
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
