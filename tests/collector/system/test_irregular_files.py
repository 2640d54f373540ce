"""Pipes, devices, sockets and huge files among the collector's records: refused in a line, never waited for."""

from __future__ import annotations

from itertools import product

import pytest

from collector.errors import CollectorError, UsageError
from collector.prompts import templates
from collector.sweep import states
from tests.collector.helpers import collect, spec
from tests.irregular import IRREGULAR, impatiently


@pytest.fixture(autouse=True)
def _impatience():
    with impatiently():
        yield


FILES = ["run.json", "episodes.jsonl", "skipped.jsonl", "calls.jsonl", "truth.jsonl"]


@pytest.fixture
def asked():
    return spec(iterations=1)


def test_a_run_with_a_file_that_is_not_regular_is_refused(tmp_path, asked):
    """Its state is not guessed either."""
    folder, kept = collect(asked, tmp_path), tmp_path / "kept"
    for name, (make, message) in product(FILES, IRREGULAR.values()):
        path = folder / name
        if is_there := path.exists():
            path.rename(kept)
        make(path)
        refused = f"cannot read {path}: {message}"
        with pytest.raises(CollectorError) as error:
            collect(asked, tmp_path)
        assert refused in str(error.value)
        with pytest.raises(CollectorError) as error:
            states([asked], tmp_path)
        assert refused in str(error.value)
        path.unlink()
        if is_there:
            kept.rename(path)


def test_nothing_is_written_to_a_file_that_is_not_regular(tmp_path, asked):
    for name, kind in product(("run.json.part", "truth.jsonl"), ("pipe", "device", "socket")):
        make, message = IRREGULAR[kind]
        out = tmp_path / f"{name}-{kind}"
        (out / asked.folder).mkdir(parents=True)
        make(out / asked.folder / name)
        with pytest.raises(CollectorError, match="cannot write") as error:
            collect(asked, out)
        assert message in str(error.value)


def test_a_template_that_is_not_a_regular_file_is_refused(tmp_path):
    path = tmp_path / "search.j2"
    for make, message in IRREGULAR.values():
        make(path)
        with pytest.raises(UsageError) as error:
            templates.check(tmp_path)
        assert f"cannot read {path}: {message}" in str(error.value)
        path.unlink()


def test_a_run_with_records_nested_too_deeply_is_refused(tmp_path, asked):
    folder = collect(asked, tmp_path)
    for name in set(FILES) - {"skipped.jsonl"}:
        whole = (folder / name).read_text()
        first, _, rest = whole.partition("{")
        (folder / name).write_text(f'{first}{{"deep": {"[" * 100_000}{"]" * 100_000}, {rest}' + whole)
        with pytest.raises(CollectorError, match="levels deep") as error:
            collect(asked, tmp_path)
        assert str(folder / name) in str(error.value)
        (folder / name).write_text(whole)
