import asyncio
import json
import random
import selectors
from functools import partial

import httpx
import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.judge import EndpointError, Rubric, judge
from steelyard.judge.pace import Pace

RUBRIC = Rubric(name="brevity", low=1, high=5, user="{output}")


class Skipping(selectors.DefaultSelector):
    """A selector that does not wait: the clock of its loop jumps instead."""

    now = 0.0

    def select(self, timeout=None):
        self.now += timeout or 0.0
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    """A loop in which waiting takes no time."""

    def __init__(self):
        self._skipping = Skipping()
        super().__init__(self._skipping)

    def time(self):
        return self._skipping.now


class Bucket:
    """A judge behind a rate limit: a bucket of requests that fills again, by the loop's clock."""

    def __init__(self, rate, burst, *, latency=0.05, headers=None):
        self.rate, self.burst, self.latency = rate, burst, latency
        self.headers = headers or (lambda wait: {})  # noqa: ARG005
        self.level, self.last = burst, 0.0
        self.requests = self.refused = 0
        self.times = []

    async def __call__(self, request):
        now = asyncio.get_running_loop().time()
        self.requests += 1
        self.times.append(now)
        self.level = min(self.burst, self.level + (now - self.last) * self.rate)
        self.last = now
        if self.level < 1:
            self.refused += 1
            await asyncio.sleep(0.005)
            wait = (1 - self.level) / self.rate if self.rate else 1.0
            return httpx.Response(429, headers=self.headers(wait))
        self.level -= 1
        await asyncio.sleep(self.latency)
        assert json.loads(request.content)
        message = {"role": "assistant", "content": "4"}
        usage = {"prompt_tokens": 90, "completion_tokens": 10}
        found = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        return httpx.Response(200, json=found)


@pytest.fixture
def ask(monkeypatch):
    """Ask a stand-in in a loop whose waits take no time."""

    def call(stand_in, *, rows=300, concurrency=32, **options):
        client = partial(httpx.AsyncClient, transport=httpx.MockTransport(stand_in))
        monkeypatch.setattr("steelyard.judge.client.httpx.AsyncClient", client)
        random.seed(0)
        monkeypatch.setattr("asyncio.events.new_event_loop", Loop)
        return judge(
            [f"text {number}" for number in range(rows)],
            endpoint="http://stand-in/v1",
            model="m",
            rubric=RUBRIC,
            concurrency=concurrency,
            **options,
        )

    return call


def reset(wait):
    milliseconds = f"{1000 * wait:.0f}ms"
    return {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": milliseconds}


@pytest.mark.parametrize(
    ("headers", "latency"),
    [
        (lambda _: {}, 0.01),
        (lambda _: {}, 2.0),
        (lambda wait: {"Retry-After": str(np.ceil(wait))}, 0.3),
        (lambda wait: {"retry-after-ms": str(1000 * wait)}, 0.05),
        (reset, 0.3),
    ],
    ids=["nothing", "nothing, slow", "seconds", "milliseconds", "reset"],
)
def test_at_a_rate_limit_no_row_is_lost_and_few_requests_are_refused(ask, headers, latency):
    server = Bucket(10, 10, latency=latency, headers=headers)
    got = ask(server)
    assert got.n_missing == 0
    assert server.requests == got.usage.requests
    assert server.requests <= 1.1 * 300
    # 300 requests at 10 a second take 29 seconds after a full bucket
    assert server.times[-1] <= 2 * 29


def test_a_limit_that_is_known_is_kept_from_the_start(ask):
    server = Bucket(10, 1)
    got = ask(server, rows=60, requests_per_minute=590)
    assert (got.n_missing, server.refused) == (0, 0)
    gaps = np.diff(server.times)
    assert gaps.min() >= 60 / 590 - 1e-9
    # 59 gaps, and no more
    assert server.times[-1] == pytest.approx(59 * 60 / 590, rel=0.01)


def test_a_limit_that_is_used_up_is_not_run_into(ask):
    async def reply(_):
        reply.times.append(asyncio.get_running_loop().time())
        message = {"role": "assistant", "content": "4"}
        left = str((3 - len(reply.times)) % 4)
        headers = {"x-ratelimit-remaining-requests": left, "x-ratelimit-reset-requests": "7s"}
        return httpx.Response(200, json={"choices": [{"message": message}]}, headers=headers)

    reply.times = []
    ask(reply, rows=8, concurrency=1)
    gaps = np.diff(reply.times)
    np.testing.assert_allclose(gaps, [0, 0, 7, 0, 0, 0, 7], atol=0.01)


def test_an_endpoint_that_accepts_nothing_stops_the_run_after_few_requests(ask):
    server = Bucket(0, 0)
    with pytest.raises(EndpointError, match="HTTP 429: accepts no request any more: run the same"):
        ask(server, rows=40)
    assert server.requests <= 20
    # a limit of a minute would have been over
    assert 150 <= server.times[-1] <= 250


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf")])
def test_a_limit_must_be_positive(ask, limit):
    with pytest.raises(InvalidArgumentError, match="`requests_per_minute` must be positive; got"):
        ask(Bucket(1, 1), requests_per_minute=limit)


def test_an_echo_of_a_refusal_cuts_the_pace_no_further():
    async def play():
        now = asyncio.get_running_loop().time
        pace = Pace(most=8)
        sent = []
        for _ in range(4):
            sent.append(await pace.enter())
            await asyncio.sleep(0.1)
        # 3 of 4 accepted within 0.4 s and the pause of 1.6 s: 1.5 a second, of which 92% are tried
        pace.refused(sent=sent[-1], wait=1.6)
        for _ in range(3):
            pace.leave()
        resumed = await pace.enter()
        assert 2.0 <= resumed <= 2.08
        pace.leave()
        assert await pace.enter() - resumed == pytest.approx(resumed / 3 / 0.92)
        # one of the 3 was refused too, as is now known: the rate is 2 in the same time
        pace.refused(sent=sent[0], wait=None)
        pace.leave()
        await pace.enter()
        start = now()
        assert await pace.enter() - start == pytest.approx(resumed / 2 / 0.92)

    loop = Loop()
    loop.run_until_complete(play())
    loop.close()


class Window(Bucket):
    """A judge that lets so many requests through in each span of time, and does not say when it ends."""

    def __init__(self, limit, span, *, latency):
        super().__init__(0, limit, latency=latency)
        self.span, self.opened = span, 0.0

    async def __call__(self, request):
        now = asyncio.get_running_loop().time()
        if now - self.opened >= self.span:
            self.opened, self.level = now, self.burst
        return await super().__call__(request)


@pytest.mark.parametrize(("limit", "span"), [(10, 1), (20, 10), (60, 60)])
@pytest.mark.parametrize("latency", [0.05, 2.0])
def test_the_limit_of_a_window_is_learned_from_all_its_pauses(ask, limit, span, latency):
    server = Window(limit, span, latency=latency)
    got = ask(server, rows=600)
    assert got.n_missing == 0
    assert server.requests <= 1.12 * 600
    assert server.times[-1] <= 2 * 600 * span / limit
