"""Record an optimizer of prompts or programs while it runs, so that `audit` can read what its reflector did.

Three calls per iteration record any loop; where iterations overlap, those of `with recorder.iteration() as it:`::

    from audit.recorders import Recorder

    with Recorder("data/runs", env="tickets", condition="my-loop", run=1) as recorder:
        for _ in range(20):
            prompt = template.format(current, examples)
            recorder.shown({"prompt": current}, scores, ids=ids, items=examples, prompt=prompt)
            answer = reflect(prompt)
            recorder.answered(answer, {"prompt": extract(answer)})
            new_scores = evaluate(extract(answer), ids)
            recorder.scored(new_scores)

`audit.recorders.gepa` has a callback for GEPA, `audit.recorders.simba` a context manager for DSPy's SIMBA. Neither
imports the tool. Once a recorder exists, no failure of its own reaches the loop: what could not be recorded is a line
in `troubles.jsonl` beside the records, a line on standard error, and part of a final warning.
"""

from __future__ import annotations

from audit.recorders.candidates import Item
from audit.recorders.iteration import Iteration
from audit.recorders.recorder import Recorder
from audit.recorders.run_files import RecorderError

__all__ = ["Item", "Iteration", "Recorder", "RecorderError"]
