"""What readers of results on texts should know: which revisions are in no rate, and why, in sentences with counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from audit.options import Options
from audit.output.errors import count
from audit.output.escaping import in_line
from audit.sources.formats import REMARKS
from audit.store import Store, rows_of

FEWEST_FOR_NOISE: Final = 5
"""Examples from which on a revision can be beyond noise: fewer have no p below 1/16."""

_COUNTS: Final = """
with
texts as (select condition, env, variant, run from run_records where candidates = 'text'),
counted as (
    select
        condition, env, variant,
        count(*) as revisions,
        count(episodes.answer) as answers,
        count(*) filter (where answers.answer is not null) as rationales,
        count(*) filter (is_foreign(answers.answer)) as foreign,
        count(*) filter (where evidence_kind in ('batch', 'pair') and items > 1) as batches,
        count(*) filter (where evidence_kind in ('batch', 'pair') and items > 1 and not worst_below_median) as tied,
        count(*) filter (where evidence_kind in ('batch', 'pair') and items = 1) as single,
        count(*) filter (where evidence_kind = 'programs') as programs,
        count(*) filter (where not paired) as unpaired,
        max(if(paired, len(initial.returns), null)) as paired_examples
    from changes
    semi join texts using (condition, env, variant, run)
    join (select condition, env, variant, run, iteration, initial, revised.answer as answer from episodes) as episodes
        using (condition, env, variant, run, iteration)
    left join evidence using (condition, env, variant, run, iteration)
    left join (select condition, env, variant, run, iteration, answer from critic_answers) as answers
        using (condition, env, variant, run, iteration)
    group by all
),
scores as (
    select condition, env, variant, min(lowest) as lowest, max(highest) as highest
    from unscaled_runs
    group by all
)
select * from counted left join scores using (condition, env, variant) order by condition, env, variant
"""


_FAILURES: Final = """
select
    condition, env, variant, count(error) as failed, count(*) as iterations, arg_min(error, (run, iteration)) as first
from episodes
group by all
having failed > 0
order by condition, env, variant
"""
LONGEST_ERROR: Final = 100
"""Characters that are shown of an error."""


def remarks(options: Options, store: Store) -> Iterator[str]:
    """Sentences about the runs whose candidates are texts, and about the sources of all; none where there are none."""
    runs = options.select(store.relation("run_records"))
    for (source,) in runs.select("source").distinct().order("source").fetchall():
        yield from (f"{source}: {sentence.removesuffix('.')}" for sentence in REMARKS.get(source, ()))
    if not runs.filter("candidates = 'text'").limit(1).fetchall():
        return
    for row in rows_of(options.select(store.sql(_FAILURES))):
        first = in_line(row["first"][:LONGEST_ERROR])
        failed = f"the reflection failed in {row['failed']} of {count(row['iterations'], 'iteration')}"
        yield f"{_group(row)}: {failed}, first with: {first}"
    for row in rows_of(options.select(store.sql(_COUNTS))):
        yield from (f"{_group(row)}: {sentence}" for sentence in _sentences(row))


def _group(row: dict[str, Any]) -> str:
    return f"{row['condition']} {row['env']} {row['variant']}"


def _sentences(row: dict[str, Any]) -> Iterator[str]:
    revisions = count(row["revisions"], "revision")
    if unanswered := row["revisions"] - row["answers"]:
        yield f"{unanswered} of {revisions} have no answer recorded, and count in no citing rate"
    if without := row["answers"] - row["rationales"]:
        yield f"{without} of {revisions} have no rationale beside the text, and count in no citing rate"
    if row["foreign"]:
        rationales = count(row["rationales"], "rationale")
        what = "hold no common English word, or hardly any: what they cite is not known"
        yield f"{row['foreign']} of {rationales} {what}"
    if row["tied"]:
        batches = count(row["batches"], "set")
        tied = f"in {row['tied']} of {batches} of items"
        yield f"{tied} the worst score is not below the sample median: strict cannot hold"
    if row["single"]:
        yield f"{row['single']} of {revisions} were shown a single item, so none is the worst"
    if row["programs"]:
        other = "saw other candidates, not items of one: salience is not defined there (see audit positions)"
        yield f"{row['programs']} of {revisions} {other}"
    if row["unpaired"]:
        yield f"{row['unpaired']} of {revisions} are not known to be scored on the examples of the initial candidate"
    if row["paired_examples"] is not None and row["paired_examples"] < FEWEST_FOR_NOISE:
        examples = count(row["paired_examples"], "example")
        yield f"with {examples} a candidate at most, no paired revision can be beyond noise (p <= 0.05)"
    if row["lowest"] is not None:
        scores = f"scores from {row['lowest']:g} to {row['highest']:g}"
        yield f"{scores} and no score_range in run.json: there are no edit patterns"
