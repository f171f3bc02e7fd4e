"""Estrella, Hamon and Popescu-Belis (2007), *How much data is needed for reliable MT evaluation?*

The data of the CESTA campaign are not public. The method is therefore applied to random numbers of
the same shape: 790 segments in 15 documents, 5 systems, 7 scores, of which five are computed on
whole sets of segments as in the paper. Results that still agree are due to the method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewgold import plots, report
from fewgold._version import __version__
from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.checks import check_count
from fewgold.datasets import real_frame
from fewgold.reliability import CorpusScore, Reliability, reliability
from fewgold.report.sections import figures_of
from fewgold.reproduce.findings import (
    FAILS,
    LEFT_OUT,
    Check,
    Claim,
    Reproduction,
    printed_tables,
    wrapped,
)

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int], None]


class Printed(NamedTuple):
    """A cell of Table 2."""

    r2: float
    x_min: int
    x_max: int


#: Table 2: score -> one cell per system.
TABLE_2: dict[str, list[Printed]] = {}
_lines = [line.split() for block in printed_tables("estrella") for line in block.splitlines()]
for (_name, *_fits), _counts in zip(_lines[::2], _lines[1::2], strict=True):
    _pairs = zip(_counts[::2], _counts[1::2], strict=True)
    TABLE_2[_name] = [
        Printed(float(f), int(x), int(y)) for f, (x, y) in zip(_fits, _pairs, strict=True)
    ]

SYSTEMS = ("S1", "S2", "S3", "S4", "S5")
SEGMENTS, DOCUMENTS, WORDS, DRAWS = 790, 15, 25, 1500
#: Concentration of the Beta distribution of the quality of segments, chosen so that x_max is near
#: the printed one. Nothing is tuned to x_min.
EVENNESS = {
    "GTM": 34.0, "NIST": 60.0, "BLEU": 9.0, "mPER": 25.0, "mWER": 14.0, "fluency": 1.8,
    "adequacy": 2.4,
}  # fmt: skip


def _ratio(sums: FloatArray) -> FloatArray:
    """Errors per word, or matches per word."""
    return np.asarray(100 * sums[..., 0] / sums[..., 1])


def _bleu(sums: FloatArray) -> FloatArray:
    """BLEU of matches (4), n-grams (4), and the lengths of output and reference."""
    precision = np.maximum(sums[..., :4], 0.5) / sums[..., 4:8]
    brief = np.exp(np.minimum(0.0, 1 - sums[..., 9] / sums[..., 8]))
    return np.asarray(100 * brief * np.exp(np.log(precision).mean(-1)))


def _nist(sums: FloatArray) -> FloatArray:
    """NIST of the information of matches (5), n-grams (5) and both lengths (Doddington 2002)."""
    ratio = np.minimum(1.0, sums[..., 10] / sums[..., 11])
    penalty = np.exp(np.log(0.5) / np.log(1.5) ** 2 * np.log(ratio) ** 2)
    return np.asarray((sums[..., :5] / sums[..., 5:10]).sum(-1) * penalty)


def imitation(seed: int = 0) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A table of documents, systems and segments, and seven scores of its rows by name."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    sizes = rng.multinomial(SEGMENTS, rng.dirichlet(np.full(DOCUMENTS, 12)))
    words = np.maximum(rng.poisson(WORDS, SEGMENTS), 5)
    n = len(SYSTEMS) * SEGMENTS
    documents = np.tile(np.repeat([f"d{k + 1}" for k in range(DOCUMENTS)], sizes), len(SYSTEMS))
    table = pd.DataFrame({
        "system": np.repeat(SYSTEMS, SEGMENTS), "document": documents,
        "segment": np.tile([f"s{k}" for k in range(SEGMENTS)], len(SYSTEMS)),
    })  # fmt: skip
    words = np.tile(words, len(SYSTEMS))
    skill = np.repeat(np.linspace(-0.04, 0.04, len(SYSTEMS)), SEGMENTS)

    def quality(score: str, mean: float) -> FloatArray:
        expected = np.clip(mean + skill, 0.02, 0.98)
        even = EVENNESS[score]
        return rng.beta(even * expected, even * (1 - expected))

    def of_words(score: str, mean: float) -> CorpusScore:
        counted = rng.binomial(words, quality(score, mean))
        return CorpusScore(np.column_stack([counted, words]), _ratio)

    def grams(good: FloatArray, orders: int) -> tuple[FloatArray, IntArray, IntArray]:
        lengths = np.maximum(rng.poisson(words), orders)
        found = np.maximum(lengths[:, None] - np.arange(orders), 1)
        matched = rng.binomial(found, good[:, None] ** (1 + 0.8 * np.arange(orders)))
        return matched.astype(np.float64), found, lengths

    def ratings(score: str) -> FloatArray:
        return np.round(1 + 4 * quality(score, 0.55)) * 25 - 25

    matched, found, lengths = grams(quality("NIST", 0.7), 5)
    weights = np.array([7.0, 3.0, 1.0, 0.4, 0.2])  # bits of information in a match of each order
    told = matched * weights * rng.gamma(20, 1 / 20, (n, 5))
    nist = CorpusScore(np.column_stack([told, found, lengths, words]), _nist)
    matched, found, lengths = grams(quality("BLEU", 0.7), 4)
    bleu = CorpusScore(np.column_stack([matched, found, lengths, words]), _bleu)
    made: dict[str, Any] = {
        "GTM": of_words("GTM", 0.8), "NIST": nist, "BLEU": bleu, "mPER": of_words("mPER", 0.4),
        "mWER": of_words("mWER", 0.45), "fluency": ratings("fluency"),
        "adequacy": ratings("adequacy"),
    }  # fmt: skip
    return table, made


def table_2(found: Reliability) -> pd.DataFrame:
    """One row per score and system: the printed values, and those from random numbers."""
    import pandas as pd

    fits = found.fits()
    fits = fits[fits["kind"] == "power"].set_index(["score", "system"])
    rows = []
    for score, cells in TABLE_2.items():
        for system, cell in zip(SYSTEMS, cells, strict=True):
            fit: Any = fits.loc[(score, system)]
            rows.append(
                {"score": score, "system": system}
                | {"r2_printed": cell.r2, "r2": fit["r2"]}
                | {"x_min_printed": cell.x_min, "x_min": fit["x_min"]}
                | {"x_max_printed": cell.x_max, "x_max": fit["x_max"]}
            )
    return pd.DataFrame(rows)


#: The paper's "about five" documents, and its number of segments in them.
FIVE, THEIR_SEGMENTS = 5, 250
ORDERS = 1000
SETS = ("wmt20_ende", "wmt20_zhen")
#: "Sufficient to establish the ranking": 19 of 20 pairs of systems are in their final order.
ENOUGH = 0.95


def ranking(seed: int) -> pd.DataFrame:
    """Pairs of systems in their final order on WMT20, with five documents and with 250 segments.

    Means over random orders of the documents, with Monte-Carlo errors; nothing is resampled.
    """
    import pandas as pd

    rows = []
    for name in SETS:
        with suppress(FileNotFoundError):  # the public scores may be missing
            frame = real_frame(name)
            size = frame.groupby("system").size().mean() / frame["doc_id"].nunique()
            many = round(THEIR_SEGMENTS / size)
            real = reliability(
                frame, score="mqm", document="doc_id", system="system", segment="seg_id",
                orders=ORDERS, draws=2, at=[FIVE, many], rng=seed,
            )  # fmt: skip
            same = real.settled[0]
            five, those = zip(same.mean(0), same.std(0, ddof=1) / np.sqrt(ORDERS), strict=True)
            rows.append((name, len(real.systems), *five, many, *those))
    names = ["data", "systems", "pairs_5", "mc_5", "documents_250", "pairs_250", "mc_250"]
    return pd.DataFrame(rows, columns=names)


TITLE = "Estrella, Hamon and Popescu-Belis (2007), reproduced"
ABOUT = (
    "The data of the CESTA campaign are not public. Table 2 and the figures use random numbers "
    f"of the same shape: {SEGMENTS} segments in {DOCUMENTS} documents, {len(SYSTEMS)} systems. "
    "GTM, NIST, BLEU, mPER and mWER are computed on each resample as a whole. The spread of "
    "each score was chosen so that x_max is near the printed one; nothing was tuned to x_min. "
    "Results that still agree are due to the method.",
)
_FIGURES = {
    "figure1": ("mean", "adequacy", "Figure 1: adequacy by number of documents"),
    "figure2": ("mean", "GTM", "Figure 2: GTM by number of documents"),
    "figure3": ("mean", "mWER", "Figure 3: mWER by number of documents"),
    "figure5": ("mean", "NIST", "Figure 5: NIST of S1 with its interval"),
    "figure6": ("mean", "adequacy", "Figure 6: adequacy in another order of the documents"),
    "figure7": ("mean", "GTM", "Figure 7: GTM of S2 in two orders of the documents"),
    "figure8": ("sd", "GTM", "Figure 8: standard deviation of GTM of S2 in two orders"),
    "figure9": ("sd", "adequacy", "Figure 9: relative standard deviation of adequacy"),
    "figure10": ("sd", "BLEU", "Figure 10: relative standard deviation of BLEU"),
    "figure11": ("tangent", "adequacy", "Figure 11: how x_min is obtained"),
}
#: The figures of one system or two.
_ONLY = {"figure5": ["S1"], "figure11": ["S1", "S4"]}
#: The figures of one system in two orders of the documents, as the paper's run 1 and run 2.
_TWO_ORDERS, _SECOND = ("figure7", "figure8"), "S2"


@dataclass(frozen=True, eq=False)
class EstrellaReproduction(Reproduction):
    """Table 2 and the figures from random numbers, and the conclusions on public ratings.

    Attributes
    ----------
    tables
        ``table2`` (printed values beside those of random numbers) and ``ranking`` (pairs of systems
        in their final order on WMT20; empty without its scores).
    study, other_order
        The studies of random numbers behind the table and the figures: with documents in order, and
        in another order.
    draws, seed
        Bootstrap samples, and the seed.
    """

    study: Reliability
    other_order: Reliability
    draws: int
    seed: int

    def __repr__(self) -> str:
        return f"EstrellaReproduction({len(self.tables)} tables, {len(self.claims)} findings)"

    @property
    def signature(self) -> str:
        return f"estrella|fewgold {__version__}|draws {self.draws}|seed {self.seed}"

    @property
    def claims(self) -> list[Claim]:
        """The paper's statements, and whether they hold here."""
        table = self.tables["table2"]
        printed = table["x_min_printed"]
        usual = int(printed.isin([3, 4]).sum())
        low, high = table["x_min"].min(), table["x_min"].max()
        checks = [
            Check("random numbers", "least x_min", float(low), 0.0, "above", 2.5, 3.0),
            Check("random numbers", "largest x_min", float(high), 0.0, "below", 4.5, 9.0),
        ]
        same = Claim(
            "x_min", "The characteristic number of documents, x_min, is almost uniformly four.",
            tuple(checks),
            f"{usual} of {len(printed)} printed values are 3 or 4. At x_i = 1 it is 1 + 1/b, "
            "and any score whose spread falls as one over the root of its segments has b = 1/2 "
            "and x_min = 3: it says nothing about the scores, and so also holds for random "
            "numbers",
        )  # fmt: skip
        fit = Claim(
            "power", "Standard deviations follow a power function (R² mostly above 0.95).",
            (
                Check(
                    "random numbers", "median R²", float(table["r2"].median()), 0.0, "above", 0.95,
                    float(table["r2_printed"].median()),
                ),
            ),
        )  # fmt: skip
        checks = []
        for row in self.tables["ranking"].to_dict("records"):
            for what, name in (
                (f"pairs in order with {FIVE} documents", "5"),
                (f"with 250 segments ({row['documents_250']} documents)", "250"),
            ):
                value, mc = row[f"pairs_{name}"], row[f"mc_{name}"]
                checks.append(Check(row["data"], what, value, mc, "above", ENOUGH))
        five = Claim(
            "ranking", "About five documents, or 250 segments, establish the ranking of systems.",
            tuple(checks),
            "" if checks else "needs the public WMT20 scores in the folder that FEWGOLD_DATA names",
        )  # fmt: skip
        return [same, fit, five]

    @property
    def failed(self) -> list[str]:
        """Findings that do not hold, and tables and figures without a verdict."""
        found = self.contents
        unsaid = found[found["verdict"] == ""]["item"].tolist()
        return [claim.name for claim in self.claims if claim.verdict == FAILS] + unsaid

    def summary(self) -> str:
        """Tables and figures with their verdicts, findings, and Table 2."""
        lines = [TITLE, *map(wrapped, ABOUT), "", *self._listed(), "Findings"]
        for claim in self.claims:
            lines.append(wrapped(f"{claim.verdict.upper():14}{claim.sentence}", "  ", " " * 14))
            lines += [f"{'':16}{check}" for check in claim.checks]
            if claim.remark:
                lines.append(wrapped(f"({claim.remark})", " " * 16))
        return "\n".join([*lines, "", *self._table_text(), "", self.signature])

    def _table_text(self) -> list[str]:
        lines = [
            "Table 2: R², x_min and x_max of the power function (printed/here)",
            f"{'':10}" + "".join(f"{name:^24}" for name in SYSTEMS).rstrip(),
        ]
        for score, some in self.tables["table2"].groupby("score", sort=False):
            cells = []
            for r in some.to_dict("records"):
                fit = f"{r['r2_printed']:.2f}/{r['r2']:.2f}"
                x_min = f"{r['x_min_printed']}/{r['x_min']:.1f}"
                cells.append(f"{fit:>11}{x_min:>6}{r['x_max_printed']:>4}/{r['x_max']:<2.0f}")
            lines.append(f"{score!s:10}" + "".join(cells))
        return lines

    def _details(self) -> dict[str, Any]:
        return {"findings": [claim.to_dict() for claim in self.claims], "failed": self.failed}

    def _verdict(self, source: str) -> str:
        if source in _FIGURES:
            return "drawn"
        if self.tables[source].empty:
            needs = "the public WMT20 scores in the folder that FEWGOLD_DATA names"
            return f"{LEFT_OUT}: it needs {needs}"
        names = {"table2": ("x_min", "power"), "ranking": ("ranking",)}[source]
        said = {claim.name: claim.verdict for claim in self.claims}
        return ", ".join(f"{name}: {said[name]}" for name in names)

    def _draw(self, name: str) -> Any:
        kind, score, title = _FIGURES[name]
        if name in _TWO_ORDERS:
            runs = self._two_orders(score)
            if kind == "mean":
                return plots.mean_by_documents(runs, ylabel=score, title=title)
            return plots.reliability_curves(runs, title=title, log=False)
        study = self.other_order if name == "figure6" else self.study
        more = {"systems": _ONLY[name]} if name in _ONLY else {}
        return study.plot(kind, score=score, title=title, **more)

    def _two_orders(self, score: str) -> pd.DataFrame:
        """A score of S2 by number of documents, in each order."""
        import pandas as pd

        parts = []
        for k, study in enumerate((self.study, self.other_order)):
            frame = study.to_frame()
            own = frame[(frame["score"] == score) & (frame["system"] == _SECOND)]
            parts.append(own.assign(system=f"run {k + 1}"))
        return pd.concat(parts, ignore_index=True)

    def _output(self) -> tuple[str, str, dict[str, Any]]:
        drawn = figures_of(self._draw, list(_FIGURES))
        return "findings", self._page(drawn), drawn

    def _page(self, drawn: Mapping[str, Any]) -> str:
        """The whole result on one page."""
        import pandas as pd

        findings = pd.DataFrame(
            [(c.sentence, c.verdict, c.remark) for c in self.claims],
            columns=["the paper says", "verdict", "remark"],
        )
        formats = {"r2": ".3f", "x_min": ".1f", "x_max": ".0f", "r2_printed": ".3f"}
        shares = dict.fromkeys(("pairs_5", "pairs_250"), ".0%")
        shares |= dict.fromkeys(("mc_5", "mc_250"), ".1%")
        sections: list[Any] = [
            report.Table("Every table and figure", self.contents),
            report.Table("Findings", findings),
            report.Table("Table 2, printed and here", self.tables["table2"], formats=formats),
            report.Table("Pairs in their final order", self.tables["ranking"], formats=shares),
        ]
        for name, figure in drawn.items():
            title = _FIGURES[name][2]
            svg = plots.to_svg(figure, alt=f"{title}, from random numbers")
            sections.append(report.Figure(title, svg, "From random numbers."))
        return report.page(TITLE, ABOUT, sections, self.signature)


