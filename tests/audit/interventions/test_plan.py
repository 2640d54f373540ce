"""A plan holds all that is fixed before the first call, and is read only as it was written."""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
from collections import Counter

import msgspec
import numpy as np
import pytest

from audit.interventions import expected
from audit.interventions.arms import ARMS, ask
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.named_shares import SHARES
from audit.interventions.effects.presence import beyond_each, presence_tests
from audit.interventions.effects.shares import followed
from audit.interventions.expected import _share_error, decides
from audit.interventions.making import units_of
from audit.interventions.plan import Plan, answers_file, read_plan, write_plan
from audit.interventions.presets import PRESETS, asks_shares
from audit.interventions.showing import NEUTRAL_FRAMES
from audit.interventions.units import NOT_THREE, SAME
from audit.measures.holm import holm
from audit.output.errors import AuditError
from benchmarks.interventions import scores
from benchmarks.interventions.asking import experiment
from benchmarks.interventions.critics import Critic
from benchmarks.interventions.scores import Scores
from tests import shared as once
from tests.audit.interventions.effects.test_shares import planted
from tests.audit.interventions.planned import (
    CONTRASTS,
    NO_SHARES,
    answers_of,
    arms,
    audit,
    last_line,
    lines,
    one_line,
    plan,
    recorded,
)
from tests.audit.samples import SHARED

RELEASED = SHARED / "r2po_logs" / "logs.tar.xz"


@pytest.fixture(scope="module")
def made(records, tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    plan(records, path)
    return path


def test_a_plan_is_read_as_it_was_written(made, tmp_path):
    read = read_plan(made)
    write_plan(read, tmp_path / "copy.json")
    assert read_plan(tmp_path / "copy.json") == read
    assert (tmp_path / "copy.json").read_bytes() == made.read_bytes()
    assert read.cost.calls == len(read.calls()) == len(read.units) * sum(read.arms.values())
    assert [unit.key for unit in read.units] == list(read.places())


def test_the_same_settings_make_the_same_plan_and_another_seed_another(records, made, tmp_path):
    again, other = tmp_path / "again.json", tmp_path / "other.json"
    first = read_plan(made)
    assert plan(records, again).units == first.units
    assert plan(records, again.with_name("third.json")).sha256 == read_plan(again).sha256
    assert plan(records, other, "--seed", 1).sha256 != first.sha256


@pytest.mark.parametrize("field", Plan.__struct_fields__)
def test_a_field_that_was_edited_is_found(made, tmp_path, field):
    edited = json.loads(made.read_text())
    value = edited[field]
    edited[field] = {
        int: lambda: value + 1,
        float: lambda: value / 2,
        str: lambda: f"{value}x",
        bool: lambda: not value,
        list: lambda: [*value, *value[:1]] if value else ["x"],
        dict: lambda: {**value, "cartpole" if field == "eligible" else "A0": 77},
        type(None): lambda: "x",
    }[type(value)]()
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(edited))
    for command in ("run", "report"):
        line = one_line(audit("intervene", command, path))
        assert "changed" in line or "newer version" in line or "not a plan" in line


def test_layout_is_no_edit_and_a_new_field_is(made, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(json.loads(made.read_text())))
    assert read_plan(path) == read_plan(made)
    path.write_text(json.dumps(json.loads(made.read_text()) | {"more": 1}))
    with pytest.raises(AuditError, match="was changed after it was written"):
        read_plan(path)


def test_a_plan_with_arms_of_a_later_version_is_refused(made, tmp_path):
    later = msgspec.structs.replace(read_plan(made), arms={"A0": 1, "ZZ": 2}).signed()
    write_plan(later, tmp_path / "plan.json")
    assert "asks under arm ZZ" in one_line(audit("intervene", "run", tmp_path / "plan.json"))


def test_files_pipes_and_folders_that_are_no_plan(tmp_path):
    path = tmp_path / "plan.json"
    schemas = (b'{"schema": 1}', b'{"schema": "1"}', b'{"schema": 2}')
    for data in (b"", b"{}", b"[]", b"null", *schemas, b"\xff", b"[" * 10**5):
        path.write_bytes(data)
        assert str(path) in one_line(audit("intervene", "run", path))
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path, tmp_path / "nothing"):
        assert "cannot read" in one_line(audit("intervene", "run", place))


