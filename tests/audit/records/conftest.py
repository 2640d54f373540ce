"""Servers on the loopback, and records for them."""

from __future__ import annotations

import logging

import pytest

from audit.records.packing import pack
from tests.audit.records.web import web
from tests.audit.samples import revision, write_run


@pytest.fixture
def data(tmp_path):
    """Two runs, in a folder of a data set."""
    folder = tmp_path / "www" / "data"
    for run in (1, 2):
        rows = [
            revision([1, 5, 9], [2, 2, 2], answer="The worst rollout fell.", iteration=0, run=run),
            revision([1, 5, 9], [6, 6, 6], answer="Better.", iteration=1, run=run),
        ]
        write_run(folder / "a b" / f"run-{run}", rows)
    return folder


@pytest.fixture
def packed(data):
    """A pack of them, beside the folder."""
    return pack(data, data.parent / "x y.pack.parquet").path


@pytest.fixture
def server(data):
    """A web server that gives the folder and what is beside it."""
    pytest.importorskip("aiohttp")
    with web(data.parent) as running:
        yield running


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def _moto():
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()


@pytest.fixture(scope="session")
def _client(_moto):
    import boto3

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    secrets = {"aws_access_key_id": "key", "aws_secret_access_key": "not-to-be-shown"}
    return boto3.client("s3", endpoint_url=_moto, region_name="us-east-1", **secrets)


@pytest.fixture
def bucket(_moto, _client, monkeypatch, tmp_path):
    """A bucket in an S3 server; its client."""
    for name, value in {
        "AWS_ENDPOINT_URL": _moto,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "not-to-be-shown",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }.items():
        monkeypatch.setenv(name, value)
    _client.create_bucket(Bucket="bucket")
    yield _client
    for each in _client.list_objects_v2(Bucket="bucket").get("Contents", []):
        _client.delete_object(Bucket="bucket", Key=each["Key"])
    _client.delete_bucket(Bucket="bucket")
