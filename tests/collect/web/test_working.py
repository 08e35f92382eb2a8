from dataclasses import replace

import pytest
from tests.collect.queries import scored_rows

from steelyard.collect.policy.budget import Budget
from steelyard.collect.web.limits import Limits

GOLD = "gold: {file: gold.jsonl, every: 2}\n"
PAIRS = """\
name: pairs
title: Which is better?
version: "1"
instructions: Read both.
pair: true
show: [{field: first, label: One}, {field: second, label: Two}]
widgets: [{id: better, kind: preference, label: "Which is better?"}]
scores: [{prompt: preference, rule: preference, from: better}]
"""
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def test_a_rater_is_given_a_text_and_keeps_it(server):
    rater = server.rater()
    given = rater.next()
    assert given["status"] == "task"
    assert given["progress"] == {"done": 0, "of": None, "earned": "0.00 EUR"}
    assert set(given["assignment"]) == {"id", "content", "shown", "draft", "active_ms", "expires"}
    assert set(given["assignment"]["content"]) == {"output"}
    assert given["assignment"]["draft"] is None
    assert given["assignment"]["expires"] == server.clock.now + 10 * 60_000
    assert rater.next()["assignment"]["id"] == given["assignment"]["id"]


def test_the_page_and_the_task_are_for_raters_only(server):
    rater = server.rater()
    assert rater.get("/api/task").json()["name"] == "tiny"
    assert rater.get("/work").status_code == 200
    stranger = server.visitor()
    assert stranger.get("/api/task").status_code == 401
    assert stranger.get("/work").status_code == 401


def test_a_submission_is_counted_and_paid(server):
    rater = server.rater()
    assert rater.judge() == {
        "accepted": True,
        "repeated": False,
        "done": 1,
        "earned": "0.125 EUR",
        "feedback": None,
    }
    assert rater.judge({"fluency": 1, "edit": "Better."})["earned"] == "0.25 EUR"
    assert rater.next()["progress"] == {"done": 2, "of": None, "earned": "0.25 EUR"}


def test_nothing_is_said_of_money_where_nobody_is_paid(serve):
    server = serve()
    unpaid = server.site.campaign.pay.model_copy(
        update={"per_judgment": 0.0, "tutorial_bonus": 0.0}
    )
    server.site.campaign = server.campaign.model_copy(update={"pay": unpaid})
    server.site.budget = Budget.of(server.site.campaign)
    rater = server.rater()
    assert rater.judge()["earned"] is None
    assert rater.next()["progress"]["earned"] is None


@pytest.mark.parametrize(
    ("tutorial", "told"),
    [
        (False, "Each judgment is paid 0.125 EUR."),
        (True, "Each judgment is paid 0.125 EUR. Passing the tutorial is paid 0.50 EUR."),
    ],
)
def test_raters_are_told_of_their_pay(serve, tutorial, told):
    page = serve(tutorial=tutorial).rater().get("/work").text
    before, _, work = page.partition('<section id="work"')
    assert f'<p class="terms">{told}</p>' in before
    # whoever works has passed the tutorial
    assert '<p class="terms">Each judgment is paid 0.125 EUR.</p>' in work


def test_raters_are_told_of_the_expected_time(serve):
    server = serve()
    pay = server.campaign.pay.model_copy(update={"expected_seconds": 75.0, "per_judgment": 0.0})
    campaign = server.campaign.model_copy(update={"pay": pay})
    site = replace(server.site, campaign=campaign, budget=Budget.of(campaign))
    assert site.terms == "Each judgment takes about 75 seconds."


def test_the_same_submission_sent_again_is_the_same_submission(server):
    rater = server.rater()
    given = rater.next()["assignment"]["id"]
    first = rater.submit(given).json()
    again = rater.submit(given).json()
    assert first["repeated"] is False
    assert again == {**first, "repeated": True}


def test_a_second_answer_to_the_same_text_is_refused(server):
    rater = server.rater()
    given = rater.next()["assignment"]["id"]
    rater.submit(given)
    answer = rater.submit(given, key="another-key")
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "already-submitted"


def test_a_draft_comes_back_with_the_text(server):
    rater = server.rater()
    given = rater.next()["assignment"]["id"]
    server.clock.forward(minutes=5)
    draft = {"assignment": given, "answer": {"fluency": 1}, "active_ms": 4_000}
    kept = rater.send("/api/draft", draft, method="PUT")
    assert kept.json() == {"expires": server.clock.now + 10 * 60_000}
    again = server.rater().next()["assignment"]
    assert (again["id"], again["draft"], again["active_ms"]) == (given, {"fluency": 1}, 4_000)


