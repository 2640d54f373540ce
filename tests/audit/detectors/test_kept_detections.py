"""What was found by a user's detector is kept, and found anew where the detector has changed."""

from __future__ import annotations

from audit.store import open_store
from tests.audit.samples import revision, write_run


def test_what_was_kept_of_a_detector_is_not_used_for_its_next_version(tmp_path, monkeypatch):
    monkeypatch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("audit.ingest.analyses.SMALLEST", 0)
    answers = ("The worst rollout fell, I think.", "In rollout A the pole drifts.", "The bias is too large.")
    for run in (1, 2):
        records = [
            revision([1, 5, 9], [2, 2, 2], answer=answer, iteration=n, run=run) for n, answer in enumerate(answers)
        ]
        write_run(tmp_path / "data" / f"{run}", records)
    pattern, function = tmp_path / "mine.toml", tmp_path / "mine.py"
    for text, cited in (("fell", 2), ("fell|drifts", 4), ("fell", 2)):
        pattern.write_text(f"pattern = '{text}'")
        function.write_text(f"import re\ndef detect(a, e):\n    return [m.span() for m in re.finditer('{text}', a)]")
        for detector in (pattern, function):
            for _ in range(2):  # the second time from what was kept
                with open_store([tmp_path / "data"], detector=str(detector)) as store:
                    assert [row["strict"] for row in store.rows("salience")] == [cited], (text, detector)
    assert list((tmp_path / "cache").rglob("salience*"))
