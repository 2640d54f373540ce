"""What the stored answers of language models are said to be."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

import audit

pytestmark = pytest.mark.usefixtures("opened_once")

REAL = Path(__file__).parents[1] / "data" / "real"


def test_a_rollout_under_a_heading_is_shown_with_it():
    with audit.open(REAL / "large" / "interventions", cache=False) as store:
        masked = audit.show(store, "frozenlake", "threetraj", 2, 46, condition="unlabelled")
        labelled = audit.show(store, "frozenlake", "threetraj", 2, 46, condition="as_is")
    assert [each["name"] for each in masked["evidence"]] == ["Rollout A", "Rollout C", "Rollout B"]
    assert "worst   rollout 1   return 0  (shown as Rollout A)" in str(masked)
    assert [each["name"] for each in labelled["evidence"]] == ["worst", "median", "best"]
    assert "shown as" not in str(labelled)


def test_the_stored_experiment_is_what_the_docs_state(monkeypatch):
    # What policies return, which takes 200 rollouts of each, is no part of what is stated.
    monkeypatch.setattr("audit.interventions.outcomes.read_gains", lambda *_, **__: defaultdict(lambda: "not run"))
    rows = {
        (row["name"], row["arm"]): row for row in audit.intervene_report(REAL / "causes" / "plan.json", cache=False)
    }
    moved = rows["position", "XP"]
    stated = f"{moved['estimate']:.2f} ({moved['low']:.2f} to {moved['high']:.2f})"
    for page in (REAL / "causes" / "README.md", REAL.parents[1] / "docs" / "causes.md"):
        assert stated.replace("-", "−") in page.read_text()
        assert f"p = {moved['p']:.2f}" in page.read_text()


@pytest.mark.parametrize("condition", ["smollm2", "smollm2-reasons"])
def test_the_folder_of_gepa_and_its_recorder_agree(condition):
    facts = """
        select iteration, initial.example_ids, initial.returns, revised.returns, selected, initial.text, revised.text
        from episodes order by iteration
    """
    seen = []
    for data in (REAL / "gepa" / "run" / condition, REAL / "gepa" / "records" / condition):
        with audit.open(data, cache=False) as store:
            assert not store.problems
            seen.append(store.sql(facts).fetchall())
    folder, recorded = seen
    assert folder == recorded
    assert None not in [value for row in folder for value in row]


def test_the_stored_runs_of_gepa_are_what_their_readme_states():
    query = """
        select condition, count(*), count(*) filter (direction = 'regression'), count(*) filter (accepted),
            count(*) - count(critic_answers.answer), count(*) filter (not worst_below_median), count(*) filter (cites)
        from revisions left join critic_answers using (condition, env, variant, run, iteration)
        left join evidence using (condition, env, variant, run, iteration)
        group by all order by all
    """
    with audit.open(REAL / "gepa" / "records", detector="resolved", cache=False) as store:
        counts = store.sql(query).fetchall()
    assert counts == [("smollm2", 40, 29, 4, 37, 31, 0), ("smollm2-reasons", 25, 17, 4, 20, 13, 2)]


def test_only_what_goes_by_the_worst_regresses_in_the_planted_runs():
    planted = REAL.parent / "gepa-planted"
    with audit.open(planted, cache=False) as store:
        rows = store.sql("select run, direction, r0 from revisions order by run, iteration").fetchall()
    drivers = [
        json.loads(line) for path in sorted(planted.rglob("drivers.jsonl")) for line in path.read_text().splitlines()
    ]
    assert len(rows) == len(drivers)
    assert 0.35 < sum(driver["by_worst"] for driver in drivers) / len(drivers) < 0.65
    regressed = [driver["by_worst"] for row, driver in zip(rows, drivers, strict=True) if row[1] == "regression"]
    assert regressed == [True] * 6
