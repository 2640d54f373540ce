"""`stats check` on tables of a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy import stats as scipy_stats

from stats.published.check import check_table
from stats.published.source import folder, read_csv
from tests.stats.comparing import refused, rows, run

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "own_table.csv"


def verdicts(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> dict[tuple[str, str], str]:
    return {(row["item"], row["quantity"]): row["status"] for row in rows(capsys, "check", path, *options)}


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdicts(capsys, EXAMPLE) == {
        ("walk/ours against theirs", "welch_t"): "consistent",
        ("walk/ours against theirs", "raw_p"): "consistent",
        ("walk/ours against theirs", "holm_p"): "consistent",
        ("climb/ours against theirs", "welch_t"): "consistent",
        # 0.39 with a digit too many after the point.
        ("climb/ours against theirs", "raw_p"): "inconsistent",
        ("climb/ours against theirs", "holm_p"): "consistent",
        # Two standard deviations that print as 0.00 allow any t.
        ("swim/ours against theirs", "welch_t"): "undecidable",
        ("swim/ours against theirs", "raw_p"): "undecidable",
    }


def test_the_sixty_tests_of_the_paper_are_consistent(tmp_path: Path) -> None:
    """Each method's summary and each test as they are printed, in one table of one's own for each metric."""
    for metric in ("mean_reward", "best_reward"):
        keys = ("environment", "method", "mean", "std", "runs")
        tested = ("baseline", "gap", "welch_t", "raw_p", "holm_p", "baseline_family")
        lines = [
            "environment,method,mean,std,n,reference,baseline,gap,t,p,p_holm,family",
            *(",".join([*map(row.__getitem__, keys), *[""] * 7]) for row in read_csv(folder() / f"{metric}.csv")),
            *(
                ",".join([row["environment"], *[""] * 4, "r2po", *map(row.__getitem__, tested)])
                for row in read_csv(folder() / f"significance_{metric}.csv")
            ),
        ]
        path = tmp_path / f"{metric}.csv"
        path.write_text("\n".join(lines))
        assert [result["status"] for result in check_table(path)] == ["consistent"] * 120
        # A changed digit is found: p no longer follows from t, nor the corrected p from p.
        path.write_text("\n".join(lines).replace("8.934,9.6e-08,5.8e-07", "8.934,9.9e-08,5.9e-06"))
        wrong = [result["quantity"] for result in check_table(path) if result["status"] == "inconsistent"]
        assert wrong == (["raw_p", "holm_p"] if metric == "mean_reward" else [])


def test_bounds_hold_what_scipy_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "Method,Mean,Standard Error,Seeds,Method A,Versus,t-statistic,P-value,Degrees of freedom\n"
        "a,3.00,0.50,16,,,,,\nb,1.00,0.25,4,,,,,\n,,,,a,b,3.578,0.0023,15.0\n"
    )
    expected = scipy_stats.ttest_ind_from_stats(3, 2, 16, 1, 0.5, 4, equal_var=False)
    found = {row["quantity"]: row for row in rows(capsys, "check", path)}
    assert found["welch_t"]["low"] <= expected.statistic <= found["welch_t"]["high"]
    # u = 4 / 16, v = 0.25 / 4: (u + v)^2 / (u^2 / 15 + v^2 / 3) = 0.09765625 / (0.0625 / 15 + 0.00390625 / 3).
    assert found["df"]["low"] <= 0.09765625 / (0.0625 / 15 + 0.00390625 / 3) <= found["df"]["high"]
    assert found["raw_p"]["low"] <= expected.pvalue <= found["raw_p"]["high"]


def test_single_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    for test, quantity, status, words in (
        ("a,b,-3.2,,", "welch_t", "inconsistent", "other sign"),
        ("a,b,,0.5,", "raw_p", "inconsistent", "degrees of freedom"),
        ("a,c,2.0,,", "welch_t", "undecidable", "nothing that is printed"),
        ("a,c,2.0,0.8,18", "raw_p", "inconsistent", "degrees of freedom"),
        ("a,c,2.0,0.061,18", "raw_p", "consistent", ""),
        ("a,one,1.0,,", "welch_t", "undecidable", "nothing that is printed"),
    ):
        path.write_text(
            "method,mean,std,n,reference,baseline,t,p,df\n"
            f"a,3.0,1.0,10,,,,,\nb,1.5,1.1,10,,,,,\none,1.5,1.1,1,,,,,\n,,,,{test}\n"
        )
        row = next(row for row in rows(capsys, "check", path) if row["quantity"] == quantity)
        assert row["status"] == status, test
        assert words in (row["note"] or ""), test


def note(path: Path, quantity: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The note on the inconsistent number of a table."""
    (row,) = (row for row in rows(capsys, "check", path) if row["quantity"] == quantity)
    assert row["status"] == "inconsistent"
    return str(row["note"])


