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
    "lower_is_better",
]


def test_json_has_the_documented_keys(run, campaign):
    code, out, err = run("compare", *campaign, "--margin", "0.1", "--json")
    assert (code, err) == (0, "")
    [found] = json.loads(out)
    assert list(found) == [
        "prompt",
        "slice",
        "level",
        "about",
        "margin",
        "lower_is_better",
        "pairs",
        "ranks",
        "groups",
        "notes",
        "sentence",
    ]
    assert [list(pair) for pair in found["pairs"]] == [PAIR]
    assert [list(rank) for rank in found["ranks"]] == [["system", "estimate", "low", "high"]] * 2
    assert (found["prompt"], found["margin"], found["level"]) == ("overall", 0.1, 0.95)


def test_the_table_gives_the_answer_and_its_scope(run, campaign):
    code, out, _ = run("compare", *campaign)
    assert code == 0
    assert out.startswith("overall: alpha and beta cannot be told apart: they differ by 0.04 [")
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
        (["--margin", "-1"], "`--margin` must be a positive number; got -1.0"),
        (["--pair", "alpha", "beta", "--baseline", "alpha"], "exclude each other"),
        (["--metric", "nothing"], "nothing"),
        (["--metric", "length", "--metric", "none"], "excludes other metrics"),
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
    assert "a comparison needs judgments of two systems; beta: an interval needs at least 2" in err


def with_topics(campaign):
    """Give every other item a topic of its own, and judge everything under a second prompt."""
    outputs, judgments = campaign
    rows = [json.loads(line) for line in outputs.read_text().splitlines()]
    for row in rows:
        row["topic"] = "even" if int(row["item"][1:]) % 2 == 0 else "odd"
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [json.loads(line) for line in judgments.read_text().splitlines()]
    rows += [row | {"prompt": "fluency", "score": row["score"] / 2} for row in rows]
    judgments.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return outputs, judgments


@pytest.mark.parametrize("command", ["estimate", "compare"])
def test_slices_mixes_and_averages_are_options(run, campaign, tmp_path, command):
    paths = with_topics(campaign)
    code, out, _ = run(command, *paths, "--weights", "overall=2,fluency=1", "--json")
    assert code == 0
    assert {one["prompt"] for one in json.loads(out)} == {"average of overall=2, fluency=1"}
    mix = tmp_path / "mix.json"
    mix.write_text('{"even": 0.25, "odd": 0.75}')
    for weights in ("odd=0.75, even=0.25", mix):
        code, out, _ = run(command, *paths, "--by", "topic", "--weights", weights, "--json")
        assert code == 0
        assert {one["slice"] for one in json.loads(out)} == {"even=0.25, odd=0.75"}
    code, out, _ = run(command, *paths, "--prompt", "overall", "--by", "length=-0.5,0.5")
    assert code == 0
    assert "-0.5 to 0.5" in out
    code, _, err = run(command, *paths, "--by", "topic", "--weights", mix, "--json", "-o", mix)
    assert (code, mix.read_text()) == (2, '{"even": 0.25, "odd": 0.75}')
    assert "never written over" in err


@pytest.mark.parametrize("command", ["estimate", "compare"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--weights", "overall"], "`--weights` must look like one=0.7,other=0.3, or name a JSON"),
        (["--weights", "overall=x"], "`--weights` must look like"),
        (["--weights", "overall=1,overall=2"], "`--weights` must name each once; got 'overall'"),
        (["--weights", "overall=1,style=1"], "`--weights` names 'style'"),
        (["--by", "colour"], "`--by` must be a column of"),
        (["--by", "topic=a"], "`--by` cuts numbers at numbers with commas"),
        (["--by", "topic", "--weights", "even=1"], "`--weights` must name all slices; 'odd'"),
        (["--by", "topic", "--weights", "even=1,odd=1"], "`--weights` must sum to 1"),
    ],
)
def test_bad_slices_are_one_line_and_exit_with_2(run, campaign, command, options, words):
    code, out, err = run(command, *with_topics(campaign), *options)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


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
    assert out.startswith("better: [new] is better than old by 0.40 [")
    assert ("60%" in out, "60% [" in out) == (True, False)
    _, more, _ = run("compare", *battles, "--more")
    assert ("strength" in more, "60% [" in more) == (True, True)
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


def test_lower_is_better_turns_the_answer_and_the_gate_round(run, campaign):
    outputs, judgments = campaign
    rows = [json.loads(line) for line in judgments.read_text().splitlines()]
    for row in rows:
        row["score"] += 9 * (row["system"] == "alpha")
    judgments.write_text("".join(json.dumps(row) + "\n" for row in rows))
    lower = ["--lower-is-better", "overall"]
    code, out, _ = run("compare", outputs, judgments, *lower)
    assert (code, out.startswith("overall: beta is better than alpha by 9.")) == (0, True)
    gate = ["--pair", "beta", "alpha", "--gate", "better"]
    assert run("compare", outputs, judgments, *gate, *lower)[0] == 0
    assert run("compare", outputs, judgments, *gate)[0] == 3
    code, out, _ = run("estimate", outputs, judgments, *lower, "--json")
    assert {row["system"]: row["rank_low"] for row in json.loads(out)} == {"alpha": 2, "beta": 1}
    code, _, err = run("compare", outputs, judgments, "--lower-is-better", "fluency")
    assert (code, "names 'fluency', which has no judgments" in err) == (2, True)


@pytest.mark.parametrize("text", ["", "   ", "[output not released]"])
def test_texts_that_are_none_make_no_system_equal_to_another(run, campaign, text):
    outputs, judgments = campaign
    _, want, _ = run("compare", outputs, judgments, "--json")
    rows = [json.loads(line) for line in outputs.read_text().splitlines()]
    outputs.write_text("".join(json.dumps(row | {"output": text}) + "\n" for row in rows))
    code, out, _ = run("compare", outputs, judgments, "--json")
    assert code == 0
    [found], [before] = json.loads(out), json.loads(want)
    assert found["pairs"][0]["identical_items"] == 0
    assert found["pairs"][0]["difference"] == pytest.approx(
        before["pairs"][0]["difference"], abs=0.05
    )


def test_judged_outputs_that_do_not_look_like_the_pool_are_said_before_a_comparison(run, campaign):
    outputs, judgments = campaign
    pool = [json.loads(line) for line in outputs.read_text().splitlines()]
    longest = sorted(pool, key=lambda row: row["length"])[-40:]
    chosen = {(row["item"], row["system"]) for row in longest}
    rows = [
        {"item": row["item"], "system": row["system"], "rater": f"r{place % 5}"}
        | {"prompt": "overall", "score": row["length"] + row["noise"]}
        for place, row in enumerate(pool)
        if (row["item"], row["system"]) in chosen
    ]
    judgments.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = run("compare", outputs, judgments)
    assert code == 0
    assert "the judged outputs are not a random sample of the pool" in " ".join(out.split())
