"""Texts that a rater cannot judge."""

import csv
import io
import json

import pytest

from steelyard.collect.policy import visit


def hand_back(rater, name, reason="It is in a language that I do not read.", kind="cannot-judge"):
    body = {"assignment": name, "kind": kind, "reason": reason}
    return rater.send("/api/hand-back", body)


def test_a_text_that_is_handed_back_goes_to_somebody_else(serve):
    server = serve(outputs=2)
    ann, bob = server.rater("ann"), server.rater("bob")
    first = ann.next()["assignment"]
    assert hand_back(ann, first["id"]).json() == {"accepted": True}
    second = ann.next()["assignment"]
    assert second["content"] != first["content"]
    ann.judge()
    assert ann.next()["reason"] == "none-left"
    assert bob.next()["assignment"]["content"] == first["content"]


def test_handing_back_twice_changes_nothing_and_a_judged_text_stays_judged(server):
    rater = server.rater()
    name = rater.next()["assignment"]["id"]
    assert [hand_back(rater, name).status_code for _ in range(2)] == [200, 200]
    other = rater.next()["assignment"]["id"]
    rater.submit(other)
    assert hand_back(rater, other).status_code == 409
    found = server.admin().get("/admin/api/answers").json()["reports"]
    assert len(found) == 1


def test_only_so_many_texts_may_be_handed_back(serve):
    server = serve("session: {hand_backs: 2}\n")
    rater = server.rater()
    for _ in range(2):
        assert hand_back(rater, rater.next()["assignment"]["id"]).status_code == 200
    name = rater.next()["assignment"]["id"]
    refused = hand_back(rater, name)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "too-many-reports"
    assert rater.submit(name).status_code == 200


@pytest.mark.parametrize("stranger", [True, False])
def test_nobody_hands_back_what_is_not_theirs(server, stranger):
    name = server.rater("ann").next()["assignment"]["id"]
    bob = server.rater("bob")
    asked = name if stranger else "nobodys"
    assert hand_back(bob, asked).status_code == (403 if stranger else 409)


def test_reasons_are_needed_and_reach_whoever_runs_the_campaign(server):
    rater, admin = server.rater(), server.admin()
    given = rater.next()["assignment"]
    assert hand_back(rater, given["id"], reason="").status_code == 422
    assert hand_back(rater, given["id"], reason="=no text", kind="problem").status_code == 200
    (report,) = admin.get("/admin/api/answers?rater=1").json()["reports"]
    assert (report["kind"], report["reason"], report["rater"]) == ("problem", "=no text", 1)
    assert admin.get("/admin/api/answers?rater=2").json()["reports"] == []
    rows = list(csv.DictReader(io.StringIO(admin.get("/admin/export/comments.csv").text)))
    assert [(row["question"], row["comment"]) for row in rows] == [("problem", "'=no text")]


def test_a_handed_back_text_is_not_paid_and_costs_no_budget(serve):
    server = serve("goal: {half_width: 0.05, budget: 0.125}\n")
    rater = server.rater()
    assert hand_back(rater, rater.next()["assignment"]["id"]).status_code == 200
    assert rater.judge()["earned"] == "0.125 EUR"


def test_a_text_may_be_skipped_without_a_reason(serve):
    server = serve(outputs=2)
    rater = server.rater()
    given = rater.next()["assignment"]
    body = {"assignment": given["id"], "kind": "skip"}
    assert rater.send("/api/hand-back", body).status_code == 200
    assert rater.next()["assignment"]["content"] != given["content"]
    assert hand_back(rater, rater.next()["assignment"]["id"], reason="  ").status_code == 422


def test_a_text_that_all_hand_back_is_set_aside_and_holds_up_nothing(serve, monkeypatch):
    monkeypatch.setattr(visit, "HAND_BACKS_PER_TEXT", 2)
    server = serve("judgments_per_output: 2\n", outputs=4)
    unreadable, others = None, []
    for name in ("ann", "bob"):
        rater = server.rater(name)
        while (found := rater.next())["status"] == "task":
            given = found["assignment"]
            unreadable = unreadable or given["content"]
            if given["content"] == unreadable:
                assert hand_back(rater, given["id"]).status_code == 200
            else:
                others.append(given["content"])
                assert rater.submit(given["id"], key=f"key-{given['id']}").status_code == 200
        assert found["reason"] == "none-left"
    assert len(others) == 6
    # a third rater is not asked for it, and the campaign is at its end
    assert server.rater("cyd").next()["reason"] == "none-left"
    snapshot = server.admin().get("/admin/api/snapshot").json()
    assert snapshot["signal"]["title"] == "Everything is judged"
    assert (snapshot["progress"]["planned"], snapshot["progress"]["judgments"]) == (6, 6)
    assert any("1 text was handed back by " in note for note in snapshot["notes"])
    # what comes after it in the draw enters the estimate
    rows = server.admin().get("/admin/export/judgments.jsonl").text.splitlines()
    assert len({json.loads(row)["submission"] for row in rows}) == 6


