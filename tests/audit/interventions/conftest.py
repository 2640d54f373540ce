"""Records that the tests of experiments share."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from audit.records.lines import Records, open_records
from tests.audit.interventions.planned import recorded
from tests.audit.judging.conftest import bare_environment  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    """Two CartPole runs."""
    return recorded(tmp_path_factory.mktemp("records"))


@pytest.fixture(autouse=True, scope="module")
def _records_read_once():
    """Read folders of records once for all plans and runs of a module, while their files are unchanged."""
    opened: dict[str, Records] = {}
    with contextlib.ExitStack() as resources, pytest.MonkeyPatch.context() as patch:

        @contextlib.contextmanager
        def once(paths):
            folders = [Path(path).resolve() for path in paths]
            stats = {str(file): file.stat() for folder in folders for file in sorted(folder.rglob("*"))}
            key = repr((folders, [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()]))
            if key not in opened:
                opened[key] = resources.enter_context(open_records(folders))
            yield Records(opened[key]._intake, compare=True)

        patch.setattr("audit.interventions.making.open_records", once)
        yield
