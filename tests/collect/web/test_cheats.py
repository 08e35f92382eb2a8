"""One script for each kind of cheat, and one honest rater, against the whole application."""

import json

import pytest
from tests.collect.queries import totals

from steelyard.collect.dashboard.exports import judgments

PROLIFIC = "panel: {kind: prolific, complete: DONE, screen_out: OUT}\n"
RULES = "quality: {active_seconds: 5, same_answers: 8}\n"
ANSWERS = [{"fluency": 2}, {"fluency": 1, "edit": "A better text."}]


def link(server, pid="p1", visit="s1"):
    base = server.site.rater_link().partition("&")[0]
    return f"{base}&PROLIFIC_PID={pid}&STUDY_ID=st&SESSION_ID={visit}"


def participant(server, pid="p1", visit="s1"):
    found = server.visitor()
    found.follow(link(server, pid, visit))
    return found


def work(server, rater, *, seconds, answers=ANSWERS, most=100):
    """Judge until there is an end; return it and the number of judgments."""
    for done in range(most):
        given = rater.next()
        if given["status"] == "done":
            return given, done
        server.clock.forward(seconds=seconds)
        name = given["assignment"]["id"]
        answer = answers[done % len(answers)]
        sent = rater.submit(name, answer, key=f"key-{name}", active_ms=60_000)
        assert sent.status_code == 200, sent.text
    raise AssertionError("there was no end")


def counted(server, number=1):
    """Return how many judgments of a rater enter the estimate, of all that there are."""
    rows = judgments(server.store, server.campaign, rows="all").filter(prompt="fluency")
    own = rows.filter(rater=f"rater-{number}")
    return own.filter(use="used").height, own.height


def code(end):
    return end["return"]["url"].rpartition("cc=")[2]


def test_speed_ends_the_visit_early_without_the_completion_code(serve):
    server = serve(PROLIFIC + RULES + "session: {judgments: 20}\n", outputs=40)
    rater = participant(server)
    end, done = work(server, rater, seconds=1)
    # the page's own clock says a minute for each, and is not believed
    assert done == 5
    assert (end["reason"], code(end)) == ("excluded", "OUT")
    assert "did not meet the rules" in end["message"]
    assert counted(server)[0] == 0


def test_the_same_answer_again_and_again_ends_the_visit(serve):
    server = serve(PROLIFIC + RULES, outputs=40)
    end, done = work(server, participant(server), seconds=20, answers=[{"fluency": 2}])
    assert done == 10
    assert (end["reason"], code(end)) == ("excluded", "OUT")
    assert counted(server)[0] == 0


def test_an_honest_slow_rater_loses_nothing(serve):
    server = serve(PROLIFIC + RULES + "session: {judgments: 15}\n", outputs=40)
    rater = participant(server)
    first = rater.next()["assignment"]["id"]
    # away for longer than the lease, and back
    server.clock.forward(minutes=45)
    assert rater.next()["assignment"]["id"] == first
    end, done = work(server, rater, seconds=600)
    assert (done, end["reason"], code(end)) == (15, "session-complete", "DONE")
    (owed,) = server.store.read(totals)
    assert owed.amount == 15 * 125_000
    assert counted(server)[1] == 15


def test_a_rater_whom_a_rule_ends_comes_back_to_the_same_end(serve):
    server = serve(PROLIFIC + RULES, outputs=40)
    work(server, participant(server), seconds=1)
    again = participant(server)
    assert again.next()["reason"] == "excluded"
    refused = server.visitor().get(link(server, visit="s2").removeprefix(server.origin))
    assert refused.status_code == 403


def test_two_who_share_a_link_are_one_rater_with_one_text_at_a_time(serve):
    server = serve(outputs=40)
    one, two = server.rater("ann"), server.rater("ann")
    held = one.next()["assignment"]["id"]
    assert two.next()["assignment"]["id"] == held
    assert one.submit(held, key="key-from-one").status_code == 200
    assert two.submit(held, key="key-from-two").status_code == 409
    (owed,) = server.store.read(totals)
    assert owed.amount == 125_000


def test_a_second_visit_is_refused_and_owed_nothing(serve):
    server = serve(PROLIFIC + "session: {judgments: 3}\n", outputs=40)
    end, _ = work(server, participant(server), seconds=20)
    assert code(end) == "DONE"
    refused = server.visitor().get(link(server, visit="s2").removeprefix(server.origin))
    assert refused.status_code == 403
    assert "taken part already" in refused.text
    (owed,) = server.store.read(totals)
    assert owed.amount == 3 * 125_000


