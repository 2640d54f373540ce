"""What the stored answers of the local model are said to be."""

import json
from pathlib import Path

import audit

LOCAL = Path(__file__).parents[1] / "data" / "real" / "local"
REAL = LOCAL.parent


def test_the_stored_grid_is_what_its_readme_states():
    calls = [json.loads(line) for path in LOCAL.rglob("calls.jsonl") for line in path.read_text().splitlines()]
    cut = [call.get("cut", "") for call in calls]
    counts = (
        len(calls),
        sum(call["error"] is None for call in calls),
        sum(reason.startswith("cut off") for reason in cut),
        sum(reason.startswith("repeats itself") for reason in cut),
    )
    assert counts == (36, 36, 21, 1)
    assert "36 of 36 can be read, 21 run out\nof tokens, one goes in circles" in (LOCAL / "README.md").read_text()


def test_the_stored_grid_is_sound_and_no_simulation():
    with audit.open(LOCAL, cache=False) as store:
        assert not store.problems
        assert store.sql("select distinct backend from run_records").fetchall() == [("local",)]
        assert store.sql("select count(*) from revisions").fetchall() == [(18,)]


def test_all_real_answers_together_are_small():
    assert sum(path.stat().st_size for path in REAL.rglob("*") if path.is_file()) < 5_000_000


def test_a_rollout_under_a_heading_is_shown_with_it():
    with audit.open(REAL / "large" / "interventions", cache=False) as store:
        masked = audit.show(store, "frozenlake", "threetraj", 2, 46, condition="unlabelled")
        labelled = audit.show(store, "frozenlake", "threetraj", 2, 46, condition="as_is")
    assert [each["name"] for each in masked["evidence"]] == ["Rollout A", "Rollout C", "Rollout B"]
    assert "worst   rollout 1   return 0  (shown as Rollout A)" in str(masked)
    assert [each["name"] for each in labelled["evidence"]] == ["worst", "median", "best"]
    assert "shown as" not in str(labelled)


def test_the_stored_experiment_is_what_the_docs_state():
    rows = {
        (row["name"], row["arm"]): row for row in audit.intervene_report(REAL / "causes" / "plan.json", cache=False)
    }
    moved = rows["position", "XP"]
    stated = f"{moved['estimate']:.2f} ({moved['low']:.2f} to {moved['high']:.2f})"
    for page in (REAL / "causes" / "README.md", REAL.parents[1] / "docs" / "causes.md"):
        assert stated.replace("-", "−") in page.read_text()
        assert f"p = {moved['p']:.2f}" in page.read_text()
