"""What a cheat tries besides cheating: other people's cookies, pages, units and money."""

import csv
import io
import json

import pytest

from steelyard.collect.dashboard.exports import judgments
from steelyard.collect.web.guards import RATER_COOKIE

PROLIFIC = "panel: {kind: prolific, complete: DONE, screen_out: OUT}\n"
RULES = "quality: {active_seconds: 5, same_answers: 8}\n"


def participant(server, pid="p1", visit="s1"):
    found = server.visitor()
    base = server.site.rater_link().partition("&")[0]
    found.follow(f"{base}&PROLIFIC_PID={pid}&STUDY_ID=st&SESSION_ID={visit}")
    return found


def work(server, rater, *, seconds, answers=({"fluency": 2}, {"fluency": 1, "edit": "Better."})):
    """Judge until there is an end; return it."""
    for number in range(100):
        given = rater.next()
        if given["status"] != "task":
            return given
        server.clock.forward(seconds=seconds)
        name = given["assignment"]["id"]
        answer = answers[number % len(answers)]
        assert rater.submit(name, answer, key=f"key-{name}", active_ms=10**12).status_code == 200
    raise AssertionError("there was no end")


def payments(server):
    """Return the amounts of the file for paying, by panel id."""
    text = server.admin().get("/admin/export/payments.csv").text
    return {row["PID"]: row["amount"] for row in csv.DictReader(io.StringIO(text))}


def test_cheats_get_no_code_no_pay_and_no_place_in_the_estimate_and_the_slow_get_all(serve):
    server = serve(PROLIFIC + RULES + "session: {judgments: 12}\n", outputs=120)
    ends = {
        "quick": work(server, participant(server, "quick"), seconds=1),
        "same": work(server, participant(server, "same"), seconds=20, answers=[{"fluency": 2}]),
        "slow": work(server, participant(server, "slow"), seconds=900),
    }
    codes = {name: end["return"]["url"].rpartition("cc=")[2] for name, end in ends.items()}
    assert codes == {"quick": "OUT", "same": "OUT", "slow": "DONE"}
    assert payments(server) == {"slow": "1.50"}
    used = judgments(server.store, server.campaign, rows="all").filter(prompt="fluency")
    counts = dict(used.filter(use="excluded").group_by("rater").len().iter_rows())
    assert counts == {"rater-1": 5, "rater-2": 10}
    assert used.filter(rater="rater-3").height == 12
    assert set(judgments(server.store, server.campaign)["rater"]) <= {"rater-3"}


def test_what_an_excluded_rater_still_sends_is_neither_counted_nor_paid_out(serve):
    server = serve(PROLIFIC + RULES, outputs=40)
    rater = participant(server)
    held = None
    for number in range(5):
        held = rater.next()["assignment"]["id"]
        if number < 4:
            server.clock.forward(seconds=1)
            rater.submit(held, key=f"key-{held}")
    # the fifth is sent twice, and once more under another key after the rule has acted
    server.clock.forward(seconds=1)
    answers = [
        rater.submit(held, key=key) for key in ("key-00000005", "key-00000005", "key-6-other")
    ]
    assert [one.status_code for one in answers] == [200, 200, 409]
    assert rater.next()["reason"] == "excluded"
    assert payments(server) == {}
    assert judgments(server.store, server.campaign).height == 0


def test_a_cookie_that_somebody_planted_does_not_make_the_visit_theirs(serve):
    server = serve(outputs=40)
    thief, victim = server.rater("thief"), server.visitor()
    name = server.site.cookie_name(RATER_COOKIE)
    for cookie in thief.client.cookies.jar:
        victim.client.cookies.jar.set_cookie(cookie)
    victim.follow(server.site.invitation("victim"))
    assert victim.client.cookies[name] != thief.client.cookies[name]
    held = victim.next()["assignment"]["id"]
    assert thief.submit(held).status_code == 403


def test_the_word_of_one_page_is_worth_nothing_with_the_cookie_of_another(serve):
    server = serve(outputs=40)
    one, two = server.rater("one"), server.rater("two")
    one.csrf = two.csrf
    assert one.send("/api/next", {}).status_code == 403


def test_a_cookie_of_another_campaign_opens_nothing(serve):
    server = serve(outputs=40)
    other = type(server.site.keys)("another secret", server.campaign.fingerprint)
    stranger = server.visitor()
    text = other.sign("rater", "session", "rater", expires=server.clock() + 10**9)
    stranger.client.cookies.set(server.site.cookie_name(RATER_COOKIE), text)
    assert stranger.get("/work").status_code == 401


def test_two_tabs_cannot_hold_two_texts_or_send_one_twice(serve):
    server = serve(outputs=40)
    rater = server.rater()
    first, second = rater.next()["assignment"]["id"], rater.next()["assignment"]["id"]
    assert first == second
    assert rater.submit(first, key="key-first-tab").status_code == 200
    assert rater.submit(first, {"fluency": 1, "edit": "x"}, key="key-other-tab").status_code == 409
    assert judgments(server.store, server.campaign, rows="all").filter(prompt="fluency").height == 1


def test_a_check_looks_like_any_other_text(serve, tmp_path):
    row = {"output": "Choose Bad.", "answer": {"fluency": [0]}, "feedback": "Read on."}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row))
    server = serve("gold: {file: gold.jsonl, every: 2}\n", outputs=40)
    rater = server.rater()
    shapes = set()
    for _ in range(4):
        given = rater.next()["assignment"]
        shapes.add((len(given["id"]), *given, *given["content"]))
        assert "gold" not in json.dumps(given).replace("Choose Bad.", "")
        rater.submit(given["id"], key=f"key-{given['id']}")
    assert len(shapes) == 1


@pytest.mark.parametrize("active_ms", [-1, 10**13, 1.5, True, "5", None])
def test_a_time_that_cannot_be_is_refused(serve, active_ms):
    rater = serve(outputs=40).rater()
    held = rater.next()["assignment"]["id"]
    assert rater.submit(held, active_ms=active_ms).status_code == 422


def test_a_time_that_lies_in_the_future_is_cut_to_what_has_passed(serve):
    server = serve(outputs=40)
    rater = server.rater()
    held = rater.next()["assignment"]["id"]
    server.clock.forward(seconds=2)
    assert rater.submit(held, active_ms=10**12).status_code == 200
    found = judgments(server.store, server.campaign, rows="all")
    assert set(found["seconds"]) == {2.0}
