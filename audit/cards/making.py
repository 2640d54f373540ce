"""How a unit of the suite is made: a policy of known quality, its evidence, and the truth about it.

Every draw has a key of the unit alone, so that one unit can be made again without the others.
"""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterator, Sequence
from statistics import fmean, stdev
from typing import Any, Final, NamedTuple

import numpy as np

from audit.cards.suite import (
    CELLS,
    CONDITION,
    NAME,
    OF_EACH,
    SEED,
    TASKS,
    Quality,
    Random,
    SeverityBand,
    Span,
    SuiteUnit,
    Truth,
    quality_of,
    written,
)
from collector import policy, seeding
from collector.evidence import gather, write
from collector.methods import get_method
from collector.prompt_parts import CriticPrompt
from collector.prompts import Prompts, Review, Trial, templates
from collector.records import Candidate, Episode, Evidence, Run, WarmupTrial
from collector.rollouts.evaluate import Evaluation, evaluate
from collector.tasks import LinearSpace, Task, get_task

ROLLOUTS: Final = 20
"""Of each evaluation, as in the searches."""
TRUE_ROLLOUTS: Final = 2000
"""From which the true mean return of a policy is known."""
CHECKED: Final = 200
"""Fresh rollouts that first have to find a policy in the band that its evaluation found it in."""
TRIALS: Final = 12
"""Earlier trials that a prompt lists."""
EDITS: Final = 40
"""Random edits of each policy, of the length of one search step."""
EDIT_ROLLOUTS: Final = 50
RANDOM_POLICIES: Final = 200

_TRIED: Final = 6
"""Rollouts of each policy of a climb."""
_POPULATION: Final = 24
_ELITE: Final = 6
_GENERATIONS: Final = 14
_CLIMBS: Final = 4
"""Climbs that look for a unit with all its properties; then any severity is taken, and at last any quality."""
_SPREAD: Final = 3.0
"""Standard deviation of the first policies of a climb, as of those that open a search."""
_LEAST_SPREAD: Final = 0.1
_SCALES: Final = (0.05, 3.0)
"""Smallest and largest standard deviation of policies about the best one."""


class Wanted(NamedTuple):
    """The properties that a unit is to have; None for any."""

    env: str
    quality: Quality | None
    severity: SeverityBand | None
    place: int


class _Found(NamedTuple):
    params: list[float]
    truth: Truth
    evaluation: Evaluation
    evidence: Evidence
    trials: list[WarmupTrial]


def make_unit(number: int, wanted: Wanted, seed: int) -> SuiteUnit:
    """Make a unit.

    Args:
        number: its number in the suite, from 1.
        wanted: its task, and the quality and severity that are looked for.
        seed: of the suite.
    """
    task = get_task(wanted.env)
    purpose = (wanted.env, wanted.quality or "", wanted.severity or "", wanted.place)
    found = next(filter(None, _searches(task, wanted, seed, purpose)))
    run, episode = _records(task, number, seed, found)
    blocks = write(task, found.params, found.evaluation.seeds, found.evidence)
    review = Review(found.params, found.evaluation.mean_return, ROLLOUTS, "three", blocks, None, None)
    history = [Trial(trial.params, trial.return_, single=True) for trial in found.trials]
    prompt = Prompts(task).critic(history, review)
    CriticPrompt.read(prompt)  # as experiments will
    return SuiteUnit(
        number=number,
        quality=quality_of(task, found.truth.mean),
        severity=_severity(found.evidence),
        truth=found.truth,
        random=_random_edits(task, found.params, seed, purpose),
        run=run,
        episode=episode,
        prompt=prompt,
    )


def random_edit(task: Task, before: Sequence[float], length: float, rng: np.random.Generator) -> list[float]:
    """A policy at some distance in a random direction, in steps of the search.

    Args:
        task: the task, whose policies are linear.
        before: the policy under review.
        length: of the change, in search steps.
        rng: where the direction comes from.
    """
    space = task.space
    assert isinstance(space, LinearSpace)
    direction = rng.normal(size=len(before))
    change = direction / np.linalg.norm(direction) * length * space.step_size
    return [
        policy.settle(value + each, space.low, space.high, space.decimals)
        for value, each in zip(before, change, strict=True)
    ]


