"""Changing one's last answer."""

import json

import pytest

from .conftest import GOOD

FAIR = {"fluency": 1, "edit": "A better text."}


def change(rater, lease, answer=None, key="change-1", active_ms=2_000):
    body = {"assignment": lease, "key": key, "answer": answer or FAIR, "active_ms": active_ms}
    return rater.send("/api/correct", body)


def judged(rater):
    lease = rater.next()["assignment"]["id"]
    assert rater.submit(lease, key=f"key-{lease}").status_code == 200
    return lease


def submissions(server):
    text = server.admin().get("/admin/export/submissions.jsonl").text
    return [json.loads(line) for line in text.splitlines()]


def test_the_last_answer_can_be_changed_and_the_earlier_one_is_kept(server):
    rater = server.rater()
    lease = judged(rater)
    server.clock.forward(seconds=60)
    held = rater.next()["assignment"]["id"]
    found = rater.send("/api/last", {}).json()["assignment"]
    assert (found["id"], found["draft"], found["active_ms"]) == (lease, GOOD, 0)
    assert change(rater, lease).json() == {"accepted": True}
    (row,) = submissions(server)
    assert row["answer"] == FAIR
    assert (row["scores"]["fluency"], row["seconds"]) == (1, 2.0)
    assert [(one["answer"], one["scores"]["fluency"]) for one in row["earlier"]] == [(GOOD, 2)]
    # the text in hand stays in hand, and nothing is paid twice
    assert rater.next()["assignment"]["id"] == held
    assert rater.next()["progress"]["earned"] == "0.125 EUR"


def test_the_same_change_sent_again_counts_once_and_only_so_many_are_taken(server):
    rater = server.rater()
    lease = judged(rater)
    for _ in range(2):
        assert change(rater, lease).status_code == 200
    assert len(submissions(server)[0]["earlier"]) == 1
    codes = [change(rater, lease, key=f"change-{n}").status_code for n in range(2, 8)]
    assert codes == [200, 200, 200, 200, 409, 409]


def test_only_the_last_answer_of_this_visit_can_be_changed(server):
    rater = server.rater()
    assert rater.send("/api/last", {}).status_code == 409
    first, last = judged(rater), judged(rater)
    assert change(rater, first).status_code == 409
    assert change(server.rater("bob"), last).status_code == 403
    assert change(rater, last, {"fluency": 7}).status_code == 422
    assert change(rater, "nobodys").status_code == 409


@pytest.mark.parametrize("rule", ["judgments", "judgments_per_rater"])
def test_no_answer_is_changed_after_the_visit_has_ended(serve, rule):
    server = serve(f"session: {{{rule}: 1}}\n")
    rater = server.rater()
    lease = judged(rater)
    assert rater.send("/api/last", {}).status_code == 409
    assert change(rater, lease).status_code == 409
    assert submissions(server)[0]["earlier"] == []


@pytest.mark.parametrize("state", ["paused", "stopped"])
def test_no_answer_is_changed_while_the_campaign_rests(server, state):
    rater = server.rater()
    lease = judged(rater)
    server.admin().send("/admin/api/state", {"state": state})
    assert change(rater, lease).status_code == 409


def test_an_excluded_rater_changes_nothing(server):
    rater = server.rater()
    lease = judged(rater)
    name = server.admin().get("/admin/api/snapshot").json()["raters"][0]["id"]
    decision = {"rater": name, "about": "estimate", "verdict": "exclude", "reason": "x"}
    server.admin().send("/admin/api/decisions", decision)
    assert change(rater, lease).status_code == 409


def test_a_missed_check_cannot_be_made_good_after_its_feedback(serve, tmp_path):
    gold = {"output": "Choose Bad.", "answer": {"fluency": 0}, "feedback": "It said: Bad."}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    rater = serve("gold: {file: gold.jsonl, every: 2}\n").rater()
    for _ in range(4):
        given = rater.next()["assignment"]
        sent = rater.submit(given["id"], key=f"key-{given['id']}").json()
        if sent["feedback"]:
            assert change(rater, given["id"]).status_code == 409
            assert rater.send("/api/last", {}).status_code == 409
            return
    raise AssertionError("no check was given")
