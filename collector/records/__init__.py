"""The raw records of a run: what is written, field by field.

One folder per run holds `run.json` (what the run is), `episodes.jsonl` (one line per finished iteration),
`calls.jsonl` (one line per model call) and, where there are any, `skipped.jsonl` (one line per iteration that proposed
nothing). `docs/records.md` is the reference for people; this package is the
reference for programs. Unknown fields are ignored on reading, so that newer writers stay readable; a higher
`schema` is refused.
"""

from __future__ import annotations

from collector.records.fields import (
    SCHEMA,
    TEXT_SCHEMA,
    CandidateKind,
    Commits,
    Count,
    Ending,
    EvidenceKind,
    FirstCall,
    ItemLabel,
    Number,
    Proposer,
    RevisionStatus,
    RolloutLabel,
    SecondCall,
    Seed,
    Selected,
    SelectionRule,
    Source,
    TrueDriver,
    check_seeds,
)
from collector.records.iterations import (
    Acceptance,
    Answers,
    Call,
    Candidate,
    Episode,
    Evidence,
    Range,
    Shown,
    Skipped,
    Statistics,
    Truth,
)
from collector.records.lineage import PoolMember
from collector.records.lines import LONGEST_LINE, RecordError, decode, decode_canonical, decode_run, encode
from collector.records.messages import Said, are_parts, is_thinking, read_message, words_in
from collector.records.runs import MethodFacts, Run, TauRule, Thresholds, WarmupTrial
from collector.records.texts import ShownItem, ShownItems, TextCandidate, TextEpisode
from collector.records.thinking import split_thinking
