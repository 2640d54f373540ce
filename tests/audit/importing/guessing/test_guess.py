"""What a guess believes is what the log means, or it asks."""

from __future__ import annotations

import pytest

from tests.audit.importing.foreign import audit, records
from tests.audit.importing.guessing.layouts import ANSWERS, LAYOUTS, losses, seen


def guess(tmp_path, layout, *options):
    """Guess the mapping of a layout and import with it: the guess's result, what the records say, what is meant."""
    name, content, wanted = layout()
    log = tmp_path / name
    log.write_bytes(content)
    result = audit("import", "--guess", log, "--format", "json", *options)
    mapping = tmp_path / f"{name}.toml"
    if not mapping.exists():
        return result, None, wanted
    made = audit("import", "--map", mapping, log, "--out", tmp_path / "out", "--strict")
    assert made.exit_code == 0, made.stderr + mapping.read_text()
    return result, seen(records(tmp_path / "out")), wanted


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_a_layout_that_leaves_no_doubt_is_guessed_without_a_question(layout, tmp_path):
    result, imported, wanted = guess(tmp_path, layout)
    assert result.exit_code == 0, result.stderr
    assert imported == wanted


@pytest.mark.parametrize("layout", [*ANSWERS, losses], ids=lambda layout: layout.__name__)
def test_what_a_log_does_not_show_is_asked_and_nothing_is_written(layout, tmp_path):
    result, imported, _ = guess(tmp_path, layout)
    assert (result.exit_code, imported) == (2, None)
    assert "audit: unsure: " in result.stderr
    assert result.stderr.splitlines()[-1] == "audit: not sure of everything: no mapping is written"


@pytest.mark.parametrize("layout", ANSWERS, ids=lambda layout: layout.__name__)
def test_an_answer_makes_it_right(layout, tmp_path):
    options = [part for answer in ANSWERS[layout] for part in ("--field", answer)]
    result, imported, wanted = guess(tmp_path, layout, *options)
    assert result.exit_code == 0, result.stderr
    assert imported == wanted
