"""The command `audit`, called in this process."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from audit.cli import app


def call(*arguments):
    """The result of `audit` with some arguments."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def json_rows(*arguments):
    """The rows that it prints as JSON."""
    result = call(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)
