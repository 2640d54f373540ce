"""Commands that were removed: one sentence says what to use now."""

from __future__ import annotations

from typer.main import get_command

from audit.cli import app
from audit.commands.former import FORMER
from tests.audit.calls import call


def test_a_former_name_ends_with_the_sentence_on_what_to_use_now():
    assert not FORMER.keys() & get_command(app).commands.keys()
    for name, sentence in FORMER.items():
        result = call(name, "data/runs")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == f"audit: the command {name} was removed: {sentence}\n"
