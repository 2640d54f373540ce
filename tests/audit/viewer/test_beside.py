"""Two revisions side by side: their facts, and what differs between their texts, by hand."""

from __future__ import annotations

import json

import pytest

from audit.output.errors import AuditError
from audit.viewer.beside import beside
from audit.vocabulary.keys import RevisionKey
from tests.audit.samples import revision, write_run
from tests.audit.viewer.records import open_session

RUN = ("one", "cartpole", "threetraj", 1)


@pytest.fixture
def session(tmp_path):
    key = dict(zip(("condition", "env", "variant", "run"), RUN, strict=True))
    rows = [
        revision((9, 9, 9), (1, 1, 1), answer="The worst rollout fell.", iteration=0, after=(1, 2, 3), **key),
        revision((9, 9, 9), (12, 12, 12), answer="The best rollout fell.", iteration=1, after=(1, 5, 3), **key),
    ]
    folder = tmp_path / "run"
    write_run(folder, rows)
    calls = [{"iteration": place, "role": "critic", "prompt": f"Turn {place}. Go on."} for place in range(2)]
    (folder / "calls.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls))
    with open_session(tmp_path, cache=False) as opened:
        yield opened


def test_what_differs(session) -> None:
    found = beside(session, RevisionKey(*RUN, 0), RevisionKey(*RUN, 1))
    assert [side["delta"] for side in found["sides"]] == [-8, 3]
    assert [side["direction"] for side in found["sides"]] == ["regression", "improvement"]
    texts = {each["title"]: [(piece["kind"], piece["text"]) for piece in each["pieces"]] for each in found["texts"]}
    assert texts["Answer"] == [("same", "The "), ("old", "worst "), ("new", "best "), ("same", "rollout fell.")]
    assert texts["Prompt"] == [("same", "Turn "), ("old", "0. "), ("new", "1. "), ("same", "Go on.")]
    assert ("old", "2\n") in texts["Revised parameters"]
    assert ("new", "5\n") in texts["Revised parameters"]


def test_the_same_one_twice(session) -> None:
    found = beside(session, RevisionKey(*RUN, 0), RevisionKey(*RUN, 0))
    assert all(each["same"] for each in found["texts"])


def test_one_that_is_not_there(session) -> None:
    with pytest.raises(AuditError, match="no revision"):
        beside(session, RevisionKey(*RUN, 0), RevisionKey(*RUN, 7))
