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

import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError, MissingDependencyError
from steelyard.judge import EndpointError, Rubric, forecast, judge

TEXTS = [f"text {number}" for number in range(12)]
SECRET = "sk-very-secret-0123456789"  # noqa: S105
# What is asked again: five times after the first.
ATTEMPTS = 6


def completion(content, *, finish="stop"):
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 90, "completion_tokens": 1}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


@pytest.fixture
def ask(server, rubric, waits):  # noqa: ARG001
    """Ask the server, without waiting between attempts."""

    def call(outputs=("a text",), *, endpoint=None, **options):
        options = {"model": "m", "rubric": rubric} | options
        return judge(outputs, endpoint=endpoint or server.base, **options)

    return call


def test_every_output_is_scored_in_its_place(ask, server):
    server.play = lambda body, _: server.say(body["messages"][0]["content"][5])
    told = []
    got = ask(
        [*TEXTS[1:6], TEXTS[1]],
        prices=(1.0, 10.0),
        concurrency=1,
        progress=lambda *now: told.append(now[:2]),
    )
    # equal questions are asked once
    np.testing.assert_array_equal(got.scores, [1, 2, 3, 4, 5, 1])
    assert (got.reasons, got.n_missing, got.failures) == ((None,) * 6, 0, {})
    assert (got.usage.asked, got.usage.from_cache, got.usage.requests) == (5, 0, 5)
    assert (got.usage.tokens_in, got.usage.tokens_out, got.usage.uncounted) == (450, 5, 0)
    # 450 tokens at 1 a million and 5 at 10 a million
    assert got.cost == pytest.approx(500e-6)
    assert told == [(n, 5) for n in range(1, 6)]
    server.play = lambda *_: server.say("4", usage=None)
    assert ask(["uncounted"]).usage.uncounted == 1


def test_the_request_says_what_the_rubric_says(ask, server):
    rubric = Rubric(
        name="r",
        low=0,
        high=5,
        system="Be strict.",
        user="{input} > {output}",
        sampling={"seed": 1},
    )
    ask({"output": ["o"], "input": ["i"]}, rubric=rubric)
    said = "i > o\n\nReply with one whole number from 0 to 5 and nothing else."
    messages = [{"role": "system", "content": "Be strict."}, {"role": "user", "content": said}]
    assert server.bodies == [{"model": "m", "messages": messages, "seed": 1}]
    assert server.authorizations == [None]


def test_any_column_stands_in_the_question_and_nothing_is_asked_without_it(ask, server):
    rubric = Rubric(name="x", low=1, high=5, user="{genre}/{year}/{tags}: {output}")
    columns = {
        "output": ["x", "y", "z"],
        "genre": ["ode", None, "{output}"],
        "year": [1999, 1, 2.5],
        "tags": [["a", "b"], [], "c"],
    }
    found = ask(columns, rubric=rubric)
    asked = sorted(body["messages"][0]["content"].split("\n\nReply")[0] for body in server.bodies)
    assert asked == ["ode/1999/a\n\nb: x", "{output}/2.5/c: z"]
    assert found.reasons == (None, "no genre to show to the judge", None)
    assert ask(pl.DataFrame(columns, strict=False)[["output"]]).n_missing == 0
    with pytest.raises(InvalidArgumentError, match="`outputs` must have a column 'genre'"):
        ask(["x"], rubric=rubric)
    with pytest.raises(InvalidArgumentError, match="one year for each output; got 0 for 3"):
        ask(columns | {"year": []}, rubric=rubric)


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (408, "HTTP 408: says 408"),
        (409, "HTTP 409: says 409"),
        (500, "HTTP 500: says 500"),
        ((529, {}), "HTTP 529"),
        (b"{not json", "malformed JSON"),
        (b"", "malformed JSON"),
        (b"\xff\xfe", "malformed JSON"),
        (b"[" * 100_000, "malformed JSON"),
        ("half", "the connection broke off"),
        ("hang up", "the connection broke off"),
        ("reset", "the connection broke off"),
        (completion(""), "empty reply"),
        (completion(None), "empty reply"),
        ({"choices": []}, "not a chat completion: choices: List should have at least 1 item"),
        ([], "not a chat completion: body: Input should be"),
        ({"object": "error", "message": "no"}, "HTTP 500: no"),
        ({"error": {"message": "overloaded", "code": 502}}, "HTTP 502: overloaded"),
        ({"choices": [{"error": {"message": "lost", "code": "x"}}]}, "HTTP 500: lost"),
    ],
)
def test_a_passing_trouble_is_asked_again_and_then_given_up(ask, server, waits, trouble, reason):
    server.play = lambda *_: trouble
    got = ask(["another"])
    assert math.isnan(got.scores[0])
    assert got.reasons[0].startswith(reason)
    assert (got.usage.asked, got.usage.requests, got.usage.tokens_in) == (1, ATTEMPTS, 0)
    # full jitter: below a bound that doubles
    assert len(waits) == ATTEMPTS - 1
    assert all(0 <= wait <= 0.5 * 2**nth for nth, wait in enumerate(waits))
    server.play = lambda _, nth: trouble if nth < 2 else server.say("2")
    got = ask(["a third"])
    assert (got.scores[0], got.reasons, got.usage.requests) == (2, (None,), 3)


