"""`audit pack --to`: an object appears whole or not at all."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import audit
from audit.cli import app
from audit.output.errors import AuditError
from audit.remote import uploads
from audit.remote.uploads import target_of, upload


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def names(client):
    return [each["Key"] for each in client.list_objects_v2(Bucket="bucket").get("Contents", [])]


def unfinished(client):
    return client.list_multipart_uploads(Bucket="bucket").get("Uploads", [])


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of the least size that S3 allows."""
    monkeypatch.setattr(uploads, "PART", 5 * 2**20)


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.pack.parquet"
    path.write_bytes(bytes(range(256)) * 4096 * 12 + b"end")
    return path


def test_a_pack_in_a_bucket_is_audited_like_the_records(data, bucket):
    sent = run("pack", data, "--to", "s3://bucket/here/")
    assert sent.exit_code == 0, sent.stderr
    assert sent.stdout.startswith("s3://bucket/here/data.pack.parquet: 2 runs")
    assert names(bucket) == ["here/data.pack.parquet"]
    assert not list(data.parent.glob("*.parquet"))
    assert list(audit.salience("s3://bucket/here/data.pack.parquet")) == list(audit.salience(data))


def test_nothing_is_overwritten_without_force(data, bucket):
    url = "s3://bucket/x.pack.parquet"
    bucket.put_object(Bucket="bucket", Key="x.pack.parquet", Body=b"another's")
    refused = run("pack", data, "--to", url, "--findings", "none")
    assert refused.exit_code == 2
    assert refused.stderr == f"audit: {url} already exists; overwrite it with --force\n"
    assert bucket.get_object(Bucket="bucket", Key="x.pack.parquet")["Body"].read() == b"another's"
    assert run("pack", data, "--to", url, "--findings", "none", "--force").exit_code == 0
    assert bucket.get_object(Bucket="bucket", Key="x.pack.parquet")["Body"].read(4) == b"PAR1"


@pytest.mark.parametrize("size", ["small", "large"])
def test_what_appears_meanwhile_is_not_overwritten(size, packed, large, bucket, small_parts):
    target = target_of("s3://bucket/x.pack.parquet", "")
    bucket.put_object(Bucket="bucket", Key="x.pack.parquet", Body=b"another's")
    with pytest.raises(AuditError, match="already exists"):
        upload(packed if size == "small" else large, target, force=False)
    assert bucket.get_object(Bucket="bucket", Key="x.pack.parquet")["Body"].read() == b"another's"
    assert unfinished(bucket) == []


def test_many_parts_are_one_object(large, bucket, small_parts):
    upload(large, target_of("s3://bucket/x.pack.parquet", ""), force=False)
    found = bucket.get_object(Bucket="bucket", Key="x.pack.parquet")
    assert found["ETag"].endswith('-3"')
    assert found["Body"].read() == large.read_bytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_upload_that_stops_leaves_nothing(large, bucket, small_parts, monkeypatch, quick, error):
    asked = uploads._ask

    def stop(target, method, **arguments):
        if arguments.get("PartNumber") == 2:
            raise error
        return asked(target, method, **arguments)

    monkeypatch.setattr(uploads, "_ask", stop)
    with pytest.raises(error):
        upload(large, target_of("s3://bucket/x.pack.parquet", ""), force=False)
    assert names(bucket) == []
    assert unfinished(bucket) == []


def test_what_arrives_damaged_is_refused(large, bucket, small_parts, monkeypatch):
    monkeypatch.setattr(uploads, "_md5", lambda data: uploads.hashlib.md5(b"other" + data, usedforsecurity=False))
    with pytest.raises(AuditError, match="not what was sent"):
        upload(large, target_of("s3://bucket/x.pack.parquet", ""), force=False)
    assert names(bucket) == []


def test_where_nothing_can_be_uploaded(data, bucket):
    for url, status, words in (
        ("here/x.pack.parquet", 2, "not a URL"),
        ("s3://bucket/x", 2, "neither a name"),
        ("https://user:secret@host/x.pack.parquet?sig=secret", 2, "nothing can be uploaded"),
        ("s3://no-such-bucket/", 1, "no such"),
    ):
        refused = run("pack", data, "--to", url)
        assert (refused.exit_code, words in refused.stderr, "secret" in refused.output) == (status, True, False), url


def test_other_file_systems(packed):
    fsspec = pytest.importorskip("fsspec")
    target = target_of("memory://place/x.pack.parquet", "")
    upload(packed, target, force=False)
    try:
        assert fsspec.filesystem("memory").cat("/place/x.pack.parquet") == packed.read_bytes()
        with pytest.raises(AuditError, match="already exists"):
            upload(packed, target, force=False)
    finally:
        fsspec.filesystem("memory").rm("/place", recursive=True)
