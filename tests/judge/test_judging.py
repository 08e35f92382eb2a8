import asyncio
import json
import logging
import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.judge import EndpointError, Rubric, judge

TEXTS = [f"text {number}" for number in range(12)]
SECRET = "sk-very-secret-0123456789"  # noqa: S105


def completion(content, *, finish="stop"):
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 90, "completion_tokens": 1}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


@pytest.fixture
def ask(server, rubric, sleep):
    """Ask the server, without waiting between attempts."""

    def call(outputs=("a text",), *, endpoint=None, **options):
        options = {"model": "m", "rubric": rubric, "sleep": sleep, "max_retries": 3} | options
        return judge(outputs, endpoint=endpoint or server.base, **options)

    return call


def test_every_output_is_scored_in_its_place(ask, server):
    server.play = lambda body, _: server.say(body["messages"][0]["content"][5])
    got = ask(TEXTS[1:6], price_in=1.0, price_out=10.0)
    np.testing.assert_array_equal(got.scores, [1, 2, 3, 4, 5])
    assert got.reasons == (None,) * 5
    assert got.n_missing == 0
    assert got.failures == {}
    assert (got.usage.asked, got.usage.from_cache, got.usage.requests) == (5, 0, 5)
    assert (got.usage.tokens_in, got.usage.tokens_out, got.usage.uncounted) == (450, 5, 0)
    # 450 tokens at 1 a million and 5 at 10 a million
    assert got.cost == pytest.approx(500e-6)
    assert got.mass is None


def test_the_request_says_what_the_rubric_says(ask, server):
    rubric = Rubric(
        name="r",
        low=0,
        high=5,
        system="Be strict.",
        user="{input} > {output}",
        sampling={"seed": 1},
    )
    ask(["o"], rubric=rubric, inputs=["i"])
    assert server.bodies == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be strict."},
                {
                    "role": "user",
                    "content": "i > o\n\nReply with one whole number from 0 to 5 and nothing else.",
                },
            ],
            "seed": 1,
        }
    ]
    assert server.authorizations == [None]


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (408, "HTTP 408: says 408"),
        (409, "HTTP 409: says 409"),
        (500, "HTTP 500: says 500"),
        (502, "HTTP 502: says 502"),
        (503, "HTTP 503: says 503"),
        ((529, {}), "HTTP 529"),
        (b"{not json", "malformed JSON"),
        (b"", "malformed JSON"),
        (b"\xff\xfe", "malformed JSON"),
        (b'{"choices": [{"message": {"cont', "malformed JSON"),
        (b"[" * 100_000, "malformed JSON"),
        ("half", "the connection broke off"),
        ("hang up", "the connection broke off"),
        (completion(""), "empty reply"),
        (completion(None), "empty reply"),
        ({"object": "error", "message": "no"}, "HTTP 500: no"),
        ({"error": {"message": "overloaded", "code": 502}}, "HTTP 502: overloaded"),
        ({"error": "overloaded", "choices": []}, "HTTP 500: overloaded"),
        ({"choices": [{"error": {"message": "lost", "code": "x"}}]}, "HTTP 500: lost"),
        ("reset", "the connection broke off"),
    ],
)
def test_a_passing_trouble_is_asked_again_and_then_given_up(ask, server, waits, trouble, reason):
    got = ask(max_retries=3)
    assert got.scores == [4]
    server.play = lambda *_: trouble
    got = ask(["another"], max_retries=3)
    assert math.isnan(got.scores[0])
    assert got.reasons == (reason,)
    assert (got.usage.asked, got.usage.requests, got.usage.tokens_in) == (1, 4, 0)
    assert len(waits) == 3
    assert all(0 <= wait <= bound for wait, bound in zip(waits, (0.5, 1, 2), strict=True))
    # the third attempt succeeds
    server.play = lambda _, nth: trouble if nth < 2 else server.say("2")
    got = ask(["a third"], max_retries=3)
    assert got.scores == [2]
    assert got.reasons == (None,)
    assert got.usage.requests == 3


@pytest.mark.parametrize("silence", ["hold", "stall"])
def test_a_reply_that_does_not_come_is_asked_for_again_and_then_given_up(
    ask, server, waits, silence, time_limits
):
    server.play = lambda *_: silence
    got = ask(max_retries=2, timeout=77)
    assert math.isnan(got.scores[0])
    assert got.reasons == ("no reply within 77 s",)
    assert time_limits == [77] * 3
    assert server.requests == got.usage.requests == 3
    assert len(waits) == 2


