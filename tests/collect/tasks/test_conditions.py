import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.collect.tasks.conditions import (
    holds,
    is_answered,
    leaves,
    parse_condition,
)

SCRIPT = Path("src/steelyard/collect/static/rater/conditions.js")
IDS = st.sampled_from(["fluency", "sense", "by-how-much", "q_2", "Edit"])
NUMBERS = st.integers(-9, 9) | st.floats(-9, 9).map(lambda value: round(value, 2))
VALUES = NUMBERS | st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
LEAVES = st.builds(
    lambda name, sign, value: {"id": name, "op": sign, "value": value},
    IDS,
    st.sampled_from(["<", "<=", "=", "!=", ">", ">="]),
    VALUES,
) | IDS.map(lambda name: {"id": name, "op": "answered"})
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: {"all": parts})
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: {"any": parts})
        | inner.map(lambda part: {"not": part})
    ),
    max_leaves=8,
)
ANSWERS = st.dictionaries(
    IDS,
    VALUES
    | st.sampled_from(
        [None, "", True, [], [{"verdict": None}], [{"verdict": "right"}], [{"start": 0}]]
    ),
)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("fluency < 2", {"id": "fluency", "op": "<", "value": 2}),
        ("fluency<=-1.5", {"id": "fluency", "op": "<=", "value": -1.5}),
        ("sense = no", {"id": "sense", "op": "=", "value": "no"}),
        ('sense != "not sure"', {"id": "sense", "op": "!=", "value": "not sure"}),
        (r'a = "\"2\" \\"', {"id": "a", "op": "=", "value": '"2" \\'}),
        ("verdicts answered", {"id": "verdicts", "op": "answered"}),
        (
            "a = 1 or b = 2 and c = 3",
            {
                "any": [
                    {"id": "a", "op": "=", "value": 1},
                    {
                        "all": [
                            {"id": "b", "op": "=", "value": 2},
                            {"id": "c", "op": "=", "value": 3},
                        ]
                    },
                ]
            },
        ),
        (
            "not a = 1 and b answered",
            {
                "all": [
                    {"not": {"id": "a", "op": "=", "value": 1}},
                    {"id": "b", "op": "answered"},
                ]
            },
        ),
        (
            "not (a = 1 or b = 2)",
            {
                "not": {
                    "any": [{"id": "a", "op": "=", "value": 1}, {"id": "b", "op": "=", "value": 2}]
                }
            },
        ),
    ],
)
def test_text_is_parsed_with_not_before_and_before_or(text, condition):
    assert parse_condition(text) == condition


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have the id of a widget at its end"),
        ("fluency", "must compare fluency with < <= = != > >= or say `answered` at its end"),
        ("fluency < ", "must have a value to compare fluency with at its end"),
        ("fluency < and b = 1", "must have a value to compare fluency with where 'and' stands"),
        ("fluency == 2", "must have a value to compare fluency with where '=' stands"),
        ("fluency is 2", "must compare fluency with .* where 'is' stands"),
        ("2 < fluency", "must have the id of a widget where '2' stands"),
        ("(a = 1", "has a bracket that never closes"),
        ("a = 1)", "ends too late"),
        ("a = 1 b = 2", "ends too late: 'b' joins nothing"),
        ("a = 'x", None),
        ('a = "x', "cannot be read"),
        ("a ! b", "cannot be read at '!'"),
        ("not " * 60 + "a = 1", "nested too deeply"),
        ("(" * 5000 + "a = 1" + ")" * 5000, "nested too deeply"),
    ],
)
def test_what_cannot_be_parsed_says_why(text, message):
    if message is None:
        # a single quotation mark is a letter like any other
        assert parse_condition(text)["value"] == "'x"
    else:
        with pytest.raises(ValueError, match=message):
            parse_condition(text)


def condition_text(condition):
    """The condition as somebody would write it, with every part in brackets."""
    for name, word in (("all", " and "), ("any", " or ")):
        if name in condition:
            return "(" + word.join(map(condition_text, condition[name])) + ")"
    if "not" in condition:
        return f"not ({condition_text(condition['not'])})"
    if condition["op"] == "answered":
        return f"{condition['id']} answered"
    value = condition["value"]
    if isinstance(value, str):
        value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{condition['id']} {condition['op']} {value}"


@given(CONDITIONS)
def test_a_condition_that_is_printed_parses_to_the_same(condition):
    assert parse_condition(condition_text(condition)) == condition


