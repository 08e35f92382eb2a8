import math

import pytest

from steelyard.judge.reply import MalformedReplyError, Reply, Token


def entry(token, logprob, *top):
    others = [{"token": text, "logprob": value, "bytes": None} for text, value in top]
    return {"token": token, "logprob": logprob, "top_logprobs": others}


def test_a_chat_completion_is_read(say):
    got = Reply.of(say("4", usage=(120, 3)))
    assert got == Reply("4", "stop", False, None, 120, 3)


def test_only_tokens_with_a_digit_are_kept_and_the_sampled_one_is_among_them(say):
    content = [
        entry("Score", -0.1, ("Score", -0.1)),
        entry(" 4", -3.0, ("5", -0.5), ("a", -1.0)),
    ]
    got = Reply.of(say("Score 4", logprobs={"content": content}))
    assert got.digits == (Token(" 4", ((" 4", -3.0), ("5", -0.5), ("a", -1.0))),)


@pytest.mark.parametrize("logprobs", [None, {}, {"content": None}, {"content": []}, "none"])
def test_no_log_probabilities_are_none(say, logprobs):
    assert Reply.of(say("4", logprobs=logprobs)).digits is None


def test_a_reply_survives_its_way_through_json(say):
    content = [entry("4", 0.0, ("5", -math.inf))]
    for text in ("4", "a \ud800 b", ""):
        reply = Reply.of(say(text, logprobs={"content": content}))
        assert Reply.from_json(reply.to_json()) == reply


def test_no_content_is_an_empty_text_and_odd_counts_are_unknown(say):
    got = Reply.of(say(None, finish=3, usage=(True, -1)))
    assert got == Reply("", None, False, None, None, None)
    refused = say("no")
    refused["choices"][0]["message"]["refusal"] = "I cannot"
    assert Reply.of(refused).is_refusal


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "expected an object"),
        ({"object": "list"}, "expected a list `choices`"),
        ({"choices": {}}, "expected a list `choices`"),
        ({"choices": []}, "`choices` is empty"),
        ({"choices": [4]}, "`choices\\[0\\].message`"),
        ({"choices": [{"text": "4"}]}, "`choices\\[0\\].message`"),
        ({"choices": [{"message": {"content": [4]}}]}, "expected a text"),
    ],
)
def test_anything_else_is_malformed(body, message):
    with pytest.raises(MalformedReplyError, match=message):
        Reply.of(body)


@pytest.mark.parametrize(
    "content",
    [
        [4],
        [{"token": 4}],
        [{"token": "4", "logprob": None, "top_logprobs": []}],
        [{"token": "4", "logprob": 0.5, "top_logprobs": []}],
        [{"token": "4", "logprob": math.nan, "top_logprobs": []}],
        [{"token": "4", "logprob": True, "top_logprobs": []}],
        [{"token": "4", "logprob": -1.0, "top_logprobs": None}],
        [{"token": "4", "logprob": -1.0, "top_logprobs": [{"token": "5"}]}],
    ],
)
def test_odd_log_probabilities_are_malformed(say, content):
    with pytest.raises(MalformedReplyError, match="expected"):
        Reply.of(say("4", logprobs={"content": content}))
