"""`audit critic` as a command: price, resuming, folders that hold something else, and cards that were tampered with."""

from __future__ import annotations

import json
import shutil

import pytest

import audit
from audit.cards.card import read_card, written
from tests.audit.cards.conftest import UNITS
from tests.audit.cards.scripted import Scripted, copies, zeroes
from tests.audit.interventions.planned import audit as command
from tests.audit.interventions.planned import last_line, plan, recorded


@pytest.fixture
def copied(examined, tmp_path):
    """A copy of an examination, to be damaged."""
    return shutil.copytree(examined, tmp_path / "copied")


def refused(folder) -> str:
    return last_line(command("critic", "verify", folder))


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


def test_a_card_is_made_again_byte_for_byte_without_what_was_kept(examined):
    result = command("critic", "verify", examined, "--no-cache")
    assert result.exit_code == 0
    assert "the same byte for byte" in result.stdout


def test_an_answer_that_was_changed_is_named_by_its_line(copied):
    file = copied / "plan.answers.jsonl"
    lines = file.read_text().splitlines()
    lines[16] = lines[16].replace("params[0]", "params[1]", 1)
    file.write_text("\n".join(lines) + "\n")
    assert f"{file}:17 is not the line that the card was made from" in refused(copied)
    file.write_text("\n".join(lines[:-1]) + "\n")
    lines[16] = file.read_text().splitlines()[16]
    assert "is not the line that the card was made from" in refused(copied)


def test_a_number_that_was_changed_is_named_by_its_line(copied):
    card = copied / "card.json"
    lines = card.read_text().splitlines()
    place = next(place for place, line in enumerate(lines) if '"name": "made worse"' in line)
    place = next(at for at in range(place, len(lines)) if '"value":' in lines[at])
    before = lines[place].strip(" ,")
    lines[place] = '   "value": 0.01,'
    card.write_text("\n".join(lines) + "\n")
    line = refused(copied)
    assert f"{card}:{place + 1}" in line
    assert line.endswith(f"but its answers give {before}")


def test_answers_changed_together_with_their_card_are_found_where_text_and_parameters_differ(copied):
    """Whoever makes the card anew from changed parameters has not changed the text that states them."""
    file = copied / "plan.answers.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    place = next(place for place, line in enumerate(lines) if line["params"])
    lines[place]["params"][0] += 1.0
    file.write_text("".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines))
    from audit.cards.examining import examined_in

    (copied / "card.json").write_bytes(written(examined_in(copied).card))
    assert f":{place + 1} has other parameters than its text" in refused(copied)
    lines[place]["params"][0] -= 1.0
    lines[2]["seed"] += 1
    file.write_text("".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines))
    (copied / "card.json").write_bytes(written(examined_in(copied).card))
    assert ":3 was asked with another seed" in refused(copied)


def test_a_page_that_was_changed_is_refused(copied):
    page = copied / "index.html"
    page.write_text(page.read_text().replace("It harms", "It helps"))
    assert f"{page} is not the page of this card" in refused(copied)


def test_a_card_of_another_suite_or_without_its_answers_is_refused_in_one_line(copied):
    card = read_card(copied)
    (copied / "plan.answers.jsonl").unlink()
    assert "cannot read" in refused(copied)
    (copied / "card.json").unlink()
    assert "make it with: audit critic" in refused(copied)
    assert card.suite_sha256


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
    (tmp_path / "other" / "card.json").write_text("{}")
    assert "is not a card" in refused(tmp_path / "other")


def test_what_makes_no_sense_is_reported_in_one_line(tmp_path):
    assert "--backend is missing" in last_line(command("critic"), 2)
    assert "temperature" in last_line(
        command("critic", "--backend", "openai", "--model", "m", "--temperature", 0, "--out", tmp_path / "x"), 2
    )
    assert last_line(command("critic", "verify", tmp_path / "nowhere"))


def test_numbers_are_rows_in_every_format(examined):
    result = command("critic", "--backend", "simulated", "--units", UNITS, "--out", examined, "--format", "json")
    rows = json.loads(result.stdout)
    assert {"readable", "gain", "made worse", "near-optimal breaks", "names the worst"} <= {row["name"] for row in rows}
    assert {row["who"] for row in rows} == {"model", "random edit", "doing nothing"}
