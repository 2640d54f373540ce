"""Over random data sets, edges included, the SQL says what the plain definitions say, row by row."""

from __future__ import annotations

import itertools
import math
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import audit
from audit.store import open_store
from tests.audit.models import plain_definitions as plain
from tests.audit.samples import THRESHOLDS, candidate, episode, write_run

PRESETS = tomllib.loads(Path(audit.__file__).with_name("vocabulary").joinpath("presets.toml").read_text())
TASKS = sorted(PRESETS.keys() - {"text"})
OWN = "juggling"
"""A task of somebody's own, whose runs bring their thresholds."""
VARIANTS = ("threetraj", "threetraj", "r2po", "reptraj", "alwayscritic", "puresearch", "actorsecondpass", "props")
CRITICS = {"threetraj": "three", "r2po": "median", "reptraj": "representative", "alwayscritic": "representative"}
ANSWERS = [
    "",
    "The worst rollout fell.",
    "THE WORST TRAJECTORY",
    "In the Worst\nRollout it fell",
    "worst\u202frollout, worst\xa0trajectory",
    "worst\u202frollout",
    "worst \t\r\n\x0b trajectory",
    "worst\u200brollout",
    "worst\x00rollout",
    "the worst rollouts",
    "worst-case rollout",
    "worstrollout",
    "the_worst rollout",
    "worst rollout_",
    "worst rollout2",
    "(worst rollout)",
    "worst of all: rollout 3",
    "the worsted trajectory",
    "w o r s t rollout",
    "wurst rollout",
    "最差 worst 迹",  # one letter more would be another language, which `test_languages.py` is about
    "'; drop table episodes; -- worst",
    "worst [rollout]",
    "worst " * 50 + "rollout",
    "wor\u0301st rollout",
    "it fell\n\nworst",
    "worst worst rollout",
]
SIZES = (0.0, 0.05, math.nextafter(0.05, 1), 0.1, 0.04, -0.05, -0.7, 5e-324)
"""By how much a parameter changes: starting from 0 it is this to the last bit."""


@st.composite
def runs(draw, number):
    """A run: every pair of a few lists of returns, with a few edits and answers in turn."""
    env = draw(st.sampled_from([*TASKS, OWN]))
    variant = draw(st.sampled_from(VARIANTS))
    own = env == OWN or draw(st.booleans())
    step_size = draw(st.sampled_from([1.0, None])) if env == OWN else 1.0
    policy = PRESETS[env]["policy"] if env != OWN else ("tabular" if step_size is None else "linear")
    thresholds = {**(THRESHOLDS if own else PRESETS[env]), "policy": policy}
    kinds = st.sampled_from([CRITICS.get(variant), "three", None])
    evidence = {"kind": kind, "shown": [], "statistics": None} if (kind := draw(kinds)) else None
    palette = st.sampled_from(values(thresholds))
    rollouts = draw(st.sampled_from([1, 2, 3, 3, 4, 5, 6]))
    constant = palette.map(lambda value: [value] * rollouts)
    mixed = st.lists(palette, min_size=rollouts, max_size=rollouts)
    returns = draw(st.lists(st.one_of(mixed, mixed, constant), min_size=2, max_size=4))
    # From one threshold by a delta that is just meaningful, and from above it.
    threshold = draw(st.sampled_from(values(thresholds)[:5]))
    steps = draw(st.sampled_from([(0, 1, 2), (0, -1, 9)]))
    returns += [[threshold + step * thresholds["meaningful"]] * rollouts for step in steps]
    counts = sorted({thresholds[name] + more for name in ("surgical_max", "multi_state_min") for more in (0, 1)})
    counts += [0, thresholds["redesign_min"] - 1, thresholds["redesign_min"]]
    size = thresholds["redesign_min"] + draw(st.integers(0, 2))
    edits = draw(st.lists(st.tuples(st.sampled_from(counts), st.sampled_from(SIZES), palette), min_size=1, max_size=5))
    answers = draw(st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=7))
    statuses = draw(st.lists(st.sampled_from(["ok", "ok", "ok", "unreadable"]), min_size=1, max_size=6))
    condition = draw(st.sampled_from(["hand", "50% of 'naïve'"]))
    episodes = [
        iteration(
            {"condition": condition, "env": env, "variant": variant, "run": number, "iteration": place},
            pair,
            (*edit, size),
            answer,
            status if variant in plain.TWO_CALLS else "none",
            evidence,
        )
        for place, (pair, edit, answer, status) in enumerate(
            zip(
                itertools.product(returns, repeat=2),
                itertools.cycle(edits),
                itertools.cycle(answers),
                itertools.cycle(statuses),
            )
        )
    ]
    facts = {"thresholds": THRESHOLDS if own else None, "step_size": step_size}
    return {"episodes": draw(st.permutations(episodes)), "facts": facts, "thresholds": thresholds}


