"""Fields of the forms as people fill them in, each refused with a sentence of its own."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.datastructures import ImmutableMultiDict

from fewgold.errors import FewgoldError, UnknownNameError

if TYPE_CHECKING:
    from fewgold.cut import Cut
    from fewgold.web.replay_data import Data

_KNOW_DEMOS = ("simulate", "reliability")  # commands that take demo-ende for a file
NUMBER = r"\d+(?:\.\d+)?|\.\d+"


@dataclass(frozen=True)
class Fields:
    """What a form sent. ``sent`` tells a form with nothing ticked from a page opened anew."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, form: ImmutableMultiDict[str, object]) -> Fields:
        """Of a query or a form; files are no fields."""
        return cls(tuple((k, v) for k, v in form.multi_items() if isinstance(v, str)))

    @property
    def sent(self) -> bool:
        return self.text("go") == "1"

    def text(self, name: str, default: str = "") -> str:
        found = [v.strip() for k, v in self.pairs if k == name]
        return found[-1] if found else default

    def many(self, name: str) -> list[str]:
        return list(dict.fromkeys(v for k, v in self.pairs if k == name and v))

    def query(self, **changed: str) -> str:
        """The same fields in an address; empty ones left out."""
        kept = [(k, v) for k, v in self.pairs if k not in changed and v]
        return urlencode([*kept, *((k, v) for k, v in changed.items() if v)])

    def choice(self, name: str, label: str, known: Sequence[str], default: str) -> str:
        found = self.text(name, default)
        if found not in known:
            raise UnknownNameError(label, found, [k for k in known if k])
        return found

    def column(self, name: str, label: str, data: Data) -> str | None:
        """A column of the table, or None where none is chosen."""
        found = next((v for k, v in reversed(self.pairs) if k == name), "")
        if found and found not in data.columns:
            raise UnknownNameError(f"column ({label})", found, data.columns)
        return found or None

    def columns(self, name: str, label: str, data: Data) -> list[str]:
        found = self.many(name)
        for one in found:
            if one not in data.columns:
                raise UnknownNameError(f"column ({label})", one, data.columns)
        return found


def whole(text: str, label: str, least: int, most: int) -> int:
    """A whole number between two others."""
    if not re.fullmatch(r"\d{1,18}", text) or not least <= int(text) <= most:
        raise FewgoldError(f"{label} must be a whole number from {least} to {most}; got {text!r}.")
    return int(text)


def share(text: str, label: str, example: str) -> float:
    """``0.95`` or ``95%``."""
    match = re.fullmatch(rf"({NUMBER})\s*(%?)", text, re.ASCII)
    value = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0 < value < 1:
        percent = f"{100 * float(example):g}%"
        raise FewgoldError(f"{label} must be like {example} or {percent}; got {text!r}.")
    return value


def limits(text: str) -> str | tuple[float, float] | None:
    """``0,25``, a scale such as ``mqm``, or nothing."""
    from fewgold._validate import SCALES, as_limits

    if not text:
        return None
    try:
        low, comma, high = text.partition(",")
        found = (float(low), float(high)) if comma else text
        as_limits(found)
    except ValueError:
        raise FewgoldError(
            "the ends of the rating scale must be like 0,25, or one of "
            f"{', '.join(SCALES)}; got {text!r}."
        ) from None
    return found


def cut(text: str) -> Cut | None:
    """``<=0``, or nothing."""
    from fewgold.cut import Cut

    return Cut.parse(text) if text else None


def budgets(text: str, most: int = 20) -> list[float | int]:
    """``5%:50%:5%``, first to last in steps, or a list such as ``50,100,200``.

    >>> budgets("5%:15%:5%, 100")
    [0.05, 0.1, 0.15, 100]
    """
    found: list[float | int] = []
    for part in (p.strip() for p in text.split(",")):
        if not part:
            continue
        ends = [re.fullmatch(rf"({NUMBER})\s*(%?)", e.strip(), re.ASCII) for e in part.split(":")]
        if len(ends) not in (1, 3) or not all(ends):
            raise FewgoldError(
                f"budgets must be like 5%:50%:5% (first, last, step) or 50,100; got {part!r}."
            )
        units = {e[2] for e in ends if e}
        first, *rest = (float(e[1]) for e in ends if e)
        last, step = rest or (first, 1.0)
        if len(units) > 1 or first > last or step <= 0:
            raise FewgoldError(
                f"budgets {part!r} must go from the smaller to the larger, all in percent or all "
                "in segments."
            )
        count = math.floor((last - first) / step + 1e-9) + 1
        if len(found) + count > most:
            raise FewgoldError(f"that is too many budgets: {most} at most.")
        if not rest and first == 1 and "." in part:  # as 0.3 is a share
            found.append(1.0)
            continue
        made = (float(f"{first + k * step:.10g}") for k in range(count))
        found += [_budget(n, units == {"%"}, part) for n in made]
    if not found:
        raise FewgoldError("there is no budget. Give some, such as 5%:50%:5%.")
    return found


def _budget(number: float, percent: bool, part: str) -> float | int:
    if percent:
        if not 0 < number <= 100:
            raise FewgoldError(f"budgets in percent must lie in 0 to 100; got {part!r}.")
        return number / 100
    if 0 < number < 1:
        return number
    if number < 1 or number != int(number):
        raise FewgoldError(f"budgets must be whole numbers of segments, or percent; got {part!r}.")
    return int(number)


def command(name: str, data: Data, options: Iterable[tuple[str, str | None]]) -> str:
    """The line that does the same on the command line; an option with None is a flag."""
    known = data.demo is not None and name in _KNOW_DEMOS
    file = data.key if known else data.file
    file = f"./{file}" if file.startswith("-") else file
    words = ["fewgold", name, file]
    for option, value in options:
        if value is None:
            words.append(option)
        else:  # values may begin with a dash
            words += [option, value] if not value.startswith("-") else [f"{option}={value}"]
    line = shlex.join(words)
    return line if known or data.demo is None else f"{_export(data)}\n{line}"


def _export(data: Data) -> str:
    code = f"from fewgold.datasets import demo_frame; demo_frame('{data.demo}')"
    return f"python -c \"{code}.to_csv('{data.file}', index=False)\""


def listed(names: Sequence[str]) -> str | None:
    """Names with commas between them; None where one has a comma or spaces of its own."""
    plain = all(n and n == n.strip() and "," not in n for n in names)
    return ",".join(names) if plain else None


def checked(known: Iterable[str], chosen: Iterable[str]) -> list[Mapping[str, object]]:
    """Boxes to tick."""
    ticked = set(chosen)
    return [{"name": name, "on": name in ticked} for name in known]
