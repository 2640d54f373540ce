"""Coding in the viewer: what a coder sees, what is written on whose request, and nothing else."""

from __future__ import annotations

import csv
import io
import json
import threading
from functools import partial
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from typer.testing import CliRunner

import audit
from audit.cli import app
from audit.options import Options
from audit.validation.coding.filling import Filling
from audit.viewer.coding import save, sheet
from audit.viewer.writing import LARGEST, put_label
from tests.audit.samples import revision, write_run

HOSTILE = '<img src=x onerror="document.title=1">\x1b[31m\u202e'
COLUMNS = ("mentions_worst", "mentions_median", "mentions_best", "discounts_worst", "driver")
ALIKE = ("1", "0", "0", "0", "worst")


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    root = tmp_path_factory.mktemp("records")
    answers = ("The worst run fell.", HOSTILE, "=1+1")
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=text, iteration=i, condition="secret-model")
        for i, text in enumerate(answers)
    ]
    write_run(root / "hand", rows)
    return root


@pytest.fixture(scope="module")
def empty(records):
    """A sheet as it is drawn."""
    return CliRunner().invoke(app, ["sample", str(records), "--coders", "A,B", "--with-outcome"]).stdout


@pytest.fixture
def labels(empty, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(empty)
    return path


@pytest.fixture(scope="module")
def store(records):
    with Options(paths=[records]).open() as opened:
        yield opened


@pytest.fixture
def opened(store, labels):
    return lambda coder, *paths: SimpleNamespace(
        store=store, lock=threading.Lock(), coding=Filling.opened(paths or [labels], coder)
    )


def code(session, *codes):
    """Code all rows of a coder alike."""
    for row in sheet(session)["rows"]:
        for column, value in zip(COLUMNS, codes, strict=True):
            save(session, row["row"], column, value, sheet(session)["version"])


def test_a_coder_sees_rollouts_changes_and_answer_and_nothing_else(opened):
    other = opened("B")
    code(other, "0", "1", "1", "1", "history")
    save(other, sheet(other)["rows"][0]["row"], "note", "a note of B", sheet(other)["version"])
    shown = sheet(opened("A"))
    assert set(shown) == {"file", "coder", "columns", "has_note", "guide", "reading", "version", "rows"}
    assert {tuple(row["codes"].values()) for row in shown["rows"]} == {("",) * 5}
    assert {frozenset(texts) for texts in shown["reading"].values()} == {frozenset({"rollouts", "changes", "answer"})}
    assert {texts["answer"] for texts in shown["reading"].values()} >= {"The worst run fell.", "'=1+1"}
    del shown["guide"]
    for hidden in ("secret-model", "direction", "delta", "regression", "improvement", "a note of B", '"B"'):
        assert hidden not in json.dumps(shown)


def test_a_sheet_of_codes_alone_is_read_from_the_records(opened, labels, tmp_path):
    rows = list(csv.DictReader(io.StringIO(labels.read_text())))
    with (tmp_path / "bare.csv").open("w", newline="") as file:
        names = ["condition", "env", "variant", "run", "iteration", "coder", *COLUMNS, "note"]
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows([*rows, {**rows[0], "iteration": "99"}])
    full, bare = sheet(opened("A")), sheet(opened("A", tmp_path / "bare.csv"))
    *known, unknown = bare["reading"].values()
    answers = [text["answer"].lstrip("'") for text in full["reading"].values()]
    assert [text["rollouts"] for text in known] == [text["rollouts"] for text in full["reading"].values()]
    assert [text["answer"].replace("\x1b", r"\x1b").replace("\u202e", r"\u202e") for text in known] == answers
    assert "not in the records" in unknown["answer"]
    session = SimpleNamespace(coding=None)
    assert sheet(session) == {"file": None}
    with pytest.raises(audit.AuditError, match="--labels"):
        save(session, 2, "driver", "worst", "")


@pytest.fixture
def client(opened):
    session = opened("A")
    route = Route("/labels", partial(put_label, session), methods=["PUT"])
    client = TestClient(Starlette(routes=[route]), base_url="http://127.0.0.1:8000")
    first = sheet(session)
    return client, {"row": first["rows"][0]["row"], "column": "driver", "value": "worst", "expected": first["version"]}


def test_a_request_of_the_page_writes_and_others_write_nothing(client, labels):
    send, change = client
    before = labels.read_bytes()
    for status, headers, changed in (
        (403, {"origin": "http://evil.example"}, {}),
        (403, {"origin": "null"}, {}),
        (403, {"origin": "http://127.0.0.1:8001"}, {}),
        (415, {"content-type": "text/plain"}, {}),
        (415, {"content-type": "application/x-www-form-urlencoded"}, {}),
        (400, {}, {"row": "2"}),
        (400, {}, {"row": 10**30}),
        (400, {}, {"path": "/etc/passwd"}),
        (400, {}, {"column": "coder", "value": "B"}),
        (409, {}, {"expected": "0" * 64}),
        (413, {}, {"value": "a" * LARGEST}),
    ):
        content = json.dumps({**change, **changed})
        answer = send.put("/labels", content=content, headers={"content-type": "application/json", **headers})
        assert (answer.status_code, set(answer.json())) == (status, {"error"}), (headers, changed)
        assert labels.read_bytes() == before
    assert send.post("/labels", json=change).status_code == 405
    for headers, value in (({}, "worst"), ({"origin": "http://127.0.0.1:8000"}, "best")):
        answer = send.put("/labels", json={**change, "value": value}, headers=headers)
        assert answer.status_code == 200
        change["expected"] = answer.json()["version"]
        assert answer.json()["rows"][0]["codes"]["driver"] == value
        assert next(csv.DictReader(io.StringIO(labels.read_text())))["driver"] == value