def test_a_plan_is_not_replaced(records, made):
    before = made.read_bytes()
    line = one_line(audit("intervene", "plan", records, "--backend", "simulated", "--out", made))
    assert "exists" in line
    assert made.read_bytes() == before
    with pytest.raises(AuditError, match="is not replaced"):
        write_plan(read_plan(made), made)


def test_a_dry_run_writes_nothing_and_prints_the_plan(records, tmp_path):
    out = tmp_path / "plan.json"
    result = audit(
        "intervene", "plan", records, "--backend", "simulated", "--out", out, "--dry-run", "--format", "json"
    )
    assert result.exit_code == 0
    assert [row["arm"] for row in json.loads(result.stdout)] == ["A0", "C", "E0", "S_w", "S_m", "S_b"]
    assert "go on with" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_is_set_is_in_the_plan(records, tmp_path):
    path = tmp_path / "plan.json"
    options = ("--units", 2, *CONTRASTS, "--arm", "XP=3", "--arm", "C=0", "--arm", "RW=1", "--arm", "RM=1", "--seed", 7)
    made = plan(records, path, *options, "--alpha", 0.1, "--personality", "label@0.5-silent")
    assert len(made.units) == 2
    assert made.arms == {"A0": 2, "N0": 6, "N0h": 6, "P1": 6, "XL": 6, "XP": 3, "RW": 1, "RM": 1}
    assert (made.seed, made.alpha, made.permutations, made.rollouts) == (7, 0.1, 99, 0)
    assert made.given == {"personality": "label@0.5-silent"}
    assert [(each.factor, each.arm, each.control) for each in made.family] == [
        ("label", "XL", "N0h"),
        ("position", "XP", "N0"),
        ("presence", "RW", "RM"),
    ]
    assert made.outcomes == ["edits", "text"]
    assert made.eligible == {"cartpole": sum(made.eligible.values())}


OPTIONS = {
    "unknown arm": (["--arm", "ZZ=2"], "unknown arm 'ZZ'; choose from A0, "),
    "no number": (["--arm", "XP"], "--arm XP: give the number of answers"),
    "a word for a number": (["--arm", "XP=many"], "--arm XP=many: give the number of answers"),
    "other digits": (["--arm", "XP=²"], "--arm XP=²: give the number of answers"),
    "too many": (["--arm", "XP=1001"], "--arm XP=1001: give the number of answers"),
    "no control": (["--arm", "XL=2"], "arm XL is compared with N0h, which is not asked; add --arm N0h=4"),
    "nothing left": ([*NO_SHARES, *arms("A0=0", "C=0")], "no arm"),
    "unknown preset": (["--preset", "huge"], "unknown preset 'huge'; choose from small, standard, presence, foreign"),
    "temperature": (["--temperature", "0"], "at temperature 0 there is one answer"),
    "personality": (["--personality", "nobody"], "unknown personality 'nobody'"),
    "units": (["--units", "0"], "--units: it should be greater than or equal to 1"),
    "seed": (["--seed", "-1"], "--seed: it should be greater than or equal to 0"),
    "rollouts": (["--rollouts", "1"], "--rollouts 1: one rollout has no standard error"),
    "alpha": (["--alpha", "nan"], "--alpha"),
    "spliced": (["--preset", "foreign", "--arm", "RW=1", "--arm", "RM=1"], "arms that need rollouts need another"),
    "fresh evidence": (
        ["--preset", "foreign", "--arm", "N0=1", "--arm", "P2=1"],
        "arms that need rollouts need another",
    ),
}


def test_wrong_options_are_refused_in_one_line_and_no_password_gets_into_a_plan(records, tmp_path):
    out = tmp_path / "plan.json"
    tiny = ("--backend", "ollama", "--model", "tiny:1b")
    cases = [(["--backend", "simulated", *options], reason) for options, reason in OPTIONS.values()]
    cases += [(["--backend", "nothing"], "nothing"), ([*tiny, "--personality", "salient"], "personality")]
    for address in ("http://me:secret@localhost:1", "http://localhost:1/v1?key=secret"):
        cases.append(([*tiny, "--base-url", address], "--base-url holds a password or a key"))
    for options, reason in cases:
        line = one_line(audit("intervene", "plan", records, "--out", out, *options), status=2)
        assert reason in line
        assert "secret" not in line
        assert not out.exists()


