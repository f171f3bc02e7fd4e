"""The documentation site builds without a warning, lists every public name, needs no network.

Building it takes long, so that is for the slow tests. What goes wrong most often is seen without:
names and pages that are not listed, docstrings that are no reStructuredText, commands not told.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
FENCE = re.compile(r"^```\{names\} (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)

needs_sphinx = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")),
    reason="the extra `docs` is not installed",
)


def _load(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _key(module: str, name: str) -> str:
    """One key for a class or function, by whatever path it is imported."""
    thing = getattr(import_module(module), name)
    if inspect.ismodule(thing):
        return thing.__name__
    if inspect.isclass(thing) or hasattr(thing, "__wrapped__") or inspect.isfunction(thing):
        return f"{thing.__module__}.{thing.__qualname__}"
    return f"{module}.{name}"


def _public() -> set[str]:
    """What users may rely on: the names that tests/packaging/public_names.py lists."""
    public = _load(ROOT / "tests" / "packaging" / "public_names.py")
    return {_key(m.__name__, name) for m in public.modules() for name in public.names(m)}


def _listed() -> list[str]:
    """What the pages of the reference list, modules that they tell about included."""
    found = []
    for page in sorted((DOCS / "reference").glob("*.md")):
        for module, content in FENCE.findall(page.read_text(encoding="utf-8")):
            for line in content.splitlines():
                if line == ":about:":
                    found.append(module)
                elif ": " in line:
                    found.append(_key(module, line.partition(": ")[0]))
                else:
                    found += [_key(module, name) for name in line.split()]
    return found


def test_every_public_name_is_in_the_reference_once() -> None:
    counts, public = Counter(_listed()), _public()
    assert public - set(counts) == set(), "list these in docs/reference"
    modules = {name for name in counts if name in sys.modules}
    assert set(counts) - modules - public == set(), "these are not public"
    assert {name for name, count in counts.items() if count > 1} == set()


def test_every_page_is_reached_from_the_index() -> None:
    reached, todo = set(), [DOCS / "index.md"]
    while todo:
        page = todo.pop()
        reached.add(page)
        for content in TOCTREE.findall(page.read_text(encoding="utf-8")):
            entries = [line for line in content.splitlines() if line and line[0] != ":"]
            for entry in entries:
                found = sorted(page.parent.glob(f"{entry}.md"))
                assert found, f"{page.name} lists {entry}, which is not there"
                todo += [other for other in found if other not in reached]
    assert reached == set(PAGES)


def _docstrings(names: ModuleType) -> Iterator[tuple[str, str]]:
    """The docstrings that the reference shows, by the rules of the directive that shows them."""
    for page in sorted((DOCS / "reference").glob("*.md")):
        for module, content in FENCE.findall(page.read_text(encoding="utf-8")):
            lines = [line for line in content.splitlines() if line != ":about:"]
            for name, told in names.listed(lines):
                thing = getattr(import_module(module), name)
                if names.kind_of(thing) == "data":
                    assert told, f"{page.name} must say what {name} is"
                    continue
                parts = vars(thing) if inspect.isclass(thing) else {}
                shown = {f".{k}": v for k, v in parts.items() if not k.startswith("_")}
                for tail, part in {"": thing, **shown}.items():
                    if not tail or hasattr(part, "__get__"):
                        text = inspect.getdoc(part) or ""
                        assert text or tail or told, f"{name} has no docstring"
                        yield f"{module}.{name}{tail}", text


def _complaints(names: ModuleType, where: str, text: str) -> list[str]:
    """What a parser of reStructuredText says of a docstring, read as the site reads it."""
    from docutils import frontend, nodes, utils
    from docutils.parsers.rst import Parser, roles
    from sphinx.ext.napoleon import Config
    from sphinx.ext.napoleon.docstring import NumpyDocstring

    lines = text.splitlines()
    names.plain_signs(None, "", "", None, None, lines)
    settings = frontend.get_default_settings(Parser)
    settings.report_level = settings.halt_level = 5  # collected below instead
    document = utils.new_document(where, settings)
    said: list[str] = []
    document.reporter.attach_observer(lambda message: said.append(message.astext()))
    named = {"": roles.GenericRole("", nodes.literal)}  # `name` without a role is a name
    named |= dict.fromkeys(("py:obj", "py:class", "py:meth", "py:func"), named[""])
    read = NumpyDocstring("\n".join(lines), Config(napoleon_use_ivar=True), what="class").lines()
    with patch.dict(roles._roles, named):
        Parser().parse("\n".join(read), document)
    return [f"{where}: {message}" for message in said]


@needs_sphinx
def test_docstrings_are_restructured_text() -> None:
    names = _load(DOCS / "_ext" / "public_names.py")
    found = dict(_docstrings(names))
    assert len(found) > 500
    assert not [said for where, text in found.items() for said in _complaints(names, where, text)]
    # It notices what is wrong: a mark without an end, and a list that is not set apart.
    for wrong in ("A ``mark.", "A list:\n  - one\n- two"):
        assert _complaints(names, "here", f"What it does.\n\n{wrong}\n"), wrong


def test_every_command_and_option_is_told() -> None:
    written = _load(DOCS / "_ext" / "written_pages.py")
    for docname in written.PAGES:
        page = (DOCS / f"{docname}.md").read_text(encoding="utf-8")
        assert len(written.PLACE.findall(page)) == 1, docname
    _assert_all_options_in(written.commands().replace("`", ""))
    for script in (ROOT / "examples").glob("*.py"):
        assert f"`examples/{script.name}`" in written.examples()


def _assert_all_options_in(text: str) -> None:
    import typer.main

    from fewgold.cli import app

    for name, command in vars(typer.main.get_command(app))["commands"].items():
        part = text.partition(f"fewgold {name} [options]")[2].partition("[options]")[0]
        for parameter in command.params:
            for option in parameter.opts if parameter.name != "help" else ():
                if option.startswith("--"):
                    assert option in part, f"fewgold {name} {option}"


def test_picture_of_the_layers_is_up_to_date() -> None:
    made = _load(DOCS / "layers.py")
    assert made.PICTURE.read_text(encoding="utf-8") == made.picture(), "run: python docs/layers.py"
    assert len(made.layers(made.PAGE.read_text(encoding="utf-8"))) == 9


def test_plain_lists_of_names_are_up_to_date() -> None:
    made = _load(DOCS / "reference_lists.py")
    text = made.PAGE.read_text(encoding="utf-8")
    assert text == made.page(), "run: python docs/reference_lists.py"
    assert len(re.findall(r"^- `", text, re.MULTILINE)) > 200
    assert "](bounds.md)" in text and "- `Ridge(metrics=None, higher_is_better=None" in text


def _is_module(name: str) -> bool:
    """True for a module; the names of members have a class before the last dot."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class _Page(HTMLParser):
    """What a page loads when it is opened, where its links lead, and what can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids.add(values.get("id") or "")
        if tag == "a":
            self.links.append(values.get("href") or "")
        names = ["src", "srcset", "data", "poster"]
        if tag == "link":
            names.append("href")
        self.found += [value for name in names if (value := values.get(name))]
        self.found += re.findall(r"url\(([^)]*)\)", values.get("style") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), str(DOCS), str(folder / "html")],
        capture_output=True, text=True, check=False, cwd=ROOT, encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "html"


@needs_sphinx
@pytest.mark.slow
def test_site_holds_every_page_and_name(site: Path) -> None:
    for page in PAGES:
        assert (site / page.relative_to(DOCS)).with_suffix(".html").is_file()
    from sphinx.util.inventory import InventoryFile

    inventory: Any = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    kinds = [kind for kind in inventory.data if kind.startswith("py:")]
    documented = {name for kind in kinds for name in inventory.data[kind]}
    keys = {
        _key(module, name)
        for module, _, name in (full.rpartition(".") for full in documented)
        if module and _is_module(module) and hasattr(import_module(module), name)
    }
    assert _public() <= keys | documented


@needs_sphinx
@pytest.mark.slow
def test_site_tells_every_command_and_option(site: Path) -> None:
    shown = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    _assert_all_options_in(re.sub(r"<[^>]+>", "", shown))


@needs_sphinx
@pytest.mark.slow
def test_site_loads_nothing_from_the_network(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        loads = _Page(page).found
        assert loads
        assert not [a for a in loads if re.match(r"\s*['\"]?(https?:)?//", a)], page.name
    for sheet in site.rglob("*.css"):
        told = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", told), sheet.name


@needs_sphinx
@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    pages = {path: _Page(path) for path in sorted(site.rglob("*.html"))}
    lost = []
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            other = Path(os.path.normpath(path.parent / target)) if target else path
            if not other.is_file() or (other in pages and anchor not in pages[other].ids | {""}):
                lost.append(f"{path.name}: {link}")
    assert not lost


@needs_sphinx
@pytest.mark.slow
def test_site_has_a_page_for_files_beside_the_docs(site: Path) -> None:
    links = _Page(site / "contributing.html").links
    assert "architecture.html" in links  # docs/architecture.md, as CONTRIBUTING.md has it
    shown = (site / "examples.html").read_text(encoding="utf-8")
    for script in (ROOT / "examples").glob("*.py"):
        assert f"examples/{script.name}" in shown
