"""Cards of Inspect's logs, without Inspect: logs are made by hand here."""

from __future__ import annotations

import json

import msgspec
import pytest

from audit.cards import evals, examining
from audit.cards.asking import asking_of
from audit.cards.card import read_card
from audit.cards.evals import critic_from
from audit.cards.examining import critic
from audit.cards.suite import packaged, read_suite, written
from audit.interventions.answers import read_answers
from audit.interventions.plan import read_plan
from audit.interventions.presets import Preset
from audit.output.errors import AuditError
from tests.audit.cards.inspect_logs import MODEL, header_of, samples_of, write_log

DIFFERENT = {"backend", "model", "options", "simulated", "plan_sha256", "answers"}


@pytest.fixture(scope="module")
def suite():
    """A suite of six units."""
    whole = packaged()
    return read_suite(written(whole.name, whole.seed, list(whole.spans.values()), whole.units[:6]))


@pytest.fixture(autouse=True)
def small(suite, monkeypatch):
    """What is asked is that suite, with 18 calls."""
    for module in (examining, evals):
        monkeypatch.setattr(module, "packaged", lambda: suite)
    monkeypatch.setitem(examining.SIZES, "quick", Preset(6, {"A0": 2, "E0": 1}, spliced=True))


@pytest.fixture(scope="module")
def asked(suite, tmp_path_factory):
    """The folder of an examination of the simulated critic."""
    folder = tmp_path_factory.mktemp("asked") / "simulated"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examining, "packaged", lambda: suite)
        patch.setitem(examining.SIZES, "quick", Preset(6, {"A0": 2, "E0": 1}, spliced=True))
        critic(backend="simulated", out=folder)
    return folder


@pytest.fixture(scope="module")
def answers(asked):
    """Its answers, one of them with thinking and tokens."""
    path = asked / "plan.json"
    first, *others = read_answers(read_plan(path), path)[0].values()
    told = {"thinking": "Let me see.", "prompt_tokens": 50, "completion_tokens": 9}
    return [msgspec.structs.replace(first, **told), *others]


@pytest.fixture
def samples(suite, answers):
    return list(samples_of(suite, answers))


def card_of(folder):
    card = msgspec.to_builtins(read_card(folder))
    card["cost"] = {name: value for name, value in card["cost"].items() if name != "median_seconds"}
    return {name: value for name, value in card.items() if name not in DIFFERENT}


@pytest.mark.parametrize(("name", "compression"), [("a.eval", "zstd"), ("a.eval", "deflate"), ("a.json", "none")])
def test_the_card_of_a_log_is_that_of_the_same_answers(suite, asked, samples, tmp_path, name, compression):
    log = write_log(tmp_path / name, header_of(suite), reversed(samples), compression=compression)
    out = tmp_path / "card"
    critic_from(log, out=out)
    assert card_of(out) == card_of(asked)
    card = read_card(out)
    assert (card.model, card.backend, card.cost.median_seconds, card.simulated) == (MODEL, "inspect", 1.25, False)
    assert card.options == {"inspect_ai": "0.3.285", "max_tokens": 4096, "temperature": 0.7}
    assert (out / "index.html").exists()


def test_answers_keep_what_the_log_says_of_them(suite, answers, samples, tmp_path):
    log = write_log(tmp_path / "a.eval", header_of(suite), samples)
    critic_from(log, out=tmp_path / "card")
    path = tmp_path / "card" / "plan.json"
    plan = read_plan(path)
    found = {each.seed: each for each in read_answers(plan, path)[0].values()}
    for each in answers:
        made = found[each.seed]
        same = ("completion", "thinking", "params", "prompt_sha256", "prompt_tokens", "completion_tokens", "shown")
        assert [getattr(made, name) for name in same] == [getattr(each, name) for name in same]
        assert (made.backend, made.seconds) == ("inspect", 1.25)
        assert made.started_at == "2026-11-26T02:13:27+00:00"
    assert [each.order for each in found.values()] == list(range(18))


