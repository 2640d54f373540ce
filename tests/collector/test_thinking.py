"""Thinking that a model left in its answer, taken apart by one rule wherever answers are read."""

from __future__ import annotations

import time

import pytest

from collector.records import read_message, split_thinking

FINAL = "<|start|>assistant<|channel|>final<|message|>"
CASES = {
    # No mark: nothing changes, white space included.
    " plain \n": (" plain \n", None),
    "I think > you": ("I think > you", None),
    # At the front: one block, several, in any case, without a close, nested.
    "<think>hm</think>\n\nanswer": ("answer", "hm"),
    "\n<THINK>hm</Think> answer": ("answer", "hm"),
    "<think></think>answer": ("answer", None),
    "<think>a</think>\n<think>b</think>\nanswer": ("answer", "a\n\nb"),
    "<think>cut off": ("", "cut off"),
    "<think>a<think>b</think>c</think>answer": ("answer", "a<think>b</think>c"),
    "<thinking>a<think>b</think>c</thinking>answer": ("answer", "a<think>b</think>c"),
    "<think>a</thinking>answer": ("answer", "a"),
    # Thinking may name one mark of its own, or have half of a fence.
    "<think>a <think> mark</think>answer": ("answer", "a <think> mark"),
    "<think>a </think> mark</think>answer": ("answer", "a\n\nmark"),
    "<think>a ```\nb</think>answer ```\nc\n```": ("answer ```\nc\n```", "a ```\nb"),
    # The template had the opening mark already.
    "hm\n</think>\nanswer": ("answer", "hm"),
    "Write <think>.\nhm\n</think>\nanswer": ("answer", "Write <think>.\nhm"),
    "Hm. </think> answer": ("answer", "Hm."),
    "</think>answer": ("answer", None),
    "a<think>b</think>c</think>answer": ("answer", "a<think>b</think>c"),
    # Behind the front: where a mark begins a line, or follows without a blank.
    "<think>a</think>x.<think>b</think>Y": ("x. Y", "a\n\nb"),
    "first\n<think>\nb\n</think>\nthen": ("first\n \nthen", "b"),
    "first\n<think>cut off": ("first", "cut off"),
    'Units.\n<think type="x">worst</think>\nRest': ("Units.\n \nRest", "worst"),
    '<THINK a="b">hm</think >answer': ("answer", "hm"),
    # Quoted: amid prose, in quotation marks, in code, in a patch.
    "It may say <think> first.": ("It may say <think> first.", None),
    "Put it between <think> and </think>.": ("Put it between <think> and </think>.", None),
    "Put it in <think></think> tags.": ("Put it in <think></think> tags.", None),
    "Close it with </think> before the answer.": ("Close it with </think> before the answer.", None),
    'It has "</think>" and “<think>” in it.': ('It has "</think>" and “<think>” in it.', None),
    'Say "<think>\nreasons\n</think>" first.': ('Say "<think>\nreasons\n</think>" first.', None),
    "So:\n\n    <think>\n    b\n    </think>\n\nThen.": ("So:\n\n    <think>\n    b\n    </think>\n\nThen.", None),
    "Add `<think>` and `</think>`.": ("Add `<think>` and `</think>`.", None),
    "~~~\n<think>\n~~~\nThe worst.": ("~~~\n<think>\n~~~\nThe worst.", None),
    "Better:\n```\n<think>\nreasons\n</think>\n```": ("Better:\n```\n<think>\nreasons\n</think>\n```", None),
    "<think>hm</think>Better:\n```\nReason </think> then.\n```": ("Better:\n```\nReason </think> then.\n```", "hm"),
    "<<<<<<< SEARCH\na\n=======\n<think>\nb\n</think>\n>>>>>>> REPLACE": (
        "<<<<<<< SEARCH\na\n=======\n<think>\nb\n</think>\n>>>>>>> REPLACE",
        None,
    ),
    "I say <|channel|>final<|message|> first.": ("I say <|channel|>final<|message|> first.", None),
    f"The log has `a<|end|>{FINAL}` in it.": (f"The log has `a<|end|>{FINAL}` in it.", None),
    # Other models' marks.
    "[THINK]hm[/THINK]answer": ("answer", "hm"),
    "<seed:think>hm</seed:think>answer": ("answer", "hm"),
    "◁think▷hm◁/think▷answer": ("answer", "hm"),
    "<|channel>thought\nhm\n<channel|>answer<turn|>": ("answer", "hm"),
    "<|channel>thought\n<channel|>answer": ("answer", None),
    "<|channel>thought\nhm": ("", "hm"),
    "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>answer<|END_RESPONSE|>": ("answer", "hm"),
    "<think>\nhm\n</think>\n<answer>\nanswer\n</answer>": ("answer", "hm"),
    "hm\n</thought>\nanswer": ("answer", "hm"),
    # A token in front, and details of Open WebUI; other details are the answer's.
    "<s><think>hm</think>answer": ("answer", "hm"),
    "<think>hm</think>answer</think>": ("answer", "hm"),
    "<think>hm</think><|channel|>final<|message|>answer": ("answer", "hm"),
    "hm.assistantfinalanswer": ("answer", "hm."),
    "commentaryhm.assistantfinalanswer": ("answer", "hm."),
    "Say assistantfinal or `assistantfinal`.": ("Say assistantfinal or `assistantfinal`.", None),
    "<|channel|>analysishm<|end|><|start|>assistant<|channel|>finalanswer": ("answer", "hm"),
    "<|channel|>analysis<|message|>hm<|end|>assistantfinalanswer": ("answer", "hm"),
    "<|begin_of_text|>\n<think>hm</think>\nanswer": ("answer", "hm"),
    "<bos><|channel>thought\nhm\n<channel|>answer": ("answer", "hm"),
    "<｜begin▁of▁sentence｜><think>a<think>b</think>c</think>answer": ("answer", "a<think>b</think>c"),
    f"<s><|channel|>analysis<|message|>hm<|end|>{FINAL}answer": ("answer", "hm"),
    "<s>old</s> It has `<think>`.": ("<s>old</s> It has `<think>`.", None),
    '<details type="reasoning" duration="5">\n<summary>Thought for 5 s</summary>\n&gt; hm\n</details>\nanswer': (
        "answer",
        "&gt; hm",
    ),
    "<s><details id='' type='reasoning'>a</details>\n<details type='reasoning'>b</details><think>c</think>answer": (
        "answer",
        "a\n\nb\n\nc",
    ),
    '<details type="reasoning" done="false">\nhm': ("", "hm"),
    '<details type="reasoning">hm</details>x <details>y</details>': ("x <details>y</details>", "hm"),
    "<details open><summary>Why</summary>it</details>answer": (
        "<details open><summary>Why</summary>it</details>answer",
        None,
    ),
    'answer <details type="reasoning">why</details>': ('answer <details type="reasoning">why</details>', None),
    "<reasoning>hm</reasoning>answer": ("answer", "hm"),
    "answer\n<reasoning>\nwhy\n</reasoning>": ("answer\n<reasoning>\nwhy\n</reasoning>", None),
    # Harmony: in full, with a call, cut off, and with tokens left out.
    f"<|channel|>analysis<|message|>hm<|end|>{FINAL}answer<|return|>": ("answer", "hm"),
    f"<|channel|>analysis<|message|>hm<|end|>\n{FINAL}It is <|end|> here.<|end|>": ("It is <|end|> here.", "hm"),
    f"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>{FINAL}answer": (
        "answer",
        "a\n\nb",
    ),
    "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>": ("", "{}"),
    f"<|channel|>commentary to=f<|message|>a<|call|><|start|>f to=assistant<|message|>b<|end|>{FINAL}answer": (
        "answer",
        "a",
    ),
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|cha": ("", "hm"),
    "<|channel|>final<|message|>answer<|return|>more": ("answer", None),
    f"hm<|end|>{FINAL}answer": ("answer", "hm"),
    f"analysis<|message|>hm<|end|>{FINAL}answer": ("answer", "hm"),
    "<|channel|>analysis<|message|>hm.assistant<|channel|>final <|constrain|>json<|message|>{}": ("{}", "hm."),
    "analysisWe see.assistantfinalanswer": ("answer", "We see."),
    "analysisWe see": ("", "We see"),
    "assistantfinalanswer": ("answer", None),
    "analysis of the rollouts": ("analysis of the rollouts", None),
}


