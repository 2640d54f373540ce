"""Marks through the server: written from its own page alone, and found by filters."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from audit.viewer.live import Live
from audit.viewer.server import application
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
