"""Only who has the address gets an answer, and only reads."""

from __future__ import annotations

import csv
import http.client
import io
import json
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from unittest.mock import Mock
from urllib.parse import urlsplit

import duckdb
import pytest

import audit
from audit.viewer import export
from audit.viewer.server import POLICY


def ask(view, path="", *, host=None, method="GET", headers=None):
    """A request as a browser or somebody else makes it: status, headers and body."""
    address = urlsplit(view.address)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    target = path if path.startswith("/") else address.path + path
    connection.putrequest(method, target, skip_host=True)
    for value in [address.netloc] if host is None else host:
        connection.putheader("Host", value)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


def test_short_answers_do_not_wait_for_an_acknowledgement(served) -> None:
    """The system holds back a short body until its header was acknowledged, for 40 ms, unless told not to."""
    assert served._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_pages_are_there_and_no_inline_script_runs(served) -> None:
    assert POLICY["script-src"] == "'self'"
    assert "unsafe" not in " ".join(POLICY.values())
    for path in ("", "index.html", "style.css", "dom.js", "vendor/plot.umd.min.js", "pages/revisions.js", "api/about"):
        status, headers, body = ask(served, path)
        assert (status, bool(body)) == (200, True), path
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_an_exported_folder_has_nothing_that_follows(served, tmp_path) -> None:
    assert json.loads(ask(served, "api/live")[2]) == {"followed": False, "added": 0, "problem": ""}
    assert b"live.js" in ask(served, "index.html")[2]
    export._write_static(tmp_path / "pages")
    files = [path for path in (tmp_path / "pages").rglob("*") if path.is_file()]
    assert len(files) > 20
    assert [path for path in files if "live." in path.name or b'"live.' in path.read_bytes()] == []


def test_without_the_secret_there_is_nothing_and_no_path_leads_out_of_the_pages(served) -> None:
    for path in ("/", "/index.html", "/api/about", "/x/api/about", "/%2e%2e/", "/favicon.ico"):
        status, _, body = ask(served, path)
        assert (status, body) == (404, b"not found: open the address that audit view printed\n"), path
    for path in ("../", "..%2f..%2fserver.py", "%2e%2e/%2e%2e/server.py", "../../query.py", "api/../../x"):
        assert ask(served, path)[0] == 404, path


def test_another_name_is_refused(served) -> None:
    """A name of somebody else's that leads here is how a page elsewhere would read what only this machine may."""
    evil = "evil.example"
    for host in ([evil], [f"{evil}:80"], [f"127.0.0.1.{evil}"], [], ["localhost", evil], [""]):
        assert ask(served, "api/about", host=host)[0] in {400, 421}, host
    for host in ("localhost:1", "127.0.0.1", "[::1]:99", "LOCALHOST"):
        assert ask(served, "api/about", host=[host])[0] == 200, host


def test_nothing_can_be_written(served) -> None:
    for method, path in product(
        ("POST", "PUT", "DELETE", "PATCH"), ("api/about", "api/revisions", "api/download", "style.css")
    ):
        assert ask(served, path, method=method)[0] in {404, 405}, (method, path)


def test_mistakes_are_one_line(served) -> None:
    for path, status, message in (
        ("api/revisions?nothing=1", 400, b"no column 'nothing'"),
        ("api/revisions?columns=nothing", 400, b"no column 'nothing'"),
        ("api/revisions?delta=much", 400, b"give a number"),
        ("api/revision/no/such/one/1/1", 404, b"no revision no such one run 1 iteration 1"),
        ("api/run/no/such/one/1", 404, b"no run no such one 1"),
        ("api/revision/a/b/c/999999999999999999/0", 404, b"no revision"),
    ):
        found, _, body = ask(served, path)
        assert (found, message in body, b"\n" in body) == (status, True, False), path