@pytest.mark.usefixtures("time_limits")
def test_a_reply_that_does_not_come_is_asked_for_again_and_may_come_then(ask, server):
    server.play = lambda _, nth: server.say("3") if nth else "hold"
    got = ask()
    assert got.scores == [3]
    assert got.usage.requests == 2


@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_that_the_server_asks_for_is_kept(ask, server, waits, status):
    server.play = lambda _, nth: server.say("3") if nth else (status, {"Retry-After": "7"})
    assert ask().scores == [3]
    assert len(waits) == 1
    assert 7 <= waits[0] <= 7.5


def test_no_wait_is_read_from_other_answers(ask, server, waits):
    server.play = lambda _, nth: server.say("3") if nth else (500, {"Retry-After": "7"})
    assert ask().scores == [3]
    assert waits[0] <= 0.5


def test_a_server_that_wants_hours_stops_the_run(ask, server):
    server.play = lambda *_: (429, {"Retry-After": "7200"})
    with pytest.raises(EndpointError, match="HTTP 429, asks to wait 7,200 s: ask again then"):
        ask()
    assert server.requests == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"choices": None}, "expected a list `choices`"),
        ([], "expected an object"),
        ({"choices": []}, "`choices` is empty"),
        ({"choices": [{}]}, "expected an object `choices[0].message`"),
    ],
)
def test_what_is_no_completion_is_asked_again_and_then_given_up(ask, server, reply, reason):
    server.play = lambda _, nth: server.say("3") if nth == 2 else reply
    assert ask().scores == [3]
    server.play = lambda *_: reply
    assert ask(["another"]).reasons == (f"not a chat completion: {reason}",)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (400, "HTTP 400: says 400"),
        (422, "HTTP 422: says 422"),
        ((413, {}), "HTTP 413"),
        ({"error": {"message": "too long", "code": 400}}, "HTTP 400: too long"),
    ],
)
def test_a_final_failure_is_not_asked_again(ask, server, waits, reply, reason):
    server.play = lambda *_: reply
    got = ask()
    assert math.isnan(got.scores[0])
    assert got.reasons == (reason,)
    assert server.requests == 1
    assert waits == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("7", "score off the scale: '7'"),
        ("Rather good.", "no number in the reply: 'Rather good.'"),
        ("4 or 5", "several numbers in the reply: '4 or 5'"),
    ],
)
def test_a_reply_without_a_valid_score_is_kept_and_not_asked_again(
    ask, server, tmp_path, content, reason
):
    server.play = lambda *_: server.say(content)
    for from_cache in (0, 1):
        got = ask(cache=tmp_path / "cache.sqlite")
        assert math.isnan(got.scores[0])
        assert got.reasons == (reason,)
        assert got.usage.from_cache == from_cache
        assert got.usage.tokens_in == (0 if from_cache else 90)
    assert server.requests == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (completion(""), "empty reply"),
        (completion("4", finish="content_filter"), "the endpoint filtered the reply"),
        (completion("4", finish="length"), "the reply was cut off"),
        ({"choices": [{"message": {"content": None, "refusal": "No."}}]}, "the judge refused"),
    ],
)
def test_what_is_no_answer_is_not_kept_and_asked_again_in_the_next_run(
    ask, server, tmp_path, reply, reason
):
    cache = tmp_path / "cache.sqlite"
    server.play = lambda *_: reply
    got = ask(cache=cache)
    assert got.reasons[0].startswith(reason)
    server.play = lambda *_: server.say("3")
    got = ask(cache=cache)
    assert (got.scores[0], got.usage.asked) == (3, 1)


