"""Write the public names into reference/api.md: ``python docs/reference_lists.py``.

The pages of the reference show docstrings only on the built site, by the directive ``names``. This
page lists the same names as plain Markdown, with how each is called and the first sentence of its
docstring, for readers of the repository. A test checks that it is up to date.
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module, util
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
# By its path: the tests have a module of the same name.
_spec = util.spec_from_file_location("docs_public_names", HERE / "_ext" / "public_names.py")
assert _spec is not None and _spec.loader is not None
_names = util.module_from_spec(_spec)
_spec.loader.exec_module(_names)
kind_of, listed = _names.kind_of, _names.listed

PAGE = HERE / "reference" / "api.md"
FENCE = re.compile(r"^```\{names\} (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HEAD = """# All names on one page

Every public name by subject, with its parameters and a one-line description. `…` is a default that
is too long to print. The headings link to pages that show the full docstrings on the built site
(`make docs`). In Python, `help(…)` prints them.

<!-- Written by `python docs/reference_lists.py` from the docstrings: do not edit by hand. -->
"""


def called(name: str, thing: Any) -> str:
    """The name with its parameters, without types: ``Mean(sampler=…, bound=…)``."""
    if kind_of(thing) in ("data", "exception") or getattr(thing, "_is_protocol", False):
        return name
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):  # such as an alias of a type
        return name
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    shown, keyword_only = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            shown.append(f"*{parameter.name}")
            keyword_only = True
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            shown.append(f"**{parameter.name}")
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            shown.append("*")
            keyword_only = True
        shown.append(parameter.name + _default(parameter))
    return f"{name}({', '.join(shown)})"


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return ""
    plain = isinstance(parameter.default, bool | int | float | str | type(None))
    return f"={parameter.default!r}" if plain else "=…"


def first_sentence(thing: Any) -> str:
    """The first paragraph of a docstring as Markdown."""
    text = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([*_<>|\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def page() -> str:
    """The whole page, in the order of the reference's table of contents."""
    index = (HERE / "reference" / "index.md").read_text(encoding="utf-8")
    contents = re.search(r"^```\{toctree\}\n(.*?)^```$", index, re.DOTALL | re.MULTILINE)
    assert contents is not None
    lines = [HEAD]
    for entry in contents[1].split():
        path = HERE / "reference" / f"{entry}.md"
        text = path.read_text(encoding="utf-8") if path.is_file() and path != PAGE else ""
        found = FENCE.findall(text)
        if not found:
            continue
        title = text.partition("\n")[0].removeprefix("# ")
        lines += [f"## [{title}]({entry}.md)", ""]
        before = ""
        for name_of_module, content in found:
            module = import_module(name_of_module)
            if name_of_module != before:
                lines += [] if not before else [""]
                lines += [f"From `{name_of_module}`:", ""]
                before = name_of_module
            rows = [row for row in content.splitlines() if not row.startswith(":")]
            for name, told in listed(rows):
                thing = getattr(module, name)
                lines.append(f"- `{called(name, thing)}`: {told or first_sentence(thing)}")
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
