import asyncio

from steelyard.collect.web.headers import SecurityHeaders, content_security_policy


def headers_of(path, *, framed=False, given=()):
    sent = []

    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": list(given)})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": path}
    asyncio.run(SecurityHeaders(app, policy="p", framed=framed)(scope, None, send))
    return sent[0]["headers"]


def test_the_policy_is_the_strictest_that_lets_our_own_files_work():
    assert content_security_policy(submits_to=(), framed_by=()) == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


def test_files_of_a_campaign_run_nothing_even_if_they_are_opened_alone():
    for path in ("/media/a.svg", "/admin/media/a.svg"):
        found = dict(headers_of(path, framed=True))
        policy = found[b"content-security-policy"].decode()
        assert policy.startswith("default-src 'none'; ")
        assert "sandbox" in policy
        assert "script" not in policy
        assert found[b"x-content-type-options"] == b"nosniff"
        assert found[b"cache-control"] == b"private, no-cache"


def test_a_panel_may_receive_forms_and_frame_our_pages_and_nothing_else():
    policy = content_security_policy(
        submits_to=("https://panel.example",), framed_by=("https://frame.example",)
    )
    assert "form-action 'self' https://panel.example;" in policy
    assert policy.endswith("frame-ancestors https://frame.example")
    assert "script-src 'self';" in policy


def test_every_answer_carries_the_headers():
    found = dict(headers_of("/api/next"))
    assert found == {
        b"content-security-policy": b"p",
        b"referrer-policy": b"no-referrer",
        b"x-content-type-options": b"nosniff",
        b"cross-origin-opener-policy": b"same-origin",
        b"cross-origin-resource-policy": b"same-origin",
        b"x-frame-options": b"DENY",
        b"cache-control": b"no-store",
    }


def test_pages_are_never_kept_whatever_the_application_says():
    found = headers_of("/work", given=[(b"cache-control", b"max-age=60"), (b"etag", b"1")])
    assert [value for name, value in found if name == b"cache-control"] == [b"no-store"]
    assert (b"etag", b"1") in found


def test_our_own_files_may_be_kept_if_they_are_asked_about():
    assert (b"cache-control", b"no-cache") in headers_of("/static/style.css")


def test_a_page_that_may_be_framed_does_not_say_otherwise():
    assert b"x-frame-options" not in dict(headers_of("/work", framed=True))
