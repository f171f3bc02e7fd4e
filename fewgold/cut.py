"""Thresholds that turn scores into 1 (adequate) and 0."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fewgold.common.arrays import BoolArray
from fewgold.errors import DataError, FewgoldError

_SIGNS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
}
_SPELLED = re.compile(r"\s*(>=|<=|==|=|>|<|≥|≤)\s*(\S+)\s*")
_ALIKE = {"=": "==", "≥": ">=", "≤": "<="}


@dataclass(frozen=True)
class Cut:
    """A rule such as ``>= 0.5``: scores that satisfy it become 1 (adequate), all others 0.

    The sign is always stated, since many scores may equal the threshold, and the papers differ (von
    Däniken et al. 2022 take >, the thesis ≥).

    Parameters
    ----------
    sign
        One of ``>``, ``>=``, ``<``, ``<=`` and ``==``.
    at
        The threshold.

    Examples
    --------
    >>> perfect = Cut.parse("<= 0")  # no MQM error at all
    >>> perfect([0, 0.1, 25])
    array([ True, False, False])
    >>> print(perfect)
    <= 0
    """

    sign: str
    at: float

    def __post_init__(self) -> None:
        if self.sign not in _SIGNS:
            raise FewgoldError(
                f"the sign of a cut must be one of {', '.join(_SIGNS)}; got {self.sign!r}."
            )
        if not math.isfinite(self.at):
            raise FewgoldError(f"the threshold of a cut must be a number; got {self.at!r}.")

    @classmethod
    def parse(cls, text: str | Self) -> Self:
        """Parse a cut such as ``">= 0.5"`` or ``"<=0"``; a `Cut` is returned unchanged."""
        if isinstance(text, cls):
            return text
        match = _SPELLED.fullmatch(text) if isinstance(text, str) else None
        try:
            if match is None:
                raise ValueError
            return cls(_ALIKE.get(match[1], match[1]), float(match[2]))
        except ValueError:
            raise FewgoldError(
                f"a cut is a sign and a number, such as '>= 0.5' or '<= 0'; got {text!r}."
            ) from None

    def __call__(self, scores: ArrayLike) -> BoolArray:
        """Which scores are a 1."""
        array = np.asarray(scores, dtype=np.float64)
        missing = int(np.isnan(array).sum())
        if missing:
            raise DataError(
                f"{missing} of {array.size} scores are missing and cannot be cut at {self}."
            )
        return np.asarray(_SIGNS[self.sign](array, self.at))

    def __str__(self) -> str:
        return f"{self.sign} {repr(float(self.at)).removesuffix('.0')}"


def binary(scores: Any, what: str, hint: str | Mapping[str, str]) -> BoolArray:
    """Convert scores of 0 and 1 to booleans; other values raise an error that ends in ``hint``.

    The hint may be one for each audience, as in `FewgoldError`.
    """
    array = np.asarray(scores)
    if array.dtype == bool:
        return array
    bad = ~((array == 0) | (array == 1))
    if bad.any():
        raise DataError(
            f"{what} must be 0 or 1; got {float(array[bad].flat[0]):.6g}.",
            hints={"python": hint} if isinstance(hint, str) else hint,
        )
    return np.asarray(array == 1)
