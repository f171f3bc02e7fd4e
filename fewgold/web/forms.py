"""Forms, read field by field, with an error for each field.

`Fields` is a form as it was sent; numbers, shares and columns are read from it one at a time. The
planning pages use a `Form`, whose fields define what they accept and keep what cannot be read.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, HTTPException, Request
from starlette.datastructures import FormData, ImmutableMultiDict
from starlette.requests import ClientDisconnect

from fewgold.errors import FewgoldError, UnknownNameError

if TYPE_CHECKING:
    from fewgold.cut import Cut
    from fewgold.web.replay_data import Data

_FIELDS = 50  # more than any form has, except lists of columns
_LONGEST = 40  # characters of a value that are read and shown again
_NUMBER = r"\d+(?:\.\d+)?|\.\d+"
_SHARE = re.compile(rf"({_NUMBER})\s*(%?)", re.ASCII)
#: Options of a command. A value of None makes a flag.
Options = list[tuple[str, str | None]]


@dataclass(frozen=True)
class Fields:
    """What a form sent. ``sent`` is False if the page was just opened."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, form: ImmutableMultiDict[str, object]) -> Fields:
        """Read a query or a form, ignoring files."""
        return cls(tuple((k, v) for k, v in form.multi_items() if isinstance(v, str)))

    @property
    def sent(self) -> bool:
        return self.text("go") == "1"

    def text(self, name: str, default: str = "") -> str:
        """One field, or the default if it is missing."""
        found = [v.strip() for k, v in self.pairs if k == name]
        return found[-1] if found else default

    def many(self, name: str) -> list[str]:
        """All values of a name, such as ticked boxes."""
        return list(dict.fromkeys(v for k, v in self.pairs if k == name and v))

    def query(self, **changed: str) -> str:
        """The same fields as an address, without empty ones."""
        kept = [(k, v) for k, v in self.pairs if k not in changed and v]
        return urlencode([*kept, *((k, v) for k, v in changed.items() if v)])

    def choice(self, name: str, label: str, known: Sequence[str], default: str) -> str:
        """A value that must be one of some names."""
        found = self.text(name, default)
        if found not in known:
            raise UnknownNameError(label, found, [k for k in known if k])
        return found

    def column(self, name: str, label: str, data: Data) -> str | None:
        """A column of the table, or None if none is chosen."""
        return next(reversed(self.columns(name, label, data)), None)

    def columns(self, name: str, label: str, data: Data) -> list[str]:
        """Columns of the table."""
        found = self.many(name)
        for one in found:
            if one not in data.columns:
                raise UnknownNameError(f"column ({label})", one, data.columns)
        return found

    def whole(self, name: str, label: str, default: str, least: int, most: int) -> int:
        """A whole number between two others."""
        text = self.text(name, default)
        if not re.fullmatch(r"\d{1,18}", text, re.ASCII) or not least <= int(text) <= most:
            raise FewgoldError(
                f"{label} must be a whole number from {least} to {most}; got {text!r}."
            )
        return int(text)

    def share(self, name: str, label: str, default: str) -> float:
        """A share such as ``0.95`` or ``95%``."""
        text = self.text(name, default)
        match = _SHARE.fullmatch(text)
        value = float(match[1]) / (100 if match[2] else 1) if match else 0.0
        if not 0 < value < 1:
            percent = f"{100 * float(default):g}%"
            raise FewgoldError(f"{label} must be like {default} or {percent}; got {text!r}.")
        return value

    def limits(self) -> str | tuple[float, float] | None:
        """The ends of the scale: ``0,25``, a name such as ``mqm``, or nothing."""
        from fewgold.common.checks import SCALES, as_limits

        text = self.text("limits")
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

    def cut(self) -> Cut | None:
        """Which scores are adequate, such as ``<=0``, or nothing."""
        from fewgold.cut import Cut

        text = self.text("adequate")
        return Cut.parse(text) if text else None

    def options(self, flags: Iterable[str] = (), **defaults: str) -> Options:
        """Fields that differ from their defaults, as options of a command."""
        given = {name: self.text(name, default) for name, default in defaults.items()}
        found: Options = [
            (f"--{k}", v) for k, v in given.items() if v not in ("", defaults[k])
        ]  # fmt: skip
        return found + [(f"--{f.replace('_', '-')}", None) for f in flags if self.text(f)]


async def _fields(request: Request) -> Fields:
    async with request.form(max_files=0, max_fields=_FIELDS) as form:
        return Fields.of(form)


