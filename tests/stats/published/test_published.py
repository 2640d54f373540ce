"""`stats paper` on the published numbers: what agrees, what does not, and what is undecidable."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from stats.published.checks import check_paper
from stats.published.intervals import Interval
from stats.published.results import COLUMNS, Result, Status
from stats.published.source import folder
from tests.stats.comparing import refused, rows, run

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return check_paper()


@pytest.fixture(autouse=True, scope="module")
def computed_once(results: list[Result]) -> Iterator[None]:
    """What the command reports without `--data` is computed once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stats.published.checks.check_paper", lambda data=None: check_paper(data) if data else results)
        yield


def of(results: list[Result], table: str, item: str, quantity: str | None = None) -> Result:
    (found,) = [x for x in results if (x.table, x.item) == (table, item) and quantity in (None, x.quantity)]
    return found


def test_what_is_recomputed_of_each_table(results: list[Result]) -> None:
    for table in ("significance_mean_reward", "significance_best_reward"):
        for quantity in ("baseline_mean", "r2po_mean", "gap", "welch_t", "raw_p", "holm_p"):
            rows = [x.status for x in results if (x.table, x.quantity) == (table, quantity)]
            assert rows == [Status.consistent] * 30, (table, quantity)
    open_ = [x.item for x in results if x.quantity == "welch_t" and x.note]
    assert open_ == ["nim/propsplus", "maze/propsplus", "maze/sb3-a2c"]
    numbers = Counter((x.table, x.quantity) for x in results)
    # 30 gaps; of ten tasks the best reward of R2PO and of the best baseline, and of seven with a range all five.
    assert numbers["stability_gap", "gap"] == 30
    assert (numbers["props_extended_budget", "best_reward"], numbers["thresholds", "optimum"]) == (10 + 10 + 35, 10)
    assert all(x.note for x in results if x.status is not Status.consistent)


# Recomputed by hand from the released counts, the rows of the tables, and the words of the paper.
KNOWN = {
    ("claims", "cartpole-regressions-worst-below-median"): (237, 237),
    ("claims", "pong-regressions-worst-equals-median"): (100 * 221 / 323, 100 * 221 / 323),
    ("claims", "pong-regressions-worst-equals-median-below-best"): (100 * 163 / 323, 100 * 163 / 323),
    ("pong_agreement", "all rows"): (0, 1000 - 58),
    ("claims", "permissive-definitions"): (1, 1),
    ("claims", "threshold-robust-both-ways"): (1, 1),
    ("claims", "threshold-equals-optimum"): (1, 1),
    ("claims", "threetraj-clearly-worse-elsewhere"): (6, 6),
    ("claims", "puresearch-actorsecondpass-weakest"): (15, 15),
    ("claims", "worked-example-minimum"): (303, 303),
}


def test_known_disagreements_are_found_and_argued(results: list[Result]) -> None:
    for place, ends in KNOWN.items():
        found = of(results, *place)
        assert found.status is Status.inconsistent, place
        assert (float(found.found.low), float(found.found.high)) == pytest.approx(ends), place
        assert found.note, place
    for item, words in (
        ("puresearch-actorsecondpass-weakest", "invertedpendulum: PureSearch is number 3 of 8"),
        ("puresearch-actorsecondpass-weakest", "invertedpendulum: ActorSecondPass is number 2 of 8"),
        ("threetraj-clearly-worse-elsewhere", "maze (0.82 ± 0.12 against 0.83 ± 0.06"),
        ("pong-regressions-worst-equals-median", "163 of the 265"),
        ("cartpole-regressions-worst-below-median", "the other 67 have three equal rollouts"),
        ("threshold-robust-both-ways", "1.5 times the default"),
    ):
        assert words in (of(results, "claims", item).note or ""), item


def test_every_other_disagreement_is_one_that_was_argued(results: list[Result]) -> None:
    others = {(x.table, x.item) for x in results if x.status is Status.inconsistent} - set(KNOWN)
    assert others == {
        # No return can exceed an optimum: 294.57 against 250, -111.04 against -120.
        ("thresholds", "swimmer"),
        ("thresholds", "mountaincar"),
        # Ten values within 0 to M around a mean m have a standard error of at most sqrt(m (M - m) / 9).
        ("props_extended_budget", "pong/best_baseline"),
        ("props_extended_budget", "pong/second_best_baseline"),
        ("props_extended_budget", "pong/props"),
        ("props_extended_budget", "invertedpendulum/best_baseline"),
        ("props_extended_budget", "cartpole/best_baseline"),
        ("props_extended_budget", "cartpole/props"),
        ("props_extended_budget", "maze/props"),
        ("claims", "more-stable-than-deep-rl"),
    }


