import json

import pytest

TYPED = ["--item-variance", "0.15", "--rater-variance", "0.3", "--correlation", "0.5,0.3,0.6"]


def test_typed_variances_give_a_plan(run):
    code, out, err = run("plan", *TYPED, "--half-width", "0.05", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert set(found) == {
        "expected",
        "assured",
        "expected_without_metric",
        "assured_without_metric",
        "assurance",
        "best_judgments_per_output",
        "data_efficiency",
        "level",
        "notes",
        "forecast",
    }
    assert found["expected"]["outputs"] < found["assured"]["outputs"]
    assert found["expected"]["outputs"] < found["expected_without_metric"]["outputs"]
    assert "perfect metric" in found["forecast"]


def test_a_pilot_gives_a_plan_and_a_figure(run, campaign, tmp_path):
    figure = tmp_path / "plan.png"
    code, out, _ = run(
        "plan", *campaign, "--metric", "length", "--half-width", "0.3", "--figure", figure
    )
    assert code == 0
    assert "Forecast:" in out
    assert "plain mean, 80% assurance" in out
    assert figure.stat().st_size > 5_000


def test_a_comparison_is_planned_from_the_same_items(run, campaign):
    code, out, _ = run(
        "plan",
        *campaign,
        "--metric",
        "length",
        "--compare",
        "alpha",
        "beta",
        "--difference",
        "1.0",
        "--json",
    )
    assert code == 0
    found = json.loads(out)["expected"]
    assert found["pairs"] <= 60
    assert found["outputs"] == 2 * found["pairs"]


def test_a_comparison_counts_and_pays_for_the_outputs_of_both_systems(run):
    prices = ["--output-price", "0.5", "--judgment-price", "1", "--judgments-per-output", "1"]
    differences = ["--item-variance", "0.3", "--rater-variance", "0.6"]
    code, out, _ = run("plan", *differences, *prices, "--difference", "0.1", "--json")
    assert code == 0
    found = json.loads(out)["expected"]
    # (1.96 + 0.84)^2 * 0.9 / 0.01 = 706 pairs, and a few for the t distribution
    assert 706 <= found["pairs"] <= 712
    assert found["judgments"] == found["outputs"] == 2 * found["pairs"]
    assert found["cost"] == 3 * found["pairs"]
    compare = ["--compare", "A", "B", "--budget", "300"]
    code, out, _ = run("plan", *differences, *prices, *compare, "--json")
    assert (code, json.loads(out)["expected"]["pairs"]) == (0, 100)
    code, out, _ = run("plan", *differences, *prices, *compare)
    assert "pairs" in out


def test_what_the_estimate_must_know_of_rater_noise_is_said(run):
    options = [*TYPED, "--half-width", "0.06", "--pool-size", "500"]
    code, out, _ = run("plan", *options)
    assert code == 0
    assert "second judgments" in out
    code, out, _ = run("plan", *options, "--pass-rater-variance", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["expected"]["second_judgments"] == 0
    assert "pass `--rater-variance 0.3` to `steelyard estimate`" in found["notes"][-1]


def test_a_plain_mean_that_falls_short_is_named(run):
    options = ["--item-variance", "0.15", "--rater-variance", "0.1", "--correlation", "0.5"]
    goal = ["--half-width", "0.04", "--pool-size", "600", "--judgments-per-output", "1"]
    code, out, _ = run("plan", *options, *goal)
    assert code == 0
    assert out.count("not reached") == 2


def test_budget_and_prices(run):
    code, out, _ = run(
        "plan",
        *TYPED,
        "--budget",
        "100",
        "--output-price",
        "1",
        "--judgment-price",
        "0.5",
        "--json",
    )
    assert code == 0
    assert json.loads(out)["expected"]["cost"] <= 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*TYPED], "exactly one of `--half-width`, `--budget` and `--difference`"),
        (["--half-width", "0.1"], "a plan needs a pilot"),
        ([*TYPED[:4], "--correlation", "high", "--half-width", "0.1"], "`--correlation` must be"),
        ([*TYPED, "--half-width", "0.001", "--pool-size", "50"], "even judging all 50 outputs"),
        (["one.jsonl", "--half-width", "0.1"], "got 1 file(s)"),
        ([*TYPED, "--half-width", "0.1", "--assurance", "80"], "`--assurance` must lie between"),
    ],
)
def test_bad_use_gets_one_line(run, options, message):
    code, out, err = run("plan", *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_pilot_and_typed_values_exclude_each_other(run, campaign):
    code, _, err = run("plan", *campaign, *TYPED, "--half-width", "0.1")
    assert code == 2
    assert "exclude each other" in err