def test_the_folder_is_named_by_model_and_size(suite, samples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    critic_from(write_log(tmp_path / "a.eval", header_of(suite), samples))
    assert (tmp_path / "critics" / "mockllm-model-quick" / "card.json").exists()


def test_what_was_kept_is_compared_and_never_mixed(suite, samples, tmp_path):
    out = tmp_path / "card"
    log = write_log(tmp_path / "a.eval", header_of(suite), samples)
    critic_from(log, out=out)
    file = out / "plan.answers.jsonl"
    before = file.read_bytes()
    file.write_bytes(b"".join(before.splitlines(keepends=True)[:7]))  # as where that was interrupted
    critic_from(log, out=out)
    assert file.read_bytes() == before
    changed = json.loads(json.dumps(samples))
    changed[3]["output"]["choices"][0]["message"]["content"] = "Something else."
    others = [
        (header_of(suite), changed, "holds other answers of mockllm/model than this log; name another --out"),
        (header_of(suite, model="other"), samples, "holds answers of mockllm/model to quick, not of other to quick"),
        (
            header_of(suite, packages={}),
            samples,
            "holds answers of mockllm/model with other options; name another --out",
        ),
    ]
    for header, given, message in others:
        with pytest.raises(AuditError, match=message):
            critic_from(write_log(tmp_path / "b.eval", header, given), out=out)
    assert file.read_bytes() == before


def test_answers_of_the_same_program_are_no_answers_of_a_log(suite, asked, samples, tmp_path):
    with pytest.raises(AuditError, match="holds answers of simulated-salient to quick, not of mockllm/model to quick"):
        critic_from(write_log(tmp_path / "a.eval", header_of(suite), samples), out=asked)


def test_a_part_of_the_suite_is_an_examination_too(suite, tmp_path):
    asked = tmp_path / "asked"
    critic(backend="simulated", units=2, out=asked)
    path = asked / "plan.json"
    answers = read_answers(read_plan(path), path)[0].values()
    header = header_of(suite, metadata={"suite": suite.sha256, "size": "quick", "units": 2})
    out = tmp_path / "card"
    critic_from(write_log(tmp_path / "a.eval", header, samples_of(suite, answers, units=2)), out=out)
    assert card_of(out) == card_of(asked)


def without(samples, *places):
    return [each for place, each in enumerate(samples) if place not in places]


def with_error(samples):
    return [*samples[:4], {**samples[4], "error": {"message": "down"}, "output": {}}, *samples[5:]]


def other_prompt(samples):
    return [{**samples[0], "input": "Hello!"}, *samples[1:]]


def system_message(samples):
    first = samples[0]
    return [{**first, "messages": [{"role": "system", "content": "Be brief."}, *first["messages"]]}, *samples[1:]]


AGAIN = "run it again with inspect eval-retry"
PARTS = [
    (lambda each: without(each, 2, 9), {}, f"2 of 18 calls have no answer in .*; {AGAIN}"),
    (with_error, {}, f"1 of 18 calls have no answer in .*; {AGAIN}"),
    (
        lambda each: each[:5],
        {"config": {"limit": 5}},
        "13 of 18 calls .*; run the task without --limit and --sample-id",
    ),
    (list, {"config": {"epochs": 3}}, "asked every prompt in 3 epochs; run the task with one"),
    (lambda each: [*each, {**each[0], "epoch": 2}], {}, "is there more than once"),
    (
        lambda each: [{**each[0], "id": "9/A0/7"}, *each[1:]],
        {},
        "sample 9/A0/7 does not belong to the suite's quick size",
    ),
    (other_prompt, {}, "was asked something else than the suite's prompt"),
    (system_message, {}, "was asked something else than the suite's prompt"),
    (list, {"model_generate_config": {"system_message": "Be brief."}}, "was asked with a system message"),
    (list, {"model_generate_config": {"temperature": 0}, "plan": {}}, "at temperature 0"),
    (list, {"task": "colours"}, "is a log of colours, and not of audit/critic"),
    (list, {"metadata": {}}, "is a log of audit/critic, and not of audit/critic"),
    (list, {"metadata": {"suite": "0" * 64, "size": "quick"}}, r"asked another suite \(000000000000…\)"),
    (
        lambda each: [{**each[0], "model_fallbacks": [{"model": "a", "fallback_model": "b"}]}, *each[1:]],
        {},
        "was answered by another model than mockllm/model",
    ),
]


@pytest.mark.parametrize(("part", "changes", "message"), PARTS)
def test_what_is_no_whole_examination_is_refused_in_one_line(suite, samples, tmp_path, part, changes, message):
    header = header_of(suite, **{name: value for name, value in changes.items() if name != "plan"})
    log = write_log(tmp_path / "a.eval", header | ({"plan": {}} if "plan" in changes else {}), part(samples))
    with pytest.raises(AuditError, match=message) as error:
        critic_from(log, out=tmp_path / "card")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "card").exists()


def test_a_log_that_was_not_finished_has_some_answers(suite, samples, tmp_path):
    log = write_log(tmp_path / "a.eval", header_of(suite), samples[:8], begun=True)
    with pytest.raises(AuditError, match=f"10 of 18 calls have no answer in .*; {AGAIN}"):
        critic_from(log)


def test_one_answer_to_all_is_a_cache(suite, answers, tmp_path, monkeypatch):
    monkeypatch.setitem(examining.SIZES, "quick", Preset(6, {"A0": 3}, spliced=True))
    plan = asking_of(suite, "quick").plan
    [answer, *_] = (each for each in answers if each.params)
    same = [msgspec.structs.replace(answer, seed=plan.call_seed(call)) for call in plan.calls()]
    log = write_log(tmp_path / "a.eval", header_of(suite), samples_of(suite, same))
    with pytest.raises(AuditError, match="12 of 12 pairs of answers to one prompt are the same, word for word"):
        critic_from(log, out=tmp_path / "card")
    assert not (tmp_path / "card").exists()


FILES = {
    "cut.eval": lambda whole: whole[: len(whole) // 2],
    "damaged.eval": lambda whole: whole.replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"),
    "text.eval": lambda whole: b"no log",
    "list.json": lambda whole: b"[]",
    "other.json": lambda whole: b'{"samples": []}',
    "empty.eval": lambda whole: b"",
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_log_is_refused_in_one_line(suite, samples, tmp_path, name):
    whole = write_log(tmp_path / "whole.eval", header_of(suite), samples).read_bytes()
    (tmp_path / name).write_bytes(FILES[name](whole))
    with pytest.raises(AuditError, match=r"is not a log of Inspect|is only a part of a log, or damaged") as error:
        critic_from(tmp_path / name)
    assert str(error.value).startswith(str(tmp_path / name))
    assert "\n" not in str(error.value)


def test_attachments_are_texts(suite, asked, samples, tmp_path):
    def attached(sample):
        said = sample["output"]["choices"][0]["message"]
        if not isinstance(said["content"], str):
            return sample
        output = {**sample["output"], "choices": [{"message": {**said, "content": "attachment://abc"}}]}
        asked_ = {"role": "user", "content": "attachment://def"}
        texts = {"abc": said["content"], "def": sample["input"]}
        return {**sample, "input": [asked_], "messages": [asked_, said], "output": output, "attachments": texts}

    log = write_log(tmp_path / "a.eval", header_of(suite), map(attached, samples))
    critic_from(log, out=tmp_path / "card")
    assert card_of(tmp_path / "card") == card_of(asked)