def test_a_text_that_is_not_submitted_in_time_goes_to_another(serve):
    server = serve(outputs=2, texts=["Same text.", "Same text."])
    ann, bob = server.rater("ann"), server.rater("bob")
    held = ann.next()["assignment"]["id"]
    assert bob.next() == {"status": "wait", "retry_seconds": 5}
    server.clock.forward(minutes=30)
    assert bob.next()["status"] == "task"
    # the work was done: it is taken all the same
    assert ann.submit(held).json()["accepted"] is True


@pytest.mark.parametrize(
    ("answer", "widget"),
    [
        ({"fluency": 3}, "fluency"),
        ({"fluency": -1}, "fluency"),
        ({"fluency": "2"}, "fluency"),
        ({"fluency": True}, "fluency"),
        ({"fluency": 1}, "edit"),
        ({"fluency": 2, "edit": 7}, "edit"),
        ({"fluency": 2, "more": 1}, "more"),
        ({}, "fluency"),
    ],
)
def test_an_answer_out_of_range_or_incomplete_is_refused_by_name(server, answer, widget):
    rater = server.rater()
    given = rater.next()["assignment"]["id"]
    for remembered in (True, False):
        if not remembered:
            # another process than the one that gave the text out
            server.site.memory._contents.clear()
        refused = rater.submit(given, answer)
        assert refused.status_code == 422
        error = refused.json()["error"]
        assert error["code"] == "invalid-answer"
        assert widget in {problem["widget"] for problem in error["problems"]}
    assert rater.next()["progress"]["done"] == 0


@pytest.mark.parametrize(
    "body",
    [
        b'{"fluency": NaN}',
        b'{"fluency": 1e999}',
        b'{"edit": "\\u0000"}',
        b'{"edit": "\\ud800"}',
        b'{"fluency": ' + b"9" * 400 + b"}",
        b'{"fluency": ' + b"[" * 500 + b"]" * 500 + b"}",
        b'"text"',
        b"[]",
        b"null",
    ],
)
def test_what_no_database_holds_is_refused(server, body):
    rater = server.rater()
    given = rater.next()["assignment"]["id"]
    whole = b'{"assignment": "%b", "key": "key-00000001", "active_ms": 1, "answer": %b}'
    for method, path, sent in (
        ("POST", "/api/submit", whole % (given.encode(), body)),
        (
            "PUT",
            "/api/draft",
            b'{"assignment": "%b", "active_ms": 1, "answer": %b}' % (given.encode(), body),
        ),
    ):
        answer = rater.client.request(
            method,
            path,
            content=sent,
            headers={"X-CSRF-Token": rater.csrf, "Content-Type": "application/json"},
        )
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 422), (b"{", 400), (b"nonsense", 400), (b'{"a": 1}', 422), (b"[" * 100_000, 400)],
)
def test_what_is_no_request_is_refused_in_the_one_shape(server, body, status):
    rater = server.rater()
    headers = {"X-CSRF-Token": rater.csrf, "Content-Type": "application/json"}
    answer = rater.client.post("/api/submit", content=body, headers=headers)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}


def test_time_that_cannot_have_passed_is_not_counted(server):
    rater = server.rater()
    given = rater.next()["assignment"]["id"]
    server.clock.forward(seconds=3)
    assert rater.submit(given, active_ms=10**9).status_code == 200
    refused = rater.submit(given, active_ms=-1)
    assert refused.status_code == 422
    rows = server.store.read(
        lambda connection: connection.exec_driver_sql("SELECT active_ms FROM submissions").all()
    )
    assert rows == [(3_000,)]


def test_nobody_answers_for_another(server):
    ann, bob = server.rater("ann"), server.rater("bob")
    held = ann.next()["assignment"]["id"]
    for remembered in (True, False):
        if not remembered:
            server.site.memory._contents.clear()
        stolen = bob.submit(held)
        assert stolen.status_code == 403
        assert stolen.json()["error"]["code"] == "not-yours"
        # nor is it told what would be right or wrong there
        assert bob.submit(held, {"fluency": 9}).json()["error"]["code"] == "not-yours"
        draft = {"assignment": held, "answer": {"fluency": 0}, "active_ms": 1}
        assert bob.send("/api/draft", draft, method="PUT").status_code == 403
    assert ann.next()["assignment"]["draft"] is None
    # nor does a refusal tell what the text or the answer was
    assert "Text number" not in stolen.text


def test_an_assignment_that_is_nobodys_is_lost(server):
    rater = server.rater()
    answer = rater.submit("AAAAAAAAAAAAAAAAAAAAAA")
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "lease-lost"


def test_a_visit_ends_after_its_judgments(serve):
    server = serve("session: {judgments: 2}\n")
    rater = server.rater()
    assert rater.next()["progress"]["of"] == 2
    rater.judge()
    rater.judge()
    done = rater.next()
    assert (done["status"], done["reason"], done["return"]) == ("done", "session-complete", None)
    assert "This visit is complete" in done["message"]


