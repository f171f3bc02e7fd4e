"""Parses budgets, limits and lists as people type them. Bad values are usage errors (exit 2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from fewgold.bayes import Priors
    from fewgold.cut import Cut
    from fewgold.estimate import Bound
    from fewgold.formats import Criterion
    from fewgold.samplers import Budget

# A number, or a percentage
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(%?)\s*")


def budget(text: str | None, cost: float | None, risk: float | None, size: int) -> Budget:
    """The budget of ``--budget``, or of ``--cost-budget`` and ``--risk``, for ``size`` segments."""
    from fewgold.samplers import Cost

    if (text is None) == (cost is None):
        raise typer.BadParameter(
            "say how much can be rated, with either --budget (segments such as 100, or a share "
            "such as 5%) or --cost-budget (in the units of --cost)."
        )
    if cost is not None:
        return Cost(cost) if risk is None else Cost(cost, risk)
    if risk is not None:
        raise typer.BadParameter("--risk needs --cost-budget.")
    assert text is not None
    return _amount(text, size, "--budget")


def _amount(text: str, size: int, option: str) -> Budget:
    """A number of segments, or a share of them."""
    match = _AMOUNT.fullmatch(text)
    if not match:
        raise typer.BadParameter(f"{option} must be like 100 or 5%; got {text!r}.")
    number = float(match[1])
    if match[2]:
        if not 0 < number <= 100:
            raise typer.BadParameter(
                f"{option} in percent must be between 0 and 100; got {text!r}."
            )
        return size if number == 100 else number / 100
    if 0 < number < 1 or (number == 1 and "." in match[1]):
        return size if number == 1 else number
    if number != int(number) or number < 1:
        raise typer.BadParameter(
            f"{option} must be a whole number of at least 1, or a percentage; got {text!r}."
        )
    return int(number)


def budgets(text: str) -> list[Budget]:
    """``5%:50%:5%``, first to last in steps, or a list such as ``50,100,200``."""
    found: list[Budget] = []
    for part in names(text):
        ends = part.split(":")
        if len(ends) not in (1, 3):
            raise typer.BadParameter(
                f"--budgets must be like 5%:50%:5% (first, last, step) or 50,100; got {part!r}."
            )
        if len(ends) == 1:
            found.append(_one_budget(part))
            continue
        matches = [match for match in map(_AMOUNT.fullmatch, ends) if match]
        if len(matches) < 3:
            raise typer.BadParameter(
                f"--budgets cannot read {part!r}. Write 5%:50%:5% or 50:500:50."
            )
        first, last, step = (float(match[1]) for match in matches)
        shares = {match[2] for match in matches}
        if len(shares) > 1 or first > last or step <= 0:
            raise typer.BadParameter(
                f"--budgets {part!r} must go from small to large, all in percent or all in "
                f"segments."
            )
        count = int((last - first) / step + 1e-9) + 1
        found += [_one_budget(f"{first + k * step:.10g}{matches[0][2]}") for k in range(count)]
    if not found:
        raise typer.BadParameter("--budgets is empty. Give some, such as 5%:50%:5%.")
    return found


def _one_budget(text: str) -> Budget:
    whole = _amount(text, -1, "--budgets")
    return 1.0 if whole == -1 else whole  # all of each pool, whatever its size


def names(text: str | None) -> list[str]:
    """A comma-separated list."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def criteria(option: str, text: str | None) -> tuple[Criterion, ...]:
    """``fluency:1-5,adequacy:0-100:higher``: criteria, with their scales where known."""
    from fewgold.errors import FewgoldError
    from fewgold.formats.base import parse_criteria

    try:
        found = parse_criteria(names(text))
    except FewgoldError as error:
        raise typer.BadParameter(f"{option}: {error.message_for('cli')}") from None
    if text is not None and not found:
        raise typer.BadParameter(f"{option} is empty. Name criteria, such as fluency,adequacy.")
    return found


def counts(option: str, text: str) -> list[int]:
    """``100,1000``: whole numbers, at least one."""
    found = names(text)
    if not found or not all(part.isdecimal() for part in found):
        raise typer.BadParameter(
            f"{option} must be whole numbers such as 100 or 100,1000; got {text!r}."
        )
    return [int(part) for part in found]


