"""Ctrl-C during a query that runs in the main thread, such as one that builds a relation."""

from __future__ import annotations

import pytest
import typer

from audit.commands.options import reported_errors


def test_ctrl_c_in_the_form_that_duckdb_gives_it_ends_in_one_line(capsys):
    with pytest.raises(typer.Exit) as stopped, reported_errors():
        raise RuntimeError("Query interrupted")
    assert stopped.value.exit_code == 130
    assert capsys.readouterr().err == "audit: interrupted\n"
    with pytest.raises(RuntimeError, match="another"), reported_errors():
        raise RuntimeError("another")