def test_what_one_reading_leaves_open_is_undecidable(results: list[Result]) -> None:
    # None to all of the 101 strict regressions have worst < median = best, which the heading leaves out.
    heading = of(results, "claims", "pong-permissive-by-heading")
    assert (heading.status, heading.found) == (Status.undecidable, Interval(Decimal(261 - 101), Decimal(261)))
    # Below both in mean reward on Pong alone; in mean best reward on five to seven tasks.
    single = of(results, "claims", "threetraj-below-single-evidence")
    assert (single.status, single.found) == (Status.undecidable, Interval(Decimal(1), Decimal(7)))
    assert "no measure is named" in str(single.note)


def test_the_largest_standard_error_by_hand(results: list[Result]) -> None:
    found = of(results, "props_extended_budget", "cartpole/best_baseline", "standard_error").found
    # The mean that prints as 465.34 and leaves most room is 465.335.
    assert float(found.high) == pytest.approx((465.335 * (500 - 465.335) / 9) ** 0.5)


def test_main_claims_are_consistent(results: list[Result]) -> None:
    for item, value in (
        ("significant-mean-reward", 28),
        ("significant-best-reward", 10),
        ("smallest-gap-seven-tasks", 7),
        ("cartpole-strict", 100 * 233 / 304),
        ("pong-permissive", 100 * 261 / 323),
    ):
        found = of(results, "claims", item)
        assert found.status is Status.consistent, item
        assert (float(found.found.low), float(found.found.high)) == pytest.approx((value, value)), item
    shown = of(results, "claims", "cartpole-episodes-to-threshold")
    assert (shown.status, "learning curves" in (shown.note or "")) == (Status.undecidable, True)


def test_every_format(results: list[Result], capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "paper")
    assert len({(row["table"], row["item"], row["quantity"], row["low"], row["high"]) for row in found}) > 1000
    for row in found:
        assert list(row) == list(COLUMNS)
        assert all(row[end] is None or isinstance(row[end], float) for end in ("low", "high"))
    for form in ("csv", "markdown", "latex"):
        _, out, _ = run(capsys, "paper", "--format", form, "--all")
        assert out.count("cartpole-regressions-worst-below-median") == 1
        assert len(out.splitlines()) >= len(results)
        _, short, _ = run(capsys, "paper", "--format", form)
        assert (short == out) is (form == "csv")
        assert "cartpole-regressions-worst-below-median" in short
        # Signs are as printed, whatever a spreadsheet would make of them.
        assert form != "csv" or "-0.59" in {row["published"] for row in csv.DictReader(io.StringIO(out))}
    _, out, _ = run(capsys, "paper")
    counts = Counter(x.status for x in results)
    assert out.splitlines()[0] == (
        f"{len(results)} numbers recomputed: {counts[Status.consistent]} consistent, "
        f"{counts[Status.inconsistent]} inconsistent, {counts[Status.undecidable]} undecidable"
    )
    assert len(out.splitlines()) < 150
    assert "\nConsistent\n" not in out
    _, everything, _ = run(capsys, "paper", "--all")
    assert "  significance_mean_reward, nim/props, welch_t: printed 18.122" in everything