def test_a_reply_without_a_valid_score_is_asked_for_anew_on_demand(ask, server, tmp_path):
    cache = tmp_path / "cache.sqlite"
    server.play = lambda body, _: server.say(
        "Good." if "text 3" in body["messages"][0]["content"] else "5"
    )
    ask(TEXTS, cache=cache)
    server.play = lambda *_: server.say("2")
    got = ask(TEXTS, cache=cache, retry_invalid=True)
    assert (got.usage.asked, got.usage.from_cache, got.scores[3]) == (1, 11, 2)
    got = ask(TEXTS, cache=cache, retry_invalid=True)
    assert (got.usage.asked, got.scores[3]) == (0, 2)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "You exceeded your quota", "code": "insufficient_quota"}, 429),
        ({"message": "You exceeded your quota", "type": "billing_not_active"}, 429),
        ({"message": "You exceeded your quota"}, 402),
        ({"message": "You exceeded your quota", "code": "insufficient_quota"}, 200),
    ],
)
def test_a_quota_that_is_used_up_stops_the_run_at_once(ask, server, monkeypatch, error, status):
    text = json.dumps({"error": error}).encode()
    monkeypatch.setattr(
        server.RequestHandlerClass, "act", lambda handler, _: handler.send(status, text)
    )
    with pytest.raises(EndpointError, match="You exceeded your quota: the quota is used up"):
        ask(TEXTS * 4, concurrency=8)
    # those that are under way at first
    assert server.requests <= 4


def test_a_reply_without_end_is_not_read_to_its_end(ask, server, monkeypatch):
    monkeypatch.setattr("steelyard.judge.client._LARGEST", 1_000_000)
    server.play = lambda *_: b" " * 3_000_000
    got = ask()
    assert got.reasons == ("reply too large: more than 1 MB",)
    assert server.requests == 1


def test_a_failure_harms_no_other_output_and_is_asked_again_in_the_next_run(ask, server, tmp_path):
    cache = tmp_path / "cache.sqlite"
    server.play = lambda body, _: (
        400 if "text 3" in body["messages"][0]["content"] else server.say("5")
    )
    got = ask(TEXTS, cache=cache)
    assert got.n_missing == 1
    assert got.failures == {"HTTP 400": 1}
    assert np.isnan(got.scores[3])
    server.play = lambda *_: server.say("1")
    got = ask(TEXTS, cache=cache)
    assert (got.usage.asked, got.usage.from_cache) == (1, 11)
    np.testing.assert_array_equal(got.scores, [5, 5, 5, 1, *[5] * 8])


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "HTTP 401, access refused \\(no key was sent: give `api_key_env`\\)"),
        (403, "HTTP 403, access refused"),
        (404, "HTTP 404: says 404: correct `endpoint` or `model`"),
        ((307, {"Location": "http://127.0.0.1:1/v2"}), "HTTP 307, moved to http://127.0.0.1:1/v2"),
    ],
)
def test_what_would_fail_for_all_stops_the_run_at_once(ask, server, waits, status, message):
    server.play = lambda *_: status
    with pytest.raises(EndpointError, match=message) as error:
        ask(TEXTS * 10, concurrency=1)
    assert "\n" not in str(error.value)
    assert server.requests == 1
    assert waits == []


def test_what_would_fail_for_all_stops_those_under_way(ask, server):
    server.play = lambda body, _: 401 if "text 1\n" in body["messages"][0]["content"] else "hold"
    with pytest.raises(EndpointError, match="HTTP 401"):
        ask(TEXTS, concurrency=4)
    assert server.requests <= 4


MANY = [f"text {number}" for number in range(400)]


@pytest.mark.parametrize(("status", "each"), [(400, 1), (500, 4)])
def test_an_endpoint_that_fails_for_all_is_not_asked_about_all(ask, server, status, each):
    server.play = lambda *_: status
    got = ask(MANY, concurrency=4)
    assert server.requests <= each * (30 + 4)
    assert got.n_missing == 400
    assert 30 <= got.failures[f"HTTP {status}"] <= 34
    assert set(got.failures) == {f"HTTP {status}", "not asked"}
    last = next(reason for reason in got.reasons if reason.startswith("not asked"))
    assert re.fullmatch(rf"not asked: 3\d questions in a row failed: HTTP {status}: says .*", last)


def test_an_endpoint_that_fails_later_keeps_what_it_said(ask, server, tmp_path):
    cache = tmp_path / "cache.sqlite"
    server.play = lambda *_: 500 if server.requests > 100 else server.say("3")
    got = ask(MANY, concurrency=1, max_retries=0, cache=cache)
    assert (got.n_missing, server.requests) == (300, 130)
    server.play = lambda *_: server.say("3")
    got = ask(MANY, cache=cache)
    assert (got.n_missing, got.usage.from_cache, got.usage.asked) == (0, 100, 300)