@pytest.mark.parametrize("silence", ["hold", "stall"])
def test_a_reply_that_does_not_come_is_asked_for_again(ask, server, rubric, silence, time_limits):
    patient = rubric.model_copy(update={"timeout": 77})
    server.play = lambda *_: silence
    assert ask(rubric=patient).reasons == ("no reply within 77 s",)
    assert time_limits == [77] * ATTEMPTS
    server.play = lambda _, nth: server.say("3") if nth else silence
    assert ask(["another"]).scores == [3]


@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_that_the_server_asks_for_is_kept(ask, server, waits, status):
    server.play = lambda _, nth: server.say("3") if nth else (status, {"Retry-After": "7"})
    assert ask().scores == [3]
    assert 7 <= waits[0] <= 7.5


def test_no_wait_is_read_from_other_answers_and_none_of_hours_is_kept(ask, server, waits):
    server.play = lambda _, nth: server.say("3") if nth else (500, {"Retry-After": "7"})
    assert ask().scores == [3]
    assert waits[0] <= 0.5
    server.play = lambda *_: (429, {"Retry-After": "7200"})
    with pytest.raises(EndpointError, match="HTTP 429, asks to wait 7,200 s: ask again then"):
        ask(["another"])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (400, "HTTP 400: says 400"),
        ((413, {}), "HTTP 413"),
        ({"error": {"message": "too long", "code": 400}}, "HTTP 400: too long"),
        (
            {"error": {"code": 403, "message": "Your input was flagged"}},
            "HTTP 403: Your input was flagged",
        ),
        (completion("7"), "score off the scale: '7'"),
        (completion("4", finish="length"), "the reply was cut off: raise max_tokens in the rubric"),
        ({"choices": [{"message": {"content": None, "refusal": "No."}}]}, "the judge refused"),
    ],
)
def test_a_failure_of_one_question_harms_no_other_and_is_asked_in_the_next_run(
    ask, server, tmp_path, reply, reason
):
    cache = tmp_path / "cache.sqlite"
    server.play = lambda body, _: (
        reply if "text 3\n" in body["messages"][0]["content"] else server.say("5")
    )
    got = ask(TEXTS, cache=cache)
    assert [one for one in got.reasons if one] == [reason]
    assert got.failures == {reason.partition(":")[0]: 1}
    # in this run it is asked once
    assert (np.isnan(got.scores[3]), server.requests) == (True, 12)
    server.play = lambda *_: server.say("1")
    got = ask(TEXTS, cache=cache)
    assert (got.usage.asked, got.usage.from_cache) == (1, 11)
    np.testing.assert_array_equal(got.scores, [5, 5, 5, 1, *[5] * 8])


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "You exceeded your quota", "code": "insufficient_quota"}, 429),
        ({"message": "You exceeded your quota"}, 402),
        ({"message": "You exceeded your quota", "type": "billing_not_active"}, 200),
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
    server.play = lambda *_: b" " * 30_000_000
    assert ask().reasons == ("reply too large: more than 16 MB",)
    assert server.requests == 1


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "HTTP 401, access refused \\(no key was sent: give `api_key_env`\\)"),
        (403, "HTTP 403, access refused"),
        (404, "/chat/completions: HTTP 404: says 404: correct `endpoint` or `model`"),
        ((307, {"Location": "http://127.0.0.1:1/v2"}), "HTTP 307, moved to http://127.0.0.1:1/v2"),
    ],
)
def test_what_would_fail_for_all_stops_the_run_at_once(ask, server, waits, status, message):
    server.play = lambda *_: status
    with pytest.raises(EndpointError, match=message) as error:
        ask(TEXTS * 10, concurrency=1)
    assert "\n" not in str(error.value)
    assert (server.requests, waits) == (1, [])


