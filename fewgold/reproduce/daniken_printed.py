"""The tables of von Däniken et al. (2022) and von Däniken (2023) as printed."""

from __future__ import annotations

from typing import NamedTuple


class Grid(NamedTuple):
    """Measurable differences over two sizes, and the rates that they are for."""

    title: str
    alpha: float
    accuracy: float
    known: bool
    sampled: bool
    human: tuple[int, ...]
    metric: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]


class Order(NamedTuple):
    """P(row better than column) of systems that people rated: adequate ratings, and how many."""

    title: str
    systems: tuple[str, ...]
    adequate: tuple[int, ...]
    total: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]


# Success rate, accuracy of the metric and how it is had; below, one row per number of human ratings
# and one column per number of ratings by the metric alone.
_GRIDS = """
table1 0.6 0.7 known Table 1: a metric with known accuracy 0.70
  human       0    1000    5000   10000   50000
      0   1.000   0.109   0.049   0.035   0.015
     10   0.379   0.106   0.049   0.034   0.015
    100   0.134   0.085   0.046   0.033   0.015
   1000   0.043   0.040   0.032   0.027   0.015
   2500   0.027   0.026   0.024   0.020   0.013
   5000   0.019   0.019   0.018   0.017   0.012

table11 0.6 0.7 estimated Table 11: estimated accuracy 0.70
  human       0    1000    2500    5000   10000   50000  100000
      0   1.000   0.734   0.733   0.733   0.733   0.733   0.733
    100   0.134   0.124   0.124   0.123   0.123   0.123   0.123
    250   0.085   0.080   0.079   0.079   0.079   0.079   0.079
    500   0.061   0.057   0.057   0.056   0.056   0.056   0.056
   1000   0.043   0.041   0.040   0.040   0.040   0.040   0.039
   2500   0.027   0.027   0.026   0.026   0.025   0.025   0.025
   5000   0.019   0.019   0.019   0.018   0.018   0.018   0.018
  10000   0.014   0.013   0.013   0.013   0.013   0.013   0.013

table12 0.6 0.9 estimated Table 12: estimated accuracy 0.90
  human       0    1000    2500    5000   10000   50000  100000
      0   1.000   0.739   0.738   0.738   0.738   0.738   0.738
    100   0.134   0.091   0.088   0.087   0.086   0.086   0.086
    250   0.085   0.061   0.057   0.055   0.054   0.053   0.053
    500   0.061   0.046   0.042   0.040   0.039   0.038   0.037
   1000   0.043   0.036   0.032   0.030   0.028   0.027   0.026
   2500   0.027   0.025   0.022   0.021   0.019   0.017   0.017
   5000   0.019   0.018   0.017   0.016   0.015   0.013   0.012
  10000   0.014   0.013   0.013   0.012   0.011   0.009   0.009

table13 0.6 0.99 estimated Table 13: estimated accuracy 0.99
  human       0    1000    2500    5000   10000   50000  100000
      0   1.000   0.742   0.742   0.742   0.742   0.742   0.742
    100   0.134   0.059   0.051   0.048   0.046   0.045   0.045
    250   0.085   0.044   0.035   0.030   0.027   0.025   0.024
    500   0.061   0.037   0.028   0.023   0.019   0.016   0.015
   1000   0.043   0.031   0.024   0.020   0.016   0.011   0.010
   2500   0.027   0.023   0.020   0.016   0.013   0.008   0.007
   5000   0.019   0.018   0.016   0.014   0.012   0.007   0.006
  10000   0.014   0.013   0.012   0.011   0.010   0.006   0.005

table14 0.6 0.51 estimated Table 14: estimated accuracy 0.51
  human       0    1000    2500    5000   10000   50000  100000
      0   1.000   0.732   0.732   0.732   0.732   0.732   0.732
    100   0.134   0.133   0.133   0.133   0.133   0.133   0.133
    250   0.085   0.085   0.085   0.085   0.085   0.085   0.085
    500   0.061   0.061   0.060   0.060   0.060   0.060   0.060
   1000   0.043   0.043   0.043   0.043   0.043   0.043   0.043
   2500   0.027   0.027   0.027   0.027   0.027   0.027   0.027
   5000   0.019   0.019   0.019   0.019   0.019   0.019   0.019
  10000   0.014   0.014   0.014   0.014   0.014   0.014   0.014

thesis5.8 0.67 0.6 sampled Thesis, Table 5.8: accuracy 0.60, sampled counts
  human       0     500    1000    2500    5000   10000  100000
      0   1.000   0.517   0.516   0.517   0.517   0.516   0.518
    100   0.090   0.089   0.089   0.089   0.089   0.089   0.088
    250   0.058   0.057   0.057   0.057   0.057   0.057   0.057
    500   0.041   0.041   0.041   0.040   0.040   0.040   0.040
   1000   0.029   0.029   0.029   0.029   0.029   0.028   0.029
   2000   0.021   0.020   0.020   0.020   0.020   0.020   0.020
   5000   0.013   0.013   0.013   0.013   0.013   0.013   0.013

thesis5.9 0.67 0.9 sampled Thesis, Table 5.9: accuracy 0.90, sampled counts
  human       0     500    1000    2500    5000   10000  100000
      0   1.000   0.531   0.530   0.530   0.530   0.530   0.531
    100   0.090   0.064   0.063   0.060   0.058   0.059   0.058
    250   0.058   0.045   0.042   0.040   0.038   0.037   0.037
    500   0.041   0.034   0.032   0.029   0.028   0.027   0.026
   1000   0.029   0.026   0.024   0.022   0.020   0.019   0.018
   2000   0.020   0.019   0.018   0.017   0.015   0.014   0.013
   5000   0.013   0.013   0.012   0.012   0.011   0.010   0.008
"""

