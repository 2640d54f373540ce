"""Names of tasks by the folders of their runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.sources.intake import Intake
from audit.sources.run_names import run_names

_OF_TOOLS = (
    "results",
    "outputs/2026-01-31/12-00-00",
    "run_dir",
    "logs/gepa",
    "openevolve_output",
    "results_20260131_120000",
    "run_20260131",
    "exp_x/2026.01.31120000_example",
    "2f9d5c64-0d0c-4c3e-9a43-1a2b3c4d5e6f",
    "multirun/2026-01-31/12-00-00/0",
    "wandb/run-20260131_120000-3k2j9x1z/files",
    "wandb/offline-run-20260131_120000-my-id/files",
    "wandb/latest-run/files",
    "mlruns/0/0123456789abcdef0123456789abcdef/artifacts",
    "gen_3",
    "generation_12/results",
    "checkpoints/checkpoint_10",
    "ckpt",
    "tmp",
)


def names(*folders):
    intake = Intake(Path())
    found = run_names([Path(folder).parts for folder in folders], intake)
    return [found[Path(folder).parts] for folder in folders], intake.notes


@pytest.mark.parametrize("folder", _OF_TOOLS[:7] + _OF_TOOLS[8:])
def test_a_folder_that_a_tool_named_is_no_task(folder):
    assert names(f"/d/sorting/{folder}", f"/d/packing/{folder}") == ([("sorting", 1), ("packing", 1)], [])


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (("sorting/run1", "sorting/run2"), [("sorting", 1), ("sorting", 2)]),
        (("sorting/seed_0", "sorting/seed_1"), [("sorting", 1), ("sorting", 2)]),
        (("sorting/seed_7/results", "sorting/run-3/results"), [("sorting", 7), ("sorting", 3)]),
        (("sorting/2026-01-31/12-00-00", "sorting/2026-01-31/13-00-00"), [("sorting", 1), ("sorting", 2)]),
        (
            ("sorting/wandb/run-20260131_120000-a/files", "sorting/wandb/run-20260131_130000-b/files"),
            [("sorting", 1), ("sorting", 2)],
        ),
        (("sorting/seed_2/gen_5", "sorting/seed_3/checkpoint_5"), [("sorting", 2), ("sorting", 3)]),
        (("code_gen/seed_1", "sort_files/seed_1"), [("code_gen", 1), ("sort_files", 1)]),
        (("results_sorting", "results_packing"), [("results_sorting", 1), ("results_packing", 1)]),
        (("results/sorting", "results/packing"), [("sorting", 1), ("packing", 1)]),
    ],
)
def test_runs_of_a_task_are_numbered_and_names_of_users_stay(folders, expected):
    assert names(*(f"/d/{folder}" for folder in folders)) == (expected, [])


def test_where_no_folder_names_a_task_it_is_said():
    found, notes = names("/tmp/results/run-1", "/tmp/results/run-2", "/data/openevolve_output")
    assert found == [("results", 1), ("results", 2), ("openevolve_output", 1)]
    assert [note.partition(":")[0] for note in notes] == ["/data/openevolve_output", "/tmp/results"]
    found, _ = names("/tmp/openevolve_output", "/data/openevolve_output")
    assert found == [("tmp-openevolve_output", 1), ("data-openevolve_output", 1)]
