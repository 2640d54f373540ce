"""The threshold that a revision was under: fixed in run.json, chosen by a rule, or read off a released prompt."""

from __future__ import annotations

import json

import pytest

from audit.importing.run import import_logs
from audit.records.packing import pack
from audit.store import open_store
from tests.audit.samples import candidate, episode, revision, write_run

R2PO = {"variant": "r2po", "evidence": {"kind": "median", "shown": [], "statistics": None}}


def thresholds(path, relation="revisions"):
    with open_store([path], cache=False) as store:
        rows = sorted(store.rows(relation), key=lambda row: (row["run"], row["iteration"]))
    return [(row["tau_c"], row["restrained"]) for row in rows]


def r2po(*levels, **changes):
    return [revision([level] * 3, [0] * 3, iteration=number, **R2PO, **changes) for number, level in enumerate(levels)]


def test_a_fixed_threshold_holds_for_all_revisions_of_a_method_with_the_rule(tmp_path):
    write_run(tmp_path, r2po(479.9, 480, 500), tau_c=480.0)
    assert thresholds(tmp_path) == thresholds(tmp_path, "changes") == [(480, False), (480, True), (480, True)]


def test_without_the_rule_or_with_the_rule_off_there_is_none(tmp_path):
    write_run(tmp_path / "off", r2po(500), tau_c=None)
    write_run(tmp_path / "other", [revision([500] * 3, [0] * 3, run=2)], tau_c=480.0)
    method = {"second": "critic", "evidence": "three", "revision_rule": True}
    write_run(tmp_path / "own", [revision([500] * 3, [0] * 3, run=3, variant="mine")], tau_c=480.0, method=method)
    assert thresholds(tmp_path) == [(None, None), (None, None), (480, True)]


@pytest.fixture
def chosen(tmp_path):
    """A run whose threshold a rule chooses: on below and above it, and off; and an iteration without a revision."""
    stated = [(255.0, False), (100.0, True), (None, False), (255.0, False)]
    records = [
        {**record, "tau_c": tau_c, "restrained": restrained}
        for record, (tau_c, restrained) in zip(
            [*r2po(200, 200, 200), episode(candidate([9] * 3), iteration=3, **R2PO, revision_status="unreadable")],
            stated,
            strict=True,
        )
    ]
    write_run(tmp_path / "data", records, tau_c=None, tau_rule={"id": "record", "options": {"z": 1.0}})
    return tmp_path / "data", stated


def test_a_chosen_threshold_is_each_iterations_own_in_a_pack_too(chosen, tmp_path):
    data, stated = chosen
    packed = pack(data, tmp_path / "d.pack.parquet").path
    assert thresholds(data) == stated[:3]
    assert [thresholds(path, "episodes") for path in (data, packed)] == [stated] * 2


@pytest.mark.parametrize(
    "rule",
    [
        "- When achieved_reward >= 480.0, prefer zero changes or only one very small, strongly justified edit.",
        "- If the proposed policy already has achieved_reward >= 480 and the evidence does not show a consistent "
        "failure, keep the parameters unchanged or make at most one very small, strongly justified edit.",
        None,
    ],
)
def test_released_prompts_state_it(rule):
    from audit.sources.r2po_rollouts import read_answers

    text = (
        "prompt\nLLM:\nparams[0]: 1\n--- Critic-LLM (Reflection) ---\n"
        f"- achieved_reward >=500.00\n{rule or ''}\n\nCritic-LLM response:\n"
        "- When achieved_reward >= 9, prefer zero changes or only one very small, strongly justified edit."
    )
    assert read_answers(text.encode()).tau_c == (480 if rule else None)


def test_an_imported_log_may_state_it_for_its_tasks(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"t": 0, "a": 500, "b": 480, "p": [1, 2], "q": [1, 2]}) + "\n")
    mapping = tmp_path / "map.toml"
    mapping.write_text(MAPPING)
    import_logs(log, mapping, tmp_path / "out")
    assert thresholds(tmp_path / "out") == [(475, True)]


MAPPING = """
[fields]
iteration = "t"
initial.mean_return = "a"
revised.mean_return = "b"
initial.params = "p"
revised.params = "q"

[constants]
condition = "lab"
env = "cartpole"
variant = "r2po"
run = 1
selected = "better"

[run]
tau_c = 475
"""
