"""`audit critic` as a command: price, resuming, and folders that hold something else."""

from __future__ import annotations

import json
import shutil

import pytest

import audit
from audit.cards.card import written
from audit.cards.examining import examined_in
from tests.audit.cards.conftest import UNITS
from tests.audit.cards.scripted import Scripted, copies, zeroes
from tests.audit.interventions.planned import audit as command
from tests.audit.interventions.planned import last_line, plan, recorded


@pytest.fixture
def copied(examined, tmp_path):
    """A copy of an examination, to be damaged."""
    return shutil.copytree(examined, tmp_path / "copied")


def test_the_price_comes_first_and_a_dry_run_asks_and_writes_nothing(tmp_path):
    result = command("critic", "--backend", "simulated", "--dry-run", "--out", tmp_path / "new")
    assert result.exit_code == 0
    assert "72 prompts, 360 calls; about" in result.stderr
    assert not (tmp_path / "new").exists()
    full = command("critic", "--backend", "simulated", "--size", "full", "--dry-run", "--out", tmp_path / "new")
    assert "126 prompts, 7,308 calls" in full.stderr
    assert "a label or place that" in full.stderr


def test_it_resumes_and_pays_for_no_answer_twice(tmp_path):
    server = Scripted(zeroes)
    try:
        server.left = 20
        with pytest.raises(audit.AuditError, match="20 of 90 are answered, the same command goes on"):
            audit.critic(out=tmp_path / "out", units=UNITS, **server.options())
        assert not (tmp_path / "out" / "card.json").exists()
        server.left = 10**9
        audit.critic(out=tmp_path / "out", units=UNITS, **server.options())
        assert len(server.seeds) == len(set(server.seeds)) == 5 * UNITS
        again = (tmp_path / "out" / "card.json").read_bytes()
        audit.critic(out=tmp_path / "out", units=UNITS, **server.options())
        assert len(server.seeds) == 5 * UNITS
        assert (tmp_path / "out" / "card.json").read_bytes() == again
    finally:
        server.close()


def test_a_card_is_made_again_byte_for_byte_from_its_answers(copied):
    """With or without returns of earlier runs; whoever changed a number is found out."""
    found = (copied / "card.json").read_bytes()
    assert written(examined_in(copied, cache=False).card) == written(examined_in(copied).card) == found


def test_a_folder_holds_one_model_and_one_examination(tmp_path, zeroed, copied):
    server = Scripted(copies)
    try:
        given = server.options("other")
        for words, options in (
            ("holds answers of simulated-salient to quick, not of other", {**given, "out": copied}),
            ("holds answers of simulated-salient", {"backend": "simulated", "personality": "silent", "out": copied}),
            ("to full; name another", {"backend": "simulated", "size": "full", "out": copied}),
            ("holds answers to 18 prompts", {"backend": "simulated", "units": 4, "out": copied}),
        ):
            with pytest.raises(audit.AuditError, match=words):
                audit.critic(**options)
    finally:
        server.close()
    server = Scripted(zeroes)
    try:
        # Where the server is does not matter, how it samples does.
        same = shutil.copytree(zeroed, tmp_path / "zeroed")
        audit.critic(out=same, units=UNITS, **server.options())
        with pytest.raises(audit.AuditError, match="answers of scripted with other options"):
            audit.critic(out=same, units=UNITS, temperature=0.5, **server.options())
        with pytest.raises(audit.UsageError, match="quick has 72 prompts"):
            audit.critic(out=tmp_path / "more", units=100, **server.options())
        assert not server.seeds
    finally:
        server.close()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(audit.AuditError, match=r"holds notes\.txt, which is of no examination"):
        audit.critic(backend="simulated", out=tmp_path / "mine")
    (tmp_path / "file").write_text("")
    with pytest.raises(audit.AuditError, match="is a file"):
        audit.critic(backend="simulated", out=tmp_path / "file")


def test_an_experiment_is_no_examination(tmp_path):
    data = recorded(tmp_path / "runs")
    (tmp_path / "other").mkdir()
    plan(data, tmp_path / "other" / "plan.json")
    with pytest.raises(audit.AuditError, match="an experiment on other prompts"):
        audit.critic(backend="simulated", out=tmp_path / "other")


def test_what_makes_no_sense_is_reported_in_one_line(tmp_path):
    assert "--backend is missing" in last_line(command("critic"), 2)
    assert "temperature" in last_line(
        command("critic", "--backend", "openai", "--model", "m", "--temperature", 0, "--out", tmp_path / "x"), 2
    )
    assert "unexpected extra argument" in last_line(command("critic", "verify", tmp_path / "nowhere"), 2)


def test_numbers_are_rows_in_every_format(examined):
    result = command("critic", "--backend", "simulated", "--units", UNITS, "--out", examined, "--format", "json")
    rows = json.loads(result.stdout)
    assert {"readable", "gain", "made worse", "near-optimal breaks", "names the worst"} <= {row["name"] for row in rows}
    assert {row["who"] for row in rows} == {"model", "random edit", "doing nothing"}
