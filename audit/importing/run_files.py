"""What a mapping states of a run, for its `run.json`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import UNSET

from audit.importing.mapping import LogMapping
from audit.vocabulary.keys import RunKey
from collector.records import SCHEMA, TEXT_SCHEMA, Run


def run_of(identity: RunKey, mapping: LogMapping, rollouts: Collection[int], options: dict[str, Any]) -> Run:
    """Describe a run; what the mapping does not state is null.

    Args:
        identity: of the run.
        mapping: of its log.
        rollouts: numbers of rollouts that its candidates have; batches of examples may differ.
        options: those that the import adds.
    """
    condition, env, variant, number = identity
    is_text = mapping.is_text
    [same] = rollouts if len(rollouts) == 1 and not is_text else [0]
    return Run(
        condition=condition,
        env=env,
        variant=variant,
        run=number,
        seed=None,
        iterations=None,
        rollouts=same or None,
        tau_c=mapping.of_task("tau_c", env),
        optimum=mapping.of_task("optimum", env),
        step_size=mapping.of_task("step_size", env),
        warmup=[],
        backend=mapping.backend,
        model=mapping.model,
        options={**mapping.options, **options},
        switches={},
        thresholds=mapping.thresholds.get(env),
        prompts={},
        versions={},
        started_at=None,
        candidates="text" if is_text else UNSET,
        selection_rule=(mapping.selection_rule if is_text else None) or UNSET,
        score_range=mapping.score_range or UNSET,
        schema=TEXT_SCHEMA if is_text else SCHEMA,
    )
