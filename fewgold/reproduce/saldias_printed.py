"""The tables of Saldías et al. (2022) as printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Row(NamedTuple):
    """A line of Tables 1 to 4 and 6: |error|, its standard deviation, and wins in per cent."""

    abs_error: float
    sdev: float
    win: float | None = None


class BoundRow(NamedTuple):
    """A line of Table 5: calibration in per cent, slack and bound."""

    cal: float
    slack: float
    t: float


# Error, sdev and win of each method, by language pair.
_ERRORS = """
table1                EnDe                 ZhEn
baseline              0.171 0.128 -        0.290 0.217 -
docs-prop             0.158 0.118 75.7     0.250 0.187 92.4
docs-opt              0.213 0.145 32.6     0.356 0.233 27.2
metrics-prop          0.157 0.118 77.2     0.246 0.185 91.1

table2                EnDe                 ZhEn
baseline              0.171 0.128 -        0.290 0.217 -
docs-incr-metrics     0.183 0.132 44.1     0.346 0.239 25.4
docs-incr-human       0.231 0.143 26.7     0.418 0.251 27.4

table3                EnDe                 ZhEn
baseline              0.171 0.128 -        0.290 0.217 -
cv-bleurt             0.158 0.118 74.3     0.260 0.193 84.1
cv-mean               0.159 0.118 74.8     0.251 0.188 88.3
cv-multi              0.160 0.118 73.3     0.254 0.188 88.5
cv-knn                0.158 0.119 74.1     0.246 0.185 92.2

table4                EnDe                 ZhEn
baseline              0.171 0.128 -        0.290 0.217 -
docs-prop             0.158 0.118 75.7     0.250 0.187 92.4
cv-knn                0.158 0.119 74.1     0.246 0.185 92.2
docs-prop+cv-knn      0.147 0.110 88.5     0.224 0.167 98.5
metrics-prop+cv-knn   0.156 0.116 77.8     0.244 0.182 92.0

table6                EnDe                 ZhEn                 EnRu
baseline              0.203 0.153 -        0.359 0.267 -        1.601 1.197 -
docs-prop+cv-knn      0.188 0.140 78.1     0.283 0.212 97.9     1.482 1.117 77.3
"""

# Calibration, slack and bound of each size and estimator, by language pair.
_BOUNDS = """
table5      EnDe             ZhEn
0.1 base    92 0.36 0.61     89 0.56 0.90
0.1 best    96 0.40 0.61     97 0.49 0.90
0.3 base    93 0.19 0.31     90 0.29 0.46
0.3 best    96 0.20 0.31     96 0.25 0.46
0.5 base    92 0.12 0.20     90 0.19 0.30
0.5 best    96 0.13 0.20     96 0.16 0.30
"""

# Metrics and their correlation with the ratings of single raters, by language pair.
_METRICS = """
EnDe                       ZhEn
BLEURT-extended  0.410     COMET-QE         0.465
COMET-2R         0.379     BLEURT-extended  0.460
COMET-MQM        0.364     YiSi-2           0.453
COMET-QE         0.358     COMET-2R         0.452
COMET            0.349     BERT-base-L2     0.446
COMET-HTER       0.326     OpenKiwi-XLMR    0.440
OpenKiwi-XLMR    0.314     BERT-large-L2    0.440
mBERT-L2         0.306     BLEURT           0.437
prism            0.293     COMET            0.433
YiSi-1           0.279     mBERT-L2         0.425
"""


def _by_pair(block: str, labels: int) -> Iterator[tuple[str, list[str], str, list[str]]]:
    """Table, labels of the line, language pair and the cells of a block, line by line."""
    for part in block.strip().split("\n\n"):
        (table, *pairs), *lines = (line.split() for line in part.splitlines())
        for line in lines:
            cells = line[labels:]
            wide = len(cells) // len(pairs)
            for k, pair in enumerate(pairs):
                yield table, line[:labels], pair, cells[k * wide : (k + 1) * wide]


#: By table, language pair and method.
TABLES: dict[str, dict[str, dict[str, Row]]] = {}
for _table, (_label,), _pair, _cells in _by_pair(_ERRORS, 1):
    _row = Row(*(float(c) for c in _cells if c != "-"))
    TABLES.setdefault(_table, {}).setdefault(_pair, {})[_label] = _row

#: Table 5: the range that made Hoeffding's bound useful, by language pair …
ORACLE_RANGE = {"EnDe": 4.0, "ZhEn": 7.0}
#: … the true range of the scores …
TRUE_RANGE = 25.0
#: … and the results with the former, by language pair, size and estimator.
TABLE5: dict[str, dict[float, dict[str, BoundRow]]] = {}
for _table, (_size, _label), _pair, _cells in _by_pair(_BOUNDS, 2):
    TABLE5.setdefault(_pair, {}).setdefault(float(_size), {})[_label] = BoundRow(
        *map(float, _cells)
    )

#: Table 9: the ten metrics and their correlation with the ratings of single raters.
TABLE9: dict[str, dict[str, float]] = {}
for _table, _none, _pair, (_label, _r) in _by_pair(f"table9 {_METRICS.strip()}", 0):
    TABLE9.setdefault(_pair, {})[_label] = float(_r)
