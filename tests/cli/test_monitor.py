import json

import pytest


def test_a_half_width_far_off_is_to_go_on(run, campaign):
    code, out, _ = run("monitor", *campaign, "--half-width", 0.01, "--planned", 200)
    assert code == 0
    assert "go on" in out
    assert "95%, at all looks" in out
    assert "with 200 planned of each system" in out


def test_json_has_systems_and_pairs(run, campaign):
    code, out, _ = run("monitor", *campaign, "--goal", "difference", "--margin", 9, "--json")
    [found] = json.loads(out)
    assert code == 0
    assert found["reached"]
    assert {one["system"] for one in found["systems"]} == {"alpha", "beta"}
    assert found["pairs"][0]["verdict"] == "equivalent"


@pytest.mark.parametrize(("margin", "expected"), [(9, 0), (0.0001, 4)])
def test_gates_are_exit_codes(run, campaign, margin, expected):
    options = ["--gate", "equivalent", "--pair", "alpha", "beta", "--margin", margin]
    code, out, _ = run("monitor", *campaign, *options)
    assert code == expected
    assert "gate equivalent: " in out


def test_without_a_goal_there_are_intervals(run, campaign):
    code, out, _ = run("monitor", *campaign)
    assert code == 0
    assert "these intervals hold however often you look" in out


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (["difference"], "margin` is needed with difference"),
        (["difference", "--margin", 0], "margin` must be a positive number; got 0"),
        (["first"], "'first' is not one of 'best', 'order', 'difference'"),
    ],
)
def test_a_goal_that_is_none_is_refused(run, campaign, goal, message):
    code, _, err = run("monitor", *campaign, "--goal", *goal)
    assert code == 2
    assert message in err
