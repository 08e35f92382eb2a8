import json
import re

import polars as pl
import pytest

from spreadsheets import write_xlsx

SECRET = "sk-very-secret-0123456789"  # noqa: S105


@pytest.fixture
def server(server):
    """A judge that gives text number n the score n, or the status and content of `server.reply`."""

    def play(body, _):
        number = re.search(r"text (\d)", body["messages"][-1]["content"])[1]
        status, content = server.reply(number)
        if status != 200:
            return status, content
        logprobs = {}
        if body.get("logprobs"):
            top = [{"token": content, "logprob": -0.2}, {"token": "x", "logprob": -1.8}]
            logprobs = {"logprobs": {"content": [top[0] | {"top_logprobs": top}]}}
        return server.say(content, usage=(100, 2), **logprobs)

    server.play, server.reply = play, lambda number: (200, number)
    return server


@pytest.fixture
def outputs(tmp_path):
    path = tmp_path / "outputs.jsonl"
    rows = [
        {"item": f"i{n}", "system": "a", "output": f"text {n}", "extra": n} for n in range(1, 6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def ask(run, server, outputs, tmp_path):
    def call(*options, to="judged.jsonl", rubric="fluency"):
        where = ["--endpoint", server.base, "--model", "m", "--rubric", rubric]
        return run("judge", outputs, *where, "-o", tmp_path / to, *options)

    return call


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_scores_stand_beside_the_outputs(ask, tmp_path):
    code, out, err = ask("--prices", 10, 100)
    assert (code, err) == (0, "")
    rows = rows_of(tmp_path / "judged.jsonl")
    assert [row["judge.fluency"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["judge.fluency.reason"] for row in rows] == [None] * 5
    assert [row["extra"] for row in rows] == [1, 2, 3, 4, 5]
    assert "judge.fluency for 5 of 5 outputs" in out
    assert "asked 5 questions in 5 requests; 0 from the cache" in out
    # 500 tokens at 10 a million and 10 at 100 a million
    assert "tokens 500 in, 10 out; cost 0.0060" in out


def test_what_was_asked_is_not_asked_again(ask, server, tmp_path):
    ask()
    code, out, _ = ask("--json")
    assert code == 0
    (found,) = json.loads(out)
    assert found == {
        "model": "m",
        "rubric": "fluency",
        "column": "judge.fluency",
        "n_outputs": 5,
        "n_missing": 0,
        "failures": {},
        "usage": {
            "asked": 0,
            "from_cache": 5,
            "requests": 0,
            "tokens_in": 0,
            "tokens_out": 0,
            "uncounted": 0,
        },
        "cost": None,
        "mean_mass": None,
        "least_mass": None,
        "n_partly": 0,
        "order": None,
    }
    assert len(server.bodies) == 5
    assert (tmp_path / "judge.cache").exists()
    ask("--cache", tmp_path / "other.sqlite")
    assert len(server.bodies) == 10


@pytest.mark.parametrize("to", ["judged.jsonl", "judged.csv", "judged.parquet"])
def test_an_output_without_a_valid_reply_has_nothing_and_a_reason(ask, server, tmp_path, to):
    server.reply = lambda content: (200, "Hard to say.") if content == "3" else (200, content)
    code, out, err = ask(to=to)
    assert code == 3
    assert err == f"steelyard: 1 of 5 scores are missing; the reasons stand in {tmp_path / to}\n"
    assert "for 4 of 5 outputs" in out
    assert "without a score: 1 no number in the reply" in out
    assert "An estimate needs a score on every output" in out
    readers = {"jsonl": pl.read_ndjson, "csv": pl.read_csv, "parquet": pl.read_parquet}
    frame = readers[to.partition(".")[2]](tmp_path / to)
    assert frame["judge.fluency"].to_list() == [1, 2, None, 4, 5]
    assert frame["judge.fluency.reason"].to_list() == [
        None,
        None,
        "no number in the reply: 'Hard to say.'",
        None,
        None,
    ]


def test_a_file_can_be_judged_again_to_fill_its_gaps(ask, server, outputs):
    server.reply = lambda content: (400, "no") if content == "3" else (200, content)
    code, out, _ = ask()
    assert code == 3
    assert "without a score: 1 HTTP 400" in out
    server.reply = lambda content: (200, content)
    code, out, _ = ask()
    assert code == 0
    judged = outputs.with_name("judged.jsonl")
    assert [row["judge.fluency"] for row in rows_of(judged)] == [1, 2, 3, 4, 5]
    assert len(server.bodies) == 6


def test_columns_may_have_other_names_and_keep_them(ask, outputs):
    rows = [
        {"doc": row["item"], "system": "a", "answer": row["output"], "gold": "g"}
        for row in rows_of(outputs)
    ]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = "--column", "item=doc", "--column", "output=answer", "--column", "reference=gold"
    for _ in range(2):
        code, out, err = ask(*names)
        assert (code, err) == (0, "")
        assert "judge.fluency for 5 of 5 outputs" in out
        scored = [{"judge.fluency": float(n), "judge.fluency.reason": None} for n in range(1, 6)]
        expected = [row | more for row, more in zip(rows, scored, strict=True)]
        judged = outputs.with_name("judged.jsonl")
        assert [row | {"gold": "g"} for row in rows_of(judged)] == expected
    code, _, err = ask("--column", "item=doc", "--column", "output=text")
    assert code == 2
    assert "no column `text` to use as `output`" in err
    code, _, err = ask("--column", "item")
    assert code == 2
    assert "`--column` must look like item=doc_id" in err


def test_a_limit_asks_about_the_first_and_a_dry_run_learns_from_them(ask, server, tmp_path):
    code, out, _ = ask("--limit", 2, "--prices", 10_000, 0)
    assert (code, len(server.bodies)) == (0, 2)
    assert "judge.fluency for 2 of 2 outputs" in out
    assert "cost 2.0000" in out
    rows = rows_of(tmp_path / "judged.jsonl")
    assert [row["judge.fluency"] for row in rows] == [1, 2, None, None, None]
    assert rows[4]["judge.fluency.reason"] == "not asked: beyond --limit"
    code, out, _ = ask("--dry-run", "--prices", 10_000, 0)
    # 1.00 for each of those that are left
    assert "would ask 3 questions; 2 are in the cache; tokens about 300 in" in out
    assert "cost about 3.0000" in out


def test_expected_scores_come_with_their_mass(ask, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nlow = 1\nhigh = 9\nscore = "logits"\nuser = "{output}"\n')
    code, out, _ = ask(rubric=path)
    assert code == 0
    # exp(-0.2) on the scale
    assert "probability on the scale: 0.819 on average, 0.819 at least" in out
    rows = rows_of(tmp_path / "judged.jsonl")
    assert [row["judge.mine"] for row in rows] == pytest.approx([1, 2, 3, 4, 5])


def test_a_refused_key_is_one_line_without_the_key(ask, server, monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    server.reply = lambda _: (401, f"bad {SECRET}")
    code, out, err = ask("--api-key-env", "JUDGE_KEY")
    assert (code, out) == (2, "")
    assert "HTTP 401, access refused (the key in JUDGE_KEY); replies so far are kept in" in err
    assert err.count("\n") == 1
    assert SECRET not in err
    assert not (tmp_path / "judged.jsonl").exists()


def test_without_a_single_score_the_command_fails(ask, server, tmp_path):
    server.reply = lambda _: (400, "context too long")
    code, out, err = ask()
    assert code == 1
    assert "without a score: 5 HTTP 400" in out
    assert "no output has a score" in err
    assert {row["judge.fluency.reason"] for row in rows_of(tmp_path / "judged.jsonl")} == {
        "HTTP 400: context too long"
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--limit", 0], "x>=1"),
        (["--rubric", "nonsense"], "`rubric` must be one of correctness, fluency"),
        (["--rubric", "correctness"], "shows the judge a column `input`, which"),
        (["--endpoint", "http://h"], "`--endpoint` must be given once, or once for each --model"),
        (["--model", "n", "--endpoint", "somewhere"], "`endpoint` must be an address"),
        (
            ["--model", "n", "--endpoint", "http://h", "--api-key-env", "K"],
            "has its own key; got 1",
        ),
        (["--preferences", "p.csv"], "`--preferences` is for a rubric that compares two outputs"),
        (["--output", "away/judged.jsonl"], "`--output` must lie in an existing folder"),
        (["--output", "judged.txt"], "the extension must be"),
        (["--requests-per-minute", "0"], "`--requests-per-minute` must be positive; got 0"),
        (["--prices", "-1", "1"], "`--prices` must be two prices"),
    ],
)
def test_bad_use_is_told_before_anything_is_asked(ask, server, options, message):
    code, _, err = ask(*options)
    assert code == 2
    assert message in err
    assert server.bodies == []


def test_a_column_of_the_users_own_is_not_overwritten(ask, outputs):
    rows = [row | {"judge.fluency": 1.0} for row in rows_of(outputs)]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = ask()
    assert code == 2
    assert "has a column `judge.fluency` that is not a judge's" in err


LINES = (
    '{"item":1,  "system": "a", "output": "text 1", "reference": "one", "price": 1.50, "n": 1e5}',
    '{"item": "i2", "system": "a", "output": "text 2", "big": 12345678901234567890, "x": null}',
    '{"system": "a", "output": "text 3", "item": 3, "reference": ["a", "b"], "e": "\\u00e9\\/"}',
)


@pytest.mark.parametrize("to", ["judged.jsonl", "judged.jsonl.gz", "judged.jsonl.zst"])
def test_lines_stay_to_the_letter(ask, outputs, tmp_path, to):
    outputs.write_text("\n\n".join(LINES) + "\n")
    for _ in range(2):
        assert ask(to=to)[0] == 0
        text = "\n".join(pl.scan_lines(tmp_path / to).collect()["line"])
        assert text.split("\n") == [
            f'{line[:-1]}, "judge.fluency": {n}.0, "judge.fluency.reason": null}}'
            for n, line in enumerate(LINES, start=1)
        ]


def test_a_judged_file_that_is_judged_again_keeps_its_other_columns_to_the_letter(
    ask, outputs, tmp_path
):
    outputs.write_text("\n".join(LINES) + "\n")
    ask()
    outputs.write_text((tmp_path / "judged.jsonl").read_text())
    assert ask(to="again.jsonl")[0] == 0
    assert (tmp_path / "again.jsonl").read_text() == outputs.read_text()


def test_cells_and_types_stay(run, server, tmp_path):
    cells = "item,system,output,price,code\n1,a,text 1,1.50,007\n2,a,text 2,,008\n"
    path = tmp_path / "outputs.csv"
    path.write_text(cells)
    common = "--endpoint", server.base, "--model", "m", "--rubric", "fluency", "-o"
    assert run("judge", path, *common, tmp_path / "judged.csv")[0] == 0
    kept = (tmp_path / "judged.csv").read_text().splitlines()
    more = [",judge.fluency,judge.fluency.reason", ",1.0,", ",2.0,"]
    assert kept == [line + one for line, one in zip(cells.splitlines(), more, strict=True)]
    frame = pl.DataFrame(
        {
            "item": pl.Series([1, 2], dtype=pl.UInt16),
            "system": pl.Series(["a", "a"], dtype=pl.Categorical),
            "output": ["text 1", "text 2"],
            "reference": ["r", None],
            "when": pl.Series([0, 1], dtype=pl.Datetime("us", "UTC")),
            "judge.old": pl.Series([1, None], dtype=pl.Float32),
        }
    )
    frame.write_parquet(tmp_path / "outputs.parquet")
    code, _, err = run("judge", tmp_path / "outputs.parquet", *common, tmp_path / "judged.parquet")
    assert (code, err) == (0, "")
    got = pl.read_parquet(tmp_path / "judged.parquet")
    assert got.drop("judge.fluency", "judge.fluency.reason").equals(frame)
    assert got.schema == frame.schema | {
        "judge.fluency": pl.Float64,
        "judge.fluency.reason": pl.String,
    }


def test_several_rubrics_are_columns(ask, server, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nlow = 1\nhigh = 9\nuser = "Mine: {output}"\n')
    code, out, _ = ask("--rubric", path, "--json")
    assert code == 0
    assert [one["column"] for one in json.loads(out)] == ["judge.fluency", "judge.mine"]
    assert len(server.bodies) == 10
    for row, n in zip(rows_of(tmp_path / "judged.jsonl"), range(1, 6), strict=True):
        assert row["judge.fluency"] == row["judge.mine"] == n
    twin = tmp_path / "twin.toml"
    twin.write_text(path.read_text())
    code, _, err = ask("--rubric", path, "--rubric", twin)
    assert code == 2
    assert "`--rubric` must name rubrics with different names" in err


def test_what_the_judge_says_about_its_score_is_a_column(ask, server, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nlow = 1\nhigh = 9\nanswer = "json"\nuser = "{output}"\n')
    server.reply = lambda content: (200, f'{{"reason": "as {content}", "score": {content}}}')
    assert ask(rubric=path)[0] == 0
    rows = rows_of(tmp_path / "judged.jsonl")
    assert [row["judge.mine.explanation"] for row in rows] == [f"as {n}" for n in range(1, 6)]
    assert [row["judge.mine.reason"] for row in rows] == [None] * 5


def test_an_output_of_another_name_pays_nothing_anew(ask, server):
    ask()
    code, out, _ = ask(to="renamed.csv")
    assert code == 0
    assert "asked 0 questions in 0 requests; 5 from the cache" in out
    assert len(server.bodies) == 5


def test_a_full_disk_is_told_with_where_the_replies_are(ask, monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("steelyard.scoring.beside._lines", refuse)
    code, _, err = ask()
    assert code == 2
    assert f"{tmp_path / 'judged.jsonl'}: cannot be written: No space left on device" in err
    assert f"replies so far are kept in {tmp_path / 'judge.cache'}" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["judge.cache", "outputs.jsonl"]


def test_whole_numbers_of_a_spreadsheet_stay_whole(run, server, tmp_path):
    header = ["item", "system", "output", "count", "share"]
    rows = [[n, "a", f"text {n}", n, n / 2] for n in range(1, 4)]
    book = write_xlsx(tmp_path / "outputs.xlsx", {"s": [header, *rows]})
    where = ["--endpoint", server.base, "--model", "m", "--rubric", "fluency"]
    assert run("judge", book, *where, "-o", tmp_path / "judged.csv")[0] == 0
    lines = (tmp_path / "judged.csv").read_text().splitlines()
    # an item 1.0 would not be found among judgments of item 1
    assert lines[1:] == ["1,a,text 1,1,0.5,1.0,", "2,a,text 2,2,1.0,2.0,", "3,a,text 3,3,1.5,3.0,"]
