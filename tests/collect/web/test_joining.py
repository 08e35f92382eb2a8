import csv
import io
import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from steelyard.collect.store.progress import rater_rows
from steelyard.collect.web.limits import Limits

PROLIFIC = "panel: {kind: prolific, complete: DONE, screen_out: OUT}\n"
ONE_CODE = "panel: {kind: prolific, complete: DONE}\n"
EXTERNAL = "panel: {kind: external-question, hosts: [www.mturk.com, worker.mturk.com]}\n"
GENERIC = (
    "panel: {kind: generic, rater: pid, session: sid, complete: 'https://p.example/?i={pid}'}\n"
)
OPEN = "panel: {kind: open}\n"
SHORT = "session: {judgments: 1}\n"


def path_of(server, **parameters):
    """Return the panel's link, its parameters filled in."""
    address = urlsplit(server.site.rater_link())
    token = parse_qs(address.query)["token"][0]
    more = "".join(f"&{name}={value}" for name, value in parameters.items())
    return f"{address.path}?token={token}{more}"


def test_the_front_page_tells_nothing_but_the_title(server):
    page = server.visitor().get("/")
    assert page.status_code == 200
    assert "A campaign" in page.text
    assert "open the link that you were given" in page.text


def test_an_invitation_becomes_a_cookie_and_its_token_leaves_the_address(server):
    visitor = server.visitor()
    answer = visitor.get(server.site.invitation("ann"))
    assert answer.status_code == 303
    assert answer.headers["location"] == "/work"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{server.site.cookie_name('sy_rater')}=")
    assert "; HttpOnly; SameSite=Lax" in cookie
    assert "; Path=/;" in cookie
    assert "Secure" not in cookie
    assert visitor.get("/work").status_code == 200


def test_over_https_the_cookie_is_secure(serve):
    server = serve("public_url: https://rate.example\n")
    answer = server.visitor().get("/join" + server.site.invitation("ann").partition("/join")[2])
    assert "; Secure" in answer.headers["set-cookie"]


def test_the_same_invitation_leads_back_to_the_same_work(server):
    first = server.rater("ann").next()["assignment"]
    assert server.rater("ann").next()["assignment"]["id"] == first["id"]
    assert server.rater("bob").next()["assignment"]["id"] != first["id"]


def test_an_invitation_that_is_over_opens_nothing(server):
    link = server.site.invitation("ann")
    server.clock.forward(days=90)
    answer = server.visitor().get(link)
    assert answer.status_code == 401
    assert "This link is over: ask for a new one" in answer.text
    assert "set-cookie" not in answer.headers


def test_a_visit_ends_with_the_time_of_links(server):
    rater = server.rater()
    server.clock.forward(days=90)
    assert rater.send("/api/next", {}).status_code == 401
    assert rater.get("/work").status_code == 401


@pytest.mark.parametrize("token", ["", "x", "a.b", "é", "%00", "%ff", "x" * 2_000])
def test_what_is_no_token_opens_nothing(server, token):
    answer = server.visitor().get(f"/join?token={token}")
    assert answer.status_code in {401, 422}
    assert answer.headers["content-type"].startswith("text/html")


def test_tokens_made_for_something_else_open_nothing(serve):
    server = serve(OPEN)
    keys, expires = server.site.keys, server.site.expiry()
    visitor = server.visitor()
    for purpose in ("panel", "rater", "admin-link", "admin"):
        token = keys.sign(purpose, "open", expires=expires)
        assert visitor.get(f"/join?token={token}").status_code == 401
    for purpose in ("invitation", "rater", "admin-link", "admin"):
        token = keys.sign(purpose, "open", expires=expires)
        assert visitor.get(f"/join/open?token={token}").status_code == 401
    # a link for another kind of panel, from a time when the campaign had one
    token = keys.sign("panel", "prolific", expires=expires)
    assert visitor.get(f"/join/open?token={token}").status_code == 401


def test_only_the_campaigns_own_panel_may_send_raters(server):
    token = server.site.keys.sign("panel", "open", expires=server.site.expiry())
    for path in ("open", "prolific", "external", "panel"):
        assert server.visitor().get(f"/join/{path}?token={token}").status_code == 404


