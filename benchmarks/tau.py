"""What the revision threshold τ_c buys: R2PO under seven ways to choose it, the simulated critic answering.

    python -m benchmarks tau --runs 20 --out benchmarks/results/tau.jsonl
    python -m benchmarks tau --out benchmarks/results/tau.jsonl --table
    python -m benchmarks tau --runs 5 --constants

The last also tries each constant of the rules at half and at one and a half times its value. The others collect what is
missing in the file, a line for each run, and may be stopped at any time; with `--table` nothing is collected. All print
the table of `docs/reproducing.md`. All arms of a run have the same seeds, so that they are the same run until a prompt
differs, and are compared run by run. Outcomes are returns on fresh seeds: the recorded ones favour restraint, since a
policy that is left unchanged is evaluated twice and the luckier of the two means is kept. Two arms are placebos:
`always` asks for restraint in every iteration, `random` states a number that means nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from audit.measures.holm import holm
from audit.measures.stratified import stratified_bootstrap
from collector import seeding
from collector.llm.simulated import SimulatedModel
from collector.plan import Request, plan
from collector.records import Candidate, Episode
from collector.revision_rule import RULES, RevisionRule, Situation, stated
from collector.rollouts.evaluate import evaluate
from collector.run_folder import RunFolder
from collector.search import search
from collector.spec import RunSpec
from collector.tasks import Task, get_task

TASKS: Final = ("cartpole", "frozenlake", "maze", "mountaincar", "mountaincarcontinuous", "nim", "pong")
"""Those without MuJoCo."""
MODES: Final = ("better", "revised")
"""Which candidate is kept: with selection, and without."""
OPTIONS: Final = {"off": "off", "default": "default", "half": "half", "progress": "auto", "record": "auto:record"}
ARMS: Final = (*OPTIONS, "always", "random")
MOVED: Final = {
    f"{rule.id}-{name}-{moved:g}": replace(rule, options={**rule.options, name: moved})
    for rule in RULES.values()
    for name, value in rule.options.items()
    for moved in (type(value)(stated(value * 0.5)), type(value)(stated(value * 1.5)))
}
"""Rules with one constant moved by half."""
ITERATIONS, FRESH = 60, 200

Row = dict[str, Any]
T = TypeVar("T")


def always(situation: Situation, *, floor: float) -> float:
    """A threshold that every candidate reaches."""
    return min(floor, math.floor(situation.initial.mean_return))


def random(situation: Situation, *, task: Task, seed: int, run: int) -> float:
    """A threshold drawn from the task's range."""
    draw = seeding.generator(seed, task.id, "r2po", run, situation.iteration, "tau")
    return float(draw.uniform(task.floor, task.optimum))


def spec_of(arm: str, mode: str, env: str, run: int, *, iterations: int = ITERATIONS) -> RunSpec:
    """What is collected for a cell of the comparison."""
    model = SimulatedModel()
    request = Request(
        envs=[env],
        variants=["r2po"],
        runs=run,
        iterations=iterations,
        tau_c=OPTIONS.get(arm, "off"),
        condition=arm,
        backend=model.backend,
        model=model.name,
        options=model.options,
    )
    spec = plan(request)[-1]
    spec = replace(spec, method=msgspec.structs.replace(spec.method, commits=mode))
    formulas: dict[str, Callable[..., float]] = {
        "always": partial(always, floor=spec.task.floor),
        "random": partial(random, task=spec.task, seed=spec.seed, run=run),
    }
    rule = RevisionRule(arm, {}, formulas[arm]) if arm in formulas else MOVED.get(arm)
    return replace(spec, tau_rule=rule) if rule else spec


