"""Links to files outside docs/, which work on a forge, lead somewhere on the site as well.

README, CONTRIBUTING and the like have pages here, and so have the examples. Of other files the
reader gets a copy. A folder has neither, and is only named.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from written_pages import title_of

ROOT = Path(__file__).parents[2]

# Files beside docs/ that a page of the site includes.
INCLUDED = {
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "SECURITY.md": "security",
    "RELEASING.md": "releasing",
}


def heading(script: Path) -> str:
    """What a forge makes of the heading that a script has on the page of examples."""
    return re.sub(r"[^\w\- ]", "", title_of(script).lower()).replace(" ", "-")


class LinksOutside(SphinxTransform):
    """Gives each link that leaves docs/ a page, a copy, or nothing to follow."""

    default_priority = 100

    def apply(self, **kwargs: Any) -> None:
        docname = self.env.docname
        included = docname in INCLUDED.values()
        base = ROOT if included else Path(self.env.doc2path(docname)).parent
        for kind in (addnodes.download_reference, addnodes.pending_xref):
            for node in list(self.document.findall(kind)):
                target, _, anchor = node.get("reftarget", "").partition("#")
                if node.get("refdomain") == "doc":  # Markdown, without its suffix
                    target, anchor = f"{target}.md", node.get("reftargetid") or ""
                    if not Path(target).is_absolute():
                        continue  # a page of the site
                if node.get("reftype") != "myst" or not target:
                    continue
                path = Path(os.path.normpath(base / target))
                if path.exists() and path.is_relative_to(ROOT):
                    node.replace_self(self._lead(node, path, anchor))

    def _lead(self, node: Any, path: Path, anchor: str) -> Any:
        inside = path.relative_to(ROOT)
        if inside.parts[:1] == ("docs",) and path.suffix == ".md":
            page = inside.relative_to("docs").with_suffix("").as_posix()
            return self._page(node, page, anchor)
        if inside.name == "README.md" and len(inside.parts) == 1:
            return self._page(node, "index", "")
        if str(inside) in INCLUDED:
            return self._page(node, INCLUDED[str(inside)], anchor)
        if inside.parts[:1] == ("examples",):
            return self._page(node, "examples", heading(path) if path.suffix == ".py" else "")
        if path.is_file():
            copy = addnodes.download_reference("", "", *node.children)
            where = os.path.relpath(path, self.env.srcdir)
            copy.update_all_atts({"reftarget": f"/{where}", "refdoc": self.env.docname})
            return copy
        return nodes.inline("", "", *node.children)

    def _page(self, node: Any, page: str, anchor: str) -> Any:
        if page not in self.env.found_docs:
            return nodes.inline("", "", *node.children)
        return addnodes.pending_xref(
            "",
            *node.children,
            refdomain="doc",
            reftype="myst",
            reftarget=page,
            reftargetid=anchor or None,
            refdoc=self.env.docname,
            refexplicit=True,
        )


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(LinksOutside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