async def _with_files(request: Request) -> AsyncIterator[FormData]:
    try:
        async with request.form(max_files=1, max_fields=3000, max_part_size=1 << 20) as form:
            yield form
    except ClientDisconnect:
        raise HTTPException(413, "That is too large.") from None


#: The form of a request, read only once the owner is known; the page then runs in a thread.
Sent = Annotated[Fields, Depends(_fields)]
SentFiles = Annotated[FormData, Depends(_with_files)]


def budgets(text: str, most: int = 20) -> list[float | int]:
    """``5%:50%:5%``, first to last in steps, or a list such as ``50,100,200``.

    >>> budgets("5%:15%:5%, 100")
    [0.05, 0.1, 0.15, 100]
    """
    found: list[float | int] = []
    for part in (p.strip() for p in text.split(",")):
        if not part:
            continue
        ends = [_SHARE.fullmatch(e.strip()) for e in part.split(":")]
        if len(ends) not in (1, 3) or not all(ends):
            raise FewgoldError(
                f"budgets must be like 5%:50%:5% (first, last, step) or 50,100; got {part!r}."
            )
        units = {e[2] for e in ends if e}
        first, *rest = (float(e[1]) for e in ends if e)
        last, step = rest or (first, 1.0)
        if len(units) > 1 or first > last or step <= 0:
            raise FewgoldError(
                f"budgets {part!r} must increase, and be all in percent or all in segments."
            )
        count = math.floor((last - first) / step + 1e-9) + 1
        if len(found) + count > most:
            raise FewgoldError(f"there are too many budgets; the limit is {most}.")
        if not rest and first == 1 and "." in part:  # since 0.3 is a share
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
            raise FewgoldError(f"budgets in percent must be from 0 to 100; got {part!r}.")
        return number / 100
    if 0 < number < 1:
        return number
    if number < 1 or number != int(number):
        raise FewgoldError(
            f"budgets must be whole numbers of segments, or percentages; got {part!r}."
        )
    return int(number)


def checked(known: Iterable[str], chosen: Iterable[str]) -> list[Mapping[str, object]]:
    """Boxes to tick."""
    ticked = set(chosen)
    return [{"name": name, "on": name in ticked} for name in known]


# Fields with their limits, for the planning pages


@dataclass(frozen=True)
class Field:
    """One field, what it accepts, and how it is shown."""

    name: str  # in the address
    label: str
    default: str  # its initial content
    low: float = 0.0  # the smallest allowed value
    high: float = 1.0
    whole: bool = False
    optional: bool = False  # it may be empty; the hint explains what that means
    slider: tuple[float, float, float] | None = None  # ends and step; the field takes more
    choices: tuple[tuple[str, str], ...] = ()  # values of a list, with their names
    length: int = 0  # longest text in characters; 0 for a number
    hint: str = ""

    @property
    def step(self) -> str:
        """Step of the number field's arrows, equal to that of the slider."""
        return "any" if self.slider is None else f"{self.slider[2]:g}"

    def read(self, text: str) -> tuple[Any, str]:
        """The value, or None and what was expected."""
        told = text.strip()
        if self.choices:
            if told in dict(self.choices):
                return told, ""
            return None, f"Expected one of {', '.join(dict(self.choices))}; got {text!r}."
        if self.length:
            return told, ""
        if not told:
            return None, "" if self.optional else f"Expected {self.expected}."
        value = _number(told, self.whole)
        if value is None or not self.low <= value <= self.high:
            return None, f"Expected {self.expected}; got {text!r}."
        return value, ""

    @property
    def expected(self) -> str:
        """What the field accepts, in words."""
        kind = "a whole number" if self.whole else "a number"
        low, high = (f"{v:,.0f}" if v == int(v) else f"{v:g}" for v in (self.low, self.high))
        return f"{kind} from {low} to {high}" + (", or empty" if self.optional else "")


def _number(text: str, whole: bool) -> Any:
    if whole:
        return int(text) if re.fullmatch(r"\d{1,12}", text, re.ASCII) else None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


