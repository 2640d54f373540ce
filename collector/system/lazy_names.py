"""The public names of a package, stated once: in its stub, `__init__.pyi`, which type checkers read as well.

`lazy-loader` does the same for names of modules within the package; a stub here may name modules of other packages too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any


def attach(
    package: str, file: str, others: Mapping[str, str] = {}
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Import the names that a package's stub lists when they are first used; the stub is read then, too.

    Args:
        package: the package's `__name__`.
        file: its `__file__`, beside which the stub is. It holds `from module import name as name`.
        others: names that the stub need not list, and the modules that define them.

    Returns:
        `__getattr__` and `__dir__` of the package; the first knows `__all__` as well.
    """

    @cache
    def homes() -> dict[str, str]:
        import ast
        from pathlib import Path

        stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
        return dict(others) | {
            each.name: str(statement.module)
            for statement in stub.body
            if isinstance(statement, ast.ImportFrom) and statement.module != "typing"
            for each in statement.names
        }

    def names() -> list[str]:
        return sorted(homes())

    def attribute(name: str) -> Any:
        if name == "__all__":
            return names()
        if name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        value = getattr(import_module(homes()[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute, names
