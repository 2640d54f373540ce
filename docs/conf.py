"""The documentation site: pages of Markdown, and an API page from docstrings."""

from importlib.metadata import version as _version

from sphinx.application import Sphinx

project = "salience-audit"
version = release = _version("salience-audit")
copyright = "The salience-audit authors"  # noqa: A001 - Sphinx's name for it

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# `site` is what is built.
exclude_patterns = ["site", "examples"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # console sessions and SQL with placeholders

html_theme = "furo"
html_title = project
html_show_sphinx = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]

# What a package exports is what is public, in its own order; names in backticks are code, as in the source.
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
default_role = "code"
napoleon_use_ivar = True


def setup(app: Sphinx) -> None:
    """Leave out what says nothing: fields of named tuples, whose class describes them."""
    app.connect("autodoc-skip-member", lambda *event: _is_bare_field(event[3]) or None)


def _is_bare_field(member: object) -> bool:
    return (getattr(member, "__doc__", None) or "").startswith("Alias for field number")
