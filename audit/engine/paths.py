"""Paths as DuckDB reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def exactly(path: Path) -> str:
    """A pattern that matches one file alone: DuckDB takes `run[1]` for a folder `run1`, and `*` for every one."""
    return re.sub(r"[\[*?]", r"[\g<0>]", str(path))


def plainly(path: Path) -> Path:
    """The path, made absolute where DuckDB would take its beginning for a home folder (`~`) or an address (`file:`)."""
    return path.absolute() if re.match(r"~|[\w+.-]+:", str(path)) else path


def bound(value: Any) -> Any:
    """A value of a variable, as it is bound: each path in it names exactly that file."""
    if isinstance(value, list):
        return [bound(each) for each in value]
    return exactly(value) if isinstance(value, Path) else value