def test_many_failures_in_one_stretch_of_the_file_do_not_stop_the_others(ask, server):
    def play(body, _):
        number = int(body["messages"][0]["content"].split()[1])
        return 400 if number < 200 else server.say("3")

    server.play = play
    got = ask(MANY, concurrency=4)
    assert got.n_missing == 200
    assert got.failures == {"HTTP 400": 200}


def test_a_text_that_a_gateway_flags_does_not_stop_the_run(ask, server):
    flagged = {"error": {"code": 403, "message": "Your input was flagged"}}
    server.play = lambda body, _: (
        flagged if "text 7" in body["messages"][0]["content"] else server.say("5")
    )
    got = ask(TEXTS)
    assert [reason for reason in got.reasons if reason] == ["HTTP 403: Your input was flagged"]


def test_replies_before_the_run_was_stopped_are_kept(ask, server, tmp_path):
    cache = tmp_path / "cache.sqlite"
    server.play = lambda body, _: (
        403 if "text 7" in body["messages"][0]["content"] else server.say("5")
    )
    with pytest.raises(EndpointError, match="HTTP 403"):
        ask(TEXTS, concurrency=1, cache=cache)
    server.play = lambda *_: server.say("5")
    got = ask(TEXTS, cache=cache)
    assert (got.usage.from_cache, got.usage.asked) == (7, 5)


def test_a_wrong_path_is_told(ask, server):
    with pytest.raises(EndpointError, match=r"/wrong/chat/completions: HTTP 404"):
        ask(endpoint=server.base.replace("/v1", "/wrong"))


def test_a_server_that_is_not_there_stops_the_run_after_all_attempts(ask, server, waits):
    address = server.base
    server.shutdown()
    server.server_close()
    with pytest.raises(EndpointError, match=r"cannot be reached \(.*\): start the server"):
        ask(TEXTS, endpoint=address, max_retries=2, concurrency=1)
    assert len(waits) == 2


def test_equal_questions_are_asked_once(ask, server):
    got = ask(["a", "b", "a", "a"])
    assert (server.requests, got.usage.asked) == (2, 2)
    assert len(got.scores) == 4


def test_as_many_questions_are_under_way_as_wished_and_no_more(ask, server):
    # each waits until three are there: fewer would not get on, and a fourth would be seen
    server.all_here = threading.Barrier(3)
    got = ask(TEXTS, concurrency=3)
    assert got.n_missing == 0
    assert server.most_under_way == 3


def test_what_is_kept_depends_on_all_of_the_question_but_not_on_the_address(
    ask, server, rubric, tmp_path
):
    cache = tmp_path / "cache.sqlite"
    ask(cache=cache)
    assert ask(cache=cache, endpoint=server.base + "/").usage.from_cache == 1
    renamed = rubric.model_copy(update={"name": "other"})
    assert ask(cache=cache, rubric=renamed).usage.from_cache == 1
    for change in (
        {"model": "other"},
        {"rubric": rubric.model_copy(update={"high": 6})},
        {"rubric": rubric.model_copy(update={"sampling": {"temperature": 1.0}})},
        {"outputs": ["another text"]},
        {"score": "logits"},
    ):
        assert ask(cache=cache, **change).usage.from_cache == 0


def test_an_expected_score_comes_with_its_mass(ask, server):
    def reply(body, _):
        assert body["logprobs"] is True
        assert body["top_logprobs"] == 20
        top = [("4", 0.6), ("5", 0.2), ("good", 0.2)]
        content = [
            {
                "token": "4",
                "logprob": math.log(0.6),
                "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in top],
            }
        ]
        return server.say("4", finish="length", logprobs={"content": content})

    server.play = reply
    got = ask(score="logits")
    # (4 * 0.6 + 5 * 0.2) / 0.8
    np.testing.assert_allclose(got.scores, [4.25])
    np.testing.assert_allclose(got.mass, [0.8])
    server.play = lambda *_: server.say("4")
    got = ask(["another"], score="logits")
    assert got.reasons == ("no log probabilities: the endpoint sent none",)
    assert np.isnan(got.scores).all()


def test_missing_counts_are_told(ask, server):
    server.play = lambda *_: server.say("4", usage=None)
    got = ask(price_in=1, price_out=1)
    assert (got.usage.uncounted, got.usage.tokens_in, got.cost) == (1, 0, 0.0)


