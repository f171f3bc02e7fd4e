"""The scale of a campaign as a rater meets it: buttons, a slider, or a field."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from fewgold.errors import FewgoldError
from fewgold.formats import RatingScale

_NUMBER = re.compile(r"[+-]?(\d{1,15}([.,]\d{0,15})?|[.,]\d{1,15})")
_STEPS = 7  # more buttons than that are slower than a field
_PENALTIES = (0, 1, 2, 5, 10, 25)


@dataclass(frozen=True)
class Button:
    """One answer to press.

    Parameters
    ----------
    value
        What is sent.
    label
        What is written on it.
    keys
        Keys that press it.
    """

    value: str
    label: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scale:
    """How scores are given, by the ends of the scale and which of them is good, if that is known.

    >>> [Scale(ends).kind for ends in [(0, 1), (1, 5), (0, 100), (0, 25), None]]
    ['binary', 'steps', 'slider', 'penalty', 'open']
    >>> Scale((0, 100)).parse(" 62,5 ")
    62.5
    >>> Scale((0, 25), higher_is_better=False).words
    '0 = best, 25 = worst'
    """

    limits: tuple[float, float] | None
    higher_is_better: bool | None = None

    @property
    def kind(self) -> str:
        """``binary``, ``steps``, ``slider``, ``penalty`` or ``open``."""
        if self.limits is None:
            return "open"
        low, high = self.limits
        if (low, high) == (0, 1):
            return "binary"
        if (low, high) == (0, 25) and not self.higher_is_better:
            return "penalty"
        whole = float(low).is_integer() and float(high).is_integer()
        return "steps" if whole and high - low < _STEPS else "slider"

    @property
    def ends(self) -> str:
        """Such as ``0 to 100``, or nothing."""
        return "" if self.limits is None else f"{plain(self.limits[0])} to {plain(self.limits[1])}"

    @property
    def labels(self) -> tuple[str, str] | None:
        """What stands at either end of the control, in the order of its buttons."""
        if self.kind != "binary":
            return RatingScale(self.limits, self.higher_is_better).ends
        if self.higher_is_better is None:
            return None  # the buttons say yes and no
        return (
            ("Yes = best", "No = worst") if self.higher_is_better else ("Yes = worst", "No = best")
        )

    @property
    def words(self) -> str:
        """The same in a line, such as ``0 = best, 25 = worst``."""
        return RatingScale(self.limits, self.higher_is_better).words

    @property
    def step(self) -> str:
        """Of the slider: about a hundred of them."""
        if self.limits is None:
            return "any"
        low, high = self.limits
        size = 10.0 ** math.floor(math.log10(high - low) - 1.9)
        return plain(size)

    @property
    def buttons(self) -> tuple[Button, ...]:
        """The answers that have a button."""
        if self.kind == "binary":
            return Button("1", "Yes", ("1", "y")), Button("0", "No", ("0", "n"))
        if self.kind == "penalty":
            return tuple(Button(str(v), str(v)) for v in _PENALTIES)
        if self.kind != "steps" or self.limits is None:
            return ()
        low, high = (int(end) for end in self.limits)
        values = range(low, high + 1)
        digits = low >= 0 and high <= 9
        return tuple(
            Button(str(v), str(v).replace("-", "−"), (str(v if digits else place),))
            for place, v in enumerate(values, 1)
        )

    @property
    def typed(self) -> bool:
        """Whether there is a field to write a score into."""
        return self.kind in ("slider", "penalty", "open")

    def parse(self, text: str | None) -> float:
        """The score that somebody sent; else a sentence that says what is wrong with it."""
        told = (text or "").strip().replace("−", "-")
        if not told:
            raise FewgoldError(f"Give a score first{self._wanted()}.")
        if not _NUMBER.fullmatch(told):
            raise FewgoldError(f"{_short(told)} is not a number. Give one{self._wanted()}.")
        score = float(told.replace(",", "."))
        if self.limits is not None and not self.limits[0] <= score <= self.limits[1]:
            raise FewgoldError(f"{_short(told)} is outside the scale. Give one{self._wanted()}.")
        if not self.typed and not score.is_integer():
            raise FewgoldError(f"{_short(told)} is between two answers. Press one of the buttons.")
        return score

    def _wanted(self) -> str:
        return f": a number from {self.ends}" if self.limits is not None else ", such as 3.5"


def plain(score: float) -> str:
    """A score as somebody would type it, to the last digit.

    >>> plain(4.0), plain(0.1), plain(-2.5), plain(1e-7)
    ('4', '0.1', '-2.5', '0.0000001')
    """
    if float(score).is_integer() and abs(score) < 1e15:
        return str(int(score))
    text = repr(float(score))
    return text if "e" not in text else f"{score:.17f}".rstrip("0").rstrip(".")


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:20]}…"
