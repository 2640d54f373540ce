"""The command that asks a model what revisions are justified by: `audit judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import audit
from audit.commands.reading import reading
from audit.output.rows import Table
from audit.request import Request

commands = typer.Typer()


@commands.command()
@reading(runs=True)
def judge(
    request: Request,
    backend: Annotated[str, typer.Option("--backend", help="ollama or openai.")],
    model: Annotated[
        str | None, typer.Option("--model", help="The judge, as its server calls it; with ollama else gpt-oss:20b.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Address of the server; else from the environment.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option("--temperature", min=0.0, max=100.0, help="Sampling temperature; else the server's.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.001, max=1e6, help="Seconds to wait for one reply; else 600.")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", min=1, max=2**31 - 1, help="Longest reply, thinking included; else the server's."),
    ] = None,
    num_ctx: Annotated[
        int | None,
        typer.Option("--num-ctx", min=1, max=2**31 - 1, help="Context size asked of Ollama; else the server's."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The judgements; else DIR.judgements.jsonl beside DIR.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, max=10**9, help="Judge so many answers, drawn at random; else all.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the draw and of the calls.")] = 0,
    longest: Annotated[
        int, typer.Option("--longest", min=1, max=10**9, help="Leave out answers of more characters.")
    ] = 40_000,
    again: Annotated[bool, typer.Option("--again", help="Ask again where no reply could be read.")] = False,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, max=10_000, help="Calls in flight at once.")] = 4,
    plan: Annotated[bool, typer.Option("--plan", help="Print what it would cost, and ask nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether to go on.")] = False,
) -> Table:
    """Have a model code what each revision is chiefly justified by, from the critic's answer alone.

    Answers already judged are skipped. The cost is printed first; on a terminal you are asked whether to go on.

    Example: audit judge data/runs --backend ollama --model gpt-oss:20b --sample 50
    """
    return audit.judge(
        request,
        backend=backend,
        model=model,
        base_url=base_url,
        temperature=temperature,
        timeout=timeout,
        max_tokens=max_tokens,
        num_ctx=num_ctx,
        out=out,
        sample=sample,
        seed=seed,
        longest=longest,
        again=again,
        concurrency=concurrency,
        plan=plan,
        yes=yes,
    )
