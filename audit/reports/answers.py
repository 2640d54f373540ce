"""The answer first: whether citing the worst rollout goes with regressing, a paragraph for each task and method.

`audit salience`, the page of figures and the viewer's overview all have their sentences from here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from audit.detectors.about import parse_about
from audit.models.sql_text import literal
from audit.output.cells import short
from audit.output.errors import count
from audit.output.names import METHODS, TASKS
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.store import Store

Row = Mapping[str, Any]
Cell = tuple[str, str, str]

BATCH: Final = 5_000
"""Regressions that are tested at once."""
LEVEL: Final = 0.05
"""The largest p-value of a regression that is beyond chance, as in the relation `noise_summary`."""
_COUNTED: Final = "direction = 'regression' and coalesce(strict, cites) and (condition, env, variant) in ({})"
"""The regressions whose number is stated: strict ones, or where another item is asked about, those that cite it."""


def answers(rows: Sequence[Row], store: Store, *, of_texts: bool) -> list[str]:
    """A paragraph of four sentences for each row: the gap, salience problems, those beyond chance, the evidence.

    Args:
        rows: of the relation `salience`.
        store: whose relation it is. Only the regressions that are counted as salience problems are tested for chance.
        of_texts: whether all candidates are texts, whose rollouts are called examples.
    """
    if not rows:
        return []
    several = len({row["condition"] for row in rows}) > 1
    tests = _tests(rows, store)
    every = {_cell(row): row["revisions"] for row in store.rows("summary")}
    paragraphs = []
    for row in rows:
        cell = _cell(row)
        tested = [tests[cell, outcome] for outcome in (True, False, None)]
        sentences = (_citing(row), _problems(row), _beyond(row, *tested), _evidence(row, every.get(cell, 0)))
        text = " ".join(sentences)
        text = text.replace("rollout", "example").replace("returns", "scores") if of_texts else text
        paragraphs.append(f"{_head(row, several)}: {text}")
    return paragraphs


def _cell(row: Row) -> Cell:
    return row["condition"], row["env"], row["variant"]


def _head(row: Row, several: bool) -> str:
    names = [TASKS.get(row["env"], row["env"]), METHODS.get(row["variant"], row["variant"])]
    named = [*names, f"detector {row['detector']}", *([f"condition {row['condition']}"] if several else [])]
    return ", ".join(map(short, named))


def _tests(rows: Sequence[Row], store: Store) -> Counter[tuple[Cell, bool | None]]:
    """How many of the counted regressions are beyond chance, are not, and cannot be tested (None)."""
    from audit.models.regressions import no_change_tests

    cells = ", ".join(f"({', '.join(map(literal, _cell(row)))})" for row in rows)
    counted = store.relation("salience_criteria").filter(_COUNTED.format(cells)).select(*RevisionKey._fields)
    relation = counted.join(store.relation("revision_returns"), ", ".join(RevisionKey._fields))
    found = relation.select("condition, env, variant, before, after, same_examples").iter_rows()
    tests: Counter[tuple[Cell, bool | None]] = Counter()
    while batch := list(islice(found, BATCH)):
        conditions, envs, variants, *returns = zip(*batch, strict=True)
        for cell, test in zip(zip(conditions, envs, variants, strict=True), no_change_tests(*returns), strict=True):
            p = test["p_no_change"]
            tests[cell, None if p is None else p <= LEVEL] += 1
    return tests


def _citing(row: Row) -> str:
    """Whether citing goes with regressing."""
    thing = str(parse_about(row["about"]))
    revisions, gap, ratio = row["revisions"], row["gap"], row["risk_ratio"]
    if not row["regressions"]:
        return f"Citing {thing} cannot go with regressing: 0 of {count(revisions, 'revision')} regressed."
    if gap is None:
        shares = [row[f"citing_{name}_pct"] for name in ("regressions", "improvements", "no_change")]
        number = revisions if any(shares) else 0
        always = "always" if number else "never"
        return f"Citing {thing} cannot be compared with not citing it: answers {always} do ({number} of {revisions})."
    low, high = row["gap_low"], row["gap_high"]
    if low is None or "gap" in row["rough"]:
        verdict = "is not known to go with regressing"
    elif low <= 0 <= high:
        verdict = "is not shown to go with regressing"
    else:
        verdict = f"goes with {'more' if gap > 0 else 'fewer'} regressions"
    size = f"{_number(abs(gap))} percentage points {'more' if gap > 0 else 'less'} often than" if gap else "as often as"
    risk = "no finite risk ratio" if ratio is None else f"risk ratio {ratio:.2f}"
    runs = f" over {row['runs']} runs" if row["runs"] > 1 else ""
    return (
        f"Citing {thing} {verdict}: revisions that cite it regress {size} the others "
        f"({_interval(row, 'gap')}{runs}; {risk})."
    )


def _problems(row: Row) -> str:
    """How many regressions are salience problems."""
    regressions = count(row["regressions"], "regression")
    if not row["regressions"]:
        return "Salience problems are regressions by definition, and there are none."
    if row["strict"] is None:
        share = row["citing_regressions_pct"]
        citing = f"{round(share * row['regressions'] / 100)} of {regressions} cite {parse_about(row['about'])}"
        return f"Salience problems are defined for the worst rollout alone; {citing} ({_number(share)}%)."
    if not row["worst_below_best"]:
        return f"Salience problems are ruled out: the worst rollout is below the best one in 0 of {regressions}."
    if not row["worst_below_median"]:
        tie = f"as the worst rollout is below the median one in 0 of {regressions}"
        permissive = f"by the permissive one they are {row['permissive']} {_share(row, 'permissive')}"
        return f"Salience problems by the strict criterion are ruled out, {tie}; {permissive}."
    return (
        f"Of {regressions} {row['strict']} are salience problems by the strict criterion {_share(row, 'strict')} and "
        f"{row['permissive']} by the permissive one {_share(row, 'permissive')}."
    )


def _share(row: Row, name: str) -> str:
    return f"({_number(row[f'{name}_pct'])}%, {_interval(row, name)})"


def _beyond(row: Row, beyond: int, within: int, untested: int) -> str:
    """How many of them are beyond chance."""
    tested = beyond + within
    is_worst = row["strict"] is not None
    those = "strict salience problems" if is_worst else f"regressions whose answers cite {parse_about(row['about'])}"
    if not tested + untested:
        return f"There are no {those}, so none can be beyond chance."
    if not tested:
        return f"The {untested} {those} cannot be told from chance, as they lack single returns to compare."
    left = f"; {untested} more cannot be tested" if untested else ""
    return f"{those[0].upper()}{those[1:]} beyond chance: {beyond} of {tested} (permutation test, p ≤ {LEVEL}{left})."


def _evidence(row: Row, every: int) -> str:
    """On how many runs all of this rests."""
    from audit.measures.cluster_robust import are_few

    runs, revisions = row["runs"], row["revisions"]
    is_few = are_few(runs) or bool({"gap", "strict"} & set(row["rough"]))
    rest = every - revisions
    of = f"{revisions} of {count(every, 'revision')}" if rest > 0 else count(revisions, "revision")
    left = "; the other revisions have no readable answer, or rollouts of equal returns" if rest > 0 else ""
    return f"The evidence is {of} in {count(runs, 'run')}{': too few to rely on' if is_few else ''}{left}."


def _interval(row: Row, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None:
        return "no interval from 1 run" if row["runs"] == 1 else "no interval, as no two runs differ"
    return f"{'rough ' if name in row['rough'] else ''}95% interval {_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    """A number with one decimal, unless it would be taken for 0 then; with a true minus."""
    text = f"{value:.1f}"
    if not re.search("[1-9]", text):
        text = f"{value:.1g}" if value else "0"
    return text.replace("-", "−")