def _searches(task: Task, wanted: Wanted, seed: int, purpose: tuple[str | int, ...]) -> Iterator[_Found | None]:
    """Climbs until one finds what is wanted; later ones take less."""
    ways = [(wanted.quality, wanted.severity), (wanted.quality, None), ("middling", None), (None, None)]
    for quality, severity in dict.fromkeys(ways):
        for climb in range(_CLIMBS):
            yield _climb(task, quality, severity, seed, (*purpose, quality or "", severity or "", climb))


def _climb(
    task: Task, quality: Quality | None, severity: SeverityBand | None, seed: int, purpose: tuple[str | int, ...]
) -> _Found | None:
    """Look for a policy with some properties among those of a search by the cross-entropy method.

    R. Y. Rubinstein, "The cross-entropy method for combinatorial and continuous optimization" (1999); beside each
    population others about the best policy so far, since policies of middling quality are rare in a population.
    """
    space = task.space
    assert isinstance(space, LinearSpace)
    rng = seeding.generator(seed, "suite", *purpose)
    centre, spread = np.zeros(space.size), np.full(space.size, _SPREAD)
    best: tuple[float, list[float]] | None = None
    trials: list[WarmupTrial] = []
    for generation in range(_GENERATIONS):
        drawn = [rng.normal(centre, spread) for _ in range(_POPULATION)]
        if best is not None:
            scales = np.exp(rng.uniform(math.log(_SCALES[0]), math.log(_SCALES[1]), size=_POPULATION // 2))
            drawn += [rng.normal(best[1], scale) for scale in scales]
        scored: list[tuple[float, list[float]]] = []
        for place, values in enumerate(drawn):
            params = [policy.settle(value, space.low, space.high, space.decimals) for value in values]
            key = (*purpose, generation, place)
            tried = evaluate(task, params, seeding.seeds(seed, _TRIED, "suite", *key))
            if len(trials) >= TRIALS and quality in {None, quality_of(task, tried.mean_return)}:
                found = _found(task, params, quality, severity, seed, key)
                if found is not None:
                    return found._replace(trials=_chosen(trials, rng))
            trials.append(WarmupTrial(params=params, return_=tried.returns[0], seed=tried.seeds[0]))
            scored.append((tried.mean_return, params))
        scored.sort(key=lambda each: -each[0])
        best = scored[0] if best is None else max(best, scored[0], key=lambda each: each[0])
        elite = np.array([params for _, params in scored[:_ELITE]])
        centre, spread = elite.mean(axis=0), elite.std(axis=0) + _LEAST_SPREAD
    return None


def _chosen(trials: Sequence[WarmupTrial], rng: np.random.Generator) -> list[WarmupTrial]:
    """Earlier trials that the prompt lists, in their order: some of all, and so of all qualities."""
    places = sorted(rng.choice(len(trials), size=TRIALS, replace=False).tolist())
    return [trials[place] for place in places]


def _found(
    task: Task,
    params: list[float],
    quality: Quality | None,
    severity: SeverityBand | None,
    seed: int,
    key: tuple[str | int, ...],
) -> _Found | None:
    """A policy with its evidence and the truth about it, if it has the properties.

    It shows three rollouts whose printed returns differ, and does more than nothing.
    """
    assert task.thresholds is not None
    evaluation = evaluate(task, params, seeding.seeds(seed, ROLLOUTS, "suite", *key, "evidence"))
    shown = gather(task, evaluation, "three")
    printed = {f"{each.return_:.4f}" for each in shown.shown}
    if len({each.rollout for each in shown.shown}) < 3 or len(printed) < 3:
        return None
    if severity not in {None, _severity(shown)} or quality not in {None, quality_of(task, evaluation.mean_return)}:
        return None
    for number in (CHECKED, TRUE_ROLLOUTS):
        returns = evaluate(task, params, seeding.seeds(seed, number, "suite", *key, "truth")).returns
        truth = Truth(fmean(returns), stdev(returns), number)
        if truth.mean <= task.thresholds.near_zero or quality not in {None, quality_of(task, truth.mean)}:
            return None
    return _Found(params, truth, evaluation, shown, [])


def _severity(shown: Evidence) -> SeverityBand:
    worst, median, best = (each.return_ for each in shown.shown)
    return "high" if (median - worst) / (best - worst) >= 0.5 else "low"


def _random_edits(task: Task, params: Sequence[float], seed: int, purpose: tuple[str | int, ...]) -> Random:
    rng = seeding.generator(seed, "suite", *purpose, "random edits")
    seeds = seeding.seeds(seed, EDIT_ROLLOUTS, "suite", *purpose, "random edits", "rollouts")
    before = np.array(evaluate(task, params, seeds).returns)
    gains = []
    for _ in range(EDITS):
        after = np.array(evaluate(task, random_edit(task, params, 1.0, rng), seeds).returns)
        gains.append(float((after - before).mean()))
    return Random(fmean(gains), sum(gain > 0 for gain in gains) / EDITS, EDITS)


def _records(task: Task, number: int, seed: int, found: _Found) -> tuple[Run, Episode]:
    space = task.space
    assert isinstance(space, LinearSpace)
    method = get_method("threetraj")
    identity: dict[str, Any] = {"condition": CONDITION, "env": task.id, "variant": method.id, "run": number}
    run = Run(
        **identity,
        seed=seed,
        iterations=1,
        rollouts=ROLLOUTS,
        tau_c=None,
        optimum=task.optimum,
        step_size=space.step_size,
        warmup=found.trials,
        backend="simulated",
        model="none",
        options={},
        switches={},
        thresholds=task.thresholds,
        method=method.facts,
        prompts=templates.hashes(),
        versions={},
        started_at="2026-11-26T00:00:00+00:00",
    )
    initial = Candidate(
        params=found.params,
        out_of_range=False,
        source="search",
        answer=policy.to_text(found.params),
        thinking=None,
        **found.evaluation.record,
    )
    assert math.isfinite(initial.mean_return)
    episode = Episode(
        **identity,
        iteration=0,
        initial=initial,
        revised=None,
        revision_status="unreadable",
        selected="initial",
        evidence=found.evidence,
        seconds=0.0,
    )
    return run, episode


def random_return(task: Task, seed: int) -> float:
    """The mean return of random policies, as those that open a search.

    Args:
        task: the task.
        seed: of the suite.
    """
    rng = seeding.generator(seed, "suite", task.id, "random policies")
    seeds = seeding.seeds(seed, ROLLOUTS, "suite", task.id, "random policies", "rollouts")
    drawn = [policy.random_params(task.space, rng) for _ in range(RANDOM_POLICIES)]
    return fmean(evaluate(task, params, seeds).mean_return for params in drawn)


def make_suite(seed: int, *, workers: int | None = None) -> bytes:
    """The text of the suite of a seed.

    Args:
        seed: of all that is drawn.
        workers: processes that make units; None for one for each core.
    """
    wanted = [Wanted(*cell, index) for index in range(OF_EACH["full"]) for cell in CELLS]
    jobs = [(number, each, seed) for number, each in enumerate(wanted, start=1)]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        units = pool.starmap(make_unit, jobs, chunksize=1)
    return written(NAME if seed == SEED else f"{NAME}-seed-{seed}", seed, spans(seed), units)


def spans(seed: int) -> list[Span]:
    """The way that gains are measured by, of each task."""
    found = []
    for task in map(get_task, TASKS):
        assert task.thresholds is not None
        found.append(Span(task.id, random_return(task, seed), task.thresholds.high))
    return found
