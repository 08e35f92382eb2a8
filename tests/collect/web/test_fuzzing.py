"""Requests that nobody thought of, made from the API's own description."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

EXTERNAL = "panel: {kind: external-question}\n"
# a stream without end; followed in test_administration
ENDLESS = "/admin/events"


def cases(app):
    """Yield every operation with a strategy of requests, right and wrong."""
    schema = schemathesis.openapi.from_dict(app.openapi())
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path != ENDLESS:
            modes = [
                operation.as_strategy(generation_mode=mode)
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
            ]
            yield operation, st.one_of(modes)


def send(server, case, visitor):
    """Send what was made up, with a good cookie and word."""
    given_headers = {
        name: value
        for name, value in (case.headers or {}).items()
        if name.lower() not in {"x-csrf-token", "cookie", "authorization"}
    }
    headers = {**given_headers, "X-CSRF-Token": visitor.csrf}
    kwargs = case.as_transport_kwargs(base_url=server.origin, headers=headers)
    sent = {
        name: kwargs[name] for name in ("params", "json", "data") if kwargs.get(name) is not None
    }
    if "data" in sent:
        data = sent.pop("data")
        sent["content"] = data if isinstance(data, bytes | str) else str(data)
    return visitor.client.request(
        kwargs["method"], kwargs["url"], headers=kwargs["headers"], **sent
    )


def check(server, *, examples, paths=None):
    """Send each operation so many requests; half of them name things that are there."""
    rater = server.rater()
    held = rater.next().get("assignment", {}).get("id", "none")
    there = {"assignment": held, "question": "q1"}
    token = server.site.rater_link().partition("token=")[2]
    for operation, strategy in cases(server.app):
        if paths is None or operation.path in paths:
            visitor = server.admin() if operation.path.startswith("/admin") else rater
            survives(server, visitor, strategy, there=there, token=token, examples=examples)


def survives(server, visitor, strategy, *, there, token, examples):
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy, mine=st.booleans())
    def answered(case, mine):
        server.clock.forward(minutes=1)
        if mine and isinstance(case.body, dict):
            case.body |= {name: there[name] for name in case.body if name in there}
        if mine and case.query and "token" in case.query:
            case.query["token"] = token
        answer = send(server, case, visitor)
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        if answer.status_code == 401 and case.path.startswith("/admin"):
            # what was asked for may have ended the visit
            visitor.follow(server.site.admin_link())
        if answer.status_code >= 400 and "/api/" in case.path:
            assert set(answer.json()["error"]) <= {"code", "message", "problems"}

    answered()


def test_no_request_makes_the_server_fail(serve):
    check(serve(EXTERNAL), examples=8)


def test_no_answer_makes_the_tutorial_fail(serve):
    check(serve(EXTERNAL, tutorial=True), examples=50, paths={"/api/tutorial"})


@pytest.mark.slow
def test_no_request_of_many_makes_the_server_fail(serve):
    check(serve(EXTERNAL), examples=100)
