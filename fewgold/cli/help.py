"""Help that fits on one screen: ``--help`` shows the common options, ``--help-all`` all of them."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from typer.core import TyperCommand, TyperGroup

#: Options that ``--help`` shows for each command, in this order, by parameter name.
#: A command that is not listed shows all of its options.
FIRST: dict[str, tuple[str, ...]] = {
    "doctor": ("human", "id", "metrics", "system", "source", "json"),
    "select": ("budget", "out", "metrics", "id", "strategy", "seed"),
    "estimate": ("limits", "adequate", "by", "human", "chosen", "confidence"),
    "report": ("out", "limits", "adequate", "human", "chosen", "title", "force"),
    "compare": ("human", "system", "id", "metrics", "level", "limits", "out", "json"),
    "judge": ("human", "judges", "adequate", "threshold", "by", "out", "json"),
    "init": ("limits", "tolerance", "metrics", "system", "criteria", "instructions"),
    "import": ("source", "id", "human", "rater", "by", "fail_rejected"),
    "export": ("out", "to", "what", "raters", "log"),
    "serve": ("port", "host", "public", "name", "https"),
    "settings": ("question", "instructions", "ends", "limits", "each", "tolerance", "json"),
    "work": (
        "check_every", "known", "second", "hold", "practice", "practice_items", "hand_on", "json",
    ),
    "stop": ("tolerance", "limits", "metric", "rule", "confidence", "human", "fail_open"),
    "gate": ("bar", "chosen", "by", "every", "unknown_passes"),
    "monitor": ("batch", "every", "chosen", "drop", "limits", "out"),
    "plan": (
        "half_width", "size", "limits", "sd", "correlation", "pilot", "history", "human",
        "difference", "strategies",
    ),
    "simulate": ("human", "budgets", "strategies", "draws", "seed", "metrics", "limits", "out"),
    "reliability": ("score", "document", "system", "half_width", "draws", "seed", "out"),
    "reproduce": ("demo", "draws", "budgets", "seed", "out", "resume", "fail"),
    "alpha": ("human", "metric", "adequate", "threshold", "by", "counts", "out"),
    "roc": ("human", "metrics", "adequate", "system", "rule", "out"),
    "raters": ("columns", "rater", "id", "human", "gold", "adequate", "confidence", "out"),
    "preferences": ("human", "judges", "a", "b", "systems", "tie", "out"),
    "naive": ("human", "metrics", "adequate", "system", "rated", "confidence", "out"),
}  # fmt: skip


def _paragraphs(text: str) -> str:
    """The help text with lines of any length, and no gaps between examples."""
    result = ""
    for one in inspect.cleandoc(text).split("\n\n"):
        line = " ".join(one.split())
        again = line.startswith("[bold]fewgold ") and result.endswith((":", "?", "[/bold]"))
        result += ("\n" if again else "\n\n" if result else "") + line
    return result


class _OneScreen:
    """Help that fits on one screen, and an option ``--help-all`` that shows the rest."""

    _all: Any = None
    first: tuple[str, ...] | None = None

    def get_params(self: Any, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)  # type: ignore[misc]
        if self._all is None:
            self._all = copy.copy(params[-1])  # an option like --help
            self._all.name, self._all.opts = "help_all", ["--help-all"]
            self._all.help, self._all.callback = "Show all options.", self._tell_all
        return [*params, self._all]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._show(ctx, self.first)

    def _tell_all(self, ctx: Any, parameter: Any, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            self._show(ctx, None)
            ctx.exit()

    def _show(self: Any, ctx: Any, first: tuple[str, ...] | None) -> None:
        """Print the help with some of the options, or with all of them."""
        from typer import rich_utils

        known: dict[str, Any] = {str(one.name): copy.copy(one) for one in self.params}
        shown = [one for one in known.values() if one.param_type_name == "argument"]
        options = [one for one in known.values() if one.param_type_name == "option"]
        for one in shown:
            one.required = False  # the usage line says so
        if first is None:
            shown += options
        else:
            shown += [known[name] for name in first]
            for one in shown:
                one.rich_help_panel = None
        for one in shown:
            if one.param_type_name == "argument" or getattr(one, "is_flag", False):
                one.display_type_rich = lambda ctx: ""  # "<bool>" tells users nothing
        page: Any = copy.copy(self)
        page.get_params = lambda ctx: shown
        page.help = _paragraphs(self.help or "")
        if left := len(known) - len(shown):
            what = "1 more option" if left == 1 else f"{left} more options"
            told = [self.epilog] if self.epilog else []
            told.append(f"{what}: [bold]{ctx.command_path} --help-all[/bold]")
            page.epilog = "\n\n".join(told)
        rich_utils.rich_format_help(obj=page, ctx=ctx, markup_mode=self.rich_markup_mode or "rich")


class ShortHelpCommand(_OneScreen, TyperCommand):
    """A command with the options of ``FIRST`` in its short help."""

    def __init__(self, name: str | None, **more: Any) -> None:
        super().__init__(name, **more)
        self.first = FIRST.get(str(name))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = [self.options_metavar or ""]
        for one in self.params:
            if one.param_type_name == "argument":
                name = str(one.metavar or one.name).strip("[].…") + "..." * (one.nargs != 1)
                pieces.append(name if one.required else f"[{name}]")
        return pieces


class ShortHelpGroup(_OneScreen, TyperGroup):
    """All commands: its short help shows them, and no options."""

    first = ()
