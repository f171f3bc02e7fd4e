"""The tables of Saldías et al. (2022) as printed."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A line of Tables 1 to 4 and 6: |error|, its standard deviation, and wins in per cent."""

    abs_error: float
    sdev: float
    win: float | None = None


class Cover(NamedTuple):
    """A line of Table 5: calibration in per cent, slack and bound."""

    cal: float
    slack: float
    t: float


_BASE = {"EnDe": Row(0.171, 0.128), "ZhEn": Row(0.290, 0.217)}

#: By table, language pair and method.
TABLES: dict[str, dict[str, dict[str, Row]]] = {
    "table1": {
        "EnDe": {
            "baseline": _BASE["EnDe"],
            "docs-prop": Row(0.158, 0.118, 75.7),
            "docs-opt": Row(0.213, 0.145, 32.6),
            "metrics-prop": Row(0.157, 0.118, 77.2),
        },
        "ZhEn": {
            "baseline": _BASE["ZhEn"],
            "docs-prop": Row(0.250, 0.187, 92.4),
            "docs-opt": Row(0.356, 0.233, 27.2),
            "metrics-prop": Row(0.246, 0.185, 91.1),
        },
    },
    "table2": {
        "EnDe": {
            "baseline": _BASE["EnDe"],
            "docs-incr-metrics": Row(0.183, 0.132, 44.1),
            "docs-incr-human": Row(0.231, 0.143, 26.7),
        },
        "ZhEn": {
            "baseline": _BASE["ZhEn"],
            "docs-incr-metrics": Row(0.346, 0.239, 25.4),
            "docs-incr-human": Row(0.418, 0.251, 27.4),
        },
    },
    "table3": {
        "EnDe": {
            "baseline": _BASE["EnDe"],
            "cv-bleurt": Row(0.158, 0.118, 74.3),
            "cv-mean": Row(0.159, 0.118, 74.8),
            "cv-multi": Row(0.160, 0.118, 73.3),
            "cv-knn": Row(0.158, 0.119, 74.1),
        },
        "ZhEn": {
            "baseline": _BASE["ZhEn"],
            "cv-bleurt": Row(0.260, 0.193, 84.1),
            "cv-mean": Row(0.251, 0.188, 88.3),
            "cv-multi": Row(0.254, 0.188, 88.5),
            "cv-knn": Row(0.246, 0.185, 92.2),
        },
    },
    "table4": {
        "EnDe": {
            "baseline": _BASE["EnDe"],
            "docs-prop": Row(0.158, 0.118, 75.7),
            "cv-knn": Row(0.158, 0.119, 74.1),
            "docs-prop+cv-knn": Row(0.147, 0.110, 88.5),
            "metrics-prop+cv-knn": Row(0.156, 0.116, 77.8),
        },
        "ZhEn": {
            "baseline": _BASE["ZhEn"],
            "docs-prop": Row(0.250, 0.187, 92.4),
            "cv-knn": Row(0.246, 0.185, 92.2),
            "docs-prop+cv-knn": Row(0.224, 0.167, 98.5),
            "metrics-prop+cv-knn": Row(0.244, 0.182, 92.0),
        },
    },
    "table6": {
        "EnDe": {
            "baseline": Row(0.203, 0.153),
            "docs-prop+cv-knn": Row(0.188, 0.140, 78.1),
        },
        "ZhEn": {
            "baseline": Row(0.359, 0.267),
            "docs-prop+cv-knn": Row(0.283, 0.212, 97.9),
        },
        "EnRu": {
            "baseline": Row(1.601, 1.197),
            "docs-prop+cv-knn": Row(1.482, 1.117, 77.3),
        },
    },
}

#: Table 5: the range that made Hoeffding's bound useful, by language pair …
ORACLE_RANGE = {"EnDe": 4.0, "ZhEn": 7.0}
#: … the true range of the scores …
TRUE_RANGE = 25.0
#: … and what came of the former, by language pair, size and estimator.
TABLE5: dict[str, dict[float, dict[str, Cover]]] = {
    "EnDe": {
        0.1: {"base": Cover(92, 0.36, 0.61), "best": Cover(96, 0.40, 0.61)},
        0.3: {"base": Cover(93, 0.19, 0.31), "best": Cover(96, 0.20, 0.31)},
        0.5: {"base": Cover(92, 0.12, 0.20), "best": Cover(96, 0.13, 0.20)},
    },
    "ZhEn": {
        0.1: {"base": Cover(89, 0.56, 0.90), "best": Cover(97, 0.49, 0.90)},
        0.3: {"base": Cover(90, 0.29, 0.46), "best": Cover(96, 0.25, 0.46)},
        0.5: {"base": Cover(90, 0.19, 0.30), "best": Cover(96, 0.16, 0.30)},
    },
}

#: Table 9: the ten metrics and their correlation with the ratings of single raters.
TABLE9: dict[str, dict[str, float]] = {
    "EnDe": {
        "BLEURT-extended": 0.410,
        "COMET-2R": 0.379,
        "COMET-MQM": 0.364,
        "COMET-QE": 0.358,
        "COMET": 0.349,
        "COMET-HTER": 0.326,
        "OpenKiwi-XLMR": 0.314,
        "mBERT-L2": 0.306,
        "prism": 0.293,
        "YiSi-1": 0.279,
    },
    "ZhEn": {
        "COMET-QE": 0.465,
        "BLEURT-extended": 0.460,
        "YiSi-2": 0.453,
        "COMET-2R": 0.452,
        "BERT-base-L2": 0.446,
        "OpenKiwi-XLMR": 0.440,
        "BERT-large-L2": 0.440,
        "BLEURT": 0.437,
        "COMET": 0.433,
        "mBERT-L2": 0.425,
    },
}
