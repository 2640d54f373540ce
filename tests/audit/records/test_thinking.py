"""Thinking that a log left in an answer is read as thinking, whatever source, recorder or import it came by."""

from __future__ import annotations

import json

import audit
from audit.recorders import Recorder
from audit.sources.tool_runs import candidate as translated
from tests.audit.samples import candidate, episode, write_run
from tests.audit.texts import text_revision, text_run

THOUGHT = "Example 1, the worst rollout, went wrong."
ANSWERS = {
    f"<think>{THOUGHT}</think>\n\nI add care.": ("I add care.", THOUGHT),
    f"{THOUGHT}\n</THINK>I add care.": ("I add care.", THOUGHT),
    f"I add care.\n<think>\n{THOUGHT}": ("I add care.", THOUGHT),
    "I add `<think>` and `</think>`.": ("I add `<think>` and `</think>`.", None),
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>I add care.": (
        "I add care.",
        THOUGHT,
    ),
    f"<think>{THOUGHT}": (None, THOUGHT),
}


MAPPING = (
    '[fields]\niteration = "iteration"\n"initial.mean_return" = "before"\n"revised.mean_return" = "after"\n'
    '"revised.answer" = "answer"\n'
    '[constants]\ncondition = "mine"\nenv = "sums"\nvariant = "loop"\nrun = 1\n'
    '[run]\ncandidates = "text"\nselection_rule = "better"\n'
)


def found(data):
    """What detectors read of each iteration, and which find a reference."""
    with audit.open(data) as store:
        read = audit.sql(
            store,
            "select iteration, answer, coalesce(critic_answers.thinking, revised.thinking) as thinking from episodes "
            "left join critic_answers using (condition, env, variant, run, iteration) order by iteration",
        )
        cited = audit.sql(store, 'select count(*) as n from "references" where cites')
        return [tuple(row.values())[1:] for row in read], [row["n"] for row in cited]


def test_of_native_records(tmp_path):
    """Of texts and of parameters, whose answers are never missing."""
    texts = [text_revision([0, 1], [1, 1], answer=answer, iteration=place) for place, answer in enumerate(ANSWERS)]
    write_run(tmp_path / "texts", texts, **text_run())
    answers = [each for each in ANSWERS if ANSWERS[each][0] is not None]
    lines = [
        episode(revised=candidate([2, 3, 4], [1, 2, 4], "critic", answer), iteration=place)
        for place, answer in enumerate(answers)
    ]
    write_run(tmp_path / "params", lines)
    assert found(tmp_path / "texts") == (list(ANSWERS.values()), [0])
    assert found(tmp_path / "params") == ([ANSWERS[each] for each in answers], [0])


def test_of_recorders(tmp_path):
    with Recorder(tmp_path, env="sums") as recorder:
        for answer in ANSWERS:
            recorder.shown("Add.", [0.0, 1.0], prompt="p")
            recorder.answered(answer, "Add with care.")
            recorder.scored([1.0, 1.0])
    lines = [json.loads(line) for path in tmp_path.rglob("episodes.jsonl") for line in path.read_text().splitlines()]
    calls = [json.loads(line) for path in tmp_path.rglob("calls.jsonl") for line in path.read_text().splitlines()]
    expected = [(answer or "", thinking) for answer, thinking in ANSWERS.values()]
    assert [(each["revised"]["answer"], each["revised"]["thinking"]) for each in lines] == expected
    assert [(each["completion"], each["thinking"]) for each in calls] == expected
    assert found(tmp_path) == (list(ANSWERS.values()), [0])


PARTS = [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}, {"type": "text", "text": "I add care."}]
MESSAGE = {"role": "assistant", "content": "I add care.", "reasoning_content": THOUGHT}


def imported(folder, rows, mapping):
    """What `audit import` makes of the answers of a log."""
    folder.mkdir()
    scores = {"before": 0.5, "after": 1.0}
    lines = [json.dumps({"iteration": place, **scores, **row}) for place, row in enumerate(rows)]
    (folder / "log.jsonl").write_text("\n".join(lines))
    (folder / "log.toml").write_text(mapping)
    audit.import_logs(folder / "log.jsonl", folder / "log.toml", folder / "out")
    [path] = (folder / "out").rglob("episodes.jsonl")
    lines = [json.loads(line)["revised"] for line in path.read_text().splitlines()]
    return [(each["answer"] or None, each["thinking"]) for each in lines]


def test_of_imports(tmp_path):
    assert imported(tmp_path / "texts", [{"answer": each} for each in ANSWERS], MAPPING) == list(ANSWERS.values())
    messages = [MESSAGE, {"role": "assistant", "content": PARTS}]
    rows = [{"answer": each} for each in (*messages, PARTS, json.dumps(PARTS), json.dumps(MESSAGE))]
    assert imported(tmp_path / "messages", rows, MAPPING) == [("I add care.", THOUGHT)] * 5
    asked = {"role": "user", "content": [{"type": "text", "text": "Why?"}]}
    rows = [{"messages": [asked, each]} for each in messages]
    mapping = MAPPING.replace('= "answer"', '= "@answer"')
    assert imported(tmp_path / "chats", rows, mapping) == [("I add care.", THOUGHT)] * 2


def test_of_folders_of_other_tools():
    made = [translated("critic", {"program": "x"}, None, mean=1.0, answer=answer) for answer in ANSWERS]
    assert [(each.answer or None, each.thinking) for each in made] == list(ANSWERS.values())
