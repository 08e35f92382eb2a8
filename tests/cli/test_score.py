import json

import pytest

ROWS = [
    {"item": 1, "answer": "a cat sat", "gold": "the cat sat", "note": None},
    {"item": 2, "answer": "no", "gold": ["no", "not so"], "note": "x"},
]


@pytest.fixture
def outputs(tmp_path):
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_metrics_are_added_and_the_rest_is_kept(run, outputs, tmp_path):
    target = tmp_path / "scored.jsonl"
    code, out, err = run(
        "score",
        outputs,
        *("--metric", "rouge-1", "--metric", "edit", "--metric", "edit"),
        *("--column", "output=answer", "--column", "reference=gold", "-o", target),
    )
    assert (code, err) == (0, "")
    assert "2 rows; added rouge-1, edit in" in out
    got = [json.loads(line) for line in target.read_text().splitlines()]
    assert got == [
        ROWS[0] | {"rouge-1": pytest.approx(2 / 3), "edit": pytest.approx(1 / 3)},
        ROWS[1] | {"rouge-1": 1.0, "edit": 0.0},
    ]


def test_json_summary_has_stable_keys(run, outputs, tmp_path):
    code, out, err = run(
        "score",
        outputs,
        *("--metric", "edit", "--column", "output=answer", "--column", "reference=gold"),
        *("--workers", "2", "--json", "-o", tmp_path / "scored.csv"),
    )
    assert (code, err) == (0, "")
    got = json.loads(out)
    assert list(got) == [
        "output",
        "rows",
        "metrics",
        "seconds",
        "rows_per_second",
        "resumed_from",
        "not_scored",
        "problem",
    ]
    assert (got["rows"], got["resumed_from"]) == (2, 0)
    assert got["metrics"] == ["edit"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--metric", "edit"], "no column `output`, the texts to score"),
        (
            ["--metric", "edit", "--metric", "bleu", "--column", "output=answer"],
            "no column `reference`, which edit and bleu compare with; the columns are `item`",
        ),
        (["--metric", "edit", "--column", "reference=god", "--column", "output=answer"], "`god`"),
        (["--metric", "rouge"], "'rouge' is not known"),
        (["--metric", "edit", "--column", "output"], "`--column` must look like item=doc_id"),
        (["--metric", "edit", "--workers", "0"], "`--workers` must be 1 or more; got 0"),
        ([], "Missing option '--metric'"),
    ],
)
def test_bad_use_is_one_line_and_writes_nothing(run, outputs, tmp_path, options, message):
    code, out, err = run("score", outputs, *options, "-o", tmp_path / "scored.jsonl")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["outputs.jsonl"]


def test_a_column_is_replaced_only_on_demand(run, outputs, tmp_path):
    options = "--metric", "edit", "--column", "output=answer", "--column", "reference=gold"
    once, again = tmp_path / "once.jsonl", tmp_path / "again.jsonl"
    run("score", outputs, *options, "-o", once)
    code, _, err = run("score", once, *options, "-o", again)
    assert code == 2
    assert "a column `edit` is there already: overwrite it with --replace" in err
    assert not again.exists()
    assert run("score", once, *options, "--replace", "-o", again)[0] == 0
    assert again.read_text() == once.read_text()


def test_help_has_an_example(run):
    code, out, _ = run("score", "--help")
    assert code == 0
    assert "Example:" in out


def test_rows_that_are_kept_without_a_value_are_told(run, outputs, tmp_path):
    lines = outputs.read_text() + json.dumps({"item": 3, "answer": "x", "gold": None}) + "\n"
    outputs.write_text(lines)
    target = tmp_path / "scored.jsonl"
    options = [
        "--metric",
        "edit",
        "--column",
        "output=answer",
        "--column",
        "reference=gold",
        "-o",
        target,
    ]
    code, _, err = run("score", outputs, *options)
    assert code == 2
    assert err.endswith("keep such rows without a value with --on-error keep\n")
    code, _, err = run("score", outputs, *options, "--on-error", "keep")
    assert code == 3
    assert "1 of 3 rows have no value; the first: " in err
    assert "line 3, column gold" in err
    assert target.read_text().splitlines()[2] == (
        '{"item": 3, "answer": "x", "gold": null, "edit": null}'
    )