def test_an_open_link_makes_one_rater_of_each_browser(serve):
    server = serve(OPEN)
    link = server.site.rater_link()
    one, two = server.visitor(), server.visitor()
    one.follow(link)
    two.follow(link)
    first = one.next()["assignment"]["id"]
    assert two.next()["assignment"]["id"] != first
    one.follow(link)
    assert one.next()["assignment"]["id"] == first


def test_prolific_raters_go_back_with_the_completion_code(serve):
    server = serve(PROLIFIC + SHORT)
    visitor = server.visitor()
    visitor.follow(path_of(server, PROLIFIC_PID="p1", STUDY_ID="s1", SESSION_ID="v1"))
    visitor.judge()
    done = visitor.next()
    assert done["status"] == "done"
    assert done["reason"] == "session-complete"
    assert done["return"] == {
        "method": "GET",
        "url": "https://app.prolific.com/submissions/complete?cc=DONE",
        "fields": {},
        "label": "Back to Prolific",
    }


def test_prolific_raters_who_fail_the_tutorial_go_back_with_the_other_code(serve):
    server = serve(PROLIFIC, tutorial=True)
    visitor = server.visitor()
    visitor.follow(path_of(server, PROLIFIC_PID="p1", STUDY_ID="s1", SESSION_ID="v1"))
    for question in ("q1", "q2"):
        for _ in range(2):
            visitor.send("/api/tutorial", {"question": question, "answer": 1})
    done = visitor.next()
    assert done["reason"] == "tutorial-failed"
    assert done["return"]["url"].endswith("complete?cc=OUT")


@pytest.mark.parametrize(
    ("panel", "address"),
    [(PROLIFIC, "https://app.prolific.com/submissions/complete?cc=OUT"), (ONE_CODE, None)],
)
def test_a_visit_that_a_rule_excludes_never_ends_with_the_completion_code(serve, panel, address):
    server = serve(panel + "session: {judgments: 5}\nquality: {active_seconds: 5}\n")
    cheat = server.visitor()
    cheat.follow(path_of(server, PROLIFIC_PID="p1", STUDY_ID="s1", SESSION_ID="v1"))
    for _ in range(5):
        server.clock.forward(seconds=0.02)
        cheat.judge()
    done = cheat.next()
    assert done["reason"] == "excluded"
    assert "Nothing is left" not in done["message"]
    assert (done["return"] and done["return"]["url"]) == address


def test_an_honest_visit_ends_with_the_completion_code_under_the_same_rule(serve):
    server = serve(PROLIFIC + "session: {judgments: 5}\nquality: {active_seconds: 0.9}\n")
    visitor = server.visitor()
    visitor.follow(path_of(server, PROLIFIC_PID="p1", STUDY_ID="s1", SESSION_ID="v1"))
    for _ in range(5):
        given = visitor.next()["assignment"]["id"]
        server.clock.forward(seconds=60)
        visitor.submit(given, key=f"key-{given}", active_ms=55_000)
    done = visitor.next()
    assert done["reason"] == "session-complete"
    assert done["return"]["url"].endswith("cc=DONE")


def test_a_decision_about_payment_chooses_the_code(serve):
    server = serve(PROLIFIC + SHORT)
    visitor = server.visitor()
    visitor.follow(path_of(server, PROLIFIC_PID="p1", STUDY_ID="s1", SESSION_ID="v1"))
    visitor.judge()
    (rater,) = server.store.read(rater_rows)
    admin = server.admin()
    for about, verdict, code in (
        ("payment", "refuse", "OUT"),
        ("estimate", "exclude", "OUT"),
        ("payment", "pay", "DONE"),
    ):
        body = {"rater": rater.id, "about": about, "verdict": verdict, "reason": "seen"}
        assert admin.send("/admin/api/decisions", body).status_code == 200
        assert visitor.next()["return"]["url"].endswith(f"cc={code}")


def prolific_visit(server, visit):
    return path_of(server, PROLIFIC_PID="p1", STUDY_ID="s1", SESSION_ID=visit)


