"""Settings of the documentation site. `make docs` builds it; warnings are errors.

Pages are Markdown files of this folder. `site_pages.py` writes the pages of public names and of the
files beside this folder (reference/, project/), sphinx-gallery those of the examples (gallery/).
The site makes no request to another host: no fonts, no formulas from a server, search by sphinx.
"""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("MPLBACKEND", "Agg")

import docstring_text  # noqa: E402
import site_pages  # noqa: E402

PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "partita"
author = PROJECT["authors"][0]["name"]
project_copyright = author
version = release = PROJECT["version"]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["_build"]
suppress_warnings = ["config.cache"]  # functions in the settings of the gallery
nitpicky = False  # types in docstrings are prose

myst_heading_anchors = 4

default_role = "py:obj"
add_module_names = False
autodoc_typehints = "none"  # the docstrings have the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = f"partita {version}"
html_static_path = ["site"]
html_css_files = ["site.css"]
# Pages outside folders have no pages below them: their left menu would be an empty column. The
# tables of the papers need its width.
html_sidebars: dict[str, list[str]] = {"*": [], "papers/*": []}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 4,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "show_nav_level": 1,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "secondary_sidebar_items": ["page-toc"],
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("gallery_pictures",),
    "reset_modules": (),
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,  # its page loads scripts from other hosts
    "remove_config_comments": True,
    "copyfile_regex": r".*\.csv",
}


def setup(app: Any) -> None:
    site_pages.write(HERE)
    app.connect("source-read", site_pages.adapt)
    app.connect("autodoc-process-docstring", docstring_text.escape, priority=100)
    app.connect("doctree-read", site_pages.link_names)
