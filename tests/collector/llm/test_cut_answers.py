"""Answers that end early, and prompts that Ollama does not read to their end."""

import asyncio

import pytest

from collector.llm.prompt_size import least_tokens
from tests.collector.helpers import answer, collect, lines, spec
from tests.collector.llm.loopback import OLLAMA, OPENAI, Reply

GOOD = [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]
LOOP = "params[0]: " + "and so on and " * 40


def ask(model, *prompts):
    async def calls():
        try:
            return [await model.complete(prompt, seed=3) for prompt in prompts]
        finally:
            await model.aclose()

    return asyncio.run(calls())


@pytest.mark.parametrize(
    ("text", "ended", "cut"),
    [
        ("params[0]: 1", "stop", None),
        ("params[0]: 1", None, None),
        ("params[0]: ", "length", "cut off after 7 tokens"),
        (LOOP, "length", "repeats itself: 'and so on and '"),
        (LOOP, "stop", "repeats itself: 'and so on and '"),
    ],
)
def test_why_an_answer_ends_early(server, dialect, text, ended, cut):
    server.replies[dialect.chat] = [dialect.answer(text, ended=ended)]
    (completion,) = ask(dialect.model(server), "What next?")
    assert (completion.text, completion.cut) == (text, cut)


def test_a_cut_without_a_count_of_tokens(server, dialect):
    body = dialect.answer("params[0]: ", ended="length").body
    for count in ("usage", "eval_count"):
        body.pop(count, None)
    server.replies[dialect.chat] = [Reply(body=body)]
    (completion,) = ask(dialect.model(server), "What next?")
    assert completion.cut == "cut off at the limit of tokens"


def test_an_unreadable_answer_that_was_cut_gives_that_reason(server, dialect, tmp_path):
    server.replies[dialect.chat] = [dialect.answer("Let me see:", ended="length"), dialect.answer(answer(GOOD))]
    model = dialect.model(server)
    folder = collect(spec("frozenlake", "threetraj", model=model, iterations=1), tmp_path, model)
    first, second, _ = lines(folder / "calls.jsonl")
    assert (first["error"], first["cut"]) == ("cut off after 7 tokens", "cut off after 7 tokens")
    assert second["error"] is None
    assert "cut" not in second


def counted(*counts):
    """Answers of Ollama that report these numbers of tokens for their prompts."""
    replies = []
    for count in counts:
        body = OLLAMA.answer().body
        body.pop("prompt_eval_count")
        replies.append(Reply(body=body if count is None else body | {"prompt_eval_count": count}))
    return replies


LONG = "In state 12 the mean return was 0.125, which is worse. " * 100


def notices(server, counts, *, prompt=LONG, **options):
    server.replies[OLLAMA.chat] = counted(*counts)
    given = []
    completions = ask(OLLAMA.model(server, on_notice=given.append, **options), *[prompt] * len(counts))
    assert all(completion.text == "params[0]: 1" for completion in completions)
    return given


def test_a_prompt_of_which_few_tokens_were_read_is_noticed_once(server):
    (line,) = notices(server, [1024, 1024, 512])
    assert "Ollama at " + server.url in line
    assert "1,024 tokens" in line
    assert f"at least {least_tokens(LONG):,}" in line
    assert "--num-ctx" in line
    assert "\n" not in line
    assert notices(server, [1024]) == []  # nor by another client in this process


def test_a_prompt_that_fills_the_context_is_noticed(server):
    (line,) = notices(server, [8192], num_ctx=8192)
    assert "8,192 tokens" in line
    assert "--num-ctx 8192" in line


@pytest.mark.parametrize("count", [None, 0, least_tokens(LONG), 5000, -3])
def test_nothing_is_noticed_where_all_may_have_been_read(server, count):
    assert notices(server, [count], num_ctx=8192) == []


def test_no_one_needs_to_be_given_notice(server):
    server.replies[OLLAMA.chat] = counted(1)
    assert ask(OLLAMA.model(server), LONG)[0].text == "params[0]: 1"


def test_openai_compatible_servers_refuse_what_is_too_long_and_are_not_suspected(server):
    server.replies[OPENAI.chat] = [OPENAI.answer()]
    given = []
    ask(OPENAI.model(server, on_notice=given.append), LONG)
    assert given == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("   \n\n", 0),
        ("one word", 2),
        ("0.1234", 4),  # 0 . 123 4
        ("(word) [word]", 4),  # what opens a word may be merged with it
        ("----", 1),
        ("日本語", 1),
    ],
)
def test_the_least_number_of_tokens(text, tokens):
    assert least_tokens(text) == tokens
