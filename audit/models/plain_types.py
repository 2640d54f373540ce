"""Results of any SQL as values that every format can write: numbers, texts, truth values, lists and objects of them."""

from __future__ import annotations

from typing import Any, Final

import duckdb

PLAIN: Final = frozenset(
    {
        *("boolean", "varchar", "null", "float", "double"),
        *("tinyint", "smallint", "integer", "bigint", "hugeint"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
    }
)


def plain(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The relation with decimal numbers as floating-point ones, and dates, intervals, maps and the like as text.

    Columns with the same name are numbered: `delta`, `delta_1`.
    """
    kinds = [_plain(kind) for kind in relation.types]
    is_plain = [str(kind) == str(before) for kind, before in zip(kinds, relation.types, strict=True)]
    if all(is_plain) and len(set(relation.columns)) == len(relation.columns):
        return relation
    named = relation.select("*")
    columns = [
        duckdb.ColumnExpression(name) if keep else duckdb.ColumnExpression(name).cast(kind).alias(name)
        for name, kind, keep in zip(named.columns, kinds, is_plain, strict=True)
    ]
    return named.select(*columns)


def _plain(kind: Any) -> Any:
    if kind.id in PLAIN:
        return kind
    if kind.id == "decimal":
        return duckdb.type("DOUBLE")
    if kind.id in {"list", "array"}:
        return duckdb.list_type(_plain(kind.children[0][1]))
    if kind.id == "struct":
        return duckdb.struct_type({name: _plain(child) for name, child in kind.children})
    return duckdb.type("VARCHAR")
