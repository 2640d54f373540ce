"""What relations read of columns in files: fields of candidates, not whole ones with their answers."""

from __future__ import annotations

import json

from audit.models.catalog import models, named_in
from audit.store import open_store
from tests.audit.samples import revision, write_run

CANDIDATES = {"initial", "revised"}


def columns_read(plan):
    """The columns that the scans of files in a plan read."""
    found = plan.get("extra_info", {}).get("Projections", []) if plan["name"].strip() == "READ_PARQUET" else []
    here = {found} if isinstance(found, str) else set(found)
    return here.union(*map(columns_read, plan.get("children", [])))


def test_no_relation_reads_a_whole_candidate(tmp_path):
    write_run(tmp_path / "data", [revision([1, 5, 9], [2, 2, 2], answer="The worst fell.")])
    with open_store([tmp_path / "data"], cache=False) as store:
        read = {}
        for name in sorted(name for name, text in models().items() if "episodes" in named_in(text) - {name}):
            store.relation(name)
            [(_, plan)] = store._database.connection.execute(f"explain (format json) {models()[name]}").fetchall()
            read[name] = set().union(*map(columns_read, json.loads(plan)))
    assert {name for name, columns in read.items() if columns & CANDIDATES} == set()
    assert {"initial.mean_return", "revised.mean_return"} <= read["changes"], "the plan is read as it is"