@dataclass(frozen=True)
class Form:
    """Fields with the texts that were sent, the values that could be read, and the errors."""

    fields: Mapping[str, Field]
    texts: Mapping[str, str]
    values: Mapping[str, Any]
    errors: Mapping[str, str]

    @classmethod
    def of(cls, fields: Mapping[str, Field], sent: Mapping[str, str]) -> Form:
        """Read what was sent; other fields have their defaults."""
        texts, values, errors = {}, {}, {}
        for name, field in fields.items():
            texts[name] = sent.get(name, field.default)[: field.length or _LONGEST]
            values[name], sentence = field.read(texts[name])
            if sentence:
                errors[name] = sentence
        return cls(fields, texts, values, errors)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def but(self, **errors: str) -> Form:
        """The same form with additional errors."""
        return Form(self.fields, self.texts, self.values, {**errors, **self.errors})

    def lacks(self, *names: str) -> str:
        """A sentence that names the fields to correct, or an empty text."""
        bad = [self.fields[name].label for name in names if name in self.errors]
        return f"Please correct: {', '.join(bad)}." if bad else ""

    @cached_property
    def query(self) -> str:
        """The whole state, for an address that restores it."""
        return urlencode({name: self.texts[name].strip() for name in self.fields})


def by_name(*fields: Field) -> dict[str, Field]:
    """Fields in the order in which they are shown."""
    return {field.name: field for field in fields}


Make = Callable[[Mapping[str, Any]], dict[str, Any] | None]


class Part:
    """A part of a page that depends on some fields, computed once for the same values.

    `make` returns what its template shows.
    """

    def __init__(self, fields: Sequence[str], make: Make) -> None:
        self.fields = tuple(fields)
        self._make = lru_cache(256)(lambda values: make(dict(zip(fields, values, strict=True))))

    def __call__(self, form: Form) -> Any:
        """The part, or a sentence if one of its fields is not valid."""
        for name in self.fields:
            if name in form.errors:
                raise FewgoldError(f"{form.fields[name].label}: {form.errors[name]}")
        return self._make(tuple(form[name] for name in self.fields))

    def tried(self, form: Form) -> tuple[Any, str]:
        """The part, or a sentence that says why there is none."""
        lacking = form.lacks(*self.fields)
        if lacking:
            return None, lacking
        try:
            return self(form), ""
        except FewgoldError as error:
            return None, error.message_for("web")


def part(*fields: str) -> Callable[[Make], Part]:
    """Turn a function of these fields' values into a `Part`."""
    return lambda make: Part(fields, make)


# Python code and commands that reproduce the numbers of a page


def arguments(values: Mapping[str, Any]) -> str:
    """``alpha=0.6, human=500``, without values that are None.

    >>> arguments({"alpha": 0.6, "paired": None, "known": True})
    'alpha=0.6, known=True'
    """
    return ", ".join(f"{k}={v!r}" for k, v in values.items() if v is not None)


def wrapped(call: str, parts: list[str]) -> str:
    """A call on one line if it fits, else one argument per line.

    >>> print(wrapped("plan", ["goal", "outlook"]))
    plan(goal, outlook)
    """
    line = f"{call}({', '.join(parts)})"
    return line if len(line) < 88 else "\n".join([f"{call}(", *(f"    {p}," for p in parts), ")"])


def plan_command(options: Mapping[str, Any]) -> str:
    """A ``fewgold plan`` command. True makes a flag; None and False are left out.

    >>> plan_command({"half_width": 0.3, "known": True, "size": None})
    'fewgold plan --half-width 0.3 --known'
    """
    words = ["fewgold", "plan"]
    for key, value in options.items():
        if value is not None and value is not False:
            words.append(f"--{key.replace('_', '-')}")
            words += [] if value is True else [value if isinstance(value, str) else repr(value)]
    return shlex.join(words)


def table_command(name: str, data: Data, options: Options) -> str:
    """The command for the same table; for embedded data, preceded by one that writes the file."""
    known = data.demo is not None and name in ("simulate", "reliability")  # known by name
    file = data.key if known else data.file
    words = ["fewgold", name, f"./{file}" if file.startswith("-") else file]
    for option, value in options:
        if value is None:
            words.append(option)
        else:  # since values may begin with a dash
            words += [option, value] if not value.startswith("-") else [f"{option}={value}"]
    line = shlex.join(words)
    if known or data.demo is None:
        return line
    code = f"from fewgold.datasets import demo_frame; demo_frame('{data.demo}')"
    return f"python -c \"{code}.to_csv('{data.file}', index=False)\"\n{line}"


def named(path: Path | None) -> str:
    """A campaign as an argument of a command.

    >>> named(Path("my study"))
    "'my study'"
    """
    place = "CAMPAIGN" if path is None else path.as_posix()
    return shlex.quote(f"./{place}" if place.startswith("-") else place)


def listed(names: Sequence[str]) -> str | None:
    """Names joined by commas; None if one of them has a comma or outer spaces."""
    plain = all(n and n == n.strip() and "," not in n for n in names)
    return ",".join(names) if plain else None
