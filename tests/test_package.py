"""The package as people install it: built, installed apart from the checkout, and used in an empty folder."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import tarfile
from configparser import ConfigParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("collector", "audit", "stats", "figures")
PROGRAMS = {"collect": "collector", "audit": "audit", "stats": "stats", "figures": "figures"}

pytestmark = pytest.mark.slow


def run(*command: object, cwd: Path, **environment: object) -> str:
    # Neither the checkout nor its editable installation comes before what is installed.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    given = {name: str(value) for name, value in environment.items()}
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=clean | given, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.fixture(scope="module", params=["wheel", "sdist"])
def installed(request, built, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"from-{request.param}")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--no-compile", "--target", folder]
    run(sys.executable, "-m", "pip", "install", *options, built[request.param], cwd=folder)
    return folder


def test_every_file_is_there(installed: Path) -> None:
    tracked = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    wanted = {path.relative_to(ROOT) for path in tracked if not {"__pycache__", "out"} & set(path.parts)}
    moved = {Path("stats/published/data") / path.name: path for path in (ROOT / "data/paper").iterdir()}
    moved[Path("audit/validation/coding/guide.md")] = ROOT / "docs/coding-guide.md"
    wanted |= set(moved)
    there = {
        path.relative_to(installed)
        for package in PACKAGES
        for path in (installed / package).rglob("*")
        if path.is_file()
    }
    assert there == wanted
    for path in there:
        assert (installed / path).read_bytes() == moved.get(path, ROOT / path).read_bytes()


def test_the_four_programs_are_installed(installed: Path) -> None:
    (listing,) = installed.glob("*.dist-info/entry_points.txt")
    entries = ConfigParser()
    entries.read_string(listing.read_text())
    assert dict(entries["console_scripts"]) == {name: f"{package}.__main__:main" for name, package in PROGRAMS.items()}


# The wheel installs the same files, as is tested above; compiling them for a first run takes a minute.
@pytest.mark.parametrize("installed", ["sdist"], indirect=True)
def test_what_is_promised_works_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    where = {"PYTHONPATH": installed, "SALIENCE_AUDIT_CACHE": tmp_path / "cache"}
    here = tmp_path / "empty"
    here.mkdir()

    def program(name: str, *arguments: object) -> str:
        return run(installed / "bin" / name, *arguments, cwd=here, **where)

    look = "; ".join(f"import {package}; print({package}.__file__)" for package in PACKAGES)
    files = run(sys.executable, "-c", look, cwd=here, **where).split()
    assert files == [str(installed / package / "__init__.py") for package in PACKAGES]

    program("collect", "--env", "cartpole", "--variant", "threetraj", "--runs", 2, "--iterations", 2, "--quiet")
    rows = list(csv.DictReader(io.StringIO(program("audit", "salience", "data/", "--format", "csv"))))
    assert [(row["env"], row["variant"]) for row in rows] == [("cartpole", "threetraj")]
    assert "CartPole" in program("audit", "summary", "data/")
    # Policies are run again, out of the record and the packaged tasks alone.
    assert "200 rollouts run again, 0 differ" in program("audit", "verify", "data/")
    assert "CartPole" in program("stats", "metrics", "data/")
    assert program("figures", "data/").strip() == "figures/out/index.html"
    assert (here / "figures/out/index.html").stat().st_size > 10_000


def test_the_sdist_has_what_a_clone_has(built, tmp_path: Path) -> None:
    listing = ["git", "ls-files", "-z"]
    try:
        names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    with tarfile.open(built["sdist"]) as archive:
        there = {name.partition("/")[2] for name in archive.getnames()}
    assert {name for name in names if name and (ROOT / name).exists()} <= there
