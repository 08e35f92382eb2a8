"""Questions sent as files: what is paid for once, and what becomes of every failure."""

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from batch_endpoint import BatchEndpoint, completion
from printed_json import schema_errors
from steelyard.cli import main
from steelyard.errors import InvalidDataError
from steelyard.judge import EndpointError, Rubric, judge

TEXTS = [f"text {number}" for number in range(12)]
RUBRIC = Rubric(name="brevity", low=1, high=5, user="{output}")


@pytest.fixture
def batches(monkeypatch):
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with BatchEndpoint() as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def ask(batches, waits, tmp_path):  # noqa: ARG001
    def call(outputs=TEXTS, **options):
        given = {"cache": tmp_path / "kept", "batch": True, "rubric": RUBRIC}
        place = {"endpoint": batches.base, "model": "m"}
        return judge(outputs, **place | given | options)

    return call


def text_of(body):
    return body["messages"][-1]["content"].partition("\n")[0]


def number_of(body):
    return int(text_of(body).split()[1])


def test_every_question_is_sent_in_one_file_and_its_reply_found_again(ask, batches):
    batches.looks = 3
    batches.play = lambda body: completion(str(1 + number_of(body) % 5))
    told = []
    got = ask([*TEXTS, TEXTS[0]], progress=lambda *now: told.append(now[:2]))
    assert got.scores.tolist() == [1 + n % 5 for n in [*range(12), 0]]
    assert (got.usage.asked, got.usage.requests, got.usage.from_cache) == (12, 12, 0)
    assert (got.usage.tokens_in, got.usage.tokens_out) == (12 * 90, 12)
    assert got.usage.batches == list(batches.batches)
    assert batches.requests["POST files"] == batches.requests["POST batches"] == 1
    assert told[-1] == (12, 12)
    again = ask()
    assert (again.usage.asked, again.usage.from_cache) == (0, 12)
    assert batches.requests["POST batches"] == 1


def test_looks_become_rarer(ask, batches, waits):
    batches.looks = 12
    ask()
    assert waits[:3] == [5, 7.5, 11.25]
    assert waits[-1] == 60


def test_many_questions_are_sent_in_several_files(ask, batches, monkeypatch):
    monkeypatch.setattr("steelyard.judge.batching._MOST_LINES", 5)
    got = ask()
    assert [
        len(batches.files[one["input_file_id"]].splitlines()) for one in batches.batches.values()
    ] == [5, 5, 2]
    assert got.n_missing == 0
    assert set(batches.answered.values()) == {1}


def test_partial_failures_keep_what_is_there_and_say_why_the_rest_is_not(ask, batches):
    said = {
        0: completion("4"),
        1: completion("no idea"),
        2: completion("", finish="content_filter"),
        3: 400,
        4: "missing",
        5: {"error": {"code": "batch_expired", "message": "not in time"}},
        6: {"error": None},
        7: {"choices": []},
        8: {"error": {"code": "x", "message": "y"}, "choices": []},
    }
    batches.play = lambda body: said.get(number_of(body), completion("2"))
    got = ask()
    assert got.reasons[:9] == (
        None,
        "no number in the reply: 'no idea'",
        "the endpoint filtered the reply",
        "HTTP 400: says 400",
        "no line in the files of the batch",
        "batch_expired: not in time",
        "no response",
        "not a chat completion: choices: List should have at least 1 item after validation, not 0",
        "HTTP 500: y",
    )
    assert np.isnan(got.scores).sum() == 8
    batches.play = lambda body: completion("5")  # noqa: ARG005
    again = ask()
    assert (again.usage.from_cache, again.usage.asked) == (4, 8)
    assert again.scores.tolist()[:9] == [4, *[5] * 8]


