"""Two sides compared: counts against the table of revisions, tests against SciPy and a regression by revisions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from audit.measures.cluster_robust import cluster_robust
from audit.measures.holm import holm
from audit.output.errors import UsageError
from audit.store import rows_of
from audit.viewer.compare import RATES, compare
from audit.viewer.query import Query
from tests.audit.samples import revision, write_run
from tests.audit.viewer.records import CONDITIONS, METHODS, TASKS, number_of, open_session, write_records

COLUMNS = ("env", "condition", "variant", "run", "direction", "strict", "in_salience", "cites")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with open_session(write_records(tmp_path_factory.mktemp("records"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def revisions(session):
    return [dict(zip(COLUMNS, row, strict=True)) for row in session.table.all_rows(Query(), COLUMNS)]


def test_methods_are_compared_with_the_control_unless_others_are_given(session):
    found = compare(session, Query())
    assert (found["by"], found["a"], found["b"], found["other"]) == ("variant", "threetraj", "puresearch", "condition")
    assert found["choices"] == {"variant": list(METHODS), "condition": list(CONDITIONS)}
    found = compare(session, Query(), "condition", b="one")
    assert (found["a"], found["b"]) == ("two", "one")


@pytest.mark.parametrize("by", ["variant", "condition"])
def test_every_count_is_that_of_its_link(session, by):
    found = compare(session, Query(), by)
    assert {row["measure"] for row in found["rates"]} == set(RATES)
    for row in found["rates"]:
        for name, chosen in row["links"].items():
            assert number_of(session, chosen) == row.get(name, 0), (row["measure"], name)
    for row in found["returns"]:
        for side in "ab":
            assert number_of(session, row["links"][f"{side}_runs"]) == 8 * row[f"{side}_runs"]


def test_returns_are_tested_as_scipy_does_with_holms_correction_over_tasks(session):
    found = compare(session, Query(), "condition", "one", "two")
    runs = rows_of(session.store.relation("runs"))

    def returns(row, condition):
        return [
            run[row["metric"]]
            for run in runs
            if (run["condition"], run["env"], run["variant"]) == (condition, row["env"], row["variant"])
        ]

    assert len(found["returns"]) == 2 * len(TASKS) * len(METHODS)
    for row in found["returns"]:
        theirs = scipy_stats.ttest_ind(returns(row, "one"), returns(row, "two"), equal_var=False)
        interval = theirs.confidence_interval()
        expected = [theirs.statistic, theirs.pvalue, interval.low, interval.high]
        assert [row[name] for name in ("t", "p", "low", "high")] == pytest.approx(expected)
        family = [
            each for each in found["returns"] if (each["metric"], each["variant"]) == (row["metric"], row["variant"])
        ]
        assert row["family"] == len(family) == len(TASKS)
        assert row["holm_p"] == holm([each["p"] for each in family])[family.index(row)]


@pytest.mark.parametrize("measure", ["regressions", "strict"])
def test_rates_are_tested_as_by_a_regression_over_single_revisions(session, revisions, measure):
    found = compare(session, Query(), "condition", "two", "one")
    rows = [row for row in found["rates"] if row["measure"] == measure]
    assert len(rows) >= len(TASKS)
    for row in rows:
        mine = [each for each in revisions if (each["env"], each["variant"]) == (row["env"], row["variant"])]
        if measure == "strict":
            mine = [each for each in mine if each["in_salience"] and each["direction"] == "regression"]
        is_part = [each["strict"] if measure == "strict" else each["direction"] == "regression" for each in mine]
        design = [[1.0, float(each["condition"] == "two")] for each in mine]
        runs = [f"{each['condition']} {each['run']}" for each in mine]
        expected = cluster_robust(np.array(is_part, dtype=float), design, runs)[1]
        assert row["difference"] == pytest.approx(100 * expected.estimate)
        assert [row["low"], row["high"]] == pytest.approx([100 * expected.low, 100 * expected.high])
        assert row["p"] == pytest.approx(expected.p)
        assert row["difference"] == pytest.approx(row["a_pct"] - row["b_pct"])


def test_filters_and_the_commands_options_restrict_tasks(session, tmp_path):
    found = compare(session, Query(filters=(("env", ("pong",)),)), "variant")
    assert {row["env"] for row in [*found["returns"], *found["rates"]]} == {"pong"}
    assert {row["family"] for row in found["returns"]} == {1}
    data = write_records(tmp_path, runs=2, iterations=4)
    with open_session(data, env=["pong"]) as opened:
        found = compare(opened, Query())
        assert {row["env"] for row in [*found["returns"], *found["rates"]]} == {"pong"}
    with open_session(data, condition=["one"], variant=["threetraj"]) as opened:
        found = compare(opened, Query())
    assert (found["by"], found["returns"], found["rates"]) == (None, [], [])


def test_what_only_one_side_has_is_no_difference(session):
    rows = [row for row in compare(session, Query(), "variant")["rates"] if row["measure"] == "citing"]
    assert rows
    for row in rows:
        assert row["a_of"] > 0
        assert row["b_of"] == 0
        assert row["difference"] is row["p"] is row["holm_p"] is None


def test_what_cannot_be_compared_is_refused(session):
    for given, message in (
        (("arm",), "compare by 'arm': give variant or condition"),
        (("variant", "r2po"), "no variant 'r2po'; there are puresearch, threetraj"),
        (("variant", "threetraj", "threetraj"), "'threetraj' twice: give two different ones"),
    ):
        with pytest.raises(UsageError, match=message):
            compare(session, Query(), *given)
    with pytest.raises(UsageError, match="compare by pattern: filter by condition, env and variant alone"):
        compare(session, Query(filters=(("pattern", ("fine_tune",)),)))


def test_methods_worth_comparing_are_compared_at_first(tmp_path) -> None:
    """PureSearch is a control, which is no use beside a method on other tasks; ThreeTraj shows what is asked about."""
    for place, (env, variant) in enumerate(
        [("cartpole", "r2po"), ("cartpole", "threetraj"), ("cartpole", "puresearch"), ("pong", "alwayscritic")]
    ):
        evidence = {} if variant == "threetraj" else {"evidence": None}
        row = revision([1, 2, 3], [2, 3, 4], after=(1, 2, 4), iteration=0, env=env, variant=variant, **evidence)
        write_run(tmp_path / str(place), [row])
    with open_session(tmp_path) as session:
        for given, sides in (
            ({}, ("threetraj", "puresearch")),
            ({"a": "r2po"}, ("r2po", "puresearch")),
            ({"b": "r2po"}, ("threetraj", "r2po")),
            ({"a": "alwayscritic"}, ("alwayscritic", "puresearch")),
        ):
            found = compare(session, Query(), **given)
            assert (found["a"], found["b"]) == sides or given == {"a": found["a"]} == {"a": "alwayscritic"}
