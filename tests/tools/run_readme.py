"""Run the README's example of a recorder with GEPA and stub models: `python run_readme.py FOLDER`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from run_gepa import MONTHS, SEASONS, SEED_PROMPT, Reflector, answer

README = Path(__file__).resolve().parents[2] / "README.md"


def main() -> None:
    """Run the example in a folder, with what it leaves to its readers."""
    [program] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    data = [
        {"input": month, "answer": season, "additional_context": {}}
        for month, season in zip(MONTHS, SEASONS, strict=True)
    ]
    os.chdir(sys.argv[1])
    theirs = {"trainset": data, "valset": data, "task_lm": answer, "reflection_lm": Reflector(0)}
    exec(program, {"seed_candidate": {"instruction": SEED_PROMPT}, **theirs})


if __name__ == "__main__":
    main()