def test_the_rule():
    found = {text: split_thinking(text) for text in CASES}
    assert {text: each for text, each in found.items() if each != CASES[text]} == {}
    again = {answer: split_thinking(answer) for answer, _ in found.values()}
    assert {answer: each for answer, each in again.items() if each != (answer, None)} == {}


GIVEN = {
    "It writes </think> here.": ("It writes </think> here.", "a"),
    "x\n<think>\nb\n</think>\ny": ("x\n<think>\nb\n</think>\ny", "a"),
    "answer\n<think>a</think>": ("answer", "a"),
    "<think>a</think>answer": ("answer", "a"),
    "a</think>answer": ("answer", "a"),
    "</think>\nanswer": ("answer", "a"),
    "<think>b</think>answer": ("answer", "a\n\nb"),
    '<s><details type="reasoning">a</details>answer': ("answer", "a"),
    f"<|channel|>analysis<|message|>a<|end|>{FINAL}answer": ("answer", "a"),
}


def test_thinking_that_is_given_apart_is_not_doubled():
    found = {text: split_thinking(text, "a") for text in GIVEN}
    assert {text: each for text, each in found.items() if each != GIVEN[text]} == {}
    assert split_thinking("answer", "") == ("answer", None)


def test_marks_in_a_proposed_text_are_a_part_of_it():
    text = "Answer so:\n<think>\nreasons\n</think>\n<answer>…</answer>"
    assert split_thinking(f"{text}\n", proposed=[text]) == (f"{text}\n", None)
    assert split_thinking(f"<think>hm</think>Better:\n{text}", proposed=[text]) == (f"Better:\n{text}", "hm")


