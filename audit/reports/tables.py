"""The results that are one relation each, with the titles and columns of their tables for people."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from audit.marks.marks import Mark, marks_for
from audit.models.sql_text import literal, one_of
from audit.options import Classification, Data, Detection, RevisionSelection, RunSelection, Selection, options_of
from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line
from audit.output.rows import Table
from audit.reports.answers import answers
from audit.reports.emptiness import are_texts, no_patterns, unread, why_empty
from audit.reports.relation_rows import RelationRows
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb

    from audit.options import Options
    from audit.store import Store

TITLES: Final = {
    "summary": "Revisions",
    "salience": "Salience-problem regressions, detector {detector} (% of regressions; regressions: % of revisions)",
    "base_rates": "How often answers cite {about}, detector {detector}",
    "noise_summary": "Regressions, and how many chance alone would produce (beyond noise: p <= 0.05)",
    "controls": "Regressions compared with PureSearch's from equally good starts (percentages are of revisions)",
    "severity_summary": "How far the worst rollout stands out, and how often answers cite {cited}, detector {detector}",
    "agreement_summary": "Agreement of the worst, median and best rollout",
    "patterns_summary": "Edit patterns (percentages are of revisions)",
    "revisions": "Revisions",
    "runs": "Runs",
    "positions": "Which of the items shown are cited or imitated, by place and by score",
}

ESSENTIAL: Final = {
    "salience": [
        *("condition", "env", "variant", "revisions", "regressions", "strict", "risk_ratio", "permissive"),
        *("citing_regressions_pct", "citing_improvements_pct", "citing_no_change_pct"),
    ],
    "noise_summary": [
        *("condition", "env", "variant", "revisions", "regressions", "expected_pooled"),
        *("beyond_noise", "strict", "strict_beyond_noise", "expected_regressions"),
    ],
    "controls": [
        *("condition", "env", "variant", "start", "regressions", "control_regressions", "difference_pct"),
    ],
    "severity_summary": [
        *("condition", "env", "variant", "degree", "revisions", "citing", "regressions"),
        *("regressions_citing_pct", "regressions_not_citing_pct", "mean_delta"),
    ],
    "base_rates": [
        *("condition", "env", "variant", "runs", "citing_regressions", "citing_improvements", "citing_no_change"),
        *("regressions_citing_pct", "regressions_not_citing_pct", "risk_ratio", "holm_p"),
    ],
    "revisions": [
        *("condition", "env", "variant", "run", "iteration", "r0", "r1", "delta"),
        *("edit_distance", "references_worst", "strict", "pattern"),
    ],
    "positions": [
        *("condition", "env", "variant", "outcome", "aspect", "factor", "runs", "revisions"),
        *("mean_with", "mean_without", "effect", "effect_low", "effect_high", "holm_p"),
    ],
}
"""Columns shown in tables for people and papers, in the order of importance, where all would be too many."""

OF_TEXTS: Final = {
    "summary": [
        *("condition", "env", "variant", "runs", "revisions", "mean_delta", "accepted", "regressions", "improvements"),
        "no_change",
    ],
    "salience": [
        *("condition", "env", "variant", "revisions", "regressions"),
        *("worst_below_median", "strict_untied_pct", "worst_below_best", "permissive_untied_pct"),
        *("citing_regressions_pct", "citing_improvements_pct", "risk_ratio", "citing_no_change_pct"),
    ],
    "noise_summary": [
        *("condition", "env", "variant", "revisions", "tested", "regressions", "expected_pooled"),
        *("beyond_noise", "strict", "strict_beyond_noise"),
    ],
    "revisions": [
        *("condition", "env", "variant", "run", "iteration", "r0", "r1", "delta"),
        *("changed_components", "edit_ratio", "references_worst", "strict", "pattern"),
    ],
}
"""The same where all candidates are texts."""

HEADINGS: Final = {
    "citing_regressions_pct": "citing regr. %",
    "citing_improvements_pct": "citing impr. %",
    "citing_no_change_pct": "citing same %",
    "regressions_citing_pct": "regr. if citing %",
    "regressions_not_citing_pct": "regr. if not %",
    "strict_untied_pct": "strict % of these",
    "permissive_untied_pct": "permissive % of these",
}
"""Headings of columns in tables for people, where names are too long."""

NO_CONTROL: Final = (
    "no puresearch beside these methods, under the same condition and task: there is nothing to compare them with"
)
MATCHED: Final = (
    "In matched the control's percentage is the mean of those by start, weighted with how many of the method's "
    "revisions start there."
)


def summary(data: Data, **keywords: Unpack[Selection]) -> Table:
    """How revisions turned out: deltas, edit distances, acceptance, directions.

    Example: audit summary logs/ data/runs --format markdown
    """
    return relation_table("summary", options_of(data, Selection, keywords))


def salience(data: Data, **keywords: Unpack[Detection]) -> Table:
    """Salience-problem regressions, strict and permissive, where the critic saw worst, median and best.

    Example: audit salience logs.tar.xz --detector phrase
    """
    return relation_table("salience", options_of(data, Detection, keywords))


def rates(data: Data, **keywords: Unpack[Detection]) -> Table:
    """Base rates: how often answers cite the worst rollout, and whether revisions that cite it regress more often.

    Intervals are 95%, by bootstrap over runs; the p-value is of a logistic regression with errors by run.

    Example: audit rates data/runs --detector resolved
    """
    return relation_table("base_rates", options_of(data, Detection, keywords))


def noise(data: Data, **keywords: Unpack[Detection]) -> Table:
    """How many regressions chance alone would have produced, and how many are more than chance.

    Example: audit noise data/runs --env cartpole
    """
    return relation_table("noise_summary", options_of(data, Detection, keywords))


def controls(data: Data, **keywords: Unpack[Classification]) -> Table:
    """Regressions against those of puresearch, whose second proposal saw no evidence, from equally good starts.

    For all revisions of a method, and for those whose answer refers to the item asked about.

    Example: audit controls data/runs --env pong --format csv
    """
    found = relation_table("controls", options_of(data, Classification, keywords))
    assert found.relation is not None
    if len(found) and not found.relation.filter("control_runs > 0").limit(1).fetchall():
        found.notes = (*found.notes, NO_CONTROL)
        found.print_for_people = print_for_people
    elif len(found):
        found.caption = " ".join([*([found.caption] if found.caption else []), MATCHED])
    return found


def print_for_people(_: Table) -> None:
    """Print nothing of controls that there are not: half of the table would be empty."""


def severity(data: Data, **keywords: Unpack[Detection]) -> Table:
    """Citing and regressions by severity, (median - worst) / (best - worst): how far the worst rollout stands out.

    Example: audit severity data/runs --detector resolved
    """
    return relation_table("severity_summary", options_of(data, Detection, keywords))


def agreement(data: Data, **keywords: Unpack[Selection]) -> Table:
    """How the worst, median and best rollout agree, and what revisions gain in each case.

    Example: audit agreement data/runs --env pong
    """
    return relation_table("agreement_summary", options_of(data, Selection, keywords))


def revisions(
    data: Data,
    *,
    tag: Sequence[str] | None = None,
    starred: bool = False,
    with_marks: bool = False,
    marks: str | Path | None = None,
    **keywords: Unpack[RevisionSelection],
) -> Table:
    """One row per revision, with its evidence and every classification.

    Args:
        data: records.
        tag: only revisions that were given one of these tags in the viewer.
        starred: only revisions with a star.
        with_marks: whether there are the columns `star`, `tags` and `note`.
        marks: the file of these; None for `audit-marks.jsonl` in the first folder of records.
        keywords: which groups, and how records are opened and classified.

    Raises:
        UsageError: marks are asked for and no file of them is known, or the other way round.
        AuditError: the file of marks cannot be read.

    Example: audit revisions data/runs --format csv > revisions.csv
    """
    options = options_of(data, RevisionSelection, keywords)
    if not (tag or starred or with_marks):
        if marks is not None:
            raise UsageError("--marks names the file that --tag, --starred and --with-marks read; give one of them")
        return relation_table("revisions", options)
    read = marks_for(options.paths, marks)
    if read is None:
        raise UsageError("these records are in no folder; name the file of marks with --marks")
    if marks is not None and not read.path.exists():
        raise AuditError(f"{read.path}: no such file of marks")
    known = read.all()
    where = one_of(read.chosen(tags=[tag] if isinstance(tag, str) else tag or (), starred=starred))
    table = relation_table(
        "revisions",
        options,
        where if tag or starred else None,
        add=_marked(known) if with_marks else "",
        essential=("star", "tags", "note") if with_marks else (),
    )
    return replace(table, notes=[*table.notes, *(in_line(str(each)) for each in read.problems)])


def _marked(marks: Mapping[RevisionKey, Mark]) -> str:
    """Columns in SQL: the star, the tags and the note of each revision."""
    rows = [
        f"({', '.join(map(literal, key))}, {mark.star}, "
        f"[{', '.join(map(literal, sorted(mark.tags)))}]::varchar[], {literal(mark.note)})"
        for key, mark in marks.items()
    ]
    # A row that no revision has: a list of values may not be empty.
    rows.append("('', '', '', -1, -1, false, []::varchar[], '')")
    source = f"from (values {', '.join(rows)}) as marks(c, e, v, r, i, s, t, n)"
    same = "where c = condition and e = env and v = variant and r = run and i = iteration"
    columns = {"star": "coalesce({}, false)", "tags": "coalesce({}, []::varchar[])", "note": "coalesce({}, '')"}
    return ", ".join(
        f"{each.format(f'(select {name[0]} {source} {same})')} as {name}" for name, each in columns.items()
    )


def runs(data: Data, **keywords: Unpack[RunSelection]) -> Table:
    """Mean, best and final return of every run.

    Example: audit runs data/runs --variant r2po --format json
    """
    return relation_table("runs", options_of(data, RunSelection, keywords))


def _answers(relation: duckdb.DuckDBPyRelation, store: Store, *, of_texts: bool) -> list[str]:
    """The sentences of the rows of `salience`."""
    from audit.store import rows_of

    return answers(rows_of(relation), store, of_texts=of_texts)


def table_of(relation: duckdb.DuckDBPyRelation, store: Store, *, is_users: bool = False, **options: Any) -> Table:
    """A relation as a table; its store is closed when nothing refers to table, rows or relation any longer.

    Args:
        relation: the rows.
        store: where they are.
        is_users: whether the query is a user's: see `RelationRows`.
        options: as `Table` has them.
    """

    def rows_of(some: duckdb.DuckDBPyRelation) -> RelationRows:
        return RelationRows(some, relation, is_users=is_users)

    table = Table(columns=list(relation.columns), rows=rows_of(relation), relation=relation, rows_of=rows_of, **options)
    table.close = weakref.finalize(relation, store.close)
    return table


def relation_table(
    name: str, options: Options, where: str | None = None, *, add: str = "", essential: Sequence[str] = ()
) -> Table:
    """The selected rows of a relation that meet a condition.

    Args:
        name: of the relation.
        options: which rows, and how records are opened.
        where: the condition, in SQL.
        add: further columns, in SQL.
        essential: those among them that people see beside the usual ones.
    """
    with contextlib.ExitStack() as resources:
        store = resources.enter_context(options.open())
        relation = options.select(store.relation(name))
        if where is not None:
            relation = relation.filter(where)
        if add:
            relation = relation.project(f"*, {add}")
        caption = options.caption(store)
        remark = no_patterns(options, store) if name == "patterns_summary" else None
        if not relation.limit(1).fetchall():
            remark = why_empty(name, options, store)
        of_texts = are_texts(options, store)
        title = _title(name, store)
        usual = (OF_TEXTS if of_texts else ESSENTIAL).get(name, ESSENTIAL.get(name))
        table = table_of(
            relation,
            store,
            title=title.replace("rollout", "example") if of_texts else title,
            essential=[*usual, *essential] if usual else usual,
            headings=HEADINGS,
            caption=caption,
            answering=partial(_answers, relation, store, of_texts=of_texts) if name == "salience" else list,
            notes=[line for line in (remark, unread(name, options, store), caption) if line],
        )
        resources.pop_all()
    return table


def _title(name: str, store: Store) -> str:
    detector = store.detected_by
    about = str(detector.about)
    return TITLES[name].format(detector=detector.name, about=about, cited="it" if detector.about.is_worst else about)
