"""Any column, worked examples, samples, queries, forecasts; and the command with them."""

import json

import numpy as np
import polars as pl
import pytest

from printed_json import schema_errors
from steelyard.cli import main
from steelyard.cli.judge_progress import log_lines
from steelyard.errors import InvalidArgumentError
from steelyard.judge import Rubric, Usage, judge
from steelyard.judge.answer import answer
from steelyard.judge.endpoint import Endpoint
from steelyard.judge.forecast import forecast
from steelyard.judge.reply import Reply

VARIED = Rubric(
    name="varied", low=1, high=5, user="{output}", sampling={"temperature": 1.0, "seed": 5}
)


@pytest.fixture
def ask(server, sleep):
    def call(outputs, **options):
        return judge(outputs, endpoint=server.base, model="m", sleep=sleep, **options)

    return call


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
def duels(tmp_path):
    """Three items, each by two systems; on the last one they say the same."""
    path = tmp_path / "outputs.jsonl"
    rows = [
        {"item": f"i{n}", "system": s, "input": "Q", "output": "same" if n == 2 else f"{s}{n}"}
        for n in range(3)
        for s in ("new", "old")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def said(text):
    return Reply(text, "stop", False, None, None, None)


@pytest.mark.parametrize(
    "text", ["B", "b", " **B** ", "[[B]]", "Answer: B", "Final answer is: b.", '"B"']
)
def test_a_label_that_stands_alone_is_a_score(text):
    rubric = Rubric(name="x", low=1, high=3, labels={"A": 1, "tie": 2, "B": 3}, user="{output}")
    assert answer(said(text), rubric, "integer").score == 3


@pytest.mark.parametrize(
    "text", ["A is better", "A or B", "3", "AB", "C", "neither", "x" * 5_000 + "A"]
)
def test_a_label_within_other_words_is_none(text):
    rubric = Rubric(name="x", low=1, high=3, labels={"A": 1, "tie": 2, "B": 3}, user="{output}")
    assert answer(said(text), rubric, "integer").reason.startswith("none of the labels")


def test_labels_are_read_in_objects_too():
    rubric = Rubric(
        name="x", low=0, high=1, labels={"no": 0, "yes": 1}, answer="json", user="{output}"
    )
    found = answer(said('{"reason": "so", "score": "Yes"}'), rubric, "integer")
    assert (found.score, found.explanation) == (1, "so")
    assert answer(said('{"score": 1}'), rubric, "integer").reason is not None


def test_any_column_stands_in_the_question(ask, server):
    rubric = Rubric(name="x", low=1, high=5, user="{genre}/{year}/{tags}: {output}")
    columns = {
        "genre": ["ode", None, "{output}"],
        "year": [1999, 1, 2.5],
        "tags": [["a", "b"], [], "c"],
    }
    found = ask(["x", "y", "z"], rubric=rubric, columns=columns)
    asked = sorted(body["messages"][0]["content"].split("\n\nReply")[0] for body in server.bodies)
    assert asked == ["ode/1999/a\n\nb: x", "{output}/2.5/c: z"]
    assert found.reasons == (None, "no genre to show to the judge", None)
    with pytest.raises(InvalidArgumentError, match="`columns` must have 'genre'"):
        ask(["x"], rubric=rubric)
    with pytest.raises(InvalidArgumentError, match="`year` must have one entry for each output"):
        ask(
            ["x"],
            rubric=rubric,
            columns={name: [] if name == "year" else ["v"] for name in columns},
        )


def test_samples_are_averaged_and_paid_for_once(ask, server, say, tmp_path):
    replies = {5: "2", 6: "5", 7: "nothing", 8: "5"}
    server.play = lambda body, _: say(replies[body["seed"]])
    options = {"rubric": VARIED, "cache": tmp_path / "kept"}
    assert ask(["x"], **options).scores.tolist() == [2]
    found = ask(["x", "x"], samples=3, **options)
    # the first reply was kept; the third has no score
    assert found.scores.tolist() == [3.5, 3.5]
    assert (found.usage.asked, found.usage.from_cache, found.n_partly) == (2, 1, 2)
    assert ask(["x"], samples=4, **options).scores.tolist() == [4]
    assert server.requests == 4


def test_samples_none_of_which_has_a_score_are_no_score(ask, server, say):
    server.play = lambda *_: say("none")
    found = ask(["x"], rubric=VARIED, samples=2)
    assert found.reasons == ("no number in the reply: 'none'",)
    assert found.n_partly == 0


def test_a_query_and_another_header_reach_the_endpoint():
    place = Endpoint.of(
        "https://h/openai/deployments/d/?api-version=2024-06-01",
        api_key_env="K",
        api_key_header="api-key",
        environment={"K": "secret-of-mine"},
    )
    assert (
        place.full_address
        == "https://h/openai/deployments/d/chat/completions?api-version=2024-06-01"
    )
    assert place.headers == {"api-key": "secret-of-mine"}
    # what errors show
    assert place.address == "https://h/openai/deployments/d/chat/completions"
    whole = "http://h/v1/chat/completions"
    assert Endpoint.of(whole).full_address == whole
    for secret in ("api-key=x", "access_token=x", "sig=x&v=1"):
        with pytest.raises(InvalidArgumentError, match="must hold no user, password or key"):
            Endpoint.of(f"http://h/v1?{secret}")


def test_a_query_is_sent(server, rubric):
    # the stand-in knows no other path than /v1/chat/completions
    paths = []
    server.play = lambda *_: 404
    server.RequestHandlerClass = type(
        "Remembers",
        (server.RequestHandlerClass,),
        {"act": lambda self, _: (paths.append(self.path), self.send(200, b'{"choices": []}'))},
    )
    place = f"{server.base}?api-version=1"
    judge(["x"], endpoint=place, model="m", rubric=rubric, max_retries=0)
    assert paths == ["/v1/chat/completions?api-version=1"]


def test_a_forecast_asks_nothing_and_learns_from_what_was_asked(ask, server, rubric, tmp_path):
    cache = tmp_path / "kept"
    options = {"model": "m", "rubric": rubric, "cache": cache, "price_in": 1e6, "price_out": 1e6}
    texts = [f"text {n:03}" for n in range(10)] * 2
    first = forecast(texts, **options)
    assert (first.questions, first.from_cache, first.n_outputs, first.is_measured) == (
        10,
        0,
        20,
        False,
    )
    assert first.most_tokens_out == 10 * 512
    assert not cache.exists()
    # the stand-in counts 90 tokens in and 1 out for each
    ask(texts[:2], rubric=rubric, cache=cache)
    second = forecast(texts, **options)
    assert (second.questions, second.from_cache, second.is_measured) == (8, 2, True)
    assert (second.tokens_in, second.tokens_out, second.cost) == (720, 8, 728)
    assert server.requests == 2


def test_a_log_gets_a_line_from_time_to_time(capsys):
    now = [0.0]
    listen = log_lines("judge.fluency", prices=(1e6, 0), clock=lambda: now[0])
    for second in range(0, 70, 10):
        now[0] = second
        listen(second, 1000, Usage(tokens_in=second))
    assert capsys.readouterr().err.splitlines() == [
        "steelyard: judge.fluency: 30 of 1,000 questions, 1.0/s, about 16 min left, cost 30.0000",
        "steelyard: judge.fluency: 60 of 1,000 questions, 1.0/s, about 16 min left, cost 60.0000",
    ]


def test_preferences_become_a_metric_and_a_file_for_compare(run, server, say, duels, tmp_path):
    def play(body, _):
        text = body["messages"][-1]["content"]
        return say("A" if text.index("new") < text.index("old") else "tie")

    server.play = play
    where = "--endpoint", server.base, "--model", "m", "--rubric", "preference"
    told = tmp_path / "prefs.csv"
    code, out, err = run(
        "judge", duels, *where, "-o", tmp_path / "judged.jsonl", "--preferences", told
    )
    assert (code, err) == (0, "")
    assert "asked 4 questions in 4 requests" in out
    assert "order: the output shown first gets 75.0% of the preference" in out
    assert "2 of 2 pairs change with the order" in out
    rows = [json.loads(line) for line in (tmp_path / "judged.jsonl").read_text().splitlines()]
    # 1 in one order and 1/2 in the other
    assert [row["judge.preference"] for row in rows] == [0.75, 0.25, 0.75, 0.25, 0.5, 0.5]
    assert pl.read_csv(told).height == 4
    code, out, err = run("compare", duels, told, "--json")
    assert code == 0, err
    (pair,) = json.loads(out)[0]["pairs"]
    assert pair["difference"] == pytest.approx(1 / 3)
    assert json.loads(out)[0]["order_effect"] is not None


def test_several_judges_are_columns_and_each_gets_its_own_key(
    run, server, duels, tmp_path, monkeypatch
):
    monkeypatch.setenv("ONE", "key-number-one")
    monkeypatch.setenv("TWO", "key-number-two")
    server.play = lambda body, _: server.say("2" if body["model"] == "small" else "4")
    models = (
        "--model",
        "small",
        "--model",
        "org/large",
        "--endpoint",
        server.base,
        "--endpoint",
        server.base,
    )
    keys = "--api-key-env", "ONE", "--api-key-env", "TWO"
    target = tmp_path / "judged.jsonl"
    code, out, _ = run(
        "judge", duels, *models, *keys, "--rubric", "fluency", "-o", target, "--json"
    )
    assert code == 0
    assert [one["model"] for one in json.loads(out)["rubrics"]] == ["small", "org/large"]
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert {(row["judge.small.fluency"], row["judge.org/large.fluency"]) for row in rows} == {
        (2, 4)
    }
    asked = {
        (body["model"], key) for body, key in zip(server.bodies, server.authorizations, strict=True)
    }
    assert asked == {("small", "Bearer key-number-one"), ("org/large", "Bearer key-number-two")}


def test_nothing_is_paid_for_when_another_judge_cannot_be_asked(run, server, duels, tmp_path):
    models = (
        "--model",
        "small",
        "--model",
        "large",
        "--endpoint",
        server.base,
        "--endpoint",
        "nowhere",
    )
    code, _, err = run(
        "judge", duels, *models, "--rubric", "fluency", "-o", tmp_path / "judged.jsonl"
    )
    assert code == 2
    assert "`endpoint` must be an address" in err
    assert server.requests == 0


def test_a_dry_run_asks_and_writes_nothing(run, server, duels, tmp_path):
    where = (
        "--endpoint",
        server.base,
        "--model",
        "m",
        "--rubric",
        "fluency",
        "--rubric",
        "preference",
    )
    common = "judge", duels, *where, "-o", tmp_path / "judged.jsonl", "--dry-run"
    code, out, err = run(*common, "--price-in", 1, "--price-out", 1)
    assert (code, err) == (0, "")
    assert "judge.fluency: would ask 5 questions" in out
    assert "judge.preference: would ask 4 questions" in out
    assert "cost about 0.00" in out
    assert out.endswith("Nothing was asked. The same command without --dry-run asks.\n")
    assert json.loads(run(*common, "--json")[1])["rubrics"][1]["forecast"]["questions"] == 4
    assert server.requests == 0
    assert [path.name for path in tmp_path.iterdir()] == ["outputs.jsonl"]


def test_a_column_that_a_rubric_shows_must_be_there(run, server, duels, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nlow = 1\nhigh = 5\nuser = "{genre}: {output}"\n')
    where = (
        "--endpoint",
        server.base,
        "--model",
        "m",
        "--rubric",
        path,
        "-o",
        tmp_path / "judged.jsonl",
    )
    code, _, err = run("judge", duels, *where)
    assert code == 2
    assert "`--rubric` mine shows the judge a column `genre`, which" in err
    assert run("judge", duels, *where, "--column", "genre=input")[0] == 0
    assert "Q: new0" in "".join(body["messages"][0]["content"] for body in server.bodies)


BOTH = Rubric(
    name="both", low=1, high=5, answer="json", user="{output}", criteria=["fluent", "true"]
)


def test_one_question_gives_a_score_by_each_criterion(server, tmp_path):
    said = {"a": '{"reason": "So.", "fluent": 4, "true": "2"}', "b": '{"fluent": 3, "true": 9}'}
    server.play = lambda body, _: server.say(said[body["messages"][0]["content"][0]])
    options = {"endpoint": server.base, "model": "m", "rubric": BOTH, "cache": tmp_path / "kept"}
    got = judge(["a", "b"], **options)
    assert server.requests == got.usage.asked == 2
    np.testing.assert_array_equal(got.criteria["fluent"].scores, [4, 3])
    np.testing.assert_array_equal(got.criteria["true"].scores, [2, np.nan])
    assert got.criteria["true"].reasons[1].startswith("score off the scale")
    # of all criteria, the mean where all are valid
    np.testing.assert_array_equal(got.scores, [3, np.nan])
    assert got.explanations == ("So.", None)
    assert got.criteria["true"].explanations == ("So.", None)
    # a reply of which one criterion cannot be read is asked for anew as a whole
    said["b"] = '{"fluent": 1, "true": 1}'
    again = judge(["a", "b"], **options, retry_invalid=True)
    assert (again.usage.asked, again.usage.from_cache) == (1, 1)
    np.testing.assert_array_equal(again.criteria["fluent"].scores, [4, 1])