def test_a_participant_is_paid_for_one_visit_whatever_the_address_says(serve):
    server = serve(PROLIFIC + SHORT)
    visitor = server.visitor()
    visitor.follow(prolific_visit(server, "v1"))
    visitor.judge()
    again = server.visitor().get(prolific_visit(server, "v2"))
    assert again.status_code == 403
    assert "You have taken part already" in again.text
    assert "set-cookie" not in again.headers
    # the first visit itself can be opened again, for its code
    visitor.follow(prolific_visit(server, "v1"))
    assert visitor.next()["return"]["url"].endswith("cc=DONE")


def test_who_gave_a_place_back_before_judging_may_come_again(serve):
    server = serve(PROLIFIC + SHORT)
    server.visitor().follow(prolific_visit(server, "v1"))
    visitor = server.visitor()
    visitor.follow(prolific_visit(server, "v2"))
    assert visitor.next()["status"] == "task"


def test_more_visits_are_allowed_by_the_campaign_and_stand_apart_in_the_ledger(serve):
    server = serve(PROLIFIC + "session: {judgments: 1, visits: 2}\n")
    judged = []
    for visit in ("v1", "v2"):
        visitor = server.visitor()
        visitor.follow(prolific_visit(server, visit))
        judged.append(visitor.next()["assignment"]["content"])
        visitor.judge()
        assert visitor.next()["reason"] == "session-complete"
    assert judged[0] != judged[1]
    assert server.visitor().get(prolific_visit(server, "v3")).status_code == 403
    ledger = server.admin().get("/admin/export/ledger.csv").text
    rows = list(csv.DictReader(io.StringIO(ledger)))
    assert [(row["panel_id"], row["panel_session"]) for row in rows] == [("p1", "v1"), ("p1", "v2")]


def test_a_link_of_prolific_without_ids_is_explained(serve):
    server = serve(PROLIFIC)
    answer = server.visitor().get(path_of(server, PROLIFIC_PID="p1"))
    assert answer.status_code == 400
    assert "`STUDY_ID` must stand in the link" in answer.text


UNFILLED = ["{{%PROLIFIC_PID%}}", "{PROLIFIC_PID}", "PROLIFIC_PID", "...", "", "  ", "[ID]", "%ID%"]


@pytest.mark.parametrize("value", UNFILLED)
def test_a_placeholder_that_the_panel_did_not_fill_in_is_nobody(serve, value):
    server = serve(PROLIFIC)
    path = path_of(server, PROLIFIC_PID=quote(value), STUDY_ID="s1", SESSION_ID="v1")
    answer = server.visitor().get(path)
    assert answer.status_code == 400
    assert "`PROLIFIC_PID`" in answer.text
    assert "set-cookie" not in answer.headers
    assert server.store.read(rater_rows) == []


def test_the_printed_link_of_a_generic_panel_opened_as_it_is_lets_nobody_in(serve):
    server = serve(GENERIC)
    answer = server.visitor().get(server.site.rater_link().removeprefix(server.origin))
    assert answer.status_code == 400
    assert "`pid` was not filled in by the panel" in answer.text


ASSIGNED = {
    "assignmentId": "A1",
    "hitId": "H1",
    "workerId": "W1",
    "turkSubmitTo": "https%3A%2F%2Fwww.mturk.com",
}


def test_an_external_question_is_submitted_by_a_form_of_the_page(serve):
    server = serve(EXTERNAL + SHORT)
    visitor = server.visitor()
    page = visitor.follow(path_of(server, **ASSIGNED))
    policy = page.headers["content-security-policy"]
    hosts = "https://www.mturk.com https://worker.mturk.com"
    assert f"form-action 'self' {hosts};" in policy
    assert policy.endswith(f"frame-ancestors {hosts}")
    assert "x-frame-options" not in page.headers
    visitor.judge()
    assert visitor.next()["return"] == {
        "method": "POST",
        "url": "https://www.mturk.com/mturk/externalSubmit",
        "fields": {"assignmentId": "A1", "outcome": "complete"},
        "label": "Submit",
    }


def test_an_external_question_is_submitted_to_no_other_host(serve):
    server = serve(EXTERNAL)
    evil = {**ASSIGNED, "turkSubmitTo": "https%3A%2F%2Fevil.example"}
    answer = server.visitor().get(path_of(server, **evil))
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


