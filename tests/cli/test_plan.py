import json

import pytest

TYPED = [
    *("--assume", "item-variance=0.15", "--assume", "rater-variance=0.3"),
    *("--assume", "correlation=0.5"),
]


def test_typed_variances_give_a_plan(run):
    code, out, err = run("plan", *TYPED, "--half-width", "0.05", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["made"] == 0
    assert found["half_width"] is None
    assert found["expected"]["half_width"] <= 0.05
    assert found["expected"]["judgments"] < found["assured"]["judgments"]


def test_a_pilot_gives_a_plan_that_counts_its_judgments(run, campaign):
    code, out, _ = run("plan", *campaign, "--prompt", "overall", "--half-width", "0.3")
    assert code == 0
    assert "the mean of each system known to ±0.3" in out
    assert "80% assurance" in out
    assert "made" in out


def test_a_comparison_and_a_budget(run, campaign):
    options = ["--prompt", "overall", "--pair", "alpha", "beta", "--json"]
    code, out, _ = run("plan", *campaign, *options, "--difference", "1.0")
    assert code == 0
    assert json.loads(out)["goal"].startswith("alpha - beta")
    code, out, _ = run("plan", *campaign, *options, "--budget", "10")
    assert code == 0
    assert json.loads(out)["expected"]["cost"] <= 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*TYPED], "exactly one of `--half-width`, `--budget`, `--difference`"),
        (["--half-width", "0.1"], "a plan needs a pilot"),
        ([*TYPED[:4], "--assume", "correlation=high"], "`--assume` must be one of item-variance"),
        (["--assume", "colour=3"], "`--assume` must be one of item-variance"),
        ([*TYPED[:2], "--half-width", "0.1"], "or `--assume item-variance=X"),
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
    assert "leave out `--assume`" in err