@given(st.text(st.sampled_from('ab12 <=!>()"\\.-_notandr'), max_size=40))
def test_any_text_parses_or_raises_a_value_error(text):
    try:
        condition = parse_condition(text)
    except ValueError:
        return
    assert parse_condition(condition_text(condition)) == condition


def as_python(condition):
    """The same condition as an expression of Python, with None for what is not answered."""
    for name, word in (("all", " and "), ("any", " or ")):
        if name in condition:
            return "(" + word.join(map(as_python, condition[name])) + ")"
    if "not" in condition:
        return f"(not {as_python(condition['not'])})"
    name = f"answer[{condition['id']!r}]"
    if condition["op"] == "answered":
        return f"({name} is not None)"
    sign = {"=": "=="}.get(condition["op"], condition["op"])
    same_kind = f"kind({name}) is kind({condition['value']!r}) and kind({name}) is not other"
    if sign in ("==", "!="):
        differs = "False" if sign == "==" else "True"
        compared = f"({name} {sign} {condition['value']!r} if {same_kind} else {differs})"
    else:
        compared = f"(kind({name}) is kind({condition['value']!r}) is float and {name} {sign} {condition['value']!r})"
    return f"({name} is not None and {compared})"


def kind(value):
    if isinstance(value, bool):
        return "other"
    if isinstance(value, int | float):
        return float
    return str if isinstance(value, str) else "other"


@given(CONDITIONS, ANSWERS)
def test_the_json_form_evaluates_as_python_would(condition, answer):
    empty = (None, "", [], [{"verdict": None}])
    known = {
        leaf["id"]: answer.get(leaf["id"])
        if not any(answer.get(leaf["id"]) is one or answer.get(leaf["id"]) == one for one in empty)
        else None
        for leaf in leaves(condition)
    }
    scope = {"answer": known, "kind": kind, "float": float, "other": "other"}
    assert holds(condition, answer) is bool(eval(as_python(condition), scope))  # noqa: S307


def test_a_widget_without_an_answer_makes_every_comparison_false():
    for sign in ("<", "<=", "=", "!=", ">", ">="):
        for value in (None, "", []):
            assert not holds({"id": "a", "op": sign, "value": 2}, {"a": value})
        assert not holds({"id": "a", "op": sign, "value": 2}, {})
    assert holds({"not": {"id": "a", "op": "=", "value": 2}}, {})


def test_text_and_numbers_never_compare():
    assert not holds(parse_condition("a = 2"), {"a": "2"})
    assert holds(parse_condition("a != 2"), {"a": "2"})
    assert not holds(parse_condition("a < 2"), {"a": "1"})
    assert not holds(parse_condition("a = 1"), {"a": True})
    assert not holds(parse_condition("a >= 1"), {"a": float("nan")})


def test_passages_are_answered_when_each_has_a_verdict():
    assert is_answered([{"verdict": "right"}, {"verdict": "neither"}])
    assert not is_answered([{"verdict": "right"}, {"verdict": None}])
    assert is_answered([{"start": 0, "end": 2}])
    assert is_answered(0)
    assert is_answered(False)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.skipif(not SCRIPT.is_file(), reason="not run from the root of the repository")
def test_the_page_evaluates_conditions_as_the_server_does(tmp_path):
    signs = ("<", "<=", "=", "!=", ">", ">=")
    values = (None, 0, 1, 2.5, "", "no", "2", True, [], [{"verdict": None}], [{"verdict": "right"}])
    plain = [{"id": "a", "op": sign, "value": value} for sign in signs for value in (1, "no")]
    plain.append({"id": "a", "op": "answered"})
    cases = [
        (condition, {"a": value, "b": other})
        for one in plain
        for value in values
        for other in (None, 1)
        for condition in (
            one,
            {"not": one},
            {"all": [one, {"id": "b", "op": "answered"}]},
            {"any": [one, {"id": "b", "op": "=", "value": 1}]},
        )
    ]
    script = tmp_path / "conditions.mjs"
    script.write_text(
        SCRIPT.read_text(encoding="utf-8")
        + f"const cases = {json.dumps(cases)};\n"
        + "console.log(JSON.stringify(cases.map(([one, answer]) => holds(one, answer))));\n",
        encoding="utf-8",
    )
    node = shutil.which("node")
    said = subprocess.run([node, script], capture_output=True, check=True, text=True).stdout
    assert json.loads(said) == [holds(one, answer) for one, answer in cases]