def test_excluded_raters_set_nothing_aside(serve, monkeypatch):
    monkeypatch.setattr(visit, "HAND_BACKS_PER_TEXT", 2)
    server = serve(outputs=4)
    ann = server.rater("ann")
    text = ann.next()["assignment"]["content"]
    hand_back(ann, ann.next()["assignment"]["id"])
    ann.judge()
    admin = server.admin()
    name = admin.get("/admin/api/snapshot").json()["raters"][0]["id"]
    decision = {"rater": name, "about": "estimate", "verdict": "exclude", "reason": "x"}
    admin.send("/admin/api/decisions", decision)
    bob = server.rater("bob")
    while (given := bob.next()["assignment"])["content"] != text:
        bob.judge()
    assert hand_back(bob, given["id"]).status_code == 200
    cyd = server.rater("cyd")
    while (given := cyd.next()["assignment"])["content"] != text:
        cyd.judge()


PANEL = """panel:
  kind: generic
  rater: pid
  complete: "https://panel.test/done?pid={pid}"
  screen_out: "https://panel.test/out?pid={pid}"
"""


def came(server, name):
    """A rater under any name that the panel's link is given."""
    found = server.visitor()
    found.follow(server.site.rater_link().replace("...", name))
    return found


def test_who_hands_back_everything_gets_no_code_for_complete_work(serve):
    server = serve(PANEL, outputs=6)
    ann = came(server, "ann")
    while (found := ann.next())["status"] == "task":
        assert hand_back(ann, found["assignment"]["id"]).status_code == 200
    assert found["reason"] == "none-left"
    assert found["return"]["url"] == "https://panel.test/out?pid=ann"


def test_a_few_texts_handed_back_among_many_judged_are_complete_work(serve):
    server = serve(PANEL, outputs=6)
    bob = came(server, "bob")
    for _ in range(2):
        hand_back(bob, bob.next()["assignment"]["id"])
    while (found := bob.next())["status"] == "task":
        bob.judge()
    assert found["return"]["url"] == "https://panel.test/done?pid=bob"


def test_what_was_skipped_comes_back_at_the_end_and_cannot_be_skipped_again(serve):
    server = serve(PANEL, outputs=4)
    rater = came(server, "ann")
    skipped = []
    for _ in range(4):
        given = rater.next()["assignment"]
        skipped.append(given["content"])
        assert hand_back(rater, given["id"], reason="", kind="skip").status_code == 200
    given = rater.next()["assignment"]
    assert given["content"] in skipped
    refused = hand_back(rater, given["id"], reason="", kind="skip")
    assert (refused.status_code, "skipped" in refused.json()["error"]["message"]) == (409, True)
    assert rater.judge()["done"] == 1
    assert hand_back(rater, rater.next()["assignment"]["id"]).status_code == 200


def test_forged_names_that_judge_nothing_set_no_text_aside(serve):
    server = serve(PANEL, outputs=4)
    for number in range(5):
        forged = came(server, f"forged-{number}")
        while (found := forged.next())["status"] == "task":
            hand_back(forged, found["assignment"]["id"])
        assert found["return"]["url"].startswith("https://panel.test/out")
    honest = came(server, "honest")
    for _ in range(4):
        honest.judge()
    assert honest.next()["reason"] == "none-left"


def test_whoever_runs_it_sees_who_hands_back_and_undoes_it(serve, monkeypatch):
    monkeypatch.setattr(visit, "HAND_BACKS_PER_TEXT", 1)
    server = serve(outputs=12)
    ann = server.rater("ann")
    for _ in range(4):
        ann.judge()
    for _ in range(5):
        assert hand_back(ann, ann.next()["assignment"]["id"]).status_code == 200
    admin = server.admin()
    snapshot = admin.get("/admin/api/snapshot").json()
    (seen,) = snapshot["raters"]
    assert seen["handed_back"] == 5
    assert [(flag["rule"], flag["excludes"]) for flag in seen["flags"]] == [("hand-backs", False)]
    assert any("4 texts were handed back" in note for note in snapshot["notes"])
    undone = admin.send("/admin/api/hand-backs", {"rater": seen["id"]})
    assert undone.json() == {"texts": 5}
    bob = server.rater("bob")
    for _ in range(8):
        bob.judge()
    assert bob.next()["reason"] == "none-left"
    assert ann.send("/admin/api/hand-backs", {"rater": seen["id"]}).status_code == 401
    assert not any(one["holds"] for one in admin.get("/admin/api/answers").json()["reports"])
