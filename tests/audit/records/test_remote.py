"""Records elsewhere are audited like those here."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tarfile
import time
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import audit
from audit.cli import app
from audit.output.errors import AuditError
from audit.records import remote
from tests.audit.samples import revision, write_run

RELATIONS = ("salience", "revisions")


def results(path):
    """What is made of records, whatever their place."""
    with audit.open(path) as store:
        assert store.problems == []
        return {name: store.rows(name) for name in RELATIONS}


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(words, *arguments, status=1):
    """A command ends in one line that has some words, and no secret."""
    failed = run(*arguments)
    assert (failed.exit_code, len(failed.stderr.splitlines())) == (status, 1), failed.stderr
    assert words in failed.stderr
    assert "secret" not in failed.output


@pytest.fixture
def archive(data):
    path = data.parent / "x.tar.gz"
    with tarfile.open(path, "w:gz") as stream:
        stream.add(data, "data")
    return path


def test_a_folder_an_archive_and_a_pack_on_the_web(data, packed, archive, server):
    here = results(data)
    for name in ("data", "data/", "x y.pack.parquet", "x%20y.pack.parquet", "x.tar.gz?token=secret"):
        assert results(f"{server.url}/{name}") == here, name


def test_the_same_in_a_bucket(data, packed, archive, bucket):
    here = results(data)
    prefix = "odd é #?% names"
    for path in (*data.rglob("*.json*"), packed, archive):
        bucket.upload_file(str(path), "bucket", f"{prefix}/{path.relative_to(data.parent)}")
    bucket.put_object(Bucket="bucket", Key=f"{prefix}/data/")  # how some tools mark a folder
    for name in ("data", "data/", packed.name, archive.name):
        assert results(f"s3://bucket/{prefix}/{name}") == here, name


def test_what_cannot_be_is_one_line(data, server, monkeypatch):
    url = f"{server.url}/data"
    real = remote._files
    with monkeypatch.context() as patch:
        patch.setattr(remote, "_files", lambda *of: {name: {**info, "size": 1} for name, info in real(*of).items()})
        refused("changed while it was copied", "summary", url, "--no-cache")
    (data / "again").symlink_to(data)
    refused("32 folders within one another", "summary", url)
    (data / "again").unlink()
    with monkeypatch.context() as patch:
        patch.setattr("audit.records.remote.SILENCE", 0.2)
        server.silence = 1.0
        refused("imeout", "summary", f"{server.url}/x.tar")
        server.silence = 0.0
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=0))
        refused("SALIENCE_AUDIT_CACHE", "summary", url)
    for each in (url, f"{url}/"):
        refused("no folder", "summary", f"{each}?token=secret")
    for arguments in (("pack", url), ("salience", url, "--detector", "judge")):
        refused("beside", *arguments, status=2)
    refused("no URLs begin with nothing://", "summary", "nothing://bucket/x", status=2)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    refused('pip install ".[remote]"', "summary", "s3://bucket/x", status=2)


def test_what_has_not_changed_is_not_copied_again(data, server):
    url = f"{server.url}/data"
    results(url)
    server.requests.clear()
    results(url)
    assert not [path for method, path in server.requests if method == "GET" and path.endswith("jsonl")]
    write_run(data / "a b" / "run-2", [revision([3, 5, 9], [4, 4, 4], run=2)])
    (data / "a b" / "run-3").mkdir()
    assert results(url) == results(data)
    asked = [path for method, path in server.requests if method == "GET" and path.endswith("jsonl")]
    assert [path for path in asked if "run-1" in path] == []
    assert len(asked) == 1
    shutil.rmtree(data / "a b" / "run-2")
    assert results(url) == results(data)
    shutil.rmtree(data)
    with pytest.raises(AuditError):
        audit.summary(url)


def test_labels_and_commands_name_the_url(data, server):
    url = f"{server.url.replace('//', '//user:secret@')}/data"
    shown = f"{server.url}/data"
    with (data / "a b" / "run-1" / "episodes.jsonl").open("a") as stream:
        stream.write("{torn")
    found = run("find", url, "--where", "delta < 0", "--limit", "1")
    assert f"audit show {shown} " in found.stdout
    assert f"{shown}/a%20b/run-1/episodes.jsonl:3: torn" in found.stderr
    checked = run("sql", url, "select distinct file from episodes order by 1")
    assert "secret" not in found.output + checked.output
    shown_row = run("show", url, "cartpole", "threetraj", "1", "0")
    assert shown_row.exit_code == 0
    assert "secret" not in shown_row.output


def test_an_analysis_is_cached_where_nothing_has_changed(packed, server, monkeypatch):
    monkeypatch.setattr("audit.records.cache.SETTLED", 0)
    url = f"{server.url}/x%20y.pack.parquet"
    first = run("summary", url, "--format", "csv").stdout
    server.requests.clear()
    assert run("summary", url, "--format", "csv").stdout == first
    assert [method for method, _ in server.requests] == ["HEAD"]


def test_failures_are_one_line_and_leave_the_earlier_copy(data, packed, server):
    """At once, after the pages of the folder, after what is stated of the files, and while they are copied."""
    url = f"{server.url}/data"
    here = results(url)
    (data / "a b" / "run-3").mkdir()
    shutil.copy(data / "a b" / "run-1" / "run.json", data / "a b" / "run-3" / "run.json")
    kinds = {503: "status 503", 403: "refused", 404: "no such object", 0: "cannot be copied"}
    for status, words in kinds.items():
        for healthy in (0, 2, 5, 10) if status == 503 else (5,):
            server.status, server.failures, server.healthy = status, 99, healthy
            refused(words, "summary", f"{url}/")
        server.status, server.failures, server.healthy = status, 99, 0
        refused(words, "summary", f"{server.url}/x%20y.pack.parquet?sig=secret", "--no-cache")
    server.failures = 0
    assert results(url) == here


def test_what_is_not_there_or_cannot_be_had(bucket, monkeypatch):
    for url in ("s3://bucket/x", "s3://bucket/x.tar", "s3://no-such-bucket/x", "s3://bucket"):
        refused(f"audit: {url}: no such object", "summary", url)
    bucket.put_object(Bucket="bucket", Key="file.txt", Body=b"text")
    refused("neither a folder nor an archive", "summary", "s3://bucket/file.txt")
    bucket.put_object(Bucket="bucket", Key="data/../../../evil.jsonl", Body=b"{}")
    refused("cannot be that of a file", "summary", "s3://bucket/data")
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        refused("Could not connect", "summary", "s3://bucket/x")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    refused("locate credentials", "summary", "s3://bucket/x")


def test_ctrl_c_while_a_server_is_silent(packed, server):
    server.silence = 100.0
    command = [sys.executable, "-m", "audit", "summary", f"{server.url}/x%20y.pack.parquet", "--no-cache"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not server.requests and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)  # the last resort comes after 1.5 seconds
    assert (process.returncode, errors) == (130, "audit: interrupted\n")