def measure(arm: str, mode: str, env: str, run: int, *, iterations: int = ITERATIONS, fresh: int = FRESH) -> Row:
    """Collect a run, and roll its policies out on fresh seeds, the same for all of them.

    Returns:
        `kept`, the mean fresh return of kept candidates; `recorded`, of what was recorded of them; `best`, the fresh
        return of the one with the best record; `harm`, the share of revisions whose fresh return is lower than their
        initial candidate's; `unchanged`, the share that change nothing; `revisions`, how many there are.
    """
    spec = spec_of(arm, mode, env, run, iterations=iterations)
    seeds = seeding.seeds(spec.seed, fresh, "fresh", env, run)
    known: dict[tuple[float, ...], float] = {}

    def value(candidate: Candidate) -> float:
        params = tuple(candidate.params)
        if params not in known:
            known[params] = evaluate(spec.task, candidate.params, seeds).mean_return
        return known[params]

    episodes = collected(spec)
    kept = [episode.kept for episode in episodes]
    pairs = [(episode.initial, episode.revised) for episode in episodes if episode.revised is not None]
    return {
        "mode": mode,
        "env": env,
        "run": run,
        "arm": arm,
        "iterations": iterations,
        "kept": fmean(value(candidate) for candidate in kept),
        "recorded": fmean(candidate.mean_return for candidate in kept),
        "best": value(max(kept, key=lambda candidate: candidate.mean_return)),
        "harm": fmean(value(after) < value(before) for before, after in pairs),
        "unchanged": fmean(after.params == before.params for before, after in pairs),
        "revisions": len(pairs),
    }


def collected(spec: RunSpec) -> list[Episode]:
    """The iterations of a run of the simulated model, in this process."""

    async def inline(function: Callable[..., T], *arguments: Any) -> T:
        return function(*arguments)

    async def run(out: Path) -> list[Episode]:
        with RunFolder(out / spec.folder) as folder:
            await search(spec, folder, SimulatedModel(), inline, lambda _: None)
        with RunFolder(out / spec.folder) as folder:
            return folder.episodes

    with tempfile.TemporaryDirectory() as out:
        return asyncio.run(run(Path(out)))


def missing(path: Path, runs: int, tasks: Sequence[str], arms: Sequence[str]) -> Iterator[tuple[str, str, str, int]]:
    """The cells that the file lacks, run by run, so that it can be evaluated whenever it is stopped."""
    done = {(row["arm"], row["mode"], row["env"], row["run"]) for row in read(path)}
    for run in range(1, runs + 1):
        for mode in MODES:
            for env in tasks:
                yield from (cell for arm in arms if (cell := (arm, mode, env, run)) not in done)


def read(path: Path) -> list[Row]:
    """The rows that the file holds; a last line that was cut off is left out."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def differences(rows: Sequence[Row], outcome: str, arm: str, other: str) -> dict[str, NDArray[np.float64]]:
    """By task, an arm's outcome less another's, in points of the task's range: shape (runs that have both,)."""
    found: dict[str, NDArray[np.float64]] = {}
    for env in dict.fromkeys(row["env"] for row in rows):
        task = get_task(env)
        of = {name: {row["run"]: row[outcome] for row in rows if (row["env"], row["arm"]) == (env, name)}
              for name in (arm, other)}  # fmt: skip
        both = sorted(of[arm].keys() & of[other].keys())
        gaps = [of[arm][run] - of[other][run] for run in both]
        found[env] = 100 * np.array(gaps) / (task.optimum - task.floor)
    return {env: values for env, values in found.items() if len(values)}


