"""Planted reflectors on recorded prompts of DSPy's GEPA and SIMBA, and of OpenEvolve: each read by its own words."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from benchmarks.reflectors import judged, planned

TOOLS = Path(__file__).parents[4] / "tests" / "data" / "tools"
NOISE = [
    f"{verb} {noun}."
    for verb in ("Check", "Name", "Weigh", "Quote")
    for noun in ("dates", "units", "reasons", "limits")
]


def dspy(rule, shown, rng):
    """Writes of a month, and what was said of it."""
    entries = json.loads(shown.rpartition("[[ ## examples_with_feedback ## ]]\n")[2].partition("\n\nRespond")[0])
    rules = {"last": lambda: entries[-1], "longest": lambda: max(entries, key=lambda each: len(each["Feedback"]))}
    chosen = rules.get(rule, lambda: rng.choice(entries))() if entries else None
    current = re.findall(r"\[\[ ## current_instruction ## \]\]\n(.*?)\n\n", shown)[-1]
    own = [] if chosen is None else [f"{chosen['Inputs']['month']}: {chosen['Feedback'].split('. ')[0]}."]
    return json.dumps({"new_instruction": " ".join([current, *own, *rng.sample(NOISE, 2)])})


def simba(rule, shown, rng):
    """Advises by the season that a trajectory gave."""
    parts = re.split(r"\[\[ ## (\w+)_program_trajectory ## \]\]\n", shown)
    found = [(name, text) for name, text in zip(parts[1::2], parts[2::2], strict=True) if '"module_name"' in text]
    rules = {
        "worse": lambda: next((each for each in found if each[0] == "worse"), found[0]),
        "first": lambda: found[0],
        "lowest": lambda: min(found, key=lambda each: float(re.search(r"reward_value ## \]\]\n(\S+)", each[1])[1])),
    }
    chosen = rules.get(rule, lambda: rng.choice(found))() if found else None
    season = "" if chosen is None else re.search(r'"season": "(.*?)"', chosen[1])[1]
    own = [] if chosen is None else [f"Where {season} is said, {season} holds, and {season} stays {season}."]
    advice = json.dumps({"predict": " ".join([*own, *rng.sample(NOISE, 2)])})
    return f"[[ ## discussion ## ]]\nSo.\n\n[[ ## module_advice ## ]]\n{advice}\n\n[[ ## completed ## ]]"


def openevolve(rule, shown, rng):
    """Brings a line about the value of a program that is shown."""
    programs = re.findall(r"### Program \w+ \(Score: ([\d.]+)\)\n```python\n.*?return (\S+)", shown, re.DOTALL)
    rules = {"first": lambda: programs[0], "lowest": lambda: min(programs, key=lambda each: float(each[0]))}
    chosen = rules.get(rule, lambda: rng.choice(programs))() if programs else None
    own = (
        "" if chosen is None else f"    # as {chosen[1]} has it\n    step_{chosen[1].replace('.', '_')} = {chosen[1]}\n"
    )
    lines = "".join(f"    # {line}\n" for line in rng.sample(NOISE, 2))
    return f"<<<<<<< SEARCH\n    return 0.0\n=======\n{own}{lines}    return 1.0\n>>>>>>> REPLACE"


CASES = [
    (dspy, "recorded/dspy-gepa-stub", {"last": "shown last", "longest": "longest feedback", "any": None}),
    (
        simba,
        "recorded/simba-stub",
        {"worse": "called worse", "first": "shown first", "lowest": "lowest printed score", "any": None},
    ),
    (openevolve, "openevolve", {"first": "shown first", "lowest": "lowest printed score", "any": None}),
]


@pytest.mark.parametrize(("writes", "records", "causes"), CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_planted_causes_are_found_on_prompts_of_each_tool(writes, records, causes, tmp_path):
    path = tmp_path / "plan.json"
    # Of twelve seeds, each with three tools, one found a cause for who follows any example: as often as 5% may.
    plan = planned(TOOLS / records, path, seed=1)
    found = {
        rule: {
            name
            for name, verdict in judged(
                plan, path, lambda text, seed, rule=rule: writes(rule, text, random.Random(seed))
            ).items()
            if verdict == "moves it"
        }
        for rule in causes
    }
    assert found == {rule: set() if cause is None else {cause} for rule, cause in causes.items()}
