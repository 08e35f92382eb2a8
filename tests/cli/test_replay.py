import json


def test_a_replay_is_a_table(run, campaign):
    code, out, err = run("replay", *campaign, "-n", 10, "--runs", 3)
    assert (code, err) == (0, "")
    assert "overall: 10 outputs of each system" in out
    assert "of 3 replays" in out


def test_json_has_a_replay_for_each_number(run, campaign):
    code, out, _ = run("replay", *campaign, "-n", 10, "-n", 20, "--runs", 2, "--json")
    assert code == 0
    assert [one["n_outputs"] for one in json.loads(out)] == [10, 20]


def test_a_goal_ends_the_replayed_campaigns(run, campaign):
    options = ["--goal", "best", "--margin", 9, "--runs", 2, "--json"]
    code, out, _ = run("replay", *campaign, "-n", 30, *options)
    [found] = json.loads(out)
    assert (code, found["reached"]) == (0, 1.0)
    assert found["judgments"] < 120


def test_numbers_are_needed(run, campaign):
    code, _, err = run("replay", *campaign)
    assert code == 2
    assert "`-n` is needed" in err