def table(path: Path, quantities: str, values: str, *, n: tuple[int, int] = (5, 20)) -> Path:
    path.write_text(
        f"method,mean,std,n,reference,baseline,{quantities}\n"
        f"a,10.000,3.000,{n[0]},,,{',' * quantities.count(',')}\nb,8.000,1.000,{n[1]},,,{',' * quantities.count(',')}\n"
        f",,,,a,b,{values}\n"
    )
    return path


def test_usual_mistakes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, here = tmp_path / "t.csv", (10, 3, 5, 8, 1, 20)
    one_sided = scipy_stats.ttest_ind_from_stats(*here, equal_var=False, alternative="greater").pvalue
    assert note(table(path, "p", f"{one_sided:.4f}"), "raw_p", capsys).endswith("; a one-sided test could")
    against = scipy_stats.ttest_ind_from_stats(*here, equal_var=False, alternative="less").pvalue
    assert note(table(path, "p", f"{against:.4f}"), "raw_p", capsys).endswith("; a one-sided test could")
    student = scipy_stats.ttest_ind_from_stats(*here, equal_var=True)
    table(path, "t,df,p", f"{student.statistic:.3f},23,{student.pvalue:.4f}")
    for quantity in ("welch_t", "df", "raw_p"):
        assert note(path, quantity, capsys).endswith("; Student's test, which takes variances to be equal could")
    # The test made of the same numbers as if they were standard errors, that is, of deviations larger by a root of n.
    errors = scipy_stats.ttest_ind_from_stats(10, 3 * 5**0.5, 5, 8, 20**0.5, 20, equal_var=False)
    table(path, "t,p", f"{errors.statistic:.3f},{errors.pvalue:.4f}")
    for quantity in ("welch_t", "raw_p"):
        assert note(path, quantity, capsys).endswith("; a mix-up of standard errors and deviations could")
    assert note(table(path, "p,holm_p", ",0.9"), "holm_p", capsys).endswith(
        "; a family of more tests than are here could"
    )


def test_a_mistake_that_explains_nothing_is_not_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Student's p of these summaries is 0.0165; but the t beside it is Welch's, so Student's test it is not.
    assert note(table(tmp_path / "t.csv", "t,p", "1.470,0.0165"), "raw_p", capsys).endswith("they were rounded")
    # A corrected p below the raw one is no matter of how many tests there are.
    assert note(table(tmp_path / "t.csv", "holm_p", "0.01"), "holm_p", capsys).endswith("they were rounded")


def test_alpha_decides_what_is_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("method,mean,std,n,reference,baseline,p\na,3.1,1.0,10,,,\nb,2.1,1.1,10,,,\n,,,,a,b,0.03\n")
    # t may be anything from 1.85 to 2.44, so p from 0.025 to 0.083; at face value it is 0.048.
    assert verdicts(capsys, path) == {("a against b", "raw_p"): "undecidable"}
    assert verdicts(capsys, path, "--alpha", "0.2") == {("a against b", "raw_p"): "consistent"}


def test_tables_as_spreadsheets_write_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    for separator in (";", "\t"):
        lines = EXAMPLE.read_text(encoding="utf-8").replace(",", separator).replace(".", ",")
        # With the mark that Excel begins its files with.
        path.write_text(lines, encoding="utf-8-sig")
        assert verdicts(capsys, path) == verdicts(capsys, EXAMPLE), separator


