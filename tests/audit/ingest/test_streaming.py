"""Lines pass through: what is held in memory while they are read does not grow with their number."""

from __future__ import annotations

import json

from audit.engine.database import Database
from audit.ingest import gathering
from audit.store import open_store
from tests.audit.samples import write_run
from tests.audit.texts import text_revision, text_run


def scans(plan):
    """The functions that read files below a node of a plan."""
    own = [plan.get("extra_info", {}).get("Function", "")]
    return own + [each for child in plan["children"] for each in scans(child)]


def joins(plan):
    """The joins of a plan."""
    own = [plan] if "JOIN" in plan["name"] else []
    return own + [each for child in plan["children"] for each in joins(child)]


def test_no_join_holds_the_lines(tmp_path, monkeypatch):
    """DuckDB holds the second side of a join, and streams the first."""
    plans = []
    write = Database.write

    def explain_and_write(self, name, path, **options):
        self._build(name)
        plans.extend(row[1] for row in self._connection.execute(f'explain (format json) from "{name}"').fetchall())
        write(self, name, path, **options)

    monkeypatch.setattr(Database, "write", explain_and_write)
    monkeypatch.setattr(gathering, "SMALLEST", 0)
    monkeypatch.setattr(gathering, "HELD", 0)
    write_run(tmp_path, [text_revision([0, 1], [1, 1])], **text_run())
    with open_store([tmp_path], cache=False) as store:
        assert len(store.rows("changes")) == 1
    [plan] = json.loads(plans[0])
    found = joins(plan)
    assert any("READ_NDJSON_OBJECTS" in scans(join["children"][0]) for join in found)
    assert not any("READ_NDJSON_OBJECTS" in scans(join["children"][1]) for join in found)
