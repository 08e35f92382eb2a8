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
        (["--half-width", "-1"], "`--half-width` must be above zero"),
        (["--runs", "0"], "`--runs` must be at least 1"),
        (["--bounds", "1"], "`--bounds` must be two numbers"),
        (["--bounds", "0,0.5", "--rule", "betting"], "bounds"),
        (["--system", "gamma"], "has no judgments"),
        (["--size", "length", "--strata", "3"], "`--size` and `--strata` are two ways to draw"),
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
        (["--margin", 1, *OPTIONS], "`--margin` does not go with `--half-width`"),
        ([], "a replay needs numbers of outputs (`-n 50 -n 100`), or `--metric`"),
    ):
        code, out, err = run("simulate", *campaign, *options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err


def test_fewer_judgments_are_replayed_beside_plain_means(run, campaign):
    code, out, err = run("simulate", *campaign, "-n", 20, "-n", 30, "--runs", 4, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [(row["n_outputs"], row["system"], row["rule"]) for row in found[:6]] == [
        (20, system, rule)
        for system in ("alpha", "beta", "*")
        for rule in ("estimate", "plain mean")
    ]
    assert {row["n_outputs"] for row in found[6:]} == {30}
    together = found[4]
    assert (together["judgments"], together["pool_size"], together["runs"]) == (40, 120, 4)
    assert together["ledger"]["used"] == 40
    text = run(
        "simulate", *campaign, "-n", 20, "--runs", 4, "--design", "spread", "--half-width", 9
    )[1]
    assert "reached 9" in text.replace("\n", " ")
    assert "estimate, spread draw" in text.replace("\n", " ")
    assert "4 replays of 30 judged outputs, taken for a draw from 60" in text.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-n", 20, "--half-width", 0], "`--half-width` must be above zero"),
        (["-n", 20, "--bounds", "0,1"], "`--bounds` does not go with `-n`"),
        (["-n", 20, "--strata", 2], "`--strata` does not go with `-n`"),
        (["-n", 20, "--margin", 2], "`--margin` does not go with `-n`"),
        (["-n", 1], "`n` (-n) must be from 2 to 30"),
        (["-n", 31], "`n` (-n) must be from 2 to 30, the number of judged outputs; got 31"),
        (["-n", 20, "--by", "length"], "`--by` goes with `--design` spread"),
        (["-n", 20, "--design", "spread", "--by", "width"], "no column 'width'"),
        (["-n", 20, "--runs", 1], "`--runs` must be at least 2"),
        ([*OPTIONS, "--design", "spread"], "`--design` does not go with `--half-width`"),
    ],
)
def test_what_does_not_go_with_fewer_judgments_gets_one_line(run, campaign, options, message):
    code, out, err = run("simulate", *campaign, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_race_is_replayed(run, campaign):
    race = ["--goal", "best", "--bounds=-9,9", "--runs", 5]
    code, out, err = run("simulate", *campaign, *race, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)[0]
    assert (found["rule"], found["method"], found["runs"]) == ("race", "betting", 5)
    assert {one["system"] for one in found["systems"]} == {"alpha", "beta"}
    code, out, _ = run("simulate", *campaign, *race)
    assert code == 0
    assert "race, exact" in out
    assert "ledger: all 2 systems on all items would take" in out
    code, out, _ = run("simulate", *campaign, "--goal", "order", "--bounds", "none", "--runs", 2)
    assert "race, asymptotic" in out
    for options, message in (
        (["-n", 20], "`-n` does not go with `--goal`, which replays a race"),
        (["--metric", "size"], "no metric `size`"),
        (["--rule", "plan"], "`--rule` must be betting or asymptotic with --goal; got plan"),
        (["--bounds", "none", "--rule", "betting"], "`--bounds` must be two finite numbers"),
        (["--goal", "difference=1", "--margin", 1], "`--margin` does not go with --goal"),
    ):
        code, out, err = run("simulate", *campaign, *race, *options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
