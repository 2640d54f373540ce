"""Where templates come from: the project's own, or a user's in place of some of them."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import jinja2
import jinja2.meta

from collector.errors import UsageError
from collector.system.regular_files import read_regular

OURS: Final = Path(__file__).parent
LARGEST: Final = 2**20
"""Bytes of the largest template."""

REQUIRED: Final = {
    "search.j2": ("history", "iteration", "optimum"),
    "solo.j2": ("description", "history", "optimum"),
    "critic.j2": ("description", "history", "mean_return", "optimum", "proposed", "rollouts_shown"),
}
"""Placeholders without which a prompt would not be what the method is about."""


def check(folder: Path) -> None:
    """Check that a user's templates can be used.

    Raises:
        UsageError: the folder holds no template, or one has a fault in it or misses a required placeholder.
    """
    try:
        names = sorted(path.name for path in folder.glob("*.j2"))
    except OSError as error:
        raise UsageError(f"cannot read {folder}: {error.strerror}") from None
    ours = {path.name for path in OURS.glob("*.j2")}
    if not names:
        raise UsageError(f"{folder} holds no template; name one or more of {', '.join(sorted(ours))}")
    for name in names:
        if name not in ours:
            raise UsageError(f"{folder / name} replaces nothing; templates are {', '.join(sorted(ours))}")
        try:
            read_regular(folder / name, LARGEST)
        except OSError as error:
            raise UsageError(f"cannot read {folder / name}: {error.strerror}") from None
    for name in REQUIRED:
        _check_placeholders(folder, name)


def _check_placeholders(folder: Path, name: str) -> None:
    found = placeholders(folder, name)
    where = folder / name if (folder / name).exists() else f"{name}, with the parts that {folder} replaces,"
    missing = [placeholder for placeholder in REQUIRED[name] if placeholder not in found]
    if missing:
        raise UsageError(f"{where} misses the placeholder {missing[0]}")


def placeholders(folder: Path | None, name: str) -> set[str]:
    """Names that a template and the parts it includes expect to be filled.

    Raises:
        UsageError: a template has a fault in it, or includes one that does not exist.
    """
    found: set[str] = set()
    waiting, seen = [name], set()
    loader = environment(folder)
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        try:
            assert loader.loader is not None
            source, *_ = loader.loader.get_source(loader, part)
            tree = loader.parse(source)
        except jinja2.TemplateNotFound:
            raise UsageError(f"{name} includes {part}, which does not exist") from None
        except jinja2.TemplateSyntaxError as error:
            raise UsageError(f"{part}:{error.lineno}: {error.message}") from None
        except (OSError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(f"{part} cannot be read as a template: {error}") from None
        found |= jinja2.meta.find_undeclared_variables(tree)
        includes = set(jinja2.meta.find_referenced_templates(tree))
        if None in includes:  # chosen by the kind of evidence
            includes |= {"evidence_median.j2", "evidence_three.j2", "evidence_representative.j2"}
        waiting += [include for include in includes if include is not None]
    return found


def hashes(folder: Path | None = None) -> dict[str, str]:
    """SHA-256 of every template in use, by file name."""
    paths = {path.name: path for path in OURS.glob("*.j2")}
    if folder is not None:
        paths |= {path.name: path for path in folder.glob("*.j2")}
    return {name: hashlib.sha256(paths[name].read_bytes()).hexdigest() for name in sorted(paths)}


def render(folder: Path | None, name: str, facts: Mapping[str, object]) -> str:
    """Fill a template.

    Args:
        folder: a user's templates.
        name: of the template.
        facts: its placeholders.

    Raises:
        UsageError: a template of the user's fails.
    """
    template = environment(folder).get_template(name)
    if folder is None:
        return template.render(facts)
    try:
        return template.render(facts)
    except Exception as error:
        # Jinja puts the lines of templates into the traceback.
        lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".j2")]
        where = f"{lines[-1].filename}:{lines[-1].lineno}" if lines else str(folder / name)
        reason = str(error) if isinstance(error, jinja2.TemplateError) else f"{type(error).__name__}: {error}"
        line = "".join(letter if letter.isprintable() else " " for letter in reason)
        raise UsageError(f"{where}: {line}") from None


@cache
def environment(folder: Path | None) -> jinja2.Environment:
    """The templates of a folder, and the project's own where it has none."""
    return jinja2.Environment(  # noqa: S701 - prompts are no HTML
        loader=jinja2.FileSystemLoader([OURS] if folder is None else [folder, OURS]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=folder is not None,  # the system is asked for the time of every part of every prompt
    )
