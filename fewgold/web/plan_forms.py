"""Fields of the planning pages: what they are called, what they may hold, and how they are read."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

_LONGEST = 40  # characters of a value that are read, and shown again


@dataclass(frozen=True)
class Field:
    """One field.

    Parameters
    ----------
    name, label
        In the address, and for people.
    default
        What stands in it when nobody said anything.
    low, high
        Least and largest value, both allowed.
    whole
        A whole number.
    optional
        May be empty, which means what ``hint`` says.
    slider
        Low end, high end and step of the slider beside the field; the field itself takes more.
    choices
        Values and their names, of a field that is chosen from a list.
    """

    name: str
    label: str
    default: str
    low: float = 0.0
    high: float = 1.0
    whole: bool = False
    optional: bool = False
    slider: tuple[float, float, float] | None = None
    choices: tuple[tuple[str, str], ...] = ()
    hint: str = ""

    @property
    def step(self) -> str:
        """Step of the number field: that of the slider, whose arrows people use."""
        return "any" if self.slider is None else f"{self.slider[2]:g}"

    def read(self, text: str) -> tuple[Any, str]:
        """The value, or None and a sentence that says what was expected."""
        told = text.strip()
        if self.choices:
            if told in dict(self.choices):
                return told, ""
            return None, f"Expected one of {', '.join(dict(self.choices))}; got {_short(text)}."
        if not told:
            return (None, "") if self.optional else (None, f"Expected {self.expected}.")
        value = _number(told, self.whole)
        if value is None or not self.low <= value <= self.high:
            return None, f"Expected {self.expected}; got {_short(text)}."
        return value, ""

    @property
    def expected(self) -> str:
        """What may stand in it."""
        kind = "a whole number" if self.whole else "a number"
        ends = f"from {_plain(self.low)} to {_plain(self.high)}"
        return f"{kind} {ends}" + (", or nothing" if self.optional else "")


@dataclass(frozen=True)
class Form:
    """Fields with what was sent: texts as they came, values where they can be read, sentences."""

    fields: Mapping[str, Field]
    texts: Mapping[str, str]
    values: Mapping[str, Any]
    errors: Mapping[str, str]

    @classmethod
    def of(cls, fields: Mapping[str, Field], sent: Mapping[str, str]) -> Form:
        """Read what was sent; fields that were not have their defaults."""
        texts, values, errors = {}, {}, {}
        for name, field in fields.items():
            texts[name] = sent.get(name, field.default)[:_LONGEST]
            values[name], sentence = field.read(texts[name])
            if sentence:
                errors[name] = sentence
        return cls(fields, texts, values, errors)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def but(self, **errors: str) -> Form:
        """The same with sentences about fields that do not go together."""
        return Form(self.fields, self.texts, self.values, {**errors, **self.errors})

    def lacks(self, *names: str) -> str:
        """A sentence that names those of the fields that must be put right; else empty."""
        bad = [self.fields[name].label for name in names if name in self.errors]
        return f"Waiting for a value that can be used: {', '.join(bad)}." if bad else ""

    @cached_property
    def query(self) -> str:
        """All of the state, for an address that restores it."""
        return urlencode({name: self.texts[name].strip() for name in self.fields})


def _number(text: str, whole: bool) -> Any:
    if whole:
        return int(text) if re.fullmatch(r"\d{1,12}", text, re.ASCII) else None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def by_name(*fields: Field) -> dict[str, Field]:
    """Fields in the order in which they are shown."""
    return {field.name: field for field in fields}


# Lines of Python and of a shell that give the numbers of a page again.


def arguments(values: Mapping[str, Any]) -> str:
    """``alpha=0.6, human=500``: what is None is left out.

    >>> arguments({"alpha": 0.6, "paired": None, "known": True})
    'alpha=0.6, known=True'
    """
    return ", ".join(f"{k}={v!r}" for k, v in values.items() if v is not None)


def command(name: str, options: Mapping[str, Any]) -> str:
    """A line for a shell. True is an option without a value; None and False are left out.

    >>> command("fewgold plan", {"half_width": 0.3, "known": True, "size": None})
    'fewgold plan --half-width 0.3 --known'
    """
    parts = [name]
    for key, value in options.items():
        if value is None or value is False:
            continue
        parts.append(f"--{key.replace('_', '-')}")
        if value is not True:
            parts.append(shlex.quote(value if isinstance(value, str) else repr(value)))
    return " ".join(parts)


def wrapped(call: str, parts: list[str]) -> str:
    """A call on one line if it fits, else an argument a line.

    >>> print(wrapped("plan", ["goal", "outlook"]))
    plan(goal, outlook)
    """
    line = f"{call}({', '.join(parts)})"
    return line if len(line) < 88 else "\n".join([f"{call}(", *(f"    {p}," for p in parts), ")"])
