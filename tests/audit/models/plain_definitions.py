"""The definitions of `docs/audit.md` once more, in plain Python over one record at a time.

Slow, and obviously right: no SQL, no regular expressions, no shared code with the audit.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict

IDENTITY = ("condition", "env", "variant", "run", "iteration")
SHARE = 1e-9
ABOVE_WORST = {"all_diverse", "preservation_favored"}
"""Structures in which the median rollout is above the worst."""
TWO_CALLS = {"threetraj", "r2po", "reptraj", "alwayscritic", "puresearch", "actorsecondpass"}


def identity(episode):
    return tuple(episode[key] for key in IDENTITY)


def delta(episode):
    return episode["revised"]["mean_return"] - episode["initial"]["mean_return"]


def rounding(episode):
    """Differences of returns that are none, where the run states no range of scores."""
    return SHARE * max(abs(episode[role]["mean_return"]) for role in ("initial", "revised"))


def direction(episode):
    difference, none = delta(episode), rounding(episode)
    if difference < -none:
        return "regression"
    return "improvement" if difference > none else "no_change"


def accepted(episode):
    return episode["selected"] == "revised"


def differences(episode):
    before, after = episode["initial"]["params"], episode["revised"]["params"]
    return [after[index] - before[index] for index in range(len(before))]


def changed(episode, policy):
    tolerance = {"linear": 0.05, "tabular": 0.0}[policy]
    return [index for index, difference in enumerate(differences(episode)) if abs(difference) > tolerance]


def chosen(returns):
    """Indices of the worst, the median and the best rollout; of equals the first."""
    middle = statistics.median(returns)
    indices = range(len(returns))
    worst = min(indices, key=lambda index: (returns[index], index))
    median = min(indices, key=lambda index: (abs(returns[index] - middle), index))
    best = min(indices, key=lambda index: (-returns[index], index))
    return worst, median, best


def is_below(one, other, episode):
    return other - one > rounding(episode)


def evidence(episode):
    returns = episode["initial"]["returns"]
    worst, median, best = (returns[index] for index in chosen(returns))
    structure = {
        (True, True): "all_diverse",
        (True, False): "preservation_favored",
        (False, True): "failure_confirmed",
        (False, False): "identical",
    }[is_below(worst, median, episode), is_below(median, best, episode)]
    severity = {"identical": None, "failure_confirmed": 0.0, "preservation_favored": 1.0}.get(
        structure, (median - worst) / ((best - worst) or 1)
    )
    return {"worst": worst, "median": median, "best": best, "structure": structure, "severity": severity}


def is_word_character(character):
    return character.isascii() and (character.isalnum() or character == "_")


def cites_phrase(text):
    """Whether "worst" stands as a word, with white space and then "rollout" or "trajectory" as a word behind it."""
    for start in range(len(text)):
        if not text.startswith("worst", start) or (start > 0 and is_word_character(text[start - 1])):
            continue
        behind = text[start + len("worst") :]
        following = behind.lstrip()
        for noun in ("rollout", "trajectory"):
            ends = following.startswith(noun) and not is_word_character((following + " ")[len(noun)])
            if ends and following != behind:
                return True
    return False


def references_worst(episode, detector):
    """Null where no critic answered."""
    if episode["revised"]["source"] != "critic":
        return None
    text = episode["revised"]["answer"].lower()
    return {"word": lambda: "worst" in text, "phrase": lambda: cites_phrase(text)}[detector]()


def saw_three(episode):
    kind = (episode["evidence"] or {}).get("kind")
    return kind == "three" if kind else episode["variant"] == "threetraj"


def criteria(episode, detector):
    """Strict and permissive; null where the critic did not see three rollouts, or there was none."""
    cited, seen = references_worst(episode, detector), evidence(episode)
    if cited is None or not saw_three(episode):
        return None, None
    regressed = direction(episode) == "regression"
    below_median = is_below(seen["worst"], seen["median"], episode)
    below_best = is_below(seen["worst"], seen["best"], episode)
    return regressed and below_median and cited, regressed and below_best and cited


def pattern(episode, thresholds):
    """The first row of the tables of edit patterns whose rule holds."""
    t = thresholds
    r0, change, edits = episode["initial"]["mean_return"], delta(episode), len(changed(episode, t["policy"]))
    at_floor = abs(r0 - t["floor"]) <= t["near_zero"]
    few, many, several = edits <= t["surgical_max"], edits >= t["redesign_min"], edits >= t["multi_state_min"]
    worse, better = change < -t["meaningful"], change > t["meaningful"]
    rules = {
        "regression": [
            ("pure_stochasticity", edits == 0),
            ("near_optimal_break", r0 > t["high"] and worse),
            ("surgical_backfire", r0 > t["partial"] and few and worse),
            ("full_redesign", at_floor and many),
            ("other_regression", True),
        ],
        "improvement": [
            ("fine_tune", r0 > t["high"] and few and better),
            ("pinpoint_fix", r0 > t["partial"] and few and better),
            ("history_guided_rescue", at_floor and many and better),
            ("targeted_multi_state_fix", r0 - t["floor"] > t["near_zero"] and several and better),
            ("other_improvement", True),
        ],
        "no_change": [(None, True)],
    }
    return next(name for name, holds in rules[direction(episode)] if holds)


def start(episode, thresholds):
    r0 = episode["initial"]["mean_return"]
    if abs(r0 - thresholds["floor"]) <= thresholds["near_zero"]:
        return "floor"
    if r0 <= thresholds["partial"]:
        return "low"
    return "partial" if r0 <= thresholds["high"] else "high"


def degree(severity):
    if severity is None:
        return "undefined"
    if severity in {0, 1}:
        return str(int(severity))
    upper = next(end for end in (0.25, 0.5, 0.75, 1) if severity <= end)
    return f"{upper - 0.25:g} to {upper:g}"


def details(episode, thresholds, detector):
    """A row of `revisions`."""
    edits = changed(episode, thresholds["policy"])
    strict, permissive = criteria(episode, detector)
    return {
        **{key: episode[key] for key in IDENTITY},
        "r0": episode["initial"]["mean_return"],
        "r1": episode["revised"]["mean_return"],
        "delta": delta(episode),
        "direction": direction(episode),
        "edit_distance": len(edits),
        "l2_distance": math.dist(episode["initial"]["params"], episode["revised"]["params"]),
        "max_change": max(abs(difference) for difference in differences(episode)),
        "changed": edits,
        "accepted": accepted(episode),
        "tau_c": None,  # of a method without the rule
        "restrained": None,
        # Of texts.
        **dict.fromkeys(("changed_components", "components", "edit_ratio", "token_change", "length_ratio")),
        **evidence(episode),
        "references_worst": references_worst(episode, detector),
        "cites": references_worst(episode, detector),
        "about": None if references_worst(episode, detector) is None else "worst",
        "strict": strict,
        "permissive": permissive,
        "pattern": pattern(episode, thresholds),
    }


def percent(part, whole):
    return 100 * part / whole if whole else None


def mean(values):
    return statistics.fmean(values) if values else None


def grouped(rows, *columns):
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return groups


def directions(rows):
    counts = Counter(row["direction"] for row in rows)
    return counts["regression"], counts["improvement"], counts["no_change"]


def runs(episodes):
    """Rows of `runs`, by condition, task, method and run."""
    result = {}
    for key, mine in grouped(episodes, *IDENTITY[:4]).items():
        kept = [each[each["selected"]]["mean_return"] for each in sorted(mine, key=lambda each: each["iteration"])]
        result[key] = {
            "iterations": len(kept),
            "mean_return": mean(kept),
            "best_return": max(kept),
            "final_return": kept[-1],
        }
    return result


def summary(episodes, rows):
    """Rows of `summary`, by condition, task and method, from all episodes and the details of the revisions."""
    revisions = grouped(rows, *IDENTITY[:3])
    result = {}
    for key, mine in grouped(episodes, *IDENTITY[:3]).items():
        here = revisions.get(key, [])
        regressions, improvements, no_change = directions(here)
        kept = sum(row["accepted"] for row in here)
        result[key] = {
            "runs": len({each["run"] for each in mine}),
            "revisions": len(here),
            "mean_delta": mean([row["delta"] for row in here]),
            "mean_edit_distance": mean([row["edit_distance"] for row in here]),
            "accepted": kept,
            "accepted_pct": percent(kept, len(here)),
            "regressions": regressions,
            "regressions_pct": percent(regressions, len(here)),
            "improvements": improvements,
            "no_change": no_change,
        }
    return result


def salience(rows):
    """The counts of `salience` and `base_rates`, from the details of revisions whose critic saw three."""
    result = {}
    for key, mine in grouped([row for row in rows if row["strict"] is not None], *IDENTITY[:3]).items():
        regressions, improvements, no_change = directions(mine)
        regressed = [row for row in mine if row["direction"] == "regression"]
        citing = [row for row in mine if row["references_worst"]]
        others = [row for row in mine if not row["references_worst"]]
        cited = Counter(row["direction"] for row in citing)
        strict, permissive = (sum(row[name] for row in mine) for name in ("strict", "permissive"))
        result[key] = {
            "revisions": len(mine),
            "regressions": regressions,
            "regressions_pct": percent(regressions, len(mine)),
            "improvements": improvements,
            "no_change": no_change,
            "strict": strict,
            "strict_pct": percent(strict, regressions),
            "permissive": permissive,
            "permissive_pct": percent(permissive, regressions),
            "worst_below_median": sum(row["structure"] in ABOVE_WORST for row in regressed),
            "worst_below_best": sum(row["structure"] != "identical" for row in regressed),
            "citing_regressions": cited["regression"],
            "citing_improvements": cited["improvement"],
            "citing_no_change": cited["no_change"],
            "citing_regressions_pct": percent(cited["regression"], regressions),
            "citing_improvements_pct": percent(cited["improvement"], improvements),
            "citing_no_change_pct": percent(cited["no_change"], no_change),
            "regressions_citing_pct": percent(directions(citing)[0], len(citing)),
            "regressions_not_citing_pct": percent(directions(others)[0], len(others)),
        }
    return result


def agreement(episodes, rows):
    """Rows of `agreement_summary`, whether a critic answered or not."""
    three = {identity(episode) for episode in episodes if saw_three(episode)}
    shown = [row for row in rows if tuple(row[key] for key in IDENTITY) in three]
    return {
        key: {"revisions": len(mine), "mean_delta": mean([row["delta"] for row in mine])}
        for key, mine in grouped(shown, *IDENTITY[:3], "structure").items()
    }


def patterns(rows):
    """Rows of `patterns_summary`; percentages are of all revisions."""
    everything = Counter(tuple(row[key] for key in IDENTITY[:3]) for row in rows)
    named = [row for row in rows if row["pattern"] is not None]
    return {
        key: {"revisions": len(mine), "pct": percent(len(mine), everything[key[:3]])}
        for key, mine in grouped(named, *IDENTITY[:3], "pattern").items()
    }


def degrees(rows):
    """The counts of `severity_summary`."""
    seen = [{**row, "degree": degree(row["severity"])} for row in rows if row["strict"] is not None]
    return {
        key: {
            "revisions": len(mine),
            "citing": sum(row["references_worst"] for row in mine),
            "regressions": directions(mine)[0],
            "citing_regressions": sum(row["references_worst"] and row["direction"] == "regression" for row in mine),
            "mean_delta": mean([row["delta"] for row in mine]),
        }
        for key, mine in grouped(seen, *IDENTITY[:3], "degree").items()
    }