def test_what_would_fail_for_all_stops_those_under_way_and_keeps_what_came(ask, server, tmp_path):
    cache = tmp_path / "cache.sqlite"
    server.play = lambda body, _: (
        403 if "text 7\n" in body["messages"][0]["content"] else server.say("5")
    )
    with pytest.raises(EndpointError, match="HTTP 403"):
        ask(TEXTS, concurrency=1, cache=cache)
    server.play = lambda body, _: 401 if "text 8\n" in body["messages"][0]["content"] else "hold"
    with pytest.raises(EndpointError, match="HTTP 401"):
        ask(TEXTS, concurrency=4, cache=cache)
    server.play = lambda *_: server.say("5")
    got = ask(TEXTS, cache=cache)
    assert (got.usage.from_cache, got.usage.asked) == (7, 5)


MANY = [f"text {number}" for number in range(400)]


@pytest.mark.parametrize(("status", "each"), [(400, 1), (500, ATTEMPTS)])
def test_an_endpoint_that_fails_for_all_is_not_asked_about_all(ask, server, status, each):
    server.play = lambda *_: status
    got = ask(MANY, concurrency=4)
    assert server.requests <= each * (30 + 4)
    assert got.n_missing == 400
    assert 30 <= got.failures[f"HTTP {status}"] <= 34
    assert set(got.failures) == {f"HTTP {status}", "not asked"}
    last = next(reason for reason in got.reasons if reason.startswith("not asked"))
    assert re.fullmatch(rf"not asked: 3\d questions in a row failed: HTTP {status}: says .*", last)


def test_many_failures_in_one_stretch_of_the_file_do_not_stop_the_others(ask, server):
    def play(body, _):
        number = int(body["messages"][0]["content"].split()[1])
        return 400 if number < 200 else server.say("3")

    server.play = play
    got = ask(MANY, concurrency=4)
    assert (got.n_missing, got.failures) == (200, {"HTTP 400": 200})


def test_a_server_that_is_not_there_stops_the_run_after_all_attempts(ask, server, waits):
    address = server.base
    server.shutdown()
    server.server_close()
    with pytest.raises(EndpointError, match=r"cannot be reached \(.*\): start the server"):
        ask(TEXTS, endpoint=address, concurrency=1)
    assert len(waits) == ATTEMPTS - 1


def test_as_many_questions_are_under_way_as_wished_and_no_more(ask, server):
    # each waits until three are there: fewer would not get on, and a fourth would be seen
    server.all_here = threading.Barrier(3)
    assert ask(TEXTS, concurrency=3).n_missing == 0
    assert server.most_under_way == 3


def test_what_is_kept_depends_on_all_of_the_question_but_not_on_the_address(ask, rubric, tmp_path):
    cache = tmp_path / "cache.sqlite"
    ask(cache=cache)
    assert ask(cache=cache, endpoint="http://other").usage.from_cache == 1
    for change in ({"name": "other"}, {"timeout": 7.0}):
        assert ask(cache=cache, rubric=rubric.model_copy(update=change)).usage.from_cache == 1
    for change in ({"high": 6}, {"sampling": {"temperature": 1.0}}, {"score": "logits"}):
        assert ask(cache=cache, rubric=rubric.model_copy(update=change)).usage.from_cache == 0
    for change in ({"model": "other"}, {"outputs": ["another text"]}):
        assert ask(cache=cache, **change).usage.from_cache == 0


