"""One revision as its page gets it: roles, mentions and the places they mean, differences, and what is not recorded."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from audit.options import Options
from audit.output.errors import AuditError
from audit.viewer.query import Query
from audit.viewer.revision import SENTENCE, revision
from audit.viewer.session import Session
from audit.vocabulary.keys import RevisionKey
from tests.audit.samples import THRESHOLDS, episode, write_run
from tests.audit.samples import revision as recorded
from tests.audit.texts import items, text_revision, text_run

THREE = {"first": "search", "second": "critic", "evidence": "three"}
ANSWER = "I changed params[1]. The worst rollout fell at once. It is not the best rollout that decides."
EVERY = Query()
KNOWN = {"driver": "worst", "mentioned": "worst", "discounts_worst": False}
ENDLESS = "The worst rollout " + "a<b>" * 5_000


def shown(returns):
    """Three rollouts in the order of display: best, worst, median."""
    ordered = sorted(range(3), key=returns.__getitem__)
    places = {"best": ordered[2], "worst": ordered[0], "median": ordered[1]}
    return {
        "kind": "three",
        "shown": [
            {"label": label, "rollout": place, "return": float(returns[place]), "length": 10}
            for label, place in places.items()
        ],
        "statistics": None,
    }


def bare(mean, source):
    """A candidate of which only the mean is recorded."""
    return {"returns": None, "mean_return": mean, "source": source}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    root = tmp_path_factory.mktemp("records")
    returns = [5, 1, 9]
    rows = [
        recorded(returns, [2, 2, 2], after=(1, 2.5, 3), answer=ANSWER, iteration=0, evidence=shown(returns)),
        recorded(returns, [7, 8, 9], after=(1, 2, 9), answer=ENDLESS, iteration=1, evidence=shown(returns)),
        recorded(returns, [2, 2, 3], after=(1, 2, 3), answer="", iteration=2, evidence=None),
    ]
    folder = write_run(root / "params", rows, thresholds=THRESHOLDS, method=THREE)
    calls = [
        {"iteration": 0, "role": "critic", "prompt": "What \x1b[31m went wrong?", "error": None},
        {"iteration": 1, "role": "search", "prompt": "Propose.", "error": None},
    ]
    (folder / "calls.jsonl").write_text("".join(f"{json.dumps(call)}\n" for call in calls))
    truth = {
        **{name: rows[0][name] for name in ("condition", "env", "variant", "run", "iteration")},
        "attempt": 1,
        "personality": "salient",
        "anchor": "worst",
        "rollout": 1,
        "mention": "label",
        **KNOWN,
    }
    (folder / "truth.jsonl").write_text(f"{json.dumps(truth)}\n")
    without = episode(bare(1.0, "search"), bare(0.5, "critic"), condition="bare")
    write_run(root / "bare", [without], options={"imported_from": ["log.csv"]})
    texts = [
        text_revision([1, 0, 0.5], [1, 1, 1], answer="Example 2 went wrong.", condition="texts"),
        text_revision([0, 1], [1, 1], iteration=1, condition="texts", kind="pair"),
    ]
    texts[0]["evidence"]["shown"] = items([1, 0, 0.5], ["one", "two\u202e", "three"])
    texts[0]["initial"]["text"] = {"gone": "Old.", "instruction": "Add the numbers.", "kept": "Same."}
    texts[0]["revised"]["text"] = {"fresh": "New.", "instruction": "Add all numbers.", "kept": "Same."}
    texts[1]["revised"]["text"] = None
    run = text_run(condition="texts")
    write_run(root / "texts", texts, **{name: run[name] for name in run if name not in {"env", "variant", "run"}})
    with Session(Options(paths=[root], detector="word")) as opened:
        yield opened


def of_params(session, iteration, query=EVERY):
    return revision(session, RevisionKey("hand", "cartpole", "threetraj", 1, iteration), query)


def of_texts(session, iteration):
    return revision(session, RevisionKey("texts", "sums", "gepa", 1, iteration), Query())


def test_what_was_shown_and_what_mentions_mean(session) -> None:
    found = of_params(session, 0)
    assert [(each["name"], each["roles"], each["rollout"], each["return"]) for each in found["shown"]] == [
        ("best", ["best"], 2, 9.0),
        ("worst", ["worst"], 1, 1.0),
        ("median", ["median"], 0, 5.0),
    ]
    assert [(each["text"], each["places"], each["negated"], each["kind"]) for each in found["mentions"]] == [
        ("worst rollout", [1], False, "label"),
        ("best rollout", [0], True, "label"),
    ]


def test_pieces_of_the_answer_are_the_answer_and_one_sentence_leads(session) -> None:
    for iteration, answer in enumerate((ANSWER, ENDLESS)):
        found = of_params(session, iteration)
        assert "".join(piece["text"] for piece in found["answer"]) == answer
        for number, mention in enumerate(found["mentions"]):
            pieces = [each["text"] for each in found["answer"] if each.get("mention") == number]
            assert "".join(pieces) == mention["text"]
    assert len(found["leading"]) == SENTENCE + 1
    found = of_params(session, 0)
    sentence = "".join(piece["text"] for piece in found["answer"] if piece.get("leading"))
    assert sentence == found["leading"] == "The worst rollout fell at once."


def test_what_is_beside_the_record(session) -> None:
    first, second, third = (of_params(session, iteration) for iteration in range(3))
    assert first["prompt"] == "What \\x1b[31m went wrong?"
    assert first["truth"] == {"personality": "salient", **KNOWN}
    assert second["prompt"] is second["truth"] is None
    assert third["shown"] is None
    assert first["row"]["file"].endswith("episodes.jsonl")
    assert first["edits"] == {"before": [1, 2, 3], "after": [1, 2.5, 3], "changed": [1]}
    assert third["edits"]["changed"] == []


def test_what_is_not_recorded_is_null(session) -> None:
    found = revision(session, RevisionKey("bare", "cartpole", "threetraj", 1, 0), Query())
    assert found["edits"] is found["answer"] is found["thinking"] is found["prompt"] is None
    assert found["leading"] == ""
    assert found["initial"]["returns"] is None
    assert found["mentions"] == found["shown"] == found["judgements"] == []
    assert found["row"]["p_no_change"] is None


def test_examples_and_words_of_a_text(session) -> None:
    found = of_texts(session, 0)
    assert [(each["name"], each["roles"], each["text"]) for each in found["shown"]] == [
        ("Example 1", ["best"], "one"),
        ("Example 2", ["worst"], "two\\u202e"),
        ("Example 3", ["median"], "three"),
    ]
    assert [each["places"] for each in found["mentions"]] == [[1]]
    found = {each["name"]: each for each in found["differences"]}
    states = {"fresh": "new", "gone": "removed", "instruction": "changed", "kept": "same"}
    assert {name: each["state"] for name, each in found.items()} == states
    pieces = found["instruction"]["pieces"]
    assert "".join(each["text"] for each in pieces if each["kind"] != "new").split() == ["Add", "the", "numbers."]
    assert "".join(each["text"] for each in pieces if each["kind"] != "old").split() == ["Add", "all", "numbers."]
    assert [each["text"].strip() for each in pieces if each["kind"] != "same"] == ["the", "all"]
    assert of_texts(session, 1)["differences"] is None


def test_the_way_along_a_filter(session) -> None:
    order = Query(filters=(("condition", ("hand",)), ("direction", ("regression",))), sort=("-iteration",))
    last = of_params(session, 2, order)
    assert (last["place"], last["among"], last["before"]) == (1, 2, None)
    assert last["after"] == RevisionKey("hand", "cartpole", "threetraj", 1, 0)
    assert of_params(session, 0, order)["after"] is None
    # From outside a filter the first within is next.
    order = replace(order, sort=(), page=7)
    found = of_params(session, 1, order)
    assert (found["place"], found["among"], found["before"]) == (0, 2, None)
    assert found["after"] == RevisionKey("hand", "cartpole", "threetraj", 1, 0)
    assert of_params(session, 1, Query(filters=(("r0", ("99",)),)))["after"] is None
    with pytest.raises(AuditError, match="no revision hand cartpole threetraj run 1 iteration 77"):
        of_params(session, 77)


@pytest.mark.parametrize("done", [True, False])
def test_labels_are_shown_when_all_coders_are_done(session, tmp_path, done) -> None:
    columns = ("mentions_worst", "mentions_median", "mentions_best", "discounts_worst", "driver")
    key = "hand,cartpole,threetraj,1,0"
    path = tmp_path / "labels.csv"
    path.write_text(
        f"condition,env,variant,run,iteration,coder,{','.join(columns)},note\n"
        f"{key},A,1,0,1,0,worst,\n{key},B,1,0,0,0,{'best' if done else ''},odd\n"
    )
    with Session(Options(paths=[*session.options.paths]), [path], "A") as opened:
        labels = of_params(opened, 0)["labels"]
        other = of_params(opened, 1)["labels"]
    if not done:
        assert labels is other is None
        return
    assert [(each["coder"], each["codes"]["driver"], each["note"]) for each in labels] == [
        ("A", "worst", ""),
        ("B", "best", "odd"),
    ]
    assert other == []


def test_a_revision_whose_prompts_cannot_be_read_is_shown_without_them(tmp_path) -> None:
    folder = write_run(tmp_path / "runs", [recorded([1, 5, 9], [2, 2, 2], answer=ANSWER)])
    (folder / "calls.jsonl").mkdir()
    with Session(Options(paths=[folder], detector=None)) as session:
        found = revision(session, RevisionKey("hand", "cartpole", "threetraj", 1, 0), EVERY)
    assert found["answer"]
    assert found["prompt"] is None
    assert found["prompt_problem"].startswith(f"{folder / 'calls.jsonl'}: cannot be read")