def test_standard_errors_are_held_against_deviations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("method,mean,std,se,n\ngood,1.0,2.00,1.00,4\nbad,1.0,2.00,2.00,4\n")
    found = verdicts(capsys, path)
    assert found == {("good", "standard_error"): "consistent", ("bad", "standard_error"): "inconsistent"}


MISTAKES = [
    ("", "empty"),
    ("\n\n", "empty"),
    ("method,mean,std,n\n", "no rows"),
    ("method|mean|std|n\na|1|2|3\n", "no column for mean (summaries), nor for baseline (tests)"),
    ("method;mean;std;n\na;1.234,5;2;3\n", "'1.234,5' is not a number"),
    ("method;mean;std;n\na;1;2;1.000\n", "'1.000' is not a count"),
    ('method,mean,std,n\na,"1,5",2,3\n', "'1,5' is not a number"),
    ("method,mean,n\na,1,3\n", ":2: no std and no standard_error"),
    ("method,mean,std,n\na,1,2,3\na,1,2,3\n", ":3: a second summary of a"),
    ("method,mean,std,n\na,1,2,3.5\n", ":2: n: '3.5' is not a count"),
    ("method,mean,std,n\na,1,2,0\n", "n: must be at least 1"),
    ("method,mean,std,n\na,1,-2,9\n", "-2 is not a valid std"),
    ("method,mean,std,n\na,<1,2,9\n", "is a bound"),
    ("method,mean,std,n\na,1e99999,2,9\n", "is not a number"),
    ("method,mean,std,n\na,1,2e90,9\n", "2e90 is too large or too small"),
    ("method,mean,std,n\na,1,2e-90,9\n", "2e-90 is too large or too small"),
    ("method,mean,std,n\na,1,,9\n", "no std and no standard_error"),
    ("method,mean,std,n\n,1,2,9\n", ":2: no method"),
    ("method,mean,std,n\na,,2,9\n", "neither a mean nor a baseline"),
    ("method,mean,std,sd,n\na,1,2,2,9\n", "two columns for std"),
    ("method,mean,mean,n\na,1,2,9\n", "'mean' is there twice"),
    ("reference,baseline,t\na,b,\n", "a test without"),
    ("reference,baseline,t\n,b,1\n", ":2: no reference"),
    ("method,mean,std,n,reference,baseline,t\na,1,2,9,a,b,1\n", "both a mean and a baseline"),
    ("method,mean,std,n\na,1,2,9,9\n", ":2: 5 fields"),
    ("method,mean,std,n\n\x1b[31m,x,2,9\n", "mean: 'x' is not a number"),
    ("method,mean,std,n\na,1,2,9\nb,\x1b]0;x\x07,2,9\n", "is not a number"),
]


def test_mistakes_are_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    wrong = [
        refused(capsys, 1, "none.csv", "check", tmp_path / "none.csv"),
        refused(capsys, 1, str(tmp_path), "check", tmp_path),
        refused(capsys, 2, "--alpha", "check", EXAMPLE, "--alpha", "1"),
        refused(capsys, 2, "FILE.csv", "check"),
    ]
    for content, words in MISTAKES:
        path.write_text(content)
        wrong.append(refused(capsys, 1, words, "check", path))
    assert list(filter(None, wrong)) == []


def test_summaries_alone_have_nothing_to_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("method,mean,std,n\na,1.0,2.0,4\n")
    status, out, err = run(capsys, "check", path, "--format", "csv")
    assert (status, len(out.splitlines())) == (0, 1)
    assert "nothing to check" in err


def test_names_from_files_do_nothing_to_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text('method,mean,std,se,n\n"\x1b[2Jx\ny",1.0,2.00,2.00,4\n')
    for form in ("table", "csv", "markdown", "latex"):
        _, out, _ = run(capsys, "check", path, "--format", form)
        assert ("\x1b" in out, "x y" in out) == (False, True), form
