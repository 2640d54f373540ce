"""Tables and figures of a whole grid, as a user makes them, and their statistics against SciPy used one test at a time.

python -m benchmarks reproduction
"""

from __future__ import annotations

import functools
import os
import shlex
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.stats import bootstrap, trim_mean, ttest_ind
from statsmodels.stats.multitest import multipletests

from audit.measures.stratified import stratified_bootstrap
from benchmarks.processes import cache_in, program, spent
from benchmarks.synthetic import POOL, Plan, write_run
from benchmarks.timing import Comparison, compare
from collector.methods import METHODS
from collector.tasks import TASKS
from stats.measures.aggregates import interquartile_mean
from stats.tables.metrics import compare as welch_tests

RUNS: Final = 10
RESAMPLES: Final = 200
ITERATIONS: Final = 20
COMMANDS: Final = (
    "stats metrics {}",
    "stats compare {}",
    "stats aggregate {}",
    "stats profile {}",
    "stats efficiency {}",
    "stats ranks {}",
    "stats paper",
    "figures {} --out {}/figures",
)


def commands() -> Iterator[dict[str, Any]]:
    """Seconds and most memory of each command over runs of all tasks and methods."""
    plans = [
        Plan(env, variant, run, ITERATIONS, 500) for env in TASKS for variant in METHODS for run in range(1, RUNS + 1)
    ]
    with tempfile.TemporaryDirectory() as name, cache_in(Path(name) / "cache"):
        records = Path(name) / "records"
        with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as workers:
            list(workers.map(functools.partial(write_run, folder=records, pool=POOL // 64), plans, chunksize=16))
        for command in COMMANDS:
            took = spent(program(*shlex.split(command.format(records, name))))
            shown = command.format("DIR", "OUT")
            yield {"command": shown, "runs": len(plans), "seconds": took.seconds, "megabytes": took.megabytes}


def statistics() -> Iterator[Comparison]:
    """Ours against SciPy and statsmodels, on the same 900 runs."""
    rng = np.random.default_rng(0)
    cells = [(env, variant) for env in TASKS for variant in METHODS]
    rows = [("c", env, variant, run) for env, variant in cells for run in range(RUNS)]
    runs = pd.DataFrame(rows, columns=["condition", "env", "variant", "run"])
    runs["mean_return"] = rng.normal(size=len(runs))
    yield compare("80 Welch tests with Holm", lambda: welch_tests(runs, "r2po", "mean_return"), lambda: _tests(runs))
    strata = [rng.normal(size=RUNS) for _ in TASKS]
    yield compare(
        f"interval of an interquartile mean, {RESAMPLES} resamples",
        lambda: stratified_bootstrap(strata, interquartile_mean, resamples=RESAMPLES),
        lambda: bootstrap(
            strata,
            lambda *samples: trim_mean(np.concatenate(samples), 0.25),
            paired=False,
            vectorized=False,
            n_resamples=RESAMPLES,
            method="percentile",
            rng=rng,
        ),
    )


def _tests(runs: pd.DataFrame) -> list[Any]:
    """The same tests, one call of SciPy each and one of statsmodels for each baseline."""
    samples = {key: frame["mean_return"].to_numpy() for key, frame in runs.groupby(["env", "variant"])}
    found = []
    for variant in METHODS:
        if variant != "r2po":
            tests = [ttest_ind(samples[env, "r2po"], samples[env, variant], equal_var=False) for env in TASKS]
            found.append(multipletests([test.pvalue for test in tests], method="holm"))
    return found


def results() -> list[dict[str, object]]:
    """Print a row for each command and each comparison as it is measured."""
    kept: list[dict[str, object]] = []
    print("| command, 900 runs | seconds | memory (MB) |\n|---|---|---|")
    for row in commands():
        print(f"| `{row['command']}` | {row['seconds']:.1f} | {row['megabytes']:.0f} |", flush=True)
        kept.append(row)
    print("\n| what | ours (ms) | SciPy, one by one (ms) | ratio |\n|---|---|---|---|")
    for each in statistics():
        ours, alternative = 1000 * each.ours, 1000 * each.alternative
        print(f"| {each.name} | {ours:.1f} | {alternative:.1f} | {each.ratio:.1f} |", flush=True)
        kept.append({"name": each.name, "ours": each.ours, "alternative": each.alternative, "ratio": each.ratio})
    return kept


def main() -> None:
    """Print the rows."""
    results()


if __name__ == "__main__":
    main()