def test_an_output_without_what_the_rubric_shows_is_not_asked_about(ask, server):
    rubric = Rubric(name="r", low=1, high=5, user="{input} {reference} {output}")
    got = ask(
        list("abcd"),
        rubric=rubric,
        inputs=["i", None, "i", "i"],
        references=["r", "r", None, ["r", "s"]],
    )
    assert got.reasons == (
        None,
        "no input to show to the judge",
        "no reference to show to the judge",
        None,
    )
    assert server.requests == 2


def test_progress_is_told_after_every_question(ask):
    told = []
    ask(TEXTS, progress=lambda done, total, usage: told.append((done, total, usage.tokens_in)))
    assert [done for done, _, _ in told] == list(range(1, 13))
    assert {total for _, total, _ in told} == {12}
    assert told[-1][2] == 12 * 90


def test_a_notebook_may_ask_too(ask):
    async def cell():
        return ask(TEXTS)

    assert asyncio.run(cell()).n_missing == 0


def test_a_text_that_is_no_unicode_is_asked_about(ask, server):
    assert ask(["half a pair: \ud800"]).n_missing == 0
    assert "\ud800" in server.bodies[0]["messages"][0]["content"]


def test_the_key_is_sent_and_otherwise_nowhere(ask, server, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("JUDGE_KEY", f" {SECRET}\n")
    caplog.set_level(logging.DEBUG)
    cache = tmp_path / "cache.sqlite"

    def reply(body, _):
        text = body["messages"][0]["content"]
        if "text 1\n" in text:
            return server.say(f"your key is {SECRET}")
        return {"error": f"bad key {SECRET}"} if "text 2\n" in text else server.say("4")

    server.play = reply
    got = ask(TEXTS, api_key_env="JUDGE_KEY", cache=cache)
    assert set(server.authorizations) == {f"Bearer {SECRET}"}
    assert got.reasons[1] == "no number in the reply: 'your key is [key]'"
    with sqlite3.connect(cache) as connection:
        dump = "\n".join(connection.iterdump())
    connection.close()
    seen = [repr(got), *map(str, got.reasons), caplog.text, dump]
    seen += [path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()]
    assert not any(SECRET in text for text in seen)


@pytest.fixture
def indiscreet(server, monkeypatch):
    """Make the server answer with a status and the key in its words."""
    monkeypatch.setenv("JUDGE_KEY", SECRET)

    def answer(status):
        text = f'{{"error": "Bad key {SECRET}"}}'.encode()
        monkeypatch.setattr(
            server.RequestHandlerClass, "act", lambda handler, _: handler.send(status, text)
        )

    return answer


@pytest.mark.parametrize("status", [400, 500])
def test_no_reason_shows_the_key(ask, indiscreet, status):
    indiscreet(status)
    assert ask(api_key_env="JUDGE_KEY").reasons == (f"HTTP {status}: Bad key [key]",)


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "the key in JUDGE_KEY"), (403, "the key in JUDGE_KEY"), (404, "Bad key .key.")],
)
def test_no_error_shows_the_key(ask, indiscreet, status, message):
    indiscreet(status)
    with pytest.raises(EndpointError, match=message) as error:
        ask(api_key_env="JUDGE_KEY")
    assert SECRET not in str(error.value)


def test_two_runs_with_one_cache_ask_each_question_once_and_agree(ask, server, tmp_path):
    cache, number = tmp_path / "cache.sqlite", iter(range(1000))
    # the first question of each run waits for that of the other: they are under way together
    together = threading.Barrier(2)
    firsts = []

    def reply(_body, _):
        with server.lock:
            firsts.append(None)
            is_first, score = len(firsts) <= 2, next(number) % 5 + 1
        if is_first:
            together.wait(timeout=120)
        return server.say(str(score))

    server.play = reply
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(ask, TEXTS, cache=cache, concurrency=1) for _ in range(2)]
        one, other = (run.result(timeout=120) for run in runs)
    assert server.requests == len(TEXTS)
    assert one.usage.asked + other.usage.asked == len(TEXTS)
    np.testing.assert_array_equal(one.scores, other.scores)


