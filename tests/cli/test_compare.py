import json

import pytest

PAIR = [
    "a",
    "b",
    "difference",
    "standard_error",
    "low",
    "high",
    "simultaneous_low",
    "simultaneous_high",
    "p_value",
    "verdict",
    "n_items",
    "identical_items",
    "n_judgments",
    "more_judgments",
]


def test_json_has_the_documented_keys(run, campaign):
    code, out, err = run("compare", *campaign, "--margin", "0.1", "--json")
    assert (code, err) == (0, "")
    [found] = json.loads(out)
    assert list(found) == [
        "prompt",
        "level",
        "target",
        "raters",
        "margin",
        "pairs",
        "ranks",
        "groups",
        "notes",
        "about",
    ]
    assert [list(pair) for pair in found["pairs"]] == [PAIR]
    assert [list(rank) for rank in found["ranks"]] == [["system", "estimate", "low", "high"]] * 2
    assert (found["prompt"], found["margin"], found["level"]) == ("overall", 0.1, 0.95)


def test_the_table_gives_the_answer_and_its_scope(run, campaign):
    code, out, _ = run("compare", *campaign)
    assert code == 0
    assert "Ranks, prompt overall" in out
    assert "about these outputs, by raters like these" in out


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--gate", "not-worse", "--margin", "5"], 0, "gate not-worse holds"),
        (["--gate", "equivalent", "--margin", "5"], 0, "gate equivalent holds"),
        (["--gate", "better"], 4, "gate better is undecided: prompt overall: beta against alpha"),
    ],
)
def test_the_exit_code_of_a_gate_is_its_answer(run, campaign, options, code, words):
    found, out, _ = run("compare", *campaign, "--pair", "beta", "alpha", *options)
    assert found == code
    assert words in out


def test_a_gate_that_fails_exits_with_3_beside_json(run, campaign):
    outputs, judgments = campaign
    rows = [json.loads(line) for line in judgments.read_text().splitlines()]
    for row in rows:
        row["score"] += 9 * (row["system"] == "alpha")
    judgments.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, err = run(
        "compare", outputs, judgments, "--pair", "beta", "alpha", "--gate", "better", "--json"
    )
    assert code == 3
    assert err.startswith("gate better fails: prompt overall: beta against alpha, -")
    assert json.loads(out)[0]["pairs"][0]["verdict"] == "b"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pair", "alpha", "gamma"], "system 'gamma' has no judgments; there are: alpha, beta"),
        (["--baseline", "gamma"], "system 'gamma' has no judgments"),
        (["--gate", "better"], "`--gate` needs `--pair` or `--baseline`"),
        (["--pair", "alpha", "beta", "--gate", "equivalent"], "needs `--margin`"),
        (["--margin", "-1"], "`margin` must be a positive number; got -1.0"),
        (["--pair", "alpha", "beta", "--baseline", "alpha"], "exclude each other"),
        (["--metric", "nothing"], "nothing"),
        (["--metric", "length", "--no-metric"], "exclude each other"),
    ],
)
def test_bad_use_is_one_line_and_exits_with_2(run, campaign, options, words):
    code, out, err = run("compare", *campaign, *options)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_one_judged_item_is_too_few(run, campaign):
    outputs, judgments = campaign
    lines = judgments.read_text().splitlines(keepends=True)
    rows = [json.loads(line) for line in lines]
    item = next(row["item"] for row in rows if row["system"] == "beta")
    kept = [row for row in rows if row["system"] == "alpha" or row["item"] == item]
    judgments.write_text("".join(json.dumps(row) + "\n" for row in kept))
    code, out, err = run("compare", outputs, judgments)
    assert (code, out) == (2, "")
    assert "alpha and beta are not compared: a difference needs at least 2 judged outputs" in err


def test_an_input_is_never_written_over(run, campaign):
    outputs, judgments = campaign
    before = judgments.read_text()
    code, _, err = run("compare", outputs, judgments, "-o", judgments)
    assert code == 2
    assert str(judgments) in err
    assert judgments.read_text() == before


@pytest.fixture
def battles(tmp_path):
    """Two systems of 40 outputs, 30 pairs of which were compared by 6 raters, as CSV."""
    outputs = ["item,system,output"]
    judgments = ["item,system,other_system,rater,prompt,score,first_system"]
    for item in range(40):
        outputs += [f"i{item},[new],text {item} new", f"i{item},old,text {item} old"]
        if item < 30:
            score = (1, 1, 0.5, 1, 0)[item % 5]
            first = "[new]" if item % 2 else "old"
            judgments.append(f"i{item},[new],old,r{item % 6},better,{score},{first}")
    paths = tmp_path / "outputs.csv", tmp_path / "judgments.csv"
    for path, lines in zip(paths, (outputs, judgments), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def test_preferences_have_a_table_of_wins_ties_and_losses(run, battles):
    code, out, err = run("compare", *battles)
    assert (code, err) == (0, "")
    assert "Strengths (log-odds), prompt better" in out
    assert "60% [" in out
    assert "[new] is better than old." in out
    assert "Order: no effect of the order is shown" in out


def test_preferences_are_one_more_object_in_the_json(run, battles):
    code, out, _ = run("compare", *battles, "--json")
    [found] = json.loads(out)
    assert code == 0
    [pair] = found["pairs"]
    assert list(pair) == [*PAIR, "win", "tie", "loss"]
    assert pair["win"]["value"] == pytest.approx(0.6)
    assert list(found["order_effect"])[:5] == ["effect", "standard_error", "low", "high", "p_value"]
    assert [one["system"] for one in found["strengths"]] == ["[new]", "old"]


def test_a_gate_holds_for_preferences_too(run, battles):
    code, out, _ = run("compare", *battles, "--pair", "[new]", "old", "--gate", "better")
    assert (code, out.splitlines()[-1]) == (0, "gate better holds")


def test_preferences_are_not_estimated_for_one_system(run, battles):
    code, _, err = run("estimate", *battles)
    assert code == 2
    assert "asks which of two outputs is better: use `steelyard compare`" in err
