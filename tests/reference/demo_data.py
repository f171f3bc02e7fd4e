"""The generator of the embedded demonstration data.

The two tables imitate the WMT 2020 MQM setting of English-German ("ende") and Chinese-English
("zhen") from *published figures only* (the numbers of segments, documents and raters, the means
of systems, the correlations of metrics, the disagreement of raters). No real rating, metric
score or text is read, so the tables can be shipped with the library.

How a score comes about:

1. A source segment has a length, a document effect and a difficulty of its own.
2. A system's output has an expected score: the system's mean times a log-normal factor of
   length, document, difficulty and a part that belongs to this output alone.
3. A rater multiplies it by a severity and by a judgement of their own, and finds Poisson numbers
   of major (5), minor (1) and punctuation (0.1) errors. The sum is capped at 25.
4. A metric sees the logarithm of the expected score (so its relation with the score is not
   linear) through noise that metrics of the same family share, and is squashed to its scale.

References
----------
Freitag, Foster, Grangier, Ratnakar, Tan, Macherey (2021). Experts, errors, and context: a
large-scale study of human evaluation for machine translation. TACL 9.

Run ``python tests/reference/demo_data.py`` to rewrite the two files in fewgold/datasets.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import fewgold.datasets
from fewgold.datasets.demo import RATERS

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

CAP = 25.0  # the worst MQM score of a segment
PUNCTUATION_RATE = 0.06  # punctuation slips per segment and rater
NON_TRANSLATION = 0.001  # share of outputs that are no translation at all ...
NOTICED = 0.7  # ... and the chance that a rater marks one as such
CAP_LOSS = 0.017  # the cap takes this share of a system's mean, per point of the mean
HUMAN_BLIND_SPOT = 0.6  # metrics rate human translations too low: on the log scale of the score

# The share of a metric's noise that it has in common with the other reference-based metrics:
# overlap metrics compare with the same reference words, a reference-free metric does not.
SHARED_NOISE = {"bleurt": 0.35, "comet": 0.35, "qe": 0.1, "chrf": 0.75, "bleu": 0.7, "ter": 0.7}


@dataclass(frozen=True)
class Setting:
    """The constants of one table.

    Attributes
    ----------
    segments, documents
        Sizes of the test set.
    systems
        Mean score of each system, within the published range.
    severity
        Factor of each rater on the expected score; the spread makes raters hard to predict.
    length_slope
        Exponent of the output length in the expected score.
    document_sd, segment_sd, output_sd, judgement_sd
        Standard deviations, on the log scale, of the document effect, the difficulty of the
        source segment, the part of one output and the judgement of one rater on one output.
    major_share
        Share of the expected score that comes from major errors.
    loadings
        Correlation of each metric (before squashing) with the log expected score, in the order
        of `SHARED_NOISE`.
    """

    segments: int
    documents: int
    systems: dict[str, float]
    severity: tuple[float, ...]
    length_slope: float
    document_sd: float
    segment_sd: float
    output_sd: float
    judgement_sd: float
    major_share: float
    loadings: tuple[float, ...]


SETTINGS = {
    "ende": Setting(
        segments=1418,
        documents=130,
        systems={"human": 0.91, "alpha": 2.02, "beta": 2.25, "gamma": 2.48, "delta": 2.99},
        severity=(0.96, 0.92, 1.20, 0.88, 0.96, 1.12),
        length_slope=0.83,
        document_sd=0.55,
        segment_sd=0.5,
        output_sd=0.6,
        judgement_sd=0.4,
        major_share=0.7,
        loadings=(0.75, 0.63, 0.58, 0.5, 0.44, 0.43),
    ),
    "zhen": Setting(
        segments=2000,
        documents=155,
        systems={"human": 3.62, "alpha": 5.03, "beta": 5.19, "gamma": 5.41, "delta": 5.85},
        severity=(1.07, 1.12, 0.92, 1.32, 0.71, 0.86),
        length_slope=1.15,
        document_sd=0.57,
        segment_sd=0.3,
        output_sd=0.35,
        judgement_sd=0.4,
        major_share=0.75,
        loadings=(0.77, 0.75, 0.73, 0.68, 0.74, 0.65),
    ),
}


def synthesize(kind: str, seed: int = 2020) -> pd.DataFrame:
    """Make the table of one language pair: one row per system and segment.

    Parameters
    ----------
    kind : {"ende", "zhen"}
        Which setting to imitate.
    seed : int
        Seed of the random numbers; the shipped tables are made with the default.

    Returns
    -------
    pandas.DataFrame
        ``segment, document, position`` (in the document), ``system``, ``source_words``,
        ``words``, the metrics, and ``rater1`` to ``rater6`` (missing where a rater did not
        work on the document). The systems' outputs of one segment follow each other, and
        documents are contiguous.
    """
    import pandas as pd

    setting = SETTINGS[kind]
    rng = np.random.default_rng([seed, setting.segments])
    sizes = _document_sizes(rng, setting.segments, setting.documents)
    document = np.repeat(np.arange(setting.documents), sizes)
    assigned = _assign(rng, sizes)[document]  # segments x raters

    topic = 0.2 * rng.standard_normal(setting.documents)[document]  # some documents are wordier
    source_words = _counts(21 * np.exp(topic + 0.52 * rng.standard_normal(len(document))))
    # Normal scores in random order instead of draws: with so few documents the intraclass
    # correlation would otherwise depend on one or two extreme ones.
    scores = [NormalDist().inv_cdf((i + 0.5) / setting.documents) for i in range(setting.documents)]
    effect = setting.document_sd * rng.permutation(scores)[document]
    difficulty = effect + setting.segment_sd * rng.standard_normal(len(document))

    shared = pd.DataFrame(
        {
            "segment": [f"seg{i:04d}" for i in range(1, setting.segments + 1)],
            "document": [f"doc{d:03d}" for d in document + 1],
            "position": np.concatenate([np.arange(1, size + 1) for size in sizes]),
        }
    )
    tables = []
    for system, mean in setting.systems.items():
        words = _counts(np.exp(np.log(source_words) + 0.08 * rng.standard_normal(len(document))))
        log_factor = setting.length_slope * np.log(words / 21) + difficulty
        log_factor += setting.output_sd * rng.standard_normal(len(document))
        # Normalised, so that a system's mean is the intended one whatever the spread is: less
        # what punctuation and non-translations will add, plus what the cap will take.
        extras = 0.1 * PUNCTUATION_RATE + CAP * NON_TRANSLATION
        expected = np.exp(log_factor) * (mean - extras) / (1 - CAP_LOSS * mean)
        expected /= np.exp(log_factor).mean()
        broken = rng.random(len(document)) < NON_TRANSLATION
        expected[broken] = CAP
        ratings = _rate(rng, setting, expected, broken)
        tables.append(
            shared.assign(
                system=system,
                source_words=source_words,
                words=words,
                **_metrics(rng, setting, expected, human=system == "human"),
                **dict(zip(RATERS, np.where(assigned, ratings, np.nan).T, strict=True)),
            )
        )
    # The outputs of one segment side by side: half of each row repeats, and compresses well.
    return pd.concat(tables).sort_index(kind="stable").reset_index(drop=True)


def _document_sizes(rng: np.random.Generator, segments: int, documents: int) -> NDArray[np.int64]:
    """Draw skewed document sizes between 4 and 30 that sum to the number of segments."""
    draws = rng.gamma(2.5, segments / documents / 2.5, documents)
    sizes = np.clip(np.rint(draws), 4, 30).astype(np.int64)
    while (gap := segments - int(sizes.sum())) != 0:
        step = 1 if gap > 0 else -1
        movable = np.flatnonzero((sizes + step >= 4) & (sizes + step <= 30))
        sizes[rng.choice(movable, min(abs(gap), len(movable)), replace=False)] += step
    return sizes


def _assign(rng: np.random.Generator, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Give each document three of the six raters.

    Documents of about equal size go in pairs, three raters to the one and the other three to
    its partner: all trios occur, and everyone's share stays near a half, as in Table 7.
    """
    assigned = np.zeros((len(sizes), len(RATERS)), dtype=np.bool_)
    for turn, row in enumerate(np.argsort(sizes, kind="stable")):
        if turn % 2 == 0:
            trio, partner = np.split(rng.permutation(len(RATERS)), 2)
        assigned[row, trio if turn % 2 == 0 else partner] = True
    return assigned


