import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.judge import Rubric, built_in_rubrics, read_rubric

GOOD = 'name = "x"\nlow = 1\nhigh = 5\nuser = "Judge: {output}"\n'


@pytest.mark.parametrize("name", built_in_rubrics())
def test_built_in_rubrics_are_whole(name):
    rubric = read_rubric(name)
    assert rubric.name == name
    texts = {"output": "OUT", "reference": "REF", "input": "IN", "other_output": "TWO"}
    system, user = rubric.messages(texts)
    assert system["role"] == "system"
    assert "OUT" in user["content"]
    for shown in rubric.placeholders:
        assert texts[shown] in user["content"]
    asks = ", ".join(rubric.labels) or f"one whole number from {rubric.low} to {rubric.high}"
    assert asks in user["content"]
    # every score of the scale is explained
    for score in rubric.labels or range(rubric.low, rubric.high + 1):
        assert f"\n{score}: " in user["content"]


@given(st.text())
def test_texts_go_in_as_they_are_and_are_never_read_as_a_template(text):
    rubric = Rubric(name="x", low=1, high=5, user="{input}|{output}|{reference}")
    hostile = "{output}{0}{input!r}{reference.__class__}\\1\\g<0>%s" + text
    texts = {"output": hostile, "reference": "R{output}", "input": "I{reference}"}
    content = rubric.messages(texts)[0]["content"]
    assert content.startswith(f"I{{reference}}|{hostile}|R{{output}}\n\nReply with")


def test_braces_that_are_no_placeholder_stay():
    rubric = Rubric(name="x", low=1, high=5, user='As in {"score": 3} or {}: {output}')
    assert rubric.messages({"output": "y"})[0]["content"].startswith('As in {"score": 3} or {}: y')


def test_an_object_is_asked_for_with_the_reason_first():
    rubric = Rubric(name="x", low=1, high=5, answer="json", user="{output}")
    content = rubric.messages({"output": "y"})[0]["content"]
    assert content.index('"reason"') < content.index('"score"')


def test_a_file_is_read(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD + "[sampling]\ntemperature = 0.7\nseed = 1\n")
    rubric = read_rubric(path)
    assert rubric.sampling == {"temperature": 0.7, "seed": 1}
    assert (rubric.answer, rubric.system) == ("number", "")
    assert read_rubric(str(path)) == rubric


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        (GOOD.replace("low = 1\n", ""), "key low: Field required"),
        (GOOD.replace("high = 5", "high = 1"), "`low` must be below `high`; got 1 and 1"),
        (GOOD.replace("low = 1", "low = 1.5"), "key low: .*integer"),
        (GOOD + "labels = { A = 9 }", "must be words for scores from 1 to 5; got {'A': 9}"),
        (GOOD + "labels = { A = 1, a = 2 }", "must differ in more than capitals"),
        (GOOD + "samples = 0", "key samples: "),
        (GOOD + "samples = 3", "`samples` above 1 need replies that vary"),
        (GOOD + "timeout = 0", "key timeout: "),
        (GOOD + 'score = "words"', "key score: "),
        (GOOD + 'score = "logits"\nlabels = { A = 1 }', '`score` "logits" needs `answer'),
        (GOOD.replace("high = 5", 'high = 10\nscore = "logits"'), '`score` "logits" needs'),
        (GOOD + 'baseline = "old"', "`baseline` needs a question about two outputs"),
        (GOOD.replace("{output}", "it"), "key user: .*must hold the placeholder {output}"),
        (GOOD + 'system = "{input}"', "key system: .*must hold no placeholder"),
        (GOOD + 'answer = "words"', "key answer: "),
        (GOOD + "scale = 3", "key scale: Extra inputs are not permitted"),
        (GOOD + "[sampling]\nn = 3", "key sampling: .*must not set n"),
        (GOOD + "[sampling]\nx = nan", "key sampling: .*not JSON compliant"),
        (GOOD + "[sampling]\nx = 2020-01-01", "key sampling"),
        (GOOD.replace('"x"', '"X Y"'), "key name: "),
    ],
)
def test_a_file_that_breaks_a_rule_is_named_with_its_key(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InvalidDataError, match=f"mine.toml.*{message}") as error:
        read_rubric(path)
    assert "\n" not in str(error.value)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidDataError, match="cannot be read"):
        read_rubric(path)


@pytest.mark.parametrize("name", ["fluent", "rubric.yaml", "missing.toml"])
def test_an_unknown_rubric_is_refused_with_those_that_are_known(name):
    with pytest.raises(InvalidArgumentError, match="`rubric` must be one of correctness, fluency"):
        read_rubric(name)


def test_every_other_placeholder_is_a_column():
    rubric = Rubric(name="x", low=1, high=5, user="{genre} {a.b-c} {genre} {output} {input}")
    assert rubric.columns == ("genre", "a.b-c", "output", "input")
    assert not rubric.compares
    pairs = Rubric(name="x", low=1, high=5, user="{output} {other_output}")
    assert pairs.columns == ("item", "system", "output")
    assert pairs.compares


CRITERIA = {"name": "both", "low": 1, "high": 5, "answer": "json", "user": "{output}"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": "number"}, "`criteria` need `answer"),
        ({"user": "{output} {other_output}"}, "`criteria` need `answer"),
        (
            {"criteria": ["fluent", "fluent"]},
            "must be different names such as fluent; got ['fluent', 'fluent']",
        ),
        ({"criteria": ["reason"]}, "got ['reason']"),
        ({"criteria": ["Two words"]}, "got ['Two words']"),
    ],
)
def test_criteria_must_be_readable_from_one_reply(changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Rubric(**{**CRITERIA, "criteria": ["fluent", "true"], **changes})


def test_one_question_asks_for_all_criteria():
    (asked,) = Rubric(**CRITERIA, criteria=["fluent", "true"]).messages({"output": "text"})
    assert asked["content"] == (
        "text\n\nReply with a JSON object and nothing else. It has these keys: first "
        '"reason", one sentence; then "fluent", "true", each a whole number from 1 to 5.'
    )
