"""Paths and URLs that people name: where they lead, what people see of them, and which files are there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.errors import AuditError, UsageError
from audit.records.locating import beside, file_of, find_files, label_of, local_path, locate
from audit.records.remote import copy_of, is_url, shown
from collector.cli import app as collect
from collector.errors import CollectorError
from collector.system.secrets import without_secrets
from figures.cli import app as figures
from stats.cli import app as stats


def test_a_path_stays_a_path(tmp_path):
    for text in ("data/runs", "/a/b", "C:\\runs", "s3:/folder/x/../y", "a:b", "c://b", "select 's3://b'"):
        assert not is_url(text)
        assert (label_of(text), local_path(text)) == (str(Path(text)), Path(text))
    for name, words in {"x": "no such", "x.txt": "neither a folder", "pipe.tar": "a pipe or device"}.items():
        (tmp_path / "x.txt").touch()
        if not (tmp_path / "pipe.tar").exists():
            os.mkfifo(tmp_path / "pipe.tar")
        with pytest.raises(AuditError, match=words):
            locate(tmp_path / name)
    assert beside("a/x.tar.gz", ".y") == Path("a/x.y")
    with pytest.raises(UsageError, match="beside"):
        beside("s3://bucket/x", ".y")


def test_files_are_found_with_the_names_that_people_know(tmp_path, monkeypatch):
    data = tmp_path / "in" / "a b"
    (data / "run [1]").mkdir(parents=True)
    (data / "run [1]" / "run.json").touch()
    (tmp_path / "out").mkdir()
    (data / "link").symlink_to(tmp_path / "out")
    monkeypatch.chdir(tmp_path / "in")
    labels = {".": "a b", "a b/": "a b", "./a b/../a b": "a b/../a b", str(data): str(data)}
    for given, label in labels.items():
        notes: list[str] = []
        located = locate(given)
        [found] = find_files(located, located.path, [], notes)
        assert found.label == f"{label}/run [1]/run.json"
        assert found.parts == (data / "run [1]" / "run.json").parts
        assert found.real == os.path.realpath(found.path)
        assert notes == [f"left out: 1 linked folder ({label}/link)"]


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("s3://bucket/a b/é#?%.pack.parquet", "s3://bucket/a b/é#?%.pack.parquet"),
        ("S3://bucket/x/", "s3://bucket/x"),
        ("https://user:secret@host:8000/a%20b/x.tar?X-Amz-Signature=secret#part", "https://host:8000/a%20b/x.tar"),
        ("https://host/x.tar?a=it's secret", "https://host/x.tar"),
        ("https://secret@host/x", "https://host/x"),
        ("ftp://user:secret@host/x", "ftp://host/x"),
        ("abfs://container@account.dfs.core.windows.net/x", "abfs://container@account.dfs.core.windows.net/x"),
        ("hf://datasets/user/name@main/x", "hf://datasets/user/name@main/x"),
        ("HTTPS://user:secret@secret@host:80/x.tar#access_token=secret", "https://host:80/x.tar"),
        ("https://host:80/x@y.tar", "https://host:80/x@y.tar"),
        ("webdav://host/x.tar?token=secret&part=2", "webdav://host/x.tar?token=&part=2"),
    ],
)
def test_people_see_a_url_without_secrets(url, label):
    assert is_url(url)
    assert (label_of(url), shown(label)) == (label, label)
    assert re.fullmatch(r"copy(\.tar|\.pack\.parquet)?", copy_of(url).name)
    assert file_of(f"{label}/x/y", ["data", url]) == copy_of(url) / "x" / "y"
    assert file_of(f"{label}x", [url]) == Path(f"{label}x")


def test_different_objects_have_different_copies():
    urls = ["https://host/x?id=1", "https://host/x?id=2", "s3://host/x", "gs://host/x", "http://host/x"]
    assert len({copy_of(url) for url in urls}) == len(urls)
    assert copy_of("https://a:b@host/x") == copy_of("https://host/x")


def test_a_url_that_names_nothing_is_refused_in_one_line():
    for url in ("s3://", "https://?x=secret", "s3://key:secret@bucket/x"):
        with pytest.raises(UsageError) as error:
            copy_of(url)
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
    for text, plain in ODD.items():
        for kind in (AuditError, UsageError, CollectorError):
            assert str(kind(f"{text}: no")) == f"{plain}: no"


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
