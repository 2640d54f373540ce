"""`audit lineage`: candidates and their parents, whose sentences a text holds, and what the search cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, Unpack

from audit.measures.overfitting import FEWEST, LOST, Overfitting, overfitting
from audit.options import Data, RunSelection, options_of
from audit.output.errors import AuditError, UsageError, refuse_problems
from audit.output.notes import noted
from audit.output.rows import Table
from audit.records.lines import open_records
from audit.references import Shown, resolve
from audit.reports.lineage.blame import Origin, blame, changes, reason, repeats
from audit.reports.lineage.pool import Node, Pool, examples, pools, rounding
from audit.vocabulary.endings import PACK

Row = dict[str, Any]

REPEATED: Final = 0.9
"""Likeness from which a proposal repeats an earlier one."""
_RUN: Final = ("condition", "env", "variant", "run")
COLUMNS: Final = (
    *_RUN,
    *("candidate", "iteration", "role", "parents", "kept", "why", "added", "removed"),
    *("before", "after", "minibatch_gain", "validation", "validation_gain", "tokens"),
)
BLAME_COLUMNS: Final = (
    *("component", "sentence", "how", "ratio", "candidate", "iteration", "first_candidate", "was", "reason"),
    *("examples", "before", "after", "minibatch_gain", "validation_before", "validation_after", "validation_gain", "p"),
)
DEAD_END_COLUMNS: Final = (*_RUN, "parent", "iteration", "repeats", "ratio", "kept", "tokens")
EXAMPLE_COLUMNS: Final = (*_RUN, "example", "shown", "cited", "fixed", "broken", "net")
RUN_COLUMNS: Final = (
    *_RUN,
    *("candidates", "proposals", "kept", "merges", "best", "first_validation", "best_validation"),
    *("tokens", "tokens_per_kept", "tokens_per_point"),
    *("revisions", "minibatch_gain", "validation_gain", "gap", "low", "high", "verdict"),
)
NO_TEXTS: Final = "no candidates that are texts here: lineage is of prompts and programs"
_FOUND: Final = "parents are found by their texts, since the log does not name them"
_PACKED: Final = "a pack holds no validation scores, no tokens and no names of parents: lineage needs the folder itself"
_ESTIMATED: Final = "tokens are estimated, as characters divided by four: the log does not count them"


def lineage(
    data: Data,
    *,
    blame: str | None = None,
    dead_ends: bool = False,
    examples: bool = False,
    runs: bool = False,
    alike: float = REPEATED,
    **keywords: Unpack[RunSelection],
) -> Table:
    """Candidates of a search with their parents, scores and costs; or one of four other questions to their lineage.

    Gains on validation leave out examples of the minibatch that decided on acceptance.

    Args:
        data: records whose candidates are texts.
        blame: of this candidate each sentence, with the iteration that brought it, what its author gave as a reason,
            and what was gained; `best` is the candidate with the highest validation score.
        dead_ends: proposals that repeat one refused before, from the same parent.
        examples: how often each example was shown, cited, fixed and broken.
        runs: a row per run: cost, and whether it overfits its minibatches (`audit.measures.overfitting`).
        alike: how alike two proposals are of which one repeats the other, from 0 to 1.
        keywords: which runs, and how records are opened.

    Raises:
        UsageError: two questions at once, or a likeness that is none.
        AuditError: no such candidate, or several runs have one.
    """
    asked = [name for name, is_asked in (("--blame", blame), ("--dead-ends", dead_ends)) if is_asked]
    asked += [name for name, is_asked in (("--examples", examples), ("--runs", runs)) if is_asked]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)}: one at a time")
    if not 0 < alike <= 1:
        raise UsageError(f"--alike {alike:g}: give a share from 0 to 1")
    options = options_of(data, RunSelection, keywords)
    with open_records(options.paths, cache=options.cache) as records:
        found = list(pools(records, options.choose(records)))
    if options.strict:
        refuse_problems(records.problems)
    is_packed = any(str(path).endswith(PACK) for path in options.paths)
    notes = [*noted(records.notes, records.problems), *([_PACKED] if is_packed else []), *_remarks(found)]
    if blame is not None:
        return _blamed(found, blame, notes)
    if dead_ends:
        rows = [row for pool in found for row in _dead_ends(pool, alike)]
        title = f"Proposals that repeat one refused before, from the same parent (alike: {alike:g})"
        return Table(columns=DEAD_END_COLUMNS, rows=rows, title=title, notes=notes)
    if examples:
        rows = [row for pool in found for row in _ledger(pool)]
        return Table(columns=EXAMPLE_COLUMNS, rows=rows, title="Examples shown, cited, fixed and broken", notes=notes)
    if runs:
        rows = [_run_row(pool) for pool in found]
        essential = ("env", "run", *RUN_COLUMNS[6:11], "best_validation", "tokens_per_point", *RUN_COLUMNS[-6:])
        return Table(columns=RUN_COLUMNS, rows=rows, title="Searches", essential=essential, notes=notes)
    return Table(
        columns=COLUMNS,
        rows=[row_of(pool, node) for pool in found for node in pool.nodes],
        title="Candidates and their parents",
        essential=("env", "run", *COLUMNS[4:9], *COLUMNS[12:]),
        notes=[*notes, *(line for pool in found for line in verdict(pool))],
    )


def _remarks(found: Sequence[Pool]) -> list[str]:
    if not found:
        return [NO_TEXTS]
    cycles = [f"{_name(pool)}: {', '.join(pool.cycles)}" for pool in found if pool.cycles]
    lines = [f"candidates that would be their own ancestors have no parents here ({'; '.join(cycles)})"]
    return [
        *(lines if cycles else []),
        *([_FOUND] if not all(pool.is_told for pool in found) else []),
        *([_ESTIMATED] if any(pool.is_estimated for pool in found) else []),
    ]


def row_of(pool: Pool, node: Node) -> Row:
    """A candidate as a row of the table."""
    here, there = pool.gains(node)
    changed = changes(pool, node)
    return {
        **_of_run(pool),
        "candidate": node.name,
        "iteration": node.iteration,
        "role": node.role,
        "parents": ", ".join(node.parents) or None,
        "kept": node.name is not None,
        "why": _why(node, here),
        "added": None if changed is None else changed[0],
        "removed": None if changed is None else changed[1],
        "before": node.before,
        "after": node.after,
        "minibatch_gain": here,
        "validation": node.validation,
        "validation_gain": there,
        "tokens": node.tokens,
    }


def _why(node: Node, gain: float | None) -> str | None:
    """Why a proposal was refused, as far as the record shows it."""
    record = node.record
    if node.name is not None or record is None:
        return None
    if record.revised is None:
        return record.error if isinstance(record.error, str) else "no text in the answer"
    if gain is None:
        return None
    least = rounding(record)
    return "lower" if gain < -least else "equal" if gain <= least else "refused with a gain"


def _blamed(found: Sequence[Pool], name: str, notes: list[str]) -> Table:
    chosen = [(pool, pool.by_name[wanted]) for pool in found if (wanted := _wanted(pool, name)) in pool.by_name]
    if not chosen:
        raise AuditError(f"no candidate {name!r}; audit lineage lists them")
    if len(chosen) > 1:
        raise AuditError(f"{len(chosen)} runs have a candidate {name!r}; choose one with --run, --env or --condition")
    pool, node = chosen[0]
    if node.text is None:
        raise AuditError(f"the text of candidate {node.name} is not in the log")
    rows = [origin_row(pool, origin) for origin in blame(pool, node)]
    return Table(
        columns=BLAME_COLUMNS,
        rows=rows,
        title=f"Where the text of candidate {node.name} came from ({_name(pool)})",
        essential=("sentence", "how", "ratio", "candidate", "iteration", "minibatch_gain", "validation_gain", "p"),
        notes=notes,
        plain=True,
    )


def _wanted(pool: Pool, name: str) -> str | None:
    return pool_best.name if name == "best" and (pool_best := _best(pool)) is not None else name


def _best(pool: Pool) -> Node | None:
    """The candidate with the highest validation score; of equal ones the first, as GEPA has it."""
    scored = [node for node in pool.nodes if node.name is not None and node.validation is not None]
    if not scored:
        scored = [node for node in pool.nodes if node.name is not None and node.after is not None]
        return max(scored, key=lambda node: node.after or 0.0, default=None)
    return max(scored, key=lambda node: node.validation or 0.0)


def origin_row(pool: Pool, origin: Origin) -> Row:
    """The origin of a sentence as a row of the table."""
    from audit.measures.sign_flip import sign_flip_test

    node = origin.node
    parent = next(iter(pool.parents(node)), None)
    here, there = pool.gains(node)
    pairs = pool.validated(node)
    shown = None if node.record is None else node.record.initial.example_ids
    return {
        "component": origin.component,
        "sentence": origin.sentence,
        "how": origin.how,
        "ratio": origin.ratio,
        "candidate": node.name,
        "iteration": node.iteration,
        "first_candidate": origin.first.name,
        "was": origin.was,
        "reason": reason(node, origin.sentence),
        "examples": ", ".join(shown) if isinstance(shown, list) else None,
        "before": node.before,
        "after": node.after,
        "minibatch_gain": here,
        "validation_before": None if parent is None else parent.validation,
        "validation_after": node.validation,
        "validation_gain": there,
        "p": sign_flip_test([after - before for before, after in pairs]).p if pairs else None,
    }


def _dead_ends(pool: Pool, alike: float) -> list[Row]:
    return [
        {
            **_of_run(pool),
            "parent": node.parents[0],
            "iteration": node.iteration,
            "repeats": earlier.iteration,
            "ratio": ratio,
            "kept": node.name is not None,
            "tokens": node.tokens,
        }
        for node, earlier, ratio in repeats(pool, alike)
    ]


def _ledger(pool: Pool) -> list[Row]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    is_answered = False
    for node in pool.nodes:
        record = node.record
        if record is None:
            continue
        least, ids = rounding(record), []
        for name, before, after in examples(record):
            ids.append(name)
            change = 0.0 if after is None else after - before
            counts[name].update(shown=1, fixed=change > least, broken=change < -least)
        if node.answer and record.evidence is not None:
            is_answered = True
            shown = Shown(tuple(record.evidence.shown), tuple(record.initial.returns), rounding=least)
            cited = {place for mention in resolve(node.answer, shown) for place in mention.rollouts or ()}
            for place in cited:
                if place < len(ids):
                    counts[ids[place]]["cited"] += 1
    return [
        {
            **_of_run(pool),
            "example": name,
            "shown": count["shown"],
            "cited": count["cited"] if is_answered else None,
            "fixed": count["fixed"],
            "broken": count["broken"],
            "net": count["fixed"] - count["broken"],
        }
        for name, count in sorted(counts.items(), key=lambda item: (-item[1]["broken"], -item[1]["shown"], item[0]))
    ]


def _run_row(pool: Pool) -> Row:
    made = [node for node in pool.nodes if node.role == "revision"]
    kept = [node for node in made if node.name is not None]
    best = _best(pool)
    first = next((node for node in pool.nodes if node.role == "seed" and node.validation is not None), None)
    points = _points(best, first, made)
    result = overfits(pool)
    return {
        **_of_run(pool),
        "candidates": sum(node.name is not None for node in pool.nodes),
        "proposals": len(made),
        "kept": len(kept),
        "merges": sum(node.role == "merge" for node in pool.nodes),
        "best": None if best is None else best.name,
        "first_validation": None if first is None else first.validation,
        "best_validation": None if best is None else best.validation,
        "tokens": pool.tokens,
        "tokens_per_kept": pool.tokens / len(kept) if pool.tokens and kept else None,
        "tokens_per_point": pool.tokens / points if pool.tokens and points and points > 0 else None,
        "revisions": result.revisions,
        **{name: _known(value) for name, value in zip(RUN_COLUMNS[-6:-1], result[1:6], strict=True)},
        "verdict": result.verdict,
    }


def _points(best: Node | None, first: Node | None, made: Sequence[Node]) -> float | None:
    """How much higher the best candidate scores than the first one, on validation or where all are scored alike."""
    if best is None:
        return None
    if best.validation is not None and first is not None and first.validation is not None:
        return best.validation - first.validation
    earliest = next((node.record for node in made if node.record is not None), None)
    # Scores of different minibatches are not to be compared.
    if earliest is None or earliest.initial.recorded_returns or best.after is None:
        return None
    return best.after - earliest.initial.mean_return


def overfits(pool: Pool) -> Overfitting:
    """Whether a search overfits its minibatches, over the revisions that it kept."""
    gains = [pool.gains(node) for node in pool.nodes if node.role == "revision" and node.name is not None]
    known = [(here, there) for here, there in gains if here is not None and there is not None]
    return overfitting([here for here, _ in known], [there for _, there in known])


def verdict(pool: Pool) -> list[str]:
    """The verdict of a run, in a line."""
    result = overfits(pool)
    words: dict[str, Callable[[], str]] = {
        "overfits": lambda: f"overfits its minibatches: less than {LOST:.0%} of the gain is found again",
        "does not": lambda: f"does not overfit its minibatches: more than {LOST:.0%} of the gain is found again",
        "cannot be told": lambda: "whether it overfits its minibatches cannot be told",
    }
    line = f"{_name(pool)}: {words[result.verdict]()}"
    if not result.revisions:
        return [f"{line}: no validation scores beside those of the minibatches"]
    figures = f"gain {result.minibatch:.3g} there, {result.validation:.3g} on other validation rows"
    if result.revisions < FEWEST:
        return [f"{line} ({figures}; {result.revisions} kept revisions, {FEWEST} are needed)"]
    return [f"{line} ({figures}; gap {result.gap:.3g}, {result.low:.3g} to {result.high:.3g})"]


def _known(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124 - NaN is no value of a table


def _of_run(pool: Pool) -> Row:
    return dict(pool.identity._asdict())


def _name(pool: Pool) -> str:
    return f"{pool.identity.env} {pool.identity.variant} {pool.identity.run}"
