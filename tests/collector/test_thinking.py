"""Thinking that a model left in its answer, taken apart by one rule wherever answers are read."""

from __future__ import annotations

import time

from collector.records import split_thinking

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
    # Thinking may name one mark of its own, or have half of a fence.
    "<think>a <think> mark</think>answer": ("answer", "a <think> mark"),
    "<think>a </think> mark</think>answer": ("answer", "a\n\nmark"),
    "<think>a ```\nb</think>answer ```\nc\n```": ("answer ```\nc\n```", "a ```\nb"),
    # The template had the opening mark already.
    "hm\n</think>\nanswer": ("answer", "hm"),
    "</think>answer": ("answer", None),
    "a<think>b</think>c</think>answer": ("answer", "a<think>b</think>c"),
    # Behind the front: pairs wherever they are, half of one only where it begins a line.
    "<think>a</think>x.<think>b</think>Y": ("x. Y", "a\n\nb"),
    "first\n<think>\nb\n</think>\nthen": ("first\n \nthen", "b"),
    "first\n<think>cut off": ("first", "cut off"),
    'Units.\n<think type="x">worst</think>\nRest': ("Units.\n \nRest", "worst"),
    '<THINK a="b">hm</think >answer': ("answer", "hm"),
    "<thinking>hm</thinking>": ("", "hm"),
    "~~~\n<think>\n~~~\nThe worst.": ("~~~\n<think>\n~~~\nThe worst.", None),
    "It may say <think> first.": ("It may say <think> first.", None),
    # Marks in code are quoted.
    "Add `<think>` and `</think>`.": ("Add `<think>` and `</think>`.", None),
    "Better:\n```\n<think>\nreasons\n</think>\n```": ("Better:\n```\n<think>\nreasons\n</think>\n```", None),
    "<think>hm</think>Better:\n```\nReason </think> then.\n```": ("Better:\n```\nReason </think> then.\n```", "hm"),
}


def test_the_rule():
    found = {text: split_thinking(text) for text in CASES}
    assert {text: each for text, each in found.items() if each != CASES[text]} == {}
    again = {answer: split_thinking(answer) for answer, _ in found.values()}
    assert {answer: each for answer, each in again.items() if each != (answer, None)} == {}


def test_where_thinking_is_given_apart_marks_mean_nothing():
    assert split_thinking("It writes </think> here.", "a") == ("It writes </think> here.", "a")
    assert split_thinking("answer", "") == ("answer", None)


def test_an_answer_that_is_the_text_it_proposes_is_left_alone():
    text = "Answer so:\n<think>\nreasons\n</think>\n<answer>…</answer>"
    assert split_thinking(f"{text}\n", proposed=[text]) == (f"{text}\n", None)


def test_hostile_texts_take_linear_time():
    began = time.process_time()
    for part in ("<think>", "</think>", "x<think>", "<think><think></think>", "`<think>``", "\n<think>x</think>"):
        split_thinking(part * 50_000)
    assert time.process_time() - began < 20  # quadratic time would be minutes
