"""Figures that the text quotes, most of them from Figures 1 to 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fewgold.planning import measurable_difference

if TYPE_CHECKING:
    import pandas as pd


class Quote(NamedTuple):
    """A sentence of the paper, its figure as printed, and the study that it is about.

    ``sizes`` are accuracy, human ratings, metric ratings, and paired ones where they are others.
    """

    source: str
    sentence: str
    printed: str
    alpha: float
    sizes: tuple[float, int, int] | tuple[float, int, int, int]
    known: bool = True
    cause: str = ""

    def here(self) -> float:
        accuracy, human, metric, *paired = self.sizes
        apart: dict[str, Any] = {"paired": paired[0], "pairs": "calibration"} if paired else {}
        return float(
            measurable_difference(
                alpha=self.alpha,
                rho=accuracy,
                eta=accuracy,
                human=human,
                metric=metric,
                known=self.known,
                **apart,
            )
        )


_MIXED = (
    "Table 1 has 0.020 by a slip. With known ρ and η it takes 13,640 metric ratings; estimated "
    "from those 2500 it is 0.0254, and 0.0250 with a million"
)
_SAME = (
    "the two are near each other only with known ρ and η; estimated from 527 paired ratings the "
    "first is 0.120"
)

QUOTES = (
    Quote(
        "Fig. 1",
        "accuracy 0.70 and 1000 automatic ratings tell 10 points",
        *("0.10", 0.6, (0.7, 0, 1000), True),
        "rounded down: 10 points take 1190 ratings",
    ),
    Quote("Fig. 1", "accuracy 0.85 and 10,000 tell 2 points", "0.02", 0.6, (0.85, 0, 10_000)),
    Quote("Fig. 1", "a perfect metric and 1000: 4 points", "0.04", 0.6, (1.0, 0, 1000)),
    Quote("Table 1", "5000 human ratings tell 2 points", "0.02", 0.6, (0.7, 5000, 0)),
    Quote(
        "Table 1",
        "so do 2500 human and 10,000 automatic ones",
        *("0.020", 0.6, (0.7, 2500, 10_000), True, _MIXED),
    ),
    Quote("Fig. 2", "BleuRT, 527 human and 1000", "0.056", 0.65, (0.6, 527, 1000)),
    Quote(
        "Fig. 2",
        "the same for SacreBLEU",
        *("0.056", 0.65, (0.52, 527, 1000), True, "misread: SacreBLEU has 0.057"),
    ),
    Quote("Fig. 2", "BleuRT, 100 human and 1000", "0.112", 0.65, (0.6, 100, 1000)),
    Quote("Fig. 2", "SacreBLEU, 100 human and 1000", "0.13", 0.65, (0.52, 100, 1000)),
    Quote(
        "Fig. 2",
        "BleuRT, 100 human and 10,000: as SacreBLEU, 527 and 1000 (0.057)",
        *("0.057", 0.65, (0.6, 100, 10_000), True, _SAME),
    ),
    Quote("5.1.2", "527 human ratings alone", "0.057", 0.65, (0.5, 527, 0)),
    Quote("5.1.2", "100 human ratings alone", "0.131", 0.65, (0.5, 100, 0)),
    Quote(
        "5.1.2",
        "100 human and 10,000 of SacreBLEU, ρ and η from 527",
        *("0.120", 0.65, (0.52, 100, 10_000, 527), False),
        "the figure is that of BleuRT (0.60): 0.1202",
    ),
    Quote(
        "5.1.2",
        "BleuRT instead: the figure that is printed for SacreBLEU",
        *("0.120", 0.65, (0.6, 100, 10_000, 527), False),
    ),
    Quote(
        "5.1.2",
        "BleuRT, and more metric ratings do not help (10 million here)",
        *("0.120", 0.65, (0.6, 100, 10_000_000, 527), False),
    ),
    Quote("5.2.2", "100 human ratings alone, Spot The Bot", "0.126", 0.30, (0.5, 100, 0)),
    Quote(
        "Fig. 3",
        "accuracy 0.60, 100 human and 10,000, ρ and η from 600",
        *("0.11", 0.30, (0.6, 100, 10_000, 600), False),
    ),
    Quote(
        "Fig. 3",
        "ρ and η from 5000",
        *("0.08", 0.30, (0.6, 100, 10_000, 5000), False),
        "read off a curve whose α is not stated: 0.30 fits 0.126 and 0.11, but 0.08 takes 0.24",
    ),
)


def quotes_table() -> pd.DataFrame:
    """A row for each quoted figure."""
    import pandas as pd

    rows = []
    for quote in QUOTES:
        here = quote.here()
        digits = len(quote.printed.partition(".")[2])
        agrees = f"{here:.{digits}f}" == quote.printed
        rows.append(
            {
                **{"source": quote.source, "sentence": quote.sentence},
                **{"printed": float(quote.printed), "here": here, "digits": digits},
                **{"alpha": quote.alpha, "known": quote.known, "agrees": agrees},
                "explained": agrees or bool(quote.cause),
                "cause": "" if agrees else quote.cause,
            }
        )
    return pd.DataFrame(rows)
