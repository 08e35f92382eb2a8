import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.judge import Rubric
from steelyard.judge.answer import answer
from steelyard.judge.reply import DigitToken, Reply

NUMBER = Rubric(name="n", low=1, high=5, user="{output}")
SIGNED = Rubric(name="s", low=-2, high=2, user="{output}")
LOGITS = NUMBER.model_copy(update={"score": "logits"})
OBJECT = Rubric(name="o", low=1, high=5, answer="json", user="{output}")


def said(text, *, finish="stop", digits=None, is_refusal=False):
    return Reply(content=text, finish=finish, is_refusal=is_refusal, digits=digits)


def said_token(text, alternatives):
    return DigitToken(text=text, alternatives=list(alternatives.items()))


@pytest.mark.parametrize(
    "text",
    [
        "4",
        " 4\n",
        "4.",
        "Score: 4",
        "Score:4",
        "**4**",
        "(4)",
        "- 4",
        "+4",
        "<score>4</score>",
        "I give it a 4, because it reads well.",
        "<think>5 errors? No, 3 or 2.</think>\n4",
        "thoughts about 3 that began in the prompt</think>4",
        "<thinking>3?</thinking>4",
        "4.0",
        "Score: 4.00",
        "4/5",
        "**4 / 5**",
        "Score: 4/5.",
        "4 out of 5",
        "4 (out of 5)",
        "Score: **4**/5",
        "[THINK]3?[/THINK]4",
        "\u25c1think\u25b73?\u25c1/think\u25b74",
        "Overall rating: 4.0/5.0",
        "The score is <think>?</think> Final score is 4 of 5",
        "<Reasoning>3?</Reasoning>4",
    ],
)
def test_one_whole_number_on_the_scale_is_the_score(text):
    assert answer(said(text), NUMBER).score == 4
    assert answer(said(text), NUMBER).reason is None


@pytest.mark.parametrize("text", ["-1", "Score: -1", "\N{MINUS SIGN}1"])
def test_a_scale_may_go_below_zero(text):
    assert answer(said(text), SIGNED).score == -1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It is quite fluent.", "no number in the reply: 'It is quite fluent.'"),
        ("four", "no number"),
        ("\N{FULLWIDTH DIGIT FOUR}", "no number"),
        ("4 or 5", "several numbers"),
        ("4/10", "several numbers"),
        ("4/5/5", "several numbers"),
        ("~4/5", "several numbers"),
        ("-4/5", "several numbers"),
        ("4/5 of the facts are right", "several numbers"),
        ("1 of 5 facts is wrong", "several numbers"),
        ("6/5", "score off the scale"),
        ("4.05", "not a whole number"),
        ("14.0.0", "not a whole number"),
        ("between 3-4", "several numbers"),
        ("4 4", "several numbers"),
        ("4.5", "not a whole number"),
        ("4,0", "not a whole number"),
        (".4", "not a whole number"),
        ("4%", "not a whole number"),
        ("4/five", "not a whole number"),
        ("4th", "not a whole number"),
        ("v4", "not a whole number"),
        ("4+", "not a whole number"),
        ("~4", "not a whole number"),
        ("<4", "not a whole number"),
        ("4\N{VULGAR FRACTION ONE HALF}", "not a whole number"),
        ("\N{EN DASH}1", "not a whole number"),
        ("9" * 5000, "not a whole number"),
        ("0", "score off the scale: '0'"),
        ("6", "score off the scale"),
        ("-4", "score off the scale"),
        ("", "empty reply"),
        (" \n", "empty reply"),
        ("<think>4</think>", "empty reply"),
        ("<think>The answer could be 4", "thoughts without an end"),
        ("<think>one</think><think>4", "thoughts without an end"),
        ("<THINKING> 4", "thoughts without an end"),
        ("[THINK] 4", "thoughts without an end"),
        ("\u25c1think\u25b7 4", "thoughts without an end"),
    ],
)
def test_anything_else_is_no_score_but_a_reason(text, reason):
    found = answer(said(text), NUMBER)
    assert math.isnan(found.score)
    assert found.reason.startswith(reason)


