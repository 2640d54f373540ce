"""The documentation site: pages of Markdown, and an API page from docstrings."""

import runpy
from importlib.metadata import version as _version
from pathlib import Path

import typer
from sphinx.application import Sphinx

import audit.cli
import collector.cli
import figures.cli
import stats.cli
from audit.reports import relations_page
from audit.reports.finding import listed

project = "salience-audit"
version = release = _version("salience-audit")
copyright = "The salience-audit authors"  # noqa: A001 - Sphinx's name for it

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# `site` is what is built, `tables` is included in pages.
exclude_patterns = ["site", "examples", "tables"]
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


DOCS = Path(__file__).parent
PROGRAMS = {"collect": collector.cli.app, "audit": audit.cli.app, "stats": stats.cli.app, "figures": figures.cli.app}


def setup(app: Sphinx) -> None:
    """Write the pages that are made from the program, and leave out fields of named tuples."""
    tables = runpy.run_path(str(DOCS / "write_tables.py"))["page"]()
    for name, page in (("commands", _page_of_commands()), ("relations", relations_page.page()), ("tables", tables)):
        (DOCS / f"{name}.md").write_text(page, encoding="utf-8")
    app.connect("autodoc-skip-member", lambda *event: _is_bare_field(event[3]) or None)


def _page_of_commands() -> str:
    """What `--help` prints of every command."""
    parts = ["# Commands", "What `--help` prints of each command."]
    for program, app in PROGRAMS.items():
        parts += [f"## {program}", *_helps(program, typer.main.get_command(app), None)]
    parts += ["## Cases of audit find", f"```text\n{listed()}\n```"]
    return "\n\n".join(parts) + "\n"


def _helps(name: str, command: typer.core.TyperCommand, parent: typer.Context | None) -> list[str]:
    context = command.make_context(name, [], parent, resilient_parsing=True, max_content_width=100, terminal_width=100)
    shown = [f"### {context.command_path}"] if parent else []
    parts = [*shown, f"```text\n{command.get_help(context)}\n```"]
    for inner in getattr(command, "list_commands", lambda _: [])(context):
        parts += _helps(inner, command.get_command(context, inner), context)
    return parts


def _is_bare_field(member: object) -> bool:
    """Whether a member is a field of a named tuple, whose class describes it."""
    return (getattr(member, "__doc__", None) or "").startswith("Alias for field number")