def test_an_expected_score_comes_with_its_mass(ask, server, rubric):
    rubric = rubric.model_copy(update={"score": "logits"})

    def reply(body, _):
        assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
        top = [
            {"token": token, "logprob": math.log(share)}
            for token, share in [("4", 0.6), ("5", 0.2), ("good", 0.2)]
        ]
        content = [top[0] | {"top_logprobs": top}]
        return server.say("4", finish="length", logprobs={"content": content})

    server.play = reply
    got = ask(rubric=rubric)
    # (4 * 0.6 + 5 * 0.2) / 0.8
    np.testing.assert_allclose(got.scores, [4.25])
    np.testing.assert_allclose(got.mass, [0.8])
    server.play = lambda *_: server.say("4")
    got = ask(["another"], rubric=rubric)
    assert got.reasons == ("no log probabilities: the endpoint sent none",)


VARIED = Rubric(
    name="varied", low=1, high=5, user="{output}", sampling={"temperature": 1.0, "seed": 5}
)


def test_samples_are_averaged_and_paid_for_once(ask, server, tmp_path):
    replies = {5: "2", 6: "5", 7: "nothing", 8: "5"}
    server.play = lambda body, _: server.say(replies[body["seed"]])
    several = [VARIED.model_copy(update={"samples": count}) for count in (1, 3)]
    cache = tmp_path / "kept"
    assert ask(["x"], rubric=several[0], cache=cache).scores.tolist() == [2]
    found = ask(["x", "x"], rubric=several[1], cache=cache)
    # the first reply was kept; the third has no score
    assert found.scores.tolist() == [3.5, 3.5]
    assert (found.usage.asked, found.usage.from_cache, found.n_partly) == (2, 1, 2)
    server.play = lambda *_: server.say("none")
    found = ask(["y"], rubric=several[1])
    assert (found.reasons, found.n_partly) == (("no number in the reply: 'none'",), 0)


def test_one_question_gives_a_score_by_each_criterion(ask, server, tmp_path):
    both = Rubric(
        name="both", low=1, high=5, answer="json", user="{output}", criteria=["fluent", "true"]
    )
    said = {"a": '{"reason": "So.", "fluent": 4, "true": "2"}', "b": '{"fluent": 3, "true": 9}'}
    server.play = lambda body, _: server.say(said[body["messages"][0]["content"][0]])
    got = ask(["a", "b"], rubric=both, cache=tmp_path / "kept")
    assert server.requests == got.usage.asked == 2
    np.testing.assert_array_equal(got.criteria["fluent"].scores, [4, 3])
    np.testing.assert_array_equal(got.criteria["true"].scores, [2, np.nan])
    assert got.criteria["true"].reasons[1].startswith("score off the scale")
    # of all criteria, the mean where all are valid
    np.testing.assert_array_equal(got.scores, [3, np.nan])
    assert got.explanations == got.criteria["true"].explanations == ("So.", None)
    assert list(got.columns("judge.both"))[:2] == [
        "judge.both.fluent",
        "judge.both.fluent.reason",
    ]
    # a reply of which one criterion cannot be read is asked for anew as a whole
    said["b"] = '{"fluent": 1, "true": 1}'
    again = ask(["a", "b"], rubric=both, cache=tmp_path / "kept")
    assert (again.usage.asked, again.usage.from_cache) == (1, 1)
    np.testing.assert_array_equal(again.criteria["fluent"].scores, [4, 1])


