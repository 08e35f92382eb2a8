import numpy as np
import pytest

from steelyard.judge.retries import back_off, exhausted_wait, requested_wait, shared_pause

MONDAY = "Mon, 02 Jan 2023 00:00:00 GMT"


def test_waits_are_uniform_below_a_bound_that_doubles():
    rng = np.random.default_rng(0)
    for attempt, bound in enumerate([0.5, 1, 2, 4, 8, 16, 30, 30]):
        waits = np.array([back_off(attempt, rng=rng) for _ in range(2000)])
        assert waits.min() >= 0
        assert waits.max() <= bound
        # the mean of 2000 uniform draws has a standard error of 0.0065 bounds
        assert waits.mean() == pytest.approx(bound / 2, abs=0.03 * bound)
    assert back_off(5000, rng=rng) <= 30


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        (None, None),
        ("0", 0.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("Mon, 02 Jan 2023 00:01:00 GMT", 60.0),
        ("Mon, 02 Jan 2023 00:01:00 -0000", 60.0),
        ("Sun, 01 Jan 2023 00:00:00 GMT", 0.0),
    ],
)
def test_the_wish_of_a_server_is_read(header, wait):
    headers = {"date": MONDAY} | ({} if header is None else {"retry-after": header})
    assert requested_wait(headers) == wait


def test_without_the_servers_clock_ours_is_used():
    assert requested_wait({"retry-after": MONDAY}) == 0.0
    later = {"retry-after": "Mon, 02 Jan 2223 00:00:00 GMT", "date": "rubbish"}
    assert requested_wait(later) > 1e9


@pytest.mark.parametrize(
    ("reset", "wait"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("20ms", 0.02),
        ("12", 12.0),
        ("2023-01-02T00:00:09Z", 9.0),
        ("2023-01-02T00:00:09", None),
        ("soon", None),
        ("1.2.3s", None),
        ("", None),
    ],
)
def test_a_limit_that_is_used_up_says_when_there_is_more(reset, wait):
    for pattern in ("x-ratelimit-{}-tokens", "anthropic-ratelimit-tokens-{}"):
        headers = {pattern.format("remaining"): "0", pattern.format("reset"): reset, "date": MONDAY}
        assert exhausted_wait(headers) == requested_wait(headers) == wait
        assert requested_wait(headers | {"retry-after": "3"}) == 3
        assert exhausted_wait(headers | {pattern.format("remaining"): "1"}) is None


def test_a_shared_pause_is_what_was_asked_for_or_doubles():
    rng = np.random.default_rng(0)
    for refusals, longest in enumerate([0.5, 1, 2, 4, 8, 16, 30, 30]):
        pauses = [shared_pause(refusals, None, rng=rng) for _ in range(200)]
        assert longest / 2 <= min(pauses) <= max(pauses) <= longest
    assert 1 <= shared_pause(1, 1.0, rng=rng) <= 1.05
    # who named a wait that was too short is asked less and less often
    assert shared_pause(5, 1.0, rng=rng) >= 8