def test_work_ends_when_none_is_left(serve):
    server = serve(outputs=4)
    rater = server.rater()
    for _ in range(4):
        rater.judge()
    assert rater.next()["reason"] == "none-left"


def test_no_rater_sees_a_system_and_identical_texts_are_judged_once(serve):
    server = serve(outputs=4, texts=["Same.", "Same.", "One.", "Two."])
    rater = server.rater()
    seen = []
    for _ in range(3):
        given = rater.send("/api/next", {})
        assert "secret-system" not in given.text
        seen.append(given.json()["assignment"]["content"]["output"])
        rater.judge()
    assert sorted(seen) == ["One.", "Same.", "Two."]
    assert rater.next()["reason"] == "none-left"
    for path in ("/work", "/api/task"):
        assert "secret-system" not in rater.get(path).text


def test_gold_looks_like_any_other_text(serve, tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"output": "A gold text.", "answer": {"fluency": 2}}\n')
    server = serve(GOLD)
    rater = server.rater()
    seen = []
    for _ in range(4):
        answer = rater.send("/api/next", {})
        assert set(answer.json()["assignment"]) == {
            "id",
            "content",
            "draft",
            "active_ms",
            "expires",
            "shown",
        }
        seen.append(answer.json()["assignment"]["content"]["output"])
        stored = rater.judge({"fluency": 0, "edit": "Changed."})
        assert set(stored) == {"accepted", "repeated", "done", "earned", "feedback"}
        assert stored["feedback"] is None
    assert "A gold text." in seen


def test_a_hostile_text_is_data_and_never_part_of_a_page(serve):
    server = serve(outputs=2, texts=[HOSTILE, HOSTILE])
    rater = server.rater()
    given = rater.send("/api/next", {})
    assert given.headers["content-type"] == "application/json"
    assert given.headers["x-content-type-options"] == "nosniff"
    assert given.json()["assignment"]["content"]["output"] == HOSTILE
    assert "alert(1)" not in rater.get("/work").text


def test_pages_run_no_script_but_our_own(server):
    page = server.rater().get("/work")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-frame-options"] == "DENY"
    assert "<style" not in page.text
    assert " style=" not in page.text
    assert " onclick=" not in page.text


def test_a_body_above_the_limit_is_refused_declared_or_not(serve):
    server = serve(limits=Limits(body_bytes=2048))
    rater = server.rater()
    given = rater.next()["assignment"]["id"]
    declared = rater.submit(given, {"fluency": 2, "edit": "x" * 3_000})
    assert declared.status_code == 413
    assert declared.json()["error"]["code"] == "too-large"

    def chunks():
        yield b'{"assignment": "'
        for _ in range(100):
            yield b"x" * 100

    headers = {"X-CSRF-Token": rater.csrf, "Content-Type": "application/json"}
    chunked = rater.client.post("/api/submit", content=chunks(), headers=headers)
    assert chunked.status_code == 413
    assert rater.submit(given).status_code == 200


def test_a_paused_campaign_gives_no_work_but_takes_what_was_done(server):
    rater, admin = server.rater(), server.admin()
    given = rater.next()["assignment"]["id"]
    admin.send("/admin/api/state", {"state": "paused"})
    assert rater.next() == {"status": "paused"}
    assert rater.submit(given).status_code == 200
    admin.send("/admin/api/state", {"state": "running"})
    assert rater.next()["status"] == "task"
    admin.send("/admin/api/state", {"state": "stopped"})
    assert rater.next()["reason"] == "stopped"


@pytest.mark.parametrize("remembers", [True, False], ids=["same process", "another process"])
def test_a_preference_counts_for_the_text_that_was_preferred_wherever_it_stood(serve, remembers):
    texts = [f"{'good' if number % 2 else 'bad'} {number}" for number in range(24)]
    both = ", systems: [secret-system-0, secret-system-1]"
    server = serve(outputs=24, texts=texts, task=PAIRS, chosen=both)
    rater = server.rater()
    sides = set()
    for _ in range(12):
        given = rater.next()["assignment"]
        side = "first" if given["content"]["first"].startswith("good") else "second"
        sides.add(side)
        if not remembers:
            server.site.memory._contents.clear()
        rater.submit(given["id"], {"better": side}, key=f"key-{given['id']}")
    assert sides == {"first", "second"}
    rows = server.store.read(scored_rows)
    assert {(row.system, row.score) for row in rows} == {
        ("secret-system-0", 0.0),
        ("secret-system-1", 1.0),
    }
    assert len(rows) == 24
    # whoever looks at the work reads the same
    for one in server.admin().get("/admin/api/answers").json()["answers"]:
        ((_, said),) = (each.values() for each in one["answers"])
        (chosen,) = (text for text in one["texts"] if text["label"].startswith(said))
        assert chosen["label"] == f"{said} (secret-system-1)"
        assert chosen["shown"][0][2].startswith("good")