KILLED = """
import sys
from steelyard.judge import Rubric, judge

def told(done, total, usage):
    print(done, flush=True)

rubric = Rubric(name="brevity", low=1, high=5, user="{output}")
texts = [f"text {number}" for number in range(12)]
judge(texts, endpoint=sys.argv[1], model="m", rubric=rubric, cache=sys.argv[2], concurrency=3,
      progress=told)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_run_asks_nothing_twice(ask, server, tmp_path):
    cache = tmp_path / "cache.sqlite"
    answered = []

    def reply(body, _):
        with server.lock:
            if len(answered) == 5:
                return "hold"
            answered.append(body["messages"][0]["content"])
        return server.say("4")

    server.play = reply
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, server.base, cache],
        stdout=subprocess.PIPE,
        text=True,
    )
    # what was told is on disk: then no mercy
    for number in range(5):
        assert run.stdout.readline() == f"{number + 1}\n"
    run.send_signal(signal.SIGKILL)
    assert run.wait(timeout=120) == -signal.SIGKILL
    run.stdout.close()
    server.release.set()
    server.play = lambda *_: server.say("2")
    got = ask(TEXTS, cache=cache)
    assert (got.usage.from_cache, got.usage.asked) == (5, 7)
    assert all(server.asked[question] == 1 for question in answered)
    assert sorted(got.scores) == [2] * 7 + [4] * 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": "text"}, "`outputs` must be a list of texts"),
        ({"outputs": [1]}, "`outputs` must hold texts; got something else at position 0"),
        (
            {"references": ["a", "b"]},
            "`references` must have one entry for each output; got 2 for 1",
        ),
        ({"references": [[1]]}, "`references` must hold texts"),
        ({"references": [1]}, "`references` must hold texts"),
        ({"inputs": [1]}, "`inputs` must hold texts"),
        ({"rubric": "correctness"}, "`references` must be given: the rubric 'correctness' shows"),
        ({"rubric": "correctness", "references": ["r"]}, "`inputs` must be given"),
        ({"rubric": "nonsense"}, "`rubric` must be one of"),
        ({"model": " "}, "`model` must name a model"),
        ({"concurrency": 0}, "`concurrency` must be at least 1; got 0"),
        ({"max_retries": -1}, "`max_retries` must be at least 0; got -1"),
        ({"timeout": 0}, "`timeout` must be positive seconds; got 0"),
        ({"timeout": math.nan}, "`timeout` must be positive seconds"),
        ({"price_in": 1}, "`price_in` and `price_out` must be given both"),
        (
            {"price_in": -1, "price_out": 1},
            "`price_in` must be a price of a million tokens; got -1",
        ),
        ({"score": "words"}, "`score` must be one of integer, logits; got 'words'"),
        (
            {"endpoint": "localhost:8000"},
            "`endpoint` must be an address such as .*'localhost:8000'",
        ),
        ({"endpoint": "http://"}, "`endpoint` must be an address"),
        ({"endpoint": "http://h:port/v1"}, "`endpoint` must be an address"),
        ({"endpoint": "http://me:pass@h/v1"}, "`endpoint` must hold no user, password or key"),
        ({"endpoint": "http://h/v1?key=pass"}, "`endpoint` must hold no user, password or key"),
        (
            {"api_key_env": "NOT_SET_ANYWHERE"},
            "`api_key_env` must name .*; NOT_SET_ANYWHERE is not",
        ),
        ({"api_key_env": "ODD_KEY"}, "`api_key_env`: ODD_KEY holds spaces"),
    ],
)
def test_a_bad_argument_is_refused_before_anything_is_asked(
    ask, server, monkeypatch, options, message
):
    monkeypatch.setenv("ODD_KEY", "odd\nkey")
    with pytest.raises(InvalidArgumentError, match=message) as error:
        ask(**options)
    assert "pass@" not in str(error.value)
    assert "key=pass" not in str(error.value)
    assert "odd\nkey" not in str(error.value)
    assert server.requests == 0


@pytest.mark.parametrize(
    ("low", "high", "answer"), [(0, 10, "number"), (-1, 1, "number"), (1, 5, "json")]
)
def test_expected_scores_need_scores_of_one_token(ask, low, high, answer):
    rubric = Rubric(name="wide", low=low, high=high, answer=answer, user="{output}")
    with pytest.raises(InvalidArgumentError, match="`score`: logits need a rubric whose answer"):
        ask(rubric=rubric, score="logits")


def test_without_httpx_the_extra_is_named(ask, monkeypatch):
    monkeypatch.setattr("steelyard.judge.judging.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'steelyard\[judge\]'"):
        ask()


def test_importing_the_judge_loads_no_http_library():
    code = "import sys, steelyard.judge; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
