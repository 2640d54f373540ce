"""The structure as docs/architecture.md draws it: no circle between modules, and faces that nobody inside imports."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from audit.models.catalog import models, named_in

ROOT = Path(__file__).parents[1]
PACKAGES = ("collector", "audit", "stats", "figures")


FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
}


def import_statements(path: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    """All of a module, in functions and under TYPE_CHECKING too; an `__init__` may resolve public names lazily."""
    tree = ast.parse(path.read_bytes())
    statements = tree.body if path.name == "__init__.py" else ast.walk(tree)
    return (each for each in statements if isinstance(each, ast.Import | ast.ImportFrom))


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    found: set[str] = set()
    for statement in import_statements(path):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
            continue
        parents = name.split(".") + ["__init__"] * (path.name == "__init__.py")
        base = [*parents[: -statement.level or 0], statement.module or ""] if statement.level else [statement.module]
        source = ".".join(filter(None, base))
        found |= {inner if (inner := f"{source}.{alias.name}") in known else source for alias in statement.names}
    return found & known.keys() - {name}


def circle(known: dict[str, Path]) -> list[str]:
    try:
        TopologicalSorter({name: imported(name, path, known) for name, path in known.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_one_another_in_a_circle():
    assert circle(FILES) == []


def test_nobody_inside_a_package_imports_its_face():
    """Public names are a roof: what is inside imports the module that defines a function."""
    assert [name for name, path in FILES.items() if name.split(".")[0] in imported(name, path, FILES)] == []


def test_a_step_of_a_query_has_the_name_of_a_relation_only_where_it_reads_it():
    """Else that relation is built for nothing, or from files that are no longer there."""
    shadowing = [
        (name, step)
        for name, text in models().items()
        for step in named_in(text) - {name}
        if (body := body_of(step, text)) and not re.search(rf'\b(from|join) "?{step}\b', body)
    ]
    assert shadowing == []


def body_of(step: str, text: str) -> str:
    """The SELECT of a step, in one line or in several."""
    found = re.search(rf'^"?{step}"? as (?:materialized )?\((.*)\),?$', text, re.MULTILINE)
    found = found or re.search(rf'^"?{step}"? as (?:materialized )?\(\n(.*?)^\)', text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""
