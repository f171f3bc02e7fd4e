"""Pages whose text is made from the code when the site is built: commands and examples.

Each has a comment that says so, in the place where the text goes.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r"<!-- made here: .*? -->")
_RICH = re.compile(r"\[bold\](.*?)\[/bold\]", re.DOTALL)
_OPTION = re.compile(r"(?<![\w`-])--?[a-zA-Z][\w-]*")
_CODE = re.compile(r"(`[^`]*`)")
_SPECIAL = re.compile(r"([\\*_\[\]<>#|{}$~])")


def prose(text: str) -> str:
    """Help text as Markdown: options and bold commands as code, all else as it is."""
    told = _RICH.sub(lambda match: f"`{' '.join(match[1].split())}`", text)
    parts = _CODE.split(told)
    for k in range(0, len(parts), 2):
        pieces = re.split(f"({_OPTION.pattern})", parts[k])
        pieces[::2] = [_SPECIAL.sub(r"\\\1", piece) for piece in pieces[::2]]
        pieces[1::2] = [f"`{piece}`" for piece in pieces[1::2]]
        parts[k] = "".join(pieces)
    return "".join(parts)


def commands() -> str:
    """Every command with its arguments and options, by the headings of ``fewgold --help``."""
    import typer.main

    from fewgold.cli import app

    group: Any = typer.main.get_command(app)
    context = group.context_class(group, info_name="fewgold", **group.context_settings)
    panels: dict[str, list[str]] = {}
    for name, command in group.commands.items():
        if not command.hidden:
            panels.setdefault(command.rich_help_panel, []).append(name)
    lines = [prose(group.help), ""]
    for panel, names in panels.items():
        lines += [f"**{panel}:** " + " · ".join(f"[{n}](#fewgold-{n})" for n in names), ""]
    for names in panels.values():
        for name in names:
            lines += _command(group.commands[name], name, context)
    return "\n".join(lines)


def _command(command: Any, name: str, parent: Any) -> list[str]:
    context = command.context_class(command, info_name=name, parent=parent)
    usage = re.sub(r"\[?\[(\w+)\]\]?", r"[\1]", command.get_usage(context))
    usage = usage.replace("{", "").replace("}", "").replace("[OPTIONS]", "[options]")
    lines = [f"## fewgold {name}", "", "```text", usage.removeprefix("Usage: "), "```", ""]
    lines += [prose(command.help), ""]
    groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and parameter.name not in ("help", "help_all"):
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            groups.setdefault(parameter.rich_help_panel or usual, []).append(record)
    for title, records in groups.items():
        if records:
            lines += [f"**{title}**", ""]
        for term, told in records:
            lines += [f"`{re.sub(' <.*>', '', term)}`", f": {prose(told)}", ""]
    return lines


def title_of(script: Path) -> str:
    """The number and what it is about: ``01_choose.py`` is ``1. Choose``."""
    number, _, words = script.stem.partition("_")
    return f"{int(number)}. {words.replace('_', ' ').capitalize()}"


def examples() -> str:
    """Every script of examples/, under a heading that links can lead to."""
    lines = []
    for script in sorted((ROOT / "examples").glob("*.py")):
        code = script.read_text(encoding="utf-8")
        about = ast.get_docstring(ast.parse(code)) or ""
        lines += [f"## {title_of(script)}", "", prose(about), ""]
        lines += [f"`examples/{script.name}`", "", "```python", code.rstrip("\n"), "```", ""]
    return "\n".join(lines)


PAGES = {"reference/commands": commands, "examples": examples}


def fill(app: Sphinx, docname: str, content: list[str]) -> None:
    if docname in PAGES:
        made = PAGES[docname]()
        content[0], count = PLACE.subn(lambda _: made, content[0])
        if count != 1:
            raise ValueError(f"{docname}.md must say once where the text is made, found {count}.")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