def test_hostile_texts_take_linear_time():
    began = time.process_time()
    parts = [
        "<think>",
        "</think>",
        "x<think>",
        "<think><think></think>",
        "`<think>``",
        "\n<think>x</think>",
        " <think>",
    ]
    parts += [
        "<think></thinking>",
        "<|channel|>final<|message|>x",
        "<|start|>",
        "assistantfinal",
        "<|end|>",
        "`a`\n" + FINAL,
        "<s> ",
        '<details type="reasoning" ',
        '<details type="reasoning">',
        '<details type="reasoning">x</details>',
    ]
    for part in parts:
        split_thinking(part * 20_000)
    assert time.process_time() - began < 20  # quadratic time would be minutes


PARTS = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "answer"}]
MESSAGES = [
    ({"content": "answer", "reasoning_content": "hm"}, "answer", "hm"),
    (
        {"content": "answer", "reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        "answer",
        "hm",
    ),
    ({"content": "answer", "reasoning": {"content": "hm"}}, "answer", "hm"),
    ({"content": "answer", "reasoning_content": " ", "thinking": "hm"}, "answer", "hm"),
    (
        {"content": "answer", "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "x"}]},
        "answer",
        "hm",
    ),
    ({"content": PARTS}, "answer", "hm"),
    ({"content": PARTS, "reasoning": "hm"}, "answer", "hm"),
    ({"content": ["ans", {"type": "output_text", "text": "wer"}]}, "answer", None),
    ({"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]}, None, "hm"),
    (
        {"content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": {"value": "answer"}}]},
        "answer",
        "hm",
    ),
    ({"content": [{"text": "hm", "thought": True}, {"text": "answer"}]}, "answer", "hm"),
    ({"content": [{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "answer"}]}, "answer", "hm"),
    ({"content": {"parts": ["answer"]}}, "answer", None),
    ({"content": [{"type": "image_url"}, 5]}, None, None),
    ({"content": None}, None, None),
]


def test_messages_in_every_shape():
    for message, text, thinking in MESSAGES:
        assert read_message(message)[:2] == (text, thinking), message
    with pytest.raises(ValueError, match="content"):
        read_message({"content": 5})