def summary(rows: Sequence[Row], arm: str) -> Row:
    """An arm against `off`, over the rows of one mode: means over tasks of paired differences.

    Returns:
        For `kept` and `best` the mean difference in points with its interval, by the stratified bootstrap; the worst
        task by `kept`, its difference and p-value (paired t, Holm over tasks); the smallest of these p-values; the mean
        difference of `kept` from the arm `default`; means over tasks of the other outcomes.
    """
    gaps = differences(rows, "kept", arm, "off")
    # Where both arms are the same run, there is no test.
    p = holm([ttest_1samp(each, 0).pvalue if np.ptp(each) > 0 else math.nan for each in gaps.values()])
    means = {env: float(each.mean()) for env, each in gaps.items()}
    worst = min(means, key=means.__getitem__)
    mine = [row for row in rows if row["arm"] == arm]
    luck = [
        100 * (row["recorded"] - row["kept"]) / (get_task(row["env"]).optimum - get_task(row["env"]).floor)
        for row in mine
    ]
    return {
        "arm": arm,
        "kept": _aggregate(gaps),
        "best": _aggregate(differences(rows, "best", arm, "off")),
        "to_default": _aggregate(differences(rows, "kept", arm, "default")),
        "worst": (worst, means[worst], float(p[list(means).index(worst)])),
        "smallest_p": float(np.nanmin(p)) if np.isfinite(p).any() else math.nan,
        "luck": fmean(luck),
        "harm": fmean(row["harm"] for row in mine),
        "unchanged": fmean(row["unchanged"] for row in mine),
    }


def _aggregate(gaps: dict[str, NDArray[np.float64]]) -> tuple[float, float, float]:
    found = stratified_bootstrap(
        list(gaps.values()), lambda strata: np.mean([each.mean(axis=-1) for each in strata], axis=0)
    )
    return float(found.value), float(found.low), float(found.high)


def print_table(rows: Sequence[Row]) -> None:
    """Print a table for each mode, in Markdown."""
    for mode in MODES:
        mine = [row for row in rows if row["mode"] == mode]
        arms = [arm for arm in (*ARMS, *MOVED) if all(_runs(mine, arm, env) for env in TASKS)]
        runs = sorted({_runs(mine, arm, env) for arm in arms for env in TASKS})
        print(f"\nkept: {mode}; {' or '.join(map(str, runs))} runs of {ITERATIONS} iterations in a cell\n")
        print("| arm | Δ kept | Δ best | Δ kept to default | worst task | smallest p | luck | harm % | unchanged % |")
        print("|---|---|---|---|---|---|---|---|---|")
        for arm in arms:
            each = summary(mine, arm)
            env, gap, p = each["worst"]
            cells = [
                *(_interval(*each[name]) for name in ("kept", "best", "to_default")),
                "" if arm == "off" else f"{env} {gap:+.1f}" + ("" if math.isnan(p) else f" (p {p:.2f})"),
                "" if math.isnan(each["smallest_p"]) else f"{each['smallest_p']:.3f}",
                f"{each['luck']:.1f}",
                f"{100 * each['harm']:.0f}",
                f"{100 * each['unchanged']:.0f}",
            ]
            print(f"| {arm} | {' | '.join(cells)} |")


def _runs(rows: Sequence[Row], arm: str, env: str) -> int:
    return sum((row["env"], row["arm"]) == (env, arm) for row in rows)


def _interval(value: float, low: float, high: float) -> str:
    return "0" if value == low == high == 0 else f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def main(arguments: Sequence[str]) -> None:
    """Collect what is missing, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tau", description="what the threshold τ_c buys")
    parser.add_argument("--runs", type=int, default=20, help="runs of each arm on each task")
    parser.add_argument("--env", action="append", choices=TASKS, help="this task only, repeatable")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/tau.jsonl"), help="file of results")
    parser.add_argument("--constants", action="store_true", help="try other constants of the rules as well")
    parser.add_argument("--table", action="store_true", help="print the tables of what is there")
    options = parser.parse_args(arguments)
    if not options.table:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        whole = "".join(json.dumps(row) + "\n" for row in read(options.out))
        options.out.write_text(whole)  # without a line that was cut off
        arms = (*ARMS, *MOVED) if options.constants else ARMS
        for arm, mode, env, run in missing(options.out, options.runs, options.env or TASKS, arms):
            with options.out.open("a") as file:
                file.write(json.dumps(measure(arm, mode, env, run)) + "\n")
    print_table(read(options.out))
