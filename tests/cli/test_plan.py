import json

import pytest

TYPED = ["--item-variance", "0.15", "--rater-variance", "0.3", "--correlation", "0.5,0.3,0.6"]


def test_typed_variances_give_a_plan(run):
    code, out, err = run("plan", *TYPED, "--half-width", "0.05", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert set(found) == {
        "expected",
        "conservative",
        "expected_without_metric",
        "conservative_without_metric",
        "best_judgments_per_output",
        "data_efficiency",
        "level",
        "notes",
        "forecast",
    }
    assert found["expected"]["outputs"] < found["conservative"]["outputs"]
    assert found["expected"]["outputs"] < found["expected_without_metric"]["outputs"]
    assert "perfect metric" in found["forecast"]


def test_a_pilot_gives_a_plan_and_a_figure(run, campaign, tmp_path):
    figure = tmp_path / "plan.png"
    code, out, _ = run(
        "plan", *campaign, "--metric", "length", "--half-width", "0.3", "--figure", figure
    )
    assert code == 0
    assert "Forecast:" in out
    assert "plain mean, to be safe" in out
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
    assert json.loads(out)["expected"]["outputs"] <= 60


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
        ([*TYPED], "exactly one of `half_width`, `budget` and `difference`"),
        (["--half-width", "0.1"], "a plan needs a pilot"),
        ([*TYPED[:4], "--correlation", "high", "--half-width", "0.1"], "`--correlation` must be"),
        ([*TYPED, "--half-width", "0.001", "--pool-size", "50"], "even judging all 50 outputs"),
        (["one.jsonl", "--half-width", "0.1"], "got 1 file(s)"),
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
