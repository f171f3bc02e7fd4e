"""The directive ``names``: public names of a module, first in a table, then with their docstrings.

Its argument is a module. Its content lists names in the order of reading, several on a line, or one
with a colon and what it is: constants have no docstring. ``:about:`` puts the docstring of the
module in front, on the page that the module belongs to.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from numpy.typing import ArrayLike
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import stringify_annotation

# Code, *stressed* words and doctests, which run to the next empty line.
_KEPT = re.compile(
    r"(``.+?``|`[^`]+`|\*{1,2}\w(?:[^*\n]*\w)?\*{1,2}|^ *>>>.*?(?=\n *\n|\Z))",
    re.DOTALL | re.MULTILINE,
)
_ARRAY = re.compile(
    r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[~?(?:\w+\.)?(\w+)\]\]"
)
_ARRAY_LIKE = stringify_annotation(ArrayLike, "smart")
_SHOWN = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]")
_SIGN = re.compile(r"[*|]")
_LONG = 90  # characters of a constant that are still pleasant to read


def listed(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that the content of a directive lists, each with what it says of it."""
    for line in lines:
        name, colon, told = line.partition(": ")
        if colon:
            yield name.strip(), told.strip()
        else:
            yield from ((name, "") for name in line.split())


def kind_of(thing: Any) -> str:
    """What autodoc calls it."""
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    return "function" if callable(thing) and hasattr(thing, "__qualname__") else "data"


class Names(SphinxDirective):
    """Table and docstrings of the names that its content lists."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"about": directives.flag}

    def run(self) -> list[nodes.Node]:
        module = import_module(self.arguments[0])
        told = {name: text or self._summary(module, name) for name, text in listed(self.content)}
        lines = ["```{eval-rst}", f".. py:currentmodule:: {module.__name__}", ""]
        if "about" in self.options:
            lines += [f".. automodule:: {module.__name__}", ""]
        if len(told) > 1:
            lines += [".. list-table::", "   :class: names", "   :widths: auto", ""]
            for name, text in told.items():
                lines += [f"   * - :py:obj:`~{module.__name__}.{name}`", f"     - {text}"]
        for name, text in told.items():
            lines += ["", *self._entry(module, name, text)]
        box = nodes.container()
        source = StringList([*lines, "```"], source=self.get_source_info()[0])
        self.state.nested_parse(source, self.content_offset, box)
        return list(box.children)

    def _summary(self, module: Any, name: str) -> str:
        thing = getattr(module, name)
        text = "" if kind_of(thing) == "data" else inspect.getdoc(thing) or ""
        if not text:
            raise self.error(f"{name} has no docstring. Say what it is: '{name}: …'.")
        return " ".join(text.partition("\n\n")[0].split())

    def _entry(self, module: Any, name: str, text: str) -> list[str]:
        thing = getattr(module, name)
        kind = kind_of(thing)
        head = f"{module.__name__}.{name}"
        if kind == "data":
            value = repr(thing)
            short = len(value) <= _LONG and " at 0x" not in value
            return [f".. py:data:: {name}", *([f"   :value: {value}"] * short), "", f"   {text}"]
        options = ["   :members:"] if kind == "class" else []
        above = getattr(thing, "__bases__", ())
        if kind == "exception" or any(b.__module__.startswith("fewgold") for b in above):
            options.append("   :show-inheritance:")
        return [f".. auto{kind}:: {head}", *options]


def plain_signs(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings write |x| and (*batch, n) as one does; to reStructuredText these are marks."""
    parts = _KEPT.split("\n".join(lines))
    parts[::2] = [_SIGN.sub(r"\\\g<0>", part) for part in parts[::2]]
    lines[:] = "".join(parts).split("\n")


def short_types(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, told: str | None, given: str | None
) -> tuple[str | None, str | None]:
    """Arrays as ``ndarray[float64]``: how they are typed inside says nothing to a reader."""
    return _short(told), _short(given)


def _short(text: str | None) -> str | None:
    if text is None:
        return None
    named = _ARRAY.sub(lambda m: "~numpy.ndarray" + f"[{m[1]}]" * (m[1] != "Any"), text)
    return named.replace(_ARRAY_LIKE, "ArrayLike").replace("<factory>", "...")


def tidy(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """A real dash between a parameter and what it means; short types of properties."""
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))
    for node in doctree.findall(addnodes.desc_annotation):
        told = node.astext()
        short = _SHOWN.sub(lambda m: "ndarray" + f"[{m[1]}]" * (m[1] != "Any"), told)
        if short != told:
            node.children = []
            node.append(nodes.Text(short))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("names", Names)
    app.connect("autodoc-process-docstring", plain_signs, priority=100)  # before napoleon
    app.connect("autodoc-process-signature", short_types)
    app.connect("doctree-resolved", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
