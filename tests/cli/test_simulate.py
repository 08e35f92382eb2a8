import json

import pytest

OPTIONS = ["--metric", "length", "--half-width", "0.8", "--bounds", "-8,8", "--runs", "5"]


def test_every_rule_is_replayed_with_and_without_the_metric(run, campaign):
    code, out, err = run("simulate", *campaign, *OPTIONS, "--system", "alpha", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert len(found) == 8
    assert {row["rule"] for row in found} == {
        "plan",
        "betting",
        "empirical-bernstein",
        "asymptotic",
    }
    for row in found:
        assert 0 < row["judgments"] <= row["pool_size"] == 60
        assert 0 <= row["coverage"] <= 1
        assert row["runs"] == 5


def test_table_and_strata(run, campaign):
    code, out, _ = run(
        "simulate", *campaign, *OPTIONS, "--rule", "plan", "--strata", "2", "--system", "beta"
    )
    assert code == 0
    assert "plan, 2 strata" in out
    assert "coverage" in out


def test_a_plan_may_draw_in_proportion_to_a_column(run, campaign):
    outputs = campaign[0]
    rows = [json.loads(line) for line in outputs.read_text().splitlines()]
    rows = [row | {"words": 1 + number % 7} for number, row in enumerate(rows)]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    by_size = [*OPTIONS, "--rule", "plan", "--size", "words", "--system", "alpha"]
    code, out, _ = run("simulate", *campaign, *by_size, "--json")
    assert code == 0
    with_metric, without = json.loads(out)
    assert (with_metric["size"], without["size"]) == ("words", None)
    assert with_metric["half_width"] > 0
    assert "plan, by words" in run("simulate", *campaign, *by_size)[1]


def test_the_seed_decides(run, campaign):
    options = [*OPTIONS, "--rule", "plan", "--json"]
    first = run("simulate", *campaign, *options)[1]
    assert run("simulate", *campaign, *options)[1] == first
    assert run("simulate", *campaign, *options, "--seed", "1")[1] != first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--half-width", "-1"], "`half_width` must be above zero"),
        (["--runs", "0"], "`runs` must be at least 1"),
        (["--bounds", "1"], "`--bounds` must be two numbers"),
        (["--bounds", "0,0.5", "--rule", "betting"], "bounds"),
        (["--system", "gamma"], "has no judgments"),
        (["--size", "length", "--strata", "3"], "`size` and `strata` are two ways to draw"),
        (["--size", "absent"], "absent"),
    ],
)
def test_bad_options_get_one_line(run, campaign, options, message):
    code, out, err = run("simulate", *campaign, *OPTIONS, *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_comparison_is_replayed(run, campaign):
    pair = ["--pair", "alpha", "beta", "-n", 20, "-n", 40, "--runs", 5]
    code, out, err = run("simulate", *campaign, *pair, "--margin", 0.5, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [(row["rule"], row["n_items"]) for row in found] == [
        *(("compare", 20), ("plain means", 20), ("compare", 40), ("plain means", 40)),
    ]
    assert "alpha better" in run("simulate", *campaign, *pair)[1].replace("\n", " ")
    for options, message in (
        ([*pair, "--half-width", 1], "`--half-width` does not go with `--pair`"),
        ([*pair, "--rule", "plan"], "`--rule` does not go with `--pair`"),
        (["-n", 20, *OPTIONS], "`-n` and `--margin` go with `--pair A B`"),
        ([], "a replay needs `--metric`, `--half-width` and `--bounds`, or `--pair A B`"),
    ):
        code, out, err = run("simulate", *campaign, *options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
