"""The examination as a task of Inspect, `audit/critic`; `audit critic --from` makes the card of its log."""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import registry_info

# Inspect imports this module whenever it starts, so what takes long is imported where it is needed.


@solver
def asked_once() -> Solver:
    """Asks the prompt as it is, with the seed of its call where the provider takes one."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generate(state, tool_calls="none", seed=state.metadata["seed"])

    return solve


@scorer(metrics=[accuracy(), stderr()])
def readable() -> Scorer:
    """Whether an answer holds all parameters of the policy; what revisions do is in the card."""
    import msgspec

    from audit.cards.logs import Output, completion_of
    from audit.interventions.running import read_params
    from collector.tasks import get_task

    async def score(state: TaskState, _: Target) -> Score:
        completion = completion_of(msgspec.convert(state.output.model_dump(), Output), {})
        params, error = read_params(completion, get_task(state.metadata["env"]), structured=False)
        return Score(value=params is not None, answer=completion.text, explanation=error)

    return score


def _critic(size: str = "quick", units: int | None = None) -> Task:
    """Examine a model as a critic of policies.

    Args:
        size: quick, 360 calls: form, help and harm; full, 7,308 calls: what moves it as well.
        units: ask only the first so many prompts, 18 or a multiple to have all kinds; by default all of the size.
    """
    from typing import cast

    from audit.cards.asking import asking_of, names_of
    from audit.cards.examining import SIZES
    from audit.cards.suite import Size, packaged

    if size not in SIZES:
        raise ValueError(f"unknown size '{size}'; choose from {', '.join(SIZES)}")
    if units is not None and units < 2:
        raise ValueError(f"units: {units}; two or more are needed")
    suite = packaged()
    asking = asking_of(suite, cast(Size, size), units=units)
    plan = asking.plan
    about = {"suite": suite.sha256, "size": size}
    samples = [
        Sample(
            id=name,
            input=asking.prompt(call).prompt,
            metadata={
                "unit": plan.units[call.unit].run,
                "env": plan.units[call.unit].env,
                "arm": call.arm,
                "replicate": call.replicate,
                "seed": plan.call_seed(call),
                **about,
            },
        )
        for name, call in names_of(plan).items()
    ]
    return Task(
        dataset=MemoryDataset(samples, name=f"{suite.name}-{size}"),
        solver=asked_once(),
        scorer=readable(),
        metadata={**about, "seed": suite.seed, "suite_name": suite.name, "units": len(plan.units)},
    )


critic = task(name="critic")(_critic)
if registry_info(critic).name == "critic":
    # Inspect puts the name of the package before it where that is among installed ones, but not where it is editable.
    critic = task(name="audit/critic")(_critic)
