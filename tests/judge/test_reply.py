import math

import pytest

from steelyard.judge.failures import Failure
from steelyard.judge.reply import DigitToken, Reply


def entry(token, logprob, *top):
    others = [{"token": text, "logprob": value, "bytes": None} for text, value in top]
    return {"token": token, "logprob": logprob, "top_logprobs": others}


def test_a_chat_completion_is_read_and_survives_its_way_through_json(say):
    # a sampled token need not be among the most probable ones; those without a digit say nothing
    content = [
        entry("Score", -0.1, ("Score", -0.1)),
        entry(" 4", -3.0, ("5", -0.5), ("a", -math.inf)),
    ]
    got = Reply.of(say("Score 4", usage=(120, 3), logprobs={"content": content}))
    digits = [DigitToken(text=" 4", alternatives=[(" 4", -3.0), ("5", -0.5), ("a", -math.inf)])]
    expected = Reply(content="Score 4", finish="stop", digits=digits, tokens_in=120, tokens_out=3)
    assert got == expected
    assert Reply.model_validate_json(got.model_dump_json()) == expected


@pytest.mark.parametrize("logprobs", [None, {}, {"content": None}, {"content": []}])
def test_no_log_probabilities_are_none(say, logprobs):
    assert Reply.of(say("4", logprobs=logprobs)).digits is None


def test_a_refusal_may_be_empty_and_odd_counts_are_unknown(say):
    refused = say(None, finish=3, usage=(True, -1))
    refused["choices"][0]["message"]["refusal"] = "I cannot"
    assert Reply.of(refused) == Reply(content="", is_refusal=True)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"object": "list"},
        {"choices": {}},
        {"choices": []},
        {"choices": [4]},
        {"choices": [{"text": "4"}]},
        {"choices": [{"message": {"content": [4]}}]},
    ],
)
def test_anything_else_is_malformed(body):
    with pytest.raises(Failure, match="not a chat completion: ") as failure:
        Reply.of(body)
    assert failure.value.may_pass


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
    with pytest.raises(Failure, match=r"not a chat completion: choices\.0\.logprobs"):
        Reply.of(say("4", logprobs={"content": content}))
