"""Records elsewhere are audited like those here."""

from __future__ import annotations

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
from audit.remote import copies
from audit.remote.urls import path_of
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
    for name in ("data", "data/", "x%20y.pack.parquet", "x.tar.gz?token=secret"):
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


@pytest.mark.slow
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
    run_2 = data / "a b" / "run-2"
    for path in run_2.iterdir():
        path.unlink()
    assert results(url) == results(data)


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


def test_an_analysis_is_kept_where_nothing_has_changed(packed, server, monkeypatch):
    monkeypatch.setattr("audit.ingest.analyses.SMALLEST", 0)
    url = f"{server.url}/x%20y.pack.parquet"
    first = run("summary", url, "--format", "csv").stdout
    server.requests.clear()
    assert run("summary", url, "--format", "csv").stdout == first
    assert [method for method, _ in server.requests] == ["HEAD"]


def test_failures_that_pass(packed, server, quick):
    for status in (503, 500, 0):
        server.status, server.failures = status, 2
        passed = run("runs", f"{server.url}/x%20y.pack.parquet", "--no-cache")
        assert passed.exit_code == 0, status
        assert server.failures == 0


def test_failures_that_stay_are_one_line(packed, server, quick):
    kinds = {503: "busy", 500: "fails", 403: "refused", 404: "no such object", 0: "breaks off"}
    for status, words in kinds.items():
        for healthy in (0, 1):  # at once, or after what the pack is was asked
            server.status, server.failures, server.healthy = status, 99, healthy
            refused(words, "summary", f"{server.url}/x%20y.pack.parquet?sig=secret", "--no-cache")


def test_a_copy_that_broke_off_is_not_taken_for_whole(data, server, quick):
    url, folders = f"{server.url}/data", 4
    for status in (0, 500):
        for healthy in (folders, folders + 5):
            server.status, server.failures, server.healthy = status, 99, healthy
            refused("after", "summary", url, "--no-cache")
    server.failures = 0
    assert results(url) == results(data)


def test_a_page_that_cannot_be_had_leaves_nothing_out(data, server, quick):
    for healthy in range(4):
        server.status, server.failures, server.healthy = 500, 99, healthy
        refused("the server fails", "summary", f"{server.url}/data")


def test_what_changes_while_it_is_copied_is_one_line(data, server, monkeypatch):
    real = copies._remote
    monkeypatch.setattr(copies, "_remote", lambda name, below, info: real(name, below, {**info, "size": 1}))
    refused("changed while it was copied", "summary", f"{server.url}/data")


def test_a_folder_that_leads_into_itself_is_one_line(data, server):
    (data / "again").symlink_to(data)
    refused("32 folders within one another", "summary", f"{server.url}/data")


def test_silence_ends(data, server, monkeypatch, quick):
    monkeypatch.setattr("audit.remote.systems.TIMEOUT", 0.2)
    server.silence = 1.0
    refused("does not answer", "summary", f"{server.url}/x.tar")


def test_what_is_not_there_or_cannot_be_had(bucket, quick, monkeypatch):
    for url in ("s3://bucket/x", "s3://bucket/x.tar", "s3://no-such-bucket/x", "s3://bucket"):
        refused(f"audit: {url}: no such object", "summary", url)
    bucket.put_object(Bucket="bucket", Key="file.txt", Body=b"text")
    refused("neither a folder nor an archive", "summary", "s3://bucket/file.txt")
    bucket.put_object(Bucket="bucket", Key="data/../../../evil.jsonl", Body=b"{}")
    refused("cannot be that of a file", "summary", "s3://bucket/data")
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        refused("cannot be reached", "summary", "s3://bucket/x")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    refused("AWS_ACCESS_KEY_ID", "summary", "s3://bucket/x")


def test_any_file_system_of_fsspec(packed, data):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(str(data), "/bucket/data", recursive=True)
    memory.put(str(packed), "/bucket/x.pack.parquet")
    try:
        assert results("memory://bucket/data") == results(data)
        assert results("memory://bucket/x.pack.parquet") == results(data)
    finally:
        memory.rm("/bucket", recursive=True)


def test_a_copy_is_removed_with_what_it_is_of(data, server):
    results(f"{server.url}/data")
    copy = path_of(f"{server.url}/data").as_local()
    assert (copy / "a%20b").is_dir() or (copy / "a b").is_dir()
    for path in sorted(data.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    with pytest.raises(AuditError):
        audit.summary(f"{server.url}/data")


@pytest.mark.parametrize("healthy", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_ctrl_c_while_a_server_is_silent(packed, server, tmp_path, healthy):
    """Before anything is known of the pack, and while it is copied."""
    server.silent_after, server.silence = healthy, 100.0
    command = [sys.executable, "-m", "audit", "summary", f"{server.url}/x%20y.pack.parquet", "--no-cache"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wait_until(lambda: len(server.requests) > healthy)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)  # the last resort comes after 1.5 seconds
    assert process.returncode == 130
    assert errors == "audit: interrupted\n"


def wait_until(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError
