"""Have promptolution's callback write the steps of a small search: `python run_promptolution.py FOLDER`."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from promptolution.utils.callbacks import FileOutputCallback

STEPS = (
    (("Be brief.", "Be polite."), (0.5, 0.25)),
    (("Be brief. Cite.", "Be brief."), (0.75, 0.5)),
    (("Be brief. Cite.", "Cite the page."), (0.75, 1.0)),
)
callback = FileOutputCallback(sys.argv[1], file_type="csv")
model = SimpleNamespace(input_token_count=10, output_token_count=5)
for prompts, scores in STEPS:
    predictor = SimpleNamespace(llm=model)
    callback.on_step_end(SimpleNamespace(prompts=list(prompts), scores=list(scores), predictor=predictor))
