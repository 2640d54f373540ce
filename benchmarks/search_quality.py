"""How good the simulated model is at searching: R2PO with it against random search of the same budget.

    python -m benchmarks.search_quality --runs 4

prints the table of `docs/models.md`. Each run spends 200 evaluations of 20 rollouts, two to an iteration, of which
the better is kept. *Best*: the best policy kept, rolled out again on 200 fresh seeds, since the largest of many noisy
means would flatter both. *Mean*: the mean return over the iterations.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean, stdev

from benchmarks.tau import collected
from collector import seeding
from collector.llm.simulated import SimulatedModel
from collector.plan import Request, plan
from collector.policy import random_params
from collector.rollouts.evaluate import evaluate
from collector.tasks import TASKS, get_task

ROLLOUTS, FRESH = 20, 200


def r2po(env: str, run: int, evaluations: int) -> tuple[float, float]:
    """Best and mean of an R2PO run."""
    model = SimulatedModel()
    request = Request(
        envs=[env], variants=["r2po"], runs=run, iterations=evaluations // 2, backend=model.backend, model=model.name,
        options=model.options,
    )  # fmt: skip
    spec = plan(request)[-1]
    kept = [episode.kept for episode in collected(spec)]
    best = max(kept, key=lambda candidate: candidate.mean_return)
    return _fresh(env, run, best.params), fmean(candidate.mean_return for candidate in kept)


def random_search(env: str, run: int, evaluations: int) -> tuple[float, float]:
    """Best and mean of as many random policies, drawn as the warm-up draws them."""
    task = get_task(env)
    results = []
    for number in range(evaluations):
        params = random_params(task.space, seeding.generator(0, "random search", env, run, number))
        result = evaluate(task, params, seeding.seeds(0, ROLLOUTS, "random search", env, run, number))
        results.append((result.mean_return, params))
    kept = [max(pair) for pair in zip(results[::2], results[1::2], strict=True)]
    return _fresh(env, run, max(kept)[1]), fmean(mean for mean, _ in kept)


def _fresh(env: str, run: int, params: list[float]) -> float:
    return evaluate(get_task(env), params, seeding.seeds(0, FRESH, "fresh", env, run)).mean_return


def main() -> None:
    """Print one row a task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--env", action="append", choices=list(TASKS))
    parser.add_argument("--evaluations", type=int, default=200, help="of each run")
    options = parser.parse_args()
    print("| task | best, R2PO | best, random | mean, R2PO | mean, random |\n|---|---|---|---|---|")
    with ProcessPoolExecutor() as pool:
        jobs = {
            (env, way.__name__): [pool.submit(way, env, run, options.evaluations) for run in range(1, options.runs + 1)]
            for env in options.env or TASKS
            for way in (r2po, random_search)
        }
        for env in options.env or TASKS:
            results = [[job.result() for job in jobs[env, way.__name__]] for way in (r2po, random_search)]
            cells = [_cell([result[which] for result in runs]) for which in (0, 1) for runs in results]
            print(f"| {env} | {' | '.join(cells)} |", flush=True)


def _cell(values: list[float]) -> str:
    return f"{fmean(values):.2f} ± {stdev(values):.2f}"


if __name__ == "__main__":
    main()
