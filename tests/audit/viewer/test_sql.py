"""SQL in the page reads relations and nothing else, and leaves the other pages as they are."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from audit.viewer import sql
from audit.viewer.live import Live
from audit.viewer.server import application
from tests.audit.viewer.records import open_session, write_records


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = write_records(tmp_path_factory.mktemp("sql"), runs=1)
    with open_session(folder, cache=False) as session:
        opened = TestClient(application(Live(session), "secret", []), base_url="http://127.0.0.1/secret/")
        with opened:
            yield opened


def ask(client, text):
    return client.get("api/sql", params={"sql": text})


def test_a_query(client) -> None:
    """Two conditions, tasks and methods with a run of eight each."""
    found = ask(client, "select env, count(*) as n, null as nothing from revisions group by env order by env").json()
    assert found == {
        "columns": ["env", "n", "nothing"],
        "rows": [["cartpole", 32, None], ["pong", 32, None]],
        "more": False,
    }
    assert client.get("api/revisions").json()["total"] == 64


def test_more_rows_than_are_sent(client) -> None:
    found = ask(client, "select a.r0 from revisions as a, revisions as b, revisions as c").json()
    assert (len(found["rows"]), found["more"]) == (sql.MOST, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from glob('/*')",
        "copy revisions to '/tmp/here.csv'",
        "attach 'other.db'",
        "set memory_limit = '1GB'",
        "pragma database_list",
        "install httpfs",
        "select 1; select 2",
        "delete from revisions",
        "select * from nowhere",
        "select getenv('HOME')",
    ],
)
def test_what_is_refused(client, text) -> None:
    answer = ask(client, text)
    assert answer.status_code == 400, answer.text
    assert "\n" not in answer.json()["error"]
    path = "one/cartpole/threetraj/1/2"
    assert client.get(f"api/revision/{path}").status_code == 200


def test_a_long_query_is_stopped(client, monkeypatch) -> None:
    monkeypatch.setattr(sql, "SECONDS", 0.5)
    six = ", ".join(f"revisions as r{number}" for number in range(6))  # 64 to the sixth is 69 billion
    answer = ask(client, f"select sum(r0.delta * r1.delta * r2.delta * r3.delta * r4.delta * r5.delta) from {six}")
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"] == "stopped after 0.5 seconds"
    assert ask(client, "select count(*) from runs").json()["rows"] == [[8]]


def test_the_relations_are_listed(client) -> None:
    named = {each["name"] for each in client.get("api/relations").json()["relations"]}
    assert {"revisions", "runs", "mentions"} <= named