@given(st.text(max_size=40))
def test_a_score_is_on_the_scale_and_stands_in_the_reply(text):
    for rubric in (NUMBER, SIGNED, OBJECT):
        found = answer(said(text), rubric)
        assert math.isnan(found.score) == (found.reason is not None)
        if found.reason is None:
            assert rubric.low <= found.score <= rubric.high
            assert str(abs(int(found.score))) in text


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 4}',
        '{"reason": "3 errors in 20 words", "score": 4}',
        '{"score": 4.0}',
        '{"score": "4"}',
        '{"score": "4/5"}',
        '```json\n{"score": 4}\n```',
        '<think>{"score": 1}</think> {"score": 4}',
    ],
)
def test_an_object_with_a_score_is_an_answer(text):
    assert answer(said(text), OBJECT).score == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4", "no key score"),
        ("[4]", "no key score"),
        ('{"points": 4}', "no key score"),
        ('{"score": 4', "not a JSON object"),
        ('{"score": 4} {"score": 5}', "not a JSON object"),
        ('{"score": 4, "score": 5}', "not a JSON object"),
        ('{"score": ' + "9" * 5000 + "}", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('{"score": 4.5}', "not a whole number"),
        ('{"score": "four"}', "not a whole number"),
        ('{"score": "4/10"}', "several numbers"),
        ('{"score": true}', "not a whole number"),
        ('{"score": null}', "not a whole number"),
        ('{"score": 7}', "score off the scale"),
    ],
)
def test_any_other_object_is_none(text, reason):
    found = answer(said(text), OBJECT)
    assert math.isnan(found.score)
    assert found.reason.startswith(reason)


def test_a_reply_that_was_cut_off_filtered_or_refused_has_no_score():
    cut = answer(said("4", finish="length"), NUMBER)
    assert cut.reason == "the reply was cut off: raise max_tokens in the rubric"
    filtered = answer(said("4", finish="content_filter"), NUMBER)
    assert filtered.reason == "the endpoint filtered the reply"
    assert answer(said("4", is_refusal=True), NUMBER).reason == "the judge refused"


def test_the_expected_score_is_the_mean_over_valid_tokens():
    # tokens for 4: 0.5 + 0.1, for 5: 0.2; the rest is no score: (4 * 0.6 + 5 * 0.2) / 0.8
    shares = {"4": 0.5, " 4": 0.1, "5": 0.2, "9": 0.1, "The": 0.1}
    token = said_token("4", {text: math.log(share) for text, share in shares.items()})
    found = answer(said("4", digits=[token]), LOGITS)
    assert found.score == pytest.approx(4.25)
    assert found.mass == pytest.approx(0.8)
    # the only token that was allowed
    cut = answer(said("4", digits=[token], finish="length"), LOGITS)
    assert cut.score == found.score


def test_the_answer_is_the_last_number_after_thoughts():
    thought = said_token("1", {"1": 0.0})
    token = said_token(" 2", {" 2": math.log(0.5), "3": math.log(0.5)})
    reply = said("<think>1 error</think> 2", digits=[thought, token])
    assert answer(reply, LOGITS).score == pytest.approx(2.5)


@given(st.lists(st.floats(-30, 0), min_size=5, max_size=5))
def test_an_expected_score_stays_on_the_scale(logs):
    token = said_token("3", {str(n + 1): value for n, value in enumerate(logs)})
    found = answer(said("3", digits=[token]), LOGITS)
    assert 1 <= found.score <= 5
    assert 0 < found.mass <= 1


@pytest.mark.parametrize(
    ("text", "digits", "reason"),
    [
        ("4", None, "no log probabilities: the endpoint sent none"),
        ("4", [], "no token of the reply is the score"),
        ("4", [said_token("4.", {"4.": 0.0})], "no token of the reply is the score"),
        ("4", [said_token("4", {"4": -math.inf})], "no probability on the scale"),
        ("none", [], "no number in the reply: 'none'"),
        ("7", [said_token("7", {"4": 0.0})], "score off the scale: '7'"),
    ],
)
def test_without_probabilities_of_the_answer_there_is_no_expected_score(text, digits, reason):
    found = answer(said(text, digits=digits), LOGITS)
    assert math.isnan(found.score)
    assert math.isnan(found.mass)
    assert found.reason == reason


LABELS = Rubric(name="x", low=1, high=3, labels={"A": 1, "tie": 2, "B": 3}, user="{output}")


@pytest.mark.parametrize(
    "text", ["B", "b", " **B** ", "[[B]]", "Answer: B", "Final answer is: b.", '"B"']
)
def test_a_label_that_stands_alone_is_a_score(text):
    assert answer(said(text), LABELS).score == 3


@pytest.mark.parametrize(
    "text", ["A is better", "A or B", "3", "AB", "C", "neither", "x" * 5_000 + "A"]
)
def test_a_label_within_other_words_is_none(text):
    assert answer(said(text), LABELS).reason.startswith("none of the labels")


def test_labels_are_read_in_objects_too():
    rubric = Rubric(
        name="x", low=0, high=1, labels={"no": 0, "yes": 1}, answer="json", user="{output}"
    )
    found = answer(said('{"reason": "so", "score": "Yes"}'), rubric)
    assert (found.score, found.explanation) == (1, "so")
    assert answer(said('{"score": 1}'), rubric).reason is not None
