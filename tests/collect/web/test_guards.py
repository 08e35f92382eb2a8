import pytest

from steelyard.collect.web.limits import Limits

CHANGES = [
    ("POST", "/api/next", {}),
    ("POST", "/api/submit", {"assignment": "a", "key": "k" * 8, "answer": {}, "active_ms": 1}),
    ("PUT", "/api/draft", {"assignment": "a", "answer": {}, "active_ms": 1}),
    ("POST", "/api/tutorial", {"question": "q", "answer": 1}),
]
ADMIN_CHANGES = [
    ("POST", "/admin/api/state", {"state": "stopped"}),
    ("POST", "/admin/api/goal", {"half_width": 0.1}),
    ("POST", "/admin/api/outputs", {"more": 1}),
    ("POST", "/admin/api/invitations", {"count": 1}),
    (
        "POST",
        "/admin/api/decisions",
        {"rater": "r", "about": "payment", "verdict": "refuse", "reason": "because"},
    ),
]
ADMIN_READS = [
    "/admin",
    "/admin/api/snapshot",
    "/admin/events",
    "/admin/export/judgments.jsonl",
    "/admin/export/judgments.csv",
    "/admin/export/judgments.parquet",
    "/admin/export/submissions.jsonl",
    "/admin/export/ledger.csv",
    "/admin/export/codebook.md",
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES + ADMIN_CHANGES)
def test_no_change_without_a_cookie(server, method, path, body):
    answer = server.visitor().send(path, body, method=method)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "not-joined"


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
def test_no_change_of_a_rater_without_the_word_of_the_page(server, method, path, body):
    rater, other = server.rater("ann"), server.rater("bob")
    for word in (None, "", "guess", other.csrf, server.admin().csrf):
        rater.csrf = word
        answer = rater.send(path, body, method=method)
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "csrf"


@pytest.mark.parametrize(("method", "path", "body"), ADMIN_CHANGES)
def test_no_change_of_the_campaign_without_the_word_of_the_page(server, method, path, body):
    admin, again = server.admin(), server.admin()
    for word in (None, "", "guess", again.csrf, server.rater().csrf):
        admin.csrf = word
        assert admin.send(path, body, method=method).status_code == 403
    assert server.admin().get("/admin").status_code == 200


@pytest.mark.parametrize(("method", "path", "body"), ADMIN_CHANGES)
def test_a_rater_changes_nothing_of_the_campaign(server, method, path, body):
    rater = server.rater()
    # not even by sending the own cookie under the other name
    rater.client.cookies.set(
        server.site.cookie_name("sy_admin"),
        rater.client.cookies[server.site.cookie_name("sy_rater")],
    )
    assert rater.send(path, body, method=method).status_code == 401


@pytest.mark.parametrize("path", ADMIN_READS)
def test_neither_raters_nor_strangers_read_the_campaign(server, path):
    rater = server.rater()
    rater.client.cookies.set(
        server.site.cookie_name("sy_admin"),
        rater.client.cookies[server.site.cookie_name("sy_rater")],
    )
    for visitor in (rater, server.visitor()):
        answer = visitor.get(path)
        assert answer.status_code == 401
        assert "secret-system" not in answer.text


def test_whoever_runs_the_campaign_is_no_rater(server):
    admin = server.admin()
    admin.client.cookies.set(
        server.site.cookie_name("sy_rater"),
        admin.client.cookies[server.site.cookie_name("sy_admin")],
    )
    assert admin.send("/api/next", {}).status_code == 401


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_what_is_not_offered_is_not_done(server, method):
    for visitor in (server.rater(), server.visitor()):
        for path in ("/api/next", "/admin/export/judgments.jsonl", "/admin"):
            assert visitor.client.request(method, path).status_code == 405


def test_a_cookie_that_was_changed_is_no_cookie(server):
    rater = server.rater()
    value = rater.client.cookies[server.site.cookie_name("sy_rater")]
    for changed in (value[:-8], "x" + value, value.replace(".", ""), ""):
        rater.client.cookies.clear()
        rater.client.cookies.set(server.site.cookie_name("sy_rater"), changed)
        assert rater.send("/api/next", {}).status_code == 401


def test_a_cookie_of_another_campaign_is_no_cookie(serve):
    one = serve()
    cookie = one.rater().client.cookies[one.site.cookie_name("sy_rater")]
    # the same folder, another draw: another database, another secret
    two = serve("database: other.sqlite\njudgments_per_output: 2\n")
    visitor = two.visitor()
    visitor.client.cookies.set(two.site.cookie_name("sy_rater"), cookie)
    assert visitor.get("/work").status_code == 401


def test_two_campaigns_on_one_host_leave_each_other_logged_in(serve):
    one = serve()
    two = serve("database: other.sqlite\njudgments_per_output: 2\n")
    rater, admin = one.rater(), one.admin()
    other_rater, other_admin = two.rater(), two.admin()
    # a browser sends the cookies of a host to all its ports
    for here, there in ((rater, other_rater), (admin, other_admin)):
        here.client.cookies.update(there.client.cookies)
        there.client.cookies.update(here.client.cookies)
    assert [one.get("/work").status_code for one in (rater, other_rater)] == [200, 200]
    assert [one.get("/admin").status_code for one in (admin, other_admin)] == [200, 200]


def test_a_session_that_asks_too_often_has_to_wait_and_others_do_not(serve):
    server = serve(limits=Limits(requests_per_second=2))
    ann, bob = server.rater("ann"), server.rater("bob")
    codes = [ann.send("/api/next", {}).status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    refused = ann.send("/api/next", {})
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["error"]["code"] == "too-many-requests"
    assert bob.send("/api/next", {}).status_code == 200
    server.clock.forward(seconds=1)
    assert ann.send("/api/next", {}).status_code == 200


def test_nothing_secret_is_logged(server, caplog):
    caplog.set_level("DEBUG")
    rater = server.rater()
    rater.judge()
    server.admin().get("/admin/api/snapshot")
    server.visitor().get("/join?token=a-guess")
    for secret in (
        rater.client.cookies[server.site.cookie_name("sy_rater")],
        rater.csrf,
        "token=",
        server.site.rater_link(),
    ):
        assert all(
            secret not in record.getMessage()
            for record in caplog.records
            # the client of the test itself logs what it asks for
            if not record.name.startswith("http")
        )
