"""URLs as paths: what people see of them, and where their copies are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audit.output.errors import UsageError
from audit.remote.urls import RemotePath, address_of, is_url, local_of, path_of, without_secrets


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
    assert without_secrets(text) == "get https://host/x then s3://bucket/a?b"
    assert without_secrets("a@b.c ? d://e@f/g") == "a@b.c ? d://e@f/g"


def test_what_a_url_is():
    assert is_url("s3://b")
    assert not is_url("select 's3://b'")
    assert not is_url("c://b")
