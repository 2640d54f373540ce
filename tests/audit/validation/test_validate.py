"""`audit validate`: scores by hand and on answers that two coders labelled, and faults in files of labels."""

from __future__ import annotations

import csv
import io
import json

import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

from audit.cli import app
from tests.audit.samples import SHARED, candidate, episode, revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

TEXTS = SHARED / "critic_texts"
needs_texts = pytest.mark.skipif(not TEXTS.is_dir(), reason=f"real critic texts are not at {TEXTS}")

HEADER = (
    "condition,env,variant,run,iteration,coder,mentions_worst,mentions_median,mentions_best,discounts_worst,driver,note"
)
SHOWN = [
    {"label": label, "rollout": rollout, "return": value, "length": 10}
    for label, rollout, value in (("worst", 0, 1.0), ("median", 1, 5.0), ("best", 2, 9.0))
]
WORST, INDEX, MEDIAN, CASE = (
    "I raised params[1] since the worst rollout falls to the left.",
    "I raised params[1] since rollout 0 falls to the left.",
    "I raised params[1] since the median rollout drifts.",
    "I raised params[1], for in the worst case the cart leaves the track.",
)


def validate(*arguments):
    return CliRunner().invoke(app, ["validate", *map(str, arguments)])


def scores(*arguments):
    """Rows by coder, column, code and detector."""
    result = validate(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    return {(row["coder"], row["column"], row["code"], row["detector"]): row for row in rows}


def table(row):
    return tuple(row[name] for name in ("n", "tp", "fp", "fn", "tn"))


def write_records(root, runs, **changes):
    """Runs of revisions with these answers."""
    evidence = {"kind": "three", "shown": SHOWN, "statistics": None}
    for number, answers in enumerate(runs, start=1):
        rows = [
            revision(
                *([1, 5, 9], [2, 2, 2]),
                **{
                    "after": (1, 2.5, 3),
                    "answer": text,
                    "iteration": i,
                    "run": number,
                    "evidence": evidence,
                    **changes,
                },
            )
            for i, text in enumerate(answers)
        ]
        write_run(root / f"{changes.get('condition', 'hand')}-{number}", rows)
    return root


def write_labels(path, *lines, header=HEADER, **options):
    path.write_text("\n".join([header, *lines]) + "\n", **options)
    return path


def line(run, iteration, codes, coder="A", condition="hand"):
    return f"{condition},cartpole,threetraj,{run},{iteration},{coder},{codes}"


def two_runs(folder):
    """Answers that name the worst rollout, its index, the median one, and the worst case."""
    return write_records(folder, [[WORST, INDEX, MEDIAN, CASE], [WORST, WORST, CASE]])


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return two_runs(tmp_path_factory.mktemp("records") / "records")


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    """As a person would code these answers, but for one: 2-1, whose coder saw no mention and a structure."""
    codes = ["1,0,0,0,worst,", "1,0,0,0,worst,", "0,1,0,0,median,", "0,0,0,0,structure,"]
    lines = [line(1, i, code) for i, code in enumerate(codes)]
    lines += [line(2, 0, codes[0]), line(2, 1, codes[3]), line(2, 2, codes[3])]
    return write_labels(tmp_path_factory.mktemp("labels") / "labels.csv", *lines)


class TestByHand:
    def test_tables_of_every_detector(self, labels, records):
        rows = scores(labels, records)
        # True: 1-0, 1-1, 2-0. `word` finds 1-0, 1-3, 2-0, 2-1, 2-2; `phrase` 1-0, 2-0, 2-1; `resolved` these and 1-1.
        assert table(rows["A", "mentions_worst", None, "word"]) == (7, 2, 3, 1, 1)
        assert table(rows["A", "mentions_worst", None, "phrase"]) == (7, 2, 1, 1, 3)
        assert table(rows["A", "mentions_worst", None, "resolved"]) == (7, 3, 1, 0, 3)
        assert table(rows["A", "mentions_median", None, "resolved"]) == (7, 1, 0, 0, 6)
        assert table(rows["A", "mentions_best", None, "resolved"]) == (7, 0, 0, 0, 7)
        assert len(rows) == 5

    def test_scores_of_one_table(self, labels, records):
        row = scores(labels, records)["A", "mentions_worst", None, "word"]
        assert (row["precision"], row["recall"], row["f1"], row["accuracy"]) == pytest.approx(
            (2 / 5, 2 / 3, 4 / 8, 3 / 7)
        )
        # Agreement by chance: (3 x 5 + 4 x 2) / 49 = 23/49.
        assert row["kappa"] == pytest.approx((3 / 7 - 23 / 49) / (1 - 23 / 49))
        assert (row["runs"], row["condition"], row["weighted_by"]) == (2, "hand", None)

    def test_drivers_by_hand(self, tmp_path, labels, records):
        codes = {1: ("worst", "worst", "median", "structure"), 2: ("worst", "worst", "structure")}
        lines = [line(run, i, f",,,,{code},", "B") for run, coded in codes.items() for i, code in enumerate(coded)]
        both = write_labels(tmp_path / "l.csv", *labels.read_text().splitlines()[1:], *lines)
        rows = scores(both, records, "--classes")
        row = rows["A", "driver", None, "coder B"]
        # 6 of 7 agree. By chance worst 3 x 4, median 1 x 1, structure 3 x 2, of 49.
        assert row["accuracy"] == pytest.approx(6 / 7)
        assert row["kappa"] == pytest.approx((6 / 7 - 19 / 49) / (1 - 19 / 49))
        assert [row[name] for name in ("tp", "precision", "recall", "f1")] == [None] * 4
        assert {code for _, column, code, _ in rows if column == "driver"} == {None, "worst", "median", "structure"}
        assert table(rows["A", "driver", "structure", "coder B"]) == (7, 2, 0, 1, 4)
        assert rows["A", "driver", "structure", "coder B"]["recall"] == pytest.approx(2 / 3)

    def test_what_has_no_denominator_is_null(self, labels, records):
        row = scores(labels, records)["A", "mentions_best", None, "resolved"]
        assert row["accuracy"] == 1
        for metric in ("precision", "recall", "f1", "kappa"):
            assert [row[f"{metric}{part}"] for part in ("", "_low", "_high", "_interval")] == [None] * 4

    def test_coders_are_compared_where_both_coded(self, tmp_path, records):
        lines = [line(1, i, f"{a},,,,worst,", "A") for i, a in enumerate((1, 1, 0, 0))]
        lines += [line(1, i, f"{b},,,,worst,", "B") for i, b in enumerate((1, 0, 0))]
        rows = scores(write_labels(tmp_path / "l.csv", *lines), records)
        assert table(rows["A", "mentions_worst", None, "coder B"]) == (3, 1, 0, 1, 1)
        # 2 of 3 agree; by chance (2 x 1 + 1 x 2) / 9.
        assert rows["A", "mentions_worst", None, "coder B"]["kappa"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
        assert not any(coder == "B" and detector.startswith("coder") for coder, _, _, detector in rows)
        # Both say worst throughout, so there is no kappa.
        assert rows["A", "driver", None, "coder B"]["kappa"] is None

    def test_disagreements_are_listed_with_what_was_found(self, labels, records):
        rows = json.loads(validate(labels, records, "--disagreements", "--format", "json").stdout)
        assert list(rows[0]) == [*HEADER.split(",")[:6], "column", "coded", "detector", "found", "text"]
        told = {
            (r["run"], r["iteration"], r["column"], r["detector"]): (r["coded"], r["found"], r["text"]) for r in rows
        }
        assert told == {
            (1, 1, "mentions_worst", "word"): ("1", "0", ""),
            (1, 3, "mentions_worst", "word"): ("0", "1", "worst"),
            (2, 1, "mentions_worst", "word"): ("0", "1", "worst"),
            (2, 2, "mentions_worst", "word"): ("0", "1", "worst"),
            (1, 1, "mentions_worst", "phrase"): ("1", "0", ""),
            (2, 1, "mentions_worst", "phrase"): ("0", "1", "worst rollout"),
            (2, 1, "mentions_worst", "resolved"): ("0", "1", "worst rollout"),
        }


class TestIntervals:
    def test_runs_are_resampled_where_there_are_several(self, labels, records):
        row = scores(labels, records)["A", "mentions_worst", None, "phrase"]
        # Run 1 has 1 of 2 found, run 2 has 1 of 1; a quarter of the resamples is run 1 twice, a quarter run 2 twice.
        assert (row["recall_low"], row["recall_high"], row["recall_interval"]) == (0.5, 1.0, "bootstrap")

    def test_answers_are_taken_to_be_independent_in_a_single_run(self, tmp_path, labels, records):
        lines = [text for text in labels.read_text().splitlines()[1:] if ",threetraj,1," in text]
        row = scores(write_labels(tmp_path / "one.csv", *lines), records)["A", "mentions_worst", None, "word"]
        assert table(row) == (4, 1, 1, 1, 1)
        wilson = binomtest(1, 2).proportion_ci(method="wilson")
        assert (row["precision_low"], row["precision_high"]) == pytest.approx((wilson.low, wilson.high))
        assert (row["precision_interval"], row["f1_interval"], row["kappa_interval"]) == (
            "wilson",
            "wilson",
            "asymptotic",
        )

    def test_and_where_all_resamples_say_the_same(self, labels, records):
        row = scores(labels, records)["A", "mentions_worst", None, "resolved"]
        wilson = binomtest(3, 3).proportion_ci(method="wilson")
        assert (row["recall"], row["recall_interval"]) == (1.0, "wilson")
        assert (row["recall_low"], row["recall_high"]) == pytest.approx((wilson.low, 1.0))

    def test_the_seed_decides(self, labels, records):
        first, again = (validate(labels, records, "--format", "csv").stdout for _ in range(2))
        assert first == again
        assert "labels of 2 runs: intervals by resampling so few are too narrow" in validate(labels, records).stderr


class TestWeights:
    def test_strata_count_as_in_the_records(self, tmp_path):
        # Nine answers on CartPole name the worst rollout, one on Pong the worst case; one label of each.
        write_records(tmp_path / "r", [[WORST] * 9])
        write_run(tmp_path / "r" / "pong", [revision([1, 5, 9], [2, 2, 2], answer=CASE, env="pong")])
        labels = write_labels(
            tmp_path / "l.csv",
            line(1, 3, "1,,,,,x"),
            "hand,pong,threetraj,1,0,A,0,,,,,x,env",
            header=f"{HEADER},drawn_by",
        )
        plain = scores(labels, tmp_path / "r")["A", "mentions_worst", None, "word"]
        assert (plain["precision"], plain["weighted_by"]) == (0.5, None)
        assert "drawn evenly over env, so scores are of this sample" in validate(labels, tmp_path / "r").stderr
        row = scores(labels, tmp_path / "r", "--stratify", "env")["A", "mentions_worst", None, "word"]
        assert (table(row), row["weighted_by"]) == ((2, 1, 1, 0, 0), "env")
        assert row["precision"] == pytest.approx(0.9)

    def test_a_stratum_without_labels_is_said(self, tmp_path, labels):
        records = two_runs(tmp_path / "records")
        write_run(records / "pong", [revision([1, 5, 9], [2, 2, 2], answer=CASE, env="pong")])
        told = validate(labels, records, "--stratify", "env").stderr
        assert "env pong of hand: no label, so its 1 revision count for nothing" in told

    def test_conditions_have_rows_of_their_own_unless_pooled(self, tmp_path):
        write_records(tmp_path / "r", [[WORST, CASE]])
        write_records(tmp_path / "r", [[CASE] * 8], condition="other")
        lines = [line(1, 0, "1,,,,,x"), line(1, 1, "0,,,,,x"), line(1, 0, "0,,,,,x", condition="other")]
        labels = write_labels(tmp_path / "l.csv", *lines)

        def words(*options):
            rows = json.loads(validate(labels, tmp_path / "r", "--format", "json", *options).stdout)
            return [(row["condition"], row["n"], row["precision"]) for row in rows if row["detector"] == "word"]

        assert words() == [("hand", 2, 0.5), ("other", 1, 0.0)]
        assert words("--pool") == [("all", 3, pytest.approx(1 / 3))]
        # By condition: hand has 2 revisions for 2 labels, other 8 for 1; found are 1 + 1 + 8, and true is 1 of these.
        assert words("--pool", "--stratify", "condition") == [("all", 3, pytest.approx(0.1))]
        assert words("--stratify", "direction") == words()
        assert words("--condition", "other") == [("other", 1, 0.0)]


FAULTS = (
    # its line of the file, and what is said of it
    (line(9, 0, "1,0,0,0,worst,"), "hand cartpole threetraj run 9 iteration 0 is not in the records"),
    (line(1, 0, "0,0,0,0,none,"), "coder A: coded twice; line 2 counts"),
    (line(1, 1, "1,0,2,0,luck,", "B"), "driver is 'luck', and not one of worst, shared"),
    (line(1, 1, "1,,0,0,,"), "no code for mentions_median, driver"),
    (line(1, 7, "1,0,0,0,worst,"), "iteration 7 has no critic's answer"),
    (line("x", 1, "1,0,0,0,worst,"), "not whole numbers: 'x' and '1'"),
    (line(1, 1, "1,0,0,0,worst,", " "), "iteration 1 has no coder"),
)
KINDS = (
    *("1 not in the records", "1 coded twice", "2 with an unknown code", "1 with an empty code"),
    *("1 without a critic's answer", "1 without an identity", "1 without a coder"),
)


@pytest.fixture(scope="module")
def one_call(tmp_path_factory):
    """Records with an iteration that no critic answered for."""
    records = write_records(tmp_path_factory.mktemp("one-call") / "r", [[WORST, WORST]])
    with (records / "hand-1" / "episodes.jsonl").open("a") as stream:
        stream.write(json.dumps(episode(candidate([1, 2, 3]), iteration=7)) + "\n")
    return records


class TestFaults:
    def test_each_is_named_with_its_line_and_counted(self, tmp_path, one_call):
        labels = write_labels(tmp_path / "l.csv", line(1, 0, "1,0,0,0,worst,"), *(text for text, _ in FAULTS))
        result = validate(labels, one_call)
        assert result.exit_code == 0
        counted = result.stderr.partition(f"8 problems in {labels} (")[2].partition("), not scored")[0]
        assert sorted(counted.split(", ")) == sorted(KINDS)
        for number, (_, said) in enumerate(FAULTS, start=3):
            assert any(f"{labels}:{number}: " in told and said in told for told in result.stderr.splitlines()), said
        strict = validate(labels, one_call, "--strict")
        assert (strict.exit_code, strict.stdout) == (1, "")
        assert all(said in strict.stderr for _, said in FAULTS)

    def test_of_a_row_with_faults_the_sound_codes_count(self, tmp_path, records):
        labels = write_labels(tmp_path / "l.csv", line(1, 0, "1,,9,0,luck,"))
        rows = scores(labels, records)
        assert {column for _, column, _, _ in rows} == {"mentions_worst"}

    def test_an_answer_that_could_not_be_read_is_no_fault(self, tmp_path, records):
        labels = write_labels(tmp_path / "l.csv", line(1, 0, "1,0,0,0,worst,"), line(1, 1, ",,,,,garbled"))
        result = validate(labels, records, "--strict")
        assert result.exit_code == 0
        assert "1 row with a note and no code, not scored" in result.stderr

    def test_lines_are_counted_as_an_editor_does(self, tmp_path, records):
        labels = write_labels(
            tmp_path / "l.csv", line(1, 0, '1,0,0,0,worst,"two\nlines"'), "", line(9, 0, "1,0,0,0,worst,")
        )
        assert f"{labels}:5: hand cartpole threetraj run 9" in validate(labels, records).stderr

    def test_files_that_are_no_labels(self, tmp_path, records):
        path = tmp_path / "l.csv"
        for content, message in (
            (b"", "no column condition, env, variant, run, iteration, coder"),
            (b"\xff\xfe\x00", "not UTF-8 at byte 0"),
            (HEADER.replace("coder,", "").encode(), "no column coder"),
            (b"condition,env,variant,run,iteration,coder\n", "no column with codes"),
            ((HEADER + ",driver").encode(), "two columns driver"),
            (f'{HEADER}\n{line(1, 0, "1,1,1,1,worst,")}"open\nhand'.encode(), "l.csv:2: unexpected end of data"),
            (HEADER.encode(), "no label is of a critic's answer"),
            (HEADER.encode() + b"\nx,y,z,1,1,A,1,1,1,1,worst,\n", "no label is of a critic's answer"),
        ):
            path.write_bytes(content)
            result = validate(path, records)
            assert (result.exit_code, result.stdout) == (1, "")
            assert message in result.stderr.splitlines()[-1]

    def test_missing_files(self, tmp_path, labels, records):
        for arguments in ((tmp_path / "none.csv", records), (tmp_path, records), (labels, tmp_path / "none")):
            result = validate(*arguments)
            assert (result.exit_code, result.stdout) == (1, "")
            assert len(result.stderr.splitlines()) == 1


CONDITIONS = ("hand", "=1+1", "a\x1bb", '50%_of & more, "x"', "-τ")


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Records of conditions whose names a spreadsheet or a terminal would take for something else."""
    root = tmp_path_factory.mktemp("named")
    for condition in CONDITIONS:
        write_records(root, [["=" + WORST, MEDIAN]], condition=condition)
    return root


class TestRoundTrip:
    @pytest.mark.parametrize("save", [lambda text: text, lambda text: "\ufeff" + text.replace("\n", "\r\n")])
    def test_a_sheet_filled_in_is_found_again(self, tmp_path, named, save):
        drawn = CliRunner().invoke(app, ["sample", str(named)]).stdout
        rows = list(csv.DictReader(io.StringIO(drawn, newline="")))
        out = io.StringIO()
        writer = csv.DictWriter(out, rows[0], delimiter=";", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            codes = dict.fromkeys(("mentions_median", "mentions_best", "discounts_worst"), "0")
            writer.writerow({**row, **codes, "mentions_worst": " 1", "driver": "Worst "})
        path = tmp_path / "l.csv"
        path.write_text(save(out.getvalue()), encoding="utf-8", newline="")
        result = validate(path, named, "--strict", "--format", "json")
        assert result.exit_code == 0, result.stderr
        found = {row["condition"]: table(row) for row in json.loads(result.stdout) if row["detector"] == "phrase"}
        assert found == dict.fromkeys(CONDITIONS, (2, 1, 0, 1, 0))

    def test_answers_in_the_sheet_may_be_long(self, tmp_path, records):
        labels = write_labels(
            tmp_path / "l.csv", f"{line(1, 0, '1,0,0,0,worst,')},{'x' * 200_000}", header=f"{HEADER},answer"
        )
        limit = csv.field_size_limit()
        assert table(scores(labels, records)["A", "mentions_worst", None, "word"]) == (1, 1, 0, 0, 0)
        assert csv.field_size_limit() == limit

    def test_nothing_in_a_disagreement_acts_on_a_terminal_or_a_spreadsheet(self, tmp_path):
        answer = "=2+3 \x1b[2J the worst rollout, so I raised params[1]."
        records = write_records(tmp_path / "r", [[answer]])
        labels = write_labels(tmp_path / "l.csv", line(1, 0, "0,0,0,0,none,", "=A\x1b"))
        detector = tmp_path / "sums.toml"
        detector.write_text("pattern = '=2.+'")
        disagreements = (labels, records, "--detector", detector, "--disagreements", "--format")
        for output in ("table", "csv", "markdown", "latex", "json"):
            result = validate(*disagreements, output)
            assert result.exit_code == 0
            assert "\x1b" not in result.stdout
        rows = list(csv.DictReader(io.StringIO(validate(*disagreements, "csv").stdout)))
        assert any(row["text"].startswith("'=2+3") for row in rows)
        assert not any(value[:1] in tuple("=+-@") for row in rows for value in row.values() if value)
        assert "\x1b" not in validate(labels, records).stdout


@pytest.fixture(scope="module")
def on_real_answers():
    return scores(TEXTS / "labels.csv", TEXTS / "records", "--strict")


@needs_texts
class TestOnRealAnswers:
    """The numbers stand in `docs/references.md`, and are checked by other means in `test_critic_texts.py`."""

    def test_resolved_mentions_are_those_of_the_coders(self, on_real_answers):
        for coder in ("A", "B"):
            for column in ("mentions_worst", "mentions_median", "mentions_best"):
                row = on_real_answers[coder, column, None, "resolved"]
                assert table(row) == (18, 17, 0, 0, 1)
                assert (row["precision"], row["recall"], row["f1"], row["kappa"]) == (1, 1, 1, 1)

    def test_coders_agree_on_drivers(self, on_real_answers):
        assert on_real_answers["A", "driver", None, "coder B"]["kappa"] == pytest.approx(0.89, abs=0.005)
        assert on_real_answers["A", "driver", None, "coder B"]["accuracy"] == pytest.approx(17 / 18)
