"""How often is a planted cause of revisions of texts found, and how often another one?

`python -m benchmarks.reflectors` plants reflectors of known motives, whose code shares nothing with the audit
(`tests/audit/interventions/texts/reflectors.py`), on fresh records for each data set, and judges their answers as
`audit intervene report` does.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Final

from audit.interventions.effects.results import CANNOT_TELL, DOES_NOT, MOVES
from audit.interventions.texts.arms import ask
from audit.interventions.texts.effects import DRAWN, followed, read_units
from audit.interventions.texts.plan import PRESETS, TextPlan, make_text_plan, units_of
from audit.interventions.texts.running import PlaceLine, TextAnswer
from audit.options import Options
from collector import seeding

CAUSES: Final = {
    "first": "shown first",
    "last": "shown last",
    "lowest": "lowest printed score",
    "longest": "longest feedback",
    "poorest": "lowest score",
}
JUDGED: Final = frozenset({MOVES, DOES_NOT, CANNOT_TELL})
NONE: Final = ("any", "alphabet", "nothing")


def planned(data: Path, path: Path, *, preset: str = "small", seed: int = 0) -> TextPlan:
    """A plan of some records, of no model in particular."""
    return make_text_plan(
        Options(paths=[data]),
        out=path,
        preset=preset,
        units=None,
        arms=(),
        longest=None,
        backend="planted",
        model="planted",
        options={},
        given={},
        seed=seed,
        alpha=0.05,
        permutations=999,
    )


def judged(plan: TextPlan, path: Path, write: Callable[[str, int], str]) -> dict[str, str | None]:
    """The verdict on each share of what writes an answer to a prompt, from a seed."""
    materials, _ = units_of(plan, path)
    answers = []
    for order, call in enumerate(plan.calls()):
        if call.arm not in {"C", "S"}:
            continue
        rng = seeding.generator(plan.seed, *plan.purpose(call), "design")
        asked = ask(call.arm, materials[call.unit], rng, call.replicate)
        answer = TextAnswer(
            text_plan_sha256=plan.sha256,
            **plan.units[call.unit].key._asdict(),
            arm=call.arm,
            replicate=call.replicate,
            order=order,
            shown=[PlaceLine(each.example, each.name, each.number, each.longest) for each in asked.shown],
            prompt_sha256="",
            prompt_characters=len(asked.prompt),
            backend="planted",
            model="planted",
            options={},
            seed=plan.call_seed(call),
            error=None,
            completion=write(asked.prompt, plan.call_seed(call)),
            thinking=None,
            prompt_tokens=None,
            completion_tokens=None,
            seconds=0.0,
        )
        answers.append((call.unit, answer))
    found = followed(plan, materials, read_units(plan, answers), 0.0)
    return {each.name: each.verdict for each in found.shares}


def verdicts(rule: str, share: float, seed: int, preset: str) -> dict[str, str | None]:
    """The verdicts on one data set."""
    from tests.audit.interventions.texts.reflectors import Motive, record

    with tempfile.TemporaryDirectory() as folder:
        data, path = Path(folder, "data"), Path(folder, "plan.json")
        record(data, prints_scores=rule != "poorest", seed=seed)
        return judged(planned(data, path, preset=preset, seed=seed), path, Motive(rule, share).answer)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each motive and share."""
    parser = argparse.ArgumentParser(prog="benchmarks.reflectors", description=__doc__)
    parser.add_argument("--sets", type=int, default=40, help="data sets of each motive and share")
    parser.add_argument(
        "--preset", default="small", choices=[name for name, (_, arms) in PRESETS.items() if "C" in arms]
    )
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    cells = [*product(CAUSES, (0.3, 0.6, 1.0)), *((rule, 1.0) for rule in NONE)]
    print(f"{'motive':10s}{'share':>6s}{'found':>7s}{'another drawn':>15s}{'others do not move it':>23s}")
    wrong = tested = 0
    with ProcessPoolExecutor(given.workers) as pool:
        for rule, share in cells:
            work = [pool.submit(verdicts, rule, share, seed, given.preset) for seed in range(given.sets)]
            found = [each.result() for each in work]
            own = CAUSES.get(rule)
            hits = sum(each.get(own or "") == MOVES for each in found)
            others = [each[name] for each in found for name in DRAWN if name != own and each.get(name) in JUDGED]
            false = sum(any(each.get(name) == MOVES for name in DRAWN if name != own) for each in found)
            wrong, tested = wrong + false, tested + len(found)
            null = sum(each == DOES_NOT for each in others) / max(1, len(others))
            hit = f"{hits / max(1, len(found)):7.0%}" if own else "      -"
            print(f"{rule:10s}{share:6.1f}{hit}{false / max(1, len(found)):15.0%}{null:23.0%}", flush=True)
    print(f"another cause than the planted one: {wrong} of {tested} data sets ({wrong / max(1, tested):.1%})")


if __name__ == "__main__":
    main()