def orientation(text: str | None) -> dict[str, int]:
    """``comet=+1,ter=-1`` as a mapping."""
    signs = {"+1": 1, "1": 1, "+": 1, "-1": -1, "-": -1, "0": 0}
    found: dict[str, int] = {}
    for part in names(text):
        name, equals, sign = part.rpartition("=")
        if not equals or not name.strip() or sign.strip() not in signs:
            raise typer.BadParameter(
                f"--orientation must be like comet=+1,ter=-1 (+1 larger is better, -1 larger is "
                f"worse, 0 neither); got {part!r}."
            )
        found[name.strip()] = signs[sign.strip()]
    return found


def limits(text: str | None) -> tuple[float, float] | None:
    """``0,25`` as the ends of the rating scale, or a known scale such as ``mqm``."""
    if text is None:
        return None
    from fewgold.common.checks import SCALES, as_limits
    from fewgold.errors import FewgoldError

    try:
        parts = text.split(",")
        return as_limits((float(parts[0]), float(parts[1])) if len(parts) == 2 else text.strip())
    except (FewgoldError, ValueError):
        raise typer.BadParameter(
            "--limits must be the ends of the rating scale, such as 0,25, or one of "
            f"{', '.join(SCALES)}; got {text!r}."
        ) from None


def cut(option: str, text: str | None) -> Cut | None:
    """``<=0`` or ``>= 0.5``: the scores that become a 1."""
    from fewgold.cut import Cut
    from fewgold.errors import FewgoldError

    if text is None:
        return None
    try:
        return Cut.parse(text)
    except FewgoldError:
        raise typer.BadParameter(
            f"{option} must be a sign and a number, such as '<=0' or '>=0.5' (in quotes); got "
            f"{text!r}."
        ) from None


def priors(text: str | None) -> Priors | None:
    """``rho=30/40,eta=0.9@50``: what is known of a judge beforehand."""
    from fewgold.bayes import Priors
    from fewgold.errors import FewgoldError

    if text is None:
        return None
    try:
        return Priors.parse(text)
    except FewgoldError as error:
        raise typer.BadParameter(f"--prior: {error.message_for('cli')}") from None


def bound(text: str) -> Bound:
    """The bound with this name."""
    from fewgold import registry
    from fewgold.errors import DesignError, UnknownNameError

    try:
        return registry.bound(text)
    except (UnknownNameError, DesignError) as error:
        raise typer.BadParameter(error.message_for("cli")) from None


def confidence(text: str, option: str = "--confidence", example: str = "0.95") -> float:
    """``0.95`` or ``95%``, strictly between 0 and 1; also for other probabilities."""
    value = _share(text)
    if value is None or not 0 < value < 1:
        percent = f"{100 * float(example):g}%"
        raise typer.BadParameter(f"{option} must be like {example} or {percent}; got {text!r}.")
    return value


def number(text: str | float) -> float:
    """A number: for ``typer.Option(parser=...)``."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"expected a number, such as 0.5; got {text!r}.") from None


def rate(text: str | float) -> float:
    """``0.9`` or ``90%``: for ``typer.Option(parser=...)``."""
    value = _number_or_percent(text)
    if value is None:
        raise typer.BadParameter(f"expected a share, such as 0.9 or 90%; got {text!r}.")
    return value


def width(option: str, text: str | None, *, shares: bool) -> float | None:
    """``0.5`` in the units of the scores, or ``5%`` if they are shares."""
    if text is None:
        return None
    value = _number_or_percent(text)
    if value is None or ("%" in text and not shares):
        like = "0.05 or 5%" if shares else "0.5, in the units of the scores"
        hint = "" if value is None else " Percentages are for pass or fail, with --alpha."
        raise typer.BadParameter(f"{option} must be like {like}; got {text!r}.{hint}")
    return value


def _number_or_percent(text: str | float) -> float | None:
    try:
        return float(text)
    except ValueError:
        return _share(str(text))


def _share(text: str) -> float | None:
    match = _AMOUNT.fullmatch(text)
    return float(match[1]) / (100 if match[2] else 1) if match else None
