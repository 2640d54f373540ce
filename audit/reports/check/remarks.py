"""What readers of results on texts should know: which revisions are in no rate, and why, in sentences with counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from audit.output.errors import count
from audit.request import Request
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
        -- Of rationales that are long enough for an English one to have a word of these.
        count(*) filter (len(string_split(answers.answer, ' ')) >= 8) as readable,
        count(*) filter (
            len(string_split(answers.answer, ' ')) >= 8
            and not regexp_matches(answers.answer, '(?i)\\b(?:the|is|are|and|of|to|it|because|not)\\b')
        ) as foreign,
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


def remarks(request: Request, store: Store) -> Iterator[str]:
    """Sentences about the runs whose candidates are texts, and about the sources of all; none where there are none."""
    runs = request.select(store.relation("run_records"))
    for (source,) in runs.select("source").distinct().order("source").fetchall():
        yield from (f"{source}: {sentence.removesuffix('.')}" for sentence in REMARKS.get(source, ()))
    if not runs.filter("candidates = 'text'").limit(1).fetchall():
        return
    for row in rows_of(request.select(store.sql(_COUNTS))):
        group = f"{row['condition']} {row['env']} {row['variant']}"
        yield from (f"{group}: {sentence}" for sentence in _sentences(row))


def _sentences(row: dict[str, Any]) -> Iterator[str]:
    revisions = count(row["revisions"], "revision")
    if unanswered := row["revisions"] - row["answers"]:
        yield f"{unanswered} of {revisions} have no answer recorded, and count in no citing rate"
    if without := row["answers"] - row["rationales"]:
        yield f"{without} of {revisions} have no rationale beside the text, and count in no citing rate"
    if 2 * row["foreign"] > row["readable"]:
        readable = count(row["readable"], "rationale")
        yield f"{row['foreign']} of {readable} hold no common English word: what they cite is not found"
    if row["tied"]:
        batches = count(row["batches"], "set")
        yield f"in {row['tied']} of {batches} of items the worst is not below the median: strict cannot hold"
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
