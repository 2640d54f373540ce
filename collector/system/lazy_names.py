"""The public names of a package, stated once: in its stub, `__init__.pyi`, which type checkers read as well.

`lazy-loader` does the same for names of modules within the package; a stub here may name modules of other packages too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(
    package: str, file: str, others: Mapping[str, str] = {}
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Import the names that a package's stub lists when they are first used.

    Args:
        package: the package's `__name__`.
        file: its `__file__`, beside which the stub is. It holds `from module import name as name`.
        others: names that the stub need not list, and the modules that define them.

    Returns:
        `__getattr__`, `__dir__` and `__all__` of the package.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = dict(others) | {
        each.name: str(statement.module)
        for statement in stub.body
        if isinstance(statement, ast.ImportFrom)
        for each in statement.names
    }
    names = sorted(homes)

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute, lambda: names, names