def test_a_forecast_asks_nothing_and_learns_from_what_was_asked(ask, server, rubric, tmp_path):
    cache = tmp_path / "kept"
    options = {"model": "m", "rubric": rubric, "cache": cache, "prices": (1e6, 1e6)}
    texts = [f"text {n:03}" for n in range(10)] * 2
    first = forecast(texts, **options)
    assert (first.questions, first.from_cache, first.n_outputs) == (10, 0, 20)
    assert (first.is_measured, first.most_tokens_out) == (False, 10 * 512)
    assert not cache.exists()
    # the stand-in counts 90 tokens in and 1 out for each
    ask(texts[:2], cache=cache)
    second = forecast(texts, **options)
    assert (second.questions, second.from_cache, second.is_measured) == (8, 2, True)
    assert (second.tokens_in, second.tokens_out, second.cost) == (720, 8, 728)
    assert server.requests == 2


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


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "HTTP 400: Bad key [key]"),
        (500, "HTTP 500: Bad key [key]"),
        (401, "the key in JUDGE_KEY"),
        (404, "Bad key [key]"),
    ],
)
def test_no_reason_and_no_error_shows_the_key(ask, server, monkeypatch, status, message):
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    text = f'{{"error": "Bad key {SECRET}"}}'.encode()
    monkeypatch.setattr(
        server.RequestHandlerClass, "act", lambda handler, _: handler.send(status, text)
    )
    try:
        (said,) = ask(api_key_env="JUDGE_KEY").reasons
    except EndpointError as error:
        said = str(error)
    assert message in said
    assert SECRET not in said


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
def test_a_cache_belongs_to_one_run_and_a_killed_one_asks_nothing_twice(
    ask, server, tmp_path, monkeypatch
):
    monkeypatch.setattr("steelyard.judge.cache._PATIENCE", 0.01)
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
        [sys.executable, "-c", KILLED, server.base, cache], stdout=subprocess.PIPE, text=True
    )
    # what was told is on disk: then no mercy
    for number in range(5):
        assert run.stdout.readline() == f"{number + 1}\n"
    with pytest.raises(InvalidDataError, match="is used by another run: wait until it ends"):
        ask(TEXTS, cache=cache)
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
        ({"rubric": "correctness"}, "`outputs` must have a column 'input'"),
        ({"rubric": "nonsense"}, "`rubric` must be one of"),
        ({"model": " "}, "`model` must name a model"),
        ({"concurrency": 0}, "`concurrency` must be at least 1; got 0"),
        ({"prices": (-1, 1)}, "`prices` must be two prices of a million tokens"),
        (
            {"endpoint": "localhost:8000"},
            "`endpoint` must be an address such as .*'localhost:8000'",
        ),
        ({"endpoint": "http://"}, "`endpoint` must be an address"),
        ({"endpoint": "http://h:port/v1"}, "`endpoint` must be an address"),
        ({"endpoint": "http://me:pass@h/v1"}, "`endpoint` must hold no user, password or key"),
        ({"endpoint": "http://h/v1?sig=pass"}, "`endpoint` must hold no user, password or key"),
        ({"api_key_env": "NOT_SET"}, "`api_key_env` must name .*; NOT_SET is not"),
        ({"api_key_env": "ODD_KEY"}, "`api_key_env`: ODD_KEY holds spaces"),
        ({"api_key_env": "a b=ODD_KEY"}, "`api_key_env` must be VAR, or HEADER=VAR"),
    ],
)
def test_a_bad_argument_is_refused_before_anything_is_asked(
    ask, server, monkeypatch, options, message
):
    monkeypatch.setenv("ODD_KEY", "odd\nkey")
    with pytest.raises(InvalidArgumentError, match=message) as error:
        ask(**options)
    for secret in ("pass@", "sig=pass", "odd\nkey"):
        assert secret not in str(error.value)
    assert server.requests == 0


@pytest.mark.parametrize("name", ["httpx", "tenacity"])
def test_without_a_library_the_extra_is_named(ask, monkeypatch, name):
    monkeypatch.setattr(
        "steelyard.judge.judging.find_spec", lambda one: one if one != name else None
    )
    with pytest.raises(MissingDependencyError, match=rf"needs {name}: .*'steelyard\[judge\]'"):
        ask()


def test_importing_the_judge_loads_no_http_library():
    code = "import sys, steelyard.judge; sys.exit(bool({'httpx', 'tenacity'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