def test_what_is_too_much_is_one_short_line(served) -> None:
    digits, marks, columns = "9" * 5000, "!" * 5000, ",".join(["delta"] * 5000)
    key = "hand/cartpole/threetraj"
    for path in (
        *(f"api/revisions?{query}" for query in (f"page={digits}", f"env={marks}x", f"delta={marks}1", f"{digits}=1")),
        f"api/run/{key}/{digits}",
        *(f"api/{each}/{key}/{digits}/1" for each in ("revision", "replay")),
        f"api/revision/{key}/1/{digits}",
        *(f"api/interventions/{each}" for each in (digits, f"{digits}/report", f"0/unit/{digits}")),
        *(
            f"api/{each}={columns}"
            for each in ("revisions?sort", "revisions?columns", "facets?facets", "download?columns")
        ),
        "api/revisions?" + "&".join(["delta=1"] * 5000),
        f"api/compare?env={marks}x",
        f"api/compare?by={digits}",
        f"api/download?columns={columns}",
    ):
        status, _, body = ask(served, path)
        assert (status, len(body) < 1000, body.count(b"\n")) == (400, True, 0), path[:60]
        assert set(json.loads(body)) == {"error"}


def test_an_error_of_the_machine_is_one_line_too(served, monkeypatch) -> None:
    for error in (OSError(28, "No space left on device"), duckdb.IOException("gone\nTraceback of DuckDB")):
        monkeypatch.setattr("audit.viewer.pages.facets", Mock(side_effect=error))
        status, _, body = ask(served, "api/facets")
        assert (status, b"Traceback" in body) == (500, False)
        assert json.loads(body)["error"].splitlines()[0] in str(error)


def test_rows_can_be_taken_away(served, grid) -> None:
    wanted = [row for row in audit.revisions(grid, env="cartpole") if row["direction"] == "regression"]
    chosen = "env=cartpole&direction=regression&sort=delta&columns=delta,pattern"
    rows = list(csv.DictReader(io.StringIO(ask(served, f"api/download?{chosen}")[2].decode())))
    assert [float(row["delta"]) for row in rows] == sorted(row["delta"] for row in wanted)
    assert list(rows[0]) == ["condition", "env", "variant", "run", "iteration", "delta", "pattern"]
    every = list(csv.DictReader(io.StringIO(ask(served, "api/download")[2].decode())))
    assert len(every) == 144


def command(*arguments):
    return [sys.executable, "-c", "from audit.cli import main; main()", "view", *map(str, arguments)]


@pytest.mark.slow
def test_the_command_prints_one_line_and_ends_at_ctrl_c(grid) -> None:
    with subprocess.Popen(
        command(grid, "--no-browser"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        line = process.stdout.readline()
        assert line.startswith("http://127.0.0.1:")
        port = urlsplit(line.strip()).port
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, "Traceback" in err) == (130, "", False)
    assert err.splitlines()[-1] == "audit: interrupted"
    with socket.socket() as closed:
        assert closed.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.slow
def test_mistakes_of_the_command_are_one_line(grid) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        busy = taken.getsockname()[1]
        for arguments, status in [
            ((grid, "--port", busy), 2),
            ((grid, "--host", "203.0.113.7"), 2),
            ((grid, "--host", "no such host"), 2),
            ((grid, "--port", "70000"), 2),
            ((grid / "nowhere",), 1),
            ((grid, "--env", "chess"), 1),
        ]:
            done = subprocess.run(
                command(*arguments, "--no-browser"), capture_output=True, text=True, timeout=120, check=False
            )
            assert done.returncode == status, (arguments, done.stderr)
            assert len([line for line in done.stderr.splitlines() if "simulated" not in line]) == 1, done.stderr


def test_a_plan_that_cannot_be_read_is_refused_before_anything_is_served(grid, tmp_path) -> None:
    with pytest.raises(audit.AuditError, match=r"cannot read .*nope\.json"):
        audit.view(grid, plan=tmp_path / "nope.json")


def test_a_view_in_a_notebook_is_a_frame_and_closes(grid) -> None:
    with audit.open(grid) as store:
        view = audit.view(store, env="nim")
        assert f'src="{view.address}"' in view._repr_html_()
        assert ask(view, "api/about")[0] == 200
        view.close()
        assert store.rows("summary")  # what was open before stays open


def test_twenty_requests_at_once_and_clients_that_hang_up(served) -> None:
    paths = ["api/overview", "api/revisions?sort=-delta", "api/facets?facets=env,pattern", "api/revisions?q=worst"] * 5
    with ThreadPoolExecutor(20) as pool:
        assert {each[0] for each in pool.map(lambda path: ask(served, path), paths)} == {200}
    address = urlsplit(served.address)
    for _ in range(5):  # a client that hangs up leaves the server alive
        with socket.create_connection((address.hostname, address.port)) as half:
            half.sendall(f"GET {address.path}api/download HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
    assert ask(served, "api/about")[0] == 200
