"""Five revisions: processor time of opening them, with one relation, and of a whole command on an empty cache.

A store is compared with a bare DuckDB connection, a command with a process that imports all modules that it has used.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from audit.store import open_store
from benchmarks.audit_scale import cache_in
from benchmarks.synthetic import write_records

ROUNDS = 11
COMMAND = "import sys; sys.argv = ['audit', 'salience', sys.argv[1]]; from audit.cli import main; main()"
IMPORTS = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
USED = f"""
import atexit, sys
atexit.register(lambda: print(*(n for n, m in sys.modules.items() if getattr(m, "__spec__", None)), file=sys.stderr))
{COMMAND}
"""


def results() -> list[dict[str, Any]]:
    """The rows, printed one by one: median processor time of each, and of what it is compared with."""
    print("| what | processor time (s) | compared with | (s) | ratio |\n|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as name, cache_in(Path(name) / "cache"):
        records = write_records(Path(name) / "records", revisions=5)
        used = _python(USED, str(records)).stderr.splitlines()[-1].split()
        command, imports = partial(_python, COMMAND, str(records)), partial(_python, IMPORTS, *used)
        for what, ours, against, other in (
            ("opening", partial(_open, records), "`duckdb.connect()`", _connect),
            ("opening, and `revisions`", partial(_open, records, "revisions"), "`duckdb.connect()`", _connect),
            ("`audit salience`", command, "importing what it imports", imports),
        ):
            pairs = [(_processor_time(ours), _processor_time(other)) for _ in range(ROUNDS)]
            mine, theirs = (statistics.median(each) for each in zip(*pairs, strict=True))
            print(f"| {what} | {mine:.3f} | {against} | {theirs:.3f} | {mine / theirs:.1f} |", flush=True)
            rows.append({"what": what, "ours": mine, "against": against, "alternative": theirs})
    return rows


def _open(records: Path, *relations: str) -> None:
    with open_store([records]) as store:
        for relation in relations:
            store.rows(relation)


def _connect() -> None:
    duckdb.connect().close()


def _python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)


def _processor_time(way: Callable[[], object]) -> float:
    before = _spent()
    way()
    return _spent() - before


def _spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    """Print the rows."""
    results()


if __name__ == "__main__":
    main()