def test_passing_failures_are_sent_again_by_themselves(ask, batches):
    tries = []

    def play(body):
        if number_of(body) in {3, 4} and len(tries) < 3:
            tries.append(number_of(body))
            return {3: 500, 4: 429}[number_of(body)]
        return completion("4")

    batches.play = play
    got = ask()
    assert got.n_missing == 0
    assert got.usage.requests == 15
    assert set(batches.answered.values()) == {1}
    batches.play = lambda body: 503  # noqa: ARG005
    assert ask(["other"]).reasons == ("HTTP 503: says 503",)
    assert batches.requests["POST batches"] == 3 + 6


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("expired", "the batch expired before its turn"),
        ("cancelled", "the batch was cancelled"),
    ],
)
def test_a_batch_that_ends_early_gives_what_it_has(ask, batches, end, reason):
    batches.end = end
    batches.play = lambda body: completion("4") if number_of(body) < 5 else "missing"
    got = ask()
    assert got.scores[:5].tolist() == [4] * 5
    assert set(got.reasons[5:]) == {reason}
    batches.end, batches.play = "completed", lambda body: completion("2")  # noqa: ARG005
    assert ask().scores.tolist() == [4] * 5 + [2] * 7
    assert set(batches.answered.values()) == {1}


def test_a_batch_that_is_refused_ends_the_run_with_its_reason(ask, batches):
    batches.errors = "Enqueued token limit reached"
    with pytest.raises(EndpointError, match=r"failed: Enqueued token limit reached: .*--limit"):
        ask()
    batches.errors = None
    assert ask().n_missing == 0


@pytest.mark.parametrize(
    ("status", "message"), [(404, "HTTP 404: says 404: correct"), (401, "HTTP 401")]
)
def test_what_every_question_fails_of_ends_the_run(ask, batches, status, message):
    batches.play = lambda body: status  # noqa: ARG005
    with pytest.raises(EndpointError, match=message):
        ask()


@pytest.mark.parametrize(
    ("request_", "trouble"),
    [
        ("POST files", "reset"),
        ("POST files", (200, b"no json")),
        ("POST batches", "reset"),
        ("POST batches", "deaf"),
        ("POST batches", 500),
        ("POST batches", 429),
        ("POST batches", (200, b"{}")),
        ("GET batches/NAME", "reset"),
        ("GET batches/NAME", (200, b"{}")),
        ("GET files/NAME/content", 500),
        ("GET files/NAME/content", (200, b"no json")),
    ],
)
def test_no_trouble_on_the_way_loses_a_score_or_pays_twice(ask, batches, request_, trouble):
    batches.trouble = {request_: [trouble, trouble]}
    batches.play = lambda body: completion(str(1 + number_of(body) % 5))
    got = ask()
    assert got.scores.tolist() == [1 + n % 5 for n in range(12)]
    assert set(batches.answered.values()) == {1}
    assert len(batches.answered) == 12


