"""The page of relations is true of records other than its sample, and describes all of them."""

from __future__ import annotations

import re

import pytest

import audit
from audit.models.catalog import models, public, schema
from audit.reports.relations_page import TYPES, page
from tests.audit.samples import SHARED, THRESHOLDS, candidate, episode, write_run
from tests.audit.sources.released import critic_episode, log


@pytest.fixture(scope="module")
def text() -> str:
    return page()


def types_of(name, text):
    section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.+?) \| .*\|$", section, re.MULTILINE))


@pytest.fixture(
    scope="module",
    params=["other records", "a released log", pytest.param("released logs", marks=pytest.mark.slow)],
)
def other(request, tmp_path_factory):
    """Records as unlike the sample as they can be: no seeds, no evidence, thresholds of the run; or translated ones."""
    if request.param == "released logs":
        path = SHARED / "r2po_logs/logs.tar.xz"
        if not path.exists():
            pytest.skip("the released logs are not at hand")
        return path
    folder = tmp_path_factory.mktemp("other")
    if request.param == "a released log":
        run = folder / "cartpole_three_traj" / "run_3"
        critic_episode(run, 1, [1.0, 5.0, 9.0], [1.0, 1.0, 1.0])
        log(run, [5.0])
        return folder
    bare = candidate([1, 2], params=[1, 2], seeds=None)
    write_run(
        folder, [episode(bare, variant="props", env="juggling", evidence=None)], thresholds=THRESHOLDS, step_size=None
    )
    return folder


def test_the_types_are_true_of_other_records(other, text):
    with audit.open(other, cache=False) as store:
        for name in public():
            relation = store.relation(name)
            kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
            own = {column: kind for column, kind in kinds.items() if column not in TYPES}
            assert types_of(name, text) == own, name
            assert {column: kinds[column] for column in TYPES if column in kinds}.items() <= TYPES.items(), name


def test_numbers_are_bigint_but_for_seeds(text):
    """HUGEINT, which a sum of counts is, becomes a floating-point number in pandas; a seed may need it."""
    columns = re.findall(r"^\| `(\w+)` \| .*HUGEINT", text, re.MULTILINE)
    assert set(columns) <= {"seed", "seeds"}


def test_every_relation_is_on_the_page_and_its_columns_are_described(text):
    assert [name for name in public() if not all(schema()[name]["columns"].values())] == []
    internal = text.split("\n## Internal relations\n")[1]
    assert [name for name in models() if f"\n## {name}\n" not in text and f"\n| `{name}` | " not in internal] == []


def test_no_part_of_a_relation_has_the_name_of_another_relation():
    """What a relation names is built first: such a part would have the other one built for nothing, or in vain."""
    wrong = []
    for name, text in models().items():
        code = re.sub(r"--.*", "", text)
        parts = re.split(r'^(?:with\s+)?"?(\w+)"? as (?:materialized )?\(', code, flags=re.MULTILINE)
        for part, body in zip(parts[1::2], parts[2::2], strict=True):
            if part in models() and part != name and not re.search(rf'\bfrom\s+"?{part}\b', body):
                wrong.append((name, part))
    assert wrong == []
