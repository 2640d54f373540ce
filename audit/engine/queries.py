"""Checks a user's SQL: one statement that reads relations of the analysis, and nothing else.

DuckDB's own parser determines what a statement consists of, so no spelling evades it; `Database.confine` is
the second lock.
"""

from __future__ import annotations

import contextlib
import difflib
import json
from collections.abc import Iterator
from typing import Any, Final

import duckdb

from audit.engine.catalog import ALIASES, models, public
from audit.output.errors import UsageError
from audit.output.escaping import visible

READING: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
"""Kinds of query that only read. A CTE may also be one that inserts, deletes or copies to a file."""

TABLE_FUNCTIONS: Final = frozenset(
    {"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"}
)
"""Functions after FROM that read nothing but their arguments; others read files, settings, or SQL out of a text."""

CATALOGS: Final = frozenset({"", "memory"})
SCHEMAS: Final = frozenset({"", "main"})

ONE_SELECT: Final = "give one SELECT, WITH, FROM, DESCRIBE or SUMMARIZE statement; records are only read"
LONGEST_MESSAGE: Final = 6
"""Lines of DuckDB's error message that are reported."""


def relations_in(text: str, connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The relations that a query reads, wherever it names them.

    Args:
        text: SQL.
        connection: parses it; nothing is run.

    Raises:
        UsageError: it is not a single statement that reads, names an unknown relation, or reads anything else.
    """
    _check_statement(text, connection)
    tables: set[str] = set()
    own: set[str] = set()
    for node in _nodes(_tree(text, connection)):
        own.update(entry["key"].lower() for entry in node.get("cte_map", {}).get("map", ()))
        tables |= _tables(node)
    relations = {name.lower() for name in tables}
    for name in sorted(tables):
        if name.lower() not in {*own, *public(), *ALIASES}:
            raise UsageError(_no_relation(name))
    return frozenset(relations & models().keys())


def expression(text: str) -> duckdb.Expression:
    """A condition, such as `r0 > 400 and delta < 0`.

    Raises:
        UsageError: it is not a single expression.
    """
    with refusing():
        return duckdb.SQLExpression(_writable(text))


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Report what DuckDB cannot parse or bind as a wrong argument, in a few lines."""
    try:
        yield
    except (
        duckdb.ParserException,
        duckdb.BinderException,
        duckdb.CatalogException,
        duckdb.ConversionException,
        duckdb.InvalidInputException,
        duckdb.NotImplementedException,
        duckdb.PermissionException,
    ) as error:
        lines = [visible(line) for line in str(error).splitlines() if line.strip()]
        raise UsageError("\n  ".join(lines[:LONGEST_MESSAGE])) from None


def _check_statement(text: str, connection: duckdb.DuckDBPyConnection) -> None:
    with refusing():
        statements = connection.extract_statements(_writable(text))
    if len(statements) != 1:
        raise UsageError(f"{len(statements)} statements in the query; {ONE_SELECT}")
    if statements[0].type == duckdb.StatementType.MULTI:
        raise UsageError("PIVOT has to name its values here: pivot … on … in ('this', 'that') using count(*)")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError(f"the query is not a SELECT but {statements[0].type.name}; {ONE_SELECT}")


def _writable(text: str) -> str:
    """The text, checked to be valid Unicode, which command-line arguments need not be."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError("the query holds bytes that are not UTF-8") from None
    return text


def _tree(text: str, connection: duckdb.DuckDBPyConnection) -> Any:
    [(tree,)] = connection.execute("select json_serialize_sql(?)", [text]).fetchall()
    try:
        parsed = json.loads(tree)
    except RecursionError:
        raise UsageError("the query is nested too deeply") from None
    if parsed["error"]:
        raise UsageError(f"{visible(parsed['error_message'])}; {ONE_SELECT}")
    return parsed


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of the tree; without recursion, since queries can be deeply nested."""
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def _tables(node: dict[str, Any]) -> set[str]:
    """The table that a node of a query names, if any."""
    kind = node.get("type")
    if not isinstance(kind, str):
        return set()
    if kind.endswith("_NODE") and kind not in READING:
        raise UsageError(f"the query holds {kind.split('_')[0]}; {ONE_SELECT}")
    if kind == "TABLE_FUNCTION":
        _check_function(node["function"]["function_name"])
    if kind == "SHOW_REF" and node["query"] is None:
        raise UsageError('write "describe RELATION"; audit sql DIR without a query lists the relations')
    if kind != "BASE_TABLE":
        return set()
    if node["schema_name"].lower() not in SCHEMAS or node["catalog_name"].lower() not in CATALOGS:
        raise UsageError(_no_relation(f"{node['catalog_name']}.{node['schema_name']}.{node['table_name']}".strip(".")))
    return {node["table_name"]}


def _check_function(name: str) -> None:
    if name.lower() not in TABLE_FUNCTIONS:
        allowed = ", ".join(sorted(TABLE_FUNCTIONS))
        raise UsageError(
            f"{visible(name)}(…) after FROM may read more than the relations; functions there are {allowed}"
        )


def _no_relation(name: str) -> str:
    near = difflib.get_close_matches(name.lower(), public(), n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"no relation {visible(name)!r}{hint}\n  relations are {', '.join(public())}"
