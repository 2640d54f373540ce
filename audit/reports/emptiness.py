"""Why a table has no rows, or not all that a reader may look for, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from audit.output.errors import count

if TYPE_CHECKING:
    from audit.options import Options
    from audit.store import Store

NOTHING: Final = "nothing to show: no such rows in the records"
CITING: Final = ("salience", "base_rates", "severity_summary", "noise_summary", "controls")
"""Relations with counts of answers that cite."""
COMPARED: Final = ("salience", "base_rates", "severity_summary", "agreement_summary")
"""Relations over critics that compared rollouts or scored examples."""

_NOT_COMPARED: Final = "no revisions of threetraj here, or of another method whose critic sees worst, median and best"
_PROGRAMS: Final = (
    "the models here saw other candidates, each with a score, and not scored examples of one: salience is not defined, "
    "and no rate of citing; audit positions tells which of them are cited, by place and by score"
)
_UNANSWERED: Final = (
    "these logs hold no answers of the model, so what they cite is not known; a recorder keeps answers "
    "(docs/optimizers.md), and agreement, patterns and noise do without"
)
_NO_RATIONALE: Final = "no answer holds anything besides the text that it proposes, so none can cite anything"

_HELD: Final = """
select
    count(*) filter (where evidence_kind in ('batch', 'pair') and len(shown) > 1) as batches,
    count(*) filter (where evidence_kind = 'programs') as programs
from episodes
where revised.source is not null
"""
_ANSWERED: Final = """
select 1 from episodes join run_facts using (condition, env, variant, run)
where revised.source = 'critic' and (revised.answer is not null or source = 'recorded')
limit 1
"""
"""An answer is recorded. DSPy's, which have nothing beside the text, are in `calls.jsonl` alone."""


def are_texts(options: Options, store: Store) -> bool:
    """Whether the candidates of all selected runs are texts."""
    runs = options.select(store.relation("run_records"))
    return runs.select("candidates").distinct().fetchall() == [("text",)]


def no_patterns(options: Options, store: Store) -> str | None:
    """Which runs of texts have no edit patterns, and why; None where all have some."""
    if not options.select(store.relation("run_records")).filter("candidates = 'text'").limit(1).fetchall():
        return None
    found = options.select(store.relation("unscaled_runs")).aggregate("count(*), min(lowest), max(highest)")
    [(number, lowest, highest)] = found.fetchall()
    if not number:
        return None
    return (
        f"no edit patterns of {count(number, 'run')}: scores from {lowest:g} to {highest:g}, no score_range in run.json"
    )


def unread(name: str, options: Options, store: Store) -> str | None:
    """How many answers are in no rate, not being in English; None where there are none, or citing is not counted."""
    if name not in CITING:
        return None
    counts = options.select(store.relation("unread_answers")).aggregate("sum(unread), sum(answers)")
    [(number, answers)] = counts.fetchall()
    if not number:
        return None
    return (
        f"{number} of {count(answers, 'answer')} are not in English, which the detector {store.detected_by.name} does "
        "not read: they count in no rate of citing"
    )


def why_empty(name: str, options: Options, store: Store) -> str:
    """Why no row of a relation is selected."""
    if name == "patterns_summary" and (reason := no_patterns(options, store)) is not None:
        return reason
    if name in COMPARED and are_texts(options, store) and (reason := _without_comparison(store)) is not None:
        return reason
    if not store.detected_by.about.is_worst and not store.relation("asked_items").limit(1).fetchall():
        return f"no evidence here has {store.detected_by.about}"
    return _NOT_COMPARED if name in COMPARED else NOTHING


def _without_comparison(store: Store) -> str | None:
    """Why texts have no rates of citing: what was shown or answered is something else; None if neither is."""
    [(batches, programs)] = store.sql(_HELD).fetchall()
    if not batches:
        return _PROGRAMS if programs else "no model here saw two scored examples or more"
    if store.relation("critic_answers").limit(1).fetchall():
        return None
    return _NO_RATIONALE if store.sql(_ANSWERED).fetchall() else _UNANSWERED