def test_where_nothing_is_eligible_the_reasons_are_listed(records, tmp_path):
    nim = recorded(tmp_path / "nim", "nim", runs=1)
    cases = {
        nim: "nothing to ask again: of 3 critics' prompts none is eligible (3: ",
        records: "none is eligible (",
        tmp_path / "nowhere": "no such folder",
    }
    for data, reason in cases.items():
        options = ["--longest", 10] if data == records else []
        out = tmp_path / "plan.json"
        line = one_line(audit("intervene", "plan", data, "--backend", "simulated", "--out", out, *options))
        assert reason in line
        assert not out.exists()


def test_units_are_counted_with_what_was_left_out(records, made, tmp_path):
    missing = tmp_path / "no" / "plan.json"
    result = audit("intervene", "plan", records, "--backend", "simulated", "--anyway", "--out", missing)
    assert "cannot write" in one_line(result)
    read = read_plan(made)
    left = sum(each.revisions for each in read.left_out)
    prompts = sum(len(lines(path)) for path in records.rglob("episodes.jsonl"))
    assert sum(read.eligible.values()) + left == prompts


def test_calls_come_in_one_random_order_that_does_not_depend_on_the_order_of_arms(made):
    read = read_plan(made)
    calls = read.calls()
    assert len(set(calls)) == len(calls)
    assert Counter(call.arm for call in calls) == {arm: each * len(read.units) for arm, each in read.arms.items()}
    assert calls != sorted(calls)
    half = len(calls) // 2
    assert {call.arm for call in calls[:half]} == {call.arm for call in calls[half:]} == set(read.arms)
    turned = msgspec.structs.replace(read, arms=dict(reversed(read.arms.items())))
    assert sorted(turned.calls()) == sorted(calls)
    seeds = [read.call_seed(call) for call in calls]
    assert seeds == [turned.call_seed(call) for call in calls]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_plan_data_and_answers_can_be_moved_together(records, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(records, home / "data")
    (home / "plans").mkdir()
    plan(home / "data", home / "plans" / "plan.json", "--units", 2, "--arm", "C=0")
    moved = shutil.move(home, tmp_path / "moved")
    path = moved / "plans" / "plan.json"
    assert read_plan(path).data == ["../data"]
    for command in ("run", "report"):
        result = audit("intervene", command, path)
        assert result.exit_code == 0, result.stderr


def test_a_plan_in_a_linked_folder_finds_its_data(records, tmp_path):
    real, data = tmp_path / "far" / "away" / "plans", shutil.copytree(records, tmp_path / "data")
    real.mkdir(parents=True)
    (tmp_path / "linked").symlink_to(real)
    (tmp_path / "records").symlink_to(data)
    path = tmp_path / "linked" / "plan.json"
    plan(tmp_path / "records", path, "--units", 2, "--arm", "C=0")
    (tmp_path / "plan-link.json").symlink_to(path)
    (tmp_path / "records").unlink()
    (tmp_path / "records").symlink_to(data)
    result = audit("intervene", "run", tmp_path / "plan-link.json")
    assert result.exit_code == 0, result.stderr
    assert answers_file(tmp_path / "plan-link.json") == answers_of(real / "plan.json")
    assert answers_of(real / "plan.json").exists()


def unpack(folder):
    with tarfile.open(RELEASED) as tar:
        tar.extractall(folder, filter="data")


@pytest.fixture(scope="module")
def released():
    if not RELEASED.exists():
        pytest.skip("no logs of the released code")
    return once.made("released-logs", unpack, of=())


def test_logs_of_the_released_code_are_spliced_and_cannot_be_made_again(released, tmp_path):
    out = tmp_path / "plan.json"
    made = audit("intervene", "plan", released, "--backend", "simulated", "--out", out, "--preset", "foreign")
    refused = audit("intervene", "plan", released, "--backend", "simulated", "--out", tmp_path / "other.json")
    assert "cannot be made again from the record" in one_line(refused)
    assert made.exit_code == 0, made.stderr
    read = read_plan(out)
    assert read.spliced
    assert read.eligible == {"cartpole": 5, "pong": 3}
    assert {each.reason for each in read.left_out} == {NOT_THREE, SAME}
    assert sum(each.revisions for each in read.left_out) == 3 * 96 - 8
    assert all(ARMS[arm].needs == "prompt" for arm in read.arms)
    assert asks_shares(read.arms)
    assert re.search(r"finds, with a chance of 80%, a label or place that [3-6]\d% of revisions follow", made.stderr)
    evidence, _ = units_of(read, out)
    assert all(each.prompt.dialect.id == "released" for each in evidence)
    for each in evidence:
        assert "the worst one" not in ask("XP", each, np.random.default_rng(0)).prompt
        steps = each.contents["worst"].text
        for arm in read.arms:
            asked = ask(arm, each, np.random.default_rng(0))
            assert len(asked.shown) == {"A0": 3, "C": 3, "E0": 0}.get(arm, 1)
            assert (steps in asked.prompt) == (arm in {"A0", "C", "S_w"})
        assert {ask("C", each, np.random.default_rng(seed)).frame for seed in range(40)} == set(NEUTRAL_FRAMES)


def test_a_plan_that_can_find_nothing_is_refused_unless_it_is_wanted_anyway(records, tmp_path):
    out = tmp_path / "plan.json"
    given = ("intervene", "plan", records, "--backend", "simulated", "--out", out, "--units", 1)
    # Two arrangements of one answer of each arm: no p below one half.
    few = [*NO_SHARES, *arms("A0=0", "C=0", "N0=1", "XP=1")]
    line = last_line(audit(*given, *few))
    assert "this plan can find nothing: the smallest p that its tests can have is 0.5, above 0.05" in line
    assert not out.exists()
    assert audit(*given, *few, "--anyway").exit_code == 0
    shares = arms("A0=0", "E0=0", "C=2", "S_w=2", "S_m=2", "S_b=2")
    noted = audit(*given, *shares, "--dry-run")
    assert noted.exit_code == 0
    assert "this plan can find nothing: " in noted.stderr


def test_what_a_plan_decides_is_as_often_right_as_it_says():
    """The error of a label's share, against its spread over experiments; half of it at four times the units."""
    units = planted(arms={}, units=24, runs=6).units
    asked = {"C": 8, "S_w": 6, "S_m": 6, "S_b": 6}
    found = decides(units, asked, [], alpha=0.05, permutations=499)
    more = decides([*units] * 4, asked, [], alpha=0.05, permutations=499)
    shares = [int(re.search(r"place that (\d+)% of revisions", each.sentence)[1]) for each in (found, more)]
    assert shares[0] == pytest.approx(2 * shares[1], abs=1)
    assert not found.nothing
    error = _share_error(24, asked)
    sets = [planted(arms=asked, units=24, runs=6, seed=seed) for seed in range(30)]
    spread = [followed(each, Redraws(1)).estimates.values[SHARES.index("called worst")] for each in sets]
    assert error == pytest.approx(np.std(spread), rel=0.6)


def units(number, runs):
    return Scores(number, runs, 0.25, 0).units


def test_each_preset_decides_something_and_says_so():
    said = {}
    for name, preset in PRESETS.items():
        found = decides(units(preset.units, 12), preset.arms, [], alpha=0.05, permutations=4_999)
        assert not found.nothing, name
        said[name] = int(re.search(r"(\d+)% of revisions follow", found.sentence)[1])
    # Shares above one half, as the smaller ones may; the larger of two asks for less.
    assert said["standard"] < said["small"] < 50
    assert said["presence"] < 85


def test_what_a_plan_of_replacements_decides_is_nothing_where_there_is_too_little():
    few = {"R0": 2, "RW": 2, "RM": 2, "RB": 2}
    found = decides(units(8, 4), few, [], alpha=0.05, permutations=4_999)
    assert found.nothing
    assert "fewer than 80% of such experiments find a rollout that all revisions follow" in found.sentence
    assert decides(units(40, 8), dict.fromkeys(few, 20), [], alpha=0.05, permutations=50).nothing
    assert decides(
        units(5, 5), dict.fromkeys(few, 40), [], alpha=0.05, permutations=4_999
    ).nothing  # 2 ** -5 > 0.05 / 3


def test_replacements_are_found_as_often_as_the_plan_reckons(monkeypatch):
    """In as many dimensions as the edits have that are drawn here."""
    monkeypatch.setattr(expected, "DIMENSIONS", scores.DIMENSIONS)
    asked = dict.fromkeys(("R0", "RW", "RM", "RB"), 8)
    chance = expected._presence_power(24, asked, 0.6, 0.05)
    found = 0
    for seed in range(30):
        edits = Scores(24, 12, 0.25, seed)
        critic = Critic((("worst content", 0.6),))
        answers = experiment(edits, critic, edits.units, asked, np.random.default_rng(seed))
        tests = beyond_each(presence_tests(answers, Redraws(199, seed)), Redraws(999, seed))
        found += holm([p for p, _ in tests.values()])[0] <= 0.05
    assert 0.3 < chance < 0.95
    assert found / 30 == pytest.approx(chance, abs=0.25)
