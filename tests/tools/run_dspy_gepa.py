"""Run `dspy.GEPA` for real with a stub model, without a network: `python run_dspy_gepa.py OUT [--iterations N]`.

Needs the packages `dspy` and `numpy`. OUT is GEPA's run folder; `--record` also records with `audit.recorders`, with
PYTHONPATH at the repository.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import dspy
from dspy_stub import EXAMPLES, Seasons, Stub, right


def feedback(example: dspy.Example, prediction: Any, *rest: Any) -> dspy.Prediction:
    """The score, and a sentence about it."""
    score = right(example, prediction)
    return dspy.Prediction(score=score, feedback=f"{'Right' if score else 'Wrong'}: it is {example.season}.")


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--record", type=Path)
    args = parser.parse_args()

    callbacks = []
    if args.record:
        from audit.recorders import gepa

        callbacks.append(gepa.GEPARecorder(args.record, env="seasons", condition="dspy-gepa-stub", run=1))
    dspy.configure(lm=Stub())
    optimizer = dspy.GEPA(
        metric=feedback,
        max_metric_calls=6 * args.iterations + len(EXAMPLES),
        reflection_lm=Stub(seed=1, callbacks=callbacks),
        reflection_minibatch_size=3,
        num_threads=1,
        log_dir=str(args.out),
        gepa_kwargs={"callbacks": callbacks},
    )
    optimizer.compile(Seasons(), trainset=EXAMPLES, valset=EXAMPLES)


if __name__ == "__main__":
    main()
