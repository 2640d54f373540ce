"""The options in a command's help, in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from collector.command_line import Command

REST: Final = "Other options"
"""The heading of options that are in no group: the help, the version, the shell's completion."""


class Grouped(Command):
    """A command whose options have headings, as the commands of `audit` do."""

    groups: ClassVar[Mapping[str, Sequence[str]]] = {
        "What to collect": ("env", "variant", "task_module", "runs", "iterations", "rollouts", "part", "seed"),
        "Model": (
            *(
                "backend",
                "model",
                "base_url",
                "allow_redirects",
                "structured",
                "temperature",
                "max_tokens",
                "num_ctx",
                "timeout",
            ),
            *("logprobs", "threads", "gpu_layers", "personality"),
        ),
        "Method": (
            "tau_c",
            "warmup",
            "warmup_range",
            "excerpts",
            "paired_seeds",
            "action_clipping",
            "on_unreadable",
            "remedy",
        ),
        "Task and prompts": ("step_cap", "prompts", "optimum", "step_size", "named_iterations"),
        "Records": ("out", "condition", "resume"),
        "Execution": ("dry_run", "rate", "concurrency", "workers", "shard", "quiet"),
    }
    """Headings, and the parameters below each, in order."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of each group, and below them the rest."""
        records = {each.name: each.get_help_record(ctx) for each in self.get_params(ctx)}
        grouped = {name for names in self.groups.values() for name in names}
        rest = [name for name in records if name not in grouped]
        for heading, names in {**self.groups, REST: rest}.items():
            if rows := [row for name in names if (row := records.get(name))]:
                with formatter.section(heading):
                    formatter.write_dl(rows)