def test_a_batch_is_looked_for_on_all_pages(ask, batches, monkeypatch):
    monkeypatch.setattr("steelyard.judge.batch_mode._PAGE", 2)
    file = batches.keep(b"")["id"]
    asked = {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    create = batches.create

    def later(wanted):
        found = create(wanted)
        for _ in range(5):
            create(asked)
        return found

    batches.create = later
    batches.trouble = {"POST batches": ["deaf"]}
    assert ask().n_missing == 0
    assert batches.requests["GET batches"] == 3
    assert set(batches.answered.values()) == {1}


def test_a_torn_file_is_fetched_again_and_lines_of_rubbish_are_left_out(ask, batches):
    batches.play = lambda body: b'{"custom_id": "' if number_of(body) == 7 else completion("4")
    got = ask()
    assert got.reasons[7] == "no line in the files of the batch"
    assert got.n_missing == 1
    assert batches.requests["GET files/NAME/content"] == 3


def test_an_endpoint_without_batches_says_so_and_can_be_asked_one_by_one(ask, batches, server):
    batches.has_batches = False
    with pytest.raises(EndpointError, match="HTTP 404: has no batch mode: leave out `batch`"):
        ask()
    assert ask(endpoint=server.base, batch=False).n_missing == 0


def test_silence_about_a_batch_ends_the_run_and_the_next_one_goes_on(ask, batches):
    batches.trouble = {"GET batches/NAME": [503] * 30}
    with pytest.raises(EndpointError, match=r"nothing is heard of batch_2 \(HTTP 503: says 503\)"):
        ask()
    assert ask().n_missing == 0
    assert batches.requests["POST batches"] == 1


def test_a_batch_that_is_completed_without_files_is_waited_for(ask, batches):
    batches.trouble = {"GET batches/NAME": [(200, {"id": "batch_2", "status": "completed"})] * 3}
    assert ask().n_missing == 0


def test_questions_in_a_batch_are_asked_nowhere_else(ask, batches):
    batches.trouble = {"GET batches/NAME": [404]}
    with pytest.raises(EndpointError, match="there is no batch batch_2: give the key and endpoint"):
        ask()
    with pytest.raises(InvalidDataError, match=r"12 of these questions are in a batch .* --batch"):
        ask(batch=False)
    with pytest.raises(EndpointError, match="in a batch at another endpoint"):
        ask(["text 3"], endpoint="http://127.0.0.1:9/v1")
    # other questions are free, and so is another cache
    assert ask(["text 77"]).n_missing == 0
    assert ask().n_missing == 0


def test_a_part_of_a_batch_can_be_asked_for(ask, batches):
    batches.trouble = {"GET batches/NAME": [404]}
    with pytest.raises(EndpointError):
        ask()
    got = ask(TEXTS[:3])
    assert (got.n_missing, got.usage.asked) == (0, 3)
    assert ask().usage.from_cache == 12


def test_what_nobody_knows_to_be_sent_is_not_sent_again_unseen(ask, batches):
    batches.lists_batches = False
    batches.trouble = {"POST batches": ["deaf"]}
    with pytest.raises(EndpointError, match="batches are not listed, and an earlier run may"):
        ask()
    with pytest.raises(EndpointError, match="batches are not listed"):
        ask()
    assert len(batches.batches) == 1


@pytest.mark.parametrize("page", [b"{}", b"no json", b'{"data": [{"id": 1}]}'])
def test_a_list_that_cannot_be_read_is_not_taken_for_an_empty_one(ask, batches, page):
    batches.trouble = {"POST batches": ["deaf"], "GET batches": [(200, page)] * 100}
    for _ in range(2):
        with pytest.raises(EndpointError, match=r"sent no list of batches|run the same command"):
            ask()
    assert len(batches.batches) == 1
    batches.trouble = {}
    assert ask().n_missing == 0
    assert len(batches.batches) == 1


def test_a_long_list_without_the_batch_is_not_taken_for_its_end(ask, batches, monkeypatch):
    monkeypatch.setattr("steelyard.judge.batch_mode._PAGE", 1)
    monkeypatch.setattr("steelyard.judge.batch_mode._PAGES", 2)
    batches.trouble = {"POST batches": ["reset"]}
    file = batches.keep(b"")["id"]
    asked = {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    for _ in range(4):
        batches.create(asked)
    with pytest.raises(EndpointError, match="no batch of file-6 is among the newest 2, and there"):
        ask()


def test_a_file_is_waited_for_until_the_endpoint_has_read_it(ask, batches, waits):
    pending = (200, {"id": "file-1", "status": "pending"})
    batches.keep(b"")
    keep = batches.keep
    batches.keep = lambda content, purpose="x": keep(content, purpose) | {"status": "pending"}
    batches.trouble = {"GET files/NAME": [pending, pending]}
    assert ask().n_missing == 0
    assert waits[:3] == [2, 2, 2]


def test_a_key_is_sent_and_kept_nowhere(ask, batches, monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGE_KEY", "very-secret-key")
    batches.play = lambda body: {"error": {"code": "x", "message": "very-secret-key"}}  # noqa: ARG005
    got = ask(api_key_env="JUDGE_KEY")
    assert batches.keys == {"Bearer very-secret-key"}
    assert set(got.reasons) == {"x: [key]"}
    assert b"very-secret-key" not in (tmp_path / "kept").read_bytes()


KILLED = """
import asyncio, sys
from steelyard.judge import Rubric, judge

sleep = asyncio.sleep
asyncio.sleep = lambda seconds: sleep(0)
rubric = Rubric(name="brevity", low=1, high=5, user="{output}")
texts = [f"text {number}" for number in range(12)]
judge(texts, endpoint=sys.argv[1], model="m", rubric=rubric, cache=sys.argv[2], batch=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize(
    "moment", ["POST files", "POST batches", "GET batches/NAME", "GET files/NAME/content"]
)
def test_a_run_that_is_killed_at_any_moment_pays_once(ask, batches, tmp_path, moment):
    batches.looks = 1
    arrived, killed = threading.Event(), threading.Event()

    def die():
        arrived.set()
        killed.wait(timeout=120)

    batches.after = {moment: die}
    run = subprocess.Popen([sys.executable, "-c", KILLED, batches.base, tmp_path / "kept"])
    assert arrived.wait(timeout=120)
    run.send_signal(signal.SIGKILL)
    assert run.wait(timeout=120) == -signal.SIGKILL
    batches.after = {}
    killed.set()
    got = ask()
    assert got.scores.tolist() == [4] * 12
    assert set(batches.answered.values()) == {1}
    assert len(batches.batches) == 1
    assert json.dumps(got.usage.batches) == json.dumps(list(batches.batches))


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        if "--json" in arguments:
            assert schema_errors(arguments[0], json.loads(captured.out)) == []
        return stop.value.code, captured.out, captured.err

    return call


@pytest.fixture
def outputs(tmp_path):
    path = tmp_path / "outputs.jsonl"
    rows = [{"item": n, "system": "s", "output": text} for n, text in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_command_asks_for_several_columns_in_batches_that_run_together(
    run,
    batches,
    outputs,
    tmp_path,
    waits,  # noqa: ARG001
):
    (tmp_path / "other.toml").write_text('name = "other"\nlow = 1\nhigh = 5\nuser = "{output}!"')
    seen = []
    batches.after = {"GET batches/NAME": lambda: seen.append(len(batches.batches))}
    place = [
        "--endpoint",
        batches.base,
        "--model",
        "m",
        "--batch",
        "--prices",
        1,
        2,
    ]
    rubrics = ["--rubric", "fluency", "--rubric", tmp_path / "other.toml"]
    target = tmp_path / "judged.jsonl"
    code, out, err = run("judge", outputs, *place, *rubrics, "-o", target)
    assert code == 0
    # the second is sent before the first is looked at
    assert set(seen) == {2}
    names = list(batches.batches)
    assert f"asked 12 questions in 12 requests ({names[1]})" in out
    assert "tokens 1,080 in, 12 out; cost 0.0011" in out
    assert f"steelyard: judge.fluency: {names[1]} is under way; stop when you like" in err
    assert [json.loads(line)["judge.other"] for line in target.read_text().splitlines()] == [4] * 12
    code, out, _ = run("judge", outputs, *place, *rubrics, "-o", target, "--json")
    found = json.loads(out)["columns"]
    assert [(one["batches"], one["from_cache"]) for one in found] == [([], 12)] * 2


def test_a_forecast_leaves_out_what_a_batch_holds(run, ask, batches, outputs, tmp_path):
    batches.trouble = {"GET batches/NAME": [404]}
    place = [
        "--endpoint",
        batches.base,
        "--model",
        "m",
        "--rubric",
        "fluency",
        "-o",
        tmp_path / "j.jsonl",
    ]
    place += ["--cache", tmp_path / "kept"]
    with pytest.raises(EndpointError):
        ask(TEXTS[:5], rubric="fluency")
    code, out, _ = run("judge", outputs, *place, "--dry-run")
    assert code == 0
    assert "would ask 7 questions; 5 are in a batch that is not fetched yet" in out
    _, out, _ = run("judge", outputs, *place, "--dry-run", "--json")
    assert json.loads(out)["columns"][0]["forecast"]["in_batches"] == 5
    code, _, err = run("judge", outputs, *place)
    assert (code, err.count("\n")) == (2, 1)
    assert (
        "5 of these questions are in a batch that is not fetched yet: fetch it with --batch" in err
    )


def test_a_pace_does_not_go_with_a_batch(run, batches, outputs, tmp_path):
    code, _, err = run(
        "judge", outputs, "--endpoint", batches.base, "--model", "m", "--rubric", "fluency",
        "-o", tmp_path / "j.jsonl", "--batch", "--requests-per-minute", 5,
    )  # fmt: skip
    assert (code, "`--batch` goes at the pace of the endpoint" in err) == (2, True)
    assert not batches.requests


def test_a_run_that_does_not_wait_says_what_is_not_done(ask, batches):
    got = ask(wait=False)
    assert set(got.reasons) == {"in a batch that is not done yet"}
    assert ask().n_missing == 0
    assert len(batches.batches) == 1