# One row per system: adequate ratings of how many, and P(better than each system). The counts of
# Table 8 give every printed figure; the thesis says 669 to 673 ratings, the caption 600.
_ORDERS = """
table4 Table 4: WMT21, 527 human ratings
FBAI  353/527 -     0.798 0.848 0.862 0.968 0.997 0.998
VT-G  340/527 0.197 -     0.573 0.598 0.844 0.971 0.978
OW    337/527 0.148 0.420 -     0.522 0.794 0.955 0.966
NE    336/527 0.134 0.395 0.471 -     0.775 0.949 0.961
VT-A  324/527 0.031 0.152 0.202 0.220 -     0.808 0.840
UE    310/527 0.003 0.028 0.043 0.049 0.187 -     0.546
HU    308/527 0.002 0.021 0.033 0.038 0.156 0.447 -

table5 Table 5: WMT21, 100 human ratings
FBAI   67/100 -     0.615 0.670 0.670 0.809 0.877 0.904
VT-G   65/100 0.382 -     0.557 0.557 0.719 0.807 0.843
NE     64/100 0.327 0.440 -     0.499 0.667 0.764 0.805
OW     64/100 0.327 0.440 0.499 -     0.667 0.764 0.805
VT-A   61/100 0.189 0.279 0.330 0.330 -     0.612 0.665
UE     59/100 0.121 0.191 0.234 0.234 0.386 -     0.555
HU     58/100 0.095 0.155 0.193 0.193 0.332 0.442 -

table8 Table 8: Spot The Bot, all human ratings
BL    253/670 -     0.999 1.000 1.000 1.000 1.000
LiC   201/671 0.001 -     0.989 1.000 1.000 1.000
KV    163/670 0.000 0.010 -     0.998 1.000 1.000
HF    119/670 0.000 0.000 0.002 -     1.000 1.000
BR     43/670 0.000 0.000 0.000 0.000 -     0.974
S2S    27/670 0.000 0.000 0.000 0.000 0.024 -

table9 Table 9: Spot The Bot, 100 human ratings
BL     38/100 -     0.882 0.983 0.999 1.000 1.000
LiC    30/100 0.117 -     0.827 0.976 1.000 1.000
KV     24/100 0.016 0.170 -     0.848 1.000 1.000
HF     18/100 0.001 0.024 0.150 -     0.995 0.999
BR      6/100 0.000 0.000 0.000 0.005 -     0.729
S2S     4/100 0.000 0.000 0.000 0.001 0.266 -
"""

GRIDS: dict[str, Grid] = {}
for _block in _GRIDS.strip().split("\n\n"):
    _first, _sizes, *_lines = _block.splitlines()
    _name, _alpha, _accuracy, _kind, _title = _first.split(maxsplit=4)
    _rows = [_line.split() for _line in _lines]
    GRIDS[_name] = Grid(
        *(_title, float(_alpha), float(_accuracy), _kind == "known", _kind == "sampled"),
        human=tuple(int(_row[0]) for _row in _rows),
        metric=tuple(map(int, _sizes.split()[1:])),
        cells=tuple(tuple(_row[1:]) for _row in _rows),
    )

ORDERS: dict[str, Order] = {}
for _block in _ORDERS.strip().split("\n\n"):
    _first, *_lines = _block.splitlines()
    _name, _title = _first.split(maxsplit=1)
    _rows = [_line.replace("/", " ").split() for _line in _lines]
    ORDERS[_name] = Order(
        title=_title,
        systems=tuple(_row[0] for _row in _rows),
        adequate=tuple(int(_row[1]) for _row in _rows),
        total=tuple(int(_row[2]) for _row in _rows),
        cells=tuple(tuple(_row[3:]) for _row in _rows),
    )
