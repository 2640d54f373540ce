"""Ctrl-C during a query that runs in the main thread, such as one that builds a relation."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading
import duckdb
{imports}
endless = "select count(*) from range(10000000) a, range(10000000) b where hash(a.range, b.range) = 1"
with {reported}():
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    duckdb.sql(endless).fetchall()
"""


@pytest.mark.parametrize(
    ("imports", "reported"),
    [
        ("from audit.commands.options import reported_errors", "reported_errors"),
        ("from stats.cli import _reported", "_reported"),
    ],
    ids=["audit", "stats"],
)
def test_a_query_in_the_main_thread_ends_in_one_line(imports, reported):
    # Typer's `Exit` is a RuntimeError that a command turns into its status.
    program = PROGRAM.format(imports=imports, reported=reported)
    wrapped = f"import sys, typer\ntry:\n    exec({program!r})\nexcept typer.Exit as end:\n    sys.exit(end.exit_code)"
    ended = subprocess.run([sys.executable, "-c", wrapped], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 130
    assert ended.stderr.splitlines()[-1].endswith("interrupted")
    assert "Traceback" not in ended.stderr