def test_what_a_link_says_is_text_on_the_page_that_refuses_it(serve):
    server = serve(EXTERNAL)
    evil = {**ASSIGNED, "turkSubmitTo": "https%3A%2F%2F%3Cscript%3Ealert(1)%3C%2Fscript%3E"}
    answer = server.visitor().get(path_of(server, **evil))
    assert answer.status_code == 400
    assert "&lt;script&gt;" in answer.text
    assert "<script>" not in answer.text


def test_a_preview_shows_the_task_and_gives_no_work(serve):
    server = serve(EXTERNAL)
    visitor = server.visitor()
    link = path_of(server, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", hitId="H1")
    answer = visitor.get(link)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/preview"
    assert "set-cookie" not in answer.headers
    page = visitor.get("/preview")
    assert page.status_code == 200
    assert 'data-mode="preview"' in page.text
    assert "csrf-token" not in page.text
    assert visitor.send("/api/next", {}).status_code == 401


def test_other_panels_have_no_preview(server):
    assert server.visitor().get("/preview").status_code == 404


def test_in_a_frame_over_https_the_cookie_reaches_us(serve):
    server = serve(EXTERNAL + "public_url: https://rate.example\n")
    answer = server.visitor().get(path_of(server, **ASSIGNED))
    assert answer.headers["set-cookie"].endswith("; SameSite=None; Secure; Partitioned")


def test_a_generic_panel_gets_its_raters_back(serve):
    server = serve(GENERIC + SHORT)
    visitor = server.visitor()
    visitor.follow(path_of(server, pid="a%26b", sid="s1"))
    visitor.judge()
    assert visitor.next()["return"]["url"] == "https://p.example/?i=a%26b"


def test_somebody_invited_to_a_panels_campaign_gets_no_code(serve):
    server = serve(PROLIFIC + SHORT)
    rater = server.rater("colleague")
    rater.judge()
    assert rater.next()["return"] is None


def test_too_many_visits_from_one_address_have_to_wait(serve):
    server = serve(limits=Limits(joins_per_minute=3))
    link = server.site.invitation("ann")
    visitor = server.visitor()
    assert [visitor.get(link).status_code for _ in range(4)] == [303, 303, 303, 429]
    refused = visitor.get(link)
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    server.clock.forward(seconds=20)
    assert visitor.get(link).status_code == 303


def test_guessing_admin_links_has_the_same_limit(serve):
    server = serve(limits=Limits(joins_per_minute=3))
    visitor = server.visitor()
    codes = [visitor.get(f"/admin/enter?token=guess{n}").status_code for n in range(4)]
    assert codes == [401, 401, 401, 429]


def test_links_never_follow_the_host_that_a_request_names(serve):
    server = serve()
    admin = server.admin()
    answer = admin.send(
        "/admin/api/invitations", {"count": 1}, Host="evil.example", **{"X-Forwarded-Host": "evil"}
    )
    assert answer.json()["links"][0].startswith("http://127.0.0.1:8000/join?token=")
    page = server.visitor().client.get("/", headers={"Host": "evil.example"})
    assert "evil" not in page.text


@pytest.mark.parametrize("path", ["/admin/enter/", "/join/", "/work/", "/admin/"])
def test_no_address_with_a_slash_too_many_leads_to_the_host_that_a_request_names(server, path):
    answer = server.visitor().client.get(path, headers={"Host": "evil.example"})
    assert answer.status_code == 404
    assert "location" not in answer.headers


def test_links_lead_to_the_public_address(serve):
    server = serve("public_url: https://rate.example/\n")
    assert server.site.rater_link().startswith("https://rate.example/join?token=")
    assert server.site.admin_link().startswith("https://rate.example/admin/enter?token=")


@pytest.mark.parametrize("path", ["/join", "/join/open", "/join/prolific", "/admin/enter"])
def test_a_link_without_a_token_is_explained_on_a_page(server, path):
    answer = server.visitor().get(path)
    assert answer.status_code == 422
    assert re.search(r"<h1>.+</h1>", answer.text)
