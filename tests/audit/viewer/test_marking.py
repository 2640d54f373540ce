"""Marks through the server: written from its own page alone, and found by filters."""

from __future__ import annotations

import tarfile

import pytest
from starlette.testclient import TestClient

from audit.marks.marks import NAME, marks_for
from audit.options import RevisionSelection, options_of
from audit.viewer.live import Live
from audit.viewer.marking import NO_FOLDER
from audit.viewer.query import Query
from audit.viewer.server import application
from audit.viewer.session import Session
from tests.audit.viewer.records import open_session, write_records

KEY = ["one", "cartpole", "threetraj", 1, 2]


@pytest.fixture
def client(tmp_path):
    with open_session(write_records(tmp_path, runs=1), cache=False) as session:
        opened = TestClient(application(Live(session), "secret", []), base_url="http://127.0.0.1/secret/")
        with opened:
            yield opened


def put(client, headers=None, **change):
    return client.put("api/marks", json={"revision": KEY, **change}, headers=headers)


def test_marks_are_filters(client) -> None:
    assert put(client, star=True).json() == {"star": True, "tags": [], "note": "", "why_not": ""}
    assert put(client, tag="odd").json()["tags"] == ["odd"]
    assert put(client, note="why?").json()["note"] == "why?"
    assert client.get("api/tags").json() == {"stars": 1, "tags": [["odd", 1]], "problems": []}
    for query in ("star=true", "tag=odd", "tag=odd&tag=none&star=true"):
        found = client.get(f"api/revisions?{query}").json()
        assert found["total"] == 1
        assert found["rows"][0][:5] == KEY
    assert client.get("api/revisions?tag=none").json()["total"] == 0
    path = "/".join(map(str, KEY))
    assert client.get(f"api/mark/{path}").json() == {
        "star": True,
        "tags": ["odd"],
        "note": "why?",
        "why_not": "",
    }


def test_what_is_refused(client) -> None:
    assert put(client, {"origin": "http://elsewhere"}, star=True).status_code == 403
    assert client.put("api/marks", content="{}", headers={"content-type": "text/plain"}).status_code == 415
    assert put(client, tag="a\nb").status_code == 400
    assert put(client, odd=1).status_code == 400
    assert put(client, note="a" * 200_000).status_code == 413
    other = client.put("api/marks", json={"revision": [*KEY[:4], 99], "star": True})
    assert (other.status_code, other.json()["error"][:11]) == (400, "no revision")
    assert client.get("api/tags").json() == {"stars": 0, "tags": [], "problems": []}


def test_several_are_marked_at_once_or_none(client) -> None:
    others = [["two", "pong", "threetraj", 1, 3], ["one", "pong", "puresearch", 1, 0]]
    assert put(client, tag="odd", others=others).json()["tags"] == ["odd"]
    assert client.get("api/tags").json()["tags"] == [["odd", 3]]
    assert put(client, tag="even", others=[[*KEY[:4], 99]]).status_code == 400
    assert put(client, tag="even", others=[KEY] * 257).status_code == 400
    assert put(client).status_code == 400
    assert client.get("api/tags").json()["tags"] == [["odd", 3]]
    assert client.get("api/tags?env=pong").json()["tags"] == [["odd", 2]]
    assert client.get("api/tags?env=pong&tag=none&rows=two/pong/threetraj/1/3").json()["tags"] == [["odd", 1]]


def test_the_table_has_marks_where_there_are_any(client) -> None:
    assert "marks" not in client.get("api/revisions").json()
    put(client, star=True)
    found = client.get("api/revisions?condition=one&env=cartpole&variant=threetraj").json()
    marks = {row[4]: mark for row, mark in zip(found["rows"], found["marks"], strict=True) if mark}
    assert marks == {2: {"star": True, "tags": [], "note": False}}


def test_chosen_revisions_are_a_filter(client) -> None:
    rows = "rows=one/cartpole/threetraj/1/2.5.5&rows=two/pong/puresearch/1/0&rows=no/such/run/1/1"
    found = client.get(f"api/revisions?{rows}&sort=-iteration").json()
    assert [row[4] for row in found["rows"]] == [5, 2, 0]
    assert client.get(f"api/revisions?{rows}&env=pong").json()["total"] == 1
    env = client.get(f"api/facets?{rows}&facets=env").json()["env"]["values"]
    assert env == [["cartpole", 2], ["pong", 1]]
    csv = client.get(f"api/download?{rows}&columns=delta").text
    assert len(csv.splitlines()) == 4
    page = client.get(f"api/revision/one/cartpole/threetraj/1/5?{rows}").json()
    assert (page["place"], page["among"]) == (2, 3)
    assert page["after"] == ["two", "pong", "puresearch", 1, 0]


def test_names_of_chosen_revisions_are_decoded_once() -> None:
    [key] = Query.parse([("rows", "a%2Fb/c%2525/it's/3/4")], {}).keys
    assert key == ("a/b", "c%25", "it's", 3, 4)


@pytest.mark.parametrize(
    "rows", ["", "a/b/c/1", "a/b/c/1/", "a/b/c/x/1", "a/b/c/1/1..2", "a/b/c/1/-1", "a/b/c/1/2/3", f"a/b/c/1/{'9' * 19}"]
)
def test_what_names_no_revisions_is_refused(client, rows) -> None:
    assert client.get("api/revisions", params={"rows": rows}).status_code == 400


def test_at_most_256_are_chosen(client) -> None:
    most = ".".join(map(str, range(256)))
    assert client.get(f"api/revisions?rows=one/cartpole/threetraj/1/{most}").json()["total"] == 8
    assert client.get(f"api/revisions?rows=one/cartpole/threetraj/1/{most}.256").status_code == 400
    assert client.get(f"api/revisions?rows=a/b/c/1/1&rows=one/cartpole/threetraj/1/{most}").status_code == 400


def test_pages_are_shown_where_marks_cannot_be_read(tmp_path) -> None:
    folder = write_records(tmp_path, runs=1)
    (folder / NAME).mkdir()
    with (
        open_session(folder, cache=False) as session,
        TestClient(application(Live(session), "secret", []), base_url="http://127.0.0.1/secret/") as client,
    ):
        mark = client.get(f"api/mark/{'/'.join(map(str, KEY))}").json()
        assert "cannot be read" in mark["why_not"]
        assert "marks" not in client.get("api/revisions").json()
        assert len(client.get("api/tags").json()["problems"]) == 1


def test_records_in_no_folder_say_why_nothing_is_marked(tmp_path) -> None:
    write_records(tmp_path / "runs", runs=1)
    archive = tmp_path / "runs.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(tmp_path / "runs", "runs")
    path = "/".join(map(str, KEY))
    for marks, reason in ((None, NO_FOLDER), (marks_for([archive], tmp_path / "mine.jsonl", "ann"), "")):
        request = options_of(archive, RevisionSelection, {"cache": False})
        with (
            Session(request, marks=marks) as session,
            TestClient(application(Live(session), "secret", []), base_url="http://127.0.0.1/secret/") as client,
        ):
            assert client.get(f"api/mark/{path}").json()["why_not"] == reason
            assert put(client, star=True).status_code == (400 if reason else 200)
    assert '"author":"ann"' in (tmp_path / "mine.jsonl").read_text()
