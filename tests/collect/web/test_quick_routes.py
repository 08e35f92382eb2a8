"""Routes that raters use all the time answer as FastAPI alone would."""

import pytest
from fastapi.routing import APIRoute

from steelyard.collect.web.guards import QuickRoute
from steelyard.collect.web.limits import Limits


@pytest.fixture
def both(serve, monkeypatch):
    """Return what sends the same request as it is answered, and as FastAPI alone answers it."""
    one = serve(outputs=20).rater()
    quick = QuickRoute.handle

    def send(path, body, *, method="POST", content=None, **headers):
        answers = []
        for handle in (quick, APIRoute.handle):
            monkeypatch.setattr(QuickRoute, "handle", handle)
            given = {"X-CSRF-Token": one.csrf, "Content-Type": "application/json"} | headers
            options = {"json": body} if content is None else {"content": content}
            answers.append(one.client.request(method, path, headers=given, **options))
        return answers

    return one, send


def same(answers):
    short, long = answers
    kept = ("content-type", "cache-control", "content-security-policy", "retry-after")
    assert short.status_code == long.status_code
    assert [short.headers.get(one) for one in kept] == [long.headers.get(one) for one in kept]
    assert short.json() == long.json()
    return short


def test_ordinary_requests_are_answered_alike(both):
    rater, send = both
    given = same(send("/api/next", {})).json()["assignment"]
    draft = {"assignment": given["id"], "answer": {"fluency": 1}, "active_ms": 5}
    same(send("/api/draft", draft, method="PUT"))
    body = {"assignment": given["id"], "key": "key-00000001", "answer": {"fluency": 2}}
    first, again = send("/api/submit", {**body, "active_ms": 5})
    assert (first.json()["repeated"], again.json()["repeated"]) == (False, True)
    assert first.json() | {"repeated": True} == again.json()
    assert rater.next()["assignment"]["id"] != given["id"]


@pytest.mark.parametrize(
    ("path", "body", "options", "status"),
    [
        ("/api/next", {"more": 1}, {}, 422),
        ("/api/next", [], {}, 422),
        ("/api/next", None, {"content": b"{"}, 400),
        ("/api/next", None, {"content": b""}, 422),
        ("/api/next", {}, {"Content-Type": "text/plain"}, 422),
        ("/api/next", {}, {"X-CSRF-Token": "wrong"}, 403),
        ("/api/next", {}, {"Cookie": "sy_rater=none"}, 401),
        ("/api/next", {}, {"method": "PUT"}, 405),
        ("/api/next", None, {"content": b" " * 5_000_000}, 413),
        ("/api/submit", None, {"content": b"[" * 100_000}, 400),
        (
            "/api/submit",
            {"assignment": "nobody", "key": "key-00000001", "answer": {}, "active_ms": 5},
            {},
            409,
        ),
        (
            "/api/submit",
            {"assignment": "nobody", "key": "key-00000001", "answer": {}, "active_ms": -5},
            {},
            422,
        ),
        (
            "/api/submit",
            None,
            {
                "content": b'{"assignment":"x","key":"key-00000001","answer":{"a":"\\ud800"},"active_ms":5}'
            },
            422,
        ),
    ],
)
def test_refusals_are_the_same(both, path, body, options, status):
    _, send = both
    if "Cookie" in options:
        both[0].client.cookies.clear()
    assert same(send(path, body, **options)).status_code == status


def test_a_request_counts_once_for_the_limit(serve):
    server = serve(limits=Limits(requests_per_second=1), outputs=20)
    rater = server.rater()
    # a burst of two, one of which the page itself took
    found = [rater.send("/api/next", body).status_code for body in ({"more": 1}, {})]
    assert found == [422, 429]


def test_a_mistake_of_ours_is_a_plain_500(serve, monkeypatch):
    server = serve(outputs=20)
    rater = server.rater()
    monkeypatch.setattr(type(server.site.store), "write", lambda *_: 1 / 0)
    answer = rater.send("/api/next", {})
    assert answer.status_code == 500
    assert "ZeroDivision" not in answer.text


def test_who_hangs_up_in_the_middle_of_a_request_is_no_error(serve):
    server = serve()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/submit",
        "raw_path": b"/api/submit",
        "root_path": "",
        "query_string": b"",
        "headers": [(b"content-length", b"100")],
    }
    waiting = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent = []

    async def receive():
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    server.portal.call(server.app, scope, receive, send)
    assert sent == []
