"""The documentation site: ``make docs`` writes it to build/docs, without any network."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from fewgold._version import __version__  # noqa: E402

project = "fewgold"
author = "The fewgold developers"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "public_names",
    "written_pages",
    "links_outside",
]
exclude_patterns = ["_ext", "_static"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4  # links such as planning.md#the-headings-name, as forges make them

highlight_language = "text"  # of indented blocks, most of which are commands and what they print

# Two dashes are an option of a command, not a dash.
smartquotes = False
default_role = "py:obj"
add_module_names = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True

napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_attr_annotations = False  # the signature has them
suppress_warnings = ["ref.python"]  # fields of several classes are called alike
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"

html_theme = "furo"
html_title = f"fewgold {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "default"
pygments_dark_style = "github-dark"
