import json

from collector import policy
from collector.llm.form import vector_form
from collector.tasks import get_task
from collector.tasks.task import LinearSpace

SPACE = LinearSpace(("position",), ("push",), discrete=False, low=-6, high=6, decimals=1)


def test_an_answer_under_the_schema_becomes_the_usual_text_and_any_other_stays_as_it_is():
    form = vector_form(SPACE)
    assert form.write('{"params": [1.50, -2e0], "explanation": "I moved\\nboth."}') == (
        "params[0]: 1.50, params[1]: -2e0\nI moved\nboth."
    )
    for rest in ("", ', "explanation": null'):
        assert policy.from_text(SPACE, form.write(f'{{"params": [1.50, -2e0]{rest}}}')) == [1.5, -2.0]
    assert form.write('{"params": [1], "explanation": null}') == "params[0]: 1\n"
    for begun, text in (("", ""), (', "explanation": "so', "so"), (', "explanation": "', "")):  # it was cut off there
        assert form.write('{"params": [1, 2]' + begun) == f"params[0]: 1, params[1]: 2\n{text}"
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