def test_an_edited_id_in_the_same_browser_is_refused_where_that_is_a_rule(serve):
    server = serve(PROLIFIC + "session: {judgments: 3, one_per_browser: true}\n", outputs=40)
    rater = participant(server)
    work(server, rater, seconds=20)
    edited = rater.get(link(server, pid="p2", visit="s2").removeprefix(server.origin))
    assert edited.status_code == 403
    assert "this browser" in edited.text
    # the button for leaving is no way round that, and lets its rater come back
    assert rater.send("/api/leave", {}).status_code == 200
    assert rater.send("/api/next", {}).status_code == 401
    edited = rater.get(link(server, pid="p2", visit="s2").removeprefix(server.origin))
    assert edited.status_code == 403
    assert rater.get(link(server).removeprefix(server.origin)).status_code == 303
    # another browser is another person, and the same person may come back
    assert participant(server, pid="p3", visit="s3").next()["status"] == "task"
    assert rater.get(link(server).removeprefix(server.origin)).status_code == 303


def test_an_edited_token_opens_nothing(serve):
    server = serve(PROLIFIC)
    broken = link(server).replace("token=", "token=A").removeprefix(server.origin)
    assert server.visitor().get(broken).status_code == 401


def test_a_replayed_submission_is_stored_and_paid_once(serve):
    server = serve(PROLIFIC, outputs=40)
    rater = participant(server)
    name = rater.next()["assignment"]["id"]
    answers = [rater.submit(name, key="key-00000001").json() for _ in range(5)]
    assert [one["repeated"] for one in answers] == [False, True, True, True, True]
    other = participant(server, pid="p2")
    assert other.submit(name, key="key-00000001").status_code == 403
    (owed,) = server.store.read(totals)
    assert owed.amount == 125_000


def test_nobody_judges_more_than_one_person_may(serve):
    extra = "session: {judgments: 4, visits: 3, judgments_per_rater: 6}\n"
    server = serve(PROLIFIC + extra, outputs=40)
    first = participant(server)
    assert first.next()["progress"]["of"] == 4
    assert work(server, first, seconds=20)[1] == 4
    second = participant(server, visit="s2")
    assert second.next()["progress"]["of"] == 2
    end, done = work(server, second, seconds=20)
    assert (done, end["reason"], code(end)) == (2, "rater-complete", "DONE")


def test_an_attention_check_says_what_was_missed_and_counts(serve, tmp_path):
    gold = [
        {"output": f"Check {n}: choose Bad.", "answer": {"fluency": [0]}, "feedback": "Read on."}
        for n in range(6)
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    rules = "quality: {gold_failures: 2}\ngold: {file: gold.jsonl, every: 2}\n"
    server = serve(PROLIFIC + rules, outputs=40)
    rater = participant(server)
    told = 0
    for number in range(10):
        given = rater.next()
        if given["status"] == "done":
            break
        server.clock.forward(seconds=20)
        shown = given["assignment"]["content"]["output"]
        answer = ANSWERS[number % 2]
        sent = rater.submit(given["assignment"]["id"], answer, active_ms=20_000).json()
        assert (sent["feedback"] == "Read on.") == shown.startswith("Check")
        told += sent["feedback"] is not None
    assert given["reason"] == "excluded"
    assert told >= 2


def test_a_right_answer_to_a_check_is_not_commented_on(serve, tmp_path):
    row = {"output": "Choose Good.", "answer": {"fluency": [2]}, "feedback": "Read on."}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row))
    server = serve(PROLIFIC + "gold: {file: gold.jsonl, every: 2}\n", outputs=40)
    rater = participant(server)
    assert [rater.judge()["feedback"] for _ in range(4)] == [None] * 4


@pytest.mark.parametrize("feedback", ["", 3])
def test_feedback_of_a_check_must_be_text(serve, tmp_path, feedback):
    row = {"output": "A.", "answer": {"fluency": [2]}, "feedback": feedback}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row))
    with pytest.raises(ValueError, match=r"gold.jsonl, line 1: `feedback` must be text"):
        serve("gold: {file: gold.jsonl, every: 2}\n")
