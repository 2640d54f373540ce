"""What a judge's reply says, however it is written, and when it says nothing that can be used."""

from __future__ import annotations

import json

import pytest

from audit.judging.verdicts import DRIVERS, UnreadableVerdictError, Verdict, is_quoted, read_verdict

OBJECT = '{"driver": "shared", "sentence": "All of them drift.", "mentions_worst": false, "discounts_worst": true}'
READ = Verdict("shared", "All of them drift.", mentions_worst=False, discounts_worst=True)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (OBJECT, READ),
        (f"```json\n{OBJECT}\n```", READ),
        (f"Let me see {{thinking}} about it.\n\n{OBJECT}\nHope this helps!", READ),
        (OBJECT.replace('"shared"', '" Shared."').replace("true", '"yes"'), READ),
        (f"{OBJECT}\n{OBJECT}", READ),
        ('{"driver": "CODE"}\n' + OBJECT, READ),
        ('{"driver": "worst", "sentence": "It fell.\nAt once."}', Verdict("worst", "It fell.\nAt once.")),
        ('{"driver": "none", "sentence": ""}', Verdict("none", "")),
        ('{"driver": "none", "sentence": null, "mentions_worst": null}', Verdict("none", "")),
        ("driver: best\nsentence: It leans early.", Verdict("best", "It leans early.")),
        (
            '**Driver:** history\n- **Sentence**: "Trial 30 scored 500."\nmentions worst = no',
            Verdict("history", "Trial 30 scored 500.", mentions_worst=False),
        ),
    ],
)
def test_replies_that_can_be_read(reply, verdict):
    assert read_verdict(reply) == verdict


def test_every_code_of_the_guide_is_known_and_hostile_replies_are_read_to_their_end():
    for driver in DRIVERS:
        assert read_verdict(json.dumps({"driver": driver, "sentence": "Because."})).driver == driver
    for hostile in ('{"a":' * 200_000, "{" * 1_000_000, '{"' * 500_000, "driver:" * 200_000, "\n" * 10**6):
        with pytest.raises(UnreadableVerdictError):
            read_verdict(hostile)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no driver"),
        ("The driver is the worst rollout.", "no driver"),
        ('{"driver": "worst"}', "no sentence"),
        ('{"driver": "worst", "sentence": "It fe', "no driver"),
        ('{"driver": "salience", "sentence": "It fell."}', "no such driver: 'salience'"),
        ('{"driver": ["worst", "shared"], "sentence": "It fell."}', "no such driver"),
        (f"{OBJECT}\n{OBJECT.replace('shared', 'none')}", "several drivers"),
        ("driver: best\nsentence: It leans.\ndriver: worst", "several drivers"),
        ("driver: best or worst\nsentence: It leans.", "no such driver"),
        ("[1, 2]", "no driver"),
        ("null", "no driver"),
    ],
)
def test_replies_that_cannot(reply, reason):
    with pytest.raises(UnreadableVerdictError, match=reason):
        read_verdict(reply)


@pytest.mark.parametrize(
    ("sentence", "answer", "quoted"),
    [
        ("The worst rollout fell.", "First. The worst rollout fell. So I changed it.", True),
        ("the WORST rollout  fell", "The worst\nrollout fell.", True),
        ("The worst rollout - rollout 17 - can't hold.", "The **worst** rollout — rollout 17 — can’t hold.", True),
        ("“It drifts left”", "It drifts left.", True),
        ("Größer als zuvor", "Es ist GRÖSSER als zuvor.", True),
        ("它掉下去了", "在这里它掉下去了。", True),
        ("The worst rollout tipped over.", "The worst rollout fell.", False),
        ("", "The worst rollout fell.", False),
        ("...", "The worst rollout fell...", False),
    ],
)
def test_a_sentence_is_looked_for_whatever_its_case_spaces_and_marks(sentence, answer, quoted):
    assert is_quoted(sentence, answer) is quoted
