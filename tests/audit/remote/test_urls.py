"""URLs as paths: what people see of them, and where their copies are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.errors import AuditError, UsageError
from audit.remote.urls import RemotePath, address_of, is_url, local_of, path_of
from collector.cli import app as collect
from collector.errors import CollectorError
from collector.system.secrets import without_secrets
from figures.cli import app as figures
from stats.cli import app as stats


def test_a_path_stays_a_path():
    for text in ("data/runs", "/a/b", "C:\\runs", "s3:/folder/x/../y", "a:b"):
        assert not isinstance(path_of(text), RemotePath)
        assert path_of(text) == Path(text)
    assert path_of("file:///a/b%20c") == Path("/a/b c")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket/a b/é#?%.pack.parquet", "s3://bucket/a b/é#?%.pack.parquet"),
        ("S3://bucket/x", "s3://bucket/x"),
        ("https://user:secret@host:8000/a%20b/x.tar?X-Amz-Signature=secret#part", "https://host:8000/a%20b/x.tar"),
        ("https://secret@host/x", "https://host/x"),
        ("ftp://user:secret@host/x", "ftp://host/x"),
        ("abfs://container@account.dfs.core.windows.net/x", "abfs://container@account.dfs.core.windows.net/x"),
        ("hf://datasets/user/name@main/x", "hf://datasets/user/name@main/x"),
        ("HTTPS://user:secret@secret@host:80/x.tar#access_token=secret", "https://host:80/x.tar"),
        ("https://host:80/x@y.tar", "https://host:80/x@y.tar"),
        ("webdav://host/x.tar?token=secret&part=2", "webdav://host/x.tar?token=&part=2"),
    ],
)
def test_people_see_a_url_without_secrets(url, shown):
    path = path_of(url)
    assert isinstance(path, RemotePath)
    assert (str(path), f"{path}") == (shown, shown)
    assert str(path / "run-1" / "episodes.jsonl") == f"{shown}/run-1/episodes.jsonl"
    assert "secret" not in f"{path!r} {os.fspath(path)}"
    assert address_of(path).url.partition("://")[2] == url.partition("://")[2]
    assert Path(path).name == path.as_local().name == shown.rpartition("/")[2]
    assert local_of(f"{path}/x") == path.as_local() / "x"


def test_a_path_that_pathlib_has_collapsed_is_recovered():
    assert path_of(Path("s3://bucket/x")) == path_of("s3://bucket/x")
    assert path_of(path_of("s3://bucket/x")) == path_of("s3://bucket/x")


def test_different_objects_have_different_copies():
    urls = ["https://host/x?id=1", "https://host/x?id=2", "s3://host/x", "gs://host/x", "http://host/x"]
    assert len({path_of(url) for url in urls}) == len(urls)
    assert path_of("https://a:b@host/x") == path_of("https://host/x")


def test_no_name_leads_out_of_the_folder_of_copies():
    for url in ("s3://bucket/../../../x", "https://host/../../x", "s3://../x", f"s3://bucket/{'long' * 200}.tar"):
        path = Path(path_of(url))
        assert ".." not in path.parts
        assert all(len(part) <= 255 for part in path.parts)


@pytest.mark.parametrize("url", ["s3://", "https://?x=secret", "s3://key:secret@bucket/x", "s3://bucket/\0"])
def test_a_url_that_names_nothing_is_refused_in_one_line(url):
    with pytest.raises(UsageError) as error:
        path_of(url)
    assert "secret" not in str(error.value)


def test_texts_lose_what_is_secret_in_urls():
    text = "get https://user:secret@host/x?sig=secret, then s3://key:secret@bucket/a?b"
    assert without_secrets(text) == "get https://host/x, then s3://bucket/a?b"
    assert without_secrets("a@b.c ? d://e@f/g") == "a@b.c ? d://e@f/g"


ODD = {
    "simplecache::http://u:secret@host/x?token=secret": "simplecache::http://host/x",
    "zip://a.tar::https://u:secret@host/x": "zip://a.tar::https://host/x",
    "filecache::s3://key:secret@bucket/x::y": "filecache::s3://bucket/x::y",
    "HTTP://u:s?e#c/r@secret@host:8/x, http://host:8/x@y": "HTTP://host:8/x, http://host:8/x@y",
    "http:/u:secret@host/x": "http:/host/x",  # as `pathlib` writes it
    "https://u%3Asecret@host/x": "https://host/x",
    "sftp://u%3asecret@host/x, sftp://user@host/x": "sftp://host/x, sftp://user@host/x",
    "ftp://[::1]:2/a@b": "ftp://[::1]:2/a@b",
    "http://u:se'cret@host/x": "http://host/x",
    "az://c/x?sv=1&SIG=secret&x=1 s3://b/x%3Faccess_token%3Dsecret": "az://c/x?sv=1&SIG=&x=1 s3://b/x%3Faccess_token%3D",
    "https://host/page#part": "https://host/page#part",
    "https://host/page#x=1&access_token=secret": "https://host/page",
    "'http://u:secret@host/x?a=secret' at a@b.c": "'http://host/x' at a@b.c",
}


def test_odd_and_chained_urls_lose_their_secrets_too():
    assert {text: without_secrets(text) for text in ODD} == ODD
    for text, shown in ODD.items():
        for kind in (AuditError, UsageError, CollectorError):
            assert str(kind(f"{text}: no")) == f"{shown}: no"


def test_a_chained_url_is_refused(tmp_path, monkeypatch):
    for url in (*list(ODD)[:3], Path(next(iter(ODD)))):
        with pytest.raises(UsageError, match="chained") as refused:
            path_of(url)
        assert "secret" not in str(refused.value)
    monkeypatch.chdir(tmp_path)
    folder = Path("simplecache::http:/x")
    folder.mkdir(parents=True)
    assert path_of(str(folder)) == folder


def test_no_command_says_a_secret_of_a_url(tmp_path, monkeypatch):
    """Wherever one is given, with what was taken for a path as well."""
    monkeypatch.chdir(tmp_path)
    runner, data = CliRunner(), str(tmp_path)
    url = "HTTP://u:secret@127.0.0.1:9/x.pack.parquet?token=secret"
    for program, arguments in [
        *((program, ["summary", f"simplecache::{url}"]) for program in (app, figures)),
        (stats, ["metrics", f"simplecache::{url}"]),
        (app, ["pack", data, "--to", f"simplecache::{url}"]),
        (app, ["export", data, "--out", url]),
        (app, ["revisions", data, "--task-module", url]),
        (app, ["validate", url]),
        (app, ["import", url, "--map", url, "--out", f"{tmp_path}/out"]),
        (app, ["judge", data, "--backend", "ollama", "--base-url", f"x{url}"]),
        (collect, ["--env", "cartpole", "--variant", "r2po", "--task-module", url, "--out", f"{tmp_path}/runs"]),
        (collect, ["--env", "cartpole", "--variant", "r2po", "--out", url]),
        (collect, ["--env", url, "--variant", "r2po", "--out", f"{tmp_path}/runs"]),
    ]:
        result = runner.invoke(program, arguments)
        said = f"{result.output} {result.exception}"
        assert result.exit_code != 0, arguments
        assert "secret" not in said, (arguments, said)
    assert not list(tmp_path.iterdir())


def test_what_a_url_is():
    assert is_url("s3://b")
    assert not is_url("select 's3://b'")
    assert not is_url("c://b")
