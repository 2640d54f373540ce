"""Pipes, devices, sockets and huge files among the collector's records: refused in a line, never waited for."""

from __future__ import annotations

import pytest

from collector.errors import CollectorError, UsageError
from collector.grid.measured import measure
from collector.llm.simulated import SimulatedModel
from collector.prompts import templates
from collector.sweep import states
from tests.collector.helpers import collect, spec
from tests.irregular import IRREGULAR, impatiently


@pytest.fixture(autouse=True)
def _impatience():
    with impatiently():
        yield


@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl", "skipped.jsonl", "calls.jsonl", "truth.jsonl"])
def test_a_run_with_a_file_that_is_not_regular_is_refused(tmp_path, name, kind):
    make, message = IRREGULAR[kind]
    asked = spec(iterations=1)
    folder = collect(asked, tmp_path)
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    with pytest.raises(CollectorError) as error:
        collect(asked, tmp_path)
    assert f"cannot read {folder / name}: {message}" in str(error.value)


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize("name", ["run.json.part", "truth.jsonl"])
def test_nothing_is_written_to_a_file_that_is_not_regular(tmp_path, name, kind):
    make, message = IRREGULAR[kind]
    asked = spec(iterations=1)
    (tmp_path / asked.folder).mkdir(parents=True)
    make(tmp_path / asked.folder / name)
    with pytest.raises(CollectorError, match="cannot write") as error:
        collect(asked, tmp_path)
    assert message in str(error.value)


@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl"])
def test_the_state_of_such_a_run_is_not_guessed(tmp_path, name, kind):
    make, message = IRREGULAR[kind]
    asked = spec(iterations=1)
    folder = collect(asked, tmp_path)
    (folder / name).unlink()
    make(folder / name)
    with pytest.raises(CollectorError) as error:
        states([asked], tmp_path)
    assert f"cannot read {folder / name}: {message}" in str(error.value)


@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl", "calls.jsonl"])
def test_the_cost_of_a_grid_is_estimated_without_such_files(tmp_path, name, kind):
    folder = collect(spec(iterations=1), tmp_path)
    (folder / name).unlink()
    IRREGULAR[kind][0](folder / name)
    model = SimulatedModel()
    asked, _ = measure(tmp_path, model.backend, model.name)
    assert asked.runs <= 1


@pytest.mark.parametrize("kind", IRREGULAR)
def test_a_template_that_is_not_a_regular_file_is_refused(tmp_path, kind):
    make, message = IRREGULAR[kind]
    make(tmp_path / "search.j2")
    with pytest.raises(UsageError) as error:
        templates.check(tmp_path)
    assert f"cannot read {tmp_path / 'search.j2'}: {message}" in str(error.value)


@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl", "calls.jsonl", "truth.jsonl"])
def test_a_run_with_records_nested_too_deeply_is_refused(tmp_path, name):
    asked = spec(iterations=2)
    folder = collect(asked, tmp_path)
    first, _, rest = (folder / name).read_text().partition("{")
    (folder / name).write_text(f'{first}{{"deep": {"[" * 100_000}{"]" * 100_000}, {rest}')
    with pytest.raises(CollectorError, match="levels deep") as error:
        collect(asked, tmp_path)
    assert str(folder / name) in str(error.value)
