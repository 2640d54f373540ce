"""An experiment on a model behind a server: answers that cannot be read, failures, caches and cut prompts."""

from __future__ import annotations

import pytest

from audit.interventions.units import sha256
from tests.audit.interventions.critics import CriticServer, revised
from tests.audit.interventions.planned import (
    CALLS,
    NO_SHARES,
    TINY,
    answers_of,
    arms,
    audit,
    last_line,
    lines,
    plan,
    run,
)
from tests.audit.judging.judges import DIALECTS
from tests.collector.llm.loopback import Reply


@pytest.fixture
def server():
    critic = CriticServer()
    yield critic
    critic.close()


@pytest.mark.parametrize("backend", DIALECTS)
def test_a_servers_answers_readable_or_not_are_recorded_once(records, tmp_path, server, backend):
    unreadable = {1: "I refuse.", 3: "", 5: DIALECTS[backend].answer("params[0]: 1, par", ended="length")}
    server.respond = lambda prompt, seed, number: unreadable.get(number, revised(seed))
    path = tmp_path / "plan.json"
    plan(records, path, *TINY, *server.options(backend), backend=backend)
    result = run(path)
    assert result.exit_code == 0, result.stderr
    answers = lines(answers_of(path))
    assert len(answers) == CALLS
    errors = [each["error"] for each in answers if each["params"] is None]
    assert 2 <= len(errors) <= 3
    assert "cut off after 7 tokens" in errors
    before = len(server.prompts)
    assert before - CALLS <= 1  # an empty answer is asked for once more
    assert run(path).exit_code == 0
    assert len(server.prompts) == before
    assert {each["seed"] for each in answers} == set(server.seeds)
    assert all(each["prompt_tokens"] == 11 for each in answers if each["error"] != "cut")


@pytest.mark.slow
@pytest.mark.parametrize("backend", DIALECTS)
def test_a_server_that_fails_for_a_moment_is_asked_again(records, tmp_path, server, backend):
    failing = {0: Reply(500, b"broken"), 4: Reply(status=200, how="reset")}
    server.respond = lambda prompt, seed, number: failing.get(number, revised(seed))
    path = tmp_path / "plan.json"
    plan(records, path, *TINY, *server.options(backend), backend=backend)
    result = run(path)
    assert result.exit_code == 0, result.stderr
    assert len(lines(answers_of(path))) == CALLS
    assert len(server.prompts) == CALLS + 2
    assert "waiting" in result.stderr


def test_a_server_that_refuses_stops_the_run_in_last_line(records, tmp_path, server):
    server.respond = lambda prompt, seed, number: revised(seed) if number < 3 else Reply(401, b"no")
    path = tmp_path / "plan.json"
    plan(records, path, *TINY, *server.options(), backend="ollama")
    line = last_line(run(path))
    assert f"3 of {CALLS} are answered, the same command goes on from there" in line
    server.respond = lambda prompt, seed, number: revised(seed)
    assert run(path).exit_code == 0
    assert len(server.prompts) == CALLS + 1


MANY = ("--units", 2, *NO_SHARES, *arms("A0=8", "C=0"))


def test_a_cache_of_responses_is_refused(records, tmp_path, server):
    cache: dict[str, str] = {}
    server.respond = lambda prompt, seed, number: cache.setdefault(prompt, revised(seed))
    path = tmp_path / "plan.json"
    plan(records, path, *MANY, *server.options(), backend="ollama")
    for _ in range(2):
        assert "14 of 14 pairs of answers to one prompt are the same, word for word" in last_line(run(path))
    assert len(server.prompts) == 16


def test_a_critic_that_leaves_the_policy_alone_in_the_same_words_is_no_cache(records, tmp_path, server):
    path = tmp_path / "plan.json"
    units = plan(records, path, *MANY, *server.options(), backend="ollama").units
    line = {
        unit.prompt_sha256: ", ".join(f"params[{i}]: {value}" for i, value in enumerate(unit.params)) for unit in units
    }
    server.respond = lambda prompt, seed, number: f"{line[sha256(prompt)]}\nIt is fine."
    result = run(path)
    assert result.exit_code == 0, result.stderr


def test_prompts_that_a_server_cuts_are_refused(records, tmp_path, server):
    def cut(prompt, seed, number):
        reply = DIALECTS["ollama"].answer(revised(seed))
        return Reply(body=reply.body | {"prompt_eval_count": 512})

    server.respond = cut
    path = tmp_path / "plan.json"
    plan(records, path, *TINY, *server.options(), "--num-ctx", 512, backend="ollama")
    result = run(path)
    assert "it seems to cut prompts for tiny:1b" in result.stderr
    assert result.exit_code == 1
    assert "have the same, largest number of tokens, so that tiny:1b reads only a part of them" in result.stderr
    # Whoever goes on reads what is wrong.
    report = audit("intervene", "report", path)
    assert report.exit_code == 0, report.stderr
    assert "they were probably cut" in report.stdout


def test_refusals_in_the_same_words_are_no_cache(records, tmp_path, server):
    server.respond = lambda prompt, seed, number: "I cannot help with that."
    path = tmp_path / "plan.json"
    plan(records, path, *MANY, *server.options(), backend="ollama")
    result = run(path)
    assert result.exit_code == 0, result.stderr
    assert len(lines(answers_of(path))) == 16