def estrella(
    draws: int = DRAWS, *, rng: int = 0, progress: Progress | None = None
) -> EstrellaReproduction:
    """Reproduce Table 2 and the figures of Estrella et al. (2007) from random numbers.

    The data of the paper are not public. That random numbers give similar values of x_min shows
    what it measures; whether five documents rank systems is tested on the public WMT20 ratings, if
    available (`fewgold.datasets.data_folder`).

    Parameters
    ----------
    draws
        Bootstrap samples, 1500 in the paper.
    rng
        Seed.
    progress
        Called with a name, the number of finished steps and the total.
    """
    check_count("draws", draws, 2)
    table, scores = imitation(rng)
    columns: dict[str, Any] = {
        "document": "document", "system": "system", "segment": "segment", "score": scores,
        "draws": draws,
    }  # fmt: skip
    steps: list[Callable[[], Any]] = [
        lambda: reliability(table, rng=rng, **columns),
        lambda: reliability(
            table,
            rng=rng + 2,  # with 1, the first two documents would be the same as in order
            orders=1,
            **{**columns, "score": {name: scores[name] for name in ("adequacy", "GTM")}},
        ),
    ]
    made: list[Any] = []
    for k, step in enumerate(steps):
        made.append(step())
        if progress is not None:
            progress("studies", k + 1, len(steps) + 1)
    study, other = made
    tables = {"table2": table_2(study), "ranking": ranking(rng)}
    if progress is not None:
        progress("studies", len(steps) + 1, len(steps) + 1)
    return EstrellaReproduction(tables, study, other, draws, rng)
