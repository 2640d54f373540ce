"""A run as its page gets it: its curve, its revisions, how it was set up, and very long ones thinned."""

from __future__ import annotations

import pytest

from audit.options import Options
from audit.output.errors import AuditError
from audit.viewer import run as module
from audit.viewer.run import run
from audit.viewer.session import Session
from audit.vocabulary.keys import RunKey
from tests.audit.samples import candidate, episode, revision, write_run

REVISED = RunKey("hand", "cartpole", "threetraj", 1)
BASELINE = RunKey("hand", "cartpole", "ppo", 1)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    root = tmp_path_factory.mktemp("records")
    rows = [revision([number, 2, 3], [3, 2, 1], iteration=number) for number in range(5)]
    write_run(root / "revised", rows, options={"temperature": 0.5, "note": "\x1b[31m"}, tau_c=3.5, model="m\u202e")
    steps = [
        episode(candidate([number], (), "baseline", ""), iteration=number, variant="ppo", evidence=None)
        for number in (3, 1, 2)
    ]
    for number, step in enumerate(steps):
        step["iteration"] = number
    write_run(root / "ppo", steps, method={"training_rollouts": 1})
    with Session(Options(paths=[root])) as opened:
        yield opened


def test_what_a_run_is_and_its_iterations(session) -> None:
    found = run(session, REVISED)
    assert [each["iteration"] for each in found["iterations"]] == list(range(5))
    assert [each["iteration"] for each in found["revisions"]] == list(range(5))
    assert [each["direction"] for each in found["revisions"]] == ["improvement", "no_change", *["regression"] * 3]
    assert found["revisions_total"] == found["total"] == 5
    assert (found["facts"]["tau_c"], found["facts"]["model"]) == (3.5, "m\\u202e")
    assert found["description"]["options: temperature"] == "0.5"
    assert found["description"]["options: note"] == "\\x1b[31m"
    assert found["thresholds"]["policy"] == "linear"
    found = run(session, BASELINE)  # which has no revisions
    assert [(each["kept_return"], each["best_so_far"]) for each in found["iterations"]] == [(3, 3), (1, 3), (2, 3)]
    assert (found["revisions"], found["revisions_total"]) == ([], 0)
    with pytest.raises(AuditError, match="no run hand cartpole threetraj 9"):
        run(session, REVISED._replace(run=9))


def test_a_long_run_is_thinned(session, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    found = run(session, REVISED)
    assert (found["every"], found["total"], found["revisions_total"]) == (3, 5, 5)
    assert [each["iteration"] for each in found["iterations"]] == [0, 3]
    assert found["revisions"] == []