def _counts(lengths: Floats) -> NDArray[np.int64]:
    """Whole numbers of words, 3 to 90."""
    return np.clip(np.rint(lengths), 3, 90).astype(np.int64)


def _rate(
    rng: np.random.Generator, setting: Setting, expected: Floats, broken: NDArray[np.bool_]
) -> Floats:
    """Ratings of all six raters, (segments, raters): weighted error counts, capped."""
    shape = (len(expected), len(RATERS))
    judgement = setting.judgement_sd * rng.standard_normal(shape)
    rate = expected[:, None] * np.asarray(setting.severity)
    rate *= np.exp(judgement - setting.judgement_sd**2 / 2)
    scores: Floats = (
        5 * rng.poisson(rate * setting.major_share / 5)
        + rng.poisson(rate * (1 - setting.major_share))
        + 0.1 * rng.poisson(PUNCTUATION_RATE, shape)
    )
    scores[broken[:, None] & (rng.random(shape) < NOTICED)] = CAP
    return np.minimum(scores, CAP).round(1)


def _metrics(
    rng: np.random.Generator, setting: Setting, expected: Floats, human: bool
) -> dict[str, Floats]:
    """Metric scores on their usual scales; all but ``ter`` rise with quality."""
    log_expected = np.log(expected)
    quality = (0.7 - log_expected - HUMAN_BLIND_SPOT * human) / log_expected.std()
    common = rng.standard_normal(len(expected))
    latent = {}
    for (name, share), loading in zip(SHARED_NOISE.items(), setting.loadings, strict=True):
        noise = np.sqrt(share) * common
        noise += np.sqrt(1 - share) * rng.standard_normal(len(expected))
        latent[name] = loading * quality + np.sqrt(1 - loading**2) * noise

    def squash(values: Floats) -> Floats:
        return 1 / (1 + np.exp(-values))

    return {
        "comet": np.round(0.45 + 0.75 * np.tanh(0.55 * latent["comet"]), 3),
        "bleurt": np.round(0.1 + 0.9 * np.tanh(0.6 * latent["bleurt"]), 3),
        "qe": np.round(0.25 + 0.3 * latent["qe"], 3),
        "chrf": np.round(100 * squash(0.5 + 0.5 * latent["chrf"]), 2),
        "bleu": np.round(100 * squash(-0.7 + 0.9 * latent["bleu"]), 2),
        "ter": np.round(0.5 * np.exp(-0.45 * latent["ter"]), 3),
    }


def write(folder: Path) -> list[Path]:
    """Write both tables as ``demo-<kind>.csv.gz``; the same call gives the same bytes."""
    paths = []
    for kind in SETTINGS:
        text = synthesize(kind).to_csv(index=False, lineterminator="\n")
        path = folder / f"demo-{kind}.csv.gz"
        # The time in the gzip header is fixed: otherwise each run would change the file.
        path.write_bytes(gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0))
        paths.append(path)
    return paths


if __name__ == "__main__":
    for path in write(Path(fewgold.datasets.__file__).parent):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
