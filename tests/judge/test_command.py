"""The command with several judges, pairs and columns of the user's own."""

import json

import polars as pl
import pytest


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
    assert [one["model"] for one in json.loads(out)] == ["small", "org/large"]
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert {(row["judge.small.fluency"], row["judge.org/large.fluency"]) for row in rows} == {
        (2, 4)
    }
    asked = {
        (body["model"], key) for body, key in zip(server.bodies, server.authorizations, strict=True)
    }
    assert asked == {("small", "Bearer key-number-one"), ("org/large", "Bearer key-number-two")}


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
    code, out, err = run(*common, "--prices", 1, 1)
    assert (code, err) == (0, "")
    assert "judge.fluency: would ask 5 questions" in out
    assert "judge.preference: would ask 4 questions" in out
    assert "cost about 0.00" in out
    assert out.endswith("Nothing was asked. The same command without --dry-run asks.\n")
    assert json.loads(run(*common, "--json")[1])[1]["forecast"]["questions"] == 4
    assert server.requests == 0
    assert [path.name for path in tmp_path.iterdir()] == ["outputs.jsonl"]