# What is changed, and what is inconsistent then, by hand.
CHANGED: list[tuple[str, str, str, list[str]]] = [
    # p no longer follows from t, nor the corrected one, six times the sixth of ten in order, from p.
    (
        "significance_mean_reward",
        "8.934,9.6e-08,5.8e-07",
        "8.934,9.9e-08,5.9e-06",
        ["significance_mean_reward/swimmer/props/raw_p", "significance_mean_reward/swimmer/props/holm_p"],
    ),
    (
        "significance_best_reward",
        "nim,props,props,0.75,",
        "nim,props,props,0.77,",
        ["significance_best_reward/nim/props/baseline_mean"],
    ),
    ("stability_gap", "nim,props,1.34", "nim,props,1.36", ["stability_gap/nim/props/gap"]),
    ("salience", "cartpole,1000,304,233,233", "cartpole,1000,304,234,233", ["salience/cartpole/strict"]),
    ("salience", "pong,1000,323,101,261", "pong,1000,323,101,324", ["salience/pong/permissive"]),
    ("thresholds", "nim,0.95,1.00", "nim,1.02,1.00", ["thresholds/nim/tau_c"]),
    ("tau_sensitivity", "cartpole,half,240,", "cartpole,half,241,", ["tau_sensitivity/cartpole/half/tau_c"]),
    (
        "revision_summary",
        "cartpole,threetraj,accepted_pct,69.6",
        "cartpole,threetraj,accepted_pct,69.4",
        ["revision_summary/cartpole/threetraj/accepted_pct"],
    ),
]


def test_a_changed_digit_is_found(tmp_path: Path, results: list[Result]) -> None:
    """Each identity is of a digit: where it is changed, nothing but what follows from it is inconsistent."""
    copy = tmp_path / "paper"
    shutil.copytree(folder(), copy)
    before = {(x.table, x.item, x.quantity) for x in results if x.status is Status.inconsistent}
    for table, old, new, expected in CHANGED:
        path = copy / f"{table}.csv"
        text = path.read_text()
        assert text.count(old) == 1, old
        path.write_text(text.replace(old, new))
        now = {(x.table, x.item, x.quantity) for x in check_paper(copy) if x.status is Status.inconsistent}
        path.write_text(text)
        assert {"/".join(place) for place in now - before if place[0] != "claims"} == set(expected), (table, new)


CLAIM = '[[claim]]\nid="x"\nwhere=""\nclaim=""\nquantity=""\npublished="1"\n'


BROKEN: list[tuple[str, str | bytes | None, str]] = [
    ("mean_reward.csv", "", "empty"),
    ("mean_reward.csv", "environment,method\nnim,props\n", "no column 'column'"),
    (
        "salience.csv",
        "environment,episodes,regressions,strict,permissive\ncartpole,1000,3x4,1,1\n",
        "salience.csv:2: regressions: '3x4'",
    ),
    (
        "stability_gap.csv",
        "environment,method,gap\nnim,props,much\n",
        "stability_gap.csv:2: gap: 'much' is not a number",
    ),
    ("stability_gap.csv", "environment,method,gap\nnim,props\n", ":2: 2 fields, the header has 3"),
    (
        "stability_gap.csv",
        "environment,method,gap\nnowhere,props,1\n",
        "stability_gap: best_reward/nowhere,props/mean: no rows in best_reward.csv",
    ),
    ("stability_gap.csv", b"environment,method,gap\n\xff,props,1\n", "not UTF-8"),
    ("stability_gap.csv", 'environment,method,gap\n"nim,props,1\n', "not a CSV file"),
    ("thresholds.csv", None, "No such file"),
    ("claims.toml", "[[claim]]\nid = ", "not TOML"),
    ("claims.toml", "", "no claims"),
    ("claims.toml", f"[[claim]]\nrecompute={'[' * 5000}", "not TOML"),
    ("claims.toml", '[[claim]]\nid = "x"\n', "claim x: "),
    ("claims.toml", f'{CLAIM}function="system"', "function 'system'"),
    ("claims.toml", f'{CLAIM}recompute="a/b/c"', "a/b/c"),
    ("claims.toml", f'{CLAIM}recompute=["power","2"]', "power"),
    ("claims.toml", f'{CLAIM}recompute={{holds=[],cases="t"}}', "key 'cases'"),
]


def test_broken_files_are_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "paper"
    shutil.copytree(folder(), copy)
    wrong = []
    for file, content, words in BROKEN:
        whole = (copy / file).read_bytes()
        (copy / file).unlink()
        if content is not None:
            (copy / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        wrong.append(refused(capsys, 1, words, "paper", "--data", copy))
        (copy / file).write_bytes(whole)
    assert list(filter(None, wrong)) == []


def test_it_waits_for_nothing_that_is_slow_to_import() -> None:
    script = (
        "import sys; from stats.cli import main\n"
        "try: main()\n"
        "except SystemExit: sys.stderr.write(' '.join({'duckdb', 'pandas', 'statsmodels'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script, "paper"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "numbers recomputed" in done.stdout
    assert done.stderr == ""
