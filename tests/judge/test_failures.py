from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from steelyard.judge.endpoint import Endpoint
from steelyard.judge.failures import Kind, failure_in, requested_wait, shortened

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
LEFT = {"x-ratelimit-remaining-requests": "0"}


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 7.5 "}, 7.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": DATE}, 30),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", "date": DATE}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({}, None),
        (LEFT | {"x-ratelimit-reset-requests": "6m0.5s"}, 360.5),
        (LEFT | {"x-ratelimit-reset-requests": "1h2m"}, 3720),
        (LEFT | {"x-ratelimit-reset-requests": "20ms"}, 0.02),
        (LEFT | {"x-ratelimit-reset-requests": "3"}, 3),
        (LEFT | {"x-ratelimit-reset-requests": "1.2.3s"}, None),
        (LEFT | {"x-ratelimit-reset-requests": "9" * 400 + "s"}, None),
        ({"x-ratelimit-remaining-requests": "2", "x-ratelimit-reset-requests": "9s"}, None),
        (
            {
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-10-21T07:29:00Z",
                "date": DATE,
            },
            60,
        ),
    ],
)
def test_the_wish_of_a_server_is_read(headers, wait):
    assert requested_wait(headers) == wait


def test_without_the_servers_clock_ours_is_used():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < requested_wait({"retry-after": later}) <= 100


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"choices": [{"message": {}}]}, None),
        (200, [], None),
        (400, None, Kind.QUESTION),
        (403, {"error": {"code": "content_filter"}}, Kind.QUESTION),
        (403, {"error": {"message": "no"}}, Kind.ALL),
        (429, {"error": {"type": "insufficient_quota"}}, Kind.ALL),
        (429, None, Kind.BUSY),
        (200, {"error": {"code": "429"}}, Kind.BUSY),
        (200, {"error": {"code": 77}}, Kind.PASSING),
        (503, "garbled", Kind.PASSING),
    ],
)
def test_a_failure_says_whose_fault_it_is(status, body, kind):
    failure = failure_in(status, body, {})
    assert (failure and failure.kind) == kind


def test_a_reason_fits_into_a_line_of_any_file():
    assert shortened("a\n\tb \ud800" + "c" * 100) == "a b ?" + "c" * 72 + "..."


def test_a_query_and_another_header_reach_the_endpoint():
    place = Endpoint.of(
        "https://h/openai/deployments/d/?api-version=2024-06-01",
        api_key_env="api-key=K",
        environment={"K": "secret-of-mine"},
    )
    whole = "https://h/openai/deployments/d/chat/completions?api-version=2024-06-01"
    assert place.address == whole
    assert place.headers == {"api-key": "secret-of-mine"}
    # what errors show
    assert place.base == "https://h/openai/deployments/d"
    assert "secret-of-mine" not in repr(place)
