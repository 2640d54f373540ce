"""What the overview states first: counts are those of links, intervals those of regressions over single revisions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from audit.measures.cluster_robust import cluster_robust, clustered_mean
from audit.output.errors import UsageError
from audit.viewer.conclusion import SHARES, conclusion
from audit.viewer.counts import GROUP
from audit.viewer.query import Query
from tests.audit.samples import revision, write_run
from tests.audit.viewer.records import number_of, open_session, write_records

COLUMNS = (*GROUP, "run", "direction", "strict", "in_salience", "cites")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with open_session(write_records(tmp_path_factory.mktemp("records"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def shown(session):
    """Revisions whose critic was shown what is asked about."""
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in session.table.all_rows(Query(), COLUMNS)]
    return [row for row in rows if row["in_salience"]]


def run_of(row):
    return "|".join(str(row[name]) for name in (*GROUP, "run"))


def test_counts_are_those_of_their_links(session) -> None:
    found = conclusion(session, Query())["shares"]
    assert set(found) == set(SHARES)
    for name, share in found.items():
        for column, chosen in share["links"].items():
            assert number_of(session, chosen) == share[column] > 0, (name, column)
        assert share["low"] <= share["pct"] <= share["high"]


def test_the_share_is_a_mean_with_runs_as_clusters(session, shown) -> None:
    regressions = [row for row in shown if row["direction"] == "regression"]
    theirs = clustered_mean([float(row["strict"]) for row in regressions], [run_of(row) for row in regressions])
    found = conclusion(session, Query())
    share = found["shares"]["strict"]
    assert [share[name] for name in ("pct", "low", "high")] == pytest.approx(
        [100 * each for each in (theirs.estimate, theirs.low, theirs.high)]
    )
    [cell] = [row for row in found["cells"] if [row[name] for name in GROUP] == ["one", "pong", "threetraj"]]
    mine = [row for row in regressions if [row[name] for name in GROUP] == ["one", "pong", "threetraj"]]
    theirs = clustered_mean([float(row["strict"]) for row in mine], [row["run"] for row in mine])
    ends = [max(0.0, 100 * theirs.low), min(100.0, 100 * theirs.high)]
    assert [cell["strict_pct_low"], cell["strict_pct_high"]] == pytest.approx(ends)


def test_the_difference_is_that_within_conditions_tasks_and_methods(session, shown) -> None:
    for query, rows in (
        (Query(), shown),
        (Query(filters=(("env", ("pong",)),)), [row for row in shown if row["env"] == "pong"]),
    ):
        strata = sorted({tuple(row[name] for name in GROUP) for row in rows})
        place = [strata.index(tuple(row[name] for name in GROUP)) for row in rows]
        design = np.column_stack([np.eye(len(strata))[place], [float(row["cites"]) for row in rows]])
        regress = [float(row["direction"] == "regression") for row in rows]
        theirs = cluster_robust(regress, design, [run_of(row) for row in rows])[-1]
        found = conclusion(session, query)["difference"]
        assert [found[name] for name in ("points", "low", "high")] == pytest.approx(
            [100 * each for each in (theirs.estimate, theirs.low, theirs.high)]
        )
        assert found["is_rough"] == (theirs.df < 4)
        assert (found["citing"] + found["others"], found["cells"]) == (len(rows), len(strata))


def test_what_cannot_be_known_is_null(tmp_path) -> None:
    """One run, one answer; no infinite number, no NaN."""
    write_run(tmp_path / "one", [revision([1, 2, 9], [1, 1, 1], after=(1, 2, 4), answer="The worst rollout fell.")])
    with open_session(tmp_path) as session:
        found = conclusion(session, Query())
        with pytest.raises(UsageError, match="direction"):
            conclusion(session, Query(filters=(("direction", ("regression",)),)))
    json.dumps(found, allow_nan=False)
    assert found["shares"]["regressions"]["pct"] == 100
    assert found["shares"]["regressions"]["low"] is None
    assert found["shares"]["citing_improvements"]["pct"] is None
    assert found["difference"]["points"] is None
    assert (found["difference"]["citing"], found["difference"]["others"]) == (1, 0)


def test_thousands_of_runs_are_no_matrix_of_all_pairs() -> None:
    """20,000 clusters: their covariances would be 3.2 GB."""
    rng = np.random.default_rng(0)
    values = rng.random(20_000)
    found = clustered_mean(values, np.arange(20_000))
    assert found.se == pytest.approx(values.std(ddof=1) / np.sqrt(20_000))
    assert found.df == pytest.approx(19_999)