def values(thresholds):
    """Returns on every threshold, a meaningful delta beside it, and a hair beside it."""
    t = thresholds
    on = [t["floor"], t["floor"] - t["near_zero"], t["floor"] + t["near_zero"], t["partial"], t["high"]]
    beside = [value + shift for value in on for shift in (-t["meaningful"], t["meaningful"], 9e-13, 1e-11)]
    hair = [math.nextafter(value, end) for value in on for end in (-math.inf, math.inf)]
    return [*on, *on, *beside, *hair, 0.0, -0.0, 1.0, 2.0, 3.0]


def iteration(identity, returns, edit, answer, status, evidence):
    count, change, base, size = edit
    # From 0 a change is exact to the last bit; from elsewhere it is rounded.
    before = [0.0 if index % 2 else base for index in range(size)]
    after = [value + change if index < count else value for index, value in enumerate(before)]
    first, second = ({"mean_return": each[0]} if len(set(each)) == 1 else {} for each in returns)
    initial = candidate(returns[0], before, answer="the worst rollout", **first)
    if status != "ok":
        return episode(initial, revision_status=status, evidence=evidence, **identity)
    source = "critic" if identity["variant"] in CRITICS else "search"
    revised = candidate(returns[1], after, source, answer, thinking="the worst rollout", **second)
    selected = "revised" if identity["variant"] == "alwayscritic" else None
    return episode(initial, revised, evidence=evidence, selected=selected, **identity)


DATA_SETS = st.integers(3, 8).flatmap(lambda count: st.tuples(*(runs(number) for number in range(1, count + 1))))


def same(found, wanted, place):
    """Floats may differ in the last bits where they are sums, whose terms may cancel out."""
    for key, value in wanted.items():
        if isinstance(value, float):
            assert found[key] == pytest.approx(value, rel=1e-12, abs=1e-9), (place, key)
        else:
            assert found[key] == value, (place, key)


def by_key(rows, *columns):
    found = {tuple(row[column] for column in columns): row for row in rows}
    assert len(found) == len(rows)
    return found


def assert_same(rows, wanted, *columns):
    found = by_key(rows, *columns)
    assert set(found) == set(wanted)
    for key, row in wanted.items():
        same(found[key], row, key)


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(DATA_SETS, st.sampled_from(["word", "phrase"]))
def test_every_relation_is_what_the_plain_definitions_say(tmp_path_factory, drawn, detector):
    folder = tmp_path_factory.mktemp("property")
    episodes = [each for run in drawn for each in run["episodes"]]
    thresholds = {each["run"]: run["thresholds"] for run in drawn for each in run["episodes"]}
    for number, run in enumerate(drawn):
        write_run(folder / str(number), run["episodes"], **run["facts"])
    revised = [each for each in episodes if each["revised"] is not None]
    details = [plain.details(each, thresholds[each["run"]], detector) for each in revised]
    with open_store([folder], detector=detector) as store:
        assert store.problems == []
        rows = by_key(store.rows("revisions"), *plain.IDENTITY)
        evidence = by_key(store.rows("evidence"), *plain.IDENTITY)
        starts = by_key(store.rows("start_bins"), *plain.IDENTITY)
        salience = by_key(store.rows("salience_criteria"), *plain.IDENTITY)
        patterns = by_key(store.rows("patterns"), *plain.IDENTITY)
        summaries = {
            name: store.rows(name)
            for name in ("summary", "runs", "salience", "base_rates", "agreement_summary", "patterns_summary")
        }
        degrees = store.rows("severity_summary")

    assert set(rows) == set(evidence) == set(starts) == set(map(plain.identity, revised))
    assert set(salience) == {key for key, row in rows.items() if row["strict"] is not None}
    for each, wanted in zip(revised, details, strict=True):
        key = plain.identity(each)
        distance = wanted.pop("l2_distance")
        assert rows[key].pop("l2_distance") == pytest.approx(distance, rel=1e-12, abs=1e-300), key
        # All others are one operation on recorded numbers, and agree to the last bit.
        assert rows[key] == wanted, key
        places = [evidence[key][f"{label}_rollout"] for label in ("worst", "median", "best")]
        assert places == list(plain.chosen(each["initial"]["returns"])), key
        assert starts[key]["start"] == plain.start(each, thresholds[each["run"]]), key
        assert patterns.get(key, {"pattern": None})["pattern"] == wanted["pattern"], key

    group = plain.IDENTITY[:3]
    assert_same(summaries["summary"], plain.summary(episodes, details), *group)
    assert_same(summaries["runs"], plain.runs(episodes), *plain.IDENTITY[:4])
    assert_same(summaries["agreement_summary"], plain.agreement(revised, details), *group, "structure")
    assert_same(summaries["patterns_summary"], plain.patterns(details), *group, "pattern")
    assert_same(degrees, plain.degrees(details), *group, "degree")
    wanted = plain.salience(details)
    for name in ("salience", "base_rates"):
        columns = set(summaries[name][0]) if summaries[name] else set()
        counts = {key: {column: row[column] for column in columns & set(row)} for key, row in wanted.items()}
        assert_same(summaries[name], counts, *group)
