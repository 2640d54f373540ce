"""From a request to what `audit rescore` and `audit anchor` print."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from audit.ingest.recorded import RecordedRun, Records, open_records
from audit.output.errors import NAMED, AuditError, count, report
from audit.output.progress import Told
from audit.output.rows import print_rows
from audit.request import Request, note, tell
from audit.rerun import anchors, fairness, rescoring
from audit.rerun.results import Results
from audit.rerun.rollouts import load_tasks

SIMULATED: Final = "simulated"


def tell_rescoring(
    request: Request, *, rollouts: int, sample: int | None, seed: int, task_modules: Sequence[Path], each: bool
) -> None:
    """Run recorded policies on fresh seeds, and print recorded against fresh means.

    Raises:
        AuditError: a path holds no records, or the request is strict and something is wrong with them.
        UsageError: a file of tasks cannot be used.
    """
    load_tasks(task_modules)
    with (
        open_records(request.paths, judged=True, cache=request.cache) as records,
        Results.usual(cache=request.cache) as results,
    ):
        runs = _runs(request, records)
        done = rescoring.rescore(
            records, runs, rollouts=rollouts, sample=sample, seed=seed, results=results, progress=Told()
        )
        caption = _told(request, records, runs, done.skipped, "candidate")
    if each:
        rows = [scored.row() for scored in done.scored]
        print_rows(
            rows, rescoring.CANDIDATE_COLUMNS, request.output, title="Candidates on fresh seeds", caption=caption
        )
        return
    rows = fairness.fairness(done.scored, rollouts)
    print_rows(
        rows,
        fairness.COLUMNS,
        request.output,
        title=f"Recorded and fresh means ({rollouts} fresh rollouts a policy); luck is recorded - fresh",
        essential=fairness.ESSENTIAL,
        caption=caption,
    )


def tell_anchoring(
    request: Request,
    *,
    controls: int,
    sample: int | None,
    seed: int,
    placebo: bool,
    task_modules: Sequence[Path],
    each: bool,
) -> None:
    """Run revised policies on their initial candidates' seeds, and print gains against those of control edits.

    Raises:
        AuditError: a path holds no records, or the request is strict and something is wrong with them.
        UsageError: a file of tasks cannot be used.
    """
    load_tasks(task_modules)
    with (
        open_records(request.paths, judged=True, cache=request.cache) as records,
        Results.usual(cache=request.cache) as results,
    ):
        runs = _runs(request, records)
        done = anchors.measure(
            records,
            runs,
            controls=controls,
            sample=sample,
            seed=seed,
            placebo=placebo,
            results=results,
            progress=Told(),
        )
        caption = _told(request, records, runs, done.skipped, "revision")
    if placebo:
        caption = "\n".join(filter(None, [caption, "Random edits in the place of revisions: what is found is false."]))
    if each:
        rows = [revision.row() for revision in done.revisions]
        print_rows(rows, anchors.REVISION_COLUMNS, request.output, title="Revisions", caption=caption)
        return
    print_rows(
        anchors.summarise(done),
        anchors.COLUMNS,
        request.output,
        title=f"Gains on the initial candidate's seeds, against {controls} control edits",
        essential=anchors.ESSENTIAL,
        caption=caption,
    )


def _runs(request: Request, records: Records) -> list[RecordedRun]:
    runs = request.choose(records)
    if not runs:
        note("nothing to run: no such runs in the records")
    return runs


def _told(
    request: Request,
    records: Records,
    runs: Sequence[RecordedRun],
    skipped: Counter[tuple[str, str]],
    what: str,
) -> str | None:
    """Tell problems and what was left out; the result is what must stand beside the rows."""
    if request.strict and records.problems:
        told = "\n".join(report(records.problems))
        raise AuditError(f"{count(len(records.problems), 'problem')} in the records, and --strict:\n{told}")
    tell([], records.problems)
    reasons: dict[str, list[str]] = defaultdict(list)
    for reason, group in sorted(skipped):
        reasons[reason].append(group)
    for reason, groups in reasons.items():
        number = sum(skipped[reason, group] for group in groups)
        more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
        note(f"{count(number, what)} left out, {reason}: {', '.join(groups[:NAMED])}{more}")
    simulated = sorted({run.identity[0] for run in runs if run.run is not None and run.run.backend == SIMULATED})
    if not simulated:
        return None
    which = "" if len(simulated) == len({run.identity[0] for run in runs}) else f" in {', '.join(simulated)}"
    caption = f"Backend: simulated{which}. The answers are not a language model's."
    note(caption)
    return caption
