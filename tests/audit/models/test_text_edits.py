"""Sizes and patterns of edits of texts, chance without a change, and ties: worked out by hand beside each case."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.store import open_store
from tests.audit.samples import revision, write_run
from tests.audit.texts import text_revision, text_run

pytestmark = pytest.mark.usefixtures("opened_once")


def write(folder, records, **run):
    identity = {key: records[0][key] for key in ("variant", "run")}
    numbered = [{**each, "iteration": place} for place, each in enumerate(records)]
    return write_run(folder, numbered, **text_run(**identity, **run))


def rows(folder, name, records=None, overrides=None, detector="word", **run):
    if records is not None:
        write(folder, records, **run)
    with open_store([folder], overrides=overrides or {}, detector=detector) as store:
        assert not store.problems
        return store.rows(name)


def edit(before, after, r0, r1, **changes):
    """A revision of a text whose scores are each the same."""
    record = text_revision([r0] * 3, [r1] * 3, **changes)
    record["initial"]["text"], record["revised"]["text"] = before, after
    return record


def test_the_size_of_an_edit_by_hand(tmp_path):
    before = {"plan": "Add the numbers.", "act": "Write it down."}
    after = {"plan": "Sum the numbers, twice.", "act": "Write it down."}
    [row] = rows(tmp_path, "revisions", [edit(before, after, 0.5, 0.4)])
    assert (row["components"], row["changed_components"]) == (2, 1)
    assert row["edit_ratio"] == 10 / 23
    assert row["token_change"] == pytest.approx(0.4)
    assert row["length_ratio"] == 23 / 16
    assert [row[name] for name in ("edit_distance", "l2_distance", "max_change", "changed")] == [None] * 4


def test_a_proposal_whose_text_is_lost_has_no_size(tmp_path):
    record = text_revision([0.2] * 3, [0.8] * 3)
    record["revised"]["text"] = None
    [row] = rows(tmp_path, "revisions", [record])
    assert (row["components"], row["edit_ratio"], row["pattern"], row["direction"]) == (None, None, None, "improvement")


def test_nothing_is_compared_where_candidates_are_parameters(tmp_path, monkeypatch):
    monkeypatch.setattr("audit.models.functions.text_edits", None)
    write_run(tmp_path, [revision([1, 2, 3], [2, 3, 4])])
    with open_store([tmp_path]) as store:
        [row] = store.rows("revisions")
        assert store.rows("text_edits") == []
    assert row["edit_ratio"] is None
    assert row["edit_distance"] is not None


TEXT = "one two three four five six seven eight nine ten"
SMALL = {"p": TEXT.replace("five", "FIVE")}  # 4 of 48 characters
SOME = {"p": "one two three four five six SEVEN EIGHT NINE TEN"}  # 17 of 48
NEW = {"p": "0" * len(TEXT)}  # all
PATTERNS = {
    "near_optimal_break": (SMALL, 0.9, 0.7),
    "surgical_backfire": (SMALL, 0.5, 0.3),
    "full_redesign": (NEW, 0.02, 0.01),
    "pure_stochasticity": ({"p": TEXT}, 0.9, 0.85),
    "other_regression": (SOME, 0.5, 0.3),
    "fine_tune": (SMALL, 0.85, 0.97),
    "pinpoint_fix": (SMALL, 0.5, 0.7),
    "history_guided_rescue": (NEW, 0.0, 0.5),
    "targeted_multi_state_fix": (SOME, 0.2, 0.5),
    "other_improvement": (SMALL, 0.2, 0.5),
}


def test_patterns_are_of_the_range_of_scores(tmp_path):
    for run, (low, high) in enumerate([(0.0, 1.0), (-10.0, 30.0)], start=1):
        records = [
            edit({"p": TEXT}, after, *(low + (high - low) * score for score in scores), run=run)
            for after, *scores in PATTERNS.values()
        ]
        write(tmp_path / f"{run}", records, score_range=[low, high])
    found = {(row["run"], row["iteration"]): row["pattern"] for row in rows(tmp_path, "patterns")}
    assert found == {(run, place): pattern for run in (1, 2) for place, pattern in enumerate(PATTERNS)}


def test_thresholds_of_texts_can_be_set_and_are_shares_of_the_range(tmp_path):
    record = edit({"p": TEXT}, SOME, 15.0, 10.0)  # from 0.75 of the range
    write(tmp_path, [record], score_range=[0.0, 20.0])
    with open_store([tmp_path]) as store:
        assert [row["pattern"] for row in store.rows("patterns")] == ["other_regression"]
        [row] = store.rows("thresholds")
    assert (row["high"], row["surgical_max"], row["policy"], row["origin"]) == (16, None, "text", "project")
    [row] = rows(tmp_path, "patterns", overrides={"text": {"surgical_max": 0.36}})
    assert row["pattern"] == "surgical_backfire"
    with open_store([tmp_path], overrides={"text": {"high": 0.7}}) as store:
        assert [row["pattern"] for row in store.rows("patterns")] == ["near_optimal_break"]
        [row] = store.rows("edit_thresholds")
    assert (row["high"], row["partial"], row["surgical_max"], row["origin"]) == (14, 6, 0.25, "user")


def test_scores_outside_0_to_1_without_a_range_have_no_patterns_and_a_reason(tmp_path):
    records = [edit({"p": TEXT}, SMALL, 0.5, 0.3), edit({"p": TEXT}, SMALL, 0.5, -0.5)]
    write(tmp_path / "a", records, score_range=None)
    reason = "no edit patterns of 1 run: scores from -0.5 to 0.5, no score_range in run.json"
    for command in ("patterns", "sensitivity"):
        result = audit(command, tmp_path / "a", "--format", "json")
        assert (json.loads(result.stdout), reason in result.stderr) == ([], True)
    # Within 0 to 1 the range need not be stated.
    assert len(rows(tmp_path / "b", "patterns", records[:1], score_range=None)) == 1


def test_moved_thresholds_of_texts_are_no_whole_numbers(tmp_path):
    found = rows(tmp_path, "threshold_grid", [edit({"p": TEXT}, SMALL, 0.5, 0.3)])
    assert [row["value"] for row in found if row["threshold"] == "surgical_max"] == [
        0.125, 0.1875, 0.25, 0.3125, 0.375
    ]  # fmt: skip


def test_varied_thresholds_of_texts_are_those_that_can_be_set(tmp_path):
    write_run(tmp_path, [edit({"p": TEXT}, SOME, 15.0, 10.0)], **text_run(score_range=[0.0, 20.0]))
    for moved, pattern in (("high=0.7", "near_optimal_break"), ("surgical_max=0.36", "surgical_backfire")):
        varied = json.loads(audit("sensitivity", tmp_path, "--vary", f"text.{moved}", "--format", "json").stdout)
        assert {(row["pattern"], row["change"]) for row in varied if not row["in_force"]} == {
            ("other_regression", -1),
            (pattern, 1),
        }
        [row] = json.loads(audit("patterns", tmp_path, "--set", f"text.{moved}", "--format", "json").stdout)
        assert row["pattern"] == pattern
    other = json.loads(audit("sensitivity", tmp_path, "--vary", "cartpole.high=400", "--format", "json").stdout)
    assert other == []


def test_paired_scores_are_tested_as_pairs_and_their_noise_is_unknown(tmp_path):
    records = [
        text_revision([1, 1, 1], [0, 0.5, 0]),  # all three fell: one of eight signs
        text_revision([1, 0, 1], [0, 1, 1]),  # +1, -1 and 0 cancel
    ]
    other = text_revision([1, 1, 1], [0, 0.5, 0])
    other["revised"]["example_ids"] = ["7", "8", "9"]
    write(tmp_path / "paired", records)
    write(tmp_path / "other", [{**other, "variant": "other"}])
    with open_store([tmp_path]) as store:
        unpaired, *paired = sorted(store.rows("noise"), key=lambda row: (row["variant"] == "gepa", row["iteration"]))
        [row] = [row for row in store.rows("noise_summary") if row["variant"] == "gepa"]
    assert [(row["p_no_change"], row["chance_pooled"], row["chance_initial"]) for row in paired] == [
        (1 / 8, 1 / 2, None),
        (3 / 4, 1 / 4, None),
    ]
    assert (row["tested"], row["expected_regressions"], row["expected_pooled"]) == (2, None, 0.75)
    # One of the 20 ways to split six scores of which the three highest were first.
    assert (unpaired["p_no_change"], unpaired["chance_initial"]) == (1 / 20, 0)


def test_rates_are_of_the_regressions_whose_worst_item_differs(tmp_path):
    cites, silent = "The worst one lacks units.", "I am brief."
    down = [0, 0, 0]
    records = [
        text_revision([0, 1, 1], down, answer=cites),  # strict
        text_revision([0, 1, 1], down, answer=silent),
        text_revision([0, 0, 1], down, answer=cites),  # permissive alone
        text_revision([0.5, 0.5, 0.5], down, answer=cites),  # tied: neither
        text_revision([0, 1], [0, 0], answer=cites),  # two items: both criteria
    ]
    [row] = rows(tmp_path, "salience", records)
    assert (row["regressions"], row["strict"], row["permissive"]) == (5, 2, 3)
    assert (row["worst_below_median"], row["worst_below_best"]) == (3, 4)
    assert row["strict_untied_pct"] == pytest.approx(100 * 2 / 3)
    assert row["permissive_untied_pct"] == pytest.approx(100 * 3 / 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four revisions: one without a rationale, one tied, one on other examples, and one of two components."""
    other = text_revision([0, 1, 0.5], [1, 1, 1])
    other["revised"]["example_ids"] = ["7", "8", "9"]
    records = [
        text_revision([0, 0.5, 1], [1, 1, 1], answer="```\nAdd the numbers with care.\n```"),
        text_revision([0, 0, 1], [1, 1, 1]),
        other,
        edit({"a": "Do it.", "b": "same"}, {"a": "Do it well.", "b": "same"}, 0.5, 0.2),
    ]
    return write(tmp_path_factory.mktemp("texts"), records)


