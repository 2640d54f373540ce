"""Results of rollouts in the cache: what is damaged, or another's, is computed again."""

from __future__ import annotations

import sqlite3

from audit.rerun.results import NAME, Results


def test_what_is_damaged_or_another_s_is_not_found(tmp_path):
    with Results(tmp_path) as results:
        results.keep({"one": "1.5", "two": "2.5", "three": "3.5"})
        assert results.find(["one", "two", "three"]) == {"one": "1.5", "two": "2.5", "three": "3.5"}
    with sqlite3.connect(tmp_path / NAME) as database:
        database.execute("update results set value = replace(value, '1.5', '1.6') where key = 'one'")
        database.execute("update results set value = (select value from results where key = 'three') where key = 'two'")
    database.close()
    with Results(tmp_path) as results:
        assert results.find(["one", "two", "three"]) == {"three": "3.5"}


def test_what_earlier_versions_have_stored_is_computed_again(tmp_path):
    with Results(tmp_path):
        pass
    with sqlite3.connect(tmp_path / NAME) as database:
        database.execute("insert into results values ('one', '1.5')")
    database.close()
    with Results(tmp_path) as results:
        assert results.find(["one"]) == {}
        results.keep({"one": "2.5"})
        assert results.find(["one"]) == {"one": "2.5"}
