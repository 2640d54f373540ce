import json
import re
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from collector import policy
from collector.llm.form import object_form, vector_form
from collector.tasks import TASKS, get_task
from collector.tasks.task import LinearSpace, TabularSpace


def values(grammar: str) -> list[re.Pattern[str]]:
    """The alternatives of `value` in a grammar, as regular expressions."""
    rule = next(line for line in grammar.splitlines() if line.startswith("value ::= "))
    alternatives = rule.removeprefix("value ::= ").split(" | ")
    terms = [
        [re.escape(term.strip('"')) if term.startswith('"') else term for term in each.split()] for each in alternatives
    ]
    return [re.compile("".join(each)) for each in terms]


def linear(low: float, high: float, decimals: int) -> LinearSpace:
    return LinearSpace(("position",), ("push",), discrete=False, low=low, high=high, decimals=decimals)


@settings(max_examples=60, deadline=None)
@given(st.integers(-1500, 1500), st.integers(-1500, 1500), st.integers(0, 3))
def test_values_are_those_of_the_range_and_no_others(first, last, decimals):
    low, high = (float(Decimal(bound).scaleb(-decimals)) for bound in sorted((first, last)))
    patterns = values(vector_form(linear(low, high, decimals)).grammar)
    for number in range(-1600, 1601):
        text = f"{Decimal(number).scaleb(-decimals):f}"
        matches = sum(bool(pattern.fullmatch(text)) for pattern in patterns)
        assert matches == (low <= float(text) <= high), text
    assert not any(pattern.fullmatch(f"-{0:.{decimals}f}") for pattern in patterns)


def test_a_line_under_the_grammar_is_read_as_it_was_written():
    for task in TASKS.values():
        space, grammar = task.space, vector_form(task.space).grammar
        names = re.findall(r'"(?:, )?(params\[\d+\]: )" value', grammar.splitlines()[0])
        assert names == [f"params[{index}]: " for index in range(space.size)]
        value = "6.0" if isinstance(space, LinearSpace) else str(space.actions[-1])
        assert any(pattern.fullmatch(value) for pattern in values(grammar))
        assert policy.from_text(space, ", ".join(name + value for name in names)) == [float(value)] * space.size


def test_a_table_takes_its_actions_alone_and_a_bound_between_two_values_is_not_exceeded():
    def written(space, texts):
        return [text for text in texts if any(each.fullmatch(text) for each in values(vector_form(space).grammar))]

    assert written(TabularSpace(2, (0, 3, 10)), map(str, range(12))) == ["0", "3", "10"]
    assert written(linear(-0.25, 0.25, 1), ("-0.3", "-0.2", "0.0", "0.2", "0.3")) == ["-0.2", "0.0", "0.2"]


def test_an_answer_under_the_schema_becomes_the_usual_text_and_any_other_stays_as_it_is():
    form = vector_form(linear(-6, 6, 1))
    assert form.write('{"params": [1.50, -2e0], "explanation": "I moved\\nboth."}') == (
        "params[0]: 1.50, params[1]: -2e0\nI moved\nboth."
    )
    for rest in ("", ', "explanation": null'):
        assert policy.from_text(linear(-6, 6, 1), form.write(f'{{"params": [1.50, -2e0]{rest}}}')) == [1.5, -2.0]
    assert form.write('{"params": [1], "explanation": null}') == "params[0]: 1\n"
    for other in (
        "params[0]: 1, params[1]: 2",
        '{"params": 3}',
        '{"params": [1',
        "[" * 100_000,
        "null",
        "",
        '{"a": 1}',
    ):
        assert form.write(other) == other


def test_schemas_hold_what_is_asked_for_in_order():
    schema = vector_form(get_task("frozenlake").space).schema
    assert list(schema["properties"]) == schema["required"] == ["params", "explanation"]
    assert schema["properties"]["params"]["minItems"] == schema["properties"]["params"]["maxItems"] == 16
    assert json.loads(json.dumps(schema)) == schema
    assert object_form({"driver": {"type": "string"}}).grammar is None
