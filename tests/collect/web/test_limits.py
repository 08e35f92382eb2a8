import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from steelyard.collect.web.limits import BodyLimit, RateLimit


def test_a_burst_passes_and_then_the_rate_holds():
    limit = RateLimit(rate=10, burst=3)
    assert [limit.wait("a", now=0) for _ in range(3)] == [0, 0, 0]
    assert limit.wait("a", now=0) == pytest.approx(0.1)
    assert limit.wait("a", now=99) == pytest.approx(0.001)
    assert limit.wait("a", now=100) == 0
    assert limit.wait("a", now=100) > 0


def test_one_sender_does_not_use_up_the_share_of_another():
    limit = RateLimit(rate=1, burst=1)
    assert limit.wait("a", now=0) == 0
    assert limit.wait("a", now=0) > 0
    assert limit.wait("b", now=0) == 0


@given(st.lists(st.integers(0, 200), max_size=200))
def test_no_second_sees_more_than_burst_and_rate(gaps):
    limit = RateLimit(rate=20, burst=5)
    now, passed = 0, []
    for gap in gaps:
        now += gap
        if limit.wait("a", now=now) == 0:
            passed.append(now)
    for start in passed:
        assert sum(start <= time < start + 1_000 for time in passed) <= 5 + 20


def test_asking_while_refused_does_not_make_the_wait_longer():
    limit = RateLimit(rate=1, burst=1)
    limit.wait("a", now=0)
    for _ in range(100):
        limit.wait("a", now=500)
    assert limit.wait("a", now=1_000) == 0


def test_a_clock_set_back_locks_nobody_out():
    limit = RateLimit(rate=1, burst=2)
    limit.wait("a", now=10**12)
    assert limit.wait("a", now=0) <= 2


def test_senders_beyond_number_take_no_memory_without_end():
    limit = RateLimit(rate=1, burst=1, senders=100)
    for sender in range(10_000):
        limit.wait(sender, now=0)
    assert len(limit._free) <= 100


def received(chunks, headers=()):
    """Send chunks through the limit into an application that reads them all."""
    seen = []

    async def reader(_scope, receive, _send):
        more = True
        while more:
            message = await receive()
            seen.append(message["body"])
            more = message["more_body"]

    queue = [
        {"type": "http.request", "body": chunk, "more_body": number < len(chunks) - 1}
        for number, chunk in enumerate(chunks)
    ]

    async def receive():
        return queue.pop(0)

    async def send(message):
        pass

    scope = {"type": "http", "headers": list(headers)}
    asyncio.run(BodyLimit(reader, most=10)(scope, receive, send))
    return b"".join(seen)


def test_a_body_of_just_the_limit_passes():
    assert received([b"12345", b"67890"]) == b"1234567890"


@pytest.mark.parametrize("chunks", [[b"x" * 11], [b"x" * 10, b"x"], [b"x"] * 11])
def test_a_body_above_the_limit_is_refused_also_in_chunks(chunks):
    with pytest.raises(HTTPException) as refused:
        received(chunks)
    assert refused.value.status_code == 413


@pytest.mark.parametrize("length", [b"11", b"99999999999999999999", b"-1", b"x"])
def test_a_body_declared_too_long_is_refused_before_it_is_read(length):
    with pytest.raises(HTTPException) as refused:
        received([], headers=[(b"content-length", length)])
    assert refused.value.status_code == 413