def audit(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_check_says_what_is_in_no_rate(folder):
    result = audit("check", folder, "--format", "json")
    assert result.stderr.splitlines() == [
        "audit: hand sums gepa: 1 of 4 revisions have no rationale beside the text, and count in no citing rate",
        "audit: hand sums gepa: in 2 of 4 sets of items the worst score is not below the sample median: "
        "strict cannot hold",
        "audit: hand sums gepa: 1 of 4 revisions are not known to be scored on the examples of the initial candidate",
        "audit: hand sums gepa: with 3 examples a candidate at most, no paired revision can be beyond noise "
        "(p <= 0.05)",
    ]
    said = {row["command"]: (row["supported"], row["reason"]) for row in json.loads(result.stdout)}
    nothing = "candidates are texts: nothing to run"
    assert [said[name] for name in ("replay", "rescore")] == [(False, nothing)] * 2
    assert said["verify"] == (True, f"means and evidence only: {nothing}")
    assert said["patterns"] == said["show"] == said["sensitivity"] == (True, None)


def test_commands_that_run_policies_say_why_they_cannot(folder, tmp_path):
    """`verify` holds means and evidence against the scores."""
    for command, status in (("verify", 0), ("rescore", 0), (("replay", "sums", "gepa", 1, 0, 0), 1)):
        name, *place = (command,) if isinstance(command, str) else command
        result = audit(name, folder, *place)
        assert "candidates are texts, so there is nothing to run" in result.stdout + result.stderr
        assert result.exit_code == status
    record = text_revision([0, 0.5, 1], [1, 1, 1])
    record["evidence"]["shown"][1]["return"] = 0.25
    write_run(tmp_path, [record], **text_run())
    result = audit("verify", tmp_path, "--format", "json")
    [row] = json.loads(result.stdout)
    assert (result.exit_code, row["check"], row["rollout"]) == (1, "evidence", 1)


def test_a_revision_of_a_text_is_shown_word_by_word(folder):
    shown = audit("show", folder, "sums", "gepa", 1, 3).stdout
    assert (
        "Edits (1 of 2 components; edit ratio 0.4545; token change 0.1429)\n  a\n    Do [-it.-] {+it well.+}\n" in shown
    )
    assert (
        "edit pattern: other_regression (a regression (delta -0.3) that no other rule takes; thresholds: project)"
        in shown
    )
    assert "\n  Example 1: score 0.5\n" in shown
    assert "Rationale, with the items that it mentions\n  [Example 1]{example 1 0} went wrong.\n" in shown
    shown = audit("show", folder, "sums", "gepa", 1, 0).stdout
    assert "the answer gives no rationale besides the text, so nothing can refer to the worst example" in shown
    record = json.loads(audit("show", folder, "sums", "gepa", 1, 3, "--format", "json").stdout)
    assert record["revised"]["text"] == {"a": "Do it well.", "b": "same"}
    assert record["thresholds"]["surgical_max"] == 0.25
    assert [item["return"] for item in record["items"]] == [0.5] * 3


def test_tables_for_people_have_no_columns_of_parameters(folder):
    assert "distance" not in audit("revisions", folder).stdout + audit("summary", folder).stdout
    csv = audit("revisions", folder, "--format", "csv").stdout.splitlines()[0]
    assert "edit_distance" in csv
    assert "edit_ratio" in csv


def test_references_in_texts_are_resolved_unless_a_detector_is_named(folder, tmp_path):
    """The word "worst" is not what an item of a batch is called."""
    note = "audit: candidates are texts: the detector is resolved, unless you name another"
    resolved = audit("rates", folder, "--format", "json")
    assert note in resolved.stderr
    assert {row["detector"] for row in json.loads(resolved.stdout)} == {"resolved"}
    # A name in another case selects the same runs before the detector is chosen.
    assert audit("rates", folder, "--variant", "GEPA", "--format", "json").stdout == resolved.stdout
    named = audit("rates", folder, "--detector", "word", "--format", "json")
    assert {row["detector"] for row in json.loads(named.stdout)} == {"word"}
    assert note not in named.stderr + audit("summary", folder).stderr
    assert "(detector resolved)" in audit("show", folder, "sums", "gepa", 1, 1).stdout
    write_run(tmp_path, [revision([1, 2, 3], [2, 3, 4])])
    mixed = audit("rates", folder, tmp_path, "--format", "json")
    assert {row["detector"] for row in json.loads(mixed.stdout)} == {"word"}
    assert "some candidates are texts" in mixed.stderr
