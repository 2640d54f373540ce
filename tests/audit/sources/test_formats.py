"""What a log format cannot state is a property of its source, and of nothing else."""

from __future__ import annotations

from importlib import resources

from audit.models.catalog import functions, models
from audit.records.packs import PackedRun, _add
from audit.sources.formats import CAPABILITIES, REMARKS
from audit.sources.intake import Intake, RunFacts


def test_no_relation_names_a_source():
    for name, text in (models() | functions()).items():
        code = "\n".join(line.partition("--")[0] for line in text.splitlines())
        assert not [source for source in CAPABILITIES if f"'{source}'" in code], name


def test_no_module_names_the_released_logs_but_their_own():
    found = [path.name for path in resources.files("audit").rglob("*.py") if '"r2po_release"' in path.read_text()]
    assert found == ["r2po_release.py"]


def test_a_packed_run_of_a_source_that_nobody_knows_is_left_out(tmp_path):
    facts = RunFacts(condition="a", env="cartpole", variant="r2po", run=1, source="tomorrow")
    intake = Intake(tmp_path)
    assert _add(PackedRun(facts=facts), "some.audit.parquet", intake) is None
    assert "source 'tomorrow' is not known" in intake.problems[0].message


def test_logs_of_other_tools_come_with_what_they_cannot_state():
    assert set(REMARKS) == {"gepa", "openevolve", "shinkaevolve"} <= set(CAPABILITIES)
    assert all(sentence.endswith(".") and "\n" not in sentence for each in REMARKS.values() for sentence in each)
